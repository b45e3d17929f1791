"""Fit a spec to raw files of ratings: they are checked, and the table of estimates is the workflow's, byte for byte.

What a command that takes files of ratings is told of them, and the tables that it makes of them, as the workflow does.

Say what files of ratings support before any fit: which biases they can tell, how small, and what is amiss.

Where a command writes: to the standard output, or to a file, which is then whole or not there.

Files that a command imports first: those of a study with `import`, in the format of another tool or in other columns.

The library from the command line, without Snakemake: `python -m recuse <command>`.
"""

import argparse
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import redirect_stdout
from os.path import exists, normpath
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import duckdb

from recuse.base.database import bounded_memory, bytes_of, connect
from recuse.base.errors import ConfigError, DataError, DesignError, RecuseError, full_disk_named
from recuse.base.tables import read_table, write_table
from recuse.config.checks import check_known
from recuse.config.load import PROJECT, load, study_of
from recuse.data.distinct import collapse
from recuse.data.files import RatingsFile
from recuse.data.registry import models_with, named_files

RAW, RATERS = "raw.parquet", "raw_raters.parquet"  # what an import makes in a folder


def imported_study(config: Mapping, name: str | None, paths: Sequence[str]) -> str | None:
    """The study of that name, or, without one, the study that imports the files at `paths`; None if it imports nothing."""
    studies = {study: settings["import"] for study, settings in config["studies"].items() if "import" in settings}
    if name is not None:
        return name if name in studies else None
    given = {normpath(path) for path in paths}
    return next((study for study, settings in studies.items() if given == {normpath(path) for path in _paths(settings)}), None)


def tells_single_raters(settings: Mapping) -> bool:
    """Whether a study imports the scores of single raters."""
    from recuse.data.imports.formats import tells_raters

    return tells_raters(settings.get("import", {}))


def import_files(study: str, config: Mapping, files: Sequence[RatingsFile], folder: str) -> RatingsFile:
    """Import the files of a study into `folder`, as the workflow does; the file to check. Raises what the import raises."""
    from recuse.data.imports.formats import files_in
    from recuse.data.imports.ratings import import_ratings

    settings = config["studies"][study]
    outputs = {"ratings": f"{folder}/{RAW}", "imported": f"{folder}/imported.csv"}
    outputs |= {"raters": f"{folder}/{RATERS}"} if tells_single_raters(settings) else {}
    paths, references = (
        [each for path in given for each in files_in(path)]
        for given in ([file.path for file in files], _paths(settings["import"].get("references", {})))
    )
    models = models_with(settings.get("families", {}), config["models"])
    with redirect_stdout(sys.stderr):  # the standard output is for what the command finds
        import_ratings(
            study, paths, references, settings=settings["import"], scales=settings["scales"], models=models, outputs=outputs
        )
    return RatingsFile(outputs["ratings"])


def _paths(settings: Mapping) -> list[str]:
    return [path for path, _ in named_files(settings.get("files", ()))]


# A command may read files while what takes long to import is imported, in the functions.
if TYPE_CHECKING:
    from recuse.data.ratings import StudyFiles
    from recuse.data.study import Study


class Given(NamedTuple):
    """Files of ratings, and the study of `config` that says what they hold."""

    study: str
    files: Sequence[RatingsFile]
    config: Mapping

    @property
    def settings(self) -> Mapping:
        """What `config` says of the study."""
        return self.config["studies"][self.study]

    @property
    def to_import(self) -> bool:
        """Whether the files are to be imported before they are checked."""
        return "import" in self.settings

    def source(self) -> "StudyFiles":
        """The files as the steps of the workflow read them; those of an import once it is made."""
        from recuse.data.ratings import StudyFiles
        from recuse.data.scales import scales_in_steps

        return StudyFiles.from_config(
            [file.path for file in self.files],
            [file.dimension for file in self.files],
            scales=scales_in_steps(self.settings["scales"], self.settings.get("import", {})),
            task_types=self.settings.get("task_types", {}),
            models=models_with(self.settings.get("families", {}), self.config["models"]),
        )


def add_files(parser: ArgumentParser) -> None:
    """Add the arguments that name files, study and configuration."""
    parser.add_argument("files", nargs="+", metavar="[dimension=]file", help="files of ratings, or of what config imports")
    parser.add_argument("--study", help="study of config whose scales and task types hold; default: the one with these files")
    parser.add_argument("--config", help="YAML file of what is added to config.yaml or changed of it")


