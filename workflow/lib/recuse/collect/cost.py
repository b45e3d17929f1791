"""Tokens and money: what a request will need, at worst, and what it needed."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping

from recuse.collect.ledger import LedgerEntry
from recuse.collect.requests import LENGTHS, Price, Request

CHARACTERS_PER_TOKEN = 4.0  # of English prose
# Per token, at worst: of prose in any language and of code, if not of long tables of digits
FEWEST_CHARACTERS = 2.0
PER_MESSAGE = 8  # tokens that mark a message and its role
MILLION = 1e6


def characters(asked: Mapping) -> int:
    """The length of what a model reads of a request's identity: messages and the schema of the
    answer.

    Counted in bytes of UTF-8, of which a token has about as many in all scripts, unlike letters.
    """
    texts = [str(message.get("content", "")) for message in asked["messages"]]
    schema = asked["body"].get("response_format")
    texts += [] if schema is None else [json.dumps(schema, ensure_ascii=False)]
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def tokens_in(request: Request, characters_per_token: float = CHARACTERS_PER_TOKEN) -> int:
    """Tokens of the prompt: ceil(characters / characters_per_token), and eight a message."""
    length = characters({"messages": request.messages, "body": request.body})
    return math.ceil(length / characters_per_token) + PER_MESSAGE * len(request.messages)


def most_out(request: Request) -> int | None:
    """The most tokens that the answer may have, by the first of LENGTHS that is there; None: no
    limit.
    """
    return next(
        (request.body[name] for name in LENGTHS if request.body.get(name) is not None), None
    )


def cost(price: Price, tokens_in: float, tokens_out: float, batch: bool = False) -> float:
    """Money for tokens: (in × price of input + out × price of output) / 10⁶, times the share that a
    batch costs.
    """
    whole = (tokens_in * price.input + tokens_out * price.output) / MILLION
    return whole * price.batch if batch else whole


def worst_cost(request: Request) -> float | None:
    """The most that one attempt may cost; None if the price, or the length of the answer, has no
    limit.
    """
    price = request.endpoint.price
    out = most_out(request)
    if price is None or out is None:
        return None
    return cost(price, tokens_in(request, FEWEST_CHARACTERS), out, request.endpoint.batch)


def characters_per_token(entries: Iterable[LedgerEntry]) -> dict[tuple[str, bool], float]:
    """The ratio for each judge of a ledger, over all its prompts whose tokens the server counted,
    apart for those that rate.

    It is that of `tokens_in`: characters / (tokens − eight a message). Short prompts, as for
    answers, have relatively more of the marks that servers add.
    """
    lengths = Counter()
    tokens = Counter()
    for entry in entries:
        if entry.usage is not None:
            kind = entry.judge, bool(entry.asked["rubric"])
            lengths[kind] += characters(entry.asked)
            tokens[kind] += entry.usage.prompt_tokens - PER_MESSAGE * len(entry.asked["messages"])
    return {
        kind: lengths[kind] / tokens[kind]
        for kind in lengths
        if lengths[kind] > 0 and tokens[kind] > 0
    }
