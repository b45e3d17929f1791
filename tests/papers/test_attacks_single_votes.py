"""Votes by position, by length and by answer: against counts by pandas, by hand, and the bootstrap
against its large-sample form.
"""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from attack_votes import SCORES, random_votes, sample, write_votes
from picked_rows import fields
from recuse.base.database import connect
from recuse.papers.attacks import create_votes, length_curve, vote_shares, votes_by_position

pytestmark = pytest.mark.usefixtures("own_folder")

SAMPLING = {"confidence": 0.9, "seed": 3}
JUDGE = ["experiment", "judge"]


@pytest.fixture(params=[1, 2])
def votes(request):
    return pd.DataFrame(random_votes(request.param))


def connected(rows):
    connection = connect()
    create_votes(connection, write_votes("votes.parquet", rows))
    return connection


def assert_shares(rows, keys, kinds):
    """The rows are in order of their keys, and have the counts and shares of `kinds` of votes."""
    counts = pd.crosstab(keys, kinds)
    n = counts.drop(columns="error").sum(axis=1)
    expected = counts.div(n, axis=0).assign(n=n, errors=counts["error"]).drop(columns="error")
    results = pd.DataFrame(rows).set_index(expected.index.names)[expected.columns]
    assert_frame_equal(results, expected, check_names=False, rtol=0, atol=1e-12)


def test_shares_by_position_are_those_of_the_answers_shown_first_and_second(votes):
    results = list(votes_by_position(connected(votes.to_dict("records")), **SAMPLING))
    shown = np.select(
        [votes["outcome"] == votes["order"].str[place] for place in (0, 1)],
        ["first", "second"],
        votes["outcome"],
    )
    assert_shares(results, [votes[name] for name in JUDGE], shown)
    assert len(results) == 6
    for row in results:
        assert row["difference"] == pytest.approx(row["first"] - row["second"], abs=1e-12)
        assert row["ci_low"] < row["difference"] < row["ci_high"]


def test_the_interval_of_the_difference_takes_questions_for_clusters():
    """Six equal votes on a question are worth one: the interval is that of as many questions, not
    of as many votes.
    """
    rows = [
        row
        for item in range(60)
        for row in sample(f"q{item}", "control", "a " * 6, order="ab" if item % 3 else "ba")
    ]
    (row,) = votes_by_position(connected(rows), **SAMPLING)
    share = 40 / 60
    error = np.sqrt(40 / 60 * 20 / 60 / 60)
    expected = 2 * share - 1 - 2 * 1.645 * error, 2 * share - 1 + 2 * 1.645 * error
    assert row["difference"] == pytest.approx(1 / 3, abs=1e-12)
    # A thirtieth apart
    assert fields(row, "ci_low ci_high") == pytest.approx(expected, abs=0.035)


def test_a_judge_with_nothing_but_errors_has_no_shares():
    connection = connected(
        sample("q1", "control", "error error") + sample("q2", "control", "error")
    )
    (row,) = votes_by_position(connection, **SAMPLING)
    assert fields(row, "n errors") == (0, 3)
    assert np.isnan(
        [row[name] for name in ("first", "tie", "second", "difference", "ci_low", "ci_high")]
    ).all()
    (row,) = vote_shares(connection)
    assert fields(row, "a tie b n errors") == (None, None, None, 0, 3)


def test_the_length_curve_is_that_of_grouped_votes(votes):
    results = pd.DataFrame(length_curve(connected(votes.to_dict("records")), **SAMPLING))
    kept = votes.query("condition == 'control' and outcome != 'error' and length_a != length_b")
    gap = kept["length_b"] - kept["length_a"]
    score = kept["outcome"].map(SCORES)
    kept = kept.assign(
        score=score.where(gap > 0, 1 - score), bin_low=(gap.abs() // 10 * 10).clip(upper=50)
    )
    expected = kept.groupby([*JUDGE, "bin_low"]).agg(
        preference=("score", "mean"), n=("item", "size"), questions=("item", "nunique")
    )
    assert len(expected) > 25
    table = results.set_index(expected.index.names)
    assert_frame_equal(table[expected.columns], expected, rtol=0, atol=1e-12)
    ends = np.where(results["bin_low"] < 50, results["bin_low"] + 10, np.nan)
    np.testing.assert_array_equal(results["bin_high"], ends)
    inside = results["preference"].between(results["ci_low"], results["ci_high"])
    assert inside[results["questions"] > 1].all()


def test_length_bins_have_their_lower_ends_and_equal_or_unknown_lengths_are_left_out():
    gaps = [0, 1, 9, 10, 49, 50, 300]
    rows = [
        row
        for gap in gaps
        for row in sample(f"q{gap}", "control", "b tie", length_a=100, length_b=100 + gap)
    ]
    rows += sample("unknown", "control", "a b tie", length_a=None, length_b=3)
    rows += sample("unknown", "control", "a error", length_a=3, length_b=None)
    rows += sample("q1", "rich_content", "a", length_a=100, length_b=101)
    results = list(length_curve(connected(rows), **SAMPLING))
    assert [fields(row, "bin_low bin_high n") for row in results] == [
        (0, 10, 4),
        (10, 20, 2),
        (40, 50, 2),
        (50, None, 4),
    ]
    assert {row["preference"] for row in results} == {0.75}
    assert {fields(row, "equal_lengths no_length errors") for row in results} == {(2, 4, 1)}
    one = results[1]
    assert one["questions"] == 1
    assert fields(one, "ci_low ci_high") == (None, None)


def test_a_judge_of_whom_the_length_curve_leaves_out_everything_has_one_row_without_a_bin():
    rows = sample("q1", "control", "b error", length_a=7, length_b=7) + sample(
        "q2", "control", "a", length_a=7
    )
    (row,) = length_curve(connected(rows), **SAMPLING)
    counts = {"n": 0, "questions": 0, "equal_lengths": 1, "no_length": 1, "errors": 1}
    assert row == {"experiment": "main", "judge": "J", **counts}


def test_vote_shares_are_those_of_the_control_group(votes):
    results = list(vote_shares(connected(votes.to_dict("records"))))
    control = votes[votes["condition"] == "control"]
    keys = [control[name] for name in ("experiment", "model_a", "model_b", "judge")]
    assert_shares(results, keys, control["outcome"])
    assert len(results) == 8
