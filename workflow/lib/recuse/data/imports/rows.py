"""Objects of JSON Lines files, of JSON files that hold one list, and of JSON files that are one object, read by DuckDB.

What a reader of a format gives: the rows of a file as texts, under the names that the project's tables have.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os.path import isfile
from pathlib import Path

import duckdb
import numpy as np

from recuse.base.database import literal_path, name, text
from recuse.base.errors import DataError
from recuse.base.tables import COMPARISONS
from recuse.data.faults import Check, fault_number, raise_first_fault
from recuse.data.files import SOURCE, is_utf16

RATING_COLUMNS = ("judge", "model", "prompt_id", "dimension", "dataset", "rating", "gt", "pred_length")
VERDICT_COLUMNS = COMPARISONS
KEPT = "kept: "  # before the name of a further column, as long as others of any name stand beside it
ALL = "all"  # the dataset of judgments that name none
FAILURE = "failure"  # column of an imported table: what went wrong with this judgment, empty if nothing did


@dataclass(frozen=True)
class Rows:
    """The rows of a file: SQL with the columns file, record, failure, those of the table, and `kept`.

    All but record are texts, NULL where there is nothing. `failure` says why there is no judgment, NULL where there is one.
    named: what the file calls a column of the table, for messages. kept: columns of the file that the table does not have; in
    the SQL each stands under its name with KEPT before it.
    """

    sql: str
    named: Mapping[str, str] = field(default_factory=dict)
    kept: Sequence[str] = ()


def kept_names(columns: Iterable[str], table: Sequence[str]) -> dict[str, str]:
    """A name for each further column of a file that no column of the imported `table` has: column -> name.

    SQL does not tell upper from lower case; one that would be taken for another gets a number.
    """
    taken, named = {column.lower() for column in (*table, *SOURCE, FAILURE)}, {}
    for column in columns:
        free, number = column or "unnamed", 1
        while free.lower() in taken:
            number += 1
            free = f"{column or 'unnamed'} ({number})"
        taken.add(free.lower())
        named[column] = free
    return named


def further(table: str, kept: Sequence[str]) -> str:
    """SQL that goes on with the `kept` columns of a `table` of rows, under the names that they are to have."""
    return "".join(f", {table}.{name(KEPT + column)} as {name(column)}" for column in kept)


def selected(columns: Mapping[str, str], table: Sequence[str], kept: Mapping[str, str], source: str) -> str:
    """SQL for Rows: `columns` of the `table`, each an SQL expression, NULL if not given; `kept`: name -> expression.

    columns may also give `failure`; `source` is a relation with file and record.
    """
    given = {column: columns.get(column, "null") for column in (*table, FAILURE)} | {
        f"{KEPT}{column}": value for column, value in kept.items()
    }
    picked = ", ".join(f"({value})::varchar as {name(column)}" for column, value in given.items())
    return f"select file, record, {picked} from {source}"


NEWLINE = b"\n"
LARGEST_LINE = 64_000_000  # bytes of one object among many; a file that is one object may be of any size
NO_OBJECT = Check("json", "json_type(json) <> 'OBJECT'", "which is no JSON object", "'write one object, in braces, for each'")


def first_object(connection: duckdb.DuckDBPyConnection, path: str) -> dict:
    """The keys of the first object of a file, in its order; {} of an empty file; DataError if it is not there or is no JSON."""
    with reading_json(path):
        row = connection.execute(f"select json from {_objects(path)} limit 1").fetchone()
    if row is None:
        return {}
    (found,) = row
    if connection.execute("select json_type(?::json)", [found]).fetchone() != ("OBJECT",):
        return {}
    return dict.fromkeys(connection.execute("select json_keys(?::json)", [found]).fetchone()[0])


def create_objects(
    connection: duckdb.DuckDBPyConnection, path: str, fields: Mapping[str, str], checks: Sequence[Check], *, table: str
) -> list[str]:
    """Create the temporary `table` of a file's objects: file, record (its line or entry), json, and `fields` as texts.

    fields: name -> JSON pointer, such as /judge/0. Returns the keys of all objects, by alphabet. Raises DataError naming file
    and line or entry for malformed JSON, a value that is no object, and the first object that breaks one of `checks`, which
    may read `json` and the fields.
    """
    picked = "".join(f", json_extract_string(json, {text(at)}) as {name(field)}" for field, at in fields.items())
    with reading_json(path):
        lines = _lines_of_objects(path)  # which SQL reads by this name
        record = "row_number() over () as record" if lines is None else "record"
        numbered = f"select {record}, json from {_objects(path)}" + (" positional join lines" if lines else "")
        connection.execute(f"create or replace temp table {table} as select {text(path)} as file, *{picked} from ({numbered})")
    if connection.execute(f"select count(*) from {table}").fetchone() == (0,):
        raise DataError(f"{path}: the file holds nothing; it needs one object for each judgment")
    for each in ((NO_OBJECT,), checks):
        if each:
            raise_first_fault(connection, f"(select *, {fault_number(each)} as fault from {table})", each)
    keys = connection.execute(f"select distinct unnest(json_keys(json)) as key from {table} order by key").fetchall()
    return [key for (key,) in keys]


def there(field: str, words: str) -> Check:
    """A check that every object has the key `field`, as `words` do."""
    return Check(field, f"not json_exists(json, '/{field}')", "which is not there", f"'write {field}, as {words} have it'")


def pointer(key: str) -> str:
    """The JSON pointer of a key."""
    return "/" + key.replace("~", "~0").replace("/", "~1")


def kept_fields(keys: Iterable[str], table: Sequence[str]) -> dict[str, str]:
    """Further keys of objects, to be kept beside the columns of a `table`: name there -> SQL for its value as text."""
    return {free: f"json_extract_string(json, {text(pointer(key))})" for key, free in kept_names(keys, table).items()}


@contextmanager
def reading_json(path: str) -> Iterator[None]:
    """Turn DuckDB's complaint about a JSON file into the project's own, with the line."""
    if not isfile(path):
        raise DataError(f"{path}: no such file; name an existing one under `import: files` in config")
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        if "No space left" in str(error):
            raise
        raise DataError(_what_is_wrong(path, str(error))) from error


def _what_is_wrong(path: str, complaint: str) -> str:
    """Where a file is no JSON, and why; it is read again to tell the line, of which DuckDB counts neither blank ones nor those
    of a list.
    """
    mend = "mend that place, or write the file again"
    if is_utf16(path):
        return f"{path}, line 1: not UTF-8 (it is UTF-16); save it as UTF-8"
    with open(path, "rb") as file:
        pieces = enumerate(file, start=1) if path.endswith(".jsonl") else [(1, file.read())]
        for first, piece in pieces:
            try:
                if piece.strip():
                    json.loads(piece.decode("utf-8-sig").rstrip(), parse_int=str)
            except json.JSONDecodeError as error:
                return f"{path}, line {first + error.lineno - 1}: malformed JSON ({error.msg}); {mend}"
            except UnicodeDecodeError as error:
                return (
                    f"{path}, line {first + piece[: error.start].count(NEWLINE)}: not UTF-8 ({error.reason}); save it as UTF-8"
                )
            except RecursionError:
                return f"{path}, line {first}: lists within lists beyond what can be read; {mend}"
    return f"{path}: cannot be read: {complaint.strip().splitlines()[0]}"


def _objects(path: str) -> str:
    """SQL that reads the objects of a file as the column json, in their order."""
    largest = max(Path(path).stat().st_size, 1000)
    kind = "newline_delimited"
    if not path.endswith(".jsonl"):
        kind = "array" if _begins(path) == "[" else "unstructured"
    largest = largest if kind == "unstructured" else min(largest, LARGEST_LINE)
    return f"read_json_objects({literal_path(path)}, format='{kind}', maximum_object_size={largest + 1}, compression='none')"


def _begins(path: str) -> str:
    """The first character of a file that is not blank."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        while piece := file.read(1000):
            if piece.strip():
                return piece.strip()[0]
    return ""


def _lines_of_objects(path: str) -> dict[str, np.ndarray] | None:
    """The line of each object of a JSON Lines file with blank lines, which are no objects; None of any other file."""
    if not path.endswith(".jsonl"):
        return None
    with open(path, "rb") as file:
        lines = np.fromiter((number for number, line in enumerate(file, start=1) if line.strip()), np.int64)
    return {"record": lines} if len(lines) and lines[-1] != len(lines) else None
