"""From a plan and its ledger to rows: every rating that was asked for is there, or missing with its
reason.
"""

import csv
import json
import math
from collections import Counter
from pathlib import Path

import pytest

from collecting import JUDGES, chat, entry_of_request
from recuse.base.errors import CollectError, ConfigError
from recuse.collect.dry_run import page_before
from recuse.collect.imported import collected_file, with_imports
from recuse.collect.ledger import Ledger, answers_in
from recuse.collect.parse import REASONS, repair
from recuse.collect.plan import RATINGS, VERDICTS, Plan
from recuse.collect.settings import Collect
from recuse.collect.study import merged_in_words, spending_limit
from recuse.collect.table import Collected
from recuse.config.declared.sections import validated
from recuse.config.load import load
from recuse.config.studies import studies_in
from recuse.inputs import inputs_in
from recuse.pipeline import in_folder, with_imported_files

MODELS = ("gpt", "claude", "llama")


def write_texts(number, models=MODELS, prompt="Prompt {n}?", answer="answer {n} {place}"):
    """So many prompts of two datasets, and an answer of each model to each."""
    prompts = [f"p{n},{prompt.format(n=n)},d{n % 2}" for n in range(number)]
    answers = [
        f"p{n},{model},{answer.format(model=model, n=n, place=place)}"
        for n in range(number)
        for place, model in enumerate(models)
    ]
    Path("prompts.csv").write_text("\n".join(["prompt,text,dataset", *prompts]))
    Path("answers.csv").write_text("\n".join(["prompt,model,text", *answers]))


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_texts(6)
    return {
        "prompts": "prompts.csv",
        "answers": "answers.csv",
        "judges": JUDGES,
        "rubrics": ["Helpfulness", "Faithfulness"],
    }


def valid_plan(settings, kind=RATINGS):
    return Plan.of("ours", kind, validated(Collect, settings), seed=0, families={})


def answered(request, content, finish="stop"):
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return entry_of_request(request, chat(content, finish) | {"usage": usage}, cost=0.5)


def all_answered(requests):
    """Entries of the ledger by key."""
    content = '{"Helpfulness": 2, "Faithfulness": 5}'
    return {request.key: answered(request, content) for request in requests}


def rows_from(collected, path="rows.csv"):
    collected.write(path)
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_each_rating_is_there_or_missing_with_its_reason(settings):
    """Of 36 requests, a quarter is read, off the scale, the same but repaired, and cut off; the
    last one has no answer.
    """
    plan = valid_plan(settings)
    (requests,) = Collected(plan, {}).waves
    off_the_scale = ('{"Helpfulness": 2, "Faithfulness": 9}', "stop")
    read = ('{"Helpfulness": 2, "Faithfulness": 5}', "stop")
    replies = [read, off_the_scale, off_the_scale, ("{", "length")]
    entries = {}
    for number, request in enumerate(requests[:-1]):
        entries[request.key] = answered(request, *replies[number % 4])
        if number % 4 == 2:
            second = repair(request, entries[request.key].response)
            # What was read at first counts: there is no 4.
            entries[second.key] = answered(second, '{"Helpfulness": 4, "Faithfulness": 3}')
    rows = rows_from(Collected(plan, entries))
    assert Counter(row["rating"] for row in rows) == {
        "2": 27,
        "5": 9,
        "off the scale": 9,
        "3": 9,
        "truncated": 16,
        "not answered": 2,
    }
    assert {row["dataset"] for row in rows} == {"d0", "d1"}
    counts = Collected(plan, entries).counts()
    totals = [sum(row[name] for row in counts) for name in ("ratings", "repaired", "money")]
    assert totals == [45, 9, 0.5 * len(entries)]


def test_verdicts_name_the_answer_and_not_its_place(settings):
    plan = valid_plan({key: value for key, value in settings.items() if key != "rubrics"}, VERDICTS)
    (requests,) = Collected(plan, {}).waves
    entries = {}
    for request in requests:  # the longest name wins
        first, second = (len(request.about[f"model_{side}"]) for side in request.about["order"])
        verdict = {"verdict": "1" if first > second else "2"}
        entries[request.key] = answered(request, json.dumps(verdict))
    for row in rows_from(Collected(plan, entries)):
        assert row["outcome"] == max("ab", key=lambda side: len(row[f"model_{side}"]))


