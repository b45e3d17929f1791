"""The last lines of a run on the terminal: the answer of each study, or the rules that failed, with
the end of their logs.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from recuse.base.words import visible

LINES = 5  # of a log


def failure_lines(rule: str, logs: Iterable[str]) -> list[str]:
    """The rule, the paths of its logs, and the last lines of each."""
    lines = []
    for path in logs:
        lines.append(f"Failed: {rule}, log {path}")
        text = Path(path).read_text("utf-8", "replace") if Path(path).is_file() else ""
        lines += [f"    {visible(line)}" for line in text.splitlines()[-LINES:] or ["(empty)"]]
    return lines or [f"Failed: {rule}"]


def answer_lines(path: str | Path) -> list[str]:
    """The answer in a summary.json: of the study, what it says, and where the report is; none
    without the file.
    """
    if not Path(path).is_file():
        return []
    summary = json.loads(Path(path).read_text("utf-8"))
    marked = (
        f"{summary['study']} (simulated)" if summary["data"] == "simulated" else summary["study"]
    )
    words = [
        f"{marked}: {summary['headline']}",
        summary["pooled"],
        f"Report: {Path(path).with_name(summary['report'])}",
    ]
    return [visible(line) for line in words if line]
