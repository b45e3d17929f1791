"""The configuration, read and merged as by Snakemake, and checked."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from recuse.base.errors import ConfigError
from recuse.base.places import PROJECT
from recuse.base.products import registered
from recuse.config.read import located, project_settings, read
from recuse.config.studies import Study, studies_in

if TYPE_CHECKING:
    from recuse.config.declared.settings import Settings


def checked(config: Mapping, project: Mapping) -> "Settings":
    """The settings in `config`, in the order of the `project`'s own; ConfigError about an invalid
    one.
    """
    from recuse.config.declared.settings import check_settings

    settings = ordered_as(project, _named(config))
    for product in registered():
        if product.completes:
            settings = resolve_name(product.completes)(settings)
    return check_settings(settings, project["specs"])


def _named(settings: object) -> object:
    """The settings with names that YAML reads as numbers, such as a dimension `1:`, as texts."""
    if isinstance(settings, list):
        return [_named(value) for value in settings]
    if not isinstance(settings, Mapping):
        return settings
    named = {}
    for key, value in settings.items():
        is_number = isinstance(key, int | float) and not isinstance(key, bool)
        named[str(key) if is_number else key] = _named(value)
    return named


def ordered_as(base: Mapping, settings: Mapping) -> dict:
    """Return `settings` with the keys of `base` first, in its order, at every level: figures follow
    the order of models.

    Snakemake puts the keys of `--configfile` before those of config.yaml.
    """
    ordered = {key: settings[key] for key in (*base, *settings) if key in settings}
    for key, value in ordered.items():
        if isinstance(value, Mapping) and isinstance(base.get(key), Mapping):
            ordered[key] = ordered_as(base[key], value)
    return ordered


@cache
def project() -> "Settings":
    """The project's own settings, without a user's additions."""
    settings = project_settings()
    return checked(settings, settings)


def load(path: str | None) -> "Settings":
    """The project's settings, changed by config.yaml in the working directory, then by `path`.

    Raises ConfigError, as the workflow does, about a file that does not exist and about an invalid
    setting.
    """
    here = Path("config.yaml")
    files = [here] if here.exists() and not here.samefile(PROJECT / "config.yaml") else []
    files += [] if path is None else [Path(path)]
    project = config = project_settings()
    for file in files:
        config = merged(config, read(file))
    try:
        return checked(config, project)
    except ConfigError as error:
        raise located(error, files) from None


def load_studies(path: str | None) -> dict[str, Study]:
    """The studies of the configuration that `load` gives."""
    return studies_in(load(path))


def with_study(config: Mapping, **added: Mapping) -> "Settings":
    """The settings in `config` with these additions, as if a file had them; ConfigError about an
    invalid one.
    """
    return checked(merged(config, added), project_settings())


def merged(base: Mapping, added: Mapping) -> dict:
    """Merge configurations as Snakemake does: mappings key by key, anything else as a whole."""
    both = dict(base)
    for key, value in added.items():
        is_nested = isinstance(value, Mapping) and isinstance(base.get(key), Mapping)
        both[key] = merged(base[key], value) if is_nested else value
    return both
