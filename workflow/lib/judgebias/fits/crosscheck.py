"""The fast way against statsmodels on raw rows: the largest difference, fit by fit."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from judgebias.errors import DesignError
from judgebias.fits.estimates import estimate
from judgebias.fits.ordinal import fit_ordinal
from judgebias.fits.ordinal_check import improve
from judgebias.fits.spec import Spec
from judgebias.ratings.study import Study

COMPARED = ("estimate", "std_error", "ci_low", "ci_high")
ESTIMATES, LIKELIHOOD = "estimates and intervals", "log-likelihood"
TOLERANCES = {ESTIMATES: 1e-9, LIKELIHOOD: 1e-6}


def check_engines(specs: Iterable[Spec], study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield, for each slice of each spec, the largest difference that statsmodels makes on the raw rows.

    For least squares that is the largest absolute difference of any estimate, standard error or limit; it is infinite where one
    engine has a number that the other has not, and DesignError is raised where they differ in their terms. For an ordinal
    fit it is what OrderedModel, started there, changes of the log-likelihood. Splines have no counterpart there, and no
    row.
    """
    ordinal = set()  # fits that differ in nothing but their covariance have one likelihood
    for spec in specs:
        names = {"study": study.name, "spec": spec.name}
        if spec.estimator == "least_squares":
            found = _differences(spec, study, confidence)
        elif spec.estimator == "ordinal_logit" and (fit := repr(replace(spec, name="", covariance="HC0"))) not in ordinal:
            ordinal.add(fit)
            found = _gains(spec, study)
        else:
            continue
        for row in found:
            yield {**names, **row, "tolerance": TOLERANCES[row["compared"]]}


def _differences(spec: Spec, study: Study, confidence: float) -> Iterator[dict]:
    ours, theirs = (
        {
            (row["slice"], row["quantity"], row["term"]): row
            for row in estimate(replace(spec, engine=engine, bootstrap=None), study, confidence=confidence).estimates
        }
        for engine in ("cells", "statsmodels")
    )
    if ours.keys() != theirs.keys():
        raise DesignError(f"spec {spec.name}: one engine only has {sorted(ours.keys() ^ theirs.keys())}")
    for label in sorted({key[0] for key in ours}):
        keys = [key for key in ours if key[0] == label]
        largest = max(_difference(ours[key], theirs[key]) for key in keys)
        yield {"slice": label, "compared": ESTIMATES, "terms": len(keys), "largest_difference": largest}


def _gains(spec: Spec, study: Study) -> Iterator[dict]:
    for label, cells in study.slices(spec):
        terms = [term for term in spec.terms_of(cells.factors) if term.carried.any()]
        try:
            fit = fit_ordinal(cells, terms)
        except DesignError:  # not estimable, as the study's table says: there is nothing to compare
            continue
        gain, _ = improve(cells, terms, fit)
        yield {"slice": label, "compared": LIKELIHOOD, "terms": len(terms), "largest_difference": abs(gain)}


def raise_disagreement(rows: Iterable[dict]) -> None:
    """Raise DesignError naming the first fit of a cross-check's rows that exceeds its tolerance, if one does."""
    for row in rows:
        if not row["largest_difference"] <= row["tolerance"]:
            raise DesignError(
                f"spec {row['spec']}, slice '{row['slice']}': the fit on cells and statsmodels differ in their "
                f"{row['compared']} by {row['largest_difference']:.3g}, more than {row['tolerance']:g}"
            )


def _difference(one: dict, other: dict) -> float:
    if ("estimate" in one) != ("estimate" in other):
        raise DesignError(f"{one['quantity']} of {one['term']}: one engine calls it not estimable, the other does not")
    pairs = [(one.get(key, math.nan), other.get(key, math.nan)) for key in COMPARED]
    # A number that one engine has and the other has not is no rounding; one that neither has is agreed on.
    apart = [
        math.inf if math.isnan(a) != math.isnan(b) else abs(a - b) for a, b in pairs if not (math.isnan(a) and math.isnan(b))
    ]
    return max(apart, default=0.0)
