"""Verbosity, position and human agreement of verdicts on pairs of answers, and curves against the
difference in length.

Every table has a row by experiment, condition or pool, and judge; connections are those of
`open_pairs`. Source of verbosity bias (section 4), scores of an answer and agreement (Figures 3 to
5): Saito et al., arXiv 2310.10076.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from recuse.base.database import Connection, records, text
from recuse.base.tables import column_names
from recuse.data.registry import HUMAN
from recuse.pairwise.questions import OWN, bootstrap, exact_interval, quotient, shares, summed

VERBOSITY = column_names(
    "study experiment condition judge order draws verbosity_bias ci_low ci_high few",
    "accuracy_parity_gap rate_shorter wrong_shorter n_shorter rate_longer wrong_longer n_longer",
    "judge_draws human_ties equal_lengths errors no_human no_length questions",
)
POSITION = column_names(
    "study experiment condition judge statistic value ci_low ci_high n questions",
)
PAIRWISE_AGREEMENT = column_names(
    "study experiment condition judge order value ci_low ci_high agree n errors",
    "value_errors_wrong questions",
)
SCORE_CURVES = column_names(
    "study experiment condition judge order bin_low bin_high mean std_dev n no_length",
)
ALIGNMENT_CURVES = column_names(
    "study experiment condition judge bin_low bin_high agreement ci_low ci_high agree n",
    "no_length",
)

# The verdicts that each order rule takes, columns of `pairs`.
RULES = {
    "debiased": ["debiased"],
    "ab": ["outcome_ab"],
    "ba": ["outcome_ba"],
    "pooled": ["outcome_ab", "outcome_ba"],
}


def counts_by_rule(conditions: Mapping[str, str]) -> dict[str, str]:
    """SQL that counts the verdicts under each order rule that meet each condition, SQL with `{}`
    for the verdict.
    """
    return {
        f"{rule} {count}": " + ".join(
            f"count(*) filter (where {sql.format(verdict)})" for verdict in verdicts
        )
        for rule, verdicts in RULES.items()
        for count, sql in conditions.items()
    }


# Of a draw: its part in wrong and in n
TREATMENTS = {"excluded": (0.0, 0.0), "disagreement": (1.0, 1.0), "half": (0.5, 1.0)}
# The first that holds leaves a verdict out
REASONS = ("no_human", "errors", "human_ties", "no_length", "equal_lengths")
# Which answer the humans prefer, or why that is not known.
PREFERRED = """case when human is null then 'no_human' when human = 'tie' then 'human_ties'
                    when length_a is null or length_b is null then 'no_length' when length_a = length_b then 'equal_lengths'
                    when (human = 'a') = (length_a < length_b) then 'shorter' else 'longer' end"""
FEW = 10  # questions
# Which of two answers the humans prefer
SIDES = ("shorter", "longer")
KINDS = {"wrong": "{} not in (human, 'tie', 'error')", "right": "{} = human", "draws": "{} = 'tie'"}
COUNTED = {
    f"{kind}_{side}": f"side = '{side}' and {sql}" for side in SIDES for kind, sql in KINDS.items()
}
ON_SIDES = len(COUNTED)  # counts of a rule that are of verdicts on a side
COUNTED |= {reason: f"side = '{reason}' and {{}} <> 'error'" for reason in REASONS}
COUNTED |= {
    "no_human": "human is null and {} is not null",
    "errors": "human is not null and {} = 'error'",
}


def verbosity(connection: Connection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of verbosity bias, by order rule and treatment of draws.

    With Y the answer that the humans prefer, Y' the judge's, and S the longer one in words,

        verbosity_bias = P(Y' != Y | S != Y) - P(Y' != Y | S = Y)
                       = wrong_shorter / n_shorter - wrong_longer / n_longer

    (Saito et al., equation 6): above 0 the judge disagrees with the humans more often where they
    prefer the shorter answer. Here and in `human_agreement` the humans' answer is the label, the
    majority of their votes, as in the paper; `choices` takes shares of votes. The bias does not
    show that a judge prefers longer answers more than people do: where the longer answer is truly
    the better one in 80 to 82 % of pairs and 15 % of human labels are flipped at random, a judge
    blind to length that always finds the better one has a bias of 0.37 to 0.41. See
    `recuse.pairwise.choices`. accuracy_parity_gap is its absolute value (equation 5).

    order: `debiased`, the verdict that both orders agree on, or else a draw (section 4); `ab` and
    `ba`, the verdicts of one order; `pooled`, those of both. draws: a judge's draw is `excluded`, a
    `disagreement` (Y' != Y), or `half` of one; judge_draws counts them in each case. A verdict is
    left out, and counted once, for the first of: no_human, errors (of the debiased verdict, also a
    comparison with one order alone), human_ties, no_length, equal_lengths.

    Intervals are by bootstrap over the questions with a verdict that counts. Resamples without a
    side are dropped, so the interval is too short if few questions have one: few is `yes` if a side
    has fewer than FEW questions. There is no interval with fewer than two on a side, or if
    resamples do not vary. A judge without any human label under a condition has no row.
    """
    groups = summed(
        connection, counts_by_rule(COUNTED), rows=f"(select *, {PREFERRED} as side from pairs)"
    )
    no_human = list(COUNTED).index("no_human")
    labelled = [
        group for group in groups if np.delete(_by_rule(group.sums), no_human, axis=-1).any()
    ]
    ends = bootstrap(labelled, lambda totals: _bias(totals)[0], confidence=confidence, seed=seed)
    for group, (low, high) in zip(labelled, ends, strict=True):
        totals = group.sums.sum(axis=0)
        bias, wrong, n = _bias(totals)
        on_side = _bias(group.sums)[2] > 0  # (questions, rules x treatments, sides)
        questions = on_side.any(axis=-1).sum(axis=0)
        fewest = on_side.sum(axis=0).min(axis=-1)
        for place, (rule, treatment) in enumerate(product(RULES, TREATMENTS)):
            counted = _by_rule(totals)[place // len(TREATMENTS)].astype(int)
            counts = dict(zip(COUNTED, counted.tolist(), strict=True))
            varies = fewest[place] > 1 and low[place] < high[place]
            row = {
                **group.names,
                "order": rule,
                "draws": treatment,
                "verbosity_bias": bias[place],
                "ci_low": low[place] if varies else None,
                "ci_high": high[place] if varies else None,
                "few": "yes" if fewest[place] < FEW else "no",
                "accuracy_parity_gap": abs(bias[place]),
            }
            for side, errors, count in zip(SIDES, wrong[place], n[place], strict=True):
                row[f"rate_{side}"] = errors / count if count else None
                # Draws may count half
                row[f"wrong_{side}"] = int(errors) if errors == int(errors) else errors
                row[f"n_{side}"] = int(count)
            row["judge_draws"] = counts["draws_shorter"] + counts["draws_longer"]
            row |= {reason: counts[reason] for reason in REASONS}
            yield row | {"questions": questions[place]}


def _by_rule(totals: np.ndarray) -> np.ndarray:
    """Lay totals (..., k) out as (..., rules, counts)."""
    return totals.reshape(*totals.shape[:-1], len(RULES), -1)


def _bias(totals: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bias (..., rules x treatments) and wrong and n (..., rules x treatments, sides) of
    totals (..., k).
    """
    counts = _by_rule(totals)[..., :ON_SIDES]
    # Each (..., rules, 1, sides)
    wrong, right, draws = np.moveaxis(counts.reshape(*counts.shape[:-1], 1, 2, 3), -1, 0)
    in_wrong, in_n = np.array(list(TREATMENTS.values())).T[..., None]  # each (treatments, 1)
    shape = (*totals.shape[:-1], -1, 2)
    n = (wrong + right + in_n * draws).reshape(shape)
    wrong = (wrong + in_wrong * draws).reshape(shape)
    rates = quotient(wrong, n)
    return rates[..., 0] - rates[..., 1], wrong, n


# Comparisons with a verdict in both orders: `ab` shows the answer of model_a first, `ba` that of
# model_b.
BOTH = "(select * from pairs where outcome_ab <> 'error' and outcome_ba <> 'error')"
COUNTS = {
    "comparisons": "count(*)",
    "consistent": "count(*) filter (where outcome_ab = outcome_ba)",
    "first_both": "count(*) filter (where outcome_ab = 'a' and outcome_ba = 'b')",
    "second_both": "count(*) filter (where outcome_ab = 'b' and outcome_ba = 'a')",
    "first": "count(*) filter (where outcome_ab = 'a') + count(*) filter (where outcome_ba = 'b')",
    "decided": (
        "count(*) filter (where outcome_ab <> 'tie') + count(*) filter (where outcome_ba <> 'tie')"
    ),
}
# Each statistic is the quotient of two counts.
STATISTICS = {
    "consistency": ("consistent", "comparisons"),
    "first_preference": ("first", "decided"),
    "first_both": ("first_both", "comparisons"),
    "second_both": ("second_both", "comparisons"),
}
# Comparisons in one order only, with a verdict that chooses an answer.
SINGLE = "(select * from pairs where single in ('a', 'b'))"
SINGLE_COUNTS = {
    "first": "count(*) filter (where outcome_ab = 'a' or outcome_ba = 'b')",
    "decided": "count(*)",
    "longer": (
        "count(*) filter (where length_a <> length_b and (single = 'a') = (length_a > length_b))"
    ),
    "unequal": "count(*) filter (where length_a <> length_b)",
    "chose_own": f"count(*) filter (where {OWN} and (single = 'a') = (judge = model_a))",
    "own": f"count(*) filter (where {OWN})",
}
SINGLE_STATISTICS = {
    "single_order_first": ("first", "decided"),
    "single_order_longer": ("longer", "unequal"),
    "single_order_own": ("chose_own", "own"),
}


def position(connection: Connection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of position, by statistic.

    Of the comparisons with a verdict in both orders that is no error: consistency: share whose two
    verdicts agree, including two ties. first_preference: share of the answer shown first among the
    n verdicts that are not ties; 0.5 is no preference; missing if all are ties. first_both,
    second_both: share that chooses the answer shown first, or second, both times, so that the
    orders contradict each other.

    Of the comparisons in one order only, shares of the verdicts that are neither ties nor errors:

        single_order_first = first / decided
        single_order_longer = longer / unequal
        single_order_own = chose_own / own

    with `first` those for the answer shown first, `longer` those for the longer answer among the
    `unequal` with two known and different lengths, `chose_own` those for the judge's own answer
    among the `own` on its own answer and another's. If each order was drawn at random,
    single_order_first is 0.5 for a judge without position bias, however good the answers are: E =
    (P(first | a first) + P(first | b first)) / 2. If not, a model that is shown first more often
    may be the better one. The other two never hold quality fixed: a longer, or own, answer may be
    the better one.

    Intervals are those of `share_intervals`; questions: those with such comparisons (or verdicts).
    """
    for rows, counts, statistics in (
        (BOTH, COUNTS, STATISTICS),
        (SINGLE, SINGLE_COUNTS, SINGLE_STATISTICS),
    ):
        groups = summed(connection, counts, rows=rows)
        for share in shares(groups, counts, statistics, confidence=confidence, seed=seed):
            n = share.totals[statistics[share.statistic][1]]
            if n or rows == BOTH:
                names = {**share.names, "statistic": share.statistic}
                yield {**names, **share.interval, "n": n, "questions": share.questions}


AGREEMENT = {"agree": "{} = human", "n": "{} <> 'error'", "errors": "{} = 'error'"}


def human_agreement(connection: Connection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of agreement, of comparisons with a human label, by order rule as
    in `verbosity`.

    value = agree / n: share of the verdicts equal to the human label, a majority, of three classes
    (a, b, tie); n leaves out errors, which value_errors_wrong = agree / (n + errors) counts as
    disagreement. A judge without a verdict under an order rule has no row there. The interval of
    value is that of `share_intervals`; questions: those with a verdict that counts.
    """
    counts = counts_by_rule(AGREEMENT)
    groups = summed(connection, counts, rows="(select * from pairs where human is not null)")
    statistics = {rule: (f"{rule} agree", f"{rule} n") for rule in RULES}
    for share in shares(groups, counts, statistics, confidence=confidence, seed=seed):
        totals = {count: share.totals[f"{share.statistic} {count}"] for count in AGREEMENT}
        verdicts = totals["n"] + totals["errors"]
        if verdicts:
            yield {
                **share.names,
                "order": share.statistic,
                **share.interval,
                "value": totals["agree"] / totals["n"] if totals["n"] else None,
                **totals,
                "value_errors_wrong": totals["agree"] / verdicts,
                "questions": share.questions,
            }


WIDTH = 20  # percentage points of a bin; bins are centred at multiples of it
CURVE_RULES = ("debiased", "single")  # of the order: columns of the table `pairs`
LAST = 11  # the open bin beyond +110 %; bin 0 is about -100 %
# Bin of 100 (length - other) / other, exactly: floor((that + 110) / 20). An empty other is
# infinitely shorter than any words.
BIN = """case when {length} is null or {other} is null then null when {other} = 0 then if({length} = 0, 5, 11)
              else least(11, floor((10 * {length}::double + {other}) / (2 * {other}::double)))::integer end"""


def score_curves(connection: Connection) -> Iterator[dict]:
    """Yield the rows of the score curves of judges, then of the humans, by order and bin (Saito et
    al., Figures 3 and 4).

    The score of a comparison is 1 if the answer of model_a wins, -1 if that of model_b does, 0 for
    a draw. order: `debiased`, the verdict that both orders agree on, or else a draw; `single`, that
    of comparisons in one order only, which represents the judge if the order was drawn at random;
    empty for the humans (judge `Human`), each of whose labels counts once. mean and std_dev (with n
    - 1; missing if n is 1) are over the n comparisons whose relative difference in words, 100
    (length_a - length_b) / length_b percent, is in [bin_low, bin_high); bins are 20 points wide and
    centred at multiples of 20; the last, from 110, is open. Comparisons with an error, or without a
    label, are left out; bins without comparisons have no row. no_length counts the comparisons of a
    curve that lack a length and are in no bin.
    """
    binned = BIN.format(length="length_a", other="length_b")
    columns = (
        f"experiment, condition, judge, '{{rule}}' as \"order\", {binned} as bin,"
        " {rule} as verdict"
    )
    judged = [
        f"select {columns.format(rule=rule)} from pairs where {rule} <> 'error'"
        for rule in CURVE_RULES
    ]
    labelled = f"""
        select experiment, condition, {text(HUMAN)}, '', {binned}, human
        from (select distinct on (experiment, condition, item, model_a, model_b) * from pairs where human is not null)"""
    rows = " union all ".join([*judged, labelled])
    for row in _binned(connection, rows, {"a": "verdict = 'a'", "b": "verdict = 'b'"}):
        first, second, n = row.pop("a"), row.pop("b"), row["n"]
        mean = (first - second) / n
        std_dev = math.sqrt(max(0.0, first + second - n * mean**2) / (n - 1)) if n > 1 else None
        yield {**row, "mean": mean, "std_dev": std_dev}


def alignment_curves(connection: Connection, *, confidence: float) -> Iterator[dict]:
    """Yield the rows of the alignment curves, by bin (Saito et al., Figure 5).

    agreement = agree / n: share of a judge's debiased decisions, without draws, for the answer that
    the humans chose, over the n comparisons whose relative difference in words, 100 (chosen -
    rejected) / rejected percent, is in [bin_low, bin_high); bins and no_length as in
    `score_curves`. The interval is exact (`exact_interval`). Human ties are left out too.
    """
    chosen, rejected = (f"if(human = '{label}', length_a, length_b)" for label in "ab")
    rows = f"""
        select experiment, condition, judge, 'debiased' as "order", human, debiased,
               {BIN.format(length="chosen", other="rejected")} as bin
        from (select *, {chosen} as chosen, {rejected} as rejected from pairs
              where human in ('a', 'b') and debiased in ('a', 'b'))"""
    for row in _binned(connection, rows, {"agree": "debiased = human"}):
        del row["order"]
        low, high = exact_interval(row["agree"], row["n"], confidence)
        yield {**row, "agreement": row["agree"] / row["n"], "ci_low": low, "ci_high": high}


def _binned(connection: Connection, rows: str, counts: Mapping[str, str]) -> list[dict]:
    """Experiment, condition or pool, judge, order rule, ends of the bin in percent, no_length, n
    and `counts`, of each bin.

    rows: SQL of experiment, condition, judge, order (empty for the humans), bin and the columns of
    `counts`, SQL conditions.
    """
    counted = ", ".join(f"count(*) filter (where {sql}) as {name}" for name, sql in counts.items())
    binned = connection.execute(
        f"""
        with by_bin as (
            select experiment, place, label, judge, "order", bin, count(*) as n, {counted}
            from ({rows}) join members using (condition) group by all)
        select experiment, label as condition, judge, "order", {WIDTH} * bin - 110 as bin_low,
               if(bin < {LAST}, {WIDTH} * (bin + 1) - 110, null) as bin_high,
               coalesce(sum(n) filter (where bin is null) over (partition by experiment, place, "order", judge), 0)::bigint
               as no_length, n, {", ".join(counts)}
        from by_bin qualify bin is not null order by experiment, place, "order" = '', judge, "order", bin"""
    )
    return records(binned)
