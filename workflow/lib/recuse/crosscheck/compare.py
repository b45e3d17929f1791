"""The fast way against statsmodels and pygam on raw rows: the largest difference, fit by fit."""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from recuse.base.errors import DesignError
from recuse.crosscheck.pygam import beside_pygam
from recuse.crosscheck.statsmodels import fits_by_formula, improve
from recuse.data.study import Study
from recuse.model.design import estimable_terms
from recuse.model.estimable import fitted_to, not_estimable, slices_of
from recuse.model.estimates import estimates_of
from recuse.model.fit import fits
from recuse.model.gam import fit_gam
from recuse.model.ordinal import fit_ordinal
from recuse.model.spec import Spec, estimand_of

COMPARED = ("estimate", "std_error", "ci_low", "ci_high")
ESTIMATES, LIKELIHOOD, CURVES = "estimates and intervals", "log-likelihood", "estimates and curves"
# Of CURVES: forty times what rounding in pygam has been seen to do.
TOLERANCES = {ESTIMATES: 1e-9, LIKELIHOOD: 1e-6, CURVES: 1e-7}


def compared(specs: Iterable[Spec], study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield, for each slice of each spec, the largest difference that statsmodels or pygam makes on the raw rows.

    For least squares that is the largest absolute difference of any estimate, standard error or limit; it is infinite where one
    side has a number that the other has not, and DesignError is raised where they differ in their terms. For an ordinal
    fit it is what OrderedModel, started there, changes of the log-likelihood. For a GAM it is the largest absolute difference
    from pygam of any estimate, point of a curve or standard error, or infinite.
    """
    likelihoods = set()  # ordinal fits that differ in nothing but their covariance have one likelihood
    for spec in specs:
        likelihood = repr((spec.selection, spec.model))
        if not_estimable(spec, study) is not None or likelihood in likelihoods:
            continue
        about = {"study": study.name, "spec": spec.name, "estimand": estimand_of(spec)}
        if spec.model.estimator == "least_squares":
            what, rows = ESTIMATES, _beside_ols(spec, study, confidence)
        elif spec.model.estimator == "gam":
            what, rows = CURVES, _beside_pygam(spec, study)
        else:
            likelihoods.add(likelihood)
            what, rows = LIKELIHOOD, _beside_ordered_model(spec, study)
        for label, terms, largest in rows:
            row = {"slice": label, "compared": what, "terms": terms, "largest_difference": largest}
            yield {**about, **row, "tolerance": TOLERANCES[what]}


def _beside_ols(spec: Spec, study: Study, confidence: float) -> Iterator[tuple[str, int, float]]:
    """Yield the label, the number of terms and the largest difference of each slice."""
    spec = fitted_to(spec.changed(bootstrap=None, wild=None), study)
    ours, theirs = (
        {
            (row["slice"], row["quantity"], row["term"]): row
            for fitted in slices
            for row in estimates_of(spec, fitted, confidence=confidence)
        }
        for slices in (fits(spec, study, seed=None), fits_by_formula(spec, study))
    )
    if ours.keys() != theirs.keys():
        raise DesignError(f"spec {spec.name}: one side only has {sorted(ours.keys() ^ theirs.keys())}")
    for label in sorted({key[0] for key in ours}):
        keys = [key for key in ours if key[0] == label]
        yield label, len(keys), max(_difference(ours[key], theirs[key]) for key in keys)


def _beside_ordered_model(spec: Spec, study: Study) -> Iterator[tuple[str, int, float]]:
    for label, cells in slices_of(spec, study):
        if len(cells.n):
            terms = estimable_terms(spec, cells.factors)
            try:
                fit = fit_ordinal(cells, terms)
            except DesignError:  # not estimable, as the study's table says: there is nothing to compare
                continue
            gain, _ = improve(cells, terms, fit)
            yield label, len(terms), abs(gain)


def _beside_pygam(spec: Spec, study: Study) -> Iterator[tuple[str, int, float]]:
    for label, cells in slices_of(spec, study):
        if len(cells.n):
            terms, covariance = estimable_terms(spec, cells.factors), spec.errors.covariance
            fit = fit_gam(cells, terms, covariance=covariance)
            yield label, len(terms), _largest(*beside_pygam(cells, terms, fit, covariance=covariance))


def raise_disagreement(rows: Iterable[dict]) -> None:
    """Raise DesignError naming the first fit of a cross-check's rows that exceeds its tolerance, if one does."""
    for row in rows:
        if not row["largest_difference"] <= row["tolerance"]:
            raise DesignError(
                f"spec {row['spec']}, slice '{row['slice']}': the fit on cells and that on raw rows differ in their "
                f"{row['compared']} by {row['largest_difference']:.3g}, more than {row['tolerance']:g}"
            )


def _difference(one: dict, other: dict) -> float:
    if ("estimate" in one) != ("estimate" in other):
        raise DesignError(f"{one['quantity']} of {one['term']}: one side calls it not estimable, the other does not")
    return _largest(*(np.array([row.get(key, math.nan) for key in COMPARED]) for row in (one, other)))


def _largest(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest absolute difference of numbers in the same order; infinite where only one is NaN, 0 where both are."""
    if (np.isnan(ours) != np.isnan(theirs)).any():
        return math.inf
    return float(np.nanmax(np.abs(ours - theirs), initial=0.0))
