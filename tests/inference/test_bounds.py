"""Refits to complete blocks and bounds by missing ratings: against rows selected and filled in by hand."""

from dataclasses import replace

import numpy as np
import pytest

from recuse.base.tables import BOUNDS, write_table
from recuse.inference.bounds import ALL_ROWS, ANY, COMPLETE, OWN, bounds_rows, refits_by_method
from recuse.inference.refit import refit
from recuse.model.design import estimable_terms
from recuse.model.estimates import estimate
from recuse.model.spec import Spec
from recuse.montecarlo.estimators import try_estimators
from recuse.montecarlo.world import DrawnStudy, MonteCarloWorld

EQUATION = Spec.of("main", covariance="CR1")
BY_JUDGES = EQUATION.changed(absorb="completion").selection
WORLD = MonteCarloWorld(families=(2, 1, 1), dimensions=2, prompts=30, intercept=0.3, slope=0.5, noise=0.2, missing=0.2)


def drawn():
    """Ratings that are missing of oneself, and here and there of others; of one completion all are."""
    draw = WORLD.draw(np.random.default_rng(5))
    present = draw.present & (np.random.default_rng(6).random(draw.present.shape) > 0.03)
    present[3, 0, :, 2] = False
    return replace(draw, present=present)


def by_hand(draw: DrawnStudy, present, rating=None):
    """The fit and errors CR1 of Equation 1 on the ratings that are `present`."""
    study = replace(draw, present=present, rating=draw.rating if rating is None else rating)
    moments = study.moments()
    (fitted,) = refit(EQUATION, moments, study.row_blocks(EQUATION.selection, moments.factors))
    return fitted.result


def by_method(draw):
    judges = np.unique(draw.factors["judge"])
    return dict(
        refits_by_method(EQUATION, draw.moments(BY_JUDGES), judges, lambda factors: draw.row_blocks(BY_JUDGES, factors))
    )


@pytest.fixture(scope="module")
def refits():
    draw = drawn()
    return draw, by_method(draw)


def test_complete_blocks_are_the_completions_that_all_judges_rated(refits):
    draw, fits = refits
    whole = draw.present.all(axis=2, keepdims=True) & np.ones_like(draw.present)
    assert 0.2 < whole.mean() < 0.9
    for method, present in ((ALL_ROWS, draw.present), (COMPLETE, whole)):
        expected, result = by_hand(draw, present), fits[method].result
        np.testing.assert_allclose(result.estimate, expected.estimate, rtol=1e-9)
        np.testing.assert_allclose(result.covariance, expected.covariance, rtol=1e-8, atol=1e-15)
        assert (result.n, result.df) == (present.sum(), expected.df)


def lacking(draw, *, own):
    """Ratings that are missing of completions that some judge rated, where the judge rated others; or its own alone."""
    due = draw.present.any(axis=(0, 3), keepdims=True)
    missing = ~draw.present & draw.present.any(axis=2, keepdims=True) & due
    return missing & np.eye(4, dtype=bool) if own else missing


def estimates_of(draw, missing, rating):
    """The biases, with these ratings for the missing ones."""
    result = by_hand(draw, draw.present | missing, np.where(missing, rating, draw.rating))
    terms = estimable_terms(EQUATION, draw.factors)
    own = [place for place, term in enumerate(terms) if term.quantity in ("self_bias", "family_bias")]
    return [(terms[place].quantity, terms[place].term) for place in own], result.estimate[own], result.std_error[own]


@pytest.mark.parametrize("methods", [OWN, ANY])
def test_bounds_are_fits_with_each_missing_rating_at_its_worst(refits, methods):
    draw, fits = refits
    missing = lacking(draw, own=methods is OWN)
    names, at_0, _ = estimates_of(draw, missing, 0.0)
    weights = np.zeros((len(names), *missing.shape))  # of each missing rating in each bias: its effect when it goes to 1
    for place in zip(*np.nonzero(missing), strict=True):
        one = np.zeros(missing.shape)
        one[place] = 1.0
        weights[:, *place] = estimates_of(draw, missing, one)[1] - at_0
    kept = [place for place, name in enumerate(names) if methods is ANY or name[0] == "self_bias"]
    for method, sign in zip(methods, (-1, 1), strict=True):
        each = fits[method]
        assert [(term.quantity, term.term) for term in each.terms] == [names[place] for place in kept]
        assert (each.result.n, each.result.df, each.prompts) == ((draw.present | missing).sum(), 29, 30)
        for at, place in enumerate(kept):
            _, expected, error = estimates_of(draw, missing, sign * weights[place] > 1e-12)
            assert each.result.estimate[at] == pytest.approx(expected[place], abs=1e-10)
            assert each.result.std_error[at] == pytest.approx(error[place], rel=1e-7)
    if methods is OWN:  # not only its own missing ratings move the bias of a judge, and these with either sign
        others = weights[1, ..., [0, 2, 3], [0, 2, 3]]
        assert others.min() < -1e-6 < 1e-6 < others.max()


