"""Which of two names may be two spellings of one model: `openai/gpt-4o-2024-08-06` and `GPT-4o`, not `GPT-4` and `GPT-4o`."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

# What may follow a model's name in an id without making it another model; so may a number of four digits or more, a date.
SUFFIXES = {"v", "instruct", "chat", "it", "hf", "preview", "latest", "beta", "exp"}
TYPING = 0.9  # likeness from which one name may be the other mistyped, if all digits are alike
SHORTEST = 8  # letters and digits of such a name: in a shorter one, a letter makes another model


def alike(name: str, known: Iterable[str]) -> str | None:
    """The one of the `known` names that `name` may be another spelling of: the longest, or None."""
    found = [other for other in known if other != name and _alike(_parts(name), _parts(other))]
    return max(found, key=lambda other: (len(other), other), default=None)


def _parts(name: str) -> list[str]:
    """Runs of letters and runs of digits, in lower case."""
    return re.findall(r"[^\W\d_]+|\d+", name.lower())


def _alike(one: list[str], other: list[str]) -> bool:
    shorter, longer = sorted((one, other), key=len)
    for start in range(len(longer) - len(shorter) + 1 if shorter else 0):
        rest = longer[start + len(shorter) :]
        harmless = not rest or rest[0] in SUFFIXES or (rest[0].isdigit() and len(rest[0]) >= 4)
        if longer[start : start + len(shorter)] == shorter and harmless:
            return True
    letters = ["".join(parts) for parts in (one, other)]
    same_digits = [part for part in one if part.isdigit()] == [part for part in other if part.isdigit()]
    return same_digits and min(map(len, letters)) >= SHORTEST and SequenceMatcher(None, *letters).ratio() >= TYPING
