"""The gate: its statuses by hand, and its errors by simulation."""

import json

import numpy as np
import pytest

from audit_worlds import BIASES, TREATMENTS, World
from recuse.audit.effects import effect_rows
from recuse.audit.gate import GatedBias, Status, gated
from recuse.base.reasons import Reason, because
from recuse.cli import main


def verdict(estimate=0.0, half=0.02, verdict="not shown", **others):
    """A row of `verdicts` in a summary."""
    row = {"term": "judge", "quantity": "length", "contrast": "length", "verdict": verdict}
    row |= {"estimate": estimate, "ci_low": estimate - half, "ci_high": estimate + half}
    return row | {"df": 99.0, "reason": None} | others


def inconclusive(reason, **facts):
    row = verdict(verdict="inconclusive", reason=because(reason, **facts))
    return row | dict.fromkeys(("estimate", "ci_low", "ci_high", "df"))


@pytest.fixture
def status(tmp_path, monkeypatch, capfd):
    """Run the command on rows; returns the exit status and what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(*rows, target="results/audits/plan/summary.json", name="plan.yaml", limit="0.05"):
        path = tmp_path / target
        path.parent.mkdir(parents=True, exist_ok=True)
        summary = {"study": "plan", "confidence": 0.9, "verdicts": rows}
        path.write_text(json.dumps(summary), "utf-8")
        (tmp_path / "plan.yaml").write_text("judges: {}\n", "utf-8")
        (tmp_path / "mine.yaml").write_text("studies: {a: {}}\n", "utf-8")
        monkeypatch.setattr("sys.argv", ["recuse", "gate", name, "--max", limit])
        return main()

    return run


def test_the_status_says_pass_fail_or_inconclusive(status):
    established = {"verdict": "established"}
    assert status(verdict(0.02), verdict(-0.01)) == Status.PASS
    assert status(verdict(0.02), verdict(0.2, **established)) == Status.FAIL
    assert status(verdict(0.02), verdict(-0.2, **established)) == Status.FAIL
    # Beyond, but its interval is not; within, but its interval is not
    assert status(verdict(0.06, **established)) == Status.INCONCLUSIVE
    assert status(verdict(0.04)) == Status.INCONCLUSIVE
    assert status(verdict(-0.04)) == Status.INCONCLUSIVE
    # In doubt
    assert status(verdict(0.2, verdict="likely")) == Status.INCONCLUSIVE


def test_what_could_not_be_tested_is_inconclusive_unless_there_is_nothing_to_test(status):
    few = inconclusive(Reason.FEW_QUESTIONS, questions=8, least=10)
    assert status(verdict(), few) == Status.INCONCLUSIVE
    assert status(verdict(), inconclusive(Reason.NO_OWN_ANSWERS)) == Status.PASS
    assert status(inconclusive(Reason.NO_OWN_ANSWERS)) == Status.INCONCLUSIVE


def test_marking_down_a_worse_answer_is_within_every_limit(status):
    error = {"verdict": "established", "worsening": True}
    assert status(verdict(-0.3, **error)) == Status.PASS
    assert status(verdict(0.3, **error)) == Status.FAIL


def test_a_study_without_degrees_of_freedom_takes_the_fewest(status):
    """With 4, and two tests, an error of half / 2.13 has to be below (0.2 - 0.05) / 2.78."""
    rows = [verdict(0.2, half, "established") for half in (0.1, 0.12)]
    for row, expected in zip(rows, (Status.FAIL, Status.INCONCLUSIVE), strict=True):
        del row["df"]
        assert status(row, verdict(), target="results/a/summary.json", name="mine.yaml") == expected


@pytest.mark.parametrize(
    ("name", "limit", "words"),
    [
        ("plan.yaml", "0", "write a number above 0"),
        ("absent.yaml", "0.05", "no such file"),
        ("results", "0.05", "make it with `recuse run` or `recuse audit`"),
        ("plan.json", "0.05", "found no summary"),
    ],
)
def test_a_wrong_command_is_neither_pass_nor_fail(status, tmp_path, capfd, name, limit, words):
    (tmp_path / "plan.json").write_text("[]", "utf-8")
    assert status(verdict(), name=name, limit=limit) == Status.USAGE
    assert words in capfd.readouterr().err


def test_biases_beyond_are_named_with_their_intervals(status, capfd):
    status(verdict(0.2, verdict="established"))
    lines = capfd.readouterr().out.splitlines()
    assert lines[:2] == [
        "fail: 1 bias tested, limit 0.05",
        "  beyond the limit: plan, judge, length: 0.200 (0.180 to 0.220)",
    ]


def shares(world, effects, limit, replicates):
    """Shares of cards that pass and that fail."""
    rng = np.random.default_rng(5)
    statuses = []
    for _ in range(replicates):
        rows = effect_rows(world.observations(rng, effects), TREATMENTS, confidence=0.9, seed=1)
        biases = [GatedBias("", {"reason": "", **row, "term": ""}, 0.9) for row in rows]
        statuses.append(gated(biases, limit)[0])
    return statuses.count(Status.PASS) / replicates, statuses.count(Status.FAIL) / replicates


def test_it_errs_as_seldom_as_it_says(long):
    """The worst worlds: one bias at the limit and the others small; all biases at the limit.

    A share may be above 0.05 by three Monte Carlo errors; by one in the ordinary run, where there
    are few cards and they are always the same.
    """
    replicates = 2000 if long else 60
    world = World(prompts=40, moved=0.0, noise=0.05, steps=100)
    latent = 0.08
    limit = world.truth(latent)
    one, _ = shares(world, dict.fromkeys(BIASES, 0.0) | {"label": latent}, limit, replicates)
    _, every = shares(world, dict.fromkeys(BIASES, latent), limit, replicates)
    print("passes", one, "fails", every)
    slack = (3 if long else 1) * np.sqrt(0.05 * 0.95 / replicates)
    assert one <= 0.05 + slack
    assert every <= 0.05 + slack


@pytest.mark.parametrize(
    "columns",
    [{"verdict": "sure"}, {"ci_low": None}, {"reason": "because"}, {"estimate": "much"}],
    ids=str,
)
def test_a_row_that_is_not_of_a_summary_is_named_with_its_file(status, capfd, columns):
    assert status(verdict() | columns) == Status.USAGE
    assert "plan/summary.json: found no summary of a study or of an audit" in capfd.readouterr().err


def test_a_summary_that_is_named_twice_counts_once(status, monkeypatch, capfd):
    status(verdict(0.02))
    monkeypatch.setattr("sys.argv", ["recuse", "gate", "plan.yaml", "plan.yaml", "--max", "0.05"])
    capfd.readouterr()
    assert main() == Status.PASS
    assert capfd.readouterr().out.startswith("pass: 1 bias tested")
