"""Asking by batches of the server, which answer within a day for less money, and outlive the
process that made them.
"""

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, TypeVar
from urllib.parse import quote

from pydantic import Field

from recuse.base.log import warn
from recuse.base.words import counted
from recuse.collect.client import (
    EXPIRED,
    FREE,
    NOT_JSON,
    PASSING,
    SERVER_ERROR,
    ServerReply,
    ledger_entry,
    now,
    object_in,
    reply_failure,
)
from recuse.collect.collection import ENDPOINT, Collection, Desk
from recuse.collect.cost import worst_cost
from recuse.collect.requests import OPENAI, Request
from recuse.collect.responses import ResponsePart

MOST = 5_000  # requests of a batch
LARGEST = 90 << 20  # bytes of its file
LARGEST_RESULT = 1 << 30  # bytes of a file of the server
POLL = 30.0  # seconds between two looks at a batch
TRANSFER = 600.0  # seconds for sending or fetching a file
FIRST_WAIT = 1.0  # seconds before a second attempt of a call, doubled for each further one
PATH = "/v1/chat/completions"
PAGES = 1_000  # of the list of batches that are looked at
GONE = "gone"  # status of a batch that the server no longer has
# Statuses of a batch that changes no more
OVER = ("completed", "expired", "cancelled", "failed", GONE)
# Why a request has no answer of which the server should have something; it may have been charged
LOST = "lost"
NOT_THERE = (404, 410)  # statuses of HTTP for what a server does not have, or no longer
Received = TypeVar("Received")
Id = Annotated[str, Field(min_length=1)]


class _File(ResponsePart):
    id: Id


class _State(ResponsePart):
    id: Id
    status: str
    input_file_id: str
    output_file_id: Id | None = None
    error_file_id: Id | None = None
    errors: object = None


class _Page(ResponsePart):
    data: list[_State]
    has_more: bool = False


class _Error(ResponsePart):
    code: object = None
    message: object = None


class _Response(ResponsePart):
    status_code: Annotated[int, Field(ge=100, le=599)]
    body: object


class _Line(ResponsePart):
    custom_id: str
    response: _Response | None = None
    error: _Error | None = None


@dataclass
class _Batch:
    """A batch under way: the ids of its input file and of itself, and its requests of which nothing
    is recorded.
    """

    server: str | None  # its address; None: not known
    file: str
    requests: dict[str, Request]  # by key; those of this plan
    money: dict[str, float | None]  # that is reserved, by key; also for those of another plan
    # None: not created, or created by a process that was killed before it could say so
    id: str | None = None
    started: str = field(default_factory=now)
    clock: float = field(default_factory=time.monotonic)
    earlier: bool = False  # whether an earlier run sent its file
    tried: bool = False  # whether it may have been created

    def step(self, **values: object) -> dict:
        """A line of the ledger about it."""
        return {"file": self.file, "server": self.server, **values}


async def ask_in_batches(collection: Collection, desk: Desk, poll: float = POLL) -> None:
    """Ask what is queued at a desk in batches, after those that the ledger says are under way;
    `poll` seconds between looks.

    The id of a file is in the ledger before a batch of it is created, and that of the batch at once
    after: a batch that an earlier run created is found again, even if that was killed between the
    two, and nothing is asked twice. Requests that a batch leaves without an answer are left to the
    next run, but for those of a batch that the server no longer has.
    """
    batches = _under_way(collection, desk)
    while not (collection.stopping.is_set() or desk.stopped):
        desk.busy = True
        while chosen := _choose(collection, desk):
            batches += await _upload(collection, desk, chosen)
        for batch in [*batches]:
            if batch.id is None and not await _create(collection, desk, batch):
                return
            if await _fetch(collection, desk, batch):
                batches.remove(batch)
        full = bool(desk.queue) and not collection.purse.allows(collection.worst(desk.queue[0]))
        desk.busy = bool(batches) or (bool(desk.queue) and not full)
        if not desk.busy and not (full and _others_are_under_way(collection)):
            return
        if batches or full:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(collection.stopping.wait(), poll)


def _others_are_under_way(collection: Collection) -> bool:
    """Whether something may still cost less than is reserved for it."""
    return any(each.pace.under_way or (each.busy and not each.stopped) for each in collection.desks)


