"""A collection under way: what is left to ask of whom, what came, what it cost, and why it
stops.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recuse.base.errors import ConfigError, DiskError
from recuse.collect.client import NO_QUOTA, NOT_ALLOWED, Client
from recuse.collect.cost import worst_cost
from recuse.collect.ledger import Ledger, LedgerEntry
from recuse.collect.pace import Pace
from recuse.collect.requests import Endpoint, Request
from recuse.collect.responses import NO_LOGPROBS
from recuse.collect.secrets import Secrets

# Why a run ended, from the weakest reason to the strongest.
DONE, BUDGET, ENDPOINT, AUTH, DISK, BY_USER = (
    "done",
    "budget",
    "endpoint",
    "auth",
    "disk",
    "interrupted",
)
STRENGTH = (DONE, BUDGET, ENDPOINT, AUTH, DISK, BY_USER)
GIVEN_UP = 10  # requests in a row that got no answer, after which an endpoint is asked no more

Follow = Callable[[Request, Mapping], Request | None]


@dataclass
class Outcome:
    """What a run did so far. Requests count once if they are the same; a repair is a further
    one.
    """

    total: int = 0  # requests of the plan
    before: int = 0  # of these, answered in earlier runs
    answered: int = 0  # in this run
    asked: int = 0  # attempts
    failed: Counter[str] = field(default_factory=Counter)  # attempts by reason
    money: float = 0.0  # for the attempts whose cost is known
    uncounted: int = 0  # attempts that may have been charged, but not how much
    seconds: float = 0.0
    stopped: str = DONE
    messages: list[str] = field(default_factory=list)  # why, in sentences

    @property
    def missing(self) -> int:
        """Requests without an answer."""
        return self.total - self.before - self.answered

    def add(self, entry: LedgerEntry) -> None:
        """Count an attempt."""
        self.asked += 1
        if entry.reason is None:
            self.answered += 1
        else:
            self.failed[entry.reason] += 1
        self.money += entry.cost or 0.0
        self.uncounted += entry.cost is None

    def stop(self, reason: str, message: str) -> None:
        """Note why no more is asked, of all endpoints or of one."""
        self.stopped = max(self.stopped, reason, key=STRENGTH.index)
        if message not in self.messages:
            self.messages.append(message)


class Purse:
    """A budget: what is spent, and what requests under way may cost at worst, never exceed it."""

    def __init__(self, budget: float | None, spent: float) -> None:
        """Start with what is spent; None: no limit."""
        self.budget = budget
        self.spent = spent
        self.reserved = 0.0

    def allows(self, worst: float) -> bool:
        """Whether a request may be sent that costs so much at worst."""
        return self.budget is None or self.spent + self.reserved + worst <= self.budget

    def settle(self, worst: float, cost: float | None) -> None:
        """A request under way ended; what it cost counts as the worst if that is not known."""
        self.reserved -= worst
        self.spent += worst if cost is None else cost


class Desk:
    """What is left to ask of one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Start with nothing to ask."""
        self.endpoint = endpoint
        self.client: Client | None = None  # of a desk that has something to ask
        self.pace = Pace(endpoint)
        self.queue: deque[Request] = deque()
        # Heap of (time, order, attempt, request) to be asked again
        self.later: list[tuple[float, int, int, Request]] = []
        self.stopped = False
        self.given_up = 0  # requests in a row
        self.busy = False  # whether batches of it are under way, or about to be


class Collection:
    """The state of a run: `desks` by endpoint, `purse`, `outcome`; `stopping` is set when no more
    is to be asked.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        ledger: Ledger,
        follow: Follow,
        *,
        budget: float | None,
        progress: Callable[[Outcome], None] | None,
        environment: Mapping[str, str],
    ) -> None:
        """Find what is missing. ConfigError if it cannot be asked: no key, no client, or no price
        for a budget.
        """
        self.ledger = ledger
        self.follow = follow
        self.outcome = Outcome()
        self.purse = Purse(budget, ledger.spent)  # All that the ledger paid for counts.
        self.desks: list[Desk] = []
        self.stopping = asyncio.Event()
        self.changed = asyncio.Event()
        self.unsynced = asyncio.Event()
        self._progress = progress or (lambda outcome: None)
        self._clock = time.monotonic()
        self._keys: set[str] = set()
        for request in requests:
            self._take(request, first=False)
        busy = [desk for desk in self.desks if desk.queue]
        self.secrets = Secrets([desk.endpoint for desk in busy], environment)
        for desk in busy:
            desk.client = Client(desk.endpoint, self.secrets)
            desk.busy = desk.endpoint.batch
        of_batches = (ledger.open_in(batch).values() for batch in ledger.batches.values())
        # Also for another plan
        self.purse.reserved = sum(money or 0.0 for each in of_batches for money in each)

    def _take(self, request: Request | None, *, first: bool) -> None:
        """Take a request of the plan, and what follows from its answer; what is not answered is
        queued, `first` or last.
        """
        while request is not None and request.key not in self._keys:
            self._keys.add(request.key)
            self.outcome.total += 1
            self.worst(request)  # an error if it is needed and not known, before anything is asked
            desk = self._desk(request.endpoint)
            if request.key not in self.ledger:
                desk.queue.insert(0 if first else len(desk.queue), request)
                return
            self.outcome.before += 1
            request = self.follow(request, self.ledger[request.key].response)

    def _desk(self, endpoint: Endpoint) -> Desk:
        for desk in self.desks:
            if desk.endpoint == endpoint:
                return desk
        self.desks.append(Desk(endpoint))
        return self.desks[-1]

    def worst(self, request: Request) -> float:
        """The most that one attempt may cost; ConfigError if there is a budget and no limit to
        that. Without a budget, 0.
        """
        if self.purse.budget is None:
            return 0.0
        worst = worst_cost(request)
        if worst is None:
            model = request.endpoint.model
            what = (
                f"a price for {model} (under `prices:`, a YAML file with `{model}: {{input: 2,"
                " output: 8}` or the like)"
            )
            if request.endpoint.price is not None:
                what = "the longest answer (`max_tokens`)"
            raise ConfigError(
                f"collect: {request.endpoint.name}: a budget needs {what}; write it, or leave the"
                " budget out"
            )
        return worst

    def record(self, desk: Desk, attempts: Iterable[tuple[Request, LedgerEntry, float]]) -> bool:
        """Store attempts, each with what was reserved for it, at once; queue what follows from the
        answers. False: no room.
        """
        attempts = list(attempts)
        if not self.store([entry for _, entry, _ in attempts]):
            return False
        for request, entry, worst in attempts:
            self.purse.settle(worst, entry.cost)
            self.outcome.add(entry)
            if entry.reason is None:
                desk.given_up = 0
                self._take(self.follow(request, entry.response), first=True)
        self.report()
        return True

    def store(self, records: Iterable[LedgerEntry | Mapping]) -> bool:
        """Append records to the ledger; False, and the run ends, if there is no room."""
        try:
            self.ledger.append(records)
        except DiskError as error:
            self.stop(DISK, str(error))
            return False
        self.unsynced.set()
        return True

    def report(self) -> None:
        """Tell how far the run is."""
        self.outcome.seconds = time.monotonic() - self._clock
        self._progress(self.outcome)

    def stop(self, reason: str, message: str) -> None:
        """Stop sending requests."""
        self.outcome.stop(reason, message)
        self.stopping.set()
        self.changed.set()

    def close_desk(self, desk: Desk, reason: str, problem: str) -> None:
        """Ask an endpoint no more; problem: what the server said."""
        endpoint = desk.endpoint
        desk.stopped = True
        key = f"the key in the environment variable {endpoint.key}"
        sentences = {
            NOT_ALLOWED: f"the server does not accept {key}; set it to a valid key, and run again",
            NO_QUOTA: f"no quota is left for {key}; add some, and run again ({problem})",
            NO_LOGPROBS: (
                "the server gives no log probabilities; choose another mode for this judge, or"
                " another server"
            ),
        }
        if endpoint.key is None:
            named = "write under `key:` the name of the environment variable that holds it"
            sentences[NOT_ALLOWED] = f"the server requires a key; {named} ({problem})"
        sentence = sentences.get(reason, problem)
        where = f"{endpoint.name}: {endpoint.model} at {endpoint.address}"
        self.outcome.stop(
            AUTH if reason in (NOT_ALLOWED, NO_QUOTA) else ENDPOINT, f"{where}: {sentence}"
        )
