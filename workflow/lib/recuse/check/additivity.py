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
from recuse.model.least_squares import NEGLIGIBLE

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
    compared = cells.is_unrelated & enough
    judge, model, mean = cells.judge[compared], cells.model[compared], cells.mean[compared]
    fit = AdditiveFit(judge, model, np.ones(len(mean), dtype=bool))
    residuals = fit.residuals(mean)
    if fit.df <= 0 or float(residuals @ residuals) <= fit.df * NEGLIGIBLE**2:
        return None
    judges = np.unique(judge)
    of_model = fit.rows[:, len(judges) :] @ (fit.inverse @ mean)[len(judges) :]
    of_judge = mean - residuals - of_model
    of_judge, of_model = of_judge - of_judge.mean(), of_model - of_model.mean()
    columns = (judge[:, None] == judges) * of_model[:, None]
    columns -= fit.rows @ (fit.inverse @ columns)
    limit = max(VANISHING * float(np.linalg.norm(of_model)), NEGLIGIBLE)
    f, df, p_value = _f_test(columns, residuals, fit.df, limit)
    if not df[0]:
        return None
    product = fit.residuals(of_judge * of_model)[:, None]
    *_, tukey_p_value = _f_test(product, residuals, fit.df, limit * float(np.linalg.norm(of_judge)))
    return Additivity(_slopes(judge, model, mean), f, df, p_value, tukey_p_value)


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


def _slopes(judge: np.ndarray, model: np.ndarray, mean: np.ndarray) -> dict[str, float]:
    """Slope of each judge's means on the model effects of an additive fit without it, if that links
    its models; the arguments are (cells,).
    """
    slopes = {}
    for name in np.unique(judge):
        own = judge == name
        others = AdditiveFit(judge, model, ~own)
        models = others.rows[own] - others.rows[own].mean(axis=0)  # without the judge's effect
        effects = models @ (others.inverse @ mean[~own])
        square = float(effects @ effects)
        if others.determined(models).all() and square > NEGLIGIBLE**2:
            slopes[str(name)] = float(effects @ mean[own]) / square
    return slopes
