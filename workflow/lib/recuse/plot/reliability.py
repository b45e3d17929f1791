"""Self- and family-bias corrected for measurement error in the human scores, against the
reliability of these scores.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.reasons import in_words
from recuse.plot.axes import bias_limits, put, set_numbers
from recuse.plot.colours import INK, NEUTRAL
from recuse.plot.intervals import excludes_zero
from recuse.plot.page import Entry, Head, family_entries, page_of_panels, page_of_words, some
from recuse.plot.style import UNIT, Subject, language, percent_as_given

HEIGHT = 1.05  # inches of a panel
TITLES = {"self_bias": "{}", "family_bias": "{} family"}
LOWEST, HIGHEST = 0.28, 1.02
# Reliabilities from the first on set the axis if all of them made it so many times as long
ORDINARY, ROOM = 0.5, 3.0
BESIDE = 0.03  # of reliability: between the diamonds of two estimands
DASHED = (0, (3, 1.5))
OWN = {"marker": "D", "markersize": 3.4, "markeredgewidth": 1.0, "linestyle": "none"}
CROSS = {
    "marker": "X",
    "markersize": 5.6,
    "markeredgecolor": "white",
    "markeredgewidth": 0.6,
    "linestyle": "none",
}
REVERSAL = {
    "marker": "o",
    "markersize": 6.5,
    "markerfacecolor": "none",
    "markeredgewidth": 1.3,
    "linestyle": "none",
}
# A tick upwards
DIMENSION = {
    "marker": 2,
    "markersize": 4.5,
    "markeredgewidth": 0.9,
    "color": INK,
    "linestyle": "none",
}
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
    if not len(curves):
        return page_of_words(subject, NONE)
    specs = curves.drop_duplicates("estimand")["spec"].tolist()[: len(_lines(INK))]
    curves = curves[curves["spec"].isin(specs)]
    corrected = _whole(measurement_error).query("method == 'moments'").dropna(subset="estimate")
    tables = {"curve": curves, "breakdown": _whole(breakdowns), "own": corrected}
    by_reliability = reliabilities.sort_values("mean") if len(corrected) else reliabilities[:0]
    biases = subject.palette.order_biases(zip(curves["quantity"], curves["term"], strict=True))
    limits = {bias: _limits(_of_term(curves, *bias)) for bias in biases}
    families = family_entries(
        subject.palette, [term for quantity, term in biases if quantity == "self_bias"]
    )
    of_first = tables["breakdown"][tables["breakdown"]["spec"] == specs[0]]
    about = some(
        of_first["breakdown"].notna().sum(), len(of_first), "judge or family", "judges and families"
    )
    head = Head(
        f"Less reliable human scores would change the conclusion about {about}",
        f"{UNIT}; {percent_as_given(confidence)} bands, errors by prompt; each panel has its own axis",
    )
    page, panels = page_of_panels(
        subject,
        head,
        [TITLES[quantity].format(term) for quantity, term in biases],
        [families, *_legend(tables, specs, by_reliability)],
        most=4,
        height=HEIGHT,
        numbers=0.46,
        each=True,
        across="reliability of the human scores",
        up="bias",
        note=_of_study(by_reliability, measurement_error),
    )
    for (quantity, term), panel in zip(biases, panels, strict=False):
        _frame(panel.axes, limits[quantity, term], by_reliability["mean"])
        lines = _lines(subject.palette.of_bias(quantity, term))
        for number, (spec, line) in enumerate(zip(specs, lines, strict=False)):
            at = by_reliability["mean"].mean() + BESIDE * (number - 0.5)
            rows = {
                name: _of_term(table[table["spec"] == spec], quantity, term)
                for name, table in tables.items()
            }
            _draw(panel.axes, rows, at, line)
    return page.figure


def _limits(curves: pd.DataFrame) -> tuple[float, float]:
    """Ends of the axis of a panel: without low reliabilities where these would leave the rest no
    room.
    """
    whole, most = bias_limits(curves), bias_limits(curves[curves["reliability"] >= ORDINARY])
    return most if whole[1] - whole[0] > ROOM * (most[1] - most[0]) else whole


def _whole(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["slice"].isna() & table["quantity"].isin(TITLES)]


def _of_term(table: pd.DataFrame, quantity: str, term: str) -> pd.DataFrame:
    return table[(table["quantity"] == quantity) & (table["term"] == term)]


def _lines(colour: str) -> list[dict]:
    """Line of each estimand: the first in the colour of the family."""
    return [
        {"color": colour, "lw": 1.4, "linestyle": "-"},
        {"color": NEUTRAL, "lw": 1.0, "linestyle": DASHED},
    ]


def _legend(
    tables: Mapping[str, pd.DataFrame], specs: Sequence[str], known: pd.DataFrame
) -> list[list[Entry]]:
    """What curves and marks are; of the study's own reliability only where it is `known`."""
    estimands = tables["curve"].drop_duplicates("spec").set_index("spec")["estimand"]
    curves = [
        Entry(estimands[spec], line=line) for spec, line in zip(specs, _lines(INK), strict=False)
    ]
    marks = [Entry("the band begins or ceases to contain 0", line={**CROSS, "color": INK})]
    if tables["breakdown"]["reversal"].notna().any():
        marks.append(
            Entry("below this the bias has the opposite sign", line={**REVERSAL, "color": INK})
        )
    if len(known):
        hollow = "by the study's own reliability (hollow: interval includes 0)"
        marks += [
            Entry(hollow, line={**OWN, "color": INK}),
            Entry("the study's reliability, a dimension", line=DIMENSION),
        ]
    return [curves, marks]


