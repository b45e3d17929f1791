"""Rank-biased overlap against a loop over depths, the PyPI package rbo, and the values of the
released rankings of CoBBLEr.
"""

import itertools

import numpy as np
import pytest
from numpy.random import default_rng

from picked_rows import fields
from recuse.papers.cobbler import (
    BATCHES,
    BY_NAME,
    LISTED,
    places,
    rank_biased_overlap,
    read_wins,
    released_overlap,
    wins_of_judge,
)
from verdict_files import released

# Two rankings, p, and what version 0.1.3 of the package rbo gives: rbo(p=p) and rbo(p=p, ext=True),
# which its rbo_ext equals.
OF_PACKAGE = """
1 4 2 3 0 | 4 2 1 0 3 | 0.8 | 0.36672 | 0.6944
10 2 11 0 8 9 1 12 6 7 5 3 4 | 6 10 4 8 2 1 0 7 9 3 5 12 11 | 0.8 | 0.3884853670815955 | 0.4434609484703955
10 1 9 6 5 13 4 3 11 12 8 0 7 2 14 | 4 10 2 6 12 13 9 5 14 11 0 1 7 8 3 | 0.8 | 0.4127234616457475 | 0.44790783373457954
0 7 4 6 2 5 1 3 | 0 3 2 1 6 5 4 7 | 0.5 | 0.7220610119047619 | 0.7259672619047619
0 | 0 | 0.9 | 0.1 | 1.0
"""
COMMON = [
    *(
        "GPT-4",
        "ChatGPT",
        "InstructGPT",
        "LLaMA",
        "Cohere",
        "Falcon",
        "Alpaca",
        "Vicuna",
        "OpenAssist",
        "Baize",
        "Koala",
    ),
    *("WizardLM", "MPT"),
]
JUDGES_OF_15 = [*COMMON, "DollyV2", "RedPajama"]
JUDGES_OF_13 = [*COMMON, "LLaMAv2", "Mistral", "OLMo"]
SAMPLING = {"confidence": 0.9, "seed": 5}


def by_definition(first, second, p, *, extrapolated):
    """The sum over depths, for two lists of systems."""
    agreement = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, len(first) + 1)]
    truncated = (1 - p) * sum(p ** (d - 1) * a for d, a in enumerate(agreement, 1))
    return truncated + p ** len(first) * agreement[-1] * extrapolated


@pytest.mark.parametrize("line", OF_PACKAGE.strip().splitlines())
def test_values_of_the_package(line):
    first, second, p, truncated, extrapolated = (
        np.array(part.split(), float) for part in line.split("|")
    )
    own = [np.argsort(ranking) for ranking in (first, second)]
    assert rank_biased_overlap(*own, persistence=p, extrapolated=False) == pytest.approx(
        truncated, abs=1e-14
    )
    assert rank_biased_overlap(*own, persistence=p, extrapolated=True) == pytest.approx(
        extrapolated, abs=1e-14
    )


@pytest.mark.parametrize("extrapolated", [False, True])
def test_many_rankings_at_once_are_those_of_a_loop_over_depths(extrapolated):
    draw = default_rng(4)
    first, second = (np.argsort(draw.random(shape)) for shape in ((4, 1, 9), (6, 9)))
    results = rank_biased_overlap(first, second, extrapolated=extrapolated)
    assert results.shape == (4, 6)
    for one, other in itertools.product(range(4), range(6)):
        listed = [np.argsort(ranking).tolist() for ranking in (first[one, 0], second[other])]
        assert results[one, other] == pytest.approx(
            by_definition(*listed, 0.8, extrapolated=extrapolated), abs=1e-14
        )


def test_equal_wins_keep_the_order_of_columns():
    assert places(np.array([3, 7, 3, 0, 7])).tolist() == [2, 0, 3, 4, 1]
    wins = default_rng(1).integers(0, 4, (3, 2, 8))
    for index in np.ndindex(3, 2):
        ranking = sorted(range(8), key=lambda system, own=wins[index]: -own[system])
        assert places(wins)[index].tolist() == [ranking.index(system) for system in range(8)]


@pytest.fixture(scope="module")
def overlaps():
    folder, _ = released("cobbler")
    return released_overlap(str(folder), **SAMPLING)


def one(rows, statistic, systems, form, ties, judge=None):
    results = [
        row
        for row in rows
        if (row["statistic"], row["systems"], row["form"], row["ties"], row.get("judge"))
        == (statistic, systems, form, ties, judge)
    ]
    assert len(results) == 1
    return results[0]


@pytest.mark.mirror
def test_aggregate_overlap_of_the_paper(overlaps):
    row = one(overlaps, "aggregate", 15, "truncated", LISTED)
    assert row["value"] == pytest.approx(0.49630142557117646, abs=1e-12)
    assert "as_coded" not in row
    assert row["rankings"] == 50


