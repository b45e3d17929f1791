"""What the length of answers does to verdicts: curves over it, and how much longer perturbations
make the answers.

Saito et al. (arXiv 2310.10076): agreement with the humans by the relative length of the answer they
chose, Figure 5, and score of the first answer by its relative length, Figures 3 and 4. Chen et al.:
preference for the longer answer, Figure 4.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import counted, enumerated, signed
from recuse.data.registry import HUMAN
from recuse.pairwise.verbosity import WIDTH
from recuse.plot.axes import limits_of
from recuse.plot.colours import (
    BLUE,
    DASHED,
    FAINT,
    GREEN,
    GRID,
    INK,
    ORANGE,
    PURPLE,
    RULE,
    SKY_BLUE,
    VERMILION,
)
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
from recuse.plot.page import (
    NO_EXPERIMENT,
    Entry,
    Head,
    conditions_of,
    joined,
    page_of_panels,
    page_of_words,
    with_text_names,
)
from recuse.plot.style import LINE, Subject, language, percent_as_given, widest, wrap

HEIGHT = 1.1  # inches of a panel
# Comparisons or votes of a bin that is drawn: the mean of fewer swings with each of them
FEWEST = 10
LEAST_BINS = 3  # of a curve

# Curves over relative length.
OPEN = 126.0  # percent: where the bin without upper end is drawn
LIMITS = (-112.0, 139.0)
WORDS = {4: 1.5, 6: 1.02}  # inches for the words over a panel, by how many are side by side
SMALL_BINS = f"bins of fewer than {FEWEST} are not drawn"
BIN = {"color": BLUE, "marker": "o", "markersize": 3.4, "markeredgewidth": 1.0, "linestyle": "none"}
INTERVAL = {"color": BLUE, "lw": 1.1, "solid_capstyle": "butt"}
BEYOND = "more than 110 % longer"
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

# Changes of length.
LONGER = "longer"
UNITS = {  # colour, rows above or below the middle of a row, and mark
    "words": (BLUE, -0.17, POINT),
    "characters": (ORANGE, 0.17, {**POINT, "marker": "D", "markersize": 2.8}),
}
NO_CHANGE = "No length confound: there is no perturbed answer."


@language()
def alignment_curves_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Share of agreement with its interval and count in each bin of relative length, a panel for
    each judge and condition.

    `table`: the table of alignment curves, see `recuse.pairwise.verbosity`.
    """
    if table.empty:
        return page_of_words(subject, NO_ALIGNMENT)
    legend = [
        [
            *_bin_entries("share"),
            Entry("one half", line=DASHED),
            Entry("comparisons", [{"color": RULE, "lw": 0}]),
        ]
    ]
    longer, shorter = (
        _mean(table[rows], "agreement") for rows in (table["bin_low"] >= 0, table["bin_high"] <= 0)
    )
    finding = (
        f"Judges agree with {_percent(longer)} of the humans' choices of a longer answer,"
        f" {_percent(shorter)} of a shorter"
    )
    head = Head(
        finding,
        f"share of decisions in bins of {WIDTH} points of length; {percent_as_given(confidence)} exact"
        f" intervals; {SMALL_BINS}",
    )
    texts = {"across": CHOSEN_LENGTH, "up": AGREEMENT}
    return _length_panels(
        table, subject, head, _draw_agreement, legend=legend, limits=(FLOOR, 1.04), **texts
    )


def _mean(table: pd.DataFrame, column: str) -> float:
    """Mean over comparisons; NaN without any."""
    return float((table[column] * table["n"]).sum() / table["n"].sum()) if len(table) else np.nan


def _percent(share: float) -> str:
    return "an unknown share" if np.isnan(share) else f"{100 * share:.0f} %"


def _draw_agreement(axes: Axes, curve: pd.DataFrame) -> None:
    axes.set_yticks((0, 0.5, 1), ("0 %", "50 %", "100 %"))
    axes.axhline(0, color=GRID, lw=0.6, zorder=1)
    axes.axhline(1, color=GRID, lw=0.6, zorder=1)
    axes.axhline(0.5, zorder=2, **DASHED)
    _draw_bins(axes, curve, "agreement", curve["ci_low"], curve["ci_high"])
    heights = curve["n"] / curve["n"].max() * TALLEST
    axes.bar(curve["middle"], heights, 14.0, bottom=FLOOR, color=RULE, lw=0, zorder=1)


