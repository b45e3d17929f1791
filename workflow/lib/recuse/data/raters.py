"""Human raters: their file, checked row by row, and their agreement, Table 4 of Play Favorites (arXiv 2508.06709)."""

from collections.abc import Callable, Iterator, Sequence

import duckdb
import numpy as np

from recuse.base.database import connect, create_table, files, text
from recuse.base.errors import DataError
from recuse.data.describe import spearman
from recuse.data.faults import (
    KNOWN_MODEL,
    NAMES_MODEL,
    NAMES_PROMPT,
    NAMES_RATER,
    RATING_ON_SCALE,
    Check,
    fault_number,
    first_twice,
    raise_first_fault,
)
from recuse.data.files import check_columns, columns_of, read_as_texts, reading, texts_of
from recuse.data.registry import GOLD, RATERS, TEAMS, Registry

REQUIRED = ("model", "dimension", "dataset", "prompt_id", "rater", "rating")
KEY = ("model_name", "dimension", "prompt_id", "team", "rater")
CHECKS = (
    NAMES_MODEL,
    NAMES_PROMPT,
    NAMES_RATER,
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
Statistic = tuple[float | None, int]  # None where the scores do not allow it, and its n


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
        count = _create_typed(connection, path, columns)
    if count == 0:
        raise DataError(f"{path}: the file holds no rows; it needs one row per rater and completion")
    raise_first_fault(connection, "typed", CHECKS)
    twice = first_twice(connection, "typed", KEY)
    if twice is not None:
        (model, dimension, prompt, team, rater), first, second = twice
        raise DataError(
            f"{second}, column rater: rater '{rater}' of the team '{team}' rates model '{model}', "
            f"dimension '{dimension}' and prompt '{prompt}' already in {first}; keep one of the two rows"
        )
    _check_same_prompts(connection, path)
    connection.execute(f"""
        copy (select model_name as model, dimension, dataset, prompt_id, team, rater, rating_number::integer as rating
              from typed where rating_number is not null order by dimension, record)
        to {text(output)} (format parquet, compression zstd)""")


def _create_typed(connection: duckdb.DuckDBPyConnection, path: str, columns: Sequence[str]) -> int:
    """Create the table `typed`: the texts of the file, what they mean, and the number of each row's fault; how many rows."""
    relation, expressions = read_as_texts(path, columns)
    texts = texts_of(expressions, REQUIRED, ("rating",))
    team = f"nullif(trim({expressions['team']}::varchar), '')" if "team" in expressions else "null"
    texts["team"] = f"coalesce({team}, {text(RATERS)})"
    picked = ", ".join(f"{value} as {column}" for column, value in texts.items())
    query = f"""
        create temp table typed as
        with scales as (
                select dimension, any_value(scale_low) as scale_low, any_value(scale_high) as scale_high
                from rated group by all),
             datasets as (select distinct dataset, dataset as known_dataset from rated),
             texts as (select {text(path)} as file, row_number() over () as record, {picked} from {relation}),
             looked_up as (
                select texts.*, model_name, scale_low, scale_high, known_dataset, try_cast(rating as double) as rating_number,
                       (select string_agg(dimension, ', ' order by dimension) from scales) as known_dimensions,
                       (select string_agg(dataset, ', ' order by dataset) from datasets) as known_datasets
                from texts
                left join registry on model = id left join scales using (dimension) left join datasets using (dataset))
        select *, {fault_number(CHECKS)} as fault from looked_up"""
    return connection.execute(query).fetchone()[0]


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


def agreement(path: str) -> Iterator[dict]:
    """Yield the rows of the agreement table from the canonical raters (parquet), by dimension and then on average.

    accuracy: share of the raters' ratings within the lowest and the highest gold rating of their completion; n ratings.
    gold_correlation: Spearman's, with ties, of the two teams' mean ratings; n completions that both teams rated.
    observed_agreement: share of the pairs of raters of a completion that rate it alike; n pairs. full_agreement: share of the
    completions that all their raters rate alike; n completions of two raters or more. krippendorff_alpha: of the raters, at the
    interval level of measurement, and _ordinal at the ordinal; n ratings of completions of two raters or more.

    The last four are of the team of raters on all completions; a completion may have any number of raters. Dimension "" is the
    plain mean of the dimensions that have a value, with the sum of their n.
    """
    rows = [
        {"dimension": dimension, "statistic": name, "value": value, "n": n}
        for dimension, (completion, rating, gold) in _read(path)
        for name, statistic in STATISTICS.items()
        for value, n in [statistic(completion, rating, gold)]
    ]
    yield from rows
    for name in STATISTICS:
        by_dimension = [row for row in rows if row["statistic"] == name and row["value"] is not None]
        mean = float(np.mean([row["value"] for row in by_dimension])) if by_dimension else None
        yield {"dimension": "", "statistic": name, "value": mean, "n": sum(row["n"] for row in by_dimension)}


def accuracy(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Statistic:
    """Return the share of ratings within the gold range; completion, rating, gold (of bool): (ratings,) of both teams."""
    size = completion.max() + 1
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, completion[gold], rating[gold])
    np.maximum.at(highest, completion[gold], rating[gold])
    of_raters, scored = completion[~gold], rating[~gold]
    ranged = highest[of_raters] >= lowest[of_raters]  # the gold team rated the completion
    inside = (lowest[of_raters] <= scored) & (scored <= highest[of_raters])
    return _share(inside.sum(), ranged.sum())


def gold_correlation(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Statistic:
    """Return the rank correlation of the teams' mean ratings of a completion; arrays as of `accuracy`."""
    size = completion.max() + 1
    of_teams = [np.bincount(completion[mask], minlength=size) for mask in (~gold, gold)]
    sums = [np.bincount(completion[mask], rating[mask], minlength=size) for mask in (~gold, gold)]
    both = (of_teams[0] > 0) & (of_teams[1] > 0)
    means = [total[both] / n[both] for total, n in zip(sums, of_teams, strict=True)]
    if not both.any():
        return None, 0
    (rows, row), (columns, column) = (np.unique(mean, return_inverse=True) for mean in means)
    table = np.zeros((rows.size, columns.size), dtype=np.int64)
    np.add.at(table, (row, column), 1)
    value = float(spearman(table, rows, columns))
    return (None if np.isnan(value) else value), int(both.sum())


def observed_agreement(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Statistic:
    """Return the share of pairs of raters of one completion whose ratings are equal; arrays as of `accuracy`.

    >>> observed_agreement(np.array([0, 0, 0]), np.array([4, 4, 3]), np.zeros(3, dtype=bool))
    (0.3333333333333333, 3)
    """
    counts, _ = _counts(completion, rating, gold)
    raters = counts.sum(axis=1)
    return _share((counts * (counts - 1)).sum() // 2, (raters * (raters - 1)).sum() // 2)


def full_agreement(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Statistic:
    """Return the share of completions of two raters or more whose ratings are all equal; arrays as of `accuracy`."""
    counts, _ = _counts(completion, rating, gold)
    return _share((counts.max(axis=1, initial=0) == counts.sum(axis=1)).sum(), len(counts))


def krippendorff_alpha(level: str) -> Callable[..., Statistic]:
    """Return the function of Krippendorff's alpha at a level of measurement, interval or ordinal; arrays as of `accuracy`.

    1 - D_o / D_e, observed by expected disagreement of two ratings of one completion. Source: Krippendorff (2011), Computing
    Krippendorff's Alpha-Reliability. There is none where all ratings are equal.
    """

    def alpha(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Statistic:
        import krippendorff

        counts, levels = _counts(completion, rating, gold)
        value = None
        if len(levels) > 1:
            value = float(krippendorff.alpha(value_counts=counts, value_domain=levels, level_of_measurement=level))
        return value, int(counts.sum())

    return alpha


# The statistics of Table 4, in the order of the table of a study.
STATISTICS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Statistic]] = {
    "accuracy": accuracy,
    "gold_correlation": gold_correlation,
    "observed_agreement": observed_agreement,
    "full_agreement": full_agreement,
    "krippendorff_alpha": krippendorff_alpha("interval"),
    "krippendorff_alpha_ordinal": krippendorff_alpha("ordinal"),
}


def _read(path: str) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Yield each dimension's ratings of both teams, (ratings,) each: completion (from 0), rating and whether it is gold."""
    connection, raters = connect(), files([path])
    query = f"""
        select dense_rank() over (order by model, prompt_id) - 1 as completion, rating, team = {text(GOLD)} as gold
        from {raters} where dimension = ?"""
    for (dimension,) in connection.execute(f"select distinct dimension from {raters} order by all").fetchall():
        columns = connection.execute(query, [dimension]).fetchnumpy()
        yield dimension, tuple(np.asarray(columns[name]) for name in ("completion", "rating", "gold"))


def _counts(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How often the raters gave each level to each completion of two raters or more, (completions, levels), and the levels."""
    completion, rating = completion[~gold], rating[~gold]
    rated = np.bincount(completion)[completion] > 1 if completion.size else np.zeros(0, dtype=bool)
    units, unit = np.unique(completion[rated], return_inverse=True)
    levels, level = np.unique(rating[rated], return_inverse=True)
    counts = np.zeros((units.size, levels.size), dtype=np.int64)
    np.add.at(counts, (unit, level), 1)
    return counts, levels


def _share(part: int, whole: int) -> Statistic:
    return (float(part / whole) if whole else None), int(whole)
