"""How often a judge chooses its own, its family's and the longer answer, less how often the humans
do in the same comparisons.

A judge whose own answers are better is right to choose them more often, so its share is compared
with the humans' share; with one half only where there are no humans, which does not hold quality
fixed. Where several people voted on a pair, the humans' share is that of their votes: votes for an
answer and half of the ties, over all votes.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from recuse.base.database import Connection, create_table, exists, text, values_in
from recuse.base.tables import column_names
from recuse.data.verdicts import CONTROL, PLACES
from recuse.inference.gold import GRID
from recuse.inference.verdict import AGAINST_PEOPLE
from recuse.model.least_squares import wald_p_value
from recuse.pairwise.questions import Group, bootstrap, quotient, read_groups, share_intervals

CHOICES = column_names(
    "study quantity term model draws question judge_share human_share",
    "estimate std_error ci_low ci_high p_value n questions",
)
LABEL_NOISE = column_names(
    "study quantity term origin flip_rate agreement vote_pairs estimate ci_low ci_high",
    "changes_at",
)

SELF, FAMILY, WINS, LONGER, FIRST = QUANTITIES = (
    "self_bias",
    "family_bias",
    "wins",
    "longer",
    "first",
)
HALF, EXCLUDED = DRAWS = ("half", "excluded")
# How draws count, first of all
MAIN = {SELF: HALF, FAMILY: HALF, WINS: HALF, LONGER: EXCLUDED, FIRST: EXCLUDED}
SWAYING = ("compassion", "bandwagon", "attentional")  # conditions made to sway a judge
# SQL: whether a row of a table is of neither these nor an experiment with a control group
UNSWAYED = f"""condition not in ({", ".join(map(text, SWAYING))})
          and experiment not in (select experiment from {{table}} where condition = {text(CONTROL)})"""
# Of a comparison: what both orders agree on, or else a draw; the verdict of a single order.
VERDICT = "if(outcome_ab is null or outcome_ba is null, single, debiased)"
VOTES = "humans_a + humans_b + coalesce(humans_tie, 0)"  # NULL if single votes are not known
# The points that single votes, or else the label, give the answer of a side: multiples of 1 / GRID,
# whose sums are exact in whatever order the rows come.
HUMAN_POINTS = f"""if({VOTES} > 0, round({GRID} * (2 * humans_{{side}} + coalesce(humans_tie, 0)) / ({VOTES})) / {GRID},
                      {{label}})"""
# Of the answer of a side
POINTS = "case {verdict} when '{side}' then 2 when 'tie' then 1 when null then null else 0 end"
DECIDED = "judge_points <> 1 and human_points is distinct from 1"
COUNTS = {
    f"{draws} {name}": f"{sql} filter (where {counted})"
    for draws, counted in zip(DRAWS, ("true", DECIDED), strict=True)
    for name, sql in {
        "judge": "sum(judge_points)",
        "human": "sum(coalesce(human_points, 1))",
        "n": "count(*)",
    }.items()
}
FEW = 10  # questions
# Whether the two answers of a pair are by one model
ONE_MODEL = "ends_with(model_a, '{0}') and model_b = replace(model_a, '{0}', '{1}')".format(*PLACES)
ROUNDING = 1e-9  # of sums of halves
FLIPS = tuple(step / 100 for step in range(26))  # rates of wrong human labels
SHOWN = FLIPS[::5]


class Choices(NamedTuple):
    """The comparisons of each judge or family, summed by question."""

    groups: list[Group]  # by quantity, term and model, with COUNTS in `sums`
    judges: list[str]
    of_one_model: frozenset[str]  # judges whose pairs are two answers of one model each
    labelled: bool  # whether there are human labels
    # Pairs of human votes on one comparison that choose the same answer, and all that choose
    agreeing: tuple[int, int]


def count_choices(connection: Connection, families: Mapping[str, str]) -> Choices:
    """Count, for each judge and family, the points of answers of a kind, and the humans' in the
    same comparisons.

    connection: see `open_pairs`. families: family of each model; none where a model has no other of
    its family. An answer that wins has 2 points, one in a draw 1. A judge's verdict is what both
    orders agree on, or else a draw; that of a single order where there is one only. Left out are
    errors, conditions made to sway a judge, experiments with a control group and, if any comparison
    has a human label, those without. The terms of each of QUANTITIES are judges, of family_bias
    families:

    * self_bias: the judge's own answer against any other. wins: the answers of each other model, in
      the column `model`.
    * family_bias: answers of the other models of the judge's family against those of other
      families; all its judges together.
    * longer: the longer answer in words. first: the answer shown first, each verdict by itself, of
      pairs in both orders.

    Humans share two points by their votes on the comparison, or by their label if single votes are
    not known: an answer with k of n votes and t ties has (2 k + t) / n. They have one point, a
    draw, if no comparison has a label, and for `first`.
    """
    create_table(connection, "families", "name varchar, family varchar", list(families.items()))
    connection.execute(f"""
        create temp table compared as
        select *, {VERDICT} as verdict from pairs
        where {UNSWAYED.format(table="pairs")}""")
    labelled = exists(connection, "from compared where human is not null")
    sides = " union all ".join(
        f"""select judge, item, model_{side} as model, model_{other} as other, length_{side} > length_{other} as longer,
                   {POINTS.format(verdict="verdict", side=side)} as judge_points,
                   if(human is null, null, {HUMAN_POINTS.format(side=side, label=POINTS.format(verdict="human", side=side))})
                   as human_points
            from compared where verdict <> 'error' and (human is not null or not {labelled})"""
        for side, other in ("ab", "ba")
    )
    first = " union all ".join(
        f"""select 'first', judge, '', item, {POINTS.format(verdict=f"outcome_{order}", side=order[0])}, null
            from compared where outcome_ab <> 'error' and outcome_ba <> 'error'"""
        for order in ("ab", "ba")
    )
    connection.execute(f"""
        create temp table choices as
        with sides as ({sides})
        select if(judge = model, 'self_bias', 'wins') as quantity, judge as term, model, item, judge_points, human_points
        from sides
        union all
        select 'family_bias', judges.family, '', item, judge_points, human_points
        from sides join families as judges on judges.name = judge join families as models on models.name = model
        left join families as others on others.name = other
        where judge <> model and judges.family = models.family and others.family is distinct from judges.family
        union all select 'longer', judge, '', item, judge_points, human_points from sides where longer
        union all {first}""")
    counts = ", ".join(f'coalesce({sql}, 0) as "{name}"' for name, sql in COUNTS.items())
    query = f"select quantity, term, model, item, {counts} from choices group by all order by all"
    judges = values_in(connection, "select distinct judge from compared order by 1")
    of_one_model = values_in(
        connection, f"select judge from compared group by 1 having bool_and({ONE_MODEL})"
    )
    agreeing = connection.execute(
        """
        select coalesce(sum((humans_a * (humans_a - 1) + humans_b * (humans_b - 1)) / 2), 0)::bigint,
               coalesce(sum((humans_a + humans_b) * (humans_a + humans_b - 1) / 2), 0)::bigint
        from (select distinct experiment, condition, item, model_a, model_b, humans_a, humans_b from compared)"""
    ).fetchone()
    groups = read_groups(connection, query, ("quantity", "term", "model"), COUNTS)
    return Choices(groups, judges, frozenset(of_one_model), labelled, agreeing)


def _scale(group: Group, labelled: bool) -> float:
    """Width of the range of a group's difference: from -1 to 1 against humans, from -1/2 to 1/2
    against one half.
    """
    return 2.0 if labelled and group.names["quantity"] != FIRST else 1.0


def choices(of: Choices, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of choices, for each way in which draws count.

    estimate = judge_share - human_share, over n comparisons in as many `questions`. draws: `half`,
    a draw is half a win, as in win rates; `excluded`, only comparisons in which the judge chooses
    an answer and the humans are not evenly divided. question: A, against people; empty if
    human_share is missing, and the estimate is judge_share - 1/2.

    Both treatments are biased where a judge is less consistent than the humans: halves pull its
    share to one half, in favour of a model with the weaker answers; leaving out pairs that it finds
    hard favours one with the better answers.

    The interval is by bootstrap over questions, exact without variation between them
    (`share_intervals`). std_error is that of a mean clustered by question (CR1: the square root of
    G / (G - 1) sum_g (sum_i d_i - d)^2 / n^2, of G questions), and p_value that of its t test of 0
    with G - 1 degrees of freedom or, without variation, of the exact interval.
    """
    for width in (1.0, 2.0):
        groups = [group for group in of.groups if _scale(group, of.labelled) == width]

        def share(totals: np.ndarray, width: float = width) -> np.ndarray:
            judge, human, n = np.moveaxis(totals.reshape(*totals.shape[:-1], len(DRAWS), 3), -1, 0)
            # From 0 to 1; one half is no difference
            return quotient(judge - human + width * n, 2 * width * n)

        for group, ends in zip(
            groups, share_intervals(groups, share, confidence=confidence, seed=seed), strict=True
        ):
            ends = (each.tolist() for each in ends)
            for place, (value, low, high, questions) in enumerate(
                zip(share(group.sums.sum(axis=0)).tolist(), *ends, strict=True)
            ):
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
                    "question": AGAINST_PEOPLE if width == 2 else "",
                    "judge_share": judge.sum() / n.sum() / 2,
                    "human_share": human.sum() / n.sum() / 2 if width == 2 else None,
                    "estimate": estimate,
                    "std_error": std_error,
                    "ci_low": width * (low - 0.5),
                    "ci_high": width * (high - 0.5),
                    "p_value": p_value,
                    "n": int(n.sum()),
                    "questions": questions,
                }


