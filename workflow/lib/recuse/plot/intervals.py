"""Rows of points with intervals on one axis: marks, words in place of missing marks, numbers beside
the rows, and the frame.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from recuse.base.reasons import in_words
from recuse.base.words import number, signed
from recuse.plot.axes import ENDS, SIMULTANEOUS, put, set_numbers
from recuse.plot.colours import FAINT, INK, RULE, VERMILION, Palette
from recuse.plot.page import (
    AROUND,
    LEAST_PANEL,
    Entry,
    Head,
    Page,
    Panel,
    grid,
    joined,
    left_out_of_page,
    lines_within,
    page_width,
)
from recuse.plot.style import BOLD_TITLE, EDGE, LINE, PAGE, TEXT, Subject, text_width, widest, wrap

POINT = {"marker": "o", "markersize": 3.1, "markeredgewidth": 1.0}
SHAPES = (
    ("s", 2.9),
    ("^", 3.7),
    ("D", 2.7),
    ("v", 3.7),
    ("P", 4.4),
    ("<", 3.7),
    ("X", 4.4),
    (">", 3.7),
)
POINTS = (POINT, *({**POINT, "marker": shape, "markersize": size} for shape, size in SHAPES))
PITCH = 0.085  # inches between the points of one row
BETWEEN = 0.115  # inches more between the points of neighbouring rows
ORDER = "in each row, from the top:"
STROKE = 1.3
# Of a simultaneous interval
WHISKER = {"lw": 0.6, "marker": "|", "markersize": 4.5, "markeredgewidth": 0.7}
# In a paper
PRINTED = {
    "color": VERMILION,
    "linestyle": "none",
    "marker": "x",
    "markersize": 4,
    "markeredgewidth": 1.4,
}
ROW = 0.2  # inches
NUMBER = 0.42  # inches for the value beside a row
LEAST_ROW = 0.11  # inches, if there are so many that a page has no room for more
BELOW = 0.44  # inches for ticks and a line of axis text
BESIDE = 0.07  # inches between a point and the words beside it
NO_ERROR = "no standard error"
# Behind words, so that no line crosses them
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1}
WORDS = {"color": FAINT, "style": "italic", "va": "center_baseline", "bbox": PAPER}


def has_interval(row: Mapping) -> bool:
    """True if `row` has an interval (ci_low, ci_high); one without a standard error, or with one of
    0, has none.
    """
    return bool(row["ci_low"] < row["ci_high"])


def excludes(row: Mapping, value: float) -> bool:
    """True if the interval of `row` lies wholly on one side of `value`."""
    return bool(row["ci_low"] > value or row["ci_high"] < value)


def excludes_zero(row: Mapping) -> bool:
    """True if `row` has an interval and it lies wholly on one side of 0."""
    return has_interval(row) and excludes(row, 0)


def draw_bar(axes: Axes, place: float, row: Mapping, colour: str, *, scale: float = 1) -> None:
    """The interval of `row`, times `scale`, at the height `place`."""
    ends = [scale * row["ci_low"], scale * row["ci_high"]]
    put(
        axes,
        ends,
        [place] * 2,
        color=colour,
        lw=STROKE,
        solid_capstyle="butt",
        zorder=3,
        gid="interval",
    )


def draw_point(
    axes: Axes,
    place: float,
    value: float,
    colour: str,
    *,
    filled: bool = True,
    mark: Mapping = POINT,
    gid: str = "point",
    words: str = "",
) -> None:
    """A point at the height `place`, filled or hollow; words: seen on hovering, by default the
    value.
    """
    look = {
        "color": colour,
        "markerfacecolor": colour if filled else "white",
        "linestyle": "none",
        **mark,
    }
    put(axes, [value], [place], zorder=4, gid=gid, label=words or number(value), **look)


def draw_interval(
    axes: Axes,
    place: float,
    row: Mapping,
    colour: str,
    *,
    column: str = "estimate",
    point: Mapping = POINT,
) -> None:
    """Point and interval of `row` at the height `place`: filled when the interval excludes 0, else
    hollow.

    A simultaneous interval (columns SIMULTANEOUS, if any) is a fine line with an upright stroke at
    each end.
    A row without an interval is a hollow point with the words `no standard error`; set the limits
    of `axes` and the width `room_for_words` before. A missing value of `column` is the words `not
    estimable`.
    """
    if np.isnan(row[column]):
        write_instead(axes, place, "not estimable")
        return
    simultaneous = [row.get(end, np.nan) for end in SIMULTANEOUS]
    if not np.isnan(simultaneous).any():
        put(
            axes,
            simultaneous,
            [place, place],
            color=colour,
            zorder=2.9,
            gid="simultaneous",
            **WHISKER,
        )
    if has_interval(row):
        draw_bar(axes, place, row, colour)
    else:
        write_beside(axes, place, row[column], NO_ERROR)
    words = (
        f"{signed(row[column])} [{signed(row['ci_low'])}, {signed(row['ci_high'])}]"
        if has_interval(row)
        else ""
    )
    draw_point(axes, place, row[column], colour, filled=excludes_zero(row), mark=point, words=words)


def mark_beyond(axes: Axes, place: float, row: Mapping, colour: str) -> None:
    """Arrowheads where an interval of `row` goes beyond the axis, with the estimate if that is
    beyond it, too.
    """
    bounds = [row[bound] for bound in ENDS if bound in row]
    for end, sign, marker, side in zip(
        axes.get_xlim(), (-1, 1), "<>", ("left", "right"), strict=True
    ):
        outside = sign * (row["estimate"] - end) > 0
        if outside or any(sign * (bound - end) > 0 for bound in bounds):
            settings = {
                "color": colour,
                "markersize": 4,
                "linestyle": "none",
                "clip_on": False,
                "zorder": 5,
                "gid": "beyond",
            }
            put(axes, [end], [place], marker=marker, **settings)
        if outside:
            where = {
                "xytext": (-sign * 72 * BESIDE, 0),
                "textcoords": "offset points",
                "ha": side,
                "zorder": 5,
            }
            axes.annotate(
                signed(row["estimate"]), (end, place), **{**WORDS, "style": "normal"}, **where
            )


def write_instead(axes: Axes, place: float, text: str) -> None:
    """Say in grey, in the middle of a row, why it is empty."""
    axes.text(0.5, place, text, transform=axes.get_yaxis_transform(), ha="center", **WORDS)


def write_absent(axes: Axes, judges: Sequence[str], present: pd.Series, text: str) -> None:
    """The same in the rows of those `judges` that are not `present`."""
    for judge in sorted(set(judges) - set(present)):
        write_instead(axes, judges.index(judge), text)


def write_beside(axes: Axes, place: float, value: float, text: str) -> None:
    """Say in grey what the point at `value` lacks, on the side of it with more room."""
    low, high = axes.get_xlim()
    # So that rounding does not choose the side of a point in the middle
    leftwards = (value - low) / (high - low) > 0.501
    offset = (-72 * BESIDE if leftwards else 72 * BESIDE, 0)
    where = {"textcoords": "offset points", "ha": "right" if leftwards else "left"}
    # Above the line at 0, below any mark
    axes.annotate(text, (value, place), offset, zorder=2.5, **where, **WORDS)


def write_number(
    axes: Axes, place: float, text: str, inches: float = NUMBER, *, ha: str = "right", up: float = 0
) -> None:
    """A number beside a row, `inches` to the right of the axis and inches `up`."""
    where = {
        "textcoords": "offset points",
        "xycoords": axes.get_yaxis_transform(),
        "ha": ha,
        "va": "center_baseline",
    }
    axes.annotate(text, (1, place), (72 * inches, 72 * up), **where)


def room_for_words(table: pd.DataFrame, *, column: str = "estimate") -> float:
    """Width in inches of a panel with room for `write_beside` at any point; 0 if no row needs
    it.
    """
    drawn = table.dropna(subset=[column])
    needed = not all(has_interval(row) for _, row in drawn.iterrows())
    return 2 * (text_width(NO_ERROR) + BESIDE + 0.03) if needed else 0.0


def interval_entries(value: str = "0", colour: str = INK) -> list[Entry]:
    """Legend of filled points, whose interval excludes a value, and of hollow ones."""
    full = {"color": colour, "lw": STROKE, **POINT}
    hollow = {**full, "markerfacecolor": "white"}
    return [
        Entry(f"interval excludes {value}", line=full),
        Entry(f"interval includes {value}", line=hollow),
    ]


def frame_rows(
    axes: Axes, *, limits: tuple[float, float], rows: float, breaks: Sequence[float] = ()
) -> None:
    """Rows from the top down, a line at 0, a light grid, and a fine line at each of `breaks`
    between families.
    """
    axes.set(xlim=limits, ylim=(rows - 0.5, -0.5))
    set_numbers(axes.xaxis, axes.get_position().width * axes.figure.get_size_inches()[0])
    axes.grid(axis="x", which="both")
    axes.tick_params(axis="x", which="minor", length=1.5, width=0.6, grid_linewidth=0.4)
    axes.tick_params(axis="y", length=0)
    axes.axvline(0, color=INK, lw=0.9, zorder=2)
    for place in breaks:
        axes.axhline(place, color=RULE, lw=0.6, zorder=1)


def plain_rows(axes: Axes, names: Sequence[str]) -> None:
    """Rows with these names from the top down, and a grid."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def name_rows(panel: Panel, names: Sequence[str], title: str) -> None:
    """The names of the rows, left of the first panel of a line; numbers under the lowest of a
    column alone; the title.
    """
    panel.axes.set_title(title)
    panel.axes.set_yticks(*((range(len(names)), names) if panel.first else ([],)))
    panel.axes.tick_params(labelbottom=panel.lowest)


