"""Ends of the axis that estimates share, and what is said where an interval goes on beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

LEAST_HALF_WIDTH = 0.01  # rating points: less would blow up what rounding leaves of 0
LONG = 6.0  # times the median length: such an interval does not set the axis if the others are then drawn twice as large
BEYOND = "An arrow at the edge: the interval goes on beyond the axis."


def bias_limits(rows: pd.DataFrame) -> tuple[float, float]:
    """Ends of the common axis: 0 and every estimate and interval, with a margin, and not less than LEAST_HALF_WIDTH.

    Intervals longer than LONG times the median do not count if they would make the axis more than twice as long.
    """
    ends = rows[["estimate", "ci_low", "ci_high"]].to_numpy(float)  # (rows, 3)
    length = ends[:, 2] - ends[:, 1]
    usual = length <= LONG * np.median(length[np.isfinite(length)]) if np.isfinite(length).any() else np.isnan(length)
    low, high = _with_zero(ends)
    least, most = _with_zero(ends[usual | np.isnan(length)])
    if high - low > 2 * (most - least) > 0:
        low, high = least, most
    margin = max(0.06 * (high - low), LEAST_HALF_WIDTH - (high - low) / 2)
    return low - margin, high + margin


def _with_zero(values: np.ndarray) -> tuple[float, float]:
    return np.nanmin([0.0, *values.ravel()]), np.nanmax([0.0, *values.ravel()])


def note_beyond(rows: pd.DataFrame, limits: tuple[float, float]) -> str:
    """What a page says where `mark_beyond` draws arrows; nothing where it does not."""
    ends = rows[["estimate", "ci_low", "ci_high"]].to_numpy(float)
    return BEYOND if (ends < limits[0]).any() or (ends > limits[1]).any() else ""
