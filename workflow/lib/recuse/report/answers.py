"""The answer to a study of ratings: the verdict on each judge, whether the judges track the humans,
and what to do.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import nan

from recuse.base.reasons import in_words
from recuse.base.words import capitalised, enumerated, level, number, percent
from recuse.check.facts import STOP, WARNING
from recuse.data.describe import PEARSON, WEIGHTED_KAPPA
from recuse.data.registry import HUMAN
from recuse.inference.leaderboard import AS_PEOPLE, debiased_by
from recuse.inference.verdict import Verdict
from recuse.model.design import ALL_JUDGES
from recuse.model.spec import BIASES, SELF
from recuse.report.gold import points_on_gold
from recuse.report.html import said
from recuse.report.panel import panel_section
from recuse.report.verdict import (
    PageAnswer,
    PageSection,
    TableRows,
    Unit,
    headline,
    interval_side,
    next_steps,
    scale_unit,
    shown_verdicts,
)

QUESTION = "Do these judges favour their own answers?"
OF_FAMILIES = "Do these judges favour their family's answers?"  # where none rates its own
MOST_CAVEATS = 3
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
    tables: Mapping[str, TableRows],
    *,
    confidence: float,
    scales: Mapping[str, object],
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
    of_judges, of_families = (
        [row for row in verdicts if row["quantity"] == quantity] for quantity in BIASES
    )
    return PageAnswer(
        question=QUESTION if of_judges or not of_families else OF_FAMILIES,
        headline=headline(verdicts, unit, relative=bool(relative)) or NO_VERDICT,
        **shown_verdicts(verdicts, unit),
        truth=NO_TRUTH.format(relative) if relative else "",
        pooled=_pooled(tables, unit, confidence),
        wordings=_wordings(verdicts),
        tracking=None if relative else _tracking(tables, confidence),
        leaderboard=leaderboard_section(tables, first, unit, confidence),
        panel=panel_section(tables.get("panel", ()), tables.get("round_robin", ()), unit),
        caveats=[
            *(
                [LIKELY.format(percent(1 - confidence))]
                if any(row["verdict"] == Verdict.LIKELY for row in verdicts)
                else []
            ),
            *_without(tables.get("pooled", ()), unit),
            *_warnings(tables.get("check", ())),
        ][:MOST_CAVEATS],
        next_steps=[
            *([SCORE] if relative else []),
            *next_steps(verdicts),
            *([SMALLER] if any(row["estimate"] for row in verdicts) else []),
        ],
        points=[*points_on_gold(tables.get("gold", ()), confidence)],
    )


def _wordings(verdicts: TableRows) -> str:
    """For which wordings of the rubric the verdicts hold; "" if no verdict has a number."""
    numbers = {row["term"]: int(row["wordings"]) for row in verdicts if row["wordings"]}
    if not numbers and not any(row["estimate"] for row in verdicts):
        return ""
    alone = [term for term, number in numbers.items() if number == 1]
    return said("wordings", most=max(numbers.values(), default=0), alone=alone)


def _pooled(tables: Mapping[str, TableRows], unit: Unit, confidence: float) -> str:
    """The mean self-bias of judges like these, with its interval: over wordings, where there is
    one; "" without a mean.
    """
    whole = [row for row in tables.get("pooled", ()) if _is_mean(row) and not row["left_out"]]
    if not whole:
        return ""
    (row,) = whole
    least = int(row["favouring_at_least"] or 0)
    for wider in tables.get("wordings", ()):
        of_all = (wider["spec"], wider["quantity"], wider["term"]) == ("main", SELF, ALL_JUDGES)
        if of_all and wider["ci_low"]:
            low = min(row["ci_low"], wider["ci_low"], key=float)
            high = max(row["ci_high"], wider["ci_high"], key=float)
            row = {**row, "ci_low": low, "ci_high": high}
            least = 0  # known for the wordings that were asked alone
    return said(
        "pooled",
        judges=row["biases"],
        size=f"{unit.text(row['estimate'])}{unit.mark}" if row["estimate"] else "",
        span=unit.span(row),
        side=interval_side(row),
        least=least,
        level=level(confidence),
        is_missing=row["missing"],
        reason=in_words(row["reason"]),
    )


def _is_mean(row: Mapping[str, str]) -> bool:
    return (row["spec"], row["slice"], row["quantity"]) == ("main", "", SELF)


def _without(rows: TableRows, unit: Unit) -> Iterator[str]:
    """A caveat on the judges without whom the conclusion on the mean changes."""
    rows = [row for row in rows if _is_mean(row) and row["estimate"]]
    whole = [row for row in rows if not row["left_out"]]
    changed = (
        [row for row in rows if row["left_out"] and interval_side(row) != interval_side(whole[0])]
        if whole
        else []
    )
    if changed:
        names = enumerated(
            [
                f"{row['left_out']} ({unit.text(row['estimate'])}, {unit.span(row)})"
                for row in changed
            ],
            most=3,
        )
        yield f"The average depends on single judges: its conclusion changes without {names}."


NO_HUMAN_SCORES = ("human scores", "")  # topic and subject of the warning that NO_TRUTH repeats


def _warnings(check: TableRows) -> Iterator[str]:
    """The warnings of the check, most important first, one of each topic."""
    first: dict[str, Mapping[str, str]] = {}
    for row in check:
        elsewhere = row["topic"] == "verdict" or (row["topic"], row["subject"]) == NO_HUMAN_SCORES
        if row["level"] in (STOP, WARNING) and not elsewhere:
            first.setdefault(row["topic"], row)
    for row in first.values():
        yield f"{capitalised('; '.join(filter(None, (row['words'], row['advice']))))}."


def _tracking(tables: Mapping[str, TableRows], confidence: float) -> PageSection | None:
    """How well each judge follows the human scores, over all dimensions, and ranks the models as
    they do; and on how many prompts that rests, if not on all.
    """
    rows = [row for row in tables.get("correlations", ()) if not row["dimension"]]
    of_judge = {row["judge"]: row for row in rows if row["statistic"] == PEARSON}
    if not of_judge:
        return None
    kappas = {row["judge"]: row["value"] for row in rows if row["statistic"] == WEIGHTED_KAPPA}
    slopes = {
        row["term"]: row
        for row in tables.get("main", ())
        if row["quantity"] == "slope" and not row["slice"]
    }
    pairs = _pairs_in_order(tables.get("mean_scores", ()))
    table = []
    for judge, row in sorted(of_judge.items(), key=lambda item: -float(item[1]["value"] or -1)):
        table.append(
            {
                "judge": judge,
                f"correlation ({level(confidence)} interval)": _with_interval(row, "value"),
                "weighted kappa": _two(kappas.get(judge, "")),
                "slope": _with_interval(slopes[judge], "estimate") if judge in slopes else "",
                "pairs of models ordered as by humans": pairs.get(judge, ""),
            }
        )
    astray = [
        judge for judge, row in of_judge.items() if not row["value"] or interval_side(row) <= 0
    ]
    values = [float(row["value"]) for row in of_judge.values() if row["value"]] or [nan]
    # Prompts with human scores (A) and all, by the subjects of the check
    prompts = {
        row["subject"]: row["finding"]
        for row in tables.get("check", ())
        if row["topic"] == "contents"
    }
    sentence = said(
        "tracking",
        low=number(min(values), 2),
        high=number(max(values), 2),
        astray=astray,
        weak=[row["term"] for row in tables["verdicts"] if row["disagreement"]],
        scored=prompts if "A" in prompts else {},
    )
    return PageSection.from_texts("Do the judges track the humans?", sentence, table)


def _with_interval(row: Mapping[str, str], value: str) -> str:
    ends = f" ({_two(row['ci_low'])} to {_two(row['ci_high'])})" if row["ci_low"] else ""
    return f"{_two(row[value]) or '–'}{ends}"


def _two(value: str | float) -> str:
    return "" if value == "" else number(float(value), 2)


def _pairs_in_order(mean_scores: TableRows) -> dict[str, str]:
    """Of each judge, the share of pairs of models whose mean scores it orders as the humans do; {}
    without human scores.
    """
    means: dict[str, dict[str, float]] = {}
    for row in (row for row in mean_scores if not row["dimension"]):
        means.setdefault(row["judge"], {})[row["model"]] = float(row["mean"])
    human, shares = means.pop(HUMAN, {}), {}
    for judge, of_models in means.items():
        pairs = list(combinations(sorted(of_models.keys() & human.keys()), 2))
        alike = sum(
            (of_models[one] - of_models[two]) * (human[one] - human[two]) > 0 for one, two in pairs
        )
        if pairs:
            shares[judge] = f"{alike} of {len(pairs)}"
    return shares


def leaderboard_section(
    tables: Mapping[str, TableRows], first: str, unit: Unit, confidence: float
) -> PageSection | None:
    """One row a model: its rank and score before and after the biases are removed, and by the
    humans.
    """
    rows = [
        row
        for row in tables.get("leaderboard", ())
        if (row["spec"], row["slice"]) == (first, "") and row["rank"]
    ]
    raw, debiased, as_people = (
        {row["model"]: row for row in rows if row["scores"] == kind}
        for kind in ("raw", "debiased", AS_PEOPLE)
    )
    models = sorted(raw.keys() & debiased.keys(), key=lambda model: int(debiased[model]["rank"]))
    if len(models) < 2:
        return None
    before, after = (
        _places({model: int(board[model]["rank"]) for model in models}) for board in (raw, debiased)
    )
    heading_of_humans = "rank by humans"
    by_humans = _places(
        {
            row["model"]: -float(row["mean"])
            for row in tables.get("mean_scores", ())
            if (row["judge"], row["dimension"]) == (HUMAN, "")
        }
    )
    if as_people:
        heading_of_humans = "as people would rate them"
        by_humans = {
            model: f"{row['rank']} ({_rank_range(row)})" for model, row in as_people.items()
        }
    heading = debiased_by(debiased[models[0]]["estimand"])
    table = []
    for model in models:
        up, row = before[model] - after[model], debiased[model]
        table.append(
            {
                "rank": str(after[model]),
                "model": model,
                f"raw score ({unit.name})": unit.score(raw[model]["score"]),
                heading: unit.score(row["score"]),
                f"rank range ({level(confidence)})": _rank_range(row),
                "change": f"▲ {up}" if up > 0 else f"▼ {-up}" if up < 0 else "–",
                heading_of_humans: str(by_humans.get(model, "")),
            }
        )
    moved = sum(before[model] != after[model] for model in models)
    top, old = ([model for model in models if ranks[model] == 1] for ranks in (after, before))
    within = all(
        int(debiased[model]["rank_low"] or 0)
        <= before[model]
        <= int(debiased[model]["rank_high"] or 0)
        for model in models
    )
    sentence = said("ranking", moved=moved, count=len(models), is_within=within, top=top, old=old)
    return PageSection.from_texts("Does the ranking of models change?", sentence, table)


def _rank_range(row: Mapping[str, str]) -> str:
    return "{rank_low} to {rank_high}".format_map(row) if row["rank_low"] else ""


def _places(values: Mapping[str, float]) -> dict[str, int]:
    """1 + the number of lower values, by name."""
    return {
        name: 1 + sum(other < value for other in values.values()) for name, value in values.items()
    }
