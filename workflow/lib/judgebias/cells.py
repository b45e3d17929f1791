"""Cells: the ratings with identical rows collapsed, so that every later step reads thousands of rows instead of millions."""

from dataclasses import dataclass

import numpy as np

from judgebias.database import connect, name, text
from judgebias.errors import DataError
from judgebias.lengths import with_normalised_length
from judgebias.references import with_family_references

FACTORS = ("dimension", "dataset", "task_type", "judge", "model", "judge_family", "model_family")
ORDER = 4  # highest order of moments: a fit with HC0 errors needs sums of products of four


@dataclass(frozen=True)
class Cells:
    """The cells of a study, sorted by dimension, dataset, judge, model, reference."""

    factors: dict[str, np.ndarray]  # each (groups,) of str: FACTORS of every (dimension, dataset, judge, model)
    group: np.ndarray  # (cells,) place in `factors`, rising
    reference: np.ndarray  # (cells,) the human score, or the mean rating of a family's judges, on the unit scale
    reference_raw: np.ndarray  # (cells,) the same as it stands in the data
    counts: np.ndarray  # (cells, ratings) how many rows gave each raw rating
    ratings: np.ndarray  # (ratings,) the raw ratings
    scale: np.ndarray  # (cells, 2) lowest and highest rating of the cell's dimension

    @property
    def n(self) -> np.ndarray:
        """Rows in each cell, (cells,)."""
        return self.counts.sum(axis=1)

    @property
    def ratings_unit(self) -> np.ndarray:
        """Each raw rating on the unit scale of the cell's dimension, (cells, ratings)."""
        low, high = self.scale[:, :1], self.scale[:, 1:]
        return (self.ratings - low) / (high - low)

    def factor(self, name: str) -> np.ndarray:
        """Value of a factor in each cell, (cells,) of str."""
        return self.factors[name][self.group]

    def select(self, mask: np.ndarray) -> "Cells":
        """Keep the groups where `mask`, (groups,) of bool, is true."""
        kept, place = mask[self.group], np.cumsum(mask) - 1
        cells = {key: getattr(self, key)[kept] for key in ("reference", "reference_raw", "counts", "scale")}
        factors = {factor: values[mask] for factor, values in self.factors.items()}
        return Cells(factors=factors, group=place[self.group[kept]], ratings=self.ratings, **cells)

    def sum_by_group(self, values: np.ndarray) -> np.ndarray:
        """Sum `values`, one for each cell, over the cells of each group, (groups,)."""
        return np.bincount(self.group, weights=values)


def exponents(variables: int) -> list[tuple[int, ...]]:
    """Exponents of every product of `variables` quantities up to order four, e.g. (1, 2, 0): rating * reference^2."""
    products = np.ndindex(*(ORDER + 1,) * variables)
    return [powers for powers in products if sum(powers) <= ORDER]


def moment_column(powers: tuple[int, ...]) -> str:
    """Name of the column that holds the sum of rating^a * reference^b * length^c."""
    return "m_" + "".join(map(str, powers))


def build_cells(ratings: str, cells: str) -> None:
    """Collapse the canonical ratings (parquet) into cells (parquet); DataError if there is no row.

    One row per distinct (dimension, dataset, judge, model, gt) with n and count_<rating>, the number of rows of each raw
    rating: nothing is lost for any statistic of rating and reference. `group` numbers (dimension, dataset, judge, model).
    """
    rows = f"from read_parquet({text(ratings)})"
    if connect().execute(f"select count(*) {rows}").fetchone() == (0,):
        raise DataError(f"{ratings}: no complete row is left; see completeness.csv for what is missing")
    _collapse(ratings, f"select '' as reference_family, * {rows}", cells)


def build_references(ratings: str, references: str) -> None:
    """Collapse the canonical ratings as `build_cells` does, once for each family of judges that stands in for the humans.

    The rows of `reference_family` are those of the other families' judges, with that family's mean rating for gt
    (judgebias.references.with_family_references).
    """
    _collapse(ratings, with_family_references(f"from read_parquet({text(ratings)})"), references)


def _collapse(ratings: str, rows: str, cells: str) -> None:
    """Write the cells of `rows` (SQL), which hold ratings of the parquet file `ratings`."""
    connection = connect()
    low, high = connection.execute(f"select min(scale_low), max(scale_high) from read_parquet({text(ratings)})").fetchone()
    counts = ", ".join(f"count(*) filter (rating = {rating}) as {name(f'count_{rating}')}" for rating in range(low, high + 1))
    connection.execute(f"""copy (
        select dense_rank() over (partition by reference_family order by dimension, dataset, judge, model) as "group", * from (
            select reference_family, {", ".join(FACTORS)}, gt, gt_unit, scale_low, scale_high, count(*) as n, {counts}
            from ({rows}) group by all)
        order by reference_family, dimension, dataset, judge, model, gt) to {text(cells)} (format parquet)""")


def build_moments(ratings: str, length: str, moments: str) -> None:
    """Collapse the canonical ratings (parquet) into group moments (parquet), for one way of normalising the length.

    One row per (dimension, dataset, judge, model) with the sums of rating_unit^a * gt_unit^b * x^c for a + b + c <= 4, columns
    m_abc: exact for least squares and its robust errors where x, the normalised length, is a covariate. No rows where the
    ratings have no lengths.
    """
    sums = ", ".join(
        f"sum(rating_unit ** {a} * gt_unit ** {b} * x ** {c}) as {moment_column((a, b, c))}" for a, b, c in exponents(3)
    )
    rows = with_normalised_length(f"from read_parquet({text(ratings)})", length)
    connect().execute(f"""copy (
        select {", ".join(FACTORS)}, {sums} from ({rows}) group by all order by dimension, dataset, judge, model)
        to {text(moments)} (format parquet, compression zstd)""")


def read_cells(path: str, reference_family: str = "") -> Cells:
    """Read `cells.parquet`; or, of `references.parquet`, the cells whose reference is a family's judges."""
    connection = connect()
    table = f"(from read_parquet({text(path)}) where reference_family = {text(reference_family)})"
    groups = connection.execute(f'select distinct "group", {", ".join(FACTORS)} from {table} order by "group"').fetchnumpy()
    columns = connection.execute(f"select * exclude (reference_family, {', '.join(FACTORS)}) from {table}").fetchnumpy()
    ratings = sorted(int(column.removeprefix("count_")) for column in columns if column.startswith("count_"))
    return Cells(
        factors={factor: groups[factor].astype(str) for factor in FACTORS},
        group=np.asarray(columns["group"]) - 1,
        reference=np.asarray(columns["gt_unit"]),
        reference_raw=np.asarray(columns["gt"]),
        counts=np.stack([columns[f"count_{rating}"] for rating in ratings], axis=1),
        ratings=np.array(ratings),
        scale=np.stack([columns["scale_low"], columns["scale_high"]], axis=1),
    )
