"""One way to open DuckDB, so that every step gives the same bytes whatever the machine."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np

from judgebias.errors import ConfigError

# One thread: sums of floating-point numbers then have one order, hence one result. The order of rows is kept.
SETTINGS = {"threads": 1, "preserve_insertion_order": True, "autoinstall_known_extensions": False}
_databases: list[duckdb.DuckDBPyConnection] = []  # this process's, the one in use last


def connect() -> duckdb.DuckDBPyConnection:
    """Open a connection of its own to this process's in-memory DuckDB; its temporary tables are seen by no other."""
    if not _databases:
        _databases.append(duckdb.connect(":memory:", config=SETTINGS))
    return _databases[-1].cursor()


@contextmanager
def bounded_memory(limit: str, folder: str | Path) -> Iterator[None]:
    """Within, DuckDB takes no more memory than `limit`, such as 4GB, and writes what is beyond it to `folder`, gone afterwards.

    Raises ConfigError where the work cannot be done in so little.
    """
    with empty_folder(folder):
        bounds = {"memory_limit": limit, "temp_directory": str(folder)}
        _databases.append(duckdb.connect(":memory:", config=SETTINGS | bounds))
        try:
            yield
        except duckdb.OutOfMemoryException as error:
            raise ConfigError(f"config: memory_limit: {limit}: too little for this study ({error}); write more") from error
        finally:
            _databases.pop().close()


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
    rows = [list(row) for row in rows]
    if rows:
        connection.executemany(f"insert into {table} values ({', '.join('?' * len(rows[0]))})", rows)


def text(value: str) -> str:
    """Quote `value` as an SQL string."""
    return "'" + value.replace("'", "''") + "'"


def name(value: str) -> str:
    """Quote `value` as an SQL identifier."""
    return '"' + value.replace('"', '""') + '"'


def write_parquet(columns: dict[str, np.ndarray], path: str) -> None:
    """Write arrays of equal length as the columns of a parquet file."""
    connect().execute(f"copy (select * from columns) to {text(path)} (format parquet, compression zstd)")
