"""Strengths of models: as they are, against statsmodels; without biases, against what is planted;
rank sets.
"""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from pair_worlds import PairWorld, draw
from picked_rows import column, keyed
from recuse.pairwise.davidson import PairCells
from recuse.pairwise.maximum import fit_maximum
from recuse.pairwise.regression import Regression
from recuse.pairwise.strengths import strength_rows

WORLD = PairWorld(judges=4, models=6, questions=100, alone=True, both_orders=True, strength_sd=0.5)


def table_from(compared):
    rows = strength_rows(Regression(compared), confidence=0.9, seed=1)
    return keyed(rows, "scores model")


def rows_by_model(table, scores):
    return [table[scores, f"model {number}"] for number in range(6)]


def test_raw_strengths_equal_statsmodels():
    import statsmodels.api as sm

    compared = draw(WORLD, 3)
    judges = compared.judges
    table = table_from(compared)
    eye = np.eye(6)[:, :5]
    design = eye[judges.first] - eye[judges.second]
    model = sm.GLM(judges.outcome == 0, design, family=sm.families.Binomial())
    theirs = model.fit(
        tol=1e-14, cov_type="cluster", cov_kwds={"groups": judges.item, "use_correction": False}
    )
    turned = np.eye(6, 5) - np.eye(6, 5).mean(axis=0)
    ours = rows_by_model(table, "raw")
    assert_allclose(column(ours, "strength"), turned @ theirs.params, atol=1e-9)
    errors = np.sqrt((turned @ theirs.cov_params() @ turned.T).diagonal() * 100 / 99)
    assert_allclose(column(ours, "std_error"), errors, atol=1e-9)


def test_a_model_that_gains_by_its_own_verdicts_loses_them():
    """Judges of two models favour themselves strongly: without their terms, all models are as
    strong as others judge them.
    """
    table = table_from(draw(replace(WORLD, strength_sd=0.0, questions=300, self_bias=1.5), 2))
    strengths = column(rows_by_model(table, "raw"), "strength")
    assert np.mean(strengths[:4]) - np.mean(strengths[4:]) > 0.2
    for row in rows_by_model(table, "debiased"):
        assert abs(row["strength"]) < 4 * row["std_error"]
    assert table["debiased", "model 0"]["change_ci_high"] < 0


def test_errors_of_debiased_strengths_are_those_of_refits():
    world = replace(
        WORLD, questions=20, positions=(-0.5, 0.8), length=0.8, sensitivities=(0.5, 1.5)
    )
    compared = draw(world, 6)
    table = table_from(compared)
    drawn = []
    for item in range(20):
        part = table_from(compared.among(compared.judges.item != item))
        drawn.append(column(rows_by_model(part, "debiased"), "strength"))
    jackknife = np.sqrt(19) * np.std(drawn, axis=0)
    assert_allclose(column(rows_by_model(table, "debiased"), "std_error"), jackknife, rtol=0.2)


def test_at_equal_lengths_longer_answers_gain_nothing():
    """All models are equally strong, and later ones write longer answers, which judges prefer."""
    table = table_from(draw(replace(WORLD, strength_sd=0.0, length=1.5), 2))
    assert table["debiased", "model 5"]["strength"] > 0.2
    assert max(map(abs, column(rows_by_model(table, "equal_length"), "strength"))) < 0.05


def test_models_that_no_verdict_links_have_no_strength():
    compared = draw(WORLD, 1)
    judges = compared.judges
    apart = (judges.first < 3) == (judges.second < 3)
    part = replace(compared.among(apart), humans=None)
    assert all("strength" not in row and row["note"] for row in table_from(part).values())
    assert not fit_maximum(PairCells(part.judges), ["strength"]).identified.any()
