"""Bounds on biases: every missing rating at the end of the scale that makes the bias extreme.

A rating is missing if a judge did not rate a completion that another judge rated, in a dimension in which it rated others.
Completions that no judge rated leave no trace. Moments by judges (recuse.data.moments) show who rated what.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from recuse.data.moments import JUDGED_BY, Blocks, Moments, RowBlock
from recuse.data.study import Study
from recuse.inference.refit import Refit, coefficient_rows, refit
from recuse.model.design import SliceDesign, designs_of
from recuse.model.estimable import moments_of
from recuse.model.least_squares import LeastSquares, small_sample_factor, solve
from recuse.model.prompt_sums import mapped, score_weights, sum_by_prompt
from recuse.model.spec import BIASES, Spec, estimand_of

ALL_ROWS, COMPLETE = "all rows", "complete blocks"
OWN = ("lowest by own missing", "highest by own missing")  # self-biases, by judges' missing ratings of their own answers
ANY = ("lowest by any missing", "highest by any missing")  # all biases, by all missing ratings
ROUNDING = 1e-9  # of the root of the sum of squared weights: a smaller weight is 0
Rows = Callable[[Mapping[str, np.ndarray]], Iterable[RowBlock]]  # the rows, with groups numbered as in these factors


def bounds_rows(spec: Spec, study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the bounds table of a least-squares spec: by method, slice and coefficient, with errors CR1."""
    by_judges, whole = (spec.changed(absorb=absorb, covariance="CR1") for absorb in ("completion", None))
    judges = np.unique(moments_of(whole, study).factors["judge"])
    apart = moments_of(by_judges, study)
    if not len(apart.n):
        return
    for method, fit in refits_by_method(whole, apart, judges, lambda factors: study.row_blocks(by_judges.selection, factors)):
        where = {"spec": spec.name, "slice": fit.label, "estimand": estimand_of(whole), "method": method}
        rows = coefficient_rows(fit.terms, fit.result, fit.prompts, confidence=confidence)
        yield from (where | row | {"n_term": n_term} for row, n_term in zip(rows, fit.n_terms, strict=True))


def refits_by_method(spec: Spec, apart: Moments, judges: np.ndarray, blocks: Rows) -> Iterator[tuple[str, Refit]]:
    """Yield the refits of a spec to all rows and to complete blocks, and the bounds on its biases, by slice.

    Complete blocks correct for ratings that are missing because of the completion, not because of the rating itself. The bias
    lies between the bounds whatever the missing ratings were: OWN for self-biases, ANY for all biases.

    apart: from `moments_by_judges`. judges: the names behind the bits of JUDGED_BY, (judges,) of str. blocks: of the rows.
    """
    yield from ((ALL_ROWS, fit) for fit in refit(spec, apart, blocks(apart.factors)))
    complete = apart.select(~_missing(apart, judges).any(axis=1))  # completions without a missing rating
    if len(complete.n):
        yield from ((COMPLETE, fit) for fit in refit(spec, complete, blocks(complete.factors)))
    for methods in (OWN, ANY):
        for ends in bounds(spec, apart, judges, blocks, own=methods is OWN):
            yield from zip(methods, ends, strict=True)


def bounds(spec: Spec, apart: Moments, judges: np.ndarray, blocks: Rows, *, own: bool) -> list[tuple[Refit, Refit]]:
    """Find the lowest and highest biases by slice: self-biases by missing `own` ratings, or all biases by all missing ones.

    With A = (X'X)^-1 over all rows, the missing ones included, a coefficient is the sum over rows of w y, w = A_k x. Its lowest
    value has the missing ratings at 1 where w < 0 and else at 0, its highest at 1 where w > 0. Each bound thus has its own
    ratings, with the error CR1 of the fit to them, and no covariance with others. Slices without rows or terms are left out.
    Source: Manski (1990), for a coefficient that is linear in the ratings.

    Arguments as for `refits_by_method`; the rows are read twice.
    """
    rows, quantities = Filled(apart, judges, own=own), ["self_bias"] if own else BIASES
    designs = designs_of(spec, rows.moments)
    slices = [_Bounds(*design, rows, quantities) for design in designs if design[-1] is not None]
    filled = Blocks(lambda: rows.blocks(blocks(apart.factors)) if slices else ())
    for add in (_Bounds.add, _Bounds.add_squares):
        for block in filled:
            for one in slices:
                add(one, block)
    return [one.refits() for one in slices]


