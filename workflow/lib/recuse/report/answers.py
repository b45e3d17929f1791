"""The answer that a report of ratings begins with: who favours themselves, how sure that is, what it does to the ranking."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from recuse.base.words import capitalised, enumerated, level, number, out_of, signed
from recuse.check.facts import FINE, STOP, WARNING
from recuse.inference.robustness import FAVOURS, HARSHER, INDISTINGUISHABLE
from recuse.model.spec import BIASES
from recuse.report.robustness import WHAT, WHO, Conclusion, bare, conclusions_in, reach

Rows = Sequence[Mapping[str, str]]
SEVERAL = 3  # decimals of a gap in words
MOST = 5  # topics of a check that the answer names; the table has the others
OF_TESTS = ("ordinary preference", "reliability")  # topics of a check that say how far the tests of Equation 1 can be believed
WHERE = "in the table “What the ratings support”"
RAW, DEBIASED = "raw", "debiased"
SELF, FAMILY = BIASES
QUESTION = "Do these judges favour their own answers?"
GAP = (
    "The gap (A) is between what a judge gives its own answers and what the human scores of these answers account for, in "
    "points of a scale from 0 to 1. Above 0 the judge favours itself."
)
GAP_OF_FAMILY = "The gap is of what judges of a family give its other models."
OTHER_CHECKS = (
    " Other checks ask whether a bias is more than chance, shared (B) or ordinary (C) preference, or measurement error:"
)
NOTHING = "No judge rates models of its own, or of its family, beside others."
# Of a study without human scores.
AGAINST_JUDGES = "compared with the other judges of the same models"
GAP_TO_JUDGES = (
    "No row has a human score. The gap is between what a judge gives its own answers and what the other judges give the same "
    "models (estimand B), in points of a scale from 0 to 1. Above 0 the judge favours itself, compared with them."
)
NO_TRUTH = (
    "Who is right: without human scores, a judge that is right where the others are wrong looks the same as one that is "
    "biased. One that uses more of the scale than the others seems to favour its own answers where these are better than most."
)
OTHER_CHECKS_OF_JUDGES = (
    " Other checks compare the judges in each dimension or on each completion, and ask whether a bias is more than ordinary "
    "preference, or may come of missing ratings:"
)


@dataclass(frozen=True)
class Point:
    """One question that the answer speaks to: its heading, the words, and an item for each judge, family or model."""

    heading: str
    words: str
    items: Sequence[tuple[str, str]] = ()  # name, words


@dataclass(frozen=True)
class Answer:
    """What a reader sees first."""

    question: str
    headline: str
    points: Sequence[Point] = field(default_factory=list)


def with_interval(row: Mapping[str, str], value: str, *, gap: bool = True) -> str:
    """The value of a row of a table with its interval, as in `+0.044 (0.037 to 0.051)`; the sign in front of a gap alone."""
    text = (signed if gap else number)(float(row[value]), SEVERAL)
    if not row["ci_low"]:
        return text
    low, high = (number(float(row[end]), SEVERAL) for end in ("ci_low", "ci_high"))
    return f"{text} ({low} to {high})"


def above(row: Mapping[str, str], value: float = 0.0) -> bool:
    """True where the interval of a row lies above `value`; without an interval nothing is known."""
    return bool(row["ci_low"]) and float(row["ci_low"]) > value


def below(row: Mapping[str, str], value: float = 0.0) -> bool:
    """True where the interval of a row lies below `value`."""
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

    tables: rows, as texts, of `main`, the estimates of Equation 1, of `not_estimable` and, where they are there, of
    `leaderboard`, `conclusions`, `check` and `completeness`. errors: kind of the standard errors of `main`; scales: of each
    dimension, [lowest, highest] or `observed`; checks: title of each robustness check. first: the spec of `main`, and of
    the leaderboard that counts; relative: the study has no human scores, and biases are gaps to the other judges.
    """
    rows = [row for row in tables["main"] if not row["slice"] and row["estimate"]]
    of_judges, of_families = ([row for row in rows if row["quantity"] == quantity] for quantity in BIASES)
    whole = [row for row in tables.get("conclusions", ()) if not row["slice"]]
    conclusions = [each for each in conclusions_in(whole) if each.is_bias]
    check, points = tables.get("check", ()), []
    if of_judges:
        gaps = _gaps(SELF, of_judges, _width_of(scales))
        points.append(Point("Which judges favour themselves?", GAP_TO_JUDGES if relative else GAP, gaps))
    if of_families:
        points.append(Point("And their families?", GAP_OF_FAMILY, _gaps(FAMILY, of_families)))
    absent = []
    for row in tables["not_estimable"]:  # of Equation 1, or of the spec in its place: biases in the whole study, or all of it
        if row["spec"] in ("main", first) and not row["slice"] and row["quantity"] in ("", *BIASES):
            name = f"{WHAT[row['quantity']]} of {row['term']}" if row["quantity"] else "Equation 1"
            absent.append((name, bare(row["reason"])))
    if absent or not (of_judges or of_families):
        points.append(Point("What these ratings cannot tell", NO_TRUTH if relative else "" if absent else NOTHING, absent))
    if rows:
        others = OTHER_CHECKS_OF_JUDGES if relative else OTHER_CHECKS
        words = (
            f"The intervals are at {level(confidence)}, with {errors} standard errors: of judges without any bias, about "
            f"{level(1 - confidence)} would still be called biased by chance alone."
        )
        items = [(f"{each.first['term']} {each.first['first']}", _standing(each, checks)) for each in conclusions]
        points.append(Point("How sure is that?", words + _doubts(check) + (others if conclusions else ""), items))
    points += _to_mind(check)
    if rows:
        points += _ranking([row for row in tables.get("leaderboard", ()) if row["spec"] == first], confidence)
    judges = {row["judge"] for row in tables.get("completeness", ())} | {row["term"] for row in of_judges}
    headline = _headline(of_judges, len(judges), against=f", {AGAINST_JUDGES}" if relative else "")
    return Answer(QUESTION, headline + _stand([each for each in conclusions if each.first["quantity"] == SELF], checks), points)


