"""The scorecard: each value that a paper prints beside what a study finds, of ratings and of comparisons; and each claim."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from recuse.published.attacks import MAIN, key_of_attack, second_answer
from recuse.published.claims import ABSENT, FAILS, HOLDS
from recuse.published.results import Results, Value
from recuse.published.values import DIMENSIONS, JUDGES, Published

MATCH, DIFFERS = "match", "differs"
DRAWN = 1.3  # drawing units: a drawn value is good to one, and rounding its end points adds a little
ORDINAL = 2e-3  # log-odds by which the published fits, stopped at a loose tolerance, can miss their optimum
PRINTED = 0.005  # half a unit of the second decimal
ROUNDING = 1e-9  # a mean is a ratio of integers: what is nearer to a half is a half
# R's polr stops when the deviance changes by 1e-8 of itself: about 1e-4 here, as much as a hundredth of a standard error does.
EARLY = 0.01
SAMPLING = 2.576  # standard errors that hold 99 % of what chance does to simulated ratings, or to other votes
ORDINAL_FIGURE = "Figure 8"
NEARLY = ("Figure 6", "Pearson")  # figures that recuse.simulate.twin chooses judges' parameters by
UNKNOWN = "unknown"
NOT_PLANTED = "simulated: this value is not planted"
NEARLY_PLANTED = f"{NOT_PLANTED}; judges' intercepts, slopes and dispersions are chosen to come near it"
SIMULATED_CLAIM = "simulated: no claim is planted as such"
# Of the 2160 self-biases by dimension of forty twins, seeds 1 to 40, 1.3 % are further than SAMPLING from what is planted; of
# the first ten's 2.0 %. HC0 errors come out a little small where few ratings are off the top.
PLANTED_RATINGS = "simulated: this value is planted; one or two of a hundred such differ by chance"
# With one slope a judge for all dimensions, least squares finds an average: in those twins up to 0.0015 from the planted value.
PLANTED_POOLED = (
    "simulated: this value is planted in every dimension; the fit that pools them is expected near it, not at it: `planted` in "
    "recovery.csv says where"
)
EXACT_HALF = "an exact half, which rounds either way"
EARLY_STOP = "within the loose stop of the published fit and of its standard errors, a hundredth of a standard error"
OTHER_RATINGS = "other ratings than the paper's"

ATTACKS = "judgement_bias"  # the source whose published values are Chen et al.'s tables
NO_VALUE = "the study's tables have no such value"
OTHER_RANKED = "ours is a rank among other judges, or over other columns, than the paper's"
OTHER_VOTES = "other votes than the paper's, which are not released"
PLANTED = "simulated: this value is planted; one of a hundred such differs by chance"
OF_RATES = f"{NOT_PLANTED}; it follows from the success rates, which chance moves"
WHY_NOT_PLANTED = {
    "ranks": OF_RATES,
    "rank": OF_RATES,
    "votes_by_position": f"{NOT_PLANTED}; votes by place are chosen to come near it",
    "vote_shares": f"{NOT_PLANTED}; the votes of the control group are chosen to come near it",
}
# Which of the settings that RBO is computed under is the authors': the first release, ties in the files' order.
RBO = {"form": "truncated", "systems": "15", "ties": "listed"}
WITH_INTERVAL = ("verbosity_bias", "value", "asr", "difference")  # columns that a row's ci_low and ci_high are of

Row = Mapping[str, str]
Rows = Sequence[Row]
Tables = Mapping[str, Rows]
Key = tuple[str, ...]


def scorecard(published: Published, results: Results, claims: Iterable[Mapping], *, study: str, kind: str) -> Iterator[dict]:
    """Yield the rows of the scorecard: every published estimate, mean score and correlation, then every claim.

    deviation = (ours - published) / tolerance, the largest in size of estimate and interval ends; a match has at most 1.
    tolerance: 1.3 drawing units (0.002 more for the ordinal fits; 0.005 for printed means). For a simulated study it is wider
    by 2.576 standard errors of ours (of a mean, the largest that scores between 0 and 1 can have), and the estimate alone is
    compared, as the width of intervals is not planted. A value that pools the paper's six dimensions is absent for a study of
    others, and every value is for a study of other models. kind: simulated, published or user. claims: rows of their table.
    """
    for key, value, exactness, ours in _values_of_ratings(published, results):
        row = {"study": study, **key, **_numbers("published", value)}
        missing = _missing(key["slice"], ours, results)
        yield row | ({"verdict": ABSENT, "cause": missing} if missing else _compare_rating(key, value, exactness, ours, kind))
    for claim in claims:
        row = {"study": study, "item": "claim", "figure": "Claims", "term": claim["claim"]}
        yield row | {"verdict": {HOLDS: MATCH, FAILS: DIFFERS}.get(claim["verdict"], ABSENT), "cause": _cause_of_claim(claim)}


def _values_of_ratings(published: Published, results: Results) -> Iterator[tuple[dict, Value, float, Value | None]]:
    """Key in the scorecard, published value, the largest error of reading it, and what the study has for it."""
    for row in published.estimates:
        key = {name: row[name] for name in ("figure", "spec", "slice", "estimand", "quantity", "term")}
        ours = results.estimates.get((row["spec"], row["slice"], row["quantity"], row["term"]))
        yield {"item": "estimate", **key}, Value.of_row(row, "estimate"), DRAWN * float(row["resolution"]), ours
    for row in published.mean_scores:
        key = {"item": "mean_score", "figure": row["figure"], "slice": row["dimension"], "quantity": "mean"}
        ours = results.means.get((row["dimension"], row["judge"], row["model"]))
        yield {**key, "term": row["judge"], "model": row["model"]}, Value.of_row(row, "mean"), PRINTED + ROUNDING, ours
    for row in published.correlations:
        key = {"item": "correlation", "figure": row["figure"], "slice": row["dimension"], "quantity": row["statistic"]}
        ours = results.correlations.get((row["dimension"], row["judge"], row["statistic"]))
        yield {**key, "term": row["judge"]}, Value.of_row(row, "value"), DRAWN * float(row["resolution"]), ours


def _missing(slice_: str, ours: Value | None, results: Results) -> str:
    """Why the study has no data for a published value; empty if it has."""
    if results.judges != set(JUDGES) or results.models != set(JUDGES):
        return "the study has other judges or models than the paper"
    if slice_ in DIMENSIONS:
        if slice_ not in results.dimensions:
            return f"the study has no ratings of {slice_}"
    elif results.dimensions != set(DIMENSIONS):
        return f"pools the paper's six dimensions; the study has {len(results.dimensions)}"
    return "" if ours else "the study's tables have no such value with an interval"


def _compare_rating(key: Row, published: Value, exactness: float, ours: Value, kind: str) -> dict:
    """Our numbers, the deviation in units of the tolerance, the verdict and its cause."""
    computation = ORDINAL if key["figure"] == ORDINAL_FIGURE else 0.0
    chance = SAMPLING * ours.std_error if kind == "simulated" and ours.std_error > 0 else 0.0
    differences = [ours.value - published.value]
    if kind != "simulated" and published.ci_low < published.ci_high:
        differences += [ours.ci_low - published.ci_low, ours.ci_high - published.ci_high]
    judged = _judged(differences, exactness + computation + chance)
    size = abs(max(differences, key=abs))
    if kind == "simulated":
        cause = _planted(key)
    elif computation and exactness < size <= EARLY * ours.std_error:
        cause = EARLY_STOP
    elif judged["verdict"] == DIFFERS:
        cause = OTHER_RATINGS if kind == "user" else UNKNOWN
    else:
        cause = EXACT_HALF if key["item"] == "mean_score" and size > PRINTED - ROUNDING else ""
    if judged["verdict"] == DIFFERS and abs(differences[0]) <= judged["tolerance"]:
        estimate, low, high = map(abs, differences)
        end = f"the {'lower' if low > high else 'upper'} end of the interval decides, {max(low, high):.2g} off"
        cause += f"; {end}: the estimate, {estimate:.2g} off, would match"
    return {**_numbers("ours", ours), **judged, "cause": cause}


def _judged(differences: Sequence[float], tolerance: float) -> dict:
    """The deviation, the difference that is largest in size in units of the tolerance, and the verdict."""
    difference = max(differences, key=abs)
    verdict = MATCH if abs(difference) <= tolerance else DIFFERS
    return {"deviation": difference / tolerance, "tolerance": tolerance, "verdict": verdict}


def _planted(key: Row) -> str:
    """What a simulated study says of a value of ratings."""
    if (key.get("spec"), key["quantity"]) == ("by_dimension", "self_bias"):
        return PLANTED_RATINGS
    if (key.get("spec"), key["quantity"]) == ("main", "family_bias"):
        return PLANTED_POOLED
    return NEARLY_PLANTED if key["figure"] in NEARLY else NOT_PLANTED


def _cause_of_claim(claim: Row) -> str:
    if claim["verdict"] == ABSENT:
        return claim["evidence"]
    published = "" if claim["published"] == ABSENT else f"on the published values it {claim['published']}"
    return "; ".join(filter(None, [SIMULATED_CLAIM if claim["kind"] == "simulated" else "", published]))


def _numbers(name: str, value: Value) -> dict[str, float]:
    return {name: value.value, f"{name}_ci_low": value.ci_low, f"{name}_ci_high": value.ci_high}


@dataclass(frozen=True)
class Item:
    """A printed value of comparisons and its key in the scorecard."""

    key: Row
    printed: str
    ours: Value | None  # what the study has for it
    planted: bool = False  # by a simulated study
    n: int = 0  # of a planted value: how many samples ours is a share of
    unjudged: str = ""  # why it cannot be judged by what a study has
    remark: str = ""


def scorecard_of_comparisons(
    published: Rows, attacks: Rows, tables: Tables, *, study: str, source: str, kind: str
) -> Iterator[dict]:
    """Yield the rows of the scorecard (SCORECARD of `recuse.base.tables`) of a study of comparisons.

    deviation = (ours - published) / tolerance; a match has at most 1. tolerance: half a unit of the last printed digit; of a
    success rate p in other votes than the paper's - a user's, or simulated with p planted - 2.576 sqrt(p (1 - p) / n) more.
    Nothing else of such votes is judged, nor a value of other data, which is shown beside ours.

    published: rows of the file of published values (source, place, condition, quantity, judge, value, comparable, remark), of
    which those of `source` are taken. attacks: see `read_attacks`, taken if `source` is theirs. tables: rows of the study's
    tables, texts, by name. kind of the study's verdicts: simulated, published or user.
    """
    items = [_of_verdicts(row, tables) for row in published if row["source"] == source]
    if source == ATTACKS:
        rates = Rates.of(attacks, tables.get("asr", ()))
        items += [item for row in attacks for item in _of_attacks(row, rates, tables)]
    for item in items:
        numbers = {"published": float(item.printed), **(_numbers("ours", item.ours) if item.ours else {})}
        row = {"study": study, **item.key, **numbers}
        unjudged = _why_unjudged(item, kind)
        yield row | ({"verdict": ABSENT, "cause": unjudged} if unjudged else _compare_print(item, kind))


def _why_unjudged(item: Item, kind: str) -> str:
    """Why ours says nothing of the printed value; empty if it does."""
    if item.unjudged or item.ours is None:
        return item.unjudged or NO_VALUE
    if kind == "published" or item.planted:
        return ""
    return OTHER_VOTES if kind == "user" else WHY_NOT_PLANTED.get(item.key["item"], NOT_PLANTED)


def _compare_print(item: Item, kind: str) -> dict:
    """Deviation in units of the tolerance, the verdict and its cause."""
    published = float(item.printed)
    exactness = 0.5 * 10.0 ** -len(item.printed.partition(".")[2]) + ROUNDING
    chance = 0.0 if kind == "published" else SAMPLING * sqrt(published * (1 - published) / item.n)
    judged = _judged([item.ours.value - published], exactness + chance)
    causes = {"simulated": PLANTED, "user": OTHER_VOTES, "published": UNKNOWN if judged["verdict"] == DIFFERS else ""}
    return judged | {"cause": "; ".join(filter(None, [causes[kind], item.remark]))}


def _of_verdicts(row: Row, tables: Tables) -> Item:
    """A value of the file of published values, and the row of the table that its quantity is in."""
    where = {"condition": row["condition"], "judge": row["judge"]}
    table, key, column = {
        "verbosity_bias": ("verbosity", {**where, "order": "debiased", "draws": "excluded"}, "verbosity_bias"),
        "agreement": ("agreement", {**where, "order": "pooled"}, "value"),
        "share_biased": ("cognitive_biases", {"judge": row["judge"]}, "share"),  # of all judges: none of the table's rows
    }.get(row["quantity"], ("rbo", {**RBO, "statistic": row["quantity"], "judge": row["judge"]}, "value"))
    names = {"figure": row["place"], "slice": row["condition"], "quantity": row["quantity"], "term": row["judge"]}
    ours = _value(_matching(tables.get(table, ()), key), column)
    notes = {"remark" if row["comparable"] == "yes" else "unjudged": row["remark"]}
    return Item({"item": table, **names}, row["value"], ours, **notes)


@dataclass(frozen=True)
class Rates:
    """Attack success rates, printed and the study's own, by what they are matched by: `key`, see `key_of_attack`."""

    key: Callable[[Row], Key]
    printed: Mapping[Key, Row]
    ours: Mapping[Key, Row]

    @classmethod
    def of(cls, attacks: Rows, asr: Rows) -> "Rates":
        """Those of the published rows that are success rates, and of the rows of the study's table that hold one."""
        printed = [row for row in attacks if row["quantity"] == "asr"]
        key = key_of_attack(printed, asr)
        return cls(key, {key(row): row for row in printed}, {key(row): row for row in asr if row["asr"]})

    def differ(self, chosen: Callable[[Key], bool]) -> bool:
        """Whether the study has rates of other judges or in other columns than printed, among those chosen."""
        return set(filter(chosen, self.printed)) != set(filter(chosen, self.ours))


