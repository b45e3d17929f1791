"""What a report says of own right and wrong answers: findings first, what would have been found,
what would overturn them.
"""

from recuse.base.reasons import Reason, because
from recuse.base.templates import said
from recuse.inference.gold import GOLD
from recuse.report.gold import caveats_on_gold, points_on_gold, sentences_on_gold
from recuse.report.pairwise import answer_of_comparisons
from report_pages import texts
from text_tables import csv_rows

FOUND = """
quantity,term,case,baseline,measure,estimate,verdict,favours
self_bias,A,harmful,both,difference,0.12,likely,yes
self_bias,B,harmful,both,difference,0.3,established,yes
family_bias,GPT,harmful,both,difference,-0.2,established,no
self_bias,C,harmful,both,difference,0.01,not shown,
self_bias,D,harmful,both,difference,0.2,inconclusive,
self_bias,A,legitimate,both,difference,0.2,established,yes
self_bias,A,legitimate share,other judges,difference,0.1,,
self_bias,A,over-marking,both,log ratio,0.693147,established,yes
self_bias,B,over-marking,both,log ratio,0.0,not shown,
"""
FEW = because(Reason.FEW_QUESTIONS, questions=3, least=10)


def with_interval(row):
    estimate = float(row["estimate"])
    ends = {"ci_low": estimate - 0.1, "ci_high": estimate + 0.1, "detectable": 0.149}
    shares = {"share": 0.5, "baseline_share": 0.5 - estimate}
    return row | ends | shares | {"reason": FEW if row["verdict"] == "inconclusive" else ""}


*ROWS, DOUBLED, SAME = texts(GOLD, map(with_interval, csv_rows(FOUND)))


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
    rows = [DOUBLED, SAME]
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
