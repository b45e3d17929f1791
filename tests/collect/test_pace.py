import math
from email.utils import formatdate

import numpy as np
import pytest

from recuse.collect.pace import BURST, Pace, requested_wait
from recuse.collect.requests import Endpoint

NOW = 1_790_000_000.0


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def pace_from(clock, **settings):
    return Pace(Endpoint("judge", "m", **{"concurrency": 8} | settings), clock)


def start(pace, number, tokens=1.0):
    """Send as many as may be sent at once, at most `number`; the times of those sent."""
    times = []
    while len(times) < number and pace.wait(tokens) == 0:
        times.append(pace.start(tokens))
    return times


def test_as_many_are_under_way_as_the_endpoint_allows(clock):
    pace = pace_from(clock)
    assert len(start(pace, 100)) == 8
    assert pace.wait(1) == math.inf
    pace.end()
    assert len(start(pace, 100)) == 1


def test_the_limit_is_halved_once_by_all_refusals_of_a_round_trip_and_never_below_one(clock):
    pace = pace_from(clock)
    sent = start(pace, 8)
    clock.now += 1
    for each in sent:
        pace.slow_down(each, None)
        pace.end()
    assert pace.limit == 4
    for expected in (2, 1, 1):
        clock.now += 1
        (each, *_) = start(pace, 1)
        clock.now += 1
        pace.slow_down(each, None)
        pace.end()
        assert pace.limit == expected


def test_the_limit_recovers_by_one_for_as_many_answers_as_it_is(clock):
    pace = pace_from(clock)
    pace.slow_down(clock(), None)
    limits = []
    for _ in range(4 + 5 + 6 + 7 + 20):
        pace.speed_up()
        limits.append(pace.limit)
    assert [limits.count(limit) for limit in (4, 5, 6, 7)] == [3, 5, 6, 7]
    assert limits[-1] == 8


def test_nothing_is_sent_before_the_server_wants_it(clock):
    pace = pace_from(clock)
    pace.slow_down(clock(), 30.0)
    pace.slow_down(clock(), 10.0)
    assert pace.wait(1) == 30.0
    clock.now += 30.0
    assert pace.wait(1) == 0


@pytest.mark.parametrize(
    ("settings", "tokens", "minute"),
    [
        ({"requests_per_minute": 120}, 1, 120),
        ({"tokens_per_minute": 60_000}, 500, 120),
        ({"tokens_per_minute": 600}, 300, 2),
    ],
)
def test_no_more_is_sent_in_a_minute_than_is_allowed(clock, settings, tokens, minute):
    pace = pace_from(clock, concurrency=10**6, **settings)
    times = []
    while clock.now < 400.0:
        times += start(pace, 1000, tokens)
        clock.now += max(pace.wait(tokens), 1e-6)
    burst = max(1, minute * BURST / 60)
    assert len(times) == pytest.approx(5 * minute + burst, abs=2)
    counts = np.searchsorted(times, np.add(times, 60)) - np.arange(len(times))
    assert max(counts) <= minute + burst + 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3", 3.0),
        ("1.5", 1.5),
        (formatdate(NOW + 20, usegmt=True), 20.0),
        (formatdate(NOW - 20, usegmt=True), 0.0),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read_in_each_of_its_forms(text, seconds):
    assert requested_wait({"retry-after": text}, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["soon", "-1", "NaN", "1e9", "9" * 400, "1,5", "²"])
def test_a_wait_of_another_form_is_none(text):
    assert requested_wait({"retry-after": text}, NOW) is None


def test_a_wait_in_milliseconds_is_the_more_exact_one():
    assert requested_wait({"retry-after-ms": "250", "retry-after": "3"}, NOW) == 0.25
    assert requested_wait({}, NOW) is None
