"""One way to open DuckDB, so that every step in SQL gives the same bytes on any machine.

Products of numpy, as in the fits by prompt, are the same bytes only with the same number of threads: in a rule, one.
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

SETTINGS = {
    "threads": 1,  # sums of floating-point numbers then have one order, hence one result
    "preserve_insertion_order": True,
    "autoinstall_known_extensions": False,
    # It merges parts of a query that look alike but are not, such as two left joins of one table on different columns in the
    # arms of a union, and gives wrong rows without an error, in DuckDB 2.0.0 (duckdb#25819).
    "disabled_optimizers": "common_subplan",
    "TimeZone": "UTC",  # times are the same text on every machine
}
SHARE = 0.6  # of the memory of a job that is DuckDB's; the rest is Python's and the arrays of the fits
_databases: list[duckdb.DuckDBPyConnection] = []  # this process's, the one in use last


def connect() -> duckdb.DuckDBPyConnection:
    """Open a connection to this process's in-memory DuckDB; no other sees its temporary tables."""
    if not _databases:
        _databases.append(duckdb.connect(":memory:", config=SETTINGS))
    return _databases[-1].cursor()


@contextmanager
def bounded_memory(limit: str, folder: str | Path, *, of_job: int | None = None) -> Iterator[None]:
    """Hold DuckDB to `limit` of memory, such as 4GB, and let it write the rest to `folder`, which is removed afterwards.

    of_job: megabytes that the job asks for, if any; a cluster kills a job that takes more, so that DuckDB gets no more than its
    SHARE of them. Raises ConfigError where the work cannot be done in so little.
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
    """Create an empty folder for a step's own files, even if a killed process left some in it; remove it afterwards."""
    shutil.rmtree(path, ignore_errors=True)
    Path(path).mkdir(parents=True)
    try:
        yield str(path)
    finally:
        shutil.rmtree(path)


def create_table(connection: duckdb.DuckDBPyConnection, table: str, columns: str, rows: Iterable[tuple]) -> None:
    """Create a small temporary table; `columns` is its SQL declaration, e.g. "id varchar, low integer"."""
    connection.execute(f"create temp table {table} ({columns})")
    if rows := list(rows):
        values = [value for row in rows for value in row]
        marks = f"({', '.join('?' * len(rows[0]))})"
        connection.execute(f"insert into {table} values {', '.join([marks] * len(rows))}", values)  # in one go: faster


def text(value: str) -> str:
    """Quote `value` as an SQL string."""
    return "'" + value.replace("'", "''") + "'"


def literal_path(path: str) -> str:
    """Quote the path of a file to be read as an SQL string, in which *, ? and [ are no pattern."""
    return text(re.sub(r"[*?[]", r"[\g<0>]", path))


def files(paths: Sequence[str]) -> str:
    """SQL for the rows of parquet files with the same columns; a folder's name, such as rating=3, adds no column."""
    return f"read_parquet([{', '.join(map(literal_path, paths))}], hive_partitioning=false)"


def name(value: str) -> str:
    """Quote `value` as an SQL identifier."""
    return '"' + value.replace('"', '""') + '"'


def footer(key: str, value: object) -> str:
    """SQL for the option of `copy` that keeps a value, as JSON, in the footer of a parquet file."""
    return f"kv_metadata {{{key}: {text(json.dumps(value, ensure_ascii=False))}}}"


def read_footer(path: str, key: str):
    """The value that `footer` kept in a parquet file under a key, or None."""
    query = f"select decode(value) from parquet_kv_metadata({literal_path(path)}) where decode(key) = {text(key)}"
    row = connect().execute(query).fetchone()
    return row and json.loads(row[0])


def write_parquet(columns: "dict[str, np.ndarray]", path: str) -> None:
    """Write arrays of equal length as the columns of a parquet file."""
    connect().execute(f"copy (select * from columns) to {text(path)} (format parquet, compression zstd)")
