"""What several judges are found to do, in words: counted, named with their numbers, by experiment and condition."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judgebias.reporting.answers import Point, above, below, counted, largest, sentence, with_interval

JUDGES = ("judge", "judges")
NAMED = 3  # judges that a list names before it counts the others

Rows = Sequence[Mapping[str, str]]
Found = tuple[str, list[tuple[str, str]], int]  # a sentence without its end, judges with what is found of each, of how many


@dataclass(frozen=True)
class Leaning:
    """Words of a preference for one side: what one judge does, several do, and a judge is shown to do; then for which side."""

    one: str
    many: str
    bare: str
    toward: str
    away: str
    short: str  # `away` after `toward`

    def found(self, group: Rows, value: str, even: float = 0.0) -> Found:
        """How many judges of a group lean to a side, by intervals that leave out `even`, and those that lean most.

        Where none does to the first side, those that lean to the other are named, and where none leans, the group.
        """
        toward, away = [row for row in group if above(row, even)], [row for row in group if below(row, even)]
        if toward:
            said = f"{judges(toward, group)} {verb(toward, self.one, self.many)} {self.toward}"
            said += f", {len(away)} {self.short}" if away else ""
        elif away:
            said = f"{judges(away, group)} {verb(away, self.one, self.many)} {self.away}"
        elif len(group) == 1:
            said = f"The one judge is not shown to {self.bare} {self.toward}"
        else:
            said = f"{judges((), group)} is shown to {self.bare} {self.toward}"
        most = largest(toward, value) or largest(away, value)[::-1] or largest(group, value)
        return said, named(most, value, gap=even == 0), len(group)


def groups_of(rows: Rows) -> dict[str, list[Mapping[str, str]]]:
    """Rows by experiment and condition, in words."""
    groups: dict[str, list] = {}
    for row in rows:
        groups.setdefault(": ".join(filter(None, (row["experiment"], row.get("condition", "")))), []).append(row)
    return groups


def merged(words: str, found: Mapping[str, Found]) -> Iterator[Point]:
    """A point of one group of rows, or of several: the heading is then of one with most judges, the last, as pools are."""
    if len(found) == 1:
        ((said, items, _),) = found.values()
        yield Point(said, words, items)
    elif found:
        told = max(reversed(found), key=lambda place: found[place][2])
        yield Point(f"{found[told][0]} ({told})", words, [(place, listed(*each[:2])) for place, each in found.items()])


def listed(said: str, items: Sequence[tuple[str, str]]) -> str:
    """What is said of a group, then the judges named in it."""
    return ": ".join(filter(None, (said, "; ".join(" ".join(filter(None, item)) for item in items))))


def named(rows: Rows, value: str, *, gap: bool = True) -> list[tuple[str, str]]:
    """The judges of the first rows with their values, and how many more there are."""
    items = [(row["judge"], with_interval(row, value, gap=gap)) for row in rows[:NAMED]]
    return items + ([("", f"and {len(rows) - NAMED} more")] if len(rows) > NAMED else [])


def judges(found: Rows, group: Rows) -> str:
    """How many judges of a group are found to do something, to begin a sentence."""
    return sentence(counted(len(found), len(group), *JUDGES))


def verb(rows: Rows, one: str, many: str) -> str:
    """A verb of one judge, or of several."""
    return one if len(rows) == 1 else many
