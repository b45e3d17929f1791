"""What the ratings contain and lack, and how judges and humans use the rating scale.

Counts, names and families; missing ratings, human scores and lengths, and what rests on the others;
the ends and levels of the scale, and whether it is the declared one.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from recuse.base.reasons import Reason, code, cure, in_words
from recuse.base.settings import Setting
from recuse.base.words import counted, enumerated, level, number, percent
from recuse.check.facts import CROSSED, FINE, NOTE, WARNING, Facts, Finding, graded, spoken
from recuse.data.cells import Cells
from recuse.data.selection import EVERY_ROW
from recuse.inference.human_scale import (
    AT_RANDOM,
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
SPELT = "correct the two spellings named above"
SCORE = (
    "have people score them, or spell models and prompts as in the ratings; judges need not be"
    " asked again"
)
NO_ANSWERS = (
    "no judge has a row of these answers: have the models answer the other prompts, or leave out"
    " those that left the data"
)
PARSE = "check how its ratings were parsed and spelt"

# Share of a judge's ratings at one level, or of human scores at an end of the scale
ONE_LEVEL = {"note": 0.5, "warning": 0.8}
# Share of a judge's ratings at an end of the scale, which cuts off a bias beyond it
AT_END = {"note": 0.3, "warning": 0.5}
# Their names, and where they are on the unit scale
ENDS = {"ceiling": ("highest", 1.0), "floor": ("lowest", 0.0)}
BEYOND = "a bias beyond the {} level cannot show: use a finer scale, or other prompts"
FEWEST = 4  # steps of a scale whose halves are distinguished
# Of the unit scale: the middle; a low maximum; how far another maximum is above it
HALF, LOWER, FARTHER = 0.5, 0.6, 0.3


def missing_ratings(facts: Facts) -> Iterator[Finding]:
    """Report the share of missing ratings, and judges that never rate their own answers.

    A judge-model pair with any rating should have one for each prompt of the dimension; where
    models answer some of the prompts by design, for each row. A rating without human score or
    length is not missing.
    """
    ask_again = "ask the judges again for what is missing, unless the design left it out"
    table, judged, never = facts.completeness, facts.judged, unanswered(facts)
    rated = judged > 0
    by_design = facts.answered < CROSSED
    absent = 0 if by_design else int(table["absent"][rated].sum())
    counts = {"no row": absent, "no rating": int(table["missing_rating"][rated].sum())}
    if by_design:
        words = (
            f"models answer {percent(facts.answered)} of the prompts: what judges were not shown is"
            " not counted as missing"
        )
        yield Finding("missing", "design", words, facts.answered, NOTE)
    causes = enumerated([counted(count, cause, cause) for cause, count in counts.items() if count])
    parts = [("", "the ratings", f" ({causes})" if causes else "", rated)]
    for factor, whose in {
        "judge": "{}'s ratings",
        "model": "the ratings of {}",
        "dimension": "the ratings in {}",
    }.items():
        names = facts.rows_by(factor)
        for name in names:
            shown = spoken(name) if factor == "dimension" else name
            of = (table[factor] == name) & rated
            parts.append((f"{factor} {name}", whose.format(shown), "", of))
    for subject, whose, why, of in parts:
        if of.any():  # otherwise it is reported as left out
            share = float(1 - judged[of].sum() / facts.due[of].sum())
            level, words = graded(share, **SHARE), f"{percent(share)} of {whose} are missing{why}"
            lost = (facts.due - judged)[of].sum()
            advice = NO_ANSWERS if 2 * never[of].sum() > lost else ask_again
            yield Finding(
                "missing",
                subject,
                words,
                share,
                level,
                advice if level == WARNING else "",
                share,
            )
    rated_pairs = set(
        zip(table["judge"][rated].tolist(), table["model"][rated].tolist(), strict=True)
    )
    judges, models = (set(names) for names in zip(*rated_pairs, strict=True))
    both = sorted(judges & models)
    if both and not any((judge, judge) in rated_pairs for judge in both):
        words = (
            f"no judge rates its own answers, which other judges rate: {enumerated(both, most=5)}"
        )
        advice = (
            "if this is the design, there is no self-bias to estimate; if not, look where these"
            " ratings were left out"
        )
        yield Finding("missing", "own answers", words, len(both), WARNING, advice, 2.0)


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


def own_missing(facts: Facts) -> Iterator[Finding]:
    """Report for each judge whether ratings of its own answers are missing more often than its
    other ratings.
    """
    advice = "find out why: if the low ones are missing, A and B overstate its self-bias; "
    advice += "where significantly more are missing, the verdict allows for any values of them"
    table = facts.completeness
    due, rated, is_self = facts.due, facts.judged > 0, table["judge"] == table["model"]
    for judge in facts.rows_by("judge"):
        of = rated & (table["judge"] == judge)
        if (of & is_self).any() and (of & ~is_self).any():
            lacking, others, level = _compared(due - facts.judged, due, of & is_self, of & ~is_self)
            words = (
                f"{judge} lacks {percent(lacking)} of the ratings of its own answers,"
                f" {percent(others)} of those of others"
            )
            yield Finding(
                "own ratings missing",
                judge,
                words,
                lacking - others,
                level,
                advice,
                lacking - others,
            )


def unscored(facts: Facts) -> Iterator[Finding]:
    """Report, if only some rows have a human score, how many have none, and which models and
    dimensions lack more of them.
    """
    table, present = facts.completeness, facts.present
    lost = table["missing_gt"]
    if not lost.any():
        return
    share = float(lost.sum() / present.sum())
    words = f"{percent(share)} of the rows have no human score: they count for B, C and the ranking"
    yield Finding("no human score", "", words, share, NOTE, SCORE, share)
    advice = f"{SCORE}; A is about its scored answers alone"
    judges = len(facts.rows_by("judge"))  # the rows of a completion lack its score together
    for factor, what in (("model", "answers of"), ("dimension", "answers on")):
        for name in facts.names(factor):
            of = table[factor] == name
            if present[~of].sum():
                here, others, level = _compared(lost, present, of, ~of, together=judges)
                words = (
                    f"{percent(here)} of the rated {what} {name} have no human score,"
                    f" {percent(others)} of the others"
                )
                yield Finding(
                    "no human score", f"{factor} {name}", words, here, level, advice, here - others
                )


def basis(facts: Facts, *, confidence: float) -> Iterator[Finding]:
    """Report what A and the other questions rest on, if only some rows have a human score, whether
    these were chosen at random, and what more of them would give.
    """
    if not facts.study.is_partly_scored:
        return
    rows = int(facts.study.every_cell.scored.n.sum())
    counts = {
        "A": (rows, facts.study.scored_prompts, " with human scores"),
        "B, C and the ranking": (facts.rows, facts.prompts, ""),
    }
    refused = facts.study.scored is facts.study
    for question, (ratings, prompts, which) in counts.items():
        verb = ("would rest" if refused else "rests") if question == "A" else "rest"
        words = f"{question} {verb} on {counted(ratings, 'rating')}{which}, of answers to"
        words += f" {counted(prompts, 'prompt')} (clusters)"
        yield Finding("contents", question, words, prompts)
    answers = read_answer_scores(facts.study, EVERY_ROW.rows(facts.study.ratings))
    gap, p_value = scored_gap(answers)
    if p_value < AT_RANDOM:
        words = (
            "answers with a human score do not look chosen at random: judges rate them"
            f" {number(abs(gap), 3)} of the scale {'higher' if gap > 0 else 'lower'} than the others"
            f" (p below {AT_RANDOM:g}, by prompt)"
        )
        advice = (
            "A and agreement with people are about answers like these: have people score others"
        )
        yield Finding("human scores", "chosen", words, gap, WARNING, advice, 2.0)
    elif not refused:
        yield from _more_scores(facts, answers, confidence=confidence)


def _more_scores(facts: Facts, answers: AnswerScores, *, confidence: float) -> Iterator[Finding]:
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
            words = (
                f"with {more} more human scores {what} would at best be known to"
                f" ±{number(now * ratio, 3)} of the scale ({level(confidence)} interval; now"
                f" ±{number(now, 3)})"
            )
            yield Finding("contents", f"more human scores: {what}", words, now * ratio)


def _compared(
    lost: np.ndarray, due: np.ndarray, here: np.ndarray, elsewhere: np.ndarray, *, together: int = 1
) -> tuple[float, float, str]:
    """Share of `due` that is `lost` in some rows of completeness and in others, and the level of
    the difference.

    The standard error of the difference is sqrt(p (1 - p) together (1 / n + 1 / n_others)).
    """
    (lost_here, due_here), (lost_there, due_there) = (
        (int(lost[of].sum()), int(due[of].sum())) for of in (here, elsewhere)
    )
    gap, pooled = (
        lost_here / due_here - lost_there / due_there,
        (lost_here + lost_there) / (due_here + due_there),
    )
    error = math.sqrt(pooled * (1 - pooled) * together * (1 / due_here + 1 / due_there))
    level = graded(gap, **MORE) if gap > BY_CHANCE * error else FINE
    return lost_here / due_here, lost_there / due_there, level


def names_left_out(facts: Facts, alike: Sequence[tuple[str, str, str]]) -> Iterator[Finding]:
    """Report judges, models and dimensions that have rows, but no rating.

    alike: (judge or model, name, other name) of those that may be one.
    """
    spelt = {(factor, name) for factor, *names in alike for name in names}
    for factor in ("judge", "model", "dimension"):
        complete = facts.names(factor)
        for name, rows in facts.rows_by(factor).items():
            if name in complete:
                continue
            words = (
                f"the {factor} '{name}' is left out: none of its {counted(rows, 'row')} is complete"
                f" ({rows:,} with no rating)"
            )
            advice = SPELT if (factor, name) in spelt else PARSE
            yield Finding("left out", f"{factor} {name}", words, rows, WARNING, advice, rows)


def contents(facts: Facts) -> Iterator[Finding]:
    """Count families, judges that are also models, lengths, rows, prompts and the levels of every
    factor.
    """
    family, judges, models = facts.families(), facts.names("judge"), facts.names("model")
    for name in sorted(set(family.values())):
        of_judges, of_models = (
            [member for member in names if family[member] == name] for names in (judges, models)
        )
        pairs = sum(judge != model for judge in of_judges for model in of_models)
        words = f"{name}: {counted(len(of_judges), 'judge')}, {counted(len(of_models), 'model')}"
        words += f"; {counted(pairs, 'pair')} of a judge and a sibling" if of_judges else ""
        yield Finding("families", name, words, pairs)
    both = [judge for judge in judges if judge in models]
    rated = "is also rated as a model" if len(judges) == 1 else "are also rated as models"
    yield Finding("names", "", f"{len(both)} of {counted(len(judges), 'judge')} {rated}", len(both))
    yield _lengths(facts)
    words = f"{counted(facts.rows, 'complete row')} of {int(facts.present.sum()):,}"
    yield Finding("contents", "rows", words, facts.rows)
    for factor in ("judge", "model", "dimension", "dataset"):
        names = facts.names(factor)
        yield Finding(
            "contents",
            f"{factor}s",
            f"{counted(len(names), factor)}: {enumerated(names, most=12)}",
            len(names),
        )
    words = (
        f"; {counted(facts.shared, 'id is', 'ids are')} in several datasets, in each of another"
        " prompt"
        if facts.shared
        else ""
    )
    yield Finding("contents", "prompts", counted(facts.prompts, "prompt") + words, facts.prompts)


def _lengths(facts: Facts) -> Finding:
    """How many rows have the length of the completion."""
    share = facts.with_length / facts.rows
    words, level, advice = (
        f"{percent(share)} of the rows have the length of the completion",
        FINE,
        "",
    )
    if not facts.with_length:
        words, level = "no row has the length of the completion: no control for length", NOTE
        advice = (
            "add a column pred_length (tokens) if longer answers may be favoured for their length"
        )
    elif share < 1:
        words += ": fits with length use these alone, all other fits every row"
        level, advice = (
            graded(1 - share, note=0.0, warning=SHARE["warning"]),
            "add the missing lengths",
        )
    return Finding("lengths", "", words, share, level, advice, 1 - share)


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
        cells, most_used, inner, used, levels = facts.cells_with("judge", judge), 0, 0, 0, 0
        for dimension in np.unique(cells.factors["dimension"]):
            rated = cells.select(cells.factors["dimension"] == dimension)
            (low, high), counts = rated.scale[0].tolist(), rated.counts.sum(axis=0)
            most_used += counts.max()
            inner += (counts * ((rated.ratings > low) & (rated.ratings < high))).max()
            used += int((counts > 0).sum())
            levels += high - low + 1
        total = cells.counts.sum()
        use[judge] = Use(float(most_used / total), float(inner / total), used, levels)
    return use


def scale_use(facts: Facts, use: Mapping[str, Use]) -> Iterator[Finding]:
    """Report for each judge the share of ratings at the ends of the scale, and how many levels it
    uses.
    """
    for judge, of in use.items():
        constant = of.most_used == 1
        if constant:
            words = (
                f"{judge} always gives the same value: its estimated biases would be 0 whatever"
                " they are"
            )
            advice = "check how its answers were parsed, or leave the judge out"
            yield Finding("one value", judge, words, of.used, WARNING, advice)
        for topic in ENDS:
            yield _at_end(
                topic, judge, facts.cells_with("judge", judge), of_constant_judge=constant
            )
        words = (
            f"{judge} uses {of.used} of {of.levels} levels; {percent(of.most_used)} of its ratings"
            " are at the most used one"
        )
        advice = "ask it to use the whole scale: its ratings hardly distinguish answers"
        yield Finding(
            "scale use", judge, words, of.most_used, graded(of.inner, **ONE_LEVEL), advice, of.inner
        )


def _at_end(topic: str, judge: str, cells: Cells, *, of_constant_judge: bool) -> Finding:
    """The share of a judge's ratings at an end of the scale."""
    name, end = ENDS[topic]
    at_end = (cells.counts * (cells.ratings_unit == end)).sum(axis=1)
    share = float(at_end.sum() / cells.n.sum())
    words = f"{judge} gives the {name} level in {percent(share)} of its ratings"
    level = FINE if of_constant_judge else graded(share, **AT_END)
    return Finding(topic, judge, words, share, level, BEYOND.format(name), share)


