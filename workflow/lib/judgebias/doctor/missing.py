"""Which ratings the judges did not give: by judge, model and dimension, of whole completions, and of themselves."""

import math
from collections.abc import Iterator

import numpy as np

from judgebias.doctor.facts import Facts
from judgebias.doctor.findings import FINE, MISSING, NOTE, OWN_MISSING, WARNING, Finding, counted, graded, listed, percent

SHARE = {"note": 0.02, "warning": 0.2}  # of the ratings that there could be
NOT_WHOLE = {"note": 0.1, "warning": 0.5}  # of completions that some judge did not rate
OWN_MORE = {"note": 0.02, "warning": 0.05}  # how much more of its own ratings of itself a judge lacks
BY_CHANCE = 3.0  # standard errors of such a difference: below, it may be chance
ASK_AGAIN = "ask the judges again for what is missing; the workflow's missingness.csv has fits to what all rated"
ASK_OWN = "look why: if the low ones are missing, its self-bias is overstated; the workflow's missingness.csv has bounds"
SPELT = "mend the two spellings named above"
CAUSES = {"absent": "no row", "missing_rating": "no rating"}


def missing(facts: Facts) -> Iterator[Finding]:
    """Say how much is missing of all pairs of a judge and a model of which any rating is there.

    What could be there is a rating of each pair of each prompt of the dimension. A rating whose human score or length is
    missing is there.
    """
    table, judged = facts.completeness, facts.judged
    rated = judged > 0
    due = table["prompts"] * rated
    share = float(1 - judged.sum() / due.sum())
    causes = [
        f"{counted(int(table[column][rated].sum()), words, words)}"
        for column, words in CAUSES.items()
        if table[column][rated].any()
    ]
    words = f"{percent(share)} of the ratings are missing" + (f" ({listed(causes)})" if causes else "")
    yield _of_share("", words, share)
    yield from _pairs(facts, rated)
    for factor in ("judge", "model", "dimension"):
        for name in facts.rows_of(factor):
            of = (table[factor] == name) & rated
            if not of.any():  # said to be left out
                continue
            lacking = float(1 - judged[of].sum() / due[of].sum())
            what = {"judge": f"{name}'s ratings", "model": f"the ratings of {name}", "dimension": f"the ratings in {name}"}
            yield _of_share(f"{factor} {name}", f"{percent(lacking)} of {what[factor]} are missing", lacking)


def whole_completions(facts: Facts, *, spelt_twice: bool) -> Iterator[Finding]:
    """Say how many completions were rated by every judge of their dimension; spelt_twice: whether some name may be."""
    complete, every = (sum(counts) for counts in zip(*facts.whole.values(), strict=True))
    words = f"{percent(complete / every)} of the completions have a rating of every judge"
    level = graded(1 - complete / every, **NOT_WHOLE)
    advice = "" if level == FINE else SPELT if spelt_twice else ASK_AGAIN
    yield Finding(MISSING, "complete blocks", words, complete / every, level, advice)


def own_missing(facts: Facts) -> Iterator[Finding]:
    """Say of each judge whether its ratings of itself are missing more often than its ratings of other models.

    Told from chance by the standard error of a difference of two shares, sqrt(p (1 - p) (1 / n_own + 1 / n_others)).
    """
    table = facts.completeness
    rated, own = facts.judged > 0, table["judge"] == table["model"]
    for judge in facts.rows_of("judge"):
        of = rated & (table["judge"] == judge)
        (lost_own, due_own), (lost, due) = (_lost(facts, of & kind) for kind in (own, ~own))
        if not due_own or not due:
            continue
        gap, pooled = lost_own / due_own - lost / due, (lost_own + lost) / (due_own + due)
        error = math.sqrt(pooled * (1 - pooled) * (1 / due_own + 1 / due))
        level = graded(gap, **OWN_MORE) if gap > BY_CHANCE * error else FINE
        words = (
            f"{judge} lacks {percent(lost_own / due_own)} of its ratings of itself, {percent(lost / due)} of those of others"
        )
        yield Finding(OWN_MISSING, judge, words, gap, level, "" if level == FINE else ASK_OWN, weight=gap)


def _lost(facts: Facts, of: np.ndarray) -> tuple[int, int]:
    """How many ratings of some rows of completeness are missing, and how many there could be."""
    due = int(facts.completeness["prompts"][of].sum())
    return due - int(facts.judged[of].sum()), due


def _pairs(facts: Facts, rated: np.ndarray) -> Iterator[Finding]:
    """Say which pairs of a judge and a model of a dimension have no rating at all."""
    known = list(zip(*(facts.completeness[factor][rated].tolist() for factor in ("judge", "model")), strict=True))
    judges, models = (sorted(set(names)) for names in zip(*known, strict=True))
    pairs = [f"{judge} of {model}" for judge in judges for model in models if (judge, model) not in known]
    if pairs:
        words = f"{len(pairs)} of {len(judges) * len(models)} pairs of a judge and a model have no rating: {listed(pairs)}"
        yield Finding(MISSING, "pairs", words, len(pairs), NOTE)


def _of_share(subject: str, words: str, share: float) -> Finding:
    level = graded(share, **SHARE)
    return Finding(MISSING, subject, words, share, level, ASK_AGAIN if level == WARNING else "", weight=share)
