"""Position: does a judge's verdict follow the place of an answer rather than the answer; and what single orders tell.

Agreement of each judge's verdicts with the human labels: a, b or tie.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import duckdb
import numpy as np

from recuse.pairwise.questions import quotient, share_intervals, summed

# Comparisons with a verdict in both orders: `ab` shows the answer of model_a first, `ba` that of model_b.
BOTH = "(select * from pairs where outcome_ab <> 'error' and outcome_ba <> 'error')"
COLUMNS = {
    "comparisons": "count(*)",
    "consistent": "count(*) filter (where outcome_ab = outcome_ba)",
    "first_both": "count(*) filter (where outcome_ab = 'a' and outcome_ba = 'b')",
    "second_both": "count(*) filter (where outcome_ab = 'b' and outcome_ba = 'a')",
    "first": "count(*) filter (where outcome_ab = 'a') + count(*) filter (where outcome_ba = 'b')",
    "decided": "count(*) filter (where outcome_ab <> 'tie') + count(*) filter (where outcome_ba <> 'tie')",
}
# Each statistic is the quotient of two columns.
STATISTICS = {
    "consistency": ("consistent", "comparisons"),
    "first_preference": ("first", "decided"),
    "first_both": ("first_both", "comparisons"),
    "second_both": ("second_both", "comparisons"),
}
# Comparisons with one order alone, and a verdict that chooses an answer.
SINGLE = "(select * from pairs where single in ('a', 'b'))"
OWN = "(judge = model_a) <> (judge = model_b)"
COLUMNS_OF_SINGLE = {
    "first": "count(*) filter (where outcome_ab = 'a' or outcome_ba = 'b')",
    "decided": "count(*)",
    "longer": "count(*) filter (where length_a <> length_b and (single = 'a') = (length_a > length_b))",
    "unequal": "count(*) filter (where length_a <> length_b)",
    "chose_own": f"count(*) filter (where {OWN} and (single = 'a') = (judge = model_a))",
    "own": f"count(*) filter (where {OWN})",
}
STATISTICS_OF_SINGLE = {
    "single_order_first": ("first", "decided"),
    "single_order_longer": ("longer", "unequal"),
    "single_order_own": ("chose_own", "own"),
}


def position(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of position, by experiment, condition or pool, judge and statistic.

    Of the comparisons with a verdict in both orders that is no error: consistency: share whose two verdicts agree, two
    ties among them. first_preference: share of the answer shown first among the verdicts that are not ties, n of them; 0.5 is
    no preference. first_both, second_both: share that chooses the answer shown first, or second, both times, so that the
    orders contradict each other. Where no verdict is other than a tie, first_preference is missing.

    After these, of the comparisons in one order alone, shares of the verdicts that are neither ties nor errors:

        single_order_first = first / decided, single_order_longer = longer / unequal, single_order_own = chose_own / own

    with `first` those for the answer shown first, `longer` those for the longer answer among the `unequal` with two known and
    different lengths, `chose_own` those for the judge's own answer among the `own` on its own answer and another's. If the
    order of each comparison was drawn at random, single_order_first is 0.5 of a judge that the place does not sway, however
    good the answers are: E = (P(first | a first) + P(first | b first)) / 2. If it was not, a model that is shown first more
    often may be the better one. The other two hold quality fixed in no case: a longer, or own, answer may be the better one.

    Intervals are by bootstrap over questions, exact where all agree (see `share_intervals`); questions: those that have such
    comparisons (or verdicts); with fewer than two there is no interval. connection: see `open_pairs`.
    """
    settings = {"confidence": confidence, "seed": seed}
    yield from _rows(connection, STATISTICS, COLUMNS, rows=BOTH, **settings)
    for row in _rows(connection, STATISTICS_OF_SINGLE, COLUMNS_OF_SINGLE, rows=SINGLE, **settings):
        if row["n"]:
            yield row


