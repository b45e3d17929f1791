"""The ordinal fit against R, statsmodels, the likelihood written row by row, and planted values."""

import csv
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from conftest import ROOT
from ordinal_world import (
    derivative,
    design_of,
    expanded,
    log_probabilities,
    on_a_scale_of_hundred,
    scores_and_information,
    simulated,
    terms_for,
)
from recuse.base.errors import DesignError
from recuse.crosscheck.statsmodels import improve
from recuse.model.ordinal import fit_ordinal

GOLDEN = ROOT / "tests" / "golden" / "polr_by_dimension_faithfulness.csv"
PREFIX = {"intercept": "judge{}", "slope": "judge{}:gt", "self_bias": "same_judge{}", "family_bias": "same_family{}"}


def free_places(fit):
    return [place for place in range(len(fit.point)) if place != fit.reference]


@pytest.fixture(scope="module")
def faithfulness(published):
    """Cells, terms and fit of the published ratings, and R's values in the order of the parameters that are free.

    R's human score is on the rubric's scale of 0 to 4, so its slopes and their errors are a quarter of ours.
    """
    cells = published.cells()
    cells = cells.select(cells.factors["dimension"] == "Faithfulness")
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance="classical")
    with open(GOLDEN, newline="", encoding="utf-8") as file:
        golden = {row["term"]: row for row in csv.DictReader(file)}
    keys = [PREFIX[term.quantity].format(term.term) for place, term in enumerate(terms) if place != fit.reference]
    assert {*keys, *fit.threshold_labels} == golden.keys()
    scale = np.array([4.0 if key.endswith(":gt") else 1.0 for key in (*keys, *fit.threshold_labels)])
    return cells, terms, fit, [golden[key] for key in (*keys, *fit.threshold_labels)], scale


@pytest.mark.mirror
def test_faithfulness_equals_polr(faithfulness):
    _, _, fit, golden, scale = faithfulness
    theirs = np.array([float(row["estimate_tight"]) for row in golden])
    np.testing.assert_allclose(fit.point[free_places(fit)] / scale, theirs, rtol=0, atol=1e-6)
    assert -2 * fit.log_likelihood == pytest.approx(float(golden[0]["deviance_tight"]), abs=1e-8)
    assert (fit.n, fit.rank, fit.remarks) == (int(golden[0]["n"]), len(golden), ())
    errors = np.concatenate([fit.std_error, fit.threshold_std_error])[free_places(fit)] / scale
    np.testing.assert_allclose(errors, [float(row["std_error_tight"]) for row in golden], rtol=2e-5)


@pytest.mark.mirror
def test_errors_differ_from_polr_by_its_numerical_hessian(faithfulness):
    """R differences the gradient with steps of 1e-3 on (coefficients, first threshold, log gaps): done so, they agree."""
    cells, terms, fit, golden, scale = faithfulness
    k, places = len(terms), free_places(fit)
    stretch = np.ones(len(fit.point))
    stretch[places] = scale
    design = design_of(cells, terms)

    def natural(parameters):
        thresholds = parameters[k] + np.concatenate([[0.0], np.exp(parameters[k + 1 :]).cumsum()])
        return np.concatenate([parameters[:k], thresholds])

    def jacobian(parameters):
        full = np.eye(len(parameters))
        full[k:, k:] = np.tril(np.ones((4, 4))) * np.concatenate([[1.0], np.exp(parameters[k + 1 :])])
        return full

    def gradient(parameters):
        point = natural(parameters) * stretch
        eta = design @ point[:k]
        bounds = np.concatenate([[-np.inf], point[k:], [np.inf]]) - eta[:, None]
        levels = 1 / (1 + np.exp(-bounds))
        slopes = cells.counts[:, :5] / np.diff(levels, axis=1)
        inward = (slopes[:, :-1] - slopes[:, 1:]) * (levels * (1 - levels))[:, 1:-1]
        natural_gradient = np.concatenate([-design.T @ inward.sum(axis=1), inward.sum(axis=0)]) * stretch
        return jacobian(parameters).T @ natural_gradient

    def errors(step):
        moves = np.eye(len(start))[places] * step
        hessian = np.array([(gradient(start - move) - gradient(start + move))[places] / (2 * step) for move in moves])
        outer = jacobian(start)[np.ix_(places, places)]
        return np.sqrt((outer @ np.linalg.inv((hessian + hessian.T) / 2) @ outer.T).diagonal())

    point = fit.point / stretch
    start = np.concatenate([point[: k + 1], np.log(np.diff(point[k:]))])
    np.testing.assert_allclose(errors(1e-3), [float(row["std_error_tight"]) for row in golden], rtol=0, atol=1e-7)
    exact = np.concatenate([fit.std_error, fit.threshold_std_error])[places] / scale
    np.testing.assert_allclose(errors(1e-5), exact, rtol=1e-8)


