"""What is said of wrong worlds in montecarlo.yaml, and that the declaration names what there is."""

import copy
from dataclasses import fields

import pytest

from recuse.base.errors import ConfigError
from recuse.config.declared.montecarlo import MonteCarlo, World
from recuse.config.declared.sections import validated
from recuse.config.load import montecarlo_settings
from recuse.montecarlo.estimators import dials_of, estimators_of
from recuse.montecarlo.world import MonteCarloWorld

SETTINGS = montecarlo_settings()


def test_worlds_of_the_project_are_worlds():
    assert list(World.model_fields) == [field.name for field in fields(MonteCarloWorld)]
    for grid, settings in SETTINGS["grids"].items():
        assert estimators_of(SETTINGS, grid)
        for setting in settings["values"]:
            MonteCarloWorld(**dials_of(SETTINGS, grid, str(setting)))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["world", "preferense"], 0.1, "world: unknown key 'preferense'; did you mean 'preference'"),
        (["world"], {"families": [2, 2]}, "world: 'dimensions' is a required property"),
        (["world", "families"], [3], "world: families: [3] is too short; write 2 or more (Models of each family"),
        (["world", "missing"], 0.3, "world: missing: 0.3 is greater than the maximum of 0.25 (Share missing"),
        (["estimators"], ["A_HC0", "A_HC9"], "estimators: 1: 'A_HC9' is not one of 'A_HC0', 'A_CR1'"),
        (["grids", "../x"], {"title": "t", "dial": "preference", "values": [0]}, "grids: '../x' does not match"),
        (
            ["grids", "preference", "dial"],
            "families",
            "grids: preference: dial: 'families' is not one of 'dimensions', 'prompts'",
        ),
        (
            ["grids", "preference", "values"],
            [0, 0.0],
            "grids: preference: values: [0, 0.0] has non-unique elements (Its values.)",
        ),
        (
            ["grids", "preference", "world"],
            {"preference": 1},
            "grids: preference: world: found preference, which is the dial that differs",
        ),
    ],
)
def test_wrong_setting_is_named(path, value, message):
    settings = copy.deepcopy(SETTINGS)
    *parents, last = path
    place = settings
    for key in parents:
        place = place[key]
    place[last] = value
    with pytest.raises(ConfigError) as raised:
        validated(MonteCarlo, settings, name="montecarlo.yaml")
    assert str(raised.value).startswith(f"montecarlo.yaml: {message}")
