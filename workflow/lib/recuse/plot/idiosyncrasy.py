"""Estimand C: a judge's preference for itself and its family against its preferences for other
models.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.base.reasons import in_words
from recuse.base.words import capitalised, signed
from recuse.inference.judge_model import FAMILY, SELF, UNRELATED
from recuse.plot.axes import bias_limits, put
from recuse.plot.colours import INK
from recuse.plot.intervals import (
    BELOW,
    NUMBER,
    family_breaks,
    frame_rows,
    page_of_rows,
    sentence,
    write_directions,
    write_instead,
    write_number,
)
from recuse.plot.page import Entry, Head, by_chance, family_entries, outcomes, page_of_words
from recuse.plot.style import DOUBLE_COLUMN, UNIT, Subject, language, percent_as_given

BAND = {"facecolor": "#DEDEDE", "edgecolor": "none", "zorder": 1.5}
BAND_HEIGHT = 0.84  # of a row
# Of a row, so that no mark hides behind another kind
LOWER = {SELF: -0.22, FAMILY: 0.06, UNRELATED: 0.27}
MARKS = {  # by what the model is to the judge, from the back
    UNRELATED: {"marker": "o", "markersize": 3.2, "markeredgewidth": 0.8, "zorder": 3},
    FAMILY: {"marker": "^", "markersize": 4.8, "markeredgewidth": 1.0, "zorder": 4},
    SELF: {"marker": "D", "markersize": 5.2, "markeredgewidth": 1.2, "zorder": 5},
}
WORDS = {
    SELF: "itself (number: its residual)",
    FAMILY: "another model of its family",
    UNRELATED: "a model of another family",
}
NOTHING = "no cell to draw"
ALL_REASONS = " The reason of every cell is in tables/residuals.csv."


@language()
def residuals(table: pd.DataFrame, subject: Subject, *, spec: str, confidence: float) -> Figure:
    """Residuals of the cells of each judge on one axis, with the band that holds ordinary cells
    with probability `confidence`.

    table: the rows of one spec and slice of the table of residuals: judge, model, relation,
    residual, band (points of the unit scale), reason. A judge's band is that of its own cell, or
    else its widest. A judge without a residual has words in its row; if no judge has one, the page
    has only words.
    """
    table = table[(table["spec"] == spec) & table["slice"].isna()]
    present = table.dropna(subset="residual")
    reasons = table[table["residual"].isna()].groupby("reason", sort=False)["judge"].unique()
    if present.empty:
        why = in_words(reasons.index[0]) if len(reasons) else NOTHING
        return page_of_words(
            subject, f"{capitalised(why)}.{ALL_REASONS if len(reasons) > 1 else ''}"
        )
    judges = subject.palette.order(table["judge"].dropna())
    # NaN without any residual.
    rated_themselves = present.loc[present["relation"] == SELF, "judge"]
    of_band = present[(present["relation"] == SELF) | ~present["judge"].isin(rated_themselves)]
    bands = of_band.groupby("judge")["band"].max().reindex(judges)
    inside = present["residual"].abs() <= present["judge"].map(bands)
    beyond = present[(present["relation"] == SELF) & ~inside]["residual"]
    sides = (
        ("lies above the band", "lie above the band"),
        ("lies below the band", "lie below the band"),
    )
    counts = list(zip(((beyond > 0).sum(), (beyond < 0).sum()), sides, strict=True))
    own = (present["relation"] == SELF).sum()
    finding = outcomes(own, counts, "own mark") + (by_chance(confidence) if own else "")
    marks = [
        Entry(words, line={"color": INK, "linestyle": "none", **MARKS[name]})
        for name, words in WORDS.items()
    ]
    band = {key: value for key, value in BAND.items() if key != "zorder"}
    legend = [
        family_entries(subject.palette, {*judges, *present["model"]}),
        [*marks, Entry("ordinary preferences; filled: outside them", [band] * 2)],
    ]
    absent = sentence({f"cells of {', '.join(names)}": reason for reason, names in reasons.items()})
    sizes = {
        "row": 0.3,
        "below": BELOW,
        "above": 0.08,
        "gutter": 0.0,
        "beside": NUMBER,
        "least_page": DOUBLE_COLUMN,
    }
    unit = f"{UNIT}; band: {percent_as_given(confidence)} of ordinary preferences"
    page, panels = page_of_rows(
        subject, Head(finding, unit), judges, [""], legend, most=1, **sizes, note=absent
    )
    (axes,) = panels.axes
    ends = present.assign(
        estimate=present["residual"], ci_low=-present["band"], ci_high=present["band"]
    )
    frame_rows(
        axes,
        limits=bias_limits(ends),
        rows=len(judges),
        breaks=family_breaks(judges, subject.palette),
    )
    for place, judge in enumerate(judges):
        _draw_judge(
            axes,
            place,
            present.assign(inside=inside)[present["judge"] == judge],
            bands[judge],
            subject,
        )
    write_directions(axes, "harsher", "favours the model")
    return page.figure


def _draw_judge(axes: Axes, place: int, rows: pd.DataFrame, band: float, subject: Subject) -> None:
    if rows.empty:
        write_instead(axes, place, "not estimable")
        return
    ends = [-band, band, band, -band]
    heights = place + BAND_HEIGHT * np.array([-0.5, -0.5, 0.5, 0.5])
    axes.fill(ends, heights, gid="band", **BAND)
    for relation, mark in MARKS.items():
        for _, row in rows[rows["relation"] == relation].iterrows():
            colour = subject.palette.colour(row["model"])
            face = "white" if row["inside"] else colour
            settings = {
                "color": colour,
                "markerfacecolor": face,
                "linestyle": "none",
                "gid": relation,
                **mark,
            }
            put(axes, [row["residual"]], [place + LOWER[relation]], **settings)
            if relation == SELF:
                write_number(axes, place, signed(row["residual"]))
