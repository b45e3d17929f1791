"""Files of judgments as rows of text, under the names of the project: JSON objects, and tables with
columns of any names.

Values are in the units of the files; this module also checks them and turns them into whole numbers
of steps.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path

import numpy as np

from recuse.base.database import Connection, exists, frame_at, name, reader, text, values_in
from recuse.base.errors import DataError
from recuse.base.log import warn
from recuse.base.settings import Keys, Setting, are_arguments, written
from recuse.data.faults import LONGEST, MOST_LISTED, Check, raise_first_fault
from recuse.data.files import (
    IN_ONE,
    MISSING,
    PROBABILITY,
    SOURCE,
    RawFile,
    header_place,
    is_number,
    is_utf16,
    missing_as_null,
    reading,
    whole_as_text,
)
from recuse.data.verdicts import COMPARISONS
from recuse.imports.registry import check_name
from recuse.imports.words import fault, noted, problem

RATING_COLUMNS = (
    "judge",
    "model",
    "prompt_id",
    *IN_ONE,
    "dimension",
    "dataset",
    "rating",
    "gt",
    "pred_length",
    PROBABILITY,
)
VERDICT_COLUMNS = COMPARISONS
KEPT = "kept: "  # before the name of a further column, until the table is written
ALL = "all"  # the dataset of judgments that name none
COLUMN_NAMES = {"prompt": "prompt_id"}  # key of `columns:` in config -> column, if named otherwise
FAILURE = "failure"  # column of an imported table: why a judgment is missing, else empty
# Of a rating in a table: the file's name of its column, and the file's word for it if `values:`
# gives that a meaning.
OF_SCORE = COLUMN, WORD = "rating_column", "rating_word"
# May be one for all rows
CONSTANT = ("judge", "model", "dimension", "dataset", "rater", "condition", "experiment")
# The words that YAML 1.1 reads as these
BOOLEANS = {True: ("true", "yes", "on"), False: ("false", "no", "off")}
BOOLEAN_WORDS = {*BOOLEANS[True], *BOOLEANS[False]}
MISSING_IN_SHEETS = (*MISSING, "#n/a")
# Bytes of one object among many; a file that is one object may be of any size
LARGEST_LINE = 64_000_000
GIVEN_UP = Setting("missing")
DECIMAL_COMMA = " *[+-]?[0-9]*,[0-9]+ *"
NEAR = 1e-9  # of a step: values are decimals, steps may be 0.1


@dataclass(frozen=True)
class ImportedRows:
    """The rows of a file: SQL with the columns file, record, failure, those of the table, and
    `kept`.

    All but record are texts, NULL if empty; `failure` is why a judgment is missing. named: column
    of the table -> its name in the file, for messages. kept: further columns of the file, which the
    SQL names with KEPT before their name.
    """

    sql: str
    named: Mapping[str, str]
    kept: Sequence[str]
    # SQL for human scores or gold labels in the same file, as logs.SCORED
    scores: str | None = None
    columns: Sequence[str] = ()  # of scores, if each row of a file has several

    @property
    def on_one_line(self) -> set[str]:
        """The file's columns of names and numbers; a prompt or question may be its own id."""
        return {
            in_file for column, in_file in self.named.items() if column not in ("prompt_id", "item")
        } | {*self.columns}


def as_rows(
    source: str,
    columns: Mapping[str, str],
    table: Sequence[str],
    *,
    named: Mapping[str, str],
    texts: Mapping[str, str],
    used: Collection[str],
    besides: Mapping[str, str] | None = None,
    scores: Sequence[str] = (),
) -> ImportedRows:
    """Rows of a `source`, a relation (SQL) with file and record.

    columns: SQL for the columns of the `table`, for `failure` and for those in OF_SCORE; NULL if
    absent. texts: SQL for each column of the file; those not `used` are kept, with a number after a
    name that is taken, in any case; so is what is in `besides`. scores: the file's columns of
    scores, if each of its rows has several.
    """
    taken, kept = {column.lower() for column in (*table, *SOURCE, FAILURE)}, {}
    for column in (column for column in texts if column not in used):
        free, number = column or "unnamed", 1
        while free.lower() in taken:
            number += 1
            free = f"{column or 'unnamed'} ({number})"
        taken.add(free.lower())
        kept[free] = texts[column]
    kept |= dict(besides or {})
    values = {column: columns.get(column, "null") for column in (*table, FAILURE, *OF_SCORE)}
    values |= {f"{KEPT}{column}": value for column, value in kept.items()}
    picked = ", ".join(f"({value})::varchar as {name(column)}" for column, value in values.items())
    return ImportedRows(
        f"select file, record, {picked} from {source}", named, tuple(kept), columns=tuple(scores)
    )


