"""Limits and numbers of axes, and the note on intervals that go beyond them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

SIMULTANEOUS = ["simultaneous_ci_low", "simultaneous_ci_high"]  # only some tables have them
ENDS = ["ci_low", "ci_high", *SIMULTANEOUS]
LEAST_HALF_WIDTH = 0.01  # rating points: a shorter axis would magnify rounding errors around 0
# Times the median length: longer intervals do not set the axis if the others then appear twice as
# large
LONG = 6.0
BEYOND = "An arrow at the edge: the interval goes on beyond the axis."
PER_NUMBER = 0.42  # inches of an axis


def bias_limits(rows: pd.DataFrame, *, at: float | None = 0.0) -> tuple[float, float]:
    """Ends of the common axis: `at` and every estimate and interval, with a margin, and at least
    LEAST_HALF_WIDTH.

    If a row has two intervals, the outer ends count. Intervals longer than LONG times the median do
    not count if they would make the axis more than twice as long.
    """
    ends = _ends(rows)
    length = ends[:, 2] - ends[:, 1]
    finite = length[np.isfinite(length)]
    usual = length <= LONG * np.median(finite) if finite.size else np.isnan(length)
    low, high = _range(ends, at)
    least, most = _range(ends[usual | np.isnan(length)], at)
    if high - low > 2 * (most - least) > 0:
        low, high = least, most
    margin = max(0.06 * (high - low), LEAST_HALF_WIDTH - (high - low) / 2)
    return low - margin, high + margin


def _ends(rows: pd.DataFrame) -> np.ndarray:
    """Estimate, and the lowest and the highest end of an interval, (rows, 3)."""
    ends = rows.reindex(columns=ENDS).astype(float)
    return np.stack([rows["estimate"].astype(float), ends.min(axis=1), ends.max(axis=1)], axis=1)


def _range(values: np.ndarray, at: float | None) -> tuple[float, float]:
    held = [np.nan if at is None else at, *values.ravel()]
    return (np.nanmin(held), np.nanmax(held)) if np.isfinite(held).any() else (0.0, 1.0)


def put(axes: Axes, x: Sequence[float], y: Sequence[float], **look: object) -> None:
    """Draw a line or marks on axes whose limits are set, as `axes.plot` does, which would look for
    limits in them, slowly.
    """
    axes.add_artist(Line2D(np.asarray(x), np.asarray(y), **look))


def numbered(axis: Axis, inches: float, at: float | None = None) -> tuple[float, float]:
    """Numbers at multiples of 1, 2 or 5 times a power of ten, as many as have room; the limits,
    moved so that a number stands on both sides of `at`, if that is given.
    """
    locator = MaxNLocator(max(2, int(inches / PER_NUMBER)), steps=[1, 2, 5, 10])
    axis.set_major_locator(locator)
    low, high = sorted(axis.get_view_interval())
    if at is None:
        return low, high
    places = locator.tick_values(low, high)
    step = 1.1 * (places[1] - places[0])
    return min(low, at - step), max(high, at + step)


def note_beyond(rows: pd.DataFrame, limits: tuple[float, float]) -> str:
    """The note of a page on which `mark_beyond` draws arrows; empty if there are none."""
    ends = _ends(rows)
    return BEYOND if (ends < limits[0]).any() or (ends > limits[1]).any() else ""


def unit_square(axes: Axes, limits: tuple[float, float]) -> None:
    """The unit scale on both axes."""
    axes.set(xlim=limits, ylim=limits)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks((0.0, 0.5, 1.0), ("0", "0.5", "1"))
    axes.grid()
