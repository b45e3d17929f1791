"""Estimators tried on a world, replicate by replicate: size, power, bias and coverage with their Monte Carlo errors."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from recuse.base.log import steps
from recuse.model.design import ALL_JUDGES
from recuse.montecarlo.estimators import ESTIMATORS, NOTHING, Trial
from recuse.montecarlo.world import ValidityWorld

ALL = ""  # the term of the mean over all judges or families with the same planted value
ROUNDING = 1e-9  # a p-value by draws may be the level itself
# What is counted or averaged over replicates, from columns (estimate, ci_low, ci_high, p_value) and the planted value.
REJECTED, COVERED, BIAS, SPREAD, ANY_REJECTED = "rejected", "covered", "bias", "spread", "any_rejected"
ANSWERED = "answered"
BOTH = "biases"  # the quantity of what is said of self- and family-biases together


def try_estimators(
    world: ValidityWorld, names: Sequence[str], *, key: str, replicates: int, draws: int, confidence: float, seed: int
) -> list[dict]:
    """Try the estimators `names` on so many draws of a world; rows of estimator, estimand, quantity, term, planted, statistic,
    value, mc_error, replicates.

    Statistics of a coefficient: `rejected`, share of replicates with p <= 1 - confidence; `covered`, share whose interval holds
    what is planted; `bias`, mean estimate less what is planted; `spread`, standard deviation of the estimates. For all judges,
    or families, with the same planted value there is a row with the term ALL: the mean over them; and `any_rejected`, the share
    of replicates in which one of them at least is rejected, with the quantity BOTH of judges or families; and `answered`, the
    share of tests that there were, as an estimator may refuse. The term ALL_JUDGES is a test of the mean self-bias.
    mc_error is the standard error of the value over replicates, for the mean over coefficients that of the replicates' means,
    since coefficients of one draw are not independent.
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
            yield from _mean({**about, "statistic": statistic}, each[:, place])
        yield from _spread(about, estimate[:, place])
    single = [(place, *each) for place, each in enumerate(coefficients) if each[1] != ALL_JUDGES]
    for quantity, value in dict.fromkeys((quantity, value) for _, quantity, _, value in single):
        places = [place for place, *each in single if (each[0], each[2]) == (quantity, value)]
        about = {"quantity": quantity, "term": ALL, "planted": value}
        for statistic, each in values.items():
            yield from _mean({**about, "statistic": statistic}, each[:, places].mean(axis=1))
        yield from _mean({**about, "statistic": ANY_REJECTED}, values[REJECTED][:, places].max(axis=1))  # NaN if one is
        if not np.isnan(estimate[:, places]).all():
            yield from _mean({**about, "statistic": ANSWERED}, (~np.isnan(p_value[:, places])).mean(axis=1))
    for value in dict.fromkeys(value for *_, value in coefficients):
        places = [place for place, *_, planted_value in single if planted_value == value]
        if len({coefficients[place][0] for place in places}) > 1:
            about = {"quantity": BOTH, "term": ALL, "planted": value, "statistic": ANY_REJECTED}
            yield from _mean(about, values[REJECTED][:, places].max(axis=1))


def _mean(about: dict, values: np.ndarray) -> Iterator[dict]:
    """The mean of the replicates that have a value, (replicates,), and its standard error; no row where fewer than two have."""
    finite = values[~np.isnan(values)]
    if len(finite) > 1:
        error = float(finite.std(ddof=1) / np.sqrt(len(finite)))
        yield {**about, "value": float(finite.mean()), "mc_error": error, "replicates": len(finite)}


def _spread(about: dict, estimates: np.ndarray) -> Iterator[dict]:
    finite = estimates[~np.isnan(estimates)]
    if len(finite) > 1:
        spread = float(finite.std(ddof=1))
        error = spread / np.sqrt(2 * (len(finite) - 1))
        yield {**about, "statistic": SPREAD, "value": spread, "mc_error": error, "replicates": len(finite)}


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
