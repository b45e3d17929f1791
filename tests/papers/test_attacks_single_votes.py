"""Votes by position, by length and by answer: against plain loops, by hand, and the bootstrap
against its large-sample form.
"""

import numpy as np
import pytest

from attack_votes import SCORES, random_votes, sample, write_votes
from picked_rows import fields, keyed
from recuse.base.database import connect
from recuse.papers.attacks import create_votes, length_curve, vote_shares, votes_by_position

pytestmark = pytest.mark.usefixtures("own_folder")

SAMPLING = {"confidence": 0.9, "seed": 3}
BINS = [(0, 10), (10, 20), (20, 30), (30, 40), (40, 50), (50, None)]


@pytest.fixture(params=[1, 2])
def rows(request):
    return random_votes(request.param)


def connected(rows):
    connection = connect()
    create_votes(connection, write_votes("votes.parquet", rows))
    return connection


def test_shares_by_position_equal_plain_loops(rows):
    results = list(votes_by_position(connected(rows), **SAMPLING))
    judges = [
        (experiment, judge) for experiment in ("main", "weak") for judge in ("J1", "J2", "J3")
    ]
    assert [fields(row, "experiment judge") for row in results] == judges
    for row in results:
        own = [
            vote
            for vote in rows
            if fields(vote, "experiment judge") == fields(row, "experiment judge")
        ]
        valid = [vote for vote in own if vote["outcome"] != "error"]
        shown_first = sum(vote["outcome"] == vote["order"][0] for vote in valid)
        shown_second = sum(vote["outcome"] == vote["order"][1] for vote in valid)
        n = len(valid)
        assert fields(row, "n errors") == (n, len(own) - n)
        shares = [shown_first / n, (n - shown_first - shown_second) / n, shown_second / n]
        assert [row["first"], row["tie"], row["second"]] == pytest.approx(shares, abs=1e-12)
        assert row["difference"] == pytest.approx(shares[0] - shares[2], abs=1e-12)
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


def naive_curve(rows, experiment, judge, low, high):
    """Votes for the longer answer, and their questions, of one bin."""
    scores = []
    items = set()
    for row in rows:
        gap = abs(row["length_a"] - row["length_b"])
        inside = low <= gap and (high is None or gap < high)
        same = fields(row, "experiment judge condition") == (experiment, judge, "control")
        if same and inside and gap and row["outcome"] != "error":
            for_b = SCORES[row["outcome"]]
            scores.append(for_b if row["length_b"] > row["length_a"] else 1 - for_b)
            items.add(row["item"])
    return scores, items


def test_the_length_curve_equals_plain_loops(rows):
    results = list(length_curve(connected(rows), **SAMPLING))
    by_key = keyed(results, "experiment judge bin_low")
    assert len(by_key) == len(results) > 25
    for experiment in ("main", "weak"):
        for judge in ("J1", "J2", "J3"):
            for low, high in BINS:
                scores, items = naive_curve(rows, experiment, judge, low, high)
                row = by_key.pop((experiment, judge, low), None)
                assert (row is None) == (not scores)
                if scores:
                    assert fields(row, "bin_high n questions") == (high, len(scores), len(items))
                    assert row["preference"] == pytest.approx(np.mean(scores), abs=1e-12)
                    if len(items) > 1:
                        assert row["ci_low"] <= row["preference"] <= row["ci_high"]
    assert not by_key


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


def test_vote_shares_are_those_of_the_control_group(rows):
    results = list(vote_shares(connected(rows)))
    assert len(results) == 8
    for row in results:
        names = ("experiment", "model_a", "model_b", "judge")
        own = [
            v
            for v in rows
            if v["condition"] == "control" and all(v[name] == row[name] for name in names)
        ]
        valid = [vote["outcome"] for vote in own if vote["outcome"] != "error"]
        assert fields(row, "n errors") == (len(valid), len(own) - len(valid))
        for outcome in ("a", "tie", "b"):
            assert row[outcome] == pytest.approx(valid.count(outcome) / len(valid), abs=1e-12)
