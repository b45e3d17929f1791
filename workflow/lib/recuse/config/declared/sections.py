"""What the declarations of settings share: their base class, kinds of values, and what is said of a value that does not fit.

A section is a class of keys, each with its type, its bounds and a description. docs/configuration.md is made from them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, TypeVar, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from recuse.base.errors import ConfigError, did_you_mean
from recuse.base.words import UNWRITABLE


class Section(BaseModel):
    """Keys of one part of the configuration, each `required` or `optional`."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    def given(self) -> dict:
        """The keys that are there, as they were written."""
        return self.model_dump(by_alias=True, exclude_unset=True)

    def _check(self) -> None:
        """Raise ValueError where keys, each of which is right, do not go together."""

    @model_validator(mode="after")
    def _checked(self) -> "Section":
        self._check()
        return self


def required(description: str, **bounds: object) -> FieldInfo:
    """A key that must be there."""
    return Field(description=description, **bounds)


def optional(description: str, default: object = None, **bounds: object) -> FieldInfo:
    """A key that may be left out, and then is `default`; it may not be null."""
    return Field(default, description=description, **bounds)


class SomeKeys(Section):
    """Keys of which there is one at least."""

    def _check(self) -> None:
        if not self.model_fields_set:
            raise PydanticCustomError("empty", "should be non-empty")


def _unique(values: list) -> list:
    if len(set(values)) < len(values):
        raise PydanticCustomError("not_unique", "has non-unique elements")
    return values


def _without_braces(path: str) -> str:
    if "{" in path or "}" in path:
        raise ValueError(f"'{path}': braces mean a wildcard to Snakemake; rename the file")
    return path


Item = TypeVar("Item")
Some = Annotated[list[Item], Field(min_length=1), AfterValidator(_unique)]
Name = Annotated[str, Field(min_length=1)]
Names = Some[Name]
Key = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]  # a name that is part of paths
Share = Annotated[float, Field(gt=0, lt=1)]
Proportion = Annotated[float, Field(ge=0, le=1)]
File = Annotated[Name, AfterValidator(_without_braces)]

# The kinds of a value that may be of several. Their tags, such as (text), stand in pydantic's paths of keys, and are no keys.
KINDS = {"text": str, "list": list, "mapping": dict, "number": (int, float)}
TAGS = {kind: f"({kind})" for kind in KINDS}


def by_kind(**types: type) -> object:
    """The type of a value that may be of several kinds; types: by `text`, `list`, `mapping` or `number`."""

    def tag_of(value: object) -> str | None:
        kinds = (kind for kind in types if isinstance(value, KINDS[kind]) and not isinstance(value, bool))
        return TAGS.get(next(kinds, None))

    kinds = tuple(Annotated[each, Tag(TAGS[kind])] for kind, each in types.items())
    message = f"is not a {' or a '.join(types)}"
    discriminator = Discriminator(tag_of, custom_error_type="kind", custom_error_message=message)
    return Annotated[Union[kinds], discriminator]  # noqa: UP007


Files = by_kind(text=File, list=Some[File])


def refuse_unknown(key: str, names: Iterable[str], known: Iterable[str], place: str) -> None:
    """Raise ValueError about the first of `names`, under a key of a section, that is not in `known`."""
    for name in names:
        if name not in known:
            raise ValueError(f"{key}: '{name}' is not one of {place}{did_you_mean(name, known)}")


RENAMED = {  # keys of judge-bias, as the project was called, and what they are called now
    "placebo": "idiosyncrasy",
    "noisy_reference": "measurement_error",
    "missingness": "bounds",
    "few_labels": "ppi",
    "planner": "power",
    "gamma": "self_bias",
    "conclusions": "robustness_checks",
}
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
        known = _declared(section, path)[1]
        mend = f"; its name is now '{RENAMED[key]}'" if RENAMED.get(key) in known else did_you_mean(key, known)
        message, description = f"unknown key '{key}'{mend}", ""
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
