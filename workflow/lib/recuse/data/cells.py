"""Cells: identical rows collapsed, so that later steps read thousands of rows instead of millions.

In the ratings, codes are small numbers in place of names and references, which their footer lists.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

import numpy as np

from recuse.base.database import (
    connect,
    files,
    footer,
    read_footer,
    text,
    write_parquet,
    write_rows,
)
from recuse.base.errors import DataError

LEVELS = "levels"  # key of the metadata in the footer
AXES = ("dimension", "judge", "model", "dataset")  # of a group, in the order of its code
FACTORS = ("dimension", "dataset", "task_type", "judge", "model", "judge_family", "model_family")
# Factor -> its level in each group of rows, (groups,) of str
Factors = Mapping[str, np.ndarray]
COUNT = "count_"  # with a rating, the column of its counts
ARRAY_BITS = 24  # of the number of entries of an array of 8 bytes each


class Need(StrEnum):
    """What a spec may need to know of the ratings, and cells do not say."""

    ANSWERS = "answers"  # Which ratings are of the same answer, and its length.
    PROMPTS = "prompts"  # Which ratings are of the same prompt.


@dataclass(frozen=True)
class Levels:
    """The levels behind the codes of a study's ratings, in rising order.

    `group_code` is ((dimension * judges + judge) * models + model) * datasets + dataset, each the
    place of its level; `reference_code` is the place of gt in `reference`.
    """

    dimension: Sequence[str]
    judge: Sequence[str]
    model: Sequence[str]
    dataset: Sequence[str]
    reference: Sequence[float]  # gt, raw
    scale: Sequence[Sequence[int]]  # (lowest, highest) rating of each dimension
    judge_family: Sequence[str]  # of each judge
    model_family: Sequence[str]  # of each model
    task_type: Sequence[str]  # of each dataset
    # Of each dimension, in the user's units; none if all are 1
    step: Sequence[float] = field(default_factory=list)
    # Judges whose ratings count as they are (recuse.data.doubts)
    trusted: Sequence[str] = field(default_factory=list)
    lacks: Sequence[Need] = field(default_factory=list)  # what the ratings do not say

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each of AXES."""
        return tuple(len(getattr(self, axis)) for axis in AXES)

    @property
    def groups(self) -> int:
        """Number of codes of groups: every combination, whether it occurs or not."""
        return math.prod(self.sizes)

    def places(self, group: np.ndarray) -> tuple[np.ndarray, ...]:
        """Places of the levels of AXES of each code, (codes,) each."""
        return np.unravel_index(group, self.sizes)

    def code(
        self, dimension: np.ndarray, judge: np.ndarray, model: np.ndarray, dataset: np.ndarray
    ) -> np.ndarray:
        """Code of each combination of places, (codes,)."""
        return np.ravel_multi_index((dimension, judge, model, dataset), self.sizes)

    def group_codes(self, factors: Factors) -> np.ndarray:
        """Code of each group by the names of its factors, (groups,) of str each."""
        return self.code(
            *(
                np.searchsorted(np.array(getattr(self, axis), dtype=str), factors[axis])
                for axis in AXES
            )
        )

    def sql_place(self, axis: str, code: str = "group_code") -> str:
        """SQL for the place of the level of one of AXES, from a column of codes."""
        return sql_place(self.sizes, axis, code)

    def sql_without(self, axis: str, code: str = "group_code") -> str:
        """SQL for the code of the same group with the first level of one of AXES: equal if groups
        differ in no other.
        """
        return f"{code} - {self.sql_place(axis, code)} * {_stride(self.sizes, axis)}"

    def factors(self, group: np.ndarray) -> dict[str, np.ndarray]:
        """Names of each code by factor, (codes,) of str each."""
        dimension, judge, model, dataset = self.places(group)
        places = {"dimension": dimension, "dataset": dataset, "task_type": dataset}
        places |= {"judge": judge, "model": model, "judge_family": judge, "model_family": model}
        return {
            factor: np.array(getattr(self, factor), dtype=str)[place]
            for factor, place in places.items()
        }

    def references(self, code: np.ndarray) -> np.ndarray:
        """Raw references of codes, (codes,); NaN for those that are masked."""
        place = np.ma.filled(np.ma.asarray(code).astype(np.int64), len(self.reference))
        return np.append(self.reference, np.nan)[place]

    def scales(self, group: np.ndarray) -> np.ndarray:
        """Lowest and highest rating of each code's dimension, (codes, 2)."""
        return np.array(self.scale, dtype=np.int64).reshape(-1, 2)[self.places(group)[0]]


def sql_place(sizes: Sequence[int], axis: str, code: str = "group_code") -> str:
    """SQL for the place of the level of one of AXES of these sizes, from a column of codes."""
    return f"{code} // {_stride(sizes, axis)} % {sizes[AXES.index(axis)]}"


def _stride(sizes: Sequence[int], axis: str) -> int:
    return math.prod(sizes[AXES.index(axis) + 1 :])


