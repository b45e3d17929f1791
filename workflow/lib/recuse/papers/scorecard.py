"""The scorecard: every value that a paper prints against what a study finds, for ratings and
comparisons; and every claim.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from recuse.base.tables import Row, column_names
from recuse.papers.attack_values import MAIN, attack_key, second_answer
from recuse.papers.claims import ABSENT, FAILS, HOLDS
from recuse.papers.results import KEYED, Results, Value
from recuse.papers.values import DIMENSIONS, JUDGES

SCORECARD = column_names(
    "study item figure spec slice estimand quantity term model",
    "published published_ci_low published_ci_high ours ours_ci_low ours_ci_high",
    "deviation tolerance verdict cause",
)

MATCH, DIFFERS = "match", "differs"
# Drawing units: a drawn value is good to one, and rounding its end points adds a little
DRAWN = 1.3
# log-odds by which the published fits, which stop at a loose tolerance, can miss their optimum
ORDINAL = 2e-3
PRINTED = 0.005  # half a unit of the second decimal
ROUNDING = 1e-9  # a mean is a ratio of integers: one this near to a half is a half
# R's polr stops when the deviance changes by 1e-8 of itself: about 1e-4 here, the change for a
# hundredth of a standard error.
EARLY = 0.01
# Standard errors that contain 99 % of chance differences in simulated ratings, or in other votes
SAMPLING = 2.576
NEARLY = ("Figure 6", "Pearson")  # figures by which recuse.papers.twin chooses judges' parameters
NOT_PLANTED = "simulated: this value is not planted"
NEARLY_PLANTED = f"{NOT_PLANTED}; the judges' parameters are chosen to come near it"
# Of the 2160 self-biases by dimension of forty twins, seeds 1 to 40, 1.4 % are further than
# SAMPLING from the published values; of those of the first ten, 1.9 %. HC0 errors come out a little
# small where few ratings are below the top.
EXPECTED = (
    "simulated: Equation 1 is expected to estimate this value; one or two in a hundred differ by"
    " chance"
)
EXACT_HALF = "an exact half, which rounds either way"
EARLY_STOP = (
    "within a hundredth of a standard error, by which the published fit and its standard errors may"
    " have stopped early"
)

ATTACKS = "judgement_bias"  # the source whose published values are Chen et al.'s tables
NO_VALUE = "the study's tables have no such value"
OTHER_RANKED = "our rank is among other judges, or over other columns, than the paper's"
OTHER_VOTES = "other votes than the paper's, which are not released"
PLANTED = "simulated: this value is planted; one in a hundred differs by chance"
WHY_NOT_PLANTED = {
    **dict.fromkeys(
        ("ranks", "rank"), f"{NOT_PLANTED}; it follows from the success rates, which vary by chance"
    ),
    "votes_by_position": f"{NOT_PLANTED}; votes by place are chosen to come near it",
    "vote_shares": f"{NOT_PLANTED}; the votes of the control group are chosen to come near it",
}
# The authors' own of the settings that RBO is computed under: the first release, ties in the files'
# order.
RBO = {"form": "truncated", "systems": "15", "ties": "listed"}
# Columns that a row's ci_low and ci_high are of
WITH_INTERVAL = ("verbosity_bias", "value", "asr", "difference")

# Table -> the item of the scorecard, and the columns of its key by those of the table
SCORED = {
    "estimates": (
        "estimate",
        {name: name for name in ("spec", "slice", "estimand", "quantity", "term")},
    ),
    "mean_scores": ("mean_score", {"slice": "dimension", "term": "judge", "model": "model"}),
    "correlations": (
        "correlation",
        {"slice": "dimension", "quantity": "statistic", "term": "judge"},
    ),
}

_Rows = Sequence[Row]
_Tables = Mapping[str, _Rows]


def scorecard(
    published: _Tables, results: Results, claims: Iterable[Mapping], *, study: str, kind: str
) -> Iterator[dict]:
    """Yield the rows of the scorecard: every published estimate, mean score and correlation, then
    every claim.

    deviation = (ours - published) / tolerance, the largest in size of estimate and interval ends; a
    match has at most 1. tolerance: 1.3 drawing units (0.002 more for the ordinal fits; 0.005 for
    printed means). For a simulated study it is wider by 2.576 standard errors of ours (of a mean,
    the largest that scores between 0 and 1 can have), and only the estimate is compared, because
    the width of intervals is not planted. A value that pools the paper's six dimensions is absent
    for a study of others, and every value is for a study of other models. kind: simulated,
    published or user. claims: rows of their table.
    """
    for key, value, exactness, ours in _values_of_ratings(published, results):
        row = {"study": study, **key, **_numbers("published", value)}
        missing = _missing(key["slice"], ours, results)
        yield row | (
            {"verdict": ABSENT, "cause": missing}
            if missing
            else _compare_rating(key, value, exactness, ours, kind)
        )
    for claim in claims:
        cause = claim["evidence"]
        if claim["verdict"] != ABSENT:
            simulated = (
                "simulated: no claim is planted as such" if claim["kind"] == "simulated" else ""
            )
            printed = (
                ""
                if claim["published"] == ABSENT
                else f"on the published values it {claim['published']}"
            )
            cause = "; ".join(filter(None, [simulated, printed]))
        row = {"study": study, "item": "claim", "figure": "Claims", "term": claim["claim"]}
        yield row | {
            "verdict": {HOLDS: MATCH, FAILS: DIFFERS}.get(claim["verdict"], ABSENT),
            "cause": cause,
        }


def _values_of_ratings(
    published: _Tables, results: Results
) -> Iterator[tuple[dict, Value, float, Value | None]]:
    """Key in the scorecard, published value, the largest error of reading it, and what the study
    has for it.
    """
    for table, (item, columns) in SCORED.items():
        column, names, _ = KEYED[table]
        for row in published[table]:
            key = {"item": item, "figure": row["figure"], "quantity": "mean"}
            key |= {name: row[figure_from_table] for name, figure_from_table in columns.items()}
            drawn = table != "mean_scores"
            exactness = DRAWN * float(row["resolution"]) if drawn else PRINTED + ROUNDING
            ours = getattr(results, table).get(tuple(row[name] for name in names))
            yield key, Value.from_row(row, column), exactness, ours


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
    computation = ORDINAL if key["figure"] == "Figure 8" else 0.0
    chance = SAMPLING * ours.std_error if kind == "simulated" and ours.std_error > 0 else 0.0
    differences = [ours.value - published.value]
    if kind != "simulated" and published.ci_low < published.ci_high:
        differences += [ours.ci_low - published.ci_low, ours.ci_high - published.ci_high]
    score = judged(differences, exactness + computation + chance)
    size = abs(max(differences, key=abs))
    if kind == "simulated":
        cause = _planted(key)
    elif computation and exactness < size <= EARLY * ours.std_error:
        cause = EARLY_STOP
    elif score["verdict"] == DIFFERS:
        cause = "other ratings than the paper's" if kind == "user" else "unknown"
    else:
        cause = EXACT_HALF if key["item"] == "mean_score" and size > PRINTED - ROUNDING else ""
    if score["verdict"] == DIFFERS and abs(differences[0]) <= score["tolerance"]:
        estimate, low, high = map(abs, differences)
        end = (
            f"the {'lower' if low > high else 'upper'} end of the interval decides,"
            f" {max(low, high):.2g} off"
        )
        cause += f"; {end}: the estimate, {estimate:.2g} off, would match"
    return {**_numbers("ours", ours), **score, "cause": cause}


def judged(differences: Sequence[float], tolerance: float) -> dict:
    """The deviation, the difference that is largest in size in units of the tolerance, and the
    verdict.
    """
    difference = max(differences, key=abs)
    verdict = MATCH if abs(difference) <= tolerance else DIFFERS
    return {"deviation": difference / tolerance, "tolerance": tolerance, "verdict": verdict}


def _planted(key: Row) -> str:
    """How a simulated study was made to have a value of ratings."""
    if (key.get("spec"), key["quantity"]) in (
        ("by_dimension", "self_bias"),
        ("main", "family_bias"),
    ):
        return EXPECTED
    return NEARLY_PLANTED if key["figure"] in NEARLY else NOT_PLANTED


def _numbers(name: str, value: Value) -> dict[str, float]:
    return {name: value.value, f"{name}_ci_low": value.ci_low, f"{name}_ci_high": value.ci_high}


@dataclass(frozen=True)
class Item:
    """A printed value of comparisons and its key in the scorecard."""

    key: Row
    printed: str
    ours: Value | None  # the study's value
    n: int = 0  # of a value that a simulated study plants: how many samples ours is a share of
    unjudged: str = ""  # why it cannot be judged by what a study has
    remark: str = ""


def scorecard_of_comparisons(
    published: _Rows, attacks: _Rows, tables: _Tables, *, study: str, source: str, kind: str
) -> Iterator[dict]:
    """Yield the rows of the scorecard (SCORECARD) of a study of comparisons.

    deviation = (ours - published) / tolerance; a match has at most 1. tolerance: half a unit of the
    last printed digit; for a success rate p in other votes than the paper's (a user's, or simulated
    with p planted) 2.576 sqrt(p (1 - p) / n) more. Other values from such votes, and values of
    other data, are shown beside ours but not judged.

    published: rows of the file of published values (source, place, condition, quantity, judge,
    value, comparable, remark), of which those of `source` are used. attacks: see `read_attacks`,
    used if `source` is theirs. tables: rows of the study's tables, texts, by name. kind of the
    study's verdicts: simulated, published or user.
    """
    items = [_of_verdicts(row, tables) for row in published if row["source"] == source]
    if source == ATTACKS:
        items += _of_attacks(attacks, tables)
    for item in items:
        printed = float(item.printed)
        ours = item.ours
        row = {
            "study": study,
            **item.key,
            "published": printed,
            **(_numbers("ours", ours) if ours else {}),
        }
        unjudged = item.unjudged
        if ours is None:
            unjudged = unjudged or NO_VALUE
        elif kind != "published" and not item.n:
            unjudged = unjudged or (
                OTHER_VOTES
                if kind == "user"
                else WHY_NOT_PLANTED.get(item.key["item"], NOT_PLANTED)
            )
        if unjudged:
            yield row | {"verdict": ABSENT, "cause": unjudged}
            continue
        exactness = 0.5 * 10.0 ** -len(item.printed.partition(".")[2]) + ROUNDING
        chance = 0.0 if kind == "published" else SAMPLING * sqrt(printed * (1 - printed) / item.n)
        score = judged([ours.value - printed], exactness + chance)
        unexplained = "unknown" if score["verdict"] == DIFFERS else ""
        cause = {"simulated": PLANTED, "user": OTHER_VOTES, "published": unexplained}[kind]
        yield row | score | {"cause": "; ".join(filter(None, [cause, item.remark]))}


def _of_verdicts(row: Row, tables: _Tables) -> Item:
    """A value of the file of published values, and the row of the table that its quantity is in."""
    condition = row["condition"]
    judge = row["judge"]
    quantity = row["quantity"]
    table, key, column = {
        "verbosity_bias": (
            "verbosity",
            {"condition": condition, "order": "debiased", "draws": "excluded"},
            "verbosity_bias",
        ),
        "agreement": ("agreement", {"condition": condition, "order": "pooled"}, "value"),
        # Of all judges: none of the table's rows
        "share_biased": ("cognitive_biases", {}, "share"),
    }.get(quantity, ("rbo", {**RBO, "statistic": quantity}, "value"))
    names = {
        "item": table,
        "figure": row["place"],
        "slice": condition,
        "quantity": quantity,
        "term": judge,
    }
    ours = _value(_matching(tables.get(table, ()), {**key, "judge": judge}), column)
    notes = {"remark" if row["comparable"] == "yes" else "unjudged": row["remark"]}
    return Item(names, row["value"], ours, **notes)


def _of_attacks(attacks: _Rows, tables: _Tables) -> Iterator[Item]:
    """The values of Chen et al.'s tables, a success rate with its printed rank, if it has one.

    A rank is judged if the study has rates of the same judges in the same columns.
    """
    printed = [row for row in attacks if row["quantity"] == "asr"]
    asr = tables.get("asr", ())
    key_for = attack_key(printed, asr)
    rates = {key_for(row): row for row in asr if row["asr"]}
    # (experiment, condition, judge, models) of one of the two
    differing = {key_for(row) for row in printed} ^ rates.keys()
    for row in attacks:
        quantity = row["quantity"]
        judge = row["judge"]
        experiment = row["experiment"]
        figure = f"Chen et al., Table {row['table']}"
        key = {"figure": figure, "slice": row["condition"], "quantity": quantity, "term": judge}
        if quantity == "asr":
            attack = key_for(row)
            rate = rates.get(attack)
            key["model"] = row["model_b"]
            yield Item(
                key | {"item": "asr"},
                row["value"],
                _value(rate, "asr"),
                n=int(rate["n"]) if rate else 0,
            )
            if row["printed_rank"]:
                # Whatever the judge
                others = any(
                    (other[:2], other[3:]) == (attack[:2], attack[3:]) for other in differing
                )
                key |= {"item": "rank", "quantity": "rank"}
                yield _ranked(key, row["printed_rank"], _value(rate, "rank"), others)
        elif quantity in ("a", "b"):
            # Table 7 prints the average over the weaker models than the anchor's.
            weaker = {other["model_b"] for other in printed if other["experiment"] == experiment}
            weaker -= {second_answer(row["model_a"], row["model_a"])}
            of_anchor = {name: row[name] for name in ("experiment", "model_a", "judge")}
            shares = [
                float(other[quantity])
                for other in tables.get("vote_shares", ())
                if of_anchor.items() <= other.items()
                and other["model_b"] in weaker
                and other[quantity]
            ]
            ours = (
                Value(sum(shares) / len(shares)) if shares and len(shares) == len(weaker) else None
            )
            yield Item(key | {"item": "vote_shares"}, row["value"], ours)
        else:
            ranked = quantity == "average_rank"
            table = "ranks" if ranked else "votes_by_position"
            where = {"experiment": experiment if ranked else MAIN, "judge": judge}
            ours = _value(_matching(tables.get(table, ()), where), quantity)
            if ranked:
                key["slice"] = experiment
            others = ranked and any(other[0] == experiment for other in differing)
            yield _ranked(key | {"item": table}, row["value"], ours, others)


def _ranked(key: Row, printed: str, ours: Value | None, others: bool) -> Item:
    """A rank or an average rank; `others`: whether ours is among other judges or columns than the
    printed one.
    """
    return Item(key, printed, ours, unjudged=OTHER_RANKED if ours and others else "")


def _matching(rows: _Rows, key: Row) -> Row | None:
    """The first row that has these values."""
    return next((row for row in rows if key.items() <= row.items()), None)


def _value(row: Row | None, column: str) -> Value | None:
    """The number in `column`, with the interval if it is the row's main one; None if there is
    none.
    """
    if row is None or not row[column]:
        return None
    return Value.from_row(row, column) if column in WITH_INTERVAL else Value(float(row[column]))
