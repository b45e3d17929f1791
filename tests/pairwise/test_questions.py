"""The bootstrap over questions against a loop over resamples, and its coverage."""

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from random_comparisons import resampled
from recuse.pairwise import questions as module
from recuse.pairwise.questions import (
    Group,
    ends_without_variation,
    percentile_intervals,
    quotient,
    share_intervals,
)


def shares(totals):
    return quotient(totals[..., ::2], totals[..., 1::2])


def sums_from(questions, seed):
    draw = default_rng(seed)
    n = draw.integers(0, 4, size=(questions, 2))
    counts = draw.binomial(n, 0.4)
    return np.stack([counts[:, 0], n[:, 0], counts[:, 1], n[:, 1]], axis=1).astype(float)


@pytest.mark.parametrize("block", [2_000_000, 50, 1])
def test_ends_are_those_of_a_loop_over_resampled_questions(monkeypatch, block):
    # How many replicates are held at a time changes nothing
    monkeypatch.setattr(module, "BLOCK", block)
    sums = sums_from(9, seed=3)
    totals = resampled(range(9), seed=11, replicates=400).to_numpy() @ sums
    values = totals[:, ::2] / totals[:, 1::2]
    low, high = percentile_intervals(sums, shares, confidence=0.8, seed=11, replicates=400)
    assert_allclose(low, np.quantile(values, 0.1, axis=0), rtol=1e-13)
    assert_allclose(high, np.quantile(values, 0.9, axis=0), rtol=1e-13)
    assert (high - low > 0.05).all()


@pytest.mark.parametrize("questions", [0, 1])
def test_fewer_than_two_questions_have_no_interval(questions):
    low, high = percentile_intervals(np.ones((questions, 4)), shares, confidence=0.9, seed=1)
    assert low.shape == high.shape == (2,)
    assert np.isnan([*low, *high]).all()


def test_a_share_of_one_question_has_no_interval_and_one_that_never_varies_has_an_exact_one():
    counts = np.array([[1, 2, 3, 3], [2, 4, 0, 0]], dtype=float)  # halves, and one question of two
    ((low, high, questions),) = share_intervals([Group({}, counts)], shares, confidence=0.9, seed=1)
    differ = 1 - 0.05 ** (1 / 2)  # most of the questions that may be other than one half
    assert_allclose(low, [0.5 - differ / 2, np.nan], rtol=1e-12)
    assert_allclose(high, [0.5 + differ / 2, np.nan], rtol=1e-12)
    assert questions.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("n", "confidence"), [(1, 0.9), (2, 0.9), (80, 0.9), (80, 0.99), (10**6, 0.5)]
)
def test_ends_without_variation_are_exact(n, confidence):
    for share in (0.0, 1.0):
        ends = ends_without_variation(np.array([share]), np.array([n]), confidence=confidence)
        exact = binomtest(int(share * n), n).proportion_ci(confidence, "exact")
        assert [float(end[0]) for end in ends] == pytest.approx([exact.low, exact.high], abs=1e-12)
        assert ends[0][0] <= share <= ends[1][0]


@pytest.mark.long
@pytest.mark.parametrize(("share", "questions"), [(0.01, 80), (0.99, 80), (0.03, 40), (0.5, 6)])
def test_shares_near_0_and_1_are_covered_as_often_as_nominal(share, questions):
    """1000 studies of questions with one verdict each: some have no variation."""
    draw = default_rng(9)
    numbers = np.ones(questions)
    groups = [
        Group({}, np.stack([draw.binomial(1, share, questions), numbers], axis=1))
        for _ in range(1000)
    ]
    assert sum(len(set(group.sums[:, 0])) == 1 for group in groups) > 20
    covered = 0
    for low, high, _ in share_intervals(groups, shares, confidence=0.9, seed=1):
        covered += low[0] <= share <= high[0]
    assert covered / 1000 > 0.9 - 3 * np.sqrt(0.9 * 0.1 / 1000)
