"""Verdicts in words: what a report says first, on its page, in summary.json and at the terminal."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median_high

import numpy as np

from recuse.base.reasons import Reason, code, cure, in_short
from recuse.base.tables import column_names
from recuse.base.templates import said, said_with_table
from recuse.base.words import enumerated, number, signed
from recuse.data.registry import shared_scale
from recuse.inference.verdict import DISFAVOURS, FAVOURS, FOUND, NUMBERS, Verdict
from recuse.model.spec import BIASES, FAMILY, SELF
from recuse.report.tables import Row, TableRows, grouped, number_in, where

KINDS = {
    SELF: "self-bias",
    FAMILY: "family-bias",
    "longer": "longer answers",
    "first": "first answer",
}
# Until they are answered in the configuration, there is no verdict on the judge.
ASKED_OF_USER = (Reason.LONE_LEVEL, Reason.OTHER_SCALE, Reason.COPIED_RATINGS)
MOST_CAVEATS = 3
MOST = 5  # names in a list before the rest is counted
MOST_STEPS = 4
MOST_WORDS = 30  # of a headline
MOST_TICKS = 5  # of the axis of the first table
WIDEST = 4  # times the median reach of an interval, beyond which it is cut off
SMALLEST = 1e-12  # a value below is rounding
ORDER = (Verdict.ESTABLISHED, Verdict.LIKELY, Verdict.NOT_SHOWN)  # of the rows of the first table


@dataclass(frozen=True)
class Unit:
    """How sizes are shown: times a width, with digits, and what they are then."""

    name: str
    width: float
    digits: int
    mark: str  # after a single size
    low: float = 0.0  # the lowest score, in the unit

    def score(self, value: str | float) -> str:
        """A score from 0 to 1 in this unit, without its name."""
        return number(self.low + float(value) * self.width, self.digits)

    def text(self, value: str | float, *, sign: bool = True) -> str:
        """A share of the scale in this unit, without its name; "" without a value."""
        if value == "":
            return ""
        return (signed if sign else number)(float(value) * self.width, self.digits)

    def size(self, value: str | float, *, sign: bool = True) -> str:
        """The same with the mark of the unit, as in `+0.3 %`."""
        return f"{self.text(value, sign=sign)}{self.mark}" if value != "" else ""

    def span(self, row: Row, prefix: str = "") -> str:
        """The interval of a row, as in `0.1 to 0.4`, with as many digits as show its signs; ""
        without one.
        """
        ends = [row.get(f"{prefix}{end}") for end in ("ci_low", "ci_high")]
        return " to ".join(map(self._end, ends)) if all(ends) else ""

    def cell(self, row: Row, column: str, prefix: str = "") -> str:
        """A value with its interval, as in `0.3 (0.1 to 0.4)`; "" without a value."""
        span = self.span(row, prefix)
        interval = f" ({span}{self.mark})" if span else ""
        return self.size(row.get(column, ""), sign=False) + interval

    def _end(self, end: str) -> str:
        value, digits = float(end) * self.width, self.digits
        if abs(value) < SMALLEST:
            return number(0.0, digits)
        while not round(value, digits):
            digits += 1
        return number(value, digits)


PERCENT = Unit("% of the scale", 100, 1, "\u00a0%")
CORRELATIONS = Unit("", 1, 2, "")
SHARES = Unit("", 100, 0, "\u00a0%")
POINTS = Unit("percentage points", 100, 1, " points")  # of shares


def scale_unit(scales: Mapping) -> Unit:
    """Points of the raw scale, if all dimensions have the same one other than 0 to 1; else percent
    of the scale.
    """
    of_dimensions = map(shared_scale, scales.values())
    kinds = {None if scale == "observed" else (scale[0], scale[1]) for scale in of_dimensions}
    if len(kinds) != 1 or kinds & {None, (0, 1)}:
        return PERCENT
    low, high = kinds.pop()
    width = high - low
    digits = 1 if width >= 50 else 2 + max(0, math.ceil(-math.log10(width)))
    return Unit(f"points, scale {low:g} to {high:g}", width, digits, " points", low)


@dataclass(frozen=True)
class ShownVerdict:
    """One row of the first table of a page."""

    name: str
    kind: str  # one of KINDS
    verdict: str
    detail: str  # what the judge does, or what bias would show; how sure that is
    size: str
    interval: str
    agreement: str  # with people, and its interval
    hardly_agrees: bool
    advice: str
    # Places on the axis, from 0 to 1, of the estimate, the ends of its interval, A and B; an end
    # beyond the axis is at 0 or 1, where nothing else is
    places: Mapping[str, float]


Axis = tuple[float, float]  # ends of the axis of the first table, in shares of the scale


def _place(value: str | float, axis: Axis) -> float:
    """From 0 to 1; what is beyond an end is there."""
    return float(np.interp(float(value), axis, (0, 1)))


@dataclass(frozen=True)
class PageSection:
    """A small table of the answer with a sentence above it."""

    heading: str
    sentence: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]

    @classmethod
    def from_texts(
        cls, heading: str, sentence: str, rows: TableRows, empty: str = ""
    ) -> "PageSection":
        """A section of rows, heading -> text; no column without a value. empty: stands for a text
        that is.
        """
        headings = [name for name in (rows[0] if rows else ()) if any(row[name] for row in rows)]
        texts = [[row[name] or empty for name in headings] for row in rows]
        return cls(heading, sentence, headings, texts)

    @classmethod
    def from_template(cls, name: str, /, empty: str = "", **facts: object) -> "PageSection":
        """A section as sentences.j2 writes it; see `from_texts`."""
        heading, sentence, (headings, *rows) = said_with_table(name, **facts)
        table = [dict(zip(headings, row, strict=True)) for row in rows]
        return cls.from_texts(heading, sentence, table, empty)


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
    who: str = "judge"  # the heading of their names
    untested: Sequence[str] = ()  # judges and families without a verdict, and why
    unit: Unit = PERCENT
    axis: Axis = (0.0, 1.0)
    zero: float = 0.0  # the place of 0
    least: str = ""  # the correlation with people below which they hardly agree
    truth: str = ""  # what a study without human scores cannot tell
    further: str = ""  # findings that the headline has no room for
    pooled: str = ""
    wordings: str = ""  # of the rubric, for which the verdicts hold
    tracking: PageSection | None = None
    leaderboard: PageSection | None = None
    panel: PageSection | None = None
    caveats: Sequence[str] = ()  # at most three, the largest first
    next_steps: Sequence[str] = ()
    points: Sequence[Point] = ()

    def ticks(self) -> list[tuple[float, str]]:
        """Place and label of round numbers in the unit, 0 among them."""
        # Only a page draws the axis, and this import takes longer than all words.
        from matplotlib.ticker import MaxNLocator

        width = self.unit.width
        low, high = (end * width for end in self.axis)
        values = MaxNLocator(MOST_TICKS, steps=[1, 2, 5, 10]).tick_values(low, high)
        digits = max(0, -math.floor(math.log10(values[1] - values[0])))
        return [
            (
                _place(value / width, self.axis),
                signed(value, digits) if round(value, digits) else "0",
            )
            for value in values
            if low <= value <= high
        ]


def shown_verdicts(rows: TableRows, unit: Unit) -> dict:
    """What an answer shows of the table of verdicts: by kind, sorted by verdict and size, with one
    axis for all; and a line on those without a verdict.
    """
    kinds = list(dict.fromkeys(row["quantity"] for row in rows))
    tested = [row for row in rows if row["verdict"] != Verdict.INCONCLUSIVE]
    tested.sort(key=size_of_bias, reverse=True)
    tested.sort(key=lambda row: (kinds.index(row["quantity"]), ORDER.index(row["verdict"])))
    axis = _axis(tested)
    leasts = _numbers(tested, "agreement_least")
    names = {"family" if row["quantity"] == FAMILY else "judge" for row in tested}
    return {
        "who": " or ".join(sorted(names, reverse=True)) or "judge",
        "verdicts": [_shown(row, unit, axis) for row in tested],
        "untested": [*_untested(rows)],
        "unit": unit,
        "axis": axis,
        "zero": _place(0.0, axis),
        "least": number(max(leasts), 2) if leasts else "",
    }


def _shown(row: Row, unit: Unit, axis: Axis) -> ShownVerdict:
    marks = ("estimate", "ci_low", "ci_high", "A", "B")
    return ShownVerdict(
        name=name_in(row),
        kind=KINDS[row["quantity"]],
        verdict=row["verdict"],
        detail=detail(row, unit),
        size=unit.text(row["estimate"]),
        interval=unit.span(row),
        agreement=CORRELATIONS.cell(row, "agreement", "agreement_"),
        hardly_agrees=bool(row["disagreement"]),
        advice=verdict_advice(row),
        places={name: _place(row[name], axis) for name in marks if row[name]},
    )


def _axis(rows: TableRows) -> Axis:
    """An axis that holds 0, all estimates and gaps, and intervals up to WIDEST times their median
    reach.
    """
    ends = _numbers(rows, "ci_low", "ci_high")
    most = WIDEST * median_high(map(abs, ends)) if ends else 1.0
    kept = [0.0, *_numbers(rows, "estimate", "A", "B"), *np.clip(ends, -most, most)]
    margin = 0.05 * np.ptp(kept) or 1.0
    return min(kept) - margin, max(kept) + margin


def _numbers(rows: TableRows, *columns: str) -> list[float]:
    """The finite numbers in some columns."""
    numbers = [number_in(row, name) for row in rows for name in columns]
    return [each for each in numbers if math.isfinite(each)]


def _untested(rows: TableRows) -> Iterator[str]:
    """Which judges and families have no verdict, and why, in a line for each kind of reason."""
    untested = where(rows, verdict=Verdict.INCONCLUSIVE)
    groups = grouped(untested, lambda row: (row["quantity"], code(row["reason"])))
    for (quantity, _), group in groups.items():
        why = in_short((row["reason"] for row in group), several=len(group) > 1)
        facts = {"quantity": quantity, "why": why, "cure": cure(group[0]["reason"])}
        yield said("untested", names=[row["term"] for row in group], **facts)


def interval_side(row: Row) -> int:
    """1 for an interval above 0, -1 for one below, else 0."""
    return (number_in(row, "ci_low") > 0) - (number_in(row, "ci_high") < 0)


# Notes that say nothing against the test itself
OF_RESULT = (None, Reason.UNSUPPORTED, Reason.MISSING_OWN)


def detail(row: Row, unit: Unit) -> str:
    """What a judge with a bias does, or how large a bias would have to be to show; then what to
    know beside the verdict, and how sure it is.
    """
    is_found, side, note = row["verdict"] in FOUND, interval_side(row), code(row["note"])
    seen = ""
    if is_found:
        seen = "bias"
    elif side and note is not Reason.UNSUPPORTED:
        seen = "interval"
    elif not side and number_in(row, "detectable") < 1:
        seen = "detectable"
    elif not side and row["ci_low"] and not row["detectable"]:
        seen = "unknown"
    return said(
        "detail",
        row=row,
        seen=seen,
        favours=row["favours"] == FAVOURS,
        least=unit.size(row["detectable"], sign=False),
        is_doubted=note not in OF_RESULT,
        support=_support(row) if is_found and note in OF_RESULT else None,
        is_against_people=is_found and _is_against_people(row),
    )


def _support(row: Row) -> str | float | None:
    """How probable a bias is, or a code: why one whose interval excludes 0 is likely at most."""
    above = number_in(row, "probability_positive")
    if row["verdict"] == Verdict.ESTABLISHED and math.isnan(above):
        return None
    if row["kind"] == "shares":
        return "shares_alone"
    support = above if row["favours"] == FAVOURS else 1 - above
    # Over wordings, both are asked for: the one that is farther from its level is not met
    is_over_wordings = number_in(row, "wordings") > 1
    is_unmet = is_over_wordings and number_in(row, "adjusted_p_value") > 2 * (1 - support)
    return "many_tested" if is_unmet or math.isnan(above) else support


def _is_against_people(row: Row) -> bool:
    """Whether the gap to people has an interval on the other side of 0 than the bias."""
    end = "A_ci_high" if row["favours"] == FAVOURS else "A_ci_low"
    return number_in(row, end) * number_in(row, "estimate") < 0


def verdict_advice(row: Row) -> str:
    """What to do about one judge or family, in words that also hold for several."""
    if not row["disagreement"] and row["verdict"] == Verdict.INCONCLUSIVE:
        return cure(row["reason"])
    return said("advice", row=row)


def next_steps(rows: TableRows) -> list[str]:
    """The advice on judges that hardly agree with others, on biases that are established and on
    likely ones, then what would make inconclusive verdicts conclusive, as far as the user is asked
    something or no self-bias could be tested: each once, with all judges that it is for.
    """
    tested = [row for row in rows if row["verdict"] != Verdict.INCONCLUSIVE]
    established, likely = (where(rows, verdict=verdict) for verdict in FOUND)
    steps = [*_strangers(rows), *established, *likely]
    for row in where(rows, verdict=Verdict.INCONCLUSIVE):
        is_first = row["quantity"] == SELF and not where(tested, quantity=SELF)
        if is_first or code(row["reason"]) in ASKED_OF_USER:
            steps.append(row)
    sentences = []
    for words, group in grouped(steps, verdict_advice).items():
        if words:  # Where no cure is known, there is nothing to do.
            who = enumerated([*dict.fromkeys(map(name_in, group))], MOST)
            sentences.append(f"{who}: {words}.")
    return sentences[:MOST_STEPS]


def _strangers(rows: TableRows) -> list[Row]:
    """The rows of judges that hardly agree with others, by their agreement; unknown ones first."""
    strangers = [row for row in rows if row["disagreement"]]
    return sorted(strangers, key=lambda row: float(row["agreement"] or -1))


def name_in(row: Row, the: str = "") -> str:
    """The judge or family of a row; the: before a family's name."""
    return f"{the}{row['term']} family" if row["quantity"] == FAMILY else row["term"]


