"""How often verdicts and tests name a judge in simulated worlds without self-bias, a row for each
world.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from recuse.plot.colours import BLUE, GREEN, INK, VERMILION
from recuse.plot.page import Entry, head, page_of_words
from recuse.plot.rows import POINTS, Block, Column, Kind, Row, rows_figure
from recuse.plot.style import Subject, language
from recuse.validation.estimators import ESTIMATORS

# By letter of the estimand; estimators without one use all three
COLOURS = {"A": VERMILION, "B": BLUE, "C": GREEN, "": INK}
INCONCLUSIVE = "inconclusive"
KINDS = {"mean": Kind(mark=POINTS[0]), "pooled": Kind("", POINTS[3], interval=False)}
KEY = [
    Entry("mean over judges; line: lowest to highest judge", "●"),
    Entry("test of the mean self-bias", "◆"),
    Entry("some tests refused", "○"),
]
BAND = "#E2E2E2"
TOLERANCE = 0.02  # half width of the band around the nominal share
NO_WORLD = "Nothing to draw: no grid has a world without self-bias."
SHARES = ["estimate", "ci_low", "ci_high"]
# The axis is of roots of shares
LIMITS, TICKS = (0.0, 1.0), [(share**0.5, f"{100 * share:.0f}") for share in (0, 0.1, 0.3, 1)]
HOLDS = 0.03  # above the level, which the shares of all judges may be of an estimator that holds
REFUSED = 0.005  # share of tests: if more are refused, a mark is hollow


def _label(estimator: str) -> str:
    about = ESTIMATORS[estimator]
    return f"{about.estimand[0]}: {about.words}" if about.estimand else about.words


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
    if drawn.empty:
        return page_of_words(subject, NO_WORLD)
    drawn = drawn.assign(row=drawn["title"], panel=drawn["estimator"], instead="refused")
    judges = drawn.assign(
        kind="mean",
        estimate=drawn["mean"],
        ci_low=drawn["lowest"],
        ci_high=drawn["highest"],
        hollow=drawn["refused"] > REFUSED,
    )
    pooled = drawn.assign(
        kind="pooled", estimate=drawn["pooled"], hollow=drawn["pooled_refused"] > REFUSED
    )
    marks = pd.concat([judges, pooled])
    marks["colour"] = marks["estimator"].map(lambda name: COLOURS[ESTIMATORS[name].estimand[:1]])
    marks[SHARES] = np.sqrt(marks[SHARES].clip(0))
    names, nominal = (
        [name for name in ESTIMATORS if name in set(drawn["estimator"])],
        1 - confidence,
    )
    columns = [
        Column(name, _label(name), across="called biased, %", at=None, limits=LIMITS, ticks=TICKS)
        for name in names
    ]
    page = rows_figure(
        marks,
        subject,
        head("worlds", **_holding(drawn, names, nominal), level=nominal),
        [Block([Row(title, title) for title in drawn["title"].unique()], columns)],
        kinds=KINDS,
        most=len(names),
        key=KEY,
        note=f"{world} {drawn['replicates'].max():,} draws of each world.",
    )
    for axes in page.axes.values():
        band = np.sqrt([max(nominal - TOLERANCE, 0), nominal + TOLERANCE])
        axes.axvspan(*band, color=BAND, lw=0, zorder=1, gid="band")
        axes.axvline(np.sqrt(nominal), color=INK, lw=0.8, ls=(0, (4, 2)), zorder=2, gid="nominal")
    return page.figure


def _holding(drawn: pd.DataFrame, names: Sequence[str], nominal: float) -> dict[str, object]:
    """In how many worlds each estimator holds its level for every judge, of those in which it has a
    result.
    """
    most, counts = nominal + HOLDS, {}
    for name in names:
        shares = drawn.loc[drawn["estimator"] == name, "highest"].dropna()
        if name != INCONCLUSIVE and len(shares):  # no alarm
            counts[_label(name)] = (shares <= most).sum(), len(shares)
    return {"most": most, "counts": counts}