def _rows(
    connection: duckdb.DuckDBPyConnection,
    statistics: Mapping[str, tuple[str, str]],
    columns: Mapping[str, str],
    *,
    rows: str,
    **settings: float,
) -> Iterator[dict]:
    places = list(columns)
    numerators, denominators = ([places.index(column) for column in side] for side in zip(*statistics.values(), strict=True))
    shares: Callable[[np.ndarray], np.ndarray] = partial(_shares, numerators=numerators, denominators=denominators)
    groups = list(summed(connection, columns, rows=rows))
    for group, ends in zip(groups, share_intervals(groups, shares, **settings), strict=True):
        totals = group.sums.sum(axis=0)
        value, n = shares(totals), totals[denominators]
        for number, statistic in enumerate(statistics):
            yield {
                "experiment": group.experiment,
                "condition": group.label,
                "judge": group.judge,
                "statistic": statistic,
                "value": value[number],
                "ci_low": ends.low[number],
                "ci_high": ends.high[number],
                "n": int(n[number]),
                "questions": int(ends.questions[number]),
            }


def _shares(totals: np.ndarray, *, numerators: list[int], denominators: list[int]) -> np.ndarray:
    """Return the statistics (..., m) of totals (..., k)."""
    return quotient(totals[..., numerators], totals[..., denominators])


RULES = {"debiased": ["debiased"], "ab": ["outcome_ab"], "ba": ["outcome_ba"], "pooled": ["outcome_ab", "outcome_ba"]}
COUNTS = {"agree": "{} = human", "n": "{} <> 'error'", "errors": "{} = 'error'"}
LABELLED = "(select * from pairs where human is not null)"


def agreement(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of agreement, of comparisons with a human label, by experiment, condition or pool, judge
    and order rule.

    value = agree / n: share of the verdicts equal to the human label, of three classes (a, b, tie); n leaves out errors, which
    value_errors_wrong = agree / (n + errors) counts as disagreement. order: `debiased`, the verdict that both orders agree on,
    a tie where they do not, an error where one is an error or absent; `ab` and `ba`, the verdicts of one order; `pooled`, those
    of both. A judge without a verdict under an order rule has no row there.

    The interval of value is by bootstrap over questions, exact where all agree (see `share_intervals`); questions: those with a
    verdict that counts; with fewer than two there is no interval. connection: see `open_pairs`.
    """
    groups = list(summed(connection, _columns(), rows=LABELLED))
    intervals = share_intervals(groups, _shares_of_agreement, confidence=confidence, seed=seed)
    for group, ends in zip(groups, intervals, strict=True):
        totals = _by_rule(group.sums.sum(axis=0))
        for number, (rule, (agree, n, errors)) in enumerate(zip(RULES, totals.tolist(), strict=True)):
            if n + errors == 0:
                continue
            yield {
                "experiment": group.experiment,
                "condition": group.label,
                "judge": group.judge,
                "order": rule,
                "value": agree / n if n else None,
                "ci_low": ends.low[number],
                "ci_high": ends.high[number],
                "agree": int(agree),
                "n": int(n),
                "errors": int(errors),
                "value_errors_wrong": agree / (n + errors),
                "questions": int(ends.questions[number]),
            }


def _columns() -> dict[str, str]:
    """SQL of the counts of each order rule, in the order of COUNTS."""
    return {
        f"{rule}_{count}": " + ".join(f"count(*) filter (where {sql.format(verdict)})" for verdict in verdicts)
        for rule, verdicts in RULES.items()
        for count, sql in COUNTS.items()
    }


def _by_rule(totals: np.ndarray) -> np.ndarray:
    """Lay totals (..., k) out as (..., rules, counts)."""
    return totals.reshape(*totals.shape[:-1], len(RULES), len(COUNTS))


def _shares_of_agreement(totals: np.ndarray) -> np.ndarray:
    """Return the agreement under each rule (..., rules) of totals (..., k)."""
    counts = _by_rule(totals)
    return quotient(counts[..., 0], counts[..., 1])
