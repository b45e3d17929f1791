"""Tables as shaded cells: rows named on the left, columns below."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.transforms import ScaledTranslation

from recuse.plot.axes import put
from recuse.plot.colours import INK
from recuse.plot.page import Entry, Head, Section, page_of_panels
from recuse.plot.style import LINE, SMALL, Subject, widest

CELL, LEAST_CELL = 0.21, 0.115  # inches: the height of a cell
NARROWEST = 0.27  # inches that a number takes
MARK_ROOM = 0.13  # inches for the square in the family's colour and the space around it
# Grey, so that colour means family; the dark end keeps a contrast above 5 to the numbers.
RAMP = LinearSegmentedColormap.from_list("shades", ["#F5F5F5", "#9A9A9A"])
MISSING = {"hatch": "///////", "edgecolor": "#A0A0A0", "facecolor": "white", "linewidth": 0}


class ShadedCells(NamedTuple):
    """Shades from 0 to 1, (rows, columns), missing where a cell is hatched; and what is written in
    it, in Python's form of numbers.
    """

    shades: pd.DataFrame
    texts: pd.DataFrame | None = None
    form: str = ".2f"


def cells_figure(
    panels: Mapping[str, ShadedCells],
    subject: Subject,
    head: Head,
    *,
    ramp: Colormap = RAMP,
    cell: tuple[float, float, float] = (NARROWEST, CELL, LEAST_CELL),
    slanted: bool = True,
    hatched: str = "no ratings",
    squares: Mapping[str, str] | None = None,
    apart: int = 0,
    across: str = "",
    up: str = "",
    key: Sequence[Entry] = (),
    note: str = "",
) -> list[Axes]:
    """Draw panels with the same rows and columns.

    cell: inches of a cell's least width, its height, and how low it may become; slanted: whether
    the names of columns are; hatched: why a cell has no shade; squares: colours of those beside the
    names; apart: how many of the last rows stand apart.
    """
    # Here, as importing it takes longer than drawing the other figures of a study
    import seaborn

    first = next(iter(panels.values())).shades
    rows, columns, room = [*first.index], [*first.columns], MARK_ROOM * bool(squares)
    narrowest, height, lowest = cell
    lines, count = max(name.count("\n") for name in columns) + 1, len(rows)
    below = room + 0.75 * widest(columns) + LINE if slanted else 0.1 + lines * LINE
    section = Section([*panels], count * height, least=count * lowest, most=2, below=below)
    if any(each.shades.isna().any(axis=None) for each in panels.values()):
        head = head._replace(unit=f"{head.unit}; hatched: {hatched}")
    _, (places,) = page_of_panels(
        subject,
        head,
        [section],
        left=widest(rows) + room + 0.05,
        least=narrowest * len(columns),
        across=across,
        up=up,
        key=key,
        note=note,
    )
    look = {"cmap": ramp, "vmin": 0, "vmax": 1, "cbar": False, "linewidths": 0.8}
    look |= {"xticklabels": False, "yticklabels": False}  # seaborn would draw them to measure them
    look["annot_kws"] = {"size": SMALL, "color": INK, "va": "center_baseline"}
    for each, place in zip(panels.values(), places, strict=False):
        axes = place.axes
        seaborn.heatmap(each.shades, annot=each.texts, fmt=each.form, ax=axes, **look)
        axes.patch.set(**MISSING)
        axes.set(xlabel="", ylabel="")
        axes.spines["bottom"].set_visible(False)
        if apart:
            axes.axhline(count - apart, color="white", lw=4, gid="apart")
        axes.tick_params(length=0, pad=3.5 + 72 * room)
        turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
        if place.first:
            _write_names(axes.yaxis, rows, squares or {})
        if place.lowest:
            _write_names(axes.xaxis, columns, squares or {}, **turned)
    return [place.axes for place in places]


def _write_names(
    axis: Axis, names: Sequence[str], colours: Mapping[str, str], **look: object
) -> None:
    """Write names beside an axis, with a square before each that has a colour."""
    axes, upright = axis.axes, axis.axis_name == "y"
    shift = ScaledTranslation(*((-0.07, 0) if upright else (0, -0.07)), axes.figure.dpi_scale_trans)
    transform = (axes.get_yaxis_transform() if upright else axes.get_xaxis_transform()) + shift
    square = {"marker": "s", "markersize": 4.5, "markeredgewidth": 0, "clip_on": False}
    places = [number + 0.5 for number in range(len(names))]
    axis.set_ticks(places, names, **look)
    for place, name in zip(places, names, strict=True):
        if name in colours:
            spot = ([0], [place]) if upright else ([place], [0])
            put(axes, *spot, color=colours[name], transform=transform, gid="family", **square)
