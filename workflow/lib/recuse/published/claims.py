"""The sentences of Play Favorites that state a result, each judged on a study's tables and on the paper's own numbers.

They are those of the abstract, Sections 4.3 to 7 and, on HELM-Instruct, Section C.2. A criterion yields findings, each true or
false of one number, or of one number compared with another.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from recuse.base.tables import read_table
from recuse.data.registry import HUMAN
from recuse.published.results import AbsentError, Results, Value
from recuse.published.values import DIMENSIONS, ESTIMANDS, JUDGES

HOLDS, FAILS, ABSENT = "holds", "fails", "data absent"
NO_HELM = "no ratings of HELM-Instruct but a simulated placeholder, with biases that are declared"
NOTHING_LEFT = "no number that the criterion asks for"
LISTED = 12  # findings written out; of more, the first ones against the claim


class Finding(NamedTuple):
    """Whether one thing that a claim needs holds, and the numbers that decide it."""

    holds: bool
    text: str


Findings = Iterator[Finding]
Criterion = Callable[[Results], Findings]
Test = Callable[[Value], bool]
Quorum = Callable[[Sequence[bool]], bool]
Names = Sequence[str]


def criterion(find: Callable[..., Findings]) -> Callable[..., Criterion]:
    """Turn `find(results, ...)` into `find(...)`, a function of the results."""

    @wraps(find)
    def of_settings(*args, **settings) -> Criterion:
        return lambda results: find(results, *args, **settings)

    return of_settings


def most(verdicts: Sequence[bool]) -> bool:
    """More than half."""
    return sum(verdicts) > len(verdicts) / 2


def three_quarters(verdicts: Sequence[bool]) -> bool:
    """At least three quarters."""
    return sum(verdicts) >= 0.75 * len(verdicts)


def within(limit: float, of: float = 0.0) -> Test:
    """The estimate is at most `limit` from a number."""
    return lambda value: abs(value.value - of) <= limit


@criterion
def estimates_pass(
    results: Results, test: Test, terms: Names, *, quantity: str = "self_bias", spec: str = "main", slices: Names | None = ("",)
) -> Findings:
    """`test` of the estimate of each term in each slice, by default the whole; None: in every slice that has it."""
    for term in terms:
        for name in results.slices(spec, quantity, term) if slices is None else slices:
            value = results.estimate(spec, name, quantity, term)
            yield Finding(test(value), f"{term}{f' ({name})' if name else ''} {value}")


@criterion
def in_slices(results: Results, test: Test, terms: Names, *, spec: str, words: str, quorum: Quorum = any) -> Findings:
    """`test`, in words, of the self-bias of each term in `quorum` of the slices of a spec."""
    for term in terms:
        slices = results.slices(spec, "self_bias", term)
        passed = [name for name in slices if test(results.estimate(spec, name, "self_bias", term))]
        text = f"{term} {words} in {', '.join(passed) or 'none'} ({len(passed)} of {len(slices)} slices of {spec})"
        yield Finding(quorum([name in passed for name in slices]), text)


@criterion
def stands_out(results: Results, dimension: str, terms: Names, *, lowest: bool = False) -> Findings:
    """Each judge's self-bias in one dimension is the highest (or lowest) of all dimensions; the next one is named."""
    for term in terms:
        biases = {name: results.estimate("by_dimension", name, "self_bias", term).value for name in DIMENSIONS}
        bias = biases.pop(dimension)
        other = (min if lowest else max)(biases, key=biases.get)
        beyond = bias < biases[other] if lowest else bias > biases[other]
        yield Finding(beyond, f"{term} {bias:+.4f} in {dimension}, {biases[other]:+.4f} in {other}")


@criterion
def compared(
    results: Results,
    test: Callable[[Value, Value], bool],
    terms: Names,
    *,
    to: str,
    quantity: str = "self_bias",
    spec: str = "main",
    slices: tuple[str, str] = ("", ""),
    among: Test | None = None,
) -> Findings:
    """`test` of each term's estimates in `spec` and `to`, in one slice of each; only of terms that pass `among` in `spec`."""
    pair = list(zip((spec, to), slices, strict=True))
    first, second = (", ".join(filter(None, where)) for where in pair)
    for term in terms:
        before, after = (results.estimate(*where, quantity, term) for where in pair)
        if among is None or among(before):
            yield Finding(test(before, after), f"{quantity} of {term} {before} in {first}, {after} in {second}")


