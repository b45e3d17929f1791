"""Errors clustered by prompt against statsmodels on rows, in blocks of rows of any size."""

import tracemalloc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pytest
from statsmodels.api import OLS

from conftest import CONFIG, built, study_files
from recuse.crosscheck.compare import compared
from recuse.crosscheck.statsmodels import fits_by_formula
from recuse.data.files import RatingsFile
from recuse.data.moments import PromptRange, prompt_ranges
from recuse.data.ratings import StudyFiles
from recuse.data.registry import Registry
from recuse.model.design import terms_of
from recuse.model.estimates import estimate
from recuse.model.fit import fits, prompt_errors
from recuse.model.resampling import Resamples
from recuse.model.spec import Spec

SPECS = {spec.name: spec.changed(covariance="CR1") for spec in Spec.from_config(CONFIG["specs"])}
NEWS = {"dataset": ["cnn", "xsum"]}
KINDS = {
    "main": SPECS["main"],
    "length by prompt": SPECS["length_control"],
    "slices that overlap": Spec.of("", slice="dataset", whole=True, subset=NEWS, covariance="CR1"),
    "length of a subset": Spec.of("", length="global", subset={"models_dropped": ["GPT-4o"], **NEWS}, covariance="CR1"),
    "reference of a subset": Spec.of("", reference="family", subset={"dimension": ["Faithfulness"]}, covariance="CR1"),
    "terms of all judges": Spec.of("", terms=("intercept", "reference", "self"), subset=NEWS, covariance="CR1"),
}


def errors(study, spec):
    return np.array([row["std_error"] for row in estimate(spec, study, confidence=0.9).estimates])


@pytest.mark.parametrize("spec", KINDS.values(), ids=KINDS)
def test_clustered_errors_equal_statsmodels_on_rows(twin, spec):
    rows = list(compared([spec], twin, confidence=0.9))
    assert rows
    assert max(row["largest_difference"] for row in rows) < 1e-9


@pytest.mark.parametrize("name", ["main", "length by prompt", "reference of a subset"])
def test_clustered_errors_of_the_published_ratings_equal_statsmodels(published, name):
    rows = list(compared([KINDS[name]], published, confidence=0.9))
    assert max(row["largest_difference"] for row in rows) < 1e-9


def test_clustered_errors_are_those_of_the_textbook(twin):
    """By numpy on rows, as the engines share what the small-sample factor is made of."""
    spec = SPECS["main"]
    frame = duckdb.sql(f"select * from '{twin.ratings[0]}'").df()
    terms = terms_of({name: frame[name].to_numpy(dtype=str) for name in ("judge", "model", "judge_family", "model_family",
                                                                              "dimension")})  # fmt: skip
    x = np.stack([term.carried * (1.0, frame["gt_unit"])[term.regressor] for term in terms], axis=1)
    inverse = np.linalg.inv(x.T @ x)
    residual = frame["rating_unit"].to_numpy() - x @ (inverse @ x.T @ frame["rating_unit"])
    scores = [(x[mask] * residual[mask, None]).sum(axis=0) for mask in
              (frame["prompt_id"].to_numpy() == prompt for prompt in frame["prompt_id"].unique())]  # fmt: skip
    (n, k), prompts = x.shape, len(scores)
    spread = inverse @ sum(np.outer(s, s) for s in scores) @ inverse * prompts / (prompts - 1) * (n - 1) / (n - k)
    np.testing.assert_allclose(errors(twin, spec), np.sqrt(np.diag(spread)), rtol=1e-10)


@pytest.mark.parametrize("name", KINDS)
def test_blocks_may_be_of_any_size(twin, monkeypatch, name):
    whole = errors(twin, KINDS[name])
    monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", 1000)  # a few prompts at a time
    ranges = [PromptRange(twin.ratings[0], first, first + 6) for first in range(0, 40, 7)]
    for module in ("data.moments", "data.study"):
        monkeypatch.setattr(f"recuse.{module}.prompt_ranges", lambda *_: iter(ranges))
    study = replace(twin, _read={})
    np.testing.assert_allclose(errors(study, KINDS[name]), whole, rtol=1e-12)


