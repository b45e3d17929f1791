import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from collecting import assert_outcome, plan
from conftest import CONFIG, ROOT
from recuse.base.errors import ConfigError, DataError, DiskError
from recuse.base.log import listening
from recuse.collect.estimate import estimates
from recuse.collect.inputs import ledger_found
from recuse.collect.ledger import SEEN, Ledger, LedgerEntry, answers_in, ledger_line, read_ledger
from recuse.collect.run import collect
from recuse.config.load import with_study
from recuse.config.studies import Study

ASKED = {
    "model": "m",
    "messages": [{"role": "user", "content": "Wie viele? \ud83d"}],
    "body": {},
    "rubric": [],
    "mode": "text",
}


def entry(key, *, error=None, text="four", cost=0.5, attempt=1, at_most=None):
    return LedgerEntry(
        key=key,
        judge="judge",
        asked=ASKED,
        about={"prompt": key},
        started="2026-05-01T10:00:00Z",
        seconds=0.2,
        attempt=attempt,
        response={"choices": [{"message": {"content": text}}]},
        error=error and {"reason": error, "message": "so it was"},
        cost=cost,
        at_most=at_most,
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "ledger.jsonl"


def fill(path, *entries):
    with Ledger(path) as ledger:
        ledger.append(entries)
    return path.read_bytes()


def test_what_is_appended_is_read_back_equal(path):
    entries = [entry("a"), entry("b", error="timeout", cost=None, text="\udcff \x00 é 漢")]
    content = fill(path, *entries)
    assert content.count(b"\n") == 2
    assert content.isascii()
    assert list(read_ledger(path)) == entries


def test_the_last_usable_response_is_the_answer_to_a_request(path):
    fill(path, entry("a", text="old"), entry("b", error="timeout"))
    with Ledger(path) as ledger:
        assert [*ledger] == ["a"]
        ledger.append(
            [entry("a", text="new"), entry("b", attempt=2), entry("a", error="server error")]
        )
        answers = dict(ledger)
    assert answers == {"a": entry("a", text="new"), "b": entry("b", attempt=2)}
    assert dict(answers_in(path)) == answers
    absent = answers_in(path.with_name("none"))
    assert (len(absent), absent.get("a")) == (0, None)


def test_money_is_summed_and_an_unknown_cost_counts_at_the_most_that_it_may_be(path):
    unknown = entry("b", error="timeout", cost=None, at_most=0.125)
    another = entry("a", error="another model")
    fill(path, another, entry("a", cost=0.25), unknown, entry("c", cost=None))
    with Ledger(path) as ledger:
        assert ledger.spent == 0.875
        ledger.append([entry("d")])
        assert ledger.spent == 1.375


@pytest.mark.parametrize("kept", [1, 12, 100, -1])
def test_a_line_cut_off_is_ended_and_skipped_and_nothing_else_is_lost(path, kept):
    content = fill(path, entry("a"))
    last = ledger_line(entry("b"))
    path.write_bytes(content + last[:kept])
    whole = "b" * (kept == -1)  # only the line's end is missing
    with listening() as warnings, Ledger(path) as ledger:
        assert [*ledger] == ["a", *whole]
        ledger.append([entry("c")])
        assert ledger["c"] == entry("c")
    assert len(warnings) == (not whole)
    assert whole or "line 2 is cut off or damaged" in warnings[0]
    assert path.read_bytes() == content + last[:kept] + b"\n" + ledger_line(entry("c"))
    with listening() as warnings:
        assert [each.key for each in read_ledger(path)] == ["a", *whole, "c"]
    assert len(warnings) == (not whole)


@pytest.mark.parametrize("value", [None, True, [1], "text", -5, 10**400, float("nan")])
@pytest.mark.parametrize(
    "name", [*LedgerEntry.model_fields, "messages", "mode", "rubric", "body", "reason"]
)
def test_a_line_that_was_edited_is_skipped_or_read_and_never_a_crash(path, name, value):
    fill(path, entry("a"), entry("b", error="timeout", cost=None))
    edited = []
    for line in path.read_text().splitlines():
        record = json.loads(line)
        for holder in (record, record["asked"], record["error"] or {}):
            if name in holder:
                holder[name] = value
                if value is None:
                    del holder[name]
        edited.append(json.dumps(record))
    path.write_text("\n".join(edited) + "\n")
    with listening() as warnings, Ledger(path) as ledger:
        assert 0 <= ledger.spent <= 1000
        assert estimates([], ledger.values()) == []
    kept = len([*read_ledger(path)])
    assert bool(warnings) == (kept < 2)


def test_a_line_that_is_not_whole_is_named(path):
    content = fill(path, entry("a"))
    path.write_bytes(content + b'{"recuse": 1, "key": "b"}\n{"recuse": 1}\n' + content)
    with listening() as warnings:
        assert len([*read_ledger(path)]) == 2
    said = "lines 2 and 3 are cut off or damaged, as by a kill, a full disk or an edit, and skipped"
    assert said in warnings[0]


def test_a_ledger_cut_in_its_first_line_is_still_one(path):
    content = fill(path, entry("a"))
    path.write_bytes(content[:5])
    with listening(), Ledger(path) as ledger:
        assert len(ledger) == 0


def test_another_file_is_never_written_to(path):
    path.parent.mkdir()
    path.write_bytes(b"judge,model,rating\n")
    with pytest.raises(ConfigError, match="this is no ledger"), Ledger(path):
        pass
    assert path.read_bytes() == b"judge,model,rating\n"


def test_a_ledger_of_a_later_version_is_not_guessed_at(path):
    content = fill(path, entry("a"))
    path.write_bytes(content + content.replace(b'{"recuse": 1', b'{"recuse": 2'))
    with pytest.raises(DataError, match=r"line 2: a later version"):
        list(read_ledger(path))


def hold(path, held):
    with Ledger(path):
        held.set()
        time.sleep(60)


def test_a_second_process_is_told_who_writes_until_that_is_killed(path):
    held = multiprocessing.Event()
    process = multiprocessing.Process(target=hold, args=(path, held))
    process.start()
    assert held.wait(30)
    told = rf"{process.pid}.*wait for it to end, or name another ledger"
    with pytest.raises(ConfigError, match=told), Ledger(path):
        pass
    assert list(read_ledger(path)) == []
    process.kill()
    process.join()
    fill(path, entry("a"))


def test_a_line_is_whole_after_one_that_had_no_room(path, monkeypatch):
    write = os.write

    def full(file, data):
        return write(file if len(data) > 20 else -1, data[:20])

    with Ledger(path) as ledger:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(DiskError):
            ledger.append([entry("a")])
        monkeypatch.undo()
        ledger.append([entry("b")])
        assert ledger["b"] == entry("b")
    assert path.read_bytes().splitlines(keepends=True)[1:] == [ledger_line(entry("b"))]


def test_a_ledger_counts_as_found_until_others_change_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    collect = {"prompts": "p.csv", "answers": "a.csv", "judges": {"j": {"model": "m"}}}
    study = Study(
        "asked", with_study(CONFIG, studies={"asked": {"title": "t", "collect": collect}})
    )
    ledger = Path("asked.ledger.jsonl")
    seen = Path(SEEN.format(study="asked"))
    absent = ledger_found(study)
    ledger.write_text("by a job")
    left = ledger_found(study)
    assert left != absent
    seen.parent.mkdir(parents=True)
    seen.write_text(json.dumps({"found": absent, "left": left}))
    assert ledger_found(study) == absent
    ledger.write_text("by others")
    assert ledger_found(study) not in (absent, left)
    for damaged in ("", "[]", "{}"):
        seen.write_text(damaged)
        assert ledger_found(study) not in (absent, left)


# With faults, log probabilities and a batch
OF_0_2 = ROOT / "tests" / "collect" / "data" / "ledger_of_0_2.jsonl"


def test_a_ledger_of_version_0_2_answers_what_it_answered(path):
    path.parent.mkdir()
    path.write_bytes(OF_0_2.read_bytes())
    url = "http://127.0.0.1:18765/v1"
    requests = [
        *plan(url, 6),
        *plan(url, 2, mode="logprobs", body={"logprobs": True, "top_logprobs": 5}),
        *plan(url, 4, judge="batched", batch=True, body={"temperature": 0.5})[:2],
    ]
    with listening() as warnings, Ledger(path) as ledger:
        assert_outcome(collect(requests, ledger), before=10, asked=0, missing=0)
        assert ledger.spent == pytest.approx(0.00042)
    assert not warnings
    assert [entry.usage.prompt_tokens for entry in answers_in(path).values()] == [13] * 10
    assert path.read_bytes() == OF_0_2.read_bytes()
