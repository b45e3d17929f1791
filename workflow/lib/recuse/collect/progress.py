"""How far a collection is: a bar on a terminal, lines elsewhere, with money and the time left."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from recuse.base.log import duration
from recuse.collect.collection import Outcome

EVERY = 30.0  # seconds between two lines


@contextmanager
def progress(clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[Outcome], None]]:
    """A function for `collect` that shows each outcome on the standard error. clock: seconds."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(desc="collect", unit=" answers", leave=False, file=sys.stderr) as bar:

            def show(outcome: Outcome) -> None:
                bar.total, bar.initial = outcome.total, outcome.before
                bar.set_postfix_str(_sums(outcome), refresh=False)
                bar.update(outcome.before + outcome.answered - bar.n)

            yield show
        return
    printed = clock()

    def say(outcome: Outcome) -> None:
        nonlocal printed
        if (now := clock()) - printed >= EVERY:
            printed = now
            print(line_of(outcome), file=sys.stderr, flush=True)

    yield say


def line_of(outcome: Outcome) -> str:
    """As in `collect: 40 of 100 answers, 0.12 spent, 3.1 answers/s, about 19 s left`."""
    rate = outcome.answered / outcome.seconds if outcome.seconds else 0.0
    left = f", {rate:.2g} answers/s, about {duration(outcome.missing / rate)} left" if rate else ""
    return f"collect: {outcome.before + outcome.answered:,} of {outcome.total:,} answers, {_sums(outcome)}{left}"


def _sums(outcome: Outcome) -> str:
    """Money and failed attempts."""
    failed = f", {sum(outcome.failed.values()):,} attempts failed" if outcome.failed else ""
    return f"{outcome.money:.4g} spent{failed}"
