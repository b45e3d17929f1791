"""Comparisons drawn from a world whose population value of every statistic is known.

The process, for question q, pair of models (a, b) and judge j. u_q and v_q, one each for a question, are uniform on [-1, 1];
"moved by u_q" is p + difficulty min(p, 1 - p) u_q in the place of a probability p.

    lengths: log-normal, independent, rounded up to words; which answer is the longer is told before that
    human label: a tie with probability human_tie, else the longer answer with probability human_longer
    condition `order`: with probability first (second, tie), all moved by v_q in proportion, the judge chooses the answer shown
        first (second; calls a tie) in both orders. Else it decides by the answers, in both orders alike: on a pair with its own
        answer for that one with probability own, moved by u_q; on others against the humans with probability error_shorter
        where they prefer the shorter answer, error_longer where the longer, moved by u_q; for either, where they call a tie
    condition `compassion`: the same with other habits
    conditions `bandwagon`, `attentional`: a statement speaks for one of the answers, by a fair coin, the same in both orders.
        With the judge's probability, moved by v_q, it follows in both; else, equally often, in one order, the other, or neither
    every verdict is an error with probability invalid

u_q and v_q have mean 0 and are independent, and one answer is longer than another only by chance: so the population values
are as simple as in `recuse.simulate.pairwise`. They make comparisons of one question alike, so that an interval that
takes comparisons for independent is too narrow. Only `order` carries human labels and lengths.

What simulated comparisons are drawn from: judges with known biases, as config declares them.

Votes on pairs of answers before and after an attack, with known attack success rates.

The process, for judge j and sample q, of Chen et al., sections 4.4 and 4.5:

    preference before the attack: a tie with probability tie, the second answer with probability second, else the first
    an attack that should make the second answer look better: unless that is preferred already, it is afterwards with
        probability success, and else the preference stays
    an attack that makes the second answer worse: unless the first is preferred already, the preference stays with probability
        success, and else is the first answer afterwards
    six votes, three in each order, in three pairs of one vote in each: a pair is by place (both choose the place shown first,
        or second, or call a tie), or an error, else both votes are the preference, as those of the third pair always are

A pair by place adds as much to one answer as to the other, so that the mean of the votes is on the side of the preference with
certainty, and 0.5 for a tie. Samples are independent, so the population attack success rate is `success` itself.

Votes for the judges of Chen et al., Humans or LLMs as the Judge?, with the printed attack success rates planted.

The paper's votes are not released. These are drawn by `recuse.simulate.pairwise`: their population attack success rates are
those printed in Tables 1 to 4. What else the judges do is chosen to come near Tables 6 and 7, and is not planted.

The population value of every statistic of the comparisons that `recuse.simulate.pairwise` draws.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recuse.base.errors import ConfigError
from recuse.base.tables import COMPARISONS, CONTROL, ORDERS, OUTCOMES
from recuse.pairwise.attacks import WORSENING
from recuse.published.attacks import AUTHOR, MAIN, second_answer
from recuse.simulate.ratings import Coded, Column, join

QUESTIONS = 80
SHARES = {"human_tie": 0.15, "human_longer": 0.6, "difficulty": 0.5}  # of a world, where config gives none
ERRORS = {"error_shorter": 0.2, "error_longer": 0.2, "bandwagon": 0.25, "attentional": 0.25, "invalid": 0.0}  # of a judge
HABITS = {"first": 0.0, "second": 0.0, "tie": 0.0, "own": 0.5}
CONTROL_VOTES = {"control_tie": 0.2, "control_perturbed": 0.4}
BY_PLACE = {"votes_first": 0.0, "votes_second": 0.0}
MOST_BY_PLACE = 2 / 3  # of the votes on a sample: two of the three in each order, so that the third decides
ROUNDING = 1e-9


@dataclass(frozen=True)
class Habits:
    """How a judge treats a comparison shown in both orders, whatever the answers are: shares of comparisons.

    first, second: it chooses the answer in this place both times; tie: it calls a tie both times. What is left is decided by
    the answers, with one verdict in both orders. own: probability that it then picks its own answer from a pair that has one.
    """

    first: float
    second: float
    tie: float
    own: float

    @property
    def decided(self) -> float:
        """Share of comparisons that the answers decide."""
        return 1.0 - self.first - self.second - self.tie


@dataclass(frozen=True)
class Attacked:
    """How a judge votes on samples of two answers, the second of which each attack perturbs.

    success: attack success rate of each perturbation. tie, second: shares of the samples where it finds no difference, and
    where it prefers the second answer, before any attack. by_first, by_second, by_tie: shares of votes that choose a place, or
    call a tie, whatever the answers are. invalid: share of votes that are errors.
    """

    success: Mapping[str, float]
    tie: float
    second: float
    by_first: float = 0.0
    by_second: float = 0.0
    by_tie: float = 0.0
    invalid: float = 0.0

    @property
    def undecided(self) -> float:
        """Share of votes that say nothing of the answers."""
        return self.by_first + self.by_second + self.by_tie + self.invalid


@dataclass(frozen=True)
class Judge:
    """A judge of a world: each bias is a share or a probability."""

    name: str
    order: Habits  # names of the systems hidden
    compassion: Habits  # their real names shown
    error_shorter: float  # probability to decide against a human who prefers the shorter of two others' answers
    error_longer: float
    bandwagon: float  # share of comparisons where it follows the false majority in both passes
    attentional: float  # the same of an irrelevant sentence
    invalid: float  # share of verdicts that are errors
    attacked: Attacked


@dataclass(frozen=True)
class ComparisonWorld:
    """Everything that simulated comparisons are drawn from."""

    questions: int
    models: tuple[str, ...]
    judges: tuple[Judge, ...]
    human_tie: float  # share of pairs that the humans call a tie
    human_longer: float  # share of the others where they prefer the longer answer
    difficulty: float  # how far questions move a probability p from its mean, as a share of min(p, 1 - p)
    worsening: tuple[str, ...]  # perturbations that a judge should turn from


def declared_comparisons(settings: Mapping, *, worsening: Collection[str] = WORSENING) -> ComparisonWorld:
    """Return the world that a study's `simulate` declares.

    settings: `models`, two names or more; `judges`, by name, each with any keys of ERRORS, HABITS, CONTROL_VOTES and BY_PLACE,
    `attacks` (success rate by perturbation) and `compassion` (those of HABITS that change when names are shown); `questions`
    and any of SHARES. What is not given is as written there. A judge that is one of the models meets its own answers.
    worsening: those of the perturbations that make an answer worse.

    Raises ConfigError, naming the judge and the keys, for shares that sum to too much, and for models that are not two or more.
    """
    models = tuple(settings["models"])
    if len(models) < 2 or len(set(models)) < len(models):
        raise ConfigError(f"simulate: models: found {', '.join(models)}; write two names or more, each once")
    judges = tuple(
        _judge(name, {**HABITS, **ERRORS, **CONTROL_VOTES, **BY_PLACE, **own}) for name, own in settings["judges"].items()
    )
    shares = {key: settings.get(key, default) for key, default in SHARES.items()}
    questions = settings.get("questions", QUESTIONS)
    return ComparisonWorld(questions=questions, models=models, judges=judges, **shares, worsening=tuple(worsening))


def _judge(name: str, settings: Mapping) -> Judge:
    hidden = {key: settings[key] for key in HABITS}
    shown = {**hidden, **settings.get("compassion", {})}
    for where, habits in ((name, hidden), (f"{name}: compassion", shown)):
        _at_most(1.0, where, {key: habits[key] for key in ("first", "second", "tie")})
    _at_most(1.0, name, {key: settings[key] for key in CONTROL_VOTES})
    _at_most(MOST_BY_PLACE, name, {key: settings[key] for key in (*BY_PLACE, "invalid")})
    attacked = Attacked(
        success=settings.get("attacks", {}),
        tie=settings["control_tie"],
        second=settings["control_perturbed"],
        by_first=settings["votes_first"],
        by_second=settings["votes_second"],
        invalid=settings["invalid"],
    )
    return Judge(
        name=name,
        order=Habits(**hidden),
        compassion=Habits(**shown),
        attacked=attacked,
        **{key: settings[key] for key in ERRORS},
    )


def _at_most(most: float, where: str, shares: Mapping[str, float]) -> None:
    total = sum(shares.values())
    if total > most + ROUNDING:
        keys = " + ".join(shares)
        raise ConfigError(f"simulate: judges: {where}: {keys}: found {total:.4g}; write shares that sum to {most:.3g} at most")


VOTES = 3  # in each order
A, B, TIE, ERROR = range(len(OUTCOMES))
MEDIAN_WORDS, LOG_SPREAD = 150, 0.5  # of an answer's length


@dataclass(frozen=True)
class Samples:
    """Pairs of answers, the first by model_a, the second by model_b, and how judges vote on them.

    worsening: the attacks that make the second answer worse.
    """

    experiment: str
    model_a: str
    model_b: str
    questions: int
    judges: Mapping[str, Attacked]
    worsening: Collection[str]


def draw_votes(
    samples: Samples, stream: np.random.SeedSequence, *, words_a: np.ndarray | None = None
) -> Iterator[dict[str, Column]]:
    """Yield the columns of COMPARISONS for each judge and condition; the same stream gives the same votes.

    words_a: lengths of the first answers, (questions,), where they stand in other samples, too.
    """
    for_lengths, *for_judges = (np.random.default_rng(child) for child in stream.spawn(1 + len(samples.judges)))
    drawn, words_b = words((2, samples.questions), for_lengths)
    words_a = drawn if words_a is None else words_a
    for (judge, attacked), generator in zip(samples.judges.items(), for_judges, strict=True):
        before = _choice_of_votes(
            generator, (1 - attacked.tie - attacked.second, attacked.second, attacked.tie), samples.questions
        )
        preferences = {CONTROL: before} | {
            condition: _after(before, generator.random(samples.questions) < success, worse=condition in samples.worsening)
            for condition, success in attacked.success.items()
        }
        for condition, preference in preferences.items():
            yield {
                "experiment": samples.experiment,
                "condition": condition,
                "judge": judge,
                "model_a": samples.model_a,
                "model_b": samples.model_b,
                "human": None,
                "favoured": None,
                "length_a": np.repeat(words_a, 2 * VOTES),
                # An attack changes the text, and its length is not simulated.
                "length_b": np.repeat(words_b, 2 * VOTES) if condition == CONTROL else np.array(-1),
                **_votes(preference, attacked, generator),
            }


def words(shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    """Lengths of answers in words."""
    return np.ceil(lengths(generator, shape)).astype(int)


def lengths(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Lengths of answers in words, before they are rounded up: log-normal."""
    return MEDIAN_WORDS * np.exp(LOG_SPREAD * generator.standard_normal(shape))


