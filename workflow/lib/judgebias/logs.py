"""Where the messages of a step go: into its log, and an error in one plain sentence to the terminal too."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from judgebias.errors import JudgeBiasError


@contextmanager
def logged(path: str) -> Iterator[None]:
    """Redirect stdout and stderr to the log at `path`, with the traceback of whatever goes wrong.

    One of the project's own errors is written as its message alone, in the log and on the terminal, and ends the process
    with status 1; any other exception is a fault of the program and keeps its traceback.
    """
    terminal = sys.stderr
    with open(path, "w", encoding="utf-8", buffering=1) as log, redirect_stdout(log), redirect_stderr(log):
        try:
            yield
        except JudgeBiasError as error:
            print(f"error: {error}", file=log)
            print(f"error: {error}", file=terminal)
            sys.exit(1)
        except BaseException:
            traceback.print_exc(file=log)
            raise
