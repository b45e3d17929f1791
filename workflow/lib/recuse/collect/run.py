"""Asking: requests that the ledger does not answer are sent, many at once, until they are answered
or a run has to stop.
"""

import asyncio
import contextlib
import heapq
import math
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from itertools import count

from recuse.base.errors import DiskError
from recuse.base.log import duration
from recuse.base.words import counted
from recuse.collect.batches import POLL, ask_in_batches
from recuse.collect.client import (
    CLOSING,
    INTERRUPTED,
    OVERLOADED,
    PASSING,
    RATE_LIMIT,
    ServerReply,
    ledger_entry,
    now,
)
from recuse.collect.collection import (
    BUDGET,
    BY_USER,
    DISK,
    GIVEN_UP,
    Collection,
    Desk,
    Follow,
    Outcome,
)
from recuse.collect.cost import most_out, tokens_in
from recuse.collect.ledger import Ledger, LedgerEntry
from recuse.collect.pace import requested_wait
from recuse.collect.requests import Request

GRACE = 5.0  # seconds that requests under way are given after Ctrl-C
LONGEST_WAIT = 60.0  # seconds between two attempts
# Seconds that a server may ask to wait; if it wants more, a later run asks it
LONGEST_PAUSE = 900.0
ROOM = 1 << 20  # bytes of the disk that are kept free for each request under way


def collect(
    requests: Sequence[Request],
    ledger: Ledger,
    *,
    follow: Follow = lambda request, response: None,
    budget: float | None = None,
    progress: Callable[[Outcome], None] | None = None,
    wait: float = 0.5,
    poll: float = POLL,
    environment: Mapping[str, str] = os.environ,
) -> Outcome:
    """Ask what the open `ledger` does not answer, and return what was done and why it ended; the
    same request is asked once.

    follow: gives a further request for a request and its response, asked at once; budget: money for
    all attempts of the ledger, to which those under way count at their worst; progress: is called
    with the outcome so far; wait: seconds before a second attempt, doubled for each further one;
    poll: seconds between two looks at a batch. Ctrl-C and SIGTERM end it in good order. Raises
    ConfigError before anything is asked if that is not possible: a key or a price is missing.
    """
    limits = {"budget": budget, "progress": progress, "environment": environment}
    return asyncio.run(_Run(requests, ledger, follow, wait=wait, poll=poll, **limits).whole())


