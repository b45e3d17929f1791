"""Specs: their settings and estimands in words, and what they read."""

import pytest
import yaml

from conftest import DATA
from declared_tables import columns_by_table
from recuse.config.read import project_settings
from recuse.model.spec import (
    A_OF_REFERENCE,
    BIASES,
    A,
    B,
    C,
    Spec,
    changes_in_words,
    estimand_name,
    estimands_in_words,
    spec_in_words,
)
from recuse.papers.claims import read_claims
from recuse.papers.values import ESTIMANDS
from text_tables import cases

CONFIG = project_settings()

NEWS = {"subset": {"models_dropped": ["Llama 3 8B", "Mistral 7B"], "dataset": ["cnn", "xsum"]}}


@pytest.mark.parametrize(
    ("settings", "words"),
    cases(
        """
{}
    Equation 1
{covariance: HC0, estimator: least_squares}
    Equation 1
{subset: {models_dropped: [Llama 3 8B, Mistral 7B], dataset: [cnn, xsum]}}
    Equation 1 without Llama 3 8B and Mistral 7B, on the datasets cnn and xsum
{slice: dimension, terms: [intercept, reference]}
    Equation 1 with one level and one slope on human scores as terms, by dimension
{slice: model_dropped, whole: true}
    Equation 1 with one model left out
{slice: task_type}
    Equation 1 by task type
{estimator: ordinal_logit}
    Equation 1 as a proportional-odds model of the raw ratings
{estimator: gam, covariance: classical}
    Equation 1 with a smooth curve of the human score for each judge, with classical standard errors
{length: prompt, covariance: HC1}
    Equation 1 with length control by prompt, with HC1 standard errors
{length: global}
    Equation 1 with length control over all completions
{covariance: CR1, bootstrap: 10000}
    Equation 1 with prompt-clustered (CR1) standard errors
{reference: family}
    Equation 1 with each family's judges as reference
{reference: family_completions_kept, subset: {dimension: [Tone], task_type: [a, b, c]}}
    Equation 1 with each family's judges as reference, completions kept, on the dimension Tone, on the task types a, b and c
"""
    ),
)
def test_settings_in_words(settings, words):
    assert spec_in_words(Spec.of("a", **yaml.safe_load(settings))) == words


def test_changes_from_equation_1_in_words():
    assert (
        changes_in_words(Spec.of("a", slice="dataset", **NEWS))
        == "without Llama 3 8B and Mistral 7B, on the datasets cnn and xsum"
    )
    assert changes_in_words(Spec.of("a")) == ""
    assert (
        changes_in_words(Spec.of("a", reference="family"), whose="{slice}")
        == "with {slice} judges as reference"
    )
    dropped = Spec.of("a", subset={"models_dropped": ["a", "b", "c", "d", "e"]})
    assert changes_in_words(dropped, most=3) == "without a, b and 3 more"
    assert (
        changes_in_words(dropped, most=5) == changes_in_words(dropped) == "without a, b, c, d and e"
    )


def test_estimands_in_words():
    assert estimands_in_words([]) == estimands_in_words([""]) == ""
    assert estimands_in_words([A, "", A]) == "A against humans"
    model, completion = (B.format(of) for of in ("model", "completion"))
    assert estimands_in_words([model, completion]) == f"{model} and {completion}"
    assert estimands_in_words([C, model, A, completion]) == f"{C}, B against other judges and {A}"


def test_published_biases_have_the_estimand_of_their_spec():
    specs = Spec.from_config(CONFIG["specs"])
    assert {name: estimand_name(specs[name]) for name in ESTIMANDS} == ESTIMANDS
    claims = read_claims(DATA / "play_favorites_claims.csv")
    of_claims = {claim.name: claim.estimand for claim in claims}
    assert of_claims["llm_reference_self"] == A_OF_REFERENCE
    assert (of_claims["mostly_consistent"], of_claims["scores_cluster"]) == (A, "")
    biased = [
        claim
        for claim in claims
        if "bias" in claim.sentence or any(of in claim.criterion for of in BIASES)
    ]
    assert all(of_claims[claim.name] for claim in biased)


TABLES_OF_BIASES = [
    "ESTIMATES",
    "MULTIPLICITY",
    "IDIOSYNCRASY",
    "RESIDUALS",
    "IDENTIFIABILITY",
    "LEADERBOARD",
    "POWER",
    "MEASUREMENT_ERROR",
    "BREAKDOWNS",
    "SENSITIVITY",
    "CONCLUSIONS",
    "CLAIMS",
    "SCORECARD",
    "RECOVERY",
    "CROSSCHECK",
    "MONTECARLO",
]


@pytest.mark.parametrize("table", TABLES_OF_BIASES)
def test_tables_of_biases_have_a_column_for_the_estimand(table):
    assert "estimand" in columns_by_table()[table]


def test_settings_go_to_their_parts_and_unknown_ones_raise():
    spec = Spec.of("s", slice="dimension", terms=("judge",), wild=99)
    assert (spec.selection.slice, spec.model.terms, spec.errors.wild) == (
        "dimension",
        ("judge",),
        99,
    )
    changed = spec.changed(slice=None, covariance="CR1")
    assert (changed.selection.slice, changed.errors.covariance, changed.errors.wild) == (
        None,
        "CR1",
        99,
    )
    with pytest.raises(TypeError, match="spec s: unknown settings engine"):
        Spec.of("s", engine="cells")
