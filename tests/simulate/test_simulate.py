from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from conftest import CONFIG, DATA
from picked_rows import fields, keyed, where
from recuse.base.errors import ConfigError, DataError
from recuse.base.tables import read_table
from recuse.papers.twin import expected_estimates, published_world
from recuse.papers.values import read_files
from recuse.simulate.ratings import allocate, planted, simulate
from recuse.simulate.world import beta_binomial, beta_nodes, relations

PUBLISHED = {row["model"] for row in read_files(DATA)["mean_scores"]}
MODELS = {name: model["family"] for name, model in CONFIG["models"].items() if name in PUBLISHED}
SCALES = CONFIG["studies"]["twin"]["scales"]
COLUMNS = ["judge", "model", "gt", "dataset", "prompt_id", "rating", "pred_length", "dimension"]


@pytest.fixture(scope="module")
def study(world):
    return simulate(world, prompts=596, seed=20250809)


def mean_ratings(world):
    """Of the judges for the models, (dimensions, judges, models)."""
    return (
        world.intercept[:, :, None]
        + world.slope[:, :, None] * world.human_mean[:, None]
        + world.biases
        + world.preference
    )


def expectation(world, dimensions):
    """What Equation 1 is expected to estimate from some dimensions, by quantity and term."""
    terms, constant, weights = expected_estimates(world, dimensions)
    values = constant + np.tensordot(weights, mean_ratings(world)[dimensions], 3)
    return {(term.quantity, term.term): value for term, value in zip(terms, values, strict=True)}


def scores_from(study, dimension):
    """Raw scores of the human raters, (completions, 3)."""
    rows = (study.raters["dimension"] == dimension) & (study.raters["team"] == "raters")
    return study.raters["rating"][rows].reshape(-1, 3)


def test_equation_1_expects_the_published_biases(world):
    pooled = expectation(world, list(range(6)))
    by_dimension = {name: expectation(world, [d]) for d, name in enumerate(world.dimensions)}
    compared = 0
    for row in read_table(DATA / "play_favorites_estimates.csv"):
        if row["paper_figure"] == "4" and row["variant_type"] == "dimension":
            expected = by_dimension[row["variant"]]["self_bias", row["term"]]
        elif row["paper_figure"] == "3" and row["quantity"] == "family_bias":
            expected = pooled["family_bias", row["term"]]
        else:
            continue
        assert expected == pytest.approx(float(row["estimate"]), abs=1e-7)
        compared += 1
    assert compared == 54 + 4


def test_planted_are_the_parameters_of_the_mean_ratings(world):
    rows = {fields(r, "slice quantity term model"): r["planted"] for r in planted(world)}
    assert len(rows) == 6 * (3 * 9 + 4 + 81 + 9 + 1)
    own, siblings = relations(world.family_of, world.judge_of)
    for d, dimension in enumerate(world.dimensions):
        cells = product([dimension], ["preference"], world.judges, world.models)
        preferences = np.reshape([rows[cell] for cell in cells], own.shape)
        # Of unrelated models
        assert np.abs(np.where(own | siblings, 0, preferences).sum(axis=1)).max() < 1e-12
        assert not preferences[own].any()
        for f, family in enumerate(world.families):
            assert preferences[siblings & (world.family_of == f)].sum() == pytest.approx(
                0, abs=1e-12
            )
            assert rows[dimension, "family_bias", family, ""] == world.family_bias[d, f]
        assert rows[dimension, "quality", "", "GPT-4o"] == world.human_mean[d, 4]
        assert rows[dimension, "reliability", "", ""] == world.reliability[d]


def test_self_bias_is_what_equation_1_of_quality_itself_would_find():
    """Without measurement error and preferences, what is expected is what is planted."""
    world = published_world(read_files(DATA), models=MODELS, scales={"Faithfulness": [0, 4]})
    exact = replace(
        world,
        preference=np.zeros_like(world.preference),
        rater_dispersion=np.full(1, np.inf),
        scale_maximum=np.full(1, 1e9),
    )
    expected = expectation(exact, [0])
    for row in planted(exact):
        if row["quantity"] not in ("preference", "quality", "reliability"):
            assert expected[fields(row, "quantity term")] == pytest.approx(row["planted"], abs=1e-7)
    noisy = expectation(replace(world, preference=exact.preference), [0])
    assert noisy["slope", "GPT-4o"] < 0.5 * expected["slope", "GPT-4o"]


