"""What imports say, by code and facts: the words are in workflow/report/imports.yaml."""

from functools import partial

from recuse.base.errors import DataError, RecuseError
from recuse.base.places import WORKFLOW
from recuse.base.settings import Setting, written
from recuse.base.templates import sentence
from recuse.base.words import visible

SENTENCES = WORKFLOW / "report" / "imports.yaml"

problem = partial(sentence, SENTENCES, "errors", Setting=Setting, written=written)

# Why a line is guessed, or what is asked there
guessed = partial(sentence, SENTENCES, "guesses")


noted = partial(sentence, SENTENCES, "notes", Setting=Setting)


def fault(
    place: str,
    code: str,
    /,
    *,
    column: str = "",
    error: type[RecuseError] = DataError,
    **facts: object,
) -> RecuseError:
    """The error about a place in a file, or about a column there."""
    if column:
        place = f"{place}, column {column}"
    return error(f"{place}: {problem(code, **facts)}")


def note(code: str, /, **facts: object) -> None:
    """Print a line about a file or a name."""
    print(visible(noted(code, **facts)))