@pytest.mark.mirror
def test_overlap_of_sixteen_judges_with_six_annotators(overlaps):
    row = one(overlaps, "judges_with_annotators", 13, "extrapolated", BY_NAME)
    assert row["as_coded"] == pytest.approx(0.4375625, abs=1e-12)
    assert row["value"] == pytest.approx(0.4375728872920215, abs=1e-12)
    assert row["rankings"] == 16 * 6 * 50


@pytest.mark.mirror
@pytest.mark.parametrize("ties", [LISTED, BY_NAME])
def test_overlap_of_the_annotators_whose_rankings_have_no_ties(overlaps, ties):
    first = one(overlaps, "inter_annotator", 15, "truncated", ties)
    assert first["as_coded"] == pytest.approx(7.168 / 15, abs=1e-12)
    assert first["rankings"] == 15 * 50
    assert one(overlaps, "inter_annotator", 13, "extrapolated", ties)["as_coded"] == pytest.approx(
        8.054 / 15, abs=1e-12
    )


@pytest.mark.mirror
@pytest.mark.parametrize("ties", [LISTED, BY_NAME])
def test_a_list_that_sees_no_answer_does_no_worse_than_any_judge(overlaps, ties):
    assert one(overlaps, "listing_order", 13, "extrapolated", ties)["value"] == pytest.approx(
        0.5805882501244714, abs=1e-12
    )
    for systems, form in itertools.product((15, 13), ("truncated", "extrapolated")):
        listing = one(overlaps, "listing_order", systems, form, ties)
        assert listing["rankings"] == 300
        judges = JUDGES_OF_15 if systems == 15 else JUDGES_OF_13
        values = [
            one(overlaps, "judges_with_annotators", systems, form, ties, judge)["value"]
            for judge in judges
        ]
        assert max(values) < listing["value"]
        assert one(overlaps, "judges_with_annotators", systems, form, ties)[
            "value"
        ] == pytest.approx(np.mean(values), abs=1e-12)
    dolly = one(overlaps, "judges_with_annotators", 15, "truncated", LISTED, "DollyV2")["value"]
    # One valid verdict: the list, but for that one
    assert dolly == pytest.approx(0.5238264250123538, abs=1e-12)


@pytest.mark.mirror
def test_with_the_annotators_together_some_judges_do_better_than_the_list(overlaps):
    better = {}
    for systems, form, ties in itertools.product(
        (15, 13), ("truncated", "extrapolated"), (LISTED, BY_NAME)
    ):
        listing = one(overlaps, "listing_order_with_annotators_together", systems, form, ties)
        assert listing["rankings"] == 50
        judges = JUDGES_OF_15 if systems == 15 else JUDGES_OF_13
        rows = [
            one(overlaps, "judges_with_annotators_together", systems, form, ties, judge)
            for judge in judges
        ]
        better[systems, form, ties] = [
            row["judge"] for row in rows if row["value"] > listing["value"] + 1e-12
        ]
        for row in rows:
            assert row["above_list"] == pytest.approx(row["value"] - listing["value"], abs=1e-12)
            assert not row["ci_low"] > 0  # none can be distinguished from the list
    assert all(
        judges == (["ChatGPT"] if key[0] == 15 else ["ChatGPT", "Mistral"])
        for key, judges in better.items()
    )


@pytest.mark.mirror
def test_intervals_of_what_a_judge_is_above_the_list(overlaps):
    """Of ChatGPT with single annotators, by loops over the definition and a bootstrap of its own;
    DollyV2 is the list.
    """
    folder, _ = released("cobbler")
    of_humans = f"{folder}/{BATCHES}/human_annotations"
    annotators = [read_wins(f"{of_humans}/annot_{number}.json") for number in range(1, 7)]
    judge = wins_of_judge(folder, "model_annotations", "chatgpt")[list(annotators[0])].to_numpy()
    differences = []
    for number, wins in enumerate(judge):
        humans = [
            np.argsort(-annotator.iloc[number], kind="stable").tolist() for annotator in annotators
        ]
        own = np.argsort(-wins, kind="stable").tolist()
        overlaps_of = [
            [by_definition(r, h, 0.8, extrapolated=False) for h in humans]
            for r in (own, list(range(15)))
        ]
        differences.append(np.subtract(*np.mean(overlaps_of, axis=1)))
    row = one(overlaps, "judges_with_annotators", 15, "truncated", LISTED, "ChatGPT")
    assert row["above_list"] == pytest.approx(np.mean(differences), abs=1e-12)
    draw = default_rng(1).integers(50, size=(20_000, 50))
    ends = np.quantile(np.array(differences)[draw].mean(axis=1), [0.05, 0.95])
    assert fields(row, "ci_low ci_high") == pytest.approx(ends, abs=0.001)
    assert row["ci_low"] < 0 < row["ci_high"]
    dolly = one(overlaps, "judges_with_annotators", 15, "truncated", LISTED, "DollyV2")
    assert -1e-4 < dolly["ci_low"] < dolly["above_list"] < 0 <= dolly["ci_high"]
