"""The ordinal fit against R, statsmodels, the likelihood written row by row, planted values;
reasons in place of numbers.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import ROOT
from designs_on_rows import term_places
from ordinal_world import (
    derivative,
    design_from,
    expanded,
    log_probabilities,
    on_a_scale_of_hundred,
    simulated,
    terms_for,
    with_ratings,
)
from recuse.base.errors import DesignError
from recuse.base.reasons import Reason, because, code, parse
from recuse.data.moments import RowBlock
from recuse.model.gam import fit_gam
from recuse.model.ordinal import fit_ordinal, recession
from recuse.model.prompt_sums import RowsOfCells
from recuse.validation.statsmodels import improve

GOLDEN = ROOT / "tests" / "golden" / "polr_by_dimension_faithfulness.csv"
PREFIX = {
    "intercept": "judge{}",
    "slope": "judge{}:gt",
    "self_bias": "same_judge{}",
    "family_bias": "same_family{}",
}


def free_places(fit):
    return [place for place in range(len(fit.point)) if place != fit.reference]


@pytest.mark.mirror
def test_faithfulness_equals_polr(published):
    """R's human score is on the rubric's scale of 0 to 4, so its slopes and their errors are a
    quarter of ours.
    """
    cells = published.cells()
    cells = cells.select(cells.factors["dimension"] == "Faithfulness")
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance="classical")
    free = free_places(fit)
    names = [PREFIX[term.quantity].format(term.term) for term in terms]
    names = np.array([*names, *fit.threshold_labels])[free]
    golden = pd.read_csv(GOLDEN, index_col="term")
    assert {*names} == {*golden.index}
    golden = golden.loc[names]
    scale = np.where(np.strings.endswith(names, ":gt"), 4.0, 1.0)
    assert_allclose(fit.point[free] / scale, golden["estimate_tight"], rtol=0, atol=1e-6)
    assert -2 * fit.log_likelihood == pytest.approx(golden["deviance_tight"].iloc[0], abs=1e-8)
    assert (fit.n, fit.rank, fit.remarks) == (golden["n"].iloc[0], len(golden), ())
    assert_allclose(fit.std_error[free] / scale, golden["std_error_tight"], rtol=2e-5)


def test_an_unknown_covariance_is_refused_and_not_taken_for_another():
    cells = simulated()
    with pytest.raises(ValueError, match="no covariance HC3"):
        fit_ordinal(cells, terms_for(cells), covariance="HC3")
    with pytest.raises(ValueError, match="no covariance HC3"):
        fit_gam(cells, terms_for(cells), covariance="HC3")


def test_fit_equals_the_likelihood_by_rows():
    cells = simulated()
    terms = terms_for(cells)
    fits = {
        covariance: fit_ordinal(cells, terms, covariance=covariance)
        for covariance in ("classical", "HC0", "HC1")
    }
    fit = fits["classical"]
    places = free_places(fit)

    def scores(point):
        return derivative(lambda p: log_probabilities(cells, terms, p), point, places)

    by_row = scores(fit.point)  # (parameters, rows)
    assert fit.log_likelihood == pytest.approx(
        log_probabilities(cells, terms, fit.point).sum(), abs=1e-10
    )
    assert_allclose(by_row.sum(axis=1), 0.0, atol=1e-8)
    inverse = np.linalg.inv(-derivative(lambda p: scores(p).sum(axis=1), fit.point, places))
    sandwich = inverse @ by_row @ by_row.T @ inverse
    n = by_row.shape[1]
    k = len(places)
    assert (fit.n, fit.rank) == (n, k)
    expected = {"classical": inverse, "HC0": sandwich, "HC1": sandwich * n / (n - k)}
    for covariance, matrix in expected.items():
        assert_allclose(
            fits[covariance].covariance[np.ix_(places, places)], matrix, rtol=1e-6, atol=1e-9
        )
    assert np.isnan(fit.covariance[fit.reference]).all()


def test_rows_are_in_their_cells_though_a_human_score_is_rounded_differently():
    """Their scores summed by prompt are tested in test_fit, against statsmodels."""
    cells = simulated(seed=1)
    rows = expanded(cells)
    rating = rows.counts.argmax(axis=1)
    blocks = [
        RowBlock(part, rows.group[part], rating[part] / 3, [rows.reference[part] * (1 + 1e-15)])
        for part in np.array_split(np.arange(len(rating)), 2)
    ]
    by_prompt = RowsOfCells(cells, np.arange(len(cells.factors["judge"])), lambda: blocks)
    found = []

    def scores(prompt, cell, rating):
        found.extend(zip(cells.group[cell], cells.reference[cell], rating, strict=True))
        return np.zeros((len(prompt), 1))

    assert by_prompt.squared_scores(scores)[1] == len(rating)
    assert found == [*zip(rows.group, rows.reference, rating, strict=True)]


def test_check_detects_a_fit_that_stops_early():
    cells = simulated(3)
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance="HC0")
    point = fit.point.copy()
    point[1] += 0.1
    short = log_probabilities(cells, terms, point).sum()
    gain, movement = improve(
        cells, terms, replace(fit, point=point, estimate=point, log_likelihood=short)
    )
    assert gain == pytest.approx(fit.log_likelihood - short, abs=1e-3)
    assert gain > 0.1
    assert movement > 0.05
    gain, _ = improve(cells, terms, replace(fit, log_likelihood=fit.log_likelihood + 0.5))
    assert gain == pytest.approx(-0.5, abs=1e-6)


def test_marginal_effect_is_the_mean_difference_over_the_rows():
    cells = simulated(5)
    cells.counts[::3] *= 4  # cells do not weigh the same
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance="HC0")
    rows = expanded(cells)
    k = len(terms)
    places = free_places(fit)
    design = design_from(rows, terms)

    def expected_rating(point, eta):
        below = 1 / (1 + np.exp(eta[:, None] - point[k:]))
        return np.diff(below, axis=1, prepend=0.0, append=1.0) @ np.linspace(0, 1, 4)

    for place, term in enumerate(terms):
        if term.quantity not in ("self_bias", "family_bias"):
            assert np.isnan(fit.effect[place])
            continue
        self_rows = design[design[:, place] == 1]

        def effect(point, self_rows=self_rows, place=place):
            eta = self_rows @ point[:k]
            return (expected_rating(point, eta) - expected_rating(point, eta - point[place])).mean()

        assert fit.effect[place] == pytest.approx(effect(fit.point), abs=1e-12)
        slope = derivative(effect, fit.point, places)
        variance = slope @ fit.covariance[np.ix_(places, places)] @ slope
        assert fit.effect_std_error[place] == pytest.approx(np.sqrt(variance), rel=1e-8)


def test_dimensions_of_different_scales_have_no_common_fit():
    cells = simulated(dimensions=("q", "r"))
    scale = cells.scale.copy()
    scale[cells.factor("dimension") == "r"] = [0, 6]
    with pytest.raises(DesignError, match=r"found 0 to 3, 0 to 6: write `slice: dimension`"):
        fit_ordinal(replace(cells, scale=scale), terms_for(cells), covariance="HC0")


SHOWN = ("estimate", "std_error", "effect", "effect_std_error")


def fitted(cells):
    terms = terms_for(cells)
    fit = fit_ordinal(cells, terms, covariance="HC0")
    return term_places(terms), fit


def own_rows(cells, judge):
    return (cells.factor("judge") == judge) & (cells.factor("model") == judge)


def assert_same(one, other, *, without=()):
    """The two fits, (places, fit), have the same numbers for the terms of `other` but those
    `without`, and thresholds.
    """
    (places, fit), (others, reduced) = one, other
    compared = [key for key in others if key not in without]
    assert len(compared) > 5
    for name in SHOWN:
        ours = getattr(fit, name)[[places[k] for k in compared]]
        theirs = getattr(reduced, name)[[others[k] for k in compared]]
        assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10, err_msg=name)
    for name in ("estimate", "std_error"):
        thresholds = getattr(fit, name)[len(places) :]
        their_thresholds = getattr(reduced, name)[len(others) :]
        assert_allclose(thresholds, their_thresholds, rtol=1e-8, err_msg=name)
    assert fit.log_likelihood == pytest.approx(reduced.log_likelihood, abs=1e-9)


def assert_same_numbers(one, other, terms):
    """Two fits, (places, fit), have the same estimates and standard errors of some terms."""
    for key, name in product(terms, ("estimate", "std_error")):
        ours, theirs = (getattr(fit, name)[places[key]] for places, fit in (one, other))
        assert ours == pytest.approx(theirs, rel=1e-8), key


def without_numbers(places, fit):
    """The terms without numbers and their notes; asserts that each has a note and no number."""
    keys = [
        key
        for key, place in places.items()
        if np.isnan(fit.estimate[place]) and place != fit.reference
    ]
    for place in (places[key] for key in keys):
        assert all(np.isnan(getattr(fit, name)[place]) for name in SHOWN)
        assert np.isnan(fit.covariance[place]).all()
        assert fit.notes[place]
    return {key: fit.notes[places[key]] for key in keys}


def dropped(cells, rows):
    """The cells without these rows, and without groups that have none."""
    counts = np.where(rows[:, None], 0, cells.counts)
    kept = replace(cells, counts=counts)
    return kept.select(kept.sum_by_group(counts.sum(axis=1)) > 0)


@pytest.mark.parametrize(("rating", "end"), [(3, "highest"), (0, "lowest")])
def test_self_bias_of_rows_at_one_end_is_infinite(rating, end):
    cells = simulated(1)
    self_rows = own_rows(cells, "b")
    cells = with_ratings(cells, self_rows, rating)
    places, fit = fitted(cells)
    reason = because(Reason.ONE_END, n=30, rating=rating, end=end)
    assert without_numbers(places, fit) == {("self_bias", "b"): reason}
    assert len(fit.remarks) == 1
    # Its own rows have probability 1 in the limit, whatever the rest is: the rest is as if they
    # were not there.
    assert_same((places, fit), fitted(dropped(cells, self_rows)))


def test_judge_of_one_rating_has_no_finite_terms_and_does_not_affect_others():
    cells = simulated(2)
    always = cells.factor("judge") == "b"
    cells = with_ratings(cells, always, 3)
    places, fit = fitted(cells)
    notes = without_numbers(places, fit)
    rows = {("intercept", "b"): 120, ("slope", "b"): 96, ("self_bias", "b"): 30}
    assert notes == {
        key: because(Reason.ONE_END, n=n, rating=3, end="highest") for key, n in rows.items()
    }
    # The family-bias of a and b is that of a. Its marginal effect would average over b's rows,
    # whose ratings are at the limit.
    effect = fit.effect[places["family_bias", "x"]]
    assert np.isnan(effect)
    assert fit.notes[places["family_bias", "x"]] == because(Reason.NO_MARGINAL_EFFECT)
    reduced = fitted(dropped(cells, always))
    assert_same((places, fit), reduced, without=[("family_bias", "x")])
    assert_same_numbers((places, fit), reduced, [("family_bias", "x")])


def test_reference_judge_of_one_rating_takes_intercepts_and_thresholds_with_it():
    cells = simulated(2)
    always = cells.factor("judge") == "a"
    cells = with_ratings(cells, always, 3)
    places, fit = fitted(cells)
    notes = without_numbers(places, fit)
    assert set(notes) == {("intercept", j) for j in "bcd"} | {("slope", "a"), ("self_bias", "a")}
    assert parse(notes["intercept", "b"])[1]["others"].startswith(
        "intercept of c, intercept of d, "
    )
    assert np.isnan(fit.estimate[len(places) :]).all()
    assert all(code(note) is Reason.SEPARATED for note in fit.notes[len(places) :])
    others, reduced = fitted(dropped(cells, always))
    kept = [("self_bias", "b"), ("self_bias", "d"), ("slope", "c"), ("family_bias", "y")]
    assert_same_numbers((places, fit), (others, reduced), kept)


def test_a_rating_of_separated_rows_alone_takes_its_threshold_with_it():
    cells = simulated(1)
    self_rows = own_rows(cells, "b")
    cells.counts[:, 2] += cells.counts[:, 3]
    cells = with_ratings(cells, self_rows, 3)
    cells.counts[~self_rows, 3] = 0
    places, fit = fitted(cells)
    assert set(without_numbers(places, fit)) == {("self_bias", "b")}
    assert np.isnan(fit.estimate[len(places) :]).tolist() == [False, False, True]
    kept = [("self_bias", "d"), ("slope", "c"), ("family_bias", "y")]
    assert_same_numbers((places, fit), fitted(dropped(cells, self_rows)), kept)


def recession_by_rows(cells, terms, reference):
    """Which parameters some direction of recession or of constancy changes, by linear programs on
    the rows.
    """
    from scipy.optimize import linprog

    rows = expanded(cells)
    used = rows.counts.any(axis=0)
    rating = rows.counts[:, used].argmax(axis=1)
    top = used.sum() - 1
    design = design_from(rows, terms)
    design[:, reference] = 0.0
    bounds = np.eye(top + 1)[:, :top]
    upper = np.hstack([-design, bounds[rating]])[rating < top]
    lower = np.hstack([design, -bounds[rating - 1]])[rating > 0]
    kept = -np.unique(np.concatenate([upper, lower]), axis=0)

    def farthest(cost):
        return -linprog(cost, A_ub=kept, b_ub=np.zeros(len(kept)), bounds=(-1, 1)).fun

    units = np.eye(kept.shape[1])
    return np.array([max(farthest(unit), farthest(-unit)) > 1e-6 for unit in units])


def test_undetermined_parameters_are_detected_in_tiny_studies():
    """Studies of one row a cell, where every kind of separation happens, against linear programs on
    all rows.
    """
    separated = 0
    for seed in range(15):
        cells = simulated(seed, per_cell=1, top=1 + seed % 3, judges="abc")
        terms = terms_for(cells)
        fit = fit_ordinal(cells, terms, covariance="HC0")
        moved = recession_by_rows(cells, terms, fit.reference)
        finite = ~np.isnan(fit.estimate)
        assert (finite == ~moved).all(), seed
        # At the limit nothing rises any more.
        point = fit.point
        assert log_probabilities(cells, terms, point).sum() == pytest.approx(
            fit.log_likelihood, abs=1e-8
        )
        slope = derivative(
            lambda p, c=cells, t=terms: log_probabilities(c, t, p).sum(),
            point,
            range(len(point)),
            step=1e-4,
        )
        assert np.abs(slope).max() < 1e-6
        separated += bool(fit.remarks)
    assert 2 < separated < 15


def test_linear_program_is_over_what_the_rows_of_a_judge_do_not_fix(monkeypatch):
    """Ratings 0 to 100, each row with its own human score: no cell has two ratings, but a judge's
    rows overlap.
    """
    programs = []

    def spied(gains):
        programs.append(gains.shape)
        return recession(gains)

    monkeypatch.setattr("recuse.model.ordinal.recession", spied)
    cells = on_a_scale_of_hundred()
    self_rows = own_rows(cells, "b")
    highest = with_ratings(cells, self_rows, 100)
    places, fit = fitted(highest)
    assert [free for _, free in programs] == [1]
    assert set(without_numbers(places, fit)) == {("self_bias", "b")}
    assert_same((places, fit), fitted(dropped(highest, self_rows)))


def test_check_accepts_a_separated_fit():
    cells = simulated(1)
    cells = with_ratings(cells, own_rows(cells, "b"), 3)
    terms = terms_for(cells)
    gain, movement = improve(cells, terms, fit_ordinal(cells, terms, covariance="HC0"))
    assert abs(gain) < 1e-8
    assert movement < 1e-5


def test_unused_rating_is_left_out_with_its_threshold():
    cells = simulated(6)
    counts = cells.counts.copy()
    counts[:, 1] += counts[:, 2]
    counts[:, 2] = 0
    _, fit = fitted(replace(cells, counts=counts))
    assert fit.threshold_labels == ("0|1", "1|3")
    assert fit.remarks == ("no row has the rating 2: thresholds are between the ratings in use",)
    counts = counts[:, [0, 1, 3]]
    scale = np.tile([0, 2], (len(counts), 1))
    _, same = fitted(replace(cells, counts=counts, ratings=np.arange(3), scale=scale))
    assert_array_equal(fit.estimate, same.estimate)
    assert same.remarks == ()
    # The ratings 0, 1, 3 of 3 are 0, 1/3, 1 of the unit scale, not 0, 1/2, 1.
    assert np.nanmax(np.abs(fit.effect - same.effect)) > 1e-3


def test_unused_ratings_are_ranges_in_one_remark():
    cells = simulated(6, top=12)
    for rating in (0, 3, 7, 8, 9, 12):
        cells.counts[:, rating] = 0
    _, fit = fitted(cells)
    assert fit.remarks == (
        "no row has the ratings 0, 3, 7 to 9, 12: thresholds are between the ratings in use",
    )
    assert fit.threshold_labels == ("1|2", "2|4", "4|5", "5|6", "6|10", "10|11")


def test_ratings_beyond_the_scale_of_the_slice_are_not_unused():
    cells = simulated(6)
    wide = np.concatenate([cells.counts, np.zeros((len(cells.counts), 3), dtype=np.int64)], axis=1)
    _, fit = fitted(replace(cells, counts=wide, ratings=np.arange(7)))
    assert fit.remarks == ()
    assert fit.threshold_labels == ("0|1", "1|2", "2|3")


def test_rows_of_one_rating_estimate_nothing():
    cells = simulated(6)
    cells = with_ratings(cells, np.ones(len(cells.group), dtype=bool), 2)
    places, fit = fitted(cells)
    notes = without_numbers(places, fit)
    assert set(notes) == set(places) - {("intercept", "a")}
    assert set(notes.values()) == {because(Reason.ONE_RATING, n=480, rating=2)}
    assert (fit.threshold_labels, fit.log_likelihood, fit.rank, fit.n) == ((), 0.0, 0, 480)
    assert improve(cells, terms_for(cells), fit) == (0.0, 0.0)


def test_collinear_terms_are_not_identified_and_do_not_affect_the_others():
    """Judge c's completions all have one human score: its intercept and slope are collinear, its
    self-bias is not.
    """
    cells = simulated(7)
    reference = np.where(cells.factor("judge") == "c", 0.5, cells.reference)
    cells = replace(cells, reference=reference)
    found, fit = fitted(cells)
    reason = because(Reason.COLLINEAR)
    assert without_numbers(found, fit) == {("intercept", "c"): reason, ("slope", "c"): reason}
    assert fit.remarks == ()
    terms = [term for term in terms_for(cells) if (term.quantity, term.term) != ("slope", "c")]
    reduced = fit_ordinal(cells, terms, covariance="HC0")
    assert_same((found, fit), (term_places(terms), reduced), without=[("intercept", "c")])
    assert reduced.rank == fit.rank
