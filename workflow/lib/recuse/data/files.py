"""Raw files as they come: their columns, their rows as text, and the place of a row in its file."""

import csv
import math
import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import TextIOWrapper
from os.path import exists, isfile
from pathlib import Path
from typing import IO

from recuse.base.database import (
    BLANKS,
    NUMBER,
    connect,
    files,
    frame_at,
    longest_line,
    name,
    reader,
    text,
)
from recuse.base.errors import DataError
from recuse.data.intact import Lines, check_pages, count_lines, opened, too_long

REQUIRED = ("judge", "model", "gt", "dataset", "prompt_id", "rating")
# Of the rubric that the judge was asked by, and which of several identical requests
ASKED = ("wording", "replicate")
# The probability with which an answer was chosen for a human score
PROBABILITY = "labelling_probability"
OPTIONAL = ("pred_length", PROBABILITY, "dimension", "occasion", *ASKED)
# What tells a judge's ratings of a model and prompt apart: one column of RatingsFile.stored
IN_ONE = ("occasion", *ASKED)
BETWEEN = "'\x1f'"  # SQL for what separates them
READ = tuple(column for column in (*REQUIRED, *OPTIONAL) if column not in ASKED)
NUMBERED = ("gt", "rating", "pred_length", PROBABILITY)
# In lower case: what stands for a missing number
MISSING = ("", "na", "n/a", "nan", "null", "none")
LONGEST_NAME = 20  # characters of a column's name in a message about it
LONGEST_FIELD = 2**31 - 1  # characters: a column that is not read may hold whole prompts
csv.field_size_limit(LONGEST_FIELD)
# What a file's records are called
UNITS = {".parquet": "row", ".jsonl": "line", ".json": "entry", ".eval": "entry"}
SOURCE = ("source_file", "source_record")  # columns of an imported table: the origin of each row
# For a missing column
REMEDIES = {
    "dimension": (
        "add it, or name the dimension of the whole file: files: {<dimension>: <file>} in config"
    ),
    "gt": "add it, and leave it empty if no row has a human score",
}
# Of the fields of a CSV file
SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


