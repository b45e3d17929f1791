"""Least squares from moments against textbook least squares on rows."""

import numpy as np
import pytest

from recuse.data.cells import FACTORS, levels_of
from recuse.data.moments import Moments, moments_of_cells, moments_of_rows
from recuse.data.selection import with_normalised_length
from recuse.model.covariance import fit_least_squares
from recuse.model.design import regressors_of, terms_of
from recuse.model.least_squares import Solution, benjamini_hochberg


def rows_and_moments(seed=0, judges=3, per_group=7, width=3):
    """Random rows of (1, rating, reference[, length]) in a full judge x model x dimension design,
    and their moments.
    """
    generator = np.random.default_rng(seed)
    names = np.array([f"m{i}" for i in range(judges)])
    family = np.array(["f0", "f0", "f1", "f1", "f2"])[:judges]
    judge, model, dimension = (
        index.ravel()
        for index in np.meshgrid(range(judges), range(judges), range(2), indexing="ij")
    )
    factors = {
        "judge": names[judge],
        "model": names[model],
        "judge_family": family[judge],
        "model_family": family[model],
        "dimension": np.array(["a", "b"])[dimension],
    }
    rows = np.concatenate(
        [
            np.ones((len(judge), per_group, 1)),
            generator.uniform(size=(len(judge), per_group, width - 1)),
        ],
        axis=2,
    )
    tensor = np.einsum("gri,grj,grk,grl->gijkl", rows, rows, rows, rows)
    return rows, Moments(factors, tensor)


def textbook(design, y, covariance):
    """Coefficients and covariance by the formulas, from rows."""
    inverse = np.linalg.inv(design.T @ design)
    estimate = inverse @ design.T @ y
    residual = y - design @ estimate
    n, k = design.shape
    if covariance == "classical":
        return estimate, inverse * (residual @ residual) / (n - k)
    sandwich = inverse @ (design.T * residual**2) @ design @ inverse
    return estimate, sandwich * (n / (n - k) if covariance == "HC1" else 1)


@pytest.mark.parametrize("covariance", ["HC0", "HC1", "classical"])
@pytest.mark.parametrize("width", [3, 4])
def test_fit_equals_textbook(covariance, width):
    rows, moments = rows_and_moments(width=width)
    terms = [term for term in terms_of(moments.factors, length=width == 4) if term.carried.any()]
    layout = regressors_of(terms, len(rows), width - 1)
    regressors = rows[:, :, [0, *range(2, width)]]
    design = np.einsum("grw,gwp->grp", regressors, layout).reshape(-1, len(terms))
    estimate, spread = textbook(design, rows[:, :, 1].ravel(), covariance)
    result = fit_least_squares(moments, layout, covariance=covariance)
    np.testing.assert_allclose(result.estimate, estimate, atol=1e-12)
    np.testing.assert_allclose(result.covariance, spread, atol=1e-12)
    assert result.identified.all()
    assert (result.n, result.rank) == (rows.shape[0] * rows.shape[1], len(terms))


def test_estimates_are_those_of_a_qr_decomposition():
    """References within a hundredth of the scale, so that columns are nearly alike: normal
    equations alone are off by 2e-11.
    """
    rows, moments = rows_and_moments()
    rows[:, :, 2] = 0.5 + 0.01 * (rows[:, :, 2] - 0.5)
    moments = Moments(moments.factors, np.einsum("gri,grj,grk,grl->gijkl", rows, rows, rows, rows))
    terms = [term for term in terms_of(moments.factors) if term.carried.any()]
    layout = regressors_of(terms, len(rows), 2)
    design = np.einsum("grw,gwp->grp", rows[:, :, [0, 2]], layout).reshape(-1, len(terms))
    exact = np.linalg.lstsq(design, rows[:, :, 1].ravel(), rcond=None)[0]
    np.testing.assert_allclose(
        fit_least_squares(moments, layout).estimate, exact, rtol=0, atol=4e-12 * np.abs(exact).max()
    )


def test_terms_are_those_of_equation_1():
    _, moments = rows_and_moments()
    terms = [
        (term.quantity, term.term, int(term.carried.sum())) for term in terms_of(moments.factors)
    ]
    assert terms == [
        *(("intercept", f"m{j}", 6) for j in range(3)),
        *(("slope", f"m{j}", 6) for j in range(3)),
        *(("self_bias", f"m{j}", 2) for j in range(3)),
        ("family_bias", "f0", 4),
        ("family_bias", "f1", 0),
        ("dimension", "b", 9),
    ]


