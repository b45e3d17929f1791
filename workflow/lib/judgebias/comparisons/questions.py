"""Sums of comparisons over each question, by condition and judge, and their bootstrap over questions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import duckdb
import numpy as np

from judgebias.comparisons.bootstrap import ends_without_variation, percentile_intervals
from judgebias.comparisons.pairs import create_pairs
from judgebias.database import connect, create_table, name
from judgebias.errors import ConfigError


@dataclass(frozen=True)
class Group:
    """One judge's comparisons under one label - a condition, a pool of them, an experiment - summed over each question.

    experiment: that of a condition or pool.
    """

    label: str
    judge: str
    sums: np.ndarray  # (questions, k), by question in alphabetical order
    experiment: str = ""


def open_pairs(comparisons: str, pools: Mapping[str, Sequence[str]]) -> duckdb.DuckDBPyConnection:
    """Connect to the canonical comparisons (parquet): temporary tables `pairs` (see `create_pairs`) and `members`.

    `members` (condition, label, place) says under which labels a condition is tabulated: under its own and under that of each
    pool that names it; `place` is the order of the labels, conditions by alphabet and then pools as given. pools: label ->
    conditions; each experiment has a pool of its own of those conditions that it has. ConfigError if a pool has the name of a
    condition or names one that no comparison has.
    """
    connection = connect()
    create_pairs(connection, comparisons)
    conditions = [row[0] for row in connection.execute("select distinct condition from pairs order by 1").fetchall()]
    _check_pools(pools, conditions)
    labels = {**{condition: [condition] for condition in conditions}, **pools}
    members = [
        (condition, label, place) for place, (label, named) in enumerate(labels.items()) for condition in dict.fromkeys(named)
    ]
    create_table(connection, "members", "condition varchar, label varchar, place integer", members)
    return connection


def _check_pools(pools: Mapping[str, Sequence[str]], conditions: Sequence[str]) -> None:
    found = ", ".join(filter(None, conditions)) or "none with a condition"
    for label, named in pools.items():
        if label in conditions:
            raise ConfigError(f"config: pools: {label}: the name of a condition of the comparisons; give it another name")
        absent = [condition for condition in named if condition not in conditions]
        if absent:
            raise ConfigError(f"config: pools: {label}: '{absent[0]}' is no condition of the comparisons; found: {found}")


def summed(connection: duckdb.DuckDBPyConnection, columns: Mapping[str, str], *, rows: str = "pairs") -> Iterator[Group]:
    """Yield a group for each experiment, condition or pool and judge, in the order of experiments, `members` and judges.

    columns: SQL of sums or counts over `rows`, a table or a query in brackets with the columns of `pairs`, by name: the k
    columns of `Group.sums`. connection: see `open_pairs`.
    """
    sums = ", ".join(f"{sql} as {name(column)}" for column, sql in columns.items())
    totals = ", ".join(f"sum({name(column)})::double as {name(column)}" for column in columns)
    found = connection.execute(f"""
        with by_condition as (select experiment, condition, judge, item, {sums} from {rows} group by all)
        select experiment, label, judge, {totals}
        from by_condition join members using (condition)
        group by experiment, place, label, judge, item order by experiment, place, judge, item""").fetchnumpy()
    totals = np.stack([found[column] for column in columns], axis=1)
    for experiment in dict.fromkeys(found["experiment"].tolist()):
        own = found["experiment"] == experiment
        for group in in_groups(found["label"][own], found["judge"][own], totals[own]):
            yield replace(group, experiment=experiment)


def in_groups(labels: np.ndarray, judges: np.ndarray, sums: np.ndarray) -> Iterator[Group]:
    """Yield the rows of `sums`, (rows, k), sorted by label and judge, as one group for each."""
    inner = np.flatnonzero((labels[1:] != labels[:-1]) | (judges[1:] != judges[:-1])) + 1
    for start, end in pairwise([0, *inner, len(labels)] if len(labels) else []):
        yield Group(str(labels[start]), str(judges[start]), sums[start:end])


def bootstrap(
    groups: Sequence[Group], statistic: Callable[[np.ndarray], np.ndarray], *, confidence: float, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the ends (m,) and (m,) of the percentile intervals of each group; see `percentile_intervals`.

    statistic maps totals (..., k) to values (..., m). Groups of equally many questions are resampled together, with the same
    weights: judges of the same questions meet the same resamples.
    """
    shared: dict[int, list[int]] = {}
    for number, group in enumerate(groups):
        shared.setdefault(len(group.sums), []).append(number)
    found = {}
    for numbers in shared.values():
        sums = np.stack([groups[number].sums for number in numbers], axis=1)  # (questions, groups, k)

        def of_all(totals: np.ndarray, shape: tuple[int, int] = sums.shape[1:]) -> np.ndarray:
            return statistic(totals.reshape(-1, *shape)).reshape(len(totals), -1)

        ends = percentile_intervals(sums.reshape(len(sums), -1), of_all, confidence=confidence, seed=seed)
        found.update(zip(numbers, zip(*(end.reshape(len(numbers), -1) for end in ends), strict=True), strict=True))
    return [found[number] for number in range(len(groups))]


@dataclass(frozen=True)
class Shares:
    """The ends of the intervals of a group's shares (m,), NaN where there is none, and the questions that each is of."""

    low: np.ndarray
    high: np.ndarray
    questions: np.ndarray


def share_intervals(
    groups: Sequence[Group], shares: Callable[[np.ndarray], np.ndarray], *, confidence: float, seed: int
) -> Iterator[Shares]:
    """Yield the intervals of the shares of each group: by the bootstrap, and none with fewer than two questions.

    Where all questions have the same share, so that resamples do not vary, the interval is exact, see
    `ends_without_variation`. shares maps totals (..., k) to shares (..., m), NaN for a question that says nothing of one.
    """
    for group, ends in zip(groups, bootstrap(groups, shares, confidence=confidence, seed=seed), strict=True):
        by_question = shares(group.sums)  # (questions, m)
        least, most = np.fmin.reduce(by_question), np.fmax.reduce(by_question)
        questions = np.isfinite(by_question).sum(axis=0)
        alike = (least == most) & (questions > 1)
        low, high = np.where(questions > 1, ends, np.nan)
        low[alike], high[alike] = ends_without_variation(least[alike], questions[alike], confidence=confidence)
        yield Shares(low, high, questions)
