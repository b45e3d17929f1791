"""Verbosity bias against counts of random comparisons, each under its reason."""

import numpy as np
import pandas as pd
import pytest

from picked_rows import fields, keyed
from random_comparisons import (
    POOLS,
    SETTINGS,
    few_replicates,
    random_rows,
    resampled,
    verdicts,
    write,
)
from recuse.base.errors import ConfigError
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import VERBOSITY, verbosity

REPLICATES = 50
SIDES = ["shorter", "longer"]  # which answer the humans prefer
REASONS = ["no_human", "errors", "human_ties", "no_length", "equal_lengths"]
DRAWS = {"excluded": np.nan, "disagreement": 1, "half": 0.5}


def judged(rows):
    """Each verdict under each treatment of the judge's draws: whether it is wrong, and its fate:
    why it is left out, or one of SIDES.
    """
    frame = verdicts(rows)
    human, verdict, a, b = (frame[name] for name in ("human", "verdict", "length_a", "length_b"))
    chosen, rejected = a.where(human == "a", b), b.where(human == "a", a)
    fates = [human.isna(), verdict == "error", human == "tie", a.isna() | b.isna(), a == b]
    side = np.where(chosen < rejected, *SIDES)
    frame["fate"] = np.select(fates, REASONS, side)
    wrong = (verdict != human).astype(float)
    return pd.concat(
        frame.assign(draws=draws, wrong=wrong.mask(verdict == "tie", points))
        for draws, points in DRAWS.items()
    )


def interval(used, times):
    """Quantiles over resampled questions, which `times` counts."""
    numbers = used.pivot_table(
        index="item", columns="fate", values="wrong", aggfunc=["sum", "count"], fill_value=0
    )
    totals = times @ numbers.reindex(times.columns, fill_value=0)
    rates = totals["sum"] / totals["count"]
    return (rates["shorter"] - rates["longer"]).quantile([0.05, 0.95]).tolist()


def table(path, pools=POOLS, **settings):
    rows = list(verbosity(open_pairs(path, pools), **(SETTINGS | settings)))
    assert all(
        tuple(row) == VERBOSITY[1:14] + tuple(key for key in row if key in VERBOSITY[14:])
        for row in rows
    )
    return keyed(rows, "experiment condition judge order draws")


def test_every_number_is_that_of_the_comparisons(tmp_path, monkeypatch):
    few_replicates(monkeypatch, REPLICATES)
    rows = random_rows(1)
    results = table(write(rows, tmp_path / "c.parquet"))
    expected = judged(rows)
    expected = expected[expected["condition"] != "unlabelled"]
    names = ["experiment", "condition", "judge", "order", "draws"]
    assert set(results) == {*expected.groupby(names).groups}
    for key, group in expected.groupby(names[:3]):
        times = resampled(sorted({*group["item"]}), seed=7, replicates=REPLICATES)
        for rule, found in group.groupby(names[3:]):
            row = results[*key, *rule]
            decided = found[found["fate"].isin(SIDES)]
            left = found["fate"].value_counts().reindex(REASONS, fill_value=0)
            assert [row[reason] for reason in REASONS] == left.tolist()
            assert row["judge_draws"] == sum(decided["verdict"] == "tie")
            used = decided.dropna(subset="wrong")
            sides = used.groupby("fate")
            wrong, n = (
                sides["wrong"].agg(numbers).reindex(SIDES, fill_value=0)
                for numbers in ("sum", "count")
            )
            rates = wrong / n
            for side in SIDES:
                assert fields(row, f"wrong_{side} n_{side}") == (wrong[side], n[side])
                assert row[f"rate_{side}"] == (pytest.approx(rates[side]) if n[side] else None)
            bias = rates["shorter"] - rates["longer"]
            assert fields(row, "verbosity_bias accuracy_parity_gap") == pytest.approx(
                (bias, abs(bias)), abs=1e-14, nan_ok=True
            )
            questions = sides["item"].nunique().reindex(SIDES, fill_value=0)
            assert row["questions"] == used["item"].nunique()
            assert row["few"] == ("yes" if min(questions) < 10 else "no")
            ends = fields(row, "ci_low ci_high")
            if min(questions) < 2:
                assert ends == (None, None)
            elif rule in (("debiased", "excluded"), ("pooled", "half")):
                assert list(ends) == pytest.approx(interval(used, times), abs=1e-12)


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
