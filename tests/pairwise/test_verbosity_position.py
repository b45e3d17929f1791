"""Position statistics against plain loops over random comparisons, and on the released verdicts of
LLMBar.
"""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from drawings import x_values
from picked_rows import fields, keyed
from random_comparisons import POOLS, SETTINGS, groups, own_rows, write
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import POSITION, SINGLE_STATISTICS, STATISTICS, position
from recuse.plot.colours import Palette
from recuse.plot.style import Subject
from recuse.plot.verbosity import position_figure as draw_position


def naive(pairs):
    """(value, n, questions) of each statistic by a loop."""
    results = {name: [] for name in STATISTICS}
    singles = defaultdict(list)
    first = {("ab", "a"): 1, ("ab", "b"): 0, ("ba", "b"): 1, ("ba", "a"): 0}
    for pair in pairs:
        asked = {order: pair[order] for order in ("ab", "ba") if order in pair}
        if "error" in asked.values():
            continue
        item = pair["item"]
        chosen = [first.get(each) for each in asked.items()]
        if len(asked) == 2:
            results["consistency"].append((pair["ab"] == pair["ba"], item))
            results["first_both"].append((chosen == [1, 1], item))
            results["second_both"].append((chosen == [0, 0], item))
            results["first_preference"] += [(one, item) for one in chosen if one is not None]
        elif chosen != [None]:
            (verdict,) = asked.values()
            judge, a, b = fields(pair, "judge length_a length_b")
            singles["single_order_first"].append((chosen[0], item))
            if None not in (a, b) and a != b:
                singles["single_order_longer"].append(((verdict == "a") == (a > b), item))
            if judge in fields(pair, "model_a model_b"):
                singles["single_order_own"].append((pair[f"model_{verdict}"] == judge, item))
    return {
        name: (
            np.mean([one for one, _ in seen]) if seen else np.nan,
            len(seen),
            len({item for _, item in seen}),
        )
        for name, seen in (results | singles).items()
    }


def table(path, pools=POOLS):
    rows = list(position(open_pairs(path, pools), **SETTINGS))
    assert all(tuple(row) == POSITION[1:] for row in rows)
    return keyed(rows, "experiment condition judge statistic")


def test_every_number_is_that_of_a_loop_over_comparisons(tmp_path):
    """Intervals are made as those of agreement, whose test has a loop over resamples."""
    rows = own_rows(4)
    results = table(write(rows, tmp_path / "c.parquet"))
    expected = {}
    for key, pairs in groups(rows).items():
        if key[2] != "Blind":  # who makes nothing but errors
            expected |= {(*key, name): numbers for name, numbers in naive(pairs).items()}
    assert results.keys() == expected.keys()
    assert {key[3] for key in expected} == {*STATISTICS, *SINGLE_STATISTICS}
    for key, (value, *counts) in expected.items():
        row = results[key]
        assert row["value"] == pytest.approx(value, abs=1e-14)
        assert [row["n"], row["questions"]] == counts


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


def row_from(statistic, low, high):
    value = {"value": (low + high) / 2, "ci_low": low, "ci_high": high, "n": 100}
    return {
        "judge": "m",
        "condition": "",
        "experiment": "",
        "statistic": f"single_order_{statistic}",
        **value,
    }


def test_the_figure_of_position_draws_single_orders_where_there_are_no_others():
    table = pd.DataFrame([row_from("first", 0.6, 0.7), row_from("own", 0.45, 0.55)])
    figure = draw_position(table, Subject("s", "user", Palette({}, {}), ""), confidence=0.9)
    points = [line for axes in figure.axes for line in axes.lines if line.get_gid() == "point"]
    assert x_values(points) == [pytest.approx(0.65), pytest.approx(0.5)]
    message = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert "only if it was drawn at random" in message
    assert ["n = 100" in [text.get_text() for text in axes.texts] for axes in figure.axes] == [
        True
    ] * 2
