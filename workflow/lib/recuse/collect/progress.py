"""How far a collection is: one line that is renewed on a terminal, lines elsewhere, with money and
the time left.
"""

import sys
import time
from collections.abc import Callable

from recuse.base.log import duration
from recuse.collect.collection import Outcome

EVERY = 30.0  # seconds between two lines, and, on a terminal, 1
WIDTH = 100  # characters of a line that replaces another


def progress(clock: Callable[[], float] = time.monotonic) -> Callable[[Outcome], None]:
    """A function for `collect` that shows an outcome on the standard error, if it is time to.
    clock: seconds.
    """
    on_terminal = sys.stderr.isatty()
    every, end = (1.0, "\r") if on_terminal else (EVERY, "\n")
    printed = clock()

    def show(outcome: Outcome) -> None:
        nonlocal printed
        if clock() - printed >= every:
            printed = clock()
            line = progress_line(outcome)
            print(line.ljust(WIDTH) if on_terminal else line, file=sys.stderr, end=end, flush=True)

    return show


def progress_line(outcome: Outcome) -> str:
    """As in `collect: 40 of 100 answers, 0.12 units spent, 3.1 answers/s, about 19 s left`."""
    rate = outcome.answered / outcome.seconds if outcome.seconds else 0.0
    line = (
        f"collect: {outcome.before + outcome.answered:,} of {outcome.total:,} answers,"
        f" {outcome.money:.4g} units spent"
    )
    if outcome.failed:
        line += f", {sum(outcome.failed.values()):,} attempts failed"
    return line + (
        f", {rate:.2g} answers/s, about {duration(outcome.missing / rate)} left" if rate else ""
    )
