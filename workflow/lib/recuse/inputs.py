"""From named files, or a configuration alone, to a study: its ratings or verdicts.

Every step is the workflow's, without Snakemake: numbers and errors are the same. Slow imports,
numpy above all, are in the functions, as the command sets the number of threads before.
"""

from collections.abc import Mapping, Sequence
from os.path import realpath
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from recuse.base.database import Frame
from recuse.base.errors import ConfigError, check_known
from recuse.data.registry import COMPARED, RATED, named_files, parquet_parts, raw_files

if TYPE_CHECKING:
    from recuse.config.studies import Study
    from recuse.data.files import RatingsFile
    from recuse.data.ratings import StudyFiles

RAW, RATERS = "raw.parquet", "raw_raters.parquet"  # written by an import


class Inputs(NamedTuple):
    """Files of ratings, or of verdicts, and the study that describes them.

    frames: tables in memory that are read where the study or `files` have their names as paths.
    """

    study: "Study"
    files: "Sequence[RatingsFile]"
    frames: Mapping[str, Frame] = MappingProxyType({})

    def source(self) -> "StudyFiles":
        """The files as the steps of the workflow read them; those of an import once it is made."""
        from recuse.data.ratings import StudyFiles
        from recuse.data.registry import models_with

        study = self.study
        return StudyFiles.from_files(
            [file.path for file in self.files],
            [file.dimension for file in self.files],
            scales=study.setting("scales"),
            task_types=study.setting("task_types"),
            models=models_with(study.setting("families"), study.shared.as_written()["models"]),
            imported=study.settings.import_ is not None,
            declared=study.setting("verify"),
            trusted=study.setting("trusted"),
            counts=study.setting("counts"),
        )


def inputs_from_files(
    studies: "Mapping[str, Study]",
    named: Sequence[tuple[str, str | None]],
    name: str | None = None,
    *,
    compared: bool = False,
) -> Inputs:
    """The files in `named`, as by `recuse.data.registry.named_files`, and their study; ConfigError
    if they do not fit one of `studies`.

    name: of the study; None: the one whose files these are, or one of comparisons that has any of
    them. It is one of comparisons only if `compared`.
    """
    from recuse.config.load import project
    from recuse.data.files import RatingsFile

    if name is not None:
        check_known(["--study"], [name], studies, "studies")
    else:
        name = next((each for each, study in studies.items() if _has_files(study, named)), None)
    if name is None:
        raw_files(named)  # a folder without parts is refused first
        rated = [each for each, study in studies.items() if study.has_ratings()]
        added = [each for each in rated if each not in project().studies]
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
    study = studies[name]
    if not study.has_ratings():
        _check_compared(study, compared)
    elif study.settings.import_ is None:
        named = _with_dimensions(study, raw_files(named))
    return Inputs(study, [RatingsFile(*each) for each in named])


def _has_files(study: "Study", named: Sequence[tuple[str, str | None]]) -> bool:
    """Whether these are the files of a study; of one of comparisons, whether any is."""
    paths, places = ({realpath(path) for path, _ in files} for files in (named, study.entries()))
    if not study.has_ratings():
        return any(
            path == place or path.startswith(f"{place}/") for path in paths for place in places
        )
    if study.settings.import_ is not None:
        return paths == places
    parts = {realpath(part) for path, _ in named for part in parquet_parts(path)}
    return bool(parts) and parts == _files(study).keys()


def _with_dimensions(
    study: "Study", files: Sequence[tuple[str, str | None]]
) -> list[tuple[str, str | None]]:
    """(path, dimension) of files of a study; a missing dimension is that of the file in config.

    ConfigError if a dimension is not the study's, or not the file's in config.
    """
    dimensions = []
    where, declared = f"studies: {study.name}", _files(study)
    for path, stated in files:
        dimension = declared.get(realpath(path))
        if stated is not None:
            check_known([where, f"{stated}={path}"], [stated], study.settings.scales, "its scales")
        if stated is not None and dimension not in (None, stated):
            other = f"found {stated}={path}, write {dimension}={path}"
            raise ConfigError(f"config: {where}: files: {path} is of {dimension}; {other}")
        dimensions.append((path, dimension if stated is None else stated))
    return dimensions


def inputs_in(
    studies: "Mapping[str, Study]",
    added: Mapping,
    name: str | None = None,
    *,
    compared: bool = False,
) -> list[Inputs]:
    """Each study that `added`, a part of their configuration, describes by files, with
    these files.

    name: of one in `studies`, which need not be in `added`; None: all in `added`, those of
    comparisons only if `compared`. ConfigError if there is none, or if it has no files.
    """
    if name is not None:
        check_known(["--study"], [name], studies, "studies and comparisons")
        chosen = [studies[name]]
    else:
        names = [name for part in (RATED, COMPARED) for name in added.get(part, {})]
        chosen = [studies[name] for name in names if studies[name].entries()]
        if not compared:
            chosen = [study for study in chosen if study.has_ratings()] or chosen
    if not chosen:
        raise ConfigError(
            "config: no study with files; describe one under `studies:` or `comparisons:`, see"
            " docs/own-data.md"
        )
    if not chosen[0].has_ratings():
        _check_compared(chosen[0], compared)
    return [_inputs_in(study) for study in chosen]


def _inputs_in(study: "Study") -> Inputs:
    from recuse.data.files import RatingsFile

    named = study.entries()
    if not named:
        raise ConfigError(
            f"config: {study.section}: {study.name}: has no files of its own; name the files that"
            " it is to be read from"
        )
    if study.has_ratings() and study.settings.import_ is None:
        named = raw_files(named)
    return Inputs(study, [RatingsFile(*each) for each in named])


def _check_compared(study: "Study", compared: bool) -> None:
    if not compared:
        raise ConfigError(
            f"config: comparisons: {study.name}: these are verdicts on pairs of answers, and `fit`"
            " is for ratings; build the report (`recuse run <this file>`), see docs/comparisons.md"
        )


def _files(study: "Study") -> dict[str, str | None]:
    """Path -> dimension of each file under `files:` of a study; of a folder, of its parts."""
    named = named_files(study.settings.files or ())
    return {realpath(part): dimension for path, dimension in named for part in parquet_parts(path)}
