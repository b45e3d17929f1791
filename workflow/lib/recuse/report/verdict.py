"""What a report answers, for its page, summary.json and the terminal; and the verdicts as a reader sees them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from recuse.base.words import MOST_DIGITS, capitalised, enumerated, number, signed
from recuse.inference.verdict import BEYOND, CANNOT_BE_TOLD, ESTABLISHED, NO_CLEAR_BIAS, NUMBERS, QUESTIONS, SUGGESTIVE
from recuse.model.spec import BIASES

Rows = Sequence[Mapping[str, str]]
KINDS = {"self_bias": "self-bias", "family_bias": "family-bias", "longer": "longer answers", "first": "first answer"}
# What a judge does that has a bias, and one with the opposite; of one judge and of several.
FAVOURING = {
    "self_bias": (("favours itself", "favour themselves"), ("is harsher on itself", "are harsher on themselves")),
    "family_bias": (
        ("favours its own models", "favour their own models"),
        ("is harsher on its own models", "are harsher on their own models"),
    ),
    "longer": (("favours longer answers", "favour longer answers"), ("favours shorter answers", "favour shorter answers")),
    "first": (
        ("favours the first answer", "favour the first answer"),
        ("favours the second answer", "favour the second answer"),
    ),
}
PREFERENCES = {
    "self_bias": "self-preference",
    "family_bias": "preference for its family",
    "longer": "preference for longer answers",
    "first": "preference for the first answer",
}
SIZES = (*NUMBERS[:-1], "adjusted_p_value", "missed", "wordings")  # columns of numbers
MOST = 5  # names in a list before the rest is counted


@dataclass(frozen=True)
class Unit:
    """How sizes are shown: times a width, with digits, and what they are then."""

    name: str
    width: float
    digits: int
    mark: str  # after a single size

    def text(self, value: str | float, *, sign: bool = True) -> str:
        """A share of the scale in this unit, without its name; "" without a value."""
        if value == "":
            return ""
        return (signed if sign else number)(float(value) * self.width, self.digits)

    def span(self, row: Mapping[str, str], prefix: str = "") -> str:
        """The interval of a row, as in `0.1 to 0.4`, with as many digits as show its signs; "" without one."""
        ends = [row[f"{prefix}{end}"] for end in ("ci_low", "ci_high")]
        return " to ".join(self._end(float(end) * self.width) for end in ends) if all(ends) else ""

    def _end(self, value: float) -> str:
        digits = next((more for more in range(self.digits, MOST_DIGITS) if round(value, more)), self.digits)
        return number(value, digits)


PERCENT = Unit("% of the scale", 100, 1, "\u00a0%")
POINTS = Unit("percentage points", 100, 1, " points")  # of shares


def unit_of(scales: Mapping[str, object]) -> Unit:
    """Points of the raw scale, if all dimensions have the same one other than 0 to 1; else percent of the scale."""
    kinds = {None if scale == "observed" else (scale[0], scale[1]) for scale in scales.values()}
    if len(kinds) != 1 or kinds & {None, (0, 1)}:
        return PERCENT
    low, high = kinds.pop()
    return Unit(f"points, scale {low:g} to {high:g}", high - low, 2 if high - low < 50 else 1, " points")


@dataclass(frozen=True)
class Verdict:
    """One row of the first table of a page, as texts."""

    name: str
    kind: str  # one of KINDS
    verdict: str
    size: str
    interval: str
    rests_on: str
    advice: str


@dataclass(frozen=True)
class Section:
    """A small table of the answer with a sentence above it."""

    heading: str
    sentence: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Point:
    """A further part of the answer: its heading, the words, and (name, words) of each item."""

    heading: str
    words: str = ""
    items: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Answer:
    """What a reader sees first."""

    question: str
    headline: str
    verdicts: Sequence[Verdict] = ()
    unit: str = PERCENT.name
    pooled: str = ""
    wordings: str = ""  # of the rubric, for which the verdicts hold
    tracking: Section | None = None
    leaderboard: Section | None = None
    panel: Section | None = None
    caveats: Sequence[str] = ()  # at most three, the largest first
    next_steps: Sequence[str] = ()
    points: Sequence[Point] = ()


def shown(rows: Rows, unit: Unit) -> list[Verdict]:
    """The rows of the table of verdicts as a reader sees them."""
    return [_shown(row, unit) for row in rows]


def _shown(row: Mapping[str, str], unit: Unit) -> Verdict:
    verdict, advice = row["verdict"], row["advice"]
    words = verdict
    if verdict in (ESTABLISHED, SUGGESTIVE):
        words = f"{verdict}: {FAVOURING[row['quantity']][row['favours'] != 'yes'][0]}"
    if verdict == NO_CLEAR_BIAS and row["missed"] and not row["reason"]:
        advice = f"{advice}: a bias below {unit.text(row['missed'], sign=False)} would often be missed"
    if row["reason"]:
        words = f"{words}{';' if ': ' in words else ':'} {row['reason']}"
    letters = row["rests_on"].split()
    rests_on = enumerated([f"{letter} {QUESTIONS[letter]}" for letter in letters])
    if verdict == SUGGESTIVE and BEYOND in letters:
        rests_on += ", but not once the number of judges is allowed for"
    of_several = row["quantity"] in BIASES and unit is not POINTS  # the questions' numbers are in one column
    return Verdict(
        name=_name(row).removeprefix("the "),
        kind=KINDS[row["quantity"]],
        verdict=words,
        size=f"{unit.text(row['estimate'])} {row['question'] if of_several else ''}".strip(),
        interval=unit.span(row),
        rests_on=rests_on or "–",
        advice=advice,
    )


def _by(row: Mapping[str, str], unit: Unit) -> str:
    """Which question a size answers, where there are several."""
    return "" if unit is POINTS or not row["question"] else f" by {row['question']}"


def _name(row: Mapping[str, str]) -> str:
    return f"the {row['term']} family" if row["quantity"] == "family_bias" else row["term"]


NO_OWN_ANSWERS = "No judge rates its own answers: only family-biases can be told."
NO_FAMILY = "None is established or suggestive."


def headline(rows: Rows, unit: Unit, *, beside: Rows = ()) -> str:
    """The verdicts on one kind of bias, and findings `beside` of another, in a few sentences; "" without rows."""
    if not rows and beside:
        return " ".join([NO_OWN_ANSWERS, *(findings(beside, unit) or [NO_FAMILY])])
    if not rows:
        return ""
    preference, favours = PREFERENCES[rows[0]["quantity"]], FAVOURING[rows[0]["quantity"]][0][0]
    unknown = [row for row in rows if row["verdict"] == CANNOT_BE_TOLD]
    if len(unknown) == len(rows):
        reasons = "; ".join(dict.fromkeys(row["reason"] for row in rows))
        return " ".join([f"These data cannot tell whether any judge {favours}: {reasons}.", *findings(beside, unit)])
    sentences = findings([*rows, *beside], unit)
    if not any(row["verdict"] == ESTABLISHED for row in rows):
        sentences.insert(0, f"No judge has an established {preference}.")
    if unknown:
        sentences.append(f"Cannot be told: {enumerated([row['term'] for row in unknown], MOST)}.")
    return " ".join(sentences)


def findings(rows: Rows, unit: Unit) -> list[str]:
    """A sentence on the judges or families with an established bias, and one on those with a suggestive one."""
    parts = {name: _sides([row for row in rows if row["verdict"] == name], unit) for name in (ESTABLISHED, SUGGESTIVE)}
    return [f"{capitalised(name)}: {'; '.join(sides)}." for name, sides in parts.items() if sides]


def _sides(rows: Rows, unit: Unit) -> list[str]:
    """As in `GPT-4 (+0.4) and Claude (+0.2) favour themselves`, then those with the opposite bias; by kind of bias."""
    parts = []
    for quantity, favours in product(dict.fromkeys(row["quantity"] for row in rows), ("yes", "no")):
        group = [row for row in rows if (row["quantity"], row["favours"]) == (quantity, favours)]
        if group:
            group.sort(key=lambda row: -abs(float(row["estimate"])))
            names = enumerated(
                [f"{_name(row)} ({unit.text(row['estimate'])}{unit.mark}{_by(row, unit)})" for row in group], MOST
            )
            parts.append(f"{names} {FAVOURING[quantity][favours == 'no'][len(group) > 1]}")
    return parts


def summary(study: str, about: Mapping, answer: Answer, verdicts: Rows) -> dict:
    """The answer for other programs: words as on the page, and the rows of the table of verdicts as numbers."""
    return {
        "study": study,
        "title": about["subject"]["label"],
        "data": about["subject"]["kind"],
        "confidence": about["confidence"],
        "headline": answer.headline,
        "pooled": answer.pooled,
        "wordings": answer.wordings,
        "verdicts": [{key: _value(value, key) for key, value in row.items() if key != "study"} for row in verdicts],
        "caveats": list(answer.caveats),
        "next_steps": list(answer.next_steps),
        "report": "report.html",
    }


def _value(text: str, column: str) -> str | float | None:
    """A number in a column of numbers, None where a field is empty."""
    return (float(text) if column in SIZES else text) if text else None
