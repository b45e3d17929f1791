"""What the declarations of settings share: their base class, kinds of values, and messages about a
value that does not fit.

A section is a class of keys, each with its type, its bounds and a description.
docs/configuration.md is made from them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pkgutil import resolve_name
from typing import Annotated, Self, TypeVar, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    ModelWrapValidatorHandler,
    PrivateAttr,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError

from recuse.base.errors import ConfigError, did_you_mean
from recuse.base.products import from_products
from recuse.base.words import UNWRITABLE
from recuse.data.registry import COMPARED, RATED


class Section(BaseModel):
    """Keys of one part of the configuration, each `required` or `optional`."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, defer_build=True, allow_inf_nan=False
    )

    _written: Mapping = PrivateAttr()

    def as_written(self) -> Mapping:
        """The keys that the user wrote, with plain values: what a rule's params and JSON have."""
        return self._written

    def changed(self, **settings: object) -> Self:
        """The section with other values of these keys, as a user writes them."""
        return type(self).model_validate({**self._written, **settings})

    def _check(self) -> None:
        """Raise ValueError if keys that are each valid contradict one another: of the keys that
        lead to the fault, and what is wrong there.
        """

    @model_validator(mode="wrap")
    @classmethod
    def _checked(cls, written: Mapping, read: ModelWrapValidatorHandler[Self]) -> Self:
        section = read(written)
        section._written = written
        section._check()
        return section


def declared_by_product(key: str) -> object:
    """The type of what is under a key of the configuration, by the class that a product registers
    for it.
    """
    return Annotated[Section, _Registered(key)]


class _Registered:
    def __init__(self, key: str) -> None:
        self.key = key

    def __get_pydantic_core_schema__(
        self, source: type, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        declared = from_products("settings")[self.key]
        return handler.generate_schema(resolve_name(declared))


def required(description: str, **bounds: object) -> FieldInfo:
    """A key that must be there."""
    return Field(description=description, **bounds)


def optional(description: str, default: object = None, **bounds: object) -> FieldInfo:
    """A key that may be left out, and then is `default`; it may not be null."""
    return Field(default, description=description, **bounds)


class SomeKeys(Section):
    """Keys of which at least one must be there."""

    def _check(self) -> None:
        if not self.model_fields_set:
            raise PydanticCustomError("empty", "not be empty")


def _unique(values: list) -> list:
    if len(set(values)) < len(values):
        raise PydanticCustomError("not_unique", "have no entry twice")
    return values


def _without_braces(path: str) -> str:
    if "{" in path or "}" in path:
        raise ValueError(f"'{path}': braces mean a wildcard to Snakemake; rename the file")
    return path


_Item = TypeVar("Item")
Some = Annotated[list[_Item], Field(min_length=1), AfterValidator(_unique)]
Name = Annotated[str, Field(min_length=1)]
Names = Some[Name]
NamesOrNone = Annotated[list[Name], AfterValidator(_unique)]
Key = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]  # a name that is part of paths
Share = Annotated[float, Field(gt=0, lt=1)]
Proportion = Annotated[float, Field(ge=0, le=1)]
File = Annotated[Name, AfterValidator(_without_braces)]

# The kinds of a value that may be of several. Pydantic adds their tags, such as (text), to the path
# of a key.
VALUE_KINDS = {
    "text": str,
    "a list": list,
    "a mapping": (dict, BaseModel),
    "a number": (int, float),
}
TAGS = {kind: f"({kind})" for kind in VALUE_KINDS}


def by_kind(types: Mapping[str, type]) -> object:
    """The type of a value that may be of several of VALUE_KINDS."""

    def find_tag(value: object) -> str | None:
        for kind in types:
            if isinstance(value, VALUE_KINDS[kind]) and not isinstance(value, bool):
                return TAGS[kind]
        return None

    tagged = tuple(Annotated[type_of_kind, Tag(TAGS[kind])] for kind, type_of_kind in types.items())
    discriminator = Discriminator(
        find_tag, custom_error_type="kind", custom_error_message=f"be {' or '.join(types)}"
    )
    return Annotated[Union[tagged], discriminator]  # noqa: UP007


Files = by_kind({"text": File, "a list": Some[File]})


def refuse_unknown(key: str, names: Iterable[str], known: Iterable[str], place: str) -> None:
    """Raise ValueError about the first of `names`, under a key of a section, that is not in
    `known`.
    """
    for name in names:
        if name not in known:
            raise ValueError(key, f"'{name}' is not one of {place}{did_you_mean(name, known)}")


OTHER_PART = {RATED: COMPARED, COMPARED: RATED}
RENAMED = {  # former name of a key -> its name
    "placebo": "idiosyncrasy",
    "noisy_reference": "measurement_error",
    "planner": "power",
    "gamma": "self_bias",
    "conclusions": "robustness_checks",
    "methods": "method",
}
DEEPEST = 20  # levels of keys: an alias of YAML may contain itself
# Of a whole number: Python writes none of 4300, and no floating-point number has more than 309
MOST_DIGITS = 300
LONGEST = 200  # characters of a value in a message
# Pydantic's type of an error -> what the value should, with the bounds by their names; for other
# types, pydantic's message.
SHOULD = {
    "string_type": "be text",
    "int_type": "be a whole number",
    "float_type": "be a number",
    "finite_number": "be a finite number",
    "bool_type": "be true or false",
    "list_type": "be a list",
    **dict.fromkeys(("dict_type", "model_type"), "be a mapping"),
    "greater_than": "be above {gt:.12g}",
    "greater_than_equal": "be at least {ge:.12g}",
    "less_than": "be below {lt:.12g}",
    "less_than_equal": "be at most {le:.12g}",
    "string_too_short": "not be empty",
    "too_short": "have at least {min_length} entries",
    "too_long": "have at most {max_length} entries",
    "string_pattern_mismatch": "match {pattern}",
    "literal_error": "be {expected}",
}


