import json
from collections import Counter

import pytest

from collecting import plan
from mock_server import Mock
from recuse.collect import batches
from recuse.collect.ledger import Ledger, read
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


def test_a_batch_answers_for_half_the_price(mock, path, tmp_path):
    outcome = run(path, in_batches(mock, 12))
    alone = run(tmp_path / "alone.jsonl", plan(mock.url, 12))
    assert (outcome.answered, outcome.missing, outcome.stopped) == (12, 0, "done")
    assert outcome.money == pytest.approx(alone.money / 2)
    assert len(mock.batches) == 1
    answers, others = ({entry.key: entry.response for entry in read(each)} for each in (path, tmp_path / "alone.jsonl"))
    assert answers == others
    assert {entry.batch for entry in read(path)} == {"batch-1"}
    assert run(path, in_batches(mock, 12)).asked == 0
    assert len(mock.batches) == 1


def test_a_batch_of_a_run_that_was_stopped_is_looked_at_again_and_not_asked_anew(mock, path):
    mock.batch_after = 10**6
    ledger_at_start = []

    class Stop(Exception):
        pass

    def killed(*_):
        ledger_at_start.append(path.read_bytes())
        raise Stop

    requests = in_batches(mock, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_fetch", killed)
        with pytest.raises(Stop):
            run(path, requests)
    assert b'"batch": "batch-1"' in ledger_at_start[0]
    mock.batch_after = 0
    outcome = run(path, [*requests, *in_batches(mock, 7)])
    assert outcome.answered == 7
    assert set(mock.seen.values()) == {1}
    assert len(mock.batches) == 2


def test_a_batch_is_found_whose_process_was_killed_before_it_could_say_so(mock, path):
    requests = in_batches(mock, 5)
    run(path, requests)
    lines = path.read_bytes().splitlines(keepends=True)
    assert [sorted(json.loads(line))[:2] for line in lines[:2]] == [["file", "judge"], ["batch", "file"]]
    path.write_bytes(lines[0])
    outcome = run(path, requests)
    assert outcome.answered == 5
    assert len(mock.batches) == 1
    assert set(mock.seen.values()) == {1}


def test_a_batch_of_a_file_alone_is_created(mock, path):
    requests = in_batches(mock, 5)
    run(path, requests)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    mock.batches.clear()
    assert run(path, requests).answered == 5
    assert mock.done["POST files"] == 1


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
    assert outcome.answered == sum(sizes) > 6  # what an answer cost less than its worst is used, too
    assert outcome.money <= 6.5 * worst


def test_what_follows_from_an_answer_of_a_batch_is_asked_in_another(mock, path):
    requests = in_batches(mock, 8)

    def follow(request, response):
        place = requests.index(request) + 3
        return requests[place] if place < len(requests) else None

    outcome = run(path, requests[:3], follow=follow)
    assert outcome.total == outcome.answered == 8
    assert [mock.files[batch["input_file_id"]].count(b"\n") for batch in mock.batches.values()] == [3, 3, 2]


def test_a_server_without_batches_is_said(mock, path, monkeypatch):
    monkeypatch.setattr(mock, "_of_batches", lambda *_: (404, {"error": {"message": "no such path"}}))
    outcome = run(path, in_batches(mock, 3))
    assert (outcome.stopped, outcome.missing) == ("endpoint", 3)
    assert "status 404: no such path" in outcome.messages[0]


def test_a_call_that_fails_in_passing_is_tried_again(mock, path, monkeypatch):
    calls, answer = Counter(), mock._of_batches

    def sometimes(method, path, headers, body):
        calls[method, path[0]] += 1
        return (500, {"error": {"message": "later"}}) if calls[method, path[0]] == 1 else answer(method, path, headers, body)

    monkeypatch.setattr(mock, "_of_batches", sometimes)
    assert run(path, in_batches(mock, 3)).answered == 3
    assert len(mock.batches) == 1