def further(table: str, kept: Sequence[str]) -> str:
    """The end of an SQL list of columns: the `kept` ones of a `table` of rows, under their own
    names.
    """
    return "".join(f", {table}.{name(KEPT + column)} as {name(column)}" for column in kept)


def spellings(word: object) -> tuple[float | str, ...]:
    """How a word of `values:` or `missing:` is compared with those of a file: numbers by value,
    texts in lower case.
    """
    if isinstance(word, bool):
        return BOOLEANS[word]
    return (float(word) if is_number(word) else str(word).strip().lower(),)


def equal_to(word: object, value: str, number: str) -> Iterator[str]:
    """SQL for whether a value is a word of `values:` or `missing:`, by each of its spellings.

    value: SQL, text. number: the same where a decimal comma is a point.
    """
    for spelling in spellings(word):
        if isinstance(spelling, float):
            yield f"as_number({number}) = {spelling!r}::double"
        else:
            yield f"lower({value}) = {text(spelling)}"


def case_when(value: str, words: Mapping[str, str]) -> str:
    """SQL for the word that `words` give for a value (SQL), else NULL."""
    whens = " ".join(f"when {text(one)} then {text(other)}" for one, other in words.items())
    return f"case {value} {whens} end"


IS_OBJECT = Check(
    "json",
    "json_type(json) <> 'OBJECT'",
    "which is not a JSON object",
    "write one object, in braces, for each judgment",
)


def has_key(field: str, words: str) -> Check:
    """A check that every object has the key `field`, as in the files that `words` name."""
    return Check(field, f"not json_exists(json, '/{field}')", "", f"write this key, as in {words}")


def first_keys(connection: Connection, path: str) -> set[str]:
    """The keys of the first object of a file, none if it is empty; DataError if it is absent or not
    JSON.
    """
    rows = _query_json(connection, path, "json_keys(json)", "limit 1")
    return set(rows[0][0]) if rows else set()


def count_objects(connection: Connection, path: str) -> int:
    """The number of values in a JSON file: its lines, the entries of its list, or one; DataError as
    of `create_objects`.
    """
    return _query_json(connection, path, "count(*)")[0][0]


def _query_json(connection: Connection, path: str, columns: str, rest: str = "") -> list[tuple]:
    with _reading_json(path):
        return connection.execute(f"select {columns} from {_objects(path)} {rest}").fetchall()


def create_objects(
    connection: Connection, path: str, fields: Sequence[str], checks: Sequence[Check], *, table: str
) -> dict[str, str]:
    """Create the temporary `table` of a file's objects: file, record (its line or entry), json, and
    `fields` as texts.

    Returns SQL for the value, as text, of each key that any object has, by alphabet. Raises
    DataError naming file and line or entry for malformed JSON, a value that is not an object, and
    the first object that breaks one of `checks`.
    """
    picked = "".join(f", {_text_at(field)} as {name(field)}" for field in fields)
    with _reading_json(path):
        lines = _object_lines(path)  # which SQL reads by this name
        record = "row_number() over () as record" if lines is None else "record"
        numbered = f"select {record}, json from {_objects(path)}" + (
            " positional join lines" if lines else ""
        )
        connection.execute(
            f"create or replace temp table {table} as select {text(path)} as file, *{picked} from"
            f" ({numbered})"
        )
    if not exists(connection, f"from {table}"):
        raise fault(path, "empty_file")
    raise_first_fault(connection, table, [IS_OBJECT])
    raise_keys_twice(connection, f"(select file, record, json_keys(json) as keys from {table})")
    if checks:
        raise_first_fault(connection, table, checks)
    keys = f"select distinct unnest(json_keys(json)) as key from {table} order by key"
    return {key: _text_at(key) for key in values_in(connection, keys)}


