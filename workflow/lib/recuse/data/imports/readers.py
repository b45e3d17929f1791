"""The files of an import, each read by the reader of its format, as one view; tables of any columns are read here.

The format of a file is told by its name and by the keys of its first object.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import duckdb

from recuse.base.database import text
from recuse.base.errors import DataError
from recuse.data.files import reading
from recuse.data.imports.formats import (
    ratings_of_inspect,
    ratings_of_mt_bench,
    verdicts_of_alpaca_eval,
    verdicts_of_arena_hard,
    verdicts_of_mt_bench,
)
from recuse.data.imports.rows import ALL, RATING_COLUMNS, VERDICT_COLUMNS, Rows, Table, failure_of, first_keys, rows_of
from recuse.data.registry import COMPARED, FORMATS, RATED, TABLES, check_name

# What config calls the columns of ratings -> (column of the table, other names that a file may give it).
RATED_BY = {"judge": ("judge", ()), "model": ("model", ()), "prompt": ("prompt_id", ("prompt_id",)), "rating": ("rating", ())}
BESIDES = {
    "dimension": ("dimension", ()),
    "dataset": ("dataset", ()),
    "human": ("gt", ("gt",)),
    "length": ("pred_length", ("pred_length",)),
}
COMPARED_BY = ("judge", "item", "model_a", "model_b", "outcome")
LENGTHS = ("length_a", "length_b")


def create_imported(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], settings: Mapping, kind: str, *, scales: Sequence[str] = ()
) -> tuple[Mapping[str, str], list[str]]:
    """Create the view `imported` of the rows of all files; return what these call its columns, and all their further columns.

    settings: config's `import`. kind: RATED or COMPARED. scales: the dimensions of the study. Raises DataError, as the readers
    do, for files of two formats, and for a file without rows that is no part of many.
    """
    formats = {path: _format_of(connection, path, settings, kind) for path in paths}
    (first, name), *others = formats.items()
    for path, other in others:
        if other != name:
            raise DataError(
                f"{path}: {FORMATS[other].words}, but {first}: {FORMATS[name].words}; import files of one format, and write a "
                "study for each"
            )
    read = []
    for place, path in enumerate(paths):
        rows = READERS[kind][name](connection, path, settings, scales)
        with reading(path):
            connection.execute(f"create temp table rows_{place} as {rows.sql}")
        if connection.execute(f"select count(*) from rows_{place}").fetchone() == (0,) and not path.endswith(".parquet"):
            raise DataError(f"{path}: the file holds no rows; it needs one for each judgment")
        read.append(rows)
    tables = " union all by name ".join(f"from rows_{place}" for place in range(len(paths)))
    connection.execute(f"create temp view imported as {tables}")
    return read[0].named, [*dict.fromkeys(column for rows in read for column in rows.kept)]


def _format_of(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping, kind: str) -> str:
    """The format of a file, as config's `import` (`settings`) says or the file shows; DataError unless both agree on `kind`."""
    check_name(path)
    suffix, shown = Path(path).suffix, "table"
    if suffix == ".eval":
        shown = "inspect"
    elif suffix not in TABLES:
        keys = first_keys(connection, path)
        shown = next((name for name, each in FORMATS.items() if each.signs and each.signs <= keys), "table")
    declared = settings.get("format") or ("table" if "columns" in settings else None)
    if declared is not None and declared != shown and (declared != "table" or shown == "inspect"):
        raise DataError(
            f"{path}: this is {FORMATS[shown].words}, not {FORMATS[declared].words}; write `format: {shown}`, or name another "
            "file"
        )
    name = declared or shown
    words, holds = FORMATS[name].words, FORMATS[name].holds
    if kind not in holds:
        held = "ratings of single answers" if kind == COMPARED else "verdicts on two answers"
        verb = "holds" if words.startswith("an ") else "are"
        raise DataError(f"{path}: {words} {verb} {held}; put this study under `{holds[0]}:` in config, not under `{kind}:`")
    return name


def ratings_of_table(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read a table in columns that config names: judge, model, prompt, rating, and if there dimension, dataset, human, length.

    settings: config's `import`. scales: the dimensions of the study; where the file has no column for them, the only one.
    """
    file, named = Table(connection, path, table="objects"), settings.get("columns", {})
    columns = {column: file.needed(named, key, or_else=names) for key, (column, names) in RATED_BY.items()}
    columns |= {column: file.column(named, key, or_else=names) for key, (column, names) in BESIDES.items()}
    if columns["dimension"] is None and len(scales) != 1:
        columns["dimension"] = file.needed(named, "dimension")
    columns = {column: name for column, name in columns.items() if name is not None}
    texts = {"dimension": text(scales[0]), "dataset": text(ALL)}
    for column, name in columns.items():
        if column in ("rating", "gt"):
            texts[column], failure = file.score(name, settings.get("missing", ()))
            texts |= {"failure": failure} if column == "rating" else {}
        else:
            texts[column] = file.number(name) if column == "pred_length" else file.name(name)
    return rows_of(file.source, texts, RATING_COLUMNS, named=columns, texts=file.texts, used=columns.values())


def verdicts_of_table(connection: duckdb.DuckDBPyConnection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read a table in columns that config names: judge, item, model_a, model_b, outcome, and if there the other ones.

    outcome: a, b, tie or error, model_a or model_b, or the name of the model that won; order: ab or ba, or the name of the
    model that was shown first; without that column, model_a was. settings: config's `import`.
    """
    file, named = Table(connection, path, table="objects"), settings.get("columns", {})
    columns = {column: file.needed(named, column) for column in COMPARED_BY}
    columns |= {column: file.column(named, column) for column in VERDICT_COLUMNS if column not in COMPARED_BY}
    columns = {column: name for column, name in columns.items() if name is not None}
    texts = {column: f"trim({file.number(name)})" if column in LENGTHS else file.name(name) for column, name in columns.items()}
    failure = failure_of(file.texts[columns["outcome"]], settings.get("missing", ()))
    texts["failure"] = f"coalesce({failure}, case when lower({texts['outcome']}) = 'error' then 'outcome error' end)"
    texts["outcome"] = f"case when {texts['failure']} is not null then 'error' else {winner(texts['outcome'], texts)} end"
    shown = texts.get("order", "'ab'")
    texts["order"] = f"case {shown} when {texts['model_a']} then 'ab' when {texts['model_b']} then 'ba' else lower({shown}) end"
    if "human" in texts:
        texts["human"] = winner(texts["human"], texts)
    return rows_of(file.source, texts, VERDICT_COLUMNS, named=columns, texts=file.texts, used=columns.values())


def winner(value: str, texts: Mapping[str, str]) -> str:
    """SQL for a or b of a winner (SQL) named by either letter, by model_a or model_b, or by its model."""
    letter = f"case lower({value}) when 'model_a' then 'a' when 'model_b' then 'b' else lower({value}) end"
    return f"case {value} when {texts['model_a']} then 'a' when {texts['model_b']} then 'b' else {letter} end"


READERS: Mapping[str, Mapping[str, Callable[[duckdb.DuckDBPyConnection, str, Mapping, Sequence[str]], Rows]]] = {
    RATED: {"table": ratings_of_table, "mt_bench_single": ratings_of_mt_bench, "inspect": ratings_of_inspect},
    COMPARED: {
        "table": verdicts_of_table,
        "mt_bench_pair": verdicts_of_mt_bench,
        "alpaca_eval": verdicts_of_alpaca_eval,
        "arena_hard": verdicts_of_arena_hard,
    },
}
