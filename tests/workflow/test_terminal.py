"""What the terminal shows of a run, through Snakemake's log events: progress by tenths, answers,
and what failed.
"""

import json
import logging
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from recuse.workflow.job_log import EXPLAINED
from recuse.workflow.terminal import LINES, answer_lines, failure_lines
from snakemake_logger_plugin_recuse import LogHandler

ERROR = (
    "error: ratings.csv, line 5, column rating: found '94', which is off the scale of the dimension"
)


@pytest.fixture
def logger():
    """Make a logger with the plugin's handler, and such settings."""

    def made(**settings):
        usual = dict.fromkeys(("dryrun", "verbose", "printshellcmds", "debug_dag", "stdout"), False)
        logger = logging.Logger("snakemake")
        logger.addHandler(LogHandler(SimpleNamespace(**usual | settings), None))
        return logger

    return made


def log(logger, event=None, level=logging.INFO, message=None, **fields):
    logger.log(level, message or str(event), extra={"event": event, **fields} if event else None)


@pytest.fixture
def shown(capsys):
    """What a logger has shown by its end."""

    def shown(logger):
        logger.handlers[0].close()
        return capsys.readouterr().err

    return shown


def begin(logger, *outputs, jobid=1):
    log(logger, LogEvent.WORKFLOW_STARTED)
    log(logger, LogEvent.RUN_INFO)
    log(logger, LogEvent.JOB_INFO, jobid=jobid, output=[*outputs], rule_msg="Fit.", rule_name="fit")


def written(path, **fields):
    summary = {
        "study": "ours",
        "data": "simulated",
        "headline": "Nothing \u202e.",
        "truth": "",
        "further": "",
        "pooled": "",
        "table": {"headings": ["judge", "verdict"], "rows": []},
        "next_steps": [],
        "report": "report.html",
    }
    path.write_text(json.dumps(summary | fields), "utf-8")
    return str(path)


