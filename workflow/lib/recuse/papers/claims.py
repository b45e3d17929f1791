"""The sentences of Play Favorites that state a result, each judged on a study's tables and on the
paper's own numbers.

They are those of the abstract, Sections 4.3 to 7 and, on HELM-Instruct, Section C.2. A criterion
yields findings, each true or false of one number, or of one number compared with another.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from recuse.base.tables import column_names, read_table
from recuse.data.registry import HUMAN
from recuse.papers.results import AbsentError, Results, Value
from recuse.papers.values import DIMENSIONS, ESTIMANDS, JUDGES

CLAIMS = column_names(
    "study claim section sentence criterion estimand kind verdict evidence published",
    "published_evidence",
)

HOLDS, FAILS, ABSENT = "holds", "fails", "data absent"
NO_HELM = "no ratings of HELM-Instruct but a simulated placeholder, with biases that are declared"
NOTHING_LEFT = "no number that the criterion asks for"
LISTED = 12  # findings written out; of more, the first ones against the claim


class ClaimFinding(NamedTuple):
    """Whether one thing that a claim needs holds, and the numbers that decide it."""

    holds: bool
    text: str


ClaimFindings = Iterator[ClaimFinding]
_Criterion = Callable[[Results], ClaimFindings]
_Test = Callable[[Value], bool]
Quorum = Callable[[Sequence[bool]], bool]
_Names = Sequence[str]


def criterion(find: Callable[..., ClaimFindings]) -> Callable[..., _Criterion]:
    """Turn `find(results, ...)` into `find(...)`, a function of the results."""

    @wraps(find)
    def with_settings(*args, **settings) -> _Criterion:
        return lambda results: find(results, *args, **settings)

    return with_settings


def most(verdicts: Sequence[bool]) -> bool:
    """More than half."""
    return sum(verdicts) > len(verdicts) / 2


def three_quarters(verdicts: Sequence[bool]) -> bool:
    """At least three quarters."""
    return sum(verdicts) >= 0.75 * len(verdicts)


def within(limit: float, of: float = 0.0) -> _Test:
    """The estimate is at most `limit` from a number."""
    return lambda value: abs(value.value - of) <= limit


@criterion
def estimates_pass(
    results: Results,
    test: _Test,
    terms: _Names,
    *,
    quantity: str = "self_bias",
    spec: str = "main",
    slices: _Names | None = ("",),
) -> ClaimFindings:
    """`test` of the estimate of each term in each slice, by default the whole; None: in every slice
    that has it.
    """
    for term in terms:
        for name in results.slices(spec, quantity, term) if slices is None else slices:
            value = results.find("estimates", spec, name, quantity, term)
            yield ClaimFinding(test(value), f"{term}{f' ({name})' if name else ''} {value}")


@criterion
def in_slices(
    results: Results, test: _Test, terms: _Names, *, spec: str, words: str, quorum: Quorum = any
) -> ClaimFindings:
    """`test`, in words, of the self-bias of each term in `quorum` of the slices of a spec."""
    for term in terms:
        slices = results.slices(spec, "self_bias", term)
        passed = [
            name
            for name in slices
            if test(results.find("estimates", spec, name, "self_bias", term))
        ]
        text = (
            f"{term} {words} in {', '.join(passed) or 'none'} ({len(passed)} of {len(slices)}"
            f" slices of {spec})"
        )
        yield ClaimFinding(quorum([name in passed for name in slices]), text)


@criterion
def stands_out(
    results: Results, dimension: str, terms: _Names, *, lowest: bool = False
) -> ClaimFindings:
    """Each judge's self-bias in one dimension is the highest (or lowest) of all dimensions; the
    next one is named.
    """
    for term in terms:
        biases = {
            name: results.find("estimates", "by_dimension", name, "self_bias", term).value
            for name in DIMENSIONS
        }
        bias = biases.pop(dimension)
        other = (min if lowest else max)(biases, key=biases.get)
        beyond = bias < biases[other] if lowest else bias > biases[other]
        yield ClaimFinding(
            beyond, f"{term} {bias:+.4f} in {dimension}, {biases[other]:+.4f} in {other}"
        )


@criterion
def compared_terms(
    results: Results,
    test: Callable[[Value, Value], bool],
    terms: _Names,
    *,
    to: str,
    quantity: str = "self_bias",
    spec: str = "main",
    slices: tuple[str, str] = ("", ""),
    among: _Test | None = None,
) -> ClaimFindings:
    """`test` of each term's estimates in `spec` and `to`, in one slice of each; only of terms that
    pass `among` in `spec`.
    """
    pair = list(zip((spec, to), slices, strict=True))
    first, second = (", ".join(filter(None, where)) for where in pair)
    for term in terms:
        before, after = (results.find("estimates", *where, quantity, term) for where in pair)
        if among is None or among(before):
            yield ClaimFinding(
                test(before, after),
                f"{quantity} of {term} {before} in {first}, {after} in {second}",
            )


@criterion
def raters_agree(
    results: Results, statistic: str, test: _Test, dimensions: _Names = ("",)
) -> ClaimFindings:
    """`test` of a statistic of the human raters in each dimension; "" is the average."""
    for name in dimensions:
        value = results.find("agreement", name, statistic)
        yield ClaimFinding(
            test(value), f"{statistic} {value.value:.3f} in {name or 'the average of dimensions'}"
        )


SONNET, LLAMA_8B = "Claude 3.5 Sonnet", "Llama 3 8B"
CLEAREST = ("GPT-4o", SONNET)
FAVOUR_THEMSELVES = ("GPT-3.5 Turbo", *CLEAREST)
LLAMA = (LLAMA_8B, "Llama 3 70B")
CONSISTENT = [judge for judge in JUDGES if judge not in LLAMA]
# Without the weak models
KEPT = [judge for judge in JUDGES if judge not in (LLAMA_8B, "Mistral 7B")]
SMALL = [judge for judge in JUDGES if judge not in (*FAVOUR_THEMSELVES, LLAMA_8B)]
FAMILIES = ("Claude", "GPT", "Llama 3", "Mistral")
FAVOURED = ("Claude", "GPT")
AGREED = ("Completeness", "Helpfulness")  # the dimensions on which raters agree best
FAITHFULNESS = ("Faithfulness",)
AS_CODED = "length_control_as_coded"
# In no config of the project: no figure and no published number is made of it
LENGTH_ALONE = "length_alone"
WEAK = "weak_models_dropped_as_coded"
REFERENCE = "llm_reference_as_coded"
BY_REFERENCE = {"spec": REFERENCE, "slices": None}
BY_DIMENSION = {"spec": "by_dimension"}
FAMILY = {"quantity": "family_bias"}
LENGTH = {"quantity": "length"}
HELM_JUDGES = ("GPT-4 (0314)", "Claude v1.3")
HELM_DIMENSIONS = (
    "Completeness",
    "Conciseness",
    "Harmlessness",
    "Helpfulness",
    "Understandability",
)


def consistent_references(results: Results) -> ClaimFindings:
    """The sign of each judge's self-bias, where clear in `main`, holds under every family's judges
    as the reference.
    """
    for judge in JUDGES:
        for family in results.slices(REFERENCE, "self_bias", judge):
            yield from compared_terms(
                Value.same_sign,
                [judge],
                to=REFERENCE,
                slices=("", family),
                among=Value.clear_of_zero,
            )(results)


def mean_spearman(results: Results, judges: _Names, dimensions: _Names) -> float:
    """The mean over judges and dimensions of Spearman's correlation with the humans."""
    return fmean(
        results.find("correlations", dimension, judge, "spearman").value
        for judge, dimension in product(judges, dimensions)
    )


