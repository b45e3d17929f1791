"""What failed in a run, from all that the run said."""

import pytest

from recuse.base.snakemake_log import LINES, failures_in_short

ERROR = "error: ratings.csv, line 5, column rating: found '94', which is off the scale of the dimension"
OF_ONE_MACHINE = """\
[Sat Nov 21 16:38:11 2026]
Job 1: Check and normalise the ratings of mine.
Error in rule ratings:
    message: None
    jobid: 1
    output: {folder}/ratings.parquet, {folder}/completeness.csv
    log: {folder}/ratings.log (check log file(s) for error details)
Shutting down, this might take some time.
"""
OF_A_CLUSTER = """\
[Sat Nov 21 16:38:21 2026]
    message: Error in group tables_mine
    log: {folder}/slurm_logs/{number}.log (check log file(s) for error details)
    jobs:
        rule ratings:
            jobid: 3
            output: {folder}/ratings.parquet, {folder}/completeness.csv
            log: {folder}/ratings.log (check log file(s) for error details)
        rule fit:
            jobid: 1
            output: {folder}/main.csv
            log: {folder}/fit.log (check log file(s) for error details)
    [Sat Nov 21 16:38:43 2026]
    Error in rule ratings:
        message: None
        output: {folder}/ratings.parquet, {folder}/completeness.csv
        log: {folder}/ratings.log (check log file(s) for error details)
    Error in rule fit:
        message: None
        output: {folder}/main.csv
        log: {folder}/fit.log (check log file(s) for error details)
Trying to restart job 3.
"""
KILLED = "Job 1: Fit every spec to mine.\nslurmstepd: error: Exceeded job memory limit\nStoring output in storage.\n"


@pytest.fixture
def told(tmp_path):
    """What is told in short of a run of which everything is in `tmp_path`."""
    (tmp_path / "slurm_logs").mkdir()
    (tmp_path / "ratings.log").write_text("".join(f"line {i}\n" for i in range(9)) + ERROR, "utf-8")
    (tmp_path / "fit.log").touch()

    def short(said):
        return [line.replace(f"{tmp_path}/", "") for line in failures_in_short(said)]

    return short


def test_rule_path_of_the_log_and_its_last_lines(told, tmp_path):
    lines = told(OF_ONE_MACHINE.format(folder=tmp_path))
    assert lines == ["Failed: ratings, log ratings.log", *(f"    line {i}" for i in range(10 - LINES, 9)), f"    {ERROR}"]


def test_of_a_group_only_the_rule_that_failed_and_once_for_all_attempts(told, tmp_path):
    for number in (6, 7):
        blamed = OF_A_CLUSTER.replace("    log: {folder}/slurm_logs/{number}.log (check log file(s) for error details)\n", "")
        (tmp_path / "slurm_logs" / f"{number}.log").write_text((OF_ONE_MACHINE + blamed).format(folder=tmp_path), "utf-8")
    lines = told("".join(OF_A_CLUSTER.format(folder=tmp_path, number=number) for number in (6, 7)))
    assert [line for line in lines if line.startswith("Failed")] == ["Failed: ratings, log ratings.log"]
    assert lines[-1] == f"    {ERROR}"


def test_of_a_killed_job_the_errors_of_its_own_log(told, tmp_path):
    (tmp_path / "slurm_logs" / "8.log").write_text(KILLED, "utf-8")
    lines = told(OF_A_CLUSTER.format(folder=tmp_path, number=8))
    assert lines == ["Failed: tables_mine, log slurm_logs/8.log", "    slurmstepd: error: Exceeded job memory limit"]


def test_what_a_later_attempt_made_did_not_fail(told, tmp_path):
    (tmp_path / "slurm_logs" / "8.log").write_text(KILLED, "utf-8")
    for name in ("ratings.parquet", "completeness.csv", "main.csv"):
        (tmp_path / name).touch()
    assert told(OF_A_CLUSTER.format(folder=tmp_path, number=8)) == []


def test_log_that_is_empty_or_not_there_is_said_to_be_so(told, tmp_path):
    said = OF_ONE_MACHINE.format(folder=tmp_path)
    assert told(said.replace("ratings.log", "fit.log")) == ["Failed: ratings, log fit.log", "    (empty)"]
    assert told(said.replace("ratings.log", "none.log")) == ["Failed: ratings, log none.log", "    (empty)"]


def test_job_that_never_started_is_named(told, tmp_path):
    said = OF_A_CLUSTER.replace("    log: {folder}/slurm_logs/{number}.log (check log file(s) for error details)\n", "")
    (tmp_path / "ratings.log").unlink()
    assert told(said.format(folder=tmp_path)) == ["Failed: tables_mine, before any of its rules wrote a log"]
