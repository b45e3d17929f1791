"""Lists, counts, numbers and intervals in words, and the marks of simulated data."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from textwrap import wrap

BADGES = {"simulated": "SIMULATED DATA", "published": "PUBLISHED DATA", "user": "USER'S DATA"}
WORDS_ALONE = "words_alone"  # id of a drawing that shows only words
# Characters that no text of a study may contain: tables lack NUL and surrogates, drawings what XML
# 1.0 forbids.
UNWRITABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
# Characters that are not seen but change what is: controls, line separators, and what Unicode calls
# default ignorable. Not those that choose a form of the letter before, and joiners only where no
# letter follows that they could join.
INVISIBLE = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff"
    "\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
    "|[\u200c\u200d](?![^\0-\x7f])"
)

# A letter written from right to left, a word with one, and several of these.
RIGHT_TO_LEFT = (
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
IN_WORD = r"[^\s<>&,;:(){}\[\]\"'“”‘’·]"
WORD = rf"(?<!{IN_WORD}){IN_WORD}*{RIGHT_TO_LEFT}(?:{IN_WORD}*\w)?"
FROM_RIGHT_TO_LEFT = rf"{WORD}(?: {WORD})*"


def visible(text: str, *, but: str = "") -> str:
    """`text` with each invisible character as in `⟨U+202E⟩`, other than those in `but`.

    A name can then neither reverse the text around it, nor hide in it, nor be a command to a
    terminal.
    """
    return INVISIBLE.sub(
        lambda match: match[0] if match[0] in but else f"⟨U+{ord(match[0]):04X}⟩", text
    )


def enumerated(names: Sequence[str], most: int | None = None, joined: str = "and") -> str:
    """`names` as in `a, b and c`, or, if there are more than `most`, `a, b and 3 more`."""
    if most is not None and len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return f"{', '.join(names[:-1])} {joined} {names[-1]}" if len(names) > 1 else "".join(names)


def counted(number: int, one: str, many: str = "") -> str:
    """As in `1 judge` or `1,200 rows`; many: the plural, by default `one` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def capitalised(text: str) -> str:
    """`text` with a capital letter in front."""
    return text[:1].upper() + text[1:]


def percent(share: float) -> str:
    """A share in percent, with one decimal below 10 %; 0 and 100 only if exact."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if abs(share) < 0.001:
        return "under 0.1 %"
    return f"{100 * share:.1f} %" if abs(share) < 0.0995 else f"{min(99, round(100 * share))} %"


def level(confidence: float) -> str:
    """A level as in `90 %`, with a no-break space."""
    return f"{100 * confidence:g}\N{NO-BREAK SPACE}%"


def is_known(value: float | None) -> bool:
    """Whether a row has the number."""
    return value is not None and math.isfinite(value)


def number(value: float | None, digits: int = 4) -> str:
    """`value` with a true minus sign; a dash if there is none."""
    return f"{value:.{digits}f}".replace("-", "−") if is_known(value) else "–"


def signed(value: float | None, digits: int = 3) -> str:
    """The same with a sign, unless it rounds to 0."""
    if not is_known(value):
        return number(value)
    rounded = round(value, digits) or 0.0
    return f"+{number(rounded, digits)}" if rounded > 0 else number(rounded, digits)


def spoken(dimension: str) -> str:
    """The name of a dimension in a sentence, where a bare number would read like that of a list."""
    has_letter = any(character.isalpha() for character in dimension)
    return dimension if has_letter else f"dimension {dimension}"


def hundredths(value: float) -> str:
    """A correlation as a sentence has it."""
    return number(round(value, 2) or 0.0, 2)


# What pages say of human scores -> what they say if these are gold labels.
GOLD_WORDS = {
    r"human (score|label|rating)(s?)\b": r"gold label\2",
    r"Human (score|label|rating)(s?)\b": r"Gold label\2",
    r"((?i:by|with|from|than|to|against)) (the )?humans\b": r"\1 \2gold labels",
    r"Human means\b": "Means of gold labels",
    r"the humans\b": "the gold labels",
    r"((?i:with|to|than|by|against)) people\b": r"\1 the gold labels",
    r"The humans\b": "The gold labels",
    r"human scale\b": "scale of the gold labels",
    r"^Human$|(?<=>)Human(?=<)": "Gold",
}


def with_gold_labels(text: str) -> str:
    """A text that speaks of human scores, for a study whose reference are gold labels: right or
    wrong by a key.
    """
    for pattern, words in GOLD_WORDS.items():
        text = re.sub(pattern, words, text)
    return text


def setting_in_words(setting: object) -> str:
    """A setting as in config.yaml, in one line; of an absolute path, the name."""
    if isinstance(setting, Mapping):
        return (
            "{"
            + ", ".join(f"{name}: {setting_in_words(value)}" for name, value in setting.items())
            + "}"
        )
    if isinstance(setting, (list, tuple)):
        return "[" + ", ".join(map(setting_in_words, setting)) + "]"
    if isinstance(setting, str) and Path(setting).is_absolute():
        return Path(setting).name
    return str(setting).lower() if isinstance(setting, bool) else str(setting)


WIDTH, LEAST = 120, 30  # characters of a line of a table, at most, and of its last column
GAP = "  "  # between columns


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text, which break between words alone."""
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


def text_table(
    headings: Sequence[str], cells: Sequence[Sequence[str]], width: int = WIDTH
) -> list[str]:
    """The lines of a table for a terminal, whose last column is wrapped to the width."""
    rows = [list(headings), *([visible(cell) for cell in row] for row in cells)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    indent = sum(widths[:-1]) + len(GAP) * len(widths[:-1])
    lines = []
    for *first, last in rows:
        padded = [cell.ljust(size) for cell, size in zip(first, widths, strict=False)]
        beginning, *rest = wrapped(last, max(width - indent, LEAST)) or [""]
        lines.append(GAP.join([*padded, beginning]).rstrip())
        lines += [" " * indent + line for line in rest]
    return lines


@cache
def entries(file: Path) -> dict[str, dict[str, str]]:
    """What a YAML file of sentences has under each code: its parts."""
    import yaml  # Only here: most jobs need no sentence.

    return yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)
