"""Reading a file of judge ratings as it comes: its columns, its rows as text, and what is wrong with them.

The values that break the same check as the first faulty row does, for its message.

What an imported table says of itself: where each row comes from, and the families of models that config does not know.

How a file's characters are encoded, where its first bytes say that it is not UTF-8.
"""

import csv
import gzip
import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os.path import exists, isfile
from pathlib import Path
from typing import TextIO

import duckdb

from recuse.base.database import connect, files, literal_path, name, text
from recuse.base.errors import DataError
from recuse.base.words import enumerated

MOST_SHOWN = 5  # values in a message
MOST_LISTED = 20  # values in a line for config
LONGEST = 40  # characters of a value that is shown whole beside others
LONGEST_ALONE = 200


def shortened(value: str, longest: int = LONGEST_ALONE) -> str:
    """A value as a message shows it: a whole conversation would hide the rest."""
    return value if len(value) <= longest else f"{value[:longest]}..."


def other_values(
    connection: duckdb.DuckDBPyConnection, rows: str, column: str, fault: int, first: str | None, *, key: str = ""
) -> tuple[str, str]:
    """Words for the other values of a faulty column, most frequent first, and the line of config that lists all of them.

    rows: a table or SQL with `column` and fault, the number of the check that a row breaks. first: the value that is named
    already. key: of config, which may list such values. The line is empty without a key, where the values are too many, and
    where a digit is in one: it may hold a number, such as 7,5.
    """
    found = connection.execute(f"""
        select value, count(*) over ()
        from (select left({name(column)}::varchar, {LONGEST + 1}) as value, count(*) as n
              from {rows} where fault = {fault} and {name(column)} is not null group by all)
        order by n desc, value limit {MOST_LISTED + 1}""").fetchall()
    others = [value for value, _ in found if value != (first or "")[: LONGEST + 1]]
    shown = [f"'{shortened(value, LONGEST)}'" for value in others[:MOST_SHOWN]]
    rest = found[0][1] - (first is not None) - len(shown) if found else 0
    shown += [f"{rest} other value{'s' * (rest > 1)}"] if rest else []
    words = f", with {enumerated(shown)}" if shown else ""
    return words, _line(key, [value for value, _ in found]) if key else ""


def _line(key: str, values: list[str]) -> str:
    """The line of config that lists these values, upper and lower case being one there; empty if it cannot be told."""
    unlike: dict[str, str] = {}
    for value in map(str.strip, values):
        unlike.setdefault(value.lower(), value)
    if len(values) > MOST_LISTED or any(len(value) > LONGEST or any(map(str.isdigit, value)) for value in values):
        return ""
    import yaml  # only here: a message is rare

    listed = yaml.safe_dump([*unlike.values()], default_flow_style=True, allow_unicode=True, width=float("inf"))
    return f", as in `{key}: {listed.strip()}`"


SOURCE = ("source_file", "source_record")  # columns: where each row comes from
FAMILIES = "families"  # key of the footer


def place_in(path: str, own: Mapping[str, str]) -> str:
    """SQL for file and record of a row of the file at `path`; of an imported table, which is parquet, where the row comes from.

    own: the columns of the file, as by `recuse.data.files.read_as_texts`.
    """
    if set(SOURCE) <= set(own) and path.endswith(".parquet"):
        return f"{own[SOURCE[0]]} as file, {own[SOURCE[1]]} as record"
    return f"{text(path)} as file, row_number() over () as record"


def families_in(paths: Iterable[str]) -> dict[str, str]:
    """Name -> family of the models that the footers of these files list; a file that is no imported table lists none."""
    found: dict[str, str] = {}
    for path in paths:
        if path.endswith(".parquet") and isfile(path):
            query = f"select decode(value) from parquet_kv_metadata({literal_path(path)}) where decode(key) = {text(FAMILIES)}"
            try:
                row = connect().execute(query).fetchone()
            except duckdb.Error:  # its reader says what is wrong with it
                continue
            found |= json.loads(row[0]) if row else {}
    return found


