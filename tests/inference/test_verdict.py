"""The verdict by its decisive reply; Holm against statsmodels; verdicts on ratings from a table of
conclusions.
"""

from dataclasses import replace
from math import isnan, nan

import pytest
from numpy.random import default_rng
from statsmodels.stats.multitest import multipletests

from picked_rows import column, fields, keyed
from recuse.base import reasons
from recuse.base.reasons import Reason, because
from recuse.inference.robustness import Conclusion
from recuse.inference.verdict import (
    KINDS,
    Reply,
    Verdict,
    verdict_on_reply,
    verdict_rows,
    verdicts_on_ratings,
)
from recuse.model.least_squares import holm
from tables_of_conclusions import PREFERENCE, at, row, table
from text_tables import lines

ABOVE = Reply(0.2, 0.1, 0.3, 0.01)
BELOW = Reply(-0.2, -0.3, -0.1, 0.01)
AROUND = Reply(0.1, -0.1, 0.3, 0.5, detectable=0.25)
REFUSED = Reply(reason=because(Reason.FEW_PROMPTS, names="J", prompts=8, least=10))
DOUBT = because(Reason.FEW_FAMILIES, least=4)
CHECKS = {"A": "by prompt", "B": "by model", "C": "mixed"}
ESTABLISHED, LIKELY, NOT_SHOWN, INCONCLUSIVE = Verdict


# The interval is above, below or around 0, or there is none; probability above 0, wordings, doubt,
# adjusted p-value, verdict
DECIDED = """
above    -     -  -                0.05  established
above    -     -  -                0.1   established
below    -     -  -                0.05  established
above    -     -  -                0.11  likely
above    -     -  -                nan   likely
above    -     -  no_spread_found  0.1   likely
above    -     -  no_spread_found  0.11  not shown
above    0.95  -  few_families     nan   likely
above    0.94  -  few_families     0.01  not shown
around   -     -  -                0.5   not shown
above    0.95  -  -                nan   established
above    0.94  -  -                0.01  likely
above    0.8   -  -                0.01  likely
above    0.79  -  -                0.01  not shown
below    0.05  -  -                nan   established
below    0.21  -  -                0.01  not shown
around   0.99  -  -                0.01  not shown
above    0.99  3  -                0.11  likely
above    0.99  3  -                0.1   established
above    0.99  1  -                0.11  established
refused  -     -  -                nan   inconclusive
reason   -     -  -                0.01  inconclusive
nothing  -     -  -                nan   inconclusive
"""
REPLIES = {"above": ABOVE, "below": BELOW, "around": AROUND, "refused": REFUSED}
REPLIES |= {"reason": replace(ABOVE, reason=REFUSED.reason), "nothing": Reply()}


@pytest.mark.parametrize("line", lines(DECIDED), ids=" ".join)
def test_the_decisive_reply_decides(line):
    place, *columns, adjusted_p = line[:5]
    known = zip(("probability_positive", "wordings", "doubt"), columns, strict=True)
    numbers = {
        name: value if name == "doubt" else float(value) for name, value in known if value != "-"
    }
    reply = replace(REPLIES[place], **numbers)
    verdict = verdict_on_reply(reply, float(adjusted_p), confidence=0.9)
    assert verdict == " ".join(line[5:])


def only(replies, kind="ratings"):
    (found,) = verdict_rows(KINDS[kind], "self_bias", {"J": replies}, confidence=0.9)
    return found


@pytest.mark.parametrize("others", [ABOVE, BELOW, AROUND, REFUSED])
def test_other_questions_never_decide_and_never_lend_their_size(others):
    for decisive in (ABOVE, AROUND, REFUSED):
        found = only({"A": others, "B": others, "C": decisive})
        assert found["verdict"] == only({"C": decisive})["verdict"]
        assert found.get("estimate") == (None if decisive is REFUSED else decisive.estimate)
        assert found.get("A") == found.get("B") == (None if others is REFUSED else others.estimate)


def test_a_note_says_that_all_judges_contradict_an_interval_or_that_own_ratings_are_missing():
    found = only({"C": replace(ABOVE, probability_positive=0.6)})
    assert fields(found, "verdict note") == (NOT_SHOWN, because(Reason.UNSUPPORTED, share="60 %"))
    assert "favours" not in found
    found = only({"C": replace(ABOVE, probability_positive=0.99, missing=0.12)})
    assert fields(found, "verdict note") == (ESTABLISHED, because(Reason.MISSING_OWN, share="12 %"))
    doubted = replace(ABOVE, probability_positive=0.99, missing=0.12, doubt=DOUBT)
    assert fields(only({"C": doubted}), "verdict note") == (LIKELY, DOUBT)
    assert only({"C": replace(AROUND, probability_positive=0.6, missing=0.0)})["note"] == ""