def item_names(questions: int) -> list[str]:
    """Names of questions that sort in their order."""
    digits = len(str(questions))
    return [f"Question {number:0{digits}}" for number in range(1, questions + 1)]


def _choice_of_votes(generator: np.random.Generator, shares: Sequence[float], size: int | tuple[int, ...]) -> np.ndarray:
    """Places in `shares`, drawn with these probabilities."""
    return np.searchsorted(np.cumsum(shares)[:-1], generator.random(size), side="right")


def _after(before: np.ndarray, succeeds: np.ndarray, *, worse: bool) -> np.ndarray:
    return np.where(succeeds, before, A) if worse else np.where(succeeds, B, before)


def _votes(preference: np.ndarray, attacked: Attacked, generator: np.random.Generator) -> dict[str, Column]:
    """Columns of the votes, (questions, votes, orders): as the preference says, or by place, or an error."""
    by = np.array([attacked.by_first, attacked.by_second, attacked.by_tie, attacked.invalid])
    first_pairs = min(VOTES / (VOTES - 1), 1 / max(attacked.undecided, 1e-12))  # as often as can be, to leave the last alone
    last_pair = VOTES - (VOTES - 1) * first_pairs  # 0 unless more votes are undecided than the others hold
    kind = np.stack(
        [
            _choice_of_votes(generator, [*(by * times), 1 - by.sum() * times], preference.size)
            for times in (*[first_pairs] * (VOTES - 1), last_pair)
        ],
        axis=1,
    )
    verdicts = np.array([[A, B], [B, A], [TIE, TIE], [ERROR, ERROR]])  # of each kind in each order
    by_preference = np.repeat(preference[:, None], VOTES, axis=1)[..., None]
    outcome = np.where((kind == len(verdicts))[..., None], by_preference, verdicts[np.minimum(kind, len(verdicts) - 1)])
    question, vote, order = np.indices(outcome.shape).reshape(3, -1)
    return {
        "item": (question, item_names(preference.size)),
        "order": (order, ORDERS),
        "outcome": (outcome.ravel(), OUTCOMES),
        "vote": vote + 1,
    }


