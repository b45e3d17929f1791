"""Scores of models as people would give them, from human scores of some answers."""

from itertools import permutations

import numpy as np
import pytest
import yaml
from numpy.random import default_rng
from scipy.special import ndtr, ndtri
from statsmodels.api import WLS

from recuse.base.reasons import Reason, parse
from recuse.inference.human_scale import (
    AnswerScores,
    human_scale_means,
    refused_ranking,
    scored_gap,
    widened_covariance,
)
from recuse.inference.leaderboard import AS_PEOPLE, as_people_rows
from recuse.validation.world import MEAN_QUALITY, MonteCarloWorld

DIALS = """
{families: [2, 1, 1], dimensions: 2, prompts: 100, intercept: 0.3, slope: 0.5, noise: 0.15,
 quality_gap: 0.1, self_bias: [0.1, 0, 0, 0]}
"""
WORLD = MonteCarloWorld(**yaml.safe_load(DIALS))
TRUTH = MEAN_QUALITY + WORLD.quality_gap * np.linspace(-0.5, 0.5, 4)


def answers_from(human, panel):
    """Answers of a grid, (prompts, dimensions, models) each."""
    prompt, dimension, model = (axis.ravel() for axis in np.indices(human.shape))
    names = [np.array([f"m{number}" for number in range(size)]) for size in human.shape[:0:-1]]
    return AnswerScores(prompt, model, dimension, human.ravel(), panel.ravel(), *names)


def drawn(seed, labelled):
    """Answers of a world; labelled(random, human) says which have a human score."""
    random = default_rng(seed)
    study = WORLD.draw(random)
    human = study.reference
    deviation = study.rating - study.rating.mean(axis=(0, 3), keepdims=True)
    return answers_from(np.where(labelled(random, human), human, np.nan), deviation.mean(axis=2))


def changed(answers, **values):
    return AnswerScores(**vars(answers) | values)


def rows_from(answers):
    return list(as_people_rows(answers, replicates=2, confidence=0.9, seed=1))


def contains_truth(rows):
    """Whether each interval contains the truth, of models with ten effective prompts or more."""
    pairs = zip(rows, TRUTH, strict=True)
    return [row["ci_low"] <= truth <= row["ci_high"] for row, truth in pairs if "score" in row]


def by_prompt(count):
    def labelled(random, human):
        chosen = random.permutation(len(human)) < count
        return np.broadcast_to(chosen[:, None, None], human.shape)

    return labelled


def by_row(share):
    return lambda random, human: random.random(human.shape) < share


NUMBER = np.arange(40)
PANEL = np.round(np.sin(1.7 * NUMBER) / 3, 3)
SCORES = np.round(0.6 + 0.8 * PANEL[:16] + np.cos(2.3 * NUMBER[:16]) / 8, 3)
# ppi_mean_pointestimate and ppi_mean_ci (alpha=0.1) of ppi-python 0.2.3 with these scores, lam =
# 0.42210711075087454, and PANEL, of which the last 24 are moved to the mean of the first 16 for the
# interval
POINT = 0.604565
INTERVAL = (0.54752105, 0.65960395)


def means_for_one_model(panel):
    human = np.append(SCORES, np.full(24, np.nan))
    return human_scale_means(answers_from(human[:, None, None], panel[:, None, None]))


def test_one_model_has_the_mean_of_ppi_python():
    means = means_for_one_model(PANEL)
    assert means.slope[0] * 24 / 40 == pytest.approx(0.42210711075087454, rel=1e-12)
    assert means.score[0] == pytest.approx(POINT, abs=1e-6)


def test_and_its_interval_where_scored_answers_are_rated_as_the_others():
    panel = PANEL.copy()
    panel[16:] += panel[:16].mean() - panel[16:].mean()
    means = means_for_one_model(panel)
    half = ndtri(0.95) * np.sqrt(means.covariance[0, 0])
    ends = means.score[0] - half, means.score[0] + half
    assert ends == pytest.approx(INTERVAL, abs=1e-7)


@pytest.mark.parametrize("is_stated", [False, True])
def test_scores_are_means_of_the_fitted_values_of_all_answers(is_stated):
    """Answers weigh by the inverse of their probability of a score, or of the dimension's share."""
    answers = drawn(1, by_row(0.3))
    scored = answers.is_scored
    total = np.bincount(answers.dimension)
    chances = (np.bincount(answers.dimension[scored]) / total)[answers.dimension]
    if is_stated:
        chances = default_rng(0).uniform(0.1, 1, len(answers.human))
        answers = declared(answers, chances)
    panel = answers.centred(answers.panel)
    dimensions = np.eye(2)[answers.dimension]
    models = np.eye(4)[answers.model]
    rows = np.hstack([models, dimensions[:, 1:], dimensions * panel[:, None]])
    fit = WLS(answers.human[scored], rows[scored], weights=1 / chances[scored]).fit()
    expected = models.T @ rows @ fit.params / models.sum(axis=0)
    assert human_scale_means(answers).score == pytest.approx(expected, abs=1e-12)


