"""A setting as messages name it: as a key of a configuration or, in Python, as an argument."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from recuse.base.words import INVISIBLE

Keys: TypeAlias = tuple[str | int, ...]
# The argument for the keys of a setting; None where settings are keys of a configuration.
_ARGUMENT: ContextVar[Callable[[Keys], str] | None] = ContextVar("argument", default=None)


@contextmanager
def named_as_arguments(argument: Callable[[Keys], str]) -> Iterator[None]:
    """Let messages name arguments of Python; argument: that for the keys of a setting."""
    token = _ARGUMENT.set(argument)
    try:
        yield
    finally:
        _ARGUMENT.reset(token)


def setting_message(keys: Keys, problem: str, *, meaning: str, place: str) -> str:
    """What is wrong with a setting: `config: studies: mine: scales: ...`, with what the key means,
    or `scale: ...`.
    """
    argument = _ARGUMENT.get()
    if argument is not None:
        return f"{argument(keys)}: {problem}"
    return ": ".join(map(str, (place, *keys, problem))) + (f" ({meaning})" if meaning else "")


def are_arguments() -> bool:
    """Whether messages name arguments."""
    return _ARGUMENT.get() is not None


def written(value: object) -> str:
    """A value as a configuration or, in Python, an argument has it."""
    return repr(value) if are_arguments() else in_yaml(value)


class Setting:
    """A setting that a message names."""

    def __init__(self, *keys: str) -> None:
        """Store the keys that lead to it, from the entry of a study or from its `import`."""
        self.keys = keys

    def __str__(self) -> str:
        """As in `missing:`, or missing= in Python."""
        if are_arguments():
            return self.line("")
        return f"`{': '.join(map(str, self.keys))}:`"

    @property
    def place(self) -> str:
        """As in "under `missing:` in config", or "in missing="."""
        return f"in {self}" if are_arguments() else f"under {self} in config"

    def line(self, value: str) -> str:
        """The setting with a value: `missing: ERROR`, or missing='ERROR'."""
        argument = _ARGUMENT.get()
        if argument is not None:
            return f"{argument(self.keys)}={value}"
        *outer, key = self.keys
        line = f"{key}: {value}"
        for name in reversed(outer):
            line = f"{name}: {{{line}}}"
        return f"`{line}`"

    def given(self, value: object, *others: object) -> str:
        """As in "write `repeats: mean`, `first` or `last`", or "pass repeats='mean', ..."."""
        quote = "" if are_arguments() else "`"
        choices = [self.line(written(value))]
        choices += [f"{quote}{written(other)}{quote}" for other in others]
        *first, last = choices
        shown = f"{', '.join(first)} or {last}" if first else last
        return f"pass {shown}" if are_arguments() else f"write {shown}"


def in_yaml(value: object) -> str:
    """A text, a number or a list of texts, in one line of YAML."""
    import yaml  # only here: a message is rare

    texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    as_is = not any(map(INVISIBLE.search, texts))  # else as escapes, which config may have
    line = yaml.safe_dump([value], default_flow_style=True, allow_unicode=as_is, width=float("inf"))
    return line.strip()[1:-1]  # as in a list, where a bracket needs quotes
