"""What estimates can rest on: which biases can be estimated, how many prompts there are, how
reliable the human scores are.

For each bias under estimands A, B and C: whether it can be estimated, or why not, and how large it
must be for a study like this to find it. The verdict sums up what the ratings support, and what
they do not.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

import numpy as np

from recuse.base.reasons import WITHOUT_PEOPLE, Reason, because, code, in_words, parse
from recuse.base.settings import Setting, written
from recuse.base.words import counted, enumerated, percent
from recuse.check.contents import EQUATION
from recuse.check.facts import FINE, LETTERS, NOTE, STOP, WARNING, Facts, Finding, spoken
from recuse.data.study import StudyTables
from recuse.inference.idiosyncrasy import (
    LEAST_MODELS,
    LEAST_PROMPTS,
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
QUANTITY = {"self_bias": "self-bias", "family_bias": "family-bias"}
NOUNS = {"self_bias": ("judge", "judges"), "family_bias": ("family", "families")}
TIED_TO = {  # quantity -> what a bias cannot be distinguished from, for all terms and for some
    "intercept": ("how strict the judges are", "how strict {} is"),
    "slope": ("the slopes on the human scores", "the slope of {} on the human scores"),
    "model": ("how good the models' answers are", "how good the answers of {} are"),
    "dimension": ("how high the dimensions are rated", "how high {} is rated"),
    "self_bias": ("the judges' other self-biases", "the self-bias of {}"),
    "family_bias": ("the families' biases", "the family-bias of {}"),
}
FEW = 30  # prompts: below, errors clustered by prompt are too small
LOW = 0.5  # reliability
HALF = 0.5  # of the rows: with fewer lengths, fits with length are about other ratings
WIDE = 1.5  # times as wide as with many wordings: an interval over few
ANSWERS = {"self_bias": "its own answers", "family_bias": "siblings' answers"}
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
    give the same value, whose estimated biases would be 0 whatever they are.
    """
    study, family, judges = facts.study, facts.families(), facts.names("judge")
    silent = set(family.values()) - {family[judge] for judge in judges if judge not in constant}
    compared = study.independent
    ((_, moments),) = spec_slices(EQUATION, compared)
    unrelated = cell_means(moments, reference=facts.cells.has_reference)
    absent = biases_without_judges(study.doubts, compared.cells().factors)
    copied = [
        {"quantity": quantity, "term": term, "reason": reason}
        for (quantity, term), reason in absent.items()
    ]
    of_c = listed_biases(unrelated, doubts=study.doubts)
    designs = {
        "A": _equation_terms(study),
        "B": [*identifiability(fitted_to(BY_MODEL, study), compared), *copied],
        "C": [vars(bias) for bias in of_c],
    }
    reasons = BiasTerms()
    for letter, rows in designs.items():
        for row in rows:
            quantity, term = row.get("quantity"), row.get("term")
            if quantity not in BIASES:
                continue
            reason = row.get("reason", "")
            if reason and code(reason) not in WITHOUT_ANY:
                if len(judges) == 1 and letter != "A":
                    reason = because(Reason.ONE_JUDGE)
                elif len(set(family.values())) == 1:
                    reason = because(Reason.ONE_FAMILY)
            elif not reason and quantity == "self_bias" and term in constant:
                reason = because(Reason.ONE_VALUE)
            elif not reason and quantity == "family_bias" and term in silent:
                reason = because(Reason.ONE_VALUE_EACH)
            reasons[letter, quantity, term] = reason
    return reasons


def _equation_terms(study: StudyTables) -> list[dict]:
    """Which biases A can estimate: rows of `identifiability`, and of all other terms."""
    part, unfit = study_for(EQUATION, study), not_estimable(EQUATION, study)
    terms = design_terms(study.cells().factors)
    if unfit is not None:
        return [{**vars(term), "reason": unfit} for term in terms]
    rows, unscored = list(identifiability(EQUATION, part)), because(Reason.NO_SCORED_ANSWERS)
    if part is study:
        return rows
    carried = {(term.quantity, term.term) for term in terms if term.carried.any()}
    identified = {
        (row["quantity"], row["term"]) for row in rows if code(row.get("reason", "")) not in OF_ROWS
    }
    lacking = carried - identified
    kept = [row for row in rows if (row["quantity"], row["term"]) not in lacking]
    return kept + [
        {"quantity": quantity, "term": term, "reason": unscored}
        for quantity, term in sorted(lacking)
    ]


