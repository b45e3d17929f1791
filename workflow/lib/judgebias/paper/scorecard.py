"""The scorecard: each published value and claim of Play Favorites beside what a study finds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from judgebias.paper.claims import ABSENT, FAILS, HOLDS
from judgebias.paper.published import DIMENSIONS, JUDGES, Published
from judgebias.paper.results import Results, Value

MATCH, DIFFERS = "match", "differs"
DRAWN = 1.3  # drawing units: a drawn value is good to one, and rounding its end points adds a little
ORDINAL = 2e-3  # log-odds by which the published fits, stopped at a loose tolerance, can miss their optimum
PRINTED = 0.005  # half a unit of the second decimal
ROUNDING = 1e-9  # a mean is a ratio of integers: what is nearer to a half is a half
# R's polr stops when the deviance changes by 1e-8 of itself: about 1e-4 here, as much as a hundredth of a standard error does.
EARLY = 0.01
SAMPLING = 2.576  # standard errors that hold 99 % of what chance does to simulated ratings
ORDINAL_FIGURE = "Figure 8"
NOT_PLANTED = "simulated: this value is not planted"
NEARLY_PLANTED = "simulated: this value is not planted; judges' intercepts, slopes and dispersions are chosen to come near it"
NEARLY = ("Figure 6", "Pearson")  # figures that judgebias.simulation.twin chooses such parameters by
SIMULATED_CLAIM = "simulated: no claim is planted as such"
# Of the 2160 self-biases by dimension of forty twins, seeds 1 to 40, 1.3 % are further than SAMPLING from what is planted; of
# the first ten's 2.0 %. HC0 errors come out a little small where few ratings are off the top.
PLANTED = "simulated: this value is planted; one or two of a hundred such differ by chance"
# With one slope a judge for all dimensions, least squares finds an average: in those twins up to 0.0015 from the planted value.
PLANTED_POOLED = (
    "simulated: this value is planted in every dimension; the fit that pools them is expected near it, not at it: `planted` in "
    "recovery.csv says where"
)
EXACT_HALF = "an exact half, which rounds either way"
EARLY_STOP = "within the loose stop of the published fit and of its standard errors, a hundredth of a standard error"


@dataclass(frozen=True)
class Item:
    """A published value: its key in the scorecard, the number, how exact it is, and what the study has for it.

    `exactness`: the largest error of reading or printing it; `computation`: the largest that it was computed with; `ours`: None
    where the study has no such value.
    """

    key: Mapping[str, str]
    published: Value
    exactness: float
    ours: Value | None
    computation: float = 0.0


def scorecard(published: Published, results: Results, claims: Iterable[Mapping], *, study: str, kind: str) -> Iterator[dict]:
    """Yield the rows of the scorecard: every published estimate, mean score and correlation, then every claim.

    deviation = (ours - published) / tolerance, of estimate and interval ends the one that is largest in size; a match has one
    of at most 1. tolerance: 1.3 drawing units (0.002 more for the ordinal fits; 0.005 for printed means). For a simulated
    study it is wider by 2.576 standard errors of ours (of a mean, the largest that scores between 0 and 1 can have), and the
    estimate alone is compared, for the width of intervals is not planted. A value that pools the paper's six dimensions is
    absent for a study of others, and every value is for a study of other models.
    `kind`: simulated, published or user. `claims`: rows of the claims table.
    """
    for item in _items(published, results):
        missing = _missing(item, results)
        row = {"study": study, **item.key, **_numbers("published", item.published)}
        yield row | ({"verdict": ABSENT, "cause": missing} if missing else _compared(item, kind))
    for claim in claims:
        key = {"study": study, "item": "claim", "figure": "Claims", "term": claim["claim"]}
        yield {**key, "verdict": {HOLDS: MATCH, FAILS: DIFFERS}.get(claim["verdict"], ABSENT), "cause": _of_claim(claim)}


def _items(published: Published, results: Results) -> Iterator[Item]:
    for row in published.estimates:
        key = {name: row[name] for name in ("figure", "spec", "slice", "estimand", "quantity", "term")}
        computation = ORDINAL if row["figure"] == ORDINAL_FIGURE else 0.0
        exactness = DRAWN * float(row["resolution"])
        ours = results.estimates.get((row["spec"], row["slice"], row["quantity"], row["term"]))
        value = _value(row, "estimate", "ci_low", "ci_high")
        yield Item({"item": "estimate", **key}, value, exactness, ours, computation)
    for row in published.mean_scores:
        key = {"figure": row["figure"], "slice": row["dimension"], "term": row["judge"], "model": row["model"]}
        ours = results.means.get((row["dimension"], row["judge"], row["model"]))
        yield Item({"item": "mean_score", **key, "quantity": "mean"}, _value(row, "mean"), PRINTED + ROUNDING, ours)
    for row in published.correlations:
        key = {"figure": row["figure"], "slice": row["dimension"], "quantity": row["statistic"], "term": row["judge"]}
        ours = results.correlations.get((row["dimension"], row["judge"], row["statistic"]))
        yield Item({"item": "correlation", **key}, _value(row, "value"), DRAWN * float(row["resolution"]), ours)


def _value(row: Mapping[str, str], column: str, low: str = "", high: str = "") -> Value:
    return Value(float(row[column]), ci_low=float(row[low]), ci_high=float(row[high])) if low else Value(float(row[column]))


def _missing(item: Item, results: Results) -> str:
    """Why the study has no data for a published value; empty if it has."""
    if results.judges != set(JUDGES) or results.models != set(JUDGES):
        return "the study has other judges or models than the paper"
    if item.key["slice"] in DIMENSIONS:
        if item.key["slice"] not in results.dimensions:
            return f"the study has no ratings of {item.key['slice']}"
    elif results.dimensions != set(DIMENSIONS):
        return f"pools the paper's six dimensions; the study has {len(results.dimensions)}"
    return "" if item.ours else "the study's tables have no such value with an interval"


def _compared(item: Item, kind: str) -> dict:
    """Our numbers, the deviation in units of the tolerance, the verdict and its cause."""
    published, ours = item.published, item.ours
    chance = SAMPLING * ours.std_error if kind == "simulated" and ours.std_error > 0 else 0.0
    tolerance = item.exactness + item.computation + chance
    pairs = [(ours.value, published.value)]
    if kind != "simulated" and published.ci_low < published.ci_high:
        pairs += [(ours.ci_low, published.ci_low), (ours.ci_high, published.ci_high)]
    differences = [one - other for one, other in pairs]
    difference = max(differences, key=abs)
    verdict = MATCH if abs(difference) <= tolerance else DIFFERS
    cause = _cause(item, kind, verdict, abs(difference))
    if verdict == DIFFERS and abs(differences[0]) <= tolerance:
        cause += _end_that_decides(differences)
    return {
        **_numbers("ours", ours),
        "deviation": difference / tolerance,
        "tolerance": tolerance,
        "verdict": verdict,
        "cause": cause,
    }


def _cause(item: Item, kind: str, verdict: str, difference: float) -> str:
    """What is known of a difference; of a match, too, where it takes more than the value's own exactness."""
    if kind == "simulated":
        return _planted(item.key)
    if item.computation and item.exactness < difference <= EARLY * item.ours.std_error:
        return EARLY_STOP
    if verdict == DIFFERS:
        return "other ratings than the paper's" if kind == "user" else "unknown"
    return EXACT_HALF if item.key["item"] == "mean_score" and difference > PRINTED - ROUNDING else ""


def _end_that_decides(differences: Sequence[float]) -> str:
    """Say that an end of the interval differs where the estimate would match; differences: of estimate, lower and upper end."""
    estimate, low, high = map(abs, differences)
    end = "lower" if low > high else "upper"
    return f"; the {end} end of the interval decides, {max(low, high):.2g} off: the estimate, {estimate:.2g} off, would match"


def _planted(key: Mapping[str, str]) -> str:
    if (key.get("spec"), key["quantity"]) == ("by_dimension", "self_bias"):
        return PLANTED
    if (key.get("spec"), key["quantity"]) == ("main", "family_bias"):
        return PLANTED_POOLED
    return NEARLY_PLANTED if key["figure"] in NEARLY else NOT_PLANTED


def _of_claim(claim: Mapping[str, str]) -> str:
    if claim["verdict"] == ABSENT:
        return claim["evidence"]
    theirs = "" if claim["published"] == ABSENT else f"on the published values it {claim['published']}"
    return "; ".join(filter(None, [SIMULATED_CLAIM if claim["kind"] == "simulated" else "", theirs]))


def _numbers(name: str, value: Value) -> dict[str, float]:
    return {name: value.value, f"{name}_ci_low": value.ci_low, f"{name}_ci_high": value.ci_high}
