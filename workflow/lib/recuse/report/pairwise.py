"""The answer to a study of comparisons: the verdict on each judge, whether the judges agree with
people, and what to do.
"""

from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean

from recuse.base.reasons import Reason, code
from recuse.base.templates import said, said_in_parts
from recuse.inference.verdict import AGAINST_PEOPLE, FOUND
from recuse.pairwise.choices import FAMILY, HALF, LONGER, MAIN, SELF
from recuse.report.gold import caveats_on_gold, points_on_gold, sentences_on_gold
from recuse.report.tables import Row, TableRows, Tables, number_in, where
from recuse.report.verdict import (
    MOST_CAVEATS,
    MOST_WORDS,
    POINTS,
    SHARES,
    PageAnswer,
    PageSection,
    Point,
    further_biases,
    headline,
    next_steps,
    shown_verdicts,
)

QUESTION = "What sways these judges?"
NOTHING = "These comparisons say nothing about their judges."
WHAT = {SELF: "their own answers", FAMILY: "their family's answers", LONGER: "longer answers"}
# What to keep in mind where some verdict is inconclusive for a reason.
OF_REASONS = (Reason.ONE_ORDER, Reason.DEPENDS_ON_DRAWS)


def answer_of_comparisons(
    tables: Tables, *, confidence: float, further: Iterable[Point] = ()
) -> PageAnswer:
    """Say what the tables of a study of comparisons answer; tables: rows, as texts, of those that
    the study has; further: points on tables of a product.
    """
    verdicts, choices = tables.get("verdicts", ()), tables.get("choices", ())
    gold = tables.get("gold", ())
    has_labels = bool(where(choices, question=AGAINST_PEOPLE))
    points = [Point(*said_in_parts("meaning"))] if where(verdicts, kind="pairs") else []
    points += [*further, *points_on_gold(gold, confidence)]
    sentences = [*filter(None, [headline(verdicts, POINTS)]), *sentences_on_gold(gold)]
    sentences = sentences or [f"{point.heading}." for point in points] or [NOTHING]
    # The first sentence always, and those that there is room for
    count = 1
    while len(" ".join(sentences[: count + 1]).split()) <= MOST_WORDS and count < len(sentences):
        count += 1
    caveats = [*caveats_on_gold(gold), *_caveats(verdicts, choices, tables.get("label_noise", ()))]
    return PageAnswer(
        QUESTION,
        " ".join(sentences[:count]),
        **shown_verdicts(verdicts, POINTS),
        further=" ".join([*sentences[count:], *further_biases(verdicts, POINTS)]),
        tracking=_agreement(tables.get("agreement", ()), confidence),
        leaderboard=_win_rates(choices, has_labels=has_labels),
        caveats=caveats[:MOST_CAVEATS],
        next_steps=next_steps(verdicts),
        points=points,
    )


def _caveats(verdicts: TableRows, choices: TableRows, noise: TableRows) -> Iterator[str]:
    reasons = {(code(row["reason"]), row["quantity"]) for row in verdicts}
    unfixed = [words for what, words in WHAT.items() if (Reason.NO_HUMAN_LABELS, what) in reasons]
    if unfixed:
        yield said("not_fixed", answers=unfixed)
    for reason in OF_REASONS:
        if reason in dict(reasons):
            yield said("caveat_on", reason=reason)
    shares = {
        (row["quantity"], row["term"]): row
        for row in where(verdicts, kind="shares")
        if row["estimate"]
    }
    names = [row["term"] for row in choices if _may_be_errors(row, shares)]
    if names:
        yield said("errors", names=[*dict.fromkeys(names)])
    for row in where(noise, origin="votes")[:1]:
        yield said("votes", row=row)
    changes = [
        row for row in noise if row["changes_at"] and (row["quantity"], row["term"]) in shares
    ]
    if changes:
        first = min(changes, key=lambda row: number_in(row, "changes_at"))
        yield said("changes", row=first, answers=WHAT[first["quantity"]])


def _may_be_errors(row: Row, verdicts: Mapping[tuple[str, str], Row]) -> bool:
    """Whether a judge has a bias by its shares that errors at random would give it as well."""
    verdict = verdicts.get((row["quantity"], row["term"]))
    if not verdict or verdict["verdict"] not in FOUND or row["draws"] != MAIN[row["quantity"]]:
        return False
    judge, human = number_in(row, "judge_share"), number_in(row, "human_share")
    return min(human, 0.5) <= judge <= max(human, 0.5)


def _agreement(rows: TableRows, confidence: float) -> PageSection | None:
    """How often each judge agrees with the human label, by experiment and condition."""
    cells = {}  # (place, judge) -> cell
    for rule in ("pooled", "debiased"):  # the first for comparisons in one order only
        for row in where(rows, order=rule):
            if row["value"]:
                cells.setdefault(place_in(row), {})[row["judge"]] = row
    if not cells:
        return None
    first = next(iter(cells.values()))
    judges = sorted(first, key=lambda judge: -number_in(first[judge], "value"))
    facts = {"unit": SHARES, "confidence": confidence}
    return PageSection.from_template("agreement", judges=judges, cells=cells, **facts)


def _win_rates(choices: TableRows, *, has_labels: bool) -> PageSection | None:
    """The share of its comparisons that each model wins, by people and by each judge."""
    whose = "human_share" if has_labels else "judge_share"
    by_model = {}  # model -> judge -> row
    for row in where(choices, draws=HALF):
        if row["model"]:
            by_model.setdefault(row["model"], {})[row["term"]] = row
    if not by_model:
        return None
    judges, means = {}, {}
    for model, rows in by_model.items():
        judges |= rows
        shares = [number_in(row, whose) for row in rows.values()]
        means[model] = fmean(shares, [int(row["n"]) for row in rows.values()])
    models = sorted(means, key=means.get, reverse=True)
    facts = {"judges": [*judges], "means": means, "rows": by_model, "has_labels": has_labels}
    return PageSection.from_template("win_rates", models=models, unit=SHARES, **facts)


def place_in(row: Row) -> str:
    """The experiment and condition of a row."""
    return ": ".join(filter(None, (row["experiment"], row["condition"])))
