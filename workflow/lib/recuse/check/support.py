"""What estimates can rest on: which biases can be estimated, how many prompts there are, how
reliable the human scores are.

For each bias under estimands A, B and C: whether it can be estimated, or why not, and how large it
must be for a study like this to find it. The verdict sums up what the ratings support, and what
they do not.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

import numpy as np

from recuse.base.reasons import WITHOUT_PEOPLE, Reason, because, code, in_words, parse
from recuse.base.settings import Setting, written
from recuse.check.contents import EQUATION
from recuse.check.facts import FINE, LETTERS, NOTE, STOP, WARNING, Facts, Finding, Findings, said
from recuse.data.cells import Need
from recuse.data.study import StudyTables
from recuse.inference.idiosyncrasy import (
    idiosyncrasies,
    listed_biases,
)
from recuse.inference.judge_model import cell_means
from recuse.inference.power import EXACT, over_dimensions, power_by_judge, study_like
from recuse.inference.reliability import Reliability
from recuse.inference.wordings import ways_asked, widening
from recuse.model.design import design_terms
from recuse.model.estimable import (
    biases_without_judges,
    fitted_to,
    not_estimable,
    spec_slices,
    study_for,
)
from recuse.model.identifiability import identifiability
from recuse.model.spec import BIASES, EQUATION_1, Spec

BY_MODEL = Spec.of("model_effects", terms=(*EQUATION_1, "model"))
# What a bias may be tied to, in the order in which it is named
TIED_TO = ("intercept", "slope", "model", "dimension", *BIASES)
FEW = 30  # prompts: below, errors clustered by prompt are too small
LOW = 0.5  # reliability
HALF = 0.5  # of the rows: with fewer lengths, fits with length are about other ratings
WIDE = 1.5  # times as wide as with many wordings: an interval over few
LARGE = 0.1  # of the unit scale: a self-bias that large is seen without a study


class BiasTerms(dict[tuple[str, str, str], str]):
    """Which biases are estimable: (estimand, quantity, judge or family) -> "", or the reason that
    it is not.
    """

    def estimable(self, letter: str, quantity: str) -> list[str]:
        """Judges or families for which an estimand is estimable."""
        return [
            term
            for (of, kind, term), reason in self.items()
            if (of, kind) == (letter, quantity) and not reason
        ]

    def every(self, quantity: str) -> list[str]:
        """All judges or families of judges."""
        return sorted({term for _, kind, term in self if kind == quantity})


def terms_by_letter(facts: Facts, constant: Collection[str]) -> BiasTerms:
    """Find which biases the designs of A (Equation 1), B (with effects of models) and C (unrelated
    cells) can estimate.

    Without human scores of all rows, B and C have no slopes on them. constant: judges that always
    give the same value, whose estimated biases would be 0 whatever the true ones are.
    """
    study, family, judges = facts.study, facts.families(), facts.names("judge")
    silent = set(family.values()) - {family[judge] for judge in judges if judge not in constant}
    same_value = {("self_bias", judge): because(Reason.ONE_VALUE) for judge in constant}
    same_value |= {("family_bias", each): because(Reason.ONE_VALUE_EACH) for each in silent}
    compared = study.independent
    ((_, moments),) = spec_slices(EQUATION, compared)
    unrelated = cell_means(moments, reference=facts.cells.has_reference)
    absent = biases_without_judges(study.doubts, compared.cells().factors)
    by_model = identifiability(fitted_to(BY_MODEL, study), compared)
    of_c = listed_biases(unrelated, doubts=study.doubts)
    designs = {
        "A": _equation_terms(study),
        "B": _reasons(by_model) | absent,
        "C": _reasons(vars(bias) for bias in of_c),
    }
    found = BiasTerms()
    for letter, reasons in designs.items():
        for key, reason in reasons.items():
            if key[0] not in BIASES:
                continue
            if not reason:
                reason = same_value.get(key, "")
            elif code(reason) not in WITHOUT_ANY:
                if len(judges) == 1 and letter != "A":
                    reason = because(Reason.ONE_JUDGE)
                elif len(set(family.values())) == 1:
                    reason = because(Reason.ONE_FAMILY)
            found[letter, *key] = reason
    return found


def _reasons(rows: Iterable[Mapping]) -> dict[tuple[str, str], str]:
    """Quantity and term of each row -> the reason that it is not estimable, or ""."""
    return {(row.get("quantity"), row.get("term")): row.get("reason", "") for row in rows}


def _equation_terms(study: StudyTables) -> dict[tuple[str, str], str]:
    """Which biases, and other terms, A can estimate."""
    part, unfit = study_for(EQUATION, study), not_estimable(EQUATION, study)
    terms = design_terms(study.cells().factors)
    if unfit is not None:
        return _reasons({**vars(term), "reason": unfit} for term in terms)
    reasons = _reasons(identifiability(EQUATION, part))
    if part is not study:
        for key in sorted((term.quantity, term.term) for term in terms if term.carried.any()):
            if code(reasons.get(key, Reason.NO_OWN_ANSWERS)) in OF_ROWS:
                reasons.pop(key, None)  # so that it comes last
                reasons[key] = because(Reason.NO_SCORED_ANSWERS)
    return reasons


OF_ROWS = (Reason.NO_OWN_ANSWERS, Reason.NO_SIBLINGS)
REMEDIED = (
    *OF_ROWS,
    Reason.NO_SLOPE,
    Reason.ONE_FAMILY,
    Reason.ONE_JUDGE,
    Reason.NO_SCORED_ANSWERS,
)
# Their numbers differ by judge, so that the reason is given without them.
IN_SHORT = (Reason.FEW_PROMPTS, Reason.FEW_MODELS)
OF_DOUBTS = (Reason.LONE_LEVEL, Reason.OTHER_SCALE, Reason.COPIED_RATINGS)
WITHOUT_ANY = (*OF_ROWS, *OF_DOUBTS, *WITHOUT_PEOPLE, Reason.NO_SCORED_ANSWERS)
OF_VALUES = (Reason.ONE_VALUE, Reason.ONE_VALUE_EACH)
WARNED_OF = (Reason.ONE_VALUE, *OF_DOUBTS)


def _in_words(reason: str) -> str:
    """The sentence of a reason, with the terms that a bias is tied to."""
    if code(reason) is not Reason.TIED:
        return in_words(reason)
    to = parse(reason)[1]["to"]
    phrases = [said("tied", quantity, names=to[quantity]) for quantity in TIED_TO if quantity in to]
    return said("tied", phrases=phrases)


def _remedy(reason: str, letter: str) -> str:
    """What would make a bias estimable; "" where another finding says so."""
    why = code(reason)
    if why in (*OF_VALUES, *OF_DOUBTS, *WITHOUT_PEOPLE):
        return ""
    return said("remedies", why if why in REMEDIED else letter)


def estimable(terms: BiasTerms, models: Collection[str]) -> Findings:
    """Report for each bias, under each estimand, whether it can be estimated.

    If no judge rates its own answers, as others warn of, nothing is advised about each.
    """
    of_self = {
        code(reason) for (_, quantity, _), reason in terms.items() if quantity == "self_bias"
    }
    for (letter, quantity, term), reason in terms.items():
        about = {"letter": letter, "quantity": quantity}
        if not reason:
            yield Finding("estimable", term, 1, **about)
            continue
        why = code(reason)
        by_design = quantity == "self_bias" and of_self == {Reason.NO_OWN_ANSWERS}
        expected = quantity == "self_bias" and term in models and why not in WARNED_OF
        level = FINE if by_design or why in WITHOUT_PEOPLE else WARNING if expected else NOTE
        remedy = "" if by_design else _remedy(reason, letter)
        yield Finding(
            "estimable/not", term, 0, level, reason=_in_words(reason), remedy=remedy, **about
        )


def estimable_biases(
    facts: Facts, terms: BiasTerms, reliability: Mapping[str, Reliability], power: Sequence[Mapping]
) -> Findings:
    """Report what can be estimated, and what cannot; power: rows of `judge_power`.

    The level is stop if no self- or family-bias can be estimated, as a fit would be of no use.
    """
    supported, lacking = [], []
    scored, share = facts.scored.has_reference, facts.with_length / facts.rows
    if not scored:
        lacking.append(said("supports", "gap", reason=not_estimable(EQUATION, facts.study)))
    for quantity in BIASES:
        names = terms.every(quantity)
        # Number of biases -> the estimands that can estimate so many
        estimands: dict[int, list[str]] = {}
        for letter in LETTERS:
            estimands.setdefault(len(terms.estimable(letter, quantity)), []).append(letter)
        estimands.pop(0, None)
        if estimands:
            supported.append(
                said(
                    "supports",
                    "biases",
                    quantity=quantity,
                    counts=sorted(estimands.items(), reverse=True),
                    total=len(names),
                )
            )
        without: dict[tuple[str, ...], list[str]] = {}
        for term in names:
            among = LETTERS if scored else LETTERS[1:]
            letters = tuple(each for each in among if terms.get((each, quantity, term), True))
            without.setdefault(letters, []).append(term)
        for letters, of in without.items():
            if letters:
                lacking.append(
                    said("supports", "lacking", quantity=quantity, names=of, letters=letters)
                )
    (supported if share >= HALF else lacking).append(said("supports", "length", share=share))
    if Need.ANSWERS in facts.study.lacks:
        lacking.append(said("supports", "answers"))
    if scored:
        known = {name for name, of in reliability.items() if 0 < of.mean <= 1}
        reliable = known.issuperset(facts.names("dimension"))
        correction = said("supports", "correction", reliable=reliable)
        (supported if reliable else lacking).append(correction)
    lacking += _inconclusive(facts, terms)
    if facts.prompts == 1:
        lacking.append(said("supports", "one_prompt"))
    # What the most sensitive judge's test is likely to find.
    smallest: dict[str, float] = {}
    for row in power:
        letter, size = row["estimand"][0], row["detectable"]
        smallest[letter] = min(size, smallest.get(letter, size))
    if sizes := {letter: size for letter, size in smallest.items() if size < 1}:
        lacking.append(said("supports", "sizes", sizes=sizes))
    if never := [letter for letter in smallest if letter not in sizes]:
        lacking.append(said("supports", "no_size", letters=never))
    if number := sum(not reason for reason in terms.values()):
        yield Finding("verdict/supports", "", number, FINE, 1.0, supported=supported)
    else:
        remedies = [
            _remedy(reason, letter)
            for (letter, quantity, _), reason in terms.items()
            if quantity == "self_bias"
        ]
        is_constant = any(code(reason) in OF_VALUES for reason in terms.values())
        remedy = next(filter(None, remedies), "")
        yield Finding("verdict", "", 0, STOP, 1.0, remedy=remedy, is_constant=is_constant)
    if lacking:
        yield Finding("verdict/does not support", "", len(lacking), lacking=lacking)


def _inconclusive(facts: Facts, terms: BiasTerms) -> Iterator[str]:
    """The verdicts that will be inconclusive though C can be estimated, with the reason that its
    fit gives.
    """
    (fitted,) = idiosyncrasies(EQUATION, facts.study)
    refused: dict[tuple[str, str], list[str]] = {}
    for bias in fitted.biases:
        if bias.reason and terms.get(("C", bias.quantity, bias.term)) == "":
            why, numbers = parse(bias.reason)
            words = (
                said("inconclusive", why, **numbers) if why in IN_SHORT else in_words(bias.reason)
            )
            refused.setdefault((bias.quantity, words), []).append(bias.term)
    for (quantity, words), names in refused.items():
        yield said("inconclusive", quantity=quantity, names=names, why=words)


def prompts(facts: Facts) -> Findings:
    """Count the prompts of each dimension, and those that carry each self- and family-bias; report
    prompts nested in models.
    """
    for _, dimension, rows in facts.groups("dimension"):
        answered = int(facts.completeness["prompts"][rows].max())
        number = min(answered, facts.prompts)  # occasions of a prompt are answered each
        level = WARNING if number < FEW else FINE
        yield Finding("prompts", dimension, number, level, 1 / number, few=FEW)
    for (quantity, term), of in facts.carriers.items():
        level = WARNING if of.effective < FEW <= facts.prompts else FINE
        yield Finding(
            "prompts/carriers",
            term,
            of.prompts,
            level,
            1 / of.effective,
            quantity=quantity,
            carriers=of,
            prompts=facts.prompts,
        )
    if len(facts.apart) > 1:
        first, *others = facts.apart
        yield Finding(
            "prompts/nested",
            "",
            len(facts.apart),
            WARNING,
            1.0,
            first=first,
            others=[*chain(*others)],
        )


def wordings(facts: Facts, *, confidence: float) -> Findings:
    """Report how much wider few wordings of the rubric make intervals over wordings; there are none
    with one wording.
    """
    number = len(ways_asked(facts.study)["wording"])
    if number < 2:
        return
    wider = widening(number, confidence=confidence)
    enough = next(more for more in count(2) if widening(more, confidence=confidence) <= WIDE)
    yield Finding(
        "wordings",
        "",
        number,
        WARNING if wider > WIDE else FINE,
        1 / number,
        wider=wider,
        enough=enough,
        then=widening(enough, confidence=confidence),
    )


def reliability_known(facts: Facts, reliability: Mapping[str, Reliability]) -> Findings:
    """Report for each dimension the number of raters per human score, and the reliability of the
    scores.
    """
    raters = str(Setting("raters"))
    if facts.imports:
        columns = Setting("references", "columns", "rating")
        raters = columns.line(written(["first", "second"]))
    for dimension in facts.names("dimension") if facts.scored.has_reference else ():
        if dimension not in reliability:
            yield Finding("reliability/unknown", dimension, None, WARNING, raters=raters)
            continue
        of = reliability[dimension]
        yield Finding(
            "reliability",
            dimension,
            of.mean,
            FINE if LOW <= of.mean <= 1 else WARNING,
            1 - of.mean,
            is_usable=0 < of.mean <= 1,
            raters=of.raters,
            single=of.single,
        )


def judge_power(
    facts: Facts,
    terms: BiasTerms,
    reliability: Mapping[str, Reliability],
    **asked: float,
) -> list[dict]:
    """The power of the tests of each judge's self-bias by A and C, where these can be estimated,
    with as many ratings of each pair of judge and model as there are: with human scores for A, of
    all for C.

    Unknown reliability counts as 1, unknown ordinary preference as none. [] without human scores.
    asked: self_bias, power and confidence of `power_by_judge`.
    """
    if not facts.scored.has_reference:
        return []
    score = over_dimensions([vars(of) for of in reliability.values()]) or EXACT
    plan = study_like(EQUATION, facts.study, *score)
    if plan is None:
        return []
    plan = replace(plan, raters=score[1])
    prompts = {"A": plan.prompts, "C": plan.prompts * facts.prompts / facts.scored_prompts}
    found = []
    for row in power_by_judge(
        plan, judges=plan.judges, prompts=sorted({*prompts.values()}), **asked
    ):
        letter = row["estimand"][0]
        is_estimable = row["judge"] in terms.estimable(letter, "self_bias")
        if is_estimable and "detectable" in row and row["prompts"] == prompts.get(letter):
            found.append(row)
    return found


def detectable_biases(
    facts: Facts, power: Sequence[Mapping], *, self_bias: float, wanted: float
) -> Findings:
    """Report for each judge the smallest self-bias that A and C detect, and the part of their error
    that no prompts remove.

    power: rows of `judge_power`, for this self_bias and the power `wanted`.
    """
    if not power:
        yield Finding("detectable/unknown", "", None, NOTE)
    steps = [facts.steps[name] for name in facts.cells.factor("dimension")]
    widths = {float(width) for width in np.unique(np.ptp(facts.cells.scale, axis=1) * steps)}
    for row in power:
        letter, judge, value = row["estimand"][0], row["judge"], row["detectable"]
        carriers, lacks = facts.carriers["self_bias", judge], ""
        if value > self_bias:
            lacks = "models" if math.isinf(row["prompts_needed"]) else "prompts"
            lacks = "answers" if 2 * carriers.prompts < facts.prompts else lacks
        level = WARNING if value > LARGE else NOTE if value > self_bias else FINE
        shown = {"letter": letter, "row": row}
        yield Finding(
            "detectable",
            judge,
            value,
            level,
            value,
            # Points of the rating scale as the user writes it
            points=value * max(widths) if len(widths) == 1 else None,
            wanted=wanted,
            self_bias=self_bias,
            lacks=lacks,
            carriers=carriers,
            prompts=facts.prompts,
            **shown,
        )
        yield Finding("detectable/floor", judge, row["floor"], **shown)
