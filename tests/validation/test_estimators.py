"""Estimators on simulated worlds: statistics over replicates, seeds, tables, and known properties
of the estimators.
"""

from collections import defaultdict
from itertools import cycle

import numpy as np
import pytest
import yaml
from test_world import SMALL

from picked_rows import column, fields, keyed, only, where
from recuse.base.tables import read_table, write_table
from recuse.model.design import ALL_JUDGES
from recuse.validation.estimators import (
    ESTIMATORS,
    MONTECARLO,
    WORLDS,
    Estimator,
    _Answer,
    table,
    try_estimators,
    worlds_rows,
)
from recuse.validation.world import MonteCarloWorld
from text_tables import lines

pytestmark = pytest.mark.usefixtures("few_sweeps")
PAPER = yaml.safe_load("""
{families: [3, 2, 2, 2], dimensions: 1, prompts: 60, intercept: 0.3, slope: 0.5, noise: 0.1}
""")

HALF = [0.05, 0, 0.05, 0, 0.05]  # of the judges are biased


def tried(names, *, replicates=20, key="key", seed=3, **dials):
    world = MonteCarloWorld(**dials)
    return try_estimators(
        world, names, key=key, replicates=replicates, draws=99, confidence=0.9, seed=seed
    )


# Number of a judge, or all that are biased; statistic, value, and the Monte Carlo error of some,
# the standard deviation of four numbers, halved: two are larger by 0.02, or by two of three judges
STATISTICS = """
3    rejected      0.5      -
3    covered       0.5      -
3    bias          0.02     0.005774
3    spread        0.011547 -
all  rejected      0.333333 0.19245
all  any_rejected  0.5      -
"""


def test_statistics_are_those_of_the_answers(monkeypatch):
    """An estimator that is off by 0.01 and 0.03 in turn; it misses the second time, and rejects for
    all judges but one.
    """
    known = cycle([_Answer(0.06, 0.04, 0.08, 0.5), _Answer(0.08, 0.06, 0.1, 0.01)])

    def answers(trial):
        answer = next(known)
        of_judges = dict.fromkeys(("Model 1", "Model 3"), answer)
        of_judges["Model 5"] = answer._replace(p_value=0.5)
        return {("self_bias", judge): each for judge, each in of_judges.items()}

    monkeypatch.setitem(ESTIMATORS, "fake", Estimator("A: x", "fake", answers))
    rows = tried(["fake"], replicates=4, **SMALL, self_bias=HALF)
    assert {row["term"] for row in rows} == {"", "Model 1", "Model 3", "Model 5"}
    for judge, statistic, value, error in lines(STATISTICS):
        about = {"term": "" if judge == "all" else f"Model {judge}", "planted": 0.05}
        row = only(rows, quantity="self_bias", statistic=statistic, **about)
        assert row["value"] == pytest.approx(float(value), abs=1e-6)
        if error != "-":
            assert row["mc_error"] == pytest.approx(float(error), abs=1e-6)


def test_replicates_depend_on_the_seed_the_world_and_their_number_alone():
    dials = {"replicates": 3, **SMALL}
    first = tried(["A_HC0"], **dials)
    assert first == tried(["A_HC0"], **dials)
    for other in ({"key": "other"}, {"seed": 4}):
        assert column(first, "value") != column(tried(["A_HC0"], **other, **dials), "value")
    beside = tried(["C_mixed", "A_HC0"], **dials)
    assert where(beside, estimator="A_HC0") == first


# Dials of a world, replicates, and what is expected there: estimator, statistic of self-bias, term
# ("all" for the mean over those without planted bias), and its range. `errors` is the bias as a
# multiple of its Monte Carlo error.
PROPERTIES = {
    "preference misleads Equation 1 and not the idiosyncrasy": (
        {"preference": 0.03},
        100,
        """
        A_CR1    rejected  all  0.35  1
        B_CR1    rejected  all  0.3   1
        C_mixed  rejected  all  0.07  0.13
        C_mixed  covered   all  0.87  0.93
        """,
    ),
    "shared preference misleads Equation 1 and not effects of models": (
        {"shared_preference": 0.03},
        100,
        """
        A_CR1             rejected  all  0.35  1
        B_CR1             rejected  all  0.06  0.14
        B_completion_CR1  rejected  all  0.06  0.14
        """,
    ),
    "length is controlled": (
        {"noise": 0.2, "length_preference": 0.1},
        40,
        """
        A_CR1           errors  9   3.5  inf
        A_length_CR1    errors  9   0    3.5
        C_length_mixed  errors  9   0    3.5
        """,
    ),
    "a measurement error is corrected": (
        {"reliability": 0.55, "quality_gap": 0.3},
        80,
        """
        A_CR1                errors   9    3.5   inf
        A_moments            errors   9    0     3.5
        A_moments_of_raters  errors   9    0     3.5
        A_split_raters       errors   9    0     3.5
        A_CR1                covered  all  0     0.7
        A_moments            covered  all  0.85  0.95
        A_moments_of_raters  covered  all  0.85  0.95
        A_split_raters       covered  all  0.85  0.95
        """,
    ),
    # White's errors are too small where rows of a prompt vary together, the others not.
    "errors of few prompts": (
        {"dimensions": 4, "prompts": 12, "completion_shock": 0.1},
        120,
        """
        A_HC0    rejected      all     0.2   1
        A_CR1    rejected      all     0.06  0.14
        A_CR3    rejected      all     0.06  0.14
        A_wild   rejected      all     0.06  0.14
        A_CR3    answered      all     1     1
        A_CR1    any_rejected  biases  0.3   1
        A_max_t  any_rejected  biases  0.05  0.15
        """,
    ),
}


