"""The log of a job, and whether it says why the job failed."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from recuse.base.errors import DiskError, RecuseError, UnexpectedError, in_one_sentence

# A step whose log says why it failed leaves an empty file beside the log, with this ending.
EXPLAINED = ".explained"


@contextmanager
def logged(path: str) -> Iterator[None]:
    """Redirect stdout and stderr to the log at `path`.

    An error (see recuse.base.errors.in_one_sentence) is written to the log as one sentence, that of
    a disk to the terminal, too, and ends the process with status 1. If it is a fault of this
    project, its traceback goes to the log. Then `is_explained` is true of the log, which a step
    that was killed leaves without an error.
    """
    terminal, mark = sys.stderr, Path(path).with_suffix(EXPLAINED)
    try:
        with (
            in_one_sentence(Path(path).parent),
            open(path, "w", encoding="utf-8", buffering=1) as log,
            redirect_stdout(log),
            redirect_stderr(log),
        ):
            mark.unlink(missing_ok=True)
            yield
    except RecuseError as error:
        if isinstance(error, DiskError):  # the log may be the file that the system refuses
            print(f"error: {error}", file=terminal)
        with suppress(OSError), open(path, "a", encoding="utf-8") as log:
            if isinstance(error, UnexpectedError):
                traceback.print_exception(error.__cause__, file=log)
            print(f"error: {error}", file=log)
            mark.touch()
        sys.exit(1)


def is_explained(log: str, *, since: float) -> bool:
    """Whether a step with this log failed after `since`, in seconds of the epoch, and says why."""
    mark = Path(log).with_suffix(EXPLAINED)
    return mark.exists() and mark.stat().st_mtime >= since
