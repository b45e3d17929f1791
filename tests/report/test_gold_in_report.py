"""What a report says of own right and wrong answers: findings first, what would have been found,
what would overturn them.
"""

import math

from recuse.base.reasons import Reason, because
from recuse.base.templates import said
from recuse.inference.gold import GOLD
from recuse.report.gold import caveats_on_gold, points_on_gold, sentences_on_gold
from recuse.report.pairwise import answer_of_comparisons
from report_pages import texts


def row(term, case, estimate, verdict="", favours="", **columns):
    given = {"term": term, "case": case, "estimate": estimate}
    given |= {"verdict": verdict, "favours": favours, "baseline_share": 0.5 - estimate}
    given |= {"ci_low": estimate - 0.1, "ci_high": estimate + 0.1}
    usual = {"quantity": "self_bias", "baseline": "both", "measure": "difference", "share": 0.5}
    return usual | {"detectable": 0.149} | given | columns


ROWS = texts(
    GOLD,
    [
        row("A", "harmful", 0.12, "likely", "yes"),
        row("B", "harmful", 0.3, "established", "yes"),
        row("GPT", "harmful", -0.2, "established", "no", quantity="family_bias"),
        row("C", "harmful", 0.01, "not shown"),
        row(
            "D",
            "harmful",
            0.2,
            "inconclusive",
            reason=because(Reason.FEW_QUESTIONS, questions=3, least=10),
        ),
        row("A", "legitimate", 0.2, "established", "yes"),
        row("A", "legitimate share", 0.1, baseline="other judges"),
    ],
)


def test_findings_on_own_wrong_answers():
    assert [words.replace("\N{NO-BREAK SPACE}", " ") for words in sentences_on_gold(ROWS)] == [
        (
            "Established: B (+30.0 points) prefers its own wrong"
            " answers to right ones more often than expected."
        ),
        (
            "Established: the GPT family (−20.0 points) prefers its"
            " own wrong answers to right ones less often than expected."
        ),
        (
            "Likely: A (+12.0 points) prefers its own wrong answers to"
            " right ones more often than expected."
        ),
        "Not shown for own wrong answers: C.",
        "Inconclusive for own wrong answers: D.",
    ]


def test_ratios():
    ratio = {"measure": "log ratio"}
    doubled = row("A", "over-marking", math.log(2), "established", "yes", **ratio)
    same = row("B", "over-marking", 0.0, "not shown", **ratio)
    rows = texts(GOLD, [doubled, same])
    assert [words.replace("\N{NO-BREAK SPACE}", " ") for words in sentences_on_gold(rows)] == [
        ("Established: A (2.00 times) passes its own wrong answers more often than expected."),
        "Not shown for own wrong answers: B.",
    ]


def test_points_show_the_shares_and_say_once_what_is_expected():
    points = list(points_on_gold(ROWS, 0.9))
    expected = said("expected", confidence=0.9)
    assert "90\N{NO-BREAK SPACE}% interval" in expected
    assert [point.words == expected for point in points] == [True, False, False]
    assert points[0].items[0] == (
        "A",
        "50\N{NO-BREAK SPACE}% against 38\N{NO-BREAK SPACE}%: +12.0 points, 2.0 to 22.0; likely",
    )
    assert (
        points[0]
        .items[3][1]
        .endswith("; not shown (only +14.9 points or more would reliably show)")
    )
    assert points[0].items[-1][1].endswith("; inconclusive (3 questions, fewer than 10)")
    assert points[-1].heading == "How much of their self-preference is legitimate"


def test_a_finding_comes_with_what_would_overturn_it():
    (overturned,) = caveats_on_gold(ROWS)
    assert overturned.startswith("What is expected of own wrong answers assumes")
    assert [*caveats_on_gold(ROWS[3:5])] == []
    answer = answer_of_comparisons({"gold": ROWS}, confidence=0.9)
    assert answer.headline.startswith("Established: B")
    assert answer.caveats[0] == overturned
