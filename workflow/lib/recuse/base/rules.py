"""What Snakemake needs of rules: their code, the resources of their jobs, and which jobs failed."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from recuse.base.places import PACKAGE, WORKFLOW
from recuse.base.words import visible

IMPORT = re.compile(r"^ *from recuse\.([\w.]+) import ", re.MULTILINE)  # the one form of import that the project uses

# Megabytes and minutes more for a megabyte of raw CSV, and the most at the first attempt.
GROWTH = {"mem_mb": 8, "runtime": 0.02}
MOST = {"mem_mb": 32_000, "runtime": 720}
COMPRESSION = 8  # as CSV, parquet or gzip is about this many times its size

Resources = Mapping[str, Callable[[object, int], int]]  # of a job, by its wildcards and the number of the attempt


def code_of(script: str, *names: str) -> list[str]:
    """A script and the library modules that it uses, directly or indirectly: a param of its rule, compared by content.

    names: modules that the script imports by name, such as recuse.plot.scores, or `module:function`.
    """
    used: set[Path] = set()
    waiting = [WORKFLOW / "scripts" / script, *(_path(name.partition(":")[0].removeprefix("recuse.")) for name in names)]
    while waiting:
        path = waiting.pop()
        used.add(path)
        waiting += [module for module in _imported(path) if module not in used]
    return [os.path.relpath(path) for path in sorted(used)]


@cache
def _imported(path: Path) -> list[Path]:
    return [_path(name) for name in IMPORT.findall(path.read_text("utf-8"))]


def _path(name: str) -> Path:
    return PACKAGE.joinpath(*name.split(".")).with_suffix(".py")


def studies_by_figure(arguments: Sequence[str], studies: Iterable[str]) -> set[str]:
    """The studies of which a command asks for figures by their paths, and not for all, by the study, its report or `all`."""
    asked = {study for study in studies if any(_is_figure(argument, study) for argument in arguments)}
    whole = {study for study in asked if {study, "all", f"results/{study}/report.html"} & {*map(os.path.normpath, arguments)}}
    return asked - whole


def _is_figure(argument: str, study: str) -> bool:
    of_a_job = argument.startswith("figure_") and f"study={study}" in re.split("[:,]", argument)  # on a node of a cluster
    return of_a_job or os.path.normpath(argument).startswith(f"results/{study}/figures/")


def asks(*, mem_mb: int, runtime: int, megabytes: Callable[[object], float] = lambda wildcards: 0) -> Resources:
    """Megabytes and minutes of a job at its first attempt, more if its raw files are large, and as much again at each retry."""

    def of(resource, least):
        def amount(wildcards, attempt):
            grown = least + GROWTH[resource] * megabytes(wildcards)
            return attempt * int(max(least, min(grown, MOST[resource])))

        return amount

    return {"mem_mb": of("mem_mb", mem_mb), "runtime": of("runtime", runtime)}


def megabytes_of(paths: Iterable[str]) -> float:
    """Megabytes that files, and folders of files, would take as CSV; 0 for one not yet made."""
    files = [file for path in map(Path, paths) for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    return sum(file.stat().st_size * (1 if file.suffix == ".csv" else COMPRESSION) for file in files) / 1e6


def bring_to_now(folder: str) -> None:
    """Give the present time to files dated in the future by a clock that was ahead, which Snakemake takes for new."""
    for path in Path(folder).rglob("*"):
        with suppress(OSError):  # another process may have removed it
            if path.stat().st_mtime > time.time():
                os.utime(path)


LINES = 5
HEADING = re.compile(r"(?:Error in rule|    message: Error in group) (\w+):?$")
ENTRY = re.compile(r"( +)(output|log): (.+?)(?: \(check log.*)?$")


@dataclass
class Failure:
    """A job that failed, of a rule or of a group of rules."""

    name: str
    outputs: list[str] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    logs_of_rules: list[str] = field(default_factory=list)  # of the group


def no_such_study(targets: Iterable[str], studies: Sequence[str], rules: Sequence[str]) -> Iterator[str]:
    """A line about each target that is no file and no rule, and so was meant to be a study."""
    for target in targets:
        if target not in rules and not {"/", "."} & {*target}:
            close = get_close_matches(target, studies, n=1)
            meant = f"; did you mean {close[0]}?" if close else "."
            yield f"{visible(target)}: no such study{meant} The studies are {', '.join(studies)}."


# Snakemake's events and beginnings of its messages that the terminal does not show.
EVENTS = ("run_info", "workflow_started", "job_info", "group_info", "job_started", "job_finished", "resources_info")
MESSAGES = (
    "host:",
    "Assuming",
    "Conda env",
    "Building DAG",
    "Using shell",
    "Provided",
    "Select jobs",
    "Execute ",
    "Complete log",
    "SNAKEMAKE",
)
TENTHS = 10


def show_in_short(workflow: Any) -> None:
    """Show of Snakemake's messages progress by tenths, warnings and errors alone; its log has all of them.

    Not in a dry run, nor with `--verbose`, `--printshellcmds` or `--debug-dag`.
    """
    settings, tenths = workflow.output_settings, set()
    if settings.dryrun or settings.verbose or settings.printshellcmds or settings.debug_dag:
        return

    def is_shown(record: logging.LogRecord) -> bool:
        event = str(getattr(record, "event", None) or "").rpartition(".")[2].lower()
        if event == "progress" and record.total:
            tenth = TENTHS * record.done // record.total
            first, _ = tenth not in tenths, tenths.add(tenth)
            return first and tenth > 0
        return record.levelno > logging.INFO or not (event in EVENTS or record.getMessage().strip().startswith(MESSAGES))

    for handler in workflow.logger_manager.logger.handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(is_shown)


def print_last_words(workflow: Any, studies: Sequence[str], failed: Sequence[str]) -> None:
    """Print lines on what failed; else on targets that are no study; else the answers of the studies that were asked for."""
    rules, targets = [rule.name for rule in workflow.rules], workflow.dag_settings.targets if workflow.dag_settings else ()
    lines = [*failed] or [*no_such_study(targets, studies, rules)]
    if not lines and workflow.dag is not None and not workflow.output_settings.dryrun:
        pages = [job for job in workflow.dag.jobs if job.rule.name == "page"]
        done = (job for job in pages if workflow.dag.finished(job) or not workflow.dag.needrun(job))
        summaries = (job.output.get("summary") for job in done)
        lines = [line for path in sorted(filter(None, summaries)) for line in answer_in_short(path)]
    for line in lines:
        print(line, file=sys.stderr)


def answer_in_short(path: str) -> list[str]:
    """Lines on the answer in a summary.json: of the study, what it says, and where the report is; none without the file."""
    if not Path(path).is_file():
        return []
    summary = json.loads(Path(path).read_text("utf-8"))
    marked = f"{summary['study']} (simulated)" if summary["data"] == "simulated" else summary["study"]
    words = [f"{marked}: {summary['headline']}", summary["pooled"], f"Report: {Path(path).with_name(summary['report'])}"]
    return [visible(line) for line in words if line]


def failures_in_short(output: str) -> Iterator[str]:
    """Lines on each job of a run that failed for good, from its `output`: rule, path of the log, and the log's last lines.

    If a group of rules in one cluster job fails, Snakemake blames every rule. The log of that job says which one failed; if it
    names none, as after a kill, the job's own errors are listed.
    """
    failures = {(failure.name, frozenset(failure.outputs)): failure for failure in _failures(output.splitlines())}
    for failure in failures.values():  # the last attempts
        if not failure.outputs or not all(Path(path).exists() for path in failure.outputs):
            yield from _lines_on(failure)


def _lines_on(failure: Failure) -> Iterator[str]:
    job_logs = [path for path in failure.logs if "slurm_logs" in path]
    rules = [rule for path in job_logs for rule in _failures(_lines(path)) if rule.logs]
    for rule in rules:
        yield from _lines_on(rule)
    logs = [] if rules else job_logs or failure.logs or list(filter(_lines, failure.logs_of_rules))
    if not rules and not logs:
        yield f"Failed: {failure.name}, before any of its rules wrote a log"
    for path in logs:
        lines = _lines(path)
        errors = [line for line in lines if "error:" in line] if job_logs else []
        yield f"Failed: {failure.name}, log {path}"
        yield from (f"    {visible(line)}" for line in (errors or lines)[-LINES:] or ["(empty)"])


def _failures(lines: list[str]) -> list[Failure]:
    failures, failure = [], None
    for line in lines:
        if heading := HEADING.match(line):
            failure = Failure(heading[1])
            failures.append(failure)
        elif not line.startswith(" "):
            failure = None
        elif failure is not None and (entry := ENTRY.match(line)):
            logs = failure.logs if len(entry[1]) == 4 else failure.logs_of_rules
            (failure.outputs if entry[2] == "output" else logs).extend(entry[3].split(", "))
    return failures


def _lines(path: str) -> list[str]:
    return Path(path).read_text("utf-8", "replace").splitlines() if Path(path).is_file() else []
