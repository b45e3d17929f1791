"""The likelihood of the proportional-odds model on cells, and its maximum by Newton's method."""

from dataclasses import dataclass, replace

import numpy as np

from judgebias.errors import DesignError
from judgebias.separation import recession

DECREMENT = 1e-18  # squared distance to the maximum, in standard errors, at which Newton's method stops
ROUNDING = 1e-13  # of the log-likelihood: a smaller loss is none
ITERATIONS = 200
MOVED = 0.5  # a direction of recession moves a contrast by at least 1, or not at all


def logistic(x: np.ndarray) -> np.ndarray:
    """Compute 1 / (1 + exp(-x)) without overflow, to full relative precision also where it is near 0."""
    return np.exp(-np.logaddexp(0.0, -x))


@dataclass(frozen=True)
class ProportionalOdds:
    """The likelihood of p = (coefficients, thresholds) given counts by cell and rating.

    P(rating <= k) = F(a_k), a_k = threshold_k - x coefficients, F logistic, so that for every rating between two thresholds
      P(rating = k) = F(a_k) - F(a_(k-1)) = F(a_k) F(-a_(k-1)) (1 - exp(-(a_k - a_(k-1)))),
    in which the last factor knows the gap between the thresholds alone: nothing is lost to cancellation in the tails, and
      log-likelihood = sum at_or_below log F(a) + sum above log F(-a) + sum between log(1 - exp(-gap)),
    a binary logit of each cell and threshold, on the ratings either side of it, and a term in the gaps.
    """

    contrasts: np.ndarray  # (cells * thresholds, parameters): the rows of a
    at_or_below: np.ndarray  # (cells * thresholds,) rows with the rating just below the threshold
    above: np.ndarray  # (cells * thresholds,) rows with the rating just above it
    gaps: np.ndarray  # (thresholds - 1, parameters): threshold_k - threshold_(k-1)
    between: np.ndarray  # (thresholds - 1,) rows with the rating between the two

    @classmethod
    def from_counts(cls, covariates: np.ndarray, counts: np.ndarray) -> "ProportionalOdds":
        """Lay out cells with `covariates`, (cells, terms), and `counts`, (cells, ratings), each rating used at least once."""
        cells, thresholds = len(counts), counts.shape[1] - 1
        contrasts = np.zeros((cells, thresholds, covariates.shape[1] + thresholds))
        contrasts[:, :, : covariates.shape[1]] = -covariates[:, None]
        contrasts[:, :, covariates.shape[1] :] = np.eye(thresholds)
        gaps = np.zeros((max(thresholds - 1, 0), contrasts.shape[2]))
        gaps[:, covariates.shape[1] :] = np.diff(np.eye(thresholds), axis=0)
        return cls(
            contrasts.reshape(cells * thresholds, contrasts.shape[2]),
            counts[:, :-1].ravel().astype(float),
            counts[:, 1:].ravel().astype(float),
            gaps,
            counts[:, 1:-1].sum(axis=0).astype(float),
        )

    @property
    def informative(self) -> np.ndarray:
        """The contrasts that the likelihood depends on, (contrasts, parameters)."""
        return np.concatenate([self.contrasts[self.at_or_below + self.above > 0], self.gaps[self.between > 0]])

    def recession(self) -> np.ndarray:
        """Find a direction along which the likelihood rises for ever, (parameters,); zeros where it has a maximum."""
        contrasts = np.concatenate([self.contrasts, self.gaps])
        rises = np.concatenate([self.at_or_below, self.between]) > 0
        return recession(contrasts, rises, np.concatenate([self.above, np.zeros(len(self.gaps))]) > 0)

    def limit(self, direction: np.ndarray) -> "ProportionalOdds":
        """Drop the terms that reach log 1 = 0 in the limit along a direction of recession: what is left has a maximum."""
        move = self.contrasts @ direction
        return replace(
            self,
            at_or_below=np.where(move > MOVED, 0.0, self.at_or_below),
            above=np.where(move < -MOVED, 0.0, self.above),
            between=np.where(self.gaps @ direction > MOVED, 0.0, self.between),
        )

    def value(self, point: np.ndarray) -> float:
        """Compute the log-likelihood at `point`, (parameters,); -inf where thresholds are out of order."""
        a, gap = self.contrasts @ point, (self.gaps @ point)[self.between > 0]
        if (gap <= 0).any():
            return -np.inf
        inner = self.between[self.between > 0] @ np.log(-np.expm1(-gap))
        return float(inner - self.at_or_below @ np.logaddexp(0.0, -a) - self.above @ np.logaddexp(0.0, a))

    def gradient(self, point: np.ndarray) -> np.ndarray:
        """Compute the derivative of the log-likelihood, (parameters,)."""
        a = self.contrasts @ point
        inner = self.between * self._gap_slope(point)
        return self.contrasts.T @ (self.at_or_below * logistic(-a) - self.above * logistic(a)) + self.gaps.T @ inner

    def information(self, point: np.ndarray) -> np.ndarray:
        """Compute the observed information, minus the Hessian of the log-likelihood, (parameters, parameters)."""
        a, slope = self.contrasts @ point, self._gap_slope(point)
        weights = (self.at_or_below + self.above) * logistic(a) * logistic(-a)
        inner = self.between * slope * (1 + slope)
        return (self.contrasts.T * weights) @ self.contrasts + (self.gaps.T * inner) @ self.gaps

    def score_squares(self, point: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Sum score score' over rows, (parameters, parameters): the score of a row is the gradient of its log-probability.

        counts: (cells, ratings), those that the likelihood was laid out from.
        """
        cells, thresholds = len(counts), counts.shape[1] - 1
        a = self.contrasts @ point
        shape = (cells, thresholds, len(point))
        scores = np.zeros((cells, thresholds + 1, len(point)))
        scores[:, :-1] += (np.where(self.at_or_below > 0, logistic(-a), 0.0)[:, None] * self.contrasts).reshape(shape)
        scores[:, 1:] -= (np.where(self.above > 0, logistic(a), 0.0)[:, None] * self.contrasts).reshape(shape)
        scores[:, 1:-1] += np.where(self.between > 0, self._gap_slope(point), 0.0)[:, None] * self.gaps
        scores = scores.reshape(-1, len(point))
        return (scores.T * counts.ravel()) @ scores

    def _gap_slope(self, point: np.ndarray) -> np.ndarray:
        """Derivative of log(1 - exp(-gap)), (thresholds - 1,); 0 for a gap that no rating stands in."""
        gap = np.where(self.between > 0, self.gaps @ point, np.inf)
        return 1 / np.expm1(gap)


def maximise(likelihood: ProportionalOdds, start: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Maximise a likelihood that has a maximum from `start`, (parameters,), along the columns of `basis`, (parameters, r).

    Newton's method with step halving; returns the maximum, the inverse of the information on the basis, (parameters,
    parameters), and the number of steps. Raises DesignError if it does not arrive.
    """
    point, value = start, likelihood.value(start)
    for iteration in range(ITERATIONS):
        inverse = basis @ np.linalg.inv(basis.T @ likelihood.information(point) @ basis) @ basis.T
        gradient = likelihood.gradient(point)
        step = inverse @ gradient
        if gradient @ step <= DECREMENT:
            return point, inverse, iteration
        while (new := likelihood.value(point + step)) < value - ROUNDING * abs(value):
            step = step / 2
        point, value = point + step, new
    raise DesignError(f"the ordinal fit is not at its maximum after {ITERATIONS} steps of Newton's method")
