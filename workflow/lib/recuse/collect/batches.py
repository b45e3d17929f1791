"""Asking by batches of the server, which answer within a day for less money, and outlive the process that made them."""

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from recuse.collect.client import EXPIRED, PASSING, SERVER_ERROR, Reply, entry_of, failure_of, now
from recuse.collect.collection import ENDPOINT, Collection, Desk
from recuse.collect.requests import Request

MOST = 5_000  # requests of a batch
LARGEST = 90 << 20  # bytes of its file
POLL = 30.0  # seconds between two looks at a batch
TRANSFER = 600.0  # seconds for sending or fetching a file
CLOCKS = 86_400.0  # seconds by which the clocks of server and process may differ
FIRST_WAIT = 1.0  # seconds before a second attempt of a call, doubled for each further one
PATH = "/v1/chat/completions"
OVER = ("completed", "expired", "cancelled", "failed")  # statuses of a batch that changes no more
Result = TypeVar("Result")


@dataclass
class _Batch:
    """A batch under way: the ids of its input file and of itself, and those of its requests that are not answered."""

    file: str
    requests: dict[str, Request]  # by key
    id: str | None = None  # None: not created, or created by a process that was killed before it could say so
    started: str = field(default_factory=now)
    clock: float = field(default_factory=time.monotonic)
    whole: bool = True  # whether all its requests are of this plan
    tried: bool = False  # whether it may have been created


async def ask_in_batches(collection: Collection, desk: Desk, poll: float = POLL) -> None:
    """Ask what is queued at a desk in batches, after those that the ledger says are under way; `poll` seconds between looks.

    The id of a file is in the ledger before a batch of it is created, and that of the batch at once after: a batch that an
    earlier run created is found again, even if that was killed between the two, and nothing is asked twice. Requests that a
    batch leaves without an answer are left to the next run.
    """
    batches = _under_way(collection, desk)
    while not (collection.stopping.is_set() or desk.stopped):
        while chosen := _choose(collection, desk):
            batches += await _upload(collection, desk, chosen)
        for batch in [*batches]:
            if batch.id is None and not await _create(collection, desk, batch):
                return
            if await _fetch(collection, desk, batch):
                batches.remove(batch)
        if not batches and not desk.queue:
            return
        if batches:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(collection.stopping.wait(), poll)
        elif not desk.queue or not collection.purse.allows(collection.worst(desk.queue[0])):
            return


def _under_way(collection: Collection, desk: Desk) -> list[_Batch]:
    """The batches of the ledger that are not known to have ended, with the requests that they ask, which leave the queue."""
    batches = []
    for record in collection.ledger.batches.values():
        queued = {request.key: request for request in desk.queue}
        requests = {key: queued[key] for key in record["keys"] if key in queued}
        if "ended" in record or not requests:
            continue
        whole = all(key in requests or key in collection.ledger.answers() for key in record["keys"])
        batches.append(_Batch(record["file"], requests, record.get("batch"), record["started"], whole=whole, tried=True))
        for request in requests.values():
            desk.queue.remove(request)
            collection.purse.reserved += collection.worst(request)
    return batches


def _line(request: Request) -> bytes:
    body = {"model": request.endpoint.model, "messages": [dict(each) for each in request.messages], **request.body}
    return json.dumps({"custom_id": request.key, "method": "POST", "url": PATH, "body": body}).encode() + b"\n"


def _choose(collection: Collection, desk: Desk) -> list[Request]:
    """Take the next batch from the queue: as much as its file and the budget hold."""
    chosen, size = [], 0
    while desk.queue and len(chosen) < MOST and not (collection.stopping.is_set() or desk.stopped):
        worst, length = collection.worst(desk.queue[0]), len(_line(desk.queue[0]))
        if not collection.purse.allows(worst) or (chosen and size + length > LARGEST):
            break
        collection.purse.reserved += worst
        size += length
        chosen.append(desk.queue.popleft())
    return chosen


