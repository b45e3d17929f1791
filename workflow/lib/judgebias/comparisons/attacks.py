"""Attack success rate: how often a perturbation moves a judge's preference towards the perturbed answer."""

from collections.abc import Mapping, Sequence

import duckdb
import numpy as np

from judgebias.comparisons.ranks import with_ranks
from judgebias.comparisons.schemas import CONTROL
from judgebias.database import text
from judgebias.errors import ConfigError
from judgebias.simulation.comparison_world import WORSENING

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
         told as (select *, before is not null and after is not null as complete from paired),
         moved as (select *, condition in (select unnest(?::varchar[])) as worsening from told)
    select experiment, condition, model_a, model_b, judge,
           count(*) filter (complete and before <> if(worsening, 'a', 'b')) as n,
           count(*) filter (complete and if(worsening, 'a' not in (before, after), before <> 'b' and after = 'b')) as shifted,
           count(*) filter (complete) as samples, count(*) filter (not complete) as left_out,
           coalesce(sum(votes) filter (complete), 0)::bigint as votes, sum(errors)::bigint as errors
    from moved group by all order by experiment, condition, model_a, model_b, judge"""


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
    found = connection.execute(COUNTS, [list(worsening)])
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
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
        found = ", ".join(conditions) or "none"
        raise ConfigError(
            f"config: comparisons: {study}: worsening: '{unknown[0]}' is no condition of its votes; found: {found}"
        )
    worse = ", ".join(sorted({*worsening} & {*conditions})) or "none"
    return f"perturbations: {', '.join(conditions)}; worsening: {worse}"
