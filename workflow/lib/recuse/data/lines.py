"""The rows of a user's file: as many as config declares, and those of its lines, none lost in a
quoted field or cut off.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from os.path import realpath
from pathlib import Path

from recuse.base.database import connect, frame_at, name, text
from recuse.base.digests import file_sha256
from recuse.base.errors import DataError
from recuse.base.log import warn
from recuse.base.words import counted, visible
from recuse.data.files import SEPARATORS, UNITS, RawFile, header_place, reading, record_place
from recuse.data.intact import opened

FEWEST = 5  # lines in a field that, each with the commas of a row, are no text


def check_filled(path: str, rows: int, each: str) -> None:
    """Raise DataError if no `rows` were read from a file; each: what a row is about."""
    if rows == 0:
        raise DataError(f"{path}: the file holds no rows; it needs one row per {each}")


def check_in_all(column: str, files: Mapping[bool, str]) -> None:
    """Raise DataError if some files have a column and some do not; files: one of each kind."""
    if len(files) > 1:
        raise DataError(
            f"{header_place(files[False])}, column {column}: missing, but {files[True]} has it; write"
            " it in all files, or in none"
        )


def check_lines(path: str, rows: int, columns: Collection[str]) -> None:
    """Raise DataError unless the `rows` that were read from a CSV file are its lines; do nothing
    for other files.

    columns: those of names and numbers, in which no field may have a line break: two stray double
    quotes make one field of all rows between them. Other fields may be texts of several lines,
    which are counted in a warning, unless they look like rows. Warns, too, if the last line has no
    line break, as in a file that was cut off.
    """
    if Path(path).suffix in UNITS or frame_at(path):
        return
    file = RawFile.open(path)
    lines, separator = file.lines, SEPARATORS[file.separator]
    if file.separator != ",":
        print(visible(f"{path}: fields are separated by {separator}"), file=sys.stderr)
    if not lines.last_has_mark:
        warn(
            f"{path}, line {lines.count}: ends without a line break, as in a file that was cut off;"
            " add one if this is whole"
        )
    if rows == lines.count - 1:
        return
    within = sum(column.count(lines.mark) for column in file.columns)
    within += _within_fields(file, columns)
    rest = lines.count - 1 - rows - within
    if rest and not 0 < rest <= _blank_lines(path):
        raise DataError(
            f"{path}: {counted(rows, 'row')} were read from {counted(lines.count - 1, 'line')}"
            f" after the header, of which {within} are within fields; write one row on each line"
        )


def _within_fields(file: RawFile, columns: Collection[str]) -> int:
    """The number of line breaks within fields; DataError about the first column that may not have
    them.
    """
    separator, mark = text(file.separator), f"chr({ord(file.lines.mark)})"
    counts = ", ".join(
        _counts(place, len(file.columns), mark, separator) for place in range(len(file.columns))
    )
    query = f"select {counts} from (select *, row_number() over () as record from {file.relation})"
    with reading(file.path):
        by_column = connect().execute(query).fetchone()
    by_name = zip(file.columns, by_column, strict=True)
    broken = [(column, count) for column, count in by_name if count["fields"]]
    for column, count in broken:
        if count["rows"] is not None or column in columns:
            what, record = (
                ("a line break", count["first"])
                if count["rows"] is None
                else ("rows of the file", count["rows"])
            )
            raise DataError(
                f"{record_place(file.path, record)}, column {column}: found {what} within a field that a"
                " double quote opens; close it where it ends, and double each one within it"
            )
    for column, count in broken:
        fields = (
            f"the first of {counted(count['fields'], 'field')} that contain"
            f" {counted(count['breaks'], 'line break')}"
        )
        warn(
            f"{record_place(file.path, count['first'])}, column {column}: {fields}; if these are not texts,"
            " close the double quote"
        )
    return sum(count["breaks"] for _, count in broken)


def _counts(place: int, columns: int, mark: str, separator: str) -> str:
    """SQL for the fields of a column with line breaks, these breaks, and the first record with one
    and with rows in a field.
    """
    value, last = name(f"/{place}"), columns - 1
    broken = f"contains({value}, {mark})"
    marks = f"len(string_split(line, {separator})) - 1"
    marks = f"list_transform(string_split({value}, {mark}), lambda line: {marks})"
    inner = f"{marks}[2:-2]"  # the first and the last line are parts of rows
    of_rows = f"""len({inner}) >= {FEWEST} and list_min({inner}) = {last} and list_max({inner}) = {last}
                  and {marks}[1] = {last - place} and {marks}[-1] = {place}"""
    return f"""{{'fields': count(*) filter ({broken}), 'first': min(record) filter ({broken}),
                 'breaks': coalesce(sum(length({value}) - length(replace({value}, {mark}, ''))), 0)::bigint,
                 'rows': min(record) filter (case when {broken} then {of_rows} end)}}"""


def _blank_lines(path: str) -> int:
    with opened(path) as file:
        return sum(not line.strip() for line in file)


def check_declared(
    paths: Iterable[str],
    declared: Mapping[str, Mapping] | None,
    *,
    rows_in: Callable[[str], int] = lambda path: RawFile.open(path).count_rows(),
) -> None:
    """Raise DataError about the first of the files whose `sha256` or `rows` are not what is
    declared for its path.

    rows_in: counts the rows of a file.
    """
    by_path = {realpath(path): values for path, values in (declared or {}).items()}
    for path in paths:
        values = by_path.get(realpath(path), {})
        remedy = "restore that file, or correct `verify:` in config"
        if "sha256" in values and (digest := file_sha256(path)) != values["sha256"].lower():
            raise DataError(
                f"{path}: its SHA-256 is {digest}, but config declares {values['sha256']}; {remedy}"
            )
        if "rows" in values and (rows := rows_in(path)) != values["rows"]:
            raise DataError(
                f"{path}: it holds {counted(rows, 'row')}, but config declares {values['rows']};"
                f" {remedy}"
            )
