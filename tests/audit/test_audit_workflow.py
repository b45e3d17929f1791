"""An audit by the workflow: the same results as by the command, and nothing is asked twice."""

import shutil
from pathlib import Path

import pytest

from audited import write_tables, written_plan
from biased_judge import BiasedJudge
from recuse.collect.ledger import read_ledger
from workflow_runs import build, copy_project, snakemake

pytestmark = pytest.mark.workflow
TARGET = "results/audits/plan/card.html"


def test_an_audit_by_the_workflow(tmp_path, monkeypatch, long):
    """Failed jobs and what reruns are asked with --long alone: a ledger outlives a failed job in
    test_collect_workflow, its answers are not asked again in test_plans, and what reruns after a
    change is in test_reruns.
    """
    folder = copy_project(tmp_path)
    monkeypatch.chdir(folder)
    write_tables(6)
    with BiasedJudge({}) as mock:
        judge = {"model": "mock-1", "base_url": mock.url, "attempts": 2}  # and little to wait for
        treatments = {"label": {}, "length": {"column": "longer"}}
        plan = written_plan(mock, treatments, judges={"judge": judge})
        if long:
            mock.always = "server error"
            failed = snakemake(folder, "--cores", "1", TARGET)
            assert failed.returncode == 1
            assert "requests in a row got no answer" in failed.stderr
            mock.always = None
        build(folder, "--cores", "1", TARGET)
    asked = len([entry for entry in read_ledger(plan.ledger) if entry.reason is None])
    assert asked == 6 * 2 * (3 + 1)
    if not long:
        return
    again = snakemake(folder, "--cores", "1", TARGET)  # no server
    assert "Nothing to be done" in again.stdout + again.stderr
    shutil.copy(TARGET, "before.csv")
    Path("answers.csv").write_text(Path("answers.csv").read_text() + "\n")
    build(folder, "--cores", "1", TARGET)  # the same answers, so nothing to ask
    assert Path(TARGET).read_bytes() == Path("before.csv").read_bytes()
