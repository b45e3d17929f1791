"""Specs applied to a study: the tables of estimates, of what is not estimable, and of multiple
tests.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from recuse.base.reasons import Reason, because, in_words
from recuse.base.tables import column_names
from recuse.data.study import StudyTables
from recuse.model.design import NotEstimable
from recuse.model.estimable import (
    LEFT_OUT,
    biases_without_judges,
    fitted_to,
    missing,
    not_estimable,
    study_for,
)
from recuse.model.fit import Coefficient, Fitted, fitted_slices
from recuse.model.least_squares import (
    NEGLIGIBLE,
    benjamini_hochberg,
    holm,
    quantile,
    wald_columns,
    wald_p_value,
)
from recuse.model.resampling import SAME, WildTest
from recuse.model.spec import Spec, bias_quantities, estimand_name

ESTIMATES = column_names(
    "study spec slice quantity term",
    "estimate std_error ci_low ci_high p_value n n_term note",
    "effect effect_std_error effect_ci_low effect_ci_high",
    "boot_std_error boot_ci_low boot_ci_high estimand",
    "df wild_p_value wild_ci_low wild_ci_high",
)
SMOOTHS = column_names("study spec slice judge reference value std_error ci_low ci_high")
NOT_ESTIMABLE = column_names("study spec slice quantity term reason")
REMARKS = column_names("study spec slice remark")
MULTIPLICITY = column_names(
    "study spec slice estimand quantity term tests estimate std_error p_value",
    "holm_p_value bh_p_value max_t_p_value simultaneous_ci_low simultaneous_ci_high replicates",
)
# Tables of all specs together, by their names.
OF_SPECS = {
    "not_estimable": NOT_ESTIMABLE,
    "remarks": REMARKS,
    "smooths": SMOOTHS,
    "multiplicity": MULTIPLICITY,
}


class Estimated(NamedTuple):
    """Rows of a spec in five tables."""

    estimates: list[dict]
    not_estimable: list[dict]
    remarks: list[dict]
    smooths: list[dict]
    multiplicity: list[dict]


def estimate(spec: Spec, study: StudyTables, *, confidence: float, seed: int = 0) -> Estimated:
    """Estimate a spec on a study.

    An interval is estimate -+ z * std_error, z the (1 + confidence) / 2 quantile of the normal
    distribution or, for errors by prompt, of t with `df` degrees of freedom. The p-value is that of
    the two-sided test of 0. Both are missing where the standard error is 0 or unknown. A term that
    no row carries has no row among the estimates; one that is not determined has a row without
    numbers. Both are listed as not estimable, with the reason, as are slices and specs without
    rows.

    A bootstrap, drawn with `seed`, adds boot_std_error, the standard deviation (n - 1) of the
    replicates that determine the coefficient, and boot_ci_low and boot_ci_high, their (1 -+
    confidence) / 2 quantiles; all are empty with fewer than two prompts or such replicates, the
    interval also if all replicates are equal. A wild bootstrap adds wild_p_value, wild_ci_low and
    wild_ci_high, empty without an error CR1. Either one also adds the tests in `adjusted`.
    """
    about = {"study": study.name, "spec": spec.name}
    tables = Estimated([], [], [], [], [])
    if (reason := not_estimable(spec, study)) is not None:
        tables.not_estimable.append(
            {**about, "slice": "", "quantity": "", "term": "", "reason": reason}
        )
        return tables
    study = study_for(spec, study)
    remarks = [
        in_words(missing(key, values))
        for key, values in spec.selection.absent_from(study.cells().factors).items()
    ]
    if (reduced := fitted_to(spec, study)) != spec:
        having = "not every row" if study.is_partly_scored else "no row"
        spec = reduced
        remarks.append(LEFT_OUT.format(having))
    tables.remarks.extend({**about, "slice": "", "remark": remark} for remark in remarks)
    slices = list(fitted_slices(spec, study, seed=seed))
    if spec.errors.bootstrap is not None or spec.errors.wild is not None:
        tables.multiplicity.extend(
            {**about, **row} for row in adjusted(spec, slices, confidence=confidence)
        )
    left_out = []
    if study.view.without:
        absent = biases_without_judges(study.doubts, study.cells().factors)
        left_out = [
            NotEstimable(*bias, why)
            for bias, why in absent.items()
            if bias[0] in bias_quantities(spec)
        ]
    for fitted in slices:
        where = {**about, "slice": fitted.slice}
        tables.estimates.extend(
            {**about, **row} for row in estimate_rows(spec, fitted, confidence=confidence)
        )
        for missing_term in (*fitted.not_estimable, *left_out):
            tables.not_estimable.append(where | missing_term._asdict())
        tables.remarks.extend({**where, "remark": remark} for remark in fitted.remarks)
        for curve in fitted.curves:
            half = quantile(confidence, curve.df)  # in standard errors
            for reference, value, error in np.column_stack(
                [curve.reference, curve.value, curve.std_error]
            ).tolist():
                tables.smooths.append(
                    {
                        **where,
                        "judge": curve.judge,
                        "reference": reference,
                        "value": value,
                        "std_error": error,
                        "ci_low": value - half * error,
                        "ci_high": value + half * error,
                    }
                )
    return tables


def estimate_rows(spec: Spec, fitted: Fitted, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the table of estimates of one slice, without study and spec."""
    where = {"slice": fitted.slice, "estimand": estimand_name(spec), "n": fitted.n}
    for coefficient in fitted.coefficients:
        row = {name: getattr(coefficient, name) for name in ("quantity", "term", "n_term", "note")}
        if not math.isnan(coefficient.estimate):
            row |= _numbers(coefficient, confidence)
        if coefficient.wild is not None:
            low, high = coefficient.wild.interval(confidence)
            row |= {
                "wild_p_value": coefficient.wild.p_value(),
                "wild_ci_low": low,
                "wild_ci_high": high,
            }
        yield where | row | _bootstrap(coefficient.replicates, confidence)


