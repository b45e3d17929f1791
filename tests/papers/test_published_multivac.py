"""The rankings of The Multivac, and its scorecard."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from picked_rows import column, fields, keyed
from recuse.papers.multivac_values import bradley_terry, rankings, scorecard_of_multivac
from text_tables import csv_rows


def test_strengths_of_two_groups():
    """Of two models, the log-odds; the groups are apart, and each has mean 0."""
    wins = np.zeros((5, 5))
    wins[0, 1], wins[1, 0] = 3, 1
    wins[2, 3], wins[3, 4], wins[4, 2], wins[3, 2] = 2, 2, 1.5, 0.5
    strength, group = bradley_terry(wins)
    assert group.tolist() == [0, 0, 1, 1, 1]
    assert_allclose(strength[0] - strength[1], np.log(3), rtol=1e-12)
    assert_allclose([strength[:2].sum(), strength[2:].sum()], 0, atol=1e-12)
    expected = 1 / (1 + np.exp(strength[None, 2:] - strength[2:, None]))
    met = (wins + wins.T)[2:, 2:]
    assert_allclose((met * expected).sum(axis=1), wins[2:, 2:].sum(axis=1), rtol=1e-10)


def ranked(tmp_path):
    """Two judges score three models, one of which has two keys, on two occasions of one
    question.
    """
    rows = csv_rows("""
judge,model,occasion_code,rating_unit
x,A,0,0.9
x,B,0,0.5
y,A,0,0.5
y,B,0,0.5
x,A (as a2),1,0.1
x,B,1,0.2
x,C,1,0.2
""")
    path = str(tmp_path / "ratings.parquet")
    table = pd.DataFrame(rows).astype({"occasion_code": int, "rating_unit": float})
    table.assign(dimension="Score", prompt=0).to_parquet(path)
    return rankings([path])


def test_rankings_are_within_a_judge_and_an_occasion(tmp_path):
    rows = keyed(ranked(tmp_path), "model")
    assert {name: row["n"] for name, row in rows.items()} == {"A": 3, "B": 3, "C": 1}
    assert_allclose(rows["A"]["mean"], 5.0)
    # A beats B once, ties once, loses once; A loses to C once, B and C tie.
    wins = np.array([[0, 1.5, 0], [1.5, 0, 0.5], [1, 0.5, 0]])
    assert_allclose(column(rows.values(), "bradley_terry"), bradley_terry(wins)[0], rtol=1e-10)


def test_scorecard():
    printed = {"family": "makers", "fe_bias": "0.41", "se_judge": "0.1", "se_twoway": "0.2"}
    estimates = csv_rows("""
quantity,term,estimate,spec,std_error
family_bias,Makers,0.0410001,within_response,0.03
family_bias,Makers,0.0410001,within_response_by_judge,0.01
""")
    means = csv_rows("""
model,component,naive_mean,bradley_terry
A,0,5,3
B,0,5,1
""")
    ours = [
        {"model": name, "mean": 5.0, "bradley_terry": value}
        for name, value in (("A", 0.5), ("B", -0.5))
    ]
    rows = list(scorecard_of_multivac([printed], means, estimates, ours, study="s"))
    assert [" ".join(fields(row, "item verdict")) for row in rows] == [
        "family_bias match",
        "std_error match",
        "std_error differs",
        *["mean_score match", "bradley_terry differs"] * 2,
    ]
    assert fields(rows[4], "published ours") == (1.0, 0.5)
    assert next(scorecard_of_multivac([printed], [], [], [], study="s"))["verdict"] == "absent"
