"""What each job read and wrote, in `results/<study>/made/<job>.json`.

A record holds the job's rule and SHA-256 digests: of the files from outside that it read (`contents`, by which it is decided
whether to do it again), of the results that it read (`inputs`) and wrote (`outputs`), of its params, and of the files from
outside to which it added (`added`, those of its param `adds_to`): one that others have added to since is read again.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from recuse.base.digests import digests_of
from recuse.base.errors import DataError
from recuse.base.outputs import write_text
from recuse.base.places import SHIPPED

PROJECT = "recuse/"  # no name of a file; among the contents: the project's own files


def is_result(path: str, config: Mapping) -> bool:
    """Whether a path is that of a result of this workflow, and not of a file from outside."""
    parts = Path(os.path.normpath(path)).parts
    names = (*config["studies"], *config["comparisons"], "montecarlo")
    return len(parts) > 2 and parts[0] == "results" and parts[1] in names


def contents_of(paths: Iterable[str], config: Mapping, *, always: bool = False) -> dict[str, str]:
    """Path -> SHA-256 of each file from outside, with one digest, under PROJECT, for all of the project's own.

    always: read every file, even if it has not changed since the last time.
    """
    outside = sorted({path for path in map(str, paths) if not is_result(path, config)})
    project = os.path.relpath(SHIPPED) + os.sep
    digests = digests_of(outside, always=always)
    shipped = [(path.removeprefix(project), digests.pop(path)) for path in outside if path.startswith(project)]
    return {PROJECT: _digest(shipped), **digests} if shipped else digests


def record_of(log: str) -> Path:
    """Path of the record of the job with this log: `results/<study>/made/fit.json` for `results/<study>/logs/fit.log`."""
    return Path(log).parent.with_name("made") / Path(log).with_suffix(".json").name


def read_record(path: str | Path) -> dict[str, Any]:
    """A job's record. Raises DataError if it is none."""
    try:
        record = json.loads(Path(path).read_text("utf-8"))
        if {"rule", "contents", "inputs", "outputs", "params"} <= record.keys():
            return record
    except (ValueError, AttributeError):
        pass
    raise DataError(f"{path}: found no record of a job; delete it, and run again")


@cache
def decide_by_records(rules: frozenset[str]) -> None:
    """Let Snakemake do a job of these rules again if its record is not that of now, not by what it remembers of the params.

    By itself it compares params as a set without names, only if it remembers every output, which it does not if `.snakemake`
    was left behind or if a changed setting gives a job one more output, and takes results of any content for the job's.
    """
    from snakemake.persistence import NO_PARAMS_CHANGE, ParamsChange, PersistenceBase

    by_memory, is_remembered = PersistenceBase.params_changed, PersistenceBase.has_metadata

    def is_ours(job: Any) -> bool:
        return job.rule.name in rules

    def params_changed(memory: Any, job: Any, file: Any = None) -> Any:
        if file is not None or not is_ours(job):  # to list changes; or a rule such as `all`, or of another workflow
            return by_memory(memory, job, file)
        changes = set(_changes_since(job))
        return ParamsChange(only_new=changes) if changes else NO_PARAMS_CHANGE

    PersistenceBase.has_metadata = lambda memory, job: is_ours(job) or is_remembered(memory, job)
    PersistenceBase.params_changed = params_changed


def _changes_since(job: Any) -> Iterator[str]:
    """What has changed since a job was done; nothing if it has not been done."""
    path, outputs = record_of(job.log[0]), list(filter(os.path.exists, map(str, job.output)))
    if not path.exists():
        yield from ["no record"] if outputs else []
        return
    try:
        record = read_record(path)
    except DataError as error:
        yield str(error)
        return
    results = digests_of(str(file) for file in job.input if str(file) in record["inputs"] and os.path.exists(file))
    yield from differences(job, record, results)
    added = record.get("added", {})
    now = digests_of(filter(os.path.exists, added))
    yield from (f"was made before others added to {path}" for path, digest in now.items() if digest != added[path])
    written = digests_of(output for output in outputs if Path(output) != path)
    yield from (
        f"{output} is not as it was written" for output, digest in written.items() if record["outputs"].get(output) != digest
    )


def differences(job: Any, record: Mapping, results: Mapping[str, str]) -> Iterator[str]:
    """What a job was made from that is not there any more, for a message. results: the digests of now of what it reads."""
    for path in _differing(record["contents"], job.params["contents"]):
        yield "was made by another version of recuse" if path == PROJECT else f"was made from another {path}"
    inputs = sorted(record["inputs"].items())
    yield from (f"was made from another {path}" for path, digest in inputs if results.get(path, digest) != digest)
    yield from (f"was made with another setting ({name})" for name in _differing(record["params"], params_of(job.params)))


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]


@contextmanager
def recorded(job: Any) -> Iterator[None]:
    """Write the record of a job once it is done. job: Snakemake's object of a script.

    Raises DataError if a file from outside is not, or is no longer, what it was when the run was planned, or a result not what
    its job wrote; nothing is recorded.
    """
    planned, always = job.params["contents"], job.config["hash_always"]
    read = [*job.input, *job.params["code"]]
    _check_contents(planned, contents_of(read, job.config, always=always), "after this run was planned")
    inputs = digests_of(sorted({file for file in job.input if is_result(file, job.config)}))
    _check_results(inputs)
    yield
    _check_contents(planned, contents_of(read, job.config, always=always), "while it was read")
    path = record_of(job.log[0])
    outputs = digests_of(sorted({file for file in job.output if Path(file) != path}))
    record = {"rule": job.rule, "contents": planned, "inputs": inputs, "outputs": outputs, "params": params_of(job.params)}
    if added := dict(job.params.items()).get("adds_to"):
        record["added"] = digests_of(added)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(record, indent=1) + "\n")


def params_of(params: Any) -> dict[str, str]:
    """Name -> digest of each param of a job but its code and its contents, which are compared as files."""
    return {name: _digest(value) for name, value in params.items() if name not in ("code", "contents")}


def _check_contents(planned: Mapping[str, str], now: Mapping[str, str], when: str) -> None:
    for path in _differing(planned, now):
        file = "a file of recuse itself" if path == PROJECT else path
        raise DataError(f"{file}: changed {when}; run again")


def _check_results(digests: Mapping[str, str]) -> None:
    """Raise DataError about a result that was cut off or edited. digests: of results, by path."""
    folders = {Path(*Path(path).parts[:2], "made") for path in digests}
    records = []
    for path in (path for folder in sorted(folders) for path in sorted(folder.glob("*.json"))):
        with suppress(FileNotFoundError, DataError):  # of a job that is about to run, or damaged: that job is done again
            records.append(read_record(path))
    for path, digest in digests.items():
        wrote = {record["outputs"][path]: record["rule"] for record in records if path in record["outputs"]}
        if wrote and digest not in wrote:
            raise DataError(f"{path}: not what the rule {min(wrote.values())} wrote; delete it, and run again")


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogateescape")).hexdigest()
