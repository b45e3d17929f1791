"""Lists, counts and numbers in words."""

import pytest

from recuse.base.words import (
    capitalised,
    counted,
    enumerated,
    level,
    number,
    percent,
    signed,
    visible,
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
    counts = (
        counted(1, "judge"),
        counted(1200, "row"),
        counted(0, "family", "families"),
        counted(2, "lost", "lost"),
    )
    assert counts == ("1 judge", "1,200 rows", "0 families", "2 lost")


def test_only_exact_shares_are_0_or_100_percent():
    shares = {
        0: "0 %",
        1: "100 %",
        0.0004: "under 0.1 %",
        0.0123: "1.2 %",
        0.0996: "10 %",
        0.5: "50 %",
        0.9999: "99 %",
    }
    assert {share: percent(share) for share in shares} == shares
    assert level(0.9) == "90\N{NO-BREAK SPACE}%"


def test_only_first_letters_become_capital():
    assert [capitalised(text) for text in ("of GPT-4o", "", "É")] == ["Of GPT-4o", "", "É"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x1b[31m\a\r\n\t", "⟨U+001B⟩[31m⟨U+0007⟩⟨U+000D⟩⟨U+000A⟩⟨U+0009⟩"),
        ("x\u200by\ufeff\u2066\U000e0041", "x⟨U+200B⟩y⟨U+FEFF⟩⟨U+2066⟩⟨U+E0041⟩"),
        ("gp\u200dt \u200c", "gp⟨U+200D⟩t ⟨U+200C⟩"),  # that join nothing
        ("\udc80", "⟨U+DC80⟩"),
        *[
            (text, text)
            for text in (
                "Café Cafe\u0301 90\xa0% −",
                "👩\u200d💻 ❤\ufe0f",
                "می\u200cخواهم שלום 数据",
            )
        ],
    ],
)
def test_characters_that_are_not_seen_are_shown(text, shown):
    assert visible(text) == visible(visible(text)) == shown
    assert visible("a\n\r", but="\n") == "a\n⟨U+000D⟩"


def test_numbers_have_a_minus_a_sign_and_a_dash_where_there_is_none():
    assert [number(value) for value in (-0.25, None, float("nan"))] == ["−0.2500", "–", "–"]
    assert [signed(value) for value in (0.0316, -0.0316, 0.0004, -0.0004, None)] == [
        "+0.032",
        "−0.032",
        "0.000",
        "0.000",
        "–",
    ]
    assert signed(0.0316, 2) == "+0.03"
