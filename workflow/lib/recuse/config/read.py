"""A file of settings, read as YAML, and refused if YAML would read it as something else; and the
line of a setting.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from os.path import isfile
from pathlib import Path

import yaml

from recuse.base.errors import ConfigError
from recuse.base.places import PROJECT

DEEPEST = 50  # levels of a YAML file, and the most keys and values in it
LARGEST = 100_000
TOO_MUCH = (
    f"more than {DEEPEST} levels, more than {LARGEST:,} keys and values with those of every alias,"
    " or an alias within itself; write fewer"
)
TAG = "tag:yaml.org,2002:"
UNUSUAL_NUMBER = re.compile(r"[-+]?(0[0-9xXob_]|[0-9][0-9.]*[_:])")


def project_settings() -> dict:
    """The project's own config.yaml, without what a user adds."""
    return read(PROJECT / "config.yaml")


def read(path: str | Path) -> dict:
    """The settings in a YAML file alone; ConfigError if there is no such file, or if it holds no
    settings.

    A file is also refused if it has a key twice, a number such as 1_0, or more levels, keys and
    values than can be used.
    """
    if not isfile(path):  # also if the name is too long for a file
        raise ConfigError(f"{path}: no such file; name an existing YAML file")
    try:
        settings = _checked(str(path), Path(path).read_text("utf-8"))
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


def located(error: ConfigError, paths: Sequence[str | Path]) -> ConfigError:
    """The error about a setting with its file and line, in the last of `paths` that has the
    setting; the error itself if none has.
    """
    for path in reversed(paths if error.keys else ()):
        line = _line(path, error.keys)
        if line is not None:
            place = f"{path}, line {line}"
            return ConfigError.at(error.keys, error.problem, meaning=error.meaning, place=place)
    return error


def line_with(path: str | Path, value: str) -> int | None:
    """The line of a YAML file with this value, the first if it has several; None without one."""
    for event in yaml.parse(Path(path).read_text("utf-8"), Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.ScalarEvent) and event.value == value:
            return event.start_mark.line + 1
    return None


def _line(path: str | Path, keys: Sequence[str | int]) -> int | None:
    """The line of a YAML file with the last of these keys, each within the one before; None if the
    file does not have them.
    """
    node, line = yaml.compose(Path(path).read_text("utf-8"), Loader=yaml.CSafeLoader), None
    for key in keys:
        entries = {name: entry for name, *entry in _entries(node)}
        if str(key) not in entries:
            return None
        start, node = entries[str(key)]
        line = start.start_mark.line + 1
    return line


@lru_cache(maxsize=8)
def _checked(path: str, text: str) -> object:
    """What a YAML file holds, once for its content; None unless these are keys and values."""
    depth = 0
    # PyYAML crashes on a deep file, and whatever uses a large one hangs.
    for number, event in enumerate(yaml.parse(text, Loader=yaml.CSafeLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST or number > 3 * LARGEST:
            raise _refusal(path, event, TOO_MUCH)
    loader = yaml.CSafeLoader(text)
    node = loader.get_single_node()
    if not isinstance(node, yaml.MappingNode):
        return None
    _check_node(path, node, {})
    return loader.construct_document(node)


def _check_node(path: str | Path, node: yaml.Node, counts: dict[yaml.Node, int]) -> int:
    """The number of keys and values in a part of a YAML file, itself included.

    counts: of the parts before; an alias is the part that it stands for.
    """
    if node in counts:
        return counts[node]
    counts[node] = LARGEST  # within itself, an alias has no end
    if isinstance(node, yaml.ScalarNode):
        _check_number(path, node)
    count, first = 1, {}
    for name, key, value in _entries(node):
        if first.setdefault(name, key) is not key:
            line = first[name].start_mark.line + 1
            raise _refusal(path, key, f"{key.value}: already in line {line}; keep one of the two")
        count += sum(_check_node(path, part, counts) for part in dict.fromkeys((key, value)))
    if count > LARGEST:
        raise _refusal(path, node, TOO_MUCH)
    counts[node] = count
    return count


def _entries(node: yaml.Node | None) -> list[tuple[str | int, yaml.Node, yaml.Node]]:
    """The name, the key and the value of each entry of a mapping; of a list, its place, and twice
    the value.
    """
    if isinstance(node, yaml.MappingNode):
        return [(_name(key), key, value) for key, value in node.value]
    if isinstance(node, yaml.SequenceNode):
        return [(str(place), value, value) for place, value in enumerate(node.value)]
    return []


def _name(key: yaml.Node) -> str | int:
    if key.tag == f"{TAG}bool":  # yes and true are one key
        return str(yaml.CSafeLoader.bool_values[key.value.lower()])
    return key.value if isinstance(key, yaml.ScalarNode) else id(key)


def _check_number(path: str | Path, node: yaml.ScalarNode) -> None:
    """Raise ConfigError about a value without quotes that YAML takes for another number: 1_0 for
    10, 010 for 8, 1:30 for 90.
    """
    text = node.value
    if node.tag in (f"{TAG}int", f"{TAG}float") and UNUSUAL_NUMBER.match(text):
        value = yaml.load(text, Loader=yaml.CSafeLoader)
        problem = f"found {text}, which YAML reads as {value}; write {value}, or '{text}' if it"
        raise _refusal(path, node, f"{problem} is a text")


def _refusal(path: str | Path, place: yaml.Node | yaml.Event, problem: str) -> ConfigError:
    return ConfigError(f"{path}, line {place.start_mark.line + 1}: {problem}")
