"""The page of a figure: its finding and a key on top, panels in lines, the study with a note at the
foot; and the words that findings share.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.reasons import in_words
from recuse.base.templates import FIGURES, paragraphs
from recuse.base.words import BADGES, WORDS_ALONE, capitalised, signed
from recuse.plot.colours import FAINT, INK, Palette
from recuse.plot.style import (
    BOLD_TITLE,
    DOUBLE_COLUMN,
    EDGE,
    HEADLINE,
    LINE,
    PAGE,
    SINGLE_COLUMN,
    TEXT,
    UPRIGHT,
    Subject,
    balanced,
    text_width,
    widest,
    wrap,
)

GAP = 0.16  # inches between the entries of a key, and after the texts beside a panel
APART = 0.28  # inches between panels, for half a number on both sides
LEAST_PANEL = 1.2  # inches: if names leave less of a column, the page is wider
NUMBERS = 0.26  # inches under an axis for its numbers
AROUND = 1.9  # inches at most, as a rule, for all that is above and below the panels of a page
NO_EXPERIMENT = "no experiment"
CONDITIONS = {  # of CoBBLEr
    "cobbler": "CoBBLEr",
    "order": "names hidden",
    "compassion": "names shown",
    "bandwagon": "claimed majority",
    "attentional": "irrelevant sentence",
}


class Head(NamedTuple):
    """What a figure finds, and its unit with the level of its intervals."""

    finding: str
    unit: str = ""


def head(figure: str, /, **facts: object) -> Head:
    """The head of a figure from its template in workflow/report/figures.j2."""
    return Head(*paragraphs(FIGURES, figure, **facts))


def written(name: str, /, **facts: object) -> str:
    """Other words of a figure from there."""
    return " ".join(paragraphs(FIGURES, name, **facts))


class Entry(NamedTuple):
    """One item of a key: a letter such as ● in a colour, and what it stands for."""

    text: str
    glyph: str = ""
    colour: str = INK

    @property
    def width(self) -> float:
        """In inches, with the space after it."""
        return text_width(f"{self.glyph} {self.text}") + GAP


def family_entries(palette: Palette, models: Sequence[str]) -> list[Entry]:
    """A coloured square for each family of `models`."""
    families = palette.order_families({palette.family(model) for model in models} - {None})
    return [Entry(name, "■", palette.family_colour(name)) for name in families]


@dataclass(frozen=True)
class Section:
    """Panels of one size under a heading.

    titles, under: bold and grey lines over each panel. height, least: inches of a panel, and how
    low it may become on a full page. most: side by side. below: inches under the lowest panels.
    """

    titles: Sequence[str]
    height: float
    heading: str = ""
    under: Sequence[str] = ()
    least: float = 0.6
    most: int = 3
    below: float = NUMBERS

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns, as even as they get."""
        rows = math.ceil(len(self.titles) / self.most)
        return rows, math.ceil(len(self.titles) / rows)


class Panel(NamedTuple):
    """One of the panels of a section."""

    axes: Axes
    first: bool  # of its line
    lowest: bool  # of its column