def doubted(facts: Facts) -> Iterator[Finding]:
    """Report the judges without a verdict until the configuration explains their ratings."""
    for judge, _, reason in facts.study.doubts:
        words, advice = in_words(reason), cure(reason)
        yield Finding(
            "doubt",
            judge,
            words,
            None,
            WARNING,
            f"{advice}; until then its verdict is inconclusive",
        )


def human_scores(facts: Facts) -> Iterator[Finding]:
    """Report that there are no human scores, or how those of each dimension vary."""
    if not facts.scored.has_reference:
        lacking = not_estimable(EQUATION, facts.study)
        words = f"{in_words(lacking)}: judges are compared only with one another (B, C), "
        words += "and one that alone is right looks biased"
        advice = "have people score some of the answers, and add their scores"
        if code(lacking) is Reason.FEW_SCORED_PROMPTS:
            advice = "have people score answers to more prompts, drawn at random"
        yield Finding("human scores", "", words, 0, WARNING, advice, 1.0)
        return
    for dimension in facts.names("dimension"):
        cells = facts.scored_with("dimension", dimension)
        if not len(cells.n):
            continue
        distinct = len(np.unique(cells.reference))
        first = facts.in_units(dimension, np.min(cells.reference_raw))
        last = facts.in_units(dimension, np.max(cells.reference_raw))
        shown = spoken(dimension)
        words = f"the human scores of {shown} take {distinct} values from {first} to {last}"
        level, advice = FINE, ""
        if distinct == 1:
            words = f"all human scores of {shown} are {first}: they do not distinguish answers"
            advice = (
                "score answers that differ, or leave the dimension out; B and C compare judges with"
                " one another instead"
            )
            level = WARNING
        yield Finding("human scores", dimension, words, distinct, level, advice)


