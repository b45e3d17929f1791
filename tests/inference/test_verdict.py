"""The rule of the verdict, case by case; Holm against statsmodels; the rows of a table of conclusions."""

from math import isnan, nan

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from recuse.inference.verdict import (
    ADVICE,
    ASTRAY,
    CANNOT_BE_TOLD,
    CONTRADICTION,
    ESTABLISHED,
    NO_CLEAR_BIAS,
    NO_OWN_ANSWERS,
    NOT_ESTIMABLE,
    SUGGESTIVE,
    Reply,
    verdict_on,
    verdict_rows,
)
from recuse.model.least_squares import holm

ABOVE, BELOW, AROUND = Reply(0.2, 0.1, 0.3, 0.01), Reply(-0.2, -0.3, -0.1, 0.01), Reply(0.1, -0.1, 0.3, 0.5)
CHECKS = {"A": "by prompt", "B": "by model", "C": "mixed"}


@pytest.mark.parametrize(
    ("replies", "adjusted_p", "verdict", "side"),
    [
        ({"A": ABOVE, "B": ABOVE, "C": ABOVE}, 0.05, ESTABLISHED, 1),
        ({"A": ABOVE, "B": ABOVE, "C": ABOVE}, 0.1, ESTABLISHED, 1),
        ({"A": ABOVE, "B": ABOVE, "C": ABOVE}, 0.11, SUGGESTIVE, 1),  # after many tests it may be chance
        ({"A": ABOVE, "B": ABOVE, "C": BELOW}, 0.05, ESTABLISHED, -1),  # C alone is beyond ordinary preference
        ({"A": ABOVE, "B": ABOVE, "C": BELOW}, 0.5, NO_CLEAR_BIAS, 0),
        ({"A": ABOVE, "B": AROUND, "C": AROUND}, 1, SUGGESTIVE, 1),
        ({"A": AROUND, "B": ABOVE, "C": AROUND}, 1, SUGGESTIVE, 1),
        ({"A": BELOW, "B": AROUND, "C": AROUND}, 1, NO_CLEAR_BIAS, 0),  # the estimate of C is on the other side
        ({"A": ABOVE, "B": BELOW, "C": AROUND}, 1, NO_CLEAR_BIAS, 0),
        ({"A": AROUND, "B": AROUND, "C": AROUND}, 1, NO_CLEAR_BIAS, 0),
        ({"A": AROUND}, nan, CANNOT_BE_TOLD, 0),
        ({"A": ABOVE, "B": BELOW}, nan, CANNOT_BE_TOLD, 0),
        ({"A": ABOVE, "C": Reply(reason="not estimable: one family")}, nan, SUGGESTIVE, 1),
        ({"A": ABOVE, "C": Reply(reason="cannot be told: 8 prompts")}, nan, CANNOT_BE_TOLD, 0),
        ({}, nan, CANNOT_BE_TOLD, 0),
    ],
)
def test_the_rule(replies, adjusted_p, verdict, side):
    assert verdict_on(replies, adjusted_p, confidence=0.9) == (verdict, side)


def test_holm_equals_statsmodels_and_leaves_out_what_is_no_test():
    generator = np.random.default_rng(1)
    for size in (1, 2, 9, 30):
        p_values = generator.uniform(size=size) ** 3
        assert holm(p_values.tolist()) == pytest.approx(multipletests(p_values, method="holm")[1], abs=1e-15)
    with_gap = holm([0.02, nan, 0.01])
    assert isnan(with_gap[1])
    assert [with_gap[0], with_gap[2]] == holm([0.02, 0.01]) == [0.02, 0.02]
    assert holm([]) == []


def concluded(term, check, low, high, p_value=0.01, *, slice="", words="", quantity="self_bias"):
    numbers = {"estimate": (low + high) / 2, "ci_low": low, "ci_high": high, "p_value": p_value, "detectable": 0.05}
    conclusion = NOT_ESTIMABLE if words else "something"
    place = {"slice": slice, "quantity": quantity, "term": term, "check": check}
    return {**place, **({} if words else numbers), "words": words, "conclusion": conclusion}


