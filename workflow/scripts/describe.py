"""Say before any fit what the ratings of a study support, and tabulate mean scores and judge-human
correlations.
"""

from collections.abc import Mapping, Sequence

from recuse.base.tables import write_table
from recuse.check.check import check_study
from recuse.check.facts import CHECK, facts_of
from recuse.check.page import page_of
from recuse.data.describe import CORRELATIONS, MEAN_SCORES, correlations, mean_scores
from recuse.data.study import StudyTables
from recuse.inference.reliability import reliability_of
from recuse.workflow.runner import run


def describe(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    tables = StudyTables(study, cells, ratings)
    scored = tables.scored.cells()
    write_table(
        outputs["mean_scores"], MEAN_SCORES, mean_scores(tables.cells(), scored), study=study
    )
    write_table(
        outputs["correlations"],
        CORRELATIONS,
        correlations(scored, confidence=confidence),
        study=study,
    )


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
    tables = StudyTables(study, cells, ratings)
    reliability = reliability_of(tables, raters=raters, alphas=alphas, of_alpha=of_alpha)
    facts = facts_of(tables, completeness, imports=imports, named=named)
    findings = check_study(facts, reliability, **power, confidence=confidence)
    write_table(check, CHECK, (finding.row for finding in findings), study=study)
    print(page_of(study, findings, gold=bool(imports.get("gold"))), end="")  # into the log


def tabulate(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    raters: Sequence[str],
    alphas: Sequence[str],
    completeness: str,
    params: Mapping,
    outputs: Mapping[str, str],
) -> None:
    of = {"study": study, "cells": cells, "ratings": ratings}
    describe(**of, confidence=params["confidence"], outputs=outputs)
    humans = {"raters": raters, "alphas": alphas, "completeness": completeness}
    check_ratings(**of, **humans, **params, check=outputs["check"])


if __name__ == "__main__":
    run(tabulate, snakemake)