def test_errors_of_weighted_means_are_those_of_leaving_each_prompt_out():
    human, chances = default_rng(6).uniform(0.2, 1, (2, 12, 1, 1))
    means = human_scale_means(declared(answers_from(human, 0 * human), chances.ravel()))
    scores, weights = human.ravel(), 1 / chances.ravel()
    left_out = [
        np.average(np.delete(scores, place), weights=np.delete(weights, place))
        for place in range(12)
    ]
    whole = np.average(scores, weights=weights)
    assert means.covariance[0, 0] == pytest.approx(np.square(left_out - whole).sum(), rel=1e-9)


def scores_and_notes(answers):
    rows = rows_from(answers)
    return [row | {"note": ""} for row in rows], {row["note"].split(" ")[0] for row in rows}


@pytest.mark.parametrize(
    ("seed", "prompts", "note", "undeclared"),
    [(1, 40, "", "undeclared_draw"), (4, 20, "short_intervals", "few_and_undeclared")],
)
def test_a_draw_at_random_is_one_that_is_stated(seed, prompts, note, undeclared):
    unstated = drawn(seed, by_prompt(prompts))
    stated = declared(unstated, np.full(len(unstated.human), 0.1))
    (doubted, notes), (trusted, others) = map(scores_and_notes, (unstated, stated))
    assert (notes, others) == ({undeclared}, {note})
    assert doubted == trusted
    assert human_scale_means(stated).covariance == pytest.approx(
        human_scale_means(unstated).covariance, rel=1e-12
    )


def declared(answers, chances):
    """The answers of a study that says how they were chosen for scores."""
    return changed(answers, labelling_probability=chances)


def test_a_draw_that_is_stated_is_not_refused_by_chance():
    unlucky = next(
        answers
        for answers in (drawn(seed, by_prompt(30)) for seed in range(100))
        if refused_ranking(answers)
    )
    assert reason_from(unlucky) == Reason.CHOSEN_FOR_SCORES
    _, p_value = scored_gap(unlucky)
    assert 0.001 < p_value < 0.1
    assert refused_ranking(declared(unlucky, np.full(len(unlucky.human), 0.3))) == ""


def test_answers_that_were_picked_are_refused_whatever_one_number_says():
    answers = drawn(5, easiest)
    level = np.full(len(answers.human), 0.3)
    assert reason_from(declared(answers, level)) == Reason.CHOSEN_FOR_SCORES
    # With a probability for each answer, scored ones may well differ from the others.
    known = declared(answers, level + answers.prompt / 1000)
    assert refused_ranking(known) == ""


def test_labels_chosen_by_ratings_cover_with_their_probabilities():
    covered = []
    refused = []
    for seed in range(60):
        random = default_rng((1, seed))
        whole = drawn(seed, by_row(1.1))
        by_prompt = np.bincount(whole.prompt, whole.panel)
        z = (by_prompt - by_prompt.mean()) / by_prompt.std()
        chances = np.clip(0.3 * np.exp(z), 0.02, 1.0)
        kept = (random.random(len(z)) < chances)[whole.prompt]
        human = np.where(kept, whole.human, np.nan)
        chosen = changed(whole, human=human)
        refused.append(bool(refused_ranking(chosen)))
        answers = declared(chosen, chances[whole.prompt])
        rows = rows_from(answers)
        covered += contains_truth(rows)
    assert np.mean(refused) > 0.9
    assert len(covered) > 0.9 * len(refused) * len(TRUTH)
    assert 0.86 < np.mean(covered) < 0.97


def test_with_every_answer_scored_they_are_the_means_by_people():
    answers = drawn(2, by_row(1.1))
    human = answers.human.reshape(100, 2, 4).mean(axis=1)
    means = human_scale_means(answers)
    assert means.score == pytest.approx(human.mean(axis=0), abs=1e-12)
    expected = np.cov(human.T, ddof=0) / 100
    assert means.covariance == pytest.approx(expected, rel=0.03, abs=1e-6)


@pytest.mark.parametrize("labelled", [by_prompt(12), by_row(0.1)])
def test_intervals_cover_and_are_narrower_than_those_of_people_alone(labelled):
    covered = []
    errors = []
    for seed in range(60):
        answers = drawn(seed, labelled)
        rows = rows_from(answers)
        covered += contains_truth(rows)
        alone = changed(answers, panel=np.zeros(len(answers.panel)))
        both = (human_scale_means(each).covariance for each in (answers, alone))
        errors.append([np.sqrt(each.diagonal()).mean() for each in both])
    with_panel, without = np.mean(errors, axis=0)
    assert 0.85 < np.mean(covered) < 0.96
    assert with_panel < 0.85 * without


def test_the_bias_of_a_judge_moves_no_score():
    answers = drawn(3, by_prompt(20))
    panel = answers.panel + 0.3 * (answers.model == 0)
    moved = changed(answers, panel=panel)
    scores = (human_scale_means(each).score for each in (answers, moved))
    assert next(scores) == pytest.approx(next(scores), abs=1e-12)


def reason_from(answers):
    return parse(refused_ranking(answers))[0]