@pytest.mark.mirror
def test_statsmodels_finds_nothing_better_on_the_published_ratings(faithfulness):
    cells, terms, fit, *_ = faithfulness
    gain, movement = improve(cells, terms, fit)
    assert abs(gain) < 1e-8
    assert movement < 1e-6


def test_fit_equals_the_likelihood_by_rows():
    cells, _ = simulated()
    terms = terms_for(cells)
    fits = {covariance: fit_ordinal(cells, terms, covariance=covariance) for covariance in ("classical", "HC0", "HC1")}
    fit = fits["classical"]
    places = free_places(fit)

    def scores(point):
        return derivative(lambda p: log_probabilities(cells, terms, p), point, places)

    by_row = scores(fit.point)  # (parameters, rows)
    assert fit.log_likelihood == pytest.approx(log_probabilities(cells, terms, fit.point).sum(), abs=1e-10)
    np.testing.assert_allclose(by_row.sum(axis=1), 0.0, atol=1e-8)
    inverse = np.linalg.inv(-derivative(lambda p: scores(p).sum(axis=1), fit.point, places))
    sandwich = inverse @ by_row @ by_row.T @ inverse
    n, k = by_row.shape[1], len(places)
    assert (fit.n, fit.rank) == (n, k)
    expected = {"classical": inverse, "HC0": sandwich, "HC1": sandwich * n / (n - k)}
    for covariance, matrix in expected.items():
        np.testing.assert_allclose(fits[covariance].covariance[np.ix_(places, places)], matrix, rtol=1e-6, atol=1e-9)
    assert np.isnan(fit.covariance[fit.reference]).all()


@pytest.mark.parametrize("own_scores", [False, True])
def test_scale_of_hundred_equals_the_likelihood_by_rows(own_scores):
    cells = on_a_scale_of_hundred(1) if own_scores else simulated(1, top=100)[0]
    terms = terms_for(cells)
    fits = {covariance: fit_ordinal(cells, terms, covariance=covariance) for covariance in ("classical", "HC0")}
    fit = fits["HC0"]
    places = free_places(fit)
    assert len(fit.threshold_labels) > 85
    scores, information = scores_and_information(cells, terms, fit.point, places)
    assert fit.log_likelihood == pytest.approx(log_probabilities(cells, terms, fit.point).sum(), abs=1e-9)
    np.testing.assert_allclose(scores.sum(axis=0), 0.0, atol=1e-7)
    inverse = np.linalg.inv(information)
    np.testing.assert_allclose(fits["classical"].covariance[np.ix_(places, places)], inverse, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        fit.covariance[np.ix_(places, places)], inverse @ scores.T @ scores @ inverse, rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("covariance", ["classical", "HC0"])
def test_memory_of_a_fit_is_that_of_its_rows(covariance):
    """2,400 rows, 100 thresholds, 114 parameters: a number for each of all three would be 219 MB; the counts are 2 MB."""
    cells = on_a_scale_of_hundred(2, per_cell=30)
    terms = terms_for(cells)
    tracemalloc.start()
    try:
        fit = fit_ordinal(cells, terms, covariance=covariance)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(cells.group), len(fit.threshold_labels), len(fit.point)) == (2400, 100, 114)
    assert peak < 4 * cells.counts.nbytes


def test_errors_equal_those_of_statsmodels():
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    cells, _ = simulated(3)
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance="classical")
    gain, movement = improve(cells, terms, fit)
    assert abs(gain) < 1e-9
    assert movement < 1e-6
    rows, k = expanded(cells), len(terms)
    model = OrderedModel(rows.counts.argmax(axis=1), np.delete(design_of(rows, terms), fit.reference, axis=1), distr="logit")
    at = np.concatenate([np.delete(fit.point[:k], fit.reference), fit.point[k : k + 1], np.log(np.diff(fit.point[k:]))])
    theirs = np.sqrt(np.linalg.inv(-model.hessian(at)).diagonal())
    np.testing.assert_allclose(
        np.delete(fit.std_error, fit.reference), theirs[: k - 1], rtol=1e-4
    )  # its derivatives are numerical
    assert fit.threshold_std_error[0] == pytest.approx(theirs[k - 1], rel=1e-4)