def _numbers(coefficient: Coefficient, confidence: float) -> dict:
    columns = wald_columns(
        coefficient.estimate, coefficient.std_error, df=coefficient.df, confidence=confidence
    )
    if not coefficient.std_error > 0:
        columns["note"] = because(Reason.NO_STANDARD_ERROR)
    if not math.isnan(effect := coefficient.effect):
        half = quantile(confidence, coefficient.df) * coefficient.effect_std_error
        columns |= {
            "effect": effect,
            "effect_std_error": coefficient.effect_std_error,
            "effect_ci_low": effect - half,
            "effect_ci_high": effect + half,
        }
    return columns


def _bootstrap(replicates: np.ndarray | None, confidence: float) -> dict:
    """Columns of the bootstrap, if enough replicates determine the coefficient."""
    if replicates is None or len(replicates := replicates[~np.isnan(replicates)]) < 2:
        return {}
    error = float(replicates.std(ddof=1))
    if error < NEGLIGIBLE:
        return {"boot_std_error": 0.0}
    low, high = np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2])
    return {"boot_std_error": error, "boot_ci_low": float(low), "boot_ci_high": float(high)}


def adjusted(spec: Spec, slices: Sequence[Fitted], *, confidence: float) -> list[dict]:
    """List the rows of the multiplicity table: the tested coefficients of a spec in all slices, as
    one family.

    A coefficient without a standard error has no row. p_value is that of the estimates.
    holm_p_value bounds the probability of any false rejection, whatever the dependence (Holm 1979);
    bh_p_value the expected share of false rejections (Benjamini and Hochberg 1995). With a wild
    bootstrap, max_t_p_value bounds the same as Holm's but learns the dependence from the draws, and
    the simultaneous intervals contain all coefficients at once with probability `confidence`: see
    `max_t`. The p-value is at least p_value, and the interval at least as wide as that by t or the
    normal distribution.
    slices: of the spec, by recuse.model.fit.fitted_slices, where a draw gives a prompt one weight
    in all slices.
    """
    tested = [
        (fitted.slice, row)
        for fitted in slices
        for row in fitted.coefficients
        if row.quantity in spec.errors.tests and math.isfinite(row.estimate) and row.std_error > 0
    ]
    if not tested:
        return []
    p_values = [wald_p_value(row.estimate, row.std_error, row.df) for _, row in tested]
    bh = benjamini_hochberg(p_values)
    columns = {
        "p_value": p_values,
        "holm_p_value": np.maximum(holm(p_values), bh).tolist(),  # smaller by rounding alone
        "bh_p_value": bh.tolist(),
        **simultaneous([row for _, row in tested], p_values, confidence=confidence),
    }
    rows = []
    for (label, row), *numbers in zip(tested, *columns.values(), strict=True):
        about = {
            "slice": label,
            "estimand": estimand_name(spec),
            "tests": len(tested),
            "quantity": row.quantity,
            "term": row.term,
            "estimate": row.estimate,
            "std_error": row.std_error,
        }
        rows.append(about | dict(zip(columns, numbers, strict=True)))
    return rows


def simultaneous(
    coefficients: Sequence[Coefficient], p_values: Sequence[float], *, confidence: float
) -> dict[str, list]:
    """Columns of `max_t` of coefficients that have errors; none unless each has a wild bootstrap.

    p_values: of the coefficients.
    """
    tests = [row.wild for row in coefficients]
    if None in tests:
        return {}
    adjusted_p_values, critical = max_t(tests, confidence=confidence)
    estimate, error = (
        np.array([getattr(row, name) for row in coefficients]) for name in ("estimate", "std_error")
    )
    single = [quantile(confidence, row.df) for row in coefficients]
    reach = np.maximum(critical * np.array([test.std_error for test in tests]), single * error)
    return {
        "max_t_p_value": np.maximum(adjusted_p_values, p_values).tolist(),
        "simultaneous_ci_low": (estimate - reach).tolist(),
        "simultaneous_ci_high": (estimate + reach).tolist(),
        "replicates": [len(tests[0].squares)] * len(tests),
    }


def max_t(tests: Sequence[WildTest], *, confidence: float) -> tuple[np.ndarray, float]:
    """Adjusted p-values, (tests,), and half the width of the simultaneous intervals in errors CR1.

    With t = b / error CR1, and T* the largest |t*| in a draw of this test and all with a smaller
    |t|, each t* under the hypothesis that its coefficient is 0,

      p = (1 + number of T* >= |t|) / (1 + draws)

    or the p of a larger |t| if that is more (step-down). The interval is b -+ T errors, T
    the smallest T* of all tests that all but (1 - confidence) (1 + draws) - 1 do not exceed
    (single-step): where it excludes 0, p <= 1 - confidence. T is NaN with too few draws.
    Source: Westfall and Young (1993), max-T; Romano and Wolf (2005), with the draws of
    `WildBootstrap`.
    """
    statistics = np.array([abs(test.estimate / test.std_error) for test in tests])
    rising = np.argsort(statistics)
    # (tests, draws)
    largest = np.maximum.accumulate([np.abs(tests[place].statistics()) for place in rising])
    draws = largest.shape[1]
    stepwise = (1 + (largest >= SAME * statistics[rising, None]).sum(axis=1)) / (1 + draws)
    p_values = np.empty(len(tests))
    p_values[rising] = np.maximum.accumulate(stepwise[::-1])[::-1]
    place = math.ceil(confidence * (1 + draws) * (1 - 1e-12))
    return p_values, float(np.sort(largest[-1])[place - 1]) if 0 < place <= draws else math.nan
