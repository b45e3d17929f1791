"""Which models a study has, and the steps of scales that are imported."""

import pytest

from recuse.base.errors import ConfigError
from recuse.data.registry import Registry, declared_in, finest_step, models_with


def test_families_of_a_study_go_before_the_models_of_config():
    """By name or id: in such a study a spelling stands for what the study calls it."""
    known = {"GPT-4o": {"family": "GPT", "ids": ["gpt-4o", "4o"]}, "Claude": {"family": "Claude"}}
    assert models_with({"OpenAI": ["gpt-4o"], "Anthropic": ["Claude"]}, known) == {
        "gpt-4o": {"family": "OpenAI", "ids": []},
        "Claude": {"family": "Anthropic", "ids": []},
        "GPT-4o": {"family": "GPT", "ids": ["4o"]},
    }
    assert models_with({"OpenAI": {"o": ["4o", "Claude"], "p": []}}, known) == {
        "o": {"family": "OpenAI", "ids": ["4o", "Claude"]},
        "p": {"family": "OpenAI", "ids": []},
        "GPT-4o": {"family": "GPT", "ids": ["gpt-4o"]},
    }
    assert models_with({}, known) == known | {"Claude": {"family": "Claude", "ids": []}}


def test_one_id_for_two_models():
    with pytest.raises(ConfigError, match="found the id 'x' under 'A' and 'B'"):
        Registry.from_config(
            {"A": {"family": "f", "ids": ["x"]}, "B": {"family": "f", "ids": ["x"]}}
        )


def test_family_of_a_model_that_config_does_not_list():
    registry = Registry.from_config({"A": {"family": "f", "ids": ["x"]}})
    assert {name: registry.family(name) for name in ("A", "B", "f")} == {
        "A": "f",
        "B": "B",
        "f": "f (alone)",
    }


@pytest.mark.parametrize(
    ("scales", "finest"),
    [
        ([[0, 1]], 0.01),
        ([[0, 100]], 1),
        ([[1, 10]], 0.1),
        ([[0.5, 5]], 0.05),
        ([[0, 1], [0.5, 5]], 0.05),
        ([[0, 1], [0, 100]], None),
        (["observed"], None),
    ],
)
def test_finest_step_of_scales(scales, finest):
    assert finest_step(declared_in(dict(enumerate(scales)))) == finest
