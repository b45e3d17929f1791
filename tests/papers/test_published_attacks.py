"""The published numbers of Chen et al.: whole, and their ranks and differences computed again."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import rankdata

from conftest import DATA
from picked_rows import column, fields, keyed, where
from recuse.base.tables import read_table
from recuse.papers.attack_values import published_ranks
from text_tables import csv_rows

PUBLISHED = DATA / "judgement_bias_published.csv"


@pytest.fixture(scope="module")
def again():
    return list(published_ranks(read_table(PUBLISHED)))


def test_the_published_tables_are_whole():
    rows = read_table(PUBLISHED)
    counts = Counter(row["table"] for row in rows)
    assert counts == {"1": 8 * 4, "2": 4, "3": 7 * 4, "4": 7 * 5, "6": 14 * 4, "7": 12}
    keyed(rows, "table judge column")  # No two are the same.
    totals = Counter()
    for row in rows:
        if row["quantity"] in ("first", "tie", "second"):
            totals[row["judge"]] += Fraction(row["value"])
    assert all(abs(total - 1) <= Fraction("0.0015") for total in totals.values())


def test_printed_ranks_and_differences_are_equal_but_for_what_rounding_hides(again):
    others = keyed([row for row in again if row["verdict"] != "equal"], "table judge column")
    assert len(again) == 24 + 8 + 7 + 7 + 14
    assert {row["verdict"] for row in others.values()} == {"possible"}
    assert set(others) == {
        ("1", "Ernie", "Reference"),  # .42, as LLaMA2-70B, which is printed as third
        ("1", "Ernie", "Avg. Ranking"),
        ("6", "GPT-3.5-Turbo", "Diff"),
        ("6", "Ernie", "Diff"),
        ("6", "Mixtral", "Diff"),
    }
    tie = others["1", "Ernie", "Reference"]
    assert fields(tie, "printed recomputed lowest_possible highest_possible") == (4, 3, 3, 4)
    average = others["1", "Ernie", "Avg. Ranking"]
    assert fields(average, "recomputed highest_possible") == pytest.approx(
        (13 / 3, 14 / 3), abs=1e-12
    )
    difference = fields(others["6", "Ernie", "Diff"], "recomputed lowest_possible highest_possible")
    assert difference == (0.155, 0.154, 0.156)


def test_no_unrounded_values_give_ranks_outside_the_possible_ones(again):
    """Naive: rates drawn within half a unit of the printed ones, ranked as they are."""
    rows = where(again, column="Reference")
    slack = default_rng(1).uniform(-0.00499, 0.00499, (200, len(rows)))
    ranks = rankdata(np.array(column(rows, "asr")) + slack, axis=1)
    assert ranks.min(axis=0).tolist() == column(rows, "lowest_possible")
    assert ranks.max(axis=0).tolist() == column(rows, "highest_possible")


def printed(*rows):
    names = ("judge", "column", "quantity", "value", "printed_rank")
    return [{"table": "1", **dict(zip(names, row, strict=True))} for row in rows]


def test_wrong_ranks_averages_and_differences_are_called_impossible():
    rows = csv_rows("""
table,judge,column,quantity,value,printed_rank
1,A,x,asr,0.10,2
1,B,x,asr,0.11,2
1,A,,average_rank,2.00,
1,B,,average_rank,2.00,
1,A,First,first,0.500,
1,A,Second,second,0.300,
1,A,Diff,difference,0.202,
""")
    verdicts = column(published_ranks(rows), "verdict")
    assert verdicts == ["impossible", "equal", "impossible", "equal", "impossible"]


def test_a_difference_is_possible_where_rounding_of_all_three_numbers_allows_it():
    """0.195 is within the slack of the shares, 0.0005 and 0.00005, and rounds to what is printed;
    without them it is not.
    """
    shares = [("A", "First", "first", "0.500", ""), ("A", "Second", "second", "0.3055", "")]
    for value, verdict in (
        ("0.20", "possible"),
        ("0.200", "impossible"),
        ("0.21", "impossible"),
        ("0.19", "equal"),
    ):
        (row,) = published_ranks(printed(*shares, ("A", "Diff", "difference", value, "")))
        assert row["verdict"] == verdict


def test_an_average_that_no_whole_ranks_give_is_impossible():
    tied = [(judge, column, "asr", "0.10", "") for judge in "ABC" for column in "xyz"]
    rows = printed(
        *tied, ("A", "", "average_rank", "1.67", ""), ("B", "", "average_rank", "1.50", "")
    )
    assert column(published_ranks(rows), "verdict") == ["possible", "impossible"]
