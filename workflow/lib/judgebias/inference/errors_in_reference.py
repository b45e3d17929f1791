"""Least squares where the reference is a noisy measure of a completion's score: corrected moments, and SIMEX on the moments.

The reference is t + u, with an error u that is independent of t, judge and model. Slopes on it are too small then, and the
self-bias holds what is left of the judge's own quality. The expectation of a row's x x' is that without errors plus v b b',
with v the error variance and b what the reference is multiplied by in the row's regressors, row 1 of B[group].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from judgebias.fits.clusters import small_sample_factor
from judgebias.fits.design import REFERENCE
from judgebias.fits.linear import LeastSquares, Solution, determined, inverted
from judgebias.fits.prompt_sums import mapped, products, score_weights
from judgebias.ratings.moments import REFERENCE as REFERENCE_OF_ROW
from judgebias.ratings.moments import Moments

# An extrapolation is a sequence of (zeta, weight): the estimate is the sum of weight b(zeta), b(zeta) = (X'X + zeta C)^-1 X'y
# with C the sum of v b b' over rows, as if zeta times the error variance were added to the reference.
Extrapolation = Sequence[tuple[float, float]]
UNCORRECTED: Extrapolation = ((0.0, 1.0),)
MOMENTS: Extrapolation = ((-1.0, 1.0),)  # what the errors add is taken away
ZETAS = (0.0, 0.5, 1.0, 1.5, 2.0)


def _quadratic(zetas: Sequence[float]) -> Extrapolation:
    """Weights that extrapolate a quadratic, fitted by least squares at `zetas`, to -1."""
    weights = np.array([1.0, -1.0, 1.0]) @ np.linalg.pinv(np.vander(zetas, 3, increasing=True))
    return tuple(zip(zetas, map(float, weights), strict=True))


SIMEX: Extrapolation = _quadratic(ZETAS)


@dataclass(frozen=True)
class DesignCells:
    """The design cells of one slice; in each, all groups are of one dimension and have one layout of terms.

    There may be cells of rows that are not the slice's: these say what the variance of a reference is.
    """

    layouts: np.ndarray  # (cells, w, terms), 0 in the others' cells
    dimension: np.ndarray  # (cells,) of str
    rows: np.ndarray  # (cells,) of the slice: 0 in the others' cells


class Noise(Protocol):
    """What is known of the error variance of the reference."""

    def sums(self, moments: Moments) -> np.ndarray:
        """Sum the error variances of the rows of each group, (groups,)."""

    def weights(self, cells: DesignCells, estimate: np.ndarray) -> np.ndarray:
        """Weights, (products, cells, terms), that make a prompt's part in C @ estimate of its sums."""


@dataclass(frozen=True)
class KnownReliability:
    """The error variance of a dimension is (1 - reliability) var(reference): the same in all slices and for all judges."""

    dimension: np.ndarray  # (dimensions,) of str, rising
    rows: np.ndarray  # (dimensions,)
    mean: np.ndarray  # (dimensions,) of the reference over rows
    variance: np.ndarray  # (dimensions,)
    share: np.ndarray  # (dimensions,) of the variance that is error

    @classmethod
    def of(cls, moments: Moments, reliability: Mapping[str, float]) -> "KnownReliability":
        """Take the variances from the rows of a spec, of all its slices; reliability: by dimension, in (0, 1]."""
        dimension, place = np.unique(moments.factors["dimension"], return_inverse=True)
        sums = moments.tensor[:, 0, 0]
        columns = (sums[:, a, b] for a, b in ((0, 0), (0, REFERENCE_OF_ROW), (REFERENCE_OF_ROW, REFERENCE_OF_ROW)))
        rows, total, squares = (np.bincount(place, column) for column in columns)
        mean = total / rows
        variance = np.maximum(squares / rows - mean**2, 0.0)
        return cls(dimension, rows, mean, variance, 1 - np.array([reliability[str(level)] for level in dimension]))

    def sums(self, moments: Moments) -> np.ndarray:
        """Sum the error variances of the rows of each group, (groups,)."""
        place = np.searchsorted(self.dimension, moments.factors["dimension"])
        return moments.n * (self.share * self.variance)[place]

    def weights(self, cells: DesignCells, estimate: np.ndarray) -> np.ndarray:
        """Weights, (products, cells, terms), that make a prompt's part in C @ estimate of its sums.

        The variances are estimates too. With N_d the sum of b b' over the slice's rows of dimension d, a prompt adds to
        C = sum of share_d var_d N_d its rows' b b' share_d var_d, and its rows' ((reference - mean_d)^2 - var_d) / n_d share_d
        N_d, by way of var_d: also where the slice has no row of it.
        """
        place = np.searchsorted(self.dimension, cells.dimension)
        row = cells.layouts[:, REFERENCE]  # (cells, terms)
        own = row * (row @ estimate)[:, None]
        of_dimension = np.zeros((len(self.dimension), row.shape[1]))  # N_d estimate
        np.add.at(of_dimension, place, own * cells.rows[:, None])
        by_variance = (of_dimension * (self.share / self.rows)[:, None])[place]
        mean, variance, share = (values[place, None] for values in (self.mean, self.variance, self.share))
        pairs = products(cells.layouts.shape[1])
        weights = np.zeros((len(pairs), *row.shape))
        weights[pairs.index((0, 0))] = share * variance * own + (mean**2 - variance) * by_variance
        weights[pairs.index((0, REFERENCE))] = -2 * mean * by_variance
        weights[pairs.index((REFERENCE, REFERENCE))] = by_variance
        return weights


