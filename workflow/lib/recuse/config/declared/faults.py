"""Settings held against their declaration, and what is said of one that does not fit."""

import math
from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from recuse.base.errors import ConfigError, did_you_mean
from recuse.base.words import UNWRITABLE
from recuse.config.declared.sections import TAGS, Section

DEEPEST = 20  # levels of keys: an alias of YAML may stand within what it stands for
# What pydantic says of a value -> what is said here of it, with the bounds by their names; else it is what a section says.
MESSAGES = {
    "string_type": "{value!r} is not of type 'string'",
    "int_type": "{value!r} is not of type 'integer'",
    "float_type": "{value!r} is not of type 'number'",
    "bool_type": "{value!r} is not of type 'boolean'",
    "list_type": "{value!r} is not of type 'array'",
    **dict.fromkeys(("dict_type", "model_type"), "{value!r} is not of type 'object'"),
    "greater_than": "{value!r} is less than or equal to the minimum of {gt:.12g}",
    "greater_than_equal": "{value!r} is less than the minimum of {ge:.12g}",
    "less_than": "{value!r} is greater than or equal to the maximum of {lt:.12g}",
    "less_than_equal": "{value!r} is greater than the maximum of {le:.12g}",
    **dict.fromkeys(("string_too_short", "empty"), "{value!r} should be non-empty"),
    "too_short": "{value!r} is too short; write {min_length} or more",
    "too_long": "{value!r} is too long; write {max_length} at most",
    "string_pattern_mismatch": "{value!r} does not match {pattern!r}",
    "literal_error": "{value!r} is not one of {expected}",
}


def validated(section: type[Section], settings: Mapping, *, name: str = "config") -> Section:
    """Return `settings` as a section; ConfigError, with the name of the file and the key, where they do not fit it."""
    for where, value in _values_in(settings, name):
        if isinstance(value, str) and UNWRITABLE.search(value):
            raise ConfigError(f"{name}: {where}found {value!a}, with a character that cannot be written; leave it out")
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{name}: {where}found {value}; write a finite number")
    try:
        return section.model_validate(settings)
    except ValidationError as error:
        fault = min(error.errors(include_url=False), key=_rank)
    raise ConfigError(f"{name}: {_in_words(fault, section)}")


def _rank(fault: Mapping) -> tuple:
    """The faults of single values go before those of several, then the outermost, then names that are not known."""
    loc = fault["loc"]
    depth = len(loc) - 2 * (loc[-1:] == ("[key]",))
    return fault["type"] == "value_error", depth, fault["type"] != "extra_forbidden"


def _values_in(node: object, name: str, path: tuple = ()) -> Iterator[tuple[str, object]]:
    """Every key, text and number of settings, with where it stands."""
    where = "".join(f"{key}: " for key in path)
    if len(path) > DEEPEST:
        raise ConfigError(f"{name}: {path[0]}: more than {DEEPEST} levels of keys, or an alias within itself; write fewer")
    if not isinstance(node, (Mapping, list)):
        yield where, node
        return
    for key, value in node.items() if isinstance(node, Mapping) else enumerate(node):
        yield where, key
        yield from _values_in(value, name, (*path, key))


def _in_words(fault: Mapping, section: type[Section]) -> str:
    """Where a fault is, what is wrong there, and what the declaration says of the place."""
    kind, value, bounds = fault["type"], fault["input"], fault.get("ctx", {})
    path = [key for key in fault["loc"] if key not in TAGS.values()]
    if path[-1:] == ["[key]"]:
        path = path[:-2]
    description, _ = _declared(section, path)
    if kind in ("missing", "extra_forbidden", "invalid_key"):
        *path, key = path
    if kind == "missing":
        message = f"'{key}' is a required property"
    elif kind in ("extra_forbidden", "invalid_key"):
        message, description = f"unknown key '{key}'{did_you_mean(key, _declared(section, path)[1])}", ""
    elif kind == "value_error":
        message, description = str(bounds["error"]), ""
    elif kind == "literal_error" and " or " not in bounds["expected"]:
        message = f"{bounds['expected']} was expected"
    elif kind in MESSAGES:
        message = MESSAGES["empty" if bounds.get("min_length") == 1 else kind].format(value=value, **bounds)
    else:
        message = f"{value!r} {fault['msg']}"
    return "".join(f"{key}: " for key in path) + message + (f" ({description})" if description else "")


def _declared(section: type[Section], path: Iterable) -> tuple[str, Iterable[str]]:
    """The description nearest to the end of a path of keys, and the keys that may stand there."""
    schema = section.model_json_schema()
    node, description = schema, ""
    for key in path:
        node = node.get("properties", {}).get(key) or of_any_name(node)
        description = node.get("description", description)
        node = resolved(schema, node)
    return description, node.get("properties", {})


def of_any_name(node: Mapping) -> Mapping:
    """Of the JSON schema of a mapping with names that a user chooses, that of its values; else {}."""
    return node.get("additionalProperties") or next(iter(node.get("patternProperties", {}).values()), {})


def resolved(schema: Mapping, node: Mapping) -> Mapping:
    """The section that a node of a JSON schema refers to; the node itself where it is a value."""
    return schema["$defs"][node["$ref"].rpartition("/")[-1]] if "$ref" in node else node
