"""Published files: what is fetched, from where, what is kept, and the message when a mirror
fails.
"""

import os
import random
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import requests

from file_server import (
    BLOB,
    COMMIT,
    CONTENT,
    FLIPPED,
    FLIPPED_BLOB,
    LASTING,
    PATH,
    QUOTED,
    REPOSITORY,
    TRUNCATED_BLOB,
    body,
    broken_chunk,
    drip,
    files,
    fill,
    good,
    packed,
    redirect,
    silence,
    status,
)
from recuse.base.errors import ConfigError, FetchError
from recuse.papers.fetch import cache_folder, git_blob_id, mirror_location

LIBRARY = str(Path(__file__).parents[2] / "workflow" / "lib")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),  # git hash-object --stdin < /dev/null
        # Echo hello | git hash-object --stdin
        (b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"),
    ],
)
def test_blob_id_is_that_of_git(tmp_path, content, expected):
    (tmp_path / "file").write_bytes(content)
    assert git_blob_id(tmp_path / "file") == expected


@pytest.mark.parametrize(
    "answer",
    [good, body(CONTENT), packed(lambda content: content)],
    ids=["with length", "without length", "gzip"],
)
def test_good_file_with_a_space_in_its_path(serve, get, tmp_path, capfd, answer):
    server = serve(answer)
    assert get(server.mirror + "/").read_bytes() == CONTENT
    assert server.requested == [QUOTED]
    assert files(tmp_path / "cache") == [BLOB]
    assert files(tmp_path / "out") == ["file.csv"]
    assert capfd.readouterr().err == f"fetched {PATH}: {len(CONTENT)} bytes\n"


def test_files_are_readable_as_the_umask_says(serve, get, tmp_path):
    before = os.umask(0o022)
    try:
        destination = get(serve(good).mirror)
    finally:
        os.umask(before)
    assert destination.stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "cache" / BLOB).stat().st_mode & 0o777 == 0o644


def test_compression_is_not_asked_for(serve, get):
    asked = []

    def answer(handler):
        asked.append(handler.headers["Accept-Encoding"])
        good(handler)

    get(serve(answer).mirror)
    assert asked == ["identity"]


def test_redirect_is_followed(serve, get):
    server = serve(redirect, good)
    assert get(server.mirror).read_bytes() == CONTENT
    assert server.requested == [QUOTED, "/elsewhere"]


@pytest.mark.parametrize("form", ["folder", "file URL", "relative"])
def test_local_folder(get, tmp_path, monkeypatch, form):
    folder = tmp_path / "my mirror"
    fill(folder, CONTENT)
    monkeypatch.chdir(tmp_path)
    mirror = {"folder": str(folder), "file URL": folder.as_uri(), "relative": "my mirror"}[form]
    assert get(mirror).read_bytes() == CONTENT
    assert files(tmp_path / "cache") == [BLOB]


