"""Which self- and family-biases a study's ratings can tell, under the estimands A, B and C, and why not the others.

The verdict says it in two sentences: what the ratings support, and what they do not.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recuse.base.words import enumerated
from recuse.check.facts import FINE, NOTE, STOP, WARNING, Facts, Finding
from recuse.data.registry import NO_HUMAN_SCORE
from recuse.data.study import Study
from recuse.inference.identifiability import TIED, identifiability, identifiability_of_idiosyncrasy
from recuse.inference.idiosyncrasy import NO_SLOPE
from recuse.inference.reliability import Reliability
from recuse.model.design import NO_ROWS, terms_of
from recuse.model.estimable import fitted_to, not_estimable
from recuse.model.spec import BIASES, EQUATION_1, Spec

A, B, C = LETTERS = ("A", "B", "C")
EQUATION = Spec.of("main")  # whatever a user's config makes of `main`: the check is of all rows
BY_MODEL = Spec.of("model_effects", terms=(*EQUATION_1, "model"))
QUANTITY = {"self_bias": "self-bias", "family_bias": "family-bias"}
ONE_VALUE, SILENT = "the judge gives one value always", "its judges give one value each"
ONE_FAMILY = "all judges and models are of one family, so that nothing else is there to compare with"
ONE_JUDGE = "there is no other judge to compare with"
ADVICE = {
    NO_ROWS["self_bias"]: "let it rate its own completions, too; if it is there by another spelling, list that under its `ids`",
    NO_ROWS["family_bias"]: "rate a second model of the family if its family-bias is of interest",
    NO_SLOPE: "add prompts whose answers humans score differently",
    ONE_FAMILY: "add judges or models of another family; if there are several, mend their families in config",
    ONE_JUDGE: "add a second judge, of another family, that rates the same models",
}
TOLD = (ONE_VALUE, NO_HUMAN_SCORE)  # by a warning of its own
MORE = "add judges or models of other families: C measures a judge against pairs that are neither self nor family"
OTHERS = "add judges and models of other families, and let every judge rate every model"
IN_PAIRS = {  # of C: what its tables call cells
    "no cell that is neither self nor family is of judge ": "no model of another family is rated by ",
    "no cell that is neither self nor family is of model ": "no judge of another family rates ",
    "cells that are neither self nor family": "pairs of a judge and a model of another family",
}
TIED_TO = {  # quantity -> what a bias cannot be told from, of all and of some
    "intercept": ("how strict the judges are", "how strict {} is"),
    "slope": ("the slopes on the human scores", "the slope of {} on the human scores"),
    "model": ("how good the models' answers are", "how good the answers of {} are"),
    "dimension": ("how high the dimensions are rated", "how high {} is rated"),
    "self_bias": ("the judges' other self-biases", "the self-bias of {}"),
    "family_bias": ("the families' biases", "the family-bias of {}"),
}


@dataclass(frozen=True)
class Terms:
    """Which biases are estimable: (estimand, quantity, judge or family) -> "", or why it is not."""

    reasons: Mapping[tuple[str, str, str], str]

    def estimable(self, letter: str, quantity: str) -> list[str]:
        """Judges or families of which an estimand is estimable."""
        return [term for (of, kind, term), reason in self.reasons.items() if (of, kind) == (letter, quantity) and not reason]

    def every(self, quantity: str) -> list[str]:
        """All judges or families of judges."""
        return sorted({term for _, kind, term in self.reasons if kind == quantity})


def terms_by_letter(facts: Facts, constant: Collection[str]) -> Terms:
    """Ask the designs of A (Equation 1), B (with effects of models) and C (placebo cells) for all biases.

    Without human scores there is none of A, and those of B and C do without slopes on them.
    constant: judges that give one value; their biases would be 0 whatever they are, so that none is known.
    """
    reasons = {}
    designs = {
        A: _of_equation(facts.study),
        B: identifiability(fitted_to(BY_MODEL, facts.study), facts.study),
        C: identifiability_of_idiosyncrasy(EQUATION, facts.study),
    }
    family, judges = facts.families(), facts.names("judge")
    silent = set(family.values()) - {family[judge] for judge in judges if judge not in constant}
    for letter, rows in designs.items():
        for row in rows:
            if row.get("quantity") not in BIASES:
                continue
            term = row["term"]
            reason = "" if "share_carried" in row else _reason(row)
            if reason and row["words"] not in (*NO_ROWS.values(), NO_HUMAN_SCORE):
                alone = len(judges) == 1 and letter != A
                reason = ONE_JUDGE if alone else ONE_FAMILY if len(set(family.values())) == 1 else reason
            if row["quantity"] == "self_bias" and term in constant:
                reason = reason or ONE_VALUE
            if row["quantity"] == "family_bias" and term in silent:
                reason = reason or SILENT
            reasons[letter, row["quantity"], term] = reason
    return Terms(reasons)


def _of_equation(study: Study) -> Iterator[Mapping]:
    """The rows of Equation 1; of a study that it cannot be fitted to, each bias with the reason."""
    reason = not_estimable(EQUATION, study)
    if reason is None:
        yield from identifiability(EQUATION, study)
        return
    for term in terms_of(study.cells().factors):
        yield {"quantity": term.quantity, "term": term.term, "words": reason}


def estimable(terms: Terms, models: Collection[str]) -> Iterator[Finding]:
    """Say of each bias, under each estimand, whether it can be estimated."""
    for (letter, quantity, term), reason in terms.reasons.items():
        subject = f"{letter}: {QUANTITY[quantity]} of {term}"
        if not reason:
            yield Finding("estimable", subject, f"{subject} can be estimated", 1)
            continue
        expected = quantity == "self_bias" and term in models and reason not in TOLD
        level = FINE if reason == NO_HUMAN_SCORE else WARNING if expected else NOTE
        yield Finding("estimable", subject, f"{subject} cannot be estimated: {reason}", 0, level, advice_on(letter, reason))


def _reason(row: Mapping) -> str:
    return _plain(row["words"]) if row["words"] != TIED else f"it cannot be told from {_tied_to(row['tied_to'])}"


def _tied_to(others: str) -> str:
    """The column of the table of identifiability in words: by quantity, of all its terms or of some."""
    named: dict[str, list[str]] = {}
    for other in others.split("; "):
        quantity, _, name = other.removeprefix("every ").removeprefix("other ").partition(" of ")
        named.setdefault(quantity, []).extend([name] if name else [])
    words = ((named[kind], *of) for kind, of in TIED_TO.items() if kind in named)
    phrases = [of_some.format(enumerated(names, most=5)) if names else of_all for names, of_all, of_some in words]
    return enumerated(phrases, most=5)


def _plain(reason: str) -> str:
    words = reason.removeprefix("not estimable: ").replace("the reference", "the human score")
    for cells, plain in IN_PAIRS.items():
        words = words.replace(cells, plain)
    return words


def advice_on(letter: str, reason: str) -> str:
    """What to do about a bias that an estimand cannot tell for this reason; "" where it is said elsewhere, or nothing."""
    named = {_plain(key): advice for key, advice in ADVICE.items()} | dict.fromkeys((*TOLD, SILENT), "")
    return named.get(reason, MORE if letter == C else OTHERS)


NOUNS = {"self_bias": ("judge", "judges"), "family_bias": ("family", "families")}
PARSED = "look for a fault in how the judges' answers were parsed: they give one value always"
MEND = "name judges and models alike (`ids` of a model in config), and let judges rate their own completions"


def verdict(facts: Facts, terms: Terms, reliability: Mapping[str, Reliability], power: Sequence[Mapping]) -> Iterator[Finding]:
    """Say what can be estimated, and what cannot; power: of the judges' tests, for the data at hand.

    Where no self- or family-bias can be estimated, there is no use in a fit: the level is stop.
    """
    estimable = sum(len(terms.estimable(letter, quantity)) for quantity in QUANTITY for letter in LETTERS)
    supported = [words for quantity in QUANTITY if (words := _supported(terms, quantity))]
    scored = facts.cells.has_reference
    lacking = [] if scored else [f"any gap to the human scale, which is A ({NO_HUMAN_SCORE})"]
    lacking += [words for quantity in QUANTITY for words in _lacking(terms, quantity, LETTERS if scored else LETTERS[1:])]
    exact = set(facts.names("dimension")) <= {name for name, each in reliability.items() if 0 < each.mean <= 1}
    wanted = [(facts.with_length, "control for length", "no lengths")]
    wanted += [(exact, "correction for errors of the human scores", "their reliability is not known")] if scored else []
    for there, what, why in wanted:
        (supported if there else lacking).append(what if there else f"{what} ({why})")
    if facts.prompts == 1:
        lacking.append("anything about other prompts (there is one)")
    lacking += _too_small(power)
    if not estimable:
        words = "no self-bias or family-bias can be estimated from these ratings"
        yield Finding("verdict", "supports", words, 0, STOP, _mend(facts, terms), weight=1.0)
    else:
        yield Finding("verdict", "supports", "supports: " + "; ".join(supported), estimable, FINE, weight=1.0)
    if lacking:
        yield Finding("verdict", "does not support", "does not support: " + "; ".join(lacking), len(lacking))


def _mend(facts: Facts, terms: Terms) -> str:
    """What to do where no bias can be estimated."""
    if {ONE_VALUE, SILENT} & set(terms.reasons.values()):
        return PARSED
    if not (facts.cells.factors["judge"] == facts.cells.factors["model"]).any():
        return MEND
    return next(advice for (letter, _, _), reason in terms.reasons.items() if (advice := advice_on(letter, reason)))


def _supported(terms: Terms, quantity: str) -> str:
    """Such as `self-bias of 5 of 5 judges (A, B), 3 (C)`; "" where there is none."""
    every = len(terms.every(quantity))
    counts = {letter: len(terms.estimable(letter, quantity)) for letter in LETTERS}
    kinds = [
        (number, [each for each in LETTERS if counts[each] == number])
        for number in sorted({*counts.values()} - {0}, reverse=True)
    ]
    one, many = NOUNS[quantity]
    words = [f"{number} ({', '.join(letters)})" for number, letters in kinds]
    if not words:
        return ""
    words[0] = words[0].replace(" (", f" of {every} {one if every == 1 else many} (", 1)
    return f"{QUANTITY[quantity]} of {', '.join(words)}"


def _lacking(terms: Terms, quantity: str, among: Sequence[str]) -> Iterator[str]:
    """Such as `self-bias of GPT-4o (B, C)`, those of the same estimands together, of those asked for."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for term in terms.every(quantity):
        letters = tuple(letter for letter in among if term not in terms.estimable(letter, quantity))
        if letters:
            kinds.setdefault(letters, []).append(term)
    for letters, names in kinds.items():
        yield f"{QUANTITY[quantity]} of {enumerated(names, most=5)} ({', '.join(letters)})"


def _too_small(power: Sequence[Mapping]) -> Iterator[str]:
    """Sizes that no judge's test under A and C is likely to find."""
    least = {}
    for row in power:
        if "detectable" in row and row["estimand"][0] in "AC":
            least.setdefault(row["estimand"][0], []).append(row["detectable"])
    if least:
        ranges = " or ".join(f"{min(values):.3f} ({letter})" for letter, values in least.items())
        yield f"finding a self-bias below {ranges} of the scale"