COBBLER = "cobbler"  # the experiment of the conditions below
ORDER, COMPASSION, BANDWAGON, ATTENTIONAL = "order", "compassion", "bandwagon", "attentional"
ATTACKS = "perturbations"  # the experiment of the attacks, on pairs of answers by ANSWERS
ANSWERS = ("answer 1", "answer 2")
NONE = -1


class Questions:
    """What all judges meet: answers of each model to each question, their lengths, and the human labels."""

    def __init__(self, world: ComparisonWorld, generator: np.random.Generator):
        """Draw them for the questions of `world`."""
        self.world = world
        self.pair = np.array(list(combinations(range(len(world.models)), 2)))  # (pairs, 2) places in models
        self.shape = (world.questions, len(self.pair))
        length = lengths(generator, (world.questions, len(world.models)))[:, self.pair]  # (questions, pairs, 2)
        self.words = np.ceil(length).astype(int)
        self.longer = np.argmax(length, axis=-1)  # (questions, pairs): A or B
        prefers_longer = generator.random(self.shape) < world.human_longer
        label = np.where(prefers_longer, self.longer, 1 - self.longer)
        self.human = np.where(generator.random(self.shape) < world.human_tie, TIE, label)  # (questions, pairs)
        self.of_answers, self.of_places = generator.uniform(-1, 1, (2, world.questions, 1))  # u and v

    def moved(self, probability: np.ndarray | float, by: np.ndarray) -> np.ndarray:
        """Probabilities (questions, pairs) that a question makes larger or smaller, with the given mean."""
        return probability + self.world.difficulty * np.minimum(probability, 1 - np.asarray(probability)) * by

    def rows(self, judge: Judge, condition: str, outcome: np.ndarray, generator: np.random.Generator) -> dict[str, Column]:
        """Columns of COMPARISONS for outcomes (questions, pairs, orders), some of which become errors."""
        outcome = np.where(generator.random(outcome.shape) < judge.invalid, ERROR, outcome)
        question, pair, order = np.indices(outcome.shape).reshape(3, -1)
        labelled = condition == ORDER
        return {
            "experiment": COBBLER,
            "condition": condition,
            "judge": judge.name,
            "item": (question, item_names(self.world.questions)),
            "model_a": (self.pair[pair, A], self.world.models),
            "model_b": (self.pair[pair, B], self.world.models),
            "order": (order, ORDERS),
            "outcome": (outcome.ravel(), OUTCOMES),
            "human": (np.repeat(self.human, 2), OUTCOMES) if labelled else None,
            "length_a": np.repeat(self.words[..., A], 2) if labelled else np.array(NONE),
            "length_b": np.repeat(self.words[..., B], 2) if labelled else np.array(NONE),
            "favoured": None,
            "vote": np.array(1),
        }


