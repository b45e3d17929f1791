"""What the ratings contain and lack, and how judges and humans use the rating scale.

Counts, names and families; missing ratings, human scores and lengths, and what rests on the others;
the ends and levels of the scale, and whether it is the declared one.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from recuse.base.reasons import Reason, because, code, cure
from recuse.base.settings import Setting
from recuse.check.facts import (
    CROSSED,
    FINE,
    NOTE,
    WARNING,
    Facts,
    Finding,
    Findings,
    Pair,
    cells_with,
    graded,
)
from recuse.data.cells import Need
from recuse.data.selection import EVERY_ROW
from recuse.inference.human_scale import (
    BATCH,
    AnswerScores,
    read_answer_scores,
    scored_gap,
)
from recuse.inference.leaderboard import as_people_rows
from recuse.model.estimable import not_estimable
from recuse.model.fit import fitted_slices
from recuse.model.least_squares import quantile
from recuse.model.spec import SELF, Spec

BY_PROMPT = Spec.of("clustered", covariance="CR1")
EQUATION = Spec.of("main")  # whatever a user's config makes of `main`
SHARE = {"note": 0.02, "warning": 0.2}  # of the possible ratings
MORE = {"note": 0.02, "warning": 0.05}  # how much more is missing here than elsewhere
BY_CHANCE = 3.0  # standard errors of such a difference: below, it may be chance
# Share of a judge's ratings at one level, or of human scores at an end of the scale
ONE_LEVEL = {"note": 0.5, "warning": 0.8}
# Share of a judge's ratings at an end of the scale, which cuts off a bias beyond it
AT_END = {"note": 0.3, "warning": 0.5}
# Where these are on the unit scale
ENDS = {"ceiling": 1.0, "floor": 0.0}
FEWEST = 4  # steps of a scale whose halves are distinguished
# Of the unit scale: the middle; a low maximum; how far another maximum is above it
HALF, LOWER, FARTHER = 0.5, 0.6, 0.3


def missing_ratings(facts: Facts) -> Findings:
    """Report the share of missing ratings, and judges that never rate their own answers.

    A judge-model pair with any rating should have one for each prompt of the dimension; where
    models answer some of the prompts by design, for each row. A rating without human score or
    length is not missing.
    """
    table, judged, never = facts.completeness, facts.judged, unanswered(facts)
    rated, by_design = judged > 0, facts.answered < CROSSED
    if by_design:
        yield Finding("missing/by design", "", facts.answered, NOTE)
    causes = {
        "absent": 0 if by_design else int(table["absent"][rated].sum()),
        "unreadable": int(table["missing_rating"][rated].sum()),
    }
    for factor, name, rows in [("", "", rated), *facts.groups("judge", "model", "dimension")]:
        of = rows & rated
        if of.any():  # otherwise it is reported as left out
            share = float(1 - judged[of].sum() / facts.due[of].sum())
            lost = (facts.due - judged)[of].sum()
            yield Finding(
                "missing",
                name,
                share,
                graded(share, **SHARE),
                share,
                factor=factor,
                is_unanswered=2 * never[of].sum() > lost,
                **causes,
            )
    both = np.intersect1d(table["judge"][rated], table["model"][rated]).tolist()
    if both and not (rated & (table["judge"] == table["model"])).any():
        yield Finding("missing/own answers", "", len(both), WARNING, 2.0, judges=both)


def unanswered(facts: Facts) -> np.ndarray:
    """How many ratings are missing because no judge has a row of the answer, (rows,) as in
    `completeness`.

    So many of a model's answers as the judge with the most rows of it lacks.
    """
    table = facts.completeness
    absent = np.where(facts.judged > 0, facts.due - facts.present, facts.due)
    never = np.zeros(len(absent), dtype=int)
    for dimension, model in set(zip(table["dimension"], table["model"], strict=True)):
        of = (table["dimension"] == dimension) & (table["model"] == model)
        never[of] = absent[of].min()
    return never


def own_missing(facts: Facts) -> Findings:
    """Report for each judge whether ratings of its own answers are missing more often than its
    other ratings.
    """
    table, due, rated = facts.completeness, facts.due, facts.judged > 0
    is_self = table["judge"] == table["model"]
    for _, judge, rows in facts.groups("judge"):
        own, other = rated & rows & is_self, rated & rows & ~is_self
        if own.any() and other.any():
            here, others, level = _compared(due - facts.judged, due, own, other)
            more = here - others
            yield Finding("own ratings missing", judge, more, level, more, here=here, others=others)


def unscored(facts: Facts) -> Findings:
    """Report, if only some rows have a human score, how many have none, and which models and
    dimensions lack more of them.
    """
    lost, present = facts.completeness["missing_gt"], facts.present
    if not lost.any():
        return
    share = float(lost.sum() / present.sum())
    yield Finding("no human score", "", share, NOTE, share)
    judges = len(facts.rows_by("judge"))  # the rows of a completion lack its score together
    for factor, name, of in facts.groups("model", "dimension"):
        if present[~of].sum():
            here, others, level = _compared(lost, present, of, ~of, together=judges)
            yield Finding(
                "no human score/of some",
                name,
                here,
                level,
                here - others,
                factor=factor,
                others=others,
            )


def basis(facts: Facts, *, confidence: float) -> Findings:
    """Report what A and the other questions rest on, if only some rows have a human score, whether
    these were chosen at random, and what more of them would give.
    """
    study = facts.study
    if not study.is_partly_scored:
        return
    scored, refused = int(study.every_cell.scored.n.sum()), study.scored is study
    yield Finding("contents/basis of A", "", study.scored_prompts, ratings=scored, refused=refused)
    yield Finding("contents/basis", "", facts.prompts, ratings=facts.rows)
    answers = read_answer_scores(study, EVERY_ROW.rows(study.ratings))
    gap, p_value = scored_gap(answers)
    at_random = answers.at_random
    if p_value < at_random:
        yield Finding("human scores/chosen", "", gap, WARNING, 2.0, at_random=at_random)
    elif not refused:
        if answers.labelling_probability is None:
            reason = because(Reason.UNDECLARED_DRAW)
            yield Finding(
                "human scores/draw", "", None, WARNING, 2.0, reason=reason, cure=cure(reason)
            )
        yield from _more_scores(facts, answers, confidence=confidence)


def _more_scores(facts: Facts, answers: AnswerScores, *, confidence: float) -> Findings:
    """Report how narrow intervals would be at best with BATCH more human scores.

    The part of their width that comes from the scored answers goes with 1 / sqrt(scores); what
    comes from the ratings of all answers does not shrink.
    """
    scored = int(answers.is_scored.sum())
    more = min(BATCH, len(answers.human) - scored)
    ratio = math.sqrt(scored / (scored + more))
    fitted = next(fitted_slices(BY_PROMPT, facts.study.scored, seed=None))
    errors = [row for row in fitted.coefficients if row.quantity == SELF and row.std_error > 0]
    ranked = as_people_rows(answers, replicates=2, confidence=confidence, seed=0)
    halves = {
        "A": [quantile(confidence, row.df) * row.std_error for row in errors],
        "how people rate a model": [
            row["ci_high"] - row["score"] for row in ranked if "score" in row
        ],
    }
    for what, half in halves.items():
        if half:
            now = float(np.mean(half))
            yield Finding(
                "contents/more scores",
                "",
                now * ratio,
                what=what,
                more=more,
                now=now,
                confidence=confidence,
            )


def _compared(
    lost: np.ndarray, due: np.ndarray, here: np.ndarray, elsewhere: np.ndarray, *, together: int = 1
) -> tuple[float, float, str]:
    """Share of `due` that is `lost` in some rows of completeness and in others, and the level of
    the difference.

    The standard error of the difference is sqrt(p (1 - p) together (1 / n + 1 / n_others)).
    """
    lost_of, due_of = np.array([[x[here].sum(), x[elsewhere].sum()] for x in (lost, due)])
    share, other = (lost_of / due_of).tolist()
    pooled = lost_of.sum() / due_of.sum()
    error = math.sqrt(pooled * (1 - pooled) * together * (1 / due_of).sum())
    level = graded(share - other, **MORE) if share - other > BY_CHANCE * error else FINE
    return share, other, level


def names_left_out(facts: Facts, alike: Sequence[Pair]) -> Findings:
    """Report judges, models and dimensions that have rows, but no rating; alike: names that may be
    one.
    """
    spelt = {(factor, name) for factor, *names in alike for name in names}
    for factor in ("judge", "model", "dimension"):
        complete = facts.names(factor)
        for name, rows in facts.rows_by(factor).items():
            if name not in complete:
                is_spelt = (factor, name) in spelt
                yield Finding(
                    "left out", name, rows, WARNING, rows, factor=factor, is_spelt=is_spelt
                )


def contents(facts: Facts) -> Findings:
    """Count families, judges that are also models, lengths, rows, prompts and the levels of every
    factor.
    """
    family, judges, models = facts.families(), facts.names("judge"), facts.names("model")
    for name in sorted(set(family.values())):
        of_judges, of_models = (
            [member for member in names if family[member] == name] for names in (judges, models)
        )
        pairs = sum(judge != model for judge in of_judges for model in of_models)
        yield Finding("families", name, pairs, judges=len(of_judges), models=len(of_models))
    both = [judge for judge in judges if judge in models]
    yield Finding("names", "", len(both), judges=len(judges))
    share = facts.with_length / facts.rows
    lacking = graded(1 - share, note=0.0, warning=SHARE["warning"]) if share < 1 else FINE
    counted = Need.ANSWERS in facts.study.lacks
    yield Finding("lengths", "", share, lacking if share else NOTE, 1 - share, counted=counted)
    yield Finding("contents/rows", "", facts.rows, present=int(facts.present.sum()))
    for factor in ("judge", "model", "dimension", "dataset"):
        names = facts.names(factor)
        yield Finding("contents", "", len(names), factor=factor, names=names)
    yield Finding("contents/prompts", "", facts.prompts, shared=facts.shared)


class Use(NamedTuple):
    """How the ratings of a judge use the scales."""

    # Share at the most used level of their dimension; 1 if the judge gives one value in each
    most_used: float
    inner: float  # share at the most used level that is not an end of the scale
    used: int  # levels, over all dimensions
    levels: int  # of the scales


def use_by_judge(facts: Facts) -> dict[str, Use]:
    """Count how each judge uses the scales."""
    use = {}
    for judge in facts.names("judge"):
        cells, most_used, inner, used, levels = cells_with(facts.cells, "judge", judge), 0, 0, 0, 0
        for dimension in np.unique(cells.factors["dimension"]):
            rated = cells_with(cells, "dimension", dimension)
            (low, high), counts = rated.scale[0].tolist(), rated.counts.sum(axis=0)
            most_used += counts.max()
            inner += (counts * ((rated.ratings > low) & (rated.ratings < high))).max()
            used += int((counts > 0).sum())
            levels += high - low + 1
        total = cells.counts.sum()
        use[judge] = Use(float(most_used / total), float(inner / total), used, levels)
    return use


def scale_use(facts: Facts, use: Mapping[str, Use]) -> Findings:
    """Report for each judge the share of ratings at the ends of the scale, and how many levels it
    uses.
    """
    for judge, of in use.items():
        constant = of.most_used == 1
        if constant:
            yield Finding("one value", judge, of.used, WARNING)
        cells = cells_with(facts.cells, "judge", judge)
        for topic, end in ENDS.items():
            at_end = cells.counts * (cells.ratings_unit == end)
            share = float(at_end.sum() / cells.n.sum())
            level = FINE if constant else graded(share, **AT_END)
            yield Finding(topic, judge, share, level, share)
        level = graded(of.inner, **ONE_LEVEL)
        yield Finding(
            "scale use", judge, of.most_used, level, of.inner, used=of.used, levels=of.levels
        )


def doubted(facts: Facts) -> Findings:
    """Report the judges without a verdict until the configuration explains their ratings."""
    for judge, _, reason in facts.study.doubts:
        yield Finding("doubt", judge, None, WARNING, reason=reason, cure=cure(reason))


def human_scores(facts: Facts) -> Findings:
    """Report that there are no human scores, or how those of each dimension vary."""
    if not facts.scored.has_reference:
        lacking = not_estimable(EQUATION, facts.study)
        is_few = code(lacking) is Reason.FEW_SCORED_PROMPTS
        yield Finding("human scores/none", "", 0, WARNING, 1.0, reason=lacking, is_few=is_few)
        return
    for dimension in facts.names("dimension"):
        cells = cells_with(facts.scored, "dimension", dimension)
        if len(cells.n):
            distinct, scores = len(np.unique(cells.reference)), cells.reference_raw
            yield Finding(
                "human scores",
                dimension,
                distinct,
                WARNING if distinct == 1 else FINE,
                first=scores.min(),
                last=scores.max(),
                in_units=partial(facts.in_units, dimension),
            )


def rating_ranges(facts: Facts) -> Findings:
    """Report the range of the ratings and human scores of each dimension on its declared scale.

    A warning if neither reaches its upper half, or if the maximum of one is at most LOWER and that
    of the other FARTHER above it; a note if neither reaches its lower half, which may be lenient
    judges of good answers.
    """
    for dimension in facts.names("dimension"):
        cells = cells_with(facts.cells, "dimension", dimension)
        ratings = cells.ratings[cells.counts.any(axis=0)]
        reach = {"ratings": (ratings.min(), ratings.max())}
        references = cells_with(facts.scored, "dimension", dimension).reference_raw
        if facts.scored.has_reference and len(references):
            reach["human scores"] = references.min(), references.max()
        low, high = cells.scale[0].tolist()
        ends = np.array([*reach.values()])
        unit = (ends - low) / (high - low)
        bottom, top = float(unit[:, 0].min()), unit[:, 1]
        code, level = "range", FINE
        if high - low >= FEWEST and top.max() <= HALF:
            code, level = "range/lower half", WARNING
        elif high - low >= FEWEST and bottom >= HALF:
            code, level = "range/upper half", NOTE
        elif top.min() <= LOWER and np.ptp(top) >= FARTHER and np.ptp(unit, axis=1).all():
            code, level = "range/other scale", WARNING
        yield Finding(
            code,
            dimension,
            float(np.ptp(top)),
            level,
            1.0 - float(top.min()),
            reach=reach,
            tenth=0.1 * facts.steps[dimension] * (high - low),
            place=Setting("scales").place,
            in_units=partial(facts.in_units, dimension),
            low=low,
            high=high,
            first=ends.min(),
            last=ends.max(),
        )
