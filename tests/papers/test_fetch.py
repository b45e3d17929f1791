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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from file_server import (
    BLOB,
    CONTENT,
    FLIPPED,
    FLIPPED_BLOB,
    LASTING,
    PATH,
    PUBLISHED,
    QUOTED,
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
    """After a redirect, not asked for in compressed form, and readable as the umask says."""
    server = serve(redirect, answer)
    assert get(server.mirror + "/").read_bytes() == CONTENT
    assert server.requested == [QUOTED, "/elsewhere"]
    assert server.encodings == ["identity"] * 2
    assert files(tmp_path / "cache") == [BLOB]
    assert files(tmp_path / "out") == ["file.csv"]
    assert capfd.readouterr().err == f"fetched {PATH}: {len(CONTENT)} bytes\n"
    (tmp_path / "plain").touch()
    names = ("plain", "out/file.csv", f"cache/{BLOB}")
    assert len({(tmp_path / name).stat().st_mode for name in names}) == 1


@pytest.mark.parametrize("form", ["folder", "file URL", "relative"])
def test_local_folder(get, tmp_path, monkeypatch, form):
    folder = tmp_path / "my mirror"
    fill(folder, CONTENT)
    monkeypatch.chdir(tmp_path)
    mirror = {"folder": str(folder), "file URL": folder.as_uri(), "relative": "my mirror"}[form]
    assert get(mirror).read_bytes() == CONTENT
    assert files(tmp_path / "cache") == [BLOB]


def test_local_file_that_is_not_the_published_one(fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert fails("mirror") == (1, "no such file")
    file = tmp_path / "mirror" / PUBLISHED
    file.mkdir(parents=True)
    assert fails("mirror") == (1, "a folder")
    file.rmdir()
    file.write_bytes(FLIPPED)
    assert fails("mirror") == (1, f"blob {FLIPPED_BLOB} of {len(FLIPPED)} bytes")
    assert fails("mirror", largest=1000)[1].startswith("more than 1,000 bytes")
    assert file.read_bytes() == FLIPPED


def test_damaged_cache_is_replaced_and_a_second_fetch_makes_no_request(serve, get, tmp_path, capfd):
    cached = tmp_path / "cache" / BLOB
    cached.write_bytes(FLIPPED)
    server = serve(good, status(404))
    for name, said in (
        ("first.csv", f"removed the damaged {cached}: "),
        ("second.csv", f"taken from {cached}: {len(CONTENT)} bytes"),
    ):
        assert get(server.mirror, name=name).read_bytes() == CONTENT
        assert said in capfd.readouterr().err
        assert cached.read_bytes() == CONTENT
        assert files(tmp_path / "cache") == [BLOB]
        assert len(server.requested) == 1


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
    with ThreadPoolExecutor(2) as pool:
        fetched = pool.map(lambda name: get(server.mirror, name=name, attempts=1), ("one", "two"))
        assert [file.read_bytes() for file in fetched] == [CONTENT, CONTENT]
    assert len(server.requested) == 2
    assert files(tmp_path / "cache") == [BLOB]


def fetching(mirror, folder, *, deadline):
    """A process that tries once to fetch a file of which the folder `cache` has a part
    meanwhile.
    """
    program = f"""
from pathlib import Path
from recuse.papers.fetch import fetch
fetch(repository="a/b", commit="c", path="d", blob="{BLOB}", mirror="{mirror}",
      cache=Path("cache"), destination=Path("file"), attempts=1, deadline={deadline})
"""
    environment = os.environ | {"PYTHONPATH": LIBRARY}
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, env=environment, stderr=subprocess.PIPE
    )


def test_process_ends_though_the_server_still_drips(serve, tmp_path):
    process = fetching(serve(drip(b"")).mirror, tmp_path, deadline=0.1)
    _, error = process.communicate(timeout=LASTING / 2)  # The server would drip longer.
    assert b"FetchError" in error


def test_what_a_killed_process_left_is_removed(serve, get, tmp_path):
    cache = tmp_path / "cache"
    with fetching(serve(drip(b"")).mirror, tmp_path, deadline=LASTING) as process:
        parts = []
        while not parts and process.poll() is None:
            parts = list(cache.glob(".*.part"))
            time.sleep(0.01)
        server = serve(good)
        get(server.mirror, name="first.csv")  # while that process still runs
        assert list(cache.glob(".*.part")) == parts != []
        process.kill()
    (cache / BLOB).unlink()
    get(server.mirror, name="second.csv")
    assert files(cache) == [BLOB]


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


@pytest.mark.parametrize("result", ["404 Not Found", "403 Forbidden", "410 Gone", "204 No Content"])
def test_refusal_is_not_tried_again(serve, fails, result):
    server = serve(status(int(result[:3])), good)
    assert fails(server.mirror) == (1, result)
    assert len(server.requested) == 1


@pytest.mark.parametrize(
    ("trouble", "found"),
    [
        (status(500), "500 Internal Server Error"),
        (status(429), "429 Too Many Requests"),
        (body(CONTENT[:700], len(CONTENT)), f"truncated: 700 of {len(CONTENT)} bytes"),
        (body(CONTENT[:700]), f"blob {TRUNCATED_BLOB} of 700 bytes"),
        (body(b""), "blob e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 of 0 bytes"),
        (body(FLIPPED, len(FLIPPED)), f"blob {FLIPPED_BLOB} of {len(FLIPPED)} bytes"),
        (broken_chunk, "truncated"),
        (
            packed(lambda content: b"?" + content),
            "error -3 while decompressing data: incorrect header check",
        ),
        (lambda handler: None, "remote end closed connection without response"),
    ],
)
def test_trouble_is_reported_if_it_lasts_and_a_good_file_taken_if_it_passes(
    serve, get, fails, tmp_path, capfd, trouble, found
):
    server = serve(*[trouble] * 5, good)
    assert fails(server.mirror) == (3, found)
    assert get(server.mirror).read_bytes() == CONTENT
    assert server.requested == [QUOTED] * 6
    assert files(tmp_path / "cache") == [BLOB]
    starts = [line.split(" of ")[0] for line in capfd.readouterr().err.splitlines()]
    assert starts[:-1] == ["attempt 1", "attempt 2"] * 2
    assert starts[-1].startswith("fetched ")


@pytest.mark.parametrize(
    "stalled",
    [silence, body(CONTENT[:700], len(CONTENT), seconds=LASTING)],
    ids=["before header", "within body"],
)
def test_stalled_server(serve, fails, stalled):
    server = serve(stalled)
    started = time.monotonic()
    assert fails(server.mirror, timeout=(1.0, 0.15)) == (3, "no answer within 0.15 s")
    assert time.monotonic() - started < LASTING / 2
    assert len(server.requested) == 3


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
    result = fails(server.mirror, timeout=(1.0, 1.0), deadline=0.15, attempts=2)
    assert result == (2, "an answer still incomplete after 0.15 s")
    assert 0.3 <= time.monotonic() - started < LASTING / 2
    assert len(server.requested) == 2
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

    result = fails(serve(endless).mirror, deadline=0.15, attempts=1)
    assert result == (1, "an answer still incomplete after 0.15 s")
    assert ended.wait(LASTING / 2)


HEADERS = [
    b"Content-Length: \xb2\xb3",
    b"Content-Length: " + b"9" * 400,
    b"Content-Length: -1",
    b"Content-Encoding: gzip, br, zstd",
    b"Transfer-Encoding: chunked\r\n\r\n-5\r\nabcde",
    b"Set-Cookie: \xff=\xff; expires=x",
    b"Location: http://[",
    b"Location: http://\xff/",
    b"Location: \xe9",
    b"Location: http://" + b"x" * 300,
    b"Location: http://.example./",
]


@pytest.mark.parametrize("header", HEADERS)
def test_headers_that_no_library_expects(serve, fails, header):
    status = b"302 Found" if header.startswith(b"Location") else b"200 OK"
    server = serve(
        lambda handler: handler.wfile.write(b"HTTP/1.1 %s\r\n%s\r\n\r\nx" % (status, header))
    )
    _, found = fails(server.mirror, timeout=(1.0, 1.0))
    assert len(found) < 1000


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
    limit = "more than 100,000 bytes, the `download_limit:` in config"
    assert fails(server.mirror, largest=100_000) == (1, limit)
    assert len(server.requested) == 1


def test_connection_refused(fails):
    with socket.socket() as taken:  # bound, not listening: nobody else can answer on this port
        taken.bind(("127.0.0.1", 0))
        mirror = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert fails(mirror) == (3, "connection refused")


def test_no_connection_in_time(fails, monkeypatch):
    def late(*arguments, **options):
        raise requests.ConnectTimeout(TimeoutError("timed out"))

    monkeypatch.setattr("requests.get", late)
    found = "no connection within 0.25 s"
    assert fails("http://127.0.0.1", timeout=(0.25, 9.0)) == (3, found)


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
    attempts, _ = fails(mirror)
    assert attempts == 1


def test_password_of_the_mirror_is_not_printed(serve, get, capfd):
    server = serve(status(500))
    with pytest.raises(FetchError) as caught:
        get(server.mirror.replace("http://", "http://user:secret@"))
    assert "secret" not in str(caught.value) + capfd.readouterr().err
    assert f"{server.mirror}{QUOTED}" in str(caught.value)
