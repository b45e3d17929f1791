"""A file that changed is read again, however it was replaced; one that did not is not."""

import gzip
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from recuse.base.digests import ABSENT, file_sha256
from recuse.base.errors import DataError
from recuse.workflow import digests
from recuse.workflow.digests import MEMORY, file_digests

BEFORE, AFTER = b"rating\n8\n", b"rating\n2\n"  # of one length


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file, in the working directory, whose digest is remembered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(digests, "SETTLED", 0)
    path = tmp_path / "judged.csv"
    path.write_bytes(BEFORE)
    file_digests([str(path)])
    return path


def assert_read(file):
    """Its digest is that of its content."""
    assert file_digests([str(file)]) == {str(file): file_sha256(file)}


PUT_IN_FOLDER = "mkdir folder; cp -p new folder/judged.csv; cd folder; "
REPLACED = {
    "written in place, with its times put back": (
        "touch -r judged.csv times; cat new > judged.csv; touch -r times judged.csv"
    ),
    "mv": "mv new judged.csv",
    "a link to another file": "mv new another; ln -sf another judged.csv",
    "cp -p": "cp -p new judged.csv",
    "install -p": "install -p new judged.csv",
    "rsync -t": "rsync -t --ignore-times new judged.csv",
    "tar x": f"{PUT_IN_FOLDER} tar -cf - judged.csv | tar -C .. -xf -",
    "unzip": f"{PUT_IN_FOLDER} python3 -m zipfile -c a.zip judged.csv; python3 -m zipfile -e a.zip ..",
}


@pytest.mark.parametrize("how", REPLACED)
def test_replaced_file_of_the_same_size_and_time_is_read_again(file, how):
    if how.startswith("rsync") and not shutil.which("rsync"):
        pytest.skip("rsync is not installed")
    new = file.with_name("new")
    new.write_bytes(AFTER)
    times = os.stat(file)
    os.utime(new, ns=(times.st_atime_ns, times.st_mtime_ns))
    subprocess.run(f"set -e; {REPLACED[how]}", shell=True, check=True)
    assert file.read_bytes() == AFTER
    assert_read(file)


def test_file_that_did_not_change_is_not_read_again_unless_always(file, monkeypatch):
    monkeypatch.setattr(digests, "file_sha256", lambda path: "read")
    assert file_digests([str(file)]) == {str(file): file_sha256(file)}
    assert file_digests([str(file)], always=True) == {str(file): "read"}


def test_file_that_changed_a_moment_ago_is_not_remembered(file, monkeypatch):
    monkeypatch.setattr(digests, "SETTLED", 60)
    Path(MEMORY).unlink()
    file_digests([str(file)])
    assert not Path(MEMORY).exists()


@pytest.mark.parametrize(
    "memory",
    [
        "",
        "{",
        "[]",
        '{"a": 1}',
        "\x00" * 9,
        '{"a": []}',
        gzip.compress(b"{}", mtime=0).decode("latin-1"),
    ],
)
def test_damaged_memory_is_no_memory(file, memory):
    Path(MEMORY).write_text(memory, "latin-1")
    assert_read(file)


def test_memory_that_cannot_be_written_is_not_needed(file):
    shutil.rmtree(Path(MEMORY).parent)
    Path(MEMORY).parent.write_text("a file")
    assert_read(file)


def test_absent_and_unreadable_files(file):
    assert file_digests(["none.csv", f"{file}/none.csv"]) == {
        "none.csv": ABSENT,
        f"{file}/none.csv": ABSENT,
    }
    file.with_name("folder").mkdir()
    with pytest.raises(DataError, match="folder: cannot be read: Is a directory"):
        file_digests([str(file.with_name("folder"))])


def test_name_that_is_not_text_is_remembered(file):
    name = os.fsdecode(b"judg\xe9s.csv")
    shutil.copy(file, file.parent / name)
    assert file_digests([name]) == file_digests([name]) == {name: file_sha256(file)}


def test_two_processes_that_remember_at_once_leave_a_whole_memory(file):
    code = (
        "from recuse.workflow import digests as d\nd.SETTLED = 0\nfor i in range(99):"
        " d.file_digests([f'{i % 9}.csv'], always=True)"
    )
    for number in range(20):
        file.with_name(f"{number}.csv").write_text(str(number))
    environment = os.environ | {"PYTHONPATH": str(Path(digests.__file__).parents[2])}
    workers = [subprocess.Popen(["python3", "-c", code], env=environment) for _ in range(3)]
    while any(worker.poll() is None for worker in workers):
        json.loads(Path(MEMORY).read_text("utf-8"))
        time.sleep(0.01)
    assert [worker.returncode for worker in workers] == [0, 0, 0]
