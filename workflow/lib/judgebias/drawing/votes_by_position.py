"""Votes for the answer shown first, for neither and for the one shown second: Table 6 of Chen et al., with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebias.drawing.axis_limits import readable
from judgebias.drawing.conditions import NO_EXPERIMENT
from judgebias.drawing.intervals import POINT, STROKE, frame_rows, write_instead
from judgebias.drawing.page import Entry, Page, page_of_words
from judgebias.drawing.palette import BLUE, ORANGE
from judgebias.drawing.style import DOUBLE_COLUMN, EDGE, INK, LINE, Subject, language, widest

if TYPE_CHECKING:
    import pandas as pd

ROW = 0.22
BAR = 0.7  # of a row
BELOW = 0.56  # inches for ticks and axis text
TITLE = 0.28  # inches for the title of a panel
GUTTER = 0.3  # inches between the panels
SHARE = 0.55  # of the width of both panels: the bars
PLACES = {
    "first": ("shown first", {"facecolor": BLUE, "edgecolor": "white", "lw": 0.4}),
    "tie": ("tie", {"facecolor": "#D9D9D9", "edgecolor": "white", "lw": 0.4}),
    "second": ("shown second", {"facecolor": ORANGE, "edgecolor": "white", "lw": 0.4, "hatch": "//////"}),
}
NO_ROWS = "No votes by position: there is no vote about perturbed answers."
NOTE = "Votes of the control group and on perturbed answers, errors left out. Judges by the size of the difference."


@language()
def votes_by_position(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Shares of votes by place as stacked bars, and the difference of first and second with its interval.

    A row for each judge, the experiments one below another, each under its name if any has one.
    `table`: the table of votes by position, see `judgebias.comparisons.votes`.
    """
    if table.empty:
        return page_of_words(subject, NO_ROWS)
    rows = _rows(table.assign(experiment=table["experiment"].astype(object).fillna("").astype(str)))
    headings = widest((name for name, row in rows if row is None), weight="bold")
    label = max(widest(table["judge"]), headings) + 0.1
    beside, height = widest([*map(str, table["n"]), "votes"]) + 0.12, len(rows) * ROW
    panels = DOUBLE_COLUMN - 2 * EDGE - label - GUTTER - beside
    width, other = SHARE * panels, (1 - SHARE) * panels
    page = Page(subject=subject, width=DOUBLE_COLUMN, body=BELOW + height + TITLE, legend=_legend(confidence), note=NOTE)
    bars = page.axes(EDGE + label, BELOW, width, height)
    frame_rows(bars, limits=(0, 1), rows=len(rows), breaks=[])
    bars.set_yticks(range(len(rows)), [name for name, _ in rows])
    for heading in (text for text, (_, row) in zip(bars.get_yticklabels(), rows, strict=True) if row is None):
        heading.set_weight("bold")
    bars.set_title("Answer chosen")
    points = page.axes(EDGE + label + width + GUTTER, BELOW, other, height)
    frame_rows(points, limits=readable(_limits(table), other), rows=len(rows), breaks=[])
    points.set_yticks(range(len(rows)), [])
    points.set_title("First minus second")
    _draw_rows(bars, points, rows)
    right = DOUBLE_COLUMN - EDGE
    page.text(right, BELOW + height + LINE / 2, "votes", ha="right")
    for place, (_, row) in enumerate(rows):
        page.text(right, BELOW + height - (place + 0.5) * ROW, "" if row is None else str(row["n"]), ha="right")
    page.centred(EDGE + label + width / 2, 1.2 * LINE, "share of votes")
    middle = EDGE + label + width + GUTTER + other / 2
    page.centred(middle, 1.2 * LINE, "← prefers second   prefers first →")
    page.centred(middle, 0.3 * LINE, "difference of the shares")
    return page.figure


def _rows(table: pd.DataFrame) -> list[tuple[str, Mapping | None]]:
    """From the top down: an experiment with None, if any has a name, then its judges with their rows of the table."""
    named, rows = (table["experiment"] != "").any(), []
    for experiment, found in table.groupby("experiment", sort=False):
        rows += [(experiment or NO_EXPERIMENT, None)] if named else []
        ordered = found.sort_values("difference", key=abs, kind="stable", na_position="last")
        rows += [(row["judge"], row) for row in ordered.to_dict("records")]
    return rows


def _draw_rows(bars: Axes, points: Axes, rows: Sequence[tuple[str, Mapping | None]]) -> None:
    for place, row in ((place, row) for place, (_, row) in enumerate(rows) if row is not None):
        if not row["n"]:
            write_instead(bars, place, "errors only")
            write_instead(points, place, "errors only")
            continue
        left = 0.0
        for name, (_, swatch) in PLACES.items():
            bars.barh([place], [row[name]], BAR, left=left, zorder=3, gid=name, **swatch)
            left += row[name]
        _draw_difference(points, place, row)


def _draw_difference(axes: Axes, place: int, row: Mapping) -> None:
    """Point and interval, which may have no width: votes of all questions may be balanced; filled when it excludes 0."""
    ends = [row["ci_low"], row["ci_high"]]
    axes.plot(ends, [place, place], color=INK, lw=STROKE, solid_capstyle="butt", zorder=3, gid="interval")
    face = INK if ends[0] > 0 or ends[1] < 0 else "white"
    axes.plot([row["difference"]], [place], color=INK, markerfacecolor=face, linestyle="none", zorder=4, gid="point", **POINT)


def _limits(table: pd.DataFrame) -> tuple[float, float]:
    ends = np.r_[0.0, table[["difference", "ci_low", "ci_high"]].to_numpy(float).ravel()]
    margin = 0.06 * (np.nanmax(ends) - np.nanmin(ends)) + 0.01
    return np.nanmin(ends) - margin, np.nanmax(ends) + margin


def _legend(confidence: float) -> list[list[Entry]]:
    full = {"color": INK, "lw": STROKE, **POINT}
    return [
        [Entry(name, [swatch, swatch]) for name, swatch in PLACES.values()],
        [
            Entry(f"difference, {100 * confidence:g} % bootstrap interval over questions", line=full),
            Entry("interval includes 0, or none", line={**full, "markerfacecolor": "white"}),
        ],
    ]
