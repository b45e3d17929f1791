"""The answer to a study of comparisons: the verdict on each judge, whether the judges agree with
people, and what to do.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from recuse.base.reasons import Reason, code
from recuse.base.words import capitalised, counted, level
from recuse.data.registry import HUMAN
from recuse.inference.verdict import AGAINST_PEOPLE, FOUND
from recuse.pairwise.choices import FAMILY, HALF, LONGER, MAIN, SELF
from recuse.report.gold import caveats_on_gold, points_on_gold, sentences_on_gold
from recuse.report.html import said
from recuse.report.verdict import (
    MOST_WORDS,
    POINTS,
    PageAnswer,
    PageSection,
    Point,
    TableRows,
    headline,
    next_steps,
    shown_verdicts,
)

QUESTION = "What sways these judges?"
NOTHING = "These comparisons say nothing about their judges."
MOST_CAVEATS = 3
WHAT = {SELF: "their own answers", FAMILY: "their family's answers", LONGER: "longer answers"}
# What to keep in mind where some verdict is inconclusive for a reason.
OF_REASONS = {
    Reason.ONE_ORDER: (
        "Some pairs were judged in one order alone, and their results count only if that order was"
        " drawn at random."
    ),
    Reason.DEPENDS_ON_DRAWS: (
        "Some results depend on draws, including verdicts that change with the order. If a draw is"
        " half a win, judges with weak answers seem to favour themselves; if draws are left out,"
        " judges with strong answers do."
    ),
}
# Cognitive bias -> what a judge does that has it.
BIASES = {
    "egocentric_order": "Choosing its own answer",
    "egocentric_comp": "Choosing its own answer, names shown",
    "order_first": "Choosing the answer listed first in both orders",
    "order_last": "Choosing the answer listed last in both orders",
    "compassion_first": "Choosing the answer listed first in both orders, names shown",
    "compassion_last": "Choosing the answer listed last in both orders, names shown",
    "salience": "Choosing the longer answer",
    "bandwagon": "Following a made-up majority",
    "attentional": "Following an irrelevant sentence",
}
# people's choices say more about these, where there are any
BY_QUALITY = ("egocentric_order", "salience")
BEYOND_STRENGTHS = "What the sizes mean"
MEANING = (
    "On own and family answers, a size says how much more often than half the time a judge chooses"
    " such an answer over an equally strong one, by a regression that holds fixed the strengths of"
    " models and the places and lengths of answers. On longer answers, it says how much more often"
    " the judge chooses them than people do."
)


def answer_of_comparisons(tables: Mapping[str, TableRows], *, confidence: float) -> PageAnswer:
    """Say what the tables of a study of comparisons answer; tables: rows, as texts, of those that
    the study has.
    """
    verdicts, choices = tables.get("verdicts", ()), tables.get("choices", ())
    has_labels = any(row["question"] == AGAINST_PEOPLE for row in choices)
    points = [
        *(
            [Point(BEYOND_STRENGTHS, MEANING)]
            if any(row["kind"] == "pairs" for row in verdicts)
            else []
        ),
        *_cognitive(
            [
                row
                for row in tables.get("cognitive_biases", ())
                if not (has_labels and row["bias"] in BY_QUALITY)
            ]
        ),
        *_attacks(tables.get("asr", ())),
        *_overlap(tables.get("rbo", ())),
        *points_on_gold(gold := tables.get("gold", ()), confidence),
    ]
    first = headline(verdicts, POINTS)
    sentences = [*filter(None, [first]), *sentences_on_gold(gold)] or [
        f"{point.heading}." for point in points
    ]
    said = _fitting(sentences)
    caveats = [*caveats_on_gold(gold), *_caveats(verdicts, choices, tables.get("label_noise", ()))]
    return PageAnswer(
        QUESTION,
        " ".join(sentences[:said]) or NOTHING,
        **shown_verdicts(verdicts, POINTS),
        further=" ".join(sentences[said:]),
        tracking=_agreement(tables.get("agreement", ()), confidence),
        leaderboard=_win_rates(choices, has_labels=has_labels),
        caveats=caveats[:MOST_CAVEATS],
        next_steps=next_steps(verdicts),
        points=points,
    )


def _fitting(sentences: Sequence[str]) -> int:
    """How many sentences a headline has room for: the first always."""
    words = 0
    for place, sentence in enumerate(sentences):
        words += len(sentence.split())
        if words > MOST_WORDS and place:
            return place
    return len(sentences)


def _caveats(verdicts: TableRows, choices: TableRows, noise: TableRows) -> Iterator[str]:
    found = [row for row in verdicts if row["verdict"] in FOUND]
    reasons = {(code(row["reason"]), row["quantity"]) for row in verdicts}
    if what := [
        words for quantity, words in WHAT.items() if (Reason.NO_HUMAN_LABELS, quantity) in reasons
    ]:
        yield said("not_fixed", answers=what)
    for reason, words in OF_REASONS.items():
        if reason in (each for each, _ in reasons):
            yield words
    by_shares = {(row["quantity"], row["term"]) for row in found if row["kind"] == "shares"}
    toward_half = []
    for row in choices:
        if (row["quantity"], row["term"]) in by_shares and row["draws"] == MAIN[row["quantity"]]:
            judge, human = float(row["judge_share"]), float(row["human_share"])
            if min(human, 0.5) <= judge <= max(human, 0.5):
                toward_half.append(row)
    if toward_half:
        yield said("errors", names=[*dict.fromkeys(row["term"] for row in toward_half)])
    for row in noise:
        if row["origin"] == "votes":
            agreement, wrong = float(row["agreement"]), float(row["flip_rate"])
            yield said("votes", agreement=agreement, wrong=wrong)
            break
    shown_by_shares = [
        (row["quantity"], row["term"])
        for row in verdicts
        if row["kind"] == "shares" and row["estimate"]
    ]
    changes = [
        row
        for row in noise
        if row["changes_at"] and (row["quantity"], row["term"]) in shown_by_shares
    ]
    if changes:
        first = min(changes, key=lambda row: float(row["changes_at"]))
        share = float(first["changes_at"])
        yield said("changes", share=share, name=first["term"], answers=WHAT[first["quantity"]])


def _agreement(rows: TableRows, confidence: float) -> PageSection | None:
    """How often each judge agrees with the human label, by experiment and condition."""
    cells: dict[str, dict[str, Mapping[str, str]]] = {}  # by place and judge
    for rule in ("pooled", "debiased"):  # the first for comparisons in one order only
        usable = [row for row in rows if row["order"] == rule and row["value"]]
        for place, group in _grouped(usable, "experiment", "condition").items():
            cells.setdefault(place or "all comparisons", {}).update(
                {row["judge"]: row for row in group}
            )
    if not cells:
        return None
    first = next(iter(cells.values()))
    judges = sorted(first, key=lambda judge: -float(first[judge]["value"]))
    sentence = (
        f"Share of verdicts, ties included, that match the human label, with {level(confidence)}"
        " intervals."
    )
    table = [
        {"judge": judge, **{place: _with_interval(of.get(judge)) for place, of in cells.items()}}
        for judge in judges
    ]
    return PageSection.from_texts("Do the judges agree with people?", sentence, table)


def _win_rates(choices: TableRows, *, has_labels: bool) -> PageSection | None:
    """The share of its comparisons that each model wins, by people and by each judge."""
    shares: dict[str, dict[str, str]] = {}
    wins, comparisons = Counter(), Counter()
    for row in choices:
        if row["model"] and row["draws"] == HALF:
            shares.setdefault(row["model"], {})[row["term"]] = row["judge_share"]
            wins[row["model"]] += float(row["human_share" if has_labels else "judge_share"]) * int(
                row["n"]
            )
            comparisons[row["model"]] += int(row["n"])
    judges = list(dict.fromkeys(judge for of_judges in shares.values() for judge in of_judges))
    means = {model: wins[model] / comparisons[model] for model in shares}
    table = []
    for model in sorted(means, key=means.get, reverse=True):
        row = {"model": model, "people" if has_labels else "all judges": _share(means[model])}
        row |= {judge: _share(shares[model].get(judge, "")) for judge in judges}
        table.append(row)
    sentence = "Share of its comparisons that each model wins, with a draw as half a win."
    return PageSection.from_texts("Win rates", sentence, table) if table else None


def _share(value: str | float) -> str:
    return "" if value == "" else f"{100 * float(value):.0f}\N{NO-BREAK SPACE}%"


def _with_interval(row: Mapping[str, str] | None) -> str:
    if row is None:
        return ""
    interval = (
        f" ({100 * float(row['ci_low']):.0f} to {_share(row['ci_high'])})" if row["ci_low"] else ""
    )
    return f"{_share(row['value'])}{interval}"


def _grouped(rows: TableRows, *columns: str) -> dict[str, list[Mapping[str, str]]]:
    groups: dict[str, list] = {}
    for row in rows:
        groups.setdefault(": ".join(filter(None, (row[column] for column in columns))), []).append(
            row
        )
    return groups


def _cognitive(rows: TableRows) -> Iterator[Point]:
    """In how many judges each bias is more frequent than at random: by its interval, or by the
    share if there is none.
    """
    items = []
    for bias, what in BIASES.items():
        more = judges = 0
        for row in rows:
            if row["bias"] == bias and row["judge"] != HUMAN and row["share"]:
                by_interval = row["ci_low"] and float(row["ci_low"]) > float(row["chance"])
                more += bool(by_interval) if row["ci_low"] else row["above_random"] == "yes"
                judges += 1
        if judges:
            items.append(
                (what, f"more often than at random: {more or 'none'} of {counted(judges, 'judge')}")
            )
    if items:
        is_quoted = any(row["origin"] == "quoted" for row in rows)
        yield Point(" ".join(items[0]), said("chance", is_quoted=is_quoted), items)


def _attacks(rows: TableRows) -> Iterator[Point]:
    """Success of each perturbation; there is no value to test it against."""
    groups = _grouped([row for row in rows if row["asr"]], "experiment", "condition")
    means = {
        place.replace("_", " "): sum(float(row["asr"]) for row in group) / len(group)
        for place, group in groups.items()
    }
    if means:
        most = max(means, key=means.get)
        heading = (
            f"{capitalised(most.rpartition(': ')[2])} wins judges over in {_share(means[most])} of"
            " samples on average"
        )
        items = [
            (capitalised(place), f"{_share(mean)} on average") for place, mean in means.items()
        ]
        yield Point(
            heading, "Share of samples in which the perturbed answer wins a judge over.", items
        )


def _overlap(rows: TableRows) -> Iterator[Point]:
    form = [
        row
        for row in rows
        if (row["statistic"], row["form"]) == ("judges_with_annotators", "truncated")
        and row["judge"]
    ]
    group = [
        row
        for row in form
        if (row["systems"], row["ties"]) == (form[0]["systems"], form[0]["ties"])
    ]
    less = [row for row in group if row["ci_high"] and float(row["ci_high"]) < 0]
    if group:
        who = f"{len(less) or 'None'} of {counted(len(group), 'judge')}"
        words = (
            "Rank-biased overlap with single annotators' rankings; the listing order is a ranking"
            " made without reading."
        )
        yield Point(f"{who} agree less with the annotators than the listing order does", words)