def test_a_plan_that_stopped_early_asks_for_no_more_than_it_asked(settings):
    write_texts(60, MODELS[:2])
    plan = valid_plan({**settings, "design": {"width": 0.05}})
    waves = Collected(plan, {}).waves
    assert [len(wave) // 4 for wave in waves] == [20, 10, 15, 15]
    entries = all_answered(waves[0] + waves[1])
    assert len(rows_from(Collected(plan, entries))) == 30 * 4 * 2


def test_answers_that_blinding_makes_the_same_are_said(settings):
    write_texts(6, answer="I am {model}.")
    plan = valid_plan(settings)
    collected = Collected(plan, answers_in(plan.ledger))
    (line,) = merged_in_words(plan, collected.waves[0], collected.answers)
    assert line.startswith(
        "36 judgments take 12 requests, because a judge is asked once about identical texts"
    )
    assert "; 2 of 3 different answers become identical when names are removed (`blind`)." in line
    page = page_before(collected, families={}, human_scores=True, power=0.8, confidence=0.9)
    assert line in page
    assert len(page.splitlines()) <= 25
    assert " units" in page.splitlines()[0]
    assert merged_in_words(valid_plan({**settings, "blind": False}), [], []) == []


def test_a_later_part_with_a_request_of_an_earlier_one_has_not_begun(settings):
    write_texts(60, MODELS[:2], "The same?", "{model}")
    plan = valid_plan({**settings, "design": {"width": 0.05}})
    first, *_ = Collected(plan, {}).waves
    assert Collected(plan, all_answered(first)).requests == first


def test_a_budget_is_asked_for_by_every_server_that_may_charge(settings):
    """Also if a writer on this machine has the name of the judge."""
    assert spending_limit(valid_plan(settings)) is None
    judge = {"model": "gpt-x", "base_url": "https://example.org/v1", "key": "SOME_KEY"}
    writer = {"model": "tiny", "base_url": "http://127.0.0.1:9/v1"}
    plan = valid_plan({**settings, "judges": {"mine": judge}, "writers": {"mine": writer}})
    with pytest.raises(ConfigError, match="budget: missing, and asking mine may cost money"):
        spending_limit(plan)
    for budget in (-1, math.nan, math.inf):
        with pytest.raises(ConfigError, match="write an amount of money from 0"):
            spending_limit(plan, budget)
    assert spending_limit(plan, "unlimited") is None
    assert spending_limit(valid_plan({**settings, "budget": 3})) == 3


def test_a_study_that_asks_judges_is_an_import_of_what_its_ledger_holds(settings):
    Path("mine.yaml").write_text(
        json.dumps({"studies": {"ours": {"title": "t", "collect": settings}}})
    )
    config = load("mine.yaml")
    study = config.as_written()["studies"]["ours"]
    assert study["scales"] == {"Helpfulness": [1, 5], "Faithfulness": [1, 5]}
    assert study["import"] == {
        "files": collected_file("ours"),
        "format": "table",
        "missing": [*REASONS],
    }
    assert with_imports(config.as_written())["studies"]["ours"] == study
    (inputs,) = inputs_in(studies_in(config), {"studies": {"ours": study}})
    with (
        in_folder(inputs) as folder,
        pytest.raises(CollectError, match=r"holds no answer .* run `recuse collect` first"),
    ):
        with_imported_files(inputs, folder)
    plan = valid_plan(settings)
    (requests,) = Collected(plan, {}).waves
    with Ledger(plan.ledger) as ledger:
        ledger.append(all_answered(requests).values())
    with in_folder(inputs) as folder:
        counts = Path(f"{folder}/imported.csv")
        with_imported_files(inputs, folder)
        assert "ours" in counts.read_text()
    assert not Path("results").exists()


@pytest.mark.parametrize(
    "address", ["http://user:secret@host/v1", "http://host/v1?key=secret", "localhost:8000/v1"]
)
def test_an_address_with_a_password_or_a_query_is_refused_with_the_settings(settings, address):
    settings["judges"] = {"gpt": {"model": "gpt-x", "base_url": address}}
    with pytest.raises(ConfigError, match="judges: gpt: base_url"):
        with_imports({"studies": {"ours": {"title": "t", "collect": settings}}})


def test_scales_follow_from_wordings_which_must_agree(settings):
    def scales(**change):
        return with_imports({"studies": {"ours": {"collect": {**settings, **change}}}})["studies"][
            "ours"
        ]["scales"]

    assert scales(wordings=["play_favorites"]) == {"Helpfulness": [0, 6], "Faithfulness": [0, 4]}
    assert scales(
        criteria={"Tone": {"question": "?", "labels": ["a", "b", "c"], "low": 0}}, rubrics=["Tone"]
    ) == {"Tone": [0, 2]}
    with pytest.raises(
        ConfigError,
        match=r"studies: ours: .* Helpfulness is rated from 1 to 5 in plain and from 0 to 6",
    ):
        scales(wordings=["plain", "play_favorites"])
