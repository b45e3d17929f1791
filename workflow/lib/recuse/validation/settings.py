"""The settings of montecarlo.yaml: the simulated worlds on which estimators and tests are tried."""

from collections.abc import Mapping
from typing import Literal

from recuse.base.places import PROJECT
from recuse.base.words import enumerated
from recuse.config.declared.sections import (
    Key,
    Name,
    Section,
    Some,
    optional,
    required,
    validated,
)
from recuse.config.read import read
from recuse.validation.estimators import ESTIMATORS, world_dials
from recuse.validation.world import SIZE, MonteCarloWorld, WorldDials

FILE = "montecarlo.yaml"
NOT_NUMBERS = ("families", "humans", "ceiling", "hole")
Estimators = Some[Literal[*ESTIMATORS]]


class Grid(Section):
    """Worlds that differ in one dial."""

    title: Name = required("Title in the figures.")
    dial: Literal[*(name for name in WorldDials.model_fields if name not in NOT_NUMBERS)] = (
        required(f"The dial that differs: any of `world` but {enumerated(NOT_NUMBERS)}.")
    )
    values: Some[float] = required("Values of the dial.")
    world: WorldDials = optional("Other dials that differ from `world`.")
    estimators: Estimators = optional("Estimators and tests to try; default: `estimators`.")

    def _check(self) -> None:
        if self.world is not None and self.dial in self.world.model_fields_set:
            raise ValueError(
                f"world: found {self.dial}, which is the dial that differs; leave it out"
            )


class MonteCarlo(Section):
    """Simulated worlds on which estimators and tests are tried by `snakemake montecarlo`."""

    replicates: int = required("Replicates of each world.", ge=2)
    draws: int = required("Bootstrap draws in each replicate.", ge=19)
    world: WorldDials = required(
        "The world from which every grid starts, at least its families, dimensions, prompts,"
        " intercept, slope and noise."
    )
    estimators: Estimators = required("Estimators and tests of the grids that name none.")
    grids: dict[Key, Grid] = required("Sets of worlds that differ in one dial.", min_length=1)

    def _check(self) -> None:
        for dial in sorted({*SIZE} - self.world.model_fields_set):
            raise ValueError(f"world: '{dial}' is required")


def montecarlo_settings() -> dict:
    """The settings of montecarlo.yaml; ConfigError about an invalid one."""
    settings = read(PROJECT / FILE)
    check_montecarlo(settings)
    return settings


def check_montecarlo(settings: Mapping) -> None:
    """Raise ConfigError about an invalid setting of montecarlo.yaml, also about one that is invalid
    in one of its worlds.
    """
    validated(MonteCarlo, settings, name=FILE)
    for grid, declared in settings["grids"].items():
        for value in declared["values"]:
            place = f"{FILE}: grids: {grid}: {declared['dial']} of {value}"
            validated(MonteCarloWorld, world_dials(settings, grid, str(value)), name=place)