async def _upload(collection: Collection, desk: Desk, chosen: list[Request]) -> list[_Batch]:
    """Send the file of a batch, and say so in the ledger; nothing if that fails."""
    content = b"".join(map(_line, chosen))
    files = desk.client.server.files
    file = await _call(collection, desk, lambda: files.create(file=("requests.jsonl", content), purpose="batch"))
    batch = file and _Batch(file.id, {request.key: request for request in chosen})
    step = batch and {"file": batch.file, "judge": desk.endpoint.name, "keys": [*batch.requests], "started": batch.started}
    if step is None or not collection.store([step]):
        _release(collection, chosen)
        desk.queue.extendleft(reversed(chosen))
        return []
    return [batch]


async def _create(collection: Collection, desk: Desk, batch: _Batch) -> bool:
    """Create the batch of a file, or find it if it is there, and say so in the ledger."""
    batches = desk.client.server.batches

    async def found_or_created() -> str:
        if batch.tried:
            async for each in batches.list(limit=100):  # the newest first
                if each.input_file_id == batch.file:
                    return each.id
                if each.created_at < datetime.fromisoformat(batch.started).timestamp() - CLOCKS:
                    break
        batch.tried = True
        return (await batches.create(input_file_id=batch.file, endpoint=PATH, completion_window="24h")).id

    batch.id = await _call(collection, desk, found_or_created)
    return batch.id is not None and collection.store([{"file": batch.file, "batch": batch.id}])


async def _fetch(collection: Collection, desk: Desk, batch: _Batch) -> bool:
    """Store the answers of a batch that is over; whether it is."""
    server = desk.client.server
    state = await _call(collection, desk, lambda: server.batches.retrieve(batch.id))
    if state is None or state.status not in OVER:
        return False
    attempts = []
    for file in filter(None, (state.output_file_id, state.error_file_id)):
        content = await _call(collection, desk, lambda file=file: server.files.content(file))
        if content is None:
            return False
        for key, reply in _replies(content.content):
            request = batch.requests.pop(key, None)
            if request is not None:
                times = {"started": batch.started, "seconds": time.monotonic() - batch.clock}
                entry = entry_of(request, reply, collection.secrets, batch=batch.id, **times)
                attempts.append((request, entry, collection.worst(request)))
    if not collection.record(desk, attempts):
        return False
    _release(collection, batch.requests.values())
    if state.status == "failed":
        reasons = "; ".join(str(error.message) for error in (state.errors and state.errors.data) or ())
        reasons = collection.secrets.removed(reasons)
        collection.outcome.stop(ENDPOINT, f"{desk.endpoint.name}: the server refused the batch {batch.id}: {reasons}")
    if batch.whole:
        collection.store([{"file": batch.file, "ended": state.status}])
    return True


def _replies(content: bytes) -> Iterator[tuple[str, Reply]]:
    """(key of the request, what came) of each line of a file of the server."""
    for line in content.splitlines():
        record = json.loads(line)
        response, error = record.get("response"), record.get("error")
        if response:
            yield record["custom_id"], Reply(response["status_code"], json.dumps(response["body"]).encode())
        else:
            error = error if isinstance(error, Mapping) else {}
            reason = EXPIRED if error.get("code") == "batch_expired" else SERVER_ERROR
            yield record["custom_id"], Reply(problem=(reason, str(error.get("message"))))


def _release(collection: Collection, requests: Iterable[Request]) -> None:
    """Give back what was reserved for requests that are not under way."""
    for request in requests:
        collection.purse.reserved -= collection.worst(request)


async def _call(collection: Collection, desk: Desk, call: Callable[[], Awaitable[Result]]) -> Result | None:
    """What a call of the server gives, tried again if what fails may pass; None, and the desk closed, if it gives nothing."""
    for attempt in range(1, desk.endpoint.attempts + 1):
        result = await desk.client.tried(call(), TRANSFER)
        if not isinstance(result, Reply):
            return result
        reason, message = failure_of(result)
        if reason not in PASSING or attempt == desk.endpoint.attempts:
            break
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(collection.stopping.wait(), FIRST_WAIT * 2 ** (attempt - 1))
            return None
    collection.close_desk(desk, reason, collection.secrets.removed(message))
    return None