def test_the_answer_of_a_study(tmp_path):
    path = tmp_path / "summary.json"
    assert answer_lines(path) == []
    assert answer_lines(written(path)) == [
        "ours (simulated): Nothing ⟨U+202E⟩.",
        f"Report: {tmp_path}/report.html",
    ]


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_is_as_wide_as_the_terminal(tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    headings = ["judge", "verdict", "what to do"]
    rows = [[f"Judge {number}", "not shown", "keep it " * 20] for number in range(22)]
    path = written(
        tmp_path / "summary.json",
        table={"headings": headings, "rows": rows},
        pooled="word " * 40,
        next_steps=["Do this.", "Do that."],
    )
    *lines, report = answer_lines(path)
    assert max(map(len, lines)) <= columns
    assert lines[1].split() == ["judge", "verdict", "what", "to", "do"]
    assert "and 2 more" in lines
    assert lines[-1] == "Next: Do this."
    assert report == f"Report: {tmp_path}/report.html"


def test_rule_path_of_the_log_and_its_last_lines(tmp_path):
    """No name in them acts on the terminal."""
    path = tmp_path / "ratings.log"
    path.write_text("".join(f"line {i}\n" for i in range(9)) + "judge a\x1b[2J\x07\n", "utf-8")
    lines = failure_lines("ratings", [str(path)])
    assert lines == [
        f"Failed: ratings, log {path}",
        *(f"    line {i}" for i in range(10 - LINES, 9)),
        "    judge a⟨U+001B⟩[2J⟨U+0007⟩",
    ]


def test_empty_or_missing_log_is_reported(tmp_path):
    assert failure_lines("a", [tmp_path / "none.log"]) == [
        f"Failed: a, log {tmp_path}/none.log",
        "    (empty)",
    ]
    assert failure_lines("a", []) == ["Failed: a"]


def test_progress_by_tenths_warnings_and_the_answer_of_what_was_made(logger, tmp_path, shown):
    quiet, path = logger(), written(tmp_path / "summary.json", headline="H.", data="user")
    log(quiet, message="Assuming unrestricted shared filesystem usage.")
    begin(quiet, path)
    for done in range(1, 31):
        log(quiet, LogEvent.PROGRESS, message=f"{done} done", done=done, total=30)
    log(quiet, message="Select jobs to execute...")
    log(quiet, level=logging.WARNING, message="a warning")
    log(quiet, LogEvent.JOB_FINISHED, job_id=1)
    lines = shown(quiet).splitlines()
    assert lines == [
        *(f"{done} of 30 steps, about 0 s left: Fit." for done in range(3, 30, 3)),
        "30 of 30 steps",
        "a warning",
        "ours: H.",
        f"Report: {tmp_path}/report.html",
    ]


def test_a_report_that_was_not_written_says_nothing(logger, tmp_path, shown):
    """As after an interrupted run, whose earlier summary is still there."""
    quiet = logger()
    begin(quiet, written(tmp_path / "summary.json"))
    assert shown(quiet) == ""


def test_what_failed_in_place_of_answers(logger, tmp_path, shown):
    quiet, path = logger(), tmp_path / "fit.log"
    path.write_text(ERROR, "utf-8")
    path.with_suffix(EXPLAINED).touch()
    begin(quiet, written(tmp_path / "summary.json"))
    log(quiet, LogEvent.JOB_FINISHED, job_id=1)
    log(quiet, LogEvent.JOB_ERROR, logging.ERROR, rule_name="fit", log=[str(path)])
    log(quiet, LogEvent.ERROR, logging.ERROR, message="RuleException: it failed")
    log(
        quiet,
        LogEvent.GROUP_ERROR,
        logging.ERROR,
        job_error_info=[{"rule_name": "slices", "log": [str(path)]}],
    )
    words = f", log {path}\n    {ERROR}\n"
    assert shown(quiet) == f"Failed: fit{words}Failed: slices{words}"


@pytest.mark.parametrize("text", [None, "", "line\n", ERROR])
def test_a_job_that_was_killed_shows_what_snakemake_says(logger, tmp_path, shown, text):
    quiet, path = logger(), tmp_path / "fit.log"
    if text is not None:
        path.write_text(text, "utf-8")
    begin(quiet)
    log(quiet, LogEvent.JOB_ERROR, logging.ERROR, rule_name="fit", log=[str(path)])
    log(quiet, LogEvent.ERROR, logging.ERROR, message="died with <Signals.SIGKILL: 9>")
    assert shown(quiet).endswith("\ndied with <Signals.SIGKILL: 9>\n")


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("results/twin/figures/fig03.svg", "results/twin/figures/fig03_self_family_bias.svg"),
        ("results/twin/figures/verdict.pdf", "results/twin/figures/verdicts.pdf"),
        ("twinn", "twin"),
    ],
)
def test_what_a_mistyped_target_is_most_like(logger, monkeypatch, shown, target, line):
    monkeypatch.setattr("sys.argv", ["snakemake", "--cores", "1", target])
    quiet = logger()
    log(quiet, LogEvent.ERROR, logging.ERROR, message="No.", exception="MissingRuleException")
    assert shown(quiet) == f"No.\nDid you mean {line}?\n"


def test_nothing_to_be_done_and_commands_without_a_run(logger, shown):
    quiet = logger()
    log(quiet, LogEvent.WORKFLOW_STARTED)
    log(quiet, message="Building DAG of jobs...")
    assert shown(quiet).startswith("Nothing to be done")
    other = logger()
    log(other, message="Unlocking working directory.")
    assert shown(other) == "Unlocking working directory.\n"


@pytest.mark.parametrize("setting", ["dryrun", "verbose", "printshellcmds", "debug_dag"])
def test_everything_where_it_was_asked_for(logger, shown, setting):
    long = logger(**{setting: True})
    begin(long)
    log(long, message="Select jobs to execute...")
    assert shown(long) == "workflow_started\nrun_info\njob_info\nSelect jobs to execute...\n"
