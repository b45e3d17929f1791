"""Estimates slice by slice, a panel for each: Figures 4 and 8 of Play Favorites, by dataset, and without one model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import signed
from recuse.plot.axes import ENDS, bias_limits, note_beyond, readable
from recuse.plot.biases import RIGHT, SIDES, absences, left_out, quantity_of, with_simultaneous
from recuse.plot.colours import FAINT, Palette
from recuse.plot.intervals import (
    BELOW,
    NUMBER,
    ROW,
    draw_interval,
    family_breaks,
    frame_rows,
    interval_entries,
    mark_beyond,
    room_for_words,
    sentence,
    write_axis_text,
    write_instead,
    write_number,
)
from recuse.plot.page import Entry, Page, family_entries, joined, page_of_words, page_width
from recuse.plot.style import EDGE, TEXT, UNIT, Subject, interval_text, language, text_width, widest

GUTTER = 0.22  # inches between panels, across
BETWEEN = 0.2  # inches more between blocks
HEADING = 0.18  # inches more for the title of a block
TITLE = 0.44  # inches for the title of a panel, its number of ratings, and the space above
SECOND = 13  # points from the axes to the title of a panel, over the number of ratings
LEAST_PANEL = 0.9  # inches
LOG_ODDS = "log-odds of a higher rating"
WHOLE = {"color": FAINT, "marker": "|", "linestyle": "none", "markersize": 8, "markeredgewidth": 1.2}
NO_ROWS = "no rows"
LEFT_OUT = "left out"
OWN_WHOLE = "the same spec, all its ratings"


@dataclass(frozen=True)
class Block:
    """The slices of one spec under one title: `table` holds its estimates, `simultaneous` the legend of intervals beside."""

    title: str
    spec: str
    table: pd.DataFrame
    simultaneous: Sequence[Entry] = ()


@dataclass(frozen=True)
class Band:
    """Blocks side by side, of one quantity (Self-bias or Family-bias), with the same rows.

    whole: estimate of each judge or family that is no slice's, a tick in its row; whole_is: its name in the legend. effects:
    the estimates are log-odds; the average marginal effect (column `effect`, points of the unit scale) stands beside each row.
    """

    quantity: str
    blocks: Sequence[Block]
    whole: Mapping[str, float] = field(default_factory=dict)
    whole_is: str = ""
    effects: bool = False


@dataclass(frozen=True)
class Panel:
    """One slice: its rows indexed by judge or family, its number of ratings, and its place in the grid of its band."""

    heading: str  # the title of its block
    title: str
    rows: pd.DataFrame
    n: int
    limits: tuple[float, float]
    block: int
    column: int
    line: int
    is_last: bool  # of its column


@dataclass(frozen=True)
class Layout:
    """A band with its rows, from the top (judges or families, with colours), and its panels."""

    band: Band
    colours: Mapping[str, str]
    breaks: Sequence[float]
    panels: Sequence[Panel]

    @property
    def columns(self) -> int:
        """Columns of the grid."""
        return 1 + max(panel.column for panel in self.panels)

    @property
    def between(self) -> float:
        """Inches across that are no panel's own."""
        return (self.columns - 1) * GUTTER + self.columns * self.beside + self.panels[-1].block * BETWEEN + RIGHT

    @property
    def beside(self) -> float:
        """Inches for what stands to the right of a panel."""
        return NUMBER if self.band.effects else 0.0

    @property
    def least(self) -> float:
        """Inches that a panel must have for its texts."""
        words = max(room_for_words(panel.rows) for panel in self.panels)
        numbers = max(text_width(_ratings(panel.n)) for panel in self.panels)
        return max(LEAST_PANEL, widest((panel.title for panel in self.panels), TEXT, "bold"), words, numbers)

    @property
    def height(self) -> float:
        """Inches of the band on the page."""
        lines = 1 + max(panel.line for panel in self.panels)
        return BELOW + lines * (len(self.colours) * ROW + TITLE) + HEADING


def slices_of_specs(
    estimates: Sequence[pd.DataFrame],
    whole: pd.DataFrame,
    not_estimable: pd.DataFrame,
    multiplicity: pd.DataFrame,
    subject: Subject,
    *,
    blocks: Sequence[Mapping],
    words: str,
    confidence: float,
    covariance: str,
) -> Figure:
    """Self-bias slice by slice: Figure 4, by dataset, with one model left out, and users' own ablations.

    estimates: a table for each of `blocks`, which have `heading`, `spec` and `simultaneous` (see `with_simultaneous`). Ticks
    are the estimates of `whole`, or those of the first table that are of no slice. words: stand at the foot, before what is
    absent.
    """
    drawn = []
    for block, table in zip(blocks, estimates, strict=True):
        beside = with_simultaneous(table, multiplicity, block["simultaneous"], confidence=confidence)
        drawn.append(Block(block["heading"], block["spec"], *beside))
    own = whole_of(drawn[0].table, "Self-bias")  # only a user's spec has one, and is drawn alone
    ticks = (own, OWN_WHOLE) if own else (whole_of(whole, "Self-bias"), "Equation 1, all ratings")
    bands = [Band("Self-bias", drawn, *ticks)]
    note = joined(words, note_of(bands, not_estimable))
    return slices(bands, subject, interval=interval_text(confidence, covariance), note=note)