@dataclass(frozen=True)
class RawFile:
    """A file of rows as it comes: CSV (plain or gzip), parquet, or a table in memory.

    columns: their names, in the file's order. lines, separator: of a CSV file, else None.
    """

    path: str
    columns: tuple[str, ...]
    lines: Lines | None = None
    separator: str | None = None

    @classmethod
    def open(cls, path: str, needed: Sequence[str] = (), optional: Sequence[str] = ()) -> "RawFile":
        """Read what a file holds, once per state of the file.

        DataError if it is absent, empty or unreadable, if a `needed` column is missing, and if a
        column that is read is there twice.
        """
        if (frame := frame_at(path)) is not None:
            file = cls(path, tuple(frame.columns))
        elif re.search("[\ud800-\udfff]", path):  # bytes that are not UTF-8
            raise DataError(f"{path!a}: the name is not UTF-8; rename the file")
        elif not exists(path):
            error = DataError(f"{path}: no such file; name an existing CSV or parquet file")
            error.setting = path
            raise error
        elif not isfile(path):
            raise DataError(
                f"{path}: found a folder or a pipe; write a CSV or parquet file, which can be read"
                " more than once"
            )
        else:
            state = os.stat(path)
            file = _read_once(path, longest_line(), state.st_size, state.st_mtime_ns, state.st_ino)
        if file.lines is not None and not file.columns:
            names = ", ".join(needed) or "the names of its columns"
            raise DataError(f"{path}: the file is empty; it needs a header line with {names}")
        file._check_columns(needed, optional)
        return file

    @property
    def relation(self) -> str:
        """SQL for the rows."""
        if self.path.endswith(".parquet"):
            return files([self.path])
        # By position, for the names of columns that are not read may be anything: empty, or alike
        # but for their case.
        places = self._places
        if self.lines is None:
            return f"{name(self.path)} as frame({', '.join(map(name, places))})"
        settings = {
            "header": "true",
            "auto_detect": "false",
            "delim": text(self.separator),
            "quote": "'\"'",
            "escape": "'\"'",
            "compression": "'gzip'" if self.path.endswith(".gz") else "'none'",
            "max_line_size": str(longest_line()),
            "columns": "{" + ", ".join(f"'{place}': 'VARCHAR'" for place in places) + "}",
        }
        return reader("read_csv", [self.path], **settings)

    @property
    def stored(self) -> dict[str, str]:
        """SQL for each column of the `relation`, as it is stored."""
        names = self.columns if self.path.endswith(".parquet") else self._places
        return dict(zip(self.columns, map(name, names), strict=True))

    @property
    def _places(self) -> list[str]:
        return [f"/{place}" for place in range(len(self.columns))]  # no folder has such a name

    @property
    def origin(self) -> str:
        """SQL for file and record of a row; of an imported table, those of the user's file."""
        own = f"{text(self.path)} as file, row_number() over () as record"
        if not self.is_imported:
            return own
        file, record = (
            f"try_cast({column} as {kind})"
            for column, kind in zip(SOURCE, ("varchar", "bigint"), strict=True)
        )
        return (
            f"coalesce({file}, {text(self.path)}) as file,"
            f" coalesce({record}, row_number() over ()) as record"
        )

    @property
    def is_imported(self) -> bool:
        """Whether it is what an import wrote, which keeps the user's columns of any name."""
        return self.path.endswith(".parquet") and set(SOURCE) <= set(self.columns)

    def count_rows(self) -> int:
        """The number of rows."""
        with reading(self.path):
            return connect().execute(f"select count(*) from {self.relation}").fetchone()[0]

    def _check_columns(self, needed: Sequence[str], optional: Sequence[str]) -> None:
        missing = next((column for column in needed if column not in self.columns), None)
        if missing is not None:
            also = ""
            if optional:
                verb = "is" if len(optional) == 1 else "are"
                also = f" ({', '.join(optional)} {verb} optional)"
            remedy = REMEDIES.get(missing, f"the file needs {', '.join(needed)}{also}")
            alike = [column for column in self.columns if column.strip().lower() == missing]
            if alike:
                remedy = f"rename '{alike[0]}' to '{missing}'"
            raise DataError(
                f"{header_place(self.path)}, column {missing}: missing; found {', '.join(self.columns)};"
                f" {remedy}"
            )
        for column in (*needed, *optional):
            if self.columns.count(column) > 1:
                raise DataError(
                    f"{header_place(self.path)}, column {column}: found twice; keep one"
                )


@cache
def _read_once(path: str, longest: int, *state: int) -> RawFile:
    """A file in this state (size, time and inode), without columns if it is an empty CSV file."""
    if path.endswith(".parquet"):
        with reading(path):
            check_pages(path)
            described = connect().execute(f"select * from {files([path])} limit 0")
            return RawFile(path, tuple(described.fetchnumpy()))
    with opened(path) as file:
        lines = count_lines(path, file, longest)
        file.seek(0)
        try:
            written = _as_text(file)
            separator = _separator(path, written.readline())
            written.seek(0)
            header = next(csv.reader(written, delimiter=separator), None)
        except (UnicodeDecodeError, csv.Error) as error:
            problem, line = error, 1
            if isinstance(error, UnicodeDecodeError):
                line += error.object.count(b"\n", 0, error.start)
                problem = "it is UTF-16" if is_utf16(path) else error
            raise DataError(
                f"{path}, line {line}: not a UTF-8 CSV file ({problem}); save it as UTF-8"
            ) from error
    for column in header or ():
        if "," in column and re.search("[\r\n]", column):
            raise DataError(
                f"{path}, line 1: found lines of the file in the name of a column,"
                f" {column[:LONGEST_NAME]!a}...; close its double quote"
            )
    if header is not None and not "".join(header).strip():
        raise DataError(
            f"{path}, line 1: found a blank line; delete it, or write the names of the columns"
            " there"
        )
    return RawFile(path, tuple(header or ()), lines, separator)


