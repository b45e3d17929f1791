"""What C's additive method takes for granted of the unrelated cells, tested: one spread, effects that add, independent cells.

The residuals are those of mean_jm = a_j + c_m on the unrelated cells, each as one observation, without cells of so few rows
that they vary more by chance alone. Tests by simulation draw normal cells of one spread and put them through the same fit:
p = (1 + #{draws at least as large}) / (1 + draws).
"""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from recuse.inference.judge_model import AdditiveFit, CellMeans
from recuse.model.least_squares import ALONE, NEGLIGIBLE, inverted

DRAWS = 999
FEWER = 0.5  # of the median cell's rows
VANISHING = 1e-9  # of the largest: a smaller column, or singular value, is rounding


class Spread(NamedTuple):
    """Whether the judges' residuals have one variance: the largest over the mean (Cochran 1941), p by simulation."""

    of_judge: Mapping[str, float]  # residual standard deviation, in points of the unit scale
    ratio: float
    p_value: float

    @property
    def widest(self) -> str:
        """The judge of the largest spread."""
        return max(self.of_judge, key=self.of_judge.get)


class Additivity(NamedTuple):
    """F tests of mean_jm = a_j + b_j c_m (Mandel 1961) and = a_j + c_m + k a_j c_m (Tukey 1949) against a_j + c_m."""

    slopes: Mapping[str, float]  # of a judge's means on the other judges': how widely it spreads the models
    f: float
    df: tuple[int, int]
    p_value: float
    tukey_f: float
    tukey_p_value: float  # with 1 and df[0] + df[1] - 1 degrees of freedom


class Correlation(NamedTuple):
    """Mean product of two residuals of a group over their mean square, that of independent cells, and one-sided p."""

    value: float
    expected: float
    pairs: int
    p_value: float