class _Run(Collection):
    """A collection and the tasks that ask what it holds."""

    def __init__(self, *asked: object, wait: float, poll: float, **limits: object) -> None:
        super().__init__(*asked, **limits)
        self._wait = wait
        self._poll = poll
        self._tasks: set[asyncio.Task] = set()
        self._fault: BaseException | None = None
        self._order = count()  # of requests that are to be asked again at the same time

    async def whole(self) -> Outcome:
        busy = [desk for desk in self.desks if desk.client]
        syncing = asyncio.create_task(self._sync())
        for desk in busy:
            if desk.endpoint.batch:
                self._start(ask_in_batches(self, desk, self._poll))
        try:
            with self._signals():
                await self._ask([desk for desk in busy if not desk.endpoint.batch])
        finally:
            self._cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            syncing.cancel()
            for desk in busy:
                await desk.client.close()
        if self._fault is not None:
            raise self._fault
        with self._stopping_if_full():
            self.ledger.sync()
        self.report()
        return self.outcome

    async def _ask(self, desks: Sequence[Desk]) -> None:
        """Send what may be sent, wait for a change, and again, until nothing is left or under
        way.
        """
        changed = self.changed
        while True:
            changed.clear()
            pause = min((self._send(desk) for desk in desks), default=math.inf)
            if not self._tasks and math.isinf(pause):
                break
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), None if math.isinf(pause) else pause)
        left = any(desk.queue or desk.later for desk in self.desks if not desk.stopped)
        if left and not self.stopping.is_set():
            purse = self.purse
            missing = counted(self.outcome.missing, "request")
            message = (
                f"the next request could exceed the budget of {purse.budget:g} ({purse.spent:.4g}"
                f" spent, {missing} left)"
            )
            self.outcome.stop(BUDGET, f"{message}; allow a larger one to go on")

    def _send(self, desk: Desk) -> float:
        """Send all that may be sent now; seconds until more may be, infinity if something must end
        first or nothing is left.
        """
        while not (self.stopping.is_set() or desk.stopped):
            clock = time.monotonic()
            again = bool(desk.later) and desk.later[0][0] <= clock
            if not again and not desk.queue:
                return desk.later[0][0] - clock if desk.later else math.inf
            attempt, request = desk.later[0][2:] if again else (1, desk.queue[0])
            tokens = tokens_in(request) + (most_out(request) or 0)
            if pause := desk.pace.wait(tokens):
                return pause
            worst = self.worst(request)
            if not self.purse.allows(worst):
                return math.inf
            under_way = sum(each.pace.under_way for each in self.desks)
            if self.ledger.room() < ROOM * (under_way + 1):
                kept = (
                    f"the disk is nearly full, and {counted(len(self.ledger), 'answer')} are kept"
                )
                self.stop(DISK, f"{self.ledger.path}: {kept}; make room there, and run again")
                return math.inf
            if again:
                heapq.heappop(desk.later)
            else:
                desk.queue.popleft()
            self.purse.reserved += worst
            self._start(self._attempt(desk, request, attempt, worst, desk.pace.start(tokens)))
        return math.inf

    def _start(self, work: Coroutine[None, None, None]) -> asyncio.Task:
        """Start a task; what it raises ends the run."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._fault = self._fault or task.exception()
            self.stopping.set()
            self._cancel()
        self.changed.set()

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _attempt(
        self, desk: Desk, request: Request, attempt: int, worst: float, sent: float
    ) -> None:
        """Send a request once; store what comes; see to what follows from it."""
        started = now()
        clock = time.monotonic()
        try:
            reply = await desk.client.send(request)
        except asyncio.CancelledError:
            reply = ServerReply(problem=(INTERRUPTED, "the run was ended"))
        finally:
            desk.pace.end()
        seconds = time.monotonic() - clock
        entry = ledger_entry(
            request, reply, self.secrets, attempt=attempt, started=started, seconds=seconds
        )
        if not self.record(desk, [(request, entry, worst)]):
            self._cancel()  # there is no room for what is under way
        elif entry.reason is None:
            desk.pace.speed_up()
        else:
            self._after_failure(desk, request, entry, sent, reply.headers)

    def _after_failure(
        self,
        desk: Desk,
        request: Request,
        entry: LedgerEntry,
        sent: float,
        headers: Mapping[str, str],
    ) -> None:
        """Slow down, ask again later, or give up."""
        # Seconds that the server asks to wait; with other failures, when its limits are renewed
        # says nothing
        pause = None
        if entry.reason == RATE_LIMIT or entry.status in OVERLOADED:
            pause = requested_wait(headers, time.time())
            desk.pace.slow_down(sent, pause)
        if entry.reason in CLOSING:
            self.close_desk(desk, entry.reason, entry.error["message"])
        elif pause is not None and pause > LONGEST_PAUSE:
            self.close_desk(desk, entry.reason, f"the server asks to wait {duration(pause)}")
        elif entry.reason in PASSING and entry.attempt < desk.endpoint.attempts:
            wait = min(LONGEST_WAIT, self._wait * 2 ** (entry.attempt - 1)) * random.uniform(
                0.5, 1.5
            )
            heapq.heappush(
                desk.later, (time.monotonic() + wait, next(self._order), entry.attempt + 1, request)
            )
        elif entry.reason != INTERRUPTED:
            desk.given_up += 1
            if desk.given_up >= GIVEN_UP:
                problem = (
                    f"{GIVEN_UP} requests in a row got no answer; the last: {entry.reason},"
                    f" {entry.error['message']}"
                )
                self.close_desk(desk, entry.reason, problem)

    async def _sync(self) -> None:
        """fsync what was stored since the last time, all at once."""
        while True:
            await self.unsynced.wait()
            self.unsynced.clear()
            with self._stopping_if_full():
                await asyncio.to_thread(self.ledger.sync)

    @contextlib.contextmanager
    def _stopping_if_full(self) -> Iterator[None]:
        try:
            yield
        except DiskError as error:
            self.stop(DISK, str(error))

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """On SIGINT and SIGTERM ask no more, and wait a little for what is under way; on the
        second, do not wait.
        """
        loop = asyncio.get_running_loop()

        def heed() -> None:
            if self.stopping.is_set():
                self._cancel()
                return
            self.stop(BY_USER, "stopped by the user; run again to ask what is missing")
            loop.call_later(GRACE, self._cancel)

        # Signal handlers need the main thread
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number in before:
            loop.add_signal_handler(number, heed)
        try:
            yield
        finally:
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)
