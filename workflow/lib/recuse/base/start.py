"""The workflow started from the command line: Snakemake with the project's own Snakefile, in the folder where one is."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile
from subprocess import Popen

from recuse.base.errors import ConfigError
from recuse.base.places import PROJECT

EXAMPLE = ("judged.csv", "human.csv", "mine.yaml")


def build(targets: Sequence[str], *, configfile: str | None, cores: str, further: Sequence[str] = ()) -> int:
    """Run Snakemake for these targets, studies or files; return its exit status. ConfigError if it is not installed.

    configfile: a user's configuration, or None. further: arguments of Snakemake.
    """
    if find_spec("snakemake") is None:
        raise ConfigError("the workflow needs Snakemake and what draws figures; install them: pip install 'recuse[workflow]'")
    # Targets first: an option with several values would take them.
    command = [sys.executable, "-P", "-m", "snakemake", *targets, "--snakefile", str(PROJECT / "Snakefile"), "--cores", cores]
    command += [] if configfile is None else ["--configfile", configfile]
    settings = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}  # set for this process alone
    with Popen([*command, *further], env=settings) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # which Snakemake gets, too; it then ends its jobs
                continue


def copy_example(folder: str) -> list[str]:
    """Copy the simulated example, two tables and their configuration, and return the paths; ConfigError if one is there."""
    place = Path(folder)
    paths = [place / name for name in EXAMPLE]
    for path in paths:
        if path.exists():
            raise ConfigError(f"{path}: is already there; name another folder, as in `recuse example <folder>`")
    place.mkdir(parents=True, exist_ok=True)
    for path in paths:
        copyfile(PROJECT / "docs" / "example" / path.name, path)
    return [str(path) for path in paths]
