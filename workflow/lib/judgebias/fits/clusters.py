"""Errors clustered by prompt: rows of one prompt may vary together, as they share its difficulty and its human scores."""

from dataclasses import replace

import numpy as np

from judgebias.fits.linear import LeastSquares, Solution
from judgebias.fits.prompt_sums import mapped, score_weights

FEW = 30  # clusters: errors of fewer are too small, all the more where the clusters differ in size
FEW_CLUSTERS = "{covariance}: {clusters} clusters, fewer than {few}: errors may be too small, also with the t distribution"


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

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        scores = mapped(sums, self._weights)
        self.meat += scores.T @ scores
        self.prompts += len(prompts)


def clustered(solution: Solution, clusters: Clusters) -> LeastSquares:
    """Errors CR1: A (sum over prompts of s s') A * P / (P - 1) * (n - 1) / (n - rank), with A = (X'X)^-1, P prompts and n rows.

    NaN with fewer than two prompts, and when n <= rank; t with P - 1 degrees of freedom. Source: Liang and Zeger (1986), with
    the small-sample factor of Stata and statsmodels; Bester, Conley and Hansen (2011) on the degrees of freedom.
    """
    prompts = clusters.prompts
    factor = small_sample_factor(prompts, solution)
    return replace(solution.sandwich(clusters.meat, factor), df=prompts - 1)


def small_sample_factor(clusters: int, solution: Solution) -> float:
    """The factor of CR1 for so many clusters; NaN with fewer than two, and when n <= rank."""
    n, rank = solution.n, solution.rank
    return clusters / (clusters - 1) * (n - 1) / (n - rank) if n > rank and clusters > 1 else np.nan