def strong_judges_correlate_more(results: Results) -> ClaimFindings:
    """Each of the strong judges has a higher mean Spearman over the dimensions than every other
    judge.
    """
    means = {judge: mean_spearman(results, [judge], DIMENSIONS) for judge in JUDGES}
    best = max((judge for judge in JUDGES if judge not in CLEAREST), key=means.get)
    for judge in CLEAREST:
        text = f"{judge} {means[judge]:.3f}, best of the others {best} {means[best]:.3f}"
        yield ClaimFinding(means[judge] > means[best], text)


def agreed_dimensions_correlate_more(results: Results) -> ClaimFindings:
    """Mean Spearman over the judges is higher in each of the agreed dimensions than on average in
    the others.
    """
    rest = mean_spearman(results, JUDGES, [name for name in DIMENSIONS if name not in AGREED])
    for name in AGREED:
        mean = mean_spearman(results, JUDGES, [name])
        yield ClaimFinding(mean > rest, f"{name} {mean:.3f}, the other dimensions {rest:.3f}")


def rho_above_0_4(results: Results) -> ClaimFindings:
    """In each of the agreed dimensions at least one judge has a Spearman correlation above 0.4."""
    for name in AGREED:
        correlations = {
            judge: results.find("correlations", name, judge, "spearman").value for judge in JUDGES
        }
        best = max(correlations, key=correlations.get)
        yield ClaimFinding(
            correlations[best] > 0.4, f"{name}: highest {correlations[best]:.3f} ({best})"
        )


