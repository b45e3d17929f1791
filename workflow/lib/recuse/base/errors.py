"""The errors of this project: each says what was found, where, and what to write instead."""

import difflib
import re
import signal
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from recuse.base.settings import setting_message
from recuse.base.words import visible

LONGEST = 300  # characters of another's message


class RecuseError(Exception):
    """Base of every error that a user can correct; its arguments are the lines of the message."""

    def __str__(self) -> str:
        """The message, with invisible characters shown, so that no name is a command to a
        terminal.
        """
        return "\n".join(map(visible, self.args))


class ConfigError(RecuseError):
    """A setting is unknown, of the wrong type, or at odds with another.

    keys: those that lead to a setting of the configuration, and what is wrong with it; () and "" of
    other errors. meaning: of the setting, if that helps.
    """

    keys: tuple[str | int, ...] = ()
    problem = meaning = ""

    @classmethod
    def at(
        cls, keys: Iterable[str | int], problem: object, *, meaning: str = "", place: str = "config"
    ) -> "ConfigError":
        """The error about the setting that these keys lead to."""
        keys = tuple(keys)
        error = cls(setting_message(keys, str(problem), meaning=meaning, place=place))
        error.keys, error.problem, error.meaning = keys, str(problem), meaning
        return error


class DataError(RecuseError):
    """An input file has wrong contents; names file, row and column.

    setting: the value of a setting that the file does not agree with, or "".
    """

    setting = ""


class FetchError(RecuseError):
    """A file could not be obtained, or is not the file that config names."""


class CollectError(RecuseError):
    """Judges could not all be asked; whatever was answered is in the ledger."""


class DesignError(RecuseError):
    """A spec cannot be fitted to the rows it selects."""


class DiskError(RecuseError):
    """The system refuses a file, most often because a disk is full; names the place."""


class UnexpectedError(RecuseError):
    """Any other error, which is a fault of this project; its cause has the traceback."""


def check_known(
    keys: Iterable[str | int], names: Iterable[str], known: Collection[str], place: str
) -> None:
    """Raise ConfigError about the first of `names`, under these keys of the configuration, that is
    not in `known`, which `place` describes.
    """
    for name in names:
        if name not in known:
            problem = f"'{name}' is not one of {place}{did_you_mean(name, known)}"
            raise ConfigError.at(keys, problem)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The end of a message about an unknown name: the known name most like it, or all of them."""
    names = sorted(map(str, known))  # a key of YAML may be a number
    close = difflib.get_close_matches(str(name), names, n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; known: {', '.join(names) or 'none'}"


FULL = ("No space left on device", "Disk quota exceeded")
REMEDIES = {  # what the system says, also within a message of DuckDB -> what to do
    **dict.fromkeys(FULL, "make room there{}, and run again"),
    "File too large": (
        "the system limits the size of files: raise that (`ulimit -f`), and run again"
    ),
    "Too many open files": (
        "the system limits the number of open files: raise that (`ulimit -n`), and run again"
    ),
    "No usable temporary directory": (
        "set TMPDIR to a folder in which files can be written, and allow files (`ulimit -f`)"
    ),
    "Permission denied": "allow access, or name another place",
}


@contextmanager
def in_one_sentence(*folders: str | Path) -> Iterator[None]:
    """Turn every error that is none of this project's into one: DiskError, if it is the system's,
    else UnexpectedError.

    An error of the system that names no file names these `folders`. After Ctrl-C it is
    KeyboardInterrupt: DuckDB takes that for itself, and raises an error of its own.
    """
    with _noted_interrupts() as interrupts:
        try:
            yield
        except RecuseError:
            raise
        except Exception as error:  # DuckDB is slow to import, so its class of errors is not named
            if interrupts:
                raise KeyboardInterrupt from error
            raise _of_system(error, folders) or _unexpected(error) from error


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """The signals of Ctrl-C that came meanwhile; none outside the main thread, or where the program
    handles them.
    """
    noted = []

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        signal.default_int_handler(number, frame)

    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield noted
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _of_system(error: Exception, folders: Iterable[str | Path]) -> DiskError | None:
    """An error of the system, or of DuckDB or another library that quotes one; else None."""
    listed = next((problem for problem in REMEDIES if problem in str(error)), None)
    if not isinstance(error, OSError) and listed is None:
        return None
    problem = (
        "no space left on the disk" if listed in FULL else listed or error.strerror or str(error)
    )
    quoted = re.search(r'file \\*"(.+?)\\*"', str(error))  # DuckDB quotes a message in another
    file = error.filename if isinstance(error, OSError) else quoted and quoted.group(1)
    # Which is not looked for here: that may fail
    temporary = tempfile.tempdir or "the folder of temporary files"
    place = str(file or " or ".join(map(str, folders)) or temporary)
    other = (
        ", or set TMPDIR to another folder"
        if Path(temporary) in Path(place).parents or place == temporary
        else ""
    )
    remedy = REMEDIES.get(listed, "see whether this file can be read and written").format(other)
    return DiskError(f"{place}: {problem}; {remedy}")


def _unexpected(error: Exception) -> UnexpectedError:
    """An error that names what happened, and where in the code of this project."""
    from traceback import walk_tb

    lines = [(code.f_code.co_filename, line) for code, line in walk_tb(error.__traceback__)]
    ours = [
        f"{Path(file).name}, line {line}" for file, line in lines if "recuse" in Path(file).parts
    ] or ["?"]
    words = " ".join(str(error).split())[:LONGEST]
    return UnexpectedError(
        f"{type(error).__name__} in {ours[-1]}: {words}; this is a fault of recuse, which should"
        " have taken the input or said what is wrong with it: please report it"
    )
