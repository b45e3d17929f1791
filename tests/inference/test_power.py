"""The closed form of what a study would find against fits to simulated worlds, and a plan taken
from a study.
"""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import yaml
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy.special import ndtr
from scipy.stats import nct, norm, t
from test_mixed import Twin

from designs_on_rows import (
    carried_terms,
    design_on_rows,
    frame_on_rows,
    regressors_on_rows,
    term_places,
)
from picked_rows import fields, where
from recuse.base.reasons import Reason, code
from recuse.inference.mixed import CellTable, MixedFit, Preferences
from recuse.inference.power import (
    BY_MODEL,
    CALIBRATION,
    TERMS,
    Expected,
    PlannedStudy,
    _of_every_judge,
    detectable_bias,
    expected,
    moderated,
    power_by_judge,
    power_rows,
    reaches,
    repeated,
    size,
    study_like,
    with_reaches,
)
from recuse.inference.robustness import Estimate
from recuse.model.spec import A, C, Spec
from recuse.validation.world import MonteCarloWorld

SIZE, OTHERS = yaml.safe_load("""
- {families: [2, 2, 1], dimensions: 2, prompts: 30, intercept: 0.2, slope: 0.6, noise: 0.2}
- {preference: [0.03, 0.05], quality_gap: 0.2, reliability: 0.55}
""")
WORLD = MonteCarloWorld(**SIZE, **OTHERS)
OF_NINE = SIZE | {"families": [3, 2, 2, 2], "dimensions": 3, "prompts": 100, "preference": 0.02}
NINE = MonteCarloWorld(**OF_NINE)
LEVEL = {"self_bias": 0.02, "power": 0.8, "confidence": 0.9}


def preferences(spread, *, ratios=(-20, -20, -20), tau=0.01, effects=None):
    """Those of judges with these standard deviations, who prefer each model for itself, and models
    that differ in nothing.
    """
    spread = np.asarray(spread, dtype=float)
    return Preferences(
        spread,
        np.array(ratios, dtype=float),
        tau,
        np.zeros(len(spread)) if effects is None else effects,
    )


def power_plan(world):
    """The plan of a world: three raters, whose error makes its reliability over all models."""
    quality = 0.7 + world.quality_gap * np.linspace(-0.5, 0.5, len(world.names))
    error = math.sqrt(3 * (0.15**2 + quality.var()) * (1 / world.reliability - 1))
    count = len(quality)
    family = [world.family_names[place] for place in world.model_family]
    return PlannedStudy(
        judges=world.names,
        models=world.names,
        family=family,
        quality=quality,
        slope=[world.slope] * count,
        prompts=world.prompts,
        dimensions=world.dimensions,
        raters=3,
        noise=[world.noise] * count,
        preferences=preferences(world.by_one("preference")),
        quality_spread=0.15,
        rater_error=error,
    )


def plan_for(plan, self_bias):
    return power_by_judge(
        plan,
        judges=plan.judges,
        prompts=[plan.prompts],
        self_bias=self_bias,
        power=0.8,
        confidence=0.9,
    )


def by_hand(plan):
    """The table of the cells of a plan whose judges are the models, and the mixed model planned
    for it.
    """
    j, m = np.nonzero(plan.rows)
    names, family = np.array(plan.models), np.array(plan.family)
    sampling = np.square(plan.noise)[j] / plan.rows[j, m]
    table = CellTable.named(names[j], names[m], family[j], family[m], sampling)
    return MixedFit(table, plan=plan.preferences)


def supports(gaps, errors, *, draws=20_000):
    """Probability that the bias of the first judge is above 0 by the priors of the hierarchy,
    (studies,); gaps: (studies, J).
    """
    random = default_rng(7)
    mean, scale = 0.03 * random.standard_normal((2, draws, 1))
    stretched = scale**2 / random.exponential(size=(draws, len(errors)))
    precision = 1 / (errors**2 + stretched)
    constant = 0.5 * np.log(precision).sum(axis=1)
    found = []
    for each in gaps:
        density = constant - 0.5 * ((each - mean) ** 2 * precision).sum(axis=1)
        weight = np.exp(density - density.max())
        variance = 1 / (1 / errors[0] ** 2 + 1 / stretched[:, 0])
        expectation = variance * (each[0] / errors[0] ** 2 + mean[:, 0] / stretched[:, 0])
        positive = ndtr(expectation / np.sqrt(variance))
        found.append((weight * positive).sum() / weight.sum())
    return np.array(found)


