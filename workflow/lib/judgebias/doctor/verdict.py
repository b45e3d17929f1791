"""The check in two sentences: what a study's ratings support, and what they do not."""

from collections.abc import Iterator, Mapping, Sequence

from judgebias.doctor.facts import Facts
from judgebias.doctor.findings import FINE, STOP, VERDICT, Finding, listed
from judgebias.doctor.terms import LETTERS, ONE_VALUE, QUANTITY, SILENT, Terms, advice_on
from judgebias.inference.reliability import Reliability
from judgebias.ratings.registry import NO_HUMAN_SCORE

NOUNS = {"self_bias": ("judge", "judges"), "family_bias": ("family", "families")}
PARSED = "look for a fault in how the judges' answers were parsed: they give one value always"
MEND = "name judges and models alike (`ids` of a model in config), and let judges rate their own completions"


def verdict(facts: Facts, terms: Terms, reliability: Mapping[str, Reliability], found: Sequence[Mapping]) -> Iterator[Finding]:
    """Say what can be estimated, and what cannot; found: rows of the planner for the data at hand.

    Where no self- or family-bias can be estimated, there is no use in a fit: the level is stop.
    """
    known = sum(len(terms.known(letter, quantity)) for quantity in QUANTITY for letter in LETTERS)
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
    lacking += _too_small(found)
    if not known:
        words = "no self-bias or family-bias can be estimated from these ratings"
        yield Finding(VERDICT, "supports", words, 0, STOP, _mend(facts, terms), weight=1.0)
    else:
        yield Finding(VERDICT, "supports", "supports: " + "; ".join(supported), known, FINE, weight=1.0)
    if lacking:
        yield Finding(VERDICT, "does not support", "does not support: " + "; ".join(lacking), len(lacking))


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
    counts = {letter: len(terms.known(letter, quantity)) for letter in LETTERS}
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
        letters = tuple(letter for letter in among if term not in terms.known(letter, quantity))
        if letters:
            kinds.setdefault(letters, []).append(term)
    for letters, names in kinds.items():
        yield f"{QUANTITY[quantity]} of {listed(names)} ({', '.join(letters)})"


def _too_small(found: Sequence[Mapping]) -> Iterator[str]:
    """Sizes that no judge's test under A and C is likely to find."""
    least = {}
    for row in found:
        if "detectable" in row and row["estimand"][0] in "AC":
            least.setdefault(row["estimand"][0], []).append(row["detectable"])
    if least:
        ranges = " or ".join(f"{min(values):.3f} ({letter})" for letter, values in least.items())
        yield f"finding a self-bias below {ranges} of the scale"
