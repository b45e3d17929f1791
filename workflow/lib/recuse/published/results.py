"""The tables of a study, or of the paper, by key, and the criteria that claims are judged by.

A criterion yields findings, each true or false of one number, or of one number beside another.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import product
from statistics import fmean
from typing import NamedTuple

from recuse.base.tables import read_table
from recuse.data.registry import HUMAN
from recuse.published.values import DIMENSIONS, JUDGES

Rows = Iterable[Mapping[str, str]]


class AbsentError(LookupError):
    """A table holds no such value; the text says which."""


@dataclass(frozen=True)
class Value:
    """A number with its standard error and interval; NaN where a table has none."""

    value: float
    std_error: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan

    @classmethod
    def of_row(cls, row: Mapping[str, str], column: str) -> "Value":
        """The number in `column` of a row of texts, with the row's standard error and interval."""
        error = {name: float(row[name]) for name in ("std_error", "ci_low", "ci_high") if row.get(name)}
        return cls(float(row[column]), **error)

    def above_zero(self) -> bool:
        """The interval lies above 0."""
        return self.ci_low > 0

    def below_zero(self) -> bool:
        """The interval lies below 0."""
        return self.ci_high < 0

    def not_above_zero(self) -> bool:
        """The interval does not lie above 0."""
        return not self.above_zero()

    def clear_of_zero(self) -> bool:
        """The interval lies above or below 0."""
        return self.above_zero() or self.below_zero()

    def positive(self) -> bool:
        """The estimate is above 0, whatever its interval."""
        return self.value > 0

    def same_conclusion(self, other: "Value") -> bool:
        """Both intervals lie above 0, or both below, or both include it."""
        return (self.above_zero(), self.below_zero()) == (other.above_zero(), other.below_zero())

    def same_sign(self, other: "Value") -> bool:
        """Both estimates lie above 0, or both below."""
        return self.value * other.value > 0

    def holds(self, other: "Value") -> bool:
        """The other estimate lies in this interval."""
        return self.ci_low <= other.value <= self.ci_high

    def __str__(self):
        """`+0.0217 [+0.0191, +0.0243]`, or the number alone."""
        ends = f" [{self.ci_low:+.4f}, {self.ci_high:+.4f}]" if self.ci_low < self.ci_high else ""
        return f"{self.value:+.4f}{ends}"


@dataclass(frozen=True)
class Results:
    """What a study found, by key."""

    estimates: dict[tuple[str, str, str, str], Value]  # (spec, slice, quantity, term), those that have an interval
    means: dict[tuple[str, str, str], Value]  # (dimension, judge, model)
    correlations: dict[tuple[str, str, str], Value]  # (dimension, judge, statistic)
    agreement: dict[tuple[str, str], Value]  # of the human raters: (dimension, statistic)

    @classmethod
    def from_tables(cls, *, estimates: Rows, mean_scores: Rows, correlations: Rows, agreement: Rows = ()) -> "Results":
        """Index the rows of the tables of these names; of two rows with one key, the first."""
        mean_scores = list(mean_scores)
        judges = len({row["judge"] for row in mean_scores} - {HUMAN})
        return cls(
            _index((row for row in estimates if row["ci_low"]), "estimate", ("spec", "slice", "quantity", "term")),
            {(row["dimension"], row["judge"], row["model"]): _mean(row, judges) for row in mean_scores},
            _index((row for row in correlations if row["value"]), "value", ("dimension", "judge", "statistic")),
            _index((row for row in agreement if row["value"]), "value", ("dimension", "statistic")),
        )

    @classmethod
    def read(
        cls, *, estimates: Sequence[str], mean_scores: str, correlations: str | None = None, agreement: str | None = None
    ) -> "Results":
        """Read the tables at these paths; `estimates` has one for each spec, `agreement` is None where raters are unknown."""
        return cls.from_tables(
            estimates=[row for path in estimates for row in read_table(path)],
            mean_scores=read_table(mean_scores),
            correlations=read_table(correlations) if correlations else (),
            agreement=read_table(agreement) if agreement else (),
        )

    @property
    def dimensions(self) -> set[str]:
        """Names of the dimensions rated."""
        return {dimension for dimension, _, _ in self.means} - {""}

    @property
    def judges(self) -> set[str]:
        """Names of the judges, without the humans."""
        return {judge for _, judge, _ in self.means} - {HUMAN}

    @property
    def models(self) -> set[str]:
        """Names of the models that wrote completions."""
        return {model for _, _, model in self.means}

    def estimate(self, spec: str, slice_: str, quantity: str, term: str) -> Value:
        """Return an estimate; AbsentError if there is none, or none with an interval."""
        absence = f"no {quantity} of {term} with an interval in {', '.join(filter(None, (spec, slice_)))}"
        return _lookup(self.estimates, (spec, slice_, quantity, term), absence)

    def slices(self, spec: str, quantity: str, term: str) -> list[str]:
        """Slices of a spec that have an estimate; AbsentError if none has."""
        slices = sorted(key[1] for key in self.estimates if (key[0], *key[2:]) == (spec, quantity, term))
        if not slices:
            raise AbsentError(f"no {quantity} of {term} with an interval in {spec}")
        return slices

    def mean(self, dimension: str, judge: str, model: str) -> float:
        """Return a mean score; AbsentError if there is none."""
        absence = f"no mean score of {model} by {judge} in {dimension or 'all dimensions'}"
        return _lookup(self.means, (dimension, judge, model), absence).value

    def spearman(self, dimension: str, judge: str) -> float:
        """Return Spearman's correlation of judge and humans; AbsentError if there is none."""
        absence = f"no spearman correlation of {judge} in {dimension}"
        return _lookup(self.correlations, (dimension, judge, "spearman"), absence).value

    def raters(self, dimension: str, statistic: str) -> float:
        """Return an agreement of the human raters ("" for the average of dimensions); AbsentError if there is none."""
        absence = f"no {statistic} of the human raters in {dimension or 'the average of dimensions'}"
        return _lookup(self.agreement, (dimension, statistic), absence).value


