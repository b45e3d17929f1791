"""The files of an import, each read by the reader of its format, as one view; tables of any columns
are read here.

The format of a file is recognised by its name and by the keys of its first object.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from recuse.base.database import Connection, connect, frame_at, text
from recuse.base.errors import DataError
from recuse.base.settings import Setting
from recuse.base.words import enumerated, visible
from recuse.data.faults import Check, raise_first_fault
from recuse.data.files import IN_ONE, PROBABILITY, RawFile, reading
from recuse.data.lines import check_lines
from recuse.data.registry import COMPARED, FORMATS, RATED, TABLES, check_name, named_as, refused_key
from recuse.data.verdicts import ORDERS
from recuse.imports.formats import (
    read_alpaca_eval,
    read_arena_hard,
    read_judge_bench,
    read_mt_bench_ratings,
    read_mt_bench_verdicts,
)
from recuse.imports.inspect_logs import log_records
from recuse.imports.logs import NotNamed
from recuse.imports.rows import (
    ALL,
    RATING_COLUMNS,
    VERDICT_COLUMNS,
    ImportedRows,
    Spread,
    Table,
    as_rows,
    count_objects,
    first_keys,
    names_and_columns,
    scores_in,
    spread,
)
from recuse.imports.tools import READERS_OF_LOGS

# Key of `columns:` in config -> column of the table, by which a file may also call it.
RATING_KEYS = {
    **{
        "judge": "judge",
        "model": "model",
        "prompt": "prompt_id",
        "dimension": "dimension",
        "dataset": "dataset",
    },
    **{column: column for column in IN_ONE},
}
NEEDED = ("judge", "model", "prompt")
ROLES = ("judge", "model", "dimension")  # that columns of ratings may stand for
OVERALL = "overall"  # the dimension of ratings of a study that names none
VERDICT_KEYS = ("judge", "item", "model_a", "model_b", "outcome")
LENGTHS = ("length_a", "length_b")
# As LMArena writes votes for neither answer
TIES = ("tie (bothbad)", "tie (both bad)", "both_bad", "bothbad")


def create_imported(
    connection: Connection,
    paths: Sequence[str],
    settings: Mapping,
    kind: str,
    *,
    scales: Sequence[str] = (),
) -> tuple[Mapping[str, str], list[str]]:
    """Create the view `imported` of the rows of all files; return their names for its columns, and
    their further columns.

    The human scores and gold labels in logs are the view `in_logs`, if there are any. settings:
    config's `import`. kind: RATED or COMPARED. scales: the dimensions of the study. Raises
    DataError, as the readers do, for files of two formats, and for a file without rows, except for
    parquet, which may come in parts.
    """
    formats = {path: _checked_format(connection, path, settings, kind) for path in paths}
    (first, name), *others = formats.items()
    for path, other in others:
        if other != name:
            both = f"found {FORMATS[other].words}, and {FORMATS[name].words} in {first}"
            raise DataError(
                f"{path}: {both}; import files of one format, and write a study for each"
            )
    parts = []
    for place, path in enumerate(paths):
        rows = READERS[kind][name](connection, path, settings, scales)
        with reading(path):
            (count,) = connection.execute(
                f"create temp table rows_{place} as {rows.sql}"
            ).fetchone()
        if rows.scores is not None:
            connection.execute(f"create temp table scores_{place} as {rows.scores}")
        elif count == 0 and not path.endswith(".parquet"):
            raise DataError(f"{path}: found no rows; it needs one for each judgment")
        check_lines(path, count // max(1, len(rows.columns)), rows.on_one_line)
        parts.append(rows)
    tables = " union all by name ".join(f"from rows_{place}" for place in range(len(paths)))
    connection.execute(f"create temp view imported as {tables}")
    scores = [f"from scores_{place}" for place, rows in enumerate(parts) if rows.scores is not None]
    if scores:
        if connection.execute("select 1 from imported limit 1").fetchone() is None:
            remedy = (
                f"if a scorer is a judge, write {Setting('judge').line('<its name>')}, else name the file"
                f" {Setting('references').place}"
            )
            raise NotNamed(
                f"{paths[0]}: found human scores or gold labels only ({FORMATS[name].words});"
                f" {remedy}",
                "judge",
            )
        connection.execute(f"create temp view in_logs as {' union all by name '.join(scores)}")
    return parts[0].named, [*dict.fromkeys(column for rows in parts for column in rows.kept)]


def _checked_format(connection: Connection, path: str, settings: Mapping, kind: str) -> str:
    """The format of a file, by config's `import` (`settings`) or its content; DataError unless
    these agree and fit `kind`.
    """
    if frame_at(path):
        return "table"
    check_name(path)
    shown = recognised(connection, path)
    declared = settings.get("format") or (
        "table" if {"columns"} & settings.keys() - {*FORMATS[shown].keys} else shown
    )
    if declared != shown and (declared != "table" or shown == "inspect"):
        both = f"found {FORMATS[shown].words}, not {FORMATS[declared].words}"
        raise DataError(f"{path}: {both}; {Setting('format').given(shown)}, or name another file")
    if kind not in FORMATS[declared].holds:
        if not FORMATS[declared].holds:
            raise DataError(
                f"{path}: found {FORMATS[declared].words}; name it {Setting('references').place}"
            )
        content = "ratings of single answers" if kind == COMPARED else "verdicts on two answers"
        section = FORMATS[declared].holds[0]
        raise DataError(
            f"{path}: found {content} ({FORMATS[declared].words}); move the study from `{kind}:` to"
            f" `{section}:`"
        )
    if declared != "table":  # else it may be a damaged log, whose fault the reader of tables names
        check_keys(path, declared, settings)
    return declared


def check_keys(path: str, format: str, settings: Mapping) -> None:
    """DataError about a key of config's `import`, or of its `references`, that files of this format
    do not take.
    """
    refused = refused_key(format, settings.keys())
    if refused is not None:
        raise DataError(f"{path}: found {FORMATS[format].words}, and {refused}")


def recognised(connection: Connection, path: str) -> str:
    """The format that the name of a file, or the keys of its first object, are signs of; else
    `table`.
    """
    suffix = Path(path).suffix
    if suffix in TABLES or suffix == ".eval":
        return "inspect" if suffix == ".eval" else "table"
    keys = first_keys(connection, path)
    return next((name for name, entry in FORMATS.items() if entry.looks_like(keys)), "table")


def read_ratings_table(
    connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
) -> ImportedRows:
    """Read a table whose columns config names: judge, model, prompt, rating, and perhaps dimension,
    dataset, human, length.

    settings: config's `import`. scales: the dimensions that the study names; a file without a
    column for them has the only one.
    """
    file = Table(connection, path, settings)
    taken = {key: file.take(key, column, named=column) for key, column in RATING_KEYS.items()}
    scores = spread(file, "rating", ROLES)
    texts = scores_in(file, scores)
    texts |= {"dimension": text(scales[0] if scales else OVERALL), "dataset": text(ALL)}
    for key, column in RATING_KEYS.items():
        value = scores.levels.get(key, taken[key])
        if value is None and (key in NEEDED or (key == "dimension" and len(scales) > 1)):
            file.needed(key, column)
        texts |= {} if value is None else {column: value}
    named = file.named
    if human := file.column("human", "gt"):
        named["gt"], texts["gt"] = human, file.score(human)
    if length := file.column("length", "pred_length"):
        named["pred_length"], texts["pred_length"] = length, file.number(length)
    if probability := file.take(PROBABILITY, number=True):
        texts[PROBABILITY] = probability
    print_spread(path, scores)
    named = named | {"rating": ", ".join(scores.columns)}
    used = {*file.named.values(), *scores.columns}
    return as_rows(
        scores.source,
        texts,
        RATING_COLUMNS,
        named=named,
        texts=file.column_texts(),
        used=used,
        scores=scores.columns,
    )


def read_verdicts_table(
    connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
) -> ImportedRows:
    """Read a table whose columns config names: judge, item, model_a, model_b, outcome, and perhaps
    the other ones.

    outcome: a, b, tie or error, model_a or model_b, or the name of the model that won; order: ab or
    ba, or the name of the model that was shown first; without that column, model_a was. settings:
    config's `import`.
    """
    file = Table(connection, path, settings)
    outcomes = spread(file, "outcome", outcome_roles(settings))
    texts = dict(outcomes.levels)
    for column in VERDICT_COLUMNS:
        if column not in (*texts, "outcome"):
            value = file.take(column, needed=column in VERDICT_KEYS)
            texts |= {} if value is None else {column: value}
    print_spread(path, outcomes)
    columns = file.named
    texts |= {
        column: f"trim({file.number(columns[column])})" for column in LENGTHS if column in columns
    }
    texts["outcome"] = outcomes.each(file.answer)
    if "human" in columns:
        texts["human"] = file.answer(columns["human"])
    is_error = f"lower({texts['outcome']}) = 'error'"
    texts["failure"] = (
        f"coalesce({outcomes.each(file.failure)}, case when {is_error} then 'outcome error' end)"
    )
    texts["outcome"] = (
        f"case when {texts['failure']} is not null then 'error' else"
        f" {winner(texts['outcome'], texts)} end"
    )
    shown = texts.get("order", "'ab'")
    models = (
        f"when {named_as(texts[model])} then '{order}'"
        for model, order in (("model_a", "ab"), ("model_b", "ba"))
    )
    with reading(path):
        check_letters(connection, outcomes.source, texts)
    texts["order"] = f"case {named_as(shown)} {' '.join(models)} else lower({shown}) end"
    if "human" in texts:
        texts["human"] = winner(texts["human"], texts)
    return as_rows(
        outcomes.source,
        texts,
        VERDICT_COLUMNS,
        named=columns | {"outcome": ", ".join(outcomes.columns)},
        texts=file.column_texts(),
        used={*columns.values(), *outcomes.columns},
        scores=outcomes.columns,
    )


def outcome_roles(settings: Mapping) -> tuple[str, ...]:
    """What columns of outcomes stand for: the order that was shown if they are called so, else the
    judge, or both in two levels.
    """
    asked = settings.get("columns", {}).get("outcome")
    if not isinstance(asked, Mapping):
        return ("judge",)
    if {*asked} <= {*ORDERS}:
        return ("order",)
    return ("judge", "order")[: len(next(names_and_columns(asked))[0])]


def print_spread(path: str, values: Spread) -> None:
    """Print what each of several columns stands for."""
    if values.levels:
        columns = enumerated(values.columns, most=5)
        print(
            visible(f"{path}: each of the columns {columns} is one {' and '.join(values.levels)}")
        )


def check_letters(connection: Connection, source: str, texts: Mapping[str, str]) -> None:
    """DataError about a model whose name is the letter of the other answer: as an outcome, it would
    stand for either.
    """
    checks = []
    for model, other in (("model_a", "b"), ("model_b", "a")):
        letters = ", ".join(
            named_as(text(word)) for word in (other, other.upper(), f"model_{other}")
        )
        remedy = "'rename this model in the file'"
        checks.append(
            Check(
                model,
                f"{named_as(model)} in ({letters})",
                "which is the letter of the other answer",
                remedy,
            )
        )
    rows = (
        f"(select file, record, {texts['model_a']} as model_a, {texts['model_b']} as model_b from"
        f" {source})"
    )
    raise_first_fault(connection, rows, checks)


def winner(value: str, texts: Mapping[str, str]) -> str:
    """SQL for a or b, from a winner (SQL) named by that letter, as model_a or model_b, or by its
    model, in any spelling.
    """
    ties = " ".join(f"when {text(word)} then 'tie'" for word in TIES)
    letter = (
        f"case lower({value}) when 'model_a' then 'a' when 'model_b' then 'b' {ties} else"
        f" lower({value}) end"
    )
    models = (
        f"when {named_as(texts[model])} then '{model[-1]}'" for model in ("model_a", "model_b")
    )
    return f"case {named_as(value)} {' '.join(models)} else {letter} end"


READERS: Mapping[
    str, Mapping[str, Callable[[Connection, str, Mapping, Sequence[str]], ImportedRows]]
] = {
    RATED: {"table": read_ratings_table, "mt_bench_single": read_mt_bench_ratings}
    | READERS_OF_LOGS,
    COMPARED: {
        "table": read_verdicts_table,
        "mt_bench_pair": read_mt_bench_verdicts,
        "alpaca_eval": read_alpaca_eval,
        "arena_hard": read_arena_hard,
        "judge_bench": read_judge_bench,
    },
}


def count_rows(path: str) -> int:
    """The number of rows of a table, of objects in a JSON file, or of samples in a packed log."""
    if path.endswith(".eval"):
        return sum(1 for _ in log_records(connect(), path)[0].get("samples").entries())
    if path.endswith((".jsonl", ".json")):
        return count_objects(connect(), path)
    return RawFile.open(path).count_rows()
