"""Do the tables of comparisons find what was planted, and do their intervals have nominal
coverage?
"""

from collections import Counter

import numpy as np
import pytest

from picked_rows import fields, where
from planted_comparisons import BIASED, as_texts, recovered
from recuse.inference.gold import BOTH, CASES_OF_PAIRS
from recuse.simulate.pairwise import declared_comparisons, planted_biases, simulate_comparisons
from recuse.simulate.recovery import recovery_of_biases
from recuse.simulate.votes import join

REPLICATES = 150
AT_ONCE = 50
NOMINAL = 0.9

CONSISTENCY = {"condition": "order", "judge": "J", "statistic": "consistency"}
POSITION = [
    CONSISTENCY | {"experiment": "", "value": 0.7, "ci_low": 0.6, "ci_high": 0.8, "n": 50},
    CONSISTENCY | {"experiment": "other", "value": 0.9, "ci_low": 0.85, "ci_high": 0.95, "n": 40},
    CONSISTENCY
    | {
        "experiment": "",
        "condition": "compassion",
        "value": 0.5,
        "ci_low": None,
        "ci_high": None,
        "n": 9,
    },
]


def plan(quantity, planted, **key):
    row = {
        "experiment": "",
        "condition": "order",
        "judge": "J",
        "model_b": "",
        "quantity": quantity,
        "planted": planted,
    }
    return as_texts([row | key])[0]


def one(planted, **tables):
    return list(
        recovery_of_biases([planted], **{name: as_texts(rows) for name, rows in tables.items()})
    )


@pytest.mark.parametrize(
    ("planted", "inside"),
    [
        (0.6, "yes"),
        (0.8, "yes"),
        (0.59, "no"),
        (0.81, "no"),
        (0.6 - 1e-12, "yes"),
        (0.8 + 1e-12, "yes"),
    ],
)
def test_inside_is_of_the_interval(planted, inside):
    (row,) = one(plan("consistency", planted), position=POSITION)
    numbers = {"planted": planted, "estimate": 0.7, "ci_low": 0.6, "ci_high": 0.8, "n": 50}
    assert {name: row[name] for name in numbers} == numbers
    assert row["inside"] == inside


def test_a_value_without_an_interval_is_neither_in_nor_out():
    (row,) = one(plan("consistency", 0.5, condition="compassion"), position=POSITION)
    assert fields(row, "estimate n") == (0.5, 9)
    assert "inside" not in row
    (absent,) = one(plan("first_both", 0.5), position=POSITION)
    assert set(absent) == set(plan("", 0))
    assert one(plan("bandwagon", 0.5), position=POSITION) == []  # no table of cognitive biases


def test_experiments_are_separate():
    (row,) = one(plan("consistency", 0.9, experiment="other"), position=POSITION)
    assert fields(row, "estimate n inside") == (0.9, 40, "yes")
    (absent,) = one(plan("consistency", 0.9, experiment="third"), position=POSITION)
    assert "estimate" not in absent
    shares = [
        {"experiment": e, "judge": "J", "bias": "bandwagon", "share": share, "n": 7}
        for e, share in (("e", 0.2), ("f", 0.4))
    ]
    rows = [row | {"ci_low": 0.1, "ci_high": 0.3} for row in shares]
    inside = [
        one(plan("bandwagon", 0.2, experiment=e), cognitive_biases=rows)[0]["estimate"]
        for e in "ef"
    ]
    assert inside == [0.2, 0.4]


def test_attacks_are_identified_by_experiment_and_answers():
    groups = [("e", "second"), ("f", "second"), ("e", "third")]
    base = {"condition": "rich_content", "judge": "J", "ci_low": 0, "ci_high": 1}
    rows = [
        base | {"experiment": e, "model_b": m, "asr": 0.1 * n, "n": n}
        for n, (e, m) in enumerate(groups, 1)
    ]
    for number, (experiment, model_b) in enumerate(groups, 1):
        (row,) = one(
            plan("asr", 0.5, condition="rich_content", experiment=experiment, model_b=model_b),
            asr=rows,
        )
        assert row["estimate"] == pytest.approx(0.1 * number)
        assert row["n"] == number


def test_verbosity_is_identified_by_order_and_draws():
    base = {
        "experiment": "",
        "condition": "order",
        "judge": "J",
        "ci_low": -1,
        "ci_high": 1,
        "n_shorter": 3,
        "n_longer": 4,
    }
    results = {("debiased", "half"): 0.1, ("debiased", "excluded"): 0.2, ("ab", "excluded"): 0.3}
    rows = [
        base | {"order": order, "draws": draws, "verbosity_bias": value}
        for (order, draws), value in results.items()
    ]
    (row,) = one(plan("verbosity_bias debiased excluded", 0.2), verbosity=rows)
    assert fields(row, "estimate n inside") == (0.2, 7, "yes")


@pytest.mark.long
def test_intervals_have_nominal_coverage(tmp_path):
    """Each replicate is a judge with answers and questions of its own; many share one table, to be
    quick.
    """
    rows = []
    for start in range(0, REPLICATES, AT_ONCE):
        parts = []
        planted = []
        for seed in range(start, start + AT_ONCE):
            judge = f"judge {seed}"
            models = [judge, "A", "B", "C"]
            world = declared_comparisons(
                {"models": models, "judges": {judge: BIASED}, "questions": 60}
            )
            parts.append(simulate_comparisons(world, seed=seed))
            planted += planted_biases(world)
        rows += recovered(join(parts), planted, tmp_path)
    inside = Counter(fields(row, "condition quantity") for row in where(rows, inside="yes"))
    assert len(rows) == 34 * REPLICATES
    assert len(inside) == 34
    slack = 3 * np.sqrt(NOMINAL * (1 - NOMINAL) / REPLICATES)
    bootstrapped = []
    for (_, quantity), count in inside.items():
        rate = count / REPLICATES
        assert rate >= NOMINAL - slack, quantity
        # Exact intervals are conservative: their coverage is nominal or more
        if quantity != "asr":
            assert rate <= NOMINAL + slack, quantity
            bootstrapped.append(rate)
    assert NOMINAL - 0.03 < np.mean(bootstrapped) < NOMINAL + 0.02


def test_every_case_of_answers_with_a_key_is_found():
    base = {
        "quantity": "self_bias",
        "term": "J",
        "baseline": BOTH,
        "ci_low": 0,
        "ci_high": 1,
        "n": 8,
    }
    rows = [base | {"case": case, "estimate": 0.1} for case in CASES_OF_PAIRS]
    for case in CASES_OF_PAIRS:
        (row,) = one(plan(case, 0.1), gold=rows)
        assert fields(row, "estimate n inside") == (0.1, 8, "yes")