SLOW = ("A_wild", "A_max_t", "C_mixed", "C_length_mixed")


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_of_the_estimators(name, long):
    """Without --long there are a third of the replicates, of slow estimators a tenth, whose values
    may be outside by two Monte Carlo errors.
    """
    dials, replicates, expected = PROPERTIES[name]
    of_number = defaultdict(list)
    for estimator in dict.fromkeys(estimator for estimator, *_ in lines(expected)):
        share = 1 if long else 10 if estimator in SLOW else 3
        of_number[replicates // share].append(estimator)
    rows = []
    for number, estimators in of_number.items():
        rows += tried(estimators, replicates=number, **PAPER | dials)
    for estimator, statistic, term, low, high in lines(expected):
        about = {"term": "" if term in ("all", "biases") else f"Model {term}"}
        about["quantity"] = "biases" if term == "biases" else "self_bias"
        about["statistic"] = "bias" if statistic == "errors" else statistic
        value, error = fields(only(rows, estimator=estimator, **about), "value mc_error")
        found, error = (abs(value / error), 1) if statistic == "errors" else (value, error)
        slack = 2 * error if estimator in SLOW and not long else 0
        assert float(low) - slack <= found <= float(high) + slack, (estimator, statistic)


def test_estimators_answer_the_tests_that_they_declare():
    rows = tried(
        list(ESTIMATORS),
        replicates=2,
        **PAPER,
        length_preference=0.05,
        missing=0.1,
        reliability=0.8,
        preference=0.02,
    )
    for name, estimator in ESTIMATORS.items():
        own = where(rows, estimator=name, quantity="self_bias")
        tests = {row["term"] for row in where(own, statistic="rejected")} & {"", ALL_JUDGES}
        answered = {row["term"]: row["value"] for row in where(own, statistic="answered")}
        assert tests == set(answered) == set(estimator.tests), name
        assert set(answered.values()) <= {1}, name


def as_read(path, rows):
    """Rows of one world of a grid, written into a table and read again."""
    about = {"grid": "g", "dial": "self_bias", "setting": "0"}
    write_table(path, MONTECARLO, [about | row for row in rows])
    return read_table(path)


def rows_by_world(path, *names, **dials):
    """The table of worlds of one grid, as read."""
    rows = as_read(path, tried(names, **dials))
    return keyed(worlds_rows(rows, {"g/0": "a world"}), "estimator")


def test_worlds_have_the_lowest_and_highest_judge_and_what_is_refused(tmp_path, monkeypatch):
    """The first of five judges is always called biased, the second half the time; the others are
    refused then, or always.
    """
    yes, no, silent = _Answer(0.0, p_value=0.1), _Answer(0.0, p_value=0.5), _Answer(0.0)
    # Of the five judges and of all together, in four replicates
    replicates = iter(
        [
            (yes, yes, no, silent, silent, yes),
            (yes, no, silent, silent, silent, silent),
            (yes, yes, no, silent, silent, no),
            (yes, no, silent, silent, silent, no),
        ]
    )
    judges = (*(f"Model {number}" for number in range(1, 6)), ALL_JUDGES)

    def answers(trial):
        keys = [("self_bias", judge) for judge in judges]
        return dict(zip(keys, next(replicates), strict=True))

    fake = Estimator("A: x", "fake", answers, tests=("", ALL_JUDGES))
    monkeypatch.setitem(ESTIMATORS, "fake", fake)
    (row,) = rows_by_world(tmp_path / "w.csv", "fake", replicates=4, **SMALL).values()
    assert list(row) == list(WORLDS)
    assert fields(row, "grid title") == ("g", "a world")
    assert fields(row, "lowest highest") == (0, 1)
    # 2 of 3 tests, then 1 of 2, and so on.
    assert row["mean"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert row["refused"] == pytest.approx((2 + 3 + 2 + 3) / 20)
    assert row["pooled"] == pytest.approx(1 / 3)
    assert row["pooled_refused"] == 0.25
    assert row["replicates"] == 4
    assert row["mc_error"] == pytest.approx(np.std([4, 3, 4, 3], ddof=1) / 6 / 2)


def test_worlds_without_humans_refuse_a(tmp_path):
    rows = rows_by_world(
        tmp_path / "w.csv", "A_CR1", "B_CR1", "C_mixed", replicates=3, **SMALL, humans=False
    )
    assert fields(rows["A_CR1"], "refused mean mc_error") == (1, None, None)
    assert fields(rows["B_CR1"], "refused pooled_refused") == (0, None)
    assert fields(rows["C_mixed"], "refused pooled_refused") == (0, 0)


def test_every_row_is_in_one_table(tmp_path):
    result = as_read(tmp_path / "w.csv", tried(["A_HC0"], **SMALL, self_bias=HALF))
    size, power, bias, coverage = (
        table(name, result) for name in ("size", "power", "bias", "coverage")
    )
    assert {row["term"] for row in size} == {"", "Model 2", "Model 4", "Family 1", "Family 3"}
    assert {row["term"] for row in power} == {"", "Model 1", "Model 3", "Model 5"}
    assert {row["statistic"] for row in bias} == {"bias", "spread"}
    assert len(size) + len(power) + len(bias) + len(coverage) == len(result)
