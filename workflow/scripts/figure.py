"""Draw a figure of the catalogue: read its tables, call the function that draws it, save the result."""

from collections.abc import Mapping
from importlib import import_module

from pandas import DataFrame

from recuse.base.runner import run
from recuse.plot.style import Subject, legible, read, save


def figure(*, inputs: Mapping, outputs: Mapping, draw: str, title: str, subject: Mapping, settings: Mapping) -> None:
    module, _, name = draw.partition(":")
    arguments = {argument: paths if argument == "published" else _tables(paths) for argument, paths in inputs.items()}
    tables = [table for given in arguments.values() for table in (given if isinstance(given, list) else [given])]
    about = Subject.from_config(**subject, tables=[table for table in tables if isinstance(table, DataFrame)])
    drawn = getattr(import_module(module), name)(**arguments, subject=about, **legible(settings))
    save(drawn, outputs.values(), title=title)


def _tables(paths):
    """A table, or several in a list."""
    return read(paths) if isinstance(paths, str) else [read(path) for path in paths]


if __name__ == "__main__":
    run(figure, snakemake)
