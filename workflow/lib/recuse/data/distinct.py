"""Cells straight from raw files in which nothing is wrong: no table of all rows is written, or sorted.

Raw files of ratings in one pass, without sorting: their distinct rows as texts, each with the prompts that it stands for.
"""

import os
from collections.abc import Mapping, Sequence

import duckdb
import numpy as np

from recuse.base.database import literal_path
from recuse.data.cells import Cells, cells_of_counts
from recuse.data.files import (
    LENGTHS,
    OPTIONAL,
    REQUIRED,
    RatingsFile,
    checked_columns,
    missing_as_null,
    read_as_texts,
    reading,
    texts_of,
)
from recuse.data.levels import named_levels
from recuse.data.ratings import StudyFiles, coded, typed_rows
from recuse.data.shards import COUNTED, CheckedRows, complete_rows

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd: no two keys have one multiple of it, and those of near keys are far apart


def cells_of_distinct_rows(connection: duckdb.DuckDBPyConnection, source: StudyFiles, distinct: Sequence[str]) -> Cells | None:
    """Cells of the raw files of a study from their distinct rows (SQL, as by recuse.data.distinct, for each file).

    The same that `normalise` and `build_cells` make of the files. None where these would raise an error: a file has no row, a
    row breaks a check, no row is complete. That no judge, model, dimension and prompt stands twice is for `repeated` to say.
    """
    typed, scales = typed_rows(connection, source, distinct)
    known = CheckedRows((), dict(sorted(scales.items())), sorted(source.registry.families))
    columns = f"{coded(known.names)}, prompts"
    every = " union all ".join(f"select {columns}, {number} as file from ({rows})" for number, rows in enumerate(typed))
    connection.execute(f"create temp table typed_rows as {every}")
    found = "select count(fault), count(gt), count(length), count(distinct file) from typed_rows"
    faults, scores, lengths, not_empty = connection.execute(found).fetchone()
    if faults or not_empty < len(distinct):
        return None
    complete = COUNTED[complete_rows(human=scores > 0, length=lengths > 0)]
    counted = connection.execute(f"""
        select key, place, gt as reference, rating, sum(len(prompts))::bigint as n
        from typed_rows join (select dataset, row_number() over (order by dataset) - 1 as place
                              from (select distinct dataset from typed_rows)) using (dataset)
        where {complete} group by all""").fetchnumpy()
    return _coded_cells(connection, source, known, counted) if len(counted["n"]) else None


def _coded_cells(connection: duckdb.DuckDBPyConnection, source: StudyFiles, known: CheckedRows, counted: dict) -> Cells:
    datasets = connection.execute("select distinct dataset from typed_rows order by all").fetchall()
    keys = connection.execute("select distinct key from typed_rows").fetchnumpy()["key"]
    found = [np.unique(places) for places in np.unravel_index(keys, known.shape)]  # with those of incomplete rows
    named = zip(([*known.scales], known.names, known.names), found, strict=True)
    levels = named_levels(
        *(np.array(names, dtype=str)[places].tolist() for names, places in named),
        datasets=[name for (name,) in datasets],
        references=(),
        scales=known.scales,
        families=source.registry.families,
        task_types=source.task_types,
    )
    places = np.unravel_index(counted.pop("key"), known.shape)
    axes = [np.searchsorted(levels, place) for levels, place in zip(found, places, strict=True)]
    return cells_of_counts(levels, counted | {"group_code": levels.code(*axes, counted["place"])})


def repeated(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a judge, model, dimension and prompt stands twice; it may also be that two hashes happen to be equal.

    Reads what `cells_of_distinct_rows` left on this connection.
    """
    found = connection.execute("select key, unnest(prompts) as prompt from typed_rows").fetchnumpy()
    rows = found["prompt"] ^ (found["key"].astype(np.uint64) * SPREAD)  # equal where both are
    rows.sort()
    return bool((rows[1:] == rows[:-1]).any())


# Bytes of memory that a row takes in the end: the hash of its prompt in two tables, and this and its key as numbers, sorted.
# Measured from 1e6 to 3e7 rows: 38 to 49.
ROW = 50
LINE = 20  # bytes of a CSV file that a row takes at least, of short names
PACKED = 8  # as CSV, gzip is about so many times its size


def collapse(connection: duckdb.DuckDBPyConnection, files: Sequence[RatingsFile], *, most: float) -> list[str] | None:
    """Create a temporary table of the distinct rows of each file; returns SQL for them, with the columns of `select_rows`.

    None where there may be so many rows that this way takes more than `most` bytes of memory.

    Of the columns of many values, prompt_id is 0 or NULL, and pred_length is 0 where it is a length: what a check says of the
    row, it says of all that the row stands for. `prompts` lists the hashes of their prompt_ids, one for each. `record` is a
    number of its own. Raises DataError, as every reader of these files; the database is of no use then.
    """
    found = [read_as_texts(file.path, checked_columns(connection, file)) for file in files]
    if ROW * sum(_rows_at_most(connection, file.path) for file in files) > most:
        return None
    connection.execute(f"set threads = {len(os.sched_getaffinity(0))}")  # what is counted is the same in any order
    for number, (file, (relation, own)) in enumerate(zip(files, found, strict=True)):
        with reading(file.path):
            connection.execute(f"create temp table distinct_rows_{number} as {_distinct(relation, own)}")
    connection.execute("set threads = 1")
    return [
        texts_of(file, f"distinct_rows_{number}", {column: column for column in own}, also=["prompts"])
        for number, (file, (_, own)) in enumerate(zip(files, found, strict=True))
    ]


def _rows_at_most(connection: duckdb.DuckDBPyConnection, path: str) -> float:
    if path.endswith(".parquet"):
        return connection.execute(f"select num_rows from parquet_file_metadata({literal_path(path)})").fetchone()[0]
    return os.path.getsize(path) * (PACKED if path.endswith(".gz") else 1) / LINE


def _distinct(relation: str, own: Mapping[str, str]) -> str:
    values = {column: own[column] for column in (*REQUIRED, *OPTIONAL) if column in own} | {
        "prompt_id": f"case when {missing_as_null(own['prompt_id'], ('',))} is not null then '0' end"
    }
    if "pred_length" in own:
        length = f"{own['pred_length']}::varchar"
        values["pred_length"] = f"case when try_cast({length} as double) {LENGTHS} then '0' else {length} end"
    columns = ", ".join(f"{value} as {column}" for column, value in values.items())
    return f"select {columns}, list(hash(rows.{own['prompt_id']}::varchar)) as prompts from {relation} as rows group by all"
