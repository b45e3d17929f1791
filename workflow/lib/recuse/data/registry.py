"""Names in the configuration that the data are read by: files of a study, models and their spellings, teams of raters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import isdir
from pathlib import Path

from recuse.base.errors import ConfigError

NO_HUMAN_SCORE = "no row has a human score"  # of a study, which then says less
HUMAN = "Human"  # the judge of the human scores in tables and figures; no model's name
RATERS = "raters"  # those whose mean score is the reference of the study
GOLD = "gold"  # a second team of more training, on a random subset of the completions
TEAMS = (RATERS, GOLD)


def named_files(files: str | Sequence[str] | Mapping[str, str]) -> list[tuple[str, str | None]]:
    """(path, dimension) of each entry of `files:`, as it stands there; the dimension is None where the rows say it."""
    if isinstance(files, Mapping):
        return [(path, dimension) for dimension, path in files.items()]
    return [(path, None) for path in ([files] if isinstance(files, str) else files)]


def raw_files(named: Sequence[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """(path, dimension) of each file to be read for the entries of `named_files`; ConfigError about a folder without parts.

    Whether a file is there, and is one, is for its reader to say.
    """
    files = []
    for path, dimension in named:
        parts = parts_of(path)
        if not parts:
            raise ConfigError(f"'{path}': the folder holds no *.parquet; put the parts into it")
        files += [(part, dimension) for part in parts]
    return files


def parts_of(path: str) -> list[str]:
    """The parquet files of a folder in the order of their names, but not hidden ones; anything else alone."""
    if not isdir(path):  # a name that is too long to be one is no folder, either
        return [path]
    return [str(part) for part in sorted(Path(path).glob("[!.]*.parquet"))]


@dataclass(frozen=True)
class Registry:
    """Display names in the order of the figures, their families, and every id that stands for a name."""

    families: dict[str, str]  # name -> family
    names: dict[str, str]  # id or name -> name

    @classmethod
    def from_config(cls, models: Mapping[str, Mapping]) -> "Registry":
        """Read config's `models`; ConfigError where one id stands for two models."""
        names: dict[str, str] = {name: name for name in models}
        for name, entry in models.items():
            for model_id in entry.get("ids", ()):
                if names.setdefault(model_id, name) != name:
                    raise ConfigError(
                        f"config: models: the id '{model_id}' stands for both '{names[model_id]}' and '{name}'; "
                        "write it under one of them"
                    )
        return cls({name: entry["family"] for name, entry in models.items()}, names)

    def with_families(self, families: Mapping[str, str]) -> "Registry":
        """Return the registry with models, by name, that config does not know; families: of each."""
        return Registry({**self.families, **families}, {**self.names, **{name: name for name in families}})


def models_with(families: Mapping[str, list[str]], models: Mapping[str, Mapping]) -> dict[str, dict]:
    """Config's `models`, and those that a study's own `families` name, by the spelling that stands there.

    One that config knows too, by name or id, is in this study what the study says.
    """
    of_study = {model: {"family": family} for family, names in families.items() for model in names}
    others = {name: entry for name, entry in models.items() if name not in of_study}
    for name, entry in others.items():
        if set(entry.get("ids", ())) & of_study.keys():
            others[name] = {**entry, "ids": [spelling for spelling in entry["ids"] if spelling not in of_study]}
    return {**of_study, **others}
