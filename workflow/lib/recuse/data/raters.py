"""Human raters: their file, checked row by row, and their agreement, Table 4 of Play Favorites
(arXiv 2508.06709).
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from recuse.base.database import (
    Connection,
    connect,
    create_table,
    exists,
    files,
    text,
    values_in,
    write_rows,
)
from recuse.base.errors import DataError
from recuse.base.tables import column_names
from recuse.data.cells import occasion_in
from recuse.data.describe import spearman
from recuse.data.faults import NAMED, Check, first_twice, known, on_scale, raise_first_fault
from recuse.data.files import RawFile, as_texts, reading, whole_as_text
from recuse.data.lines import check_declared, check_filled, check_lines
from recuse.data.registry import GOLD, RATERS, TEAMS, Registry

AGREEMENT = column_names("study dimension statistic value n")

REQUIRED = ("model", "dimension", "dataset", "prompt_id", "rater", "rating")
OPTIONAL = ("occasion", "team")
KEY = ("model_name", "dimension", "dataset", "prompt_id", "occasion", "team", "rater")
CHECKS = (
    NAMED["model"],
    NAMED["prompt"],
    NAMED["rater"],
    known("model"),
    *(
        Check(
            column,
            f"{joined} is null",
            f"a {column} without ratings in the study",
            f"write one of {{all_{column}s}}",
        )
        for column, joined in (("dimension", "scale_high"), ("dataset", "rated_dataset"))
    ),
    Check(
        "team",
        f"team not in {TEAMS}",
        "which is not a team",
        f"write {' or '.join(TEAMS)}; empty means {RATERS}",
    ),
    *on_scale("rating", "an integer"),
)
STATISTICS = (  # of Table 4, in the order of a study's table
    *("accuracy", "gold_correlation", "observed_agreement", "full_agreement"),
    *("krippendorff_alpha", "krippendorff_alpha_ordinal"),
)


def check_raters(
    path: str,
    registry: Registry,
    *,
    ratings: Sequence[str],
    output: str,
    declared: Mapping[str, Mapping] | None = None,
) -> None:
    """Write the canonical raters of a study (parquet), a row for each rating by a human.

    Its columns are model, dimension, dataset, prompt_id, occasion if the file has it, team, rater
    (text) and rating (raw).

    path: a CSV or parquet file with the columns model, dimension, dataset, prompt_id, rater and
    rating, one row for each rating by a human, `team` if a gold team rated some completions again:
    `raters`, the default, or `gold`, and `occasion` if a model answered a prompt several times.
    Dimensions, their scales and datasets come from the study's canonical `ratings` (parquet). Rows
    without rating are left out.

    Raises DataError naming file, line and column for a missing file or column, an empty file, an
    unknown id, dimension, dataset or team, a rating off the scale, a rater who rates a completion
    twice, a file none of whose prompts is rated, and one without occasions where models have
    several answers to a prompt.
    """
    check_declared([path], declared)
    connection = connect()
    file = RawFile.open(path, REQUIRED, OPTIONAL)
    create_table(connection, "registry", "id varchar, name varchar", registry.names.items())
    connection.execute(f"create temp view rated as select * from {files(ratings)}")
    with reading(path):
        count = _create_typed(connection, file, registry.sql_name("name", "model"))
    check_filled(path, count, "rater and completion")
    check_lines(path, count, {*REQUIRED, *OPTIONAL} - {"prompt_id"})
    raise_first_fault(connection, "typed", CHECKS)
    if "occasion" not in file.columns:
        _check_one_occasion(connection, path)
    twice = first_twice(connection, "typed", KEY)
    if twice is not None:
        (model, dimension, dataset, prompt, occasion, team, rater), first, second = twice
        answer = f"prompt '{prompt}'" + (f", occasion '{occasion}'" if occasion else "")
        raise DataError(
            f"{second}, column rater: rater '{rater}' of team '{team}' has already rated model"
            f" '{model}', dimension '{dimension}', dataset '{dataset}' and {answer} in {first};"
            " keep one of the two rows"
        )
    if not exists(connection, "from typed join rated using (dimension, dataset, prompt_id)"):
        first = "select prompt_id, dataset from {} order by all limit 1"
        (theirs, of_theirs), (ours, of_ours) = (
            connection.execute(first.format(rows)).fetchone() for rows in ("typed", "rated")
        )
        raise DataError(
            f"{path}, column prompt_id: found no prompt that the study rates: its first is"
            f" '{theirs}' in dataset '{of_theirs}', the study's '{ours}' in '{of_ours}'; write the"
            " same ids and datasets in both files"
        )
    occasion = "nullif(occasion, '') as occasion, " if "occasion" in file.columns else ""
    canonical = (
        f"model_name as model, dimension, dataset, prompt_id, {occasion}team, rater,"
        " rating_number::integer as rating"
    )
    write_rows(
        connection,
        f"select {canonical} from typed where rating_number is not null order by dimension, record",
        output,
    )


def _check_one_occasion(connection: Connection, path: str) -> None:
    """DataError if the study has several answers of a model to one prompt, which raters without
    occasions do not tell apart.
    """
    several = connection.execute("""
        select model, prompt_id from rated group by model, dimension, dataset, prompt_id having min(occasion) <> max(occasion)
        order by all limit 1""").fetchone()
    if several is not None:
        model, prompt = several
        raise DataError(
            f"{path}: model '{model}' answers prompt '{prompt}' on several occasions; add a column"
            " `occasion`, or give each answer a prompt_id of its own"
        )


def _create_typed(connection: Connection, file: RawFile, name_of_model: str) -> int:
    """Create the table `typed` of the file's texts and their values; return the number of rows.

    name_of_model: SQL, from the `model` of the file and its `name` in the table `registry`.
    """
    stored = file.stored
    stored["prompt_id"] = whole_as_text(stored["prompt_id"])
    texts = as_texts(stored, (*REQUIRED, "occasion"), ("rating",))
    texts["occasion"] = f"coalesce({texts.get('occasion', 'null')}, '')"
    team = f"nullif(trim({stored['team']}::varchar), '')" if "team" in stored else "null"
    texts["team"] = f"coalesce({team}, {text(RATERS)})"
    picked = ", ".join(f"{value} as {column}" for column, value in texts.items())
    query = f"""
        create temp table typed as
        with scales as (
                select dimension, any_value(scale_low) as scale_low, any_value(scale_high) as scale_high
                from rated group by all),
             datasets as (select distinct dataset, dataset as rated_dataset from rated),
             texts as (select {file.origin}, {picked} from {file.relation})
        select texts.*, {name_of_model} as model_name, scale_low, scale_high, rated_dataset,
               as_number(rating) as rating_number,
               (select string_agg(dimension, ', ' order by dimension) from scales) as all_dimensions,
               (select string_agg(dataset, ', ' order by dataset) from datasets) as all_datasets
        from texts left join registry on model = id left join scales using (dimension) left join datasets using (dataset)"""
    return connection.execute(query).fetchone()[0]


def rater_agreement(path: str) -> Iterator[dict]:
    """Yield the rows of the agreement table from the canonical raters (parquet), by dimension and
    then on average.

    accuracy: share of the raters' ratings between the lowest and the highest gold rating of their
    completion; n ratings. gold_correlation: Spearman's, with ties, of the two teams' mean ratings;
    n completions that both teams rated. observed_agreement: share of the pairs of raters of a
    completion that agree; n pairs. full_agreement: share of the completions on which all raters
    agree; n completions of two raters or more. krippendorff_alpha: 1 - D_o / D_e, observed and
    expected disagreement of two ratings of one completion, at the interval level of measurement,
    and _ordinal at the ordinal; n ratings of completions of two raters or more. Source:
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    The last four are about the team of raters, any number per completion. A value is None if the
    ratings do not allow it. Dimension "" is the plain mean of the dimensions with a value, with the
    sum of their n.
    """
    rows = [
        {"dimension": dimension, "statistic": name, "value": value, "n": int(n)}
        for dimension, raters, gold, levels in _counts(path)
        for name, (value, n) in zip(STATISTICS, _statistics(raters, gold, levels), strict=True)
    ]
    yield from rows
    for name in STATISTICS:
        by_dimension = [
            row for row in rows if row["statistic"] == name and row["value"] is not None
        ]
        mean = float(np.mean([row["value"] for row in by_dimension])) if by_dimension else None
        yield {
            "dimension": "",
            "statistic": name,
            "value": mean,
            "n": sum(row["n"] for row in by_dimension),
        }


def _counts(path: str) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each dimension, each team's counts of levels by completion, (completions, levels), and
    the levels.
    """
    connection, raters = connect(), files([path])
    completion = ", ".join(("model", "prompt_id", "dataset", *occasion_in(path)))
    query = f"""
        select dense_rank() over (order by {completion}) - 1 as completion, rating,
               team = {text(GOLD)} as gold
        from {raters} where dimension = ?"""
    dimensions = f"select distinct dimension from {raters} order by all"
    for dimension in values_in(connection, dimensions):
        columns = connection.execute(query, [dimension]).fetchnumpy()
        completion, rating, gold = (
            np.asarray(columns[name]) for name in ("completion", "rating", "gold")
        )
        levels, level = np.unique(rating, return_inverse=True)
        counts = np.zeros((2, completion.max() + 1, len(levels)), dtype=np.int64)
        np.add.at(counts, (gold.astype(int), completion, level), 1)
        yield dimension, *counts, levels


