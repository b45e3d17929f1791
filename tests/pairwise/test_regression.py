"""The three questions of the regression of verdicts: planted biases, errors, size, and refusals."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pair_worlds import PairWorld, draw
from picked_rows import fields, where
from random_comparisons import write
from recuse.base.reasons import Reason, because
from recuse.inference.verdict import Verdict
from recuse.model.design import ALL_JUDGES
from recuse.pairwise.davidson import (
    FAMILY,
    LENGTH,
    POSITION,
    SELF,
    SENSITIVITY,
    STRENGTH,
    TIE,
    PairCells,
)
from recuse.pairwise.maximum import fit_maximum
from recuse.pairwise.regression import (
    Regression,
    preference_table,
    read_compared,
    regression_rows,
)
from recuse.pairwise.strengths import strength_rows
from recuse.pairwise.verdicts import verdicts

BIASED = PairWorld(
    questions=150,
    self_bias=0.5,
    family_bias=0.3,
    ties=0.3,
    length=0.5,
    length_human=0.3,
    positions=(-0.4, 0.6),
)


def rows_from(compared):
    return list(regression_rows(Regression(compared), confidence=0.9))


def keyed(rows):
    return {fields(row, "question quantity term"): row for row in rows}


def test_planted_biases_are_recovered_by_each_question():
    rows = [row for row in rows_from(draw(BIASED, 11)) if row["quantity"] in (SELF, FAMILY)]
    assert {row["question"] for row in rows} == {"A", "B", "C"}
    for row in rows:
        truth = 0.5 if row["quantity"] == SELF else 0.3
        assert abs(row["estimate"] - truth) < 3.5 * row["std_error"], row
    mean = keyed(rows)["C", SELF, ALL_JUDGES]
    assert mean["estimate"] == pytest.approx(0.5, abs=4 * mean["std_error"])
    assert mean["std_error"] < 0.1


def test_a_judge_that_errs_or_follows_places_is_not_taken_for_one_that_favours_itself():
    """Sensitivity and position are its own, though each judge sees its own answer first. Without
    the former, shares would move towards one half; without the latter, towards the first place.
    """
    world = replace(
        BIASED,
        self_bias=0.0,
        family_bias=0.0,
        sensitivities=(0.2, 1.8),
        positions=(2.0, -2.0),
        strength_sd=1.2,
    )
    compared = draw(world, 5)
    judges = compared.judges
    shown_second = np.where(judges.sign > 0, judges.second, judges.first)
    for row in where(rows_from(compared.among(shown_second != judges.judge)), quantity=SELF):
        if row["term"] != ALL_JUDGES:
            assert abs(row["estimate"]) < 3.5 * row["std_error"], row


def test_errors_of_a_include_those_of_the_humans_strengths():
    """Against refits of both steps without each question."""
    compared = draw(PairWorld(judges=3, models=6, questions=50, ties=0.3), 2)
    whole = Regression(compared).against_humans
    drawn = []
    for item in range(50):
        kept = compared.judges.item != item
        humans = compared.humans.among(compared.humans.item != item)
        drawn.append(
            Regression(replace(compared.among(kept), humans=humans)).against_humans.fit.coefficients
        )
    jackknife = np.sqrt(49 / 50 * ((drawn - np.mean(drawn, axis=0)) ** 2).sum(axis=0))
    identified = whole.fit.identified
    assert_allclose(whole.std_error[identified], jackknife[identified], rtol=0.12)
    places = whole.fit.cells.terms.places(SELF)
    alone = np.sqrt(whole.fit.covariance(whole.fit.influence).diagonal())[places]
    assert (alone < whole.std_error[places]).all()  # as if the humans' strengths were known


def test_cells_of_c_are_strengths_by_each_judge_alone_with_variances_of_their_differences():
    """A contrast of cells has the variance that the judge's own fit gives it, as judges are drawn
    independently here.
    """
    verdicts = draw(PairWorld(judges=5, models=6, questions=200, alone=True), 4).judges
    table = preference_table(verdicts)
    assert len(table.mean) == 30
    for code, judge in enumerate(verdicts.judges):
        rows = verdicts.judge == code
        alone = fit_maximum(PairCells(verdicts.among(rows)), (STRENGTH, POSITION, LENGTH, TIE))
        mine = table.judge == judge
        places = alone.cells.terms.places(STRENGTH)
        assert_allclose(table.mean[mine], alone.coefficients[places], atol=0.01)
        contrast = np.array([1, -1, 0, 0, 0, 0.0])
        variance = contrast @ alone.covariance(alone.influence[:, places]) @ contrast
        assert table.variance[mine][:2].sum() == pytest.approx(variance, rel=0.35)
    assert (table.prompts == 200).all()


@pytest.mark.long
@pytest.mark.parametrize(
    ("dials", "least", "most"),
    [({"positions": (-0.5, 0.5)}, 0.04, 0.17), ({"preference_sd": 0.5}, 0.35, 0.8)],
)
def test_a_and_b_find_ordinary_preferences_and_c_does_not(dials, least, most):
    world = PairWorld(judges=5, models=6, questions=30, ties=0.3, **dials)
    excluded = {"A": [], "B": [], "C": []}
    for seed in range(40):
        for row in where(rows_from(draw(world, seed)), quantity=SELF):
            if row["term"] != ALL_JUDGES and "ci_low" in row:
                excluded[row["question"]].append(row["ci_low"] > 0 or row["ci_high"] < 0)
    for letter in "AB":
        assert least < np.mean(excluded[letter]) < most, letter
    assert np.mean(excluded["C"]) < 0.15


def test_refusals_have_their_reason():
    world = PairWorld(judges=3, models=6, questions=20, alone=True)
    compared = draw(world, 1)
    judges = compared.judges
    assert keyed(rows_from(replace(compared, humans=None)))["B", SELF, "model 0"]["reason"] == ""
    assert not where(rows_from(replace(compared, humans=None)), question="A")
    kept = (judges.judge == 0) | ((judges.first != 0) & (judges.second != 0))
    rows = keyed(rows_from(compared.among(kept)))
    assert rows["B", SELF, "model 0"]["reason"] == Reason.NO_OTHER_JUDGE
    assert "estimate" not in rows["B", SELF, "model 0"]
    one = compared.among(judges.judge == 0)
    alone = replace(one.judges, judges=["model 0"], family_of_judge=judges.family_of_judge[:1])
    rows = keyed(rows_from(replace(one, judges=alone)))
    assert rows["C", SELF, "model 0"]["reason"] == Reason.ONE_JUDGE
    assert rows["B", SELF, "model 0"]["reason"] == Reason.NO_OTHER_JUDGE
    assert rows["A", SELF, "model 0"]["reason"] == ""
    rows = keyed(rows_from(compared.among(judges.item < 5)))
    assert rows["B", SELF, "model 0"]["reason"] == because(
        Reason.FEW_QUESTIONS, questions=5, least=10
    )
    of_self = (judges.judge == 0) & ((judges.first == 0) | (judges.second == 0))
    rows = keyed(rows_from(compared.among(~of_self)))
    assert rows["C", SELF, "model 0"]["reason"] == Reason.NO_OWN_COMPARED
    always = (judges.judge == 0) & (judges.first == 0)
    never = (judges.judge == 0) & (judges.second == 0)
    chosen = replace(judges, outcome=np.where(always, 0, np.where(never, 1, judges.outcome)))
    rows = keyed(rows_from(replace(compared, judges=chosen)))
    for letter in "AB":
        assert rows[letter, SELF, "model 0"]["reason"] == Reason.ALWAYS_OR_NEVER
    assert rows["B", SELF, "model 1"]["reason"] == ""


def test_a_judge_that_does_not_follow_the_humans_is_not_held_against_them():
    compared = draw(PairWorld(judges=4, models=6, questions=60, sensitivities=(-0.3, 1.5)), 3)
    rows = keyed(rows_from(compared))
    assert rows["A", SELF, "model 0"]["reason"] == Reason.DISAGREES_WITH_PEOPLE
    assert rows["A", SENSITIVITY, "model 0"]["reason"] == ""
    assert rows["A", SELF, "model 3"]["reason"] == ""


ROW = {"judge": "j", "model_a": "m", "model_b": "j", "order": "ab"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "changes",
    [
        lambda number: {"outcome": "b"},
        lambda number: {"outcome": "tie"},
        lambda number: {"outcome": "error"},
        lambda number: {"outcome": "a", "condition": "bandwagon"},
        lambda number: {"outcome": "ab"[number % 2], "human": "a"},
        lambda number: {
            "outcome": "ab"[number % 2],
            "judge": "jm"[number // 2 % 2],
            "length_a": float(number),
            "length_b": 5.0,
        },
        lambda number: {"outcome": "ab"[number % 2], "judge": "jm"[number % 2]},
    ],
)
def test_too_little_to_tell_anything_is_no_error(tmp_path, changes):
    rows = [ROW | {"item": f"q{number}"} | changes(number) for number in range(24)]
    fitted = Regression(read_compared(write(rows, tmp_path / "comparisons.parquet"), {}))
    rows = list(regression_rows(fitted, confidence=0.9))
    assert all(
        row["reason"]
        for row in rows
        if row["quantity"] in (SELF, FAMILY) and row["term"] != ALL_JUDGES
    )
    found = list(verdicts([], rows, [], order=[], confidence=0.9, power=0.8))
    assert {row["verdict"] for row in found if row["quantity"] in (SELF, FAMILY)} <= {
        Verdict.INCONCLUSIVE
    }
    list(strength_rows(fitted, confidence=0.9, seed=1))


def test_comparisons_are_read_as_they_are_written(tmp_path):
    row = {
        "judge": "j",
        "item": "q1",
        "model_a": "m",
        "model_b": "j",
        "order": "ab",
        "outcome": "a",
        "human": "b",
    }
    row |= {"length_a": 30, "length_b": 10}
    rows = [
        row,
        row | {"order": "ba", "outcome": "tie"},
        row | {"item": "q2", "outcome": "error"},
        row | {"item": "q4", "length_a": 10},
        row | {"item": "q3", "outcome": "b", "human": None, "length_a": None},
        row | {"condition": "bandwagon"},
        row | {"experiment": "attacks", "condition": "control"},
        row | {"experiment": "attacks", "condition": "worse"},
    ]
    compared = read_compared(write(rows, tmp_path / "comparisons.parquet"), {"m": "F", "j": "F"})
    judges = compared.judges
    assert (judges.judges, judges.models, judges.families, judges.items) == (
        ["j"],
        ["j", "m"],
        ["F"],
        4,
    )
    assert judges.outcome.tolist() == [2, 0, 1, 0]
    assert judges.sign.tolist() == [-1, 1, 1, 1]
    assert judges.item.tolist() == [0, 0, 2, 3]
    assert (judges.first.tolist(), judges.second.tolist()) == ([1] * 4, [0] * 4)
    spread = np.std([20, 20, 0])
    assert_allclose(judges.x, np.tanh(np.array([20, 20, 0, 0]) / spread))
    assert compared.labelled.tolist() == [True, True, False, True]
    assert (compared.humans.item.tolist(), compared.humans.outcome.tolist()) == (
        [0, 1, 3],
        [1, 1, 1],
    )
    assert compared.left_out == {"errors": 1, "no_length": 1}


def voted(item, a, b, tie, **columns):
    """A verdict on a pair on which people voted; their label is the majority's."""
    human = "tie" if a == b else "ba"[a > b]
    row = {"judge": "j", "model_a": "m", "model_b": "n", "order": "ab", "outcome": "a"}
    return (
        row
        | {"item": item, "human": human, "humans_a": a, "humans_b": b, "humans_tie": tie}
        | columns
    )


def test_each_human_vote_counts_for_the_strengths(tmp_path):
    """(tie, tie, b) is two ties and one b, however many judges repeat it; a label is one vote."""
    rows = [
        voted("q1", 0, 1, 2),
        voted("q1", 0, 1, 2, judge="k"),
        voted("q2", 3, 0, 0),
        voted("q3", 1, 0, None),
    ]
    rows += [voted("q4", None, None, None, human="b")]
    humans = read_compared(write(rows, tmp_path / "votes.parquet"), {}).humans
    assert list(zip(humans.item.tolist(), humans.outcome.tolist(), strict=True)) == [
        *((0, 1), (0, 2), (0, 2)),
        *((1, 0), (1, 0), (1, 0)),
        *((2, 0), (3, 1)),
    ]
