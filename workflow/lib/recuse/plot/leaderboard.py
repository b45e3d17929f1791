"""Models ranked by the judges' scores, with and without the estimated biases, and by the human
scores.
"""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from recuse.base.reasons import in_words
from recuse.base.words import capitalised
from recuse.inference.leaderboard import (
    AS_PEOPLE,
    DEBIASED,
    HUMAN,
    RAW,
    WITHOUT_FAMILY,
    WITHOUT_SELF,
    debiased_by,
)
from recuse.plot.axes import limits_of, put, set_numbers
from recuse.plot.colours import FAINT, GRID, NEUTRAL, RULE
from recuse.plot.intervals import (
    BETWEEN,
    ORDER,
    PITCH,
    POINTS,
    STROKE,
    draw_bar,
    draw_point,
    plain_rows,
    row_within,
    sentence,
)
from recuse.plot.page import (
    LEAST_PANEL,
    Entry,
    Head,
    Page,
    family_entries,
    joined,
    page_of_words,
    some,
)
from recuse.plot.style import DOUBLE_COLUMN, EDGE, UNIT, Subject, language, percent_as_given, widest

KINDS = {
    RAW: "judges' ratings as they are",
    DEBIASED: "without the estimated self- and family-bias",
    WITHOUT_SELF: "without judges' ratings of their own answers",
    WITHOUT_FAMILY: "without judges' ratings of their family",
    HUMAN: "human scores (grey)",
    AS_PEOPLE: "as people would rate them",
}
GUTTER = 0.3  # inches between the panels
BELOW = 0.46
ABOVE = 0.28
MOST_RANKS = 12  # numbers on the axis of ranks
NONE = "No leaderboard: no model has a score (tables/leaderboard.csv)."
CHANGED = {
    DEBIASED: "Removing the estimated biases",
    WITHOUT_SELF: "Leaving out judges' ratings of their own answers",
    WITHOUT_FAMILY: "Leaving out judges' ratings of their family",
    HUMAN: "Ranking by human scores",
}


