"""How judges rate beside humans: mean scores (Figures 2 and 6 of Play Favorites), correlations
(Figure 5), and curves.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from recuse.base.errors import DataError
from recuse.data.registry import HUMAN
from recuse.plot.axes import unit_square
from recuse.plot.cells import ShadedCells, cells_figure
from recuse.plot.colours import DASHED
from recuse.plot.curves import CurvePanel, Series, curves_figure
from recuse.plot.page import extremes, family_entries, head, keys, page_of_words
from recuse.plot.rows import (
    POINTS,
    TICK,
    Block,
    Column,
    Kind,
    Row,
    rows_figure,
)
from recuse.plot.style import Subject, language

# Mean scores.
OUTLINE = 1.3  # points, around the cells of own completions

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
    drawn = cells_figure(
        panels,
        subject,
        head("mean_scores", **_own_highest(table)),
        squares={name: palette.colour(name) for name in {*judges, *models} if palette.family(name)},
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


def _own_highest(table: pd.DataFrame) -> dict[str, int]:
    """How many judges give their own answers their highest mean, of those that rate them; rows are
    judges, or parts of them.
    """
    highest = table["mean"] == table.groupby(["dimension", "judge"])["mean"].transform("max")
    own = (table["judge"] == table["model"]) & table["mean"].notna()
    return {"highest": (own & highest).sum(), "total": own.sum()}


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
    across = "correlation with human scores"
    columns = [Column(name, name, across=across) for name in dimensions]
    spearman = table[table["statistic"] == "spearman"]
    means = extremes(spearman.groupby("judge", sort=False)["value"].mean())
    words, blocks = head("correlations", means=means, level=confidence), [Block(rows, columns)]
    return rows_figure(marks, subject, words, blocks, kinds=KINDS, absent="no ratings").figure


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
    columns = {"reference": "x", "value": "y", "ci_low": "low", "ci_high": "high"}
    points = table.rename(columns=columns).assign(panel=keys(table, "slice", "judge"), series="")
    values = table.sort_values("reference").groupby(["slice", "judge"])["value"]
    rises = (values.last() - values.first()).droplevel("slice")
    return curves_figure(
        points,
        subject,
        head("smooths", rises=extremes(rises), level=confidence, errors=covariance),
        panels,
        SMOOTHS,
        _frame_smooth,
        most=5,
        left=0.28,
        across="human score of another family's completion",
        up="expected rating",
        note="" if (table["ci_low"] < table["ci_high"]).all() else NO_BAND,
    )


def _frame_smooth(axes: Axes, _: CurvePanel) -> None:
    unit_square(axes, LIMITS)
    axes.plot([0, 1], [0, 1], zorder=2, **DASHED)
