"""Attack success rate by perturbation and judge, votes by the place of the answers, and preference
for the longer answer: Tables 1, 3, 4 and 6 and Figure 4 of Chen et al.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import number
from recuse.papers.attack_values import attack_key, read_attacks
from recuse.plot.colours import (
    BLUE,
    DASHED,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY_BLUE,
    VERMILION,
)
from recuse.plot.curves import CurvePanel, Series, curves_figure
from recuse.plot.length import FEWEST
from recuse.plot.page import (
    NO_EXPERIMENT,
    Entry,
    extremes,
    head,
    joined,
    keys,
    name_in_words,
    page_of_words,
    tally,
    with_text_names,
    written,
)
from recuse.plot.rows import CROSS, LETTERS, POINTS, Block, Column, Kind, Row, Rows, rows_figure
from recuse.plot.style import Subject, language

CONDITION = ["condition", "model_a", "model_b"]  # of an experiment
LIMITS = (-0.04, 1.04)
TICKS = ((0, "0"), (0.5, "0.5"), (1, "1"))
RATE, PRINTED = "rate", "printed"
KINDS = {
    RATE: Kind("these votes", colour=BLUE),
    PRINTED: Kind("as printed by Chen et al. for their votes", CROSS, VERMILION, 0, interval=False),
}
NO_RATES = "No attack success rate: no perturbed answer has a control group."
HEIGHT = 0.15  # inches of a bar
PLACES = {
    "first": {"facecolor": BLUE},
    "tie": {"facecolor": "#D9D9D9"},
    "second": {"facecolor": ORANGE, "hatch": "//////"},
}
CHOSEN, DIFFERENCE = "chosen", "difference"
SHARES = [
    Entry("shown first", "■", BLUE),
    Entry("tie", "■", "#D9D9D9"),
    Entry("second", "▨", ORANGE),
]
NO_VOTES = "No votes by position: there is no vote about perturbed answers."


@language()
def attack_success(
    rates: pd.DataFrame,
    ranks: pd.DataFrame,
    subject: Subject,
    *,
    confidence: float,
    published: Sequence[str] = (),
) -> Figure:
    """ASR with its interval, a panel for each perturbation (and pair of models), the experiments
    one below another.

    rates, ranks: the tables of success rates and of average ranks, in whose order judges are drawn;
    see `recuse.papers.attacks` and `ranks`. published: the file of printed rates, in a list; each
    is drawn beside the rate of the same attack on the same judge; see `attack_key`.
    """
    if rates.empty:
        return page_of_words(subject, NO_RATES)
    rates, ranks = (with_text_names(table, "experiment", *CONDITION) for table in (rates, ranks))
    marks = rates.assign(
        panel=keys(rates, "experiment", *CONDITION),
        row=rates["judge"],
        kind=RATE,
        estimate=rates["asr"],
        instead="no sample",
    )
    quoted = [row for path in published for row in read_attacks(path) if row["quantity"] == "asr"]
    rows = rates.to_dict("records")
    key = attack_key(quoted, rows)
    values = {key(row): float(row["value"]) for row in quoted}
    printed = marks.assign(kind=PRINTED, estimate=[values.get(key(row), np.nan) for row in rows])
    printed = printed.dropna(subset="estimate")

    blocks = [
        _block(own, ranks[ranks["experiment"] == name])
        for name, own in marks.groupby("experiment", sort=False)
    ]
    means = extremes(rates.groupby("judge", sort=False)["asr"].mean())
    return rows_figure(
        pd.concat([marks, printed]),
        subject,
        head("attack_success", means=means, level=confidence),
        blocks,
        kinds=KINDS if len(printed) else {RATE: Kind(colour=BLUE)},
        most=4,
        absent="not judged",
    ).figure


def _natural(names: Sequence[str]) -> list:
    """Key that sorts names by their numbers where these are what differs: 7B, 13B, 70B."""
    parts = [re.split(r"(\d+)", name) for name in names]
    return [[int(part) if part.isdigit() else part for part in each] for each in parts]


def _block(marks: pd.DataFrame, ranks: pd.DataFrame) -> Block:
    """The panels of an experiment, named by what differs between them, under a heading with what
    does not; judges by their average rank, which follows their names.
    """
    panels = sorted(set(marks["panel"]), key=_natural)
    conditions, first, second = ({panel[part] for panel in panels} for part in (1, 2, 3))
    columns = []
    for panel in panels:
        _, condition, *models = panel
        differ = [
            model for model, among in zip(models, (first, second), strict=True) if len(among) > 1
        ]
        named = [name_in_words(condition)] if len(conditions) > 1 or not differ else []
        title = ": ".join([*named, *filter(None, [" against ".join(differ)])])
        counts = marks.loc[marks["panel"] == panel, "n"]
        under = "n = " + "–".join(map(str, sorted({counts.min(), counts.max()})))
        across = "attack success rate"
        columns.append(
            Column(panel, title, under, across=across, at=None, limits=LIMITS, ticks=TICKS)
        )
    pair = "several pairs of models"
    if len(first) == 1:
        pair = f"{min(first)} against {min(second) if len(second) == 1 else 'others'}"
    alike = [name_in_words(name) for name in conditions if len(conditions) == 1 < len(panels)]
    heading = ", ".join([*alike, pair])
    averages = dict(zip(ranks["judge"], ranks["average_rank"], strict=True))
    judges = [judge for judge in averages if judge in set(marks["judge"])]
    rows = [Row(judge, f"{judge} ({number(averages[judge], 2)})") for judge in judges]
    experiment = name_in_words(marks["experiment"].iloc[0])
    return Block(rows, columns, ": ".join(filter(None, [experiment, heading])))


@language()
def votes_by_position_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Shares of votes by place as stacked bars, and the difference of first and second with its
    interval.

    A row for each judge, the experiments one below another, each under its name if any has one.
    `table`: the table of votes by position, see `recuse.papers.attacks`.
    """
    if table.empty:
        return page_of_words(subject, NO_VOTES)
    table = with_text_names(table, "experiment")
    named, experiments = (table["experiment"] != "").any(), [*table["experiment"].unique()]
    table = table.assign(
        place=table["experiment"].map(experiments.index), size=table["difference"].abs()
    )
    table = table.sort_values(["place", "size"], kind="stable")
    rows = []
    for row in table.to_dict("records"):
        group = name_in_words(row["experiment"]) or NO_EXPERIMENT if named else ""
        rows.append(Row((row["experiment"], row["judge"]), row["judge"], INK, group))
    marks = table.assign(
        panel=DIFFERENCE,
        row=[row.key for row in rows],
        estimate=table["difference"].where(table["n"] > 0),
        text=table["n"].map(str),
        instead="errors only",
    )
    empty = marks.assign(panel=CHOSEN, estimate=np.nan, text=None)
    empty["instead"] = empty["instead"].where(table["n"] == 0)
    counts = tally(table, name="judge", value="difference")
    several = not table["judge"].is_unique
    columns = [
        Column(CHOSEN, "Answer chosen", across="share of votes", at=None, limits=(0, 1)),
        Column(DIFFERENCE, "First minus second", less="second", more="first", beside="votes"),
    ]
    page = rows_figure(
        pd.concat([marks, empty]),
        subject,
        head("votes", tally=counts, several=several, level=confidence),
        [Block(rows, columns)],
        row=0.22,
        key=SHARES,
    )
    for row, votes in zip(rows, table.to_dict("records"), strict=True):
        if votes["n"]:
            stack(page, CHOSEN, row.key, votes, PLACES, height=HEIGHT)
    return page.figure


