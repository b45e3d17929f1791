"""Position statistics against means over random comparisons."""

import pandas as pd
import pytest
from scipy.stats import binomtest

from picked_rows import fields, keyed
from random_comparisons import POOLS, SETTINGS, labelled, own_rows, write
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import POSITION, SINGLE_STATISTICS, STATISTICS, position


def naive(rows):
    """What each statistic is the mean of, comparison by comparison."""
    pairs = labelled(rows)
    pairs = pairs[(pairs["ab"] != "error") & (pairs["ba"] != "error")]
    pairs["of_ab"] = pairs["ab"].map({"a": 1, "b": 0})  # whether the first answer is chosen
    pairs["of_ba"] = pairs["ba"].map({"b": 1, "a": 0})
    is_both = pairs["ab"].notna() & pairs["ba"].notna()
    both, single = pairs[is_both], pairs[~is_both]
    single = single.assign(verdict=single["ab"].fillna(single["ba"])).query("verdict != 'tie'")
    a, b = single["length_a"], single["length_b"]
    of_own = single.query("judge == model_a or judge == model_b")
    chosen = of_own["model_a"].where(of_own["verdict"] == "a", of_own["model_b"])
    found = {
        "consistency": both["ab"] == both["ba"],
        "first_both": both["of_ab"] + both["of_ba"] == 2,
        "second_both": both["of_ab"] + both["of_ba"] == 0,
        "first_preference": pd.concat([both["of_ab"], both["of_ba"]]).dropna(),
        "single_order_first": single["of_ab"].fillna(single["of_ba"]),
        "single_order_longer": ((single["verdict"] == "a") == (a > b))[(a > b) | (a < b)],
        "single_order_own": chosen == of_own["judge"],
    }
    values = pd.concat(
        {name: each.astype(float) for name, each in found.items()}, names=["statistic"]
    )
    return values.rename("value").reset_index("statistic").join(pairs)


def table(path, pools=POOLS):
    rows = list(position(open_pairs(path, pools), **SETTINGS))
    assert all(tuple(row) == POSITION[1:] for row in rows)
    return keyed(rows, "experiment condition judge statistic")


def test_every_number_is_that_of_the_comparisons(tmp_path):
    """Intervals are made as those of agreement, whose test resamples questions."""
    rows = own_rows(4)
    results = table(write(rows, tmp_path / "c.parquet"))
    expected = naive(rows).groupby(["experiment", "condition", "judge", "statistic"])
    assert {*results} == {*expected.groups}
    assert {key[3] for key in results} == {*STATISTICS, *SINGLE_STATISTICS}
    for key, found in expected:
        row = results[key]
        assert row["value"] == pytest.approx(found["value"].mean(), abs=1e-14)
        assert fields(row, "n questions") == (len(found), found["item"].nunique())


def test_a_judge_that_always_takes_the_first_has_exact_intervals(tmp_path):
    row = {"judge": "j", "model_a": "m", "model_b": "n"}
    both = [row | {"order": "ab", "outcome": "a"}, row | {"order": "ba", "outcome": "b"}]
    verdicts = [each | {"item": item} for item in "pqr" for each in both]
    rows = table(write(verdicts, tmp_path / "first.parquet"), pools={})
    values = {name: row["value"] for (*_, name), row in rows.items()}
    assert values == {"consistency": 0, "first_preference": 1, "first_both": 1, "second_both": 0}
    for row in rows.values():
        ends = binomtest(int(3 * row["value"]), 3).proportion_ci(0.9, "exact")
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([ends.low, ends.high], abs=1e-12)
