"""Single votes: by the place of the answers, by the difference of their lengths, and by answer in the control group."""

from collections.abc import Iterator

import duckdb
import numpy as np

from judgebias.comparisons.bootstrap import quotient
from judgebias.comparisons.questions import Group, bootstrap, in_groups
from judgebias.comparisons.schemas import CONTROL
from judgebias.database import text

BIN = 10  # units of length
BINS = 6  # the last is open
LEFT_OUT = ("equal_lengths", "no_length", "errors")  # of the length curve


def votes_by_position(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield, by experiment and judge, the shares of votes for the answer shown first, for neither and for the one shown second.

    difference: first - second, which is 0 without position bias if both orders are shown equally often; ci_low, ci_high: its
    percentile interval, by a bootstrap over questions; n: votes of the view `votes` without errors; errors: how many these are.
    Source: Chen et al., Table 6.
    """
    found = connection.execute("""
        select experiment, judge, item, count(*) filter (("order", outcome) in (('ab', 'a'), ('ba', 'b'))) as first,
               count(*) filter (outcome = 'tie') as tie,
               count(*) filter (("order", outcome) in (('ab', 'b'), ('ba', 'a'))) as second,
               count(*) filter (outcome = 'error') as errors
        from votes group by all order by experiment, judge, item""").fetchnumpy()
    sums = np.column_stack([found[name] for name in ("first", "tie", "second", "errors")]).astype(float)
    groups = list(in_groups(found["experiment"], found["judge"], sums))
    ends = bootstrap(groups, _difference, confidence=confidence, seed=seed)
    for group, (low, high) in zip(groups, ends, strict=True):
        totals = group.sums.sum(axis=0)
        n = totals[:3].sum()
        yield {
            "experiment": group.label, "judge": group.judge,
            **dict(zip(("first", "tie", "second"), map(float, quotient(totals[:3], np.full(3, n))), strict=True)),
            "difference": float(_difference(totals)[0]), "ci_low": float(low[0]), "ci_high": float(high[0]),
            "n": int(n), "errors": int(totals[3]),
        }  # fmt: skip


def _difference(totals: np.ndarray) -> np.ndarray:
    """Share of the first minus that of the third of the first three columns of totals (..., 4), as (..., 1)."""
    return quotient(totals[..., :1] - totals[..., 2:3], totals[..., :3].sum(axis=-1, keepdims=True))


def length_curve(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield, by experiment, judge and bin of the absolute difference of lengths, the mean vote for the longer answer.

    A vote scores 0 for the shorter answer, 0.5 for a tie, 1 for the longer one. Control group only, so that no perturbation is
    taken for length. Bins are BIN units of length wide, from bin_low to below bin_high; the last has no upper end. Interval:
    percentiles of a bootstrap over questions, none where the bin has fewer than two. n: votes. Left out, and counted by
    experiment and judge in each of its rows: errors, and of the other votes those on answers of unknown length (no_length) and
    of equal_lengths. Where nothing is left there is one row, without a bin and with n = 0. Source: Chen et al., Figure 4.
    """
    groups = _groups_by_length(connection)
    ends = bootstrap(groups, _means, confidence=confidence, seed=seed)
    for group, (low, high) in zip(groups, ends, strict=True):
        means, votes = _means(group.sums.sum(axis=0)), group.sums[:, BINS : 2 * BINS]
        left_out = dict(zip(LEFT_OUT, map(int, group.sums[:, 2 * BINS :].sum(axis=0)), strict=True))
        names = {"experiment": group.label, "judge": group.judge}
        if not votes.any():
            yield {**names, "n": 0, "questions": 0, **left_out}
        for number in np.flatnonzero(votes.sum(axis=0)):
            questions = np.count_nonzero(votes[:, number])
            yield {
                **names,
                "bin_low": int(BIN * number), "bin_high": int(BIN * (number + 1)) if number < BINS - 1 else None,
                "preference": float(means[number]),
                "ci_low": float(low[number]) if questions > 1 else None,
                "ci_high": float(high[number]) if questions > 1 else None,
                "n": int(votes[:, number].sum()), "questions": questions, **left_out,
            }  # fmt: skip


def _groups_by_length(connection: duckdb.DuckDBPyConnection) -> list[Group]:
    """Scores of the votes in each bin, then their numbers, then LEFT_OUT, (questions, 2 bins + 3), by experiment and judge."""
    sums = [f"coalesce(sum(score) filter (bin = {number}), 0)::double as score{number}" for number in range(BINS)]
    sums += [f"count(*) filter (bin = {number}) as n{number}" for number in range(BINS)]
    sums += [f"count(*) filter (why = {text(name)}) as {name}" for name in LEFT_OUT]
    found = connection.execute(f"""
        with told as (select *, if(length_a > length_b, 'a', 'b') as longer,
                             case when outcome = 'error' then 'errors'
                                  when length_a is null or length_b is null then 'no_length'
                                  when length_a = length_b then 'equal_lengths' end as why
                      from votes where condition = {text(CONTROL)}),
             scored as (select experiment, judge, item, why,
                               if(why is null, least(floor(abs(length_a - length_b) / {BIN}), {BINS - 1}), null) as bin,
                               case outcome when 'tie' then 0.5 when longer then 1 else 0 end as score from told)
        select experiment, judge, item, {", ".join(sums)}
        from scored group by all order by experiment, judge, item""").fetchnumpy()
    columns = [*(f"{name}{number}" for name in ("score", "n") for number in range(BINS)), *LEFT_OUT]
    return list(in_groups(found["experiment"], found["judge"], np.column_stack([found[column] for column in columns])))


def _means(totals: np.ndarray) -> np.ndarray:
    """Mean score in each bin, (..., bins), of totals (..., 2 bins or more): the scores of the bins, then their votes."""
    return quotient(totals[..., :BINS], totals[..., BINS : 2 * BINS])


def vote_shares(connection: duckdb.DuckDBPyConnection) -> Iterator[dict]:
    """Yield, by experiment, pair of models and judge, the shares of the votes in the control group for a, for neither, for b.

    n: votes without errors. Of a pair of an anchor (a) and a weaker model (b) they say how much weaker. Source: Chen et al.,
    Table 7.
    """
    found = connection.execute(f"""
        select experiment, model_a, model_b, judge, count(*) filter (outcome = 'a'), count(*) filter (outcome = 'tie'),
               count(*) filter (outcome = 'b'), count(*) filter (outcome = 'error')
        from votes where condition = {text(CONTROL)} group by all order by experiment, model_a, model_b, judge""").fetchall()
    for experiment, model_a, model_b, judge, *counts, errors in found:
        n = sum(counts)
        shares = {name: count / n if n else None for name, count in zip(("a", "tie", "b"), counts, strict=True)}
        pair = {"experiment": experiment, "model_a": model_a, "model_b": model_b, "judge": judge}
        yield {**pair, **shares, "n": n, "errors": errors}
