"""Position statistics against plain loops over random comparisons, and on the released verdicts of
LLMBar.
"""

import numpy as np
import pytest
from scipy.stats import binomtest

from picked_rows import fields, keyed
from random_comparisons import POOLS, SETTINGS, groups, random_rows, write
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import POSITION, position


def naive(pairs):
    """(value, n, questions) of each statistic by a loop."""
    results = {"consistency": [], "first_preference": [], "first_both": [], "second_both": []}
    for pair in pairs:
        if {pair.get("ab"), pair.get("ba")} & {None, "error"}:
            continue
        first = {("ab", "a"): 1, ("ab", "b"): 0, ("ba", "b"): 1, ("ba", "a"): 0}
        chosen = [first.get((order, pair[order])) for order in ("ab", "ba")]
        item = pair["item"]
        results["consistency"].append((pair["ab"] == pair["ba"], item))
        results["first_both"].append((chosen == [1, 1], item))
        results["second_both"].append((chosen == [0, 0], item))
        results["first_preference"] += [(one, item) for one in chosen if one is not None]
    return {
        name: (
            np.mean([one for one, _ in seen]) if seen else np.nan,
            len(seen),
            len({item for _, item in seen}),
        )
        for name, seen in results.items()
    }


def table(path, pools=POOLS):
    rows = list(position(open_pairs(path, pools), **SETTINGS))
    assert all(tuple(row) == POSITION[1:] for row in rows)
    return keyed(rows, "experiment condition judge statistic")


def test_every_number_is_that_of_a_loop_over_comparisons(tmp_path):
    """Intervals are made as those of agreement, whose test has a loop over resamples."""
    rows = random_rows(4)
    results = table(write(rows, tmp_path / "c.parquet"))
    # Who makes nothing but errors
    assert {key[:3] for key in results} == {key for key in groups(rows) if key[2] != "Blind"}
    for key, pairs in groups(rows).items():
        if key[2] == "Blind":
            continue
        for name, (value, n, questions) in naive(pairs).items():
            row = results[*key, name]
            assert fields(row, "value n questions") == (
                pytest.approx(value, abs=1e-14),
                n,
                questions,
            )


def verdicts_from(outcomes):
    """Comparisons of one judge with the given outcomes, (order ab, order ba), each on a question of
    its own.
    """
    row = {"judge": "j", "model_a": "m", "model_b": "n"}
    return [
        row | {"item": str(number), "order": order, "outcome": outcome}
        for number, both in enumerate(outcomes)
        for order, outcome in zip(("ab", "ba"), both, strict=True)
    ]


def test_a_judge_that_always_takes_the_first_has_exact_intervals(tmp_path):
    rows = table(write(verdicts_from([("a", "b")] * 3), tmp_path / "first.parquet"), pools={})
    values = {name: row["value"] for (*_, name), row in rows.items()}
    assert values == {"consistency": 0, "first_preference": 1, "first_both": 1, "second_both": 0}
    for row in rows.values():
        ends = binomtest(int(3 * row["value"]), 3).proportion_ci(0.9, "exact")
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([ends.low, ends.high], abs=1e-12)
