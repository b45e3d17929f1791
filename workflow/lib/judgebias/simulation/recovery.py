"""Planted against recovered: does a spec give back what the simulated world was built with?"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from judgebias.fits.design import terms_of
from judgebias.fits.fit import fit_slice
from judgebias.fits.spec import Spec
from judgebias.ratings.moments import Moments
from judgebias.ratings.study import Study


def expected_ratings(moments: Moments, planted: Iterable[Mapping[str, str]]) -> np.ndarray:
    """Return the planted mean rating of each group as a linear function of (1, reference[, length]), (groups, v - 1).

    planted: rows with slice (a dimension), quantity, term, planted; within a dimension, Equation 1 holds with these values.
    Raises KeyError where the plan lacks a term that rows carry.
    """
    values = {(row["slice"], row["quantity"], row["term"]): float(row["planted"]) for row in planted}
    expected = np.zeros((len(moments.n), moments.tensor.shape[1] - 1))
    for dimension in np.unique(moments.factors["dimension"]):
        mask = moments.factors["dimension"] == dimension
        for term in terms_of({factor: column[mask] for factor, column in moments.factors.items()}):
            groups = np.flatnonzero(mask)[term.carried]
            if len(groups):
                expected[groups, term.regressor] += values[str(dimension), term.quantity, term.term]
    return expected


def recovery(
    specs: Iterable[Spec],
    study: Study,
    planted: list[Mapping[str, str]],
    estimates: Mapping[str, list[Mapping[str, str]]],
) -> Iterator[dict]:
    """Yield the rows of the recovery table: population value, estimate and z = (estimate - population value) / std_error.

    An estimate without a standard error has no row. Neither have specs with another estimator or another reference than the
    human score: the plan is linear in the human score, and does not say what these would find in it.

    The population value of a spec is its fit to the planted mean rating of every row. For `by_dimension` these are the planted
    coefficients themselves; for a spec that pools dimensions, the average that least squares makes of them.
    """
    for spec in specs:
        if spec.estimator != "least_squares" or spec.reference is not None or not estimates[spec.name]:
            continue
        # A population value has no error, whatever the spec's.
        exact = replace(spec, covariance="HC0", bootstrap=None, wild=None)
        population = {
            (label, coefficient.quantity, coefficient.term): coefficient.estimate
            for label, rows in study.slices(spec)
            for coefficient in fit_slice(exact, label, rows.with_rating(expected_ratings(rows, planted))).coefficients
        }
        for row in estimates[spec.name]:
            if row["p_value"]:
                yield _compare(row, population[row["slice"], row["quantity"], row["term"]])


def _compare(row: Mapping[str, str], population: float) -> dict:
    numbers = {key: float(row[key]) for key in ("estimate", "std_error", "ci_low", "ci_high")}
    names = {key: row[key] for key in ("study", "spec", "slice", "estimand", "quantity", "term")}
    z = (numbers["estimate"] - population) / numbers["std_error"]
    inside = int(numbers["ci_low"] <= population <= numbers["ci_high"])
    return {**names, "planted": population, **numbers, "z": z, "inside": inside}