def test_judges_rate_quality_not_the_human_score(study):
    """Of one human score, what two judges agree on beyond it is the quality that the humans
    measured with error.
    """
    frame = pd.DataFrame(study.ratings).query("dimension == 'Completeness'")
    ratings = frame.pivot(index=["model", "gt", "prompt_id"], columns="judge", values="rating")
    both = ratings[["GPT-4o", "Claude 3.5 Sonnet"]].dropna()
    of_score = both.groupby(["model", "gt"])
    beyond = (both - of_score.transform("mean"))[of_score["GPT-4o"].transform("size") > 5]
    assert len(beyond) > 4000
    # 0 if ratings followed the human score itself
    assert beyond.prod(axis=1).mean() > 0.03


def test_a_family_of_one_model_has_no_term():
    models = {name: family for name, family in MODELS.items() if name != "GPT-4o"}
    world = published_world(read_files(DATA), models=models, scales={"Faithfulness": [0, 4]})
    terms = {row["term"] for row in planted(world) if row["quantity"] == "family_bias"}
    assert terms == {"Claude", "Llama 3", "Mistral"}


def test_mean_scores_are_near_the_published_ones(study):
    frame = pd.DataFrame(study.ratings)
    maximum = frame["dimension"].map(lambda name: SCALES[name][1])
    frame = frame.assign(mean=frame["rating"] / maximum)
    humans = frame.assign(judge="Human", mean=frame["gt"] / maximum)
    key = ["dimension", "judge", "model"]
    means = pd.concat([frame, humans]).groupby(key)["mean"].mean()
    published = pd.read_csv(DATA / "play_favorites_mean_scores.csv").dropna(subset="dimension")
    published = published.set_index(key)["value"]
    assert set(published.index) == set(means.index)
    distance = (means - published).abs()
    of_humans = distance.index.get_level_values("judge") == "Human"
    assert distance[of_humans].max() < 0.01
    # 0.009: rounding and chance make 0.006 of it, ratings near the top the rest.
    assert distance[~of_humans].mean() < 0.011
    assert distance.max() < 0.07


def test_raters_agree_as_published(study):
    facts = {
        fields(row, "fact dimension"): row["value"] for row in read_table(DATA / "twin_facts.csv")
    }
    for dimension in SCALES:
        scores = scores_from(study, dimension)
        pairs = np.diff(scores[:, [0, 1, 2, 0]])  # every pair of the three raters
        expected = 2 * scores.var(ddof=1)  # mean squared difference of two of all the scores
        alpha = float(facts["krippendorff_alpha", dimension])
        assert 1 - np.square(pairs).mean() / expected == pytest.approx(alpha, abs=0.02)
        agreement = float(facts["observed_agreement", dimension])
        assert (pairs == 0).mean() == pytest.approx(agreement, abs=0.03)


def test_gt_is_the_rounded_mean_of_the_raters(study):
    raters = pd.DataFrame(study.raters).query("team == 'raters'")
    key = ["dimension", "model", "prompt_id"]
    means = raters.groupby(key)["rating"].mean().round(3).rename("mean")
    rated = pd.DataFrame(study.ratings).join(means, on=key)
    assert (rated["gt"] == rated["mean"]).all()
    assert rated["gt"].eq(3.667).any()
    assert set(raters["rater"]) == {1, 2, 3}


