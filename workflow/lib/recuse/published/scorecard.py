"""The scorecard of comparisons: what Saito, Li, Zeng, Koo, Chen and their co-authors print beside what a study finds.

The scorecard: each published value and claim of Play Favorites beside what a study finds.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from recuse.published.claims import ABSENT, FAILS, HOLDS, Results, Value
from recuse.published.values import DIMENSIONS, JUDGES, MAIN, Published, key_of_attack, second_answer

MATCH, DIFFERS = "match", "differs"
DRAWN = 1.3  # drawing units: a drawn value is good to one, and rounding its end points adds a little
ORDINAL = 2e-3  # log-odds by which the published fits, stopped at a loose tolerance, can miss their optimum
PRINTED = 0.005  # half a unit of the second decimal
ROUNDING = 1e-9  # a mean is a ratio of integers: what is nearer to a half is a half
# R's polr stops when the deviance changes by 1e-8 of itself: about 1e-4 here, as much as a hundredth of a standard error does.
EARLY = 0.01
SAMPLING = 2.576  # standard errors that hold 99 % of what chance does to simulated ratings
ORDINAL_FIGURE = "Figure 8"
SCORECARD_NOT_PLANTED = "simulated: this value is not planted"
NEARLY_PLANTED = "simulated: this value is not planted; judges' intercepts, slopes and dispersions are chosen to come near it"
NEARLY = ("Figure 6", "Pearson")  # figures that recuse.simulate.twin chooses such parameters by
SIMULATED_CLAIM = "simulated: no claim is planted as such"
# Of the 2160 self-biases by dimension of forty twins, seeds 1 to 40, 1.3 % are further than SAMPLING from what is planted; of
# the first ten's 2.0 %. HC0 errors come out a little small where few ratings are off the top.
SCORECARD_PLANTED = "simulated: this value is planted; one or two of a hundred such differ by chance"
# With one slope a judge for all dimensions, least squares finds an average: in those twins up to 0.0015 from the planted value.
PLANTED_POOLED = (
    "simulated: this value is planted in every dimension; the fit that pools them is expected near it, not at it: `planted` in "
    "recovery.csv says where"
)
EXACT_HALF = "an exact half, which rounds either way"
EARLY_STOP = "within the loose stop of the published fit and of its standard errors, a hundredth of a standard error"


@dataclass(frozen=True)
class ScorecardItem:
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


def _items(published: Published, results: Results) -> Iterator[ScorecardItem]:
    for row in published.estimates:
        key = {name: row[name] for name in ("figure", "spec", "slice", "estimand", "quantity", "term")}
        computation = ORDINAL if row["figure"] == ORDINAL_FIGURE else 0.0
        exactness = DRAWN * float(row["resolution"])
        ours = results.estimates.get((row["spec"], row["slice"], row["quantity"], row["term"]))
        value = _value_of_scorecard(row, "estimate", "ci_low", "ci_high")
        yield ScorecardItem({"item": "estimate", **key}, value, exactness, ours, computation)
    for row in published.mean_scores:
        key = {"figure": row["figure"], "slice": row["dimension"], "term": row["judge"], "model": row["model"]}
        ours = results.means.get((row["dimension"], row["judge"], row["model"]))
        yield ScorecardItem(
            {"item": "mean_score", **key, "quantity": "mean"}, _value_of_scorecard(row, "mean"), PRINTED + ROUNDING, ours
        )
    for row in published.correlations:
        key = {"figure": row["figure"], "slice": row["dimension"], "quantity": row["statistic"], "term": row["judge"]}
        ours = results.correlations.get((row["dimension"], row["judge"], row["statistic"]))
        yield ScorecardItem(
            {"item": "correlation", **key}, _value_of_scorecard(row, "value"), DRAWN * float(row["resolution"]), ours
        )


def _value_of_scorecard(row: Mapping[str, str], column: str, low: str = "", high: str = "") -> Value:
    return Value(float(row[column]), ci_low=float(row[low]), ci_high=float(row[high])) if low else Value(float(row[column]))


def _missing(item: ScorecardItem, results: Results) -> str:
    """Why the study has no data for a published value; empty if it has."""
    if results.judges != set(JUDGES) or results.models != set(JUDGES):
        return "the study has other judges or models than the paper"
    if item.key["slice"] in DIMENSIONS:
        if item.key["slice"] not in results.dimensions:
            return f"the study has no ratings of {item.key['slice']}"
    elif results.dimensions != set(DIMENSIONS):
        return f"pools the paper's six dimensions; the study has {len(results.dimensions)}"
    return "" if item.ours else "the study's tables have no such value with an interval"


def _compared(item: ScorecardItem, kind: str) -> dict:
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


def _cause(item: ScorecardItem, kind: str, verdict: str, difference: float) -> str:
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
        return SCORECARD_PLANTED
    if (key.get("spec"), key["quantity"]) == ("main", "family_bias"):
        return PLANTED_POOLED
    return NEARLY_PLANTED if key["figure"] in NEARLY else SCORECARD_NOT_PLANTED


def _of_claim(claim: Mapping[str, str]) -> str:
    if claim["verdict"] == ABSENT:
        return claim["evidence"]
    theirs = "" if claim["published"] == ABSENT else f"on the published values it {claim['published']}"
    return "; ".join(filter(None, [SIMULATED_CLAIM if claim["kind"] == "simulated" else "", theirs]))


def _numbers(name: str, value: Value) -> dict[str, float]:
    return {name: value.value, f"{name}_ci_low": value.ci_low, f"{name}_ci_high": value.ci_high}


Rows = Sequence[Mapping[str, str]]
Tables = Mapping[str, Rows]
Row = Mapping[str, str]
Key = tuple[str, ...]
ATTACKS = "judgement_bias"  # the source whose published values are Chen et al.'s tables
NO_VALUE = "the study's tables have no such value"
OTHER_RANKED = "ours is a rank among other judges, or over other columns, than the paper's"
OTHER_VOTES = "other votes than the paper's, which are not released"
PLANTED = "simulated: this value is planted; one of a hundred such differs by chance"
SIMULATED = "simulated: this value is not planted"
NOT_PLANTED = {
    "ranks": f"{SIMULATED}; it follows from the success rates, which chance moves",
    "rank": f"{SIMULATED}; it follows from the success rates, which chance moves",
    "votes_by_position": f"{SIMULATED}; votes by place are chosen to come near it",
    "vote_shares": f"{SIMULATED}; the votes of the control group are chosen to come near it",
}
# Which of the settings that RBO is computed under is the authors': the first release, ties in the files' order.
RBO = {"form": "truncated", "systems": "15", "ties": "listed"}
WITH_INTERVAL = ("verbosity_bias", "value", "asr", "difference")  # columns that a row's ci_low and ci_high are of


@dataclass(frozen=True)
class Item:
    """A printed value, its key in the scorecard, and what the study has for it: None, or a value with its interval.

    planted: whether a simulated study plants it; n: how many samples ours is a share of, then. comparable: whether it can be
    judged by what a study has; remark: why not, or what else there is to know of it.
    """

    key: Mapping[str, str]
    printed: str
    ours: Value | None
    planted: bool = False
    n: int = 0
    comparable: bool = True
    remark: str = ""


def scorecard_of_comparisons(
    published: Rows, attacks: Rows, tables: Tables, *, study: str, source: str, kind: str
) -> Iterator[dict]:
    """Yield the rows of the scorecard (SCORECARD of `recuse.base.tables`) of a study of comparisons.

    deviation = (ours - published) / tolerance; a match has one of at most 1. tolerance: half a unit of the last printed digit;
    of a success rate in other votes than the paper's - a user's, or simulated with the printed value p planted - 2.576 standard
    errors sqrt(p (1 - p) / n) more. A value of other data is shown beside ours, but not judged; nor is anything but the success
    rates of such votes.

    published: rows of the file of published values (source, place, condition, quantity, judge, value, comparable, remark), of
    which those of `source` are taken. attacks: those of Chen et al. (see `read_attacks`), taken if `source` is theirs. tables:
    rows of the study's tables, texts, by the tables' names. kind of the study's verdicts: simulated, published or user.
    """
    items = [_item(row, tables) for row in published if row["source"] == source]
    if source == ATTACKS:
        rates = Rates.of(attacks, tables.get("asr", ()))
        items += [item for row in attacks for item in _of_attacks(row, rates, tables)]
    for item in items:
        row = {"study": study, **item.key, "published": float(item.printed), **_ours(item.ours)}
        unjudged = _why_unjudged(item, kind)
        yield row | ({"verdict": ABSENT, "cause": unjudged} if unjudged else _judged(item, item.ours.value, kind))


def _why_unjudged(item: Item, kind: str) -> str:
    """Why ours says nothing of the printed value; empty if it does."""
    if not item.comparable:
        return item.remark
    if item.ours is None:
        return NO_VALUE
    if kind == "published" or item.planted:
        return ""
    return OTHER_VOTES if kind == "user" else NOT_PLANTED.get(item.key["item"], SIMULATED)


def _judged(item: Item, ours: float, kind: str) -> dict:
    """Deviation in units of the tolerance, the verdict and its cause."""
    published = float(item.printed)
    exactness = 0.5 * 10.0 ** -len(item.printed.partition(".")[2]) + ROUNDING
    chance = 0.0 if kind == "published" else SAMPLING * sqrt(published * (1 - published) / item.n)
    tolerance = exactness + chance
    verdict = MATCH if abs(ours - published) <= tolerance else DIFFERS
    known = {"simulated": PLANTED, "user": OTHER_VOTES, "published": "unknown" if verdict == DIFFERS else ""}[kind]
    cause = "; ".join(filter(None, [known, item.remark]))
    return {"deviation": (ours - published) / tolerance, "tolerance": tolerance, "verdict": verdict, "cause": cause}


def _ours(value: Value | None) -> dict[str, float]:
    return {"ours": value.value, "ours_ci_low": value.ci_low, "ours_ci_high": value.ci_high} if value else {}


def _item(row: Row, tables: Tables) -> Item:
    """A value of the file of published values, and the row of the table that its quantity is in."""
    where = {"condition": row["condition"], "judge": row["judge"]}
    table, key, column = {
        "verbosity_bias": ("verbosity", {**where, "order": "debiased", "draws": "excluded"}, "verbosity_bias"),
        "agreement": ("agreement", {**where, "order": "pooled"}, "value"),
        "share_biased": ("cognitive_biases", {"judge": row["judge"]}, "share"),  # of all judges: none of the table's rows
    }.get(row["quantity"], ("rbo", {**RBO, "statistic": row["quantity"], "judge": row["judge"]}, "value"))
    found = _only(tables.get(table, ()), lambda candidate: all(candidate[name] == key[name] for name in key))
    names = {"figure": row["place"], "slice": row["condition"], "quantity": row["quantity"], "term": row["judge"]}
    judged = row["comparable"] == "yes"
    return Item({"item": table, **names}, row["value"], _value(found, column), comparable=judged, remark=row["remark"])


@dataclass(frozen=True)
class Rates:
    """Attack success rates, printed and the study's own, by what they are matched by: `key`, see `key_of_attack`."""

    key: Callable[[Row], Key]
    printed: Mapping[Key, Row]
    own: Mapping[Key, Row]

    @classmethod
    def of(cls, attacks: Rows, asr: Rows) -> "Rates":
        """Those of the published rows that are success rates, and of the rows of the study's table that hold one."""
        printed = [row for row in attacks if row["quantity"] == "asr"]
        key = key_of_attack(printed, asr)
        return cls(key, {key(row): row for row in printed}, {key(row): row for row in asr if row["asr"]})

    def of_the_same(self, chosen: Callable[[Key], bool]) -> bool:
        """Whether the study has rates of the same judges in the same columns as printed, among those chosen."""
        return set(filter(chosen, self.printed)) == set(filter(chosen, self.own))


