"""The sentences of Play Favorites that state a result, each judged on a study's tables and on the paper's own numbers.

They are those of the abstract, Sections 4.3 to 7 and, on HELM-Instruct, Section C.2.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recuse.published.results import (
    LLM_REFERENCE,
    AbsentError,
    Criterion,
    Finding,
    Quorum,
    Results,
    Value,
    below_the_humans,
    bias_like_gap,
    compared,
    consistent_references,
    gpt_4_is_larger,
    human_gap_near,
    humans_differ_little,
    in_slices,
    is_so,
    lower_for_itself,
    means_cluster,
    most,
    near,
    none_or_small,
    own_is_top,
    raters_agree,
    some_spearman_above,
    stands_out,
    stronger_dimensions,
    strongest_judges,
    three_quarters,
    within,
)
from recuse.published.values import DIMENSIONS, ESTIMANDS, JUDGES

GPT = ("GPT-3.5 Turbo", "GPT-4o")
SONNET = "Claude 3.5 Sonnet"
FAVOUR_THEMSELVES = (*GPT, SONNET)
CLEAREST = ("GPT-4o", SONNET)
LLAMA = ("Llama 3 8B", "Llama 3 70B")
CONSISTENT = tuple(judge for judge in JUDGES if judge not in LLAMA)
KEPT = tuple(judge for judge in JUDGES if judge not in ("Llama 3 8B", "Mistral 7B"))  # without the weak models
SMALL = tuple(judge for judge in JUDGES if judge not in (*FAVOUR_THEMSELVES, "Llama 3 8B"))
FAMILIES = ("Claude", "GPT", "Llama 3", "Mistral")
FAVOURED = ("Claude", "GPT")
AGREED = ("Completeness", "Helpfulness")  # the dimensions on which raters agree best
AS_CODED = "length_control_as_coded"
LENGTH_ALONE = "length_alone"  # in no config of the project: no figure and no published number is made of it
WEAK = "weak_models_dropped_as_coded"
REFERENCE = {"spec": LLM_REFERENCE, "slices": None}
HELM_JUDGES = ("GPT-4 (0314)", "Claude v1.3")
HELM_DIMENSIONS = ("Completeness", "Conciseness", "Harmlessness", "Helpfulness", "Understandability")

HOLDS, FAILS, ABSENT = "holds", "fails", "data absent"
NO_HELM = "no ratings of HELM-Instruct but a simulated placeholder, with biases that are declared"
NOTHING_LEFT = "no number that the criterion asks for"
LISTED = 12  # findings written out; of more, the first ones against the claim


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that states a result, in this project's words, and what it is taken to mean.

    parts: functions from Results to findings; the claim holds if `quorum` of all findings do. dimensions: those that the
    numbers rest on; a study without one of them has no data for the claim. A claim on those of HELM-Instruct is judged on the
    study helm_instruct, whatever study is compared with the paper.
    """

    name: str
    section: str
    sentence: str
    criterion: str
    parts: Sequence[Criterion]
    quorum: Quorum = all
    dimensions: Sequence[str] = DIMENSIONS


def _both(test, to: str, **settings) -> list[Criterion]:
    """`test` of self- and family-biases in main, or another spec, and in `to`."""
    return [compared(test, JUDGES, to=to, **settings), compared(test, FAMILIES, to=to, quantity="family_bias", **settings)]


