"""Which judges to combine: bias between models and error of single answers of all judges together
and of each alone.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.reasons import in_words
from recuse.base.words import capitalised, number
from recuse.inference.panel import BETWEEN, KEPT, LEFT_OUT
from recuse.plot.axes import limits_of
from recuse.plot.colours import BLUE, VERMILION
from recuse.plot.intervals import (
    BELOW,
    PITCH,
    POINT,
    ROW,
    SHAPES,
    STROKE,
    draw_bar,
    draw_point,
    frame_rows,
    page_of_rows,
)
from recuse.plot.page import Entry, Head, page_of_words
from recuse.plot.style import UNIT, Subject, language, percent_as_given

LOOKS = {  # words, colour, mark and place within a row
    LEFT_OUT: ("ratings of a judge's own family left out", BLUE, POINT, -0.5),
    KEPT: ("judges rate their own family too", VERMILION, {**POINT, "marker": SHAPES[0][0]}, 0.5),
}
TITLES = {"bias_left": "Bias between models", "error": "Error of single answers"}
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
        return page_of_words(
            subject, NONE.format(note=in_words(notes.iloc[0]) if len(notes) else NO_PANEL)
        )
    everyone = drawn.iloc[0]
    drawn = drawn[
        (drawn["size"] == 1) | (drawn["panel"] == everyone["panel"]) | drawn["recommended"].notna()
    ]
    labels = {each: _label(each, everyone["panel"]) for each in drawn["panel"].unique()}
    legend = [
        [
            Entry(words, line={"color": colour, "lw": STROKE, **mark})
            for words, colour, mark, _ in LOOKS.values()
        ],
    ]
    unit = (
        f"{UNIT}; root mean square over models, and over answers; {percent_as_given(confidence)} intervals"
        " by prompt"
    )
    sizes = {"row": ROW + PITCH, "below": BELOW, "above": 0.28, "gutter": 0.25, "least": 1.5}
    page, panels = page_of_rows(
        subject,
        Head(panel_finding(drawn), unit),
        [*labels.values()],
        [*TITLES.values()],
        legend,
        most=2,
        **sizes,
    )
    for name, axes in zip(TITLES, panels.axes, strict=True):
        _draw(axes, drawn, name, [*labels])
    page.centred(panels.middle, 0.08, "root mean square")
    return page.figure


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
        words += (
            f"; {everyone['size']:.0f} judges carry the information of"
            f" {number(everyone['effective'], 1)} independent ones"
        )
    return capitalised(words)


def _label(panel: str, everyone: str) -> str:
    judges, names = everyone.split(BETWEEN), panel.split(BETWEEN)
    if panel == everyone:
        return f"all {len(judges)} judges"
    return panel if len(names) == 1 else f"all but {(set(judges) - set(names)).pop()}"


def _draw(axes: Axes, drawn: pd.DataFrame, name: str, panels: list[str]) -> None:
    ends = drawn[[name, f"{name}_ci_low", f"{name}_ci_high"]].to_numpy(float)
    frame_rows(axes, limits=limits_of([0.0, *ends.ravel()], more=0.0), rows=len(panels))
    for row in drawn.to_dict("records"):
        _, colour, mark, shift = LOOKS[row["family_ratings"]]
        place = panels.index(row["panel"]) + shift * PITCH / ROW
        draw_bar(
            axes,
            place,
            {"ci_low": row[f"{name}_ci_low"], "ci_high": row[f"{name}_ci_high"]},
            colour,
        )
        draw_point(axes, place, row[name], colour, mark=mark, gid=row["family_ratings"])
