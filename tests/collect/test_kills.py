"""Collections that end before they are done: killed, stopped, or on a full disk."""

import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter

import pytest

from collecting import ask, assert_outcome, plan
from recuse.base.log import listening
from recuse.collect.ledger import answers_in, read_ledger

CONCURRENCY = 8
SPAWN = multiprocessing.get_context("spawn")


def ask_120(path, url):
    return ask(path, plan(url, 120, concurrency=CONCURRENCY))


@pytest.fixture
def requests(mock):
    mock.latency = 0.05
    return plan(mock.url, 120, concurrency=CONCURRENCY)


def wait_until(mock, number):
    """Until the server was asked so often."""
    patience = time.monotonic() + 60
    while sum(mock.seen.values()) < number:
        assert time.monotonic() < patience
        time.sleep(0.005)


def answered_in(path):
    """The texts that were asked of the requests that a ledger answers."""
    with listening():  # a kill may cut a line off
        return {entry.asked["messages"][-1]["content"] for entry in answers_in(path).values()}


def test_a_killed_collection_loses_no_answer_and_asks_only_what_was_under_way_again(
    run, mock, requests
):
    seed = random.Random(2)
    kept = set()
    for kills, share in enumerate((0.25, 0.6), 1):
        process = SPAWN.Process(target=ask_120, args=(run.path, mock.url))
        process.start()
        wait_until(mock, 120 * share + seed.randint(0, 10))
        process.kill()
        process.join()
        assert answered_in(run.path) >= kept
        kept = answered_in(run.path)
        assert len(kept) >= sum(mock.answered.values()) - kills * CONCURRENCY
        before = Counter(mock.seen)
    with listening():
        assert_outcome(run(requests), before=len(kept), missing=0)
    assert all(mock.seen[text] == before[text] for text in kept)
    twice = [text for text, number in mock.seen.items() if number > 1]
    assert len(twice) <= 2 * CONCURRENCY
    assert len(answered_in(run.path)) == 120


def test_a_stopped_collection_waits_for_what_is_under_way(run, mock, requests):
    """By SIGTERM; the next test sends SIGINT."""

    def stop(outcome):
        if outcome.answered == 30:
            signal.raise_signal(signal.SIGTERM)

    outcome = run(requests, progress=stop)
    said = ["stopped by the user; run again to ask what is missing"]
    assert_outcome(outcome, stopped="interrupted", messages=said)
    assert outcome.asked == outcome.answered == sum(mock.seen.values()) < 120
    assert len(list(read_ledger(run.path))) == outcome.asked
    assert run(requests).missing == 0
    assert set(mock.seen.values()) == {1}


def test_a_collection_that_is_stopped_twice_ends_at_once(run, mock, requests):
    mock.always = "stall"

    def interrupt_twice():
        wait_until(mock, CONCURRENCY)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt_twice, daemon=True).start()
    outcome = run(requests)
    assert outcome.failed == {"interrupted": CONCURRENCY}
    assert outcome.seconds < 5
    # Which may have been charged
    assert [entry.cost for entry in read_ledger(run.path)] == [None] * CONCURRENCY


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if (
        not shutil.which("mount")
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_is_never_filled_and_what_is_under_way_still_fits(mock, small_disk):
    ledger = small_disk / "ledger.jsonl"
    (small_disk / "other").write_bytes(b"x" * 1_000_000)
    requests = plan(mock.url, 60, concurrency=2, body={"stop": "x" * 1000})
    outcome = ask(ledger, requests)
    assert outcome.stopped == "disk"
    assert 0 < outcome.answered == sum(mock.seen.values()) == len(answers_in(ledger)) < 60
    assert "the disk is nearly full" in outcome.messages[0]
    (small_disk / "other").unlink()
    assert_outcome(ask(ledger, requests), stopped="done", missing=0)
    assert set(mock.seen.values()) == {1}


def test_a_disk_that_is_full_all_the_same_is_said_and_the_rest_is_kept(run, requests):
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (19_500, usual[1]))  # bytes that a file may have
    try:
        outcome = run(requests)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert outcome.stopped == "disk"
    assert outcome.messages[0].startswith(
        f"{run.path}: file too large; {outcome.answered} answers are kept in it"
    )
    assert run.path.stat().st_size == 19_500
    assert outcome.answered == len(answered_in(run.path)) > 10
    with listening():
        assert run(requests).missing == 0