CLAIMS = (
    Claim(
        "gpt_4o_and_sonnet_favour_themselves_and_family", "Abstract",
        "GPT-4o and Claude 3.5 Sonnet score their own outputs higher, and those of their family.",
        "main: intervals of both self-biases and of both family-biases above 0",
        [is_so(Value.above_zero, CLEAREST), is_so(Value.above_zero, ("GPT", "Claude"), quantity="family_bias")],
    ),
    Claim(
        "accuracy_over_84", "4.3", "Raters' accuracy on the gold subset is over 84 % in every dimension.",
        "accuracy of 0.84 or more, to two decimals, in each dimension",
        [raters_agree("accuracy", lambda value: round(value, 2) >= 0.84, DIMENSIONS)],
    ),
    Claim(
        "accuracy_average", "4.3", "Raters' accuracy on the gold subset is 91 % on average.",
        "average accuracy within 0.01 of 0.91", [raters_agree("accuracy", near(0.91))],
    ),
    Claim(
        "alpha_average", "4.3", "Krippendorff's alpha is 0.28 on average, and 0.47 in Completeness and Helpfulness.",
        "alpha within 0.01 of 0.28 on average, of 0.47 in these two dimensions",
        [raters_agree("krippendorff_alpha", near(0.28)), raters_agree("krippendorff_alpha", near(0.47), AGREED)],
    ),
    Claim(
        "pairs_of_raters_agree", "4.3", "Observed agreement of the raters is high, 81 %.",
        "share of pairs of raters with one score, averaged over dimensions, within 0.01 of 0.81",
        [raters_agree("observed_agreement", near(0.81))],
    ),
    Claim(
        "all_three_raters_agree", "4.3", "The observed agreement of 81 % is how often all three annotators agree.",
        "share of completions with one score from all three, averaged over dimensions, within 0.01 of 0.81",
        [raters_agree("full_agreement", near(0.81))],
    ),
    Claim(
        "strong_judges_correlate_more", "4.4", "Stronger models, such as GPT-4o and Claude 3.5 Sonnet, agree more with humans.",
        "mean Spearman over dimensions of each is above that of every other judge",
        [strongest_judges(CLEAREST)],
    ),
    Claim(
        "agreed_dimensions_correlate_more", "4.4", "Judges agree more with humans where humans agree with each other.",
        "mean Spearman over judges in Completeness and in Helpfulness, each above the mean of the other dimensions",
        [stronger_dimensions(AGREED)],
    ),
    Claim(
        "rho_above_0_4", "4.4", "In Completeness and Helpfulness the correlation with humans is above 0.4.",
        "in each of the two, Spearman above 0.4 for one judge at least",
        [some_spearman_above(0.4, AGREED)], dimensions=AGREED,
    ),
    Claim(
        "scores_cluster", "5.1", "Mean scores mostly lie between 0.90 and 1.0.",
        "more than half of the judges' means over all dimensions, to two decimals", [means_cluster(0.9, 1)], most,
    ),
    Claim(
        "own_scores_look_high", "5.1", "Claude v2 and GPT-3.5 Turbo appear to give their own completions higher scores.",
        "own mean over all dimensions is the highest of its row or of its column, ties to 0.005 counted",
        [own_is_top(("Claude v2", "GPT-3.5 Turbo"))],
    ),
    Claim(
        "gpt_and_sonnet_favour_themselves", "5.2", "The GPT models and Claude 3.5 Sonnet have positive self-bias.",
        "main: interval above 0, each", [is_so(Value.above_zero, FAVOUR_THEMSELVES)],
    ),
    Claim(
        "weaker_claude_almost_none", "5.2", "Claude v2 and Claude 3 Sonnet show almost no self-bias.",
        "main: estimate at most 0.01 from 0, each", [is_so(within(0.01), ("Claude v2", "Claude 3 Sonnet"))],
    ),
    Claim(
        "llama_8b_negative", "5.2", "Llama 3 8B has significant negative self-bias.",
        "main: interval below 0", [is_so(Value.below_zero, ("Llama 3 8B",))],
    ),
    Claim(
        "claude_and_gpt_favour_family", "5.2", "Claude and GPT judges score other models of their family higher.",
        "main: interval above 0, each", [is_so(Value.above_zero, ("Claude", "GPT"), quantity="family_bias")],
    ),
    Claim(
        "llama_and_mistral_do_not", "5.2", "Llama and Mistral judges do not favour their families.",
        "main: interval not above 0, each", [is_so(Value.not_above_zero, ("Llama 3", "Mistral"), quantity="family_bias")],
    ),
    Claim(
        "gap_is_as_large_as_bias", "5.2", "Claude 3.5 Sonnet and GPT-4o differ by 0.02, about as much as their self-bias.",
        "gap of the human means within 0.01 of 0.02; both self-biases (main) within 0.01 of the gap",
        [human_gap_near(0.02, (SONNET, "GPT-4o")), bias_like_gap(CLEAREST, (SONNET, "GPT-4o"))],
    ),
    Claim(
        "consistent_over_dimensions", "6.1",
        "GPT, Claude and Mistral judges show no or small positive self-bias in most dimensions.",
        "by_dimension: interval includes 0, or estimate above 0 and at most 0.03, in more than half of the dimensions, each",
        [in_slices(none_or_small(0.03), CONSISTENT, spec="by_dimension", wanted="none or small", quorum=most)],
    ),
    Claim(
        "outlier_logical_correctness", "6.1", "GPT models and Claude 3.5 Sonnet favour themselves more in Logical correctness.",
        "by_dimension: estimate above that in every other dimension, each",
        [stands_out("Logical correctness", FAVOUR_THEMSELVES)],
    ),
    Claim(
        "outlier_faithfulness", "6.1", "Mistral Large favours itself more in Faithfulness than in other dimensions.",
        "by_dimension: estimate above that in every other dimension", [stands_out("Faithfulness", ("Mistral Large",))],
    ),
    Claim(
        "llama_8b_faithfulness", "6.1", "Llama 3 8B's negative self-bias is notably larger in Faithfulness.",
        "by_dimension: interval below 0, and estimate below that in every other dimension",
        [
            is_so(Value.below_zero, ("Llama 3 8B",), spec="by_dimension", slices=("Faithfulness",)),
            stands_out("Faithfulness", ("Llama 3 8B",), lowest=True),
        ],
    ),
    Claim(
        "llama_marks_faithfulness_low", "6.1",
        "Humans see hardly a difference in Faithfulness; Llama judges score all models lower, themselves in particular.",
        "human means differ by 0.02 at most; each Llama judge's means below the humans' for every model, and its mean of "
        "itself below that of the other models",
        [
            humans_differ_little(0.02, "Faithfulness"),
            below_the_humans(LLAMA, "Faithfulness"),
            lower_for_itself(LLAMA, "Faithfulness"),
        ],
        dimensions=("Faithfulness",),
    ),
    Claim(
        "open_ended_higher", "6.1", "Most models have higher self-bias in open-ended QA than in summarization.",
        "by_task_type: higher estimate in open-ended qa for more than half of the judges",
        [
            compared(
                lambda one, two: one.value > two.value, JUDGES,
                spec="by_task_type", to="by_task_type", slices=("open-ended qa", "summarization"),
            )
        ],
        most,
    ),
    Claim(
        "only_some_dimensions_and_datasets", "7",
        "GPT-4o and Claude 3.5 Sonnet have significant self-bias in some dimensions and datasets, not in others.",
        "for each, among the slices of by_dimension and of by_dataset: one with an interval above 0, one without",
        [
            in_slices(test, CLEAREST, spec=spec, wanted=wanted)
            for spec in ("by_dimension", "by_dataset")
            for test, wanted in ((Value.above_zero, "above 0"), (Value.not_above_zero, "not above 0"))
        ],
    ),
    Claim(
        "mostly_consistent", "6", "The trends of each model are mostly consistent across the robustness checks.",
        "self-biases with an interval off 0 in main keep their sign, in three quarters of their estimates with length control, "
        "with an LLM family as the reference and without weak models",
        [
            compared(Value.same_sign, JUDGES, to=AS_CODED, among=Value.clear_of_zero),
            compared(Value.same_sign, KEPT, to=WEAK, among=Value.clear_of_zero),
            consistent_references(JUDGES),
        ],
        three_quarters,
    ),
    Claim(
        "length_control_same_conclusions", "6.2", "Length control does not meaningfully affect self- and family-bias.",
        "main → length_control_as_coded: each interval stays above 0, below 0 or about 0",
        _both(Value.same_conclusion, AS_CODED),
    ),
    Claim(
        "length_control_same_estimates", "6.2", "With length control, self- and family-bias are virtually unchanged.",
        "main → length_control_as_coded: each estimate stays within its interval of main", _both(Value.holds, AS_CODED),
    ),
    Claim(
        "length_goes_with_ratings", "6.2", "Longer completions get higher ratings, overall and in each dimension.",
        "length_alone, a spec for you to add (length: prompt_rows, terms: [judge], slice: dimension, whole: true): coefficient "
        "of length above 0 for each judge, overall and in each dimension",
        [is_so(Value.positive, JUDGES, quantity="length", spec=LENGTH_ALONE, slices=("", *DIMENSIONS))],
    ),
    Claim(
        "length_effect_disappears", "6.2", "Given the reference scores, length has practically no association with ratings.",
        "length_control_as_coded: coefficient of length at most 0.01 from 0 for each judge",
        [is_so(within(0.01), JUDGES, quantity="length", spec=AS_CODED)],
    ),
    Claim(
        "global_length_comparable", "6.2", "Normalising lengths by global mean and variance gives comparable results.",
        "length_control_as_coded → length_control_global: no self- or family-bias moves by more than 0.005",
        _both(lambda one, two: abs(one.value - two.value) <= 0.005, "length_control_global", spec=AS_CODED),
    ),
    Claim(
        "ordinal_positive", "6.2", "With an ordinal logit, self-bias of the GPT models and Claude 3.5 Sonnet stays positive.",
        "ordinal_as_coded: estimate above 0 in every dimension, each",
        [is_so(Value.positive, FAVOUR_THEMSELVES, spec="ordinal_as_coded", slices=DIMENSIONS)],
    ),
    Claim(
        "ordinal_llama_faithfulness", "6.2", "With an ordinal logit, the Llama models stay negative in Faithfulness.",
        "ordinal_as_coded: interval below 0, each",
        [is_so(Value.below_zero, LLAMA, spec="ordinal_as_coded", slices=("Faithfulness",))], dimensions=("Faithfulness",),
    ),
    Claim(
        "gam_same_conclusions", "6.2", "With splines of the human score, the conclusions on bias are qualitatively the same.",
        "gam: intervals of self-bias above 0 for the GPT models and Claude 3.5 Sonnet, below 0 for Llama 3 8B; of family-bias "
        "above 0 for Claude and GPT",
        [
            is_so(Value.above_zero, FAVOUR_THEMSELVES, spec="gam"),
            is_so(Value.below_zero, ("Llama 3 8B",), spec="gam"),
            is_so(Value.above_zero, FAVOURED, quantity="family_bias", spec="gam"),
        ],
    ),
    Claim(
        "llm_reference_self", "6.2", "GPT models and Claude 3.5 Sonnet show strong self-bias under every LLM reference.",
        "llm_reference_as_coded: interval above 0, each, for every other family as the reference",
        [is_so(Value.above_zero, FAVOUR_THEMSELVES, **REFERENCE)],
    ),
    Claim(
        "llm_reference_llama_8b", "6.2", "Llama 3 8B shows negative self-bias under every LLM reference.",
        "llm_reference_as_coded: interval below 0 for every other family as the reference",
        [is_so(Value.below_zero, ("Llama 3 8B",), **REFERENCE)],
    ),
    Claim(
        "llm_reference_others_small", "6.2", "Under LLM references the self-bias of the other judges is small.",
        "llm_reference_as_coded: estimate at most 0.01 from 0, each, for every other family as the reference",
        [is_so(within(0.01), SMALL, **REFERENCE)],
    ),
    Claim(
        "llm_reference_family", "6.2", "Family-bias of GPT and Claude remains substantial under LLM references.",
        "llm_reference_as_coded: interval above 0, each, for every other family as the reference",
        [is_so(Value.above_zero, FAVOURED, quantity="family_bias", **REFERENCE)],
    ),
    Claim(
        "weak_models_decrease", "6.2", "Without the weak models the magnitude of self-bias decreases for all judges.",
        "main → weak_models_dropped_as_coded: estimate nearer to 0, each judge that is left",
        [compared(lambda one, two: abs(two.value) < abs(one.value), KEPT, to=WEAK)],
    ),
    Claim(
        "weak_models_self", "6.2", "Without the weak models GPT-4o and Claude 3.5 Sonnet still favour themselves.",
        "weak_models_dropped_as_coded: interval above 0, each", [is_so(Value.above_zero, CLEAREST, spec=WEAK)],
    ),
    Claim(
        "weak_models_family", "6.2", "Without the weak models the family-bias of GPT and Claude stays positive.",
        "weak_models_dropped_as_coded: estimate above 0, each",
        [is_so(Value.positive, FAVOURED, quantity="family_bias", spec=WEAK)],
    ),
    Claim(
        "helm_positive", "C.2", "On HELM-Instruct both GPT-4 and Claude v1.3 have positive self-bias.",
        "main: estimate above 0, each", [is_so(Value.positive, HELM_JUDGES)], dimensions=HELM_DIMENSIONS,
    ),
    Claim(
        "helm_gpt_4_larger", "C.2", "On HELM-Instruct GPT-4's self-bias is slightly the larger.",
        "main: estimate of GPT-4 above that of Claude v1.3",
        [gpt_4_is_larger(*HELM_JUDGES)], dimensions=HELM_DIMENSIONS,
    ),
    Claim(
        "helm_gpt_family", "C.2", "On HELM-Instruct GPT-4 shows family-bias.",
        "main: interval above 0", [is_so(Value.above_zero, ("GPT",), quantity="family_bias")], dimensions=HELM_DIMENSIONS,
    ),
)  # fmt: skip


