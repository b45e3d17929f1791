"""One verdict for every kind of bias, from the reply that decides it.

Up to three questions are asked about a bias:

A, against people: does the judge rate its own answers higher than human scores account for?
B, against the other judges: higher than the other judges of the same answers do?
C, beyond ordinary preference: by more than judges prefer one model to another anyway?

A and B also find ordinary preferences, so they never decide where C can. Each kind of bias has one
decisive question, whose estimate and interval are the ones to show; the others stand beside it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan, nan, sqrt

from recuse.base.reasons import Reason, because
from recuse.base.tables import column_names
from recuse.base.words import percent
from recuse.model.least_squares import holm
from recuse.model.spec import FAMILY, SELF

VERDICTS = column_names(
    "study kind quantity term verdict favours estimate ci_low ci_high p_value adjusted_p_value",
    "probability_positive detectable A A_ci_low A_ci_high B B_ci_low B_ci_high reason note",
    "wordings agreement agreement_ci_low agreement_ci_high agreement_least disagreement",
)

AGAINST_PEOPLE, AGAINST_JUDGES, BEYOND = "A", "B", "C"
QUESTIONS = {
    AGAINST_PEOPLE: "against people",
    AGAINST_JUDGES: "against the other judges",
    BEYOND: "beyond ordinary preference",
}
FAVOURS, DISFAVOURS = "yes", "no"
# The tables have these of a reply.
NUMBERS = (
    "estimate",
    "ci_low",
    "ci_high",
    "p_value",
    "probability_positive",
    "detectable",
    "wordings",
)
# Probability by all judges together that a bias is on the side of its own interval
LEAST_SUPPORT = 0.8
# A judge whose correlation with people is below this, with all of its interval, hardly agrees;
# without human scores, one whose correlation with the other judges is. Where the human scores have
# errors it is times the root of their reliability, by which errors lower every correlation.
LEAST_AGREEMENT = 0.3
ROUNDING = 1e-12  # A p-value may miss the level by so much and still equal it.


class Verdict(StrEnum):
    """What the decisive reply says about a bias."""

    # Found, and confirmed: by all judges together, or after correcting for the number of tests
    ESTABLISHED = "established"
    # Its own interval excludes 0; or the bias is confirmed, but its test is in doubt
    LIKELY = "likely"
    # Its interval includes 0, or all judges together make a bias on that side doubtful, or the test
    # is in doubt and they do not confirm it
    NOT_SHOWN = "not shown"
    INCONCLUSIVE = "inconclusive"  # there is no interval to trust


FOUND = (Verdict.ESTABLISHED, Verdict.LIKELY)


@dataclass(frozen=True)
class Reply:
    """What one question says about a bias; without an interval, why."""

    estimate: float = nan
    ci_low: float = nan
    ci_high: float = nan
    p_value: float = nan
    detectable: float = nan  # the bias that its test finds with the power asked for
    reason: str = ""  # by `recuse.base.reasons.because`
    # By the hierarchical model of all judges, that the bias is above 0
    probability_positive: float = nan
    # Of the rubric, over which its interval is; NaN: the judges were asked in one
    wordings: float = nan
    missing: float = nan  # share of own ratings, whatever values of which the interval allows for
    doubt: str = ""  # about the test, which lowers the verdict, as `reason`

    @property
    def side(self) -> int:
        """1 for an interval above 0, -1 for one below, 0 for one that contains 0 and for none."""
        return int(self.ci_low > 0) - int(self.ci_high < 0)

    @property
    def support(self) -> float:
        """Probability, by all judges together, that the bias is on the side of the interval; NaN
        where they are not asked.
        """
        return self.probability_positive if self.side > 0 else 1 - self.probability_positive

    @property
    def note(self) -> str:
        """What a reader should know beside the verdict, as `reason`; or ""."""
        if self.side and self.support < LEAST_SUPPORT:
            return because(Reason.UNSUPPORTED, share=percent(self.support))
        if self.side and self.doubt:
            return self.doubt
        return because(Reason.MISSING_OWN, share=percent(self.missing)) if self.missing > 0 else ""


Replies = Mapping[str, Reply]  # by question


@dataclass(frozen=True)
class Kind:
    """How verdicts on one kind of bias come about."""

    name: str
    decisive: str  # the question whose reply decides
    establishes: bool = True  # by its test, corrected for the number of judges or families


KINDS = {
    kind.name: kind
    for kind in (
        Kind("ratings", BEYOND),
        Kind("pairs", BEYOND),  # the regression of verdicts on two answers
        # Shares of verdicts less those of the human labels
        Kind("shares", AGAINST_PEOPLE, establishes=False),
        # The share of verdicts for the answer shown first, less one half
        Kind("position", "first"),
        Kind("gold", "both"),  # answers that are right or wrong by a key
        Kind("randomised", "contrast"),  # the same answer, shown with one thing changed
    )
}


def verdict_on_reply(reply: Reply, adjusted_p: float, *, confidence: float) -> Verdict:
    """The verdict by a decisive reply.

    A bias whose interval excludes 0 is established if all judges together support its side with
    probability (1 + confidence) / 2, and not shown if they do with less than LEAST_SUPPORT. Where
    they are not asked, or the interval is over wordings, of which they know nothing, it needs the
    corrected test to be established. A doubt about the test leaves likely what would be
    established, and not shown what would be likely.

    adjusted_p: the p-value corrected for the number of judges or families, NaN where nothing can be
    established.
    """
    if reply.reason or isnan(reply.ci_low):
        return Verdict.INCONCLUSIVE
    if not reply.side or reply.support < LEAST_SUPPORT:
        return Verdict.NOT_SHOWN
    is_confirmed = adjusted_p <= (1 - confidence) * (1 + ROUNDING)
    if not isnan(reply.support):
        is_confirmed = reply.support >= (1 + confidence) / 2 and (
            is_confirmed or not reply.wordings > 1
        )
    if reply.doubt:
        return Verdict.LIKELY if is_confirmed else Verdict.NOT_SHOWN
    return Verdict.ESTABLISHED if is_confirmed else Verdict.LIKELY


def verdict_rows(
    kind: Kind, quantity: str, replies: Mapping[str, Replies], *, confidence: float
) -> Iterator[dict]:
    """Yield the rows of the table of verdicts on one quantity.

    replies: of each judge or family, in the order of the rows; one without the decisive reply has
    no own answers to judge. estimate, ci_low, ci_high, p_value and detectable are those of the
    decisive reply, empty where it is not trusted; A, B and their intervals are of the other
    questions, where they have one. favours: `yes` for a bias in favour, `no` against.
    """
    nothing = Reply(
        reason=because(Reason.NO_SIBLINGS if quantity == FAMILY else Reason.NO_OWN_ANSWERS)
    )
    decisive = [each.get(kind.decisive, nothing) for each in replies.values()]
    p_values = [nan if reply.reason else reply.p_value for reply in decisive]
    adjusted = holm(p_values) if kind.establishes else [nan] * len(p_values)
    for (term, each), reply, adjusted_p in zip(replies.items(), decisive, adjusted, strict=True):
        found = verdict_on_reply(reply, adjusted_p, confidence=confidence)
        row = {
            "kind": kind.name,
            "quantity": quantity,
            "term": term,
            "verdict": found.value,
            "note": reply.note,
        }
        if found in FOUND:
            row |= {"favours": FAVOURS if reply.side > 0 else DISFAVOURS}
        if found is Verdict.INCONCLUSIVE:
            row["reason"] = reply.reason or because(Reason.NO_INTERVAL)
        else:
            row |= {name: getattr(reply, name) for name in NUMBERS} | {
                "adjusted_p_value": adjusted_p
            }
        for letter in (AGAINST_PEOPLE, AGAINST_JUDGES):
            other = each.get(letter)
            if letter != kind.decisive and other and not other.reason:
                row |= {
                    letter: other.estimate,
                    f"{letter}_ci_low": other.ci_low,
                    f"{letter}_ci_high": other.ci_high,
                }
        yield row


def verdicts_on_ratings(
    conclusions: Iterable[Mapping],
    judges: Iterable[str],
    agreement: Mapping[str, Sequence[float]],
    *,
    with_others: Mapping[str, Sequence[float]] | None = None,
    reliability: float = 1.0,
    checks: Mapping[str, str],
    confidence: float,
) -> Iterator[dict]:
    """Yield the verdict on each judge, in the order given, then on each family.

    Without a conclusion about any judge, as none rates its own answers, but some about families,
    there are none on judges.

    conclusions: rows by `recuse.inference.robustness.conclusions`; those of the whole study count.
    judges: all that rate; agreement: judge -> correlation with the human scores and the ends of its
    interval. Of a judge whose interval is not above 0, A says nothing. with_others: the same with
    the mean of the other judges, where there are no human scores. reliability: of the human
    scores, the share of their variance that is not error. checks: question -> the robustness check
    that answers it. disagreement, in the rows: with whom a judge hardly agrees, as `reason`.
    """
    letters = {check: letter for letter, check in checks.items()}
    replies: dict[str, dict[str, dict[str, Reply]]] = {
        SELF: {judge: {} for judge in judges},
        FAMILY: {},
    }
    for row in conclusions:
        if not row["slice"]:
            by_letter = replies[row["quantity"]].setdefault(row["term"], {})
            if row["check"] in letters:
                by_letter[letters[row["check"]]] = _reply(row)
    of_judges, of_families = replies.values()
    if not any(of_judges.values()) and of_families:
        of_judges.clear()
    least = LEAST_AGREEMENT * sqrt(reliability)
    astray = {judge for judge, (*_, high) in (with_others or {}).items() if high < LEAST_AGREEMENT}
    for judge, (_, low, _) in agreement.items():
        if judge in of_judges and not low > 0:
            of_judges[judge].pop(AGAINST_PEOPLE, None)
    for row in verdict_rows(KINDS["ratings"], SELF, of_judges, confidence=confidence):
        if row["term"] in agreement:
            value, low, high = agreement[row["term"]]
            row |= {
                "agreement": value,
                "agreement_ci_low": low,
                "agreement_ci_high": high,
                "agreement_least": least,
            }
            if high < least or not low > 0:
                row["disagreement"] = because(Reason.HARDLY_AGREES)
        if row["term"] in astray:
            row["disagreement"] = because(Reason.HARDLY_AGREES_WITH_JUDGES)
        yield row
    yield from verdict_rows(KINDS["ratings"], FAMILY, of_families, confidence=confidence)


def _reply(row: Mapping) -> Reply:
    numbers = {name: row.get(name, nan) for name in (*NUMBERS, "missing")}
    return Reply(**numbers, reason=row["reason"], doubt=row.get("doubt", ""))


def rating_judges(completeness: Iterable[Mapping], order: Sequence[str]) -> list[str]:
    """The judges in the rows of the table of completeness: first those in `order`, then the others
    by alphabet.
    """
    rating = {row["judge"] for row in completeness}
    return [*(judge for judge in order if judge in rating), *sorted(rating - {*order})]
