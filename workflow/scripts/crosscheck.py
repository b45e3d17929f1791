"""Refit every spec of config by statsmodels and pygam on raw rows and write the largest difference from the fast fits."""

from collections.abc import Mapping

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import CROSSCHECK, write_table
from recuse.crosscheck.compare import check_engines, raise_disagreement
from recuse.data.study import Study
from recuse.model.spec import Spec


def crosscheck(*, study: Study, specs: Mapping, confidence: float, crosscheck: str) -> None:
    rows = list(check_engines(Spec.from_config(specs), study, confidence=confidence))
    write_table(crosscheck, CROSSCHECK, rows)
    raise_disagreement(rows)


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        crosscheck(
            study=Study(snakemake.wildcards.study, snakemake.input.cells, snakemake.input.ratings),
            specs=snakemake.params.specs,
            confidence=snakemake.params.confidence,
            crosscheck=snakemake.output.crosscheck,
        )
