"""What a report says of own answers that are right or wrong by a key."""

import math
from collections.abc import Iterator
from itertools import product

from recuse.base.templates import said, said_in_parts
from recuse.base.words import capitalised, number
from recuse.inference.gold import (
    BOTH,
    HARMFUL,
    LEGITIMATE,
    LEGITIMATE_SHARE,
    LOG_RATIO,
    OVER_MARKING,
    UNDER_MARKING,
)
from recuse.inference.verdict import DISFAVOURS, FAVOURS, FOUND, Verdict
from recuse.report.tables import Row, TableRows, where
from recuse.report.verdict import POINTS, SHARES, Point, name_in, size_of_bias

CASES = (HARMFUL, LEGITIMATE, OVER_MARKING, UNDER_MARKING)
OF_WRONG = (HARMFUL, OVER_MARKING)


def sentences_on_gold(rows: TableRows) -> Iterator[str]:
    """On own wrong answers: which judges favour them, for which that is not shown, and which
    verdicts are inconclusive.
    """
    of_wrong = [row for row in rows if row["case"] in OF_WRONG]
    for verdict, favours in product(FOUND, (FAVOURS, DISFAVOURS)):
        if group := where(of_wrong, verdict=verdict, favours=favours):
            group.sort(key=size_of_bias, reverse=True)
            names = [f"{name_in(row, 'the ')} ({_size(row)})" for row in group]
            facts = {"verdict": verdict, "more": favours == FAVOURS, "case": group[0]["case"]}
            yield said("wrong_answers", names=names, **facts)
    for verdict in (Verdict.NOT_SHOWN, Verdict.INCONCLUSIVE):
        if names := [name_in(row, "the ") for row in where(of_wrong, verdict=verdict)]:
            yield said("wrong_answers_not_found", verdict=verdict, names=names)


def points_on_gold(rows: TableRows, confidence: float) -> Iterator[Point]:
    """Each kind of own answer, with the numbers of each judge."""
    words = said("expected", confidence=confidence)
    for case in CASES:
        if items := _items(where(rows, case=case, baseline=BOTH)):
            yield Point(said("own_answers", case=case), words, items)
            words = ""
    if items := _items(where(rows, case=LEGITIMATE_SHARE)):
        yield Point(*said_in_parts("split"), items)


def _items(rows: TableRows) -> list[tuple[str, str]]:
    """Of each judge: shares, contrast and verdict, with the reason for it or the contrast that
    would reliably show.
    """
    items = []
    for row in rows:
        words = said(
            "contrast",
            row=row,
            size=_size(row),
            least=_size(row, "detectable") if row["verdict"] == Verdict.NOT_SHOWN else "",
            span=_span(row),
            unit=SHARES,
        )
        items.append((capitalised(name_in(row, "the ")), words))
    return items


def caveats_on_gold(rows: TableRows) -> Iterator[str]:
    """What would overturn a finding on own wrong answers, if there is one."""
    if any(row["verdict"] in FOUND and row["case"] in OF_WRONG for row in rows):
        yield said("overturned")


def _size(row: Row, column: str = "estimate") -> str:
    """A contrast, percentage points or a ratio; "" without one."""
    if row["measure"] == LOG_RATIO and row[column]:
        return f"{_ratio(row[column])} times"
    return POINTS.size(row[column])


def _span(row: Row) -> str:
    """The interval of the contrast; "" without one."""
    if row["measure"] == LOG_RATIO and row["ci_low"]:
        return f"{_ratio(row['ci_low'])} to {_ratio(row['ci_high'])}"
    return POINTS.span(row)


def _ratio(log: str) -> str:
    return number(math.exp(float(log)), 2)
