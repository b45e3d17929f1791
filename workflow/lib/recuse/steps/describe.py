"""Say before any fit what the ratings of a study support, and tabulate mean scores and judge-human
correlations.
"""

from collections.abc import Mapping, Sequence

from recuse.base.tables import write_table, write_tables
from recuse.check.agreement import correlations_with_others
from recuse.check.check import check_study
from recuse.check.facts import CHECK, Finding, read_facts
from recuse.check.page import check_page
from recuse.data.describe import CORRELATIONS, MEAN_SCORES, correlations, mean_scores
from recuse.data.study import StudyTables
from recuse.inference.reliability import estimated_reliability


def describe(
    *,
    tables: StudyTables,
    confidence: float,
    outputs: Mapping[str, str],
) -> None:
    """Tabulate mean scores, and the correlations of judges with people or, without human scores,
    with the other judges.
    """
    scored = tables.scored.cells()
    means = mean_scores(tables.cells(), scored)
    correlated = (
        correlations(scored, confidence=confidence)
        if scored.has_reference
        else correlations_with_others(tables.independent, confidence=confidence)
    )
    written = {"mean_scores": (MEAN_SCORES, means), "correlations": (CORRELATIONS, correlated)}
    write_tables(outputs, written, study=tables.name)


def findings(
    *,
    tables: StudyTables,
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
    reliability = estimated_reliability(tables, raters=raters, alphas=alphas, of_alpha=of_alpha)
    facts = read_facts(tables, completeness, imports=imports, named=named)
    return check_study(facts, reliability, **power, confidence=confidence)


def describe_and_check(
    *,
    tables: StudyTables,
    raters: Sequence[str],
    alphas: Sequence[str],
    completeness: str,
    params: Mapping,
    outputs: Mapping[str, str],
) -> None:
    """Write the tables of both, and print the page of the findings."""
    describe(tables=tables, confidence=params["confidence"], outputs=outputs)
    humans = {"raters": raters, "alphas": alphas, "completeness": completeness}
    found = findings(tables=tables, **humans, **params)
    write_table(outputs["check"], CHECK, (each.row for each in found), study=tables.name)
    gold = bool(params["imports"].get("gold"))
    print(check_page(tables.name, found, gold=gold), end="")  # into the log
