import base64
import io
import json
import re
import sys
import traceback
from contextlib import redirect_stderr
from dataclasses import replace
from itertools import pairwise

import pytest

from collecting import HERE, KEY, ask, assert_outcome, plan
from mock_server import FAULTS, REASONS, Mock
from recuse.base.errors import ConfigError
from recuse.collect.collection import GIVEN_UP
from recuse.collect.cost import worst_cost
from recuse.collect.ledger import answers_in, read_ledger
from recuse.collect.progress import progress, progress_line


def contents(path):
    return {
        entry.key: entry.response["choices"][0]["message"]["content"]
        for entry in read_ledger(path)
        if entry.reason is None
    }


def test_what_is_answered_is_not_asked_again_and_a_changed_request_is(run, mock):
    first = run(plan(mock.url, 6) + plan(mock.url, 6))
    assert_outcome(first, total=6, before=0, answered=6, missing=0, stopped="done")
    second = run(plan(mock.url, 10))
    assert_outcome(second, total=10, before=6, answered=4, asked=4, missing=0)
    assert set(mock.seen.values()) == {1}
    assert mock.done == {"answered": 10}
    changed = run(plan(mock.url, 10, body={"temperature": 0.5}))
    assert_outcome(changed, before=0, answered=10)
    assert len(contents(run.path)) == 20


def test_an_entry_says_what_was_asked_and_what_came(run, mock):
    about = {"prompt": "p1", "model": "GPT-4o"}
    request = replace(*plan(mock.url, 1), about=about)
    outcome = run([request])
    (entry,) = read_ledger(run.path)
    response = mock.completion({"model": "mock-1", "messages": request.messages})
    assert_outcome(entry, key=request.key, asked=request.identity, about=about)
    assert_outcome(entry, status=200, attempt=1, response=response)
    prompt, completion, _ = response["usage"].values()
    assert outcome.money == entry.cost == pytest.approx((prompt + 10 * completion) / 1e6)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_tried_again_and_counted_by_its_reason(run, mock, fault):
    mock.plan, mock.share, mock.seed = (fault,), 0.5, 3
    reason = REASONS[fault]
    outcome = run(plan(mock.url, 8, timeout=1.5 if reason == "timeout" else 10.0, attempts=9))
    times = mock.done[fault]
    assert times > 3
    assert_outcome(outcome, missing=0, failed={reason: times}, asked=8 + times)
    assert [entry.reason for entry in read_ledger(run.path)].count(reason) == times


def test_a_server_that_answers_nothing_is_not_asked_for_ever(run, mock):
    mock.always = "server error"
    outcome = run(plan(mock.url, 100, attempts=2, concurrency=4))
    assert outcome.stopped == "endpoint"
    assert 2 * GIVEN_UP <= outcome.asked < 100  # of 200 attempts
    assert "10 requests in a row got no answer; the last: server error" in outcome.messages[0]


def test_nobody_listening_is_said(run):
    outcome = run(plan(HERE, 1, attempts=2))
    # Nothing was sent, nothing can have been charged
    assert_outcome(outcome, failed={"connection": 2}, uncounted=0)


@pytest.mark.parametrize(
    ("fault", "reason", "words"),
    [("unauthorized", "not allowed", "valid key"), ("quota", "no quota", "is left")],
)
def test_a_key_that_is_not_accepted_stops_its_server_alone_and_is_named_by_its_variable(
    run, mock, fault, reason, words
):
    with Mock() as other:
        mock.always = fault
        outcome = run(plan(mock.url, 50, key="MOCK_KEY") + plan(other.url, 30, judge="other"))
    assert outcome.stopped == "auth"
    assert outcome.failed[reason] <= 8
    assert other.done == {"answered": 30}
    assert "environment variable MOCK_KEY" in outcome.messages[0]
    assert words in outcome.messages[0]
    assert KEY not in outcome.messages[0]


def test_a_judge_without_log_probabilities_is_not_asked_for_them_twice(run, mock):
    body = {"logprobs": True, "top_logprobs": 5}
    assert run(plan(mock.url, 3, mode="logprobs", body=body)).answered == 3
    mock.logprobs = ()
    outcome = run(plan(mock.url, 40, mode="logprobs", body=body, concurrency=1))
    assert_outcome(outcome, asked=1, failed={"no logprobs": 1}, stopped="endpoint")
    assert "gives no log probabilities; choose another mode for this judge" in outcome.messages[0]


@pytest.mark.parametrize(
    "model", ["mock-1", "mock-1-2026-01-31", "Mock-1:latest", "mock-1-002", "declared", None]
)
def test_a_snapshot_of_the_model_answers_for_it(run, mock, model):
    assert run_as(model, run, mock).answered == 1


@pytest.mark.parametrize("model", ["mock-1-mini", "mock-1.5", "mock-10", "mock-1-5", "mock"])
def test_another_model_does_not_answer_for_it(run, mock, model):
    assert_outcome(run_as(model, run, mock), answered=0, failed={"another model": 1})


def run_as(model, run, mock):
    completion = mock.completion
    mock.completion = lambda body: completion(body) | {"model": model}
    return run(plan(mock.url, 1, attempts=1, returned=["declared"]))


