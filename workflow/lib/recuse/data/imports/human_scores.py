"""Human scores in a file of their own, joined to ratings by model, prompt and dimension; of single raters if they are told.

Each completion has one score, names are the same in both files, and what does not join is said.
"""

from collections.abc import Mapping, Sequence

import duckdb

from recuse.base.database import text
from recuse.base.errors import DataError
from recuse.base.words import enumerated
from recuse.data.faults import NAMES_MODEL, NAMES_PROMPT, NAMES_RATER, Check, fault_number, first_twice, raise_first_fault
from recuse.data.files import header_of, place_of, reading
from recuse.data.imports.inspect import EPOCH
from recuse.data.imports.rows import ALL, Table
from recuse.data.imports.values import OF_SCALE, value_checks

HUMAN_SCORES = "human_scores"  # one row for each completion: its key and score
SCORED = "scored"  # one row for each score
NEAR = 1e-9  # scores no farther apart are one
WORDS = {"model_name": "model", "model": "model", "dimension": "dimension", "prompt_id": "prompt", "dataset": "dataset"}
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
    NAMES_RATER,
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
        others = "file varchar, record bigint, failure varchar, kind varchar, rounded boolean, step double"
        connection.execute(f"create temp table {SCORED} ({others}, {names}, score double)")
        connection.execute(f"create temp table {HUMAN_SCORES} ({names}, score double)")
        return KEY
    checks = (*OF_ROWS, *value_checks("rating", stepped=raters, under="`missing:` of `references:`"))
    named: dict[str, str] = {}
    with_dataset: dict[str, bool] = {}
    for place, path in enumerate(paths):
        rows, columns = _scores_in(connection, path, references, scales)
        named, with_dataset[path] = named | columns, "dataset" in columns
        verb = f"insert into {SCORED} by name" if place else f"create temp table {SCORED} as"
        with reading(path):
            connection.execute(f"""
                {verb} select *, {fault_number(checks)} as fault, rating_number as score
                from (select found.*, coalesce(registry.name, model) as model_name, {OF_SCALE},
                             try_cast(rating as double) as rating_number
                      from ({rows}) as found left join registry on model = id left join declared using (dimension))""")
    raise_first_fault(connection, SCORED, checks, named=named)
    key = _key_of(connection, with_dataset)
    _check_once(connection, key, raters=raters)
    connection.execute(f"""
        create temp table {HUMAN_SCORES} as
        select {", ".join(key)}, avg(score) as score from {SCORED} where score is not null group by all order by all""")
    _check_joined(connection, paths, key)
    return key


def _scores_in(
    connection: duckdb.DuckDBPyConnection, path: str, references: Mapping, scales: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """SQL for the scores in a file as texts, a row for each, and what the file calls its columns."""
    file, named = Table(connection, path, table="references_found"), references.get("columns", {})
    single = {key: value for key, value in named.items() if isinstance(value, str)}
    several = () if "rating" in single else named.get("rating", ())
    columns = {"model": file.needed(single, "model"), "prompt_id": file.needed(single, "prompt", or_else=("prompt_id",))}
    columns["dimension"] = file.column(single, "dimension") if len(scales) == 1 else file.needed(single, "dimension")
    scores = [file.needed({"rating": column}, "rating") for column in several] or [file.needed(single, "rating")]
    columns["rater"] = file.needed(single, "rater") if "rater" in single else None
    columns["dataset"] = file.column(single, "dataset")
    columns = {key: column for key, column in columns.items() if column is not None}
    texts = {"dimension": text(scales[0]), "dataset": "null", "rater": text("")}
    texts |= {key: file.name(column) for key, column in columns.items()}
    texts["dataset"] = f"coalesce({texts['dataset']}, '')"  # an empty one is of no rating
    texts["kind"] = text(SEVERAL if len(scores) > 1 else ONE)
    parts = []
    for column in scores:
        texts["rating"], texts["failure"] = file.score(column, references.get("missing", ()))
        if len(scores) > 1:
            texts["rater"] = text(column)
        picked = ", ".join(f"({expression})::varchar as {name}" for name, expression in texts.items())
        parts.append(f"select file, record, {picked} from {file.source}")
    return " union all ".join(parts), columns | {"rating": ", ".join(scores)}


def _key_of(connection: duckdb.DuckDBPyConnection, with_dataset: Mapping[str, bool]) -> tuple[str, ...]:
    """The key of the scores of these files (path -> whether it has a dataset); DataError where only some have one."""
    if len({*with_dataset.values()}) > 1:
        without = next(path for path, has in with_dataset.items() if not has)
        having = next(path for path, has in with_dataset.items() if has)
        raise DataError(f"{header_of(without)}, column dataset: not there, and in {having} it is; write it in all, or in none")
    rated = connection.execute(f"select 1 from typed where dataset <> {text(ALL)} limit 1").fetchone()
    return (*KEY, "dataset") if all(with_dataset.values()) and rated is not None else KEY


def _check_once(connection: duckdb.DuckDBPyConnection, key: Sequence[str], *, raters: bool) -> None:
    twice = first_twice(connection, SCORED, (*key, "rater"))
    if twice is None:
        return
    (*completion, rater), first, second = twice
    mend = "keep one of the two rows" if raters else "keep one, or, if each is of another rater, name `rater` under `columns:`"
    who = f"rater '{rater}' scores " if raters else ""
    raise DataError(f"{second}: {who}{_words_of(key, completion)} stand already in {first}; {mend}")


def _check_joined(connection: duckdb.DuckDBPyConnection, paths: Sequence[str], key: Sequence[str]) -> None:
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
        names = enumerated([WORDS[column] for column in key])
        raise DataError(
            f"{header_of(paths[0])}: none of its completions is one of the ratings: found {names} "
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
            f"{header_of(paths[0])}, column dataset: not there, and {_words_of(key, completion)} are rated in the datasets "
            f"'{one}' and '{other}': which one the human score is of cannot be told; add the dataset of each score, and name "
            "its column under `references: columns: dataset` if it has another name"
        )


def check_one_score(connection: duckdb.DuckDBPyConnection, column: str) -> None:
    """DataError where two human scores beside the ratings (view `typed`) are of one completion; column: what the file calls
    them.
    """
    key = ("model_name", "dimension", "dataset", "prompt_id")
    completion = connection.execute(f"""
        select {", ".join(key)} from typed where gt_number is not null group by all
        having max(gt_number) - min(gt_number) > {NEAR} order by all limit 1""").fetchone()
    if completion is None:
        return
    same = " and ".join(f"{each} is not distinct from ?" for each in key)
    rows = f"select file, record, gt, gt_number from typed where {same} and gt_number is not null order by file, record"
    scores = connection.execute(rows, completion).fetchall()
    *first, shown, score = scores[0]
    *second, other, _ = next(each for each in scores if abs(each[-1] - score) > NEAR)
    raise DataError(
        f"{place_of(*second)}, column {column}: found '{other}' for {_words_of(key, completion)}, and '{shown}' in "
        f"{place_of(*first)}; write one score for each completion, the same in all its rows; scores of single raters go into "
        "a file of their own, under `references:` of `import` in config"
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
    return count, f"{_words_of(shown, completion)} in {place_of(file, record)}"


def _words_of(key: Sequence[str], values: Sequence[str]) -> str:
    """A completion in words: model 'a', dimension 'b' and prompt 'c'."""
    return enumerated([f"{WORDS[column]} '{value}'" for column, value in zip(key, values, strict=True)])
