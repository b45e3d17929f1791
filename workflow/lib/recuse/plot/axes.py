"""Ends of the axis that estimates share, the numbers on it, and what is said where an interval goes on beyond it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from recuse.plot.style import text_width, widest

SIMULTANEOUS = ["simultaneous_ci_low", "simultaneous_ci_high"]  # columns of tables that have such intervals, too
ENDS = ["ci_low", "ci_high", *SIMULTANEOUS]
LEAST_HALF_WIDTH = 0.01  # rating points: less would blow up what rounding leaves of 0
LONG = 6.0  # times the median length: such an interval does not set the axis if the others are then drawn twice as large
BEYOND = "An arrow at the edge: the interval goes on beyond the axis."
SIDE = 0.1  # of the axis: a side of 0 that takes more has a number, so that its points can be read off
MOST_NUMBERS = 6
FEW_NUMBERS = 3  # so few have lines without numbers between them
APART = 0.08  # inches between two numbers
OVERHANG = 0.08  # inches by which a number may stand out to the side of its panel
ROUNDING = 1e-6  # inches


class Ticks(NamedTuple):
    """Places on an axis: those with a number, their numbers, and those of the lines without."""

    places: list[float]
    numbers: list[str]
    lines: list[float]


def bias_limits(rows: pd.DataFrame) -> tuple[float, float]:
    """Ends of the common axis: 0 and every estimate and interval, with a margin, and not less than LEAST_HALF_WIDTH.

    Of two intervals of a row the outer ends count. Intervals longer than LONG times the median do not count if they would make
    the axis more than twice as long.
    """
    ends = _ends(rows)
    length = ends[:, 2] - ends[:, 1]
    usual = length <= LONG * np.median(length[np.isfinite(length)]) if np.isfinite(length).any() else np.isnan(length)
    low, high = _with_zero(ends)
    least, most = _with_zero(ends[usual | np.isnan(length)])
    if high - low > 2 * (most - least) > 0:
        low, high = least, most
    margin = max(0.06 * (high - low), LEAST_HALF_WIDTH - (high - low) / 2)
    return low - margin, high + margin


def _ends(rows: pd.DataFrame) -> np.ndarray:
    """Estimate, and the lowest and the highest end of an interval, (rows, 3)."""
    ends = rows.reindex(columns=ENDS).astype(float)
    return np.stack([rows["estimate"].astype(float), ends.min(axis=1), ends.max(axis=1)], axis=1)


def _with_zero(values: np.ndarray) -> tuple[float, float]:
    return np.nanmin([0.0, *values.ravel()]), np.nanmax([0.0, *values.ravel()])


def limits_of(values: Iterable[float], *, share: float = 0.06, more: float = 0.01) -> tuple[float, float]:
    """Ends of an axis that holds all `values` but missing ones, with a margin of this share of it, and so much `more`."""
    ends = np.array(list(values), dtype=float)
    low, high = np.nanmin(ends), np.nanmax(ends)
    margin = share * (high - low) + more
    return float(low - margin), float(high + margin)


def readable(limits: tuple[float, float], width: float) -> tuple[float, float]:
    """`limits` about 0, drawn out as far as an axis of `width` inches needs for three numbers.

    They are 0 and one on each side that takes more than SIDE of the axis; if only one side does, 0 and two there. Of the steps
    1, 2 and 5 times a power of ten the finest is taken whose numbers do not meet.
    """
    shares = [-limits[0] / (limits[1] - limits[0]), limits[1] / (limits[1] - limits[0])]
    wanted = [share > SIDE for share in shares]
    for step, _ in _steps(limits):
        count = 1 if all(wanted) else 2
        low, high = limits
        ends = -step * count * wanted[0], step * count * wanted[1]
        over = max(0.0, widest(_number(end, step) for end in ends) / 2 - OVERHANG)
        for _ in range(20):  # the room for half a number is a part of the axis that it makes longer
            margin = over * (high - low) / width
            low, high = min(low, ends[0] - margin), max(high, ends[1] + margin)
        if _fit(step, (low, high), width):
            return low, high
    return limits


def ticks(limits: tuple[float, float], width: float) -> Ticks:
    """Numbers of an axis of `width` inches, as many as do not meet, at most MOST_NUMBERS; none stands out beyond OVERHANG."""
    step, parts = next((each for each in _steps(limits) if _fit(each[0], limits, width)), (limits[1] - limits[0], 1))
    unit = (limits[1] - limits[0]) / width
    places, lines = [], []
    for place in _multiples(step, limits):
        beside = min(place - limits[0], limits[1] - place) / unit + OVERHANG + ROUNDING
        (places if text_width(_number(place, step)) / 2 <= beside else lines).append(place)
    if len(places) <= FEW_NUMBERS:
        lines = [place for place in _multiples(step / parts, limits) if not np.isclose(place, places, atol=step / 100).any()]
    return Ticks(places, [_number(place, step) for place in places], lines)


def _steps(limits: tuple[float, float]) -> Iterator[tuple[float, int]]:
    """Steps between numbers, from the finest, and into how many parts lines without numbers divide each."""
    largest = math.floor(math.log10(limits[1] - limits[0]))
    for power in range(largest - 1, largest + 2):
        yield from ((digit * 10.0**power, parts) for digit, parts in ((1, 2), (2, 2), (5, 5)))


def _fit(step: float, limits: tuple[float, float], width: float) -> bool:
    """True if the numbers at the multiples of `step` are not too many and do not meet."""
    places = _multiples(step, limits)
    needed = widest(_number(place, step) for place in places) + APART - ROUNDING
    return len(places) <= MOST_NUMBERS and step * width / (limits[1] - limits[0]) >= needed


def _multiples(step: float, limits: tuple[float, float]) -> list[float]:
    return [step * number for number in range(math.ceil(limits[0] / step), math.floor(limits[1] / step) + 1)]


def _number(place: float, step: float) -> str:
    """`place` with the decimals that multiples of `step` need."""
    return f"{place:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}".replace("-", "−")


def note_beyond(rows: pd.DataFrame, limits: tuple[float, float]) -> str:
    """What a page says where `mark_beyond` draws arrows; nothing where it does not."""
    ends = _ends(rows)
    return BEYOND if (ends < limits[0]).any() or (ends > limits[1]).any() else ""


def round_numbers(limits: tuple[float, float], digits: Sequence[int] = (1, 2, 5)) -> list[float]:
    """Numbers of a logarithmic axis: `digits` times the powers of ten within `limits`, both above 0."""
    powers = range(math.floor(math.log10(limits[0])), math.ceil(math.log10(limits[1])) + 1)
    numbers = [float(f"{digit}e{power}") for power in powers for digit in digits]
    return [number for number in numbers if limits[0] <= number <= limits[1]]


def unit_square(axes: Axes, limits: tuple[float, float], *, first: bool, lowest: bool = True) -> None:
    """The unit scale on both axes, with numbers left of the first panel of a line and under the lowest of a column."""
    places, numbers = (0.0, 0.5, 1.0), ("0", "0.5", "1")
    axes.set(xlim=limits, ylim=limits, xticks=places, yticks=places)
    axes.set_xticklabels(numbers if lowest else [])
    axes.set_yticklabels(numbers if first else [])
    axes.tick_params(axis="y", length=0)
    axes.grid()
