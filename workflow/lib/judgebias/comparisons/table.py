"""A user's own files of verdicts: CSV (plain or gzip) or parquet, in the columns of the canonical table."""

import difflib
from collections.abc import Sequence

import duckdb

from judgebias.comparisons.schemas import COMPARISONS
from judgebias.database import name
from judgebias.errors import DataError
from judgebias.sources.checks import MISSING, check_columns, columns_of, header_of, missing_as_null, read_as_texts
from judgebias.sources.imported import SOURCE, place_in

REQUIRED = ("judge", "item", "model_a", "model_b", "order", "outcome")
OPTIONAL = tuple(column for column in COMPARISONS if column not in REQUIRED)
NUMBERED = ("length_a", "length_b", "vote")
ALIKE = 0.8  # similarity of two names, of 1, from which one is taken for the other misspelt


def select_texts(connection: duckdb.DuckDBPyConnection, files: Sequence[str]) -> list[tuple[str, str]]:
    """Each file with the SQL for its rows: file, record (from 1) and the columns of COMPARISONS as text, NULL where empty.

    Raises DataError for a file that is absent, empty or unreadable, for a column that is missing or stands twice, and for one
    whose name is nearly that of an optional column that is not there. Other columns are not read.
    """
    return [(path, _rows(path, columns_of(connection, path, REQUIRED))) for path in files]


def _rows(path: str, columns: Sequence[str]) -> str:
    check_columns(path, columns, REQUIRED, OPTIONAL)
    if not set(SOURCE) <= set(columns):  # an imported table keeps columns of any name
        _check_misspelt(path, columns)
    relation, own = read_as_texts(path, columns)
    picked = [
        f"trim({missing_as_null(own[column], MISSING if column in NUMBERED else ('',))}) as {name(column)}"
        if column in own
        else f"null::varchar as {name(column)}"
        for column in COMPARISONS
    ]
    return f"select {place_in(path, own)}, {', '.join(picked)} from {relation}"


def _check_misspelt(path: str, columns: Sequence[str]) -> None:
    missing = [column for column in OPTIONAL if column not in columns]
    for column in columns:
        close = difflib.get_close_matches(column.strip().lower(), missing, n=1, cutoff=ALIKE)
        if column not in COMPARISONS and close:
            raise DataError(f"{header_of(path)}, column {column}: not known; write '{close[0]}' if that is meant, or another")
