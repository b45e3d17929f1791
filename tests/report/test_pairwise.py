"""The answer of a report of comparisons says what their tables say, by condition."""

import pytest

from recuse.base.tables import ASR, COGNITIVE_BIASES, POSITION, VERBOSITY
from recuse.report.pairwise import answer_of_comparisons
from report_pages import texts


def verdict(judge, low, high, condition=""):
    value = {"verbosity_bias": (low + high) / 2, "ci_low": low, "ci_high": high}
    return {"judge": judge, "condition": condition, "order": "debiased", "draws": "excluded", **value}


def place(judge, low, high, condition=""):
    value = {"value": (low + high) / 2, "ci_low": low, "ci_high": high}
    return {"judge": judge, "condition": condition, "statistic": "first_preference", **value}


def test_length_and_place_of_comparisons():
    rows = [
        verdict("A", 0.1, 0.3),
        verdict("B", -0.3, -0.1),
        verdict("C", -0.1, 0.1),
        {**verdict("D", 0.5, 0.7), "order": "ab"},
    ]
    positions = [place("A", 0.6, 0.8), place("B", 0.4, 0.6), place("C", 0.2, 0.3), place("A", 0.9, 0.95, "bandwagon")]
    tables = {"verbosity": texts(VERBOSITY, rows), "position": texts(POSITION, positions)}
    answer = answer_of_comparisons(tables, confidence=0.9)
    assert answer.headline == (
        "A preference for longer answers is found in 1 of 3 judges, for shorter ones in 1. A preference for the answer shown "
        "first is found in 1 of 3 judges, for the second in 1."
    )
    assert [each.items for each in answer.points] == [[("", "A +0.200 (0.100 to 0.300)")], [("", "A 0.700 (0.600 to 0.800)")]]


def test_several_conditions_are_listed():
    rows = [verdict("A", 0.1, 0.3, "one"), verdict("A", -0.1, 0.1, "two"), verdict("B", 0.1, 0.2, "two")]
    (point,) = answer_of_comparisons({"verbosity": texts(VERBOSITY, rows)}, confidence=0.9).points
    assert point.heading == "A preference for longer answers is found in 1 of 2 judges (two)"
    assert point.items == [
        ("one", "A preference for longer answers is found in 1 of 1 judge: A +0.200 (0.100 to 0.300)"),
        ("two", "A preference for longer answers is found in 1 of 2 judges: B +0.150 (0.100 to 0.200)"),
    ]


@pytest.mark.parametrize(
    ("low", "high", "judges"),
    [(0.6, 0.8, "in 1 of 1 judge"), (0.2, 0.4, "in none of 1 judge, for the second in 1"), (0.4, 0.6, "in none of 1 judge")],
)
def test_comparisons_without_human_labels_show_the_effect_of_place(low, high, judges):
    agreed = {**place("A", 0.2, 0.4), "statistic": "consistency"}
    rows = texts(POSITION, [place("A", low, high), agreed, place("A", 0.9, 0.95, "bandwagon")])
    answer = answer_of_comparisons({"verbosity": [], "position": rows}, confidence=0.9)
    share = "30\N{NO-BREAK SPACE}% of comparisons"
    first = f"A preference for the answer shown first is found {judges}."
    assert answer.headline == f"{first} Both orders get the same verdict in {share}."
    assert [each.items for each in answer.points] == [
        [("", f"A {(low + high) / 2:.3f} ({low:.3f} to {high:.3f})")],
        [("", "A 0.300 (0.200 to 0.400)")],
    ]


def test_own_answers_are_compared_with_the_chance_of_a_judge_with_ties():
    shares = {"bias": "egocentric_order", "random": 0.25, "origin": "computed", "chance": 0.1, "above_random": "yes"}
    rows = [{**shares, "judge": "A", "share": 0.2, "ci_low": 0.15, "ci_high": 0.25}]
    rows += [{**shares, "judge": "B", "share": 0.11, "ci_low": 0.08, "ci_high": 0.14}]
    (own,) = answer_of_comparisons({"cognitive_biases": texts(COGNITIVE_BIASES, rows)}, confidence=0.9).points
    assert own.heading == "Choosing its own answer is more frequent than by chance in 1 of 2 judges"
    assert own.items == [
        ("Choosing its own answer", "more frequent than by chance in 1 of 2 judges: A 0.200 (0.150 to 0.250), chance 0.100")
    ]
    assert "Quality is not held fixed" in own.words
    (own,) = answer_of_comparisons({"cognitive_biases": texts(COGNITIVE_BIASES, rows[1:])}, confidence=0.9).points
    assert own.heading == "Choosing its own answer is more frequent than by chance in none of 1 judge"


def test_own_answers_and_attacks_of_comparisons():
    shares = {"bias": "egocentric_order", "random": 0.25, "origin": "quoted"}
    rows = [{**shares, "judge": name, "share": 0.5 - 0.1 * place, "above_random": "yes"} for place, name in enumerate("ABCDE")]
    rows += [{**shares, "judge": "Human", "share": 0.9, "above_random": "yes"}]
    attacks = [{"condition": "rich_content", "judge": "A", "asr": 0.4, "ci_low": 0.3, "ci_high": 0.5}]
    tables = {"cognitive_biases": texts(COGNITIVE_BIASES, rows), "asr": texts(ASR, attacks)}
    own, attacked = answer_of_comparisons(tables, confidence=0.9).points
    assert own.heading == "Choosing its own answer is more frequent than by chance (0.25) in 5 of 5 judges"
    assert own.items[0][1] == "more frequent than by chance (0.25) in 5 of 5 judges: A 0.500; B 0.400; C 0.300; and 2 more"
    assert "quoted from the authors' table" in own.words
    assert attacked.heading == "Rich content wins judges over in 40\N{NO-BREAK SPACE}% of samples on average"
    assert answer_of_comparisons({}, confidence=0.9).headline == "These comparisons say nothing about their judges."
