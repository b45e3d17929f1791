"""Curves against the difference in length: bins, loops over random comparisons, and the released
verdicts of PRD.
"""

import math
from collections import defaultdict
from fractions import Fraction
from statistics import stdev

import pytest
from scipy.stats import binomtest

from picked_rows import fields, keyed
from random_comparisons import POOLS, compared, labels_from, random_rows, verdicts, write
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


def known(pair):
    return pair["length_a"] is not None and pair["length_b"] is not None


def check_unknown(results, expected):
    """The comparisons without both lengths, which `expected` has under no bin, are counted in every
    row of their curve.
    """
    unknown = {key: len(expected.get((*key[:-1], None), ())) for key in results}
    assert {key: row["no_length"] for key, row in results.items()} == unknown
    assert set(unknown.values()) > {0, 1}


def by_rule(pair, order):
    """The verdict of both orders of a comparison, or of the only one that was asked, or `error`."""
    if order == "debiased":
        return pair["debiased"]
    asked = verdicts(pair, "pooled")
    return asked[0] if len(asked) == 1 else "error"


@pytest.mark.parametrize(("seed", "order"), [(1, "debiased"), (2, "single")])
def test_scores_are_those_of_a_loop(tmp_path, seed, order):
    rows = random_rows(seed)
    results = scores(write(rows, tmp_path / "c.parquet"), order=(order, ""))
    expected = defaultdict(list)
    labelled = {}
    for pair in compared(rows):
        bin_low = place(pair["length_a"], pair["length_b"]) if known(pair) else None
        for label in labels_from(pair["condition"]):
            group = pair["experiment"], label
            if by_rule(pair, order) != "error":
                expected[*group, pair["judge"], bin_low].append(SCORE[by_rule(pair, order)])
            if pair["human"] is not None:
                answers = fields(pair, "condition item model_a model_b")
                labelled[*group, *answers] = bin_low, pair["human"]
    for (experiment, label, *_), (bin_low, human) in labelled.items():
        expected[experiment, label, "Human", bin_low].append(SCORE[human])
    assert set(results) == {key for key in expected if key[-1] is not None}
    assert {key[-1] for key in results} >= {-110, -10, 110}
    check_unknown(results, expected)
    for key, values in expected.items():
        if key[-1] is None:
            continue
        row = results[key]
        assert fields(row, "n mean") == (
            len(values),
            pytest.approx(sum(values) / len(values), abs=1e-14),
        )
        assert row["std_dev"] == (
            pytest.approx(stdev(values), abs=1e-12) if len(values) > 1 else None
        )


def test_alignment_is_that_of_a_loop(tmp_path):
    rows = random_rows(1)
    results = alignment(write(rows, tmp_path / "c.parquet"))
    expected = defaultdict(list)
    for pair in compared(rows):
        if pair["human"] in ("a", "b") and pair["debiased"] in ("a", "b"):
            chosen, rejected = (
                pair[f"length_{side}"] for side in (pair["human"], "ba"["ab".index(pair["human"])])
            )
            bin_low = place(chosen, rejected) if known(pair) else None
            for label in labels_from(pair["condition"]):
                expected[pair["experiment"], label, pair["judge"], bin_low].append(
                    pair["debiased"] == pair["human"]
                )
    assert set(results) == {key for key in expected if key[-1] is not None}
    check_unknown(results, expected)
    for key, agrees in expected.items():
        if key[-1] is None:
            continue
        row = results[key]
        assert fields(row, "agree n agreement") == (
            sum(agrees),
            len(agrees),
            sum(agrees) / len(agrees),
        )
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
