"""What Snakemake needs to know of rules: their code, what their jobs ask of a cluster, and which jobs failed."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

WORKFLOW = Path(__file__).parents[3]
IMPORT = re.compile(r"^ *from recuse\.([\w.]+) import ", re.MULTILINE)  # the one form of import that the project uses

# A megabyte of raw CSV asks for so many megabytes and minutes more, up to so much at the first attempt.
GROWTH = {"mem_mb": 8, "runtime": 0.02}
MOST = {"mem_mb": 32_000, "runtime": 720}
COMPRESSION = 8  # as CSV, parquet or gzip is about so many times its size

Resources = Mapping[str, Callable[[object, int], int]]  # of a job, by its wildcards and the number of the attempt


def code_of(script: str, *modules: str) -> list[str]:
    """A script and the library modules that it uses, directly or through others: inputs of its rule, compared by content.

    modules: those that the script imports by name, such as recuse.plot.scores.
    """
    used: set[Path] = set()
    waiting = [WORKFLOW / "scripts" / script, *(_path(name.removeprefix("recuse.")) for name in modules)]
    while waiting:
        path = waiting.pop()
        used.add(path)
        waiting += [module for module in _imported(path) if module not in used]
    return [os.path.relpath(path) for path in sorted(used)]


@cache
def _imported(path: Path) -> list[Path]:
    return [_path(name) for name in IMPORT.findall(path.read_text("utf-8"))]


def _path(name: str) -> Path:
    return WORKFLOW.joinpath("lib", "recuse", *name.split(".")).with_suffix(".py")


def asks(*, mem_mb: int, runtime: int) -> Resources:
    """Megabytes and minutes of a job at its first attempt, and as much again at each further one; no limit on one machine."""
    return {
        "mem_mb": lambda wildcards, attempt: attempt * mem_mb,
        "runtime": lambda wildcards, attempt: attempt * runtime,
    }


def asks_by_size(*, mem_mb: int, runtime: int, megabytes: Callable[[object], float]) -> Resources:
    """The same for a job that reads every row of a study: more where its raw files are large."""

    def of(resource, least):
        def amount(wildcards, attempt):
            grown = least + GROWTH[resource] * megabytes(wildcards)
            return attempt * int(max(least, min(grown, MOST[resource])))

        return amount

    return {"mem_mb": of("mem_mb", mem_mb), "runtime": of("runtime", runtime)}


def megabytes_of(paths: Iterable[str]) -> float:
    """Megabytes that files, and folders of files, would take as CSV; nothing for one that is still to be made."""
    files = [file for path in map(Path, paths) for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    return sum(file.stat().st_size * (1 if file.suffix == ".csv" else COMPRESSION) for file in files) / 1e6


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


def failures_in_short(output: str) -> Iterator[str]:
    """Lines on what failed for good in a run, from its `output`: rule, path of the log, and the log's last lines.

    Of a group of rules in one cluster job Snakemake blames every rule. The log of that job tells which one failed; where it
    names none, as after a kill, its own errors are given.
    """
    failures = {(failure.name, frozenset(failure.outputs)): failure for failure in _failures(output.splitlines())}
    for failure in failures.values():  # their last attempts
        mended = bool(failure.outputs) and all(Path(path).exists() for path in failure.outputs)
        if not mended:
            yield from _lines_on(failure)


def _lines_on(failure: Failure) -> Iterator[str]:
    of_job = [path for path in failure.logs if "slurm_logs" in path]
    rules = [rule for path in of_job for rule in _failures(_lines(path)) if rule.logs]
    for rule in rules:
        yield from _lines_on(rule)
    logs = [] if rules else of_job or failure.logs or list(filter(_lines, failure.logs_of_rules))
    if not rules and not logs:
        yield f"Failed: {failure.name}, before any of its rules wrote a log"
    for path in logs:
        lines = _lines(path)
        errors = [line for line in lines if "error:" in line] if of_job else []
        yield f"Failed: {failure.name}, log {path}"
        yield from (f"    {line}" for line in (errors or lines)[-LINES:] or ["(empty)"])


def _failures(lines: list[str]) -> list[Failure]:
    """Every failure that a run names, in its order."""
    failures, failure = [], None
    for line in lines:
        if heading := HEADING.match(line):
            failure = Failure(heading[1])
            failures.append(failure)
        elif not line.startswith(" "):
            failure = None
        elif failure is not None and (entry := ENTRY.match(line)):
            indent, kind, paths = entry[1], entry[2], entry[3].split(", ")
            if kind == "output":
                failure.outputs += paths
            elif len(indent) == 4:
                failure.logs += paths
            else:
                failure.logs_of_rules += paths
    return failures


def _lines(path: str) -> list[str]:
    return Path(path).read_text("utf-8", "replace").splitlines() if Path(path).is_file() else []
