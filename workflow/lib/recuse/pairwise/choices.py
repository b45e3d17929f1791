"""How often a judge chooses its own, its family's and the longer answer, less how often the humans do in the same comparisons.

A judge whose own answers are better is right to choose them more often, so its share is compared with the humans' share; with
one half only where there are no humans, which does not hold quality fixed. From these differences follow a verdict on each
judge, and how the difference depends on errors in the human labels.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from recuse.base.database import Connection, create_table, text
from recuse.base.tables import CONTROL
from recuse.base.words import counted, signed
from recuse.inference.verdict import AGAINST_HUMANS, CANNOT_BE_TOLD, ESTABLISHED, NO_CLEAR_BIAS, SUGGESTIVE
from recuse.model.least_squares import holm, quantile, wald_p_value
from recuse.pairwise.questions import Group, bootstrap, groups_of, quotient, share_intervals

SELF, FAMILY, WINS, LONGER, FIRST = QUANTITIES = ("self_bias", "family_bias", "wins", "longer", "first")
HALF, EXCLUDED = DRAWS = ("half", "excluded")
MAIN = {SELF: HALF, FAMILY: HALF, WINS: HALF, LONGER: EXCLUDED, FIRST: EXCLUDED}  # how draws count, first of all
SWAYING = ("compassion", "bandwagon", "attentional")  # conditions made to sway a judge
# Of a comparison: what both orders agree on, or else a draw; the verdict of a single order.
VERDICT = "if(outcome_ab is null or outcome_ba is null, single, debiased)"
POINTS = "case {verdict} when '{side}' then 2 when 'tie' then 1 when null then null else 0 end"  # of the answer of a side
DECIDED = "judge_points <> 1 and human_points is distinct from 1"
COUNTS = {
    f"{draws} {name}": f"{sql} filter (where {counted})"
    for draws, counted in zip(DRAWS, ("true", DECIDED), strict=True)
    for name, sql in {"judge": "sum(judge_points)", "human": "sum(coalesce(human_points, 1))", "n": "count(*)"}.items()
}
FEW = 10  # questions
ROUNDING = 1e-9  # of sums of halves
FLIPS = tuple(step / 100 for step in range(26))  # rates of wrong human labels
SHOWN = FLIPS[::5]

NO_HUMANS = "no human labels, so quality is not held fixed (sizes: less one half)"
DEPENDS = "depends on draws"
ALL_DRAWS = "all its comparisons are draws"
STEADIER = "use a more consistent judge that calls fewer ties"
ASK_HUMANS = "have people judge some of these comparisons"
ABSENT = {  # quantity -> why a judge has no comparisons, and what to do
    SELF: ("none of its own answers is compared", "compare own answers too; other spellings of a name go under `ids`"),
    LONGER: ("no compared answers have lengths that differ", "add the lengths of the answers"),
    FIRST: ("no pair was judged in both orders", "judge each pair in both orders"),
}
ADVICE = {  # if there is a bias
    SELF: "do not rely on its verdicts on its own answers",
    FAMILY: "do not rely on verdicts on the family's answers",
    LONGER: "compare answers of similar length, or use another judge",
    FIRST: "keep judging both orders",
}


class Choices(NamedTuple):
    """The comparisons of each judge or family, summed by question."""

    groups: list[Group]  # by quantity, term and model, with COUNTS in `sums`
    judges: list[str]
    labelled: bool  # whether there are human labels
    votes: dict[tuple[str, str], dict[int, int]]  # comparisons by number of human votes that choose, of quantity and term
    agreeing: tuple[int, int]  # pairs of human votes on one comparison that choose the same answer, and all that choose


def choices_of(connection: Connection, families: Mapping[str, str]) -> Choices:
    """Count, for each judge and family, the points of answers of a kind, and the humans' in the same comparisons.

    connection: see `open_pairs`. families: family of each model; none where a model has no other of its family. An answer that
    wins has 2 points, one in a draw 1. A judge's verdict is what both orders agree on, or else a draw; that of a single order
    where there is one only. Left out are errors, conditions made to sway a judge, experiments with a control group and, if any
    comparison has a human label, those without. The terms of each of QUANTITIES are judges, of family_bias families:

    * self_bias: the judge's own answer against any other. wins: the answers of each other model, in the column `model`.
    * family_bias: answers of the other models of the judge's family against those of other families; all its judges together.
    * longer: the longer answer in words. first: the answer shown first, each verdict by itself, of pairs in both orders.

    Humans have one point, a draw, if no comparison has a label, and for `first`. Single human votes: see `label_noise`.
    """
    create_table(connection, "families", "name varchar, family varchar", list(families.items()))
    connection.execute(f"""
        create temp table compared as
        select *, {VERDICT} as verdict from pairs
        where condition not in ({", ".join(map(text, SWAYING))})
          and experiment not in (select experiment from pairs where condition = {text(CONTROL)})""")
    (labelled,) = connection.execute("select count(human) > 0 from compared").fetchone()
    sides = " union all ".join(
        f"""select judge, item, model_{side} as model, model_{other} as other, length_{side} > length_{other} as longer,
                   humans_a + humans_b as votes,
                   {POINTS.format(verdict="verdict", side=side)} as judge_points,
                   if(human is null, null, {POINTS.format(verdict="human", side=side)}) as human_points
            from compared where verdict <> 'error' and (human is not null or not {labelled})"""
        for side, other in ("ab", "ba")
    )
    first = " union all ".join(
        f"""select 'first', judge, '', item, {POINTS.format(verdict=f"outcome_{order}", side=order[0])}, null, null
            from compared where outcome_ab <> 'error' and outcome_ba <> 'error'"""
        for order in ("ab", "ba")
    )
    connection.execute(f"""
        create temp table choices as
        with sides as ({sides})
        select if(judge = model, 'self_bias', 'wins') as quantity, judge as term, model, item, judge_points, human_points, votes
        from sides
        union all
        select 'family_bias', judges.family, '', item, judge_points, human_points, votes
        from sides join families as judges on judges.name = judge join families as models on models.name = model
        left join families as others on others.name = other
        where judge <> model and judges.family = models.family and others.family is distinct from judges.family
        union all select 'longer', judge, '', item, judge_points, human_points, votes from sides where longer
        union all {first}""")
    counts = ", ".join(f'coalesce({sql}, 0) as "{name}"' for name, sql in COUNTS.items())
    query = f"select quantity, term, model, item, {counts} from choices group by all order by all"
    judges = [name for (name,) in connection.execute("select distinct judge from compared order by 1").fetchall()]
    votes: dict[tuple[str, str], dict[int, int]] = {}
    numbers = (
        "select quantity, term, votes, count(*) from choices where votes > 0 and quantity <> 'wins' group by all order by all"
    )
    for quantity, term, number, count in connection.execute(numbers).fetchall():
        votes.setdefault((quantity, term), {})[number] = count
    agreeing = connection.execute("""
        select coalesce(sum((humans_a * (humans_a - 1) + humans_b * (humans_b - 1)) / 2), 0)::bigint,
               coalesce(sum((humans_a + humans_b) * (humans_a + humans_b - 1) / 2), 0)::bigint
        from (select distinct experiment, condition, item, model_a, model_b, humans_a, humans_b from compared)""").fetchone()
    groups = groups_of(connection, query, ("quantity", "term", "model"), COUNTS)
    return Choices(groups, judges, labelled, votes, agreeing)


def _scale(group: Group, labelled: bool) -> float:
    """Width of the range of a group's difference: from -1 to 1 against humans, from -1/2 to 1/2 against one half."""
    return 2.0 if labelled and group.names["quantity"] != FIRST else 1.0


