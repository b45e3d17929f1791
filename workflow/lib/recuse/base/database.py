"""One way to open DuckDB, so that every step in SQL gives the same bytes on any machine."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from recuse.base.errors import ConfigError, DiskError
from recuse.base.outputs import empty_folder, part_path, replacing, work_folder

# The import of each takes as long as reading a small file; a figure needs no database
if TYPE_CHECKING:
    import duckdb
    import numpy as np

Connection: TypeAlias = "duckdb.DuckDBPyConnection"

SETTINGS = {
    "threads": 1,  # sums of floating-point numbers then have one order, hence one result
    "preserve_insertion_order": True,
    "autoinstall_known_extensions": False,
    # In DuckDB 2.0.0 it merges parts of a query that only look alike, such as left joins of one
    # table on different columns in a union, and gives wrong rows without an error (duckdb#25819).
    # And `in_clause` joins each short list of words after IN as a table, which is slower.
    "disabled_optimizers": "common_subplan,in_clause",
    "TimeZone": "UTC",  # times are the same text on every machine
}
# Settings that a query may change: they alter only its speed
CHANGEABLE = ("perfect_ht_threshold", "parquet_metadata_cache")
LONGEST_LINE = 2_000_000  # bytes, DuckDB's own bound
SHARE = 0.6  # of a job's memory that is DuckDB's; the rest is for Python and the arrays of the fits


# In lower case, without blanks around it
NUMBER = "[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]+)?|inf(inity)?)"
BLANKS = " \t\n\r\v\f"
# A text as a number, NULL if it is none: digits, a point, a sign and an exponent, or inf, with
# blanks around. DuckDB takes more: 1_0 as 10, +-1 as -1, and words. What has none of their letters
# needs no second look, which is slow.
AS_NUMBER = f"""
    create macro as_number(x) as
    case when (x between '.' and ':' and not contains(x, '_'))
              or regexp_full_match(x, '[{BLANKS}]*{NUMBER}[{BLANKS}]*', 'i')
         then try_cast(x as double) end"""


class Frame(NamedTuple):
    """A table in memory that is read where a file is, without a copy, and the names of its
    columns.
    """

    table: object
    columns: Sequence[str]


class _Database:
    """An in-memory DuckDB, opened when it is first used; from then on its settings are locked, but
    for CHANGEABLE.

    allowed: the files, and the folders with all files in them, that it may open beside its own
    temporary ones; None: any. frames: tables in memory, by the name that stands for a path.
    """

    def __init__(
        self,
        longest_line: int = LONGEST_LINE,
        allowed: "tuple[list[str], list[str]] | None" = None,
        frames: Mapping[str, Frame] | None = None,
        **bounds: str,
    ) -> None:
        self.settings, self.allowed, self.connection = SETTINGS | bounds, allowed, None
        self.longest_line, self.frames = longest_line, dict(frames or {})

    def cursor(self) -> Connection:
        if self.connection is None:
            import duckdb

            connection = duckdb.connect(":memory:", config=self.settings)
            if self.allowed is not None:
                for setting, paths in zip(
                    ("allowed_paths", "allowed_directories"), self.allowed, strict=True
                ):
                    connection.execute(f"set {setting} = ?", [paths])
                connection.execute("set enable_external_access = false")
            connection.execute(AS_NUMBER)
            # Only now: TimeZone loads a part of DuckDB itself
            connection.execute("set autoload_known_extensions = false")
            connection.execute("set allowed_configs = ?", [CHANGEABLE])
            connection.execute("set lock_configuration = true")
            self.connection = connection  # only when it is locked
        return self.connection.cursor()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()


_databases = [_Database()]  # of this process; the last is in use


def connect() -> Connection:
    """Open a connection to this process's in-memory DuckDB; no other sees its temporary tables."""
    return _databases[-1].cursor()


def register_frames(connection: Connection) -> None:
    """Let a connection read the tables in memory by their names; it looks through each of them."""
    for path, frame in _databases[-1].frames.items():
        connection.register(path, frame.table)


def longest_line() -> int:
    """Bytes of the longest line that a CSV file may have."""
    return _databases[-1].longest_line


def frame_at(path: str) -> Frame | None:
    """The table in memory that is named so; None if the path is that of a file."""
    return _databases[-1].frames.get(path)


@contextmanager
def bounded(
    limit: str,
    folder: str | Path,
    *,
    files: Iterable[str] | None = None,
    outputs: Iterable[str] = (),
    of_job: int | None = None,
    longest_line: int = LONGEST_LINE,
    frames: Mapping[str, Frame] | None = None,
) -> Iterator[str]:
    """Limit DuckDB's memory to `limit`, such as 4GB, and the files that it may open; give `folder`,
    removed afterwards.

    It writes to `folder` what exceeds its memory. files: all that it may open beside those in
    `folder` and `outputs`, with what is written beside these on the way; None: any. of_job:
    megabytes that the job asks for, of which DuckDB gets at most its SHARE, as a cluster kills a
    job that takes more. longest_line: bytes that a line of a CSV file may have. frames: tables in
    memory, by the name that stands for a path. Raises ConfigError if the limit is too low.
    """
    setting, bound = f"config: memory_limit: {limit}", limit
    if of_job is not None and SHARE * of_job * 1e6 < parse_bytes(limit):
        bound = f"{SHARE * of_job:.0f}MB"
        setting = f"resources: mem_mb: {of_job}, of which the ratings may take {bound}"
    with empty_folder(folder) as place:
        allowed = None if files is None else _allowed(files, list(outputs), place)
        _databases.append(
            _Database(longest_line, allowed, frames, memory_limit=bound, temp_directory=place)
        )
        try:
            yield place
        except error_of_duckdb("OutOfMemoryException") as error:
            # Without DuckDB's advice, which does not apply here
            problem = str(error).splitlines()[0]
            if "offload" in problem:
                raise DiskError(
                    f"{folder}: no room on the disk for data that exceed {bound} of memory"
                    f" ({problem}); make room there, or write a larger `memory_limit:` in config"
                ) from error
            raise ConfigError(
                f"{setting}: too little for this study ({problem}); write a larger value"
            ) from error
        finally:
            _databases.pop().close()