def given_by(arguments: Namespace, config: Mapping) -> Given:
    """Read the arguments of `add_files`; ConfigError where they do not fit `config`."""
    named = [_named(argument) for argument in arguments.files]
    study = imported_study(config, arguments.study, [path for path, _ in named])
    study, files = (study, named) if study is not None else study_of(config, arguments.study, named)
    return Given(study, [RatingsFile(*file) for file in files], config)


def with_import(given: Given, folder: str) -> Given:
    """The same files, or what is imported from them into `folder`. Raises what the import raises."""
    if not given.to_import:
        return given
    return given._replace(files=[import_files(given.study, given.config, given.files, folder)])


def tables_of(given: Given, folder: str) -> "Study":
    """Check the files and make the tables of the study in `folder`, by the workflow's steps; raises what these raise.

    They are ratings.parquet, cells.parquet and completeness.csv.
    """
    from recuse.data.cells import build_cells
    from recuse.data.ratings import normalise
    from recuse.data.study import Study

    ratings, cells, completeness = (f"{folder}/{name}" for name in ("ratings.parquet", "cells.parquet", "completeness.csv"))
    normalise(given.study, given.source(), ratings=ratings, completeness=completeness)
    if not any(int(row["used"]) for row in read_table(completeness)):  # said here: the folder is gone with the command
        named = ", ".join(file.path for file in given.files)
        raise DataError(
            f"{named}: no complete row: each lacks the rating, gt, or the pred_length that others have; fill them in"
        )
    build_cells(ratings, cells)
    return Study(given.study, cells, [ratings])


def _named(argument: str) -> tuple[str, str | None]:
    """(path, dimension) of an argument; a file may have the mark in its name, too."""
    dimension, mark, path = argument.partition("=")
    return (path, dimension) if mark and not exists(argument) else (argument, None)


def check_output(path: str | None) -> None:
    """Raise ConfigError unless a file can be written at `path`; None is the standard output."""
    if path is None:
        return
    if os.path.isdir(path):
        raise ConfigError(f"--output: {path}: a folder; name a file in it")
    if not os.path.isdir(Path(path).parent):
        raise ConfigError(f"--output: {path}: there is no folder {Path(path).parent}; make it, or name a file in another")


def write_output(path: str | None, columns: Sequence[str], rows: Iterable[Mapping]) -> None:
    """Write `rows` as a CSV table; ConfigError where the system does not let it, and a file that was there stays as it was.

    Says nothing where the reader of the standard output has gone, as `head` does.
    """
    try:
        if path is None:
            write_table(os.dup(sys.stdout.fileno()), columns, rows)
        elif os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe
            write_table(path, columns, rows)
        else:
            _write_whole(Path(path).resolve(), columns, rows)
    except BrokenPipeError:
        return
    except OSError as error:
        where = "the standard output" if path is None else f"--output: {path}"
        raise ConfigError(f"{where}: {error.strerror}; name a file that can be written by --output") from error


