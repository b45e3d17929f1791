"""How judges and humans use the rating scale: its ends, its levels, one value always, and whether it is the declared one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from recuse.base.words import enumerated, percent
from recuse.check.facts import FINE, NOTE, WARNING, Facts, Finding, graded
from recuse.data.cells import Cells
from recuse.data.registry import NO_HUMAN_SCORE

ONE_LEVEL = {"note": 0.5, "warning": 0.8}  # share of a judge's ratings at one level, or of human scores at an end of the scale
AT_END = {"note": 0.3, "warning": 0.5}  # of a judge's ratings: so much of a bias beyond that end is cut off
ENDS = {"ceiling": ("highest", 1.0), "floor": ("lowest", 0.0)}  # what they are called, and where they are on the unit scale
COARSE = 3  # levels
HARDLY = "ask it to use the whole scale: its ratings hardly tell one answer from another"
NO_SCORES = (
    f"{NO_HUMAN_SCORE}: judges are compared with the other judges alone (B, C), so that one that is right where the others are "
    "wrong looks like one that is biased"
)
SCORE = "have people score a part of the answers, and name their scores in config"
DIFFERENT = "score answers that differ, or leave the dimension out; B and C compare with other judges instead"
BEYOND = "a bias beyond the {} level cannot show: use a finer scale, or other prompts"
LEAVE_OUT = "look for a fault in how its answers were parsed, or leave the judge out"
FEWEST = 4  # steps of a scale whose halves are told apart
HALF, LOWER, FARTHER = 0.5, 0.6, 0.3  # of the unit scale: the middle; a low top; how far another top is above it
DECLARE = "write the scale that the judges were given under `scales:` of the study: biases are shares of the declared one"
CONVERT = (
    "if so, convert them first: both are read on the declared scale, and its gap to the other looks like one of the judges"
)


@dataclass(frozen=True)
class Use:
    """How the ratings of a judge use the scales."""

    most_used: float  # share at the most used level of their dimension
    inner: float  # share at the most used one that is no end of the scale
    used: int  # levels, over all dimensions
    levels: int  # that there are

    @property
    def constant(self) -> bool:
        """Whether they have one value in each dimension."""
        return self.most_used == 1.0


def use_by_judge(facts: Facts) -> dict[str, Use]:
    """Count how each judge uses the scales."""
    return {judge: _use(_rated_by(facts, judge)) for judge in facts.names("judge")}


def scale_use(facts: Facts, use: Mapping[str, Use]) -> Iterator[Finding]:
    """Say of each judge how much is at the ends of the scale, and how many levels it uses."""
    for judge, of in use.items():
        if of.constant:
            words = f"{judge} gives one value always: its biases would be 0 whatever they are"
            yield Finding("one value", judge, words, of.used, WARNING, LEAVE_OUT)
        for topic in ENDS:
            yield _at_end(topic, judge, _rated_by(facts, judge), of_constant_judge=of.constant)
        words = f"{judge} uses {of.used} of {of.levels} levels; {percent(of.most_used)} of its ratings are at the most used one"
        level = graded(of.inner, **ONE_LEVEL)
        yield Finding("scale use", judge, words, of.most_used, level, HARDLY, weight=of.inner)


def human_scores(facts: Facts) -> Iterator[Finding]:
    """Say of each dimension how fine its ratings are and how the human scores vary, and for which judges these do not.

    Where there are none, that is said.
    """
    cells = facts.cells
    if not cells.has_reference:
        yield Finding("human scores", "", NO_SCORES, 0, WARNING, SCORE, weight=1.0)
    for dimension in facts.names("dimension"):
        yield from _of_dimension(facts, dimension, cells.select(cells.factors["dimension"] == dimension))
    for judge in facts.names("judge") if cells.has_reference and len(np.unique(cells.reference)) > 1 else ():
        if len(np.unique(_rated_by(facts, judge).reference)) == 1:
            words = f"the human scores of all that {judge} rated are alike: its slope on them is not known"
            yield Finding("human scores", judge, words, 1, WARNING, "let it rate answers of different quality", weight=1.0)


def _of_dimension(facts: Facts, dimension: str, cells: Cells) -> Iterator[Finding]:
    low, high = cells.scale[0].tolist()
    words = f"ratings of {dimension} have {high - low + 1} levels: one is {1 / (high - low):.2f} of the scale"
    level = NOTE if high - low < COARSE else FINE
    yield Finding("scale use", dimension, words, high - low + 1, level, "a finer scale shows smaller biases")
    if not cells.has_reference:
        return
    distinct = len(np.unique(cells.reference))
    first, last = map(facts.in_units, (cells.reference_raw.min(), cells.reference_raw.max()))
    if distinct == 1:
        words = f"all human scores of {dimension} are {first}: they tell no answer from another"
        yield Finding("human scores", dimension, words, distinct, WARNING, DIFFERENT)
    else:
        words = f"the human scores of {dimension} take {distinct} values from {first} to {last}"
        yield Finding("human scores", dimension, words, distinct)
    for topic, (name, end) in ENDS.items():
        share = float(cells.n[cells.reference == end].sum() / cells.n.sum())
        words = f"in {percent(share)} of the rows the human score of {dimension} is the {name}"
        level = graded(share, **ONE_LEVEL)
        yield Finding(topic, f"humans, {dimension}", words, share, level, BEYOND.format(name), weight=share)


def _at_end(topic: str, judge: str, cells: Cells, *, of_constant_judge: bool) -> Finding:
    """Say how much of a judge's ratings is at an end of the scale, among those of itself and by human score."""
    name, end = ENDS[topic]
    at_end = (cells.counts * (cells.ratings_unit == end)).sum(axis=1)
    share = float(at_end.sum() / cells.n.sum())
    kinds = {"those of itself": cells.factor("model") == judge}
    if cells.has_reference:
        of_humans = cells.reference == end
        kinds |= {f"those with the {name} human score": of_humans, "those with another one": ~of_humans}
    shares = [f"{percent(float(at_end[of].sum() / cells.n[of].sum()))} of {kind}" for kind, of in kinds.items() if of.any()]
    words = f"{judge} gives the {name} level in {percent(share)} of its ratings"
    words += f": in {enumerated(shares)}" if shares else ""
    level = FINE if of_constant_judge else graded(share, **AT_END)
    return Finding(topic, judge, words, share, level, BEYOND.format(name), weight=share)


