"""The answer of a report: a headline, and points with a list each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recuse.base.words import number, signed

SEVERAL = 3  # decimals of a gap in words


@dataclass(frozen=True)
class Point:
    """One question that the answer speaks to: its heading, what is said, and what is said of each judge, family or model."""

    heading: str
    words: str
    items: Sequence[tuple[str, str]] = ()  # name, words


@dataclass(frozen=True)
class Answer:
    """What a reader is told first."""

    question: str
    headline: str
    points: Sequence[Point] = field(default_factory=list)


def with_interval(row: Mapping[str, str], value: str, *, gap: bool = True) -> str:
    """The value of a row of a table with its interval, as in `+0.044 (0.037 to 0.051)`; the sign in front of a gap alone."""
    form = signed if gap else number
    if not row["ci_low"]:
        return form(float(row[value]), SEVERAL)
    low, high = (number(float(row[end]), SEVERAL) for end in ("ci_low", "ci_high"))
    return f"{form(float(row[value]), SEVERAL)} ({low} to {high})"


def above(row: Mapping[str, str], value: float = 0.0) -> bool:
    """True where the interval of a row lies above `value`; without an interval nothing is known."""
    return bool(row["ci_low"]) and float(row["ci_low"]) > value


def below(row: Mapping[str, str], value: float = 0.0) -> bool:
    """True where the interval of a row lies below `value`."""
    return bool(row["ci_high"]) and float(row["ci_high"]) < value


def largest(rows: Sequence[Mapping[str, str]], value: str) -> list[Mapping[str, str]]:
    """The rows from the largest value to the smallest."""
    return sorted(rows, key=lambda row: -float(row[value]))
