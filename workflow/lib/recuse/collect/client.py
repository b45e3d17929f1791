"""One attempt of a request: it is sent to an OpenAI-compatible server, and what comes is an entry of the ledger."""

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from recuse.base.errors import LONGEST, ConfigError
from recuse.collect.cost import cost_of, worst_cost
from recuse.collect.ledger import Entry
from recuse.collect.parse import choice_of, likeliest
from recuse.collect.requests import LOGPROBS, Endpoint, Request
from recuse.collect.secrets import OPENAI, Secrets

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Result = TypeVar("Result")
# Why an attempt brought no answer.
RATE_LIMIT, SERVER_ERROR, TIMEOUT, CONNECTION = "rate limit", "server error", "timeout", "connection"
NOT_JSON, ANOTHER_MODEL, TOO_LARGE = "not JSON", "another model", "too large"
REFUSED, NOT_ALLOWED, NO_QUOTA, NO_LOGPROBS = "refused by the server", "not allowed", "no quota", "no logprobs"
INTERRUPTED, EXPIRED = "interrupted", "expired"
PASSING = (RATE_LIMIT, SERVER_ERROR, TIMEOUT, CONNECTION, NOT_JSON, ANOTHER_MODEL, TOO_LARGE)
FREE = (RATE_LIMIT, SERVER_ERROR, REFUSED, NOT_ALLOWED, NO_QUOTA, EXPIRED)  # for which no server charges

LARGEST = 8 << 20  # bytes of a body
POOL = 16  # requests at once that share a pool of connections, which looks at each of these for every request
LONGEST_TEXT = 100_000  # characters that are kept of a body that is no JSON
OVERLOADED = (429, 503, 529)  # statuses that ask for fewer requests
SNAPSHOT = r"[-@:](v?\d{3,}[\d-]*|latest)"  # what a server may add to the name of a model: date or version


@dataclass(frozen=True)
class Reply:
    """What came, or why nothing came."""

    status: int | None = None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    problem: tuple[str, str] | None = None  # reason and message
    sent: bool = True  # False: nothing reached the server


class NotOk(Exception):
    """A status other than 2xx, with the start of the body."""

    def __init__(self, reply: Reply) -> None:
        """Keep what came."""
        super().__init__(reply.status)
        self.reply = reply


def openai_client() -> ModuleType:
    """The package openai, which is imported only to ask; ConfigError if it is absent."""
    try:
        import openai
    except ImportError as error:
        raise ConfigError("collecting needs the client of OpenAI-compatible servers: pip install 'recuse[collect]'") from error
    return openai


class Client:
    """A client of the server of one endpoint, which leaves it to others to try again."""

    def __init__(self, endpoint: Endpoint, secrets: Secrets) -> None:
        """Connects only in `send`. ConfigError if the package openai is absent."""
        self.endpoint = endpoint
        self._servers = [_connection(endpoint, secrets) for _ in range(math.ceil(endpoint.concurrency / POOL))]
        self._turns = cycle(self._servers)
        self.server = self._servers[0]

    async def send(self, request: Request) -> Reply:
        """Send a request once, and take what comes within the endpoint's timeout, at most `LARGEST` bytes."""
        return await self.tried(self._exchange(request), self.endpoint.timeout)

    async def _exchange(self, request: Request) -> Reply:
        completions = next(self._turns).chat.completions.with_streaming_response
        # Messages go with the body, as they are: the client would compare each with its types, in a fifth of the whole time.
        body = {"messages": list(request.messages), **request.body}
        async with completions.create(model=self.endpoint.model, messages=[], extra_body=body) as response:
            content, whole = await _limited(response.iter_bytes(), LARGEST)
            problem = None if whole else (TOO_LARGE, f"more than {LARGEST:,} bytes")
            return Reply(response.status_code, content, response.headers, problem)

    async def tried(self, work: Awaitable[Result], seconds: float) -> Result | Reply:
        """What `work` gives, or a reply that says why it gave nothing in so many seconds."""
        import httpx2

        openai = openai_client()
        try:
            async with asyncio.timeout(seconds):
                return await work
        except NotOk as error:
            return error.reply
        except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException):
            return Reply(problem=(TIMEOUT, f"no whole response in {seconds:g} s"))
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            cause = error.__cause__ or error
            message = f"{type(cause).__name__}: {cause}"
            return Reply(problem=(CONNECTION, message), sent=not isinstance(cause, httpx2.ConnectError))

    async def close(self) -> None:
        """Close the connections."""
        for server in self._servers:
            await server.close()


def _connection(endpoint: Endpoint, secrets: Secrets) -> "AsyncOpenAI":
    openai = openai_client()
    server = openai.AsyncOpenAI(
        api_key=secrets.key_of(endpoint) or "none",  # else the client would send OPENAI_API_KEY to any server
        base_url=endpoint.base_url or OPENAI,  # else OPENAI_BASE_URL, which is not in a request's identity
        max_retries=0,
        timeout=endpoint.timeout,
        http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_raise_for_status]}),
    )
    if endpoint.base_url:  # what the environment has for OpenAI is for no other server
        server.organization = server.project = None
        server._custom_headers = {}
    return server


