"""How judges rate beside humans: mean scores (Figures 2 and 6 of Play Favorites), correlations
(Figure 5), and curves.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from recuse.base.errors import DataError
from recuse.base.words import number
from recuse.data.registry import HUMAN
from recuse.plot.axes import unit_square
from recuse.plot.biases import FILLED
from recuse.plot.cells import ShadedCells, cells_figure
from recuse.plot.colours import DASHED
from recuse.plot.curves import CurvePanel, Series, curves_figure
from recuse.plot.page import (
    Head,
    Panel,
    family_entries,
    page_of_words,
    some,
)
from recuse.plot.rows import (
    POINTS,
    TICK,
    Block,
    Column,
    Kind,
    Row,
    rows_figure,
)
from recuse.plot.style import UNIT, Subject, interval_text, language

# Mean scores.
OUTLINE = 1.3  # points, around the cells of own completions
MEANS = (
    "mean score on the unit scale 0–1; shades compare the cells of one row only; boxes: own"
    " completions"
)

# Correlations.
NONE = "No correlation with the humans: no row has a human score (tables/correlations.csv)."
POOLED = "All dimensions"
GREY = "#767676"
KINDS = {
    "spearman": Kind("Spearman"),
    "pearson": Kind("Pearson", {**POINTS[3], "markersize": 2.4}, GREY, 1, interval=False),
    "gamma": Kind("Goodman–Kruskal gamma", TICK, GREY, 1, interval=False),
}

# Curves.
LIMITS = (-0.04, 1.04)  # of both axes: the unit scale, with a margin for the strokes
SMOOTHS = {"": Series(line={"lw": 1.4}, mark={"marker": "o", "markersize": 2.0}, bar=None)}
NO_CURVES = "No curve: the rows of no judge determine one, as where none has a human score."
NO_BAND = "A curve without a band has no standard error."


@language()
def mean_scores_figure(table: pd.DataFrame, subject: Subject) -> Figure:
    """Mean score that each judge, and the humans, give each model over all dimensions (Play
    Favorites, Figure 2).

    `table`: dimension (missing for the pooled data, which alone are drawn), judge, model, mean on
    the unit scale. A missing mean is a hatched cell. Raises DataError if no row is pooled.
    """
    return _heatmaps(table[table["dimension"].isna()].assign(dimension=""), subject)


@language()
def mean_scores_by_dimension(table: pd.DataFrame, subject: Subject) -> Figure:
    """The same by dimension, without the pooled rows of `table` (Play Favorites, Figure 6).

    Raises DataError if no row names a dimension.
    """
    return _heatmaps(table.dropna(subset=["dimension"]), subject)


def _heatmaps(table: pd.DataFrame, subject: Subject) -> Figure:
    if table.empty:
        raise DataError(
            "mean scores: no row to draw; pooled rows have no dimension, rows by dimension name one"
        )
    palette = subject.palette
    judges, models = palette.order(table["judge"]), palette.order(table["model"])
    panels = {}
    for name, rows in table.groupby("dimension"):
        wide = rows.pivot(index="judge", columns="model", values="mean")
        wide = wide.reindex(index=judges, columns=models)
        panels[name] = ShadedCells(shades(wide), wide)
    known = [name for name in {*judges, *models} if palette.family(name)]
    drawn = cells_figure(
        panels,
        subject,
        Head(_own_highest(table), MEANS),
        squares={name: palette.colour(name) for name in known},
        apart=int(HUMAN in judges),
        across="model that wrote the completions",
        up="judge",
        key=family_entries(palette, [*models, *judges]),
    )
    for axes in drawn:
        for name in filter(models.__contains__, judges):
            corner = models.index(name) + 0.03, judges.index(name) + 0.06
            look = {"fill": False, "edgecolor": palette.colour(name), "linewidth": OUTLINE}
            look |= {"joinstyle": "miter", "zorder": 3, "clip_on": False, "gid": "own"}
            axes.add_patch(Rectangle(corner, 0.94, 0.88, **look))
    return drawn[0].figure


def _own_highest(table: pd.DataFrame) -> str:
    """How many judges give their own answers their highest mean, of those that rate them; rows are
    judges, or parts of them.
    """
    highest = table["mean"] == table.groupby(["dimension", "judge"])["mean"].transform("max")
    own = (table["judge"] == table["model"]) & table["mean"].notna()
    if not own.any():
        return "No judge rates its own answers"
    return (
        "The judge's own answers have its highest mean in"
        f" {some((own & highest).sum(), own.sum(), 'row')}"
    )


def shades(block: pd.DataFrame) -> pd.DataFrame:
    """Each row of `block` on its own scale from 0 (its lowest mean) to 1 (its highest); 0.5 if all
    are equal.
    """
    low, spread = block.min(axis=1), block.max(axis=1) - block.min(axis=1)
    scaled = block.sub(low, axis=0).div(spread.where(spread > 0), axis=0)
    return scaled.where(scaled.notna() | block.isna(), 0.5)


@language()
def correlations_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Correlation of each judge's ratings with the humans', a panel for each dimension (Play
    Favorites, Figure 5).

    `table`: dimension (missing for the pooled data, which are drawn only if there is nothing else),
    judge, statistic (spearman, pearson, gamma), value, ci_low, ci_high. Spearman's coefficient is a
    point with its interval, the two others are small grey marks lower in the same row. Without
    human scores there is no row, and the page says so.
    """
    table = table[table["statistic"].isin(list(KINDS))]
    if table.empty:
        return page_of_words(subject, NONE)
    palette = subject.palette
    dimensions = sorted(set(table["dimension"].dropna())) or [POOLED]
    table = table.assign(dimension=table["dimension"].fillna(POOLED))
    table = table[table["dimension"].isin(dimensions)]
    rows = [Row(judge, judge, palette.colour(judge)) for judge in palette.order(table["judge"])]
    marks = table.assign(
        row=table["judge"],
        panel=table["dimension"],
        kind=table["statistic"],
        estimate=table["value"],
        instead="not estimable",
    )
    ends = marks[["estimate", "ci_low", "ci_high"]].to_numpy(float)
    low, high = np.nanmin([0.0, *ends.ravel()]), np.nanmax([0.0, *ends.ravel()])
    limits = max(low - 0.04, -1.0), min(high + 0.04, 1.0)
    across = "correlation with human scores"
    columns = [Column(name, name, across=across, limits=limits) for name in dimensions]
    unit = f"Spearman's correlation; {interval_text(confidence, 'jackknife')}; {FILLED}"
    head, blocks = Head(_agreement(table), unit), [Block(rows, columns)]
    return rows_figure(marks, subject, head, blocks, kinds=KINDS, absent="no ratings").figure


