"""Verdicts in words: what a report says first, on its page, in summary.json and at the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from recuse.base.reasons import Reason, code, cure, in_short, in_words
from recuse.base.words import MOST_DIGITS, capitalised, enumerated, number, signed
from recuse.inference.verdict import FAVOURS, FOUND, NUMBERS, Verdict
from recuse.model.spec import FAMILY, SELF

TableRows = Sequence[Mapping[str, str]]
KINDS = {
    SELF: "self-bias",
    FAMILY: "family-bias",
    "longer": "longer answers",
    "first": "first answer",
}
# What one judge does that has a bias, and several; then with the opposite bias.
FAVOURING = {
    SELF: (
        ("favours itself", "favour themselves"),
        ("is harsher on itself", "are harsher on themselves"),
    ),
    FAMILY: (
        ("favours its own models", "favour their own models"),
        ("is harsher on its own models", "are harsher on their own models"),
    ),
    "longer": (
        ("favours longer answers", "favour longer answers"),
        ("favours shorter answers", "favour shorter answers"),
    ),
    "first": (
        ("favours the first answer", "favour the first answer"),
        ("favours the second answer", "favour the second answer"),
    ),
}
PREFERENCES = {
    SELF: "self-preference",
    FAMILY: "preference for its family",
    "longer": "preference for longer answers",
    "first": "preference for the first answer",
}
NO_OWN_ANSWERS = {
    Reason.NO_OWN_ANSWERS: "No judge rates its own answers, so self-bias cannot be measured.",
    Reason.NO_OWN_COMPARED: "No judge compares its own answers, so self-bias cannot be measured.",
}
NO_FAMILY = "No family-bias is established or likely."
# What to do about a bias in ratings, and in verdicts on two answers.
LEFT_OUT = "leave out ratings of {}, or use the debiased ones (debiased.parquet)"
REMEDIES_OF_RATINGS = {
    (SELF, Verdict.ESTABLISHED): LEFT_OUT.format("own answers"),
    (SELF, Verdict.LIKELY): "do not rely on ratings of own answers",
    (FAMILY, Verdict.ESTABLISHED): LEFT_OUT.format("the family by its own judges"),
    (FAMILY, Verdict.LIKELY): "do not rely on ratings of the family by its own judges",
}
REMEDIES_OF_PAIRS = {
    SELF: "do not rely on verdicts on own answers",
    FAMILY: "do not rely on verdicts of the family's judges on its answers",
    "longer": "compare answers of similar length, or use another judge",
    "first": "keep judging both orders, which balances this bias",
}
# A gap to people or to the other judges that ordinary preference can explain, by kind of study.
GAPS = {
    ("ratings", "A"): "it is {size} {above} people's scores",
    ("ratings", "B"): "it is {size} {above} the other judges",
    ("pairs", "A"): "it chooses such answers {size} {more} often than people do",
    ("pairs", "B"): "it chooses such answers {size} {more} often than the other judges do",
}
BESIDE_VERDICTS = (Reason.MISSING_OWN, Reason.UNSUPPORTED)  # notes to read with the verdict itself
DISAGREES = "do not use: no agreement with people"
ALONE = ", even if no other judge were biased"
MOST = 5  # names in a list before the rest is counted
MOST_STEPS = 4


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
        """The interval of a row, as in `0.1 to 0.4`, with as many digits as show its signs; ""
        without one.
        """
        ends = [row[f"{prefix}{end}"] for end in ("ci_low", "ci_high")]
        return " to ".join(self._end(float(end) * self.width) for end in ends) if all(ends) else ""

    def _end(self, value: float) -> str:
        digits = next(
            (more for more in range(self.digits, MOST_DIGITS) if round(value, more)), self.digits
        )
        return number(value, digits)


PERCENT = Unit("% of the scale", 100, 1, "\u00a0%")
POINTS = Unit("percentage points", 100, 1, " points")  # of shares


def unit_of(scales: Mapping[str, object]) -> Unit:
    """Points of the raw scale, if all dimensions have the same one other than 0 to 1; else percent
    of the scale.
    """
    kinds = {None if scale == "observed" else (scale[0], scale[1]) for scale in scales.values()}
    if len(kinds) != 1 or kinds & {None, (0, 1)}:
        return PERCENT
    low, high = kinds.pop()
    return Unit(
        f"points, scale {low:g} to {high:g}", high - low, 2 if high - low < 50 else 1, " points"
    )


@dataclass(frozen=True)
class ShownVerdict:
    """One row of the first table of a page, as texts."""

    name: str
    kind: str  # one of KINDS
    verdict: str
    detail: str  # what the judge does, or why the verdict is inconclusive
    size: str
    interval: str
    gaps: str  # to people and to the other judges
    advice: str


@dataclass(frozen=True)
class PageSection:
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
class PageAnswer:
    """What a reader sees first."""

    question: str
    headline: str
    verdicts: Sequence[ShownVerdict] = ()
    unit: str = PERCENT.name
    pooled: str = ""
    wordings: str = ""  # of the rubric, for which the verdicts hold
    tracking: PageSection | None = None
    leaderboard: PageSection | None = None
    panel: PageSection | None = None
    caveats: Sequence[str] = ()  # at most three, the largest first
    next_steps: Sequence[str] = ()
    points: Sequence[Point] = ()


def shown_verdicts(rows: TableRows, unit: Unit) -> list[ShownVerdict]:
    """The rows of the table of verdicts as a reader sees them."""
    return [
        ShownVerdict(
            name=_name(row),
            kind=KINDS[row["quantity"]],
            verdict=row["verdict"],
            detail=detail(row),
            size=unit.text(row["estimate"]),
            interval=unit.span(row),
            gaps=_gaps(row, unit),
            advice=verdict_advice(row, unit),
        )
        for row in rows
    ]


def detail(row: Mapping[str, str]) -> str:
    """What a judge with a bias does, or why its verdict is inconclusive, and what to know beside;
    "" if no bias is shown.
    """
    words = in_words(row["reason"])
    if row["verdict"] in FOUND:
        words = FAVOURING[row["quantity"]][row["favours"] != FAVOURS][0]
    beside = in_words(row["note"]) if code(row["note"]) in BESIDE_VERDICTS else ""
    return "; ".join(filter(None, (words, beside)))


def _gaps(row: Mapping[str, str], unit: Unit) -> str:
    """The gaps to people and to the other judges, as in `A +0.4, B +0.1`."""
    gaps = [f"{letter} {unit.text(row[letter])}" for letter in ("A", "B") if row[letter]]
    return ", ".join(gaps)


def verdict_advice(row: Mapping[str, str], unit: Unit) -> str:
    """What to do about one judge or family, in words that also hold for several."""
    if row["note"] and code(row["note"]) is Reason.DISAGREES_WITH_PEOPLE:
        return DISAGREES
    if row["verdict"] == Verdict.INCONCLUSIVE:
        return cure(row["reason"])
    if row["verdict"] in FOUND and row["kind"] == "ratings":
        return REMEDIES_OF_RATINGS[row["quantity"], row["verdict"]]
    if row["verdict"] in FOUND:
        return REMEDIES_OF_PAIRS[row["quantity"]]
    words = "keep it"
    if row["detectable"] and code(row["note"]) is not Reason.UNSUPPORTED:
        words += (
            f": a bias of {unit.text(row['detectable'], sign=False)}{unit.mark} would probably have"
            " been found"
        )
        words += ALONE if row["probability_positive"] else ""
    for letter in ("A", "B"):
        low, high = row[f"{letter}_ci_low"], row[f"{letter}_ci_high"]
        if low and (float(low) > 0 or float(high) < 0):
            gap = float(row[letter])
            above, more = ("above", "more") if gap > 0 else ("below", "less")
            size = f"{unit.text(abs(gap), sign=False)}{unit.mark}"
            clause = GAPS[row["kind"], letter].format(size=size, above=above, more=more)
            return f"{words}; {clause}, which ordinary preference can explain"
    return words


def next_steps(rows: TableRows, unit: Unit) -> list[str]:
    """The advice on biases that are found, then on inconclusive verdicts: each once, with all
    judges that it is for.
    """
    names: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: row["verdict"] == Verdict.INCONCLUSIVE):
        disagrees = code(row["note"]) is Reason.DISAGREES_WITH_PEOPLE
        if disagrees or row["verdict"] != Verdict.NOT_SHOWN:
            names.setdefault(verdict_advice(row, unit), []).append(_name(row))
    steps = []
    names.pop("", None)  # Where no cure is known, there is nothing to do.
    for words, of_advice in names.items():
        steps.append(f"{enumerated([*dict.fromkeys(of_advice)], MOST)}: {words}.")
    return steps[:MOST_STEPS]


def _name(row: Mapping[str, str]) -> str:
    return f"{row['term']} family" if row["quantity"] == FAMILY else row["term"]


def headline(rows: TableRows, unit: Unit, *, beside: TableRows = ()) -> str:
    """The verdicts on one kind of bias, and findings `beside` of another, in a few sentences; ""
    without rows.
    """
    if not rows and not beside:
        return ""
    unknown = [row for row in rows if row["verdict"] == Verdict.INCONCLUSIVE]
    if len(unknown) == len(rows):
        codes = {code(row["reason"]) for row in rows} or {Reason.NO_OWN_ANSWERS}
        reasons = in_short(row["reason"] for row in rows)
        favours = FAVOURING[rows[0]["quantity"] if rows else SELF][0][0]
        words = f"These data do not show whether any judge {favours}: {reasons}."
        if len(codes) == 1:
            words = NO_OWN_ANSWERS.get(*codes, words)
        further = findings(beside, unit)
        if beside and not further:
            further = [NO_FAMILY]
        return " ".join([words, *further])
    sentences = findings([*rows, *beside], unit)
    if not any(row["verdict"] == Verdict.ESTABLISHED for row in rows):
        sentences.insert(0, f"No judge has an established {PREFERENCES[rows[0]['quantity']]}.")
    if unknown:
        sentences.append(f"Inconclusive: {enumerated([row['term'] for row in unknown], MOST)}.")
    return " ".join(sentences)


def findings(rows: TableRows, unit: Unit) -> list[str]:
    """A sentence on the judges or families with an established bias, and one on those with a likely
    one.
    """
    parts = {name: _sides([row for row in rows if row["verdict"] == name], unit) for name in FOUND}
    return [f"{capitalised(name)}: {'; '.join(sides)}." for name, sides in parts.items() if sides]


def _sides(rows: TableRows, unit: Unit) -> list[str]:
    """As in `GPT-4 (+0.4) and Claude (+0.2) favour themselves`, then those with the opposite bias;
    by kind of bias.
    """
    parts = []
    for quantity, favours in product(dict.fromkeys(row["quantity"] for row in rows), (True, False)):
        group = [
            row
            for row in rows
            if row["quantity"] == quantity and (row["favours"] == FAVOURS) == favours
        ]
        if not group:
            continue
        group.sort(key=lambda row: -abs(float(row["estimate"])))
        the = "the " if quantity == FAMILY else ""
        sizes = [f"{the}{_name(row)} ({unit.text(row['estimate'])}{unit.mark})" for row in group]
        verb = FAVOURING[quantity][not favours][len(group) > 1]
        parts.append(f"{enumerated(sizes, MOST)} {verb}")
    return parts


def summary(study: str, about: Mapping, answer: PageAnswer, verdicts: TableRows) -> dict:
    """The answer for other programs: words as on the page, and the rows of the table of verdicts as
    numbers.
    """
    return {
        "study": study,
        "title": about["subject"]["label"],
        "data": about["subject"]["kind"],
        "confidence": about["confidence"],
        "headline": answer.headline,
        "pooled": answer.pooled,
        "wordings": answer.wordings,
        "verdicts": [
            {**_values(row), "detail": shown_row.detail, "advice": shown_row.advice}
            for row, shown_row in zip(verdicts, answer.verdicts, strict=True)
        ],
        "caveats": list(answer.caveats),
        "next_steps": list(answer.next_steps),
        "report": "report.html",
    }


def _values(row: Mapping[str, str]) -> dict:
    """A row with numbers in columns of numbers and None where a field is empty."""
    gaps = [f"{letter}{end}" for letter in ("A", "B") for end in ("", "_ci_low", "_ci_high")]
    numbers = {*NUMBERS, *gaps, "adjusted_p_value"}
    return {
        key: (float(text) if key in numbers else text) if text else None
        for key, text in row.items()
        if key != "study"
    }
