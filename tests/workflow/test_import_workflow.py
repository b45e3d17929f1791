"""A stranger's CSV, with columns of other names, through the workflow, by ten lines of
configuration.
"""

import csv
import random
import re

import pytest

from conftest import ROOT
from picked_rows import fields
from recuse.base.tables import read_table
from workflow_runs import build, copy_project, snakemake

pytestmark = pytest.mark.workflow
README = (ROOT / "README.md").read_text("utf-8")
QUALITY = {
    "gpt-4.1": 7.4,
    "gpt-4.1-mini": 6.2,
    "claude-sonnet-4": 7.6,
    "claude-haiku-4": 6.6,
    "command-a": 6.0,
}
JUDGES = (*(model for model in QUALITY if model != "command-a"), "qwen3-32b")
SELF_BIAS = 1.8  # points of 9, of every judge that is rated
FIGURE = "results/ours/figures/fig03_self_family_bias"


def write_judgments(folder, *, items=40):
    """Five judges rate five models from 1 to 10, four of them themselves too high by SELF_BIAS; two
    raters beside them.
    """
    rng = random.Random(7)
    paths = (folder / name for name in ("judged.csv", "human.csv"))
    ours, theirs = (path.open("w", encoding="utf-8", newline="") for path in paths)
    with ours, theirs:
        judged, human = csv.writer(ours), csv.writer(theirs)
        judged.writerow(["run", "grader", "candidate", "item", "metric", "score"])
        human.writerow(["candidate", "item", "metric", "first", "second"])
        for item in range(items):
            for model, quality in QUALITY.items():
                true = quality + rng.gauss(0, 1)
                human.writerow(
                    [
                        model,
                        f"q{item}",
                        "quality",
                        *(clipped(true + rng.gauss(0, 0.5)) for _ in range(2)),
                    ]
                )
                for judge in JUDGES:
                    rating = clipped(0.8 * true + rng.gauss(0, 0.5) + SELF_BIAS * (judge == model))
                    judged.writerow(
                        [
                            "r1",
                            judge,
                            model,
                            f"q{item}",
                            "quality",
                            "ERROR" if item == 3 else rating,
                        ]
                    )


def clipped(value):
    return min(10, max(1, round(value)))


def test_strangers_table_from_file_to_figure_by_the_lines_of_the_readme(tmp_path):
    folder = copy_project(tmp_path)
    write_judgments(folder)
    (lines,) = re.findall(r"<!-- config: import -->\n```yaml\n(.*?)```", README, re.DOTALL)
    assert len(lines.splitlines()) <= 10
    (folder / "mine.yaml").write_text(lines, "utf-8")
    tables = [f"results/ours/tables/{table}.csv" for table in ("imported", "agreement")]
    build(folder, "--cores", "2", f"{FIGURE}.svg", *tables, configs=["mine.yaml"])
    assert (folder / f"{FIGURE}.svg").is_file()
    counts = {fields(row, "file kind"): int(row["n"]) for row in read_table(folder / tables[0])}
    assert counts["judged.csv", "rows"] == 1000
    assert counts["judged.csv", "value 'ERROR'"] == 25
    found = read_table(folder / "results/ours/estimates/main.csv")
    biases = {
        row["term"]: float(row["estimate"]) for row in found if row["quantity"] == "self_bias"
    }
    assert biases == pytest.approx(dict.fromkeys(JUDGES[:4], SELF_BIAS / 9), abs=0.05)
    assert {row["term"] for row in found if row["quantity"] == "family_bias"} == {"GPT", "Claude"}
    assert (
        int(
            next(
                row["n"]
                for row in read_table(folder / tables[1])
                if row["statistic"] == "observed_agreement"
            )
        )
        == 200
    )
    assert "command-a: not in config, taken as the only model" in (
        folder / "results/ours/logs/import.log"
    ).read_text("utf-8")


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
