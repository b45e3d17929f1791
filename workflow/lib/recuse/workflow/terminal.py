"""The last lines of a run on the terminal: the answer of each study, or the rules that failed, with
the end of their logs.
"""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from shutil import get_terminal_size

from recuse.base.words import WIDTH, text_table, visible, wrapped

LINES = 5  # of a log
MOST = 20  # rows of a table of verdicts


def failure_lines(rule: str, logs: Iterable[str]) -> list[str]:
    """The rule, the paths of its logs, and the last lines of each."""
    lines = []
    for path in logs:
        lines.append(f"Failed: {rule}, log {path}")
        text = Path(path).read_text("utf-8", "replace") if Path(path).is_file() else ""
        lines += [f"    {visible(line)}" for line in text.splitlines()[-LINES:] or ["(empty)"]]
    return lines or [f"Failed: {rule}"]


def mistyped_lines(targets: Iterable[str]) -> list[str]:
    """For each target that is neither a study nor a figure of the project's configuration, the one
    that it is most like.
    """
    from recuse.catalogue.figures import figures
    from recuse.config.load import load_studies

    studies = load_studies(None)
    twin = studies["twin"]
    known = {"figures": figures(twin), "": studies}
    lines = []
    for target in map(Path, targets):
        names = known.get(target.parent.name, ())
        close = get_close_matches(target.stem, names, n=1)
        close = close or [name for name in names if name.startswith(target.stem)][:1]
        if close and close != [target.stem]:
            lines.append(f"Did you mean {target.with_stem(close[0])}?")
    return lines


def answer_lines(path: str | Path) -> list[str]:
    """The answer in a summary.json: of the study, what it says, its table as wide as the terminal,
    what to do first, and where the report is; none without the file.
    """
    if not Path(path).is_file():
        return []
    summary = json.loads(Path(path).read_text("utf-8"))
    is_simulated = summary["data"] == "simulated"
    name = f"{summary['study']} (simulated)" if is_simulated else summary["study"]
    width = get_terminal_size((WIDTH, 0)).columns
    table, rows = summary["table"], summary["table"]["rows"]
    lines = wrapped(visible(f"{name}: {summary['headline']}"), width)
    if rows:
        lines += text_table(table["headings"], rows[:MOST], width)
        lines += [f"and {len(rows) - MOST} more"] if len(rows) > MOST else []
    steps = [f"Next: {step}" for step in summary["next_steps"][:1]]
    for words in (summary["truth"], summary["further"], summary["pooled"], *steps):
        lines += wrapped(visible(words), width)
    return [*lines, visible(f"Report: {Path(path).with_name(summary['report'])}")]
