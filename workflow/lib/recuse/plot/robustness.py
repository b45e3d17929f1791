"""Which conclusions hold in all robustness checks: judges and families down, checks across, the whole study on top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from recuse.base.words import is_known, signed
from recuse.inference.robustness import (
    FAVOURS,
    INDISTINGUISHABLE,
    LOST,
    NEW,
    NOT_ESTIMABLE,
    REVERSED,
    Robustness,
    RobustnessCheck,
    without_human_scores,
)
from recuse.plot.colours import FAINT, GRID, INK, RULE, Palette
from recuse.plot.page import Entry, Page, family_entries, grid, joined, page_of_words
from recuse.plot.style import DOUBLE_COLUMN, EDGE, TEXT, UNIT, Subject, language, widest, wrap
from recuse.report.robustness import CAUTION, NOTHING, RELATIVE, answers, detectable_in

ROW = 0.165
MARK = 0.18  # inches: a column of marks
NUMBER = 0.56  # the same with numbers
AT = 0.09  # inches from the left of a column to the middle of its mark
HEADING = 1.45  # inches that a heading may be long before it is broken
HEADING_LINE = 0.12  # inches
APART = 0.4  # rows between judges and families
TITLE = 0.24
GUTTER = 0.12
BETWEEN = 0.12  # inches between the panels of two lines
ACROSS = 2  # panels by dimension in a line
BOX = 0.012  # inches between a box and its cell
UP, DOWN, OPEN = ({"marker": marker, "markersize": size} for marker, size in (("^", 4.6), ("v", 4.6), ("o", 3.9)))
BOXES = {
    LOST: {"facecolor": "#D5D5D5", "edgecolor": "none", "lw": 0},
    REVERSED: {"facecolor": "none", "edgecolor": INK, "lw": 1.1},
    NEW: {"facecolor": "none", "edgecolor": INK, "lw": 0.8, "linestyle": (0, (2, 1.4))},
}
OUTCOMES = {LOST: "lost", REVERSED: "reversed: the opposite sign", NEW: "new: not in the first column"}
HEADED = {"rotation": 90, "ha": "center", "va": "bottom", "multialignment": "left", "linespacing": 1.0}
WHOLE = "The whole study"
NUMBERS = f"numbers: estimates in {UNIT}"
ESTIMANDS = {"A": "A against humans", "B": "B against other judges", "C": "C beyond ordinary preference"}


@dataclass(frozen=True)
class Layout:
    """What the panels share: rows of the table, the checks, and the places of judges and families."""

    rows: Sequence[Mapping]
    asked: Robustness
    palette: Palette

    @cached_property
    def places(self) -> dict[tuple[str, str], float]:
        """Height of each bias, judges first."""
        biases = self.palette.order_biases((row["quantity"], row["term"]) for row in self.rows)
        judges = sum(quantity == "self_bias" for quantity, _ in biases)
        start = judges + APART * bool(judges)
        return {bias: float(place) if place < judges else start + (place - judges) for place, bias in enumerate(biases)}

    @property
    def names(self) -> list[str]:
        """Names of the rows."""
        return [term if quantity == "self_bias" else f"{term}, family" for quantity, term in self.places]

    @property
    def height(self) -> float:
        """Inches of a panel."""
        return ROW * (max(self.places.values()) + 1)

    def of(self, label: str) -> list[Mapping]:
        """The rows of a slice."""
        return [row for row in self.rows if row["slice"] == label]

    def columns(self, labels: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Left side and width of the column of each check that some of these slices have, in inches."""
        rows = [row for label in labels for row in self.of(label)]
        columns, left = {}, 0.0
        for check in self.asked.checks:
            of_check = [row for row in rows if row["check"] == check.name]
            if of_check:
                lines = 1 + self.headings[check.name].count("\n")
                width = NUMBER if self._numbered(check, of_check) else max(MARK, lines * HEADING_LINE + 0.04)
                columns[check.name] = (left, width)
                left += width
        return columns

    @cached_property
    def headings(self) -> dict[str, str]:
        """The title of each check, broken where it is long."""
        return {check.name: wrap(check.title, HEADING) for check in self.asked.checks}

    def _numbered(self, check: RobustnessCheck, rows: Sequence[Mapping]) -> bool:
        """Whether a check has numbers: the first, one of another estimand, or, of the whole study, one with other estimates."""
        first = {_key(row): row for row in self.rows if row["check"] == self.asked.checks[0].name}
        estimated = [row for row in rows if is_known(row["estimate"])]
        if check is self.asked.checks[0]:
            return bool(estimated)
        return any(
            row["estimand"] != first[_key(row)]["estimand"]
            or (not row["slice"] and signed(row["estimate"]) != signed(first[_key(row)]["estimate"]))
            for row in estimated
        )


