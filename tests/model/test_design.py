"""Terms, and effects of models and of completions, against statsmodels on rows with a dummy for
each.
"""

import numpy as np
import pytest
import yaml

from conftest import changed_twin
from designs_on_rows import largest_difference
from picked_rows import fields, keyed
from recuse.base.reasons import Reason, because
from recuse.data.moments import (
    JUDGED_BY,
    RowBlock,
    blocks_by_judges,
    moments_by_judges,
    number_completions,
)
from recuse.model.design import ALL_JUDGES, TERMS, design_terms
from recuse.model.estimates import estimate
from recuse.model.spec import EQUATION_1, TERM_WORDS, B, Spec, estimand_name
from recuse.validation.compare import compared
from text_tables import lines

FACTORS = {
    "judge": np.array([*"aabb"]),
    "model": np.array([*"abac"]),
    "judge_family": np.array([*"ffff"]),
    "model_family": np.array([*"fffg"]),
    "dimension": np.array([*"DEDF"]),
}


def listed(names, factors=FACTORS):
    """Quantity, term, and 1 for the groups of rows that carry it, of each term."""
    return [
        [term.quantity, term.term, "".join(map(str, term.carried.astype(int)))]
        for term in design_terms(factors, names=names)
    ]


def test_terms_of_equation_1():
    assert listed(EQUATION_1) == lines("""
        intercept    a  1100
        intercept    b  0011
        slope        a  1100
        slope        b  0011
        self_bias    a  1000
        self_bias    b  0000
        family_bias  f  0110
        dimension    E  0100
        dimension    F  0001
        """)


def test_terms_that_all_judges_share_and_their_order():
    assert [row[:2] for row in listed(["dimension", "reference", "intercept"])] == [
        ["intercept", ALL_JUDGES],
        ["slope", ALL_JUDGES],
        ["dimension", "E"],
        ["dimension", "F"],
    ]


def test_effects_of_models_are_against_the_first_model_of_the_dimension():
    assert listed(["model", "model:dimension"]) == [["model", "b", "0100"], ["model", "c", "0001"]]
    factors = FACTORS | {"dimension": np.array(["D", "D", "E", "E"])}
    assert listed(["model:dimension"], factors) == [
        ["model_dimension", "b, D", "0100"],
        ["model_dimension", "c, E", "0001"],
    ]


@pytest.mark.parametrize(
    "terms",
    [
        "intercept",
        # The published code of one model dropped, in another order
        "self intercept reference dimension",
        "dimension judge reference same_family",
        "judge:reference intercept self",
        "judge judge:reference self same_family dimension model",
        "judge reference self dimension model:dimension",
    ],
)
def test_any_choice_of_terms_equals_statsmodels(few_prompts, terms):
    terms = terms.split()
    spec = Spec.of("chosen", terms=terms, slice="task_type", whole=True)
    rows = list(compared([spec], few_prompts, confidence=0.9))
    assert {row["slice"] for row in rows} == {"", "open-ended qa", "summarization"}
    assert max(row["largest_difference"] for row in rows) < 1e-9
    quantities = {
        "intercept": "intercept",
        "reference": "slope",
        "judge": "intercept",
        "judge:reference": "slope",
    }
    quantities |= {"self": "self_bias", "same_family": "family_bias", "dimension": "dimension"}
    quantities |= {"model": "model", "model:dimension": "model_dimension"}
    assert quantities.keys() == TERMS.keys() == TERM_WORDS.keys()
    listed = {row["quantity"] for row in estimate(spec, few_prompts, confidence=0.9).estimates}
    assert listed == {quantities[term] for term in terms}


ABSORBING = Spec.of("absorbing", absorb="completion", covariance="CR1")
KINDS = """
all rows: {}
slices: {slice: dimension, whole: true}
one model dropped: {slice: model_dropped, subset: {dataset: [cnn, xsum]}}
length: {length: prompt, subset: {models_dropped: [GPT-4o], dataset: [cnn, xsum]}}
reference: {reference: family, subset: {dimension: [Faithfulness]}}
terms: {terms: [intercept, reference, self, model], subset: {dataset: [cnn, xsum]}}
"""


