"""What every rule says: the code that it runs, which reruns it when edited, and what its jobs ask of a cluster."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
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

    modules: those that the script finds by a name it is told, such as recuse.plot.smooths.
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
    """Megabytes and minutes of a job at its first attempt, as much again at each further one.

    One that is killed for want of memory or time is so made by a later attempt. On one machine nothing is limited by it.
    """
    return {
        "mem_mb": lambda wildcards, attempt: attempt * mem_mb,
        "runtime": lambda wildcards, attempt: attempt * runtime,
    }


def asks_by_size(*, mem_mb: int, runtime: int, megabytes: Callable[[object], float]) -> Resources:
    """The same for a job that reads every row of a study: more where its raw files, so many megabytes of them, are large."""

    def of(resource, least):
        def amount(wildcards, attempt):
            grown = least + GROWTH[resource] * megabytes(wildcards)
            return attempt * int(max(least, min(grown, MOST[resource])))

        return amount

    return {"mem_mb": of("mem_mb", mem_mb), "runtime": of("runtime", runtime)}


def megabytes_of(paths: Iterable[str]) -> float:
    """What files, and folders of files, take, or would as CSV; nothing for one that is still to be made.

    Not the size of a rule's input, which is not there yet when a cluster job of many rules is planned.
    """
    files = [file for path in map(Path, paths) for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    return sum(file.stat().st_size * (1 if file.suffix == ".csv" else COMPRESSION) for file in files) / 1e6
