"""Self- and family-bias corrected for measurement error in the human scores, against the
reliability of these scores.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.reasons import in_words
from recuse.base.words import enumerated
from recuse.plot.axes import bias_limits, numbered, put
from recuse.plot.colours import INK, NEUTRAL
from recuse.plot.page import Entry, Head, Section, page_of_panels, page_of_words, some
from recuse.plot.style import UNIT, Subject, language, percent_as_given

HEIGHT = 1.05  # inches of a panel
TITLES = {"self_bias": "{}", "family_bias": "{} family"}
RANGE = 0.28, 1.02  # of reliability
# Reliabilities from the first on set the axis if all of them made it so many times as long
ORDINARY, ROOM = 0.5, 3.0
BESIDE = 0.03  # of reliability: between the diamonds of two estimands
LINES = ({"lw": 1.4}, {"color": NEUTRAL, "lw": 1.0, "linestyle": (0, (3, 1.5))})
ALONE = {"linestyle": "none"}
OWN = {**ALONE, "marker": "D", "markersize": 3.4, "markeredgewidth": 1.0}
MARKS = {  # column of the table of breakdowns: look, letter and words
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
# A tick upwards
DIMENSION = {**ALONE, "marker": 2, "markersize": 4.5, "markeredgewidth": 0.9, "color": INK}
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
    palette, biases = subject.palette, zip(curves["quantity"], curves["term"], strict=True)
    biases = palette.order_biases(dict.fromkeys(biases))

    key = [Entry(estimands.iloc[0], "━"), *(Entry(name, "╍", NEUTRAL) for name in estimands[1:])]
    for name, (_, letter, words) in MARKS.items():
        key += [Entry(words, letter)] * bool(tables["breakdown"][name].notna().any())
    key += OF_STUDY if len(known) else []
    reasons = measurement_error.loc[measurement_error["quantity"].isna(), "reason"].dropna()
    why = "; ".join(map(in_words, reasons.unique())) if known.empty else ""
    unit = f"{UNIT}; {percent_as_given(confidence)} bands, errors by prompt; axes differ"
    titles = [TITLES[quantity].format(term) for quantity, term in biases]
    figure, (panels,) = page_of_panels(
        subject,
        Head(_finding(tables["breakdown"], estimands.index[0]), unit),
        [Section(titles, HEIGHT, most=4)],
        left=0.46,
        each=True,
        across="reliability of the human scores",
        up="bias",
        key=key,
        note=f"The study's own: {why}." if why else "",
    )
    for bias, panel in zip(biases, panels, strict=False):
        own = {name: _of_bias(table, bias) for name, table in tables.items()}
        _frame(panel.axes, own["curve"], known)
        for number, (spec, line) in enumerate(zip(estimands.index, LINES, strict=False)):
            rows = {name: table[table["spec"] == spec] for name, table in own.items()}
            at = known.mean() + BESIDE * (number - 0.5)
            _draw(panel.axes, rows, at, {"color": palette.of_bias(*bias), **line})
    return figure


def _finding(breakdowns: pd.DataFrame, spec: str) -> str:
    """About how many judges and families the conclusion changes, and about whom first."""
    rows = breakdowns[breakdowns["spec"] == spec]
    changed = rows.dropna(subset="breakdown").sort_values("breakdown", ascending=False)
    about = some(len(changed), len(rows), "judge or family", "judges and families")
    names = f" (first: {enumerated(changed['term'].tolist()[:1])})" if len(changed) > 1 else ""
    return f"Less reliable human scores would change the conclusion about {about}{names}"


def _whole(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["slice"].isna() & table["quantity"].isin(TITLES)]


def _of_bias(table: pd.DataFrame, bias: tuple[str, str]) -> pd.DataFrame:
    return table[(table["quantity"] == bias[0]) & (table["term"] == bias[1])]


def _frame(axes: Axes, curves: pd.DataFrame, known: pd.Series) -> None:
    """The axes of a panel: without low reliabilities where these would leave the rest no room."""
    whole, most = bias_limits(curves), bias_limits(curves[curves["reliability"] >= ORDINARY])
    limits = most if whole[1] - whole[0] > ROOM * (most[1] - most[0]) else whole
    axes.set(xlim=RANGE, ylim=limits)
    axes.set_xticks([0.4, 0.6, 0.8, 1.0], ["0.4", "0.6", "0.8", "1"])
    # Numbers above one another need less room than side by side
    numbered(axes.yaxis, HEIGHT * 2.5)
    axes.grid(axis="y")
    axes.axhline(0, color=INK, lw=0.8, zorder=2)
    inside = known[known.between(*RANGE)]  # the others are in the words under the figure
    look = {"clip_on": False, "zorder": 6, "gid": "dimension", **DIMENSION}
    axes.plot(inside, np.full(len(inside), limits[0]), **look)


def _draw(axes: Axes, tables: Mapping[str, pd.DataFrame], at: float, line: Mapping) -> None:
    """One curve with its band, the reliability at which it breaks down, and what the study's own
    makes of the estimate.
    """
    curve, colour = tables["curve"].sort_values("reliability"), line["color"]
    ends = curve["ci_low"].to_numpy(float), curve["ci_high"].to_numpy(float)
    band = {"color": colour, "alpha": 0.25, "lw": 0, "zorder": 2.5, "gid": "band"}
    axes.fill_between(curve["reliability"], *ends, **band)
    put(axes, curve["reliability"], curve["estimate"], zorder=3, gid="curve", **line)
    for name, (mark, *_) in MARKS.items():
        places = tables["breakdown"][name].dropna()
        look = {"color": colour, "zorder": 4, **ALONE, **mark}
        put(axes, places, np.zeros(len(places)), gid=name, **look)
    for row in tables["own"].to_dict("records"):
        put(axes, [at] * 2, [row["ci_low"], row["ci_high"]], color=colour, lw=1.1, zorder=4.5)
        face = colour if row["ci_low"] > 0 or row["ci_high"] < 0 else "white"
        look = {"color": colour, "markerfacecolor": face, "zorder": 5, **OWN}
        put(axes, [at], [row["estimate"]], gid="own", **look)
