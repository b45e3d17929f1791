"""What was imported: how many rows of each file, and how many of them hold no judgment, and why."""

from collections.abc import Iterator, Sequence

import duckdb

from judgebias.database import files
from judgebias.imports.rows import FAILURE
from judgebias.imports.score_joins import HUMAN_SCORES, SCORED
from judgebias.imports.value_checks import between_steps
from judgebias.sources.checks import place_of
from judgebias.sources.imported import SOURCE

IMPORTED = ("study", "file", "kind", "n", "example")
ROWS = "rows"  # kind: all rows of a file
NO_HUMAN_SCORE = "rating without a human score"
NOT_RATED = "human score without a rating"
ROUNDED = "between two steps, taken to the nearest"


def counts_of(connection: duckdb.DuckDBPyConnection, table: str) -> Iterator[dict]:
    """Yield the rows of the table of what was imported: file, kind, n, and where the first one of that kind is.

    table: path of the imported ratings or verdicts (parquet).
    """
    file, record = SOURCE
    imported = f"(select {FAILURE}, {file} as file, {record} as record from {files([table])})"
    yield from _counted(connection, imported, {f"'{ROWS}'": "true", FAILURE: f"{FAILURE} is not null"})


def counts_of_scores(connection: duckdb.DuckDBPyConnection, key: Sequence[str], *, raters: bool) -> Iterator[dict]:
    """Yield what else there is to count of ratings: those that were rounded, those without a human score, and human scores.

    Over the view `typed` and the tables of human scores with their `key`, as by `create_human_scores`. raters: whether single
    raters' scores are kept, in steps. Where no rating has a human score, none is said to lack one.
    """
    columns = ", ".join(key)
    joined = f"(select * from typed left join {HUMAN_SCORES} using ({columns}))"
    without = f"{FAILURE} is null and gt_number is null and score is null"
    kinds = {f"'{ROUNDED}'": f"rounded and {between_steps('rating_number')}"}
    has_scores = "gt_number is not null or score is not null"
    if connection.execute(f"select 1 from {joined} where {has_scores} limit 1").fetchone() is not None:
        kinds[f"'{NO_HUMAN_SCORE}'"] = without
    yield from _counted(connection, joined, kinds)
    rated = f"(select distinct {columns}, true as rated from typed)"
    scored = f"(select scored.*, coalesce(rated, false) as rated from {SCORED} as scored left join {rated} using ({columns}))"
    kinds = {"kind": "true", FAILURE: f"{FAILURE} is not null", f"'{NOT_RATED}'": f"{FAILURE} is null and not rated"}
    yield from _counted(
        connection, scored, kinds | ({f"'{ROUNDED}'": f"rounded and {between_steps('score')}"} if raters else {})
    )


def _counted(connection: duckdb.DuckDBPyConnection, rows: str, kinds: dict[str, str]) -> Iterator[dict]:
    """Counts of rows by file and kind; kinds: SQL for the kind -> SQL for which rows are of one."""
    for kind, condition in kinds.items():
        query = f"select file, {kind} as kind, count(*), min(record) from {rows} where {condition} group by all order by all"
        for path, named, n, first in connection.execute(query).fetchall():
            yield {"file": path, "kind": named, "n": n, "example": place_of(path, first)}