def _headline(rows: Rows, judges: int, *, against: str) -> str:
    """How many of the judges favour themselves, how many are harsher on themselves, and how many have no test."""
    tested = [row for row in rows if row["ci_low"]]
    if not tested:
        return "These ratings cannot say whether their judges favour themselves."
    favour, harsher = sum(map(above, tested)), sum(map(below, tested))
    who = capitalised(out_of(favour, judges, *WHO[SELF]))
    if favour:
        words = f"{who} {'favours itself' if favour == 1 else 'favour themselves'}{against}"
    elif judges == 1:
        return f"The one judge is {'harsher on' if harsher else 'not shown to favour'} itself{against}."
    else:
        words = f"{who} is shown to favour itself{against}"
    if harsher:
        words += f"; {harsher} {'is harsher on itself' if harsher == 1 else 'are harsher on themselves'}"
    untested = judges - len(tested)
    return f"{words}; of {untested} it cannot be told." if untested else f"{words}."


def _gaps(quantity: str, rows: Rows, width: float | None = None) -> list[tuple[str, str]]:
    """The gap of each judge or family, also on the raw scale if that has a `width`, and what its interval says."""
    items = []
    for row in largest(rows, "estimate"):
        raw = f", or {signed(float(row['estimate']) * width, 2)} on the raw scale" if width else ""
        means = FAVOURS[quantity] if above(row) else HARSHER[quantity] if below(row) else INDISTINGUISHABLE
        means = means if row["ci_low"] else "without an interval"
        items.append((row["term"], f"{with_interval(row, 'estimate')}{raw}, {means}"))
    return items


def _width_of(scales: Mapping[str, object]) -> float | None:
    """Width of the raw scale, if all dimensions have one of the same width, other than the unit scale."""
    widths = {None if scale == "observed" else scale[1] - scale[0] for scale in scales.values()}
    return widths.pop() if len(widths) == 1 and not widths & {None, 1} else None


def _stand(conclusions: Sequence[Conclusion], checks: Mapping[str, str]) -> str:
    """How many conclusions on judges stand in all other checks that can tell, and which cannot, as further sentences."""
    if not conclusions:
        return ""
    estimates, count = reach(conclusions), len(conclusions)
    telling = sum(number > 0 for number, _ in estimates.values())
    part = {name: f" (for {without} of {count})" if number else "" for name, (number, without) in estimates.items() if without}
    silent = "; ".join(checks.get(name, name) + some for name, some in part.items())
    unknown = f"; not known: {silent}" if silent else ""
    if not telling:
        return f" No other check can be told here{unknown}."
    several = f"each of the {telling} other checks" if telling > 1 else "the one other check"
    every = f"{several} that can be told here" if silent else "every other check"
    standing = sum(each.stands for each in conclusions)
    if count == 1:
        words = f"This {'stands' if standing else 'does not stand'} in {every}"
    elif standing == count:
        words = f"{'Both' if standing == 2 else f'All {standing}'} conclusions stand in {every}"
    else:
        words = f"Of these {count} conclusions {standing or 'none'} {'stand' if standing > 1 else 'stands'} in {every}"
    return f" {words}{unknown}."


