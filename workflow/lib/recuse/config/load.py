"""The configuration, read and merged as by Snakemake, and checked."""

from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from recuse.base.errors import ConfigError
from recuse.base.places import PROJECT
from recuse.base.products import registered
from recuse.config.read import located, project_settings, read
from recuse.config.studies import Study, studies_in, with_names
from recuse.data.registry import Registry

if TYPE_CHECKING:
    from recuse.config.declared.settings import Settings


def checked(config: Mapping, project: Mapping) -> dict:
    """Return `config` in the order of the `project`'s own; ConfigError about an invalid setting."""
    from recuse.config.declared.settings import check_settings

    settings = ordered_as(project, _named(config))
    for product in registered():
        if product.completes:
            settings = resolve_name(product.completes)(settings)
    declared = check_settings(settings, project["specs"])
    return {**settings, "specs": _specs_by_name(settings, declared)}


def _specs_by_name(settings: Mapping, declared: "Settings") -> dict[str, Mapping]:
    """The specs, where `models_dropped` has a model's name for its id, unless a study's `families`
    has that as a name.
    """
    studies = [*declared.studies.values(), *declared.comparisons.values()]
    members = {name for study in studies for names in study.families.values() for name in names}
    names, specs = Registry.from_config(settings["models"]).names, settings["specs"]
    names = {key: name for key, name in names.items() if key not in members}
    return {spec: with_names(entry, names) for spec, entry in specs.items()}


def _named(settings: object) -> object:
    """The settings with names that YAML reads as numbers, such as a dimension `1:`, as texts."""
    if isinstance(settings, list):
        return [_named(value) for value in settings]
    if not isinstance(settings, Mapping):
        return settings
    numbers = {
        key: str(key)
        for key in settings
        if isinstance(key, int | float) and not isinstance(key, bool)
    }
    return {numbers.get(key, key): _named(value) for key, value in settings.items()}


def ordered_as(base: Mapping, settings: Mapping) -> dict:
    """Return `settings` with the keys of `base` first, in its order, at every level: figures follow
    the order of models.

    Snakemake puts the keys of `--configfile` before those of config.yaml.
    """
    keys = [
        *(key for key in base if key in settings),
        *(key for key in settings if key not in base),
    ]
    nested = {
        key
        for key in keys
        if isinstance(settings[key], Mapping) and isinstance(base.get(key), Mapping)
    }
    return {
        key: ordered_as(base[key], settings[key]) if key in nested else settings[key]
        for key in keys
    }


def load(path: str | None) -> Mapping:
    """The project's configuration, changed by config.yaml in the working directory, then by `path`.

    Raises ConfigError, as the workflow does, about a file that does not exist and about an invalid
    setting.
    """
    here = Path("config.yaml")
    files = [here] if here.exists() and not here.samefile(PROJECT / "config.yaml") else []
    files += [] if path is None else [Path(path)]
    project = config = project_settings()
    for file in files:
        config = merged(config, read(file))
    if not files:
        return project  # tests check the project's own
    try:
        return checked(config, project)
    except ConfigError as error:
        raise located(error, files) from None


def load_studies(path: str | None) -> dict[str, Study]:
    """The studies of the configuration that `load` gives."""
    return studies_in(load(path))


def with_study(config: Mapping, **added: Mapping) -> dict:
    """Return `config` with these additions, as if a file had them; ConfigError about an invalid
    setting.
    """
    return checked(merged(config, added), project_settings())


def merged(base: Mapping, added: Mapping) -> dict:
    """Merge configurations as Snakemake does: mappings key by key, anything else as a whole."""
    both = {
        key
        for key in base
        if isinstance(base[key], Mapping) and isinstance(added.get(key), Mapping)
    }
    return {**base, **added, **{key: merged(base[key], added[key]) for key in both}}
