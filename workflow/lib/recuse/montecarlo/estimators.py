"""Estimators and tests on simulated worlds: size, power, bias and coverage over replicates, with Monte Carlo errors."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import nan
from typing import NamedTuple

import numpy as np

from recuse.base.log import steps
from recuse.inference.bounds import COMPLETE, OWN, bounds_rows
from recuse.inference.idiosyncrasy import ExcessPreference, IdiosyncrasyDesign, idiosyncrasies
from recuse.inference.judge_model import cell_means
from recuse.inference.measurement_error import MOMENTS, SplitRaters, correct, corrected_rows
from recuse.inference.reliability import one_way
from recuse.inference.verdict import BEYOND, CANNOT_BE_TOLD, ESTABLISHED, SUGGESTIVE, Reply, verdict_on
from recuse.model.design import ALL_JUDGES
from recuse.model.estimable import fitted_to
from recuse.model.estimates import simultaneous
from recuse.model.fit import Coefficient, fits
from recuse.model.least_squares import holm, wald_columns
from recuse.model.spec import BIASES, EQUATION_1, A, B, C, Spec, estimand_of
from recuse.montecarlo.world import RATERS, DrawnStudy, MonteCarloWorld, dials_in_words, world_in_words


@dataclass
class Trial:
    """One draw, the level of the intervals, and the seed and number of the estimators' random draws."""

    study: DrawnStudy
    confidence: float
    seed: int
    draws: int
    kept: dict = field(default_factory=dict)  # shared by all draws of a world
    _computed: dict = field(default_factory=dict)

    def once(self, key: object, compute: Callable):
        """What `compute` returns, computed once for this draw."""
        if key not in self._computed:
            self._computed[key] = compute()
        return self._computed[key]

    def coefficients(self, spec: Spec) -> list[Coefficient]:
        """Self- and family-biases of a spec."""
        spec = fitted_to(spec, self.study)
        (fitted,) = self.once(repr(spec), lambda: list(fits(spec, self.study, seed=self.seed)))
        return [row for row in fitted.coefficients if row.quantity in BIASES]


EQUATION = Spec.of("main")
WITH_LENGTH = Spec.of("length", length="prompt")
MODEL = Spec.of("model", terms=(*EQUATION_1, "model"))
MODEL_BY_DIMENSION = Spec.of("model_dimension", terms=(*EQUATION_1, "model:dimension"))
COMPLETION = Spec.of("completion", absorb="completion")
IDIOSYNCRASY_DRAWS = 2000  # assignments of models to judges, the same for all draws of a world


class Answer(NamedTuple):
    """What an estimator reports for one coefficient; NaN for what it does not report."""

    estimate: float = nan
    ci_low: float = nan
    ci_high: float = nan
    p_value: float = nan


NOTHING = Answer()
ALL = ""  # the term of the mean over all judges or families with the same planted value
Answers = Mapping[tuple[str, str], Answer]  # (quantity, term) -> answer; ALL_JUDGES is the mean self-bias


@dataclass(frozen=True)
class Estimator:
    """One entry of ESTIMATORS."""

    estimand: str  # as in the tables of estimates
    words: str
    answers: Callable[[Trial], Answers]
    tests: Sequence[str] = (ALL,)  # terms of its p-values: ALL, of single judges and families; ALL_JUDGES; or none
    at_once: bool = False  # its p-values are of all self- and family-biases at once: none should be small where none is biased


def _answers(rows: Iterable[Mapping]) -> Answers:
    """The biases among rows of a table."""
    return {
        (row["quantity"], row["term"]): Answer(*(row.get(name, nan) for name in Answer._fields))
        for row in rows
        if row.get("quantity") in BIASES
    }


def _fit(spec: Spec, covariance: str, trial: Trial) -> Answers:
    rows = trial.coefficients(spec.changed(covariance=covariance))
    return {(row.quantity, row.term): _answer(row.estimate, row.std_error, row.df, trial.confidence) for row in rows}


