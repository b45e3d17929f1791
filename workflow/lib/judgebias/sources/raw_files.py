"""What `files:` of a study names: one file, or one for each dimension, each of which may be a folder of parts."""

from collections.abc import Mapping, Sequence
from os.path import isdir
from pathlib import Path

from judgebias.errors import ConfigError


def named_files(files: str | Sequence[str] | Mapping[str, str]) -> list[tuple[str, str | None]]:
    """(path, dimension) of each entry of `files:`, as it stands there; the dimension is None where the rows say it."""
    if isinstance(files, Mapping):
        return [(path, dimension) for dimension, path in files.items()]
    return [(path, None) for path in ([files] if isinstance(files, str) else files)]


def raw_files(named: Sequence[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """(path, dimension) of each file to be read for the entries of `named_files`; ConfigError about a folder without parts.

    Whether a file is there, and is one, is for its reader to say.
    """
    found = []
    for path, dimension in named:
        parts = parts_of(path)
        if not parts:
            raise ConfigError(f"'{path}': the folder holds no *.parquet; put the parts into it")
        found += [(part, dimension) for part in parts]
    return found


def parts_of(path: str) -> list[str]:
    """The parquet files of a folder in the order of their names, but not hidden ones; anything else alone."""
    if not isdir(path):  # a name that is too long to be one is no folder, either
        return [path]
    return [str(part) for part in sorted(Path(path).glob("[!.]*.parquet"))]
