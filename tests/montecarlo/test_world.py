"""Worlds drawn as arrays: they contain what is planted, and the sums are those of the rows."""

import numpy as np
import pytest

from recuse.data.selection import EVERY_ROW
from recuse.model.design import estimable_terms
from recuse.montecarlo.estimators import EQUATION, ESTIMATORS, MODEL, WITH_LENGTH, Trial
from recuse.montecarlo.world import RATERS, MonteCarloWorld

SMALL = {"families": (2, 1, 2), "dimensions": 2, "prompts": 12, "intercept": 0.3, "slope": 0.5, "noise": 0.2}
TROUBLES = {"length_preference": 0.1, "missing": 0.2, "reliability": 0.6, "prompt_shock": 0.1, "completion_shock": 0.1}


def drawn(seed=1, **dials):
    world = MonteCarloWorld(**{**SMALL, **dials})
    return world, world.draw(np.random.default_rng(seed))


def rows(draw, selection=EVERY_ROW):
    """u = (1, rating, human score[, length]) of every row, its group and its prompt."""
    (block,) = draw.row_blocks(selection, draw.factors)
    return np.stack([np.ones(len(block.rating)), block.rating, *block.covariates], axis=1), block.group, block.prompt


def test_without_noise_a_rating_is_the_sum_of_what_is_planted():
    world, draw = drawn(noise=1e-12, self_bias=0.07, family_bias=0.03)
    rest = draw.rating - 0.3 - 0.5 * draw.reference[:, :, None]
    biases = rest.mean(axis=(0, 1))  # (J, M)
    own = [0.07, 0.0, 0.07, 0.0, 0.07]
    same_family = [0.03, 0.03, 0.0, 0.03, 0.03]  # of the first and the third family; the second has one model
    expected = np.diag(own)
    for one, other in ((0, 1), (3, 4)):
        expected[one, other] = expected[other, one] = same_family[one]
    assert biases == pytest.approx(expected, abs=1e-9)
    assert world.planted["self_bias"]["Model 1"] == 0.07
    assert world.planted["family_bias"] == {"Family 1": 0.03, "Family 3": 0.03}


@pytest.mark.parametrize(("dials", "selection"), [({}, EVERY_ROW), (TROUBLES, EVERY_ROW), (TROUBLES, WITH_LENGTH.selection)])
def test_moments_are_those_of_the_rows(dials, selection):
    _, draw = drawn(**dials)
    u, group, _ = rows(draw, selection)
    expected = np.stack([np.einsum("ri,rj,rk,rl->ijkl", *[u[group == g]] * 4) for g in range(len(draw.factors["judge"]))])
    assert draw.moments(selection).tensor == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_rows_have_their_group_and_prompt():
    _, draw = drawn(length_preference=0.1)
    u, group, prompt = rows(draw, WITH_LENGTH.selection)
    d, j, m = np.unravel_index(group, draw.rating.shape[1:])
    assert (u[:, 1] == draw.rating[prompt, d, j, m]).all()
    assert (u[:, 2] == draw.reference[prompt, d, m]).all()
    assert (u[:, 3] == draw.length[prompt, 0, m]).all()
    assert (draw.factors["judge"][group] == np.array([f"Model {j + 1}" for j in j])).all()


def test_reliability_is_the_share_of_the_true_score_in_the_reference():
    quality_alone = {"slope": 1.0, "intercept": 0.0, "noise": 1e-12, "prompts": 6000, "dimensions": 1, "quality_gap": 0.3}
    _, draw = drawn(**quality_alone, reliability=0.55)
    true = draw.rating[:, 0].mean(axis=1)  # (P, M)
    assert true.var() / draw.reference.var() == pytest.approx(0.55, abs=0.015)
    one, other = draw.raters[..., 0] - true[:, None], draw.raters[..., 1] - true[:, None]
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


def test_estimators_are_fits_to_the_rows():
    """Equation 1, CR1: least squares and Stata's sandwich on dummies."""
    _, draw = drawn(**{key: TROUBLES[key] for key in ("prompt_shock", "reliability")}, self_bias=0.05)
    for name, spec in (("A_CR1", EQUATION), ("B_CR1", MODEL)):
        answers, terms = ESTIMATORS[name].answers(Trial(draw, 0.9, 1, 99)), estimable_terms(spec, draw.factors)
        u, group, prompt = rows(draw)
        carried = np.stack([term.carried[group] * u[:, [0, 2][term.regressor]] for term in terms], axis=1)
        estimate = np.linalg.lstsq(carried, u[:, 1], rcond=None)[0]
        residual = u[:, 1] - carried @ estimate
        scores = np.stack([carried[prompt == p].T @ residual[prompt == p] for p in range(12)])
        bread, (n, k) = np.linalg.inv(carried.T @ carried), carried.shape
        error = np.sqrt((bread @ scores.T @ scores @ bread).diagonal() * 12 / 11 * (n - 1) / (n - k))
        for place, term in enumerate(terms):
            if term.quantity in ("self_bias", "family_bias"):
                answer = answers[term.quantity, term.term]
                assert answer.estimate == pytest.approx(estimate[place], abs=1e-10)
                assert answer.ci_high - answer.estimate == pytest.approx(1.7958848 * error[place], rel=1e-6)  # t of 11
    assert len(answers) == 7
