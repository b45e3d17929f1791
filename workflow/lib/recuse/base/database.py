"""One way to open DuckDB, so that every step that is SQL gives the same bytes whatever the machine.

What numpy multiplies, as in the fits by prompt, is the same to rounding only where its threads are as many: in a rule, one.
"""

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from recuse.base.errors import ConfigError, DiskError

if TYPE_CHECKING:  # its import takes as long as reading a small file
    import numpy as np

# One thread: sums of floating-point numbers then have one order, hence one result. The order of rows is kept.
# Without the optimizer that takes parts of a query that look alike for one: DuckDB 2.0.0 takes some that are not, such as two
# left joins of one table on different columns in the arms of a union, and gives wrong rows without an error (duckdb#25819).
SETTINGS = {
    "threads": 1,
    "preserve_insertion_order": True,
    "autoinstall_known_extensions": False,
    "disabled_optimizers": "common_subplan",
    "TimeZone": "UTC",  # a time that is kept is the same text on every machine
}
SHARE = 0.6  # of the memory of a job that is DuckDB's; the rest is Python's and the arrays of the fits
_databases: list[duckdb.DuckDBPyConnection] = []  # this process's, the one in use last


def connect() -> duckdb.DuckDBPyConnection:
    """Open a connection of its own to this process's in-memory DuckDB; its temporary tables are seen by no other."""
    if not _databases:
        _databases.append(duckdb.connect(":memory:", config=SETTINGS))
    return _databases[-1].cursor()


@contextmanager
def bounded_memory(limit: str, folder: str | Path, *, of_job: int | None = None) -> Iterator[None]:
    """Within, DuckDB takes no more memory than `limit`, such as 4GB, and writes what is beyond it to `folder`, gone afterwards.

    of_job: megabytes of the whole job, where it asks for so many: a cluster kills one that takes more, so that DuckDB takes
    no more than its SHARE of them. Raises ConfigError where the work cannot be done in so little.
    """
    setting, bound = f"config: memory_limit: {limit}", limit
    if of_job is not None and SHARE * of_job * 1e6 < bytes_of(limit):
        bound = f"{SHARE * of_job:.0f}MB"
        setting = f"resources: mem_mb: {of_job}, of which the ratings may take {bound}"
    with empty_folder(folder):
        bounds = {"memory_limit": bound, "temp_directory": str(folder)}
        _databases.append(duckdb.connect(":memory:", config=SETTINGS | bounds))
        try:
            yield
        except duckdb.OutOfMemoryException as error:
            problem = str(error).splitlines()[0]  # advice of DuckDB that settings here do not follow comes after it
            if "offload" in problem:
                raise DiskError(
                    f"{folder}: no room on the disk for what {bound} of memory do not hold ({problem}); make room there, or "
                    "write a larger `memory_limit:` in config"
                ) from error
            raise ConfigError(f"{setting}: too little for this study ({problem}); write more") from error
        finally:
            _databases.pop().close()


def bytes_of(limit: str) -> float:
    """Bytes of a limit in the form of DuckDB, such as 4GB or 512 MiB."""
    number, prefix, binary = re.fullmatch(r"([\d.]+) ?([KMGT])(i?)B", limit).groups()
    return float(number) * (1024 if binary else 1000) ** (1 + "KMGT".index(prefix))


@contextmanager
def empty_folder(path: str | Path) -> Iterator[str]:
    """Create a folder for a step's own files, without what a process that was killed left in it; gone afterwards."""
    shutil.rmtree(path, ignore_errors=True)
    Path(path).mkdir(parents=True)
    try:
        yield str(path)
    finally:
        shutil.rmtree(path)


def create_table(connection: duckdb.DuckDBPyConnection, table: str, columns: str, rows: Iterable[tuple]) -> None:
    """Create a small temporary table; `columns` is its SQL declaration, e.g. "id varchar, low integer"."""
    connection.execute(f"create temp table {table} ({columns})")
    rows = list(rows)
    if rows:
        values = [value for row in rows for value in row]
        marks = f"({', '.join('?' * len(rows[0]))})"
        connection.execute(f"insert into {table} values {', '.join([marks] * len(rows))}", values)  # in one go: faster


def text(value: str) -> str:
    """Quote `value` as an SQL string."""
    return "'" + value.replace("'", "''") + "'"


def literal_path(path: str) -> str:
    """Quote the path of a file to be read as an SQL string; unquoted, *, ? and [ in it would make a pattern of other names."""
    return text(re.sub(r"[*?[]", r"[\g<0>]", path))


def files(paths: Sequence[str]) -> str:
    """SQL for the rows of parquet files of the same columns, one file after the other, as they are: a folder's name, such as
    rating=3, gives them no column.
    """
    return f"read_parquet([{', '.join(map(literal_path, paths))}], hive_partitioning=false)"


def name(value: str) -> str:
    """Quote `value` as an SQL identifier."""
    return '"' + value.replace('"', '""') + '"'


def footer(key: str, value: object) -> str:
    """SQL for the option of `copy` that keeps a value, as JSON, under a key in the footer of a parquet file."""
    return f"kv_metadata {{{key}: {text(json.dumps(value, ensure_ascii=False))}}}"


def read_footer(path: str, key: str):
    """The value that `footer` kept in a parquet file; None where there is none under this key."""
    query = f"select decode(value) from parquet_kv_metadata({literal_path(path)}) where decode(key) = {text(key)}"
    row = connect().execute(query).fetchone()
    return row and json.loads(row[0])


def write_parquet(columns: "dict[str, np.ndarray]", path: str) -> None:
    """Write arrays of equal length as the columns of a parquet file."""
    connect().execute(f"copy (select * from columns) to {text(path)} (format parquet, compression zstd)")