def _key(row: Mapping) -> tuple[str, str, str]:
    return row["slice"], row["quantity"], row["term"]


@language()
def conclusions(
    table: pd.DataFrame,
    not_estimable: pd.DataFrame,
    subject: Subject,
    *,
    checks: Mapping[str, Mapping],
    specs: Mapping[str, Mapping],
    confidence: float,
    power: float,
) -> Figure:
    """Draw the table of conclusions: a mark for each judge or family and check, its shape the conclusion, its box the verdict.

    table: see `recuse.inference.robustness`; its slice is missing for the whole study. The panels by dimension have a
    column for each check by dimension. Beside the marks are estimates, in points of the unit scale.
    """
    asked = Robustness(RobustnessCheck.from_config(checks), specs, confidence, power)
    if without_human_scores(not_estimable.to_dict("records")):
        asked = asked.without_human_scores(table.groupby("check")["spec"].unique().to_dict())
    texts = {name: table[name].astype(object).where(table[name].notna(), "") for name in ("slice", "words", "note")}
    layout = Layout(table.assign(**texts).to_dict("records"), asked, subject.palette)
    subject = replace(subject, estimand="")  # the legend says it
    if all(row["conclusion"] == NOT_ESTIMABLE for row in layout.rows):
        return page_of_words(subject, _answers(layout) or NOTHING)
    labels = list(dict.fromkeys(row["slice"] for row in layout.rows))
    lines = [part for part in ([name for name in labels if not name], [name for name in labels if name]) if part]
    names = widest(layout.names) + 0.08
    blocks = [_block(layout, part) for part in lines]
    width = max(DOUBLE_COLUMN, *(2 * EDGE + names + block.width for block in blocks))
    body = sum(block.height for block in blocks) + BETWEEN * (len(blocks) - 1)
    detectable = detectable_in(layout.of("") or layout.rows, layout.asked)
    note = joined(_answers(layout), RELATIVE if layout.asked.relative else "", CAUTION, detectable)
    page = Page(subject=subject, width=width, body=body, legend=_legend(layout), note=note)
    top = body
    for block in blocks:
        top -= block.height
        size = block.panel, layout.height
        panels = page.panels(len(block.labels), block.across, corner=(EDGE + names, top), size=size, step=block.step)
        for label, each in zip(block.labels, panels, strict=True):
            _draw_panel(each.axes, layout, block, label, named=each.first)
            for name, (x, _) in block.columns.items():
                above = each.bottom + layout.height + TITLE + 0.03
                page.text(each.left + x + AT, above, layout.headings[name], **HEADED)
        top -= BETWEEN
    return page.figure


class Block(NamedTuple):
    """Panels with the same columns, in lines; all in inches."""

    labels: Sequence[str]
    columns: dict[str, tuple[float, float]]  # left side and width by check
    panel: float  # width of one
    across: int  # panels in a line
    step: tuple[float, float]  # from a panel to the next, across and up
    width: float
    height: float  # with the headings


def _block(layout: Layout, labels: Sequence[str]) -> Block:
    columns = layout.columns(labels)
    panel = sum(list(columns.values())[-1])
    lines, across = grid(len(labels), ACROSS)
    titles = widest([name or WHOLE for name in labels], TEXT, "bold")
    above = widest(layout.headings[name] for name in columns) + 0.08
    step = max(panel, titles) + GUTTER, layout.height + TITLE + above
    return Block(labels, columns, panel, across, step, across * step[0] - GUTTER, lines * step[1])


