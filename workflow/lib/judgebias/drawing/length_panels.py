"""Panels of what depends on the difference in length: one for each judge, the conditions below one another."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebias.comparisons.curves import WIDTH
from judgebias.drawing.conditions import named
from judgebias.drawing.page import Entry, Page, corners, grid, legend_width
from judgebias.drawing.palette import BLUE
from judgebias.drawing.style import DOUBLE_COLUMN, EDGE, FAINT, LINE, RULE, SINGLE_COLUMN, SMALL, TEXT, Subject, widest, wrap

if TYPE_CHECKING:
    import pandas as pd

LEFT = 0.42  # inches for ticks and axis text
BELOW = 0.42
RIGHT = 0.1
GUTTER = 0.14  # inches between panels
TITLE = 0.23  # inches for the name of a judge
HEADING = 0.27  # inches for the name of a condition
SHAPE = 0.72  # height of a panel as a share of its width
LEAST_HEIGHT = 0.8  # inches
MOST_COLUMNS = 3  # of panels under one condition
MOST_OF_MANY = 8  # where there are several conditions
NARROW = 1.3  # inches: the axes of such a panel have no room for the number at their left end
OPEN = 126.0  # percent: where the bin without upper end is drawn
LIMITS = (-112.0, 139.0)
POINT = {"color": BLUE, "marker": "o", "markersize": 3.4, "markeredgewidth": 1.0, "linestyle": "none"}
LINE_OF_BINS = {"color": POINT["color"], "lw": 0.9, "alpha": 0.6}
INTERVAL = {"color": POINT["color"], "lw": 1.1, "solid_capstyle": "butt"}
BEYOND = "more than 110 % longer"
UPRIGHT = {"rotation": 90, "ha": "center", "va": "center"}


def length_panels(
    table: pd.DataFrame,
    subject: Subject,
    draw: Callable[[Axes, pd.DataFrame], None],
    *,
    legend: Sequence[Sequence[Entry]],
    limits: tuple[float, float],
    across: str,
    up: str,
    note: str,
) -> Figure:
    """Draw the rows of each judge in a panel by `draw`, the conditions below one another, each with its own judges.

    `table`: experiment, condition, judge, bin_low, bin_high, n, no_length, and what `draw` needs. limits: ends of the
    vertical axis; across, up: texts of the axes.
    """
    table, conditions = named(table)
    curves = {condition: dict(list(own.groupby("judge"))) for condition, own in table.groupby("condition")}
    judges = {condition: subject.palette.order(curves[condition]) for condition in conditions}
    least = max(legend_width(legend), 2 * LINE + widest(conditions, TEXT, "bold")) + 2 * EDGE
    layout = _layout(judges, [_count(curve) for own in curves.values() for curve in own.values()], least)
    left, across = layout.left, wrap(across, layout.width - 2 * EDGE)
    below = BELOW + across.count("\n") * LINE
    page = Page(subject=subject, width=layout.width, body=below + layout.height, legend=legend, note=note + _unknown(table))
    top = below + layout.height
    for condition, own in judges.items():
        places = corners(len(own), layout.columns, step=layout.step)
        page.text(left - LEFT, top - 0.14, condition, weight="bold", size=TEXT)
        top -= layout.heading + places[0][1] + layout.step[1]
        for place, (judge, (x, y)) in enumerate(zip(own, places, strict=True)):
            axes, curve = page.axes(left + x, top + y, *layout.panel), curves[condition][judge]
            axes.set_title(judge, size=SMALL, pad=4 + 72 * LINE * layout.stacked)
            first, last = place % layout.columns == 0, place + layout.columns >= len(own)
            _frame(axes, limits, first=first, lowest=last and (layout.space > 0 or condition == conditions[-1]))
            _write_count(axes, _count(curve), left=layout.stacked)
            draw(axes, curve.assign(middle=((curve["bin_low"] + curve["bin_high"]) / 2).fillna(OPEN)))
        top -= layout.space
    page.centred((left + layout.width - RIGHT - EDGE) / 2, 0.05, across)
    page.text((EDGE + left - LEFT) / 2, below + layout.height / 2, wrap(up, layout.height), **UPRIGHT)
    return page.figure


class _Layout(NamedTuple):
    """Where panels stand, in inches: `left` of the first, width and height of a `panel`, and from one to the next."""

    columns: int
    width: float  # of the page
    left: float
    panel: tuple[float, float]
    step: tuple[float, float]
    heading: float  # height of the name of a condition
    space: float  # for numbers under the panels of every condition but the last
    height: float  # of all
    stacked: bool  # judge and count stand in two lines


def _layout(judges: Mapping[str, Sequence[str]], counts: Sequence[str], least: float) -> _Layout:
    """`judges` of each condition, with panels of their own; least: inches of the page."""
    sizes = [len(own) for own in judges.values()]
    columns = max(grid(size, MOST_COLUMNS if len(judges) == 1 else MOST_OF_MANY)[1] for size in sizes)
    rows = sum(math.ceil(size / columns) for size in sizes)
    wide = max(SINGLE_COLUMN if columns == 1 else DOUBLE_COLUMN, least)
    upright = LINE * (2 if rows == 1 else 1)  # one row of panels is not as high as the text beside is long
    left = EDGE + upright + LEFT
    frame = left + (columns - 1) * GUTTER + RIGHT + EDGE
    names = widest((judge for own in judges.values() for judge in own), SMALL, "bold")
    panel = max(names, (wide - frame) / columns)
    stacked = names + widest(counts) + 0.1 > panel
    height = max(LEAST_HEIGHT, SHAPE * panel)
    step = panel + GUTTER, height + TITLE + LINE * stacked
    heading = HEADING if any(judges) else 0.0
    space = 0.0  # else panels have others under them, down to the last condition's
    body = rows * step[1] + len(judges) * heading + (len(judges) - 1) * space
    return _Layout(columns, frame + columns * panel, left, (panel, height), step, heading, space, body, stacked)


def _frame(axes: Axes, limits: tuple[float, float], *, first: bool, lowest: bool) -> None:
    axes.set(xlim=LIMITS, ylim=limits)
    narrow = axes.get_position().width * axes.figure.get_size_inches()[0] < NARROW
    axes.set_xticks((-100, 0, 100), ("" if narrow else "−100", "0", "+100") if lowest else [])
    axes.set_xticks((-50, 50), minor=True)
    axes.tick_params(axis="x", which="minor", length=1.5, width=0.6)
    axes.tick_params(axis="y", length=0, labelleft=first)
    axes.grid(axis="x")
    axes.axvline(112, color=RULE, lw=0.6, linestyle=(0, (2, 2)), zorder=1)  # before the bin without upper end


def draw_bins(axes: Axes, curve: pd.DataFrame, value: str, low: Sequence[float], high: Sequence[float]) -> None:
    """A point for each bin at its middle, with a bar from `low` to `high`; hollow for the open bin, the others joined."""
    closed = curve[curve["bin_high"].notna()]
    joined = closed.set_index("bin_low")[value].reindex(range(-110, 110, WIDTH))  # not over a bin without comparisons
    axes.plot(joined.index + WIDTH / 2, joined, zorder=3, gid="curve", **LINE_OF_BINS)
    axes.vlines(curve["middle"], low, high, color=INTERVAL["color"], lw=INTERVAL["lw"], zorder=3, gid="bars")
    axes.plot(closed["middle"], closed[value], zorder=4, gid="points", **POINT)
    beyond = curve[curve["bin_high"].isna()]
    axes.plot(beyond["middle"], beyond[value], zorder=4, gid="beyond", markerfacecolor="white", **POINT)


def bin_entries(point: str, bar: str) -> list[Entry]:
    """Legend of `draw_bins`: what a point and what a bar is."""
    return [
        Entry(point, line=POINT),
        Entry(bar, line=INTERVAL),
        Entry(BEYOND, line={**POINT, "markerfacecolor": "white"}),
    ]


def _unknown(table: pd.DataFrame) -> str:
    """What the note says of the comparisons that no panel shows, as a length is unknown."""
    most = table["no_length"].max()
    return f" Left out, as a length is unknown: up to {most} comparisons of a panel." * bool(most)


def _count(curve: pd.DataFrame) -> str:
    return f"n = {curve['n'].sum()}"


def _write_count(axes: Axes, count: str, *, left: bool) -> None:
    """The number of comparisons of a panel, above its right corner, or its left one."""
    where = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "baseline", "size": SMALL}
    axes.annotate(count, (0 if left else 1, 1), (0, 4), ha="left" if left else "right", color=FAINT, **where)
