"""Pearson, Spearman and Goodman-Kruskal gamma, exact with ties, from contingency tables."""

from collections.abc import Callable

import numpy as np


def pearson(tables: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Pearson's correlation of each contingency table, (...,); NaN where a margin has one level.

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
    return pearson(tables, _midranks(tables.sum(axis=-1)), _midranks(tables.sum(axis=-2)))


def gamma(tables: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Goodman and Kruskal's gamma, (...,): (C - D) / (C + D), C and D the concordant and discordant pairs; NaN if none.

    Pairs tied on either side do not count. Source: Goodman and Kruskal (1954), equation 20.

    >>> float(gamma(np.array([[2, 1], [1, 2]]), np.arange(2), np.arange(2)))
    0.6
    """
    concordant = (tables * _below(tables)).sum(axis=(-2, -1))
    discordant = (tables * _below(tables[..., ::-1])[..., ::-1]).sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (concordant - discordant) / (concordant + discordant)


STATISTICS: dict[str, Callable] = {"pearson": pearson, "spearman": spearman, "gamma": gamma}


def jackknife_error(statistic: Callable, table: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> float:
    """Delete-one jackknife standard error of a statistic of the n observations in a table, (r, c) counts.

    sqrt((n - 1) / n * sum_i (t_(i) - mean of t_(.))^2), where t_(i) leaves observation i out; observations of one entry of the
    table give the same t_(i), so it takes one evaluation per entry. Source: Efron and Stein (1981).
    """
    entries = np.argwhere(table > 0)
    left_out = np.repeat(table[None].astype(float), len(entries), axis=0)
    left_out[np.arange(len(entries)), entries[:, 0], entries[:, 1]] -= 1
    weights = table[entries[:, 0], entries[:, 1]].astype(float)
    values = statistic(left_out, rows, columns)
    n = weights.sum()
    mean = (weights * values).sum() / n
    return float(np.sqrt((n - 1) / n * (weights * (values - mean) ** 2).sum()))


def _midranks(margin: np.ndarray) -> np.ndarray:
    """Mean rank of the observations of each level, from the counts by level, (..., levels)."""
    return np.cumsum(margin, axis=-1) - (margin - 1) / 2


def _below(tables: np.ndarray) -> np.ndarray:
    """Sum of the counts strictly above and to the left of each entry: the partners it is concordant with."""
    sums = np.cumsum(np.cumsum(tables, axis=-2), axis=-1)
    shifted = np.zeros_like(sums)
    shifted[..., 1:, 1:] = sums[..., :-1, :-1]
    return shifted
