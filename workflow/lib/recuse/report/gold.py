"""What a report says of own answers that are right or wrong by a key."""

import math
from collections.abc import Iterator
from itertools import product

from recuse.base.reasons import in_words
from recuse.base.templates import said, said_in_parts
from recuse.base.words import capitalised
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
from recuse.model.spec import FAMILY
from recuse.report.tables import Row, TableRows, where
from recuse.report.verdict import POINTS, Point

CASES = (HARMFUL, LEGITIMATE, OVER_MARKING, UNDER_MARKING)
OF_WRONG = (HARMFUL, OVER_MARKING)


def sentences_on_gold(rows: TableRows) -> Iterator[str]:
    """On own wrong answers: which judges favour them, for which that is not shown, and which
    verdicts are inconclusive.
    """
    of_wrong = [row for row in rows if row["case"] in OF_WRONG and row["verdict"]]
    for verdict, favours in product(FOUND, (FAVOURS, DISFAVOURS)):
        group = where(of_wrong, verdict=verdict, favours=favours)
        if group:
            group.sort(key=lambda row: -abs(float(row["estimate"])))
            names = [f"{_name(row)} ({_size(row, interval=False)})" for row in group]
            facts = {"verdict": verdict, "more": favours == FAVOURS, "case": group[0]["case"]}
            yield said("wrong_answers", names=names, **facts)
    for verdict in (Verdict.NOT_SHOWN, Verdict.INCONCLUSIVE):
        names = [_name(row) for row in where(of_wrong, verdict=verdict)]
        if names:
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
    return [(capitalised(_name(row)), _numbers(row)) for row in rows]


def caveats_on_gold(rows: TableRows) -> Iterator[str]:
    """What would overturn a finding on own wrong answers, if there is one."""
    if any(row["verdict"] in FOUND and row["case"] in OF_WRONG for row in rows):
        yield said("overturned")


def _name(row: Row) -> str:
    return f"the {row['term']} family" if row["quantity"] == FAMILY else row["term"]


def _size(row: Row, *, interval: bool = True) -> str:
    """The contrast, percentage points or a ratio, with its interval, if there is one."""
    if row["measure"] == LOG_RATIO:
        size, *ends = (
            f"{math.exp(float(row[name])):.2f}"
            for name in ("estimate", "ci_low", "ci_high")
            if row[name]
        )
        size, span = f"{size} times", " to ".join(ends)
    else:
        size, span = f"{POINTS.text(row['estimate'])}{POINTS.mark}", POINTS.span(row)
    return f"{size}, {span}" if span and interval else size


def _numbers(row: Row) -> str:
    """Shares, contrast and verdict, with the reason for it or the contrast that would reliably
    show.
    """
    shares = [
        f"{100 * float(row[column]):.0f}\N{NO-BREAK SPACE}%"
        for column in ("share", "baseline_share")
        if row[column]
    ]
    because = in_words(row["reason"])
    if row["verdict"] == Verdict.NOT_SHOWN and row["detectable"]:
        because = (
            f"only {_size({**row, 'estimate': row['detectable'], 'ci_low': '', 'ci_high': ''})} or"
            " more would reliably show"
        )
    contrast = f": {_size(row)}" if row["estimate"] else ""
    verdict = f"; {row['verdict']}" if row["verdict"] else ""
    return f"{' against '.join(shares)}{contrast}{verdict}{f' ({because})' if because else ''}"
