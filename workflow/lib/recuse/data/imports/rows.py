"""Files of judgments as rows of text, under the names of the project: JSON objects, and tables with columns of any names.

Values are in the units of the files; this module also checks them and turns them into whole numbers of steps.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path

import numpy as np

from recuse.base.database import Connection, create_table, frame_at, name, reader, text
from recuse.base.errors import DataError
from recuse.base.tables import COMPARISONS
from recuse.data.faults import Check, raise_first_fault
from recuse.data.files import (
    MISSING,
    SOURCE,
    as_number,
    columns_of,
    header_of,
    is_number,
    is_utf16,
    missing_as_null,
    read_as_texts,
    reading,
    whole_as_text,
    with_commas,
)
from recuse.data.registry import OBSERVED, check_name, finest_step

RATING_COLUMNS = ("judge", "model", "prompt_id", "dimension", "dataset", "rating", "gt", "pred_length")
VERDICT_COLUMNS = COMPARISONS
KEPT = "kept: "  # before the name of a further column, until the table is written
ALL = "all"  # the dataset of judgments that name none
FAILURE = "failure"  # column of an imported table: why a judgment is missing, else empty
MISSING_IN_SHEETS = (*MISSING, "#n/a")
LARGEST_LINE = 64_000_000  # bytes of one object among many; a file that is one object may be of any size
NEAR = 1e-9  # of a step: values are decimals, steps may be 0.1
NEAREST = (
    " of `import` in config' || case when finest is null then '' else '; for scores with any number of digits, `step: ' || "
    "printf('%g', finest) || '` with `round: true`, which rounds each to the nearest step' end"
)
OF_SCALE = "scale_low, scale_high, step, finest, coalesce(rounded, false) as rounded, coalesce(observed, false) as observed"


@dataclass(frozen=True)
class Rows:
    """The rows of a file: SQL with the columns file, record, failure, those of the table, and `kept`.

    All but record are texts, NULL if empty; `failure` is why a judgment is missing. named: column of the table -> its name in
    the file, for messages. kept: further columns of the file, which the SQL names with KEPT before their name.
    """

    sql: str
    named: Mapping[str, str]
    kept: Sequence[str]
    scores: str | None = None  # SQL for human scores or gold labels in the same file, as logs.SCORED

    @property
    def on_one_line(self) -> set[str]:
        """The file's columns of names and numbers; a prompt or question may be its own id."""
        return {in_file for column, in_file in self.named.items() if column not in ("prompt_id", "item")}


