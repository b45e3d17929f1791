"""Least squares from group moments, with White's robust errors: the same numbers as from the rows."""

from dataclasses import dataclass

import numpy as np

from judgebias.ratings.moments import RATING, Moments

RANK_TOLERANCE = 1e-10  # of the largest eigenvalue of the scaled X'X: below it, a direction holds no information
ROUNDING = 64 * np.finfo(float).eps  # of the terms that a sum of squared residuals is made of: below it, the sum is 0
NEGLIGIBLE = 1e-10  # a standard error below it, on the unit scale, is what rounding of the inverse leaves of 0
IDENTIFIED = 1e-6  # a coefficient with more than this share in a null direction is not identified


@dataclass(frozen=True)
class LeastSquares:
    """A fit: coefficients and covariance (NaN where a coefficient is not identified), all in the order of the terms."""

    estimate: np.ndarray  # (terms,)
    covariance: np.ndarray  # (terms, terms)
    identified: np.ndarray  # (terms,) of bool
    n: int  # rows
    rank: int

    @property
    def std_error(self) -> np.ndarray:
        """Standard errors, (terms,); exactly 0 where the rows leave no residual variation."""
        errors = np.sqrt(np.clip(self.covariance.diagonal(), 0.0, None))
        return np.where(errors < NEGLIGIBLE, 0.0, errors)


@dataclass(frozen=True)
class Solution:
    """The coefficients of a fit, and what its errors are made of, all in the order of the terms."""

    estimate: np.ndarray  # (terms,) the shortest of the solutions, where there are several
    inverse: np.ndarray  # (terms, terms) of X'X, on the directions that hold information
    null: np.ndarray  # (terms, directions) that hold none, as by `inverted`
    n: int  # rows

    @property
    def identified(self) -> np.ndarray:
        """Coefficients that the rows determine, (terms,) of bool."""
        return determined(self.null)

    @property
    def rank(self) -> int:
        """Number of directions that hold information."""
        return len(self.null) - self.null.shape[1]

    def with_covariance(self, spread: np.ndarray) -> LeastSquares:
        """Put the covariance (terms, terms) beside the coefficients, and NaN where they are not identified."""
        estimate = np.where(self.identified, self.estimate, np.nan)
        spread = np.where(np.outer(self.identified, self.identified), spread, np.nan)
        return LeastSquares(estimate, spread, self.identified, self.n, self.rank)

    def sandwich(self, meat: np.ndarray, factor: float = 1.0) -> LeastSquares:
        """Errors from A meat A * factor, A = (X'X)^-1: `meat`, (terms, terms), is the variance of the sum of the scores."""
        return self.with_covariance(self.inverse @ meat @ self.inverse * factor)


def fit(moments: Moments, regressors: np.ndarray, *, covariance: str = "HC0", solution: Solution | None = None) -> LeastSquares:
    """Regress the rating on the terms, by ordinary least squares over the rows behind `moments`.

    regressors: (groups, v - 1, terms), as by design.regressors_of: row r of group g has x = (1, reference[, length])_r @ B[g].
    covariance: with A = (X'X)^-1 and residuals e of n rows,
      HC0        A (sum x x' e^2) A            (White 1980; what Play Favorites reports)
      HC1        HC0 * n / (n - rank)
      classical  A * sum e^2 / (n - rank)
    HC1 and classical are NaN when n <= rank. Where X'X is singular, coefficients that no combination of rows determines are
    NaN, and the others are as they would be under any choice of the free ones. Errors clustered by prompt need the rows, see
    judgebias.fits.clusters. solution: what `solve` says, where it is known.
    """
    solution = solution or solve(moments, regressors)
    groups, width, terms = regressors.shape
    n, rank = solution.n, solution.rank
    squares = _residual_squares(moments.tensor, _others(moments), regressors @ solution.estimate)
    if covariance == "classical":
        return solution.with_covariance(solution.inverse * (squares[:, 0, 0].sum() / (n - rank) if n > rank else np.nan))
    meat = regressors.reshape(groups * width, terms).T @ (squares @ regressors).reshape(groups * width, terms)
    return solution.sandwich(meat, (n / (n - rank) if n > rank else np.nan) if covariance == "HC1" else 1.0)


def solve(moments: Moments, regressors: np.ndarray) -> Solution:
    """Solve for the coefficients of `fit`."""
    groups, width, terms = regressors.shape
    others = _others(moments)
    second = moments.tensor[:, 0, 0]  # (groups, v, v): sums of u u'
    gram = second[:, others][:, :, others]  # (groups, v - 1, v - 1)
    flat = regressors.reshape(groups * width, terms)
    inverse, null = inverted(flat.T @ (gram @ regressors).reshape(groups * width, terms))
    cross = second[:, others, RATING]  # (groups, v - 1): sums of regressor * rating
    estimate = inverse @ (flat.T @ cross.ravel())
    # One step of refinement on the residual sums brings the solution to the precision of a QR decomposition.
    fitted = (gram @ (regressors @ estimate)[..., None])[..., 0]
    estimate = estimate + inverse @ (flat.T @ (cross - fitted).ravel())
    return Solution(estimate, inverse, null, round(float(moments.n.sum())))


def _others(moments: Moments) -> list[int]:
    """Places in u of what is not the rating."""
    return [place for place in range(moments.tensor.shape[1]) if place != RATING]


def inverted(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Invert X'X, (terms, terms), on the directions that hold information.

    Returns the inverse, (terms, terms), and the directions that hold none, (terms, directions), orthonormal, for columns of X
    of length 1.
    """
    scale = 1 / np.sqrt(np.where(gram.diagonal() > 0, gram.diagonal(), 1.0))
    values, vectors = np.linalg.eigh(gram * np.outer(scale, scale))
    informed = values > RANK_TOLERANCE * values.max()
    kept = vectors[:, informed] / np.sqrt(values[informed]) * scale[:, None]
    return kept @ kept.T, vectors[:, ~informed]


def determined(null: np.ndarray) -> np.ndarray:
    """Coefficients that have no part in directions without information, (terms, directions): (terms,) of bool."""
    return (np.abs(null) < IDENTIFIED).all(axis=1)


def _residual_squares(tensor: np.ndarray, others: list[int], fitted: np.ndarray) -> np.ndarray:
    """Sum over each group's rows of w w' e^2, (groups, v - 1, v - 1); w = (1, reference[, length]), e = rating - fitted w."""
    residual = np.empty((len(tensor), tensor.shape[1]))  # e as a linear function of u
    residual[:, RATING] = 1.0
    residual[:, others] = -fitted
    squares = np.einsum("gijkl,gi,gj->gkl", tensor, residual, residual, optimize=True)
    # Where the rows lie on the fit, the sum is a difference of equal terms: what is left of it is rounding.
    size = np.einsum("gij,gi,gj->g", np.abs(tensor[:, 0, 0]), np.abs(residual), np.abs(residual))
    squares[squares[:, 0, 0] < ROUNDING * size] = 0.0
    return squares[:, others][:, :, others]
