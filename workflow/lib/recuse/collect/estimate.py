"""What a collection will take, before anything is paid: requests, tokens, money and time, from the plan and its ledger."""

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from recuse.base.words import counted, enumerated, visible
from recuse.collect.cost import CHARACTERS_PER_TOKEN, characters_per_token, cost, most_out, tokens_in, worst_cost
from recuse.collect.ledger import Entry
from recuse.collect.requests import LOGPROBS, NUMBER, SCHEMA, Endpoint, Request
from recuse.collect.secrets import Secrets

# Where the ledger has no answer like it: tokens of an answer, of a rating in each mode, and seconds of a response.
ANSWER = 400
RATING = {SCHEMA: 15, NUMBER: 5, LOGPROBS: 1}
SECONDS, TOKENS_PER_SECOND = 1.0, 50.0

Kind = tuple[str, str, int]  # judge, mode, number of criteria


@dataclass(frozen=True)
class Estimate:
    """What one judge, or all of them, will take; tokens, money and time are of what is left to ask."""

    judge: str
    requests: int  # that differ
    answered: int
    tokens_in: float
    tokens_out: float
    money: float | None  # expected; None: the price is not known
    most: float | None  # that one attempt of each may cost; None: not known, or an answer may have any length
    minutes: float | None  # None: a batch, which may take a day
    learnt: bool  # whether all rests on answers in the ledger, not on defaults

    @property
    def left(self) -> int:
        """Requests without an answer."""
        return self.requests - self.answered


ADDED = [field.name for field in fields(Estimate) if field.name not in ("judge", "money", "most", "minutes", "learnt")]


def estimates(requests: Iterable[Request], answers: Iterable[Entry]) -> list[Estimate]:
    """Estimate what each judge will take, in the order of the plan; answers: those to requests of it in the ledger.

    Tokens of prompts are characters over the characters per token of the judge's answers so far, else CHARACTERS_PER_TOKEN;
    those of answers are the mean of the judge's so far in the same mode with as many criteria, else ANSWER or RATING for each
    criterion, and no more than the request allows. Minutes are the longest of requests / requests per minute, tokens / tokens
    per minute, and requests × seconds of a response / concurrency. Repairs and further attempts are not counted.
    """
    by_endpoint: dict[Endpoint, dict[str, Request]] = defaultdict(dict)  # a writer and a judge may have one name
    for request in requests:
        by_endpoint[request.endpoint].setdefault(request.key, request)
    past = _Past(answers)
    return [past.estimate(endpoint, asked) for endpoint, asked in by_endpoint.items()]


class _Past:
    """What the answers of a ledger show of its judges."""

    def __init__(self, answers: Iterable[Entry]) -> None:
        """Read the answers once."""
        self.answered: set[str] = set()
        self._out: dict[Kind, list[int]] = defaultdict(list)
        self._seconds: dict[Kind, list[float]] = defaultdict(list)
        self._ratio = characters_per_token(self._read(answers))

    def _read(self, answers: Iterable[Entry]) -> Iterable[Entry]:
        for entry in answers:
            kind = entry.judge, str(entry.asked["mode"]), len(entry.asked["rubric"])
            self.answered.add(entry.key)
            if entry.batch is None:
                self._seconds[kind].append(entry.seconds)
            if entry.usage is not None:
                self._out[kind].append(entry.usage.completion_tokens)
            yield entry

    def estimate(self, endpoint: Endpoint, requests: Mapping[str, Request]) -> Estimate:
        """Estimate what some requests to one judge, by key, will take."""
        judge = endpoint.name
        left = [request for key, request in requests.items() if key not in self.answered]
        kinds = [(judge, request.mode, len(request.criteria)) for request in left]
        into = [tokens_in(request, self._ratio.get((judge, bool(request.criteria)), CHARACTERS_PER_TOKEN)) for request in left]
        out = [self._tokens_out(request, kind) for request, kind in zip(left, kinds, strict=True)]
        worst = [worst_cost(request) for request in left]
        seconds = sum(self._wait(kind, tokens) for kind, tokens in zip(kinds, out, strict=True))
        return Estimate(
            judge=judge,
            requests=len(requests),
            answered=len(requests) - len(left),
            tokens_in=sum(into),
            tokens_out=sum(out),
            money=None if endpoint.price is None else cost(endpoint.price, sum(into), sum(out), endpoint.batch),
            most=None if None in worst else sum(worst),
            minutes=_minutes(endpoint, len(left), sum(into) + sum(out), seconds),
            learnt=all((judge, bool(request.criteria)) in self._ratio for request in left)
            and all(kind in self._out for kind in kinds),
        )

    def _tokens_out(self, request: Request, kind: Kind) -> float:
        usual = RATING[request.mode] * len(request.criteria) or ANSWER
        expected = _mean(self._out[kind]) if kind in self._out else usual
        most = most_out(request)
        return expected if most is None else min(expected, most)

    def _wait(self, kind: Kind, tokens_out: float) -> float:
        return _mean(self._seconds[kind]) if kind in self._seconds else SECONDS + tokens_out / TOKENS_PER_SECOND


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _minutes(endpoint: Endpoint, requests: int, tokens: float, seconds: float) -> float | None:
    """Minutes by the limits of an endpoint; seconds: of all responses, one after the other."""
    if endpoint.batch and requests:
        return None
    by_limits = [seconds / 60 / endpoint.concurrency]
    by_limits += [requests / endpoint.requests_per_minute] if endpoint.requests_per_minute else []
    by_limits += [tokens / endpoint.tokens_per_minute] if endpoint.tokens_per_minute else []
    return max(by_limits)


