"""Least squares from group moments; intervals and p-values by t or the normal distribution."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from recuse.data.moments import RATING, Moments

# Of the largest eigenvalue of the scaled X'X: below it, a direction holds no information
RANK_TOLERANCE = 1e-10
# Of the terms that a sum of squared residuals is made of: below it, the sum is 0
ROUNDING = 64 * np.finfo(float).eps
NEGLIGIBLE = 1e-10  # a standard error below it, on the unit scale, is 0 but for rounding
IDENTIFIED = 1e-6  # a coefficient with more than this share in a null direction is not identified
SPARSE = 0.02  # Share of regressors other than 0 up to which sparse matrices are faster.
ALONE = 1e-9  # what 1 - leverage of a row may be where the row alone determines a coefficient


@dataclass(frozen=True)
class LeastSquares:
    """Coefficients and covariance in the order of the terms; NaN where a coefficient is not
    identified.
    """

    estimate: np.ndarray  # (terms,)
    covariance: np.ndarray  # (terms, terms)
    identified: np.ndarray  # (terms,) of bool
    n: int  # rows
    rank: int
    df: float = math.inf  # of the t distribution of estimate / std_error; infinite: the normal one

    @property
    def std_error(self) -> np.ndarray:
        """Standard errors, (terms,); exactly 0 where the rows leave no residual variation."""
        errors = np.sqrt(np.clip(self.covariance.diagonal(), 0.0, None))
        return np.where(errors < NEGLIGIBLE, 0.0, errors)

    def with_errors_among(self, kept: np.ndarray) -> "LeastSquares":
        """The same with errors of some terms alone, (terms,) of bool."""
        return replace(self, covariance=covariance_among(kept, self.covariance))


@dataclass(frozen=True)
class Solution:
    """The coefficients of a fit, and what its errors are made of, in the order of the terms."""

    estimate: np.ndarray  # (terms,) the shortest of several solutions
    inverse: np.ndarray  # (terms, terms) of X'X, on the directions that hold information
    null: np.ndarray  # (terms, directions) that hold none, as by `inverted`
    n: int  # rows
    gram: np.ndarray  # (terms, terms) X'X

    @property
    def identified(self) -> np.ndarray:
        """Coefficients that the rows determine, (terms,) of bool."""
        return determined(self.null)

    @property
    def rank(self) -> int:
        """Number of directions that hold information."""
        return len(self.null) - self.null.shape[1]

    def with_covariance(self, spread: np.ndarray) -> LeastSquares:
        """Add the covariance (terms, terms); NaN where coefficients are not identified."""
        estimate = np.where(self.identified, self.estimate, np.nan)
        spread = covariance_among(self.identified, spread)
        return LeastSquares(estimate, spread, self.identified, self.n, self.rank)

    def sandwich(self, meat: np.ndarray, factor: float = 1.0) -> LeastSquares:
        """Errors from A meat A * factor, A = (X'X)^-1; meat: variance of the sum of the scores,
        (terms, terms).
        """
        spread = self.inverse @ meat @ self.inverse
        size = ((np.abs(self.inverse) @ np.abs(meat)) * np.abs(self.inverse)).sum(axis=1)
        # By more than rounding; true of negative numbers and NaN
        varies = ~(np.abs(spread.diagonal()) <= ROUNDING * size)
        return self.with_covariance(np.where(np.outer(varies, varies), spread, 0.0) * factor)


def solve(moments: Moments, regressors: np.ndarray) -> Solution:
    """Regress the rating on the terms, by ordinary least squares over the rows behind `moments`.

    regressors: (groups, v - 1, terms), as by design.term_layout: row r of group g has x = (1,
    reference[, length])_r @ B[g]. Where X'X is singular, coefficients that the rows do not
    determine are not identified; the others do not depend on them.
    """
    gram = moments.regressor_sums  # (groups, v - 1, v - 1)
    total = cross_products(regressors, gram)
    inverse, null = inverted(total)
    flat = regressors.reshape(-1, regressors.shape[2])
    # (groups, v - 1): sums of regressor * rating
    cross = moments.tensor[:, 0, 0][:, moments.regressors, RATING]
    estimate = inverse @ (flat.T @ cross.ravel())
    # One step of refinement on the residual sums gives the precision of a QR decomposition.
    fitted = (gram @ (regressors @ estimate)[..., None])[..., 0]
    estimate = estimate + inverse @ (flat.T @ (cross - fitted).ravel())
    return Solution(estimate, inverse, null, round(float(moments.n.sum())), total)


def cross_products(regressors: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Sum over rows of x x' f, (terms, terms), of the sums of w w' f by group, (groups, v - 1, v -
    1), with w = (1, reference[, length]) and x = w @ B[g].
    """
    flat = regressors.reshape(-1, regressors.shape[2])
    filled = np.flatnonzero(flat != 0)  # This is many times as fast as nonzero of two axes.
    if len(filled) > SPARSE * flat.size:
        return flat.T @ (sums @ regressors).reshape(flat.shape)
    from scipy.sparse import bsr_array, csr_array

    carried = csr_array((flat.ravel()[filled], np.divmod(filled, flat.shape[1])), flat.shape)
    groups = np.arange(len(sums) + 1)
    square = (len(flat), len(flat))
    return (carried.T @ (bsr_array((sums, groups[:-1], groups), square) @ carried)).toarray()


def inverted(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Invert X'X, (terms, terms), on the directions that hold information; also return those that
    hold none.

    The latter, (terms, directions), are orthonormal for columns of X of length 1.
    """
    scale = 1 / np.sqrt(np.where(gram.diagonal() > 0, gram.diagonal(), 1.0))
    values, vectors = np.linalg.eigh(gram * np.outer(scale, scale))
    informed = values > RANK_TOLERANCE * values.max(initial=0.0)
    kept = vectors[:, informed] / np.sqrt(values[informed]) * scale[:, None]
    return kept @ kept.T, vectors[:, ~informed]


def connected_parts(linked: np.ndarray) -> np.ndarray:
    """Number the connected parts of a relation, (members, members) of bool, in the order of their
    first members: (members,).
    """
    from scipy.sparse.csgraph import connected_components

    return connected_components(linked, directed=False)[1]


def covariance_among(kept: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """A covariance, (terms, terms), with NaN but for some terms; kept: (terms,) of bool."""
    return np.where(np.outer(kept, kept), covariance, np.nan)


def determined(null: np.ndarray) -> np.ndarray:
    """Which coefficients have no part in directions without information, (terms, directions):
    (terms,) of bool.
    """
    return (np.abs(null) < IDENTIFIED).all(axis=1)


def weighted_squares(moments: Moments, regressors: np.ndarray, solution: Solution) -> np.ndarray:
    """Sum over each group's rows of w w' e^2, (groups, v - 1, v - 1); w = (1, reference[, length]),
    e = rating - fitted w.
    """
    tensor, others = moments.tensor, moments.regressors
    fitted = regressors @ solution.estimate
    residual = np.empty((len(tensor), tensor.shape[1]))  # e as a linear function of u
    residual[:, RATING] = 1.0
    residual[:, others] = -fitted
    squares = np.einsum("gijkl,gi,gj->gkl", tensor, residual, residual, optimize=True)
    # Where the rows lie on the fit, only rounding is left.
    size = np.einsum("gij,gi,gj->g", np.abs(tensor[:, 0, 0]), np.abs(residual), np.abs(residual))
    squares[squares[:, 0, 0] < ROUNDING * size] = 0.0
    return squares[:, others][:, :, others]


def small_sample_factor(clusters: int, n: int, rank: float) -> float:
    """The factor of CR1; NaN with fewer than two clusters, and when n <= rank. rank: or effective
    degrees of freedom.
    """
    return (
        clusters / (clusters - 1) * (n - 1) / (n - rank)
        if n - rank > IDENTIFIED and clusters > 1
        else np.nan
    )


def quantile(confidence: float, df: float = math.inf) -> float:
    """Half the width of an interval in standard errors: the (1 + confidence) / 2 quantile of t with
    `df` degrees of freedom.

    >>> round(quantile(0.90), 4), round(quantile(0.90, 29), 4)
    (1.6449, 1.6991)
    """
    if math.isinf(df):
        return NormalDist().inv_cdf((1 + confidence) / 2)
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + confidence) / 2))


def wald_p_value(value: float, error: float, df: float = math.inf) -> float:
    """Two-sided p-value of the hypothesis of 0: 2 T(-|value / error|), T of t with `df`; normal
    where `df` is infinite.

    >>> round(wald_p_value(0.0196, 0.01), 4)
    0.05
    """
    if math.isinf(df):
        return math.erfc(abs(value / error) / math.sqrt(2))
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(value / error)))


def wald_columns(
    estimate: float, std_error: float, *, df: float, confidence: float
) -> dict[str, float]:
    """Columns estimate, std_error, and, unless the standard error is 0 or unknown, ci_low, ci_high,
    p_value and a finite df.
    """
    estimate, std_error = float(estimate), float(std_error)
    row = {"estimate": estimate, "std_error": std_error}
    if std_error > 0:
        half = quantile(confidence, df) * std_error
        row |= {
            "ci_low": estimate - half,
            "ci_high": estimate + half,
            "p_value": wald_p_value(estimate, std_error, df),
        }
        row |= {"df": df} if math.isfinite(df) else {}
    return row


def detectable(std_error: float, df: float, *, confidence: float, power: float) -> float:
    """The effect that a t test finds with probability `power`: (t_((1 + confidence) / 2) + t_power)
    std_error; NaN for 0.
    """
    return (quantile(confidence, df) + quantile(2 * power - 1, df)) * std_error or math.nan


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for as many tests: max over p_(k) <= p of (n - k + 1) p_(k), at most 1; NaN
    stays, and is no test.

    Source: Holm (1979).
    """
    order = sorted(
        (place for place, p_value in enumerate(p_values) if not math.isnan(p_value)),
        key=lambda place: p_values[place],
    )
    adjusted, largest = [math.nan] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> np.ndarray:
    """p-values, (tests,), adjusted for as many tests: min over p_(k) >= p of n p_(k) / k, at most
    1.

    Source: Benjamini and Hochberg (1995).
    """
    order = np.argsort(p_values)[::-1]
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum.accumulate(
        np.array(p_values)[order] * (len(order) / np.arange(len(order), 0, -1))
    )
    return np.minimum(adjusted, 1.0)
