"""The whole way from observations to verdicts on simulated judges whose effects are known.

With --long, 2,000 judges a world; otherwise enough to see a wrong formula, on the worlds of SHORT.
"""

import numpy as np
import pytest
import yaml

from audit_worlds import BIASES, TREATMENTS, World
from recuse.audit.effects import effect_rows
from recuse.inference.verdict import FOUND

SETTINGS = {"confidence": 0.9, "seed": 1}
REPLICATES = 2000
FEW = 100
# Of each world: what differs from the usual one, the latent effect and the shares of judges between
# which the interval has to hold the truth, if they differ from USUAL
WORLDS = yaml.safe_load("""
ratings: {}
no effect: {moved: 0.0, effect: 0.0}
ceiling: {level: 0.9}
nine of ten at the top: {level: 1.15, effect: -0.1}
nineteen of twenty at the top: {prompts: 50, level: 1.23, effect: -0.1, most: 0.95}
verdicts with ties: {steps: 0, level: 0.1, tie: 0.15}
few prompts: {prompts: 12, most: 0.93}
failures: {failing: [0.15, 0.05]}
wordings that differ: {prompts: 60, wordings: 2, by_wording: 0.1}
wordings alike: {prompts: 60, wordings: 2}
writers that differ: {prompts: 60, writers: 4, by_writer: 0.1, moved: 0.0, noise: 0.02, steps: 1000}
writers: {prompts: 60, writers: 4, by_writer: 0.05}
writers alike: {prompts: 60, writers: 4}
three writers: {prompts: 60, writers: 3, by_writer: 0.05}
two writers: {prompts: 60, writers: 2, by_writer: 0.05, least: 0.87, most: 0.95}
""")
USUAL = {"prompts": 100, "effect": 0.05, "least": 0.88, "most": 0.92}

SHORT = {
    "ratings",
    "nineteen of twenty at the top",
    "verdicts with ties",
    "failures",
    "wordings that differ",
    "writers that differ",
    "two writers",
}


@pytest.fixture(scope="module")
def replicates(long):
    return REPLICATES if long else FEW


def label_rows(world, effect, replicates):
    rng = np.random.default_rng(42)
    for _ in range(replicates):
        observations = world.observations(rng, {"label": effect})
        yield next(effect_rows(observations, TREATMENTS[:1], **SETTINGS))


@pytest.mark.parametrize(
    "name",
    [name if name in SHORT else pytest.param(name, marks=pytest.mark.long) for name in WORLDS],
)
def test_intervals_hold_the_truth_as_often_as_they_say(name, replicates, record_property):
    dials = USUAL | WORLDS[name]
    effect, least, most = (dials.pop(key) for key in ("effect", "least", "most"))
    world = World(**dials)
    truth = world.truth(effect) if effect else 0.0
    held = 0
    for row in label_rows(world, effect, replicates):
        held += row["ci_low"] <= truth <= row["ci_high"]
    record_property("coverage", held / replicates)
    print(name, truth, held / replicates)
    error = 0.0 if replicates == REPLICATES else 3 * np.sqrt(0.09 / replicates)
    assert least - error <= held / replicates <= most + error


def test_every_planted_effect_is_recovered():
    effects = dict(zip(BIASES, np.linspace(-0.15, 0.15, len(BIASES)), strict=True))
    for world in (World(prompts=200), World(steps=0, level=0.0), World(prompts=300, writers=3)):
        rows = world.observations(np.random.default_rng(7), effects)
        for row in effect_rows(rows, TREATMENTS, **SETTINGS):
            if "verdict" in row:
                truth = world.truth(effects[row["treatment"]])
                assert abs(row["estimate"] - truth) < 4 * row["standard_error"], row["treatment"]
                if abs(truth) > 0.08 and row["df"] > 10:
                    assert row["verdict"] == "established"
                    assert row["favours"] == ("yes" if truth > 0 else "no")


def false_alarms(world, replicates, judges):
    """Shares of judges and of cards on which some effect is found, where there is none."""
    rng = np.random.default_rng(11)
    none = dict.fromkeys(BIASES, 0.0)
    by_judge = []
    for _ in range(replicates):
        observations = world.observations(rng, none)
        table = effect_rows(observations, TREATMENTS, **SETTINGS)
        by_judge.append(any(row["verdict"] in FOUND for row in table))
    by_card = np.reshape(by_judge, (-1, judges)).any(axis=1)
    return np.mean(by_judge), np.mean(by_card)


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(World(prompts=30, moved=0.0), marks=pytest.mark.long),
        World(prompts=30, moved=0.0, level=0.95),
        pytest.param(World(prompts=30, moved=0.0, steps=0, level=0.0), marks=pytest.mark.long),
    ],
    ids=["ratings", "ceiling", "verdicts"],
)
def test_few_rows_of_a_card_without_effects_have_a_finding(world, replicates):
    """At most 12 % of judges with ten treatments; of cards of four judges about three times as
    many.
    """
    of_judges, of_cards = false_alarms(world, replicates, judges=4)
    print(of_judges, of_cards)
    error = 0.0 if replicates == REPLICATES else 3 * np.sqrt(0.11 / replicates)
    assert of_judges <= 0.12 + error
    assert of_cards <= 1 - (1 - 0.12) ** 4 + 2 * error
