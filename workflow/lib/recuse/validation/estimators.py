"""Estimators and tests on simulated worlds: size, power, bias and coverage over replicates, with
Monte Carlo errors.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import nan
from typing import NamedTuple

import numpy as np

from recuse.base.log import steps
from recuse.base.tables import Row, column_names
from recuse.inference.idiosyncrasy import idiosyncrasies, idiosyncrasy_rows
from recuse.inference.measurement_error import MOMENTS, SplitRaters, correct, corrected_rows
from recuse.inference.reliability import one_way
from recuse.inference.robustness import ESTIMATES, Robustness, RobustnessCheck, Tables, conclusions
from recuse.inference.verdict import (
    AGAINST_JUDGES,
    AGAINST_PEOPLE,
    BEYOND,
    FOUND,
    Verdict,
    verdicts_on_ratings,
)
from recuse.model.design import ALL_JUDGES
from recuse.model.estimable import fitted_to
from recuse.model.estimates import estimate_rows, simultaneous
from recuse.model.fit import Coefficient, Fitted, fitted_slices
from recuse.model.least_squares import wald_p_value
from recuse.model.spec import BIASES, EQUATION_1, A, B, C, Spec, estimand_name
from recuse.validation.world import DIALS, RATERS, DrawnStudy, MonteCarloWorld, world_in_words

MONTECARLO = column_names(
    "grid dial setting estimator estimand quantity term planted statistic value mc_error",
    "replicates",
)
WORLDS = column_names(
    "grid title estimator planted lowest mean highest any any_or_family pooled refused",
    "pooled_refused mc_error replicates",
)


@dataclass
class Trial:
    """One draw, the level of the intervals, and the seed and number of the estimators' random
    draws.
    """

    study: DrawnStudy
    confidence: float
    seed: int
    draws: int
    _computed: dict = field(default_factory=dict)

    def once(self, key: object, compute: Callable):
        """What `compute` returns, computed once for this draw."""
        if key not in self._computed:
            self._computed[key] = compute()
        return self._computed[key]

    def coefficients(self, spec: Spec) -> list[Coefficient]:
        """Self- and family-biases of a spec."""
        return [row for row in self.fitted(spec).coefficients if row.quantity in BIASES]

    def fitted(self, spec: Spec) -> Fitted:
        """The fit of a spec to all rows."""
        spec = fitted_to(spec, self.study)
        (fitted,) = self.once(
            repr(spec), lambda: list(fitted_slices(spec, self.study, seed=self.seed))
        )
        return fitted


EQUATION = Spec.of("main")
WITH_LENGTH = Spec.of("length", length="prompt")
MODEL = Spec.of("model", terms=(*EQUATION_1, "model"))
MODEL_BY_DIMENSION = Spec.of("model_dimension", terms=(*EQUATION_1, "model:dimension"))
COMPLETION = Spec.of("completion", absorb="completion")
CHECKS = (  # that answer the questions of the verdict
    RobustnessCheck(AGAINST_PEOPLE, "", [EQUATION.name], ""),
    RobustnessCheck(AGAINST_JUDGES, "", [MODEL.name], ""),
    RobustnessCheck(BEYOND, "", [EQUATION.name], "", table="idiosyncrasy"),
)


class _Answer(NamedTuple):
    """What an estimator reports for one coefficient; NaN for what it does not report."""

    estimate: float = nan
    ci_low: float = nan
    ci_high: float = nan
    p_value: float = nan


NOTHING = _Answer()
POWER = 0.8  # of the detectable biases, which no statistic here uses
ALL = ""  # the term of the mean over all judges or families with the same planted value
# (quantity, term) -> answer; ALL_JUDGES is the mean self-bias
_Answers = Mapping[tuple[str, str], _Answer]


@dataclass(frozen=True)
class Estimator:
    """One entry of ESTIMATORS."""

    estimand: str  # as in the tables of estimates
    words: str
    answers: Callable[[Trial], _Answers]
    # Terms of its p-values: ALL, of single judges and families, or ALL_JUDGES
    tests: Sequence[str] = (ALL,)
    # Its p-values are of all self- and family-biases at once: none should be small where none is
    # biased
    at_once: bool = False


def _answers(rows: Iterable[Mapping]) -> _Answers:
    """The biases among rows of a table."""
    return {
        (row["quantity"], row["term"]): _Answer(*(row.get(name, nan) for name in _Answer._fields))
        for row in rows
        if row.get("quantity") in BIASES
    }


def _fit(spec: Spec, covariance: str, trial: Trial) -> _Answers:
    return _answers(_estimates(spec.changed(covariance=covariance), trial))


def _estimates(spec: Spec, trial: Trial) -> list[dict]:
    """The rows of the table of estimates, without spec and study."""
    return list(estimate_rows(spec, trial.fitted(spec), confidence=trial.confidence))


def _wild(spec: Spec, trial: Trial) -> _Answers:
    """p-values alone: where nothing is planted, an interval by inversion covers as often as the
    test does not reject.
    """
    rows = _tested(spec, trial)
    return {
        (row.quantity, row.term): _Answer(row.estimate, p_value=row.wild.p_value()) for row in rows
    }


def _max_t(spec: Spec, trial: Trial) -> _Answers:
    """Adjusted p-values of all self- and family-biases, one family of tests; without intervals, as
    in `_wild`.
    """
    rows = _tested(spec, trial)
    alone = [wald_p_value(row.estimate, row.std_error, row.df) for row in rows]
    p_values = simultaneous(rows, alone, confidence=trial.confidence)["max_t_p_value"]
    return {
        (row.quantity, row.term): _Answer(row.estimate, p_value=p)
        for row, p in zip(rows, p_values, strict=True)
    }


def _tested(spec: Spec, trial: Trial) -> list[Coefficient]:
    rows = trial.coefficients(spec.changed(covariance="CR1", wild=trial.draws))
    return [row for row in rows if row.wild is not None]


def _corrected(method: str, trial: Trial, *, of_raters: bool = False) -> _Answers:
    """With the planted reliability, or that which the raters show, by dimension."""
    study = trial.study
    reliability = dict.fromkeys(np.unique(study.factors["dimension"]).tolist(), study.reliability)
    for place, level in enumerate(reliability if of_raters else ()):
        scores = study.raters[:, place].reshape(-1, RATERS)
        reliability[level] = one_way(
            np.full(len(scores), RATERS), scores.sum(axis=1), (scores**2).sum(axis=1)
        ).mean

    def rows() -> list[dict]:
        return list(corrected_rows(EQUATION, study, reliability, confidence=trial.confidence))

    return _answers(
        row for row in trial.once(("corrected", of_raters), rows) if row.get("method") == method
    )


def _split_raters(trial: Trial) -> _Answers:
    study = trial.study.with_rater_errors()
    selection = WITH_LENGTH.selection
    moments = study.moments(selection)
    return _answers(
        correct(
            EQUATION,
            moments,
            study.row_blocks(selection, moments.factors),
            SplitRaters(),
            [({}, MOMENTS)],
            confidence=trial.confidence,
        )
    )


def _mixed(spec: Spec, trial: Trial) -> _Answers:
    return _answers(row for row in _rows_of_c(spec, trial) if not row["reason"])


def _rows_of_c(spec: Spec, trial: Trial) -> list[dict]:
    def rows() -> list[dict]:
        return list(
            idiosyncrasy_rows(idiosyncrasies(spec, trial.study), confidence=trial.confidence)
        )

    return trial.once(("mixed", spec.name), rows)


def _verdicts(trial: Trial) -> dict[tuple[str, str], Verdict]:
    """The verdict on each judge and family, by the conclusions from tables as a study has them."""
    specs = [spec.changed(covariance="CR1") for spec in (EQUATION, MODEL)]
    checks = CHECKS
    if not trial.study.has_human_scores:
        specs = specs[1:]
        checks = CHECKS[1:]
    estimates = []
    reasons = []
    for spec in specs:
        about = {"spec": spec.name, "slice": ""}
        estimates += [_as_read({**about, **row}) for row in _estimates(spec, trial)]
        for quantity, term, reason in trial.fitted(spec).not_estimable:
            reasons.append({**about, "quantity": quantity, "term": term, "reason": reason})
    beyond = [_as_read(row) for row in _rows_of_c(EQUATION, trial)]
    robustness = Robustness(
        checks,
        {spec.name: {"covariance": "CR1"} for spec in (EQUATION, MODEL)},
        trial.confidence,
        POWER,
    )
    rows = list(
        conclusions(
            robustness, Tables({ESTIMATES: estimates, "idiosyncrasy": beyond}, reasons), order={}
        )
    )
    judges = np.unique(trial.study.factors["judge"]).tolist()
    by_question = {check.name: check.name for check in checks}
    verdicts = verdicts_on_ratings(
        rows, judges, {}, checks=by_question, confidence=trial.confidence
    )
    return {(row["quantity"], row["term"]): Verdict(row["verdict"]) for row in verdicts}


def _as_read(row: Mapping) -> dict[str, str]:
    """A row as it is read from a table."""
    return {
        name: "" if value is None or value != value else str(value) for name, value in row.items()
    }


def _verdict(wanted: Sequence[Verdict], trial: Trial) -> _Answers:
    """A p-value of 0 for a bias with one of these verdicts, 1 for one with another."""
    verdicts = trial.once("verdicts", lambda: _verdicts(trial))
    return {
        bias: _Answer(p_value=float(verdict not in wanted)) for bias, verdict in verdicts.items()
    }


ESTIMATORS: dict[str, Estimator] = {
    "A_HC0": Estimator(A, "Equation 1, HC0", partial(_fit, EQUATION, "HC0")),
    "A_CR1": Estimator(A, "Equation 1, CR1", partial(_fit, EQUATION, "CR1")),
    "A_CR3": Estimator(A, "Equation 1, CR3", partial(_fit, EQUATION, "CR3")),
    "A_wild": Estimator(A, "Equation 1, wild bootstrap", partial(_wild, EQUATION)),
    "A_max_t": Estimator(A, "any of all, by max-t", partial(_max_t, EQUATION), at_once=True),
    "A_moments": Estimator(A, "corrected, known reliability", partial(_corrected, "moments")),
    "A_moments_of_raters": Estimator(
        A, "corrected, reliability from raters", partial(_corrected, "moments", of_raters=True)
    ),
    "A_split_raters": Estimator(A, "corrected by split raters", _split_raters),
    "A_length_CR1": Estimator(A, "Equation 1 with length, CR1", partial(_fit, WITH_LENGTH, "CR1")),
    "B_HC0": Estimator(B.format("model"), "model effects, HC0", partial(_fit, MODEL, "HC0")),
    "B_CR1": Estimator(B.format("model"), "model effects, CR1", partial(_fit, MODEL, "CR1")),
    "B_wild": Estimator(B.format("model"), "model effects, wild bootstrap", partial(_wild, MODEL)),
    "B_dimension_CR1": Estimator(
        estimand_name(MODEL_BY_DIMENSION),
        "model × dimension effects, CR1",
        partial(_fit, MODEL_BY_DIMENSION, "CR1"),
    ),
    "B_completion_CR1": Estimator(
        estimand_name(COMPLETION), "completion effects, CR1", partial(_fit, COMPLETION, "CR1")
    ),
    "C_mixed": Estimator(C, "mixed model", partial(_mixed, EQUATION), tests=(ALL, ALL_JUDGES)),
    "C_length_mixed": Estimator(
        C, "mixed model, with length", partial(_mixed, WITH_LENGTH), tests=(ALL, ALL_JUDGES)
    ),
    "established": Estimator("", "verdict: established", partial(_verdict, [Verdict.ESTABLISHED])),
    "likely": Estimator("", "verdict: established or likely", partial(_verdict, FOUND)),
    "inconclusive": Estimator(
        "", "verdict: inconclusive", partial(_verdict, [Verdict.INCONCLUSIVE])
    ),
}

ROUNDING = 1e-9  # a p-value by draws may equal the level
# Statistics over replicates
REJECTED, COVERED, BIAS, SPREAD = "rejected", "covered", "bias", "spread"
ANY_REJECTED, ANSWERED = "any_rejected", "answered"
BOTH = "biases"  # the quantity of self- and family-biases together


def try_estimators(
    world: MonteCarloWorld,
    names: Sequence[str],
    *,
    key: str,
    replicates: int,
    draws: int,
    confidence: float,
    seed: int,
) -> list[dict]:
    """Try the estimators `names` on draws of a world, and list the rows of the table of a world.

    Statistics of a coefficient: `rejected`, share of replicates with p <= 1 - confidence;
    `covered`, share whose interval contains the planted value; `bias`, mean estimate less the
    planted value; `spread`, standard deviation of the estimates. The term ALL is the mean over all
    judges or families with the same planted value, of a replicate over those that the estimator did
    not refuse; for these, `any_rejected` is the share of replicates that reject at least one (of
    both, with the quantity BOTH). The term ALL_JUDGES is a test of the mean self-bias. `answered`,
    for both terms, is the share of an estimator's tests that it did not refuse. mc_error is the
    standard error over replicates; for a mean over coefficients it is that of the replicates'
    means, since coefficients of one draw are not independent. Replicate r of the world `key` is
    drawn from SeedSequence(seed, spawn_key=(crc32 of key, r)), and so does not depend on other
    worlds or the number of replicates.
    """
    coefficients = [
        (quantity, *planted)
        for quantity, values in world.planted.items()
        for planted in values.items()
    ]
    coefficients.append(
        ("self_bias", ALL_JUDGES, float(np.mean(list(world.planted["self_bias"].values()))))
    )
    answers = np.full((len(names), replicates, len(coefficients), len(NOTHING)), np.nan)
    for replicate in steps(range(replicates), key, unit="worlds"):
        sequence = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(key.encode()), replicate))
        for_world, for_estimators = sequence.spawn(2)
        study = world.draw(np.random.default_rng(for_world))
        trial = Trial(study, confidence, int(for_estimators.generate_state(1)[0]), draws)
        for place, name in enumerate(names):
            by_term = (
                ESTIMATORS[name].answers(trial)
                if ESTIMATORS[name].estimand != A or study.has_human_scores
                else {}
            )
            answers[place, replicate] = [
                by_term.get((quantity, term), NOTHING) for quantity, term, _ in coefficients
            ]
    return [
        {"estimator": name, "estimand": ESTIMATORS[name].estimand, **row}
        for name, numbers in zip(names, answers, strict=True)
        for row in _statistics(coefficients, numbers, confidence, ESTIMATORS[name].tests)
    ]


def _statistics(
    coefficients: Sequence[tuple], answers: np.ndarray, confidence: float, tests: Sequence[str]
) -> Iterator[dict]:
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
        names = (
            REJECTED,
            COVERED,
            BIAS,
            ANY_REJECTED if term == ALL else SPREAD,
            *([ANSWERED] if term in tests else []),
        )
        for name in names if quantity != BOTH else (ANY_REJECTED,):
            column = values[name](places)
            finite = column[~np.isnan(column)]
            if len(finite) > 1:
                spread = float(finite.std(ddof=1))
                number, weight = (
                    (spread, 2 * (len(finite) - 1))
                    if name == SPREAD
                    else (float(finite.mean()), len(finite))
                )
                row = {
                    "quantity": quantity,
                    "term": term,
                    "planted": value,
                    "statistic": name,
                    "value": number,
                }
                yield row | {"mc_error": spread / float(np.sqrt(weight)), "replicates": len(finite)}


def _means(values: np.ndarray) -> np.ndarray:
    """Mean of each replicate, (replicates,), over those of its `values`, (replicates,
    coefficients), that are not NaN.
    """
    is_number = ~np.isnan(values)
    count = is_number.sum(axis=1)
    return np.where(count, np.where(is_number, values, 0.0).sum(axis=1), np.nan) / np.maximum(
        count, 1
    )


# Table -> its statistics, and whether the biases are planted; None: all biases.
TABLES = {
    "size": ((REJECTED, ANY_REJECTED, ANSWERED), False),
    "power": ((REJECTED, ANY_REJECTED, ANSWERED), True),
    "bias": ((BIAS, SPREAD), None),
    "coverage": ((COVERED,), None),
}


def world_dials(settings: Mapping, grid: str, setting: str) -> dict:
    """The dials of one world: those of `world`, those of the grid, and its value of the dial that
    differs.
    """
    declared = settings["grids"][grid]
    value = next(value for value in declared["values"] if str(value) == setting)
    return {**settings["world"], **declared.get("world", {}), declared["dial"]: value}


def grid_estimators(settings: Mapping, grid: str) -> Sequence[str]:
    """The estimators tried in the worlds of a grid."""
    return settings["grids"][grid].get("estimators", settings["estimators"])


def world_titles(settings: Mapping) -> dict[str, str]:
    """`grid/setting` -> the title of each world in the table of worlds: those of the grids that
    name no estimators.
    """
    titles = {}
    for name, grid in settings["grids"].items():
        for value in grid["values"] if "estimators" not in grid else ():
            of_dial = (
                ""
                if grid["dial"] == "self_bias" or len(grid["values"]) == 1
                else f", {DIALS[grid['dial']]} {value:g}"
            )
            titles[f"{name}/{value}"] = f"{grid['title']}{of_dial}"
    return titles


def worlds_figure(settings: Mapping, confidence: float) -> dict[str, dict]:
    """What the script of figures needs to know about the figure of worlds."""
    common = {"world": world_in_words(settings["world"]), "confidence": confidence}
    return {
        "worlds": {
            "draw": "recuse.validation.figure:worlds",
            "title": "Verdicts on simulated worlds",
            "subject": {
                "models": {},
                "families": {},
                "label": "simulated worlds",
                "kind": "simulated",
            },
            "settings": {**common, "estimators": settings["estimators"]},
            "inputs": {"table": "results/montecarlo/tables/worlds.csv"},
        }
    }


def table(name: str, rows: Iterable[Row]) -> list[Row]:
    """The rows of one of TABLES among those of all worlds, as read."""
    statistics, planted = TABLES[name]
    return [
        row
        for row in rows
        if row["statistic"] in statistics and planted in (None, float(row["planted"]) != 0)
    ]


def worlds_rows(rows: Iterable[Row], titles: Mapping[str, str]) -> Iterator[dict]:
    """Yield the rows of the table of worlds: how often each estimator, or verdict, names judges
    with one planted self-bias.

    rows: of all worlds, as read; titles: by `world_titles`. Shares are of replicates: `lowest`,
    `mean` and `highest` over the judges, `any` of them, `any_or_family` of them and the families
    with the same planted bias; `pooled` of the test of the mean over judges. An estimator's shares
    are of the tests that it did not refuse, `refused` says of how many it did; a verdict refuses
    none, as it may be inconclusive. mc_error is that of `mean`, without it of `pooled`.
    """
    kinds: dict[tuple, dict] = {}
    for row in rows:
        world = f"{row['grid']}/{row['setting']}"
        if world in titles and row["quantity"] in ("self_bias", BOTH):
            key = world, row["estimator"], float(row["planted"])
            kinds.setdefault(key, {})[row["statistic"], row["quantity"], row["term"]] = row
    for (world, estimator, planted), kind in kinds.items():
        about = {
            "grid": world.partition("/")[0],
            "title": titles[world],
            "estimator": estimator,
            "planted": planted,
        }
        yield about | _world_columns(kind)


def _world_columns(kind: Mapping[tuple[str, str, str], Row]) -> dict:
    """The numbers of one estimator in one world; kind: rows by statistic, quantity and term."""

    def share(statistic: str, term: str, quantity: str = "self_bias") -> float | None:
        row = kind.get((statistic, quantity, term))
        return None if row is None else float(row["value"])

    judges = []
    for statistic, quantity, term in kind:
        if (statistic, quantity) == (REJECTED, "self_bias") and term not in (ALL, ALL_JUDGES):
            judges.append(share(statistic, term))
    columns = {
        "lowest": min(judges, default=None),
        "mean": share(REJECTED, ALL),
        "highest": max(judges, default=None),
    }
    columns |= {"any": share(ANY_REJECTED, ALL), "any_or_family": share(ANY_REJECTED, ALL, BOTH)}
    columns["pooled"] = share(REJECTED, ALL_JUDGES)
    for name, term in (("refused", ALL), ("pooled_refused", ALL_JUDGES)):
        answered = share(ANSWERED, term)
        columns[name] = None if answered is None else 1 - answered
    tested = kind.get((REJECTED, "self_bias", ALL)) or kind.get((REJECTED, "self_bias", ALL_JUDGES))
    columns["mc_error"] = None if tested is None else float(tested["mc_error"])
    return columns | {"replicates": max(int(row["replicates"]) for row in kind.values())}
