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


def check_engines(specs: Iterable[Spec], study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield, for each slice of each spec, the largest difference that statsmodels or pygam makes on the raw rows.

    For least squares that is the largest absolute difference of any estimate, standard error or limit; it is infinite where one
    engine has a number that the other has not, and DesignError is raised where they differ in their terms. For an ordinal
    fit it is what OrderedModel, started there, changes of the log-likelihood. For a GAM it is the largest absolute difference
    from pygam of any estimate, point of a curve or standard error, or infinite.
    """
    ordinal = set()  # fits that differ in nothing but their covariance have one likelihood
    for spec in specs:
        if not_estimable(spec, study) is not None:
            continue
        names = {"study": study.name, "spec": spec.name, "estimand": estimand_of(spec)}
        if spec.model.estimator == "least_squares":
            found = _differences(spec, study, confidence)
        elif spec.model.estimator == "gam":
            found = _beside_pygam(spec, study)
        elif (fit := repr((spec.selection, spec.model))) not in ordinal:
            ordinal.add(fit)
            found = _gains(spec, study)
        else:
            continue
        for row in found:
            yield {**names, **row, "tolerance": TOLERANCES[row["compared"]]}


def _differences(spec: Spec, study: Study, confidence: float) -> Iterator[dict]:
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
        raise DesignError(f"spec {spec.name}: one engine only has {sorted(ours.keys() ^ theirs.keys())}")
    for label in sorted({key[0] for key in ours}):
        keys = [key for key in ours if key[0] == label]
        largest = max(_difference(ours[key], theirs[key]) for key in keys)
        yield {"slice": label, "compared": ESTIMATES, "terms": len(keys), "largest_difference": largest}


def _gains(spec: Spec, study: Study) -> Iterator[dict]:
    for label, cells in slices_of(spec, study):
        terms = estimable_terms(spec, cells.factors)
        try:
            fit = fit_ordinal(cells, terms)
        except DesignError:  # not estimable, as the study's table says: there is nothing to compare
            continue
        gain, _ = improve(cells, terms, fit)
        yield {"slice": label, "compared": LIKELIHOOD, "terms": len(terms), "largest_difference": abs(gain)}


def _beside_pygam(spec: Spec, study: Study) -> Iterator[dict]:
    for label, cells in slices_of(spec, study):
        if len(cells.n):
            terms = estimable_terms(spec, cells.factors)
            fit = fit_gam(cells, terms, covariance=spec.errors.covariance)
            ours, theirs = beside_pygam(cells, terms, fit, covariance=spec.errors.covariance)
            yield {"slice": label, "compared": CURVES, "terms": len(terms), "largest_difference": _largest(ours, theirs)}


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
        raise DesignError(f"{one['quantity']} of {one['term']}: one engine calls it not estimable, the other does not")
    return _largest(*(np.array([row.get(key, math.nan) for key in COMPARED]) for row in (one, other)))


def _largest(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest absolute difference of numbers in the same order; infinite where only one is NaN, 0 where both are."""
    if (np.isnan(ours) != np.isnan(theirs)).any():
        return math.inf
    return float(np.nanmax(np.abs(ours - theirs), initial=0.0))