# Preference for the longer answer.
PANEL_WIDTH = 10  # units of length of a bin, if no bin with two ends shows it
SHIFT = 0.14  # of a bin between the marks of neighbouring experiments
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY_BLUE)
ACROSS = "absolute difference of the lengths of the two answers, in words (last bin: this and more)"
LEFT_OUT = ["equal_lengths", "no_length", "errors"]  # columns that count votes
NO_CURVE = "No length curve: no vote in a control group is on answers of different, known lengths."


@language()
def length_bias_curve(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Mean vote for the longer answer in bins of the difference of lengths, a panel for each judge,
    a line for each experiment.

    `table`: the table of the length curve, see `recuse.papers.attacks`.
    """
    note = _left_out(table)
    table = with_text_names(table[table["n"] > 0], "experiment")
    if table.empty:
        return page_of_words(subject, joined(NO_CURVE, note))
    sums = table.assign(votes=table["preference"] * table["n"]).groupby("judge")[["votes", "n"]]
    means = extremes(sums.sum()["votes"] / sums.sum()["n"])
    table = table[table["n"] >= FEWEST]
    if table.empty:
        return page_of_words(subject, joined(f"No length curve: no bin has {FEWEST} votes.", note))
    judges, experiments = subject.palette.order(table["judge"]), [*table["experiment"].unique()]
    series, key = {}, []
    for place, name in enumerate(experiments):
        mark, colour = POINTS[place % len(POINTS)], COLOURS[place % len(COLOURS)]
        series[name] = Series(colour, {"lw": 1.2}, mark)
        key.append(Entry(name_in_words(name) or NO_EXPERIMENT, LETTERS[mark["marker"]], colour))
    # Of the bins: their width, and the lower end of the last, which is drawn as wide
    width = np.nanmin(np.r_[table["bin_high"] - table["bin_low"], PANEL_WIDTH])
    lows = np.arange(0, table["bin_low"].max() + width, width)
    points = []
    for (judge, name), votes in table.groupby(["judge", "experiment"], sort=False):
        votes = votes.set_index("bin_low").reindex(lows)  # no line over a bin that is not drawn
        # Aside, so that intervals do not cover each other
        aside = SHIFT * (experiments.index(name) - (len(experiments) - 1) / 2)
        points.append(votes.assign(panel=judge, series=name, x=lows + width * (0.5 + aside)))
    columns = {"preference": "y", "ci_low": "low", "ci_high": "high"}

    def frame(axes: Axes, _: CurvePanel) -> None:
        axes.set(xlim=(0, lows[-1] + width), ylim=(-0.04, 1.04))
        axes.set_xticks(lows[::2], [f"{low:g}" for low in lows[::2]])
        axes.set_yticks((0, 0.5, 1), ("0", "0.5", "1"))
        axes.grid(axis="y")
        axes.axhline(0.5, zorder=2, **DASHED)

    return curves_figure(
        pd.concat(points).rename(columns=columns),
        subject,
        head("length_bias", means=means, level=confidence),
        [CurvePanel(judge, judge) for judge in judges],
        series,
        frame,
        left=0.3,
        across=ACROSS,
        up="mean vote for the longer answer",
        key=key if len(experiments) > 1 else [],
        note=note,
    )


def _left_out(table: pd.DataFrame) -> str:
    """What the curves leave out, in words; empty if nothing."""
    counts = table.drop_duplicates(["experiment", "judge"])[LEFT_OUT].sum().to_dict()
    nothing = table.loc[table["n"] == 0, "judge"].unique()
    return written("votes_left_out", counts=counts, judges=list(nothing))


def stack(
    drawn: Rows, panel: object, row: object, lengths: Mapping, looks: Mapping, *, height: float
) -> None:
    """Bars end to end in a row, with lengths and looks by name; height: inches."""
    left = 0.0
    for name, look in looks.items():
        look = {"edgecolor": "white", "lw": 0.4, "zorder": 3, "height": height, **look}
        place = drawn.place(panel, row)
        drawn.axes[panel].barh([place], [lengths[name]], left=left, gid=name, **look)
        left += lengths[name]