def _of_study(known: pd.DataFrame, measurement_error: pd.DataFrame) -> str:
    """Why the reliability of the study's own human scores is unknown; empty if it is `known`."""
    if len(known):
        return ""
    reasons = (
        measurement_error.loc[measurement_error["quantity"].isna(), "reason"].dropna().unique()
    )
    return f"The study's own: {'; '.join(map(in_words, reasons))}." if len(reasons) else ""


def _frame(axes: Axes, limits: tuple[float, float], known: pd.Series) -> None:
    axes.set(xlim=(LOWEST, HIGHEST), ylim=limits)
    axes.set_xticks([0.4, 0.6, 0.8, 1.0], ["0.4", "0.6", "0.8", "1"])
    # Numbers above one another need less room than side by side
    set_numbers(axes.yaxis, HEIGHT * 2.5, between=False)
    axes.grid(axis="y")
    axes.axhline(0, color=INK, lw=0.8, zorder=2)
    inside = known[known.between(LOWEST, HIGHEST)]  # the others are in the words under the figure
    axes.plot(
        inside,
        np.full(len(inside), limits[0]),
        clip_on=False,
        zorder=6,
        gid="dimension",
        **DIMENSION,
    )


def _draw(axes: Axes, tables: Mapping[str, pd.DataFrame], at: float, line: Mapping) -> None:
    """One curve with its band, the reliability at which it breaks down, and what the study's own
    makes of the estimate.
    """
    curve = tables["curve"].sort_values("reliability")
    ends = curve["ci_low"].to_numpy(float), curve["ci_high"].to_numpy(float)
    axes.fill_between(
        curve["reliability"], *ends, color=line["color"], alpha=0.25, lw=0, zorder=2.5, gid="band"
    )
    put(axes, curve["reliability"], curve["estimate"], zorder=3, gid="curve", **line)
    for name, mark in (("breakdown", CROSS), ("reversal", REVERSAL)):
        at_0 = tables["breakdown"][name].dropna()
        put(axes, at_0, np.zeros(len(at_0)), color=line["color"], zorder=4, gid=name, **mark)
    for row in tables["own"].to_dict("records"):
        put(
            axes, [at, at], [row["ci_low"], row["ci_high"]], color=line["color"], lw=1.1, zorder=4.5
        )
        face = line["color"] if excludes_zero(row) else "white"
        put(
            axes,
            [at],
            [row["estimate"]],
            color=line["color"],
            markerfacecolor=face,
            zorder=5,
            gid="own",
            **OWN,
        )
