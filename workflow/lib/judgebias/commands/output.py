"""Where a command writes: to the standard output, or to a file, which is then whole or not there."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from judgebias.errors import ConfigError
from judgebias.tables import write_table


def check_output(path: str | None) -> None:
    """Raise ConfigError unless a file can be written at `path`; None is the standard output."""
    if path is None:
        return
    if os.path.isdir(path):
        raise ConfigError(f"--output: {path}: a folder; name a file in it")
    if not os.path.isdir(Path(path).parent):
        raise ConfigError(f"--output: {path}: there is no folder {Path(path).parent}; make it, or name a file in another")


def write_output(path: str | None, columns: Sequence[str], rows: Iterable[Mapping]) -> None:
    """Write `rows` as a CSV table; ConfigError where the system does not let it, and a file that was there stays as it was.

    Says nothing where the reader of the standard output has gone, as `head` does.
    """
    try:
        if path is None:
            write_table(os.dup(sys.stdout.fileno()), columns, rows)
        elif os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe
            write_table(path, columns, rows)
        else:
            _write_whole(Path(path).resolve(), columns, rows)
    except BrokenPipeError:
        return
    except OSError as error:
        where = "the standard output" if path is None else f"--output: {path}"
        raise ConfigError(f"{where}: {error.strerror}; name a file that can be written by --output") from error


def write_page(page: str) -> None:
    """Write a text to the standard output, with the errors of `write_output`."""
    try:
        with open(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as file:
            file.write(page)
    except BrokenPipeError:
        return
    except OSError as error:
        raise ConfigError(f"the standard output: {error.strerror}; send it to a file that can be written") from error


def _write_whole(path: Path, columns: Sequence[str], rows: Iterable[Mapping]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_table(beside, columns, rows)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
