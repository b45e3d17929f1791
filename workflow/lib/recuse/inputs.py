"""From named files, or a configuration alone, to a study: its ratings or verdicts.

Every step is the workflow's, without Snakemake: numbers and errors are the same. Slow imports,
numpy above all, are in the functions, as the command sets the number of threads before.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from os.path import realpath
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from recuse.base.database import Frame, bounded, bytes_of
from recuse.base.errors import ConfigError, check_known
from recuse.base.products import registered
from recuse.base.tables import read_table
from recuse.data.registry import COMPARED, RATED, files_in, named_files, parts_of, raw_files

if TYPE_CHECKING:
    from recuse.data.files import RatingsFile
    from recuse.data.ratings import StudyFiles
    from recuse.data.study import StudyTables

RAW, RATERS = "raw.parquet", "raw_raters.parquet"  # written by an import
# In a folder that stays
KEPT = (RAW, RATERS, "ratings.parquet", "cells.parquet", "raters.parquet", "comparisons.parquet")


class Inputs(NamedTuple):
    """Files of ratings, or of verdicts, and the study of `config` that describes them.

    frames: tables in memory that are read where config or `files` have their names as paths.
    """

    study: str
    files: "Sequence[RatingsFile]"
    config: Mapping
    frames: Mapping[str, Frame] = MappingProxyType({})

    @property
    def settings(self) -> Mapping:
        """The study's entry in `config`."""
        return self.config[COMPARED if self.compared else RATED][self.study]

    @property
    def compared(self) -> bool:
        """Whether the files are of verdicts."""
        return self.study in self.config[COMPARED]

    def source(self) -> "StudyFiles":
        """The files as the steps of the workflow read them; those of an import once it is made."""
        from recuse.data.ratings import StudyFiles
        from recuse.data.registry import models_with

        return StudyFiles.from_config(
            [file.path for file in self.files],
            [file.dimension for file in self.files],
            scales=self.settings["scales"],
            task_types=self.settings.get("task_types", {}),
            models=models_with(self.settings.get("families", {}), self.config["models"]),
            imported="import" in self.settings,
            declared=self.settings.get("verify"),
        )


def inputs_of(
    config: Mapping,
    named: Sequence[tuple[str, str | None]],
    study: str | None = None,
    *,
    compared: bool = False,
) -> Inputs:
    """The files in `named`, as by `recuse.data.registry.named_files`, and their study; ConfigError
    if they do not fit `config`.

    study: its name; None: one that imports exactly these files, else the one whose files these are.
    It is one of comparisons only if `compared`.
    """
    from recuse.data.files import RatingsFile

    imports = {
        name: settings["import"] for name, settings in config[RATED].items() if "import" in settings
    }
    if study is None:
        paths = {realpath(path) for path, _ in named}
        study = next(
            (
                name
                for name, settings in imports.items()
                if paths == set(map(realpath, paths_of(settings)))
            ),
            None,
        )
    if study not in imports:
        of_verdicts = _compared_study(config, study, [realpath(path) for path, _ in named])
        if of_verdicts is not None:
            _check_compared(of_verdicts, compared)
        study, named = (
            (of_verdicts, named) if of_verdicts is not None else study_of(config, study, named)
        )
    return Inputs(study, [RatingsFile(*each) for each in named], config)


def inputs_in(
    config: Mapping, added: Mapping, study: str | None = None, *, compared: bool = False
) -> list[Inputs]:
    """Each study that `added`, a configuration that is part of `config`, describes by files, with
    these files.

    study: the name of one in `config`, which need not be in `added`; None: all in `added`, those of
    comparisons only if `compared`. ConfigError if there is none, or if it has no files.
    """
    if study is not None:
        check_known(
            "--study", [study], {**config[RATED], **config[COMPARED]}, "studies and comparisons"
        )
        if study in config[COMPARED]:
            _check_compared(study, compared)
    studies = [
        name for part in (RATED, COMPARED) for name in added.get(part, {}) if _entries(config, name)
    ]
    of_ratings = [name for name in studies if name not in config[COMPARED]]
    if study is None and studies and not compared and not of_ratings:
        _check_compared(studies[0], compared)
    chosen = [study] if study is not None else studies if compared else of_ratings
    if not chosen:
        raise ConfigError(
            "config: no study with files; describe one under `studies:` or `comparisons:`, see"
            " docs/own-data.md"
        )
    return [_inputs_in(config, name) for name in chosen]


def _inputs_in(config: Mapping, study: str) -> Inputs:
    from recuse.data.files import RatingsFile

    named, section = _entries(config, study), COMPARED if study in config[COMPARED] else RATED
    if not named:
        raise ConfigError(
            f"config: {section}: {study}: has no files of its own; name the files that it is to be"
            " read from"
        )
    files = named if section == COMPARED or "import" in config[section][study] else raw_files(named)
    return Inputs(study, [RatingsFile(*each) for each in files], config)


def _entries(config: Mapping, study: str) -> list[tuple[str, str | None]]:
    """(path, dimension) of each entry of `files:`, or of those of `import:`, of a study of either
    kind.
    """
    settings = config[COMPARED if study in config[COMPARED] else RATED][study]
    return named_files(settings.get("import", settings).get("files", ()))


