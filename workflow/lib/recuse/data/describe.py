"""Descriptive statistics of a study's ratings: mean scores of the models, and correlations of judges with humans."""

from collections.abc import Callable, Iterator
from statistics import NormalDist

import numpy as np

from recuse.data.cells import Cells
from recuse.data.registry import HUMAN


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
    """Spearman's rank correlation with ties, (...,): Pearson's correlation of the mid-ranks of the levels."""
    midranks = (np.cumsum(margin, axis=-1) - (margin - 1) / 2 for margin in (tables.sum(axis=-1), tables.sum(axis=-2)))
    return pearson(tables, *midranks)


def gamma(tables: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Goodman and Kruskal's gamma, (...,): (C - D) / (C + D), C and D the concordant and discordant pairs; NaN if none.

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


STATISTICS: dict[str, Callable] = {"pearson": pearson, "spearman": spearman, "gamma": gamma}


def jackknife_error(statistic: Callable, table: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> float:
    """Delete-one jackknife standard error of a statistic of the n observations in a table, (r, c) counts.

    sqrt((n - 1) / n * sum_i (t_(i) - mean of t_(.))^2), where t_(i) leaves observation i out, evaluated once per entry of the
    table. Source: Efron and Stein (1981).
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
    """Yield the rows of the correlations table: each statistic of human score and rating, by dimension and judge.

    The interval is normal with the jackknife's standard error and assumes independent rows. No rows without human scores.
    """
    if not cells.has_reference:
        return
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    dimensions, judges = cells.factor("dimension"), cells.factor("judge")
    for dimension in np.unique(dimensions):
        for judge in np.unique(judges[dimensions == dimension]):
            mask = (dimensions == dimension) & (judges == judge)
            references, level = np.unique(cells.reference_raw[mask], return_inverse=True)
            table = np.zeros((len(references), len(cells.ratings)), dtype=np.int64)
            np.add.at(table, level, cells.counts[mask])
            for name, statistic in STATISTICS.items():
                value = float(statistic(table, references, cells.ratings))
                error = jackknife_error(statistic, table, references, cells.ratings)
                row = {"dimension": str(dimension), "judge": str(judge), "statistic": name, "n": int(table.sum())}
                interval = {"ci_low": value - z * error, "ci_high": value + z * error}
                yield {**row, "value": value, "std_error": error, **interval}


def mean_scores(cells: Cells) -> Iterator[dict]:
    """Yield the rows of the mean-scores table, on the unit scale: pooled (dimension empty), then by dimension.

    A mean is over rows: for the judge `Human`, over the rows of all judges, as in the published heatmaps (Figures 2 and 6 of
    Play Favorites), so that a completion's weight is its number of judges. Without human scores there is no such judge.
    """
    dimensions, judges, models = (cells.factors[factor] for factor in ("dimension", "judge", "model"))
    n = cells.sum_by_group(cells.n)
    human = cells.sum_by_group(cells.n * cells.reference)
    judged = cells.sum_by_group((cells.counts * cells.ratings_unit).sum(axis=1))
    for dimension in ("", *np.unique(dimensions)):
        chosen = np.ones(len(n), dtype=bool) if dimension == "" else dimensions == dimension
        for judge in (*np.unique(judges[chosen]), *([HUMAN] if cells.has_reference else [])):
            by_judge = chosen if judge == HUMAN else chosen & (judges == judge)
            total = human if judge == HUMAN else judged
            for model in np.unique(models[by_judge]):
                mask = by_judge & (models == model)
                row = {"dimension": str(dimension), "judge": str(judge), "model": str(model)}
                yield {**row, "mean": float(total[mask].sum() / n[mask].sum()), "n": round(n[mask].sum())}
