"""The figures of the regression of verdicts show what their tables hold."""

import pandas as pd

from drawings import artists, prose, subject
from recuse.pairwise.strengths import STRENGTHS
from recuse.plot.leaderboard import strengths


def test_strengths_are_shares_against_an_average_answer_with_ranks():
    def row(kind, model, share, rank):
        ends = {"win_rate": share, "win_rate_low": share - 0.1, "win_rate_high": share + 0.1}
        return {
            "scores": kind,
            "model": model,
            "strength": share,
            **ends,
            "rank": rank,
            "rank_low": rank,
            "rank_high": rank,
        }

    rows = [
        row("raw", "One", 0.7, 1),
        row("raw", "Two", 0.4, 2),
        row("debiased", "One", 0.45, 2),
        row("debiased", "Two", 0.6, 1),
    ]
    figure = strengths(pd.DataFrame(rows, columns=STRENGTHS), subject(), confidence=0.9)
    assert {round(float(point.get_xdata()[0])) for point in artists(figure, "raw")} == {
        70,
        40,
        1,
        2,
    }
    assert {round(float(point.get_xdata()[0])) for point in artists(figure, "debiased")} == {
        45,
        60,
        1,
        2,
    }
    assert "changes the rank of both models" in prose(figure)
