"""What the length of answers does to verdicts: curves over it, and how much longer perturbations make the answers.

Saito et al. (arXiv 2310.10076): agreement with the humans by the relative length of the answer they chose, Figure 5, and score
of the first answer by its relative length, Figures 3 and 4. Chen et al.: preference for the longer answer, Figure 4.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.pairwise.verbosity import WIDTH
from recuse.plot.axes import limits_of
from recuse.plot.colours import BLUE, DASHED, FAINT, GREEN, GRID, INK, ORANGE, PURPLE, RULE, SKY_BLUE, VERMILION
from recuse.plot.intervals import (
    POINT,
    STROKE,
    draw_bar,
    draw_point,
    frame_rows,
    page_of_rows,
    write_instead,
    write_number,
)
from recuse.plot.page import NO_EXPERIMENT, Entry, conditions_of, page_of_panels, page_of_words, with_names
from recuse.plot.style import LINE, SINGLE_COLUMN, Subject, language, percent, widest, wrap

HEIGHT = 1.1  # inches of a panel

# Curves over relative length.
OPEN = 126.0  # percent: where the bin without upper end is drawn
LIMITS = (-112.0, 139.0)
BIN = {"color": BLUE, "marker": "o", "markersize": 3.4, "markeredgewidth": 1.0, "linestyle": "none"}
INTERVAL = {"color": BLUE, "lw": 1.1, "solid_capstyle": "butt"}
BEYOND = "more than 110 % longer"
FLOOR = -0.38  # of the unit scale: where the bars of counts begin
TALLEST = 0.13  # of the unit scale: the bar of the largest count of a panel
CHOSEN_LENGTH = "relative difference in words: (chosen by the humans − rejected) / rejected, in %"
AGREEMENT = "share of decisions that agree with the humans"
NOTE_OF_AGREEMENT = (
    "Bins of 20 points. A judge's decision counts if both orders agree; draws and human ties are left out. n: comparisons. "
    "Bars at the foot of a panel: comparisons in each bin, on a scale of their own."
)
NO_ALIGNMENT = "No alignment curves: no comparison has a judge's decision, a human decision and the lengths of both answers."
FIRST_LENGTH = "relative difference in words: (model_a's answer − model_b's) / model_b's, in %"
SCORE = "score: 1 model_a's answer, 0 draw, −1 model_b's"
NOTE_OF_SCORES = (
    "Bins of 20 points. A judge's verdict counts if both orders agree and is a draw if they do not; n: comparisons."
)
NOTE_OF_SINGLE = " For a judge with no comparison in both orders, the verdicts of one order count as they are."
NO_SCORES = "No score curves: no comparison has the lengths of both answers and a verdict, or a human label."

# Preference for the longer answer.
PANEL_WIDTH = 10  # units of length of a bin, if no bin with two ends shows it
SHIFT = 0.14  # of a bin between the marks of neighbouring experiments
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY_BLUE)
ACROSS = "absolute difference of the lengths of the two answers, in words (last bin: this and more)"
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

# Changes of length.
LONGER = "longer"
UNITS = {  # colour, rows above or below the middle of a row, and mark
    "words": (BLUE, -0.17, POINT),
    "characters": (ORANGE, 0.17, {**POINT, "marker": "D", "markersize": 2.8}),
}
NO_CHANGE = "No length confound: there is no perturbed answer."
NOTE_OF_CHANGES = (
    "One answer to each question is perturbed; the other, left as it is, does not count here. In brackets: number of perturbed "
    f"answers. Column “{LONGER}”: share of them with more words than before."
)


@language()
def alignment_curves(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Share of agreement with its interval and count in each bin of relative length, a panel for each judge and condition.

    `table`: the table of alignment curves, see `recuse.pairwise.verbosity`.
    """
    if table.empty:
        return page_of_words(subject, NO_ALIGNMENT)
    entries = _bin_entries("share", f"{percent(confidence)} Wilson interval")
    legend = [[*entries, Entry("one half", line=DASHED), Entry("number of comparisons", [{"color": RULE, "lw": 0}])]]
    texts = {"across": CHOSEN_LENGTH, "up": AGREEMENT, "note": NOTE_OF_AGREEMENT}
    return _length_panels(table, subject, _draw_agreement, legend=legend, limits=(FLOOR, 1.04), **texts)


