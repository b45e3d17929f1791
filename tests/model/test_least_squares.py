"""Least squares from moments: precision, planted ratings, rounding, and adjusted p-values."""

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose

from designs_on_rows import carried_terms
from recuse.data.moments import Moments
from recuse.model.covariance import fit_least_squares
from recuse.model.design import term_layout
from recuse.model.least_squares import SPARSE, Solution, benjamini_hochberg, cross_products


def tensor_from(rows):
    return np.einsum("gri,grj,grk,grl->gijkl", rows, rows, rows, rows)


def rows_and_moments(width=3):
    """Random rows of (1, rating, reference[, length]) in a full judge x model x dimension design,
    and their moments.
    """
    generator = default_rng(0)
    names = np.array(["m0", "m1", "m2"])
    family = np.array(["f0", "f0", "f1"])
    judge, model, dimension = (index.ravel() for index in np.indices((3, 3, 2)))
    factors = {
        "judge": names[judge],
        "model": names[model],
        "judge_family": family[judge],
        "model_family": family[model],
        "dimension": np.array(["a", "b"])[dimension],
    }
    rows = np.concatenate(
        [np.ones((len(judge), 7, 1)), generator.uniform(size=(len(judge), 7, width - 1))], axis=2
    )
    tensor = tensor_from(rows)
    return rows, Moments(factors, tensor)


@pytest.mark.parametrize("width", [2, 3])
def test_cross_products_of_few_entries_are_those_of_all(width):
    """With 200 judges, of which each carries one term, and two terms of all."""
    generator = default_rng(1)
    regressors = np.zeros((200, width, 202))
    regressors[np.arange(200), :, np.arange(200)] = generator.normal(size=(200, width))
    regressors[:, :, 200:] = generator.normal(size=(200, width, 2)) * (
        generator.uniform(size=(200, 1, 1)) < 0.5
    )
    sums = generator.normal(size=(200, width, width))
    expected = np.einsum("gwp,gwv,gvq->pq", regressors, sums, regressors)
    assert (regressors != 0).mean() < SPARSE
    assert_allclose(cross_products(regressors, sums), expected, rtol=0, atol=1e-12)


def test_estimates_are_those_of_a_qr_decomposition():
    """References within a hundredth of the scale, so that columns are nearly alike: normal
    equations alone are off by 2e-11.
    """
    rows, moments = rows_and_moments()
    rows[:, :, 2] = 0.5 + 0.01 * (rows[:, :, 2] - 0.5)
    moments = Moments(moments.factors, tensor_from(rows))
    terms = carried_terms(moments.factors)
    layout = term_layout(terms, len(rows), 2)
    design = np.einsum("grw,gwp->grp", rows[:, :, [0, 2]], layout).reshape(-1, len(terms))
    exact = np.linalg.lstsq(design, rows[:, :, 1].ravel(), rcond=None)[0]
    assert_allclose(
        fit_least_squares(moments, layout).estimate, exact, rtol=0, atol=4e-12 * np.abs(exact).max()
    )


def test_planted_rating_replaces_the_observed_one():
    rows, moments = rows_and_moments(width=4)
    expected = default_rng(3).normal(size=(len(rows), 3))
    rows[:, :, 1] = np.einsum("grw,gw->gr", rows[:, :, [0, 2, 3]], expected)
    direct = tensor_from(rows)
    assert_allclose(moments.with_rating(expected).tensor, direct, atol=1e-10)


def test_variance_that_is_only_rounding_is_0():
    """Two prompts with opposite scores s: where A s is 0, A meat A is what rounding leaves, 4e-9 as
    an error.
    """
    generator = default_rng(0)
    x = generator.normal(size=(40, 4)) + 3
    inverse = np.linalg.inv(x.T @ x)
    for shift in (0.0, 1e-4):  # the second is small, and not rounding
        score = np.linalg.solve(inverse, [0.02, shift * 0.02, -0.01, 0.03])
        meat = np.outer(score, score) + np.outer(-score, -score)
        solution = Solution(np.zeros(4), inverse, np.zeros((4, 0)), 40, x.T @ x)
        result = solution.sandwich(meat, 2.0)
        assert result.std_error[[0, 2, 3]] == pytest.approx([0.04, 0.02, 0.06], rel=1e-9)
        assert result.std_error[1] == (pytest.approx(0.04 * shift, rel=1e-4) if shift else 0.0)


@pytest.mark.parametrize("tests", [1, 2, 50])
def test_benjamini_hochberg_is_that_of_scipy(tests):
    from scipy.stats import false_discovery_control

    p_values = default_rng(tests).beta(0.4, 1, tests).round(2)  # with ties
    assert_allclose(
        benjamini_hochberg(p_values.tolist()), false_discovery_control(p_values), rtol=1e-14
    )