class RowPanels(NamedTuple):
    """Panels with the same rows: their axes, those that are the lowest of a column, and the middle
    of all.
    """

    axes: list[Axes]
    lowest: list[Axes]
    middle: float


def row_within(rows: float, row: float, others: float = 0.0) -> float:
    """Height in inches of one of so many rows: `row`, or less if they would not fit on a page with
    `others`, in inches.
    """
    return min(row, max(LEAST_ROW, (PAGE - AROUND - others) / rows))


def page_of_rows(
    subject: Subject,
    head: Head,
    names: Sequence[str],
    titles: Sequence[str],
    legend: Sequence[Sequence[Entry]],
    *,
    most: int,
    row: float,
    below: float,
    above: float,
    gutter: float,
    right: float = 0.0,
    beside: float = 0.0,
    least: float = LEAST_PANEL,
    least_page: float = 0.0,
    note: str = "",
) -> tuple[Page, RowPanels]:
    """A page of panels, one for each of `titles`, all with the rows `names`; at most so many side
    by side.

    Panels beyond the page are left out. Inches: row, the greatest height of one; below and above
    the panels; gutter, from one to the next; beside each, and right of all; least width of a panel
    and of the page.
    """
    (rows, columns), count = grid(len(titles), most), len(titles)
    rows = lines_within(rows, len(names) * LEAST_ROW + above)
    titles = titles[: rows * columns]
    label, height = (
        widest(names) + 0.1,
        len(names) * row_within(rows * len(names), row, rows * above),
    )
    note = joined(note, left_out_of_page(count, len(titles)))
    frame = 2 * EDGE + label + columns * beside + (columns - 1) * gutter + right
    panel = max(least, (max(page_width(legend, several=columns > 1), least_page) - frame) / columns)
    width = frame + columns * panel
    body = below + rows * (height + above)
    page = Page(subject=subject, head=head, width=width, body=body, legend=legend, note=note)
    step = panel + beside + gutter, height + above
    panels = list(
        page.panels(
            len(titles), columns, corner=(EDGE + label, below), size=(panel, height), step=step
        )
    )
    for title, each in zip(titles, panels, strict=True):
        name_rows(each, names, title)
    middle = (panels[0].left + panels[:columns][-1].left + panel) / 2
    return page, RowPanels(
        [each.axes for each in panels], [each.axes for each in panels if each.lowest], middle
    )


