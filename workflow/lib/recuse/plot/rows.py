"""Tables as rows: names on the left, marks with intervals in panels on common axes.

A figure says which rows of its table are marks, and what its rows, panels and kinds of mark are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import AutoMinorLocator

from recuse.base.words import signed
from recuse.plot.axes import ENDS, SIMULTANEOUS, bias_limits, note_beyond, numbered, put
from recuse.plot.colours import FAINT, GRID, INK, NEUTRAL
from recuse.plot.page import Entry, Head, Section, joined, page_of_panels
from recuse.plot.style import LINE, Subject, text_width, widest, wrap

NO_ERROR = "no standard error"
ROW = 0.2  # inches of a row with one mark
PITCH = 0.085  # inches between the marks of a row
APART = 0.1  # inches more between the marks of neighbouring rows
LEAST_ROW, LEAST_PITCH = 0.1, 0.04  # inches, on a full page
WIDEST_LABEL = 1.6  # inches of the words under an axis, before they are broken
GAP = 0.07  # inches between a mark and the words beside it
STROKE = 1.3  # points: an interval
SHAPES = (("o", 3.1), ("s", 2.9), ("^", 3.7), ("D", 2.7), ("v", 3.7), ("P", 4.4))
LETTERS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "+", "|": "|", "x": "×"}
LETTERS |= {"<": "◂", ">": "▸"}
POINTS = [{"marker": shape, "markersize": size, "markeredgewidth": 1.0} for shape, size in SHAPES]
TICK = {"marker": "|", "markersize": 6, "markeredgewidth": 1.2}
CROSS = {"marker": "x", "markersize": 4, "markeredgewidth": 1.4}
WHISKER = {"lw": 0.6, "marker": "|", "markersize": 4.5, "markeredgewidth": 0.7}
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # no line crosses the words on it
WORDS = {"color": FAINT, "style": "italic", "va": "center_baseline", "bbox": PAPER}
OPTIONAL = ["kind", "colour", "hollow", "words", "text", "instead"]


class Row(NamedTuple):
    """A row: its key in the table of marks, its name, its colour, and the heading of its group."""

    key: object
    name: str
    colour: str = NEUTRAL
    group: str = ""


class Kind(NamedTuple):
    """A kind of mark: its label in the key, its look, and its colour, by default the row's.

    slot: which mark of a row it is, from the top; several kinds may share one. interval: False if
    it has none, and is always filled.
    """

    label: str = ""
    mark: Mapping = POINTS[0]
    colour: str = ""
    slot: int = 0
    interval: bool = True


@dataclass(frozen=True)
class Column:
    """A panel: its key in the table of marks, and the lines over it.

    less, more: the two directions of its axis; or across: its words. at: the value of no effect,
    None if there is none. Panels of one scale share their limits, which hold all marks unless
    given. beside: heading of the texts beside the rows. bar: look of the intervals.
    """

    key: object = ""
    title: str = ""
    under: str = ""
    less: str = ""
    more: str = ""
    across: str = ""
    at: float | None = 0.0
    scale: str = ""
    limits: tuple[float, float] | None = None
    ticks: Sequence[tuple[float, str]] = ()
    beside: str = ""
    bar: Mapping = field(default_factory=dict)


class Block(NamedTuple):
    """Panels with the same rows, under a heading."""

    rows: Sequence[Row]
    columns: Sequence[Column]
    heading: str = ""


@dataclass(frozen=True)
class Rows:
    """The drawn page: figure, panels by key, and the middle of each row in them, in inches from the
    top as are the height of a row and the distance of its marks.
    """

    figure: Figure
    kinds: Mapping[str, Kind]
    row: float
    axes: dict[object, Axes] = field(default_factory=dict)
    places: dict[object, dict[object, float]] = field(default_factory=dict)

    def place(self, panel: object, row: object, slot: int = 0) -> float:
        """Height of a mark in a panel."""
        return self.places[panel][row] + PITCH * (slot - (_slots(self.kinds) - 1) / 2)


def _slots(kinds: Mapping[str, Kind]) -> int:
    return 1 + max(kind.slot for kind in kinds.values())


def _places(rows: Sequence[Row], height: float) -> tuple[dict[object, float], float]:
    """Middle of each row by key, and the height of all; a group's heading takes a line."""
    places = {}
    y, group = 0.0, ""
    for row in rows:
        y += LINE * (row.group != group)
        places[row.key] = y + height / 2
        y, group = y + height, row.group
    return places, y


