"""What a collection will take: counts, tokens, money and time by hand, learnt from the ledger, and
the page.
"""

import json
from dataclasses import replace

import pytest

from collecting import assert_outcome, entry_of_request
from recuse.collect.cost import tokens_in, worst_cost
from recuse.collect.estimate import (
    ANSWER,
    RATING,
    SECONDS,
    TOKENS_PER_SECOND,
    cost_page,
    estimates,
    total,
)
from recuse.collect.requests import LOGPROBS, NUMBER, SCHEMA, Criterion, Endpoint, Price, Request

PRICE = Price(input=2.0, output=10.0)
CRITERIA = [Criterion("tone", "How kind?", "12345"), Criterion("use", "How useful?", "12345")]
JUDGE = Endpoint(
    "one", "model-1", base_url="http://host:80/v1", key="KEY_OF_ONE", price=PRICE, concurrency=4
)


def request(number, endpoint=JUDGE, *, criteria=CRITERIA, mode=SCHEMA, text="Rate this answer."):
    messages = [{"role": "user", "content": f"{text} {number:>4}"}]
    body = {"max_tokens": 100, "temperature": 0}
    return Request(
        endpoint, messages, body, criteria, mode, about={"prompt": f"p{number}", "model": "m"}
    )


def entry(asked, *, out=20, into=None, seconds=3.0):
    usage = {"prompt_tokens": into or tokens_in(asked), "completion_tokens": out}
    response = {"choices": [{"message": {}}], "usage": usage}
    return entry_of_request(asked, response, seconds=seconds, cost=0.01)


PLAN = [request(number) for number in range(10)]


def test_without_a_ledger_tokens_money_and_time_are_by_stated_defaults():
    (each,) = estimates([*PLAN, PLAN[0]], [])
    into = sum(map(tokens_in, PLAN))
    out = 10 * 2 * RATING[SCHEMA]
    assert_outcome(each, judge="one", requests=10, answered=0, left=10, learnt=False)
    assert_outcome(each, tokens_in=into, tokens_out=out)
    assert each.money == pytest.approx((2 * into + 10 * out) / 1e6)
    assert each.most == pytest.approx(sum(map(worst_cost, PLAN)))
    seconds = 10 * SECONDS + out / TOKENS_PER_SECOND
    assert each.minutes == pytest.approx(seconds / 4 / 60)


@pytest.mark.parametrize(
    ("criteria", "mode", "tokens"),
    [(CRITERIA, NUMBER, 2 * RATING[NUMBER]), (CRITERIA[:1], LOGPROBS, 1), ([], SCHEMA, 100)],
)
def test_defaults_are_those_of_the_mode_and_no_more_than_allowed(criteria, mode, tokens):
    (each,) = estimates([request(0, criteria=criteria, mode=mode)], [])
    assert each.tokens_out == tokens
    assert ANSWER > 100


def test_answers_in_the_ledger_are_not_asked_again_and_tell_what_others_take():
    done = [entry(PLAN[0], out=10, seconds=2.0), entry(PLAN[1], out=30, seconds=4.0)]
    (each,) = estimates(PLAN, done)
    into = sum(map(tokens_in, PLAN[2:]))
    assert_outcome(each, requests=10, answered=2, left=8, learnt=True)
    assert_outcome(each, tokens_in=into, tokens_out=8 * 20)
    assert each.minutes == pytest.approx(8 * 3.0 / 4 / 60)
    (dearer,) = estimates(PLAN, [entry(PLAN[0], into=2 * tokens_in(PLAN[0]))])
    assert dearer.tokens_in > 1.5 * each.tokens_in / 8 * 9


def test_answers_of_another_mode_number_of_criteria_or_judge_tell_nothing():
    others = [
        request(0, mode=NUMBER),
        request(0, criteria=CRITERIA[:1]),
        request(0, replace(JUDGE, name="two", model="model-2")),
    ]
    (each,) = estimates(PLAN, [entry(other, out=90) for other in others])
    assert_outcome(each, tokens_out=10 * 2 * RATING[SCHEMA], learnt=False)


def test_the_slowest_limit_decides():
    def minutes(**limits):
        slow = replace(JUDGE, concurrency=1000, **limits)
        (each,) = estimates([request(number, slow) for number in range(60)], [])
        return each.minutes, each.tokens_in + each.tokens_out

    assert minutes(requests_per_minute=10)[0] == 6
    taken, tokens = minutes(tokens_per_minute=100)
    assert taken == pytest.approx(tokens / 100)
    assert minutes(requests_per_minute=10, tokens_per_minute=100)[0] == pytest.approx(tokens / 100)
    assert minutes(batch=True)[0] is None


def test_all_judges_answer_at_once_and_what_is_unknown_of_one_is_unknown_of_all():
    other = replace(JUDGE, name="two", requests_per_minute=1.0)
    of_judges = estimates([*PLAN, *(request(number, other) for number in range(5))], [])
    money = pytest.approx(sum(each.money for each in of_judges))
    assert_outcome(total(of_judges), requests=15, left=15, money=money, minutes=5)
    unpriced = replace(other, name="three", price=None)
    of_judges = estimates([*PLAN, request(0, unpriced)], [])
    assert_outcome(total(of_judges), money=None, most=None)
    assert "an unknown sum" in cost_page(of_judges, PLAN[0])


@pytest.mark.parametrize(("judges", "rows"), [(1, 1), (3, 4), (8, 9), (40, 9)])
def test_the_page_has_25_lines_whatever_the_plan(judges, rows):
    plan = [
        request(0, replace(JUDGE, name=f"judge {number}"), text="line\n" * 50)
        for number in range(judges)
    ]
    lines = cost_page(estimates(plan, []), plan[0], spent=1.0, notes=["note"] * 6).splitlines()
    assert len(lines) == 25
    assert lines[-1].endswith(" lines more")
    assert lines[3 + rows] == ""
    assert judges == 1 or lines[2 + rows].split()[:2] == ["all", str(judges)]
    assert judges < 40 or lines[1 + rows].split()[:3] == ["33", "more", "33"]


def test_the_page_shows_a_request_and_no_secret(monkeypatch):
    secret = 'sk-"e"-1234567890'
    monkeypatch.setenv("KEY_OF_ONE", secret)
    asked = request(0, text=f"Rate \u202e this; {secret}")
    text = cost_page(estimates([asked], []), asked)
    assert secret not in text
    assert json.dumps(secret)[1:-1] not in text
    assert "\u202e" not in text
    assert text.splitlines()[-2:] == [
        "The first request, to model-1 at http://host:80/v1, about prompt p0, model m:",
        "user: Rate ⟨U+202E⟩ this; [KEY_OF_ONE]    0",
    ]


def test_the_page_says_what_is_left_and_on_what_it_rests():
    lines = cost_page(estimates(PLAN, []), PLAN[0]).splitlines()
    assert lines[0].startswith("10 requests to ask, about 0.00")
    assert lines[0].endswith(" units, about 4 s.")
    assert (
        " ".join(lines[2].split())
        == "requests answered left tokens in tokens out money most minutes"
    )
    assert lines[3].split()[:4] == ["one", "10", "0", "10"]
    assert any(line.startswith("Tokens of one are guesses") for line in lines)
    learnt = cost_page(estimates(PLAN, [entry(PLAN[0])]), PLAN[0], spent=0.01)
    assert "guesses" not in learnt
    assert "Spent so far, by the ledger: 0.0100 units." in learnt
    done = cost_page(estimates(PLAN, map(entry, PLAN)), PLAN[0])
    assert done.startswith("Nothing is left to ask: 10 requests, all answered.\n")