def choices(of: Choices, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of choices, for each way in which draws count.

    estimate = judge_share - human_share, over n comparisons in as many `questions`. draws: `half`, a draw is half a win, as in
    win rates; `excluded`, only comparisons in which both judge and humans choose an answer. question: A, against humans; empty
    if human_share is missing, and the estimate is judge_share - 1/2.

    Both treatments are biased where a judge is less consistent than the humans: halves pull its share to one half, in favour of
    a model with the weaker answers; leaving out pairs that it finds hard favours one with the better answers.

    The interval is by bootstrap over questions, exact without variation between them (`share_intervals`). std_error is that of
    a mean clustered by question (CR1: the square root of G / (G - 1) sum_g (sum_i d_i - d)^2 / n^2, of G questions), and
    p_value that of its t test of 0 with G - 1 degrees of freedom or, without variation, of the exact interval.
    """
    for width in (1.0, 2.0):
        groups = [group for group in of.groups if _scale(group, of.labelled) == width]

        def share(totals: np.ndarray, width: float = width) -> np.ndarray:
            judge, human, n = np.moveaxis(totals.reshape(*totals.shape[:-1], len(DRAWS), 3), -1, 0)
            return quotient(judge - human + width * n, 2 * width * n)  # from 0 to 1; one half is no difference

        for group, ends in zip(groups, share_intervals(groups, share, confidence=confidence, seed=seed), strict=True):
            values = share(group.sums.sum(axis=0))
            for place, (value, low, high, questions) in enumerate(zip(values, *ends, strict=True)):
                judge, human, n = group.sums[:, 3 * place : 3 * place + 3].T
                if not n.sum():
                    continue
                estimate = width * (value - 0.5)
                std_error, p_value = clustered_test((judge - human) / 2, n)
                if std_error == 0:
                    p_value = min(1.0, 2 * (0.5 / max(value, 1 - value)) ** questions)
                yield {
                    **group.names,
                    "draws": DRAWS[place],
                    "question": AGAINST_HUMANS if width == 2 else "",
                    "judge_share": judge.sum() / n.sum() / 2,
                    "human_share": human.sum() / n.sum() / 2 if width == 2 else None,
                    "estimate": estimate,
                    "std_error": std_error,
                    "ci_low": width * (low - 0.5),
                    "ci_high": width * (high - 0.5),
                    "p_value": p_value,
                    "n": int(n.sum()),
                    "questions": int(questions),
                }


def clustered_test(sums: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Standard error (CR1) of the mean of differences, and the p-value of its t test of 0; NaN with one question.

    sums, counts: (questions,) sum and number of the differences of each question.
    """
    sums, counts = sums[counts > 0], counts[counts > 0]
    if len(sums) < 2:
        return math.nan, math.nan
    mean = sums.sum() / counts.sum()
    squares = float(np.square(sums - mean * counts).sum())
    if squares < ROUNDING:
        return 0.0, math.nan
    std_error = math.sqrt(len(sums) / (len(sums) - 1) * squares) / float(counts.sum())
    return std_error, wald_p_value(mean, std_error, len(sums) - 1)


def verdicts(
    rows: Sequence[Mapping], judges: Sequence[str], *, order: Sequence[str], confidence: float, power: float
) -> Iterator[dict]:
    """Yield a verdict on each judge and family: rows of VERDICTS, by quantity and in the order of `order`, then by name.

    rows: of the table of choices. Draws count as in MAIN. A verdict is

    * `suggestive` if the interval excludes 0, and without it too the other treatment of draws gives the same sign;
    * `no clear bias` if both intervals include 0: `missed` is the smallest difference found with probability `power`,
      (t_((1 + confidence) / 2) + t_power) std_error with G - 1 degrees of freedom;
    * `cannot be told` without human labels, with fewer than FEW questions, or if the result depends on how draws count.

    For `first`, which is symmetric and needs no humans, draws are left out, and the verdict is `established` if the p-value,
    adjusted by Holm over judges, is at most 1 - confidence.
    """
    by_key = {(row["quantity"], row["term"], row["draws"]): row for row in rows if row["quantity"] != WINS}
    place = {name: number for number, name in enumerate(order)}
    for quantity in (SELF, FAMILY, LONGER, FIRST):
        terms = {term for of, term, _ in by_key if of == quantity} | {*(() if quantity == FAMILY else judges)}
        terms = sorted(terms, key=lambda term: (place.get(term, len(place)), term))
        main, other = ([by_key.get((quantity, term, draws)) for term in terms] for draws in _treatments(quantity))
        adjusted = holm([row["p_value"] if row else math.nan for row in main])
        for term, row, as_well, adjusted_p in zip(terms, main, other, adjusted, strict=True):
            columns = {"quantity": quantity, "term": term}
            if row is None:
                reason, advice = (ALL_DRAWS, STEADIER) if as_well else ABSENT[quantity]
                yield columns | {"verdict": CANNOT_BE_TOLD, "reason": reason, "advice": advice}
                continue
            keys = ("question", "estimate", "ci_low", "ci_high", "p_value")
            columns |= {key: row[key] for key in keys} | {"adjusted_p_value": adjusted_p}
            if row["std_error"] > 0:
                columns["missed"] = _quantiles(confidence, power, row["questions"]) * row["std_error"]
            yield columns | _judged(row, as_well, adjusted_p, 1 - confidence)


def _treatments(quantity: str) -> tuple[str, str]:
    return (HALF, EXCLUDED) if MAIN[quantity] == HALF else (EXCLUDED, HALF)


def _quantiles(confidence: float, power: float, questions: int) -> float:
    """How many standard errors an effect must have to be found with this power."""
    return quantile(confidence, questions - 1) + quantile(2 * power - 1, questions - 1)


def _judged(row: Mapping, other: Mapping | None, adjusted: float, alpha: float) -> dict[str, str]:
    """The verdict that follows from a row of choices, what it rests on, and what to do."""
    quantity, side, sign = row["quantity"], _side(row), math.copysign(1, row["estimate"])
    if quantity != FIRST and not row["question"]:
        return {"verdict": CANNOT_BE_TOLD, "reason": NO_HUMANS, "advice": ASK_HUMANS}
    if row["questions"] < FEW:
        reason = f"{counted(row['questions'], 'question')}, fewer than {FEW}"
        return {"verdict": CANNOT_BE_TOLD, "reason": reason, "advice": "judge more questions"}
    if quantity == FIRST:
        verdict = ESTABLISHED if side and adjusted <= alpha else SUGGESTIVE if side else NO_CLEAR_BIAS
    elif other and (_side(other) if not side else sign * other["estimate"] < 0):
        halves, without = (100 * each["estimate"] for each in ((row, other) if row["draws"] == HALF else (other, row)))
        reason = f"{DEPENDS} ({signed(halves, 1)} if a draw is half a win, {signed(without, 1)} if draws are left out)"
        return {"verdict": CANNOT_BE_TOLD, "reason": reason, "advice": STEADIER}
    else:
        verdict = SUGGESTIVE if side else NO_CLEAR_BIAS
    favours = {1: "yes", -1: "no", 0: ""}[side]
    return {
        "verdict": verdict,
        "favours": favours,
        "rests_on": row["question"] if side else "",
        "advice": ADVICE[quantity] if side else "keep it",
    }


def _side(row: Mapping) -> int:
    """1 if the interval of a row lies above 0, -1 if below, else 0."""
    return int(row["ci_low"] > 0) - int(row["ci_high"] < 0)


def label_noise(of: Choices, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of label noise: each difference, if human labels are wrong as often as flip_rate says.

    Labels that are flipped with probability q, whatever the answers, pull the humans' share h to one half. Without them it is
    (h - q) / (1 - 2 q), and the difference is judge_share - (h - q) / (1 - 2 q). The judge's own inconsistency pulls its share
    to one half likewise, so q is by how much labels flip more often than the judge does. Draws count as in MAIN.

    origin: `assumed`, of the rates SHOWN, with changes_at, the lowest of FLIPS at which the interval excludes 0 on another
    side, or on none; missing if there is none, or only at rates that would put the humans' share beyond 0 or 1, which have no
    estimate. `votes`: the rate that single human votes show. If each is wrong with probability p, two votes that choose agree
    with probability (1 - p)^2 + p^2 = agreement, a share of vote_pairs; flip_rate is the mean over comparisons of the rate at
    which a majority of their votes is wrong, a draw of votes counting half. Intervals take the rate as known.
    """
    groups = [group for group in of.groups if of.labelled and group.names["quantity"] in (SELF, FAMILY, LONGER)]
    agree, pairs = of.agreeing
    single = (1 - math.sqrt(2 * agree / pairs - 1)) / 2 if pairs and 2 * agree > pairs else None
    for group in groups:
        quantity, term = group.names["quantity"], group.names["term"]
        main = 3 * DRAWS.index(MAIN[quantity])
        _, human, n = group.sums[:, main : main + 3].sum(axis=0)
        if not n:
            continue
        numbers = of.votes.get((quantity, term), {})
        rates = [*FLIPS, *([_rate_of_labels(numbers, single)] if single is not None and numbers else [])]
        flips = np.array(rates)

        def difference(totals: np.ndarray, main: int = main, flips: np.ndarray = flips) -> np.ndarray:
            judge, human, n = (totals[..., main + place, None] for place in range(3))
            return quotient(judge, 2 * n) - (quotient(human, 2 * n) - flips) / (1 - 2 * flips)

        ((low, high),) = bootstrap([group], difference, confidence=confidence, seed=seed)
        estimates = difference(group.sums.sum(axis=0))
        possible = flips <= min(human, 2 * n - human) / (2 * n)
        sides = (low > 0).astype(int) - (high < 0)
        changed = [rate for rate, side, may in zip(FLIPS, sides, possible, strict=False) if may and side != sides[0]]
        for place, rate in enumerate(rates):
            shown = {"quantity": quantity, "term": term, "origin": "assumed", "flip_rate": rate}
            if place == len(FLIPS):
                shown |= {"origin": "votes", "agreement": agree / pairs, "vote_pairs": pairs}
            elif rate not in SHOWN:
                continue
            if possible[place]:
                shown |= {"estimate": estimates[place], "ci_low": low[place], "ci_high": high[place]}
            yield shown | ({"changes_at": changed[0] if changed else None} if rate == 0 else {})


def _rate_of_labels(numbers: Mapping[int, int], single: float) -> float:
    """Mean rate at which majorities of so many votes are wrong, if single ones are with probability `single`.

    numbers: comparisons by number of votes.
    """

    def wrong(votes: int) -> float:
        chances = [math.comb(votes, k) * single**k * (1 - single) ** (votes - k) for k in range(votes + 1)]
        return sum(chances[votes // 2 + 1 :]) + (chances[votes // 2] / 2 if votes % 2 == 0 else 0)

    return sum(count * wrong(votes) for votes, count in numbers.items()) / sum(numbers.values())
