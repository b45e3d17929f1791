"""Planted against recovered: do specs, and tables of comparisons, give back what the simulated world was built with?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from recuse.data.moments import Moments
from recuse.data.study import Study
from recuse.model.design import terms_of
from recuse.model.estimable import slices_of
from recuse.model.fit import fit_slice
from recuse.model.spec import Spec
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

    The population value of a spec is its fit to the planted mean rating of every row: for `by_dimension` the planted
    coefficients themselves, for a spec that pools dimensions the average that least squares makes of them. Estimates without a
    standard error have no row; nor have specs with another estimator than least squares, or another reference than the human
    score, in which the plan is linear.
    """
    for spec in specs:
        if spec.model.estimator != "least_squares" or spec.selection.reference is not None or not estimates[spec.name]:
            continue
        exact = spec.changed(covariance="HC0", bootstrap=None, wild=None)  # a population value has no error
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


# Table of comparisons: the columns that its rows are told apart by, besides their quantity, and the column of the estimate.
TABLES = {
    "verbosity": (("experiment", "condition", "judge"), "verbosity_bias"),
    "position": (("experiment", "condition", "judge"), "value"),
    "cognitive_biases": (("experiment", "judge"), "share"),
    "asr": (("experiment", "condition", "judge", "model_b"), "asr"),
}
ROUNDING = 1e-9  # of a planted value at an end of its interval, as 0 and 1 are
Row = Mapping[str, str]


def recovery_of_biases(planted: Iterable[Row], **tables: Sequence[Row]) -> Iterator[dict]:
    """Yield the rows of PAIRWISE_RECOVERY: each planted value beside what its table found, texts as in the files.

    tables: any of TABLES, by name. n: the comparisons, verdicts or samples that the estimate is a share of; inside: whether the
    interval holds the planted value, empty where the table has no such value or no interval. A value whose table is not given
    has no row.
    """
    estimates = {(table, *_key(table, row, _quantity(table, row))): row for table, rows in tables.items() for row in rows}
    for row in planted:
        quantity, value = row["quantity"], float(row["planted"])
        if quantity == "asr":
            table = "asr"
        elif quantity in CLOSED_FORM:
            table = "cognitive_biases"
        else:
            table = "verbosity" if quantity.startswith("verbosity_bias") else "position"
        if tables.get(table):
            estimate = estimates.get((table, *_key(table, row, quantity)))
            yield {**row, "planted": value, **(_beside(table, estimate, value) if estimate else {})}


def _quantity(table: str, row: Row) -> str:
    """What a row of a table estimates, as planted values are called."""
    if table == "verbosity":
        return f"verbosity_bias {row['order']} {row['draws']}"
    return {"position": row.get("statistic"), "cognitive_biases": row.get("bias"), "asr": "asr"}[table]


def _key(table: str, row: Row, quantity: str) -> tuple[str, ...]:
    return (quantity, *(row[name] for name in TABLES[table][0]))


def _beside(table: str, row: Row, planted: float) -> dict:
    texts = {"estimate": row[TABLES[table][1]], "ci_low": row["ci_low"], "ci_high": row["ci_high"]}
    numbers = {name: float(text) if text else None for name, text in texts.items()}
    numbers["n"] = int(row["n_shorter"]) + int(row["n_longer"]) if table == "verbosity" else int(row["n"])
    if numbers["ci_low"] is None:
        return numbers
    inside = numbers["ci_low"] - ROUNDING <= planted <= numbers["ci_high"] + ROUNDING
    return {**numbers, "inside": "yes" if inside else "no"}