def scores_cluster(results: Results) -> ClaimFindings:
    """Each judge's mean of each model, to two decimals, lies between 0.9 and 1."""
    for judge, model in product(JUDGES, JUDGES):
        mean = round(results.mean("", judge, model), 2)
        yield ClaimFinding(0.9 <= mean <= 1, f"{judge} on {model} {mean:.2f}")


def own_scores_look_high(results: Results) -> ClaimFindings:
    """Each judge's mean of itself is the highest of its row or of its column, within half of
    0.01.
    """
    for judge in ("Claude v2", "GPT-3.5 Turbo"):
        self_mean = results.mean("", judge, judge)
        row = max(results.mean("", judge, model) for model in JUDGES)
        column = max(results.mean("", other, judge) for other in JUDGES)
        text = f"{judge} {self_mean:.3f}, highest of its row {row:.3f}, of its column {column:.3f}"
        yield ClaimFinding(self_mean > min(row, column) - 0.005, text)


def human_gap(results: Results) -> float:
    """The humans' mean of Claude 3.5 Sonnet less that of GPT-4o."""
    return results.mean("", HUMAN, SONNET) - results.mean("", HUMAN, "GPT-4o")


def human_gap_is_0_02(results: Results) -> ClaimFindings:
    """The gap is 0.02, to within 0.01."""
    gap = human_gap(results)
    yield ClaimFinding(abs(gap - 0.02) <= 0.01, f"gap of the human means {gap:.3f}")


def bias_like_gap(results: Results) -> ClaimFindings:
    """The self-bias of each of the two judges is within 0.01 of the gap."""
    gap = human_gap(results)
    for judge in CLEAREST:
        value = results.find("estimates", "main", "", "self_bias", judge)
        yield ClaimFinding(
            within(0.01, of=gap)(value), f"self-bias of {judge} {value.value:.4f}, gap {gap:.3f}"
        )


def humans_differ_little(results: Results) -> ClaimFindings:
    """The human raters' means of any two models in Faithfulness are at most 0.02 apart."""
    means = [results.mean("Faithfulness", HUMAN, model) for model in JUDGES]
    spread = max(means) - min(means)
    yield ClaimFinding(spread <= 0.02, f"human means differ by {spread:.3f}")


def llama_below_the_humans(results: Results) -> ClaimFindings:
    """Each Llama judge's means in Faithfulness are below the humans', for every model; the nearest
    one is named.
    """
    human = {model: results.mean("Faithfulness", HUMAN, model) for model in JUDGES}
    for judge in LLAMA:
        means = {model: results.mean("Faithfulness", judge, model) for model in JUDGES}
        nearest = max(JUDGES, key=lambda model: means[model] - human[model])
        text = f"{judge} on {nearest} {means[nearest]:.3f}, humans {human[nearest]:.3f}"
        yield ClaimFinding(means[nearest] < human[nearest], text)


def llama_lower_for_itself(results: Results) -> ClaimFindings:
    """Each Llama judge's mean of itself in Faithfulness is below its mean of the other models."""
    for judge in LLAMA:
        self_mean = results.mean("Faithfulness", judge, judge)
        others = fmean(
            results.mean("Faithfulness", judge, model) for model in JUDGES if model != judge
        )
        yield ClaimFinding(
            self_mean < others, f"{judge} on itself {self_mean:.3f}, on the others {others:.3f}"
        )


def helm_gpt_4_larger(results: Results) -> ClaimFindings:
    """GPT-4's self-bias is larger than that of Claude v1.3."""
    one, other = (
        results.find("estimates", "main", "", "self_bias", judge) for judge in HELM_JUDGES
    )
    yield ClaimFinding(one.value > other.value, f"GPT-4 {one}, Claude v1.3 {other}")


def both(test: Callable[[Value, Value], bool], to: str, **settings) -> list[_Criterion]:
    """`test` of self- and family-biases in main, or another spec, and in `to`."""
    return [
        compared_terms(test, JUDGES, to=to, **settings),
        compared_terms(test, FAMILIES, to=to, **FAMILY, **settings),
    ]