def _as_text(file: IO[bytes], errors: str = "strict") -> TextIOWrapper:
    return TextIOWrapper(file, encoding="utf-8-sig", errors=errors, newline="")


def _separator(path: str, header: str) -> str:
    """What separates the fields of a CSV file: the most frequent of SEPARATORS in its first line,
    outside quotes.

    A file without any is separated by commas; in one named .tsv, a tab in that line decides.
    """
    header = re.sub('"[^"]*("|$)', "", header)
    if path.removesuffix(".gz").endswith(".tsv") and "\t" in header:
        return "\t"
    return max(SEPARATORS, key=header.count)  # the first of equals


def header_place(path: str) -> str:
    """The place of the names of columns: the first line of a CSV file; a parquet file or a table in
    memory has no lines.
    """
    return path if path.endswith(".parquet") or frame_at(path) else f"{path}, line 1"


@dataclass(frozen=True)
class RatingsFile:
    """One file of ratings; `dimension` is what all its rows are about, or None if it has a column
    of that name.
    """

    path: str
    dimension: str | None = None

    def texts(self) -> str:
        """SQL for the rows as text: file, record (from 1), the required and the optional columns,
        named.

        `named` is the dimension that config gives the file, or NULL. Missing numbers, however
        spelled, and empty names are NULL. DataError as of `stored`.
        """
        return f"select file, record, named, {texts_as_read()} from ({self.stored()})"

    def stored(self) -> str:
        """SQL for the rows with the columns of `texts` as they are stored, as whatever type.

        Where the file has one of ASKED, `occasion` is a text of all IN_ONE, see `asked_in`.
        DataError if the file is absent or lacks a needed column.
        """
        needed = (*REQUIRED, "dimension") if self.dimension is None else REQUIRED
        file = RawFile.open(
            self.path, needed, [column for column in OPTIONAL if column not in needed]
        )
        named = "null::varchar" if self.dimension is None else text(self.dimension)
        stored = {**dict.fromkeys(OPTIONAL, "null::varchar"), "dimension": named} | file.stored
        if set(ASKED) & set(file.columns):
            parts = (f"coalesce({missing_as_null(stored[column], ('',))}, '')" for column in IN_ONE)
            joined = f" || {BETWEEN} || ".join(parts)
            stored["occasion"] = f"nullif({joined}, {BETWEEN} || {BETWEEN})"
        picked = ", ".join(f"{stored[column]} as {column}" for column in READ)
        return f"select {file.origin}, {named} as named, {picked} from {file.relation}"


def texts_as_read() -> str:
    """SQL for the columns of `RatingsFile.texts`, from those of `RatingsFile.stored`."""
    stored = {column: column for column in READ} | {"prompt_id": whole_as_text("prompt_id")}
    return ", ".join(
        f"{value} as {column}" for column, value in as_texts(stored, stored, NUMBERED).items()
    )


def asked_in(occasion: str) -> list[str]:
    """SQL for each of IN_ONE, as a column of its own, from SQL for the text that holds them; NULL
    where it is empty.
    """
    return [
        f"nullif(string_split({occasion}, {BETWEEN})[{place}], '') as {each}"
        for place, each in enumerate(IN_ONE, start=1)
    ]


def whole_as_text(column: str) -> str:
    """SQL for a column of a parquet file as text, where 3.0 is 3: parts may store an id as another
    kind of number.
    """
    numbers = f"typeof({column}) in ('DOUBLE', 'FLOAT') or typeof({column}) like 'DECIMAL%'"
    return (
        f"(case when {numbers} then regexp_replace({column}::varchar, '\\.0+$', '') else"
        f" {column}::varchar end)"
    )


def as_texts(
    expressions: Mapping[str, str], columns: Iterable[str], numbered: Collection[str]
) -> dict[str, str]:
    """SQL for those of `columns` in `expressions` (of a `RawFile`): NULL where empty, and, of
    `numbered` ones, missing.
    """
    present = (column for column in columns if column in expressions)
    return {
        column: missing_as_null(expressions[column], MISSING if column in numbered else ("",))
        for column in present
    }


