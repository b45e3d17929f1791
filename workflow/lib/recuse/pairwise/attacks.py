"""Attacks on a judge: how often a perturbation wins it over, and what single votes say of places, lengths and answers.

Every table begins from `votes`, the verdicts about perturbed answers, or from `samples`, the preference that the votes on one
pair of answers make. Source: Chen et al., Humans or LLMs as the Judge?
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import duckdb
import numpy as np

from recuse.base.database import files, text
from recuse.base.errors import ConfigError
from recuse.base.tables import CONTROL, WORSENING
from recuse.pairwise.questions import bootstrap, groups_of, quotient, ranks

# Of CoBBLEr's tests (see `cognitive`), which perturb no answer: they may stand in one experiment with a control group.
OF_OTHER_TESTS = ("order", "compassion", "bandwagon", "attentional")
BIN = 10  # units of length
BINS = 6  # the last is open
LEFT_OUT = ("equal_lengths", "no_length", "errors")  # of the length curve


def create_votes(connection: duckdb.DuckDBPyConnection, comparisons: str) -> None:
    """Create the temporary view `votes`: the verdicts about perturbed answers in the canonical table, a parquet file.

    They are those of experiments that have a control group, under any condition that has a name and is none of
    OF_OTHER_TESTS: the control group's, or the perturbation's of the answer of model_b. One row per vote, with the columns of
    the canonical table.
    """
    connection.execute(f"""
        create temp table attacked as
        select distinct experiment from {files([comparisons])} where condition = {text(CONTROL)}""")
    connection.execute(f"""
        create temp view votes as
        select * from {files([comparisons])}
        where condition not in ('', {", ".join(map(text, OF_OTHER_TESTS))})
          and experiment in (select experiment from attacked)""")


def create_samples(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the temporary table `samples` from the view `votes`, by judge, experiment, condition, item, model_a and model_b.

    votes: how many verdicts there are, without errors; errors: how many are errors. preference: a vote scores 0 for the answer
    of model_a, 0.5 for a tie, 1 for that of model_b; a mean of the scores below, equal to or above 0.5 is the preference `a`,
    `tie` or `b`; NULL where there are only errors (Chen et al., section 4.4).
    """
    connection.execute("""
        create temp table samples as
        select judge, experiment, condition, item, model_a, model_b,
               count(*) filter (outcome <> 'error') as votes, count(*) filter (outcome = 'error') as errors,
               case sign(count(*) filter (outcome = 'b') - count(*) filter (outcome = 'a'))
                   when -1 then 'a' when 1 then 'b' else if(count(*) filter (outcome <> 'error') = 0, null, 'tie')
               end as preference
        from votes group by all""")


# A group is one perturbation of the samples of one judge, experiment and pair of models.
COUNTS = f"""
    with control as (select * exclude (condition) from samples where condition = {text(CONTROL)}),
         perturbed as (select * from samples where condition <> {text(CONTROL)}),
         groups as (select distinct experiment, condition, model_a, model_b, judge from perturbed),
         paired as (
             select experiment, condition, model_a, model_b, judge,
                    control.preference as before, perturbed.preference as after,
                    coalesce(control.votes, 0) + coalesce(perturbed.votes, 0) as votes,
                    coalesce(control.errors, 0) + coalesce(perturbed.errors, 0) as errors
             from (select * from groups join control using (experiment, model_a, model_b, judge)) as control
             full join perturbed using (experiment, condition, model_a, model_b, judge, item)),
         judged as (select *, before is not null and after is not null as complete,
                           condition in (select unnest(?::varchar[])) as worsening from paired)
    select experiment, condition, model_a, model_b, judge,
           count(*) filter (complete and before <> if(worsening, 'a', 'b')) as n,
           count(*) filter (complete and if(worsening, 'a' not in (before, after), before <> 'b' and after = 'b')) as shifted,
           count(*) filter (complete) as samples, count(*) filter (not complete) as left_out,
           coalesce(sum(votes) filter (complete), 0)::bigint as votes, sum(errors)::bigint as errors
    from judged group by all order by experiment, condition, model_a, model_b, judge"""


