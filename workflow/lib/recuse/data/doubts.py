"""Judges whose ratings may not be what they seem: failed judgments that were coded as ratings,
another scale, or a copy of other judges' ratings.

A verdict on such a judge would be about the mistake, so there is none until the study's
configuration answers the doubt.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recuse.base.database import Connection
from recuse.base.reasons import Reason, because
from recuse.base.words import percent
from recuse.data.cells import Cells, Levels

# A level that one judge alone uses: its share of the judge's ratings of others' answers, and what
# the other judges use it at most, times that share
LEAST_SHARE, ALMOST_NEVER = 0.01, 0.1
# Standard deviations of the judge's other ratings, from their mean; and how many of these are near
# the level at most, times those at it
FAR, BETWEEN = 1.5, 0.5
FEWEST_LEVELS = 3  # of the other ratings
FEWEST = 30  # ratings or answers, below which nothing is doubted
# Ratings may end in the middle of a scale if the other judges' end this much of it farther
FARTHER = 0.4
NEARLY_ALL = 0.99  # of a judge's ratings: the rest may be slips
FEWEST_STEPS = 4  # of a scale whose halves are distinguished
# The share of rows in which ratings are equal, and how much rarer than by chance others are
EQUAL, RARER = 0.98, 0.1
MOST_PROMPTS = 500  # that are compared
PART = 8  # The first of so many parts of the answers is compared before all are.


class Doubt(NamedTuple):
    """Why there is no verdict on a judge, as by `because`."""

    judge: str
    family: str
    reason: str


def doubts(cells: Cells, answers: np.ndarray, levels: Levels) -> list[Doubt]:
    """The doubts about judges that `levels` does not list as trusted, one for each judge.

    answers: (answers, judges) ratings, as by `answers_by_judge`.
    """
    families = dict(zip(levels.judge, levels.judge_family, strict=True))
    steps = dict(zip(levels.dimension, levels.step or [1] * len(levels.dimension), strict=True))
    found: dict[str, str] = {}
    for dimension in np.unique(cells.factors["dimension"]):
        rated = cells.select(cells.factors["dimension"] == dimension)
        counts = _counts_by_judge(rated)
        for judge, reason in (
            *_other_scales(str(dimension), rated, counts, steps[dimension]),
            *_lone_levels(rated, counts, steps[dimension]),
        ):
            found.setdefault(judge, reason)
    found.update(_copies(answers, levels, {*cells.factors["model"].tolist()}))
    return [
        Doubt(judge, families[judge], reason)
        for judge, reason in found.items()
        if judge not in levels.trusted
    ]


def _counts_by_judge(cells: Cells) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """How often each judge gives each rating to its own answers, and to others', (ratings,)
    each.
    """
    judges, is_self = cells.factor("judge"), cells.factor("judge") == cells.factor("model")
    return {
        str(judge): tuple(
            cells.counts[(judges == judge) & kind].sum(axis=0) for kind in (is_self, ~is_self)
        )
        for judge in np.unique(judges)
    }


def _lone_levels(cells: Cells, counts: dict, step: float) -> Iterator[tuple[str, str]]:
    """Yield the judges that alone use a level, far from their other ratings, for others' answers
    more often than for their own.
    """
    total = sum(own + others for own, others in counts.values())
    for judge, (own, others) in counts.items():
        used, elsewhere = own + others, total - own - others
        if min(own.sum(), others.sum()) < FEWEST or elsewhere.sum() < FEWEST:
            continue
        for place in np.flatnonzero(others >= LEAST_SHARE * others.sum()):
            share, share_own = others[place] / others.sum(), own[place] / own.sum()
            rest = np.where(np.arange(len(used)) == place, 0, used)
            lone = elsewhere[place] <= ALMOST_NEVER * share * elsewhere.sum()
            is_far = lone and _is_far(cells.ratings, place, rest, int(used[place]))
            if is_far and share > share_own:
                yield (
                    judge,
                    because(
                        Reason.LONE_LEVEL,
                        judge=judge,
                        level=f"{cells.ratings[place] * step:.6g}",
                        others=percent(float(share)),
                        own=percent(float(share_own)),
                    ),
                )
                break


def _is_far(ratings: np.ndarray, place: int, rest: np.ndarray, times: int) -> bool:
    """Whether a level that is used so many times is apart from the `rest` of a judge's ratings,
    (ratings,): away from their mean, with few on the next level or the first third of the way.
    """
    levels = ratings[rest > 0]
    if len(levels) < FEWEST_LEVELS:
        return False
    mean = np.average(ratings, weights=rest)
    sd = np.sqrt(np.average((ratings - mean) ** 2, weights=rest))
    distance = abs(mean - ratings[place])
    way = (ratings - ratings[place]) * np.sign(mean - ratings[place])
    first = np.maximum(distance / 3, np.median(np.diff(levels)))
    near = rest[(way > 0) & (way <= first)].sum()
    return bool(distance > FAR * sd and near <= BETWEEN * times)


def _other_scales(
    dimension: str, cells: Cells, counts: dict, step: float
) -> Iterator[tuple[str, str]]:
    """Yield the judges whose ratings end at the middle of the scale or below, where those of most
    judges end much higher, or the other way round.
    """
    low, high = cells.scale[0]
    used = {judge: sum(kinds) for judge, kinds in counts.items()}
    used = {judge: each for judge, each in used.items() if each.sum() >= FEWEST}
    if high - low < FEWEST_STEPS or len(used) < 3:
        return
    tops = {
        judge: cells.ratings[np.searchsorted(each.cumsum(), NEARLY_ALL * each.sum())]
        for judge, each in used.items()
    }
    for judge, top in tops.items():
        usual = np.median([other for name, other in tops.items() if name != judge])
        lower = (min(top, usual) - low) / (high - low)
        far = FARTHER * (high - low)
        usually = sum(abs(other - usual) < far / 2 for other in tops.values())
        if lower <= 1 / 2 and abs(top - usual) >= far and usually > len(tops) / 2:
            yield (
                judge,
                because(
                    Reason.OTHER_SCALE,
                    judge=judge,
                    dimension=dimension,
                    top=f"{top * step:.6g}",
                    usual=f"{usual * step:.6g}",
                ),
            )


def _copies(table: np.ndarray, levels: Levels, models: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the judges whose ratings equal those of another judge, or the mean of all others, in
    nearly all rows.

    Of two equal judges the one without own answers is left out, else the later by alphabet. Scales
    of two or three levels are not compared: two good judges may agree on them.
    """
    names = sorted(levels.judge, key=lambda name: (name not in models, name))
    ratings = dict(zip(levels.judge, np.ascontiguousarray(table.T), strict=True))
    left_out: set[str] = set()
    for place, judge in enumerate(names):
        for other in names[:place]:
            if other in left_out:
                continue
            if share := _equal(ratings[judge], ratings[other], within=0):
                left_out.add(judge)
                yield judge, _copied(judge, other, share)
                break
    kept = [name for name in levels.judge if name not in left_out]
    known = {name: ~np.isnan(ratings[name]) for name in kept}
    judges = sum(known.values())  # (answers,) how many rated each
    total = sum(np.where(known[name], ratings[name], 0) for name in kept)
    for judge in kept if len(kept) > 2 else ():
        others = judges - known[judge]
        left = total - np.where(known[judge], ratings[judge], 0)
        mean = np.where(others > 1, left / np.maximum(others, 1), np.nan)
        if share := _equal(ratings[judge], mean, within=0.5):
            yield judge, _copied(judge, "the mean of the other judges", share)


