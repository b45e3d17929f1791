"""A file of another tool in the workflow."""

import pytest

from conftest import ROOT
from recuse.base.tables import read_table
from workflow_runs import build, copy_project

pytestmark = pytest.mark.workflow


def test_verdicts_in_the_file_of_a_tool(tmp_path):
    folder = copy_project(tmp_path)
    (folder / "a.json").write_text(
        (ROOT / "tests" / "formats" / "alpaca_eval.json").read_text("utf-8"), "utf-8"
    )
    (folder / "mine.yaml").write_text(
        "comparisons: {ours: {title: t, import: {files: a.json}}}\n", "utf-8"
    )
    build(folder, "--cores", "1", "results/ours/tables/position.csv", configs=["mine.yaml"])
    assert read_table(folder / "results/ours/tables/imported.csv")[0]["n"] == "7"
