"""The models of a study: which spelling in a file is which model, and which family a model belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass

from judgebias.errors import ConfigError

NO_HUMAN_SCORE = "no row has a human score"  # of a study, which then says less
HUMAN = "Human"  # the judge of the human scores in tables and figures; no model's name


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