def _answer(estimate: float, std_error: float, df: float, confidence: float) -> Answer:
    columns = wald_columns(estimate, std_error, df=df, confidence=confidence)
    return Answer(*(columns.get(name, nan) for name in Answer._fields))


def _wild(spec: Spec, trial: Trial) -> Answers:
    """p-values alone: where nothing is planted, an interval by inversion covers as often as the test does not reject."""
    rows = _tested(spec, trial)
    return {(row.quantity, row.term): Answer(row.estimate, p_value=row.wild.p_value()) for row in rows}


def _max_t(spec: Spec, trial: Trial) -> Answers:
    """Adjusted p-values of all self- and family-biases, one family of tests; without intervals, as in `_wild`."""
    rows = _tested(spec, trial)
    p_values = simultaneous(rows, confidence=trial.confidence)["max_t_p_value"]
    return {(row.quantity, row.term): Answer(row.estimate, p_value=p) for row, p in zip(rows, p_values, strict=True)}


def _tested(spec: Spec, trial: Trial) -> list[Coefficient]:
    rows = trial.coefficients(spec.changed(covariance="CR1", wild=trial.draws))
    return [row for row in rows if row.wild is not None]


def _corrected(method: str, trial: Trial, *, of_raters: bool = False) -> Answers:
    """With the planted reliability, or that which the raters show, by dimension."""
    study = trial.study
    reliability = dict.fromkeys(np.unique(study.factors["dimension"]).tolist(), study.reliability)
    for place, level in enumerate(reliability if of_raters else ()):
        scores = study.raters[:, place].reshape(-1, RATERS)
        reliability[level] = one_way(np.full(len(scores), RATERS), scores.sum(axis=1), (scores**2).sum(axis=1)).mean

    def rows() -> list[dict]:
        return list(corrected_rows(EQUATION, study, reliability, confidence=trial.confidence))

    return _answers(row for row in trial.once(("corrected", of_raters), rows) if row.get("method") == method)


def _split_raters(trial: Trial) -> Answers:
    study, selection = trial.study.with_rater_errors(), WITH_LENGTH.selection
    moments = study.moments(selection)
    blocks = study.row_blocks(selection, moments.factors)
    return _answers(correct(EQUATION, moments, blocks, [({}, SplitRaters(), MOMENTS)], confidence=trial.confidence))


def _bounds(trial: Trial) -> dict[str, Answers]:
    """By method."""
    rows = trial.once("bounds", lambda: list(bounds_rows(EQUATION, trial.study, confidence=trial.confidence)))
    return {method: _answers(row for row in rows if row["method"] == method) for method in (COMPLETE, *OWN)}


def _between_bounds(trial: Trial) -> Answers:
    """From the lower end of the lowest by missing own ratings to the upper end of the highest; no estimate."""
    lowest, highest = (_bounds(trial)[method] for method in OWN)
    return {key: Answer(ci_low=lowest[key].ci_low, ci_high=highest[key].ci_high) for key in lowest}


def _idiosyncrasy(spec: Spec, trial: Trial) -> Answers:
    tests = _idiosyncrasies(spec, trial)
    return {(row.quantity, row.term): _answer(row.estimate, row.std_error, row.df, trial.confidence) for row in tests}


def _mixed(spec: Spec, trial: Trial) -> Answers:
    def answers() -> Answers:
        (each,) = idiosyncrasies(spec, trial.study, seed=trial.seed, draws=0)
        return {
            (row.quantity, row.term): _answer(row.estimate, row.std_error, row.df, trial.confidence)
            for row in each.tests()
            if not row.reason
        }

    return trial.once(("mixed", spec.name), answers)


