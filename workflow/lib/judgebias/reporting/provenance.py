"""Where the numbers of a report come from: files by their hashes, settings, versions; nothing of the hour or the machine."""

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("duckdb", "matplotlib", "numpy", "pandas", "pygam", "scipy", "seaborn", "snakemake", "statsmodels")
CHUNK = 1 << 20  # bytes of a file held at a time


def versions() -> list[tuple[str, str]]:
    """Name and version of Python and of the packages that numbers and figures come from."""
    return [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]


def files_of_the_user(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Path, as config has it, and SHA-256 of each file."""
    return [(setting_in_words(path), sha256(path)) for path in paths]


def sha256(path: str | Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def differences(own: object, project: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield key, with dots between the levels, and value of each setting that is not the project's own."""
    if isinstance(own, Mapping) and isinstance(project, Mapping):
        for name in own:
            if name not in project or own[name] != project[name]:
                inner = f"{key}.{name}" if key else str(name)
                yield from differences(own[name], project.get(name), inner)
        yield from ((f"{key}.{name}" if key else str(name), "left out") for name in project if name not in own)
    else:
        yield key, setting_in_words(own)


def setting_in_words(setting: object) -> str:
    """A setting as one reads it in config.yaml, in one line; of a path that holds on one machine alone, the name."""
    if isinstance(setting, Mapping):
        return "{" + ", ".join(f"{name}: {setting_in_words(value)}" for name, value in setting.items()) + "}"
    if isinstance(setting, (list, tuple)):
        return "[" + ", ".join(map(setting_in_words, setting)) + "]"
    if isinstance(setting, str) and Path(setting).is_absolute():
        return Path(setting).name
    return str(setting).lower() if isinstance(setting, bool) else str(setting)