@dataclass(frozen=True)
class Corrected:
    """A corrected fit, without its errors."""

    estimate: np.ndarray  # (terms,) NaN where not identified
    identified: np.ndarray  # (terms,) of bool
    plain: Solution  # not corrected
    parts: Sequence[tuple[float, float, np.ndarray, np.ndarray]]  # zeta, weight, b(zeta) and (X'X + zeta C)^-1


def corrected(plain: Solution, regressors: np.ndarray, error_sums: np.ndarray, extrapolation: Extrapolation) -> Corrected:
    """Correct a fit, `plain`, for errors in the reference.

    MOMENTS is b = (X'X - C)^-1 X'y, consistent where the error variances are right; SIMEX needs no matrix that the errors could
    make singular, but goes part of the way only where they are large. Where X'X - C is not positive in a direction, the errors
    would be more than there is, and coefficients with a part in it are not identified.
    regressors: (groups, v - 1, terms), as by design.regressors_of. error_sums: (groups,), as by Noise.sums.
    Source: Fuller (1987), section 2.2, with known error variance; Cook and Stefanski (1994) for SIMEX, where the moments take
    the place of simulated errors.
    """
    cross, row = plain.gram @ plain.estimate, regressors[:, REFERENCE]  # X'y, and what multiplies the reference in each group
    errors = (row * error_sums[:, None]).T @ row
    parts, identified = [], plain.identified
    for zeta, weight in extrapolation:
        normal = plain.gram + zeta * errors
        inverse, null = inverted(normal)
        estimate = inverse @ cross
        parts.append((zeta, weight, estimate + inverse @ (cross - normal @ estimate), inverse))
        identified = identified & determined(null)
    estimate = np.where(identified, sum(weight * part for _, weight, part, _ in parts), np.nan)
    return Corrected(estimate, identified, plain, parts)


class CorrectedErrors:
    """Errors by prompt of a corrected fit; prompts come a few at a time, each with all its rows.

    The influence of a prompt is the sum over (zeta, weight) of weight A (X'(y - X b) - zeta C_p b), A = (X'X + zeta C)^-1, with
    C_p the prompt's part in C; the covariance is the sum of their squares with the small-sample factor of CR1,
    P / (P - 1) (n - 1) / (n - rank). Uncorrected, it is that of `clusters.clustered`.
    """

    def __init__(self, fitted: Corrected, cells: DesignCells, noise: Noise) -> None:
        """Start without prompts."""
        self._fitted, self._own = fitted, np.flatnonzero(cells.rows)
        self._weights = sum(
            weight * (score_weights(cells.layouts, part) - zeta * noise.weights(cells, part)) @ inverse
            for zeta, weight, part, inverse in fitted.parts
        )
        self._squares = np.zeros((len(fitted.estimate),) * 2)
        self.prompts = 0  # with rows in the slice

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        influence = mapped(sums, self._weights)
        self._squares += influence.T @ influence
        self.prompts += int(sums[:, 0, self._own].any(axis=1).sum())

    def result(self) -> LeastSquares:
        """Put the errors beside the coefficients: NaN with fewer than two prompts, and when n <= rank; t with P - 1 degrees."""
        fitted, plain = self._fitted, self._fitted.plain
        factor = small_sample_factor(self.prompts, plain)
        spread = np.where(np.outer(fitted.identified, fitted.identified), self._squares * factor, np.nan)
        return LeastSquares(fitted.estimate, spread, fitted.identified, plain.n, plain.rank, self.prompts - 1)
