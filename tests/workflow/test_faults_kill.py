"""A run that is killed or interrupted, several times at moments drawn at random, ends with the
bytes of one that was left alone.
"""

import base64
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from itertools import cycle

import pytest

from recuse.workflow.start import copy_example
from workflow_runs import ROOT, build, copy_project, products

pytestmark = pytest.mark.workflow
# In the ordinary run, one by each signal, and with --long
KILLS = {False: 2, True: 20}
# How long a run may work, as a share of the time that it took to begin: a slow machine has longer
LONGEST = 1.5
OF_MINE = (
    "results/mine/tables/check.csv",
    "results/mine/tables/mean_scores.csv",
    "results/mine/figures/fig03_self_family_bias.svg",
)


def killed(folder, targets, share, sent):
    """Start a run, and send a signal to it and all its jobs some time after its first job began;
    False if it was done by then.
    """
    # Which shows jobs
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--nocolor",
        "--printshellcmds",
        "--cores",
        "2",
        *targets,
    ]
    # A shell in the background has its children ignore SIGINT
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    run = subprocess.Popen(
        [*command, "--configfile", "tests/smoke/config.yaml"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed,
    )
    output, started = [], time.monotonic()
    for line in run.stderr:
        output.append(line)
        if re.match(r"Job \d+: ", line.strip()):
            break
    ends = {0}
    try:
        run.wait(share * (time.monotonic() - started))
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, sent)
        ends |= {-signal.SIGKILL} if sent == signal.SIGKILL else {1, -signal.SIGINT}
    output += run.stderr.readlines()  # ends when the last of the jobs is gone
    status = run.wait()
    assert status in ends, "".join(output)
    return status != 0


def halve_unfinished(folder):
    """Cut what the killed jobs were to write, whole or not, so that none of it can be taken for
    whole unseen.
    """
    for marker in (folder / ".snakemake" / "incomplete").iterdir():
        output = folder / base64.b64decode(marker.name).decode()
        if output.is_file():
            os.truncate(output, output.stat().st_size // 2)


@pytest.fixture(scope="module")
def targets(project, long):
    """Three results of one study; with --long, all tables of both as well."""
    tables = [f"results/{path}" for path in products(project) if "/tables/" in path]
    return sorted({*OF_MINE, *tables}) if long else OF_MINE


@pytest.fixture(scope="module")
def survivor(project, targets, tmp_path_factory, long):
    """A folder where the run was killed and interrupted in turn, KILLS times in all, and then left
    alone, on one core; a run that is done sooner begins anew.
    """
    folder, drawn, kills = copy_project(tmp_path_factory.mktemp("killed")), random.Random(7), 0
    signals = cycle([signal.SIGKILL, signal.SIGINT])
    while kills < KILLS[long]:
        if killed(folder, targets, drawn.uniform(0, LONGEST), next(signals)):
            kills += 1
            halve_unfinished(folder)
            # As --unlock does, in less time; an interrupted run does it itself
            shutil.rmtree(folder / ".snakemake" / "locks", ignore_errors=True)
        else:
            assert_undisturbed(folder, project, targets)
            shutil.rmtree(folder / "results")
    build(folder, "--cores", "1", *targets)
    return folder


def assert_undisturbed(folder, project, targets):
    """Every result is that of the project's own run on two cores, and nothing else is there."""
    ours, theirs = products(project), products(folder)
    assert theirs.keys() >= {target.removeprefix("results/") for target in targets}
    assert theirs.keys() <= ours.keys()
    assert [path for path in theirs if theirs[path] != ours[path]] == []


def test_killed_run_ends_with_the_same_bytes(survivor, project, targets):
    assert_undisturbed(survivor, project, targets)


def test_killed_run_leaves_nothing_of_its_own(survivor):
    assert [
        path for path in survivor.rglob("*") if path.suffix in (".spill", ".unsorted", ".part")
    ] == []


def run_of_recuse(folder):
    """Start `recuse run` on the example, up to its ratings."""
    command = [sys.executable, "-P", "-m", "recuse", "run", "mine.yaml", "--cores", "1"]
    command += ["--", "--until", "ratings"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow" / "lib")}
    settings = {"cwd": folder, "env": environment, "text": True, "start_new_session": True}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **settings)


@pytest.mark.long
def test_recuse_lifts_the_lock_of_its_own_killed_run(tmp_path):
    copy_example(str(tmp_path))
    with run_of_recuse(tmp_path) as run:
        while not list(tmp_path.glob("results/ours/logs/*.log")):
            assert run.poll() is None
            time.sleep(0.05)
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
    assert list(tmp_path.glob(".snakemake/locks/*"))
    with run_of_recuse(tmp_path) as run:
        _, words = run.communicate(timeout=600)
    assert run.returncode == 0, words
    assert "was killed; lifting its lock" in words
    assert (tmp_path / "results/ours/ratings.parquet").is_file()
    assert list(tmp_path.glob(".snakemake/locks/*")) == []
