"""The maximum of the likelihood of verdicts by Newton's method, its errors clustered by question,
and whether it exists.

There is none where verdicts separate: where the likelihood rises for ever along some direction, so
that coefficients are infinite (Albert and Anderson 1984; Konis 2007). With dlog_k the change of the
logarithm of outcome k's weight,

    dlog_observed - dlog_k >= 0 for all verdicts and outcomes k, with > for some

A linear program finds the direction with the largest sum of these differences; the sum is 0 if and
only if there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from recuse.base.errors import DataError
from recuse.model.least_squares import IDENTIFIED, RANK_TOLERANCE
from recuse.pairwise.davidson import (
    OUTCOMES,
    POSITION,
    SENSITIVITY,
    STRENGTH,
    TIED,
    PairCells,
    State,
)

STEPS, HALVINGS = 100, 30
# log-likelihood that a step promises to gain: what the step leaves is below rounding
CONVERGED = 1e-14
# Of a verdict: less probable ones are reached, as a rule, only on the way to infinity
UNCERTAIN = 1e-5
SMALL = 1e-7  # a difference below it is rounding of the linear program
# Change of the logarithm of an outcome's weight by eta and by log nu.
WEIGHTS = np.array([(0.5, 0.0), (-0.5, 0.0), (0.0, 1.0)])  # (outcomes, 2)
NOT_CONVERGED = "the regression of verdicts has not converged; leave `regression` out of `analyses`"


@dataclass(frozen=True)
class MaximumFit:
    """Coefficients at the maximum, and what their errors are made of."""

    cells: PairCells
    coefficients: np.ndarray  # (terms,)
    free: np.ndarray  # (terms,) of bool: estimated
    identified: np.ndarray  # (terms,) of bool: estimated, and determined by the verdicts
    separated: np.ndarray  # (terms,) of bool: would be infinite
    information: np.ndarray  # (terms, terms) observed, without priors
    # (terms, terms) of the information with priors, on the free directions that hold information
    inverse: np.ndarray
    rank: int

    @cached_property
    def influence(self) -> np.ndarray:
        """By how much each question moves each coefficient, (items, terms): scores times
        inverse.
        """
        return self.cells.at(self.coefficients).scores() @ self.inverse

    def moved_by(self, influence: np.ndarray) -> np.ndarray:
        """Influence of each question if it also moves the strengths, which were given: (items,
        terms).

        influence: (items, models) on the strengths. Source: Newey and McFadden (1994), section 6,
        two-step estimators.
        """
        strengths = self.cells.terms.places(STRENGTH)
        return self.influence - influence @ self.information[strengths] @ self.inverse

    @property
    def questions(self) -> int:
        """How many questions have a verdict."""
        return len(np.unique(self.cells.verdicts.item))

    def covariance(self, influence: np.ndarray) -> np.ndarray:
        """Covariance (k, k) of what has this influence, (items, k): G / (G - 1) (n - 1) / (n -
        rank) sum_g d_g d_g' (CR1).
        """
        questions = self.questions
        n = len(self.cells.verdicts.item)
        factor = (
            questions / (questions - 1) * (n - 1) / (n - self.rank)
            if questions > 1 and n > self.rank
            else np.nan
        )
        return factor * influence.T @ influence


def fit_maximum(
    cells: PairCells,
    free: Collection[str],
    *,
    given: np.ndarray | None = None,
    precision: Mapping[str, float] | None = None,
) -> MaximumFit:
    """Maximise the likelihood over the terms of the kinds in `free` by Newton's method.

    given: coefficients (terms,) to start from, at which all other terms stay; by default the
    defaults. precision: of weak normal priors about the defaults, by kind. Strengths sum to 0;
    sensitivities, if strengths are free too, have the mean 1; positions sum to 0 where places that
    never vary do not tell them from strengths. A coefficient that the verdicts do not determine, or
    that would be infinite because they separate (see `separation`), is not identified; the others
    are estimated without the verdicts that separate. DataError if it does not converge.
    """
    terms, separated = cells.terms, np.zeros(cells.terms.count, dtype=bool)
    start = terms.defaults() if given is None else given
    prior = np.zeros(terms.count)
    for kind, value in (precision or {}).items():
        prior[terms.places(kind)] = value
    bilinear = {STRENGTH, SENSITIVITY} <= {*free}
    while True:
        estimated = terms.mask(free) & cells.present
        begin = start
        # From the fit without sensitivities: where strengths are alike, there are none to find
        if bilinear:
            without = estimated & ~terms.mask([SENSITIVITY])
            begin = _maximised(cells, without, start, prior, bilinear=False).coefficients
        fitted = _maximised(cells, estimated, begin, prior, bilinear=bilinear)
        bounded = {*free} <= {*(precision or {})}
        certain = None if bounded or not is_suspect(fitted) else separation(fitted)
        if certain is None or not certain.any():
            return replace(fitted, separated=separated & ~fitted.identified)
        separated |= estimated
        cells = PairCells(cells.verdicts.among(~certain))


def _maximised(
    cells: PairCells, free: np.ndarray, start: np.ndarray, prior: np.ndarray, *, bilinear: bool
) -> MaximumFit:
    """The fit of the terms `free`, (terms,) of bool, from some coefficients; prior: (terms,)
    precisions.
    """
    coefficients = start.copy()
    default = cells.terms.defaults()
    state = cells.at(coefficients)
    basis = _basis(cells, free, state.information(observed=False), bilinear=bilinear)

    def objective(state: State, coefficients: np.ndarray) -> float:
        return state.log_likelihood - float(prior @ (coefficients - default) ** 2) / 2

    for _ in range(STEPS):
        gradient = basis.T @ (state.gradient - prior * (coefficients - default))
        for observed in (True, False):  # the expected information is never negative
            information = state.information(observed=observed) + np.diag(prior)
            inverse, _, definite = inverse_information(basis.T @ information @ basis)
            if definite:
                break
        step = inverse @ gradient
        gain = float(gradient @ step)
        before = objective(state, coefficients)
        for _ in range(HALVINGS):
            tried = coefficients + basis @ step
            state = cells.at(tried)
            if objective(state, tried) >= before - 1e-12 * abs(before):
                break
            step /= 2
        coefficients = tried
        if gain < CONVERGED:
            break
    else:
        raise DataError(NOT_CONVERGED)
    information = state.information()
    inverse, _, _ = inverse_information(basis.T @ (information + np.diag(prior)) @ basis)
    _, null, _ = inverse_information(basis.T @ state.information(observed=False) @ basis)
    identified = free & (np.abs(basis @ null) < IDENTIFIED).all(axis=1)
    rank = basis.shape[1] - null.shape[1]
    never = np.zeros(len(free), dtype=bool)
    return MaximumFit(
        cells, coefficients, free, identified, never, information, basis @ inverse @ basis.T, rank
    )


def _basis(
    cells: PairCells, free: np.ndarray, information: np.ndarray, *, bilinear: bool
) -> np.ndarray:
    """Orthonormal directions, (terms, k), in which the free terms may move."""
    strengths, sensitivities, positions = (
        free & cells.terms.mask([of]) for of in (STRENGTH, SENSITIVITY, POSITION)
    )
    constraints = [kind for kind in (strengths, sensitivities & bilinear) if kind.any()]
    basis = _orthogonal(free, constraints)
    _, null, _ = inverse_information(basis.T @ information @ basis)
    moved = np.abs(basis @ null) > IDENTIFIED
    shared = moved[strengths].any(axis=0) & moved[positions].any(axis=0)
    # Each model has its place: an effect of places common to all judges is one of strengths
    if shared.any():
        basis = _orthogonal(free, [*constraints, positions & moved[:, shared].any(axis=1)])
    return basis


def _orthogonal(free: np.ndarray, constraints: Sequence[np.ndarray]) -> np.ndarray:
    """Directions of the free terms that keep the sum of each set of terms, (terms,) of bool:
    (terms, k).
    """
    basis = np.eye(len(free))[:, free]
    if not constraints:
        return basis
    rows = np.array(constraints, dtype=float)[:, free]
    return basis @ np.linalg.qr(rows.T, mode="complete")[0][:, len(rows) :]


def inverse_information(information: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Inverse on the directions that hold information, those that hold none, (k, directions), and
    if none is negative.
    """
    diagonal = information.diagonal()
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(information * np.outer(scale, scale))
    least = RANK_TOLERANCE * np.abs(values).max(initial=0.0)
    informed = values > least
    kept = vectors[:, informed] / np.sqrt(values[informed]) * scale[:, None]
    null = vectors[:, ~informed] * scale[:, None]
    return (
        kept @ kept.T,
        null / np.abs(null).max(axis=0, initial=1e-300),
        bool((values >= -least).all()),
    )