def _verdict(verdict: str, trial: Trial) -> Answers:
    """A p-value of 0 for a bias with this verdict, 1 for one with another; none for one that cannot be told."""

    def verdicts() -> dict[tuple[str, str], str]:
        against_humans = _fit(EQUATION, "CR1", trial) if trial.study.has_human_scores else {}
        asked = {"A": against_humans, "B": _fit(MODEL, "CR1", trial), BEYOND: _mixed(EQUATION, trial)}
        biases = list(dict.fromkeys(key for answers in asked.values() for key in answers if key[1] != ALL_JUDGES))
        adjusted = {}
        for quantity in BIASES:
            keys = [key for key in biases if key[0] == quantity]
            adjusted |= zip(keys, holm([asked[BEYOND].get(key, NOTHING).p_value for key in keys]), strict=True)
        refused = Reply(reason=CANNOT_BE_TOLD)
        replies = {key: {name: Reply(*answers[key]) for name, answers in asked.items() if key in answers} for key in biases}
        replies = {key: {BEYOND: refused, **by_name} for key, by_name in replies.items()}
        return {key: verdict_on(replies[key], adjusted[key], confidence=trial.confidence)[0] for key in biases}

    of_biases = trial.once("verdicts", verdicts)
    return {key: Answer(p_value=float(name != verdict)) for key, name in of_biases.items() if name != CANNOT_BE_TOLD}


def _randomised(trial: Trial) -> Answers:
    tests = [row for row in _idiosyncrasies(EQUATION, trial) if row.term == ALL_JUDGES]
    return {(row.quantity, row.term): Answer(row.estimate, p_value=row.randomisation_p_value) for row in tests}


def _idiosyncrasies(spec: Spec, trial: Trial) -> list[ExcessPreference]:
    """Not by `idiosyncrasy_rows`: assignments of models to judges take long to draw, and all draws of a world share them."""
    cells = trial.once(
        ("cell means", spec.name),
        lambda: cell_means(trial.study.moments(spec.selection), reference=trial.study.has_human_scores),
    )
    if "design" not in trial.kept:
        trial.kept["design"] = IdiosyncrasyDesign(cells, seed=trial.seed, draws=IDIOSYNCRASY_DRAWS)
    return trial.once(("idiosyncrasy", spec.name), lambda: trial.kept["design"].test(cells.mean))


ESTIMATORS: dict[str, Estimator] = {
    "A_HC0": Estimator(A, "Equation 1, HC0", partial(_fit, EQUATION, "HC0")),
    "A_CR1": Estimator(A, "Equation 1, CR1", partial(_fit, EQUATION, "CR1")),
    "A_CR3": Estimator(A, "Equation 1, CR3", partial(_fit, EQUATION, "CR3")),
    "A_wild": Estimator(A, "Equation 1, wild bootstrap", partial(_wild, EQUATION)),
    "A_max_t": Estimator(A, "any of all, by max-t", partial(_max_t, EQUATION), at_once=True),
    "A_moments": Estimator(A, "corrected, known reliability", partial(_corrected, "moments")),
    "A_moments_of_raters": Estimator(A, "corrected, reliability from raters", partial(_corrected, "moments", of_raters=True)),
    "A_simex": Estimator(A, "SIMEX, known reliability", partial(_corrected, "simex")),
    "A_split_raters": Estimator(A, "corrected by split raters", _split_raters),
    "A_complete_blocks": Estimator(A, "completions that all judges rated, CR1", lambda trial: _bounds(trial)[COMPLETE]),
    "A_bounds": Estimator(A, "bounds by missing own ratings, CR1", _between_bounds, tests=()),
    "A_length_CR1": Estimator(A, "Equation 1 with length, CR1", partial(_fit, WITH_LENGTH, "CR1")),
    "B_HC0": Estimator(B.format("model"), "model effects, HC0", partial(_fit, MODEL, "HC0")),
    "B_CR1": Estimator(B.format("model"), "model effects, CR1", partial(_fit, MODEL, "CR1")),
    "B_wild": Estimator(B.format("model"), "model effects, wild bootstrap", partial(_wild, MODEL)),
    "B_dimension_CR1": Estimator(
        estimand_of(MODEL_BY_DIMENSION), "model × dimension effects, CR1", partial(_fit, MODEL_BY_DIMENSION, "CR1")
    ),
    "B_completion_CR1": Estimator(estimand_of(COMPLETION), "completion effects, CR1", partial(_fit, COMPLETION, "CR1")),
    "C_mixed": Estimator(C, "mixed model", partial(_mixed, EQUATION), tests=(ALL, ALL_JUDGES)),
    "C_length_mixed": Estimator(C, "mixed model, with length", partial(_mixed, WITH_LENGTH), tests=(ALL, ALL_JUDGES)),
    "C_additive": Estimator(C, "additive, equal spread", partial(_idiosyncrasy, EQUATION), tests=(ALL, ALL_JUDGES)),
    "C_length_additive": Estimator(
        C, "additive, equal spread, with length", partial(_idiosyncrasy, WITH_LENGTH), tests=(ALL, ALL_JUDGES)
    ),
    ESTABLISHED: Estimator("", "verdict: established", partial(_verdict, ESTABLISHED)),
    SUGGESTIVE: Estimator("", "verdict: suggestive", partial(_verdict, SUGGESTIVE)),
    "C_randomisation": Estimator(C, "mean over judges, randomised", _randomised, tests=(ALL_JUDGES,)),
}