def simulate_comparisons(world: ComparisonWorld, *, seed: int) -> Coded:
    """Draw comparisons from `world`, columns as in COMPARISONS; the same seed gives the same ones."""
    for_questions, for_attacks, *for_judges = np.random.SeedSequence(seed).spawn(2 + len(world.judges))
    questions = Questions(world, np.random.default_rng(for_questions))
    parts = [
        part for judge, stream in zip(world.judges, for_judges, strict=True) for part in _verdicts(questions, judge, stream)
    ]
    attacked = {judge.name: judge.attacked for judge in world.judges if judge.attacked.success}
    parts += draw_votes(Samples(ATTACKS, *ANSWERS, world.questions, attacked, world.worsening), for_attacks)
    return join(parts, COMPARISONS)


def _verdicts(questions: Questions, judge: Judge, stream: np.random.SeedSequence) -> Iterator[dict[str, Column]]:
    generators = iter([np.random.default_rng(child) for child in stream.spawn(4)])
    for condition, habits in ((ORDER, judge.order), (COMPASSION, judge.compassion)):
        generator = next(generators)
        yield questions.rows(judge, condition, _decided(questions, judge, habits, generator), generator)
    for condition, share in ((BANDWAGON, judge.bandwagon), (ATTENTIONAL, judge.attentional)):
        generator = next(generators)
        favoured = generator.integers(2, size=questions.shape)
        follows = _follows(questions, share, generator)
        outcome = np.where(follows, favoured[..., None], 1 - favoured[..., None])
        spoken_for = {"favoured": (np.repeat(favoured, 2), OUTCOMES)}
        yield questions.rows(judge, condition, outcome, generator) | spoken_for


