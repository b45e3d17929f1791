"""The ordinal fit: a proportional-odds logit of the raw rating on the terms of Equation 1, by
maximum likelihood on counts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from recuse.base.errors import DesignError
from recuse.base.reasons import Reason, because
from recuse.data.cells import Cells
from recuse.model.design import Term, distinct_layouts, term_layout
from recuse.model.least_squares import (
    RANK_TOLERANCE,
    covariance_among,
    determined,
    small_sample_factor,
)
from recuse.model.prompt_sums import RowsOfCells
from recuse.model.spec import BIASES

SEPARATION_ROUNDING = 1e-6  # of a direction's largest entry: a smaller one is 0
# Squared distance to the maximum, in standard errors, at which Newton's method stops
DECREMENT = 1e-18
LIKELIHOOD_ROUNDING = 1e-13  # of the log-likelihood: a smaller loss is none
ITERATIONS = 200
MOVED = 0.5  # a direction of recession moves a term by at least 1, or not at all
FAR = 30.0  # a move of the linear predictor that leaves exp(-30) = 1e-13 of a probability
UNUSED = "no row has the {ratings}: thresholds are between the ratings in use"
SEPARATED = (
    "fitted in the limit of the terms without finite estimate, where the ratings that they predict"
    " have probability 1"
)


def span(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions of the parameters that change some contrast, (parameters, rank), and those that
    change none.

    gram: C'C of the contrasts C, (contrasts, parameters). The largest entry of each direction of
    the second kind is 1.
    """
    norms = np.sqrt(gram.diagonal())
    # What is 0 but for rounding remains so
    zero = norms <= SEPARATION_ROUNDING * norms.max(initial=0.0)
    scale = 1 / np.where(zero, 1.0, norms)
    values, vectors = np.linalg.eigh(gram * np.outer(scale, scale))
    informed = values > RANK_TOLERANCE * values.max(initial=0.0)
    directions = scale[:, None] * vectors
    free = directions[:, ~informed]
    return directions[:, informed], free / np.abs(free).max(axis=0, initial=0.0)


def recession(gains: np.ndarray) -> np.ndarray:
    """Find a direction d along which a separated likelihood keeps rising; zeros where it is not
    separated.

    The log-likelihood is a sum of concave terms that rise towards 0 with g p, g the rows of
    `gains`, (terms, parameters). It has no maximum if there is a d, (parameters,), with g d >= 0
    for all terms and > 0 for some. The linear program maximises sum t, 0 <= t <= 1, gains @ d >= t.
    Its d has g d >= 1 for every term that any such direction moves: in the limit these are 0, and
    the others, with g d = 0, have a maximum.
    Source: Albert and Anderson (1984); by linear programming, Konis (2007); the limit, Geyer
    (2009).
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    gains = gains[(np.abs(gains) > SEPARATION_ROUNDING).any(axis=1)]
    rows, parameters = gains.shape
    solution = linprog(
        np.repeat([0.0, -1.0], [parameters, rows]),
        A_ub=hstack([csr_array(-gains), eye_array(rows)]).tocsr(),
        b_ub=np.zeros(rows),
        bounds=[(None, None)] * parameters + [(0.0, 1.0)] * rows,
        method="highs",
    )
    if not solution.success:
        raise DesignError(
            f"the linear program for separated ratings was not solved: {solution.message}"
        )
    return solution.x[:parameters]


def reached_on_both_sides(values: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Largest v, (places,), that values of the kind reach both up to the place and from it on;
    kind: (places,), rising.
    """
    # The values of a later kind are all above those of an earlier one
    offset = kind * (np.ptp(values) + 1)
    before = np.maximum.accumulate(values + offset) - offset
    after = np.maximum.accumulate((values - offset)[::-1])[::-1] + offset
    return np.minimum(before, after)


