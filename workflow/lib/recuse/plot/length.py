"""What the length of answers does to verdicts: curves over it (Saito et al., arXiv 2310.10076).

Agreement with the humans by the relative length of the answer they chose, Figure 5, and score of
the first answer by its relative length, Figures 3 and 4.
"""

from collections.abc import Callable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.data.registry import HUMAN
from recuse.pairwise.verbosity import WIDTH
from recuse.plot.colours import DASHED, GRID, INK, RULE
from recuse.plot.curves import CurvePanel, Series, curves_figure
from recuse.plot.page import (
    Head,
    head,
    joined,
    keys,
    page_of_words,
    with_conditions,
    written,
)
from recuse.plot.style import Subject, language

# Comparisons or votes of a bin that is drawn: the mean of fewer swings with each of them
FEWEST = 10
LEAST_BINS = 3  # of a curve

# Curves over relative length.
OPEN = 126.0  # percent: where the bin without upper end is drawn
LIMITS = (-112.0, 139.0)
BINS = Series(
    line={"lw": 0.9, "alpha": 0.6}, mark={"marker": "o", "markersize": 3.4, "markeredgewidth": 1.0}
)
SPREAD = {"lw": 5.0, "alpha": 0.2}  # of scores: no interval of their mean
FLOOR = -0.38  # of the unit scale: where the bars of counts begin
TALLEST = 0.13  # of the unit scale: the bar of the largest count of a panel
CHOSEN_LENGTH = "relative difference in words: (chosen by the humans − rejected) / rejected, in %"
AGREEMENT = "share of decisions that agree with the humans"
NO_ALIGNMENT = (
    "No alignment curves: no comparison has a judge's decision, a human decision and the lengths of"
    " both answers."
)
FIRST_LENGTH = "relative difference in words: (model_a's answer − model_b's) / model_b's, in %"
SCORE = "score: 1 model_a's answer, 0 draw, −1 model_b's"
NO_BINS = f"No curve: no judge has {LEAST_BINS} bins of {FEWEST} comparisons or more."
NO_SCORES = (
    "No score curves: no comparison has the lengths of both answers and a verdict, or a human"
    " label."
)


