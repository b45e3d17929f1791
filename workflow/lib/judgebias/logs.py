"""Where the messages of a step go: into its log, and an error in one plain sentence to the terminal too."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from judgebias.errors import JudgeBiasError
from judgebias.full_disks import full_disk_named, says_full


@contextmanager
def logged(path: str) -> Iterator[None]:
    """Redirect stdout and stderr to the log at `path`, with the traceback of whatever goes wrong.

    One of the project's own errors is written as its message alone, in the log and on the terminal, and ends the process
    with status 1; so is a full disk, on which the log may have no room. Any other exception is a fault of the program and
    keeps its traceback.
    """
    terminal = sys.stderr
    try:
        with full_disk_named(Path(path).parent), _into(path):
            yield
    except JudgeBiasError as error:
        print(f"error: {error}", file=terminal)
        with suppress(OSError), open(path, "a", encoding="utf-8") as log:
            print(f"error: {error}", file=log)
        sys.exit(1)


@contextmanager
def _into(path: str) -> Iterator[None]:
    """Redirect what is said, and the traceback of a fault of the program."""
    with open(path, "w", encoding="utf-8", buffering=1) as log, redirect_stdout(log), redirect_stderr(log):
        try:
            yield
        except BaseException as error:
            if not isinstance(error, JudgeBiasError) and not says_full(error):
                traceback.print_exc(file=log)
            raise
