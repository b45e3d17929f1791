"""The expected results of montecarlo.yaml: sizes, coverage and biases of the estimators on its
worlds.

`pytest tests/validation/test_expected.py --long --replicates 1000` runs the worlds at full size:
every value must be in its range. With fewer replicates a value may be outside by ERRORS Monte Carlo
errors. Without --long only the worlds of SHORT are drawn, at most FEW times.
"""

from functools import cache

import pytest

from conftest import CONFIG
from picked_rows import fields
from recuse.validation.estimators import grid_estimators, try_estimators, world_dials
from recuse.validation.settings import montecarlo_settings
from recuse.validation.world import MonteCarloWorld

SETTINGS = montecarlo_settings()
ERRORS = 2
FEW = 5
SHORT = {
    ("no_humans", 0),
    ("clusters", 30),
    ("reliability", 0.55),
    ("sparse_model", 0),
    ("judges_2_of_4", 0.03),
    ("judges_4_of_4", 0.03),
    ("judges_4_of_4_with_hole", 0.03),
    ("prompts", 9),
}
IN_ERRORS = "bias_in_errors"  # the bias as a multiple of its Monte Carlo error
# Grid, value of its dial, estimator, quantity, term ("" for the mean over those without planted
# bias), statistic, range.
EXPECTED = """
equal, 0, A_CR1, self_bias, , rejected, 0.35, 0.47
shared_preference, 0.02, A_HC0, self_bias, , rejected, 0.4, 0.5
shared_preference, 0.02, B_CR1, self_bias, , rejected, 0.08, 0.12
no_humans, 0, A_CR1, self_bias, , answered, 0, 0
no_humans, 0, B_CR1, self_bias, , rejected, 0.37, 0.47
clusters, 30, A_CR1, self_bias, , rejected, 0.08, 0.12
clusters, 30, A_CR3, self_bias, , rejected, 0.08, 0.12
clusters, 30, A_wild, self_bias, , rejected, 0.08, 0.12
clusters, 30, A_max_t, biases, , any_rejected, 0.08, 0.12
clusters, 100, A_CR1, self_bias, , rejected, 0.08, 0.12
clusters, 100, A_CR3, self_bias, , rejected, 0.08, 0.12
clusters, 100, A_wild, self_bias, , rejected, 0.08, 0.12
clusters, 100, A_max_t, biases, , any_rejected, 0.08, 0.12
clusters, 600, A_CR1, self_bias, , rejected, 0.08, 0.12
clusters, 600, A_CR3, self_bias, , rejected, 0.08, 0.12
clusters, 600, A_wild, self_bias, , rejected, 0.08, 0.12
clusters, 600, A_max_t, biases, , any_rejected, 0.08, 0.12
reliability, 0.55, A_CR1, self_bias, Model 9, bias, 0.01, 0.1
reliability, 0.55, A_moments, self_bias, Model 9, bias_in_errors, -2, 2
reliability, 0.55, A_moments, self_bias, , covered, 0.88, 0.92
missing, 0.2, A_CR1, self_bias, Model 9, covered, 0, 0.8
missing, 0.2, C_mixed, self_bias, Model 9, covered, 0.9, 1
as_measured, 0, C_mixed, self_bias, Model 1, rejected, 0.0, 0.13
as_measured, 0, C_mixed, self_bias, all judges, rejected, 0.0, 0.12
by_judge, 0, C_mixed, self_bias, Model 9, rejected, 0.0, 0.13
both_families, 0, C_mixed, self_bias, , rejected, 0.06, 0.13
both_families, 0, C_mixed, self_bias, all judges, rejected, 0.05, 0.13
no_humans_slopes, 0, C_mixed, self_bias, Model 9, rejected, 0.0, 0.13
no_humans_slopes, 0, C_mixed, self_bias, all judges, rejected, 0.0, 0.12
sparse_model, 0, C_mixed, self_bias, , answered, 0.88, 0.89
equal, 0, established, self_bias, , any_rejected, 0.0, 0.12
sparse_model, 0, inconclusive, self_bias, Model 1, rejected, 1, 1
equal, 0.03, C_mixed, self_bias, Model 5, rejected, 0.2, 0.32
equal, 0, likely, self_bias, , rejected, 0, 0.14
equal, 0, inconclusive, self_bias, , rejected, 0, 0
judges_4_of_4, 0.03, established, self_bias, , any_rejected, 0, 0.14
judges_4_of_4, 0.03, inconclusive, self_bias, , rejected, 0, 0.05
judges_2_of_4, 0.03, inconclusive, self_bias, , rejected, 1, 1
judges_2_of_5, 0.03, inconclusive, self_bias, , rejected, 1, 1
judges_3_of_3, 0.03, inconclusive, self_bias, , rejected, 1, 1
judges_3_of_4, 0.03, inconclusive, self_bias, , rejected, 1, 1
judges_4_of_4_with_hole, 0.03, inconclusive, self_bias, , rejected, 1, 1
judges_4_of_4_in_two_families, 0.03, inconclusive, self_bias, , rejected, 1, 1
prompts, 9, inconclusive, self_bias, , rejected, 1, 1
equal, 0.03, C_mixed, self_bias, all judges, rejected, 0.9, 1
"""


def marked(entry):
    return entry if entry[:2] in SHORT else pytest.param(*entry, marks=pytest.mark.long)


def expectations():
    for line in EXPECTED.strip().splitlines():
        grid, dial, *about, low, high = line.split(", ")
        yield grid, float(dial), *about, float(low), float(high)


@cache
def tried(grid, value, replicates):
    """The rows of the estimators with expected results in a world."""
    (setting,) = [str(each) for each in SETTINGS["grids"][grid]["values"] if each == value]
    names = [
        name
        for name in grid_estimators(SETTINGS, grid)
        if (grid, value, name) in {entry[:3] for entry in expectations()}
    ]
    return try_estimators(
        MonteCarloWorld(**world_dials(SETTINGS, grid, setting)),
        names,
        key=f"{grid} {setting}",
        replicates=replicates,
        draws=SETTINGS["draws"],
        confidence=CONFIG["confidence"],
        seed=CONFIG["seed"],
    )


@pytest.mark.parametrize(
    ("grid", "value", "estimator", "quantity", "term", "statistic", "low", "high"),
    [*map(marked, expectations())],
)
def test_estimators_do_what_is_expected(
    grid, value, estimator, quantity, term, statistic, low, high, request, long
):
    replicates = request.config.getoption("replicates")
    replicates = replicates if long else min(replicates, FEW)
    about = {
        "estimator": estimator,
        "quantity": quantity,
        "term": term,
        "statistic": "bias" if statistic == IN_ERRORS else statistic,
    }
    rows = tried(grid, value, replicates)
    (row,) = [row for row in rows if row.items() >= about.items() and (term or row["planted"] == 0)]
    number, error = (
        (row["value"] / row["mc_error"], 1)
        if statistic == IN_ERRORS
        else fields(row, "value mc_error")
    )
    slack = 0 if replicates >= SETTINGS["replicates"] else ERRORS * error
    assert low - slack <= number <= high + slack
