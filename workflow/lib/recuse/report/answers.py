"""The answer to a study of ratings: the verdict on each judge, whether the judges track the humans,
and what to do.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import nan
from operator import itemgetter

from recuse.base.reasons import Reason, code, cure, in_short, in_words
from recuse.base.templates import said
from recuse.base.words import percent
from recuse.check.facts import STOP, WARNING
from recuse.data.describe import PEARSON, WEIGHTED_KAPPA
from recuse.data.registry import HUMAN
from recuse.inference.leaderboard import AS_PEOPLE, DEBIASED, RAW, debiased_by
from recuse.inference.verdict import Verdict
from recuse.model.design import ALL_JUDGES
from recuse.model.spec import SELF
from recuse.report.gold import points_on_gold
from recuse.report.panel import panel_section
from recuse.report.tables import Row, TableRows, Tables, grouped, number_in, where
from recuse.report.verdict import (
    CORRELATIONS,
    MOST_CAVEATS,
    PageAnswer,
    PageSection,
    Unit,
    further_biases,
    headline,
    interval_side,
    next_steps,
    scale_unit,
    shown_verdicts,
)

QUESTION = "Do these judges favour their own answers?"
OF_FAMILIES = "Do these judges favour their family's answers?"  # where none rates its own
LIKELY = (
    "“Likely” means that the judge's own interval excludes 0. {} of unbiased judges may get it by"
    " chance, so with many judges expect some."
)
NO_TRUTH = (
    "Biases are measured against the other judges, as {}: an answer that one judge alone rates"
    " highly may deserve it."
)
NO_VERDICT = "These ratings say nothing about their judges."
SMALLER = "To find smaller biases, add models and judges rather than prompts."
SCORE = (
    "Have people score some of the answers: until then, a biased judge and one that is right look"
    " the same."
)


def answer_of_ratings(
    tables: Tables,
    *,
    confidence: float,
    scales: Mapping,
    first: str = "main",
    relative: str = "",
) -> PageAnswer:
    """Say what the tables of a study of ratings answer.

    tables: rows, as texts, of `verdicts` and, where they exist, of `pooled`, `wordings`,
    `correlations`, `main` (the estimates of the first spec), `mean_scores`, `leaderboard`, `panel`,
    `round_robin` and `check`. scales: of each dimension, [lowest, highest] or `observed`. first:
    the spec whose leaderboard counts; relative: why nothing is
    concluded about people, in words.
    """
    unit, verdicts = scale_unit(scales), tables["verdicts"]
    is_of_families = verdicts and not where(verdicts, quantity=SELF)
    is_any_likely = where(verdicts, verdict=Verdict.LIKELY)
    caveats = [LIKELY.format(percent(1 - confidence))] if is_any_likely else []
    caveats += _without(tables, unit)
    caveats += _warnings(tables.get("check", ()))
    steps = [SCORE] if relative else []
    steps += next_steps(verdicts)
    steps += [SMALLER] if any(row["estimate"] for row in verdicts) else []
    return PageAnswer(
        question=OF_FAMILIES if is_of_families else QUESTION,
        headline=headline(verdicts, unit, relative=bool(relative)) or NO_VERDICT,
        **shown_verdicts(verdicts, unit),
        truth=NO_TRUTH.format(relative) if relative else "",
        further=" ".join(further_biases(verdicts, unit)),
        pooled=_pooled(tables, unit, confidence),
        wordings=_wordings(verdicts),
        tracking=None if relative else _tracking(tables, confidence),
        leaderboard=leaderboard_section(tables, first, unit, confidence),
        panel=panel_section(tables.get("panel", ()), tables.get("round_robin", ()), unit),
        caveats=caveats[:MOST_CAVEATS],
        next_steps=steps,
        points=[*points_on_gold(tables.get("gold", ()), confidence)],
    )


def _wordings(verdicts: TableRows) -> str:
    """For which wordings of the rubric the verdicts hold; "" if no verdict has a number."""
    numbers = {row["term"]: int(row["wordings"]) for row in verdicts if row["wordings"]}
    if not numbers and not any(row["estimate"] for row in verdicts):
        return ""
    alone = [term for term, number in numbers.items() if number == 1]
    return said("wordings", most=max(numbers.values(), default=0), alone=alone)


def _pooled(tables: Tables, unit: Unit, confidence: float) -> str:
    """The mean self-bias of judges like these, with its interval: over wordings, where there is
    one; "" without a mean.
    """
    whole = where(_means(tables), left_out="")
    if not whole:
        return ""
    (row,) = whole
    least = int(row["favouring_at_least"] or 0)
    all_judges = {"spec": "main", "quantity": SELF, "term": ALL_JUDGES}
    for wider in where(tables.get("wordings", ()), **all_judges):
        if wider["ci_low"]:
            low = min(row["ci_low"], wider["ci_low"], key=float)
            high = max(row["ci_high"], wider["ci_high"], key=float)
            row = row | {"ci_low": low, "ci_high": high}
            least = 0  # known for the wordings that were asked alone
    facts = {"side": interval_side(row), "least": least, "reason": in_words(row["reason"])}
    return said("pooled", row=row, unit=unit, confidence=confidence, **facts)


def _means(tables: Tables) -> list[Row]:
    """The means of all judges' self-biases, and without each judge."""
    return where(tables.get("pooled", ()), spec="main", slice="", quantity=SELF)