def test_the_check_sees_a_fit_that_stops_short():
    cells, _ = simulated(3)
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance="HC0")
    point = fit.point.copy()
    point[1] += 0.1
    short = log_probabilities(cells, terms, point).sum()
    gain, movement = improve(cells, terms, replace(fit, point=point, estimate=point[: len(terms)], log_likelihood=short))
    assert gain == pytest.approx(fit.log_likelihood - short, abs=1e-3)
    assert gain > 0.1
    assert movement > 0.05
    gain, _ = improve(cells, terms, replace(fit, log_likelihood=fit.log_likelihood + 0.5))
    assert gain == pytest.approx(-0.5, abs=1e-6)


def test_two_levels_are_a_plain_logit():
    from statsmodels.api import Logit

    cells, _ = simulated(4, per_cell=30, top=1)
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance="classical")
    rows, places = expanded(cells), free_places(fit)
    design = np.column_stack([design_of(rows, terms), -np.ones(len(rows.group))])
    logit = Logit(rows.counts[:, 1], design[:, places]).fit(disp=False, tol=1e-12)
    np.testing.assert_allclose(fit.point[places], logit.params, atol=1e-8)
    np.testing.assert_allclose(fit.covariance[np.ix_(places, places)], logit.cov_params(), rtol=1e-6, atol=1e-9)
    assert fit.threshold_labels == ("0|1",)


def test_planted_log_odds_are_recovered():
    """Standardised errors of 60 fits' self- and family-biases: mean 0, standard deviation 1, 90 % of them within 1.645."""
    distance, effects = [], []
    for seed in range(60):
        cells, truth = simulated(seed, per_cell=30, dimensions=("q", "r"))
        terms = terms_for(cells)
        fit = fit_ordinal(cells, terms, covariance="HC0")
        true = np.array([truth[t.quantity, t.term] for t in terms])
        standard = (fit.estimate - true) / fit.std_error
        distance += [z for z, t in zip(standard, terms, strict=True) if t.quantity in ("self_bias", "family_bias", "dimension")]
        effects += list(zip(np.sign(fit.effect), np.sign(fit.estimate), strict=True))
    assert len(distance) == 60 * 7
    assert abs(np.mean(distance)) < 0.15
    assert np.std(distance) == pytest.approx(1.0, abs=0.1)
    assert np.mean(np.abs(distance) < 1.645) == pytest.approx(0.9, abs=0.045)
    assert all(sign == way for sign, way in effects if not np.isnan(sign))


def test_marginal_effect_is_the_mean_difference_over_the_rows():
    cells, _ = simulated(5)
    cells.counts[::3] *= 4  # cells do not weigh the same
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance="HC0")
    rows, k, places = expanded(cells), len(terms), free_places(fit)
    design = design_of(rows, terms)

    def expected_rating(point, eta):
        below = 1 / (1 + np.exp(eta[:, None] - point[k:]))
        return np.diff(below, axis=1, prepend=0.0, append=1.0) @ np.linspace(0, 1, 4)

    for place, term in enumerate(terms):
        if term.quantity not in ("self_bias", "family_bias"):
            assert np.isnan(fit.effect[place])
            continue
        own = design[design[:, place] == 1]

        def effect(point, own=own, place=place):
            eta = own @ point[:k]
            return (expected_rating(point, eta) - expected_rating(point, eta - point[place])).mean()

        assert fit.effect[place] == pytest.approx(effect(fit.point), abs=1e-12)
        slope = derivative(effect, fit.point, places)
        variance = slope @ fit.covariance[np.ix_(places, places)] @ slope
        assert fit.effect_std_error[place] == pytest.approx(np.sqrt(variance), rel=1e-8)


@pytest.mark.parametrize("covariance", ["classical", "HC0"])
def test_rows_cells_and_their_order_give_the_same_fit(covariance):
    cells, _ = simulated(6, dimensions=("q", "r"))
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance=covariance)
    rows = expanded(cells)
    order = np.random.default_rng(1).permutation(len(rows.group))
    parts = {key: getattr(rows, key)[order] for key in ("group", "reference", "reference_raw", "counts", "scale")}
    again = fit_ordinal(replace(rows, **parts), terms, covariance=covariance)
    for name in ("estimate", "std_error", "threshold_estimate", "threshold_std_error", "effect", "effect_std_error"):
        np.testing.assert_allclose(getattr(again, name), getattr(fit, name), rtol=1e-12, atol=1e-12)
    assert again.n == fit.n == len(order)
    assert terms[fit.reference].term == "a"


def test_dimensions_of_different_scales_have_no_common_fit():
    cells, _ = simulated(dimensions=("q", "r"))
    scale = cells.scale.copy()
    scale[cells.factor("dimension") == "r"] = [0, 6]
    with pytest.raises(DesignError, match=r"found 0 to 3, 0 to 6: write `slice: dimension`"):
        fit_ordinal(replace(cells, scale=scale), terms_for(cells), covariance="HC0")
