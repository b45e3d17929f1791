"""Specs applied to a study: the tidy table of estimates, and the list of what could not be estimated."""

import math
from collections.abc import Iterator
from statistics import NormalDist

from judgebias.fits import Fitted, fits
from judgebias.formula import fits_by_formula
from judgebias.moments import Moments
from judgebias.spec import Spec
from judgebias.study import Study

NO_ROWS = {
    "self_bias": "no row of this judge rates itself",
    "family_bias": "no row of this family's judges rates another model of the family",
}
COLLINEAR = "not estimable: other terms of the design account for it in every row"
NO_ERROR = "no standard error: its rows leave no residual, or there are no more rows than terms"
NO_LENGTHS = "the ratings have no lengths"
NO_TASK_TYPES = "the study declares no task types"
NO_SLICE = "no row is left"


def estimate(spec: Spec, study: Study, *, confidence: float) -> tuple[list[dict], list[dict]]:
    """Estimate a spec on a study: rows of the estimates table, and rows of the table of what is not estimable.

    The interval is estimate -+ z * std_error, z the normal quantile of (1 + confidence) / 2; the p-value is that of the
    two-sided Wald test of 0; all three are missing where the standard error is 0 or unknown. A term that no row carries has no
    row in the first table; one that the design does not determine has a row without numbers. Both stand in the second table,
    with the reason, and so does a slice or a spec without rows.
    """
    moments = study.moments_for(spec)
    keys = {"study": study.name, "spec": spec.name}
    reason = _inapplicable(spec, moments)
    if reason is not None:
        return [], [{**keys, "slice": "", "quantity": "", "term": "", "reason": reason}]
    empty = [label for label, mask in spec.slices(moments.factors) if not mask.any()]
    rows, left_out = [], [{**keys, "slice": label, "quantity": "", "term": "", "reason": NO_SLICE} for label in empty]
    for fitted in fits_by_formula(spec, study) if spec.engine == "statsmodels" else fits(spec, moments):
        where = {**keys, "slice": fitted.slice}
        rows += _rows(where, fitted, confidence)
        unidentified = [t for t, known in zip(fitted.terms, fitted.result.identified, strict=True) if not known]
        left_out += [
            {**where, "quantity": t.quantity, "term": t.term, "reason": NO_ROWS[t.quantity]} for t in fitted.absent
        ] + [{**where, "quantity": t.quantity, "term": t.term, "reason": COLLINEAR} for t in unidentified]
    return rows, left_out


def _inapplicable(spec: Spec, moments: Moments) -> str | None:
    """Why a spec cannot be fitted to a study at all, or None."""
    if len(moments.n) == 0:
        return NO_LENGTHS
    if spec.slice == "task_type" and not moments.factors["task_type"].astype(bool).any():
        return NO_TASK_TYPES
    return spec.without_effect(moments.factors)


def _rows(where: dict, fitted: Fitted, confidence: float) -> Iterator[dict]:
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    errors = fitted.result.std_error
    for place, term in enumerate(fitted.terms):
        row = {**where, "quantity": term.quantity, "term": term.term, "n": fitted.result.n}
        row["n_term"] = round(float(fitted.rows_with_term[place]))
        if fitted.result.identified[place]:
            value, error = float(fitted.result.estimate[place]), float(errors[place])
            row |= {"estimate": value, "std_error": error, "note": "" if error > 0 else NO_ERROR}
            if error > 0:
                row |= {"ci_low": value - z * error, "ci_high": value + z * error, "p_value": wald_p_value(value, error)}
        else:
            row["note"] = COLLINEAR
        yield row


def wald_p_value(value: float, error: float) -> float:
    """Two-sided Wald p-value of the hypothesis that the estimated quantity is 0: erfc(|value / error| / sqrt 2)."""
    return math.erfc(abs(value / error) / math.sqrt(2))