def _rated_by(facts: Facts, judge: str) -> Cells:
    return facts.cells.select(facts.cells.factors["judge"] == judge)


def _use(cells: Cells) -> Use:
    """How the rows of these cells use the scales; there is at least one."""
    dimensions, dimension = np.unique(cells.factor("dimension"), return_inverse=True)
    low, high = cells.scale[:, :1], cells.scale[:, 1:]
    inside = cells.counts * ((cells.ratings > low) & (cells.ratings < high))
    counts, inner = (np.zeros((len(dimensions), len(cells.ratings)), dtype=np.int64) for _ in range(2))
    np.add.at(counts, dimension, cells.counts)
    np.add.at(inner, dimension, inside)
    _, first = np.unique(dimension, return_index=True)
    return Use(
        most_used=float(counts.max(axis=1).sum() / counts.sum()),
        inner=float(inner.max(axis=1).sum() / counts.sum()),
        used=int((counts > 0).sum()),
        levels=int((high - low + 1)[first].sum()),
    )


def ranges(facts: Facts) -> Iterator[Finding]:
    """Say how far the ratings and human scores of each dimension reach on its declared scale.

    A warning where neither reaches its upper half, or where the highest of one are FARTHER above those of the other, which
    are LOWER; a note where neither reaches its lower half, as lenient judges of good answers do not.
    """
    for dimension in facts.names("dimension"):
        yield _range(facts, dimension, facts.cells.select(facts.cells.factors["dimension"] == dimension))


def _range(facts: Facts, dimension: str, cells: Cells) -> Finding:
    ratings = cells.ratings[cells.counts.any(axis=0)]
    reach = {"ratings": (ratings.min(), ratings.max())}
    if cells.has_reference:
        reach["human scores"] = cells.reference_raw.min(), cells.reference_raw.max()
    low, high = cells.scale[0].tolist()
    parts = [f"{who} from {facts.in_units(first)} to {facts.in_units(last)}" for who, (first, last) in reach.items()]
    scale = f"from {facts.in_units(low)} to {facts.in_units(high)}"
    words = f"{dimension}, a scale {scale}: {' and '.join(parts)}"
    unit = (np.array([*reach.values()]) - low) / (high - low)
    bottom, top = float(unit[:, 0].min()), unit[:, 1]
    who = " and ".join(f"no {of.removesuffix('s')}" for of in reach)
    level, advice, ask = FINE, "", f"of its scale {scale}: is that its scale?"
    if high - low >= FEWEST and top.max() <= HALF:
        last = facts.in_units(max(last for _, last in reach.values()))
        words, level, advice = f"{who} of {dimension} is above {last} {ask}", WARNING, DECLARE
    elif high - low >= FEWEST and bottom >= HALF:
        first = facts.in_units(min(first for first, _ in reach.values()))
        words, level, advice = f"{who} of {dimension} is below {first} {ask}", NOTE, DECLARE
    elif top.min() <= LOWER and np.ptp(top) >= FARTHER and np.ptp(unit, axis=1).all():
        words, level, advice = f"{words}: are the human scores on another scale?", WARNING, CONVERT
    return Finding("range", dimension, words, float(np.ptp(top)), level, advice, weight=1.0 - float(top.min()))
