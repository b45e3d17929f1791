"""Self- and family-bias corrected for measurement error in the human scores, against the
reliability of these scores.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.reasons import in_words
from recuse.plot.axes import bias_limits, numbered, put
from recuse.plot.colours import INK, NEUTRAL
from recuse.plot.curves import CurvePanel, Series, curves_figure
from recuse.plot.page import Entry, head, keys, page_of_words
from recuse.plot.style import Subject, language

TITLES = {"self_bias": "{}", "family_bias": "{} family"}
RANGE = 0.28, 1.02  # of reliability
# Reliabilities from the first on set the axis if all of them made it so many times as long
ORDINARY, ROOM = 0.5, 3.0
BESIDE = 0.03  # of reliability: between the diamonds of two estimands
LINES = (("", {"lw": 1.4}), (NEUTRAL, {"lw": 1.0, "linestyle": (0, (3, 1.5))}))
MARKS = {  # what marks stand for: look, letter and words
    "breakdown": (
        {"marker": "X", "markersize": 5.6, "markeredgecolor": "white", "markeredgewidth": 0.6},
        "✖",
        "the band begins or ceases to contain 0",
    ),
    "reversal": (
        {"marker": "o", "markersize": 6.5, "markerfacecolor": "none", "markeredgewidth": 1.3},
        "○",
        "below this the bias has the opposite sign",
    ),
}
OWN = {"marker": "D", "markersize": 3.4, "markeredgewidth": 1.0}
# A tick upwards
DIMENSION = {"marker": 2, "markersize": 4.5, "markeredgewidth": 0.9, "color": INK}
DIMENSION |= {"linestyle": "none", "clip_on": False, "zorder": 6, "gid": "dimension"}
OF_STUDY = [
    Entry("by the study's own reliability (hollow: interval includes 0)", "◆"),
    Entry("the study's reliability, a dimension", "|"),
]
NONE = (
    "No curve over reliability: no row has a human score, or no self- or family-bias is estimable "
    "(tables/reliability_curve.csv)."
)


@language()
def reliability_figure(
    curves: pd.DataFrame,
    breakdowns: pd.DataFrame,
    measurement_error: pd.DataFrame,
    reliabilities: pd.DataFrame,
    subject: Subject,
    *,
    confidence: float,
) -> Figure:
    """Draw a panel for each judge's self-bias and each family's bias, with a curve for each
    estimand.

    curves, breakdowns, measurement_error: see recuse.inference.measurement_error; of those the rows
    without slice of the first spec of each estimand are drawn. reliabilities: of the study's human
    scores, by dimension. The estimate corrected by these stands over their mean, as no single
    number holds them.
    """
    curves = _whole(curves).dropna(subset="estimate")
    if curves.empty:
        return page_of_words(subject, NONE)
    estimands = curves.drop_duplicates("estimand").set_index("spec")["estimand"].iloc[: len(LINES)]
    corrected = _whole(measurement_error).query("method == 'moments'").dropna(subset="estimate")
    tables = {"curve": curves, "breakdown": _whole(breakdowns), "own": corrected}
    known = reliabilities["mean"].sort_values() if len(corrected) else reliabilities["mean"][:0]
    palette = subject.palette
    biases = palette.order_biases(keys(curves, "quantity", "term").unique())

    key = [Entry(estimands.iloc[0], "━"), *(Entry(name, "╍", NEUTRAL) for name in estimands[1:])]
    for name, (_, letter, words) in MARKS.items():
        key += [Entry(words, letter)] * bool(tables["breakdown"][name].notna().any())
    key += OF_STUDY if len(known) else []
    reasons = measurement_error.loc[measurement_error["quantity"].isna(), "reason"].dropna()
    why = "; ".join(map(in_words, reasons.unique())) if known.empty else ""
    drawn, series = [], {}
    for place, (spec, (colour, line)) in enumerate(zip(estimands.index, LINES, strict=False)):
        curve, breaks, own = (rows[rows["spec"] == spec] for rows in tables.values())
        parts = {"curve": curve.assign(x=curve["reliability"]).sort_values("x")}
        series[spec, "curve"] = Series(colour, line, bar=None)
        for name, (mark, *_) in MARKS.items():
            parts[name] = breaks.assign(x=breaks[name], estimate=0.0).dropna(subset="x")
            series[spec, name] = Series(colour, mark=mark, gid=name)
        includes = (own["ci_low"] <= 0) & (own["ci_high"] >= 0)
        at = known.mean() + BESIDE * (place - 0.5)
        parts["own"] = own.assign(x=at, hollow=includes)
        series[spec, "own"] = Series(colour, mark=OWN, gid="own")
        drawn += [rows.assign(series=[(spec, name)] * len(rows)) for name, rows in parts.items()]
    points = pd.concat(drawn).rename(columns={"estimate": "y", "ci_low": "low", "ci_high": "high"})
    points = points.assign(panel=[*keys(points, "quantity", "term")])

    def frame(axes: Axes, panel: CurvePanel) -> None:
        own = curves[(curves["quantity"] == panel.key[0]) & (curves["term"] == panel.key[1])]
        _frame(axes, own, known)

    return curves_figure(
        points,
        subject,
        head("reliability", level=confidence, **_changes(tables["breakdown"], estimands.index[0])),
        [
            CurvePanel(bias, TITLES[bias[0]].format(bias[1]), "", palette.bias_colour(*bias))
            for bias in biases
        ],
        series,
        frame,
        left=0.46,
        each=True,
        across="reliability of the human scores",
        up="bias",
        key=key,
        note=f"The study's own: {why}." if why else "",
    )


def _changes(breakdowns: pd.DataFrame, spec: str) -> dict:
    """About how many judges and families the conclusion changes, and about whom first."""
    rows = breakdowns[breakdowns["spec"] == spec]
    changed = rows.dropna(subset="breakdown").sort_values("breakdown", ascending=False)
    return {"changed": changed["term"].tolist(), "total": len(rows)}


def _whole(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["slice"].isna() & table["quantity"].isin(TITLES)]


def _frame(axes: Axes, curves: pd.DataFrame, known: pd.Series) -> None:
    """The axes of a panel: without low reliabilities where these would leave the rest no room."""
    whole, most = bias_limits(curves), bias_limits(curves[curves["reliability"] >= ORDINARY])
    limits = most if whole[1] - whole[0] > ROOM * (most[1] - most[0]) else whole
    axes.set(xlim=RANGE, ylim=limits)
    axes.set_xticks([0.4, 0.6, 0.8, 1.0], ["0.4", "0.6", "0.8", "1"])
    # Numbers above one another need less room than side by side
    numbered(axes.yaxis, 2.7)
    axes.grid(axis="y")
    axes.axhline(0, color=INK, lw=0.8, zorder=2)
    inside = known[known.between(*RANGE)]  # the others are in the words under the figure
    put(axes, inside, np.full(len(inside), limits[0]), **DIMENSION)
