"""From checked rows in any order to the canonical ratings, sorted by prompt, by way of files: no step holds all rows."""

from collections.abc import Sequence

import duckdb
import numpy as np

from judgebias.database import files, text
from judgebias.ratings.codes import AXES, Levels, as_metadata
from judgebias.ratings.plan import Plan, Shard
from judgebias.ratings.row_counts import COUNTED, CheckedRows

AXIS = {"judge_family": "judge", "model_family": "model", "task_type": "dataset"}  # whose levels have these
LARGEST = {"usmallint": 2**16, "uinteger": 2**32, "bigint": 2**63}  # how many codes a column of each type holds


def sort_rows(connection: duckdb.DuckDBPyConnection, checked: CheckedRows, levels: Levels, shard: Shard, path: str) -> None:
    """Write the checked rows of a shard's prompts to `path` (parquet), sorted by prompt_id and group_code, without names.

    Two rows with the same prompt_id and group_code are a fault, so that the order does not depend on how the sorting goes.
    """
    datasets = {"dataset": np.array(levels.dataset, dtype=object), "place": np.arange(len(levels.dataset))}
    references = {"gt": np.array(levels.reference), "place": np.arange(len(levels.reference))}
    tables = {"groups": _groups(checked, levels), "datasets_found": datasets, "references_found": references}
    for table, columns in tables.items():
        connection.register(table, columns)
    inside = "false" if shard.first is None else f"prompt_id between {text(shard.first)} and {text(shard.last)}"
    connection.execute(f"""
        copy (select prompt_id, (base + datasets_found.place)::{_type_of(levels.groups)} as group_code, rating, gt,
                     references_found.place::{_type_of(len(levels.reference))} as reference_code, length
              from {checked.sql} join groups using (key) join datasets_found using (dataset)
              left join references_found using (gt)
              where {inside} order by prompt_id, group_code) to {text(path)} (format parquet, compression uncompressed)""")


def _groups(checked: CheckedRows, levels: Levels) -> dict[str, np.ndarray]:
    """Of each dimension, judge and model: `key` in checked rows, and `base`, its code with the first dataset."""
    known = (*checked.scales,), checked.names, checked.names
    named = [getattr(levels, axis) for axis in AXES[:3]]
    places = [place.ravel() for place in np.meshgrid(*map(np.arange, map(len, named)), indexing="ij")]
    found = (np.searchsorted(names, own)[place] for names, own, place in zip(known, named, places, strict=True))
    return {"key": np.ravel_multi_index(tuple(found), checked.shape), "base": levels.code(*places, np.zeros_like(places[0]))}


def first_twice(connection: duckdb.DuckDBPyConnection, path: str, levels: Levels) -> tuple[str, str, str, str] | None:
    """The first judge, model, dimension and prompt_id that two of the sorted rows share."""
    names = ", ".join(_name(levels, factor) for factor in ("judge", "model", "dimension"))
    alike = " = ".join(levels.sql_without("dataset", code) for code in ("group_code", "last_group"))
    same = f"prompt_id = last_prompt and {alike}"
    query = f"select {names}, prompt_id from ({_with_last(path)}) where {same} order by all limit 1"
    return connection.execute(query).fetchone()


def write_sorted(connection: duckdb.DuckDBPyConnection, path: str, plan: Plan, *, first: int, ratings: str) -> None:
    """Write the complete ones of sorted rows as canonical ratings: names, units, the number of the prompt from `first` on."""
    levels = plan.levels
    factors = ("judge", "model", "judge_family", "model_family", "dimension", "dataset", "task_type")
    low, high = (_element([scale[end] for scale in levels.scale], levels.sql_place("dimension")) for end in (0, 1))
    columns = {
        **{factor: _name(levels, factor) for factor in factors}, "prompt_id": "prompt_id", "rating": "rating", "gt": "gt",
        "rating_unit": f"(rating - {low}) / ({high} - {low})", "gt_unit": f"(gt - {low}) / ({high} - {low})",
        "length": "length", "scale_low": low, "scale_high": high,
        "group_code": "group_code", "reference_code": "reference_code",
        "prompt": f"({first} - 1 + count(*) filter (begins) over (rows between unbounded preceding and current row))::uinteger",
    }  # fmt: skip
    selected = ", ".join(f"{value} as {column}" for column, value in columns.items())
    rows = f"select *, prompt_id is distinct from last_prompt as begins from ({_with_last(path, COUNTED[plan.complete])})"
    connection.execute(
        f"copy (select {selected} from ({rows})) to {text(ratings)} (format parquet, compression zstd, {as_metadata(levels)})"
    )


def _with_last(path: str, condition: str = "true") -> str:
    """SQL for the sorted rows where `condition` holds, each with the prompt and the group of the row before."""
    return f"""select *, lag(prompt_id) over () as last_prompt, lag(group_code) over () as last_group
               from {files([path])} where {condition}"""


def _name(levels: Levels, factor: str) -> str:
    """SQL for the name of a factor, from the code of the group; of a type that is written as fast as numbers are."""
    names = [text(name) for name in getattr(levels, factor)]
    return _element(names, levels.sql_place(AXIS.get(factor, factor)), f"enum({', '.join(dict.fromkeys(names))})")


def _element(values: Sequence, place: str, kind: str = "integer") -> str:
    """SQL for one of `values`, by its place from 0."""
    return f"([{', '.join(map(str, values))}]::{kind}[])[1 + {place}]"


def _type_of(codes: int) -> str:
    """The type of a column of so many codes."""
    return next(kind for kind, most in LARGEST.items() if codes <= most)
