import pytest

from collecting import entry_of_request
from recuse.collect.cost import characters_per_token, cost, most_out, tokens_in, worst_cost
from recuse.collect.requests import Endpoint, Price, Request

PRICE = Price(input=2.0, output=10.0, batch=0.5)
MESSAGES = [{"role": "system", "content": "x" * 100}, {"role": "user", "content": "é" * 50}]


def request(price=PRICE, batch=False, **body):
    return Request(Endpoint("judge", "m", price=price, batch=batch), MESSAGES, body)


def test_tokens_are_those_of_messages_and_schema():
    assert tokens_in(request()) == 50 + 16
    assert tokens_in(request(), 3.0) == 67 + 16
    assert tokens_in(request(response_format={"type": "json"})) == 54 + 16


def test_the_most_tokens_out_are_those_of_the_body():
    assert most_out(request()) is None
    assert most_out(request(max_tokens=20)) == 20
    assert most_out(request(max_tokens=20, max_completion_tokens=30)) == 30


def test_money_is_by_price_and_half_in_a_batch():
    assert cost(PRICE, 1000, 100) == pytest.approx(0.003)
    assert cost(PRICE, 1000, 100, batch=True) == pytest.approx(0.0015)
    assert worst_cost(request(max_tokens=30)) == pytest.approx((116 * 2 + 30 * 10) / 1e6)
    assert worst_cost(request(max_tokens=30, batch=True)) == pytest.approx(
        (116 * 2 + 30 * 10) / 2e6
    )
    assert worst_cost(request()) is None
    assert worst_cost(request(price=None, max_tokens=30)) is None


def test_the_ratio_that_a_ledger_shows_gives_its_tokens_back():
    asked = request()
    entries = [
        entry_of_request(asked, {"usage": {"prompt_tokens": tokens, "completion_tokens": 1}})
        for tokens in (56, 96)
    ]
    entries.append(entry_of_request(asked, {}, judge="b"))
    ratios = characters_per_token(entries)
    assert ratios == {("judge", False): pytest.approx(400 / 120)}
    assert tokens_in(asked, ratios["judge", False]) == (56 + 96) / 2