def _standing(conclusion: Conclusion, checks: Mapping[str, str]) -> str:
    """In how many other checks one conclusion stands, and in which not."""
    tested, kept = conclusion.tested, len(conclusion.kept)
    can = " that can tell" if tested < len(conclusion.others) else ""
    if not tested:
        return "no other check can tell"
    if kept == tested:
        return f"stands in {'the one other check' if tested == 1 else f'all {tested} other checks'}{can}"
    names = "; ".join(checks.get(row["check"], row["check"]) for row in conclusion.changed)
    return f"stands in {kept} of {tested} other checks{can}, not in: {names}"


def _doubts(check: Rows) -> str:
    """What the check says of the tests of Equation 1 beside chance, as sentences to follow another; "" of an empty check.

    How often ordinary preference and measurement error look like a self-bias is always said; of reliability only warnings.
    """
    preference = [[row] for row in check if row["topic"] == "ordinary preference"]
    unreliable = [row for row in check if row["topic"] == "reliability" and row["level"] != FINE]
    return "".join(f" {capitalised(_warning(rows))}." for rows in (*preference, unreliable) if rows)


def _to_mind(check: Rows) -> Iterator[Point]:
    """A point with the other warnings of a check, an item for each of the first MOST topics; none without a warning."""
    topics: dict[str, list] = {}  # in their order, which is that of how much they matter
    for row in check:
        if row["level"] in (STOP, WARNING) and row["topic"] not in (*OF_TESTS, "verdict"):
            topics.setdefault(row["topic"], []).append(row)
    items = [(capitalised(topic), _warning(rows)) for topic, rows in list(topics.items())[:MOST]]
    left = sum(len(rows) for rows in list(topics.values())[MOST:])
    if items:
        yield Point("What to mind", "", [*items, *([("", f"{left} more {WHERE}")] if left else [])])


def _warning(rows: Rows) -> str:
    """The first warning of a topic with its advice, and whom the others are about."""
    first, *others = rows
    words = "; ".join(filter(None, (first["words"], first["advice"])))
    subjects = enumerated([row["subject"] or "the whole study" for row in others], most=5)
    return f"{words} (so, too, {WHERE}: {subjects})" if others else words


def _ranking(leaderboard: Rows, confidence: float) -> Iterator[Point]:
    """How the ranks change when the biases are taken off."""
    rows = [row for row in leaderboard if not row["slice"] and row["rank"]]
    raw, debiased = ({row["model"]: row for row in rows if row["scores"] == kind} for kind in (RAW, DEBIASED))
    models = sorted(raw.keys() & debiased.keys(), key=lambda model: int(debiased[model]["rank"]))
    if len(models) < 2:
        return
    ranks, before = _ranks(debiased, models), _ranks(raw, models)
    moved = [model for model in models if ranks[model] != before[model]]
    first, of_raw = (enumerated([model for model in models if board[model] == 1]) for board in (ranks, before))
    top = f"{first} is first with and without them" if first == of_raw else f"{first} is first instead of {of_raw}"
    others = len(raw) - len(models)
    words = f"{others} of {len(raw)} models cannot be ranked without the biases. " if others else ""
    if not moved:
        words += f"{'Of the others, taking' if others else 'No: taking'} the biases off moves no model; {top}."
    else:
        who = capitalised(out_of(len(moved), len(models), "model", "models"))
        words += f"{who} {'moves' if len(moved) == 1 else 'move'} when the biases are taken off; {top}. "
        if others or not all(board[model]["rank_low"] for board in (raw, debiased) for model in moved):
            words += "How sure these ranks are cannot be told here."
        elif apart := [model for model in moved if _apart(raw[model], debiased[model])]:
            words += f"Of {enumerated(apart)} the ranks before and after exclude each other, at {level(confidence)}."
        else:
            words += f"But no rank is so sure that a move would be: the ranks before and after overlap, at {level(confidence)}."
    items = [(model, f"from {before[model]} to {ranks[model]}") for model in moved]
    yield Point("Does the ranking of models change?", words, items)


def _ranks(board: Mapping[str, Mapping[str, str]], models: Sequence[str]) -> dict[str, int]:
    """The rank of each of some models among them alone."""
    ranks = {model: int(board[model]["rank"]) for model in models}
    return {model: 1 + sum(other < rank for other in ranks.values()) for model, rank in ranks.items()}


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """True where the sets of ranks of two rows share no rank."""
    return int(one["rank_high"]) < int(other["rank_low"]) or int(other["rank_high"]) < int(one["rank_low"])