def raise_keys_twice(connection: Connection, rows: str) -> None:
    """Raise DataError about the first of `rows` (SQL: file, record, keys of an object) that has one
    of its keys twice.
    """
    twice = "list_filter(keys, lambda key, place: list_position(keys, key) < place)[1]"
    check = Check("key", "key is not null", "which an object has twice", "keep one of the two")
    raise_first_fault(connection, f"(select file, record, {twice} as key from {rows})", [check])


def _text_at(key: str) -> str:
    return f"json_extract_string(json, {text(_pointer(key))})"


def _pointer(key: str) -> str:
    return "/" + key.replace("~", "~0").replace("/", "~1")


@contextmanager
def _reading_json(path: str) -> Iterator[None]:
    if not isfile(path):
        raise fault(path, "no_file")
    with reading(path, wrong_in_json):
        yield


def wrong_in_json(path: str, complaint: str) -> str:
    """The place of the first fault in JSON; read again for the line: DuckDB counts neither blank
    lines nor those of a list.
    """
    if is_utf16(path):
        return f"{path}, line 1: {problem('utf16')}"
    with open(path, "rb") as file:
        pieces = enumerate(file, start=1) if path.endswith(".jsonl") else [(1, file.read())]
        for first, piece in pieces:
            try:
                if piece.strip():
                    json.loads(piece.decode("utf-8-sig").rstrip(), parse_int=str)
            except json.JSONDecodeError as error:
                line = first + error.lineno - 1
                return f"{path}, line {line}: {problem('malformed', why=error.msg)}"
            except UnicodeDecodeError as error:
                line = first + piece[: error.start].count(b"\n")
                return f"{path}, line {line}: {problem('not_utf8', why=error.reason)}"
            except RecursionError:
                return f"{path}, line {first}: {problem('too_deep')}"
    return f"{path}: {problem('unreadable', why=complaint.strip().splitlines()[0])}"


def _objects(path: str) -> str:
    """SQL that reads the objects of a file, in their order, as the column json."""
    largest, kind = max(Path(path).stat().st_size, 1000), "unstructured"
    if path.endswith(".jsonl"):
        kind = "newline_delimited"
    elif _first_character(path) == "[":
        kind = "array"
    if kind != "unstructured":
        largest = min(largest, LARGEST_LINE)
    settings = {
        "format": f"'{kind}'",
        "maximum_object_size": f"{largest + 1}",
        "compression": "'none'",
    }
    return reader("read_json_objects", [path], **settings)