def missing_as_null(column: str, words: Sequence[str]) -> str:
    """SQL for a column as text, NULL where it is one of `words` (lower case)."""
    value, listed = f"{column}::varchar", ", ".join(text(word) for word in words)
    return f"case when lower(trim({value})) in ({listed}) then null else {value} end"


def is_number(word: object) -> bool:
    """Whether a word of the configuration is a finite number, as `as_number` defines it."""
    return bool(re.fullmatch(NUMBER, str(word).strip(BLANKS).lower())) and math.isfinite(
        float(word)
    )


def record_place(path: str, record: int) -> str:
    """The place of a record: the line of a CSV or JSON Lines file in which it begins, else the row
    or entry.
    """
    suffix = Path(path).suffix
    # The file that was imported may be gone
    if suffix in UNITS or frame_at(path) or not isfile(path):
        return f"{path}, {UNITS.get(suffix, 'row')} {record}"
    line, passed = 0, -1  # the header is record 0
    with suppress(DataError, OSError, csv.Error):
        # The file may be another one since it was imported
        separator = RawFile.open(path).separator
        with opened(path) as file:
            rows = csv.reader(_as_text(file, errors="replace"), delimiter=separator)
            for row in rows:
                passed += bool(row)  # blank lines are not records
                if row and passed == record:
                    return f"{path}, line {line + 1}"
                line = rows.line_num
    return f"{path}, row {record}"


def is_utf16(path: str) -> bool:
    """Whether the first bytes of a file (plain or gzip) are the mark of UTF-16. Raises what reading
    raises.
    """
    with opened(path) as file:
        return file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE)


def _wrong_in_table(path: str, complaint: str) -> str:
    """The line of a CSV file that DuckDB cannot read, what is wrong and the remedy; of other files,
    DuckDB's first line.
    """
    line = re.search(r"Line: (\d+)", complaint)
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", complaint)
    problem = complaint.strip().splitlines()[0]
    if "Maximum line size" in complaint or "Parallel CSV Reader" in complaint:
        problem = too_long()
    elif "not utf-8" in complaint:
        problem = "found bytes that are not UTF-8; save the file as UTF-8"
    elif "invalid state" in complaint and (other := _line_ending_otherwise(path)):
        return (
            f"{path}, line {other}: ends with another kind of line break than line 1; save the file"
            " with one kind"
        )
    elif fields:
        problem = (
            "found {1} fields, expected {0} as in the header; put a field that contains {2} into"
            " double quotes"
        )
        problem = problem.format(*fields.groups(), SEPARATORS[RawFile.open(path).separator])
    elif "unterminated quote" in complaint:
        problem = (
            "found a double quote that is not closed; close it, and double each one within a quoted"
            " field"
        )
    return f"{path}{f', line {line.group(1)}' if line else ''}: cannot be read: {problem}"


def _line_ending_otherwise(path: str) -> int | None:
    """The first line of a CSV file that ends with another kind of line break than the first one."""
    with opened(path) as file:
        lines = _as_text(file, errors="replace")
        breaks = (line[len(line.rstrip("\r\n")) :] for line in lines)
        first = next(breaks, "")
        return next(
            (number for number, mark in enumerate(breaks, start=2) if mark not in ("", first)), None
        )


@contextmanager
def reading(path: str, explained: Callable[[str, str], str] = _wrong_in_table) -> Iterator[None]:
    """Turn DuckDB's error about the file at `path` into DataError; explained: its text, from the
    path and DuckDB's text.
    """
    import duckdb

    try:
        yield
    # The second from a damaged name of a column
    except (duckdb.Error, UnicodeDecodeError) as error:
        # Neither memory nor a full disk is a fault of the file.
        if isinstance(error, duckdb.OutOfMemoryException) or "No space left" in str(error):
            raise
        raise DataError(explained(path, str(error))) from error