def _copied(judge: str, whose: str, share: float) -> str:
    return because(Reason.COPIED_RATINGS, judge=judge, whose=whose, share=percent(share))


def answers_by_judge(connection: Connection, ratings: str, levels: Levels) -> np.ndarray:
    """The rating of each answer to the first MOST_PROMPTS prompts by each judge, (answers, judges),
    NaN without one, on scales of four levels or more.

    ratings: SQL for all rows, with the codes of the canonical ratings and their rating.
    """
    several = [place for place, (low, high) in enumerate(levels.scale) if high - low > 2]
    if not several:
        return np.full((0, len(levels.judge)), np.nan)
    kept = f"({levels.sql_place('dimension')}) in ({', '.join(map(str, several))})"
    answer = "prompt, occasion_code, completion"
    rows = connection.execute(f"""
        with rated as (
                 select prompt, occasion_code, {levels.sql_without("judge")} as completion,
                        {levels.sql_place("judge")} as judge, rating
                 from ({ratings}) where prompt < {MOST_PROMPTS} and {kept}),
             answers as (
                 select *, row_number() over (order by {answer}) - 1 as answer
                 from (select distinct {answer} from rated))
        select answer, judge, rating from rated join answers using ({answer})""").fetchnumpy()
    answer = rows["answer"].astype(int)
    table = np.full((answer.max(initial=-1) + 1, len(levels.judge)), np.nan)
    table[answer, rows["judge"].astype(int)] = rows["rating"]
    return table


def _equal(x: np.ndarray, y: np.ndarray, *, within: float) -> float:
    """The share of answers to which two judges give equal ratings, (answers,) each, if that is a
    sign of a copy, else 0.

    By chance: with the ratings of other answers.
    """
    # Most judges differ too often already in a part of the answers.
    part = slice(len(x) // PART)
    if np.count_nonzero(np.abs(x[part] - y[part]) > within) > (1 - EQUAL) * len(x):
        return 0.0
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    if len(x) < FEWEST:
        return 0.0
    differ = float((np.abs(x - y) > within).mean())
    by_chance = float((np.abs(x - np.roll(y, len(y) // 2)) > within).mean())
    return 1 - differ if differ <= min(1 - EQUAL, RARER * by_chance) else 0.0
