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
from recuse.model.spec import SELF
from recuse.plot.axes import put
from recuse.plot.cells import ShadedCells, cells_figure
from recuse.plot.colours import FAINT, INK
from recuse.plot.page import Entry, head, joined, keys, page_of_words
from recuse.plot.style import Subject, language

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
SHADE = 0.45  # of the cell of a conclusion that is lost
LOST_WORDS = Entry("lost", "▒")
BOXES = {  # line, letter and words of a check that departs from the first column
    REVERSED: ({"lw": 1.1}, "□", "reversed: the opposite sign"),
    NEW: ({"lw": 0.8, "linestyle": (0, (2, 1.4))}, "⬚", "new: not in the first column"),
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
    the first slice if that is all there is. Beside the names are the estimates of the first check,
    in points of the unit scale.
    """
    asked = Robustness(RobustnessCheck.from_config(checks), specs, confidence, power)
    if without_human_scores(not_estimable.to_dict("records")):
        asked = asked.without_human_scores(table.groupby("check")["spec"].unique().to_dict())
    slices = table["slice"].fillna("")
    part = "" if slices.eq("").any() or table.empty else slices.iloc[0]
    drawn = table[slices == part]
    rows = drawn.to_dict("records")
    if all(row["conclusion"] == Conclusion.NOT_ESTIMABLE for row in rows):
        reasons = dict.fromkeys(map(in_words, drawn["reason"].dropna()))
        return page_of_words(subject, joined(NOTHING, *(f"{capitalised(r)}." for r in reasons)))

    palette = subject.palette
    biases = palette.order_biases(keys(drawn, "quantity", "term"))
    names = {bias: bias[1] if bias[0] == SELF else f"{bias[1]}, family" for bias in biases}
    present = {row["check"] for row in rows}
    titles = {each.name: each.title for each in asked.checks if each.name in present}
    rows = [row for row in rows if row["check"] in titles]
    of_first = [row for row in rows if row["check"] == next(iter(titles))]
    first = {(row["quantity"], row["term"]): signed(row["estimate"]) for row in of_first}
    labels = [f"{name}  {first.get(bias, '')}".rstrip() for bias, name in names.items()]
    departures = {row["verdict"] for row in rows}
    key = [Entry(words, letter) for _, letter, words in MARKS.values()]
    key += [LOST_WORDS] * (LOST in departures)
    key += [
        Entry(words, letter) for name, (_, letter, words) in BOXES.items() if name in departures
    ]
    shades = pd.DataFrame(0.0, labels, [*titles.values()])
    places = []
    for row in rows:
        bias = row["quantity"], row["term"]
        places.append((biases.index(bias), [*titles].index(row["check"])))
        shades.iloc[places[-1]] = SHADE * (row["verdict"] == LOST)
    words = head("conclusions", part=part, level=confidence, **_changes(rows, titles))
    (axes,) = cells_figure({"": ShadedCells(shades)}, subject, words, key=key)
    for row, (y, x) in zip(rows, places, strict=True):
        _draw_mark(axes, row, (x, y), palette.bias_colour(row["quantity"], row["term"]))
    return axes.figure


def _draw_mark(axes: Axes, row: Mapping, corner: tuple[float, float], colour: str) -> None:
    """Mark and box of a conclusion in the cell with this upper left corner."""
    x, y = corner
    if row["verdict"] in BOXES:
        look = {"fill": False, "edgecolor": INK, "gid": row["verdict"], **BOXES[row["verdict"]][0]}
        axes.add_patch(Rectangle((x + 0.06, y + 0.06), 0.88, 0.88, **look))
    look = {"color": colour, "markerfacecolor": colour, "markeredgewidth": 0.0}
    look = {**look, "linestyle": "none", "zorder": 3, **MARKS[row["conclusion"]][0]}
    gid = "not estimable" if row["conclusion"] == Conclusion.NOT_ESTIMABLE else "mark"
    put(axes, [x + 0.5], [y + 0.5], gid=gid, label=signed(row["estimate"]), **look)


def _changes(rows: Sequence[Mapping], titles: Mapping[str, str]) -> dict:
    """The check that changes the most conclusions, and how many."""
    changes = Counter(row["check"] for row in rows if row["verdict"] in (LOST, *BOXES))
    most = max(titles, key=lambda name: changes[name])  # the first of them
    estimable = [row for row in rows if row["conclusion"] != Conclusion.NOT_ESTIMABLE]
    tested = sum(row["check"] == most for row in estimable)
    return {"title": titles[most], "changed": changes[most], "total": tested}
