"""How much longer each perturbation makes the answers, by Bloom level: what a preference for length would make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebias.drawing.axis_limits import readable
from judgebias.drawing.intervals import POINT, STROKE, frame_rows, write_instead
from judgebias.drawing.page import Entry, Page, corners, grid, page_of_words
from judgebias.drawing.palette import BLUE, ORANGE
from judgebias.drawing.style import DOUBLE_COLUMN, EDGE, LINE, RULE, SINGLE_COLUMN, SMALL, Subject, language, widest

if TYPE_CHECKING:
    import pandas as pd

ROW = 0.22
BELOW = 0.42  # inches for ticks and axis text
TITLE = 0.3  # inches for the title of a panel, and the space above it
GUTTER = 0.2  # inches between panels
ALL = "all levels"
LONGER = "longer"
APART = 0.17  # rows by which the two units stand above and below the middle of a row
UNITS = {
    "words": {"color": BLUE, "markerfacecolor": BLUE, **POINT},
    "characters": {"color": ORANGE, "markerfacecolor": ORANGE, **POINT, "marker": "D", "markersize": 2.8},
}
ACROSS = "mean change of length, % of the unperturbed answer"
NO_ROWS = "No length confound: there is no perturbed answer."
NOTE = (
    "Of each question one answer is perturbed, the other left as it is: perturbed answers only. In brackets: how many. "
    f"Column “{LONGER}”: share of them with more words than before."
)


@language()
def length_confound(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Mean relative change of length with its interval, a panel for each perturbation, a row for each level.

    `table`: the table of the length confound, see `judgebias.comparisons.text_lengths`; only the rows of perturbed answers.
    """
    table = table[table["answers"] == "perturbed"]
    if table.empty:
        return page_of_words(subject, NO_ROWS)
    table = table.assign(level=table["level"].fillna(""))
    levels, perturbations = list(dict.fromkeys(table["level"])), list(dict.fromkeys(table["perturbation"]))
    labels = [_label(level, table.loc[table["level"] == level, "n"]) for level in levels]
    rows, columns = grid(len(perturbations), 2)
    label, beside, height = widest(labels) + 0.1, widest([LONGER]) + 0.1, len(levels) * ROW
    across = SINGLE_COLUMN if columns == 1 else DOUBLE_COLUMN
    panel = (across - 2 * EDGE - label - (columns - 1) * GUTTER) / columns - beside
    page = Page(
        subject=subject, width=across, body=BELOW + rows * (height + TITLE), legend=_legend(confidence), note=NOTE
    )  # fmt: skip
    limits = readable(_limits(table), panel)
    places = corners(len(perturbations), columns, step=(panel + beside + GUTTER, height + TITLE))
    for number, (perturbation, (x, y)) in enumerate(zip(perturbations, places, strict=True)):
        axes = page.axes(EDGE + label + x, BELOW + y, panel, height)
        frame_rows(axes, limits=limits, rows=len(levels), breaks=[])
        axes.axhline(0.5, color=RULE, lw=0.6, zorder=1)  # below the row of all levels
        axes.set_title(perturbation.replace("_", " "))
        axes.set_yticks(range(len(levels)), labels if number % columns == 0 else [])
        axes.tick_params(labelbottom=number + columns >= len(perturbations))
        _draw_panel(axes, table[table["perturbation"] == perturbation], levels, beside)
    page.centred(EDGE + label + (across - 2 * EDGE - label - beside) / 2, 0.06, ACROSS)
    return page.figure


def _label(level: str, counts: Sequence[int]) -> str:
    """A level and how many perturbed answers it has, the least and the most of a perturbation if they differ."""
    return f"{level or ALL} ({'–'.join(map(str, sorted({min(counts), max(counts)})))})"


def _draw_panel(axes: Axes, table: pd.DataFrame, levels: Sequence[str], beside: float) -> None:
    where = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "size": SMALL, "va": "center_baseline"}
    axes.annotate(LONGER, (1, -0.5), (72 * beside, 36 * LINE), ha="right", **where)
    for row in table.to_dict("records"):
        place = levels.index(row["level"])
        if np.isnan(row["relative_change"]):
            if row["unit"] == "words":
                write_instead(axes, place, "no perturbed answer")
            continue
        _draw_mark(axes, place + (-APART if row["unit"] == "words" else APART), row)
        if row["unit"] == "words":
            axes.annotate(f"{100 * row['longer']:.0f} %", (1, place), (72 * beside, 0), ha="right", **where)


def _draw_mark(axes: Axes, place: float, row: Mapping) -> None:
    mark = UNITS[row["unit"]]
    ends = [100 * row["ci_low"], 100 * row["ci_high"]]
    axes.plot(ends, [place] * 2, color=mark["color"], lw=STROKE, solid_capstyle="butt", zorder=3, gid="interval")
    axes.plot([100 * row["relative_change"]], [place], linestyle="none", zorder=4, gid=row["unit"], **mark)


def _limits(table: pd.DataFrame) -> tuple[float, float]:
    ends = np.r_[0.0, 100 * table[["relative_change", "ci_low", "ci_high"]].to_numpy(float).ravel()]
    margin = 0.06 * (np.nanmax(ends) - np.nanmin(ends)) + 0.5
    return np.nanmin(ends) - margin, np.nanmax(ends) + margin


def _legend(confidence: float) -> list[list[Entry]]:
    interval = f"{100 * confidence:g} % bootstrap interval over questions"
    return [[Entry(f"{unit}, {interval}", line={"lw": STROKE, **mark}) for unit, mark in UNITS.items()]]
