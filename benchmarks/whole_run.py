"""Whole runs of the workflow from nothing: wall and processor seconds and peak memory of each job,
of Snakemake, and of all.

    python benchmarks/whole_run.py [targets] [--cores 2] [--runs 3] [--configfile mine.yaml]

Targets are studies or files, by default what a bare `snakemake` builds. The run is in a temporary
folder; of several, the table is that of the one with the median wall time. The numbers of a job are
those that it writes to results/<study>/benchmarks/. Then the same again, with nothing to do.
"""

import csv
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from processes import GAP, ROOT, Measured, measure, print_machine, print_table


class Job(NamedTuple):
    """A job as it measured itself: wall and processor seconds, peak MiB."""

    name: str
    wall: float
    processor: float
    peak: float


def run_workflow(folder: str, *targets: str, cores: int, configfile: str | None = None) -> Measured:
    """Measure one run of the workflow in a folder, with its config.yaml or another."""
    command = [sys.executable, "-P", "-m", "snakemake", *targets, "--cores", str(cores)]
    command += ["--snakefile", f"{ROOT}/Snakefile", "--directory", folder, "--quiet", "all"]
    command += ["--workflow-profile", f"{ROOT}/profiles/default"]
    return measure([*command, *(["--configfile", configfile] if configfile else [])])


def jobs_from(folder: str) -> list[Job]:
    """The jobs that a run in a folder measured, those that took longest first."""
    jobs = []
    for path in Path(folder).glob("results/*/benchmarks/**/*.tsv"):
        with path.open(newline="", encoding="utf-8") as file:
            row = next(csv.DictReader(file, delimiter="\t"))
        study = path.relative_to(folder).parts[1]
        jobs.append(
            Job(
                f"{study}{GAP}{path.stem}",
                float(row["s"]),
                float(row["cpu_time"]),
                float(row["max_rss"]),
            )
        )
    return sorted(jobs, key=lambda job: (-job.processor, job.name))


def together(name: str, jobs: Sequence[Job]) -> Job:
    """The seconds of several jobs, and the memory of the largest."""
    return Job(
        name,
        sum(job.wall for job in jobs),
        sum(job.processor for job in jobs),
        max(job.peak for job in jobs),
    )


def print_jobs(jobs: Sequence[Job], whole: Measured, *, least: float = 0.1) -> None:
    """Print what each job took, those of less than so many seconds together, and the run with what
    is Snakemake's own.
    """
    short = [job for job in jobs if max(job.wall, job.processor) < least]
    rows = [job for job in jobs if job not in short] + (
        [together(f"{len(short)} shorter ones", short)] if short else []
    )
    rows += [together("all jobs", jobs), Job("the run, with Snakemake and imports", *whole[:3])]
    lines = [
        (name, f"{wall:.2f}", f"{processor:.2f}", f"{peak:.0f}")
        for name, wall, processor, peak in rows
    ]
    print_table(("job", "wall s", "cpu s", "peak MiB"), lines)


def main() -> None:
    """Run, measure and print."""
    import argparse
    import tempfile

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--configfile", type=os.path.abspath)
    given = parser.parse_args()
    found, idle = [], []
    for _ in range(given.runs):
        with tempfile.TemporaryDirectory() as folder:
            build = partial(
                run_workflow,
                folder,
                *given.targets,
                cores=given.cores,
                configfile=given.configfile,
            )
            whole = build()
            found.append((whole.wall, whole, jobs_from(folder)))
            build()  # It remembers the digests of files that are older than two seconds.
            idle += [build() for _ in range(3)]
    print_machine(("snakemake", "numpy", "duckdb", "matplotlib"))
    found.sort(key=lambda run: run[0])
    _, whole, jobs = found[len(found) // 2]
    print_jobs(jobs, whole)
    print(f"wall s of {given.runs} runs: {', '.join(f'{wall:.1f}' for wall, *_ in found)}")
    print(f"with nothing to do, wall s: {', '.join(f'{each.wall:.2f}' for each in sorted(idle))}")


if __name__ == "__main__":
    main()
