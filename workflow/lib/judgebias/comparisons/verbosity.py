"""Verbosity bias: does a judge err more often where the humans prefer the shorter answer (Saito et al., arXiv 2310.10076)."""

from collections.abc import Iterator
from dataclasses import replace

import duckdb
import numpy as np

from judgebias.comparisons.bootstrap import quotient
from judgebias.comparisons.questions import Group, bootstrap, summed

RULES = {"debiased": "debiased", "ab": "outcome_ab", "ba": "outcome_ba"}  # order rule: its verdict in the table `pairs`
POOLED = "pooled"  # the verdicts of both orders, each by itself
TREATMENTS = {"excluded": (0.0, 0.0), "disagreement": (1.0, 1.0), "half": (0.5, 1.0)}  # what a draw adds to wrong and to n
REASONS = ("no_human", "errors", "human_ties", "no_length", "equal_lengths")  # the first that holds leaves a verdict out
# Which answer the humans prefer, or why that is not known.
PREFERRED = """case when human is null then 'no_human' when human = 'tie' then 'human_ties'
                    when length_a is null or length_b is null then 'no_length' when length_a = length_b then 'equal_lengths'
                    when (human = 'a') = (length_a < length_b) then 'shorter' else 'longer' end"""
FEW = 10  # questions
COUNTS = tuple(f"{what}_{side}" for side in ("shorter", "longer") for what in ("wrong", "right", "draws"))


def verbosity(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of verbosity bias, by experiment, condition or pool, judge, order rule and
    treatment of draws.

    With Y the answer that the humans prefer, Y' the judge's, and S the longer one in words,

        verbosity_bias = P(Y' != Y | S != Y) - P(Y' != Y | S = Y) = wrong_shorter / n_shorter - wrong_longer / n_longer

    (Saito et al., equation 6): above 0 the judge prefers longer answers more than the humans do. accuracy_parity_gap is its
    absolute value (equation 5).

    order: `debiased`, the verdict that both orders agree on, or else a draw (section 4); `ab` and `ba`, the verdicts of one
    order; `pooled`, those of both. draws: a judge's draw is `excluded`, a `disagreement` (Y' != Y), or `half` of one.
    judge_draws counts them in each case. A verdict is left out, and counted once, as the first that holds of: no_human, errors
    (of the debiased verdict, also a comparison with one order alone), human_ties, no_length, equal_lengths.

    Intervals are by bootstrap over questions; questions: those with a verdict that counts. A resample without a side is left
    out, so that the interval is too short where few questions have one: few is `yes` where a side has fewer than FEW questions
    with a verdict that counts. With fewer than two on a side, and where resamples do not vary, there is no interval. A judge
    without any human label under a condition has no row there. connection: see `open_pairs`.
    """
    found = map(_with_pooled, summed(connection, _columns(), rows=f"(select *, {PREFERRED} as side from pairs)"))
    groups = [group for group in found if _has_labels(group)]
    ends = bootstrap(groups, lambda totals: _bias(totals)[0], confidence=confidence, seed=seed)
    for group, (low, high) in zip(groups, ends, strict=True):
        yield from _rows(group, low, high)


def _columns() -> dict[str, str]:
    """SQL of the counts of every order rule but the pooled one, in the order of COUNTS and then REASONS."""
    return {
        f"{rule}_{count}": f"count(*) filter (where {condition})"
        for rule, verdict in RULES.items()
        for count, condition in _conditions(verdict).items()
    }


def _conditions(verdict: str) -> dict[str, str]:
    kinds = {"wrong": f"{verdict} not in (human, 'tie', 'error')", "right": f"{verdict} = human", "draws": f"{verdict} = 'tie'"}
    counted = {f"{what}_{side}": f"side = '{side}' and {sql}" for side in ("shorter", "longer") for what, sql in kinds.items()}
    left_out = {reason: f"side = '{reason}' and {verdict} <> 'error'" for reason in REASONS}
    without = {"no_human": f"human is null and {verdict} is not null", "errors": f"human is not null and {verdict} = 'error'"}
    return {**counted, **left_out, **without}


def _with_pooled(group: Group) -> Group:
    """Lay the sums out as rules x counts and add those of both orders together."""
    sums = group.sums.reshape(len(group.sums), len(RULES), -1)
    pooled = sums[:, 1:].sum(axis=1, keepdims=True)
    sums = np.concatenate([sums, pooled], axis=1).reshape(len(sums), -1)
    return replace(group, sums=sums)


def _by_rule(totals: np.ndarray) -> np.ndarray:
    """Lay totals (..., k) out as (..., rules, counts)."""
    return totals.reshape(*totals.shape[:-1], len(RULES) + 1, -1)


def _has_labels(group: Group) -> bool:
    counts = _by_rule(group.sums.sum(axis=0))
    return bool(np.delete(counts, len(COUNTS) + REASONS.index("no_human"), axis=1).any())


def _bias(totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bias (..., rules x treatments) and wrong and n (..., rules, treatments, sides) of totals (..., k)."""
    counts = _by_rule(totals)[..., : len(COUNTS)]
    wrong, right, draws = np.moveaxis(counts.reshape(*counts.shape[:-1], 1, 2, 3), -1, 0)  # each (..., rules, 1, sides)
    in_wrong, in_n = np.array(list(TREATMENTS.values())).T[..., None]  # each (treatments, 1)
    wrong, n = wrong + in_wrong * draws, wrong + right + in_n * draws
    rates = quotient(wrong, n)
    bias = rates[..., 0] - rates[..., 1]
    return bias.reshape(*bias.shape[:-2], -1), wrong, n


def _rows(group: Group, low: np.ndarray, high: np.ndarray) -> Iterator[dict]:
    totals = group.sums.sum(axis=0)
    bias, wrong, n = _bias(totals)
    on_side = _bias(group.sums)[2] > 0  # (questions, rules, treatments, sides)
    questions = on_side.any(axis=-1).sum(axis=0)  # (rules, treatments)
    fewest = on_side.sum(axis=0).min(axis=-1)
    for number, (rule, treatment) in enumerate(np.ndindex(n.shape[:2])):
        counts = dict(zip(COUNTS + REASONS, _by_rule(totals)[rule].astype(int).tolist(), strict=True))
        told = fewest[rule, treatment] > 1 and low[number] < high[number]
        yield {
            "experiment": group.experiment,
            "condition": group.label,
            "judge": group.judge,
            "order": (*RULES, POOLED)[rule],
            "draws": tuple(TREATMENTS)[treatment],
            "verbosity_bias": bias[number],
            "ci_low": low[number] if told else None,
            "ci_high": high[number] if told else None,
            "few": "yes" if fewest[rule, treatment] < FEW else "no",
            "accuracy_parity_gap": abs(bias[number]),
            **_side("shorter", wrong[rule, treatment, 0], n[rule, treatment, 0]),
            **_side("longer", wrong[rule, treatment, 1], n[rule, treatment, 1]),
            "judge_draws": counts["draws_shorter"] + counts["draws_longer"],
            **{reason: counts[reason] for reason in REASONS},
            "questions": int(questions[rule, treatment]),
        }


def _side(side: str, wrong: float, n: float) -> dict:
    """Return the columns of the verdicts where the humans prefer the shorter, or the longer answer; draws may count half."""
    rate = float(wrong / n) if n else None
    return {f"rate_{side}": rate, f"wrong_{side}": int(wrong) if wrong == int(wrong) else float(wrong), f"n_{side}": int(n)}