def test_scores_that_do_not_rank_the_models_are_refused():
    assert refused_ranking(drawn(4, by_prompt(20))) == ""
    assert reason_from(drawn(4, by_prompt(9))) == Reason.FEW_SCORED_PROMPTS
    first = np.arange(2)[:, None] == 0
    one_dimension = drawn(4, lambda random, human: np.broadcast_to(first, human.shape))
    assert reason_from(one_dimension) == Reason.UNSCORED_DIMENSIONS
    answers = drawn(4, by_prompt(20))
    equal = changed(answers, human=np.where(answers.is_scored, 1.0, np.nan))
    assert reason_from(equal) == Reason.EQUAL_SCORES


def easiest(random, human):
    """The three tenths of prompts to which people score answers highest."""
    means = human.mean(axis=(1, 2), keepdims=True)
    return np.broadcast_to(means > np.quantile(means, 0.7), human.shape)


def test_labels_of_easy_prompts_are_refused():
    answers = drawn(5, easiest)
    gap, p_value = scored_gap(answers)
    assert (gap > 0.02, p_value < 0.01) == (True, True)
    assert reason_from(answers) == Reason.CHOSEN_FOR_SCORES
    rows = rows_from(answers)
    assert {row["scores"] for row in rows} == {AS_PEOPLE}
    assert not any("score" in row for row in rows)


def test_the_gap_is_tested_against_every_choice_of_prompts():
    random = default_rng(0)
    human = random.random((6, 2, 3))
    panel = random.random((6, 2, 3))
    human[random.random(human.shape) < 0.6] = np.nan
    answers = answers_from(human, panel)
    scored = answers.centred(answers.is_scored.astype(float)).reshape(6, -1)
    rated = answers.centred(answers.panel).reshape(6, -1)
    sums = [(scored[list(order)] * rated).sum() for order in permutations(range(6))]
    gap, p_value = scored_gap(answers)
    assert gap == pytest.approx(sums[0] / (scored**2).sum(), rel=1e-12)
    assert p_value == pytest.approx(2 * ndtr(-abs(sums[0]) / np.std(sums)), rel=1e-9)
    slope = WLS(rated.ravel(), scored.ravel()).fit().params[0]
    assert gap == pytest.approx(slope, rel=1e-12)


def test_a_tenth_is_refused_where_models_lack_answers():
    """Four in ten answers are missing at random, and prompts have effects that answers share."""
    refused = []
    for seed in range(150):
        random = default_rng(seed)
        panel = 0.05 * random.standard_normal((60, 1)) + 0.03 * random.standard_normal((60, 4))
        human = np.where(random.permutation(60)[:, None] < 30, panel, np.nan)
        answered = random.random(panel.shape) > 0.4
        prompt, model = np.nonzero(answered)
        scores = human[answered], panel[answered]
        answers = AnswerScores(prompt, model, 0 * model, *scores, [*"ABCD"], [""])
        refused.append(scored_gap(answers)[1] < 0.1)
    assert np.mean(refused) == pytest.approx(0.1, abs=0.05)


def test_a_model_with_few_scored_prompts_has_no_score():
    def most(random, human):
        chosen = by_prompt(30)(random, human).copy()
        chosen[np.flatnonzero(chosen[:, 0, 3])[9:], :, 3] = False
        return chosen

    rows = rows_from(drawn(8, most))
    assert ["score" in row for row in rows] == [True, True, True, False]
    assert rows[3]["note"] == 'few_scored_prompts {"prompts": 9, "least": 10}'
    assert {row["rank_high"] for row in rows[:3]} <= {1, 2, 3}


def test_a_model_whose_scores_hardly_vary_has_the_error_of_the_others():
    answers = drawn(7, by_prompt(20))
    top = np.where(answers.is_scored & (answers.model == 3), 1.0, answers.human)
    answers = changed(answers, human=top)
    means = human_scale_means(answers)
    varied = np.array([20, 20, 20, 0])
    plain = means.covariance
    widened = widened_covariance(means, varied, np.full(4, True))
    assert widened[3, 3] == pytest.approx(plain.diagonal().mean())
    assert widened[:3] == pytest.approx(plain[:3])


def test_a_model_with_one_scored_prompt_leaves_the_others_their_intervals():
    whole = drawn(3, by_row(0.4))
    scored = whole.is_scored & (
        (whole.model != 3) | (whole.prompt == whole.prompt[whole.is_scored & (whole.model == 3)][0])
    )
    top = np.where(whole.model == 0, 1.0, whole.human)  # whose scores do not vary
    human = np.where(scored, top, np.nan)
    chances = np.where(whole.dimension == 0, 0.4, 0.5)
    answers = changed(whole, human=human, labelling_probability=chances)
    rows = rows_from(answers)
    assert ["score" in row for row in rows] == [True, True, True, False]
    assert all(0 < row["std_error"] < 0.2 for row in rows[:3])


def test_effective_prompts_decide_whether_there_is_a_score():
    whole = drawn(3, by_prompt(40))
    chances = np.full(len(whole.human), 0.4)
    first = whole.prompt == whole.prompt[whole.is_scored][0]
    answers = declared(whole, np.where(first, 1e-6, chances))
    rows = rows_from(answers)
    assert not any("score" in row for row in rows)
