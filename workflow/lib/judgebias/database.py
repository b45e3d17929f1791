"""One way to open DuckDB, so that every step gives the same bytes whatever the machine."""

from collections.abc import Iterable
from functools import cache

import duckdb
import numpy as np


def connect() -> duckdb.DuckDBPyConnection:
    """Open a connection of its own to this process's in-memory DuckDB; its temporary tables are seen by no other.

    One thread: sums of floating-point numbers then have one order, hence one result. The order of rows is kept.
    """
    return _database().cursor()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    settings = {"threads": 1, "preserve_insertion_order": True, "autoinstall_known_extensions": False}
    return duckdb.connect(":memory:", config=settings)


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
