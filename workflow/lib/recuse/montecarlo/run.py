"""Estimators tried on a world, replicate by replicate: size, power, bias and coverage with their Monte Carlo errors.

Tables of what estimators did on a grid of worlds: size, power, bias and coverage, and what was expected of them.

Simulated worlds in words: what they have in common, and the dials of each grid.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from recuse.base.errors import ConfigError
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
            found = ESTIMATORS[name].answers(trial)
            answers[place, replicate] = [found.get((quantity, term), NOTHING) for quantity, term, _ in coefficients]
    return [
        {"estimator": name, "estimand": ESTIMATORS[name].estimand, **row}
        for name, found in zip(names, answers, strict=True)
        for row in _statistics(coefficients, found, confidence)
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
    kinds = dict.fromkeys((quantity, value) for quantity, term, value in coefficients if term != ALL_JUDGES)
    for quantity, value in kinds:
        own = [place for place, (q, term, v) in enumerate(coefficients) if (q, v) == (quantity, value) and term != ALL_JUDGES]
        about = {"quantity": quantity, "term": ALL, "planted": value}
        for statistic, each in values.items():
            yield from _mean({**about, "statistic": statistic}, each[:, own].mean(axis=1))
        yield from _mean({**about, "statistic": ANY_REJECTED}, values[REJECTED][:, own].max(axis=1))  # NaN if one is
        if not np.isnan(estimate[:, own]).all():
            yield from _mean({**about, "statistic": ANSWERED}, (~np.isnan(p_value[:, own])).mean(axis=1))
    for value in dict.fromkeys(value for *_, value in coefficients):
        own = [place for place, (_, term, v) in enumerate(coefficients) if v == value and term != ALL_JUDGES]
        if len({coefficients[place][0] for place in own}) > 1:
            about = {"quantity": BOTH, "term": ALL, "planted": value, "statistic": ANY_REJECTED}
            yield from _mean(about, values[REJECTED][:, own].max(axis=1))


def _mean(about: dict, values: np.ndarray) -> Iterator[dict]:
    """The mean of the replicates that have a value, (replicates,), and its standard error; no row where fewer than two have."""
    known = values[~np.isnan(values)]
    if len(known) > 1:
        error = float(known.std(ddof=1) / np.sqrt(len(known)))
        yield {**about, "value": float(known.mean()), "mc_error": error, "replicates": len(known)}


def _spread(about: dict, estimates: np.ndarray) -> Iterator[dict]:
    known = estimates[~np.isnan(estimates)]
    if len(known) > 1:
        spread = float(known.std(ddof=1))
        error = spread / np.sqrt(2 * (len(known) - 1))
        yield {**about, "statistic": SPREAD, "value": spread, "mc_error": error, "replicates": len(known)}


# Table -> its statistics, and whether they are of biases that are planted; None: of all.
TABLES = {
    "size": ((REJECTED, ANY_REJECTED, ANSWERED), False),
    "power": ((REJECTED, ANY_REJECTED, ANSWERED), True),
    "bias": ((BIAS, SPREAD), None),
    "coverage": ((COVERED,), None),
}
IN_ERRORS = "bias_in_errors"  # the bias as a multiple of its Monte Carlo error
AS_EXPECTED, OTHERWISE, NOT_TRIED = "as expected", "not as expected", "not tried"
UNDECIDED = "too few replicates to tell"  # beyond the range by less than so many Monte Carlo errors
ERRORS = 2


def dials_of(validity: Mapping, grid: str, setting: str) -> dict:
    """The dials of one world: of `world`, of the grid's own, and its value of the dial that differs."""
    settings = validity["grids"][grid]
    value = next(value for value in settings["values"] if str(value) == setting)
    return {**validity["world"], **settings.get("world", {}), settings["dial"]: value}


def estimators_of(validity: Mapping, grid: str) -> Sequence[str]:
    """What is tried in the worlds of a grid."""
    return validity["grids"][grid].get("estimators", validity["estimators"])


