"""The closed form of what a study would find against fits to simulated worlds, and a plan taken from a study."""

import math
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from scipy.stats import t

from recuse.inference.idiosyncrasy import IdiosyncrasyDesign
from recuse.inference.judge_model import CellMeans, cell_means
from recuse.inference.power import (
    BY_MODEL,
    NEVER,
    NOT_ESTIMABLE,
    OVERSIZED,
    TERMS,
    UNKNOWN_PREFERENCES,
    Expected,
    PlannedStudy,
    _of_every_judge,
    expected,
    noncentrality,
    power_by_judge,
    power_rows,
    repeated,
    size,
    study_like,
)
from recuse.model.covariance import fit
from recuse.model.design import regressors_of, terms_of
from recuse.model.estimable import slices_of
from recuse.model.spec import A, C, Spec
from recuse.montecarlo.world import MonteCarloWorld

WORLD = MonteCarloWorld(
    families=[2, 2, 1],
    dimensions=2,
    prompts=30,
    intercept=0.2,
    slope=0.6,
    noise=0.2,
    preference=0.04,
    shared_preference=0.02,
    quality_gap=0.2,
    reliability=0.55,
)
DRAWS = 700


def plan_of(world):
    """The plan of a world: three raters, whose error makes its reliability over all models."""
    quality = 0.7 + world.quality_gap * np.linspace(-0.5, 0.5, len(world.names))
    error = math.sqrt(3 * (0.15**2 + quality.var()) * (1 / world.reliability - 1))
    family = [world.family_names[place] for place in world.family_of]
    return PlannedStudy(
        judges=world.names,
        models=world.names,
        family=family,
        quality=quality,
        slope=[world.slope] * len(quality),
        prompts=world.prompts,
        dimensions=world.dimensions,
        raters=3,
        noise=[world.noise] * len(quality),
        preference=world.preference,
        shared_preference=world.shared_preference,
        quality_spread=0.15,
        rater_error=error,
    )


def plan_for(plan, self_bias):
    return power_by_judge(plan, judges=plan.judges, prompts=[plan.prompts], self_bias=self_bias, power=0.8, confidence=0.9)


def estimates(world, draws, seed):
    """Self-biases by estimand, (draws, judges), and whether the own test at 10 % rejects."""
    generator = np.random.default_rng(seed)
    result = {estimand: ([], []) for estimand in (*TERMS, C)}
    idiosyncrasy = None
    for _ in range(draws):
        moments = world.draw(generator).moments()
        for estimand, names in TERMS.items():
            terms = [term for term in terms_of(moments.factors, names=(*names, "dimension")) if term.carried.any()]
            fitted = fit(moments, regressors_of(terms, len(moments.n), 2))
            own = [place for place, term in enumerate(terms) if term.quantity == "self_bias"]
            result[estimand][0].append(fitted.estimate[own])
            result[estimand][1].append(np.abs(fitted.estimate[own] / fitted.std_error[own]) > 1.6448536)
        cells = cell_means(moments)
        idiosyncrasy = idiosyncrasy or IdiosyncrasyDesign(cells, seed=1, draws=1)
        rows = [row for row in idiosyncrasy.test(cells.mean) if row.quantity == "self_bias" and row.term in world.names]
        result[C][0].append([row.estimate for row in rows])
        result[C][1].append([row.p_value < 0.1 for row in rows])
    return {estimand: (np.array(values), np.array(rejected)) for estimand, (values, rejected) in result.items()}


@pytest.fixture(scope="module")
def simulated():
    return estimates(WORLD, DRAWS, seed=1)


@pytest.mark.parametrize("estimand", [A, BY_MODEL, C])
def test_errors_biases_and_sizes_are_those_of_simulated_studies(simulated, estimand):
    plan = plan_of(WORLD)
    values, rejected = simulated[estimand]
    planned_for = [expected(plan, judge, estimand=estimand) for judge in plan.judges]
    errors = np.array([each.std_error for each in planned_for])
    np.testing.assert_allclose(values.std(axis=0), errors, rtol=4 / math.sqrt(2 * DRAWS))
    mean = np.array([each.bias for each in planned_for])
    np.testing.assert_allclose(values.mean(axis=0), mean, rtol=0, atol=4 * errors.max() / math.sqrt(DRAWS))
    sizes = [size(each, confidence=0.9) for each in planned_for]
    np.testing.assert_allclose(rejected.mean(axis=0), sizes, rtol=0, atol=0.06)
    if estimand == A:
        assert mean[0] < -0.03 < 0.025 < mean[-1]  # a noisy reference takes the better model for a favoured one
        assert min(sizes) > 0.35
    else:
        np.testing.assert_allclose(mean, 0, atol=1e-12)


