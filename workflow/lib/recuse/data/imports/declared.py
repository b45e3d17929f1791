"""Whether a user's files are those that config declares under `verify:`, by their SHA-256 and their number of rows."""

from collections.abc import Iterable, Mapping
from os.path import normpath

from recuse.base.database import connect
from recuse.base.digests import sha256_of
from recuse.base.errors import DataError
from recuse.base.words import counted
from recuse.data.files import columns_of, read_as_texts, reading
from recuse.data.imports.rows import count_objects


def check_declared(paths: Iterable[str], declared: Mapping[str, Mapping] | None) -> None:
    """Raise DataError about the first of the files whose `sha256` or `rows` are not what is declared for its path."""
    by_path = {normpath(path): values for path, values in (declared or {}).items()}
    for path in paths:
        values = by_path.get(normpath(path), {})
        remedy = "restore that file, or correct `verify:` in config"
        if "sha256" in values and (digest := sha256_of(path)) != values["sha256"].lower():
            raise DataError(f"{path}: its SHA-256 is {digest}, but config declares {values['sha256']}; {remedy}")
        if "rows" in values and (rows := _rows_in(path)) != values["rows"]:
            raise DataError(f"{path}: it holds {counted(rows, 'row')}, but config declares {values['rows']}; {remedy}")


def _rows_in(path: str) -> int:
    """The rows of a table, or the objects of a JSON file."""
    connection = connect()
    if path.endswith((".jsonl", ".json")):
        return count_objects(connection, path)
    relation, _ = read_as_texts(path, columns_of(connection, path))
    with reading(path):
        return connection.execute(f"select count(*) from {relation}").fetchone()[0]
