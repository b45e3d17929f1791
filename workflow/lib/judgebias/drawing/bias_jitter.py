"""Share of biased comparisons by bias, one point for each judge: the first figure of CoBBLEr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebias.drawing.bias_words import (
    HUMANS,
    MARKS,
    NAMES,
    NOTHING,
    RANDOM,
    biases_of,
    drawable,
    origins,
    random_entry,
)
from judgebias.drawing.page import Entry, Page, page_of_words
from judgebias.drawing.style import DOUBLE_COLUMN, EDGE, FAINT, RULE, SMALL, Subject, language, text_width, widest
from judgebias.ratings.registry import HUMAN

if TYPE_CHECKING:
    import pandas as pd

BAND = 0.3  # inches in which the points of a bias are scattered
LANE = 0.13  # inches of a line of names above them
RIGHT = 0.14
BELOW = 0.42  # inches for ticks and axis text
FENCE = 1.5  # interquartile ranges beyond the quartiles: what is farther out is an outlier (Tukey)
FEW = 4  # so few judges have no quartiles worth the name: all are named
LIMITS = (-0.02, 1.02)
POINT = {"markersize": 3.6, "markeredgecolor": "white", "markeredgewidth": 0.4}
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # behind a name, so that no line crosses it
NAMED = (
    "Named: the most biased judge, and outliers (more than 1.5 interquartile ranges beyond the quartiles); where a bias has "
    "four judges or fewer, all."
)
SCATTER = "Height within a row is random, so that points do not hide one another."
INTERVALS = "The judges' intervals are in the table cognitive_biases."


@language()
def bias_jitter(table: pd.DataFrame, random: pd.DataFrame, subject: Subject, *, interval: str, seed: int) -> Figure:
    """Share of biased comparisons, a row for each bias, a point for each judge, with the RANDOM threshold.

    `table`: experiment, judge, bias, origin, share, random; of the humans also ci_low and ci_high, which `interval` names.
    `random`: closed_form and simulated thresholds. Points are scattered at random; the same `seed` scatters them alike.
    """
    table, words = drawable(table)
    biases = biases_of(table)
    if not biases:
        return page_of_words(subject, NOTHING + words)
    judges = table[table["judge"] != HUMAN]
    label = widest(NAMES[bias] for bias in biases) + 0.1
    panel = DOUBLE_COLUMN - 2 * EDGE - label - RIGHT
    inch = (LIMITS[1] - LIMITS[0]) / panel
    rows = [_place_names(_named(judges[judges["bias"] == bias]), inch) for bias in biases]
    heights = [BAND + LANE * (1 + max((lane for *_, lane in names), default=-1)) + 0.06 for names in rows]
    count = f"{judges['judge'].nunique()} judges."
    told = [INTERVALS] * bool((judges["origin"] == "computed").any())
    note = " ".join([count, NAMED, SCATTER, *told, _simulated(random)]) + words
    page = Page(subject=subject, width=DOUBLE_COLUMN, body=BELOW + sum(heights), legend=_legend(table, interval), note=note)
    axes = page.axes(EDGE + label, BELOW, panel, sum(heights))
    floors = sum(heights) - np.cumsum(heights)
    _frame(axes, sum(heights), biases, floors)
    generator = np.random.default_rng(seed)
    for bias, floor, height, names in zip(biases, floors, heights, rows, strict=True):
        own = table[table["bias"] == bias]
        axes.plot([own["random"].iloc[0]] * 2, [floor, floor + height], zorder=2, gid="random", **RANDOM)
        _draw_judges(axes, own[own["judge"] != HUMAN], floor, names, generator)
        _draw_humans(axes, own[own["judge"] == HUMAN], floor)
    page.centred(
        EDGE + label + panel / 2,
        0.06,
        "share of comparisons in which the judge is biased; of salience, where it picks the longer",
    )
    return page.figure


def _legend(table: pd.DataFrame, interval: str) -> list[list[Entry]]:
    judges = [
        Entry(f"judge, {text}", line={"linestyle": "none", **MARKS[origin], **POINT}) for origin, text in origins(table).items()
    ]
    humans = Entry(f"humans, mean of the released shares, {interval}", line={"lw": 1.2, **HUMANS, **POINT})
    return [judges, [humans] * bool((table["judge"] == HUMAN).any()) + [random_entry()]]


def _simulated(random: pd.DataFrame) -> str:
    """How near the simulated thresholds come to those in closed form."""
    apart = (random["simulated"] - random["closed_form"]).abs().max()
    count, error = int(random["replicates"].min()), random["std_error"].max()
    return f"RANDOM simulated, {count:,} comparisons a bias: within {apart:.4f} of the line (standard error up to {error:.4f})."


def _frame(axes: Axes, height: float, biases: Sequence[str], floors: Sequence[float]) -> None:
    axes.set(xlim=LIMITS, ylim=(0, height))
    axes.set_xticks(np.arange(0, 1.01, 0.25), ["0", "0.25", "0.5", "0.75", "1"])
    axes.grid(axis="x")
    axes.set_yticks([floor + BAND / 2 for floor in floors], [NAMES[bias] for bias in biases])
    axes.tick_params(axis="y", length=0)
    for floor in floors[:-1]:
        axes.axhline(floor, color=RULE, lw=0.6, zorder=1)


def _named(rows: pd.DataFrame) -> list[tuple[float, str]]:
    """Share and name of the judges of one bias that are named, from the left."""
    shares = rows["share"].to_numpy(float)
    low, high = np.quantile(shares, [0.25, 0.75]) if len(shares) else (0.0, 0.0)
    reach = FENCE * (high - low)
    most = (shares > 0) & (shares == shares.max(initial=0.0))
    outside = (shares < low - reach) | (shares > high + reach) | most | (len(shares) <= FEW)
    return sorted(zip(shares[outside].tolist(), rows["judge"].to_numpy()[outside].tolist(), strict=True))


def _place_names(named: Sequence[tuple[float, str]], inch: float) -> list[tuple[float, str, float, int]]:
    """Share, name, middle of the name, and the lowest lane where it meets none to its left; `inch` in units of the axis."""
    ends: list[float] = []  # of the last name in each lane
    placed = []
    for share, name in named:
        half = (text_width(name) / 2 + 0.04) * inch
        middle = min(max(share, LIMITS[0] + half), LIMITS[1] - half)
        lane = next((number for number, end in enumerate(ends) if end <= middle - half), len(ends))
        ends[lane : lane + 1] = [middle + half]
        placed.append((share, name, middle, lane))
    return placed


def _draw_judges(
    axes: Axes,
    rows: pd.DataFrame,
    floor: float,
    names: Sequence[tuple[float, str, float, int]],
    generator: np.random.Generator,
) -> None:
    height = floor + BAND * generator.uniform(0.15, 0.85, len(rows))
    for (_, row), y in zip(rows.iterrows(), height, strict=True):
        axes.plot([row["share"]], [y], linestyle="none", zorder=4, gid="judge", **MARKS[row["origin"]], **POINT)
    at = dict(zip(rows["judge"], height, strict=True))
    for share, name, middle, lane in names:
        base = floor + BAND + LANE * (lane + 0.5)
        axes.plot([share, middle], [at[name], base - LANE / 2 + 0.01], color=FAINT, lw=0.5, zorder=2.5)
        axes.text(middle, base, name, ha="center", va="center_baseline", size=SMALL, zorder=5, gid="name", bbox=PAPER)


def _draw_humans(axes: Axes, rows: pd.DataFrame, floor: float) -> None:
    colour, middle = HUMANS["color"], floor + BAND / 2
    for _, row in rows.iterrows():
        axes.plot([row["ci_low"], row["ci_high"]], [middle] * 2, color=colour, lw=1.2, zorder=3, gid="human interval")
        axes.plot([row["share"]], [middle], linestyle="none", zorder=5, gid="human", **HUMANS, **POINT)