@pytest.mark.parametrize("first", [pytest.param(0.012, marks=pytest.mark.long), 0.035])
def test_the_bias_that_is_established_is_found_with_that_power(first):
    errors = np.array([first, 0.02, 0.025, 0.018, 0.03])
    (reach, *_) = reaches(errors, np.full(5, 1e5), confidence=0.9)
    assert reach > CALIBRATION  # not cut off at 1
    exact = reach / CALIBRATION  # here the sums leave nothing out
    size = detectable_bias(first, 1e5, power=0.8, confidence=0.9, reach=exact)
    gaps = errors * default_rng(8).standard_normal((300, 5))
    gaps[:, 0] += size
    found = (supports(gaps, errors) >= 0.95) & (gaps[:, 0] > 1.645 * first)
    assert found.mean() == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("others", [(0.0, 0.0, 0.0), (0.02, -0.01, 0.01), (0.05, -0.05, 0.0)])
def test_the_estimate_to_reach_follows_from_those_of_the_others(others):
    errors = np.array([0.02, 0.02, 0.025, 0.018])
    estimates = np.array([0.3, *others])  # its own does not matter
    (reach, *_) = reaches(errors, np.full(4, 1e5), estimates, confidence=0.9)
    assert reach > CALIBRATION
    gaps = np.array([[reach / CALIBRATION * 1.645 * errors[0], *others]])
    assert supports(gaps, errors, draws=200_000) == pytest.approx(0.95, abs=0.01)


@pytest.mark.filterwarnings("error")
def test_an_estimate_far_off_leaves_what_its_own_judge_has_to_reach():
    errors = np.array([0.004, 0.02, 0.025, 0.018])
    df = np.full(4, 20.0)
    first = [
        reaches(errors, df, np.array([own, 0.02, -0.01, 0.0]), confidence=0.9)[0]
        for own in (0.0, 0.02, 0.4)
    ]
    assert first == pytest.approx([first[0]] * 3)


def test_what_has_to_be_reached_holds_for_a_bias_to_either_side():
    judges = {
        name: Estimate(estimate=value, std_error=0.02, t_df=40.0)
        for name, value in {"J": 0.0, "K": 0.05, "L": 0.06, "M": 0.04}.items()
    }
    turned = {name: replace(each, estimate=-each.estimate) for name, each in judges.items()}
    reach, other = (
        [each.reach for each in with_reaches(group, is_plan=False, confidence=0.9).values()]
        for group in (judges, turned)
    )
    assert reach == other
    assert reach[0] > 1.5


def test_what_has_to_be_reached_has_a_limit_as_degrees_of_freedom_increase():
    errors = np.array([0.01, 0.02, 0.03])
    many, most = (reaches(errors, np.full(3, df), confidence=0.9) for df in (1e5, 1e18))
    assert_allclose(most, many, rtol=1e-3)


def test_an_estimate_without_error_leaves_what_others_have_to_reach():
    judges = {name: Expected(0.02, 0.0, 0.0, 20.0, 20.0) for name in "JK"}
    exact = {"L": Expected(0.0, 0.0, 0.0, 20.0, 20.0)}
    found = with_reaches(judges | exact, confidence=0.9)
    assert found == with_reaches(judges, confidence=0.9) | exact


def test_judges_that_do_not_rate_their_own_answers_do_not_change_what_has_to_be_reached():
    """No number of them tells how large self-biases are, but errors and degrees of freedom do."""
    plan = power_plan(NINE)
    share = np.ones((len(plan.judges), len(plan.models)))
    share[range(3, 9), range(3, 9)] = 0.0
    plan = replace(plan, share=share)
    alone = {judge: expected(plan, judge, estimand=C) for judge in plan.judges[:3]}
    for row in where(plan_for(plan, 0.05), estimand=C):
        if row["judge"] in alone:
            detectable = with_reaches(alone, confidence=0.9)[row["judge"]].detectable(0.8, 0.9)
            assert row["detectable"] == pytest.approx(detectable)
        else:
            assert code(row["reason"]) is Reason.NO_OWN_ANSWERS