def rows_of(
    source: str,
    columns: Mapping[str, str],
    table: Sequence[str],
    *,
    named: Mapping[str, str],
    texts: Mapping[str, str],
    used: Collection[str],
    besides: Mapping[str, str] | None = None,
) -> Rows:
    """Rows of a `source`, a relation (SQL) with file and record.

    columns: SQL for the columns of the `table` and for `failure`; NULL if absent. texts: SQL for each column of the file; those
    not `used` are kept, with a number after a name that is taken, in any case; so is what is in `besides`.
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
    values = {column: columns.get(column, "null") for column in (*table, FAILURE)}
    values |= {f"{KEPT}{column}": value for column, value in kept.items()}
    picked = ", ".join(f"({value})::varchar as {name(column)}" for column, value in values.items())
    return Rows(f"select file, record, {picked} from {source}", named, tuple(kept))


def further(table: str, kept: Sequence[str]) -> str:
    """The end of an SQL list of columns: the `kept` ones of a `table` of rows, under their own names."""
    return "".join(f", {table}.{name(KEPT + column)} as {name(column)}" for column in kept)


def case_of(value: str, words: Mapping[str, str], otherwise: str = "null") -> str:
    """SQL for the word that `words` give for a value (SQL), else `otherwise` (SQL)."""
    whens = " ".join(f"when {text(one)} then {text(other)}" for one, other in words.items())
    return f"case {value} {whens} else {otherwise} end"


def required(field: str, words: str) -> Check:
    """A check that every object has the key `field`, as in the files that `words` name."""
    return Check(field, f"not json_exists(json, '/{field}')", "", f"'write this key, as in {words}'")


def first_keys(connection: Connection, path: str) -> set[str]:
    """The keys of the first object of a file, none if it is empty; DataError if it is absent or not JSON."""
    with _reading_json(path):
        rows = connection.execute(f"select json_keys(json) from {_objects(path)} limit 1").fetchall()
    return set(rows[0][0]) if rows else set()


def count_objects(connection: Connection, path: str) -> int:
    """The number of values in a JSON file: its lines, the entries of its list, or one; DataError as of `create_objects`."""
    with _reading_json(path):
        return connection.execute(f"select count(*) from {_objects(path)}").fetchone()[0]


def create_objects(
    connection: Connection, path: str, fields: Sequence[str], checks: Sequence[Check], *, table: str
) -> dict[str, str]:
    """Create the temporary `table` of a file's objects: file, record (its line or entry), json, and `fields` as texts.

    Returns SQL for the value, as text, of each key that any object has, by alphabet. Raises DataError naming file and line or
    entry for malformed JSON, a value that is not an object, and the first object that breaks one of `checks`.
    """
    picked = "".join(f", {_text_at(field)} as {name(field)}" for field in fields)
    with _reading_json(path):
        lines = _lines_of_objects(path)  # which SQL reads by this name
        record = "row_number() over () as record" if lines is None else "record"
        numbered = f"select {record}, json from {_objects(path)}" + (" positional join lines" if lines else "")
        connection.execute(f"create or replace temp table {table} as select {text(path)} as file, *{picked} from ({numbered})")
    if connection.execute(f"select count(*) from {table}").fetchone() == (0,):
        raise DataError(f"{path}: the file holds nothing; it needs one object for each judgment")
    no_object, remedy = "json_type(json) <> 'OBJECT'", "'write one object, in braces, for each judgment'"
    raise_first_fault(connection, table, [Check("json", no_object, "which is not a JSON object", remedy)])
    raise_keys_twice(connection, f"(select file, record, json_keys(json) as keys from {table})")
    if checks:
        raise_first_fault(connection, table, checks)
    keys = connection.execute(f"select distinct unnest(json_keys(json)) as key from {table} order by key").fetchall()
    return {key: _text_at(key) for (key,) in keys}


def raise_keys_twice(connection: Connection, rows: str) -> None:
    """Raise DataError about the first of `rows` (SQL: file, record, keys of an object) that has one of its keys twice."""
    twice = "list_filter(keys, lambda key, place: list_position(keys, key) < place)[1]"
    check = Check("key", "key is not null", "which an object has twice", "'keep one of the two'")
    raise_first_fault(connection, f"(select file, record, {twice} as key from {rows})", [check])


def _text_at(key: str) -> str:
    pointer = "/" + key.replace("~", "~0").replace("/", "~1")
    return f"json_extract_string(json, {text(pointer)})"


@contextmanager
def _reading_json(path: str) -> Iterator[None]:
    if not isfile(path):
        raise DataError(f"{path}: no such file; name an existing one under `import: files` in config")
    with reading(path, wrong_in_json):
        yield


def wrong_in_json(path: str, complaint: str) -> str:
    """The place of the first fault in JSON; read again for the line: DuckDB counts neither blank lines nor those of a list."""
    remedy = "correct it, or write the file again"
    if is_utf16(path):
        return f"{path}, line 1: not UTF-8 (it is UTF-16); save it as UTF-8"
    with open(path, "rb") as file:
        pieces = enumerate(file, start=1) if path.endswith(".jsonl") else [(1, file.read())]
        for first, piece in pieces:
            try:
                if piece.strip():
                    json.loads(piece.decode("utf-8-sig").rstrip(), parse_int=str)
            except json.JSONDecodeError as error:
                return f"{path}, line {first + error.lineno - 1}: malformed JSON ({error.msg}); {remedy}"
            except UnicodeDecodeError as error:
                line = first + piece[: error.start].count(b"\n")
                return f"{path}, line {line}: not UTF-8 ({error.reason}); save it as UTF-8"
            except RecursionError:
                return f"{path}, line {first}: lists nested too deeply to be read; {remedy}"
    return f"{path}: cannot be read: {complaint.strip().splitlines()[0]}"


def _objects(path: str) -> str:
    """SQL that reads the objects of a file, in their order, as the column json."""
    largest, kind = max(Path(path).stat().st_size, 1000), "newline_delimited"
    if not path.endswith(".jsonl"):
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            first = next((piece.strip()[0] for piece in iter(lambda: file.read(1000), "") if piece.strip()), "")
        kind = "array" if first == "[" else "unstructured"
    largest = largest if kind == "unstructured" else min(largest, LARGEST_LINE)
    settings = {"format": f"'{kind}'", "maximum_object_size": f"{largest + 1}", "compression": "'none'"}
    return reader("read_json_objects", [path], **settings)


def _lines_of_objects(path: str) -> dict[str, np.ndarray] | None:
    """The line of each object of a JSON Lines file with blank lines; None for any other file."""
    if not path.endswith(".jsonl"):
        return None
    with open(path, "rb") as file:
        lines = np.fromiter((number for number, line in enumerate(file, start=1) if line.strip()), np.int64)
    return {"record": lines} if len(lines) and lines[-1] != len(lines) else None


class Table:
    """A file of rows, CSV, parquet or JSON.

    columns: their names. texts: SQL for each column as text. source: SQL for file, record and the columns that `texts` read.
    """

    def __init__(self, connection: Connection, path: str, *, table: str) -> None:
        """Open the file, and create the temporary `table` of its objects if it is JSON; DataError if it cannot be read."""
        if not frame_at(path):
            check_name(path)
        self.path = path
        if path.endswith((".jsonl", ".json")):
            self.texts = create_objects(connection, path, (), (), table=table)
            self.columns, self.source = [*self.texts], table
            return
        self.columns = columns_of(connection, path, ("the names of its columns",))
        relation, texts = read_as_texts(path, self.columns)
        # By place: a column may have the name of one of the two that are added.
        listed = ", ".join(f"{texts[column]} as c{place}" for place, column in enumerate(self.columns))
        self.source = f"(select {text(path)} as file, row_number() over () as record, {listed} from {relation})"
        as_text = whole_as_text if path.endswith(".parquet") or frame_at(path) else str
        self.texts = {column: as_text(f"c{place}") for place, column in enumerate(self.columns)}

    def column(self, named: Mapping[str, str], key: str, *others: str) -> str | None:
        """The file's name for what config calls `key`: the one in `named`, else the key itself or one of `others`.

        None if the file has none of these. DataError about a name in `named` that the file does not have, or has twice.
        """
        column = named[key] if key in named else next((name for name in (key, *others) if name in self.columns), None)
        if column is not None and self.columns.count(column) != 1:
            problem = "found twice; the file has" if column in self.columns else "missing; found"
            remedy = f"write the name of one of them under `columns: {key}` in config"
            raise DataError(f"{header_of(self.path)}, column {column}: {problem} {', '.join(self.columns)}; {remedy}")
        return column

    def needed(self, named: Mapping[str, str], key: str, *others: str) -> str:
        """The same; DataError if there is no such column."""
        column = self.column(named, key, *others)
        if column is None:
            remedy = with_commas(self.columns[0]) if len(self.columns) == 1 else ""
            remedy = remedy or f"name one of them under `columns:` in config, as in `{{{key}: <its name here>}}`"
            raise DataError(f"{header_of(self.path)}, column {key}: missing; found {', '.join(self.columns)}; {remedy}")
        return column

    def name(self, column: str) -> str:
        """SQL for a column of names, trimmed: NULL where empty."""
        return f"trim({missing_as_null(f'({self.texts[column]})', ('',))})"

    def number(self, column: str) -> str:
        """SQL for a column of numbers: NULL where missing, however spelled."""
        return missing_as_null(f"({self.texts[column]})", MISSING_IN_SHEETS)

    def score(self, column: str, given_up: Sequence[str]) -> tuple[str, str]:
        """SQL for a column of scores, trimmed, and for its `failure_of`: one of the two is NULL."""
        failure = failure_of(self.texts[column], given_up)
        return f"case when {failure} is null then trim({self.texts[column]}) end", failure


def failure_of(value: str, given_up: Sequence[str]) -> str:
    """SQL for the failure that a value (SQL, text) reports, by being empty or one of `given_up`; else NULL."""
    shown = f"'value ''' || trim({value}) || ''''"
    words = ", ".join(text(str(word).strip().lower()) for word in given_up)
    numbers = ", ".join(f"{float(word)!r}::double" for word in given_up if is_number(word))
    conditions = [f"lower(trim({value})) in ({words})"] if words else []
    conditions += [f"{as_number(value)} in ({numbers})"] if numbers else []
    listed = f" when {' or '.join(conditions)} then {shown}" if conditions else ""
    return f"case when {missing_as_null(value, MISSING_IN_SHEETS)} is null then 'no value'{listed} end"


def create_scales(connection: Connection, scales: Mapping, settings: Mapping) -> None:
    """Create the table `declared` of the scales of config: dimension, and the columns in OF_SCALE.

    settings: config's `import`. An observed scale starts at 0 and has no end. finest: the finest step that these scales could
    have. rounded: whether a value between two steps is rounded to the nearest one.
    """
    of_all = (settings.get("step", 1), finest_step(scales), settings.get("round", False))
    rows = (
        (dimension, 0, None, *of_all, True) if scale == OBSERVED else (dimension, *scale, *of_all, False)
        for dimension, scale in scales.items()
    )
    columns = "scale_low double, scale_high double, step double, finest double, rounded boolean, observed boolean"
    create_table(connection, "declared", f"dimension varchar, {columns}", rows)


def between_steps(column: str) -> str:
    """SQL for whether a number is not a whole number of steps (`step`)."""
    return f"abs({column} / step - round({column} / step)) > {NEAR}"


def in_steps(column: str, step: float) -> str:
    """SQL for a number in steps, without the rounding error of a division by 0.1."""
    return f"round({column} / {step!r}::double, 9)"


def whole(column: str, step: float) -> str:
    """SQL for a whole number of steps, the nearest one; between two, that farther from 0."""
    return f"round({in_steps(column, step)})"


def value_checks(column: str, *, stepped: bool = True, under: str = "`missing:`") -> tuple[Check, ...]:
    """Check that a value is a number on the scale of its dimension and, if `stepped` and not to be rounded, whole in steps.

    Reads the column as text and as <column>_number, and OF_SCALE. under: the key of config that may list failures.
    """
    value = f"{column}_number"
    steps = " || case when step = 1 or rounded then '' else ' in steps of ' || printf('%g', step) end" if stepped else ""
    scale = f"""'write a number' || case when observed then ', 0 or more' else
                ' from ' || printf('%g', scale_low) || ' to ' || printf('%g', scale_high) end{steps}"""
    failed = f"{scale} || ', leave it empty if missing, or, if it marks a failure, list it under {under} in config'"
    off = f"{value} is not null and not {value} between scale_low and coalesce(scale_high, 1e9 * least(step, 1))"
    checks = (
        Check(column, f"{column} is not null and {value} is null", "which is not a number", failed, config_key="missing"),
        Check(column, off, "which is off the scale of the dimension", failed),
    )
    between, remedy = f"not rounded and {between_steps(value)}", f"{scale} || ', or write the step under `step:`{NEAREST}"
    return (*checks, Check(column, between, "which is between two steps of the scale", remedy)) if stepped else checks
