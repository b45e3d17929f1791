"""Attack success rate by perturbation and judge, and votes by the place of the answers: Tables 1,
3, 4 and 6 of Chen et al.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from recuse.base.words import number
from recuse.papers.attack_values import attack_key, read_attacks
from recuse.plot.colours import BLUE, INK, ORANGE, VERMILION
from recuse.plot.page import (
    NO_EXPERIMENT,
    Entry,
    extremes,
    head,
    keys,
    name_in_words,
    page_of_words,
    tally,
    with_text_names,
)
from recuse.plot.rows import CROSS, Block, Column, Kind, Row, rows_figure
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
            page.stack(CHOSEN, row.key, votes, PLACES, height=HEIGHT)
    return page.figure
