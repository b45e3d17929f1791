"""How human scores meet the ratings: each completion has one, names are the same in both, and what does not join is said."""

from collections.abc import Sequence

import duckdb

from judgebias.errors import DataError
from judgebias.imports.inspect_logs import EPOCH
from judgebias.sources.checks import header_of, place_of

HUMAN_SCORES = "human_scores"  # one row for each completion: its key and score
SCORED = "scored"  # one row for each score
NEAR = 1e-9  # scores no farther apart are one
WORDS = {"model_name": "model", "model": "model", "dimension": "dimension", "prompt_id": "prompt", "dataset": "dataset"}


def words_of(key: Sequence[str], values: Sequence[str]) -> str:
    """A completion in words: model 'a', dimension 'b' and prompt 'c'."""
    *first, last = (f"{WORDS[column]} '{value}'" for column, value in zip(key, values, strict=True))
    return f"{', '.join(first)} and {last}"


def check_one_score(connection: duckdb.DuckDBPyConnection, column: str) -> None:
    """DataError where two human scores beside the ratings (view `typed`) are of one completion; column: what the file calls
    them.
    """
    key = ("model_name", "dimension", "dataset", "prompt_id")
    found = connection.execute(f"""
        select {", ".join(key)} from typed where gt_number is not null group by all
        having max(gt_number) - min(gt_number) > {NEAR} order by all limit 1""").fetchone()
    if found is None:
        return
    same = " and ".join(f"{each} is not distinct from ?" for each in key)
    scores = connection.execute(
        f"select file, record, gt, gt_number from typed where {same} and gt_number is not null order by file, record", found
    ).fetchall()
    *first, shown, score = scores[0]
    *second, other, _ = next(each for each in scores if abs(each[-1] - score) > NEAR)
    raise DataError(
        f"{place_of(*second)}, column {column}: found '{other}' for {words_of(key, found)}, and '{shown}' in "
        f"{place_of(*first)}; write one score for each completion, the same in all its rows; scores of single raters go into "
        "a file of their own, under `references:` of `import` in config"
    )


def check_joined(connection: duckdb.DuckDBPyConnection, paths: Sequence[str], key: Sequence[str]) -> None:
    """DataError unless a completion with a human score is one of the ratings, and each of one dataset."""
    columns = ", ".join(key)
    if connection.execute(f"select 1 from {HUMAN_SCORES} limit 1").fetchone() is None:
        raise DataError(
            f"{header_of(paths[0])}: none of its scores is a number: each is empty or stands under `missing:`; write them, or "
            "leave `references:` out"
        )
    if connection.execute(f"select 1 from typed join {HUMAN_SCORES} using ({columns}) limit 1").fetchone() is None:
        theirs, ours = (
            connection.execute(f"select {columns} from {table} order by all limit 1").fetchone() or ("none",) * len(key)
            for table in (HUMAN_SCORES, "typed")
        )
        *first, last = (WORDS[column] for column in key)
        raise DataError(
            f"{header_of(paths[0])}: none of its completions is one of the ratings: found {', '.join(first)} and {last} "
            f"{', '.join(map(repr, theirs))}, and in the ratings {', '.join(map(repr, ours))}; write the same names in both"
        )
    if "dataset" in key:
        return
    several = connection.execute(f"""
        select {columns}, min(dataset), max(dataset) from typed join {HUMAN_SCORES} using ({columns})
        group by all having min(dataset) <> max(dataset) order by all limit 1""").fetchone()
    if several is not None:
        *completion, one, other = several
        raise DataError(
            f"{header_of(paths[0])}, column dataset: not there, and {words_of(key, completion)} are rated in the datasets "
            f"'{one}' and '{other}': which one the human score is of cannot be told; add the dataset of each score, and name "
            "its column under `references: columns: dataset` if it has another name"
        )


def what_did_not_join(connection: duckdb.DuckDBPyConnection, key: Sequence[str]) -> str | None:
    """A line about completions without human scores and about human scores of no completion, with the first of each.

    key: as by `create_human_scores`. None where all have joined, and where there are no files of human scores.
    """
    if connection.execute(f"select 1 from {SCORED} limit 1").fetchone() is None:
        return None
    columns = ", ".join(key)
    unscored, of_ratings = _first_unjoined(connection, "typed", SCORED, key)
    unrated, of_scores = _first_unjoined(connection, f"(select * from {SCORED} where failure is null)", "typed", key)
    parts = []
    if unscored:
        (total,) = connection.execute(f"select count(*) from (select distinct {columns} from typed)").fetchone()
        parts.append(f"without a human score: {unscored} of {total} rated completions, the first is {of_ratings}")
    if unrated:
        parts.append(f"with a human score, but without a rating: {unrated}, the first is {of_scores}")
    if len(parts) == 2:
        parts.append("where these are the same completions, write the same names in both")
    base = f"regexp_replace(prompt_id, '{EPOCH}[0-9]+$', '')"
    of_epoch = connection.execute(f"""
        select prompt_id, {base} from typed anti join {SCORED} using ({columns})
        where {base} <> prompt_id and {base} in (select prompt_id from {SCORED}) order by file, record limit 1""").fetchone()
    if of_epoch is not None:
        parts.append(
            "another epoch is another answer, so a score of '{1}' is not one of '{0}': score it by that name".format(*of_epoch)
        )
    return "; ".join(parts) or None


def _first_unjoined(connection: duckdb.DuckDBPyConnection, rows: str, others: str, key: Sequence[str]) -> tuple[int, str]:
    """How many completions of `rows` (SQL) are none of the `others`, and the first one in words, by the names in its file."""
    columns = ", ".join(key)
    unjoined = f"{rows} as rows anti join {others} as others using ({columns})"
    (count,) = connection.execute(f"select count(*) from (select distinct {columns} from {unjoined})").fetchone()
    if not count:
        return 0, ""
    shown = ["model" if column == "model_name" else column for column in key]
    first = f"select file, record, {', '.join(shown)} from {unjoined} order by file, record limit 1"
    file, record, *completion = connection.execute(first).fetchone()
    return count, f"{words_of(shown, completion)} in {place_of(file, record)}"
