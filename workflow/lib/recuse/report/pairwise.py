"""The answer to a study of comparisons: the verdict on each judge, whether the judges agree with the humans, and what to do."""

from collections.abc import Iterator, Mapping

from recuse.base.words import capitalised, counted, enumerated, level, percent
from recuse.data.registry import HUMAN
from recuse.inference.verdict import AGAINST_HUMANS, CANNOT_BE_TOLD, ESTABLISHED, NO_CLEAR_BIAS, SUGGESTIVE
from recuse.pairwise.choices import (
    ABSENT,
    ADVICE,
    ASK_HUMANS,
    DEPENDS,
    FAMILY,
    FIRST,
    HALF,
    LONGER,
    MAIN,
    NO_HUMANS,
    SELF,
    STEADIER,
)
from recuse.report.gold import caveats_on_gold, points_on_gold, sentences_on_gold
from recuse.report.verdict import MOST, POINTS, PREFERENCES, Answer, Point, Rows, Section, findings, shown

QUESTION = "What sways these judges?"
NOTHING = "These comparisons say nothing about their judges."
MOST_STEPS = 3
NOT_FIXED = (
    "There are no human labels, so quality is not held fixed: judges may choose their own answers, or longer ones, because "
    "these are better."
)
ONE_ORDER = "Some pairs were judged in one order alone, and their results count only if that order was drawn at random."
BY_DRAWS = (
    "Some results depend on draws, including verdicts that change with the order. If a draw is half a win, judges with weak "
    "answers seem to favour themselves; if draws are left out, judges with strong answers do."
)
ERRORS = (
    "A judge that errs at random chooses any kind of answer closer to half the time. That alone could explain the result for "
    "{}, whose share lies between the humans' and one half."
)
STEPS = {  # advice of the table of verdicts -> the next step for one judge, and for several; if not as in the table
    ADVICE[SELF]: (
        "Do not rely on {}'s verdicts on its own answers.",
        "Do not rely on the verdicts of {} on their own answers.",
    ),
    ADVICE[FIRST]: ("Keep judging both orders: that already balances the order bias of {}.",),
    STEADIER: (
        "For {}, the result on own answers cannot be separated from how draws are counted: a judge that draws less often would "
        "settle it.",
    ),
    ASK_HUMANS: ("Have people judge some of these comparisons.",),
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
BY_QUALITY = ("egocentric_order", "salience")  # the humans' choices say more about these, where there are any
SIDES = {"yes": ("favours itself", "favour themselves"), "no": ("is harsher on itself", "are harsher on themselves")}
REGRESSED = (
    "The regression of verdicts holds fixed the strengths of models, and the places and lengths of answers. The shares above "
    "hold fixed what humans choose in the same comparisons, but neither place nor length."
)
CHANCE = "Share of comparisons, beside that of a judge that chooses at random. The quality of the answers is not held fixed."


def answer_of_comparisons(tables: Mapping[str, Rows], *, confidence: float) -> Answer:
    """Say what the tables of a study of comparisons answer; tables: rows, as texts, of those that the study has."""
    verdicts = tables.get("verdicts", ())
    humans = any(row["question"] == AGAINST_HUMANS for row in (*verdicts, *tables.get("choices", ())))
    points = [
        *_regression(tables.get("regression_verdicts", ())),
        *_cognitive([row for row in tables.get("cognitive_biases", ()) if not (humans and row["bias"] in BY_QUALITY)]),
        *_attacks(tables.get("asr", ())),
        *_overlap(tables.get("rbo", ())),
        *points_on_gold(gold := tables.get("gold", ()), confidence),
    ]
    sentences = [*_sentences(verdicts), *sentences_on_gold(gold, confidence)] or [f"{point.heading}." for point in points]
    return Answer(
        QUESTION,
        " ".join(sentences) or NOTHING,
        shown(verdicts, POINTS),
        POINTS.name,
        tracking=_agreement(tables.get("agreement", ()), confidence),
        leaderboard=_win_rates(tables.get("choices", ()), humans=humans),
        caveats=[*caveats_on_gold(gold), *_caveats(verdicts, tables.get("choices", ()), tables.get("label_noise", ()))][
            :MOST_STEPS
        ],
        next_steps=[*_next_steps(verdicts)][:MOST_STEPS],
        points=points,
    )


def _sentences(verdicts: Rows) -> Iterator[str]:
    """Own answers first, with the judges by size; then the family's, longer answers and the place."""
    rows = {quantity: [row for row in verdicts if row["quantity"] == quantity] for quantity in (SELF, FAMILY, LONGER, FIRST)}
    measured = sorted(
        (row for row in rows[SELF] if row["estimate"] and row["question"] == AGAINST_HUMANS),
        key=lambda row: -float(row["estimate"]),
    )
    unlabelled = [quantity for quantity in (SELF, LONGER) if any(row["reason"] == NO_HUMANS for row in rows[quantity])]
    if unlabelled:
        yield f"Without human labels, {PREFERENCES[unlabelled[0]]} cannot be told from quality."
    elif measured:
        sizes = enumerated([f"{row['term']} {POINTS.text(row['estimate'])}" for row in measured])
        yield f"How much more often judges choose their own answers than humans do, in percentage points: {sizes}."
    yield from _told(measured)
    yield from findings(rows[FAMILY], POINTS)
    yield from _told(rows[LONGER], "on longer answers ")
    yield from findings(rows[FIRST], POINTS)


def _told(rows: Rows, where: str = "") -> Iterator[str]:
    """The verdicts on one kind of bias; where: of which answers, before the words."""
    yield from findings(rows, POINTS)
    parts = []
    for words, every, some in (
        ("there is no clear bias in {}", "any of the", [row for row in rows if row["verdict"] == NO_CLEAR_BIAS]),
        ("the result depends on how draws count, for {}", "all", [row for row in rows if row["reason"].startswith(DEPENDS)]),
    ):
        if some:
            names = enumerated([row["term"] for row in some], MOST)
            parts.append(words.format(f"{every} {len(rows)} judges" if len(some) == len(rows) > 1 else names))
    if parts:
        yield f"{capitalised(where + '; '.join(parts))}."


def _caveats(verdicts: Rows, choices: Rows, noise: Rows) -> Iterator[str]:
    reasons = [row["reason"] for row in verdicts]
    suggestive = {(row["quantity"], row["term"]) for row in verdicts if row["verdict"] == SUGGESTIVE and row["question"]}
    shares = {
        (row["quantity"], row["term"]): (0.5, float(row["judge_share"]), float(row["human_share"]))
        for row in choices
        if (row["quantity"], row["term"]) in suggestive and row["draws"] == MAIN[row["quantity"]]
    }
    toward_half = dict.fromkeys(term for (_, term), of in shares.items() if sorted(of)[1] == of[1])
    if NO_HUMANS in reasons:
        yield NOT_FIXED
    if ABSENT[FIRST][0] in reasons:
        yield ONE_ORDER
    if any(reason.startswith(DEPENDS) for reason in reasons):
        yield BY_DRAWS
    if toward_half:
        yield ERRORS.format(enumerated([*toward_half], MOST))
    votes = next((row for row in noise if row["origin"] == "votes"), None)
    changes = [row for row in noise if row["quantity"] == SELF and row["changes_at"]]
    changes.sort(key=lambda row: float(row["changes_at"]))
    sentences = []
    if votes:
        agreement, rate = (percent(float(votes[column])) for column in ("agreement", "flip_rate"))
        sentences.append(f"Two human votes agree in {agreement} of cases, as if {rate} of the labels were wrong.")
    if changes:
        first, *others = [(row["term"], percent(float(row["changes_at"]))) for row in changes]
        sentence = f"If {first[1]} of the human labels were wrong, {first[0]}'s result on own answers would change"
        rest = enumerated([f"for {name}, {rate}" for name, rate in others], MOST)
        sentences.append(f"{'; '.join(filter(None, (sentence, rest)))}.")
    if sentences:
        yield " ".join(sentences)


def _next_steps(verdicts: Rows) -> Iterator[str]:
    """Each advice with the judges it is for; first on biases, then on what cannot be told. On draws, for own answers alone."""
    cures: dict[str, dict[str, None]] = {}
    for row in sorted(verdicts, key=lambda row: row["verdict"] == CANNOT_BE_TOLD):
        about_draws = row["advice"] == STEADIER and row["quantity"] != SELF
        if row["verdict"] != NO_CLEAR_BIAS and row["quantity"] != FAMILY and not about_draws:
            cures.setdefault(row["advice"], {})[row["term"]] = None
    for advice, names in cures.items():
        one, *several = STEPS.get(advice, (f"{{}}: {advice}.",))
        yield (several[0] if several and len(names) > 1 else one).format(enumerated([*names], MOST))


def _agreement(rows: Rows, confidence: float) -> Section | None:
    """How often each judge agrees with the human label, by experiment and condition."""
    shown_by = {row["judge"]: {} for row in rows}
    for rule in ("pooled", "debiased"):  # the first for comparisons in one order only
        for row in (row for row in rows if row["order"] == rule and row["value"]):
            place = ": ".join(filter(None, (row["experiment"], row["condition"]))) or "all comparisons"
            shown_by[row["judge"]][place] = row
    places = list(dict.fromkeys(place for of in shown_by.values() for place in of))
    if not places:
        return None
    judges = [judge for judge, of in shown_by.items() if places[0] in of]
    judges.sort(key=lambda judge: -float(shown_by[judge][places[0]]["value"]))
    sentence = f"Share of verdicts, ties included, that match the human label, with {level(confidence)} intervals."
    table = [
        [judge, *(_with_interval(shown_by[judge][place]) if place in shown_by[judge] else "" for place in places)]
        for judge in judges
    ]
    return Section("Do the judges agree with the humans?", sentence, ["judge", *places], table)


def _win_rates(choices: Rows, *, humans: bool) -> Section | None:
    """The share of its comparisons that each model wins, by the humans and by each judge."""
    rows = [row for row in choices if row["model"] and row["draws"] == HALF]
    judges = list(dict.fromkeys(row["term"] for row in rows))
    cells = {(row["model"], row["term"]): _share(row["judge_share"]) for row in rows}
    means: dict[str, float] = {}
    for model in dict.fromkeys(row["model"] for row in rows):
        of_model = [row for row in rows if row["model"] == model]
        shares = [(float(row["human_share" if humans else "judge_share"]), int(row["n"])) for row in of_model]
        means[model] = sum(share * n for share, n in shares) / sum(n for _, n in shares)
    table = [
        [model, _share(means[model]), *(cells.get((model, judge), "") for judge in judges)]
        for model in sorted(means, key=means.get, reverse=True)
    ]
    sentence = "Share of its comparisons that each model wins, with a draw as half a win."
    headings = ["model", "humans" if humans else "all judges", *judges]
    return Section("Win rates", sentence, headings, table) if table else None


def _share(value: str | float) -> str:
    return f"{100 * float(value):.0f}\N{NO-BREAK SPACE}%"


def _with_interval(row: Mapping[str, str]) -> str:
    interval = f" ({100 * float(row['ci_low']):.0f} to {_share(row['ci_high'])})" if row["ci_low"] else ""
    return f"{_share(row['value'])}{interval}"


def _grouped(rows: Rows, *columns: str) -> dict[str, list[Mapping[str, str]]]:
    groups: dict[str, list] = {}
    for row in rows:
        groups.setdefault(": ".join(filter(None, (row[column] for column in columns))), []).append(row)
    return groups


def _regression(rows: Rows) -> Iterator[Point]:
    """What the regression says of each judge and family, those with a bias beyond ordinary preference in the heading."""
    established = [row for row in rows if row["verdict"] == ESTABLISHED and row["quantity"] == SELF]
    parts = [
        f"{enumerated(names, MOST)} {words[len(names) > 1]}"
        for side, words in SIDES.items()
        if (names := [row["term"] for row in established if row["favours"] == side])
    ]
    if rows:
        items = [(row["term"], row["words"]) for row in rows]
        yield Point(
            f"By regression, {'; '.join(parts) or 'no judge favours itself'} beyond ordinary preference", REGRESSED, items
        )


def _cognitive(rows: Rows) -> Iterator[Point]:
    """In how many judges each bias is more frequent than at random: by its interval, or by the share if there is none."""
    groups, items = _grouped([row for row in rows if row["judge"] != HUMAN and row["share"]], "bias"), []
    for bias in (bias for bias in BIASES if bias in groups):
        ends = [(row, float(row["ci_low"] or "nan") > float(row["chance"] or row["random"])) for row in groups[bias]]
        more = sum(above if row["ci_low"] else row["above_random"] == "yes" for row, above in ends)
        items.append((BIASES[bias], f"more often than at random: {more or 'none'} of {counted(len(ends), 'judge')}"))
    if items:
        quoted = " They are quoted from the authors' table." * any(row["origin"] == "quoted" for row in rows)
        yield Point(" ".join(items[0]), CHANCE + quoted, items)


def _attacks(rows: Rows) -> Iterator[Point]:
    """Success of each perturbation; there is no value to test it against."""
    groups = _grouped([row for row in rows if row["asr"]], "experiment", "condition")
    means = {place.replace("_", " "): sum(float(row["asr"]) for row in group) / len(group) for place, group in groups.items()}
    if means:
        most = max(means, key=means.get)
        heading = f"{capitalised(most.rpartition(': ')[2])} wins judges over in {_share(means[most])} of samples on average"
        items = [(capitalised(place), f"{_share(mean)} on average") for place, mean in means.items()]
        yield Point(heading, "Share of samples in which the perturbed answer wins a judge over.", items)


def _overlap(rows: Rows) -> Iterator[Point]:
    form = [row for row in rows if (row["statistic"], row["form"]) == ("judges_with_annotators", "truncated") and row["judge"]]
    group = [row for row in form if (row["systems"], row["ties"]) == (form[0]["systems"], form[0]["ties"])]
    less = [row for row in group if row["ci_high"] and float(row["ci_high"]) < 0]
    if group:
        heading = (
            f"{len(less) or 'None'} of {counted(len(group), 'judge')} agree less with the annotators than the listing order"
        )
        words = "Rank-biased overlap with single annotators' rankings; the listing order is a ranking made without reading."
        yield Point(f"{heading} does", words)