@criterion
def consistent_references(results: Results, terms: Names) -> Findings:
    """The sign of each judge's self-bias, where clear in `main`, holds under every family's judges as the reference."""
    for term in terms:
        for family in results.slices(REFERENCE, "self_bias", term):
            yield from compared(Value.same_sign, [term], to=REFERENCE, slices=("", family), among=Value.clear_of_zero)(results)


def mean_spearman(results: Results, judges: Names, dimensions: Names) -> float:
    """The mean over judges and dimensions of Spearman's correlation with the humans."""
    return fmean(results.spearman(dimension, judge) for judge, dimension in product(judges, dimensions))


@criterion
def strongest_judges(results: Results, judges: Names) -> Findings:
    """Each of `judges` has a higher mean Spearman over the dimensions than every other judge."""
    means = {judge: mean_spearman(results, [judge], DIMENSIONS) for judge in JUDGES}
    best = max((judge for judge in JUDGES if judge not in judges), key=means.get)
    for judge in judges:
        text = f"{judge} {means[judge]:.3f}, best of the others {best} {means[best]:.3f}"
        yield Finding(means[judge] > means[best], text)


@criterion
def stronger_dimensions(results: Results, dimensions: Names) -> Findings:
    """Mean Spearman over the judges is higher in each of `dimensions` than on average in the others."""
    rest = mean_spearman(results, JUDGES, [name for name in DIMENSIONS if name not in dimensions])
    for name in dimensions:
        mean = mean_spearman(results, JUDGES, [name])
        yield Finding(mean > rest, f"{name} {mean:.3f}, the other dimensions {rest:.3f}")


@criterion
def some_spearman_above(results: Results, limit: float, dimensions: Names) -> Findings:
    """In each of `dimensions` at least one judge has a Spearman correlation above `limit`."""
    for name in dimensions:
        correlations = {judge: results.spearman(name, judge) for judge in JUDGES}
        best = max(correlations, key=correlations.get)
        yield Finding(correlations[best] > limit, f"{name}: highest {correlations[best]:.3f} ({best})")


@criterion
def raters_agree(results: Results, statistic: str, test: Test, dimensions: Names = ("",)) -> Findings:
    """`test` of a statistic of the human raters in each dimension; "" is the average."""
    for name in dimensions:
        value = results.raters(name, statistic)
        yield Finding(test(value), f"{statistic} {value.value:.3f} in {name or 'the average of dimensions'}")


@criterion
def means_cluster(results: Results, low: float, high: float) -> Findings:
    """Each judge's mean of each model, to two decimals, lies between `low` and `high`."""
    for judge, model in product(JUDGES, JUDGES):
        mean = round(results.mean("", judge, model), 2)
        yield Finding(low <= mean <= high, f"{judge} on {model} {mean:.2f}")


@criterion
def own_is_top(results: Results, judges: Names) -> Findings:
    """Each judge's mean of itself is the highest of its row or of its column, within half of 0.01."""
    for judge in judges:
        own = results.mean("", judge, judge)
        row = max(results.mean("", judge, model) for model in JUDGES)
        column = max(results.mean("", other, judge) for other in JUDGES)
        text = f"{judge} {own:.3f}, highest of its row {row:.3f}, of its column {column:.3f}"
        yield Finding(own > min(row, column) - 0.005, text)


@criterion
def human_gap_near(results: Results, gap: float, models: tuple[str, str]) -> Findings:
    """The first model's mean by the humans is `gap` above the second one's, to within 0.01."""
    difference = human_gap(results, models)
    yield Finding(abs(difference - gap) <= 0.01, f"gap of the human means {difference:.3f}")


@criterion
def bias_like_gap(results: Results, judges: Names, models: tuple[str, str]) -> Findings:
    """Each judge's self-bias is within 0.01 of the gap between the humans' means of two models."""
    gap = human_gap(results, models)
    for judge in judges:
        value = results.estimate("main", "", "self_bias", judge)
        yield Finding(within(0.01, of=gap)(value), f"self-bias of {judge} {value.value:.4f}, gap {gap:.3f}")


def human_gap(results: Results, models: tuple[str, str]) -> float:
    """The humans' mean of the first model less that of the second."""
    first, second = (results.mean("", HUMAN, model) for model in models)
    return first - second


@criterion
def humans_differ_little(results: Results, limit: float, dimension: str) -> Findings:
    """The human raters' means of any two models in a dimension are at most `limit` apart."""
    means = [results.mean(dimension, HUMAN, model) for model in JUDGES]
    spread = max(means) - min(means)
    yield Finding(spread <= limit, f"human means differ by {spread:.3f}")


