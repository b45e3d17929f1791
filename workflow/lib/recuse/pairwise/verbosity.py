"""Length: does a judge err more often where the humans prefer the shorter answer, and curves against the difference in length.

Source: Saito et al., arXiv 2310.10076: verbosity bias (section 4), scores of an answer and agreement (Figures 3 to 5).
"""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import duckdb
import numpy as np

from recuse.base.database import text
from recuse.data.registry import HUMAN
from recuse.pairwise.questions import Group, bootstrap, quotient, summed

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
NO_HUMAN = len(COUNTS) + REASONS.index("no_human")  # its place among the counts of a rule


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
    columns = {f"{rule}_{count}": sql for rule, verdict in RULES.items() for count, sql in _counts_of(verdict).items()}
    groups = [
        Group(group.names, _with_pooled(group.sums))
        for group in summed(connection, columns, rows=f"(select *, {PREFERRED} as side from pairs)")
    ]
    labelled = [group for group in groups if np.delete(_by_rule(group.sums), NO_HUMAN, axis=-1).any()]
    ends = bootstrap(labelled, lambda totals: _bias(totals)[0], confidence=confidence, seed=seed)
    for group, (low, high) in zip(labelled, ends, strict=True):
        yield from _rows(group, low, high)


def _counts_of(verdict: str) -> dict[str, str]:
    """SQL of the counts of a verdict, in the order of COUNTS and then REASONS."""
    kinds = {"wrong": f"{verdict} not in (human, 'tie', 'error')", "right": f"{verdict} = human", "draws": f"{verdict} = 'tie'"}
    conditions = {
        f"{kind}_{side}": f"side = '{side}' and {sql}" for side in ("shorter", "longer") for kind, sql in kinds.items()
    }
    conditions |= {reason: f"side = '{reason}' and {verdict} <> 'error'" for reason in REASONS}
    conditions["no_human"] = f"human is null and {verdict} is not null"
    conditions["errors"] = f"human is not null and {verdict} = 'error'"
    return {count: f"count(*) filter (where {condition})" for count, condition in conditions.items()}


def _with_pooled(sums: np.ndarray) -> np.ndarray:
    """Add those of both orders together to sums (questions, rules x counts), after the other rules."""
    by_rule = sums.reshape(len(sums), len(RULES), -1)
    pooled = by_rule[:, 1:].sum(axis=1, keepdims=True)
    return np.concatenate([by_rule, pooled], axis=1).reshape(len(sums), -1)