def judged(claim: Claim, results: Results) -> tuple[str, str]:
    """Return the verdict on a claim, HOLDS, FAILS or ABSENT, and the evidence: the numbers that decided, or what is missing."""
    missing = [dimension for dimension in claim.dimensions if dimension not in results.dimensions]
    if missing:
        return ABSENT, f"no ratings of {', '.join(missing)}"
    try:
        findings = [finding for part in claim.parts for finding in part(results)]
    except AbsentError as error:
        return ABSENT, str(error)
    if not findings:
        return ABSENT, NOTHING_LEFT
    holds = claim.quorum([finding.holds for finding in findings])
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


def estimand_of(claim: Claim) -> str:
    """Name what the biases are gaps to that a claim rests on, by the specs in its criterion; "" of a claim of other numbers."""
    specs = [word for word in re.findall(r"\w+", claim.criterion) if word in ESTIMANDS]
    return "; ".join(dict.fromkeys(ESTIMANDS[spec] for spec in specs))


def claims(study: str, results: Results, published: Results, *, kind: str, helm: Results | None = None) -> Iterator[dict]:
    """Yield the rows of the claims table: each claim's verdict on the study, and on the published values.

    kind: simulated, published or user, what the ratings of `results` are. helm: what a user's ratings of HELM-Instruct give, on
    which the claims of section C.2 are judged for every study; None where there are none, and these claims have no data.
    """
    for claim in CLAIMS:
        on_helm = claim.dimensions == HELM_DIMENSIONS
        ratings, whose = (helm, "user" if helm else "simulated") if on_helm else (results, kind)
        verdict, why = judged(claim, ratings) if ratings else (ABSENT, NO_HELM)
        published_verdict, published_evidence = judged(claim, published)
        yield {
            "study": study,
            "claim": claim.name,
            "section": claim.section,
            "sentence": claim.sentence,
            "criterion": claim.criterion,
            "estimand": estimand_of(claim),
            "kind": whose,
            "verdict": verdict,
            "evidence": why,
            "published": published_verdict,
            "published_evidence": published_evidence,
        }