@language()
def alignment_curves_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Share of agreement with its interval and count in each bin of relative length, a panel for
    each judge and condition.

    `table`: the table of alignment curves, see `recuse.pairwise.verbosity`.
    """
    if table.empty:
        return page_of_words(subject, NO_ALIGNMENT)
    longer, shorter = _means(table, "agreement")
    words = head("alignment", longer=longer, shorter=shorter, width=WIDTH, level=confidence)
    table = table.assign(y=table["agreement"], low=table["ci_low"], high=table["ci_high"])
    return _length_panels(table, subject, words, BINS, _frame_agreement, CHOSEN_LENGTH, AGREEMENT)


def _means(table: pd.DataFrame, column: str) -> list[float | None]:
    """Means over the comparisons with a longer and with a shorter answer; None without any."""
    means = []
    for rows in (table[table["bin_low"] >= 0], table[table["bin_high"] <= 0]):
        total = rows["n"].sum()
        means.append((rows[column] * rows["n"]).sum() / total if total else None)
    return means


def _frame_agreement(axes: Axes, curve: pd.DataFrame) -> None:
    axes.set_ylim(FLOOR, 1.04)
    axes.set_yticks((0, 0.5, 1), ("0 %", "50 %", "100 %"))
    axes.hlines((0, 1), *LIMITS, color=GRID, lw=0.6, zorder=1)
    axes.axhline(0.5, zorder=2, **DASHED)
    heights = curve["n"] / curve["n"].max() * TALLEST
    axes.bar(curve["x"], heights, 14.0, bottom=FLOOR, color=RULE, lw=0, zorder=1)


@language()
def score_curves_figure(table: pd.DataFrame, subject: Subject) -> Figure:
    """Mean score and its standard deviation, a pale bar, in each bin of relative length, a panel
    for each judge and condition.

    If a judge has comparisons in both orders under a condition, those in one order are not drawn.
    `table`: the table of score curves, see `recuse.pairwise.verbosity`. A bin of one comparison has
    no bar.
    """
    if table.empty:
        return page_of_words(subject, NO_SCORES)
    # Both, if there are both: "debiased" is before "single".
    table = table.assign(order=table["order"].astype(object).where(table["order"].notna(), ""))
    by_panel = table.groupby(["experiment", "condition", "judge"], dropna=False)
    table = table[table["order"] == by_panel["order"].transform("min")]
    spread = table["std_dev"].astype(float).fillna(0.0)
    low, high = table["mean"] - spread, table["mean"] + spread
    table = table.assign(y=table["mean"], low=low, high=high)
    highest = max(1.0, high.max(), -low.min()) + 0.08
    words = head("score_curves", gaps=_preference(table), width=WIDTH)

    def frame(axes: Axes, _: pd.DataFrame) -> None:
        axes.set_ylim(-highest, highest)
        axes.set_yticks((-1, 0, 1), ("−1", "0", "1"))
        axes.grid(axis="y")
        axes.axhline(0, color=INK, lw=0.7, zorder=2)

    look = BINS._replace(bar=SPREAD)
    return _length_panels(table, subject, words, look, frame, FIRST_LENGTH, SCORE)


def _preference(table: pd.DataFrame) -> dict[str, float]:
    """By how much longer answers score higher than shorter ones, with the judges and with the
    humans.
    """
    is_human, gaps = table["judge"] == HUMAN, {}
    for who, rows in (("judges", table[~is_human]), ("humans", table[is_human])):
        longer, shorter = _means(rows, "mean")
        if longer is not None and shorter is not None:
            gaps[who] = longer - shorter
    return gaps


def _length_panels(
    table: pd.DataFrame,
    subject: Subject,
    head: Head,
    look: Series,
    frame: Callable[[Axes, pd.DataFrame], None],
    across: str,
    up: str,
) -> Figure:
    """Draw the rows of each judge and condition in a panel, if LEAST_BINS of its bins have FEWEST
    or more; a bin without upper end is hollow.

    `table`: experiment, condition, judge, bin_low, bin_high, n, no_length, and y, low, high of the
    points. frame: draws the vertical axis; across, up: texts of the axes.
    """
    table, conditions = with_conditions(table)
    table = table.sort_values("bin_low")
    table["x"] = ((table["bin_low"] + table["bin_high"]) / 2).fillna(OPEN)
    table["hollow"] = table["bin_high"].isna()
    table["panel"] = keys(table, "condition", "judge")
    groups = dict(iter(table.groupby("panel")))
    judges = subject.palette.order(table["judge"])
    panels = []
    for name in conditions:
        for judge in judges:
            rows = groups.get((name, judge))
            if rows is not None and (rows["n"] >= FEWEST).sum() >= LEAST_BINS:
                panels.append(
                    CurvePanel((name, judge), judge, joined(name, f"n = {rows['n'].sum()}"))
                )
    if not panels:
        return page_of_words(subject, NO_BINS)
    absent = {"unknown": table["no_length"].max(), "curves": len(groups) - len(panels)}
    note = written("length_note", **absent, least=LEAST_BINS)

    is_drawn = table["n"] >= FEWEST  # no line over the others
    shown = {name: table[name].where(is_drawn) for name in ("y", "low", "high")}

    def frame_panel(axes: Axes, panel: CurvePanel) -> None:
        axes.set_xlim(LIMITS)
        axes.set_xticks((-100, 0, 100), ("−100", "0", "+100"))
        axes.set_xticks((-50, 50), minor=True)
        axes.grid(axis="x")
        # Before the bin without upper end
        axes.axvline(112, color=RULE, lw=0.6, linestyle=(0, (2, 2)), zorder=1)
        frame(axes, groups[panel.key])

    return curves_figure(
        table.assign(series="", **shown),
        subject,
        head,
        panels,
        {"": look},
        frame_panel,
        most=4 if len(panels) <= 16 else 5,
        across=across,
        up=up,
        note=note,
    )
