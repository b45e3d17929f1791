"""Scripts of rules as forks of one process that has imported the libraries: each starts a second or two sooner.

Snakemake has threads, and so cannot be forked itself; the process that is forked, the server, is a child of its own with one
thread.
"""

import atexit
import gc
import os
import pickle
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

# The server imports these, in this order, while nothing is to be started, if it is to run MANY jobs or more.
BACKENDS = ("matplotlib.backends.backend_svg", "matplotlib.backends.backend_pdf")
LIBRARIES = ("numpy", "duckdb", "scipy.special", "scipy.linalg", "pandas", "matplotlib.figure", *BACKENDS)
MANY = 4
NEW_OBJECTS = 10_000  # before Python looks for garbage: a figure has many that stay, and looking takes a tenth of its time
# What Snakemake sets in the environment of a script.
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
TEMPORARY = ("TMPDIR", "TMP", "TEMPDIR", "TEMP")
ONE_THREAD = {**THREADS, "JE_ARROW_MALLOC_CONF": "background_thread:false"}  # pyarrow, which pandas imports, would start one
# Arguments of Snakemake's function that make up the object `snakemake` of a script, and those that ask for another process.
OF_SCRIPTS = ("input", "output", "params", "wildcards", "threads", "resources", "log", "config", "rulename", "bench_iteration")
ELSEWHERE = ("conda_env", "container_img", "env_modules", "shadow_dir")


class Forks:
    """What runs the scripts of a workflow."""

    def __init__(self, jobs: Callable[[], int]) -> None:
        """jobs: gives the number of jobs to be done, and is asked at the first."""
        self._jobs, self._lock = jobs, threading.Lock()
        self._server: Server | None = None

    def script(self, *arguments: Any) -> None:
        """Do what Snakemake's function of this name does for a rule with a Python script.

        Where that takes another environment or several threads, on another system than Linux, and if the server does not start,
        it is Snakemake's own function. Raises CalledProcessError if the script fails or is killed.
        """
        from snakemake.iocontainers import Snakemake
        from snakemake.script import script

        given = signature(script).bind(*arguments).arguments
        folder = Path(given["basedir"].get_path_or_uri(secret_free=True))
        path = Path(os.path.normpath(folder / given["path"]))
        is_ours = sys.platform == "linux" and given["threads"] == 1 and not any(map(given.get, ELSEWHERE)) and path.is_file()
        job = Snakemake(*(given[name] for name in OF_SCRIPTS), str(path.parent))
        started = time.monotonic()
        stream = self._begun(pickle.dumps((str(path), job))) if is_ours else None
        if stream is None:
            script(*arguments)
            return
        with stream, stream.makefile("rb") as reports:
            try:
                status, processor, peak = pickle.load(reports)
            except (EOFError, OSError):
                status = -signal.SIGKILL  # of the server
        if status:
            raise subprocess.CalledProcessError(status, str(path))
        if record := given["bench_record"]:
            record.running_time = time.monotonic() - started
            record.cpu_time, record.cpu_usage, record.max_rss, record.data_collected = processor, 100 * processor, peak, True

    def _begun(self, job: bytes) -> socket.socket | None:
        """A socket to a fork that does a job, from which its report comes; None if there can be no server."""
        with self._lock:
            for _ in range(2):  # a server that was killed is started once more
                self._server = self._server or Server.started(LIBRARIES if self._jobs() >= MANY else ())
                if self._server is None:
                    return None
                ours, of_fork = socket.socketpair()
                with of_fork:
                    try:
                        self._server.fork(of_fork)
                        ours.sendall(job)
                        ours.shutdown(socket.SHUT_WR)
                        return ours
                    except OSError:
                        ours.close()
                        self._server = None
        return None


class Server:
    """The process that is forked; it ends with Snakemake."""

    def __init__(self, control: socket.socket, process: subprocess.Popen) -> None:
        """control: a socket to the process, which takes one socket for each fork."""
        self._control, self._process = control, process
        atexit.register(self._end)

    @classmethod
    def started(cls, libraries: Iterable[str]) -> "Server | None":
        """A server that imports libraries while it waits; None if it does not start."""
        ours, its = socket.socketpair(type=socket.SOCK_SEQPACKET)
        # -P: no module is taken from the working folder.
        command = [sys.executable, "-P", "-m", "recuse.base.forks", str(its.fileno()), *libraries]
        with its:
            process = subprocess.Popen(command, pass_fds=[its.fileno()], env={**os.environ, **ONE_THREAD})
        if ours.recv(1):
            return cls(ours, process)
        ours.close()
        process.wait()
        return None

    def fork(self, stream: socket.socket) -> None:
        """Let a fork have one end of a pair of sockets. OSError if the server has ended."""
        if self._process.poll() is not None:
            raise ConnectionError("the server has ended")
        socket.send_fds(self._control, [b"."], [stream.fileno()])

    def _end(self) -> None:
        self._control.close()
        self._process.wait()


def _serve(control: socket.socket, libraries: list[str]) -> NoReturn:
    """Fork for each socket that `control` receives, and report to it how the fork ended; import libraries meanwhile."""
    running: dict[int, socket.socket] = {}
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Snakemake, which gets it too, lets its jobs end
    signal.signal(signal.SIGCHLD, lambda *_: _report(running))
    gc.set_threshold(NEW_OBJECTS)
    control.send(b".")
    while True:
        if libraries and not select.select([control], [], [], 0)[0]:
            with suppress(Exception):  # which the job that needs it will say
                import_module(libraries.pop(0))
            gc.freeze()  # a fork's collections would copy the pages of what is imported
            continue
        sent, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not sent:  # Snakemake has ended
            os._exit(0)
        stream = socket.socket(fileno=descriptors[0])
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # until the fork is in `running`
        child = os.fork()
        if child == 0:
            for other in (control, *running.values()):
                other.close()
            _do(stream)
        running[child] = stream
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def _report(running: dict[int, socket.socket]) -> None:
    """Report of each fork that has ended its status (of a signal, negative), processor seconds and peak MiB."""
    for child in [*running]:  # and of no other child: an import may run programs
        try:
            ended, status, used = os.wait4(child, os.WNOHANG)
        except ChildProcessError:  # another signal has come during this one, and reported it
            continue
        if ended:
            report = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
            with running.pop(child) as stream, suppress(OSError):  # if Snakemake was killed
                stream.sendall(pickle.dumps(report))


def _do(stream: socket.socket) -> NoReturn:
    """Run the script that `stream` names, with the object `snakemake` that follows, and end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    status = 1
    try:
        with stream, stream.makefile("rb") as received:
            path, job = pickle.load(received)
        if folder := job.resources.get("tmpdir"):
            os.environ.update(dict.fromkeys(TEMPORARY, folder))
            tempfile.tempdir = None
        runpy.run_path(path, {"snakemake": job}, "__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        for printed in (sys.stdout, sys.stderr):
            with suppress(OSError):
                printed.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
