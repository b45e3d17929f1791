"""Comparisons with both orders in one row, summed over each question, and bootstrap intervals over
the questions.

Comparisons of one question are alike, so questions, not comparisons, are resampled.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recuse.base.database import Connection, connect, create_table, files, name, values_in
from recuse.base.errors import ConfigError
from recuse.base.log import steps

# Lower and upper ends of intervals, (m,) each
Ends = tuple[np.ndarray, np.ndarray]
# From totals (..., k) to values (..., m)
Statistic = Callable[[np.ndarray], np.ndarray]
REPLICATES = 10_000
BLOCK = 2_000_000  # weights held at a time
# Both orders must agree for a verdict to count; a comparison with an error or in one order only
# gives none.
DEBIASED = """case when outcome_ab is null or outcome_ba is null or 'error' in (outcome_ab, outcome_ba) then 'error'
                   when outcome_ab = outcome_ba then outcome_ab else 'tie' end"""
OWN = "(judge = model_a) <> (judge = model_b)"  # one of the two answers is the judge's
# The verdict of a comparison in one order only.
SINGLE = "case when outcome_ba is null then outcome_ab when outcome_ab is null then outcome_ba end"


def create_pairs(connection: Connection, comparisons: str) -> None:
    """Create the temporary table `pairs` from the canonical table of comparisons, a parquet file.

    One row per experiment, condition, judge, item, model_a, model_b, wording and vote, in this
    order. Other columns, NULL where there is none: human, humans_a, humans_b, humans_tie, length_a,
    length_b; right_a and right_b, whether the answers are right by a key; outcome_ab and
    outcome_ba, the verdicts with the answer of model_a and of model_b shown first; favoured_ab and
    favoured_ba, the answer that the statement added in that order speaks for; debiased, the verdict
    if both orders agree, `tie` if they do not, `error` if one is an error or absent (Saito et al.,
    section 4); single, the verdict if there is one order only.
    """
    connection.execute(f"""
        create temp table pairs as
        select *, {DEBIASED} as debiased, {SINGLE} as single
        from (select experiment, condition, judge, item, model_a, model_b, wording, vote,
                     any_value(human) as human, any_value(humans_a) as humans_a, any_value(humans_b) as humans_b,
                     any_value(humans_tie) as humans_tie,
                     any_value(length_a) as length_a, any_value(length_b) as length_b,
                     any_value(right_a) as right_a, any_value(right_b) as right_b,
                     any_value(outcome) filter ("order" = 'ab') as outcome_ab,
                     any_value(outcome) filter ("order" = 'ba') as outcome_ba,
                     any_value(favoured) filter ("order" = 'ab') as favoured_ab,
                     any_value(favoured) filter ("order" = 'ba') as favoured_ba
              from {files([comparisons])} group by all)
        order by experiment, condition, judge, item, model_a, model_b, wording, vote""")


def open_pairs(comparisons: str, pools: Mapping[str, Sequence[str]]) -> Connection:
    """Connect to the canonical comparisons (parquet), with the temporary tables `pairs` (see
    `create_pairs`) and `members`.

    `members` (condition, label, place) lists the labels that a condition is tabulated under: its
    own, and each pool that names it; `place` orders the labels, conditions by alphabet, then pools
    as given. pools: label -> conditions. ConfigError if a pool has the name of a condition or names
    one that no comparison has.
    """
    connection = connect()
    create_pairs(connection, comparisons)
    conditions = values_in(connection, "select distinct condition from pairs order by 1")
    listed = ", ".join(filter(None, conditions)) or "none with a condition"
    for pool, named in pools.items():
        if pool in conditions:
            raise ConfigError(
                f"config: pools: {pool}: the name of a condition of the comparisons; give it"
                " another name"
            )
        for condition in named:
            if condition not in conditions:
                raise ConfigError(
                    f"config: pools: {pool}: '{condition}' is no condition of the comparisons;"
                    f" found: {listed}"
                )
    labels = {condition: [condition] for condition in conditions} | dict(pools)
    members = [
        (name, label, place)
        for place, (label, names) in enumerate(labels.items())
        for name in dict.fromkeys(names)
    ]
    create_table(connection, "members", "condition varchar, label varchar, place integer", members)
    return connection


@dataclass(frozen=True)
class Group:
    """One judge's comparisons, summed for each question."""

    names: dict[str, str]  # columns of the tables that identify these comparisons
    sums: np.ndarray  # (questions, k), by question in alphabetical order


