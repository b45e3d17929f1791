"""Whether ratings go with the human scores, or with other judges' ratings of the same answers: if
not, data may be wrong.

A reversed scale, scores in the wrong rows and swapped columns leave every value valid; correlations
show them.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from recuse.base.database import Connection, connect
from recuse.check.facts import FINE, NOTE, WARNING, Facts, Finding, Findings
from recuse.data.cells import Levels, read_levels
from recuse.data.describe import WITH_OTHERS
from recuse.data.selection import EVERY_ROW
from recuse.data.study import StudyTables
from recuse.model.least_squares import quantile

# Probability of any, among all judges and dimensions, if each true correlation is at its limit
# below
FALSE_ALARM = 0.01
# Correlations of several judges' mean, and of one: an interval below them is near 0
WEAK_PANEL, WEAK_JUDGE = 0.2, 0.1
UNLIKE = 1 / 3  # of the mean correlation of the other judges: an interval below it is unlike theirs
MOST_PROMPTS = 500  # that are read, evenly spaced: of more, correlations are hardly known better
NEAR = 1e-9  # scores no farther apart are equal
FEWEST = 10  # sets of answers to one prompt that one judge rated, for a sign of swapped columns
PANEL = -1  # in place of the code of a judge
HUMANS, OTHERS = "humans", "others"  # the human scores; the other judges' ratings of the answers


class Correlation(NamedTuple):
    """A correlation of ratings with `against` by `judge_correlations`, and its interval."""

    against: str  # HUMANS or OTHERS
    judge: str  # empty: the mean rating of an answer by all judges
    dimension: str
    value: float
    low: float
    high: float
    answers: int
    prompts: int
    confidence: float  # of the interval


def agreement(facts: Facts) -> Findings:
    """Report for each judge and dimension how ratings correlate with human scores or, without
    these, with the other judges.

    A warning where the interval is below 0, for the mean of all judges below WEAK_PANEL (WEAK_JUDGE
    if there is one), for one of several below UNLIKE of the others' mean correlation; a note where
    it is below WEAK_JUDGE. A small sample has a wide one.
    """
    levels, connection = read_levels(facts.study.ratings[0]), connect()
    columns = "prompt, occasion_code, group_code, gt, length, rating_unit, gt_unit"
    every = -(-facts.scored_prompts // MOST_PROMPTS)
    rows = (
        f"select {columns} from ({facts.study.scored.rows(EVERY_ROW)}) where prompt % {every} = 0"
    )
    connection.execute(f"create temp table sampled as {rows}")
    yield from answer_scores(facts, connection, levels)
    computed = judge_correlations(facts, connection, levels)
    judges = facts.names("judge")
    # The correlations that are compared with one another: the query sorted them so
    sets = {key: [*rows] for key, rows in groupby(computed, key=itemgetter(0, 2))}
    of_panel = {row.dimension: row for row in computed if row.against == HUMANS and not row.judge}
    for dimension, row in of_panel.items():
        among = [each.value for each in sets.get((OTHERS, dimension), ())]
        limit = WEAK_PANEL if len(judges) > 1 else WEAK_JUDGE
        level = WARNING if row.high < limit else FINE
        yield Finding(
            "agreement/panel",
            dimension,
            row.value,
            level,
            2 - row.value,
            row=row,
            judges=judges,
            others=_mean(among),
        )
    against = HUMANS if of_panel else OTHERS
    for row in computed if len(judges) > 1 else ():
        if row.judge and row.against == against:
            others = [each.value for each in sets[row[:3:2]] if each.judge not in ("", row.judge)]
            yield _judge_finding(row, others, of_panel.get(row.dimension))


def _judge_finding(row: Correlation, others: Sequence[float], panel: Correlation | None) -> Finding:
    """The finding about one judge, unless that about all explains it; others: correlations of the
    other judges.
    """
    mean, level = _mean(others), FINE
    if row.high < 0:
        level = WARNING if panel is None or panel.high >= 0 else FINE
    elif panel is None or panel.high >= WEAK_PANEL:
        is_unlike = row.high < UNLIKE * (mean or 0.0)
        level = WARNING if is_unlike else NOTE if row.high < WEAK_JUDGE else FINE
    return Finding("agreement/judge", "", row.value, level, -row.value, row=row, others=mean)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def judge_correlations(facts: Facts, connection: Connection, levels: Levels) -> list[Correlation]:
    """Compute the correlations of judges, and of their mean rating, by dimension, from the table
    `sampled` of ratings.

    r = Sxy / sqrt(Sxx Syy), with the sums over deviations from the means of judge, model, dimension
    and dataset and then, if judges rate several models on a prompt, from those of the prompt: hard
    prompts and good models do not make scores in the wrong rows look right. The standard error is
    clustered by prompt; the interval is by Fisher's z and t with P - 1 degrees of freedom, at 1 - 2
    FALSE_ALARM / k for k correlations of judges, or of their mean, with the same.
    """
    judge, dimension, answer = (
        levels.sql_place("judge"),
        levels.sql_place("dimension"),
        levels.sql_without("judge"),
    )
    several = f"select count(*) >= 2 * count(distinct (prompt, {judge}, {dimension})) from sampled"
    within = (
        "avg({}) over (partition by prompt, judge, dimension)"
        if connection.execute(several).fetchone()[0]
        else "0"
    )
    with_humans = f"""
        select '{HUMANS}' as against, judge, dimension, prompt, x, y from deviations
        union all select '{HUMANS}', {PANEL}, dimension, prompt, total / judges, y from answers
        union all """
    pairs = f"""
        with means as (
                 select group_code, avg(rating_unit) as mean_rating, avg(gt_unit) as mean_score from sampled group by all),
             of_group as (
                 select prompt, (occasion_code, {answer}) as answer, {judge} as judge, {dimension} as dimension,
                        rating_unit - mean_rating as x, gt_unit - mean_score as y
                 from sampled join means using (group_code)),
             deviations as (select * replace (x - {within.format("x")} as x, y - {within.format("y")} as y) from of_group),
             answers as (
                 select prompt, answer, dimension, sum(x) as total, count(*) as judges, avg(y) as y
                 from deviations group by all),
             pairs as ({with_humans if facts.scored.has_reference else ""}
                 select '{OTHERS}' as against, judge, deviations.dimension, prompt, x, (total - x) / (judges - 1) as y
                 from deviations join answers using (prompt, answer) where judges > 1)
        from pairs"""
    fitted = _correlations(connection, pairs, "against, dimension, judge")
    kinds = [(against, judge == PANEL) for against, _, judge in fitted]
    result = []
    for (against, place, judge), (value, error, answers, prompts) in fitted.items():
        confidence = 1 - 2 * FALSE_ALARM / kinds.count((against, judge == PANEL))
        low, high = fisher_interval(value, error, prompts, confidence)
        names = "" if judge == PANEL else levels.judge[judge], levels.dimension[place]
        result.append(Correlation(against, *names, value, low, high, answers, prompts, confidence))
    return result


def _correlations(
    connection: Connection, pairs: str, keys: str
) -> dict[tuple, tuple[float, float, int, int]]:
    """The correlations of x and y in the rows of a query, for each value of some of its columns: as
    by `correlated`, and the numbers of answers and prompts.
    """
    sums = "count(*) as n, sum(x * x), sum(y * y), sum(x * y)"
    rows = connection.execute(
        f"select {keys}, prompt, {sums} from ({pairs}) group by all order by all"
    ).fetchall()
    found = {}
    for key, by_prompt in groupby(rows, key=lambda row: row[:-5]):
        *_, n, xx, yy, xy = zip(*by_prompt, strict=True)
        fitted = correlated(np.array([xx, yy, xy]))
        if fitted is not None:
            found[key] = (*fitted, sum(n), len(n))
    return found


def correlated(moments: np.ndarray) -> tuple[float, float] | None:
    """Correlation, and the standard error of its Fisher's z, from sums of x^2, y^2 and x y by
    prompt, (3, prompts).

    None if x or y does not vary, or with fewer than three prompts: the influences of two are 0 if
    they weigh the same.
    """
    (xx, yy, xy), prompts = moments.sum(axis=1), moments.shape[1]
    if prompts < 3 or min(xx, yy) < NEAR:
        return None
    value = float(np.clip(xy / math.sqrt(xx * yy), NEAR - 1, 1 - NEAR))
    influence = moments[2] / math.sqrt(xx * yy) - value / 2 * (moments[0] / xx + moments[1] / yy)
    error = math.sqrt(prompts / (prompts - 1) * float(influence @ influence))
    return value, error / (1 - value**2)


def fisher_interval(
    value: float, error: float, prompts: int, confidence: float
) -> tuple[float, float]:
    """The ends of the interval of a correlation, by Fisher's z and its error and t with prompts - 1
    degrees of freedom.
    """
    z, half = math.atanh(value), quantile(confidence, prompts - 1) * error
    return math.tanh(z - half), math.tanh(z + half)


def correlations_with_others(study: StudyTables, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the table of correlations on each judge's ratings and the mean of the other
    judges' ratings of the same answers, all less the judge's mean in the dimension.

    Errors and intervals are by prompt, as in `judge_correlations`. Two judges have no rows, as
    their correlation does not say which of them is astray.
    """
    levels, every = read_levels(study.ratings[0]), -(-study.prompts // MOST_PROMPTS)
    judge, dimension = levels.sql_place("judge"), levels.sql_place("dimension")
    pairs = f"""
        with rated as (
                 select prompt, (prompt, occasion_code, {levels.sql_without("judge")}) as answer, {judge} as judge,
                        rating_unit - avg(rating_unit) over (partition by {judge}, {dimension}) as x
                 from ({study.rows(EVERY_ROW)}) where prompt % {every} = 0),
             answers as (select answer, sum(x) as total, count(*) as judges from rated group by all)
        select judge, prompt, x, (total - x) / (judges - 1) as y
        from rated join answers using (answer) where judges > 1"""
    fitted = _correlations(connect(), pairs, "judge")
    for (judge,), (value, error, answers, prompts) in (
        fitted.items() if len(levels.judge) > 2 else ()
    ):
        low, high = fisher_interval(value, error, prompts, confidence)
        row = {"dimension": "", "judge": levels.judge[judge], "statistic": WITH_OTHERS}
        row |= {"n": answers, "value": value, "ci_low": low, "ci_high": high}
        yield row | {"std_error": error * (1 - value**2)}


def answer_scores(facts: Facts, connection: Connection, levels: Levels) -> Findings:
    """Report human scores that differ between judges' rows of one answer, and what shows that judge
    and model are swapped.

    Score and length are an answer's: they differ between models, not between judges. Where they
    differ between judges, but not between models, the columns are swapped. They are read from the
    table `sampled` of ratings.
    """
    columns = {"gt": "human score"} if facts.scored.has_reference else {}
    if facts.with_length == facts.rows:
        columns["length"] = "length"
    for column, what in columns.items():
        (answers, by_judge), (sets, by_model) = (
            connection.execute(f"""
                select count(*), count(*) filter (spread > {NEAR})
                from (select max({column}) - min({column}) as spread from sampled
                      group by prompt, occasion_code, {levels.sql_without(axis)}
                      having count(*) > 1)""").fetchone()
            for axis in ("judge", "model")
        )
        if not by_judge:
            continue
        share = by_judge / answers
        if not by_model and sets >= FEWEST:
            yield Finding("agreement/swapped", "", share, WARNING, 4.0, what=what, sets=sets)
        elif column == "gt":
            yield Finding("agreement/differ", "", share, WARNING, 3.0)