def _first_character(path: str) -> str:
    """The first character of a file that is not blank; empty if there is none."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        while piece := file.read(1000):
            if piece.strip():
                return piece.strip()[0]
    return ""


def _object_lines(path: str) -> dict[str, np.ndarray] | None:
    """The line of each object of a JSON Lines file with blank lines; None for any other file.

    Warns if the last line has no line break, as in a file that was cut off.
    """
    if not path.endswith(".jsonl"):
        return None
    line, records = b"\n", []
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                records.append(number)
    if not line.endswith(b"\n"):
        warn(noted("cut_off", path=path))
    lines = np.array(records, np.int64)
    return {"record": lines} if len(lines) and lines[-1] != len(lines) else None


def longest_beginning(parts: Sequence[str], known: Collection[str]) -> str | None:
    """The longest known name that these parts, with dots between, begin with."""
    names = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
    return next((name for name in names if name in known), None)


class Table:
    """A file of rows, CSV, parquet or JSON, as config's `columns`, `values`, `missing` and
    `decimal` say that it is read.

    columns: their names. texts: SQL for each column as text, and for each value within one that was
    asked for. source: SQL for file, record and the columns that `texts` read. named: column of the
    project's table -> its name in the file. keys: path to a value within a column -> its last key.
    """

    def __init__(
        self,
        connection: Connection,
        path: str,
        settings: Mapping,
        *,
        within: Keys = (),
    ) -> None:
        """Open the file, and create a temporary table of its objects if it is JSON; DataError if it
        cannot be read.

        settings: config's `import`, or what is under the keys `within` there.
        """
        if not frame_at(path):
            check_name(path)
        self.path, self.settings, self.named, self.keys = path, settings, {}, {}
        self._within_import = within
        self._connection, self._asked = connection, settings.get("columns", {})
        if path.endswith((".jsonl", ".json")):
            table = f"objects_{path.encode().hex()}"  # several files are open at a time
            self.texts = create_objects(connection, path, (), (), table=table)
            self.columns, self.source = [*self.texts], table
            return
        file = RawFile.open(path)
        self.columns = [*file.columns]
        kinds: dict[str, str] = {}
        if path.endswith(".parquet") or frame_at(path):
            described = connection.execute(f"describe from {file.relation}").fetchall()
            kinds = {name(column): kind for column, kind, *_ in described}
        # By place: a column may have the name of one of the two that are added. Each is written as
        # text once, however often it is read.
        listed = ", ".join(
            f"{_as_text(stored, kinds.get(stored, ''))} as c{place}"
            for place, stored in enumerate(file.stored.values())
        )
        self.source = (
            f"(select {text(path)} as file, row_number() over () as record, {listed} from"
            f" {file.relation})"
        )
        self.texts = {column: f"c{place}" for place, column in enumerate(file.stored)}

    def has(self, key: str, *others: str) -> bool:
        """Whether there is a column or a constant for what config calls `key`, or a column named so
        or as one of `others`.
        """
        return key in self._asked or any(name in self.columns for name in (key, *others))

    def column(self, key: str, *others: str) -> str | None:
        """The file's name for what config calls `key`: the one that it gives, else the key itself
        or one of `others`.

        None if the file has none of these. DataError about a given name that the file does not
        have, or has twice.
        """
        if key in self._asked:
            return self.existing(key, self._asked[key])
        return next(
            (self.existing(key, name) for name in (key, *others) if name in self.columns), None
        )

    def needed(self, key: str, *others: str) -> str:
        """The same; DataError if there is no such column."""
        column = self.column(key, *others)
        if column is None:
            raise self._fault("no_column", key, key=key, is_constant=key in CONSTANT)
        return column

    def take(
        self, key: str, *others: str, needed: bool = False, number: bool = False
    ) -> str | None:
        """SQL for what config calls `key`, as a name or a number: a constant, or a column; None if
        there is neither, unless `needed`.

        The column's name is kept in the table's `named`.
        """
        asked = self._asked.get(key)
        if isinstance(asked, int | float):
            return text(str(asked))
        if isinstance(asked, Mapping) and "value" in asked:
            return text(str(asked["value"]))
        column = (self.needed if needed else self.column)(key, *others)
        if column is None:
            return None
        self.named[COLUMN_NAMES.get(key, key)] = column
        return self.number(column) if number else self.name(column)

    def take_all(self, keys: Iterable[str]) -> dict[str, str]:
        """SQL for each column of the table for which the file has what config calls by one of
        `keys`.
        """
        texts = {}
        for key in keys:
            column = COLUMN_NAMES.get(key, key)
            if value := self.take(key, column, number=key == PROBABILITY):
                texts[column] = value
        return texts

    def check_all(self, needed: Iterable[str], texts: Collection[str]) -> None:
        """DataError about the first of the `needed` keys whose column is not in `texts`."""
        for key in needed:
            column = COLUMN_NAMES.get(key, key)
            if column not in texts:
                self.needed(key, column)

    def existing(self, key: str, column: str) -> str:
        """The name of a column of the file; that of a value within one, `metadata.judge`, is added
        to `texts`.
        """
        if column not in self.columns and column not in self.texts:
            outer = longest_beginning(column.split("."), self.columns)
            if outer is not None:
                with reading(self.path):
                    self.texts[column] = self._within(column, self.existing(key, outer))
                return column
        if self.columns.count(column) > 1 or column not in self.texts:
            error = self._fault("no_such_column", column, key=key, is_twice=column in self.columns)
            error.setting = column
            raise error
        return column

    def _fault(self, code: str, column: str, *, key: str, **facts: object) -> DataError:
        """The error about a column that config calls `key`."""
        return fault(
            header_place(self.path),
            code,
            column=column,
            key=key,
            columns=self.columns,
            setting=Setting(*self._within_import, "columns", key),
            **facts,
        )

    def _within(self, column: str, outer: str) -> str:
        """SQL for the value at a path of keys, `outer.key.key`, within the objects of a column,
        which may be JSON as text.
        """
        given = (
            f"(select file, record, {missing_as_null(f'({self.texts[outer]})', MISSING)} as value"
            f" from {self.source})"
        )
        # A type of what is no JSON is an error
        kind = "case when json_valid(value) then json_type(value) else '' end"
        faulty = f"value is not null and {kind} not in ('OBJECT', 'ARRAY', 'NULL')"
        no_object = Check(
            "value",
            faulty,
            "which is not a JSON object",
            "write an object, in braces, or leave it empty",
        )
        raise_first_fault(self._connection, given, [no_object], named={"value": outer})
        rest, pointer = column.removeprefix(f"{outer}.").split("."), ""
        while rest:
            at = f"value, {text(pointer)}"
            raise_keys_twice(
                self._connection, f"(select file, record, json_keys({at}) as keys from {given})"
            )
            # The keys of objects; of lists, the places
            listed = f"""
                select distinct unnest(if(json_type({at}) = 'ARRAY',
                    range(json_array_length({at})::bigint)::varchar[], json_keys({at}))) as key
                from {given} order by key"""
            keys = values_in(self._connection, listed)
            key = longest_beginning(rest, keys)
            if key is None:
                raise fault(
                    header_place(self.path), "no_such_key", column=column, outer=outer, keys=keys
                )
            self.keys[column] = key
            pointer += _pointer(key)
            rest = rest[key.count(".") + 1 :]
        value = (
            f"json_extract_string({missing_as_null(f'({self.texts[outer]})', MISSING)},"
            f" {text(pointer)})"
        )
        return whole_in_json(value) if self.path.endswith(".parquet") else value

    def column_texts(self) -> dict[str, str]:
        """SQL for each column as text, without values within one; of none of a table in memory,
        which its user has.
        """
        return (
            {} if frame_at(self.path) else {column: self.texts[column] for column in self.columns}
        )

    def name(self, column: str) -> str:
        """SQL for a column of names, trimmed: NULL where empty."""
        return f"nullif(trim({self.texts[column]}), '')"

    def number(self, column: str) -> str:
        """SQL for a column of numbers: NULL where missing, however spelled."""
        return missing_as_null(f"({self._with_points(self.texts[column])})", MISSING_IN_SHEETS)

    def failure(self, column: str) -> str:
        """SQL for the failure that a column reports, by being empty or a value listed under
        `missing:`; else NULL.
        """
        value = self._with_points(self.texts[column])
        given_up = []
        for word in self.settings.get("missing", ()):
            given_up += equal_to(word, f"trim({value})", value)
        shown = f"'value ''' || trim({value}) || ''''"
        listed = f" when {' or '.join(given_up)} then {shown}" if given_up else ""
        empty = f"{missing_as_null(value, MISSING_IN_SHEETS)} is null"
        return f"case when {empty} then 'no value'{listed} end"

    def score(self, column: str) -> str:
        """SQL for a column of scores, trimmed, by `values:`; NULL where `failure` is not."""
        value, read_as = f"trim({self.texts[column]})", self.read_as(column)
        return (
            f"case when {self.failure(column)} is null then coalesce({read_as},"
            f" trim({self._with_points(value)})) end"
        )

    def answer(self, column: str) -> str:
        """SQL for a column that names an answer, trimmed, by `values:`; NULL where empty."""
        return f"coalesce({self.read_as(column)}, {self.name(column)})"

    def read_as(self, column: str) -> str:
        """SQL for what `values:` read a column's value as, in any case, numbers by their value;
        else NULL.
        """
        value, whens = f"trim({self.texts[column]})", []
        for word, meaning in self.settings.get("values", {}).items():
            for condition in equal_to(word, value, self._with_points(value)):
                whens.append(f"{condition} then {text(str(meaning))}")
        return f"case when {' when '.join(whens)} end" if whens else "null::varchar"

    def word(self, column: str) -> str:
        """SQL for the file's own word, trimmed, if `values:` gives it a meaning; else NULL."""
        return f"case when {self.read_as(column)} is not null then trim({self.texts[column]}) end"

    def _with_points(self, value: str) -> str:
        """SQL for a text in which, with `decimal: ","`, a decimal comma is a point, and a point
        makes it no number.
        """
        if self.settings.get("decimal", ".") == ".":
            return value
        comma = f"replace({value}, ',', '.')"
        point = f"contains({value}, '.') and as_number({value}) is not null"
        is_number = f"as_number({comma}) is not null"
        return (
            f"case when {point} then {value} || ' (with a point)' when {is_number} then {comma}"
            f" else {value} end"
        )