class Filled:
    """Rows with missing ratings filled in, at 0: `moments` of the observed groups, then of the filled ones."""

    def __init__(self, apart: Moments, judges: np.ndarray, *, own: bool) -> None:
        """own: fill in judges' ratings of their own answers alone."""
        factors = apart.factors
        # Missing ratings take their covariates from the first judge that rated the completion.
        lends = _bits(apart).argmax(axis=1) == np.searchsorted(judges, factors["judge"])
        wanted = lends[:, None] & _missing(apart, judges)
        if own:
            wanted &= factors["model"][:, None] == judges
        lender, judge = np.nonzero(wanted)
        lent = apart.select(lender).with_rating(np.zeros((len(lender), apart.tensor.shape[1] - 1)))
        family = dict(zip(factors["judge"], factors["judge_family"], strict=True))
        families = np.array([family.get(name, "") for name in judges], dtype=factors["judge_family"].dtype)
        names = lent.factors | {"judge": judges[judge], "judge_family": families[judge]}
        factors = {name: np.concatenate([values, names[name]]) for name, values in factors.items()}
        self.moments = Moments(factors, np.concatenate([apart.tensor, lent.tensor]))
        # (observed groups, judges) the filled group with the covariates of a group's rows, -1 if there is none.
        self.added = np.full(wanted.shape, -1)
        self.added[lender, judge] = len(lends) + np.arange(len(lender))

    def blocks(self, blocks: Iterable[RowBlock]) -> Iterator[RowBlock]:
        """Add the filled rows to blocks of the observed ones."""
        for block in blocks:
            added = self.added[block.group]
            lent, judge = np.nonzero(added >= 0)
            order = np.argsort(np.concatenate([block.prompt, block.prompt[lent]]), kind="stable")
            parts = [(block.prompt, block.prompt[lent]), (block.group, added[lent, judge])]
            parts += [(block.rating, np.zeros(len(lent))), *((values, values[lent]) for values in block.covariates)]
            prompt, group, rating, *covariates = (np.concatenate(part)[order] for part in parts)
            yield RowBlock(prompt, group, rating, covariates)


class _Bounds:
    """The bounds of one slice; ends are 0, the lowest, and 1, the highest."""

    def __init__(self, label: str, rows: Moments, design: SliceDesign, filled: Filled, quantities: Sequence[str]) -> None:
        self._label, self._design, self._first = label, design, len(filled.added)
        self._cell = np.full(len(filled.moments.n), -1, dtype=np.int32)
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
        # The squares of all weights of a term sum to its A_kk: a weight negligible against that is 0.
        weights[np.abs(weights) < ROUNDING * np.sqrt(self._inverse[self._places, range(len(self._places))])] = 0.0
        return block.prompt[rows], cell, values, weights

    def add(self, block: RowBlock) -> None:
        """Add the missing rows of a block to X'y at each bound."""
        _, cell, values, weights = self._missing(block)
        for sums, at_1 in zip(self._sums, (weights < 0, weights > 0), strict=True):
            np.add.at(sums, cell, values[:, :, None] * at_1[:, None])

    def _estimates(self) -> np.ndarray:
        """Coefficients of the fit at each bound, (ends, K, terms)."""
        return self._solution.estimate + np.einsum("ecwk,cwt->ekt", self._sums, self._design.layouts) @ self._solution.inverse

    def add_squares(self, block: RowBlock) -> None:
        """Add the squared contributions of the prompts of a block to each bound, after `add` has had all blocks."""
        if self._weights is None:
            layouts, estimates = self._design.layouts, self._estimates().reshape(-1, len(self._inverse))  # (2 K, terms)
            pairs = zip(estimates, np.tile(self._inverse.T, (2, 1)), strict=True)
            weights = [score_weights(layouts, estimate) @ column[:, None] for estimate, column in pairs]
            self._weights = np.concatenate([score_weights(layouts, self._solution.estimate)[:, :, :0], *weights], axis=2)
        prompt, _, _, weights = self._missing(block)
        at_1 = np.concatenate([np.minimum(weights, 0.0), np.maximum(weights, 0.0)], axis=1)  # (rows, 2 K)
        for prompts, sums in sum_by_prompt(block, self._cell, self._design.cells):
            scores = mapped(sums, self._weights)
            inside = (prompt >= prompts[0]) & (prompt <= prompts[-1])
            np.add.at(scores, np.searchsorted(prompts, prompt[inside]), at_1[inside])
            self._squares += (scores**2).sum(axis=0).reshape(self._squares.shape)
            self._prompts += len(prompts)

    def refits(self) -> tuple[Refit, Refit]:
        """The lowest and the highest values."""
        solution, places = self._solution, self._places
        terms = [self._design.terms[place] for place in places]
        factor, identified = small_sample_factor(self._prompts, solution.n, solution.rank), solution.identified[places]
        ends = []
        for estimates, squares in zip(self._estimates(), self._squares, strict=True):
            estimate = np.where(identified, estimates[np.arange(len(places)), places], np.nan)
            covariance = np.diag(np.where(identified, squares * factor, np.nan))
            result = LeastSquares(estimate, covariance, identified, solution.n, solution.rank, self._prompts - 1)
            ends.append(Refit(self._label, terms, self._n_terms, solution, result, self._prompts))
        return ends[0], ends[1]


def _missing(apart: Moments, judges: np.ndarray) -> np.ndarray:
    """Judges whose ratings of each group's completions are missing, (groups, judges) of bool."""
    dimension, missing = apart.factors["dimension"], ~_bits(apart)
    for level in np.unique(dimension):
        inside = dimension == level
        missing[inside] &= np.isin(judges, apart.factors["judge"][inside])
    return missing


def _bits(apart: Moments) -> np.ndarray:
    """Judges who rated the completions of each group, (groups, judges) of bool."""
    patterns = apart.factors[JUDGED_BY]
    return patterns.astype("S").view(np.uint8).reshape(len(patterns), -1) == ord("1")
