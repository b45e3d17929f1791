"""The published numbers of Chen et al.: whole, and their ranks and differences computed again."""

from fractions import Fraction

import pytest
from numpy.random import default_rng

from conftest import DATA
from picked_rows import fields
from recuse.base.tables import read_table
from recuse.papers.attack_values import published_ranks
from text_tables import csv_rows

PUBLISHED = DATA / "judgement_bias_published.csv"


@pytest.fixture(scope="module")
def again():
    return list(published_ranks(read_table(PUBLISHED)))


def test_the_published_tables_are_whole():
    rows = read_table(PUBLISHED)
    counts = {table: sum(row["table"] == table for row in rows) for table in "123467"}
    assert counts == {"1": 8 * 4, "2": 4, "3": 7 * 4, "4": 7 * 5, "6": 14 * 4, "7": 12}
    assert len(rows) == sum(counts.values())
    keys = {fields(row, "table judge column") for row in rows}
    assert len(keys) == len(rows)
    shares = [row for row in rows if row["quantity"] in ("first", "tie", "second")]
    totals = [
        sum(Fraction(row["value"]) for row in shares if row["judge"] == judge)
        for judge in {r["judge"] for r in shares}
    ]
    assert all(abs(total - 1) <= Fraction("0.0015") for total in totals)


def test_printed_ranks_and_differences_are_equal_but_for_what_rounding_hides(again):
    others = {fields(row, "table judge column"): row for row in again if row["verdict"] != "equal"}
    assert len(again) == 24 + 8 + 7 + 7 + 14
    assert {key: row["verdict"] for key, row in others.items()} == {
        ("1", "Ernie", "Reference"): "possible",  # .42, as LLaMA2-70B, which is printed as third
        ("1", "Ernie", "Avg. Ranking"): "possible",
        ("6", "GPT-3.5-Turbo", "Diff"): "possible",
        ("6", "Ernie", "Diff"): "possible",
        ("6", "Mixtral", "Diff"): "possible",
    }
    tie = others["1", "Ernie", "Reference"]
    assert fields(tie, "printed recomputed lowest_possible highest_possible") == (4, 3, 3, 4)
    average = others["1", "Ernie", "Avg. Ranking"]
    assert fields(average, "recomputed highest_possible") == pytest.approx(
        (13 / 3, 14 / 3), abs=1e-12
    )
    difference = others["6", "Ernie", "Diff"]
    assert [difference[name] for name in ("recomputed", "lowest_possible", "highest_possible")] == [
        0.155,
        0.154,
        0.156,
    ]


def test_no_unrounded_values_give_ranks_outside_the_possible_ones(again):
    """Naive: rates drawn within half a unit of the printed ones, ranked as they are."""
    rates = {row["judge"]: row["asr"] for row in again if row["column"] == "Reference"}
    ends = {
        row["judge"]: fields(row, "lowest_possible highest_possible")
        for row in again
        if row["column"] == "Reference"
    }
    generator = default_rng(1)
    seen = {judge: set() for judge in rates}
    for _ in range(200):
        drawn = {
            judge: rate + generator.uniform(-0.00499, 0.00499) for judge, rate in rates.items()
        }
        for judge, rate in drawn.items():
            seen[judge].add(1 + sum(other < rate for other in drawn.values()))
    assert {judge: (min(ranks), max(ranks)) for judge, ranks in seen.items()} == ends


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
    assert [row["verdict"] for row in published_ranks(rows)] == [
        "impossible",
        "equal",
        "impossible",
        "equal",
        "impossible",
    ]


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
    assert [row["verdict"] for row in published_ranks(rows)] == ["possible", "impossible"]
