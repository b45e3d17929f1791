"""The terms that a spec may name, and the models they make, against statsmodels on rows."""

import numpy as np
import pytest

from recuse.crosscheck.compare import compared
from recuse.model.design import ALL_JUDGES, TERMS, terms_of
from recuse.model.estimates import estimate
from recuse.model.spec import EQUATION_1, Spec

FACTORS = {
    "judge": np.array(["a", "a", "b", "b"]),
    "model": np.array(["a", "b", "a", "c"]),
    "judge_family": np.array(["f", "f", "f", "f"]),
    "model_family": np.array(["f", "f", "f", "g"]),
    "dimension": np.array(["D", "E", "D", "F"]),
}


def listed(names):
    return [(term.quantity, term.term, term.carried.tolist()) for term in terms_of(FACTORS, names=names)]


def test_terms_of_equation_1():
    assert listed(EQUATION_1) == [
        ("intercept", "a", [True, True, False, False]),
        ("intercept", "b", [False, False, True, True]),
        ("slope", "a", [True, True, False, False]),
        ("slope", "b", [False, False, True, True]),
        ("self_bias", "a", [True, False, False, False]),
        ("self_bias", "b", [False, False, False, False]),
        ("family_bias", "f", [False, True, True, False]),
        ("dimension", "E", [False, True, False, False]),
        ("dimension", "F", [False, False, False, True]),
    ]


def test_terms_that_all_judges_share_and_their_order():
    assert [row[:2] for row in listed(["dimension", "reference", "intercept"])] == [
        ("intercept", ALL_JUDGES), ("slope", ALL_JUDGES), ("dimension", "E"), ("dimension", "F"),
    ]  # fmt: skip


def test_effects_of_models_are_against_the_first_model_of_the_dimension():
    assert listed(["model", "model:dimension"]) == [
        ("model", "b", [False, True, False, False]),
        ("model", "c", [False, False, False, True]),
    ]
    factors = FACTORS | {"dimension": np.array(["D", "D", "E", "E"])}
    found = terms_of(factors, names=["model:dimension"])
    assert [(term.quantity, term.term, term.carried.tolist()) for term in found] == [
        ("model_dimension", "b, D", [False, True, False, False]),
        ("model_dimension", "c, E", [False, False, False, True]),
    ]


@pytest.mark.parametrize(
    "terms",
    [
        ["intercept"],
        ["self", "intercept", "reference", "dimension"],  # the published code of one model dropped, in another order
        ["dimension", "judge", "reference", "same_family"],
        ["judge:reference", "intercept", "self"],
        ["judge", "judge:reference", "self", "same_family", "dimension", "model"],
        ["judge", "reference", "self", "dimension", "model:dimension"],
    ],
)
def test_any_choice_of_terms_equals_statsmodels(twin, terms):
    spec = Spec.of("chosen", terms=terms, slice="task_type", whole=True)
    rows = list(compared([spec], twin, confidence=0.9))
    assert {row["slice"] for row in rows} == {"", "open-ended qa", "summarization"}
    assert max(row["largest_difference"] for row in rows) < 1e-9
    quantities = {"intercept": "intercept", "reference": "slope", "judge": "intercept", "judge:reference": "slope"}
    quantities |= {"self": "self_bias", "same_family": "family_bias", "dimension": "dimension"}
    quantities |= {"model": "model", "model:dimension": "model_dimension"}
    assert quantities.keys() == TERMS.keys()
    found = {row["quantity"] for row in estimate(spec, twin, confidence=0.9).estimates}
    assert found == {quantities[term] for term in terms}
