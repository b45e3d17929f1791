"""What is in the ratings and what is not: counts and names, ratings that judges did not give, rows that are left out.

A row is left out though it has a rating where the human score or the length is missing.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from recuse.base.words import counted, enumerated, percent
from recuse.check.facts import FINE, NOTE, WARNING, Facts, Finding, graded

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
    counts = {cause: int(table[column][rated].sum()) for column, cause in CAUSES.items()}
    causes = [counted(count, cause, cause) for cause, count in counts.items() if count]
    words = f"{percent(share)} of the ratings are missing" + (f" ({enumerated(causes)})" if causes else "")
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
    share = facts.whole / facts.completions
    words = f"{percent(share)} of the completions have a rating of every judge"
    level = graded(1 - share, **NOT_WHOLE)
    yield Finding("missing", "complete blocks", words, share, level, SPELT if spelt_twice else ASK_AGAIN)


def own_missing(facts: Facts) -> Iterator[Finding]:
    """Say of each judge whether its ratings of itself are missing more often than its ratings of other models.

    Told from chance by the standard error of a difference of two shares, sqrt(p (1 - p) (1 / n_own + 1 / n_others)).
    """
    table = facts.completeness
    rated, is_self = facts.judged > 0, table["judge"] == table["model"]
    for judge in facts.rows_of("judge"):
        of = rated & (table["judge"] == judge)
        (lost_own, due_own), (lost, due) = (_lost(facts, of & kind) for kind in (is_self, ~is_self))
        if not due_own or not due:
            continue
        gap, pooled = lost_own / due_own - lost / due, (lost_own + lost) / (due_own + due)
        error = math.sqrt(pooled * (1 - pooled) * (1 / due_own + 1 / due))
        level = graded(gap, **OWN_MORE) if gap > BY_CHANCE * error else FINE
        words = (
            f"{judge} lacks {percent(lost_own / due_own)} of its ratings of itself, {percent(lost / due)} of those of others"
        )
        yield Finding("own ratings missing", judge, words, gap, level, ASK_OWN, weight=gap)


def _lost(facts: Facts, of: np.ndarray) -> tuple[int, int]:
    """How many ratings of some rows of completeness are missing, and how many there could be."""
    due = int(facts.completeness["prompts"][of].sum())
    return due - int(facts.judged[of].sum()), due


def _pairs(facts: Facts, rated: np.ndarray) -> Iterator[Finding]:
    """Say which pairs of a judge and a model of a dimension have no rating at all."""
    rated_pairs = list(zip(*(facts.completeness[factor][rated].tolist() for factor in ("judge", "model")), strict=True))
    judges, models = (sorted(set(names)) for names in zip(*rated_pairs, strict=True))
    pairs = [f"{judge} of {model}" for judge in judges for model in models if (judge, model) not in rated_pairs]
    if pairs:
        every = len(judges) * len(models)
        words = f"{len(pairs)} of {every} pairs of a judge and a model have no rating: {enumerated(pairs, most=5)}"
        yield Finding("missing", "pairs", words, len(pairs), NOTE)


def _of_share(subject: str, words: str, share: float) -> Finding:
    level = graded(share, **SHARE)
    return Finding("missing", subject, words, share, level, ASK_AGAIN if level == WARNING else "", weight=share)


SCORE = (
    "have people score them, too, or see that models and prompts are spelt as in the ratings; judges need not be asked again"
)
UNEVEN = f"{SCORE}; what is said of it is of its scored answers alone"
PARSED = "look for a fault in how its ratings were parsed or spelt"
LENGTH = "add the lengths that are missing, or leave the column out"
LEFT_OUT_CAUSES = {"missing_rating": "no rating", "missing_gt": "no human score", "missing_length": "no length"}


def unscored(facts: Facts) -> Iterator[Finding]:
    """Say how many rows have no human score where others have one, and which models and dimensions lack more of them.

    Told from chance as the judges' own missing ratings are, but by completions: their rows lack the score together.
    """
    table, present = facts.completeness, facts.present
    lost = table["missing_gt"]
    if not lost.any():
        return
    share = float(lost.sum() / present.sum())
    words = f"{percent(share)} of the rows have no human score, and are left out"
    level = graded(share, **SHARE)
    yield Finding("no human score", "", words, share, level, SCORE, weight=share)
    judges = len(facts.rows_of("judge"))
    for factor in ("model", "dimension"):
        for name in facts.names(factor):
            of = table[factor] == name
            (lost_here, here), (lost_there, there) = ((int(lost[kind].sum()), int(present[kind].sum())) for kind in (of, ~of))
            if not there:
                continue
            rest = lost_there / there
            gap = lost_here / here - rest
            error = math.sqrt(share * (1 - share) * judges * (1 / here + 1 / there))
            level = graded(gap, **OWN_MORE) if gap > BY_CHANCE * error else FINE
            what = "answers of" if factor == "model" else "answers on"
            words = f"{percent(lost_here / here)} of the rated {what} {name} have no human score, {percent(rest)} of the others"
            yield Finding("no human score", f"{factor} {name}", words, lost_here / here, level, UNEVEN, gap)


def names_left_out(facts: Facts, alike: Sequence[tuple[str, str, str]]) -> Iterator[Finding]:
    """Say which judges, models and dimensions have rows, but no complete one.

    alike: (judge or model, name, other name) of those that may be one, of which it is said what to do.
    """
    table, spelt = facts.completeness, {(factor, name) for factor, *names in alike for name in names}
    for factor in ("judge", "model", "dimension"):
        complete = facts.names(factor)
        for name, rows in facts.rows_of(factor).items():
            if name in complete:
                continue
            counts = {column: int(table[column][table[factor] == name].sum()) for column in LEFT_OUT_CAUSES}
            causes = enumerated([f"{number:,} with {LEFT_OUT_CAUSES[column]}" for column, number in counts.items() if number])
            words = f"the {factor} '{name}' is left out: none of its {counted(rows, 'row')} is complete ({causes})"
            cause = max(counts, key=counts.get)
            advice = {"missing_rating": PARSED, "missing_gt": SCORE, "missing_length": LENGTH}[cause]
            advice = SPELT if (factor, name) in spelt else advice
            yield Finding("left out", f"{factor} {name}", words, rows, WARNING, advice, weight=rows)


def contents(facts: Facts) -> Iterator[Finding]:
    """Say what there is: families, judges that are models too, lengths, and how many there are of everything."""
    yield from _families(facts)
    yield from _names(facts)
    yield from _lengths(facts)
    words = f"{counted(facts.rows, 'complete row')} of {int(facts.present.sum()):,}"
    yield Finding("contents", "rows", words, facts.rows)
    for factor in ("judge", "model", "dimension", "dataset"):
        names = facts.names(factor)
        yield Finding("contents", f"{factor}s", f"{counted(len(names), factor)}: {enumerated(names, most=12)}", len(names))
    yield Finding("contents", "prompts", counted(facts.prompts, "prompt"), facts.prompts)


def _names(facts: Facts) -> Iterator[Finding]:
    """Say which judges are models too, and which models have no judge."""
    judges, models = facts.names("judge"), facts.names("model")
    both = [judge for judge in judges if judge in models]
    rated = "is rated as a model, too" if len(judges) == 1 else "are rated as models, too"
    yield Finding("names", "", f"{len(both)} of {counted(len(judges), 'judge')} {rated}", len(both))
    others, alone = ([name for name in those if name not in both] for those in (judges, models))
    if others:
        yield Finding("names", "judges", f"not rated as models: {enumerated(others, most=12)}", len(others))
    if alone:
        yield Finding("names", "models", f"models that are no judges here: {enumerated(alone, most=12)}", len(alone))


def _families(facts: Facts) -> Iterator[Finding]:
    """Say how many judges and models each family of a judge or a model has."""
    family, judges, models = facts.families(), facts.names("judge"), facts.names("model")
    for name in sorted(set(family.values())):
        of_judges = [judge for judge in judges if family[judge] == name]
        of_models = [model for model in models if family[model] == name]
        pairs = sum(judge != model for judge in of_judges for model in of_models)
        words = f"{name}: {counted(len(of_judges), 'judge')}, {counted(len(of_models), 'model')}"
        words += f"; {counted(pairs, 'pair')} of a judge and a sibling" if of_judges else ""
        yield Finding("families", name, words, pairs)


def _lengths(facts: Facts) -> Iterator[Finding]:
    """Say whether the ratings have lengths, and how many rows have none where others have one: they are left out."""
    if facts.with_length:
        share = facts.with_length / facts.rows
        yield Finding("lengths", "", f"{percent(share)} of the rows have the length of the completion", share)
    else:
        advice = "add a column pred_length (tokens) if longer answers may be favoured for their length"
        yield Finding("lengths", "", "no row has the length of the completion: no control for length", 0.0, NOTE, advice)
    lost = facts.completeness["missing_length"].sum()
    if lost:
        share = float(lost / facts.present.sum())
        words = f"{percent(share)} of the rows have no length of the completion, and are left out"
        yield Finding("lengths", "missing", words, share, WARNING if share >= SHARE["warning"] else NOTE, LENGTH, weight=share)
