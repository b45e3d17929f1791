import json
from collections import Counter

import pytest

from collecting import plan
from mock_server import Mock
from recuse.base.log import listening
from recuse.collect import batches
from recuse.collect.collection import Collection
from recuse.collect.cost import cost, worst_cost
from recuse.collect.ledger import Ledger, answers_in, read_ledger
from recuse.collect.run import collect


@pytest.fixture
def mock(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(batches, "FIRST_WAIT", 0.01)
    with Mock() as server:
        yield server


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


def run(path, requests, **options):
    with Ledger(path) as ledger:
        return collect(requests, ledger, **{"poll": 0.01} | options)


def in_batches(mock, number, **settings):
    return plan(mock.url, number, batch=True, **settings)


def kill(path, requests):
    """A run that is killed once its batch is created."""

    class Kill(Exception):
        pass

    def killed(*_):
        raise Kill

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_fetch", killed)
        with pytest.raises(Kill):
            run(path, requests)


def replaced(mock, monkeypatch, method, path, *reply):
    """Have the server answer so to what starts like this."""
    answer = mock._of_batches

    def other(of, to, *rest):
        return reply if (of, to[: len(path)]) == (method, path) else answer(of, to, *rest)

    monkeypatch.setattr(mock, "_of_batches", other)


def test_a_batch_answers_for_half_the_price(mock, path, tmp_path):
    outcome = run(path, in_batches(mock, 12))
    alone = run(tmp_path / "alone.jsonl", plan(mock.url, 12))
    assert (outcome.answered, outcome.missing, outcome.stopped) == (12, 0, "done")
    assert outcome.money == pytest.approx(alone.money / 2)
    assert len(mock.batches) == 1
    answers, others = (
        {entry.key: entry.response for entry in read_ledger(each)}
        for each in (path, tmp_path / "alone.jsonl")
    )
    assert answers == others
    assert {entry.batch for entry in read_ledger(path)} == {"batch-1"}
    assert run(path, in_batches(mock, 12)).asked == 0
    assert len(mock.batches) == 1


def test_a_batch_is_found_whose_process_was_killed_before_it_could_say_so(mock, path):
    requests = in_batches(mock, 5)
    run(path, requests)
    lines = path.read_bytes().splitlines(keepends=True)
    assert [sorted(json.loads(line))[:2] for line in lines[:2]] == [
        ["file", "judge"],
        ["batch", "file"],
    ]
    path.write_bytes(lines[0])
    outcome = run(path, requests)
    assert outcome.answered == 5
    assert len(mock.batches) == 1
    assert set(mock.seen.values()) == {1}


def test_what_a_batch_leaves_open_is_asked_by_the_next_run(mock, path):
    mock.batch_share, mock.batch_status = 0.6, "expired"
    requests = in_batches(mock, 10)
    outcome = run(path, requests)
    assert (outcome.answered, outcome.missing, outcome.failed) == (6, 4, {"expired": 4})
    assert outcome.uncounted == 0
    mock.batch_share, mock.batch_status = 1.0, "completed"
    assert run(path, requests).answered == 4
    assert sorted(mock.seen.values()) == [1] * 6 + [2] * 4


def test_a_batch_that_the_server_refuses_is_said(mock, path):
    mock.batch_share, mock.batch_status = 0.0, "failed"
    outcome = run(path, in_batches(mock, 3))
    assert (outcome.missing, outcome.stopped) == (3, "endpoint")
    assert "the server refused the batch batch-1" in outcome.messages[0]


def test_batches_hold_as_much_as_is_allowed_and_the_budget_holds(mock, path, monkeypatch):
    monkeypatch.setattr(batches, "MOST", 4)
    worst = (1e-6 * 15 + 20e-5) / 2
    outcome = run(path, in_batches(mock, 100), budget=6.5 * worst)
    sizes = [mock.files[batch["input_file_id"]].count(b"\n") for batch in mock.batches.values()]
    assert sizes[:2] == [4, 2]
    assert max(sizes) <= 4
    assert outcome.stopped == "budget"
    # What an answer cost less than its worst is used, too
    assert outcome.answered == sum(sizes) > 6
    assert outcome.money <= 6.5 * worst


def test_what_follows_from_an_answer_of_a_batch_is_asked_in_another(mock, path):
    requests = in_batches(mock, 8)

    def follow(request, response):
        place = requests.index(request) + 3
        return requests[place] if place < len(requests) else None

    outcome = run(path, requests[:3], follow=follow)
    assert outcome.total == outcome.answered == 8
    assert [mock.files[batch["input_file_id"]].count(b"\n") for batch in mock.batches.values()] == [
        3,
        3,
        2,
    ]


def test_a_server_without_batches_is_said(mock, path, monkeypatch):
    monkeypatch.setattr(
        mock, "_of_batches", lambda *_: (404, {"error": {"message": "no such path"}})
    )
    outcome = run(path, in_batches(mock, 3))
    assert (outcome.stopped, outcome.missing) == ("endpoint", 3)
    assert "status 404: no such path" in outcome.messages[0]


def test_a_call_that_fails_in_passing_is_tried_again(mock, path, monkeypatch):
    calls = Counter()
    answer = mock._of_batches

    def sometimes(method, path, headers, body):
        calls[method, path[0]] += 1
        return (
            (500, {"error": {"message": "later"}})
            if calls[method, path[0]] == 1
            else answer(method, path, headers, body)
        )

    monkeypatch.setattr(mock, "_of_batches", sometimes)
    assert run(path, in_batches(mock, 3)).answered == 3
    assert len(mock.batches) == 1


def test_a_batch_of_another_plan_counts_in_the_budget_and_its_answers_are_kept(mock, path):
    before = in_batches(mock, 5)
    after = in_batches(mock, 5, body={"temperature": 0.5})
    kill(path, before)
    budget = sum(map(worst_cost, after)) * 1.0001
    mock.batch_after = 10**6
    with Ledger(path) as ledger:
        collection = Collection(
            after, ledger, lambda *_: None, budget=budget, progress=None, environment={}
        )
    assert collection.purse.reserved == pytest.approx(budget, rel=0.01)
    assert not collection.purse.allows(worst_cost(after[0]))
    mock.batch_after = 1
    outcome = run(path, after, budget=budget)
    usages = [mock.completion(json.loads(line)["body"])["usage"] for line in sent(mock)]
    assert outcome.answered > 0
    tokens = [(usage["prompt_tokens"], usage["completion_tokens"]) for usage in usages]
    assert sum(cost(before[0].endpoint.price, *each, batch=True) for each in tokens) <= budget
    assert len(answers_in(path)) == outcome.answered
    number = len(mock.batches)
    assert run(path, before).answered == 5
    assert len(mock.batches) == number


def sent(mock):
    return [
        line
        for batch in mock.batches.values()
        for line in mock.files[batch["input_file_id"]].splitlines()
    ]


@pytest.mark.parametrize("what", [["batches", "batch-1"], ["files", "file-2"]])
def test_what_the_server_no_longer_has_is_said_and_asked_again(mock, path, monkeypatch, what):
    requests = in_batches(mock, 4)
    kill(path, requests)
    replaced(mock, monkeypatch, "GET", what, 404, {"error": {"message": "no such thing"}})
    if what[0] == "files":  # the third is that of the second batch
        mock._end(mock.batches["batch-1"])
    with listening() as warnings:
        outcome = run(path, [*requests, *in_batches(mock, 6)])
    assert (outcome.answered, outcome.missing, outcome.stopped, outcome.failed) == (
        6,
        0,
        "done",
        {"lost": 4},
    )
    assert "the server no longer has the batch batch-1" in warnings[0]
    assert answers_in(path).spent == pytest.approx(outcome.money + sum(map(worst_cost, requests)))
    with listening() as warnings:
        assert run(path, requests).asked == 0
    assert not warnings


def test_a_batch_of_this_run_that_the_server_does_not_know_is_not_asked_again_and_again(
    mock, path, monkeypatch
):
    replaced(mock, monkeypatch, "GET", ["batches"], 404, {"error": {"message": "no such batch"}})
    assert run(path, in_batches(mock, 3)).stopped == "endpoint"
    assert len(mock.batches) == 1


def test_servers_may_give_the_same_ids(mock, path):
    with Mock() as other:
        requests = [in_batches(mock, 3, judge="a"), in_batches(other, 3, judge="b")]
        for each in requests:
            kill(path, each)
        assert run(path, [*requests[0], *requests[1]]).answered == 6
        assert {*mock.seen.values(), *other.seen.values()} == {1}


def test_a_server_may_give_an_id_again(mock, path):
    mock.batch_share, mock.batch_status = 0.5, "expired"
    requests = in_batches(mock, 4)
    run(path, requests)
    mock.batch_share, mock.batch_status = 1.0, "completed"
    mock.files.clear(), mock.batches.clear()
    kill(path, requests)
    assert run(path, requests).answered == 2
    assert len(mock.batches) == 1


def test_a_ledger_whose_steps_name_no_server_and_no_money_is_read(mock, path):
    requests = in_batches(mock, 5)
    kill(path, requests)
    steps = [json.loads(line) for line in path.read_bytes().splitlines()]
    for step in steps:
        del step["server"]
    steps[0]["keys"] = [*steps[0]["keys"]]
    path.write_text("".join(json.dumps(step) + "\n" for step in steps))
    assert run(path, requests, budget=1.0).answered == 5
    step = {"recuse": 1, "file": steps[0]["file"], "ended": "completed"}
    path.write_text("".join(json.dumps(each) + "\n" for each in (*steps, step)))
    assert run(path, requests).answered == 5
    assert len(mock.batches) == 2


def test_a_torn_line_of_a_batch_loses_one_answer(mock, path, monkeypatch):
    end = mock._end

    def torn(batch):
        end(batch)
        mock.files[batch["output_file_id"]] = mock.files[batch["output_file_id"]][:-30]

    monkeypatch.setattr(mock, "_end", torn)
    requests = in_batches(mock, 4)
    outcome = run(path, requests)
    assert (outcome.answered, outcome.failed, outcome.uncounted) == (3, {"lost": 1}, 1)
    monkeypatch.undo()
    assert run(path, requests).answered == 1
    assert sorted(mock.seen.values()) == [1, 1, 1, 2]


@pytest.mark.parametrize("content", [b"<html>busy</html>", b"[1]", b"{}", b"null"])
@pytest.mark.parametrize(
    "call", [("POST", ["files"]), ("POST", ["batches"]), ("GET", ["batches"]), ("GET", ["files"])]
)
def test_a_response_that_is_none_is_a_failure_and_nothing_is_lost(mock, path, call, content):
    requests = in_batches(mock, 3)
    with pytest.MonkeyPatch.context() as patch:
        replaced(mock, patch, *call, 200, content)
        outcome = run(path, requests)
    assert (outcome.stopped, outcome.missing) == ("endpoint", 3)
    assert "no usable response" in outcome.messages[0]
    assert run(path, requests).answered == 3
    assert {*mock.seen.values()} == {1}


def test_a_list_of_batches_that_is_none_creates_no_second_one(mock, path):
    requests = in_batches(mock, 3)
    kill(path, requests)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    with pytest.MonkeyPatch.context() as patch:
        replaced(mock, patch, "GET", ["batches"], 200, b"{}")
        assert run(path, requests).stopped == "endpoint"
    assert run(path, requests).answered == 3
    assert len(mock.batches) == 1


def test_a_batch_waits_for_the_money_that_others_may_give_back(mock, path):
    mock.latency = 0.2
    alone = plan(mock.url, 1, judge="a")
    batch = in_batches(mock, 1, judge="b", body={"temperature": 0.5})
    outcome = run(path, alone + batch, budget=worst_cost(alone[0]) + 0.9 * worst_cost(batch[0]))
    assert (outcome.answered, outcome.stopped) == (2, "done")


def test_a_request_waits_for_the_money_that_a_batch_may_give_back(mock, path):
    alone = plan(mock.url, 1, judge="a")
    batch = in_batches(mock, 5, judge="b", body={"temperature": 0.5})
    kill(path, batch)
    outcome = run(
        path, alone + batch, budget=sum(map(worst_cost, batch)) + 0.5 * worst_cost(alone[0])
    )
    assert (outcome.answered, outcome.stopped) == (6, "done")