OF_ROWS = (Reason.NO_OWN_ANSWERS, Reason.NO_SIBLINGS)
OF_DOUBTS = (Reason.LONE_LEVEL, Reason.OTHER_SCALE, Reason.COPIED_RATINGS)
WITHOUT_ANY = (*OF_ROWS, *OF_DOUBTS, *WITHOUT_PEOPLE, Reason.NO_SCORED_ANSWERS)
OF_VALUES = (Reason.ONE_VALUE, Reason.ONE_VALUE_EACH)
WARNED_OF = (Reason.ONE_VALUE, *OF_DOUBTS)


def _in_words(reason: str) -> str:
    """The sentence of a reason, with the terms that a bias is tied to."""
    if code(reason) is not Reason.TIED:
        return in_words(reason)
    to, phrases = parse(reason)[1]["to"], []
    for quantity, (of_all, of_some) in TIED_TO.items():
        if quantity in to:
            phrases.append(
                of_some.format(enumerated(to[quantity], most=5)) if to[quantity] else of_all
            )
    return f"it cannot be distinguished from {enumerated(phrases, most=5)}"


ADVICE = {
    Reason.NO_OWN_ANSWERS: (
        "let the judge rate its own answers; if it is there by another name, write one for both"
    ),
    Reason.NO_SIBLINGS: "rate a second model of the family if its family-bias is of interest",
    Reason.NO_SLOPE: "add prompts whose answers humans score differently",
    Reason.ONE_FAMILY: (
        "add judges or models of another family; if there are several, correct their families"
    ),
    Reason.ONE_JUDGE: "add a second judge, of another family, that rates the same models",
    Reason.NO_SCORED_ANSWERS: "have people score some of these answers",
    **dict.fromkeys(
        (*OF_VALUES, *OF_DOUBTS, *WITHOUT_PEOPLE), ""
    ),  # which have a warning of their own
}
OTHERS = {
    **dict.fromkeys(
        "AB", "add judges and models of other families, and let every judge rate every model"
    ),
    "C": (
        "add judges or models of other families: C compares a judge with pairs that are neither"
        " self nor same family"
    ),
}


def estimable(terms: BiasTerms, models: Collection[str]) -> Iterator[Finding]:
    """Report for each bias, under each estimand, whether it can be estimated.

    If no judge rates its own answers, as others warn of, nothing is advised about each.
    """
    of_self = {
        code(reason) for (_, quantity, _), reason in terms.items() if quantity == "self_bias"
    }
    for (letter, quantity, term), reason in terms.items():
        subject = f"{letter}: {QUANTITY[quantity]} of {term}"
        if not reason:
            yield Finding("estimable", subject, f"{subject} can be estimated", 1)
            continue
        why = code(reason)
        by_design = quantity == "self_bias" and of_self == {Reason.NO_OWN_ANSWERS}
        expected = quantity == "self_bias" and term in models and why not in WARNED_OF
        level = FINE if by_design or why in WITHOUT_PEOPLE else WARNING if expected else NOTE
        advice = "" if by_design else ADVICE.get(why, OTHERS[letter])
        yield Finding(
            "estimable",
            subject,
            f"{subject} cannot be estimated: {_in_words(reason)}",
            0,
            level,
            advice,
        )


