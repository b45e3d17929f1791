"""Regression of verdicts: models ranked by strength."""

import pandas as pd
from matplotlib.figure import Figure

from recuse.inference.leaderboard import DEBIASED, HUMAN, RAW
from recuse.pairwise.strengths import EQUAL_LENGTH
from recuse.plot.intervals import (
    sentence,
)
from recuse.plot.leaderboard import finding as changes_of_ranks
from recuse.plot.leaderboard import page_of_ranks
from recuse.plot.page import Head, page_of_words
from recuse.plot.style import Subject, language, percent_as_given

KINDS = {
    RAW: "verdicts as they are",
    DEBIASED: "without own, family and position terms",
    EQUAL_LENGTH: "and at equal length",
    HUMAN: "human labels (grey)",
}
NO_STRENGTHS = "No strengths: the verdicts do not link the models."


@language()
def strengths(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw strengths, as the share of choices against an average answer, and ranks, of the verdicts
    as they are and debiased.

    `table`: see recuse.pairwise.strengths.
    """
    whole = table[table["strength"].notna()]
    raw = set(whole.loc[whole["scores"] == RAW, "model"])
    whole = whole[whole["model"].isin(raw)]
    if not raw:
        return page_of_words(subject, NO_STRENGTHS)
    whole = whole.assign(
        score=100 * whole["win_rate"],
        ci_low=100 * whole["win_rate_low"],
        ci_high=100 * whole["win_rate_high"],
    )
    absent = {
        KINDS[kind]: note
        for kind, note in table[table["strength"].isna()].groupby("scores")["note"].first().items()
    }
    unit = f"{percent_as_given(confidence)} intervals by question, rank sets for all models at once"
    axis = (
        "Strengths",
        "chosen over an average answer, % of verdicts that choose",
        "the verdicts as they are",
    )
    return page_of_ranks(
        whole, subject, Head(changes_of_ranks(whole), unit), KINDS, axis=axis, note=sentence(absent)
    )