class Page:
    """A figure: finding and key on top, the study at the foot, `body` inches between.

    Attribute `figure`: the matplotlib figure. `floor`: inches under the body.
    """

    def __init__(
        self,
        subject: Subject,
        head: Head | None,
        *,
        width: float,
        body: float,
        key: Sequence[Entry] = (),
        note: str = "",
    ):
        """The foot has the kind of the data as a badge, filled if simulated, the study's title, and
        `note`.
        """
        room = width - 2 * EDGE
        lines = []  # texts, their settings and heights, from the top
        if head is not None:
            unit = "; ".join(filter(None, (subject.estimand, head.unit)))
            for line in balanced(head.finding, BOLD_TITLE * room, HEADLINE).split("\n"):
                lines.append((line, {"size": HEADLINE, "weight": "bold"}, 1.3 * LINE))
            for line in wrap(unit, room).split("\n"):
                lines.append((line, {"color": FAINT}, LINE))
        keys = _flow(key, room)
        badge = BADGES[subject.kind]
        indent = text_width(badge, weight="bold") + 0.16
        feet = [(indent, line) for line in wrap(subject.label, room - indent).split("\n")]
        feet += [(0.0, line) for line in wrap(note, room).split("\n") if line]
        self.floor = EDGE + len(feet) * LINE + 0.08
        above = sum(height for *_, height in lines) + len(keys) * LINE + 0.06 * bool(lines)
        top = self.floor + body + above + EDGE
        self.figure = Figure(figsize=(width, top))

        y = top - EDGE
        for text, settings, height in lines:
            self.write(EDGE, y - height / 2, text, **settings)
            y -= height
        for entries in keys:
            self._write_key(entries, y - LINE / 2)
            y -= LINE
        for number, (left, line) in enumerate(feet):
            self.write(EDGE + left, self.floor - 0.08 - (number + 0.5) * LINE, line)
        paper, ink = (INK, "white") if subject.kind == "simulated" else ("none", INK)
        box = {"boxstyle": "square,pad=0.25", "facecolor": paper, "edgecolor": INK, "lw": 0.6}
        place = EDGE + 0.03, self.floor - 0.08 - 0.5 * LINE
        self.write(*place, badge, color=ink, weight="bold", bbox=box)

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Axes at a place of the body, without frame and ticks on the vertical sides."""
        across, up = self.figure.get_size_inches()
        place = (left / across, (bottom + self.floor) / up, width / across, height / up)
        axes = self.figure.add_axes(place)
        axes.spines[["left", "right", "top"]].set_visible(False)
        return axes

    def text(self, left: float, bottom: float, text: str, **settings: object) -> None:
        """Text at a place of the body."""
        self.write(left, bottom + self.floor, text, **settings)

    def write(self, x: float, y: float, text: str, **settings: object) -> None:
        """Text at a place of the paper."""
        settings = {"va": "center_baseline", **settings}
        self.figure.text(x, y, text, transform=self.figure.dpi_scale_trans, **settings)

    def _write_key(self, entries: Sequence[Entry], y: float) -> None:
        x = EDGE
        for entry in entries:
            self.write(x, y, entry.glyph, color=entry.colour)
            space = text_width(f"{entry.glyph} ") if entry.glyph else 0.0
            self.write(x + space, y, entry.text)
            x += entry.width


def page_of_panels(
    subject: Subject,
    head: Head,
    sections: Sequence[Section],
    *,
    left: float,
    each: bool = False,
    beside: float = 0.0,
    right: float = 0.1,
    least: float = LEAST_PANEL,
    across: str = "",
    up: str = "",
    key: Sequence[Entry] = (),
    note: str = "",
) -> tuple[Figure, list[list[Panel]]]:
    """A page of sections below one another, with the panels of each.

    left: inches for names or numbers before the first panel of a line, or before `each`. beside:
    inches after each panel; right: after the last. least: inches of a panel's width. across, up:
    texts of all axes. Panels get lower on a full page, and the page higher where they cannot.
    """
    most = max(section.grid[1] for section in sections)
    words = [word for section in sections for title in section.titles for word in title.split()]
    under = [line for section in sections for line in section.under]
    least = max(least, widest(words, TEXT, "bold"), widest(under))
    start = EDGE + left + LINE * bool(up)
    gap, end = max(APART, GAP + beside + left * each), beside + right + EDGE
    width = max(DOUBLE_COLUMN, start + most * (least + gap) - gap + end)
    widths = [(width - start - end + gap) / section.grid[1] - gap for section in sections]

    across = wrap(across, width - 2 * EDGE)
    below = LINE * (1 + across.count("\n")) if across else 0.0
    titles = [
        [wrap(title, BOLD_TITLE * panel, TEXT) for title in section.titles]
        for section, panel in zip(sections, widths, strict=True)
    ]
    above = []  # inches over each panel of a section
    for section, lines in zip(sections, titles, strict=True):
        count = max(title.count("\n") + bool(title) for title in lines) + any(section.under)
        above.append(0.1 + LINE * count)
    lines = [section.grid[0] for section in sections]
    scale = _scale(sections, above, PAGE - AROUND - below)
    steps = [scale * s.height + over for s, over in zip(sections, above, strict=True)]
    heights = [
        LINE * bool(section.heading) + count * step + section.below
        for section, count, step in zip(sections, lines, steps, strict=True)
    ]
    page = Page(subject, head, width=width, body=sum(heights) + below, key=key, note=note)

    panels, top = [], sum(heights) + below
    for place, section in enumerate(sections):
        if section.heading:
            page.text(EDGE, top - LINE / 2, section.heading, size=TEXT, weight="bold")
        bottom = top - heights[place] + section.below
        columns, panel, count = section.grid[1], widths[place], len(section.titles)
        panels.append([])
        for number in range(count):
            row, column = divmod(number, columns)
            x = start + column * (panel + gap)
            y = bottom + (lines[place] - 1 - row) * steps[place]
            axes = page.axes(x, y, panel, scale * section.height)
            panels[-1].append(Panel(axes, column == 0, number + columns >= count))
            _entitle(panels[-1][-1], titles[place][number], section.under[number : number + 1])
            axes.tick_params(axis="y", labelleft=each or column == 0)
        top -= heights[place]
    _name_axes(page, across, up, start, (below, below + sum(heights)), right + beside)
    return page.figure, panels


def _entitle(panel: Panel, title: str, under: Sequence[str]) -> None:
    """The lines over a panel; numbers stand under the lowest alone."""
    panel.axes.set_title(title, pad=4 + 72 * LINE * len(under))
    for line in under:
        grey = {"textcoords": "offset points", "color": FAINT}
        panel.axes.annotate(line, (0, 1), (0, 4), "axes fraction", **grey)
    panel.axes.tick_params(axis="y", length=0, which="both")
    panel.axes.tick_params(labelbottom=panel.lowest)


def _name_axes(
    page: Page, across: str, up: str, left: float, ends: tuple[float, float], right: float
) -> None:
    """The texts of all axes, within the paper: under panels that reach from `left` to so many
    inches from the right edge, and beside those within `ends`.
    """
    width = page.figure.get_size_inches()[0]
    middle = (left + width - EDGE - right) / 2
    for number, line in enumerate(reversed(across.split("\n"))):
        room = EDGE + text_width(line) / 2
        x = max(room, min(middle, width - room))
        page.text(x, (number + 0.5) * LINE, line, ha="center")
    up = wrap(up, ends[1] - ends[0])
    page.text(EDGE + LINE * (1 + up.count("\n")) / 2, sum(ends) / 2, up, **UPRIGHT)


def _scale(sections: Sequence[Section], above: Sequence[float], room: float) -> float:
    """What panels' heights are multiplied by to fit so many inches, if none gets too low."""
    fixed = high = 0.0
    for section, over in zip(sections, above, strict=True):
        lines = section.grid[0]
        fixed += section.below + LINE * bool(section.heading) + lines * over
        high += lines * section.height
    lowest = max(min(1.0, section.least / section.height) for section in sections)
    return min(1.0, max((room - fixed) / high, lowest))


