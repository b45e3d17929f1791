"""Leaderboards before and after debiasing: a planted swap is undone; replicates are refits to the rows of resamples."""

from functools import partial

import duckdb
import numpy as np
import pytest

from designs_on_rows import times_drawn
from recuse.base.tables import ESTIMATES, LEADERBOARD, read_table, write_table
from recuse.inference import leaderboard as debias
from recuse.inference.leaderboard import (
    DEBIASED,
    HUMAN,
    RAW,
    WITHOUT_FAMILY,
    WITHOUT_SELF,
    Pairs,
    judgment_rows,
    leaderboard,
    leaderboards,
    rank_sets,
    ranks,
    score_weights_of_pairs,
    tail,
    write_debiased,
)
from recuse.model.design import estimable_terms
from recuse.model.estimates import estimate
from recuse.model.spec import EQUATION_1, Spec
from recuse.montecarlo.world import MonteCarloWorld

SEED = 7
board = partial(leaderboards, replicates=200, confidence=0.9, seed=SEED)


def by_model(rows, kind, column="score"):
    return {row["model"]: row[column] for row in rows if row["scores"] == kind}


def swapped():
    """Models 1, 3 and 5 favour themselves by 0.2: one of 5 judges lifts them past better ones. True order: 5, 4, 3, 2, 1."""
    dials = {"dimensions": 3, "prompts": 80, "intercept": 0.2, "slope": 0.8, "noise": 0.1, "quality_gap": 0.12}
    world = MonteCarloWorld(families=[1] * 5, self_bias=[0.2, 0, 0.2, 0, 0.2], **dials)
    return world.draw(np.random.default_rng(3))


def test_debiased_leaderboard_restores_the_order_that_bias_swapped():
    rows = list(board(Spec.of("main"), swapped()))
    true = ["Model 5", "Model 4", "Model 3", "Model 2", "Model 1"]
    ranks = {kind: by_model(rows, kind, "rank") for kind in (RAW, DEBIASED, WITHOUT_SELF, WITHOUT_FAMILY)}
    assert sorted(true, key=ranks[RAW].get) == ["Model 5", "Model 3", "Model 4", "Model 1", "Model 2"]
    for kind in (DEBIASED, WITHOUT_SELF, WITHOUT_FAMILY):
        assert sorted(true, key=ranks[kind].get) == true
    for model, change in by_model(rows, DEBIASED, "change").items():
        assert change == pytest.approx(-0.2 / 5 if model in true[::2] else 0, abs=0.012)
    lows, highs = by_model(rows, RAW, "rank_low"), by_model(rows, RAW, "rank_high")
    assert highs["Model 3"] < 3 <= lows["Model 4"]  # wrong, and sure of it
    lows, highs = by_model(rows, DEBIASED, "rank_low"), by_model(rows, DEBIASED, "rank_high")
    assert all(lows[model] <= rank <= highs[model] for rank, model in enumerate(true, start=1))


def test_replicates_are_refits_to_the_rows_of_the_same_resamples(twin, monkeypatch):
    """Scores of three resamples, by rows repeated, a fit by QR, and means of means."""
    seen = {}
    monkeypatch.setattr(
        debias, "leaderboard", lambda pairs, means, bias, family, **more: seen.update(m=means, b=bias, p=pairs, **more) or ()
    )
    spec = Spec.of("main", subset={"dimension": ["Helpfulness", "Completeness"]})
    assert not list(board(spec, twin))
    frame = duckdb.sql(spec.selection.rows(twin.ratings)).df()
    columns = ("dimension", "dataset", "task_type", "judge", "model", "judge_family", "model_family")
    terms = estimable_terms(spec, {c: frame[c].to_numpy(dtype=str) for c in columns})
    regressors = (1.0, frame["gt_unit"].to_numpy())
    x = np.stack([term.carried * regressors[term.regressor] for term in terms], axis=1)
    prompt = frame["prompt"].to_numpy()
    draws = [np.ones(twin.prompts), *times_drawn(twin.prompts, 200)[:3]]
    for replicate, times in enumerate(draws):
        rows = np.repeat(np.arange(len(frame)), times.astype(int)[prompt])
        result = np.linalg.lstsq(x[rows], frame["rating_unit"].to_numpy()[rows], rcond=None)[0]
        bias = sum(
            value * term.carried
            for value, term in zip(result, terms, strict=True)
            if term.quantity in ("self_bias", "family_bias")
        )
        resampled = frame.assign(bias=bias).iloc[rows].groupby(["judge", "model"], observed=True)
        pairs = [(judge, model) for judge in seen["p"].judges for model in seen["p"].models]
        means = resampled[["rating_unit", "bias", "gt_unit"]].mean().reindex(pairs)
        np.testing.assert_allclose(seen["m"][replicate].ravel(), means["rating_unit"], rtol=0, atol=1e-10)
        np.testing.assert_allclose(seen["b"][replicate].ravel(), means["bias"], rtol=0, atol=1e-10)
        np.testing.assert_allclose(seen["human"][replicate].ravel(), means["gt_unit"], rtol=0, atol=1e-10)


