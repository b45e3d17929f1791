"""The answer that a report of comparisons begins with: whether length, place or owner of an answer sways the judges."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from recuse.base.words import capitalised, level, out_of
from recuse.data.registry import HUMAN
from recuse.report.answers import Answer, Point, Rows, above, below, largest, with_interval

NAMED = 3  # judges that a list names before it counts the others
HEADLINE = 3  # headings of points that make the headline
QUESTION = "What sways these judges?"
EVEN = 0.5  # share of verdicts for one of two answers that is no preference
PLAIN = ("", "order")  # conditions that are not made to sway a judge

Items = list[tuple[str, str]]  # judge, words


@dataclass(frozen=True)
class Leaning:
    """Words of a preference for one side: the verb of one judge, of several, and in the infinitive; then the two sides."""

    one: str
    many: str
    bare: str
    toward: str
    away: str
    short: str  # `away`, where it follows `toward`

    def described(self, group: Rows, value: str, even: float) -> tuple[str, Items]:
        """How many judges of a group lean to a side, by intervals that exclude `even`, and those that lean most.

        If none leans to the first side, those that lean to the other are named; if none leans at all, the group.
        """
        toward, away = [row for row in group if above(row, even)], [row for row in group if below(row, even)]
        if toward:
            words = f"{judges(toward, group)} {self.one if len(toward) == 1 else self.many} {self.toward}"
            words += f", {len(away)} {self.short}" if away else ""
        elif away:
            words = f"{judges(away, group)} {self.one if len(away) == 1 else self.many} {self.away}"
        elif len(group) == 1:
            words = f"The one judge is not shown to {self.bare} {self.toward}"
        else:
            words = f"{judges((), group)} is shown to {self.bare} {self.toward}"
        most = largest(toward, value) or largest(away, value)[::-1] or largest(group, value)
        return words, named(most, value, gap=even == 0)

    def points(self, rows: Rows, words: str, value: str, even: float = 0.0) -> Iterator[Point]:
        """The point on the judges of these rows; words: what the column `value` holds."""
        return points(rows, words, lambda group: self.described(group, value, even))


MORE = ("more often than not", "less often than not", "less often")
FIRST = Leaning("prefers", "prefer", "prefer", "the answer shown first", "the answer shown second", "the second")
LONGER = Leaning("leans to", "lean to", "lean to", "longer answers", "shorter answers", "to shorter")
CHOOSES_LONGER = Leaning("chooses the longer answer", "choose the longer answer", "choose the longer answer", *MORE)
CHOOSES_OWN = Leaning("chooses its own answer", "choose their own answer", "choose its own answer", *MORE)
DRAWN = "Each pair was judged in one order: this tells of the place only if the order of each pair was drawn at random."
NOT_FIXED = "Quality is not held fixed: such answers may be the better ones."
# Statistics of single orders -> words of the preference, whose share it is, and what it rests on.
SINGLE = {
    "single_order_first": (FIRST, "for the answer shown first", DRAWN),
    "single_order_longer": (CHOOSES_LONGER, "for the longer answer", NOT_FIXED),
    "single_order_own": (CHOOSES_OWN, "for the judge's own answer, of the comparisons of one with another's", NOT_FIXED),
}
# Cognitive bias -> its name, and what a judge does that has it; one's own answers first.
OWN = ("egocentric_order", "egocentric_comp")
BIASES = {
    OWN[0]: ("Own answers", "choose", "their own answers"),
    OWN[1]: ("Own answers, names shown", "choose", "their own answers"),
    "order_first": ("Listed first", "choose", "the answer listed first in both orders"),
    "order_last": ("Listed last", "choose", "the answer listed last in both orders"),
    "compassion_first": ("Listed first, names shown", "choose", "the answer listed first in both orders"),
    "compassion_last": ("Listed last, names shown", "choose", "the answer listed last in both orders"),
    "salience": ("Longer", "choose", "the longer answer"),
    "bandwagon": ("Majority", "follow", "a majority that is made up"),
    "attentional": ("Distraction", "follow", "an irrelevant sentence"),
}
CHANCE = (
    "Chance is what random choices would give in those comparisons in which a judge chooses an answer in both orders; in the "
    "others, with a tie or an error, no bias shows."
)
QUALITY = "Quality is not held fixed: a judge whose own answers are better is right to choose them more often."
QUOTED = "They are quoted from the authors' table."
OVERLAP = (
    "Rank-biased overlap of a judge's ranking with single annotators'. The order in which the answers were listed is a "
    "ranking made without reading one."
)


def answer_of_comparisons(tables: Mapping[str, Rows], *, confidence: float) -> Answer:
    """Say what the tables of a study of comparisons answer; tables: rows, as texts, of those that the study has."""
    verbosity, intervals = tables.get("verbosity", ()), f"with {level(confidence)} intervals"
    of_length = "Verbosity bias: how much more often verdicts part from the humans where these prefer the shorter answer than "
    of_length += f"where they prefer the longer, {intervals}."
    debiased = [row for row in verbosity if (row["order"], row["draws"]) == ("debiased", "excluded") and row["verbosity_bias"]]
    length = list(LONGER.points(debiased, of_length, "verbosity_bias"))
    position: dict[str, list] = {}
    for row in _plain(tables.get("position", ()), verbosity):
        if row["value"]:
            position.setdefault(row["statistic"], []).append(row)
    of_verdicts = f"Share of verdicts for the answer shown first, {intervals}; 0.5 is no preference."
    of_votes = f"Share of votes for the answer shown first, less those for the second, {intervals}."
    place = [
        *FIRST.points(position.get("first_preference", ()), of_verdicts, "value", EVEN),
        *_consistency(position.get("consistency", ()), intervals),
        *FIRST.points(tables.get("votes_by_position", ()), of_votes, "difference"),
    ]
    single = list(_single(position, intervals, ", where only one order was judged" if place else ""))
    others = [
        *_cognitive(tables.get("cognitive_biases", ())),
        *_attacks(tables.get("asr", ()), intervals),
        *_overlap(tables.get("rbo", ())),
    ]
    # Without anything on the length, the headline says more about the place.
    first = [*length, *place[: 1 if length or others else 2], *([] if place else single), *others][:HEADLINE]
    headline = " ".join(f"{point.heading}." for point in first) or "These comparisons say nothing of their judges."
    return Answer(QUESTION, headline, [*length, *place, *single, *others])


def points(rows: Rows, words: str, described: Callable[[Rows], tuple[str, Items]]) -> Iterator[Point]:
    """A point on these rows, by experiment and condition; none without rows.

    described: the sentence, without its full stop, and the judges of one group. The heading is that of the group with most
    judges; of several such groups the last, since pools come last.
    """
    groups = groups_of(rows)
    each = {place: described(group) for place, group in groups.items()}
    if len(each) == 1:
        ((heading, items),) = each.values()
        yield Point(heading, words, items)
    elif each:
        most = max(reversed(groups), key=lambda place: len(groups[place]))
        yield Point(f"{each[most][0]} ({most})", words, [(place, with_judges(*group)) for place, group in each.items()])


def groups_of(rows: Rows) -> dict[str, list[Mapping[str, str]]]:
    """Rows by experiment and condition, in words."""
    groups: dict[str, list] = {}
    for row in rows:
        groups.setdefault(": ".join(filter(None, (row["experiment"], row.get("condition", "")))), []).append(row)
    return groups


def with_judges(words: str, items: Items) -> str:
    """The sentence on a group, then the judges named in it."""
    return ": ".join(filter(None, (words, "; ".join(" ".join(filter(None, item)) for item in items))))


def named(rows: Rows, value: str, *, gap: bool = False) -> Items:
    """The judges of the first rows with their values, and how many more there are."""
    items = [(row["judge"], with_interval(row, value, gap=gap)) for row in rows[:NAMED]]
    return items + ([("", f"and {len(rows) - NAMED} more")] if len(rows) > NAMED else [])


def judges(some: Rows, group: Rows) -> str:
    """How many judges of a group do something, at the beginning of a sentence."""
    return capitalised(out_of(len(some), len(group), "judge", "judges"))


def _plain(position: Rows, verbosity: Rows) -> Rows:
    """The rows of the conditions that have a verbosity bias: others may be designed to sway a judge.

    Without human labels none has one: then the conditions without a name or with a plain one, or else all.
    """
    labelled = {(row["experiment"], row["condition"]) for row in verbosity}
    if labelled:
        return [row for row in position if (row["experiment"], row["condition"]) in labelled]
    return [row for row in position if row["condition"] in PLAIN] or position


def _consistency(rows: Rows, intervals: str) -> Iterator[Point]:
    def described(group: Rows) -> tuple[str, Items]:
        values = [round(float(row["value"]), 2) for row in group]
        share = " to ".join(dict.fromkeys((level(min(values)), level(max(values)))))
        return f"Both orders get the same verdict in {share} of comparisons", named(largest(group, "value")[::-1], "value")

    words = f"Consistency: share of comparisons whose verdict is the same in both orders, ties among them, {intervals}."
    return points(rows, words, described)


def _single(position: Mapping[str, Rows], intervals: str, beside: str) -> Iterator[Point]:
    """beside: words after each heading where the page also speaks of comparisons in both orders."""
    for statistic, (leaning, whose, rests) in SINGLE.items():
        words = f"Share of verdicts {whose}, ties left out, {intervals}; 0.5 is no preference. {rests}"
        for point in leaning.points(position.get(statistic, ()), words, "value", EVEN):
            yield Point(f"{point.heading}{beside}", point.words, point.items)


def _cognitive(rows: Rows) -> Iterator[Point]:
    rows = [row for row in rows if row["judge"] != HUMAN and row["share"]]
    groups = {bias: [row for row in rows if row["bias"] == bias] for bias in BIASES}
    lists = {bias: _beside_chance(group, *BIASES[bias][1:]) for bias, group in groups.items() if group}
    if lists:
        words = ["Shares of comparisons, held against chance."]
        words += [CHANCE] if any(map(_with_ties, rows)) else []
        words += [QUALITY] if lists.keys() & {*OWN} else []
        words += [QUOTED] if any(row["origin"] == "quoted" for row in rows) else []
        (heading, _), *_ = lists.values()
        items = [
            (BIASES[bias][0], with_judges("" if sentence == heading else sentence, each))
            for bias, (sentence, each) in lists.items()
        ]
        yield Point(heading, " ".join(words), items)


def _beside_chance(group: Rows, does: str, what: str) -> tuple[str, Items]:
    """How many judges of a group show a bias more often than chance does, with that chance if it is one number; and which."""
    more = [row for row in group if _is_above_chance(row)]
    if len(more) > 1:
        words = f"{judges(more, group)} {does} {what}"
    elif more:
        words = f"{judges(more, group)} {does}s {what.replace('their', 'its')}"
    else:
        none = "The one judge is not" if len(group) == 1 else f"{judges(more, group)} is"
        words = f"{none} shown to {does} {what.replace('their', 'its')}"
    one = "" if any(map(_with_ties, group)) else f", {float(group[0]['random']):g}"
    rows = largest(more or group, "share")
    chances = [f", chance {float(row['chance']):.3f}" if _with_ties(row) else "" for row in rows[:NAMED]]
    items = [(name, text + chance) for (name, text), chance in zip(named(rows, "share"), [*chances, ""], strict=False)]
    return f"{words} more often than by chance{one}", items


def _is_above_chance(row: Mapping[str, str]) -> bool:
    """Whether the interval of a share, or the share if it has none, is above chance."""
    return above(row, float(row["chance"] or row["random"])) if row["ci_low"] else row["above_random"] == "yes"


def _with_ties(row: Mapping[str, str]) -> bool:
    """Whether ties or errors make chance less than what random choices give."""
    return bool(row["chance"]) and row["chance"] != row["random"]


def _attacks(rows: Rows, intervals: str) -> Iterator[Point]:
    """Success of each perturbation; there is no value to test it against."""
    groups = groups_of([row for row in rows if row["asr"]])
    means = {place: sum(float(row["asr"]) for row in group) / len(group) for place, group in groups.items()}
    shares = {place: level(round(mean, 2)) for place, mean in means.items()}
    if groups:
        most = max(means, key=means.get)
        heading = f"{_perturbation(most)} wins judges over in {shares[most]} of samples on average"
        words = f"Share of samples in which the perturbed answer wins a judge over, {intervals}."
        lists = {place: named(largest(group, "asr"), "asr") for place, group in groups.items()}
        items = [(_perturbation(place), with_judges(f"{shares[place]} on average", each)) for place, each in lists.items()]
        yield Point(heading, words, items)


def _perturbation(place: str) -> str:
    experiment, _, name = place.rpartition(": ")
    return capitalised(name.replace("_", " ")) + (f" ({experiment})" if experiment else "")


def _overlap(rows: Rows) -> Iterator[Point]:
    form = [row for row in rows if (row["statistic"], row["form"]) == ("judges_with_annotators", "truncated") and row["judge"]]
    group = [row for row in form if (row["systems"], row["ties"]) == (form[0]["systems"], form[0]["ties"])]
    less = [row for row in group if below(row)]
    words = (
        f"{judges(less, group)} {'agrees' if len(less) == 1 else 'agree'} less with the annotators than the listing order does"
    )
    items = [(row["judge"], f"{float(row['value']):.3f}") for row in largest(group, "value")[:NAMED]]
    if group:
        yield Point(words, OVERLAP, items)