def with_families(families: Mapping[str, str]) -> str:
    """SQL for the option of `copy` that puts families into the footer of a parquet file."""
    return f"kv_metadata {{{FAMILIES}: {text(json.dumps(families, ensure_ascii=False))}}}"


def is_utf16(path: str) -> bool:
    """Whether the first bytes of a file (plain or gzip) are the mark of UTF-16. Raises what reading raises."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE)


REQUIRED = ("judge", "model", "gt", "dataset", "prompt_id", "rating")
OPTIONAL = ("pred_length", "dimension")
NUMBERED = ("gt", "rating", "pred_length")
LONGEST_FIELD = 2**31 - 1  # characters: a column that is not read may hold whole prompts
UNITS = {".parquet": "row", ".jsonl": "line", ".json": "entry", ".eval": "entry"}  # what a file's records are called
LENGTHS = "between 0 and 1e9"  # SQL: what a number must be to be a length in tokens
MISSING = ("", "na", "n/a", "nan", "null", "none")  # in lower case: what stands for a missing number


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
    listed: str = ""  # key of config that may list such values, if there is one


# Of every file that rates completions.
NAMES_MODEL = Check("model", "model is null", "which names no model", "'write the id of the model that was rated'")
NAMES_PROMPT = Check("prompt_id", "prompt_id is null", "which names no prompt", "'write the id of the prompt'")
KNOWN_MODEL = Check(
    "model",
    "model_name is null",
    "an id that the registry does not know",
    "'write a known id or add this one to a model under `models:` in config'",
)
RATING_ON_SCALE = (
    Check(
        "rating",
        "rating is not null and rating_number is null",
        "which is not a number",
        "'write an integer from ' || scale_low || ' to ' || scale_high || ', or leave it empty if missing'",
    ),
    Check(
        "rating",
        "rating_number is not null and not (rating_number between scale_low and scale_high "
        "and rating_number = round(rating_number))",
        "which is off the scale of the dimension",
        "'write an integer from ' || scale_low || ' to ' || scale_high",
    ),
)


def columns_of(connection: duckdb.DuckDBPyConnection, path: str, needed: Sequence[str] = REQUIRED) -> list[str]:
    """Names of the columns of a CSV (plain or gzip) or parquet file; DataError if it is absent, empty or unreadable."""
    if re.search("[\ud800-\udfff]", path):  # which stand for bytes that are no UTF-8
        raise DataError(f"{path!a}: the name is not UTF-8; rename the file")
    if not exists(path):
        raise DataError(f"{path}: no such file; name an existing CSV or parquet file in config")
    if not isfile(path):
        raise DataError(f"{path}: a folder or a pipe, and files are read more than once; save it as a CSV or parquet file")
    if path.endswith(".parquet"):
        with reading(path):
            return list(connection.execute(f"select * from {files([path])} limit 0").fetchnumpy())
    try:
        with _open_csv(path) as file:
            header = next(csv.reader(file), [])
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, csv.Error) as error:
        problem = "it is UTF-16" if isinstance(error, UnicodeDecodeError) and is_utf16(path) else error
        raise DataError(f"{path}, line 1: not a UTF-8 CSV file ({problem}); save it as UTF-8") from error
    if not header:
        raise DataError(f"{path}: the file is empty; it needs a header line with {', '.join(needed)}")
    return header


def check_columns(path: str, columns: Sequence[str], needed: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Raise DataError unless every needed column is there, and each column that is read stands once."""
    for column in needed:
        if column not in columns:
            separator = next((mark for mark in (";", "\t", "|") if mark in columns[0]), None)
            alike = next((other for other in columns if other.strip().lower() == column), None)
            mend = f"needed {', '.join(needed)}"
            if separator is not None:
                mend = f"the fields are separated by {separator!r}; save the file with commas"
            elif alike is not None:
                mend = f"rename '{alike}' to '{column}'"
            elif column == "dimension":
                mend = "add it, or name the dimension of the whole file: files: {<dimension>: <file>} in config"
            elif column == "gt":
                mend = "add it, and leave it empty if no row has a human score"
            elif optional:
                mend += f" ({', '.join(optional)} {'is' if len(optional) == 1 else 'are'} optional)"
            raise DataError(f"{header_of(path)}, column {column}: not there; found {', '.join(columns)}; {mend}")
    for column in (*needed, *optional):
        if list(columns).count(column) > 1:
            raise DataError(f"{header_of(path)}, column {column}: stands twice; keep one")


