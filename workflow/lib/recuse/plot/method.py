"""The method on three simulated worlds: Figure 1 of Play Favorites."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import signed
from recuse.plot.axes import unit_square
from recuse.plot.colours import INK, WINE
from recuse.plot.page import Entry, Section, head, page_of_panels
from recuse.plot.style import Subject, language
from recuse.simulate.ratings import SELF_BIAS, SLOPE, SimulatedPanel, simulate_worlds

OWN = {"color": WINE, "marker": "o", "markersize": 2.6, "markeredgewidth": 0.0}
OTHER = {
    "color": "#6F7F8F",
    "marker": "D",
    "markersize": 2.2,
    "markeredgewidth": 0.6,
    "markerfacecolor": "white",
}
KEY = [
    Entry("the judge's own completions", "●", OWN["color"]),
    Entry("another model's completions", "◇", OTHER["color"]),
]
LINES = {"lw": 1.4, "zorder": 4}
MEAN = {"lw": 0.9, "linestyle": (0, (2, 1.2))}
LIMITS = (-0.04, 1.34)  # of both axes, with room for the densities
PANEL = 1.9  # inches
MARGIN = 0.3  # inches
DENSITY = 0.16  # of an axis: the height of a density
AT = 0.07  # reference score at which the offset is drawn
SAYS = (
    f"simulated for this figure, with slope β = {SLOPE:g} and self-bias γ = {SELF_BIAS:g}, whatever"
    " the study; shown with: {}"
)


def method(subject: Subject, *, seed: int) -> Figure:
    """The method on three worlds simulated for this figure, whatever the study."""
    return draw_worlds(simulate_worlds(seed=seed), subject)


@language()
def draw_worlds(worlds: Sequence[SimulatedPanel], subject: Subject) -> Figure:
    """The judge's rating against the reference score in each world, its own and another model's
    completions.

    Lines are the fit of rating = beta * reference + gamma * own, offset by the estimated self-bias;
    at the edges the densities of reference scores (top) and ratings (right) with their means (Play
    Favorites, Figure 1). Above a panel: the estimated self-bias, and the difference of the mean
    ratings, which mixes it with quality. The foot marks the data as simulated, whatever
    the study of `subject`.
    """
    shown = replace(subject, kind="simulated", label=SAYS.format(subject.label))
    estimates = [world.self_bias for world in worlds]
    differences = [world.gap for world in worlds]
    under = [
        f"self-bias {signed(world.self_bias)}, means differ by {signed(world.gap)}"
        for world in worlds
    ]
    figure, (panels,) = page_of_panels(
        shown,
        head("method", planted=SELF_BIAS, estimates=estimates, differences=differences),
        [Section([world.title for world in worlds], PANEL, under=under)],
        left=0.28,
        right=MARGIN,
        across="reference score",
        up="judge's rating",
        key=KEY,
    )
    for world, panel in zip(worlds, panels, strict=True):
        axes = panel.axes
        _scatter(axes, world)
        for place, values in (("top", world.reference), ("right", world.rating)):
            _densities(axes, values, upright=place == "right")
    return figure


def _scatter(axes: Axes, world: SimulatedPanel) -> None:
    unit_square(axes, LIMITS)
    ends = np.array([0.0, 1.0])
    for mark, offset, reference, rating in zip(
        (OWN, OTHER), (world.self_bias, 0.0), world.reference, world.rating, strict=True
    ):
        points = {"linestyle": "none", "alpha": 0.6, "zorder": 3, "gid": "completions"}
        axes.plot(reference, rating, **points, **mark)
        axes.plot(ends, offset + world.slope * ends, color=mark["color"], gid="line", **LINES)
    low = world.slope * AT
    arrow = {"arrowstyle": "<->", "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    arrow |= {"mutation_scale": 6, "color": INK}
    axes.annotate("", (AT, low), (AT, low + world.self_bias), arrowprops=arrow, zorder=5)
    left = {"textcoords": "offset points", "ha": "right", "va": "center", "zorder": 5}
    axes.annotate("γ", (AT, low + world.self_bias / 2), (-3, 0), **left)


def _densities(axes: Axes, values: np.ndarray, *, upright: bool) -> None:
    """Density and mean of each row of `values`, at the panel's right edge if `upright`, else at its
    top.
    """
    from scipy.stats import gaussian_kde

    places = np.linspace(*LIMITS, 241)
    curves = [gaussian_kde(sample)(places) for sample in values]
    scale = DENSITY * (LIMITS[1] - LIMITS[0]) / max(curve.max() for curve in curves)
    fill = axes.fill_betweenx if upright else axes.fill_between
    line = axes.axhline if upright else axes.axvline
    for mark, sample, curve in zip((OWN, OTHER), values, curves, strict=True):
        ends = LIMITS[1], LIMITS[1] - scale * curve
        fill(places, *ends, color=mark["color"], alpha=0.25, lw=0, gid="density")
        span = (1 - DENSITY, 1)
        line(sample.mean(), *span, color=mark["color"], gid="mean", zorder=4, **MEAN)