def ordinal(
    estimates: pd.DataFrame,
    not_estimable: pd.DataFrame,
    subject: Subject,
    *,
    spec: str,
    by: str,
    words: str,
    confidence: float,
    covariance: str,
) -> Figure:
    """An ordinal spec, such as Figure 8: self- and family-bias in log-odds, average marginal effects in rating points.

    by: what the slices are, as in `by dimension`. words: stand at the foot, before what is absent.
    """
    blocks = {side: [Block(f"{side} {by}", spec, estimates)] for side in SIDES}
    bands = [Band(side, blocks[side], whole_of(estimates, side), OWN_WHOLE, effects=True) for side in SIDES]
    note = joined(words, note_of(bands, not_estimable))
    return slices(bands, subject, interval=interval_text(confidence, covariance), note=note)


@language()
def slices(bands: Sequence[Band], subject: Subject, *, interval: str, note: str = "") -> Figure:
    """Bands of panels below one another, a panel for each slice (Play Favorites, Figures 4 and 8).

    A table holds the estimates of one spec: slice, quantity, term, estimate, ci_low, ci_high, n. The panels of a block share
    an axis. `interval` says what the intervals are, `note` stands at the foot. A band without rows is left out; if all are, the
    note is all there is.
    """
    layouts = [layout for layout in (_layout(band, subject.palette) for band in bands) if layout.panels]
    if not layouts:
        return page_of_words(subject, note)
    legend = _legend(layouts, subject.palette, interval)
    label = max(widest(layout.colours) for layout in layouts) + 0.1
    across = page_width(legend, several=any(layout.columns > 1 for layout in layouts)) - 2 * EDGE - label
    panel = min((across - layout.between) / layout.columns for layout in layouts)
    panel = max(panel, *(layout.least for layout in layouts))
    width = 2 * EDGE + label + max(layout.columns * panel + layout.between for layout in layouts)
    height = sum(layout.height for layout in layouts)
    drawn = [item for layout in layouts for item in layout.panels]
    beyond = (note_beyond(item.rows, readable(item.limits, panel)) for item in drawn)
    note = joined(next(filter(None, beyond), ""), note)
    page = Page(subject=subject, width=width, body=height, legend=legend, note=note)
    for layout in layouts:
        height -= layout.height
        _draw_band(page, layout, left=EDGE + label, bottom=height, panel=panel)
    return page.figure


def note_of(bands: Sequence[Band], not_estimable: pd.DataFrame) -> str:
    """What the foot says of bands, blocks and slices that a study has no estimates of, with the reasons in `not_estimable`."""
    absent: list[str] = []
    reasons: dict[str, str] = {}
    for band in bands:
        absent.append(absences([band.quantity], {block.spec: block.table for block in band.blocks}, not_estimable))
        for block in band.blocks:
            left = left_out(block.spec, block.table, not_estimable)
            reasons |= {name or block.title: reason for name, reason in left.items()}
    return joined(*absent, sentence(reasons))


def whole_of(table: pd.DataFrame, quantity: str) -> dict[str, float]:
    """Estimate by judge, or family, of the rows of `table` that are of no slice; `quantity` as in Band."""
    rows = table[table["slice"].isna() & (table["quantity"] == quantity_of(quantity))].dropna(subset="estimate")
    return dict(zip(rows["term"], rows["estimate"], strict=True))


def _layout(band: Band, palette: Palette) -> Layout:
    quantity = quantity_of(band.quantity)
    sliced = {block.title: block.table[block.table["slice"].notna()] for block in band.blocks}
    tables = {title: table for title, table in sliced.items() if len(table)}
    terms = {term for table in tables.values() for term in table.loc[table["quantity"] == quantity, "term"]}
    names = [term for _, term in palette.order_biases((quantity, term) for term in terms)]
    colours = {name: palette.of_bias(quantity, name) for name in names}
    breaks = family_breaks(names, palette) if quantity == "self_bias" else []
    panels = _panels(tables, quantity, band.whole, palette) if terms else []
    return Layout(band, colours, breaks, panels)


