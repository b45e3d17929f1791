"""The wheel works alone: its commands in a folder elsewhere, and its workflow as a module of
another.
"""

import os
import subprocess
import sys
from zipfile import ZipFile

import pytest
import yaml

from conftest import ROOT

pytestmark = pytest.mark.workflow
PARTS = (
    "Snakefile",
    "config.yaml",
    "montecarlo.yaml",
    "workflow/rules",
    "workflow/scripts",
    "workflow/report",
    "workflow/data",
)
OTHER = """
configfile: "settings.yaml"

module recuse:
    snakefile: "{snakefile}"
    config: config["judges"]

use rule * from recuse as recuse_*

rule length:
    default_target: True
    input: "results/ours/figures/fig03_self_family_bias.svg"
    output: "length.txt"
    log: "length.log"
    params: contents="its own param of this name"
    shell: "python scripts/length.py {{input}} > {{output}} 2> {{log}}"
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the contents of the wheel, as in site-packages."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(
        [*command, "--directory", str(folder)], cwd=ROOT, check=True, capture_output=True
    )
    with ZipFile(next(folder.glob("recuse-*.whl"))) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


@pytest.fixture
def run(site, tmp_path):
    def run_module(*words, status=0):
        command = [sys.executable, "-P", "-m", *map(str, words)]
        settings = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(site)}}
        result = subprocess.run(
            command, **settings, capture_output=True, text=True, check=False, timeout=600
        )
        assert result.returncode == status, result.stdout + result.stderr
        return result.stdout, result.stderr

    return run_module


def test_the_wheel_holds_every_file_that_the_workflow_reads(site):
    def files(folder):
        paths = (path for part in PARTS for path in [folder / part, *(folder / part).rglob("*")])
        return {
            str(path.relative_to(folder))
            for path in paths
            if path.is_file() and "__pycache__" not in path.parts
        }

    assert files(site / "recuse" / "project") == files(ROOT)
    assert {path.name for path in site.iterdir()} == {
        "recuse",
        "snakemake_logger_plugin_recuse",
        *(path.name for path in site.glob("*.dist-info")),
    }


def test_commands_of_an_installed_package(run, tmp_path):
    stdout, _ = run("recuse", "example")
    assert (
        stdout
        == "Copied judged.csv, human.csv and mine.yaml. Next: recuse check mine.yaml; recuse run"
        " mine.yaml\n"
    )
    assert {path.name for path in tmp_path.iterdir()} == {"judged.csv", "human.csv", "mine.yaml"}
    stdout, _ = run("recuse", "run", "mine.yaml", "--", "--dry-run")
    assert "Write the report of ours." in stdout


def test_a_module_of_another_workflow_draws_one_figure(run, site, tmp_path):
    run("recuse", "example")
    judges = yaml.safe_load((tmp_path / "mine.yaml").read_text("utf-8"))
    (tmp_path / "settings.yaml").write_text(yaml.safe_dump({"judges": judges}), "utf-8")
    snakefile = site / "recuse" / "project" / "Snakefile"
    (tmp_path / "Snakefile").write_text(OTHER.format(snakefile=snakefile), "utf-8")
    (tmp_path / "scripts").mkdir()  # of which one imports the other
    (tmp_path / "scripts" / "length.py").write_text(
        "import sys\nfrom lengths import length\n\nprint(length(sys.argv[1]))\n"
    )
    (tmp_path / "scripts" / "lengths.py").write_text(
        "def length(path):\n    return len(open(path).read())\n"
    )
    run("snakemake", "--cores", "1")
    assert int((tmp_path / "length.txt").read_text("utf-8")) > 10_000
    figures = {path.stem for path in (tmp_path / "results" / "ours" / "figures").iterdir()}
    assert "fig03_self_family_bias" in figures
    assert "fig04_slices" not in figures  # of another job
    _, stderr = run("snakemake", "--cores", "1")
    assert "Nothing to be done" in stderr
    prefixed = (
        (tmp_path / "Snakefile")
        .read_text("utf-8")
        .replace('["judges"]', '["judges"]\n    prefix: "sub"')
    )
    (tmp_path / "Snakefile").write_text(prefixed, "utf-8")
    _, stderr = run("snakemake", "--cores", "1", status=1)
    assert (
        "recuse: found `prefix:`; leave it out, as results have the names of their studies:"
        " results/<study>/" in stderr
    )
