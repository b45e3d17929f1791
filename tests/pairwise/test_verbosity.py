"""Verbosity bias against plain loops over random comparisons, on tiny cases, and on the released
verdicts of PRD.
"""

import math
from collections import defaultdict

import numpy as np
import pytest

from picked_rows import fields, keyed
from random_comparisons import (
    POOLS,
    SETTINGS,
    few_replicates,
    groups,
    random_rows,
    resampled,
    verdicts,
    write,
)
from recuse.base.errors import ConfigError
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import VERBOSITY, verbosity

ORDERS = ("debiased", "ab", "ba", "pooled")
TREATMENTS = ("excluded", "disagreement", "half")
REPLICATES = 50
REASONS = ("no_human", "errors", "human_ties", "no_length", "equal_lengths", "judge_draws")


def fate(pair, verdict):
    """Why a verdict is left out, or `shorter` or `longer`: which answer the humans prefer."""
    human, a, b = fields(pair, "human length_a length_b")
    if human is None:
        return "no_human"
    if verdict == "error":
        return "errors"
    if human == "tie":
        return "human_ties"
    if a is None or b is None:
        return "no_length"
    if a == b:
        return "equal_lengths"
    return "shorter" if (a if human == "a" else b) < (b if human == "a" else a) else "longer"


def counted(pairs, order, treatment, times=None):
    """wrong and n by side, what is left out, and the questions of each side; each question counts
    `times` times.
    """
    wrong = defaultdict(float)
    n = defaultdict(float)
    left = defaultdict(int)
    questions = {"shorter": set(), "longer": set()}
    for pair in pairs:
        for verdict in verdicts(pair, order):
            why = fate(pair, verdict)
            weight = times[pair["item"]] if times else 1
            if why not in ("shorter", "longer"):
                left[why] += 1
                continue
            left["judge_draws"] += verdict == "tie"
            if verdict == "tie" and treatment == "excluded":
                continue
            questions[why].add(pair["item"])
            n[why] += weight
            if verdict == "tie":
                wrong[why] += weight * {"disagreement": 1, "half": 0.5}[treatment]
            else:
                wrong[why] += weight * (verdict != pair["human"])
    rates = {side: wrong[side] / n[side] if n[side] else math.nan for side in ("shorter", "longer")}
    return rates["shorter"] - rates["longer"], rates, wrong, n, left, questions


def check_interval(row, pairs, times):
    """Its ends are quantiles over resampled questions, which `times` counts."""
    rule = fields(row, "order draws")
    if min(map(len, counted(pairs, *rule)[-1].values())) < 2:
        assert row["ci_low"] is row["ci_high"] is None
        return
    values = np.array([counted(pairs, *rule, each)[0] for each in times])
    ends = np.quantile(values[np.isfinite(values)], [0.05, 0.95])
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends, abs=1e-12)


def table(path, pools=POOLS, **settings):
    rows = list(verbosity(open_pairs(path, pools), **(SETTINGS | settings)))
    assert all(
        tuple(row) == VERBOSITY[1:14] + tuple(key for key in row if key in VERBOSITY[14:])
        for row in rows
    )
    return keyed(rows, "experiment condition judge order draws")


def test_every_number_is_that_of_a_loop_over_comparisons(tmp_path, monkeypatch):
    few_replicates(monkeypatch, REPLICATES)
    rows = random_rows(1)
    results = table(write(rows, tmp_path / "c.parquet"))
    naive = {
        key: pairs for key, pairs in groups(rows).items() if any(pair["human"] for pair in pairs)
    }
    assert set(results) == {
        (*key, order, draws) for key in naive for order in ORDERS for draws in TREATMENTS
    }
    for key, pairs in naive.items():
        times = list(
            resampled(sorted({pair["item"] for pair in pairs}), seed=7, replicates=REPLICATES)
        )
        for order in ORDERS:
            for draws in TREATMENTS:
                row = results[*key, order, draws]
                if (order, draws) in (("debiased", "excluded"), ("pooled", "half")):
                    check_interval(row, pairs, times)
                bias, rates, wrong, n, left, questions = counted(pairs, order, draws)
                assert row["verbosity_bias"] == pytest.approx(bias, abs=1e-14, nan_ok=True)
                assert row["accuracy_parity_gap"] == pytest.approx(
                    abs(bias), abs=1e-14, nan_ok=True
                )
                for side in ("shorter", "longer"):
                    assert (row[f"wrong_{side}"], row[f"n_{side}"]) == (wrong[side], n[side])
                    assert row[f"rate_{side}"] == (pytest.approx(rates[side]) if n[side] else None)
                assert [row[reason] for reason in REASONS] == [left[reason] for reason in REASONS]
                assert row["questions"] == len(set.union(*questions.values()))
                assert row["few"] == ("yes" if min(map(len, questions.values())) < 10 else "no")


@pytest.mark.parametrize(
    ("pools", "words"),
    [
        ({"one": ["two"]}, "pools: one: the name of a condition"),
        ({"p": ["one", "Two"]}, "pools: p: 'Two' is no cond.*found: one, two, unl"),
    ],
)
def test_impossible_pools_are_named(tmp_path, pools, words):
    with pytest.raises(ConfigError, match=words):
        open_pairs(write(random_rows(1, questions=2), tmp_path / "c.parquet"), pools)