def rows_figure(
    marks: pd.DataFrame,
    subject: Subject,
    head: Head,
    blocks: Sequence[Block],
    *,
    kinds: Mapping[str, Kind] | None = None,
    most: int = 3,
    row: float = ROW,
    key: Sequence[Entry] = (),
    absent: str = "",
    note: str = "",
) -> Rows:
    """Draw a table of marks: panel, row, estimate; if any, kind (by default the first of `kinds`),
    the ENDS of intervals, `colour`, whether it is `hollow`, `words` seen on hovering, `text` beside
    the row, and `instead`, words for an estimate that is missing.

    By default a mark has its row's colour, and is filled where its interval excludes the panel's
    `at`, else hollow. most: panels side by side; row: inches; absent: words for a row without
    marks in a panel.
    """
    kinds = kinds or {"": Kind()}
    marks = marks.reindex(columns=marks.columns.union([*ENDS, *OPTIONAL], sort=False))
    marks["kind"] = marks["kind"].astype(object).fillna(next(iter(kinds)))
    has_none = ~marks["kind"].map(lambda name: kinds[name].interval) | marks["estimate"].isna()
    without_error = ~has_none & marks["ci_low"].isna() & (len(kinds) == 1)
    texts = marks["text"].astype(object).fillna("") + f" {NO_ERROR}"
    marks["text"] = marks["text"].where(~without_error, texts.str.strip())
    marks.loc[has_none, ENDS] = np.nan
    marks = marks[marks["row"].isin([each.key for block in blocks for each in block.rows])]
    slots = _slots(kinds)
    row = max(row, APART + PITCH * slots)
    least = (LEAST_ROW + LEAST_PITCH * (slots - 1)) / row
    limits = _limits(marks, blocks)
    beyond = {note_beyond(marks[marks["panel"] == each], ends) for each, ends in limits.items()}

    sections = []
    for block in blocks:
        height = _places(block.rows, row)[1]
        under = [column.under for column in block.columns]
        sections.append(
            Section(
                [column.title for column in block.columns],
                height,
                block.heading,
                under if any(under) else [],
                least=height * least,
                most=most,
                below=max(_below(column) for column in block.columns),
            )
        )
    rows = [each for block in blocks for each in block.rows]
    names = [
        widest(each.name for each in rows),
        widest((each.group for each in rows), weight="bold"),
    ]
    every = [column for block in blocks for column in block.columns]
    of_kinds = [
        Entry(kind.label, LETTERS[kind.mark["marker"]], kind.colour or INK)
        for kind in kinds.values()
        if kind.label
    ]
    texts = widest([*marks["text"].dropna(), *(column.beside for column in every)])
    figure, panels = page_of_panels(
        subject,
        head,
        sections,
        left=max(names) + 0.1,
        beside=texts + 0.08 if texts else 0.0,
        least=max(_least(column, marks) for column in every),
        key=[*of_kinds, *key],
        note=joined(*beyond, note),
    )

    drawn = Rows(figure, kinds, row)
    for block, of_block in zip(blocks, panels, strict=True):
        places, height = _places(block.rows, row)
        for column, panel in zip(block.columns, of_block, strict=True):
            drawn.axes[column.key], drawn.places[column.key] = panel.axes, places
            panel.axes.set(xlim=limits[column.key], ylim=(height, 0))
            _frame(panel.axes, column, lowest=panel.lowest)
            _name_rows(panel.axes, block.rows, drawn, column, named=panel.first)
            own = marks[marks["panel"] == column.key]
            _draw(drawn, column, block.rows, own, texts)
            for key in [key for key in places if key not in set(own["row"])] if absent else ():
                write_instead(panel.axes, places[key], absent)
    return drawn


