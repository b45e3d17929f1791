"""Everything that a study's ratings support, or not, before any fit: the findings, what matters most first."""

from collections.abc import Mapping
from itertools import chain

from judgebias.doctor.contents import contents, families, lengths, names
from judgebias.doctor.facts import Facts
from judgebias.doctor.findings import Finding, ordered
from judgebias.doctor.left_out import lengths_missing, names_left_out, unscored
from judgebias.doctor.missing import missing, own_missing, whole_completions
from judgebias.doctor.one_name_twice import alike_among, families_of_none, spelt_twice
from judgebias.doctor.scale_use import human_scores, scale_use, use_by_judge
from judgebias.doctor.scales import ranges
from judgebias.doctor.support import detectable, plans_of, prompts, reliability_known, taste
from judgebias.doctor.terms import estimable, terms_of
from judgebias.doctor.verdict import verdict
from judgebias.inference.reliability import Reliability


def check_study(
    facts: Facts, reliability: Mapping[str, Reliability], *, gamma: float, power: float, confidence: float
) -> list[Finding]:
    """Find what the ratings of a study support.

    reliability: of the human scores by dimension, as far as it is known. gamma: the self-bias to be found, on the unit scale,
    with probability `power`, by a test at 1 - confidence.
    """
    use = use_by_judge(facts)
    terms = terms_of(facts, {judge for judge, of in use.items() if of.constant})
    plans = plans_of(facts, reliability, gamma=gamma, power=power, confidence=confidence)
    plans = [row for row in plans if row["judge"] in terms.known(row["estimand"][0], "self_bias")]
    alike = alike_among(facts)
    as_one = facts.as_one(alike)
    return ordered(
        chain(
            verdict(facts, terms, reliability, plans),
            spelt_twice(facts, alike),
            families_of_none(facts),
            names_left_out(facts, alike),
            ranges(facts),
            estimable(terms, facts.names("model")),
            scale_use(facts, use),
            human_scores(facts),
            prompts(facts),
            reliability_known(facts, reliability),
            taste(plans, confidence=confidence),
            own_missing(as_one),
            unscored(facts),
            missing(as_one),
            whole_completions(facts, spelt_twice=bool(alike)),
            detectable(facts, plans, gamma=gamma, power=power),
            families(facts),
            names(facts),
            lengths(facts),
            lengths_missing(facts),
            contents(facts),
        )
    )