def headline(rows: TableRows, unit: Unit, *, relative: bool = False) -> str:
    """Which self- and family-biases are established, and which judges hardly agree with people or
    the other judges, in at most MOST_WORDS words; "" without rows.

    relative: whether biases are known against the other judges alone.
    """
    if not rows:
        return ""
    for most in (MOST, 3, 2, 0):
        words = " ".join([*bias_sentences(rows, unit, most, relative), *_on_strangers(rows, most)])
        if len(words.split()) <= MOST_WORDS:
            return words
    counts = Counter(row["quantity"] for row in where(rows, verdict=Verdict.ESTABLISHED))
    return " ".join([said("how_many", counts=counts), *_on_strangers(rows, most=0)])


def _on_strangers(rows: TableRows, most: int) -> Iterator[str]:
    """Which judges hardly agree with people or the other judges; most: see `bias_sentences`."""
    if strangers := _strangers(rows):
        reason = code(strangers[0]["disagreement"])
        yield said("strangers", who=_who(strangers, most), reason=reason)


def bias_sentences(
    rows: TableRows, unit: Unit | None = None, most: int = MOST, relative: bool = False
) -> Iterator[str]:
    """Which self- and family-biases are established, that on self-bias first, also where none is.

    unit: of the sizes beside the names, None for none; most: names in a list, 0 for numbers alone;
    relative: whether biases are known against the other judges alone.
    """
    own = where(rows, quantity=SELF)
    if all(row["verdict"] == Verdict.INCONCLUSIVE for row in own):
        yield said("untested_self", why=_why_untested(own, rows[0]["kind"]) if most else "")
    elif not where(own, verdict=Verdict.ESTABLISHED):
        yield said("none_established")
    for facts in _biases(where(rows, verdict=Verdict.ESTABLISHED), BIASES, most, unit):
        yield said("established", **facts, relative=relative)


