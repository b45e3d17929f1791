"""Descriptive statistics of a study's ratings: mean scores of the models, and correlations of
judges with humans.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import nan, sqrt
from statistics import NormalDist

import numpy as np

from recuse.base.tables import column_names
from recuse.data.cells import Cells
from recuse.data.registry import HUMAN

MEAN_SCORES = column_names("study dimension judge model mean n")
CORRELATIONS = column_names("study dimension judge statistic value std_error ci_low ci_high n")


def pearson(tables: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Pearson's correlation of each contingency table, (...,); NaN if a margin has one level.

    tables: (..., r, c) counts; rows: (..., r) and columns: (..., c) the scores of their levels.

    >>> float(pearson(np.array([[2, 1], [1, 2]]), np.arange(2), np.arange(2)).round(4))
    0.3333
    """
    n = tables.sum(axis=(-2, -1))
    row_margin, column_margin = tables.sum(axis=-1), tables.sum(axis=-2)
    x = rows - ((row_margin * rows).sum(axis=-1) / n)[..., None]
    y = columns - ((column_margin * columns).sum(axis=-1) / n)[..., None]
    covariance = (tables * x[..., :, None] * y[..., None, :]).sum(axis=(-2, -1))
    variances = (row_margin * x**2).sum(axis=-1) * (column_margin * y**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(variances > 0, covariance / np.sqrt(variances), np.nan)


def spearman(tables: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Spearman's rank correlation with ties, (...,): Pearson's correlation of the mid-ranks of the
    levels.
    """
    midranks = (
        np.cumsum(margin, axis=-1) - (margin - 1) / 2
        for margin in (tables.sum(axis=-1), tables.sum(axis=-2))
    )
    return pearson(tables, *midranks)


def gamma(tables: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Goodman and Kruskal's gamma, (...,): (C - D) / (C + D), C and D the concordant and discordant
    pairs; NaN if none.

    Pairs tied on either side do not count. Source: Goodman and Kruskal (1954), equation 20.

    >>> float(gamma(np.array([[2, 1], [1, 2]]), np.arange(2), np.arange(2)))
    0.6
    """
    pairs = []
    for counts in (tables, tables[..., ::-1]):
        sums = np.cumsum(np.cumsum(counts, axis=-2), axis=-1)
        partners = np.zeros_like(sums)  # counts strictly above and to the left of each entry
        partners[..., 1:, 1:] = sums[..., :-1, :-1]
        pairs.append((counts * partners).sum(axis=(-2, -1)))
    concordant, discordant = pairs
    with np.errstate(invalid="ignore", divide="ignore"):
        return (concordant - discordant) / (concordant + discordant)


PEARSON, WEIGHTED_KAPPA = "pearson", "weighted_kappa"
WITH_OTHERS = "pearson_with_others"  # with the mean of the other judges, without human scores
STATISTICS: dict[str, Callable] = {PEARSON: pearson, "spearman": spearman, "gamma": gamma}


def jackknife_error(
    statistic: Callable, table: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> float:
    """Delete-one jackknife standard error of a statistic of the n observations in a table, (r, c)
    counts.

    sqrt((n - 1) / n * sum_i (t_(i) - mean of t_(.))^2), where t_(i) leaves observation i out,
    evaluated once per entry of the table. Source: Efron and Stein (1981).
    """
    entries = np.argwhere(table > 0)
    left_out = np.repeat(table[None].astype(float), len(entries), axis=0)
    left_out[np.arange(len(entries)), entries[:, 0], entries[:, 1]] -= 1
    weights = table[entries[:, 0], entries[:, 1]].astype(float)
    values = statistic(left_out, rows, columns)
    n = weights.sum()
    mean = (weights * values).sum() / n
    return float(np.sqrt((n - 1) / n * (weights * (values - mean) ** 2).sum()))


def correlations(cells: Cells, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the correlations table: each statistic of human score and rating, by
    dimension and judge.

    First those of all dimensions together (dimension empty), on the unit scale: Pearson's, and the
    weighted kappa. The interval is normal, with the standard error of the jackknife or, over all
    dimensions, of the influence function, and assumes independent rows. No rows without human
    scores.
    """
    if not cells.has_reference:
        return
    z = NormalDist().inv_cdf((1 + confidence) / 2)

    def row(dimension: str, judge: str, statistic: str, n: int, value: float, error: float) -> dict:
        place = {"dimension": str(dimension), "judge": str(judge), "statistic": statistic, "n": n}
        return {
            **place,
            "value": value,
            "std_error": error,
            "ci_low": value - z * error,
            "ci_high": value + z * error,
        }

    dimensions, judges = cells.factor("dimension"), cells.factor("judge")
    for judge in np.unique(judges):
        mask = judges == judge
        counts = cells.counts[mask]
        for name, (value, error) in score_agreement(
            counts, cells.reference[mask][:, None], cells.ratings_unit[mask]
        ).items():
            yield row("", judge, name, int(counts.sum()), value, error)
    for dimension in np.unique(dimensions):
        for judge in np.unique(judges[dimensions == dimension]):
            mask = (dimensions == dimension) & (judges == judge)
            references, level = np.unique(cells.reference_raw[mask], return_inverse=True)
            table = np.zeros((len(references), len(cells.ratings)), dtype=np.int64)
            np.add.at(table, level, cells.counts[mask])
            for name, statistic in STATISTICS.items():
                value = float(statistic(table, references, cells.ratings))
                error = jackknife_error(statistic, table, references, cells.ratings)
                yield row(dimension, judge, name, int(table.sum()), value, error)


def score_agreement(
    counts: np.ndarray, x: np.ndarray, y: np.ndarray
) -> dict[str, tuple[float, float]]:
    """Pearson's correlation and Cohen's kappa with quadratic weights of two scores, each with its
    standard error.

    kappa = 2 s_xy / (s_xx + s_yy + (mean x - mean y)^2), s with denominator n: also Lin's
    concordance. counts: how often the scores x and y occur together; all broadcast to one shape.
    The errors are the root of the mean squared influence over n. NaN if a score does not vary.
    Sources: Fleiss and Cohen (1973); Lin (1989).
    """
    n = counts.sum()

    def mean(values: np.ndarray) -> float:
        return float((counts * values).sum() / n)

    a, b = x - mean(x), y - mean(y)
    (s_xx, s_yy, s_xy), shift = (mean(a * a), mean(b * b), mean(a * b)), mean(x) - mean(y)
    if not (s_xx > 0 and s_yy > 0):
        return {PEARSON: (nan, nan), WEIGHTED_KAPPA: (nan, nan)}
    rho, width = s_xy / sqrt(s_xx * s_yy), s_xx + s_yy + shift**2
    kappa = 2 * s_xy / width
    of_rho = a * b / sqrt(s_xx * s_yy) - rho / 2 * (a * a / s_xx + b * b / s_yy)
    of_kappa = (
        2 * (a * b - s_xy) - kappa * (a * a - s_xx + b * b - s_yy + 2 * shift * (a - b))
    ) / width
    return {
        PEARSON: (rho, sqrt(mean(of_rho**2) / n)),
        WEIGHTED_KAPPA: (kappa, sqrt(mean(of_kappa**2) / n)),
    }


def mean_scores(cells: Cells, scored: Cells | None = None) -> Iterator[dict]:
    """Yield the rows of the mean-scores table, on the unit scale: pooled (dimension empty), then by
    dimension.

    A mean is over rows: for the judge `Human`, over the rows of all judges in `scored`, those with
    human scores (all by default), as in the published heatmaps (Figures 2 and 6 of Play Favorites),
    so that a completion's weight is its number of judges. Without human scores there is no such
    judge.
    """
    judged = cells.sum_by_group((cells.counts * cells.ratings_unit).sum(axis=1))
    rows = [*_means(cells, judged, cells.factors["judge"])]
    scored = cells if scored is None else scored
    if scored.has_reference:
        human = scored.sum_by_group(scored.n * scored.reference)
        rows += _means(scored, human, np.full(len(human), HUMAN))
    yield from sorted(rows, key=lambda row: (row["dimension"], row["judge"] == HUMAN))


def _means(cells: Cells, total: np.ndarray, judge: np.ndarray) -> Iterator[dict]:
    """Yield the mean by judge and model over all dimensions, then in each; total, judge: of each
    group, (groups,).
    """
    dimension, model = cells.factors["dimension"], cells.factors["model"]
    for of_group in (np.full_like(dimension, ""), dimension):
        names = np.stack([of_group, judge, model])
        columns, place = np.unique(names, axis=1, return_inverse=True)
        n = np.bincount(place, cells.sum_by_group(cells.n))
        mean = np.bincount(place, total) / n
        for column in zip(*columns.tolist(), mean.tolist(), n.astype(int).tolist(), strict=True):
            yield dict(zip(("dimension", "judge", "model", "mean", "n"), column, strict=True))


def correlation_by_judge(
    correlations: Iterable[Mapping[str, str]], statistic: str = PEARSON
) -> dict[str, list[float]]:
    """Judge -> its correlation over all dimensions with the human scores, or by another statistic,
    and the ends of the interval; NaN where there is none.

    correlations: rows of that table, texts as in a CSV file.
    """
    whole = [row for row in correlations if (row["dimension"], row["statistic"]) == ("", statistic)]
    columns = ("value", "ci_low", "ci_high")
    return {row["judge"]: [float(row[column] or "nan") for column in columns] for row in whole}
