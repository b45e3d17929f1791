"""What failed in a run of Snakemake, in a few lines, from all that the run said."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LINES = 5
HEADING = re.compile(r"(?:Error in rule|    message: Error in group) (\w+):?$")
ENTRY = re.compile(r"( +)(output|log): (.+?)(?: \(check log.*)?$")


@dataclass
class Failure:
    """A job that failed, of a rule or of a group of rules: its name, outputs, logs, and the logs of the rules of the group."""

    name: str
    outputs: list[str] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    logs_of_rules: list[str] = field(default_factory=list)

    def was_mended(self) -> bool:
        """True if a later attempt made all outputs."""
        return bool(self.outputs) and all(Path(path).exists() for path in self.outputs)


def failures_in_short(output: str) -> Iterator[str]:
    """Lines on what failed for good in a run, from its `output`: rule, path of the log, and the log's last lines.

    Of a group of rules in one cluster job Snakemake blames every rule, run or not. The log of the cluster job knows which
    one failed; where it names none, as after a kill, its own errors are given.
    """
    left = [failure for failure in _failures(output.splitlines()) if not failure.was_mended()]
    for failure in {(failure.name, frozenset(failure.outputs)): failure for failure in left}.values():  # their last attempts
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