def rows_of(conclusions, judges=("J", "K", "L"), astray=()):
    rows = verdict_rows(conclusions, judges, astray, checks=CHECKS, confidence=0.9)
    return {(row["quantity"], row["term"]): row for row in rows}


def test_rows_show_the_number_that_the_verdict_rests_on():
    rows = rows_of(
        [
            *(concluded("J", check, 0.1, 0.3) for check in CHECKS.values()),
            concluded("J", "mixed", -9, -8, slice="Tone"),  # slices have no verdict
            concluded("K", "by prompt", 0.2, 0.4),
            concluded("K", "by model", -0.1, 0.2),
            concluded("K", "mixed", -0.1, 0.2, 0.5),
            concluded("F", "by prompt", -0.1, 0.1, quantity="family_bias"),
            concluded("F", "mixed", 0, 0, quantity="family_bias", words="cannot be told: 8 prompts"),
        ]
    )
    established, suggestive, outsider, family = rows.values()
    assert [established[key] for key in ("verdict", "question", "rests_on", "favours")] == [ESTABLISHED, "C", "A B C", "yes"]
    assert established["adjusted_p_value"] == pytest.approx(0.02)  # two judges have a p-value
    assert [suggestive[key] for key in ("verdict", "question", "rests_on")] == [SUGGESTIVE, "A", "A"]
    assert suggestive["estimate"] == pytest.approx(0.3)
    assert [outsider["verdict"], outsider["reason"]] == [CANNOT_BE_TOLD, NO_OWN_ANSWERS]
    assert [family["verdict"], family["reason"], family["question"]] == [CANNOT_BE_TOLD, "8 prompts", ""]


def test_a_judge_that_does_not_follow_the_humans_is_not_compared_with_them():
    conclusions = [concluded("J", "by prompt", 0.1, 0.3), concluded("J", "mixed", 0, 0, words="not estimable: no spread")]
    assert rows_of(conclusions)["self_bias", "J"]["verdict"] == SUGGESTIVE
    row = rows_of(conclusions, astray=["J"])["self_bias", "J"]
    assert [row["verdict"], row["reason"]] == [CANNOT_BE_TOLD, f"no spread; {ASTRAY}"]
    assert rows_of(conclusions[:1], astray=["J"])["self_bias", "J"]["reason"] == ASTRAY
    without_bias = [concluded("J", "by prompt", 0.1, 0.3), concluded("J", "mixed", -0.1, 0.1, 0.9)]
    row = rows_of(without_bias, astray=["J"])["self_bias", "J"]
    assert [row["verdict"], row["reason"], row["advice"]] == [NO_CLEAR_BIAS, ASTRAY, ADVICE[ASTRAY]]


def test_contradictory_replies_without_c_cannot_be_told():
    row = rows_of([concluded("J", "by prompt", 0.1, 0.3), concluded("J", "by model", -0.3, -0.1)])["self_bias", "J"]
    assert [row["verdict"], row["reason"], row["rests_on"]] == [CANNOT_BE_TOLD, CONTRADICTION, ""]


def test_what_overrules_a_finding_is_named():
    disagree = rows_of(
        [concluded("J", "by prompt", 0.1, 0.3), concluded("J", "by model", -0.3, -0.1), concluded("J", "mixed", -1, 1, 0.9)]
    )
    assert disagree["self_bias", "J"]["reason"] == "A and B point in opposite directions"
    overruled = rows_of([concluded("J", "by prompt", 0.1, 0.3), concluded("J", "mixed", -1, 0.5, 0.5)])
    assert overruled["self_bias", "J"]["reason"] == "A finds one, C is on the other side of 0"


def test_judges_about_which_nothing_is_concluded_are_left_out_if_families_are_told():
    row = {"slice": "", "quantity": "family_bias", "term": "GPT", "check": "mixed", "conclusion": "none", "words": ""}
    rows = verdict_rows([row | {"estimate": 0.1}], ["one", "other"], [], checks=CHECKS, confidence=0.9)
    assert [(row["quantity"], row["term"]) for row in rows] == [("family_bias", "GPT")]
    alone = verdict_rows([], ["one", "other"], [], checks=CHECKS, confidence=0.9)
    assert [row["reason"] for row in alone] == [NO_OWN_ANSWERS] * 2
