"""Prediction-powered means against ppi-python, against a naive twin, and in worlds with known
means.
"""

import duckdb
import numpy as np
import pytest

from recuse.inference.ppi import (
    FOLDS,
    HUMANS,
    JUDGES,
    PPI,
    SMALL_SAMPLE,
    STRATA,
    Scores,
    powered_mean,
    ppi_rows,
    prompt_scores,
)
from recuse.model.spec import Spec

MAIN = Spec.of("main")

# ppi_py.ppi_mean_ci(y[:n], f[:n], f[n:], alpha=0.1) of ppi-python 0.2.3: seed, n, N, how the judges
# follow -> ends.
PPI_PYTHON = {
    "tuned": (11, 40, 200, 0.6, 0.7121870472999254, 0.7703890318241595),
    "of no use: 0": (12, 30, 90, -0.3, 0.7186651019966439, 0.7841095775341058),
    "beyond belief: 1": (13, 25, 400, None, 0.7286464418385045, 0.7937392611824782),
}


def scores_of(human, judged):
    """One part and one stratum: a completion and a rating for each prompt."""
    ones = np.ones((len(human), 1), dtype=int)
    return Scores(
        human[:, None], judged[:, None], ones, np.zeros(1, dtype=int), np.array([len(human)])
    )


@pytest.mark.parametrize("case", PPI_PYTHON)
def test_without_strata_it_is_ppi_python(case):
    seed, n, others, slope, low, high = PPI_PYTHON[case]
    generator = np.random.default_rng(seed)
    human = generator.beta(6, 2, size=n + others)
    noise = generator.standard_normal(n + others)
    judged = (
        0.3 + 0.3 * (human + 0.02 * noise) if slope is None else 0.2 + slope * human + 0.1 * noise
    )
    result = powered_mean(scores_of(human, judged), np.arange(n + others) < n, confidence=0.9)
    assert result.ci_low == pytest.approx(low, abs=1e-9)
    assert result.ci_high == pytest.approx(high, abs=1e-9)
    assert result.tuning[0] == pytest.approx(
        {"of no use: 0": 0, "beyond belief: 1": 1}.get(case, result.tuning[0]), abs=1e-12
    )


def drawn_scores(generator, *, prompts=300, absent=0.0):
    """Two dimensions, three strata each: judges of slopes 0.2, 0.6 and 1.0, prompts that are easy
    or hard in both.
    """
    shared, own = (
        0.1 * generator.standard_normal((prompts, 1)),
        0.1 * generator.standard_normal((prompts, 2)),
    )
    truth = np.array([0.6, 0.8]) + shared + own
    human = truth + 0.1 * generator.standard_normal(truth.shape)
    human[generator.random(human.shape) < absent] = np.nan
    noise = 0.1 * generator.standard_normal((prompts, 1, 1)) + 0.1 * generator.standard_normal(
        (prompts, 2, 3)
    )
    judged = 0.3 + truth[:, :, None] * np.array([0.2, 0.6, 1.0]) + noise
    judged[np.isnan(human)] = np.nan
    return Scores(
        human,
        judged.reshape(prompts, 6),
        (~np.isnan(human)).astype(int),
        np.repeat([0, 1], 3),
        np.tile([1, 2, 6], 2) * prompts,
    )


def naive(scores, labelled, tuning):
    """Estimate and standard error, prompt by prompt, from the definition."""
    shares = scores.completions.sum(axis=0) / scores.completions.sum()
    mean, variance = 0.0, 0.0
    ends = [np.nanmean(scores.judged[rows], axis=0) for rows in (labelled, ~labelled)]
    for d, share in enumerate(shares):
        mean += share * np.nanmean(scores.human[labelled, d])
    for s, d in enumerate(scores.part):
        mean += tuning[s] * shares[d] * (ends[1][s] - ends[0][s])
    for p in range(len(labelled)):
        added = 0.0
        for d, share in enumerate(shares):
            if labelled[p] and scores.completions[p, d]:
                labels = scores.human[labelled, d]
                added += (
                    share * (scores.human[p, d] - np.nanmean(labels)) / np.isfinite(labels).sum()
                )
        for s, d in enumerate(scores.part):
            if scores.completions[p, d]:
                side = labelled if labelled[p] else ~labelled
                step = tuning[s] * shares[d] * (scores.judged[p, s] - ends[1 - labelled[p]][s])
                added -= step / np.isfinite(scores.judged[side, s]).sum()
        variance += added**2
    return mean, np.sqrt(variance)


