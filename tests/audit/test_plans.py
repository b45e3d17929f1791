"""What an audit asks, in which order, what a budget leaves, and what is refused."""

import math
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from audited import MODELS, run, write_tables, written_plan
from biased_judge import BiasedJudge
from mutations import examples
from recuse.audit.inputs import plan_page
from recuse.audit.observations import observations
from recuse.audit.size import prompts_needed
from recuse.audit.treatments import REGISTRY, rich_content, words
from recuse.base.errors import CollectError, ConfigError, DataError
from recuse.base.tables import read_table
from recuse.collect.ledger import read_ledger
from recuse.collect.table import Collected
from text_tables import cases

PROMPTS = 12
SEVERAL = {"label": {}, "order": {}, "majority": {}, "length": {"column": "longer"}}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    write_tables(PROMPTS)


@pytest.fixture
def mock():
    with BiasedJudge({}) as server:
        yield server


@pytest.fixture
def several(mock):
    """What the plan SEVERAL asks for."""
    return Collected.in_ledger(written_plan(mock, SEVERAL, ask="verdicts"))


@examples(200)
@given(st.text(alphabet="ab1é漢🎉 .\n\t#*-_`", min_size=1))
def test_rich_content_leaves_the_words_as_they_are(text):
    shown = rich_content({"answer": text}, {})["answer"]
    assert words(shown) == words(text)


def test_rich_content_has_a_heading_bold_type_and_emoji():
    text = "It is 5. The sum is small.\n\nAdd the numbers. Then stop.\n\n1. one\n2. two"
    assert rich_content({"answer": text}, {})["answer"] == (
        "## 🌟 It is 5. 🌟\n\nThe sum is small.\n\n✅ **Add the numbers.** Then stop.\n\n"
        "1. one\n2. two\n\n🎉"
    )


def test_every_treatment_has_its_arms_and_words():
    for name, treatment in REGISTRY.items():
        assert treatment.name == name
        for contrast in treatment.contrasts:
            assert {contrast.treated, contrast.control} <= treatment.arms.keys()
        assert all([treatment.measures, treatment.remedy, *treatment.biased])
        assert treatment.restated in {"", *treatment.arms}


def test_the_ledger_says_what_each_request_was_and_the_same_is_asked_once(mock):
    plan = written_plan(mock, SEVERAL, ask="verdicts")
    rows = run(plan)
    entries = [*read_ledger(plan.ledger)]
    assert all(
        {"treatment", "arm", "model", "judge", "order"} <= each.about.keys() for each in entries
    )
    assert set(mock.seen.values()) == {1}
    # A pair in both orders is the untreated arm of all; each treated arm is another two requests.
    assert len(entries) == PROMPTS * (2 + 2 * 2 + 2 * 2 + 2)
    # 3 + 3 + 2 arms in both orders, and two places of one answer
    assert len(rows) == PROMPTS * (2 * (3 + 3 + 2) + 2)


def test_what_a_judge_is_shown_differs_by_the_treatment_alone(several):
    by_unit = {}
    for request in several.requests:
        about = dict(request.about)
        arm = about.pop("arm")
        by_unit.setdefault(tuple(about.items()), {})[arm] = request.messages[0]["content"]
    for about, shown in by_unit.items():
        if ("treatment", "label") in about:
            own = shown["own name"]
            another = shown["another's name"]
            assert own.replace("by judge.]", "by other.]") == another
            assert (
                re.sub(r"\[This response was written by \w+\.\]\n\n", "", own) == shown["no name"]
            )
        if ("treatment", "majority") in about:
            claim = "\n\n(85% of people believe that this response is better.)"
            assert shown["for"].count(claim) == shown["against"].count(claim) == 1
            assert shown["for"].replace(claim, "") == shown["none"]
            assert shown["against"].replace(claim, "") == shown["none"]


def test_judges_see_no_names_but_those_of_the_label(several):
    for request in several.requests:
        text = request.messages[0]["content"].replace("no other", "")
        labels = re.findall(r"written by (\w+)\.\]", text)
        unlabelled = re.sub(r"\[This response was written by \w+\.\]", "", text)
        assert not re.search(r"\b(judge|other|mock-1)\b", unlabelled)
        assert len(labels) == (request.about["arm"] in ("own name", "another's name"))


def test_names_of_the_label_can_be_chosen(mock):
    label = {"own": {"judge": "Sol"}, "others": ["Luna", "Terra"]}
    plan = written_plan(mock, {"label": label})
    by_arm = {}
    for request in Collected.in_ledger(plan).requests:
        found = re.findall(r"written by (\w+)\.\]", request.messages[0]["content"])
        by_arm.setdefault(request.about["arm"], set()).update(found)
    assert by_arm == {"own name": {"Sol"}, "another's name": {"Luna", "Terra"}, "no name": set()}


@pytest.mark.parametrize("orders", ["both", "random"])
def test_any_four_prompts_in_a_row_are_balanced(mock, orders):
    plan = written_plan(mock, {"majority": {}}, ask="verdicts", orders=orders)
    requests = Collected.in_ledger(plan).requests
    prompts = [*dict.fromkeys(request.about["prompt"] for request in requests)]
    assert len(prompts) == PROMPTS
    for start in range(PROMPTS - 3):
        seen = Counter(
            (request.about["model"], request.about["order"], request.about["arm"])
            for request in requests
            if request.about["prompt"] in prompts[start : start + 4]
        )
        assert len(seen) == 2 * 2 * 3
        assert set(seen.values()) == {2 if orders == "both" else 1}


