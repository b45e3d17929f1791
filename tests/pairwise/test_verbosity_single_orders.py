"""Verdicts in one order only: what a random order shows about the place, the length and the author
of an answer.
"""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from numpy.testing import assert_equal

from drawings import x_values
from picked_rows import keyed
from random_comparisons import SETTINGS, few_replicates, write
from recuse.pairwise.questions import open_pairs
from recuse.pairwise.verbosity import POSITION, STATISTICS, position
from recuse.plot.colours import Palette
from recuse.plot.style import Subject
from recuse.plot.verbosity import position_figure as draw_position

BETTER = 0.7  # chance of the answer of m, of both models, by a judge that reads them
TIES = 0.1


def judged(first, *, count=4000, seed=1, longer=0.0):
    """Verdicts of the judge m, each pair in an order drawn at random.

    The judge takes the answer shown first with probability `first`, else the longer with
    probability `longer`, else that of m, its own, with probability BETTER; before that it calls a
    tie with probability TIES. Hence, of its choices:

        first: first + (1 - first) / 2
        longer: first / 2 + (1 - first) (longer + (1 - longer) / 2)
        own: first / 2 + (1 - first) (longer / 2 + (1 - longer) BETTER)
    """
    generator = default_rng(seed)
    ab = generator.random(count) < 0.5
    length_a = generator.integers(50, 151, count)
    by_quality = generator.random(count) < BETTER
    by_length = np.where(generator.random(count) < longer, length_a > 100, by_quality)
    is_a = np.where(generator.random(count) < first, ab, by_length)
    outcome = np.where(generator.random(count) < TIES, "tie", np.where(is_a, "a", "b"))
    row = {"judge": "m", "model_a": "m", "model_b": "n"}
    return [
        row
        | {"item": f"q{number // 2}", "vote": 1 + number % 2, "order": "ab" if ab[number] else "ba"}
        | {"outcome": str(outcome[number]), "length_a": int(length_a[number]), "length_b": 100}
        for number in range(count)
    ]


def found(rows, folder):
    table = list(position(open_pairs(write(rows, folder / "c.parquet"), {}), **SETTINGS))
    assert all(tuple(row) == POSITION[1:] for row in table)
    return keyed(table, "statistic")


def test_planted_preferences_are_found_by_order_drawn_at_random(tmp_path, monkeypatch):
    few_replicates(monkeypatch, 500)
    rows = found(judged(0.3, longer=0.2), tmp_path)
    planted = {"first": 0.65, "longer": 0.15 + 0.7 * 0.6, "own": 0.15 + 0.7 * (0.1 + 0.8 * BETTER)}
    assert rows.keys() == {f"single_order_{name}" for name in planted}
    for name, value in planted.items():
        row = rows[f"single_order_{name}"]
        assert row["value"] == pytest.approx(value, abs=0.025)
        assert row["ci_low"] < row["value"] < row["ci_high"]
        assert row["ci_high"] - row["ci_low"] == pytest.approx(
            2 * 1.645 * np.sqrt(value * (1 - value) / row["n"]), rel=0.15
        )
        assert row["n"] == pytest.approx(4000 * (1 - TIES), rel=0.03)
        assert row["questions"] == pytest.approx(2000, rel=0.02)


def test_comparisons_in_both_orders_and_in_one_are_separate(tmp_path, monkeypatch):
    few_replicates(monkeypatch, 200)
    single = judged(0.9, count=40)
    both = [
        {**row, "item": f"both {row['item']}", "order": order}
        for row in judged(0.0, count=40)
        for order in ("ab", "ba")
    ]
    errors = [{**row, "item": f"none {row['item']}", "outcome": "error"} for row in single]
    mixed, same_for_both, of_single = (
        found(rows, tmp_path) for rows in (single + both + errors, both, single)
    )
    assert_equal(mixed, same_for_both | of_single)
    assert same_for_both.keys() == set(STATISTICS)


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