def test_detectable_bias_is_found_with_the_power(simulated):
    """A gap is a gap: adding it to the simulated estimates, the t-test of C finds it as often as planned."""
    plan = plan_of(WORLD)
    rows = [row for row in plan_for(plan, 0.1) if row["estimand"] == C]
    biased = replace(WORLD, self_bias=float(np.mean([row["detectable"] for row in rows])))
    _, rejected = estimates(biased, 300, seed=2)[C]
    assert rejected.mean() == pytest.approx(0.8, abs=0.05)


def weights_of_rows(estimand, plan, judge, reference):
    """What each rating adds to the estimate, (J, M, n), from least squares on dummies; reference: (M, n).

    A judge rates the first completions of a model, as many as the plan has rows for them.
    """
    places = np.indices((len(plan.judges), *reference.shape)).reshape(3, -1)
    is_rated = places[2] < plan.rows[places[0], places[1]]
    j, m, gt = places[0][is_rated], places[1][is_rated], reference[places[1], places[2]][is_rated]
    family = np.array(plan.family)
    dummies = (j[:, None] == np.arange(len(plan.judges))).astype(float)
    own, same = (j == m), (family[j] == family[m]) & (j != m)
    if estimand == C:
        cells = dummies[:, :, None] * (m[:, None] == np.arange(len(plan.models)))[:, None]
        cells = cells.reshape(len(j), -1)  # (rows, J M)
        within = np.linalg.pinv(np.concatenate([cells, dummies * gt[:, None]], axis=1))[: cells.shape[1]]  # y = r_jm + b_j gt
        row, column = np.indices((len(plan.judges), len(plan.models))).reshape(2, -1)
        additive = np.concatenate(
            [row[:, None] == np.arange(len(plan.judges)), column[:, None] == np.arange(len(plan.models))], 1
        )
        idiosyncrasy = (family[row] != family[column]) & (plan.rows.ravel() > 0)
        at = np.flatnonzero((row == column) & (row == plan.judges.index(judge)))[0]
        result = within[at] - additive[at] @ np.linalg.pinv(additive[idiosyncrasy].astype(float)) @ within[idiosyncrasy]
    else:
        columns = [dummies, dummies * gt[:, None], dummies * own[:, None]]
        columns += [(same & (family[j] == name))[:, None] for name in np.unique(family)]
        columns += [m[:, None] == np.arange(1, len(plan.models))] if estimand == BY_MODEL else []
        result = np.linalg.pinv(np.concatenate(columns, axis=1).astype(float))[2 * len(plan.judges) + plan.judges.index(judge)]
    weights = np.zeros(len(is_rated))
    weights[is_rated] = result
    return weights.reshape(len(plan.judges), *reference.shape)


SPARSE = np.ones((5, 5))
SPARSE[:, 1] = 0.5  # of a model
SPARSE[0, 4], SPARSE[3] = 0.0, 0.5  # one cell, and a judge


@pytest.mark.parametrize("share", [None, SPARSE])
@pytest.mark.parametrize("estimand", [A, BY_MODEL, C])
def test_errors_are_those_of_the_weights_of_the_rows(estimand, share):
    """Two or four completions with references at quality -+ standard deviation have the moments that the closed form reads."""
    plan = replace(plan_of(WORLD), prompts=2, slope=[0.9, 0.2, 0.5, 0.7, 0.4], noise=[0.1, 0.4, 0.2, 0.3, 0.2], share=share)
    spread = math.sqrt(0.15**2 + plan.rater_error**2 / 3)
    reliability = 0.15**2 / spread**2
    quality = np.array(plan.quality)[:, None]
    reference = quality + spread * np.array([-1, 1, -1, 1])
    slope = np.array(plan.slope)[:, None, None]
    for judge in plan.judges:
        result, weights = expected(plan, judge, estimand=estimand), weights_of_rows(estimand, plan, judge, reference)
        cells = weights.sum(axis=2)
        floor = plan.preference**2 * (cells**2).sum() + plan.shared_preference**2 * (cells.sum(axis=0) ** 2).sum()
        of_quality = 0.15**2 * (1 - reliability) * ((slope * weights).sum(axis=0) ** 2).sum()
        assert result.floor == pytest.approx(math.sqrt(floor), rel=1e-9)
        of_noise = ((np.array(plan.noise)[:, None, None] * weights) ** 2).sum()
        assert result.std_error == pytest.approx(math.sqrt(of_noise + of_quality + floor), rel=1e-9)
        assert result.bias == pytest.approx(
            (weights * slope * (quality + reliability * (reference - quality))).sum(), abs=1e-12
        )