def _under_way(collection: Collection, desk: Desk) -> list[_Batch]:
    """The batches of the ledger that this desk has to look at, with the requests of the plan in
    them, which leave the queue.

    These are all in which requests of the queue are open, and those of its judge that are not known
    to have ended.
    """
    batches = []
    ledger = collection.ledger
    queued = {request.key: request for request in desk.queue}
    ours = _server(desk), desk.endpoint.name
    for (server, file), record in ledger.batches.items():
        money = ledger.open_in(record)
        requests = {key: queued.pop(key) for key in money if key in queued}
        if not requests and (
            not money or "ended" in record or (server, record.get("judge")) != ours
        ):
            continue
        for key, request in requests.items():
            if money[key] is None:
                money[key] = collection.worst(request)
                collection.purse.reserved += money[key]
        batches.append(
            _Batch(
                server,
                file,
                requests,
                money,
                record.get("batch"),
                record["started"],
                earlier=True,
                tried=True,
            )
        )
    desk.queue = deque(queued.values())
    return batches


def _server(desk: Desk) -> str:
    return desk.endpoint.base_url or OPENAI


def _line(request: Request) -> bytes:
    line = {"custom_id": request.key, "method": "POST", "url": PATH, "body": request.sent}
    return json.dumps(line).encode() + b"\n"


def _choose(collection: Collection, desk: Desk) -> list[Request]:
    """Take the next batch from the queue: as much as its file and the budget hold."""
    chosen = []
    size = 0
    while desk.queue and len(chosen) < MOST and not (collection.stopping.is_set() or desk.stopped):
        worst = collection.worst(desk.queue[0])
        length = len(_line(desk.queue[0]))
        if not collection.purse.allows(worst) or (chosen and size + length > LARGEST):
            break
        collection.purse.reserved += worst
        size += length
        chosen.append(desk.queue.popleft())
    return chosen


async def _upload(collection: Collection, desk: Desk, chosen: list[Request]) -> list[_Batch]:
    """Send the file of a batch, and say so in the ledger; nothing if that fails."""
    content = b"".join(map(_line, chosen))
    form = {"files": {"file": ("requests.jsonl", content)}, "data": {"purpose": "batch"}}
    file = await _call(collection, desk, "POST", "files", _File.model_validate_json, **form)
    if file is not None:
        # The most that each may cost, also without a budget: the next run may have one.
        money = {request.key: worst_cost(request) for request in chosen}
        batch = _Batch(_server(desk), file.id, {request.key: request for request in chosen}, money)
        if collection.store(
            [batch.step(judge=desk.endpoint.name, keys=money, started=batch.started)]
        ):
            return [batch]
    collection.purse.reserved -= sum(map(collection.worst, chosen))
    desk.queue.extendleft(reversed(chosen))
    return []


async def _create(collection: Collection, desk: Desk, batch: _Batch) -> bool:
    """Create the batch of a file, or find it if it is there, and say so in the ledger."""
    if batch.tried:
        found = await _find(collection, desk, batch)
        if found is None:
            return False
        batch.id = found or None
    batch.tried = True
    if batch.id is None:
        settings = {"input_file_id": batch.file, "endpoint": PATH, "completion_window": "24h"}
        created = await _call(
            collection, desk, "POST", "batches", _State.model_validate_json, json=settings
        )
        batch.id = created and created.id
    return batch.id is not None and collection.store([batch.step(batch=batch.id)])


async def _find(collection: Collection, desk: Desk, batch: _Batch) -> str | None:
    """The id of the batch that was created of a file, empty if there is none; None if that cannot
    be told.
    """
    after: dict[str, str] = {}
    for _ in range(PAGES):
        page = await _call(
            collection,
            desk,
            "GET",
            "batches",
            _Page.model_validate_json,
            params={"limit": "100", **after},
        )
        if page is None:
            return None
        for each in page.data:
            if each.input_file_id == batch.file:
                return each.id
        if not (page.has_more and page.data):
            break
        after = {"after": page.data[-1].id}
    return ""