def page_of_words(subject: Subject, text: str) -> Figure:
    """A page with nothing to draw that gives the reason."""
    lines = wrap(text, SINGLE_COLUMN - 2 * EDGE).split("\n")
    page = Page(subject, None, width=SINGLE_COLUMN, body=(len(lines) + 1) * LINE)
    for number, line in enumerate(reversed(lines)):
        page.text(EDGE, (number + 1) * LINE, line)
    page.figure.set_gid(WORDS_ALONE)
    return page.figure


def _flow(entries: Sequence[Entry], width: float) -> list[list[Entry]]:
    """Entries broken into rows no wider than `width` inches, which one entry must not exceed."""
    rows = []
    for entry in entries:
        if rows and sum(item.width for item in rows[-1]) + entry.width <= width + GAP:
            rows[-1].append(entry)
        else:
            rows.append([entry])
    return rows


def joined(*sentences: str) -> str:
    """The sentences that are not empty, in one text."""
    return " ".join(filter(None, sentences))


def not_estimated(reasons: Mapping[str, str]) -> str:
    """The note on what a page does not show, by name, with reasons as in tables; empty if nothing
    is missing.
    """
    return written("not_estimated", reasons={name: in_words(why) for name, why in reasons.items()})


def sides(above: int, below: int = 0) -> list[dict]:
    """How many are above a value and how many below, where there are any."""
    counts = {"above": above, "below": below}
    return [{"side": side, "count": count, "most": ""} for side, count in counts.items() if count]


def tally(rows: pd.DataFrame, *, at: float = 0.0, name: str = "", value: str = "estimate") -> dict:
    """What `outcomes` in the templates puts in words: how many rows have an interval (ci_low,
    ci_high), and how many of these are above `at` and below, as `sides`.

    name: a column, to name who has the greatest `value` on each side.
    """
    wide = rows[rows["ci_low"] < rows["ci_high"]]
    groups = {"above": wide[wide["ci_low"] > at], "below": wide[wide["ci_high"] < at]}
    found = sides(*map(len, groups.values()))
    for each in found if name else ():
        rows_of_side = groups[each["side"]]
        row = rows_of_side.loc[(rows_of_side[value] - at).abs().idxmax()]
        each["most"] = f"{row[name]}, {signed(row[value])}"
    return {"total": rows["ci_low"].notna().sum(), "found": found}


def extremes(values: pd.Series) -> list[tuple[str, float]]:
    """Name and value of the least and the greatest of some means; one of them if they have the same
    name or value.
    """
    ends = values.dropna().sort_values(kind="stable").iloc[[0, -1][: values.count()]]
    is_same = ends.index.duplicated() | ends.duplicated()
    return [*ends[~is_same].items()]


def name_in_words(code: str) -> str:
    """A name such as `rich_content` as a reader writes it, and what published conditions are."""
    return CONDITIONS.get(code, code.replace("_", " ").replace("+", " + "))


def with_conditions(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """`table` with each condition in words, "" without a name, and the conditions in order of
    appearance; with several experiments, `condition (experiment)`.
    """
    table = with_text_names(table, "experiment", "condition")
    names = [capitalised(name_in_words(name)) for name in table["condition"]]
    if table["experiment"].nunique() > 1:
        pairs = zip(names, table["experiment"], strict=True)
        names = [f"{name} ({name_in_words(of) or NO_EXPERIMENT})".strip() for name, of in pairs]
    return table.assign(condition=names), list(dict.fromkeys(names))


def keys(table: pd.DataFrame, *columns: str) -> pd.Series:
    """The values of some columns in each row, as tuples."""
    values = zip(*(table[name] for name in columns), strict=True)
    return pd.Series([*values], table.index, object)


def with_text_names(table: pd.DataFrame, *names: str) -> pd.DataFrame:
    """`table` with these names as text, even if they look like numbers; empty where missing."""
    texts = {}
    for name in table.columns.intersection(names):
        texts[name] = table[name].astype(object).where(table[name].notna(), "").astype(str)
    return table.assign(**texts)
