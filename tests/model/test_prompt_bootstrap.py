"""The bootstrap by prompt against refits to the rows of the same resamples."""

from pathlib import Path

import duckdb
import numpy as np
import pytest

from conftest import built, study_files
from designs_on_rows import times_drawn
from recuse.base.tables import ESTIMATES, read_table, write_table
from recuse.data.files import RatingsFile
from recuse.data.levels import levels_of
from recuse.data.selection import with_family_references, with_normalised_length
from recuse.model import prompt_sums as prompt_pieces
from recuse.model import resampling as prompt_bootstrap
from recuse.model.design import estimable_terms
from recuse.model.estimates import estimate
from recuse.model.fit import fits, prompt_errors
from recuse.model.spec import Spec

SEED = 7
SPECS = {
    "main": Spec.of("main", bootstrap=100),
    "slices": Spec.of("slices", slice="task_type", whole=True, bootstrap=100),
    "length": Spec.of("length", length="prompt", subset={"dimension": ["Helpfulness"]}, bootstrap=100),
    "reference": Spec.of("reference", reference="family", subset={"dimension": ["Helpfulness"]}, bootstrap=100),
}


def refits(spec, study, replicates):
    """Yield (slice, estimates (replicates, terms)): least squares on the rows of each resample, by QR."""
    rows = spec.selection.rows(study.ratings)
    rows = with_normalised_length(rows, spec.selection.length) if spec.selection.length else rows
    frame = duckdb.sql(with_family_references(rows, levels_of(study.ratings[0])) if spec.selection.reference else rows).df()
    columns = ("dimension", "dataset", "task_type", "judge", "model", "judge_family", "model_family")
    factors = {c: frame[c].to_numpy(dtype=str) for c in (*columns, *(["reference_family"] if spec.selection.reference else []))}
    for label, mask in spec.selection.slices(factors):
        part = frame[mask]
        terms = estimable_terms(spec, {c: values[mask] for c, values in factors.items()})
        regressors = (1.0, part["gt_unit"].to_numpy(), part["x"].to_numpy() if spec.selection.length else None)
        x = np.stack([term.carried * regressors[term.regressor] for term in terms], axis=1)
        y = part["rating_unit"].to_numpy()
        prompt = part["prompt"].to_numpy()
        drawn = times_drawn(study.prompts, spec.errors.bootstrap)[:replicates]
        found = []
        for times in drawn:
            resampled = np.repeat(np.arange(len(y)), times.astype(int)[prompt])
            found.append(np.linalg.lstsq(x[resampled], y[resampled], rcond=None)[0])
        yield label, np.array(found)


@pytest.mark.parametrize("name", SPECS)
def test_replicates_equal_refits_to_the_same_resamples(twin, name):
    fitted = {
        each.slice: np.stack([row.replicates for row in each.coefficients], 1) for each in fits(SPECS[name], twin, seed=SEED)
    }
    naive = dict(refits(SPECS[name], twin, 4))
    assert fitted.keys() == naive.keys()
    for label, estimates in naive.items():
        np.testing.assert_allclose(fitted[label][:4], estimates, rtol=0, atol=1e-10)


def test_columns_are_of_the_replicates_and_leave_the_others_alone(twin, tmp_path):
    rows = estimate(SPECS["main"], twin, confidence=0.9, seed=SEED).estimates
    (each,) = fits(SPECS["main"], twin, seed=SEED)
    for row, coefficient in zip(rows, each.coefficients, strict=True):
        assert row["boot_std_error"] == pytest.approx(np.std(coefficient.replicates, ddof=1), rel=1e-12)
        assert row["boot_ci_low"] == pytest.approx(np.percentile(coefficient.replicates, 5), rel=1e-12)
        assert row["boot_ci_high"] == pytest.approx(np.percentile(coefficient.replicates, 95), rel=1e-12)
    without = estimate(Spec.of("main"), twin, confidence=0.9).estimates
    assert [{key: value for key, value in row.items() if not key.startswith("boot_")} for row in rows] == without
    write_table(tmp_path / "main.csv", ESTIMATES, rows)
    assert float(read_table(tmp_path / "main.csv")[3]["boot_ci_low"]) == rows[3]["boot_ci_low"]


def test_bootstrap_agrees_with_the_errors_clustered_by_prompt(twin):
    spec = Spec.of("main", covariance="CR1", bootstrap=2000)
    rows = estimate(spec, twin, confidence=0.9, seed=SEED).estimates
    ratios = [row["boot_std_error"] / row["std_error"] for row in rows if row["quantity"] != "dimension"]
    assert np.median(ratios) == pytest.approx(1, abs=0.1)


