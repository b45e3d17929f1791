"""The files of an import, each read by the reader of its format, as one view."""

from collections.abc import Callable, Mapping, Sequence

import duckdb

from judgebias.errors import DataError
from judgebias.imports.alpaca_eval import verdicts_of_alpaca_eval
from judgebias.imports.arena_hard import verdicts_of_arena_hard
from judgebias.imports.formats import FORMATS
from judgebias.imports.inspect_logs import ratings_of_inspect
from judgebias.imports.rating_tables import ratings_of_mt_bench, ratings_of_table
from judgebias.imports.recognition import format_of
from judgebias.imports.rows import Rows
from judgebias.imports.verdict_tables import verdicts_of_mt_bench, verdicts_of_table
from judgebias.sources.checks import reading

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
