"""What is fetched, from where, and what is kept."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from file_server import (
    BLOB,
    COMMIT,
    CONTENT,
    FLIPPED,
    FLIPPED_BLOB,
    PATH,
    QUOTED,
    REPOSITORY,
    body,
    drip,
    files,
    fill,
    good,
    packed,
    redirect,
    status,
)
from recuse.base.errors import ConfigError, FetchError
from recuse.data.fetch import cache_folder, git_blob_id, mirror_location


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),  # git hash-object --stdin < /dev/null
        (b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"),  # echo hello | git hash-object --stdin
    ],
)
def test_blob_id_is_that_of_git(tmp_path, content, expected):
    (tmp_path / "file").write_bytes(content)
    assert git_blob_id(tmp_path / "file") == expected


def test_blob_id_of_a_file_of_several_chunks(tmp_path):
    content = bytes(range(256)) * 10_000
    (tmp_path / "file").write_bytes(content)
    assert git_blob_id(tmp_path / "file") == hashlib.sha1(b"blob 2560000\0" + content).hexdigest()


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


def test_local_file_is_a_folder(fails, tmp_path):
    (tmp_path / "mirror" / REPOSITORY / COMMIT / PATH).mkdir(parents=True)
    assert ", found a folder;" in fails(tmp_path / "mirror")


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
    monkeypatch.setattr("recuse.data.fetch.shutil.copyfile", full)
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

    monkeypatch.setattr("recuse.data.fetch.os.replace", refuse)
    with pytest.raises(FetchError, match="found Permission denied at "):
        get(serve(good).mirror)
    assert files(tmp_path) == []


def test_two_threads_fetch_the_same_file(serve, get, tmp_path):
    together = threading.Barrier(2, timeout=3.0)

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
        thread.join(5.0)
    assert failures == []
    assert len(server.requested) == 2
    assert [(tmp_path / "out" / name).read_bytes() for name in files(tmp_path / "out")] == [CONTENT, CONTENT]
    assert files(tmp_path / "cache") == [BLOB]


def test_process_ends_though_the_server_still_drips(serve, tmp_path):
    server = serve(drip(b""))
    program = f"""
import sys
from pathlib import Path
from recuse.base.errors import FetchError
from recuse.data.fetch import fetch
try:
    fetch(repository="a/b", commit="c", path="d", blob="{BLOB}", mirror="{server.mirror}",
          cache=Path("cache"), destination=Path("out"), attempts=1, deadline=0.1)
except FetchError:
    sys.exit(3)
"""
    library = str(Path(__file__).parents[2] / "workflow" / "lib")
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=os.environ | {"PYTHONPATH": library}, timeout=10)
    assert done.returncode == 3
    assert not server.closing.is_set()
    assert time.monotonic() - started < 2.5


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