def test_a_bias_is_between_its_bounds_whatever_is_missing(refits):
    draw, fits = refits
    missing = lacking(draw, own=False)
    low, high = (fits[method].result.estimate for method in ANY)
    for seed in range(12):  # each judge's missing ratings at random ends of the scale, and all at random
        random = np.random.default_rng(seed)
        guess = random.integers(2, size=(1, 1, 4, 4)) if seed % 2 else random.random(missing.shape)
        _, estimate, _ = estimates_of(draw, missing, np.broadcast_to(guess, missing.shape))
        assert ((low <= estimate) & (estimate <= high)).all()
    assert ((high - low) > 0.02).all()


def test_rows_of_a_study(twin, tmp_path):
    spec = EQUATION.changed(slice="dimension", whole=True)
    rows = list(bounds_rows(spec, twin, confidence=0.9))
    plain = {
        (row["slice"], row["quantity"], row["term"]): row
        for row in estimate(spec.changed(covariance="CR1"), twin, confidence=0.9).estimates
    }
    every = [row for row in rows if row["method"] == ALL_ROWS]
    assert len(every) == len(plain)
    for row in every:
        expected = plain[row["slice"], row["quantity"], row["term"]]
        names = ("estimate", "std_error", "ci_low", "ci_high", "p_value", "n", "n_term")
        np.testing.assert_allclose([row[name] for name in names], [expected[name] for name in names], rtol=1e-8, atol=1e-12)
    n = {method: next(row["n"] for row in rows if row["method"] == method) for method in (ALL_ROWS, COMPLETE, *OWN, *ANY)}
    assert n[COMPLETE] < n[ALL_ROWS] < n[OWN[0]] == n[OWN[1]] < n[ANY[0]] == n[ANY[1]]
    quantities = {method: {row["quantity"] for row in rows if row["method"] == method} for method in (*OWN, *ANY)}
    of_all = {"self_bias", "family_bias"}
    assert quantities == {method: {"self_bias"} if method in OWN else of_all for method in (*OWN, *ANY)}
    ends = {(row["method"], row["slice"], row["quantity"], row["term"]): row["estimate"] for row in rows}
    for row in (row for row in every if row["quantity"] in ("self_bias", "family_bias")):
        key = (row["slice"], row["quantity"], row["term"])
        assert ends[ANY[0], *key] - 1e-12 <= row["estimate"] <= ends[ANY[1], *key] + 1e-12
    write_table(tmp_path / "bounds.csv", BOUNDS, rows)


def test_a_judge_of_some_dimensions_does_not_break_the_blocks_of_others(twin):
    """Where a judge rated nothing of a dimension, its blocks are complete without it."""
    draw = drawn()
    present = draw.present.copy()
    present[:, 0, 1] = False
    draw = replace(draw, present=present)
    fits = by_method(draw)
    due = present[:, 0][:, [0, 2, 3]].all(axis=1)
    rows = 3 * due.sum() + 4 * present[:, 1].all(axis=1).sum()
    assert fits[COMPLETE].result.n == rows
    # Nor are its ratings of that dimension missing ones.
    for methods in (OWN, ANY):
        missing = lacking(draw, own=methods is OWN)
        assert not missing[:, 0, 1].any()
        assert fits[methods[0]].result.n == (present | missing).sum()
    moments = draw.moments(BY_JUDGES)
    assert refit(EQUATION, moments.select(np.zeros_like(moments.n, dtype=bool)), []) == []


def test_low_own_ratings_that_are_missing_are_in_the_bounds_alone():
    """Complete blocks do not correct for ratings that are missing because of the rating itself."""
    world = MonteCarloWorld(families=(2, 1, 1), dimensions=1, prompts=60, intercept=0.3, slope=0.5, noise=0.2, missing=0.2)
    names = ["A_CR1", "A_complete_blocks", "A_bounds"]
    rows = try_estimators(world, names, key="missing", replicates=40, draws=9, confidence=0.9, seed=2)
    covered = {row["estimator"]: row["value"] for row in rows if (row["term"], row["statistic"]) == ("Model 4", "covered")}
    assert max(covered["A_CR1"], covered["A_complete_blocks"]) < 0.5
    assert covered["A_bounds"] > 0.95