@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_strata_are_weighed_and_clustered_by_prompt(absent):
    generator = np.random.default_rng(3)
    scores = drawn_scores(generator, absent=absent)
    labelled = generator.random(300) < 0.2
    result = powered_mean(scores, labelled, confidence=0.9)
    mean, error = naive(scores, labelled, result.tuning)
    assert result.estimate == pytest.approx(mean, abs=1e-12)
    assert result.std_error == pytest.approx(error, abs=1e-12)
    # Judges who agree with the humans count more
    assert (result.tuning[[2, 5]] > result.tuning[[0, 3]]).all()


@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_cross_fitted_means_are_those_of_the_definition(absent):
    """Each fold tuned by the labels of the others alone; n / (n - 1); t with the degrees of freedom
    of the labels.
    """
    from scipy.stats import t

    generator = np.random.default_rng(8)
    scores = drawn_scores(generator, absent=absent)
    labelled = generator.random(300) < 0.1
    result = powered_mean(scores, labelled, confidence=0.9, folds=4)
    places, part = np.flatnonzero(labelled), scores.part
    shares = scores.completions.sum(axis=0) / scores.completions.sum()
    fold = np.arange(len(places)) % 4
    tuning = np.full((300, 6), np.nan)
    for number in range(4):
        others, held = np.isin(np.arange(300), places[fold != number]), places[fold == number]
        tuning[held] = tuned(scores, labelled, others)
    judged, human = scores.judged, scores.human
    estimate = shares @ np.nanmean(human[labelled], axis=0)
    influence = np.zeros(300)
    for s in range(6):
        kept = labelled & ~np.isnan(judged[:, s])
        rest = ~labelled & ~np.isnan(judged[:, s])
        mean, share, few, many = (
            np.nanmean(judged[rest, s]),
            shares[part[s]],
            kept.sum(),
            rest.sum(),
        )
        estimate += share * np.mean(tuning[kept, s] * (mean - judged[kept, s]))
        of_own = share * tuning[kept, s] * (judged[kept, s] - judged[kept, s].mean()) / few
        influence[kept] -= of_own * np.sqrt(few / (few - 1))
        influence[rest] += (
            share
            * tuning[kept, s].mean()
            * (judged[rest, s] - mean)
            / many
            * np.sqrt(many / (many - 1))
        )
    for d in range(2):
        kept = labelled & ~np.isnan(human[:, d])
        beyond = (human[kept, d] - human[kept, d].mean()) / kept.sum()
        influence[kept] += shares[d] * beyond * np.sqrt(kept.sum() / (kept.sum() - 1))
    error = np.sqrt((influence**2).sum())
    rated = (labelled & ~np.isnan(human).all(axis=1)).sum()
    assert result.estimate == pytest.approx(estimate, abs=1e-12)
    assert result.std_error == pytest.approx(error, abs=1e-12)
    assert (result.ci_high - result.ci_low) / 2 == pytest.approx(
        t.ppf(0.95, rated - 1) * error, abs=1e-12
    )


@pytest.mark.parametrize("folds", [1, 5])
def test_the_means_of_several_sets_are_those_of_each(folds):
    generator = np.random.default_rng(9)
    scores = drawn_scores(generator, prompts=60, absent=0.5)
    sets = np.array([[generator.permutation(60) < 8 for _ in range(3)] for _ in range(5)])
    result = powered_mean(scores, sets, confidence=0.9, folds=folds)
    for place in np.ndindex(5, 3):
        alone = powered_mean(scores, sets[place], confidence=0.9, folds=folds)
        for name, values in vars(alone).items():
            np.testing.assert_allclose(
                getattr(result, name)[place], values, rtol=1e-12, atol=1e-15, err_msg=name
            )
    assert 0 < np.isnan(result.estimate).sum() < 15


