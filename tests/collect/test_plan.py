"""Requests of a plan: what judges are shown, in what order, and what makes two requests the
same.
"""

import json
from itertools import chain

import pandas as pd
import pytest
import yaml

from collecting import HERE, JUDGES
from recuse.base.errors import ConfigError, DataError
from recuse.collect.plan import RATINGS, VERDICTS, Plan
from recuse.collect.requests import Price
from recuse.collect.settings import Collect
from recuse.collect.texts import prices_in
from recuse.config.declared.sections import validated
from text_tables import cases

PROMPTS = "prompt,text\np1,What is a llama?\np2,Add 1 and {answer}.\np3,Third?\n"
ANSWERS = "prompt,model,text\n" + "".join(
    f'p{number},{model},"I am {model} of GPT-X, answer {number}{place}"\n'
    for number in (1, 2, 3)
    for place, model in enumerate(("gpt", "claude", "llama"))
)


@pytest.fixture
def plan(tmp_path):
    def plan(
        kind=RATINGS,
        prompts=PROMPTS,
        answers=ANSWERS,
        families=None,
        prices=None,
        seed=0,
        **collect,
    ):
        for name, content in (("prompts", prompts), ("answers", answers)):
            (tmp_path / f"{name}.csv").write_text(content)
        collect = {
            "prompts": str(tmp_path / "prompts.csv"),
            "answers": str(tmp_path / "answers.csv"),
            "judges": JUDGES,
            **collect,
        }
        asked = validated(Collect, collect, name="collect")
        return Plan.of("ours", kind, asked, seed=seed, families=families or {}, prices=prices)

    return plan


def requests_from(plan, **absent):
    return [*chain(*plan.waves(plan.answers({}, **absent)))]


def keys_from(plan):
    return [request.key for request in requests_from(plan)]


def shown(request):
    return "\n".join(message["content"] for message in request.messages)


def test_every_judge_rates_every_answer_by_every_criterion_once(plan):
    requests = requests_from(plan())
    assert len(requests) == 2 * 3 * 3
    assert {len(request.criteria) for request in requests} == {6}
    assert len({*keys_from(plan())}) == 18
    apart = requests_from(plan(together=False, rubrics=["Helpfulness", "Faithfulness"]))
    assert len(apart) == 2 * 3 * 3 * 2


def test_judges_see_no_name_of_a_model_in_an_answer_but_all_of_the_prompt_also_braces(plan):
    families = {"Alpacas": ["llama"]}
    for request in requests_from(plan(families=families)):
        text = shown(request)
        assert "[model] of [model], answer" in text
        for name in ("gpt", "claude", "GPT-X"):
            assert name not in text
        for prompt, words in (("p1", "What is a llama?"), ("p2", "Add 1 and {answer}.")):
            assert (words in text) == (request.about["prompt"] == prompt)
    assert "I am gpt of GPT-X" in "".join(map(shown, requests_from(plan(blind=False))))


def test_a_plan_makes_the_same_requests_in_whatever_order_its_tables_are(plan):
    keys = keys_from(plan())
    turned = plan(prompts=turned_round(PROMPTS), answers=turned_round(ANSWERS))
    assert sorted(keys) == sorted(keys_from(turned))
    assert keys_from(plan()) == keys
    assert keys_from(plan(seed=1)) != keys


def turned_round(table):
    """A table with its rows from the last to the first."""
    header, *rows = table.splitlines(keepends=True)
    return header + "".join(reversed(rows))


