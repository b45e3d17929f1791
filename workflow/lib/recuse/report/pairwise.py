"""What sways the judges of a study of comparisons, the length, the place or the owner of an answer, in words.

What the place of an answer does to the verdicts of a study of comparisons, and what single orders tell, in words.

What several judges are found to do, in words: counted, named with their numbers, by experiment and condition.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recuse.base.words import capitalised, level, out_of
from recuse.data.registry import HUMAN
from recuse.report.answers import Answer, Point, above, below, largest, with_interval

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
    return capitalised(out_of(len(found), len(group), *JUDGES))


def verb(rows: Rows, one: str, many: str) -> str:
    """A verb of one judge, or of several."""
    return one if len(rows) == 1 else many


EVEN = 0.5  # share of verdicts for one of two answers that is no preference
FIRST = Leaning("prefers", "prefer", "prefer", "the answer shown first", "the answer shown second", "the second")
MORE = ("more often than not", "less often than not", "less often")
ANSWER_OF_POSITION_LONGER = Leaning("chooses the longer answer", "choose the longer answer", "choose the longer answer", *MORE)
ANSWER_OF_POSITION_OWN = Leaning("chooses its own answer", "choose their own answer", "choose its own answer", *MORE)
NOT_FIXED = "Quality is not held fixed: such answers may be the better ones."
# Statistics of single orders -> words of the preference, whose share it is, and what it rests on.
SINGLE = {
    "single_order_first": (
        FIRST,
        "for the answer shown first",
        "Each pair was judged in one order: this tells of the place only if the order of each pair was drawn at random.",
    ),
    "single_order_longer": (ANSWER_OF_POSITION_LONGER, "for the longer answer", NOT_FIXED),
    "single_order_own": (
        ANSWER_OF_POSITION_OWN,
        "for the judge's own answer, of the comparisons of one with another's",
        NOT_FIXED,
    ),
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


QUESTION = "What sways these judges?"
SAID = 3  # headings of points that make the headline
OWN = "egocentric_order"
ASKED = {  # cognitive bias -> its name, and what a judge does that has it; one's own answers first
    OWN: ("Own answers", "choose", "their own answers"),
    "egocentric_comp": ("Own answers, names shown", "choose", "their own answers"),
    "order_first": ("Listed first", "choose", "the answer listed first in both orders"),
    "order_last": ("Listed last", "choose", "the answer listed last in both orders"),
    "compassion_first": ("Listed first, names shown", "choose", "the answer listed first in both orders"),
    "compassion_last": ("Listed last, names shown", "choose", "the answer listed last in both orders"),
    "salience": ("Longer", "choose", "the longer answer"),
    "bandwagon": ("Majority", "follow", "a majority that is made up"),
    "attentional": ("Distraction", "follow", "an irrelevant sentence"),
}
LONGER = Leaning("leans to", "lean to", "lean to", "longer answers", "shorter answers", "to shorter")
CHANCE = (
    "Chance is what random choices would give in those comparisons in which a judge chooses an answer in both orders; in the "
    "others, with a tie or an error, no bias shows."
)
QUALITY = "Quality is not held fixed: a judge whose own answers are better is right to choose them more often."


def answer_of_comparisons(tables: Mapping[str, Rows], *, confidence: float) -> Answer:
    """Say what the tables of a study of comparisons answer; tables: rows, as texts, of those that the study has."""
    verbosity = tables.get("verbosity", ())
    length = list(_length(verbosity, confidence))
    place, single = answer_of_position(tables.get("position", ()), verbosity, tables.get("votes_by_position", ()), confidence)
    others = [
        *_cognitive(tables.get("cognitive_biases", ())),
        *_attacks(tables.get("asr", ()), confidence),
        *_overlap(tables.get("rbo", ())),
    ]
    # Where nothing is known of the length, the place is told more of.
    first = [*length, *place[: 1 if length or others else 2], *([] if place else single), *others][:SAID]
    headline = " ".join(f"{point.heading}." for point in first) or "These comparisons say nothing of their judges."
    return Answer(QUESTION, headline, [*length, *place, *single, *others])


def _length(rows: Rows, confidence: float) -> Iterator[Point]:
    words = (
        "Verbosity bias: how much more often verdicts part from the humans where these prefer the shorter answer than where "
        f"they prefer the longer, with {level(confidence)} intervals."
    )
    chosen = [row for row in rows if (row["order"], row["draws"]) == ("debiased", "excluded") and row["verbosity_bias"]]
    yield from merged(words, {place: LONGER.found(group, "verbosity_bias") for place, group in groups_of(chosen).items()})


def _cognitive(rows: Rows) -> Iterator[Point]:
    rows = [row for row in rows if row["judge"] != HUMAN and row["share"]]
    found = {}
    for bias, (name, *what) in ASKED.items():
        if group := [row for row in rows if row["bias"] == bias]:
            more = [row for row in group if _is_above_chance(row)]
            found[name] = _above_chance(more, group, *what), _beside_chance(largest(more or group, "share"))
    if found:
        words = ["Shares of comparisons, held against chance."]
        words += [CHANCE] if any(_with_ties(row) for row in rows) else []
        words += [QUALITY] if found.keys() & {ASKED[OWN][0], ASKED["egocentric_comp"][0]} else []
        words += ["They are quoted from the authors' table."] if any(row["origin"] == "quoted" for row in rows) else []
        (heading, _), *_ = found.values()
        items = [(name, listed("" if said == heading else said, each)) for name, (said, each) in found.items()]
        yield Point(heading, " ".join(words), items)


def _above_chance(more: Rows, group: Rows, does: str, what: str) -> str:
    """How many judges of a group have a bias more often than by chance, with its share if that is one number."""
    if not more:
        none = "The one judge is not" if len(group) == 1 else f"{judges(more, group)} is"
        said = f"{none} shown to {does} {what.replace('their', 'its')}"
    elif len(more) == 1:
        said = f"{judges(more, group)} {does}s {what.replace('their', 'its')}"
    else:
        said = f"{judges(more, group)} {does} {what}"
    chance = "" if any(map(_with_ties, group)) else f", {float(group[0]['random']):g}"
    return f"{said} more often than by chance{chance}"


def _beside_chance(rows: Rows) -> list[tuple[str, str]]:
    """The judges of these rows with their shares, and what chance gives where ties or errors make it less."""
    chances = [f", chance {float(row['chance']):.3f}" if _with_ties(row) else "" for row in rows[:NAMED]]
    shares = named(rows, "share", gap=False)
    return [(name, said + chance) for (name, said), chance in zip(shares, [*chances, ""], strict=False)]


def _is_above_chance(row: Mapping[str, str]) -> bool:
    """Whether the interval of a share is above what chance gives; without an interval, whether the share is."""
    return above(row, float(row["chance"] or row["random"])) if row["ci_low"] else row["above_random"] == "yes"


def _with_ties(row: Mapping[str, str]) -> bool:
    return bool(row["chance"]) and row["chance"] != row["random"]


def _attacks(rows: Rows, confidence: float) -> Iterator[Point]:
    """Success of each perturbation; none has a value that it would be tested against."""
    words = f"Share of samples in which the perturbed answer wins a judge over, with {level(confidence)} intervals."
    groups = groups_of([row for row in rows if row["asr"]])
    means = {place: sum(float(row["asr"]) for row in group) / len(group) for place, group in groups.items()}
    if groups:
        most = max(means, key=means.get)
        heading = f"{_perturbation(most)} wins judges over in {level(round(means[most], 2))} of samples on average"
        yield Point(
            heading,
            words,
            [
                (
                    _perturbation(place),
                    listed(f"{level(round(means[place], 2))} on average", named(largest(group, "asr"), "asr", gap=False)),
                )
                for place, group in groups.items()
            ],
        )


def _perturbation(place: str) -> str:
    experiment, _, name = place.rpartition(": ")
    return capitalised(name.replace("_", " ")) + (f" ({experiment})" if experiment else "")


def _overlap(rows: Rows) -> Iterator[Point]:
    form = [row for row in rows if (row["statistic"], row["form"]) == ("judges_with_annotators", "truncated") and row["judge"]]
    group = [row for row in form if (row["systems"], row["ties"]) == (form[0]["systems"], form[0]["ties"])]
    less = [row for row in group if below(row)]
    words = (
        "Rank-biased overlap of a judge's ranking with single annotators'. The order in which the answers were listed is a "
        "ranking made without reading one."
    )
    said = f"{judges(less, group)} {verb(less, 'agrees', 'agree')} less with the annotators than the listing order does"
    items = [(row["judge"], f"{float(row['value']):.3f}") for row in largest(group, "value")[:NAMED]]
    if group:
        yield Point(said, words, items)