def _draw_panel(axes: Axes, layout: Layout, block: Block, label: str, *, named: bool) -> None:
    axes.set(xlim=(0, block.panel), ylim=(layout.height / ROW - 0.5, -0.5), xticks=[])
    axes.spines["bottom"].set_visible(False)
    axes.set_yticks(list(layout.places.values()), layout.names if named else [])
    axes.tick_params(axis="y", length=0, pad=3)
    axes.set_title(label or WHOLE)
    for place in layout.places.values():
        for side in (-0.5, 0.5):
            axes.axhline(place + side, color=GRID, lw=0.6, zorder=0.5)
    for name, (left, _) in block.columns.items():
        first = name == layout.asked.checks[0].name
        axes.axvline(left, color=INK if first else RULE, lw=0.7 if first else 0.5, zorder=0.6)
    axes.axvline(block.columns[layout.asked.checks[0].name][1], color=INK, lw=0.7, zorder=0.7)
    for row in layout.of(label):
        if row["check"] in block.columns:
            _cell(axes, row, block.columns[row["check"]], layout)


def _cell(axes: Axes, row: Mapping, column: tuple[float, float], layout: Layout) -> None:
    """Mark, number and box of one conclusion."""
    (left, width), place = column, layout.places[(row["quantity"], row["term"])]
    if row["verdict"] in BOXES:
        corner = (left + BOX, place - 0.5 + BOX / ROW)
        box = Rectangle(corner, width - 2 * BOX, 1 - 2 * BOX / ROW, zorder=1, gid=row["verdict"], **BOXES[row["verdict"]])
        axes.add_patch(box)
    if row["conclusion"] == NOT_ESTIMABLE:
        axes.text(left + AT, place, "–", ha="center", va="center_baseline", color=FAINT, gid="not estimable")
        return
    colour = layout.palette.of_bias(row["quantity"], row["term"])
    axes.plot([left + AT], [place], color=colour, linestyle="none", zorder=3, gid="mark", **_mark(row, colour))
    if width == NUMBER:
        right = {"ha": "right", "va": "center_baseline", "gid": "number"}
        axes.text(left + width - 0.03, place, signed(row["estimate"]), **right)


def _mark(row: Mapping, colour: str) -> dict:
    if row["conclusion"] == INDISTINGUISHABLE:
        return {**OPEN, "markerfacecolor": "white", "markeredgewidth": 1.0}
    return {**(UP if row["conclusion"] in FAVOURS.values() else DOWN), "markerfacecolor": colour, "markeredgewidth": 0.0}


def _legend(layout: Layout) -> list[list[Entry]]:
    judges = [term for quantity, term in layout.places if quantity == "self_bias"]
    words = {
        FAVOURS["self_bias"]: "favours itself, its family",
        "harsher": "harsher on itself, its family",
        INDISTINGUISHABLE: "cannot be distinguished from 0",
    }
    plain = {"color": INK, "linestyle": "none"}
    marks = [Entry(text, line={**plain, **_mark({"conclusion": name}, INK)}) for name, text in words.items()]
    if any(row["conclusion"] == NOT_ESTIMABLE for row in layout.rows):
        marks.append(Entry("– not estimable"))
    present = {row["verdict"] for row in layout.rows}
    boxes = [Entry(words, [BOXES[name]]) for name, words in OUTCOMES.items() if name in present]
    level = layout.asked.confidence
    rule = [Entry(f"decided by {100 * level:g} % intervals, or without one by p ≤ {1 - level:.4g}"), Entry(NUMBERS)]
    letters = dict.fromkeys(row["estimand"][0] for row in layout.rows if isinstance(row["estimand"], str) and row["estimand"])
    return [
        family_entries(layout.palette, judges),
        marks,
        [Entry("no box: as in the first column"), *boxes],
        rule,
        [Entry(ESTIMANDS[letter]) for letter in sorted(letters)],
    ]


def _answers(layout: Layout) -> str:
    """The answer of the whole study, or of the first dimension if that is all there is."""
    label = "" if layout.of("") or not layout.rows else layout.rows[0]["slice"]
    return joined(*answers(layout.of(label), layout.asked, label=label))
