"""The regression of verdicts against a naive likelihood and finite differences and, without
ties, statsmodels on raw rows.
"""

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose

from pair_worlds import PairWorld, draw
from recuse.pairwise.davidson import (
    FAMILY,
    KINDS,
    LENGTH,
    POSITION,
    SELF,
    SENSITIVITY,
    STRENGTH,
    TIE,
    PairCells,
)
from recuse.pairwise.maximum import fit_maximum

BUSY = {
    "judges": 4,
    "models": 5,
    "questions": 12,
    "self_bias": 0.5,
    "positions": (-0.4, 0.6),
    "both_orders": True,
}


def verdicts_from(seed=1, **settings):
    return draw(PairWorld(**BUSY | settings), seed).judges


def margins(verdicts, coefficients):
    """The model's log odds of each verdict, and the coefficients of a kind."""
    terms = PairCells(verdicts).terms
    values = {kind: coefficients[terms.places(kind)] for kind in KINDS}
    judge, first, second = verdicts.judge, verdicts.first, verdicts.second
    family = verdicts.family_of_judge[judge]
    eta = values[SENSITIVITY][judge] * (values[STRENGTH][first] - values[STRENGTH][second])
    for model, side in ((first, 1), (second, -1)):
        is_self = np.array(verdicts.models)[model] == np.array(verdicts.judges)[judge]
        of_family = (verdicts.family_of_model[model] == family) * values[FAMILY][family]
        eta += side * np.where(is_self, values[SELF][judge], of_family)
    eta += verdicts.sign * values[POSITION][judge] + verdicts.x * values[LENGTH][judge]
    return eta, values


def naive(verdicts, coefficients):
    """Log-likelihood, verdict by verdict; a judge without ties has none."""
    eta, values = margins(verdicts, coefficients)
    with_ties = np.isin(verdicts.judge, verdicts.judge[verdicts.outcome == 2])
    ties = np.exp(values[TIE][verdicts.judge]) * with_ties
    weights = np.array([np.exp(eta / 2), np.exp(-eta / 2), ties])
    chosen = weights[verdicts.outcome, np.arange(len(eta))]
    return np.log(chosen / weights.sum(axis=0)).sum()


@pytest.mark.parametrize("settings", [{}, {"ties": 0.4}, {"ties": 0.4, "length": 0.5}])
def test_likelihood_and_derivatives_equal_those_of_verdicts(settings):
    verdicts = verdicts_from(**settings)
    cells = PairCells(verdicts)
    coefficients = cells.terms.defaults() + 0.3 * default_rng(0).standard_normal(cells.terms.count)
    state = cells.at(coefficients)
    assert state.log_likelihood == pytest.approx(naive(verdicts, coefficients), rel=1e-12)
    steps = 1e-5 * np.eye(cells.terms.count)
    ends = [[cells.at(coefficients + side * step) for side in (1, -1)] for step in steps]
    gradient = [(up.log_likelihood - down.log_likelihood) / 2e-5 for up, down in ends]
    assert_allclose(state.gradient, gradient, atol=1e-5)
    hessian = [(up.gradient - down.gradient) / 2e-5 for up, down in ends]
    assert_allclose(state.information(), -np.array(hessian), atol=1e-6)
    assert_allclose(state.scores().sum(axis=0), state.gradient, atol=1e-10)


def test_without_ties_equal_to_statsmodels_on_raw_rows():
    import statsmodels.api as sm

    verdicts = verdicts_from(length=0.5)
    cells = PairCells(verdicts)
    fitted = fit_maximum(cells, [kind for kind in KINDS if kind != SENSITIVITY])
    free = np.flatnonzero(fitted.free)

    base = cells.terms.defaults()
    units = base + np.eye(len(base))[free]
    design = np.transpose([margins(verdicts, unit)[0] for unit in units])
    basis = np.linalg.svd(design)[2][: len(free) - 1].T  # Strengths sum to 0.
    model = sm.GLM(verdicts.outcome == 0, design @ basis, family=sm.families.Binomial())
    theirs = model.fit(tol=1e-14, cov_type="cluster", cov_kwds={"groups": verdicts.item})
    assert_allclose(fitted.coefficients[free], basis @ theirs.params, atol=1e-9)
    covariance = fitted.covariance(fitted.influence)[np.ix_(free, free)]
    assert_allclose(covariance, basis @ theirs.cov_params() @ basis.T, atol=1e-9)


def test_sensitivities_are_at_the_maximum_of_the_naive_likelihood():
    from scipy.optimize import minimize

    verdicts = verdicts_from(ties=0.3, models=4, judges=3, questions=4, sensitivities=(0.5, 1.5))
    cells = PairCells(verdicts)
    fitted = fit_maximum(cells, KINDS, precision={SENSITIVITY: 1.0})
    models, slopes = (cells.terms.places(kind) for kind in (STRENGTH, SENSITIVITY))

    def loss(free):
        coefficients = cells.terms.defaults()
        coefficients[fitted.free] = free
        coefficients[models] -= coefficients[models].mean()
        coefficients[slopes] += 1 - coefficients[slopes].mean()
        return -naive(verdicts, coefficients) + ((coefficients[slopes] - 1) ** 2).sum() / 2

    best = loss(fitted.coefficients[fitted.free])
    start = cells.terms.defaults()[fitted.free] + 0.1
    optimum = minimize(loss, start, method="BFGS", options={"maxiter": 60})
    assert best <= optimum.fun + 1e-9
    assert optimum.fun - best < 1e-6
    assert fitted.coefficients[slopes].mean() == pytest.approx(1, abs=1e-12)
    assert fitted.coefficients[models].sum() == pytest.approx(0, abs=1e-12)