def header_of(path: str) -> str:
    """Where the names of a file's columns are: the first line of a CSV file; a parquet file has no lines."""
    return path if path.endswith(".parquet") else f"{path}, line 1"


def checked_columns(connection: duckdb.DuckDBPyConnection, source: RatingsFile) -> list[str]:
    """Names of the columns of a file of ratings; DataError if it is absent or lacks one that is needed."""
    columns = columns_of(connection, source.path)
    named = source.dimension is not None  # then the column need not be there
    needed = REQUIRED if named else (*REQUIRED, "dimension")
    check_columns(source.path, columns, needed, [column for column in OPTIONAL if column not in needed])
    return columns


def select_rows(source: RatingsFile, columns: Sequence[str]) -> str:
    """SQL for the rows of a file as text: file, record (from 1), the required columns, pred_length, dimension, named.

    `named` is the dimension that config gives the file, or NULL. A missing number, however spelled, is NULL, and so is an empty
    name.
    """
    relation, own = read_as_texts(source.path, columns)
    return texts_of(source, relation, own, place=place_in(source.path, own))


def texts_of(
    source: RatingsFile, relation: str, own: Mapping[str, str], *, also: Sequence[str] = (), place: str | None = None
) -> str:
    """SQL for the columns of `select_rows`, and `also` these, of a relation (SQL) that has the columns of the file as `own`.

    place: SQL for file and record, if not as of any file.
    """
    named = "null::varchar" if source.dimension is None else text(source.dimension)
    otherwise = {"dimension": named, "pred_length": "null::varchar"}
    picked = [
        f"{missing_as_null(own[column], MISSING if column in NUMBERED else ('',))} as {column}"
        if column in own
        else f"{otherwise[column]} as {column}"
        for column in (*REQUIRED, *OPTIONAL)
    ]
    return f"""select {place or place_in(source.path, {})}, {named} as named,
                      {", ".join([*picked, *also])}
               from {relation}"""


def read_as_texts(path: str, columns: Sequence[str]) -> tuple[str, dict[str, str]]:
    """SQL for a file's rows, and for each of its columns."""
    if path.endswith(".parquet"):
        return _with_whole_ids(files([path]), columns), {column: name(column) for column in columns}
    # By position, for the names of columns that are not read may be anything: empty, or alike but for their case.
    declared = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(columns)))
    settings = "header=true, auto_detect=false, delim=',', quote='\"', escape='\"'"
    relation = f"read_csv({literal_path(path)}, {settings}, columns={{{declared}}})"
    return relation, {column: f"c{place}" for place, column in enumerate(columns)}


def _with_whole_ids(rows: str, columns: Sequence[str]) -> str:
    """SQL for the rows of a parquet file, a prompt_id of 3.0 read as 3: parts may store it as another kind of number."""
    if "prompt_id" not in columns:
        return rows
    whole = "regexp_replace(prompt_id::varchar, '\\.0+$', '')"
    numbers = "typeof(prompt_id) in ('DOUBLE', 'FLOAT') or typeof(prompt_id) like 'DECIMAL%'"
    return f"(select * replace (case when {numbers} then {whole} else prompt_id::varchar end as prompt_id) from {rows})"


def missing_as_null(column: str, words: Sequence[str]) -> str:
    """SQL for a column as text, NULL where it is one of `words` (lower case)."""
    value, listed = f"{column}::varchar", ", ".join(text(word) for word in words)
    # To trim every text is slow: what is one of the words begins with a blank (also one beyond ASCII), or as one of them.
    least = min((word[0].upper() for word in words if word), default="\x7f")
    may_be = f"({value} < '!' or {value} >= {text(least)})"
    return f"case when {may_be} and lower(trim({value})) in ({listed}) then null else {value} end"


