"""A folder of parts as a study of shards, beside the same in one piece: whole runs of the workflow.

    python benchmarks/sharded.py [--rows 1e6 1e7] [--shards 4] [--parts 4] [--cores 2] [--target
    cells] [--runs 1]

From the raw parquet parts, each with rows of every prompt, to the cells (--target cells) or to the
tables of all specs (--target estimates), by Snakemake, its own start included. Both studies must
have the same cells, byte for byte. The data are made in a temporary folder, which takes 10 GB for
1e8 rows (TMPDIR says where it is).
"""

from collections.abc import Sequence
from pathlib import Path

from growth import DIMENSIONS, FAMILIES, MODELS, make
from processes import (
    Measured,
    measure,
    medians,
    print_machine,
    print_table,
    ratios,
    run_step_or,
    step_from,
)
from whole_run import run_workflow

WHOLE, SCATTERED = "whole", "scattered"
TARGETS = {"cells": "cells.parquet", "estimates": "estimates/main.csv"}


def parts(rows: str, folder: str, memory_limit: str, number: str) -> None:
    """Write the raw rows as parquet parts, each with rows of every prompt."""
    from recuse.base.database import connect, text

    make(rows, folder, memory_limit)
    Path(folder, "parts").mkdir()
    for part in range(int(number)):
        some = (
            f"from read_parquet({text(f'{folder}/raw.parquet')}) where hash(prompt_id, judge) %"
            f" {number} = {part}"
        )
        connect().execute(
            f"copy ({some}) to {text(f'{folder}/parts/{part}.parquet')} (format parquet,"
            " compression zstd)"
        )
    Path(folder, "raw.parquet").unlink()


def configure(folder: str, shards: int) -> None:
    """Write the configuration of both studies."""
    import yaml

    study = {
        "title": "grown",
        "files": "parts",
        "scales": {dimension: [1, 5] for dimension in DIMENSIONS},
    }
    config = {
        "families": {family: {} for family in FAMILIES},
        "models": {name: {"family": family} for name, family in MODELS.items()},
        "studies": {WHOLE: study, SCATTERED: {**study, "shards": shards}},
    }
    Path(folder, "config.yaml").write_text(yaml.safe_dump(config), "utf-8")


def run(folder: str, study: str, target: str, cores: int) -> Measured:
    """Measure one run of the workflow from the raw parts on."""
    import shutil

    shutil.rmtree(Path(folder, "results", study), ignore_errors=True)
    return run_workflow(folder, f"results/{study}/{TARGETS[target]}", cores=cores)


def compared(rows: str, given) -> list[Sequence[str]]:
    """The lines of the table for one number of rows."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        measure(step_from(__file__, "parts", rows, folder, "1GB", str(given.parts)))
        configure(folder, given.shards)
        found = {study: [] for study in (WHOLE, SCATTERED)}
        for _ in range(given.runs):
            for study, measured in found.items():
                measured.append(run(folder, study, given.target, given.cores))
        ours, theirs = (
            Path(folder, "results", study, "cells.parquet").read_bytes() for study in found
        )
    if ours != theirs:
        raise SystemExit(f"{rows} rows: the cells of the two studies differ")
    ratio, _, _ = ratios(found[SCATTERED], found[WHOLE])
    middle = {study: medians(measured) for study, measured in found.items()}
    names = {WHOLE: "one piece", SCATTERED: f"{given.shards} shards"}
    numbers = {
        study: [f"{each.wall:.1f}", f"{each.processor:.1f}", f"{each.peak:.0f}"]
        for study, each in middle.items()
    }
    return [
        [names[study], rows, *numbers[study], f"{ratio:.2f}" if study == SCATTERED else ""]
        for study in found
    ]


def main() -> None:
    """Measure every number of rows and print the table."""
    import argparse

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", nargs="+", default=["1e6", "1e7"], help="numbers of rows, such as 1e6"
    )
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--parts", type=int, default=4, help="raw files")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--target", choices=TARGETS, default="cells")
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    print_machine(("snakemake", "numpy", "duckdb"))
    table = [line for rows in given.rows for line in compared(rows, given)]
    print_table(
        ["study", "rows", "wall s", "cpu s", "peak MiB of a process", "wall, to one piece"], table
    )


if __name__ == "__main__":
    run_step_or(main, {"parts": parts})
