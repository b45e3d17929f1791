"""Rank-biased overlap of each judge's rankings with the annotators', beside a list that sees no answer."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.plot.colours import BLUE, GREEN, INK, VERMILION
from recuse.plot.intervals import plain_rows, write_number
from recuse.plot.page import Entry, Page, page_of_words, page_width
from recuse.plot.style import EDGE, Subject, language, widest

# As the two published aggregates were computed: systems, form, ties, and the released folder of the judges' win counts.
SHOWN = ((15, "truncated", "listed", "model_annotations"), (13, "extrapolated", "by name", "model_annotations/new"))
ROW = 0.19
BAR = 0.68  # of a row
NUMBER = 0.36  # inches beside a bar, for its number
VALID = 0.42  # inches beside that, for the share of valid verdicts
GUTTER = 0.2
TITLE = 0.3
BELOW = 0.42  # inches for ticks and axis text
WITH_SINGLE, WITH_TOGETHER = "judges_with_annotators", "judges_with_annotators_together"
LISTED, LISTED_TOGETHER = "listing_order", "listing_order_with_annotators_together"
LINES = {  # statistic: what the foot and the legend say, and the line
    LISTED: (
        "list",
        "the list of the systems, blind to the answers, with single annotators",
        {"color": VERMILION, "lw": 1.4, "linestyle": (0, (4, 2))},
    ),
    LISTED_TOGETHER: (
        "list with the annotators summed",
        "the list with the annotators' wins summed",
        {"color": VERMILION, "lw": 1.4, "linestyle": (0, (6, 2, 1, 2))},
    ),
    "inter_annotator": ("annotators", "annotators with one another", {"color": GREEN, "lw": 1.4, "linestyle": (0, (1, 1))}),
    WITH_SINGLE: ("judges", "mean of the bars", {"color": INK, "lw": 1.2, "linestyle": "-"}),
    "aggregate": (
        "aggregate",
        "aggregate: judges' wins summed, annotators' wins summed",
        {"color": INK, "lw": 1.2, "linestyle": (0, (6, 2, 1, 2))},
    ),
}
BETTER = {"facecolor": BLUE, "edgecolor": BLUE, "lw": 0.8}
NO_BETTER = {"facecolor": "white", "edgecolor": BLUE, "lw": 0.8}
MARK = {"color": "black", "marker": "D", "markersize": 4.2, "markeredgewidth": 0.9, "linestyle": "none"}
NO_BETTER_MARK = {**MARK, "markerfacecolor": "white"}
NOTHING = "Nothing to draw: there are no rankings to compare."
NOTE = (
    "All computed from the released win counts. RBO and bars: means over single annotators and instructions (p = 0.8); of what "
    "has the annotators' wins summed, over instructions. Of equal wins the system listed first goes first (15 systems) or the "
    "one first in the alphabet (13). Valid: share of comparisons with a verdict; without one a judge ranks by ties alone. "
    "Truncated overlap ends below 1, at 0.965."
)


@language()
def rank_overlap_bars(table: pd.DataFrame, valid: pd.DataFrame, subject: Subject) -> Figure:
    """Overlap by judge, a panel for each set of systems in the form and with the ties of the published aggregate.

    `table`: statistic, form, systems, ties, judge, value. `valid`: judge, prompt, rate, written beside the bars: a judge
    without valid verdicts ranks by the ties alone. A bar is the overlap with single annotators, a diamond on it that with the
    ranking by their wins summed; each is filled where it is more than that of the list of the systems, which is the same
    whatever they answered.
    """
    panels = [_panel(table, valid, *shown) for shown in SHOWN]
    panels = [own for own in panels if len(own)]
    if not panels:
        return page_of_words(subject, NOTHING)
    rows = max(len(_of_judges(own, WITH_SINGLE)) for own in panels)
    label = widest(table["judge"].dropna()) + 0.1
    single, together = "judge with single annotators", "judge with the annotators' wins summed"
    bars = [Entry(f"{single}, better than the list", [BETTER]), Entry("no better", [NO_BETTER])]
    marks = [Entry(f"{together}, better than the list", line=MARK), Entry("no better", line=NO_BETTER_MARK)]
    legend = [bars, marks, [Entry(text, line=line) for _, text, line in LINES.values()]]
    across = page_width(legend, several=len(panels) > 1)
    panel = (across - 2 * EDGE - (len(panels) - 1) * GUTTER) / len(panels) - label - NUMBER - VALID
    body, note = BELOW + rows * ROW + TITLE, f"{NOTE} {_values(panels)}"
    page = Page(subject=subject, width=across, body=body, legend=legend, note=note)
    left = EDGE + label
    for own in panels:
        judges = _of_judges(own, WITH_SINGLE)
        axes = page.axes(left, BELOW + (rows - len(judges)) * ROW, panel, len(judges) * ROW)
        _draw(axes, judges, _of_judges(own, WITH_TOGETHER), _of_lines(own))
        first = own.iloc[0]
        axes.set_title(f"{first['systems']} systems, {first['form']}", x=-label / panel)
        page.text(left + panel + NUMBER + VALID, BELOW + rows * ROW + 0.09, "RBO    valid", ha="right")
        left += panel + NUMBER + VALID + GUTTER + label
    page.centred(across / 2, 0.06, "rank-biased overlap (RBO) with the annotators' rankings")
    return page.figure


def _panel(table: pd.DataFrame, valid: pd.DataFrame, systems: int, form: str, ties: str, prompt: str) -> pd.DataFrame:
    own = table[(table["systems"] == systems) & (table["form"] == form) & (table["ties"] == ties)]
    return own.merge(valid.loc[valid["prompt"] == prompt, ["judge", "rate"]], on="judge", how="left")


def _of_judges(own: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """The judges' rows of `statistic`, the largest overlap first."""
    chosen = own[own["judge"].notna() & (own["statistic"] == statistic)]
    return chosen.sort_values("value", ascending=False, kind="stable")


