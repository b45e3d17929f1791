"""The estimators and tests that are tried on simulated worlds: what each says of every self- and family-bias of one draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan
from typing import NamedTuple, TypeVar

import numpy as np

from recuse.data.moments import Moments, RowBlock, blocks_by_judges, moments_by_judges
from recuse.inference.bounds import bounds, complete_blocks
from recuse.inference.idiosyncrasy import ExcessPreference, IdiosyncrasyDesign, cell_means
from recuse.inference.measurement_error import (
    MOMENTS,
    SIMEX,
    CorrectedErrors,
    DesignCells,
    Extrapolation,
    KnownReliability,
    Noise,
    SplitRaters,
    corrected,
)
from recuse.inference.refit import refit
from recuse.inference.reliability import one_way
from recuse.model.covariance import ByPrompt, Clusters, Jackknife, fit
from recuse.model.design import ALL_JUDGES, SliceDesign, Term, design_of
from recuse.model.fit import coefficients_of
from recuse.model.least_squares import LeastSquares, Solution, solve, wald_columns
from recuse.model.multiplicity import simultaneous
from recuse.model.prompt_sums import TakesPrompts, sum_by_prompt
from recuse.model.resampling import WildBootstrap, WildTest
from recuse.model.spec import BIASES, EQUATION_1, C, Spec, estimand_of
from recuse.montecarlo.world import Drawn

Taker = TypeVar("Taker", bound=TakesPrompts)


@dataclass
class Trial:
    """One draw, the level of the intervals, and what estimators draw with; `kept` is of all draws of a world."""

    drawn: Drawn
    confidence: float
    seed: int  # of estimators that draw
    draws: int  # of each of them
    kept: dict = field(default_factory=dict)
    _computed: dict = field(default_factory=dict)

    @property
    def moments(self) -> Moments:
        """Moments of the draw, with the length where there is one."""
        return self.drawn.moments

    def once(self, key: object, compute: Callable):
        """What `compute` returns, computed once for this draw."""
        if key not in self._computed:
            self._computed[key] = compute()
        return self._computed[key]

    def of_world(self, key: object, compute: Callable):
        """What `compute` returns, computed once for all draws of the world: it may not depend on the ratings."""
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]

    def design(self, spec: Spec) -> SliceDesign:
        """Lay out the terms of a spec."""
        return self.of_world(spec.name, lambda: design_of(spec, self.moments, np.arange(len(self.moments.n))))

    def solution(self, spec: Spec) -> Solution:
        """Solve for the coefficients of a spec."""
        return self.once(("solution", spec.name), lambda: solve(self.moments, self.design(spec).regressors))

    def add_prompts(self, spec: Spec, taker: Taker) -> Taker:
        """Add the sums of the prompts in the cells of a spec to what takes them, and return it."""
        design, block = self.design(spec), self.drawn.block
        pieces = self.once(("prompt sums", spec.name), lambda: list(sum_by_prompt(block, design.cell, design.cells)))
        for prompts, sums in pieces:
            taker.add(prompts, sums)
        return taker

    @property
    def judges(self) -> np.ndarray:
        """Names of the judges, (J,), rising."""
        return np.unique(self.drawn.factors["judge"])

    @property
    def by_judges(self) -> Moments:
        """Moments that tell completions apart by the judges that rated them."""
        block = self.drawn.block
        return self.once("by judges", lambda: moments_by_judges([block], self.drawn.factors, covariates=len(block.covariates)))

    def blocks_by_judges(self, factors: Mapping[str, np.ndarray]) -> list[RowBlock]:
        """The rows with their groups numbered as in `factors`, of such moments or some of their groups."""
        return list(blocks_by_judges([self.drawn.block], self.drawn.factors, factors))

    def with_rater_errors(self) -> Trial:
        """The same trial with the error variance that the raters show in the place of the length."""
        kept = self.of_world("with rater errors", dict)
        return self.once(
            "with rater errors", lambda: replace(self, drawn=self.drawn.with_rater_errors(), kept=kept, _computed={})
        )


EQUATION = Spec.of("main")
WITH_LENGTH = Spec.of("length", length="prompt")
MODEL = Spec.of("model", terms=(*EQUATION_1, "model"))
MODEL_BY_DIMENSION = Spec.of("model_dimension", terms=(*EQUATION_1, "model:dimension"))
COMPLETION = Spec.of("completion", absorb="completion", covariance="CR1")
PLACEBO_DRAWS = 2000  # assignments of models to judges, the same for all draws of a world


class Answer(NamedTuple):
    """What an estimator says of one coefficient; NaN for what it does not say."""

    estimate: float
    ci_low: float
    ci_high: float
    p_value: float


NOTHING = Answer(nan, nan, nan, nan)
Answers = Mapping[tuple[str, str], Answer]  # (quantity, term) -> answer; ALL_JUDGES is the mean self-bias


@dataclass(frozen=True)
class Estimator:
    """One entry of the table."""

    estimand: str  # as in the tables of estimates
    words: str
    answers: Callable[[Trial], Answers]
    at_once: bool = False  # its p-values are of all self- and family-biases at once: none is to be small where nothing is


def _white(spec: Spec, trial: Trial) -> Answers:
    design = trial.design(spec)
    return _by_t(design.terms, fit(trial.moments, design.regressors), trial.confidence)


def _clustered(spec: Spec, trial: Trial, clusters: type[ByPrompt] = Clusters) -> Answers:
    return _by_t(trial.design(spec).terms, _fit_by_prompt(spec, trial, clusters), trial.confidence)


def _fit_by_prompt(spec: Spec, trial: Trial, clusters: type[ByPrompt] = Clusters) -> LeastSquares:
    return trial.add_prompts(spec, clusters(trial.design(spec).layouts, trial.solution(spec))).result()


def _wild(spec: Spec, trial: Trial) -> Answers:
    """p-values alone: where nothing is planted, an interval by inversion covers as often as the test does not reject."""
    terms = trial.design(spec).terms
    return {
        (terms[place].quantity, terms[place].term): Answer(test.estimate, nan, nan, test.p_value())
        for place, test in _wild_tests(spec, trial).items()
    }


def _wild_tests(spec: Spec, trial: Trial) -> dict[int, WildTest]:
    """Draws of each bias, by its place among the terms."""
    design, solution = trial.design(spec), trial.solution(spec)
    places = [place for place, term in enumerate(design.terms) if term.quantity in BIASES]

    def drawn() -> dict[int, WildTest]:
        prompts = len(trial.drawn.rating)
        bootstrap = WildBootstrap(design.layouts, solution, places, prompts=prompts, draws=trial.draws, seed=trial.seed)
        return trial.add_prompts(spec, bootstrap).tests()

    return trial.once(("wild bootstrap", spec.name), drawn)


def _max_t(spec: Spec, trial: Trial) -> Answers:
    """Adjusted p-values of all self- and family-biases, one family of tests; without intervals as those of `_wild`."""
    terms = trial.design(spec).terms
    coefficients = coefficients_of(terms, [0] * len(terms), _fit_by_prompt(spec, trial))
    tests = _wild_tests(spec, trial)
    tested = [replace(coefficients[place], wild=test) for place, test in tests.items()]
    p_values = simultaneous(tested, confidence=trial.confidence)["max_t_p_value"]
    return {(row.quantity, row.term): Answer(row.estimate, nan, nan, p) for row, p in zip(tested, p_values, strict=True)}


def _corrected(extrapolation: Extrapolation, trial: Trial) -> Answers:
    reliability = dict.fromkeys(map(str, trial.drawn.factors["dimension"]), trial.drawn.reliability)
    return _errors_in_reference(KnownReliability.of(trial.moments, reliability), extrapolation, trial)


def _corrected_by_raters(trial: Trial) -> Answers:
    """With the reliability that the raters show, by dimension."""
    raters, levels = trial.drawn.raters, np.unique(trial.drawn.factors["dimension"])
    reliability = {}
    for level, scores in zip(levels, np.moveaxis(raters, 1, 0).reshape(len(levels), -1, raters.shape[-1]), strict=True):
        shown = one_way(np.full(len(scores), scores.shape[1]), scores.sum(axis=1), (scores**2).sum(axis=1))
        reliability[str(level)] = shown.mean
    return _errors_in_reference(KnownReliability.of(trial.moments, reliability), MOMENTS, trial)


def _split_raters(trial: Trial) -> Answers:
    return _errors_in_reference(SplitRaters(), MOMENTS, trial.with_rater_errors())


def _errors_in_reference(noise: Noise, extrapolation: Extrapolation, trial: Trial) -> Answers:
    """Corrected fit of Equation 1, whose terms of dimensions tell its design cells apart by dimension."""
    design, moments = trial.design(EQUATION), trial.moments
    rows = np.bincount(design.cell, moments.n)
    cells = DesignCells(design.layouts, trial.drawn.factors["dimension"][design.first], rows)
    fitted = corrected(trial.solution(EQUATION), design.regressors, noise.sums(moments), extrapolation)
    errors = trial.add_prompts(EQUATION, CorrectedErrors(fitted, cells, noise))
    return _by_t(design.terms, errors.result(), trial.confidence)


def _complete_blocks(trial: Trial) -> Answers:
    whole = complete_blocks(trial.by_judges, trial.judges)
    refitted = refit(EQUATION, whole, trial.blocks_by_judges(whole.factors))[0]
    return _by_t(refitted.terms, refitted.result, trial.confidence)


def _bounds(trial: Trial) -> Answers:
    """From the lower end of the lowest by missing own ratings to the upper end of the highest; no estimate."""
    ends = bounds(EQUATION, trial.by_judges, trial.judges, trial.blocks_by_judges, own=True)[0]
    lowest, highest = (_by_t(each.terms, each.result, trial.confidence) for each in ends)
    return {key: Answer(nan, lowest[key].ci_low, highest[key].ci_high, nan) for key in lowest}


def _completion_effects(trial: Trial) -> Answers:
    if trial.drawn.present is not None:  # completions are to be told apart by who rated them
        return {}
    return _clustered(COMPLETION, trial)


def _placebo(trial: Trial, *, length: bool = False) -> Answers:
    return {
        (excess.quantity, excess.term): _answer(excess.estimate, excess.std_error, excess.df, trial.confidence)
        for excess in _placebos(trial, length)
    }


def _randomised(trial: Trial) -> Answers:
    return {
        (excess.quantity, excess.term): Answer(excess.estimate, nan, nan, excess.randomisation_p_value)
        for excess in _placebos(trial, length=False)
        if excess.term == ALL_JUDGES
    }


def _placebos(trial: Trial, length: bool) -> list[ExcessPreference]:
    moments = trial.moments if length else trial.drawn.moments_without_length
    cells = trial.once(("cell means", length), lambda: cell_means(moments))
    design = trial.of_world("placebo", lambda: IdiosyncrasyDesign(cells, seed=trial.seed, draws=PLACEBO_DRAWS))
    return trial.once(("placebo", length), lambda: design.test(cells.mean))


def _by_t(terms: Sequence[Term], result: LeastSquares, confidence: float) -> Answers:
    """What the t or the normal distribution says of each bias."""
    return {
        (term.quantity, term.term): _answer(estimate, error, result.df, confidence)
        for term, estimate, error in zip(terms, result.estimate, result.std_error, strict=True)
        if term.quantity in BIASES
    }


def _answer(estimate: float, std_error: float, df: float, confidence: float) -> Answer:
    columns = wald_columns(estimate, std_error, df=df, confidence=confidence)
    return Answer(*(columns.get(name, nan) for name in Answer._fields))


ESTIMATORS: dict[str, Estimator] = {
    "A_HC0": Estimator(estimand_of(EQUATION), "Equation 1, HC0", partial(_white, EQUATION)),
    "A_CR1": Estimator(estimand_of(EQUATION), "Equation 1, CR1", partial(_clustered, EQUATION)),
    "A_CR3": Estimator(estimand_of(EQUATION), "Equation 1, CR3", partial(_clustered, EQUATION, clusters=Jackknife)),
    "A_wild": Estimator(estimand_of(EQUATION), "Equation 1, wild bootstrap", partial(_wild, EQUATION)),
    "A_max_t": Estimator(estimand_of(EQUATION), "any of all, by max-t", partial(_max_t, EQUATION), at_once=True),
    "A_moments": Estimator(estimand_of(EQUATION), "corrected, known reliability", partial(_corrected, MOMENTS)),
    "A_moments_of_raters": Estimator(estimand_of(EQUATION), "corrected, reliability from raters", _corrected_by_raters),
    "A_simex": Estimator(estimand_of(EQUATION), "SIMEX, known reliability", partial(_corrected, SIMEX)),
    "A_split_raters": Estimator(estimand_of(EQUATION), "corrected by split raters", _split_raters),
    "A_complete_blocks": Estimator(estimand_of(EQUATION), "completions that all judges rated, CR1", _complete_blocks),
    "A_bounds": Estimator(estimand_of(EQUATION), "bounds by missing own ratings, CR1", _bounds),
    "A_length_CR1": Estimator(estimand_of(WITH_LENGTH), "Equation 1 with length, CR1", partial(_clustered, WITH_LENGTH)),
    "B_HC0": Estimator(estimand_of(MODEL), "model effects, HC0", partial(_white, MODEL)),
    "B_CR1": Estimator(estimand_of(MODEL), "model effects, CR1", partial(_clustered, MODEL)),
    "B_wild": Estimator(estimand_of(MODEL), "model effects, wild bootstrap", partial(_wild, MODEL)),
    "B_dimension_CR1": Estimator(
        estimand_of(MODEL_BY_DIMENSION), "model × dimension effects, CR1", partial(_clustered, MODEL_BY_DIMENSION)
    ),
    "B_completion_CR1": Estimator(estimand_of(COMPLETION), "completion effects, CR1", _completion_effects),
    "C_placebo": Estimator(C, "placebo cells, t", _placebo),
    "C_length_placebo": Estimator(C, "placebo cells with length, t", partial(_placebo, length=True)),
    "C_randomisation": Estimator(C, "mean over judges, randomised", _randomised),
}
