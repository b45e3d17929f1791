"""What montecarlo.yaml says: the simulated worlds in which estimators and tests are tried."""

from dataclasses import MISSING, fields
from typing import Annotated, Literal

from pydantic import Field

from recuse.config.declared.sections import Key, Name, Section, Some, optional, required
from recuse.montecarlo.estimators import ESTIMATORS
from recuse.montecarlo.world import MonteCarloWorld

OF_EVERY_WORLD = {field.name for field in fields(MonteCarloWorld) if field.default is MISSING}
Number = Annotated[int, Field(ge=1)]
Estimators = Some[Literal[*ESTIMATORS]]


class World(Section):
    """The dials of a world, those of recuse.montecarlo.world.MonteCarloWorld."""

    families: list[Number] = optional("Models of each family; every model judges.", min_length=2)
    dimensions: int = optional("Dimensions that are rated.", ge=1)
    prompts: int = optional("Prompts, each rated in every dimension.", ge=2)
    intercept: float = optional("Of every judge.")
    slope: float = optional("Of every judge on the true score.")
    noise: float = optional("Standard deviation of a rating about its expectation.", gt=0)
    self_bias: float = optional("Of every other judge.")
    family_bias: float = optional("Of every other family.")
    preference: float = optional("Standard deviation of a judge's preference for a model.", ge=0)
    shared_preference: float = optional("Standard deviation of all judges' preference for a model.", ge=0)
    length_preference: float = optional(
        "Mean over judges of what a unit of normalised length adds to a rating; from 0 to twice that."
    )
    prompt_shock: float = optional("Standard deviation of what all ratings of a prompt share in a dimension.", ge=0)
    completion_shock: float = optional("The same of a completion, for all judges and dimensions.", ge=0)
    judge_shock: float = optional("The same of a judge and a prompt, for all models and dimensions.", ge=0)
    quality_gap: float = optional("Mean true score of the last model less that of the first.")
    reliability: float = optional("Of the human score.", gt=0, le=1)
    ceiling: bool = optional("Ratings above 1 are 1.")
    missing: float = optional(
        "Share missing of a judge's ratings of itself, low ones; from 0 of the first judge to twice that.", ge=0, le=0.25
    )


class Grid(Section):
    """Worlds that differ in one dial."""

    title: Name = required("What the figures call the grid.")
    dial: Literal[*(name for name in World.model_fields if name not in ("families", "ceiling"))] = required(
        "The dial that differs; any of `world` but families and ceiling."
    )
    values: Some[float] = required("Its values.")
    world: World = optional("Dials that are set otherwise than in the world that grids start from.")
    estimators: Estimators = optional("What is tried in these worlds.")

    def _check(self) -> None:
        if self.world is not None and self.dial in self.world.model_fields_set:
            raise ValueError(f"world: found {self.dial}, which is the dial that differs; leave it out")


class MonteCarlo(Section):
    """Simulated worlds in which the estimators and tests are tried; `snakemake montecarlo` tries them."""

    replicates: int = required("Draws of each world.", ge=2)
    draws: int = required("Bootstrap or permutation draws of an estimator in each of them.", ge=19)
    world: World = required(
        "The world that every grid starts from, with its families, dimensions, prompts, intercept, slope and noise."
    )
    estimators: Estimators = required("What is tried in the worlds of a grid that names none.")
    grids: dict[Key, Grid] = required("Sets of worlds that differ in one dial.", min_length=1)

    def _check(self) -> None:
        for dial in sorted(OF_EVERY_WORLD - self.world.model_fields_set):
            raise ValueError(f"world: '{dial}' is a required property")
