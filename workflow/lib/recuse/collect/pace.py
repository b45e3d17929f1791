"""How fast an endpoint may be asked: as many requests at once as it bears, and as many a minute as
it allows.
"""

import math
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from recuse.collect.requests import Endpoint

BURST = 6.0  # seconds of a minute's allowance that may be used at once


class Bucket:
    """An allowance per minute, of which what is not used is kept for `BURST` seconds; it may be
    infinite.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        """Start full."""
        self._rate = per_minute / 60
        self._clock = clock
        self._most = max(1.0, self._rate * BURST)
        self._level = self._most
        self._since = clock()

    def wait(self, amount: float) -> float:
        """Seconds until `amount` may be taken; more than the bucket holds, when it is full."""
        if math.isinf(self._rate):
            return 0.0
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._since) * self._rate)
        self._since = now
        return max(0.0, (min(amount, self._most) - self._level) / self._rate)

    def take(self, amount: float) -> None:
        """Take an amount, also more than there is."""
        self._level -= amount


class Pace:
    """When the next request may be sent to an endpoint.

    The limit of requests under way is halved when the server says that they are too many, though
    only once for those sent before that, and is one higher after as many answers as it is (additive
    increase, multiplicative decrease: Chiu and Jain 1989), up to the endpoint's concurrency.
    """

    def __init__(self, endpoint: Endpoint, clock: Callable[[], float] = time.monotonic) -> None:
        """Start at the endpoint's concurrency. clock: seconds."""
        self.most = self.limit = max(1, endpoint.concurrency)
        self.under_way = 0
        self._clock = clock
        self._answers = 0  # since the limit was last changed
        self._cut_at = -math.inf
        self._resume_at = -math.inf
        self._requests = Bucket(endpoint.requests_per_minute or math.inf, clock)
        self._tokens = Bucket(endpoint.tokens_per_minute or math.inf, clock)

    def wait(self, tokens: float) -> float:
        """Seconds until a request of so many tokens may be sent: 0 if now, infinity if one under
        way must end first.
        """
        if self.under_way >= self.limit:
            return math.inf
        return max(
            0.0, self._resume_at - self._clock(), self._requests.wait(1), self._tokens.wait(tokens)
        )

    def start(self, tokens: float) -> float:
        """Count a request as sent; its time, for `slow_down`."""
        self.under_way += 1
        self._requests.take(1)
        self._tokens.take(tokens)
        return self._clock()

    def end(self) -> None:
        """Count a request as ended."""
        self.under_way -= 1

    def speed_up(self) -> None:
        """An answer came."""
        self._answers += 1
        if self._answers >= self.limit:
            self.limit = min(self.most, self.limit + 1)
            self._answers = 0

    def slow_down(self, sent: float, wait: float | None) -> None:
        """The server was asked too much by a request sent at `sent`; wait: seconds in which it
        wants none.
        """
        now = self._clock()
        if sent > self._cut_at:
            self.limit = max(1, self.limit // 2)
            self._answers = 0
            self._cut_at = now
        if wait is not None:
            self._resume_at = max(self._resume_at, now + wait)


def requested_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a server asks to wait, by `retry-after-ms` or `retry-after`, a number or a date;
    None if it does not say.

    now: seconds since 1970.
    """
    text = ""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]*)?", text):
            return float(text) * unit
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None
