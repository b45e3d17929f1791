"""What a study's ratings support before any fit: the findings, most important first."""

from collections.abc import Mapping
from itertools import chain

from recuse.check.agreement import agreement
from recuse.check.contents import (
    basis,
    contents,
    doubted,
    human_scores,
    missing_ratings,
    names_left_out,
    own_missing,
    rating_ranges,
    scale_use,
    unscored,
    use_by_judge,
)
from recuse.check.facts import Facts, Finding, ordered
from recuse.check.names import alike_among, kinds_by_name, odd_names, spelt_twice, unused_families
from recuse.check.support import (
    detectable_biases,
    estimable,
    estimable_biases,
    judge_power,
    prompts,
    reliability_known,
    terms_by_letter,
    wordings,
)
from recuse.inference.reliability import Reliability


def check_study(
    facts: Facts,
    reliability: Mapping[str, Reliability],
    *,
    self_bias: float,
    power: float,
    confidence: float,
) -> list[Finding]:
    """Find what the ratings of a study support.

    reliability: of the human scores by dimension, where known. self_bias: to be found, on the unit
    scale, with probability `power` by a test at 1 - confidence.
    """
    use = use_by_judge(facts)
    terms = terms_by_letter(facts, {judge for judge, of in use.items() if of.most_used == 1})
    of_judges = judge_power(
        facts, terms, reliability, self_bias=self_bias, power=power, confidence=confidence
    )
    rows = {factor: facts.rows_by(factor) for factor in ("judge", "model")}
    alike, kinds = alike_among(rows, facts.may_be_one), kinds_by_name(facts)
    spellings = {"families": facts.families(), "imported": bool(facts.imports)}
    as_one = facts.as_one(alike)
    findings = ordered(
        chain(
            agreement(facts),
            doubted(facts),
            estimable_biases(facts, terms, reliability, of_judges),
            spelt_twice(rows, alike, kinds, **spellings),
            odd_names(kinds),
            unused_families(facts),
            names_left_out(facts, alike),
            rating_ranges(facts),
            estimable(terms, facts.names("model")),
            scale_use(facts, use),
            human_scores(facts),
            prompts(facts),
            wordings(facts, confidence=confidence),
            reliability_known(facts, reliability),
            own_missing(as_one),
            unscored(facts),
            basis(facts, confidence=confidence),
            missing_ratings(as_one),
            detectable_biases(facts, of_judges, self_bias=self_bias, wanted=power),
            contents(facts),
        )
    )
    for finding in findings:
        finding.gold = bool(facts.imports.get("gold"))
    return findings