@language()
def score_curves_figure(table: pd.DataFrame, subject: Subject) -> Figure:
    """Mean score and its standard deviation in each bin of relative length, a panel for each judge
    and condition.

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
    ends = table["mean"].abs() + table["std_dev"].fillna(0.0)
    highest = max(1.0, float(ends.max())) + 0.08
    head = Head(
        _preference(table),
        f"mean score and its standard deviation in bins of {WIDTH} points of length; {SMALL_BINS}",
    )
    texts = {"across": FIRST_LENGTH, "up": SCORE}
    return _length_panels(
        table,
        subject,
        head,
        _draw_scores,
        legend=[_bin_entries("mean")],
        limits=(-highest, highest),
        **texts,
    )


def _preference(table: pd.DataFrame) -> str:
    """By how much longer answers score higher than shorter ones, with the judges and with the
    humans.
    """
    is_human = table["judge"] == HUMAN
    parts = []
    for who, rows in (("judges", table[~is_human]), ("humans", table[is_human])):
        gap = _mean(rows[rows["bin_low"] >= 0], "mean") - _mean(rows[rows["bin_high"] <= 0], "mean")
        parts += [] if np.isnan(gap) else [f"{signed(gap, 2)} with the {who}"]
    return (
        f"Longer answers score {enumerated(parts)}"
        if parts
        else "No judge has answers both longer and shorter"
    )


def _draw_scores(axes: Axes, curve: pd.DataFrame) -> None:
    axes.set_yticks((-1, 0, 1), ("−1", "0", "1"))
    axes.grid(axis="y")
    axes.axhline(0, color=INK, lw=0.7, zorder=2)
    spread = curve["std_dev"].astype(float).fillna(0.0)
    _draw_bins(axes, curve, "mean", curve["mean"] - spread, curve["mean"] + spread)


def _length_panels(
    table: pd.DataFrame,
    subject: Subject,
    head: Head,
    draw: Callable[[Axes, pd.DataFrame], None],
    *,
    legend: Sequence[Sequence[Entry]],
    limits: tuple[float, float],
    across: str,
    up: str,
) -> Figure:
    """Draw the rows of each judge and condition in a panel by `draw`, if LEAST_BINS of its bins
    have FEWEST or more.

    `table`: experiment, condition, judge, bin_low, bin_high, n, no_length, and what `draw` needs.
    limits: ends of the vertical axis; across, up: texts of the axes.
    """
    table, conditions = conditions_of(table)
    curves = {
        panel: rows
        for panel, rows in table.groupby(["condition", "judge"])
        if (rows["n"] >= FEWEST).sum() >= LEAST_BINS
    }
    if not curves:
        return page_of_words(subject, NO_BINS)
    panels = [
        (name, judge)
        for name in conditions
        for judge in subject.palette.order(table["judge"])
        if (name, judge) in curves
    ]
    most = 4 if len(panels) <= 16 else 6
    totals = [curves[panel]["n"].sum() for panel in panels]
    words = [
        f"{name} ({n})" if name else f"n = {n}" for (name, _), n in zip(panels, totals, strict=True)
    ]
    counts = [wrap(text, WORDS[most]) for text in words]
    unknown = table["no_length"].max()
    note = f"Left out, as a length is unknown: up to {unknown} comparisons of a panel." * bool(
        unknown
    )
    absent = len(table.groupby(["condition", "judge"])) - len(curves)
    note = joined(
        note,
        f"Not drawn: {counted(absent, 'curve')} of fewer than {LEAST_BINS} such bins."
        * bool(absent),
    )
    texts = {"across": across, "up": up, "note": note, "most": most}
    above = LINE * max(text.count("\n") + 1 for text in counts)
    titles = [judge for _, judge in panels]
    page, places = page_of_panels(
        subject, head, titles, legend, height=HEIGHT, numbers=0.42, above=above, **texts
    )
    for panel, count, place in zip(panels, counts, places, strict=False):
        curve = curves[panel]
        place.axes.annotate(
            count, (0, 1), (0, 4), xycoords="axes fraction", textcoords="offset points", color=FAINT
        )
        place.axes.set(xlim=LIMITS, ylim=limits)
        place.axes.set_xticks((-100, 0, 100), ("−100", "0", "+100") if place.lowest else [])
        place.axes.set_xticks((-50, 50), minor=True)
        place.axes.grid(axis="x")
        # Before the bin without upper end
        place.axes.axvline(112, color=RULE, lw=0.6, linestyle=(0, (2, 2)), zorder=1)
        draw(
            place.axes,
            curve.assign(middle=((curve["bin_low"] + curve["bin_high"]) / 2).fillna(OPEN)),
        )
    return page.figure


def _draw_bins(
    axes: Axes, curve: pd.DataFrame, value: str, low: pd.Series, high: pd.Series
) -> None:
    """A point for each bin of FEWEST or more at its middle, with a bar from `low` to `high`; hollow
    for the open bin.
    """
    enough = curve["n"] >= FEWEST
    curve, low, high = curve[enough], low[enough], high[enough]
    closed, beyond = curve[curve["bin_high"].notna()], curve[curve["bin_high"].isna()]
    # Not over a bin that is not drawn
    line = closed.set_index("bin_low")[value].reindex(range(-110, 110, WIDTH))
    axes.plot(line.index + WIDTH / 2, line, zorder=3, gid="curve", color=BLUE, lw=0.9, alpha=0.6)
    axes.vlines(
        curve["middle"], low, high, color=INTERVAL["color"], lw=INTERVAL["lw"], zorder=3, gid="bars"
    )
    axes.plot(closed["middle"], closed[value], zorder=4, gid="points", **BIN)
    axes.plot(
        beyond["middle"], beyond[value], zorder=4, gid="beyond", markerfacecolor="white", **BIN
    )


def _bin_entries(point: str) -> list[Entry]:
    """Legend of `_draw_bins`: what a point is."""
    return [Entry(point, line=BIN), Entry(BEYOND, line={**BIN, "markerfacecolor": "white"})]


@language()
def length_bias_curve(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Mean vote for the longer answer in bins of the difference of lengths, a panel for each judge,
    a line for each experiment.

    `table`: the table of the length curve, see `recuse.papers.attacks`.
    """
    left_out = _left_out(table)
    table = with_text_names(table[table["n"] > 0], "experiment")
    if table.empty:
        return page_of_words(subject, joined(NO_CURVE, left_out))
    means = (table["preference"] * table["n"]).groupby(table["judge"]).sum() / table["n"].groupby(
        table["judge"]
    ).sum()
    ends = " to ".join(
        dict.fromkeys(
            f"{mean:.2f} ({judge})"
            for judge, mean in ((means.idxmin(), means.min()), (means.idxmax(), means.max()))
        )
    )
    table = table[table["n"] >= FEWEST]
    if table.empty:
        return page_of_words(
            subject, joined(f"No length curve: no bin has {FEWEST} votes.", left_out)
        )
    judges, experiments = (
        subject.palette.order(table["judge"]),
        list(dict.fromkeys(table["experiment"])),
    )
    # Their width, the last
    bins = (
        np.nanmin(np.r_[table["bin_high"] - table["bin_low"], PANEL_WIDTH]),
        table["bin_low"].max(),
    )
    curves = {
        judge: dict(list(votes.groupby("experiment"))) for judge, votes in table.groupby("judge")
    }
    interval = f"{percent_as_given(confidence)} bootstrap interval over questions"
    named = [
        Entry(name or NO_EXPERIMENT, line=_mark(place)) for place, name in enumerate(experiments)
    ]
    page, panels = page_of_panels(
        subject,
        Head(
            f"Mean vote for the longer answer: {ends}",
            f"1 for the longer, 0 for the shorter; {interval}; {SMALL_BINS}",
        ),
        judges,
        [
            [Entry("experiment:"), *named] if any(experiments) else [],
            [Entry("no preference for length", line=DASHED)],
        ],
        most=4,
        height=HEIGHT,
        numbers=0.3,
        across=ACROSS,
        up="mean vote for the longer answer",
        note=left_out,
    )
    for judge, panel in zip(judges, panels, strict=False):
        _frame_votes(panel.axes, bins, lowest=panel.lowest)
        for place, experiment in enumerate(experiments):
            if experiment in curves[judge]:
                _draw_votes(panel.axes, curves[judge][experiment], bins, place, len(experiments))
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
    return {
        "color": COLOURS[place % len(COLOURS)],
        "lw": 1.2,
        "marker": "osD^vP"[place % 6],
        "markersize": 3.2,
    }