def _without(tables: Tables, unit: Unit) -> Iterator[str]:
    """A caveat on the judges without whom the conclusion on the mean changes."""
    rows = [row for row in _means(tables) if row["estimate"]]
    for whole in where(rows, left_out=""):
        if changed := [row for row in rows if interval_side(row) != interval_side(whole)]:
            yield said("depends_on_single", rows=changed, unit=unit)


# Topic and subject of the warnings that the page repeats elsewhere: by NO_TRUTH, below the ranking
ELSEWHERE = {("human scores", ""), ("human scores", "draw")}


def _warnings(check: TableRows) -> Iterator[str]:
    """The warnings of the check, most important first, one of each topic."""
    warnings = [
        row
        for row in check
        if row["level"] in (STOP, WARNING)
        and row["topic"] != "verdict"
        and (row["topic"], row["subject"]) not in ELSEWHERE
    ]
    for first, *_ in grouped(warnings, itemgetter("topic")).values():
        yield said("warning", row=first)


def _tracking(tables: Tables, confidence: float) -> PageSection | None:
    """How well each judge follows the human scores, over all dimensions, and ranks the models as
    they do; and on how many prompts that rests, if not on all.
    """
    correlations = where(tables.get("correlations", ()), dimension="")
    rows = where(correlations, statistic=PEARSON)
    if not rows:
        return None
    values = [number_in(row, "value") for row in rows if row["value"]] or [nan]
    # Prompts with human scores (A) and all, by the subjects of the check
    contents = where(tables.get("check", ()), topic="contents")
    prompts = {row["subject"]: row["finding"] for row in contents}
    return PageSection.from_template(
        "tracking",
        rows=sorted(rows, key=lambda row: -float(row["value"] or -1)),
        kappas=_by_name(where(correlations, statistic=WEIGHTED_KAPPA), "judge"),
        slopes=_by_name(where(tables.get("main", ()), quantity="slope", slice=""), "term"),
        pairs=_pairs_in_order(tables.get("mean_scores", ())),
        unit=CORRELATIONS,
        confidence=confidence,
        ends=[min(values), max(values)],
        astray=[row["judge"] for row in rows if not row["value"] or interval_side(row) <= 0],
        weak=[row["term"] for row in tables["verdicts"] if row["disagreement"]],
        scored=prompts if "A" in prompts else {},
    )


def _by_name(rows: TableRows, column: str) -> dict[str, Row]:
    """The row of each name in a column."""
    return {row[column]: row for row in rows}


def _pairs_in_order(mean_scores: TableRows) -> dict[str, tuple[int, int]]:
    """Of each judge, how many pairs of models have mean scores in the order of the humans', and how
    many there are; {} without human scores.
    """
    means = {}
    for row in where(mean_scores, dimension=""):
        means.setdefault(row["judge"], {})[row["model"]] = float(row["mean"])
    human, counts = means.pop(HUMAN, {}), {}
    for judge, scores in means.items():
        pairs = combinations(scores.keys() & human.keys(), 2)
        gaps = [(scores[one] - scores[two]) * (human[one] - human[two]) for one, two in pairs]
        if gaps:
            counts[judge] = sum(gap > 0 for gap in gaps), len(gaps)
    return counts


# Notes on scores of answers that are not said to be drawn at random
UNDECLARED = (Reason.UNDECLARED_DRAW, Reason.FEW_AND_UNDECLARED)


def leaderboard_section(
    tables: Tables, first: str, unit: Unit, confidence: float
) -> PageSection | None:
    """One row a model: its rank and score before and after the biases are removed, and by the
    humans.
    """
    rows = where(tables.get("leaderboard", ()), spec=first, slice="")
    ranked = [row for row in rows if row["rank"]]
    raw, debiased, as_people = (
        _by_name(where(ranked, scores=kind), "model") for kind in (RAW, DEBIASED, AS_PEOPLE)
    )
    models = [model for model in debiased if model in raw]
    if len(models) < 2:
        return None
    before, after = (
        _places({model: number_in(scores[model], "rank") for model in models})
        for scores in (raw, debiased)
    )
    models.sort(key=after.get)
    is_within = True
    for model in models:
        row = debiased[model]
        is_within &= number_in(row, "rank_low") <= before[model] <= number_in(row, "rank_high")
    top, old = ([model for model in models if ranks[model] == 1] for ranks in (after, before))
    humans = where(tables.get("mean_scores", ()), judge=HUMAN, dimension="")
    doubts = [row["note"] for row in as_people.values() if code(row["note"]) in UNDECLARED]
    return PageSection.from_template(
        "ranking",
        models=models,
        raw=raw,
        debiased=debiased,
        before=before,
        after=after,
        as_people=as_people,
        by_humans=_places({row["model"]: -float(row["mean"]) for row in humans}),
        debiased_by=debiased_by(debiased[models[0]]["estimand"]),
        moved=sum(before[model] != after[model] for model in models),
        top=top,
        old=old,
        is_within=is_within,
        doubt=in_short(doubts),
        cure=cure(doubts[0]) if doubts else "",
        unit=unit,
        confidence=confidence,
    )


def _places(values: Mapping[str, float]) -> dict[str, int]:
    """1 + the number of lower values, by name."""
    return {
        name: 1 + sum(other < value for other in values.values()) for name, value in values.items()
    }
