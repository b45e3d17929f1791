"""Agreement of the human raters, with a gold team and with one another: Table 4 of Play Favorites (arXiv 2508.06709)."""

from collections.abc import Callable, Iterator

import numpy as np

from judgebias.database import connect, files, text
from judgebias.ratings.contingency import spearman
from judgebias.ratings.teams import GOLD

Found = tuple[float | None, int]  # a statistic, None where the scores do not allow it, and its n


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
        found = [row for row in rows if row["statistic"] == name and row["value"] is not None]
        mean = float(np.mean([row["value"] for row in found])) if found else None
        yield {"dimension": "", "statistic": name, "value": mean, "n": sum(row["n"] for row in found)}


def accuracy(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Found:
    """Return the share of ratings within the gold range; completion, rating, gold (of bool): (ratings,) of both teams."""
    size = completion.max() + 1
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, completion[gold], rating[gold])
    np.maximum.at(highest, completion[gold], rating[gold])
    of_raters, scored = completion[~gold], rating[~gold]
    ranged = highest[of_raters] >= lowest[of_raters]  # the gold team rated the completion
    inside = (lowest[of_raters] <= scored) & (scored <= highest[of_raters])
    return _share(inside.sum(), ranged.sum())


def gold_correlation(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Found:
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


def observed_agreement(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Found:
    """Return the share of pairs of raters of one completion whose ratings are equal; arrays as of `accuracy`.

    >>> observed_agreement(np.array([0, 0, 0]), np.array([4, 4, 3]), np.zeros(3, dtype=bool))
    (0.3333333333333333, 3)
    """
    counts, _ = _counts(completion, rating, gold)
    raters = counts.sum(axis=1)
    return _share((counts * (counts - 1)).sum() // 2, (raters * (raters - 1)).sum() // 2)


def full_agreement(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Found:
    """Return the share of completions of two raters or more whose ratings are all equal; arrays as of `accuracy`."""
    counts, _ = _counts(completion, rating, gold)
    return _share((counts.max(axis=1, initial=0) == counts.sum(axis=1)).sum(), len(counts))


def krippendorff_alpha(level: str) -> Callable[..., Found]:
    """Return the function of Krippendorff's alpha at a level of measurement, interval or ordinal; arrays as of `accuracy`.

    1 - D_o / D_e, observed by expected disagreement of two ratings of one completion. Source: Krippendorff (2011), Computing
    Krippendorff's Alpha-Reliability. There is none where all ratings are equal.
    """

    def alpha(completion: np.ndarray, rating: np.ndarray, gold: np.ndarray) -> Found:
        import krippendorff

        counts, levels = _counts(completion, rating, gold)
        value = None
        if len(levels) > 1:
            value = float(krippendorff.alpha(value_counts=counts, value_domain=levels, level_of_measurement=level))
        return value, int(counts.sum())

    return alpha


# The statistics of Table 4, in the order of the table of a study.
STATISTICS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Found]] = {
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


def _share(part: int, whole: int) -> Found:
    return (float(part / whole) if whole else None), int(whole)
