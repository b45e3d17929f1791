"""Votes on pairs of answers before and after an attack, with known attack success rates.

The process, for judge j and sample q, of Chen et al., sections 4.4 and 4.5:

    preference before the attack: a tie with probability tie, the second answer with probability
    second, else the first an attack that should make the second answer look better: unless that is
    preferred already, it is afterwards with
        probability success; otherwise the preference stays
    an attack that makes the second answer worse: unless the first is preferred already, the
    preference stays with probability
        success; otherwise it is the first answer afterwards
    six votes, three in each order, in three pairs of one vote in each: a pair is by place (both
    choose the place shown first,
        or second, or call a tie), or an error, else both votes are the preference, as those of the
        third pair always are

A pair by place adds as much to one answer as to the other, so the mean of the votes is always on
the side of the preference, and 0.5 for a tie. Samples are independent, so the population attack
success rate is `success` itself.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from recuse.base.database import name, write_parquet
from recuse.base.tables import column_names
from recuse.data.verdicts import COMPARISONS, CONTROL, ORDERS, OUTCOMES, WORSENING

PAIRWISE_PLANTED = column_names("experiment condition judge model_b quantity planted")

VOTES = 3  # in each order
A, B, TIE, ERROR = range(len(OUTCOMES))
MEDIAN_WORDS, LOG_SPREAD = 150, 0.5  # of an answer's length
# Columns of COMPARISONS; the others are texts.
NUMBERS = ("length_a", "length_b", "vote", "humans_a", "humans_b", "humans_tie")
NONE = -1  # a length that is not known
CONTROL_TIE, CONTROL_PERTURBED = 0.2, 0.4  # shares of samples before an attack, by default
# Columns of COMPARISONS: arrays of one length (texts as objects), or one value for all rows; NONE
# is no length. A column that is not there is empty.
VotePart = Mapping[str, np.ndarray | str | int]


@dataclass(frozen=True)
class Attacked:
    """How a judge votes on samples of two answers, the second of which each attack perturbs.

    success: attack success rate of each perturbation. tie, second: shares of the samples in which,
    before any attack, it finds no difference or prefers the second answer. by_first, by_second,
    by_tie: shares of votes that choose a place, or call a tie, whatever the answers are. invalid:
    share of votes that are errors.
    """

    success: Mapping[str, float]
    tie: float = CONTROL_TIE
    second: float = CONTROL_PERTURBED
    by_first: float = 0.0
    by_second: float = 0.0
    by_tie: float = 0.0
    invalid: float = 0.0

    @property
    def undecided(self) -> float:
        """Share of votes that do not depend on the answers."""
        return self.by_first + self.by_second + self.by_tie + self.invalid


@dataclass(frozen=True)
class Samples:
    """Pairs of answers, the first by model_a, the second by model_b, and how judges vote on
    them.
    """

    experiment: str
    model_a: str
    model_b: str
    questions: int
    judges: Mapping[str, Attacked]
    worsening: Collection[str] = WORSENING  # the attacks that make the second answer worse


def draw_votes(
    samples: Samples, stream: np.random.SeedSequence, *, words_a: np.ndarray | None = None
) -> Iterator[VotePart]:
    """Yield the columns of COMPARISONS for each judge and condition; the same stream gives the same
    votes.

    words_a: lengths of the first answers, (questions,), if other samples share them.
    """
    for_lengths, *for_judges = (
        np.random.default_rng(child) for child in stream.spawn(1 + len(samples.judges))
    )
    drawn, words_b = np.ceil(lengths(for_lengths, (2, samples.questions))).astype(int)
    words_a = drawn if words_a is None else words_a
    for (judge, attacked), generator in zip(samples.judges.items(), for_judges, strict=True):
        before = _places(
            generator,
            (1 - attacked.tie - attacked.second, attacked.second, attacked.tie),
            samples.questions,
        )
        preferences = {CONTROL: before}
        for condition, success in attacked.success.items():
            succeeds = generator.random(samples.questions) < success
            worse = condition in samples.worsening
            preferences[condition] = (
                np.where(succeeds, before, A) if worse else np.where(succeeds, B, before)
            )
        for condition, preference in preferences.items():
            yield {
                "experiment": samples.experiment,
                "condition": condition,
                "judge": judge,
                "model_a": samples.model_a,
                "model_b": samples.model_b,
                "length_a": np.repeat(words_a, 2 * VOTES),
                # An attack changes the text, and its length is not simulated.
                "length_b": np.repeat(words_b, 2 * VOTES) if condition == CONTROL else NONE,
                **_votes(preference, attacked, generator),
            }


def pair_columns(
    judge: str, models: Sequence[str], pair: np.ndarray, outcome: np.ndarray
) -> dict[str, np.ndarray | str | int]:
    """Columns of a judge's outcomes, (questions, pairs, orders); pair: places of its two models,
    (pairs, 2).
    """
    question, place, order = np.indices(outcome.shape).reshape(3, -1)
    return {
        "judge": judge,
        "item": named(item_names(len(outcome)), question),
        "model_a": named(models, pair[place, A]),
        "model_b": named(models, pair[place, B]),
        "order": named(ORDERS, order),
        "outcome": named(OUTCOMES, outcome.ravel()),
        "vote": 1,
    }


def lengths(generator: Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Lengths of answers in words, before they are rounded up: log-normal."""
    return MEDIAN_WORDS * np.exp(LOG_SPREAD * generator.standard_normal(shape))


