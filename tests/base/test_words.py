"""Lists, counts and numbers in words."""

import pytest

from recuse.base.words import (
    capitalised,
    counted,
    end,
    enumerated,
    level,
    number,
    p_value_text,
    percent,
    signed,
    span,
    visible,
    with_interval,
)


@pytest.mark.parametrize(
    ("names", "most", "words"),
    [
        ("", None, ""),
        ("a", 1, "a"),
        ("ab", None, "a and b"),
        ("abcde", 5, "a, b, c, d and e"),
        ("abcdef", 5, "a, b, c, d and 2 more"),
    ],
)
def test_lists(names, most, words):
    assert enumerated(list(names), most) == words


def test_counts():
    counts = counted(1, "judge"), counted(1200, "row"), counted(0, "family", "families"), counted(2, "lost", "lost")
    assert counts == ("1 judge", "1,200 rows", "0 families", "2 lost")


def test_only_exact_shares_are_0_or_100_percent():
    shares = {0: "0 %", 1: "100 %", 0.0004: "under 0.1 %", 0.0123: "1.2 %", 0.0996: "10 %", 0.5: "50 %", 0.9999: "99 %"}
    assert {share: percent(share) for share in shares} == shares
    assert level(0.9) == "90\N{NO-BREAK SPACE}%"


def test_only_first_letters_become_capital():
    assert [capitalised(text) for text in ("of GPT-4o", "", "É")] == ["Of GPT-4o", "", "É"]


def test_numbers_have_a_minus_a_sign_and_a_dash_where_there_is_none():
    assert [number(value) for value in (-0.25, None, float("nan"))] == ["−0.2500", "–", "–"]
    assert [signed(value) for value in (0.0316, -0.0316, 0.0004, -0.0004, None)] == ["+0.032", "−0.032", "0.000", "0.000", "–"]
    assert signed(0.0316, 2) == "+0.03"
    assert span([0.034, 0.0231, 0.03]) == "0.023 to 0.034"
    assert span([0.0231, 0.0232]) == "0.023"


def test_numbers_show_the_sign_of_the_end_that_decides():
    ends = {0.0123: "+0.012", -0.00047: "−0.0005", 0.0000412: "+0.00004", -0.0996: "−0.100", 0.0: "0.000"}
    assert {value: end(value) for value in ends} == ends
    assert [p_value_text(p, 0.1) for p in (0.0312, 0.0996, 0.1004, 0.1)] == ["0.031", "0.1", "0.1004", "0.1"]


def test_estimates_have_their_interval_or_else_their_p_value():
    row = {"estimate": 0.031, "ci_low": 0.0002, "ci_high": 0.06, "p_value": 0.02, "printed": -0.03}
    row |= {"printed_ci_low": -0.05, "printed_ci_high": -0.01}
    assert with_interval(row, confidence=0.9) == "+0.031 [+0.0002, +0.060]"
    assert with_interval(row, confidence=0.9, prefix="printed_") == "−0.030 [−0.050, −0.010]"
    assert with_interval(row | {"ci_low": None}, confidence=0.9) == "+0.031 (p 0.02)"
    assert with_interval(row | {"ci_low": None, "p_value": float("nan")}, confidence=0.9) == "+0.031"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x1b[31m\a\r\n\t", "⟨U+001B⟩[31m⟨U+0007⟩⟨U+000D⟩⟨U+000A⟩⟨U+0009⟩"),
        ("x\u200by\ufeff\u2066\U000e0041", "x⟨U+200B⟩y⟨U+FEFF⟩⟨U+2066⟩⟨U+E0041⟩"),
        ("gp\u200dt \u200c", "gp⟨U+200D⟩t ⟨U+200C⟩"),  # that join nothing
        ("\udc80", "⟨U+DC80⟩"),
        *[(text, text) for text in ("Café Cafe\u0301 90\xa0% −", "👩\u200d💻 ❤\ufe0f", "می\u200cخواهم שלום 数据")],
    ],
)
def test_characters_that_are_not_seen_are_shown(text, shown):
    assert visible(text) == visible(visible(text)) == shown
    assert visible("a\n\r", but="\n") == "a\n⟨U+000D⟩"
