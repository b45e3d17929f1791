"""Ratings and pairs of answers with a key, in a stranger's columns, with planted
self-preference.
"""

import math

import pandas as pd
import pytest
from numpy.random import default_rng
from scipy.stats import binom

from recuse.simulate.gold import declared_key_world, simulate_keyed

PAIRS = {
    "questions": 240,
    "accuracy": {"m1": 0.6, "m2": 0.5, "m3": 0.7, "m4": 0.5},
    "judges": {
        "m1": {"mistake": 0.2, "harmful": 0.4},
        "m2": {"mistake": 0.3},
        "m3": {"mistake": 0.2},
        "m4": {},
    },
}


def assert_recovered(found, planted):
    """Assert that means over studies are within 4 standard errors of what is planted, and 90 %
    intervals in their place; found: (key, row of the table) of every study.
    """
    rows = pd.DataFrame([{**row, "key": key, "planted": planted[key]} for key, row in found])
    rows["inside"] = rows["planted"].between(rows["ci_low"], rows["ci_high"])
    for key, each in rows.groupby("key"):
        error = each["estimate"].std(ddof=0) / math.sqrt(len(each))
        assert abs(each["estimate"].mean() - planted[key]) < 4 * error, key
        # Fewer has a probability of 0.1 %
        assert each["inside"].sum() >= binom.ppf(0.001, len(each), 0.9), key
    assert set(rows["key"]) == set(planted)
    assert rows["inside"].mean() == pytest.approx(0.9, abs=3 * math.sqrt(0.09 / len(rows)))


def write_verdicts(path, world=PAIRS, *, seed=1):
    """A CSV file with the columns grader, question, left, right, order, outcome, left_right and
    right_right.
    """
    drawn = simulate_keyed(declared_key_world(world), seed=seed)
    columns = {
        "grader": "judge",
        "question": "item",
        "left": "model_a",
        "right": "model_b",
        "order": "order",
    }
    columns |= {"outcome": "outcome", "left_right": "right_a", "right_right": "right_b"}
    pd.DataFrame({name: drawn[column] for name, column in columns.items()}).to_csv(
        path, index=False
    )


def write_judged(path, *, prompts=200, seed=1):
    """A CSV file with the columns grader, candidate, item, score and key; m1 passes its own wrong
    answers twice as often.
    """
    draw, models = default_rng(seed), list(PAIRS["accuracy"])
    rows = []
    for item in range(prompts):
        for model in models:
            right = draw.random() < 0.5
            for judge in models:
                passed = draw.random() < (0.9 if right else 0.8 if judge == model == "m1" else 0.4)
                rows.append(
                    (
                        judge,
                        model,
                        f"i{item}",
                        int(draw.integers(2, 5) if passed else draw.integers(2)),
                        4 * right,
                    )
                )
    pd.DataFrame(rows, columns=["grader", "candidate", "item", "score", "key"]).to_csv(
        path, index=False
    )
