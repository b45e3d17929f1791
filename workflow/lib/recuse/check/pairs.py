"""What a study's comparisons support: the findings, as for ratings, from counts and from what the
verdicts can rest on.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations

from recuse.base.database import Connection
from recuse.base.reasons import CURES, Reason, code, cure, in_words
from recuse.base.words import counted, enumerated, percent
from recuse.check.facts import FINE, NOTE, STOP, WARNING, Finding, graded, ordered
from recuse.check.names import alike_among, odd_names, spelt_twice
from recuse.inference.verdict import Verdict
from recuse.pairwise.choices import EXCLUDED, FAMILY, FEW, FIRST, HALF, LONGER, SELF, WINS, Choices

# Reasons that lie in the verdicts, not in the design
OF_RESULTS = (Reason.DEPENDS_ON_DRAWS, Reason.DISAGREES_WITH_PEOPLE)
ENOUGH = 30  # questions: with fewer, intervals are somewhat too short
LARGE = 0.1  # difference of shares that is seen without a study
MANY, MOST = 0.25, 0.5  # share of draws from which the treatment of draws matters, and decides
# The answer that is right by a key, if one of the two is
RIGHT = "case when right_a and not right_b then 'a' when right_b and not right_a then 'b' end"
PREFERRED = {"": ("human", "the humans prefer"), "key": (RIGHT, "is right by the key")}
WEAK = 0.75  # agreement of two human votes: below, one in seven is wrong
BY_CHANCE = 3.0  # standard errors below one half
NOUNS = ("judge", "judges"), ("family", "families")
WHAT = {
    SELF: "self-bias of",
    FAMILY: "family-bias of",
    LONGER: "longer answers:",
    FIRST: "first answers:",
}
SUMMARY = {
    SELF: "self-bias of {}",
    FAMILY: "family-bias of {}",
    LONGER: "whether longer answers sway {} more than people",
    FIRST: "whether the place of an answer sways {}",
}


def check_comparisons(
    connection: Connection,
    of: Choices,
    rows: Sequence[Mapping],
    verdicts: Sequence[Mapping],
    *,
    families: Mapping[str, str],
    power: float,
) -> list[Finding]:
    """Find what comparisons support.

    connection: see `recuse.pairwise.questions.open_pairs`. of, rows: of `recuse.pairwise.choices`.
    verdicts: of `recuse.pairwise.verdicts`. families: of models, where known. power: that
    `detectable` of the verdicts has.
    """
    names = [*_names(connection, families)]
    return ordered(
        [
            *_agreement(connection),
            *names,
            *_contents(connection),
            *_orders(connection),
            *_humans(connection, of),
            *_draws(rows),
            *_own_answers(connection, of, {each.subject for each in names}),
            *_questions(connection),
            *_detectable(verdicts, power),
            *_summary(verdicts),
        ]
    )


def _contents(connection: Connection) -> Iterator[Finding]:
    errors = "count(*) filter ('error' in (outcome_ab, outcome_ba))"
    query = f"select count(*), count(distinct judge), count(distinct item), {errors} from pairs"
    n, judges, questions, errors = connection.execute(query).fetchone()
    (models,) = connection.execute(
        "select count(distinct m) from (select unnest([model_a, model_b]) as m from pairs)"
    ).fetchone()
    words = (
        f"{counted(n, 'comparison')} by {counted(judges, 'judge')} of {counted(models, 'model')}"
    )
    words += f" on {counted(questions, 'question')}; {errors:,} with an error"
    yield Finding("contents", "", words, n)


def _orders(connection: Connection) -> Iterator[Finding]:
    query = (
        "select judge, count(*), count(*) filter (outcome_ab is null or outcome_ba is null) from"
        " pairs group by 1 order by 1"
    )
    for judge, n, single in connection.execute(query).fetchall():
        words = (
            f"{single:,} of {n:,} comparisons of {judge} are in one order only, where its place may"
            " decide for an answer"
        )
        advice = "judge each pair in both orders, or draw the order at random"
        yield Finding(
            "orders", judge, words, single / n, WARNING if single else FINE, advice, single / n
        )


def _humans(connection: Connection, of: Choices) -> Iterator[Finding]:
    n, labelled, keyed = connection.execute(
        f"select count(*), count(human), count({RIGHT}) from compared"
    ).fetchone()
    known, what = (
        (keyed, "right answer by a key") if keyed > labelled else (labelled, "human label")
    )
    words = f"{known:,} of {n:,} comparisons have a {what}"
    level, advice = FINE if known == n else NOTE, "those without one are left out"
    if not known:
        words = (
            "no comparison has a human label: a judge that prefers its own, or longer, answers may"
            " be right"
        )
        level, advice = WARNING, CURES[Reason.NO_HUMAN_LABELS]
    yield Finding("human scores", "", words, known, level, advice)
    agree, pairs = of.agreeing
    if pairs:
        words = (
            f"two human votes on a comparison agree in {percent(agree / pairs)} of"
            f" {counted(pairs, 'pair')} of votes"
        )
        advice = (
            "read label_noise.csv beside the verdicts, or collect more votes on each comparison"
        )
        yield Finding(
            "human scores",
            "votes",
            words,
            agree / pairs,
            NOTE if agree / pairs < WEAK else FINE,
            advice,
        )


def _draws(rows: Sequence[Mapping]) -> Iterator[Finding]:
    n: dict[str, Counter] = {}
    for row in rows:
        if row["quantity"] in (SELF, WINS):
            n.setdefault(row["term"], Counter())[row["draws"]] += row["n"]
    advice = (
        "use a more consistent judge that calls fewer ties: with so many draws, results depend on"
        " how they count"
    )
    for judge, counts in n.items():
        share = 1 - counts[EXCLUDED] / counts[HALF]
        words = (
            f"{percent(share)} of the comparisons of {judge} are draws: a tie of the judge or of"
            " people, or a verdict that "
        )
        words += "changes with the order"
        yield Finding(
            "draws", judge, words, share, graded(share, note=MANY, warning=MOST), advice, share
        )


def _own_answers(connection: Connection, of: Choices, spelt: Collection[str]) -> Iterator[Finding]:
    """Count each judge's comparisons of its own answers; spelt: judges that may be a model by
    another spelling.
    """
    query = "select judge, count(*) filter (judge in (model_a, model_b)) from pairs group by 1"
    for judge, number in connection.execute(f"{query} order by 1").fetchall():
        level, advice = FINE, ""
        words = f"{judge} compares {counted(number, 'answer')} of its own with others'"
        if judge in of.of_one_model:
            words = f"{judge} compares two answers of one model each time, none of them its own"
        elif not number:
            words = f"{judge} compares no answer of its own, so its self-bias cannot be measured"
            level, advice = NOTE, CURES[Reason.NO_OWN_COMPARED]
        if number or judge not in spelt:
            yield Finding("own answers", judge, words, number, level, advice)


def _agreement(connection: Connection) -> Iterator[Finding]:
    """Report whether the judges together choose the answers that the humans prefer, or that are
    right by a key, less often than chance would.
    """
    for subject, (label, which) in PREFERRED.items():
        decided = (
            f"select item, {label} as label, unnest([outcome_ab, outcome_ba]) as outcome from pairs"
        )
        query = (
            "select count(*), count(*) filter (outcome = label), count(distinct item) from"
            f" ({decided}) where label in ('a', 'b') and outcome in ('a', 'b')"
        )
        n, agreeing, questions = connection.execute(query).fetchone()
        if not n:
            continue
        share = agreeing / n
        words = (
            f"judges choose the answer that {which} in {percent(share)} of"
            f" {counted(n, 'verdict')} without a tie"
        )
        # Verdicts on a question are not independent
        below = share < 0.5 - BY_CHANCE * 0.5 / questions**0.5
        if below:
            words += (
                ", less often than by chance: are `model_a` and `model_b`, or the labels, swapped"
                " or in the wrong rows?"
            )
        advice = (
            "compare a few rows with what the judges wrote; if the columns are right, the judges"
            " prefer other answers"
        )
        yield Finding("agreement", subject, words, share, WARNING if below else FINE, advice, 1.0)


def _names(connection: Connection, families: Mapping[str, str]) -> Iterator[Finding]:
    """Report judges, and models, that may be two spellings of one, names that look the same, and
    odd names.

    Two models are not one if they are compared, and two judges are not if they compare the same
    answers.
    """
    together = {
        "judge": (
            "judge",
            "select distinct list_sort(list(distinct judge)) from pairs group by item, model_a,"
            " model_b",
        ),
        "model": (
            "unnest([model_a, model_b])",
            "select distinct [model_a, model_b] from pairs",
        ),
    }
    rows: dict[str, dict[str, int]] = {}
    different = set()
    for factor, (names, query) in together.items():
        counts = f"select name, count(*) from (select {names} as name from pairs) group by all"
        rows[factor] = dict(connection.execute(f"{counts} order by all").fetchall())
        for (group,) in connection.execute(query).fetchall():
            different |= {(factor, *pair) for pair in permutations(group, 2)}
    kinds = dict.fromkeys(rows["model"], "model") | dict.fromkeys(rows["judge"], "judge")
    pairs = alike_among(rows, lambda *names: names not in different)
    yield from spelt_twice(rows, pairs, kinds, noun="comparison", families=families)
    yield from odd_names(kinds)


def _questions(connection: Connection) -> Iterator[Finding]:
    (n,) = connection.execute("select count(distinct item) from pairs").fetchone()
    words = f"the comparisons are on {counted(n, 'question')}"
    advice = (
        f"judge more questions, {ENOUGH} or more: intervals are over questions, and below {FEW}"
        " there is no verdict"
    )
    yield Finding(
        "prompts", "", words, n, WARNING if n < FEW else NOTE if n < ENOUGH else FINE, advice
    )


def _detectable(verdicts: Sequence[Mapping], power: float) -> Iterator[Finding]:
    for row in verdicts:
        size = row.get("detectable")
        if size and not math.isnan(size):
            subject = f"{WHAT[row['quantity']]} {row['term']}"
            words = (
                f"{subject} would be found with {percent(power)} power from {100 * size:.1f}"
                " percentage points"
            )
            advice = (
                "judge more questions: the smallest difference falls with the square root of their"
                " number"
            )
            yield Finding(
                "detectable", subject, words, size, NOTE if size > LARGE else FINE, advice, size
            )


def _summary(verdicts: Sequence[Mapping]) -> Iterator[Finding]:
    """Which verdicts the comparisons support, and which not, and why; the level is stop if they
    support none.

    The advice is what would help with most of those that they do not support.
    """
    supported, lacking, cures = [], [], Counter()
    for quantity, words in SUMMARY.items():
        rows = [row for row in verdicts if row["quantity"] == quantity]
        reasons: dict[str, list[str]] = {}
        for row in rows:
            if row["verdict"] == Verdict.INCONCLUSIVE and code(row["reason"]) not in OF_RESULTS:
                reasons.setdefault(row["reason"], []).append(row["term"])
        for reason, names in reasons.items():
            lacking.append(f"{words.format(enumerated(names, most=5))} ({in_words(reason)})")
            if remedy := cure(reason):
                cures[remedy] += len(names)
        answered = len(rows) - sum(map(len, reasons.values()))
        if answered:
            supported.append(
                words.format(f"{answered} of {counted(len(rows), *NOUNS[quantity == FAMILY])}")
            )
    words = (
        f"supports: {'; '.join(supported)}" if supported else "these comparisons support no verdict"
    )
    advice = max(cures, key=cures.get, default="")
    yield Finding(
        "verdict", "supports", words, len(supported), FINE if supported else STOP, advice, 1.0
    )
    if lacking:
        yield Finding(
            "verdict", "does not support", f"does not support: {'; '.join(lacking)}", len(lacking)
        )