def _by_rule(totals: np.ndarray) -> np.ndarray:
    """Lay totals (..., k) out as (..., rules, counts)."""
    return totals.reshape(*totals.shape[:-1], len(RULES) + 1, -1)


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
        varies = fewest[rule, treatment] > 1 and low[number] < high[number]
        yield {
            **group.names,
            "order": (*RULES, POOLED)[rule],
            "draws": tuple(TREATMENTS)[treatment],
            "verbosity_bias": bias[number],
            "ci_low": low[number] if varies else None,
            "ci_high": high[number] if varies else None,
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


WIDTH = 20  # percentage points of a bin; bins are centred at multiples of it
CURVE_RULES = ("debiased", "single")  # of the order: columns of the table `pairs`
LAST = 11  # the open bin beyond +110 %; bin 0 is about -100 %
# Bin of 100 (length - other) / other, exactly: floor((that + 110) / 20). An empty other is infinitely shorter than any words.
BIN = """case when {length} is null or {other} is null then null when {other} = 0 then if({length} = 0, 5, 11)
              else least(11, floor((10 * {length}::double + {other}) / (2 * {other}::double)))::integer end"""


def score_curves(connection: duckdb.DuckDBPyConnection) -> Iterator[dict]:
    """Yield the rows of the score curves, by experiment, condition or pool, judge, then the humans, order and bin (Fig. 3, 4).

    The score of a comparison is 1 if the answer of model_a wins, -1 if that of model_b does, 0 for a draw. order: `debiased`,
    a judge's verdict that both orders agree on, or else a draw; `single`, its verdict where there is one order alone, which
    stands for the judge if the order was drawn at random; empty for the humans (judge `Human`), whose score is that of the
    label, each comparison once. mean and std_dev (with n - 1; missing where n is 1) are over the n comparisons whose relative
    difference in words, 100 (length_a - length_b) / length_b percent, is in [bin_low, bin_high); the bins are 20 points wide
    and centred at multiples of 20, the last, from 110, is open. Comparisons with an error (of the humans: without label) are
    left out, and bins without comparisons have no row. Those without both lengths are in no bin: no_length counts them, the
    same in all rows of a curve. connection: see `open_pairs`.
    """
    binned = BIN.format(length="length_a", other="length_b")
    columns = f"experiment, condition, judge, '{{rule}}' as rule, {binned} as bin, {{rule}} as verdict"
    judged = [f"select {columns.format(rule=rule)} from pairs where {rule} <> 'error'" for rule in CURVE_RULES]
    labelled = f"""
        select experiment, condition, {text(HUMAN)}, '', {binned}, human
        from (select distinct on (experiment, condition, item, model_a, model_b) * from pairs where human is not null)"""
    rows = " union all ".join([*judged, labelled])
    for names, rule, ends, (n, first, second), no_length in _binned(
        connection, rows, ("true", "verdict = 'a'", "verdict = 'b'")
    ):
        mean = (first - second) / n
        std_dev = math.sqrt(max(0.0, first + second - n * mean**2) / (n - 1)) if n > 1 else None
        yield {**names, "order": rule, **ends, "mean": mean, "std_dev": std_dev, "n": n, "no_length": no_length}


def alignment_curves(connection: duckdb.DuckDBPyConnection, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the alignment curves, by experiment, condition or pool, judge and bin (Saito et al., Fig. 5).

    agreement = agree / n: share of a judge's debiased decisions, draws left out, for the answer that the humans chose, over the
    n comparisons whose relative difference in words, 100 (chosen - rejected) / rejected percent, is in [bin_low, bin_high);
    bins and no_length as of `score_curves`. The interval is Wilson's (1927). Human ties are left out too. connection: see
    `open_pairs`.
    """
    chosen, rejected = (f"if(human = '{label}', length_a, length_b)" for label in "ab")
    rows = f"""
        select experiment, condition, judge, 'debiased' as rule, human, debiased,
               {BIN.format(length="chosen", other="rejected")} as bin
        from (select *, {chosen} as chosen, {rejected} as rejected from pairs
              where human in ('a', 'b') and debiased in ('a', 'b'))"""
    for names, _, ends, (n, agree), no_length in _binned(connection, rows, ("true", "debiased = human")):
        low, high = wilson(agree, n, confidence=confidence)
        row = {"agreement": agree / n, "ci_low": low, "ci_high": high, "agree": agree, "n": n, "no_length": no_length}
        yield {**names, **ends, **row}


def _binned(
    connection: duckdb.DuckDBPyConnection, rows: str, counts: Sequence[str]
) -> Iterator[tuple[dict, str, dict, Sequence[int], int]]:
    """Yield experiment, condition or pool and judge, then order rule, ends of the bin in percent, `counts`, and rows in no bin.

    rows: SQL of experiment, condition, judge, rule (of the order; empty for the humans), bin and what `counts` need: each SQL
    of what is counted. The last bin has no upper end.
    """
    names = [f"count{number}" for number in range(len(counts))]
    counted = ", ".join(f"count(*) filter (where {sql}) as {name}" for name, sql in zip(names, counts, strict=True))
    binned = connection.execute(f"""
        with by_bin as (
            select experiment, place, label, rule, judge, bin, count(*) as n, {counted}
            from ({rows}) join members using (condition) group by all)
        select experiment, label, judge, rule, bin,
               coalesce(sum(n) filter (where bin is null) over (partition by experiment, place, rule, judge), 0)::bigint,
               {", ".join(names)}
        from by_bin qualify bin is not null order by experiment, place, rule = '', judge, rule, bin""").fetchall()
    for experiment, condition, judge, rule, bin_, no_length, *values in binned:
        low = WIDTH * bin_ - 110
        ends = {"bin_low": low, "bin_high": low + WIDTH if bin_ < LAST else None}
        yield {"experiment": experiment, "condition": condition, "judge": judge}, rule, ends, values, no_length


def wilson(successes: int, n: int, *, confidence: float) -> tuple[float, float]:
    """Return the ends of Wilson's score interval (1927) of a share, `successes` of `n` > 0."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = share + z**2 / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = ((middle + sign * half) / (1 + z**2 / n) for sign in (-1, 1))
    return min(max(low, 0.0), share), max(min(high, 1.0), share)  # rounding may put an end beyond 0, 1 or the share itself
