"""Logs of Inspect (UK AISI, inspect_ai), as JSON or packed (.eval, a zip of JSON), without the
package.
"""

import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from os.path import isfile

from recuse.base.database import Connection
from recuse.data.intact import AGAIN
from recuse.data.registry import HUMAN
from recuse.imports.logs import CODE, Fields, Log, Node, failure, one, parsed, read_records
from recuse.imports.words import fault, note

# Later logs are compressed by Zstandard, which Python reads from 3.14 on.
if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

# Between the id of a sample and the number of its epoch, in the prompt of all but the first
EPOCH = ", epoch "
OF_HUMANS = re.compile("(^|_)human(_|$)")  # in the name of a scorer
# Scorers of Inspect that ask no model
OF_KEYS = {"answer", "choice", "exact", "f1", "includes", "match", "math", "pattern"}
# As inspect_ai.scorer.value_to_float takes them; N is "no answer or refusal to answer".
LETTERS = {"c": "1", "p": "0.5", "i": "0", "n": "0"}
SAMPLE = re.compile("samples/[^/]*[.]json")  # the name of an entry of a packed log
# What is read of a sample.
PARTS = {"id", "epoch", "scores", "target", "metadata", "error", "invalidation"}
# What reading a damaged archive, or a member that is not JSON, may raise.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    ZstdError,
    EOFError,
    LookupError,
    NotImplementedError,
    ValueError,
    OSError,
    TypeError,
)


def log_records(connection: Connection, path: str) -> list[Node]:
    """The records of a log; of a packed one of Inspect, the only one with its `samples`. DataError
    if it is damaged, or lacks a sample that its summaries have.
    """
    if not path.endswith(".eval"):
        return read_records(connection, path)
    if not isfile(path):
        raise fault(path, "no_file")
    try:
        with zipfile.ZipFile(path) as archive:
            log = _packed_log(path, archive)
    except DAMAGE as error:
        why = " ".join(str(error).split())
        raise fault(path, "damaged", why=why, again=AGAIN) from error
    return [Node(log, path, 1)]


def _packed_log(path: str, archive: zipfile.ZipFile) -> Fields:
    """The log with its samples; reading an entry checks it against its CRC."""
    names = archive.namelist()
    counts = Counter(names)
    twice = [name for name in names if counts[name] > 1]
    if twice:
        raise fault(path, "entry_twice", entry=twice[0], path=path)
    heads = [name for name in ("header.json", "_journal/start.json") if name in counts]
    if not heads:
        raise fault(path, "no_header", path=path)
    log = Fields(Node(parsed(archive.read(heads[0])), path, 1).fields)
    samples = [name for name in names if SAMPLE.fullmatch(name)]
    if "summaries.json" in counts:
        summaries = parsed(archive.read("summaries.json"))
        if len(samples) != len(summaries):
            raise fault(
                path,
                "other_summaries",
                samples=len(samples),
                summaries=len(summaries),
                again=AGAIN,
            )
    log["samples"] = [_read_parts(parsed(archive.read(name))) for name in samples]
    return log


def _read_parts(sample: object) -> object:
    """A sample without what is not read: it also holds its whole conversation."""
    if isinstance(sample, Fields):
        for key in sample.keys() - PARTS:
            del sample[key]
    return sample


