"""Mean scores, judge by model, as heatmaps: Figures 2 and 6 of Play Favorites."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
import pandas as pd
import seaborn
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import ScaledTranslation

from recuse.base.errors import DataError
from recuse.data.registry import HUMAN
from recuse.plot.colours import INK, Palette
from recuse.plot.page import Entry, Page, corners, family_entries, grid
from recuse.plot.style import DOUBLE_COLUMN, EDGE, LINE, SINGLE_COLUMN, SMALL, TEXT, Subject, language, widest, wrap

matplotlib.use("agg")  # seaborn imports pyplot, which would look for a screen


POOLED_CELL = (0.6, 0.25)  # widest width, and height, of a cell in inches
SMALL_CELL = (0.42, 0.185)
NARROWEST = 0.25  # inches that a number takes
TITLE = 0.27  # inches for the title of a panel, and the space above it
GUTTER = 0.16  # inches between panels, across
INSET = 0.015  # inches
HUMAN_GAP = 0.06  # inches between the judges and the humans
MARK = 4.5  # points, side of the square in the family's colour
MARK_ROOM = 0.13  # inches for the square and the space around it
OUTLINE = 1.3  # points, around the cells of own completions
SLANT = 45  # degrees, for names wider than their column
# Grey, so that colour means family; the dark end keeps a contrast above 5 to the numbers.
RAMP = LinearSegmentedColormap.from_list("row", ["#F5F5F5", "#9A9A9A"])
MISSING = {"facecolor": "white", "edgecolor": "#A0A0A0", "hatch": "///////", "linewidth": 0}
NOTE = "Numbers: mean score on the unit scale 0–1. Shades compare the cells of one row only."


@dataclass(frozen=True)
class Cells:
    """What all the panels of a page share: judges down (the humans last), models across, size of a cell in inches."""

    palette: Palette
    judges: list[str]
    models: list[str]
    width: float
    height: float

    @property
    def raters(self) -> list[list[str]]:
        """The judges, and the humans apart from them if they have rated."""
        groups = (
            [name for name in self.judges if name != HUMAN],
            [name for name in self.judges if name == HUMAN],
        )
        return [group for group in groups if group]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of one panel without its names, in inches."""
        gaps = HUMAN_GAP * (len(self.raters) - 1)
        return len(self.models) * self.width, len(self.judges) * self.height + gaps

    @property
    def names(self) -> list[str]:
        """Names of the models, wrapped into their columns where all go in without breaking a word."""
        room = self.width - 0.04
        if widest(word for model in self.models for word in model.split()) > room:
            return self.models
        wrapped = [wrap(model, room) for model in self.models]
        lines = max(name.count("\n") for name in wrapped)
        return [name + "\n" * (lines - name.count("\n")) for name in wrapped]  # the first lines then stand level

    @property
    def slanted(self) -> bool:
        """True if the names stand aslant, for want of room."""
        return widest(self.names) > self.width

    @property
    def below(self) -> float:
        """Inches under a panel for the marks and names of the models."""
        lines = 1 + self.names[0].count("\n")
        return MARK_ROOM + (widest(self.names) * math.sin(math.radians(SLANT)) if self.slanted else lines * 0.11)


@language()
def mean_scores(table: pd.DataFrame, subject: Subject) -> Figure:
    """Mean score that each judge, and the humans, give each model over all dimensions (Play Favorites, Figure 2).

    `table`: dimension (missing for the pooled data, which alone are drawn), judge, model, mean on the unit scale. A
    missing mean is a hatched cell. Raises DataError if no row is pooled.
    """
    pooled = table[table["dimension"].isna()].assign(dimension="")
    return _page(pooled, subject, cell=POOLED_CELL, title=0.06)


@language()
def mean_scores_by_dimension(table: pd.DataFrame, subject: Subject) -> Figure:
    """Mean score that each judge, and the humans, give each model, by dimension (Play Favorites, Figure 6).

    `table` as for `mean_scores`; its pooled rows are left out. Raises DataError if no row names a dimension.
    """
    return _page(table.dropna(subset=["dimension"]), subject, cell=SMALL_CELL, title=TITLE)


def _page(table: pd.DataFrame, subject: Subject, *, cell: tuple[float, float], title: float) -> Figure:
    if table.empty:
        raise DataError("mean scores: no row to draw; pooled rows have no dimension, rows by dimension name one")
    panels = {name: part.pivot(index="judge", columns="model", values="mean") for name, part in table.groupby("dimension")}
    judges, models = subject.palette.order(table["judge"]), subject.palette.order(table["model"])
    panels = {name: panel.reindex(index=judges, columns=models) for name, panel in panels.items()}
    rows, columns = grid(len(panels), 2)
    left = EDGE + LINE + widest(judges) + MARK_ROOM + 0.05
    room = (DOUBLE_COLUMN - EDGE - left - (columns - 1) * GUTTER) / columns
    cells = Cells(subject.palette, judges, models, max(NARROWEST, min(cell[0], room / len(models))), cell[1])
    below, step = cells.below + LINE + 0.08, (max(cells.size[0], widest(panels, TEXT, "bold")) + GUTTER, cells.size[1] + title)
    width = max(SINGLE_COLUMN, left + columns * step[0] - GUTTER + EDGE)
    legend = _legend(cells, hatched=any(panel.isna().any(axis=None) for panel in panels.values()))
    page = Page(subject=subject, width=width, body=below + rows * step[1], legend=[legend], note=NOTE)
    places = corners(len(panels), columns, step=step)
    for number, ((name, panel), (x, y)) in enumerate(zip(panels.items(), places, strict=True)):
        axes = draw_panel(page, (left + x, below + y), panel, cells)
        axes[0].set_title(name)
        if number % columns == 0:
            name_rows(axes, cells)
            page.text(EDGE, below + y + cells.size[1] / 2, "judge", rotation=90, va="center")
        if number + columns >= len(panels):
            name_columns(axes[-1], cells)
    page.centred(left + (columns * step[0] - GUTTER) / 2, 0.02, "model that wrote the completions")
    return page.figure


