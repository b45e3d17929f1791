"""The user's tables of prompts and answers, and the prices."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recuse.base.database import connect
from recuse.base.errors import ConfigError, DataError, did_you_mean
from recuse.collect.requests import Price
from recuse.data.files import place_of, reading
from recuse.imports.rows import Table


class Answer(NamedTuple):
    """An answer of a model to a prompt."""

    prompt: str
    model: str
    text: str


def path_of(settings: str | Mapping) -> str:
    """The file of a table, by its name or with columns of other names."""
    return settings if isinstance(settings, str) else settings["file"]


def _rows(settings: str | Mapping, needed: Sequence[str], others: Sequence[str] = ()) -> list[tuple]:
    """(record, value of each column) of the rows of a table; DataError about a missing column, name or text."""
    path = path_of(settings)
    connection = connect()
    file = Table(connection, path, {} if isinstance(settings, str) else settings, table="objects")
    columns = {key: file.needed(key) for key in needed}
    values = [file.texts[column] if key == "text" else file.name(column) for key, column in columns.items()]
    for key in others:
        column = file.column(key)
        values.append("null" if column is None else file.name(column))
    with reading(path):
        rows = connection.execute(f"select record, {', '.join(values)} from {file.source} order by record").fetchall()
    if not rows:
        raise DataError(f"{path}: found no rows; it needs one for each {'answer' if 'model' in needed else 'prompt'}")
    for record, *cells in rows:
        for key, value in zip(needed, cells, strict=False):
            if value is None or not value.strip():
                raise DataError(f"{place_of(path, record)}, column {columns[key]}: empty; fill it in, or delete the row")
    return rows


def read_prompts(settings: str | Mapping) -> tuple[dict[str, str], dict[str, str]]:
    """The text of each prompt by its id, and the dataset of those that have one; DataError about a row that does not fit."""
    texts: dict[str, str] = {}
    datasets: dict[str, str] = {}
    for record, prompt, text, dataset in _rows(settings, ("prompt", "text"), ("dataset",)):
        if prompt in texts:
            raise DataError(f"{place_of(path_of(settings), record)}: found the prompt '{prompt}' twice; keep one of the two")
        texts[prompt] = text
        if dataset is not None:
            datasets[prompt] = dataset
    return texts, datasets


def read_answers(settings: str | Mapping, prompts: Mapping[str, str]) -> list[Answer]:
    """The answers to `prompts`; DataError about one to another prompt, and about a second of a model to one."""
    answers: dict[tuple[str, str], Answer] = {}
    for record, *values in _rows(settings, ("prompt", "model", "text")):
        answer, place = Answer(*values), place_of(path_of(settings), record)
        if answer.prompt not in prompts:
            advice = did_you_mean(answer.prompt, prompts)
            raise DataError(f"{place}: the prompt '{answer.prompt}' is not in the table of prompts{advice}")
        if answer[:2] in answers:
            twice = f"found a second answer of {answer.model} to the prompt '{answer.prompt}'"
            raise DataError(f"{place}: {twice}; keep one of the two")
        answers[answer[:2]] = answer
    return [*answers.values()]


def prices_in(path: str, entries: Mapping) -> dict[str, Price]:
    """The prices that a file's entries state, by the models' names at their servers; ConfigError about another entry."""
    prices = {}
    for model, entry in entries.items():
        known = isinstance(entry, Mapping) and {"input", "output"} <= entry.keys() <= {"input", "output", "batch"}
        if not (known and all(isinstance(value, int | float) and value >= 0 for value in entry.values())):
            raise ConfigError(f"{path}: {model}: found {entry}; write `{{input: 2, output: 8}}`, in money per million tokens")
        prices[str(model)] = Price(**entry)
    return prices