def _of_attacks(row: Row, rates: Rates, tables: Tables) -> Iterator[Item]:
    """A value of Chen et al.'s tables, and with a success rate its printed rank, if it has one."""
    quantity, judge = row["quantity"], row["judge"]
    key = {"figure": f"Chen et al., Table {row['table']}", "slice": row["condition"], "quantity": quantity, "term": judge}
    if quantity == "asr":
        attack = rates.key(row)
        own = rates.ours.get(attack)
        of_rate = key | {"item": "asr", "model": row["model_b"]}
        yield Item(of_rate, row["value"], _value(own, "asr"), planted=True, n=int(own["n"]) if own else 0)
        if row["printed_rank"]:
            others = rates.differ(lambda other: (other[:2], other[3:]) == (attack[:2], attack[3:]))  # but for the judge
            yield _ranked(of_rate | {"item": "rank", "quantity": "rank"}, row["printed_rank"], _value(own, "rank"), others)
    elif quantity == "average_rank":
        own = _matching(tables.get("ranks", ()), {"experiment": row["experiment"], "judge": judge})
        others = rates.differ(lambda attack: attack[0] == row["experiment"])
        yield _ranked(key | {"item": "ranks", "slice": row["experiment"]}, row["value"], _value(own, "average_rank"), others)
    elif quantity in ("a", "b"):
        shares = _shares_of_weaker(row, rates, tables.get("vote_shares", ()))
        ours = Value(sum(shares) / len(shares)) if shares else None
        yield Item(key | {"item": "vote_shares"}, row["value"], ours)
    else:
        own = _matching(tables.get("votes_by_position", ()), {"experiment": MAIN, "judge": judge})
        yield Item(key | {"item": "votes_by_position"}, row["value"], _value(own, quantity))


