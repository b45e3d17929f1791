"""A plan taken from a study holds what was planted in the study."""

from dataclasses import replace

import duckdb
import numpy as np
import pytest

from recuse.inference.power import (
    NEVER,
    NOT_ESTIMABLE,
    OVERSIZED,
    UNKNOWN_PREFERENCES,
    _of_every_judge,
    balanced_study_like,
    power_rows,
)
from recuse.model.design import terms_of
from recuse.model.spec import A, Spec
from recuse.model.terms import slices_of
from recuse.montecarlo.world import ValidityWorld


def test_a_plan_like_a_study_has_the_numbers_that_were_planted():
    world = ValidityWorld((3, 2, 2, 2), 1, 4000, intercept=0.3, slope=0.5, noise=0.2, taste=0.02, reliability=0.6)
    drawn = [world.draw(np.random.default_rng(seed)).moments for seed in range(8)]
    plans = [balanced_study_like(Spec.of("main"), moments, 0.6, 3.0) for moments in drawn]
    assert np.mean([plan.slope for plan in plans]) == pytest.approx(0.5, abs=0.005)
    assert np.sqrt(np.mean([plan.preference**2 for plan in plans])) == pytest.approx(0.02, rel=0.1)
    of_three = [replace(plan, raters=3) for plan in plans]
    assert [plan.reliability for plan in of_three] == pytest.approx([0.6] * 8)
    # What the reference misses of the quality is noise of a rating: slope^2 (1 - reliability) of its variance.
    missed = [0.25 * 0.4 * plan.quality_spread**2 for plan in of_three]
    noise = [np.mean(np.square(plan.noise)) for plan in plans]
    assert noise == pytest.approx([0.04 + more for more in missed], rel=0.05)


def test_the_taste_is_what_the_noise_of_the_cells_leaves():
    """With 30 prompts the noise of a cell mean is more than twice as large as the taste."""
    world = ValidityWorld((3, 2, 2, 2), 1, 30, intercept=0.3, slope=0.5, noise=0.25, taste=0.02)
    plans = [
        balanced_study_like(Spec.of("main"), world.draw(np.random.default_rng(seed)).moments, 1.0, 1.0) for seed in range(25)
    ]
    # A taste that would be below 0 is 0: on average of squares some too much.
    assert 0.016 <= np.sqrt(np.mean([plan.preference**2 for plan in plans])) <= 0.026


def test_noise_is_that_of_each_judge(twin):
    """From rows: squares of each judge's residuals of Equation 1 over its rows, times n / (n - rank) of all."""
    (_, moments), *_ = slices_of(Spec.of("main"), twin)
    plan = balanced_study_like(Spec.of("main"), moments, 1.0, 1.0)
    frame = duckdb.sql(f"select * from '{twin.ratings[0]}'").df()
    names = ("judge", "model", "judge_family", "model_family", "dimension")
    factors = {name: frame[name].to_numpy(dtype=str) for name in names}
    values = (1.0, frame["gt_unit"].to_numpy())
    x = np.stack([term.carried * values[term.regressor] for term in terms_of(factors) if term.carried.any()], axis=1)
    y = frame["rating_unit"].to_numpy()
    squares = (y - x @ np.linalg.lstsq(x, y)[0]) ** 2
    expected = [np.sqrt(squares[factors["judge"] == judge].mean() * len(y) / (len(y) - x.shape[1])) for judge in plan.judges]
    assert plan.noise == pytest.approx(expected, rel=1e-9)


def test_numbers_of_a_design_hold_for_every_judge():
    one = {"judge": "one", "std_error": 0.01, "floor": 0.004, "delta": 2.5, "detectable": 0.025, "size": 0.1, "bias": 0.001}
    other = {**one, "floor": 0.002, "detectable": 0.02, "size": 0.3, "bias": -0.02, "prompts_needed": 90, "size_needed": 0.19}
    rows = [{**one, "prompts_needed": 120, "size_needed": 0.11}, other]
    expected = {"detectable": 0.025, "detectable_least": 0.02, "floor": 0.01, "size": 0.3, "bias": -0.02}
    assert _of_every_judge(rows, True, 0.1) == {**expected, "prompts_needed": 120}
    too_often = [rows[0], {**other, "size_needed": 0.21}]
    assert _of_every_judge(too_often, True, 0.1) == {**expected, "prompts_needed": 120, "note": OVERSIZED}
    never = [{**one, "prompts_needed": np.inf, "size_needed": np.nan}, other]
    assert _of_every_judge(never, True, 0.1) == {**expected, "note": NEVER}
    least = {key: expected[key] for key in ("detectable", "detectable_least", "bias")}
    assert _of_every_judge(rows, False, 0.1) == {**least, "note": UNKNOWN_PREFERENCES}
    assert _of_every_judge([{"judge": "one"}, {"judge": "other"}], True, 0.1) == {"note": NOT_ESTIMABLE}


def test_an_unknown_taste_is_not_taken_for_none(twin):
    """Three models of two families: floor, size and the prompts that are needed are not known either."""
    gone = ["Llama 3 8B", "Llama 3 70B", "Mistral 7B", "Mistral Large", "Claude v2", "GPT-3.5 Turbo"]
    spec = Spec.of("few", subset={"models_dropped": gone})
    (_, moments), *_ = slices_of(spec, twin)
    assert np.isnan(balanced_study_like(spec, moments, 1.0, 1.0).preference)
    asked = {"gamma": 0.02, "power": 0.8, "prompts": [50, 500], "raters": [1], "copies": [1, 2], "confidence": 0.9}
    rows = list(power_rows(spec, twin, [], **asked))
    assert {row["note"] for row in rows} <= {UNKNOWN_PREFERENCES, NOT_ESTIMABLE}
    assert any(row["note"] == UNKNOWN_PREFERENCES for row in rows if row["estimand"] == A)
    assert not any({"floor", "size", "prompts_needed"} & row.keys() for row in rows)
    known = list(power_rows(Spec.of("main"), twin, [], **asked))
    assert all("floor" in row and row.get("note") != UNKNOWN_PREFERENCES for row in known)


def test_raters_make_no_rows_where_the_reliability_is_not_known(twin):
    """The human scores are then taken to be exact, which any number of raters would be."""
    asked = {"gamma": 0.02, "power": 0.8, "prompts": [50, 500], "raters": [1, 3], "copies": [1], "confidence": 0.9}
    unknown = list(power_rows(Spec.of("main"), twin, [], **asked))
    assert {row["raters"] for row in unknown} == {None}
    known = list(power_rows(Spec.of("main"), twin, [{"mean": "0.6", "raters": "3"}], **asked))
    assert {row["raters"] for row in known} == {1, 3}
    assert len(known) == 2 * len(unknown)
    bias = [abs(row["bias"]) for row in unknown if row["estimand"] == A]
    assert max(bias) < 1e-9 < 1e-3 < min(abs(row["bias"]) for row in known if row["estimand"] == A)
