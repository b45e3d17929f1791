"""Rules: the code of a script, what jobs ask of a cluster, more at each attempt and for larger files, and what failed."""

import json
import logging
import subprocess
import sys
from types import SimpleNamespace

import pytest

from conftest import ROOT
from recuse.base.rules import (
    GROWTH,
    LINES,
    MOST,
    answer_in_short,
    asks,
    code_of,
    failures_in_short,
    megabytes_of,
    no_such_study,
    print_last_words,
    show_in_short,
    studies_by_figure,
)

LIBRARY = "workflow/lib/recuse"


@pytest.fixture(autouse=True)
def in_project(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_code_of_a_script_is_what_it_imports_directly_and_through_others():
    code = code_of("cells.py")
    assert code == sorted(code)
    assert {"workflow/scripts/cells.py", f"{LIBRARY}/data/cells.py", f"{LIBRARY}/base/database.py"} <= set(code)
    assert f"{LIBRARY}/model/fit.py" not in code


LOADED = """
import runpy, sys
from pathlib import Path
for script in sorted(Path("workflow/scripts").glob("*.py")):
    for name in [name for name in sys.modules if name.startswith("recuse")]:
        del sys.modules[name]
    runpy.run_path(str(script), run_name="script")
    files = [module.__file__ for name, module in sys.modules.items() if name.startswith("recuse.")]
    print(script.name, *(file for file in files if not file.endswith("__init__.py")))
"""


def test_code_of_every_script_is_all_that_its_import_loads():
    """Against the interpreter, which does not load what is imported inside functions."""
    environment = {"PYTHONPATH": str(ROOT / "workflow" / "lib")}
    run = subprocess.run([sys.executable, "-c", LOADED], env=environment, capture_output=True, text=True, check=True)
    loaded = {script: files for script, *files in map(str.split, run.stdout.splitlines())}
    assert len(loaded) > 30
    for script, files in loaded.items():
        assert {file.removeprefix(f"{ROOT}/") for file in files} <= set(code_of(script))


def test_code_of_a_script_with_a_module_by_name():
    code = code_of("cells.py", "recuse.plot.scores")
    assert {*code_of("cells.py"), f"{LIBRARY}/plot/scores.py", f"{LIBRARY}/plot/style.py"} <= set(code)
    assert f"{LIBRARY}/plot/slices.py" not in code
    assert code_of("cells.py", "recuse.plot.scores:mean_scores") == code


def test_each_retry_asks_for_as_much_again():
    asked = asks(mem_mb=600, runtime=5)
    assert [asked["mem_mb"](None, attempt) for attempt in (1, 2, 3)] == [600, 1200, 1800]
    assert [asked["runtime"](None, attempt) for attempt in (1, 2, 3)] == [5, 10, 15]


@pytest.mark.parametrize(
    ("paths", "megabytes"), [(["a.csv", "b.csv"], 5), (["c.jsonl", "b.csv"], 4), (["parts"], 8), (["none.parquet"], 0)]
)
def test_raw_files_count_as_csv(tmp_path, monkeypatch, paths, megabytes):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    sizes = {"a.csv": 3e6, "b.csv": 2e6, "c.jsonl": 250e3, "parts/0.parquet": 500e3, "parts/1.parquet": 500e3}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b" " * int(size))
    assert megabytes_of(paths) == megabytes


