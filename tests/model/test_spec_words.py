"""Specs in words."""

import pytest

from recuse.model.words import changes_of, in_words

NEWS = {"subset": {"models_dropped": ["Llama 3 8B", "Mistral 7B"], "dataset": ["cnn", "xsum"]}}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "Equation 1"),
        ({"covariance": "HC0", "estimator": "least_squares"}, "Equation 1"),
        (NEWS, "Equation 1 without Llama 3 8B and Mistral 7B, on the datasets cnn and xsum"),
        (
            {"slice": "dimension", "terms": ["intercept", "reference"]},
            "Equation 1 with the terms intercept and reference, by dimension",
        ),
        ({"slice": "model_dropped", "whole": True}, "Equation 1 with one model left out"),
        ({"slice": "task_type"}, "Equation 1 by task type"),
        ({"estimator": "ordinal_logit"}, "Equation 1 as a proportional-odds model of the raw ratings"),
        (
            {"estimator": "gam", "covariance": "classical"},
            "Equation 1 with a smooth curve of the human score for each judge, with classical standard errors",
        ),
        ({"length": "prompt", "covariance": "HC1"}, "Equation 1 with length control by prompt, with HC1 standard errors"),
        ({"length": "global"}, "Equation 1 with length control over all completions"),
        ({"covariance": "CR1", "bootstrap": 10_000}, "Equation 1 with prompt-clustered (CR1) standard errors"),
        ({"reference": "family"}, "Equation 1 with each family's judges as reference"),
        (
            {"reference": "family_completions_kept", "subset": {"dimension": ["Tone"], "task_type": ["a", "b", "c"]}},
            "Equation 1 with each family's judges as reference, completions kept, on the dimension Tone, on the task "
            "types a, b and c",
        ),
    ],
)
def test_settings_in_words(settings, words):
    assert in_words(settings) == words


def test_changes_are_for_a_legend():
    assert changes_of({"slice": "dataset", **NEWS}) == "without Llama 3 8B and Mistral 7B, on the datasets cnn and xsum"
    assert changes_of({}) == ""
    assert changes_of({"reference": "family"}, whose="{slice}") == "with {slice} judges as reference"
    dropped = {"subset": {"models_dropped": ["a", "b", "c", "d", "e"]}}
    assert changes_of(dropped, most=3) == "without a, b and 3 more"
    assert changes_of(dropped, most=5) == changes_of(dropped) == "without a, b, c, d and e"
