"""Figure 1: what the three worlds hold, and what is drawn of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from drawings import artists, prose, subject, texts, x_values
from recuse.base.words import signed
from recuse.plot.method import draw_worlds
from recuse.simulate.ratings import NOISE, SELF_BIAS, SLOPE, simulate_worlds

SEED = 20250809


@pytest.fixture(scope="module")
def worlds():
    return simulate_worlds(seed=SEED)


def test_every_world_has_the_same_slope_and_self_bias(worlds):
    for world in worlds:
        assert (world.slope, world.self_bias) == pytest.approx((0.8, 0.25), abs=0.02)
        own, other = world.rating - SLOPE * world.reference - np.array([[SELF_BIAS], [0.0]])
        assert (own.mean(), other.mean()) == pytest.approx((0, 0), abs=0.02)
        assert (own.std(), other.std()) == pytest.approx((NOISE, NOISE), rel=0.2)
        assert 0 < world.reference.min() < world.reference.max() < 1


def test_the_gap_of_the_ratings_is_self_bias_and_quality_together(worlds):
    quality = [world.reference[0].mean() - world.reference[1].mean() for world in worlds]
    assert quality == pytest.approx([-0.3, 0.0, 0.3], abs=0.05)
    assert [world.gap for world in worlds] == pytest.approx([0.01, 0.25, 0.49], abs=0.05)


def test_the_fit_is_least_squares_without_intercept(worlds):
    world = worlds[0]
    residual = world.rating - world.slope * world.reference - np.array([[world.self_bias], [0.0]])
    assert (residual * world.reference).sum() == pytest.approx(0, abs=1e-10)
    assert residual[0].sum() == pytest.approx(0, abs=1e-10)


def test_the_seed_says_which_worlds(worlds):
    again, others = simulate_worlds(seed=SEED), simulate_worlds(seed=SEED + 1)
    assert_array_equal(again[2].rating, worlds[2].rating)
    assert not np.array_equal(others[2].rating, worlds[2].rating)


def test_lines_are_the_fit_and_means_the_means(worlds):
    figure = draw_worlds(worlds, subject())
    for scatter, world in zip(figure.axes, worlds, strict=True):
        lines = artists(scatter, "line")
        own, other = (np.asarray(line.get_ydata()) for line in lines)
        assert_allclose(own - other, world.self_bias, atol=1e-12)
        assert_allclose(other, [0, world.slope], atol=1e-12)
        drawn = [line.get_xydata() for line in artists(scatter, "completions")]
        assert_array_equal(drawn, np.stack([world.reference, world.rating], axis=2))
        means = artists(scatter, "mean")
        assert_allclose(x_values(means[:2]), world.reference.mean(axis=1))
        assert_allclose([line.get_ydata()[0] for line in means[2:]], world.rating.mean(axis=1))
        numbers = f"self-bias {signed(world.self_bias)}, means differ by {signed(world.gap)}"
        assert numbers in texts(figure)
        assert world.rating.max() < scatter.get_ylim()[1]
    assert len(artists(figure, "density")) == 12
    assert texts(figure).count("γ") == 3


@pytest.mark.parametrize("kind", ["published", "user"])
def test_it_says_simulated_of_every_study(kind, worlds):
    figure = draw_worlds(worlds, subject(kind))
    assert "SIMULATED DATA" in texts(figure)
    assert not {"PUBLISHED DATA", "USER'S DATA"} & set(texts(figure))
    foot = prose(figure)
    assert "simulated for this figure, with slope β = 0.8 and self-bias γ = 0.25" in foot
    assert "shown with: a study" in foot
