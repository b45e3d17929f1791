"""What a command that takes files of ratings is told of them, and the tables that it makes of them, as the workflow does."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from os.path import exists
from typing import TYPE_CHECKING, NamedTuple

from judgebias.commands.importing import import_files, imported_study
from judgebias.configuration import study_of
from judgebias.errors import DataError
from judgebias.sources.checks import RatingsFile
from judgebias.tables import read_table

# A command may read files while what takes long to import is imported, in the functions.
if TYPE_CHECKING:
    from judgebias.ratings.checked_rows import StudyFiles
    from judgebias.ratings.study import Study


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
        from judgebias.imports.settings import models_with, scales_in_steps
        from judgebias.ratings.checked_rows import StudyFiles

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
    from judgebias.ratings.cells import build_cells
    from judgebias.ratings.ratings import normalise
    from judgebias.ratings.study import Study

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