def validated(
    section: type[Section], settings: Mapping, *, name: str = "config", within: Sequence[str] = ()
) -> Section:
    """Return `settings` as a section; ConfigError, with the name of the file and the keys, if they
    do not fit it.

    within: the keys that lead to the section.
    """
    for keys, value in _values_in(settings, name, (*within,)):
        if isinstance(value, str) and UNWRITABLE.search(value):
            problem = (
                f"found {_shown(value)}, with a character that cannot be written; leave it out"
            )
            raise ConfigError.at(keys, problem, place=name)
        if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
            problem = f"found a whole number of more than {MOST_DIGITS} digits; write a smaller one"
            raise ConfigError.at(keys, problem, place=name)
    try:
        return section.model_validate(settings)
    except ValidationError as error:
        fault = min(error.errors(include_url=False), key=_rank)
    keys, problem, meaning = _in_words(fault, section)
    raise ConfigError.at([*within, *keys], problem, meaning=meaning, place=name)


def _rank(fault: Mapping) -> tuple:
    """Faults of single values come before those of several, then the outermost, then unknown
    keys.
    """
    loc = fault["loc"]
    depth = len(loc) - 2 * ("[key]" in loc)
    return fault["type"] == "value_error", depth, fault["type"] != "extra_forbidden"


def _values_in(node: object, name: str, path: tuple) -> Iterator[tuple[tuple, object]]:
    """Every key and value of settings, each with the keys that lead to it."""
    if len(path) > DEEPEST:
        problem = f"more than {DEEPEST} levels of keys, or an alias within itself; write fewer"
        raise ConfigError.at(path[:1], problem, place=name)
    if not isinstance(node, (Mapping, list)):
        yield path, node
        return
    for key, value in node.items() if isinstance(node, Mapping) else enumerate(node):
        yield path, key
        yield from _values_in(value, name, (*path, key))


def _in_words(fault: Mapping, section: type[Section]) -> tuple[list[str | int], str, str]:
    """The keys that lead to a fault, what should be there and what is, and the description of the
    key.
    """
    kind, value, bounds = fault["type"], fault["input"], fault.get("ctx", {})
    path = [key for key in fault["loc"] if key not in TAGS.values()]
    of_key = path[-1:] == ["[key]"]
    path = path[:-2] if of_key else path
    description, _ = _declared(section, path)
    if kind == "missing":
        *path, key = path
        message = f"'{key}' is required"
    elif kind in ("extra_forbidden", "invalid_key"):
        key = path[-1]
        _, keys = _declared(section, path[:-1])
        advice = did_you_mean(key, keys)
        if RENAMED.get(key) in keys:
            advice = f"; its name is now '{RENAMED[key]}'"
        elif path[0] in OTHER_PART:
            other = OTHER_PART[path[0]]
            if key in _declared(section, [other, *path[1:-1]])[1]:
                advice = f"; only studies under `{other}:` have it"
        message, description = f"unknown key{advice}", ""
    elif kind == "value_error":
        *keys, message = bounds["error"].args
        path, description = [*path, *keys], ""
    else:
        kind = "string_too_short" if bounds.get("min_length") == 1 else kind
        should = SHOULD[kind].format(**bounds) if kind in SHOULD else fault["msg"]
        message = f"{'names ' if of_key else ''}should {should}, found {_shown(value)}"
        if value is None:
            message = f"is empty; it should {should}"
    return path, message, description


def _shown(value: object) -> str:
    """A value as in Python, in ASCII where it cannot be written, and only its beginning if it is
    long.
    """
    text = ascii(value) if isinstance(value, str) and UNWRITABLE.search(value) else repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


_schema = cache(lambda section: section.model_json_schema())  # making one takes 50 ms


def _declared(section: type[Section], path: Iterable) -> tuple[str, Iterable[str]]:
    """The description nearest to the end of a path of keys, and the keys that are allowed there."""
    schema = _schema(section)
    node, description = schema, ""
    for key in path:
        node = node.get("properties", {}).get(key) or entry_schema(node)
        description = node.get("description", description)
        node = resolved(schema, node)
        kinds = (resolved(schema, kind) for kind in node.get("oneOf", ()))
        node = next((kind for kind in kinds if "properties" in kind), node)
    return description, node.get("properties", {})


def entry_schema(node: Mapping) -> Mapping:
    """The JSON schema of the values of a mapping whose names a user chooses; {} for other nodes,
    and of any values.
    """
    values = node.get("additionalProperties")
    return (
        values
        if isinstance(values, Mapping)
        else next(iter(node.get("patternProperties", {}).values()), {})
    )


def resolved(schema: Mapping, node: Mapping) -> Mapping:
    """The section that a node of a JSON schema refers to, or the node itself if it is a value."""
    return schema["$defs"][node["$ref"].rpartition("/")[-1]] if "$ref" in node else node
