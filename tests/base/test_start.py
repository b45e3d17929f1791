"""The workflow started by the command: Snakemake ends its jobs itself, and its exit status is the command's."""

import os
import signal
import subprocess
import sys

import pytest

from conftest import ROOT

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


@pytest.mark.skipif(os.name != "posix", reason="sends signals to a group of processes")
def test_interrupt_is_left_to_snakemake(tmp_path):
    (tmp_path / "snakemake").mkdir()
    (tmp_path / "snakemake" / "__init__.py").touch()
    (tmp_path / "snakemake" / "__main__.py").write_text(STAND_IN, "utf-8")
    code = "from recuse.base.start import build; raise SystemExit(build(['ours'], configfile='mine.yaml', cores='3'))"
    paths = os.pathsep.join([str(tmp_path), str(ROOT / "workflow" / "lib")])
    settings = {"env": {**os.environ, "PYTHONPATH": paths}, "stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen([sys.executable, "-P", "-c", code], **settings) as process:
        words = process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert words == f"ours --snakefile {ROOT}/Snakefile --cores 3 --configfile mine.yaml\n"
    assert (rest, process.returncode) == ("its jobs are ended\n", 5)
