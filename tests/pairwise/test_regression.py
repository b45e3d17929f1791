"""The three questions of the regression of verdicts: planted biases, errors, size, and refusals."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pair_worlds import PairWorld, draw
from picked_rows import only, where
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
from text_tables import csv_rows

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


def test_planted_biases_are_recovered_by_each_question():
    rows = [row for row in rows_from(draw(BIASED, 11)) if row["quantity"] in (SELF, FAMILY)]
    assert {row["question"] for row in rows} == {"A", "B", "C"}
    for row in rows:
        truth = 0.5 if row["quantity"] == SELF else 0.3
        assert abs(row["estimate"] - truth) < 3.5 * row["std_error"], row
    mean = only(rows, question="C", quantity=SELF, term=ALL_JUDGES)
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
        humans = compared.humans.among(compared.humans.item != item)
        part = replace(compared.among(compared.judges.item != item), humans=humans)
        drawn.append(Regression(part).against_humans.fit.coefficients)
    jackknife = np.sqrt(49) * np.std(drawn, axis=0)
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


def reasons(compared, judge=0, quantity=SELF):
    """Why each question says nothing about a judge; empty where it does say something."""
    rows = where(rows_from(compared), quantity=quantity, term=f"model {judge}")
    assert all("estimate" not in row for row in where(rows, reason=Reason.NO_OTHER_JUDGE))
    return {row["question"]: row["reason"] for row in rows}


def test_refusals_have_their_reason():
    compared = draw(PairWorld(judges=3, models=6, questions=20, alone=True), 1)
    judges = compared.judges
    of_first = judges.judge == 0
    shown = (judges.first == 0) | (judges.second == 0)
    assert reasons(replace(compared, humans=None)) == {"B": "", "C": ""}
    assert reasons(compared.among(of_first | ~shown))["B"] == Reason.NO_OTHER_JUDGE
    one = compared.among(of_first)
    alone = replace(one.judges, judges=["model 0"], family_of_judge=judges.family_of_judge[:1])
    assert reasons(replace(one, judges=alone)) == {
        "A": "",
        "B": Reason.NO_OTHER_JUDGE,
        "C": Reason.ONE_JUDGE,
    }
    few = because(Reason.FEW_QUESTIONS, questions=5, least=10)
    assert reasons(compared.among(judges.item < 5))["B"] == few
    assert reasons(compared.among(~(of_first & shown)))["C"] == Reason.NO_OWN_COMPARED
    own_is_chosen = np.where(judges.first == 0, 0, 1)
    outcome = np.where(of_first & shown, own_is_chosen, judges.outcome)
    always = replace(compared, judges=replace(judges, outcome=outcome))
    assert {reasons(always)[letter] for letter in "AB"} == {Reason.ALWAYS_OR_NEVER}
    assert reasons(always, 1)["B"] == ""


def test_a_judge_that_does_not_follow_the_humans_is_not_held_against_them():
    compared = draw(PairWorld(judges=4, models=6, questions=60, sensitivities=(-0.3, 1.5)), 3)
    assert reasons(compared)["A"] == Reason.DISAGREES_WITH_PEOPLE
    assert reasons(compared, quantity=SENSITIVITY)["A"] == ""
    assert reasons(compared, 3)["A"] == ""


ROW = {"judge": "j", "model_a": "m", "model_b": "j", "order": "ab"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "columns",
    [
        {"outcome": ["b"]},
        {"outcome": ["tie"]},
        {"outcome": ["error"]},
        {"outcome": "a", "condition": ["bandwagon"]},
        {"outcome": "ab", "human": "a"},
        {"outcome": "ab", "judge": "jjmm", "length_a": range(24), "length_b": [5]},
        {"outcome": "ab", "judge": "jm"},
    ],
)
def test_too_little_to_tell_anything_is_no_error(tmp_path, columns):
    """What a column has, row by row, again and again."""
    rows = [
        ROW
        | {"item": f"q{number}"}
        | {name: values[number % len(values)] for name, values in columns.items()}
        for number in range(24)
    ]
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


WRITTEN = """
item,order,outcome,human,length_a,experiment,condition
q1,ab,a,b,30,,
q1,ba,tie,b,30,,
q2,ab,error,b,30,,
q4,ab,a,b,10,,
q3,ab,b,,,,
q1,ab,a,b,30,,bandwagon
q1,ab,a,b,30,attacks,control
q1,ab,a,b,30,attacks,worse
"""


def test_comparisons_are_read_as_they_are_written(tmp_path):
    rows = [ROW | {"length_b": 10} | row for row in csv_rows(WRITTEN)]
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
