"""Planted against recovered: do specs, and tables of comparisons, recover what was planted in a
simulated world?
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from recuse.base.tables import Row, column_names
from recuse.data.moments import Moments
from recuse.data.study import StudyTables
from recuse.inference.gold import BOTH, CASES_OF_PAIRS
from recuse.model.design import (
    CONSTANT,
    REFERENCE,
    Term,
    design_layout,
    design_terms,
    estimable_terms,
)
from recuse.model.estimable import spec_slices
from recuse.model.least_squares import solve
from recuse.model.spec import BIASES, SELF, A, Spec
from recuse.pairwise.choices import MAIN
from recuse.pairwise.verbosity import RULES, STATISTICS, TREATMENTS
from recuse.simulate.votes import PAIRWISE_PLANTED

RECOVERY = column_names(
    "study spec slice estimand quantity term planted expected estimate std_error ci_low ci_high",
    "z inside",
)
# Of these, the columns of the table of estimates
NAMES = ("study", "spec", "slice", "estimand", "quantity", "term")
NUMBERS = ("estimate", "std_error", "ci_low", "ci_high")
PAIRWISE_RECOVERY = ("study", *PAIRWISE_PLANTED, "estimate", "ci_low", "ci_high", "n", "inside")

# Planted, by slice (a dimension), quantity, term and model
_Values = Mapping[tuple[str, str, str, str], float]


def expected_ratings(moments: Moments, values: _Values) -> np.ndarray:
    """Return the mean rating of each group as a linear function of (1, reference[, length]),
    (groups, v - 1).

    The mean rating at quality q is intercept + slope q + bias + preference, and the best linear
    prediction of q from the reference gt is h + r (gt - h), with h the model's mean quality and r
    the reliability of gt within a model. In expectation, least squares on ratings equal those on
    these means. KeyError if a parameter that rows carry is not planted.
    """
    expected = np.zeros((len(moments.n), moments.tensor.shape[1] - 1))
    names = (
        moments.factors[factor].tolist()
        for factor in ("dimension", "judge", "model", "judge_family", "model_family")
    )
    for group, (dimension, judge, model, family, other) in enumerate(zip(*names, strict=True)):
        slope = values[dimension, "slope", judge, ""]
        reliability = values[dimension, "reliability", "", ""]
        constant = (
            values[dimension, "intercept", judge, ""]
            + values[dimension, "preference", judge, model]
        )
        if judge == model:
            constant += values[dimension, "self_bias", judge, ""]
        elif family == other:
            constant += values[dimension, "family_bias", family, ""]
        constant += slope * (1 - reliability) * values[dimension, "quality", "", model]
        expected[group, CONSTANT] = constant
        expected[group, REFERENCE] = slope * reliability
    return expected


def true_value(values: _Values, term: Term, rows: Mapping[str, float]) -> float | None:
    """The planted value of a term, the mean over the rows that carry it, by dimension; None for
    what is not planted.

    Intercepts and slopes that differ by dimension have no value for several dimensions.
    """
    planted = [values.get((dimension, term.quantity, term.term, "")) for dimension in rows]
    if not planted or None in planted or (term.quantity not in BIASES and len(set(planted)) > 1):
        return None
    return float(np.average(planted, weights=list(rows.values())))


def recovery(
    specs: Iterable[Spec],
    study: StudyTables,
    planted: list[Mapping[str, str]],
    estimates: Mapping[str, list[Mapping[str, str]]],
) -> Iterator[dict]:
    """Yield the rows of the recovery table: planted and expected value, estimate, z = (estimate -
    expected) / std_error.

    expected: the spec's fit to the mean rating of every row, so what it estimates on average in
    this world. It differs from `planted`, the true bias at equal quality, by what measurement error
    in the human scores and the judges' preferences for other models do to the estimate; under
    another estimand than A only biases have a planted value. inside: whether the interval contains
    `expected`. Estimates without a standard error have no row; nor have specs with another
    estimator than least squares, or another reference than the human score, because mean ratings
    are linear in that score only.
    """
    values = {
        (row["slice"], row["quantity"], row["term"], row["model"]): float(row["planted"])
        for row in planted
    }
    for spec in specs:
        if (
            spec.model.estimator != "least_squares"
            or spec.selection.reference is not None
            or not estimates[spec.name]
        ):
            continue
        truth = {}
        expected = {}
        for label, rows in spec_slices(spec, study):
            levels, level = np.unique(rows.factors["dimension"], return_inverse=True)
            for term in design_terms(rows.factors, names=spec.model.terms):
                n = np.bincount(level[term.carried], rows.n[term.carried], len(levels))
                of_dimensions = {
                    str(name): number for name, number in zip(levels, n, strict=True) if number
                }
                truth[label, term.quantity, term.term] = true_value(values, term, of_dimensions)
            terms = estimable_terms(spec, rows.factors) if len(rows.n) else []
            if terms:
                means = rows.with_rating(expected_ratings(rows, values))
                solution = solve(means, design_layout(spec, terms, rows))
                for term, value in zip(terms, solution.estimate.tolist(), strict=True):
                    expected[label, term.quantity, term.term] = value
        for row in estimates[spec.name]:
            if not row["p_value"]:
                continue
            key = row["slice"], row["quantity"], row["term"]
            has_truth = row["quantity"] in BIASES or row["estimand"] == A
            estimate, std_error, low, high = (float(row[name]) for name in NUMBERS)
            yield {
                **{name: row[name] for name in NAMES},
                "planted": truth.get(key) if has_truth else None,
                "expected": expected[key],
                **dict(zip(NUMBERS, (estimate, std_error, low, high), strict=True)),
                "z": (estimate - expected[key]) / std_error,
                "inside": int(low <= expected[key] <= high),
            }


# Table of comparisons: the planted quantity, by its columns; those besides it that identify its
# rows; and the column of the estimate.
JUDGED = ("experiment", "condition", "judge")
TABLES = {
    "verbosity": ("verbosity_bias {order} {draws}", JUDGED, "verbosity_bias"),
    "position": ("{statistic}", JUDGED, "value"),
    "cognitive_biases": ("{bias}", ("experiment", "judge"), "share"),
    "asr": ("asr", (*JUDGED, "model_b"), "asr"),
    "choices": ("{quantity}", ("judge",), "estimate"),
    "gold": ("{case}", ("judge",), "estimate"),
}
# The table of a planted quantity; others are in that of cognitive biases
TABLE_OF = {
    "asr": "asr",
    **{f"verbosity_bias {rule} {draws}": "verbosity" for rule, draws in product(RULES, TREATMENTS)},
    **dict.fromkeys(MAIN, "choices"),
    **dict.fromkeys(CASES_OF_PAIRS, "gold"),
    **dict.fromkeys(STATISTICS, "position"),
}
ROUNDING = 1e-9  # of a planted value at an end of its interval, such as 0 or 1


def recovery_of_biases(planted: Iterable[Row], **tables: Sequence[Row]) -> Iterator[dict]:
    """Yield the rows of PAIRWISE_RECOVERY: each planted value with the estimate in its table, texts
    as in the files.

    tables: any of TABLES, by name. n: the comparisons, verdicts or samples that the estimate is a
    share of; inside: whether the interval contains the planted value, empty if the table has no
    such value or no interval. A value whose table is not given has no row.
    """
    estimates = {}
    for table, rows in tables.items():
        quantity, names, _ = TABLES[table]
        for row in rows:
            if table == "choices" and row["draws"] != MAIN.get(row["quantity"]):
                continue
            if table == "gold" and (row["quantity"], row["baseline"]) != (SELF, BOTH):
                continue
            identified = (row.get(name, row.get("term")) for name in names)
            estimates[table, quantity.format(**row), *identified] = row
    for row in planted:
        table = TABLE_OF.get(row["quantity"], "cognitive_biases")
        _, names, column = TABLES[table]
        match = estimates.get((table, row["quantity"], *(row[name] for name in names)))
        result = {**row, "planted": float(row["planted"])}
        if match:
            texts = (match[name] for name in (column, "ci_low", "ci_high"))
            estimate, low, high = (float(text) if text else None for text in texts)
            counts = ("n_shorter", "n_longer") if table == "verbosity" else ("n",)
            result |= {"estimate": estimate, "ci_low": low, "ci_high": high}
            result["n"] = sum(int(match[name]) for name in counts)
            if low is not None:
                inside = low - ROUNDING <= result["planted"] <= high + ROUNDING
                result["inside"] = "yes" if inside else "no"
        if match or tables.get(table):
            yield result
