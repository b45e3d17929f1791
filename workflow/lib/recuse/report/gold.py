"""What a report says of own answers that are right or wrong by a key."""

import math
from collections.abc import Iterator, Mapping

from recuse.base.words import capitalised, enumerated, level, number, signed
from recuse.inference.gold import BOTH, FAMILY, HARMFUL, LEGITIMATE, LEGITIMATE_SHARE, LOG_RATIO, OVER_MARKING, UNDER_MARKING
from recuse.inference.verdict import CANNOT_BE_TOLD, ESTABLISHED, NO_CLEAR_BIAS, SUGGESTIVE
from recuse.report.verdict import MOST, Point, Rows

HEADINGS = {
    HARMFUL: "Harmful self-preference: its own wrong answer rather than a right one",
    LEGITIMATE: "Legitimate self-preference: its own right answer rather than a wrong one",
    OVER_MARKING: "Over-marking: its own wrong answers passed",
    UNDER_MARKING: "Under-marking: its own right answers failed",
}
DOES = {  # of one judge and several: more often than expected, and less
    HARMFUL: ("prefers its own wrong answers to right ones", "prefer their own wrong answers to right ones"),
    OVER_MARKING: ("passes its own wrong answers", "pass their own wrong answers"),
}
SPLIT = "How much of their self-preference is legitimate"
SPLIT_IN_WORDS = (
    "Of own answers preferred where one of the two answers is right, the share that is right, and that of the other judges of "
    "the same pairs. An inaccurate judge has a lower share, too."
)
EXPECTED = (
    "The share, what is expected of an unbiased judge, and the difference or ratio with its {level} interval. What is "
    "expected allows for how the other judges treat the same answers, and for how this judge differs from them on other "
    "answers to the same questions."
)
OVERTURNED = (
    "What is expected of own wrong answers takes for granted that a judge's inaccuracy and an answer's power to convince add "
    "up, in shares and in log odds. A wrong key, or a judge that prefers any answer with its own conclusion, would look the "
    "same as self-preference."
)


def sentences_on_gold(rows: Rows, confidence: float) -> Iterator[str]:
    """On own wrong answers: which judges favour them, for which there is no clear bias, and what cannot be told."""
    of_wrong = [row for row in rows if row["case"] in DOES and row["verdict"]]
    for verdict in (ESTABLISHED, SUGGESTIVE):
        for favours, often in (("yes", "more"), ("no", "less")):
            group = [row for row in of_wrong if (row["verdict"], row["favours"]) == (verdict, favours)]
            if group:
                group.sort(key=lambda row: -abs(float(row["estimate"])))
                names = enumerated([f"{_name(row)} ({_size(row, confidence)})" for row in group], MOST)
                verb = DOES[group[0]["case"]][len(group) > 1]
                yield f"{capitalised(verdict)}: {names} {verb} {often} often than expected."
    unclear = [row for row in of_wrong if row["verdict"] == NO_CLEAR_BIAS]
    if unclear:
        least = max((row for row in unclear if row["missed"]), key=lambda row: float(row["missed"]), default=None)
        missed = f" (for {_name(least)}, {_missed(least)} would often be missed)" if least else ""
        yield f"No clear bias for own wrong answers: {enumerated([_name(row) for row in unclear], MOST)}{missed}."
    reasons: dict[str, list[str]] = {}
    for row in of_wrong:
        if row["verdict"] == CANNOT_BE_TOLD:
            reasons.setdefault(row["reason"], []).append(_name(row))
    for reason, names in reasons.items():
        yield f"Cannot be told for {enumerated(names, MOST)}: {reason}."


def points_on_gold(rows: Rows, confidence: float) -> Iterator[Point]:
    """Each kind of own answer, with the numbers of each judge."""
    words = EXPECTED.format(level=level(confidence))
    for case, heading in HEADINGS.items():
        items = [(capitalised(_name(row)), _numbers(row)) for row in rows if row["case"] == case and row["baseline"] == BOTH]
        if items:
            yield Point(heading, words, items)
            words = ""
    shares = [row for row in rows if row["case"] == LEGITIMATE_SHARE]
    if shares:
        yield Point(SPLIT, SPLIT_IN_WORDS, [(capitalised(_name(row)), _numbers(row)) for row in shares])


def caveats_on_gold(rows: Rows) -> Iterator[str]:
    """What would overturn a finding on own wrong answers, if there is one."""
    if any(row["verdict"] in (ESTABLISHED, SUGGESTIVE) and row["case"] in DOES for row in rows):
        yield OVERTURNED


def _name(row: Mapping[str, str]) -> str:
    return f"the {row['term']} family" if row["quantity"] == FAMILY else row["term"]


def _size(row: Mapping[str, str], confidence: float | None = None) -> str:
    """The contrast with its interval: percentage points, or a ratio; with the interval's level, if that is given."""
    values = [float(row[column]) for column in ("estimate", "ci_low", "ci_high") if row[column]]
    if row["measure"] == LOG_RATIO:
        shown = [f"{math.exp(value):.2f}" for value in values]
        shown[0] = f"{shown[0]} times"
    else:
        shown = [signed(100 * values[0], 1), *(number(100 * value, 1) for value in values[1:])]
        shown[0] = f"{shown[0]} points"
    of_level = f"{level(confidence)} interval " if confidence else ""
    return f"{shown[0]}, {of_level}{shown[1]} to {shown[2]}" if len(shown) == 3 else shown[0]


def _missed(row: Mapping[str, str]) -> str:
    missed = float(row["missed"])
    if row["measure"] == LOG_RATIO:
        return f"less than {math.exp(missed):.2f} times the expected share"
    return f"a difference below {number(100 * missed, 1)} points"


def _numbers(row: Mapping[str, str]) -> str:
    shares = " against ".join(
        f"{100 * float(row[column]):.0f}\N{NO-BREAK SPACE}%" for column in ("share", "baseline_share") if row[column]
    )
    contrast = f": {_size(row)}" if row["estimate"] else ""
    verdict = f"; {row['verdict']}" if row["verdict"] else ""
    because = f" ({row['reason']})" if row["reason"] else ""
    return f"{shares}{contrast}{verdict}{because}"
