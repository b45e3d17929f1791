"""Say before any fit what the ratings of a study support, and tabulate mean scores and judge-human
correlations.
"""

from collections.abc import Mapping, Sequence

from recuse.base.tables import write_table
from recuse.check.check import check_study
from recuse.check.facts import CHECK, Finding, facts_of
from recuse.check.page import page_of
from recuse.data.describe import CORRELATIONS, MEAN_SCORES, correlations, mean_scores
from recuse.data.study import StudyTables
from recuse.inference.reliability import reliability_of


def describe(
    *,
    study: str,
    cells: str,
    ratings: Sequence[str],
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    """Tabulate mean scores, and the correlations of judges with people."""
    tables = StudyTables(study, cells, ratings)
    scored = tables.scored.cells()
    means = mean_scores(tables.cells(), scored)
    correlated = correlations(scored, confidence=confidence)
    write_table(outputs["mean_scores"], MEAN_SCORES, means, study=study)
    write_table(outputs["correlations"], CORRELATIONS, correlated, study=study)


def findings(
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
) -> list[Finding]:
    """What the ratings support, most important first."""
    tables = StudyTables(study, cells, ratings)
    reliability = reliability_of(tables, raters=raters, alphas=alphas, of_alpha=of_alpha)
    facts = facts_of(tables, completeness, imports=imports, named=named)
    return check_study(facts, reliability, **power, confidence=confidence)


def describe_and_check(
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
    """Write the tables of both, and print the page of the findings."""
    of = {"study": study, "cells": cells, "ratings": ratings}
    describe(**of, confidence=params["confidence"], outputs=outputs)
    humans = {"raters": raters, "alphas": alphas, "completeness": completeness}
    found = findings(**of, **humans, **params)
    write_table(outputs["check"], CHECK, (each.row for each in found), study=study)
    gold = bool(params["imports"].get("gold"))
    print(page_of(study, found, gold=gold), end="")  # into the log
