"""Snakemake, and commands that use it, in forks of a process that has imported it and what every
run of it imports: each starts more than a second sooner than a process of its own.
"""

import atexit
import gc
import multiprocessing
import os
import sys
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

FORKS = multiprocessing.get_context("forkserver")
# The first is what the tests' own process is
FORKS.set_forkserver_preload(
    [
        "pytest",
        "snakemake.cli",
        "snakemake.notebook",
        "snakemake.report.html_reporter",
        "jsonschema",
        "nbformat",
        "smart_open",
    ]
)


def _main(
    program,
    folder,
    arguments,
    environment,
    outputs,
):
    for descriptor, path in enumerate(outputs, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # Which Python reads when it starts
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    if program == "recuse":  # that of the checkout in which it runs
        sys.path.insert(0, f"{folder}/workflow/lib")
    sys.argv = [program, *arguments]
    gc.freeze()  # Garbage collection skips what is loaded
    try:
        sys.exit(import_module(f"{program}.cli").main())
    finally:
        # A fork of multiprocessing leaves them out; the answers are printed by one
        atexit._run_exitfuncs()


def forked(
    arguments,
    *,
    cwd,
    env,
    timeout,
    program="snakemake",
):
    """Do what subprocess.run does with `python -m snakemake`, or `python -m recuse` of the checkout
    `cwd`; AssertionError after so many seconds.
    """
    with TemporaryDirectory() as folder:
        outputs = [f"{folder}/out", f"{folder}/err"]
        process = FORKS.Process(
            target=_main, args=(program, str(cwd), arguments, dict(env), outputs)
        )
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
        assert process.exitcode is not None, (
            f"{program} {' '.join(arguments)}: no end after {timeout} s"
        )
        return CompletedProcess(
            arguments, process.exitcode, *(Path(path).read_text("utf-8") for path in outputs)
        )
