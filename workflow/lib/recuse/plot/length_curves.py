"""Curves over the relative length of answers, a panel for each judge, the conditions below one another.

Agreement with the humans by the relative length of the answer they chose, Figure 5 of Saito et al. (arXiv 2310.10076), and
score of the first answer by its relative length, Figures 3 and 4.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.pairwise.verbosity import WIDTH
from recuse.plot.colours import BLUE, DASHED, FAINT, GRID, INK, RULE
from recuse.plot.page import Entry, Page, conditions_of, grid, legend_width, page_of_words
from recuse.plot.style import DOUBLE_COLUMN, EDGE, LINE, SINGLE_COLUMN, SMALL, TEXT, UPRIGHT, Subject, language, widest, wrap

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
BAR = 14.0  # percentage points across
FLOOR = -0.38  # of the unit scale: where the bars of counts stand
TALLEST = 0.3  # of the unit scale: the bar of the largest count of a panel
TALLEST_NUMBERED = 0.13  # the same with numbers above the bars
ROOM = 0.12  # inches that a number needs on its side
CHOSEN_LENGTH = "relative difference in words: (chosen by the humans − rejected) / rejected, in %"
AGREEMENT = "share of decisions that agree with the humans"
NOTE_OF_AGREEMENT = (
    "Bins of 20 points. A judge's decision counts if both orders agree; draws and human ties are left out. n: comparisons. "
    "Bars at the foot of a panel: comparisons in each bin, on a scale of its own."
)
NO_ALIGNMENT = (
    "No alignment curves: no comparison has a decision of a judge, one of the humans and the lengths of both answers."
)
FIRST_LENGTH = "relative difference in words: (model_a's answer − model_b's) / model_b's, in %"
SCORE = "score: 1 model_a's answer, 0 draw, −1 model_b's"
NOTE_OF_SCORES = (
    "Bins of 20 points. A judge's verdict counts if both orders agree and is a draw if they do not; n: comparisons."
)
NOTE_OF_SINGLE = " Of a judge with no comparison in both orders the verdicts of one order count as they are."
PANEL = ["experiment", "condition", "judge"]
NO_SCORES = "No score curves: no comparison has the lengths of both answers and a verdict, or a human label."


@language()
def alignment_curves(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Share of agreement with its interval in each bin of relative length, a panel for each judge, with the counts.

    `table`: the table of alignment curves, see `recuse.pairwise.verbosity`. Counts are bars at the foot of a panel, with
    numbers where a bin is wide enough for them.
    """
    if table.empty:
        return page_of_words(subject, NO_ALIGNMENT)
    entries = _bin_entries("share", f"{100 * confidence:g} % Wilson interval")
    legend = [[*entries, Entry("one half", line=DASHED), Entry("number of comparisons", [{"color": RULE, "lw": 0}])]]
    texts = {"across": CHOSEN_LENGTH, "up": AGREEMENT, "note": NOTE_OF_AGREEMENT}
    return _length_panels(table, subject, _draw_agreement, legend=legend, limits=(FLOOR, 1.04), **texts)


def _draw_agreement(axes: Axes, curve: pd.DataFrame) -> None:
    axes.set_yticks((0, 0.5, 1), ("0 %", "50 %", "100 %"))
    axes.axhline(0, color=GRID, lw=0.6, zorder=1)
    axes.axhline(1, color=GRID, lw=0.6, zorder=1)
    axes.axhline(0.5, zorder=2, **DASHED)
    _draw_bins(axes, curve, "agreement", curve["ci_low"], curve["ci_high"])
    inches = axes.get_position().width * axes.figure.get_size_inches()[0]
    numbered = inches * WIDTH / (LIMITS[1] - LIMITS[0]) >= ROOM
    heights = curve["n"] / curve["n"].max() * (TALLEST_NUMBERED if numbered else TALLEST)
    axes.bar(curve["middle"], heights, BAR, bottom=FLOOR, color=RULE, lw=0, zorder=1)
    for middle, height, n in zip(curve["middle"], heights, curve["n"], strict=True) if numbered else ():
        beside = {"rotation": 90, "ha": "center", "va": "bottom", "textcoords": "offset points"}
        axes.annotate(f"{n}", (middle, FLOOR + height), (0, 1.5), color=FAINT, **beside)


@language()
def score_curves(table: pd.DataFrame, subject: Subject) -> Figure:
    """Mean score and its standard deviation in each bin of relative length, a panel for each judge and for the humans.

    Of a judge with comparisons in both orders, under one condition, those in one order alone are not drawn. `table`: the table
    of score curves, see `recuse.pairwise.verbosity`. A bin of one comparison has no bar.
    """
    if table.empty:
        return page_of_words(subject, NO_SCORES)
    # Both, if there are both: "debiased" is before "single".
    table = table.assign(order=table["order"].astype(object).where(table["order"].notna(), ""))
    table = table[table["order"] == table.groupby(PANEL, dropna=False)["order"].transform("min")]
    note = NOTE_OF_SCORES + NOTE_OF_SINGLE * bool((table["order"] == "single").any())
    ends = table["mean"].abs() + table["std_dev"].fillna(0.0)
    highest = max(1.0, float(ends.max())) + 0.08
    legend = [_bin_entries("mean", "± standard deviation")]
    texts = {"across": FIRST_LENGTH, "up": SCORE, "note": note}
    return _length_panels(table, subject, _draw_scores, legend=legend, limits=(-highest, highest), **texts)