def _decided(questions: Questions, judge: Judge, habits: Habits, generator: np.random.Generator) -> np.ndarray:
    """Outcomes (questions, pairs, orders) by the places of the answers, or by the answers."""
    shares = np.array([habits.first, habits.second, habits.tie])
    by_place = generator.random(questions.shape) < questions.moved(shares.sum(), questions.of_places)
    kind = np.searchsorted(np.cumsum(shares)[:-1], shares.sum() * generator.random(questions.shape), side="right")
    outcome = np.array([[A, B], [B, A], [TIE, TIE]])[kind]  # (questions, pairs, orders)
    choice = _choice(questions, judge, habits, generator)
    return np.where(by_place[..., None], outcome, choice[..., None])


def _choice(questions: Questions, judge: Judge, habits: Habits, generator: np.random.Generator) -> np.ndarray:
    """The answer (questions, pairs) that the judge takes to be better."""
    human, u = questions.human, questions.of_answers
    error = np.where(human == questions.longer, judge.error_longer, judge.error_shorter)
    errs = generator.random(questions.shape) < questions.moved(error, u)
    choice = np.where(human == TIE, generator.integers(2, size=questions.shape), np.where(errs, 1 - human, human))
    if judge.name not in questions.world.models:
        return choice
    is_own = questions.pair == questions.world.models.index(judge.name)  # (pairs, 2)
    own = np.argmax(is_own, axis=1)
    picks_own = generator.random(questions.shape) < questions.moved(habits.own, u)
    return np.where(is_own.any(axis=1), np.where(picks_own, own, 1 - own), choice)


def _follows(questions: Questions, share: float, generator: np.random.Generator) -> np.ndarray:
    """Whether the judge follows the statement, (questions, pairs, orders)."""
    both = generator.random(questions.shape) < questions.moved(share, questions.of_places)
    rest = np.array([[True, False], [False, True], [False, False]])[generator.integers(3, size=questions.shape)]
    return both[..., None] | rest


COMPASSION_NAMES = {"order_first": "compassion_first", "order_last": "compassion_last", "egocentric_order": "egocentric_comp"}


def planted_biases(world: ComparisonWorld) -> list[dict]:
    """Return the rows of PLANTED for a world.

    With the habits first f, second s, tie t, decided c = 1 - f - s - t; v = (1 - invalid)^2, the share of comparisons with two
    valid verdicts; w = 2 / models, the share of pairs with the judge's own answer (0 for a judge that wrote none):

        D = (1 - w) (error_shorter - error_longer): on its own pairs a judge errs as often whichever answer is longer
        verbosity_bias debiased excluded = D; every other order rule, draws excluded: c D / (1 - t), as a place chosen in both
        orders is right once; draws as disagreement or as half of one: c D under every order rule
        consistency = c + t, first_preference = (f + c / 2) / (1 - t), first_both = f, second_both = s
        order_first = f v, order_last = s v, egocentric_order = c own v; compassion_first, compassion_last and egocentric_comp
        the same with the habits of `compassion`; bandwagon = its share x v, attentional likewise
        salience = (1 - w) L + w / 2, where on others' answers the judge picks the longer one with probability
        L = human_tie / 2 + (1 - human_tie) (human_longer (1 - error_longer) + (1 - human_longer) error_shorter)
        asr = success, of each perturbation
    """
    return [row for judge in world.judges for row in _of_judge(world, judge)]


