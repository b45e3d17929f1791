"""Which format a file of judgments is in: told by its name and by the keys of its first object."""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from judgebias.errors import DataError
from judgebias.imports.formats import COMPARED, FORMATS, TABLES, check_name
from judgebias.imports.json_objects import first_object


def format_of(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping, kind: str) -> str:
    """The format of a file, one of FORMATS, that config's `import` (`settings`) says or that the file shows.

    kind: RATED or COMPARED, what is to be read. Raises DataError naming the file and what to write where it is in another
    format than config says, in none that is known, or in one that holds something else.
    """
    said = settings.get("format") or ("table" if "columns" in settings else None)
    found = _shown_by(connection, path)
    if said is not None and said != found and (said != "table" or found == "inspect"):
        raise DataError(
            f"{path}: this is {FORMATS[found].words}, not {FORMATS[said].words}; write `format: {found}`, or name another file"
        )
    name = said or found
    if kind not in FORMATS[name].holds:
        held = "ratings of single answers" if kind == COMPARED else "verdicts on two answers"
        words = FORMATS[name].words
        raise DataError(
            f"{path}: {words} {'holds' if words.startswith('an ') else 'are'} {held}; put this study under "
            f"`{FORMATS[name].holds[0]}:` in config, not under `{kind}:`"
        )
    return name


def _shown_by(connection: duckdb.DuckDBPyConnection, path: str) -> str:
    check_name(path)
    suffix = Path(path).suffix
    if suffix in TABLES:
        return "table"
    if suffix == ".eval":
        return "inspect"
    keys = first_object(connection, path)
    for name, known in FORMATS.items():
        if known.signs and known.signs <= keys.keys():
            return name
    return "table"
