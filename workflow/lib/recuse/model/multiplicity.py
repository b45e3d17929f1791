"""Many tests at once: p-values and intervals of a spec's self- and family-biases that allow for their number."""

import math
from collections.abc import Sequence

import numpy as np

from recuse.model.fit import Coefficient, Fitted
from recuse.model.least_squares import quantile, wald_p_value
from recuse.model.resampling import SAME, WildTest
from recuse.model.spec import Spec, estimand_of


def adjusted(spec: Spec, slices: Sequence[Fitted], *, confidence: float) -> list[dict]:
    """List the rows of the multiplicity table: the coefficients of the tests of a spec in all slices, one family.

    A coefficient without a standard error is no test, and has no row. p_value is the spec's own, of the t or normal
    distribution. holm_p_value bounds the chance of any false rejection, whatever the dependence (Holm 1979); bh_p_value the
    expected share of false ones among the rejections (Benjamini and Hochberg 1995); both by statsmodels. With a wild bootstrap,
    max_t_p_value does what Holm's does, and learns the dependence from the draws, and the simultaneous intervals hold all
    coefficients at once with probability `confidence`: see `max_t`. Neither says more than the test of the coefficient alone:
    the p-value is not below p_value, and no interval narrower than that by t or the normal distribution.

    slices: of the spec, as by recuse.model.fit.fits, where a draw gives a prompt one weight in all slices.
    """
    tested = [
        (fitted.slice, row)
        for fitted in slices
        for row in fitted.coefficients
        if row.quantity in spec.errors.tests and math.isfinite(row.estimate) and row.std_error > 0
    ]
    if not tested:
        return []
    from statsmodels.stats.multitest import multipletests

    coefficients = [row for _, row in tested]
    p_values = [_p_value(row) for row in coefficients]
    columns = {
        "p_value": p_values,
        "holm_p_value": multipletests(p_values, method="holm")[1].tolist(),
        "bh_p_value": multipletests(p_values, method="fdr_bh")[1].tolist(),
        **simultaneous(coefficients, confidence=confidence),
    }
    rows = []
    for (label, row), *numbers in zip(tested, *columns.values(), strict=True):
        about = {"slice": label, "estimand": estimand_of(spec), "tests": len(tested)}
        about |= {name: getattr(row, name) for name in ("quantity", "term", "estimate", "std_error")}
        rows.append(about | dict(zip(columns, numbers, strict=True)))
    return rows


def simultaneous(coefficients: Sequence[Coefficient], *, confidence: float) -> dict[str, list]:
    """Columns of `max_t` of coefficients that have errors; none without a wild bootstrap of every one."""
    tests = [row.wild for row in coefficients if row.wild is not None]
    if len(tests) < len(coefficients):
        return {}
    adjusted_p_values, critical = max_t(tests, confidence=confidence)
    estimate, error = (np.array([getattr(row, name) for row in coefficients]) for name in ("estimate", "std_error"))
    alone = [quantile(confidence, row.df) for row in coefficients]
    reach = np.maximum(critical * np.array([test.std_error for test in tests]), alone * error)
    return {
        "max_t_p_value": np.maximum(adjusted_p_values, [_p_value(row) for row in coefficients]).tolist(),
        "simultaneous_ci_low": (estimate - reach).tolist(),
        "simultaneous_ci_high": (estimate + reach).tolist(),
        "replicates": [len(tests[0].squares)] * len(tests),
    }


def _p_value(row: Coefficient) -> float:
    """p-value of the test of one coefficient alone."""
    return wald_p_value(row.estimate, row.std_error, row.df)


def max_t(tests: Sequence[WildTest], *, confidence: float) -> tuple[np.ndarray, float]:
    """Adjusted p-values of coefficients, (tests,), and how many errors CR1 either half of the simultaneous intervals is wide.

    With t = b / error CR1, and T* = max over tests of |t*| in a draw that is common to all, each t* over the error of that
    draw and under the hypothesis that its coefficient is 0, p = (1 + number of T* >= |t|) / (1 + draws). The interval is b -+ T
    errors, T the smallest T* that all but (1 - confidence) (1 + draws) - 1 do not exceed, so that it leaves 0 out exactly where
    p <= 1 - confidence; NaN with too few draws.
    Source: Westfall and Young (1993), single-step max-T; Romano and Wolf (2005), with a studentised bootstrap, here that of
    `WildBootstrap`.
    """
    largest = np.sort(np.max([np.abs(test.statistics()) for test in tests], axis=0))
    draws = len(largest)
    own = np.array([abs(test.estimate / test.std_error) for test in tests])
    below = np.searchsorted(largest, SAME * own)
    place = math.ceil(confidence * (1 + draws) * (1 - 1e-12))
    return (1 + draws - below) / (1 + draws), float(largest[place - 1]) if 0 < place <= draws else math.nan
