"""One attempt of a request: it is sent to an OpenAI-compatible server, and what comes is an entry
of the ledger.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle

from recuse.base.errors import LONGEST, ConfigError
from recuse.collect.cost import cost, worst_cost
from recuse.collect.ledger import LedgerEntry
from recuse.collect.requests import Endpoint, Request
from recuse.collect.responses import NO_LOGPROBS, fault_in, usage_in
from recuse.collect.secrets import Secrets

# Why an attempt brought no answer, apart from what `fault_in` finds.
RATE_LIMIT, SERVER_ERROR, TIMEOUT, CONNECTION = (
    "rate limit",
    "server error",
    "timeout",
    "connection",
)
NOT_JSON, ANOTHER_MODEL, TOO_LARGE = "not JSON", "another model", "too large"
REFUSED, REDIRECTED, NOT_ALLOWED, NO_QUOTA = (
    "refused by the server",
    "redirected",
    "not allowed",
    "no quota",
)
INTERRUPTED, EXPIRED = "interrupted", "expired"
PASSING = (RATE_LIMIT, SERVER_ERROR, TIMEOUT, CONNECTION, NOT_JSON, ANOTHER_MODEL, TOO_LARGE)
# For which no server charges
FREE = (RATE_LIMIT, SERVER_ERROR, REFUSED, REDIRECTED, NOT_ALLOWED, NO_QUOTA, EXPIRED)
CLOSING = (NOT_ALLOWED, NO_QUOTA, NO_LOGPROBS, REDIRECTED)  # after which a server is asked no more

LARGEST = 8 << 20  # bytes of a body
DEEPEST = 100  # objects and lists within each other in a body
LONGEST_TEXT = 100_000  # characters that are kept of a body that is not a JSON object
OVERLOADED = (429, 503, 529)  # statuses that ask for fewer requests
# Statuses that another attempt may not meet
TEMPORARY = (409, 425, 500, 502, 503, 504, *range(520, 531))
# What a server may add to the name of a model: date or version
SNAPSHOT = r"[-@:](v?\d{3,}[\d-]*|latest)"


@dataclass(frozen=True)
class ServerReply:
    """What came, or why nothing came."""

    status: int | None = None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    problem: tuple[str, str] | None = None  # reason and message
    sent: bool = True  # False: nothing reached the server


class Client:
    """A client of the server of one endpoint, which leaves it to others to try again."""

    def __init__(self, endpoint: Endpoint, secrets: Secrets) -> None:
        """Connects only when it is used. ConfigError if the package httpx2 is absent, or
        certificates cannot be read.
        """
        try:
            import httpx2 as httpx  # imported only to ask
        except ImportError as error:
            raise ConfigError(
                "collecting needs a client of HTTP: pip install 'recuse[collect]'"
            ) from error
        self.endpoint = endpoint
        self._httpx = httpx
        key = secrets.key_for(endpoint)
        # One timeout holds for all of an attempt. Redirects, which may lead to another host, are
        # not followed.
        settings = {"timeout": None, "follow_redirects": False}
        settings["headers"] = {} if key is None else {"Authorization": f"Bearer {key}"}
        try:
            settings["verify"] = httpx.create_ssl_context()
            self._completions = httpx.URL(f"{endpoint.address}/chat/completions")
            # One for each request at once: a shared pool of connections looks at all of these for
            # every request.
            self._clients = [httpx.AsyncClient(**settings) for _ in range(endpoint.concurrency)]
        except OSError as error:
            raise ConfigError(
                f"the certificates for HTTPS cannot be read ({error.strerror or error}); let the"
                " environment variables SSL_CERT_FILE and SSL_CERT_DIR name existing ones, or"
                " unset them"
            ) from error
        except httpx.InvalidURL as error:
            where = f"collect: {endpoint.name}: base_url"
            raise ConfigError(
                f"{where} is '{endpoint.address}'; write it as in http://localhost:8000/v1"
            ) from error
        self._turns = cycle(self._clients)

    async def send(self, request: Request) -> ServerReply:
        """Send a request once, and take what comes within the endpoint's timeout, at most `LARGEST`
        bytes.
        """
        return await self.call(
            "POST",
            self._completions,
            self.endpoint.timeout,
            content=json.dumps(request.sent).encode(),
            headers={"Content-Type": "application/json"},
        )

    async def call(
        self, method: str, address: object, seconds: float, largest: int = 0, **content: object
    ) -> ServerReply:
        """Call an address; largest: bytes of the body that are taken, if not LARGEST; content: as
        of httpx2.
        """
        httpx = self._httpx
        largest = largest or LARGEST
        body = bytearray()
        try:
            async with (
                asyncio.timeout(seconds),
                next(self._turns).stream(method, address, **content) as response,
            ):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > largest:
                        problem = TOO_LARGE, f"more than {largest:,} bytes"
                        return ServerReply(
                            response.status_code, bytes(body[:largest]), response.headers, problem
                        )
                return ServerReply(response.status_code, bytes(body), response.headers)
        except (TimeoutError, httpx.TimeoutException):
            return ServerReply(problem=(TIMEOUT, f"no whole response in {seconds:g} s"))
        except httpx.HTTPError as error:
            message = f"{type(error).__name__}: {error}"
            return ServerReply(
                problem=(CONNECTION, message), sent=not isinstance(error, httpx.ConnectError)
            )

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            await client.aclose()


def now() -> str:
    """The time in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def ledger_entry(
    request: Request,
    reply: ServerReply,
    secrets: Secrets,
    *,
    attempt: int = 1,
    started: str,
    seconds: float,
    batch: str | None = None,
) -> LedgerEntry:
    """What a reply to a request is worth: an answer, or the reason why it is none. No key of a
    server is in it.

    The response is in it as it came; its money is by what passed the schema.
    """
    response = None if reply.problem else object_in(reply.body)
    problem = _problem(request, reply, response)
    response = secrets.removed(response)
    usage = usage_in(response)
    price = request.endpoint.price
    money = None
    if price is not None and usage is not None:
        money = cost(price, usage.prompt_tokens, usage.completion_tokens, batch is not None)
    elif price is not None and problem is not None and (problem[0] in FREE or not reply.sent):
        money = 0.0
    text = None
    # Cut only when the key is out: of one that the cut divides, the start would be left
    if response is None and reply.body:
        text = secrets.removed(reply.body.decode("utf-8", "replace"))[:LONGEST_TEXT]
    return LedgerEntry(
        key=request.key,
        judge=request.endpoint.name,
        asked=secrets.removed(request.identity),
        about=secrets.removed(dict(request.about)),
        started=started,
        seconds=round(seconds, 3),
        attempt=attempt,
        response=response,
        text=text,
        status=reply.status,
        error=problem and {"reason": problem[0], "message": secrets.removed(problem[1])[:LONGEST]},
        cost=money,
        at_most=worst_cost(request) if money is None else None,
        batch=batch,
    )


