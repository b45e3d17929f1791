"""How judges rate beside humans: mean scores (Figures 2 and 6 of Play Favorites), correlations
(Figure 5), and curves.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import ScaledTranslation

from recuse.base.errors import DataError
from recuse.data.registry import HUMAN
from recuse.plot.axes import put, unit_square
from recuse.plot.colours import DASHED, INK, Palette
from recuse.plot.intervals import (
    LEAST_ROW,
    draw_interval,
    family_breaks,
    frame_rows,
    interval_entries,
    page_of_rows,
    room_for_words,
    row_within,
    write_absent,
    write_instead,
)
from recuse.plot.page import (
    Entry,
    Head,
    Page,
    family_entries,
    grid,
    left_out_of_page,
    lines_within,
    page_of_panels,
    page_of_words,
    some,
)
from recuse.plot.style import (
    DOUBLE_COLUMN,
    EDGE,
    LINE,
    SINGLE_COLUMN,
    SMALL,
    TEXT,
    UNIT,
    Subject,
    interval_text,
    language,
    widest,
)

# Mean scores.
POOLED_CELL = (0.6, 0.25)  # widest width, and height, of a cell in inches
SMALL_CELL = (0.42, 0.185)
NARROWEST = 0.25  # inches that a number takes
GUTTER = 0.16  # inches between panels, across
MARK_ROOM = 0.13  # inches for the square in the family's colour and the space around it
OUTLINE = 1.3  # points, around the cells of own completions
# Grey, so that colour means family; the dark end keeps a contrast above 5 to the numbers.
RAMP = LinearSegmentedColormap.from_list("row", ["#F5F5F5", "#9A9A9A"])
MISSING = {"facecolor": "white", "edgecolor": "#A0A0A0", "hatch": "///////", "linewidth": 0}

# Correlations.
NONE = "No correlation with the humans: no row has a human score (tables/correlations.csv)."
POOLED = "All dimensions"
# Rows by which the grey marks stand below the middle of a row, as Spearman's stands above
LOWER = 0.24
GREY = {"color": "#767676", "linestyle": "none"}
OTHERS = {
    "pearson": ("Pearson", {**GREY, "marker": "D", "markersize": 2.4, "markeredgewidth": 0.8}),
    "gamma": (
        "Goodman–Kruskal gamma",
        {**GREY, "marker": "|", "markersize": 5, "markeredgewidth": 1.2},
    ),
}

# Curves.
TALL = 1.15  # inches of a panel
LIMITS = (-0.04, 1.04)  # of both axes: the unit scale, with a margin for the strokes
CURVE = {"lw": 1.4, "solid_capstyle": "butt", "zorder": 4}
BAND = {"alpha": 0.25, "lw": 0, "zorder": 3}
NO_CURVES = "No curve: the rows of no judge determine one, as where none has a human score."
NO_BAND = "A curve without a band has no standard error."


@language()
def mean_scores_figure(table: pd.DataFrame, subject: Subject) -> Figure:
    """Mean score that each judge, and the humans, give each model over all dimensions (Play
    Favorites, Figure 2).

    `table`: dimension (missing for the pooled data, which alone are drawn), judge, model, mean on
    the unit scale. A missing mean is a hatched cell. Raises DataError if no row is pooled.
    """
    return _heatmaps(
        table[table["dimension"].isna()].assign(dimension=""), subject, cell=POOLED_CELL, title=0.06
    )


@language()
def mean_scores_by_dimension(table: pd.DataFrame, subject: Subject) -> Figure:
    """The same by dimension, without the pooled rows of `table` (Play Favorites, Figure 6).

    Raises DataError if no row names a dimension.
    """
    return _heatmaps(table.dropna(subset=["dimension"]), subject, cell=SMALL_CELL, title=0.27)


def _heatmaps(
    table: pd.DataFrame, subject: Subject, *, cell: tuple[float, float], title: float
) -> Figure:
    if table.empty:
        raise DataError(
            "mean scores: no row to draw; pooled rows have no dimension, rows by dimension name one"
        )
    palette = subject.palette
    judges, models = palette.order(table["judge"]), palette.order(table["model"])
    panels = {
        name: (
            rows.pivot(index="judge", columns="model", values="mean").reindex(
                index=judges, columns=models
            )
        )
        for name, rows in table.groupby("dimension")
    }
    (rows, columns), count = grid(len(panels), 2), len(panels)
    below = MARK_ROOM + 0.75 * widest(models) + LINE + 0.1
    rows = lines_within(rows, len(judges) * LEAST_ROW + title, below)
    panels = {name: panels[name] for name in list(panels)[: rows * columns]}
    left = EDGE + LINE + widest(judges) + MARK_ROOM + 0.05
    room = (DOUBLE_COLUMN - EDGE - left - (columns - 1) * GUTTER) / columns
    height = row_within(rows * len(judges), cell[1], rows * title + below)
    size = len(models) * max(NARROWEST, min(cell[0], room / len(models))), len(judges) * height
    step = max(size[0], widest(panels, TEXT, "bold")) + GUTTER, size[1] + title
    hatched = any(panel.isna().any(axis=None) for panel in panels.values())
    legend = [
        *family_entries(palette, [*models, *judges]),
        Entry("own completions", [{"facecolor": "white", "edgecolor": INK, "linewidth": OUTLINE}]),
        Entry(
            "lowest to highest mean of the row",
            [{"color": RAMP(share), "lw": 0} for share in np.linspace(0, 1, 6)],
        ),
        *[Entry("no ratings", [MISSING])] * hatched,
    ]
    width = max(SINGLE_COLUMN, left + columns * step[0] - GUTTER + EDGE)
    head = Head(
        _own_highest(table),
        "mean score on the unit scale 0–1; shades compare the cells of one row only",
    )
    body, note = below + rows * step[1], left_out_of_page(count, len(panels))
    page = Page(subject=subject, head=head, width=width, body=body, legend=[legend], note=note)
    places = page.panels(len(panels), columns, corner=(left, below), size=size, step=step)
    for (name, panel), place in zip(panels.items(), places, strict=True):
        place.axes.set_title(name)
        _draw_cells(place.axes, panel, palette)
        if place.first:
            _name(place.axes.yaxis, judges, palette)
            page.text(EDGE, place.bottom + size[1] / 2, "judge", rotation=90, va="center")
        if place.lowest:
            _name(
                place.axes.xaxis, models, palette, rotation=45, ha="right", rotation_mode="anchor"
            )
    page.centred(left + (columns * step[0] - GUTTER) / 2, 0.02, "model that wrote the completions")
    return page.figure


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


def _draw_cells(axes: Axes, panel: pd.DataFrame, palette: Palette) -> None:
    # Here, as importing it takes longer than drawing the other figures of this module
    import seaborn

    look = {
        "cmap": RAMP,
        "vmin": 0,
        "vmax": 1,
        "cbar": False,
        "linewidths": 0.8,
        "xticklabels": False,
        "yticklabels": False,
    }
    numbers = {
        "annot": panel,
        "fmt": ".2f",
        "annot_kws": {"size": SMALL, "color": INK, "va": "center_baseline"},
    }
    seaborn.heatmap(shades(panel), ax=axes, **look, **numbers)
    axes.set(xlabel="", ylabel="")
    axes.tick_params(length=0, pad=72 * MARK_ROOM)
    axes.spines["bottom"].set_visible(False)
    if HUMAN in panel.index:
        axes.axhline(len(panel) - 1, color="white", lw=4, gid="humans")
    for row, judge in enumerate(panel.index):
        for column, model in enumerate(panel.columns):
            box = (column + 0.03, row + 0.06), 0.94, 0.88
            if np.isnan(panel.iat[row, column]):
                axes.add_patch(Rectangle(*box, gid="missing", **MISSING))
            if judge == model:
                line = {
                    "edgecolor": palette.colour(model),
                    "linewidth": OUTLINE,
                    "joinstyle": "miter",
                    "zorder": 3,
                }
                axes.add_patch(Rectangle(*box, gid="own", fill=False, clip_on=False, **line))


def _name(axis: Axis, names: Sequence[str], palette: Palette, **settings) -> None:
    """Write the names beside an axis, a square in the colour of each one's family between."""
    places, axes, upright = (
        [place + 0.5 for place in range(len(names))],
        axis.axes,
        axis.axis_name == "y",
    )
    axis.set_ticks(places, names, **settings)
    shift = ScaledTranslation(*((-0.07, 0) if upright else (0, -0.07)), axes.figure.dpi_scale_trans)
    transform = (axes.get_yaxis_transform() if upright else axes.get_xaxis_transform()) + shift
    square = {
        "marker": "s",
        "markersize": 4.5,
        "markeredgewidth": 0,
        "clip_on": False,
        "gid": "family",
    }
    for place, name in zip(places, names, strict=True):
        if palette.family(name):
            spot = ([0], [place]) if upright else ([place], [0])
            put(axes, *spot, color=palette.colour(name), transform=transform, **square)