def _allowed(
    files: Iterable[str], outputs: Sequence[str], folder: str
) -> tuple[list[str], list[str]]:
    """The files and folders of `bounded` as DuckDB compares them: it checks a `literal_path`
    itself, then the file it names.
    """
    # Bytes that are not UTF-8 are refused later
    readable = (path for path in files if not re.search("[\ud800-\udfff]", path))
    places = [*readable, *outputs, *map(part_path, outputs)], [folder, *map(work_folder, outputs)]
    return tuple(
        [os.path.abspath(form(_local(path))) for path in paths for form in (str, _pattern)]
        for paths in places
    )


def error_of_duckdb(kind: str = "Error") -> type[Exception] | tuple[()]:
    """The exception of DuckDB, if that has been loaded."""
    duckdb = sys.modules.get("duckdb")
    return getattr(duckdb, kind) if duckdb else ()


def parse_bytes(limit: str) -> float:
    """Bytes of a limit as DuckDB writes it, such as 4GB or 512 MiB."""
    number, prefix, binary = re.fullmatch(r"([\d.]+) ?([KMGT])(i?)B", limit).groups()
    return float(number) * (1024 if binary else 1000) ** (1 + "KMGT".index(prefix))


def create_table(connection: Connection, table: str, columns: str, rows: Iterable[tuple]) -> None:
    """Create a small temporary table; `columns` is its SQL declaration, e.g. "id varchar, low
    integer".
    """
    connection.execute(f"create temp table {table} ({columns})")
    if rows := list(rows):
        values = [value for row in rows for value in row]
        marks = f"({', '.join('?' * len(rows[0]))})"
        # At once: faster
        connection.execute(f"insert into {table} values {', '.join([marks] * len(rows))}", values)


def records(result: Connection) -> list[dict]:
    """The rows of a query that was executed, by the names of its columns."""
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def exists(connection: Connection, rows: str) -> bool:
    """Whether there is a row of a query."""
    return connection.execute(f"select 1 from ({rows}) limit 1").fetchone() is not None


def values_in(connection: Connection, query: str) -> list:
    """The values of the only column of a query."""
    return [value for (value,) in connection.execute(query).fetchall()]


def text(value: str) -> str:
    """Quote `value` as an SQL string."""
    return "'" + value.replace("'", "''") + "'"


def literal_path(path: str) -> str:
    """Quote the path of a file as an SQL string, in which *, ? and [ are no pattern, ~ no home and
    `s3:` no place elsewhere.
    """
    return text(_pattern(_local(path)))


def _local(path: str) -> str:
    """The path as DuckDB has to be given it to open that file."""
    return os.path.abspath(path) if re.match(r"[./]*~|\w+:", path) else path


def _pattern(path: str) -> str:
    """The pattern of this path alone."""
    return re.sub(r"[*?[]", r"[\g<0>]", path)


def reader(function: str, paths: Sequence[str], **settings: str) -> str:
    """SQL for the rows that a table function of DuckDB reads from files; a folder's name, such as
    rating=3, adds no column.
    """
    settings |= {"hive_partitioning": "false"}
    listed = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{function}([{', '.join(map(literal_path, paths))}], {listed})"


def files(paths: Sequence[str]) -> str:
    """SQL for the rows of parquet files with the same columns."""
    return reader("read_parquet", paths)


def name(value: str) -> str:
    """Quote `value` as an SQL identifier."""
    return '"' + value.replace('"', '""') + '"'


def footer(key: str, value: object) -> str:
    """SQL for the option of `copy` that stores a value, as JSON, in the footer of a parquet
    file.
    """
    return f"kv_metadata {{{key}: {text(json.dumps(value, ensure_ascii=False))}}}"


def read_footer(path: str, key: str):
    """The value that `footer` stored in a parquet file under a key, or None."""
    query = (
        f"select decode(value) from parquet_kv_metadata({literal_path(path)}) where decode(key) ="
        f" {text(key)}"
    )
    row = connect().execute(query).fetchone()
    return row and json.loads(row[0])


def write_rows(
    connection: Connection, rows: str, path: str, *options: str, compression: str = "zstd"
) -> int:
    """Write the rows of a query to a parquet file and return their number; options: of `copy`, such
    as a `footer`.
    """
    with replacing(path) as part:
        settings = ", ".join(["format parquet", f"compression {compression}", *options])
        return connection.execute(f"copy ({rows}) to {text(_local(part))} ({settings})").fetchone()[
            0
        ]


def write_parquet(
    columns: "Mapping[str, np.ndarray]", path: str, query: str = "select * from columns"
) -> None:
    """Write arrays of equal length as the columns of a parquet file, or the rows of a query on
    them.
    """
    connection = connect()
    connection.register("columns", columns)
    write_rows(connection, query, path)