def place_of(path: str, record: int) -> str:
    """Where a record is: the line of a CSV file that it begins in, the line of a JSON Lines file, else the row or entry.

    A file that an imported table comes from may be gone: its rows are counted then.
    """
    if Path(path).suffix in UNITS:
        return f"{path}, {UNITS[Path(path).suffix]} {record}"
    csv.field_size_limit(LONGEST_FIELD)
    if not isfile(path):
        return f"{path}, row {record}"
    line, passed = 0, -1  # the header is record 0
    with _open_csv(path) as file:
        reader = csv.reader(file)
        for row in reader:
            passed += bool(row)  # blank lines are no records
            if row and passed == record:
                return f"{path}, line {line + 1}"
            line = reader.line_num
    return f"{path}, row {record}"


def first_twice(connection: duckdb.DuckDBPyConnection, table: str, key: Sequence[str]) -> tuple[tuple, str, str] | None:
    """The first `key` that rows of `table` (columns file, record) share: its values and where the first two rows are."""
    columns = ", ".join(map(name, key))
    twice = f"select {columns} from {table} group by all having count(*) > 1 order by all limit 1"
    values = connection.execute(twice).fetchone()
    if values is None:
        return None
    same = " and ".join(f"{name(column)} = ?" for column in key)
    rows = f"select file, record from {table} where {same} order by file, record limit 2"
    first, second = connection.execute(rows, list(values)).fetchall()
    return values, place_of(*first), place_of(*second)


def _open_csv(path: str) -> TextIO:
    opener = gzip.open if path.endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def fault_number(checks: Sequence[Check]) -> str:
    """SQL expression: the number of the first of `checks` that a row breaks, NULL if it breaks none."""
    return "case " + " ".join(f"when {check.broken} then {number}" for number, check in enumerate(checks)) + " end"


def raise_first_fault(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    checks: Sequence[Check],
    *,
    faults: int | None = None,
    named: Mapping[str, str] | None = None,
) -> None:
    """Raise DataError about the first of `rows` (a table or SQL; file, record, fault, the raw texts) that broke a check.

    Further values of the same fault are named, too.

    faults: how many rows are faulty, in other files too; counted if not given. named: what the files call a column, if
    otherwise than a check does.
    """
    if faults is None:
        faults = connection.execute(f"select count(fault) from {rows}").fetchone()[0]
    if faults == 0:
        return
    found = " ".join(f"when {number} then {name(check.column)}" for number, check in enumerate(checks))
    mends = " ".join(f"when {number} then {check.mend}" for number, check in enumerate(checks))
    file, record, number, value, mend = connection.execute(f"""
        select file, record, fault, case fault {found} end, case fault {mends} end from {rows}
        where fault is not null order by file, record limit 1""").fetchone()
    shown = "nothing" if value is None else f"'{shortened(value)}'"
    check, more = checks[number], ""
    if faults > 1 or check.listed:
        others, listed = other_values(connection, rows, check.column, number, value, key=check.listed)
        more = (f" ({faults - 1} more rows are faulty{others})" if faults > 1 else "") + listed
    column = (named or {}).get(check.column, check.column)
    raise DataError(f"{place_of(file, record)}, column {column}: found {shown}, {check.problem}; {mend}{more}")


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn DuckDB's complaint about the file at `path` into the project's own, with the line where it names one."""
    try:
        yield
    except duckdb.OutOfMemoryException:  # says nothing of the file
        raise
    except duckdb.Error as error:
        if "No space left" in str(error):  # where rows are written to meanwhile
            raise
        line = re.search(r"Line: (\d+)", str(error))
        where = f"{path}, line {line.group(1)}" if line else path
        raise DataError(f"{where}: cannot be read: {_what_is_wrong(str(error))}") from error


def _what_is_wrong(complaint: str) -> str:
    """What DuckDB found in a CSV file, and the mend, in a line."""
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", complaint)
    if fields:
        expected, found = fields.groups()
        return f"found {found} fields, expected {expected} as in the header; put a field that holds a comma into double quotes"
    if "unterminated quote" in complaint:
        return "found a double quote that is not closed; close it, and double each one within a quoted field"
    return complaint.strip().splitlines()[0]