def _agreement(table: pd.DataFrame) -> str:
    """Which judges follow the humans most and least, by the mean of Spearman's coefficient over the
    panels.
    """
    means = (
        table[table["statistic"] == "spearman"]
        .groupby("judge", sort=False)["value"]
        .mean()
        .dropna()
    )
    if means.empty:
        return "No correlation with the humans can be estimated"
    best, worst = means.idxmax(), means.idxmin()
    if best == worst:
        return f"{best} correlates {means[best]:.2f} with the humans"
    return (
        f"{best} follows the humans most (mean correlation {means[best]:.2f}), {worst} least"
        f" ({means[worst]:.2f})"
    )


@language()
def smooths(table: pd.DataFrame, subject: Subject, *, confidence: float, covariance: str) -> Figure:
    """Expected rating of another family's completion by its human score, a panel for each judge,
    with a band of intervals.

    `table`: slice (missing for the pooled data), judge, reference, value, ci_low, ci_high, all
    numbers on the unit scale. Where there are pooled data they alone are drawn; otherwise each
    slice has a panel for each judge. Bands are cut off where the scale ends.
    """
    pooled = table[table["slice"].isna()]
    table = table if pooled.empty else pooled
    table = table.assign(slice=table["slice"].fillna(""))
    judges = subject.palette.order(table["judge"])
    if not judges:
        return page_of_words(subject, NO_CURVES)
    panels = []
    for part in sorted(set(table["slice"])):
        for judge in judges:
            title = ": ".join(filter(None, (part, judge)))
            panels.append(CurvePanel((part, judge), title, colour=subject.palette.colour(judge)))
    keys = pd.Series([*zip(table["slice"], table["judge"], strict=True)], table.index, object)
    columns = {"reference": "x", "value": "y", "ci_low": "low", "ci_high": "high"}
    points = table.rename(columns=columns).assign(panel=keys, series="")
    unit = f"{UNIT}; band: {interval_text(confidence, covariance)}; dashed: rating = human score"
    return curves_figure(
        points,
        subject,
        Head(_rise(table), unit),
        panels,
        SMOOTHS,
        _frame_smooth,
        most=5,
        left=0.28,
        across="human score of another family's completion",
        up="expected rating",
        note="" if (table["ci_low"] < table["ci_high"]).all() else NO_BAND,
    )


def _frame_smooth(axes: Axes, _: CurvePanel, place: Panel) -> None:
    unit_square(axes, LIMITS, first=place.first, lowest=place.lowest)
    axes.plot([0, 1], [0, 1], zorder=2, **DASHED)


def _rise(table: pd.DataFrame) -> str:
    """How much curves rise from the lowest human score to the highest: the flattest and the
    steepest.
    """
    values = table.sort_values("reference").groupby(["slice", "judge"])["value"]
    rises = (values.last() - values.first()).reset_index().sort_values("value", kind="stable")
    ends = rises.iloc[[0, -1]].drop_duplicates("judge").to_dict("records")
    named = " to ".join(f"{number(row['value'], 2)} ({row['judge']})" for row in ends)
    return f"From the lowest to the highest human score, expected ratings rise by {named}"
