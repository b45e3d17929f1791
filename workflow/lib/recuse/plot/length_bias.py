"""Preference for the longer answer, Figure 4 of Chen et al., and how much longer perturbations make the answers."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.plot.axes import limits_of, readable
from recuse.plot.colours import BLUE, DASHED, FAINT, GREEN, ORANGE, PURPLE, RULE, SKY_BLUE, VERMILION
from recuse.plot.intervals import POINT, STROKE, draw_bar, draw_point, frame_rows, name_rows, write_instead, write_number
from recuse.plot.page import NO_EXPERIMENT, Entry, Page, grid, page_of_words, page_width, with_names
from recuse.plot.style import BOLD_TITLE, DOUBLE_COLUMN, EDGE, LINE, TEXT, UPRIGHT, Subject, language, text_width, widest, wrap

HEIGHT = 1.1  # inches of a panel
LEFT = 0.62  # inches for ticks and axis text
BELOW = 0.42
GUTTER = 0.3  # inches between panels, across
ABOVE = 0.14  # inches above the head of a panel
BAR = 1.1  # points: an interval
PANEL_WIDTH = 10  # units of length of a bin, where none with two ends says so
BESIDE = 0.14  # of a bin between the marks of neighbouring experiments
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY_BLUE)
MARKERS = "osD^vP"
ACROSS = "absolute difference of the lengths of the two answers, in words (last bin: this and more)"
UP = "mean vote for the longer answer"
LEFT_OUT = {  # column of the table: words for its votes
    "equal_lengths": "votes on answers of equal length",
    "no_length": "votes on answers of unknown length",
    "errors": "errors",
}
NO_CURVE = "No length curve: no vote in a control group is on answers of different, known lengths."
NOTE_OF_CURVES = (
    "Control groups only. Above each bin: votes. 0: all votes for the shorter answer, 1: all for the longer. "
    "No interval: one question, or votes all alike."
)
ROW = 0.22
TITLE = 0.3  # inches for the title of a panel, and the space above it
BETWEEN = 0.2  # inches between panels of perturbations
ALL = "all levels"
LONGER = "longer"
APART = 0.17  # rows by which the two units stand above and below the middle of a row
UNITS = {"words": (BLUE, -APART, POINT), "characters": (ORANGE, APART, {**POINT, "marker": "D", "markersize": 2.8})}
CHANGE = "mean change of length, % of the unperturbed answer"
NO_CHANGE = "No length confound: there is no perturbed answer."
NOTE_OF_CHANGES = (
    "Of each question one answer is perturbed, the other left as it is: perturbed answers only. In brackets: how many. "
    f"Column “{LONGER}”: share of them with more words than before."
)


@language()
def length_bias_curve(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Mean vote for the longer answer in bins of the difference of lengths, a panel for each judge, a line for each experiment.

    `table`: the table of the length curve, see `recuse.pairwise.attacks`.
    """
    left_out = _left_out(table)
    table = with_names(table[table["n"] > 0], "experiment")
    if table.empty:
        return page_of_words(subject, f"{NO_CURVE} {left_out}".strip())
    judges, experiments = subject.palette.order(table["judge"]), list(dict.fromkeys(table["experiment"]))
    widths = table["bin_high"] - table["bin_low"]
    bins = np.nanmin(np.r_[widths, PANEL_WIDTH]), table["bin_low"].max()  # their width, the last one
    rows, columns = grid(len(judges), 3)
    least = (bins[1] / bins[0] + 1) * (widest(map(str, table["n"])) + 0.06)
    panel = max(least, (DOUBLE_COLUMN - 2 * EDGE - LEFT - (columns - 1) * GUTTER) / 3)
    width = 2 * EDGE + LEFT + columns * panel + (columns - 1) * GUTTER
    titles = {judge: wrap(judge, BOLD_TITLE * panel, TEXT) for judge in judges}
    curves = {judge: dict(list(own.groupby("experiment"))) for judge, own in table.groupby("judge")}
    heads = [
        LINE * (1.5 + max(len(curves[judge]) for judge in own) + max(titles[judge].count("\n") for judge in own))
        for own in (judges[row * columns : (row + 1) * columns] for row in range(rows))
    ]
    body = BELOW + sum(heads) + rows * (HEIGHT + ABOVE)
    legend, note = _legend(experiments, confidence), f"{NOTE_OF_CURVES} {left_out}".strip()
    page = Page(subject=subject, width=max(width, text_width(ACROSS) + 1), body=body, legend=legend, note=note)
    for number, judge in enumerate(judges):
        row, column = divmod(number, columns)
        bottom = body - sum(heads[: row + 1]) - (row + 1) * (HEIGHT + ABOVE)
        axes = page.axes(EDGE + LEFT + column * (panel + GUTTER), bottom, panel, HEIGHT)
        _frame(axes, bins, first=column == 0, lowest=number + columns >= len(judges))
        axes.set_title(titles[judge], pad=3 + 72 * LINE * len(curves[judge]))
        _draw_curves(axes, curves[judge], bins[0], experiments)
    page.centred(EDGE + LEFT + (columns * (panel + GUTTER) - GUTTER) / 2, 0.08, ACROSS)
    page.text(EDGE + LINE / 2, (BELOW + body - heads[0] - ABOVE) / 2, UP, **UPRIGHT)
    return page.figure


