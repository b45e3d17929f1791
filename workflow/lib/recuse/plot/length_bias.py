"""Preference for the longer answer by how much longer it is: Figure 4 of Chen et al., with intervals and counts.

How much longer each perturbation makes the answers, by Bloom level: what a preference for length would make of it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.plot.axes import readable
from recuse.plot.intervals import POINT, STROKE, frame_rows, write_instead
from recuse.plot.page import Entry, Page, corners, grid, page_of_words
from recuse.plot.style import (
    BLUE,
    DOUBLE_COLUMN,
    EDGE,
    FAINT,
    GREEN,
    LINE,
    ORANGE,
    PURPLE,
    RULE,
    SINGLE_COLUMN,
    SKY_BLUE,
    SMALL,
    TEXT,
    VERMILION,
    Subject,
    language,
    text_width,
    widest,
    wrap,
)
from recuse.plot.verbosity import NO_EXPERIMENT

HEIGHT = 1.1  # inches of a panel
LEFT = 0.62  # inches for ticks and axis text
BELOW = 0.42
GUTTER = 0.3  # inches between panels, across
ABOVE = 0.14  # inches above the head of a panel
BOLD = 0.85  # of a width that a text may have in normal weight to fit in bold
BAR = 1.1  # points: an interval
PANEL_WIDTH = 10  # units of length of a bin, where none with two ends says so
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

    `table`: the table of the length curve, see `recuse.pairwise.attacks`.
    """
    left_out = _left_out(table)
    table = table[table["n"] > 0]
    if table.empty:
        return page_of_words(subject, f"{NO_ROWS} {left_out}".strip())
    table = table.assign(experiment=table["experiment"].astype(object).fillna("").astype(str))
    judges, experiments = subject.palette.order(table["judge"]), list(dict.fromkeys(table["experiment"]))
    bins = (
        np.nanmin(np.r_[table["bin_high"] - table["bin_low"], PANEL_WIDTH]),
        table["bin_low"].max(),
    )  # their width, the last one
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


ROW = 0.22
TITLE = 0.3  # inches for the title of a panel, and the space above it
LENGTH_CONFOUND_GUTTER = 0.2  # inches between panels
ALL = "all levels"
LONGER = "longer"
APART = 0.17  # rows by which the two units stand above and below the middle of a row
UNITS = {
    "words": {"color": BLUE, "markerfacecolor": BLUE, **POINT},
    "characters": {"color": ORANGE, "markerfacecolor": ORANGE, **POINT, "marker": "D", "markersize": 2.8},
}
LENGTH_CONFOUND_ACROSS = "mean change of length, % of the unperturbed answer"
LENGTH_CONFOUND_NO_ROWS = "No length confound: there is no perturbed answer."
LENGTH_CONFOUND_NOTE = (
    "Of each question one answer is perturbed, the other left as it is: perturbed answers only. In brackets: how many. "
    f"Column “{LONGER}”: share of them with more words than before."
)


@language()
def length_confound(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Mean relative change of length with its interval, a panel for each perturbation, a row for each level.

    `table`: the table of the length confound, see `recuse.pairwise.text_lengths`; only the rows of perturbed answers.
    """
    table = table[table["answers"] == "perturbed"]
    if table.empty:
        return page_of_words(subject, LENGTH_CONFOUND_NO_ROWS)
    table = table.assign(level=table["level"].fillna(""))
    levels, perturbations = list(dict.fromkeys(table["level"])), list(dict.fromkeys(table["perturbation"]))
    labels = [_label(level, table.loc[table["level"] == level, "n"]) for level in levels]
    rows, columns = grid(len(perturbations), 2)
    label, beside, height = widest(labels) + 0.1, widest([LONGER]) + 0.1, len(levels) * ROW
    across = SINGLE_COLUMN if columns == 1 else DOUBLE_COLUMN
    panel = (across - 2 * EDGE - label - (columns - 1) * LENGTH_CONFOUND_GUTTER) / columns - beside
    page = Page(
        subject=subject, width=across, body=BELOW + rows * (height + TITLE),
        legend=_legend_of_length_confound(confidence), note=LENGTH_CONFOUND_NOTE
    )  # fmt: skip
    limits = readable(_limits(table), panel)
    places = corners(len(perturbations), columns, step=(panel + beside + LENGTH_CONFOUND_GUTTER, height + TITLE))
    for number, (perturbation, (x, y)) in enumerate(zip(perturbations, places, strict=True)):
        axes = page.axes(EDGE + label + x, BELOW + y, panel, height)
        frame_rows(axes, limits=limits, rows=len(levels), breaks=[])
        axes.axhline(0.5, color=RULE, lw=0.6, zorder=1)  # below the row of all levels
        axes.set_title(perturbation.replace("_", " "))
        axes.set_yticks(range(len(levels)), labels if number % columns == 0 else [])
        axes.tick_params(labelbottom=number + columns >= len(perturbations))
        _draw_panel(axes, table[table["perturbation"] == perturbation], levels, beside)
    page.centred(EDGE + label + (across - 2 * EDGE - label - beside) / 2, 0.06, LENGTH_CONFOUND_ACROSS)
    return page.figure


def _label(level: str, counts: Sequence[int]) -> str:
    """A level and how many perturbed answers it has, the least and the most of a perturbation if they differ."""
    return f"{level or ALL} ({'–'.join(map(str, sorted({min(counts), max(counts)})))})"


def _draw_panel(axes: Axes, table: pd.DataFrame, levels: Sequence[str], beside: float) -> None:
    where = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "size": SMALL, "va": "center_baseline"}
    axes.annotate(LONGER, (1, -0.5), (72 * beside, 36 * LINE), ha="right", **where)
    for row in table.to_dict("records"):
        place = levels.index(row["level"])
        if np.isnan(row["relative_change"]):
            if row["unit"] == "words":
                write_instead(axes, place, "no perturbed answer")
            continue
        _draw_mark(axes, place + (-APART if row["unit"] == "words" else APART), row)
        if row["unit"] == "words":
            axes.annotate(f"{100 * row['longer']:.0f} %", (1, place), (72 * beside, 0), ha="right", **where)


def _draw_mark(axes: Axes, place: float, row: Mapping) -> None:
    mark = UNITS[row["unit"]]
    ends = [100 * row["ci_low"], 100 * row["ci_high"]]
    axes.plot(ends, [place] * 2, color=mark["color"], lw=STROKE, solid_capstyle="butt", zorder=3, gid="interval")
    axes.plot([100 * row["relative_change"]], [place], linestyle="none", zorder=4, gid=row["unit"], **mark)


def _limits(table: pd.DataFrame) -> tuple[float, float]:
    ends = np.r_[0.0, 100 * table[["relative_change", "ci_low", "ci_high"]].to_numpy(float).ravel()]
    margin = 0.06 * (np.nanmax(ends) - np.nanmin(ends)) + 0.5
    return np.nanmin(ends) - margin, np.nanmax(ends) + margin


def _legend_of_length_confound(confidence: float) -> list[list[Entry]]:
    interval = f"{100 * confidence:g} % bootstrap interval over questions"
    return [[Entry(f"{unit}, {interval}", line={"lw": STROKE, **mark}) for unit, mark in UNITS.items()]]
