"""What more prompts would show: detectable self-bias and false alarms."""

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.reasons import Reason, in_words
from recuse.base.words import counted, enumerated
from recuse.inference.power import TOO_OFTEN
from recuse.plot.axes import round_numbers
from recuse.plot.colours import BLUE, FAINT, GREEN, INK, VERMILION
from recuse.plot.page import Entry, Head, Page, page_of_words
from recuse.plot.style import (
    DOUBLE_COLUMN,
    EDGE,
    LINE,
    UNIT,
    UPRIGHT,
    Subject,
    language,
    percent_as_given,
)

NUMBERS = 0.4  # inches beside the axis text
TALL = 2.4  # inches of the panel
STYLES = ("-", (0, (4, 2)), (0, (1, 1)))  # by number of models
# Colour of each estimand, times its prompts, so that lines which coincide stand side by side, and
# mark
LETTERS = {
    "A": (VERMILION, 0.96, {"marker": "o", "markersize": 4.4}),
    "B": (BLUE, 1.04, {"marker": "s", "markersize": 4.0}),
    "C": (GREEN, 1.0, {"marker": "^", "markersize": 4.8}),
}
EXACT_SCORES = "human scores taken as exact"
AIM = {"color": INK, "lw": 0.9}
NONE = "No power: no judge with its own slope on human scores rates itself (tables/power.csv)."


@language()
def power_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw the smallest detectable self-bias against the number of prompts, a line for each
    estimand and number of models.

    `table`: see recuse.inference.power.power_rows; of its numbers of raters the smallest, the worst
    case, is drawn. A point is hollow where the study's own test is oversized: it calls unbiased
    judges biased more than TOO_OFTEN times its level.
    """
    raters = table["raters"].min()  # NaN if human scores are taken as exact
    table = table[table["raters"].isna() | (table["raters"] == raters)]
    drawn = table.dropna(subset="detectable").sort_values("prompts")
    if drawn.empty:
        return page_of_words(subject, NONE)
    models, aim, level = (
        sorted(drawn["models"].unique()),
        table["self_bias"].iloc[0],
        1 - confidence,
    )
    styles = dict(zip(models, cycle(STYLES), strict=False))
    looks = {
        letter: {"color": colour, "lw": 1.2, **mark}
        for letter, (colour, _, mark) in LETTERS.items()
    }
    kinds = list(drawn["estimand"].drop_duplicates())
    hollow = {"color": INK, **looks["A"], "linestyle": "none", "markerfacecolor": "white"} | {
        "color": INK
    }
    judges = drawn.drop_duplicates("models").set_index("models")["judges"]
    legend = [
        [Entry(kind, line=looks[kind[0]]) for kind in kinds],
        [
            Entry(
                f"{n} models, {counted(judges[n], 'judge')}",
                line={"color": FAINT, "linestyle": styles[n]},
            )
            for n in models
        ],
        [
            Entry(
                "unbiased judges called biased more than twice as often as the level", line=hollow
            ),
            Entry("target", line=AIM),
        ],
    ]
    of_raters = (
        EXACT_SCORES
        if np.isnan(raters)
        else f"{counted(int(raters), 'human rater')} of a completion"
    )
    unit = (
        f"{UNIT}, detected with {percent_as_given(table['power'].iloc[0])} probability at the"
        f" {percent_as_given(level)} level; {of_raters}"
    )
    left, bottom, width = (
        EDGE + LINE + NUMBERS,
        0.4,
        DOUBLE_COLUMN - 2 * EDGE - LINE - NUMBERS - 0.1,
    )
    head = Head(_needed(table[table["models"] == models[0]], aim), unit)
    page = Page(
        subject=subject,
        head=head,
        width=DOUBLE_COLUMN,
        body=bottom + TALL + 0.1,
        legend=legend,
        note=_absent(table),
    )
    axes = page.axes(left, bottom, width, TALL)
    _frame(axes, drawn, aim)
    for (kind, number), rows in drawn.groupby(["estimand", "models"], sort=False):
        look = looks[kind[0]]
        rows = rows.assign(prompts=rows["prompts"] * LETTERS[kind[0]][1])
        line = {**look, "linestyle": styles[number], "marker": ""}
        axes.plot(rows["prompts"], rows["detectable"], gid="detectable", zorder=3, **line)
        oversized = rows["size"] > TOO_OFTEN * level
        for part, face in ((rows[oversized], "white"), (rows[~oversized], look["color"])):
            point = {**look, "linestyle": "none", "markerfacecolor": face}
            axes.plot(part["prompts"], part["detectable"], gid="point", zorder=4, **point)
    page.centred(left + width / 2, 0.06, "prompts")
    page.text(EDGE + LINE / 2, bottom + TALL / 2, "smallest detectable self-bias", **UPRIGHT)
    return page.figure


def _needed(table: pd.DataFrame, aim: float) -> str:
    """How many prompts the target takes by each estimand, in words."""
    rows = table.drop_duplicates("estimand")
    counts = [
        f"{row.prompts_needed:,.0f} ({row.estimand[0]})"
        for row in rows.itertuples()
        if row.prompts_needed > 0
    ]
    never = [row.estimand[0] for row in rows.itertuples() if row.reason == Reason.FLOOR_ABOVE_AIM]
    enough = f"no number of prompts is enough for {enumerated(never)}" if never else ""
    if not counts:
        return (
            f"A self-bias of {aim:g} cannot be detected:"
            f" {enough or 'preferences for single models are unknown'}"
        )
    return (
        f"Detecting a self-bias of {aim:g} takes about {enumerated(counts)}"
        f" prompts{'; ' * bool(enough)}{enough}"
    )


def _absent(table: pd.DataFrame) -> str:
    """What keeps an estimand from being drawn."""
    is_absent = table["detectable"].isna() | (table["reason"] == Reason.UNKNOWN_PREFERENCES)
    reasons = table.loc[is_absent].dropna(subset="reason").groupby("reason", sort=False)["estimand"]
    return " ".join(
        f"{enumerated(list(names.unique()))}: {in_words(reason)}." for reason, names in reasons
    )


def _frame(axes: Axes, drawn: pd.DataFrame, aim: float) -> None:
    prompts, ends = drawn["prompts"], [*drawn["detectable"], aim]
    axes.set(
        xscale="log",
        xlim=(prompts.min() / 1.15, prompts.max() * 1.15),
        yscale="log",
        ylim=(min(ends) / 1.2, max(ends) * 1.2),
    )
    across = round_numbers(
        axes.get_xlim(), (1, 3) if prompts.max() > 10 * prompts.min() else (1, 2, 5)
    )
    up = round_numbers(axes.get_ylim(), (1, 2, 3, 5))
    axes.set_xticks(across, [f"{place:,.0f}" for place in across])
    axes.set_yticks(up, [f"{place:g}" for place in up])
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0)
    axes.grid()
    axes.axhline(aim, zorder=2, gid="aim", **AIM)