def _of_judge(world: ComparisonWorld, judge: Judge) -> Iterator[dict]:
    both_valid = (1 - judge.invalid) ** 2
    cognitive = _places(judge.order, judge.order.own if judge.name in world.models else None)
    of_order = {**_verbosity(world, judge), **_position(judge.order), **_times(cognitive, both_valid)}
    of_order["salience"] = _salience(world, judge)
    cognitive = _places(judge.compassion, judge.compassion.own if judge.name in world.models else None)
    shown = {COMPASSION_NAMES[name]: share for name, share in _times(cognitive, both_valid).items()}
    quantities = {
        ORDER: of_order,
        COMPASSION: {**_position(judge.compassion), **shown},
        BANDWAGON: {BANDWAGON: judge.bandwagon * both_valid},
        ATTENTIONAL: {ATTENTIONAL: judge.attentional * both_valid},
    }
    for condition, values in quantities.items():
        for quantity, planted in values.items():
            yield {
                "experiment": COBBLER, "condition": condition, "judge": judge.name, "quantity": quantity, "planted": planted
            }  # fmt: skip
    for condition, success in judge.attacked.success.items():
        yield planted_success(ATTACKS, condition, judge.name, ANSWERS[1], success)


def planted_success(experiment: str, condition: str, judge: str, model_b: str, success: float) -> dict:
    """The row of an attack success rate."""
    key = {"experiment": experiment, "condition": condition, "judge": judge, "model_b": model_b}
    return {**key, "quantity": "asr", "planted": success}


def own_pairs(world: ComparisonWorld, judge: Judge) -> float:
    """Share of the pairs of models that hold the judge's own answer."""
    return 2 / len(world.models) if judge.name in world.models else 0.0


def _verbosity(world: ComparisonWorld, judge: Judge) -> dict[str, float]:
    habits = judge.order
    decided = (1 - own_pairs(world, judge)) * (judge.error_shorter - judge.error_longer)
    values = {}
    for order in ("debiased", "ab", "ba", "pooled"):
        others = habits.decided / (1 - habits.tie) if habits.tie < 1 else 0.0
        values[f"verbosity_bias {order} excluded"] = decided if order == "debiased" else others * decided
        values[f"verbosity_bias {order} disagreement"] = habits.decided * decided
        values[f"verbosity_bias {order} half"] = habits.decided * decided
    return values


def _position(habits: Habits) -> dict[str, float]:
    first = {"first_preference": (habits.first + habits.decided / 2) / (1 - habits.tie)} if habits.tie < 1 else {}
    return {"consistency": habits.decided + habits.tie, **first, "first_both": habits.first, "second_both": habits.second}


def _places(habits: Habits, own: float | None) -> dict[str, float]:
    shares = {"order_first": habits.first, "order_last": habits.second}
    return shares if own is None else {**shares, "egocentric_order": habits.decided * own}


def _times(shares: dict[str, float], factor: float) -> dict[str, float]:
    return {name: share * factor for name, share in shares.items()}


def _salience(world: ComparisonWorld, judge: Judge) -> float:
    agreeing = world.human_longer * (1 - judge.error_longer) + (1 - world.human_longer) * judge.error_shorter
    on_others = world.human_tie / 2 + (1 - world.human_tie) * agreeing
    own = own_pairs(world, judge)
    return (1 - own) * on_others + own / 2


PUBLISHED_VOTES_QUESTIONS, SUBSET = 142, 60  # section 4.2; sections 5.3 and 6.1
Rows = Sequence[Mapping[str, str]]
Shares = Mapping[str, float]  # of votes, by quantity


