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
    interval_entries,
    name_rows,
    room_for_words,
    write_absent,
)
from recuse.plot.page import Entry, Page, family_entries, grid, page_of_words, page_width
from recuse.plot.style import EDGE, TEXT, Subject, interval_text, language, widest

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
    spearman = interval_entries(f"Spearman, {interval_text(confidence, 'jackknife')}")  # the one standard error of the table
    rows, columns = grid(len(dimensions), 3)
    label, height = widest(judges) + 0.1, len(judges) * ROW
    words = room_for_words(table[table["statistic"] == "spearman"], column="value")
    room = page_width(several=columns > 1) - 2 * EDGE - RIGHT - label - (columns - 1) * GUTTER
    panel = max(widest(dimensions, TEXT, "bold"), words, room / columns)
    width = 2 * EDGE + label + columns * panel + (columns - 1) * GUTTER + RIGHT
    legend = [family_entries(palette, judges), [*spearman, *others]]
    page = Page(subject=subject, width=width, body=BELOW + rows * (height + TITLE), legend=legend)
    limits, breaks = correlation_limits(table), family_breaks(judges, palette)
    place = {"corner": (EDGE + label, BELOW), "size": (panel, height), "step": (panel + GUTTER, height + TITLE)}
    for dimension, each in zip(dimensions, page.panels(len(dimensions), columns, **place), strict=True):
        frame_rows(each.axes, limits=limits, rows=len(judges), breaks=breaks)
        name_rows(each, judges, dimension)
        _draw_coefficients(each.axes, table[table["dimension"] == dimension], judges, subject)
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
    write_absent(axes, judges, table["judge"], "no ratings")
    for _, row in table.iterrows():
        place = judges.index(row["judge"])
        if row["statistic"] == "spearman":
            draw_interval(axes, place - LOWER / 2, row, subject.palette.colour(row["judge"]), column="value")
        elif row["statistic"] in OTHERS and not np.isnan(row["value"]):
            axes.plot([row["value"]], [place + LOWER], zorder=3, **OTHERS[row["statistic"]][1])