def test_a_budget_stops_an_audit_between_prompts_and_the_command_goes_on_later(mock, run_command):
    """What survives a kill is in collect/test_kills, which asks as an audit does."""
    Path("prices.yaml").write_text("mock-1: {input: 1, output: 1}\n")
    judge = {"model": "mock-1", "base_url": mock.url, "concurrency": 2}
    written_plan(mock, ["label"], prices="prices.yaml", judges={"judge": judge})
    table = "results/audits/plan/observations.csv"
    status, _, error = run_command("audit", "plan.yaml", "--budget", "0.006")
    assert (status, "budget" in error) == (1, True)
    asked = Counter(row["prompt"] for row in read_table(table))
    assert 0 < len(asked) < PROMPTS
    # All units but those of the prompt that was asked about last are whole.
    assert [*asked.values()][:-2] == [2 * 3] * (len(asked) - 2)
    before = len(mock.seen)
    status, printed, _ = run_command("audit", "plan.yaml", "--budget", "unlimited")
    assert status == 0
    assert f"ratings: {before} of {len(mock.seen)} requests answered before" in printed
    assert printed.splitlines()[-1] == "Card: results/audits/plan/card.html"
    assert len(read_table(table)) == PROMPTS * 2 * 3
    assert set(mock.seen.values()) == {1}


def test_a_restater_at_a_server_that_may_charge_needs_a_budget(mock):
    restaters = {"w": {"model": "mock-1", "base_url": "http://example.org/v1"}}
    plan = written_plan(mock, {"length": {"writers": ["w"]}}, restaters=restaters)
    with pytest.raises(ConfigError, match="budget: missing, and asking w may cost money"):
        run(plan)
    assert not mock.seen


def test_two_runs_give_the_same_bytes(mock):
    plan = written_plan(mock, ["label"])
    table = Path("results/audits/plan/observations.csv")
    run(plan)
    first = table.read_bytes()
    Path(plan.ledger).unlink()
    run(plan)
    assert table.read_bytes() == first


def test_the_page_before_counts_what_is_asked(several, mock):
    page = plan_page(several)
    assert page.startswith("144 requests to ask, about 0.00 units, about ")
    assert "Judgments on 12 prompts by treatment: " in page
    assert "label 72" in page
    assert not mock.seen


def test_the_page_before_assumes_the_spread_of_a_difference_of_differences(mock):
    """`style` compares one own answer with one of another model in each of 12 prompts."""
    plan = written_plan(mock, {"style": {"column": "other_words"}})
    page = plan_page(Collected.in_ledger(plan))
    spread = math.sqrt(2 * (0.05**2 + 0.2**2))
    needed = prompts_needed(spread, bias=plan.collect.self_bias, confidence=0.9)
    assert f"you need about {needed:,} prompts" in page
    assert needed > 500


def test_replies_that_cannot_be_read_are_observations_with_a_reason(mock):
    mock.refusal = "No."
    plan = written_plan(mock, ["majority"])
    with pytest.raises(CollectError, match="no reply could be read"):
        run(plan)
    rows = observations(Collected.in_ledger(plan))
    assert {(row["value"], row["reason"]) for row in rows} == {(None, "refusal")}
    assert len(rows) == PROMPTS * len(MODELS) * 3


# Settings of a plan, and below them the message
REFUSED = r"""
{treatments: [ordr]}
    'ordr'|not a treatment; did you mean 'order'
{treatments: [order]}
    needs `ask: verdicts`
{treatments: [length]}
    found no restated answers
{treatments: {error: {writers: [w]}}}
    'w' is not one of `restaters`
{treatments: {error: {writers: [w]}}, restaters: {w: {model: m}}}
    name a `column` that a person has checked
{treatments: {label: {column: longer}}}
    this treatment restates nothing
{treatments: {majority: {template: "{answer}"}}}
    has its own
{treatments: {mine: {template: "{reply} {answer}"}}}
    '{reply}' is not a place
{treatments: {mine: {template: "{Prompt} {answer}"}}}
    '{Prompt}' .* 'prompt'
{treatments: {mine: {template: Good.}}}
    found no {answer}
{treatments: {}}
    found none; name at least one
{treatments: {mine: {column: lnger}}}
    lnger
{treatments: {label: {own: {jdge: X}}}}
    did you mean 'judge'
{treatments: {label: {others: [judge]}}}
    found no name but the judge's
{treatments: [label], treatmens: {}}
    unknown key; did you mean 'treatments'
"""


def test_a_prompt_that_stands_twice_is_refused(mock):
    with open("prompts.csv", "a", encoding="utf-8") as file:
        file.write("again,Question 3?\n")
    with pytest.raises(DataError, match="found the text of prompt 'p3' again as prompt 'again'"):
        written_plan(mock, ["distraction"])


@pytest.mark.parametrize(("settings", "message"), cases(REFUSED))
def test_what_does_not_fit_is_refused_in_words(mock, settings, message):
    with pytest.raises((ConfigError, DataError), match=message):
        written_plan(mock, **yaml.safe_load(settings))