def _ranked(key: Row, printed: str, ours: Value | None, others: bool) -> Item:
    """A rank or an average rank; `others`: whether ours is among other judges or columns than the printed one."""
    return Item(key, printed, ours, unjudged=OTHER_RANKED if ours and others else "")


def _shares_of_weaker(row: Row, rates: Rates, shares: Rows) -> list[float]:
    """Shares of the control votes on the answers of each weaker model than the anchor's (Table 7 prints their average)."""
    own = second_answer(row["model_a"], row["model_a"])
    weaker = {other["model_b"] for other in rates.printed.values() if other["experiment"] == row["experiment"]} - {own}
    same = {name: row[name] for name in ("experiment", "model_a", "judge")}
    values = [
        float(other[row["quantity"]])
        for other in shares
        if same.items() <= other.items() and other["model_b"] in weaker and other[row["quantity"]]
    ]
    return values if len(values) == len(weaker) else []


def _matching(rows: Rows, key: Row) -> Row | None:
    """The first row that has these values."""
    return next((row for row in rows if key.items() <= row.items()), None)


def _value(row: Row | None, column: str) -> Value | None:
    """The number in `column`, with the interval if it is the row's main one; None where there is none."""
    if row is None or not row[column]:
        return None
    return Value.of_row(row, column) if column in WITH_INTERVAL else Value(float(row[column]))
