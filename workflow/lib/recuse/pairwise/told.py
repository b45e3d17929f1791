"""What the three questions of the regression say together of each judge and family, in a verdict and in words."""

import math
from collections.abc import Iterator, Mapping, Sequence

from recuse.base.words import level, percent
from recuse.inference.verdict import (
    BEYOND,
    CANNOT_BE_TOLD,
    ESTABLISHED,
    NO_CLEAR_BIAS,
    QUESTIONS,
    SUGGESTIVE,
    Reply,
    verdict_on,
)
from recuse.model.design import ALL_JUDGES
from recuse.model.least_squares import holm, quantile
from recuse.pairwise.regression import BIASES, FAMILY, SELF, A, probability

CHOOSES = {
    SELF: "{term} chooses its own answers over equally strong ones in {share} of the verdicts that choose",
    FAMILY: "Judges of {term} choose answers of the family's other models over equally strong ones in {share} of the verdicts "
    "that choose",
}
INTERVAL = "({level} interval {low} to {high}{wordings}; {question})"
WHETHER = {SELF: "{term} favours its own answers", FAMILY: "judges of {term} favour the family's other models"}
UNTOLD = "It cannot be told whether {whether}: {reason}."
MISSED = "A share of {missed} would be found with a probability of {power}."
ORDINARY = "It may be an ordinary preference for one model: beyond such preferences the share is {share} ({low} to {high})."
UNKNOWN = "Whether it is more than an ordinary preference for one model cannot be told: {reason}."
OVERTURNED = {
    True: "This would be overturned if an unbiased judge, too, chose these answers in {share} of the verdicts, over answers "
    "that are equally strong by the verdicts of {whose}.",
    False: "This would be overturned if ordinary preferences for single models varied more than its other verdicts show: by a "
    "further standard deviation that moves one half to {share}.",
}
# Share of the error of C: below it, ordinary preferences are estimated as none, and C finds a bias in more than twice as many
# worlds without one as its level says (docs/checked.md).
NO_SPREAD = 0.1
HELD = (
    "It is held at suggestive: from so few models, ordinary preferences are estimated as none, and then this test finds biases "
    "too often."
)
WHOSE = {True: "the humans", False: "the other judges"}


def verdict_rows(rows: Sequence[Mapping], *, order: Sequence[str], confidence: float, power: float) -> Iterator[dict]:
    """Yield a verdict on each judge and family, judges first, in the order of `order`, then by name.

    rows: of the table of the regression. The verdict is that of `recuse.inference.verdict.verdict_on`, with p-values of C
    adjusted over judges, or families (Holm). The numbers are those of C, or of the first question with a bias if C has none.
    missed: the preference, in log odds, that C would find with probability `power`. overturned_at: what moves the
    interval to one half, of A and B the share that an unbiased judge would give these answers, against those that the strengths
    hold equal; of C, 1 / (1 + exp(-s)), s the standard deviation of further ordinary preferences, of the own cell alone:
    s^2 = (estimate / quantile)^2 - std_error^2.
    """
    place = {name: number for number, name in enumerate(order)}
    for quantity in BIASES:
        replies: dict[str, dict[str, Reply]] = {}
        errors: dict[str, dict[str, float]] = {}
        without_spread: set[str] = set()
        for row in rows:
            if row["quantity"] == quantity and row["term"] != ALL_JUDGES:
                replies.setdefault(row["term"], {})[row["question"]] = _reply(row, confidence, power)
                errors.setdefault(row["term"], {})[row["question"]] = row.get("std_error", math.nan)
                if row["question"] == BEYOND and row.get("spread", math.inf) < NO_SPREAD * row.get("std_error", 0.0):
                    without_spread.add(row["term"])
        terms = sorted(replies, key=lambda term: (place.get(term, len(place)), term))
        adjusted = holm([replies[term][BEYOND].p_value for term in terms])
        for term, adjusted_p in zip(terms, adjusted, strict=True):
            held = term in without_spread
            yield _row(quantity, term, replies[term], errors[term], adjusted_p, held=held, confidence=confidence, power=power)


def _reply(row: Mapping, confidence: float, power: float) -> Reply:
    """What one question says; nothing, with the reason, if nothing is concluded from its estimate."""
    if row.get("reason") or "ci_low" not in row:
        return Reply(reason=row.get("reason") or "no error of the estimate")
    df = row.get("df", float("inf"))
    detectable = (quantile(confidence, df) + quantile(2 * power - 1, df)) * row["std_error"]
    numbers = row["estimate"], row["ci_low"], row["ci_high"], row["p_value"]
    return Reply(*numbers, detectable, wordings=row.get("wordings", math.nan))


