"""Snakemake in forks of a process that has imported it: each starts a second sooner than a process
of its own.
"""

import atexit
import multiprocessing
import os
import sys
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

FORKS = multiprocessing.get_context("forkserver")
# The first is what the tests' own process is
FORKS.set_forkserver_preload(["pytest", "snakemake.cli"])


def _main(
    folder: str, arguments: list[str], environment: dict[str, str], outputs: list[str]
) -> None:
    for descriptor, path in enumerate(outputs, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # Which Python reads when it starts
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    from snakemake.cli import main

    sys.argv = ["snakemake", *arguments]
    try:
        main(arguments)
    finally:
        # A fork of multiprocessing leaves them out; the answers are printed by one
        atexit._run_exitfuncs()


def forked(
    arguments: list[str], *, cwd: Path, env: dict[str, str], timeout: float
) -> CompletedProcess[str]:
    """Do what subprocess.run does with `python -m snakemake`; AssertionError after so many
    seconds.
    """
    with TemporaryDirectory() as folder:
        outputs = [f"{folder}/out", f"{folder}/err"]
        process = FORKS.Process(target=_main, args=(str(cwd), arguments, dict(env), outputs))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
        assert process.exitcode is not None, (
            f"snakemake {' '.join(arguments)}: no end after {timeout} s"
        )
        return CompletedProcess(
            arguments, process.exitcode, *(Path(path).read_text("utf-8") for path in outputs)
        )
