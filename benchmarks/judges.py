"""Many judges: whole runs of the workflow on simulated studies in which every judge rates itself and every other judge.

    python benchmarks/judges.py [--judges 9 30 60] [--prompts 500] [--cores 2] [--least 1.0]

From the configuration to the report, with the default specs, checks and figures. After each run: the wall clock of the whole,
and the seconds and memory of its jobs, by the workflow's own results/<study>/benchmarks/*.tsv; jobs below --least seconds of
processor time are summed. The data are made in a temporary folder (TMPDIR says where it is).
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from processes import ROOT, measure, print_machine, print_table

STUDY, SIBLINGS = "judges", 3  # models of a family


def configure(folder: str, judges: int, prompts: int) -> None:
    """Write the configuration: models of quality 0.3 to 0.8; some judges favour themselves, and some families their own."""
    import yaml

    families = [f"Family {number + 1}" for number in range(-(-judges // SIBLINGS))]
    models = {f"Model {number + 1:02}": families[number // SIBLINGS] for number in range(judges)}
    world = {
        "prompts": prompts,
        "quality": {name: round(0.3 + 0.5 * place / judges, 4) for place, name in enumerate(models)},
        "judges": {name: {"self_bias": 0.04} if place % 4 == 0 else {} for place, name in enumerate(models)},
        "family_bias": dict.fromkeys(families[::3], 0.02),
        "preference": 0.02,
    }
    study = {
        "title": f"{judges} judges",
        "simulate": world,
        "scales": {"Quality": [1, 5]},
        "task_types": {"qa": ["one", "two"]},
    }
    config = {
        "families": {family: {} for family in families},
        "models": {name: {"family": family} for name, family in models.items()},
        "studies": {STUDY: study},
    }
    Path(folder, "config.yaml").write_text(yaml.safe_dump(config), "utf-8")


def run(folder: str, cores: int) -> float:
    """Wall seconds of one run of the workflow, from the configuration to the report."""
    snakemake = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", str(cores), "--quiet", "all"]
    return measure([*snakemake, "--workflow-profile", str(ROOT / "profiles" / "default"), "--directory", folder, STUDY]).wall


def jobs(folder: str) -> list[tuple[str, float, float, float]]:
    """Name, wall seconds, processor seconds and peak MiB of each job, the longest first."""
    import csv

    rows = []
    for path in Path(folder, "results", STUDY, "benchmarks").glob("*.tsv"):
        with path.open(encoding="utf-8", newline="") as file:
            (row,) = csv.DictReader(file, delimiter="\t")
        rows.append((path.stem, *(float(row[name]) if row[name] != "NA" else 0.0 for name in ("s", "cpu_time", "max_rss"))))
    return sorted(rows, key=lambda row: -row[2])


def compared(judges: int, prompts: int, cores: int, least: float) -> list[Sequence[str]]:
    """The lines of the table for one number of judges."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        configure(folder, judges, prompts)
        wall, measured = run(folder, cores), jobs(folder)
    long, short = ([row for row in measured if (row[2] >= least) is wanted] for wanted in (True, False))
    long.append(
        (f"{len(short)} shorter jobs", sum(row[1] for row in short), sum(row[2] for row in short), max(row[3] for row in short))
    )
    whole = [
        str(judges),
        "the whole run",
        f"{wall:.1f}",
        f"{sum(row[2] for row in measured):.1f}",
        f"{max(row[3] for row in measured):.0f}",
    ]
    return [whole, *(["", name, f"{seconds:.1f}", f"{cpu:.1f}", f"{peak:.0f}"] for name, seconds, cpu, peak in long)]


def main() -> None:
    """Measure every number of judges and print the table."""
    import argparse

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", nargs="+", type=int, default=[9, 30, 60], help="as many models")
    parser.add_argument("--prompts", type=int, default=500)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--least", type=float, default=1.0, help="processor seconds of a job that has a line of its own")
    given = parser.parse_args()
    print_machine(("snakemake", "numpy", "duckdb"))
    table = [line for judges in given.judges for line in compared(judges, given.prompts, given.cores, given.least)]
    print_table(["judges", "job", "wall s", "cpu s", "peak MiB"], table)


if __name__ == "__main__":
    main()
