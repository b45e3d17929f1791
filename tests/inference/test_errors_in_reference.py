"""Corrected moments, SIMEX and split raters: against textbook formulas on rows, refits without each prompt, and statsmodels."""

import numpy as np
import pytest

from recuse.inference.measurement_error import (
    MOMENTS,
    SIMEX,
    UNCORRECTED,
    ZETAS,
    CorrectedErrors,
    DesignCells,
    KnownReliability,
    SplitRaters,
    corrected,
)
from recuse.model.covariance import Clusters, clustered
from recuse.model.design import REFERENCE
from recuse.model.prompt_sums import sum_by_prompt
from recuse.model.spec import Spec
from recuse.montecarlo.estimators import Trial
from recuse.montecarlo.run import try_estimators
from recuse.montecarlo.world import RATERS, ValidityWorld

WORLD = {"families": (2, 1), "dimensions": 2, "prompts": 60, "intercept": 0.3, "slope": 0.5, "noise": 0.2, "reliability": 0.6}
EQUATION = Spec.of("main")
SLOPES = Spec.of("slopes", terms=("judge", "judge:reference"))


def trial_of(seed=1, **dials):
    return Trial(ValidityWorld(**{**WORLD, **dials}).draw(np.random.default_rng(seed)), 0.9, seed=1, draws=19)


def fit(trial, spec, extrapolation, noise=None):
    """Fit and errors of a spec; noise: of the planted reliability if not given."""
    design, moments = trial.design(spec), trial.moments
    if noise is None:
        levels = map(str, trial.drawn.factors["dimension"])
        noise = KnownReliability.of(moments, dict.fromkeys(levels, trial.drawn.reliability))
    rows = np.bincount(design.cell, moments.n, minlength=len(design.layouts))
    cells = DesignCells(design.layouts, trial.drawn.factors["dimension"][design.first], rows)
    fitted = corrected(trial.solution(spec), design.regressors, noise.sums(moments), extrapolation)
    return design.terms, trial.add_prompts(spec, CorrectedErrors(fitted, cells, noise)).result()


def rows_of(trial, spec):
    """Design, rating, places of the reference in it, reference, dimension and prompt of every row."""
    block, design = trial.drawn.block, trial.design(spec)
    w = np.stack([np.ones(len(block.rating)), *block.covariates], axis=1)
    layout = design.regressors[block.group]
    x = np.einsum("rw,rwt->rt", w, layout)
    return x, block.rating, layout[:, REFERENCE], w[:, 1], trial.drawn.factors["dimension"][block.group], block.prompt


@pytest.mark.parametrize("dials", [{}, {"missing": 0.2, "length_taste": 0.1}])
def test_uncorrected_are_the_clustered_errors(dials):
    trial, spec = trial_of(**dials), Spec.of("length", length="prompt") if dials else EQUATION
    plain = clustered(trial.solution(spec), trial.add_prompts(spec, Clusters(trial.design(spec).layouts, trial.solution(spec))))
    _, found = fit(trial, spec, UNCORRECTED)
    np.testing.assert_allclose(found.estimate, plain.estimate, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, plain.covariance, rtol=1e-9, atol=1e-16)
    assert found.df == plain.df == 59


def of_rows(x, y, b, reference, dimension, reliability, zeta):
    """(X'X + zeta C)^-1 X'y, from rows."""
    errors = np.zeros(len(y))
    for level in np.unique(dimension):
        own = dimension == level
        errors[own] = (1 - reliability) * reference[own].var()
    return np.linalg.solve(x.T @ x + zeta * (b * errors[:, None]).T @ b, x.T @ y)


@pytest.mark.parametrize("dials", [{}, {"missing": 0.2}])
def test_estimates_are_the_formulas_on_rows(dials):
    trial = trial_of(**dials)
    x, y, b, reference, dimension, _ = rows_of(trial, EQUATION)
    expected = of_rows(x, y, b, reference, dimension, 0.6, -1)
    np.testing.assert_allclose(fit(trial, EQUATION, MOMENTS)[1].estimate, expected, rtol=1e-9)
    path = np.stack([of_rows(x, y, b, reference, dimension, 0.6, zeta) for zeta in ZETAS])
    extrapolated = [np.polyval(np.polyfit(ZETAS, column, 2), -1) for column in path.T]
    np.testing.assert_allclose(fit(trial, EQUATION, SIMEX)[1].estimate, extrapolated, rtol=1e-8)


@pytest.mark.parametrize("extrapolation", [MOMENTS, SIMEX], ids=["moments", "simex"])
def test_errors_are_those_of_refits_without_each_prompt(extrapolation):
    """The jackknife refits everything, the variances of the reference too; its errors are larger by the order 1 / prompts."""
    trial = trial_of(prompts=150, missing=0.2, prompt_shock=0.1)
    terms, found = fit(trial, EQUATION, extrapolation)
    x, y, b, reference, dimension, prompt = rows_of(trial, EQUATION)
    refits = []
    for left_out in range(150):
        kept = [column[prompt != left_out] for column in (x, y, b, reference, dimension)]
        refits.append(sum(weight * of_rows(*kept, 0.6, zeta) for zeta, weight in extrapolation))
    refits = np.array(refits)
    jackknife = np.sqrt(149 / 150 * ((refits - refits.mean(axis=0)) ** 2).sum(axis=0))
    np.testing.assert_allclose(found.std_error, jackknife, rtol=0.03)
    assert {"slope", "self_bias", "dimension"} <= {term.quantity for term in terms}