def _lookup(table: Mapping, key: tuple, absence: str) -> Value:
    if key not in table:
        raise AbsentError(absence)
    return table[key]


def _index(rows: Rows, column: str, names: tuple[str, ...]) -> dict:
    index = {}
    for row in rows:
        index.setdefault(tuple(row[name] for name in names), Value.of_row(row, column))
    return index


def _mean(row: Mapping[str, str], judges: int) -> Value:
    """A mean score with the largest possible standard error, sqrt(mean (1 - mean) / n), as scores lie between 0 and 1.

    The humans' n counts a completion once for every judge that rated it; published means have no n.
    """
    mean, n = float(row["mean"]), float(row.get("n") or math.nan)
    ratings = n / judges if row["judge"] == HUMAN else n
    return Value(mean, math.sqrt(max(mean * (1 - mean), 0.0) / ratings))


LLM_REFERENCE = "llm_reference_as_coded"


class Finding(NamedTuple):
    """Whether one thing that a claim needs holds, and the numbers that decide it."""

    holds: bool
    text: str


Findings = Iterator[Finding]
Criterion = Callable[[Results], Findings]
Test = Callable[[Value], bool]
TestOfTwo = Callable[[Value, Value], bool]
Quorum = Callable[[Sequence[bool]], bool]
Names = Sequence[str]


def criterion(find: Callable[..., Findings]) -> Callable[..., Criterion]:
    """Turn `find(results, ...)` into `find(...)`, a function of the results."""

    @wraps(find)
    def of(*args, **settings) -> Criterion:
        return lambda results: find(results, *args, **settings)

    return of


def within(limit: float) -> Test:
    """The estimate is `limit` from 0 at most."""
    return lambda value: abs(value.value) <= limit


def none_or_small(limit: float) -> Test:
    """The interval includes 0, or the estimate is positive and `limit` at most."""
    return lambda value: value.ci_low <= 0 <= value.ci_high or 0 < value.value <= limit


def most(held: Sequence[bool]) -> bool:
    """More than half."""
    return sum(held) > len(held) / 2


def three_quarters(held: Sequence[bool]) -> bool:
    """At least three quarters."""
    return sum(held) >= 0.75 * len(held)