def total(of_judges: Sequence[Estimate]) -> Estimate:
    """The estimate of all judges, which answer at the same time."""
    sums = {name: sum(getattr(each, name) for each in of_judges) for name in ADDED}
    unknown = {name for name in ("money", "most", "minutes") for each in of_judges if getattr(each, name) is None}
    for name, over in (("money", sum), ("most", sum), ("minutes", max)):
        sums[name] = None if name in unknown else over([getattr(each, name) for each in of_judges])
    return Estimate("all", **sums, learnt=all(each.learnt for each in of_judges))


HEADINGS = ("judge", "requests", "answered", "left", "tokens in", "tokens out", "money", "at most", "minutes")


def page(of_judges: Sequence[Estimate], requests: Sequence[Request], *, spent: float = 0.0) -> str:
    """What the collection will take, in words and numbers, and three requests as they would be sent.

    spent: money for all attempts in the ledger so far.
    """
    if not of_judges:
        return "The plan asks for nothing."
    whole = total(of_judges)
    rows = [HEADINGS, *map(_cells, of_judges), *([_cells(whole)] if len(of_judges) > 1 else [])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    parts = ["\n".join([_headline(whole), "", *map(visible, lines), "", *_notes(of_judges, whole, spent)])]
    parts += map(_as_sent, examples(requests))
    with_keys = [request.endpoint for request in requests if request.endpoint.key and request.endpoint.key in os.environ]
    return Secrets(with_keys, os.environ).removed("\n\n".join(parts)) + "\n"  # should a prompt quote one


def _headline(whole: Estimate) -> str:
    if not whole.left:
        return f"Nothing is left to ask: {counted(whole.requests, 'request')}, all answered."
    money = "an unknown sum" if whole.money is None else f"about {_money(whole.money)}"
    time = "up to a day for batches" if whole.minutes is None else f"about {_duration(whole.minutes)}"
    return f"{counted(whole.left, 'request')} to ask, {money}, {time}."


def _notes(of_judges: Sequence[Estimate], whole: Estimate, spent: float) -> list[str]:
    notes = [
        "Money is in the unit of the prices. `at most` is one attempt of each request with the longest answer allowed; repairs "
        "and further attempts come on top, and `--budget` holds them too."
    ]
    if spent:
        notes.append(f"Spent so far, by the ledger: {_money(spent)}.")
    if unpriced := [each.judge for each in of_judges if each.money is None]:
        notes.append(f"No price is stated for {enumerated(list(map(visible, unpriced)), 5)}.")
    if unlimited := [each.judge for each in of_judges if each.most is None and each.money is not None]:
        notes.append(f"No `max_tokens` limits the answers of {enumerated(list(map(visible, unlimited)), 5)}.")
    if guessed := [each.judge for each in of_judges if each.left and not each.learnt]:
        ratings = enumerated([f"{tokens} ({mode})" for mode, tokens in RATING.items()])
        notes.append(
            f"No answers like these yet from {enumerated(list(map(visible, guessed)), 5)}. Assumed: "
            f"{CHARACTERS_PER_TOKEN:g} characters a token, {ratings} tokens for each rating, {ANSWER} for an answer. A model "
            "that thinks before it answers takes many more: ask about a few prompts first, with `design: {prompts: 3}`, and "
            "estimate again."
        )
    return notes


def _cells(each: Estimate) -> tuple[str, ...]:
    counts = [f"{value:,.0f}" for value in (each.requests, each.answered, each.left, each.tokens_in, each.tokens_out)]
    money = ["–" if value is None else _money(value) for value in (each.money, each.most)]
    return each.judge, *counts, *money, "–" if each.minutes is None else f"{each.minutes:,.1f}"


def _money(value: float) -> str:
    if 0 < value < 0.0001:
        return "under 0.0001"
    return f"{value:,.2f}" if value >= 1 or not value else f"{value:.4f}"


def _duration(minutes: float) -> str:
    return f"{minutes:.0f} minutes" if 1.5 <= minutes < 120 else "a minute" if minutes < 1.5 else f"{minutes / 60:.1f} hours"


def examples(requests: Sequence[Request]) -> list[Request]:
    """The first request, one of the middle and the last, of different judges as far as the plan has them."""
    chosen: list[int] = []
    for place in (0, len(requests) // 2, len(requests) - 1)[: len(requests)]:
        judges = {requests[other].endpoint.name for other in chosen}
        left = [other for other in range(len(requests)) if other not in chosen]
        new = [other for other in left if requests[other].endpoint.name not in judges]
        chosen.append(min(new or left, key=lambda other, place=place: abs(other - place)))
    return [requests[place] for place in chosen]


def _as_sent(request: Request) -> str:
    """A request as it would be sent, with the name of the variable in place of its key."""
    endpoint = request.endpoint
    about = ", ".join(f"{name} {value}" for name, value in request.about.items())
    lines = [f"{endpoint.name}: {about}" if about else endpoint.name]
    lines.append(f"POST {endpoint.address}/chat/completions")
    lines += [] if endpoint.key is None else [f"Authorization: Bearer ${endpoint.key}"]
    lines.append(json.dumps(request.sent, indent=2, ensure_ascii=False))
    return visible("\n".join(lines), but="\n")
