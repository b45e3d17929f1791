"""Servers that refuse, stall, drip, truncate or alter: what is tried again, and what is said."""

import socket
import threading
import time

import pytest
import requests

from file_server import (
    BLOB,
    CONTENT,
    FLIPPED,
    FLIPPED_BLOB,
    QUOTED,
    TRUNCATED_BLOB,
    body,
    broken_chunk,
    drip,
    files,
    good,
    packed,
    silence,
    status,
)


@pytest.mark.parametrize(
    ("code", "found"),
    [(404, "404 Not Found"), (403, "403 Forbidden"), (410, "410 Gone"), (204, "204 No Content")],
)
def test_refusal_is_not_tried_again(serve, fails, code, found):
    server = serve(status(code), good)
    message = fails(server.mirror)
    assert len(server.requested) == 1
    assert f"tried {server.mirror}{QUOTED} (1 attempt)" in message
    assert f"expected status 200 and blob {BLOB}, found {found};" in message


@pytest.mark.parametrize(
    "bad",
    [
        status(500),
        status(503),
        status(429),
        body(CONTENT[:700], len(CONTENT)),
        body(CONTENT[:700]),
        body(FLIPPED, len(FLIPPED)),
        broken_chunk,
        packed(lambda content: b"?" + content),
        lambda handler: None,
    ],
    ids=["500", "503", "429", "truncated", "truncated without length", "flipped", "broken chunk", "broken gzip", "hung up"],
)
def test_passing_trouble_twice_then_good(serve, get, tmp_path, capfd, bad):
    server = serve(bad, bad, good)
    assert get(server.mirror).read_bytes() == CONTENT
    assert server.requested == [QUOTED] * 3
    assert files(tmp_path / "cache") == [BLOB]
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 3
    for line, start in zip(said, ("attempt 1 of 3: ", "attempt 2 of 3: ", "fetched "), strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (status(500), "500 Internal Server Error"),
        (status(429), "429 Too Many Requests"),
        (body(CONTENT[:700], len(CONTENT)), f"truncated: 700 of {len(CONTENT)} bytes"),
        (body(CONTENT[:700]), f"blob {TRUNCATED_BLOB} of 700 bytes"),
        (body(b""), "blob e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 of 0 bytes"),
        (body(FLIPPED, len(FLIPPED)), f"blob {FLIPPED_BLOB} of {len(FLIPPED)} bytes"),
        (broken_chunk, "truncated"),
        (lambda handler: None, "remote end closed connection without response"),
    ],
    ids=[
        "500",
        "429",
        "truncated",
        "truncated without length",
        "empty",
        "flipped",
        "broken chunk",
        "hung up",
    ],
)
def test_lasting_trouble_is_told(serve, fails, bad, found):
    server = serve(bad)
    message = fails(server.mirror)
    assert len(server.requested) == 3
    assert f"tried {server.mirror}{QUOTED} (3 attempts)" in message
    assert f", found {found};" in message


@pytest.mark.parametrize(
    "stalled", [silence, body(CONTENT[:700], len(CONTENT), seconds=3.0)], ids=["before header", "within body"]
)
def test_stalled_server(serve, get, fails, tmp_path, stalled):
    server = serve(stalled)
    started = time.monotonic()
    message = fails(server.mirror, timeout=(1.0, 0.15), attempts=2)
    assert time.monotonic() - started < 1.5
    assert len(server.requested) == 2
    assert "(2 attempts)" in message
    assert ", found no answer within 0.15 s;" in message


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX: ",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
    ],
    ids=["status line", "header", "body", "body without length"],
)
def test_slow_drip_ends_at_the_deadline(serve, fails, tmp_path, start):
    server = serve(drip(start))
    started = time.monotonic()
    message = fails(server.mirror, timeout=(1.0, 1.0), deadline=0.15, attempts=2)
    assert 0.3 <= time.monotonic() - started < 1.0
    assert len(server.requested) == 2
    assert ", found an answer still incomplete after 0.15 s;" in message
    server.closing.set()  # the threads left behind now get an end of the body, and must write nothing
    time.sleep(0.05)
    assert files(tmp_path) == []


def test_endless_body_is_hung_up_on(serve, fails):
    ended = threading.Event()

    def endless(handler):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
        try:
            while not handler.server.closing.wait(0.002):
                handler.wfile.write(b"x" * 20_000)
        except OSError:
            ended.set()

    message = fails(serve(endless).mirror, deadline=0.15, attempts=1)
    assert ", found an answer still incomplete after 0.15 s;" in message
    assert ended.wait(1.0)


def test_connection_refused(fails):
    with socket.socket() as taken:  # bound, not listening: nobody else can answer on this port
        taken.bind(("127.0.0.1", 0))
        mirror = f"http://127.0.0.1:{taken.getsockname()[1]}"
        message = fails(mirror)
    assert f"tried {mirror}{QUOTED} (3 attempts)" in message
    assert ", found connection refused;" in message


def test_no_connection_in_time(fails, monkeypatch):
    def late(*arguments, **options):
        raise requests.ConnectTimeout(TimeoutError("timed out"))

    monkeypatch.setattr("requests.get", late)
    message = fails("http://127.0.0.1", timeout=(0.25, 9.0))
    assert "(3 attempts)" in message
    assert ", found no connection within 0.25 s;" in message


def test_waits_double(serve, fails, monkeypatch):
    waits = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waits.append)
    fails(serve(status(500)).mirror, attempts=4, wait=1.0)
    assert len(waits) == 3
    for number, seconds in enumerate(waits):
        assert 2**number < seconds <= 2**number + 1.0  # a random part, so that many jobs do not come at once


@pytest.mark.parametrize("mirror", ["s3://bucket", "http://", "http://[::1", "http://host:port"])
def test_url_that_cannot_be_is_not_tried_again(fails, mirror):
    assert "(1 attempt)" in fails(mirror)


def test_password_of_the_mirror_is_not_told(serve, fails, capfd):
    server = serve(status(500))
    mirror = server.mirror.replace("http://", "http://user:secret@")
    message = fails(mirror)
    assert "secret" not in message + capfd.readouterr().err
    assert f"{server.mirror}{QUOTED}" in message
