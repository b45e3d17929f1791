"""What a report says of own answers that are right or wrong by a key."""

import math
from collections.abc import Iterator
from itertools import product

from recuse.base.reasons import in_words
from recuse.base.words import capitalised, enumerated, level
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
from recuse.report.verdict import MOST, POINTS, Point

HEADINGS = {
    HARMFUL: "Harmful self-preference: its own wrong answer rather than a right one",
    LEGITIMATE: "Legitimate self-preference: its own right answer rather than a wrong one",
    OVER_MARKING: "Over-marking: its own wrong answers passed",
    UNDER_MARKING: "Under-marking: its own right answers failed",
}
# What one judge does more often than expected, or less, and several.
DOES = {
    HARMFUL: (
        "prefers its own wrong answers to right ones",
        "prefer their own wrong answers to right ones",
    ),
    OVER_MARKING: ("passes its own wrong answers", "pass their own wrong answers"),
}
SPLIT = "How much of their self-preference is legitimate"
SPLIT_IN_WORDS = (
    "Of own answers preferred where one of the two answers is right, the share that is right, and"
    " that of the other judges of the same pairs. An inaccurate judge has a lower share, too."
)
EXPECTED = (
    "The share, what is expected of an unbiased judge, and the difference or ratio with its {level}"
    " interval. What is expected allows for how the other judges treat the same answers, and for"
    " how this judge differs from them on other answers to the same questions."
)
OVERTURNED = (
    "What is expected of own wrong answers assumes that a judge's inaccuracy and an answer's power"
    " to convince add up, in shares and in log odds. A wrong key, or a judge that prefers any"
    " answer with its own conclusion, would look the same as self-preference."
)


def sentences_on_gold(rows: TableRows) -> Iterator[str]:
    """On own wrong answers: which judges favour them, for which that is not shown, and which
    verdicts are inconclusive.
    """
    of_wrong = [row for row in rows if row["case"] in DOES and row["verdict"]]
    for verdict, (favours, often) in product(FOUND, ((FAVOURS, "more"), (DISFAVOURS, "less"))):
        group = where(of_wrong, verdict=verdict, favours=favours)
        if group:
            group.sort(key=lambda row: -abs(float(row["estimate"])))
            names = [f"{_name(row)} ({_size(row, interval=False)})" for row in group]
            verb = DOES[group[0]["case"]][len(group) > 1]
            yield f"{capitalised(verdict)}: {enumerated(names, MOST)} {verb} {often} often than expected."
    for verdict in (Verdict.NOT_SHOWN, Verdict.INCONCLUSIVE):
        names = [_name(row) for row in where(of_wrong, verdict=verdict)]
        if names:
            yield f"{capitalised(verdict)} for own wrong answers: {enumerated(names, MOST)}."


def points_on_gold(rows: TableRows, confidence: float) -> Iterator[Point]:
    """Each kind of own answer, with the numbers of each judge."""
    words = EXPECTED.format(level=level(confidence))
    for case, heading in HEADINGS.items():
        if items := _items(where(rows, case=case, baseline=BOTH)):
            yield Point(heading, words, items)
            words = ""
    if items := _items(where(rows, case=LEGITIMATE_SHARE)):
        yield Point(SPLIT, SPLIT_IN_WORDS, items)


def _items(rows: TableRows) -> list[tuple[str, str]]:
    return [(capitalised(_name(row)), _numbers(row)) for row in rows]


def caveats_on_gold(rows: TableRows) -> Iterator[str]:
    """What would overturn a finding on own wrong answers, if there is one."""
    if any(row["verdict"] in FOUND and row["case"] in DOES for row in rows):
        yield OVERTURNED


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
