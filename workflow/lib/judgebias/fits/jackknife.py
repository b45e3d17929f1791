"""Errors by the jackknife over prompts: what leaving each prompt out in turn changes of the coefficients."""

from dataclasses import replace

import numpy as np

from judgebias.fits.linear import LeastSquares, Solution
from judgebias.fits.prompt_bootstrap import REPLICATES, shifts_of
from judgebias.fits.prompt_sums import gram_and_score_weights, gram_places, mapped

LEFT = 1e-10  # share of a term's squares that is left without a prompt: below it, what is left is rounding of 0


class Jackknife:
    """Squares of what leaving out each prompt of a slice changes, added up prompt by prompt.

    Prompts come a few at a time, each with all its rows. With G = X'X, the fit without prompt p is
    b_(-p) = b - (G - G_p)^-1 s_p, of G_p = X'X and s_p = X'(y - X b) over the rows of p.
    """

    def __init__(self, layouts: np.ndarray, solution: Solution) -> None:
        """Start without prompts; layouts: (cells, w, terms), of the slice."""
        terms = layouts.shape[2]
        self.squares = np.zeros((terms, terms))  # sum over prompts of (b_(-p) - b)(b_(-p) - b)', NaN where b_(-p) is not known
        self.prompts = 0  # with rows in the slice, be it that they carry no term
        self._solution, self._places = solution, gram_places(layouts)
        self._weights = gram_and_score_weights(layouts, self._places, solution.estimate)

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        values = mapped(sums, self._weights)
        self.prompts += len(prompts)
        for start in range(0, len(values), REPLICATES):
            changes = self._changes(values[start : start + REPLICATES])
            self.squares += changes.T @ changes

    def _changes(self, values: np.ndarray) -> np.ndarray:
        """b - b_(-p) of some prompts, (prompts, terms), from the entries of G_p and s_p."""
        row, column = self._places
        entries, scores = np.split(values, [len(row)], axis=1)
        entries = self._solution.gram[self._places] - entries
        left = entries[:, row == column] > LEFT * self._solution.gram.diagonal()
        entries *= left[:, row] & left[:, column]
        return shifts_of(np.concatenate([entries, scores], axis=1), self._places, self._solution.null)


def jackknifed(solution: Solution, clusters: Jackknife) -> LeastSquares:
    """Errors CR3: (P - 1) / P sum over prompts of (b_(-p) - b)(b_(-p) - b)', of P prompts; t with P - 1 degrees of freedom.

    NaN with fewer than two prompts, and of coefficients that the rows do not determine without some prompt. Source: Bell and
    McCaffrey (2002); MacKinnon, Nielsen and Webb (2023), Fast and reliable jackknife and bootstrap methods for cluster-robust
    inference, CV3J centred at b.
    """
    prompts = clusters.prompts
    spread = clusters.squares * ((prompts - 1) / prompts if prompts > 1 else np.nan)
    return replace(solution.with_covariance(spread), df=prompts - 1)