def _frame_votes(axes: Axes, bins: tuple[float, float], *, lowest: bool) -> None:
    """`bins`: their width, and the lower end of the last, which is drawn as wide as the others."""
    width, last = bins
    lows = np.arange(0, last + width, width)
    axes.set(xlim=(0, last + width), ylim=(-0.04, 1.04))
    axes.set_xticks(lows[::2], [f"{low:g}" for low in lows[::2]] if lowest else [])
    axes.set_yticks((0, 0.5, 1), ("0", "0.5", "1"))
    axes.grid(axis="y")
    axes.axhline(0.5, zorder=2, **DASHED)


def _draw_votes(
    axes: Axes, curve: pd.DataFrame, bins: tuple[float, float], place: int, count: int
) -> None:
    """The line of experiment `place` of `count`, moved aside so that intervals do not cover each
    other; bins as above.
    """
    width, last = bins
    mark, shift = _mark(place), SHIFT * width * (place - (count - 1) / 2)
    line = curve.set_index("bin_low")["preference"].reindex(
        np.arange(0, last + width, width)
    )  # not over a bin that is not drawn
    axes.plot(line.index + width / 2 + shift, line, zorder=4, gid="curve", **mark)
    for row in curve[curve["ci_low"] <= curve["ci_high"]].to_dict("records"):
        ends, at = [row["ci_low"], row["ci_high"]], row["bin_low"] + width / 2 + shift
        axes.plot([at] * 2, ends, color=mark["color"], lw=INTERVAL["lw"], zorder=3, gid="interval")


