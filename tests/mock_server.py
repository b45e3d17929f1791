"""An OpenAI-compatible server on this machine that answers well or, by a plan, badly, and counts
what it did.

`python tests/mock_server.py --latency 0.2` prints its address and serves until it is ended.
"""

import argparse
import asyncio
import contextlib
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


def digest(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def filled(schema, seed):
    """A value that a JSON schema of labels allows, by a seed."""
    if "enum" in schema:
        return seed.choice(schema["enum"])
    return {name: filled(each, seed) for name, each in schema["properties"].items()}


class Mock:
    """The server, in a thread of its own: `with Mock(...) as mock`; `mock.url` is its base_url.

    latency: seconds before each answer; plan: faults to choose from; share: of requests that meet
    one, by `seed`, the request and how often it was asked; at_once: most requests under way before
    the others get 429; batch_after: looks at a batch before it is over; batch_share: of a batch's
    requests that are answered.
    """

    def __init__(self, *, latency=0.0, share=0.0, seed=0):
        self.latency, self.plan, self.share, self.seed = latency, FAULTS, share, seed
        self.at_once, self.retry_after, self.logprobs = None, "0.05", True
        self.always = None  # a fault of every request
        self.redirect, self.location = 307, ""  # status of a redirect, and where it leads
        self.raw = None  # function of the request's body: the bytes of the response to it
        self.finish = "stop"
        self.refusal = None
        self.batch_after, self.batch_share, self.batch_status = 1, 1.0, "completed"
        self.done = Counter()  # by fault, "answered", "queried", ...
        self.seen = Counter()  # by last message
        self.log = []  # last messages in the order of their coming
        self.answered = Counter()  # whose answer was sent whole, by last message
        self.keys = set()  # values of Authorization
        self.headers = set()  # names of all headers that came
        self.under_way = 0
        self.files, self.batches = {}, {}
        self.connections = set()

    def __enter__(self):
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(10)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    async def _serve(self, ready):
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._closing.wait()
        server.close()
        for task in [*self.connections]:
            task.cancel()
        await asyncio.gather(*self.connections, return_exceptions=True)

    async def _connection(self, reader, writer):
        task = asyncio.current_task()
        self.connections.add(task)
        try:
            with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self.connections.discard(task)
            writer.close()

    async def _exchange(self, reader, writer):
        """Answer one request; whether the connection lives on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {
            name.lower(): value
            for name, _, value in (line.partition(": ") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.keys.add(headers.get("authorization"))
        self.headers |= headers.keys()
        if path == "/v1/chat/completions":
            return await self._complete(writer, json.loads(body), headers)
        self.done[f"{method} {path.split('/')[2].split('?')[0]}"] += 1
        status, value = self._of_batches(method, path.split("?")[0].split("/")[2:], headers, body)
        if isinstance(value, bytes):
            return await self._send(writer, status, value)
        return await self._reply(writer, value, status)

    async def _complete(self, writer, body, headers):
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
            return await (
                self._fail(writer, fault, body, headers)
                if fault
                else self._answer(writer, text, body)
            )
        finally:
            self.under_way -= 1

    def _fault(self, text):
        seed = random.Random(f"{self.seed} {text} {self.seen[text]}")
        return seed.choice(self.plan) if seed.random() < self.share else None

    async def _answer(self, writer, text, body):
        raw = self.raw and self.raw(body)
        lives = await (
            self._reply(writer, self.completion(body))
            if raw is None
            else self._send(writer, 200, raw)
        )
        self.answered[text] += 1
        return lives

    async def _fail(self, writer, fault, body, headers):
        statuses = {
            "rate limit": 429,
            "quota": 429,
            "server error": 500,
            "bad request": 400,
            "unauthorized": 401,
            "redirect": self.redirect,
            "not implemented": 501,
        }
        if fault in statuses:
            code = "insufficient_quota" if fault == "quota" else None
            message = f"{fault}, with the header {headers.get('authorization')}"
            error = {"message": message, "type": fault, "code": code}
            extra = {"Location": self.location, "x-ratelimit-reset": "3600"}
            if fault == "rate limit":
                extra = {"Retry-After": self.retry_after}
            return await self._reply(writer, {"error": error}, statuses[fault], extra)
        if fault == "bad JSON":
            return await self._send(
                writer, 200, b'{"choices": [' + str(headers.get("authorization")).encode()
            )
        if fault == "another model":
            return await self._reply(
                writer, self.completion(body) | {"model": f"{body['model']}-mini"}
            )
        if fault == "huge":
            return await self._send(writer, 200, b'{"choices": "' + b"x" * (1 << 18) + b'"}')
        if fault == "reset":
            writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            return False
        if fault == "drip":
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:"
                b" 100000\r\n\r\n"
            )
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.02)
        await self._closing.wait()  # a stall
        return False

    def completion(self, body):
        """The answer to the body of a request: the same each time."""
        text = json.dumps([body["model"], body["messages"]])
        seed = random.Random(digest(text))
        schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
        content = json.dumps(filled(schema, seed)) if schema else str(seed.randint(1, 5))
        logprobs = None
        if body.get("logprobs") and self.logprobs:
            top = [
                {"token": str(label), "logprob": -1.0 - label, "bytes": None}
                for label in range(1, 6)
            ]
            logprobs = {
                "content": [
                    {"token": content, "logprob": -0.1, "bytes": None, "top_logprobs": top}
                ],
                "refusal": None,
            }
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
            boundary = headers["content-type"].partition("boundary=")[2].encode()
            parts = [part.partition(b"\r\n\r\n") for part in body.split(b"--" + boundary)]
            content = next(
                content.removesuffix(b"\r\n")
                for head, _, content in parts
                if b'name="file"' in head
            )
            return 200, {"id": self._file(content)}
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
        output, errors = [], []
        for number, line in enumerate(lines):
            entry = {"id": f"r{number}", "custom_id": line["custom_id"]}
            response = {"status_code": 200, "body": self.completion(line["body"])}
            if number < most:
                output.append(entry | {"response": response, "error": None})
            else:
                errors.append(entry | expired)
        for name, records in (("output_file_id", output), ("error_file_id", errors)):
            content = "".join(json.dumps(record) + "\n" for record in reversed(records)).encode()
            batch[name] = self._file(content) if records else None
        batch["status"] = self.batch_status

    async def _reply(self, writer, value, status=200, headers=()):
        return await self._send(
            writer,
            status,
            json.dumps(value).encode(),
            {"Content-Type": "application/json", **dict(headers)},
        )

    async def _send(self, writer, status, content, headers=()):
        lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in dict(headers).items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()
        return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    with Mock(latency=parser.parse_args().latency) as mock:
        print(mock.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
