"""Collections: requests, a server that answers them, and ledgers of what it answered."""

from functools import partial

import pytest

from mock_server import Mock
from recuse.collect import batches, client
from recuse.collect.ledger import Ledger, LedgerEntry
from recuse.collect.requests import Endpoint, Price, Request
from recuse.collect.run import collect

KEY = "sk-Wahrlich-geheim+0815/="
# No test asks these judges.
HERE = "http://127.0.0.1:9/v1"
JUDGES = {
    "gpt": {"model": "gpt-x", "base_url": HERE},
    "claude": {"model": "claude-y", "base_url": HERE},
}


@pytest.fixture
def mock(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("MOCK_KEY", KEY)
    monkeypatch.setattr(client, "LARGEST", 1 << 17)
    monkeypatch.setattr(batches, "FIRST_WAIT", 0.01)
    with Mock() as server:
        yield server


@pytest.fixture
def run(tmp_path):
    """Ask requests; the answers are in the ledger `run.path`."""
    path = tmp_path / "ledger.jsonl"
    run = partial(ask, path)
    run.path = path
    return run


def ask(path, requests, **options):
    with Ledger(path) as ledger:
        return collect(requests, ledger, **{"wait": 0.01, "poll": 0.01} | options)


def assert_outcome(outcome, **expected):
    assert {name: getattr(outcome, name) for name in expected} == expected


def plan(url, number, *, judge="judge", mode="text", body=None, **settings):
    """Requests `question 0`, `question 1`, ... to the server at `url`."""
    usual = {"key": None, "price": Price(1.0, 10.0), "concurrency": 8, "timeout": 10.0}
    endpoint = Endpoint(judge, "mock-1", url, **usual | settings)
    body = {"max_tokens": 20, **(body or {})}
    return [
        Request(endpoint, [{"role": "user", "content": f"question {each}"}], body, mode=mode)
        for each in range(number)
    ]


def chat(content, finish="stop", **message):
    """A server's response."""
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish}]}


def entry_of_request(request, response, **others):
    """What a ledger holds of a request and the response to it."""
    usual = {"judge": request.endpoint.name, "started": "", "seconds": 0.1, "attempt": 1}
    return LedgerEntry(
        key=request.key,
        asked=request.identity,
        about=dict(request.about),
        response=response,
        **usual | others,
    )
