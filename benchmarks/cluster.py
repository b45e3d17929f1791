"""Many small studies in one run on a SLURM of this machine: cluster jobs, what each takes beside
its rules, and whether any is lost.

    python benchmarks/cluster.py [--studies 200] [--alone | --together 20] [--profile slurm]

Every study is the simulated example, fitted by Equation 1: its ratings are imported, checked and
fitted. The rules of a study are one cluster job; with --alone, each rule is one of its own, and
with --together, so many studies are one. --profile is a folder of workflow/profiles: slurm, or
cluster-generic. Then, on this machine without the cluster, one figure of a study, and all again,
with nothing to do. The Python that runs this needs envs/requirements-slurm.txt or
envs/requirements-cluster-generic.txt, and the machine slurm-wlm and munge (as root).
"""

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import yaml
from processes import ROOT, measure, print_machine, print_table
from whole_run import jobs_from

sys.path.insert(0, str(ROOT / "tests"))

EXAMPLE = ROOT / "docs" / "example"
RULES = "import_ratings_and_raters", "ratings", "fit"


def configure(folder: str, number: int) -> list[str]:
    """Write the configuration of so many studies; return their names."""
    described = yaml.safe_load((EXAMPLE / "mine.yaml").read_text("utf-8"))["studies"]["ours"]
    source = described["import"]
    for part in (source, source["references"]):
        part["files"] = str(EXAMPLE / part["files"])
    names = [f"s{place:03}" for place in range(number)]
    config = {"studies": dict.fromkeys(names, described)}
    Path(folder, "mine.yaml").write_text(yaml.safe_dump(config), "utf-8")
    return names


def seconds(shown: str) -> int:
    """The seconds of a time as SLURM shows it, such as 1:02 or 1:00:02."""
    total = 0
    for part in shown.split(":"):
        total = 60 * total + int(part)
    return total


def main() -> None:
    """Run, count and print."""
    from slurm_cluster import started_cluster

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--together", type=int)
    parser.add_argument("--profile", default="slurm")
    given = parser.parse_args()
    snakemake = [sys.executable, "-P", "-m", "snakemake", "--snakefile", f"{ROOT}/Snakefile"]
    snakemake += ["--configfile", "mine.yaml", "--quiet", "all"]
    on_cluster = ["--workflow-profile", f"{ROOT}/workflow/profiles/{given.profile}"]
    # These groups replace the profile's.
    if given.alone:
        on_cluster += ["--groups", *(f"{rule}={rule}" for rule in RULES)]
    elif given.together:
        on_cluster += ["--groups", *(f"{rule}=studies" for rule in RULES)]
        on_cluster += ["--group-components", f"studies={given.together}"]
        # Without a limit, a cluster job asks for the memory of all its studies at once.
        on_cluster += ["--resources", "mem_mb=4000"]
    locally = ["--workflow-profile", f"{ROOT}/profiles/default", "--cores", "2"]
    with tempfile.TemporaryDirectory() as folder, started_cluster() as cluster:
        os.chdir(folder)
        names = configure(folder, given.studies)
        fits = [f"results/{name}/estimates/main.csv" for name in names]
        run = measure([*snakemake, *on_cluster, "--", *fits], environment=cluster.environment)
        states = cluster.call(
            "squeue", "--noheader", "--states=all", "--Format=State:20,TimeUsed:20"
        )
        jobs = [line.split() for line in states.splitlines()]
        rules = jobs_from(folder)
        figure = f"results/{names[0]}/figures/fig03_self_family_bias.svg"
        drawn = measure([*snakemake, *locally, "--", figure])
        again = measure([*snakemake, *locally, "--", *fits, figure])
        made = sum(Path(path).is_file() for path in fits)
        os.chdir(ROOT)
    print_machine(("snakemake", "snakemake-executor-plugin-slurm"))
    elapsed = sum(seconds(shown) for _, shown in jobs)
    rules_s = sum(rule.wall for rule in rules)
    states = ", ".join(f"{n} {state}" for state, n in Counter(state for state, _ in jobs).items())
    print_table(
        ("what", "number"),
        [
            ("profile", given.profile),
            ("studies", str(given.studies)),
            ("of them fitted", str(made)),
            ("cluster jobs", f"{len(jobs)} ({states})"),
            ("rules", str(len(rules))),
            ("wall s of the run", f"{run.wall:.0f}"),
            ("s of a cluster job", f"{elapsed / len(jobs):.1f}"),
            ("s of its rules, one after another", f"{rules_s / len(jobs):.1f}"),
            ("wall s of one figure, locally", f"{drawn.wall:.1f}"),
            ("wall s of nothing to do, locally", f"{again.wall:.1f}"),
        ],
    )


if __name__ == "__main__":
    main()
