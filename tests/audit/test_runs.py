"""Audits over HTTP of a judge with known biases."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from audited import SEED, run, write_tables, written_plan
from biased_judge import BiasedJudge
from picked_rows import where
from recuse.audit.run import audit
from recuse.base.errors import CollectError, ConfigError
from recuse.base.tables import read_table


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    write_tables(40)


def effect(rows, treated, control, own=None):
    """Mean over prompts of treated - control, and its standard error."""
    frame = pd.DataFrame(rows).astype({"value": float})
    if own is not None:
        frame = frame[frame["own"] == own]
    unit = ["prompt", "model", "other", "order", "writer", "wording"]
    arms = frame.pivot(index=unit, columns="arm", values="value")
    means = (arms[treated] - arms[control]).groupby("prompt").mean()
    return means.mean(), means.sem()


def judged(biases, treatments, *, place=0.0, **settings):
    """Observations of a judge with these biases."""
    with BiasedJudge(biases, place=place, seed=SEED) as mock:
        return run(written_plan(mock, treatments, **settings))


OWN = "[This response was written by judge.]"
ANOTHER = "[This response was written by other.]"
ALONE = "ratings"
PAIRS = "verdicts"
# Of each kind: treatment, options, what is planted by texts, and of contrasts what the mean rating
# changes; the mean verdict changes by half of that
PLANTED = {
    ALONE: [
        ("label", {}, {OWN: 0.2, ANOTHER: -0.1}, {("own name", "another's name"): 0.3, ("own name", "no name"): 0.2}),
        ("majority", {}, {"is better": 0.2, "is worse": -0.3}, {("for", "none"): 0.2, ("none", "against"): 0.3}),
        ("distraction", {}, {"oranges": -0.2}, {("irrelevant sentence", "as it is"): -0.2}),
        ("authority", {}, {"Reference:": 0.3}, {("invented reference", "as it is"): 0.3}),
        ("gender", {"column": "she"}, {"As women": -0.3}, {("perturbed", "as it is"): -0.3}),
        ("agreed", {"template": "{answer}\n\n(All agree.)"}, {"(All": 0.2}, {("treated", "as it is"): 0.2}),
        ("mine", {"column": "longer"}, {"To go on.": 0.2}, {("treated", "as it is"): 0.2}),
    ],
    PAIRS: [
        ("label", {}, {OWN: 0.4, ANOTHER: -0.1}, {("own name", "another's name"): 0.5, ("own name", "no name"): 0.4}),
        ("length", {"column": "longer"}, {"To go on.": 0.4}, {("longer", "as it is"): 0.4}),
        ("majority", {}, {"is better": 0.3}, {("for", "none"): 0.3, ("none", "against"): 0.3}),
        ("rich_content", {}, {"🎉": 0.4}, {("rich content", "as it is"): 0.4}),
        ("error", {"column": "wrong"}, {"It is 4": -0.4}, {("with an error", "as it is"): -0.4}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("ask", PLANTED)
def test_planted_biases_are_found(ask):
    """By all treatments of one audit: each has texts that no other one shows."""
    treatments, biases = {}, {}
    for name, options, planted, _ in PLANTED[ask]:
        treatments[name] = options
        biases |= planted
    rows = judged(biases, treatments, ask=ask)
    for name, _, _, effects in PLANTED[ask]:
        for contrast, size in effects.items():
            found, error = effect(where(rows, treatment=name), *contrast)
            planted = size if ask == ALONE else size / 2
            assert abs(found - planted) < 3 * error, (name, contrast)
            assert abs(found) > 3 * error, (name, contrast)  # 0 is out of question


def test_a_planted_preference_for_the_first_place_is_found():
    rows = judged({}, ["order"], place=0.4, ask="verdicts")
    found, error = effect(rows, "first", "second")
    assert abs(found - 0.4) < 3 * error < 0.4
    assert {row["order"] for row in rows} == {""}


def test_style_is_own_answers_less_those_of_others():
    """Paraphrases cost all answers 0.1, and own answers their typical words, too."""
    arms = ("as it is", "paraphrased")
    with BiasedJudge({"Verily.": 0.3, "restated": -0.1}, seed=SEED) as mock:
        treatments = {"style": {"column": {"first": "other_words", "second": "longer"}}}
        rows = where(run(written_plan(mock, treatments)), writer="first")
        own, own_error = effect(rows, *arms, own="1")
        others, error = effect(rows, *arms, own="0")
        assert abs(own - others - 0.3) < 3 * math.hypot(own_error, error)
        restaters = {"w1": {"model": "mock-1", "base_url": mock.url}}
        rows = run(written_plan(mock, {"style": {"writers": ["w1"]}}, restaters=restaters))
    assert {row["writer"] for row in rows} == {"w1"}
    for whose in ("0", "1"):
        found, error = effect(rows, *arms, own=whose)
        assert abs(found - 0.1) < 3 * error


def test_both_answers_of_a_pair_are_treated_where_own_are_compared_with_others():
    treatments = {"style": {"column": "other_words"}}
    rows = judged({"Verily.": 0.4}, treatments, ask="verdicts", orders="random")
    assert len(rows) == 40 * 2 * 2
    own, error = effect(rows, "as it is", "paraphrased", own="1")
    assert abs(own - 0.2) < 3 * error < 0.2
    assert effect(rows, "as it is", "paraphrased", own="0")[0] == 0  # another's has no such words


def test_a_mitigation_is_the_difference_between_two_plans_on_the_same_prompts():
    with BiasedJudge({"oranges": -0.3}, seed=SEED) as mock:
        plain = run_plan(mock, "plain")
    with BiasedJudge({"oranges": -0.1}, seed=SEED) as mock:
        strict = written_plan(mock, ["distraction"])
        lines = [*audit(strict, against=plain)]
    (row,) = read_table("results/audits/plan/against_plain.csv")
    change = float(row["estimate"])
    error = float(row["standard_error"])
    assert abs(change - 0.2) < 3 * error < 0.2
    assert (row["before"], row["after"], row["prompts"]) == ("plain", "plan", "40")
    assert "distraction" in lines[-1]
    assert f"{100 * change:+.1f}" in lines[-1]


def run_plan(mock, name):
    """A plan with one treatment, under a name of its own, that was asked."""
    plan = replace(written_plan(mock, ["distraction"]), study=name)
    run(plan)
    return plan


@pytest.mark.parametrize("changed", [{"study": "plan"}, {"kind": "verdicts"}])
def test_plans_that_cannot_be_compared_are_refused_before_anything_is_asked(changed):
    with BiasedJudge({}, seed=SEED) as mock:
        plan = written_plan(mock, ["distraction"])
        other = SimpleNamespace(**{"study": "plain", "kind": plan.kind, **changed})
        with pytest.raises(ConfigError, match="found two plans"):
            run(plan, against=other)
        assert not mock.asked


def test_a_plan_that_was_never_asked_is_no_comparison():
    with BiasedJudge({}, seed=SEED) as mock:
        plan = written_plan(mock, ["distraction"])
        with pytest.raises(CollectError, match=r"run `recuse audit other.yaml` first"):
            run(plan, against=replace(plan, study="other"))
        assert not mock.asked


@pytest.mark.parametrize(
    ("width", "prompts"), [(0.3, 20), pytest.param(0.001, 40, marks=pytest.mark.long)]
)
def test_an_audit_stops_once_every_effect_is_known_well_enough(width, prompts):
    rows = judged({}, ["majority", "distraction"], design={"width": width})
    assert len({row["prompt"] for row in rows}) == prompts
