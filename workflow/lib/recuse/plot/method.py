"""The method on three simulated worlds: Figure 1 of Play Favorites."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import signed
from recuse.plot.axes import unit_square
from recuse.plot.colours import INK, WINE
from recuse.plot.page import Entry, Head, Page
from recuse.plot.style import DOUBLE_COLUMN, EDGE, LINE, TEXT, UNIT, UPRIGHT, Subject, language
from recuse.simulate.ratings import SELF_BIAS, SLOPE, SimulatedPanel, simulate_worlds

OWN = {"color": WINE, "marker": "o", "markersize": 2.6, "markeredgewidth": 0.0}
OTHER = {
    "color": "#6F7F8F",
    "marker": "D",
    "markersize": 2.2,
    "markeredgewidth": 0.6,
    "markerfacecolor": "white",
}
NAMES = ("the judge's own completions", "another model's completions")
LINES = {"lw": 1.4, "zorder": 4}
MEAN = {"lw": 0.9, "linestyle": (0, (2, 1.2))}
LIMITS = (-0.04, 1.16)  # of both axes
LEFT = 0.5  # inches for ticks and axis text
BELOW = 0.4
MARGIN = 0.34  # inches for a density
CLOSE = 0.04  # inches between a panel and its densities
GUTTER = 0.2  # inches from one panel's densities to the next panel
ABOVE = 0.3 + 2 * LINE  # inches for title and numbers
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
    on the margins the densities of reference scores (top) and ratings (right) with their means
    (Play Favorites, Figure 1). Numbers above a panel: the estimated self-bias, and the difference
    of the mean ratings, which mixes it with quality. The foot marks the data as simulated, whatever
    the study of `subject`.
    """
    panel = (DOUBLE_COLUMN - 2 * EDGE - LEFT - 2 * GUTTER) / 3 - MARGIN - CLOSE
    legend = [
        [
            Entry(name, line={**mark, "lw": LINES["lw"]})
            for name, mark in zip(NAMES, (OWN, OTHER), strict=True)
        ]
        + [Entry("mean", line={"color": INK, **MEAN})]
    ]
    shown = replace(subject, kind="simulated", label=SAYS.format(subject.label))
    estimates, gaps = (
        " to ".join(f"{end(values):.2f}" for end in (min, max))
        for values in ([world.self_bias for world in worlds], [world.gap for world in worlds])
    )
    finding = (
        f"Where {SELF_BIAS:g} is planted, Equation 1 estimates {estimates}; mean ratings differ by"
        f" {gaps}"
    )
    head = Head(finding.replace("-", "−"), UNIT)
    page = Page(
        subject=shown,
        head=head,
        width=DOUBLE_COLUMN,
        body=BELOW + panel + CLOSE + MARGIN + ABOVE,
        legend=legend,
    )
    for number, world in enumerate(worlds):
        x = EDGE + LEFT + number * (panel + CLOSE + MARGIN + GUTTER)
        axes = page.axes(x, BELOW, panel, panel)
        _scatter(axes, world, first=number == 0)
        top = page.axes(x, BELOW + panel + CLOSE, panel, MARGIN)
        right = page.axes(x + panel + CLOSE, BELOW, MARGIN, panel)
        _densities(top, world.reference, upright=False)
        _densities(right, world.rating, upright=True)
        y = BELOW + panel + CLOSE + MARGIN + 0.08
        page.text(x, y + 2.2 * LINE, world.title, weight="bold", va="baseline", size=TEXT)
        page.text(x, y + LINE, f"self-bias by the method {signed(world.self_bias)}", va="baseline")
        page.text(x, y, f"difference of mean ratings {signed(world.gap)}", va="baseline")
        page.centred(x + panel / 2, 0.05, "reference score")
    page.text(EDGE + LINE / 2, BELOW + panel / 2, "judge's rating", **UPRIGHT)
    return page.figure


def _scatter(axes: Axes, world: SimulatedPanel, *, first: bool) -> None:
    unit_square(axes, LIMITS, first=first)
    ends = np.array([0.0, 1.0])
    for mark, offset, reference, rating in zip(
        (OWN, OTHER), (world.self_bias, 0.0), world.reference, world.rating, strict=True
    ):
        axes.plot(
            reference, rating, linestyle="none", alpha=0.6, zorder=3, gid="completions", **mark
        )
        axes.plot(ends, offset + world.slope * ends, color=mark["color"], gid="line", **LINES)
    low = world.slope * AT
    arrow = {
        "arrowstyle": "<->",
        "lw": 0.9,
        "shrinkA": 0,
        "shrinkB": 0,
        "mutation_scale": 6,
        "color": INK,
    }
    axes.annotate("", (AT, low), (AT, low + world.self_bias), arrowprops=arrow, zorder=5)
    axes.annotate(
        "γ",
        (AT, low + world.self_bias / 2),
        (-3, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        zorder=5,
    )


def _densities(axes: Axes, values: np.ndarray, *, upright: bool) -> None:
    """Density and mean of each row of `values`, along the panel's vertical axis if `upright`."""
    places = np.linspace(*LIMITS, 241)
    fill, line = (
        (axes.fill_betweenx, axes.axhline) if upright else (axes.fill_between, axes.axvline)
    )
    for mark, sample in zip((OWN, OTHER), values, strict=True):
        fill(
            places, 0, density(sample, places), color=mark["color"], alpha=0.25, lw=0, gid="density"
        )
        line(sample.mean(), color=mark["color"], gid="mean", zorder=4, **MEAN)
    axes.set(
        **({"ylim": LIMITS, "xlim": (0, None)} if upright else {"xlim": LIMITS, "ylim": (0, None)})
    )
    axes.set_axis_off()


def density(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Gaussian kernel estimate of the density of `values` at `places`, (places,), with Scott's
    bandwidth sd * n^(-1/5).
    """
    bandwidth = values.std(ddof=1) * len(values) ** -0.2
    distance = (places[:, None] - values) / bandwidth
    return np.exp(-(distance**2) / 2).mean(axis=1) / (bandwidth * np.sqrt(2 * np.pi))