def test_larger_raw_files_ask_for_more_up_to_a_limit():
    asked = asks(mem_mb=1000, runtime=20, megabytes=lambda wildcards: wildcards.megabytes)

    def amount(resource, megabytes, attempt=1):
        return asked[resource](SimpleNamespace(megabytes=megabytes), attempt)

    assert amount("mem_mb", 0) == 1000
    assert amount("mem_mb", 5) == 1000 + 8 * 5
    assert amount("mem_mb", 5, attempt=3) == 3 * (1000 + 8 * 5)
    assert amount("runtime", 500) == 20 + GROWTH["runtime"] * 500
    assert amount("mem_mb", 1e6) == MOST["mem_mb"]
    assert amount("mem_mb", 1e6, attempt=2) == 2 * MOST["mem_mb"]


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
def summary(tmp_path):
    """The summary of a run whose files are in `tmp_path`."""
    (tmp_path / "slurm_logs").mkdir()
    (tmp_path / "ratings.log").write_text("".join(f"line {i}\n" for i in range(9)) + ERROR, "utf-8")
    (tmp_path / "fit.log").touch()

    def short(said):
        return [line.replace(f"{tmp_path}/", "") for line in failures_in_short(said)]

    return short


def test_rule_path_of_the_log_and_its_last_lines(summary, tmp_path):
    lines = summary(OF_ONE_MACHINE.format(folder=tmp_path))
    assert lines == ["Failed: ratings, log ratings.log", *(f"    line {i}" for i in range(10 - LINES, 9)), f"    {ERROR}"]


def test_a_name_in_a_log_is_no_command_to_the_terminal(summary, tmp_path):
    said = OF_ONE_MACHINE.format(folder=tmp_path)
    (tmp_path / "ratings.log").write_text("judge a\x1b[2J\x07\n", "utf-8")
    assert summary(said)[-1] == "    judge a⟨U+001B⟩[2J⟨U+0007⟩"


def test_group_reports_the_failed_rule_once_for_all_attempts(summary, tmp_path):
    for number in (6, 7):
        blamed = OF_A_CLUSTER.replace("    log: {folder}/slurm_logs/{number}.log (check log file(s) for error details)\n", "")
        (tmp_path / "slurm_logs" / f"{number}.log").write_text((OF_ONE_MACHINE + blamed).format(folder=tmp_path), "utf-8")
    lines = summary("".join(OF_A_CLUSTER.format(folder=tmp_path, number=number) for number in (6, 7)))
    assert [line for line in lines if line.startswith("Failed")] == ["Failed: ratings, log ratings.log"]
    assert lines[-1] == f"    {ERROR}"


def test_killed_job_reports_the_errors_of_its_log(summary, tmp_path):
    (tmp_path / "slurm_logs" / "8.log").write_text(KILLED, "utf-8")
    lines = summary(OF_A_CLUSTER.format(folder=tmp_path, number=8))
    assert lines == ["Failed: tables_mine, log slurm_logs/8.log", "    slurmstepd: error: Exceeded job memory limit"]


def test_outputs_of_a_later_attempt_are_no_failure(summary, tmp_path):
    (tmp_path / "slurm_logs" / "8.log").write_text(KILLED, "utf-8")
    for name in ("ratings.parquet", "completeness.csv", "main.csv"):
        (tmp_path / name).touch()
    assert summary(OF_A_CLUSTER.format(folder=tmp_path, number=8)) == []


def test_empty_or_missing_log_is_reported(summary, tmp_path):
    text = OF_ONE_MACHINE.format(folder=tmp_path)
    assert summary(text.replace("ratings.log", "fit.log")) == ["Failed: ratings, log fit.log", "    (empty)"]
    assert summary(text.replace("ratings.log", "none.log")) == ["Failed: ratings, log none.log", "    (empty)"]


def test_job_that_never_started_is_named(summary, tmp_path):
    text = OF_A_CLUSTER.replace("    log: {folder}/slurm_logs/{number}.log (check log file(s) for error details)\n", "")
    (tmp_path / "ratings.log").unlink()
    assert summary(text.format(folder=tmp_path)) == ["Failed: tables_mine, before any of its rules wrote a log"]


def test_a_target_that_is_no_study_is_answered_by_the_studies():
    studies, rules = ["twin", "llmbar"], ["twin", "llmbar", "montecarlo"]
    assert list(no_such_study(["twin", "montecarlo", "results/twin/x.csv"], studies, rules)) == []
    assert list(no_such_study(["twinn"], studies, rules)) == [
        "twinn: no such study; did you mean twin? The studies are twin, llmbar."
    ]
    assert list(no_such_study(["zzz"], studies, rules)) == ["zzz: no such study. The studies are twin, llmbar."]