@criterion
def is_so(
    results: Results, test: Test, terms: Names, *, quantity: str = "self_bias", spec: str = "main", slices: Names | None = ("",)
) -> Findings:
    """`test` of the estimate of each term in each slice, by default the whole; None: in every slice that has it."""
    for term in terms:
        for name in results.slices(spec, quantity, term) if slices is None else slices:
            value = results.estimate(spec, name, quantity, term)
            yield Finding(test(value), f"{term}{f' ({name})' if name else ''} {value}")


@criterion
def in_slices(results: Results, test: Test, terms: Names, *, spec: str, wanted: str, quorum: Quorum = any) -> Findings:
    """`test`, in words `wanted`, of the self-bias of each term in `quorum` of the slices of a spec."""
    for term in terms:
        slices = results.slices(spec, "self_bias", term)
        passed = [name for name in slices if test(results.estimate(spec, name, "self_bias", term))]
        text = f"{term} {wanted} in {', '.join(passed) or 'none'} ({len(passed)} of {len(slices)} slices of {spec})"
        yield Finding(quorum([name in passed for name in slices]), text)


@criterion
def stands_out(results: Results, slice_: str, terms: Names, *, lowest: bool = False) -> Findings:
    """Each judge's self-bias in one dimension is the highest (or lowest) of all dimensions; the next one is named."""
    for term in terms:
        of = {name: results.estimate("by_dimension", name, "self_bias", term).value for name in DIMENSIONS}
        others = sorted((name for name in of if name != slice_), key=of.get, reverse=not lowest)
        beyond = of[slice_] < of[others[0]] if lowest else of[slice_] > of[others[0]]
        yield Finding(beyond, f"{term} {of[slice_]:+.4f} in {slice_}, {of[others[0]]:+.4f} in {others[0]}")


@criterion
def compared(
    results: Results,
    test: TestOfTwo,
    terms: Names,
    *,
    to: str,
    quantity: str = "self_bias",
    spec: str = "main",
    slices: tuple[str, str] = ("", ""),
    among: Test | None = None,
) -> Findings:
    """`test` of each term's estimates in `spec` and `to`, in one slice of each; only of terms that pass `among` in `spec`."""
    pair = list(zip((spec, to), slices, strict=True))
    first, second = (", ".join(filter(None, where)) for where in pair)
    for term in terms:
        before, after = (results.estimate(*where, quantity, term) for where in pair)
        if among is None or among(before):
            yield Finding(test(before, after), f"{quantity} of {term} {before} in {first}, {after} in {second}")


@criterion
def consistent_references(results: Results, terms: Names) -> Findings:
    """The sign of each judge's self-bias, where clear in `main`, holds under every family's judges as the reference."""
    for term in terms:
        for family in results.slices(LLM_REFERENCE, "self_bias", term):
            where = {"to": LLM_REFERENCE, "slices": ("", family)}
            yield from compared(Value.same_sign, [term], among=Value.clear_of_zero, **where)(results)


def _mean_spearman(results: Results, judges: Names, dimensions: Names) -> float:
    return fmean(results.spearman(dimension, judge) for judge, dimension in product(judges, dimensions))


@criterion
def strongest_judges(results: Results, judges: Names) -> Findings:
    """Each of `judges` has a higher mean Spearman over the dimensions than every other judge."""
    of = {judge: _mean_spearman(results, [judge], DIMENSIONS) for judge in JUDGES}
    best = max((judge for judge in JUDGES if judge not in judges), key=of.get)
    for judge in judges:
        yield Finding(of[judge] > of[best], f"{judge} {of[judge]:.3f}, best of the others {best} {of[best]:.3f}")


@criterion
def stronger_dimensions(results: Results, dimensions: Names) -> Findings:
    """Mean Spearman over the judges is higher in each of `dimensions` than on average in the others."""
    rest = _mean_spearman(results, JUDGES, [name for name in DIMENSIONS if name not in dimensions])
    for name in dimensions:
        mean = _mean_spearman(results, JUDGES, [name])
        yield Finding(mean > rest, f"{name} {mean:.3f}, the other dimensions {rest:.3f}")


@criterion
def some_spearman_above(results: Results, limit: float, dimensions: Names) -> Findings:
    """In each of `dimensions` one judge at least has a Spearman correlation above `limit`."""
    for name in dimensions:
        of = {judge: results.spearman(name, judge) for judge in JUDGES}
        best = max(of, key=of.get)
        yield Finding(of[best] > limit, f"{name}: highest {of[best]:.3f} ({best})")


