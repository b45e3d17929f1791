"""Does a verdict follow the place of an answer; what do single orders tell; and how often do judges agree with the humans?"""

from collections.abc import Iterator

import duckdb

from recuse.pairwise.questions import OWN, shares, summed

# Comparisons with a verdict in both orders: `ab` shows the answer of model_a first, `ba` that of model_b.
BOTH = "(select * from pairs where outcome_ab <> 'error' and outcome_ba <> 'error')"
COUNTS = {
    "comparisons": "count(*)",
    "consistent": "count(*) filter (where outcome_ab = outcome_ba)",
    "first_both": "count(*) filter (where outcome_ab = 'a' and outcome_ba = 'b')",
    "second_both": "count(*) filter (where outcome_ab = 'b' and outcome_ba = 'a')",
    "first": "count(*) filter (where outcome_ab = 'a') + count(*) filter (where outcome_ba = 'b')",
    "decided": "count(*) filter (where outcome_ab <> 'tie') + count(*) filter (where outcome_ba <> 'tie')",
}
# Each statistic is the quotient of two counts.
STATISTICS = {
    "consistency": ("consistent", "comparisons"),
    "first_preference": ("first", "decided"),
    "first_both": ("first_both", "comparisons"),
    "second_both": ("second_both", "comparisons"),
}
# Comparisons with one order alone, and a verdict that chooses an answer.
SINGLE = "(select * from pairs where single in ('a', 'b'))"
SINGLE_COUNTS = {
    "first": "count(*) filter (where outcome_ab = 'a' or outcome_ba = 'b')",
    "decided": "count(*)",
    "longer": "count(*) filter (where length_a <> length_b and (single = 'a') = (length_a > length_b))",
    "unequal": "count(*) filter (where length_a <> length_b)",
    "chose_own": f"count(*) filter (where {OWN} and (single = 'a') = (judge = model_a))",
    "own": f"count(*) filter (where {OWN})",
}
SINGLE_STATISTICS = {
    "single_order_first": ("first", "decided"),
    "single_order_longer": ("longer", "unequal"),
    "single_order_own": ("chose_own", "own"),
}
# The verdicts that each order rule takes, and what of them is counted.
RULES = {"debiased": ["debiased"], "ab": ["outcome_ab"], "ba": ["outcome_ba"], "pooled": ["outcome_ab", "outcome_ba"]}
OF_RULE = {"agree": "{} = human", "n": "{} <> 'error'", "errors": "{} = 'error'"}
RULE_COUNTS = {
    f"{rule} {count}": " + ".join(f"count(*) filter (where {sql.format(verdict)})" for verdict in verdicts)
    for rule, verdicts in RULES.items()
    for count, sql in OF_RULE.items()
}
LABELLED = "(select * from pairs where human is not null)"


def position(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of position, by experiment, condition or pool, judge and statistic.

    Of the comparisons with a verdict in both orders that is no error: consistency: share whose two verdicts agree, two
    ties among them. first_preference: share of the answer shown first among the verdicts that are not ties, n of them; 0.5 is
    no preference. first_both, second_both: share that chooses the answer shown first, or second, both times, so that the
    orders contradict each other. Where no verdict is other than a tie, first_preference is missing.

    After these, of the comparisons in one order alone, shares of the verdicts that are neither ties nor errors:

        single_order_first = first / decided, single_order_longer = longer / unequal, single_order_own = chose_own / own

    with `first` those for the answer shown first, `longer` those for the longer answer among the `unequal` with two known and
    different lengths, `chose_own` those for the judge's own answer among the `own` on its own answer and another's. If the
    order of each comparison was drawn at random, single_order_first is 0.5 of a judge that the place does not sway, however
    good the answers are: E = (P(first | a first) + P(first | b first)) / 2. If it was not, a model that is shown first more
    often may be the better one. The other two hold quality fixed in no case: a longer, or own, answer may be the better one.

    Intervals are by bootstrap over questions, exact where all agree (see `share_intervals`); questions: those that have such
    comparisons (or verdicts); with fewer than two there is no interval. connection: see `open_pairs`.
    """
    for rows, counts, statistics in ((BOTH, COUNTS, STATISTICS), (SINGLE, SINGLE_COUNTS, SINGLE_STATISTICS)):
        groups = summed(connection, counts, rows=rows)
        for share in shares(groups, counts, statistics, confidence=confidence, seed=seed):
            n = share.totals[statistics[share.statistic][1]]
            if n or rows == BOTH:
                yield {
                    **share.names,
                    "statistic": share.statistic,
                    "value": share.value,
                    "ci_low": share.ci_low,
                    "ci_high": share.ci_high,
                    "n": n,
                    "questions": share.questions,
                }


def agreement(connection: duckdb.DuckDBPyConnection, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the rows of the table of agreement, of comparisons with a human label, by experiment, condition or pool, judge
    and order rule.

    value = agree / n: share of the verdicts equal to the human label, of three classes (a, b, tie); n leaves out errors, which
    value_errors_wrong = agree / (n + errors) counts as disagreement. order: `debiased`, the verdict that both orders agree on,
    a tie where they do not, an error where one is an error or absent; `ab` and `ba`, the verdicts of one order; `pooled`, those
    of both. A judge without a verdict under an order rule has no row there.

    The interval of value is by bootstrap over questions, exact where all agree (see `share_intervals`); questions: those with a
    verdict that counts; with fewer than two there is no interval. connection: see `open_pairs`.
    """
    groups = summed(connection, RULE_COUNTS, rows=LABELLED)
    statistics = {rule: (f"{rule} agree", f"{rule} n") for rule in RULES}
    for share in shares(groups, RULE_COUNTS, statistics, confidence=confidence, seed=seed):
        agree, n, errors = (share.totals[f"{share.statistic} {count}"] for count in OF_RULE)
        if n + errors:
            yield {
                **share.names,
                "order": share.statistic,
                "value": agree / n if n else None,
                "ci_low": share.ci_low,
                "ci_high": share.ci_high,
                "agree": agree,
                "n": n,
                "errors": errors,
                "value_errors_wrong": agree / (n + errors),
                "questions": share.questions,
            }
