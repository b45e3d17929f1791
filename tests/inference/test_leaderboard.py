"""Leaderboards before and after debiasing: a planted swap is undone, what is refused is left out,
intervals cover.
"""

from functools import partial

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

from designs_on_rows import frame_on_rows, times_drawn
from picked_rows import fields, keyed
from recuse.base.reasons import Reason, because
from recuse.base.tables import read_table, write_table
from recuse.inference.idiosyncrasy import IDIOSYNCRASY, idiosyncrasies, idiosyncrasy_rows
from recuse.inference.leaderboard import (
    DEBIASED,
    HUMAN,
    LEADERBOARD,
    RAW,
    REGRESSION,
    SHRUNK,
    WITHOUT_FAMILY,
    WITHOUT_SELF,
    Removed,
    SlicePairs,
    judgment_rows,
    leaderboard_rows,
    leaderboards,
    rank_sets,
    removed_biases,
    score_ranks,
    score_weights_of_pairs,
    tail,
    totals_of_slices,
    write_debiased,
)
from recuse.model.estimates import ESTIMATES, estimate
from recuse.model.fit import fitted_slices
from recuse.model.spec import EQUATION_1, Spec, estimand_name
from recuse.validation.world import MonteCarloWorld

pytestmark = pytest.mark.usefixtures("few_sweeps")
SEED = 7
board = partial(leaderboards, replicates=200, confidence=0.9, seed=SEED)
MAIN = Spec.of("main")


def by_model(rows, kind, column="score"):
    return {row["model"]: row[column] for row in rows if row["scores"] == kind}


def beyond_preference(study, folder, spec=MAIN):
    rows = idiosyncrasy_rows(idiosyncrasies(spec, study), confidence=0.9)
    write_table(folder / "idiosyncrasy.csv", IDIOSYNCRASY, rows)
    return removed_biases(spec, read_table(folder / "idiosyncrasy.csv"), debias="C", instead={})


def regression_ranking(study, spec=MAIN):
    (fitted,) = fitted_slices(spec, study, seed=SEED)
    biases = {
        (each.quantity, each.term): (each.estimate, each.std_error) for each in fitted.coefficients
    }
    return Removed(estimand_name(spec), {"": biases})


def swapped():
    """Models 1, 3 and 5 favour themselves by 0.2: one of 5 judges lifts them past better ones. True
    order: 5, 4, 3, 2, 1.
    """
    dials = """
        {families: [1, 1, 1, 1, 1], dimensions: 3, prompts: 80, intercept: 0.2, slope: 0.8,
         noise: 0.1, quality_gap: 0.12, self_bias: [0.2, 0, 0.2, 0, 0.2]}
    """
    return MonteCarloWorld(**yaml.safe_load(dials)).draw(default_rng(3))


@pytest.mark.parametrize(
    "spec", [None, MAIN, Spec.of("by_model").changed(terms=(*EQUATION_1, "model"))]
)
def test_debiased_leaderboard_restores_the_order_that_bias_swapped(spec, tmp_path):
    study = swapped()
    removed = regression_ranking(study, spec) if spec else beyond_preference(study, tmp_path)
    rows = pd.DataFrame(board(spec or MAIN, study, removed)).set_index(["scores", "model"])
    true = ["Model 5", "Model 4", "Model 3", "Model 2", "Model 1"]
    biased = ["Model 5", "Model 3", "Model 4", "Model 1", "Model 2"]
    for kind in (RAW, DEBIASED, WITHOUT_SELF, WITHOUT_FAMILY):
        order = rows.loc[kind]["rank"].sort_values().index
        assert [*order] == (biased if kind == RAW else true)
    raw, debiased = (rows.loc[kind].loc[true] for kind in (RAW, DEBIASED))
    assert [*debiased["change"]] == pytest.approx([-0.04, 0, -0.04, 0, -0.04], abs=0.012)
    assert raw["rank_high"]["Model 3"] < 3 <= raw["rank_low"]["Model 4"]  # wrong, and sure of it
    ends = debiased[["rank_low", "rank_high"]].to_numpy().T
    assert (ends[0] <= range(1, 6)).all()
    assert (ends[1] >= range(1, 6)).all()


