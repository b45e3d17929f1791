"""The settings of montecarlo.yaml: the simulated worlds on which estimators and tests are tried."""

from dataclasses import MISSING, fields
from typing import Annotated, Literal

from pydantic import Field

from recuse.config.declared.sections import Key, Name, Section, Some, optional, required
from recuse.montecarlo.estimators import ESTIMATORS
from recuse.montecarlo.world import MonteCarloWorld

REQUIRED = {field.name for field in fields(MonteCarloWorld) if field.default is MISSING}
Number = Annotated[int, Field(ge=1)]
Estimators = Some[Literal[*ESTIMATORS]]


class World(Section):
    """The dials of a world, those of recuse.montecarlo.world.MonteCarloWorld."""

    families: list[Number] = optional("Number of models in each family; every model is a judge.", min_length=2)
    dimensions: int = optional("Number of dimensions.", ge=1)
    prompts: int = optional("Number of prompts, each rated in every dimension.", ge=2)
    intercept: float = optional("Intercept of every judge.")
    slope: float = optional("Slope of every judge on the true score.")
    noise: float = optional("Standard deviation of a rating about its expectation.", gt=0)
    self_bias: float = optional("Self-bias of every second judge.")
    family_bias: float = optional("Family-bias of every second family.")
    preference: float = optional("Standard deviation of a judge's preference for a model.", ge=0)
    shared_preference: float = optional("Standard deviation of the judges' shared preference for a model.", ge=0)
    length_preference: float = optional("Mean effect of a unit of normalised length: 0 (first judge) to twice this (last).")
    prompt_shock: float = optional("Standard deviation of what all ratings of a prompt in a dimension share.", ge=0)
    completion_shock: float = optional("Standard deviation of what all ratings of a model on a prompt share.", ge=0)
    judge_shock: float = optional("Standard deviation of what all ratings by a judge on a prompt share.", ge=0)
    quality_gap: float = optional("Mean true score of the last model minus that of the first.")
    reliability: float = optional("Reliability of the human scores.", gt=0, le=1)
    ceiling: bool = optional("Set ratings above 1 to 1.")
    missing: float = optional(
        "Mean share of missing, low ratings of judges' own answers, rising from 0 (first judge) to twice this (last judge).",
        ge=0,
        le=0.25,
    )


class Grid(Section):
    """Worlds that differ in one dial."""

    title: Name = required("Title in the figures.")
    dial: Literal[*(name for name in World.model_fields if name not in ("families", "ceiling"))] = required(
        "The dial that differs: any of `world` but families and ceiling."
    )
    values: Some[float] = required("Values of the dial.")
    world: World = optional("Other dials that differ from `world`.")
    estimators: Estimators = optional("Estimators and tests to try; default: `estimators`.")

    def _check(self) -> None:
        if self.world is not None and self.dial in self.world.model_fields_set:
            raise ValueError(f"world: found {self.dial}, which is the dial that differs; leave it out")


class MonteCarlo(Section):
    """Simulated worlds on which estimators and tests are tried by `snakemake montecarlo`."""

    replicates: int = required("Replicates of each world.", ge=2)
    draws: int = required("Bootstrap or permutation draws in each replicate.", ge=19)
    world: World = required(
        "The world from which every grid starts, at least its families, dimensions, prompts, intercept, slope and noise."
    )
    estimators: Estimators = required("Estimators and tests of the grids that name none.")
    grids: dict[Key, Grid] = required("Sets of worlds that differ in one dial.", min_length=1)

    def _check(self) -> None:
        for dial in sorted(REQUIRED - self.world.model_fields_set):
            raise ValueError(f"world: '{dial}' is required")