def is_suspect(fitted: MaximumFit) -> bool:
    """Whether log odds of some verdict, or of a tie, are so large that coefficients may be
    infinite.
    """
    probability = fitted.cells.at(fitted.coefficients).probability
    return bool(probability[probability > 0].min(initial=1.0) < UNCERTAIN)


def separation(fitted: MaximumFit) -> np.ndarray:
    """Verdicts that become certain along the direction that separates most, (verdicts,) of bool.

    Sensitivities that are estimated together with strengths stay as they are.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, vstack

    cells, terms = fitted.cells, fitted.cells.terms
    verdicts = cells.verdicts
    moving = fitted.free & ~(terms.mask([SENSITIVITY]) & fitted.free[terms.places(STRENGTH)].any())
    groups = np.arange(len(cells.judge))
    shape = len(groups), terms.count
    entries = zip(cells.entries(fitted.coefficients), cells.places, strict=True)
    # (groups, terms) each
    *linear, by_x, by_log_nu = (
        csr_array((entry, (groups, places)), shape) for entry, places in entries
    )
    by_eta = sum(linear)
    blocks = []
    certain = []
    for outcome in OUTCOMES:
        seen = verdicts.outcome == outcome
        for end in (np.fmin, np.fmax) if cells.has_lengths else (np.fmin,):
            x = np.full(len(groups), np.nan)
            end.at(x, cells.group[seen], verdicts.x[seen])
            for other in OUTCOMES:
                chosen = np.isfinite(x) & (outcome != other)
                if TIED in (outcome, other):
                    chosen &= cells.has_ties[cells.judge]
                of_eta, of_tie = WEIGHTS[outcome] - WEIGHTS[other]
                moved = by_eta[chosen] + by_x[chosen].multiply(x[chosen, None])
                blocks.append(of_eta * moved + of_tie * by_log_nu[chosen])
                certain.append(groups[chosen] * len(OUTCOMES) + outcome)
    matrix = vstack(blocks, format="csr")[:, moving]
    gain = matrix.sum(axis=0)
    found = linprog(
        -gain, A_ub=-matrix, b_ub=np.zeros(matrix.shape[0]), bounds=(-1, 1), method="highs"
    )
    return np.isin(
        cells.group * len(OUTCOMES) + verdicts.outcome,
        np.concatenate(certain)[matrix @ found.x > SMALL],
    )
