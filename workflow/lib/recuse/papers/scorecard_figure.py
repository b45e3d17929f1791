"""Figure of the scorecard: how far our values are from the published ones."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recuse.data.registry import HUMAN
from recuse.papers.claims import ABSENT
from recuse.papers.values import JUDGES, ORDER
from recuse.plot.colours import INK, NEUTRAL, RULE
from recuse.plot.page import (
    Entry,
    Section,
    family_entries,
    head,
    page_of_panels,
    page_of_words,
    written,
)
from recuse.plot.rows import WORDS, write_beside
from recuse.plot.style import Subject, language, widest

CLIP = 3.0  # tolerances: larger deviations are counted at the edge
ROW, LEAST = 0.2, 0.12  # inches
LEAST_WIDTH = 1.0  # inches of the panel
COUNT = 0.36  # inches for the number beyond the edge
SAME = {"marker": "o", "s": 6.8, "lw": 0.0, "alpha": 0.65}
OTHER = {"marker": "x", "s": 11.6, "lw": 0.9}
KEY = (Entry("match", "●"), Entry("differs", "×"))
LEVELS = 7  # heights within a row, so that points on one spot show
# What the values of each item of the scorecard of comparisons are.
OF_COMPARISONS = {
    "verbosity": "Verbosity bias",
    "agreement": "Agreement with the humans",
    "rbo": "Rank-biased overlap",
    "cognitive_biases": "Cognitive biases",
    "asr": "Attack success rate",
    "votes_by_position": "Shares of votes",
    "vote_shares": "Shares of votes",
    "rank": "Ranks of judges",
    "ranks": "Ranks of judges",
}


@language()
def scorecard_figure(table: pd.DataFrame, subject: Subject) -> Figure:
    """Deviations from published values in units of the tolerance, a row for each figure of the
    paper.

    `table`: the scorecard, with item, figure, quantity, term, deviation, verdict. Dots match,
    crosses differ; deviations beyond CLIP are counted at the edge, and verdicts beside each row.
    """
    values, claims = table[table["item"] != "claim"], table[table["item"] == "claim"]
    if values.empty:
        nothing = head("scorecard", match=0, total=0, is_simulated=False)
        return page_of_words(subject, f"{nothing.finding}.")
    figures = sorted(
        dict.fromkeys(values["figure"]),
        key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER),
    )
    texts = [verdict_counts("verdicts", values[values["figure"] == name]) for name in figures]
    key, note = list(KEY), cause_text(values)
    if not values["item"].isin(list(OF_COMPARISONS)).any():  # of which all judges are drawn alike
        human = [Entry("human raters", "■", NEUTRAL)] if HUMAN in set(values["term"]) else []
        key = [*family_entries(subject.palette, JUDGES), *human, *KEY]
        note = verdict_counts("claims", claims)
    tested = values[values["verdict"] != ABSENT]
    match = (tested["verdict"] == "match").sum()
    facts = {"total": len(tested), "is_simulated": subject.kind == "simulated"}
    strip = Section([""], ROW * len(figures), least=LEAST * len(figures))
    figure, ((panel,),) = page_of_panels(
        subject,
        head("scorecard", match=match, **facts),
        [strip],
        left=widest(figures) + COUNT + 0.1,
        least=LEAST_WIDTH,
        right=COUNT + widest(texts) + 0.1,
        across="deviation from the published value, in tolerances",
        key=key,
        note=note,
    )
    _deviations(panel.axes, values, figures, subject)
    for place, text in enumerate(texts):
        write_beside(panel.axes, place, text, inches=COUNT, ha="left")
    return figure


def verdict_counts(name: str, rows: pd.DataFrame) -> str:
    """Count verdicts in words, as in `17 match, 1 differs, 36 absent`; those without a row are left
    out.
    """
    return written(name, counts=rows["verdict"].value_counts().to_dict())


def cause_text(values: pd.DataFrame) -> str:
    """The causes of the values of each kind of comparisons: planted, of other data, or restated."""
    caused = values.assign(title=values["item"].map(OF_COMPARISONS)).dropna(subset=["cause"])
    causes = (
        caused.drop_duplicates(["title", "cause"])
        .groupby("title", sort=False)["cause"]
        .agg("; ".join)
    )
    return " ".join(f"{title}: {cause}." for title, cause in causes.items())


def _draw(axes: Axes, rows: pd.DataFrame, subject: Subject) -> None:
    """A point at the deviation and height of each row; those that differ above the others."""
    colours = []
    for row in rows.to_dict("records"):
        quantity = "family_bias" if row["quantity"] == "family_bias" else "self_bias"
        own = row["item"] not in OF_COMPARISONS and row["term"] != HUMAN
        colours.append(subject.palette.bias_colour(quantity, row["term"]) if own else NEUTRAL)
    colours, differs = np.array(colours, object), (rows["verdict"] == "differs").to_numpy()
    for look, zorder, chosen in ((SAME, 3, ~differs), (OTHER, 4, differs)):
        place = {"color": colours[chosen], "zorder": zorder, "gid": "value"}
        axes.scatter(rows["deviation"][chosen], rows["height"][chosen], **place, **look)


def _deviations(axes: Axes, values: pd.DataFrame, figures: Sequence[str], subject: Subject) -> None:
    """A row of points for each figure; arrows count the points beyond CLIP on either side."""
    axes.set(xlim=(-CLIP, CLIP), ylim=(len(figures) - 0.5, -0.5))
    axes.set_xticks(np.arange(-CLIP, CLIP + 1))
    axes.set_yticks(range(len(figures)), figures)
    axes.tick_params(axis="y", pad=72 * COUNT + 3)
    axes.grid(axis="x")
    axes.axvline(0, color=INK, lw=0.9, zorder=2)
    for place in (-1, 1):
        axes.axvline(place, color=INK, lw=0.9, ls=(0, (3, 2)), zorder=2, gid="tolerance")
    for place in range(1, len(figures)):
        axes.axhline(place - 0.5, color=RULE, lw=0.4, zorder=1)
    shown = [values[:0].assign(height=0.0)]
    for place, figure in enumerate(figures):
        rows = values[values["figure"] == figure].dropna(subset="deviation")
        rows = rows.sort_values("deviation")
        if rows.empty:
            axes.text(0, place, "data absent", ha="center", **WORDS)
        within = rows[rows["deviation"].abs() <= CLIP]
        levels = np.arange(len(within)) % LEVELS / (LEVELS - 1) - 0.5
        shown.append(within.assign(height=place + 0.6 * levels))
        outside = {"textcoords": "offset points", "va": "center_baseline", "gid": "beyond"}
        for sign, form, side in ((-1, "{} ◂", "right"), (1, "▸ {}", "left")):
            if count := (sign * rows["deviation"] > CLIP).sum():
                axes.annotate(
                    form.format(count), (sign * CLIP, place), (sign * 3, 0), ha=side, **outside
                )
    _draw(axes, pd.concat(shown), subject)
