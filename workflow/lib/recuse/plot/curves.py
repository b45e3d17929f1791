"""Tables as curves: points joined by lines in panels, with intervals as bars or bands."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.plot.axes import put
from recuse.plot.colours import BLUE
from recuse.plot.page import Entry, Head, Section, page_of_panels
from recuse.plot.rows import write_instead
from recuse.plot.style import Subject

BAND = {"alpha": 0.25, "lw": 0, "zorder": 2.5}
NO_CURVE = "no curve"
OPTIONAL = ["low", "high", "hollow"]


class CurvePanel(NamedTuple):
    """A panel: its key in the table of points, the lines over it, and its colour."""

    key: object
    title: str = ""
    under: str = ""
    colour: str = BLUE


class Series(NamedTuple):
    """How the points of a series look: their colour, by default the panel's, the line that joins
    them, if any, their marks and the name of these, and the bars of intervals, None for a band.
    """

    colour: str = ""
    line: Mapping | None = None
    mark: Mapping | None = None
    gid: str = "point"
    bar: Mapping | None = {"lw": 1.1}


def curves_figure(
    points: pd.DataFrame,
    subject: Subject,
    head: Head,
    panels: Sequence[CurvePanel],
    series: Mapping[object, Series],
    frame: Callable[[Axes, CurvePanel], None],
    *,
    height: float = 1.1,
    most: int = 4,
    left: float = 0.42,
    each: bool = False,
    across: str = "",
    up: str = "",
    key: Sequence[Entry] = (),
    note: str = "",
) -> Figure:
    """Draw a table of points: panel, series, x, y; if any, `low` and `high` of intervals, and
    whether a point is `hollow`.

    A line is broken at a missing y. frame: sets limits and ticks of a panel. height: inches of a
    panel. The others are as in `page_of_panels`.
    """
    points = points.reindex(columns=points.columns.union(OPTIONAL, sort=False))
    under = [panel.under for panel in panels]
    titles = [panel.title for panel in panels]
    section = Section(titles, height, under=under if any(under) else [], most=most)
    texts = {"across": across, "up": up, "key": key, "note": note}
    figure, (places,) = page_of_panels(subject, head, [section], left=left, each=each, **texts)
    for panel, place in zip(panels, places, strict=False):
        frame(place.axes, panel)
        own = points[points["panel"] == panel.key]
        if own.empty:
            write_instead(place.axes, 0.5, NO_CURVE)
        for name, look in series.items():
            _draw(place.axes, own[own["series"] == name], look, look.colour or panel.colour)
    return figure


def _draw(axes: Axes, points: pd.DataFrame, look: Series, colour: str) -> None:
    """A series of a panel; the band of a single point is a bar."""
    if points.empty:
        return
    ends = points[["x", "low", "high"]].to_numpy(float).T
    if look.bar is None and len(points) > 1:
        axes.fill_between(*ends, color=colour, gid="band", **BAND)
    else:
        axes.vlines(*ends, color=colour, zorder=3, gid="interval", **look.bar or {"lw": 1.4})
    if look.line:
        put(axes, points["x"], points["y"], color=colour, zorder=3.5, gid="curve", **look.line)
    for is_hollow, marked in points.groupby(points["hollow"].eq(True)):
        face = {"color": colour, "markerfacecolor": "white" if is_hollow else colour}
        marks = {**face, "linestyle": "none", "zorder": 4, "gid": look.gid, **(look.mark or {})}
        put(axes, marked["x"], marked["y"], **marks)
