"""The ordinal fit: a proportional-odds logit of the raw rating on the terms of Equation 1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.cells import Cells
from judgebias.design import COLLINEAR, Term, regressors_of
from judgebias.errors import DesignError
from judgebias.marginal_effects import average_effect
from judgebias.proportional_odds import ProportionalOdds, maximise
from judgebias.separation import determined, span

FAR = 30.0  # a move of the linear predictor that leaves exp(-30) = 1e-13 of a probability
EFFECTS = ("self_bias", "family_bias")  # quantities with a marginal effect
REFERENCE = "reference level: 0, as the thresholds are free"
ONE_RATING = "not estimable: all {n} rows of the fit have the rating {rating}"
ALONE = "no finite estimate: all {n} of its rows have the rating {rating}, the {end} in use"
TOGETHER = "no finite estimate: together with {others} it tells some ratings without error"
NO_EFFECT = "no marginal effect: its rows have other terms without finite estimate"
UNUSED = "no row has the rating {rating}: thresholds stand between the ratings in use"
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
    full = ProportionalOdds.from_counts(rows.covariates, rows.counts)
    direction = full.recession()
    likelihood = full.limit(direction)
    basis, free = span(likelihood.informative)
    point, inverse, iterations = maximise(likelihood, rows.start, basis)
    spread = _covariance(likelihood, rows, point, inverse, basis.shape[1], covariance)
    known = determined(np.eye(len(point)), free)
    notes = _notes(rows, known, determined(np.eye(len(point)), span(full.informative)[1]))
    effects = _effects(rows, full, free, point, spread, notes)
    shown, spread = np.where(known, point, np.nan), np.where(np.outer(known, known), spread, np.nan)
    errors, k = np.sqrt(spread.diagonal()), len(terms)
    return OrdinalFit(
        estimate=shown[:k], std_error=errors[:k], identified=known[:k], notes=tuple(notes[:k]),
        effect=effects[:, 0], effect_std_error=effects[:, 1], reference=rows.reference, threshold_labels=rows.labels,
        threshold_estimate=shown[k:], threshold_std_error=errors[k:], threshold_notes=tuple(notes[k:]),
        covariance=spread, point=point + FAR * direction, log_likelihood=likelihood.value(point), n=rows.n,
        rank=basis.shape[1], iterations=iterations, remarks=(*rows.remarks, *([SEPARATED] if direction.any() else [])),
    )  # fmt: skip


@dataclass(frozen=True)
class _Rows:
    """The rows of a slice, collapsed: cells of one judge and score with the same self, family and dimension terms are one."""

    terms: Sequence[Term]
    covariates: np.ndarray  # (cells, terms), 0 for the reference
    counts: np.ndarray  # (cells, ratings in use)
    ratings: np.ndarray  # (ratings in use,)
    scale: np.ndarray  # (2,) lowest and highest
    reference: int | None
    remarks: tuple[str, ...]

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def unit(self) -> np.ndarray:
        """The ratings in use on the unit scale."""
        low, high = self.scale
        return (self.ratings - low) / (high - low)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{low}|{high}" for low, high in zip(self.ratings[:-1], self.ratings[1:], strict=True))

    @property
    def start(self) -> np.ndarray:
        """Parameters without effects: the thresholds are the cumulative log odds."""
        below = self.counts.sum(axis=0).cumsum()[:-1] / self.n
        return np.concatenate([np.zeros(len(self.terms)), np.log(below / (1 - below))])


def _collapse(cells: Cells, terms: Sequence[Term]) -> _Rows:
    scales = np.unique(cells.scale, axis=0)
    if len(scales) != 1:
        found = ", ".join(f"{low} to {high}" for low, high in scales) or "no row"
        raise DesignError(f"an ordinal fit needs rows of one rating scale, found {found}: write `slice: dimension`")
    # A row's regressors are (1, reference) @ layout[group]: groups with the same layout differ in their references alone.
    layout = regressors_of(list(terms), len(cells.factors["judge"]), 2).reshape(-1, 2 * len(terms))
    layouts, kind = np.unique(layout, axis=0, return_inverse=True)
    references, level = np.unique(cells.reference, return_inverse=True)
    keys, place = np.unique(kind[cells.group] * len(references) + level, return_inverse=True)
    counts = np.zeros((len(keys), len(cells.ratings)), dtype=np.int64)
    np.add.at(counts, place, cells.counts)
    constant, slope = layouts.reshape(-1, 2, len(terms))[keys // len(references)].swapaxes(0, 1)
    covariates = constant + slope * references[keys % len(references)][:, None]
    intercepts = [p for p, term in enumerate(terms) if term.quantity == "intercept"]
    reference = min(intercepts, key=lambda p: terms[p].term, default=None)
    if reference is not None:
        covariates[:, reference] = 0.0
    used, (low, high) = counts.any(axis=0), scales[0]
    unused = cells.ratings[~used & (cells.ratings >= low) & (cells.ratings <= high)]
    remarks = tuple(UNUSED.format(rating=rating) for rating in unused)
    return _Rows(terms, covariates, counts[:, used], cells.ratings[used], scales[0], reference, remarks)


def _covariance(
    likelihood: ProportionalOdds, rows: _Rows, point: np.ndarray, inverse: np.ndarray, rank: int, covariance: str
) -> np.ndarray:
    if covariance == "classical":
        return inverse
    spread = inverse @ likelihood.score_squares(point, rows.counts) @ inverse
    if covariance == "HC1":
        spread = spread * (rows.n / (rows.n - rank) if rows.n > rank else np.nan)
    return spread


def _notes(rows: _Rows, known: np.ndarray, in_design: np.ndarray) -> list[str]:
    """Say of each parameter why it has no number: `known` and `in_design` are (parameters,) of bool."""
    names = [f"{term.quantity} of {term.term}" for term in rows.terms] + [f"threshold {label}" for label in rows.labels]
    infinite = [name for name, finite, kept in zip(names, known, in_design, strict=True) if kept and not finite]
    notes = []
    for place, name in enumerate(names):
        others = ", ".join(other for other in infinite if other != name)
        if place == rows.reference:
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
    given = rows.counts[rows.covariates[:, place] != 0].sum(axis=0)
    for end, at in (("lowest", 0), ("highest", -1)):
        if given[at] == given.sum():
            return ALONE.format(n=given.sum(), rating=rows.ratings[at], end=end)
    return ""


def _effects(
    rows: _Rows, full: ProportionalOdds, free: np.ndarray, point: np.ndarray, spread: np.ndarray, notes: list[str]
) -> np.ndarray:
    """Average marginal effects and their standard errors, (terms, 2); a term whose effect is not finite gets a note."""
    effects = np.full((len(rows.terms), 2), np.nan)
    contrasts = full.contrasts.reshape(len(rows.counts), len(rows.labels), len(point))
    for place, term in enumerate(rows.terms):
        if term.quantity in EFFECTS and notes[place] == "":
            carried = rows.covariates[:, place] != 0
            if determined(contrasts[carried].reshape(-1, len(point)), free).all():
                weights = rows.counts[carried].sum(axis=1)
                effects[place] = average_effect(
                    contrasts[carried], weights, rows.unit, place=place, point=point, covariance=spread
                )
            else:
                notes[place] = NO_EFFECT
    return effects