def _as_text(column: str, kind: str) -> str:
    """SQL for a column of a `kind`, DuckDB's type, as text; nested ones as JSON; without kind it is
    text.
    """
    nested = kind.startswith(("STRUCT", "MAP")) or kind.endswith("]")
    return (
        f"to_json({column})::varchar"
        if nested
        else column
        if kind in ("", "VARCHAR")
        else whole_as_text(column)
    )


def whole_in_json(value: str) -> str:
    """SQL for a text from JSON, where 3.0 is 3, as `whole_as_text` writes it."""
    return (
        f"case when regexp_full_match({value}, '-?[0-9]+[.]0+') then regexp_replace({value},"
        f" '[.]0+$', '') else {value} end"
    )


@dataclass(frozen=True)
class Spread:
    """The values of one key of `columns:` as rows, one for each of the `columns` that hold them.

    source: the rows, SQL as of Table. levels: SQL for what a row's column stands for, by the roles
    that have no column of their own; empty if one column holds all values.
    """

    source: str
    levels: Mapping[str, str]
    columns: Sequence[str]

    def each(self, value: Callable[[str], str]) -> str:
        """SQL for a value of each row, from the function that gives SQL for that of a column."""
        return _by_place([value(column) for column in self.columns])


def _by_place(values: Sequence[str]) -> str:
    """SQL for that of the values whose place is the row's `wide`."""
    if len(values) == 1:
        return values[0]
    whens = " ".join(f"when {place} then {value}" for place, value in enumerate(values))
    return f"case wide {whens} end"


