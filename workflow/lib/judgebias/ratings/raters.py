"""From a file of single raters' scores to the canonical table `raters.parquet`, checked row by row."""

from collections.abc import Sequence

import duckdb

from judgebias.database import connect, create_table, files, text
from judgebias.errors import DataError
from judgebias.ratings.registry import Registry
from judgebias.ratings.teams import RATERS, TEAMS
from judgebias.sources.checks import (
    KNOWN_MODEL,
    MISSING,
    NAMES_MODEL,
    NAMES_PROMPT,
    RATING_ON_SCALE,
    Check,
    check_columns,
    columns_of,
    fault_number,
    first_twice,
    missing_as_null,
    raise_first_fault,
    read_as_texts,
    reading,
)

REQUIRED = ("model", "dimension", "dataset", "prompt_id", "rater", "rating")
KEY = ("model_name", "dimension", "prompt_id", "team", "rater")
CANONICAL = """
    select model_name as model, dimension, dataset, prompt_id, team, rater, rating_number::integer as rating
    from typed where rating_number is not null order by dimension, record"""

CHECKS = (
    NAMES_MODEL,
    NAMES_PROMPT,
    Check("rater", "rater is null", "which names no rater", "'write a number or a name for the rater'"),
    KNOWN_MODEL,
    Check(
        "dimension",
        "scale_high is null",
        "a dimension that the ratings of the study do not have",
        "'write one of ' || known_dimensions",
    ),
    Check(
        "dataset",
        "known_dataset is null",
        "a dataset that the ratings of the study do not have",
        "'write one of ' || known_datasets",
    ),
    Check("team", f"team not in {TEAMS}", "which is no team", f"'write {' or '.join(TEAMS)}; empty means {RATERS}'"),
    *RATING_ON_SCALE,
)


def check_raters(path: str, registry: Registry, *, ratings: Sequence[str], output: str) -> None:
    """Write the canonical raters of a study (parquet): model, dimension, dataset, prompt_id, team, rater (text), rating (raw).

    path: a CSV or parquet file with the columns model, dimension, dataset, prompt_id, rater and rating, one row for each rating
    of a human, and `team` where a gold team rated some completions again: `raters`, the default, or `gold`. The dimensions with
    their scales and the datasets are those of the study's canonical `ratings` (parquet). Rows without rating are left out.

    Raises DataError naming file, line and column for: a missing file or column, an empty file, an id, dimension, dataset or
    team that is not known, a rating that is no integer on the scale, a rater of a team who rates a completion twice, and
    prompts that are all others than those of the ratings.
    """
    connection = connect()
    columns = columns_of(connection, path, REQUIRED)
    check_columns(path, columns, REQUIRED, ["team"])
    create_table(connection, "registry", "id varchar, model_name varchar", registry.names.items())
    connection.execute(f"create temp view rated as select * from {files(ratings)}")
    with reading(path):
        count = connection.execute(_typed(path, columns)).fetchone()[0]
    if count == 0:
        raise DataError(f"{path}: the file holds no rows; it needs one row per rater and completion")
    raise_first_fault(connection, "typed", CHECKS)
    _check_unique(connection)
    _check_same_prompts(connection, path)
    connection.execute(f"copy ({CANONICAL}) to {text(output)} (format parquet, compression zstd)")


def _check_same_prompts(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """DataError unless a prompt of the raters is one of the ratings: humans may have rated more than judges, but not others."""
    shared = "select 1 from typed join rated using (dimension, prompt_id) limit 1"
    if connection.execute(shared).fetchone() is None:
        first = "select min(prompt_id) from "
        theirs, ours = (connection.execute(first + table).fetchone()[0] for table in ("typed", "rated"))
        raise DataError(
            f"{path}, column prompt_id: none of its prompts, such as '{theirs}', is one of the study's ratings, such as "
            f"'{ours}'; write the same ids in both files"
        )


def _typed(path: str, columns: Sequence[str]) -> str:
    """SQL that creates the table `typed`: the texts of the file, what they mean, and the number of the fault of each row."""
    rows = f"select {text(path)} as file, row_number() over () as record, * from ({_texts(path, columns)})"
    return f"""
        create temp table typed as
        with scales as (
                select dimension, any_value(scale_low) as scale_low, any_value(scale_high) as scale_high
                from rated group by all),
             datasets as (select distinct dataset, dataset as known_dataset from rated),
             found as (
                select rows.*, model_name, scale_low, scale_high, known_dataset, try_cast(rating as double) as rating_number,
                       (select string_agg(dimension, ', ' order by dimension) from scales) as known_dimensions,
                       (select string_agg(dataset, ', ' order by dataset) from datasets) as known_datasets
                from ({rows}) as rows
                left join registry on model = id left join scales using (dimension) left join datasets using (dataset))
        select *, {fault_number(CHECKS)} as fault from found"""


def _texts(path: str, columns: Sequence[str]) -> str:
    """SQL for the columns that are read, as texts; an empty one, or a missing rating however spelled, is NULL."""
    relation, own = read_as_texts(path, columns)
    picked = [f"{missing_as_null(own[c], MISSING if c == 'rating' else ('',))} as {c}" for c in REQUIRED]
    team = f"coalesce(nullif(trim({own['team']}::varchar), ''), {text(RATERS)})" if "team" in own else text(RATERS)
    return f"select {', '.join(picked)}, {team} as team from {relation}"


def _check_unique(connection: duckdb.DuckDBPyConnection) -> None:
    twice = first_twice(connection, "typed", KEY)
    if twice is not None:
        (model, dimension, prompt, team, rater), first, second = twice
        raise DataError(
            f"{second}, column rater: rater '{rater}' of the team '{team}' rates model '{model}', "
            f"dimension '{dimension}' and prompt '{prompt}' already in {first}; keep one of the two rows"
        )
