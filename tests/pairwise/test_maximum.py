"""Whether the maximum of a likelihood of verdicts exists, and which coefficients the verdicts
determine.
"""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from pair_worlds import PairWorld, draw
from recuse.pairwise.davidson import KINDS, POSITION, SELF, SENSITIVITY, STRENGTH, TIE, PairCells
from recuse.pairwise.maximum import fit_maximum

LINEAR = [kind for kind in KINDS if kind != SENSITIVITY]


def verdicts_from(**settings):
    return draw(
        PairWorld(**{"judges": 4, "models": 5, "questions": 12, "both_orders": True} | settings), 3
    ).judges


def is_own(verdicts):
    """Whether it is a verdict of the first judge on an answer of its own."""
    return (verdicts.judge == 0) & ((verdicts.first == 0) | (verdicts.second == 0))


def with_own_answers_chosen(verdicts):
    own = np.where(verdicts.first == 0, 0, 1)
    return replace(verdicts, outcome=np.where(is_own(verdicts), own, verdicts.outcome))


def test_a_judge_that_always_chooses_itself_has_no_finite_term_and_leaves_the_others_alone():
    verdicts = with_own_answers_chosen(verdicts_from(ties=0.4))
    cells = PairCells(verdicts)
    fitted = fit_maximum(cells, LINEAR)
    place = cells.terms.start[SELF]
    assert fitted.separated[place]
    assert not fitted.identified[place]
    assert fitted.separated.sum() == 1
    without = fit_maximum(PairCells(verdicts.among(~is_own(verdicts))), LINEAR)
    others = np.flatnonzero(without.identified)
    assert_allclose(fitted.coefficients[others], without.coefficients[others], atol=1e-9)


def test_a_model_that_never_wins_has_no_finite_strength():
    verdicts = verdicts_from()
    loses = np.where(verdicts.first == 4, 1, np.where(verdicts.second == 4, 0, verdicts.outcome))
    cells = PairCells(replace(verdicts, outcome=loses))
    fitted = fit_maximum(cells, [STRENGTH])
    assert fitted.separated.nonzero()[0].tolist() == [4]
    assert fitted.identified[cells.terms.places(STRENGTH)].tolist() == [True] * 4 + [False]


def test_ties_bind_a_direction_that_would_separate_without_them():
    verdicts = with_own_answers_chosen(verdicts_from(ties=0.4))
    self_rows = np.flatnonzero((verdicts.judge == 0) & (verdicts.first == 0))
    outcome = verdicts.outcome.copy()
    outcome[self_rows[:3]] = 2
    fitted = fit_maximum(PairCells(replace(verdicts, outcome=outcome)), LINEAR)
    assert not fitted.separated.any()
    assert np.isfinite(fitted.coefficients).all()


def test_separation_by_length_is_found():
    verdicts = verdicts_from(length=0.5)
    longer = np.where(verdicts.judge == 1, np.where(verdicts.x > 0, 0, 1), verdicts.outcome)
    cells = PairCells(replace(verdicts, outcome=longer))
    fitted = fit_maximum(cells, LINEAR)
    assert fitted.separated[cells.terms.start["length"] + 1]


def test_one_order_only_tells_own_terms_but_no_common_effect_of_places():
    world = PairWorld(
        judges=4, models=6, questions=300, baseline=True, self_bias=0.6, positions=(-0.5, 0.7)
    )
    verdicts = draw(world, 5).judges
    cells = PairCells(verdicts)
    fitted = fit_maximum(cells, LINEAR)
    assert fitted.identified[cells.terms.places(SELF)].all()
    assert fitted.identified[cells.terms.places(STRENGTH)].all()
    assert abs(fitted.coefficients[cells.terms.places(POSITION)].sum()) < 1e-9
    own = cells.terms.places(SELF)
    error = np.sqrt(fitted.covariance(fitted.influence).diagonal())[own]
    assert (np.abs(fitted.coefficients[own] - 0.6) < 4 * error).all()


def test_a_model_that_no_other_judge_compares_takes_its_judges_own_term_with_it():
    verdicts = verdicts_from()
    alone = (verdicts.judge == 0) | ((verdicts.first != 0) & (verdicts.second != 0))
    cells = PairCells(verdicts.among(alone))
    fitted = fit_maximum(cells, LINEAR)
    assert not fitted.identified[cells.terms.start[SELF]]
    assert fitted.identified[cells.terms.start[SELF] + 1]


def test_without_ties_there_is_no_term_of_ties():
    cells = PairCells(verdicts_from())
    assert not fit_maximum(cells, LINEAR).free[cells.terms.places(TIE)].any()