def read_inspect(log: Log, records: Sequence[Node]) -> None:
    """Read the scores of a log as ratings of its model's answers.

    A judge is the model that the log names for a scorer (`options.model`, or the role `grader`),
    unless config's `judge` does. Scores by a scorer with `human` in its name, and those that a
    person edited, are human scores. The dimension is the key of a score that has several, else the
    scorer, or the study's only one. C, P, I, N count 1, 0.5, 0, 0, as in Inspect. Samples
    that were invalidated are left out. The prompt is the id of the sample; in epochs after the
    first `<id>, epoch <n>`. Raises DataError for a log without its samples. Source:
    UKGovernmentBEIS/inspect_ai, 03ed3dd (scorer/_metric.py), 44b41cd and 4a76113 (log/_recorders).
    """
    root = one(records, "an Inspect log is")
    spec, samples = root["eval"], root.get("samples")
    if not isinstance(samples.value, list):
        raise samples.fault("no_samples")
    total = root.get("results.total_samples")
    if root.get("status").text == "success" and total and total.value != len(samples.value):
        raise total.fault("other_samples", samples=len(samples.value), again=AGAIN)
    model, dataset = spec["model"].name, spec.get("dataset.name").text
    judges = dict(_judges(spec))
    valid = [sample for sample in samples.entries(records=True) if not sample.get("invalidation")]
    if invalid := len(samples.value) - len(valid):
        note("invalidated", path=log.path, samples=invalid)
    scored = [(sample, dict(_values(sample.get("scores")))) for sample in valid]
    wanted = sorted({place for _, values in scored for place in values})
    # Inspect numbers a scorer that is used again: with another judge, it rates the same thing.
    again = {}
    for name in judges:
        first = name.rstrip("0123456789")
        if judges.get(first, judges[name]) != judges[name]:
            again[name] = first
    for sample, values in scored:
        epoch, error = sample.get("epoch").text or "1", sample.get("error.message").words
        of_sample = {
            "model": model,
            "dataset": dataset or spec.get("task").text,
            "prompt": sample["id"].name + ("" if epoch == "1" else EPOCH + epoch),
        }
        absent = sample.at("scores", None)
        for name, key in wanted:
            judge, by = judges.get(name), HUMAN if OF_HUMANS.search(name) else None
            if judge is None and name.rpartition("/")[2] in OF_KEYS:
                by = CODE
            score, value, edited = values.get((name, key), (absent, absent, None))
            failed = None
            if score is absent:
                failed = failure("sample", error) or "no score"
            elif (score.get("explanation").words or "").startswith("Grade not found"):
                failed = "no grade in the judgment"
            dimension = key or log.dimension(again.get(name, name))
            log.add(
                sample,
                value,
                failed=failed,
                scorer=name,
                judge=judge,
                by=by,
                dimension=dimension,
                **of_sample,
                answer=score.get("answer").words,
                explanation=score.get("explanation").words,
                epoch=epoch,
                target=sample.get("target").words,
                metadata=sample.get("metadata").words,
            )
            if edited is not None:
                author = [*score["history"].entries()][-1]["provenance"].get("author").text
                log.add(
                    sample,
                    edited,
                    scorer=f"{name}, edited",
                    by=HUMAN,
                    rater=author,
                    dimension=dimension,
                    **of_sample,
                )


def _judges(spec: Node) -> Iterator[tuple[str, str]]:
    """Each scorer with the model that it asks, as the log names it; several models of one vote are
    one judge.
    """
    grader = _models(spec.get("model_roles.grader"))
    for scorer in spec.get("scorers").entries():
        model, name = _models(scorer.get("options.model")), scorer["name"].name
        if model:
            yield name, model
        elif grader and name.rpartition("/")[2].startswith("model_graded"):
            yield name, grader


def _models(asked: Node) -> str:
    """The name of a model, or those of several, as text; empty if there is none."""
    entries = asked.entries() if isinstance(asked.value, list) else [asked]
    models = (node.get("model") if isinstance(node.value, dict) else node for node in entries)
    return ", ".join(node.name for node in models if isinstance(node.value, str))


def _values(scores: Node) -> Iterator[tuple[tuple[str, str], tuple[Node, Node, Node | None]]]:
    """Each scorer and key of its score ("" for one value), with the score, the scorer's value, and
    that of a person who edited it.
    """
    for name, score in scores.items():
        edits, value = [*score.get("history").entries()], score.get("value")
        edited = bool(edits) and bool(edits[-1].get("provenance"))
        last = _single(value) if edited else {}
        for key, first in _single(edits[0].get("value") if edited else value).items():
            yield (name, key), (score, first, last.get(key))


def _single(value: Node) -> dict[str, Node]:
    """The values of a score by their keys; of one that is a single value, "" is the key."""
    return dict(value.items()) if isinstance(value.value, dict) else {"": value}
