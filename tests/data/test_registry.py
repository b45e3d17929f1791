"""Which models a study has."""

import pytest

from recuse.base.errors import ConfigError
from recuse.data.registry import Registry, models_with


def test_families_of_a_study_go_before_the_models_of_config():
    """By name or id: in such a study a spelling stands for what the study calls it."""
    known = {"GPT-4o": {"family": "GPT", "ids": ["gpt-4o", "4o"]}, "Claude": {"family": "Claude"}}
    assert models_with({"OpenAI": ["gpt-4o"], "Anthropic": ["Claude"]}, known) == {
        "gpt-4o": {"family": "OpenAI"},
        "Claude": {"family": "Anthropic"},
        "GPT-4o": {"family": "GPT", "ids": ["4o"]},
    }
    assert models_with({}, known) == known


def test_one_id_for_two_models():
    with pytest.raises(ConfigError, match="'x' stands for both 'A' and 'B'"):
        Registry.from_config({"A": {"family": "f", "ids": ["x"]}, "B": {"family": "f", "ids": ["x"]}})
