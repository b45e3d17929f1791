"""Bootstrap over questions: resampled totals of per-question sums, and percentile intervals of what is computed of them."""

from collections.abc import Callable, Iterator

import numpy as np

from judgebias.progress import steps

REPLICATES = 10_000
BLOCK = 2_000_000  # weights held at a time


def percentile_intervals(
    sums: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    *,
    confidence: float,
    seed: int,
    replicates: int = REPLICATES,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends, low (m,) and high (m,), of percentile intervals by a bootstrap over questions.

    A replicate draws as many questions as there are, with replacement, so that question q counts w_q times; its totals are
    sum_q w_q sums[q]. The ends are the (1 - confidence) / 2 and (1 + confidence) / 2 quantiles of the statistic over those
    replicates where it is finite (Efron and Tibshirani 1993, chapter 13). They are NaN where fewer than two are, and where
    there are fewer than two questions.

    sums: (questions, k), everything that the statistic needs of one question, e.g. a numerator and a denominator. statistic
    maps totals (any number of replicates, k) to values (the same number, m), row by row. The same seed, replicates and number
    of questions give the same weights.
    """
    if len(sums) < 2:
        none = np.full(statistic(sums.sum(axis=0, keepdims=True)).shape[1], np.nan)
        return none, none
    drawn = steps(_weights(len(sums), seed, replicates), "bootstrap over questions", unit="draws", total=replicates, size=len)
    values = [statistic(weights @ sums) for weights in drawn]
    ends = [_quantiles(column[np.isfinite(column)], confidence) for column in np.concatenate(values).T]
    low, high = np.array(ends).T
    return low, high


def ends_without_variation(shares: np.ndarray, questions: np.ndarray, *, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of an interval of shares that all of `questions` > 0 questions have alike, so that no resample differs.

    The share of all questions that differ from these is u = 1 - ((1 - confidence) / 2)^(1 / questions) at most, the upper end
    for 0 of `questions` (Clopper and Pearson 1934). A question that differs may have any share: the ends are shares (1 - u) and
    shares (1 - u) + u. Of shares 0 and 1 they are the exact interval for 0, or all, of `questions`; it covers as often as it
    says, or more, where questions count alike.
    """
    differ = 1 - ((1 - confidence) / 2) ** (1 / questions)
    low = shares * (1 - differ)
    return low, np.minimum(low + differ, 1.0)  # rounding may put an end beyond 1


def _quantiles(values: np.ndarray, confidence: float) -> np.ndarray:
    return np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2]) if len(values) > 1 else np.full(2, np.nan)


def _weights(questions: int, seed: int, replicates: int) -> Iterator[np.ndarray]:
    """Yield blocks (rows, questions) of how often each question is drawn, `replicates` rows in all."""
    generator = np.random.default_rng(seed)
    rows = max(1, BLOCK // questions)
    for start in range(0, replicates, rows):
        count = min(rows, replicates - start)
        drawn = generator.integers(questions, size=(count, questions)) + questions * np.arange(count)[:, None]
        yield np.bincount(drawn.ravel(), minlength=count * questions).reshape(count, questions).astype(float)


def quotient(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return numerator / denominator, both of one shape; NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full(np.shape(denominator), np.nan), where=denominator != 0)