def check_validity(validity: Mapping) -> None:
    """Raise ConfigError where a grid sets its dial twice, or something is expected of a grid or estimator that is not there."""
    for name, grid in validity["grids"].items():
        if grid["dial"] in grid.get("world", {}):
            raise ConfigError(
                f"config: validity: grids: {name}: world: found {grid['dial']}, which is the dial that differs; leave it out"
            )
    for number, entry in enumerate(validity.get("expected", [])):
        where = f"config: validity: expected: {number}"
        if entry["grid"] not in validity["grids"]:
            raise ConfigError(f"{where}: grid: '{entry['grid']}' is not one of grids: {', '.join(validity['grids'])}")
        tried = estimators_of(validity, entry["grid"])
        if entry["estimator"] not in tried:
            raise ConfigError(f"{where}: estimator: '{entry['estimator']}' is not one of this grid's: {', '.join(tried)}")
        dials = dials_of(validity, entry["grid"], str(validity["grids"][entry["grid"]]["values"][0]))
        terms = ValidityWorld(**dials).planted.get(entry.get("quantity", "self_bias"), {})
        if "term" in entry and entry["term"] not in terms:
            raise ConfigError(
                f"{where}: term: '{entry['term']}' is not one of its worlds': {', '.join(terms) or 'there is none'}"
            )


def table(name: str, rows: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Of the rows of all worlds, as read, those of one of TABLES."""
    statistics, planted = TABLES[name]
    return [row for row in rows if row["statistic"] in statistics and planted in (None, float(row["planted"]) != 0)]


def compared(rows: Sequence[Mapping[str, str]], expected: Iterable[Mapping]) -> Iterator[dict]:
    """What is expected, beside what was found: a verdict for each entry, by whether the value is in the range.

    rows: of all worlds, as read. A world that is not in its grid, as in a shorter run, is not tried.
    """
    for entry in expected:
        quantity, statistic = entry.get("quantity", "self_bias"), entry["statistic"]
        about = {
            "grid": entry["grid"], "estimator": entry["estimator"], "quantity": quantity,
            "term": entry.get("term", ALL), "statistic": BIAS if statistic == IN_ERRORS else statistic,
        }  # fmt: skip
        found = [row for row in rows if all(row[key] == value for key, value in about.items())]
        # 30 and 30.0 are one value of a dial.
        found = [row for row in found if float(row["setting"]) == float(entry["value"])]
        if "term" not in entry:
            found = [row for row in found if float(row["planted"]) == entry.get("planted", 0.0)]
        low, high = map(float, entry["between"])
        about |= {"setting": f"{entry['value']:g}", "statistic": statistic, "low": low, "high": high}
        yield _verdict(about, found[0]) if found else {**about, "verdict": NOT_TRIED}


def _verdict(about: dict, found: Mapping[str, str]) -> dict:
    value, error = float(found["value"]), float(found["mc_error"])
    if about["statistic"] == IN_ERRORS:
        value, error = value / error, 1.0
    beyond = max(about["low"] - value, value - about["high"])
    verdict = AS_EXPECTED if beyond <= 0 else UNDECIDED if beyond < ERRORS * error else OTHERWISE
    known = {key: found[key] for key in ("dial", "estimand", "planted", "replicates")}
    return {**about, **known, "value": value, "mc_error": error, "verdict": verdict}


# Dials as a figure names them; what each does is in recuse.montecarlo.world.
DIALS = {
    "dimensions": "dimensions",
    "prompts": "prompts",
    "intercept": "judges' intercept",
    "slope": "judges' slope on the true score",
    "noise": "sd of the errors",
    "self_bias": "self-bias of every other judge",
    "family_bias": "bias of every other family",
    "taste": "sd of a judge's taste for a model",
    "shared_taste": "sd of all judges' taste for a model",
    "length_taste": "mean over judges of what a unit of length adds",
    "prompt_shock": "sd of what a prompt's ratings in a dimension share",
    "completion_shock": "sd of what a completion's ratings share",
    "judge_shock": "sd of what a judge's ratings of a prompt share",
    "quality_gap": "best model above the worst in true score by",
    "reliability": "reliability of the human scores",
    "ceiling": "ratings above 1 are 1",
    "missing": "mean share missing of judges' ratings of themselves",
}
SIZE = ("families", "prompts", "dimensions", "intercept", "slope", "noise")  # that every world has


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
        "are equally good, human scores exact, and nobody has a taste or a bias."
    )


def _others(dials: Mapping) -> str:
    found = {dial: value for dial, value in dials.items() if value is not False}
    return "; ".join(DIALS[dial] if value is True else f"{DIALS[dial]} {value:g}" for dial, value in found.items())