def summed(
    connection: Connection, columns: Mapping[str, str], *, rows: str = "pairs"
) -> list[Group]:
    """Return a group for each experiment, condition or pool and judge, in the order of experiments,
    `members` and judges.

    columns: the k columns of `Group.sums`, by name, as SQL of sums or counts over `rows`, a table
    or bracketed query with the columns of `pairs`. connection: see `open_pairs`.
    """
    sums = ", ".join(f"{sql} as {name(column)}" for column, sql in columns.items())
    totals = ", ".join(f"sum({name(column)}) as {name(column)}" for column in columns)
    query = f"""
        with by_condition as (select experiment, condition, judge, item, {sums} from {rows} group by all)
        select experiment, label as condition, judge, {totals}
        from by_condition join members using (condition)
        group by experiment, place, label, judge, item order by experiment, place, judge, item"""
    return read_groups(connection, query, ("experiment", "condition", "judge"), columns)


def read_groups(
    connection: Connection, query: str, names: Sequence[str], columns: Iterable[str]
) -> list[Group]:
    """Return the rows of `query`, one for each question, sorted by `names`, as groups by `names`;
    `columns` are the sums.
    """
    table = connection.execute(query).fetchnumpy()
    sums = np.stack([table[column].astype(float) for column in columns], axis=1)
    keys = list(zip(*(table[column].tolist() for column in names), strict=True))
    rows = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    return [Group(dict(zip(names, key, strict=True)), sums[at]) for key, at in rows.items()]


