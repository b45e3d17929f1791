"""Round-robin plans: balanced, without family ratings, and as precise as the variance of drawn
plans says.
"""

import numpy as np
import pytest
from test_panel import world

from conftest import CONFIG
from picked_rows import fields, keyed, where
from rated_tables import FIVE, rated, study_of_rows
from recuse.base.errors import DataError
from recuse.inference.judge_levels import linked_judges
from recuse.inference.panel import BETWEEN, panel_rows
from recuse.inference.round_robin import (
    BY_PROMPT,
    FULL,
    PlanSums,
    contrast_variance,
    plan,
    plan_rows,
    round_robin_rows,
)

# (M, J)
RELATED = np.array(
    [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]],
    dtype=bool,
)


@pytest.mark.parametrize("prompts", [60, 61, 7])
def test_each_answer_has_one_judge_of_another_family_and_judges_share_the_answers(prompts):
    judge = plan(prompts, RELATED, seed=1)
    assert judge.shape == (prompts, 5)
    assert not RELATED[np.arange(5), judge].any()
    for model in range(5):
        counts = np.bincount(judge[:, model], minlength=5)[~RELATED[model]]
        assert counts.max() - counts.min() <= 2
    assert (judge[:, 2] == judge[:, 3]).mean() >= 0.55 or prompts == 7
    assert (judge == plan(prompts, RELATED, seed=1)).all()
    assert (judge != plan(prompts, RELATED, seed=2)).any()


def test_a_model_without_a_judge_of_another_family_has_no_plan():
    with pytest.raises(DataError, match="without a judge outside its family"):
        plan(5, np.ones((2, 1), dtype=bool), seed=1)


def test_the_plan_of_a_study_has_each_answer_once(tmp_path):
    rows = list(plan_rows(study_of_rows(tmp_path, rated(prompts=12)), seed=3))
    assert len({fields(row, "prompt_id model") for row in rows}) == len(rows) == 60
    family = {name: CONFIG["models"][name]["family"] for name in FIVE}
    assert all(family[row["model"]] != family[row["judge"]] for row in rows)


class Ratings:
    """Takes the ratings of all judges as an array, (prompts, M, J), means over dimensions."""

    def __init__(self, crossing, levels):
        self.crossing, self.levels, self.parts = crossing, levels, []

    def add(self, prompts, sums):
        present, rating, _ = self.crossing.arrays(sums)
        assert present.all()
        self.parts.append((rating - self.levels[:, None]).mean(axis=1))


@pytest.mark.parametrize(
    "dials", [{}, {"judge_shock": 0.2, "preference": 0.1, "completion_shock": 0.1}]
)
def test_the_variance_that_a_plan_adds_is_that_of_drawn_plans(dials):
    """2,000 plans on the same ratings: their scores are those by all judges, give or take what is
    predicted.
    """
    study = world(prompts=120, **dials)
    judges = linked_judges(study)
    related = judges.crossing.related
    levels = judges.levels + judges.means(judges.levels)[:, None]
    taker = Ratings(judges.crossing, levels)
    sums = PlanSums(judges.crossing, levels, ~related)
    judges.crossing.passed(study, taker, sums)
    ratings = np.concatenate(taker.parts)  # (prompts, M, J)
    prompts, models = ratings.shape[:2]
    whole = np.where(related, np.nan, ratings)
    scores = np.nanmean(whole, axis=2).mean(axis=0)
    place = np.arange(prompts)[:, None], np.arange(models)
    drawn = [
        ratings[*place, plan(prompts, related, seed=seed)].mean(axis=0) for seed in range(2000)
    ]
    assert np.mean(drawn, axis=0) == pytest.approx(scores, abs=0.002)
    observed = np.cov(np.array(drawn).T)
    predicted = sums.added()
    assert predicted.diagonal() == pytest.approx(observed.diagonal(), rel=0.12)
    assert contrast_variance(predicted) == pytest.approx(contrast_variance(observed), rel=0.08)
    by_prompts = np.cov(np.nanmean(whole, axis=2).T) / prompts
    assert sums.covariance() == pytest.approx(by_prompts, abs=1e-12)


def test_rows_of_the_table(tmp_path):
    study = study_of_rows(tmp_path, rated())
    judges = linked_judges(study)
    panels = panel_rows(judges, study, {}, [], least=5, confidence=0.9)
    rows = list(round_robin_rows(judges, study, panels))
    everyone = BETWEEN.join(judges.crossing.judges)
    first = keyed(where(rows, panel=everyone), "scheme")
    assert list(first) == [FULL, BY_PROMPT]
    assert fields(first[FULL], "answers ratings") == (200, 40 * (2 * 3 + 3 * 4))
    assert first[BY_PROMPT]["ratings"] == 200
    assert first[FULL]["judges"] == len(judges.crossing.judges) == 5
    assert first[BY_PROMPT]["saved"] == pytest.approx(1 - 200 / 720)
    for row in rows:
        assert row["total_error"] == pytest.approx(np.hypot(row["bias_left"], row["std_error"]))
    assert first[FULL]["factor"] == 1 < first[BY_PROMPT]["factor"]
    assert not list(round_robin_rows(None, study, []))