def _overturned(reply: Reply, question: str, std_error: float) -> float:
    """What would move the interval of a reply to 0, in log odds: a shift or, of C, a standard deviation."""
    if question != BEYOND:
        return reply.ci_low if reply.estimate > 0 else reply.ci_high
    half = (reply.ci_high - reply.ci_low) / 2
    return math.sqrt(max(0.0, (reply.estimate / half) ** 2 - 1)) * std_error


def _row(
    quantity: str,
    term: str,
    replies: Mapping[str, Reply],
    errors: Mapping[str, float],
    adjusted_p: float,
    *,
    held: bool,
    confidence: float,
    power: float,
) -> dict:
    """One verdict; errors: standard errors by question. held: at suggestive, as C rests on no spread of preferences."""
    verdict, side = verdict_on(replies, adjusted_p, confidence=confidence)
    held = held and verdict == ESTABLISHED
    verdict = SUGGESTIVE if held else verdict
    finding = [letter for letter, reply in replies.items() if side and reply.side == side]
    answering = [letter for letter in (BEYOND, *replies) if letter in replies and replies[letter].is_known]
    shown = BEYOND if BEYOND in finding or not finding else finding[0]
    if not replies[shown].is_known and answering:
        shown = answering[0]
    reply, beyond, reason = replies[shown], replies[BEYOND], ""
    if verdict == CANNOT_BE_TOLD:
        reasons = [each.reason for each in (beyond, *replies.values()) if each.reason]
        reason = (reasons or ["the questions contradict each other"])[0].removeprefix(f"{CANNOT_BE_TOLD}: ")
        reason = reason.removeprefix("not estimable: ")
    columns = {
        "quantity": quantity,
        "term": term,
        "verdict": verdict,
        "favours": {1: "yes", -1: "no", 0: ""}[side],
        "question": shown if reply.is_known else "",
        "estimate": reply.estimate,
        "ci_low": reply.ci_low,
        "ci_high": reply.ci_high,
        "p_value": reply.p_value,
        "adjusted_p_value": adjusted_p,
        "rests_on": " ".join(finding),
        "missed": beyond.detectable,
        "reason": reason,
        "wordings": reply.wordings,
    }
    if reply.is_known:
        ends = ("probability", reply.estimate), ("probability_low", reply.ci_low), ("probability_high", reply.ci_high)
        columns |= {name: probability(value) for name, value in ends}
        if side:
            columns["overturned_at"] = probability(_overturned(reply, shown, errors[shown]))
    words = _words(columns, shown, reply, beyond, confidence=confidence, power=power)
    return columns | {"words": f"{words} {HELD}" if held else words}


def _over_wordings(wordings: float) -> str:
    """For which wordings an interval holds, if judges were asked in several."""
    if math.isnan(wordings):
        return ""
    if wordings == 1:
        return ", for the one wording asked"
    return f", over {wordings} wordings" + (", which say little about others" if wordings == 2 else "")


def _words(columns: Mapping, shown: str, reply: Reply, beyond: Reply, *, confidence: float, power: float) -> str:
    """The verdict in sentences: what holds up, its size, how sure, and what would overturn it."""
    quantity, verdict = columns["quantity"], columns["verdict"]
    whether = WHETHER[quantity].format(term=columns["term"])
    untold = UNTOLD.format(whether=whether, reason=columns["reason"])
    if not reply.is_known:
        return untold
    shares = {name: percent(probability(getattr(reply, name))) for name in ("estimate", "ci_low", "ci_high")}
    size = CHOOSES[quantity].format(term=columns["term"], share=shares["estimate"])
    span = {"low": shares["ci_low"], "high": shares["ci_high"], "question": QUESTIONS[shown]}
    span["wordings"] = _over_wordings(reply.wordings)
    sentences = [f"{size} {INTERVAL.format(level=level(confidence), **span)}: {verdict}."]
    if verdict == CANNOT_BE_TOLD:
        return f"{untold} {sentences[0].rpartition(':')[0]}."
    if verdict == NO_CLEAR_BIAS:
        sentences.append(MISSED.format(missed=percent(probability(beyond.detectable)), power=percent(power)))
        return " ".join(sentences)
    if shown != BEYOND and beyond.is_known:
        span = {name: percent(probability(getattr(beyond, f"ci_{name}"))) for name in ("low", "high")}
        sentences.append(ORDINARY.format(share=percent(probability(beyond.estimate)), **span))
    elif shown != BEYOND:
        sentences.append(UNKNOWN.format(reason=beyond.reason.removeprefix("not estimable: ")))
    share = percent(columns["overturned_at"])
    sentences.append(OVERTURNED[shown != BEYOND].format(share=share, whose=WHOSE[shown == A]))
    return " ".join(sentences)