def test_whatever_could_change_an_answer_changes_the_key_and_nothing_else(plan):
    def keys(**collect):
        return {*keys_from(plan(rubrics=["Helpfulness"], **collect))}

    def with_settings(**settings):
        return {"judges": {name: {**entry, **settings} for name, entry in JUDGES.items()}}

    first = keys()
    for change in (
        with_settings(sampling={"temperature": 0}),
        with_settings(base_url="http://127.0.0.1:8/v1"),
        with_settings(model="other"),
        with_settings(mode="text"),
        {"wordings": ["examiner"]},
        {"criteria": {"Helpfulness": {"question": "Is it of use?"}}},
        {"blind": False},
    ):
        assert not first & keys(**change), change
    for change in (
        with_settings(concurrency=2, key="MY_KEY"),
        {"budget": 3, "ledger": "elsewhere.jsonl", "repair": False, "hidden": ["nobody"]},
        {"judges": {f"{name} renamed": entry for name, entry in JUDGES.items()}},
    ):
        assert keys(**change) == first, change
    assert len(keys(replicates=3)) == 3 * len(first)
    assert first < keys(replicates=3)
    assert first < keys(wordings=["plain", "reader"])


def test_the_order_of_criteria_varies_and_is_kept(plan):
    orders = set()
    for request in requests_from(plan()):
        places = [shown(request).index(f"{each.dimension}: ") for each in request.criteria]
        assert places == sorted(places), shown(request)
        orders.add(request.criteria)
    assert len(orders) > 10


def test_pairs_are_shown_in_both_orders_or_one_at_random(plan):
    both = requests_from(plan(VERDICTS))
    assert len(both) == 2 * 3 * 3 * 2
    for request in both:
        first, second = (request.about[f"model_{side}"] for side in request.about["order"])
        assert {first, second} <= {"gpt", "claude", "llama"}
    one = requests_from(plan(VERDICTS, orders="random"))
    assert len(one) == 2 * 3 * 3
    assert {request.about["order"] for request in one} == {"ab", "ba"}
    frame = pd.DataFrame(dict(request.about) for request in one)
    orders = frame.groupby(["prompt", "model_a", "model_b"])["order"]
    assert (orders.nunique() == 1).all()  # All judges see a pair in the same order.
    assert len(requests_from(plan(VERDICTS, against="llama"))) == 2 * 3 * 2 * 2


def test_the_papers_ask_one_criterion_at_a_time_in_their_own_words(plan):
    requests = requests_from(
        plan(wordings=["play_favorites"], rubrics=["Faithfulness", "Helpfulness"])
    )
    assert len(requests) == 2 * 3 * 3 * 2
    text = next(
        shown(request) for request in requests if request.criteria[0].dimension == "Faithfulness"
    )
    assert "Use the following format: Explanation: [Explanation], Answer: [Answer]" in text
    assert text.endswith("most is faithful\nall is faithful")
    assert all("response_format" not in request.body for request in requests)
    request, *_ = requests_from(plan(VERDICTS, wordings=["chen_explanation_first"]))
    assert request.messages[0]["role"] == "system"
    assert "~~~Answer2\n" in request.messages[1]["content"]