def table(study, spec):
    return keyed(estimate(spec, study, confidence=0.9).estimates, "quantity term")


@pytest.mark.parametrize("changes", yaml.safe_load(KINDS).values(), ids=yaml.safe_load(KINDS))
def test_absorbed_fits_equal_statsmodels_on_demeaned_rows(few_prompts, changes):
    assert largest_difference([ABSORBING.changed(**changes)], few_prompts) < 1e-9


def test_terms_collinear_with_completions_are_reported(twin):
    reasons = {
        fields(gap, "quantity term"): gap["reason"]
        for gap in estimate(ABSORBING, twin, confidence=0.9).not_estimable
    }
    assert (
        reasons["intercept", "Claude 3 Sonnet"]
        == reasons["slope", "Claude 3 Sonnet"]
        == because(Reason.RELATIVE)
    )
    assert reasons["dimension", "Helpfulness"] == because(Reason.ABSORBED)
    assert {quantity for quantity, _ in table(twin, ABSORBING)} == {
        "intercept",
        "slope",
        "self_bias",
        "family_bias",
    }


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.SingularMatrixWarning")
def test_term_of_completions_with_one_judge_is_not_estimable(twin, tmp_path):
    """No other judge rated the answers of GPT-4o: no cell determines its self-bias."""
    rows = "from raw where (model <> 'GPT-4o' or judge = model) and dimension = 'Faithfulness'"
    study = changed_twin(twin, tmp_path, rows)
    for spec in (ABSORBING, ABSORBING.changed(covariance="CR3")):
        assert largest_difference([spec], study) < 1e-9
        rows = table(study, spec.changed(bootstrap=100, wild=99))
        assert {key for key, row in rows.items() if row["note"] == because(Reason.COLLINEAR)} == {
            ("self_bias", "GPT-4o")
        }
        assert {key for key, row in rows.items() if "boot_ci_low" not in row} == {
            ("self_bias", "GPT-4o")
        }


def test_more_judges_than_the_bits_of_a_word():
    """Sixty judges of one model; the last one misses the second prompt."""
    judges = np.array([f"j{number:02}" for number in range(60)])
    one = np.repeat("m", 60)
    factors = {"dimension": one, "dataset": one, "model": one, "judge": judges}
    group = np.concatenate([np.arange(60), np.arange(59)])
    block = RowBlock(np.repeat([0, 1], [60, 59]), group, np.ones(119), [np.full(119, 0.5)])
    moments = moments_by_judges([block], factors, covariates=1)
    assert sorted(set(moments.factors[JUDGED_BY])) == ["1" * 59 + "0", "1" * 60]
    assert moments.n.tolist() == [1.0] * 119
    assert moments.tensor[0, 0, 0, 2, 2] == 0.25
    numbered = next(iter(blocks_by_judges([block], factors, moments.factors)))
    assert {name: values[numbered.group].tolist() for name, values in moments.factors.items()} == {
        JUDGED_BY: ["1" * 60] * 60 + ["1" * 59 + "0"] * 59,
        **{name: values[group].tolist() for name, values in factors.items()},
    }
    assert len(set(number_completions(moments.factors))) == 2


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (Spec.of("s"), "A against humans"),
        (Spec.of("s", reference="family"), "A against the reference judges"),
        (Spec.of("s", terms=("judge", "self", "model")), B.format("model")),
        (Spec.of("s", terms=("judge", "self", "model:dimension")), B.format("model and dimension")),
        (ABSORBING, B.format("completion")),
        (Spec.of("s", terms=("judge",)), ""),
    ],
)
def test_words_of_the_estimand(spec, words):
    assert estimand_name(spec) == words