def tuned(scores, labelled, others):
    """The tuning by the labels of `others`, from the definition: each stratum alone, then all by
    one factor.
    """
    shares = scores.completions.sum(axis=0) / scores.completions.sum()
    ratings = np.array([scores.ratings[scores.part == d].sum() for d in range(2)])
    slopes, shown, moved, human = np.zeros(6), np.zeros((300, 6)), np.zeros((300, 6)), np.zeros(300)
    for d in range(2):
        kept = others & ~np.isnan(scores.human[:, d])
        human[kept] += (
            shares[d] * (scores.human[kept, d] - scores.human[kept, d].mean()) / kept.sum()
        )
    for s, d in enumerate(scores.part):
        column, known = scores.judged[:, s], ~np.isnan(scores.judged[:, s])
        kept, labels, rest = others & known, (labelled & known).sum(), (~labelled & known).sum()
        shown[kept, s] = (
            shares[d]
            * (column[kept] - column[kept].mean())
            / kept.sum()
            * others.sum()
            / labelled.sum()
        )
        moved[known, s] = (
            shares[d]
            * (column[known] - column[known].mean())
            * np.sqrt((1 / labels + 1 / rest) / (known.sum() - 1))
        )
        own = np.where(
            others & ~np.isnan(scores.human[:, d]),
            scores.human[:, d] - np.nanmean(scores.human[others, d]),
            0.0,
        )
        own *= shares[d] / (others & ~np.isnan(scores.human[:, d])).sum()
        slopes[s] = (
            max(0.0, shown[:, s] @ own / (moved[:, s] @ moved[:, s]))
            * scores.ratings[s]
            / ratings[d]
        )
    kappa = (shown @ slopes) @ human / ((moved @ slopes) @ (moved @ slopes))
    return np.clip(kappa * slopes, 0.0, 1.0)


def test_intervals_cover_and_claim_no_more_labels_than_are_saved():
    """With 12 labels. The plain estimator's intervals cover 0.82, and its errors claim to save 0.4
    where 0.2 are saved.
    """
    generator = np.random.default_rng(5)
    result = {folds: [] for folds in (1, 5)}
    alone = []
    for _ in range(500):
        scores = drawn_scores(generator, prompts=150)
        labelled = generator.permutation(150) < 12
        for folds, means in result.items():
            mean = powered_mean(scores, labelled, confidence=0.9, folds=folds)
            means.append((mean.estimate - 0.7, mean.std_error, mean.ci_low < 0.7 < mean.ci_high))
        labels = scores.human[labelled].mean(axis=1)
        alone.append((labels.mean() - 0.7, labels.std(ddof=1) / np.sqrt(12)))
    squares = np.square(alone).mean(axis=0)
    covered, excess = [], []
    for means in result.values():
        real, claimed = 1 - np.square([mean[:2] for mean in means]).mean(axis=0) / squares
        covered.append(np.mean([mean[2] for mean in means]))
        excess.append(claimed - real)
    assert covered[0] < 0.84 < 0.87 < covered[1] < 0.93
    assert abs(excess[1]) < 0.07 < 0.15 < excess[0]


def test_too_few_labels_give_no_numbers():
    scores = drawn_scores(np.random.default_rng(5))
    assert np.isnan(powered_mean(scores, np.arange(300) < 1, confidence=0.9).std_error)


