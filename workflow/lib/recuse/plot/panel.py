"""Which judges to combine: bias between models and error of single answers of all judges together
and of each alone.
"""

import pandas as pd
from matplotlib.figure import Figure

from recuse.base.reasons import in_words
from recuse.base.words import capitalised, number
from recuse.inference.panel import BETWEEN, KEPT, LEFT_OUT
from recuse.plot.axes import value_limits
from recuse.plot.colours import BLUE, VERMILION
from recuse.plot.page import Head, page_of_words
from recuse.plot.rows import POINTS, Block, Column, Kind, Row, rows_figure
from recuse.plot.style import UNIT, Subject, language, percent_as_given

KINDS = {
    LEFT_OUT: Kind("own family left out", POINTS[0], BLUE, 0),
    KEPT: Kind("own family rated too", POINTS[1], VERMILION, 1),
}
TITLES = {"bias_left": "Bias between models", "error": "Error of single answers"}
UNITS = "root mean square over models, and over answers"
NONE = "No panel can be compared: {note}."
NO_PANEL = "no judge shares answers with another"


@language()
def panel(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw bias and error, with intervals, of all judges, of each alone, and of the recommended
    panel.

    `table`: see recuse.inference.panel.panel_rows.
    """
    drawn = table.dropna(subset="bias_left")
    if drawn.empty:
        notes = table["note"].dropna()
        note = in_words(notes.iloc[0]) if len(notes) else NO_PANEL
        return page_of_words(subject, NONE.format(note=note))
    everyone = drawn["panel"].iloc[0]
    kept = (drawn["size"] == 1) | (drawn["panel"] == everyone) | drawn["recommended"].notna()
    drawn = drawn[kept]
    rows = [Row(each, _label(each, everyone)) for each in drawn["panel"].unique()]
    marks, columns = [], []
    for name, title in TITLES.items():
        ends = {end: drawn[f"{name}_{end}"] for end in ("ci_low", "ci_high")}
        marks.append(drawn.assign(kind=drawn["family_ratings"], estimate=drawn[name], **ends))
        marks[-1] = marks[-1].assign(row=drawn["panel"], panel=name)
        limits = value_limits(
            [0.0, *marks[-1][["estimate", *ends]].to_numpy(float).ravel()], more=0.0
        )
        columns.append(Column(name, title, across="root mean square", at=None, limits=limits))
    unit = f"{UNIT}; {UNITS}; {percent_as_given(confidence)} intervals by prompt"
    head = Head(panel_finding(drawn), unit)
    return rows_figure(pd.concat(marks), subject, head, [Block(rows, columns)], kinds=KINDS).figure


def panel_finding(drawn: pd.DataFrame) -> str:
    """The remaining bias of the recommended panel, and how many independent judges all of them
    equal.
    """
    (row,) = drawn[drawn["recommended"].notna()].to_dict("records")
    everyone = drawn.iloc[0]
    bias, low, high = (number(row[f"bias_left{end}"], 3) for end in ("", "_ci_low", "_ci_high"))
    own = "with" if row["family_ratings"] == KEPT else "without"
    size = f"{bias} ({low} to {high})" if row["bias_left_ci_low"] > 0 else f"at most {high}"
    words = f"{_label(row['panel'], everyone['panel'])}, {own} own families: remaining bias {size}"
    if pd.notna(everyone["effective"]):
        effective = number(everyone["effective"], 1)
        words += (
            f"; {everyone['size']:.0f} judges carry the information of {effective} independent ones"
        )
    return capitalised(words)


def _label(panel: str, everyone: str) -> str:
    judges, names = everyone.split(BETWEEN), panel.split(BETWEEN)
    if panel == everyone:
        return f"all {len(judges)} judges"
    return panel if len(names) == 1 else f"all but {(set(judges) - set(names)).pop()}"