def further_biases(rows: TableRows, unit: Unit) -> Iterator[str]:
    """The lines under the headline: which biases for longer and for first answers are established,
    then which self-biases are likely, and not established.
    """
    others = [quantity for quantity in KINDS if quantity not in BIASES]
    lines = (Verdict.ESTABLISHED, others, MOST, unit), (Verdict.LIKELY, [SELF], 2, None)
    for verdict, *settings in lines:
        if biases := [*_biases(where(rows, verdict=verdict), *settings)]:
            yield said("biases_found", verdict=verdict, biases=biases)


def _biases(
    rows: TableRows, quantities: Sequence[str], most: int, unit: Unit | None
) -> Iterator[dict]:
    """Who has each bias in these rows, the largest first; see `bias_sentences`."""
    for quantity, favours in product(quantities, (FAVOURS, DISFAVOURS)):
        if same := where(rows, quantity=quantity, favours=favours):
            same.sort(key=size_of_bias, reverse=True)
            who = _who(same, most, unit)
            yield {"quantity": quantity, "favours": favours == FAVOURS, "who": who}


def size_of_bias(row: Row) -> float:
    """By which rows are sorted."""
    return abs(number_in(row, "estimate"))


def _why_untested(own: TableRows, kind: str) -> str:
    """Why no judge has a verdict on self-bias; own: the rows on it, if there are any."""
    missing = Reason.NO_OWN_ANSWERS if kind == "ratings" else Reason.NO_OWN_COMPARED
    reasons = [row["reason"] for row in own] or [missing]
    if {*map(code, reasons)} == {missing}:
        return said("no_own", code=missing)
    return in_short(reasons, several=len(own) > 1)