def published_votes(rows: Rows, *, seed: int) -> tuple[Coded, list[dict]]:
    """Return votes, columns as in COMPARISONS, and what is planted in them, rows of PLANTED; rows: see `read_attacks`."""
    samples = published_samples(rows)
    *streams, for_anchors = np.random.SeedSequence(seed).spawn(len(samples) + 1)
    # Samples of one experiment have the same first answers.
    experiments = {members.experiment: members.questions for members in samples}
    anchors = {
        experiment: words((questions,), np.random.default_rng(child))
        for (experiment, questions), child in zip(experiments.items(), for_anchors.spawn(len(experiments)), strict=True)
    }
    parts = []
    for members, stream in zip(samples, streams, strict=True):
        parts += draw_votes(members, stream, words_a=anchors[members.experiment])
    planted = [
        planted_success(members.experiment, condition, judge, members.model_b, success)
        for members in samples
        for judge, attacked in members.judges.items()
        for condition, success in attacked.success.items()
    ]
    return join(parts, COMPARISONS), planted


def published_samples(rows: Rows) -> list[Samples]:
    """Return the samples of each experiment and pair of models of the tables, and how their judges vote.

    Judges that the paper left out after Table 6 vote on the control samples of Table 1 alone.
    """
    success: dict[tuple[str, str, str], dict[str, dict[str, float]]] = {}
    for row in rows:
        if row["quantity"] == "asr":
            of_pair = success.setdefault((row["experiment"], row["model_a"], row["model_b"]), {})
            of_pair.setdefault(row["judge"], {})[row["condition"]] = float(row["value"])
    places = _shares(rows, ("first", "tie", "second"))
    for _, judge in places:
        success[MAIN, AUTHOR, second_answer(AUTHOR, AUTHOR)].setdefault(judge, {})
    strengths = _shares(rows, ("a", "b"))
    samples = []
    for (experiment, model_a, model_b), judges in success.items():
        # Table 7 is about answers of another model than the anchor's.
        known = strengths if model_b != second_answer(model_a, model_a) else {}
        attacked = {
            judge: _attacked(rates, places["", judge], known.get((experiment, judge))) for judge, rates in judges.items()
        }
        samples.append(
            Samples(
                experiment, model_a, model_b, PUBLISHED_VOTES_QUESTIONS if experiment == MAIN else SUBSET, attacked, WORSENING
            )
        )
    return samples


def _shares(rows: Rows, quantities: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """Printed shares of votes by experiment and judge."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row["quantity"] in quantities:
            found.setdefault((row["experiment"], row["judge"]), {})[row["quantity"]] = float(row["value"])
    return found


def _attacked(success: Mapping[str, float], places: Shares, strengths: Shares | None) -> Attacked:
    """How a judge votes: by place as often as first and second differ, and for the rest as the answers and the ties demand."""
    if strengths is None:
        return _of_places(success, places)
    by_place = min(abs(places["first"] - places["second"]), 2 * strengths["b"])  # half of these votes are for b
    by_answers = 1 - by_place
    tie = 1 - strengths["a"] - strengths["b"]
    return Attacked(
        success, tie=tie / by_answers, second=(strengths["b"] - by_place / 2) / by_answers, **_by_place(places, by_place)
    )


def _of_places(success: Mapping[str, float], places: Shares) -> Attacked:
    """A judge whose votes have the printed shares of first, tie and second place; see `_attacked`.

    With `ties` the mean share of samples without a preference over control and attacks, as a multiple of that in the control
    group, a share by_tie of votes that are ties whatever the answers are makes up for what the samples lack.
    """
    by_place = abs(places["first"] - places["second"])
    kept = [rate if condition in WORSENING else 1 - rate for condition, rate in success.items()]
    ties = (1 + sum(kept)) / (1 + len(kept))
    tie = min(CONTROL_VOTES["control_tie"], places["tie"] / ((1 - by_place) * ties))
    lacking = max(0.0, places["tie"] - (1 - by_place) * tie * ties) / (1 - tie * ties)
    return Attacked(success, tie=tie, second=(1 - tie) / 2, by_tie=lacking, **_by_place(places, by_place))


def _by_place(places: Shares, share: float) -> dict[str, float]:
    return {"by_first" if places["first"] > places["second"] else "by_second": share}