def test_of_one_dimension_slope_and_error_are_divided_by_the_reliability():
    """Exactly so, as reliability is known and the variance is not: the errors of its estimate are part of the slope's."""
    trial = trial_of(dimensions=1)
    terms, plain = fit(trial, SLOPES, UNCORRECTED)
    _, found = fit(trial, SLOPES, MOMENTS)
    slopes = np.array([term.quantity == "slope" for term in terms])
    np.testing.assert_allclose(found.estimate[slopes], plain.estimate[slopes] / 0.6, rtol=1e-10)
    np.testing.assert_allclose(found.std_error[slopes], plain.std_error[slopes] / 0.6, rtol=1e-9)


def test_more_error_than_variation_is_not_estimable():
    trial = trial_of(quality_gap=0.8)  # most of the variance is of models, and the models have effects
    noise = KnownReliability.of(trial.moments, {"Dimension 1": 0.05, "Dimension 2": 0.05})
    spec = Spec.of("model", terms=("judge", "judge:reference", "dimension", "model"))
    design = trial.design(spec)
    fitted = corrected(trial.solution(spec), design.regressors, noise.sums(trial.moments), MOMENTS)
    slopes = [place for place, term in enumerate(design.terms) if term.quantity == "slope"]
    assert not fitted.identified[slopes].any()
    assert fitted.plain.identified.all()
    assert np.isnan(fitted.estimate[slopes]).all()


def test_split_raters_are_instrumental_variables_of_each_rater_in_turn():
    from statsmodels.sandbox.regression.gmm import IV2SLS

    trial = trial_of(missing=0.2)
    terms, found = fit(trial.with_rater_errors(), EQUATION, MOMENTS, SplitRaters())
    x, y, b, reference, _, prompt = rows_of(trial, EQUATION)
    d, m = (np.unique(trial.drawn.factors[name], return_inverse=True)[1][trial.drawn.block.group] for name in
            ("dimension", "model"))  # fmt: skip
    raters = trial.drawn.raters[prompt, d, m]  # (rows, raters)
    turns = [(raters[:, k], np.delete(raters, k, axis=1).mean(axis=1)) for k in range(RATERS)]
    base = x - b * reference[:, None]
    regressors, instruments = (np.concatenate([base + b * turn[side][:, None] for turn in turns]) for side in (0, 1))
    expected = IV2SLS(np.tile(y, RATERS), regressors, instruments).fit().params
    np.testing.assert_allclose(found.estimate, expected, rtol=1e-8)
    residual = np.tile(y, RATERS) - regressors @ expected
    scores = [(instruments * residual[:, None])[np.tile(prompt, RATERS) == p].sum(axis=0) for p in range(60)]
    inverse, (n, k) = np.linalg.inv(instruments.T @ regressors), x.shape
    spread = inverse @ sum(np.outer(s, s) for s in scores) @ inverse.T * 60 / 59 * (n - 1) / (n - k)
    np.testing.assert_allclose(found.std_error, np.sqrt(np.diag(spread)), rtol=1e-7)
    assert len(terms) == k


def test_blocks_of_prompts_may_be_of_any_size(monkeypatch):
    trial, whole = trial_of(), fit(trial_of(), EQUATION, MOMENTS)[1]
    monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", 100)
    design = trial.design(EQUATION)
    assert len(list(sum_by_prompt(trial.drawn.block, design.cell, len(design.layouts)))) > 5
    np.testing.assert_allclose(fit(trial, EQUATION, MOMENTS)[1].covariance, whole.covariance, rtol=1e-10)


def test_planted_reliability_is_corrected_for_where_equation_1_is_biased():
    world = ValidityWorld(**{**WORLD, "families": (2, 1, 2), "dimensions": 1, "reliability": 0.55}, quality_gap=0.3)
    names = ["A_CR1", "A_moments", "A_moments_of_raters", "A_simex", "A_split_raters"]
    rows = try_estimators(world, names, key="reliability", replicates=150, draws=9, confidence=0.9, seed=3)
    bias = {row["estimator"]: row for row in rows if (row["term"], row["statistic"]) == ("Model 5", "bias")}
    in_errors = {name: row["value"] / row["mc_error"] for name, row in bias.items()}
    assert in_errors["A_CR1"] > 10
    assert 0.2 < bias["A_simex"]["value"] / bias["A_CR1"]["value"] < 0.8  # SIMEX goes part of the way
    for name in ("A_moments", "A_moments_of_raters", "A_split_raters"):
        assert abs(in_errors[name]) < 3
        (covered,) = [
            row for row in rows
            if (row["estimator"], row["quantity"], row["term"], row["statistic"]) == (name, "self_bias", "", "covered")
        ]  # fmt: skip
        assert covered["value"] == pytest.approx(0.9, abs=0.04)