def as_metadata(levels: Levels) -> str:
    """SQL for the option of `copy` that puts the levels into the footer of a parquet file."""
    # Not an empty `lacks`: files of ratings stay as they were before there were counts.
    written = {name: value for name, value in asdict(levels).items() if value or name != "lacks"}
    return footer(LEVELS, written)


def read_levels(path: str) -> Levels:
    """Read the levels of the canonical ratings at `path`; DataError if its footer has none."""
    levels = read_footer(path, LEVELS)
    if levels is None:
        raise DataError(
            f"{path}: found no list of its codes in the footer; make the file again from the raw"
            " ratings"
        )
    return Levels(**levels)


@dataclass(frozen=True)
class Cells:
    """The cells of a study, sorted by (a further factor,) dimension, dataset, judge, model,
    reference.
    """

    # Each (groups,) of str: FACTORS of every (dimension, dataset, judge, model)
    factors: dict[str, np.ndarray]
    group: np.ndarray  # (cells,) place in `factors`, rising
    # (cells,) the human score (NaN without), or the mean rating of a family's judges, on the unit
    # scale
    reference: np.ndarray
    reference_raw: np.ndarray  # (cells,) the same on the scale of the data
    counts: np.ndarray  # (cells, ratings) rows with each raw rating
    ratings: np.ndarray  # (ratings,) the raw ratings
    scale: np.ndarray  # (cells, 2) lowest and highest rating of the cell's dimension

    @property
    def n(self) -> np.ndarray:
        """Rows in each cell, (cells,)."""
        return self.counts.sum(axis=1)

    @property
    def has_reference(self) -> bool:
        """Whether all rows have a reference."""
        return not np.isnan(self.reference).any()

    @property
    def scored(self) -> "Cells":
        """The cells of the rows that have a reference."""
        kept = ~np.isnan(self.reference)
        groups, group = np.unique(self.group[kept], return_inverse=True)
        columns = ("reference", "reference_raw", "counts", "scale")
        return replace(
            self,
            factors={factor: values[groups] for factor, values in self.factors.items()},
            group=group,
            **{name: getattr(self, name)[kept] for name in columns},
        )

    @property
    def unscored(self) -> "Cells":
        """The cells of all rows, as if none had a reference: one for each group."""
        _, first = np.unique(self.group, return_index=True)
        without = np.full(len(first), np.nan)
        return replace(
            self,
            group=np.arange(len(first)),
            reference=without,
            reference_raw=without,
            counts=np.add.reduceat(self.counts, first),
            scale=self.scale[first],
        )

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
        cells = {
            key: getattr(self, key)[kept]
            for key in ("reference", "reference_raw", "counts", "scale")
        }
        factors = {factor: values[mask] for factor, values in self.factors.items()}
        return replace(self, factors=factors, group=place[self.group[kept]], **cells)

    def sum_by_group(self, values: np.ndarray) -> np.ndarray:
        """Sum `values`, one for each cell, over the cells of each group, (groups,)."""
        return np.bincount(self.group, weights=values)


def count_shard(ratings: str, counts: str) -> None:
    """Write how often each rating was given in each group with each reference, by codes (parquet),
    in a shard's ratings.

    Counts are additive over shards, whichever shards the rows of a cell are in.
    """
    connection = connect()
    # Codes are few: an array of all their combinations, if it may be as large as that, is faster
    # than a hash table.
    connection.execute(f"set perfect_ht_threshold = {ARRAY_BITS}")
    query = (
        f"select group_code, reference_code, rating, count(*) as n from {files([ratings])}"
        " group by all order by all"
    )
    write_rows(connection, query, counts, as_metadata(read_levels(ratings)), compression="snappy")


def gather_cells(counts: Sequence[str], cells: str) -> None:
    """Add up the counts of all shards (parquet) to the cells (parquet) of all ratings together."""
    rows = connect().execute(f"select * from {files(counts)}").fetchnumpy()
    write_cells(cells_of_counts(read_levels(counts[0]), rows), cells)


def write_cells(cells: Cells, path: str) -> None:
    """Write cells (parquet): a row for each distinct (dimension, dataset, judge, model, gt) with n
    and count_<rating>, the number of rows of each raw rating.

    Nothing is lost for any statistic of rating and reference. `group` numbers (dimension, dataset,
    judge, model). Raises DataError if there is no row.
    """
    if not len(cells.n):
        raise DataError(
            f"{path}: no complete row is left for it; see completeness.csv for what is missing"
        )
    scale = cells.scale.astype(np.int32)
    columns = {
        "group": cells.group + 1,
        **{factor: cells.factor(factor).astype(object) for factor in FACTORS},
        "gt": cells.reference_raw,
        "gt_unit": cells.reference,
        "scale_low": scale[:, 0],
        "scale_high": scale[:, 1],
        "n": cells.n,
    }
    for rating, counts in zip(cells.ratings, cells.counts.T, strict=True):
        columns[f"{COUNT}{rating}"] = counts
    write_parquet({name: np.ascontiguousarray(values) for name, values in columns.items()}, path)