def test_schemas_allow_labels_alone(plan):
    request, *_ = requests_from(plan(rubrics=["Helpfulness"]))
    schema = request.body["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {"Helpfulness": {"type": "integer", "enum": [1, 2, 3, 4, 5]}}
    json.dumps(request.identity)


def test_each_answer_has_as_many_judges_as_the_design_says(plan):
    requests = requests_from(
        plan(
            design={"judges_per_answer": 1}, judges={"one": JUDGES["gpt"], "two": JUDGES["claude"]}
        )
    )
    assert len(requests) == 9
    assert len(requests_from(plan(design={"prompts": 2}))) == 2 * 2 * 3


# What is changed of a plan, and below it the message
FAULTY = r"""
{prompts: "prompt,text\np1,a\np1,b\n"}
    line 3: found a second text of p1; keep one
{prompts: "prompt,text\np1,\n"}
    line 2, column text: empty
{answers: "prompt,model,text\np9,gpt,x\n"}
    the prompt 'p9' is not in the table of prompts; known: p1
{answers: "prompt,model,text\np1,gpt,x\np1,gpt,y\n"}
    line 3: found a second text of gpt of p1; keep one
{answers: "prompt,who,text\np1,gpt,x\n"}
    column model: missing
{wordings: [plane]}
    'plane' is not one of the wordings for ratings; did you mean 'plain'
{rubrics: [helpfulnes]}
    'helpfulnes' is not one of the criteria; did you mean 'Helpfulness'
{templates: {mine: {template: "{prompt}"}}, wordings: [mine]}
    mine: 'answer' is not one of the texts in braces in the template
{templates: {mine: {template: "{prompt} {answer} {x}"}}, wordings: [mine]}
    mine: the template: 'x' is not one of what may be in braces; known: answer, criteria, labels, prompt, reply
{judges: {gpt: {model: gpt-x, mode: logprobs}}, criteria: {a: {question: "?", labels: [lo, hi]}}}
    label lo is more than one token
{judges: {gpt: {model: gpt-x, mode: logprobs}}, wordings: [play_favorites]}
    asks for more than a label
{writers: {gpt: {model: gpt-x}}}
    gpt: has answers in
{kind: verdicts, judges: {gpt: {model: gpt-x, mode: logprobs}}}
    a verdict has no expected value
{templates: {mine: {template: "{prompt} {answer} {definition}"}}, wordings: [mine]}
    'definition' is not one of what may be in braces
{kind: verdicts, templates: {mine: {template: "{prompt} {answer_1} {answer_2}"}}, wordings: [mine]}
    mine: labels: missing; write what a judge may answer
{templates: {mine: {template: "{prompt} {answer} {reply}"}}}
    'mine' is not one of the `wordings` to ask in
{rubrics: [Helpfulness], criteria: {wit: {question: "?"}}}
    'wit' is not one of the `rubrics`
{orders: random}
    orders: has no meaning for ratings
{kind: verdicts, rubrics: [Helpfulness]}
    rubrics: has no meaning for verdicts
{families: {A: [gpd]}}
    families: A: 'gpd' is not one of the judges and the models with answers
{hidden: [A]}
    hidden: A: would be taken out of every sentence
{design: {strata: dataset}}
    prompts.csv has no column dataset
"""


@pytest.mark.parametrize(("change", "message"), cases(FAULTY))
def test_what_does_not_fit_together_is_an_error(plan, change, message):
    with pytest.raises((ConfigError, DataError)) as error:
        requests_from(plan(**yaml.safe_load(change)))
    assert message in str(error.value)


def test_the_name_of_a_writer_at_its_server_is_hidden(plan):
    of_plan = plan(writers={"mine": {"model": "qwen3-small", "base_url": HERE}})
    assert (
        of_plan.blinded("I am Qwen3-small, not qwen3-smaller.")
        == "I am [model], not qwen3-smaller."
    )


def test_the_address_of_openai_may_be_written_or_left_out(plan):
    judges = {"gpt": {"model": "gpt-x"}}
    written = {"gpt": {"model": "gpt-x", "base_url": "https://api.openai.com/v1/"}}
    one, two = (plan(judges=each, rubrics=["Helpfulness"]) for each in (judges, written))
    assert keys_from(one) == keys_from(two)
    assert two.judges["gpt"].endpoint.key == "OPENAI_API_KEY"


def test_prices_are_by_the_models_names_at_their_servers(plan):
    prices = prices_in("prices.yaml", {"gpt-x": {"input": 2, "output": 8}})
    judges = {
        "gpt": {**JUDGES["gpt"], "base_url": "https://example.org/v1"},
        "claude": JUDGES["claude"],
    }
    of_plan = plan(prices=prices, judges=judges).judges
    assert of_plan["gpt"].endpoint.price == Price(2, 8)
    assert of_plan["claude"].endpoint.price == Price()  # on this machine
    with pytest.raises(ConfigError, match="gpt-x: found 3; write"):
        prices_in("prices.yaml", {"gpt-x": 3})


def test_answers_that_are_not_written_yet_stand_as_different_ones(plan):
    writers = {"one": {"model": "one", "base_url": HERE}, "two": {"model": "two", "base_url": HERE}}
    of_plan = plan(writers=writers)
    assert len(of_plan.answers({})) == 9
    requests = requests_from(of_plan, absent="word")
    assert len({request.key for request in requests}) == 2 * 5 * 3