class PanelRows(NamedTuple):
    """Panels under one title with the same rows; panels: title of each, and the line under it."""

    title: str
    names: Sequence[str]
    panels: Sequence[tuple[str, str]]


def page_of_sections(
    subject: Subject,
    head: Head,
    sections: Sequence[PanelRows],
    legend: Sequence[Sequence[Entry]],
    *,
    most: int,
    below: float,
    least: float,
    beside: float = 0.0,
    right: float = 0.0,
    note: str = "",
) -> tuple[Page, list[list[Panel]], list[tuple[float, float]]]:
    """A page of sections below one another, at most so many panels side by side, with panels and
    axis text place of each.

    Panels beyond the page are left out. Inches: below a section; least width of a panel; beside
    each panel, and right of all.
    """
    lines, columns = zip(*(grid(len(section.panels), most) for section in sections), strict=True)
    count, most_names = (
        sum(len(section.panels) for section in sections),
        max(len(section.names) for section in sections),
    )
    fitting = lines_within(sum(lines), most_names * LEAST_ROW + 0.5)
    lines = [
        rows if fitting == sum(lines) else min(rows, max(1, fitting // len(sections)))
        for rows in lines
    ]
    sections = [
        section._replace(panels=section.panels[: rows * across])
        for section, rows, across in zip(sections, lines, columns, strict=True)
    ]
    note = joined(note, left_out_of_page(count, sum(len(section.panels) for section in sections)))
    titles, under = zip(*(panel for section in sections for panel in section.panels), strict=True)
    words = widest((word for title in titles for word in title.split()), TEXT, "bold")
    label, gutter = widest(name for section in sections for name in section.names) + 0.1, 0.3
    frame = 2 * EDGE + label + right + max(columns) * (beside + gutter) - gutter
    room = (page_width(legend, several=max(columns) > 1) - frame) / max(columns)
    panel = max(least, words, widest(under), room)
    above = 0.44 + LINE * max(wrap(title, BOLD_TITLE * panel, TEXT).count("\n") for title in titles)
    drawn_rows = sum(
        rows * len(section.names) for rows, section in zip(lines, sections, strict=True)
    )
    row = row_within(drawn_rows, ROW, sum(lines) * above + len(sections) * (0.14 + below))
    heights = [len(section.names) * row for section in sections]
    steps = [
        0.14 + rows * (height + above) + below for rows, height in zip(lines, heights, strict=True)
    ]
    width = frame + max(columns) * panel
    page = Page(subject=subject, head=head, width=width, body=sum(steps), legend=legend, note=note)
    drawn, places, top = [], [], sum(steps)
    for section, across, height, down in zip(sections, columns, heights, steps, strict=True):
        page.text(EDGE + label, top - 0.13, section.title, size=TEXT, weight="bold")
        top -= down
        corner, step = (EDGE + label, top + below), (panel + beside + gutter, height + above)
        drawn.append(
            list(
                page.panels(
                    len(section.panels), across, corner=corner, size=(panel, height), step=step
                )
            )
        )
        places.append((EDGE + label + (across * step[0] - gutter) / 2, top))
        for (title, line), each in zip(section.panels, drawn[-1], strict=True):
            name_rows(each, section.names, "")
            each.axes.set_title(wrap(title, BOLD_TITLE * panel, TEXT), pad=13)
            each.axes.annotate(
                line,
                (0, 1),
                (0, 4),
                xycoords="axes fraction",
                textcoords="offset points",
                color=FAINT,
            )
    return page, drawn, places


def family_breaks(judges: Sequence[str], palette: Palette) -> list[float]:
    """Heights between neighbouring judges of different families."""
    families = [palette.family(judge) for judge in judges]
    return [i - 0.5 for i in range(1, len(judges)) if families[i] != families[i - 1]]


def write_directions(axes: Axes, less: str, more: str, *, at: float = 0.0) -> None:
    """The two directions of an axis from `at`, in the space of BELOW inches under it; one that has
    no room is left out.
    """
    (low, high), (left, _, width, _) = axes.get_xlim(), axes.get_position().bounds
    paper = axes.figure.get_size_inches()[0]
    start = paper * (left + width * (at - low) / (high - low))
    for text, side, room in ((f"← {less}", -1, start), (f"{more} →", 1, paper - start)):
        if room > text_width(text) + BESIDE:
            where = {
                "xycoords": axes.get_xaxis_transform(),
                "textcoords": "offset points",
                "ha": "left" if side > 0 else "right",
            }
            axes.annotate(
                text,
                (at, 0),
                (side * 3, -72 * 0.34),
                annotation_clip=False,
                gid="direction",
                **where,
            )


def sentence(reasons: Mapping[str, str]) -> str:
    """The note on what a page does not show, by name, with reasons as in tables; empty if nothing
    is missing.
    """
    named = "; ".join(f"{name} ({in_words(reason)})" for name, reason in reasons.items())
    return f"Not estimated: {named}." if reasons else ""