def test_absent_rows_are_as_many_as_counted(study):
    ratings = study.ratings
    assert 245_000 < ratings["rating"].size < 257_000
    counted = keyed(where(read_table(DATA / "twin_facts.csv"), fact="absent"), "dimension term")
    for (dimension, judge), row in counted.items():
        rows = ((ratings["dimension"] == dimension) & (ratings["judge"] == judge)).sum()
        assert {"Faithfulness": 1800}.get(dimension, 5364) - rows == int(row["value"])
    helpful = (ratings["dimension"] == "Helpfulness") & (ratings["judge"] == "Llama 3 8B")
    assert 5364 - helpful.sum() == 431
    assert scores_from(study, "Faithfulness").shape == (1794, 3)


def test_columns_names_and_order(world, study):
    ratings = study.ratings
    assert list(ratings) == COLUMNS
    assert " ".join(study.raters) == "model dimension dataset prompt_id team rater rating"
    assert set(ratings["dataset"][ratings["dimension"] == "Faithfulness"]) == {"cnn", "xsum"}
    for dimension, (lowest, highest) in SCALES.items():
        rating = ratings["rating"][ratings["dimension"] == dimension]
        assert (rating.min(), rating.max()) == (lowest, highest)


def test_lengths_are_those_of_completions(study):
    lengths = pd.DataFrame(study.ratings).groupby(["model", "prompt_id"])["pred_length"]
    assert (lengths.nunique() == 1).all()
    assert lengths.min().min() >= 1
    assert lengths.max().max() <= 264


def test_the_same_seed_gives_the_same_bytes():
    published = read_files(DATA)
    scale = {"Faithfulness": [0, 4]}
    worlds = [published_world(published, models=MODELS, scales=scale) for _ in range(2)]
    first, again = (simulate(each, prompts=40, seed=7) for each in worlds)
    other = simulate(worlds[0], prompts=40, seed=1)
    for table, same, different in (
        (first.ratings, again.ratings, other.ratings),
        (first.raters, again.raters, other.raters),
    ):
        assert all(np.array_equal(table[column], same[column]) for column in table)
        assert not np.array_equal(table["rating"], different["rating"])


def test_prompts_are_shared_in_proportion(world):
    assert allocate(world, 596).tolist() == [139, 100, 160, 53, 44, 100]
    assert allocate(world, 1192).tolist() == [278, 200, 320, 106, 88, 200]
    assert allocate(world, 40).tolist() == [9, 7, 11, 3, 3, 7]
    assert allocate(world, 12).tolist() == [2] * 6
    with pytest.raises(ConfigError, match="write 12 or more"):
        allocate(world, 11)
    assert simulate(world, prompts=12, seed=0).ratings["rating"].size > 4000


def test_beta_binomial_and_quadrature_agree_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    for mean, dispersion, maximum in ((0.9, 0.7, 2), (0.31, 12.0, 4), (0.994, 200.0, 6)):
        exact = stats.betabinom(maximum, mean * dispersion, (1 - mean) * dispersion).pmf(
            range(maximum + 1)
        )
        assert beta_binomial(np.array(mean), np.array(dispersion), maximum) == pytest.approx(
            exact, abs=1e-12
        )
        nodes, weights = beta_nodes(mean, dispersion, 10)
        powers = np.arange(19)
        moment = np.prod((mean * dispersion + powers) / (dispersion + powers))  # E[q^19]
        assert weights @ nodes**19 == pytest.approx(moment, rel=1e-9)


def test_errors_say_what_is_wrong(world):
    published = read_files(DATA)
    with pytest.raises(ConfigError, match=r"Helpfulness: \[1, 7\] cannot be simulated"):
        published_world(published, models=MODELS, scales={"Helpfulness": [1, 7]})
    with pytest.raises(
        DataError, match=r"play_favorites_estimates\.csv has no row with .*'Fluency'"
    ):
        published_world(published, models=MODELS, scales={"Fluency": [0, 4]})
    with pytest.raises(ConfigError, match="models: the twin's are of one family, GPT; write"):
        published_world(published, models={"GPT-4o": "GPT", "GPT-3.5 Turbo": "GPT"}, scales=SCALES)
    with pytest.raises(ConfigError, match="expected ratings on Completeness run from"):
        simulate(replace(world, slope=world.slope + 1), prompts=12, seed=0)