def rating_ranges(facts: Facts) -> Iterator[Finding]:
    """Report the range of the ratings and human scores of each dimension on its declared scale.

    A warning if neither reaches its upper half, or if the maximum of one is at most LOWER and that
    of the other FARTHER above it; a note if neither reaches its lower half, which may be lenient
    judges of good answers.
    """
    declare = (
        f"write the scale that the judges were given {Setting('scales').place}: biases are shares"
        " of the declared one"
    )
    convert = (
        "if so, convert them first: both are read on the declared scale, and the gap looks like one"
        " of the judges"
    )
    for dimension in facts.names("dimension"):
        cells = facts.cells_with("dimension", dimension)
        ratings = cells.ratings[cells.counts.any(axis=0)]
        reach = {"ratings": (ratings.min(), ratings.max())}
        references = facts.scored_with("dimension", dimension).reference_raw
        if facts.scored.has_reference and len(references):
            reach["human scores"] = references.min(), references.max()
        low, high = cells.scale[0].tolist()
        parts = [
            f"{who} from {facts.in_units(dimension, first)} to {facts.in_units(dimension, last)}"
            for who, (first, last) in reach.items()
        ]
        scale = f"from {facts.in_units(dimension, low)} to {facts.in_units(dimension, high)}"
        tenth = f"0.1 of it is {0.1 * facts.steps[dimension] * (high - low):.4g}"
        words = f"{spoken(dimension)}, a scale {scale} ({tenth}): {' and '.join(parts)}"
        unit = (np.array([*reach.values()]) - low) / (high - low)
        bottom, top = float(unit[:, 0].min()), unit[:, 1]
        who = " and ".join(f"no {of.removesuffix('s')}" for of in reach)
        level, advice, ask = FINE, "", f"of its scale {scale}: is that its scale?"
        if high - low >= FEWEST and top.max() <= HALF:
            last = facts.in_units(dimension, max(last for _, last in reach.values()))
            words, level, advice = (
                f"{who} of {spoken(dimension)} is above {last} {ask}",
                WARNING,
                declare,
            )
        elif high - low >= FEWEST and bottom >= HALF:
            first = facts.in_units(dimension, min(first for first, _ in reach.values()))
            words, level, advice = (
                f"{who} of {spoken(dimension)} is below {first} {ask}",
                NOTE,
                declare,
            )
        elif top.min() <= LOWER and np.ptp(top) >= FARTHER and np.ptp(unit, axis=1).all():
            words, level, advice = (
                f"{words}: are the human scores on another scale?",
                WARNING,
                convert,
            )
        yield Finding(
            "range", dimension, words, float(np.ptp(top)), level, advice, 1.0 - float(top.min())
        )