@criterion
def below_the_humans(results: Results, judges: Names, dimension: str) -> Findings:
    """Each judge's means in a dimension are below the humans', for every model; the nearest one is named."""
    human = {model: results.mean(dimension, HUMAN, model) for model in JUDGES}
    for judge in judges:
        means = {model: results.mean(dimension, judge, model) for model in JUDGES}
        nearest = max(JUDGES, key=lambda model: means[model] - human[model])
        text = f"{judge} on {nearest} {means[nearest]:.3f}, humans {human[nearest]:.3f}"
        yield Finding(means[nearest] < human[nearest], text)


@criterion
def lower_for_itself(results: Results, judges: Names, dimension: str) -> Findings:
    """Each judge's mean of itself in a dimension is below its mean of the other models."""
    for judge in judges:
        own = results.mean(dimension, judge, judge)
        others = fmean(results.mean(dimension, judge, model) for model in JUDGES if model != judge)
        yield Finding(own < others, f"{judge} on itself {own:.3f}, on the others {others:.3f}")


@criterion
def gpt_4_is_larger(results: Results, gpt_4: str, claude: str) -> Findings:
    """The first judge's self-bias is larger than the second one's."""
    one, other = (results.estimate("main", "", "self_bias", judge) for judge in (gpt_4, claude))
    yield Finding(one.value > other.value, f"GPT-4 {one}, Claude v1.3 {other}")


SONNET, LLAMA_8B = "Claude 3.5 Sonnet", "Llama 3 8B"
CLEAREST = ("GPT-4o", SONNET)
FAVOUR_THEMSELVES = ("GPT-3.5 Turbo", *CLEAREST)
LLAMA = (LLAMA_8B, "Llama 3 70B")
CONSISTENT = [judge for judge in JUDGES if judge not in LLAMA]
KEPT = [judge for judge in JUDGES if judge not in (LLAMA_8B, "Mistral 7B")]  # without the weak models
SMALL = [judge for judge in JUDGES if judge not in (*FAVOUR_THEMSELVES, LLAMA_8B)]
FAMILIES = ("Claude", "GPT", "Llama 3", "Mistral")
FAVOURED = ("Claude", "GPT")
AGREED = ("Completeness", "Helpfulness")  # the dimensions on which raters agree best
FAITHFULNESS = ("Faithfulness",)
AS_CODED = "length_control_as_coded"
LENGTH_ALONE = "length_alone"  # in no config of the project: no figure and no published number is made of it
WEAK = "weak_models_dropped_as_coded"
REFERENCE = "llm_reference_as_coded"
BY_REFERENCE = {"spec": REFERENCE, "slices": None}
BY_DIMENSION = {"spec": "by_dimension"}
FAMILY = {"quantity": "family_bias"}
LENGTH = {"quantity": "length"}
HELM_JUDGES = ("GPT-4 (0314)", "Claude v1.3")
HELM_DIMENSIONS = ("Completeness", "Conciseness", "Harmlessness", "Helpfulness", "Understandability")


def both(test: Callable[[Value, Value], bool], to: str, **settings) -> list[Criterion]:
    """`test` of self- and family-biases in main, or another spec, and in `to`."""
    return [compared(test, JUDGES, to=to, **settings), compared(test, FAMILIES, to=to, **FAMILY, **settings)]