def _of_attacks(row: Row, rates: Rates, tables: Tables) -> Iterator[Item]:
    """A value of Chen et al.'s tables, and with a success rate its printed rank, if it has one."""
    quantity = row["quantity"]
    figure = f"Chen et al., Table {row['table']}"
    key = {"figure": figure, "slice": row["condition"], "quantity": quantity, "term": row["judge"]}
    if quantity == "asr":
        yield from _rate_and_rank(row, rates, key | {"item": "asr", "model": row["model_b"]})
    elif quantity == "average_rank":
        found = _only(tables.get("ranks", ()), lambda other: _same(row, other, "experiment", "judge"))
        same = rates.of_the_same(lambda attack: attack[0] == row["experiment"])
        yield _ranked(key | {"item": "ranks", "slice": row["experiment"]}, row["value"], _value(found, "average_rank"), same)
    elif quantity in ("a", "b"):
        shares = _weak_shares(row, rates, tables.get("vote_shares", ()))
        ours = Value(sum(shares) / len(shares)) if shares else None
        yield Item(key | {"item": "vote_shares"}, row["value"], ours)
    else:
        where = {"experiment": MAIN, "judge": row["judge"]}
        found = _only(tables.get("votes_by_position", ()), lambda other: _same(where, other, *where))
        yield Item(key | {"item": "votes_by_position"}, row["value"], _value(found, quantity))


