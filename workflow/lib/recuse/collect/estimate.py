"""What a collection will take, before anything is paid: requests, tokens, money and time, from the
plan and its ledger.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from recuse.base.log import duration
from recuse.base.words import counted, enumerated, visible
from recuse.collect.cost import (
    CHARACTERS_PER_TOKEN,
    characters_per_token,
    cost,
    most_out,
    tokens_in,
    worst_cost,
)
from recuse.collect.ledger import LedgerEntry
from recuse.collect.requests import LOGPROBS, NUMBER, SCHEMA, Endpoint, Request
from recuse.collect.secrets import Secrets

# Where the ledger has no answer like it: tokens of an answer, of a rating in each mode, and seconds
# of a response.
ANSWER = 400
RATING = {SCHEMA: 15, NUMBER: 5, LOGPROBS: 1}
SECONDS, TOKENS_PER_SECOND = 1.0, 50.0
LINES, WIDTH = 25, 110  # of the page, and characters of a request's line
ROWS = 8  # judges in the table
NAMED = 3  # judges in a sentence


@dataclass(frozen=True)
class CostEstimate:
    """What one judge, or all of them, will take; tokens, money and time are of what is left to
    ask.
    """

    judge: str
    requests: int  # that differ
    answered: int
    tokens_in: float
    tokens_out: float
    money: float | None  # expected; None: the price is not known
    # That one attempt of each may cost; None: not known, or an answer may have any length
    most: float | None
    minutes: float | None  # None: a batch, which may take a day
    learnt: bool  # whether all rests on answers in the ledger, not on defaults

    @property
    def left(self) -> int:
        """Requests without an answer."""
        return self.requests - self.answered


def estimates(requests: Iterable[Request], answers: Iterable[LedgerEntry]) -> list[CostEstimate]:
    """Estimate what each judge will take, in the order of the plan; answers: those to requests of
    it in the ledger.

    Tokens of prompts are characters over the characters per token of the judge's answers so far,
    else CHARACTERS_PER_TOKEN; those of answers are the mean of the judge's so far in the same mode
    with as many criteria, else ANSWER or RATING for each criterion, and no more than the request
    allows. Minutes are the longest of requests / requests per minute, tokens / tokens per minute,
    and requests × seconds of a response / concurrency. Repairs and further attempts are not
    counted.
    """
    # A writer and a judge may have one name
    by_endpoint: dict[Endpoint, dict[str, Request]] = defaultdict(dict)
    for request in requests:
        by_endpoint[request.endpoint][request.key] = request

    answers = list(answers)
    ratio = characters_per_token(answers)
    tokens, seconds = defaultdict(list), defaultdict(list)  # by judge, mode and number of criteria
    for entry in answers:
        kind = entry.judge, entry.asked["mode"], len(entry.asked["rubric"])
        if entry.usage is not None:
            tokens[kind].append(entry.usage.completion_tokens)
        if entry.batch is None:
            seconds[kind].append(entry.seconds)

    keys = {entry.key for entry in answers}
    found = []
    for endpoint, asked in by_endpoint.items():
        left = [request for key, request in asked.items() if key not in keys]
        into = out = wait = 0.0
        for request in left:
            kind = endpoint.name, request.mode, len(request.criteria)
            into += tokens_in(
                request, ratio.get((endpoint.name, bool(request.criteria)), CHARACTERS_PER_TOKEN)
            )
            usual = RATING[request.mode] * len(request.criteria) or ANSWER
            written = min(fmean(tokens[kind] or [usual]), most_out(request) or usual)
            out += written
            wait += fmean(seconds[kind] or [SECONDS + written / TOKENS_PER_SECOND])
        worst = [worst_cost(request) for request in left]
        found.append(
            CostEstimate(
                judge=endpoint.name,
                requests=len(asked),
                answered=len(asked) - len(left),
                tokens_in=into,
                tokens_out=out,
                money=(
                    None
                    if endpoint.price is None
                    else cost(endpoint.price, into, out, endpoint.batch)
                ),
                most=None if None in worst else sum(worst),
                minutes=_minutes(endpoint, len(left), into + out, wait),
                learnt=all(
                    tokens[endpoint.name, request.mode, len(request.criteria)] for request in left
                ),
            )
        )
    return found


def _minutes(endpoint: Endpoint, requests: int, tokens: float, seconds: float) -> float | None:
    """Minutes by the limits of an endpoint; seconds: of all responses, one after the other."""
    if endpoint.batch and requests:
        return None
    return max(
        seconds / 60 / endpoint.concurrency,
        requests / (endpoint.requests_per_minute or float("inf")),
        tokens / (endpoint.tokens_per_minute or float("inf")),
    )


def total(of_judges: Sequence[CostEstimate], name: str = "all") -> CostEstimate:
    """The estimate of several judges, which answer at the same time."""
    sums = {}
    for field in ("requests", "answered", "tokens_in", "tokens_out", "money", "most", "minutes"):
        values = [getattr(each, field) for each in of_judges]
        combined = max if field == "minutes" else sum
        sums[field] = None if None in values else combined(values)
    return CostEstimate(name, **sums, learnt=all(each.learnt for each in of_judges))


def cost_page(
    of_judges: Sequence[CostEstimate],
    request: Request,
    *,
    spent: float = 0.0,
    notes: Iterable[str] = (),
) -> str:
    """What the collection will take, in LINES lines.

    request: one that is shown, as far as there is room. spent: money for all attempts in the ledger
    so far. notes: lines that follow the table.
    """
    whole = total(of_judges)
    rest = of_judges[ROWS - 1 :]
    rows = (
        [*of_judges[: ROWS - 1], total(rest, f"{len(rest)} more")]
        if len(rest) > 1
        else [*of_judges]
    )
    lines = [_headline(whole), "", *_table([*rows, whole] if len(rows) > 1 else rows), ""]
    lines.append(
        "Money is in units of the price file (–: not known); `most`: one attempt of each, with the"
        " longest answer."
    )
    if spent:
        lines.append(f"Spent so far, by the ledger: {_money(spent)} units.")
    guessed = [visible(each.judge) for each in of_judges if each.left and not each.learnt]
    if guessed:
        judges = enumerated(guessed, NAMED)
        lines.append(
            f"Tokens of {judges} are guesses, too low for models that think; try `design:"
            " {prompts: 3}` first."
        )
    lines += [*notes, ""]
    shown = _as_sent(request)
    room = max(2, LINES - len(lines))
    if len(shown) > room:
        shown = [*shown[: room - 1], f"... and {counted(len(shown) - room + 1, 'line')} more"]
    return "\n".join([*lines, *shown]) + "\n"


def _headline(whole: CostEstimate) -> str:
    if not whole.left:
        return f"Nothing is left to ask: {counted(whole.requests, 'request')}, all answered."
    money = "an unknown sum" if whole.money is None else f"about {_money(whole.money)} units"
    time = (
        "up to a day for batches"
        if whole.minutes is None
        else f"about {duration(60 * whole.minutes)}"
    )
    return f"{counted(whole.left, 'request')} to ask, {money}, {time}."


def _table(rows: Sequence[CostEstimate]) -> list[str]:
    """The rows, in columns of equal width."""
    import pandas as pd

    table = (
        pd.DataFrame(map(vars, rows))
        .set_index("judge")
        .drop(columns="learnt")
        .rename(index=visible)
        .astype(float)
    )
    table.insert(2, "left", table["requests"] - table["answered"])
    table.columns = table.columns.str.replace("_", " ")
    formatters = dict.fromkeys(table.columns, "{:,.0f}".format)
    formatters |= {"money": _money, "most": _money, "minutes": "{:,.1f}".format}
    return table.to_string(formatters=formatters, index_names=False, na_rep="–").splitlines()


def _money(value: float) -> str:
    if 0 < value < 0.0001:
        return "under 0.0001"
    return f"{value:,.2f}" if value >= 1 or not value else f"{value:.4f}"


def _as_sent(request: Request) -> list[str]:
    """The lines of a request, with the name of the variable in place of its key, should a prompt
    quote that.
    """
    endpoint = request.endpoint
    about = ", ".join(f"{name} {value}" for name, value in request.about.items())
    lines = [f"The first request, to {endpoint.model} at {endpoint.address}, about {about}:"]
    for message in request.messages:
        lines += f"{message['role']}: {message['content']}".splitlines()
    secrets = Secrets([endpoint] if (endpoint.key or "") in os.environ else [], os.environ)
    lines = [visible(secrets.removed(line)) for line in lines]
    return [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines]
