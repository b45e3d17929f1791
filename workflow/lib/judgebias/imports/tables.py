"""Tables of judgments in columns of any names: CSV, parquet, JSON Lines, or a JSON list of objects."""

import math
from collections.abc import Collection, Mapping, Sequence

import duckdb

from judgebias.database import text
from judgebias.errors import DataError
from judgebias.imports.formats import check_name
from judgebias.imports.json_objects import create_objects, pointer
from judgebias.imports.rows import kept_names
from judgebias.sources.checks import MISSING as IN_NUMBERS
from judgebias.sources.checks import columns_of, header_of, missing_as_null, read_as_texts

MISSING = (*IN_NUMBERS, "#n/a")  # as spreadsheets have it


class Table:
    """A file of rows: attribute `columns`, its names; `source`, SQL for file, record and its columns."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str, *, table: str) -> None:
        """Open the file, and create the temporary `table` of its objects if it is JSON; DataError if it cannot be read."""
        check_name(path)
        self.path = path
        if path.endswith((".jsonl", ".json")):
            self.columns = create_objects(connection, path, {}, (), table=table)
            self.source = table
            self._sql = {column: f"json_extract_string(json, {text(pointer(column))})" for column in self.columns}
            return
        self.columns = columns_of(connection, path, ("the names of its columns",))
        relation, own = read_as_texts(path, self.columns)
        # By place: a column may be called as one of the two that are added.
        listed = ", ".join(f"{own[column]} as c{place}" for place, column in enumerate(self.columns))
        self.source = f"(select {text(path)} as file, row_number() over () as record, {listed} from {relation})"
        whole = _whole if path.endswith(".parquet") else str
        self._sql = {column: whole(f"c{place}") for place, column in enumerate(self.columns)}

    def column(self, named: Mapping[str, str], key: str, *, or_else: Sequence[str] = ()) -> str | None:
        """The file's name of what config calls `key`: as `named` there, or the key itself or a name of `or_else`, if there.

        DataError about a name that config gives and the file does not have, or has twice.
        """
        found = [named[key]] if key in named else [column for column in (key, *or_else) if column in self.columns][:1]
        for column in found:
            if self.columns.count(column) != 1:
                problem = "not there" if column not in self.columns else "stands twice"
                raise DataError(
                    f"{header_of(self.path)}, column {column}: {problem}; found {', '.join(self.columns)}; write the name of "
                    f"one of them under `columns: {key}` in config"
                )
        return found[0] if found else None

    def needed(self, named: Mapping[str, str], key: str, *, or_else: Sequence[str] = ()) -> str:
        """The same; DataError if there is no such column."""
        found = self.column(named, key, or_else=or_else)
        if found is None:
            separator = next((mark for mark in (";", "\t", "|") if len(self.columns) == 1 and mark in self.columns[0]), None)
            mend = (
                f"write which of them it is under `columns:` in config, as in `{{{key}: <its name here>}}`"
                if separator is None
                else f"the fields are separated by {separator!r}; save the file with commas"
            )
            raise DataError(f"{header_of(self.path)}, column {key}: not there; found {', '.join(self.columns)}; {mend}")
        return found

    def kept(self, used: Collection[str], table: Sequence[str]) -> dict[str, str]:
        """The columns of the file that are not `used`, to be kept beside those of a `table`: name there -> SQL as text."""
        others = (column for column in dict.fromkeys(self.columns) if column not in used)
        return {free: self._sql[column] for column, free in kept_names(others, table).items()}

    def text(self, column: str) -> str:
        """SQL for a column as text, as it stands."""
        return self._sql[column]

    def name_text(self, column: str) -> str:
        """SQL for a column of names: NULL where empty."""
        return missing_as_null(f"({self._sql[column]})", ("",))

    def number_text(self, column: str) -> str:
        """SQL for a column of numbers: NULL where missing, however spelled."""
        return missing_as_null(f"({self._sql[column]})", MISSING)


def failure_of(value: str, given_up: Sequence[str]) -> str:
    """SQL for what a value (SQL, text) says of a failure: that there is none, or that it is one of `given_up`; else NULL."""
    shown = f"'value ''' || trim({value}) || ''''"
    words = ", ".join(text(str(word).strip().lower()) for word in given_up)
    number = ", ".join(f"{float(word)!r}::double" for word in given_up if _is_finite(word))
    conditions = [f"lower(trim({value})) in ({words})"] if words else []
    conditions += [f"try_cast({value} as double) in ({number})"] if number else []
    listed = f" when {' or '.join(conditions)} then {shown}" if conditions else ""
    return f"case when {missing_as_null(value, MISSING)} is null then 'no value'{listed} end"


def _whole(column: str) -> str:
    """SQL for a column of a parquet file as text, where 3.0 is 3: parts may store an id as another kind of number."""
    numbers = f"typeof({column}) in ('DOUBLE', 'FLOAT') or typeof({column}) like 'DECIMAL%'"
    return f"case when {numbers} then regexp_replace({column}::varchar, '\\.0+$', '') else {column}::varchar end"


def _is_finite(word: object) -> bool:
    """Whether a word is a number, which a file may spell otherwise: nan and inf are words."""
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
