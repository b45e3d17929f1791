"""Reading a file of judge ratings as it comes: its columns, its rows as text, and what is wrong with them."""

import csv
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from judgebias.database import name, text
from judgebias.errors import DataError

REQUIRED = ("judge", "model", "gt", "dataset", "prompt_id", "rating")
OPTIONAL = ("pred_length", "dimension")
MISSING = ("", "na", "n/a", "nan", "null", "none")  # in lower case: what stands for a missing value


@dataclass(frozen=True)
class RatingsFile:
    """One file of ratings; `dimension` is what all its rows are about, or None if it has a column of that name."""

    path: str
    dimension: str | None = None


@dataclass(frozen=True)
class Check:
    """One thing that must hold of every row: an SQL condition that is true where `column` breaks it, and the mend."""

    column: str
    broken: str  # over the columns of `select_rows`
    problem: str
    mend: str  # SQL expression giving a text


def columns_of(connection: duckdb.DuckDBPyConnection, path: str) -> list[str]:
    """Names of the columns of a CSV (plain or gzip) or parquet file; DataError if it is absent, empty or unreadable."""
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file; name an existing CSV or parquet file in config")
    if path.endswith(".parquet"):
        try:
            return connection.execute(f"select * from read_parquet({text(path)}) limit 0").fetchnumpy().keys()
        except duckdb.Error as error:
            raise unreadable(path, error) from error
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise DataError(f"{path}, line 1: not a UTF-8 CSV file ({error}); save it as UTF-8") from error
    if not header:
        raise DataError(f"{path}: the file is empty; it needs a header line with {', '.join(REQUIRED)}")
    return header


def check_columns(source: RatingsFile, columns: Sequence[str]) -> None:
    """Raise DataError unless every required column is there, once."""
    needed = [*REQUIRED, *(["dimension"] if source.dimension is None else [])]
    for column in needed:
        if column not in columns:
            raise DataError(
                f"{source.path}, line 1, column {column}: not there; found {', '.join(columns)}; "
                f"needed {', '.join(needed)} (pred_length is optional)"
            )
    for column in [*needed, *OPTIONAL]:
        if list(columns).count(column) > 1:
            raise DataError(f"{source.path}, line 1, column {column}: stands twice; keep one")


def select_rows(source: RatingsFile, columns: Sequence[str]) -> str:
    """SQL for the rows of a file as text: file, line, the required columns, pred_length and dimension.

    A missing value, however spelled, is NULL. `line` counts lines of the file from 1 for the header (rows of a parquet file
    from 2 likewise).
    """
    if source.path.endswith(".parquet"):
        relation = f"read_parquet({text(source.path)})"
    else:
        declared = ", ".join(f"{text(column)}: 'VARCHAR'" for column in columns)
        relation = (
            f"read_csv({text(source.path)}, header=true, auto_detect=false, delim=',', quote='\"', escape='\"', "
            f"columns={{{declared}}})"
        )
    absent = ", ".join(text(word) for word in MISSING)
    wanted = [c for c in (*REQUIRED, *OPTIONAL) if c in columns and not (c == "dimension" and source.dimension)]
    picked = [
        f"case when lower(trim({name(c)}::varchar)) in ({absent}) then null else {name(c)}::varchar end as {name(c)}"
        for c in wanted
    ]
    if source.dimension is not None:
        picked.append(f"{text(source.dimension)} as dimension")
    if "pred_length" not in columns:
        picked.append("null::varchar as pred_length")
    return f"select {text(source.path)} as file, row_number() over () + 1 as line, {', '.join(picked)} from {relation}"


def fault_number(checks: Sequence[Check]) -> str:
    """SQL expression: the number of the first of `checks` that a row breaks, NULL if it breaks none."""
    return "case " + " ".join(f"when {check.broken} then {number}" for number, check in enumerate(checks)) + " end"


def raise_first_fault(connection: duckdb.DuckDBPyConnection, table: str, checks: Sequence[Check]) -> None:
    """Raise DataError about the first row of `table` (columns file, line, fault, the raw texts) that broke a check."""
    found = " ".join(f"when {number} then {name(check.column)}" for number, check in enumerate(checks))
    mends = " ".join(f"when {number} then {check.mend}" for number, check in enumerate(checks))
    row = connection.execute(f"""
        select file, line, fault, case fault {found} end, case fault {mends} end, count(*) over () from {table}
        where fault is not null order by file, line limit 1""").fetchone()
    if row is not None:
        file, line, number, value, mend, faults = row
        shown = "nothing" if value is None else f"'{value}'"
        more = f" ({faults - 1} more rows are faulty)" if faults > 1 else ""
        column, problem = checks[number].column, checks[number].problem
        raise DataError(f"{file}, line {line}, column {column}: found {shown}, {problem}; {mend}{more}")


def unreadable(path: str, error: duckdb.Error) -> DataError:
    """Turn DuckDB's complaint about the file at `path` into the project's own, with the line where it names one."""
    line = re.search(r"Line: (\d+)", str(error))
    return DataError(f"{path}{f', line {line.group(1)}' if line else ''}: cannot be read: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