def test_blocks_are_whole_prompts_of_about_as_many_rows(tmp_path):
    """Groups of 2,048 rows, and prompts of 300: a block ends at the first prompt that begins after the rows asked for."""
    path = tmp_path / "rows.parquet"
    duckdb.sql(f"copy (select (i // 300)::uinteger as prompt from range(30_000) t(i)) to '{path}' (row_group_size 2048)")
    ranges = list(prompt_ranges([str(path)], rows=6000))
    assert ranges[0].first == 0
    assert ranges[-1].last == 99
    assert all(before.last + 1 == after.first for before, after in pairwise(ranges))
    assert all(5400 < 300 * (span.last - span.first + 1) < 8700 for span in ranges[:-1])


def test_one_prompt_has_no_clustered_errors(twin, tmp_path):
    duckdb.sql(
        f"copy (from '{raw(twin)}' where prompt_id = (select min(prompt_id) from '{raw(twin)}')) to '{tmp_path}/raw.parquet'"
    )
    study = built(tmp_path, "one", study_files("twin", [RatingsFile(f"{tmp_path}/raw.parquet")]))
    found = estimate(SPECS["main"].changed(bootstrap=100), study, confidence=0.9)
    known = [row for row in found.estimates if "estimate" in row]
    assert known
    for row in known:
        assert row["note"].startswith("no standard error")
        assert not {"ci_low", "p_value", "boot_std_error", "boot_ci_low"} & set(row)
    assert [row["remark"] for row in found.remarks] == ["no bootstrap: all rows are of one prompt"]
    assert all(row["largest_difference"] < 1e-9 for row in compared([SPECS["main"]], study, confidence=0.9))


def raw(study):
    return Path(study.ratings[0]).parent / "raw.parquet"


def rated(folder, prompts, *, datasets=1, judges=("gpt-4o", "gpt-3.5-turbo", "Claude v2"), where="true"):
    """Ratings of a study of random numbers, in which each prompt is of a dataset, two dimensions and all pairs of `judges`."""
    chosen = f"{list(judges)}"
    folder.mkdir(exist_ok=True)
    duckdb.sql(f"""
        copy (select {chosen}[1 + j] as judge, {chosen}[1 + m] as model, ['A', 'B'][1 + d] as dimension,
                     's' || p % {datasets} as dataset, 'p' || p as prompt_id,
                     hash(p, d, m) % 13 / 3 as gt, (hash(p, d, m, j) % 5)::integer as rating
              from range({prompts}) as prompts(p), range(2) as dimensions(d), range({len(judges)}) as models(m),
                   range({len(judges)}) as judges(j)
              where {where}) to '{folder}/raw.parquet'""")
    registry = Registry.from_config(CONFIG["models"])
    return built(folder, "rated", StudyFiles([RatingsFile(f"{folder}/raw.parquet")], {"A": [0, 4], "B": [0, 4]}, {}, registry))


TERMS = {
    "dimension": (("dimension",), "d = 0 or p < 4"),
    "self": (("self",), "j <> m or p < 4"),
    "self and family": (("self", "same_family"), "(j <> m and not (j < 2 and m < 2)) or p < 4"),
}