def _draw_agreement(axes: Axes, curve: pd.DataFrame) -> None:
    axes.set_yticks((0, 0.5, 1), ("0 %", "50 %", "100 %"))
    axes.axhline(0, color=GRID, lw=0.6, zorder=1)
    axes.axhline(1, color=GRID, lw=0.6, zorder=1)
    axes.axhline(0.5, zorder=2, **DASHED)
    _draw_bins(axes, curve, "agreement", curve["ci_low"], curve["ci_high"])
    heights = curve["n"] / curve["n"].max() * TALLEST
    axes.bar(curve["middle"], heights, 14.0, bottom=FLOOR, color=RULE, lw=0, zorder=1)
    for middle, height, n in zip(curve["middle"], heights, curve["n"], strict=True):
        beside = {"rotation": 90, "ha": "center", "va": "bottom", "textcoords": "offset points"}
        axes.annotate(f"{n}", (middle, FLOOR + height), (0, 1.5), color=FAINT, **beside)


@language()
def score_curves(table: pd.DataFrame, subject: Subject) -> Figure:
    """Mean score and its standard deviation in each bin of relative length, a panel for each judge and condition.

    If a judge has comparisons in both orders under a condition, those in one order are not drawn. `table`: the table
    of score curves, see `recuse.pairwise.verbosity`. A bin of one comparison has no bar.
    """
    if table.empty:
        return page_of_words(subject, NO_SCORES)
    # Both, if there are both: "debiased" is before "single".
    table = table.assign(order=table["order"].astype(object).where(table["order"].notna(), ""))
    by_panel = table.groupby(["experiment", "condition", "judge"], dropna=False)
    table = table[table["order"] == by_panel["order"].transform("min")]
    note = NOTE_OF_SCORES + NOTE_OF_SINGLE * bool((table["order"] == "single").any())
    ends = table["mean"].abs() + table["std_dev"].fillna(0.0)
    highest = max(1.0, float(ends.max())) + 0.08
    legend = [_bin_entries("mean", "± standard deviation")]
    texts = {"across": FIRST_LENGTH, "up": SCORE, "note": note}
    return _length_panels(table, subject, _draw_scores, legend=legend, limits=(-highest, highest), **texts)


def _draw_scores(axes: Axes, curve: pd.DataFrame) -> None:
    axes.set_yticks((-1, 0, 1), ("−1", "0", "1"))
    axes.grid(axis="y")
    axes.axhline(0, color=INK, lw=0.7, zorder=2)
    spread = np.nan_to_num(curve["std_dev"].to_numpy(float))
    _draw_bins(axes, curve, "mean", curve["mean"] - spread, curve["mean"] + spread)


