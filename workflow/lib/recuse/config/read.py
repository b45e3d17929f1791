"""A file of settings, read as YAML, and refused if YAML would read it as something else."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from os.path import isfile
from pathlib import Path

import yaml

from recuse.base.errors import ConfigError
from recuse.base.places import PROJECT

DEEPEST = 50  # levels of a YAML file, and the most keys and values in it
LARGEST = 100_000
# Other spellings of one key in YAML 1.1
BOOLEANS = {"yes": "true", "on": "true", "no": "false", "off": "false"}
UNUSUAL_NUMBER = re.compile(r"[-+]?(0[0-9xXob_]|[0-9][0-9.]*[_:])")


def project_settings() -> dict:
    """The project's own config.yaml, without what a user adds."""
    return read(PROJECT / "config.yaml")


def read(path: Path) -> dict:
    """The settings in a YAML file alone; ConfigError if there is no such file, or if it holds no
    settings.
    """
    if not isfile(path):  # also if the name is too long for a file
        raise ConfigError(f"{path}: no such file; name a configuration by --config")
    try:
        check_structure(path)
        settings = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    # Invalid dates and tagged values raise whatever PyYAML's conversion of them does.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError) as error:
        raise ConfigError(
            f"{path}: not YAML ({' '.join(str(error).split())}); see config.yaml of the project"
        ) from error
    if not isinstance(settings, dict):
        raise ConfigError(
            f"{path}: holds no settings; write keys and values, as in config.yaml of the project"
        )
    return settings


@dataclass
class _Level:
    """A list or mapping of a YAML file that has begun."""

    anchor: str | None
    before: int  # keys and values before it
    is_mapping: bool
    lines: dict[str, int] = field(default_factory=dict)  # of its keys
    at_key: bool = True


def check_structure(path: str | Path) -> None:
    """Raise ConfigError if a YAML file has a key twice, a number such as 1_0, or is too deep or too
    large to be read.

    An alias counts as all that it stands for. The file is followed event by event, since PyYAML
    crashes on a deep one, and whatever uses a large one hangs. What is not YAML is left to the
    reader of the file.
    """
    levels, sizes, count = [], {}, 0
    with suppress(yaml.YAMLError):
        for event in yaml.parse(Path(path).read_text("utf-8", "replace"), Loader=yaml.CSafeLoader):
            line = event.start_mark.line + 1
            where = f"{path}, line {line}"
            if isinstance(event, yaml.CollectionEndEvent):
                level = levels.pop()
                sizes[level.anchor] = count - level.before
            if not isinstance(event, yaml.NodeEvent):
                continue
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0]:
                _check_number(where, event.value)
            if levels and levels[-1].is_mapping:
                level = levels[-1]
                key = event.value if level.at_key and isinstance(event, yaml.ScalarEvent) else None
                key = (
                    BOOLEANS.get(key.lower(), key) if key is not None and event.implicit[0] else key
                )
                if key in level.lines:
                    raise ConfigError(
                        f"{where}: {key}: already in line {level.lines[key]}; keep one of the two"
                    )
                if key is not None:
                    level.lines[key] = line
                level.at_key = not level.at_key
            before = count
            count += sizes.get(event.anchor, 1) if isinstance(event, yaml.AliasEvent) else 1
            if isinstance(event, yaml.CollectionStartEvent):
                levels.append(
                    _Level(event.anchor, before, isinstance(event, yaml.MappingStartEvent))
                )
            elif isinstance(event, yaml.AliasEvent) and event.anchor in [
                level.anchor for level in levels
            ]:
                raise ConfigError(
                    f"{where}: *{event.anchor} is part of what it stands for; write the value"
                )
            if len(levels) > DEEPEST:
                raise ConfigError(
                    f"{where}: more than {DEEPEST} levels of lists and keys; write fewer"
                )
            if count > LARGEST:
                raise ConfigError(
                    f"{where}: more than {LARGEST:,} keys and values, with those of every alias;"
                    " write fewer"
                )


def _check_number(where: str, text: str) -> None:
    """Raise ConfigError about a value without quotes that YAML takes for another number: 1_0 for
    10, 010 for 8, 1:30 for 90.
    """
    if not UNUSUAL_NUMBER.match(text):
        return
    value = yaml.load(text, Loader=yaml.CSafeLoader)
    if isinstance(value, int | float):
        raise ConfigError(
            f"{where}: found {text}, which YAML reads as {value}; write {value}, or '{text}' if it"
            " is a text"
        )
