"""Tabulate what the ratings of a study support, before any fit."""

from collections.abc import Mapping

from recuse.base.database import bounded_memory
from recuse.base.log import logged
from recuse.base.tables import CHECK, write_table
from recuse.check.check import check_study, page_of
from recuse.check.facts import facts_of
from recuse.data.study import Study
from recuse.inference.reliability import reliability_of


def check(
    *, study: Study, origin: Mapping, completeness: str, told: Mapping, planner: Mapping, confidence: float, output: str
) -> None:
    known = reliability_of(study, **origin)
    findings = check_study(facts_of(study, completeness, **told), known, **planner, confidence=confidence)
    write_table(output, CHECK, ({"study": study.name, **found.row} for found in findings))
    print(page_of(study.name, findings), end="")  # into the log


if __name__ == "__main__":
    limit, mem_mb = snakemake.config["memory_limit"], snakemake.resources.mem_mb
    origin = {key: list(snakemake.input[key]) for key in ("raters", "alphas")} | {"of_alpha": snakemake.params.of_alpha}
    with logged(snakemake.log[0]), bounded_memory(limit, f"{snakemake.log[0]}.spill", of_job=mem_mb):
        check(
            study=Study(snakemake.wildcards.study, snakemake.input.cells, snakemake.input.ratings),
            origin=origin,
            completeness=snakemake.input.completeness,
            told={key: snakemake.params[key] for key in ("imports", "named")},
            planner=snakemake.params.planner,
            confidence=snakemake.params.confidence,
            output=snakemake.output.check,
        )
