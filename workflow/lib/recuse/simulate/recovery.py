"""Planted against recovered: do specs, and tables of comparisons, recover what was planted in a simulated world?"""

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
    Raises KeyError if no row plants a term that groups carry.
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
    coefficients themselves, for a spec that pools dimensions their average by least squares. Estimates without a standard error
    have no row; nor have specs with another estimator than least squares, or another reference than the human score, because
    the planted means are linear in that score.
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
                value = population[row["slice"], row["quantity"], row["term"]]
                names = {key: row[key] for key in ("study", "spec", "slice", "estimand", "quantity", "term")}
                numbers = {key: float(row[key]) for key in ("estimate", "std_error", "ci_low", "ci_high")}
                z = (numbers["estimate"] - value) / numbers["std_error"]
                inside = int(numbers["ci_low"] <= value <= numbers["ci_high"])
                yield {**names, "planted": value, **numbers, "z": z, "inside": inside}


# Table of comparisons: the columns besides the quantity that identify its rows, and the column of the estimate.
TABLES = {
    "verbosity": (("experiment", "condition", "judge"), "verbosity_bias"),
    "position": (("experiment", "condition", "judge"), "value"),
    "cognitive_biases": (("experiment", "judge"), "share"),
    "asr": (("experiment", "condition", "judge", "model_b"), "asr"),
}
ROUNDING = 1e-9  # of a planted value at an end of its interval, such as 0 or 1
Row = Mapping[str, str]


def recovery_of_biases(planted: Iterable[Row], **tables: Sequence[Row]) -> Iterator[dict]:
    """Yield the rows of PAIRWISE_RECOVERY: each planted value with the estimate in its table, texts as in the files.

    tables: any of TABLES, by name. n: the comparisons, verdicts or samples that the estimate is a share of; inside: whether the
    interval contains the planted value, empty if the table has no such value or no interval. A value whose table is not given
    has no row.
    """
    estimates = {}
    for table, rows in tables.items():
        for row in rows:
            quantity = {
                "verbosity": f"verbosity_bias {row.get('order')} {row.get('draws')}",
                "position": row.get("statistic"),
                "cognitive_biases": row.get("bias"),
                "asr": "asr",
            }[table]
            estimates[table, quantity, *(row[name] for name in TABLES[table][0])] = row
    for row in planted:
        quantity, value = row["quantity"], float(row["planted"])
        if quantity == "asr":
            table = "asr"
        elif quantity in CLOSED_FORM:
            table = "cognitive_biases"
        else:
            table = "verbosity" if quantity.startswith("verbosity_bias") else "position"
        names, column = TABLES[table]
        match = estimates.get((table, quantity, *(row[name] for name in names)))
        if match:
            texts = {"estimate": match[column], "ci_low": match["ci_low"], "ci_high": match["ci_high"]}
            numbers = {name: float(text) if text else None for name, text in texts.items()}
            numbers["n"] = sum(int(match[name]) for name in (("n_shorter", "n_longer") if table == "verbosity" else ("n",)))
            if numbers["ci_low"] is not None:
                inside = numbers["ci_low"] - ROUNDING <= value <= numbers["ci_high"] + ROUNDING
                numbers["inside"] = "yes" if inside else "no"
            yield {**row, "planted": value, **numbers}
        elif tables.get(table):
            yield {**row, "planted": value}