def _columns_of(counts: Sequence[int]) -> list[int]:
    """Columns of each block of so many panels, side by side in as few lines as three columns, or four in all, allow."""
    most = max(4 if len(counts) > 1 else 3, len(counts), math.ceil(math.sqrt(sum(counts))))
    lines = next(lines for lines in range(1, max(counts) + 1) if sum(math.ceil(count / lines) for count in counts) <= most)
    return [math.ceil(count / lines) for count in counts]


def _panels(tables: Mapping[str, pd.DataFrame], quantity: str, whole: Mapping[str, float], palette: Palette) -> list[Panel]:
    names = [palette.order(table["slice"]) for table in tables.values()]
    columns = _columns_of([len(own) for own in names])
    ticks = pd.DataFrame({"estimate": list(whole.values())}, dtype=float)
    panels = []
    for block, (title, own, across) in enumerate(zip(tables, names, columns, strict=True)):
        table = tables[title]
        rows = table[table["quantity"] == quantity]
        limits = bias_limits(pd.concat([rows.reindex(columns=["estimate", *ENDS]).astype(float), ticks]))
        for place, name in enumerate(own):
            here = rows[rows["slice"] == name].set_index("term")
            n = int(table.loc[table["slice"] == name, "n"].max())
            corner = (sum(columns[:block]) + place % across, place // across)
            panels.append(Panel(title, name, here, n, limits, block, *corner, place + across >= len(own)))
    return panels


def _legend(layouts: Sequence[Layout], palette: Palette, interval: str) -> list[list[Entry]]:
    judges = [term for layout in layouts if layout.band.quantity == "Self-bias" for term in layout.colours]
    extra = [Entry(name, line=WHOLE) for name in dict.fromkeys(layout.band.whole_is for layout in layouts if layout.band.whole)]
    if any(layout.band.effects for layout in layouts):
        extra.append(Entry(f"number beside a row: average marginal effect, {UNIT}"))
    blocks = [block for layout in layouts for block in layout.band.blocks]
    simultaneous = [entry for block in blocks for entry in block.simultaneous]
    # One mark for all; the others say only over what.
    simultaneous[1:] = [Entry(f"likewise over {entry.text.partition(' over ')[2]}") for entry in simultaneous[1:]]
    return [family_entries(palette, judges), interval_entries(f"estimate, {interval}") + extra, simultaneous]


def _draw_band(page: Page, layout: Layout, *, left: float, bottom: float, panel: float) -> None:
    """Panels `panel` inches wide, under the titles of their blocks, over the text of their common axis."""
    height = len(layout.colours) * ROW
    lines = 1 + max(item.line for item in layout.panels)
    step = panel + layout.beside + GUTTER
    for number, item in enumerate(layout.panels):
        x = left + item.column * step + item.block * BETWEEN
        axes = page.axes(x, bottom + BELOW + (lines - 1 - item.line) * (height + TITLE), panel, height)
        frame_rows(axes, limits=readable(item.limits, panel), rows=len(layout.colours), breaks=layout.breaks)
        is_first = item.column == min(other.column for other in layout.panels if other.line == item.line)
        axes.set_yticks(range(len(layout.colours)), list(layout.colours) if is_first else [])
        axes.tick_params(labelbottom=item.is_last)
        _draw_panel(axes, item, layout)
        if number == 0 or layout.panels[number - 1].block < item.block:
            page.text(x, bottom + layout.height - 0.14, item.heading, size=TEXT, weight="bold")
    middle = left + (layout.columns * panel + layout.between - RIGHT) / 2
    target = "itself" if layout.band.quantity == "Self-bias" else "its family"
    write_axis_text(page, middle, bottom, target, unit=LOG_ODDS if layout.band.effects else UNIT)


def _draw_panel(axes: Axes, panel: Panel, layout: Layout) -> None:
    axes.set_title(panel.title, pad=SECOND)
    above = {"xycoords": "axes fraction", "textcoords": "offset points", "color": FAINT}
    axes.annotate(_ratings(panel.n), (0, 1), (0, 4), **above)
    if layout.band.effects:
        axes.annotate("points", (1, 1), (72 * NUMBER, 4), ha="right", **above)
    for place, (term, colour) in enumerate(layout.colours.items()):
        if term not in panel.rows.index:
            write_instead(axes, place, LEFT_OUT if term == panel.title else NO_ROWS)
            continue
        row = panel.rows.loc[term]
        if term in layout.band.whole:
            axes.plot([layout.band.whole[term]], [place], zorder=2.8, gid="whole", **WHOLE)
        draw_interval(axes, place, row, colour)
        mark_beyond(axes, place, row, colour)
        if layout.band.effects and not np.isnan(row["effect"]):
            write_number(axes, place, signed(row["effect"]))


def _ratings(n: int) -> str:
    return f"n = {n:,} ratings"
