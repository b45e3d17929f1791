"""Models ranked by the judges' scores, with and without the estimated biases, and by the human
scores.
"""

import math
from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from recuse.base.reasons import in_short
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
from recuse.pairwise.strengths import EQUAL_LENGTH
from recuse.plot.colours import NEUTRAL
from recuse.plot.page import head, joined, not_estimated, page_of_words
from recuse.plot.rows import POINTS, Block, Column, Kind, Row, rows_figure
from recuse.plot.style import Subject, language

KINDS = {
    RAW: "ratings as they are",
    DEBIASED: "debiased",
    WITHOUT_SELF: "without own answers",
    WITHOUT_FAMILY: "without own family's",
    HUMAN: "human scores (grey)",
    AS_PEOPLE: "as people would rate them",
}
MOST_RANKS = 10  # numbers on the axis of ranks
NONE = "No leaderboard: no model has a score (tables/leaderboard.csv)."
CHANGED = (DEBIASED, WITHOUT_SELF, WITHOUT_FAMILY, HUMAN)
KINDS_OF_STRENGTHS = {
    RAW: "verdicts as they are",
    DEBIASED: "without own, family and position terms",
    EQUAL_LENGTH: "and at equal length",
    HUMAN: "human labels (grey)",
}
ACROSS = "chosen over an average answer, % of verdicts that choose"
NO_STRENGTHS = "No strengths: the verdicts do not link the models."


@language()
def leaderboard_figure(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw scores with intervals, and ranks with rank sets: a row for each model, in the order of
    the ratings as they are.

    `table`: see recuse.inference.leaderboard. The rows without slice of the first spec that has any
    are drawn.
    """
    table = table[table["slice"].isna()]
    table = table[table["spec"].isin(table.dropna(subset="score")["spec"].iloc[:1])]
    estimand = max(table["estimand"].dropna(), default="")
    words = KINDS | ({DEBIASED: debiased_by(estimand)} if estimand else {})
    texts = {"words": words, "across": "mean score", "nothing": NONE}
    return page_of_ranks("leaderboard", table, subject, confidence, **texts)


@language()
def strengths(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw strengths, as the share of choices against an average answer, and ranks, of the verdicts
    as they are and debiased.

    `table`: see recuse.pairwise.strengths.
    """
    shares = {"score": "win_rate", "ci_low": "win_rate_low", "ci_high": "win_rate_high"}
    known = table["strength"].notna()
    table = table.assign(
        **{name: 100 * table[share].where(known) for name, share in shares.items()}
    )
    texts = {"words": KINDS_OF_STRENGTHS, "across": ACROSS, "nothing": NO_STRENGTHS}
    return page_of_ranks("strengths", table, subject, confidence, **texts)


def page_of_ranks(
    figure: str,
    table: pd.DataFrame,
    subject: Subject,
    confidence: float,
    *,
    words: Mapping[str, str],
    across: str,
    nothing: str,
) -> Figure:
    """Draw scores with intervals, and ranks with rank sets, of each model by each kind of score,
    if it has the first; the note says why others are missing, and what to know.

    figure: names its head. table: scores (the kind), model, score, ci_low, ci_high, rank, rank_low,
    rank_high, note. words: of the kinds, in the order drawn. across: under the scores. nothing: why
    there are none.
    """
    whole = table.dropna(subset="score")
    if whole.empty:
        return page_of_words(subject, nothing)
    missing = table[table["score"].isna()].groupby("scores")["note"].first().dropna()
    notes = [*filter(None, whole["note"].dropna().unique())]
    note = joined(
        not_estimated({words[kind]: reason for kind, reason in missing.items()}),
        f"{capitalised(in_short(notes))}." if notes else "",
    )
    present = [kind for kind in words if (whole["scores"] == kind).any()]
    kinds = {}
    for slot, kind in enumerate(present):
        colour = NEUTRAL if kind == HUMAN else ""
        kinds[kind] = Kind(words[kind], POINTS[slot], colour, slot)
    # Raw scores come first, if any can be compared
    first = whole[whole["scores"] == present[0]]
    models = first.sort_values(["rank", "model"])["model"].tolist()
    places = range(1, len(models) + 1, math.ceil(len(models) / MOST_RANKS))
    columns = [
        Column("scores", "Scores", across=across, at=None, scale="scores"),
        Column(
            "ranks",
            "Ranks and rank sets",
            across="rank, 1 is best",
            at=None,
            limits=(0.5, len(models) + 0.5),
            ticks=[(place, str(place)) for place in places],
            bar={"lw": 4.0, "alpha": 0.4},
        ),
    ]
    marks = whole.rename(columns={"model": "row", "scores": "kind"})
    ranks = marks.assign(
        panel="ranks",
        estimate=marks["rank"],
        ci_low=marks["rank_low"] - 0.2,
        ci_high=marks["rank_high"] + 0.2,
        words=[f"rank {rank:.0f}" for rank in marks["rank"]],
    )
    marks = pd.concat([marks.assign(panel="scores", estimate=marks["score"]), ranks])
    rows = [Row(model, model, subject.palette.colour(model)) for model in models]
    about = head(figure, **rank_changes(whole), level=confidence)
    blocks = [Block(rows, columns)]
    return rows_figure(marks, subject, about, blocks, kinds=kinds, note=note).figure


def rank_changes(whole: pd.DataFrame) -> dict:
    """How many ranks change without the biases, whose most, and how many of these go beyond the
    rank set of the ratings as they are, if all have one.

    If no score without the biases is there, by the next of CHANGED. Ranks are among the models that
    both have.
    """
    raw = whole[whole["scores"] == RAW].set_index("model")
    for kind in CHANGED:
        other = whole[(whole["scores"] == kind) & whole["score"].notna()].set_index("model")
        other = other[other.index.isin(raw.index)]
        if other.empty:
            continue
        before = raw.loc[other.index]
        ranks, after = (each["rank"].rank(method="min") for each in (before, other))
        moved = after != ranks
        most = (after - ranks).abs().idxmax()
        beyond = (moved & ~after.between(before["rank_low"], before["rank_high"])).sum()
        has_sets = len(other) == len(raw) and before["rank_low"].notna().all()
        places = {"old": ranks[most], "new": after[most]}
        counts = {"moved": moved.sum(), "total": len(other), "beyond": beyond}
        return {"kind": kind, "most": most, "has_sets": has_sets, **counts, **places}
    return {"kind": ""}