def test_shares_are_at_most_likely():
    assert only({"A": ABOVE}, kind="shares")["verdict"] == LIKELY
    # Its own question stands in the estimate
    assert only({"A": ABOVE}, kind="shares").get("A") is None


def test_p_values_are_corrected_over_the_judges_that_have_a_verdict():
    replies = {
        "J": {"C": Reply(0.2, 0.1, 0.3, 0.04)},
        "K": {"C": Reply(0.2, 0.1, 0.3, 0.06)},
        "L": {"C": REFUSED},
        "M": {},
    }
    rows = list(verdict_rows(KINDS["ratings"], "self_bias", replies, confidence=0.9))
    assert column(rows, "verdict") == [ESTABLISHED, ESTABLISHED, INCONCLUSIVE, INCONCLUSIVE]
    assert [row.get("adjusted_p_value") for row in rows[:2]] == pytest.approx([0.08, 0.08])
    assert column(rows[2:], "reason") == [REFUSED.reason, Reason.NO_OWN_ANSWERS]


def test_holm_equals_statsmodels_and_ignores_missing_tests():
    generator = default_rng(1)
    for size in (1, 2, 9, 30):
        p_values = generator.uniform(size=size) ** 3
        assert holm(p_values.tolist()) == pytest.approx(
            multipletests(p_values, method="holm")[1], abs=1e-15
        )
    with_gap = holm([0.02, nan, 0.01])
    assert isnan(with_gap[1])
    assert [with_gap[0], with_gap[2]] == holm([0.02, 0.01]) == [0.02, 0.02]
    assert holm([]) == []


def concluded(term, check, low, high, p_value=0.01, *, label="", reason="", quantity="self_bias"):
    numbers = {
        "estimate": (low + high) / 2,
        "ci_low": low,
        "ci_high": high,
        "p_value": p_value,
        "detectable": 0.05,
    }
    conclusion = Conclusion.NOT_ESTIMABLE if reason else Conclusion.FAVOURS
    place = {
        "slice": label,
        "quantity": quantity,
        "term": term,
        "check": check,
        "conclusion": conclusion,
    }
    return {**place, **({} if reason else numbers), "reason": reason}


def rows_from(conclusions, judges=("J", "K", "L"), agreement=None, **options):
    options = {"checks": CHECKS, "confidence": 0.9} | options
    rows = verdicts_on_ratings(conclusions, judges, agreement or {}, **options)
    return keyed(rows, "quantity term")


def test_verdicts_on_ratings_read_the_whole_study():
    rows = rows_from(
        [
            *(concluded("J", check, 0.1, 0.3) for check in CHECKS.values()),
            concluded("J", "mixed", -9, -8, label="Tone"),
            concluded("K", "by prompt", 0.2, 0.4),
            concluded("K", "mixed", -0.1, 0.2, 0.5),
            concluded("F", "by prompt", 0.1, 0.2, quantity="family_bias"),
            concluded("F", "mixed", 0, 0, quantity="family_bias", reason=REFUSED.reason),
        ]
    )
    established, not_shown, outsider, family = rows.values()
    assert fields(established, "verdict favours estimate") == (ESTABLISHED, "yes", 0.2)
    assert established["adjusted_p_value"] == pytest.approx(0.02)
    assert fields(not_shown, "verdict detectable estimate") == (
        NOT_SHOWN,
        0.05,
        pytest.approx(0.05),
    )
    assert fields(not_shown, "A A_ci_low") == (pytest.approx(0.3), 0.2)
    assert fields(outsider, "verdict reason") == (INCONCLUSIVE, Reason.NO_OWN_ANSWERS)
    assert (family["verdict"], family["reason"], family.get("estimate")) == (
        INCONCLUSIVE,
        REFUSED.reason,
        None,
    )


def test_a_doubt_about_c_puts_the_verdict_one_step_lower():
    doubted = {"doubt": "few_families", "probability_positive": 0.96}
    rows = [
        concluded("J", "mixed", 0.1, 0.3) | doubted,
        concluded("K", "mixed", 0.1, 0.3) | doubted | {"probability_positive": 0.9},
    ]
    confirmed, unconfirmed = rows_from(rows, judges=["J", "K"]).values()
    assert fields(confirmed, "verdict note") == (LIKELY, Reason.FEW_FAMILIES)
    assert fields(unconfirmed, "verdict note") == (NOT_SHOWN, Reason.FEW_FAMILIES)


