"""The frame of a figure: its finding and a legend on top, axes placed in inches, and the study with
a note at the foot.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from recuse.base.words import BADGES, WORDS_ALONE, capitalised, enumerated
from recuse.plot.colours import FAINT, INK, Palette
from recuse.plot.style import (
    BOLD_TITLE,
    DOUBLE_COLUMN,
    EDGE,
    HEADLINE,
    LINE,
    PAGE,
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
# Of several conditions, or experiments
BY_CONDITION = "judge in one condition", "judges by condition"
AROUND = 1.9  # inches at most, as a rule, for all that is above and below the panels of a page
LEAST_HEIGHT = 0.6  # inches of a panel
# What an interval alone shows; that a judge favours itself is said by its verdict.
ABOVE_ZERO = ("has a gap above 0", "have a gap above 0")
BELOW_ZERO = ("has a gap below 0", "have a gap below 0")


class Head(NamedTuple):
    """What a figure finds, and its unit with the level of its intervals."""

    finding: str
    unit: str


def some(count: int, total: int, one: str = "judge", many: str = "") -> str:
    """As in `3 of 9 judges`, `none of 9 judges`, `all 9 judges`, `both judges`, `the one judge` or
    `no judge`.
    """
    if total == 1:
        return f"the one {one}" if count else f"no {one}"
    share = (
        ("both" if total == 2 else f"all {total:,}")
        if count == total
        else f"{f'{count:,}' if count else 'none'} of {total:,}"
    )
    return f"{share} {many or one + 's'}"


def outcomes(
    total: int, counts: Sequence[tuple[int, tuple[str, str]]], one: str = "judge", many: str = ""
) -> str:
    """As in `3 of 9 judges have a gap above 0 and 1 has a gap below 0`; counts: of each outcome,
    its verb of one and many.
    """
    if not total:
        return f"No {one} can be tested"
    present = [(int(count), verb) for count, verb in counts if count]
    if not present:
        return capitalised(
            f"{some(0, total, one, many)} {' or '.join(verb for _, (verb, _) in counts)}"
        )
    parts = [f"{count} {verb[count > 1]}" for count, verb in present]
    return capitalised(
        enumerated(
            [f"{some(present[0][0], total, one, many)} {parts[0].partition(' ')[2]}", *parts[1:]]
        )
    )


def tally(
    rows: pd.DataFrame,
    above: tuple[str, str],
    below: tuple[str, str],
    one: str = "judge",
    many: str = "",
    *,
    at: float = 0.0,
) -> str:
    """`outcomes` of the rows whose interval (ci_low, ci_high) is above `at`, and below; those
    without one are left out.
    """
    wide = rows[rows["ci_low"] < rows["ci_high"]]
    counts = [((wide["ci_low"] > at).sum(), above), ((wide["ci_high"] < at).sum(), below)]
    return outcomes(rows["ci_low"].notna().sum(), counts, one, many)


@dataclass(frozen=True)
class Entry:
    """One item of a legend: patches side by side, or a short line with a marker in its middle, and
    a text; or the text alone.

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


def family_entries(palette: Palette, models: Sequence[str]) -> list[Entry]:
    """A coloured square for each family of `models` in config."""
    return [
        Entry(name, [{"color": palette.colours[name], "lw": 0}])
        for name in palette.families_of(models)
    ]


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


def by_chance(confidence: float) -> str:
    """The end of a finding on single tests: how many of judges without bias are outside."""
    return f"; chance alone would put 1 in {1 / (1 - confidence):.3g} outside"


def page_width(legend: Sequence[Sequence[Entry]] = (), *, several: bool = True) -> float:
    """Width in inches of a page with one panel, or with several side by side, and with this
    legend.
    """
    return max(DOUBLE_COLUMN if several else SINGLE_COLUMN, legend_width(legend) + 2 * EDGE)


