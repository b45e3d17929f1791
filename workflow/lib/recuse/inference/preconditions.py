"""Whether judges use the scale alike, as B takes for granted: tests of additive effects of judge
and model.

The residuals are those of mean_jm = a_j + c_m on the unrelated cells, each as one observation,
without cells of so few rows that they vary more by chance alone.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from recuse.inference.judge_model import AdditiveFit, CellMeans
from recuse.model.least_squares import NEGLIGIBLE, inverted

FEWER = 0.5  # of the median cell's rows
VANISHING = 1e-9  # of the largest: a smaller column, or singular value, is rounding


class Additivity(NamedTuple):
    """F tests of mean_jm = a_j + b_j c_m (Mandel 1961) and = a_j + c_m + k a_j c_m (Tukey 1949)
    against a_j + c_m.
    """

    # Of a judge's means on the other judges': how widely it spreads the models
    slopes: Mapping[str, float]
    f: float
    df: tuple[int, int]
    p_value: float
    tukey_p_value: float  # with 1 and df[0] + df[1] - 1 degrees of freedom


def additivity(cells: CellMeans) -> Additivity | None:
    """Test the judges' slopes on the model effects, and the product of effects.

    Effects are those of the additive fit; given these, residuals of independent normal cells of one
    spread are as before, so that F has its degrees of freedom. None where the fit leaves no
    residual, or no judge's slope is determined.
    """
    enough = cells.n >= FEWER * np.median(cells.n) if len(cells.n) else cells.n > 0
    unrelated = cells.is_unrelated & enough
    mean = cells.mean[unrelated]
    judges, judge = np.unique(cells.judge[unrelated], return_inverse=True)
    models, model = np.unique(cells.model[unrelated], return_inverse=True)
    fit = AdditiveFit(judge, model, np.ones(len(mean), dtype=bool))
    residuals = fit.residuals(mean)
    if fit.df <= 0 or float(residuals @ residuals) <= fit.df * NEGLIGIBLE**2:
        return None
    effects = fit.inverse @ mean
    of_model = fit.rows[:, len(judges) :] @ effects[len(judges) :]
    of_judge = mean - residuals - of_model
    of_judge, of_model = of_judge - of_judge.mean(), of_model - of_model.mean()
    columns = (judge[:, None] == np.arange(len(judges))) * of_model[:, None]
    columns -= fit.rows @ (fit.inverse @ columns)
    limit = max(VANISHING * float(np.linalg.norm(of_model)), NEGLIGIBLE)
    f, df, p_value = _f_test(columns, residuals, fit.df, limit)
    if not df[0]:
        return None
    product = fit.residuals(of_judge * of_model)[:, None]
    *_, tukey_p_value = _f_test(product, residuals, fit.df, limit * float(np.linalg.norm(of_judge)))
    rated, sums = np.zeros((2, len(judges), len(models)))
    rated[judge, model], sums[judge, model] = 1.0, mean
    return Additivity(_slopes(judges, rated, sums), f, df, p_value, tukey_p_value)


def _f_test(
    columns: np.ndarray, residuals: np.ndarray, free: int, limit: float
) -> tuple[float, tuple[int, int], float]:
    """F, its degrees of freedom and p, of columns (cells, columns) without effects of judges and
    models.

    residuals: (cells,) with `free` degrees of freedom. Singular values of the columns up to `limit`
    are 0.
    """
    from scipy.special import fdtrc

    directions, values, _ = np.linalg.svd(columns, full_matrices=False)
    shares = directions[:, values > limit].T @ residuals
    df = len(shares), free - len(shares)
    if min(df) <= 0:
        return math.nan, (0, free), math.nan
    total, explained = float(residuals @ residuals), float(shares @ shares)
    f = explained / df[0] / (max(total - explained, NEGLIGIBLE**2) / df[1])
    return f, df, float(fdtrc(*df, f))


def _slopes(judges: np.ndarray, rated: np.ndarray, sums: np.ndarray) -> dict[str, float]:
    """Slope of each judge's means on the model effects of an additive fit without it, if that links
    its models.

    rated: (judges, models), 1 where there is a cell; sums: its means, 0 where there is none.
    """
    counts = rated.sum(axis=1, keepdims=True)
    sums = sums - rated * sums.sum(axis=1, keepdims=True) / counts
    # Of the models, less judge effects
    gram = np.diag(rated.sum(axis=0)) - rated.T @ (rated / counts)
    slopes = {}
    for name, cells, count, own in zip(judges, rated, counts[:, 0], sums, strict=True):
        within = np.diag(cells) - np.outer(cells, cells) / count
        others = gram - within
        inverse, null = inverted(others)
        directions = (
            null / np.sqrt(np.where(others.diagonal() > 0, others.diagonal(), 1.0))[:, None]
        )
        effects = inverse @ (sums.sum(axis=0) - own)
        square = float(effects @ within @ effects)
        if np.abs(within @ directions).max(initial=0.0) < VANISHING**0.5 and square > NEGLIGIBLE**2:
            slopes[str(name)] = float(effects @ own) / square
    return slopes
