"""Curves against the difference in length: scores of an answer, agreement with the humans (Saito et al., Figures 3 to 5)."""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import duckdb

from judgebias.database import text
from judgebias.ratings.registry import HUMAN

WIDTH = 20  # percentage points of a bin; bins are centred at multiples of it
RULES = ("debiased", "single")  # of the order: columns of the table `pairs`
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
    same in all rows of a curve. connection: see `open_pairs`. Source: Saito et al.
    """
    binned = BIN.format(length="length_a", other="length_b")
    columns = f"experiment, condition, judge, '{{rule}}' as rule, {binned} as bin, {{rule}} as verdict"
    judged = [f"select {columns.format(rule=rule)} from pairs where {rule} <> 'error'" for rule in RULES]
    labelled = f"""
        select experiment, condition, {text(HUMAN)}, '', {binned}, human
        from (select distinct on (experiment, condition, item, model_a, model_b) * from pairs where human is not null)"""
    counts = ("true", "verdict = 'a'", "verdict = 'b'")
    rows = " union all ".join([*judged, labelled])
    for curve, rule, place, (n, first, second), no_length in _binned(connection, rows, counts):
        mean = (first - second) / n
        std_dev = math.sqrt(max(0.0, first + second - n * mean**2) / (n - 1)) if n > 1 else None
        yield {**curve, "order": rule, **_ends(place), "mean": mean, "std_dev": std_dev, "n": n, "no_length": no_length}


def _binned(
    connection: duckdb.DuckDBPyConnection, rows: str, counts: Sequence[str]
) -> Iterator[tuple[dict, str, int, Sequence[int], int]]:
    """Yield experiment, condition or pool and judge, then order rule, bin, counts (each SQL of what is counted), and rows in no
    bin.

    rows: SQL of experiment, condition, judge, rule (of the order; empty for the humans), bin and what `counts` need.
    """
    names = [f"count{number}" for number in range(len(counts))]
    counted = ", ".join(f"count(*) filter (where {sql}) as {name}" for name, sql in zip(names, counts, strict=True))
    found = connection.execute(f"""
        with by_bin as (
            select experiment, place, label, rule, judge, bin, count(*) as n, {counted}
            from ({rows}) join members using (condition) group by all)
        select experiment, label, judge, rule, bin,
               coalesce(sum(n) filter (where bin is null) over (partition by experiment, place, rule, judge), 0)::bigint,
               {", ".join(names)}
        from by_bin qualify bin is not null order by experiment, place, rule = '', judge, rule, bin""").fetchall()
    for experiment, condition, judge, rule, place, no_length, *values in found:
        yield {"experiment": experiment, "condition": condition, "judge": judge}, rule, place, values, no_length


def alignment_curves(connection: duckdb.DuckDBPyConnection, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the alignment curves, by experiment, condition or pool, judge and bin (Saito et al., Fig. 5).

    agreement = agree / n: share of a judge's debiased decisions, draws left out, for the answer that the humans chose, over the
    n comparisons whose relative difference in words, 100 (chosen - rejected) / rejected percent, is in [bin_low, bin_high);
    bins and no_length as of `score_curves`. The interval is Wilson's (1927). Human ties are left out too. connection: see
    `open_pairs`.
    """
    chosen, rejected = (f"if(human = '{label}', length_a, length_b)" for label in "ab")
    binned = BIN.format(length="chosen", other="rejected")
    rows = f"""
        select experiment, condition, judge, 'debiased' as rule, human, debiased, {binned} as bin
        from (select *, {chosen} as chosen, {rejected} as rejected from pairs
              where human in ('a', 'b') and debiased in ('a', 'b'))"""
    for curve, _, place, (n, agree), no_length in _binned(connection, rows, ("true", "debiased = human")):
        low, high = wilson(agree, n, confidence=confidence)
        row = {"agreement": agree / n, "ci_low": low, "ci_high": high, "agree": agree, "n": n, "no_length": no_length}
        yield {**curve, **_ends(place), **row}


def wilson(successes: int, n: int, *, confidence: float) -> tuple[float, float]:
    """Return the ends of Wilson's score interval (1927) of a share, `successes` of `n` > 0."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = share + z**2 / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = ((middle + sign * half) / (1 + z**2 / n) for sign in (-1, 1))
    return min(max(low, 0.0), share), max(min(high, 1.0), share)  # rounding may put an end beyond 0, 1 or the share itself


def _ends(place: int) -> dict:
    """Ends of a bin in percent; the last has no upper end."""
    low = WIDTH * place - 110
    return {"bin_low": low, "bin_high": low + WIDTH if place < LAST else None}
