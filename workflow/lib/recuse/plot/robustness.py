"""Which conclusions hold in which robustness checks: judges and families down, checks across."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from recuse.base.reasons import in_words
from recuse.base.words import capitalised, is_known, signed
from recuse.inference.robustness import (
    LOST,
    NEW,
    REVERSED,
    Conclusion,
    Robustness,
    RobustnessCheck,
    without_human_scores,
)
from recuse.plot.axes import put
from recuse.plot.colours import FAINT, GRID, INK, RULE, Palette
from recuse.plot.intervals import row_within
from recuse.plot.page import Entry, Head, Page, family_entries, joined, page_of_words, some
from recuse.plot.style import (
    DOUBLE_COLUMN,
    EDGE,
    UNIT,
    Subject,
    language,
    percent_as_given,
    widest,
    wrap,
)

ROW = 0.165
MARK = 0.18  # inches: a column of marks
NUMBER = 0.56  # the same with numbers
AT = 0.09  # inches from the left of a column to the middle of its mark
HEADING = 1.45  # inches that a heading may be long before it is broken
HEADING_LINE = 0.12  # inches
APART = 0.4  # rows between judges and families
BOX = 0.012  # inches between a box and its cell
UP, DOWN, OPEN = (
    {"marker": marker, "markersize": size} for marker, size in (("^", 4.6), ("v", 4.6), ("o", 3.9))
)
BOXES = {
    LOST: {"facecolor": "#D5D5D5", "edgecolor": "none", "lw": 0},
    REVERSED: {"facecolor": "none", "edgecolor": INK, "lw": 1.1},
    NEW: {"facecolor": "none", "edgecolor": INK, "lw": 0.8, "linestyle": (0, (2, 1.4))},
}
OUTCOMES = {
    LOST: "lost",
    REVERSED: "reversed: the opposite sign",
    NEW: "new: not in the first column",
}
HEADED = {
    "rotation": 90,
    "ha": "center",
    "va": "bottom",
    "multialignment": "left",
    "linespacing": 1.0,
}
NOTHING = "No self- or family-bias can be estimated."


@dataclass(frozen=True)
class Layout:
    """Rows of the table, of the whole study or a part of it, the checks, and the places of judges
    and families.
    """

    rows: Sequence[Mapping]
    asked: Robustness
    palette: Palette

    @cached_property
    def places(self) -> dict[tuple[str, str], float]:
        """Height of each bias, judges first."""
        biases = self.palette.order_biases((row["quantity"], row["term"]) for row in self.rows)
        judges = sum(quantity == "self_bias" for quantity, _ in biases)
        start = judges + APART * bool(judges)
        return {
            bias: float(place) if place < judges else start + (place - judges)
            for place, bias in enumerate(biases)
        }

    @property
    def names(self) -> list[str]:
        """Names of the rows."""
        return [
            term if quantity == "self_bias" else f"{term}, family" for quantity, term in self.places
        ]

    @property
    def row(self) -> float:
        """Inches of a row."""
        return row_within(max(self.places.values()) + 1, ROW)

    @property
    def height(self) -> float:
        """Inches of the panel."""
        return self.row * (max(self.places.values()) + 1)

    @cached_property
    def columns(self) -> dict[str, tuple[float, float]]:
        """Left side and width of the column of each check that has rows, in inches."""
        columns, left = {}, 0.0
        for check in self.asked.checks:
            of_check = [row for row in self.rows if row["check"] == check.name]
            if of_check:
                lines = 1 + self.headings[check.name].count("\n")
                width = (
                    NUMBER
                    if self._numbered(check, of_check)
                    else max(MARK, lines * HEADING_LINE + 0.04)
                )
                columns[check.name] = (left, width)
                left += width
        return columns

    @cached_property
    def headings(self) -> dict[str, str]:
        """The title of each check, broken where it is long."""
        return {check.name: wrap(check.title, HEADING) for check in self.asked.checks}

    def _numbered(self, check: RobustnessCheck, rows: Sequence[Mapping]) -> bool:
        """Whether a check has numbers: the first, or one with other estimates."""
        first = {_key(row): row for row in self.rows if row["check"] == self.asked.checks[0].name}
        estimated = [row for row in rows if is_known(row["estimate"])]
        if check is self.asked.checks[0]:
            return bool(estimated)
        return any(
            signed(row["estimate"]) != signed(first[_key(row)]["estimate"]) for row in estimated
        )

    @property
    def finding(self) -> str:
        """The check that changes the most conclusions, and how many."""
        changes = Counter(row["check"] for row in self.rows if row["verdict"] in BOXES)
        if not changes:
            return "No robustness check changes a conclusion"
        most = max(self.asked.checks, key=lambda check: changes[check.name])  # the first of them
        tested = sum(
            row["check"] == most.name and row["conclusion"] != Conclusion.NOT_ESTIMABLE
            for row in self.rows
        )
        about = some(changes[most.name], tested, "judge or family", "judges and families")
        return f"The robustness check “{most.title}” changes the most conclusions: {about}"


def _key(row: Mapping) -> tuple[str, str]:
    return row["quantity"], row["term"]


@language()
def conclusions_figure(
    table: pd.DataFrame,
    not_estimable: pd.DataFrame,
    subject: Subject,
    *,
    checks: Mapping[str, Mapping],
    specs: Mapping[str, Mapping],
    confidence: float,
    power: float,
) -> Figure:
    """Draw the table of conclusions: a mark for each judge or family and check, its shape the
    conclusion, its box the verdict.

    table: see `recuse.inference.robustness`; the whole study is drawn, whose slice is missing, or
    the first slice if that is all there is. Beside the marks are estimates, in points of the unit
    scale.
    """
    asked = Robustness(RobustnessCheck.from_config(checks), specs, confidence, power)
    if without_human_scores(not_estimable.to_dict("records")):
        asked = asked.without_human_scores(table.groupby("check")["spec"].unique().to_dict())
    texts = {
        name: table[name].astype(object).where(table[name].notna(), "")
        for name in ("slice", "reason", "note")
    }
    table = table.assign(**texts)
    label = "" if table["slice"].eq("").any() or table.empty else table["slice"].iloc[0]
    layout = Layout(table[table["slice"] == label].to_dict("records"), asked, subject.palette)
    if all(row["conclusion"] == Conclusion.NOT_ESTIMABLE for row in layout.rows):
        reasons = dict.fromkeys(in_words(row["reason"]) for row in layout.rows if row["reason"])
        return page_of_words(
            subject, joined(NOTHING, *(f"{capitalised(reason)}." for reason in reasons))
        )
    names, across = widest(layout.names) + 0.08, sum(list(layout.columns.values())[-1])
    width = max(DOUBLE_COLUMN, 2 * EDGE + names + across)
    above = widest(layout.headings[name] for name in layout.columns) + 0.08
    decided = (
        f"decided by {percent_as_given(confidence)} intervals, or p ≤ {1 - confidence:.4g} where a check has"
        " none"
    )
    head = Head(layout.finding, "; ".join(filter(None, (label, UNIT, decided))))
    page = Page(
        subject=subject, head=head, width=width, body=layout.height + above, legend=_legend(layout)
    )
    _draw_panel(page.axes(EDGE + names, 0.0, across, layout.height), layout, across)
    for name, (x, _) in layout.columns.items():
        page.text(EDGE + names + x + AT, layout.height + 0.03, layout.headings[name], **HEADED)
    return page.figure


def _draw_panel(axes: Axes, layout: Layout, across: float) -> None:
    axes.set(xlim=(0, across), ylim=(layout.height / layout.row - 0.5, -0.5), xticks=[])
    axes.spines["bottom"].set_visible(False)
    axes.set_yticks(list(layout.places.values()), layout.names)
    axes.tick_params(axis="y", length=0, pad=3)
    for place in layout.places.values():
        for side in (-0.5, 0.5):
            axes.axhline(place + side, color=GRID, lw=0.6, zorder=0.5)
    first = layout.asked.checks[0].name
    for name, (left, _) in layout.columns.items():
        axes.axvline(
            left, color=INK if name == first else RULE, lw=0.7 if name == first else 0.5, zorder=0.6
        )
    axes.axvline(layout.columns[first][1], color=INK, lw=0.7, zorder=0.7)
    for row in layout.rows:
        if row["check"] in layout.columns:
            _cell(axes, row, layout.columns[row["check"]], layout)


def _cell(axes: Axes, row: Mapping, column: tuple[float, float], layout: Layout) -> None:
    """Mark, number and box of one conclusion."""
    (left, width), place = column, layout.places[(row["quantity"], row["term"])]
    if row["verdict"] in BOXES:
        corner = (left + BOX, place - 0.5 + BOX / ROW)
        box = Rectangle(
            corner,
            width - 2 * BOX,
            1 - 2 * BOX / ROW,
            zorder=1,
            gid=row["verdict"],
            **BOXES[row["verdict"]],
        )
        axes.add_patch(box)
    if row["conclusion"] == Conclusion.NOT_ESTIMABLE:
        axes.text(
            left + AT,
            place,
            "–",
            ha="center",
            va="center_baseline",
            color=FAINT,
            gid="not estimable",
        )
        return
    colour = layout.palette.of_bias(row["quantity"], row["term"])
    put(
        axes,
        [left + AT],
        [place],
        color=colour,
        linestyle="none",
        zorder=3,
        gid="mark",
        **_mark(row, colour),
    )
    if width == NUMBER:
        right = {"ha": "right", "va": "center_baseline", "gid": "number"}
        axes.text(left + width - 0.03, place, signed(row["estimate"]), **right)


def _mark(row: Mapping, colour: str) -> dict:
    if row["conclusion"] == Conclusion.NO_BIAS:
        return {**OPEN, "markerfacecolor": "white", "markeredgewidth": 1.0}
    shape = UP if row["conclusion"] == Conclusion.FAVOURS else DOWN
    return {**shape, "markerfacecolor": colour, "markeredgewidth": 0.0}


def _legend(layout: Layout) -> list[list[Entry]]:
    judges = [term for quantity, term in layout.places if quantity == "self_bias"]
    words = {
        Conclusion.FAVOURS: "above 0",
        Conclusion.HARSHER: "below 0",
        Conclusion.NO_BIAS: "cannot be distinguished from 0",
    }
    plain = {"color": INK, "linestyle": "none"}
    marks = [
        Entry(text, line={**plain, **_mark({"conclusion": name}, INK)})
        for name, text in words.items()
    ]
    if any(row["conclusion"] == Conclusion.NOT_ESTIMABLE for row in layout.rows):
        marks.append(Entry("– not estimable"))
    present = {row["verdict"] for row in layout.rows}
    boxes = [Entry(words, [BOXES[name]]) for name, words in OUTCOMES.items() if name in present]
    return [
        family_entries(layout.palette, judges),
        marks,
        [Entry("no box: as in the first column"), *boxes],
    ]
