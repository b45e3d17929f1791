"""What each job read and wrote, in `results/<study>/made/<job>.json`: for `recuse verify`, and for
the report.

A record holds the job's rule and SHA-256 digests: of the files from outside that it read and of its
code (`contents`), of the results that it read (`inputs`) and wrote (`outputs`), and of its params.
No record decides what is done again: that is for Snakemake, which compares the param `contents` of
a rule with the one that it remembers.
"""

import hashlib
import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recuse.base.errors import DataError
from recuse.base.outputs import write_text
from recuse.base.places import SHIPPED, is_result
from recuse.workflow.digests import file_digests

PROJECT = "recuse/"  # no name of a file; among the contents: the project's own files


def is_shipped(path: str) -> bool:
    """Whether a path is that of a file of the project itself."""
    return path.startswith(os.path.relpath(SHIPPED) + os.sep)


def content_digests(
    paths: Iterable[str], studies: Container[str], *, always: bool = False
) -> dict[str, str]:
    """Path -> SHA-256 of each file from outside, with one digest, under PROJECT, for all of the
    project's own.

    always: read every file, even if it has not changed since the last time.
    """
    outside = sorted({path for path in map(str, paths) if not is_result(path, studies)})
    project = os.path.relpath(SHIPPED) + os.sep
    digests = file_digests(outside, always=always)
    shipped = [
        (path.removeprefix(project), digests.pop(path)) for path in outside if is_shipped(path)
    ]
    return {PROJECT: _digest(shipped), **digests} if shipped else digests


def record_path(log: str) -> Path:
    """Path of the record of the job with this log: `results/<study>/made/fit.json` for
    `results/<study>/logs/fit.log`.
    """
    return Path(log).parent.with_name("made") / Path(log).with_suffix(".json").name


def read_record(path: str | Path) -> dict[str, Any]:
    """A job's record. Raises DataError if the file is not one."""
    try:
        record = json.loads(Path(path).read_text("utf-8"))
        if {"rule", "contents", "inputs", "outputs", "params"} <= record.keys():
            return record
    except (ValueError, AttributeError):
        pass
    raise DataError(f"{path}: found no record of a job; delete it, and run again")


def outside_files(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Path and SHA-256 of each file from outside that the jobs with the records at `paths` read."""
    contents = [read_record(path)["contents"] for path in paths]
    return [
        (file, digest) for files in contents for file, digest in files.items() if file != PROJECT
    ]


def differences(job: Any, record: Mapping, results: Mapping[str, str]) -> Iterator[str]:
    """What has changed since a job ran, as parts of a message. results: path -> present digest of
    the results that it reads.
    """
    for path in _differing(record["contents"], job.params["contents"]):
        yield (
            "was made by another version of recuse"
            if path == PROJECT
            else f"was made from another {path}"
        )
    inputs = sorted(record["inputs"].items())
    yield from (
        f"was made from another {path}"
        for path, digest in inputs
        if results.get(path, digest) != digest
    )
    yield from (
        f"was made with another setting ({name})"
        for name in _differing(record["params"], param_digests(job.params))
    )


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [
        name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)
    ]


@contextmanager
def recorded(job: Any) -> Iterator[None]:
    """Write the record of a job once it is done. job: Snakemake's object of a script.

    Raises DataError if a file from outside is no longer what it was when the run was planned;
    nothing is recorded.
    """
    yield
    planned, config = job.params["contents"], job.config
    studies = {*config["studies"], *config["comparisons"]}
    read = (file for file in job.input if not is_shipped(file))
    outside = content_digests(read, studies, always=config["hash_always"])
    for path, digest in outside.items():
        if planned.get(path) != digest:
            raise DataError(f"{path}: changed during this run; run again")
    path = record_path(job.log[0])
    inputs = file_digests(sorted({file for file in job.input if is_result(file, studies)}))
    outputs = file_digests(sorted({file for file in job.output if Path(file) != path}))
    record = {
        "rule": job.rule,
        "contents": planned,
        "inputs": inputs,
        "outputs": outputs,
        "params": param_digests(job.params),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(record, indent=1) + "\n")


def param_digests(params: Any) -> dict[str, str]:
    """Name -> digest of each param of a job but its contents, which are compared file by file."""
    return {name: _digest(value) for name, value in params.items() if name != "contents"}


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogateescape")).hexdigest()
