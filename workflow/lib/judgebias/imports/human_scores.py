"""Human scores in a file of their own, joined to ratings by model, prompt and dimension; of single raters if they are told."""

from collections.abc import Mapping, Sequence

import duckdb

from judgebias.database import text
from judgebias.errors import DataError
from judgebias.imports.repeated_prompts import PROMPT
from judgebias.imports.rows import ALL
from judgebias.imports.score_joins import HUMAN_SCORES, SCORED, check_joined, words_of
from judgebias.imports.tables import Table, failure_of
from judgebias.imports.value_checks import OF_SCALE, number, value_checks, whole
from judgebias.sources.checks import (
    NAMES_MODEL,
    NAMES_PROMPT,
    Check,
    fault_number,
    first_twice,
    header_of,
    raise_first_fault,
    reading,
)

KEY = ("model_name", "dimension", "prompt_id")  # of a completion, and its dataset where human scores tell it
SEVERAL, ONE = "scores", "rows"  # what the scores of a file are counted as: several of one row, or one
OF_ROWS = (
    NAMES_MODEL,
    NAMES_PROMPT,
    Check(
        "dimension",
        "scale_high is null and not observed",
        "a dimension that the study does not have",
        "'write one that stands under `scales:` of the study in config'",
    ),
    Check("rater", "rater is null", "which names no rater", "'write a number or a name for the rater'"),
)


def create_human_scores(
    connection: duckdb.DuckDBPyConnection,
    paths: Sequence[str],
    references: Mapping,
    *,
    scales: Sequence[str],
    raters: bool,
) -> tuple[str, ...]:
    """Create the tables SCORED and HUMAN_SCORES of the files at `paths`, which config's `references` describe; empty of none.

    Returns their key: KEY, and the dataset where both these files and the ratings have one.
    The score of a completion is the mean of its raters' scores, each on the scale, and whole if single raters are told.
    raters: whether they are, by a column `rater` or by several columns of ratings. Over the tables `registry` and `declared`,
    and the view `typed` of the ratings. Raises DataError naming file, line and column for whatever is wrong, and where no
    completion is one of the ratings, or not told to be of one dataset.
    """
    if not paths:
        names = ", ".join(f"{column} varchar" for column in KEY)
        own = "file varchar, record bigint, failure varchar, kind varchar, rounded boolean, step double"
        connection.execute(f"create temp table {SCORED} ({own}, {names}, score double)")
        connection.execute(f"create temp table {HUMAN_SCORES} ({names}, score double)")
        return KEY
    checks = (*OF_ROWS, *value_checks("rating", stepped=raters, under="`missing:` of `references:`"))
    named: dict[str, str] = {}
    with_dataset: dict[str, bool] = {}
    for place, path in enumerate(paths):
        sql, own = _scores_in(connection, path, references, scales)
        named, with_dataset[path] = named | own, "dataset" in own
        verb = f"insert into {SCORED} by name" if place else f"create temp table {SCORED} as"
        with reading(path):
            connection.execute(f"{verb} {_typed(sql, checks)}")
    raise_first_fault(connection, SCORED, checks, named=named)
    key = _key_of(connection, with_dataset)
    _check_once(connection, key, raters=raters)
    connection.execute(f"""
        create temp table {HUMAN_SCORES} as
        select {", ".join(key)}, avg(score) as score from {SCORED} where score is not null group by all order by all""")
    check_joined(connection, paths, key)
    return key


def write_raters(connection: duckdb.DuckDBPyConnection, path: str, *, key: Sequence[str], step: float, footer: str) -> None:
    """Write the scores of single raters of completions that are rated (parquet), as `judgebias.ratings.raters` reads them.

    key: as by `create_human_scores`. The scores are whole numbers of steps, the nearest ones. Over the view `typed` and the
    table of repeated prompts.
    """
    dataset = "dataset" if "dataset" in key else "min(dataset) as dataset"
    connection.execute(f"""
        copy (select model_name as model, dimension, dataset, {PROMPT} as prompt_id, rater,
                     {whole("score", step)}::integer as rating
              from (select found.* exclude (dataset), rated.dataset
                    from (select *, row_number() over () as place from {SCORED} where score is not null) as found
                    join (select {", ".join(KEY)}, {dataset} from typed group by all) as rated using ({", ".join(key)}))
              order by place) to {text(path)} (format parquet, compression zstd, {footer})""")