@pytest.mark.parametrize("terms", TERMS)
def test_prompts_whose_rows_carry_no_term_are_counted(tmp_path, terms):
    """Twelve prompts, of which eight have no row with a term: their scores are 0, but P is 12, and 12 prompts are resampled."""
    names, where = TERMS[terms]
    study = rated(tmp_path, 12, where=where)
    spec = Spec.of("", terms=names, covariance="CR1", bootstrap=100)
    frame = duckdb.sql(f"from '{study.ratings[0]}'").df()
    carried = {
        "dimension": frame["dimension"] == "B",
        "self_bias": frame["judge"] == frame["model"],
        "family_bias": (frame["judge_family"] == frame["model_family"]) & (frame["judge"] != frame["model"]),
    }
    found = estimate(spec, study, confidence=0.9, seed=3).estimates
    own = {"dimension": "dimension", "self_bias": "judge", "family_bias": "judge_family"}
    x = np.stack([carried[row["quantity"]] & (frame[own[row["quantity"]]] == row["term"]) for row in found], axis=1).astype(
        float
    )
    fitted = OLS(frame["rating_unit"], x).fit(cov_type="cluster", cov_kwds={"groups": frame["prompt"]})
    np.testing.assert_allclose([row["estimate"] for row in found], fitted.params, rtol=1e-12)
    np.testing.assert_allclose([row["std_error"] for row in found], fitted.bse, rtol=1e-10)
    (each,) = fits(spec, study, seed=3)
    times = np.concatenate(list(Resamples(12, replicates=100, seed=3).of_piece(0)))
    weights = times[:, frame["prompt"]]
    with np.errstate(invalid="ignore"):  # a resample may have no row of a term
        naive = (weights @ (x * frame["rating_unit"].to_numpy()[:, None])) / (weights @ x)  # terms of no common row: means
    np.testing.assert_allclose(np.stack([row.replicates for row in each.coefficients], axis=1), naive, rtol=0, atol=1e-12)
    assert max(row["largest_difference"] for row in compared([spec], study, confidence=0.9)) < 1e-9


@pytest.mark.parametrize("spec", [Spec.of("", covariance="CR1"), Spec.of("", bootstrap=100), Spec.of("", slice="dimension")])
def test_rows_that_carry_no_term_are_not_estimable(tmp_path, spec):
    study = rated(tmp_path, 6, where="j <> m or d = 1 and p < 3")
    spec = spec.changed(terms=("self",), subset={} if spec.selection.slice else {"dimension": ["A"]})
    for slices in (fits(spec, study, seed=0), fits_by_formula(spec, study)):
        first, *others = slices
        assert first.slice == ("A" if spec.selection.slice else "")
        assert first.not_estimable[-1] == ("", "", "no row carries a term of the model")
        assert [reason for *_, reason in first.not_estimable[:-1]] == ["no row of this judge rates itself"] * 3
        assert not first.coefficients
        assert [fitted.slice for fitted in others if fitted.coefficients] == (["B"] if spec.selection.slice else [])
    (one,) = estimate(spec.changed(slice=None, terms=("dimension",), subset={"dimension": ["A"]}), study, confidence=0.9)[1]
    assert one["reason"] == "no row carries a term of the model"


def test_memory_grows_with_the_slices_and_not_with_their_square(tmp_path):
    """Three times the datasets: three times what is held at most of each slice; all terms side by side would be nine times."""
    peaks = []
    for datasets in (20, 60):
        study = rated(tmp_path / str(datasets), 2 * datasets, datasets=datasets)
        spec = Spec.of("", slice="dataset", covariance="CR1")
        estimate(spec, study, confidence=0.9)  # reads the cells
        tracemalloc.start()
        prompt_errors(spec, study, seed=None)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4 * peaks[0]


@pytest.mark.parametrize("name", ["main", "length by prompt", "reference of a subset", "slices that overlap"])
def test_groups_that_are_searched_are_those_that_are_looked_up(twin, monkeypatch, name):
    listed = errors(twin, KINDS[name])
    monkeypatch.setattr("recuse.data.moments.LISTED", 0)
    np.testing.assert_array_equal(errors(replace(twin, _read={}), KINDS[name]), listed)


def test_prompts_of_many_groups_of_rows_are_read_once(tmp_path):
    """Prompts of 100 to 5,000 rows, in groups of 2,048: each is in one block, and no block is without prompts."""
    path = tmp_path / "rows.parquet"
    sizes = [5000, 100, 4096, 2048, 100, 100, 3000, 1]
    rows = " union all ".join(f"select {prompt}::uinteger as prompt from range({size})" for prompt, size in enumerate(sizes))
    duckdb.sql(f"copy ({rows} order by prompt) to '{path}' (row_group_size 2048)")
    for asked in (1, 2048, 4000, 10**6):
        spans = [range(span.first, span.last + 1) for span in prompt_ranges([str(path)], rows=asked)]
        assert [prompt for span in spans for prompt in span] == list(range(len(sizes)))
        assert all(spans)
