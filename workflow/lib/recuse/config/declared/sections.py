"""What the declarations of settings share: their base class, and kinds of values.

A section is a class of keys, each with its type, its bounds and a description. docs/configuration.md is made from them.
"""

from collections.abc import Iterable
from typing import Annotated, TypeVar, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from recuse.base.errors import did_you_mean


class Section(BaseModel):
    """Keys of one part of the configuration, each `required` or `optional`."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    def given(self) -> dict:
        """The keys that are there, as they were written."""
        return self.model_dump(by_alias=True, exclude_unset=True)


def required(description: str, **bounds: object) -> FieldInfo:
    """A key that must be there."""
    return Field(description=description, **bounds)


def optional(description: str, default: object = None, **bounds: object) -> FieldInfo:
    """A key that may be left out, and then is `default`; it may not be null."""
    return Field(default, description=description, **bounds)


class SomeKeys(Section):
    """Keys of which there is one at least."""

    @model_validator(mode="after")
    def _holds_something(self) -> "SomeKeys":
        if not self.model_fields_set:
            raise PydanticCustomError("empty", "should be non-empty")
        return self


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

# The kinds of a value that may be of several; the tags stand in pydantic's paths of keys, where they are no keys.
TAGS = {"text": "(text)", "list": "(list)", "mapping": "(mapping)", "number": "(number)"}
KINDS = {"text": str, "list": list, "mapping": dict, "number": (int, float)}


def by_kind(**types: type) -> object:
    """The type of a value that may be of several kinds; types: by `text`, `list`, `mapping` or `number`."""

    def tag_of(value: object) -> str | None:
        kinds = [kind for kind in types if isinstance(value, KINDS[kind]) and not isinstance(value, bool)]
        return TAGS[kinds[0]] if kinds else None

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