def estimable_biases(
    facts: Facts, terms: BiasTerms, reliability: Mapping[str, Reliability], power: Sequence[Mapping]
) -> Iterator[Finding]:
    """Report what can be estimated, and what cannot; power: rows of `judge_power`.

    The level is stop if no self- or family-bias can be estimated, as a fit would be of no use.
    """
    number = sum(not reason for reason in terms.values())
    supported = [words for quantity in QUANTITY if (words := _supported(terms, quantity))]
    scored, unfit = facts.scored.has_reference, not_estimable(EQUATION, facts.study)
    why_not = f"any gap to the human scale, which is A ({in_words(unfit)})"
    lacking = [] if scored else [why_not]
    lacking += [
        words
        for quantity in QUANTITY
        for words in _lacking(terms, quantity, LETTERS if scored else LETTERS[1:])
    ]
    reliable = set(facts.names("dimension")) <= {
        name for name, of in reliability.items() if 0 < of.mean <= 1
    }
    share = facts.with_length / facts.rows
    some = f"{percent(share)} of the rows have one" if share else "no lengths"
    what = f"control for length ({some})" if HALF <= share < 1 else "control for length"
    controls = [(share >= HALF, what, some)]
    controls += (
        [(reliable, "correction for measurement error in the human scores", "unknown reliability")]
        if scored
        else []
    )
    for possible, what, why in controls:
        (supported if possible else lacking).append(what if possible else f"{what} ({why})")
    lacking += _inconclusive(facts, terms)
    if facts.prompts == 1:
        lacking.append("anything about other prompts (there is one)")
    # What the most sensitive judge's test is likely to find.
    smallest = {
        letter: min((row["detectable"] for row in _detecting(power, letter)), default=None)
        for letter in "AC"
    }
    known = {letter: size for letter, size in smallest.items() if size is not None}
    sizes = " or ".join(f"{size:.3f} ({letter})" for letter, size in known.items() if size < 1)
    if sizes:
        lacking.append(f"finding a self-bias below {sizes} of the scale")
    if never := [letter for letter, size in known.items() if size >= 1]:
        lacking.append(f"finding a self-bias of any size ({', '.join(never)})")
    if number:
        yield Finding(
            "verdict", "supports", "supports: " + "; ".join(supported), number, FINE, weight=1.0
        )
    else:
        advice = ""
        for (letter, quantity, _), reason in reversed(terms.items()):
            if quantity == "self_bias":
                advice = ADVICE.get(code(reason), OTHERS[letter]) or advice
        if any(code(reason) in OF_VALUES for reason in terms.values()):
            advice = "check how the judges' answers were parsed: they always give the same value"
        words = "no self-bias or family-bias can be estimated from these ratings"
        yield Finding("verdict", "supports", words, 0, STOP, advice, weight=1.0)
    if lacking:
        yield Finding(
            "verdict", "does not support", "does not support: " + "; ".join(lacking), len(lacking)
        )


def _inconclusive(facts: Facts, terms: BiasTerms) -> Iterator[str]:
    """The verdicts that will be inconclusive though C can be estimated, with the reason that its
    fit gives.
    """
    (fitted,) = idiosyncrasies(EQUATION, facts.study)
    refused: dict[tuple[str, str], list[str]] = {}
    for bias in fitted.biases:
        if bias.reason and terms.get(("C", bias.quantity, bias.term)) == "":
            words = IN_SHORT.get(code(bias.reason), in_words(bias.reason))
            refused.setdefault((bias.quantity, words), []).append(bias.term)
    for (quantity, words), names in refused.items():
        yield f"a verdict on the {QUANTITY[quantity]} of {enumerated(names, most=5)} ({words})"


IN_SHORT = {  # of the reasons that differ by judge
    Reason.FEW_PROMPTS: f"ratings on fewer than {LEAST_PROMPTS} prompts",
    Reason.FEW_MODELS: f"fewer than {LEAST_MODELS} models of other families",
}


def _supported(terms: BiasTerms, quantity: str) -> str:
    """As in `self-bias of 5 of 5 judges (A, B), 3 (C)`; "" if there is none."""
    counts = {letter: len(terms.estimable(letter, quantity)) for letter in LETTERS}
    words, of_all = [], f" of {counted(len(terms.every(quantity)), *NOUNS[quantity])}"
    for number in sorted({*counts.values()} - {0}, reverse=True):
        letters = ", ".join(letter for letter in LETTERS if counts[letter] == number)
        words.append(f"{number}{'' if words else of_all} ({letters})")
    return f"{QUANTITY[quantity]} of {', '.join(words)}" if words else ""


