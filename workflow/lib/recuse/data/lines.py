"""The rows of a user's file: as many as config declares, and those of its lines, none lost in a
quoted field or cut off.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from os.path import realpath
from pathlib import Path

from recuse.base.database import Connection, connect, frame_at, name, text
from recuse.base.digests import sha256_of
from recuse.base.errors import DataError
from recuse.base.log import warn
from recuse.base.words import counted, visible
from recuse.data.files import (
    SEPARATORS,
    UNITS,
    columns_of,
    place_of,
    read_as_texts,
    reading,
    separator_of,
)
from recuse.data.intact import Lines, lines_of, opened

FEWEST = 5  # lines in a field that, each with the commas of a row, are no text


def check_lines(connection: Connection, path: str, rows: int, columns: Collection[str]) -> None:
    """Raise DataError unless the `rows` that were read from a CSV file are its lines; do nothing
    for other files.

    columns: those of names and numbers, in which no field may have a line break: two stray double
    quotes make one field of all rows between them. Other fields may be texts of several lines,
    which are counted in a warning, unless they look like rows. Warns, too, if the last line has no
    line break, as in a file that was cut off.
    """
    if Path(path).suffix in UNITS or frame_at(path):
        return
    lines, separator = lines_of(path), separator_of(path)
    if separator != ",":
        print(visible(f"{path}: fields are separated by {SEPARATORS[separator]}"), file=sys.stderr)
    if not lines.last_has_mark:
        warn(
            f"{path}, line {lines.count}: ends without a line break, as in a file that was cut off;"
            " add one if this is whole"
        )
    if rows == lines.count - 1:
        return
    header = columns_of(connection, path)
    within = sum(column.count(lines.mark) for column in header) + _within_fields(
        connection, path, lines, header, columns
    )
    rest = lines.count - 1 - rows - within
    if rest and not 0 < rest <= _blank_lines(path):
        raise DataError(
            f"{path}: {counted(rows, 'row')} were read from {counted(lines.count - 1, 'line')}"
            f" after the header, of which {within} are within fields; write one row on each line"
        )


def _within_fields(
    connection: Connection, path: str, lines: Lines, header: list[str], columns: Collection[str]
) -> int:
    """The number of line breaks within fields; DataError about the first column that may not have
    them.
    """
    relation, _ = read_as_texts(path, header)
    separator = text(separator_of(path))
    counts = ", ".join(
        _counts(place, len(header), f"chr({ord(lines.mark)})", separator)
        for place in range(len(header))
    )
    query = f"select {counts} from (select *, row_number() over () as record from {relation})"
    with reading(path):
        by_column = connection.execute(query).fetchone()
    broken = [
        (column, count) for column, count in zip(header, by_column, strict=True) if count["fields"]
    ]
    for column, count in broken:
        if count["rows"] is not None or column in columns:
            what, record = (
                ("a line break", count["first"])
                if count["rows"] is None
                else ("rows of the file", count["rows"])
            )
            raise DataError(
                f"{place_of(path, record)}, column {column}: found {what} within a field that a"
                " double quote opens; close it where it ends, and double each one within it"
            )
    for column, count in broken:
        fields = (
            f"the first of {counted(count['fields'], 'field')} that contain"
            f" {counted(count['breaks'], 'line break')}"
        )
        warn(
            f"{place_of(path, count['first'])}, column {column}: {fields}; if these are no texts,"
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


def rows_in_table(path: str) -> int:
    """The number of rows of a CSV or parquet file."""
    connection = connect()
    relation, _ = read_as_texts(path, columns_of(connection, path))
    with reading(path):
        return connection.execute(f"select count(*) from {relation}").fetchone()[0]


def check_declared(
    paths: Iterable[str],
    declared: Mapping[str, Mapping] | None,
    *,
    rows_in: Callable[[str], int] = rows_in_table,
) -> None:
    """Raise DataError about the first of the files whose `sha256` or `rows` are not what is
    declared for its path.

    rows_in: counts the rows of a file.
    """
    by_path = {realpath(path): values for path, values in (declared or {}).items()}
    for path in paths:
        values = by_path.get(realpath(path), {})
        remedy = "restore that file, or correct `verify:` in config"
        if "sha256" in values and (digest := sha256_of(path)) != values["sha256"].lower():
            raise DataError(
                f"{path}: its SHA-256 is {digest}, but config declares {values['sha256']}; {remedy}"
            )
        if "rows" in values and (rows := rows_in(path)) != values["rows"]:
            raise DataError(
                f"{path}: it holds {counted(rows, 'row')}, but config declares {values['rows']};"
                f" {remedy}"
            )
