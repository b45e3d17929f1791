"""The files of an import, each read by the reader of its format, as one view; tables of any columns
are read here.

The format of a file is recognised by its name and by the keys of its first object.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from recuse.base.database import (
    Connection,
    connect,
    create_table,
    exists,
    frame_at,
    register_frames,
    text,
)
from recuse.data.faults import Check, raise_first_fault
from recuse.data.files import IN_ONE, PROBABILITY, RawFile, reading
from recuse.data.lines import check_lines
from recuse.data.registry import COMPARED, RATED, TABLES, named_as
from recuse.data.verdicts import ORDERS
from recuse.imports.formats import (
    ALPACA_EVAL,
    ARENA_HARD,
    JUDGE_BENCH,
    MT_BENCH_RATINGS,
    MT_BENCH_VERDICTS,
)
from recuse.imports.inspect_logs import log_records
from recuse.imports.logs import NotNamed
from recuse.imports.registry import FORMATS, check_name, refused_key
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
from recuse.imports.tools import TOOLS
from recuse.imports.words import fault, note, problem

# Of `columns:` in config
SCORE_KEYS = ("model", "prompt", "dimension", "dataset", PROBABILITY)
RATING_KEYS = ("judge", *SCORE_KEYS, *IN_ONE)
ROLES = ("judge", "model", "dimension")  # that columns of ratings may stand for
OVERALL = "overall"  # the dimension of ratings of a study that names none
VERDICT_KEYS = ("judge", "item", "model_a", "model_b")
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
    names: Mapping[str, str] | None = None,
    stored: str = "{}",
) -> tuple[Mapping[str, str], list[str]]:
    """Create the view `imported` of the rows of all files, and the table `registry`; return their
    names for its columns, and their further columns.

    The human scores and gold labels in logs are the view `in_logs`. settings: config's `import`.
    kind: RATED or COMPARED. scales: the dimensions of the study. names: of judges and models, by
    their ids. stored: SQL for the rows as they are kept, with {} for those of a file. Raises
    DataError, as the readers do, for files of two formats, and for a file without rows, except for
    parquet, which may come in parts.
    """
    register_frames(connection)
    create_table(connection, "registry", "id varchar, name varchar", (names or {}).items())
    formats = {path: _checked_format(connection, path, settings, kind) for path in paths}
    (first, name), *others = formats.items()
    for path, other in others:
        if other != name:
            one, other = FORMATS[name].words, FORMATS[other].words
            raise fault(path, "two_formats", one=one, first=first, other=other)
    parts = []
    for place, path in enumerate(paths):
        rows = READERS[kind][name](connection, path, settings, scales)
        with reading(path):
            (count,) = connection.execute(
                f"create temp table rows_{place} as {stored.format(rows.sql)}"
            ).fetchone()
        if rows.scores is not None:
            connection.execute(f"create temp table scores_{place} as {rows.scores}")
        elif count == 0 and not path.endswith(".parquet"):
            raise fault(path, "no_rows")
        check_lines(path, count // max(1, len(rows.columns)), rows.on_one_line)
        parts.append(rows)
    tables = " union all by name ".join(f"from rows_{place}" for place in range(len(paths)))
    connection.execute(f"create temp view imported as {tables}")
    scores = [f"from scores_{place}" for place, rows in enumerate(parts) if rows.scores is not None]
    if scores and not exists(connection, "from imported"):
        error = fault(paths[0], "only_references", format=FORMATS[name].words)
        raise NotNamed(error, "judge")
    none = "select null::varchar as file where false"
    connection.execute(f"create temp view in_logs as {' union all by name '.join(scores) or none}")
    return parts[0].named, [*dict.fromkeys(column for rows in parts for column in rows.kept)]


def score_ends(connection: Connection) -> list[tuple[str, float, float, bool]]:
    """Each dimension in `imported` with its lowest and highest score, human ones included, and
    whether 0 may mark a failure.
    """
    return connection.execute("""
        select dimension, min(x), max(x),
               min(x) = 0 and max(x) <= 10 and count(distinct x) > 2 and min(x) filter (x > 0) >= 1
        from (select dimension, unnest([as_number(rating), as_number(gt)]) as x from imported)
        where x is not null and dimension is not null group by all order by all""").fetchall()


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
    words, holds = FORMATS[declared].words, FORMATS[declared].holds
    if declared != shown and (declared != "table" or shown == "inspect"):
        found = FORMATS[shown].words
        raise fault(path, "other_format", found=found, declared=words, format=shown)
    if kind not in holds:
        if not holds:
            raise fault(path, "of_references", found=words)
        raise fault(path, "other_section", format=words, kind=kind, holds=holds[0])
    if declared != "table":  # else it may be a damaged log, whose fault the reader of tables names
        check_keys(path, declared, settings)
    return declared


def check_keys(path: str, format: str, settings: Mapping) -> None:
    """DataError about a key of config's `import`, or of its `references`, that files of this format
    do not take.
    """
    refused = refused_key(format, settings)
    if refused is not None:
        key, having = refused
        only_for = problem("only_for", key=key, having=having)
        raise fault(path, "refused_key", format=FORMATS[format].words, key=key, only_for=only_for)


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
    texts = _dimension(scales) | {"dataset": text(ALL)} | file.take_all(RATING_KEYS)
    scores = spread(file, "rating", ROLES)
    texts |= scores.levels | scores_in(file, scores)
    file.check_all(("judge", "model", "prompt", "dimension"), texts)
    named = file.named
    for key, column, read in (("human", "gt", file.score), ("length", "pred_length", file.number)):
        if in_file := file.column(key, column):
            named[column], texts[column] = in_file, read(in_file)
    return _rows_of_table(file, "rating", scores, texts, RATING_COLUMNS)


def read_scores_table(
    connection: Connection, path: str, settings: Mapping, scales: Sequence[str]
) -> ImportedRows:
    """Read a table of human scores: model, prompt, rating, and perhaps dimension, dataset, rater.

    settings: `references` in config's `import`. scales: the dimensions of the study; a file without
    a column for them has the only one.
    """
    file = Table(connection, path, settings, within=("references",))
    scores = spread(file, "rating", ("model", "dimension"), of_list="rater")
    # A file may have a column `rater` of which config says nothing.
    raters = ["rater"] if "rater" in settings.get("columns", {}) else []
    texts = _dimension(scales) | {"rater": text("")}
    texts |= file.take_all((*SCORE_KEYS, *raters)) | scores.levels
    file.check_all(("model", "prompt", "dimension"), texts)
    texts["kind"] = text("scores" if len(scores.columns) > 1 else "rows")
    texts["dataset"] = f"coalesce({texts.get('dataset', 'null')}, '')"  # no rating has an empty one
    texts |= scores_in(file, scores)
    picked = ", ".join(f"({value})::varchar as {column}" for column, value in texts.items())
    named = file.named | {"rating": ", ".join(scores.columns)}
    return ImportedRows(
        f"select file, record, {picked} from {scores.source}", named, (), columns=scores.columns
    )


def _dimension(scales: Sequence[str]) -> dict[str, str]:
    """SQL for the dimension in a file without a column for it, unless there are several."""
    return {} if len(scales) > 1 else {"dimension": text(scales[0] if scales else OVERALL)}


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
    keys = [column for column in VERDICT_COLUMNS if column != "outcome"]
    texts = file.take_all(keys) | outcomes.levels
    file.check_all(VERDICT_KEYS, texts)
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
    answers = (
        f"(select file, record, {texts['model_a']} as model_a, {texts['model_b']} as model_b from"
        f" {outcomes.source})"
    )
    with reading(path):
        raise_first_fault(connection, answers, LETTERS)
    texts["order"] = f"case {named_as(shown)} {' '.join(models)} else lower({shown}) end"
    if "human" in texts:
        texts["human"] = winner(texts["human"], texts)
    return _rows_of_table(file, "outcome", outcomes, texts, VERDICT_COLUMNS)


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


def _rows_of_table(
    file: Table, column: str, values: Spread, texts: Mapping[str, str], table: Sequence[str]
) -> ImportedRows:
    """The rows of a table, whose columns of `values` are what the `column` holds; say what each of
    several stands for.
    """
    if values.levels:
        note("roles", path=file.path, columns=values.columns, roles=values.levels)
    return as_rows(
        values.source,
        texts,
        table,
        named=file.named | {column: ", ".join(values.columns)},
        texts=file.column_texts(),
        used={*file.named.values(), *values.columns},
        scores=values.columns,
    )


def _other_letter(model: str, other: str) -> Check:
    """Check that a model's name is not the letter of the other answer: as an outcome, it would
    stand for either.
    """
    letters = ", ".join(named_as(text(word)) for word in (other, other.upper(), f"model_{other}"))
    return Check(
        model,
        f"{named_as(model)} in ({letters})",
        "which is the letter of the other answer",
        "rename this model in the file",
    )


LETTERS = (_other_letter("model_a", "b"), _other_letter("model_b", "a"))


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
    RATED: {"table": read_ratings_table, "mt_bench_single": MT_BENCH_RATINGS} | TOOLS,
    COMPARED: {
        "table": read_verdicts_table,
        "mt_bench_pair": MT_BENCH_VERDICTS,
        "alpaca_eval": ALPACA_EVAL,
        "arena_hard": ARENA_HARD,
        "judge_bench": JUDGE_BENCH,
    },
}


def count_rows(path: str) -> int:
    """The number of rows of a table, of objects in a JSON file, or of samples in a packed log."""
    if path.endswith(".eval"):
        return sum(1 for _ in log_records(connect(), path)[0].get("samples").entries())
    if path.endswith((".jsonl", ".json")):
        return count_objects(connect(), path)
    return RawFile.open(path).count_rows()
