"""Profile of the biases of each judge as a polygon beside that of random choices: the second figure of CoBBLEr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebias.drawing.bias_words import (
    HUMANS,
    MARKS,
    NAMES,
    NOTHING,
    RANDOM,
    biases_of,
    drawable,
    judges_of,
    origins,
    random_entry,
    shares,
    thresholds,
)
from judgebias.drawing.page import Entry, Page, corners, grid, legend_width, page_of_words
from judgebias.drawing.style import DOUBLE_COLUMN, EDGE, GRID, LINE, SINGLE_COLUMN, SMALL, Subject, language, wrap
from judgebias.ratings.registry import HUMAN

if TYPE_CHECKING:
    import pandas as pd

SHORT = {  # beside the axes
    "order_first": "OF",
    "order_last": "OL",
    "compassion_first": "CF",
    "compassion_last": "CL",
    "egocentric_order": "E",
    "egocentric_comp": "EN",
    "salience": "S",
    "bandwagon": "B",
    "attentional": "A",
}
LEAST = 3  # axes: fewer make no polygon
COLUMNS = 6
SIDE = 1.13  # inches of a panel with its gap
RADIUS = 0.70  # of the half of a panel: outside it stand the names of the axes
SPOKE = {"color": GRID, "lw": 0.6, "zorder": 1}
FILL = 0.18
TITLE = 0.85 * SIDE  # inches of a line of a panel's title
OUTLINE = {"markersize": 2.5, "lw": 1.1}
FEW = f"Nothing to draw: a polygon needs {LEAST} biases or more, and the comparisons test fewer."
SCALE = "Each axis runs from 0 to the share of the most biased judge (of RANDOM, where that is greater), which the key gives."
OPEN = " Shares that are not known leave the outline open."


@language()
def bias_polygon(table: pd.DataFrame, subject: Subject) -> Figure:
    """Share of each bias on an axis of its own, a panel for each judge, with the polygon of random choices.

    `table`: experiment, judge, bias, origin, share, random. An axis is scaled to its most biased judge, or to the RANDOM
    threshold where that is greater. Where a judge has no share of a bias its outline is open.
    """
    table, words = drawable(table)
    biases = biases_of(table)
    if len(biases) < LEAST:
        return page_of_words(subject, (FEW if biases else NOTHING) + words)
    judges = judges_of(table)
    rankers = judges + [HUMAN] * bool((table["judge"] == HUMAN).any())
    marks = {ranker: MARKS[origin] for ranker, origin in zip(table["judge"], table["origin"], strict=True)}
    random = thresholds(table, biases)
    values = shares(table, rankers, biases)  # (rankers, biases)
    most = np.nanmax(np.vstack([values[: len(judges)], random]), axis=0)
    titles = {ranker: wrap(ranker, TITLE) for ranker in rankers}
    step = SIDE, SIDE + 0.1 + LINE * max(title.count("\n") + 1 for title in titles.values())
    rows, columns = grid(len(rankers), COLUMNS)
    legend = _legend(table, biases, most)
    across = SINGLE_COLUMN if columns <= 2 else DOUBLE_COLUMN
    width = max(across, legend_width(legend) + 2 * EDGE)
    note = SCALE + OPEN * bool(np.isnan(values).any()) + words
    page = Page(subject=subject, width=width, body=rows * step[1], legend=legend, note=note)
    left = (width - columns * SIDE) / 2
    for ranker, shown, (x, y) in zip(rankers, values, corners(len(rankers), columns, step=step), strict=True):
        page.text(left + x + SIDE / 2, y + SIDE, titles[ranker], ha="center", va="bottom", weight="bold")
        axes = page.axes(left + x, y, SIDE, SIDE)
        _frame(axes, biases)
        _outline(axes, random / most, gid="random", **RANDOM)
        _outline(axes, shown / most, gid="human" if ranker == HUMAN else "judge", **marks[ranker], **OUTLINE)
    return page.figure


def _legend(table: pd.DataFrame, biases: Sequence[str], most: np.ndarray) -> list[list[Entry]]:
    drawn = [Entry(f"judge, {text}", line={**MARKS[origin], **OUTLINE}) for origin, text in origins(table).items()]
    if (table["judge"] == HUMAN).any():
        drawn.append(Entry("humans, mean of the released shares", line={**HUMANS, **OUTLINE}))
    key = [
        Entry("full axis:"),
        *(Entry(f"{SHORT[bias]} {NAMES[bias]} {end:.2f}") for bias, end in zip(biases, most, strict=True)),
    ]
    return [drawn, [random_entry()], key]


def _directions(count: int) -> np.ndarray:
    """Unit vectors, (count, 2), clockwise from the top."""
    angle = 2 * np.pi * np.arange(count) / count
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def _frame(axes: Axes, biases: Sequence[str]) -> None:
    axes.set(xlim=(-1 / RADIUS, 1 / RADIUS), ylim=(-1 / RADIUS, 1 / RADIUS), xticks=[], yticks=[])
    axes.spines["bottom"].set_visible(False)
    directions = _directions(len(biases))
    closed = np.vstack([directions, directions[:1]])
    axes.plot(*closed.T, **SPOKE)
    for bias, (x, y) in zip(biases, directions, strict=True):
        axes.plot([0, x], [0, y], **SPOKE)
        axes.text(1.22 * x, 1.22 * y, SHORT[bias], ha="center", va="center_baseline", size=SMALL)


def _outline(axes: Axes, lengths: np.ndarray, *, gid: str, **settings) -> None:
    """The corners at `lengths` of the axes, joined where neighbouring axes both have one; filled where all have."""
    ends = lengths[:, None] * _directions(len(lengths))
    axes.plot(*np.vstack([ends, ends[:1]]).T, gid=gid, zorder=3, **settings)
    if np.isfinite(lengths).all() and gid != "random":
        axes.fill(*ends.T, color=settings["color"], alpha=FILL, lw=0, zorder=2)