CRITERIA: dict[str, list[Criterion]] = {  # of a claim by its name; workflow/data/play_favorites_claims.csv has their words
    "gpt_4o_and_sonnet_favour_themselves_and_family": [
        estimates_pass(Value.above_zero, CLEAREST),
        estimates_pass(Value.above_zero, ("GPT", "Claude"), **FAMILY),
    ],
    "accuracy_over_84": [raters_agree("accuracy", lambda share: round(share.value, 2) >= 0.84, DIMENSIONS)],
    "accuracy_average": [raters_agree("accuracy", within(0.01, of=0.91))],
    "alpha_average": [
        raters_agree("krippendorff_alpha", within(0.01, of=0.28)),
        raters_agree("krippendorff_alpha", within(0.01, of=0.47), AGREED),
    ],
    "pairs_of_raters_agree": [raters_agree("observed_agreement", within(0.01, of=0.81))],
    "all_three_raters_agree": [raters_agree("full_agreement", within(0.01, of=0.81))],
    "strong_judges_correlate_more": [strongest_judges(CLEAREST)],
    "agreed_dimensions_correlate_more": [stronger_dimensions(AGREED)],
    "rho_above_0_4": [some_spearman_above(0.4, AGREED)],
    "scores_cluster": [means_cluster(0.9, 1)],
    "own_scores_look_high": [own_is_top(("Claude v2", "GPT-3.5 Turbo"))],
    "gpt_and_sonnet_favour_themselves": [estimates_pass(Value.above_zero, FAVOUR_THEMSELVES)],
    "weaker_claude_almost_none": [estimates_pass(within(0.01), ("Claude v2", "Claude 3 Sonnet"))],
    "llama_8b_negative": [estimates_pass(Value.below_zero, [LLAMA_8B])],
    "claude_and_gpt_favour_family": [estimates_pass(Value.above_zero, FAVOURED, **FAMILY)],
    "llama_and_mistral_do_not": [estimates_pass(Value.not_above_zero, ("Llama 3", "Mistral"), **FAMILY)],
    "gap_is_as_large_as_bias": [human_gap_near(0.02, (SONNET, "GPT-4o")), bias_like_gap(CLEAREST, (SONNET, "GPT-4o"))],
    "consistent_over_dimensions": [
        in_slices(lambda bias: bias.none_or_small(0.03), CONSISTENT, **BY_DIMENSION, words="none or small", quorum=most)
    ],
    "outlier_logical_correctness": [stands_out("Logical correctness", FAVOUR_THEMSELVES)],
    "outlier_faithfulness": [stands_out("Faithfulness", ["Mistral Large"])],
    "llama_8b_faithfulness": [
        estimates_pass(Value.below_zero, [LLAMA_8B], **BY_DIMENSION, slices=FAITHFULNESS),
        stands_out("Faithfulness", [LLAMA_8B], lowest=True),
    ],
    "llama_marks_faithfulness_low": [
        humans_differ_little(0.02, "Faithfulness"),
        below_the_humans(LLAMA, "Faithfulness"),
        lower_for_itself(LLAMA, "Faithfulness"),
    ],
    "open_ended_higher": [
        compared(Value.larger, JUDGES, spec="by_task_type", to="by_task_type", slices=("open-ended qa", "summarization"))
    ],
    "only_some_dimensions_and_datasets": [
        in_slices(test, CLEAREST, spec=spec, words=words)
        for spec in ("by_dimension", "by_dataset")
        for test, words in ((Value.above_zero, "above 0"), (Value.not_above_zero, "not above 0"))
    ],
    "mostly_consistent": [
        compared(Value.same_sign, JUDGES, to=AS_CODED, among=Value.clear_of_zero),
        compared(Value.same_sign, KEPT, to=WEAK, among=Value.clear_of_zero),
        consistent_references(JUDGES),
    ],
    "length_control_same_conclusions": both(Value.same_conclusion, AS_CODED),
    "length_control_same_estimates": both(Value.holds, AS_CODED),
    "length_goes_with_ratings": [estimates_pass(Value.positive, JUDGES, **LENGTH, spec=LENGTH_ALONE, slices=("", *DIMENSIONS))],
    "length_effect_disappears": [estimates_pass(within(0.01), JUDGES, **LENGTH, spec=AS_CODED)],
    "global_length_comparable": both(
        lambda one, two: abs(one.value - two.value) <= 0.005, "length_control_global", spec=AS_CODED
    ),
    "ordinal_positive": [estimates_pass(Value.positive, FAVOUR_THEMSELVES, spec="ordinal_as_coded", slices=DIMENSIONS)],
    "ordinal_llama_faithfulness": [estimates_pass(Value.below_zero, LLAMA, spec="ordinal_as_coded", slices=FAITHFULNESS)],
    "gam_same_conclusions": [
        estimates_pass(Value.above_zero, FAVOUR_THEMSELVES, spec="gam"),
        estimates_pass(Value.below_zero, [LLAMA_8B], spec="gam"),
        estimates_pass(Value.above_zero, FAVOURED, **FAMILY, spec="gam"),
    ],
    "llm_reference_self": [estimates_pass(Value.above_zero, FAVOUR_THEMSELVES, **BY_REFERENCE)],
    "llm_reference_llama_8b": [estimates_pass(Value.below_zero, [LLAMA_8B], **BY_REFERENCE)],
    "llm_reference_others_small": [estimates_pass(within(0.01), SMALL, **BY_REFERENCE)],
    "llm_reference_family": [estimates_pass(Value.above_zero, FAVOURED, **FAMILY, **BY_REFERENCE)],
    "weak_models_decrease": [compared(lambda one, two: abs(two.value) < abs(one.value), KEPT, to=WEAK)],
    "weak_models_self": [estimates_pass(Value.above_zero, CLEAREST, spec=WEAK)],
    "weak_models_family": [estimates_pass(Value.positive, FAVOURED, **FAMILY, spec=WEAK)],
    "helm_positive": [estimates_pass(Value.positive, HELM_JUDGES)],
    "helm_gpt_4_larger": [gpt_4_is_larger(*HELM_JUDGES)],
    "helm_gpt_family": [estimates_pass(Value.above_zero, ["GPT"], **FAMILY)],
}
QUORUMS = {"scores_cluster": most, "open_ended_higher": most, "mostly_consistent": three_quarters}  # of others: all
# The dimensions that a claim rests on where these are not the paper's six.
DIMENSIONS_OF = {
    "rho_above_0_4": AGREED,
    **dict.fromkeys(("llama_marks_faithfulness_low", "ordinal_llama_faithfulness"), FAITHFULNESS),
    **dict.fromkeys(("helm_positive", "helm_gpt_4_larger", "helm_gpt_family"), HELM_DIMENSIONS),
}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that states a result, in this project's words, and what it is taken to mean."""

    name: str
    section: str
    sentence: str
    criterion: str

    @property
    def dimensions(self) -> Sequence[str]:
        """The dimensions that its numbers rest on; a study without one of them has no data for it."""
        return DIMENSIONS_OF.get(self.name, DIMENSIONS)

    @property
    def estimand(self) -> str:
        """What the biases are gaps to that it rests on, by the specs in its criterion; "" for a claim of other numbers."""
        specs = [word for word in re.findall(r"\w+", self.criterion) if word in ESTIMANDS]
        return "; ".join(dict.fromkeys(ESTIMANDS[spec] for spec in specs))