def test_a_model_of_few_answers_has_the_error_and_the_false_alarms_of_simulated_studies():
    """Eight of 100 prompts in three dimensions: its judge needs a much larger bias, and C alone takes all cells alike."""
    families, share = ["a", "a", "a", "b", "b", "c", "c", "d", "d"], np.ones((9, 9))
    share[:, 0] = 0.08
    names = [f"Model {number}" for number in range(9)]
    like = {"judges": names, "models": names, "family": families, "share": share, "noise": [0.2] * 9, "slope": [0.6] * 9}
    like |= {"quality": [0.5] * 9, "preference": 0.01, "shared_preference": 0.0, "rater_error": 0.0}
    world = replace(plan_of(WORLD), prompts=100, dimensions=3, **like)
    factors = (world.factors[name] for name in ("judge", "model", "judge_family", "model_family"))
    design = IdiosyncrasyDesign(CellMeans(*factors, *np.zeros((2, 81))))
    tables = np.random.default_rng(1).normal(size=(2000, 81)) * np.sqrt(0.01**2 + 0.2**2 / world.rows.ravel())
    tested = [design.test(table)[:9] for table in tables]
    values = np.array([[row.estimate for row in rows] for rows in tested])
    rejected = np.array([[row.p_value < 0.1 for row in rows] for rows in tested])
    results = [expected(world, name, estimand=C) for name in names]
    np.testing.assert_allclose(values.std(axis=0), [each.std_error for each in results], rtol=0.06)
    np.testing.assert_allclose(rejected.mean(axis=0), [size(each, confidence=0.9) for each in results], atol=0.06)
    rows = {row["judge"]: row for row in plan_for(world, 0.02) if row["estimand"] == C}
    assert rows["Model 0"]["detectable"] > 2 * rows["Model 8"]["detectable"]
    assert rows["Model 0"]["size"] == pytest.approx(0.40, abs=0.01)
    assert [rows["Model 0"]["detectable"], rows["Model 8"]["detectable"]] == pytest.approx([0.116, 0.047], abs=0.001)
    planted = tables + rows["Model 0"]["detectable"] * (np.arange(81) == 0)
    critical = np.quantile(np.abs(values[:, 0]), 0.9)  # of a test of the right size
    assert np.mean([abs(design.test(table)[0].estimate) > critical for table in planted]) == pytest.approx(0.8, abs=0.06)


