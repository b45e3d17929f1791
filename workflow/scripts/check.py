"""Tabulate before any fit what the ratings of a study support."""

from collections.abc import Mapping, Sequence

from recuse.base.runner import run
from recuse.base.tables import CHECK, write_table
from recuse.check.check import check_study
from recuse.check.facts import facts_of
from recuse.check.page import page_of
from recuse.data.study import Study
from recuse.inference.reliability import reliability_of


def check_ratings(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    raters: Sequence[str],
    alphas: Sequence[str],
    of_alpha: int,
    completeness: str,
    imports: Mapping,
    named: Mapping,
    power: Mapping,
    confidence: float,
    check: str,
) -> None:
    tables = Study(study, cells, ratings)
    reliability = reliability_of(tables, raters=raters, alphas=alphas, of_alpha=of_alpha)
    facts = facts_of(tables, completeness, imports=imports, named=named)
    findings = check_study(facts, reliability, **power, confidence=confidence)
    write_table(check, CHECK, (finding.row for finding in findings), study=study)
    print(page_of(study, findings, gold=bool(imports.get("gold"))), end="")  # into the log


if __name__ == "__main__":
    run(check_ratings, snakemake)
