"""Jinja's templates as this project writes them, and sentences from them."""

import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from recuse.base.places import WORKFLOW
from recuse.base.reasons import in_words
from recuse.base.words import (
    capitalised,
    counted,
    entries,
    enumerated,
    hundredths,
    level,
    number,
    percent,
    setting_in_words,
    signed,
    spoken,
)

if TYPE_CHECKING:
    from jinja2 import Environment, Template

REPORT, FIGURES = (WORKFLOW / "report" / name for name in ("sentences.j2", "figures.j2"))
IN_WORDS = (
    capitalised,
    counted,
    enumerated,
    hundredths,
    in_words,
    level,
    number,
    percent,
    setting_in_words,
    signed,
    spoken,
)
# Stand for a blank and a line break of a name in a sentence; no text of a study has a NUL
OWN_BLANK, OWN_BREAK = "\0b", "\0n"
MAY_LACK = ("subject", "label", "detail", "advice")  # what a finding has of its own, or not
BETWEEN_CELLS = re.compile(r" \|(?: |$)")


@cache
def environment(folder: Path, *filters: Callable, **settings) -> "Environment":
    """The templates of a folder, in which lines of tags leave no blank lines and an unknown name is
    an error; filters: its own, under their names; settings: others of Jinja's environment.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **settings,
    )
    found.filters |= {each.__name__: each for each in (*IN_WORDS, *filters)}
    return found


@cache
def _sentences(file: Path) -> object:
    return environment(file.parent, finalize=_with_own_blanks).get_template(file.name).module


def _with_own_blanks(value: object) -> str:
    return str(value).replace(" ", OWN_BLANK).replace("\n", OWN_BREAK)


def _parts(file: Path, name: str, /, **facts: object) -> list[str]:
    """The paragraphs of a name in a file of sentences, as they stand there."""
    return re.split("\n{2,}", getattr(_sentences(file), name)(**facts).strip(" \n"))


def _folded(text: str, line_break: str = " ") -> str:
    """A text in one line: blanks of the template are folded, those in names stay. line_break:
    stands for one in a name.
    """
    folded = re.sub("[ \n]+", " ", text).strip(" ")
    return folded.replace(OWN_BLANK, " ").replace(OWN_BREAK, line_break)


def paragraphs(file: Path, name: str, /, **facts: object) -> list[str]:
    """The paragraphs of a name in a file of sentences, each in one line."""
    return [_folded(part) for part in _parts(file, name, **facts)]


def said(name: str, /, **facts: object) -> str:
    """The sentence of a name in workflow/report/sentences.j2."""
    return " ".join(paragraphs(REPORT, name, **facts))


said_in_parts = partial(paragraphs, REPORT)


def said_with_table(name: str, /, **facts: object) -> tuple[str, str, list[list[str]]]:
    """A heading, a sentence and a table of a name there. The first line of the table has its
    headings; ` | ` stands between cells.
    """
    heading, sentence, table = _parts(REPORT, name, **facts)
    lines = map(BETWEEN_CELLS.split, table.split("\n"))
    rows = [[_folded(cell, line_break="\n") for cell in line] for line in lines]
    return _folded(heading), _folded(sentence), rows


_shared = cache(environment)


@cache  # few of all templates are in use: each takes a millisecond
def _template(file: Path, code: str, part: str) -> "Template":
    return _shared(file.parent).from_string(entries(file)[code][part])


def sentence(file: Path, code: str, part: str = "words", /, **facts: object) -> str:
    """A part of what a YAML file of sentences has under a code; "" for one of MAY_LACK that is not
    there.
    """
    if part in MAY_LACK and part not in entries(file)[code]:
        return ""
    return _template(file, code, part).render(facts)