@pytest.mark.parametrize(
    ("given", "high", "why", "has_gap"),
    [
        ("agreement", 0.3, Reason.HARDLY_AGREES, False),  # not below 0.3, but not above 0 either
        ("with_others", 0.2, Reason.HARDLY_AGREES_WITH_JUDGES, True),
    ],
)
def test_a_judge_that_hardly_agrees_keeps_what_else_is_to_be_known(given, high, why, has_gap):
    """But its gap to the people, where it does not agree with these."""
    conclusions = [
        concluded("J", "by prompt", 0.1, 0.3),
        concluded("J", "mixed", -0.1, 0.3) | {"missing": 0.25},
    ]
    found = rows_from(conclusions, **{given: {"J": [0.1, -0.1, high]}})["self_bias", "J"]
    missing = because(Reason.MISSING_OWN, share="25 %")
    assert fields(found, "verdict note disagreement") == (NOT_SHOWN, missing, why)
    assert ("A" in found) == has_gap


@pytest.mark.parametrize(
    ("high", "reliability", "hardly"),
    [
        (0.29, 1, True),
        (0.31, 1, False),
        (0.29, 0.25, False),
        (0.14, 0.25, True),
    ],
)
def test_errors_in_the_human_scores_lower_what_agreement_is_enough(high, reliability, hardly):
    conclusions = [concluded("J", "mixed", -0.1, 0.1, 0.9)]
    agreement = {"J": [high - 0.02, high - 0.04, high]}
    (row,) = rows_from(conclusions, ["J"], agreement, reliability=reliability).values()
    assert row["agreement_least"] == pytest.approx(0.3 * reliability**0.5)
    assert row.get("disagreement") == (Reason.HARDLY_AGREES if hardly else None)


def test_without_human_scores_agreement_with_the_other_judges_counts():
    conclusions = [concluded(judge, "mixed", -0.1, 0.1, 0.9) for judge in "JK"]
    with_others = {"J": [0.1, 0.0, 0.29], "K": [0.25, 0.2, 0.31]}
    first, second = rows_from(conclusions, ["J", "K"], with_others=with_others).values()
    assert first["disagreement"] == Reason.HARDLY_AGREES_WITH_JUDGES
    assert "disagreement" not in second


def test_judges_without_any_conclusion_are_left_out_beside_families():
    family = concluded("GPT", "mixed", 0.1, 0.2, quantity="family_bias")
    assert list(rows_from([family], judges=["one", "other"])) == [("family_bias", "GPT")]
    assert (
        column(rows_from([], judges=["one", "other"]).values(), "reason")
        == [Reason.NO_OWN_ANSWERS] * 2
    )


def test_a_refusal_of_c_is_final_whatever_a_finds():
    """Its row in idiosyncrasy.csv has a reason and no numbers, while A, the first check, finds a
    large bias.
    """
    refused = row("main", "Ada", "", reason=REFUSED.reason)
    conclusions = table(idiosyncrasy=[refused])
    assert at(conclusions, "first", "Ada")["conclusion"] == Conclusion.FAVOURS
    checks = {"A": "first", "C": PREFERENCE.name}
    found = rows_from(conclusions, ["Ada"], checks=checks)["self_bias", "Ada"]
    assert fields(found, "verdict reason") == (INCONCLUSIVE, REFUSED.reason)


def test_no_verdict_depends_on_words(monkeypatch):
    conclusions = [
        concluded("J", "mixed", 0, 0, reason=REFUSED.reason),
        concluded("K", "mixed", 0.1, 0.3),
    ]
    before = rows_from(conclusions)
    other = {reason: {"words": "something else"} for reason in Reason}
    monkeypatch.setattr(reasons, "entries", lambda _: other)
    assert rows_from(conclusions) == before


def test_reasons_are_read_as_they_are_written():
    names = 'the "best", model {0}'
    text = because(Reason.FEW_PROMPTS, names=names, prompts=8, least=10)
    assert reasons.parse(text) == (Reason.FEW_PROMPTS, {"names": names, "prompts": 8, "least": 10})
    assert (
        reasons.in_words(text)
        == f"answers of {names} to only 8 prompts are judged, and 10 are needed"
    )
    assert reasons.in_words("") == ""
    assert reasons.code("") is None
    assert [*reasons.entries(reasons.SENTENCES)] == [*Reason]