def test_slices_and_intervals(twin):
    rows = list(board(Spec.of("by_task_type", slice="task_type", whole=True), twin))
    assert {row["slice"] for row in rows} == {"", "open-ended qa", "summarization"}
    assert len(rows) == 3 * 5 * 9
    for row in rows:
        assert row["ci_low"] < row["score"] < row["ci_high"]
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
        assert ("change" in row) == (row["scores"] != RAW)
        assert row["estimand"] == ("A against humans" if row["scores"] == DEBIASED else "")
        assert row["judges"] == {WITHOUT_SELF: 8, WITHOUT_FAMILY: 6 if "Claude" in row["model"] else 7}.get(row["scores"], 9)
    assert set(rows[-1]) | {"study", "note"} == set(LEADERBOARD)
    raw = f"select judge, avg(rating_unit) as mean from '{twin.ratings[0]}' where model = 'GPT-4o' group by judge"
    ((mean,),) = duckdb.sql(f"select avg(mean) from ({raw})").fetchall()
    assert next(row["score"] for row in rows if row["model"] == "GPT-4o") == pytest.approx(mean, abs=1e-12)
    assert rows == list(board(Spec.of("by_task_type", slice="task_type", whole=True), twin))


def test_biases_may_come_from_model_effects():
    """Under B, shared preference for a model is no bias: what is taken off is near what was planted."""
    study = swapped()
    rows = list(board(Spec.of("by_model").changed(terms=(*EQUATION_1, "model")), study))
    for model, change in by_model(rows, DEBIASED, "change").items():
        assert change == pytest.approx(-0.2 / 5 if model in ("Model 1", "Model 3", "Model 5") else 0, abs=0.012)


def test_scores_of_all_pairs_are_means_and_of_some_pairs_are_fair():
    generator = np.random.default_rng(1)
    means = generator.random((4, 1)) + generator.random((1, 5))  # severe judges, good models
    whole = np.einsum("mjk,jk->m", score_weights_of_pairs(np.ones((4, 5), dtype=bool)), means)
    np.testing.assert_allclose(whole, means.mean(axis=0), rtol=0, atol=1e-12)
    kept = generator.random((4, 5)) < 0.7
    some = np.einsum("mjk,jk->m", score_weights_of_pairs(kept), np.where(kept, means, 99.0))
    np.testing.assert_allclose(some, whole, rtol=0, atol=1e-10)


def test_models_that_no_judge_compares_have_no_scores():
    blocks = np.kron(np.eye(2, dtype=bool), np.ones((2, 2), dtype=bool))  # two judges of two models each
    assert np.isnan(score_weights_of_pairs(blocks)).all()
    blocks[0, 2] = True
    assert not np.isnan(score_weights_of_pairs(blocks)).any()


def test_biases_that_are_not_determined_leave_no_debiased_scores():
    world = MonteCarloWorld(families=[2], dimensions=2, prompts=20, intercept=0.2, slope=0.5, noise=0.1)
    rows = list(board(Spec.of("main"), world.draw(np.random.default_rng(1))))
    assert {row["scores"] for row in rows if "score" in row} == {RAW, HUMAN}
    assert {row["judges"] for row in rows if row["scores"] == DEBIASED} == {0}


def test_two_judges_that_leave_their_family_compare_nothing():
    world = MonteCarloWorld(families=[1, 1], dimensions=2, prompts=20, intercept=0.2, slope=0.5, noise=0.1)
    rows = list(board(Spec.of("main"), world.draw(np.random.default_rng(1))))
    for row in rows:
        left_out = row["scores"] in (WITHOUT_SELF, WITHOUT_FAMILY)
        assert ("score" in row) != left_out
        assert row["note"].startswith("not estimable" if left_out else "20 prompts, fewer than 30")


