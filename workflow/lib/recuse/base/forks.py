"""Scripts of rules as forks of one process that has imported the libraries: each starts a second or two sooner.

Snakemake has threads, and so cannot be forked itself; the process that is forked is a child of its own, with one thread.
"""

import atexit
import gc
import os
import pickle
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, NoReturn

# In the order in which a run needs them, and of how many jobs on they are imported ahead: fewer may need none of the larger.
BACKENDS = ("matplotlib.backends.backend_svg", "matplotlib.backends.backend_pdf")
LIBRARIES = ("numpy", "duckdb", "scipy.special", "scipy.linalg", "pandas", "matplotlib.figure", *BACKENDS)
MANY = 4
NEW_OBJECTS = 10_000  # before Python looks for garbage: a figure has many that stay, and looking takes a tenth of its time
# What Snakemake sets in the environment of a script.
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
TEMPORARY = ("TMPDIR", "TMP", "TEMPDIR", "TEMP")
# Of what Snakemake gives to its function: what a script sees, and what another process is needed for.
TOLD = ("input", "output", "params", "wildcards", "threads", "resources", "log", "config", "rulename", "bench_iteration")
ELSEWHERE = ("conda_env", "container_img", "env_modules", "shadow_dir")


class Forks:
    """What runs the scripts of a workflow."""

    def __init__(self, jobs: Callable[[], int]) -> None:
        """Take the number of the jobs that are to be done, which is asked for at the first."""
        self._jobs, self._starting = jobs, threading.Lock()
        self._control: socket.socket | None = None

    def script(self, *arguments: Any) -> None:
        """Do what Snakemake's function of this name does for a rule with a Python script.

        Where that takes another environment or several threads, or on another system than Linux, it is Snakemake's own
        function. Raises CalledProcessError if the script fails or is killed.
        """
        from snakemake.iocontainers import Snakemake
        from snakemake.script import script

        job = signature(script).bind(*arguments).arguments
        folder = Path(job["basedir"].get_path_or_uri(secret_free=True))
        path = Path(os.path.normpath(folder / job["path"]))
        if sys.platform != "linux" or job["threads"] != 1 or any(map(job.get, ELSEWHERE)) or not path.is_file():
            script(*arguments)
            return
        told = pickle.dumps((str(path), Snakemake(*(job[name] for name in TOLD), str(path.parent))))
        started = time.monotonic()
        status, processor, peak = self._run(told)
        if status:
            raise subprocess.CalledProcessError(status, str(path))
        if record := job["bench_record"]:
            record.running_time = time.monotonic() - started
            record.cpu_time, record.cpu_usage, record.max_rss, record.data_collected = processor, 100 * processor, peak, True

    def _run(self, told: bytes) -> tuple[int, float, float]:
        """Status, processor seconds and most MB of the script that is told of."""
        ours, of_child = socket.socketpair()
        try:
            with ours, ours.makefile("rb") as reports:
                with of_child, self._starting:
                    self._control = self._control or _start(LIBRARIES if self._jobs() >= MANY else ())
                    socket.send_fds(self._control, [b"."], [of_child.fileno()])
                ours.sendall(told)
                ours.shutdown(socket.SHUT_WR)
                return pickle.load(reports)
        except (EOFError, OSError):  # killed, or with it the process that is forked
            self._control = None
            return -signal.SIGKILL, 0.0, 0.0


def _start(libraries: Iterable[str]) -> socket.socket:
    """Start the process that is forked; it ends when the socket is closed."""
    ours, of_server = socket.socketpair(type=socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "recuse.base.forks", str(of_server.fileno()), *libraries]
    with of_server:
        server = subprocess.Popen(command, pass_fds=[of_server.fileno()], env={**os.environ, **THREADS})

    @atexit.register
    def end() -> None:
        ours.close()
        server.wait()

    return ours


def _serve(control: socket.socket, libraries: list[str]) -> None:
    """Fork for each socket that `control` receives; import the libraries while there is none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Snakemake, which gets it too, lets its jobs end
    signal.signal(signal.SIGCHLD, _reap)
    gc.set_threshold(NEW_OBJECTS)
    while True:
        if libraries and not select.select([control], [], [], 0)[0]:
            import_module(libraries.pop(0))
            gc.freeze()  # a child's collections would copy the pages of what is imported
            continue
        sent, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not sent:  # Snakemake has ended
            os._exit(0)
        with socket.socket(fileno=descriptors[0]) as stream:
            if os.fork() == 0:
                control.close()
                _do(stream)


def _reap(*_: object) -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def _do(stream: socket.socket) -> NoReturn:
    """Run the script that `stream` tells of, and report to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status = 1
    try:
        with stream.makefile("rb") as received:
            path, job = pickle.load(received)
        os.environ.update(dict.fromkeys(TEMPORARY, job.resources.tmpdir))
        tempfile.tempdir = None
        runpy.run_path(path, {"snakemake": job}, "__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError):  # if Snakemake was killed
            sys.stdout.flush()
            sys.stderr.flush()
            used = resource.getrusage(resource.RUSAGE_SELF)
            stream.sendall(pickle.dumps((status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)))
        os._exit(status)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
