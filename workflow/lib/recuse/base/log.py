"""Messages of a step: they go to its log, errors also to the terminal; a long step reports its
progress.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from io import StringIO
from threading import get_ident
from typing import Any, TextIO, TypeVar

from recuse.base.words import visible

_Item = TypeVar("_Item")
EVERY = 5.0  # seconds between two lines, and before the first
PATIENCE = 1.0  # seconds before a bar is shown


def steps(
    items: Iterable[_Item],
    what: str,
    *,
    unit: str,
    total: float | None = None,
    size: Callable[[_Item], float] = lambda item: 1,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[_Item]:
    """Yield `items`, and print how many are done and how long the rest takes: `bootstrap: 40 of 99
    draws, about 3 s left`.

    Lines go to the standard error, unless that is a terminal; a bar goes to the terminal that
    started the process, even if its messages go to a log. what: the step, `bootstrap`; unit: what
    is counted, `draws`; total: of these, by default the number of items, 0 if it is not known;
    size: of an item, in the unit; clock: seconds.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    terminal = next(
        (
            stream
            for stream in (sys.stderr, sys.__stderr__)
            if stream is not None and stream.isatty()
        ),
        None,
    )
    in_lines = sys.stderr is not None and sys.stderr is not terminal
    bar = nullcontext()
    if terminal is not None:
        from tqdm import tqdm

        settings = {
            "unit": f" {unit}",
            "unit_scale": True,
            "delay": PATIENCE,
            "leave": False,
            "file": terminal,
        }
        bar = tqdm(total=total or None, desc=what, **settings)
    started = printed = clock()
    done = 0.0
    with bar:
        for item in items:
            yield item
            done += size(item)
            if in_lines and (now := clock()) - printed >= EVERY and not 0 < (total or 0) <= done:
                printed = now
                left = duration((now - started) * (total - done) / done) if total else ""
                progress = (
                    f"of {total:,.0f} {unit}, about {left} left" if total else f"{unit} so far"
                )
                print(f"{what}: {done:,.0f} {progress}", file=sys.stderr)
            if terminal is not None:
                # The last may be less
                bar.update(min(size(item), total - bar.n) if total else size(item))


class _Divided:
    """A stream that takes what one thread writes; what others write goes where it went."""

    def __init__(self, taken: TextIO, others: TextIO | None) -> None:
        self._taken, self._others, self._thread = taken, others, get_ident()

    def __getattr__(self, name: str) -> Any:
        return getattr(
            self._taken if get_ident() == self._thread else self._others or StringIO(), name
        )


_listeners: list[list[str]] = []


@contextmanager
def listening() -> Iterator[list[str]]:
    """Collect the lines that steps print in this thread, and their warnings, instead of showing
    them.
    """
    printed, lines = StringIO(), []
    _listeners.append(lines)
    try:
        with (
            redirect_stdout(_Divided(printed, sys.stdout)),
            redirect_stderr(_Divided(printed, sys.stderr)),
        ):
            yield lines
    finally:
        _listeners.pop()
        lines += printed.getvalue().splitlines()


def warn(message: str) -> None:
    """Print a warning to the log and to the terminal that started the process, or leave it to who
    is `listening`.
    """
    if _listeners:
        _listeners[-1].append(message)
        return
    for stream in {sys.stderr, sys.__stderr__} - {None}:
        print(visible(f"warning: {message}"), file=stream)


def duration(seconds: float) -> str:
    """A time to wait: `40 s`, `12 min`, `3 h`."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"
