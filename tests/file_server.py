"""A file server on this machine that answers well or badly, and fixtures that fetch from it."""

import gzip
import hashlib
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from recuse.base.errors import FetchError
from recuse.papers.fetch import fetch


def blob_id(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


CONTENT = b"judge,model,rating\nGPT-4o,Claude v2,3\n" * 1000
BLOB = blob_id(CONTENT)
FLIPPED = CONTENT[:500] + bytes([CONTENT[500] ^ 1]) + CONTENT[501:]
FLIPPED_BLOB = blob_id(FLIPPED)
TRUNCATED_BLOB = blob_id(CONTENT[:700])
REPOSITORY, COMMIT, PATH = "owner/study", "0123456789" * 4, "data/Logical correctness.csv"
PUBLISHED = f"{REPOSITORY}/{COMMIT}/{PATH}"
QUOTED = f"/{REPOSITORY}/{COMMIT}/data/Logical%20correctness.csv"


class Server(ThreadingHTTPServer):
    """Gives its first answer to the first request, and so on; the last one to all that follow."""

    daemon_threads = True

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.requested, self.closing = answers, [], threading.Event()
        self.encodings = []
        self.lock = threading.Lock()
        self.mirror = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        # A client that hung up is what the test is about
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        with self.server.lock:
            number = len(self.server.requested)
            self.server.requested.append(self.path)
            self.server.encodings.append(self.headers["Accept-Encoding"])
        self.server.answers[min(number, len(self.server.answers) - 1)](self)
        self.close_connection = True

    def log_message(self, *arguments):
        pass


# Seconds that a server in trouble goes on, unless the test is done before: many more than the
# limits of requests, so that a slow machine is not taken for a request that ignores its limit
LASTING = 60


def body(content, length=None, seconds=0.0):
    """Answer 200 with `content`; `length` is the Content-Length (None: none is sent)."""

    def answer(handler):
        handler.send_response(200)
        if length is not None:
            handler.send_header("Content-Length", str(length))
        handler.end_headers()
        handler.wfile.write(content)
        handler.server.closing.wait(seconds)

    return answer


def status(code):
    return lambda handler: handler.send_error(code)


def redirect(handler):
    handler.send_response(302)
    handler.send_header("Location", "/elsewhere")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def broken_chunk(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nonly this")


def silence(handler):
    handler.server.closing.wait(LASTING)


def drip(start):
    """Send `start`, then a byte every 20 ms until LASTING: no silence is ever long."""

    def answer(handler):
        handler.wfile.write(start)
        for _ in range(50 * LASTING):
            handler.wfile.write(b"x")
            if handler.server.closing.wait(0.02):
                return

    return answer


def packed(damage):
    """Answer in gzip though nobody asked for it, as some proxies do."""

    def answer(handler):
        content = damage(gzip.compress(CONTENT))
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
            % len(content)
        )
        handler.wfile.write(content)

    return answer


good = body(CONTENT, len(CONTENT))


@pytest.fixture
def serve(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    servers = []

    def start(*answers):
        server = Server(*answers)
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.closing.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def get(tmp_path):
    """Fetch into folders of this test, with short waits; the returned destination holds the
    file.
    """
    (tmp_path / "cache").mkdir()
    (tmp_path / "out").mkdir()

    def call(mirror, name="file.csv", **changed):
        destination = tmp_path / "out" / name
        usual = {
            "repository": REPOSITORY,
            "commit": COMMIT,
            "path": PATH,
            "blob": BLOB,
            "mirror": str(mirror),
            "cache": tmp_path / "cache",
            "destination": destination,
            "wait": 0.01,
            "attempts": 3,
        }
        fetch(**usual | changed)
        return destination

    return call


@pytest.fixture
def fails(get, tmp_path):
    """Fetch, assert that it fails, leaves no file, says what was tried and expected and what to do;
    give the number of attempts and what was found.
    """

    def call(mirror, **changed):
        with pytest.raises(FetchError) as caught:
            get(mirror, **changed)
        assert files(tmp_path / "cache") == files(tmp_path / "out") == []
        start, attempts, rest = re.split(r" \((\d+) attempts?\); expected ", str(caught.value))
        expected, found = rest.split(", found ", 1)
        found, advice = found.rsplit("; ", 1)
        is_url = "://" in mirror
        place = mirror.rstrip("/") + QUOTED if is_url else Path(mirror, PUBLISHED).absolute()
        assert start == f"{REPOSITORY}: {PATH}: tried {place}"
        assert expected == ("status 200 and " if is_url else "") + f"blob {BLOB}"
        assert "`mirror:`" in advice
        assert "RECUSE_MIRROR" in advice
        return int(attempts), found

    return call


def files(folder):
    return sorted(path.name for path in Path(folder).rglob("*") if path.is_file())


def fill(folder, content):
    """Lay a file out as a mirror folder has it."""
    file = folder / PUBLISHED
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file
