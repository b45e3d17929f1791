"""The frame of a figure: a legend on top, axes placed in inches, and the study with a note at the foot."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from recuse.base.words import BADGES, WORDS_ALONE
from recuse.plot.colours import INK, NEUTRAL, Palette
from recuse.plot.style import (
    BOLD_TITLE,
    DOUBLE_COLUMN,
    EDGE,
    LINE,
    SINGLE_COLUMN,
    SMALL,
    UPRIGHT,
    Subject,
    text_width,
    widest,
    wrap,
)

SWATCH = 0.1
GAP = 0.16  # inches between the entries of a legend
LEAST_PANEL = 1.2  # inches: if names leave less of a column, the page is wider
NO_EXPERIMENT = "no experiment"


@dataclass(frozen=True)
class Entry:
    """One item of a legend: patches side by side, or a short line with a marker in its middle, and a text; or the text alone.

    `swatches` are keyword arguments of Rectangle, `line` of Line2D. Widths are inches.
    """

    text: str
    swatches: Sequence[Mapping] = ()
    line: Mapping | None = None

    @property
    def mark_width(self) -> float:
        """Of what is drawn before the text."""
        if self.line is None:
            return SWATCH * len(self.swatches)
        return SWATCH if self.line.get("linestyle") == "none" else 0.22

    @property
    def space(self) -> float:
        """Between the mark and the text."""
        return 0.05 if self.mark_width else 0.0

    @property
    def width(self) -> float:
        """With the text and the space after it."""
        return self.mark_width + self.space + text_width(self.text) + GAP


def family_entries(palette: Palette, models: Sequence[str], *, others: str = "no family in config") -> list[Entry]:
    """A coloured square for each family of `models`, and a grey one, named `others`, if a model has none."""
    entries = [Entry(name, [{"color": palette.colours[name], "lw": 0}]) for name in palette.families_of(models)]
    if others and any(palette.family(model) is None for model in models):
        entries.append(Entry(others, [{"color": NEUTRAL, "lw": 0}]))
    return entries


def legend_width(legend: Sequence[Sequence[Entry]]) -> float:
    """Width in inches of the widest entry of a legend."""
    return max((entry.width - GAP for group in legend for entry in group), default=0.0)


class Panel(NamedTuple):
    """One of several panels in lines, with its lower left corner."""

    axes: Axes
    left: float
    bottom: float
    first: bool  # of its line
    last: bool
    lowest: bool  # of its column


def page_width(legend: Sequence[Sequence[Entry]] = (), *, several: bool = True) -> float:
    """Width in inches of a page with one panel, or with several side by side, and with this legend."""
    return max(DOUBLE_COLUMN if several else SINGLE_COLUMN, legend_width(legend) + 2 * EDGE)


class Page:
    """A figure with a legend on top and its study named at the foot. Places are inches from the body's lower left corner.

    Attribute `figure`: the matplotlib figure.
    """

    def __init__(self, *, subject: Subject, width: float, body: float, legend: Sequence[Sequence[Entry]], note: str = ""):
        """Open a page with `body` inches between legend and foot.

        Each group of `legend` begins a new line. The foot has the kind of the data as a badge, filled if simulated, the study's
        title, the estimand if any, and `note`, which may have lines.
        """
        rows = [row for group in legend for row in _flow(group, width - 2 * EDGE)]
        badge = BADGES[subject.kind]
        indent = text_width(badge, weight="bold") + 0.16
        feet = [(indent, line) for line in wrap(subject.label, width - indent - 2 * EDGE).split("\n")]
        sentences = (subject.estimand, *note.split("\n"))
        feet += [(0.0, line) for text in sentences for line in wrap(text, width - 2 * EDGE).split("\n") if line]
        self.floor = EDGE + len(feet) * LINE + 0.08
        self.top = self.floor + body + len(rows) * LINE + EDGE
        self.figure = Figure(figsize=(width, self.top))
        for number, entries in enumerate(rows):
            self._legend_row(entries, self.top - EDGE - (number + 0.5) * LINE)
        for number, (left, line) in enumerate(feet):
            self._write(EDGE + left, self.floor - 0.08 - (number + 0.5) * LINE, line)
        filled = subject.kind == "simulated"
        box = {"boxstyle": "square,pad=0.25", "facecolor": INK if filled else "none", "edgecolor": INK, "lw": 0.6}
        place = EDGE + 0.03, self.floor - 0.08 - 0.5 * LINE
        self._write(*place, badge, color="white" if filled else INK, weight="bold", bbox=box)

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Axes of the given place and size, without frame and ticks on the vertical sides."""
        across, up = self.figure.get_size_inches()
        axes = self.figure.add_axes((left / across, (bottom + self.floor) / up, width / across, height / up))
        axes.spines[["left", "right", "top"]].set_visible(False)
        return axes

    def panels(
        self, count: int, columns: int, *, corner: tuple[float, float], size: tuple[float, float], step: tuple[float, float]
    ) -> Iterator[Panel]:
        """Panels of this size in reading order; corner: of the lowest line's first; step: inches to the next, across and up."""
        for number in range(count):
            row, column = divmod(number, columns)
            left, bottom = corner[0] + column * step[0], corner[1] + (math.ceil(count / columns) - 1 - row) * step[1]
            last = column == columns - 1 or number == count - 1
            yield Panel(self.axes(left, bottom, *size), left, bottom, column == 0, last, number + columns >= count)

    def text(self, left: float, bottom: float, text: str, **settings) -> None:
        """Text at a place of the body."""
        self._write(left, bottom + self.floor, text, **settings)

    def centred(self, middle: float, bottom: float, text: str) -> None:
        """Lines centred at a place of the body, the last at `bottom`, but within the paper."""
        room = EDGE + text_width(text) / 2
        middle = max(room, min(middle, self.figure.get_size_inches()[0] - room))
        for number, line in enumerate(reversed(text.split("\n"))):
            self.text(middle, bottom + number * LINE, line, ha="center", va="baseline")

    def _write(self, x, y, text, **settings):
        settings = {"va": "center_baseline", **settings}
        self.figure.text(x, y, text, transform=self.figure.dpi_scale_trans, **settings)

    def _legend_row(self, entries, y):
        inches = self.figure.dpi_scale_trans
        x = EDGE
        for entry in entries:
            for number, swatch in enumerate(entry.swatches):
                corner = (x + SWATCH * number, y - SWATCH / 2)
                self.figure.add_artist(Rectangle(corner, SWATCH, SWATCH, transform=inches, **swatch))
            if entry.line is not None:
                ends = (x, x + entry.mark_width / 2, x + entry.mark_width)
                self.figure.add_artist(Line2D(ends, (y, y, y), transform=inches, **{"markevery": [1], **entry.line}))
            self._write(x + entry.mark_width + entry.space, y, entry.text)
            x += entry.width


