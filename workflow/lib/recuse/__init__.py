"""Does an LLM judge favour its own answers? `import recuse`, then `recuse.ratings(...)`; see
docs/python.md.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recuse.api import (
        FitResult,
        Pairs,
        Ratings,
        Result,
        check,
        example,
        fit,
        leaderboard,
        pairs,
        plot,
        power,
        ratings,
        verdict,
    )
    from recuse.base.errors import ConfigError, DataError, DesignError, RecuseError

    __version__: str

__all__ = [
    "ConfigError",
    "DataError",
    "DesignError",
    "FitResult",
    "Pairs",
    "Ratings",
    "RecuseError",
    "Result",
    "__version__",
    "check",
    "example",
    "fit",
    "leaderboard",
    "pairs",
    "plot",
    "power",
    "ratings",
    "verdict",
]


class _Package(ModuleType):
    """The functions `check` and `plot` keep their names when the packages of these names are
    imported.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if name not in __all__ or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    """Import what is asked for: `import recuse` alone costs nothing."""
    from importlib import import_module

    if name == "__version__":
        return import_module("recuse.base.places").version()
    if name not in __all__:
        raise AttributeError(f"module 'recuse' has no attribute {name!r}")
    return getattr(
        import_module("recuse.base.errors" if name.endswith("Error") else "recuse.api"), name
    )


def __dir__() -> list[str]:
    """The public names."""
    return __all__
