"""Estimates as points with intervals: self- and family-bias, Figure 3 of Play Favorites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from judgebias.page import Entry, Page, family_entries
from judgebias.palette import Palette
from judgebias.style import (
    DOUBLE_COLUMN,
    EDGE,
    FAINT,
    INK,
    LINE,
    RULE,
    SINGLE_COLUMN,
    SMALL,
    UNIT,
    Subject,
    language,
    text_width,
    widest,
    wrap,
)

if TYPE_CHECKING:
    import pandas as pd

ROW = 0.2
POINT = {"marker": "o", "markersize": 3.1, "markeredgewidth": 1.0}
STROKE = 1.3
NUMBER = 0.42  # inches for the value beside a row
GUTTER = 0.16  # inches between panels
BELOW = 0.56  # inches for ticks and axis text
LEAST_PANEL = 1.2  # inches
LEAST_HALF_WIDTH = 0.01  # rating points of the axis: less would blow up what rounding leaves of 0
BESIDE = 0.07  # inches between a point and the words beside it
NO_ERROR = "no standard error"
NEITHER = "No judge rates its own completions, and no family has two models."
ABSENT = {
    "Self-bias": "No self-bias: no judge rates its own completions.",
    "Family-bias": "No family-bias: no family has two models.",
}
WORDS = {
    "color": FAINT,
    "style": "italic",
    "size": SMALL,
    "va": "center_baseline",
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1},
}


@dataclass(frozen=True)
class Side:
    """One panel of estimates: `rows` indexed by term in the order drawn, with the place and colour of each."""

    title: str
    target: str  # whom the judge favours
    rows: pd.DataFrame
    places: Sequence[float]
    colours: Sequence[str]


def has_interval(row: Mapping) -> bool:
    """True if `row` has an interval (ci_low, ci_high); one without a standard error, or with one of 0, has none."""
    return bool(row["ci_low"] < row["ci_high"])


def excludes_zero(row: Mapping) -> bool:
    """True if `row` has an interval (ci_low, ci_high) and it lies wholly on one side of 0."""
    return has_interval(row) and bool(row["ci_low"] > 0 or row["ci_high"] < 0)


def draw_interval(axes: Axes, place: float, row: Mapping, colour: str, *, column: str = "estimate") -> None:
    """Point and interval of `row` at the height `place`: filled when the interval excludes 0, else hollow.

    A row without an interval is a hollow point and the words `no standard error`, for which `axes` must have their limits and
    the width `room_for_words`. A missing value of `column` is written as `not estimable`, not drawn.
    """
    if np.isnan(row[column]):
        write_instead(axes, place, "not estimable")
        return
    if has_interval(row):
        ends = [row["ci_low"], row["ci_high"]]
        axes.plot(ends, [place, place], color=colour, lw=STROKE, solid_capstyle="butt", zorder=3, gid="interval")
    else:
        write_beside(axes, place, row[column], NO_ERROR)
    face = colour if excludes_zero(row) else "white"
    settings = {"color": colour, "markerfacecolor": face, "linestyle": "none", "zorder": 4, "gid": "point"}
    axes.plot([row[column]], [place], **settings, **POINT)


def write_instead(axes: Axes, place: float, text: str) -> None:
    """Say in grey, in the middle of a row, why nothing is drawn in it."""
    axes.text(0.5, place, text, transform=axes.get_yaxis_transform(), ha="center", **WORDS)


def write_beside(axes: Axes, place: float, value: float, text: str) -> None:
    """Say in grey, beside the point at `value` on the side where there is more room, what is missing of it."""
    low, high = axes.get_xlim()
    leftwards = (value - low) / (high - low) > 0.501  # so that rounding does not choose the side of a point in the middle
    offset = (-72 * BESIDE if leftwards else 72 * BESIDE, 0)
    where = {"textcoords": "offset points", "ha": "right" if leftwards else "left"}
    axes.annotate(text, (value, place), offset, zorder=2.5, **where, **WORDS)  # above the line at 0, below any mark


def room_for_words(table: pd.DataFrame, *, column: str = "estimate") -> float:
    """Width in inches of a panel in which `write_beside` has room, wherever the point lies; 0 if no row needs it."""
    drawn = table.dropna(subset=[column])
    needed = not all(has_interval(row) for _, row in drawn.iterrows())
    return 2 * (text_width(NO_ERROR) + BESIDE + 0.03) if needed else 0.0


def significance_entries(what: str, interval: str) -> list[Entry]:
    """Legend of `draw_interval`: `what` is the point, `interval` as in `90 % Wald interval, HC0`."""
    full = {"color": INK, "lw": STROKE, **POINT}
    return [
        Entry(f"{what}, {interval}", line=full),
        Entry("interval includes 0", line={**full, "markerfacecolor": "white"}),
    ]


def family_places(judges: Sequence[str], families: Sequence[str], palette: Palette) -> list[float]:
    """Height of each family's row: the middle of its judges' rows, moved down where it would meet the one above."""
    places: list[float] = []
    for family in families:
        own = [place for place, judge in enumerate(judges) if palette.family(judge) == family]
        middle = float(np.mean(own)) if own else float(len(judges))
        places.append(max(middle, places[-1] + 1) if places else middle)
    return places


def bias_limits(sides: Iterable[Side]) -> tuple[float, float]:
    """Ends of the common axis: 0 and every estimate and interval, with a margin, and not less than LEAST_HALF_WIDTH."""
    ends = np.concatenate([side.rows[["estimate", "ci_low", "ci_high"]].to_numpy(float).ravel() for side in sides])
    low, high = np.nanmin([0.0, *ends]), np.nanmax([0.0, *ends])
    margin = max(0.06 * (high - low), LEAST_HALF_WIDTH - (high - low) / 2)
    return low - margin, high + margin


def frame_rows(axes: Axes, *, limits: tuple[float, float], rows: float, breaks: Sequence[float]) -> None:
    """Rows from the top down, a line at 0, a light grid, and a fine line at each of `breaks` between families."""
    axes.set(xlim=limits, ylim=(rows - 0.5, -0.5))
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    axes.axvline(0, color=INK, lw=0.9, zorder=2)
    for place in breaks:
        axes.axhline(place, color=RULE, lw=0.6, zorder=1)


def family_breaks(judges: Sequence[str], palette: Palette) -> list[float]:
    """Heights between neighbouring judges of different families."""
    families = [palette.family(judge) for judge in judges]
    return [i - 0.5 for i in range(1, len(judges)) if families[i] != families[i - 1]]


@language()
def self_family_bias(table: pd.DataFrame, subject: Subject, *, interval: str) -> Figure:
    """Self-bias by judge and family-bias by family on one scale (Play Favorites, Figure 3).

    `table` holds the estimates of one spec and slice: quantity, term, estimate, ci_low, ci_high in points of the unit
    scale; ci_low and ci_high are missing where there is no standard error. `interval` says what the intervals are. Where
    one of the two quantities has no row there is one panel, and a note why; where both have none, that is said instead.
    """
    palette = subject.palette
    quantities = {name: rows.set_index("term") for name, rows in table.groupby("quantity")}
    by_judge, by_family = (quantities.get(name, table[:0].set_index("term")) for name in ("self_bias", "family_bias"))
    judges, families = palette.order(by_judge.index), palette.order_families(by_family.index)
    if not judges and not families:
        return _page_without_rows(subject)
    colours = [palette.colour(judge) for judge in judges], [palette.family_colour(family) for family in families]
    sides = [
        Side("Self-bias", "itself", by_judge.loc[judges], range(len(judges)), colours[0]),
        Side("Family-bias", "its family", by_family.loc[families], family_places(judges, families, palette), colours[1]),
    ]
    legend = family_entries(palette, judges, others="no family in config") + significance_entries("estimate", interval)
    return _bias_page(sides, subject, legend, breaks=family_breaks(judges, palette))


def _page_without_rows(subject: Subject) -> Figure:
    lines = wrap(NEITHER, SINGLE_COLUMN - 2 * EDGE).split("\n")
    page = Page(subject=subject, width=SINGLE_COLUMN, body=(len(lines) + 1) * LINE, legend=[])
    for number, line in enumerate(reversed(lines)):
        page.text(EDGE, (number + 1) * LINE, line)
    return page.figure


def _bias_page(sides: Sequence[Side], subject: Subject, legend: Sequence[Entry], *, breaks: Sequence[float]) -> Figure:
    note = " ".join(ABSENT[side.title] for side in sides if side.rows.empty)
    sides = [side for side in sides if not side.rows.empty]
    labels = [widest(side.rows.index) + 0.1 for side in sides]
    across = SINGLE_COLUMN if len(sides) == 1 else DOUBLE_COLUMN
    gaps = len(sides) * NUMBER + (len(sides) - 1) * GUTTER
    least = max(LEAST_PANEL, *(room_for_words(side.rows) for side in sides))
    panel = max(least, (across - 2 * EDGE - sum(labels) - gaps) / len(sides))
    width = 2 * EDGE + sum(labels) + gaps + len(sides) * panel
    rows = max(place for side in sides for place in side.places) + 1
    page = Page(subject=subject, width=width, body=rows * ROW + BELOW + 0.28, legend=[legend], note=note)
    left, limits = EDGE, bias_limits(sides)
    for side, label in zip(sides, labels, strict=True):
        axes = page.axes(left + label, BELOW, panel, rows * ROW)
        frame_rows(axes, limits=limits, rows=rows, breaks=breaks)
        _bias_panel(axes, side)
        middle = left + label + panel / 2
        page.centred(middle, 1.45 * LINE, f"← harsher      favours {side.target} →")
        page.centred(middle, 0.6 * LINE, UNIT)
        left += label + panel + NUMBER + GUTTER
    return page.figure


def signed(value: float) -> str:
    """`value` with three decimals and its sign; 0.000 has none."""
    return f"{value:+.3f}".replace("-", "−") if abs(round(value, 3)) > 0 else "0.000"


def _bias_panel(axes: Axes, side: Side) -> None:
    beside = {"textcoords": "offset points", "ha": "right", "va": "center_baseline", "size": SMALL}
    for place, (_, row), colour in zip(side.places, side.rows.iterrows(), side.colours, strict=True):
        draw_interval(axes, place, row, colour)
        if not np.isnan(row["estimate"]):
            axes.annotate(signed(row["estimate"]), (1, place), (72 * NUMBER, 0), xycoords=axes.get_yaxis_transform(), **beside)
    axes.set_yticks(side.places, side.rows.index)
    axes.set_title(side.title)