async def _raise_for_status(response: object) -> None:
    """Take at most `LARGEST` bytes of the body of an error, of which the client would read all."""
    if response.status_code >= 400:
        body, _ = await _limited(response.aiter_bytes(), LARGEST)
        raise NotOk(Reply(response.status_code, body, response.headers))


async def _limited(chunks: AsyncIterator[bytes], largest: int) -> tuple[bytes, bool]:
    """(the bytes up to `largest`, whether these are all)."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > largest:
            return bytes(body[:largest]), False
    return bytes(body), True


def now() -> str:
    """The time in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def entry_of(
    request: Request,
    reply: Reply,
    secrets: Secrets,
    *,
    attempt: int = 1,
    started: str,
    seconds: float,
    batch: str | None = None,
) -> Entry:
    """What a reply to a request is worth: an answer, or the reason why it is none. No key of a server is in it."""
    response = None if reply.problem else _object_in(reply.body, secrets)
    problem = _problem(request, reply, response)
    choice, usage = choice_of(response or {}), (response or {}).get("usage")
    price = request.endpoint.price
    money = cost_of(price, usage, batch is not None)
    if price is not None and money is None and problem is not None and (problem[0] in FREE or not reply.sent):
        money = 0.0
    return Entry(
        key=request.key,
        judge=request.endpoint.name,
        asked=secrets.removed(request.identity),
        about=secrets.removed(dict(request.about)),
        started=started,
        seconds=round(seconds, 3),
        attempt=attempt,
        response=response,
        # Cut only then: of a key that the cut divides, the start would be left.
        text=secrets.removed(reply.body.decode("utf-8", "replace"))[:LONGEST_TEXT] if response is None and reply.body else None,
        status=reply.status,
        error=problem and {"reason": problem[0], "message": secrets.removed(problem[1])[:LONGEST]},
        model=(response or {}).get("model"),
        finish_reason=choice.get("finish_reason"),
        usage=usage if isinstance(usage, Mapping) else None,
        cost=money,
        at_most=worst_cost(request) if money is None else None,
        batch=batch,
    )


def _object_in(body: bytes, secrets: Secrets | None = None) -> dict | None:
    """The JSON object that a body is, without keys of servers; None if it is none, or is nested too deep."""
    try:
        value = json.loads(body)
        value = secrets.removed(value) if secrets else value
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def failure_of(reply: Reply) -> tuple[str, str] | None:
    """The reason why nothing came, or a status other than 2xx, and a message; None if something came."""
    if reply.problem is not None:
        return reply.problem
    response = _object_in(reply.body)
    error = (response or {}).get("error")
    error = error if isinstance(error, Mapping) else {"message": error}
    status = reply.status
    if status < 300 and not choice_of(response or {}) and error.get("code"):
        status = error["code"]  # some servers say 200 and mean this
    if isinstance(status, int) and status < 300:
        return None
    message = str(error.get("message") or reply.body.decode("utf-8", "replace"))
    return _reason_of(status, error), f"status {status}: {message}"


def _problem(request: Request, reply: Reply, response: Mapping | None) -> tuple[str, str] | None:
    """The reason why a reply is no answer, and a message; None if it is one."""
    failure = failure_of(reply)
    if failure is not None:
        return failure
    if response is None:
        return NOT_JSON, f"{len(reply.body):,} bytes that are no JSON object"
    choice, model = choice_of(response), response.get("model")
    if not choice:
        return SERVER_ERROR, "the response has no choice"
    if model and not _is_asked(str(model), request.endpoint):
        asked = f"asked for {request.endpoint.model}, answered by {model}"
        return ANOTHER_MODEL, f"{asked}; if that is a name of the same model, add it to `returned`"
    if request.mode == LOGPROBS and not likeliest(choice):
        return NO_LOGPROBS, "the response has no log probabilities"
    return None


def _reason_of(status: object, error: Mapping) -> str:
    """The reason by a status of HTTP and by what the server says of it."""
    if status == 402 or "insufficient_quota" in (error.get("code"), error.get("type")):
        return NO_QUOTA
    if status in (401, 403):
        return NOT_ALLOWED
    if status == 408:
        return TIMEOUT
    if isinstance(status, int) and 400 <= status < 500 and status not in (409, 425, 429):
        return REFUSED
    return RATE_LIMIT if status == 429 else SERVER_ERROR


def _is_asked(model: str, endpoint: Endpoint) -> bool:
    """Whether a server's name of a model means that of the endpoint: itself, a snapshot of it, or one that is declared."""
    if model in endpoint.returned:
        return True
    return re.fullmatch(re.escape(endpoint.model) + f"({SNAPSHOT})?", model, re.IGNORECASE) is not None