ROUNDING = 1e-9  # a p-value by draws may equal the level
REJECTED, COVERED, BIAS, SPREAD = "rejected", "covered", "bias", "spread"  # statistics over replicates
ANY_REJECTED, ANSWERED = "any_rejected", "answered"
BOTH = "biases"  # the quantity of self- and family-biases together


def try_estimators(
    world: MonteCarloWorld, names: Sequence[str], *, key: str, replicates: int, draws: int, confidence: float, seed: int
) -> list[dict]:
    """Try the estimators `names` on draws of a world, and list the rows of the table of a world.

    Statistics of a coefficient: `rejected`, share of replicates with p <= 1 - confidence; `covered`, share whose interval
    contains the planted value; `bias`, mean estimate less the planted value; `spread`, standard deviation of the estimates. The
    term ALL is the mean over all judges or families with the same planted value, of a replicate over those that the estimator
    did not refuse; for these, `any_rejected` is the share of replicates that reject at least one (of both, with the quantity
    BOTH). The term ALL_JUDGES is a test of the mean self-bias. `answered`, for both terms, is the share of an estimator's tests
    that it did not refuse. mc_error is the standard error over replicates; for a
    mean over coefficients it is that of the replicates' means, since coefficients of one draw are not independent.
    Replicate r of the world `key` is drawn from SeedSequence(seed, spawn_key=(crc32 of key, r)), and so does not depend on
    other worlds or the number of replicates.
    """
    coefficients = [(quantity, *planted) for quantity, values in world.planted.items() for planted in values.items()]
    coefficients.append(("self_bias", ALL_JUDGES, float(np.mean(list(world.planted["self_bias"].values())))))
    answers = np.full((len(names), replicates, len(coefficients), len(NOTHING)), np.nan)
    kept = {}
    for replicate in steps(range(replicates), key, unit="worlds"):
        sequence = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(key.encode()), replicate))
        for_world, for_estimators = sequence.spawn(2)
        study = world.draw(np.random.default_rng(for_world))
        trial = Trial(study, confidence, int(for_estimators.generate_state(1)[0]), draws, kept)
        for place, name in enumerate(names):
            by_term = ESTIMATORS[name].answers(trial) if ESTIMATORS[name].estimand != A or study.has_human_scores else {}
            answers[place, replicate] = [by_term.get((quantity, term), NOTHING) for quantity, term, _ in coefficients]
    return [
        {"estimator": name, "estimand": ESTIMATORS[name].estimand, **row}
        for name, numbers in zip(names, answers, strict=True)
        for row in _statistics(coefficients, numbers, confidence, ESTIMATORS[name].tests)
    ]


