"""The figures of the regression of verdicts show what their tables hold."""

import pandas as pd

from drawings import artists, prose, subject, x_values
from recuse.pairwise.strengths import STRENGTHS
from recuse.plot.leaderboard import strengths


def test_strengths_are_shares_against_an_average_answer_with_ranks():
    table = pd.DataFrame(
        [
            ("raw", "One", 0.7, 1),
            ("raw", "Two", 0.4, 2),
            ("debiased", "One", 0.45, 2),
            ("debiased", "Two", 0.6, 1),
        ],
        columns=["scores", "model", "win_rate", "rank"],
    )
    share, rank = table["win_rate"], table["rank"]
    ends = {"win_rate_low": share - 0.1, "win_rate_high": share + 0.1}
    table = table.assign(strength=share, **ends, rank_low=rank, rank_high=rank)
    figure = strengths(table.reindex(columns=STRENGTHS), subject(), confidence=0.9)
    for kind, places in (("raw", {70, 40, 1, 2}), ("debiased", {45, 60, 1, 2})):
        assert {round(float(place)) for place in x_values(artists(figure, kind))} == places
    assert "changes the rank of both models" in prose(figure)