def test_errors_of_judges_tell_one_another():
    """Against sums over a grid of the mean and standard deviation of log errors."""
    errors = np.array([0.01, 0.02, 0.03, 0.05])
    df = np.array([3.0, 8.0, 5.0, 20.0])
    log = np.log(errors)
    noise = 1 / (2 * df)
    m, h = np.meshgrid(np.linspace(-7, 0, 701), np.linspace(0.005, 3, 400))
    density = norm.pdf(h) * norm.pdf(log, m[..., None], np.sqrt(noise + h[..., None] ** 2)).prod(-1)
    weight = (density / density.sum())[..., None]
    left = 1 / (1 / noise + 1 / h[..., None] ** 2)
    each = left * (log / noise + m[..., None] / h[..., None] ** 2)
    mean = (weight * each).sum(axis=(0, 1))
    variance = (weight * (left + (each - mean) ** 2)).sum(axis=(0, 1))
    new, known = moderated(errors, df)
    assert_allclose(np.log(new), mean, rtol=2e-3)
    assert_allclose(known, 1 / (2 * variance), rtol=2e-2)
    assert errors[0] < new[0] < new[3] < errors[3]


def dense(plan, judge):
    """Weights of the cells in a judge's gap, their variance without that by sampling, and df, from
    one matrix for all cells.
    """
    fit = by_hand(plan)
    assert fit.preferences.tau == pytest.approx(plan.preferences.tau)
    twin = Twin(fit, fit.table.sampling)
    cell = np.flatnonzero(fit.table.is_self)[plan.judges.index(judge)]
    row = twin.against_others(fit.parameters, cell)
    variance, df = fit.errors(row[None]).of(np.ones(1))  # test_mixed tests the variance
    v = twin.covariance(fit.parameters)
    gradient = row @ twin.derivatives(fit.parameters) @ row
    spread = np.linalg.inv(fit.information)
    satterthwaite = max(1.0, 2 * (row @ v @ row) ** 2 / (gradient @ spread @ gradient))
    assert df == pytest.approx(min(satterthwaite, fit.table.additive.df), rel=1e-6)
    return row, variance - row**2 @ fit.table.sampling, satterthwaite


def weights_of_rows(estimand, plan, judge, reference):
    """What each rating adds to the estimate, (J, M, n), from least squares on rows; reference:
    (M, n).

    A judge rates the first completions of a model, as many as the plan has rows for them.
    """
    j, m, completion = np.nonzero(np.arange(reference.shape[1]) < plan.rows[..., None])
    gt = reference[m, completion]
    if estimand == C:
        cells = np.eye(plan.rows.size)[j * len(plan.models) + m]
        slopes = np.eye(len(plan.judges))[j] * gt[:, None]
        # Y = r_jm + b_j gt
        within = np.linalg.pinv(np.concatenate([cells, slopes], axis=1))[: plan.rows.size]
        result = dense(plan, judge)[0] @ within[plan.rows.ravel() > 0]
    else:
        names, family = np.array(plan.models), np.array(plan.family)
        factors = {"judge": names[j], "judge_family": family[j]}
        factors |= {"model": names[m], "model_family": family[m]}
        terms = carried_terms(factors, names=TERMS[estimand])
        result = np.linalg.pinv(regressors_on_rows(terms, gt))[
            term_places(terms)["self_bias", judge]
        ]
    weights = np.zeros((len(plan.judges), *reference.shape))
    weights[j, m, completion] = result
    return weights


SPARSE = np.ones((5, 5))
SPARSE[:, 1] = 0.5  # of a model
SPARSE[4, 0], SPARSE[3] = 0.0, 0.5  # one cell, and a judge


@pytest.mark.parametrize("share", [None, SPARSE])
@pytest.mark.parametrize("estimand", [A, BY_MODEL, C])
def test_errors_are_those_of_the_weights_of_the_rows(estimand, share):
    """Two or four completions with references at quality -+ standard deviation have the moments
    that the closed form reads.
    """
    plan = replace(
        power_plan(WORLD),
        prompts=2,
        slope=[0.9, 0.2, 0.5, 0.7, 0.4],
        noise=[0.1, 0.4, 0.2, 0.3, 0.2],
        share=share,
    )
    shared = preferences(
        [0.02, 0.07, 0.03, 0.05, 0.04],
        ratios=(-1.5, -1, -0.5),
        tau=0.5,
        effects=np.linspace(-0.1, 0.1, 5),
    )
    plan = replace(plan, preferences=shared)
    spread = math.sqrt(0.15**2 + plan.rater_error**2 / 3)
    reliability = 0.15**2 / spread**2
    quality = np.array(plan.quality)[:, None]
    reference = quality + spread * np.array([-1, 1, -1, 1])
    slope = np.array(plan.slope)[:, None, None]
    for judge in plan.judges:
        result = expected(plan, judge, estimand=estimand)
        weights = weights_of_rows(estimand, plan, judge, reference)
        cells = weights.sum(axis=2)
        floor = left = (plan.preferences.spread[:, None] ** 2 * cells**2).sum()
        if estimand == C:
            _, left, df = dense(plan, judge)
            _, floor, _ = dense(replace(plan, prompts=10**9), judge)
            assert result.df == pytest.approx(df, rel=1e-6)
        assert result.floor == pytest.approx(math.sqrt(floor), rel=1e-7 if estimand == C else 1e-9)
        of_quality = 0.15**2 * (1 - reliability) * ((slope * weights).sum(axis=0) ** 2).sum()
        of_noise = ((np.array(plan.noise)[:, None, None] * weights) ** 2).sum()
        assert result.std_error == pytest.approx(math.sqrt(of_noise + of_quality + left), rel=1e-9)
        assert result.bias == pytest.approx(
            (weights * slope * (quality + reliability * (reference - quality))).sum(), abs=1e-12
        )