def _statistics(coefficients: Sequence[tuple], answers: np.ndarray, confidence: float, tests: Sequence[str]) -> Iterator[dict]:
    """Rows of one estimator, with its `tests`; answers: (replicates, coefficients, 4)."""
    planted = np.array([value for *_, value in coefficients])
    estimate, low, high, p_value = np.moveaxis(answers, -1, 0)  # (replicates, coefficients) each
    rejected = np.where(np.isnan(p_value), np.nan, p_value <= 1 - confidence + ROUNDING)
    covered = np.where(np.isnan(low + high), np.nan, (low <= planted) & (planted <= high))
    values = {  # of some coefficients, (replicates,)
        REJECTED: lambda places: _means(rejected[:, places]),
        COVERED: lambda places: _means(covered[:, places]),
        BIAS: lambda places: _means((estimate - planted)[:, places]),
        SPREAD: lambda places: estimate[:, places[0]],
        ANY_REJECTED: lambda places: rejected[:, places].max(axis=1),  # NaN if one is
        ANSWERED: lambda places: (~np.isnan(p_value[:, places])).mean(axis=1),
    }
    groups = {key: [place] for place, key in enumerate(coefficients)}
    for place, (quantity, term, value) in enumerate(coefficients):
        if term != ALL_JUDGES:
            groups.setdefault((quantity, ALL, value), []).append(place)
    for value in dict.fromkeys(planted.tolist()):
        parts = [groups[name, ALL, value] for name in BIASES if (name, ALL, value) in groups]
        if len(parts) > 1:
            groups[BOTH, ALL, value] = [place for places in parts for place in places]
    for (quantity, term, value), places in groups.items():
        names = (REJECTED, COVERED, BIAS, ANY_REJECTED if term == ALL else SPREAD, *([ANSWERED] if term in tests else []))
        for name in names if quantity != BOTH else (ANY_REJECTED,):
            column = values[name](places)
            finite = column[~np.isnan(column)]
            if len(finite) > 1:
                spread = float(finite.std(ddof=1))
                number, weight = (spread, 2 * (len(finite) - 1)) if name == SPREAD else (float(finite.mean()), len(finite))
                row = {"quantity": quantity, "term": term, "planted": value, "statistic": name, "value": number}
                yield row | {"mc_error": spread / float(np.sqrt(weight)), "replicates": len(finite)}


def _means(values: np.ndarray) -> np.ndarray:
    """Mean of each replicate, (replicates,), over those of its `values`, (replicates, coefficients), that are not NaN."""
    is_number = ~np.isnan(values)
    count = is_number.sum(axis=1)
    return np.where(count, np.where(is_number, values, 0.0).sum(axis=1), np.nan) / np.maximum(count, 1)


# Table -> its statistics, and whether the biases are planted; None: all biases.
TABLES = {
    "size": ((REJECTED, ANY_REJECTED, ANSWERED), False),
    "power": ((REJECTED, ANY_REJECTED, ANSWERED), True),
    "bias": ((BIAS, SPREAD), None),
    "coverage": ((COVERED,), None),
}


def dials_of(settings: Mapping, grid: str, setting: str) -> dict:
    """The dials of one world: those of `world`, those of the grid, and its value of the dial that differs."""
    declared = settings["grids"][grid]
    value = next(value for value in declared["values"] if str(value) == setting)
    return {**settings["world"], **declared.get("world", {}), declared["dial"]: value}


def estimators_of(settings: Mapping, grid: str) -> Sequence[str]:
    """The estimators tried in the worlds of a grid."""
    return settings["grids"][grid].get("estimators", settings["estimators"])


