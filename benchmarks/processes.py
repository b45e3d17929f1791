"""What the benchmarks share: whole processes timed in turn, medians, tables, and the line that
names the machine.

Measured steps import this module too: what only the measuring process needs is imported in the
functions.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "workflow" / "lib"
STEP = "--step"  # the first argument of a script that runs one of its steps in a process of its own
GAP = "  "  # between the columns of a table
# As Snakemake sets it for a rule of one thread; two only wait for each other
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
sys.path.insert(0, str(LIBRARY))  # for the steps, which run in processes of their own


class Measured(NamedTuple):
    """One whole process: wall and processor seconds (user and system), peak memory in MiB, and what
    it printed.
    """

    wall: float
    processor: float
    peak: float
    printed: str


def measure(command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Measured:
    """Run a command with `environment` beside this process's; a failure ends the benchmark.

    The system counts the memory of the parent at the fork among the child's: a process that
    measures imports nothing heavy.
    """
    import subprocess

    start = time.perf_counter()
    process = subprocess.Popen(
        command, env=os.environ | dict(environment or {}), stdout=subprocess.PIPE, text=True
    )
    with process.stdout as stream:
        printed = stream.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    # Waited for here: Popen is not to wait again
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed with status {process.returncode}: {' '.join(command)}")
    return Measured(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed)


def in_turn(
    commands: Mapping[str, Sequence[str]], runs: int, **options
) -> dict[str, list[Measured]]:
    """Measure each command `runs` times, one after the other in every round; a round before fills
    the file cache.
    """
    rounds = [
        {name: measure(command, **options) for name, command in commands.items()}
        for _ in range(runs + 1)
    ]
    return {name: [found[name] for found in rounds[1:]] for name in commands}


def medians(measured: Sequence[Measured]) -> Measured:
    """Median of each number, taken by itself; what was printed is the first run's."""
    import statistics

    numbers = (statistics.median(run[place] for run in measured) for place in range(3))
    return Measured(*numbers, measured[0].printed)


def ratios(
    slow: Sequence[Measured], fast: Sequence[Measured], which: str = "wall"
) -> tuple[float, float, float]:
    """Median, lowest and highest ratio of runs of the same round; which: wall, processor or
    peak.
    """
    import statistics

    found = [
        getattr(one, which) / getattr(other, which) for one, other in zip(slow, fast, strict=True)
    ]
    return statistics.median(found), min(found), max(found)


def step_from(script: str, step: str, *arguments: str, python: str = sys.executable) -> list[str]:
    """The command that runs one step of a script in a process of its own."""
    return [python, script, STEP, step, *arguments]


def run_step_or(main: Callable[[], None], steps: Mapping[str, Callable]) -> None:
    """Run the step that the command line names, which imports nothing but what it needs, or else
    `main`.
    """
    if sys.argv[1:2] == [STEP]:
        steps[sys.argv[2]](*sys.argv[3:])
    else:
        main()


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: the first column to the left, the others to the right, each as wide as its
    longest entry.
    """
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *others in lines:
        cells = [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
        print(GAP.join(cells).rstrip())


def print_machine(libraries: Iterable[str] = ("numpy", "duckdb")) -> None:
    """Print the line that names the machine: processor, cores this process may use, Python, and
    versions of libraries.
    """
    import platform
    from importlib.metadata import version

    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next(
            (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
            platform.machine(),
        )
    versions = ", ".join(f"{library} {version(library)}" for library in libraries)
    print(
        f"{model}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()},"
        f" {versions}"
    )