def test_what_follows_from_an_answer_is_asked_at_once_and_once_also_by_a_later_run(
    run, mock, tmp_path
):
    def follow(request, response):
        if request.repairs or response["choices"][0]["message"]["content"] in "123":
            return None
        said = {"role": "user", "content": f"repair {request.messages[-1]['content']}"}
        return replace(request, messages=[*request.messages, said], repairs=request.key)

    requests = plan(mock.url, 12, concurrency=1)
    run(requests)
    repaired = sum(content not in "123" for content in contents(run.path).values())
    assert 0 < repaired < 12
    later = run(requests, follow=follow)
    assert_outcome(later, total=12 + repaired, before=12, answered=repaired)
    assert run(requests, follow=follow).asked == 0
    assert set(mock.seen.values()) == {1}
    mock.log.clear()
    other = ask(tmp_path / "other.jsonl", requests, follow=follow)
    assert other.answered == 12 + repaired
    for before, text in pairwise(mock.log):
        if text.startswith("repair"):
            assert text == f"repair {before}"


def test_a_budget_is_never_passed_and_is_used_to_within_a_request(run, mock):
    # Of the first, nobody knows the cost
    mock.plan, mock.share, mock.seed = ("bad JSON", "server error"), 0.2, 5
    requests = plan(mock.url, 200, attempts=20)
    worst = 1e-6 * (12 / 2 + 8) + 20e-5  # of the longest request here
    outcome = run(requests, budget=0.005)
    entries = [*read_ledger(run.path)]
    unknown = [entry.at_most for entry in entries if entry.cost is None]
    spent = sum(entry.cost or 0 for entry in entries) + sum(unknown)
    assert unknown == pytest.approx([worst] * outcome.uncounted, rel=0.01)
    assert outcome.uncounted == outcome.failed["not JSON"] > 3
    assert outcome.stopped == "budget"
    assert outcome.missing > 0
    assert 0.005 - worst - 1e-9 <= spent <= 0.005
    assert run(requests, budget=0.005).asked == 0
    # What the ledger holds of other plans counts, too
    assert run(plan(mock.url, 1, judge="another"), budget=0.005).asked == 0
    assert "the next request could exceed the budget of 0.005" in outcome.messages[0]
    assert run(requests, budget=1.0).missing == 0


# One a line; HUGE is 10**400.
USAGES = """
[1]
"text"
7
null
{}
{"prompt_tokens": 13}
{"prompt_tokens": "13", "completion_tokens": "1"}
{"prompt_tokens": HUGE, "completion_tokens": 1}
{"prompt_tokens": 1e300, "completion_tokens": 1e300}
{"prompt_tokens": -1000000, "completion_tokens": 1}
{"prompt_tokens": 13, "completion_tokens": -1000000}
{"prompt_tokens": true, "completion_tokens": false}
{"prompt_tokens": 0, "completion_tokens": 0}
"""


@pytest.mark.parametrize("usage", USAGES.strip().splitlines())
def test_counts_that_cannot_be_true_count_at_the_worst_and_lose_no_answer(run, mock, usage):
    completion = mock.completion
    usage = json.loads(usage.replace("HUGE", "1" + 400 * "0"))
    mock.completion = lambda body: completion(body) | {"usage": usage}
    worst = worst_cost(*plan(mock.url, 1))
    outcome = run(plan(mock.url, 40), budget=10.5 * worst)
    assert_outcome(outcome, answered=10, uncounted=10, stopped="budget")
    assert answers_in(run.path).spent == pytest.approx(10 * worst)
    assert run(plan(mock.url, 228), budget=10.5 * worst).asked == 0


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_and_stops_its_server(run, mock, status):
    with Mock() as other:
        mock.redirect = status
        mock.always, mock.location = "redirect", f"{other.url}/chat/completions"
        outcome = run(plan(mock.url, 40, key="MOCK_KEY"))
        assert not other.seen
    assert_outcome(outcome, answered=0, stopped="endpoint")
    assert outcome.failed["redirected"] <= 8
    assert f"the server redirects to {mock.location}" in outcome.messages[0]


def test_a_status_that_another_attempt_meets_again_is_not_tried_again(run, mock):
    mock.always = "not implemented"
    outcome = run(plan(mock.url, 36, attempts=5))
    assert set(mock.seen.values()) == {1}
    assert outcome.asked == outcome.failed["refused by the server"] < GIVEN_UP + 8
    assert outcome.stopped == "endpoint"


@pytest.mark.parametrize("logprob", [1000, 0.5, float("nan"), float("inf"), "-1", True, None])
def test_log_probabilities_that_cannot_be_true_are_no_answer_now_or_in_an_old_ledger(
    run, mock, logprob
):
    requests = plan(mock.url, 1, mode="logprobs", body={"logprobs": True, "top_logprobs": 5})
    mock.logprobs = logprob, -3.0
    outcome = run(requests)
    assert_outcome(outcome, asked=1, failed={"invalid response": 1})
    content = run.path.read_text()
    # What earlier versions stored
    run.path.write_text(re.sub(r'"error": \{[^}]*\}', '"error": null', content))
    mock.logprobs = Mock.logprobs
    assert run(requests).answered == 1


