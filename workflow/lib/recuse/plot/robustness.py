"""Which conclusions hold in which robustness checks: judges and families down, checks across."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from recuse.base.reasons import in_words
from recuse.base.words import capitalised, signed
from recuse.inference.robustness import (
    LOST,
    NEW,
    REVERSED,
    Conclusion,
    Robustness,
    RobustnessCheck,
    without_human_scores,
)
from recuse.plot.axes import put
from recuse.plot.colours import FAINT, GRID, INK, RULE
from recuse.plot.page import Entry, Head, Section, joined, page_of_panels, page_of_words, some
from recuse.plot.style import PAGE, UNIT, Subject, language, percent_as_given, widest, wrap

ROW, LEAST_ROW = 0.17, 0.11  # inches
AROUND = 3.5  # inches of a page that are not rows
HEADING = 1.45  # inches that a heading may be long before it is broken
CELL = 0.3  # inches: least width of a column
FIRST = 2.0  # columns that the first takes, which has numbers
NUMBER = 0.9  # of a column: from the left of the first to its number
MARKS = {  # look, letter and words of a conclusion
    Conclusion.FAVOURS: ({"marker": "^", "markersize": 4.6}, "▲", "above 0"),
    Conclusion.HARSHER: ({"marker": "v", "markersize": 4.6}, "▼", "below 0"),
    Conclusion.NO_BIAS: (
        {"marker": "o", "markersize": 3.9, "markerfacecolor": "white", "markeredgewidth": 1.0},
        "○",
        "cannot be distinguished from 0",
    ),
    Conclusion.NOT_ESTIMABLE: (
        {"marker": "_", "color": FAINT, "markeredgewidth": 1.0},
        "–",
        "not estimable",
    ),
}
BOXES = {  # look, letter and words of a check that departs from the first column
    LOST: ({"facecolor": "#D5D5D5", "edgecolor": "none", "lw": 0}, "▒", "lost"),
    REVERSED: (
        {"facecolor": "none", "edgecolor": INK, "lw": 1.1},
        "□",
        "reversed: the opposite sign",
    ),
    NEW: (
        {"facecolor": "none", "edgecolor": INK, "lw": 0.8, "linestyle": (0, (2, 1.4))},
        "⬚",
        "new: not in the first column",
    ),
}
NOTHING = "No self- or family-bias can be estimated."


@language()
def conclusions_figure(
    table: pd.DataFrame,
    not_estimable: pd.DataFrame,
    subject: Subject,
    *,
    checks: Mapping[str, Mapping],
    specs: Mapping[str, Mapping],
    confidence: float,
    power: float,
) -> Figure:
    """Draw the table of conclusions: a mark for each judge or family and check, its shape the
    conclusion, its box the verdict.

    table: see `recuse.inference.robustness`; the whole study is drawn, whose slice is missing, or
    the first slice if that is all there is. Beside the marks of the first check are estimates, in
    points of the unit scale.
    """
    asked = Robustness(RobustnessCheck.from_config(checks), specs, confidence, power)
    if without_human_scores(not_estimable.to_dict("records")):
        asked = asked.without_human_scores(table.groupby("check")["spec"].unique().to_dict())
    slices = table["slice"].fillna("")
    part = "" if slices.eq("").any() or table.empty else slices.iloc[0]
    rows = table[slices == part].to_dict("records")
    if all(row["conclusion"] == Conclusion.NOT_ESTIMABLE for row in rows):
        given = [row["reason"] for row in rows if isinstance(row["reason"], str) and row["reason"]]
        reasons = dict.fromkeys(map(in_words, given))
        return page_of_words(subject, joined(NOTHING, *(f"{capitalised(r)}." for r in reasons)))

    palette = subject.palette
    biases = palette.order_biases(dict.fromkeys((row["quantity"], row["term"]) for row in rows))
    names = [term if quantity == "self_bias" else f"{term}, family" for quantity, term in biases]
    present = {row["check"] for row in rows}
    titles = {each.name: each.title for each in asked.checks if each.name in present}
    headings = [wrap(title, HEADING) for title in titles.values()]
    above = widest(headings) + 0.1
    row_height = min(ROW, max(LEAST_ROW, (PAGE - AROUND) / len(biases)))
    height = above + len(biases) * row_height

    departures = {row["verdict"] for row in rows}
    key = [Entry(words, letter) for _, letter, words in MARKS.values()]
    key += [Entry(BOXES[name][2], BOXES[name][1]) for name in BOXES if name in departures]
    decided = f"decided by {percent_as_given(confidence)} intervals, or p ≤ {1 - confidence:.4g} where a check has none"
    page, ((panel,),) = page_of_panels(
        subject,
        Head(_finding(rows, titles), "; ".join(filter(None, (part, UNIT, decided)))),
        [Section([""], height, least=height, below=0.04)],
        left=widest(names) + 0.1,
        least=CELL * (len(titles) - 1 + FIRST),
        key=key,
    )
    axes, across = panel.axes, len(titles) - 1 + FIRST
    axes.set(xlim=(0, across), ylim=(len(biases), -above / row_height), xticks=[])
    axes.spines["bottom"].set_visible(False)
    axes.set_yticks([place + 0.5 for place in range(len(biases))], names)
    columns = {name: place + (FIRST - 1) * bool(place) for place, name in enumerate(titles)}
    axes.hlines(range(len(biases) + 1), 0, across, color=GRID, lw=0.6, zorder=0.5)
    axes.vlines([*columns.values()][1:], 0, len(biases), color=RULE, lw=0.5, zorder=0.6)
    axes.vlines([0, FIRST], 0, len(biases), color=INK, lw=0.7, zorder=0.7)
    upright = {"rotation": 90, "ha": "center", "va": "bottom", "linespacing": 1.0}
    for x, heading in zip(columns.values(), headings, strict=True):
        axes.text(x + 0.5, -0.3, heading, multialignment="left", **upright)
    for row in rows:
        if row["check"] in columns:
            bias = row["quantity"], row["term"]
            place = columns[row["check"]], biases.index(bias)
            _draw_cell(axes, row, place, palette.of_bias(*bias))
    return page.figure


def _draw_cell(axes: Axes, row: Mapping, place: tuple[float, float], colour: str) -> None:
    """Mark, box and, in the first column, number of a conclusion; place: its upper left corner."""
    x, y = place
    if row["verdict"] in BOXES:
        look = {"zorder": 1, "gid": row["verdict"], **BOXES[row["verdict"]][0]}
        axes.add_patch(Rectangle((x + 0.06, y + 0.06), 0.88, 0.88, **look))
    look = {"color": colour, "markerfacecolor": colour, "markeredgewidth": 0.0}
    look = {**look, "linestyle": "none", "zorder": 3, **MARKS[row["conclusion"]][0]}
    gid = "not estimable" if row["conclusion"] == Conclusion.NOT_ESTIMABLE else "mark"
    put(axes, [x + 0.5], [y + 0.5], gid=gid, label=signed(row["estimate"]), **look)
    if x == 0:
        number = {"ha": "left", "va": "center_baseline", "gid": "number"}
        axes.text(NUMBER, y + 0.5, signed(row["estimate"]), **number)


def _finding(rows: Sequence[Mapping], titles: Mapping[str, str]) -> str:
    """The check that changes the most conclusions, and how many."""
    changes = Counter(row["check"] for row in rows if row["verdict"] in BOXES)
    if not changes:
        return "No robustness check changes a conclusion"
    most = max(titles, key=lambda name: changes[name])  # the first of them
    estimable = [row for row in rows if row["conclusion"] != Conclusion.NOT_ESTIMABLE]
    tested = sum(row["check"] == most for row in estimable)
    about = some(changes[most], tested, "judge or family", "judges and families")
    return f"The robustness check “{titles[most]}” changes the most conclusions: {about}"