def test_the_last_lines_of_a_run_are_the_answer(tmp_path):
    path = tmp_path / "summary.json"
    assert answer_in_short(str(path)) == []
    summary = {"study": "ours", "data": "simulated", "headline": "Nothing \u202e.", "pooled": "", "report": "report.html"}
    path.write_text(json.dumps(summary), "utf-8")
    assert answer_in_short(str(path)) == ["ours (simulated): Nothing ⟨U+202E⟩.", f"Report: {tmp_path}/report.html"]


def test_the_terminal_shows_progress_by_tenths_and_no_jobs():
    logger, shown = logging.Logger("snakemake"), []
    handler = logging.Handler()
    handler.name, handler.emit = "DefaultStreamHandler", lambda record: shown.append(record.getMessage())
    logger.addHandler(handler)
    settings = SimpleNamespace(dryrun=False, verbose=False, printshellcmds=False, debug_dag=False)
    show_in_short(SimpleNamespace(output_settings=settings, logger_manager=SimpleNamespace(logger=logger)))
    for done in range(1, 31):
        logger.info("job", extra={"event": "LogEvent.JOB_INFO"})
        logger.info(f"{done} done", extra={"event": "LogEvent.PROGRESS", "done": done, "total": 30})
    logger.info("Select jobs to execute...")
    logger.info("Nothing to be done")
    logger.error("a job failed", extra={"event": "LogEvent.JOB_ERROR"})
    assert shown == [*(f"{done} done" for done in range(3, 31, 3)), "Nothing to be done", "a job failed"]


def test_a_page_that_was_not_made_again_says_nothing(tmp_path, capsys):
    """As after an interrupted run, whose earlier summary is still there."""
    path = tmp_path / "summary.json"
    path.write_text(json.dumps({"study": "s", "data": "user", "headline": "H.", "pooled": "", "report": "r"}), "utf-8")
    job = SimpleNamespace(rule=SimpleNamespace(name="page"), output={"summary": str(path)})
    for needed, finished, lines in ((True, False, 0), (True, True, 2), (False, False, 2)):
        dag = SimpleNamespace(
            jobs=[job], needrun=lambda job, needed=needed: needed, finished=lambda job, finished=finished: finished
        )
        settings = SimpleNamespace(dryrun=False)
        workflow = SimpleNamespace(rules=[], dag_settings=None, dag=dag, output_settings=settings)
        print_last_words(workflow, [], [])
        assert len(capsys.readouterr().err.splitlines()) == lines
        print_last_words(workflow, [], ["Failed: x"])
        assert capsys.readouterr().err == "Failed: x\n"


@pytest.mark.parametrize(
    ("command", "alone"),
    [
        ("--cores 2", set()),
        ("twin", set()),
        ("--cores 1 results/twin/figures/gam.svg", {"twin"}),
        ("--cores 1 ./results/twin/figures/gam.svg results/twin/tables/ppi.csv", {"twin"}),
        ("results/twin/figures/gam.svg results/ours/report.html", {"twin"}),
        ("results/twin/figures/gam.svg results/twin/report.html", set()),
        ("results/twin/figures/gam.svg twin", set()),
        ("results/twin/figures/gam.svg all", set()),
        ("results/other/figures/gam.svg", set()),
        ("--target-jobs figure_gam:study=ours", {"ours"}),
        ("--target-jobs figure_in_another_format:figure=gam,format=png,study=ours", {"ours"}),
        ("--target-jobs figures_of_twin: page:study=twin", set()),
    ],
)
def test_figures_are_drawn_alone_for_who_asks_for_them_by_path(command, alone):
    assert studies_by_figure(command.split(), ["twin", "ours"]) == alone