def _left_out(table: pd.DataFrame) -> str:
    """What the curves leave out, in words; empty if nothing."""
    totals = table.drop_duplicates(["experiment", "judge"])[list(LEFT_OUT)].sum()
    counts = [f"{total:,} {LEFT_OUT[name]}" for name, total in totals.items() if total]
    nothing = list(dict.fromkeys(table.loc[table["n"] == 0, "judge"]))
    sentences = [f"Left out: {', '.join(counts)}."] * bool(counts)
    sentences += [f"Without any other vote in an experiment: {', '.join(nothing)}."] * bool(nothing)
    return " ".join(sentences)


def _legend(experiments: Sequence[str], confidence: float) -> list[list[Entry]]:
    named = [Entry(name or NO_EXPERIMENT, line=_mark(place)) for place, name in enumerate(experiments)]
    interval = f"{100 * confidence:g} % bootstrap interval over questions"
    several = Entry(f"bars, in the colour of their experiment: {interval}")
    drawn = several if len(experiments) > 1 else Entry(f"bar: {interval}", line={"color": COLOURS[0], "lw": BAR})
    headed = [Entry("experiment:"), *named] if any(experiments) else []
    return [headed, [drawn, Entry("no preference for length", line=DASHED)]]


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
    axes.axhline(0.5, zorder=2, **DASHED)


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
    where = {"textcoords": "offset points", "xycoords": axes.get_xaxis_transform(), "ha": "center", "va": "center_baseline"}
    for row, middle in zip(curve.to_dict("records"), x, strict=True):
        if row["ci_low"] <= row["ci_high"]:
            axes.plot([middle] * 2, [row["ci_low"], row["ci_high"]], color=mark["color"], lw=BAR, zorder=3, gid="interval")
        colour = mark["color"] if count > 1 else FAINT
        axes.annotate(str(row["n"]), (middle - shift, 1), (0, 72 * up), color=colour, **where)


@language()
def length_confound(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Mean relative change of length with its interval, a panel for each perturbation, a row for each level.

    `table`: the table of the length confound, see `recuse.pairwise.attacks`; only the rows of perturbed answers.
    """
    table = table[table["answers"] == "perturbed"]
    if table.empty:
        return page_of_words(subject, NO_CHANGE)
    table = table.assign(level=table["level"].fillna(""))
    levels, perturbations = list(dict.fromkeys(table["level"])), list(dict.fromkeys(table["perturbation"]))
    labels = [_label(level, table.loc[table["level"] == level, "n"]) for level in levels]
    rows, columns = grid(len(perturbations), 2)
    label, beside, height = widest(labels) + 0.1, widest([LONGER]) + 0.1, len(levels) * ROW
    across = page_width(several=columns > 1)
    panel = (across - 2 * EDGE - label - (columns - 1) * BETWEEN) / columns - beside
    interval = f"{100 * confidence:g} % bootstrap interval over questions"
    marks = {unit: {"color": colour, "lw": STROKE, **mark} for unit, (colour, _, mark) in UNITS.items()}
    legend = [[Entry(f"{unit}, {interval}", line=mark) for unit, mark in marks.items()]]
    body = BELOW + rows * (height + TITLE)
    page = Page(subject=subject, width=across, body=body, legend=legend, note=NOTE_OF_CHANGES)
    ends = 100 * table[["relative_change", "ci_low", "ci_high"]].to_numpy(float)
    limits = readable(limits_of([0.0, *ends.ravel()], more=0.5), panel)
    step = panel + beside + BETWEEN, height + TITLE
    panels = page.panels(len(perturbations), columns, corner=(EDGE + label, BELOW), size=(panel, height), step=step)
    for perturbation, each in zip(perturbations, panels, strict=True):
        frame_rows(each.axes, limits=limits, rows=len(levels))
        each.axes.axhline(0.5, color=RULE, lw=0.6, zorder=1)  # below the row of all levels
        name_rows(each, labels, perturbation.replace("_", " "))
        _draw_changes(each.axes, table[table["perturbation"] == perturbation], levels, beside)
    page.centred(EDGE + label + (across - 2 * EDGE - label - beside) / 2, 0.06, CHANGE)
    return page.figure


def _label(level: str, counts: Sequence[int]) -> str:
    """A level and how many perturbed answers it has, the least and the most of a perturbation if they differ."""
    return f"{level or ALL} ({'–'.join(map(str, sorted({min(counts), max(counts)})))})"


def _draw_changes(axes: Axes, table: pd.DataFrame, levels: Sequence[str], beside: float) -> None:
    write_number(axes, -0.5, LONGER, beside, up=LINE / 2)
    for row in table.to_dict("records"):
        place, (colour, shift, mark) = levels.index(row["level"]), UNITS[row["unit"]]
        if not np.isnan(row["relative_change"]):
            draw_bar(axes, place + shift, row, colour, scale=100)
            draw_point(axes, place + shift, 100 * row["relative_change"], colour, mark=mark, gid=row["unit"])
        if row["unit"] == "words" and np.isnan(row["relative_change"]):
            write_instead(axes, place, "no perturbed answer")
        elif row["unit"] == "words":
            write_number(axes, place, f"{100 * row['longer']:.0f} %", beside)
