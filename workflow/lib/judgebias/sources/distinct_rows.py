"""Raw files of ratings in one pass, without sorting: their distinct rows as texts, each with the prompts that it stands for."""

import os
from collections.abc import Mapping, Sequence

import duckdb

from judgebias.database import literal_path
from judgebias.sources.checks import (
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
