"""Messages about invalid worlds in montecarlo.yaml; the declaration has the dials and estimators
that there are.
"""

import copy

import pytest
import yaml

from recuse.base.errors import ConfigError
from recuse.validation.estimators import grid_estimators, world_dials
from recuse.validation.settings import check_montecarlo, montecarlo_settings
from recuse.validation.world import MonteCarloWorld
from text_tables import cases

SETTINGS = montecarlo_settings()


def test_worlds_of_the_project_are_worlds():
    for grid, settings in SETTINGS["grids"].items():
        assert grid_estimators(SETTINGS, grid)
        for setting in settings["values"]:
            MonteCarloWorld(**world_dials(SETTINGS, grid, str(setting)))


# The place of a setting and a wrong value, and below it the message
WRONG = """
world preferenc: 0.1
    world: preferenc: unknown key; did you mean 'preference'
world: {families: [2, 2]}
    world: 'dimensions' is required
world families: [3]
    world: families: should have at least 2 entries, found [3] (Number of models in
world missing: 0.3
    world: missing: should be at most 0.25, found 0.3 (Mean share
estimators: [A_HC0, A_HC9]
    estimators: 1: should be 'A_HC0', 'A_CR1'
grids ../x: {dial: preference, title: t, values: [0]}
    grids: names should match ^[a-z][a-z0-9_]*$, found '../x'
grids preference dial: families
    grids: preference: dial: should be 'dimensions', 'prompts'
grids preference values: [0, 0.0]
    grids: preference: values: should have no entry twice, found [0, 0.0] (Values of the dial.)
grids preference world: {preference: 1}
    grids: preference: world: found preference, which is the dial that differs
grids reliability values: [1, 1.5]
    grids: reliability: reliability of 1.5: reliability: should be at most 1,
grids prompts values: [30, 0.5]
    grids: prompts: prompts of 0.5: prompts: should be a whole number, found 0.5
grids judges_3 world: {judges: 10}
    grids: judges_3: self_bias of 0: judges: found 10 of 9 models;
grids none world: {slope: [0.2, 0.3, 0.4]}
    grids: none: self_bias of 0: slope: found 3 numbers; write one, those of the first and the last
grids none world: {model_prompts: [5, 1300]}
    grids: none: self_bias of 0: model_prompts: found [5.0, 1300.0], with
world noise: [0.1]
    world: noise: should have at least 2 entries, found [0.1]
world noise: [0.1, 0]
    world: noise: 1: should be above 0, found 0
world levels: 1
    world: levels: should be at least 2, found 1
world slope: steep
    world: slope: should be a number or a list, found 'steep'
"""


@pytest.mark.parametrize(("setting", "message"), cases(WRONG))
def test_wrong_setting_is_named(setting, message):
    path, _, value = setting.partition(": ")
    settings = copy.deepcopy(SETTINGS)
    *parents, last = path.split()
    place = settings
    for key in parents:
        place = place[key]
    place[last] = yaml.safe_load(value)
    with pytest.raises(ConfigError) as raised:
        check_montecarlo(settings)
    assert str(raised.value).startswith(f"montecarlo.yaml: {message}")
