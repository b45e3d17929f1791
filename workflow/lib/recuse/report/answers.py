"""The answer at the top of a report of ratings: which judges favour themselves, how sure that is, and what it does to ranks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recuse.base.words import capitalised, enumerated, level, number, signed
from recuse.check.facts import FINE, STOP, WARNING
from recuse.inference.robustness import FAVOURS, HARSHER, INDISTINGUISHABLE, NOT_ESTIMABLE
from recuse.model.spec import BIASES
from recuse.report.robustness import WHAT, bare, conclusions_in, robust, tally

Rows = Sequence[Mapping[str, str]]
SEVERAL = 3  # decimals of a gap in words
MOST = 5  # topics of a check that the answer names; the table has the others
OF_TESTS = ("ordinary preference", "reliability")  # topics of a check that say how far the tests of Equation 1 can be trusted
TABLE = "the table “What the ratings support”"
SELF, FAMILY = BIASES
QUESTION = "Do these judges favour their own answers?"
GAP = (
    "The gap (A) is between what a judge gives its own answers and what their human scores account for, in points of a scale "
    "from 0 to 1. Above 0 the judge favours itself."
)
GAP_OF_FAMILY = "The gap is in what the judges of a family give its other models."
OTHER_CHECKS = "Each robustness check asks its own question; the figure of conclusions lists them."
NOTHING = "No judge rates its own models, or its family's, together with others."
# Of a study without human scores.
GAP_TO_JUDGES = (
    "No row has a human score. The gap is between what a judge gives its own answers and what the other judges give the same "
    "models (estimand B), in points of a scale from 0 to 1. Above 0 the judge favours itself, compared with them."
)
NO_TRUTH = (
    "Who is right: without human scores, a judge that is right where the others are wrong looks the same as a biased one. One "
    "that uses more of the scale than the others seems to favour its own answers where these are better than most; only C "
    "allows for this."
)


ON_AVERAGE = (
    "The pooled self-bias (C) is the mean, weighted by precision, of the gap between a judge's rating of its own answers and "
    "the rating that all other pairs predict; its interval allows for ordinary preferences, each judge's spread and its use "
    "of the scale."
)
ONLY_PROMPTS = (
    "{who} are at {level}, with {errors} standard errors, and allow at most for other prompts: where judges prefer some models "
    "to others, many more than {chance} of unbiased judges are called biased."
)


@dataclass(frozen=True)
class Point:
    """One part of the answer: its heading, the words, and an item for each judge, family or model."""

    heading: str
    words: str
    items: Sequence[tuple[str, str]] = ()  # name, words


@dataclass(frozen=True)
class Answer:
    """What a reader sees first."""

    question: str
    headline: str
    points: Sequence[Point]


def with_interval(row: Mapping[str, str], value: str, *, gap: bool = True) -> str:
    """The value of a row with its interval, as in `+0.044 (0.037 to 0.051)`; only a gap has a sign in front."""
    text = (signed if gap else number)(float(row[value]), SEVERAL)
    if not row["ci_low"]:
        return text
    low, high = (number(float(row[end]), SEVERAL) for end in ("ci_low", "ci_high"))
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


def answer_of_ratings(
    tables: Mapping[str, Rows],
    *,
    confidence: float,
    errors: str,
    scales: Mapping[str, object],
    checks: Mapping[str, str],
    first: str = "main",
    relative: bool = False,
) -> Answer:
    """Say what the tables of a study of ratings answer.

    tables: rows, as texts, of `main`, the estimates of Equation 1, of `not_estimable` and, where they exist, of `leaderboard`,
    `conclusions`, `check` and `completeness`. errors: kind of the standard errors of `main`; scales: of each dimension,
    [lowest, highest] or `observed`; checks: title of each robustness check. first: the spec of `main`, and of the leaderboard
    that counts; relative: the study has no human scores, and biases are gaps to the other judges.
    """
    rows = [row for row in tables["main"] if not row["slice"] and row["estimate"]]
    of_judges, of_families = ([row for row in rows if row["quantity"] == quantity] for quantity in BIASES)
    whole = [row for row in tables.get("conclusions", ()) if not row["slice"]]
    conclusions = [conclusion for conclusion in conclusions_in(whole) if conclusion.is_bias]
    check, points = tables.get("check", ()), []
    average = [
        row for row in tables.get("pooled", ()) if row["spec"] == "main" and not row["slice"] and row["quantity"] == SELF
    ]
    points += _on_average(average, confidence)
    if of_judges:
        gaps = _gaps(of_judges, _width_of(scales))
        points.append(Point("Which judges favour themselves?", GAP_TO_JUDGES if relative else GAP, gaps))
    if of_families:
        points.append(Point("And their families?", GAP_OF_FAMILY, _gaps(of_families)))
    absent = []
    for row in tables["not_estimable"]:  # of Equation 1, or of the spec in its place: biases in the whole study, or all of it
        if row["spec"] in ("main", first) and not row["slice"] and row["quantity"] in ("", *BIASES):
            name = f"{WHAT[row['quantity']]} of {row['term']}" if row["quantity"] else "Equation 1"
            absent.append((name, bare(row["reason"])))
    if absent or not (of_judges or of_families):
        points.append(Point("What these ratings cannot tell", NO_TRUTH if relative else "" if absent else NOTHING, absent))
    if rows:
        about = {"level": level(confidence), "errors": errors, "chance": level(1 - confidence)}
        chance = ONLY_PROMPTS.format(**about, who="Intervals" if relative else "Intervals of Equation 1")
        items = []
        for each in conclusions:
            names = "; ".join(checks.get(row["check"], row["check"]) for row in each.changed)
            but = f", not in: {names}" if names else ""
            items.append((f"{each.first['term']} {each.first['first']}", f"{each.extent}{but}"))
        points.append(
            Point("How sure is that?", " ".join([chance, *_doubts(check), *[OTHER_CHECKS] * bool(conclusions)]), items)
        )
    points += _warnings(check)
    if rows:
        points += _ranking([row for row in tables.get("leaderboard", ()) if row["spec"] == first], confidence)
    headline = "These ratings cannot say whether the judges favour themselves."
    if any(row["ci_low"] for row in of_judges):
        untested = {row["judge"] for row in tables.get("completeness", ())} - {row["term"] for row in of_judges}
        counts = tally([*map(_conclusion, of_judges), *[NOT_ESTIMABLE] * len(untested)], SELF)
        headline = f"{capitalised(counts)}{', compared with the other judges of the same models' if relative else ''}."
        if robustness := robust([each for each in conclusions if each.first["quantity"] == SELF], checks):
            headline += f" {capitalised(robustness)}."
    first_alone = "Compared with the other judges alone" if relative else "By Equation 1 alone"
    headline = " ".join([*_pooled(average[:1], confidence), f"{first_alone}: {headline}" if average else headline])
    return Answer(QUESTION, headline, points)


def _pooled(rows: Rows, confidence: float) -> Iterator[str]:
    """The pooled mean in a sentence, of its row without a judge left out, and the plain mean; or why there is none."""
    for row in rows:
        if not row["estimate"]:
            yield f"The mean self-bias of judges like these cannot be told: {bare(row['reason'])}."
            continue
        judges, interval = f"judges like these {row['biases']}", f"({level(confidence)} interval {_span(row, '')})"
        if above(row) or below(row):
            verb = "favour themselves" if above(row) else "are harsher on themselves"
            size = number(abs(float(row["estimate"])), SEVERAL)
            words = f"On average {judges} {verb} by {size} of the scale {interval}"
        else:
            value = signed(float(row["estimate"]), SEVERAL)
            words = f"The mean self-bias of {judges} cannot be distinguished from 0: {value} {interval}"
        yield f"{words}; the plain mean of these {row['biases']} alone is {_unweighted(row)}."


def _unweighted(row: Mapping[str, str]) -> str:
    return f"{signed(float(row['unweighted']), SEVERAL)} ({_span(row, 'unweighted_')})"


def _span(row: Mapping[str, str], prefix: str) -> str:
    return " to ".join(number(float(row[f"{prefix}{end}"]), SEVERAL) for end in ("ci_low", "ci_high"))


def _on_average(rows: Rows, confidence: float) -> Iterator[Point]:
    """The pooled mean, how much judges differ, and without whom the conclusion changes."""
    if not rows or not rows[0]["estimate"]:
        return
    whole, *others = rows
    tau = number(float(whole["tau"]), SEVERAL)
    items = [
        ("judges like these, most weight on those that vary least", with_interval(whole, "estimate")),
        ("these judges alone, plain mean", _unweighted(whole)),
        ("standard deviation of self-biases between judges", f"{tau} (without an interval)"),
    ]
    for row in others:
        if (above(row), below(row)) != (above(whole), below(whole)):
            verb = "excludes" if above(row) or below(row) else "includes"
            items.append((f"without {row['left_out']}", f"{with_interval(row, 'estimate')}, which {verb} 0"))
    yield Point("On average over judges", ON_AVERAGE, items)


def _conclusion(row: Mapping[str, str]) -> str:
    if not row["ci_low"]:
        return NOT_ESTIMABLE
    return FAVOURS[row["quantity"]] if above(row) else HARSHER[row["quantity"]] if below(row) else INDISTINGUISHABLE


def _gaps(rows: Rows, width: float | None = None) -> list[tuple[str, str]]:
    """The gap of each judge or family, also on the raw scale if that has a `width`, and what its interval says."""
    items = []
    for row in largest(rows, "estimate"):
        raw = f", or {signed(float(row['estimate']) * width, 2)} on the raw scale" if width else ""
        words = _conclusion(row) if row["ci_low"] else "without an interval"
        items.append((row["term"], f"{with_interval(row, 'estimate')}{raw}, {words}"))
    return items


def _width_of(scales: Mapping[str, object]) -> float | None:
    """Width of the raw scale, if all dimensions have one of the same width, other than the unit scale."""
    widths = {None if scale == "observed" else scale[1] - scale[0] for scale in scales.values()}
    return widths.pop() if len(widths) == 1 and not widths & {None, 1} else None


def _doubts(check: Rows) -> Iterator[str]:
    """Sentences of the check on the tests of Equation 1: what it says of ordinary preference, and warnings on reliability."""
    preference = [[row] for row in check if row["topic"] == "ordinary preference"]
    unreliable = [row for row in check if row["topic"] == "reliability" and row["level"] != FINE]
    yield from (f"{capitalised(_warning(rows))}." for rows in (*preference, unreliable) if rows)


def _warnings(check: Rows) -> Iterator[Point]:
    """A point with the other warnings of a check, an item for each of the first MOST topics; none without a warning."""
    topics: dict[str, list] = {}  # most important first
    for row in check:
        if row["level"] in (STOP, WARNING) and row["topic"] not in (*OF_TESTS, "verdict"):
            topics.setdefault(row["topic"], []).append(row)
    items = [(capitalised(topic), _warning(rows)) for topic, rows in list(topics.items())[:MOST]]
    rest = sum(len(rows) for rows in list(topics.values())[MOST:])
    if items:
        yield Point("Warnings", "", [*items, *([("", f"{rest} more in {TABLE}")] if rest else [])])


def _warning(rows: Rows) -> str:
    """The first warning of a topic with its advice, and whom the others are about."""
    first, *others = rows
    words = "; ".join(filter(None, (first["words"], first["advice"])))
    subjects = enumerated([row["subject"] or "the whole study" for row in others], most=5)
    return f"{words} (also {subjects}: see {TABLE})" if others else words


def _ranking(leaderboard: Rows, confidence: float) -> Iterator[Point]:
    """How the ranks change when the biases are removed."""
    rows = [row for row in leaderboard if not row["slice"] and row["rank"]]
    raw, debiased = ({row["model"]: row for row in rows if row["scores"] == kind} for kind in ("raw", "debiased"))
    models = sorted(raw.keys() & debiased.keys(), key=lambda model: int(debiased[model]["rank"]))
    if len(models) < 2:
        return
    before, after = _ranks(raw, models), _ranks(debiased, models)
    moved = [model for model in models if after[model] != before[model]]
    old, new = (enumerated([model for model in models if ranks[model] == 1]) for ranks in (before, after))
    top = f"{new} is first with and without them" if old == new else f"{new} is first instead of {old}"
    unranked = len(raw) - len(models)
    words = f"{unranked} of {len(raw)} models cannot be ranked without the biases. " if unranked else ""
    verb = "moves" if len(moved) < 2 else "move"
    words += f"{len(moved) or 'None'} of {len(models)} models {verb} when the biases are removed; {top}."
    sets = [[int(board[model][end] or 0) for end in ("rank_low", "rank_high")] for model in moved for board in (raw, debiased)]
    if moved and (unranked or not all(map(any, sets))):
        words += " How certain these ranks are is not known."
    elif moved:
        pairs = zip(moved, sets[::2], sets[1::2], strict=True)
        apart = [model for model, one, other in pairs if one[1] < other[0] or other[1] < one[0]]
        overlap = f"do not overlap for {enumerated(apart)}" if apart else "overlap for all of them"
        words += f" The rank sets before and after, at {level(confidence)}, {overlap}."
    items = [(model, f"from {before[model]} to {after[model]}") for model in moved]
    yield Point("Does the ranking of models change?", words, items)


def _ranks(board: Mapping[str, Mapping[str, str]], models: Sequence[str]) -> dict[str, int]:
    """The rank of each of some models among them alone."""
    ranks = {model: int(board[model]["rank"]) for model in models}
    return {model: 1 + sum(other < rank for other in ranks.values()) for model, rank in ranks.items()}