def test_prompts_needed_make_the_bias_detectable_and_the_floor_forbids():
    plan = power_plan(
        MonteCarloWorld(**SIZE | OTHERS | {"families": [3, 2, 2, 2], "preference": [0.008, 0.012]})
    )
    self_bias = 0.1
    for row in plan_for(plan, self_bias):
        plans = [replace(plan, prompts=row["prompts_needed"] - fewer) for fewer in (0, 1)]
        if row["estimand"] == C:
            (again,) = where(plan_for(plans[0], self_bias), estimand=C, judge=row["judge"])
            # Critical values are those of the number of prompts that the study has
            assert again["detectable"] == pytest.approx(self_bias, rel=0.08)
            continue
        enough, not_enough = (
            expected(p, row["judge"], estimand=row["estimand"]).detectable(0.8, 0.9) for p in plans
        )
        assert enough <= self_bias < not_enough
    for estimand in (*TERMS, C):
        rows = where(plan_for(plan, self_bias), estimand=estimand)
        for_all = replace(plan, prompts=max(row["prompts_needed"] for row in rows))
        own = [
            size(expected(for_all, row["judge"], estimand=estimand), confidence=0.9) for row in rows
        ]
        assert [row["size_needed"] for row in rows] == pytest.approx(own, rel=1e-9)
    for row in plan_for(plan, 0.015):
        assert row["prompts_needed"] == math.inf
        limit = expected(replace(plan, prompts=10**9), row["judge"], estimand=row["estimand"])
        assert limit.std_error == pytest.approx(row["floor"], rel=1e-4)


@pytest.mark.parametrize("estimand", [A, BY_MODEL, C])
def test_more_prompts_need_no_new_plan(estimand):
    plan = power_plan(WORLD)
    for each in (plan, replace(plan, share=SPARSE, noise=[0.1, 0.4, 0.2, 0.3, 0.2])):
        more, result = (
            expected(replace(each, prompts=count), "Model 2", estimand=estimand)
            for count in (210, 30)
        )
        planned = result.with_prompts(7)
        if estimand == C:
            assert planned.std_error == pytest.approx(more.std_error, rel=0.05)
            assert planned.df == pytest.approx(more.df, rel=0.1)
            assert planned.floor == pytest.approx(more.floor, rel=1e-9)
        else:
            assert vars(planned) == pytest.approx(vars(more), rel=1e-9, abs=1e-12)


def test_raters_take_the_bias_of_a_away_and_models_add_degrees_of_freedom():
    plan = power_plan(WORLD)
    biases = [
        abs(expected(replace(plan, raters=raters), "Model 1", estimand=A).bias)
        for raters in (1, 3, 30, 10**9)
    ]
    assert biases == sorted(biases, reverse=True)
    assert biases[-1] < 1e-8
    copies = [expected(repeated(plan, times), "Model 1", estimand=C) for times in (4, 2, 1)]
    assert copies[2].df < copies[1].df < copies[0].df
    assert (
        plan.preferences.spread[0] < copies[0].floor
    )  # towards the preference itself, never below
    for name in ("std_error", "floor"):
        assert [getattr(each, name) for each in copies] == sorted(
            getattr(each, name) for each in copies
        )


def test_what_a_plan_cannot_estimate_has_no_numbers():
    plan = replace(power_plan(WORLD), family=["one"] * 5)  # no cell is neither self nor family
    for row in plan_for(plan, 0.1):
        assert "std_error" not in row
    idle = np.ones((5, 5))
    idle[4] = 0
    assert expected(replace(power_plan(WORLD), share=idle), "Model 5", estimand=C) is None


