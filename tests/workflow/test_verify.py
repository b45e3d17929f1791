"""`recuse verify`: it finds whatever does not belong to the other results, and nothing else."""

import base64
import json
import os

import pytest

from workflow_runs import OVERLAY, verified

pytestmark = pytest.mark.workflow


@pytest.fixture
def changed(project):
    """Files that a test may change; they are put back afterwards."""
    kept = {}

    def change(name, content=None):
        path = project / name
        kept[path] = path.read_bytes() if path.exists() else None
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        return path

    yield change
    for path, content in kept.items():
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)


def test_results_as_built_belong_together(project):
    status, lines, errors = verified(project, "mine", "smoke")
    assert (status, errors) == (0, "")
    assert [line.split()[0] for line in lines] == ["mine:", "smoke:"]
    assert all(line.endswith("results belong together") for line in lines)


def test_edited_absent_and_foreign_files_and_what_was_made_from_another_table(project, changed):
    """These are named, also after a job was interrupted."""
    table = "results/mine/tables/power.csv"
    marker = base64.b64encode(table.encode()).decode()
    changed(f".snakemake/incomplete/{marker}", b"")
    times = os.stat(project / table)
    path = changed(table, (project / table).read_bytes().replace(b"1", b"2", 1))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    changed("results/mine/tables/foreign.csv", b"a\n")
    changed("results/mine/cells.parquet")
    changed("results/mine/made/describe.json")
    record = json.loads((project / "results/mine/made/conclusions.json").read_text())
    record["inputs"]["results/mine/tables/reliability.csv"] = "0" * 64
    changed("results/mine/made/conclusions.json", json.dumps(record).encode())
    status, lines, errors = verified(project, "mine")
    assert status == 1
    assert sorted(lines) == [
        "results/mine/cells.parquet: is not there",
        "results/mine/tables/foreign.csv: is written by no rule of this study",
        (
            "results/mine/tables/leaderboard.csv and 8 more: was made from another"
            " results/mine/tables/reliability.csv"
        ),
        (
            "results/mine/tables/mean_scores.csv and 2 more: has no record"
            " (results/mine/made/describe.json)"
        ),
        "results/mine/tables/power.csv: is not what the rule conclusions wrote",
    ]
    assert errors == "error: mine: run the workflow again, and delete files that no rule writes\n"


def test_other_data_code_and_settings(project, changed, edit, overlay):
    changed(
        "tests/smoke/ratings.csv",
        (project / "tests/smoke/ratings.csv").read_bytes().replace(b"1", b"2", 1),
    )
    edit("workflow/lib/recuse/data/describe.py", "# new\n")
    overlay("inference: {identifiability: [main], replicates: 100}\n")
    status, lines, _ = verified(project, "mine", "--config", OVERLAY)
    assert status == 1
    assert {line.replace("results/mine/", "") for line in lines} == {
        "tables/leaderboard.csv and 8 more: was made by another version of recuse",
        "tables/mean_scores.csv and 2 more: was made by another version of recuse",
        "report.html and 1 more: was made by another version of recuse",
        "tables/idiosyncrasy.csv and 9 more: was made with another setting (preference)",
        "report.html and 1 more: was made with another setting (about)",
        "tables/completeness.csv and 2 more: was made from another tests/smoke/ratings.csv",
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none"], "'none': found no such folder in "),
        (["slurm"], "No rule to produce slurm"),
        (["mine", "--config", OVERLAY], f"{OVERLAY}, line 1: inference: unknown: unknown key"),
    ],
)
def test_what_cannot_be_verified_is_one_sentence(project, overlay, arguments, words):
    (project / "results" / "slurm").mkdir(exist_ok=True)
    overlay("inference: {unknown: 1}\n")
    status, lines, errors = verified(project, *arguments)
    assert (status, lines) == (1, [])
    assert words in errors
    assert errors.startswith("error: ")
    assert "Traceback" not in errors
    (project / "results" / "slurm").rmdir()
