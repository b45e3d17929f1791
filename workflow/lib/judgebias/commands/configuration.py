"""The configuration as the workflow reads it: the project's own, that of the working directory, and one that is named."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from judgebias.errors import ConfigError
from judgebias.settings import check, check_known, check_redefined

PROJECT = Path(__file__).parents[4]  # where the library is used from a checkout


def load(path: str | None) -> dict:
    """The configuration, what is in `path` before what is in config.yaml here, and both before the project's own.

    Raises ConfigError, as the workflow does, about a file that is none and about a setting that does not fit; not about the
    project's own, which its tests check.
    """
    project, here = PROJECT / "config.yaml", Path("config.yaml")
    own = [here] if here.exists() and not here.samefile(project) else []
    base = _read(project)
    config = base
    for added in [*own, *([] if path is None else [Path(path)])]:
        config = _merged(config, _read(added))
    if config is not base:
        from judgebias.comparisons.settings import check_comparisons

        check(config, _read(PROJECT / "workflow" / "schemas" / "config.schema.yaml"))
        check_redefined(config["specs"], base["specs"])
        check_comparisons(config)
    return config


def study_of(config: Mapping, name: str | None, paths: list[str]) -> str:
    """The study of that name; without one, the study whose files these are. ConfigError if there is none."""
    studies = config["studies"]
    if name is not None:
        check_known("--study", [name], studies, "studies")
        return name
    for study, settings in studies.items():
        files = settings.get("files", [])
        if paths == ([files] if isinstance(files, str) else [*files.values()] if isinstance(files, Mapping) else files):
            return study
    raise ConfigError(
        f"config: studies: none has the files {', '.join(paths)}; name by --study the one whose scales and task types hold for "
        f"them: {', '.join(studies)}"
    )


def _merged(base: Mapping, added: Mapping) -> dict:
    """As Snakemake merges configurations: mappings key by key, anything else as a whole."""
    both = {key for key in base if isinstance(base[key], Mapping) and isinstance(added.get(key), Mapping)}
    return {**base, **added, **{key: _merged(base[key], added[key]) for key in both}}


def _read(path: Path) -> dict:
    if not path.is_file():
        raise ConfigError(f"{path}: no such file; name a configuration by --config")
    try:
        found = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not YAML ({' '.join(str(error).split())}); see config.yaml of the project") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: holds no settings; write keys and values, as in config.yaml of the project")
    return found