def test_scores_of_a_study_are_those_of_its_rows(twin):
    result = prompt_scores(Spec.of("main"), twin)
    model = int(np.flatnonzero(result.models == "GPT-4o")[0])
    by_method = result.of(model)
    rows = f"from '{twin.ratings[0]}' where model = 'GPT-4o'"
    completions = f"select distinct dimension, prompt, gt_unit {rows}"
    ((mean,),) = duckdb.sql(f"select avg(gt_unit) from ({completions})").fetchall()
    for scores in by_method.values():
        human = np.nansum(scores.human * scores.completions) / scores.completions.sum()
        assert human == pytest.approx(mean, abs=1e-12)
    relation = "case when judge = model then 0 when judge_family = model_family then 1 else 2 end"
    strata = duckdb.sql(
        f"select count(*), avg(rating_unit) {rows} group by dimension, {relation} order by"
        f" dimension, {relation}"
    )
    expected = np.array(strata.fetchall())
    np.testing.assert_array_equal(by_method[STRATA].ratings, expected[:, 0])
    self_ratings = duckdb.sql(
        f"select rating_unit {rows} and judge = model and dimension = 'Completeness' order by"
        " prompt"
    )
    column = by_method[STRATA].judged[:, 0]
    np.testing.assert_allclose(
        column[~np.isnan(column)], np.ravel(self_ratings.fetchall()), rtol=0, atol=1e-12
    )


def test_rows_are_of_the_draws_that_all_methods_have(twin):
    """Of 40 prompts three or four labelled: some draws have fewer than two completions in a
    dimension.
    """
    scores = prompt_scores(MAIN.changed(subset={"models_dropped": ["GPT-4o"]}), twin)
    scores.n[scores.n.shape[0] // 2 :, :, 0] = scores.human[scores.n.shape[0] // 2 :, :, 0] = 0
    scores.rating[scores.n.shape[0] // 2 :, :, 0] = 0
    rows = [
        row
        for row in ppi_rows(scores, labelled=[4], draws=30, confidence=0.9, seed=7)
        if row["model"] == "Claude v2"
    ]
    generator = np.random.default_rng(7)
    sets = [np.isin(np.arange(40), generator.permutation(40)[:4]) for _ in range(30)]
    by_method = scores.of(int(np.flatnonzero(scores.models == "Claude v2")[0]))
    settings = {"confidence": 0.9, "folds": FOLDS}
    full = powered_mean(by_method[HUMANS], np.ones(40, dtype=bool), **settings)
    known = [
        own
        for own in sets
        if not np.isnan(powered_mean(by_method[STRATA], own, **settings).estimate)
    ]
    assert 10 < len(known) < 30
    alone = None
    for row in rows:
        means = [powered_mean(by_method[row["method"]], own, **settings) for own in known]
        beyond, errors = (
            np.array(each)
            for each in ([m.estimate - full.estimate for m in means], [m.std_error for m in means])
        )
        alone = alone or (errors**2).mean()
        assert row["draws"] == len(known)
        assert row["std_error"] == pytest.approx(np.sqrt((errors**2).mean()), rel=1e-12)
        assert row["rmse"] == pytest.approx(
            np.sqrt((beyond**2).mean() + full.std_error**2), rel=1e-12
        )
        assert row["saved"] == pytest.approx(1 - (errors**2).mean() / alone, abs=1e-12)
        reach = [(m.ci_high - m.ci_low) / 2 / m.std_error for m in means]
        inside = np.abs(beyond) <= reach * np.sqrt(np.maximum(errors**2 - full.std_error**2, 0))
        assert row["covered"] == pytest.approx(inside.mean(), abs=1e-12)
        assert row["note"] == SMALL_SAMPLE


def test_widths_fall_with_labels_and_are_seeded(twin):
    scores = prompt_scores(Spec.of("main"), twin)
    rows, again = (
        list(ppi_rows(scores, labelled=[10, 20, 30], draws=5, confidence=0.9, seed=2))
        for _ in range(2)
    )
    assert rows == again
    assert {"study", *rows[0]} == set(PPI)
    assert {row["prompts"] for row in rows} == {10, 20}  # of 40
    for model in scores.models:
        few, many = (
            [row for row in rows if row["model"] == model and row["prompts"] == n] for n in (10, 20)
        )
        assert [row["method"] for row in few] == [HUMANS, JUDGES, STRATA]
        assert many[0]["width"] < few[0]["width"]
        assert few[0]["saved"] == 0
        assert few[0]["full_mean"] == pytest.approx(few[2]["full_mean"], abs=1e-12)
