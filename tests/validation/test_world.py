"""Worlds drawn as arrays: they contain what is planted, and the sums are those of the rows."""

import numpy as np
import pytest
import yaml
from numpy.random import default_rng

from recuse.data.moments import RATING
from recuse.data.selection import EVERY_ROW
from recuse.validation.estimators import ESTIMATORS, WITH_LENGTH, Trial
from recuse.validation.world import RATERS, MonteCarloWorld
from text_tables import lines

SMALL, MANY, TROUBLES = yaml.safe_load("""
- {families: [2, 1, 2], dimensions: 2, prompts: 12, intercept: 0.3, slope: 0.5, noise: 0.2}
- {families: [3, 2, 2, 2], dimensions: 1, prompts: 4, intercept: 0.0, slope: 0.0, noise: 1.0e-12}
- {length_preference: 0.1, missing: 0.2, reliability: 0.6, prompt_shock: 0.1, completion_shock: 0.1}
""")


def drawn(seed=1, **dials):
    world = MonteCarloWorld(**{**SMALL, **dials})
    return world, world.draw(default_rng(seed))


def rows(draw, selection=EVERY_ROW):
    """u = (1, rating, human score[, length]) of every row, its group and its prompt."""
    (block,) = draw.row_blocks(selection, draw.factors)
    return (
        np.stack([np.ones(len(block.rating)), block.rating, *block.covariates], axis=1),
        block.group,
        block.prompt,
    )


def assert_moments_of_rows(draw, selection=EVERY_ROW):
    u, group, _ = rows(draw, selection)
    expected = [
        np.einsum("ri,rj,rk,rl->ijkl", *[u[group == g]] * 4)
        for g in range(len(draw.factors["judge"]))
    ]
    found = draw.moments(selection).tensor
    assert found == pytest.approx(np.array(expected), rel=1e-10, abs=1e-12)


def test_without_noise_a_rating_is_the_sum_of_what_is_planted():
    world, draw = drawn(noise=1e-12, self_bias=[0.07, 0, 0.07, 0, 0.07], family_bias=0.03)
    rest = draw.rating - 0.3 - 0.5 * draw.reference[:, :, None]
    biases = rest.mean(axis=(0, 1))  # (J, M)
    expected = np.diag([0.07, 0.0, 0.07, 0.0, 0.07])
    # Of the first and the third family; the second has one model
    expected[[0, 1, 3, 4], [1, 0, 4, 3]] = 0.03
    assert biases == pytest.approx(expected, abs=1e-9)
    assert world.planted["self_bias"]["Model 1"] == 0.07
    assert world.planted["family_bias"] == {"Family 1": 0.03, "Family 3": 0.03}


@pytest.mark.parametrize(
    ("dials", "selection"),
    [({}, EVERY_ROW), (TROUBLES, EVERY_ROW), (TROUBLES, WITH_LENGTH.selection)],
)
def test_moments_are_those_of_the_rows(dials, selection):
    _, draw = drawn(**dials)
    assert_moments_of_rows(draw, selection)


def test_reliability_is_the_share_of_the_true_score_in_the_reference():
    quality_alone = {
        "slope": 1.0,
        "intercept": 0.0,
        "noise": 1e-12,
        "prompts": 6000,
        "dimensions": 1,
        "quality_gap": 0.3,
    }
    _, draw = drawn(**quality_alone, reliability=0.55)
    true = draw.rating[:, 0].mean(axis=1)  # (P, M)
    assert true.var() / draw.reference.var() == pytest.approx(0.55, abs=0.015)
    one = draw.raters[..., 0] - true[:, None]
    other = draw.raters[..., 1] - true[:, None]
    assert np.corrcoef(one.ravel(), other.ravel())[0, 1] == pytest.approx(0, abs=0.02)
    assert draw.raters.shape[-1] == RATERS


def test_tilts_are_largest_for_the_last():
    _, draw = drawn(prompts=4000, dimensions=1, quality_gap=0.2, length_preference=0.1, missing=0.2)
    assert np.diff(draw.reference.mean(axis=(0, 1))) == pytest.approx(np.full(4, 0.05), abs=0.02)
    assert draw.length.mean(axis=(0, 1)) == pytest.approx(0.3 * np.linspace(-1, 1, 5), abs=0.02)
    missing = 1 - draw.present.mean(axis=(0, 1))
    assert np.diag(missing) == pytest.approx(np.linspace(0, 0.4, 5), abs=0.02)
    assert missing.sum() == np.diag(missing).sum()
    last = draw.rating[:, :, -1, -1]
    assert last[~draw.present[:, :, -1, -1]].max() < np.median(last)