def success_rates(connection: duckdb.DuckDBPyConnection, *, worsening: Sequence[str], confidence: float) -> list[dict]:
    """Return the rows of the table of attack success rates (ASR), from the table `samples`.

    With `before` and `after` the preferences of a sample in the control group and with the perturbed answer (b):
    improving perturbation:  ASR = |{before in {a, tie}, after = b}| / |{before in {a, tie}}|
    worsening perturbation:  ASR = |{before in {b, tie}, after in {b, tie}}| / |{before in {b, tie}}|
    One row per experiment, perturbation, pair of models and judge: asr in 0 to 1 (NaN if its denominator n is 0) with its exact
    interval, shifted (the numerator), n, samples (those with both preferences), left_out (those with one, or none for errors),
    votes (of `samples`, both groups), errors (of all samples, both groups) and rank (1 is the lowest asr of the judges).

    worsening: conditions of the second kind; all others are of the first. confidence: level of the intervals. Source: Chen et
    al., Humans or LLMs as the Judge?, section 4.5.
    """
    counts = connection.execute(COUNTS, [list(worsening)])
    names = [column[0] for column in counts.description]
    rows = [dict(zip(names, row, strict=True)) for row in counts.fetchall()]
    for row in rows:
        low, high = exact_interval(row["shifted"], row["n"], confidence)
        row |= {"asr": row["shifted"] / row["n"] if row["n"] else np.nan, "ci_low": low, "ci_high": high}
    return with_ranks(rows)


