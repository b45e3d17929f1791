"""Verdicts on answers that are right or wrong by a key, with planted legitimate and harmful
self-preference.

The process, for question q, pair of models (m, n) and judge j. u_q and v_q, one of each for a
question, are uniform on [-1, 1]; "moved by u_q" is p + difficulty min(p, 1 - p) u_q in place of a
probability p.

    key: the answer of m is right with probability accuracy_m, moved by u_q
    in both orders alike, with probability first, the judge chooses the answer shown first; else
    it decides by the answers:
        one right, one wrong: it chooses the wrong one, of m, with probability
            mistake_j, moved by v_q, + convincing_m
            + struggle_j if it answered the question wrong itself
            + harmful_j if the wrong answer is its own
            - legitimate_j if the right answer is its own
        both right: its own with probability 1/2 + legitimate_j, others' with 1/2
        both wrong: its own with probability 1/2 + harmful_j, others' with 1/2

An inaccurate judge (mistake), one that cannot judge what it cannot answer (struggle), and a model
whose wrong answers deceive everyone (convincing) look like self-preference to simple comparisons,
and are none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from recuse.base.errors import ConfigError
from recuse.data.verdicts import ORDERS
from recuse.inference.gold import BOTH_RIGHT, BOTH_WRONG, HARMFUL, LEGITIMATE
from recuse.simulate.pairwise import ROUNDING, ComparisonWorld, moved
from recuse.simulate.votes import A, B, join, named, pair_columns


@dataclass(frozen=True, kw_only=True)
class KeyJudge:
    """A judge of answers with a key: probabilities, or what is added to them."""

    name: str
    mistake: float = 0.2
    struggle: float = 0.0
    legitimate: float = 0.0
    harmful: float = 0.0


@dataclass(frozen=True)
class KeyWorld:
    """Everything that verdicts on answers with a key are drawn from."""

    accuracy: Mapping[str, float]  # of each model
    judges: tuple[KeyJudge, ...]
    questions: int = ComparisonWorld.questions
    convincing: Mapping[str, float] = field(default_factory=dict)  # of a model's wrong answers
    first: float = 0.0
    difficulty: float = ComparisonWorld.difficulty

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in order."""
        return tuple(self.accuracy)


def declared_key_world(settings: Mapping) -> KeyWorld:
    """Return the world that a study's `simulate` with `accuracy` declares; ConfigError for what
    gives no probabilities.
    """
    judges = tuple(KeyJudge(name=name, **judge) for name, judge in settings["judges"].items())
    world = KeyWorld(**{**settings, "judges": judges})
    if len(world.models) < 2:
        problem = f"found {', '.join(world.models)}; write two models or more"
        raise ConfigError.at(["accuracy"], problem, place="simulate")
    deceiving = [world.convincing.get(name, 0.0) for name in world.models]
    for judge in judges:
        harmful, legitimate = judge.harmful, judge.legitimate
        most = moved(world.difficulty, judge.mistake, 1) + max(deceiving) + judge.struggle
        least = moved(world.difficulty, judge.mistake, -1) + min(deceiving)
        highest = most + max(harmful, -legitimate, 0.0)
        lowest = least - max(legitimate, -harmful, 0.0)
        if lowest < -ROUNDING or highest > 1 + ROUNDING or max(harmful, legitimate) > 0.5:
            problem = (
                f"it would choose wrong answers with probabilities from {lowest:.3g} to"
                f" {highest:.3g}; write another mistake, struggle, legitimate or harmful, so that"
                " they are from 0 to 1"
            )
            raise ConfigError.at(["judges", judge.name], problem, place="simulate")
    return world


def simulate_keyed(world: KeyWorld, *, seed: int) -> dict[str, np.ndarray]:
    """Draw verdicts from `world`, columns as in COMPARISONS; the same seed gives the same ones."""
    for_key, *for_judges = np.random.SeedSequence(seed).spawn(1 + len(world.judges))
    generator = np.random.default_rng(for_key)
    u, v = generator.uniform(-1, 1, (2, world.questions, 1))
    accuracy = np.array([*world.accuracy.values()])
    chance = moved(world.difficulty, accuracy, u)
    right = generator.random((world.questions, len(accuracy))) < chance
    pair = np.array(list(combinations(range(len(world.models)), 2)))  # (pairs, 2)
    parts = []
    for judge, stream in zip(world.judges, for_judges, strict=True):
        generator = np.random.default_rng(stream)
        # 1: model_b
        chosen = generator.random((world.questions, len(pair))) >= _first_wins(
            world, judge, right, pair, v
        )
        by_place = generator.random(chosen.shape) < world.first
        # (questions, pairs, orders)
        outcome = np.where(by_place[..., None], [A, B], chosen[..., None].astype(int))
        marks = {
            f"right_{side}": named(
                ("false", "true"), np.repeat(right[:, pair[:, column]], len(ORDERS)).astype(int)
            )
            for side, column in (("a", A), ("b", B))
        }
        columns = pair_columns(judge.name, world.models, pair, outcome)
        parts.append(columns | {"experiment": "", "condition": "", **marks})
    return join(parts)


def _first_wins(
    world: KeyWorld, judge: KeyJudge, right: np.ndarray, pair: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """Probabilities (questions, pairs) that a judge that decides by the answers chooses that of
    model_a.
    """
    own = world.models.index(judge.name) if judge.name in world.models else -1
    # (pairs, 2)
    deceiving = np.array([world.convincing.get(name, 0.0) for name in world.models])[pair]
    of_own, marks = pair == own, right[:, pair]  # (pairs, 2), (questions, pairs, 2)
    mistake = moved(world.difficulty, judge.mistake, v)
    if own >= 0:
        mistake = mistake + judge.struggle * ~right[:, [own]]
    # What is added to the probability of the answer of each side, if it is the judge's own.
    favour = np.where(of_own, np.where(marks, judge.legitimate, judge.harmful), 0.0)
    added = favour[..., A] - favour[..., B]
    wrong_a = ~marks[..., A] & marks[..., B]
    wrong_b = marks[..., A] & ~marks[..., B]
    base = np.where(
        wrong_a, mistake + deceiving[:, A], np.where(wrong_b, 1 - mistake - deceiving[:, B], 0.5)
    )
    return base + added


def planted_by_key(world: KeyWorld) -> list[dict]:
    """What is planted, rows of PAIRWISE_PLANTED: in each case (1 - first) times what is added for
    an own answer.

    That is the contrast with both baselines, other judges and other answers to the same questions,
    as all else cancels.
    """
    rows = []
    for judge in world.judges:
        if judge.name not in world.models:
            continue
        for quantity, value in (
            (LEGITIMATE, judge.legitimate),
            (HARMFUL, judge.harmful),
            (BOTH_RIGHT, judge.legitimate),
            (BOTH_WRONG, judge.harmful),
        ):
            planted = (1 - world.first) * value
            rows.append({"judge": judge.name, "quantity": quantity, "planted": planted})
    return rows
