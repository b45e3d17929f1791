"""Worlds in which estimators are tried many times: ratings drawn as arrays, with one complication
planted by each dial.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field
from pydantic.fields import FieldInfo

from recuse.config.declared.sections import Section, by_kind, optional
from recuse.data.moments import (
    ORDER,
    Moments,
    RowBlock,
    blocks_by_judges,
    exponents,
    moments_by_judges,
    symmetric_tensor,
)
from recuse.data.selection import EVERY_ROW, Selection
from recuse.data.study import View
from recuse.simulate.world import bias_matrix, carried_families

RATERS = 3  # whose mean is the human score
# Of the true scores: mean over models, standard deviation within a model
MEAN_QUALITY, SPREAD = 0.7, 0.15
LIKE_COPIES = 0.9  # correlation of true scores and errors between near copies of a prompt
# Standard deviation of a normalised length within a model; the models' means go from -LENGTHS to
# LENGTHS
LENGTHS = 0.3
Number = Annotated[int, Field(ge=1)]


def numbers(**bounds: float) -> object:
    """A number, or numbers of the first and the last judge or model, or of each."""
    each = Annotated[float, Field(**bounds)]
    return by_kind({"a number": each, "a list": Annotated[list[each], Field(min_length=2)]})


def dial(
    words: str, description: str, *, default: object = 0.0, of: str = "", **bounds: float
) -> FieldInfo:
    """A dial of a world, with its name in figures. A dial that is not set is at its default, where
    what it plants is absent; a world needs those of SIZE.

    of: `judge` or `model`, where it may differ between them: one number is for all, between two
    it rises evenly from the first judge or model to the last, and otherwise there is one for each.
    """
    if of:
        description += f"; one number, or a list: of the first and the last, or of each {of}."
    return optional(description, default, json_schema_extra={"words": words, "of": of}, **bounds)


class WorldDials(Section):
    """The dials of a world, some of which a file may set."""

    families: list[Number] = optional(
        "Number of models in each family; every model is a judge, unless `judges` is set.",
        min_length=2,
    )
    dimensions: int = dial("dimensions", "Number of dimensions.", ge=1)
    prompts: int = dial("prompts", "Number of prompts, each rated in every dimension.", ge=2)
    intercept: numbers() = dial("judges' intercept", "Intercept of a judge (leniency)", of="judge")
    slope: numbers() = dial(
        "judges' slope on the true score", "Slope of a judge on the true score", of="judge"
    )
    noise: numbers(gt=0) = dial(
        "sd of the errors", "Standard deviation of a rating about its expectation", of="judge"
    )
    judges: int = dial(
        "judges",
        "How many of the models judge: one of each family, then a second of each, and so on.",
        ge=1,
        default=None,
    )
    model_prompts: numbers(ge=1) = dial(
        "prompts of a model",
        "Prompts that a model answers, the first of them",
        of="model",
        default=None,
    )
    self_bias: numbers() = dial("self-bias", "Self-bias of a judge", of="judge")
    family_bias: float = dial(
        "family-bias",
        "Family-bias of every family.",
    )
    preference: numbers(ge=0) = dial(
        "sd of a judge's preference for a model",
        "Standard deviation of a judge's preference for a model",
        of="judge",
    )
    preference_factor: numbers(ge=0) = dial(
        "factor of that sd by model",
        "Factor of this standard deviation for a model",
        default=1.0,
        of="model",
    )
    preference_df: float = dial(
        "degrees of freedom of that preference",
        "Degrees of freedom of these preferences, from a t distribution; default: normal.",
        gt=2,
        default=None,
    )
    family_preference: float = dial(
        "sd of a judge family's preference for a model family",
        "Standard deviation of the shared preference of a family's judges for a family's models.",
        ge=0,
    )
    judge_family_preference: float = dial(
        "sd of a judge's preference for a model family",
        "Standard deviation of a judge's preference for the models of a family.",
        ge=0,
    )
    family_model_preference: float = dial(
        "sd of a judge family's preference for a model",
        "Standard deviation of the shared preference of a family's judges for a model.",
        ge=0,
    )
    shared_preference: float = dial(
        "sd of all judges' preference for a model",
        "Standard deviation of the judges' shared preference for a model.",
        ge=0,
    )
    length_preference: float = dial(
        "effect of a unit of length, mean over judges",
        "Mean effect of a unit of normalised length: 0 (first judge) to twice this (last).",
    )
    prompt_shock: float = dial(
        "sd shared by a prompt's ratings in a dimension",
        "Standard deviation of what all ratings of a prompt in a dimension share.",
        ge=0,
    )
    completion_shock: float = dial(
        "sd shared by a completion's ratings",
        "Standard deviation of what all ratings of a model on a prompt share.",
        ge=0,
    )
    judge_shock: float = dial(
        "sd shared by a judge's ratings of a prompt",
        "Standard deviation of what all ratings by a judge on a prompt share.",
        ge=0,
    )
    quality_gap: float = dial(
        "true score of the best model less the worst",
        "Mean true score of the last model minus that of the first.",
    )
    difficulty: float = dial(
        "sd of a prompt's difficulty",
        "Standard deviation of a prompt's difficulty, whose effect on true scores is 0 (first"
        " model) to twice this (last).",
        ge=0,
    )
    humans: bool = dial("human scores", "Whether there are human scores.", default=True)
    reliability: numbers(gt=0, le=1) = dial(
        "reliability of the human scores",
        "Reliability of the human scores",
        default=1.0,
        of="model",
    )
    human_preference: float = dial(
        "sd of the humans' preference for a model",
        "Standard deviation of the humans' preference for a model.",
        ge=0,
    )
    ceiling: bool = dial("ratings above 1 set to 1", "Set ratings above 1 to 1.", default=False)
    levels: int = dial(
        "levels of the ratings",
        "Round ratings to this many levels from 0 to 1; 2: binary.",
        ge=2,
        default=None,
    )
    missing: float = dial(
        "mean share missing of judges' ratings of their own answers",
        "Mean share of missing, low ratings of judges' own answers, rising from 0 (first judge) to"
        " twice this (last judge).",
        ge=0,
        le=0.25,
    )
    hole: bool = dial(
        "the first two judges do not rate each other",
        "The first two judges do not rate each other's models.",
        default=False,
    )
    likeness: float = dial(
        "correlation between judges of preferences and errors",
        "Correlation between judges of preferences, and of errors.",
        ge=0,
        le=1,
    )
    copies: int = dial(
        "near copies of each prompt, with correlations of 0.9",
        "Near copies of each prompt, among `prompts`: true scores and errors are correlated by"
        " 0.9.",
        ge=1,
        default=1,
    )


class MonteCarloWorld(WorldDials):
    """The dials of a world. All judges rate all completions, of all prompts unless `model_prompts`
    is set, in all dimensions.

    The rating by judge j, of family F, of the completion of prompt p by model m, of family G, in
    dimension d is

        y = intercept_j + slope_j t + self_bias_j [m = j] + family_bias [m another model of F]
          + b_jm + f_FG + g_jG + h_Fm + c_m + length_preference_j length_pm
          + u_pd + v_pm + w_pj + e

    with t the completion's true score, and terms N(0, .) of standard deviations preference_j
    preference_factor_m (b), family_preference (f), judge_family_preference (g),
    family_model_preference (h), shared_preference (c), prompt_shock (u), completion_shock (v, of a
    completion in all dimensions and for all judges), judge_shock (w) and noise_j (e); with
    preference_df, b is t of so many degrees of freedom. Four quantities rise evenly from the first
    model or judge to the last: the mean of t, by quality_gap in all; the effect on t of a prompt's
    difficulty, N(0, difficulty^2), from 0 to twice that; the preference for length, from 0 to 2
    length_preference, with rising lengths; the share missing of a judge's ratings of its own
    answers, from 0 to 2 missing, all in their lower half. With `hole`, the first two judges do not
    rate each other's models. b and e are correlated between judges by `likeness`; t and e by
    LIKE_COPIES between the `copies` of a prompt, all of which count as `prompts`. With `ceiling`, a
    rating above 1 is set to 1; with `levels`, to the nearest of so many in [0, 1]. The human score
    is the mean of RATERS scores t + a_m + N(0, .), a of standard deviation human_preference; where
    a is 0 and reliability is the same for all models, it is var(t) / var(human score) in a
    dimension.
    """

    def _check(self) -> None:
        for name in SIZE:
            if name not in self.model_fields_set:
                raise ValueError(name, "missing; write it")
        if (self.judges or 1) > len(self.model_family):
            problem = (
                f"found {self.judges} of {len(self.model_family)} models; write at most as many"
            )
            raise ValueError("judges", problem)
        for name in BY_ONE:
            if getattr(self, name) is not None:
                self.by_one(name)
        if self.model_prompts is not None and self.by_one("model_prompts").max() > self.prompts:
            prompts = f"found {self.model_prompts}, with {self.prompts} prompts"
            raise ValueError("model_prompts", f"{prompts}; write at most as many")

    def by_one(self, name: str) -> np.ndarray:
        """A dial of BY_ONE for each judge, (J,), or each model, (M,)."""
        value = np.atleast_1d(getattr(self, name))
        of = BY_ONE[name]
        count = len(self.judge_model if of == "judge" else self.model_family)
        if len(value) not in (1, 2, count):
            write = (
                f"write one, those of the first and the last, or one for each of the {count} {of}s"
            )
            raise ValueError(name, f"found {len(value)} numbers; {write}")
        return value if len(value) == count else np.linspace(value[0], value[-1], count)

    @cached_property
    def model_family(self) -> np.ndarray:
        """Family of each model, (M,), a number."""
        return np.repeat(np.arange(len(self.families)), self.families)

    @cached_property
    def judge_model(self) -> np.ndarray:
        """The model that each judge is, (J,), a number."""
        # Of a model in its family
        place = np.concatenate([np.arange(size) for size in self.families])
        return np.sort(np.argsort(place, kind="stable")[: self.judges])

    @cached_property
    def bias(self) -> np.ndarray:
        """The planted biases, (J, M)."""
        return bias_matrix(
            self.by_one("self_bias")[None],
            np.full(len(self.families), self.family_bias),
            self.model_family,
            self.judge_model,
        )[0]

    @cached_property
    def planted(self) -> dict[str, dict[str, float]]:
        """Quantity -> judge or family -> the planted coefficient; families whose judges rate
        another of their models.
        """
        judges = [self.names[model] for model in self.judge_model]
        families = [
            self.family_names[family]
            for family in carried_families(self.model_family, self.judge_model)
        ]
        return {
            "self_bias": dict(zip(judges, self.by_one("self_bias").tolist(), strict=True)),
            "family_bias": dict.fromkeys(families, self.family_bias),
        }

    @cached_property
    def names(self) -> list[str]:
        """Names of the models, (M,); a judge has that of its model."""
        return _numbered("Model", len(self.model_family))

    @cached_property
    def family_names(self) -> list[str]:
        """Names of the families, (F,)."""
        return _numbered("Family", len(self.families))

    @cached_property
    def factors(self) -> dict[str, np.ndarray]:
        """Factors of the groups of rows, dimension by judge by model, (groups,) of str each."""
        models = np.array(self.names)
        families = np.array(self.family_names)[self.model_family]
        dimensions = np.array(_numbered("Dimension", self.dimensions))
        shape = (self.dimensions, len(self.judge_model), len(models))
        dimension, judge, model = (axis.ravel() for axis in np.indices(shape))
        judge = self.judge_model[judge]
        constant = np.full(len(dimension), "")
        names = {"judge": models[judge], "model": models[model]}
        names |= {"judge_family": families[judge], "model_family": families[model]}
        return {
            "dimension": dimensions[dimension],
            "dataset": constant,
            "task_type": constant,
            **names,
        }

    def draw(self, random: np.random.Generator) -> DrawnStudy:
        """Draw the ratings of all prompts."""
        normal, p, d, j, m = (
            random.standard_normal,
            self.prompts,
            self.dimensions,
            len(self.judge_model),
            len(self.model_family),
        )
        rise = np.linspace(0, 2, m)
        judges_rise = np.linspace(0, 2, j)
        quality = (
            MEAN_QUALITY
            + self.quality_gap * (rise / 2 - 0.5)
            + SPREAD * self._of_prompts(random, (p, d, m))
        )
        if self.difficulty:
            quality += self.difficulty * rise * normal((p, 1, 1))
        length = LENGTHS * (rise - 1 + normal((p, 1, m))) if self.length_preference else None
        rating = self._of_prompts(random, (p, d, j, m))
        if self.likeness:
            rating = self._alike(rating, self._of_prompts(random, (p, d, 1, m)))
        rating *= self.by_one("noise")[:, None]
        rating += self.by_one("slope")[:, None] * quality[:, :, None]
        rating += self.by_one("intercept")[:, None] + self._leanings(random)
        if length is not None:
            rating += self.length_preference * judges_rise[:, None] * length[:, :, None]
        for size, shape in (
            (self.prompt_shock, (p, d, 1, 1)),
            (self.completion_shock, (p, 1, 1, m)),
            (self.judge_shock, (p, 1, j, 1)),
        ):
            if size:
                rating += size * normal(shape)
        if self.ceiling:
            np.minimum(rating, 1.0, out=rating)
        if self.levels:
            np.clip(np.rint(rating * (self.levels - 1)) / (self.levels - 1), 0.0, 1.0, out=rating)
        present = self._present(rating, judges_rise, random)
        if not self.humans:
            raters = np.broadcast_to(0.0, (*quality.shape, RATERS))
            reliability = 1.0
        else:
            spread = (
                SPREAD**2
                + self.quality_gap**2 * np.var(rise / 2)
                + self.difficulty**2 * np.mean(rise**2)
            )
            noise = 1 / self.by_one("reliability") - 1
            raters = quality[..., None] + (np.sqrt(RATERS * spread * noise))[:, None] * normal(
                (*quality.shape, RATERS)
            )
            raters += self.human_preference * normal((m, 1))
            reliability = float(1 / (1 + noise.mean()))
        return DrawnStudy(self.factors, rating, raters, length, present, reliability, self.humans)

    def _leanings(self, random: np.random.Generator) -> np.ndarray:
        """Planted biases and preferences of each judge for each model, (J, M)."""
        j = len(self.judge_model)
        m = len(self.model_family)
        f = len(self.families)
        family = self.model_family[self.judge_model]
        normal = random.standard_normal
        df = self.preference_df
        preference = random.standard_t(df, (j, m)) * np.sqrt(1 - 2 / df) if df else normal((j, m))
        if self.likeness:
            preference = self._alike(preference, normal(m))
        return (
            self.bias
            + self.by_one("preference")[:, None] * preference * self.by_one("preference_factor")
            + self.family_preference * normal((f, f))[family][:, self.model_family]
            + self.judge_family_preference * normal((j, f))[:, self.model_family]
            + self.family_model_preference * normal((f, m))[family]
            + self.shared_preference * normal(m)
        )

    def _of_prompts(self, random: np.random.Generator, shape: Sequence[int]) -> np.ndarray:
        """Standard normals of this shape, prompts first, which copies of a prompt have almost in
        common.
        """
        drawn = random.standard_normal(shape)
        if self.copies > 1:
            common = random.standard_normal((-(-shape[0] // self.copies), *shape[1:])).repeat(
                self.copies, axis=0
            )[: shape[0]]
            drawn = np.sqrt(LIKE_COPIES) * common + np.sqrt(1 - LIKE_COPIES) * drawn
        return drawn

    def _alike(self, apart: np.ndarray, common: np.ndarray) -> np.ndarray:
        """Standard normals of judges with the correlation `likeness`, of those of each and a common
        one.
        """
        return np.sqrt(self.likeness) * common + np.sqrt(1 - self.likeness) * apart

    def _present(
        self, rating: np.ndarray, rise: np.ndarray, random: np.random.Generator
    ) -> np.ndarray | None:
        """Which ratings are not missing, (P, D, J, M) of bool; None if none is. rise: from 0 to 2
        over judges, (J,).
        """
        if not self.missing and self.model_prompts is None and not self.hole:
            return None
        present = np.ones(rating.shape, dtype=bool)
        if self.hole:
            first, second = self.judge_model[:2]
            present[:, :, 0, second] = present[:, :, 1, first] = False
        if self.model_prompts is not None:
            present &= np.arange(self.prompts)[:, None, None, None] < np.rint(
                self.by_one("model_prompts")
            )
        if self.missing:
            judge = np.arange(len(self.judge_model))
            self_ratings = rating[:, :, judge, self.judge_model]  # (P, D, J)
            lost = 2 * self.missing * rise * (self_ratings < np.median(self_ratings, axis=(0, 1)))
            present[:, :, judge, self.judge_model] &= random.random(self_ratings.shape) >= lost
        return present


def _numbered(word: str, count: int) -> list[str]:
    """Names in the order of their numbers."""
    return [f"{word} {number:0{len(str(count))}d}" for number in range(1, count + 1)]


@dataclass(frozen=True)
class DrawnStudy:
    """The ratings of one draw, which fits read as they read `StudyTables`; a selection chooses
    length and `absorb` alone.
    """

    factors: Mapping[str, np.ndarray]  # each (groups,) of str
    rating: np.ndarray  # (P, D, J, M)
    raters: np.ndarray  # (P, D, M, RATERS)
    length: np.ndarray | None  # (P, 1 or D, M) normalised, where the world has a preference for it
    present: np.ndarray | None  # (P, D, J, M) of bool, where some are missing
    reliability: float  # of the mean of the raters, over all models
    has_human_scores: bool  # without them, all raters' scores are 0
    _moments: dict = field(init=False, default_factory=dict, repr=False, compare=False)

    is_partly_scored = False  # All rows have human scores, or none has.
    doubts, view = (), View()  # The ratings of all judges are what they seem.

    @property
    def scored(self) -> DrawnStudy:
        """The study itself."""
        return self

    independent = scored

    @property
    def prompts(self) -> int:
        """Number of prompts."""
        return len(self.rating)

    @cached_property
    def _rated(self) -> np.ndarray:
        """Which groups have a rating, (groups,) of bool."""
        if self.present is None:
            return np.ones(len(self.factors["judge"]), dtype=bool)
        return self.present.any(axis=0).ravel()

    @cached_property
    def _group_factors(self) -> dict[str, np.ndarray]:
        """Factors of the groups that have a rating."""
        return {name: values[self._rated] for name, values in self.factors.items()}

    @cached_property
    def reference(self) -> np.ndarray:
        """Human score of each completion, (P, D, M)."""
        return self.raters.mean(axis=-1)

    def with_rater_errors(self) -> DrawnStudy:
        """Put the error variance of the human score that its raters show, s^2 / RATERS, in the
        place of the length.
        """
        return replace(self, length=self.raters.var(axis=-1, ddof=1) / RATERS)

    def moments(self, selection: Selection = EVERY_ROW, *, by_cell: bool = False) -> Moments:
        """Sums over the rows of each group of products of (1, rating, human score[, length]),
        computed once.

        by_cell: ignored, as each completion has a human score of its own.
        """
        key = (selection.length, selection.absorb)
        if key not in self._moments:
            self._moments[key] = (
                self._by_judges(selection)
                if selection.absorb
                else self._sums(self._covariates(selection))
            )
        return self._moments[key]

    def row_blocks(
        self, selection: Selection, factors: Mapping[str, np.ndarray]
    ) -> Iterable[RowBlock]:
        """All rows in one block; their groups are numbered as in `factors`, those of `moments`."""
        prompt, group = np.divmod(
            np.arange(self.rating.size, dtype=np.int64), len(self.factors["judge"])
        )
        covariates = [
            np.broadcast_to(values[:, :, None], self.rating.shape)
            for values in self._covariates(selection)
        ]
        kept = slice(None) if self.present is None else np.flatnonzero(self.present.ravel())
        rating, *covariates = (values.reshape(-1)[kept] for values in (self.rating, *covariates))
        group = (np.cumsum(self._rated) - 1)[group[kept]]
        block = RowBlock(prompt[kept], group, rating, covariates)
        return (
            blocks_by_judges([block], self._group_factors, factors) if selection.absorb else [block]
        )

    def _covariates(self, selection: Selection) -> list[np.ndarray]:
        return [self.reference, self.length] if selection.length else [self.reference]

    def _by_judges(self, selection: Selection) -> Moments:
        blocks = self.row_blocks(replace(selection, absorb=None), self._group_factors)
        return moments_by_judges(
            blocks, self._group_factors, covariates=len(self._covariates(selection))
        )

    def _sums(self, covariates: Sequence[np.ndarray]) -> Moments:
        present = np.ones_like(self.rating) if self.present is None else self.present.astype(float)
        powers = []  # of the rating and each covariate, from the first on
        for values in (self.rating, *(values[:, :, None] for values in covariates)):
            first = np.broadcast_to(values, self.rating.shape)
            powers.append([first, *(first**power for power in range(2, ORDER + 1))])
        sums = {}
        for exponent in exponents(len(powers)):
            factors = [
                present,
                *(
                    column[power - 1]
                    for column, power in zip(powers, exponent, strict=True)
                    if power
                ),
            ]
            whole = np.einsum(
                ",".join(["pdjm"] * len(factors)) + "->djm", *factors, optimize=True
            ).ravel()
            sums[exponent] = whole[self._rated]
        return Moments(dict(self._group_factors), symmetric_tensor(sums, variables=len(powers) + 1))


OF_DIALS = {
    name: field.json_schema_extra
    for name, field in WorldDials.model_fields.items()
    if field.json_schema_extra
}
DIALS = {name: extra["words"] for name, extra in OF_DIALS.items()}  # as a figure names them
BY_ONE = {name: extra["of"] for name, extra in OF_DIALS.items() if extra["of"]}
# That every world has
SIZE = ("families", "dimensions", "prompts", "intercept", "slope", "noise")


def world_in_words(world: Mapping) -> str:
    """The world that the grids start from, in which every other complication is absent."""
    families = world["families"]
    prompts = world["prompts"]
    dimensions = world["dimensions"]
    others = _others({dial: value for dial, value in world.items() if dial not in SIZE})
    intercept, slope, noise = (_numbers(world[dial]) for dial in ("intercept", "slope", "noise"))
    return (
        f"Unless stated otherwise, {sum(families)} models of {len(families)} families rate one"
        f" another on {prompts} prompts in {dimensions} dimensions, {intercept} + {slope} times the"
        " true score with errors of standard deviation"
        f" {noise}{f', with {others}' if others else ''}; models are equally good, human scores"
        " exact, and no judge has a preference or a bias."
    )


def _numbers(value: float | Sequence[float]) -> str:
    """A dial, as in `0.2 to 0.8`."""
    many = np.atleast_1d(value)
    return (
        " to ".join(f"{each:g}" for each in many)
        if len(many) < 3
        else ", ".join(f"{each:g}" for each in many)
    )


def _others(dials: Mapping) -> str:
    words = []
    for dial, value in dials.items():
        if dial == "families":
            words.append(f"families of {_numbers(value)} models")
        elif isinstance(value, bool):
            words.append(DIALS[dial] if value else f"no {DIALS[dial]}")
        else:
            words.append(f"{DIALS[dial]} {_numbers(value)}")
    return "; ".join(words)
