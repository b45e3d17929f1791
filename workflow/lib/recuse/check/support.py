"""What estimates can rest on: how many prompts there are, how reliable the human scores are, what a study like this detects."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from recuse.base.words import counted, percent
from recuse.check.facts import FINE, NOTE, WARNING, Facts, Finding
from recuse.check.terms import EQUATION
from recuse.inference.power import EXACT, balanced_study_like, over_dimensions, power_by_judge
from recuse.inference.reliability import Reliability
from recuse.model.estimable import slices_of
from recuse.model.spec import A, C

FEW = 30  # prompts: below, errors by prompt are no longer as good as they say
LOW = 0.5  # reliability
LARGE = 0.1  # of the unit scale: a self-bias that large is seen without a study
MORE_PROMPTS = f"add prompts, {FEW} or more: intervals are of prompts drawn anew, and too short with few"
UNTOLD = (
    "how much ordinary taste the judges have cannot be told here; what is said to be detectable is said as if they had none"
)
BY_CHANCE = "read B and C: completions differ no more than raters do by chance"
CORRECTED = "read A as the workflow's noisy_reference.csv corrects it, or B and C; more raters would help"
MORE_JUDGES = "add judges and models of other families, so that C can be estimated"
BELIEVE_C = "believe a self-bias of A only where C bears it out"
NOT_PROVEN = "do not take a self-bias of A for proven"
NO_POWER = (
    "how small a self-bias would be found is not known: it takes judges that rate themselves, of which A or C can be "
    "estimated, and human scores that vary within a model"
)
LOWER_FLOOR = "add judges and models, which lower the part of the error that prompts do not"
RATERS = "name a file of the single raters' scores as `raters:`, or have some completions scored twice"
RATERS_OF_IMPORT = (
    "name the single raters' scores under `import: references: columns:`, by their columns, `rating: [first, second]`, or by a "
    "column of names, `rater: name`; or have some completions scored twice"
)


def prompts(facts: Facts) -> Iterator[Finding]:
    """Say how many prompts each dimension has."""
    for dimension in facts.names("dimension"):
        number = int(facts.completeness["prompts"][facts.completeness["dimension"] == dimension].max())
        words = f"{dimension} has {counted(number, 'prompt')}"
        words += ", from which nothing follows for another" if number == 1 else ""
        yield Finding("prompts", dimension, words, number, WARNING if number < FEW else FINE, MORE_PROMPTS, weight=1 / number)


def reliability_known(facts: Facts, reliability: Mapping[str, Reliability]) -> Iterator[Finding]:
    """Say of each dimension how many raters a human score is the mean of, and how reliable that is."""
    for dimension in facts.names("dimension") if facts.cells.has_reference else ():
        if dimension not in reliability:
            words = f"how reliable the human scores of {dimension} are is not known: A takes them for exact"
            yield Finding("reliability", dimension, words, None, WARNING, RATERS_OF_IMPORT if facts.imports else RATERS)
            continue
        of = reliability[dimension]
        words = f"human scores of {dimension} have a reliability of {of.mean:.2f}"
        words += f": {of.raters:.3g} raters with {of.single:.2f} each"
        level = FINE if LOW <= of.mean <= 1 else WARNING
        advice = CORRECTED if 0 < of.mean <= 1 else BY_CHANCE
        yield Finding("reliability", dimension, words, of.mean, level, advice, weight=1 - of.mean)


def power_of(
    facts: Facts, reliability: Mapping[str, Reliability], *, gamma: float, power: float, confidence: float
) -> list[dict]:
    """The power of each judge's tests, for a balanced study of as many ratings of each pair as there are on average.

    Without reliability the human scores are taken for exact, and where ordinary preferences are not known there are none.
    Nothing without human scores.
    """
    if not facts.cells.has_reference:
        return []
    score = over_dimensions([vars(each) for each in reliability.values()]) or EXACT
    ((_, moments),) = slices_of(EQUATION, facts.study)
    plan = balanced_study_like(EQUATION, moments, *score)
    if plan is None:
        return []
    factors = facts.cells.factors
    pairs = len(np.unique(np.stack([factors["judge"], factors["model"]]), axis=1).T)
    count = max(1, round(facts.rows / pairs / plan.dimensions))
    plan = replace(plan, raters=score[1], preference=0.0 if math.isnan(plan.preference) else plan.preference)
    return list(power_by_judge(plan, judges=plan.judges, prompts=[count], gamma=gamma, power=power, confidence=confidence))


def ordinary_preferences(power: Sequence[Mapping], *, confidence: float) -> Iterator[Finding]:
    """Say how often A would find a self-bias where there is none: preferences, and errors of human scores, look like one.

    How much ordinary preference there is, C tells; where it cannot, none is reckoned with. power: rows of `power_of`.
    """
    sizes = [row["size"] for row in power if row["estimand"] == A and "size" in row]
    if not sizes:
        return
    told_by_c = bool(_estimable(power, C))
    if not told_by_c:
        yield Finding("ordinary taste", "not known", UNTOLD, None, WARNING, MORE_JUDGES, weight=1.0)
    nominal = 1 - confidence
    shares = " to ".join(dict.fromkeys((percent(min(sizes)), percent(max(sizes)))))
    words = (
        f"without any self-bias, the {percent(nominal)} test of A would find one in {shares}"
        " of studies like this (estimated), for taste that is no self-bias and for errors of the human scores"
    )
    level = WARNING if max(sizes) >= 2 * nominal else FINE
    yield Finding("ordinary taste", "", words, max(sizes), level, BELIEVE_C if told_by_c else NOT_PROVEN)


def detectable(facts: Facts, power: Sequence[Mapping], *, gamma: float, wanted: float) -> Iterator[Finding]:
    """Say of each judge the smallest self-bias that A and C detect, and what part of their error no prompts take away.

    power: rows of `power_of`, for a self-bias of gamma and the power `wanted`.
    """
    rows = [*_estimable(power, A), *_estimable(power, C)]
    if not rows:
        yield Finding("detectable", "", NO_POWER, None, NOTE)
    scales = {tuple(map(int, scale)) for scale in np.unique(facts.cells.scale, axis=0)}
    for row in rows:
        letter, judge, value, floor = row["estimand"][0], row["judge"], row["detectable"], row["floor"]
        needed, advice = _to_find(row, gamma)
        words = f"{letter}: a self-bias of {judge} of {value:.3f}{_in_points(value, scales, facts.step)} would be found"
        words += f" with {percent(wanted)} power (estimated){needed}"
        level = WARNING if value > LARGE else NOTE if value > gamma else FINE
        yield Finding("detectable", f"{letter} {judge}", words, value, level, advice, weight=value)
        words = f"{letter}: {floor:.3f} of the standard error for {judge}, {row['std_error']:.3f}"
        yield Finding("detectable", f"floor of {letter} {judge}", f"{words}, stay with ever so many prompts", floor)


def _estimable(power: Sequence[Mapping], estimand: str) -> list[Mapping]:
    """Rows of the judges of which an estimand is estimable."""
    return [row for row in power if row["estimand"] == estimand and "detectable" in row]


def _to_find(row: Mapping, gamma: float) -> tuple[str, str]:
    """What a self-bias of `gamma` needs to be found, in words, and what to do."""
    if row["detectable"] <= gamma:
        return "", ""
    if math.isinf(row["prompts_needed"]):
        return f"; no number of prompts is enough for {gamma:g}", LOWER_FLOOR
    number = float(f"{row['prompts_needed']:.2g}")
    return f"; {gamma:g} would take about {number:,.0f} prompts", "add prompts"


def _in_points(value: float, scales: set[tuple[int, int]], step: float) -> str:
    """A value of the unit scale in points of the rating scale as the user writes it, where there is but one."""
    if len(scales) != 1:
        return ""
    ((low, high),) = scales
    points = value * (high - low) * step
    return f" ({points:{'.2f' if points >= 0.1 else '.2g'}} points)"