def test_a_budget_needs_a_price_and_a_longest_answer(run, mock):
    with pytest.raises(ConfigError, match="a budget needs a price for mock-1"):
        run(plan(mock.url, 1, price=None), budget=1.0)
    with pytest.raises(ConfigError, match="`max_tokens`"):
        run(plan(mock.url, 1, body={"max_tokens": None}), budget=1.0)
    assert run(plan(mock.url, 1, price=None)).answered == 1
    assert mock.done == {"answered": 1}


def test_a_server_that_is_asked_too_much_is_asked_less_and_answers_all(run, mock):
    mock.at_once, mock.latency = 4, 0.01
    outcome = run(plan(mock.url, 150, concurrency=32, attempts=30))
    assert_outcome(outcome, missing=0, failed={"rate limit": mock.done["rate limit"]})
    # 28 at once before the first is known, and a few each time the limit is felt for
    assert outcome.failed["rate limit"] < 100


def test_a_server_that_wants_a_long_pause_is_left_to_a_later_run(run, mock):
    mock.always, mock.retry_after = "rate limit", "7200"
    outcome = run(plan(mock.url, 3))
    assert outcome.stopped == "endpoint"
    assert "asks to wait 2 h" in outcome.messages[0]


def test_no_key_is_in_ledger_messages_standard_error_or_traceback(run, mock):
    shown = io.StringIO()
    outcomes = []
    for fault in ("server error", "bad JSON", "bad request", "unauthorized", "quota", None):
        mock.always = fault
        with redirect_stderr(shown):
            show = progress(iter(range(0, 10_000, 60)).__next__)
            outcomes.append(run(plan(mock.url, 2, key="MOCK_KEY", attempts=2), progress=show))
    assert mock.keys == {f"Bearer {KEY}"}
    assert outcomes[-1].answered == 2
    with pytest.raises(TypeError) as caught:
        run(plan(mock.url, 1, key="MOCK_KEY", body={"max_tokens": "many"}), budget=1.0)
    shown.writelines(traceback.format_exception(caught.value))
    stored = run.path.read_bytes()
    assert stored.count(b"[MOCK_KEY]") > 4  # the server said the key each time
    everything = stored + repr(outcomes).encode() + shown.getvalue().encode()
    assert b"attempts failed" in everything
    for secret in (KEY, base64.b64encode(KEY.encode()).decode(), KEY[:12], json.dumps(KEY)[1:-1]):
        assert secret.encode() not in everything


def test_a_key_reaches_only_the_server_that_needs_it(run, mock, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_ORG_ID", KEY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Mine: {KEY}")
    assert run(plan(mock.url, 1)).answered == 1
    assert mock.keys == {None}
    assert not {"openai-organization", "x-mine"} & mock.headers


@pytest.mark.parametrize(
    ("settings", "environment", "words"),
    [
        ({"key": "MOCK_KEY"}, {}, "MOCK_KEY is not set"),
        ({"key": "MOCK_KEY"}, {"MOCK_KEY": f"{KEY}\n"}, "set it to the key alone"),
        ({"url": "http://localhost:port/v1"}, {}, "write it as in http://localhost:8000/v1"),
    ],
)
def test_an_endpoint_that_cannot_be_asked_is_said_before_anything_is(
    run, mock, settings, environment, words
):
    with pytest.raises(ConfigError) as caught:
        run(plan(**{"url": mock.url} | settings, number=1), environment=environment)
    assert words in str(caught.value)
    assert KEY not in str(caught.value)
    assert not mock.done


@pytest.mark.parametrize("path", ["/nowhere", "/etc/passwd"])
def test_certificates_that_cannot_be_read_are_named_by_their_variable(run, mock, monkeypatch, path):
    monkeypatch.setenv("SSL_CERT_FILE", path)
    with pytest.raises(
        ConfigError, match=r"certificates for HTTPS cannot be read .*variables SSL_CERT_FILE"
    ):
        run(plan(mock.url, 1))


def test_the_client_is_asked_for_where_it_is_needed(run, mock, monkeypatch):
    requests = plan(mock.url, 1, key="MOCK_KEY")
    run(requests)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert run(requests, environment={}).before == 1  # It needs no key, either.
    with pytest.raises(ConfigError, match=r"pip install 'recuse\[collect\]'"):
        run(plan(mock.url, 2))


def test_a_fault_of_what_reads_the_answers_ends_the_run_with_the_ledger_whole(run, mock):
    def follow(request, response):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(plan(mock.url, 3), follow=follow)
    assert any(entry.reason is None for entry in read_ledger(run.path))


def test_progress_says_money_and_the_time_left(run, mock):
    outcomes = []
    run(plan(mock.url, 4), progress=lambda outcome: outcomes.append(replace(outcome)))
    assert [outcome.answered for outcome in outcomes] == [1, 2, 3, 4, 4]
    line = progress_line(replace(outcomes[1], seconds=2.0, money=0.25))
    assert line == "collect: 2 of 4 answers, 0.25 units spent, 1 answers/s, about 2 s left"