def read_claims(path: str | Path) -> list[Claim]:
    """Read the claims from a CSV file with the fields of `Claim` as columns."""
    return [Claim(**row) for row in read_table(path)]


def judged(claim: Claim, results: Results) -> tuple[str, str]:
    """Return the verdict on a claim, HOLDS, FAILS or ABSENT, and the evidence: the numbers that decide it, or what is missing.

    The claim holds if all findings of its CRITERIA do, or as many as QUORUMS says.
    """
    missing = [dimension for dimension in claim.dimensions if dimension not in results.dimensions]
    if missing:
        return ABSENT, f"no ratings of {', '.join(missing)}"
    try:
        findings = [finding for part in CRITERIA[claim.name] for finding in part(results)]
    except AbsentError as error:
        return ABSENT, str(error)
    if not findings:
        return ABSENT, NOTHING_LEFT
    holds = QUORUMS.get(claim.name, all)([finding.holds for finding in findings])
    return HOLDS if holds else FAILS, evidence(findings)


def evidence(findings: Sequence[Finding]) -> str:
    """Count and list findings: those against the claim first, and those for it only where there is room."""
    against = [finding.text for finding in findings if not finding.holds]
    support = [finding.text for finding in findings if finding.holds] if len(findings) <= LISTED else []
    more = [f"and {len(against) - LISTED} more"] if len(against) > LISTED else []
    parts = [f"{len(findings) - len(against)} of {len(findings)}"]
    parts += [f"against: {'; '.join(against[:LISTED] + more)}"] if against else []
    parts += [f"for: {'; '.join(support)}"] if support else []
    return ". ".join(parts)


def judged_claims(
    claims: Sequence[Claim], study: str, results: Results, published: Results, *, kind: str, helm: Results | None = None
) -> Iterator[dict]:
    """Yield the rows of the claims table: each claim's verdict on the study, and on the published values.

    kind: simulated, published or user, what the ratings of `results` are. helm: what a user's ratings of HELM-Instruct give, on
    which the claims of section C.2 are judged for every study; None where there are none, and these claims have no data.
    """
    for claim in claims:
        ratings, origin = results, kind
        if claim.dimensions == HELM_DIMENSIONS:
            ratings, origin = helm, "user" if helm else "simulated"
        verdict, words = judged(claim, ratings) if ratings else (ABSENT, NO_HELM)
        published_verdict, published_evidence = judged(claim, published)
        yield {
            "study": study,
            "claim": claim.name,
            "section": claim.section,
            "sentence": claim.sentence,
            "criterion": claim.criterion,
            "estimand": claim.estimand,
            "kind": origin,
            "verdict": verdict,
            "evidence": words,
            "published": published_verdict,
            "published_evidence": published_evidence,
        }
