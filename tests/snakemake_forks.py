"""Snakemake in forks of a process that has imported it: each starts a second sooner than a process of its own."""

import multiprocessing
import os
import sys
import traceback
from pathlib import Path
from subprocess import CalledProcessError, CompletedProcess
from tempfile import TemporaryDirectory

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["pytest", "snakemake.cli"])  # the first is what the tests' own process is


def _main(folder: str, arguments: list[str], environment: dict[str, str], outputs: list[str], in_forks: bool) -> None:
    for descriptor, path in enumerate(outputs, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    from snakemake.cli import main

    if in_forks:
        _run_scripts_in_forks()
    sys.argv = ["snakemake", *arguments]
    main(arguments)


def _run_scripts_in_forks() -> None:
    """Let each job be a fork too, with the libraries that cost most of its time."""
    import runpy

    import duckdb  # noqa: F401
    import numpy  # noqa: F401  (which its results come in)
    from snakemake.script import PythonScript

    def run(script, name, edit=False):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                runpy.run_path(name, run_name="__main__")
                status = 0
            except SystemExit as end:
                status = end.code
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        if os.waitpid(child, 0)[1]:
            raise CalledProcessError(1, name)
        if record := script.bench_record:  # of which nothing has been measured
            record.running_time = 1.0

    PythonScript.execute_script = run


def forked(
    arguments: list[str], *, cwd: Path, env: dict[str, str], timeout: float, scripts: bool = False
) -> CompletedProcess[str]:
    """Do what subprocess.run does with `python -m snakemake`; AssertionError after so many seconds.

    scripts: whether scripts of jobs run in forks, too.
    """
    with TemporaryDirectory() as folder:
        outputs = [f"{folder}/out", f"{folder}/err"]
        process = FORKS.Process(target=_main, args=(str(cwd), arguments, dict(env), outputs, scripts))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
        assert process.exitcode is not None, f"snakemake {' '.join(arguments)}: no end after {timeout} s"
        return CompletedProcess(arguments, process.exitcode, *(Path(path).read_text("utf-8") for path in outputs))
