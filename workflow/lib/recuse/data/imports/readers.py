"""The files of an import, each read by the reader of its format, as one view; tables of any columns are read here.

The format of a file is recognised by its name and by the keys of its first object.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from recuse.base.database import Connection, frame_at, text
from recuse.base.errors import DataError
from recuse.data.files import reading
from recuse.data.imports.formats import (
    ratings_of_mt_bench,
    verdicts_of_alpaca_eval,
    verdicts_of_arena_hard,
    verdicts_of_mt_bench,
)
from recuse.data.imports.rows import ALL, RATING_COLUMNS, VERDICT_COLUMNS, Rows, Table, failure_of, first_keys, rows_of
from recuse.data.imports.tools import READERS_OF_LOGS
from recuse.data.lines import check_lines
from recuse.data.registry import COMPARED, FORMATS, RATED, TABLES, check_name

# Key of `columns:` in config -> column of the table, by which a file may also call it.
RATING_KEYS = {"judge": "judge", "model": "model", "prompt": "prompt_id", "rating": "rating"}
OPTIONAL_RATING_KEYS = {"dimension": "dimension", "dataset": "dataset", "human": "gt", "length": "pred_length"}
VERDICT_KEYS = ("judge", "item", "model_a", "model_b", "outcome")
LENGTHS = ("length_a", "length_b")
TIES = ("tie (bothbad)", "tie (both bad)", "both_bad", "bothbad")  # as LMArena writes votes for neither answer


def create_imported(
    connection: Connection, paths: Sequence[str], settings: Mapping, kind: str, *, scales: Sequence[str] = ()
) -> tuple[Mapping[str, str], list[str]]:
    """Create the view `imported` of the rows of all files; return their names for its columns, and their further columns.

    The human scores and gold labels in logs are the view `in_logs`, if there are any. settings: config's `import`. kind: RATED
    or COMPARED. scales: the dimensions of the study. Raises DataError, as the readers do, for files of two formats, and for a
    file without rows, except for parquet, which may come in parts.
    """
    formats = {path: _format_of(connection, path, settings, kind) for path in paths}
    (first, name), *others = formats.items()
    for path, other in others:
        if other != name:
            both = f"found {FORMATS[other].words}, and {FORMATS[name].words} in {first}"
            raise DataError(f"{path}: {both}; import files of one format, and write a study for each")
    parts = []
    for place, path in enumerate(paths):
        rows = READERS[kind][name](connection, path, settings, scales)
        with reading(path):
            (count,) = connection.execute(f"create temp table rows_{place} as {rows.sql}").fetchone()
        if rows.scores is not None:
            connection.execute(f"create temp table scores_{place} as {rows.scores}")
        elif count == 0 and not path.endswith(".parquet"):
            raise DataError(f"{path}: found no rows; it needs one for each judgment")
        check_lines(connection, path, count, rows.on_one_line)
        parts.append(rows)
    tables = " union all by name ".join(f"from rows_{place}" for place in range(len(paths)))
    connection.execute(f"create temp view imported as {tables}")
    scores = [f"from scores_{place}" for place, rows in enumerate(parts) if rows.scores is not None]
    if scores:
        if connection.execute("select 1 from imported limit 1").fetchone() is None:
            remedy = "name it under `references:` of `import` in config, beside the file of the ratings"
            raise DataError(f"{paths[0]}: found human scores or gold labels only ({FORMATS[name].words}); {remedy}")
        connection.execute(f"create temp view in_logs as {' union all by name '.join(scores)}")
    return parts[0].named, [*dict.fromkeys(column for rows in parts for column in rows.kept)]


def _format_of(connection: Connection, path: str, settings: Mapping, kind: str) -> str:
    """The format of a file, by config's `import` (`settings`) or its content; DataError unless these agree and fit `kind`."""
    if frame_at(path):
        return "table"
    check_name(path)
    shown = recognised(connection, path)
    declared = settings.get("format") or ("table" if {"columns"} & settings.keys() - {*FORMATS[shown].keys} else shown)
    if declared != shown and (declared != "table" or shown == "inspect"):
        both = f"found {FORMATS[shown].words}, not {FORMATS[declared].words}"
        raise DataError(f"{path}: {both}; write `format: {shown}`, or name another file")
    if kind not in FORMATS[declared].holds:
        if not FORMATS[declared].holds:
            raise DataError(f"{path}: found {FORMATS[declared].words}; name it under `references:` of `import` in config")
        content = "ratings of single answers" if kind == COMPARED else "verdicts on two answers"
        section = FORMATS[declared].holds[0]
        raise DataError(f"{path}: found {content} ({FORMATS[declared].words}); move the study from `{kind}:` to `{section}:`")
    return declared


def recognised(connection: Connection, path: str) -> str:
    """The format that the name of a file, or the keys of its first object, are signs of; else `table`."""
    suffix = Path(path).suffix
    if suffix in TABLES or suffix == ".eval":
        return "inspect" if suffix == ".eval" else "table"
    keys = first_keys(connection, path)
    return next((name for name, entry in FORMATS.items() if entry.looks_like(keys)), "table")


def ratings_of_table(connection: Connection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read a table whose columns config names: judge, model, prompt, rating, and perhaps dimension, dataset, human, length.

    settings: config's `import`. scales: the dimensions of the study; a file without a column for them has the only one.
    """
    file, named = Table(connection, path, table="objects"), settings.get("columns", {})
    columns = {column: file.needed(named, key, column) for key, column in RATING_KEYS.items()}
    columns |= {column: file.column(named, key, column) for key, column in OPTIONAL_RATING_KEYS.items()}
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


def verdicts_of_table(connection: Connection, path: str, settings: Mapping, scales: Sequence[str]) -> Rows:
    """Read a table whose columns config names: judge, item, model_a, model_b, outcome, and perhaps the other ones.

    outcome: a, b, tie or error, model_a or model_b, or the name of the model that won; order: ab or ba, or the name of the
    model that was shown first; without that column, model_a was. settings: config's `import`.
    """
    file, named = Table(connection, path, table="objects"), settings.get("columns", {})
    columns = {column: file.needed(named, column) for column in VERDICT_KEYS}
    columns |= {column: file.column(named, column) for column in VERDICT_COLUMNS if column not in VERDICT_KEYS}
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
    """SQL for a or b, from a winner (SQL) named by that letter, as model_a or model_b, or by its model."""
    ties = " ".join(f"when {text(word)} then 'tie'" for word in TIES)
    letter = f"case lower({value}) when 'model_a' then 'a' when 'model_b' then 'b' {ties} else lower({value}) end"
    return f"case {value} when {texts['model_a']} then 'a' when {texts['model_b']} then 'b' else {letter} end"


READERS: Mapping[str, Mapping[str, Callable[[Connection, str, Mapping, Sequence[str]], Rows]]] = {
    RATED: {"table": ratings_of_table, "mt_bench_single": ratings_of_mt_bench} | READERS_OF_LOGS,
    COMPARED: {
        "table": verdicts_of_table,
        "mt_bench_pair": verdicts_of_mt_bench,
        "alpaca_eval": verdicts_of_alpaca_eval,
        "arena_hard": verdicts_of_arena_hard,
    },
}
