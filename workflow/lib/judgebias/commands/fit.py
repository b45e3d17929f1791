"""Fit a spec to raw files of ratings: they are checked, and the table of estimates is the workflow's, byte for byte."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from judgebias.database import bounded_memory, connect
from judgebias.errors import DataError
from judgebias.sources.checks import RatingsFile
from judgebias.sources.distinct_rows import collapse

# While the files are read, what takes long to import is imported, in the functions.
if TYPE_CHECKING:
    from judgebias.fits.estimates import Estimated
    from judgebias.fits.spec import Spec
    from judgebias.ratings.checked_rows import StudyFiles


class Task(NamedTuple):
    """What is to be fitted to what."""

    study: str
    spec: "Spec"
    source: "StudyFiles"
    config: Mapping


def add_fit(commands) -> None:
    """Add the command to the subparsers of a parser."""
    parser: ArgumentParser = commands.add_parser("fit", help="fit a spec to files of ratings", description=__doc__)
    parser.add_argument("files", nargs="+", metavar="[dimension=]file", help="CSV, gzip CSV or parquet; all are of one study")
    parser.add_argument("--study", help="study of config whose scales and task types hold; default: the one with these files")
    parser.add_argument("--spec", default="main", help="spec of config; default: %(default)s, which is Equation 1")
    parser.add_argument("--config", help="YAML file of what is added to config.yaml or changed of it")
    parser.add_argument("--output", help="CSV file to write; default: the standard output")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Write the table of estimates of one spec, and to the standard error what is not estimable.

    Raises what the steps of the workflow raise; nothing is written then.
    """
    files, connection = [_file(argument) for argument in arguments.files], connect()
    with ThreadPoolExecutor(1) as reader:
        distinct = reader.submit(collapse, connection, files)
        task = _task(arguments, files)
        found = _straight(task, reader, connection, distinct) or _by_way_of_tables(task)

    from judgebias.tables import ESTIMATES, write_table

    write_table(arguments.output or sys.stdout.fileno(), ESTIMATES, found.estimates)
    for row in found.not_estimable:
        what = " of ".join(filter(None, (row["quantity"], row["term"]))) or "the fit"
        print(f"{_where(row)}not estimable: {what}: {row['reason']}", file=sys.stderr)
    for row in found.remarks:
        print(f"{_where(row)}{row['remark']}", file=sys.stderr)


def _task(arguments: Namespace, files: Sequence[RatingsFile]) -> Task:
    from judgebias.commands.configuration import load, study_of
    from judgebias.fits.spec import Spec
    from judgebias.ratings.checked_rows import StudyFiles
    from judgebias.ratings.registry import Registry
    from judgebias.settings import check_known

    config = load(arguments.config)
    check_known("--spec", [arguments.spec], config["specs"], "specs")
    study = study_of(config, arguments.study, [file.path for file in files])
    settings, registry = config["studies"][study], Registry.from_config(config["models"])
    task_types = {name: task_type for task_type, names in settings.get("task_types", {}).items() for name in names}
    source = StudyFiles(files, settings["scales"], task_types, registry)
    return Task(study, Spec(arguments.spec, **config["specs"][arguments.spec]), source, config)


def _straight(
    task: Task, reader: ThreadPoolExecutor, connection: duckdb.DuckDBPyConnection, distinct: "Future[list[str]]"
) -> "Estimated | None":
    """Fit to cells of the distinct rows; None where the fit reads the rows, or where something may be wrong with them."""
    if task.spec.by_row:
        return None
    from judgebias.ratings.raw_cells import cells_of_distinct_rows, repeated

    counted = reader.submit(lambda: cells_of_distinct_rows(connection, task.source, distinct.result()))
    from judgebias.fits.estimates import estimate
    from judgebias.ratings.study import Study

    try:
        cells = counted.result()
    except DataError:
        return None
    if cells is None:
        return None
    twice = reader.submit(repeated, connection)
    found = estimate(task.spec, Study(task.study, cells), confidence=task.config["confidence"])
    return None if twice.result() else found


def _by_way_of_tables(task: Task) -> "Estimated":
    """Fit as the workflow does, by its own steps and with its own errors, in a folder that is gone afterwards."""
    from tempfile import TemporaryDirectory

    from judgebias.fits.estimates import estimate
    from judgebias.ratings.cells import build_cells
    from judgebias.ratings.ratings import normalise
    from judgebias.ratings.study import Study

    with TemporaryDirectory() as folder, bounded_memory(task.config["memory_limit"], f"{folder}/spill"):
        ratings, cells = f"{folder}/ratings.parquet", f"{folder}/cells.parquet"
        normalise(task.study, task.source, ratings=ratings, completeness=f"{folder}/completeness.csv")
        build_cells(ratings, cells)
        study = Study(task.study, cells, [ratings])
        return estimate(task.spec, study, confidence=task.config["confidence"], seed=task.config["seed"])


def _where(row: Mapping) -> str:
    return f"{row['spec']}: " + (f"{row['slice']}: " if row["slice"] else "")


def _file(argument: str) -> RatingsFile:
    dimension, mark, path = argument.partition("=")
    return RatingsFile(path, dimension) if mark and not Path(argument).exists() else RatingsFile(argument)
