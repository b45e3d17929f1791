"""The ledger of a collection: a file to which every attempt of a request adds a line, and from
which nothing is taken.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    InstanceOf,
    model_validator,
)

from recuse.base.errors import REMEDIES, ConfigError, DataError, DiskError
from recuse.base.log import warn
from recuse.base.words import counted, enumerated
from recuse.collect.responses import ResponsePart, Text, Usage, fault_in, usage_in

VERSION = 1
START = b'{"recuse": '  # of every line
NAMED_LINES = 5  # of those that are cut off, in a warning
SEEN = "results/{study}/raw/ledger.json"  # digests of a ledger as the last job found it and left it


MOST_MONEY = 1e12  # of an attempt; larger sums are not believed


class _Asked(ResponsePart):
    """What is read of the request in an attempt."""

    model: Text
    messages: list[InstanceOf[dict]]
    body: InstanceOf[dict]
    rubric: list
    mode: Text


class _Failure(ResponsePart):
    reason: Text
    message: Text


def credible(money: object) -> float | None:
    """A sum of money as a number; None if it is not one, or cannot be true."""
    is_number = isinstance(money, int | float) and not isinstance(money, bool)
    return float(money) if is_number and 0 <= money <= MOST_MONEY else None


def _with_keys(part: type[ResponsePart]) -> object:
    """The type of a dict that has the keys of a part, and any others."""

    def check(value: dict) -> dict:
        part.model_validate(value)
        return value

    return Annotated[InstanceOf[dict], AfterValidator(check)]


Money = Annotated[float | None, BeforeValidator(credible)]


class LedgerEntry(ResponsePart):
    """An attempt to have a request answered, and what came of it. Fields that do not apply are
    None. A line of the ledger is checked by these types.
    """

    key: Text  # the key of the request
    judge: Text
    asked: _with_keys(_Asked)  # the identity of the request
    about: InstanceOf[dict]
    started: Text  # time in UTC, ISO 8601
    seconds: float
    attempt: int  # 1 for the first one in a run
    response: InstanceOf[dict] | None = None  # the JSON object that came
    text: object = None  # the start of what came, if it is none
    status: int | None = None  # HTTP status
    error: _with_keys(_Failure) | None = None  # None: the response is an answer
    cost: Money = None  # None: the price is not known, or whether anything was charged
    at_most: Money = None  # what it may have cost, if the cost is not known but the price is
    batch: Text | None = None  # id of the batch

    @property
    def reason(self) -> str | None:
        """Why the response is not an answer; None if it is one."""
        return None if self.error is None else self.error["reason"]

    @property
    def usage(self) -> Usage | None:
        """The tokens that the server counted, if it says so credibly."""
        return usage_in(self.response)

    @model_validator(mode="after")
    def _check_outcome(self) -> Self:
        if self.response is None and self.error is None:
            raise ValueError("neither a response nor an error")
        return self


class _Step(ResponsePart):
    """What a line about a step of a batch must have; the first step has a judge, a time and
    keys.
    """

    file: Text
    server: Text | None = None
    batch: Text | None = None
    judge: Text = ""
    started: Text = ""
    keys: InstanceOf[dict] | list[Text] = Field(default_factory=dict)


def ledger_line(record: LedgerEntry | Mapping) -> bytes:
    """The line of an entry, or of a step of a batch. It is ASCII, as a text that a model wrote need
    not be valid UTF-8.
    """
    values = vars(record) if isinstance(record, LedgerEntry) else record
    return (json.dumps({"recuse": VERSION, **values}, default=dict) + "\n").encode()


def read_ledger(path: str | Path) -> Iterator[LedgerEntry]:
    """Yield the entries of a ledger in their order, and warn about lines that are cut off, which
    are skipped.

    Needs no lock: a process may be writing. Raises ConfigError if the file is no ledger, DataError
    if a later version wrote it.
    """
    return (LedgerEntry.model_validate(record) for _, record in _records(path) if "key" in record)


class LedgerAnswers(Mapping[str, LedgerEntry]):
    """The last answer to each request of a ledger by its key; each is read from the file when it is
    asked for.

    spent: money for all attempts of the ledger, of which those with an unknown cost count at the
    most that it may be.
    """

    def __init__(self, path: str | Path) -> None:
        """Start without answers; `note` adds them."""
        self.spent = 0.0
        self.path = Path(path)
        self._places: dict[str, int] = {}  # key -> byte at which the line starts

    def __getitem__(self, key: str) -> LedgerEntry:
        """Read the answer from the file; KeyError, without a look at the file, if there is none."""
        place = self._places[key]
        with self.path.open("rb") as file:
            file.seek(place)
            return LedgerEntry.model_validate(json.loads(file.readline()))

    def __contains__(self, key: object) -> bool:
        """Whether there is an answer; reads nothing."""
        return key in self._places

    def __iter__(self) -> Iterator[str]:
        """The keys, in the order of their first answers."""
        return iter(self._places)

    def __len__(self) -> int:
        """The number of requests with an answer."""
        return len(self._places)

    def note(self, record: Mapping, place: int) -> None:
        """Take note of the line that starts at the byte `place`."""
        if "key" not in record:
            return
        cost = credible(record.get("cost"))
        self.spent += credible(record.get("at_most")) or 0.0 if cost is None else cost
        if (
            record.get("error") is None
            and fault_in(record.get("response"), record["asked"]["mode"]) is None
        ):
            self._places[record["key"]] = place


def answers_in(path: str | Path) -> LedgerAnswers:
    """The answers of a ledger that another process may be writing; none if there is no such
    file.
    """
    answers = LedgerAnswers(path)
    for place, record in _records(path) if answers.path.exists() else ():
        answers.note(record, place)
    return answers


class Ledger(LedgerAnswers):
    """A ledger that this process alone writes: `with Ledger(path) as ledger`. It is also the
    answers that it holds.

    Lines are only ever added, in one write each, so that a process that is killed leaves at most
    its last line cut off; that is ended when the ledger is opened again. The lock is on the file
    itself, and ends with the process, however it ends. batches: what the steps of each batch say,
    by the address of its server, which early ledgers do not tell (None), and the id of its input
    file.
    """

    def __init__(self, path: str | Path) -> None:
        """Name the file, which `with` opens."""
        super().__init__(path)
        self.batches: dict[tuple[str | None, str], dict] = {}
        # Id of a batch -> keys of its requests of which something came
        self._came: dict[str, set[str]] = {}
        self._cut = False  # whether a line was written in part only

    def __enter__(self) -> Self:
        """Open, lock and read the file; ConfigError if another process writes it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            _lock(self._file, self.path)
            if is_new:
                _sync_folder(self.path.parent)
            for place, record in _records(self.path):
                self.note(record, place)
            self._size = os.fstat(self._file).st_size
            self._cut = self._size > 0 and os.pread(self._file, 1, self._size - 1) != b"\n"
            if self._cut:
                self.append([])
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, which also ends the lock."""
        os.close(self._file)

    def open_in(self, batch: Mapping) -> dict[str, float | None]:
        """Key -> money, or the most that it may be, of the requests of a batch of which nothing is
        recorded; None: not known.

        A batch that has ended has none, but for those that the plan did not have then.
        """
        keys = batch.get("keys", {})
        keys = keys if isinstance(keys, Mapping) else dict.fromkeys(keys)  # a list in early ledgers
        came = self._came.get(batch.get("batch"), ())
        return {key: credible(money) for key, money in keys.items() if key not in came}

    def append(self, records: Iterable[LedgerEntry | Mapping]) -> None:
        """Add the lines of entries, and of steps of batches, at once: from here on a kill of the
        process loses none of them.

        A crash of the machine may, until `sync`. Raises DiskError, with the number of answers that
        are kept.
        """
        place = self._size + self._cut
        rest = b"\n" * self._cut
        noted = []
        for record in records:
            line = ledger_line(record)
            noted.append((vars(record) if isinstance(record, LedgerEntry) else record, place))
            place += len(line)
            rest += line
        with self._disk():
            self._cut = True
            while rest:
                written = os.write(self._file, rest)
                self._size += written
                rest = rest[written:]
            self._cut = False
        for record, place in noted:
            self.note(record, place)

    def sync(self) -> None:
        """fsync what was appended, so that it survives a crash of the machine. Raises DiskError."""
        with self._disk():
            os.fsync(self._file)

    def room(self) -> int:
        """The bytes that are free on the disk of the ledger."""
        system = os.fstatvfs(self._file)
        return system.f_bavail * system.f_frsize

    @contextmanager
    def _disk(self) -> Iterator[None]:
        """Turn an error of the system into a DiskError that says what is kept."""
        try:
            yield
        except OSError as error:
            problem = error.strerror or str(error)
            remedy = REMEDIES.get(problem, "see whether this file can be written{}").format("")
            kept = f"{counted(len(self), 'answer')} {'is' if len(self) == 1 else 'are'} kept in it"
            raise DiskError(
                f"{self.path}: {problem[:1].lower()}{problem[1:]}; {kept}; {remedy}"
            ) from error

    def note(self, record: Mapping, place: int) -> None:
        """Take note of the line that starts at the byte `place`."""
        super().note(record, place)
        if "key" in record:
            if record.get("batch") is not None:
                self._came.setdefault(record["batch"], set()).add(record["key"])
            return
        name = record.get("server"), record["file"]
        if "started" in record:  # also if a server gives an id again
            self.batches[name] = {}
        elif "ended" in record:
            record = {"keys": {}, **record}
        else:
            self._came.pop(record.get("batch"), None)
        if name in self.batches:
            self.batches[name].update(record)


def _records(path: str | Path) -> Iterator[tuple[int, dict]]:
    """(byte at which it starts, what it says) of each line, and a warning about those that are cut
    off or damaged.
    """
    torn = []
    with open(path, "rb") as file:
        if not START.startswith(file.read(len(START))):
            raise ConfigError(
                f"{path}: this is no ledger, whose lines start with `{START.decode()}`; name"
                " another file"
            )
        file.seek(0)
        place = 0
        for number, line in enumerate(file, 1):
            record = _record_in(line)
            if record is None:
                torn.append(number)
            elif record["recuse"] != VERSION:
                raise DataError(
                    f"{path}, line {number}: a later version of recuse wrote this ledger; update"
                    " recuse"
                )
            else:
                yield place, record
            place += len(line)
    if torn:
        numbers = enumerated([str(number) for number in torn], NAMED_LINES)
        what = f"line {numbers} is" if len(torn) == 1 else f"lines {numbers} are"
        why = "cut off or damaged, as by a kill, a full disk or an edit"
        warn(f"{path}: {what} {why}, and skipped; what was asked there counts as not answered")


def _record_in(line: bytes) -> dict | None:
    """What a line says; None if it is cut off or damaged. Lines of later versions are not looked
    into.
    """
    try:
        record = json.loads(line)
        if line.startswith(START) and record["recuse"] == VERSION:
            (LedgerEntry if "key" in record else _Step).model_validate(record)
    except (ValueError, RecursionError):
        return None
    return record if line.startswith(START) else None


def _lock(file: int, path: Path) -> None:
    """Lock an open file, until this process ends or closes it."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = _holder(file)
        who = f"the process {pid}" if pid else "another process"
        raise ConfigError(
            f"{path}: {who} is writing this ledger; wait for it to end, or name another ledger"
        ) from None


def _holder(file: int) -> str | None:
    """The id of the process that has locked an open file, as Linux tells it; None elsewhere."""
    inode = str(os.fstat(file).st_ino)
    try:
        locks = Path("/proc/locks").read_text("utf-8").splitlines()
    except OSError:
        return None
    held = [line.split() for line in locks if " FLOCK " in line and "->" not in line]
    return next(
        (parts[4] for parts in held if parts[5].split(":")[-1] == inode and parts[4] != "0"), None
    )


def _sync_folder(folder: Path) -> None:
    """fsync the directory entry."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
