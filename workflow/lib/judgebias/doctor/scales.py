"""Whether the declared scale is the one in use: how far ratings and human scores of a dimension reach on it."""

from collections.abc import Iterator

import numpy as np

from judgebias.doctor.facts import Facts
from judgebias.doctor.findings import FINE, NOTE, RANGE, WARNING, Finding
from judgebias.ratings.cells import Cells

FEWEST = 4  # steps of a scale whose halves are told apart
HALF, LOWER, FARTHER = 0.5, 0.6, 0.3  # of the unit scale: the middle; a low top; how far another top is above it
DECLARE = "write the scale that the judges were given under `scales:` of the study: biases are shares of the declared one"
CONVERT = (
    "if so, convert them first: both are read on the declared scale, and its gap to the other looks like one of the judges"
)


def ranges(facts: Facts) -> Iterator[Finding]:
    """Say how far the ratings and human scores of each dimension reach on its declared scale.

    A warning where neither reaches its upper half, or where the highest of one are FARTHER above those of the other, which
    are LOWER; a note where neither reaches its lower half, as lenient judges of good answers do not.
    """
    for dimension in facts.names("dimension"):
        yield _of_dimension(facts, dimension, facts.cells.select(facts.cells.factors["dimension"] == dimension))


def _of_dimension(facts: Facts, dimension: str, cells: Cells) -> Finding:
    given = cells.ratings[cells.counts.any(axis=0)]
    reach = {"ratings": (given.min(), given.max())}
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
    return Finding(RANGE, dimension, words, float(np.ptp(top)), level, advice, weight=1.0 - float(top.min()))
