"""Estimand C: a judge's preference for itself and its family against its preferences for other
models.
"""

import pandas as pd
from matplotlib.figure import Figure

from recuse.base.reasons import in_words
from recuse.base.words import capitalised, signed
from recuse.inference.judge_model import FAMILY, SELF, UNRELATED
from recuse.plot.axes import bias_limits
from recuse.plot.page import (
    family_entries,
    head,
    not_estimated,
    page_of_words,
    tally,
)
from recuse.plot.rows import Block, Column, Kind, Row, rows_figure
from recuse.plot.style import Subject, language

BAND = {"facecolor": "#DEDEDE", "edgecolor": "none", "zorder": 1.5}
KINDS = {  # by what the model is to the judge
    SELF: Kind("itself (number: its residual)", {"marker": "D", "markersize": 4.4}, "", 0, False),
    FAMILY: Kind("another of its family", {"marker": "^", "markersize": 4.2}, "", 1, False),
    UNRELATED: Kind("of another family", {"marker": "o", "markersize": 3.2}, "", 2, False),
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
    drawn = table.dropna(subset="residual")
    reasons = table[table["residual"].isna()].groupby("reason", sort=False)["judge"].unique()
    if drawn.empty:
        why = capitalised(in_words(reasons.index[0]) if len(reasons) else NOTHING)
        return page_of_words(subject, f"{why}.{ALL_REASONS if len(reasons) > 1 else ''}")
    palette = subject.palette
    judges = palette.order(table["judge"].dropna())
    is_own = drawn["relation"] == SELF
    bands = drawn.groupby("judge")["band"].max()
    bands.update(drawn[is_own].groupby("judge")["band"].max())
    band = drawn["judge"].map(bands)
    own = drawn.assign(ci_low=drawn["residual"] - band, ci_high=drawn["residual"] + band)[is_own]

    rows = [Row(judge, judge, palette.colour(judge)) for judge in judges]
    marks = pd.DataFrame(
        {
            "panel": "",
            "row": drawn["judge"],
            "kind": drawn["relation"],
            "estimate": drawn["residual"],
            "colour": drawn["model"].map(palette.colour),
            "hollow": drawn["residual"].abs() <= band,
            "text": drawn["residual"].map(signed).where(is_own),
        }
    )
    ends = marks.assign(ci_low=-drawn["band"].max(), ci_high=drawn["band"].max())
    column = Column(less="harsher", more="favours the model", limits=bias_limits(ends))
    page = rows_figure(
        marks,
        subject,
        head("residuals", tally=tally(own), level=confidence),
        [Block(rows, [column])],
        kinds=KINDS,
        row=0.3,
        absent="not estimable",
        key=family_entries(palette, {*judges, *drawn["model"]}),
        note=not_estimated({f"cells of {', '.join(n)}": reason for reason, n in reasons.items()}),
    )
    for judge, width in bands.items():
        place = page.places[""][judge]
        page.axes[""].fill_between([-width, width], place - 0.13, place + 0.13, gid="band", **BAND)
    return page.figure
