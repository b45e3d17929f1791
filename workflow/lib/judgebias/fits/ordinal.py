"""The ordinal fit: a proportional-odds logit of the raw rating on the terms of Equation 1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.errors import DesignError
from judgebias.fits.design import COLLINEAR, Term, distinct_layouts, regressors_of
from judgebias.fits.marginal_effects import average_effect
from judgebias.fits.proportional_odds import ProportionalOdds, maximise
from judgebias.fits.separation import ROUNDING, determined, span
from judgebias.ratings.cells import Cells

FAR = 30.0  # a move of the linear predictor that leaves exp(-30) = 1e-13 of a probability
EFFECTS = ("self_bias", "family_bias")  # quantities with a marginal effect
REFERENCE = "reference level: 0, as the thresholds are free"
ONE_RATING = "not estimable: all {n} rows of the fit have the rating {rating}"
ALONE = "no finite estimate: all {n} of its rows have the rating {rating}, the {end} in use"
TOGETHER = "no finite estimate: together with {others} it tells some ratings without error"
NO_EFFECT = "no marginal effect: its rows have other terms without finite estimate"
UNUSED = "no row has the {ratings}: thresholds stand between the ratings in use"
SEPARATED = "fitted in the limit of the terms without finite estimate, where the ratings that they tell have probability 1"


@dataclass(frozen=True)
class OrdinalFit:
    """Coefficients (log odds) and thresholds, in this order `parameters`; NaN, with a note, where there is no number."""

    estimate: np.ndarray  # (terms,)
    std_error: np.ndarray  # (terms,)
    identified: np.ndarray  # (terms,) of bool: has a finite estimate
    notes: tuple[str, ...]  # (terms,) what has no number, and why; "" normally
    effect: np.ndarray  # (terms,) average marginal effect on the unit scale, of self_bias and family_bias; else NaN
    effect_std_error: np.ndarray  # (terms,)
    reference: int | None  # place of the term that is no parameter, the first judge's intercept
    threshold_labels: tuple[str, ...]  # (thresholds,) "0|1" between the ratings 0 and 1
    threshold_estimate: np.ndarray  # (thresholds,)
    threshold_std_error: np.ndarray  # (thresholds,)
    threshold_notes: tuple[str, ...]  # (thresholds,)
    covariance: np.ndarray  # (parameters, parameters)
    point: np.ndarray  # (parameters,) finite values whose log-likelihood is `log_likelihood`, to 1e-12 a row
    log_likelihood: float  # the maximum; the supremum where a term has no finite estimate
    n: int  # rows
    rank: int  # parameters that the likelihood determines, thresholds included
    iterations: int
    remarks: tuple[str, ...]  # on the fit as a whole


def fit_ordinal(cells: Cells, terms: Sequence[Term], *, covariance: str = "HC0") -> OrdinalFit:
    """Fit P(rating <= k) = F(threshold_k - eta), F logistic and eta the sum of the terms, by maximum likelihood.

    cells: the rows of one slice, on one scale (else DesignError); terms: those that some group carries, of (1, reference). The
    first judge's intercept is 0, because the thresholds are free. Ratings that no row has are left out, with their thresholds.
    covariance: with I the observed information and s the score of each of n rows, k the number of parameters determined,
      classical  I^-1                    (Hessian errors; what Play Favorites reports)
      HC0        I^-1 (sum s s') I^-1    (White 1982)
      HC1        HC0 * n / (n - k), NaN when n <= k
    Where terms separate the ratings, the likelihood has no maximum: it rises for ever in some directions. What stays the same
    along all of these is fitted in the limit, where ratings told without error have probability 1 and leave the likelihood;
    what does not has no numbers. So it is with terms that the design does not determine, and with all, where all rows have
    one rating. Source: Play Favorites (arXiv 2508.06709), ordinal ablation; McCullagh (1980); separation.recession.
    """
    rows = _collapse(cells, terms)
    basis, free = span(rows.likelihood.design())
    in_design = determined(np.eye(len(basis)), free)
    direction = rows.likelihood.recession(basis)
    likelihood = rows.likelihood.limit(direction)
    if direction.any():
        basis, free = span(likelihood.design())
    point, inverse, iterations = maximise(likelihood, basis)
    spread = _covariance(likelihood, point, inverse, basis.shape[1], covariance)
    known = determined(np.eye(len(point)), free)
    notes = _notes(rows, known, in_design)
    effects = _effects(rows, free, point, spread, notes)
    shown, spread = np.where(known, point, np.nan), np.where(np.outer(known, known), spread, np.nan)
    errors, k = np.sqrt(spread.diagonal()), len(terms)
    return OrdinalFit(
        estimate=shown[:k], std_error=errors[:k], identified=known[:k], notes=tuple(notes[:k]),
        effect=effects[:, 0], effect_std_error=effects[:, 1], reference=rows.fixed, threshold_labels=rows.labels,
        threshold_estimate=shown[k:], threshold_std_error=errors[k:], threshold_notes=tuple(notes[k:]),
        covariance=spread, point=point + FAR * direction, log_likelihood=likelihood.value(point), n=rows.n,
        rank=basis.shape[1], iterations=iterations,
        remarks=(*rows.remarks, *([SEPARATED] if direction.any() else [])),
    )  # fmt: skip


@dataclass(frozen=True)
class _Rows:
    """The rows of a slice, collapsed: those with the same terms, human score and rating are one outcome."""

    terms: Sequence[Term]
    likelihood: ProportionalOdds
    ratings: np.ndarray  # (ratings in use,)
    scale: np.ndarray  # (2,) lowest and highest
    fixed: int | None  # place of the intercept that is 0
    remarks: tuple[str, ...]

    @property
    def n(self) -> int:
        return int(self.likelihood.rows.sum())

    @property
    def unit(self) -> np.ndarray:
        """The ratings in use on the unit scale."""
        low, high = self.scale
        return (self.ratings - low) / (high - low)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{low}|{high}" for low, high in zip(self.ratings[:-1], self.ratings[1:], strict=True))

    def carried(self, place: int) -> np.ndarray:
        """Places of the outcomes in which a term is not 0."""
        return np.flatnonzero(self.likelihood.covariates(slice(None), place))


def _collapse(cells: Cells, terms: Sequence[Term]) -> _Rows:
    if not len(cells.scale) or (cells.scale != cells.scale[0]).any():
        found = ", ".join(f"{low} to {high}" for low, high in np.unique(cells.scale, axis=0)) or "no row"
        raise DesignError(f"an ordinal fit needs rows of one rating scale, found {found}: write `slice: dimension`")
    intercepts = [p for p, term in enumerate(terms) if term.quantity == "intercept"]
    fixed = min(intercepts, key=lambda p: terms[p].term, default=None)
    # A row's regressors are (1, reference) @ layout[group]: groups with the same layout differ in their references alone.
    layout = regressors_of(list(terms), len(cells.factors["judge"]), 2)
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
    likelihood = ProportionalOdds.of(layout[kinds], kind[first], cells.reference[first], rating, counts[place, used[rating]])
    return _Rows(terms, likelihood, cells.ratings[used], cells.scale[0], fixed, _unused(cells.ratings, used, cells.scale[0]))


def _unused(ratings: np.ndarray, used: np.ndarray, scale: np.ndarray) -> tuple[str, ...]:
    """Name the ratings of the scale that no row has, neighbours as a range: one remark, or none."""
    unused = np.setdiff1d(ratings[(ratings >= scale[0]) & (ratings <= scale[1])], ratings[used])
    if not len(unused):
        return ()
    runs = np.split(unused, np.flatnonzero(np.diff(unused) > 1) + 1)
    named = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
    return (UNUSED.format(ratings=f"rating{'s' if len(unused) > 1 else ''} {named}"),)


def _covariance(likelihood: ProportionalOdds, point: np.ndarray, inverse: np.ndarray, rank: int, covariance: str) -> np.ndarray:
    if covariance == "classical":
        return inverse
    spread = inverse @ likelihood.score_squares(point) @ inverse
    if covariance == "HC1":
        n = likelihood.rows.sum()
        spread = spread * (n / (n - rank) if n > rank else np.nan)
    return spread


def _notes(rows: _Rows, known: np.ndarray, in_design: np.ndarray) -> list[str]:
    """Say of each parameter why it has no number: `known` and `in_design` are (parameters,) of bool."""
    names = [f"{term.quantity} of {term.term}" for term in rows.terms] + [f"threshold {label}" for label in rows.labels]
    infinite = [name for name, finite, kept in zip(names, known, in_design, strict=True) if kept and not finite]
    notes = []
    for place, name in enumerate(names):
        others = ", ".join(other for other in infinite if other != name)
        if place == rows.fixed:
            notes.append(REFERENCE)
        elif known[place]:
            notes.append("")
        elif len(rows.ratings) == 1:
            notes.append(ONE_RATING.format(n=rows.n, rating=rows.ratings[0]))
        elif not in_design[place]:
            notes.append(COLLINEAR)
        else:
            notes.append(_alone(rows, place) or TOGETHER.format(others=others))
    return notes


def _alone(rows: _Rows, place: int) -> str:
    """Why a parameter is infinite by itself: all rows of the term are at one end. Else ""."""
    if place >= len(rows.terms):
        return ""
    carried, likelihood = rows.carried(place), rows.likelihood
    given = np.bincount(likelihood.rating[carried], likelihood.rows[carried], len(rows.ratings)).astype(int)
    for end, at in (("lowest", 0), ("highest", -1)):
        if given[at] == given.sum():
            return ALONE.format(n=given.sum(), rating=rows.ratings[at], end=end)
    return ""


def _effects(rows: _Rows, free: np.ndarray, point: np.ndarray, spread: np.ndarray, notes: list[str]) -> np.ndarray:
    """Average marginal effects and their standard errors, (terms, 2); a term whose effect is not finite gets a note."""
    effects = np.full((len(rows.terms), 2), np.nan)
    for place, term in enumerate(rows.terms):
        if term.quantity in EFFECTS and notes[place] == "":
            carried = rows.carried(place)
            covariates = rows.likelihood.covariates(carried)
            if _finite(covariates, free):
                weights = rows.likelihood.rows[carried]
                effects[place] = average_effect(covariates, weights, rows.unit, place=place, point=point, covariance=spread)
            else:
                notes[place] = NO_EFFECT
    return effects


def _finite(covariates: np.ndarray, free: np.ndarray) -> bool:
    """Whether threshold_k - x coefficients is determined for every threshold k and row x of `covariates`, (rows, terms)."""
    eta, thresholds = covariates @ free[: covariates.shape[1]], free[covariates.shape[1] :]
    furthest = np.maximum(thresholds.max(axis=0) - eta.min(axis=0), eta.max(axis=0) - thresholds.min(axis=0))
    return bool((furthest < ROUNDING).all())