@language()
def leaderboard_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw scores with intervals, and ranks with rank sets: a row for each model, in the order of
    the ratings as they are.

    `table`: see recuse.inference.leaderboard. The rows without slice of the first spec that has any
    are drawn.
    """
    whole = table[table["slice"].isna() & table["score"].notna()]
    whole = whole[whole["spec"] == whole["spec"].iloc[0]] if len(whole) else whole
    if not len(whole):
        return page_of_words(subject, NONE)
    estimand = max(table["estimand"].dropna(), default="")
    words = KINDS | ({DEBIASED: debiased_by(estimand)} if estimand else {})
    head = Head(
        finding(whole),
        f"{UNIT}; {percent_as_given(confidence)} intervals of scores, rank sets for all models at once",
    )
    absent = table[
        table["slice"].isna() & (table["spec"] == whole["spec"].iloc[0]) & table["score"].isna()
    ]
    reasons = {
        words[kind]: note
        for kind, note in absent.groupby("scores")["note"].first().dropna().items()
    }
    note = joined(
        sentence(reasons),
        *(f"{capitalised(in_words(text))}." for text in whole["note"].dropna().unique() if text),
    )
    return page_of_ranks(
        whole,
        subject,
        head,
        words,
        axis=("Scores", "mean score", "the ratings as they are"),
        note=note,
    )


def page_of_ranks(
    whole: pd.DataFrame,
    subject: Subject,
    head: Head,
    words: Mapping[str, str],
    *,
    axis: tuple[str, str, str],
    note: str = "",
) -> Figure:
    """Draw scores with intervals, and ranks with rank sets, of each model by each kind of score.

    whole: scores (the kind), model, score, ci_low, ci_high, rank, rank_low, rank_high. words: of
    the kinds, in the order drawn. axis: title of the scores, the words under them, and what the
    kind raw is.
    """
    kinds = [kind for kind in words if (whole["scores"] == kind).any()]
    models = whole[whole["scores"] == RAW].sort_values(["rank", "model"])["model"].tolist()
    row = row_within(len(models), BETWEEN + PITCH * len(kinds))
    label, marks_of = widest(models) + 0.1, dict(zip(words, POINTS, strict=False))
    across = max(DOUBLE_COLUMN, 2 * EDGE + label + GUTTER + 0.1 + 2 * LEAST_PANEL)
    width = (across - 2 * EDGE - label - GUTTER - 0.1) / 2
    marks = {
        kind: {"color": NEUTRAL if kind == HUMAN else FAINT, "lw": STROKE, **marks_of[kind]}
        for kind in kinds
    }
    legend = [
        family_entries(subject.palette, models),
        [Entry(ORDER), *(Entry(words[kind], line=mark) for kind, mark in marks.items())],
    ]
    body = row * len(models) + BELOW + ABOVE
    page = Page(subject=subject, head=head, width=across, body=body, legend=legend, note=note)
    left, right = EDGE + label, EDGE + label + width + GUTTER
    scores, ranks = (page.axes(x, BELOW, width, row * len(models)) for x in (left, right))
    for axes, title, names in ((scores, axis[0], models), (ranks, "Ranks", [""] * len(models))):
        plain_rows(axes, names)
        axes.set_title(title)
        for place in range(1, len(names)):
            axes.axhline(place - 0.5, color=GRID, lw=0.6, zorder=0.9)
    limits = limits_of(
        whole[["score", "ci_low", "ci_high"]].to_numpy(float).ravel(), share=0.04, more=1e-3
    )
    scores.set(xlim=limits)
    set_numbers(scores.xaxis, width)
    ranks.set_xlim(0.5, len(models) + 0.5)
    ranks.set_xticks(range(1, len(models) + 1, math.ceil(len(models) / MOST_RANKS)))
    for each in whole[whole["scores"] == RAW].to_dict("records"):
        ends = np.array([-0.5, 0.5]) + models.index(each["model"])
        put(
            ranks,
            [each["rank"]] * 2,
            ends,
            color=RULE,
            lw=2.4,
            solid_capstyle="butt",
            zorder=1,
            gid="raw rank",
        )
    page.centred(left + width / 2, 0.08, axis[1])
    page.centred(right + width / 2, 0.08, f"rank, 1 is best; grey line: by {axis[2]}")
    for number, kind in enumerate(kinds):
        shift = (number - (len(kinds) - 1) / 2) * PITCH / row
        for each in whole[whole["scores"] == kind].to_dict("records"):
            colour = NEUTRAL if kind == HUMAN else subject.palette.colour(each["model"])
            place = models.index(each["model"]) + shift
            if not math.isnan(each["ci_low"]):
                draw_bar(scores, place, each, colour)
                ends = [each["rank_low"] - 0.2, each["rank_high"] + 0.2]
                put(
                    ranks,
                    ends,
                    [place] * 2,
                    color=colour,
                    zorder=3,
                    gid="set",
                    lw=4.0,
                    alpha=0.4,
                    solid_capstyle="butt",
                )
            for axes, value in ((scores, each["score"]), (ranks, each["rank"])):
                draw_point(axes, place, value, colour, mark=marks_of[kind], gid=kind)
    return page.figure


def finding(whole: pd.DataFrame) -> str:
    """How many ranks change without the biases, and how many of these go beyond the rank set of the
    ratings as they are.

    If no score without the biases is there, by the next of CHANGED. Ranks are among the models that
    both have.
    """
    raw = whole[whole["scores"] == RAW].set_index("model")
    for kind, words in CHANGED.items():
        other = whole[(whole["scores"] == kind) & whole["score"].notna()].set_index("model")
        if len(other):
            before = raw.loc[other.index]
            moved = other["rank"] != before["rank"].rank(method="min")
            sentence = f"{words} changes the rank of {some(moved.sum(), len(other), 'model')}"
            if not moved.any() or len(other) < len(raw) or before["rank_low"].isna().any():
                return sentence
            beyond = (moved & ~other["rank"].between(before["rank_low"], before["rank_high"])).sum()
            return f"{sentence}, {beyond or 'none'} beyond its rank set"
    return "Only the ratings as they are rank the models"
