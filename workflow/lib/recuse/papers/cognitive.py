"""The cognitive biases of CoBBLEr for any comparisons, and the RANDOM threshold: the share of a
judge that chooses at random.

They are order, compassion, egocentric, salience, bandwagon and attentional bias.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from recuse.base.database import connect, files, name
from recuse.base.tables import column_names, write_table
from recuse.data.verdicts import ORDERS
from recuse.pairwise.questions import OWN, create_pairs, read_groups, shares

COGNITIVE_BIASES = column_names(
    "study experiment judge size bias origin share ci_low ci_high biased n left_out",
    "valid random chance above_random",
)

CONDITIONS = {  # the conditions of comparisons that each test reads
    "order": "condition in ('', 'order')",  # the same prompt
    "compassion": "condition = 'compassion'",
    "bandwagon": "condition = 'bandwagon'",
    "attentional": "condition = 'attentional'",
}
# SQL over `pairs`.
ALL = "true"
# In both orders; the verdict may be an error
SHOWN_TWICE = "outcome_ab is not null and outcome_ba is not null"
SAME_ANSWER = "outcome_ab = outcome_ba and outcome_ab in ('a', 'b')"
LENGTHS_DIFFER = "coalesce(length_a <> length_b, false)"
TOLD_TWICE = f"{SHOWN_TWICE} and favoured_ab is not null and favoured_ba is not null"
FIRST = "outcome_ab = 'a' and outcome_ba = 'b'"
LAST = "outcome_ab = 'b' and outcome_ba = 'a'"
CHOSE_OWN = f"{SAME_ANSWER} and (outcome_ab = 'a') = (judge = model_a)"
CHOSE_LONGER = "(outcome_ab = 'a') = (length_a > length_b)"
CHOSE_TWICE = "outcome_ab in ('a', 'b') and outcome_ba in ('a', 'b')"
FOLLOWED = "outcome_ab = favoured_ab and outcome_ba = favoured_ba"


class CognitiveBias(NamedTuple):
    """The test of a bias: the condition, and SQL for comparisons concerned, informative (else left
    out) and biased.
    """

    condition: str
    concerned: str
    informative: str
    biased: str


BIASES = {  # in the order of every table and figure
    "order_first": CognitiveBias("order", ALL, SHOWN_TWICE, FIRST),
    "order_last": CognitiveBias("order", ALL, SHOWN_TWICE, LAST),
    "compassion_first": CognitiveBias("compassion", ALL, SHOWN_TWICE, FIRST),
    "compassion_last": CognitiveBias("compassion", ALL, SHOWN_TWICE, LAST),
    "egocentric_order": CognitiveBias("order", OWN, SHOWN_TWICE, CHOSE_OWN),
    "egocentric_comp": CognitiveBias("compassion", OWN, SHOWN_TWICE, CHOSE_OWN),
    "salience": CognitiveBias("order", SAME_ANSWER, LENGTHS_DIFFER, CHOSE_LONGER),
    "bandwagon": CognitiveBias("bandwagon", ALL, TOLD_TWICE, FOLLOWED),
    "attentional": CognitiveBias("attentional", ALL, TOLD_TWICE, FOLLOWED),
}
# Shares of a judge that chooses either place with probability 1/2 in both passes: 1/4 for one place
# in both passes, its own answer in both, or the favoured one in both. Salience is asked of verdicts
# that name one answer in both, either as likely.
CLOSED_FORM = dict.fromkeys(BIASES, 0.25) | {"salience": 0.5}


def cognitive_biases(comparisons: str, *, confidence: float, seed: int) -> Iterator[dict]:
    """Yield the cognitive biases of each judge in a canonical table of comparisons: rows of
    COGNITIVE_BIASES.

    One row per experiment, judge and bias. share = biased / n (CoBBLEr, arXiv 2309.17012, section
    3), with n the comparisons shown in both orders, also those without a valid verdict:

    * order_first, order_last: the same place is chosen in both orders; compassion_*: with the
      models' names shown (condition `compassion`).
    * egocentric_order, egocentric_comp: n are the comparisons of the judge's own answer with
      another's; biased where it is chosen in both orders.
    * salience: n are the comparisons in which one answer is chosen in both orders and the lengths
      differ; biased where it is the longer.
    * bandwagon, attentional: n are the comparisons with an added statement in both passes; biased
      where each pass follows it.

    The condition `order` and an empty one are the same prompt, CoBBLEr's plain one: within an
    experiment they are pooled. left_out counts uninformative comparisons: for salience those in
    which one answer is chosen in both orders, but the lengths are equal or one is unknown; for all
    others those in one order only, and for bandwagon and attentional also those without `favoured`
    in an order.

    valid is the share of the condition's verdicts that are not errors, random the threshold of a
    judge that always chooses at random. One that sometimes calls a tie, or errs, shows each bias
    less often: chance = random * chosen / n, with chosen the comparisons in which it chooses an
    answer in both orders; above_random is `yes` if the share is greater. Neither holds quality
    fixed: a judge whose own answers are better chooses them rightly. A bias whose comparisons are
    all left out has an empty share, one without comparisons no row. Intervals are those of
    `share_intervals`.
    """
    connection = connect()
    create_pairs(connection, comparisons)
    # SQL: biased, informative (n), concerned and chosen comparisons of each bias, then all verdicts
    counts = {}
    for bias, (condition, concerned, informative, biased) in BIASES.items():
        tested = f"{CONDITIONS[condition]} and {concerned}"
        counted = f"{tested} and {informative}"
        counts |= {
            bias: f"{counted} and {biased}",
            f"{bias} n": counted,
            f"{bias} concerned": tested,
        }
        counts[f"{bias} chosen"] = f"{counted} and {CHOSE_TWICE}"
    for (test, condition), order in product(CONDITIONS.items(), ORDERS):
        verdict = f"{condition} and outcome_{order}"
        counts |= {
            f"{test}_{order}": f"{verdict} is not null",
            f"{test}_{order} valid": f"{verdict} <> 'error'",
        }
    columns = ", ".join(
        f"count(*) filter (where {sql}) as {name(count)}" for count, sql in counts.items()
    )
    query = (
        f"select experiment, judge, item, {columns} from pairs group by all order by experiment,"
        " judge, item"
    )
    groups = read_groups(connection, query, ("experiment", "judge"), counts)
    statistics = {bias: (bias, f"{bias} n") for bias in BIASES}
    for share in shares(groups, counts, statistics, confidence=confidence, seed=seed):
        bias = share.statistic
        totals = share.totals
        biased, n, concerned, chosen = (
            totals[f"{bias}{what}"] for what in ("", " n", " concerned", " chosen")
        )
        if not concerned:
            continue
        test = BIASES[bias].condition
        verdicts, valid = (
            sum(totals[f"{test}_{order}{what}"] for order in ORDERS) for what in ("", " valid")
        )
        yield {
            **share.names,
            "bias": bias,
            "origin": "computed",
            **against_random(bias, biased / n if n else None, chosen / n if n else 1.0),
            "ci_low": share.interval["ci_low"],
            "ci_high": share.interval["ci_high"],
            "biased": biased,
            "n": n,
            "left_out": concerned - n,
            "valid": valid / verdicts,
        }


def against_random(bias: str, share: float | None, chosen: float = 1.0) -> dict:
    """A share and that of a random judge: `share`, `random`, `chance` and `above_random`, `yes` if
    the share exceeds chance.

    chosen: share of the comparisons with a choice in both orders.
    """
    random = CLOSED_FORM[bias]
    chance = above = None
    if share is not None:
        chance = random * chosen
        above = "yes" if share > chance else "no"
    return {"share": share, "random": random, "chance": chance, "above_random": above}


def judges_without_answers(comparisons: str) -> list[tuple[str, str]]:
    """Experiment and name of each judge that has no egocentric bias because it is none of the
    models it compares.
    """
    query = f"""
        select experiment, judge from {files([comparisons])}
        where {CONDITIONS["order"]} or {CONDITIONS["compassion"]}
        group by all having not bool_or(judge in (model_a, model_b)) order by all"""
    return connect().execute(query).fetchall()


def cognitive_table(
    *, study: str, comparisons: str, confidence: float, seed: int, outputs: Mapping[str, str]
) -> None:
    """Tabulate the cognitive biases of CoBBLEr."""
    without_answers = {}
    for experiment, judge in judges_without_answers(comparisons):
        without_answers.setdefault(experiment, []).append(judge)
    for experiment, judges in without_answers.items():
        among = f" of experiment '{experiment}'" if experiment else ""
        print(f"egocentric bias: these judges are not among the models{among}: {', '.join(judges)}")
    biases = cognitive_biases(comparisons, confidence=confidence, seed=seed)
    write_table(outputs["cognitive_biases"], COGNITIVE_BIASES, biases, study=study)