def test_what_is_subtracted_is_shrunk_where_it_can_be_and_nothing_where_it_is_refused(tmp_path):
    shared = {"spec": "main", "quantity": "self_bias", "estimate": 0.04, "std_error": 0.01}
    rows = [
        shared | {"term": "a", "shrunk": 0.02, "shrunk_std_error": 0.005},
        shared | {"term": "b"},
        shared
        | {"term": "c", "reason": because(Reason.FEW_PROMPTS, names="c", prompts=8, least=10)},
        shared | {"term": "d", "spec": "another"},
    ]
    write_table(tmp_path / "biases.csv", IDIOSYNCRASY, rows)
    for name, instead in (("main", {}), ("substitute", {"main": "substitute"})):
        removed = removed_biases(
            Spec.of(name), read_table(tmp_path / "biases.csv"), debias="C", instead=instead
        )
        found = {term: numbers for (_, term), numbers in removed.of_slices[""].items()}
        assert found == {
            "a": (0.02, 0.005),
            "b": (0.04, 0.01),
            "c": pytest.approx((np.nan, np.nan), nan_ok=True),
        }


def test_the_own_cell_of_a_refused_judge_is_left_out():
    biases = {("self_bias", f"Model {number}"): (0.01, 0.0) for number in range(1, 6)} | {
        ("self_bias", "Model 2"): (np.nan,) * 2
    }
    rows = list(board(MAIN, swapped(), Removed(SHRUNK, {"": biases})))
    assert [*by_model(rows, DEBIASED, "judges").values()] == [5, 4, 5, 5, 5]
    debiased = by_model(rows, DEBIASED)
    raw = by_model(rows, RAW)
    assert debiased["Model 1"] == pytest.approx(raw["Model 1"] - 0.01 / 5, abs=1e-12)
    assert debiased["Model 2"] == pytest.approx(by_model(rows, WITHOUT_SELF)["Model 2"], abs=0.03)


def test_replicates_are_of_the_rows_of_the_same_resamples(twin):
    """Means of three resamples, by rows repeated."""
    spec = Spec.of("main", subset={"dimension": ["Helpfulness", "Completeness"]})
    ((label, _, pairs, totals),) = totals_of_slices(spec, twin, replicates=200, seed=SEED)
    frame = duckdb.sql(spec.selection.rows(twin.ratings)).df()
    names = [(judge, model) for judge in pairs.judges for model in pairs.models]
    prompt = frame["prompt"].to_numpy()
    assert (label, totals.prompts) == ("", twin.prompts)
    for replicate, times in enumerate([np.ones(twin.prompts), *times_drawn(twin.prompts, 200)[:3]]):
        rows = np.repeat(np.arange(len(frame)), times.astype(int)[prompt])
        means = (
            frame.iloc[rows]
            .groupby(["judge", "model"], observed=True)[["rating_unit", "gt_unit"]]
            .mean()
            .reindex(names)
        )
        assert_allclose(totals.means()[replicate].T, means, rtol=0, atol=1e-10)


def test_slices_and_intervals(twin, tmp_path):
    spec = Spec.of("by_task_type", slice="task_type", whole=True)
    removed = beyond_preference(twin, tmp_path, spec)
    rows = list(board(spec, twin, removed))
    assert {row["slice"] for row in rows} == {"", "open-ended qa", "summarization"}
    assert len(rows) == 3 * 5 * 9
    for row in rows:
        assert row["ci_low"] < row["score"] < row["ci_high"]
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
        assert ("change" in row) == (row["scores"] != RAW)
        assert row["estimand"] == (SHRUNK if row["scores"] == DEBIASED else "")
        assert row["judges"] == {
            WITHOUT_SELF: 8,
            WITHOUT_FAMILY: 6 if "Claude" in row["model"] else 7,
        }.get(row["scores"], 9)
    assert set(rows[-1]) | {"study", "note"} == set(LEADERBOARD)
    assert rows == list(board(spec, twin, removed))


def test_scores_of_all_pairs_are_means_and_of_some_pairs_are_fair():
    generator = default_rng(1)
    means = generator.random((4, 1)) + generator.random((1, 5))  # severe judges, good models
    whole = np.einsum("mjk,jk->m", score_weights_of_pairs(np.ones((4, 5), dtype=bool)), means)
    assert_allclose(whole, means.mean(axis=0), rtol=0, atol=1e-12)
    kept = generator.random((4, 5)) < 0.7
    some = np.einsum("mjk,jk->m", score_weights_of_pairs(kept), np.where(kept, means, 99.0))
    assert_allclose(some, whole, rtol=0, atol=1e-10)


