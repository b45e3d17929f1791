"""The errors of this project: each says what was found, where, and what to write instead."""

import difflib
import errno
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir


class RecuseError(Exception):
    """Base of every error that a user can correct."""


class ConfigError(RecuseError):
    """A setting is unknown, of the wrong type, or at odds with another."""


class DataError(RecuseError):
    """An input file has wrong contents; names file, row and column."""


class FetchError(RecuseError):
    """A file could not be obtained, or is not the file that config names."""


class DesignError(RecuseError):
    """A spec cannot be fitted to the rows it selects."""


class DiskError(RecuseError):
    """A disk is full; names the place."""


def check_known(where: str, names: Iterable[str], known: Collection[str], place: str) -> None:
    """Raise ConfigError about the first of `names` that is not in `known`, which `place` describes."""
    for name in names:
        if name not in known:
            raise ConfigError(f"config: {where}: '{name}' is not one of {place}{did_you_mean(name, known)}")


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The end of a message about an unknown name: the known name most like it, or all of them."""
    names = sorted(map(str, known))  # a key of YAML may be a number
    close = difflib.get_close_matches(str(name), names, n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; known: {', '.join(names)}"


FULL = (errno.ENOSPC, errno.EDQUOT)
FULL_IN_WORDS = ("No space left on device", "Disk quota exceeded")


@contextmanager
def full_disk_named(*folders: str | Path) -> Iterator[None]:
    """Turn any error about a full disk into DiskError, with its file, or, if it names none, with these `folders`."""
    try:
        yield
    except BaseException as error:  # also of DuckDB, which is not imported for it
        if not says_full(error):
            raise
        quoted = re.search(r'file \\*"(.+?)\\*"', str(error))  # DuckDB quotes a message in another
        file = error.filename if isinstance(error, OSError) else quoted and quoted.group(1)
        place = file or " or ".join(map(str, folders))
        other = ", or set TMPDIR to another folder" if Path(gettempdir()) in Path(place).parents else ""
        raise DiskError(f"{place}: no space left on the disk; make room there{other}, and run again") from error


def says_full(error: BaseException) -> bool:
    """Whether an error other than the project's own is about a full disk."""
    if isinstance(error, OSError):
        return error.errno in FULL
    return not isinstance(error, RecuseError) and any(words in str(error) for words in FULL_IN_WORDS)
