"""Prompts needed, against statsmodels and against the estimator; and what a mitigation buys."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from audit_worlds import TREATMENTS, World
from recuse.audit.effects import LEAST_PROMPTS, effect_rows
from recuse.audit.mitigation import CHANGES, by_wording, change_rows
from recuse.audit.size import (
    assumed_spread,
    half_width,
    power_at,
    prompts_needed,
)
from recuse.base.tables import write_table
from recuse.inference.verdict import FOUND


def test_power_equals_statsmodels():
    for bias, spread, prompts, tests in (
        (0.03, 0.2, 600, 1),
        (0.05, 0.3, 80, 10),
        (0.1, 0.2, 12, 3),
    ):
        expected = TTestPower().power(
            bias / spread, prompts, alpha=0.05 / tests, alternative="larger"
        )
        found = power_at(bias, spread, prompts, confidence=0.9, tests=tests)
        assert found == pytest.approx(expected, abs=1e-9)


def test_prompts_are_the_fewest_that_are_enough():
    settings = {"confidence": 0.9, "tests": 10}
    needed = prompts_needed(0.2, bias=0.03, **settings)
    powers = [power_at(0.03, 0.2, count, **settings) for count in (needed - 1, needed)]
    assert powers[0] < 0.8 <= powers[1]
    for_width = prompts_needed(0.2, width=0.02, **settings)
    widths = [half_width(0.2, count, confidence=0.9) for count in (for_width - 1, for_width)]
    assert widths[0] > 0.02 >= widths[1]
    assert prompts_needed(0.2, bias=0.03, width=0.02, **settings) == max(needed, for_width)
    assert prompts_needed(0.2, bias=0.9, **settings) == LEAST_PROMPTS
    assert prompts_needed(0.2, bias=0.0, **settings) is None
    one = assumed_spread("ratings", 1)
    assert assumed_spread("ratings", 4) < one < assumed_spread("verdicts", 1)
    assert assumed_spread("ratings", 1, 1) == pytest.approx(math.sqrt(2) * one)


@pytest.mark.parametrize(
    ("tests", "few", "many"),
    [(1, 60, 1000), pytest.param(10, 10, 400, marks=pytest.mark.long)],
)
def test_power_at_3_percent_with_600_prompts_is_as_promised(long, tests, few, many):
    """With nine other treatments that have no effect, or none, through the estimator."""
    world = World(prompts=600)
    rng = np.random.default_rng(21)
    count = many if long else few
    names = [treatment.name for treatment in TREATMENTS[:tests]]
    latent = 0.0314
    truth = world.truth(latent)
    found = 0
    spreads = []
    assert truth == pytest.approx(0.03, abs=0.001)
    for _ in range(count):
        rows = world.observations(rng, dict.fromkeys(names, 0.0) | {names[0]: latent})
        row = next(effect_rows(rows, TREATMENTS, confidence=0.9, seed=1))
        found += row["verdict"] in FOUND
        spreads.append(row["standard_error"] * math.sqrt(row["prompts"]))
    promised = power_at(truth, np.mean(spreads), 600, confidence=0.9, tests=tests)
    print(tests, "power", found / count, "promised", promised, "spread", np.mean(spreads))
    error = np.sqrt(promised * (1 - promised) / count)
    assert found / count == pytest.approx(promised, abs=3 * error + 0.02)


def test_what_a_mitigation_buys_is_on_the_same_prompts(tmp_path):
    world = World(prompts=160)
    rng = np.random.default_rng(4)
    before = world.observations(rng, {"length": 0.2, "order": 0.1})
    after = world.observations(rng, {"length": 0.05, "order": 0.1})
    for row in after:
        row["wording"] = "ignore length"
    after = [row for row in after if row["prompt"] < "p0150"]
    settings = by_wording([*before, *after])
    rows = [*change_rows(settings, TREATMENTS, confidence=0.9)]
    write_table(tmp_path / "changes.csv", CHANGES, rows)
    by_treatment = {row["treatment"]: row for row in rows}
    rated = pd.DataFrame([*before, *after]).query("treatment == 'length' and prompt < 'p0150'")
    by_arm = rated.pivot(index=["prompt", "wording"], columns="arm", values="value")
    differences = (by_arm["treated"] - by_arm["plain"]).unstack("wording")
    first, second = differences["wording 0"], differences["ignore length"]
    length = by_treatment["length"]
    test = stats.ttest_rel(second, first)
    ends = test.confidence_interval(0.9)
    error = stats.sem(second - first)
    # As a t test has them, but for skewness and for prompts on which nothing changes
    found = length["ci_low"], length["ci_high"]
    assert found == pytest.approx((ends.low, ends.high), abs=0.1 * error)
    assert length["standard_error"] == pytest.approx(error, rel=0.02)
    assert length["estimate"] == pytest.approx(length["estimate_after"] - length["estimate_before"])
    assert (length["before"], length["after"]) == ("wording 0", "ignore length")
    assert length["adjusted_p_value"] < 0.05 < by_treatment["order"]["adjusted_p_value"]
    assert [*change_rows({"a": before, "b": before[:10]}, TREATMENTS, confidence=0.9)] == []


def test_writers_of_a_change_are_drawn_at_random():
    """A change has the errors of an effect that has the differences of the two as its values."""
    world = World(prompts=40, writers=3, by_writer=0.2)
    rng = np.random.default_rng(5)
    before, after = (world.observations(rng, {"length": effect}) for effect in (0.2, 0.1))
    both = zip(before, after, strict=True)
    changed = [{**late, "value": late["value"] - early["value"]} for early, late in both]
    (change,) = change_rows({"before": before, "after": after}, TREATMENTS, confidence=0.9)
    (effect,) = effect_rows(changed, TREATMENTS, confidence=0.9, seed=1)
    assert effect["df"] < 39  # the writers differ
    for name in ("estimate", "standard_error", "df", "ci_low", "ci_high", "p_value"):
        assert change[name] == pytest.approx(effect[name], rel=1e-12)
