"""Bounds on biases by ratings that are missing: each missing rating at the end of the scale that makes the bias extreme."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from judgebias.fits.clusters import small_sample_factor
from judgebias.fits.linear import LeastSquares, solve
from judgebias.fits.prompt_sums import mapped, score_weights, sum_by_prompt
from judgebias.fits.slice_design import SliceDesign, designs_of
from judgebias.fits.spec import Spec
from judgebias.inference.clustered_fits import Refit
from judgebias.ratings.moments import Moments
from judgebias.ratings.row_blocks import RowBlock

ROUNDING = 1e-9  # of the root of the sum of squared weights: a smaller weight is 0


def bounds(
    spec: Spec, moments: Moments, blocks: Callable[[], Iterable[RowBlock]], *, first: int, quantities: Sequence[str]
) -> list[tuple[Refit, Refit]]:
    """Find the lowest and the highest value of each coefficient of `quantities` that the missing ratings can make, by slice.

    With A = (X'X)^-1 over all rows, the missing ones too, a coefficient is the sum over rows of w y, w = A_k x. For the lowest
    value a missing rating is at 1 where w < 0 and else at 0, for the highest at 1 where w > 0: no other ratings give a lower
    or a higher one. So each bound has ratings of its own, and the error CR1 of the fit to them; of two bounds there
    is no covariance. A slice without rows, or without a term that they carry, is left out.
    Source: Manski (1990), for a coefficient that is linear in the ratings.

    moments: the groups of missing rows, with the rating 0, are those from `first` on. blocks: the rows behind, read twice.
    """
    found = [
        _Bounds(label, rows, design, first=first, groups=len(moments.n), quantities=quantities)
        for label, rows, design in designs_of(spec, moments)
        if design is not None
    ]
    for step in ("add", "add_squares"):
        for block in blocks() if found else ():
            for each in found:
                getattr(each, step)(block)
    return [each.refits() for each in found]


class _Bounds:
    """The bounds of one slice; ends are 0, the lowest, and 1, the highest."""

    def __init__(
        self, label: str, rows: Moments, design: SliceDesign, *, first: int, groups: int, quantities: Sequence[str]
    ) -> None:
        self._label, self._design, self._first = label, design, first
        self._cell = np.full(groups, -1, dtype=np.int32)
        self._cell[design.group] = design.cell
        self._places = np.array([at for at, term in enumerate(design.terms) if term.quantity in quantities], dtype=int)
        self._n_terms = [round(float(rows.n[design.terms[place].carried].sum())) for place in self._places]
        self._solution = solve(rows, design.regressors)  # with the missing ratings at 0
        self._inverse = self._solution.inverse[:, self._places]  # (terms, K)
        self._sums = np.zeros((2, *design.layouts.shape[:2], len(self._places)))  # (ends, cells, w, K) of (1, reference) at 1
        self._squares = np.zeros((2, len(self._places)))
        self._weights: np.ndarray | None = None  # (products, cells, 2 K)
        self._prompts = 0

    def _missing(self, block: RowBlock) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Prompts of the missing rows, their cells, (1, reference[, length]) of each, (rows, w), and weights, (rows, K)."""
        rows = np.flatnonzero((block.group >= self._first) & (self._cell[block.group] >= 0))
        cell = self._cell[block.group[rows]]
        values = np.stack([np.ones(len(rows)), *(covariate[rows] for covariate in block.covariates)], axis=1)
        weights = np.einsum("rw,rwk->rk", values, (self._design.layouts @ self._inverse)[cell])
        # The squares of all weights of a term sum up to its A_kk: what is nothing to that is 0, not a sign.
        weights[np.abs(weights) < ROUNDING * np.sqrt(self._inverse[self._places, range(len(self._places))])] = 0.0
        return block.prompt[rows], cell, values, weights

    def add(self, block: RowBlock) -> None:
        """Add what the missing rows of a block add to X'y at each bound."""
        _, cell, values, weights = self._missing(block)
        for sums, at_1 in zip(self._sums, (weights < 0, weights > 0), strict=True):
            np.add.at(sums, cell, values[:, :, None] * at_1[:, None])

    def _estimates(self) -> np.ndarray:
        """Coefficients of the fit at each bound, (ends, K, terms)."""
        return self._solution.estimate + np.einsum("ecwk,cwt->ekt", self._sums, self._design.layouts) @ self._solution.inverse

    def _weights_of_scores(self) -> np.ndarray:
        """Weights, (products, cells, 2 K), that make of a prompt's sums what it adds to each bound, but for missing ratings."""
        layouts = self._design.layouts
        weights = [score_weights(layouts, self._solution.estimate)[:, :, :0]]
        for estimates in self._estimates():
            for place, estimate in enumerate(estimates):
                weights.append(score_weights(layouts, estimate) @ self._inverse[:, [place]])
        return np.concatenate(weights, axis=2)

    def add_squares(self, block: RowBlock) -> None:
        """Add the squares of what the prompts of a block add to each bound, when all blocks have been added."""
        if self._weights is None:
            self._weights = self._weights_of_scores()
        prompt, _, _, weights = self._missing(block)
        at_1 = np.concatenate([np.minimum(weights, 0.0), np.maximum(weights, 0.0)], axis=1)  # (rows, 2 K)
        for prompts, sums in sum_by_prompt(block, self._cell, self._design.cells):
            scores = mapped(sums, self._weights)
            inside = (prompt >= prompts[0]) & (prompt <= prompts[-1])
            np.add.at(scores, np.searchsorted(prompts, prompt[inside]), at_1[inside])
            self._squares += (scores**2).sum(axis=0).reshape(self._squares.shape)
            self._prompts += len(prompts)

    def refits(self) -> tuple[Refit, Refit]:
        """Lay out the lowest and the highest values."""
        solution, places = self._solution, self._places
        terms = [self._design.terms[place] for place in places]
        factor, known = small_sample_factor(self._prompts, solution), solution.identified[places]

        def refit_at(end: int) -> Refit:
            estimate = np.where(known, self._estimates()[end, np.arange(len(places)), places], np.nan)
            covariance = np.diag(np.where(known, self._squares[end] * factor, np.nan))
            result = LeastSquares(estimate, covariance, known, solution.n, solution.rank, self._prompts - 1)
            return Refit(self._label, terms, self._n_terms, solution, result, self._prompts)

        return refit_at(0), refit_at(1)
