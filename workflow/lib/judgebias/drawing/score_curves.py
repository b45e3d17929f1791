"""Score of the first answer by its relative length: Figures 3 and 4 of Saito et al. (arXiv 2310.10076)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebias.drawing.length_panels import bin_entries, draw_bins, length_panels
from judgebias.drawing.page import page_of_words
from judgebias.drawing.style import INK, Subject, language

if TYPE_CHECKING:
    import pandas as pd

ACROSS = "relative difference in words: (model_a's answer − model_b's) / model_b's, in %"
UP = "score: 1 model_a's answer, 0 draw, −1 model_b's"
NOTE = "Bins of 20 points. A judge's verdict counts if both orders agree and is a draw if they do not; n: comparisons."
NOTE_OF_SINGLE = " Of a judge with no comparison in both orders the verdicts of one order count as they are."
PANEL = ["experiment", "condition", "judge"]
NO_CURVES = "No score curves: no comparison has the lengths of both answers and a verdict, or a human label."


@language()
def score_curves(table: pd.DataFrame, subject: Subject) -> Figure:
    """Mean score and its standard deviation in each bin of relative length, a panel for each judge and for the humans.

    Of a judge with comparisons in both orders, under one condition, those in one order alone are not drawn. `table`: the table
    of score curves, see `judgebias.comparisons.curves`. A bin of one comparison has no bar.
    """
    if table.empty:
        return page_of_words(subject, NO_CURVES)
    # Both, if there are both: "debiased" is before "single".
    table = table.assign(order=table["order"].astype(object).where(table["order"].notna(), ""))
    table = table[table["order"] == table.groupby(PANEL, dropna=False)["order"].transform("min")]
    note = NOTE + NOTE_OF_SINGLE * bool((table["order"] == "single").any())
    ends = table["mean"].abs() + table["std_dev"].fillna(0.0)
    highest = max(1.0, float(ends.max())) + 0.08
    legend = [bin_entries("mean", "± standard deviation")]
    return length_panels(table, subject, _draw, legend=legend, limits=(-highest, highest), across=ACROSS, up=UP, note=note)


def _draw(axes: Axes, curve: pd.DataFrame) -> None:
    axes.set_yticks((-1, 0, 1), ("−1", "0", "1"))
    axes.grid(axis="y")
    axes.axhline(0, color=INK, lw=0.7, zorder=2)
    spread = np.nan_to_num(curve["std_dev"].to_numpy(float))
    draw_bins(axes, curve, "mean", curve["mean"] - spread, curve["mean"] + spread)