def _legend(cells: Cells, *, hatched: bool) -> list[Entry]:
    shades = [{"color": RAMP(share), "lw": 0} for share in np.linspace(0, 1, 6)]
    entries = [
        *family_entries(cells.palette, [*cells.models, *cells.judges], others=""),
        Entry("own completions", [{"facecolor": "white", "edgecolor": INK, "linewidth": OUTLINE}]),
        Entry("lowest to highest mean of the row", shades),
    ]
    return [*entries, Entry("no ratings", [MISSING])] if hatched else entries


def draw_panel(page: Page, corner: tuple[float, float], panel: pd.DataFrame, cells: Cells) -> list[Axes]:
    """Heatmap of `panel` (judge by model), the humans' row set apart below; axes from the top down.

    Shade of a cell: (mean - lowest of the row) / (highest - lowest), 0.5 where a row is constant.
    """
    x, top = corner[0], corner[1] + cells.size[1]
    drawn = []
    for raters in cells.raters:
        height = len(raters) * cells.height
        axes = page.axes(x, top - height, cells.size[0], height)
        _heatmap(axes, panel.loc[raters], cells)
        drawn.append(axes)
        top -= height + HUMAN_GAP
    return drawn


def shades(block: pd.DataFrame) -> pd.DataFrame:
    """Each row of `block` on its own scale from 0 (its lowest mean) to 1 (its highest); 0.5 if all are equal."""
    low, spread = block.min(axis=1), block.max(axis=1) - block.min(axis=1)
    scaled = block.sub(low, axis=0).div(spread.where(spread > 0), axis=0)
    return scaled.where(scaled.notna() | block.isna(), 0.5)


def _heatmap(axes: Axes, block: pd.DataFrame, cells: Cells) -> None:
    numbers = {
        "annot": block.to_numpy(),
        "fmt": ".2f",
        "annot_kws": {"size": SMALL, "color": INK, "va": "center_baseline"},
    }
    plain = {
        "cbar": False,
        "xticklabels": False,
        "yticklabels": False,
        "linewidths": 0.8,
        "linecolor": "white",
    }
    seaborn.heatmap(shades(block), mask=block.isna(), vmin=0, vmax=1, cmap=RAMP, ax=axes, **numbers, **plain)
    axes.set(xlabel="", ylabel="")
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)
    for row, judge in enumerate(block.index):
        for column, model in enumerate(block.columns):
            if np.isnan(block.iat[row, column]):
                axes.add_patch(_box(column, row, cells, gid="missing", **MISSING))
            if judge == model:
                line = {"edgecolor": cells.palette.colour(model), "linewidth": OUTLINE, "joinstyle": "miter"}
                axes.add_patch(_box(column, row, cells, gid="own", fill=False, **line))


def _box(column: int, row: int, cells: Cells, **settings) -> Rectangle:
    """Rectangle a little smaller than a cell, so that its line lies within."""
    across, down = INSET / cells.width, INSET / cells.height
    return Rectangle((column + across, row + down), 1 - 2 * across, 1 - 2 * down, **settings)


def name_rows(axes: Sequence[Axes], cells: Cells) -> None:
    """Write the raters' names left of their rows, a square in the family's colour between."""
    for panel, raters in zip(axes, cells.raters, strict=True):
        places = [row + 0.5 for row in range(len(raters))]
        panel.set_yticks(places, raters, rotation=0)
        panel.tick_params(axis="y", pad=72 * MARK_ROOM)
        beside = panel.get_yaxis_transform() + ScaledTranslation(-0.07, 0, panel.figure.dpi_scale_trans)
        for place, rater in zip(places, raters, strict=True):
            if cells.palette.family(rater):
                _mark(panel, 0, place, beside, cells.palette.colour(rater))


def name_columns(axes: Axes, cells: Cells) -> None:
    """Write the models' names under their columns, a square in the family's colour between."""
    places = [column + 0.5 for column in range(len(cells.models))]
    aslant = {"rotation": SLANT, "ha": "right", "rotation_mode": "anchor"} if cells.slanted else {"va": "top"}
    axes.set_xticks(places, cells.names, **aslant)
    axes.tick_params(axis="x", pad=72 * MARK_ROOM)
    beneath = axes.get_xaxis_transform() + ScaledTranslation(0, -0.07, axes.figure.dpi_scale_trans)
    for place, model in zip(places, cells.models, strict=True):
        _mark(axes, place, 0, beneath, cells.palette.colour(model))


def _mark(axes, x, y, transform, colour):
    settings = {"marker": "s", "markersize": MARK, "markeredgewidth": 0, "clip_on": False, "gid": "family"}
    axes.plot([x], [y], color=colour, transform=transform, **settings)
