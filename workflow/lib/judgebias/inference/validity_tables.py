"""Tables of what estimators did on a grid of worlds: size, power, bias and coverage, and what was expected of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from judgebias.errors import ConfigError
from judgebias.inference.validity import ALL, ANSWERED, ANY_REJECTED, BIAS, COVERED, REJECTED, SPREAD
from judgebias.simulation.validity_world import ValidityWorld

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