def exact_interval(count: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the ends of the exact interval (Clopper and Pearson 1934) of a share of `count` in `n`; NaN where n is 0."""
    from scipy.special import betaincinv

    if n == 0:
        return np.nan, np.nan
    tail = (1 - confidence) / 2
    low = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return low, high


def worsening_among(rates: Sequence[Mapping], worsening: Sequence[str], *, study: str) -> str:
    """Say which perturbations of the rows of `rates` are counted as worsening.

    ConfigError if one of `worsening` is none of them, but for those that are so by default (WORSENING).
    """
    conditions = sorted({row["condition"] for row in rates})
    unknown = sorted({*worsening} - {*conditions, *WORSENING})
    if unknown:
        listed = ", ".join(conditions) or "none"
        raise ConfigError(
            f"config: comparisons: {study}: worsening: '{unknown[0]}' is no condition of its votes; found: {listed}"
        )
    worse = ", ".join(sorted({*worsening} & {*conditions})) or "none"
    return f"perturbations: {', '.join(conditions)}; worsening: {worse}"


def with_ranks(rows: Sequence[Mapping]) -> list[dict]:
    """Return `rows` (shifted, n) with their rank among the judges of the same experiment, condition and pair of models."""
    ranked = [dict(row) for row in rows]
    for members in _grouped(ranked, "experiment", "condition", "model_a", "model_b").values():
        rates = [Fraction(row["shifted"], row["n"]) if row["n"] else None for row in members]
        for row, rank in zip(members, ranks(rates), strict=True):
            row["rank"] = rank
    return ranked


def average_ranks(rows: Sequence[Mapping]) -> list[dict]:
    """Return the average rank of each judge over the columns of an experiment, from the rows of the table of success rates.

    A column is a condition with a pair of models in which a judge has a rank; where none has an eligible sample there is no
    column. A judge without a rank in each column has no average; `columns` is how many it has. place: the judge's rank by
    average. Sorted by experiment, place and judge, those without a place last.
    """
    averages = []
    for (experiment,), members in _grouped(rows, "experiment").items():
        ranked = [row for row in members if row["rank"] is not None]
        columns = len(_grouped(ranked, "condition", "model_a", "model_b"))
        by_judge = {row["judge"]: [] for row in members}
        for row in ranked:
            by_judge[row["judge"]].append(row["rank"])
        means = [Fraction(sum(own), columns) if len(own) == columns > 0 else None for own in by_judge.values()]
        for (judge, own), mean, place in zip(by_judge.items(), means, ranks(means), strict=True):
            average = None if mean is None else float(mean)
            row = {"experiment": experiment, "judge": judge, "average_rank": average, "columns": len(own), "place": place}
            averages.append(row)
    return sorted(averages, key=lambda row: (row["experiment"], row["place"] is None, row["place"], row["judge"]))


def _grouped(rows: Iterable[Mapping], *keys: str) -> dict[tuple[Hashable, ...], list]:
    groups: dict[tuple[Hashable, ...], list] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def votes_by_position(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield, by experiment and judge, the shares of votes for the answer shown first, for neither and for the one shown second.

    difference: first - second, which is 0 without position bias if both orders are shown equally often; ci_low, ci_high: its
    percentile interval, by a bootstrap over questions; n: votes of the view `votes` without errors; errors: how many these are.
    Source: Chen et al., Table 6.
    """
    query = """
        select experiment, judge, item, count(*) filter (("order", outcome) in (('ab', 'a'), ('ba', 'b'))) as first,
               count(*) filter (outcome = 'tie') as tie,
               count(*) filter (("order", outcome) in (('ab', 'b'), ('ba', 'a'))) as second,
               count(*) filter (outcome = 'error') as errors
        from votes group by all order by experiment, judge, item"""
    groups = groups_of(connection, query, ("experiment", "judge"), ("first", "tie", "second", "errors"))
    ends = bootstrap(groups, _difference, confidence=confidence, seed=seed)
    for group, (low, high) in zip(groups, ends, strict=True):
        totals = group.sums.sum(axis=0)
        n = totals[:3].sum()
        yield {
            **group.names,
            **dict(zip(("first", "tie", "second"), quotient(totals[:3], np.full(3, n)), strict=True)),
            "difference": _difference(totals)[0],
            "ci_low": low[0],
            "ci_high": high[0],
            "n": int(n),
            "errors": int(totals[3]),
        }


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
    scores = {f"score{bin_}": f"coalesce(sum(score) filter (bin = {bin_}), 0)" for bin_ in range(BINS)}
    numbers = {f"n{bin_}": f"count(*) filter (bin = {bin_})" for bin_ in range(BINS)}
    columns = scores | numbers | {why: f"count(*) filter (why = {text(why)})" for why in LEFT_OUT}
    query = f"""
        with sorted as (select *, if(length_a > length_b, 'a', 'b') as longer,
                               case when outcome = 'error' then 'errors'
                                    when length_a is null or length_b is null then 'no_length'
                                    when length_a = length_b then 'equal_lengths' end as why
                        from votes where condition = {text(CONTROL)}),
             scored as (select experiment, judge, item, why,
                               if(why is null, least(floor(abs(length_a - length_b) / {BIN}), {BINS - 1}), null) as bin,
                               case outcome when 'tie' then 0.5 when longer then 1 else 0 end as score from sorted)
        select experiment, judge, item, {", ".join(f"{sql} as {column}" for column, sql in columns.items())}
        from scored group by all order by experiment, judge, item"""
    groups = groups_of(connection, query, ("experiment", "judge"), columns)
    ends = bootstrap(groups, _means, confidence=confidence, seed=seed)
    for group, (low, high) in zip(groups, ends, strict=True):
        means, votes = _means(group.sums.sum(axis=0)), group.sums[:, BINS : 2 * BINS]
        left_out = dict(zip(LEFT_OUT, map(int, group.sums[:, 2 * BINS :].sum(axis=0)), strict=True))
        if not votes.any():
            yield {**group.names, "n": 0, "questions": 0, **left_out}
        for bin_ in np.flatnonzero(votes.sum(axis=0)).tolist():
            questions = np.count_nonzero(votes[:, bin_])
            yield {
                **group.names,
                "bin_low": BIN * bin_,
                "bin_high": BIN * (bin_ + 1) if bin_ < BINS - 1 else None,
                "preference": means[bin_],
                "ci_low": low[bin_] if questions > 1 else None,
                "ci_high": high[bin_] if questions > 1 else None,
                "n": int(votes[:, bin_].sum()),
                "questions": questions,
                **left_out,
            }


def _means(totals: np.ndarray) -> np.ndarray:
    """Mean score in each bin, (..., bins), of totals (..., 2 bins or more): the scores of the bins, then their votes."""
    return quotient(totals[..., :BINS], totals[..., BINS : 2 * BINS])


def vote_shares(connection: duckdb.DuckDBPyConnection) -> Iterator[dict]:
    """Yield, by experiment, pair of models and judge, the shares of the votes in the control group for a, for neither, for b.

    n: votes without errors. Of a pair of an anchor (a) and a weaker model (b) they say how much weaker. Source: Chen et al.,
    Table 7.
    """
    names = ("experiment", "model_a", "model_b", "judge")
    counted = ", ".join(f"count(*) filter (outcome = '{outcome}')" for outcome in ("a", "tie", "b", "error"))
    query = f"select {', '.join(names)}, {counted} from votes where condition = {text(CONTROL)} group by all order by all"
    for row in connection.execute(query).fetchall():
        *counts, errors = row[len(names) :]
        n = sum(counts)
        shares = {name: count / n if n else None for name, count in zip(("a", "tie", "b"), counts, strict=True)}
        yield {**dict(zip(names, row[: len(names)], strict=True)), **shares, "n": n, "errors": errors}
