"""Many judges or dimensions: whole runs of the workflow on simulated studies in which every judge
rates itself and every other judge.

    python benchmarks/judges_and_dimensions.py [--judges 9 30 60] [--prompts 500] [--tables]
    python benchmarks/judges_and_dimensions.py --judges 9 --dimensions 6 24 60 240 --prompts 25

From the configuration to the report, with the default specs, checks and figures: the seconds and
memory of the jobs, as they write them to results/<study>/benchmarks/, and of the whole. Then, by
job, how the seconds grow: the exponent of the number of judges, or of dimensions if there are
several, between one size and the next. With --tables, runs end with the tables, before figures and
pages. The data are made in a temporary folder (TMPDIR says where it is).
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path

from processes import print_machine, print_table
from whole_run import Job, jobs_from, print_jobs, run_workflow

STUDY, SIBLINGS = "judges", 3  # models of a family
# All others are made on the way to these.
TABLES = [
    f"results/{STUDY}/tables/{name}.csv" for name in ("verdicts", "recovery", "check", "remarks")
]


def configure(folder: str, judges: int, dimensions: int, prompts: int) -> None:
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
        "scales": {f"Quality {number + 1}": [1, 5] for number in range(dimensions)},
        "task_types": {"qa": ["one", "two"]},
    }
    config = {
        "families": {family: {} for family in families},
        "models": {name: {"family": family} for name, family in models.items()},
        "studies": {STUDY: study},
    }
    Path(folder, "config.yaml").write_text(yaml.safe_dump(config), "utf-8")


def print_growth(jobs: Mapping[int, Sequence[Job]], *, least: float) -> None:
    """Print the seconds of each job that takes so many at the largest size, with the exponents of
    the size.

    jobs: by the number of judges, or of dimensions.
    """
    seconds = {size: {job.name: job.processor for job in of_run} for size, of_run in jobs.items()}
    steps = list(pairwise(seconds))
    header = [f"cpu s of {size}" for size in seconds]
    header += [f"exponent {few} to {many}" for few, many in steps]
    *_, last = seconds.values()
    rows = []
    for name in [name for name, longest in last.items() if longest >= least]:
        row = [f"{of_run.get(name, math.nan):.2f}" for of_run in seconds.values()]
        for few, many in steps:
            before, after = seconds[few].get(name), seconds[many].get(name)
            known = before and after
            row.append(f"{math.log(after / before, many / few):.1f}" if known else "")
        rows.append((name, *row))
    print_table(("job", *header), rows)


def main() -> None:
    """Measure every size and print the tables."""
    import argparse
    import tempfile

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judges", nargs="+", type=int, default=[9, 30, 60], help="as many models")
    parser.add_argument("--dimensions", nargs="+", type=int, default=[1])
    parser.add_argument("--prompts", type=int, default=500)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument(
        "--least", type=float, default=1.0, help="seconds of a job that has a line of its own"
    )
    parser.add_argument("--tables", action="store_true", help="without figures and pages")
    given = parser.parse_args()
    if len(given.judges) > 1 < len(given.dimensions):
        parser.error("give several numbers of judges or of dimensions, not of both")
    jobs: dict[int, list[Job]] = {}
    print_machine(("snakemake", "numpy", "duckdb"))
    for judges, dimensions in product(given.judges, given.dimensions):
        with tempfile.TemporaryDirectory() as folder:
            configure(folder, judges, dimensions, given.prompts)
            targets = TABLES if given.tables else [STUDY]
            whole = run_workflow(folder, *targets, cores=given.cores)
            ratings = judges**2 * given.prompts * dimensions
            print(f"{judges} judges, {dimensions} dimensions, {ratings:,} ratings")
            of_run = jobs_from(folder)
            print_jobs(of_run, whole, least=given.least)
            jobs[dimensions if len(given.dimensions) > 1 else judges] = of_run
    print_growth(jobs, least=given.least)


if __name__ == "__main__":
    main()
