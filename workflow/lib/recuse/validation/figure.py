"""How often verdicts and tests name a judge in simulated worlds without self-bias, a row for each
world.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.words import enumerated
from recuse.plot.colours import BLUE, GREEN, INK, VERMILION
from recuse.plot.intervals import page_of_rows, write_instead
from recuse.plot.page import Entry, Head, page_of_words
from recuse.plot.style import BOLD_TITLE, LINE, TEXT, Subject, language, percent_as_given, wrap
from recuse.validation.estimators import ESTIMATORS

BELOW = 0.36  # inches under a panel, for its numbers
VERDICTS = "verdicts"  # estimators without an estimand, which use all three
COLOURS = {"A": VERMILION, "B": BLUE, "C": GREEN, VERDICTS[0]: INK}
INCONCLUSIVE = "inconclusive"
POINT = {"marker": "o", "markersize": 3.0, "markeredgewidth": 0.5}
BAND = "#E2E2E2"
TOLERANCE = 0.02  # half width of the band around the nominal share
NO_WORLD = "Nothing to draw: no grid has a world without self-bias."
WORLD_ROW = 0.165  # inches
NARROW = 0.8  # inches: least width of the panel of an estimator
TICKS = (0.0, 0.1, 0.3, 1.0)
HOLDS = 0.03  # above the level, which the shares of all judges may be of an estimator that holds
REFUSED = 0.005  # share of tests: if more are refused, a mark is hollow
POOLED = {"marker": "D", "markersize": 3.0, "markeredgewidth": 0.7}


def _root(share: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(share, 0))


def _square(place: np.ndarray) -> np.ndarray:
    return np.square(np.maximum(place, 0))


def _estimand(estimator: str) -> str:
    return ESTIMATORS[estimator].estimand or VERDICTS


def _label(estimator: str) -> str:
    words = ESTIMATORS[estimator].words
    return (
        f"{ESTIMATORS[estimator].estimand[0]}: {words}" if ESTIMATORS[estimator].estimand else words
    )


def _present(drawn: pd.DataFrame) -> list[str]:
    return [name for name in ESTIMATORS if (drawn["estimator"] == name).any()]


@language()
def worlds(
    table: pd.DataFrame,
    subject: Subject,
    *,
    estimators: Sequence[str],
    world: str,
    confidence: float,
) -> Figure:
    """Draw how often each of `estimators` calls a judge biased in the worlds without self-bias, a
    row each.

    `table`: that of worlds; world: what the worlds have in common, in words. Dot: mean over judges;
    line: from the lowest judge to the highest; diamond: the test of the mean over judges; hollow:
    some tests are refused. Dashed: the nominal level.
    """
    drawn = table[(table["planted"] == 0) & table["estimator"].isin(estimators)]
    names, titles, nominal = _present(drawn), list(drawn["title"].drop_duplicates()), 1 - confidence
    if drawn.empty:
        return page_of_words(subject, NO_WORLD)
    room = {
        "most": len(names),
        "row": WORLD_ROW,
        "below": BELOW,
        "gutter": 0.2,
        "right": 0.1,
        "least": NARROW,
    }
    heads = [wrap(_label(name), BOLD_TITLE * (NARROW + 0.1), TEXT) for name in names]
    above = LINE * (1.2 + max(head.count("\n") for head in heads))
    alone = {"color": INK, "linestyle": "none"}
    legend = [
        [
            Entry(
                "mean over judges, and lowest to highest judge",
                line={"color": INK, "lw": 1.1, **POINT},
            ),
            Entry("test of the mean self-bias", line={**alone, **POOLED}),
            Entry("some tests refused", line={**alone, **POINT, "markerfacecolor": "white"}),
        ]
    ]
    unit = (
        f"share of judges without self-bias that are called biased, %, at the {percent_as_given(nominal)}"
        " level (dashed)"
    )
    head = Head(_finding(drawn, names, nominal), unit)
    note = f"{world} {drawn['replicates'].max():,} draws of each world."
    page, panels = page_of_rows(
        subject, head, titles, heads, legend, above=above, note=note, **room
    )
    for name, axes in zip(names, panels.axes, strict=True):
        axes.set_xscale("function", functions=(_root, _square))
        axes.set(xlim=(0, 1), ylim=(len(titles) - 0.5, -0.5))
        axes.set_xticks(TICKS, [f"{100 * tick:.0f}" for tick in TICKS])
        axes.minorticks_off()
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y")
        axes.axvspan(
            nominal - TOLERANCE, nominal + TOLERANCE, color=BAND, lw=0, zorder=1, gid="band"
        )
        axes.axvline(nominal, color=INK, lw=0.8, linestyle=(0, (4, 2)), zorder=2, gid="nominal")
        for _, row in drawn[drawn["estimator"] == name].iterrows():
            _draw_world(axes, titles.index(row["title"]), row, COLOURS[_estimand(name)[0]])
    page.centred(panels.middle, 0.06, "called biased, %")
    return page.figure


def _draw_world(axes: Axes, place: int, row: Mapping, colour: str) -> None:
    """The tests of one estimator in one world."""
    marks = [("mean", "refused", POINT), ("pooled", "pooled_refused", POOLED)]
    present = [mark for mark in marks if not np.isnan(row[mark[0]])]
    if not present:
        write_instead(axes, place, "refused")
    if not np.isnan(row["lowest"]):
        axes.hlines(place, row["lowest"], row["highest"], color=colour, lw=1.1, gid="judges")
    for name, refused, mark in present:
        face = {"markerfacecolor": "white"} if row[refused] > REFUSED else {}
        axes.plot(
            [row[name]],
            [place],
            color=colour,
            linestyle="none",
            clip_on=False,
            zorder=4,
            gid=name,
            **mark,
            **face,
        )


def _finding(drawn: pd.DataFrame, names: Sequence[str], nominal: float) -> str:
    """In how many worlds each estimator holds its level for every judge, of those in which it has a
    result.
    """
    most, counts = nominal + HOLDS, []
    for name in names:
        if name == INCONCLUSIVE:  # no alarm
            continue
        shares = drawn.loc[drawn["estimator"] == name, "highest"].dropna()
        counts += (
            [f"{_label(name)} in {(shares <= most).sum()} of {len(shares)} worlds"]
            if len(shares)
            else []
        )
    return f"At most {percent_as_given(most)} false alarms for every judge: {enumerated(counts)}"