def grids_of_self_bias(settings: Mapping) -> list[str]:
    """Grids of tables/worlds.csv: their dial is one self-bias of all judges. Other figures show them for power alone."""
    return [name for name, grid in settings["grids"].items() if grid["dial"] == "self_bias"]


def drawing_of(settings: Mapping, statistic: str, confidence: float) -> dict[str, dict]:
    """What the script of figures needs to know about that of a statistic, under its name."""
    return {
        statistic: {
            "draw": f"recuse.plot.montecarlo:{'worlds' if statistic == 'worlds' else 'montecarlo'}",
            "title": f"Estimators of self-bias on simulated worlds: {statistic}",
            "subject": {"models": {}, "families": {}, "label": "simulated worlds", "kind": "simulated"},
            "settings": figure_settings(settings, statistic, confidence),
            "inputs": {"table": f"results/montecarlo/tables/{statistic}.csv"},
        }
    }


def figure_settings(settings: Mapping, statistic: str, confidence: float) -> dict:
    """What the figure of a statistic says of the worlds and the estimators in it."""
    common = {"world": world_in_words(settings["world"]), "confidence": confidence}
    if statistic == "worlds":
        return {**common, "estimators": settings["estimators"]}
    of_self_bias = grids_of_self_bias(settings)
    drawn = {name: grid for name, grid in settings["grids"].items() if name not in of_self_bias}
    if statistic == "power":  # for which a self-bias must be planted
        biased = {name: [value for value in settings["grids"][name]["values"] if value] for name in of_self_bias}
        drawn |= {name: {**settings["grids"][name], "values": values} for name, values in biased.items() if values}
    grids = {
        name: {"title": grid["title"], "dials": dials_in_words(grid), "estimators": estimators_of(settings, name)}
        for name, grid in drawn.items()
    }
    return {**common, "name": statistic, "grids": grids}


def table(name: str, rows: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """The rows of one of TABLES among those of all worlds, as read."""
    statistics, planted = TABLES[name]
    return [row for row in rows if row["statistic"] in statistics and planted in (None, float(row["planted"]) != 0)]


def worlds_rows(rows: Iterable[Mapping[str, str]], titles: Mapping[str, str]) -> Iterator[dict]:
    """Yield the rows of the table of worlds: the tests of self-bias by each estimator in each of the grids in `titles`.

    Of the rows of all worlds, as read. `lowest`, `mean` and `highest` are the judges' shares of replicates that reject, each of
    those in which the judge's test was not refused, `pooled` that of the test of the mean over judges; `refused` and
    `pooled_refused` are the shares of tests that the estimator refused; mc_error is that of `mean`, without it of `pooled`.
    """
    kinds: dict[tuple, dict] = {}
    for row in rows:
        if row["grid"] in titles and row["quantity"] == "self_bias":
            key = row["grid"], row["setting"], row["estimator"]
            kinds.setdefault(key, {}).setdefault(row["statistic"], {})[row["term"]] = row
    for (grid, setting, estimator), kind in kinds.items():
        shares = {term: float(row["value"]) for term, row in kind.get(REJECTED, {}).items()}
        refused = {term: 1 - float(row["value"]) for term, row in kind.get(ANSWERED, {}).items()}
        judges = [share for term, share in shares.items() if term not in (ALL, ALL_JUDGES)]
        yield {
            **{"grid": grid, "title": titles[grid], "estimator": estimator, "planted": float(setting)},
            **{"lowest": min(judges, default=None), "mean": shares.get(ALL), "highest": max(judges, default=None)},
            **{"pooled": shares.get(ALL_JUDGES), "refused": refused.get(ALL), "pooled_refused": refused.get(ALL_JUDGES)},
            "mc_error": next((float(kind[REJECTED][term]["mc_error"]) for term in (ALL, ALL_JUDGES) if term in shares), None),
            "replicates": max(int(row["replicates"]) for by_term in kind.values() for row in by_term.values()),
        }
