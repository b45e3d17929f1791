"""Comparisons drawn from a world whose population value of every statistic is known.

The process, for question q, pair of models (a, b) and judge j. u_q and v_q, one of each for a
question, are uniform on [-1, 1]; "moved by u_q" is p + difficulty min(p, 1 - p) u_q in place of a
probability p.

    lengths: log-normal, independent, rounded up to words; which answer is longer is determined
    before that human label: a tie with probability human_tie, else the longer answer with
    probability human_longer condition `order`: with probability first (second, tie), all moved by
    v_q in proportion, the judge chooses the answer shown
        first (second; calls a tie) in both orders. Else it decides by the answers, in both orders
        alike: on a pair with its own answer for that one with probability own, moved by u_q; on
        others against the humans with probability error_shorter where they prefer the shorter
        answer, error_longer where the longer, moved by u_q; for either, where they call a tie
    condition `compassion`: the same with other habits
    conditions `bandwagon`, `attentional`: a false statement speaks for one of the answers, by a
    fair coin, in both orders. With
        the judge's probability, moved by v_q, it follows in both; else its places decide as under
        `order`, or else the answers, for the other one
    every verdict is an error with probability invalid
    perturbations: votes as in `recuse.simulate.votes`

u_q and v_q are independent with mean 0, and which answer is longer is chance, so the population
values are as simple as in `planted_biases`. They make comparisons of one question alike, so an
interval that assumes independent comparisons is too narrow. Only `order` has human labels and
lengths.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.random import Generator

from recuse.base.errors import ConfigError
from recuse.data.verdicts import OUTCOMES, WORSENING
from recuse.simulate.votes import (
    CONTROL_PERTURBED,
    CONTROL_TIE,
    ERROR,
    TIE,
    A,
    Attacked,
    B,
    Samples,
    VotePart,
    draw_votes,
    join,
    lengths,
    named,
    pair_columns,
    planted_success,
)

COBBLER = "cobbler"  # the experiment of the conditions below
ORDER, COMPASSION, BANDWAGON, ATTENTIONAL = "order", "compassion", "bandwagon", "attentional"
ATTACKS = "perturbations"  # the experiment of the attacks, on pairs of answers by ANSWERS
ANSWERS = ("answer 1", "answer 2")
# Of the votes on a sample: two of the three in each order, so that the third decides
MOST_BY_PLACE = 2 / 3
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How a judge treats a comparison shown in both orders; the rest is decided by the answers, in
    both orders alike.
    """

    first: float = 0.0  # share of comparisons where it chooses the first answer both times
    second: float = 0.0
    tie: float = 0.0  # where it calls a tie both times
    own: float = 0.5  # probability of its own answer, of the comparisons decided by the answers

    @property
    def decided(self) -> float:
        """Share of comparisons that the answers decide."""
        return 1.0 - self.first - self.second - self.tie


@dataclass(frozen=True, kw_only=True)
class SimulatedJudge(Habits):
    """A judge of a world, its habits with hidden names of the systems: each bias is a share or a
    probability.
    """

    name: str
    # The habits that change when real names are shown
    compassion: Mapping[str, float] = field(default_factory=dict)
    # Probability to decide against a human who prefers the shorter of two others' answers
    error_shorter: float = 0.2
    error_longer: float = 0.2
    # Share of comparisons where it follows the false majority in both passes
    bandwagon: float = 0.25
    attentional: float = 0.25  # share of those where it follows an irrelevant sentence
    invalid: float = 0.0  # share of verdicts that are errors
    attacks: Mapping[str, float] = field(default_factory=dict)  # success rate by perturbation
    control_tie: float = CONTROL_TIE  # `tie`, `second`, `by_first` and `by_second` of `Attacked`
    control_perturbed: float = CONTROL_PERTURBED
    votes_first: float = 0.0
    votes_second: float = 0.0

    @property
    def shown(self) -> Habits:
        """Its habits when real names are shown."""
        hidden = {name: getattr(self, name) for name in ("first", "second", "tie", "own")}
        return Habits(**(hidden | self.compassion))


