"""Judges asked by the command and by the workflow: the ledger outlives a failed job, and nothing in
it is asked twice.
"""

import json
from functools import partial

import pytest

from mock_server import Mock
from recuse.base.tables import read_table
from workflow_runs import assert_success, copy_project, snakemake

pytestmark = pytest.mark.workflow
TARGETS = ("results/ours/tables/imported.csv", "results/ours/tables/collected.csv")
MODELS = ("one", "two", "three")
SECRET = "sk-4f1c0ffee5ecret9"


def write_plan(folder, mock, number=8, **collect):
    """Write a plan for this number of prompts; how many requests it takes."""
    prompts = [f"p{n},Question {n}?" for n in range(number)]
    (folder / "prompts.csv").write_text("\n".join(["prompt,text", *prompts]) + "\n")
    answers = [
        f"p{n},{model},answer {n} by number {place}"
        for n in range(number)
        for place, model in enumerate(MODELS)
    ]
    (folder / "answers.csv").write_text("\n".join(["prompt,model,text", *answers]) + "\n")
    endpoint = {"model": "mock-1", "base_url": mock.url, "key": "MOCK_KEY", "attempts": 2}
    judges = {
        name: {**endpoint, "sampling": {"temperature": number}}
        for number, name in enumerate(("one", "two"))
    }
    collect = {
        "prompts": "prompts.csv",
        "answers": "answers.csv",
        "judges": judges,
        "rubrics": ["Helpfulness"],
        **collect,
    }
    (folder / "plan.yaml").write_text(
        json.dumps({"studies": {"ours": {"title": "t", "collect": collect}}})
    )
    return 2 * 3 * number


def test_from_prompts_and_answers_to_ratings_by_the_workflow(tmp_path, run_command, monkeypatch):
    folder = copy_project(tmp_path)
    with Mock() as mock:
        number = write_plan(folder, mock)
        mock.always = "server error"
        run = partial(snakemake, folder, "--cores", "1", *TARGETS, configs=["plan.yaml"])
        failed = run(MOCK_KEY=SECRET)
        assert failed.returncode == 1
        assert "requests in a row got no answer" in failed.stderr
        lines = (folder / "ours.ledger.jsonl").read_text().splitlines()
        assert lines
        mock.always, mock.plan, mock.share = None, ["bad request"], 0.3
        partly = run(MOCK_KEY=SECRET)
        assert_success(partly)
        missing = sum(int(row["not_answered"]) for row in read_table(folder / TARGETS[1]))
        assert 0 < missing < number
        mock.share = 0
        with monkeypatch.context() as patch:
            patch.setenv("MOCK_KEY", SECRET)
            assert run_command("collect", "plan.yaml")[0] == 0
    # No server and no key: nothing is left to ask
    done = run()
    assert_success(done)
    (imported, *_) = read_table(folder / TARGETS[0])
    assert (imported["kind"], int(imported["n"])) == ("rows", number)
    assert sum(int(row["ratings"]) for row in read_table(folder / TARGETS[1])) == number
    ledger = (folder / "ours.ledger.jsonl").read_text()
    assert ledger.splitlines()[: len(lines)] == lines
    again = run("-n")
    assert "Nothing to be done" in again.stdout + again.stderr
    for path in [*folder.rglob("*")]:
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
    for run in (failed, partly, done):
        assert SECRET not in run.stderr + run.stdout


def test_the_command_asks_once_and_other_commands_read_the_ledger(
    tmp_path, run_command, monkeypatch
):
    with Mock() as mock, monkeypatch.context() as patch:
        number = write_plan(tmp_path, mock, wordings=["plain", "reader"])
        patch.setenv("MOCK_KEY", SECRET)
        status, page, _ = run_command("collect", "plan.yaml", "--dry-run")
        assert status == 0
        assert f"{2 * number} requests to ask" in page
        assert not (tmp_path / "ours.ledger.jsonl").exists()
        status, page, _ = run_command("collect", "plan.yaml")
        assert status == 0
        assert f"0 of {2 * number} requests answered before, {2 * number} now" in page
    status, page, _ = run_command("collect", "plan.yaml")
    assert status == 0
    assert f"{2 * number} of {2 * number} requests answered before, 0 now" in page
    assert run_command("import", "plan.yaml", "--output", "all.csv")[0] == 0
    rows = read_table(tmp_path / "all.csv")
    assert len(rows) == 2 * number
    assert {row["wording"] for row in rows} == {"plain", "reader"}
    assert not (tmp_path / "results").exists()


def test_answers_that_are_cut_off_are_said(tmp_path, run_command, monkeypatch):
    monkeypatch.setenv("MOCK_KEY", SECRET)
    with Mock() as mock:
        write_plan(
            tmp_path,
            mock,
            writers={
                "four": {"model": "mock-1", "base_url": mock.url, "sampling": {"max_tokens": 5}}
            },
        )
        mock.finish = "length"
        status, page, errors = run_command("collect", "plan.yaml")
    assert status == 1
    assert "ours.ledger.jsonl: no reply could be read; look at them" in errors
    assert "answers: 0 of 8 requests answered before, 8 now" in page
    assert "ours.ledger.jsonl: 8 answers by four: cut off at the limit of tokens" in errors
    assert "one: 0 of 32 read; missing: truncated 32" in page


def test_a_design_by_width_stops_early(tmp_path, run_command):
    with Mock() as mock:
        judges = {name: {"model": f"mock-{name}", "base_url": mock.url} for name in ("one", "two")}
        write_plan(tmp_path, mock, 60, judges=judges, design={"width": 0.9})
        status, page, _ = run_command("collect", "plan.yaml")
    assert status == 0
    asked = page.count("ratings: ")
    assert 1 <= asked < 4
    assert f"one: {[60, 90, 135][asked - 1]} of" in page
