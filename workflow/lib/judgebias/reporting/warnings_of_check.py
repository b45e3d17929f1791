"""What the check of the ratings warns of, as the answer of a report says it."""

from collections.abc import Iterator, Mapping, Sequence

from judgebias.doctor.findings import FINE, RELIABILITY, STOP, TASTE, VERDICT, WARNING, listed
from judgebias.reporting.answers import Point, sentence

Rows = Sequence[Mapping[str, str]]
MOST = 5  # topics: the table has the others
OF_TESTS = (TASTE, RELIABILITY)  # topics that say how far the tests of Equation 1 can be believed
WHERE = "in the table “What the ratings support”"


def doubts_of_tests(check: Rows) -> str:
    """What the check says of the tests of Equation 1 beside chance, as sentences to follow another; "" of an empty check.

    How often ordinary taste and errors of the human scores look like a self-bias is said whatever it is; of reliability what it
    warns of. check: rows, as texts, of the table `check`.
    """
    taste = [[row] for row in check if row["topic"] == TASTE]
    unreliable = [row for row in check if row["topic"] == RELIABILITY and row["level"] != FINE]
    return "".join(f" {sentence(_said(rows))}." for rows in (*taste, unreliable) if rows)


def to_mind(check: Rows) -> Iterator[Point]:
    """A point with the other warnings of a check, an item for each topic, of the first MOST topics; none without a warning."""
    topics = _by_topic([row for row in check if row["level"] in (STOP, WARNING) and row["topic"] not in (*OF_TESTS, VERDICT)])
    items = [(sentence(topic), _said(rows)) for topic, rows in list(topics.items())[:MOST]]
    left = sum(len(rows) for rows in list(topics.values())[MOST:])
    if items:
        yield Point("What to mind", "", [*items, *([("", f"{left} more {WHERE}")] if left else [])])


def _by_topic(check: Rows) -> dict[str, list[Mapping[str, str]]]:
    """The rows of each topic, in their order, which is that of how much they matter."""
    topics: dict[str, list] = {}
    for row in check:
        topics.setdefault(row["topic"], []).append(row)
    return topics


def _said(rows: Rows) -> str:
    """The first of the rows of a topic with its advice, and whom the others are about."""
    first, *others = rows
    said = "; ".join(filter(None, (first["words"], first["advice"])))
    return f"{said} (so, too, {WHERE}: {listed([row['subject'] or 'the whole study' for row in others])})" if others else said