def _statistics(
    raters: np.ndarray, gold: np.ndarray, levels: np.ndarray
) -> Iterator[tuple[float | None, int]]:
    """Yield value and n of each of STATISTICS; raters, gold: (completions, levels) counts."""
    import krippendorff

    not_below = np.cumsum(gold, axis=1) > 0  # the lowest gold rating of the completion
    in_range = not_below & (np.cumsum(gold[:, ::-1], axis=1)[:, ::-1] > 0)
    yield _share(raters[in_range].sum(), raters[gold.any(axis=1)].sum())
    both = raters.any(axis=1) & gold.any(axis=1)
    yield (
        _rank_correlation(
            *(team[both] @ levels / team[both].sum(axis=1) for team in (raters, gold))
        ),
        both.sum(),
    )
    repeated = raters[raters.sum(axis=1) > 1]
    n = repeated.sum(axis=1)
    yield _share((repeated * (repeated - 1)).sum() // 2, (n * (n - 1)).sum() // 2)
    yield _share((repeated.max(axis=1) == n).sum(), len(repeated))
    used = repeated.any(axis=0)
    for measurement in ("interval", "ordinal"):
        options = {"value_domain": levels[used], "level_of_measurement": measurement}
        # If all ratings are equal, there is none.
        alpha = (
            float(krippendorff.alpha(value_counts=repeated[:, used], **options))
            if used.sum() > 1
            else None
        )
        yield alpha, n.sum()


def _rank_correlation(one: np.ndarray, other: np.ndarray) -> float | None:
    """Spearman's correlation of two arrays, (completions,)."""
    (rows, row), (columns, column) = (
        np.unique(means, return_inverse=True) for means in (one, other)
    )
    table = np.zeros((rows.size, columns.size), dtype=np.int64)
    np.add.at(table, (row, column), 1)
    value = float(spearman(table, rows, columns)) if len(one) else np.nan
    return None if np.isnan(value) else value


def _share(part: int, whole: int) -> tuple[float | None, int]:
    return (float(part / whole) if whole else None), whole
