"""The files of an import, each read by the reader of its format, as one view.

Which format a file of judgments is in: told by its name and by the keys of its first object.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import duckdb

from recuse.base.errors import DataError
from recuse.data.files import reading
from recuse.data.imports.alpaca_eval import verdicts_of_alpaca_eval
from recuse.data.imports.arena_hard import verdicts_of_arena_hard
from recuse.data.imports.formats import COMPARED, FORMATS, TABLES, check_name
from recuse.data.imports.inspect import ratings_of_inspect
from recuse.data.imports.rows import Rows, first_object
from recuse.data.imports.tables import ratings_of_mt_bench, ratings_of_table, verdicts_of_mt_bench, verdicts_of_table


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


OF_RATINGS: Mapping[str, Callable] = {
    "table": ratings_of_table,
    "mt_bench_single": ratings_of_mt_bench,
    "inspect": ratings_of_inspect,
}
OF_VERDICTS: Mapping[str, Callable] = {
    "table": verdicts_of_table,
    "mt_bench_pair": verdicts_of_mt_bench,
    "alpaca_eval": verdicts_of_alpaca_eval,
    "arena_hard": verdicts_of_arena_hard,
}


def create_imported(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], settings: Mapping, kind: str, *, scales: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Create the view `imported` of the rows of all files, as `Rows` has them; returns what the files call its columns, and
    the further columns of any file.

    settings: config's `import`. kind: `studies` or `comparisons`. scales: the dimensions of the study. Raises DataError, as the
    readers do, for files of two formats, and for a file without rows that is no part of many.
    """
    formats = {path: format_of(connection, path, settings, kind) for path in paths}
    (first, said), *others = formats.items()
    for path, other in others:
        if other != said:
            raise DataError(
                f"{path}: {FORMATS[other].words}, but {first}: {FORMATS[said].words}; import files of one format, and write a "
                "study for each"
            )
    found = [_read(connection, path, said, settings, scales, place=place) for place, path in enumerate(paths)]
    tables = " union all by name ".join(f"select * from rows_{place}" for place in range(len(paths)))
    connection.execute(f"create temp view imported as {tables}")
    return dict(found[0].named), [*dict.fromkeys(column for rows in found for column in rows.kept)]


def _read(
    connection: duckdb.DuckDBPyConnection, path: str, said: str, settings: Mapping, scales: Sequence[str], *, place: int
) -> Rows:
    """Read a file once, into the temporary table `rows_<place>`."""
    of_ratings = said in OF_RATINGS and scales
    rows = OF_RATINGS[said](connection, path, settings, scales) if of_ratings else OF_VERDICTS[said](connection, path, settings)
    with reading(path):
        connection.execute(f"create temp table rows_{place} as {rows.sql}")
    if connection.execute(f"select count(*) from rows_{place}").fetchone() == (0,) and not path.endswith(".parquet"):
        raise DataError(f"{path}: the file holds no rows; it needs one for each judgment")
    return rows
