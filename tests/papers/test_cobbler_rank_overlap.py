"""Rank-biased overlap against a loop over depths, the PyPI package rbo, and the values of the
released rankings of CoBBLEr.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose

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
from text_tables import lines
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
JUDGES = """
GPT-4 ChatGPT InstructGPT LLaMA Cohere Falcon Alpaca Vicuna OpenAssist Baize Koala WizardLM MPT DollyV2 RedPajama
GPT-4 ChatGPT InstructGPT LLaMA Cohere Falcon Alpaca Vicuna OpenAssist Baize Koala WizardLM MPT LLaMAv2 Mistral OLMo
"""
SETTING = ["systems", "form", "ties"]
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
    for is_extrapolated, expected in ((False, truncated), (True, extrapolated)):
        overlap = rank_biased_overlap(*own, persistence=p, extrapolated=is_extrapolated)
        assert overlap == pytest.approx(expected, abs=1e-14)


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
    """The rows by statistic, setting and judge; the judge is empty where there is none."""
    folder, _ = released("cobbler")
    table = pd.DataFrame(released_overlap(str(folder), **SAMPLING)).fillna({"judge": ""})
    table = table.set_index(["statistic", *SETTING, "judge"]).sort_index()
    assert table.index.is_unique
    return table


@pytest.mark.mirror
def test_overlaps_of_the_paper(overlaps):
    aggregate = overlaps.loc["aggregate", 15, "truncated", LISTED, ""]
    assert aggregate["value"] == pytest.approx(0.49630142557117646, abs=1e-12)
    assert np.isnan(aggregate["as_coded"])
    assert aggregate["rankings"] == 50
    judges = overlaps.loc["judges_with_annotators", 13, "extrapolated", BY_NAME, ""]
    assert judges["as_coded"] == pytest.approx(0.4375625, abs=1e-12)
    assert judges["value"] == pytest.approx(0.4375728872920215, abs=1e-12)
    assert judges["rankings"] == 16 * 6 * 50
    for ties in (LISTED, BY_NAME):  # the annotators' rankings have none
        first = overlaps.loc["inter_annotator", 15, "truncated", ties, ""]
        assert first["as_coded"] == pytest.approx(7.168 / 15, abs=1e-12)
        assert first["rankings"] == 15 * 50
        again = overlaps.loc["inter_annotator", 13, "extrapolated", ties, ""]
        assert again["as_coded"] == pytest.approx(8.054 / 15, abs=1e-12)


@pytest.mark.mirror
def test_a_list_that_sees_no_answer_does_no_worse_than_any_judge(overlaps):
    listing = overlaps.loc["listing_order"].droplevel("judge")
    assert (listing["rankings"] == 300).all()
    newer = listing.loc[13, "extrapolated"]["value"]
    assert newer.to_list() == pytest.approx([0.5805882501244714] * 2, abs=1e-12)
    rows = overlaps.loc["judges_with_annotators", "value"]
    judges = rows.drop("", level="judge").groupby(SETTING)
    assert len(judges) == 8
    for (systems, *_), own in judges:
        assert set(own.index.get_level_values("judge")) == set(lines(JUDGES)[systems == 13])
    assert (judges.max() < listing["value"]).all()
    assert_allclose(rows.xs("", level="judge"), judges.mean(), rtol=0, atol=1e-12)
    # One valid verdict: the list, but for that one
    dolly = rows[15, "truncated", LISTED, "DollyV2"]
    assert dolly == pytest.approx(0.5238264250123538, abs=1e-12)


@pytest.mark.mirror
def test_with_the_annotators_together_some_judges_do_better_than_the_list(overlaps):
    listing = overlaps.loc["listing_order_with_annotators_together"].droplevel("judge")
    assert (listing["rankings"] == 50).all()
    judges = overlaps.loc["judges_with_annotators_together"].drop("", level="judge")
    assert (judges["rankings"] == 50).all()
    values = judges["value"].unstack("judge")
    above = values.sub(listing["value"], axis=0).stack().dropna().sort_index()
    assert_allclose(judges["above_list"], above, rtol=0, atol=1e-12)
    assert len(above) == 4 * (15 + 16)
    above_list = above[above > 1e-12].groupby(SETTING)
    assert len(above_list) == 8
    for (systems, *_), own in above_list:
        better = ["ChatGPT"] if systems == 15 else ["ChatGPT", "Mistral"]
        assert own.index.get_level_values("judge").to_list() == better
    assert not (judges["ci_low"] > 0).any()  # none can be distinguished from the list


@pytest.mark.mirror
def test_intervals_of_what_a_judge_is_above_the_list(overlaps):
    """Of ChatGPT with single annotators, by loops over the definition and a bootstrap of its own;
    DollyV2 is the list.
    """
    folder, _ = released("cobbler")
    of_humans = f"{folder}/{BATCHES}/human_annotations"
    annotators = [read_wins(f"{of_humans}/annot_{number}.json") for number in range(1, 7)]
    judge = wins_of_judge(folder, "model_annotations", "chatgpt")[list(annotators[0])]
    # (rankers, instructions, systems)
    own, *humans = np.argsort([-wins.to_numpy() for wins in (judge, *annotators)], kind="stable")
    differences = []
    for instruction, ranking in enumerate(own.tolist()):
        overlaps_of = [
            [by_definition(r, human[instruction], 0.8, extrapolated=False) for human in humans]
            for r in (ranking, range(15))
        ]
        differences.append(np.subtract(*np.mean(overlaps_of, axis=1)))
    rows = overlaps.loc["judges_with_annotators", 15, "truncated", LISTED]
    row = rows.loc["ChatGPT"]
    assert row["above_list"] == pytest.approx(np.mean(differences), abs=1e-12)
    draw = default_rng(1).integers(50, size=(20_000, 50))
    ends = np.quantile(np.array(differences)[draw].mean(axis=1), [0.05, 0.95])
    assert fields(row, "ci_low ci_high") == pytest.approx(ends, abs=0.001)
    assert row["ci_low"] < 0 < row["ci_high"]
    dolly = rows.loc["DollyV2"]
    assert -1e-4 < dolly["ci_low"] < dolly["above_list"] < 0 <= dolly["ci_high"]
