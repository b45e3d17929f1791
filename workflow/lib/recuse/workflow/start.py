"""The workflow started from the command line: Snakemake with the project's own Snakefile, in the
folder where one is.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile

from recuse.base.errors import ConfigError
from recuse.base.outputs import write_text
from recuse.base.places import PROJECT
from recuse.workflow.terminal import answer_lines

EXAMPLE = ("judged.csv", "human.csv", "mine.yaml")


# Host, process and start time of the last `recuse run` here
RUNNING = Path(".snakemake/recuse_run.json")
LOCKS = Path(".snakemake/locks")
# Seconds by which a process's start time may seem to move when the machine's clock is set
CLOCKS = 2.0


def build(
    targets: Sequence[str],
    *,
    configfile: str | None,
    cores: str,
    studies: Sequence[str],
    further: Sequence[str] = (),
) -> int:
    """Run Snakemake for these targets, studies or files; return its exit status. ConfigError if it
    is not installed.

    configfile: a user's configuration, or None. studies: those whose answers are the last lines,
    also where nothing was to be done. further: arguments of Snakemake.
    """
    if find_spec("snakemake") is None:
        raise ConfigError(
            "the workflow needs Snakemake and what draws figures; install them: pip install"
            " 'recuse[workflow]'"
        )
    # Targets first: an option with several values would take them.
    command = [
        sys.executable,
        "-P",
        "-m",
        "snakemake",
        *targets,
        "--snakefile",
        str(PROJECT / "Snakefile"),
        "--cores",
        cores,
    ]
    command += [] if configfile is None else ["--configfile", configfile]
    # Set for this process alone
    settings = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    if process := abandoned():
        print(
            f"The last run here (process {process}) was killed; lifting its lock.", file=sys.stderr
        )
        subprocess.run([*command, "--unlock"], env=settings, check=False, capture_output=True)
    began = time.time()
    status = _started([*command, *further], settings)
    if status == 0 and not further:
        for summary in (Path("results", study, "summary.json") for study in studies):
            # The logger has already shown those of this run
            if summary.exists() and summary.stat().st_mtime < began:
                print(*answer_lines(summary), sep="\n", file=sys.stderr)
    return status


def _started(command: Sequence[str], settings: Mapping[str, str]) -> int:
    """Run a command with these variables to its end, and note in RUNNING which process it is.

    In a locked folder, and while another run takes its lock, the note stays that of the other run.
    """
    noted = _noted()
    is_taken = _is_locked() or (noted is not None and _is_running(*noted))
    is_to_note = not is_taken
    with subprocess.Popen(command, env=settings) as process:
        while True:
            try:
                if is_to_note:
                    _note(process.pid)
                    is_to_note = False
                status = process.wait()
            except KeyboardInterrupt:  # Snakemake gets it, too, and ends its jobs
                continue
            if status >= 0 and not is_taken:  # it was not killed
                RUNNING.unlink(missing_ok=True)
            return status


def _note(process: int) -> None:
    """Write into RUNNING which process runs here, and since when."""
    RUNNING.parent.mkdir(exist_ok=True)
    note = {"host": platform.node(), "process": process, "began": _beginning(process)}
    write_text(RUNNING, json.dumps(note))


def abandoned() -> int | None:
    """The process of a `recuse run` that was killed here and left its lock; None if there is none,
    or on another host.
    """
    noted = _noted()
    if noted is None or _is_running(*noted) or not _is_locked():
        return None
    return noted[0]


def _noted() -> tuple[int, float | None] | None:
    """The process of the last run here and when it began; None without a note of this host."""
    try:
        note = json.loads(RUNNING.read_text("utf-8"))
        return (note["process"], note["began"]) if note["host"] == platform.node() else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _is_locked() -> bool:
    return any(LOCKS.glob("*.lock"))


def _is_running(process: int, began: float | None) -> bool:
    """Whether a process that began then is running; another one may have its number since."""
    now = _beginning(process)
    return began is None or (now is not None and abs(now - began) < CLOCKS)


def _beginning(process: int) -> float | None:
    """When a process began; None if it has ended."""
    import psutil

    try:
        found = psutil.Process(process)
        return None if found.status() == psutil.STATUS_ZOMBIE else found.create_time()
    except psutil.NoSuchProcess:
        return None


def copy_example(folder: str) -> list[str]:
    """Copy the simulated example, two tables and their configuration, and return the paths;
    ConfigError if one is there.
    """
    place = Path(folder)
    paths = [place / name for name in EXAMPLE]
    for path in paths:
        if path.exists():
            raise ConfigError(
                f"{path}: is already there; name another folder, as in `recuse example <folder>`"
            )
    place.mkdir(parents=True, exist_ok=True)
    for path in paths:
        copyfile(PROJECT / "docs" / "example" / path.name, path)
    return [str(path) for path in paths]