# Of a claim by its name; workflow/data/play_favorites_claims.csv has their words
CRITERIA: dict[str, list[_Criterion]] = {
    "gpt_4o_and_sonnet_favour_themselves_and_family": [
        estimates_pass(Value.above_zero, CLEAREST),
        estimates_pass(Value.above_zero, ("GPT", "Claude"), **FAMILY),
    ],
    "accuracy_over_84": [
        raters_agree("accuracy", lambda share: round(share.value, 2) >= 0.84, DIMENSIONS)
    ],
    "accuracy_average": [raters_agree("accuracy", within(0.01, of=0.91))],
    "alpha_average": [
        raters_agree("krippendorff_alpha", within(0.01, of=0.28)),
        raters_agree("krippendorff_alpha", within(0.01, of=0.47), AGREED),
    ],
    "pairs_of_raters_agree": [raters_agree("observed_agreement", within(0.01, of=0.81))],
    "all_three_raters_agree": [raters_agree("full_agreement", within(0.01, of=0.81))],
    "strong_judges_correlate_more": [strong_judges_correlate_more],
    "agreed_dimensions_correlate_more": [agreed_dimensions_correlate_more],
    "rho_above_0_4": [rho_above_0_4],
    "scores_cluster": [scores_cluster],
    "own_scores_look_high": [own_scores_look_high],
    "gpt_and_sonnet_favour_themselves": [estimates_pass(Value.above_zero, FAVOUR_THEMSELVES)],
    "weaker_claude_almost_none": [estimates_pass(within(0.01), ("Claude v2", "Claude 3 Sonnet"))],
    "llama_8b_negative": [estimates_pass(Value.below_zero, [LLAMA_8B])],
    "claude_and_gpt_favour_family": [estimates_pass(Value.above_zero, FAVOURED, **FAMILY)],
    "llama_and_mistral_do_not": [
        estimates_pass(Value.not_above_zero, ("Llama 3", "Mistral"), **FAMILY)
    ],
    "gap_is_as_large_as_bias": [human_gap_is_0_02, bias_like_gap],
    "consistent_over_dimensions": [
        in_slices(
            lambda bias: bias.none_or_small(0.03),
            CONSISTENT,
            **BY_DIMENSION,
            words="none or small",
            quorum=most,
        )
    ],
    "outlier_logical_correctness": [stands_out("Logical correctness", FAVOUR_THEMSELVES)],
    "outlier_faithfulness": [stands_out("Faithfulness", ["Mistral Large"])],
    "llama_8b_faithfulness": [
        estimates_pass(Value.below_zero, [LLAMA_8B], **BY_DIMENSION, slices=FAITHFULNESS),
        stands_out("Faithfulness", [LLAMA_8B], lowest=True),
    ],
    "llama_marks_faithfulness_low": [
        humans_differ_little,
        llama_below_the_humans,
        llama_lower_for_itself,
    ],
    "open_ended_higher": [
        compared_terms(
            Value.larger,
            JUDGES,
            spec="by_task_type",
            to="by_task_type",
            slices=("open-ended qa", "summarization"),
        )
    ],
    "only_some_dimensions_and_datasets": [
        in_slices(test, CLEAREST, spec=spec, words=words)
        for spec in ("by_dimension", "by_dataset")
        for test, words in ((Value.above_zero, "above 0"), (Value.not_above_zero, "not above 0"))
    ],
    "mostly_consistent": [
        compared_terms(Value.same_sign, JUDGES, to=AS_CODED, among=Value.clear_of_zero),
        compared_terms(Value.same_sign, KEPT, to=WEAK, among=Value.clear_of_zero),
        consistent_references,
    ],
    "length_control_same_conclusions": both(Value.same_conclusion, AS_CODED),
    "length_control_same_estimates": both(Value.holds, AS_CODED),
    "length_goes_with_ratings": [
        estimates_pass(
            Value.positive, JUDGES, **LENGTH, spec=LENGTH_ALONE, slices=("", *DIMENSIONS)
        )
    ],
    "length_effect_disappears": [estimates_pass(within(0.01), JUDGES, **LENGTH, spec=AS_CODED)],
    "global_length_comparable": both(
        lambda one, two: abs(one.value - two.value) <= 0.005, "length_control_global", spec=AS_CODED
    ),
    "ordinal_positive": [
        estimates_pass(
            Value.positive, FAVOUR_THEMSELVES, spec="ordinal_as_coded", slices=DIMENSIONS
        )
    ],
    "ordinal_llama_faithfulness": [
        estimates_pass(Value.below_zero, LLAMA, spec="ordinal_as_coded", slices=FAITHFULNESS)
    ],
    "gam_same_conclusions": [
        estimates_pass(Value.above_zero, FAVOUR_THEMSELVES, spec="gam"),
        estimates_pass(Value.below_zero, [LLAMA_8B], spec="gam"),
        estimates_pass(Value.above_zero, FAVOURED, **FAMILY, spec="gam"),
    ],
    "llm_reference_self": [estimates_pass(Value.above_zero, FAVOUR_THEMSELVES, **BY_REFERENCE)],
    "llm_reference_llama_8b": [estimates_pass(Value.below_zero, [LLAMA_8B], **BY_REFERENCE)],
    "llm_reference_others_small": [estimates_pass(within(0.01), SMALL, **BY_REFERENCE)],
    "llm_reference_family": [estimates_pass(Value.above_zero, FAVOURED, **FAMILY, **BY_REFERENCE)],
    "weak_models_decrease": [
        compared_terms(lambda one, two: abs(two.value) < abs(one.value), KEPT, to=WEAK)
    ],
    "weak_models_self": [estimates_pass(Value.above_zero, CLEAREST, spec=WEAK)],
    "weak_models_family": [estimates_pass(Value.positive, FAVOURED, **FAMILY, spec=WEAK)],
    "helm_positive": [estimates_pass(Value.positive, HELM_JUDGES)],
    "helm_gpt_4_larger": [helm_gpt_4_larger],
    "helm_gpt_family": [estimates_pass(Value.above_zero, ["GPT"], **FAMILY)],
}
# Of others: all
QUORUMS = {"scores_cluster": most, "open_ended_higher": most, "mostly_consistent": three_quarters}
# The dimensions that a claim rests on where these are not the paper's six.
DIMENSIONS_OF = {
    "rho_above_0_4": AGREED,
    **dict.fromkeys(("llama_marks_faithfulness_low", "ordinal_llama_faithfulness"), FAITHFULNESS),
    **dict.fromkeys(("helm_positive", "helm_gpt_4_larger", "helm_gpt_family"), HELM_DIMENSIONS),
}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that states a result, in this project's words, and what it is taken
    to mean.
    """

    name: str
    section: str
    sentence: str
    criterion: str

    @property
    def dimensions(self) -> Sequence[str]:
        """The dimensions that its numbers rest on; a study without one of them has no data for
        it.
        """
        return DIMENSIONS_OF.get(self.name, DIMENSIONS)

    @property
    def estimand(self) -> str:
        """What the biases are gaps to that it rests on, by the specs in its criterion; "" for a
        claim of other numbers.
        """
        specs = [word for word in re.findall(r"\w+", self.criterion) if word in ESTIMANDS]
        return "; ".join(dict.fromkeys(ESTIMANDS[spec] for spec in specs))


def read_claims(path: str | Path) -> list[Claim]:
    """Read the claims from a CSV file with the fields of `Claim` as columns."""
    return [Claim(**row) for row in read_table(path)]


def claim_verdict(claim: Claim, results: Results) -> tuple[str, str]:
    """Return the verdict on a claim, HOLDS, FAILS or ABSENT, and the evidence: the numbers that
    decide it, or what is missing.

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


