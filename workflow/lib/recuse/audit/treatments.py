"""Treatments: what a judge is shown of the same answer with one thing changed, and what is compared.

A treatment shows an answer in two or more arms. Each of its contrasts is the difference between two
of these, over the same prompts and answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Texts = Mapping[str, str]
# From the texts of a request (prompt and answer, or prompt, answer_1 and answer_2) and what the
# request is about (judge, model, order, writer, ...) to the texts that the judge is shown
Show = Callable[[Texts, Texts], Texts]


@dataclass(frozen=True)
class Contrast:
    """Two arms that are compared: the effect is the value of the target under `treated` less that
    under `control`.
    """

    name: str
    treated: str
    control: str
    # Own answers alone, less the same difference of the others' answers: what is left is the
    # judge's preference for its own
    beyond_others: bool = False


@dataclass(frozen=True)
class Treatment:
    """What is changed, how it is shown, and where it is from."""

    name: str
    measures: str  # as in "favouring its own name"
    source: str  # the paper that has it, or ""
    arms: Mapping[str, Show]
    contrasts: Sequence[Contrast]
    # What a judge with the effect does, and one with the opposite effect, as in "favours longer
    # answers" and "favours shorter answers"
    biased: tuple[str, str]
    remedy: str  # as in "swap the order and average"
    kinds: Sequence[str] = ("ratings", "verdicts")  # what the judge may be asked for
