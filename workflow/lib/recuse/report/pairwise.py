"""The answer at the top of a report of comparisons: whether length, place or owner of an answer sways the judges."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from recuse.base.words import capitalised, counted, level, number, signed
from recuse.data.registry import HUMAN
from recuse.report.verdict import Answer, Point, Rows

NAMED = 3  # judges that a list names before it counts the others
HEADLINE = 3  # headings of points that make the headline
QUESTION = "What sways these judges?"
EVEN = 0.5  # share of verdicts for one of two answers that is no preference
PLAIN = ("", "order")  # conditions that are not made to sway a judge

# What a judge above `even` shows, and one below it.
FIRST = ("A preference for the answer shown first", "for the second")
LONGER = ("A preference for longer answers", "for shorter ones")
DRAWN = "Each pair was judged in one order: this measures position only if the order of each pair was drawn at random."
NOT_FIXED = "Quality is not held fixed: such answers may be the better ones."
# Statistic of single orders -> what judges show, whose share it is, and what it rests on.
SINGLE = {
    "single_order_first": (FIRST, "for the answer shown first", DRAWN),
    "single_order_longer": (
        ("Choosing the longer answer more often than not", "less often than not"),
        "for the longer answer",
        NOT_FIXED,
    ),
    "single_order_own": (
        ("Choosing its own answer more often than not", "less often than not"),
        "for the judge's own answer, of comparisons between its own and another's",
        NOT_FIXED,
    ),
}
# Cognitive bias -> what a judge does that has it; its own answers first.
OWN = ("egocentric_order", "egocentric_comp")
BIASES = {
    OWN[0]: "Choosing its own answer",
    OWN[1]: "Choosing its own answer, names shown",
    "order_first": "Choosing the answer listed first in both orders",
    "order_last": "Choosing the answer listed last in both orders",
    "compassion_first": "Choosing the answer listed first in both orders, names shown",
    "compassion_last": "Choosing the answer listed last in both orders, names shown",
    "salience": "Choosing the longer answer",
    "bandwagon": "Following a made-up majority",
    "attentional": "Following an irrelevant sentence",
}
CHANCE = (
    "Chance is what random choices would give in those comparisons in which a judge chooses an answer in both orders; in the "
    "others, with a tie or an error, no bias shows."
)
QUALITY = "Quality is not held fixed: a judge whose own answers are better is right to choose them more often."
QUOTED = "They are quoted from the authors' table."
OVERLAP = (
    "Rank-biased overlap of a judge's ranking with single annotators'. The order in which the answers were listed is a "
    "ranking made without reading them."
)


DIGITS = 3


def with_interval(row: Mapping[str, str], value: str, *, gap: bool = True) -> str:
    """The value of a row with its interval, as in `+0.044 (0.037 to 0.051)`; only a gap has a sign in front."""
    text = (signed if gap else number)(float(row[value]), DIGITS)
    if not row["ci_low"]:
        return text
    low, high = (number(float(row[end]), DIGITS) for end in ("ci_low", "ci_high"))
    return f"{text} ({low} to {high})"


def above(row: Mapping[str, str], value: float = 0.0) -> bool:
    """True where the interval of a row lies above `value`; False without an interval."""
    return bool(row["ci_low"]) and float(row["ci_low"]) > value


def below(row: Mapping[str, str], value: float = 0.0) -> bool:
    """True where the interval of a row lies below `value`; False without an interval."""
    return bool(row["ci_high"]) and float(row["ci_high"]) < value


def largest(rows: Sequence[Mapping[str, str]], value: str) -> list[Mapping[str, str]]:
    """The rows from the largest value to the smallest."""
    return sorted(rows, key=lambda row: -float(row[value]))


def answer_of_comparisons(tables: Mapping[str, Rows], *, confidence: float) -> Answer:
    """Say what the tables of a study of comparisons answer; tables: rows, as texts, of those that the study has."""
    verbosity, intervals = tables.get("verbosity", ()), f"with {level(confidence)} intervals"
    of_length = "Verbosity bias: how much more often verdicts disagree with the humans who prefer the shorter answer than with "
    of_length += f"those who prefer the longer, {intervals}."
    debiased = [row for row in verbosity if (row["order"], row["draws"]) == ("debiased", "excluded") and row["verbosity_bias"]]
    length = list(_leanings(debiased, of_length, "verbosity_bias", LONGER))
    position: dict[str, list] = {}
    for row in _plain(tables.get("position", ()), verbosity):
        if row["value"]:
            position.setdefault(row["statistic"], []).append(row)
    of_verdicts = f"Share of verdicts for the answer shown first, {intervals}; 0.5 is no preference."
    of_votes = f"Share of votes for the answer shown first, less those for the second, {intervals}."
    place = [
        *_leanings(position.get("first_preference", ()), of_verdicts, "value", FIRST, even=EVEN),
        *_consistency(position.get("consistency", ()), intervals),
        *_leanings(tables.get("votes_by_position", ()), of_votes, "difference", FIRST),
    ]
    single = []
    for statistic, (leaning, whose, rests) in SINGLE.items():
        words = f"Share of verdicts {whose}, ties excluded, {intervals}; 0.5 is no preference. {rests}"
        single += _leanings(position.get(statistic, ()), words, "value", leaning, even=EVEN)
    if place:
        single = [Point(f"{point.heading}, where only one order was judged", point.words, point.items) for point in single]
    others = [
        *_cognitive(tables.get("cognitive_biases", ())),
        *_attacks(tables.get("asr", ()), intervals),
        *_overlap(tables.get("rbo", ())),
    ]
    # Without anything on the length, the headline says more about the place.
    first = [*length, *place[: 1 if length or others else 2], *([] if place else single), *others][:HEADLINE]
    headline = " ".join(f"{point.heading}." for point in first) or "These comparisons say nothing about their judges."
    return Answer(QUESTION, headline, points=[*length, *place, *single, *others])


def _points(rows: Rows, words: str, described: Callable[[Rows], tuple[str, str]]) -> Iterator[Point]:
    """A point on these rows, by experiment and condition; none without rows.

    described: the sentence, without its full stop, and the judges of one group. The heading is that of the group with most
    judges; of several such groups the last, since pools come last.
    """
    groups = _groups_of(rows)
    descriptions = {place: described(group) for place, group in groups.items()}
    if groups:
        most = max(reversed(groups), key=lambda place: len(groups[place]))
        (heading, judges), several = descriptions[most], len(groups) > 1
        items = [(place, ": ".join(description)) for place, description in descriptions.items()] if several else [("", judges)]
        yield Point(f"{heading} ({most})" if several else heading, words, items)


def _groups_of(rows: Rows) -> dict[str, list[Mapping[str, str]]]:
    """Rows by experiment and condition, in words."""
    groups: dict[str, list] = {}
    for row in rows:
        groups.setdefault(": ".join(filter(None, (row["experiment"], row.get("condition", "")))), []).append(row)
    return groups


def _named(rows: Rows, value: str, *, gap: bool = False) -> str:
    """The judges of the first rows with their values, and their chance if that varies; and how many more there are."""
    texts = []
    for row in rows[:NAMED]:
        chance = f", chance {float(row['chance']):.3f}" if value == "share" and _with_ties(row) else ""
        texts.append(f"{row['judge']} {with_interval(row, value, gap=gap)}{chance}")
    return "; ".join([*texts, *([f"and {len(rows) - NAMED} more"] if len(rows) > NAMED else [])])


def _in_judges(some: Rows, group: Rows) -> str:
    """In how many judges of a group something is found."""
    return f"in {len(some) or 'none'} of {counted(len(group), 'judge')}"


def _leanings(rows: Rows, words: str, value: str, leaning: tuple[str, str], even: float = 0.0) -> Iterator[Point]:
    """The point on how many judges lean to a side, by intervals that exclude `even`, and on those that lean most.

    If none leans to the first side, those that lean to the other are named; if none leans at all, the group.
    """

    def described(group: Rows) -> tuple[str, str]:
        toward, away = ([row for row in group if beyond(row, even)] for beyond in (above, below))
        sentence = f"{leaning[0]} is found {_in_judges(toward, group)}{f', {leaning[1]} in {len(away)}' if away else ''}"
        most = largest(toward, value) or largest(away, value)[::-1] or largest(group, value)
        return sentence, _named(most, value, gap=even == 0)

    return _points(rows, words, described)


def _plain(position: Rows, verbosity: Rows) -> Rows:
    """The rows of the conditions that have a verbosity bias: others may be designed to sway a judge.

    Without human labels none has one: then the conditions without a name or with a plain one, or else all.
    """
    labelled = {(row["experiment"], row["condition"]) for row in verbosity}
    if labelled:
        return [row for row in position if (row["experiment"], row["condition"]) in labelled]
    return [row for row in position if row["condition"] in PLAIN] or position


def _consistency(rows: Rows, intervals: str) -> Iterator[Point]:
    def described(group: Rows) -> tuple[str, str]:
        values = [round(float(row["value"]), 2) for row in group]
        share = " to ".join(dict.fromkeys((level(min(values)), level(max(values)))))
        return f"Both orders get the same verdict in {share} of comparisons", _named(largest(group, "value")[::-1], "value")

    words = f"Consistency: share of comparisons with the same verdict in both orders, ties included, {intervals}."
    return _points(rows, words, described)


def _cognitive(rows: Rows) -> Iterator[Point]:
    rows = [row for row in rows if row["judge"] != HUMAN and row["share"]]
    groups = {bias: [row for row in rows if row["bias"] == bias] for bias in BIASES}
    groups = {bias: group for bias, group in groups.items() if group}
    if groups:
        words = ["Shares of comparisons, compared with chance."]
        words += [CHANCE] if any(map(_with_ties, rows)) else []
        words += [QUALITY] if groups.keys() & {*OWN} else []
        words += [QUOTED] if any(row["origin"] == "quoted" for row in rows) else []
        sentences = {bias: _beside_chance(group) for bias, group in groups.items()}
        first = next(iter(groups))
        items = [(BIASES[bias], ": ".join(sentence)) for bias, sentence in sentences.items()]
        yield Point(f"{BIASES[first]} is {sentences[first][0]}", " ".join(words), items)


def _beside_chance(group: Rows) -> tuple[str, str]:
    """How many judges of a group show a bias more often than by chance, with that chance if it is one number; and which."""
    more = [row for row in group if _is_above_chance(row)]
    chance = "" if any(map(_with_ties, group)) else f" ({float(group[0]['random']):g})"
    return f"more frequent than by chance{chance} {_in_judges(more, group)}", _named(largest(more or group, "share"), "share")


def _is_above_chance(row: Mapping[str, str]) -> bool:
    """Whether the interval of a share, or the share if it has none, is above chance."""
    return above(row, float(row["chance"] or row["random"])) if row["ci_low"] else row["above_random"] == "yes"


def _with_ties(row: Mapping[str, str]) -> bool:
    """Whether ties or errors make chance less than what random choices give."""
    return bool(row["chance"]) and row["chance"] != row["random"]


def _attacks(rows: Rows, intervals: str) -> Iterator[Point]:
    """Success of each perturbation; there is no value to test it against."""
    groups = _groups_of([row for row in rows if row["asr"]])
    means = {place: sum(float(row["asr"]) for row in group) / len(group) for place, group in groups.items()}
    shares = {place: level(round(mean, 2)) for place, mean in means.items()}
    if groups:
        most = max(means, key=means.get)
        heading = f"{_perturbation(most)} wins judges over in {shares[most]} of samples on average"
        words = f"Share of samples in which the perturbed answer wins a judge over, {intervals}."
        judges = {place: _named(largest(group, "asr"), "asr") for place, group in groups.items()}
        items = [(_perturbation(place), f"{shares[place]} on average: {names}") for place, names in judges.items()]
        yield Point(heading, words, items)


def _perturbation(place: str) -> str:
    experiment, _, name = place.rpartition(": ")
    return capitalised(name.replace("_", " ")) + (f" ({experiment})" if experiment else "")


def _overlap(rows: Rows) -> Iterator[Point]:
    form = [row for row in rows if (row["statistic"], row["form"]) == ("judges_with_annotators", "truncated") and row["judge"]]
    group = [row for row in form if (row["systems"], row["ties"]) == (form[0]["systems"], form[0]["ties"])]
    less = [row for row in group if below(row)]
    if group:
        heading = f"Less agreement with the annotators than by the listing order is found {_in_judges(less, group)}"
        overlaps = "; ".join(f"{row['judge']} {float(row['value']):.3f}" for row in largest(group, "value")[:NAMED])
        yield Point(heading, OVERLAP, [("", overlaps)])
