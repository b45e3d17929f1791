"""The size of a plan has the power asked for, and one prompt less has not; it has enough when
intervals are narrow.
"""

import math

import numpy as np
import pytest
from scipy.stats import gmean, nct, norm, t

from collecting import assert_outcome
from conftest import CONFIG, built, study_files
from rated_tables import FIVE, rated, study_of_rows
from recuse.base.database import write_parquet
from recuse.collect.designs import assigned
from recuse.collect.prompts_needed import (
    enough,
    half_widths,
    planned,
    prompts_in_words,
    published,
    requests_for,
)
from recuse.data.files import RatingsFile
from recuse.inference.power import (
    expected,
    over_dimensions,
    study_like,
    with_reaches,
)
from recuse.model.estimates import estimate
from recuse.model.spec import A, C, Spec
from recuse.simulate.ratings import simulate

MAIN = Spec.of("main")
LEVEL = {"power": 0.8, "confidence": 0.9}
PROMPTS = [f"p{number}" for number in range(10)]
COMPONENTS = "quality slope noise prompts quality_spread rater_error"


def published_plan(number=None, *, judges=None, models=None, raters=3, dimensions=6):
    like = published()
    judges = judges or like.judges
    ratings = assigned(PROMPTS, models or like.models, judges, number or len(judges), seed=1)
    return planned(
        like,
        ratings,
        dict(zip(like.models, like.family, strict=True)),
        dimensions=dimensions,
        raters=raters,
    )


@pytest.mark.parametrize("number", [None, 3])
def test_the_power_is_reached_with_so_many_prompts_and_not_with_one_less(number):
    plan = published_plan(number)
    rows = [
        row
        for row in requests_for(plan, per_prompt=81, self_bias=0.05, **LEVEL)
        if math.isfinite(row["prompts"])
    ]
    assert {row["estimand"] for row in rows} >= {A, C}
    estimates = {
        estimand: {judge: expected(plan, judge, estimand=estimand) for judge in plan.judges}
        for estimand in {row["estimand"] for row in rows}
    }
    estimates[C] = with_reaches(estimates[C], confidence=0.9)
    for row in rows:
        estimate = estimates[row["estimand"]][row["judge"]]
        needed = row["prompts"]
        assert row["requests"] == 81 * needed
        less, enough = (
            power(estimate.with_prompts(number / plan.prompts)) for number in (needed - 1, needed)
        )
        # Of many prompts, one makes hardly a difference
        assert less - 1e-6 * (needed > 100_000) < 0.8 <= enough + 1e-6


def power(estimate):
    """The power against a bias of 0.05, at a confidence of 0.9."""
    shift = 0.05 / estimate.std_error
    if math.isinf(estimate.t_df):
        return norm.sf(estimate.reach * norm.ppf(0.95), shift)
    return nct.sf(estimate.reach * t.ppf(0.95, estimate.t_df), estimate.t_df, shift)


def test_a_plan_of_the_same_judges_and_models_is_the_study_it_is_like():
    like = published()
    plan = published_plan()
    for name in f"judges models family {COMPONENTS}".split():
        assert getattr(plan, name) == getattr(like, name), name
    assert (np.array(plan.share) == 1).all()
    assert plan.preferences.spread.tolist() == like.preferences.spread.tolist()
    assert (plan.raters, plan.dimensions) == (3, 6)


def test_shares_are_those_of_the_design():
    """A bias clear of the limits, which differ by a tenth as each plan has `reaches` of its own."""
    plan = published_plan(3)
    share = np.array(plan.share)
    assert share.diagonal().tolist() == [1.0] * 9
    assert share.sum(axis=0) == pytest.approx(np.full(9, 3.0))
    fewer = {
        row["judge"]: row["prompts"]
        for row in requests_for(published_plan(), per_prompt=1, self_bias=0.06, **LEVEL)
    }
    for row in requests_for(plan, per_prompt=1, self_bias=0.06, **LEVEL):
        assert row["prompts"] >= fewer[row["judge"]] or row["estimand"] != C


def test_judges_that_the_study_does_not_have_are_usual_ones():
    like = published()
    plan = published_plan(judges=["GPT-4o", "new", "other"], models=["GPT-4o", "new", "newer"])
    assert_outcome(plan, judges=["GPT-4o", "new"], family=["GPT", "new", "newer"])
    place = like.judges.index("GPT-4o")
    for ours, theirs, usual in (
        (plan.noise, like.noise, np.sqrt(np.mean(np.square(like.noise)))),
        (plan.slope, like.slope, np.mean(like.slope)),
        (plan.preferences.spread, like.preferences.spread, gmean(like.preferences.spread)),
    ):
        assert ours == pytest.approx([theirs[place], usual])
    assert plan.quality == [like.quality[place], *like.quality[:2]]