@dataclass(frozen=True)
class ComparisonWorld:
    """Everything that simulated comparisons are drawn from."""

    models: tuple[str, ...]
    judges: tuple[SimulatedJudge, ...]
    questions: int = 80
    human_tie: float = 0.15  # share of pairs that the humans call a tie
    human_longer: float = 0.6  # share of the others where they prefer the longer answer
    # How far questions move a probability p from its mean, as a share of min(p, 1 - p)
    difficulty: float = 0.5
    worsening: tuple[str, ...] = WORSENING  # perturbations that a judge should reject


def declared_comparisons(
    settings: Mapping, *, worsening: Collection[str] = WORSENING
) -> ComparisonWorld:
    """Return the world that a study's `simulate` declares.

    settings: `models`; any numbers of `ComparisonWorld`; `judges`, by name, each with any fields of
    `SimulatedJudge`. A judge that is one of the models meets its own answers. worsening: the
    perturbations that make an answer worse.

    ConfigError, naming the judge and the keys, for shares that sum to too much, and for fewer than
    two models, or one twice.
    """
    models = tuple(settings["models"])
    if len(models) < 2 or len(set(models)) < len(models):
        problem = f"found {', '.join(models)}; write two names or more, each once"
        raise ConfigError.at(["models"], problem, place="simulate")
    judges = tuple(SimulatedJudge(name=name, **judge) for name, judge in settings["judges"].items())
    for judge in judges:
        place = ["judges", judge.name]
        for most, where, habits, keys in (
            (1.0, place, judge, ("first", "second", "tie")),
            (1.0, [*place, "compassion"], judge.shown, ("first", "second", "tie")),
            (1.0, place, judge, ("control_tie", "control_perturbed")),
            (MOST_BY_PLACE, place, judge, ("votes_first", "votes_second", "invalid")),
        ):
            total = sum(getattr(habits, key) for key in keys)
            if total > most + ROUNDING:
                problem = (
                    f"{' + '.join(keys)}: found {total:.4g}; write shares that sum to {most:.3g} at"
                    " most"
                )
                raise ConfigError.at(where, problem, place="simulate")
    return ComparisonWorld(
        **{**settings, "models": models, "judges": judges}, worsening=tuple(worsening)
    )


def moved(difficulty: float, probability: np.ndarray | float, by: np.ndarray) -> np.ndarray:
    """Probabilities that a question makes larger or smaller, with the given mean; by: its u or
    v.
    """
    return probability + difficulty * np.minimum(probability, 1 - probability) * by


class Questions:
    """What all judges are shown: answers of each model to each question, their lengths, and the
    human labels.
    """

    def __init__(self, world: ComparisonWorld, generator: Generator):
        """Draw them for the questions of `world`."""
        self.world = world
        # (pairs, 2) places in models
        self.pair = np.array(list(combinations(range(len(world.models)), 2)))
        self.shape = (world.questions, len(self.pair))
        # (questions, pairs, 2)
        length = lengths(generator, (world.questions, len(world.models)))[:, self.pair]
        self.words = np.ceil(length).astype(int)
        self.longer = np.argmax(length, axis=-1)  # (questions, pairs): A or B
        prefers_longer = generator.random(self.shape) < world.human_longer
        label = np.where(prefers_longer, self.longer, 1 - self.longer)
        # (questions, pairs)
        self.human = np.where(generator.random(self.shape) < world.human_tie, TIE, label)
        self.u, self.v = generator.uniform(-1, 1, (2, world.questions, 1))

    def rows(
        self,
        judge: SimulatedJudge,
        condition: str,
        outcome: np.ndarray,
        generator: Generator,
    ) -> VotePart:
        """Columns of COMPARISONS for outcomes (questions, pairs, orders), some of which become
        errors.
        """
        outcome = np.where(generator.random(outcome.shape) < judge.invalid, ERROR, outcome)
        columns = pair_columns(judge.name, self.world.models, self.pair, outcome)
        columns |= {"experiment": COBBLER, "condition": condition}
        if condition == ORDER:
            columns |= {
                "human": named(OUTCOMES, np.repeat(self.human, 2)),
                "length_a": np.repeat(self.words[..., A], 2),
                "length_b": np.repeat(self.words[..., B], 2),
            }
        return columns


