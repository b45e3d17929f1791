"""Responses of a server that break the schema somewhere: nothing is read wrongly, nothing crashes,
no money is forgotten.
"""

import json
import math
import random
from collections import Counter

import pytest

from mock_server import Mock
from recuse.collect import client
from recuse.collect.cost import worst_cost
from recuse.collect.ledger import Ledger, answers_in, read_ledger
from recuse.collect.parse import scores
from recuse.collect.requests import LOGPROBS, NUMBER, SCHEMA, Criterion, Endpoint, Price, Request
from recuse.collect.run import collect
from reply_oracle import meaning

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
        "5",
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
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in inner:
        yield from paths(each, (*path, key))


def mutated(response, seed):
    """(the body, the place that was changed) of a response with one part changed, gone, renamed or
    doubled.
    """
    if seed.random() < 0.1:
        return seed.choice(BODIES), ("body",)
    path = seed.choice([*paths(response)][1:])
    response = json.loads(json.dumps(response))
    holder = response
    for key in path[:-1]:
        holder = holder[key]
    change = seed.choice(["value", "value", "value", "gone", "renamed", "bytes"])
    if change == "gone":
        del holder[path[-1]]
    elif change == "renamed" and isinstance(holder, dict):
        holder[f"{path[-1]} "] = holder.pop(path[-1])
    else:
        holder[path[-1]] = seed.choice(VALUES)
    body = json.dumps(response).encode()
    if change == "bytes":
        place = seed.randrange(len(body))
        body = body[:place] + bytes([seed.randrange(256)]) + body[place + 1 :]
        return body, ("bytes",)
    return body, path


def right(place):
    """A response whose rating is known: 1 to 5 in turn."""
    rating = place % 5 + 1
    top = [{"token": str(rating), "logprob": -0.001}, {"token": "the", "logprob": -9.0}]
    message = {"role": "assistant", "content": json.dumps({"Helpfulness": rating}), "refusal": None}
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "stop",
        "logprobs": {"content": [{"top_logprobs": top}]},
    }
    usage = {"prompt_tokens": 13, "completion_tokens": 5, "total_tokens": 18}
    return {
        "id": "x",
        "object": "chat.completion",
        "model": "mock-1",
        "choices": [choice],
        "usage": usage,
    }


@pytest.fixture
def mock(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(client, "LARGEST", 1 << 20)
    with Mock() as server:
        yield server


def said(body, mode):
    """The rating that a body states, by docs/collect.md: the meaning of its text, or the mean over
    its probabilities.
    """
    choice = json.loads(body)["choices"][0]
    if mode != LOGPROBS:
        return meaning(choice["message"]["content"], CRITERION.labels, ["Helpfulness"])[
            "Helpfulness"
        ]
    tokens = choice["logprobs"]["content"][0]["top_logprobs"]
    assert sum(math.exp(each["logprob"]) for each in tokens) < 1.02
    labels = [
        (int(each["token"]), math.exp(each["logprob"]))
        for each in tokens
        if each["token"].strip() in CRITERION.labels
    ]
    return sum(rating * share for rating, share in labels) / sum(share for _, share in labels)


def test_a_response_that_breaks_the_schema_is_neither_read_wrongly_nor_lost(
    mock, tmp_path, long, monkeypatch
):
    number = 5000 if long else 300
    monkeypatch.setattr("recuse.collect.run.GIVEN_UP", math.inf)  # all are asked
    monkeypatch.setattr("recuse.collect.run.CLOSING", ())
    sent = [mutated(right(place), random.Random(place)) for place in range(number)]
    mock.raw = lambda body: sent[int(body["messages"][-1]["content"])][0]
    requests = []
    for place in range(number):
        judge = Endpoint(
            f"judge {place % 3}",
            "mock-1",
            mock.url,
            price=Price(1.0, 10.0),
            timeout=20.0,
            attempts=2,
        )
        message = {"role": "user", "content": str(place)}
        mode = (SCHEMA, NUMBER, LOGPROBS)[place % 3]
        requests.append(Request(judge, [message], {"max_tokens": 20}, (CRITERION,), mode))
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        outcome = collect(requests, ledger, budget=1.0, wait=0.001)
    assert outcome.stopped == "done"

    classes = Counter()
    spent = 0.0
    by_key = {request.key: place for place, request in enumerate(requests)}
    for entry in read_ledger(tmp_path / "ledger.jsonl"):
        request, (body, where) = requests[by_key[entry.key]], sent[by_key[entry.key]]
        assert entry.response is not None or entry.text or not body  # all that came is there
        if entry.cost is None:
            assert entry.at_most == worst_cost(request)
        elif entry.usage is None:
            assert entry.cost == 0 < 300 <= entry.status or entry.reason in client.FREE
        else:
            counts = json.loads(body)["usage"]
            assert entry.cost == pytest.approx(
                (counts["prompt_tokens"] + 10 * counts["completion_tokens"]) / 1e6
            )
            assert entry.cost > 0
        spent += entry.at_most if entry.cost is None else entry.cost
        if entry.reason is None:
            (score,) = scores(request, entry.response).values()
            assert score.value is None or score.value == pytest.approx(said(body, request.mode)), (
                where,
                body,
            )
            classes[score.reason or "read"] += 1
        else:
            classes[entry.reason] += 1
    print(f"{outcome.asked} responses by class: {dict(classes.most_common())}")
    assert answers_in(tmp_path / "ledger.jsonl").spent == pytest.approx(spent)
    assert sum(classes.values()) == outcome.asked
    assert classes["read"] > 0.3 * number
    assert {
        "unreadable",
        "invalid response",
        "not JSON",
        "no logprobs",
        "server error",
    } <= classes.keys()
