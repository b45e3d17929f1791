"""Verdicts on pairs of answers drawn from worlds whose self- and family-biases are known, for size
and power.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import default_rng

from recuse.pairwise.davidson import Verdicts
from recuse.pairwise.regression import Compared


@dataclass(frozen=True, kw_only=True)
class PairWorld:
    """What verdicts are drawn from. Log odds: of a judge's choice between two answers, if it
    chooses.

    quality of an answer = strength of its model + question_sd N(0, 1); judge's log odds = its
    sensitivity times the difference of qualities + preferences (preference_sd N(0, 1) of each judge
    for each model, drawn anew in each replicate; a share `common` of its variance is the same for
    models of one family) + self_bias and family_bias + its position effect + length times x.
    Humans: log odds of the qualities alone, and of length_human times x; a share `flipped` of their
    labels is exchanged. Models 0 and 1, 2 and 3 ... are of one family; the first `judges` models
    judge.
    """

    judges: int = 6
    models: int = 8
    questions: int = 40
    strength_sd: float = 0.7
    question_sd: float = 0.0
    preference_sd: float = 0.0
    common: float = 0.0
    self_bias: float = 0.0
    family_bias: float = 0.0
    # Of the first and the last judge, others between
    sensitivities: tuple[float, float] = (1.0, 1.0)
    positions: tuple[float, float] = (0.0, 0.0)
    length: float = 0.0
    length_human: float = 0.0
    ties: float = 0.0  # nu
    flipped: float = 0.0
    both_orders: bool = False
    # Each answer against that of the last model alone, which is shown second
    baseline: bool = False
    alone: bool = False  # each model is a family of its own
    wordings: int = 1  # by each of which a judge is asked about each pair, in one random order
    wording_sd: float = 0.0  # of each judge's self_bias from wording to wording


def draw(world, seed):
    """Draw the verdicts of a world, and one human label for each pair of answers."""
    generator = default_rng(seed)
    models = [f"model {number}" for number in range(world.models)]
    family = np.arange(world.models) // (1 if world.alone else 2)
    of_judge = family[: world.judges]
    ranks = np.linspace(-1, 1, world.models)[generator.permutation(world.models)]
    size = (world.questions, world.models)
    answer = ranks * world.strength_sd * np.sqrt(3)
    answer = answer + world.question_sd * generator.standard_normal(size)
    shared = generator.standard_normal((world.judges, family.max() + 1))[:, family]
    single = generator.standard_normal((world.judges, world.models))
    bias = np.sqrt(world.common) * shared + np.sqrt(1 - world.common) * single
    is_self = np.eye(world.judges, world.models, dtype=bool)
    is_sibling = (of_judge[:, None] == family) & ~is_self
    bias = world.preference_sd * bias + world.self_bias * is_self + world.family_bias * is_sibling
    pairs = np.array([*combinations(range(world.models), 2)])
    if world.baseline:
        pairs = pairs[pairs[:, 1] == world.models - 1]
    length = generator.standard_normal(size) + np.linspace(-0.5, 0.5, world.models)
    length *= bool(world.length or world.length_human)
    places = np.indices((world.judges, world.questions, len(pairs))).reshape(3, -1)
    places = np.repeat(places, 2 if world.both_orders else 1, axis=1)
    wording = np.repeat(np.arange(world.wordings), len(places[0]))
    judge, item, pair = np.tile(places, world.wordings)
    first, second = pairs[pair].T
    sign = generator.choice([-1.0, 1.0], len(judge))
    if world.both_orders:
        sign = np.tile([1.0, -1.0], len(judge) // 2)
    if world.baseline:
        sign = np.ones(len(judge))
    x = np.tanh(length[item, first] - length[item, second])
    slope, position = (
        np.linspace(*ends, world.judges)[judge] for ends in (world.sensitivities, world.positions)
    )
    odds = slope * (answer[item, first] - answer[item, second])
    odds = odds + bias[judge, first] - bias[judge, second]
    if world.wordings > 1:
        by_wording = world.wording_sd * generator.standard_normal((world.wordings, world.judges))
        odds = odds + by_wording[wording, judge] * ((first == judge) * 1.0 - (second == judge))
    outcome = _chosen(odds + position * sign + world.length * x, world.ties, generator)
    of_item, of_pair = np.indices((world.questions, len(pairs))).reshape(2, -1)
    a, b = pairs[of_pair].T
    human_x = np.tanh(length[of_item, a] - length[of_item, b])
    odds = answer[of_item, a] - answer[of_item, b] + world.length_human * human_x
    label = _chosen(odds, world.ties, generator)
    is_flipped = (generator.random(len(label)) < world.flipped) & (label < 2)
    shared = {
        "models": models,
        "families": [f"family {number}" for number in range(family.max() + 1)],
        "family_of_model": family,
        "items": world.questions,
    }
    verdicts = Verdicts(
        models[: world.judges], family_of_judge=of_judge, judge=judge, first=first, second=second, sign=sign, outcome=outcome,
        item=item, x=x, **shared,
    )  # fmt: skip
    humans = Verdicts(
        ["Human"], family_of_judge=np.array([-1]), judge=0 * a, first=a, second=b,
        sign=np.ones(len(a)), outcome=np.where(is_flipped, 1 - label, label), item=of_item, x=human_x, **shared,
    )  # fmt: skip
    names = [f"wording {number}" for number in range(world.wordings)] if world.wordings > 1 else []
    return Compared(verdicts, np.ones(len(judge), dtype=bool), humans, {}, names, wording)


def _chosen(odds, ties, generator):
    weights = np.stack([np.exp(odds / 2), np.exp(-odds / 2), np.full(len(odds), ties)])
    ends = np.cumsum(weights / weights.sum(axis=0), axis=0)
    return (generator.random(len(odds)) > ends[:2]).sum(axis=0)
