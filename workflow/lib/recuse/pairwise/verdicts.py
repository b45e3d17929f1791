"""The verdict on each judge and family of a study of comparisons, by the engine in
`recuse.inference.verdict`.

A size is an excess of a share of verdicts: of the regression, over one half against an equally
strong answer; of shares, over the share that people choose in the same comparisons; of the answer
shown first, over one half.
"""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from recuse.base.reasons import Reason, because
from recuse.inference.verdict import KINDS, Reply, verdict_rows
from recuse.model.design import ALL_JUDGES
from recuse.model.least_squares import detectable
from recuse.model.spec import BIASES
from recuse.pairwise.choices import EXCLUDED, FAMILY, FEW, FIRST, HALF, LONGER, MAIN, SELF
from recuse.pairwise.regression import C, probability

# Quantities with a verdict, and why a judge or family has no comparison of their kind.
ABSENT = {
    SELF: Reason.NO_OWN_COMPARED,
    FAMILY: Reason.NO_SIBLINGS_COMPARED,
    LONGER: Reason.SAME_LENGTHS,
    FIRST: Reason.ONE_ORDER,
}
# Below this share of its standard error, the spread of ordinary preferences counts as not found: C
# then finds a bias in more than twice as many worlds without one as its level says
# (docs/simulations.md).
NO_SPREAD = 0.1


def verdicts(
    choices: Sequence[Mapping],
    regression: Sequence[Mapping],
    judges: Sequence[str],
    *,
    of_one_model: Container[str] = (),
    order: Sequence[str],
    confidence: float,
    power: float,
) -> Iterator[dict]:
    """Yield the rows of the table of verdicts, by quantity and in the order of `order`, then by
    name.

    choices: rows by `recuse.pairwise.choices.choices`. regression: rows by
    `recuse.pairwise.regression.regression_rows`, as numbers or as texts of its table; they decide
    on own and family answers. Without any, the shares of choices do. judges: all that have a
    verdict on a pair. of_one_model: those whose pairs are two answers of one model. power: with
    which a test finds a bias of the size `detectable`.
    """
    place = {name: number for number, name in enumerate(order)}
    test = {"confidence": confidence, "power": power}
    for quantity in ABSENT:
        replies = {}
        if regression and quantity in BIASES:
            kind = KINDS["pairs"]
            for row in regression:
                if row["quantity"] == quantity and row["term"] != ALL_JUDGES:
                    replies.setdefault(row["term"], {})[row["question"]] = _regression_reply(
                        row, **test
                    )
        else:
            kind = KINDS["position" if quantity == FIRST else "shares"]
            found = {
                (row["term"], row["draws"]): row for row in choices if row["quantity"] == quantity
            }
            for name in {*(term for term, _ in found), *(judges if quantity != FAMILY else ())}:
                half, excluded = (found.get((name, draws)) for draws in (HALF, EXCLUDED))
                rows = (half, excluded) if MAIN[quantity] == HALF else (excluded, half)
                replies[name] = {kind.decisive: _share_reply(quantity, *rows, **test)}
        if quantity == SELF:
            for name in filter(of_one_model.__contains__, replies):
                reply = Reply(reason=because(Reason.ONE_MODEL_COMPARED))
                replies[name] = {kind.decisive: reply}
        terms = sorted(replies, key=lambda term: (place.get(term, len(place)), term))
        yield from verdict_rows(
            kind, quantity, {term: replies[term] for term in terms}, confidence=confidence
        )


def _regression_reply(row: Mapping, **test: float) -> Reply:
    """The reply of one row; in C's, a spread of preferences that is not found is a doubt, too."""
    if row.get("reason"):
        return Reply(reason=row["reason"])
    columns = ("estimate", "ci_low", "ci_high", "std_error", "p_value", "spread", "df")
    *log_odds, std_error, p_value, spread, df = (_number(row.get(name)) for name in columns)
    log_odds.append(detectable(std_error, math.inf if math.isnan(df) else df, **test))
    estimate, low, high, least = (probability(each) - 0.5 for each in log_odds)
    wordings = int(row["wordings"]) if row.get("wordings") else math.nan
    no_spread = row["question"] == C and spread < NO_SPREAD * std_error
    doubt = row.get("doubt") or (because(Reason.NO_SPREAD_FOUND) if no_spread else "")
    return Reply(estimate, low, high, p_value, least, wordings=wordings, doubt=doubt)


def _number(value: str | float | None) -> float:
    return math.nan if value in (None, "") else float(value)


def _share_reply(quantity: str, row: Mapping | None, other: Mapping | None, **test: float) -> Reply:
    """The reply of a row of choices, refused if the other way of counting draws leads elsewhere."""
    if row is None:
        return Reply(reason=because(Reason.ALL_DRAWS if other else ABSENT[quantity]))
    by_people = quantity != FIRST  # people say nothing about the place of an answer
    if by_people and not row["question"]:
        return Reply(reason=because(Reason.NO_HUMAN_LABELS))
    if row["questions"] < FEW:
        return Reply(reason=because(Reason.FEW_QUESTIONS, questions=row["questions"], least=FEW))
    reply, otherwise = (
        Reply(each["estimate"], each["ci_low"], each["ci_high"], each["p_value"])
        for each in (row, other or row)
    )
    turns = reply.estimate * otherwise.estimate < 0 if reply.side else otherwise.side
    if by_people and turns:
        points = {each["draws"]: round(100 * each["estimate"], 1) for each in (row, other)}
        return Reply(reason=because(Reason.DEPENDS_ON_DRAWS, **points))
    return replace(reply, detectable=detectable(row["std_error"], row["questions"] - 1, **test))
