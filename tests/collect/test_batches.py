import json
from collections import Counter
from itertools import chain

import pytest

from collecting import ask, assert_outcome, plan
from mock_server import Mock
from recuse.base.log import listening
from recuse.collect import batches
from recuse.collect.collection import Collection
from recuse.collect.cost import cost, worst_cost
from recuse.collect.ledger import Ledger, answers_in, read_ledger


def in_batches(mock, number, **settings):
    return plan(mock.url, number, batch=True, **settings)


def kill(run, requests):
    """A run that is killed once its batch is created: it cannot fetch what came of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_fetch", None)
        with pytest.raises(TypeError, match="not callable"):
            run(requests)


def replaced(mock, patch, method, path, *reply):
    """Have the server answer so to what starts like this."""
    answer = mock._of_batches

    def other(of, to, *rest):
        return reply if (of, to[: len(path)]) == (method, path) else answer(of, to, *rest)

    patch.setattr(mock, "_of_batches", other)


def sent(mock):
    """The lines of each batch that was created."""
    return [mock.files[batch["input_file_id"]].splitlines() for batch in mock.batches.values()]


def test_a_batch_answers_for_half_the_price(mock, run, tmp_path):
    outcome = run(in_batches(mock, 12))
    alone = ask(tmp_path / "alone.jsonl", plan(mock.url, 12))
    assert_outcome(outcome, answered=12, missing=0, stopped="done")
    assert outcome.money == pytest.approx(alone.money / 2)
    answers, others = (
        {entry.key: entry.response for entry in read_ledger(path)}
        for path in tmp_path.glob("*.jsonl")
    )
    assert answers == others
    assert {entry.batch for entry in read_ledger(run.path)} == {"batch-1"}
    assert run(in_batches(mock, 12)).asked == 0
    assert len(mock.batches) == 1


def test_a_batch_is_found_whose_process_was_killed_before_it_could_say_so(mock, run):
    requests = in_batches(mock, 5)
    run(requests)
    lines = run.path.read_bytes().splitlines(keepends=True)
    assert [sorted(json.loads(line))[:2] for line in lines[:2]] == [
        ["file", "judge"],
        ["batch", "file"],
    ]
    run.path.write_bytes(lines[0])
    # A list of batches that is none leaves it unknown whether there is one
    with pytest.MonkeyPatch.context() as patch:
        replaced(mock, patch, "GET", ["batches"], 200, b"{}")
        assert run(requests).stopped == "endpoint"
    assert run(requests).answered == 5
    assert len(mock.batches) == 1
    assert set(mock.seen.values()) == {1}


def test_what_a_batch_leaves_open_is_asked_by_the_next_run(mock, run):
    mock.batch_share, mock.batch_status = 0.6, "expired"
    requests = in_batches(mock, 10)
    outcome = run(requests)
    assert_outcome(outcome, answered=6, missing=4, failed={"expired": 4}, uncounted=0)
    mock.batch_share, mock.batch_status = 1.0, "completed"
    assert run(requests).answered == 4
    assert sorted(mock.seen.values()) == [1] * 6 + [2] * 4


def test_a_batch_that_the_server_refuses_is_said(mock, run):
    mock.batch_share, mock.batch_status = 0.0, "failed"
    outcome = run(in_batches(mock, 3))
    assert_outcome(outcome, missing=3, stopped="endpoint")
    assert "the server refused the batch batch-1" in outcome.messages[0]


def test_batches_hold_as_much_as_is_allowed_and_the_budget_holds(mock, run, monkeypatch):
    monkeypatch.setattr(batches, "MOST", 4)
    worst = (1e-6 * 15 + 20e-5) / 2
    outcome = run(in_batches(mock, 100), budget=6.5 * worst)
    sizes = [*map(len, sent(mock))]
    assert sizes[:2] == [4, 2]
    assert max(sizes) <= 4
    assert outcome.stopped == "budget"
    # What an answer cost less than its worst is used, too
    assert outcome.answered == sum(sizes) > 6
    assert outcome.money <= 6.5 * worst


def test_what_follows_from_an_answer_of_a_batch_is_asked_in_another(mock, run):
    requests = in_batches(mock, 8)

    def follow(request, response):
        place = requests.index(request) + 3
        return requests[place] if place < len(requests) else None

    assert_outcome(run(requests[:3], follow=follow), total=8, answered=8)
    assert [*map(len, sent(mock))] == [3, 3, 2]


def test_a_server_without_batches_is_said(mock, run, monkeypatch):
    replaced(mock, monkeypatch, "POST", [], 404, {"error": {"message": "no such path"}})
    outcome = run(in_batches(mock, 3))
    assert_outcome(outcome, stopped="endpoint", missing=3)
    assert "status 404: no such path" in outcome.messages[0]


def test_a_call_that_fails_in_passing_is_tried_again(mock, run, monkeypatch):
    calls = Counter()
    answer = mock._of_batches

    def sometimes(method, path, *rest):
        calls[method, path[0]] += 1
        later = 500, {"error": {"message": "later"}}
        return later if calls[method, path[0]] == 1 else answer(method, path, *rest)

    monkeypatch.setattr(mock, "_of_batches", sometimes)
    assert run(in_batches(mock, 3)).answered == 3
    assert len(mock.batches) == 1


def test_a_batch_of_another_plan_counts_in_the_budget_and_its_answers_are_kept(mock, run):
    before = in_batches(mock, 5)
    after = in_batches(mock, 5, body={"temperature": 0.5})
    kill(run, before)
    budget = sum(map(worst_cost, after)) * 1.0001
    mock.batch_after = 10**6
    limits = {"budget": budget, "progress": None, "environment": {}}
    with Ledger(run.path) as ledger:
        collection = Collection(after, ledger, None, **limits)
    assert collection.purse.reserved == pytest.approx(budget, rel=0.01)
    assert not collection.purse.allows(worst_cost(after[0]))
    mock.batch_after = 1
    outcome = run(after, budget=budget)
    assert outcome.answered > 0
    spent = 0
    for line in chain(*sent(mock)):
        prompt, completion, _ = mock.completion(json.loads(line)["body"])["usage"].values()
        spent += cost(before[0].endpoint.price, prompt, completion, batch=True)
    assert spent <= budget
    assert len(answers_in(run.path)) == outcome.answered
    number = len(mock.batches)
    assert run(before).answered == 5
    assert len(mock.batches) == number


@pytest.mark.parametrize("what", [["batches", "batch-1"], ["files", "file-2"]])
def test_what_the_server_no_longer_has_is_said_and_asked_again(mock, run, monkeypatch, what):
    requests = in_batches(mock, 4)
    kill(run, requests)
    replaced(mock, monkeypatch, "GET", what, 404, {"error": {"message": "no such thing"}})
    if what[0] == "files":  # the third is that of the second batch
        mock._end(mock.batches["batch-1"])
    with listening() as warnings:
        outcome = run([*requests, *in_batches(mock, 6)])
    assert_outcome(outcome, answered=6, missing=0, stopped="done", failed={"lost": 4})
    assert "the server no longer has the batch batch-1" in warnings[0]
    assert answers_in(run.path).spent == pytest.approx(
        outcome.money + sum(map(worst_cost, requests))
    )
    with listening() as warnings:
        assert run(requests).asked == 0
    assert not warnings


def test_a_batch_of_this_run_that_the_server_does_not_know_is_not_asked_again_and_again(
    mock, run, monkeypatch
):
    replaced(mock, monkeypatch, "GET", ["batches"], 404, {"error": {"message": "no such batch"}})
    assert run(in_batches(mock, 3)).stopped == "endpoint"
    assert len(mock.batches) == 1


def test_servers_may_give_the_same_ids(mock, run):
    with Mock() as other:
        first, second = in_batches(mock, 3, judge="a"), in_batches(other, 3, judge="b")
        kill(run, first)
        kill(run, second)
        assert run(first + second).answered == 6
        assert {*mock.seen.values(), *other.seen.values()} == {1}


def test_a_server_may_give_an_id_again(mock, run):
    mock.batch_share, mock.batch_status = 0.5, "expired"
    requests = in_batches(mock, 4)
    run(requests)
    mock.batch_share, mock.batch_status = 1.0, "completed"
    mock.files.clear(), mock.batches.clear()
    kill(run, requests)
    assert run(requests).answered == 2
    assert len(mock.batches) == 1


def test_a_ledger_whose_steps_name_no_server_and_no_money_is_read(mock, run):
    requests = in_batches(mock, 5)
    kill(run, requests)
    steps = [json.loads(line) for line in run.path.read_bytes().splitlines()]
    for step in steps:
        del step["server"]
    steps[0]["keys"] = [*steps[0]["keys"]]
    run.path.write_text("".join(json.dumps(step) + "\n" for step in steps))
    assert run(requests, budget=1.0).answered == 5
    step = {"recuse": 1, "file": steps[0]["file"], "ended": "completed"}
    run.path.write_text("".join(json.dumps(each) + "\n" for each in (*steps, step)))
    assert run(requests).answered == 5
    assert len(mock.batches) == 2


def test_a_torn_line_of_a_batch_loses_one_answer(mock, run, monkeypatch):
    end = mock._end

    def torn(batch):
        end(batch)
        mock.files[batch["output_file_id"]] = mock.files[batch["output_file_id"]][:-30]

    monkeypatch.setattr(mock, "_end", torn)
    requests = in_batches(mock, 4)
    outcome = run(requests)
    assert_outcome(outcome, answered=3, failed={"lost": 1}, uncounted=1)
    monkeypatch.undo()
    assert run(requests).answered == 1
    assert sorted(mock.seen.values()) == [1, 1, 1, 2]


@pytest.mark.parametrize("content", [b"<html>busy</html>", b"[1]", b"{}", b"null"])
@pytest.mark.parametrize(
    "call", [("POST", ["files"]), ("POST", ["batches"]), ("GET", ["batches"]), ("GET", ["files"])]
)
def test_a_response_that_is_none_is_a_failure_and_nothing_is_lost(mock, run, call, content):
    requests = in_batches(mock, 3)
    with pytest.MonkeyPatch.context() as patch:
        replaced(mock, patch, *call, 200, content)
        outcome = run(requests)
    assert_outcome(outcome, stopped="endpoint", missing=3)
    assert "no usable response" in outcome.messages[0]
    assert run(requests).answered == 3
    assert {*mock.seen.values()} == {1}


def test_a_batch_waits_for_the_money_that_others_may_give_back(mock, run):
    mock.latency = 0.2
    alone = plan(mock.url, 1, judge="a")
    batch = in_batches(mock, 1, judge="b", body={"temperature": 0.5})
    outcome = run(alone + batch, budget=worst_cost(*alone) + 0.9 * worst_cost(*batch))
    assert_outcome(outcome, answered=2, stopped="done")


def test_a_request_waits_for_the_money_that_a_batch_may_give_back(mock, run):
    alone = plan(mock.url, 1, judge="a")
    batch = in_batches(mock, 5, judge="b", body={"temperature": 0.5})
    kill(run, batch)
    outcome = run(alone + batch, budget=5 * worst_cost(batch[0]) + 0.5 * worst_cost(*alone))
    assert_outcome(outcome, answered=6, stopped="done")
