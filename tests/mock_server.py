"""An OpenAI-compatible server on this machine that answers well or, by a plan, badly, and counts
what it did.
"""

import asyncio
import contextlib
import email
import hashlib
import json
import random
import socket
import struct
import threading
from collections import Counter

REASONS = {  # what each is for who asks
    "rate limit": "rate limit",
    "server error": "server error",
    "stall": "timeout",
    "drip": "timeout",
    "bad JSON": "not JSON",
    "another model": "another model",
    "huge": "too large",
    "reset": "connection",
}
FAULTS = tuple(REASONS)
STATUSES = {
    "rate limit": 429,
    "quota": 429,
    "server error": 500,
    "bad request": 400,
    "unauthorized": 401,
    "not implemented": 501,
}


def digest(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def filled(schema, seed):
    """A value that a JSON schema of labels allows, by a seed."""
    if "enum" in schema:
        return seed.choice(schema["enum"])
    return {name: filled(each, seed) for name, each in schema["properties"].items()}


class Mock:
    """The server, in a thread of its own: `with Mock() as mock`; `mock.url` is its base_url.

    latency: seconds before each answer; plan: faults to choose from; share: of requests that meet
    one, by `seed`, the request and how often it was asked; at_once: most requests under way before
    the others get 429; batch_after: looks at a batch before it is over; batch_share: of a batch's
    requests that are answered.
    """

    latency = 0.0
    plan = FAULTS
    share = 0.0
    at_once = None
    retry_after = "0.05"
    logprobs = (-2.0, -3.0, -4.0, -5.0, -6.0)  # One for each label from 1 to 5
    always = None  # a fault of every request
    redirect = 307  # the status of a redirect
    location = ""  # where it leads
    finish = "stop"
    refusal = None
    batch_after = 1
    batch_share = 1.0
    batch_status = "completed"
    under_way = 0

    def __init__(self, *, seed=0):
        self.seed = seed
        self.done = Counter()  # by fault, "answered", "queried", ...
        self.seen = Counter()  # by last message
        self.log = []  # last messages in the order of their coming
        self.answered = Counter()  # whose answer was sent whole, by last message
        self.keys = set()  # values of Authorization
        self.headers = set()  # names of all headers that came
        self.files, self.batches = {}, {}

    def __enter__(self):
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(10)

    async def _serve(self, ready):
        """Serve until the test is over; connections end with the loop."""
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024)
        self.url = "http://{}:{}/v1".format(*server.sockets[0].getsockname())
        ready.set()
        await self._closing.wait()
        server.close()

    async def _connection(self, reader, writer):
        with contextlib.closing(writer), contextlib.suppress(OSError, EOFError):
            while await self._exchange(reader, writer):
                pass

    async def _exchange(self, reader, writer):
        """Answer one request; whether the connection lives on."""
        first, _, head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").partition("\r\n")
        method, path, _ = first.split(" ")
        headers = email.message_from_string(head)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.keys.add(headers["authorization"])
        self.headers |= {name.lower() for name in headers}
        if path == "/v1/chat/completions":
            return await self._complete(writer, json.loads(body), headers["authorization"])
        path = path.partition("?")[0].split("/")[2:]
        self.done[f"{method} {path[0]}"] += 1
        return await self._send(writer, *self._of_batches(method, path, headers, body))

    async def _complete(self, writer, body, key):
        text = body["messages"][-1]["content"]
        self.seen[text] += 1
        self.log.append(text)
        self.under_way += 1
        try:
            fault = self.always or self._fault(text)
            if self.at_once is not None and self.under_way > self.at_once:
                fault = "rate limit"
            self.done[fault or "answered"] += 1
            if fault != "rate limit":
                await asyncio.sleep(self.latency)
            if fault:
                return await self._fail(writer, fault, body, key)
            await self._send(writer, 200, self.completion(body))
            self.answered[text] += 1
            return True
        finally:
            self.under_way -= 1

    def _fault(self, text):
        seed = random.Random(f"{self.seed} {text} {self.seen[text]}")
        return seed.choice(self.plan) if seed.random() < self.share else None

    async def _fail(self, writer, fault, body, key):
        if fault == "reset":
            writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            return False
        if fault == "stall":
            await self._closing.wait()
            return False
        if fault == "drip":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
        contents = {
            "bad JSON": f'{{"choices": [{key}'.encode(),
            "huge": b'{"choices": "' + b"x" * (1 << 18) + b'"}',  # more than a test lets through
        }
        if fault == "another model":
            return await self._send(
                writer, 200, self.completion(body) | {"model": f"{body['model']}-mini"}
            )
        if fault in contents:
            return await self._send(writer, 200, contents[fault])
        code = "insufficient_quota" if fault == "quota" else None
        error = {"message": f"{fault}, with the header {key}", "type": fault, "code": code}
        headers = {"Location": self.location, "x-ratelimit-reset": "3600"}
        if fault == "rate limit":
            headers = {"Retry-After": self.retry_after}
        status = STATUSES.get(fault, self.redirect)
        return await self._send(writer, status, {"error": error}, headers)

    def completion(self, body):
        """The answer to the body of a request: the same each time. Bytes are sent as they are."""
        text = json.dumps([body["model"], body["messages"]])
        seed = random.Random(digest(text))
        schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
        content = json.dumps(filled(schema, seed)) if schema else str(seed.randint(1, 5))
        logprobs = None
        if body.get("logprobs") and self.logprobs:
            top = [
                {"token": str(label), "logprob": each}
                for label, each in enumerate(self.logprobs, 1)
            ]
            token = {"token": content, "logprob": -0.1, "top_logprobs": top}
            logprobs = {"content": [token], "refusal": None}
        message = {
            "role": "assistant",
            "content": None if self.refusal else content,
            "refusal": self.refusal,
        }
        tokens = {
            "prompt_tokens": len(text.encode()) // 4,
            "completion_tokens": max(1, len(content) // 4),
        }
        return {
            "id": f"chatcmpl-{digest(text)[:12]}",
            "object": "chat.completion",
            "created": 0,
            "model": f"{body['model']}-2026-01-31",
            "choices": [
                {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": self.finish}
            ],
            "usage": tokens | {"total_tokens": sum(tokens.values())},
        }

    def _of_batches(self, method, path, headers, body):
        """The endpoints of files and batches: status, and an object or the content of a file."""
        if path == ["files"]:
            form = b"Content-Type: %b\r\n\r\n%b" % (headers["content-type"].encode(), body)
            parts = email.message_from_bytes(form).get_payload()
            (file,) = (part for part in parts if part.get_filename())
            return 200, {"id": self._file(file.get_payload(decode=True))}
        if path[0] == "files":
            return 200, self.files[path[1]]
        if path == ["batches"] and method == "POST":
            batch = f"batch-{len(self.batches) + 1}"
            file = json.loads(body)["input_file_id"]
            self.batches[batch] = {"id": batch, "input_file_id": file, "status": "in_progress"}
            self.batches[batch]["looks"] = 0
            for line in self.files[file].splitlines():
                self.seen[json.loads(line)["body"]["messages"][-1]["content"]] += 1
            return 200, self.batches[batch]
        if path == ["batches"]:
            return 200, {"data": [*self.batches.values()][::-1]}
        batch = self.batches[path[1]]
        batch["looks"] += 1
        if batch["looks"] > self.batch_after and batch["status"] == "in_progress":
            self._end(batch)
        return 200, batch

    def _file(self, content):
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name

    def _end(self, batch):
        """Answer a share of a batch; the rest has expired."""
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        most = round(self.batch_share * len(lines))
        expired = {"response": None, "error": {"code": "batch_expired", "message": "Too late."}}
        records = [{"id": line["custom_id"], "custom_id": line["custom_id"]} for line in lines]
        for number, line in enumerate(lines):
            response = {"status_code": 200, "body": self.completion(line["body"])}
            records[number] |= {"response": response, "error": None} if number < most else expired
        for name, part in (("output_file_id", records[:most]), ("error_file_id", records[most:])):
            content = "".join(json.dumps(record) + "\n" for record in reversed(part)).encode()
            batch[name] = self._file(content) if part else None
        batch["status"] = self.batch_status

    async def _send(self, writer, status, value, headers=()):
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        headers = {"Content-Length": len(content), **dict(headers)}
        lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
        writer.write(f"HTTP/1.1 {status} Said\r\n{''.join(lines)}\r\n".encode() + content)
        await writer.drain()
        return True