def spread(file: Table, key: str, roles: Sequence[str], *, of_list: str | None = None) -> Spread:
    """Find the values of a key of `columns:`: a column, a list of columns, a mapping from names to
    columns, or from names to such mappings.

    roles: keys of `columns:`; the names stand for the first one that the file has no column for,
    those in two levels for the first two. of_list: the role of a list of columns, if always the
    same.
    """
    asked = file.settings.get("columns", {}).get(key)
    if asked is None or isinstance(asked, str):
        return Spread(file.source, {}, [file.needed(key)])
    columns = {}
    for names, column in names_and_columns(asked):
        file.existing(key, column)
        columns[column] = names or (file.keys.get(column, column),)
    depth = len(columns[column])
    absent = [role for role in roles if not file.has(role)]
    if of_list is not None and isinstance(asked, list):
        absent = [of_list]
    if len(absent) < depth:
        place = f"{header_place(file.path)}, columns of {key}s"
        present = [role for role in roles if file.has(role)]
        raise fault(place, "columns_and_column", present=present, key=key)
    if depth == 1 and {"judge", "model"} <= {*absent}:
        file.needed("judge")
    places = ", ".join(f"({place})" for place in range(len(columns)))
    levels = zip(absent, zip(*columns.values(), strict=True), strict=False)
    return Spread(
        f"(from {file.source} cross join (values {places}) as listed(wide))",
        {role: _by_place([*map(text, names)]) for role, names in levels},
        [*columns],
    )