@language()
def length_confound_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Mean relative change of length with its interval, a panel for each perturbation, a row for
    each level.

    `table`: the table of the length confound, see `recuse.papers.attacks`; only the rows of
    perturbed answers.
    """
    table = table[table["answers"] == "perturbed"]
    if table.empty:
        return page_of_words(subject, NO_CHANGE)
    table = table.assign(level=table["level"].fillna(""))
    levels, perturbations = (
        list(dict.fromkeys(table["level"])),
        list(dict.fromkeys(table["perturbation"])),
    )
    counts = [table.loc[table["level"] == level, "n"] for level in levels]
    labels = [
        f"{level or 'all levels'} ({'–'.join(map(str, sorted({min(n), max(n)})))})"
        for level, n in zip(levels, counts, strict=True)
    ]
    beside = widest([LONGER]) + 0.1
    interval = f"{percent_as_given(confidence)} bootstrap interval over questions"
    marks = {
        unit: {"color": colour, "lw": STROKE, **mark} for unit, (colour, _, mark) in UNITS.items()
    }
    legend = [[Entry(unit, line=mark) for unit, mark in marks.items()]]
    words = (
        table[(table["unit"] == "words") & (table["level"] == levels[0])]
        .set_index("perturbation")["relative_change"]
        .dropna()
    )
    longest, least = (
        f"{name.replace('_', ' ')} {signed(100 * words[name], 0)} %"
        for name in (words.idxmax(), words.idxmin())
    )
    head = Head(
        f"Perturbations change the length of answers by different amounts: {longest}, {least}",
        f"% of the unperturbed answer; {interval}",
    )
    titles = [name.replace("_", " ") for name in perturbations]
    sizes = {"row": 0.22, "below": 0.42, "above": 0.3, "gutter": 0.2, "beside": beside}
    page, panels = page_of_rows(subject, head, labels, titles, legend, most=2, **sizes)
    limits = limits_of(
        [0.0, *100 * table[["relative_change", "ci_low", "ci_high"]].to_numpy(float).ravel()],
        more=0.5,
    )
    for perturbation, axes in zip(perturbations, panels.axes, strict=False):
        frame_rows(axes, limits=limits, rows=len(levels))
        axes.axhline(0.5, color=RULE, lw=0.6, zorder=1)  # below the row of all levels
        _draw_changes(axes, table[table["perturbation"] == perturbation], levels, beside)
    page.centred(panels.middle, 0.06, "mean change of length")
    return page.figure


def _draw_changes(axes: Axes, table: pd.DataFrame, levels: Sequence[str], beside: float) -> None:
    write_number(axes, -0.5, LONGER, beside, up=LINE / 2)
    for row in table.to_dict("records"):
        place, (colour, shift, mark) = levels.index(row["level"]), UNITS[row["unit"]]
        if not np.isnan(row["relative_change"]):
            draw_bar(axes, place + shift, row, colour, scale=100)
            draw_point(
                axes,
                place + shift,
                100 * row["relative_change"],
                colour,
                mark=mark,
                gid=row["unit"],
            )
        if row["unit"] == "words" and np.isnan(row["relative_change"]):
            write_instead(axes, place, "no perturbed answer")
        elif row["unit"] == "words":
            write_number(axes, place, f"{100 * row['longer']:.0f} %", beside)
