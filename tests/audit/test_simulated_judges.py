"""The whole way from observations to verdicts on simulated judges whose effects are known.

With --long, 2,000 judges a world; otherwise enough to see a wrong formula, on the worlds of SHORT.
"""

import numpy as np
import pytest

from audit_worlds import BIASES, TREATMENTS, World
from recuse.audit.effects import effect_rows
from recuse.inference.verdict import FOUND

SETTINGS = {"confidence": 0.9, "seed": 1}
REPLICATES = 2000
FEW = 100
# World, latent effect, and the shares of judges between which the interval has to hold the truth
WORLDS = {
    "ratings": (World(prompts=100), 0.05, 0.88, 0.92),
    "no effect": (World(prompts=100, moved=0.0), 0.0, 0.88, 0.92),
    "ceiling": (World(prompts=100, level=0.9), 0.05, 0.88, 0.92),
    "nine of ten at the top": (World(prompts=100, level=1.15), -0.1, 0.88, 0.92),
    "nineteen of twenty at the top": (World(prompts=50, level=1.23), -0.1, 0.88, 0.95),
    "verdicts with ties": (World(prompts=100, steps=0, level=0.1, tie=0.15), 0.05, 0.88, 0.92),
    "few prompts": (World(prompts=12), 0.05, 0.88, 0.93),
    "failures": (World(prompts=100, failing=(0.15, 0.05)), 0.05, 0.88, 0.92),
    "wordings that differ": (World(prompts=60, wordings=2, by_wording=0.1), 0.05, 0.88, 0.92),
    "wordings alike": (World(prompts=60, wordings=2), 0.05, 0.88, 0.92),
    "writers that differ": (
        World(prompts=60, writers=4, by_writer=0.1, moved=0.0, noise=0.02, steps=1000),
        0.05,
        0.88,
        0.92,
    ),
    "writers": (World(prompts=60, writers=4, by_writer=0.05), 0.05, 0.88, 0.92),
    "writers alike": (World(prompts=60, writers=4), 0.05, 0.88, 0.92),
    "three writers": (World(prompts=60, writers=3, by_writer=0.05), 0.05, 0.88, 0.92),
    "two writers": (World(prompts=60, writers=2, by_writer=0.05), 0.05, 0.87, 0.95),
}

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
    world, effect, least, most = WORLDS[name]
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
    for world in (World(), World(steps=0, level=0.0), World(prompts=300, writers=3)):
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
        World(prompts=30, moved=0.0),
        World(prompts=30, moved=0.0, level=0.95),
        World(prompts=30, moved=0.0, steps=0, level=0.0),
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
