"""Position: does a judge's verdict follow the place of an answer rather than the answer."""

from collections.abc import Iterator

import duckdb
import numpy as np

from judgebias.comparisons.bootstrap import quotient
from judgebias.comparisons.questions import share_intervals, summed

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
NUMERATORS, DENOMINATORS = ([list(COLUMNS).index(column) for column in side] for side in zip(*STATISTICS.values(), strict=True))


def position(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of position, by experiment, condition or pool, judge and statistic.

    All are of the comparisons with a verdict in both orders that is no error. consistency: share whose two verdicts agree, two
    ties among them. first_preference: share of the answer shown first among the verdicts that are not ties, n of them; 0.5 is
    no preference. first_both, second_both: share that chooses the answer shown first, or second, both times, so that the
    orders contradict each other. Where no verdict is other than a tie, first_preference is missing.

    Intervals are by bootstrap over questions, exact where all agree (see `share_intervals`); questions: those that have such
    comparisons (or verdicts); with fewer than two there is no interval. connection: see `open_pairs`.
    """
    groups = list(summed(connection, COLUMNS, rows=BOTH))
    intervals = share_intervals(groups, _shares, confidence=confidence, seed=seed)
    for group, ends in zip(groups, intervals, strict=True):
        totals = group.sums.sum(axis=0)
        value, n = _shares(totals), totals[DENOMINATORS]
        for number, statistic in enumerate(STATISTICS):
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


def _shares(totals: np.ndarray) -> np.ndarray:
    """Return the statistics (..., 4) of totals (..., 6)."""
    return quotient(totals[..., NUMERATORS], totals[..., DENOMINATORS])
