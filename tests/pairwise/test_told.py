"""Verdicts of the regression and their words."""

import numpy as np
import pytest

from recuse.inference.verdict import CANNOT_BE_TOLD, ESTABLISHED, NO_CLEAR_BIAS, SUGGESTIVE
from recuse.pairwise.regression import probability
from recuse.pairwise.told import verdict_rows


def row(question, estimate, std_error=0.1, reason="", **others):
    ends = {"ci_low": estimate - 1.7 * std_error, "ci_high": estimate + 1.7 * std_error}
    numbers = {"estimate": estimate, "std_error": std_error, "p_value": 0.5 if abs(estimate) < 0.17 else 0.01, "df": 60.0}
    return {"question": question, "quantity": "self_bias", "term": "Judge", "reason": reason, **numbers, **ends, **others}


def told(*rows):
    (verdict,) = verdict_rows(rows, order=[], confidence=0.9, power=0.8)
    return verdict


def test_established_is_what_c_finds_after_adjustment():
    verdict = told(row("A", 0.4), row("B", 0.5), row("C", 0.4))
    assert (verdict["verdict"], verdict["favours"], verdict["rests_on"], verdict["question"]) == (
        ESTABLISHED,
        "yes",
        "A B C",
        "C",
    )
    assert verdict["probability"] == pytest.approx(probability(0.4))
    assert verdict["overturned_at"] == pytest.approx(probability(np.sqrt((0.4 / 1.7) ** 2 - 0.1**2)))
    assert verdict["words"] == (
        "Judge chooses its own answers over equally strong ones in 60 % of the verdicts that choose (90 % interval 56 % to "
        "64 %; beyond ordinary preference): established. This would be overturned if ordinary preferences for single models "
        "varied more than its other verdicts show: by a further standard deviation that moves one half to 55 %."
    ).replace("90 %", "90\N{NO-BREAK SPACE}%")


def test_established_without_a_spread_of_preferences_is_held_at_suggestive():
    verdict = told(row("A", 0.4), row("B", 0.5), row("C", 0.4, spread=0.005))
    assert verdict["verdict"] == SUGGESTIVE
    assert verdict["words"].endswith("then this test finds biases too often.")
    assert told(row("C", 0.4, spread=0.05))["verdict"] == ESTABLISHED


def test_holm_over_judges_can_leave_c_suggestive():
    others = [row("C", 0.0, term=f"Other {number}") for number in range(15)]
    rows = [*others, row("C", 0.3)]
    verdict = next(each for each in verdict_rows(rows, order=[], confidence=0.9, power=0.8) if each["term"] == "Judge")
    assert verdict["adjusted_p_value"] == pytest.approx(0.16)
    assert verdict["verdict"] == SUGGESTIVE


def test_what_only_humans_show_may_be_an_ordinary_preference():
    verdict = told(row("A", 0.4), row("B", 0.1), row("C", 0.1, 0.2))
    assert (verdict["verdict"], verdict["question"], verdict["rests_on"]) == (SUGGESTIVE, "A", "A")
    assert "It may be an ordinary preference for one model" in verdict["words"]
    assert "equally strong by the verdicts of the humans" in verdict["words"]
    assert verdict["overturned_at"] == pytest.approx(probability(0.4 - 0.17))
    verdict = told(row("B", -0.4), {"question": "C", "quantity": "self_bias", "term": "Judge", "reason": "a single judge"})
    assert (verdict["verdict"], verdict["favours"]) == (SUGGESTIVE, "no")
    assert "cannot be told: a single judge" in verdict["words"]
    assert "equally strong by the verdicts of the other judges" in verdict["words"]


def test_no_clear_bias_says_what_would_be_found():
    verdict = told(row("A", 0.0), row("B", 0.05), row("C", 0.05))
    assert verdict["verdict"] == NO_CLEAR_BIAS
    assert verdict["missed"] == pytest.approx(0.1 * (1.6706 + 0.8476), rel=1e-3)
    assert "A share of 56 % would be found with a probability of 80 %." in verdict["words"]


def test_what_cannot_be_told_has_the_reason():
    reason = {"quantity": "self_bias", "term": "Judge", "reason": "not estimable: nothing"}
    verdict = told({"question": "B", **reason}, {"question": "C", **reason})
    assert (verdict["verdict"], verdict["reason"], verdict["question"]) == (CANNOT_BE_TOLD, "nothing", "")
    assert verdict["words"] == "It cannot be told whether Judge favours its own answers: nothing."
    verdict = told(row("A", 0.1), {"question": "C", **reason})
    assert verdict["verdict"] == CANNOT_BE_TOLD
    assert verdict["words"].startswith("It cannot be told whether Judge favours its own answers: nothing. Judge chooses")