@pytest.mark.parametrize(
    ("dial", "shared"),
    [("prompt_shock", (0, 1, 2, 3)), ("completion_shock", (0, 3)), ("judge_shock", (0, 2))],
)
def test_a_shock_is_shared_by_its_rows(dial, shared):
    _, draw = drawn(**{dial: 0.4}, noise=1e-12)
    rest = draw.rating - 0.3 - 0.5 * draw.reference[:, :, None]
    if dial == "prompt_shock":
        assert np.ptp(rest, axis=(2, 3)).max() < 1e-9
        assert np.ptp(rest[:, :, 0, 0], axis=1).min() > 0
    else:
        others = tuple(axis for axis in (1, 2, 3) if axis not in shared)
        assert np.ptp(rest, axis=others).max() < 1e-9
        assert np.ptp(rest, axis=shared[1]).min() > 0


def leanings(draws=400, **dials):
    """What judges rate models by, without noise and slope, of many draws: (draws, J, M)."""
    world = MonteCarloWorld(**{**MANY, **dials})
    return np.stack([world.draw(default_rng(seed)).rating[0, 0] for seed in range(draws)])


def correlation(values, *others):
    """Mean over `others`, pairs of a judge and a model, of the correlation of what judge and model
    0 and they share.
    """
    return np.mean(
        [np.corrcoef(values[:, 0, 0], values[:, judge, model])[0, 1] for judge, model in others]
    )


def test_a_dial_is_one_number_rises_from_the_first_to_the_last_or_is_of_each():
    intercept = [0.1, 0.5, 0.2, 0.9, 0.3]
    _, draw = drawn(
        noise=[1e-12, 0.4], slope=[0.2, 0.8], intercept=intercept, prompts=3000, dimensions=1
    )
    rest = (
        draw.rating
        - np.linspace(0.2, 0.8, 5)[:, None] * draw.reference[:, :, None]
        - np.array(intercept)[:, None]
    )
    assert rest.mean(axis=(0, 1, 3)) == pytest.approx(np.zeros(5), abs=0.02)
    assert rest.std(axis=(0, 1, 3)) == pytest.approx(np.linspace(0, 0.4, 5), abs=0.01)


def test_judges_are_models_of_as_many_families_as_can_be():
    world, draw = drawn(**MANY, judges=3)
    assert np.unique(draw.factors["judge"]).tolist() == ["Model 1", "Model 4", "Model 6"]
    assert np.unique(draw.factors["judge_family"]).tolist() == ["Family 1", "Family 2", "Family 3"]
    assert np.unique(draw.factors["model"]).size == 9
    assert draw.rating.shape == (4, 1, 3, 9)
    assert list(world.planted["self_bias"]) == ["Model 1", "Model 4", "Model 6"]
    five = MonteCarloWorld(**MANY, judges=5).judge_model
    assert five.tolist() == [0, 1, 3, 5, 7]
    # A family has a coefficient where a judge rates another of its models.
    assert (
        MonteCarloWorld(**{**MANY, "families": [1, 3]}, judges=1, family_bias=0.1).planted[
            "family_bias"
        ]
        == {}
    )
    values = leanings(draws=1, judges=3, self_bias=[0.1, 0.2, 0.3], family_bias=0.05)[0]
    expected = np.zeros((3, 9))
    expected[0, :3], expected[1, 3:5], expected[2, 5:7] = (
        (0.1, 0.05, 0.05),
        (0.2, 0.05),
        (0.3, 0.05),
    )
    assert values == pytest.approx(expected, abs=1e-9)


def test_preferences_have_their_spread():
    sizes = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09]
    values = leanings(preference=sizes)
    assert values.std(axis=(0, 2)) == pytest.approx(sizes, rel=0.05)
    assert correlation(values, (0, 1), (1, 0), (3, 3)) == pytest.approx(0, abs=0.1)
    heavy = leanings(preference=0.02, preference_df=6)
    assert heavy.std() == pytest.approx(0.02, rel=0.03)
    # Kurtosis of t with 6 degrees of freedom
    assert (heavy**4).mean() / heavy.var() ** 2 == pytest.approx(6, abs=1.8)


# Pairs of judge and model that share the preference of judge 0 for model 0; and that do not
SHARED = """
family_preference        01,10,22  03,30,33
judge_family_preference  01,02     10,11,03
family_model_preference  10,20     01,11,30
shared_preference        10,30,80  01,11
"""


