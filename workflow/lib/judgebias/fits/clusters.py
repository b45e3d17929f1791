"""Errors clustered by prompt: rows of one prompt may vary together, as they share its difficulty and its human scores."""

import numpy as np

from judgebias.fits.linear import LeastSquares, Solution
from judgebias.fits.prompt_sums import mapped, score_weights


class Clusters:
    """The squares of the prompts' scores in one slice, added up prompt by prompt.

    Prompts come a few at a time, each with all its rows.
    """

    def __init__(self, layouts: np.ndarray, solution: Solution) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice."""
        terms = layouts.shape[2]
        self.meat = np.zeros((terms, terms))  # sum over prompts of s s', s = X'(y - X estimate) over the prompt's rows
        self.prompts = 0  # with rows in the slice, be it that they carry no term
        self._weights = score_weights(layouts, solution.estimate)

    def add(self, sums: np.ndarray) -> None:
        """Add the next prompts; sums: (prompts, products, cells), as by `sum_by_prompt`."""
        scores = mapped(sums, self._weights)
        self.meat += scores.T @ scores
        self.prompts += len(sums)


def clustered(solution: Solution, clusters: Clusters) -> LeastSquares:
    """Errors CR1: A (sum over prompts of s s') A * P / (P - 1) * (n - 1) / (n - rank), with A = (X'X)^-1, P prompts and n rows.

    NaN with fewer than two prompts, and when n <= rank. Source: Liang and Zeger (1986), with the small-sample factor of
    Stata and statsmodels.
    """
    n, rank, prompts = solution.n, solution.rank, clusters.prompts
    enough = n > rank and prompts > 1
    return solution.sandwich(clusters.meat, prompts / (prompts - 1) * (n - 1) / (n - rank) if enough else np.nan)
