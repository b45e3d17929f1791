"""The tables of a study, or of the paper, by key."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recuse.base.tables import read_table
from recuse.data.registry import HUMAN

_Rows = Iterable[Mapping[str, str]]


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
        error = {
            name: float(row[name]) for name in ("std_error", "ci_low", "ci_high") if row.get(name)
        }
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

    def none_or_small(self, limit: float) -> bool:
        """The interval includes 0, or the estimate is above 0 and at most `limit`."""
        return self.ci_low <= 0 <= self.ci_high or 0 < self.value <= limit

    def positive(self) -> bool:
        """The estimate is above 0, whatever its interval."""
        return self.value > 0

    def same_conclusion(self, other: "Value") -> bool:
        """Both intervals lie above 0, or both below, or both include it."""
        return (self.above_zero(), self.below_zero()) == (other.above_zero(), other.below_zero())

    def same_sign(self, other: "Value") -> bool:
        """Both estimates lie above 0, or both below."""
        return self.value * other.value > 0

    def larger(self, other: "Value") -> bool:
        """This estimate is larger than the other."""
        return self.value > other.value

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

    # (spec, slice, quantity, term), those that have an interval
    estimates: dict[tuple[str, str, str, str], Value]
    means: dict[tuple[str, str, str], Value]  # (dimension, judge, model)
    correlations: dict[tuple[str, str, str], Value]  # (dimension, judge, statistic)
    agreement: dict[tuple[str, str], Value]  # of the human raters: (dimension, statistic)

    @classmethod
    def from_tables(
        cls, *, estimates: _Rows, mean_scores: _Rows, correlations: _Rows, agreement: _Rows = ()
    ) -> "Results":
        """Index the rows of the tables of these names; of two rows with one key, the first."""
        mean_scores = list(mean_scores)
        judges = len({row["judge"] for row in mean_scores} - {HUMAN})
        return cls(
            _index(
                (row for row in estimates if row["ci_low"]),
                "estimate",
                ("spec", "slice", "quantity", "term"),
            ),
            {
                (row["dimension"], row["judge"], row["model"]): _mean(row, judges)
                for row in mean_scores
            },
            _index(
                (row for row in correlations if row["value"]),
                "value",
                ("dimension", "judge", "statistic"),
            ),
            _index((row for row in agreement if row["value"]), "value", ("dimension", "statistic")),
        )

    @classmethod
    def read(
        cls,
        *,
        estimates: Sequence[str],
        mean_scores: str,
        correlations: str | None = None,
        agreement: str | None = None,
    ) -> "Results":
        """Read the tables at these paths; `estimates` has one for each spec, `agreement` is None
        where raters are unknown.
        """
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
        where = ", ".join(filter(None, (spec, slice_)))
        return _lookup(
            self.estimates,
            (spec, slice_, quantity, term),
            f"{quantity} of {term} with an interval in {where}",
        )

    def slices(self, spec: str, quantity: str, term: str) -> list[str]:
        """Slices of a spec that have an estimate; AbsentError if none has."""
        slices = sorted(
            key[1] for key in self.estimates if (key[0], *key[2:]) == (spec, quantity, term)
        )
        if not slices:
            raise AbsentError(f"no {quantity} of {term} with an interval in {spec}")
        return slices

    def mean(self, dimension: str, judge: str, model: str) -> float:
        """Return a mean score; AbsentError if there is none."""
        words = f"mean score of {model} by {judge} in {dimension or 'all dimensions'}"
        return _lookup(self.means, (dimension, judge, model), words).value

    def spearman(self, dimension: str, judge: str) -> float:
        """Return Spearman's correlation of judge and humans; AbsentError if there is none."""
        words = f"spearman correlation of {judge} in {dimension}"
        return _lookup(self.correlations, (dimension, judge, "spearman"), words).value

    def raters(self, dimension: str, statistic: str) -> Value:
        """Return an agreement of the human raters ("" for the average of dimensions); AbsentError
        if there is none.
        """
        words = f"{statistic} of the human raters in {dimension or 'the average of dimensions'}"
        return _lookup(self.agreement, (dimension, statistic), words)


def _lookup(table: Mapping, key: tuple, words: str) -> Value:
    if key not in table:
        raise AbsentError(f"no {words}")
    return table[key]


def _index(rows: _Rows, column: str, names: tuple[str, ...]) -> dict:
    index = {}
    for row in rows:
        index.setdefault(tuple(row[name] for name in names), Value.of_row(row, column))
    return index


def _mean(row: Mapping[str, str], judges: int) -> Value:
    """A mean score with the largest possible standard error, sqrt(mean (1 - mean) / n), as scores
    lie between 0 and 1.

    The humans' n counts a completion once for every judge that rated it; published means have no n.
    """
    mean = float(row["mean"])
    n = float(row.get("n") or math.nan)
    ratings = n / judges if row["judge"] == HUMAN else n
    return Value(mean, math.sqrt(max(mean * (1 - mean), 0.0) / ratings))