def simulate_comparisons(world: ComparisonWorld, *, seed: int) -> dict[str, np.ndarray]:
    """Draw comparisons from `world`, columns as in COMPARISONS; the same seed gives the same
    ones.
    """
    for_questions, for_attacks, *for_judges = np.random.SeedSequence(seed).spawn(
        2 + len(world.judges)
    )
    questions = Questions(world, np.random.default_rng(for_questions))
    parts = [
        part
        for judge, stream in zip(world.judges, for_judges, strict=True)
        for part in _verdicts(questions, judge, stream)
    ]
    attacked = {
        judge.name: Attacked(
            judge.attacks,
            tie=judge.control_tie,
            second=judge.control_perturbed,
            by_first=judge.votes_first,
            by_second=judge.votes_second,
            invalid=judge.invalid,
        )
        for judge in world.judges
        if judge.attacks
    }
    parts += draw_votes(
        Samples(ATTACKS, *ANSWERS, world.questions, attacked, world.worsening), for_attacks
    )
    return join(parts)


def _verdicts(
    questions: Questions, judge: SimulatedJudge, stream: np.random.SeedSequence
) -> Iterator[VotePart]:
    for_order, for_compassion, for_bandwagon, for_attentional = map(
        np.random.default_rng, stream.spawn(4)
    )
    for condition, habits, generator in (
        (ORDER, judge, for_order),
        (COMPASSION, judge.shown, for_compassion),
    ):
        yield questions.rows(
            judge, condition, _decided(questions, judge, habits, generator), generator
        )
    for condition, share, generator in (
        (BANDWAGON, judge.bandwagon, for_bandwagon),
        (ATTENTIONAL, judge.attentional, for_attentional),
    ):
        favoured = generator.integers(2, size=questions.shape)
        both = generator.random(questions.shape) < moved(
            questions.world.difficulty, share, questions.v
        )
        outcome = np.where(
            both[..., None], favoured[..., None], _placed(questions, judge, 1 - favoured, generator)
        )
        yield questions.rows(judge, condition, outcome, generator) | {
            "favoured": named(OUTCOMES, np.repeat(favoured, 2))
        }


def _decided(
    questions: Questions, judge: SimulatedJudge, habits: Habits, generator: Generator
) -> np.ndarray:
    """Outcomes (questions, pairs, orders) by the places of the answers, or by the answers."""
    shape = questions.shape
    models = questions.world.models
    u = questions.u
    human = questions.human
    error = np.where(human == questions.longer, judge.error_longer, judge.error_shorter)
    errs = generator.random(shape) < moved(questions.world.difficulty, error, u)
    choice = np.where(
        human == TIE, generator.integers(2, size=shape), np.where(errs, 1 - human, human)
    )
    if judge.name in models:
        is_own = questions.pair == models.index(judge.name)  # (pairs, 2)
        own = np.argmax(is_own, axis=1)
        picks_own = generator.random(shape) < moved(questions.world.difficulty, habits.own, u)
        choice = np.where(is_own.any(axis=1), np.where(picks_own, own, 1 - own), choice)
    return _placed(questions, habits, choice, generator)


def _placed(
    questions: Questions, habits: Habits, choice: np.ndarray, generator: Generator
) -> np.ndarray:
    """Outcomes (questions, pairs, orders) by the places of the answers, or else the `choice`
    (questions, pairs) in both.
    """
    shares = np.array([habits.first, habits.second, habits.tie])
    by_place = generator.random(questions.shape) < moved(
        questions.world.difficulty, shares.sum(), questions.v
    )
    kind = np.searchsorted(
        np.cumsum(shares)[:-1], shares.sum() * generator.random(questions.shape), side="right"
    )
    outcome = np.array([[A, B], [B, A], [TIE, TIE]])[kind]  # (questions, pairs, orders)
    return np.where(by_place[..., None], outcome, choice[..., None])