def evidence(findings: Sequence[ClaimFinding]) -> str:
    """Count and list findings: those against the claim first, and those for it only where there is
    room.
    """
    against = [finding.text for finding in findings if not finding.holds]
    support = (
        [finding.text for finding in findings if finding.holds] if len(findings) <= LISTED else []
    )
    more = [f"and {len(against) - LISTED} more"] if len(against) > LISTED else []
    parts = [f"{len(findings) - len(against)} of {len(findings)}"]
    parts += [f"against: {'; '.join(against[:LISTED] + more)}"] if against else []
    parts += [f"for: {'; '.join(support)}"] if support else []
    return ". ".join(parts)


def judged_claims(
    claims: Sequence[Claim],
    study: str,
    results: Results,
    published: Results,
    *,
    kind: str,
    helm: Results | None = None,
) -> Iterator[dict]:
    """Yield the rows of the claims table: each claim's verdict on the study, and on the published
    values.

    kind: simulated, published or user, what the ratings of `results` are. helm: what a user's
    ratings of HELM-Instruct give, on which the claims of section C.2 are judged for every study;
    None where there are none, and these claims have no data.
    """
    for claim in claims:
        ratings = results
        origin = kind
        if claim.dimensions == HELM_DIMENSIONS:
            ratings = helm
            origin = "user" if helm else "simulated"
        verdict, words = claim_verdict(claim, ratings) if ratings else (ABSENT, NO_HELM)
        published_verdict, published_evidence = claim_verdict(claim, published)
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