def test_unidentified_coefficients_are_nan_and_do_not_affect_the_others():
    """A judge whose completions all have one human score: its intercept and slope are collinear,
    its self-bias is not.
    """
    rows, _ = rows_and_moments()
    _, full = rows_and_moments()
    constant = full.factors["judge"] == "m0"
    rows[constant, :, 2] = 0.5
    moments = Moments(full.factors, np.einsum("gri,grj,grk,grl->gijkl", rows, rows, rows, rows))
    terms = [term for term in terms_of(moments.factors) if term.carried.any()]
    layout = regressors_of(terms, len(rows), 2)
    result = fit_least_squares(moments, layout)
    unknown = [
        (t.quantity, t.term)
        for t, identified in zip(terms, result.identified, strict=True)
        if not identified
    ]
    assert unknown == [("intercept", "m0"), ("slope", "m0")]
    assert np.isnan(result.estimate[~result.identified]).all()
    assert np.isnan(np.diag(result.covariance)[~result.identified]).all()
    design = np.einsum("grw,gwp->grp", rows[:, :, [0, 2]], layout).reshape(-1, len(terms))
    keep = [
        place for place, term in enumerate(terms) if (term.quantity, term.term) != ("slope", "m0")
    ]
    estimate, spread = textbook(design[:, keep], rows[:, :, 1].ravel(), "HC0")
    same = [i for i, place in enumerate(keep) if result.identified[place]]
    np.testing.assert_allclose(result.estimate[result.identified], estimate[same], atol=1e-12)
    np.testing.assert_allclose(
        np.diag(result.covariance)[result.identified], np.diag(spread)[same], atol=1e-12
    )
    assert result.rank == len(terms) - 1


def test_ratings_without_residual_have_no_standard_error():
    rows, full = rows_and_moments()
    rows[:, :, 1] = 1.0
    moments = Moments(full.factors, np.einsum("gri,grj,grk,grl->gijkl", rows, rows, rows, rows))
    terms = [term for term in terms_of(moments.factors) if term.carried.any()]
    result = fit_least_squares(moments, regressors_of(terms, len(rows), 2))
    assert (result.std_error == 0).all()
    np.testing.assert_allclose(result.estimate[:3], 1.0, atol=1e-12)


def test_small_sample_factors_need_more_rows_than_terms():
    _, moments = rows_and_moments(per_group=1)
    few = moments.select(np.arange(len(moments.n)) < 4)
    terms = [term for term in terms_of(few.factors) if term.carried.any()]
    layout = regressors_of(terms, len(few.n), 2)
    assert np.isnan(fit_least_squares(few, layout, covariance="HC1").covariance).all()
    assert np.isnan(fit_least_squares(few, layout, covariance="classical").covariance).all()


def test_moments_are_sums_over_rows_and_additive(twin):
    """The tensor of a group against a plain loop over its rows, and the two ways of building it
    against each other.
    """
    import duckdb

    moments = moments_of_cells(twin.cells())
    frame = duckdb.sql(f"select * from '{twin.ratings[0]}'").df()
    for group in (0, len(moments.n) // 2, len(moments.n) - 1):
        chosen = np.logical_and.reduce(
            [frame[factor] == moments.factors[factor][group] for factor in FACTORS]
        )
        u = np.column_stack(
            [np.ones(chosen.sum()), frame["rating_unit"][chosen], frame["gt_unit"][chosen]]
        )
        np.testing.assert_allclose(
            moments.tensor[group], np.einsum("ri,rj,rk,rl->ijkl", u, u, u, u), rtol=1e-12
        )
    with_length = moments_of_rows(
        [with_normalised_length(f"from '{twin.ratings[0]}'", "prompt")], levels_of(twin.ratings[0])
    )
    np.testing.assert_allclose(with_length.tensor[:, :3, :3, :3, :3], moments.tensor, rtol=1e-11)


def test_planted_rating_replaces_the_observed_one():
    rows, moments = rows_and_moments(width=4)
    expected = np.random.default_rng(3).normal(size=(len(rows), 3))
    rows[:, :, 1] = np.einsum("grw,gw->gr", rows[:, :, [0, 2, 3]], expected)
    direct = np.einsum("gri,grj,grk,grl->gijkl", rows, rows, rows, rows)
    np.testing.assert_allclose(moments.with_rating(expected).tensor, direct, atol=1e-10)


def test_variance_that_is_only_rounding_is_0():
    """Two prompts with opposite scores s: where A s is 0, A meat A is what rounding leaves, 4e-9 as
    an error.
    """
    generator = np.random.default_rng(0)
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

    p_values = np.random.default_rng(tests).beta(0.4, 1, tests).round(2)  # with ties
    np.testing.assert_allclose(
        benjamini_hochberg(p_values.tolist()), false_discovery_control(p_values), rtol=1e-14
    )
