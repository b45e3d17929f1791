"""Worlds in which estimators are tried many times: ratings drawn as arrays, with one complication planted by each dial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from itertools import cycle
from typing import ClassVar

import numpy as np

from recuse.data.moments import ORDER, Moments, RowBlock, blocks_by_judges, exponents, moments_by_judges, tensor_of
from recuse.data.selection import EVERY_ROW, Selection
from recuse.simulate.world import bias_matrix

RATERS = 3  # whose mean is the human score
MEAN_QUALITY, SPREAD = 0.7, 0.15  # of the true scores: mean over models, standard deviation within a model
LENGTHS = 0.3  # standard deviation of a normalised length within a model; the models' means go from -LENGTHS to LENGTHS


def dial(words: str, default: object = MISSING):
    """A dial of a world, with its name in figures; without a default every world sets it."""
    return field(default=default, metadata={"words": words})


@dataclass(frozen=True)
class MonteCarloWorld:
    """The dials of a world. All models judge, all judges rate all completions of all prompts in all dimensions.

    The rating by judge j of model m's completion of prompt p in dimension d, with t the completion's true score, is

        y = intercept + slope t + gamma_j [m = j] + lambda_F [m another model of the judge's family F]
            + c_m + b_jm + length_preference_j length_pm + u_pd + v_pm + w_pj + e

    gamma_j = self_bias for every other judge and 0 for the rest, lambda_F = family_bias for every other family, both from the
    first on; c_m ~ N(0, shared_preference^2), b_jm ~ N(0, preference^2); u, v, w ~ N(0, .) of standard deviations prompt_shock,
    completion_shock (of a completion in all dimensions and for all judges) and judge_shock; e ~ N(0, noise^2). Three quantities
    rise evenly from the first model or judge to the last: the mean of t, by quality_gap in all; the preference for length, from
    0 to 2 length_preference, with rising lengths; the share missing of a judge's ratings of its own answers, from 0 to
    2 missing, all in their lower half. With `ceiling`, a rating above 1 is set to 1.
    The human score is the mean of RATERS scores t + N(0, .); reliability is var(t) / var(human score) in a dimension.
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
    length_preference: float = dial("effect of a unit of length, mean over judges", 0.0)
    prompt_shock: float = dial("sd shared by a prompt's ratings in a dimension", 0.0)
    completion_shock: float = dial("sd shared by a completion's ratings", 0.0)
    judge_shock: float = dial("sd shared by a judge's ratings of a prompt", 0.0)
    quality_gap: float = dial("true score of the best model less the worst", 0.0)
    reliability: float = dial("reliability of the human scores", 1.0)
    ceiling: bool = dial("ratings above 1 set to 1", False)
    missing: float = dial("mean share missing of judges' ratings of their own answers", 0.0)

    @cached_property
    def family_of(self) -> np.ndarray:
        """Family of each model, (M,), a number."""
        return np.repeat(np.arange(len(self.families)), self.families)

    @cached_property
    def bias(self) -> np.ndarray:
        """The planted biases, gamma and lambda, (J, M)."""
        self_bias = np.array([list(self.planted["self_bias"].values())])
        family_bias = np.array([self.planted["family_bias"].get(name, 0.0) for name in self.family_names])
        return bias_matrix(self_bias, family_bias, self.family_of, np.arange(len(self.family_of)))[0]

    @cached_property
    def planted(self) -> dict[str, dict[str, float]]:
        """Quantity -> judge or family -> the planted coefficient; a family of one has none."""
        families = zip(self.family_names, self.families, cycle([self.family_bias, 0.0]), strict=False)
        return {
            "self_bias": dict(zip(self.names, cycle([self.self_bias, 0.0]), strict=False)),
            "family_bias": {name: value for name, size, value in families if size > 1},
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

    def draw(self, random: np.random.Generator) -> DrawnStudy:
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
        return DrawnStudy(self.factors, rating, raters, length, present, self.reliability)

    def _present(self, rating: np.ndarray, tilt: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Which ratings are not missing, (P, D, J, M) of bool."""
        judge = np.arange(len(self.family_of))
        self_ratings = rating[:, :, judge, judge]  # (P, D, J)
        lost = 4 * self.missing * (0.5 + tilt) * (self_ratings < np.median(self_ratings, axis=(0, 1)))
        present = np.ones(rating.shape, dtype=bool)
        present[:, :, judge, judge] = random.random(self_ratings.shape) >= lost
        return present


def _numbered(word: str, count: int) -> list[str]:
    """Names in the order of their numbers."""
    return [f"{word} {number:0{len(str(count))}d}" for number in range(1, count + 1)]


@dataclass(frozen=True)
class DrawnStudy:
    """The ratings of one draw, which fits read as they read a `Study`; a selection chooses length and `absorb` alone."""

    factors: Mapping[str, np.ndarray]  # each (groups,) of str
    rating: np.ndarray  # (P, D, J, M)
    raters: np.ndarray  # (P, D, M, RATERS)
    length: np.ndarray | None  # (P, 1 or D, M) normalised, where the world has a preference for it
    present: np.ndarray | None  # (P, D, J, M) of bool, where some are missing
    reliability: float  # of the mean of the raters
    has_human_scores: ClassVar[bool] = True
    _moments: dict = field(init=False, default_factory=dict, repr=False, compare=False)

    @property
    def prompts(self) -> int:
        """Number of prompts."""
        return len(self.rating)

    @cached_property
    def reference(self) -> np.ndarray:
        """Human score of each completion, (P, D, M)."""
        return self.raters.mean(axis=-1)

    def with_rater_errors(self) -> DrawnStudy:
        """Put the error variance of the human score that its raters show, s^2 / RATERS, in the place of the length."""
        return replace(self, length=self.raters.var(axis=-1, ddof=1) / RATERS)

    def moments(self, selection: Selection = EVERY_ROW, *, by_cell: bool = False) -> Moments:
        """Sums over the rows of each group of products of (1, rating, human score[, length]), computed once.

        by_cell: ignored, as each completion has a human score of its own.
        """
        key = (selection.length, selection.absorb)
        if key not in self._moments:
            self._moments[key] = self._by_judges(selection) if selection.absorb else self._sums(self._covariates(selection))
        return self._moments[key]

    def row_blocks(self, selection: Selection, factors: Mapping[str, np.ndarray]) -> Iterable[RowBlock]:
        """All rows in one block; their groups are numbered as in `factors`, those of `moments`."""
        prompt, group = np.divmod(np.arange(self.rating.size, dtype=np.int64), len(self.factors["judge"]))
        covariates = [np.broadcast_to(values[:, :, None], self.rating.shape) for values in self._covariates(selection)]
        kept = slice(None) if self.present is None else np.flatnonzero(self.present.ravel())
        rating, *covariates = (values.reshape(-1)[kept] for values in (self.rating, *covariates))
        block = RowBlock(prompt[kept], group[kept], rating, covariates)
        return blocks_by_judges([block], self.factors, factors) if selection.absorb else [block]

    def _covariates(self, selection: Selection) -> list[np.ndarray]:
        return [self.reference, self.length] if selection.length else [self.reference]

    def _by_judges(self, selection: Selection) -> Moments:
        blocks = self.row_blocks(replace(selection, absorb=None), self.factors)
        return moments_by_judges(blocks, self.factors, covariates=len(self._covariates(selection)))

    def _sums(self, covariates: Sequence[np.ndarray]) -> Moments:
        present = np.ones_like(self.rating) if self.present is None else self.present.astype(float)
        powers = []  # of the rating and each covariate, from the first on
        for values in (self.rating, *(values[:, :, None] for values in covariates)):
            first = np.broadcast_to(values, self.rating.shape)
            powers.append([first, *(first**power for power in range(2, ORDER + 1))])
        sums = {}
        for exponent in exponents(len(powers)):
            factors = [present, *(column[power - 1] for column, power in zip(powers, exponent, strict=True) if power)]
            sums[exponent] = np.einsum(",".join(["pdjm"] * len(factors)) + "->djm", *factors, optimize=True).ravel()
        return Moments(dict(self.factors), tensor_of(sums, variables=len(powers) + 1))


DIALS = {each.name: each.metadata["words"] for each in fields(MonteCarloWorld) if each.metadata}  # as a figure names them
SIZE = [each.name for each in fields(MonteCarloWorld) if each.default is MISSING]  # that every world has


def dials_in_words(grid: Mapping) -> list[str]:
    """The worlds of a grid: its dial with the values, and the others that it sets, a line each."""
    values = ", ".join(f"{value:g}" for value in grid["values"])
    return [f"{DIALS[grid['dial']]}: {values}", *([f"with {_others(grid['world'])}"] if grid.get("world") else [])]


def world_in_words(world: Mapping) -> str:
    """The world that the grids start from, in which every other complication is absent."""
    families, prompts, dimensions = world["families"], world["prompts"], world["dimensions"]
    others = _others({dial: value for dial, value in world.items() if dial not in SIZE})
    return (
        f"Unless a panel says otherwise, {sum(families)} models of {len(families)} families rate one another on {prompts} "
        f"prompts in {dimensions} dimensions, {world['intercept']:g} + {world['slope']:g} times the true score with errors of "
        f"standard deviation {world['noise']:g}{f', with {others}' if others else ''}; models are equally good, human scores "
        "exact, and no judge has a preference or a bias."
    )


def _others(dials: Mapping) -> str:
    return "; ".join(
        DIALS[dial] if value is True else f"{DIALS[dial]} {value:g}" for dial, value in dials.items() if value is not False
    )