def write_page(page: str) -> None:
    """Write a text to the standard output, with the errors of `write_output`."""
    try:
        with open(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as file:
            file.write(page)
    except BrokenPipeError:
        return
    except OSError as error:
        raise ConfigError(f"the standard output: {error.strerror}; send it to a file that can be written") from error


def _write_whole(path: Path, columns: Sequence[str], rows: Iterable[Mapping]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_table(beside, columns, rows)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


# While the files are read, what takes long to import is imported, in the functions.
if TYPE_CHECKING:
    from recuse.model.estimates import Estimated


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
    parser.set_defaults(run=run_fit)


def run_fit(arguments: Namespace) -> None:
    """Write the table of estimates of one spec, and to the standard error what is not estimable.

    Raises what the steps of the workflow raise, and ConfigError about `--output`; nothing is written then.
    """
    check_output(arguments.output)
    config = load(arguments.config)
    check_known("--spec", [arguments.spec], config["specs"], "specs")
    task = Task(arguments.spec, given_by(arguments, config))
    with TemporaryDirectory() as folder:
        found = (not task.given.to_import and _straight(task, folder)) or _by_way_of_tables(task, folder)

    from recuse.base.tables import ESTIMATES

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
    from recuse.model.spec import Spec

    study, _, config = task.given
    spec = Spec.of(task.spec, **config["specs"][task.spec])
    if spec.by_row:
        connection.interrupt()  # what is read of the rows so far is of no use
        return None
    from recuse.data.distinct import cells_of_distinct_rows, repeated

    source = task.given.source()
    counted = reader.submit(lambda: distinct.result() and cells_of_distinct_rows(connection, source, distinct.result()))
    from recuse.data.study import Study
    from recuse.model.estimates import estimate

    cells = counted.result()
    if cells is None:
        return None
    twice = reader.submit(repeated, connection)
    found = estimate(spec, Study(study, cells), confidence=config["confidence"])
    return None if twice.result() else found


def _by_way_of_tables(task: Task, folder: str) -> "Estimated":
    """Fit as the workflow does, by its own steps and with its own errors, and with no more rows in memory than it holds."""
    from recuse.model.estimates import estimate
    from recuse.model.spec import Spec

    config = task.given.config
    with bounded_memory(config["memory_limit"], f"{folder}/spill"):
        study, spec = tables_of(with_import(task.given, folder), folder), Spec.of(task.spec, **config["specs"][task.spec])
        return estimate(spec, study, confidence=config["confidence"], seed=config["seed"])


def _where(row: Mapping) -> str:
    return f"{row['spec']}: " + (f"{row['slice']}: " if row["slice"] else "")


# What takes long to import is imported in the functions: the other commands import this module, too.
if TYPE_CHECKING:
    from recuse.check.facts import Finding
    from recuse.data.study import Study
    from recuse.inference.reliability import Reliability

FACTS = PROJECT / "workflow" / "data" / "twin_facts.csv"  # the published agreement of the humans, where no single ratings are


def add_check(commands) -> None:
    """Add the command to the subparsers of a parser."""
    parser: ArgumentParser = commands.add_parser("check", help="say what files of ratings support", description=__doc__)
    add_files(parser)
    parser.add_argument("--output", help="CSV file to write the findings to, one in each row")
    parser.set_defaults(run=run_check)


def run_check(arguments: Namespace) -> None:
    """Write what the files support to the standard output, and as a table to `--output`.

    Raises what the steps of the workflow raise about the files; DesignError, after all is written, where they support no bias.
    """
    check_output(arguments.output)
    given = given_by(arguments, load(arguments.config))
    with TemporaryDirectory() as folder, bounded_memory(given.config["memory_limit"], f"{folder}/spill"):
        findings = _findings(given, folder)

    from recuse.base.tables import CHECK
    from recuse.check.check import page_of
    from recuse.check.facts import STOP

    if arguments.output is not None:
        write_output(arguments.output, CHECK, ({"study": given.study, **found.row} for found in findings))
    write_page(page_of(given.study, findings))
    for found in findings:
        if found.level == STOP:
            raise DesignError(f"{', '.join(file.path for file in given.files)}: {found.words}; {found.advice}")


def _findings(given: Given, folder: str) -> "list[Finding]":
    from recuse.check.check import check_study
    from recuse.check.facts import facts_of

    given = with_import(given, folder)
    study = _tables(given, folder)
    planner = {key: given.config["inference"]["planner"][key] for key in ("gamma", "power")}
    told = {"imports": given.settings.get("import"), "named": given.settings.get("families")}
    facts = facts_of(study, f"{folder}/completeness.csv", **told)
    return check_study(facts, _reliability(given, study, folder), **planner, confidence=given.config["confidence"])


def _tables(given: Given, folder: str) -> "Study":
    """The tables of the study; where a name is not known, the error says what to write for all such names."""
    try:
        return tables_of(given, folder)
    except DataError as error:
        from recuse.check.names import unknown_names, what_to_write

        names = unknown_names(given.source())
        if not names:
            raise
        raise DataError(f"{error}\n{what_to_write(names, given.config['models'])}") from error


def _reliability(given: Given, study: "Study", folder: str) -> "dict[str, Reliability]":
    """Reliability of the human scores: of the raters that config names or imports, or the published one."""
    from recuse.data.raters import check_raters
    from recuse.inference.measurement_error import reliability_of

    raw = f"{folder}/{RATERS}" if tells_single_raters(given.settings) else given.settings.get("raters")
    raters = [f"{folder}/raters.parquet"] if raw is not None else []
    if raters:
        check_raters(raw, given.source().registry, ratings=study.ratings, output=raters[0])
    alphas = [str(FACTS)] if "source" in given.settings else []
    return reliability_of(study, raters=raters, alphas=alphas, of_alpha=given.config["inference"]["raters"])


def main() -> int:
    """Run the command that the command line names; returns the status to end with."""
    parser = argparse.ArgumentParser(prog="recuse", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    for add in (add_fit, add_check):
        add(commands)
    arguments = parser.parse_args()
    try:
        with full_disk_named(gettempdir()):
            arguments.run(arguments)
    except RecuseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def command() -> NoReturn:
    """Run the command line as a process of its own, and end it."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # sums in one order, as in the workflow's jobs; read when numpy is imported
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere  # None where it is closed
        status = main()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # nothing is left to do; taking the process down in order would last longer than a fit
