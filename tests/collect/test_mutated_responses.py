"""Responses of a server that break the schema somewhere: nothing is read wrongly, nothing crashes,
no money is forgotten.
"""

import json
import math
import random
from collections import Counter

import pytest

from recuse.collect import client
from recuse.collect.cost import worst_cost
from recuse.collect.ledger import answers_in, read_ledger
from recuse.collect.parse import scores
from recuse.collect.requests import LOGPROBS, NUMBER, SCHEMA, Criterion, Endpoint, Price, Request

CRITERION = Criterion("Helpfulness", "?", tuple("12345"))
VALUES = [  # in place of any part of a response
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        5,
        3.7,
        1e308,
        10**400,
        -(10**400),
        math.nan,
        math.inf,
        -math.inf,
        1000,
        -9999.0,
    ),
    *(
        "",
        "NaN",
        "null",
        "length",
        "content_filter",
        "\ud800",
        "\x00",
        "x" * 10_000,
        [],
        [1],
        {},
        {"a": 1},
        [None],
        [[]],
    ),
]
BODIES = [  # in place of the whole
    *(
        b"",
        b"null",
        b"[1]",
        b"5",
        b'"text"',
        b"{",
        b"\xff\xfe",
        b"<html>busy</html>",
        b"{}",
        b'{"choices": null}',
    ),
    *(
        b"[" * 5000,
        b'{"a":' * 5000,
        b'{"usage": 1' + b"0" * 5000 + b"}",
        b'{"choices": [' + b"[" * 90 + b"]" * 91 + b"}",
    ),
    *(
        b'{"error": [1]}',
        b'{"error": {"code": true}}',
        b'{"error": {"code": 1e400}}',
        b'{"error": {"code": "x", "message": {}}}',
    ),
]


def paths(value, path=()):
    """The places of a JSON value."""
    yield path
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, each in value.items():
            yield from paths(each, (*path, key))


def mutated(response, seed):
    """The body of a response with one part changed or gone, or another body."""
    if seed.random() < 0.1:
        return seed.choice(BODIES)
    *path, last = seed.choice([*paths(response)][1:])
    holder = response
    for key in path:
        holder = holder[key]
    if seed.random() < 0.2:
        del holder[last]
    else:
        holder[last] = seed.choice(VALUES)
    return json.dumps(response).encode()


def planned_rating(place):
    return place % 5 + 1


def right(place):
    """A response whose rating is known."""
    rating = planned_rating(place)
    top = [{"token": str(rating), "logprob": -0.001}, {"token": "the", "logprob": -9.0}]
    choice = {
        "message": {"content": json.dumps({"Helpfulness": rating}), "refusal": None},
        "finish_reason": "stop",
        "logprobs": {"content": [{"top_logprobs": top}]},
    }
    usage = {"prompt_tokens": 13, "completion_tokens": 5}
    return {"model": "mock-1", "choices": [choice], "usage": usage}


def test_a_response_that_breaks_the_schema_is_neither_read_wrongly_nor_lost(
    run, mock, long, monkeypatch
):
    number = 5000 if long else 300
    monkeypatch.setattr("recuse.collect.run.GIVEN_UP", math.inf)  # all are asked
    monkeypatch.setattr("recuse.collect.run.CLOSING", ())
    sent = [mutated(right(place), random.Random(place)) for place in range(number)]
    mock.completion = lambda body: sent[int(body["messages"][-1]["content"])]
    settings = {"price": Price(1.0, 10.0), "timeout": 20.0, "attempts": 2}
    requests = []
    for place in range(number):
        mode = (SCHEMA, NUMBER, LOGPROBS)[place % 3]
        judge = Endpoint(mode, "mock-1", mock.url, **settings)
        message = {"role": "user", "content": str(place)}
        requests.append(Request(judge, [message], {"max_tokens": 20}, (CRITERION,), mode))
    assert run(requests, budget=1.0, wait=0.001).stopped == "done"

    reasons = Counter()
    spent = 0.0
    for entry in read_ledger(run.path):
        place = int(entry.asked["messages"][0]["content"])
        request = requests[place]
        assert entry.response is not None or entry.text or not sent[place]  # all that came is there
        if entry.cost is None:
            assert entry.at_most == worst_cost(request)
        elif entry.usage is None:
            assert entry.cost == 0 < 300 <= entry.status or entry.reason in client.FREE
        else:
            counts = json.loads(sent[place])["usage"]
            money = counts["prompt_tokens"] + 10 * counts["completion_tokens"]
            assert entry.cost == pytest.approx(money / 1e6)
        spent += entry.at_most if entry.cost is None else entry.cost
        reason = entry.reason
        if reason is None:
            (score,) = scores(request, entry.response).values()
            assert score.value in (None, pytest.approx(planned_rating(place))), sent[place]
            reason = score.reason or "read"
        reasons[reason] += 1
    assert answers_in(run.path).spent == pytest.approx(spent)
    assert reasons["read"] > 0.3 * number
    assert {"unreadable", "invalid response", "not JSON", "no logprobs", "server error"} <= {
        *reasons
    }