def _length_panels(
    table: pd.DataFrame,
    subject: Subject,
    draw: Callable[[Axes, pd.DataFrame], None],
    *,
    legend: Sequence[Sequence[Entry]],
    limits: tuple[float, float],
    across: str,
    up: str,
    note: str,
) -> Figure:
    """Draw the rows of each judge and condition in a panel by `draw`.

    `table`: experiment, condition, judge, bin_low, bin_high, n, no_length, and what `draw` needs. limits: ends of the vertical
    axis; across, up: texts of the axes.
    """
    table, conditions = conditions_of(table)
    curves = dict(list(table.groupby(["condition", "judge"])))
    panels = [
        (name, judge) for name in conditions for judge in subject.palette.order(table["judge"]) if (name, judge) in curves
    ]
    counts = [
        "\n".join(filter(None, [wrap(panel[0], 0.4 * SINGLE_COLUMN), f"n = {curves[panel]['n'].sum()}"])) for panel in panels
    ]
    unknown = table["no_length"].max()
    note += f" Left out, as a length is unknown: up to {unknown} comparisons of a panel." * bool(unknown)
    texts = {"across": across, "up": up, "note": note}
    above = LINE * max(text.count("\n") + 1 for text in counts)
    titles = [judge for _, judge in panels]
    page, places = page_of_panels(subject, titles, legend, most=4, height=HEIGHT, numbers=0.42, above=above, **texts)
    for panel, count, place in zip(panels, counts, places, strict=True):
        curve = curves[panel]
        place.axes.annotate(count, (0, 1), (0, 4), xycoords="axes fraction", textcoords="offset points", color=FAINT)
        place.axes.set(xlim=LIMITS, ylim=limits)
        place.axes.set_xticks((-100, 0, 100), ("−100", "0", "+100") if place.lowest else [])
        place.axes.set_xticks((-50, 50), minor=True)
        place.axes.grid(axis="x")
        place.axes.axvline(112, color=RULE, lw=0.6, linestyle=(0, (2, 2)), zorder=1)  # before the bin without upper end
        draw(place.axes, curve.assign(middle=((curve["bin_low"] + curve["bin_high"]) / 2).fillna(OPEN)))
    return page.figure


def _draw_bins(axes: Axes, curve: pd.DataFrame, value: str, low: Sequence[float], high: Sequence[float]) -> None:
    """A point for each bin at its middle, with a bar from `low` to `high`; hollow for the open bin, the others joined."""
    closed, beyond = curve[curve["bin_high"].notna()], curve[curve["bin_high"].isna()]
    line = closed.set_index("bin_low")[value].reindex(range(-110, 110, WIDTH))  # not over a bin without comparisons
    axes.plot(line.index + WIDTH / 2, line, zorder=3, gid="curve", color=BLUE, lw=0.9, alpha=0.6)
    axes.vlines(curve["middle"], low, high, color=INTERVAL["color"], lw=INTERVAL["lw"], zorder=3, gid="bars")
    axes.plot(closed["middle"], closed[value], zorder=4, gid="points", **BIN)
    axes.plot(beyond["middle"], beyond[value], zorder=4, gid="beyond", markerfacecolor="white", **BIN)


def _bin_entries(point: str, bar: str) -> list[Entry]:
    """Legend of `_draw_bins`: what a point and what a bar is."""
    return [Entry(point, line=BIN), Entry(bar, line=INTERVAL), Entry(BEYOND, line={**BIN, "markerfacecolor": "white"})]


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
    bins = np.nanmin(np.r_[table["bin_high"] - table["bin_low"], PANEL_WIDTH]), table["bin_low"].max()  # their width, the last
    curves = {judge: dict(list(votes.groupby("experiment"))) for judge, votes in table.groupby("judge")}
    interval = f"{percent(confidence)} bootstrap interval over questions"
    bar = Entry(f"bars, in the colour of their experiment: {interval}")
    if len(experiments) == 1:
        bar = Entry(f"bar: {interval}", line={"color": COLOURS[0], "lw": INTERVAL["lw"]})
    named = [Entry(name or NO_EXPERIMENT, line=_mark(place)) for place, name in enumerate(experiments)]
    above = LINE * max(map(len, curves.values()))
    page, panels = page_of_panels(
        subject,
        judges,
        [[Entry("experiment:"), *named] if any(experiments) else [], [bar, Entry("no preference for length", line=DASHED)]],
        most=3,
        height=HEIGHT,
        numbers=0.3,
        above=above,
        least=(bins[1] / bins[0] + 1) * (widest(map(str, table["n"])) + 0.06),
        across=ACROSS,
        up="mean vote for the longer answer",
        note=f"{NOTE_OF_CURVES} {left_out}".strip(),
    )
    for judge, panel in zip(judges, panels, strict=True):
        _frame_votes(panel.axes, bins, lowest=panel.lowest)
        present = [place for place, experiment in enumerate(experiments) if experiment in curves[judge]]
        for line, place in zip(range(len(present), 0, -1), present, strict=True):
            votes, up = curves[judge][experiments[place]], LINE * (line - 0.5)
            _draw_votes(panel.axes, votes.sort_values("bin_low"), bins[0], place, len(experiments), up=up)
    return page.figure


