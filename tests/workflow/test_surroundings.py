"""What lies in the working folder or is set in the environment, but is no setting of the project,
changes no byte.
"""

import csv
import os
import platform
import re
import shutil
import subprocess
import sys
from io import StringIO
from itertools import chain

import pytest

from conftest import ROOT
from workflow_runs import assert_success, copy_project, products

pytestmark = pytest.mark.workflow
OF_FITS = (
    "estimates/main.csv",
    "tables/check.csv",
    "tables/leaderboard.csv",
    "tables/sensitivity.csv",
    "tables/idiosyncrasy.csv",
)
# Of the standard library, of packages that are here, of packages that these try to import, and the
# library itself.
MODULES = (
    "json",
    "csv",
    "duckdb",
    "numpy",
    "pandas",
    "matplotlib",
    "pyarrow",
    "numexpr",
    "bottleneck",
    "cycler",
    "recuse",
)
HOSTILE = "open({!r}, 'w').close()\nraise SystemExit('imported from the working folder')\n"


MATPLOTLIBRC = """
axes.facecolor: red
axes.unicode_minus: False
backend: nonexistent
figure.facecolor: yellow
font.style: italic
lines.linewidth: 9
path.simplify: False
pdf.compression: 0
savefig.bbox: tight
svg.image_inline: False
"""
ENVIRONMENT = {
    "LC_ALL": "tr_TR.UTF-8",
    "TZ": "Asia/Kolkata",
    "PYTHONHASHSEED": "7",
    "MPLBACKEND": "cairo",
    "OPENBLAS_NUM_THREADS": "4",
    "OMP_NUM_THREADS": "4",
}
RELATIVE, ABSOLUTE = 1e-8, 1e-10  # differences between kernels that docs/scale.md names


def with_modules(folder):
    """Put modules of these names into a folder, each of which leaves a file in it when it is
    imported.
    """
    for name in MODULES:
        (folder / f"{name}.py").write_text(
            HOSTILE.format(str(folder / f"{name} imported")), "utf-8"
        )
    return folder


def run(folder, targets, **environment):
    """Run the command `snakemake` in a folder for some results of the smoke study; return their
    bytes, as `products`.
    """
    command = [
        os.path.join(os.path.dirname(sys.executable), "snakemake"),
        "--nocolor",
        "--cores",
        "2",
    ]
    command += [f"results/mine/{target}" for target in targets]
    command += ["--configfile", "tests/smoke/config.yaml"]
    settings = {
        "capture_output": True,
        "text": True,
        "timeout": 600,
        "check": False,
        "umask": 0o077,
    }
    result = subprocess.run(command, cwd=folder, env=os.environ | environment, **settings)
    assert list(folder.glob("* imported")) == []
    assert_success(result)
    return products(folder)


def test_modules_settings_of_matplotlib_and_the_environment_change_no_byte(project, tmp_path):
    # A figure's job draws all figures of its group.
    targets = ("estimates/main.csv", "figures/fig03_self_family_bias.svg")
    folder = with_modules(copy_project(tmp_path))
    (folder / "matplotlibrc").write_text(MATPLOTLIBRC, "utf-8")
    results = run(folder, targets, **ENVIRONMENT)
    assert results.keys() >= {f"mine/{target}" for target in targets}
    # Records of jobs, which draw other figures there
    paths, expected = [path for path in results if "/made/" not in path], products(project)
    assert [path for path in paths if results[path] != expected.get(path)] == []


@pytest.mark.parametrize(
    ("kernel", "targets"),
    [
        ("Prescott", OF_FITS[:1]),
        pytest.param("Sandybridge", OF_FITS, marks=pytest.mark.long),
    ],
)
def test_another_kernel_of_openblas_changes_the_last_digits_at_most(
    project, tmp_path, kernel, targets
):
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("these kernels are for x86-64")
    expected = products(project)
    folder = shutil.copytree(project, tmp_path / "project")
    for target in targets:
        (folder / "results" / "mine" / target).unlink()
    results = run(folder, targets, OPENBLAS_CORETYPE=kernel)
    for path in (path for path in results if path.endswith(".csv")):
        ours, theirs = (
            list(csv.reader(StringIO(every[path].decode()))) for every in (results, expected)
        )
        assert [len(row) for row in ours] == [len(row) for row in theirs]
        for one, other in zip(chain(*ours), chain(*theirs), strict=True):
            assert one == other or float(one) == pytest.approx(
                float(other), rel=RELATIVE, abs=ABSOLUTE
            ), path


def test_modules_in_the_working_folder_are_not_imported_by_a_documented_command(tmp_path):
    """The README's line, with the files of the smoke study."""
    folder, smoke, command = (
        with_modules(tmp_path),
        ROOT / "tests" / "smoke",
        tmp_path.parent / "recuse",
    )
    # As pip writes it
    command.write_text(
        f"#!{sys.executable}\nfrom recuse.cli import command\n\ncommand()\n", "utf-8"
    )
    command.chmod(0o755)
    (line,) = re.findall(
        r"^\.venv/bin/recuse check .*", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    files = {".venv/bin/recuse": f"PYTHONPATH='{ROOT}/workflow/lib' {command}"}
    files |= {"mine.yaml": f"{smoke}/ratings.csv --study mine --config {smoke}/config.yaml"}
    for name, path in files.items():
        line = line.replace(name, str(path))
    result = subprocess.run(
        line, shell=True, cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert list(folder.glob("* imported")) == []
    assert result.returncode == 0, result.stderr


def test_the_script_of_the_readme_says_what_to_write():
    script = str(ROOT / "study.sh")
    done = subprocess.run(["sh", script, "twins"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("found 'twins'; write `sh study.sh twin` to run")
