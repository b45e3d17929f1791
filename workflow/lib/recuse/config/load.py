"""The configuration, read and checked as Snakemake would."""

from collections.abc import Mapping
from os.path import isfile
from pathlib import Path

import yaml

from recuse.base.errors import ConfigError

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
