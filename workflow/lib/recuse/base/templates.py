"""Jinja's templates as this project writes them, and sentences from them."""

import re
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from recuse.base.places import WORKFLOW
from recuse.base.words import enumerated, level, number, percent, signed

if TYPE_CHECKING:
    from jinja2 import Environment

REPORT, FIGURES = (WORKFLOW / "report" / name for name in ("sentences.j2", "figures.j2"))
FILTERS = {each.__name__: each for each in (enumerated, level, number, percent, signed)}
OWN_BLANK = "\0"  # stands for a blank of a name in a sentence; no text of a study contains it


def environment(folder: Path, **settings) -> "Environment":
    """The templates of a folder, in which lines of tags leave no blank lines and an unknown name is
    an error; settings: others of Jinja's environment.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **settings,
    )
    found.filters |= FILTERS
    return found


@cache
def _sentences(file: Path) -> object:
    return environment(file.parent, finalize=_with_own_blanks).get_template(file.name).module


def _with_own_blanks(value: object) -> str:
    return str(value).replace(" ", OWN_BLANK)


def paragraphs(file: Path, name: str, /, **facts: object) -> list[str]:
    """The paragraphs of a name in a file of sentences, each in one line: blanks of the template are
    folded, those in names stay.
    """
    words = getattr(_sentences(file), name)(**facts)
    lines = [re.sub("[ \n]+", " ", part) for part in re.split("\n{2,}", words.strip(" \n"))]
    return [line.strip(" ").replace(OWN_BLANK, " ") for line in lines]


def said(name: str, /, **facts: object) -> str:
    """The sentence of a name in workflow/report/sentences.j2."""
    return " ".join(paragraphs(REPORT, name, **facts))


said_in_parts = partial(paragraphs, REPORT)
