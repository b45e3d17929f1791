"""What imports say, by code and facts: the words are in workflow/report/imports.yaml."""

from functools import partial

from recuse.base.errors import DataError
from recuse.base.places import WORKFLOW
from recuse.base.settings import Setting, written
from recuse.base.templates import sentence
from recuse.base.words import visible

SENTENCES = WORKFLOW / "report" / "imports.yaml"

problem = partial(sentence, SENTENCES, "errors", Setting=Setting, written=written)

# Why a line is guessed, or what is asked there
guessed = partial(sentence, SENTENCES, "guesses")


def fault(place: str, code: str, /, *, column: str = "", **facts: object) -> DataError:
    """The error about a place in a file, or about a column there."""
    if column:
        place = f"{place}, column {column}"
    return DataError(f"{place}: {problem(code, **facts)}")


def note(code: str, /, **facts: object) -> None:
    """Print a line about a file or a name."""
    print(visible(sentence(SENTENCES, "notes", code, Setting=Setting, **facts)))
