"""Verdicts on two answers: each kind by the reply that decides it, by codes and numbers alone."""

import math

import pytest

from picked_rows import fields, keyed
from recuse.base.reasons import Reason, code, parse
from recuse.base.tables import read_table, write_table
from recuse.inference.verdict import VERDICTS, Verdict
from recuse.pairwise.regression import REGRESSION
from recuse.pairwise.verdicts import verdicts

SETTINGS = {"order": [], "confidence": 0.9, "power": 0.8}


def chosen(
    judge_share,
    human_share,
    *,
    quantity="self_bias",
    term="J",
    draws="half",
    questions=60,
    half_width=0.05,
):
    """A row of the table of choices."""
    estimate = judge_share - (0.5 if human_share is None else human_share)
    return {
        "quantity": quantity,
        "term": term,
        "draws": draws,
        "judge_share": judge_share,
        "human_share": human_share,
        "question": "" if human_share is None else "A",
        "estimate": estimate,
        "questions": questions,
        "n": questions,
        "ci_low": estimate - half_width,
        "ci_high": estimate + half_width,
        "std_error": half_width / 1.67,
        "p_value": 1e-9 if abs(estimate) > half_width else 0.5,
    }


def regressed(question, estimate, std_error=0.1, *, quantity="self_bias", term="J", **columns):
    """A row of the table of the regression, of a normal distribution."""
    return {
        "question": question,
        "quantity": quantity,
        "term": term,
        "estimate": estimate,
        "std_error": std_error,
        "ci_low": estimate - 1.645 * std_error,
        "ci_high": estimate + 1.645 * std_error,
        "p_value": math.erfc(abs(estimate) / std_error / math.sqrt(2)),
        "spread": 0.3,
        "reason": "",
    } | columns


def judged(rows, regression=(), judges=("J",)):
    """The verdicts by quantity and term."""
    found = list(verdicts(rows, regression, judges, **SETTINGS))
    assert not {name for row in found for name in row} - {*VERDICTS}
    return keyed(found, "quantity term")


def test_the_regression_decides_on_own_answers_in_shares_with_the_other_questions_beside():
    choice = chosen(0.3, 0.6)  # says the opposite
    rows = [regressed("A", 0.4), regressed("B", 0.2), regressed("C", 0.5)]
    rows += [regressed("C", 2.0, term="all judges")]
    row = judged([choice], rows)["self_bias", "J"]
    assert fields(row, "kind verdict favours") == ("pairs", Verdict.ESTABLISHED, "yes")
    share = lambda log_odds: 1 / (1 + math.exp(-log_odds)) - 0.5  # noqa: E731
    expected = {
        "estimate": share(0.5),
        "ci_low": share(0.3355),
        "ci_high": share(0.6645),
        "A": share(0.4),
        "B": share(0.2),
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert row["detectable"] == pytest.approx(share(0.1 * (1.6449 + 0.8416)), abs=1e-4)
    opposite = judged([choice], [regressed("A", 0.4), regressed("C", -0.2, 0.2)])["self_bias", "J"]
    assert fields(opposite, "verdict A") == (Verdict.NOT_SHOWN, pytest.approx(share(0.4)))


def test_texts_of_the_table_give_the_same_verdicts(tmp_path):
    rows = [regressed("A", 0.0), regressed("B", 0.2, df=20.0), regressed("C", 0.5, wordings=3)]
    write_table(tmp_path / "regression.csv", REGRESSION, rows)
    texts = judged([], read_table(tmp_path / "regression.csv"))
    assert texts["self_bias", "J"] == judged([], rows)["self_bias", "J"]
    assert texts["self_bias", "J"]["wordings"] == 3


def test_where_no_spread_of_preferences_is_found_a_bias_is_likely_at_most():
    for spread, verdict, note in (
        (0.0, Verdict.LIKELY, Reason.NO_SPREAD_FOUND),
        (0.02, Verdict.ESTABLISHED, None),
    ):
        row = judged([], [regressed("C", 0.9, spread=spread)])["self_bias", "J"]
        assert (row["verdict"], code(row["note"])) == (verdict, note)


def test_without_c_the_regression_concludes_nothing():
    refused = regressed("C", 0.9) | {"reason": str(Reason.ONE_JUDGE)}
    row = judged([chosen(0.9, 0.5)], [regressed("A", 0.9), refused])["self_bias", "J"]
    assert (row["verdict"], row["reason"], "estimate" in row) == (
        Verdict.INCONCLUSIVE,
        Reason.ONE_JUDGE,
        False,
    )
    assert row["A"] > 0.2


def test_biases_are_established_after_correcting_for_the_number_of_judges():
    rows = [regressed("C", 0.2, 0.1, term=f"judge {number}") for number in range(5)]
    assert {row["verdict"] for row in judged([], rows, judges=()).values()} == {Verdict.LIKELY}
    assert judged([], rows[:1], judges=())["self_bias", "judge 0"]["verdict"] == Verdict.ESTABLISHED


def test_shares_are_likely_at_most_and_places_are_established():
    rows = [chosen(0.9, 0.5), chosen(0.9, 0.5, draws="excluded")]
    rows += [chosen(0.9, 0.5, quantity="longer", draws="excluded")]
    rows += [
        chosen(0.9, None, quantity="first", draws="excluded"),
        chosen(0.4, None, quantity="first"),
    ]
    found = judged(rows)
    assert [fields(row, "kind verdict favours") for row in found.values()] == [
        ("shares", Verdict.LIKELY, "yes"),
        ("shares", Verdict.LIKELY, "yes"),
        ("position", Verdict.ESTABLISHED, "yes"),
    ]
    assert found["first", "J"]["adjusted_p_value"] == pytest.approx(1e-9)


@pytest.mark.parametrize(
    ("rows", "reason", "facts"),
    [
        ([], Reason.NO_OWN_COMPARED, {}),
        ([chosen(0.9, None)], Reason.NO_HUMAN_LABELS, {}),
        ([chosen(0.9, 0.5, questions=8)], Reason.FEW_QUESTIONS, {"questions": 8, "least": 10}),
        (
            [chosen(0.6, 0.5), chosen(0.45, 0.5, draws="excluded")],
            Reason.DEPENDS_ON_DRAWS,
            {"half": 10.0, "excluded": -5.0},
        ),
        (
            [chosen(0.51, 0.5), chosen(0.7, 0.5, draws="excluded")],
            Reason.DEPENDS_ON_DRAWS,
            {"half": 1.0, "excluded": 20.0},
        ),
    ],
)
def test_refusals_have_codes_and_facts(rows, reason, facts):
    row = judged(rows)["self_bias", "J"]
    assert (row["verdict"], parse(row["reason"])) == (Verdict.INCONCLUSIVE, (reason, facts))


def test_other_kinds_of_answers_that_are_not_compared():
    found = judged([chosen(0.9, 0.5, quantity="longer")])
    assert code(found["longer", "J"]["reason"]) is Reason.ALL_DRAWS
    assert code(found["first", "J"]["reason"]) is Reason.ONE_ORDER
    assert code(judged([])["longer", "J"]["reason"]) is Reason.SAME_LENGTHS
    assert not [term for quantity, term in found if quantity == "family_bias"]