def test_models_that_no_judge_compares_have_no_scores():
    # Two judges of two models each
    blocks = np.kron(np.eye(2, dtype=bool), np.ones((2, 2), dtype=bool))
    assert np.isnan(score_weights_of_pairs(blocks)).all()
    blocks[0, 2] = True
    assert not np.isnan(score_weights_of_pairs(blocks)).any()


@pytest.mark.parametrize("families", [[2], [1, 1]])
def test_without_biases_that_are_estimable_two_judges_compare_nothing(families):
    # Not checked: settings want two families
    world = MonteCarloWorld.model_construct(
        families=families, dimensions=2, prompts=20, intercept=0.2, slope=0.5, noise=0.1
    )
    rows = list(board(MAIN, world.draw(default_rng(1)), Removed(SHRUNK, {})))
    for row in rows:
        left_out = row["scores"] not in (RAW, HUMAN)
        assert ("score" in row) != left_out
        assert row["note"] == (
            "not_compared" if left_out else because(Reason.SHORT_INTERVALS, prompts=20, few=30)
        )


@pytest.mark.parametrize("prompts", [12, pytest.param(200, marks=pytest.mark.long)])
def test_rank_sets_of_equals_contain_all_ranks_with_the_stated_probability(prompts):
    """Of nine equals all sets run from 1 to 9 with probability `confidence`, even with few
    prompts.
    """
    generator = default_rng(4)
    whole = []
    covered = []
    share = tail(0.9, prompts)
    for _ in range(300):
        sample = generator.standard_normal((prompts, 1)) + generator.standard_normal((prompts, 9))
        drawn = (
            generator.multinomial(prompts, np.full(prompts, 1 / prompts), size=200)
            / prompts
            @ sample
        )
        low, high = rank_sets(sample.mean(axis=0), drawn, prompts=prompts, confidence=0.9)
        whole.append((low == 1).all() and (high == 9).all())
        ends = np.quantile(drawn, [share, 1 - share], axis=0)
        covered.append(((ends[0] <= 0) & (ends[1] >= 0)).mean())
    assert np.mean(whole) == pytest.approx(0.88, abs=0.05)
    assert np.mean(covered) == pytest.approx(0.89, abs=0.03)


def test_rank_sets_without_any_variation_are_the_ranks():
    low, high = rank_sets(
        np.array([0.5, 0.7, 0.7]), np.tile([0.5, 0.7, 0.7], (3, 1)), prompts=9, confidence=0.9
    )
    assert (list(low), list(high)) == ([3, 1, 1], [3, 2, 2])


def test_scores_that_differ_by_rounding_alone_are_equal():
    """The sums of 0.1, 0.2 and 0.3 and of 0.3, 0.2 and 0.1 differ in the last bit."""
    scores = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.4, 0.4, 0.4]]).mean(axis=1)
    assert scores[0] != scores[1]
    assert score_ranks(scores).tolist() == [2, 2, 1]


def drawn_board(prompts=50):
    """A slice of four judges and three models, one of which, c, is not a judge."""
    generator = default_rng(8)
    pairs = SlicePairs(np.array(list("abde")), np.array(list("abc")), np.arange(12))
    means = np.round(generator.random((4, 3)), 1) + 0.1 * generator.standard_normal((301, 4, 3))
    means[0] = np.round(means[0], 1)
    bias, family = np.full(means.shape, 1e-15), np.zeros((4, 3), dtype=bool)  # no bias but rounding
    rows = leaderboard_rows(
        pairs, means, bias, family, human=np.zeros(means.shape), prompts=prompts, confidence=0.9
    )
    return means, keyed(rows, "scores model")


