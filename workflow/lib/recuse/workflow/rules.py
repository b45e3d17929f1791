"""What rules need: their code, and the resources of their jobs."""

import os
import re
from collections.abc import Callable, Container, Mapping
from functools import cache
from pathlib import Path

from recuse.base.places import PACKAGE, WORKFLOW
from recuse.config.studies import Study

# The one form of import that the project uses
IMPORT = re.compile(r"^ *from recuse\.([\w.]+) import ", re.MULTILINE)

# Megabytes and minutes more for a megabyte of raw CSV, and the most at the first attempt.
GROWTH = {"mem_mb": 8, "runtime": 0.02}
MOST = {"mem_mb": 32_000, "runtime": 720}

# Of a job, by its wildcards and the number of the attempt
Resources = Mapping[str, Callable[[object, int], int]]


def code_files(script: str, *names: str) -> list[str]:
    """A script and the library modules that it uses, directly or indirectly.

    names: modules that the script imports by name, such as recuse.plot.scores, or
    `module:function`.
    """
    used: set[Path] = set()
    waiting = [
        WORKFLOW / "scripts" / script,
        *(_path(name.partition(":")[0].removeprefix("recuse.")) for name in names),
    ]
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


def check_study_names(studies: Mapping[str, Study], rules: Container[str]) -> None:
    """Raise ConfigError if one of `rules` has the name of a study, which becomes the name of a
    rule.
    """
    for name, study in studies.items():
        if name in rules:
            raise study.refusal([], "the name of a rule of this workflow; choose another")


def asks(
    *, mem_mb: int, runtime: int, megabytes: Callable[[object], float] = lambda wildcards: 0
) -> Resources:
    """Megabytes and minutes of a job at its first attempt, more if its raw files are large, and as
    much again at each retry.
    """

    def of(resource, least):
        def amount(wildcards, attempt):
            grown = least + GROWTH[resource] * megabytes(wildcards)
            return attempt * int(max(least, min(grown, MOST[resource])))

        return amount

    return {"mem_mb": of("mem_mb", mem_mb), "runtime": of("runtime", runtime)}
