"""The paper's claims: each holds and fails by the numbers it names, and the paper's own numbers are
judged as pinned here.
"""

from dataclasses import replace
from itertools import product

import pytest

from conftest import DATA, ROOT
from picked_rows import column, fields, keyed, only
from recuse.base.tables import read_table
from recuse.papers.claims import (
    ABSENT,
    CRITERIA,
    FAILS,
    HOLDS,
    NO_HELM,
    NOTHING_LEFT,
    QUORUMS,
    claim_verdict,
    judged_claims,
    read_claims,
)
from recuse.papers.claims import CLAIMS as COLUMNS
from recuse.papers.results import Results, Value
from recuse.papers.values import DIMENSIONS, JUDGES, read_published
from text_tables import csv_rows

OVERTURNED = ROOT / "tests" / "golden" / "overturned_claims.csv"
CLAIMS = read_claims(DATA / "play_favorites_claims.csv")
(CONSISTENT,) = (claim for claim in CLAIMS if claim.name == "mostly_consistent")
CODED = "length_control_as_coded"
# What the paper's own numbers contradict, and the number that does it.
CONTRADICTED = {
    "rho_above_0_4": "against: Helpfulness: highest 0.384 (GPT-4o)",
    "llama_8b_faithfulness": (
        "against: Llama 3 8B -0.0650 in Faithfulness, -0.1298 in Logical correctness"
    ),
    "only_some_dimensions_and_datasets": (
        "Claude 3.5 Sonnet not above 0 in none (0 of 6 slices of by_dataset)"
    ),
    "length_control_same_estimates": (
        "against: self_bias of GPT-3.5 Turbo +0.0170 [+0.0128, +0.0211] in main, +0.0221"
    ),
    "ordinal_positive": "against: GPT-3.5 Turbo (Helpfulness) -0.2098",
    "weak_models_decrease": (
        "against: self_bias of Claude v2 -0.0006 [-0.0038, +0.0026] in main, -0.0026"
    ),
}
# What the paper states and does not publish numbers of.
UNPUBLISHED = {
    "all_three_raters_agree",
    "length_goes_with_ratings",
    "length_effect_disappears",
    "global_length_comparable",
    "gam_same_conclusions",
    "helm_positive",
    "helm_gpt_4_larger",
    "helm_gpt_family",
}


# Claims on numbers that contradict them or are not published hold with these instead.
MENDED = """
table,key,value,half
agreement,/full_agreement,0.81,
correlations,Helpfulness/GPT-4o/spearman,0.45,
estimates,by_dimension/Logical correctness/self_bias/Llama 3 8B,-0.03,0.002
estimates,by_dimension/Conciseness/self_bias/GPT-4o,0.001,0.002
estimates,by_dimension/Conciseness/self_bias/Claude 3.5 Sonnet,0.001,0.002
estimates,by_dataset/cnn/self_bias/GPT-4o,0.001,0.002
estimates,by_dataset/cnn/self_bias/Claude 3.5 Sonnet,0.001,0.002
estimates,ordinal_as_coded/Helpfulness/self_bias/GPT-3.5 Turbo,0.2,0.002
estimates,weak_models_dropped_as_coded//self_bias/Claude v2,-0.0001,0.002
estimates,weak_models_dropped_as_coded//self_bias/Mistral Large,0.003,0.002
estimates,main//self_bias/GPT-4 (0314),0.03,0.002
estimates,main//self_bias/Claude v1.3,0.02,0.002
mean_scores,Harmlessness/GPT-4 (0314)/GPT-4 (0314),0.9,
mean_scores,Understandability/GPT-4 (0314)/GPT-4 (0314),0.9,
"""


def interval(value, half=0.002):
    return Value(value, half / 1.645, value - half, value + half)


def self_bias(judge, value, *, spec="main", half=0.002):
    return {("estimates", (spec, "", "self_bias", judge)): interval(value, half)}


def numbers(rows):
    """Rows of numbers and half the widths of their intervals as values by table and key."""
    return {
        (row["table"], tuple(row["key"].split("/"))): (
            interval(float(row["value"]), float(row["half"]))
            if row["half"]
            else Value(float(row["value"]))
        )
        for row in rows
    }


def changed(results, values):
    """`results` with other values at the given (table, key)."""
    tables = {name: dict(known) for name, known in vars(results).items()}
    for (table, key), value in values.items():
        tables[table][key] = value
    return Results(**tables)


@pytest.fixture(scope="module")
def paper():
    return Results.from_tables(**read_published(DATA))


@pytest.fixture(scope="module")
def ideal(paper):
    """The published values, with what contradicts a claim mended and what is unpublished made up,
    so that all claims hold.
    """
    values = numbers(csv_rows(MENDED))
    slices = [(CODED, ""), ("length_alone", ""), *(("length_alone", d) for d in DIMENSIONS)]
    for slice_, judge in product(slices, JUDGES):
        values["estimates", (*slice_, "length", judge)] = interval(0.001)
    for (spec, slice_, *term), value in paper.estimates.items():
        if (spec, slice_) == ("main", ""):
            for other in ("gam", CODED, "length_control_global"):
                values["estimates", (other, "", *term)] = value
    return changed(paper, values)


def overturning():
    """For each claim, and in the order of its parts, numbers that overturn that part alone."""
    claims = {}
    for row in read_table(OVERTURNED):
        claims.setdefault(row["claim"], {}).setdefault(row["part"], []).append(row)
    return {claim: [*map(numbers, parts.values())] for claim, parts in claims.items()}


def parts_against(claim, results):
    return [
        number
        for number, part in enumerate(CRITERIA[claim.name])
        if not all(finding.holds for finding in part(results))
    ]