def test_changes_are_of_the_same_replicates_and_0_where_nothing_is_left_out():
    means, rows = drawn_board()
    kept = np.ones((4, 3), dtype=bool)
    kept[[0, 1], [0, 1]] = False
    change = np.einsum("mjk,rjk->rm", score_weights_of_pairs(kept), means) - means.mean(axis=1)
    for place, model in enumerate("ab"):
        row = rows[WITHOUT_SELF, model]
        assert row["change"] == pytest.approx(change[0, place], abs=1e-12)
        ends = np.quantile(change[1:, place], [tail(0.9, 50), 1 - tail(0.9, 50)])
        assert fields(row, "change_ci_low change_ci_high") == pytest.approx(tuple(ends), abs=1e-12)
    for kind, model in ((WITHOUT_SELF, "c"), (DEBIASED, "a"), (DEBIASED, "c")):
        assert fields(rows[kind, model], "change change_ci_low change_ci_high") == (0, 0, 0)
    assert rows[WITHOUT_SELF, "c"]["score"] == pytest.approx(rows[RAW, "c"]["score"], abs=1e-12)
    error = means[1:, :, 2].mean(axis=1).std(ddof=1) * np.sqrt(50 / 49)
    assert rows[RAW, "c"]["std_error"] == pytest.approx(error, rel=1e-12)


def test_few_prompts_are_noted():
    assert {row["note"] for row in drawn_board(prompts=30)[1].values()} == {""}
    (note,) = {row["note"] for row in drawn_board(prompts=29)[1].values()}
    assert note == because(Reason.SHORT_INTERVALS, prompts=29, few=30)


def test_debiased_ratings_are_rows_less_the_biases_and_missing_where_there_is_none(twin, tmp_path):
    removed = beyond_preference(twin, tmp_path)
    removed.of_slices[""]["self_bias", "GPT-4o"] = np.nan, np.nan
    write_debiased(MAIN, twin, removed, str(tmp_path / "debiased.parquet"))
    result = duckdb.sql(f"from '{tmp_path}/debiased.parquet'").df()
    raw = frame_on_rows(twin)
    assert_array_equal(result["prompt_id"], raw["prompt_id"])
    own = raw["judge"] == raw["model"]
    family = (raw["judge_family"] == raw["model_family"]) & ~own
    biases = pd.DataFrame(removed.of_slices[""]).loc[0]
    expected = np.zeros(len(raw))
    expected[own] = biases["self_bias"][raw["judge"][own]]
    expected[family] = biases["family_bias"][raw["judge_family"][family]]
    assert_array_equal(result["bias"], expected)
    assert_array_equal(result["debiased_unit"], raw["rating_unit"] - expected)
    assert_array_equal(np.isnan(expected), own & (raw["judge"] == "GPT-4o"))
    assert set(result["estimand"]) == {SHRUNK}


@pytest.mark.parametrize(
    ("spec", "debias"), [(MAIN, "C"), (Spec.of("main", terms=[*EQUATION_1, "model"]), REGRESSION)]
)
def test_the_mean_gap_of_all_own_ratings_is_the_self_bias_that_is_removed(
    spec, debias, twin, tmp_path, monkeypatch
):
    write_table(tmp_path / "main.csv", ESTIMATES, estimate(spec, twin, confidence=0.9).estimates)
    estimates = read_table(tmp_path / "main.csv")
    shrunk = beyond_preference(twin, tmp_path)
    removed = (
        shrunk if debias == "C" else removed_biases(spec, estimates, debias=debias, instead={})
    )
    biases = {
        term: value
        for (quantity, term), (value, _) in removed.of_slices[""].items()
        if quantity == "self_bias"
    }
    first = judgment_rows(spec, twin, estimates, removed)
    monkeypatch.setattr("recuse.inference.leaderboard.MOST_JUDGMENTS", 10**9)
    gaps = {}
    for row in judgment_rows(spec, twin, estimates, removed):
        gaps.setdefault(row["judge"], []).append(row["gap"])
    means = {judge: np.mean(values) for judge, values in gaps.items()}
    assert means == pytest.approx({judge: biases[judge] for judge in means}, abs=1e-9)
    for judge, values in gaps.items():
        assert np.all(np.diff(np.sign(biases[judge]) * np.array(values)) < 1e-8)
    assert len(first) == 9 * 20
    assert [row["gap"] for row in first if row["judge"] == "GPT-4o"] == gaps["GPT-4o"][:20]
    assert {row["estimand"] for row in first} == {removed.estimand}