def test_the_closed_form_of_c_is_the_exact_prediction_error():
    """Three families of two: se^2 = (noise^2 / n + preference^2) (1 + x'(X'X)^-1 x)."""
    world = MonteCarloWorld(families=[2, 2, 2], dimensions=3, prompts=50, intercept=0.2, slope=0.6, noise=0.2, preference=0.03)
    result = expected(plan_of(world), "Model 1", estimand=C)
    cells = [(j, m) for j in range(6) for m in range(6) if j // 2 != m // 2]
    x = np.array([[*(j == k for k in range(6)), *(m == k for k in range(6))] for j, m in cells], dtype=float)
    own = np.array([1.0, 0, 0, 0, 0, 0] * 2)
    factor = 1 + own @ np.linalg.pinv(x.T @ x) @ own
    assert result.std_error == pytest.approx(math.sqrt((0.2**2 / 150 + 0.03**2) * factor), rel=1e-10)
    assert result.floor == pytest.approx(0.03 * math.sqrt(factor), rel=1e-10)
    assert result.df == len(cells) - np.linalg.matrix_rank(x)


def test_prompts_needed_make_the_bias_detectable_and_the_floor_forbids():
    plan = plan_of(replace(WORLD, preference=0.01, shared_preference=0.0))
    for self_bias in (0.06, 0.1):
        for row in plan_for(plan, self_bias):
            delta = noncentrality(row["df"], power=0.8, confidence=0.9)
            needed = replace(plan, prompts=row["prompts_needed"])
            fewer = replace(plan, prompts=row["prompts_needed"] - 1)
            enough, not_enough = (expected(p, row["judge"], estimand=row["estimand"]).std_error for p in (needed, fewer))
            assert delta * enough <= self_bias < delta * not_enough
        for estimand in (*TERMS, C):
            rows = [row for row in plan_for(plan, self_bias) if row["estimand"] == estimand]
            for_all = replace(plan, prompts=max(row["prompts_needed"] for row in rows))
            own = [size(expected(for_all, row["judge"], estimand=estimand), confidence=0.9) for row in rows]
            assert [row["size_needed"] for row in rows] == pytest.approx(own, rel=1e-9)
    for row in plan_for(plan, 0.02):
        assert row["prompts_needed"] == math.inf
        limit = expected(replace(plan, prompts=10**9), row["judge"], estimand=row["estimand"])
        assert limit.std_error == pytest.approx(row["floor"], rel=1e-4)


@pytest.mark.parametrize("estimand", [A, BY_MODEL, C])
def test_more_prompts_need_no_new_plan(estimand):
    plan = plan_of(WORLD)
    more, result = (expected(replace(plan, prompts=count), "Model 2", estimand=estimand) for count in (210, 30))
    assert vars(result.with_prompts(7)) == pytest.approx(vars(more), rel=1e-9, abs=1e-12)
    sparse = replace(plan, share=SPARSE, noise=[0.1, 0.4, 0.2, 0.3, 0.2])
    more, result = (expected(replace(sparse, prompts=count), "Model 2", estimand=estimand) for count in (210, 30))
    assert vars(result.with_prompts(7)) == pytest.approx(vars(more), rel=1e-9, abs=1e-12)


def test_raters_take_the_bias_of_a_away_and_models_add_degrees_of_freedom():
    plan = plan_of(WORLD)
    biases = [abs(expected(replace(plan, raters=raters), "Model 1", estimand=A).bias) for raters in (1, 3, 30, 10**9)]
    assert biases == sorted(biases, reverse=True)
    assert biases[-1] < 1e-8
    one, twice = (expected(each, "Model 1", estimand=C) for each in (plan, repeated(plan, 2)))
    assert (one.df, twice.df) == (7, 45)
    assert plan.preference < twice.floor < one.floor  # towards the preference itself, never below


def test_what_a_plan_cannot_estimate_has_no_numbers():
    plan = replace(plan_of(WORLD), family=["one"] * 5)  # no cell is neither self nor family
    for row in plan_for(plan, 0.1):
        assert "std_error" not in row


def test_noncentrality_has_the_power():
    delta = noncentrality(7, power=0.8, confidence=0.9)
    generator = np.random.default_rng(3)
    statistic = (generator.standard_normal(100_000) + delta) / np.sqrt(generator.chisquare(7, 100_000) / 7)
    assert (statistic > t.ppf(0.95, 7)).mean() == pytest.approx(0.8, abs=0.005)


def test_a_plan_like_a_study_has_the_numbers_that_were_planted():
    world = MonteCarloWorld((3, 2, 2, 2), 1, 4000, intercept=0.3, slope=0.5, noise=0.2, preference=0.02, reliability=0.6)
    drawn = [world.draw(np.random.default_rng(seed)).moments() for seed in range(8)]
    plans = [study_like(Spec.of("main"), moments, 0.6, 3.0) for moments in drawn]
    assert np.mean([plan.slope for plan in plans]) == pytest.approx(0.5, abs=0.005)
    assert np.sqrt(np.mean([plan.preference**2 for plan in plans])) == pytest.approx(0.02, rel=0.1)
    of_three = [replace(plan, raters=3) for plan in plans]
    assert [plan.reliability for plan in of_three] == pytest.approx([0.6] * 8)
    # What the reference misses of the quality is noise of a rating: slope^2 (1 - reliability) of its variance.
    missed = [0.25 * 0.4 * plan.quality_spread**2 for plan in of_three]
    noise = [np.mean(np.square(plan.noise)) for plan in plans]
    assert noise == pytest.approx([0.04 + more for more in missed], rel=0.05)


def test_the_preference_is_what_the_noise_of_the_cells_leaves():
    """With 30 prompts the noise of a cell mean is more than twice as large as the preference."""
    world = MonteCarloWorld((3, 2, 2, 2), 1, 30, intercept=0.3, slope=0.5, noise=0.25, preference=0.02)
    plans = [study_like(Spec.of("main"), world.draw(np.random.default_rng(seed)).moments(), 1.0, 1.0) for seed in range(25)]
    # A preference that would be below 0 is 0: on average of squares some too much.
    assert 0.016 <= np.sqrt(np.mean([plan.preference**2 for plan in plans])) <= 0.026


def test_noise_is_that_of_each_judge(twin):
    """From rows: squares of each judge's residuals of Equation 1 over its rows, times n / (n - rank) of all."""
    (_, moments), *_ = slices_of(Spec.of("main"), twin)
    plan = study_like(Spec.of("main"), moments, 1.0, 1.0)
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


def test_an_unknown_preference_is_not_taken_for_none(twin):
    """Three models of two families: floor, size and the prompts that are needed are not known either."""
    gone = ["Llama 3 8B", "Llama 3 70B", "Mistral 7B", "Mistral Large", "Claude v2", "GPT-3.5 Turbo"]
    spec = Spec.of("few", subset={"models_dropped": gone})
    (_, moments), *_ = slices_of(spec, twin)
    assert np.isnan(study_like(spec, moments, 1.0, 1.0).preference)
    asked = {"self_bias": 0.02, "power": 0.8, "prompts": [50, 500], "raters": [1], "copies": [1, 2], "confidence": 0.9}
    rows = list(power_rows(spec, twin, [], **asked))
    assert {row["note"] for row in rows} <= {UNKNOWN_PREFERENCES, NOT_ESTIMABLE}
    assert any(row["note"] == UNKNOWN_PREFERENCES for row in rows if row["estimand"] == A)
    assert not any({"floor", "size", "prompts_needed"} & row.keys() for row in rows)
    known = list(power_rows(Spec.of("main"), twin, [], **asked))
    assert all("floor" in row and row.get("note") != UNKNOWN_PREFERENCES for row in known)


def test_raters_make_no_rows_where_the_reliability_is_not_known(twin):
    """The human scores are then taken to be exact, which any number of raters would be."""
    asked = {"self_bias": 0.02, "power": 0.8, "prompts": [50, 500], "raters": [1, 3], "copies": [1], "confidence": 0.9}
    unknown = list(power_rows(Spec.of("main"), twin, [], **asked))
    assert {row["raters"] for row in unknown} == {None}
    known = list(power_rows(Spec.of("main"), twin, [{"mean": "0.6", "raters": "3"}], **asked))
    assert {row["raters"] for row in known} == {1, 3}
    assert len(known) == 2 * len(unknown)
    bias = [abs(row["bias"]) for row in unknown if row["estimand"] == A]
    assert max(bias) < 1e-9 < 1e-3 < min(abs(row["bias"]) for row in known if row["estimand"] == A)


def test_an_estimate_without_error_is_never_a_false_alarm():
    for df in (3.0, math.inf):
        assert size(Expected(0.0, 0.0, 0.0, 0.0, df), confidence=0.9) == 0
        assert size(Expected(0.0, 0.0, 0.1, 0.0, df), confidence=0.9) == 1
    names, numbers = ["x", "y"], {"dimensions": 1, "raters": 1, "shared_preference": 0.0, "quality_spread": 0.1}
    like = {"judges": names, "models": names, "family": names, "quality": [0.5, 0.6], "slope": [1.0, 1.0], "preferences": None}
    exact = PlannedStudy(**like, **numbers, prompts=5, noise=[0.0, 0.0], rater_error=0.0)
    rows = [row for row in plan_for(exact, 0.1) if "size" in row]
    assert [(row["prompts_needed"], row["size"], row["size_needed"]) for row in rows] == [(1, 0, 0)] * len(rows)
    assert rows
