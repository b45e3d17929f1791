"""Reliability of human scores: against scipy's analysis of variance, published numbers and a
planted one; from alpha.
"""

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

from conftest import DATA
from picked_rows import only
from recuse.base.reasons import Reason, because
from recuse.data.raters import rater_agreement
from recuse.inference.reliability import (
    ALPHA,
    OF_ALPHA,
    OF_RATERS,
    one_way,
    reliability_of_alphas,
    reliability_of_raters,
    spearman_brown,
    unusable,
)

# Shrout and Fleiss (1979), Table 2: six targets, four judges.
TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def of(scores):
    return one_way(*np.transpose([(len(row), sum(row), np.dot(row, row)) for row in scores]))


def test_published_example():
    result = of(TARGETS)
    assert (result.single, result.mean) == pytest.approx((0.17, 0.44), abs=0.005)
    assert (result.raters, result.origin) == (4, OF_RATERS)


def test_uneven_raters_equal_the_analysis_of_variance():
    from scipy.stats import f_oneway

    generator = default_rng(3)
    scores = [
        list(generator.normal(generator.normal(), 1.5, size=generator.integers(1, 5)))
        for _ in range(40)
    ]
    ratio = f_oneway(*scores).statistic
    count = np.array([len(row) for row in scores])
    raters = (count.sum() - (count**2).sum() / count.sum()) / (len(count) - 1)
    result = of(scores)
    assert result.single == pytest.approx((ratio - 1) / (ratio - 1 + raters), rel=1e-10)
    assert result.raters == pytest.approx(len(count) / (1 / count).sum(), rel=1e-12)
    assert result.mean == pytest.approx(spearman_brown(result.single, result.raters), rel=1e-12)


@pytest.mark.parametrize("scores", [[[1.0], [2.0]], [[1.0, 2.0]], [[2.0, 2.0], [2.0, 2.0]]])
def test_scores_without_a_reliability(scores):
    assert of(scores) is None


def test_raters_of_a_study_without_the_gold_team(tmp_path):
    rows = [
        ("m", "Tone", "d", f"p{place}", team, f"r{rater}", score if team == "raters" else 0)
        for place, row in enumerate(TARGETS)
        for rater, score in enumerate(row)
        for team in ("raters", "gold")
    ]
    rows += [
        ("m", "Alone", "d", "p1", "raters", "r1", 3),
        ("m", "Alone", "d", "p2", "raters", "r1", 4),
    ]
    names = ("model", "dimension", "dataset", "prompt_id", "team", "rater", "rating")
    path = str(tmp_path / "raters.parquet")
    duckdb.from_df(pd.DataFrame(rows, columns=names)).write_parquet(path)
    assert reliability_of_raters(path) == {"Tone": of(TARGETS)}
    alpha = only(rater_agreement(path), statistic=ALPHA, dimension="Tone")["value"]
    # Both are 1 - MSW / (variance of all scores), alpha's with the N - 1 of its degrees of freedom.
    scores = np.array(TARGETS)
    assert alpha == pytest.approx(1 - scores.var(axis=1, ddof=1).mean() / scores.var(ddof=1))
    assert abs(alpha - of(TARGETS).single) < 0.1


def test_published_alphas_by_spearman_brown():
    result = reliability_of_alphas(str(DATA / "twin_facts.csv"), raters=3)
    expected = {
        "Completeness": 1.41 / 1.94,
        "Conciseness": 0.45 / 1.30,
        "Faithfulness": 0.45 / 1.30,
        "Helpfulness": 1.41 / 1.94,
        "Logical correctness": 0.93 / 1.62,
        "Logical robustness": 0.42 / 1.28,
    }
    assert {
        dimension: reliability.mean for dimension, reliability in result.items()
    } == pytest.approx(expected)
    assert {reliability.origin for reliability in result.values()} == {OF_ALPHA}


def test_missing_and_impossible_reliabilities_are_named():
    dimensions = np.array(["Tone", "Tone", "Wit"])
    assert unusable({"Tone": 0.5, "Wit": 1.0}, dimensions) == ""
    assert unusable({"Tone": 0.5}, dimensions) == because(Reason.RELIABILITY_UNKNOWN, names="Wit")
    for value in (-0.1, 0.0, 1.1):
        assert unusable({"Tone": value, "Wit": 1.0}, dimensions) == because(
            Reason.RELIABILITY_UNUSABLE, names="Tone"
        )