def item_names(questions: int) -> list[str]:
    """Names of questions that sort in their order."""
    digits = len(str(questions))
    return [f"Question {number:0{digits}}" for number in range(1, questions + 1)]


def named(names: Sequence[str], places: np.ndarray) -> np.ndarray:
    """The names at these places, as objects: one pointer a row; fixed-width texts would take ten
    times the memory.
    """
    return np.array(names, dtype=object)[places]


def _places(generator: Generator, shares: Sequence[float], size: int) -> np.ndarray:
    """Places in `shares`, drawn with these probabilities."""
    return np.searchsorted(np.cumsum(shares)[:-1], generator.random(size), side="right")


def _votes(preference: np.ndarray, attacked: Attacked, generator: Generator) -> VotePart:
    """Columns of the votes, (questions, votes, orders): as the preference says, or by place, or an
    error.
    """
    shares = np.array([attacked.by_first, attacked.by_second, attacked.by_tie, attacked.invalid])
    # As often as possible, to leave the last alone
    first_pairs = min(VOTES / (VOTES - 1), 1 / max(attacked.undecided, 1e-12))
    # 0 unless more votes are undecided than the others hold
    last_pair = VOTES - (VOTES - 1) * first_pairs
    kinds = [
        _places(generator, [*(shares * factor), 1 - shares.sum() * factor], preference.size)
        for factor in (*[first_pairs] * (VOTES - 1), last_pair)
    ]
    kind = np.stack(kinds, axis=1)
    verdicts = np.array([[A, B], [B, A], [TIE, TIE], [ERROR, ERROR]])  # of each kind in each order
    by_preference = np.repeat(preference[:, None], VOTES, axis=1)[..., None]
    outcome = np.where(
        (kind == len(verdicts))[..., None],
        by_preference,
        verdicts[np.minimum(kind, len(verdicts) - 1)],
    )
    question, vote, order = np.indices(outcome.shape).reshape(3, -1)
    return {
        "item": named(item_names(preference.size), question),
        "order": named(ORDERS, order),
        "outcome": named(OUTCOMES, outcome.ravel()),
        "vote": vote + 1,
    }


def join(parts: Sequence[VotePart]) -> dict[str, np.ndarray]:
    """Join parts, each a mapping of COMPARISONS, one after the other: NUMBERS as integers, the
    others as objects.
    """
    rows = [max(map(np.size, part.values())) for part in parts]
    columns = {}
    for column in COMPARISONS:
        absent, kind = (NONE, int) if column in NUMBERS else (None, object)
        values = [np.asarray(part.get(column, absent), kind) for part in parts]
        columns[column] = np.concatenate(
            [np.broadcast_to(value, n) for value, n in zip(values, rows, strict=True)]
        )
    return columns


def write_comparisons(columns: Mapping[str, np.ndarray], path: str) -> None:
    """Write columns of COMPARISONS, as `join` gives them, to a parquet file; NONE is written as no
    value.
    """
    values = {
        column: f"nullif({column}, {NONE})" if column in NUMBERS else f"{name(column)}::varchar"
        for column in columns
    }
    picked = ", ".join(f"{value} as {name(column)}" for column, value in values.items())
    write_parquet(columns, path, f"select {picked} from columns")


def planted_success(
    experiment: str, condition: str, judge: str, model_b: str, success: float
) -> dict:
    """The row of an attack success rate among those of PAIRWISE_PLANTED."""
    key = {"experiment": experiment, "condition": condition, "judge": judge, "model_b": model_b}
    return {**key, "quantity": "asr", "planted": success}
