"""Tables of a page: numbers as one reads them, names as they are."""

import pytest

from recuse.base.tables import LEADERBOARD
from recuse.report.tables import EXCERPTS, in_figures, shown
from report_pages import ranked, texts


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("0.04387600991713079", "0.0439"),
        ("-0.113", "−0.1130"),
        ("63222", "63,222"),
        ("inf", "∞"),
        ("nan", "nan"),
        ("7e-05", "0.0001"),
    ],
)
def test_numbers_are_rounded_for_reading(text, read):
    assert in_figures(text) == read


def test_cells_hold_the_whole_number_and_names_stay_names():
    rows = [{"quantity": "self_bias", "slice": "", "term": "4", "estimate": "0.123456", "p_value": "1e-30"}]
    table = shown("main", EXCERPTS["main"], rows, "main.csv")
    assert table.headings == [("bias", False), ("judge or family", False), ("gap", True), ("p", True)]
    assert table.rows == [[("self-bias", ""), ("4", ""), ("0.1235", "0.123456"), ("< 0.0001", "1e-30")]]


def test_change_is_told_of_debiased_scores_alone():
    rows = texts(LEADERBOARD, [{**ranked(scores, "A", 1, 1, 2), "change": -0.1} for scores in ("debiased", "human")])
    table = shown("leaderboard", EXCERPTS["leaderboard"], rows, "leaderboard.csv")
    place = [heading for heading, _ in table.headings].index("change by debiasing")
    assert [row[place][0] for row in table.rows] == ["−0.1000", ""]
