"""The user's tables of prompts and answers, and the prices."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from recuse.base.database import connect
from recuse.base.errors import ConfigError, DataError, did_you_mean
from recuse.collect.requests import Price
from recuse.collect.responses import ResponsePart
from recuse.config.declared.sections import Section
from recuse.data.files import reading, record_place
from recuse.imports.rows import Table


class ModelAnswer(NamedTuple):
    """An answer of a model to a prompt."""

    prompt: str
    model: str
    text: str


def table_path(settings: str | Section) -> str:
    """The file of a table, by its name or with columns of other names."""
    return settings if isinstance(settings, str) else settings.file


def _rows(
    settings: str | Section, needed: Sequence[str], others: Sequence[str] = ()
) -> list[tuple]:
    """(record, value of each column) of the rows of a table; DataError about a missing column, name
    or text.

    The text is the last column that is needed; no two rows may have the same values before it.
    """
    path = table_path(settings)
    connection = connect()
    named = {} if isinstance(settings, str) else settings.as_written()
    file = Table(connection, path, named)
    columns = {key: file.needed(key) for key in needed}
    values = [
        file.texts[column] if key == "text" else file.name(column)
        for key, column in columns.items()
    ]
    for key in others:
        column = file.column(key)
        values.append("null" if column is None else file.name(column))
    with reading(path):
        rows = connection.execute(
            f"select record, {', '.join(values)} from {file.source} order by record"
        ).fetchall()
    if not rows:
        raise DataError(
            f"{path}: found no rows; it needs one for each"
            f" {'answer' if 'model' in needed else 'prompt'}"
        )
    found = set()
    for record, *cells in rows:
        for key, value in zip(needed, cells, strict=False):
            if value is None or not value.strip():
                raise DataError(
                    f"{record_place(path, record)}, column {columns[key]}: empty; fill it in, or delete"
                    " the row"
                )
        name = " of ".join(reversed(cells[: len(needed) - 1]))
        if name in found:
            raise DataError(
                f"{record_place(path, record)}: found a second text of {name}; keep one of the two"
            )
        found.add(name)
    return rows


def read_prompts(settings: str | Section) -> tuple[dict[str, str], dict[str, str]]:
    """The text of each prompt by its id, and the dataset of those that have one; DataError about a
    row that does not fit.
    """
    rows = _rows(settings, ("prompt", "text"), ("dataset",))
    texts = {prompt: text for _, prompt, text, _ in rows}
    return texts, {prompt: dataset for _, prompt, _, dataset in rows if dataset is not None}


def read_answers(settings: str | Section, prompts: Mapping[str, str]) -> list[ModelAnswer]:
    """The answers to `prompts`; DataError about one to another prompt, and about a second of a
    model to one.
    """
    answers = []
    for record, *values in _rows(settings, ("prompt", "model", "text")):
        answer = ModelAnswer(*values)
        if answer.prompt not in prompts:
            unknown = (
                f"the prompt '{answer.prompt}' is not in the table of"
                f" prompts{did_you_mean(answer.prompt, prompts)}"
            )
            raise DataError(f"{record_place(table_path(settings), record)}: {unknown}")
        answers.append(answer)
    return answers


class _Prices(ResponsePart):
    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    batch: Annotated[float, Field(ge=0, le=1)] = Price.batch


def prices_in(path: str, entries: Mapping) -> dict[str, Price]:
    """The prices that a file's entries state, by the models' names at their servers; ConfigError
    about another entry.
    """
    prices = {}
    for model, entry in entries.items():
        try:
            prices[str(model)] = Price(**vars(_Prices.model_validate(entry)))
        except ValueError:
            wanted = "write `{input: 2, output: 8}`, in money per million tokens"
            raise ConfigError(f"{path}: {model}: found {entry}; {wanted}") from None
    return prices
