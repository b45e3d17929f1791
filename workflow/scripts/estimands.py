"""Estimate self- and family-bias against placebo cells, and say which cells identify each coefficient of several specs."""

from collections.abc import Iterator, Mapping, Sequence

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import IDENTIFIABILITY, PLACEBO, TASTES, write_table
from recuse.data.study import Study
from recuse.inference.identifiability import identifiability, identifiability_of_idiosyncrasy
from recuse.inference.idiosyncrasy import idiosyncrasy_rows, residual_rows
from recuse.model.spec import Spec
from recuse.model.terms import applicable, sliced_by


def identified(placebo: Sequence[Spec], fitted: Sequence[Spec], study: Study) -> Iterator[dict]:
    for spec in fitted:
        yield from identifiability(spec, study)
    for spec in placebo:
        yield from identifiability_of_idiosyncrasy(spec, study)


def estimands(*, study: Study, specs: Mapping, settings: Mapping, confidence: float, seed: int, outputs: Mapping) -> None:
    placebo, fitted = sliced_by(specs, settings["placebo"], study), applicable(specs, settings["identifiability"], study)
    drawn = {"confidence": confidence, "seed": seed, "draws": settings["assignments"]}
    write_table(outputs["placebo"], PLACEBO, (row for spec in placebo for row in idiosyncrasy_rows(spec, study, **drawn)))
    write_table(
        outputs["tastes"], TASTES, (row for spec in placebo for row in residual_rows(spec, study, confidence=confidence))
    )
    write_table(outputs["identifiability"], IDENTIFIABILITY, identified(placebo, fitted, study))


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        estimands(
            study=Study(snakemake.wildcards.study, snakemake.input.cells, snakemake.input.ratings),
            outputs=dict(snakemake.output.items()),
            **dict(snakemake.params.items()),
        )