def _left_out(table: pd.DataFrame) -> str:
    """What the curves leave out, in words; empty if nothing."""
    totals = table.drop_duplicates(["experiment", "judge"])[list(LEFT_OUT)].sum()
    counts = [f"{total:,} {LEFT_OUT[name]}" for name, total in totals.items() if total]
    nothing = list(dict.fromkeys(table.loc[table["n"] == 0, "judge"]))
    sentences = [f"Left out: {', '.join(counts)}."] * bool(counts)
    sentences += [f"Without any other vote in an experiment: {', '.join(nothing)}."] * bool(nothing)
    return " ".join(sentences)


def _mark(place: int) -> dict:
    return {"color": COLOURS[place % len(COLOURS)], "lw": 1.2, "marker": "osD^vP"[place % 6], "markersize": 3.2}


def _frame_votes(axes: Axes, bins: tuple[float, float], *, lowest: bool) -> None:
    """`bins`: their width, and the lower end of the last, which is drawn as wide as the others."""
    width, last = bins
    lows = np.arange(0, last + width, width)
    axes.set(xlim=(0, last + width), ylim=(-0.04, 1.04))
    axes.set_xticks(lows, [f"{low:g}" for low in lows] if lowest else [])
    axes.set_yticks((0, 0.5, 1), ("0", "0.5", "1"))
    axes.grid(axis="y")
    axes.axhline(0.5, zorder=2, **DASHED)


def _draw_votes(axes: Axes, curve: pd.DataFrame, width: float, place: int, count: int, *, up: float) -> None:
    """The line of experiment `place` of `count`, moved aside so that intervals do not cover each other, and its counts.

    width: of a bin; up: inches of the counts above the panel.
    """
    mark, shift = _mark(place), SHIFT * width * (place - (count - 1) / 2)
    x = curve["bin_low"].to_numpy() + width / 2 + shift
    axes.plot(x, curve["preference"], zorder=4, gid="curve", **mark)
    where = {"textcoords": "offset points", "xycoords": axes.get_xaxis_transform(), "ha": "center", "va": "center_baseline"}
    for row, middle in zip(curve.to_dict("records"), x, strict=True):
        if row["ci_low"] <= row["ci_high"]:
            axes.plot(
                [middle] * 2, [row["ci_low"], row["ci_high"]], color=mark["color"], lw=INTERVAL["lw"], zorder=3, gid="interval"
            )
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
    counts = [table.loc[table["level"] == level, "n"] for level in levels]
    labels = [
        f"{level or 'all levels'} ({'–'.join(map(str, sorted({min(n), max(n)})))})"
        for level, n in zip(levels, counts, strict=True)
    ]
    beside = widest([LONGER]) + 0.1
    interval = f"{percent(confidence)} bootstrap interval over questions"
    marks = {unit: {"color": colour, "lw": STROKE, **mark} for unit, (colour, _, mark) in UNITS.items()}
    legend = [[Entry(f"{unit}, {interval}", line=mark) for unit, mark in marks.items()]]
    titles = [name.replace("_", " ") for name in perturbations]
    sizes = {"row": 0.22, "below": 0.42, "above": 0.3, "gutter": 0.2, "beside": beside, "note": NOTE_OF_CHANGES}
    page, panels = page_of_rows(subject, labels, titles, legend, most=2, **sizes)
    limits = limits_of([0.0, *100 * table[["relative_change", "ci_low", "ci_high"]].to_numpy(float).ravel()], more=0.5)
    for perturbation, axes in zip(perturbations, panels.axes, strict=True):
        frame_rows(axes, limits=limits, rows=len(levels))
        axes.axhline(0.5, color=RULE, lw=0.6, zorder=1)  # below the row of all levels
        _draw_changes(axes, table[table["perturbation"] == perturbation], levels, beside)
    page.centred(panels.middle, 0.06, "mean change of length, % of the unperturbed answer")
    return page.figure


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