class Preconditions:
    """The tests of one table of cells; None where the unrelated cells leave nothing to test."""

    def __init__(self, cells: CellMeans, *, seed: int = 0, draws: int = DRAWS) -> None:
        """draws: simulated tables, on which the p-values of spread and correlations rest."""
        enough = cells.n >= FEWER * np.median(cells.n) if len(cells.n) else cells.n > 0
        unrelated, names = cells.is_unrelated & enough, ("judge", "model", "judge_family", "model_family")
        self._names = {name: getattr(cells, name)[unrelated] for name in names}
        self._mean, self._seed, self._draws = cells.mean[unrelated], seed, draws
        self._fit = AdditiveFit(self._names["judge"], self._names["model"], np.ones(len(self._mean), dtype=bool))
        self._residuals = self._without_effects(self._mean)

    @property
    def leaves_residuals(self) -> bool:
        """Whether the additive fit leaves degrees of freedom, and more than rounding."""
        df = self._fit.df
        return df > 0 and float(self._residuals @ self._residuals) > df * NEGLIGIBLE**2

    def _without_effects(self, means: np.ndarray) -> np.ndarray:
        """Residuals of the additive fit to means (cells,) or (cells, tables)."""
        return means - self._fit.rows @ (self._fit.inverse @ means)

    @cached_property
    def _drawn(self) -> np.ndarray:
        """Residuals of simulated tables, (cells, draws), of single precision, which ranks them as well."""
        generator = np.random.default_rng(np.random.SeedSequence(self._seed))
        tables = generator.standard_normal((len(self._mean), self._draws), dtype=np.float32)
        tables -= self._fit.rows.astype(np.float32) @ (self._fit.inverse.astype(np.float32) @ tables)
        return tables

    def _p_value(self, value: float, drawn: np.ndarray) -> float:
        return float((1 + (drawn >= value).sum()) / (1 + len(drawn)))

    def spread(self) -> Spread | None:
        """Compare the judges' variances s_j^2 = sum e^2 / sum (1 - h) over the judge's cells, h their leverage."""
        free = 1 - (self._fit.rows * self._fit.inverse.T).sum(axis=1)
        judges = np.unique(self._names["judge"])
        of_judge = (judges[:, None] == self._names["judge"]).astype(float)
        df = of_judge @ free
        judges, weights = judges[df > ALONE], of_judge[df > ALONE] / df[df > ALONE, None]
        if len(judges) < 2 or not self.leaves_residuals:
            return None
        variance, drawn = weights @ self._residuals**2, weights @ self._drawn**2
        ratio = float(variance.max() / variance.mean())
        spreads = dict(zip(map(str, judges), np.sqrt(variance).tolist(), strict=True))
        return Spread(spreads, ratio, self._p_value(ratio, drawn.max(axis=0) / drawn.mean(axis=0)))

    def additivity(self) -> Additivity | None:
        """Test the judges' slopes on the model effects, and the product of effects.

        Effects are those of the additive fit; given these, residuals of independent normal cells of one spread are as before,
        so that F has its degrees of freedom. None where no judge's slope is determined, or no residual is left.
        """
        if not self.leaves_residuals:
            return None
        judges, judge = np.unique(self._names["judge"], return_inverse=True)
        effects = self._fit.inverse @ self._mean
        of_model = self._fit.rows[:, len(judges) :] @ effects[len(judges) :]
        of_judge = self._mean - self._residuals - of_model
        of_judge, of_model = of_judge - of_judge.mean(), of_model - of_model.mean()
        columns = self._without_effects((judge[:, None] == np.arange(len(judges))) * of_model[:, None])
        product = self._without_effects(of_judge * of_model)
        limit = max(VANISHING * float(np.linalg.norm(of_model)), NEGLIGIBLE)
        f, df, p_value = self._f_test(columns, limit)
        tukey_f, _, tukey_p_value = self._f_test(product[:, None], limit * float(np.linalg.norm(of_judge)))
        return Additivity(self._slopes(), f, df, p_value, tukey_f, tukey_p_value) if df[0] else None

    def _f_test(self, columns: np.ndarray, limit: float) -> tuple[float, tuple[int, int], float]:
        """F, its degrees of freedom and p, of columns (cells, columns) free of effects; limit: singular values below are 0."""
        from scipy.special import fdtrc

        directions, values, _ = np.linalg.svd(columns, full_matrices=False)
        shares = directions[:, values > limit].T @ self._residuals
        df = len(shares), self._fit.df - len(shares)
        if min(df) <= 0:
            return math.nan, (0, self._fit.df), math.nan
        total, explained = float(self._residuals @ self._residuals), float(shares @ shares)
        f = explained / df[0] / (max(total - explained, NEGLIGIBLE**2) / df[1])
        return f, df, float(fdtrc(*df, f))

    def _slopes(self) -> dict[str, float]:
        """Slope of each judge's means on the model effects of an additive fit without it, if that links its models."""
        judges, judge = np.unique(self._names["judge"], return_inverse=True)
        models, model = np.unique(self._names["model"], return_inverse=True)
        rated, sums = np.zeros((len(judges), len(models))), np.zeros((len(judges), len(models)))
        rated[judge, model], sums[judge, model] = 1.0, self._mean
        counts = rated.sum(axis=1, keepdims=True)
        sums -= rated * sums.sum(axis=1, keepdims=True) / counts
        gram = np.diag(rated.sum(axis=0)) - rated.T @ (rated / counts)  # of the models, less judge effects
        slopes = {}
        for name, cells, count, own in zip(judges, rated, counts[:, 0], sums, strict=True):
            within = np.diag(cells) - np.outer(cells, cells) / count
            others = gram - within
            inverse, null = inverted(others)
            directions = null / np.sqrt(np.where(others.diagonal() > 0, others.diagonal(), 1.0))[:, None]
            effects = inverse @ (sums.sum(axis=0) - own)
            square = float(effects @ within @ effects)
            if np.abs(within @ directions).max(initial=0.0) < VANISHING**0.5 and square > NEGLIGIBLE**2:
                slopes[str(name)] = float(effects @ own) / square
        return slopes

    def correlation(self, side: str) -> Correlation | None:
        """Correlate a judge's residuals on two models of one family (side: model), or two judges of one family's on a model.

        A judge family that likes a model, or a judge that likes a family, makes it larger than independent cells have it,
        whose residuals are correlated by the fit alone.
        """
        other = {"model": "judge", "judge": "model"}[side]
        keys = np.stack([self._names[other], self._names[f"{side}_family"]])
        _, group, sizes = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
        pairs = int((sizes * (sizes - 1)).sum() // 2)
        if not pairs or not self.leaves_residuals:
            return None
        order = np.argsort(group, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

        def correlations(residuals: np.ndarray) -> np.ndarray:
            squares = (residuals**2).sum(axis=0)
            products = (np.add.reduceat(residuals[order], starts, axis=0) ** 2).sum(axis=0) - squares
            return products / (2 * pairs) / (squares / len(residuals))

        value, drawn = float(correlations(self._residuals)), correlations(self._drawn)
        return Correlation(value, float(drawn.mean()), pairs, self._p_value(value, drawn))
