"""What a study's comparisons support: the findings, as for ratings, from counts and from what the
verdicts can rest on.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import permutations

from recuse.base.database import Connection, records, values_in
from recuse.base.reasons import Reason, code, cure
from recuse.base.words import enumerated
from recuse.check.facts import FINE, NOTE, STOP, WARNING, Finding, Findings, graded, ordered, said
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
LABELS = {"": "human", "key": RIGHT}
WEAK = 0.75  # agreement of two human votes: below, one in seven is wrong
BY_CHANCE = 3.0  # standard errors below one half
# The page has them in this order.
QUANTITIES = (SELF, FAMILY, LONGER, FIRST)


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
            *_humans(connection, of),
            *_draws(rows),
            *_judges(connection, of, {each.subject for each in names}),
            *_detectable(verdicts, power),
            *_summary(verdicts),
        ]
    )


def _contents(connection: Connection) -> Findings:
    query = """
        select count(*) as n, count(distinct judge) as judges, count(distinct item) as questions,
               (select count(distinct model) from
                   (select unnest([model_a, model_b]) as model from pairs)) as models,
               count(*) filter ('error' in (outcome_ab, outcome_ba)) as errors
        from pairs"""
    (counts,) = records(connection.execute(query))
    yield Finding("contents/comparisons", "", counts["n"], **counts)
    questions = counts["questions"]
    level = WARNING if questions < FEW else NOTE if questions < ENOUGH else FINE
    yield Finding("prompts/questions", "", questions, level, enough=ENOUGH, few=FEW)


def _judges(connection: Connection, of: Choices, spelt: Collection[str]) -> Findings:
    """Count each judge's comparisons in one order only, and those of its own answers; spelt: judges
    that may be a model by another spelling.
    """
    query = """
        select judge, count(*), count(*) filter (outcome_ab is null or outcome_ba is null),
               count(*) filter (judge in (model_a, model_b))
        from pairs group by judge order by judge"""
    cured = cure(Reason.NO_OWN_COMPARED)
    for judge, n, single, own in connection.execute(query).fetchall():
        level, share = WARNING if single else FINE, single / n
        yield Finding("orders", judge, share, level, share, n=n, single=single)
        if own or judge not in spelt:
            one_model = judge in of.of_one_model
            level = FINE if own or one_model else NOTE
            yield Finding("own answers", judge, own, level, one_model=one_model, cure=cured)


def _humans(connection: Connection, of: Choices) -> Findings:
    n, labelled, keyed = connection.execute(
        f"select count(*), count(human), count({RIGHT}) from compared"
    ).fetchone()
    known, by_key = max(labelled, keyed), keyed > labelled
    level = WARNING if not known else NOTE if known < n else FINE
    cured = cure(Reason.NO_HUMAN_LABELS)
    yield Finding("human scores/labels", "", known, level, n=n, by_key=by_key, cure=cured)
    agree, pairs = of.agreeing
    if pairs:
        share = agree / pairs
        level = NOTE if share < WEAK else FINE
        yield Finding("human scores/votes", "", share, level, pairs=pairs)


def _draws(rows: Sequence[Mapping]) -> Findings:
    n: dict[str, Counter] = {}
    for row in rows:
        if row["quantity"] in (SELF, WINS):
            n.setdefault(row["term"], Counter())[row["draws"]] += row["n"]
    for judge, counts in n.items():
        share = 1 - counts[EXCLUDED] / counts[HALF]
        yield Finding("draws", judge, share, graded(share, note=MANY, warning=MOST), share)


def _agreement(connection: Connection) -> Findings:
    """Report whether the judges together choose the answers that the humans prefer, or that are
    right by a key, less often than chance would.
    """
    for subject, label in LABELS.items():
        decided = (
            f"select item, {label} as label, unnest([outcome_ab, outcome_ba]) as outcome from pairs"
        )
        query = (
            "select count(*), count(*) filter (outcome = label), count(distinct item) from"
            f" ({decided}) where label in ('a', 'b') and outcome in ('a', 'b')"
        )
        n, agreeing, questions = connection.execute(query).fetchone()
        if n:
            share = agreeing / n
            # Verdicts on a question are not independent
            least = 0.5 - BY_CHANCE * 0.5 / questions**0.5
            found, level = "agreement/labels", FINE
            if share < least:
                found, level = "agreement/below chance", WARNING
            yield Finding(found, subject, share, level, 1.0, n=n)


def _names(connection: Connection, families: Mapping[str, str]) -> Findings:
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
        for group in values_in(connection, query):
            different |= {(factor, *pair) for pair in permutations(group, 2)}
    kinds = dict.fromkeys(rows["model"], "model") | dict.fromkeys(rows["judge"], "judge")
    pairs = alike_among(rows, lambda *names: names not in different)
    yield from spelt_twice(rows, pairs, kinds, noun="comparison", families=families)
    yield from odd_names(kinds)


def _detectable(verdicts: Sequence[Mapping], power: float) -> Findings:
    for row in verdicts:
        size = row.get("detectable")
        if size and not math.isnan(size):
            level = NOTE if size > LARGE else FINE
            yield Finding(
                "detectable/difference",
                row["term"],
                size,
                level,
                size,
                quantity=row["quantity"],
                power=power,
            )


def _summary(verdicts: Sequence[Mapping]) -> Findings:
    """Which verdicts the comparisons support, and which not, and why; the level is stop if they
    support none.

    The advice is what would help with most of those that they do not support.
    """
    supported, lacking, cures = [], [], Counter()
    for quantity in QUANTITIES:
        rows = [row for row in verdicts if row["quantity"] == quantity]
        reasons: dict[str, list[str]] = {}
        for row in rows:
            if row["verdict"] == Verdict.INCONCLUSIVE and code(row["reason"]) not in OF_RESULTS:
                reasons.setdefault(row["reason"], []).append(row["term"])
        for reason, names in reasons.items():
            what = said("compares", quantity, who=enumerated(names, most=5))
            lacking.append(said("compares", "without", what=what, reason=reason))
            cures[cure(reason)] += len(names)
        answered = len(rows) - sum(map(len, reasons.values()))
        if answered:
            who = said("compares", "some", quantity=quantity, answered=answered, total=len(rows))
            supported.append(said("compares", quantity, who=who))
    del cures[""]
    yield Finding(
        "verdict/comparisons",
        "",
        len(supported),
        FINE if supported else STOP,
        1.0,
        supported=supported,
        remedy=max(cures, key=cures.get, default=""),
    )
    if lacking:
        yield Finding("verdict/does not support", "", len(lacking), lacking=lacking)
