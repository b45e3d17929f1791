"""What a check of a study's ratings finds: facts in words, how much each matters, and what to do about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

STOP, WARNING, NOTE, FINE = LEVELS = ("stop", "warning", "note", "fine")  # what matters most first, as are the next
VERDICT, SELF, PROMPTS, CONSTANT, OWN_MISSING, TASTE, RELIABILITY, HUMAN, MISSING, CEILING, FLOOR, SCALE, ESTIMABLE = (
    "verdict", "self-bias", "prompts", "one value", "own ratings missing", "ordinary taste", "reliability", "human scores",
    "missing", "ceiling", "floor", "scale use", "estimable",
)  # fmt: skip
DETECTABLE, LENGTHS, NAMES, FAMILIES, CONTENTS = "detectable", "lengths", "names", "families", "contents"
SPELLING, RANGE, UNSCORED, LEFT_OUT = "spelling", "range", "no human score", "left out"
TOPICS = (
    VERDICT, SELF, SPELLING, LEFT_OUT, RANGE, CONSTANT, PROMPTS, ESTIMABLE, HUMAN, OWN_MISSING, UNSCORED, RELIABILITY, TASTE,
    CEILING, FLOOR, SCALE, MISSING, DETECTABLE, FAMILIES, NAMES, LENGTHS, CONTENTS,
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One fact about `subject` (a judge, model, family, dimension, ..., or the whole study if empty)."""

    topic: str  # one of TOPICS
    subject: str
    words: str
    value: float | int | None = None
    level: str = FINE
    advice: str = ""
    weight: float = 0.0  # how much it matters among those of its level and topic

    @property
    def row(self) -> dict:
        """The columns of the table but for the study."""
        return {
            "topic": self.topic, "subject": self.subject, "finding": self.value, "level": self.level, "words": self.words,
            "advice": self.advice,
        }  # fmt: skip


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Sort: the verdict, then by level, by topic and by weight; the order in which they came breaks ties."""
    return sorted(
        findings,
        key=lambda found: (found.topic != VERDICT, LEVELS.index(found.level), TOPICS.index(found.topic), -found.weight),
    )


def graded(value: float, *, note: float, warning: float) -> str:
    """Level of a value that matters the more, the higher it is."""
    return WARNING if value >= warning else NOTE if value >= note else FINE


def percent(share: float) -> str:
    """Write a share in percent, with one decimal below 10 %; 0 and 100 only where they are exact."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if abs(share) < 0.001:
        return "under 0.1 %"
    return f"{100 * share:.1f} %" if abs(share) < 0.0995 else f"{min(99, round(100 * share))} %"


def listed(names: Sequence[str], *, most: int = 5) -> str:
    """Write names in a row, of many the first ones and how many more there are."""
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(number: int, one: str, many: str = "") -> str:
    """Write how many there are of something, the plural with an s if it is not given."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
