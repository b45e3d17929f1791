"""Errors clustered by prompt and by judge: ratings of one judge may vary together over prompts, too."""

from dataclasses import replace

import numpy as np

from judgebias.fits.clusters import small_sample_factor
from judgebias.fits.linear import LeastSquares, Solution
from judgebias.fits.prompt_sums import mapped, score_weights

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