def test_the_seed_makes_the_draws(twin):
    one, same, other = (
        [row["boot_ci_low"] for row in estimate(SPECS["main"], twin, confidence=0.9, seed=seed).estimates] for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


@pytest.mark.parametrize("piece", [1024, 7])
def test_each_replicate_draws_as_many_prompts_as_there_are(monkeypatch, piece):
    """Draws are multinomial whether a piece holds all prompts or few: mean 1, variance 1 - 1/P, covariance -1/P."""
    monkeypatch.setattr(prompt_pieces, "PROMPTS", piece)
    drawn = times_drawn(20, 40_000)
    assert drawn.shape == (40_000, 20)
    assert (drawn.sum(axis=1) == 20).all()
    np.testing.assert_allclose(drawn.mean(axis=0), 1, atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), np.eye(20) - 1 / 20, atol=0.04)
    assert not (
        drawn[: prompt_bootstrap.REPLICATES] == drawn[prompt_bootstrap.REPLICATES : 2 * prompt_bootstrap.REPLICATES]
    ).all()


def test_prompts_may_come_in_any_numbers(twin, monkeypatch):
    """Pieces of 16 of 40 prompts, from blocks of 5: what is left of a block waits for the next."""
    monkeypatch.setattr(prompt_pieces, "PROMPTS", 16)
    monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", 900)
    (errors,) = prompt_errors(SPECS["main"], twin, seed=SEED)
    ((_, naive),) = refits(SPECS["main"], twin, 3)
    np.testing.assert_allclose(errors.replicates[:3], naive, rtol=0, atol=1e-10)


# Of the raw rows: which stay, what gt is (few: of the first two prompts); the coefficients that live on the first two prompts.
CHANGES = {
    "no row of a term": ("judge <> 'GPT-4o' or model <> judge or few", "gt", {("self_bias", "GPT-4o")}),
    "one reference": (
        "true", "case when judge = 'GPT-4o' and not few then 2 else gt end", {("intercept", "GPT-4o"), ("slope", "GPT-4o")},
    ),
    "never determined": ("judge <> 'GPT-4o' or model = judge", "gt", set()),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_replicates_that_do_not_determine_a_coefficient(twin, tmp_path, change):
    kept, gt, fragile = CHANGES[change]
    raw = f"(select *, dense_rank() over (order by prompt_id) < 3 as few from '{Path(twin.ratings[0]).parent}/raw.parquet')"
    rows = f"select * exclude (few) replace ({gt} as gt) from {raw} where {kept}"
    duckdb.sql(f"copy ({rows}) to '{tmp_path}/raw.parquet'")
    study = built(tmp_path, "few", study_files("twin", [RatingsFile(f"{tmp_path}/raw.parquet")]))
    spec = Spec.of("few", subset={"dimension": ["Helpfulness"]}, bootstrap=100)
    (fitted,) = fits(spec, study, seed=SEED)
    ((_, naive),) = refits(spec, study, 20)
    lost = times_drawn(40, 100)[:, :2].sum(axis=1) == 0
    assert 5 < lost.sum() < 30
    for place, row in enumerate(fitted.coefficients):
        known = np.ones(100, dtype=bool)
        if (row.quantity, row.term) in fragile:
            known = ~lost
            assert f"{row.quantity} of {row.term} in {lost.sum()}" in fitted.remarks[0]
        if row.note:  # the whole of the rows does not determine it
            known[:] = False
        np.testing.assert_array_equal(np.isnan(row.replicates), ~known)
        np.testing.assert_allclose(row.replicates[:20][known[:20]], naive[known[:20], place], rtol=0, atol=1e-10)
    assert len(fitted.remarks) == bool(fragile)
    assert {row.term for row in fitted.coefficients if row.note} == ({"GPT-4o"} if change == "never determined" else set())


def test_ratings_on_the_fit_have_no_bootstrap_interval(twin, tmp_path):
    rows = f"select * replace (gt as rating) from '{Path(twin.ratings[0]).parent}/raw.parquet' where gt = round(gt)"
    duckdb.sql(f"copy ({rows}) to '{tmp_path}/raw.parquet'")
    study = built(tmp_path, "exact", study_files("twin", [RatingsFile(f"{tmp_path}/raw.parquet")]))
    for row in estimate(SPECS["main"], study, confidence=0.9, seed=SEED).estimates:
        assert row["boot_std_error"] == 0
        assert "boot_ci_low" not in row