def read_cells(path: str) -> Cells:
    """Read `cells.parquet`."""
    table, connection = files([path]), connect()
    groups = connection.execute(
        f'select distinct "group", {", ".join(FACTORS)} from {table} order by "group"'
    ).fetchnumpy()
    columns = connection.execute(
        f"select * exclude ({', '.join(FACTORS)}) from {table}"
    ).fetchnumpy()
    ratings = sorted(
        int(column.removeprefix(COUNT)) for column in columns if column.startswith(COUNT)
    )
    return Cells(
        factors={factor: groups[factor].astype(str) for factor in FACTORS},
        group=np.asarray(columns["group"]) - 1,
        reference=np.ma.filled(columns["gt_unit"], np.nan),
        reference_raw=np.ma.filled(columns["gt"], np.nan),
        counts=np.stack([columns[f"{COUNT}{rating}"] for rating in ratings], axis=1),
        ratings=np.array(ratings),
        scale=np.stack([columns["scale_low"], columns["scale_high"]], axis=1),
    )


def cells_of_rows(blocks: Iterable[str], levels: Levels, *, by: str = "null") -> Cells:
    """Collapse rows into cells, apart by the column `by` of families of judges, if there is one;
    there may be no rows.

    blocks: SQL for some of the rows each, with the columns of the canonical ratings but for
    reference_code.
    """
    connection, parts = connect(), []
    families = sorted(set(levels.judge_family))
    place = f"list_position([{', '.join(map(text, families))}], level::varchar) - 1"
    for rows in blocks:
        query = (
            f"select {by} as level, group_code, gt as reference, rating, count(*) as n from"
            f" ({rows}) group by all"
        )
        parts.append(
            connection.execute(
                f"select * replace (({place})::usmallint as level) from ({query})"
            ).fetchnumpy()
        )
    if by == "null":
        rows = {key: np.ma.concatenate([part[key] for part in parts]) for key in parts[0]}
        return cells_of_counts(levels, rows)
    # Family by family, as there may be many cells of each
    of_families = []
    for place, family in enumerate(families):
        kept = [np.flatnonzero(part["level"] == place) for part in parts]
        rows = {
            key: np.ma.concatenate([part[key][few] for part, few in zip(parts, kept, strict=True)])
            for key in parts[0]
        }
        cells = cells_of_counts(levels, rows)
        names = np.full(len(cells.factors["judge"]), family)
        of_families.append(replace(cells, factors={by: names} | cells.factors))
    return joined(of_families)


def joined(parts: Sequence[Cells]) -> Cells:
    """The cells of several parts, with their groups, one part after the other."""
    groups = np.cumsum([0, *(len(part.factors["judge"]) for part in parts[:-1])])
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("reference", "reference_raw", "counts", "scale")
    }
    group = [part.group + first for part, first in zip(parts, groups, strict=True)]
    factors = {
        name: np.concatenate([part.factors[name] for part in parts]) for name in parts[0].factors
    }
    return replace(parts[0], factors=factors, group=np.concatenate(group), **columns)


def cells_of_counts(levels: Levels, rows: Mapping[str, np.ndarray]) -> Cells:
    """Cells of counts n by group_code, reference or its code, and rating.

    rows: each (counts,), in any order; a combination may occur more than once.
    """
    raw = (
        levels.references(rows["reference_code"]) if "reference_code" in rows else rows["reference"]
    )
    references, reference = np.unique(np.ma.filled(raw, np.nan), return_inverse=True)
    dimension, judge, model, dataset = levels.places(rows["group_code"].astype(np.int64))
    sizes = (len(levels.dimension), len(levels.dataset), len(levels.judge), len(levels.model))
    order = np.ravel_multi_index((dimension, dataset, judge, model), sizes)
    cell, place = np.unique(order * len(references) + reference, return_inverse=True)
    low, high = np.min(levels.scale), np.max(levels.scale)
    counts = np.zeros((len(cell), high - low + 1), dtype=np.int64)
    np.add.at(counts, (place, rows["rating"] - low), rows["n"])
    order, reference = np.divmod(cell, max(1, len(references)))
    groups, group = np.unique(order, return_inverse=True)
    dimension, dataset, judge, model = np.unravel_index(groups, sizes)
    code = levels.code(dimension, judge, model, dataset)
    scale, raw = levels.scales(code)[group], references[reference]
    return Cells(
        factors=levels.factors(code),
        group=group,
        reference=(raw - scale[:, 0]) / (scale[:, 1] - scale[:, 0]),
        reference_raw=raw,
        counts=counts,
        ratings=np.arange(low, high + 1),
        scale=scale,
    )


def occasion_in(raters: str) -> tuple[str, ...]:
    """The column of canonical raters (parquet) that tells answers of a model to a prompt apart, if
    there is one.
    """
    columns = connect().execute(f"select * from {files([raters])} limit 0").description
    return ("occasion",) if "occasion" in {name for name, *_ in columns} else ()
