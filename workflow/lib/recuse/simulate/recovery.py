"""Planted against recovered: does a spec give back what the simulated world was built with?

Planted against recovered: do the tables of simulated comparisons give back the biases that they were drawn with?
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from recuse.data.moments import Moments
from recuse.data.study import Study
from recuse.model.design import terms_of
from recuse.model.fit import fit_slice
from recuse.model.spec import Spec
from recuse.model.terms import slices_of
from recuse.pairwise.cognitive import CLOSED_FORM


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
        if spec.model.estimator != "least_squares" or spec.selection.reference is not None or not estimates[spec.name]:
            continue
        # A population value has no error, whatever the spec's.
        exact = spec.changed(covariance="HC0", bootstrap=None, wild=None)
        population = {
            (label, coefficient.quantity, coefficient.term): coefficient.estimate
            for label, rows in slices_of(spec, study)
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


VERBOSITY_BIAS = "verbosity_bias"  # first word of these quantities; the order rule and the treatment of draws follow
ROUNDING = 1e-9  # of a planted value at an end of its interval, as 0 and 1 are
Rows = Sequence[Mapping[str, str]]
Key = tuple[str, ...]


def recovery_of_biases(
    planted: Rows, *, verbosity: Rows = (), position: Rows = (), cognitive_biases: Rows = (), asr: Rows = ()
) -> Iterator[dict]:
    """Yield the rows of RECOVERY: each planted value beside what the table of its name found, texts as in the files.

    estimate with its interval; n: the comparisons, verdicts or samples that it is a share of; inside: `yes` where the interval
    holds the planted value, `no` where it does not, empty where the table has no such value or no interval. A value whose table
    is not given has no row.
    """
    found = {}
    for row in verbosity:
        n = int(row["n_shorter"]) + int(row["n_longer"])
        quantity = f"{VERBOSITY_BIAS} {row['order']} {row['draws']}"
        found["verbosity", row["experiment"], row["condition"], row["judge"], quantity] = _found(row, "verbosity_bias", n)
    for row in position:
        key = "position", row["experiment"], row["condition"], row["judge"], row["statistic"]
        found[key] = _found(row, "value", row["n"])
    for row in cognitive_biases:
        found["cognitive_biases", row["experiment"], row["judge"], row["bias"]] = _found(row, "share", row["n"])
    for row in asr:
        names = [row[name] for name in ("experiment", "condition", "judge", "model_b")]
        found["asr", *names] = _found(row, "asr", row["n"])
    given = {key[0] for key in found}
    for row in planted:
        key = _key(row)
        if key[0] in given:
            yield {**row, "planted": float(row["planted"]), **_compared(float(row["planted"]), found.get(key))}


def _key(row: Mapping[str, str]) -> Key:
    """The table that a planted value is in, and its row there."""
    quantity = row["quantity"]
    if quantity == "asr":
        return ("asr", *(row[name] for name in ("experiment", "condition", "judge", "model_b")))
    if quantity in CLOSED_FORM:
        return "cognitive_biases", row["experiment"], row["judge"], quantity
    table = "verbosity" if quantity.startswith(VERBOSITY_BIAS) else "position"
    return table, row["experiment"], row["condition"], row["judge"], quantity


def _found(row: Mapping[str, str], column: str, n: str | int) -> dict:
    numbers = {"estimate": row[column], "ci_low": row["ci_low"], "ci_high": row["ci_high"]}
    return {name: float(value) if value else None for name, value in numbers.items()} | {"n": int(n)}


def _compared(planted: float, found: Mapping | None) -> dict:
    if found is None or found["ci_low"] is None:
        return dict(found or {})
    inside = found["ci_low"] - ROUNDING <= planted <= found["ci_high"] + ROUNDING
    return {**found, "inside": "yes" if inside else "no"}
