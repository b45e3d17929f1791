"""Summary of a collection."""

from collections.abc import Mapping, Sequence

from recuse.base.words import counted
from recuse.collect.collection import Outcome
from recuse.collect.parse import REASONS


def run_summary(part: str, outcome: Outcome) -> str:
    """What a run did: `asked` new requests, and attempts that failed by reason."""
    asked = (
        f"{part}: {outcome.before:,} of {counted(outcome.total, 'request')} answered before,"
        f" {outcome.answered:,} now"
    )
    failed = ", ".join(f"{reason} {count:,}" for reason, count in sorted(outcome.failed.items()))
    money = f"; {outcome.money:.4g} units spent" if outcome.money else ""
    line = f"{asked} in {outcome.seconds:.1f} s{money}"
    if outcome.uncounted:
        line += (
            f"; {counted(outcome.uncounted, 'attempt')} may have cost something that the server did"
            " not report"
        )
    return f"{line}; failed attempts: {failed}" if failed else line


def counts_summary(counts: Sequence[Mapping]) -> str:
    """A line for each judge: how many of its ratings there are, how many were repaired, and why the
    others are missing.
    """
    lines = []
    for row in counts:
        missing = {reason: row[reason.replace(" ", "_")] for reason in REASONS}
        total = row["ratings"] + sum(missing.values())
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in missing.items() if count)
        repaired = (
            f"; {row['repaired']:,} asked again, as the reply could not be read"
            if row["repaired"]
            else ""
        )
        lines.append(
            f"{row['judge']}: {row['ratings']:,} of {total:,}"
            f" read{repaired}{f'; missing: {reasons}' if reasons else ''}"
        )
    return "\n".join(lines)
