"""A file of another tool in the workflow."""

import pytest

from conftest import ROOT
from recuse.base.tables import read_table
from workflow_runs import build, copy_project, snakemake

pytestmark = pytest.mark.workflow


def test_format_that_is_not_the_one_named_stops_the_run(tmp_path):
    folder = copy_project(tmp_path)
    (folder / "a.json").write_text(
        (ROOT / "tests" / "formats" / "alpaca_eval.json").read_text("utf-8"), "utf-8"
    )
    config = (
        "comparisons: {ours: {title: t, import: {files: a.json, format: arena_hard, baseline:"
        " m}}}\n"
    )
    (folder / "mine.yaml").write_text(config, "utf-8")
    result = snakemake(
        folder, "--cores", "1", "results/ours/comparisons.parquet", configs=["mine.yaml"]
    )
    assert result.returncode == 1
    text = (
        "error: a.json: found AlpacaEval annotations, not Arena-Hard judgments; write `format:"
        " alpaca_eval`"
    )
    assert text in result.stderr
    assert not list((folder / "results" / "ours").rglob("*.parquet"))
    (folder / "mine.yaml").write_text(
        "comparisons: {ours: {title: t, import: {files: a.json}}}\n", "utf-8"
    )
    build(folder, "--cores", "1", "results/ours/tables/position.csv", configs=["mine.yaml"])
    assert read_table(folder / "results/ours/tables/imported.csv")[0]["n"] == "7"
