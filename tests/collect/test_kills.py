"""Collections in processes of their own, which end before they are done."""

import base64
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from conftest import ROOT
from mock_server import Mock
from recuse.base.log import listening
from recuse.collect.ledger import answers_in, read_ledger

KEY = "sk-Wahrlich-geheim+0815/="
CONCURRENCY = 8


@pytest.fixture
def mock():
    with Mock(latency=0.05) as server:
        yield server


@pytest.fixture
def start(mock, tmp_path):
    """Start a process that collects; several give the same plan and ledger."""
    processes = []

    def call(**settings):
        usual = {
            "url": mock.url,
            "number": 120,
            "ledger": str(tmp_path / "ledger.jsonl"),
            "concurrency": CONCURRENCY,
        }
        file = tmp_path / f"settings{len(processes)}.json"
        file.write_text(json.dumps(usual | {"key": "MOCK_KEY"} | settings), "utf-8")
        paths = os.pathsep.join([str(ROOT / "workflow" / "lib"), str(ROOT / "tests")])
        environment = os.environ | {"NO_PROXY": "127.0.0.1", "MOCK_KEY": KEY, "PYTHONPATH": paths}
        command = [sys.executable, str(ROOT / "tests" / "collecting.py"), str(file)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        processes.append(subprocess.Popen(command, env=environment, **streams))
        return processes[-1]

    call.path = tmp_path / "ledger.jsonl"
    yield call
    for process in processes:
        process.kill()
        process.communicate()


def wait_until(mock, number, process):
    """Until the server was asked so often."""
    while sum(mock.seen.values()) < number:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def answered_in(path):
    """The texts that were asked of the requests that a ledger answers."""
    with listening():  # a kill may cut a line off
        return {entry.asked["messages"][-1]["content"] for entry in answers_in(path).values()}


def outcome_from(process):
    printed, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    return json.loads(printed.splitlines()[-1])


def test_a_killed_collection_loses_no_answer_and_asks_only_what_was_under_way_again(start, mock):
    seed = random.Random(2)
    kept = set()
    for kills, share in enumerate((0.25, 0.6), 1):
        process = start()
        wait_until(mock, 120 * share + seed.randint(0, 10), process)
        process.kill()
        process.wait()
        assert answered_in(start.path) >= kept
        kept = answered_in(start.path)
        assert len(kept) >= sum(mock.answered.values()) - kills * CONCURRENCY
        before = Counter(mock.seen)
    outcome = outcome_from(start())
    assert outcome["before"] == len(kept)
    assert outcome["missing"] == 0
    assert all(mock.seen[text] == before[text] for text in kept)
    twice = [text for text, number in mock.seen.items() if number > 1]
    assert len(twice) <= 2 * CONCURRENCY
    assert len(answered_in(start.path)) == 120


def test_a_stopped_collection_waits_for_what_is_under_way(start, mock):
    """By SIGTERM; the next test sends SIGINT."""
    process = start()
    wait_until(mock, 30, process)
    process.send_signal(signal.SIGTERM)
    outcome = outcome_from(process)
    assert outcome["stopped"] == "interrupted"
    assert outcome["messages"] == ["stopped by the user; run again to ask what is missing"]
    assert outcome["asked"] == outcome["answered"] == sum(mock.seen.values()) < 120
    assert len(list(read_ledger(start.path))) == outcome["asked"]
    assert outcome_from(start())["missing"] == 0
    assert set(mock.seen.values()) == {1}


def test_a_collection_that_is_stopped_twice_ends_at_once(start, mock):
    mock.always = "stall"
    process = start()
    wait_until(mock, CONCURRENCY, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    outcome = outcome_from(process)
    assert outcome["failed"] == {"interrupted": CONCURRENCY}
    assert outcome["seconds"] < 5
    # Which may have been charged
    assert [entry.cost for entry in read_ledger(start.path)] == [None] * CONCURRENCY


def test_no_key_is_in_a_traceback(start):
    process = start(body={"max_tokens": "many"}, options={"budget": 1.0})
    _, complaints = process.communicate(timeout=60)
    assert "TypeError" in complaints
    for secret in (KEY, base64.b64encode(KEY.encode()).decode()):
        assert secret not in complaints


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


def test_a_disk_is_never_filled_and_what_is_under_way_still_fits(start, mock, small_disk):
    ledger = small_disk / "ledger.jsonl"
    (small_disk / "other").write_bytes(b"x" * 1_000_000)
    options = {"ledger": str(ledger), "number": 60, "concurrency": 2, "body": {"stop": "x" * 1000}}
    outcome = outcome_from(start(**options))
    assert outcome["stopped"] == "disk"
    assert 0 < outcome["answered"] == sum(mock.seen.values()) == len(answers_in(ledger)) < 60
    assert "the disk is nearly full" in outcome["messages"][0]
    (small_disk / "other").unlink()
    outcome = outcome_from(start(**options))
    assert (outcome["stopped"], outcome["missing"]) == ("done", 0), str(outcome)
    assert set(mock.seen.values()) == {1}


def test_a_disk_that_is_full_all_the_same_is_said_and_the_rest_is_kept(start, mock):
    process = start(options={"file_size": 19_500})
    outcome = outcome_from(process)
    assert outcome["stopped"] == "disk"
    assert outcome["messages"][0].startswith(
        f"{start.path}: file too large; {outcome['answered']} answers are kept in it"
    )
    assert start.path.stat().st_size == 19_500
    assert outcome["answered"] == len(answered_in(start.path)) > 10
    assert outcome_from(start())["missing"] == 0