def _limits(marks: pd.DataFrame, blocks: Sequence[Block]) -> dict[object, tuple[float, float]]:
    """Ends of the axis of each panel."""
    columns = [column for block in blocks for column in block.columns]
    limits = {}
    for column in columns:
        shared = [other.key for other in columns if other.scale == column.scale]
        own = marks[marks["panel"].isin(shared)]
        limits[column.key] = column.limits or bias_limits(own, at=column.at)
    return limits


def _below(column: Column) -> float:
    """Inches under a panel."""
    lines = wrap(column.across, WIDEST_LABEL).count("\n") + 1
    return 0.28 + LINE * lines * bool(column.across or column.more)


def _least(column: Column, marks: pd.DataFrame) -> float:
    """Inches that the words in a panel and under it take."""
    directions = text_width(f"← {column.less}") + text_width(f"{column.more} →") + 0.1
    across = widest(wrap(column.across, WIDEST_LABEL).split("\n"))
    own = marks[marks["panel"] == column.key]
    instead = widest(own["instead"].dropna()) + 0.1
    return max(1.0, directions * bool(column.more), across, instead)


def _frame(axes: Axes, column: Column, *, lowest: bool) -> None:
    """Numbers, grid, the line of no effect, and the words under the lowest panel."""
    inches = axes.get_position().width * axes.figure.get_size_inches()[0]
    if column.ticks:
        places, texts = zip(*column.ticks, strict=True)
        axes.set_xticks(places, texts)
    else:
        axes.set(xlim=numbered(axes.xaxis, inches, column.at if column.more else None))
        axes.xaxis.set_minor_locator(AutoMinorLocator(2))
    axes.grid(axis="x", which="both")
    axes.tick_params(axis="x", which="minor", length=1.5, width=0.6, grid_linewidth=0.4)
    if column.at is not None:
        axes.axvline(column.at, color=INK, lw=0.9, zorder=2)
    if not lowest:
        return
    below = {"xycoords": "axes fraction", "textcoords": "offset points", "annotation_clip": False}
    if column.more:
        for text, x, side in ((f"← {column.less}", 0, "left"), (f"{column.more} →", 1, "right")):
            axes.annotate(text, (x, 0), (0, -72 * 0.34), ha=side, gid="direction", **below)
    for count, line in enumerate(wrap(column.across, WIDEST_LABEL).split("\n")):
        axes.annotate(line, (0.5, 0), (0, -72 * (0.34 + count * LINE)), ha="center", **below)


def _name_rows(
    axes: Axes, rows: Sequence[Row], drawn: Rows, column: Column, *, named: bool
) -> None:
    """Names left of the rows, headings over their groups, and lines between rows of several
    marks.
    """
    places = drawn.places[column.key]
    if named:
        axes.set_yticks(list(places.values()), [row.name for row in rows])
        axes.tick_params(axis="y", length=0)
    else:
        axes.set_yticks([])
    group = ""
    for row in rows:
        top = places[row.key] - drawn.row / 2
        if _slots(drawn.kinds) > 1 and top > 0.01:
            axes.axhline(top, color=GRID, lw=0.6, zorder=0.9)
        if named and row.group != group:
            look = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
            look |= {"ha": "right", "va": "center_baseline", "weight": "bold", "gid": "group"}
            axes.annotate(row.group, (0, top - LINE / 2), (-3.5, 0), **look)
        group = row.group


