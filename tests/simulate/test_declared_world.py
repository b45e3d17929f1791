"""A world that config declares: it plants what config says, and the specs recover it."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import yaml
from test_recovery import recovered_from

from conftest import built
from picked_rows import fields, keyed, where
from recuse.base.database import write_parquet
from recuse.base.errors import ConfigError
from recuse.data.files import RatingsFile
from recuse.data.ratings import StudyFiles
from recuse.data.registry import Registry
from recuse.model.spec import Spec
from recuse.simulate.ratings import planted, simulate
from recuse.simulate.world import declared_world
from text_tables import cases

FAMILIES = {
    "Claude v1.3": "Claude",
    "Claude v2": "Claude",
    "GPT-3.5 0613": "GPT",
    "GPT-4 0314": "GPT",
    "Command": "Cohere",
}
SCALES = {
    name: [1, 5]
    for name in ("Completeness", "Conciseness", "Harmlessness", "Helpfulness", "Understandability")
}
TYPES = {"open-ended qa": ["helm-instruct"]}
SETTINGS = yaml.safe_load("""
prompts: 160
quality: {GPT-4 0314: 0.85, GPT-3.5 0613: 0.8, Claude v1.3: 0.8, Command: 0.65}
judges:
  GPT-4 0314: {self_bias: 0.05}
  Claude v1.3: {self_bias: 0.04, slope: 0.5, intercept: 0.35}
