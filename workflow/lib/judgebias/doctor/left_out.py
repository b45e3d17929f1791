"""Rows that are left out though they have a rating: the human score or length is missing, or no row of a name is complete."""

import math
from collections.abc import Iterator, Sequence

from judgebias.doctor.facts import Facts
from judgebias.doctor.findings import (
    FINE,
    LEFT_OUT,
    LENGTHS,
    NOTE,
    UNSCORED,
    WARNING,
    Finding,
    counted,
    graded,
    listed,
    percent,
)
from judgebias.doctor.missing import BY_CHANCE, OWN_MORE, SHARE, SPELT

SCORE = (
    "have people score them, too, or see that models and prompts are spelt as in the ratings; judges need not be asked again"
)
UNEVEN = f"{SCORE}; what is said of it is of its scored answers alone"
PARSED = "look for a fault in how its ratings were parsed or spelt"
LENGTH = "add the lengths that are missing, or leave the column out"
CAUSES = {"missing_rating": "no rating", "missing_gt": "no human score", "missing_length": "no length"}


def unscored(facts: Facts) -> Iterator[Finding]:
    """Say how many rows have no human score where others have one, and which models and dimensions lack more of them.

    Told from chance as the judges' own missing ratings are, but by completions: their rows lack the score together.
    """
    table, present = facts.completeness, facts.present
    lost = table["missing_gt"]
    if not lost.any():
        return
    share = float(lost.sum() / present.sum())
    words = f"{percent(share)} of the rows have no human score, and are left out"
    level = graded(share, **SHARE)
    yield Finding(UNSCORED, "", words, share, level, "" if level == FINE else SCORE, weight=share)
    judges = len(facts.rows_of("judge"))
    for factor in ("model", "dimension"):
        for name in facts.names(factor):
            of = table[factor] == name
            (lost_here, here), (lost_there, there) = ((int(lost[kind].sum()), int(present[kind].sum())) for kind in (of, ~of))
            if not there:
                continue
            rest = lost_there / there
            gap = lost_here / here - rest
            error = math.sqrt(share * (1 - share) * judges * (1 / here + 1 / there))
            level = graded(gap, **OWN_MORE) if gap > BY_CHANCE * error else FINE
            what = "answers of" if factor == "model" else "answers on"
            words = f"{percent(lost_here / here)} of the rated {what} {name} have no human score, {percent(rest)} of the others"
            yield Finding(UNSCORED, f"{factor} {name}", words, lost_here / here, level, "" if level == FINE else UNEVEN, gap)


def names_left_out(facts: Facts, alike: Sequence[tuple[str, str, str]]) -> Iterator[Finding]:
    """Say which judges, models and dimensions have rows, but no complete one.

    alike: (judge or model, name, other name) of those that may be one, of which it is said what to do.
    """
    table, spelt = facts.completeness, {(factor, name) for factor, *names in alike for name in names}
    for factor in ("judge", "model", "dimension"):
        known = facts.names(factor)
        for name, rows in facts.rows_of(factor).items():
            if name in known:
                continue
            counts = {column: int(table[column][table[factor] == name].sum()) for column in CAUSES}
            causes = listed([f"{number:,} with {CAUSES[column]}" for column, number in counts.items() if number])
            words = f"the {factor} '{name}' is left out: none of its {counted(rows, 'row')} is complete ({causes})"
            cause = max(counts, key=counts.get)
            advice = {"missing_rating": PARSED, "missing_gt": SCORE, "missing_length": LENGTH}[cause]
            advice = SPELT if (factor, name) in spelt else advice
            yield Finding(LEFT_OUT, f"{factor} {name}", words, rows, WARNING, advice, weight=rows)


def lengths_missing(facts: Facts) -> Iterator[Finding]:
    """Say how many rows have no length where others have one: they are left out."""
    lost = facts.completeness["missing_length"].sum()
    if lost:
        share = float(lost / facts.present.sum())
        words = f"{percent(share)} of the rows have no length of the completion, and are left out"
        yield Finding(LENGTHS, "missing", words, share, WARNING if share >= SHARE["warning"] else NOTE, LENGTH, weight=share)
