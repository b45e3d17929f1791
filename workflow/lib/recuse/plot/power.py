"""What more prompts would show: detectable self-bias and false alarms."""

from collections.abc import Mapping
from itertools import cycle
from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, StrMethodFormatter

from recuse.base.reasons import Reason, in_words
from recuse.base.words import counted, enumerated
from recuse.inference.power import TOO_OFTEN
from recuse.plot.colours import BLUE, FAINT, GREEN, INK, VERMILION
from recuse.plot.curves import CurvePanel, Series, curves_figure
from recuse.plot.page import Entry, head, keys, page_of_words
from recuse.plot.style import Subject, language

TALL = 2.4  # inches of the panel
STYLES = (("─", "-"), ("╌", (0, (4, 2))), ("┈", (0, (1, 1))))  # by number of models


class Look(NamedTuple):
    """An estimand's colour, mark and its letter; aside: times its prompts, so that lines which
    coincide stand side by side.
    """

    colour: str
    glyph: str
    mark: Mapping
    aside: float


LETTERS = {
    "A": Look(VERMILION, "●", {"marker": "o", "markersize": 4.4}, 0.96),
    "B": Look(BLUE, "■", {"marker": "s", "markersize": 4.0}, 1.04),
    "C": Look(GREEN, "▲", {"marker": "^", "markersize": 4.8}, 1.0),
}
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
    judges = drawn.drop_duplicates("models").set_index("models")["judges"]
    key = [
        Entry(kind, LETTERS[kind[0]].glyph, LETTERS[kind[0]].colour)
        for kind in dict.fromkeys(drawn["estimand"])
    ]
    key += [
        Entry(f"{n} models, {counted(judges[n], 'judge')}", styles[n][0], FAINT) for n in models
    ]
    facts = {"power": table["power"].iloc[0], "level": level}
    facts["raters"] = int(raters) if raters > 0 else 0
    series = {}
    for kind, number in drawn[["estimand", "models"]].drop_duplicates().itertuples(index=False):
        letter = LETTERS[kind[0]]
        line = {"lw": 1.2, "linestyle": styles[number][1]}
        series[kind, number] = Series(letter.colour, line, letter.mark)
    points = drawn.assign(
        panel="",
        series=keys(drawn, "estimand", "models"),
        x=drawn["prompts"] * [LETTERS[kind[0]].aside for kind in drawn["estimand"]],
        y=drawn["detectable"],
        hollow=drawn["size"] > TOO_OFTEN * level,
    )

    def frame(axes: Axes, _: CurvePanel) -> None:
        prompts, ends = drawn["prompts"], [*drawn["detectable"], aim]
        axes.set(xscale="log", xlim=(prompts.min() / 1.15, prompts.max() * 1.15))
        axes.set(yscale="log", ylim=(min(ends) / 1.2, max(ends) * 1.2))
        for axis, digits in ((axes.xaxis, (1, 3)), (axes.yaxis, (1, 2, 3, 5))):
            axis.set_major_locator(LogLocator(subs=digits))
            axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axes.minorticks_off()
        axes.grid()
        axes.axhline(aim, zorder=2, gid="aim", **AIM)
        where = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
        axes.annotate("target", (1, aim), (0, 2), ha="right", **where)

    return curves_figure(
        points,
        subject,
        head("power", aim=aim, **_needed(table[table["models"] == models[0]]), **facts),
        [CurvePanel("")],
        series,
        frame,
        height=TALL,
        across="prompts",
        up="smallest detectable self-bias",
        key=key,
        note=_absent(table),
    )


def _needed(table: pd.DataFrame) -> dict[str, list]:
    """How many prompts the target takes by each estimand, and those by which it is out of reach."""
    rows = table.drop_duplicates("estimand")
    reached = rows[rows["prompts_needed"] > 0]
    counts = [*zip(reached["prompts_needed"], reached["estimand"].str[0], strict=True)]
    never = rows.loc[rows["reason"] == Reason.FLOOR_ABOVE_AIM, "estimand"].str[0].tolist()
    return {"counts": counts, "never": never}


def _absent(table: pd.DataFrame) -> str:
    """What keeps an estimand from being drawn."""
    is_absent = table["detectable"].isna() | (table["reason"] == Reason.UNKNOWN_PREFERENCES)
    reasons = table.loc[is_absent].dropna(subset="reason").groupby("reason", sort=False)["estimand"]
    return " ".join(
        f"{enumerated(list(names.unique()))}: {in_words(reason)}." for reason, names in reasons
    )
