"""The workflow started by the command: Snakemake ends its jobs itself, and its exit status is the
command's.
"""

import json
import os
import platform
import signal
import subprocess
import sys

import psutil
import pytest

from conftest import ROOT
from recuse.base.errors import ConfigError
from recuse.workflow.start import CLOCKS, LOCKS, RUNNING, abandoned, build, copy_example

STAND_IN = """
import os, signal, sys, time

def end(*arguments):
    time.sleep(1)  # longer than Python waits for a child when it is interrupted
    os.write(1, b"its jobs are ended\\n")  # the signal may come while the other words are printed
    sys.exit(5)

signal.signal(signal.SIGINT, end)
print(*sys.argv[1:], flush=True)
time.sleep(60)
"""
# A Snakemake that refuses to run in a locked folder, and is killed while it makes "half"
THAT_LOCKS = f"""
import os, signal, sys, time
from pathlib import Path

lock = Path("{LOCKS}", "0.input.lock")
if "--unlock" in sys.argv:
    lock.unlink()
elif lock.exists():
    sys.exit(1)
elif "half" in sys.argv:
    lock.parent.mkdir(parents=True)
    lock.touch()
    for _ in range(1000):
        if not Path("{RUNNING}").exists():
            time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends signals to a group of processes")
def test_interrupt_is_left_to_snakemake(tmp_path):
    (tmp_path / "snakemake").mkdir()
    (tmp_path / "snakemake" / "__init__.py").touch()
    (tmp_path / "snakemake" / "__main__.py").write_text(STAND_IN, "utf-8")
    code = (
        "from recuse.workflow.start import build; "
        "raise SystemExit(build(['ours'], configfile='mine.yaml', cores='3', studies=[]))"
    )
    paths = os.pathsep.join([str(tmp_path), str(ROOT / "workflow" / "lib")])
    settings = {
        "cwd": tmp_path,
        "env": {**os.environ, "PYTHONPATH": paths},
        "stdout": subprocess.PIPE,
        "text": True,
        "start_new_session": True,
    }
    with subprocess.Popen([sys.executable, "-P", "-c", code], **settings) as process:
        words = process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert words == f"ours --snakefile {ROOT}/Snakefile --cores 3 --configfile mine.yaml\n"
    assert (rest, process.returncode) == ("its jobs are ended\n", 5)
    assert not (tmp_path / RUNNING).exists()


@pytest.mark.parametrize("locked", [True, False], ids=["locked", "about to be"])
def test_a_run_leaves_the_note_of_another(tmp_path, monkeypatch, locked):
    monkeypatch.chdir(tmp_path)
    here = psutil.Process()
    note(here.pid, here.create_time())
    before = RUNNING.read_bytes()
    LOCKS.mkdir()
    if locked:
        (LOCKS / "0.input.lock").touch()
    (tmp_path / "snakemake.py").write_text("raise SystemExit(1)\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert build(["ours"], configfile=None, cores="1", studies=[]) == 1
    assert RUNNING.read_bytes() == before


def test_an_example_replaces_no_file(tmp_path):
    copy_example(str(tmp_path))
    with pytest.raises(ConfigError, match=r"judged\.csv: is already there; name another folder"):
        copy_example(str(tmp_path))


@pytest.mark.skipif(os.name != "posix", reason="a process is killed")
def test_the_lock_of_a_killed_run_is_lifted(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "snakemake.py").write_text(THAT_LOCKS, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert build(["half"], configfile=None, cores="1", studies=[]) == -signal.SIGKILL
    assert build(["ours"], configfile=None, cores="1", studies=[]) == 0
    assert "was killed; lifting its lock" in capfd.readouterr().err


@pytest.fixture
def ended():
    """The number of a process that has ended, and when it began."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        began = psutil.Process(process.pid).create_time()
        process.communicate(b"\n")
    return process.pid, began


def note(process, began, host=None):
    RUNNING.parent.mkdir(exist_ok=True)
    RUNNING.write_text(
        json.dumps({"host": host or platform.node(), "process": process, "began": began})
    )


def test_a_lock_is_abandoned_if_its_process_ran_here_and_has_ended(tmp_path, monkeypatch, ended):
    monkeypatch.chdir(tmp_path)
    assert abandoned() is None
    note(*ended)
    assert abandoned() is None  # no lock
    LOCKS.mkdir()
    (LOCKS / "0.input.lock").touch()
    assert abandoned() == ended[0]
    note(*ended, host="elsewhere")
    assert abandoned() is None
    here = psutil.Process()
    note(here.pid, here.create_time())
    assert abandoned() is None
    note(here.pid, here.create_time() - 2 * CLOCKS)  # an earlier process with this number
    assert abandoned() == here.pid
    for damaged in ("", "[]", "{", "{}"):
        RUNNING.write_text(damaged)
        assert abandoned() is None
