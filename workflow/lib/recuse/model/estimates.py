"""Specs applied to a study: the tidy table of estimates, and the list of what could not be estimated."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recuse.data.study import Study
from recuse.model.estimable import LEFT_OUT, fitted_to, missing, not_estimable
from recuse.model.fit import Coefficient, Fitted, fits
from recuse.model.least_squares import NEGLIGIBLE, quantile, wald_columns
from recuse.model.multiplicity import adjusted
from recuse.model.spec import Spec, estimand_of

NO_ERROR = (
    "no standard error: its rows leave no residual, or there are no more rows than terms, or (by prompt) there is one prompt, "
    "or (HC2, HC3, CR3) one row or prompt alone determines it, or (two_way) see the remarks"
)


class Estimated(NamedTuple):
    """The rows that a spec adds to five tables."""

    estimates: list[dict]
    not_estimable: list[dict]
    remarks: list[dict]
    smooths: list[dict]
    multiplicity: list[dict]


def estimate(spec: Spec, study: Study, *, confidence: float, seed: int = 0) -> Estimated:
    """Estimate a spec on a study.

    An interval is estimate -+ z * std_error, z the quantile of (1 + confidence) / 2 of the normal distribution or, of errors by
    prompt, of t with `df` degrees of freedom; the p-value is that of the two-sided test of 0; all three are missing where
    the standard error is 0 or unknown. A term that no row carries has no row among the estimates; one that the design or the
    data do not determine has a row without numbers. Both are not estimable, with the reason, and so is a slice or a spec
    without rows.

    Of a bootstrap, drawn with `seed`, the columns are boot_std_error, the standard deviation (n - 1) of the replicates, and
    boot_ci_low and boot_ci_high, their (1 -+ confidence) / 2 quantiles, over the replicates that determine the coefficient;
    empty where fewer than two do, where there are fewer than two prompts, and the interval where the replicates are all one.
    Of a wild bootstrap, drawn with it too, they are wild_p_value and the interval from wild_ci_low to wild_ci_high; empty where
    there is no error CR1. The tests of a spec with a bootstrap of either kind are adjusted for their number, see `adjusted`.
    """
    about = {"study": study.name, "spec": spec.name}
    tables = Estimated([], [], [], [], [])
    reason = not_estimable(spec, study)
    if reason is not None:
        tables.not_estimable.append({**about, "slice": "", "quantity": "", "term": "", "reason": reason})
        return tables
    remarks = [missing(key, values) for key, values in spec.selection.absent_from(study.cells().factors).items()]
    asked, spec = spec, fitted_to(spec, study)
    remarks += [LEFT_OUT] if spec != asked else []
    tables.remarks.extend({**about, "slice": "", "remark": remark} for remark in remarks)
    slices = list(fits(spec, study, seed=seed))
    if spec.errors.bootstrap is not None or spec.errors.wild is not None:
        tables.multiplicity.extend({**about, **row} for row in adjusted(spec, slices, confidence=confidence))
    for fitted in slices:
        where = {**about, "slice": fitted.slice}
        tables.estimates.extend({**about, **row} for row in estimates_of(spec, fitted, confidence=confidence))
        for quantity, term, reason in fitted.not_estimable:
            tables.not_estimable.append({**where, "quantity": quantity, "term": term, "reason": reason})
        tables.remarks.extend({**where, "remark": remark} for remark in fitted.remarks)
        tables.smooths.extend({**where, **point} for point in _smooths(fitted, quantile(confidence)))
    return tables


def estimates_of(spec: Spec, fitted: Fitted, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the table of estimates of one slice, without study and spec."""
    where = {"slice": fitted.slice, "estimand": estimand_of(spec), "n": fitted.n}
    for coefficient in fitted.coefficients:
        yield where | _row(coefficient, confidence) | _bootstrap(coefficient, confidence) | _wild(coefficient, confidence)


def _row(coefficient: Coefficient, confidence: float) -> dict:
    value, error = coefficient.estimate, coefficient.std_error
    row = {"quantity": coefficient.quantity, "term": coefficient.term, "n_term": coefficient.n_term, "note": coefficient.note}
    if math.isnan(value):
        return row
    row |= wald_columns(value, error, df=coefficient.df, confidence=confidence)
    if not error > 0:
        row["note"] = NO_ERROR
    if not math.isnan(coefficient.effect):
        effect, effect_error, z = coefficient.effect, coefficient.effect_std_error, quantile(confidence, coefficient.df)
        row |= {"effect": effect, "effect_std_error": effect_error, **_interval("effect_", effect, effect_error, z)}
    return row


def _bootstrap(coefficient: Coefficient, confidence: float) -> dict:
    """Columns of the bootstrap, where there is one and its replicates say something of the coefficient."""
    if coefficient.replicates is None:
        return {}
    replicates = coefficient.replicates[~np.isnan(coefficient.replicates)]
    if len(replicates) < 2:
        return {}
    error = float(replicates.std(ddof=1))
    if error < NEGLIGIBLE:
        return {"boot_std_error": 0.0}
    low, high = np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2])
    return {"boot_std_error": error, "boot_ci_low": float(low), "boot_ci_high": float(high)}


def _wild(coefficient: Coefficient, confidence: float) -> dict:
    """Columns of the wild bootstrap, where there is one."""
    if coefficient.wild is None:
        return {}
    low, high = coefficient.wild.interval(confidence)
    return {"wild_p_value": coefficient.wild.p_value(), "wild_ci_low": low, "wild_ci_high": high}


def _smooths(fitted: Fitted, z: float) -> Iterator[dict]:
    """Rows of the smooths table: one for each point of each judge's curve."""
    for curve in fitted.curves:
        for reference, value, error in zip(curve.reference, curve.value, curve.std_error, strict=True):
            numbers = {"reference": float(reference), "value": float(value), "std_error": float(error)}
            yield {"judge": curve.judge, **numbers, **_interval("", float(value), float(error), z)}


def _interval(prefix: str, value: float, error: float, z: float) -> dict:
    return {f"{prefix}ci_low": value - z * error, f"{prefix}ci_high": value + z * error}
