"""Many judges: whole runs of the workflow on simulated studies in which every judge rates itself
and every other judge.

    python benchmarks/judges.py [--judges 9 30 60] [--prompts 500] [--cores 2] [--least 1.0]

From the configuration to the report, with the default specs, checks and figures: the seconds and
memory of the jobs, as they write them to results/<study>/benchmarks/, and of the whole. The data
are made in a temporary folder (TMPDIR says where it is).
"""

import sys
from pathlib import Path

from processes import ROOT, Measured, measure, print_machine
from whole_run import jobs_from, print_jobs

STUDY, SIBLINGS = "judges", 3  # models of a family


def configure(folder: str, judges: int, prompts: int) -> None:
    """Write the configuration: models of quality 0.3 to 0.8; some judges favour themselves, and
    some families their own.
    """
    import yaml

    families = [f"Family {number + 1}" for number in range(-(-judges // SIBLINGS))]
    models = {f"Model {number + 1:02}": families[number // SIBLINGS] for number in range(judges)}
    world = {
        "prompts": prompts,
        "quality": {
            name: round(0.3 + 0.5 * place / judges, 4) for place, name in enumerate(models)
        },
        "judges": {
            name: {"self_bias": 0.04} if place % 4 == 0 else {} for place, name in enumerate(models)
        },
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


def run(folder: str, cores: int) -> Measured:
    """One run of the workflow, from the configuration to the report."""
    snakemake = [
        sys.executable,
        "-m",
        "snakemake",
        "-s",
        str(ROOT / "Snakefile"),
        "--cores",
        str(cores),
        "--quiet",
        "all",
    ]
    return measure(
        [
            *snakemake,
            "--workflow-profile",
            str(ROOT / "profiles" / "default"),
            "--directory",
            folder,
            STUDY,
        ]
    )


def main() -> None:
    """Measure every number of judges and print the tables."""
    import argparse
    import tempfile

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judges", nargs="+", type=int, default=[9, 30, 60], help="as many models")
    parser.add_argument("--prompts", type=int, default=500)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument(
        "--least", type=float, default=1.0, help="seconds of a job that has a line of its own"
    )
    given = parser.parse_args()
    print_machine(("snakemake", "numpy", "duckdb"))
    for judges in given.judges:
        with tempfile.TemporaryDirectory() as folder:
            configure(folder, judges, given.prompts)
            whole = run(folder, given.cores)
            print(f"{judges} judges, {judges**2 * given.prompts:,} ratings")
            print_jobs(jobs_from(folder), whole, least=given.least)


if __name__ == "__main__":
    main()