@pytest.mark.parametrize(("df", "bias"), [(7.0, 0.02), (math.inf, -0.015)])
def test_size_is_how_often_a_biased_estimate_is_rejected(df, bias):
    generator = default_rng(5)
    spread = 1.0 if df == math.inf else np.sqrt(generator.chisquare(df, 200_000) / df)
    ratio = (generator.standard_normal(200_000) + bias / 0.01) / spread
    planned = Expected(0.01, 0.0, bias, df, df)
    found = (np.abs(ratio) > t.ppf(0.95, df)).mean()
    assert size(planned, confidence=0.9) == pytest.approx(found, abs=0.005)


def test_a_detectable_bias_has_the_power():
    for df, power, confidence in product((1.0, 1.6, 1e6), (0.5, 0.8, 0.95, 0.999), (0.8, 0.99)):
        delta = detectable_bias(1.0, df, power=power, confidence=confidence)
        assert nct.sf(t.ppf((1 + confidence) / 2, df), df, delta) == pytest.approx(power, abs=1e-5)


def test_a_plan_like_a_study_has_the_numbers_that_were_planted():
    spread = np.linspace(0.01, 0.03, 9)
    world = MonteCarloWorld(
        families=[3, 2, 2, 2],
        dimensions=1,
        prompts=1500,
        intercept=0.3,
        slope=0.5,
        noise=0.2,
        preference=spread.tolist(),
        reliability=0.6,
    )
    drawn = [world.draw(default_rng(seed)) for seed in range(8)]
    plans = [study_like(Spec.of("main"), study, 0.6, 3.0) for study in drawn]
    assert np.mean([plan.slope for plan in plans]) == pytest.approx(0.5, abs=0.005)
    preference = np.sqrt(np.mean([plan.preferences.spread**2 for plan in plans], axis=0))
    assert preference == pytest.approx(spread, rel=0.35)
    assert preference.mean() == pytest.approx(0.02, rel=0.1)
    of_three = [replace(plan, raters=3) for plan in plans]
    assert [plan.reliability for plan in of_three] == pytest.approx([0.6] * 8)
    # What the reference misses of the quality is noise of a rating: slope^2 (1 - reliability) of
    # its variance.
    missed = [0.25 * 0.4 * plan.quality_spread**2 for plan in of_three]
    noise = [np.mean(np.square(plan.noise)) for plan in plans]
    assert noise == pytest.approx([0.04 + more for more in missed], rel=0.05)


def test_noise_is_that_of_each_judge(twin):
    """From rows: squares of each judge's residuals of Equation 1 over its rows, times n / (n -
    rank) of all.
    """
    plan = study_like(Spec.of("main"), twin, 1.0, 1.0)
    frame = frame_on_rows(twin)
    x, _ = design_on_rows(frame, Spec.of("main"))
    y = frame["rating_unit"].to_numpy()
    squares = (y - x @ np.linalg.lstsq(x, y)[0]) ** 2
    expected = [
        np.sqrt(squares[frame["judge"] == judge].mean() * len(y) / (len(y) - x.shape[1]))
        for judge in plan.judges
    ]
    assert plan.noise == pytest.approx(expected, rel=1e-9)


def test_numbers_of_a_design_hold_for_every_judge():
    one, other, expected = yaml.safe_load("""
      - &one {judge: one, std_error: 0.01, floor: 0.004, limit: 0.01, detectable: 0.025, size: 0.1, bias: 0.001}
      - {<<: *one, limit: 0.005, detectable: 0.02, size: 0.3, bias: -0.02, prompts_needed: 90, size_needed: 0.19}
      - {detectable: 0.025, detectable_least: 0.02, floor: 0.01, size: 0.3, bias: -0.02}
    """)
    rows = [{**one, "prompts_needed": 120, "size_needed": 0.11}, other]
    assert _of_every_judge(rows, True, 0.1) == {**expected, "prompts_needed": 120}
    too_often = [rows[0], {**other, "size_needed": 0.21}]
    assert _of_every_judge(too_often, True, 0.1) == {
        **expected,
        "prompts_needed": 120,
        "reason": Reason.OVERSIZED,
    }
    never = [{**one, "prompts_needed": np.inf, "size_needed": np.nan}, other]
    assert _of_every_judge(never, True, 0.1) == {**expected, "reason": Reason.FLOOR_ABOVE_AIM}
    least = {key: expected[key] for key in ("detectable", "detectable_least", "bias")}
    assert _of_every_judge(rows, False, 0.1) == {**least, "reason": Reason.UNKNOWN_PREFERENCES}
    assert _of_every_judge([{"judge": "one", "reason": "few_models"}], True, 0.1) == {
        "reason": "few_models"
    }


