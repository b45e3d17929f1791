"""From checked rows in any order to the canonical ratings, sorted by prompt, by way of files: no step holds all rows."""

import math
from collections.abc import Sequence

import duckdb
import numpy as np

from judgebias.database import text
from judgebias.ratings.codes import Levels, as_metadata
from judgebias.ratings.row_counts import COUNTED, CheckedRows, RowCounts

AXES = ("dimension", "judge", "model", "dataset")  # of the codes of groups
AXIS = {"judge_family": "judge", "model_family": "model", "task_type": "dataset"}  # whose levels have these


def sort_rows(
    connection: duckdb.DuckDBPyConnection, checked: CheckedRows, counts: RowCounts, levels: Levels, path: str
) -> None:
    """Write the checked rows to `path` (parquet), sorted by prompt_id and group, with the codes of all but the prompts.

    Two rows with the same prompt_id and group are a fault, so that the order does not depend on how the sorting goes.
    """
    places = [np.unique(counts.names[factor], return_inverse=True)[1] for factor in AXES[:3]]
    sizes = [len(getattr(levels, factor)) for factor in AXES[:3]]
    groups = {"key": counts.key, "base": np.ravel_multi_index(places, sizes) * len(levels.dataset)}
    datasets = {"dataset": np.array(levels.dataset, dtype=object), "place": np.arange(len(levels.dataset))}
    references = {"gt": np.array(levels.reference), "place": np.arange(len(levels.reference))}
    for table, columns in (("groups", groups), ("datasets_found", datasets), ("references_found", references)):
        connection.register(table, columns)
    connection.execute(f"""
        copy (select prompt_id, (base + datasets_found.place)::{_unsigned(levels.groups)} as "group", rating, gt,
                     references_found.place::{_unsigned(len(levels.reference))} as reference_code, length
              from {checked.sql} join groups using (key) join datasets_found using (dataset)
              left join references_found using (gt)
              order by prompt_id, "group") to {text(path)} (format parquet, compression uncompressed)""")


def prompts_by_dimension(connection: duckdb.DuckDBPyConnection, path: str, levels: Levels) -> dict[str, int]:
    """Count the prompts of each dimension in sorted rows."""
    every = levels.groups // len(levels.dimension)
    begins = f'prompt_id is distinct from last_prompt or "group" // {every} <> last_group // {every}'
    counted = f'select "group" // {every}, count(*) from ({_with_last(path)}) where {begins} group by all'
    return {levels.dimension[place]: count for place, count in connection.execute(counted).fetchall()}


def first_twice(connection: duckdb.DuckDBPyConnection, path: str, levels: Levels) -> tuple[str, str, str, str] | None:
    """The first judge, model, dimension and prompt_id that two of the sorted rows share."""
    same = f'prompt_id = last_prompt and "group" // {len(levels.dataset)} = last_group // {len(levels.dataset)}'
    names = ", ".join(_name(levels, factor) for factor in ("judge", "model", "dimension"))
    query = f"select {names}, prompt_id from ({_with_last(path)}) where {same} order by all limit 1"
    return connection.execute(query).fetchone()


def write_sorted(connection: duckdb.DuckDBPyConnection, path: str, levels: Levels, *, complete: str, ratings: str) -> None:
    """Write the `complete` ones (a name in COUNTED) of sorted rows as canonical ratings: names, units, number of the prompt."""
    factors = ("judge", "model", "judge_family", "model_family", "dimension", "dataset", "task_type")
    low, high = (_element([scale[end] for scale in levels.scale], _place(levels, "dimension")) for end in (0, 1))
    columns = {
        **{factor: _name(levels, factor) for factor in factors}, "prompt_id": "prompt_id", "rating": "rating", "gt": "gt",
        "rating_unit": f"(rating - {low}) / ({high} - {low})", "gt_unit": f"(gt - {low}) / ({high} - {low})",
        "length": "length", "scale_low": low, "scale_high": high,
        '"group"': '"group"', "reference_code": "reference_code",
        "prompt": "(count(*) filter (begins) over (rows between unbounded preceding and current row) - 1)::uinteger",
    }  # fmt: skip
    selected = ", ".join(f"{value} as {column}" for column, value in columns.items())
    rows = f"select *, prompt_id is distinct from last_prompt as begins from ({_with_last(path, COUNTED[complete])})"
    connection.execute(
        f"copy (select {selected} from ({rows})) to {text(ratings)} (format parquet, compression zstd, {as_metadata(levels)})"
    )


def _with_last(path: str, condition: str = "true") -> str:
    """SQL for the sorted rows where `condition` holds, each with the prompt and the group of the row before."""
    return f"""select *, lag(prompt_id) over () as last_prompt, lag("group") over () as last_group
               from read_parquet({text(path)}) where {condition}"""


def _name(levels: Levels, factor: str) -> str:
    """SQL for the name of a factor, from the code of the group; of a type that is written as fast as numbers are."""
    names = [text(name) for name in getattr(levels, factor)]
    return _element(names, _place(levels, AXIS.get(factor, factor)), f"enum({', '.join(dict.fromkeys(names))})")


def _place(levels: Levels, axis: str) -> str:
    sizes = {name: len(getattr(levels, name)) for name in AXES}
    later = AXES[AXES.index(axis) + 1 :]
    return f'"group" // {math.prod(sizes[name] for name in later)} % {sizes[axis]}'


def _element(values: Sequence, place: str, kind: str = "integer") -> str:
    """SQL for one of `values`, by its place from 0."""
    return f"([{', '.join(map(str, values))}]::{kind}[])[1 + {place}]"


def _unsigned(levels: int) -> str:
    """The smallest type for codes of so many levels, that of the file for ever so few: readers may count on it."""
    return "usmallint" if levels <= 2**16 else "uinteger"
