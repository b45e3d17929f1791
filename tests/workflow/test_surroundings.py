"""What lies in the working folder or is set in the environment, but is no setting of the project, changes no byte."""

import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT
from workflow_runs import copy_project, products, snakemake

pytestmark = pytest.mark.workflow
TARGETS = ("estimates/main.csv", "tables/check.csv", "figures/fig03_self_family_bias")
FORMATS = ("pdf", "svg", "png")
# Of the standard library, of packages that are here, of packages that these try to import, and the library itself.
MODULES = ("json", "csv", "duckdb", "numpy", "pandas", "matplotlib", "pyarrow", "numexpr", "bottleneck", "cycler", "recuse")
HOSTILE = "open({!r}, 'w').close()\nraise SystemExit('imported from the working folder')\n"


def with_modules(folder):
    """Put modules of these names into a folder, each of which leaves a file in it when it is imported."""
    for name in MODULES:
        (folder / f"{name}.py").write_text(HOSTILE.format(str(folder / f"{name} imported")), "utf-8")
    return folder


def built(folder, **environment):
    """The products of a run in a folder."""
    targets = [f"results/mine/{target}" for target in TARGETS[:2]]
    targets += [f"results/mine/{TARGETS[2]}.{suffix}" for suffix in FORMATS]
    result = snakemake(folder, "--cores", "2", *targets, **environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return products(folder)


def assert_same(results, project):
    expected = products(project)
    assert len(results) > len(TARGETS)
    assert [path for path in results if results[path] != expected[path]] == []


def test_modules_in_the_working_folder_are_not_imported(project, tmp_path):
    folder = with_modules(copy_project(tmp_path))
    command = [os.path.join(os.path.dirname(sys.executable), "snakemake"), "--nocolor", "--cores", "2"]
    command += [f"results/mine/{TARGETS[1]}", f"results/mine/{TARGETS[2]}.svg", "--configfile", "tests/smoke/config.yaml"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert list(folder.glob("* imported")) == []
    assert result.returncode == 0, result.stdout + result.stderr
    assert_same(products(folder), project)


@pytest.mark.parametrize("page", ["README.md", "docs/own-data.md", "docs/tutorial.md"])
def test_modules_in_the_working_folder_are_not_imported_by_documented_commands(tmp_path, page):
    """The line of the page, but for its files: those of the smoke study."""
    folder, smoke = with_modules(tmp_path), ROOT / "tests" / "smoke"
    (line,) = re.findall(r"^PYTHONPATH=.*recuse check .*", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    files = {"workflow/lib": ROOT / "workflow" / "lib", ".venv/bin/python": sys.executable}
    files |= {"judged.csv": f"{smoke}/ratings.csv --study mine", "mine.yaml": smoke / "config.yaml"}
    for name, path in files.items():
        line = line.replace(name, str(path))
    result = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert list(folder.glob("* imported")) == []
    assert result.returncode == 0, result.stderr