def object_in(body: bytes) -> dict | None:
    """The JSON object that a body is; None if it is none, or is nested too deep."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not _is_too_deep(value) else None


def _is_too_deep(value: object, left: int = DEEPEST) -> bool:
    """Whether more than so many objects and lists are within each other."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return left == 0 or any(_is_too_deep(each, left - 1) for each in inner)


def reply_failure(reply: ServerReply, response: Mapping | None) -> tuple[str, str] | None:
    """The reason why nothing came, or a status other than 2xx, and a message; None if something
    came.

    response: the JSON object in the reply. Some servers say 200 and state an error in it.
    """
    if reply.problem is not None:
        return reply.problem
    response = response or {}
    error = response.get("error")
    status = reply.status
    error = error if isinstance(error, Mapping) else {"message": error}
    if status < 300 and not response.get("choices") and error.get("code"):
        status = error["code"] if error["code"] in range(300, 600) else 500
    if status < 300:
        return None
    if status < 400:
        where = reply.headers.get("location", "another address")
        return (
            REDIRECTED,
            (
                f"the server redirects to {where}; if that is where to ask, write its address under"
                " `base_url`"
            ),
        )
    message = str(error.get("message") or reply.body.decode("utf-8", "replace"))
    return _status_reason(status, error), f"status {status}: {message}"


def _problem(
    request: Request, reply: ServerReply, response: Mapping | None
) -> tuple[str, str] | None:
    """The reason why a reply is no answer, and a message; None if it is one."""
    failure = reply_failure(reply, response)
    if failure is not None:
        return failure
    if response is None:
        return NOT_JSON, f"{len(reply.body):,} bytes that are no JSON object"
    fault = fault_in(response, request.mode)
    if fault is not None:
        return fault
    model = response.get("model")
    if model and not _is_asked(model, request.endpoint):
        asked = f"asked for {request.endpoint.model}, answered by {model}"
        return ANOTHER_MODEL, f"{asked}; if that is a name of the same model, add it to `returned`"
    return None


def _status_reason(status: int, error: Mapping) -> str:
    """The reason by a status of HTTP from 400 and by what the server says of it."""
    if status == 402 or "insufficient_quota" in (error.get("code"), error.get("type")):
        return NO_QUOTA
    if status in (401, 403):
        return NOT_ALLOWED
    if status == 408:
        return TIMEOUT
    if status == 429:
        return RATE_LIMIT
    return SERVER_ERROR if status in TEMPORARY else REFUSED


def _is_asked(model: str, endpoint: Endpoint) -> bool:
    """Whether a server's name of a model means that of the endpoint: itself, a snapshot of it, or
    one that is declared.
    """
    if model in endpoint.returned:
        return True
    return (
        re.fullmatch(re.escape(endpoint.model) + f"({SNAPSHOT})?", model, re.IGNORECASE) is not None
    )