def _draw(
    drawn: Rows, column: Column, rows: Sequence[Row], marks: pd.DataFrame, texts: float
) -> None:
    """The marks of a panel, and the words in place of them and beside the rows."""
    axes, kinds = drawn.axes[column.key], drawn.kinds
    colours = {row.key: row.colour for row in rows}
    for mark in marks[marks["row"].isin(list(colours))].to_dict("records"):
        kind = kinds[mark["kind"]]
        place = drawn.place(column.key, mark["row"], kind.slot)
        if isinstance(mark["text"], str):
            write_beside(
                axes, drawn.places[column.key][mark["row"]], mark["text"], inches=texts + GAP
            )
        if not np.isnan(mark["estimate"]):
            own = kind.colour or colours[mark["row"]]
            colour = mark["colour"] if isinstance(mark["colour"], str) else own
            _draw_mark(axes, place, mark, kind, colour, column)
    estimated = set(marks.loc[marks["estimate"].notna(), "row"])
    for row in marks.dropna(subset="instead").drop_duplicates("row").to_dict("records"):
        if row["row"] in colours and row["row"] not in estimated:
            write_instead(axes, drawn.places[column.key][row["row"]], row["instead"])
    if column.beside:
        write_beside(axes, -LINE / 2, column.beside, inches=texts + GAP, color=FAINT)


def _draw_mark(
    axes: Axes, place: float, mark: Mapping, kind: Kind, colour: str, column: Column
) -> None:
    """A mark with its interval, in a panel whose limits are set.

    A simultaneous interval is a fine line with an upright stroke at each end. Arrowheads at the
    edge stand for what is beyond the axis.
    """
    ends = mark["ci_low"], mark["ci_high"]
    wide, at = kind.interval and ends[0] < ends[1], column.at
    outer = [mark[end] for end in SIMULTANEOUS]
    if not np.isnan(outer).any():
        put(axes, outer, [place] * 2, color=colour, zorder=2.9, gid="simultaneous", **WHISKER)
    words = signed(mark["estimate"])
    if wide:
        words = f"{words} [{signed(ends[0])}, {signed(ends[1])}]"
        look = {"lw": STROKE, "solid_capstyle": "butt", **column.bar}
        put(axes, ends, [place] * 2, color=colour, zorder=3, gid="interval", **look)
    excludes = at is None or (wide and (ends[0] > at or ends[1] < at))
    hollow = kind.interval and not excludes
    if not pd.isna(mark["hollow"]):
        hollow = mark["hollow"]
    look = {"color": colour, "markerfacecolor": "white" if hollow else colour, **kind.mark}
    label = mark["words"] if isinstance(mark["words"], str) else words
    gid = mark["kind"] or "point"
    put(axes, [mark["estimate"]], [place], zorder=4, gid=gid, label=label, linestyle="none", **look)
    _mark_beyond(axes, place, mark, colour)


def _mark_beyond(axes: Axes, place: float, mark: Mapping, colour: str) -> None:
    values = [mark[name] for name in ("estimate", *ENDS)]
    sides = zip(axes.get_xlim(), (-1, 1), "<>", ("left", "right"), strict=True)
    for end, sign, marker, side in sides:
        if any(sign * (value - end) > 0 for value in values):
            look = {"color": colour, "markersize": 4, "clip_on": False, "zorder": 5}
            put(axes, [end], [place], marker=marker, gid="beyond", **look)
        if sign * (mark["estimate"] - end) > 0:
            where = {"xytext": (-sign * 72 * GAP, 0), "textcoords": "offset points", "ha": side}
            look = {**WORDS, "style": "normal", "zorder": 5}
            axes.annotate(signed(mark["estimate"]), (end, place), **where, **look)


def write_instead(axes: Axes, place: float, text: str) -> None:
    """Say in grey, in the middle of a row, why it is empty."""
    axes.text(0.5, place, text, transform=axes.get_yaxis_transform(), ha="center", **WORDS)


def write_beside(
    axes: Axes, place: float, text: str, *, inches: float, ha: str = "right", **look: object
) -> None:
    """A text beside a row that ends, or begins, so many inches right of the axis."""
    where = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "ha": ha}
    look = {"va": "center_baseline", "annotation_clip": False, **look}
    axes.annotate(text, (1, place), (72 * inches, 0), **where, **look)
