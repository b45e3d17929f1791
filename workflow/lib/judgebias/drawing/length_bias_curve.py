"""Preference for the longer answer by how much longer it is: Figure 4 of Chen et al., with intervals and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgebias.drawing.conditions import NO_EXPERIMENT
from judgebias.drawing.page import Entry, Page, grid, page_of_words
from judgebias.drawing.palette import BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILION
from judgebias.drawing.style import (
    DOUBLE_COLUMN,
    EDGE,
    FAINT,
    LINE,
    SMALL,
    TEXT,
    Subject,
    language,
    text_width,
    widest,
    wrap,
)

if TYPE_CHECKING:
    import pandas as pd

HEIGHT = 1.1  # inches of a panel
LEFT = 0.62  # inches for ticks and axis text
BELOW = 0.42
GUTTER = 0.3  # inches between panels, across
ABOVE = 0.14  # inches above the head of a panel
BOLD = 0.85  # of a width that a text may have in normal weight to fit in bold
BAR = 1.1  # points: an interval
WIDTH = 10  # units of length of a bin, where none with two ends says so
BESIDE = 0.14  # of a bin between the marks of neighbouring experiments
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY_BLUE)
MARKERS = "osD^vP"
NEUTRAL = {"color": FAINT, "lw": 0.8, "linestyle": (0, (4, 3))}
ACROSS = "absolute difference of the lengths of the two answers, in words (last bin: this and more)"
UP = "mean vote for the longer answer"
LEFT_OUT = {  # column of the table: words for its votes
    "equal_lengths": "votes on answers of equal length",
    "no_length": "votes on answers of unknown length",
    "errors": "errors",
}
NO_ROWS = "No length curve: no vote in a control group is on answers of different, known lengths."
NOTE = (
    "Control groups only. Above each bin: votes. 0: all votes for the shorter answer, 1: all for the longer. "
    "No interval: one question, or votes all alike."
)


@language()
def length_bias_curve(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Mean vote for the longer answer in bins of the difference of lengths, a panel for each judge, a line for each experiment.

    `table`: the table of the length curve, see `judgebias.comparisons.votes`.
    """
    left_out = _left_out(table)
    table = table[table["n"] > 0]
    if table.empty:
        return page_of_words(subject, f"{NO_ROWS} {left_out}".strip())
    table = table.assign(experiment=table["experiment"].astype(object).fillna("").astype(str))
    judges, experiments = subject.palette.order(table["judge"]), list(dict.fromkeys(table["experiment"]))
    bins = np.nanmin(np.r_[table["bin_high"] - table["bin_low"], WIDTH]), table["bin_low"].max()  # their width, the last one
    rows, columns = grid(len(judges), 3)
    least = (bins[1] / bins[0] + 1) * (widest(map(str, table["n"])) + 0.06)
    panel = max(least, (DOUBLE_COLUMN - 2 * EDGE - LEFT - (columns - 1) * GUTTER) / 3)
    width = 2 * EDGE + LEFT + columns * panel + (columns - 1) * GUTTER
    titles = {judge: wrap(judge, BOLD * panel, TEXT) for judge in judges}
    curves = {judge: dict(list(own.groupby("experiment"))) for judge, own in table.groupby("judge")}
    heads = [
        LINE * (1.5 + max(len(curves[judge]) for judge in own) + max(titles[judge].count("\n") for judge in own))
        for own in (judges[row * columns : (row + 1) * columns] for row in range(rows))
    ]
    body = BELOW + sum(heads) + rows * (HEIGHT + ABOVE)
    legend, note = _legend(experiments, confidence), f"{NOTE} {left_out}".strip()
    page = Page(subject=subject, width=max(width, text_width(ACROSS) + 1), body=body, legend=legend, note=note)
    for number, judge in enumerate(judges):
        row, column = divmod(number, columns)
        bottom = body - sum(heads[: row + 1]) - (row + 1) * (HEIGHT + ABOVE)
        axes = page.axes(EDGE + LEFT + column * (panel + GUTTER), bottom, panel, HEIGHT)
        _frame(axes, bins, first=column == 0, lowest=number + columns >= len(judges))
        axes.set_title(titles[judge], pad=3 + 72 * LINE * len(curves[judge]))
        _draw_curves(axes, curves[judge], bins[0], experiments)
    page.centred(EDGE + LEFT + (columns * (panel + GUTTER) - GUTTER) / 2, 0.08, ACROSS)
    middle = (BELOW + body - heads[0] - ABOVE) / 2
    page.text(EDGE + LINE / 2, middle, UP, rotation=90, ha="center", va="center")
    return page.figure


