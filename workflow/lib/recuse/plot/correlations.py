"""Correlation of each judge with the humans, a panel for each dimension: Figure 5 of Play Favorites."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.plot.intervals import (
    draw_interval,
    family_breaks,
    frame_rows,
    room_for_words,
    significance_entries,
    write_instead,
)
from recuse.plot.page import Entry, Page, corners, family_entries, grid, page_of_words
from recuse.plot.style import DOUBLE_COLUMN, EDGE, SINGLE_COLUMN, TEXT, Subject, interval_text, language, widest

NONE = "No correlation with the humans: no row has a human score (tables/correlations.csv)."
POOLED = "All dimensions"
ROW = 0.19
GUTTER = 0.16  # inches between panels, across
RIGHT = 0.06  # inches for half the last tick's number
TITLE = 0.26  # inches for the title of a panel, and the space above it
BELOW = 0.4  # inches for ticks and axis text
LOWER = 0.24  # rows by which the grey marks stand below the middle of a row, as Spearman's stands above
GREY = {"color": "#767676", "linestyle": "none"}
OTHERS = {
    "pearson": ("Pearson", {**GREY, "marker": "D", "markersize": 2.4, "markeredgewidth": 0.8}),
    "gamma": ("Goodman–Kruskal gamma", {**GREY, "marker": "|", "markersize": 5, "markeredgewidth": 1.2}),
}


@language()
def correlations(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Correlation of each judge's ratings with the humans' (Play Favorites, Figure 5).

    `table`: dimension (missing for the pooled data, which are drawn only if there is nothing else), judge, statistic
    (spearman, pearson, gamma), value, ci_low, ci_high. Spearman's coefficient is a point with its interval, the two
    others are small grey marks lower in the same row. Without human scores there is no row, and the page says so.
    """
    if table.empty:
        return page_of_words(subject, NONE)
    palette = subject.palette
    dimensions = sorted(set(table["dimension"].dropna())) or [POOLED]
    table = table.assign(dimension=table["dimension"].fillna(POOLED))
    table = table[table["dimension"].isin(dimensions)]
    judges = palette.order(table["judge"])
    others = [Entry(name, line=mark) for name, mark in OTHERS.values()]
    spearman = significance_entries("Spearman", interval_text(confidence, "jackknife"))  # the one standard error of the table
    legend = [family_entries(palette, judges, others="no family in config"), [*spearman, *others]]
    rows, columns = grid(len(dimensions), 3)
    label, height = widest(judges) + 0.1, len(judges) * ROW
    across = SINGLE_COLUMN if columns == 1 else DOUBLE_COLUMN
    words = room_for_words(table[table["statistic"] == "spearman"], column="value")
    least = max(widest(dimensions, TEXT, "bold"), words)
    panel = max(least, (across - 2 * EDGE - RIGHT - label - (columns - 1) * GUTTER) / columns)
    width = 2 * EDGE + label + columns * panel + (columns - 1) * GUTTER + RIGHT
    page = Page(subject=subject, width=width, body=BELOW + rows * (height + TITLE), legend=legend)
    limits = correlation_limits(table)
    places = corners(len(dimensions), columns, step=(panel + GUTTER, height + TITLE))
    for number, (dimension, (x, y)) in enumerate(zip(dimensions, places, strict=True)):
        axes = page.axes(EDGE + label + x, BELOW + y, panel, height)
        frame_rows(axes, limits=limits, rows=len(judges), breaks=family_breaks(judges, palette))
        axes.set_title(dimension)
        axes.set_yticks(range(len(judges)), judges if number % columns == 0 else [])
        axes.tick_params(labelbottom=number + columns >= len(dimensions))
        _draw_coefficients(axes, table[table["dimension"] == dimension], judges, subject)
    middle = EDGE + label + (width - 2 * EDGE - RIGHT - label) / 2
    page.centred(middle, 0.04, "correlation with the human ratings →")
    return page.figure


def correlation_limits(table: pd.DataFrame) -> tuple[float, float]:
    """Ends of the axis: 0 and every value and interval, with a margin, within -1 and 1."""
    ends = table[["value", "ci_low", "ci_high"]].to_numpy(float)
    low, high = np.nanmin([0.0, *ends.ravel()]), np.nanmax([0.0, *ends.ravel()])
    return max(low - 0.04, -1.0), min(high + 0.04, 1.0)


def _draw_coefficients(axes: Axes, table: pd.DataFrame, judges: Sequence[str], subject: Subject) -> None:
    """One dimension's coefficients, a row for each of `judges`."""
    for judge in sorted(set(judges) - set(table["judge"])):
        write_instead(axes, judges.index(judge), "no ratings")
    for _, row in table.iterrows():
        place = judges.index(row["judge"])
        if row["statistic"] == "spearman":
            draw_interval(axes, place - LOWER / 2, row, subject.palette.colour(row["judge"]), column="value")
        elif row["statistic"] in OTHERS and not np.isnan(row["value"]):
            axes.plot([row["value"]], [place + LOWER], zorder=3, **OTHERS[row["statistic"]][1])