def test_rank_sets_hold_all_true_ranks_at_once():
    generator = np.random.default_rng(2)
    true = np.array([0.0, 0.1, 0.12, 0.3, 0.9])
    hits, sizes = [], []
    for _ in range(400):
        sample = true + 0.5 * generator.standard_normal((60, 1)) + 0.2 * generator.standard_normal((60, 5))
        drawn = generator.multinomial(60, np.full(60, 1 / 60), size=300) / 60 @ sample
        low, high = rank_sets(sample.mean(axis=0), drawn, prompts=60, confidence=0.9)
        hits.append(((low <= 5 - np.arange(5)) & (5 - np.arange(5) <= high)).all())
        sizes.append(high - low)
        own = ranks(sample.mean(axis=0))
        assert ((low <= own) & (own <= high)).all()
    assert np.mean(hits) > 0.87
    np.testing.assert_allclose(np.mean(sizes, axis=0)[[3, 4]], 0, atol=0.02)  # far apart: sure
    assert np.mean(sizes, axis=0)[1] > 0.5


@pytest.mark.parametrize("prompts", [12, 30, 200])
def test_rank_sets_of_equals_contain_all_ranks_with_the_stated_probability(prompts):
    """Of nine equals all sets run from 1 to 9 with probability `confidence`, even with few prompts."""
    generator = np.random.default_rng(4)
    whole, covered = [], []
    share = tail(0.9, prompts)
    for _ in range(300):
        sample = generator.standard_normal((prompts, 1)) + generator.standard_normal((prompts, 9))
        drawn = generator.multinomial(prompts, np.full(prompts, 1 / prompts), size=200) / prompts @ sample
        low, high = rank_sets(sample.mean(axis=0), drawn, prompts=prompts, confidence=0.9)
        whole.append((low == 1).all() and (high == 9).all())
        ends = np.quantile(drawn, [share, 1 - share], axis=0)
        covered.append(((ends[0] <= 0) & (ends[1] >= 0)).mean())
    assert np.mean(whole) == pytest.approx(0.88, abs=0.05)
    assert np.mean(covered) == pytest.approx(0.89, abs=0.03)


def test_rank_sets_without_any_variation_are_the_ranks():
    low, high = rank_sets(np.array([0.5, 0.7, 0.7]), np.tile([0.5, 0.7, 0.7], (3, 1)), prompts=9, confidence=0.9)
    assert (list(low), list(high)) == ([3, 1, 1], [3, 2, 2])


def test_scores_that_differ_by_rounding_alone_are_equal():
    """The sums of 0.1, 0.2 and 0.3 and of 0.3, 0.2 and 0.1 differ in the last bit."""
    scores = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.4, 0.4, 0.4]]).mean(axis=1)
    assert scores[0] != scores[1]
    assert ranks(scores).tolist() == [2, 2, 1]


def drawn_board(replicates=300, prompts=50, lost=0):
    """A slice of four judges, of which model c is none; in the first `lost` replicates a's rating of itself is missing."""
    generator = np.random.default_rng(8)
    pairs = Pairs(np.array(list("abde")), np.array(list("abc")), np.arange(12))
    means = np.round(generator.random((4, 3)), 1) + 0.1 * generator.standard_normal((1 + replicates, 4, 3))
    means[0] = np.round(means[0], 1)
    means[1 : 1 + lost, 0, 0] = np.nan
    bias, family = np.full(means.shape, 1e-15), np.zeros((4, 3), dtype=bool)  # no bias but rounding
    rows = leaderboard(pairs, means, bias, family, human=np.zeros(means.shape), prompts=prompts, confidence=0.9)
    return means, {(row["scores"], row["model"]): row for row in rows}


