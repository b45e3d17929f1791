"""Worlds in which an estimator is tried many times: ratings drawn as arrays, with one trouble planted by each dial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from itertools import cycle

import numpy as np

from recuse.data.moments import ORDER, Moments, RowBlock, exponents, tensor_of
from recuse.simulate.world import bias_matrix

RATERS = 3  # whose mean is the reference
MEAN_QUALITY, SPREAD = 0.7, 0.15  # of the true scores: mean over models, standard deviation within a model
LENGTHS = 0.3  # standard deviation of a normalised length within a model; the models' means go from -LENGTHS to LENGTHS


def dial(words: str, default: object = MISSING):
    """A dial of a world, with its name in figures; without a default every world sets it."""
    return field(default=default, metadata={"words": words})


@dataclass(frozen=True)
class ValidityWorld:
    """The dials of a world. All models judge, all judges rate all completions of all prompts in all dimensions.

    The rating by judge j of model m's completion of prompt p in dimension d, with t the completion's true score, is

        y = intercept + slope t + gamma_j [m = j] + lambda_F [m another model of the judge's family F]
            + c_m + b_jm + length_preference_j length_pm + u_pd + v_pm + w_pj + e

    gamma_j = self_bias for every other judge and 0 for the rest, lambda_F = family_bias for every other family, both from the
    first on; c_m ~ N(0, shared_preference^2), b_jm ~ N(0, preference^2); u, v, w ~ N(0, .) of standard deviations prompt_shock,
    completion_shock (of a completion in all dimensions and for all judges) and judge_shock; e ~ N(0, noise^2). A tilt rises
    evenly from the first model or judge to the last, which therefore shows most: the mean of t by quality_gap in all; the
    preference for length from 0 to 2 length_preference, with rising lengths; the share of a judge's ratings of itself that is
    missing from 0 to 2 missing, all in their lower half. With `ceiling`, a rating above 1 is 1.
    The reference is the mean of RATERS human scores t + N(0, .), and reliability is var(t) / var(reference) in a dimension.
    """

    families: Sequence[int]  # models of each family
    dimensions: int = dial("dimensions")
    prompts: int = dial("prompts")
    intercept: float = dial("judges' intercept")
    slope: float = dial("judges' slope on the true score")
    noise: float = dial("sd of the errors")
    self_bias: float = dial("self-bias of every other judge", 0.0)
    family_bias: float = dial("bias of every other family", 0.0)
    preference: float = dial("sd of a judge's preference for a model", 0.0)
    shared_preference: float = dial("sd of all judges' preference for a model", 0.0)
    length_preference: float = dial("mean over judges of what a unit of length adds", 0.0)
    prompt_shock: float = dial("sd of what a prompt's ratings in a dimension share", 0.0)
    completion_shock: float = dial("sd of what a completion's ratings share", 0.0)
    judge_shock: float = dial("sd of what a judge's ratings of a prompt share", 0.0)
    quality_gap: float = dial("best model above the worst in true score by", 0.0)
    reliability: float = dial("reliability of the human scores", 1.0)
    ceiling: bool = dial("ratings above 1 are 1", False)
    missing: float = dial("mean share missing of judges' ratings of themselves", 0.0)

    @cached_property
    def family_of(self) -> np.ndarray:
        """Family of each model, (M,), a number."""
        return np.repeat(np.arange(len(self.families)), self.families)

    @cached_property
    def bias(self) -> np.ndarray:
        """What is planted: gamma and lambda where they belong, (J, M)."""
        self_bias = np.array([list(self.planted["self_bias"].values())])
        family_bias = np.array([self.planted["family_bias"].get(name, 0.0) for name in self.family_names])
        return bias_matrix(self_bias, family_bias, self.family_of, np.arange(len(self.family_of)))[0]

    @cached_property
    def planted(self) -> dict[str, dict[str, float]]:
        """Quantity -> judge or family -> the planted coefficient; a family of one has none."""
        of_judges, of_families = cycle([self.self_bias, 0.0]), cycle([self.family_bias, 0.0])
        sizes = dict(zip(self.family_names, self.families, strict=True))
        of_family = dict(zip(sizes, of_families, strict=False))
        return {
            "self_bias": dict(zip(self.names, of_judges, strict=False)),
            "family_bias": {name: value for name, value in of_family.items() if sizes[name] > 1},
        }

    @cached_property
    def names(self) -> list[str]:
        """Names of the models, which are the judges, (M,)."""
        return _numbered("Model", len(self.family_of))

    @cached_property
    def family_names(self) -> list[str]:
        """Names of the families, (F,)."""
        return _numbered("Family", len(self.families))

    @cached_property
    def factors(self) -> dict[str, np.ndarray]:
        """Factors of the groups of rows, dimension by judge by model, (groups,) of str each."""
        models, families = np.array(self.names), np.array(self.family_names)[self.family_of]
        dimensions = np.array(_numbered("Dimension", self.dimensions))
        dimension, judge, model = (axis.ravel() for axis in np.indices((self.dimensions, len(models), len(models))))
        constant = np.full(len(dimension), "")
        names = {"judge": models[judge], "model": models[model]}
        names |= {"judge_family": families[judge], "model_family": families[model]}
        return {"dimension": dimensions[dimension], "dataset": constant, "task_type": constant, **names}

    def draw(self, random: np.random.Generator) -> Drawn:
        """Draw the ratings of all prompts."""
        p, d, m = self.prompts, self.dimensions, len(self.family_of)
        tilt = np.linspace(-0.5, 0.5, m)
        quality = MEAN_QUALITY + self.quality_gap * tilt + SPREAD * random.standard_normal((p, d, m))
        length = LENGTHS * (2 * tilt + random.standard_normal((p, 1, m))) if self.length_preference else None
        rating = self.noise * random.standard_normal((p, d, m, m))
        rating += self.intercept + self.slope * quality[:, :, None]
        rating += (
            self.bias + self.shared_preference * random.standard_normal(m) + self.preference * random.standard_normal((m, m))
        )
        if length is not None:
            rating += self.length_preference * (1 + 2 * tilt)[:, None] * length[:, :, None]
        for size, shape in (
            (self.prompt_shock, (p, d, 1, 1)),
            (self.completion_shock, (p, 1, 1, m)),
            (self.judge_shock, (p, 1, m, 1)),
        ):
            if size:
                rating += size * random.standard_normal(shape)
        if self.ceiling:
            np.minimum(rating, 1.0, out=rating)
        present = self._present(rating, tilt, random) if self.missing else None
        spread = SPREAD**2 + self.quality_gap**2 * np.var(tilt)
        rater_error = np.sqrt(RATERS * spread * (1 / self.reliability - 1))
        raters = quality[..., None] + rater_error * random.standard_normal((*quality.shape, RATERS))
        return Drawn(self.factors, rating, raters, length, present, self.reliability)

    def _present(self, rating: np.ndarray, tilt: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Which ratings are there, (P, D, J, M) of bool."""
        judge = np.arange(len(self.family_of))
        self_ratings = rating[:, :, judge, judge]  # (P, D, J)
        lost = 4 * self.missing * (0.5 + tilt) * (self_ratings < np.median(self_ratings, axis=(0, 1)))
        present = np.ones(rating.shape, dtype=bool)
        present[:, :, judge, judge] = random.random(self_ratings.shape) >= lost
        return present


def _numbered(word: str, count: int) -> list[str]:
    """Names that sort as they are numbered."""
    return [f"{word} {number:0{len(str(count))}d}" for number in range(1, count + 1)]


@dataclass(frozen=True)
class Drawn:
    """The ratings of one draw, in the forms in which the fits take those of a study."""

    factors: Mapping[str, np.ndarray]  # each (groups,) of str
    rating: np.ndarray  # (P, D, J, M)
    raters: np.ndarray  # (P, D, M, RATERS)
    length: np.ndarray | None  # (P, 1 or D, M) normalised, where the world has a preference for it
    present: np.ndarray | None  # (P, D, J, M) of bool, where some are missing
    reliability: float  # of the mean of the raters

    @cached_property
    def reference(self) -> np.ndarray:
        """Human score of each completion, (P, D, M)."""
        return self.raters.mean(axis=-1)

    def with_rater_errors(self) -> Drawn:
        """The same with the error variance of the reference that the raters show, s^2 / RATERS, in the place of the length."""
        return replace(self, length=self.raters.var(axis=-1, ddof=1) / RATERS)

    @cached_property
    def moments(self) -> Moments:
        """Sums over the rows of each group of products of (1, rating, reference[, length])."""
        return self.moments_without_length if self.length is None else self._moments(self.reference, self.length)

    @cached_property
    def moments_without_length(self) -> Moments:
        """The same of (1, rating, reference)."""
        return self._moments(self.reference)

    def _moments(self, *covariates: np.ndarray) -> Moments:
        present = np.ones_like(self.rating) if self.present is None else self.present.astype(float)
        powers = [[present]]
        for values in (self.rating, *(each[:, :, None] for each in covariates)):
            first = np.broadcast_to(values, self.rating.shape)
            powers.append([None, first, *(first**power for power in range(2, ORDER + 1))])
        sums = {}
        for exponent in exponents(len(powers) - 1):
            factors = [present, *(of[power] for of, power in zip(powers[1:], exponent, strict=True) if power)]
            sums[exponent] = np.einsum(",".join(["pdjm"] * len(factors)) + "->djm", *factors, optimize=True).ravel()
        return Moments(dict(self.factors), tensor_of(sums, variables=len(powers)))

    @cached_property
    def block(self) -> RowBlock:
        """The rows, by prompt."""
        groups = len(self.factors["judge"])
        prompt, group = np.divmod(np.arange(self.rating.size, dtype=np.int64), groups)
        covariates = [self.reference, *([] if self.length is None else [self.length])]
        columns = [self.rating, *(np.broadcast_to(each[:, :, None], self.rating.shape) for each in covariates)]
        kept = slice(None) if self.present is None else np.flatnonzero(self.present.ravel())
        rating, *others = (column.reshape(-1)[kept] for column in columns)
        return RowBlock(prompt[kept], group[kept], rating, others)


DIALS = {each.name: each.metadata["words"] for each in fields(ValidityWorld) if each.metadata}  # as a figure names them
SIZE = [each.name for each in fields(ValidityWorld) if each.default is MISSING]  # that every world has


def dials_in_words(grid: Mapping) -> list[str]:
    """What the worlds of a grid are: its dial with the values, and the others that it sets, a line each."""
    values = ", ".join(f"{value:g}" for value in grid["values"])
    return [f"{DIALS[grid['dial']]}: {values}", *([f"with {_others(grid['world'])}"] if grid.get("world") else [])]


def world_in_words(world: Mapping) -> str:
    """What the worlds of all grids have in common where a panel does not say otherwise; every other trouble is absent."""
    families, prompts, dimensions = world["families"], world["prompts"], world["dimensions"]
    others = _others({dial: value for dial, value in world.items() if dial not in SIZE})
    return (
        f"Where a panel does not say otherwise, {sum(families)} models of {len(families)} families rate one another on "
        f"{prompts} prompts in {dimensions} dimensions, {world['intercept']:g} + {world['slope']:g} times the true score with "
        f"errors of standard deviation {world['noise']:g}{f', with {others}' if others else ''}; but for what is said, models "
        "are equally good, human scores exact, and nobody has a preference or a bias."
    )


def _others(dials: Mapping) -> str:
    return "; ".join(
        DIALS[dial] if value is True else f"{DIALS[dial]} {value:g}" for dial, value in dials.items() if value is not False
    )