def _who(rows: TableRows, most: int, unit: Unit | None = None) -> dict:
    """The judges or families of rows, with the sizes of their biases in a unit."""
    names = []
    for row in rows:
        size = f" ({unit.size(row['estimate'])})" if unit else ""
        names.append(name_in(row, "the ") + size)
    return {"names": names, "most": most, "families": rows[0]["quantity"] == FAMILY}


def table_as_texts(answer: PageAnswer) -> PageSection:
    """The first table of an answer; no column without a value."""
    rows = [
        {
            answer.who: each.name,
            "bias": each.kind,
            "size": f"{each.size} ({each.interval})",
            "r with people": each.agreement,
            "verdict": each.verdict,
            "what to do": each.advice,
        }
        for each in answer.verdicts
    ]
    return PageSection.from_texts("", "", rows)


# What a summary has of an answer as it is
SUMMARISED = (
    "headline",
    "truth",
    "further",
    "pooled",
    "wordings",
    "untested",
    "caveats",
    "next_steps",
)
# Columns of numbers
NUMERIC = NUMBERS + column_names(
    "adjusted_p_value A A_ci_low A_ci_high B B_ci_low B_ci_high",
    "agreement agreement_ci_low agreement_ci_high",
)


def summary(study: str, about: Mapping, answer: PageAnswer, verdicts: TableRows) -> dict:
    """The answer for other programs: words as on the page, and the rows of the table of verdicts as
    numbers.
    """
    table = table_as_texts(answer)
    words = {name: getattr(answer, name) for name in SUMMARISED}
    return {
        "study": study,
        "title": about["subject"]["label"],
        "data": about["subject"]["kind"],
        "confidence": about["confidence"],
        **words,
        "verdicts": [
            {**_values(row), "detail": detail(row, answer.unit), "advice": verdict_advice(row)}
            for row in verdicts
        ],
        "table": {"headings": table.headings, "rows": table.rows},
        "report": "report.html",
    }


def _values(row: Row) -> dict:
    """A row with numbers in columns of numbers and None where a field is empty."""
    return {
        key: (float(text) if key in NUMERIC else text) if text else None
        for key, text in row.items()
        if key != "study"
    }