class Page:
    """A figure: finding and legend on top, the study at the foot. Places are inches from the body's
    lower left corner.

    Attribute `figure`: the matplotlib figure.
    """

    def __init__(
        self,
        *,
        subject: Subject,
        head: Head | None,
        width: float,
        body: float,
        legend: Sequence[Sequence[Entry]],
        note: str = "",
    ):
        """Open a page with `body` inches between legend and foot.

        Over the legend are the finding and, with the estimand if any, the unit. Each group of
        `legend` begins a new line. The foot has the kind of the data as a badge, filled if
        simulated, the study's title, and `note`.
        """
        room = width - 2 * EDGE
        heads = []  # texts, their settings and heights, from the top
        if head is not None:
            finding = wrap(head.finding, BOLD_TITLE * room, HEADLINE).split("\n")
            unit = wrap("; ".join(filter(None, (subject.estimand, head.unit))), room).split("\n")
            heads = [(line, {"size": HEADLINE, "weight": "bold"}, 1.3 * LINE) for line in finding]
            heads += [(line, {"color": FAINT}, LINE) for line in unit]
        rows = [row for group in legend for row in _flow(group, room)]
        badge = BADGES[subject.kind]
        indent = text_width(badge, weight="bold") + 0.16
        feet = [
            (indent, line) for line in wrap(subject.label, width - indent - 2 * EDGE).split("\n")
        ]
        feet += [(0.0, line) for line in wrap(note, room).split("\n") if line]
        self.floor = EDGE + len(feet) * LINE + 0.08
        above = sum(height for *_, height in heads) + 0.06 * bool(heads)
        self.top = self.floor + body + len(rows) * LINE + above + EDGE
        self.figure = Figure(figsize=(width, self.top))
        y = self.top - EDGE
        for text, settings, height in heads:
            self._write(EDGE, y - height / 2, text, **settings)
            y -= height
        for number, entries in enumerate(rows):
            self._legend_row(entries, self.top - EDGE - above - (number + 0.5) * LINE)
        for number, (left, line) in enumerate(feet):
            self._write(EDGE + left, self.floor - 0.08 - (number + 0.5) * LINE, line)
        filled = subject.kind == "simulated"
        box = {
            "boxstyle": "square,pad=0.25",
            "facecolor": INK if filled else "none",
            "edgecolor": INK,
            "lw": 0.6,
        }
        place = EDGE + 0.03, self.floor - 0.08 - 0.5 * LINE
        self._write(*place, badge, color="white" if filled else INK, weight="bold", bbox=box)

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Axes of the given place and size, without frame and ticks on the vertical sides."""
        across, up = self.figure.get_size_inches()
        axes = self.figure.add_axes(
            (left / across, (bottom + self.floor) / up, width / across, height / up)
        )
        axes.spines[["left", "right", "top"]].set_visible(False)
        return axes

    def panels(
        self,
        count: int,
        columns: int,
        *,
        corner: tuple[float, float],
        size: tuple[float, float],
        step: tuple[float, float],
    ) -> Iterator[Panel]:
        """Panels of this size in reading order; corner: of the lowest line's first; step: inches to
        the next, across and up.
        """
        for number in range(count):
            row, column = divmod(number, columns)
            left, bottom = (
                corner[0] + column * step[0],
                corner[1] + (math.ceil(count / columns) - 1 - row) * step[1],
            )
            last = column == columns - 1 or number == count - 1
            yield Panel(
                self.axes(left, bottom, *size),
                left,
                bottom,
                column == 0,
                last,
                number + columns >= count,
            )

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
                self.figure.add_artist(
                    Rectangle(corner, SWATCH, SWATCH, transform=inches, **swatch)
                )
            if entry.line is not None:
                ends = (x, x + entry.mark_width / 2, x + entry.mark_width)
                self.figure.add_artist(
                    Line2D(ends, (y, y, y), transform=inches, **{"markevery": [1], **entry.line})
                )
            self._write(x + entry.mark_width + entry.space, y, entry.text)
            x += entry.width


def page_of_panels(
    subject: Subject,
    head: Head,
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
    """A page of panels, one for each of `titles`, at most so many side by side, and the texts of
    their axes.

    Inches: greatest height of a panel; numbers, left of the first of a line (of each, if `each`);
    above, from a panel to its title; least width of one. Panels beyond the page are left out.
    """
    (rows, columns), count = grid(len(titles), most), len(titles)
    heads = above + 0.26 + LINE + 0.28  # of one line, with numbers under it
    rows = lines_within(rows, LEAST_HEIGHT + heads)
    height = min(height, (PAGE - AROUND) / rows - heads)
    titles = titles[: rows * columns]
    note = joined(note, left_out_of_page(count, len(titles)))
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
    page = Page(
        subject=subject,
        head=head,
        width=width,
        body=below + rows * step[1],
        legend=legend,
        note=note,
    )
    panels = list(
        page.panels(
            len(titles), columns, corner=(left, below + 0.28), size=(panel, height), step=step
        )
    )
    for title, place in zip(titles, panels, strict=True):
        place.axes.set_title(title, size=SMALL, pad=4 + 72 * above)
        place.axes.tick_params(axis="y", which="both", length=0, labelleft=place.first or each)
    page.centred((left + width - EDGE) / 2, 0.06, across)
    page.text(
        (EDGE + left - numbers) / 2, below + (rows * step[1] + 0.28 - heads) / 2, up, **UPRIGHT
    )
    return page, panels


def lines_within(lines: int, each: float, others: float = 0.0) -> int:
    """So many of these lines of panels, of `each` inches, as a page holds with `others`, in inches,
    and one at least.
    """
    return max(1, min(lines, int((PAGE - AROUND - others) / each)))


def left_out_of_page(count: int, shown: int) -> str:
    """A sentence on the panels that a page has no room for; empty if it shows all."""
    return (
        f"Shown: the first {shown} of {count} panels; the table has all." if shown < count else ""
    )


def joined(*sentences: str) -> str:
    """The sentences that are not empty, in one text."""
    return " ".join(filter(None, sentences))


def page_of_words(subject: Subject, text: str) -> Figure:
    """A page with nothing to draw that gives the reason."""
    lines = wrap(text, SINGLE_COLUMN - 2 * EDGE).split("\n")
    page = Page(
        subject=subject, head=None, width=SINGLE_COLUMN, body=(len(lines) + 1) * LINE, legend=[]
    )
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
    """Rows and columns for `count` panels, as even as they get with at most `most_columns`
    columns.
    """
    rows = math.ceil(count / most_columns)
    return rows, math.ceil(count / rows)


def conditions_of(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """`table` with each condition as text, "" without a name, and the conditions in order of
    appearance.

    With several experiments a condition is `experiment: condition`.
    """
    names = _texts(table["condition"])
    if table["experiment"].nunique(dropna=False) > 1:
        pairs = zip(_texts(table["experiment"]), names, strict=True)
        names = [
            ": ".join(filter(None, (experiment or NO_EXPERIMENT, condition)))
            for experiment, condition in pairs
        ]
    return table.assign(condition=names), list(dict.fromkeys(names))


def by_experiment(table: pd.DataFrame) -> pd.DataFrame:
    """`table` with the judges of several experiments as `judge (experiment)`."""
    if table["experiment"].nunique(dropna=False) < 2:
        return table
    pairs = zip(table["judge"], _texts(table["experiment"]), strict=True)
    return table.assign(
        judge=[f"{judge} ({experiment or NO_EXPERIMENT})" for judge, experiment in pairs]
    )


def with_text_names(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """`table` with these names as text, even if they look like numbers; empty where missing."""
    return table.assign(**{name: _texts(table[name]) for name in names if name in table})


def _texts(column: pd.Series) -> list[str]:
    return [
        "" if missing else str(name) for name, missing in zip(column, column.isna(), strict=True)
    ]