def _scores_in(
    connection: duckdb.DuckDBPyConnection, path: str, references: Mapping, scales: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """SQL for the scores in a file as texts, a row for each, and what the file calls its columns."""
    file, named = Table(connection, path, table="references_found"), references.get("columns", {})
    single = {key: value for key, value in named.items() if isinstance(value, str)}
    own = {"model": file.needed(single, "model"), "prompt_id": file.needed(single, "prompt", or_else=("prompt_id",))}
    dimension = file.column(single, "dimension") if len(scales) == 1 else file.needed(single, "dimension")
    columns = [file.needed({"rating": column}, "rating") for column in _several(named)] or [file.needed(single, "rating")]
    rater, dataset = file.needed(single, "rater") if "rater" in single else None, file.column(single, "dataset")
    own |= {} if dataset is None else {"dataset": dataset}
    texts = {column: f"trim({file.name_text(found)})" for column, found in own.items()}
    texts["dimension"] = text(scales[0]) if dimension is None else f"trim({file.name_text(dimension)})"
    texts["dataset"] = f"coalesce({texts.get('dataset', 'null')}, '')"  # an empty one is of no rating
    texts["kind"] = text(SEVERAL if len(columns) > 1 else ONE)
    parts = []
    for column in columns:
        failure = failure_of(file.text(column), references.get("missing", ()))
        value = f"case when {failure} is null then trim({file.text(column)}) end"
        who = text(column) if len(columns) > 1 else text("") if rater is None else f"trim({file.name_text(rater)})"
        given = {**texts, "rater": who, "rating": value, "failure": failure}
        picked = ", ".join(f"({expression})::varchar as {name}" for name, expression in given.items())
        parts.append(f"select file, record, {picked} from {file.source}")
    own |= {"rating": columns[0] if len(columns) == 1 else ", ".join(columns)}
    own |= {} if dimension is None else {"dimension": dimension}
    own |= {} if rater is None else {"rater": rater}
    return " union all ".join(parts), own


def _several(named: Mapping) -> list[str]:
    return [] if isinstance(named.get("rating", ""), str) else list(named["rating"])


def _typed(rows: str, checks: Sequence[Check]) -> str:
    """SQL for scores with the display names of models and the number of the fault of each."""
    return f"""
        select *, {fault_number(checks)} as fault, rating_number as score
        from (select found.*, coalesce(registry.name, model) as model_name, {OF_SCALE},
                     {number("rating")} as rating_number
              from ({rows}) as found left join registry on model = id left join declared using (dimension))"""


def _key_of(connection: duckdb.DuckDBPyConnection, with_dataset: Mapping[str, bool]) -> tuple[str, ...]:
    """The key of the scores of these files (path -> whether it has a dataset); DataError where only some have one."""
    if len({*with_dataset.values()}) > 1:
        without = next(path for path, has in with_dataset.items() if not has)
        having = next(path for path, has in with_dataset.items() if has)
        raise DataError(f"{header_of(without)}, column dataset: not there, and in {having} it is; write it in all, or in none")
    told = all(with_dataset.values()) and connection.execute(f"select 1 from typed where dataset <> {text(ALL)} limit 1")
    return (*KEY, "dataset") if told and told.fetchone() is not None else KEY


def _check_once(connection: duckdb.DuckDBPyConnection, key: Sequence[str], *, raters: bool) -> None:
    twice = first_twice(connection, SCORED, (*key, "rater"))
    if twice is None:
        return
    (*completion, rater), first, second = twice
    mend = "keep one of the two rows" if raters else "keep one, or, if each is of another rater, name `rater` under `columns:`"
    who = f"rater '{rater}' scores " if raters else ""
    raise DataError(f"{second}: {who}{words_of(key, completion)} stand already in {first}; {mend}")
