"""The settings of montecarlo.yaml: the simulated worlds on which estimators and tests are tried."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Annotated, Literal

from pydantic import Field

from recuse.base.errors import ConfigError
from recuse.base.places import PROJECT
from recuse.base.words import enumerated
from recuse.config.declared.sections import (
    Key,
    Name,
    Section,
    Some,
    by_kind,
    optional,
    required,
    validated,
)
from recuse.config.read import read
from recuse.validation.estimators import ESTIMATORS, dials_of
from recuse.validation.world import MonteCarloWorld

FILE = "montecarlo.yaml"
NOT_NUMBERS = ("families", "humans", "ceiling", "hole")
REQUIRED = {field.name for field in fields(MonteCarloWorld) if field.default is MISSING}
Number = Annotated[int, Field(ge=1)]
JUDGES, MODELS = (
    f"one number, or a list: of the first and the last, or of each {one}"
    for one in ("judge", "model")
)
Estimators = Some[Literal[*ESTIMATORS]]


def by_one(**bounds: float) -> object:
    """A number, or numbers of the first and the last judge or model, or of each."""
    each = Annotated[float, Field(**bounds)]
    return by_kind({"a number": each, "a list": Annotated[list[each], Field(min_length=2)]})


class WorldDials(Section):
    """The dials of a world, those of recuse.validation.world.MonteCarloWorld."""

    families: list[Number] = optional(
        "Number of models in each family; every model is a judge, unless `judges` is set.",
        min_length=2,
    )
    dimensions: int = optional("Number of dimensions.", ge=1)
    prompts: int = optional("Number of prompts, each rated in every dimension.", ge=2)
    intercept: by_one() = optional(f"Intercept of a judge (leniency); {JUDGES}.")
    slope: by_one() = optional(f"Slope of a judge on the true score; {JUDGES}.")
    noise: by_one(gt=0) = optional(
        f"Standard deviation of a rating about its expectation; {JUDGES}."
    )
    judges: int = optional(
        "How many of the models judge: one of each family, then a second of each, and so on.", ge=1
    )
    model_prompts: by_one(ge=1) = optional(
        f"Prompts that a model answers, the first of them; {MODELS}."
    )
    self_bias: by_one() = optional(f"Self-bias of a judge; {JUDGES}.")
    family_bias: float = optional("Family-bias of every family.")
    preference: by_one(ge=0) = optional(
        f"Standard deviation of a judge's preference for a model; {JUDGES}."
    )
    preference_factor: by_one(ge=0) = optional(
        f"Factor of this standard deviation for a model; {MODELS}."
    )
    preference_df: float = optional(
        "Degrees of freedom of these preferences, from a t distribution; default: normal.", gt=2
    )
    family_preference: float = optional(
        "Standard deviation of what judges of a family prefer the models of a family by.", ge=0
    )
    judge_family_preference: float = optional(
        "Standard deviation of what a judge prefers the models of a family by.", ge=0
    )
    family_model_preference: float = optional(
        "Standard deviation of what judges of a family prefer a model by.", ge=0
    )
    shared_preference: float = optional(
        "Standard deviation of the judges' shared preference for a model.", ge=0
    )
    length_preference: float = optional(
        "Mean effect of a unit of normalised length: 0 (first judge) to twice this (last)."
    )
    prompt_shock: float = optional(
        "Standard deviation of what all ratings of a prompt in a dimension share.", ge=0
    )
    completion_shock: float = optional(
        "Standard deviation of what all ratings of a model on a prompt share.", ge=0
    )
    judge_shock: float = optional(
        "Standard deviation of what all ratings by a judge on a prompt share.", ge=0
    )
    quality_gap: float = optional("Mean true score of the last model minus that of the first.")
    difficulty: float = optional(
        "Standard deviation of a prompt's difficulty, whose effect on true scores is 0 (first"
        " model) to twice this (last).",
        ge=0,
    )
    humans: bool = optional("Whether there are human scores.")
    reliability: by_one(gt=0, le=1) = optional(f"Reliability of the human scores; {MODELS}.")
    human_preference: float = optional(
        "Standard deviation of what the humans favour a model by.", ge=0
    )
    ceiling: bool = optional("Set ratings above 1 to 1.")
    levels: int = optional("Round ratings to this many levels from 0 to 1; 2: binary.", ge=2)
    missing: float = optional(
        "Mean share of missing, low ratings of judges' own answers, rising from 0 (first judge) to"
        " twice this (last judge).",
        ge=0,
        le=0.25,
    )
    hole: bool = optional("The first two judges do not rate each other's models.")
    likeness: float = optional(
        "Correlation between judges of preferences, and of errors.", ge=0, le=1
    )
    copies: int = optional(
        "Near copies of each prompt, among `prompts`: true scores and errors are correlated by"
        " 0.9.",
        ge=1,
    )


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
        for dial in sorted(REQUIRED - self.world.model_fields_set):
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
            dials, place = (
                dials_of(settings, grid, str(value)),
                f"{FILE}: grids: {grid}: {declared['dial']} of {value}",
            )
            validated(WorldDials, dials, name=place)
            try:
                MonteCarloWorld(**dials)
            except ConfigError as error:
                raise ConfigError(f"{place}: {error}") from None