def names_and_columns(asked: Sequence | Mapping) -> Iterator[tuple[tuple[str, ...], str]]:
    """The columns of a list, without names, or of a mapping from names to columns, in one level or
    two, each with its names.
    """
    if not isinstance(asked, Mapping):
        yield from (((), column) for column in asked)
        return
    for outer, inner in asked.items():
        if isinstance(inner, Mapping):
            yield from (((outer, other), column) for other, column in inner.items())
        else:
            yield (outer,), inner


def scores_in(file: Table, scores: Spread) -> dict[str, str]:
    """SQL for the columns of the table that a row's score fills."""
    return {
        "rating": scores.each(file.score),
        FAILURE: scores.each(file.failure),
        COLUMN: scores.each(text),
        WORD: scores.each(file.word),
    }


def between_steps(column: str, step: str = "step") -> str:
    """SQL for whether a number is not a whole number of steps (SQL)."""
    return f"abs({column} / {step} - round({column} / {step})) > {NEAR}"


def in_steps(column: str, step: str) -> str:
    """SQL for a number in steps (SQL), without the rounding error of a division by 0.1."""
    return f"round({column} / {step}, 9)"


def whole(column: str, step: str) -> str:
    """SQL for a whole number of steps, the nearest one; between two, that farther from 0."""
    return f"round({in_steps(column, step)})"


def value_checks(
    column: str,
    *,
    stepped: bool = True,
    missing: Setting = GIVEN_UP,
    scale: str = "scale",
    where: str = "",
) -> tuple[Check, ...]:
    """Check that a value is a number on the scale of its dimension and, if `stepped` and not to be
    rounded, whole in steps.

    Reads the column as text and as <column>_number, step, finest, rounded and observed. missing:
    the setting that may list failures. scale: the ends are <scale>_low and <scale>_high. where: SQL
    for the file's name of the column, if rows differ.
    """
    value, low, high = f"{column}_number", f"{scale}_low", f"{scale}_high"

    def on_scale(row: Mapping) -> str:
        return problem(
            "on_scale",
            low=row[low],
            high=row[high],
            observed=row["observed"],
            step=row["step"] if stepped and not row["rounded"] else 1,
        )

    def no_number(row: Mapping) -> str:
        has_comma = re.fullmatch(DECIMAL_COMMA, row[column]) is not None
        given = on_scale(row)
        return problem("no_number_on_scale", on_scale=given, missing=missing, has_comma=has_comma)

    def off_scale(row: Mapping) -> str:
        return problem("off_scale", on_scale=on_scale(row), missing=missing)

    def between_two(row: Mapping) -> str:
        return problem("between_steps", on_scale=on_scale(row), finest=row["finest"])

    off = (
        f"{value} is not null and not {value} between {low} and coalesce({high}, 1e9 *"
        " least(step, 1))"
    )
    checks = [
        Check(
            column,
            f"{column} is not null and {value} is null",
            "which is not a number",
            no_number,
            values_hint,
            where,
        ),
        Check(column, off, "which is off the scale of the dimension", off_scale, where=where),
    ]
    if stepped:
        between = f"not rounded and {between_steps(value)}"
        checks.append(
            Check(
                column,
                between,
                "which is between two steps of the scale",
                between_two,
                where=where,
            )
        )
    return tuple(checks)


def values_hint(values: Sequence[str]) -> str:
    """The lines of config that accept words in place of numbers, as failures or as ratings.

    values: most frequent first. Empty if there are too many or too long ones, or digits.
    """
    words: dict[str, str] = {}
    for value in values:
        words.setdefault(value.strip().lower(), value.strip())
        if len(value) > LONGEST or any(map(str.isdigit, value)):
            return ""
    if len(values) > MOST_LISTED:
        return ""
    as_is = set() if are_arguments() else BOOLEAN_WORDS  # which YAML reads in any case
    listed = ", ".join(f"{word if word in as_is else written(word)}: <number>" for word in words)
    return problem("values_hint", words=[*words.values()], listed=listed)