def test_every_claim_is_overturned_here():
    assert [claim.name for claim in CLAIMS] == list(CRITERIA) == list(overturning())


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_claim_holds_and_every_part_of_it_can_fail(claim, ideal):
    verdict, text = claim_verdict(claim, ideal)
    assert verdict == HOLDS, text
    changes = overturning()[claim.name]
    assert [parts_against(claim, changed(ideal, change)) for change in changes] == [
        [n] for n in range(len(CRITERIA[claim.name]))
    ]
    for change in (
        changes
        if claim.name not in QUORUMS
        else [{key: value for each in changes for key, value in each.items()}]
    ):
        verdict, text = claim_verdict(claim, changed(ideal, change))
        assert verdict == FAILS
        assert "against: " in text


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_published_numbers_are_judged(claim, paper):
    verdict, text = claim_verdict(claim, paper)
    if claim.name in UNPUBLISHED:
        assert verdict == ABSENT
        assert text.startswith("no ")
    elif claim.name in CONTRADICTED:
        assert verdict == FAILS
        assert CONTRADICTED[claim.name] in text
    else:
        assert verdict == HOLDS, text


def test_what_is_missing_is_data_absent(ideal):
    empty = Results({}, {}, {}, {})
    assert {claim_verdict(claim, empty)[0] for claim in CLAIMS} == {ABSENT}
    of_means = {"scores_cluster", "own_scores_look_high", "llama_marks_faithfulness_low"}
    without = replace(empty, mean_scores=ideal.mean_scores)
    assert {
        claim.name for claim in CLAIMS if claim_verdict(claim, without)[0] != ABSENT
    } == of_means
    for judge in JUDGES:  # any one judge's estimates may be missing
        estimates = {key: value for key, value in ideal.estimates.items() if key[3] != judge}
        fewer = replace(ideal, estimates=estimates)
        assert claim_verdict(CONSISTENT, fewer)[0] == ABSENT


def test_a_pooled_claim_is_absent_where_a_dimension_is(ideal):
    two = ("", "Faithfulness", "Logical correctness")
    fewer = replace(
        ideal, mean_scores={key: value for key, value in ideal.mean_scores.items() if key[0] in two}
    )
    rest = {claim.name for claim in CLAIMS if claim_verdict(claim, fewer)[0] != ABSENT}
    assert rest == {"llama_marks_faithfulness_low", "ordinal_llama_faithfulness"}
    text = claim_verdict(CLAIMS[0], fewer)[1]
    assert text == "no ratings of Completeness, Conciseness, Helpfulness, Logical robustness"


def test_a_bias_that_is_unclear_has_no_sign_to_keep(ideal):
    # All judges but Claude v2; without Llama 3 8B and Mistral 7B
    clear = 8
    clear_and_not_weak = 6
    references = 3
    number = clear + clear_and_not_weak + references * clear
    unclear = {}
    for judge in JUDGES:
        unclear |= self_bias(judge, 0.01, half=0.02)
    assert claim_verdict(CONSISTENT, ideal)[1] == f"{number} of {number}"
    other = changed(ideal, self_bias("Claude v2", 0.05, spec=CODED))
    assert claim_verdict(CONSISTENT, other)[1] == f"{number} of {number}"
    assert claim_verdict(CONSISTENT, changed(ideal, unclear)) == (ABSENT, NOTHING_LEFT)


def test_claims_on_helm_are_judged_on_its_own_ratings(ideal, paper):
    """For every study: never on its own numbers or those of a placeholder."""
    names = [claim.name for claim in CLAIMS if claim.section == "C.2"]
    assert names == ["helm_positive", "helm_gpt_4_larger", "helm_gpt_family"]
    smaller = changed(ideal, self_bias("GPT-4 (0314)", 0.01))
    smaller = replace(smaller, correlations={}, agreement={})
    for study in (ideal, paper):
        rows = keyed(
            judged_claims(CLAIMS, "s", study, paper, kind="published", helm=smaller), "claim"
        )
        assert [rows[name]["verdict"] for name in names] == [HOLDS, FAILS, HOLDS]
        assert {rows[name]["kind"] for name in names} == {"user"}
        assert {row["kind"] for name, row in rows.items() if name not in names} == {"published"}
        rows = keyed(judged_claims(CLAIMS, "s", study, paper, kind="published"), "claim")
        assert {fields(rows[name], "kind verdict evidence") for name in names} == {
            ("simulated", ABSENT, NO_HELM)
        }
        assert {rows[name]["published"] for name in names} == {ABSENT}


def test_an_estimate_without_interval_is_no_evidence():
    row = {
        "spec": "main",
        "slice": "",
        "quantity": "self_bias",
        "term": "GPT-4o",
        "estimate": "0.1",
        "ci_low": "",
    }
    results = Results.from_tables(estimates=[row], mean_scores=(), correlations=())
    assert results.estimates == {}


def test_table_has_both_verdicts(ideal, paper):
    rows = list(
        judged_claims(
            CLAIMS,
            "a study",
            changed(ideal, *overturning()["llama_8b_negative"]),
            paper,
            kind="published",
        )
    )
    assert column(rows, "claim") == [claim.name for claim in CLAIMS]
    assert all(tuple(row) == COLUMNS for row in rows)
    row = only(rows, claim="llama_8b_negative")
    assert fields(row, "study kind verdict published") == ("a study", "published", FAILS, HOLDS)
    assert row["evidence"] == "0 of 1. against: Llama 3 8B -0.0019 [-0.0039, +0.0001]"
    assert "[-0.0446, -0.0291]" in row["published_evidence"]