def test_changes_are_of_the_same_replicates_and_0_where_nothing_is_left_out():
    means, rows = drawn_board()
    kept = np.ones((4, 3), dtype=bool)
    kept[[0, 1], [0, 1]] = False
    change = np.einsum("mjk,rjk->rm", score_weights_of_pairs(kept), means) - means.mean(axis=1)
    for place, model in enumerate("ab"):
        row = rows[WITHOUT_SELF, model]
        assert row["change"] == pytest.approx(change[0, place], abs=1e-12)
        ends = np.quantile(change[1:, place], [tail(0.9, 50), 1 - tail(0.9, 50)])
        assert (row["change_ci_low"], row["change_ci_high"]) == pytest.approx(tuple(ends), abs=1e-12)
    for kind, model in ((WITHOUT_SELF, "c"), (DEBIASED, "a"), (DEBIASED, "c")):
        assert [rows[kind, model][key] for key in ("change", "change_ci_low", "change_ci_high")] == [0, 0, 0]
    assert rows[WITHOUT_SELF, "c"]["score"] == rows[RAW, "c"]["score"]
    error = means[1:, :, 2].mean(axis=1).std(ddof=1) * np.sqrt(50 / 49)
    assert rows[RAW, "c"]["std_error"] == pytest.approx(error, rel=1e-12)


def test_replicates_without_a_raw_score_are_left_out_of_all_kinds():
    """Where a's rating of itself is lost there is no raw score, though one without judges' ratings of themselves."""
    _, rows = drawn_board(lost=40)
    assert {row["replicates"] for (kind, _), row in rows.items() if kind != HUMAN} == {260}


def test_few_prompts_are_noted():
    assert {row.get("note") for row in drawn_board(prompts=30)[1].values()} == {None}
    (note,) = {row["note"] for row in drawn_board(prompts=29)[1].values()}
    assert note.startswith("29 prompts, fewer than 30: ")


def test_debiased_ratings_are_rows_less_the_estimates(twin, tmp_path):
    spec = Spec.of("main")
    write_table(tmp_path / "main.csv", ESTIMATES, estimate(spec, twin, confidence=0.9).estimates)
    estimates = read_table(tmp_path / "main.csv")
    write_debiased(spec, twin, estimates, str(tmp_path / "debiased.parquet"))
    value = {(row["quantity"], row["term"]): float(row["estimate"]) for row in estimates}
    result = duckdb.sql(f"from '{tmp_path}/debiased.parquet'").df()
    raw = duckdb.sql(f"from '{twin.ratings[0]}'").df()
    assert len(result) == len(raw)
    np.testing.assert_array_equal(result["prompt_id"], raw["prompt_id"])
    own = (raw["judge"].astype(str) == raw["model"].astype(str)).to_numpy()
    family = (raw["judge_family"].astype(str) == raw["model_family"].astype(str)).to_numpy() & ~own
    expected = np.zeros(len(raw))
    expected[own] = [value["self_bias", judge] for judge in raw["judge"][own]]
    expected[family] = [value["family_bias", name] for name in raw["judge_family"][family]]
    np.testing.assert_array_equal(result["bias"], expected)
    np.testing.assert_array_equal(result["debiased_unit"], raw["rating_unit"] - expected)
    estimates = [{**row, "estimate": "" if row["term"] == "GPT-4o" else row["estimate"]} for row in estimates]
    write_debiased(spec, twin, estimates, str(tmp_path / "unknown.parquet"))
    unknown = duckdb.sql(f"from '{tmp_path}/unknown.parquet'").df()
    lost = own & (raw["judge"] == "GPT-4o").to_numpy()
    assert lost.any()
    np.testing.assert_array_equal(unknown["bias"].isna(), lost)
    np.testing.assert_array_equal(unknown["debiased_unit"].isna(), lost)


@pytest.mark.parametrize("spec", [Spec.of("main"), Spec.of("main", terms=[*EQUATION_1, "model"])])
def test_the_mean_gap_of_all_own_ratings_is_the_self_bias(spec, twin, tmp_path):
    write_table(tmp_path / "main.csv", ESTIMATES, estimate(spec, twin, confidence=0.9).estimates)
    estimates = read_table(tmp_path / "main.csv")
    biases = {row["term"]: float(row["estimate"]) for row in estimates if row["quantity"] == "self_bias"}
    gaps = {}
    for row in judgment_rows(spec, twin, estimates, most=10**9):
        gaps.setdefault(row["judge"], []).append(row["gap"])
    assert {judge: np.mean(values) for judge, values in gaps.items()} == pytest.approx(biases, abs=1e-9)
    for judge, values in gaps.items():
        assert np.all(np.diff(np.sign(biases[judge]) * np.array(values)) < 1e-8)
    first = list(judgment_rows(spec, twin, estimates))
    assert len(first) == 9 * 20
    assert [row["gap"] for row in first if row["judge"] == "GPT-4o"] == gaps["GPT-4o"][:20]
