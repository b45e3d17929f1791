"""Mean scores against means over rows; correlations from contingency tables against scipy on rows
and loops over pairs.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from picked_rows import keyed
from recuse.data.describe import (
    HUMAN,
    STATISTICS,
    correlations,
    gamma,
    jackknife_error,
    mean_scores,
    pearson,
    score_agreement,
)


def test_mean_scores_equal_means_over_rows(twin, twin_rows):
    rows = pd.DataFrame(mean_scores(twin.cells()))
    assert len(rows) == 7 * 10 * 9
    assert {*rows["judge"][81:90]} == {HUMAN}  # the last of all dimensions together
    of_humans = twin_rows.assign(judge=HUMAN, rating_unit=twin_rows["gt_unit"])
    scores = pd.concat([twin_rows, of_humans])
    scores = pd.concat([scores, scores.assign(dimension="")])
    keys = ["dimension", "judge", "model"]
    expected = scores.groupby(keys)["rating_unit"].agg(["mean", "count"])
    found = rows.set_index(keys).loc[expected.index]
    np.testing.assert_allclose(found["mean"], expected["mean"], atol=1e-12)
    assert (found["n"] == expected["count"]).all()


@pytest.fixture(params=[0, 1, 2])
def data(request):
    """A contingency table with many ties, and its rows one by one."""
    generator = np.random.default_rng(request.param)
    table = generator.poisson(3.0, size=(6, 4))
    table[2, 1] = 0
    levels, ratings = np.array([0.0, 0.333, 1.0, 1.667, 2.5, 4.0]), np.arange(4)
    x, y = np.repeat([*product(levels, ratings)], table.ravel(), axis=0).T
    return table, levels, ratings, x, y


def test_agreement_equals_statsmodels(data):
    square = data[0][:4]
    kappa, error = score_agreement(square, np.arange(4)[:, None], np.arange(4))["weighted_kappa"]
    whole = cohens_kappa(square, wt="quadratic", return_results=True)
    assert kappa == pytest.approx(whole.kappa, abs=1e-12)
    assert error == pytest.approx(whole.std_kappa, rel=1e-9)


def test_the_error_of_the_correlation_is_near_the_jackknife(data):
    table, levels, ratings, *_ = data
    value, error = score_agreement(100 * table, levels[:, None], ratings)["pearson"]
    assert value == pytest.approx(pearson(table, levels, ratings), abs=1e-14)
    assert error == pytest.approx(jackknife_error(pearson, 100 * table, levels, ratings), rel=0.01)


def test_agreement_with_a_constant_score_is_not_a_number():
    assert np.isnan(
        score_agreement(np.ones((1, 3)), np.ones((1, 1)), np.arange(3))["weighted_kappa"]
    ).all()


def test_gamma_equals_a_loop_over_pairs(data):
    table, levels, ratings, x, y = data
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    concordant, discordant = (signs > 0).sum(), (signs < 0).sum()
    assert gamma(table, levels, ratings) == pytest.approx(
        (concordant - discordant) / (concordant + discordant), abs=1e-14
    )
    assert stats.somersd(table).statistic * gamma(table, levels, ratings) > 0


@pytest.mark.parametrize("name", STATISTICS)
def test_jackknife_equals_leaving_out_each_row(data, name):
    table, levels, ratings, x, y = data
    left_out = []
    for i, j in zip(np.searchsorted(levels, x), y.astype(int), strict=True):
        smaller = table.copy()
        smaller[i, j] -= 1
        left_out.append(float(STATISTICS[name](smaller, levels, ratings)))
    n = len(x)
    expected = np.sqrt(n - 1) * np.std(left_out)
    assert jackknife_error(STATISTICS[name], table, levels, ratings) == pytest.approx(
        expected, rel=1e-12
    )


def test_no_variation_gives_no_correlation():
    table = np.array([[3, 4]])
    for statistic in STATISTICS.values():
        assert np.isnan(statistic(table, np.array([1.0]), np.array([0, 1])))


def test_table_of_a_study(twin, twin_rows):
    rows = keyed(correlations(twin.cells(), confidence=0.9), "dimension judge statistic")
    assert len(rows) == 6 * 9 * 3 + 9 * 2
    for dimension, judge in (("Faithfulness", "GPT-4o"), ("Helpfulness", "Llama 3 8B")):
        part = twin_rows.query("dimension == @dimension and judge == @judge")
        for statistic in ("pearson", "spearman"):
            result = rows[dimension, judge, statistic]
            value = part["gt"].corr(part["rating"], method=statistic)
            assert result["value"] == pytest.approx(value, abs=1e-12)
            assert result["n"] == len(part)
            low, high = stats.norm.interval(0.9, value, result["std_error"])
            assert (result["ci_low"], result["ci_high"]) == pytest.approx((low, high))
