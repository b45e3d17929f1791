"""Errors clustered by prompt against statsmodels on rows, in blocks of rows of any size, and from shards of rows."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pytest

from conftest import CONFIG, built, study_files
from judgebias.fits.clusters import Clusters, clustered
from judgebias.fits.crosscheck import check_engines
from judgebias.fits.estimates import estimate
from judgebias.fits.prompt_bootstrap import PromptBootstrap
from judgebias.fits.prompt_errors import design_of
from judgebias.fits.prompt_sums import merge, sum_by_prompt
from judgebias.fits.spec import Spec
from judgebias.ratings.row_blocks import prompt_ranges
from judgebias.sources.checks import RatingsFile

SPECS = {spec.name: replace(spec, covariance="CR1") for spec in Spec.from_config(CONFIG["specs"])}
NEWS = {"dataset": ["cnn", "xsum"]}
KINDS = {
    "main": SPECS["main"],
    "length by prompt": SPECS["length_control"],
    "slices that overlap": Spec("", slice="dataset", whole=True, subset=NEWS, covariance="CR1"),
    "length of a subset": Spec("", length="global", subset={"models_dropped": ["GPT-4o"], **NEWS}, covariance="CR1"),
    "reference of a subset": Spec("", reference="family", subset={"dimension": ["Faithfulness"]}, covariance="CR1"),
    "terms of all judges": Spec("", terms=("intercept", "reference", "self"), subset=NEWS, covariance="CR1"),
}


def errors(study, spec):
    return np.array([row["std_error"] for row in estimate(spec, study, confidence=0.9).estimates])


@pytest.mark.parametrize("spec", KINDS.values(), ids=KINDS)
def test_clustered_errors_equal_statsmodels_on_rows(twin, spec):
    rows = list(check_engines([spec], twin, confidence=0.9))
    assert rows
    assert max(row["largest_difference"] for row in rows) < 1e-9


@pytest.mark.parametrize("name", ["main", "length by prompt", "reference of a subset"])
def test_clustered_errors_of_the_published_ratings_equal_statsmodels(published, name):
    rows = list(check_engines([KINDS[name]], published, confidence=0.9))
    assert max(row["largest_difference"] for row in rows) < 1e-9


def test_clustered_errors_are_those_of_the_textbook(twin):
    """By numpy on rows, as the engines share what the small-sample factor is made of."""
    spec = SPECS["main"]
    frame = duckdb.sql(f"select * from '{twin.ratings}'").df()
    terms = spec.terms_of({name: frame[name].to_numpy(dtype=str) for name in ("judge", "model", "judge_family", "model_family",
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
    monkeypatch.setattr("judgebias.fits.prompt_sums.ENTRIES", 1000)  # a few prompts at a time
    ranges = [(first, first + 6) for first in range(0, 40, 7)]
    for module in ("row_blocks", "study"):
        monkeypatch.setattr(f"judgebias.ratings.{module}.prompt_ranges", lambda *_: iter(ranges))
    study = replace(twin, _read={})
    np.testing.assert_allclose(errors(study, KINDS[name]), whole, rtol=1e-12)


def test_blocks_are_whole_prompts_of_about_as_many_rows(tmp_path):
    """Groups of 2,048 rows, and prompts of 300: a block ends at the first prompt that begins after the rows asked for."""
    path = tmp_path / "rows.parquet"
    duckdb.sql(f"copy (select (i // 300)::uinteger as prompt from range(30_000) t(i)) to '{path}' (row_group_size 2048)")
    ranges = list(prompt_ranges(str(path), rows=6000))
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 99
    assert all(before[1] + 1 == after[0] for before, after in pairwise(ranges))
    assert all(5400 < 300 * (last - first + 1) < 8700 for first, last in ranges[:-1])


def test_one_prompt_has_no_clustered_errors(twin, tmp_path):
    duckdb.sql(
        f"copy (from '{raw(twin)}' where prompt_id = (select min(prompt_id) from '{raw(twin)}')) to '{tmp_path}/raw.parquet'"
    )
    study = built(tmp_path, "one", study_files("twin", [RatingsFile(f"{tmp_path}/raw.parquet")]))
    found = estimate(replace(SPECS["main"], bootstrap=100), study, confidence=0.9)
    known = [row for row in found.estimates if "estimate" in row]
    assert known
    for row in known:
        assert row["note"].startswith("no standard error")
        assert not {"ci_low", "p_value", "boot_std_error", "boot_ci_low"} & set(row)
    assert [row["remark"] for row in found.remarks] == ["no bootstrap: all rows are of one prompt"]
    assert all(row["largest_difference"] < 1e-9 for row in check_engines([SPECS["main"]], study, confidence=0.9))


def raw(study):
    return Path(study.ratings).parent / "raw.parquet"


def sums_of(study, spec, moments, design):
    """The sums of a study's prompts, by their ids."""
    blocks = study.row_blocks(spec, moments.factors)
    sums = merge([each for block in blocks for each in sum_by_prompt(block, design.cell, design.cells)])
    ids = [
        row[0] for row in duckdb.sql(f"select prompt_id from '{study.ratings}' group by all order by min(prompt)").fetchall()
    ]
    return replace(sums, prompt=np.array(ids)[sums.prompt])


@pytest.mark.parametrize("name", ["main", "by_dimension"])
def test_prompts_with_rows_in_several_shards(twin, tmp_path, name):
    """Shards of rows, each with its own codes: the sums of all prompts, added up by id, give the errors of the whole."""
    spec, shards = replace(SPECS[name], bootstrap=100), []
    for place, rows in enumerate(("(record + judge_number) % 3 = 0", "(record + judge_number) % 3 > 0 and prompt_id > 'h'")):
        rows = f"(select *, row_number() over () as record, hash(judge) % 7 as judge_number from '{raw(twin)}') where {rows}"
        (folder := tmp_path / str(place)).mkdir()
        duckdb.sql(f"copy (select * exclude (record, judge_number) from {rows}) to '{folder}/raw.parquet'")
        shards.append(built(folder, "shard", study_files("twin", [RatingsFile(f"{folder}/raw.parquet")])))
    (tmp_path / "whole").mkdir()
    duckdb.sql(f"copy (from read_parquet(['{raw(shards[0])}', '{raw(shards[1])}'])) to '{tmp_path}/whole/raw.parquet'")
    whole = built(tmp_path / "whole", "whole", study_files("twin", [RatingsFile(f"{tmp_path}/whole/raw.parquet")]))
    moments = whole.moments_for(spec)
    design = design_of(spec, moments)
    parts = [sums_of(shard, spec, moments, design) for shard in shards]
    assert set(parts[0].prompt) & set(parts[1].prompt)
    assert len(parts[0].prompt) != len(parts[1].prompt)
    sums = merge(parts)
    wanted = estimate(spec, whole, confidence=0.9, seed=3).estimates
    found = []
    for each in design.slices:
        clusters = Clusters(each.layouts, each.solution)
        clusters.add(sums)
        bootstrap = PromptBootstrap(each.layouts, each.solution, prompts=clusters.prompts, replicates=100, seed=3)
        bootstrap.add(sums)
        deviations = bootstrap.estimates().std(axis=0, ddof=1)
        found += zip(clustered(each.solution, clusters).std_error, deviations, strict=True)
    np.testing.assert_allclose(found, [(row["std_error"], row["boot_std_error"]) for row in wanted], rtol=0, atol=1e-12)
