"""What a step says: its messages go into its log, an error to the terminal too; a long step tells how far it is."""

import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TextIO, TypeVar

from recuse.base.errors import RecuseError, full_disk_named, says_full

Item = TypeVar("Item")
EVERY = 5.0  # seconds between two lines, and before the first: a quick step says nothing
PATIENCE = 1.0  # seconds before a bar is shown


def steps(
    items: Iterable[Item],
    what: str,
    *,
    unit: str,
    total: float | None = None,
    each: float = 1,
    size: Callable[[Item], float] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Item]:
    """Yield `items`, and say how many are done and how long the rest takes: `bootstrap: 40 of 99 draws, about 3 s left`.

    Lines go to the standard error, unless that is a terminal; a bar goes to the terminal that the process was started from,
    also where its messages go to a log.
    what: the step, `bootstrap`; unit: what is counted, `draws`; total: of these, by default the number of items, None or 0
    where it is not known; each: how many of the unit an item is, or size, a function of the item; clock: seconds.
    """
    size = size or (lambda item: each)
    if total is None and isinstance(items, Sized):
        total = len(items)
    in_lines = not _is_terminal(sys.stderr)
    terminal = next(filter(_is_terminal, (sys.stderr, sys.__stderr__)), None)
    started = printed = clock()
    done = 0.0
    with nullcontext() if terminal is None else _bar(what, unit, total, terminal) as bar:
        for item in items:
            yield item
            done += size(item)
            if in_lines and (now := clock()) - printed >= EVERY and not 0 < (total or 0) <= done:
                printed = now
                left = duration((now - started) * (total - done) / done) if total else ""
                how_far = f"of {total:,.0f} {unit}, about {left} left" if total else f"{unit} so far"
                print(f"{what}: {done:,.0f} {how_far}", file=sys.stderr)
            if bar is not None:
                bar.update(min(size(item), total - bar.n) if total else size(item))  # the last may be less


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _bar(what: str, unit: str, total: float | None, terminal: TextIO):
    from tqdm import tqdm

    settings = {"unit_scale": True, "delay": PATIENCE, "leave": False, "file": terminal}
    return tqdm(total=total or None, desc=what, unit=f" {unit}", **settings)


def duration(seconds: float) -> str:
    """A time to wait, in a unit that it is a few of: `40 s`, `12 min`, `3 h`."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


@contextmanager
def logged(path: str) -> Iterator[None]:
    """Redirect stdout and stderr to the log at `path`.

    One of the project's own errors, or a full disk, on which the log may have no room, is written as its message alone, in the
    log and on the terminal, and ends the process with status 1. Any other exception is a fault of the program: its traceback
    goes to the log.
    """
    terminal = sys.stderr
    try:
        with full_disk_named(Path(path).parent), _into(path):
            yield
    except RecuseError as error:
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
            if not isinstance(error, RecuseError) and not says_full(error):
                traceback.print_exc(file=log)
            raise