@criterion
def raters_agree(results: Results, statistic: str, test: Callable[[float], bool], dimensions: Names = ("",)) -> Findings:
    """`test` of a statistic of the human raters in each dimension; "" is the average."""
    for name in dimensions:
        value = results.raters(name, statistic)
        yield Finding(test(value), f"{statistic} {value:.3f} in {name or 'the average of dimensions'}")


def near(wanted: float) -> Callable[[float], bool]:
    """Within 0.01 of `wanted`."""
    return lambda value: abs(value - wanted) <= 0.01


@criterion
def means_cluster(results: Results, low: float, high: float) -> Findings:
    """Each judge's mean of each model, to two decimals, lies between `low` and `high`."""
    for judge, model in product(JUDGES, JUDGES):
        mean = round(results.mean("", judge, model), 2)
        yield Finding(low <= mean <= high, f"{judge} on {model} {mean:.2f}")


@criterion
def own_is_top(results: Results, judges: Names) -> Findings:
    """Each judge's mean of itself is the highest of its row or of its column, within half of 0.01."""
    for judge in judges:
        own = results.mean("", judge, judge)
        row = max(results.mean("", judge, model) for model in JUDGES)
        column = max(results.mean("", other, judge) for other in JUDGES)
        text = f"{judge} {own:.3f}, highest of its row {row:.3f}, of its column {column:.3f}"
        yield Finding(own > min(row, column) - 0.005, text)


@criterion
def human_gap_near(results: Results, wanted: float, models: tuple[str, str]) -> Findings:
    """The first model's mean by the humans is `wanted` above the second one's, to within 0.01."""
    gap = _human_gap(results, models)
    yield Finding(near(wanted)(gap), f"gap of the human means {gap:.3f}")


@criterion
def bias_like_gap(results: Results, judges: Names, models: tuple[str, str]) -> Findings:
    """Each judge's self-bias is within 0.01 of the gap between the humans' means of two models."""
    gap = _human_gap(results, models)
    for judge in judges:
        value = results.estimate("main", "", "self_bias", judge).value
        yield Finding(near(gap)(value), f"self-bias of {judge} {value:.4f}, gap {gap:.3f}")


def _human_gap(results: Results, models: tuple[str, str]) -> float:
    first, second = (results.mean("", HUMAN, model) for model in models)
    return first - second


@criterion
def humans_differ_little(results: Results, limit: float, dimension: str) -> Findings:
    """The human raters' means of any two models in a dimension are `limit` apart at most."""
    means = [results.mean(dimension, HUMAN, model) for model in JUDGES]
    spread = max(means) - min(means)
    yield Finding(spread <= limit, f"human means differ by {spread:.3f}")


@criterion
def below_the_humans(results: Results, judges: Names, dimension: str) -> Findings:
    """Each judge's means in a dimension are below the humans', for every model; the nearest one is named."""
    human = {model: results.mean(dimension, HUMAN, model) for model in JUDGES}
    for judge in judges:
        means = {model: results.mean(dimension, judge, model) for model in JUDGES}
        nearest = max(JUDGES, key=lambda model: means[model] - human[model])
        text = f"{judge} on {nearest} {means[nearest]:.3f}, humans {human[nearest]:.3f}"
        yield Finding(means[nearest] < human[nearest], text)


@criterion
def lower_for_itself(results: Results, judges: Names, dimension: str) -> Findings:
    """Each judge's mean of itself in a dimension is below its mean of the other models."""
    for judge in judges:
        own = results.mean(dimension, judge, judge)
        others = fmean(results.mean(dimension, judge, model) for model in JUDGES if model != judge)
        yield Finding(own < others, f"{judge} on itself {own:.3f}, on the others {others:.3f}")


@criterion
def gpt_4_is_larger(results: Results, gpt_4: str, claude: str) -> Findings:
    """The first judge's self-bias is larger than the second one's."""
    one, other = (results.estimate("main", "", "self_bias", judge) for judge in (gpt_4, claude))
    yield Finding(one.value > other.value, f"GPT-4 {one}, Claude v1.3 {other}")