family_bias: {GPT: 0.04}
""")


def declared(scales=SCALES, task_types=TYPES, seed=5, **changed):
    return declared_world(
        SETTINGS | changed, models=FAMILIES, scales=scales, task_types=task_types, seed=seed
    )


def coefficients(plan):
    """The planted values of the coefficients of Equation 1."""
    quantities = ("intercept", "slope", "self_bias", "family_bias")
    return {
        fields(row, "slice quantity term"): row["planted"]
        for row in plan
        if row["quantity"] in quantities
    }


@pytest.fixture(scope="module")
def ratings():
    return simulate(declared(), prompts=160, seed=3).ratings


def test_planted_is_what_config_says():
    """Intercept, slope and self-bias of two judges, and the one family with a second model."""
    expected = {
        ("intercept", "GPT-4 0314"): 0.4 * 0.775,
        ("intercept", "Claude v1.3"): 0.35,
        ("slope", "GPT-4 0314"): 0.6,
        ("slope", "Claude v1.3"): 0.5,
        ("self_bias", "GPT-4 0314"): 0.05,
        ("self_bias", "Claude v1.3"): 0.04,
        ("family_bias", "GPT"): 0.04,
    }
    alike = {(name, *key): value for name in SCALES for key, value in expected.items()}
    assert coefficients(planted(declared())) == pytest.approx(alike, abs=1e-12)


def test_judges_models_and_scale(ratings):
    # No lengths
    assert list(ratings) == ["judge", "model", "gt", "dataset", "prompt_id", "rating", "dimension"]
    assert ratings["rating"].size == 5 * 2 * 4 * 160
    assert set(ratings["judge"]) == {"GPT-4 0314", "Claude v1.3"}
    models = ["Claude v1.3", "GPT-3.5 0613", "GPT-4 0314", "Command"]
    assert list(dict.fromkeys(ratings["model"])) == models
    assert (ratings["rating"].min(), ratings["rating"].max()) == (1, 5)
    assert set(np.round((ratings["gt"] * 3) % 1, 2)) <= {0.0, 1.0}
    assert ratings["gt"].min() >= 1
    assert set(ratings["dataset"]) == {"helm-instruct"}
    means = pd.DataFrame(ratings).groupby("model")["gt"].mean().to_dict()
    expected = {model: 1 + 4 * quality for model, quality in SETTINGS["quality"].items()}
    assert means == pytest.approx(expected, abs=0.02)


def test_specs_recover_what_they_are_expected_to(ratings, tmp_path):
    rows = recovered(ratings, planted(declared()), tmp_path)
    of_dimension = {
        fields(r, "slice quantity term"): r["planted"] for r in rows if r["spec"] == "by_dimension"
    }
    assert of_dimension == pytest.approx(coefficients(planted(declared())), abs=1e-9)
    main = keyed(where(rows, spec="main"), "quantity term")
    assert len(main) == 3 * 2 + 1 + 4
    assert main["self_bias", "GPT-4 0314"]["planted"] == pytest.approx(0.05, abs=1e-9)
    assert main["slope", "GPT-4 0314"]["expected"] == pytest.approx(
        0.6 * declared().reliability[0], abs=0.03
    )
    # The humans' error makes the better of two models look less good than it is: a bias of more
    # than was planted.
    assert 0.052 < main["self_bias", "GPT-4 0314"]["expected"] < 0.08
    assert main["family_bias", "GPT"]["ci_low"] > 0
    assert main["dimension", "Helpfulness"]["planted"] is None
    assert max(abs(row["z"]) for row in rows) < 4


def test_preferences_are_expected_but_no_part_of_the_biases(tmp_path):
    """Each judge has a preference for each model, itself included."""
    world = declared(preference=0.03)
    plan = planted(world)
    assert coefficients(plan) == coefficients(planted(declared()))
    preferences = np.array(
        [row["planted"] for row in plan if row["quantity"] == "preference"]
    ).reshape(5, -1)
    assert np.ptp(preferences, axis=0).max() == 0  # alike in all dimensions
    assert 0.01 < preferences.std() < 0.06
    assert not np.array_equal(world.preference, declared(preference=0.03, seed=6).preference)
    rows = recovered(simulate(world, prompts=160, seed=3).ratings, plan, tmp_path)
    assert max(abs(row["z"]) for row in rows) < 4


def recovered(ratings, plan, folder):
    write_parquet(ratings, str(folder / "raw.parquet"))
    models = Registry.from_config({name: {"family": family} for name, family in FAMILIES.items()})
    types = {"helm-instruct": "open-ended qa"}
    study = built(
        folder,
        "helm",
        StudyFiles([RatingsFile(str(folder / "raw.parquet"))], SCALES, types, models),
    )
    return recovered_from(
        study, plan, [Spec.of("main"), Spec.of("by_dimension", slice="dimension")]
    )


def test_datasets_share_the_prompts():
    types = {"qa": ["a", "b"], "code": ["c"]}
    several = simulate(declared(task_types=types), prompts=12, seed=0).ratings
    assert Counter(several["dataset"]) == dict.fromkeys("abc", 5 * 2 * 4 * 4)
    assert set(simulate(declared(task_types={}), prompts=12, seed=0).ratings["dataset"]) == {
        "simulated"
    }


@pytest.mark.parametrize(
    ("changed", "message"),
    cases(
        r"""
{quality: {GPT-5: 0.5}}
    simulate: quality: 'GPT-5' is not one of the models of config; add it under .* family; known:
{judges: {Claude v2: {}}}
    simulate: judges: 'Claude v2' is not one of the models of `quality`; did you mean 'Claude v1.3'
{family_bias: {Claude: 0.1}}
    simulate: family_bias: 'Claude' is not one of .*; leave out any other family; known: GPT$
{judges: {GPT-4 0314: {self_bias: 0.2}}}
    judges: GPT-4 0314: expected ratings run from 0.310 to 1.110 .*choose
{judges: {Claude v1.3: {intercept: -0.1}}, family_bias: {}}
    judges: Claude v1.3: expected ratings run from -0.100 to 0.500
{preference: 0.3}
    judges: .*: expected ratings run from .*, biases and preferences from -.*choose
{scales: {Helpfulness: observed}}
    scales: Helpfulness: observed cannot be simulated; write \[lowest, highest\]
"""
    ),
)
def test_impossible_settings_are_refused(changed, message):
    with pytest.raises(ConfigError, match=message):
        declared(**yaml.safe_load(changed))
