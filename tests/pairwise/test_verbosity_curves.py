"""Curves against the difference in length: bins, and the numbers of random comparisons."""

import math
from fractions import Fraction

import pandas as pd
import pytest
from scipy.stats import binomtest

from picked_rows import fields, keyed
from random_comparisons import POOLS, labelled, random_rows, write
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import ALIGNMENT_CURVES, SCORE_CURVES, alignment_curves, score_curves
from text_tables import lines

SCORE = {"a": 1, "tie": 0, "b": -1}


def place(length, other):
    """Lower end of the bin of a relative difference, in whole numbers and fractions."""
    if other == 0:
        return 110 if length else -10
    percent = Fraction(100) * (Fraction(length) - Fraction(other)) / Fraction(other)
    return min(110, 20 * math.floor((percent + 110) / 20) - 110)


def curve(rows, columns, order=()):
    rows = list(rows)
    assert all(sorted(row) == sorted(columns[1:]) for row in rows)
    rows = [row for row in rows if not order or row["order"] in order]
    assert all(
        row["bin_high"] == (None if row["bin_low"] == 110 else row["bin_low"] + 20) for row in rows
    )
    results = keyed(rows, "experiment condition judge bin_low")
    assert len(results) == len(rows)
    return results


def scores(path, pools=POOLS, order=("debiased", "")):
    """Rows of judges in both orders and of the humans, or those of another rule for the order."""
    return curve(score_curves(open_pairs(path, pools)), SCORE_CURVES, order=order)


def alignment(path, pools=POOLS):
    return curve(alignment_curves(open_pairs(path, pools), confidence=0.9), ALIGNMENT_CURVES)


KEY = ["experiment", "condition", "judge", "bin_low"]


def bins(lengths, others):
    """The lower ends of bins; none without both lengths."""
    pairs = zip(lengths, others, strict=True)
    return [None if math.isnan(sum(pair)) else place(*pair) for pair in pairs]


def check(results, expected):
    """The numbers of each bin, and of comparisons without both lengths, which are under no bin."""
    binned = expected.dropna(subset="bin_low")
    assert set(results) == {*binned.groupby(KEY).groups}
    unknown = expected[expected["bin_low"].isna()].groupby(KEY[:3]).size()
    assert {row["no_length"] for row in results.values()} > {0, 1}
    for key, found in binned.groupby(KEY):
        assert results[key]["no_length"] == unknown.get(key[:3], 0)
        yield results[key], found["value"].astype(float)


@pytest.mark.parametrize(("seed", "order"), [(1, "debiased"), (2, "single")])
def test_scores_are_those_of_pairs(tmp_path, seed, order):
    rows = random_rows(seed)
    results = scores(write(rows, tmp_path / "c.parquet"), order=(order, ""))
    assert {key[-1] for key in results} >= {-110, -10, 110}
    pairs = labelled(rows)
    pairs["bin_low"] = bins(pairs["length_a"], pairs["length_b"])
    verdict = pairs["debiased"]
    if order == "single":
        both = pairs["ab"].notna() & pairs["ba"].notna()
        verdict = pairs["ab"].fillna(pairs["ba"]).mask(both, "error")
    by_people = pairs.drop_duplicates(
        ["experiment", "condition", "within", "item", "model_a", "model_b"]
    )
    by_people = by_people.assign(judge="Human", value=by_people["human"].map(SCORE))
    by_judges = pairs.assign(value=verdict.map(SCORE))
    expected = pd.concat([by_judges, by_people]).dropna(subset="value")
    for row, values in check(results, expected):
        assert fields(row, "n mean") == (len(values), pytest.approx(values.mean(), abs=1e-14))
        spread = pytest.approx(values.std(), abs=1e-12) if len(values) > 1 else None
        assert row["std_dev"] == spread


def test_alignment_is_that_of_pairs(tmp_path):
    rows = random_rows(1)
    results = alignment(write(rows, tmp_path / "c.parquet"))
    pairs = labelled(rows).query("human in ['a', 'b'] and debiased in ['a', 'b']")
    a, b, of_a = pairs["length_a"], pairs["length_b"], pairs["human"] == "a"
    expected = pairs.assign(
        bin_low=bins(a.where(of_a, b), b.where(of_a, a)),
        value=pairs["debiased"] == pairs["human"],
    )
    for row, agrees in check(results, expected):
        assert fields(row, "agree n agreement") == (agrees.sum(), len(agrees), agrees.mean())
        interval = binomtest(row["agree"], row["n"]).proportion_ci(0.9)
        assert [row["ci_low"], row["ci_high"]] == pytest.approx(
            [interval.low, interval.high], abs=1e-12
        )


# Two lengths, and the lower end of their bin: ends themselves are -90, -10, +10 and +110 %
BINS = """
0 5 -110
11 110 -90
10 110 -110
9 10 -10
89 100 -30
5 5 -10
11 10 10
109 100 -10
13 10 30
209 100 90
21 10 110
1000000000 1 110
1000000000 999999999 -10
3 0 110
0 0 -10
"""


@pytest.mark.parametrize("line", lines(BINS))
def test_bins_hold_their_lower_end(tmp_path, line):
    *lengths, bin_low = map(int, line)
    assert place(*lengths) == bin_low
    row = {"judge": "j", "item": "q", "model_a": "m", "model_b": "n", "outcome": "a", "human": "a"}
    row |= {"length_a": lengths[0], "length_b": lengths[1]}
    path = write([row | {"order": order} for order in ("ab", "ba")], tmp_path / "c.parquet")
    assert [key[-1] for key in scores(path, pools={})] == [bin_low, bin_low]
    assert [key[-1] for key in alignment(path, pools={})] == [bin_low]
