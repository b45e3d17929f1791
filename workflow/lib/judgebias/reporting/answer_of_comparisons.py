"""What sways the judges of a study of comparisons, the length, the place or the owner of an answer, in words."""

from collections.abc import Iterator, Mapping

from judgebias.ratings.registry import HUMAN
from judgebias.reporting.answer_of_position import answer_of_position
from judgebias.reporting.answers import Answer, Point, above, below, largest, level, sentence
from judgebias.reporting.groups_of_judges import NAMED, Leaning, Rows, groups_of, judges, listed, merged, named, verb

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
    return sentence(name.replace("_", " ")) + (f" ({experiment})" if experiment else "")


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