def words(plan, self_bias):
    human_scores = plan is None or plan.rater_error > 0
    asked = {"self_bias": self_bias, **LEVEL}
    rows = (
        []
        if plan is None
        else requests_for(plan, per_prompt=81, human_scores=human_scores, **asked)
    )
    return prompts_in_words(rows, plan, **asked)


def test_the_page_says_what_to_ask_and_where_no_number_is_enough():
    plan = published_plan()
    first, *lines = words(plan, 0.03)
    rows = requests_for(plan, per_prompt=81, self_bias=0.03, **LEVEL)
    most = max(row["prompts"] for row in rows if row["estimand"] == A)
    assert first.startswith(
        "To see a self-bias of 0.03 of the scale (power 0.8, 90\xa0% intervals), with judges and"
        " ratings as in"
    )
    assert (
        f"  A against humans: ask these 9 judges about {most:,} prompts: {81 * most:,} requests."
        in lines
    )
    (never,) = (line for line in lines if "if no other judge is biased: " in line)
    assert never.startswith("  C beyond ordinary preference, ")
    assert (
        "no number of prompts for Claude 3.5 Sonnet, GPT-4o and 4 more: no bias of Llama 3 8B"
        " below 0.097 can be detected." in never
    )


def test_the_page_names_judges_that_the_twin_does_not_have():
    first, *_ = words(
        published_plan(judges=["a", "GPT-4o"], models=["a", "GPT-4o", "b", "Mistral 7B"]), 0.1
    )
    assert first.endswith(
        "as in the simulated twin of Play Favorites (a: typical values from there):"
    )


def test_without_human_scores_there_is_no_a():
    page = "\n".join(words(published_plan(raters=None), 0.05))
    assert "A against humans" not in page
    assert "B against other judges" in page


def test_without_own_answers_or_another_judge_it_says_what_is_missing():
    assert "Add a judge that is one of" in words(published_plan(judges=["x", "y"]), 0.05)[0]
    alone = planned(
        published(), {("x", prompt, "x") for prompt in PROMPTS}, {}, dimensions=6, raters=None
    )
    assert "Add a second judge" in words(alone, 0.05)[0]


def test_published_components_are_those_of_the_twin(world, tmp_path):
    drawn = simulate(
        world, prompts=CONFIG["studies"]["twin"]["simulate"]["prompts"], seed=CONFIG["seed"]
    )
    write_parquet(drawn.ratings, str(tmp_path / "raw.parquet"))
    study = built(
        tmp_path, "twin", study_files("twin", [RatingsFile(str(tmp_path / "raw.parquet"))])
    )
    # Of results/twin/tables/reliability.csv
    score = over_dimensions([{"mean": "0.5062464157725114", "raters": "3"}])
    plan, components = study_like(MAIN, study, *score), published()
    for name in ("judges", "models", "family", "dimensions"):
        assert getattr(plan, name) == getattr(components, name)
    ours, theirs = vars(components), vars(plan)
    for name in COMPONENTS.split():
        assert ours[name] == pytest.approx(theirs[name], rel=1e-5), name
    ours, theirs = vars(components.preferences), vars(plan.preferences)
    for name in ("spread", "ratios", "tau", "effects"):
        assert ours[name] == pytest.approx(theirs[name], rel=1e-5), name


def test_it_is_enough_if_the_widest_interval_is_narrow(tmp_path):
    study = study_of_rows(tmp_path, rated(prompts=60))
    rows = estimate(Spec.of("A", covariance="CR1"), study, confidence=0.9).estimates
    expected = {
        row["term"]: (row["ci_high"] - row["ci_low"]) / 2
        for row in rows
        if row["quantity"] == "self_bias"
    }
    widths = half_widths(study, confidence=0.9)
    assert widths == pytest.approx(expected)
    assert len(widths) == 5
    widest = max(widths.values())
    assert enough(study, widest, confidence=0.9)
    assert not enough(study, 0.999 * widest, confidence=0.9)
    assert not enough(study, widest, confidence=0.95)


def test_a_judge_without_an_interval_is_not_enough(tmp_path):
    """GPT-4o has rated no answer of its own; judges that are no models count for nothing."""
    rows = [
        row
        for row in rated(models=FIVE[:4], prompts=60)
        if not row["judge"] == row["model"] == "GPT-4o"
    ]
    study = study_of_rows(tmp_path, rows)
    widths = half_widths(study, confidence=0.9)
    assert widths.keys() == {*FIVE[:4]}
    assert widths["GPT-4o"] == float("inf")
    assert not enough(study, 10.0, confidence=0.9)


def test_without_human_scores_it_is_the_gap_to_other_judges_that_is_narrow(tmp_path):
    study = study_of_rows(tmp_path, [{**row, "gt": ""} for row in rated(prompts=60)])
    widths = half_widths(study, confidence=0.9)
    assert widths.keys() == {*FIVE}
    assert 0 < max(widths.values()) < 0.2