def _draw_scores(axes: Axes, curve: pd.DataFrame) -> None:
    axes.set_yticks((-1, 0, 1), ("−1", "0", "1"))
    axes.grid(axis="y")
    axes.axhline(0, color=INK, lw=0.7, zorder=2)
    spread = np.nan_to_num(curve["std_dev"].to_numpy(float))
    _draw_bins(axes, curve, "mean", curve["mean"] - spread, curve["mean"] + spread)


def _length_panels(
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
    table, conditions = conditions_of(table)
    curves = {condition: dict(list(own.groupby("judge"))) for condition, own in table.groupby("condition")}
    judges = {condition: subject.palette.order(curves[condition]) for condition in conditions}
    layout = _layout(judges, [_count(curve) for own in curves.values() for curve in own.values()], legend_width(legend))
    left, across = layout.left, wrap(across, layout.width - 2 * EDGE)
    below = BELOW + across.count("\n") * LINE
    page = Page(subject=subject, width=layout.width, body=below + layout.height, legend=legend, note=note + _unknown(table))
    top = below + layout.height
    for condition, own in judges.items():
        page.text(left - LEFT, top - 0.14, condition, weight="bold", size=TEXT)
        top -= layout.heading + math.ceil(len(own) / layout.columns) * layout.step[1]
        numbered = layout.space > 0 or condition == conditions[-1]
        panels = page.panels(len(own), layout.columns, corner=(left, top), size=layout.panel, step=layout.step)
        for judge, each in zip(own, panels, strict=True):
            curve = curves[condition][judge]
            each.axes.set_title(judge, size=SMALL, pad=4 + 72 * LINE * layout.stacked)
            _frame(each.axes, limits, first=each.first, lowest=each.lowest and numbered)
            _write_count(each.axes, _count(curve), left=layout.stacked)
            draw(each.axes, curve.assign(middle=((curve["bin_low"] + curve["bin_high"]) / 2).fillna(OPEN)))
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
    """`judges` of each condition, with panels of their own; least: inches that the page needs between its edges."""
    sizes = [len(own) for own in judges.values()]
    columns = max(grid(size, MOST_COLUMNS if len(judges) == 1 else MOST_OF_MANY)[1] for size in sizes)
    rows = sum(math.ceil(size / columns) for size in sizes)
    least = max(least, 2 * LINE + widest(judges, TEXT, "bold"))  # the names of the conditions stand beside the upright text
    wide = max(SINGLE_COLUMN if columns == 1 else DOUBLE_COLUMN, least + 2 * EDGE)
    upright = LINE * (2 if rows == 1 else 1)  # one row of panels is not as high as the text beside is long
    left = EDGE + upright + LEFT
    frame = left + (columns - 1) * GUTTER + RIGHT + EDGE
    names = widest((judge for own in judges.values() for judge in own), SMALL, "bold")
    panel = max(names, (wide - frame) / columns)
    stacked = names + widest(counts) + 0.1 > panel
    height = max(LEAST_HEIGHT, SHAPE * panel)
    step = panel + GUTTER, height + TITLE + LINE * stacked
    heading = HEADING if any(judges) else 0.0
    space = LINE if len(set(sizes)) > 1 else 0.0  # else panels have others under them, down to the last condition's
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


def _draw_bins(axes: Axes, curve: pd.DataFrame, value: str, low: Sequence[float], high: Sequence[float]) -> None:
    """A point for each bin at its middle, with a bar from `low` to `high`; hollow for the open bin, the others joined."""
    closed = curve[curve["bin_high"].notna()]
    joined = closed.set_index("bin_low")[value].reindex(range(-110, 110, WIDTH))  # not over a bin without comparisons
    axes.plot(joined.index + WIDTH / 2, joined, zorder=3, gid="curve", **LINE_OF_BINS)
    axes.vlines(curve["middle"], low, high, color=INTERVAL["color"], lw=INTERVAL["lw"], zorder=3, gid="bars")
    axes.plot(closed["middle"], closed[value], zorder=4, gid="points", **POINT)
    beyond = curve[curve["bin_high"].isna()]
    axes.plot(beyond["middle"], beyond[value], zorder=4, gid="beyond", markerfacecolor="white", **POINT)


def _bin_entries(point: str, bar: str) -> list[Entry]:
    """Legend of `_draw_bins`: what a point and what a bar is."""
    hollow = {**POINT, "markerfacecolor": "white"}
    return [Entry(point, line=POINT), Entry(bar, line=INTERVAL), Entry(BEYOND, line=hollow)]


def _unknown(table: pd.DataFrame) -> str:
    """What the note says of the comparisons that no panel shows, as a length is unknown."""
    most = table["no_length"].max()
    return f" Left out, as a length is unknown: up to {most} comparisons of a panel." * bool(most)


def _count(curve: pd.DataFrame) -> str:
    return f"n = {curve['n'].sum()}"


def _write_count(axes: Axes, count: str, *, left: bool) -> None:
    """The number of comparisons of a panel, above its right corner, or its left one."""
    where = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "baseline"}
    axes.annotate(count, (0 if left else 1, 1), (0, 4), ha="left" if left else "right", color=FAINT, **where)