def _of_lines(own: pd.DataFrame) -> pd.Series:
    """The value of each of LINES."""
    return own[own["judge"].isna()].set_index("statistic")["value"].loc[list(LINES)]


def _values(panels: Sequence[pd.DataFrame]) -> str:
    """The numbers of the lines, and of the judges that are better than the list with the annotators together, in words."""
    parts = []
    for own in panels:
        value, together = _of_lines(own), _of_judges(own, WITH_TOGETHER)
        numbers = ", ".join(f"{short} {value[statistic]:.4f}" for statistic, (short, *_) in LINES.items())
        better = together[together["value"] > value[LISTED_TOGETHER]]
        named = ", ".join(f"{row.judge} {row.value:.4f}" for row in better.itertuples()) or "none"
        systems = own["systems"].iloc[0]
        parts.append(f"{systems} systems: {numbers}; better than that with the annotators summed: {named}.")
    return f"Lines of the {' Of the '.join(parts)}"


def _draw(axes: Axes, judges: pd.DataFrame, together: pd.DataFrame, lines: pd.Series) -> None:
    axes.set_xlim(0, 1.06 * max(judges["value"].max(), together["value"].max(), *lines))
    plain_rows(axes, judges["judge"])
    for place, (value, rate) in enumerate(zip(judges["value"], judges["rate"], strict=True)):
        look = BETTER if value > lines[LISTED] else NO_BETTER
        axes.barh([place], [value], BAR, zorder=2, gid="judge", **look)
        write_number(axes, place, f"{value:.3f}", NUMBER)
        write_number(axes, place, "" if np.isnan(rate) else f"{100 * rate:.1f} %", NUMBER + VALID)
    summed = dict(zip(together["judge"], together["value"], strict=True))
    for place, judge in enumerate(judges["judge"]):
        look = MARK if summed[judge] > lines[LISTED_TOGETHER] else NO_BETTER_MARK
        axes.plot([summed[judge]], [place], zorder=4, gid="together", **look)
    for statistic, (*_, line) in LINES.items():
        axes.axvline(lines[statistic], zorder=3, gid=statistic, **line)
