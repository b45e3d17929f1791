"""Agreement of each judge's verdicts with the human labels: a, b or tie."""

from collections.abc import Iterator

import duckdb
import numpy as np

from judgebias.comparisons.bootstrap import quotient
from judgebias.comparisons.questions import share_intervals, summed

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
    intervals = share_intervals(groups, _shares, confidence=confidence, seed=seed)
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


def _shares(totals: np.ndarray) -> np.ndarray:
    """Return the agreement under each rule (..., rules) of totals (..., k)."""
    counts = _by_rule(totals)
    return quotient(counts[..., 0], counts[..., 1])
