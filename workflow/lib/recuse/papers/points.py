"""What CoBBLEr's biases, attacks on judges and ranks of models add to the answer on a page."""

from collections.abc import Iterator
from statistics import fmean

from recuse.base.templates import said, said_in_parts
from recuse.base.words import capitalised
from recuse.data.registry import HUMAN
from recuse.inference.verdict import AGAINST_PEOPLE
from recuse.report.pairwise import place_in
from recuse.report.tables import Row, TableRows, Tables, grouped, number_in, where
from recuse.report.verdict import SHARES, Point

COGNITIVE = (  # in the order of the page
    "egocentric_order",
    "egocentric_comp",
    "order_first",
    "order_last",
    "compassion_first",
    "compassion_last",
    "salience",
    "bandwagon",
    "attentional",
)
# people's choices say more about these, where there are any
BY_QUALITY = ("egocentric_order", "salience")


def further_points(tables: Tables) -> Iterator[Point]:
    """The points on the tables of this product; tables: as by `answer_of_comparisons`."""
    has_labels = bool(where(tables.get("choices", ()), question=AGAINST_PEOPLE))
    yield from _cognitive(tables.get("cognitive_biases", ()), has_labels=has_labels)
    yield from _attacks(tables.get("asr", ()))
    yield from _overlap(tables.get("rbo", ()))


def _cognitive(rows: TableRows, *, has_labels: bool) -> Iterator[Point]:
    """In how many judges each bias is more frequent than at random: by its interval, or by the
    share if there is none.
    """
    items = []
    for bias in COGNITIVE:
        above = [
            _is_above_random(row)
            for row in where(rows, bias=bias)
            if row["judge"] != HUMAN and row["share"]
        ]
        if above and not (has_labels and bias in BY_QUALITY):
            facts = {"bias": bias, "more": sum(above), "judges": len(above)}
            items.append(said_in_parts("cognitive", **facts))
    if items:
        is_quoted = any(row["origin"] == "quoted" for row in rows)
        yield Point(" ".join(items[0]), said("chance", is_quoted=is_quoted), items)


def _is_above_random(row: Row) -> bool:
    if row["ci_low"]:
        return number_in(row, "ci_low") > number_in(row, "chance")
    return row["above_random"] == "yes"


def _attacks(rows: TableRows) -> Iterator[Point]:
    """Success of each perturbation; there is no value to test it against."""
    measured = [row for row in rows if row["asr"]]
    groups = grouped(measured, lambda row: capitalised(place_in(row).replace("_", " ")))
    means = {
        place: fmean(number_in(row, "asr") for row in group) for place, group in groups.items()
    }
    if means:
        most = max(means, key=means.get)
        facts = {"perturbation": groups[most][0]["condition"], "share": means[most]}
        heading, words = said_in_parts("attacks", **facts, unit=SHARES)
        items = [(place, said("on_average", share=means[place], unit=SHARES)) for place in means]
        yield Point(heading, words, items)


def _overlap(rows: TableRows) -> Iterator[Point]:
    of_form = where(rows, statistic="judges_with_annotators", form="truncated")
    judges = [row for row in of_form if row["judge"]]
    if judges:
        group = where(judges, systems=judges[0]["systems"], ties=judges[0]["ties"])
        less = sum(number_in(row, "ci_high") < 0 for row in group)
        yield Point(*said_in_parts("overlap", less=less, judges=len(group)))