async def _fetch(collection: Collection, desk: Desk, batch: _Batch) -> bool:
    """Store what came of a batch that is over, all at once; whether it is over.

    For answers to requests that the plan does not have, money stays reserved: a later plan that has
    them finds them there.
    """
    over = await _result(collection, desk, batch)
    if over is None:
        return False
    status, replies = over
    attempts = []
    kept = {}
    rest = 0.0  # is reserved for those of which nothing came, or which the plan does not have
    times = {"started": batch.started, "seconds": time.monotonic() - batch.clock}
    for key, money in batch.money.items():
        request = batch.requests.get(key)
        reply = replies.get(key)
        # One that stands for a request of another plan
        asked = request or Request(desk.endpoint, (), {})
        entry = reply and ledger_entry(asked, reply, collection.secrets, batch=batch.id, **times)
        if request and entry:
            attempts.append((request, entry, money or 0.0))
            continue
        rest += money or 0.0
        if entry and entry.reason not in FREE:
            kept[key] = money if entry.cost is None else entry.cost
    if not collection.record(desk, attempts):
        return False
    collection.purse.reserved += sum(money or 0.0 for money in kept.values()) - rest
    collection.changed.set()
    lost = [request for request, entry, _ in attempts if entry.reason == LOST]
    if lost and batch.earlier:
        desk.queue.extend(lost)
        what = (
            f"{desk.endpoint.name}: the server no longer has the batch {batch.id}, or a part of it"
        )
        warn(
            f"{what}: what is lost is asked again, and counts as paid"
            f" ({counted(len(lost), 'request')})"
        )
    return collection.store([batch.step(ended=status, keys=kept)])


async def _result(
    collection: Collection, desk: Desk, batch: _Batch
) -> tuple[str, dict[str, ServerReply]] | None:
    """(status, what came by key) of a batch that is over; None if it is not, or if that cannot be
    told.
    """
    gone = batch.earlier  # whether the server may no longer have it
    name = quote(batch.id, safe="")
    lost = _State(id=batch.id, status=GONE, input_file_id=batch.file) if gone else None
    state = await _call(
        collection, desk, "GET", f"batches/{name}", _State.model_validate_json, lost
    )
    if state is None or state.status not in OVER:
        return None
    replies = {}
    whole = state.status != GONE
    for file in filter(None, (state.output_file_id, state.error_file_id)):
        part = await _call(
            collection,
            desk,
            "GET",
            f"files/{quote(file, safe='')}/content",
            _replies,
            ({}, False) if gone else None,
            largest=LARGEST_RESULT,
        )
        if part is None:
            return None
        replies = replies | part[0]
        whole = whole and part[1]
    if state.status == "failed":
        reasons = collection.secrets.removed(json.dumps(state.errors))
        collection.outcome.stop(
            ENDPOINT, f"{desk.endpoint.name}: the server refused the batch {batch.id}: {reasons}"
        )
    if not whole:
        lost = ServerReply(problem=(LOST, f"the server has nothing of it in the batch {batch.id}"))
        replies = dict.fromkeys(batch.money, lost) | replies
    return state.status, replies


def _replies(content: bytes) -> tuple[dict[str, ServerReply], bool]:
    """(what came by the key of the request, whether all lines are whole) of a file of the server;
    ValueError if none is.
    """
    replies = {}
    lines = [line for line in content.splitlines() if line.strip()]
    whole = 0
    for line in lines:
        with contextlib.suppress(ValueError):
            record = _Line.model_validate(object_in(line))
            response = record.response
            error = record.error or _Error()
            reason = EXPIRED if error.code == "batch_expired" else SERVER_ERROR
            reply = ServerReply(problem=(reason, str(error.message)))
            if response is not None:
                reply = ServerReply(response.status_code, json.dumps(response.body).encode())
            replies[record.custom_id] = reply
            whole += 1
    if lines and not replies:
        raise ValueError("no line is that of a request")
    return replies, whole == len(lines)


async def _call(
    collection: Collection,
    desk: Desk,
    method: str,
    path: str,
    read: Callable[[bytes], Received],
    gone: Received | None = None,
    **content: object,
) -> Received | None:
    """What `read` makes of a call's body, tried again if what fails may pass; None, and the desk
    closed, if it fails for good.

    read: raises ValueError about a body that is not as it has to be. gone: what it gives if the
    server says that it has no such thing; None: that closes the desk, too. content: as of
    `Client.call`.
    """
    address = f"{desk.endpoint.address}/{path}"
    for attempt in range(1, desk.endpoint.attempts + 1):
        reply = await desk.client.call(method, address, TRANSFER, **content)
        if reply.status in NOT_THERE and gone is not None:
            return gone
        refusal = object_in(reply.body) if (reply.status or 0) >= 400 else None
        problem = reply_failure(reply, refusal)
        if problem is None:
            try:
                return read(reply.body)
            except ValueError:
                problem = (
                    NOT_JSON,
                    "the server's endpoints of files and batches gave no usable response",
                )
        reason, message = problem
        if reason not in PASSING or attempt == desk.endpoint.attempts:
            break
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(collection.stopping.wait(), FIRST_WAIT * 2 ** (attempt - 1))
            return None
    collection.close_desk(desk, reason, collection.secrets.removed(message))
    return None