def _check_compared(study: str, compared: bool) -> None:
    if not compared:
        raise ConfigError(
            f"config: comparisons: {study}: these are verdicts on pairs of answers, and `fit` is"
            " for ratings; build the report (`recuse run <this file>`), see docs/comparisons.md"
        )


def study_of(
    config: Mapping, name: str | None, named: Sequence[tuple[str, str | None]]
) -> tuple[str, list[tuple[str, str | None]]]:
    """The study of that name, or the one with the files in `named` if it is None; and (path,
    dimension) of each file.

    named: as by `recuse.data.registry.named_files`. A missing dimension is that of the file in
    config. ConfigError if there is no such study, or if a dimension is not the study's, or not the
    file's in config.
    """
    files = raw_files(named)
    if name is None:
        paths = {realpath(path) for path, _ in files}
        name = next(
            (study for study in config[RATED] if paths == _files_of(config, study).keys()), None
        )
    if name is None:
        from recuse.config.read import project_settings

        added = [study for study in config[RATED] if study not in project_settings()[RATED]]
        advice = (
            "describe their study in a file and pass it by --config; `recuse import --guess` with"
            " these files writes one"
        )
        if added:
            advice = (
                f"name by --study the one whose scales and task types apply: {', '.join(added)}"
            )
        raise ConfigError(
            f"config: studies: none has the files {', '.join(path for path, _ in named)}; {advice}"
        )
    check_known("--study", [name], config[RATED], "studies")
    where, declared, dimensions = f"studies: {name}", _files_of(config, name), []
    for path, stated in files:
        dimension = declared.get(realpath(path))
        if stated is not None:
            check_known(
                f"{where}: {stated}={path}", [stated], config[RATED][name]["scales"], "its scales"
            )
        if stated is not None and dimension not in (None, stated):
            other = f"found {stated}={path}, write {dimension}={path}"
            raise ConfigError(f"config: {where}: files: {path} is of {dimension}; {other}")
        dimensions.append((path, dimension if stated is None else stated))
    return name, dimensions


def _compared_study(config: Mapping, name: str | None, paths: Sequence[str]) -> str | None:
    """The study of comparisons of that name or, if it is None, with one of the files at `paths`;
    None if there is none.
    """
    for study in config[COMPARED]:
        places = [realpath(path) for path, _ in _entries(config, study)]  # files or folders
        inside = any(
            path == place or path.startswith(f"{place}/") for path in paths for place in places
        )
        if study == name or (name is None and inside):
            return study
    return None


def _files_of(config: Mapping, study: str) -> dict[str, str | None]:
    """Path -> dimension of each file that config names for a study; of a folder, of its parts."""
    named = named_files(config[RATED][study].get("files", ()))
    return {realpath(part): dimension for path, dimension in named for part in parts_of(path)}


def paths_of(settings: Mapping) -> list[str]:
    """The paths under `files:`, files or folders."""
    return [path for path, _ in named_files(settings.get("files", ()))]


@contextmanager
def in_folder(inputs: Inputs, place: str | None = None) -> Iterator[str]:
    """Give a folder for temporary files, and limit DuckDB to these, the inputs' files and the
    limits of config.

    place: a folder that stays, with the tables in KEPT; None: one that is removed afterwards.
    """
    from recuse.config.studies import asked_about

    settings = inputs.settings.get("import", {})
    collected = "collect" in inputs.settings
    named = (
        asked_about(inputs.config, inputs.study)
        if collected
        else [file.path for file in inputs.files]
    )
    named += paths_of(settings.get("references", {}))
    named = [name for name in named if name not in inputs.frames]
    files = [
        *filter(None, [inputs.settings.get("raters")]),
        *(path for name in named for path in files_in(name)),
    ]
    limits = {
        "limit": inputs.config["memory_limit"],
        "longest_line": int(bytes_of(inputs.config["line_limit"])),
    }
    outputs = [] if place is None else [f"{place}/{name}" for name in KEPT]
    with (
        TemporaryDirectory() if place is None else nullcontext(place) as holder,
        bounded(
            **limits, folder=f"{holder}/work", files=files, outputs=outputs, frames=inputs.frames
        ) as folder,
    ):
        yield folder if place is None else place


def imported(inputs: Inputs, folder: str) -> Inputs:
    """The inputs with files of ratings or verdicts, now in `folder`, if a product makes these, as
    an import does.
    """
    for product in registered():
        for key, function in product.reads.items():
            if key in inputs.settings:
                return resolve_name(function)(inputs, folder)
    return inputs


def tables_of(inputs: Inputs, folder: str) -> "StudyTables":
    """Check the files and write ratings.parquet, cells.parquet and completeness.csv into `folder`,
    as the workflow does.
    """
    from recuse.data.cells import build_cells
    from recuse.data.ratings import no_complete_row, normalise
    from recuse.data.study import StudyTables

    ratings, cells, completeness = (
        f"{folder}/{name}" for name in ("ratings.parquet", "cells.parquet", "completeness.csv")
    )
    normalise(inputs.study, inputs.source(), ratings=ratings, completeness=completeness)
    # Later steps would name a file in the folder
    if not any(int(row["used"]) for row in read_table(completeness)):
        raise no_complete_row(inputs.files)
    build_cells(ratings, cells)
    return StudyTables(inputs.study, cells, [ratings])
