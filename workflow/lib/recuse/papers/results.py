"""The tables of a study, or of the paper, by key."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from recuse.base.tables import read_table
from recuse.data.registry import HUMAN


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
    def from_row(cls, row: Mapping[str, str], column: str) -> "Value":
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


class _Keyed(NamedTuple):
    """How the numbers of a table are found."""

    column: str  # of the number
    key: tuple[str, ...]  # columns
    words: str  # for one number


KEYED = {
    "estimates": _Keyed(
        "estimate",
        ("spec", "slice", "quantity", "term"),
        "{quantity} of {term} with an interval in {spec}",
    ),
    "mean_scores": _Keyed(
        "mean", ("dimension", "judge", "model"), "mean score of {model} by {judge} in {dimension}"
    ),
    "correlations": _Keyed(
        "value",
        ("dimension", "judge", "statistic"),
        "{statistic} correlation of {judge} in {dimension}",
    ),
    "agreement": _Keyed(
        "value", ("dimension", "statistic"), "{statistic} of the human raters in {dimension}"
    ),
}
# The dimension "" of a table
WHOLE = {"mean_scores": "all dimensions", "agreement": "the average of dimensions"}


_ByKey = Mapping[tuple[str, ...], Value]


@dataclass(frozen=True)
class Results:
    """What a study found: the numbers of each table in KEYED, by key."""

    estimates: _ByKey  # those that have an interval
    mean_scores: _ByKey
    correlations: _ByKey
    agreement: _ByKey  # of the human raters

    @classmethod
    def from_tables(cls, **tables: Iterable[Mapping[str, str]]) -> "Results":
        """Index the rows of the tables of these names; of two rows with one key, the first."""
        indexed = {}
        for table, (column, names, _) in KEYED.items():
            needed = "ci_low" if table == "estimates" else column
            rows = [row for row in tables.get(table, ()) if row[needed]]
            judges = len({row.get("judge") for row in rows} - {HUMAN})
            index = indexed[table] = {}
            for row in rows:
                value = Value.from_row(row, column)
                if table == "mean_scores":
                    value = replace(value, std_error=_largest_error(row, judges))
                index.setdefault(tuple(row[name] for name in names), value)
        return cls(**indexed)

    @classmethod
    def read(cls, **paths: Iterable[str]) -> "Results":
        """Read the tables of these names, each from any number of files."""
        tables = {
            table: [row for path in files for row in read_table(path)]
            for table, files in paths.items()
        }
        return cls.from_tables(**tables)

    @property
    def dimensions(self) -> set[str]:
        """Names of the dimensions rated."""
        return {dimension for dimension, _, _ in self.mean_scores} - {""}

    @property
    def judges(self) -> set[str]:
        """Names of the judges, without the humans."""
        return {judge for _, judge, _ in self.mean_scores} - {HUMAN}

    @property
    def models(self) -> set[str]:
        """Names of the models that wrote completions."""
        return {model for _, _, model in self.mean_scores}

    def find(self, table: str, *key: str) -> Value:
        """Return a number of a table in KEYED by its key; AbsentError if there is none."""
        values = getattr(self, table)
        if key not in values:
            _, names, words = KEYED[table]
            named = dict(zip(names, key, strict=True))
            if table == "estimates":
                named["spec"] = ", ".join(filter(None, key[:2]))
            else:
                named["dimension"] = key[0] or WHOLE[table]
            raise AbsentError(f"no {words.format(**named)}")
        return values[key]

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
        return self.find("mean_scores", dimension, judge, model).value


def _largest_error(row: Mapping[str, str], judges: int) -> float:
    """The largest possible standard error of a mean score, sqrt(mean (1 - mean) / n), as scores lie
    between 0 and 1.

    The humans' n counts a completion once for every judge that rated it; published means have no n.
    """
    mean = float(row["mean"])
    n = float(row.get("n") or math.nan)
    ratings = n / judges if row["judge"] == HUMAN else n
    return math.sqrt(max(mean * (1 - mean), 0.0) / ratings)
