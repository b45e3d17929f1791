"""A full disk: the error names the place, no file is half-written, and with room the same command
succeeds.
"""

import os
import subprocess
import tempfile

import pytest

from conftest import ROOT
from recuse.base.database import bounded, connect
from recuse.base.errors import DiskError
from recuse.base.tables import write_table
from recuse.plot.style import Figure, save
from recuse.workflow.job_log import logged
from workflow_runs import assert_success, copy_project, products, snakemake

SMOKE = ROOT / "tests" / "smoke"
FULL = "no space left on the disk; make room there"


@pytest.fixture
def disk():
    """Mount a disk of so many kilobytes at a folder, or resize the one mounted there; unmounted
    afterwards.
    """
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small disk")
    mounted = []

    def sized(folder, kilobytes):
        again = "remount," if folder in mounted else ""
        folder.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"{again}size={kilobytes}k", "none", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"needs the right to mount a small disk: {done.stderr.strip()}")
        mounted.extend([] if again else [folder])
        return folder

    yield sized
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("kilobytes", [4, 8])
def test_temporary_folder_of_fit(disk, run_command, monkeypatch, tmp_path, kilobytes):
    folder, output = disk(tmp_path / "small disk", kilobytes), tmp_path / "estimates.csv"
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    study = ("--config", SMOKE / "config.yaml", "--study", "mine")
    # This spec goes by way of files
    fit = ("fit", SMOKE / "ratings.csv", *study, "--spec", "length_control", "--output", output)
    status, _, text = run_command(*fit)
    assert status == 1
    assert text.startswith(f"error: {folder}/")
    assert f": {FULL}, or set TMPDIR to another folder, and run again\n" in text
    assert text.count("\n") == 1
    assert os.listdir(folder) == []
    assert not output.exists()
    disk(folder, 400)
    assert run_command(*fit)[0] == 0
    assert output.read_text("utf-8").startswith("study,")
    assert os.listdir(folder) == []


def test_rows_that_exceed_memory(disk, tmp_path):
    folder = disk(tmp_path / "small disk", 300) / "spill"
    rows = (
        "create table t as select hash(range) as a, repeat('x', 100) || range as b from"
        " range(300000)"
    )
    text = f"{folder}: no room on the disk for data that exceed 20MB of memory .*make room there"
    with pytest.raises(DiskError, match=text), bounded("20MB", folder):
        connect().execute(rows)
    assert not folder.exists()


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_table(path, ("a",), ({"a": "x" * 100} for _ in range(1000))),
        lambda path: save(Figure(), [path.with_suffix(".svg")], title="t" * 20_000),
        lambda path: print("x" * 20_000),  # into the log
        lambda path: connect().execute(
            f"copy (select uuid() as a from range(1000)) to '{path}.parquet' (format parquet)"
        ),
    ],
    ids=["table", "figure", "log", "parquet"],
)
def test_job_whose_log_is_on_the_full_disk(disk, tmp_path, capsys, write):
    folder = disk(tmp_path / "small disk", 8)
    with pytest.raises(SystemExit) as ended, logged(str(folder / "job.log")):
        write(folder / "file")
    text = capsys.readouterr().err
    assert ended.value.code == 1
    assert text.startswith(f"error: {folder}")
    assert text.endswith(f": {FULL}, or set TMPDIR to another folder, and run again\n")
    assert text.count("\n") == 1
    assert "Traceback" not in (folder / "job.log").read_text("utf-8")


@pytest.mark.long
@pytest.mark.workflow
def test_jobs_of_the_workflow(project, disk, tmp_path):
    folder, target = copy_project(tmp_path), "results/mine/estimates/main.csv"
    results = folder / "results"

    def unlike():
        """Files that are there, but not as in a whole run."""
        return [*products(folder).items() - products(project).items()]

    for kilobytes, rule in ((12, "ratings"), (40, "fit")):
        disk(results, kilobytes)
        result = snakemake(folder, "--cores", "1", target)
        assert result.returncode == 1
        assert f"\nFailed: {rule}, log results/mine/logs/{rule}.log\n" in result.stderr
        (text,) = {line for line in result.stderr.splitlines() if line.startswith("error: ")}
        assert text.startswith("error: results/mine/")
        assert text.endswith(f": {FULL}, and run again")
        logs = (path.read_text("utf-8") for path in (results / "mine" / "logs").iterdir())
        assert not any("Traceback" in log for log in logs)
        assert unlike() == []
    disk(results, 4000)
    assert_success(snakemake(folder, "--cores", "1", target))
    assert "mine/estimates/main.csv" in products(folder)
    assert unlike() == []
