"""Estimators and tests tried on simulated worlds, replicate by replicate: what each says of every self- and family-bias of a
draw, and its size, power, bias and coverage over draws, with their Monte Carlo errors.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan
from typing import NamedTuple, TypeVar

import numpy as np

from recuse.base.log import steps
from recuse.data.moments import Moments, RowBlock, blocks_by_judges, moments_by_judges
from recuse.inference.bounds import bounds, complete_blocks
from recuse.inference.idiosyncrasy import ExcessPreference, IdiosyncrasyDesign, cell_means
from recuse.inference.measurement_error import (
    MOMENTS,
    SIMEX,
    CorrectedFit,
    DesignCells,
    Extrapolation,
    KnownReliability,
    Noise,
    SplitRaters,
)
from recuse.inference.refit import refit
from recuse.inference.reliability import one_way
from recuse.model.covariance import ByPrompt, Clusters, Jackknife, fit
from recuse.model.design import ALL_JUDGES, SliceDesign, Term, design_of
from recuse.model.estimates import simultaneous
from recuse.model.fit import coefficients_of
from recuse.model.least_squares import LeastSquares, Solution, solve, wald_columns
from recuse.model.prompt_sums import TakesPrompts, sum_by_prompt
from recuse.model.resampling import WildBootstrap, WildTest
from recuse.model.spec import BIASES, EQUATION_1, A, B, C, Spec, estimand_of
from recuse.montecarlo.world import RATERS, Drawn, ValidityWorld

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
        return self.of_world(spec.name, lambda: design_of(spec, self.drawn.moments, np.arange(len(self.drawn.moments.n))))

    def solution(self, spec: Spec) -> Solution:
        """Solve for the coefficients of a spec."""
        return self.once(("solution", spec.name), lambda: solve(self.drawn.moments, self.design(spec).regressors))

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
        return replace(self, drawn=self.drawn.with_rater_errors(), kept=kept, _computed={})


EQUATION = Spec.of("main")
WITH_LENGTH = Spec.of("length", length="prompt")
MODEL = Spec.of("model", terms=(*EQUATION_1, "model"))
MODEL_BY_DIMENSION = Spec.of("model_dimension", terms=(*EQUATION_1, "model:dimension"))
COMPLETION = Spec.of("completion", absorb="completion", covariance="CR1")
IDIOSYNCRASY_DRAWS = 2000  # assignments of models to judges, the same for all draws of a world


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
    return _by_t(design.terms, fit(trial.drawn.moments, design.regressors), trial.confidence)


def _clustered(spec: Spec, trial: Trial, clusters: type[ByPrompt] = Clusters) -> Answers:
    return _by_t(trial.design(spec).terms, _fit_by_prompt(spec, trial, clusters), trial.confidence)


def _fit_by_prompt(spec: Spec, trial: Trial, clusters: type[ByPrompt] = Clusters) -> LeastSquares:
    return trial.add_prompts(spec, clusters(trial.design(spec).layouts, trial.solution(spec))).result()


def _wild(spec: Spec, trial: Trial) -> Answers:
    """p-values alone: where nothing is planted, an interval by inversion covers as often as the test does not reject."""
    terms = trial.design(spec).terms
    tests = [(terms[place], test) for place, test in _wild_tests(spec, trial).items()]
    return {(term.quantity, term.term): Answer(test.estimate, nan, nan, test.p_value()) for term, test in tests}


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
    tested = [replace(coefficients[place], wild=test) for place, test in _wild_tests(spec, trial).items()]
    p_values = simultaneous(tested, confidence=trial.confidence)["max_t_p_value"]
    return {(row.quantity, row.term): Answer(row.estimate, nan, nan, p) for row, p in zip(tested, p_values, strict=True)}


def _corrected(extrapolation: Extrapolation, trial: Trial, *, of_raters: bool = False) -> Answers:
    """With the planted reliability, or that which the raters show, by dimension."""
    drawn = trial.drawn
    reliability = dict.fromkeys(map(str, drawn.factors["dimension"]), drawn.reliability)
    for place, level in enumerate(reliability if of_raters else ()):
        scores = drawn.raters[:, place].reshape(-1, RATERS)
        shown = one_way(np.full(len(scores), RATERS), scores.sum(axis=1), (scores**2).sum(axis=1))
        reliability[level] = shown.mean
    return _with_noise(KnownReliability(drawn.moments, reliability), extrapolation, trial)


def _with_noise(noise: Noise, extrapolation: Extrapolation, trial: Trial) -> Answers:
    """Corrected fit of Equation 1, whose terms of dimensions tell its design cells apart by dimension."""
    design, moments = trial.design(EQUATION), trial.drawn.moments
    dimension = trial.drawn.factors["dimension"][design.first]
    cells = DesignCells(design.layouts, dimension, np.bincount(design.cell, moments.n))
    fitted = trial.add_prompts(EQUATION, CorrectedFit(trial.solution(EQUATION), design, moments, cells, noise, extrapolation))
    return _by_t(design.terms, fitted.result(), trial.confidence)


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


def _idiosyncrasy(trial: Trial, *, length: bool = False) -> Answers:
    tests = _idiosyncrasies(trial, length)
    return {(each.quantity, each.term): _answer(each.estimate, each.std_error, each.df, trial.confidence) for each in tests}


def _randomised(trial: Trial) -> Answers:
    tests = [each for each in _idiosyncrasies(trial, length=False) if each.term == ALL_JUDGES]
    return {(each.quantity, each.term): Answer(each.estimate, nan, nan, each.randomisation_p_value) for each in tests}


def _idiosyncrasies(trial: Trial, length: bool) -> list[ExcessPreference]:
    moments = trial.drawn.moments if length else trial.drawn.moments_without_length
    cells = trial.once(("cell means", length), lambda: cell_means(moments))
    design = trial.of_world("idiosyncrasy", lambda: IdiosyncrasyDesign(cells, seed=trial.seed, draws=IDIOSYNCRASY_DRAWS))
    return trial.once(("idiosyncrasy", length), lambda: design.test(cells.mean))


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
    "A_HC0": Estimator(A, "Equation 1, HC0", partial(_white, EQUATION)),
    "A_CR1": Estimator(A, "Equation 1, CR1", partial(_clustered, EQUATION)),
    "A_CR3": Estimator(A, "Equation 1, CR3", partial(_clustered, EQUATION, clusters=Jackknife)),
    "A_wild": Estimator(A, "Equation 1, wild bootstrap", partial(_wild, EQUATION)),
    "A_max_t": Estimator(A, "any of all, by max-t", partial(_max_t, EQUATION), at_once=True),
    "A_moments": Estimator(A, "corrected, known reliability", partial(_corrected, MOMENTS)),
    "A_moments_of_raters": Estimator(A, "corrected, reliability from raters", partial(_corrected, MOMENTS, of_raters=True)),
    "A_simex": Estimator(A, "SIMEX, known reliability", partial(_corrected, SIMEX)),
    "A_split_raters": Estimator(
        A, "corrected by split raters", lambda trial: _with_noise(SplitRaters(), MOMENTS, trial.with_rater_errors())
    ),
    "A_complete_blocks": Estimator(A, "completions that all judges rated, CR1", _complete_blocks),
    "A_bounds": Estimator(A, "bounds by missing own ratings, CR1", _bounds),
    "A_length_CR1": Estimator(A, "Equation 1 with length, CR1", partial(_clustered, WITH_LENGTH)),
    "B_HC0": Estimator(B.format("model"), "model effects, HC0", partial(_white, MODEL)),
    "B_CR1": Estimator(B.format("model"), "model effects, CR1", partial(_clustered, MODEL)),
    "B_wild": Estimator(B.format("model"), "model effects, wild bootstrap", partial(_wild, MODEL)),
    "B_dimension_CR1": Estimator(
        estimand_of(MODEL_BY_DIMENSION), "model × dimension effects, CR1", partial(_clustered, MODEL_BY_DIMENSION)
    ),
    "B_completion_CR1": Estimator(estimand_of(COMPLETION), "completion effects, CR1", _completion_effects),
    "C_idiosyncrasy": Estimator(C, "unrelated cells, t", _idiosyncrasy),
    "C_length_idiosyncrasy": Estimator(C, "unrelated cells with length, t", partial(_idiosyncrasy, length=True)),
    "C_randomisation": Estimator(C, "mean over judges, randomised", _randomised),
}

ALL = ""  # the term of the mean over all judges or families with the same planted value
ROUNDING = 1e-9  # a p-value by draws may be the level itself
# What is counted or averaged over replicates, from columns (estimate, ci_low, ci_high, p_value) and the planted value.
REJECTED, COVERED, BIAS, SPREAD = "rejected", "covered", "bias", "spread"
ANY_REJECTED, ANSWERED = "any_rejected", "answered"
BOTH = "biases"  # the quantity of what is said of self- and family-biases together


def try_estimators(
    world: ValidityWorld, names: Sequence[str], *, key: str, replicates: int, draws: int, confidence: float, seed: int
) -> list[dict]:
    """Try the estimators `names` on so many draws of a world; rows of estimator, estimand, quantity, term, planted, statistic,
    value, mc_error, replicates.

    Statistics of a coefficient: `rejected`, share of replicates with p <= 1 - confidence; `covered`, share whose interval holds
    the planted value; `bias`, mean estimate less the planted value; `spread`, standard deviation of the estimates. The term ALL
    is the mean over all judges or families with the same planted value; for these, `any_rejected` is the share of replicates
    that reject at least one (of both, with the quantity BOTH), and `answered` the share of tests that an estimator did not
    refuse. The term ALL_JUDGES is a test of the mean self-bias. mc_error is the standard error over replicates; for a mean over
    coefficients it is that of the replicates' means, since coefficients of one draw are not independent.
    Replicate r of the world `key` is drawn from SeedSequence(seed, spawn_key=(crc32 of key, r)): another world, or more
    replicates, changes none.
    """
    coefficients = [(quantity, *planted) for quantity, of in world.planted.items() for planted in of.items()]
    coefficients.append(("self_bias", ALL_JUDGES, float(np.mean(list(world.planted["self_bias"].values())))))
    answers = np.full((len(names), replicates, len(coefficients), len(NOTHING)), np.nan)
    kept = {}
    for replicate in steps(range(replicates), key, unit="worlds"):
        sequence = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(key.encode()), replicate))
        of_world, of_estimators = sequence.spawn(2)
        drawn = world.draw(np.random.default_rng(of_world))
        trial = Trial(drawn, confidence, int(of_estimators.generate_state(1)[0]), draws, kept)
        for place, name in enumerate(names):
            by_term = ESTIMATORS[name].answers(trial)
            answers[place, replicate] = [by_term.get((quantity, term), NOTHING) for quantity, term, _ in coefficients]
    return [
        {"estimator": name, "estimand": ESTIMATORS[name].estimand, **row}
        for name, of_estimator in zip(names, answers, strict=True)
        for row in _statistics(coefficients, of_estimator, confidence)
    ]


def _statistics(coefficients: Sequence[tuple], answers: np.ndarray, confidence: float) -> Iterator[dict]:
    """Rows of one estimator; answers: (replicates, coefficients, 4)."""
    planted = np.array([value for *_, value in coefficients])
    estimate, low, high, p_value = np.moveaxis(answers, -1, 0)
    level = 1 - confidence + ROUNDING
    values = {  # (replicates, coefficients)
        REJECTED: np.where(np.isnan(p_value), np.nan, p_value <= level),
        COVERED: np.where(np.isnan(low + high), np.nan, (low <= planted) & (planted <= high)),
        BIAS: estimate - planted,
    }
    for place, (quantity, term, value) in enumerate(coefficients):
        about = {"quantity": quantity, "term": term, "planted": value}
        for statistic, each in values.items():
            yield from _over_replicates(about, statistic, each[:, place])
        yield from _over_replicates(about, SPREAD, estimate[:, place])
    single = [(place, *each) for place, each in enumerate(coefficients) if each[1] != ALL_JUDGES]
    for quantity, value in dict.fromkeys((quantity, value) for _, quantity, _, value in single):
        places = [place for place, *each in single if (each[0], each[2]) == (quantity, value)]
        about = {"quantity": quantity, "term": ALL, "planted": value}
        for statistic, each in values.items():
            yield from _over_replicates(about, statistic, each[:, places].mean(axis=1))
        yield from _over_replicates(about, ANY_REJECTED, values[REJECTED][:, places].max(axis=1))  # NaN if one is
        if not np.isnan(estimate[:, places]).all():
            yield from _over_replicates(about, ANSWERED, (~np.isnan(p_value[:, places])).mean(axis=1))
    for value in dict.fromkeys(value for *_, value in coefficients):
        places = [place for place, *_, planted_value in single if planted_value == value]
        if len({coefficients[place][0] for place in places}) > 1:
            about = {"quantity": BOTH, "term": ALL, "planted": value}
            yield from _over_replicates(about, ANY_REJECTED, values[REJECTED][:, places].max(axis=1))


def _over_replicates(about: dict, statistic: str, values: np.ndarray) -> Iterator[dict]:
    """The mean or SPREAD over the replicates that have a value, (replicates,), with its error; no row of fewer than two."""
    finite = values[~np.isnan(values)]
    if len(finite) > 1:
        spread = float(finite.std(ddof=1))
        value, weight = (spread, 2 * (len(finite) - 1)) if statistic == SPREAD else (float(finite.mean()), len(finite))
        error = spread / float(np.sqrt(weight))
        yield {**about, "statistic": statistic, "value": value, "mc_error": error, "replicates": len(finite)}


# Table -> its statistics, and whether they are of biases that are planted; None: of all.
TABLES = {
    "size": ((REJECTED, ANY_REJECTED, ANSWERED), False),
    "power": ((REJECTED, ANY_REJECTED, ANSWERED), True),
    "bias": ((BIAS, SPREAD), None),
    "coverage": ((COVERED,), None),
}


def dials_of(settings: Mapping, grid: str, setting: str) -> dict:
    """The dials of one world: of `world`, of the grid's own, and its value of the dial that differs."""
    of_grid = settings["grids"][grid]
    value = next(value for value in of_grid["values"] if str(value) == setting)
    return {**settings["world"], **of_grid.get("world", {}), of_grid["dial"]: value}


def estimators_of(settings: Mapping, grid: str) -> Sequence[str]:
    """What is tried in the worlds of a grid."""
    return settings["grids"][grid].get("estimators", settings["estimators"])


def table(name: str, rows: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Of the rows of all worlds, as read, those of one of TABLES."""
    statistics, planted = TABLES[name]
    return [row for row in rows if row["statistic"] in statistics and planted in (None, float(row["planted"]) != 0)]
