"""Outputs are whole or absent: each is written beside its place and then renamed."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST_NAME = 255  # bytes


def part_path(path: str | Path) -> str:
    """The name beside `path` under which its file is written; the same every time, so that nothing
    piles up after kills.
    """
    folder, name = os.path.split(os.fspath(path))
    part = f"{name}.part"
    if len(os.fsencode(part)) > LONGEST_NAME:
        part = f"{hashlib.sha256(os.fsencode(name)).hexdigest()}.part"
    return os.path.join(folder, part)


def work_folder(path: str | Path) -> str:
    """The name beside `path` of the folder of the files that are needed to make it."""
    return f"{path}.unsorted"


@contextmanager
def replacing(path: str | Path, part: str | None = None) -> Iterator[str]:
    """Give the name of a new file, which replaces that at `path` if the block succeeds and is
    removed if it fails.

    part: its name, if other processes may write to `path` at the same time. OSError about either
    names `path`.
    """
    part = part or part_path(path)
    try:
        Path(part).unlink(missing_ok=True)  # of a process that was killed
        try:
            yield part
            os.replace(part, path)
        finally:
            Path(part).unlink(missing_ok=True)
    except OSError as error:
        for name in ("filename", "filename2"):
            if getattr(error, name) == part:
                setattr(error, name, str(path))
        if error.filename is None:  # in writing to the open file
            error.filename = str(path)
        raise


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8."""
    with replacing(path) as part:
        Path(part).write_text(text, "utf-8")


@contextmanager
def empty_folder(path: str | Path) -> Iterator[str]:
    """Create an empty folder, even if a killed process left files in it; remove it afterwards."""
    shutil.rmtree(path, ignore_errors=True)
    Path(path).mkdir(parents=True)
    try:
        yield str(path)
    finally:
        shutil.rmtree(path)
