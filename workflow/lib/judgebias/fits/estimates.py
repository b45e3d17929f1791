"""Specs applied to a study: the tidy table of estimates, and the list of what could not be estimated."""

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from judgebias.fits.fit import Coefficient, Fitted, fits
from judgebias.fits.formula import fits_by_formula
from judgebias.fits.linear import NEGLIGIBLE
from judgebias.fits.spec import Spec
from judgebias.ratings.study import Study

NO_ERROR = "no standard error: its rows leave no residual, or there are no more rows than terms, or (CR1) there is one prompt"
NO_LENGTHS = "the ratings have no lengths"
ONE_FAMILY = "all judges are of one family: none is left to be judged by its reference"
NO_TASK_TYPES = "the study declares no task types"


class Estimated(NamedTuple):
    """The rows that a spec adds to four tables."""

    estimates: list[dict]
    not_estimable: list[dict]
    remarks: list[dict]
    smooths: list[dict]


def estimate(spec: Spec, study: Study, *, confidence: float, seed: int = 0) -> Estimated:
    """Estimate a spec on a study.

    An interval is estimate -+ z * std_error, z the normal quantile of (1 + confidence) / 2; the p-value is that of the two-
    sided Wald test of 0; all three are missing where the standard error is 0 or unknown. A term that no row carries has no
    row among the estimates; one that the design or the data do not determine has a row without numbers. Both are not
    estimable, with the reason, and so is a slice or a spec without rows.

    Of a bootstrap, drawn with `seed`, the columns are boot_std_error, the standard deviation (n - 1) of the replicates, and
    boot_ci_low and boot_ci_high, their (1 -+ confidence) / 2 quantiles, over the replicates that determine the coefficient;
    empty where fewer than two do, where there are fewer than two prompts, and the interval where the replicates are all one.
    """
    keys = {"study": study.name, "spec": spec.name}
    reason = _inapplicable(spec, study)
    if reason is not None:
        return Estimated([], [_gap({**keys, "slice": ""}, "", "", reason)], [], [])
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    found = Estimated([], [], [{**keys, "remark": remark} for remark in _partly_absent(spec, study)], [])
    for fitted in fits_by_formula(spec, study) if spec.engine == "statsmodels" else fits(spec, study, seed=seed):
        where = {**keys, "slice": fitted.slice}
        found.estimates.extend(
            {**where, **_row(row, z), "n": fitted.n, **_bootstrap(row, confidence)} for row in fitted.coefficients
        )
        found.not_estimable.extend(_gap(where, *gap) for gap in fitted.not_estimable)
        found.remarks.extend({**where, "remark": remark} for remark in fitted.remarks)
        found.smooths.extend({**where, **point} for point in _smooths(fitted, z))
    return found


def _inapplicable(spec: Spec, study: Study) -> str | None:
    """Why a spec cannot be fitted to a study at all, or None."""
    if spec.length is not None and not len(study.moments_for(spec).n):
        return NO_LENGTHS
    factors = study.all_cells().factors
    if spec.reference is not None and len(np.unique(factors["judge_family"])) == 1:
        return ONE_FAMILY
    if spec.slice == "task_type" and not factors["task_type"].astype(bool).any():
        return NO_TASK_TYPES
    absent = spec.absent_from(factors)
    without_any = [key for key, values in absent.items() if len(values) == len(spec.subset[key])]
    return _missing(without_any[0], absent[without_any[0]]) if without_any else None


def _partly_absent(spec: Spec, study: Study) -> Iterator[str]:
    """What the spec's subset names beside what the study holds: a spec is drawn under its name all the same."""
    for key, values in spec.absent_from(study.all_cells().factors).items():
        yield _missing(key, values)


def _missing(key: str, values: list[str]) -> str:
    return f"the study has no {key.replace('models_dropped', 'model')} named {', '.join(values)}"


def _gap(where: dict, quantity: str, term: str, reason: str) -> dict:
    return {**where, "quantity": quantity, "term": term, "reason": reason}


def _row(coefficient: Coefficient, z: float) -> dict:
    value, error = coefficient.estimate, coefficient.std_error
    row = {"quantity": coefficient.quantity, "term": coefficient.term, "n_term": coefficient.n_term, "note": coefficient.note}
    if math.isnan(value):
        return row
    row |= {"estimate": value, "std_error": error}
    if error > 0:
        row |= {**_interval("", value, error, z), "p_value": wald_p_value(value, error)}
    else:
        row["note"] = NO_ERROR
    if not math.isnan(coefficient.effect):
        effect, effect_error = coefficient.effect, coefficient.effect_std_error
        row |= {"effect": effect, "effect_std_error": effect_error, **_interval("effect_", effect, effect_error, z)}
    return row


def _bootstrap(coefficient: Coefficient, confidence: float) -> dict:
    """Columns of the bootstrap, where there is one and its replicates say something of the coefficient."""
    if coefficient.replicates is None or len(known := coefficient.replicates[~np.isnan(coefficient.replicates)]) < 2:
        return {}
    error = float(known.std(ddof=1))
    if error < NEGLIGIBLE:
        return {"boot_std_error": 0.0}
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return {"boot_std_error": error, "boot_ci_low": float(low), "boot_ci_high": float(high)}


def _smooths(fitted: Fitted, z: float) -> Iterator[dict]:
    """Rows of the smooths table: one for each point of each judge's curve."""
    for curve in fitted.curves:
        for reference, value, error in zip(curve.reference, curve.value, curve.std_error, strict=True):
            numbers = {"reference": float(reference), "value": float(value), "std_error": float(error)}
            yield {"judge": curve.judge, **numbers, **_interval("", float(value), float(error), z)}


def _interval(prefix: str, value: float, error: float, z: float) -> dict:
    return {f"{prefix}ci_low": value - z * error, f"{prefix}ci_high": value + z * error}


def wald_p_value(value: float, error: float) -> float:
    """Two-sided Wald p-value of the hypothesis that the estimated quantity is 0: erfc(|value / error| / sqrt 2)."""
    return math.erfc(abs(value / error) / math.sqrt(2))
