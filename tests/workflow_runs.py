"""The workflow run in a copy of the checkout, on two small studies."""

import os
import re
import shutil
from collections import Counter
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from snakemake_forks import forked

ROOT = Path(__file__).parents[1]
FIGURES = (
    "fig01_method",
    "fig02_mean_scores",
    "fig05_correlations",
    "fig06_mean_scores_by_dimension",
    "fig03_self_family_bias",
    "fig04_slices",
    "fig07_length_control",
    "fig08_ordinal",
    "fig09_llm_reference",
    "fig10_weak_models_dropped",
    "by_dataset",
    "one_model_dropped",
    "gam",
    "gam_smooths",
    "verdicts",
    "idiosyncrasy",
    "reliability",
    "leaderboard",
    "power",
    "conclusions",
)
OF_THE_PAPER = ("fig11_helm_instruct", "scorecard")
PARTS = (
    "Snakefile",
    "config.yaml",
    "montecarlo.yaml",
    "workflow",
    "envs",
    "profiles",
    "tests/smoke",
)
BOTH = ("smoke", "mine")
DRAWN_FIRST = ("fig03_self_family_bias", "conclusions")  # of `mine`, each alone
OVERLAY = "results/overlay.yaml"


def copy_project(folder):
    for part in PARTS:
        source, target = ROOT / part, folder / part
        if source.is_dir():
            shutil.copytree(
                source,
                target,
                ignore=shutil.ignore_patterns("results", ".snakemake"),
            )
        else:
            shutil.copy(source, target)
    return folder


def snakemake(folder, *arguments, configs=(), **environment):
    """Run Snakemake in a checkout with the smoke studies; `configs` are further config files, the
    last goes first.
    """
    files = ["tests/smoke/config.yaml", *configs]
    arguments = ["--nocolor", *arguments, "--configfile", *files]
    settings = {"cwd": folder, "env": os.environ | environment, "timeout": 600}
    return forked(arguments, **settings)


def assert_success(result):
    assert result.returncode == 0, result.stdout + result.stderr


def build(folder, *arguments, **options):
    """Run Snakemake in a checkout, which must succeed."""
    result = snakemake(folder, *arguments, **options)
    assert_success(result)
    return result


def refused(folder, *arguments, **options):
    """What Snakemake says in a checkout where it must fail."""
    result = snakemake(folder, *arguments, **options)
    assert result.returncode == 1
    return result.stdout + result.stderr


def planned(folder, *targets, aside=("page",), **options):
    """What a dry run would do: rule -> number of jobs; `all`, the rules named after studies and
    those in `aside` aside.

    The report of a study is written again whenever anything of it is made. The ends
    `_of_<study>` of the rules that draw figures are left out.
    """
    result = build(folder, "-n", *targets, **options)
    table = result.stdout.partition("Job stats:")[2].partition("Reasons:")[0]
    jobs = Counter()
    # The table is printed twice
    for name, count in dict(re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)).items():
        jobs[re.sub("(figures_[a-z]+)_of_.*", r"\1", name)] += int(count)
    return {
        name: count for name, count in jobs.items() if name not in ("total", "all", *BOTH, *aside)
    }


def verified(folder, *arguments):
    """Exit status, lines of the standard output, and the standard error, of `recuse verify` in a
    checkout with the smoke studies.
    """
    arguments = ["verify", *arguments, "--config", "tests/smoke/config.yaml"]
    result = forked(arguments, program="recuse", cwd=folder, env=os.environ, timeout=100)
    return result.returncode, result.stdout.splitlines(), result.stderr


def products(folder):
    """Path -> bytes of everything under results but logs and times."""
    results = folder / "results"
    files = (path for path in results.rglob("*") if path.is_file())
    return {
        str(path.relative_to(results)): path.read_bytes()
        for path in files
        if not {"logs", "benchmarks"} & set(path.relative_to(results).parts)
    }


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """The smoke studies as built, after the figures DRAWN_FIRST; of several processes of
    pytest-xdist, one builds them, and each has a copy.
    """
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    built = base / "built once"
    with open(base / "built once.lock", "w") as lock:
        flock(lock, LOCK_EX)  # until it is closed
        if not built.exists():
            folder = copy_project(tmp_path_factory.mktemp("to build"))
            for figure in DRAWN_FIRST:
                build(folder, "--cores", "2", f"results/mine/figures/{figure}.svg")
            lines = build(folder, "--cores", "2").stderr.splitlines()
            assert [line for line in lines if line.startswith("Report: ")] == [
                f"Report: results/{study}/report.html" for study in sorted(BOTH)
            ]
            assert len(lines) < 50  # progress by tenths, and the answers with their tables
            folder.rename(built)
    return shutil.copytree(built, tmp_path_factory.mktemp("copies") / "a project")


@pytest.fixture
def edit(project):
    """Append to a file of the project, and put it back afterwards."""
    before = {}

    def append(name, text):
        path = project / name
        before[path] = path.read_bytes()
        path.write_bytes(before[path] + text.encode())

    yield append
    for path, content in before.items():
        path.write_bytes(content)


@pytest.fixture
def overlay(project):
    """Write a further config file of the project, OVERLAY, and remove it afterwards."""
    yield lambda text: (project / OVERLAY).write_text(text, "utf-8")
    (project / OVERLAY).unlink(missing_ok=True)
