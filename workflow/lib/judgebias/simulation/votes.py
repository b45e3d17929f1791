"""Votes on pairs of answers before and after an attack, with known attack success rates.

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
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.comparisons.schemas import CONTROL, ORDERS, OUTCOMES
from judgebias.simulation.coded_columns import Column
from judgebias.simulation.comparison_world import Attacked

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
        before = _choice(generator, (1 - attacked.tie - attacked.second, attacked.second, attacked.tie), samples.questions)
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


def _choice(generator: np.random.Generator, shares: Sequence[float], size: int | tuple[int, ...]) -> np.ndarray:
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
            _choice(generator, [*(by * times), 1 - by.sum() * times], preference.size)
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