def planted_biases(world: ComparisonWorld) -> list[dict]:
    """Return what is planted in comparisons from a world: rows of PAIRWISE_PLANTED.

    With the habits first f, second s, tie t, decided c = 1 - f - s - t; v = (1 - invalid)^2, the
    share of comparisons with two valid verdicts; w = 2 / models, the share of pairs with the
    judge's own answer (0 for a judge that wrote none):

        D = (1 - w) (error_shorter - error_longer), since on its own pairs a judge errs as often
            whichever answer is longer
        verbosity_bias = D, debiased with draws excluded;
            c D / (1 - t), other order rules with draws excluded, since a judge that chooses one
            place in both orders is right once;
            c D, draws as disagreement or as half of one, under every order rule
        consistency = c + t
        first_preference = (f + c / 2) / (1 - t)
        first_both = f, second_both = s
        order_first = f v, order_last = s v, egocentric_order = c own v
        compassion_first, compassion_last, egocentric_comp: the same, with the habits of
            `compassion`
        bandwagon, attentional = their share x v
        salience = (1 - w) L + w / 2
        L = human_tie / 2 + (1 - human_tie) A, the probability that the judge picks the longer of
            two answers by others
        A = human_longer (1 - error_longer) + (1 - human_longer) error_shorter
        self_bias = c (own - 1/2), since humans choose either answer as often
        longer = (1 - w) L' + w / 2 - human_longer, with L' as L without ties
        asr = success, of each perturbation
    """
    return [row for judge in world.judges for row in _of_judge(world, judge)]


def _of_judge(world: ComparisonWorld, judge: SimulatedJudge) -> Iterator[dict]:
    valid = (1 - judge.invalid) ** 2
    # Share of the pairs that hold the judge's own answer
    own = 2 / len(world.models) if judge.name in world.models else 0.0
    # It may prefer the first, the last and, if that is there, its own answer.
    answers = 3 if own else 2
    agreeing = (
        world.human_longer * (1 - judge.error_longer)
        + (1 - world.human_longer) * judge.error_shorter
    )
    longer = world.human_tie / 2 + (1 - world.human_tie) * agreeing
    quantities = {
        ORDER: {
            **_verbosity(judge, (1 - own) * (judge.error_shorter - judge.error_longer)),
            **_position(judge, ("order_first", "order_last", "egocentric_order")[:answers], valid),
            "salience": (1 - own) * longer + own / 2,
            **({"self_bias": judge.decided * (judge.own - 0.5)} if own else {}),
            "longer": (1 - own) * agreeing + own / 2 - world.human_longer,
        },
        COMPASSION: _position(
            judge.shown, ("compassion_first", "compassion_last", "egocentric_comp")[:answers], valid
        ),
        BANDWAGON: {BANDWAGON: judge.bandwagon * valid},
        ATTENTIONAL: {ATTENTIONAL: judge.attentional * valid},
    }
    for condition, values in quantities.items():
        key = {"experiment": COBBLER, "condition": condition, "judge": judge.name}
        for quantity, planted in values.items():
            yield {**key, "quantity": quantity, "planted": planted}
    for condition, success in judge.attacks.items():
        yield planted_success(ATTACKS, condition, judge.name, ANSWERS[1], success)


def _verbosity(habits: Habits, bias: float) -> dict[str, float]:
    """bias: that of the comparisons that the answers decide."""
    one_order = habits.decided / (1 - habits.tie) if habits.tie < 1 else 0.0
    values = {}
    for order in ("debiased", "ab", "ba", "pooled"):
        excluded = 1.0 if order == "debiased" else one_order
        values[f"verbosity_bias {order} excluded"] = excluded * bias
        for draws in ("disagreement", "half"):
            values[f"verbosity_bias {order} {draws}"] = habits.decided * bias
    return values


def _position(habits: Habits, names: Sequence[str], valid: float) -> dict[str, float]:
    """Statistics of position, then, by name, the shares that choose the first place, the last, and
    an own answer, if that is named.
    """
    values = {"consistency": habits.decided + habits.tie}
    if habits.tie < 1:
        values["first_preference"] = (habits.first + habits.decided / 2) / (1 - habits.tie)
    values |= {"first_both": habits.first, "second_both": habits.second}
    shares = habits.first, habits.second, habits.decided * habits.own
    return values | {name: share * valid for name, share in zip(names, shares, strict=False)}
