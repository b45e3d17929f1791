"""Scripts of rules in forks: what they see, how they fail, and what their process leaves behind."""

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from textwrap import dedent
from types import SimpleNamespace

import pytest

from conftest import ROOT
from recuse.base.forks import Forks, _report

LIBRARY = ROOT / "workflow" / "lib"
SNAKEFILE = """
from recuse.base.forks import Forks

script = Forks(lambda: {jobs}).script

rule all:
    default_target: True
    input: expand("{{name}}.txt", name={names})

rule one:
    output: text="{{name}}.txt"
    log: "{{name}}.log"
    benchmark: "{{name}}.tsv"
    threads: {threads}
    params: word="hello", numbers=[1, 2]
    resources: tmpdir="own"
    script: "{script}"
"""
SCRIPT = """
import os, sys
job = snakemake
heavy = sorted({"numpy", "pandas", "matplotlib"} & sys.modules.keys())
parent = open(f"/proc/{os.getppid()}/cmdline").read()
with open(job.output.text, "w") as file:
    print(job.rule, job.wildcards.name, job.params.word, job.params.numbers, job.log[0], job.threads, file=file)
    print(os.environ["TMPDIR"], file=file)
    print(heavy, "recuse.base.forks" in parent, os.path.basename(__file__), __name__, file=file)
"""


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")


@pytest.fixture
def run(tmp_path):
    """Run a workflow of one rule with this script, for outputs of these names."""

    def run(script, names=("a",), threads=1, jobs=1, **popen):
        (tmp_path / "job.py").write_text(dedent(script))
        text = SNAKEFILE.format(names=list(names), threads=threads, script="job.py", jobs=jobs)
        (tmp_path / "Snakefile").write_text(text)
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        library = os.pathsep.join(filter(None, [str(LIBRARY), os.environ.get("PYTHONPATH")]))
        return subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": library}, **pipes, **popen)

    return run


def test_a_script_sees_what_snakemake_gives_it(run, tmp_path):
    process = run(SCRIPT, ["a", "b"])
    assert "2 of 3 steps" in process.communicate()[0]
    assert process.returncode == 0
    job, temporary, process_of = (tmp_path / "b.txt").read_text().splitlines()
    assert job == "one b hello [1, 2] b.log 1"
    assert temporary == "own"
    assert process_of == "[] True job.py __main__"  # few jobs: nothing was imported ahead
    header, row = ((tmp_path / "b.tsv").read_text()).splitlines()
    measured = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert float(measured["s"]) > 0
    assert float(measured["max_rss"]) > 5
    assert float(measured["cpu_time"]) >= 0


def test_many_jobs_find_the_libraries_imported(run, tmp_path):
    wait = "import time\ntime.sleep(.2 if snakemake.wildcards.name < 'j' else 0)\n"
    names = "abcdefghijklmnopqrst"
    process = run(wait + SCRIPT, names, jobs=len(names))
    process.communicate()
    assert process.returncode == 0
    assert "numpy" in (tmp_path / "t.txt").read_text()


def test_several_threads_are_for_snakemake_itself(run, tmp_path):
    process = run(SCRIPT, threads=2)
    process.communicate()
    assert process.returncode == 0
    assert " False " in (tmp_path / "a.txt").read_text()


@pytest.mark.parametrize(
    ("script", "said", "status"),
    [
        ("raise ValueError('of this script')", "ValueError: of this script", 1),
        ("import sys; sys.exit(3)", "", 3),
        ("import sys; sys.exit('no such thing')", "\nno such thing\n", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV", -11),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL", -9),
        ("import os, signal; os.kill(os.getppid(), signal.SIGKILL); os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL", -9),
    ],
)
def test_a_script_that_fails_is_a_job_that_fails(run, tmp_path, script, said, status):
    """Also one that is killed, and with it the process that is forked, after which others are done."""
    others = "if snakemake.wildcards.name == 'a':\n    import time; time.sleep(1)\n    "
    process = run(f"{others}{script}\nopen(snakemake.output.text, 'w').close()", ["a", "b"])
    printed = process.communicate()[0]
    assert process.returncode == 1
    assert "Error in rule one" in printed
    assert said in printed
    assert ("died with" if status < 0 else f"non-zero exit status {status}") in printed
    assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "b.txt").exists()


def test_a_server_that_was_killed_is_started_again_and_one_that_does_not_start_is_done_without(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(LIBRARY))
    (tmp_path / "job.py").write_text("")
    job, forks = pickle.dumps((str(tmp_path / "job.py"), SimpleNamespace(resources={}))), Forks(lambda: 1)

    def status():
        with forks._begun(job) as stream:
            return pickle.load(stream.makefile("rb"))[0]

    assert status() == 0
    server = forks._server
    server._process.kill()
    server._process.wait()
    assert status() == 0
    assert forks._server is not server
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert Forks(lambda: 1)._begun(job) is None


def test_libraries_that_run_programs_or_fail_stop_no_job(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(LIBRARY), str(tmp_path)]))
    monkeypatch.setattr("recuse.base.forks.LIBRARIES", ("runs_programs", "fails"))
    programs = "import subprocess\nfor _ in range(20):\n    subprocess.run(['sleep', '.05'], check=True)\nopen('{}', 'w')"
    (tmp_path / "runs_programs.py").write_text(programs.format(tmp_path / "imported"))
    (tmp_path / "fails.py").write_text("raise OSError('of this library')")
    (tmp_path / "job.py").write_text("import time\ntime.sleep(.3)")
    job, forks = pickle.dumps((str(tmp_path / "job.py"), SimpleNamespace(resources={}))), Forks(lambda: 9)
    for _ in range(5):
        with forks._begun(job) as stream:
            assert pickle.load(stream.makefile("rb"))[0] == 0
    assert (tmp_path / "imported").exists()


def test_nothing_is_left_after_an_interrupt(run, tmp_path):
    script = "import time; open('started', 'w').write(str(__import__('os').getppid())); time.sleep(60)"
    process = run(script, start_new_session=True)
    while not (tmp_path / "started").exists() or not (tmp_path / "started").read_text():
        time.sleep(0.05)
        assert process.poll() is None, process.communicate()[0]
    os.killpg(process.pid, signal.SIGINT)
    printed = process.communicate(timeout=30)[0]
    assert process.returncode != 0
    assert "KeyboardInterrupt" in printed
    server = int((tmp_path / "started").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


def test_a_fork_reported_by_a_signal_within_the_handler_of_another():
    """Two forks that end together: the second signal interrupts the report on the first."""
    streams, running = [], {}
    for _ in range(2):
        ours, theirs = socket.socketpair()
        if (child := os.fork()) == 0:
            os._exit(3)
        streams.append(ours)
        running[child] = theirs
    first, second = running
    os.waitpid(first, 0)  # reported by the other call
    os.waitid(os.P_PID, second, os.WEXITED | os.WNOWAIT)
    _report(running)
    assert [*running] == [first]
    assert pickle.loads(streams[1].recv(1000))[0] == 3
    running.pop(first).close()
    for stream in streams:
        stream.close()