def page_of_panels(
    subject: Subject,
    titles: Sequence[str],
    legend: Sequence[Sequence[Entry]],
    *,
    most: int,
    height: float,
    across: str,
    up: str,
    numbers: float,
    above: float = 0.0,
    each: bool = False,
    least: float = 0.0,
    note: str = "",
) -> tuple[Page, list[Panel]]:
    """A page of panels, one for each of `titles`, at most so many side by side, and the texts of their axes.

    Inches: height of a panel; numbers, left of the first of a line (of each, if `each`); above, from a panel to its title;
    least width of one.
    """
    rows, columns = grid(len(titles), most)
    width = page_width(legend, several=columns > 1)
    up, across = wrap(up, rows * height), wrap(across, width - 2 * EDGE)
    left, gutter = EDGE + (1 + up.count("\n")) * LINE + numbers, 0.16 + numbers * each
    words = widest(word for title in titles for word in title.split()) / BOLD_TITLE
    panel = max(least, words, (width - left - 0.1 - EDGE - (columns - 1) * gutter) / columns)
    width = max(width, left + columns * panel + (columns - 1) * gutter + 0.1 + EDGE)
    titles = [wrap(title, BOLD_TITLE * panel) for title in titles]
    heads = above + 0.26 + max(title.count("\n") for title in titles) * LINE
    below = 0.1 + LINE * (1 + across.count("\n"))
    step = panel + gutter, 0.28 + height + heads
    page = Page(subject=subject, width=width, body=below + rows * step[1], legend=legend, note=note)
    panels = list(page.panels(len(titles), columns, corner=(left, below + 0.28), size=(panel, height), step=step))
    for title, place in zip(titles, panels, strict=True):
        place.axes.set_title(title, size=SMALL, pad=4 + 72 * above)
        place.axes.tick_params(axis="y", which="both", length=0, labelleft=place.first or each)
    page.centred((left + width - EDGE) / 2, 0.06, across)
    page.text((EDGE + left - numbers) / 2, below + (rows * step[1] + 0.28 - heads) / 2, up, **UPRIGHT)
    return page, panels


def joined(*sentences: str) -> str:
    """The sentences that are not empty, in one text."""
    return " ".join(filter(None, sentences))


def page_of_words(subject: Subject, text: str) -> Figure:
    """A page with nothing to draw that gives the reason."""
    lines = wrap(text, SINGLE_COLUMN - 2 * EDGE).split("\n")
    page = Page(subject=subject, width=SINGLE_COLUMN, body=(len(lines) + 1) * LINE, legend=[])
    for number, line in enumerate(reversed(lines)):
        page.text(EDGE, (number + 1) * LINE, line)
    page.figure.set_gid(WORDS_ALONE)
    return page.figure


def _flow(entries: Sequence[Entry], width: float) -> list[list[Entry]]:
    """Entries broken into rows no wider than `width` inches."""
    rows: list[list[Entry]] = []
    for entry in entries:
        if rows and sum(item.width for item in rows[-1]) + entry.width <= width + GAP:
            rows[-1].append(entry)
        else:
            rows.append([entry])
    return rows


def grid(count: int, most_columns: int) -> tuple[int, int]:
    """Rows and columns for `count` panels, as even as they get with at most `most_columns` columns."""
    rows = math.ceil(count / most_columns)
    return rows, math.ceil(count / rows)


def conditions_of(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """`table` with each condition as text, "" without a name, and the conditions in order of appearance.

    With several experiments a condition is `experiment: condition`.
    """
    names = _texts(table["condition"])
    if table["experiment"].nunique(dropna=False) > 1:
        pairs = zip(_texts(table["experiment"]), names, strict=True)
        names = [": ".join(filter(None, (experiment or NO_EXPERIMENT, condition))) for experiment, condition in pairs]
    return table.assign(condition=names), list(dict.fromkeys(names))


def by_experiment(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with the judges of several experiments as `judge (experiment)`."""
    if table["experiment"].nunique(dropna=False) < 2:
        return table
    pairs = zip(table["judge"], _texts(table["experiment"]), strict=True)
    return table.assign(judge=[f"{judge} ({experiment or NO_EXPERIMENT})" for judge, experiment in pairs])


def with_names(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """`table` with these names as text, even if they look like numbers; empty where missing."""
    return table.assign(**{name: _texts(table[name]) for name in names if name in table})


def _texts(column: pd.Series) -> list[str]:
    return ["" if missing else str(name) for name, missing in zip(column, column.isna(), strict=True)]