def _rate_and_rank(row: Row, rates: Rates, key: dict[str, str]) -> Iterator[Item]:
    attack = rates.key(row)
    found = rates.own.get(attack)
    yield Item(key, row["value"], _value(found, "asr"), planted=True, n=int(found["n"]) if found else 0)
    if row["printed_rank"]:
        same = rates.of_the_same(lambda other: _column(other) == _column(attack))
        yield _ranked(key | {"item": "rank", "quantity": "rank"}, row["printed_rank"], _value(found, "rank"), same)


def _ranked(key: Mapping[str, str], printed: str, ours: Value | None, same: bool) -> Item:
    """A rank or an average rank; `same`: whether ours is of the judges and columns that the printed one is of."""
    comparable = same or ours is None
    return Item(key, printed, ours, comparable=comparable, remark="" if comparable else OTHER_RANKED)


def _column(attack: Key) -> Key:
    """The key of an attack without its judge."""
    return attack[:2] + attack[3:]


def _weak_shares(row: Row, rates: Rates, shares: Rows) -> list[float]:
    """Shares of the control votes on the answers of each weaker model than the anchor's (Table 7 prints their average)."""
    own = second_answer(row["model_a"], row["model_a"])
    weaker = {other["model_b"] for other in rates.printed.values() if _same(row, other, "experiment")} - {own}
    same = ("experiment", "model_a", "judge")
    own_rows = [other for other in shares if _same(row, other, *same) and other["model_b"] in weaker]
    values = [float(other[row["quantity"]]) for other in own_rows if other[row["quantity"]]]
    return values if len(values) == len(weaker) else []


def _same(row: Row, other: Row, *names: str) -> bool:
    return all(row[name] == other[name] for name in names)


def _only(rows: Rows, chosen: Callable[[Row], bool]) -> Row | None:
    return next(filter(chosen, rows), None)


def _value(row: Row | None, column: str) -> Value | None:
    """The number in `column`, with the interval if it is the row's main one; None where there is none."""
    if row is None or not row[column]:
        return None
    ends = [float(row.get(name) or "nan") for name in ("ci_low", "ci_high")] if column in WITH_INTERVAL else []
    return Value(float(row[column]), **dict(zip(("ci_low", "ci_high"), ends, strict=False)))