@language()
def correlations_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Correlation of each judge's ratings with the humans', a panel for each dimension (Play
    Favorites, Figure 5).

    `table`: dimension (missing for the pooled data, which are drawn only if there is nothing else),
    judge, statistic (spearman, pearson, gamma), value, ci_low, ci_high. Spearman's coefficient is a
    point with its interval, the two others are small grey marks lower in the same row. Without
    human scores there is no row, and the page says so.
    """
    if table.empty:
        return page_of_words(subject, NONE)
    palette = subject.palette
    dimensions = sorted(set(table["dimension"].dropna())) or [POOLED]
    table = table.assign(dimension=table["dimension"].fillna(POOLED))
    table = table[table["dimension"].isin(dimensions)]
    judges = palette.order(table["judge"])
    others = [Entry(name, line=mark) for name, mark in OTHERS.values()]
    legend = [family_entries(palette, judges), [*interval_entries(), *others]]
    head = Head(
        _agreement(table), f"Spearman's correlation; {interval_text(confidence, 'jackknife')}"
    )
    words = room_for_words(table[table["statistic"] == "spearman"], column="value")
    sizes = {"row": 0.19, "below": 0.4, "above": 0.26, "gutter": GUTTER, "right": 0.06}
    least = max(widest(dimensions, TEXT, "bold"), words)
    page, panels = page_of_rows(
        subject, head, judges, dimensions, legend, most=3, least=least, **sizes
    )
    ends = table[["value", "ci_low", "ci_high"]].to_numpy(float)
    low, high = np.nanmin([0.0, *ends.ravel()]), np.nanmax([0.0, *ends.ravel()])
    limits, breaks = (max(low - 0.04, -1.0), min(high + 0.04, 1.0)), family_breaks(judges, palette)
    for dimension, axes in zip(dimensions, panels.axes, strict=False):
        frame_rows(axes, limits=limits, rows=len(judges), breaks=breaks)
        _draw_coefficients(axes, table[table["dimension"] == dimension], judges, subject)
    page.centred(panels.middle, 0.04, "correlation with the human scores")
    return page.figure


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


def _draw_coefficients(
    axes: Axes, table: pd.DataFrame, judges: Sequence[str], subject: Subject
) -> None:
    write_absent(axes, judges, table["judge"], "no ratings")
    for _, row in table.iterrows():
        place = judges.index(row["judge"])
        if row["statistic"] == "spearman":
            draw_interval(
                axes, place - LOWER / 2, row, subject.palette.colour(row["judge"]), column="value"
            )
        elif row["statistic"] in OTHERS and not np.isnan(row["value"]):
            put(axes, [row["value"]], [place + LOWER], zorder=3, **OTHERS[row["statistic"]][1])


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
    judges = subject.palette.order(table["judge"])
    if not judges:
        return page_of_words(subject, NO_CURVES)
    panels = [
        (part, judge) for part in sorted(set(table["slice"].dropna())) or [""] for judge in judges
    ]
    ends = table.sort_values("reference").groupby(["slice", "judge"], dropna=False)["value"]
    rises = ends.last() - ends.first()
    span = " to ".join(dict.fromkeys(f"{rise:.2f}" for rise in (rises.min(), rises.max()))).replace(
        "-", "−"
    )
    head = Head(
        f"From the lowest to the highest human score, expected ratings rise by {span}", UNIT
    )
    drawn = [
        Entry(
            "expected rating of another family's completion", line={"color": INK, "lw": CURVE["lw"]}
        ),
        Entry(
            interval_text(confidence, covariance),
            [{"color": INK, "alpha": BAND["alpha"], "lw": 0}] * 2,
        ),
        Entry("rating = human score", line=DASHED),
    ]
    page, places = page_of_panels(
        subject,
        head,
        [": ".join(filter(None, panel)) for panel in panels],
        [family_entries(subject.palette, judges), drawn],
        most=5,
        height=TALL,
        numbers=0.28,
        across="human score",
        up="expected rating",
        note="" if (table["ci_low"] < table["ci_high"]).all() else NO_BAND,
    )
    for (part, judge), place in zip(panels, places, strict=False):
        unit_square(place.axes, LIMITS, first=place.first, lowest=place.lowest)
        place.axes.plot([0, 1], [0, 1], zorder=2, **DASHED)
        curve = table[(table["slice"].fillna("") == part) & (table["judge"] == judge)]
        _draw_curve(place.axes, curve, subject.palette.colour(judge))
    return page.figure


def _draw_curve(axes: Axes, curve: pd.DataFrame, colour: str) -> None:
    """One judge's curve with its band; a point and a bar where the judge has one human score
    only.
    """
    if curve.empty:
        write_instead(axes, 0.5, "no curve")
        return
    reference, value, low, high = (
        curve[column].to_numpy() for column in ("reference", "value", "ci_low", "ci_high")
    )
    if len(curve) == 1:
        axes.plot([reference[0]] * 2, [low[0], high[0]], color=colour, gid="band", **CURVE)
        axes.plot(reference, value, color=colour, marker="o", markersize=3.1, zorder=5, gid="curve")
        return
    axes.fill_between(reference, low, high, color=colour, gid="band", **BAND)
    axes.plot(reference, value, color=colour, gid="curve", **CURVE)
