"""Fit a spec to raw files of ratings: they are checked, and the table of estimates is the workflow's, byte for byte."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from judgebias.commands.output import check_output, write_output
from judgebias.commands.reading import Given, add_files, given_by, tables_of, with_import
from judgebias.configuration import load
from judgebias.database import bounded_memory, bytes_of, connect
from judgebias.errors import DataError
from judgebias.settings import check_known
from judgebias.sources.distinct_rows import collapse

# While the files are read, what takes long to import is imported, in the functions.
if TYPE_CHECKING:
    from judgebias.fits.estimates import Estimated


class Task(NamedTuple):
    """What is to be fitted, a spec of `config`, to what."""

    spec: str
    given: Given


def add_fit(commands) -> None:
    """Add the command to the subparsers of a parser."""
    parser: ArgumentParser = commands.add_parser("fit", help="fit a spec to files of ratings", description=__doc__)
    add_files(parser)
    parser.add_argument("--spec", default="main", help="spec of config; default: %(default)s, which is Equation 1")
    parser.add_argument("--output", help="CSV file to write; default: the standard output")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Write the table of estimates of one spec, and to the standard error what is not estimable.

    Raises what the steps of the workflow raise, and ConfigError about `--output`; nothing is written then.
    """
    check_output(arguments.output)
    config = load(arguments.config)
    check_known("--spec", [arguments.spec], config["specs"], "specs")
    task = Task(arguments.spec, given_by(arguments, config))
    with TemporaryDirectory() as folder:
        found = (not task.given.to_import and _straight(task, folder)) or _by_way_of_tables(task, folder)

    from judgebias.tables import ESTIMATES

    write_output(arguments.output, ESTIMATES, found.estimates)
    for row in found.not_estimable:
        what = " of ".join(filter(None, (row["quantity"], row["term"]))) or "the fit"
        print(f"{_where(row)}not estimable: {what}: {row['reason'].removeprefix('not estimable: ')}", file=sys.stderr)
    for row in found.remarks:
        print(f"{_where(row)}{row['remark']}", file=sys.stderr)


def _straight(task: Task, folder: str) -> "Estimated | None":
    """Fit to cells of the distinct rows; None where the fit reads the rows, where something may be wrong with them, or where
    there are too many to hold.
    """
    limit = task.given.config["memory_limit"]
    with bounded_memory(limit, f"{folder}/spill"), connect() as connection, ThreadPoolExecutor(1) as reader:
        distinct = reader.submit(collapse, connection, task.given.files, most=bytes_of(limit))
        try:
            return _of_distinct_rows(task, reader, connection, distinct)
        except (DataError, duckdb.OutOfMemoryException):
            return None


def _of_distinct_rows(
    task: Task, reader: ThreadPoolExecutor, connection: duckdb.DuckDBPyConnection, distinct: "Future[list[str] | None]"
) -> "Estimated | None":
    from judgebias.fits.spec import Spec

    study, _, config = task.given
    spec = Spec(task.spec, **config["specs"][task.spec])
    if spec.by_row:
        connection.interrupt()  # what is read of the rows so far is of no use
        return None
    from judgebias.ratings.raw_cells import cells_of_distinct_rows, repeated

    source = task.given.source()
    counted = reader.submit(lambda: distinct.result() and cells_of_distinct_rows(connection, source, distinct.result()))
    from judgebias.fits.estimates import estimate
    from judgebias.ratings.study import Study

    cells = counted.result()
    if cells is None:
        return None
    twice = reader.submit(repeated, connection)
    found = estimate(spec, Study(study, cells), confidence=config["confidence"])
    return None if twice.result() else found


def _by_way_of_tables(task: Task, folder: str) -> "Estimated":
    """Fit as the workflow does, by its own steps and with its own errors, and with no more rows in memory than it holds."""
    from judgebias.fits.estimates import estimate
    from judgebias.fits.spec import Spec

    config = task.given.config
    with bounded_memory(config["memory_limit"], f"{folder}/spill"):
        study, spec = tables_of(with_import(task.given, folder), folder), Spec(task.spec, **config["specs"][task.spec])
        return estimate(spec, study, confidence=config["confidence"], seed=config["seed"])


def _where(row: Mapping) -> str:
    return f"{row['spec']}: " + (f"{row['slice']}: " if row["slice"] else "")
