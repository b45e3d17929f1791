"""The verdict on each bias: one of four, by what three questions say of it.

A, against humans: does the judge rate its own answers higher than the human scores account for?
B, against other judges: higher than the other judges of the same models?
C, beyond ordinary preference: by more than judges prefer one model to another anyway?

A and B find ordinary preferences as well, and so call many unbiased judges biased; C holds its size. docs/inference.md has the
share of unbiased judges that get each verdict.

Where a bias was asked about in several wordings of the rubric, all intervals are over wordings.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

from recuse.model.least_squares import holm
from recuse.model.spec import BIASES

ESTABLISHED, SUGGESTIVE, NO_CLEAR_BIAS, CANNOT_BE_TOLD = "established", "suggestive", "no clear bias", "cannot be told"
NOT_ESTIMABLE = "not estimable"  # begins a reason, and is a conclusion of a robustness check
QUESTIONS = {"A": "against humans", "B": "against other judges", "C": "beyond ordinary preference"}
AGAINST_HUMANS, BEYOND = "A", "C"
NUMBERS = ("estimate", "ci_low", "ci_high", "p_value", "detectable")
NO_OWN_ANSWERS = "it rates no answers of its own"
ASTRAY = "its ratings do not follow the human scores"
CONTRADICTION = "the questions contradict each other"
ADVICE = {
    ESTABLISHED: "leave out its ratings of itself, or use the debiased scores",
    SUGGESTIVE: "do not rely on its ratings of itself",
    NO_CLEAR_BIAS: "keep it",
    CANNOT_BE_TOLD: "add judges, models or prompts",
    CONTRADICTION: "add judges, models or prompts",
    NO_OWN_ANSWERS: "nothing: it does not judge itself",
    ASTRAY: "do not use it before it follows the human scores",
}
UNSETTLED = "not settled: add judges and models"
OF_FAMILIES = {  # in place of these, about a family
    ESTABLISHED: "leave out its judges' ratings of its models, or use the debiased scores",
    SUGGESTIVE: "do not rely on its judges' ratings of its models",
    CANNOT_BE_TOLD: "add a model or a judge of this family",
}


@dataclass(frozen=True)
class Reply:
    """What one question says of a bias, as a share of the scale; `detectable` is found with the power asked for."""

    estimate: float = nan
    ci_low: float = nan
    ci_high: float = nan
    p_value: float = nan
    detectable: float = nan
    reason: str = ""  # why there is none
    wordings: float = nan  # of the rubric, over which its interval is; NaN: all judges were asked by one

    @property
    def side(self) -> int:
        """1 for an interval above 0, -1 for one below, 0 for one that contains 0 and for none."""
        return (self.ci_low > 0) - (self.ci_high < 0)

    @property
    def is_known(self) -> bool:
        """Whether it has an interval."""
        return not isnan(self.ci_low)


def verdict_on(replies: Mapping[str, Reply], adjusted_p: float, *, confidence: float) -> tuple[str, int]:
    """The verdict on one bias by its replies to the QUESTIONS, and its side; adjusted_p: of C, by Holm over one kind of bias.

    CANNOT_BE_TOLD, if that is why C has no interval: too few ratings carry the bias. ESTABLISHED, if the interval of C excludes
    0 and adjusted_p is at most 1 - confidence. SUGGESTIVE, if any interval excludes 0, all on one side, and the estimate
    of C is not on the other. NO_CLEAR_BIAS else, if C has an interval. The rest is CANNOT_BE_TOLD. The side is 1 or -1 for
    ESTABLISHED and SUGGESTIVE, 0 for the others.
    """
    beyond = replies.get(BEYOND, Reply())
    if beyond.reason.startswith(CANNOT_BE_TOLD):
        return CANNOT_BE_TOLD, 0
    if beyond.side and adjusted_p <= (1 - confidence) * (1 + 1e-12):
        return ESTABLISHED, beyond.side
    sides = {reply.side for reply in replies.values()} - {0}
    if len(sides) == 1 and not (beyond.is_known and beyond.estimate * max(sides) < 0):
        return SUGGESTIVE, max(sides)
    return (NO_CLEAR_BIAS if beyond.is_known else CANNOT_BE_TOLD), 0


def verdict_rows(
    conclusions: Iterable[Mapping],
    judges: Iterable[str],
    astray: Iterable[str],
    *,
    checks: Mapping[str, str],
    confidence: float,
) -> Iterator[dict]:
    """Yield the rows of the table of verdicts: on each judge, in the order given, then on each family.

    Of judges there are none if no conclusion is about one, as none rates its own answers, but some are about families.

    conclusions: rows by `recuse.inference.robustness.conclusions`; those of the whole study count. judges: all that rate;
    astray: those whose ratings do not follow the human scores, of whom question A cannot be answered. checks: the robustness
    check that answers each of the QUESTIONS.
    """
    letters = {check: letter for letter, check in checks.items()}
    replies: dict[tuple[str, str], dict[str, Reply]] = {(BIASES[0], judge): {} for judge in judges}
    astray = {(BIASES[0], judge) for judge in astray}
    for row in (row for row in conclusions if not row["slice"]):
        by_letter = replies.setdefault((row["quantity"], row["term"]), {})
        if row["check"] in letters:
            reason = row["words"] if row["conclusion"] == NOT_ESTIMABLE else ""
            if letters[row["check"]] == AGAINST_HUMANS and (row["quantity"], row["term"]) in astray:
                reason = ASTRAY
            numbers = {} if reason else {name: row.get(name, nan) for name in (*NUMBERS, "wordings")}
            by_letter[letters[row["check"]]] = Reply(**numbers, reason=reason)
    of_judges = [by_letter for (quantity, _), by_letter in replies.items() if quantity == BIASES[0]]
    if not any(of_judges) and len(of_judges) < len(replies):
        replies = {key: by_letter for key, by_letter in replies.items() if key[0] != BIASES[0]}
    for quantity in BIASES:
        biases = {term: dict(sorted(by_letter.items())) for (name, term), by_letter in replies.items() if name == quantity}
        adjusted = holm([by_letter.get(BEYOND, Reply()).p_value for by_letter in biases.values()])
        for (term, by_letter), adjusted_p in zip(biases.items(), adjusted, strict=True):
            columns = _columns(by_letter, adjusted_p, confidence)
            if quantity == BIASES[1]:
                columns["advice"] = OF_FAMILIES.get(columns["verdict"], columns["advice"])
            yield {"quantity": quantity, "term": term, **columns}


def rating_judges(completeness: Iterable[Mapping], order: Sequence[str]) -> list[str]:
    """The judges in the rows of the table of completeness: first those in `order`, then the others by alphabet."""
    rating = {row["judge"] for row in completeness}
    return [*(judge for judge in order if judge in rating), *sorted(rating - {*order})]


def _columns(replies: Mapping[str, Reply], adjusted_p: float, confidence: float) -> dict:
    """The numbers are those of C, but of a suggestive bias that C does not find those of A, or of B."""
    verdict, side = verdict_on(replies, adjusted_p, confidence=confidence)
    finding = [letter for letter, reply in replies.items() if side and reply.side == side]
    shown = BEYOND if BEYOND in finding or not finding else finding[0]
    reply, reason = replies.get(shown, Reply()), ""
    if verdict == NO_CLEAR_BIAS:
        reason = _disagreement({letter: each.side for letter, each in replies.items() if each.side})
    if verdict == CANNOT_BE_TOLD:
        reasons = [each.reason for each in (replies.get(BEYOND, Reply()), *replies.values()) if each.reason]
        contradictory = not reasons and any(each.side for each in replies.values())
        reason = CONTRADICTION if contradictory else [*reasons, NO_OWN_ANSWERS][0]
    advice = ADVICE[reason if reason in ADVICE else verdict]
    if verdict == NO_CLEAR_BIAS and reason:
        advice = UNSETTLED
    if replies.get(AGAINST_HUMANS, Reply()).reason == ASTRAY:
        reason, advice = "; ".join(filter(None, dict.fromkeys([reason, ASTRAY]))), ADVICE[ASTRAY]
    return {
        "verdict": verdict,
        "favours": {1: "yes", -1: "no", 0: ""}[side],
        "question": shown if reply.is_known else "",
        **{name: getattr(reply, name) for name in NUMBERS[:-1]},
        "adjusted_p_value": adjusted_p,
        "rests_on": " ".join(finding),
        "wordings": reply.wordings,
        "missed": replies.get(BEYOND, Reply()).detectable,
        "reason": reason.removeprefix(f"{NOT_ESTIMABLE}: ").removeprefix(f"{CANNOT_BE_TOLD}: "),
        "advice": advice,
    }


def _disagreement(sides: Mapping[str, int]) -> str:
    """What is found of a bias that is not clear, by question; "" if nothing is."""
    if not sides:
        return ""
    letters = " and ".join(sides)
    if len({*sides.values()}) > 1:
        return f"{letters} point in opposite directions"
    return f"{letters} {'finds' if len(sides) == 1 else 'find'} one, C is on the other side of 0"