def test_local_file_missing(fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = fails("mirror")
    assert f"tried {tmp_path / 'mirror' / REPOSITORY / COMMIT / PATH} (1 attempt)" in message
    assert f"expected blob {BLOB}, found no such file;" in message


def test_local_file_is_a_folder_or_too_large(fails, tmp_path):
    (tmp_path / "folders" / REPOSITORY / COMMIT / PATH).mkdir(parents=True)
    assert ", found a folder;" in fails(tmp_path / "folders")
    fill(tmp_path / "large", CONTENT)
    assert "more than 1,000 bytes" in fails(tmp_path / "large", largest=1000)


def test_local_file_differs(fails, tmp_path):
    file = fill(tmp_path / "mirror", FLIPPED)
    message = fails(tmp_path / "mirror")
    assert f"tried {file} (1 attempt)" in message
    assert f"expected blob {BLOB}, found blob {FLIPPED_BLOB} of {len(FLIPPED)} bytes;" in message
    assert file.read_bytes() == FLIPPED


def test_second_fetch_makes_no_request(serve, get, tmp_path, capfd):
    server = serve(good, status(404))
    get(server.mirror)
    assert get(server.mirror, name="again.csv").read_bytes() == CONTENT
    assert len(server.requested) == 1
    assert f"taken from {tmp_path / 'cache' / BLOB}: {len(CONTENT)} bytes" in capfd.readouterr().err


def test_damaged_cache_is_replaced(serve, get, tmp_path, capfd):
    (tmp_path / "cache" / BLOB).write_bytes(FLIPPED)
    server = serve(good)
    assert get(server.mirror).read_bytes() == CONTENT
    assert len(server.requested) == 1
    assert (tmp_path / "cache" / BLOB).read_bytes() == CONTENT
    assert files(tmp_path / "cache") == [BLOB]
    assert "removed the damaged" in capfd.readouterr().err


def test_failure_removes_damaged_cache_and_older_destination(serve, fails, tmp_path):
    (tmp_path / "cache" / BLOB).write_bytes(FLIPPED)
    (tmp_path / "out" / "file.csv").write_bytes(b"older")
    fails(serve(status(404)).mirror)


def test_cache_that_cannot_be_written(serve, get, tmp_path):
    (tmp_path / "not a folder").write_bytes(b"")
    with pytest.raises(FetchError, match=r"not a folder.*RECUSE_CACHE") as caught:
        get(serve(good).mirror, cache=tmp_path / "not a folder" / "cache")
    assert PATH in str(caught.value)
    assert files(tmp_path / "out") == []


def test_full_disk(serve, get, tmp_path, monkeypatch):
    def full(source, destination):
        raise OSError(28, "No space left on device", str(destination))

    server = serve(good)
    monkeypatch.setattr("recuse.papers.fetch.shutil.copyfile", full)
    (tmp_path / "cache" / BLOB).write_bytes(FLIPPED)
    with pytest.raises(FetchError, match=r"found No space left on device at .*RECUSE_CACHE"):
        get(server.mirror)
    assert files(tmp_path / "out") == []


def test_cache_that_cannot_be_replaced_leaves_no_destination(serve, get, tmp_path, monkeypatch):
    replace = os.replace

    def refuse(source, target):
        if Path(target).parent == tmp_path / "cache":
            raise PermissionError(13, "Permission denied", str(target))
        replace(source, target)

    monkeypatch.setattr("recuse.base.outputs.os.replace", refuse)
    with pytest.raises(FetchError, match="found Permission denied at "):
        get(serve(good).mirror)
    assert files(tmp_path) == []


def test_two_threads_fetch_the_same_file(serve, get, tmp_path):
    together = threading.Barrier(2, timeout=LASTING / 2)

    def both_at_once(handler):
        together.wait()
        good(handler)

    server = serve(both_at_once)
    failures = []

    def run(name):
        try:
            get(server.mirror, name=name, attempts=1)
        except FetchError as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one.csv", "two.csv")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LASTING)
    assert failures == []
    assert len(server.requested) == 2
    assert [(tmp_path / "out" / name).read_bytes() for name in files(tmp_path / "out")] == [
        CONTENT,
        CONTENT,
    ]
    assert files(tmp_path / "cache") == [BLOB]


def test_process_ends_though_the_server_still_drips(serve, tmp_path):
    server = serve(drip(b""))
    program = f"""
import sys
from pathlib import Path
from recuse.base.errors import FetchError
from recuse.papers.fetch import fetch
try:
    fetch(repository="a/b", commit="c", path="d", blob="{BLOB}", mirror="{server.mirror}",
          cache=Path("cache"), destination=Path("out"), attempts=1, deadline=0.1)
except FetchError:
    sys.exit(3)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": LIBRARY},
        timeout=LASTING / 2,  # The server would drip longer.
    )
    assert done.returncode == 3


def test_mirror_of_the_environment_goes_first():
    assert mirror_location("https://config", {"RECUSE_MIRROR": "/folder"}) == "/folder"
    assert mirror_location("https://config", {"RECUSE_MIRROR": ""}) == "https://config"
    assert mirror_location("https://config", {}) == "https://config"
    assert mirror_location("", {"RECUSE_MIRROR": "/folder"}) == "/folder"
    with pytest.raises(ConfigError, match="RECUSE_MIRROR"):
        mirror_location("", {})


def test_cache_folder(tmp_path):
    assert cache_folder({"RECUSE_CACHE": str(tmp_path)}) == tmp_path
    assert cache_folder({}) == cache_folder({"RECUSE_CACHE": ""})
    assert cache_folder({}).name == "recuse"


@pytest.mark.parametrize(
    ("code", "result"),
    [(404, "404 Not Found"), (403, "403 Forbidden"), (410, "410 Gone"), (204, "204 No Content")],
)
def test_refusal_is_not_tried_again(serve, fails, code, result):
    server = serve(status(code), good)
    message = fails(server.mirror)
    assert len(server.requested) == 1
    assert f"tried {server.mirror}{QUOTED} (1 attempt)" in message
    assert f"expected status 200 and blob {BLOB}, found {result};" in message


# What a server may do wrong in passing, and what is said if it does so to the last
TROUBLES = {
    "500": (status(500), "500 Internal Server Error"),
    "429": (status(429), "429 Too Many Requests"),
    "truncated": (
        body(CONTENT[:700], len(CONTENT)),
        f"truncated: 700 of {len(CONTENT)} bytes",
    ),
    "truncated without length": (body(CONTENT[:700]), f"blob {TRUNCATED_BLOB} of 700 bytes"),
    "empty": (body(b""), "blob e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 of 0 bytes"),
    "flipped": (
        body(FLIPPED, len(FLIPPED)),
        f"blob {FLIPPED_BLOB} of {len(FLIPPED)} bytes",
    ),
    "broken chunk": (broken_chunk, "truncated"),
    "hung up": (lambda handler: None, "remote end closed connection without response"),
}


@pytest.mark.parametrize("bad", [*TROUBLES, "broken gzip"])
def test_passing_trouble_twice_then_good(serve, get, tmp_path, capfd, bad):
    trouble, _ = TROUBLES.get(bad) or (packed(lambda content: b"?" + content), "")
    server = serve(trouble, trouble, good)
    assert get(server.mirror).read_bytes() == CONTENT
    assert server.requested == [QUOTED] * 3
    assert files(tmp_path / "cache") == [BLOB]
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 3
    for line, start in zip(
        lines, ("attempt 1 of 3: ", "attempt 2 of 3: ", "fetched "), strict=True
    ):
        assert line.startswith(start)


@pytest.mark.parametrize(("bad", "result"), TROUBLES.values(), ids=TROUBLES)
def test_lasting_trouble_is_reported(serve, fails, bad, result):
    server = serve(bad)
    message = fails(server.mirror)
    assert len(server.requested) == 3
    assert f"tried {server.mirror}{QUOTED} (3 attempts)" in message
    assert f", found {result};" in message


@pytest.mark.parametrize(
    "stalled",
    [silence, body(CONTENT[:700], len(CONTENT), seconds=LASTING)],
    ids=["before header", "within body"],
)
def test_stalled_server(serve, get, fails, tmp_path, stalled):
    server = serve(stalled)
    started = time.monotonic()
    message = fails(server.mirror, timeout=(1.0, 0.15), attempts=2)
    assert time.monotonic() - started < LASTING / 2
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
    assert 0.3 <= time.monotonic() - started < LASTING / 2
    assert len(server.requested) == 2
    assert ", found an answer still incomplete after 0.15 s;" in message
    # The threads left behind now get an end of the body, and must write nothing
    server.closing.set()
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
    assert ended.wait(LASTING / 2)


HEADERS = [
    b"Content-Length: \xb2\xb3",
    b"Content-Length: " + b"9" * 400,
    b"Content-Length: -1",
    b"Content-Encoding: gzip, br, zstd",
    b"Transfer-Encoding: chunked\r\n\r\n-5\r\nabcde",
    b"Set-Cookie: \xff=\xff; expires=x",
    *(
        b"Location: " + place
        for place in (
            b"http://[",
            b"http://\xff/",
            b"\xe9",
            b"http://" + b"x" * 300,
            b"http://.example./",
        )
    ),
]


@pytest.mark.parametrize("header", HEADERS)
def test_headers_that_no_library_expects(serve, fails, header):
    status = b"302 Found" if header.startswith(b"Location") else b"200 OK"
    server = serve(
        lambda handler: handler.wfile.write(b"HTTP/1.1 %s\r\n%s\r\n\r\nx" % (status, header))
    )
    assert len(fails(server.mirror, timeout=(1.0, 1.0))) < 1500


def test_random_changes_of_an_answer(serve, fails):
    """A hundred answers with up to four bytes or runs of bytes changed: each fails in words and
    leaves nothing.
    """
    random_numbers = random.Random(16)
    lines = (
        b"HTTP/1.1 200 OK",
        b"Content-Length: 8",
        b"Content-Encoding: gzip",
        b"Transfer-Encoding: chunked",
        b"",
        b"5",
    )

    def changed(handler):
        answer = bytearray(b"\r\n".join([*lines, b"abcde", b"0", b"", b""]))
        for _ in range(random_numbers.randint(1, 4)):
            place = random_numbers.randrange(len(answer))
            length = random_numbers.randrange(3)
            answer[place : place + random_numbers.randrange(9)] = random_numbers.randbytes(length)
        handler.wfile.write(answer)

    server = serve(changed)
    for _ in range(100):
        fails(server.mirror, timeout=(1.0, 0.3), attempts=1)


@pytest.mark.parametrize("length", [None, 10**9])
def test_endless_download_is_bounded(serve, fails, length):
    server = serve(body(bytes(3_000_000), length))
    message = fails(server.mirror, largest=100_000)
    assert "found more than 100,000 bytes, the `download_limit:` in config" in message
    assert len(server.requested) == 1


def test_what_a_killed_process_left_is_removed(serve, get, tmp_path):
    cache = tmp_path / "cache"
    mirror = serve(drip(b"HTTP/1.1 200 OK\r\n\r\n")).mirror
    program = f"""
from pathlib import Path
from recuse.papers.fetch import fetch
fetch(repository="a/b", commit="c", path="d", blob="{BLOB}", mirror="{mirror}",
      cache=Path("{cache}"), destination=Path("file"))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | {"PYTHONPATH": LIBRARY}
    )
    try:
        parts = []
        while not parts and process.poll() is None:
            parts = list(cache.glob(".*.part"))
            time.sleep(0.01)
        server = serve(good)
        get(server.mirror, name="first.csv")  # while that process still runs
        assert list(cache.glob(".*.part")) == parts != []
    finally:
        process.kill()
        process.wait()
    (cache / BLOB).unlink()
    get(server.mirror, name="second.csv")
    assert files(cache) == [BLOB]


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
        # A random part, so that many jobs do not come at once
        assert 2**number < seconds <= 2**number + 1.0


@pytest.mark.parametrize("mirror", ["s3://bucket", "http://", "http://[::1", "http://host:port"])
def test_url_that_cannot_be_is_not_tried_again(fails, mirror):
    assert "(1 attempt)" in fails(mirror)


def test_password_of_the_mirror_is_not_printed(serve, fails, capfd):
    server = serve(status(500))
    mirror = server.mirror.replace("http://", "http://user:secret@")
    message = fails(mirror)
    assert "secret" not in message + capfd.readouterr().err
    assert f"{server.mirror}{QUOTED}" in message
