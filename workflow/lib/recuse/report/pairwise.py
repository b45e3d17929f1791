"""The answer to a study of comparisons: the verdict on each judge, whether the judges agree with
people, and what to do.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from recuse.base.reasons import Reason, code
from recuse.base.templates import said, said_in_parts
from recuse.base.words import capitalised, level
from recuse.data.registry import HUMAN
from recuse.inference.verdict import AGAINST_PEOPLE, FOUND
from recuse.pairwise.choices import FAMILY, HALF, LONGER, MAIN, SELF
from recuse.report.gold import caveats_on_gold, points_on_gold, sentences_on_gold
from recuse.report.tables import Row, TableRows, where
from recuse.report.verdict import (
    MOST_WORDS,
    POINTS,
    SHARES,
    PageAnswer,
    PageSection,
    Point,
    headline,
    likely_biases,
    next_steps,
    shown_verdicts,
)

QUESTION = "What sways these judges?"
NOTHING = "These comparisons say nothing about their judges."
MOST_CAVEATS = 3
WHAT = {SELF: "their own answers", FAMILY: "their family's answers", LONGER: "longer answers"}
# What to keep in mind where some verdict is inconclusive for a reason.
OF_REASONS = (Reason.ONE_ORDER, Reason.DEPENDS_ON_DRAWS)
COGNITIVE = (  # in the order of the page
    "egocentric_order",
    "egocentric_comp",
    "order_first",
    "order_last",
    "compassion_first",
    "compassion_last",
    "salience",
    "bandwagon",
    "attentional",
)
# people's choices say more about these, where there are any
BY_QUALITY = ("egocentric_order", "salience")


def answer_of_comparisons(tables: Mapping[str, TableRows], *, confidence: float) -> PageAnswer:
    """Say what the tables of a study of comparisons answer; tables: rows, as texts, of those that
    the study has.
    """
    verdicts, choices = tables.get("verdicts", ()), tables.get("choices", ())
    gold, biases = tables.get("gold", ()), tables.get("cognitive_biases", ())
    has_labels = bool(where(choices, question=AGAINST_PEOPLE))
    if has_labels:
        biases = [row for row in biases if row["bias"] not in BY_QUALITY]
    points = (
        [Point("What the sizes mean", said("meaning"))] if where(verdicts, kind="pairs") else []
    )
    points += _cognitive(biases)
    points += _attacks(tables.get("asr", ()))
    points += _overlap(tables.get("rbo", ()))
    points += points_on_gold(gold, confidence)
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
        further=" ".join(filter(None, [*sentences[count:], likely_biases(verdicts)])),
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
        if reason in (each for each, _ in reasons):
            yield said("caveat_on", reason=reason)
    shares = {(row["quantity"], row["term"]): row for row in where(verdicts, kind="shares")}
    names: dict[str, None] = {}  # in their order, each once
    for row in choices:
        quantity, name = row["quantity"], row["term"]
        verdict = shares.get((quantity, name))
        if verdict and verdict["verdict"] in FOUND and row["draws"] == MAIN[quantity]:
            judge, human = float(row["judge_share"]), float(row["human_share"])
            if min(human, 0.5) <= judge <= max(human, 0.5):
                names[name] = None
    if names:
        yield said("errors", names=[*names])
    for row in where(noise, origin="votes")[:1]:
        yield said("votes", agreement=float(row["agreement"]), wrong=float(row["flip_rate"]))
    changes = []
    for row in noise:
        verdict = shares.get((row["quantity"], row["term"]))
        if verdict and verdict["estimate"] and row["changes_at"]:
            changes.append(row)
    if changes:
        first = min(changes, key=lambda row: float(row["changes_at"]))
        share = float(first["changes_at"])
        yield said("changes", share=share, name=first["term"], answers=WHAT[first["quantity"]])


def _agreement(rows: TableRows, confidence: float) -> PageSection | None:
    """How often each judge agrees with the human label, by experiment and condition."""
    cells: dict[str, dict[str, Row]] = {}  # by place and judge
    for rule in ("pooled", "debiased"):  # the first for comparisons in one order only
        for row in where(rows, order=rule):
            place = _place(row) or "all comparisons"
            if row["value"]:
                cells.setdefault(place, {})[row["judge"]] = row
    if not cells:
        return None
    first = next(iter(cells.values()))
    judges = sorted(first, key=lambda judge: -float(first[judge]["value"]))
    sentence = (
        f"Share of verdicts, ties included, that match the human label, with {level(confidence)}"
        " intervals."
    )
    table = []
    for judge in judges:
        texts = {
            place: SHARES.cell(shares.get(judge, {}), "value") for place, shares in cells.items()
        }
        table.append({"judge": judge, **texts})
    return PageSection.from_texts("Do the judges agree with people?", sentence, table)


def _win_rates(choices: TableRows, *, has_labels: bool) -> PageSection | None:
    """The share of its comparisons that each model wins, by people and by each judge."""
    shares: dict[str, dict[str, str]] = {}
    wins, comparisons = Counter(), Counter()
    whose = "human_share" if has_labels else "judge_share"
    for row in where(choices, draws=HALF):
        if model := row["model"]:
            shares.setdefault(model, {})[row["term"]] = row["judge_share"]
            wins[model] += float(row[whose]) * int(row["n"])
            comparisons[model] += int(row["n"])
    judges = list(dict.fromkeys(judge for by_judge in shares.values() for judge in by_judge))
    means = {model: wins[model] / comparisons[model] for model in shares}
    table = []
    for model in sorted(means, key=means.get, reverse=True):
        row = {"model": model, "people" if has_labels else "all judges": _share(means[model])}
        row |= {judge: _share(shares[model].get(judge, "")) for judge in judges}
        table.append(row)
    sentence = "Share of its comparisons that each model wins, with a draw as half a win."
    return PageSection.from_texts("Win rates", sentence, table) if table else None


def _share(value: str | float) -> str:
    return SHARES.cell({"value": value}, "value")


def _place(row: Row) -> str:
    """The experiment and condition of a row."""
    return ": ".join(filter(None, (row["experiment"], row["condition"])))


def _cognitive(rows: TableRows) -> Iterator[Point]:
    """In how many judges each bias is more frequent than at random: by its interval, or by the
    share if there is none.
    """
    items = []
    for bias in COGNITIVE:
        above = []
        for row in where(rows, bias=bias):
            if row["judge"] != HUMAN and row["share"]:
                is_above = row["above_random"] == "yes"
                if row["ci_low"]:
                    is_above = float(row["ci_low"]) > float(row["chance"])
                above.append(is_above)
        if above:
            words = said("more_than_random", more=sum(above), judges=len(above))
            items.append((said("cognitive", bias=bias), words))
    if items:
        is_quoted = any(row["origin"] == "quoted" for row in rows)
        yield Point(" ".join(items[0]), said("chance", is_quoted=is_quoted), items)


def _attacks(rows: TableRows) -> Iterator[Point]:
    """Success of each perturbation; there is no value to test it against."""
    rates: dict[str, list[float]] = {}
    for row in rows:
        if row["asr"]:
            rates.setdefault(_place(row).replace("_", " "), []).append(float(row["asr"]))
    if rates:
        means = {place: sum(each) / len(each) for place, each in rates.items()}
        most = max(means, key=means.get)
        what = capitalised(most.rpartition(": ")[2])
        items = [
            (capitalised(place), f"{_share(mean)} on average") for place, mean in means.items()
        ]
        yield Point(*said_in_parts("attacks", what=what, share=_share(means[most])), items)


def _overlap(rows: TableRows) -> Iterator[Point]:
    of_form = where(rows, statistic="judges_with_annotators", form="truncated")
    judges = [row for row in of_form if row["judge"]]
    if judges:
        group = where(judges, systems=judges[0]["systems"], ties=judges[0]["ties"])
        less = sum(float(row["ci_high"] or 0) < 0 for row in group)
        yield Point(*said_in_parts("overlap", less=less, judges=len(group)))
