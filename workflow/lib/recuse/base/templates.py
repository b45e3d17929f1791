"""Jinja's templates as this project writes them."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(folder: Path, **settings) -> "Environment":
    """The templates of a folder, in which lines of tags leave no blank lines and an unknown name is
    an error; settings: others of Jinja's environment.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **settings,
    )
