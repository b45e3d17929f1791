"""The configuration: read and checked as Snakemake would, and the study that files on a command line belong to."""

from collections.abc import Mapping, Sequence
from os.path import isfile, normpath
from pathlib import Path

import yaml

from recuse.base.errors import ConfigError, check_known
from recuse.data.registry import named_files, parts_of, raw_files

PROJECT = Path(__file__).parents[4]  # where the library is used from a checkout


def project_settings() -> dict:
    """The project's own config.yaml, without what a user adds."""
    return _read(PROJECT / "config.yaml")


def montecarlo_settings() -> dict:
    """The simulated worlds of montecarlo.yaml; ConfigError about a setting that does not fit."""
    from recuse.config.declared.montecarlo import MonteCarlo
    from recuse.config.declared.sections import validated

    settings = _read(PROJECT / "montecarlo.yaml")
    validated(MonteCarlo, settings, name="montecarlo.yaml")
    return settings


def checked(config: Mapping, project: Mapping) -> dict:
    """Return `config` in the order of the `project`'s own; ConfigError about a setting that does not fit."""
    from recuse.config.declared.settings import check

    settings = in_order_of(project, config)
    check(settings, project["specs"])
    return settings


def in_order_of(base: Mapping, settings: Mapping) -> dict:
    """Return `settings` with the keys of `base` in its order first, at every level: figures follow the order of models.

    Snakemake puts the keys of `--configfile` before those of the file that they add to.
    """
    keys = [*(key for key in base if key in settings), *(key for key in settings if key not in base)]
    nested = {key for key in keys if isinstance(settings[key], Mapping) and isinstance(base.get(key), Mapping)}
    return {key: in_order_of(base[key], settings[key]) if key in nested else settings[key] for key in keys}


def load(path: str | None) -> Mapping:
    """The configuration, what is in `path` before what is in config.yaml here, and both before the project's own.

    Raises ConfigError, as the workflow does, about a file that is none and about a setting that does not fit; not about the
    project's own, which its tests check.
    """
    here = Path("config.yaml")
    added = [here] if here.exists() and not here.samefile(PROJECT / "config.yaml") else []
    added += [] if path is None else [Path(path)]
    project = config = project_settings()
    for each in added:
        config = _merged(config, _read(each))
    return checked(config, project) if added else project


def study_of(
    config: Mapping, name: str | None, named: Sequence[tuple[str, str | None]]
) -> tuple[str, list[tuple[str, str | None]]]:
    """The study of that name, or, without one, the study with the files that are `named`; and (path, dimension) of each.

    named: as by recuse.data.registry.named_files. A dimension that is not given is that of the file in config. Raises
    ConfigError if there is no such study, if what is named are comparisons, and about a dimension that is none of the study's
    or not that of the file in config.
    """
    _check_rated(config, name, [normpath(path) for path, _ in named])
    files = raw_files(named)
    paths = {normpath(path) for path, _ in files}
    if name is not None:
        check_known("--study", [name], config["studies"], "studies")
    else:
        name = next((study for study in config["studies"] if paths == _files_of(config, study).keys()), None)
    if name is None:
        added = [study for study in config["studies"] if study not in project_settings()["studies"]]
        mend = "describe their study under `studies:` of a file and pass it by --config, see docs/own-data.md"
        if added:
            mend = f"name by --study the one whose scales and task types hold for them: {', '.join(added)}"
        raise ConfigError(f"config: studies: none has the files {', '.join(path for path, _ in named)}; {mend}")
    where, declared, dimensions = f"studies: {name}", _files_of(config, name), []
    for path, stated in files:
        dimension = declared.get(normpath(path))
        if stated is not None:
            check_known(f"{where}: {stated}={path}", [stated], config["studies"][name]["scales"], "its scales")
        if stated is not None and dimension not in (None, stated):
            other = f"found {stated}={path}, write {dimension}={path}"
            raise ConfigError(f"config: {where}: files: {path} is of {dimension}; {other}")
        dimensions.append((path, dimension if stated is None else stated))
    return name, dimensions


def _check_rated(config: Mapping, name: str | None, paths: Sequence[str]) -> None:
    """Raise ConfigError where the study of that name, or without one that of the files at `paths`, is one of comparisons."""
    for study, settings in config.get("comparisons", {}).items():
        named = [*named_files(settings.get("files", ())), *named_files(settings.get("import", {}).get("files", ()))]
        places = [normpath(path) for path, _ in named]  # of files, or of folders of files
        verdicts = [path for path in sorted(paths) if any(path == each or path.startswith(f"{each}/") for each in places)]
        if study == name or (name is None and verdicts):
            raise ConfigError(
                f"config: comparisons: {': '.join([study, *verdicts[:1]])}: these are verdicts on pairs of answers, and this "
                "command is for ratings; what there is for verdicts, tables and a report, the workflow makes "
                f"(`snakemake {study}`), see docs/comparisons.md"
            )


def _files_of(config: Mapping, study: str) -> dict[str, str | None]:
    """Path -> dimension of each of a study's own files that config names, the parts of a folder as far as it has any."""
    named = named_files(config["studies"][study].get("files", ()))
    return {normpath(part): dimension for path, dimension in named for part in parts_of(path)}


def _merged(base: Mapping, added: Mapping) -> dict:
    """As Snakemake merges configurations: mappings key by key, anything else as a whole."""
    both = {key for key in base if isinstance(base[key], Mapping) and isinstance(added.get(key), Mapping)}
    return {**base, **added, **{key: _merged(base[key], added[key]) for key in both}}


def _read(path: Path) -> dict:
    if not isfile(path):  # where the name is too long to be one, too
        raise ConfigError(f"{path}: no such file; name a configuration by --config")
    try:
        settings = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    # A date or a tagged value that is none is met with whatever PyYAML's own conversion raises.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path}: not YAML ({' '.join(str(error).split())}); see config.yaml of the project") from error
    if not isinstance(settings, dict):
        raise ConfigError(f"{path}: holds no settings; write keys and values, as in config.yaml of the project")
    return settings