def _left_out(table: pd.DataFrame) -> str:
    """What the curves leave out, in words; empty if nothing."""
    totals = table.drop_duplicates(["experiment", "judge"])[list(LEFT_OUT)].sum()
    counts = [f"{total:,} {LEFT_OUT[name]}" for name, total in totals.items() if total]
    nothing = list(dict.fromkeys(table.loc[table["n"] == 0, "judge"]))
    said = [f"Left out: {', '.join(counts)}."] * bool(counts)
    said += [f"Without any other vote in an experiment: {', '.join(nothing)}."] * bool(nothing)
    return " ".join(said)


def _legend(experiments: Sequence[str], confidence: float) -> list[list[Entry]]:
    named = [Entry(name or NO_EXPERIMENT, line=_mark(place)) for place, name in enumerate(experiments)]
    interval = f"{100 * confidence:g} % bootstrap interval over questions"
    bar = {"color": _mark(0)["color"], "lw": BAR}
    several = [Entry(f"bars, in the colour of their experiment: {interval}")]
    drawn = several if len(experiments) > 1 else [Entry(f"bar: {interval}", line=bar)]
    headed = [Entry("experiment:"), *named] if any(experiments) else []
    return [headed, [*drawn, Entry("no preference for length", line=NEUTRAL)]]


def _mark(place: int) -> dict:
    colour = COLOURS[place % len(COLOURS)]
    return {"color": colour, "lw": 1.2, "marker": MARKERS[place % len(MARKERS)], "markersize": 3.2}


def _frame(axes: Axes, bins: tuple[float, float], *, first: bool, lowest: bool) -> None:
    """`bins`: their width, and the lower end of the last, which is drawn as wide as the others."""
    width, last = bins
    lows = np.arange(0, last + width, width)
    axes.set(xlim=(0, last + width), ylim=(-0.04, 1.04), yticks=(0, 0.5, 1))
    axes.set_xticks(lows, [f"{low:g}" for low in lows] if lowest else [])
    axes.set_yticklabels(("0", "0.5", "1") if first else [])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y")
    axes.axhline(0.5, zorder=2, **NEUTRAL)


def _draw_curves(axes: Axes, curves: Mapping[str, pd.DataFrame], width: float, experiments: Sequence[str]) -> None:
    """The curves of one judge by experiment, their counts in lines above the panel; width: of a bin."""
    present = [place for place, experiment in enumerate(experiments) if experiment in curves]
    for line, place in zip(range(len(present), 0, -1), present, strict=True):
        _draw_curve(axes, curves[experiments[place]], width, place, len(experiments), up=LINE * (line - 0.5))


def _draw_curve(axes: Axes, curve: pd.DataFrame, width: float, place: int, count: int, *, up: float) -> None:
    """The line of experiment `place` of `count`, moved aside so that intervals do not cover each other, and its counts.

    width: of a bin; up: inches of the counts above the panel.
    """
    mark, shift = _mark(place), BESIDE * width * (place - (count - 1) / 2)
    curve = curve.sort_values("bin_low")
    x = curve["bin_low"].to_numpy() + width / 2 + shift
    axes.plot(x, curve["preference"], zorder=4, gid="curve", **mark)
    for row, middle in zip(curve.to_dict("records"), x, strict=True):
        if row["ci_low"] <= row["ci_high"]:
            axes.plot([middle] * 2, [row["ci_low"], row["ci_high"]], color=mark["color"], lw=BAR, zorder=3, gid="interval")
        _write_count(axes, middle - shift, row, mark["color"] if count > 1 else FAINT, up)


def _write_count(axes: Axes, middle: float, row: Mapping, colour: str, up: float) -> None:
    where = {"textcoords": "offset points", "ha": "center", "va": "center_baseline", "size": SMALL, "color": colour}
    axes.annotate(str(row["n"]), (middle, 1), (0, 72 * up), xycoords=axes.get_xaxis_transform(), **where)