def logistic(x: np.ndarray) -> np.ndarray:
    """Compute 1 / (1 + exp(-x)) without overflow, to full relative precision."""
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1 + small)


def outcome_sides(rating: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcome, threshold and sign of the sides of outcomes with these ratings, (sides,) each; upper
    sides first.
    """
    upper, lower = np.flatnonzero(rating < rating.max()), np.flatnonzero(rating > 0)
    sign = np.repeat([1.0, -1.0], [len(upper), len(lower)])
    return np.concatenate([upper, lower]), np.concatenate([rating[upper], rating[lower] - 1]), sign


@dataclass(frozen=True)
class ProportionalOdds:
    """The likelihood of p = (coefficients, thresholds) given outcomes: rows of one kind, reference
    and rating.

    Rows of one kind carry the same terms: their covariates are x = (1, reference) @ layouts[kind].
    With F logistic and P(rating <= k) = F(a_k), a_k = threshold_k - x coefficients, for every
    rating between two thresholds
      P(rating = k) = F(a_k) - F(a_(k-1)) = F(a_k) F(-a_(k-1)) (1 - exp(-(a_k - a_(k-1)))).
    The last factor depends only on the gap between the thresholds, so that nothing cancels in the
    tails, and
      log-likelihood = sum over sides rows log F(sign a) + sum over gaps between log(1 - exp(-gap)).
    The sides of an outcome are the thresholds just above its rating (sign 1) and just below it
    (sign -1). No array is larger than (sides,), (kinds, thresholds) or (parameters, parameters).
    """

    layouts: np.ndarray  # (kinds, 2, terms)
    kind: np.ndarray  # (outcomes,)
    reference: np.ndarray  # (outcomes,)
    rating: np.ndarray  # (outcomes,) 0 to thresholds; sorted by kind, reference, rating
    rows: np.ndarray  # (outcomes,) how many
    outcome: np.ndarray  # (sides,)
    threshold: np.ndarray  # (sides,)
    sign: np.ndarray  # (sides,)
    between: np.ndarray  # (gaps,) rows with the rating between two thresholds

    @classmethod
    def of(cls, layouts: np.ndarray, *outcomes: np.ndarray) -> "ProportionalOdds":
        """Lay out kind, reference, rating and rows of outcomes, sorted by the first three; every
        rating from 0 is used.
        """
        *_, rating, rows = outcomes
        return cls(
            layouts,
            *outcomes,
            *outcome_sides(rating),
            between=np.bincount(rating, weights=rows)[1:-1],
        )

    @property
    def terms(self) -> int:
        """Number of terms."""
        return self.layouts.shape[2]

    @cached_property
    def thresholds(self) -> int:
        """Number of thresholds."""
        return int(self.rating.max())

    def covariates(
        self, chosen: np.ndarray | slice, terms: slice | int = slice(None)
    ) -> np.ndarray:
        """Covariates of the chosen outcomes, (chosen, terms), or (chosen,) of one term."""
        layouts = self.layouts[..., terms]
        constant, slope = layouts[:, 0][self.kind[chosen]], layouts[:, 1][self.kind[chosen]]
        return constant + (slope.T * self.reference[chosen]).T

    def design(self) -> np.ndarray:
        """C'C of the contrasts that the likelihood depends on, (parameters, parameters): sides (a)
        and gaps.
        """
        return self._gram(
            self.outcome,
            self.threshold,
            np.ones(len(self.outcome)),
            (self.between > 0).astype(float),
        )

    def recession(self, basis: np.ndarray) -> np.ndarray:
        """Find a direction along which the likelihood keeps rising, (parameters,); zeros where it
        has a maximum.

        basis: (parameters, r), directions that the likelihood depends on. In a cell (the outcomes
        of one kind and reference) the upper side of the lowest rating and the lower side of the
        highest imply the rest, as all gaps rise. Mostly cells fix all directions (`_fixed`), and no
        linear program is solved.
        """
        new = (np.diff(self.kind) != 0) | (np.diff(self.reference) != 0)
        first, last = np.flatnonzero(np.append(True, new)), np.flatnonzero(np.append(new, True))
        _, free = span(basis.T @ self._fixed(first, last) @ basis)
        if not free.size:
            return np.zeros(len(basis))
        coefficients, thresholds = np.split(basis @ free, [self.terms])
        low, high = first[self.rating[first] < self.thresholds], last[self.rating[last] > 0]
        upper = thresholds[self.rating[low]] - self._predictor(coefficients, low)
        lower = self._predictor(coefficients, high) - thresholds[self.rating[high] - 1]
        return basis @ free @ recession(np.concatenate([upper, lower, np.diff(thresholds, axis=0)]))

    def _fixed(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """C'C of contrasts c with c d = 0 for every direction of recession d, (parameters,
        parameters).

        first, last: (cells,), the outcomes of a cell's lowest and highest rating. Along d, x
        coefficients is at most the upper threshold of the lowest rating and at least the lower
        threshold of the highest. Being linear in the reference, between two cells of its kind it is
        at most the higher and at least the lower of their thresholds. Where this gives threshold_j
        <= x coefficients <= threshold_i with i <= j, all three are fixed, and the gaps from i to j.
        """
        kind = self.kind[first]
        least = reached_on_both_sides(self.rating[last], kind) - 1
        most = -reached_on_both_sides(-self.rating[first], kind)
        fixed = least >= most
        starts, ends = (
            np.bincount(part[fixed], minlength=self.thresholds) for part in (most, least)
        )
        gaps = np.cumsum(starts - ends)[:-1] > 0
        return self._gram(first[fixed], most[fixed], np.ones(fixed.sum()), gaps.astype(float))

    def limit(self, direction: np.ndarray) -> "ProportionalOdds":
        """The likelihood in the limit along a direction of recession, without terms that reach log
        1 = 0.
        """
        kept = self._inside(direction) <= MOVED
        sides = {key: getattr(self, key)[kept] for key in ("outcome", "threshold", "sign")}
        return replace(
            self, **sides, between=np.where(self._gaps(direction) > MOVED, 0.0, self.between)
        )

    def value(self, point: np.ndarray) -> float:
        """Compute the log-likelihood at `point`, (parameters,); -inf where thresholds are out of
        order.
        """
        inside, gap = self._inside(point), self._gaps(point)[self.between > 0]
        if (gap <= 0).any():
            return -np.inf
        logs = np.minimum(inside, 0.0) - np.log1p(np.exp(-np.abs(inside)))
        return float(
            self.rows[self.outcome] @ logs
            + self.between[self.between > 0] @ np.log(-np.expm1(-gap))
        )

    def gradient(self, point: np.ndarray) -> np.ndarray:
        """Compute the derivative of the log-likelihood, (parameters,)."""
        pull = self.sign * self.rows[self.outcome] * logistic(-self._inside(point))
        kind = self.kind[self.outcome]
        constant = np.bincount(kind, pull, len(self.layouts))
        slope = np.bincount(kind, pull * self.reference[self.outcome], len(self.layouts))
        inner = -np.diff(self.between * self._gap_slope(point), prepend=0.0, append=0.0)[
            : self.thresholds
        ]
        thresholds = np.bincount(self.threshold, pull, self.thresholds) + inner
        return np.concatenate(
            [-(constant @ self.layouts[:, 0] + slope @ self.layouts[:, 1]), thresholds]
        )

    def information(self, point: np.ndarray) -> np.ndarray:
        """Compute the observed information, minus the Hessian of the log-likelihood, (parameters,
        parameters).
        """
        inside, slope = self._inside(point), self._gap_slope(point)
        weights = self.rows[self.outcome] * logistic(inside) * logistic(-inside)
        return self._gram(self.outcome, self.threshold, weights, self.between * slope * (1 + slope))

    def score_squares(self, point: np.ndarray) -> np.ndarray:
        """Sum score score' over rows, (parameters, parameters): the score of a row is the gradient
        of its log-probability.

        That of an outcome is -(u - v) x + (u + g) e_k - (v + g) e_(k-1): u, v and g are the
        derivatives of log F(a_k), of log F(-a_(k-1)) in -a_(k-1) and of log(1 - exp(-gap)); e_k is
        the unit vector of the threshold k.
        """
        upper, lower = self._pulls(point)
        weights = self.rows * (upper - lower)
        outcome, threshold, sign = outcome_sides(self.rating)
        scores = np.where(sign > 0, upper[outcome], -lower[outcome])
        squares = np.bincount(threshold, self.rows[outcome] * scores**2, self.thresholds)
        inner = np.bincount(self.rating, self.rows * upper * lower, self.thresholds + 1)[1:-1]
        cross = self._cross(outcome, threshold, weights[outcome] * scores)
        return _assembled(
            self._products(np.arange(len(self.rows)), weights * (upper - lower)),
            cross,
            squares,
            -inner,
        )

    def scores_by_prompt(
        self, point: np.ndarray, prompt: np.ndarray, outcome: np.ndarray
    ) -> np.ndarray:
        """Sum the scores of rows of each prompt, (prompts, parameters); prompt, outcome: places,
        (rows,).
        """

        def total(place: np.ndarray, weights: np.ndarray, places: int) -> np.ndarray:
            return np.bincount(
                prompt * places + place[outcome], weights[outcome], prompts * places
            ).reshape(prompts, places)

        prompts, (upper, lower) = prompt.max() + 1, self._pulls(point)
        constant = total(self.kind, lower - upper, len(self.layouts))
        slope = total(self.kind, (lower - upper) * self.reference, len(self.layouts))
        above, below = (total(self.rating, pull, self.thresholds + 1) for pull in (upper, lower))
        return np.hstack(
            [
                constant @ self.layouts[:, 0] + slope @ self.layouts[:, 1],
                above[:, :-1] - below[:, 1:],
            ]
        )

    def _pulls(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u + g and v + g, as in `score_squares`, (outcomes,) each."""
        pull = logistic(-self._inside(point))
        u, v = (
            np.bincount(self.outcome[side], pull[side], len(self.rows))
            for side in (self.sign > 0, self.sign < 0)
        )
        g = np.concatenate([[0.0], self._gap_slope(point), [0.0]])[self.rating]
        return u + g, v + g

    def _gram(
        self, outcome: np.ndarray, threshold: np.ndarray, weights: np.ndarray, gaps: np.ndarray
    ) -> np.ndarray:
        """Sum weight c c' over contrasts c, (parameters, parameters): a of these sides, and all
        gaps.
        """
        inner = np.append(0.0, gaps) + np.append(gaps, 0.0)
        diagonal = np.bincount(threshold, weights, self.thresholds) + inner[: self.thresholds]
        products, cross = self._products(outcome, weights), self._cross(outcome, threshold, weights)
        return _assembled(products, cross, diagonal, -gaps)

    def _products(self, outcome: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sum weight x x' over outcomes, (terms, terms)."""
        kind, reference = self.kind[outcome], self.reference[outcome]
        powers = (
            np.bincount(kind, weights * reference**power, len(self.layouts)) for power in (0, 1, 2)
        )
        one, first, second = (power[:, None] for power in powers)
        constant, slope = self.layouts[:, 0], self.layouts[:, 1]
        return constant.T @ (one * constant + first * slope) + slope.T @ (
            first * constant + second * slope
        )

    def _cross(self, outcome: np.ndarray, threshold: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sum -weight x by threshold, (terms, thresholds)."""
        shape = (len(self.layouts), self.thresholds)
        place = self.kind[outcome] * self.thresholds + threshold
        one = np.bincount(place, weights, np.prod(shape)).reshape(shape)
        first = np.bincount(place, weights * self.reference[outcome], np.prod(shape)).reshape(shape)
        return -(self.layouts[:, 0].T @ one + self.layouts[:, 1].T @ first)

    def _predictor(self, coefficients: np.ndarray, outcome: np.ndarray) -> np.ndarray:
        """Compute x coefficients of outcomes, (outcomes, ...), of coefficients (terms, ...)."""
        constant, slope = (self.layouts[:, power] @ coefficients for power in (0, 1))
        kind = self.kind[outcome]
        return constant[kind] + (slope[kind].T * self.reference[outcome]).T

    def _inside(self, point: np.ndarray) -> np.ndarray:
        """How far rows are on their side of the threshold, sign a, (sides,)."""
        return self.sign * (
            point[self.terms :][self.threshold] - self._predictor(point[: self.terms], self.outcome)
        )

    def _gaps(self, point: np.ndarray) -> np.ndarray:
        return np.diff(point[self.terms :])

    def _gap_slope(self, point: np.ndarray) -> np.ndarray:
        """Derivative of log(1 - exp(-gap)), (gaps,); 0 for a gap without rows."""
        return 1 / np.expm1(np.where(self.between > 0, self._gaps(point), np.inf))


def _assembled(
    terms: np.ndarray, cross: np.ndarray, diagonal: np.ndarray, off_diagonal: np.ndarray
) -> np.ndarray:
    """Assemble (parameters, parameters) from blocks; that of the thresholds is tridiagonal."""
    k, places = len(terms), len(terms) + np.arange(len(diagonal))
    matrix = np.zeros((k + len(diagonal),) * 2)
    matrix[:k, :k], matrix[:k, k:], matrix[k:, :k] = terms, cross, cross.T
    matrix[places, places] = diagonal
    matrix[places[:-1], places[1:]] = matrix[places[1:], places[:-1]] = off_diagonal
    return matrix


def maximise(likelihood: ProportionalOdds, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maximise a likelihood along the columns of `basis`, (parameters, r), by Newton's method with
    step halving.

    Returns the maximum and the inverse of the information on the basis, (parameters, parameters);
    DesignError if it does not converge.
    """
    # Without effects, the thresholds are the cumulative log odds.
    below = (
        np.bincount(likelihood.rating, weights=likelihood.rows).cumsum()[:-1]
        / likelihood.rows.sum()
    )
    point = np.concatenate([np.zeros(likelihood.terms), np.log(below / (1 - below))])
    value = likelihood.value(point)
    for _ in range(ITERATIONS):
        inverse = basis @ np.linalg.inv(basis.T @ likelihood.information(point) @ basis) @ basis.T
        gradient = likelihood.gradient(point)
        step = inverse @ gradient
        if gradient @ step <= DECREMENT:
            return point, inverse
        while (new := likelihood.value(point + step)) < value - LIKELIHOOD_ROUNDING * abs(value):
            step = step / 2
        point, value = point + step, new
    raise DesignError(
        f"the ordinal fit has not converged after {ITERATIONS} steps of Newton's method"
    )


def average_effect(
    covariates: np.ndarray,
    rows: np.ndarray,
    ratings_unit: np.ndarray,
    *,
    place: int,
    point: np.ndarray,
    covariance: np.ndarray,
) -> tuple[float, float]:
    """Average marginal effect of an indicator term on the rows that carry it, and its standard
    error, on the unit scale.

    With eta a row's linear predictor and b the term's coefficient,

      effect = mean of E[rating | eta] - E[rating | eta - b]
      E[rating | eta] = r_K - sum_k (r_(k+1) - r_k) F(a_k)

    over the rows with the term; r_0 < ... < r_K are the ratings, a_k = threshold_k - eta. With p
    all parameters and f = F (1 - F),

      d effect / dp = mean of sum_k (r_(k+1) - r_k) (f(a_k + b) d(a_k + b)/dp - f(a_k) da_k/dp)

    and the variance is (d effect / dp)' covariance (d effect / dp), by the delta method for given
    rows.
    covariates: (cells, terms) of the cells that carry the term; rows: (cells,); ratings_unit:
    (ratings,); place: of b in `point`, (parameters,), coefficients before thresholds; covariance:
    (parameters, parameters).
    """
    steps = np.diff(ratings_unit)
    share = rows / rows.sum()
    coefficients, thresholds = np.split(point, [covariates.shape[1]])
    without = covariates.copy()
    without[:, place] = 0.0  # d(a_k + b)/dp: it does not depend on b
    effect, gradient = 0.0, np.zeros(len(point))
    for carried, sign in ((without, 1.0), (covariates, -1.0)):
        a = thresholds - (carried @ coefficients)[:, None]  # (cells, thresholds)
        below = logistic(a)
        effect += sign * float(share @ below @ steps)
        weights = share[:, None] * below * logistic(-a) * steps
        gradient += sign * np.concatenate([-(weights.sum(axis=1) @ carried), weights.sum(axis=0)])
    return effect, float(np.sqrt(gradient @ covariance @ gradient))


@dataclass(frozen=True)
class OrdinalFit:
    """The parameters: coefficients (log odds) of the terms, then thresholds; NaN, with a note,
    where there is no number.
    """

    estimate: np.ndarray  # (parameters,)
    std_error: np.ndarray  # (parameters,)
    notes: tuple[str, ...]  # (parameters,) why there is no number; "" normally
    # (parameters,) average marginal effect on the unit scale; NaN but for self_bias and family_bias
    effect: np.ndarray
    effect_std_error: np.ndarray  # (parameters,)
    reference: int | None  # place of the term that is no parameter, the first judge's intercept
    threshold_labels: tuple[str, ...]  # (thresholds,) "0|1" between the ratings 0 and 1
    covariance: np.ndarray  # (parameters, parameters)
    # (parameters,) finite values of log-likelihood `log_likelihood`, to 1e-12 a row
    point: np.ndarray
    log_likelihood: float  # the maximum; the supremum where a term has no finite estimate
    n: int  # rows
    rank: int  # parameters that the likelihood determines, thresholds included
    remarks: tuple[str, ...]
    df: float = math.inf  # of the t distribution of estimate / std_error; infinite: the normal one


def fit_ordinal(
    cells: Cells,
    terms: Sequence[Term],
    *,
    covariance: str = "HC0",
    rows_of_cells: RowsOfCells | None = None,
) -> OrdinalFit:
    """Fit P(rating <= k) = F(threshold_k - eta), F logistic and eta the sum of the terms, by
    maximum likelihood.

    cells: the rows of one slice, on one scale (else DesignError). terms: those that some group
    carries, of (1, reference). The first judge's intercept is 0, because the thresholds are free.
    Ratings that no row has are left out, with their thresholds. covariance: with I the observed
    information, s the score of each of n rows, and k the number of parameters determined,
      classical  I^-1                    (Hessian errors; what Play Favorites reports)
      HC0        I^-1 (sum s s') I^-1    (White 1982)
      HC1        HC0 * n / (n - k), NaN when n <= k
      CR1        HC0 * P / (P - 1) * (n - 1) / (n - k), with s the sum of the scores of each of
                 P prompts; t with P - 1 degrees of freedom. It takes `rows_of_cells`.
    Where terms separate the ratings, the likelihood keeps rising in some directions (`recession`).
    What does not change along these is fitted in the limit, where ratings predicted without error
    have probability 1; the other parameters have no numbers. Nor have terms that the design does
    not determine, or any parameter if all rows have one rating.
    Source: Play Favorites (arXiv 2508.06709), ordinal ablation; McCullagh (1980).
    """
    rows = _collapse(cells, terms)
    basis, free = span(rows.likelihood.design())
    in_design = determined(free)
    direction = rows.likelihood.recession(basis)
    likelihood = rows.likelihood.limit(direction)
    if direction.any():
        basis, free = span(likelihood.design())
    point, inverse = maximise(likelihood, basis)
    n, rank = int(rows.likelihood.rows.sum()), basis.shape[1]
    spread, df = inverse, math.inf
    if covariance == "CR1":
        squares, prompts = rows_of_cells.squared_scores(
            lambda prompt, cell, rating: likelihood.scores_by_prompt(
                point, prompt, rows.outcome[cell, rating]
            )
        )
        spread, df = (
            inverse @ squares @ inverse * small_sample_factor(prompts, n, rank),
            prompts - 1,
        )
    elif covariance in ("HC0", "HC1"):
        spread = inverse @ likelihood.score_squares(point) @ inverse
        if covariance == "HC1":
            spread = spread * (n / (n - rank) if n > rank else np.nan)
    elif covariance != "classical":
        raise ValueError(f"ordinal fits have no covariance {covariance}")
    finite = determined(free)
    notes = _notes(rows, finite, in_design)
    effects = _effects(rows, free, point, spread, notes)
    spread = covariance_among(finite, spread)
    return OrdinalFit(
        estimate=np.where(finite, point, np.nan),
        std_error=np.sqrt(spread.diagonal()),
        notes=tuple(notes),
        effect=effects[:, 0],
        effect_std_error=effects[:, 1],
        reference=rows.fixed,
        threshold_labels=rows.labels,
        covariance=spread,
        point=point + FAR * direction,
        log_likelihood=likelihood.value(point),
        n=n,
        rank=rank,
        remarks=(*rows.remarks, *([SEPARATED] if direction.any() else [])),
        df=df,
    )


@dataclass(frozen=True)
class _Rows:
    """The rows of a slice; those with the same terms, human score and rating are one outcome."""

    terms: Sequence[Term]
    likelihood: ProportionalOdds
    ratings: np.ndarray  # (ratings in use,)
    unit: np.ndarray  # (ratings in use,) on the unit scale
    outcome: np.ndarray  # (cells, ratings) place of the outcome of a cell's rows with a rating
    labels: tuple[str, ...]  # of the thresholds
    fixed: int | None  # place of the intercept that is 0
    remarks: tuple[str, ...]

    def carried(self, place: int) -> np.ndarray:
        """Places of the outcomes in which a term is not 0."""
        return np.flatnonzero(self.likelihood.covariates(slice(None), place))


def _collapse(cells: Cells, terms: Sequence[Term]) -> _Rows:
    if not len(cells.scale) or (cells.scale != cells.scale[0]).any():
        scales = (
            ", ".join(f"{low} to {high}" for low, high in np.unique(cells.scale, axis=0))
            or "no row"
        )
        raise DesignError(
            f"an ordinal fit needs rows of one rating scale, found {scales}: write `slice:"
            " dimension`"
        )
    intercepts = [place for place, term in enumerate(terms) if term.quantity == "intercept"]
    fixed = min(intercepts, key=lambda place: terms[place].term, default=None)
    # A row's regressors are (1, reference) @ layout[group]: groups with the same layout differ only
    # in their references.
    layout = term_layout(list(terms), len(cells.factors["judge"]), 2)
    if fixed is not None:
        layout[:, :, fixed] = 0.0
    kinds, kind = distinct_layouts(layout)
    kind = kind[cells.group]
    order = np.lexsort([cells.reference, kind])
    new = np.append(True, (np.diff(kind[order]) != 0) | (np.diff(cells.reference[order]) != 0))
    counts = np.add.reduceat(cells.counts[order], np.flatnonzero(new), axis=0)
    used = np.flatnonzero(counts.any(axis=0))
    place, rating = np.nonzero(counts[:, used])
    first = order[new][place]
    outcome = np.empty(cells.counts.shape, dtype=np.int64)
    numbers = np.zeros_like(counts)
    numbers[place, used[rating]] = np.arange(len(place))
    outcome[order] = numbers[np.cumsum(new) - 1]
    likelihood = ProportionalOdds.of(
        layout[kinds], kind[first], cells.reference[first], rating, counts[place, used[rating]]
    )
    (low, high), ratings = cells.scale[0], cells.ratings[used]
    labels = tuple(f"{below}|{above}" for below, above in pairwise(ratings))
    unused = np.setdiff1d(cells.ratings[(cells.ratings >= low) & (cells.ratings <= high)], ratings)
    remarks = []
    if len(unused):
        runs = np.split(unused, np.flatnonzero(np.diff(unused) > 1) + 1)
        ranges = ", ".join(
            f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs
        )
        remarks.append(UNUSED.format(ratings=f"rating{'s' if len(unused) > 1 else ''} {ranges}"))
    return _Rows(
        terms,
        likelihood,
        ratings,
        (ratings - low) / (high - low),
        outcome,
        labels,
        fixed,
        tuple(remarks),
    )


def _notes(rows: _Rows, finite: np.ndarray, in_design: np.ndarray) -> list[str]:
    """Say why each parameter has no number; finite, in_design: (parameters,) of bool."""
    names = [f"{term.quantity} of {term.term}" for term in rows.terms] + [
        f"threshold {label}" for label in rows.labels
    ]
    infinite = [names[place] for place in np.flatnonzero(in_design & ~finite)]
    likelihood, notes = rows.likelihood, []
    for place, name in enumerate(names):
        if place == rows.fixed:
            notes.append(because(Reason.REFERENCE_LEVEL))
        elif finite[place]:
            notes.append("")
        elif len(rows.ratings) == 1:
            notes.append(
                because(
                    Reason.ONE_RATING, n=int(likelihood.rows.sum()), rating=int(rows.ratings[0])
                )
            )
        elif not in_design[place]:
            notes.append(because(Reason.COLLINEAR))
        else:
            carried = rows.carried(place) if place < len(rows.terms) else slice(None)
            counts = np.bincount(
                likelihood.rating[carried], likelihood.rows[carried], len(rows.ratings)
            ).astype(int)
            note = because(
                Reason.SEPARATED, others=", ".join(other for other in infinite if other != name)
            )
            for end, at in (("highest", -1), ("lowest", 0)):
                if counts[at] == counts.sum():
                    note = because(
                        Reason.ONE_END, n=int(counts.sum()), rating=int(rows.ratings[at]), end=end
                    )
            notes.append(note)
    return notes


def _effects(
    rows: _Rows, free: np.ndarray, point: np.ndarray, spread: np.ndarray, notes: list[str]
) -> np.ndarray:
    """Average marginal effects and their standard errors, (parameters, 2); adds a note where the
    effect is not finite.
    """
    effects = np.full((len(notes), 2), np.nan)
    free_terms, free_thresholds = np.split(free, [len(rows.terms)])
    for place, term in enumerate(rows.terms):
        if term.quantity in BIASES and notes[place] == "":
            carried = rows.carried(place)
            covariates = rows.likelihood.covariates(carried)
            eta = covariates @ free_terms
            # How far a free direction moves threshold_k - eta, for any threshold k and any of these
            # rows.
            furthest = np.maximum(
                free_thresholds.max(axis=0) - eta.min(axis=0),
                eta.max(axis=0) - free_thresholds.min(axis=0),
            )
            if (furthest < SEPARATION_ROUNDING).all():
                weights = rows.likelihood.rows[carried]
                effects[place] = average_effect(
                    covariates, weights, rows.unit, place=place, point=point, covariance=spread
                )
            else:
                notes[place] = because(Reason.NO_MARGINAL_EFFECT)
    return effects