def clustered_test(sums: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Standard error (CR1) of the mean of differences, and the p-value of its t test of 0; NaN with
    one question.

    sums, counts: (questions,) sum and number of the differences of each question.
    """
    sums = sums[counts > 0]
    counts = counts[counts > 0]
    if len(sums) < 2:
        return math.nan, math.nan
    mean = sums.sum() / counts.sum()
    squares = float(np.square(sums - mean * counts).sum())
    if squares < ROUNDING:
        return 0.0, math.nan
    std_error = math.sqrt(len(sums) / (len(sums) - 1) * squares) / float(counts.sum())
    return std_error, wald_p_value(mean, std_error, len(sums) - 1)


def label_noise(of: Choices, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of label noise: each difference, if human labels are wrong as
    often as flip_rate says.

    Labels that are flipped with probability q, whatever the answers, pull the humans' share h to
    one half. Without them it is (h - q) / (1 - 2 q), and the difference is

      judge_share - (h - q) / (1 - 2 q)

    The judge's own inconsistency also pulls its share to one half, so q is by how
    much labels flip more often than the judge does. Draws count as in MAIN. Where single votes are
    known, q is the rate at which these are flipped.

    origin: `assumed`, of the rates SHOWN, with changes_at, the lowest of FLIPS at which the
    interval excludes 0 on another side, or on none; missing if there is none, or only at rates that
    would put the humans' share beyond 0 or 1, which have no estimate. `votes`: the rate that single
    human votes show. If each is wrong with probability p, two votes that choose agree with
    probability (1 - p)^2 + p^2 = agreement, a share of vote_pairs, and flip_rate is p. Intervals
    take the rate as known.
    """
    agree, pairs = of.agreeing
    rates = [{"origin": "assumed", "flip_rate": rate} for rate in FLIPS]
    if 2 * agree > pairs:
        by_votes = {"origin": "votes", "agreement": agree / pairs, "vote_pairs": pairs}
        rates.append({"flip_rate": (1 - math.sqrt(2 * agree / pairs - 1)) / 2, **by_votes})
    flips = np.array([rate["flip_rate"] for rate in rates])

    def difference(totals: np.ndarray) -> np.ndarray:
        judge, human, n = np.split(totals, 3, axis=-1)
        return quotient(judge, 2 * n) - (quotient(human, 2 * n) - flips) / (1 - 2 * flips)

    for group in of.groups:
        quantity = group.names["quantity"]
        if not of.labelled or quantity not in (SELF, FAMILY, LONGER):
            continue
        main = DRAWS.index(MAIN[quantity])
        counts = group.sums.reshape(-1, len(DRAWS), 3)[:, main]  # (questions, 3)
        _, human, n = counts.sum(axis=0)
        if not n:
            continue
        ((low, high),) = bootstrap(
            [Group(group.names, counts)], difference, confidence=confidence, seed=seed
        )
        estimates = difference(counts.sum(axis=0))
        possible = flips <= min(human, 2 * n - human) / (2 * n)
        sides = (low > 0).astype(int) - (high < 0)
        changed = np.flatnonzero((possible & (sides != sides[0]))[: len(FLIPS)])
        for place, rate in enumerate(rates):
            if place < len(FLIPS) and FLIPS[place] not in SHOWN:
                continue
            row = {"quantity": quantity, "term": group.names["term"], **rate}
            if possible[place]:
                row |= {"estimate": estimates[place], "ci_low": low[place], "ci_high": high[place]}
            if place == 0:
                row["changes_at"] = FLIPS[changed[0]] if changed.size else None
            yield row