def quotient(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return numerator / denominator, both of one shape; NaN where the denominator is 0."""
    return np.divide(
        numerator, denominator, out=np.full(np.shape(denominator), np.nan), where=denominator != 0
    )


class VoteShare(NamedTuple):
    """A share of a group's comparisons or verdicts, with its interval (NaN if there is none)."""

    names: dict[str, str]
    statistic: str
    totals: dict[str, int]  # of the group's columns
    interval: dict[str, float]  # value, ci_low, ci_high
    questions: int  # that have a share of their own


def shares(
    groups: Sequence[Group],
    columns: Iterable[str],
    statistics: Mapping[str, tuple[str, str]],
    *,
    confidence: float,
    seed: int,
) -> Iterator[VoteShare]:
    """Yield each of `statistics`, quotients of two of the `columns` of `Group.sums`, of each group;
    see `share_intervals`.
    """
    places = list(columns)
    numerators, denominators = (
        [places.index(column) for column in side] for side in zip(*statistics.values(), strict=True)
    )

    def quotients(totals: np.ndarray) -> np.ndarray:
        return quotient(totals[..., numerators], totals[..., denominators])

    for group, intervals in zip(
        groups, share_intervals(groups, quotients, confidence=confidence, seed=seed), strict=True
    ):
        totals = group.sums.sum(axis=0)
        by_name = dict(zip(places, totals.astype(int).tolist(), strict=True))
        for statistic, value, low, high, questions in zip(
            statistics, quotients(totals), *intervals, strict=True
        ):
            interval = {"value": value, "ci_low": low, "ci_high": high}
            yield VoteShare(group.names, statistic, by_name, interval, int(questions))


def share_intervals(
    groups: Sequence[Group],
    statistic: Statistic,
    *,
    confidence: float,
    seed: int,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield, for each group, the lower and upper ends of the intervals of its shares and their
    numbers of questions, (m,) each.

    Intervals are by the bootstrap; exact if all questions have the same share (see
    `ends_without_variation`); NaN with fewer than two questions. statistic maps totals (..., k) to
    shares (..., m), NaN where a question has no such share.
    """
    for group, ends in zip(
        groups, bootstrap(groups, statistic, confidence=confidence, seed=seed), strict=True
    ):
        by_question = statistic(group.sums)  # (questions, m)
        least = np.fmin.reduce(by_question)
        most = np.fmax.reduce(by_question)
        questions = np.isfinite(by_question).sum(axis=0)
        alike = (least == most) & (questions > 1)
        low, high = np.where(questions > 1, ends, np.nan)
        low[alike], high[alike] = ends_without_variation(
            least[alike], questions[alike], confidence=confidence
        )
        yield low, high, questions


def ends_without_variation(shares: np.ndarray, questions: np.ndarray, *, confidence: float) -> Ends:
    """Return the ends of the interval of shares that are the same in all of `questions` > 0
    questions, so no resample differs.

    At most u = 1 - ((1 - confidence) / 2)^(1 / questions) of all questions have another share, the
    upper end for 0 of `questions` (Clopper and Pearson 1934). Those may have any share: the ends
    are shares (1 - u) and shares (1 - u) + u. For shares 0 and 1 this is the exact interval for 0,
    or all, of `questions`. Coverage is nominal or higher if questions have equal weight.
    """
    differ = 1 - ((1 - confidence) / 2) ** (1 / questions)
    low = shares * (1 - differ)
    return low, np.minimum(low + differ, 1.0)  # rounding may put an end beyond 1


def exact_interval(count: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the ends of the exact interval (Clopper and Pearson 1934) of a share of `count` in
    `n`; NaN where n is 0.
    """
    from scipy.special import betaincinv

    if n == 0:
        return np.nan, np.nan
    tail = (1 - confidence) / 2
    low = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return low, high


def bootstrap(
    groups: Sequence[Group],
    statistic: Statistic,
    *,
    confidence: float,
    seed: int,
) -> list[Ends]:
    """Return the two ends, (m,) each, of the percentile intervals of each group; see
    `percentile_intervals`.

    statistic maps totals (..., k) to values (..., m). Judges with equally many questions share the
    resamples.
    """
    intervals = {}
    sizes = [len(group.sums) for group in groups]
    for size in dict.fromkeys(sizes):
        numbers = np.flatnonzero(np.array(sizes) == size)
        # (questions, groups, k)
        sums = np.stack([groups[number].sums for number in numbers], axis=1)

        def statistics(totals: np.ndarray, shape: tuple[int, int] = sums.shape[1:]) -> np.ndarray:
            return statistic(totals.reshape(-1, *shape)).reshape(len(totals), -1)

        low, high = percentile_intervals(
            sums.reshape(size, -1), statistics, confidence=confidence, seed=seed
        )
        ends = zip(*np.reshape([low, high], (2, len(numbers), -1)), strict=True)
        intervals |= dict(zip(numbers, ends, strict=True))
    return [intervals[number] for number in range(len(groups))]


def percentile_intervals(
    sums: np.ndarray,
    statistic: Statistic,
    *,
    confidence: float,
    seed: int,
    replicates: int = REPLICATES,
) -> Ends:
    """Return the ends, low (m,) and high (m,), of percentile intervals by a bootstrap over
    questions.

    A replicate draws as many questions as there are, with replacement; where question q is drawn
    w_q times, its totals are sum_q w_q sums[q]. The ends are the (1 - confidence) / 2 and (1 +
    confidence) / 2 quantiles of the statistic over the replicates where it is finite (Efron and
    Tibshirani 1993, chapter 13); NaN with fewer than two of these, or of questions.

    sums: (questions, k), such as a numerator and a denominator for each question. statistic maps
    totals (rows, k) to values (rows, m). The same seed, replicates and number of questions give the
    same weights.
    """
    if len(sums) < 2:
        none = np.full(statistic(sums.sum(axis=0, keepdims=True)).shape[1], np.nan)
        return none, none
    drawn = steps(
        _weights(len(sums), seed, replicates),
        "bootstrap over questions",
        unit="draws",
        total=replicates,
        size=len,
    )
    values = np.concatenate([statistic(weights @ sums) for weights in drawn])
    finite = [column[np.isfinite(column)] for column in values.T]
    tails = (1 - confidence) / 2, (1 + confidence) / 2
    low, high = np.array(
        [np.quantile(column, tails) if len(column) > 1 else (np.nan, np.nan) for column in finite]
    ).T
    return low, high


def _weights(questions: int, seed: int, replicates: int) -> Iterator[np.ndarray]:
    """Yield blocks (rows, questions) of how often each question is drawn, `replicates` rows in
    all.
    """
    generator = np.random.default_rng(seed)
    rows = max(1, BLOCK // questions)
    for start in range(0, replicates, rows):
        count = min(rows, replicates - start)
        drawn = generator.integers(questions, size=(count, questions))
        places = drawn + questions * np.arange(count)[:, None]
        weights = np.bincount(places.ravel(), minlength=count * questions)
        yield weights.reshape(count, questions).astype(float)
