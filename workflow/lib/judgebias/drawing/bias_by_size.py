"""Average share of biased comparisons by size of the judge, a part for each bias: the third figure of CoBBLEr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebias.drawing.bias_words import NAMES, NOTHING, RANDOM, biases_of, drawable, judges_of, origins, shares, thresholds
from judgebias.drawing.page import Entry, Page, page_of_words
from judgebias.drawing.palette import INDIGO, MAUVE, OLIVE, ROSE, SAND, WINE
from judgebias.drawing.style import DOUBLE_COLUMN, EDGE, SMALL, Subject, language, widest
from judgebias.ratings.registry import HUMAN

if TYPE_CHECKING:
    import pandas as pd

ROW = 0.34
BAR = 0.62  # of a row
RIGHT = 0.46  # inches for the number beside a bar
BELOW = 0.42  # inches for ticks and axis text
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}  # behind a number
ALL = "all judges"
NO_SIZE = "size unknown"
PARTLY = " The mean of a bias is over the judges that it can be looked for in."
NO_COMMON = "Nothing to draw: the judges of different sizes have no bias in common."
# Colour is the test, Tol's, as Okabe and Ito's tell whose a share is; hatched is its second variant.
FACES = {
    "order_first": (INDIGO, ""),
    "order_last": (INDIGO, "////"),
    "compassion_first": (SAND, ""),
    "compassion_last": (SAND, "////"),
    "egocentric_order": (WINE, ""),
    "egocentric_comp": (WINE, "////"),
    "salience": (ROSE, ""),
    "bandwagon": (OLIVE, ""),
    "attentional": (MAUVE, ""),
}


@language()
def bias_by_size(table: pd.DataFrame, subject: Subject) -> Figure:
    """Average share over the biases by group of judges of one size, stacked by bias, with the average threshold.

    `table`: experiment, judge, size, bias, origin, share, random. A bar is as long as the mean over biases of the mean share
    over those judges of the group that have one, and each part of it is one bias's. Groups stand as the table names their
    sizes; where it names none there is one group. Only biases that every group has are averaged; the humans are left out.
    """
    table, words = drawable(table)
    judges = table[table["judge"] != HUMAN]
    groups = _groups(judges)
    known = {group: set(own["bias"]) for group, own in groups.items()}
    biases = [bias for bias in biases_of(judges) if all(bias in found for found in known.values())]
    if not biases:
        return page_of_words(subject, NO_COMMON if len(groups) else NOTHING + words)
    labels = [f"{group} ({own['judge'].nunique()})" for group, own in groups.items()]
    label = widest(labels) + 0.1
    panel = DOUBLE_COLUMN - 2 * EDGE - label - RIGHT
    threshold = float(thresholds(judges, biases).mean())
    missing = [NAMES[bias] for bias in biases_of(judges) if bias not in biases]
    sized = "Parameters of the judges as released, in" if list(groups) != [ALL] else "In"
    note = f"{sized} brackets the number of judges. Shares of the judges: {', or '.join(origins(judges).values())}."
    note += f" Not averaged, as not every group has it: {'; '.join(missing)}." * bool(missing)
    note += PARTLY * bool(np.isnan(shares(judges, judges_of(judges), biases)).any()) + words
    page = Page(
        subject=subject, width=DOUBLE_COLUMN, body=BELOW + len(groups) * ROW, legend=_legend(biases, threshold), note=note
    )
    axes = page.axes(EDGE + label, BELOW, panel, len(groups) * ROW)
    for place, own in enumerate(groups.values()):
        parts = np.nanmean(shares(own, judges_of(own), biases), axis=0) / len(biases)
        _draw_bar(axes, place, biases, parts)
    _frame(axes, labels, threshold)
    page.centred(
        EDGE + label + panel / 2, 0.06, f"share of comparisons in which a judge is biased, mean over {len(biases)} biases"
    )
    return page.figure


def _groups(judges: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each size, in the order in which the table names them; judges without a size last."""
    if judges["size"].isna().all():
        return {ALL: judges} if len(judges) else {}
    size = judges["size"].fillna(NO_SIZE)
    order = sorted(dict.fromkeys(size), key=lambda name: name == NO_SIZE)
    return {name: judges[size == name] for name in order}


def _legend(biases: Sequence[str], threshold: float) -> list[list[Entry]]:
    parts = [Entry(NAMES[bias], [_face(bias)]) for bias in biases]
    return [parts, [Entry(f"RANDOM: mean of the thresholds of these biases in closed form, {threshold:.3f}", line=RANDOM)]]


def _face(bias: str) -> dict:
    colour, hatch = FACES[bias]
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "lw": 0.4}


def _draw_bar(axes: Axes, place: int, biases: Sequence[str], parts: np.ndarray) -> None:
    starts = np.cumsum(parts) - parts
    for bias, start, part in zip(biases, starts, parts, strict=True):
        axes.barh([place], [part], BAR, left=[start], zorder=3, gid=bias, **_face(bias))
    beside = {"textcoords": "offset points", "va": "center_baseline", "size": SMALL}
    axes.annotate(f"{parts.sum():.3f}", (parts.sum(), place), (4, 0), gid="total", zorder=5, bbox=PAPER, **beside)


def _frame(axes: Axes, labels: Sequence[str], threshold: float) -> None:
    axes.set(ylim=(len(labels) - 0.5, -0.5), xlim=(0, max(axes.get_xlim()[1], 1.06 * threshold)))
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.axvline(threshold, zorder=4, gid="random", **RANDOM)