@pytest.mark.parametrize("line", lines(SHARED))
def test_what_families_prefer_is_shared_by_their_judges_or_models(line):
    dial, *pairs = line
    same, other = ([tuple(map(int, pair)) for pair in each.split(",")] for each in pairs)
    values = leanings(**{dial: 0.03})
    assert values.std() == pytest.approx(0.03, rel=0.06)
    assert correlation(values, *same) == pytest.approx(1)
    assert correlation(values, *other) == pytest.approx(0, abs=0.1)
    half = leanings(**{dial: 0.03}, preference=0.03)
    assert correlation(half, *same) == pytest.approx(0.5, abs=0.08)


def test_models_answer_as_many_prompts_as_they_should():
    _, draw = drawn(model_prompts=[3, 11], missing=0.2)
    answered = draw.present.any(axis=(1, 2))  # (P, M)
    assert answered.sum(axis=0).tolist() == [3, 5, 7, 9, 11]
    moments = draw.moments()
    own = moments.factors["judge"] == moments.factors["model"]
    of_model = np.unique(moments.factors["model"], return_inverse=True)[1]
    assert moments.n[~own].tolist() == (answered.sum(axis=0)[of_model[~own]]).tolist()
    assert_moments_of_rows(draw)


def test_humans_may_favour_models_and_err_more_about_some():
    exact = {"slope": 1.0, "intercept": 0.0, "noise": 1e-12, "dimensions": 1, "prompts": 4000}
    favours = []
    for seed in range(60):
        _, draw = drawn(seed, **{**exact, "prompts": 4}, human_preference=0.05)
        favour = draw.reference - draw.rating[:, :, 0]
        assert np.ptp(favour, axis=0).max() < 1e-9  # of a model on all prompts
        favours.append(favour[0, 0])
    assert np.std(favours) == pytest.approx(0.05, rel=0.15)
    _, draw = drawn(**exact, reliability=[0.4, 0.8])
    true = draw.rating[:, 0, 0]  # (P, M)
    assert true.var(axis=0) / draw.reference[:, 0].var(axis=0) == pytest.approx(
        np.linspace(0.4, 0.8, 5), abs=0.03
    )
    assert draw.reliability == pytest.approx(true.var() / draw.reference.var(), abs=0.02)


def test_difficulty_is_of_a_prompt_and_rises_over_models():
    dials = {"prompts": 6000, "difficulty": 0.2, "dimensions": 2, "reliability": 0.7}
    _, draw = drawn(**dials)
    # Of two dimensions: what they share
    covariance = np.cov(draw.reference[:, 0].T, draw.reference[:, 1].T)[:5, 5:]
    rise = np.linspace(0, 2, 5)
    assert covariance == pytest.approx(0.2**2 * np.outer(rise, rise), abs=0.012)
    _, exact = drawn(**dials, slope=1.0, intercept=0.0, noise=1e-12)
    assert exact.rating[:, 0, 0].var() / exact.reference[:, 0].var() == pytest.approx(0.7, abs=0.02)


@pytest.mark.parametrize("levels", [2, 5])
def test_ratings_have_their_levels(levels):
    dials = {"noise": 0.3, "slope": 0.5, "intercept": 0.25}
    _, draw = drawn(**dials, levels=levels)
    whole = drawn(**dials)[1].rating
    assert set(np.unique(draw.rating)) == set(np.linspace(0, 1, levels))
    inside = (whole > 0) & (whole < 1)
    assert np.abs(draw.rating - whole)[inside].max() <= 0.5 / (levels - 1) + 1e-12
    assert (draw.rating[whole > 1] == 1).all()
    assert (draw.rating[whole < 0] == 0).all()


def test_without_humans_no_estimator_of_the_human_scale_answers_and_the_others_are_relative_to_judges():
    _, draw = drawn(humans=False, self_bias=0.1)
    assert not draw.has_human_scores
    assert not draw.reference.any()
    trial = Trial(draw, 0.9, 1, 99)
    assert ESTIMATORS["C_mixed"].answers(trial)["self_bias", "Model 1"].estimate == pytest.approx(
        0.1, abs=0.15
    )


def test_judges_with_a_hole_between_them_have_no_rows_of_each_other():
    world, draw = drawn(hole=True)
    first, second = (world.names[model] for model in world.judge_model[:2])
    factors = draw.moments().factors
    pairs = {*zip(factors["judge"].tolist(), factors["model"].tolist(), strict=True)}
    assert {(first, second), (second, first)}.isdisjoint(pairs)
    assert len(pairs) == len(world.judge_model) * len(world.names) - 2
    (block,) = draw.row_blocks(EVERY_ROW, factors)
    sums = np.bincount(block.group, block.rating, len(factors["judge"]))
    assert sums == pytest.approx(draw.moments().tensor[:, 0, 0, 0, RATING])
