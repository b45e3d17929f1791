"""Regression of verdicts: models ranked by strength."""

import pandas as pd
from matplotlib.figure import Figure

from recuse.inference.leaderboard import DEBIASED, HUMAN, RAW
from recuse.pairwise.strengths import EQUAL_LENGTH
from recuse.plot.leaderboard import finding, page_of_ranks
from recuse.plot.page import Head, not_estimated, page_of_words
from recuse.plot.style import Subject, language, percent_as_given

KINDS = {
    RAW: "verdicts as they are",
    DEBIASED: "without own, family and position terms",
    EQUAL_LENGTH: "and at equal length",
    HUMAN: "human labels (grey)",
}
ACROSS = "chosen over an average answer, % of verdicts that choose"
NO_STRENGTHS = "No strengths: the verdicts do not link the models."


@language()
def strengths(table: pd.DataFrame, subject: Subject, *, confidence: float) -> Figure:
    """Draw strengths, as the share of choices against an average answer, and ranks, of the verdicts
    as they are and debiased.

    `table`: see recuse.pairwise.strengths.
    """
    whole = table[table["strength"].notna()]
    whole = whole[whole["model"].isin(whole.loc[whole["scores"] == RAW, "model"])]
    if whole.empty:
        return page_of_words(subject, NO_STRENGTHS)
    shares = {"score": "win_rate", "ci_low": "win_rate_low", "ci_high": "win_rate_high"}
    whole = whole.assign(**{name: 100 * whole[share] for name, share in shares.items()})
    missing = table[table["strength"].isna()].groupby("scores")["note"].first()
    note = not_estimated({KINDS[kind]: reason for kind, reason in missing.items()})
    level = percent_as_given(confidence)
    unit = f"{level} intervals by question, rank sets for all models at once"
    return page_of_ranks(whole, subject, Head(finding(whole), unit), KINDS, ACROSS, note)
