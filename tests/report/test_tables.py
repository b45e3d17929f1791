"""Tables of a page: numbers for a reader, names as they are."""

from dataclasses import replace

import pytest

from recuse.report.tables import excerpts, in_figures, shown
from text_tables import cases


@pytest.mark.parametrize(
    ("text", "read"),
    cases("""
0.04387600991713079
    0.0439
-0.113
    −0.1130
63222
    63,222
inf
    ∞
nan
    nan
7e-05
    0.0001
"""),
)
def test_numbers_are_rounded_for_reading(text, read):
    assert in_figures(text) == read


def test_cells_hold_the_full_number_and_names_stay_names():
    rows = [
        {
            "quantity": "self_bias",
            "slice": "",
            "term": "4",
            "estimate": "0.123456",
            "p_value": "1e-30",
        }
    ]
    table = shown("main", excerpts()["main"], rows, "main.csv", {})
    assert table["headings"] == [
        ("bias", False),
        ("judge or family", False),
        ("gap", True),
        ("p", True),
    ]
    assert table["rows"] == [
        [("self-bias", ""), ("4", ""), ("0.1235", "0.123456"), ("< 0.0001", "1e-30")]
    ]


@pytest.mark.parametrize(
    ("table", "column", "shown_as"),
    [
        ("pooled", "left_out", "my_judge"),
        ("panel", "panel", "my_judge"),
        ("round_robin", "judges", "my_judge"),
        ("check", "subject", "my_judge"),
        ("agreement", "statistic", "my judge"),
    ],
)
def test_codes_are_words_and_names_stay_names(table, column, shown_as):
    excerpt = replace(excerpts()[table], columns=column, only={}, but={})
    row = {"level": "note", column: "my_judge"}
    found = shown(table, excerpt, [row], f"{table}.csv", {})
    assert found["rows"] == [[(shown_as, "")]]


def test_a_long_table_is_a_link():
    rows = [{"quantity": "self_bias", "slice": "", "term": str(number)} for number in range(61)]
    assert len(shown("main", excerpts()["main"], rows[:60], "main.csv", {})["rows"]) == 60
    table = shown("main", excerpts()["main"], rows, "main.csv", {})
    assert (table["rows"], table["count"]) == ([], 61)


def test_a_table_shows_rows_with_values_among_some_and_none_among_others():
    rows = [
        {"verdict": verdict, "item": item}
        for verdict in ("differs", "match")
        for item in ("value", "claim")
    ]
    assert [row for row in rows if excerpts()["scorecard"].shows(row)] == rows[:1]
    rows = [{"quantity": quantity} for quantity in ("self_bias", "intercept", "slope")]
    assert [row for row in rows if excerpts()["recovery"].shows(row)] == rows[:1]
