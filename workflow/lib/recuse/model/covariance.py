"""Errors clustered by prompt and by judge: ratings of one judge may vary together over prompts, too.

Errors clustered by prompt: rows of one prompt may vary together, as they share its difficulty and its human scores.
"""

from dataclasses import replace

import numpy as np

from recuse.model.least_squares import LeastSquares, Solution
from recuse.model.prompt_sums import mapped, score_weights

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


NEGATIVE = 1e-10  # of the largest eigenvalue: an eigenvalue further below 0 is no rounding


class TwoWay:
    """The squares of the scores of prompts, of judges, and of the judges in each prompt, in one slice.

    Prompts come a few at a time, each with all its rows.
    """

    def __init__(self, layouts: np.ndarray, solution: Solution, judge: np.ndarray) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice; judge: (cells,) of str, the one of each cell."""
        weights, terms = score_weights(layouts, solution.estimate), layouts.shape[2]
        self.meat = {"prompt": np.zeros((terms, terms)), "pair": np.zeros((terms, terms))}  # sums of s s', as of `Clusters`
        self.prompts = self.pairs = 0  # prompts, and judges in them, with rows in the slice
        cells = [np.flatnonzero(judge == name) for name in np.unique(judge)]
        self._by_judge = [(of_judge, weights[:, of_judge]) for of_judge in cells]
        self._of_judge = np.zeros((len(cells), terms))

    @property
    def judges(self) -> int:
        """Judges with rows in the slice."""
        return len(self._of_judge)

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        total = np.zeros((len(prompts), self._of_judge.shape[1]))
        for place, (cells, weights) in enumerate(self._by_judge):
            of_judge = sums[:, :, cells]
            scores = mapped(of_judge, weights)
            self.meat["pair"] += scores.T @ scores
            self.pairs += int(of_judge[:, 0].any(axis=1).sum())
            self._of_judge[place] += scores.sum(axis=0)
            total += scores
        self.meat["prompt"] += total.T @ total
        self.prompts += len(prompts)

    @property
    def meat_of_judges(self) -> np.ndarray:
        """Sum over judges of s s', (terms, terms)."""
        return self._of_judge.T @ self._of_judge


def two_way(solution: Solution, clusters: TwoWay) -> LeastSquares:
    """Errors clustered by prompt and judge: V_prompt + V_judge - V_pair, each CR1 with the factor of its own clusters.

    t with min(prompts, judges) - 1 degrees of freedom. The difference need not be positive semidefinite; where it is not, by
    `refused`, the covariance is NaN altogether. So it is under Equation 1: a judge's own intercept takes up its score, V_judge
    is 0 for the terms by judge. It is of use for terms that all judges share.
    Source: Cameron, Gelbach and Miller (2011), equation 2.7.
    """
    parts = (
        (clusters.meat["prompt"], clusters.prompts),
        (clusters.meat_of_judges, clusters.judges),
        (-clusters.meat["pair"], clusters.pairs),
    )
    found = solution.sandwich(sum(meat * small_sample_factor(number, solution) for meat, number in parts))
    refuse = refused(found.covariance[np.ix_(found.identified, found.identified)])
    covariance = np.full_like(found.covariance, np.nan) if refuse else found.covariance
    return replace(found, covariance=covariance, df=min(clusters.prompts, clusters.judges) - 1)


def refused(covariance: np.ndarray) -> bool:
    """Whether a matrix is no covariance: it has an eigenvalue below 0, by more than rounding, or none at all."""
    if not np.isfinite(covariance).all():
        return True
    values = np.linalg.eigvalsh(covariance)
    return bool((values < -NEGATIVE * np.abs(values).max(initial=0.0)).any())