def test_an_unknown_preference_is_not_taken_for_none(twin):
    """Three models of two families: floor, size and the prompts that are needed are not known
    either.
    """
    gone = [
        "Llama 3 8B",
        "Llama 3 70B",
        "Mistral 7B",
        "Mistral Large",
        "Claude v2",
        "GPT-3.5 Turbo",
    ]
    spec = Spec.of("few", subset={"models_dropped": gone})
    assert study_like(spec, twin, 1.0, 1.0).preferences is None
    asked = LEVEL | {"prompts": [50, 500], "raters": [1], "copies": [1, 2]}
    rows = list(power_rows(spec, twin, [], **asked))
    assert {code(row["reason"]) for row in rows if row["estimand"] == C} <= {
        Reason.NOT_LINKED,
        Reason.FEW_CELLS,
    }
    assert any(row["reason"] == Reason.UNKNOWN_PREFERENCES for row in rows if row["estimand"] == A)
    assert not any({"floor", "size", "prompts_needed"} & row.keys() for row in rows)
    known = list(power_rows(Spec.of("main"), twin, [], **asked))
    assert all("floor" in row and row.get("reason") != Reason.UNKNOWN_PREFERENCES for row in known)


def test_a_plan_promises_no_verdict_that_the_fit_would_refuse():
    """Few prompts, few cells, a family of most models: the reasons of the fit; more prompts cure
    the first alone.
    """
    few = where(
        power_by_judge(power_plan(NINE), judges=["Model 1"], prompts=[9, 10], **LEVEL), estimand=C
    )
    assert [(code(row.get("reason", "")), "detectable" in row) for row in few] == [
        (Reason.FEW_PROMPTS, False),
        (None, True),
    ]
    at_once = list(
        power_by_judge(
            power_plan(NINE), judges=["Model 1"], prompts=[10], **LEVEL | {"self_bias": 5.0}
        )
    )
    assert [row["prompts_needed"] for row in at_once] == [1, 1, 10]
    for families, reason in (
        ([1, 1, 1, 1], None),
        ([2, 1, 1], Reason.FEW_CELLS),
        ([6, 1, 1, 1], Reason.DOMINANT_FAMILY),
    ):
        plan = power_plan(MonteCarloWorld(**OF_NINE | {"families": families}))
        rows = where(power_by_judge(plan, judges=["Model 1"], prompts=[500], **LEVEL), estimand=C)
        assert [(code(row.get("reason", "")), "prompts_needed" in row) for row in rows] == [
            (reason, reason is None)
        ]
    certain = expected(
        power_plan(MonteCarloWorld(**OF_NINE | {"families": [1, 1, 1, 1], "preference": 0.001})),
        "Model 1",
        estimand=C,
    )
    assert certain.df > certain.t_df == 5  # as the cells support no more


def test_raters_make_no_rows_where_the_reliability_is_not_known(twin):
    """The human scores are then taken to be exact, which any number of raters would be."""
    asked = LEVEL | {"prompts": [50, 500], "raters": [1, 3], "copies": [1]}
    unknown = list(power_rows(Spec.of("main"), twin, [], **asked))
    assert {row["raters"] for row in unknown} == {None}
    known = list(power_rows(Spec.of("main"), twin, [{"mean": "0.6", "raters": "3"}], **asked))
    assert {row["raters"] for row in known} == {1, 3}
    assert len(known) == 2 * len(unknown)
    bias = [abs(row["bias"]) for row in unknown if row["estimand"] == A]
    assert max(bias) < 1e-9 < 1e-3 < min(abs(row["bias"]) for row in known if row["estimand"] == A)


def test_an_estimate_without_error_is_never_a_false_alarm():
    for df, nominal in product((3.0, math.inf), (None, 0.0)):
        assert size(Expected(0.0, 0.0, 0.0, df, df, nominal=nominal), confidence=0.9) == 0
        assert size(Expected(0.0, 0.0, 0.1, df, df, nominal=nominal), confidence=0.9) == 1
    plan = replace(power_plan(WORLD), noise=[0.0] * 5, rater_error=0.0, preferences=None)
    rows = [row for row in plan_for(plan, 0.1) if "size" in row]
    assert [fields(row, "prompts_needed size size_needed") for row in rows] == [(1, 0, 0)] * len(
        rows
    )
    assert rows
