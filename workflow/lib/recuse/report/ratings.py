"""Which judges favour themselves and their families, how sure that is, and what it does to the ranking of models: in words.

What a report shows of a study without human scores: biases against the other judges in the place of Equation 1.

What the check of the ratings warns of, as the answer of a report says it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recuse.base.words import capitalised, enumerated, level, out_of, signed
from recuse.check.facts import FINE, RELIABILITY, STOP, TASTE, VERDICT, WARNING
from recuse.report.answers import Answer, Point, above, below, largest, with_interval
from recuse.report.tables import VIEWS, Row, View

AGAINST_JUDGES = "compared with the other judges of the same models"
WITHOUT_HUMAN_SCORES_GAP = (
    "No row has a human score. The gap is between what a judge gives its own answers and what the other judges give the same "
    "models (estimand B), in points of a scale from 0 to 1. Above 0 the judge favours itself, compared with them."
)
NO_TRUTH = (
    "Who is right: without human scores, a judge that is right where the others are wrong looks the same as one that is "
    "biased. One that uses more of the scale than the others seems to favour its own answers where these are better than most."
)
OTHER_VIEWS = (
    " Other views compare the judges in each dimension or on each completion, and ask whether a bias is more than ordinary "
    "taste, or may come of missing ratings:"
)
SHOWN: Mapping[str, View] = {
    "main": replace(
        VIEWS["main"],
        title="Self- and family-bias against the other judges",
        words="Gap to what the other judges give the same models (estimand B), in points of the unit scale. “Own rows” are the "
        "ratings that carry the bias.",
    ),
    "leaderboard": replace(
        VIEWS["leaderboard"],
        words=f"{VIEWS['leaderboard'].words} The biases are gaps to the other judges (estimand B).",
        kept=lambda row: not row["slice"],
    ),
}


def with_stand_in(tables: Mapping[str, Sequence[Row]], spec: str) -> dict[str, Sequence[Row]]:
    """The tables of a report with the rows of a spec that compares judges in the place of those of `main`."""
    of_spec = {
        name: [row for row in tables[of] if row["spec"] == spec]
        for name, of in (("main", "estimates"), ("leaderboard", "leaderboard"))
        if of in tables
    }
    return {**tables, **of_spec}


def with_views_shown(figure: Mapping, rows: Sequence[Row]) -> Mapping:
    """What the report is told of a figure, in its `params` those views of the conclusions alone that the table has rows of."""
    if "views" not in figure["params"]:
        return figure
    present = {row["view"] for row in rows}
    views = {name: view for name, view in figure["params"]["views"].items() if name in present}
    return {**figure, "params": {**figure["params"], "views": views}}


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
    return "".join(f" {capitalised(_said_of_warnings_of_check(rows))}." for rows in (*taste, unreliable) if rows)


def to_mind(check: Rows) -> Iterator[Point]:
    """A point with the other warnings of a check, an item for each topic, of the first MOST topics; none without a warning."""
    topics = _by_topic([row for row in check if row["level"] in (STOP, WARNING) and row["topic"] not in (*OF_TESTS, VERDICT)])
    items = [(capitalised(topic), _said_of_warnings_of_check(rows)) for topic, rows in list(topics.items())[:MOST]]
    left = sum(len(rows) for rows in list(topics.values())[MOST:])
    if items:
        yield Point("What to mind", "", [*items, *([("", f"{left} more {WHERE}")] if left else [])])


def _by_topic(check: Rows) -> dict[str, list[Mapping[str, str]]]:
    """The rows of each topic, in their order, which is that of how much they matter."""
    topics: dict[str, list] = {}
    for row in check:
        topics.setdefault(row["topic"], []).append(row)
    return topics


def _said_of_warnings_of_check(rows: Rows) -> str:
    """The first of the rows of a topic with its advice, and whom the others are about."""
    first, *others = rows
    said = "; ".join(filter(None, (first["words"], first["advice"])))
    subjects = enumerated([row["subject"] or "the whole study" for row in others], most=5)
    return f"{said} (so, too, {WHERE}: {subjects})" if others else said


QUESTION = "Do these judges favour their own answers?"
SELF, FAMILY = "self_bias", "family_bias"
NAMES = {SELF: ("judge", "judges"), FAMILY: ("family", "families")}
OWN = {SELF: ("itself", "themselves"), FAMILY: ("its family", "their families")}  # of one, of several
GAP = (
    "The gap (A) is between what a judge gives its own answers and what the human scores of these answers account for, in "
    "points of a scale from 0 to 1. Above 0 the judge favours itself."
)
GAP_OF_FAMILY = "The gap is of what judges of a family give its other models."
OF_HUMANS = (
    " Other views ask whether a bias is more than chance, shared taste (B), ordinary taste (C) or noise of the human scores:"
)
NOTHING = "No judge rates models of its own, or of its family, beside others."
RAW, DEBIASED = "raw", "debiased"
STANDS, NOT_ESTIMABLE = "stands", "not estimable"  # verdicts of the table of conclusions
UNTOLD = ("not told apart from 0", NOT_ESTIMABLE)  # first conclusions that can neither stand nor fall


def answer_of_ratings(
    tables: Mapping[str, Rows],
    *,
    confidence: float,
    errors: str,
    scales: Mapping[str, object],
    views: Mapping[str, str],
    first: str = "main",
    relative: bool = False,
) -> Answer:
    """Say what the tables of a study of ratings answer.

    tables: rows, as texts, of `main`, the estimates of Equation 1, of `not_estimable` and, where they are there, of
    `leaderboard`, `conclusions` and `check`. errors: kind of the standard errors of `main`; scales: of each dimension,
    [lowest, highest] or `observed`; views: title of each view of the conclusions. first: the spec of `main`, and of the
    leaderboard that counts; relative: the study has no human scores, and biases are gaps to the other judges.
    """
    rows = [row for row in tables["main"] if not row["slice"] and row["estimate"]]
    conclusions = _by_bias(tables.get("conclusions", ()))
    found = {quantity: [row for row in rows if row["quantity"] == quantity] for quantity in NAMES}
    points = []
    if found[SELF]:
        gap = WITHOUT_HUMAN_SCORES_GAP if relative else GAP
        points.append(Point("Which judges favour themselves?", gap, _items(SELF, found[SELF], _width_of(scales))))
    if found[FAMILY]:
        points.append(Point("And their families?", GAP_OF_FAMILY, _items(FAMILY, found[FAMILY])))
    points += _gaps(tables["not_estimable"], found, first=first, relative=relative)
    if rows:
        others = OTHER_VIEWS if relative else OF_HUMANS
        doubts = doubts_of_tests(tables.get("check", ())) + (others if conclusions else "")
        points.append(_sure(conclusions, views, confidence=confidence, errors=errors, doubts=doubts))
    points += to_mind(tables.get("check", ()))
    points += _ranking([row for row in tables.get("leaderboard", ()) if rows and row["spec"] == first], confidence)
    judges = {row["judge"] for row in tables.get("completeness", ())} | {row["term"] for row in found[SELF]}
    headline = _headline(found[SELF], len(judges), relative=relative)
    return Answer(QUESTION, headline + _of_these(conclusions, views), points)


def _headline(rows: Rows, judges: int, *, relative: bool) -> str:
    """How many of so many judges favour themselves, how many are harsher, and of how many it cannot be told."""
    tested = [row for row in rows if row["ci_low"]]
    if not tested:
        return "These ratings cannot say whether their judges favour themselves."
    favour, harsher = sum(map(above, tested)), sum(map(below, tested))
    against = f", {AGAINST_JUDGES}" if relative else ""
    if favour:
        who = capitalised(out_of(favour, judges, *NAMES[SELF]))
        said = f"{who} {'favours itself' if favour == 1 else 'favour themselves'}{against}"
    elif judges == 1:
        return f"The one judge is {'harsher on' if harsher else 'not shown to favour'} itself{against}."
    else:
        said = f"{capitalised(out_of(0, judges, *NAMES[SELF]))} is shown to favour itself{against}"
    untold = judges - len(tested)
    said += f"; {harsher} {'is' if harsher == 1 else 'are'} harsher on {OWN[SELF][harsher > 1]}" if harsher else ""
    return said + (f"; of {untold} it cannot be told." if untold else ".")


def _items(quantity: str, rows: Rows, width: float | None = None) -> list[tuple[str, str]]:
    """Of each judge, or family, the gap, and what its interval says; the largest first."""
    return [
        (row["term"], f"{with_interval(row, 'estimate')}{_raw(row, width)}, {_said(quantity, row)}")
        for row in largest(rows, "estimate")
    ]


def _said(quantity: str, row: Mapping[str, str]) -> str:
    own = OWN[quantity][0]
    if not row["ci_low"]:
        return "without an interval"
    return f"favours {own}" if above(row) else f"harsher on {own}" if below(row) else "not told apart from 0"


def _raw(row: Mapping[str, str], width: float | None) -> str:
    return f", or {signed(float(row['estimate']) * width, 2)} on the raw scale" if width else ""


def _width_of(scales: Mapping[str, object]) -> float | None:
    """Width of the raw scale, if all dimensions have one of the same width, other than the unit scale."""
    widths = {None if scale == "observed" else scale[1] - scale[0] for scale in scales.values()}
    return widths.pop() if len(widths) == 1 and not widths & {None, 1} else None


def _gaps(not_estimable: Rows, found: Mapping[str, Rows], *, first: str, relative: bool) -> Iterator[Point]:
    """What Equation 1, and the spec in its place, have no estimate of, with the reason."""
    specs = ("main", first)
    rows = [row for row in not_estimable if row["spec"] in specs and not row["slice"] and row["quantity"] in ("", *NAMES)]
    items = [(_named(row), row["reason"].removeprefix(f"{NOT_ESTIMABLE}: ")) for row in rows]
    if items or not any(found.values()):
        said = NO_TRUTH if relative else "" if items else NOTHING
        yield Point("What these ratings cannot tell", said, items)


def _named(row: Mapping[str, str]) -> str:
    """As in `self-bias of GPT-4o`; a row without a quantity is of the whole."""
    return f"{row['quantity'].replace('_', '-')} of {row['term']}" if row["quantity"] else "Equation 1"


def _by_bias(conclusions: Rows) -> dict[tuple[str, str], Rows]:
    """Rows of what is concluded of each bias that the first view tells apart from 0, in the order of the views."""
    found: dict[tuple, list] = {}
    for row in conclusions:
        if not row["slice"] and row["first"] not in UNTOLD:
            found.setdefault((row["quantity"], row["term"]), []).append(row)
    return found


def _of_these(conclusions: Mapping[tuple[str, str], Rows], views: Mapping[str, str]) -> str:
    """How many conclusions on judges stand in all other views that can tell, and which cannot, as further sentences."""
    own = [rows for (quantity, _), rows in conclusions.items() if quantity == SELF]
    if not own:
        return ""
    told, untold = _told(own, views)
    unknown = f"; not known: {'; '.join(untold)}" if untold else ""
    if not told:
        return f" No other view can be told here{unknown}."
    several = f"each of the {told} other views" if told > 1 else "the one other view"
    every = f"{several} that can be told here" if untold else "every other view"
    standing = sum(known > 0 and not fallen for known, fallen in map(_fallen, own))
    if len(own) == 1:
        said = f"This {'stands' if standing else 'does not stand'} in {every}"
    elif standing == len(own):
        said = f"{'Both' if standing == 2 else f'All {standing}'} conclusions stand in {every}"
    else:
        said = f"Of these {len(own)} conclusions {standing or 'none'} {'stand' if standing > 1 else 'stands'} in {every}"
    return f" {said}{unknown}."


def _told(own: Sequence[Rows], views: Mapping[str, str]) -> tuple[int, list[str]]:
    """How many views beside the first can tell of any of these biases, and the titles of those that cannot tell of all."""
    others = [row for rows in own for row in rows[1:]]
    known = {row["view"] for row in others if row["verdict"] != NOT_ESTIMABLE}
    unknown = Counter(row["view"] for row in others if row["verdict"] == NOT_ESTIMABLE)
    part = {name: f" (for {count} of {len(own)})" if name in known else "" for name, count in unknown.items()}
    return len(known), [views.get(name, name) + some for name, some in part.items()]


def _sure(
    conclusions: Mapping[tuple[str, str], Rows], views: Mapping[str, str], *, confidence: float, errors: str, doubts: str
) -> Point:
    """What the intervals are and, where there is a table of conclusions, in how many other views each stands.

    doubts: sentences on what else than chance there is, and on the views.
    """
    words = (
        f"The intervals are at {level(confidence)}, with {errors} standard errors: of judges without any bias, about "
        f"{level(1 - confidence)} would still be called biased by chance alone."
    )
    items = [(f"{term} {rows[0]['first']}", _standing(rows, views)) for (_, term), rows in conclusions.items()]
    return Point("How sure is that?", words + doubts, items)


def _fallen(rows: Rows) -> tuple[int, list[str]]:
    """Of one bias how many views beside the first can tell, and in which of them its conclusion does not stand."""
    known = [row for row in rows[1:] if row["verdict"] != NOT_ESTIMABLE]
    return len(known), [row["view"] for row in known if row["verdict"] != STANDS]


def _standing(rows: Rows, views: Mapping[str, str]) -> str:
    known, fallen = _fallen(rows)
    can = " that can tell" if known < len(rows) - 1 else ""
    if not fallen:
        every = "the one other view" if known == 1 else f"all {known} other views"
        return f"stands in {every}{can}" if known else "no other view can tell"
    names = "; ".join(views.get(name, name) for name in fallen)
    return f"stands in {known - len(fallen)} of {known} other views{can}, not in: {names}"


def _ranking(leaderboard: Rows, confidence: float) -> Iterator[Point]:
    """What taking the biases off does to the ranks."""
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
        moves = "moves" if len(moved) == 1 else "move"
        words += (
            f"{capitalised(out_of(len(moved), len(models), 'model', 'models'))} {moves} when the biases are taken off; {top}. "
        )
        known = not others and all(board[model]["rank_low"] for board in (raw, debiased) for model in moved)
        apart = [model for model in moved if _apart(raw[model], debiased[model])]
        words += _doubt(apart, confidence) if known else "How sure these ranks are cannot be told here."
    items = [(model, f"from {before[model]} to {ranks[model]}") for model in moved]
    yield Point("Does the ranking of models change?", words, items)


def _ranks(board: Mapping[str, Mapping[str, str]], models: Sequence[str]) -> dict[str, int]:
    """The rank of each of some models among them alone."""
    ranks = {model: int(board[model]["rank"]) for model in models}
    return {model: 1 + sum(other < rank for other in ranks.values()) for model, rank in ranks.items()}


def _doubt(sure: Sequence[str], confidence: float) -> str:
    if not sure:
        return f"But no rank is so sure that a move would be: the ranks before and after overlap, at {level(confidence)}."
    return f"Of {enumerated(sure)} the ranks before and after exclude each other, at {level(confidence)}."


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """True where the sets of ranks of two rows, if there are any, share no rank."""
    if not (one["rank_low"] and other["rank_low"]):
        return False
    return int(one["rank_high"]) < int(other["rank_low"]) or int(other["rank_high"]) < int(one["rank_low"])
