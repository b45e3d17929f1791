"""What the place of an answer does to the verdicts of a study of comparisons, and what single orders tell, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgebias.reporting.answers import Point, largest, level
from judgebias.reporting.groups_of_judges import Leaning, Rows, groups_of, merged, named

EVEN = 0.5  # share of verdicts for one of two answers that is no preference
FIRST = Leaning("prefers", "prefer", "prefer", "the answer shown first", "the answer shown second", "the second")
MORE = ("more often than not", "less often than not", "less often")
LONGER = Leaning("chooses the longer answer", "choose the longer answer", "choose the longer answer", *MORE)
OWN = Leaning("chooses its own answer", "choose their own answer", "choose its own answer", *MORE)
NOT_FIXED = "Quality is not held fixed: such answers may be the better ones."
# Statistics of single orders -> words of the preference, whose share it is, and what it rests on.
SINGLE = {
    "single_order_first": (
        FIRST,
        "for the answer shown first",
        "Each pair was judged in one order: this tells of the place only if the order of each pair was drawn at random.",
    ),
    "single_order_longer": (LONGER, "for the longer answer", NOT_FIXED),
    "single_order_own": (OWN, "for the judge's own answer, of the comparisons of one with another's", NOT_FIXED),
}
PLAIN = ("", "order")  # conditions that are not made to sway a judge


def answer_of_position(
    position: Rows, verbosity: Rows, votes: Rows, confidence: float
) -> tuple[Sequence[Point], Sequence[Point]]:
    """Return what is to be said of the place of an answer, and of comparisons in one order alone.

    position, verbosity, votes: rows, as texts, of these tables and of the votes by place.
    """
    rows = [row for row in _plain(position, verbosity) if row["value"]]
    place = [*_preference(rows, confidence), *_consistency(rows, confidence), *_votes(votes, confidence)]
    return place, list(_single(rows, confidence, beside=", where only one order was judged" if place else ""))


def _plain(position: Rows, verbosity: Rows) -> Rows:
    """The rows of the conditions that have a verbosity bias, for others may be made to sway a judge.

    Without human labels none has: then those of the conditions that have no name, or are plain by it, or of all.
    """
    labelled = {(row["experiment"], row["condition"]) for row in verbosity}
    if labelled:
        return [row for row in position if (row["experiment"], row["condition"]) in labelled]
    return [row for row in position if row["condition"] in PLAIN] or position


def _preference(rows: Rows, confidence: float) -> Iterator[Point]:
    words = f"Share of verdicts for the answer shown first, with {level(confidence)} intervals; 0.5 is no preference."
    chosen = [row for row in rows if row["statistic"] == "first_preference"]
    yield from merged(words, {place: FIRST.found(group, "value", EVEN) for place, group in groups_of(chosen).items()})


def _consistency(rows: Rows, confidence: float) -> Iterator[Point]:
    words = (
        "Consistency: share of comparisons whose verdict is the same in both orders, ties among them, with "
        f"{level(confidence)} intervals."
    )
    found = {}
    for place, group in groups_of([row for row in rows if row["statistic"] == "consistency"]).items():
        values = [round(float(row["value"]), 2) for row in group]
        share = " to ".join(dict.fromkeys((level(min(values)), level(max(values)))))
        said = f"Both orders get the same verdict in {share} of comparisons"
        found[place] = said, named(largest(group, "value")[::-1], "value", gap=False), len(group)
    yield from merged(words, found)


def _votes(rows: Rows, confidence: float) -> Iterator[Point]:
    words = f"Share of votes for the answer shown first, less those for the second, with {level(confidence)} intervals."
    yield from merged(words, {place: FIRST.found(group, "difference") for place, group in groups_of(rows).items()})


def _single(rows: Rows, confidence: float, *, beside: str) -> Iterator[Point]:
    """beside: words after each heading, where comparisons in both orders are spoken of, too."""
    for statistic, (leaning, whose, rests) in SINGLE.items():
        words = f"Share of verdicts {whose}, ties left out, with {level(confidence)} intervals; 0.5 is no preference. {rests}"
        chosen = [row for row in rows if row["statistic"] == statistic]
        found = {place: leaning.found(group, "value", EVEN) for place, group in groups_of(chosen).items()}
        for point in merged(words, found):
            yield replace(point, heading=f"{point.heading}{beside}")