def _lacking(terms: BiasTerms, quantity: str, among: Sequence[str]) -> Iterator[str]:
    """As in `self-bias of GPT-4o (B, C)`, one for each set of estimands."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for term in terms.every(quantity):
        letters = tuple(letter for letter in among if term not in terms.estimable(letter, quantity))
        if letters:
            kinds.setdefault(letters, []).append(term)
    for letters, names in kinds.items():
        yield f"{QUANTITY[quantity]} of {enumerated(names, most=5)} ({', '.join(letters)})"


def prompts(facts: Facts) -> Iterator[Finding]:
    """Count the prompts of each dimension, and those that carry each self- and family-bias; report
    prompts nested in models.
    """
    advice = (
        f"add prompts, {FEW} or more: intervals are over prompts drawn anew, and too short with few"
    )
    for dimension in facts.names("dimension"):
        answered = int(
            facts.completeness["prompts"][facts.completeness["dimension"] == dimension].max()
        )
        number = min(answered, facts.prompts)  # occasions of a prompt are answered each
        words = f"{spoken(dimension)} has {counted(number, 'prompt')}"
        words += ", which says nothing about other prompts" if number == 1 else ""
        yield Finding(
            "prompts",
            dimension,
            words,
            number,
            WARNING if number < FEW else FINE,
            advice,
            1 / number,
        )
    for (quantity, term), of in facts.carriers.items():
        level = WARNING if of.effective < FEW <= facts.prompts else FINE
        words = (
            f"the {QUANTITY[quantity]} of {term} rests on ratings of {ANSWERS[quantity]} to"
            f" {of.words(facts.prompts)}"
        )
        advice = (
            "take its estimates as uncertain, whatever their errors, and have more of these answers"
            " rated"
        )
        yield Finding(
            "prompts",
            f"{QUANTITY[quantity]} of {term}",
            words,
            of.prompts,
            level,
            advice,
            1 / of.effective,
        )
    if len(facts.apart) > 1:
        first, *others = facts.apart
        words = (
            f"no prompt has answers of both {enumerated(first, most=5)} and"
            f" {enumerated([*chain(*others)], most=5)}"
        )
        words += (
            ": a judge's preference for a model cannot be distinguished from one for its prompts"
        )
        advice = "let all models answer the same prompts"
        yield Finding("prompts", "nested in models", words, len(facts.apart), WARNING, advice, 1.0)


def wordings(facts: Facts, *, confidence: float) -> Iterator[Finding]:
    """Report how much wider few wordings of the rubric make intervals over wordings; there are none
    with one wording.
    """
    number = len(ways_asked(facts.study)["wording"])
    if number < 2:
        return
    wider = widening(number, confidence=confidence)
    enough = next(more for more in count(2) if widening(more, confidence=confidence) <= WIDE)
    words = (
        f"judges were asked in {number} wordings of the rubric: intervals over wordings use t with "
    )
    words += (
        f"{counted(number - 1, 'degree')} of freedom, which makes them {wider:.1f} times as wide as"
        " with many wordings; "
    )
    words += "a bias must be about as many times as large to be found"
    advice = (
        f"ask in {enough} wordings or more ({widening(enough, confidence=confidence):.1f} times as"
        " wide), or in one; the "
    )
    advice += "verdicts then apply to that wording alone"
    yield Finding(
        "wordings", "", words, number, WARNING if wider > WIDE else FINE, advice, 1 / number
    )


def reliability_known(facts: Facts, reliability: Mapping[str, Reliability]) -> Iterator[Finding]:
    """Report for each dimension the number of raters per human score, and the reliability of the
    scores.
    """
    raters = str(Setting("raters"))
    if facts.imports:
        columns = Setting("references", "columns", "rating")
        raters = columns.line(written(["first", "second"]))
    name_raters = (
        f"name the single raters' scores as {raters}, or have some completions scored twice"
    )
    for dimension in facts.names("dimension") if facts.scored.has_reference else ():
        if dimension not in reliability:
            words = (
                f"the reliability of the human scores of {spoken(dimension)} is not known: A takes them as"
                " exact"
            )
            yield Finding("reliability", dimension, words, None, WARNING, name_raters)
            continue
        of = reliability[dimension]
        words = f"human scores of {spoken(dimension)} have a reliability of {of.mean:.2f}"
        words += f": {of.raters:.3g} raters with {of.single:.2f} each"
        advice = "read B and C: completions differ no more than raters do by chance"
        if 0 < of.mean <= 1:
            advice = (
                "read A as corrected in the workflow's measurement_error.csv, or B and C; more"
                " raters would help"
            )
        yield Finding(
            "reliability",
            dimension,
            words,
            of.mean,
            FINE if LOW <= of.mean <= 1 else WARNING,
            advice,
            1 - of.mean,
        )


def judge_power(
    facts: Facts,
    reliability: Mapping[str, Reliability],
    *,
    self_bias: float,
    power: float,
    confidence: float,
) -> list[dict]:
    """The power of each judge's tests with as many ratings of each pair of judge and model as there
    are: with human scores for A, of all for the others.

    Unknown reliability counts as 1, unknown ordinary preference as none. [] without human scores.
    """
    if not facts.scored.has_reference:
        return []
    score = over_dimensions([vars(of) for of in reliability.values()]) or EXACT
    plan = study_like(EQUATION, facts.study, *score)
    if plan is None:
        return []
    plan = replace(plan, raters=score[1])
    of_others = plan.prompts * facts.prompts / facts.scored_prompts
    rows = power_by_judge(
        plan,
        judges=plan.judges,
        prompts=list(dict.fromkeys([plan.prompts, of_others])),
        self_bias=self_bias,
        power=power,
        confidence=confidence,
    )
    return [
        row
        for row in rows
        if row["prompts"] == (plan.prompts if row["estimand"][0] == "A" else of_others)
    ]


def detectable_biases(
    facts: Facts, power: Sequence[Mapping], *, self_bias: float, wanted: float
) -> Iterator[Finding]:
    """Report for each judge the smallest self-bias that A and C detect, and the part of their error
    that no prompts remove.

    power: rows of `judge_power`, for this self_bias and the power `wanted`.
    """
    rows = [*_detecting(power, "A"), *_detecting(power, "C")]
    if not rows:
        words = (
            "how small a self-bias would be found is not known: this takes judges that rate their"
            " own answers, an estimable A or C, and human scores that vary within a model"
        )
        yield Finding("detectable", "", words, None, NOTE)
    steps = [facts.steps[name] for name in facts.cells.factor("dimension")]
    widths = {float(width) for width in np.unique(np.ptp(facts.cells.scale, axis=1) * steps)}
    for row in rows:
        letter, judge, value, floor = (
            row["estimand"][0],
            row["judge"],
            row["detectable"],
            row["floor"],
        )
        needed = advice = in_points = ""
        if len(widths) == 1:  # in points of the rating scale as the user writes it
            points = value * max(widths)
            in_points = f" ({points:{'.2f' if points >= 0.1 else '.2g'}} points)"
        if value > self_bias and math.isinf(row["prompts_needed"]):
            needed = f"; no number of prompts is enough for {self_bias:g}"
            advice = "add judges and models: more prompts do not reduce that part of the error"
        elif value > self_bias:
            number = float(f"{row['prompts_needed']:.2g}")
            needed, advice = (
                f"; {self_bias:g} would take about {number:,.0f} prompts",
                "add prompts",
            )
        if value > self_bias and 2 * facts.carriers["self_bias", judge].prompts < facts.prompts:
            needed = (
                "; its own answers are rated for"
                f" {facts.carriers['self_bias', judge].words(facts.prompts)}"
            )
            advice = "have its answers to the other prompts rated"
        alone = ", if no other judge is biased" if letter == "C" else ""
        words = f"{letter}: a self-bias of {judge} of {value:.3f}{in_points} would be found"
        if value >= 1:
            words = f"{letter}: not even a self-bias of {judge} of the whole scale would be found"
        words += f" with {percent(wanted)} power (estimated){alone}{needed}"
        level = WARNING if value > LARGE else NOTE if value > self_bias else FINE
        yield Finding("detectable", f"{letter} {judge}", words, value, level, advice, value)
        words = (
            f"{letter}: more prompts cannot reduce {floor:.3f} of the standard error for {judge},"
            f" {row['std_error']:.3f}"
        )
        yield Finding("detectable", f"floor of {letter} {judge}", words, floor)


def _detecting(power: Sequence[Mapping], letter: str) -> list[Mapping]:
    """Rows of the judges for which an estimand is estimable."""
    return [row for row in power if row["estimand"][0] == letter and "detectable" in row]
