"""Tests of many coefficients at once: against statsmodels and by hand, and the chance of any false rejection."""

from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

from conftest import built, study_files
from recuse.base.tables import MULTIPLICITY, read_table, write_table
from recuse.data.files import RatingsFile
from recuse.model.estimates import estimate
from recuse.model.fit import Coefficient, Fitted, fits
from recuse.model.multiplicity import adjusted, max_t
from recuse.model.resampling import WildTest
from recuse.model.spec import Spec

SPEC = Spec.of("slices", slice="task_type", whole=True, covariance="CR1", wild=999)


def table(study, spec, seed=2):
    return adjusted(spec, list(fits(spec, study, seed=seed)), confidence=0.9)


def coefficient(p_value, quantity="self_bias", error=1.0):
    from scipy.stats import norm

    return Coefficient(quantity, "j", 1, norm.isf(p_value / 2) * error, error)


def wild(estimate, error, drawn):
    """A test whose t* are these, whatever the hypothesis."""
    drawn = np.array(drawn, dtype=float)
    ones, none = np.ones(len(drawn)), np.zeros(len(drawn))
    return WildTest(estimate, 1.0, error, np.stack([drawn, none], axis=1), np.stack([ones, none, none], axis=1))


def test_holm_and_benjamini_hochberg_by_hand():
    """Four p-values; a fifth coefficient is of another quantity, and a sixth has no error."""
    found = [coefficient(p) for p in (0.01, 0.04, 0.03, 0.005)]
    fitted = [Fitted("a", 9, found[:2]), Fitted("b", 9, [*found[2:], coefficient(0.5, "slope"), coefficient(0.5, error=0.0)])]
    rows = adjusted(Spec.of("s"), fitted, confidence=0.9)
    assert [row["slice"] for row in rows] == ["a", "a", "b", "b"]
    assert [row["tests"] for row in rows] == [4] * 4
    np.testing.assert_allclose([row["p_value"] for row in rows], [0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose([row["holm_p_value"] for row in rows], [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose([row["bh_p_value"] for row in rows], [0.02, 0.04, 0.04, 0.02])
    assert "max_t_p_value" not in rows[0]
    assert adjusted(Spec.of("s", tests=("family_bias",)), fitted, confidence=0.9) == []


def test_max_t_by_hand():
    drawn = [[1, 0, 2, 0, -1, 0.2, 0, 0.9, 0.3], [1, -6, 2, 0, 0.2, 2, 0.8, 0, 0]]
    p_values, critical = max_t([wild(2.0, 1.0, drawn[0]), wild(-0.5, 0.5, drawn[1])], confidence=0.8)
    # largest of each draw: 1, 6, 2, 0, 1, 2, 0.8, 0.9, 0.3
    assert p_values.tolist() == [(1 + 3) / 10, (1 + 5) / 10]
    assert critical == 2.0
    assert np.isnan(max_t([wild(2.0, 1.0, drawn[0])], confidence=0.95)[1])
    below = 2.0 * (1 - 1e-12)  # but for rounding, 2
    assert max_t([wild(2.0, 1.0, [below] * 9)], confidence=0.8)[0].tolist() == [1]


def test_no_adjusted_p_value_is_below_that_of_the_test_alone():
    """Draws that are all small reject at once; t with 5 degrees of freedom, or the normal distribution, do not."""
    found = [replace(coefficient(0.15), df=df, wild=wild(coefficient(0.15).estimate, 1.0, [0.1] * 99)) for df in (5, np.inf)]
    few, many = adjusted(Spec.of("s", wild=99), [Fitted("", 9, found)], confidence=0.9)
    for row, critical in ((few, 2.015048), (many, 1.644854)):
        assert row["max_t_p_value"] == row["p_value"] > 0.1
        assert row["estimate"] - row["simultaneous_ci_low"] == pytest.approx(critical, abs=1e-6)
        assert row["simultaneous_ci_high"] - row["estimate"] == pytest.approx(critical, abs=1e-6)
    assert (few["p_value"], many["p_value"]) == pytest.approx((0.209539, 0.15), abs=1e-6)


def test_table_of_a_study(twin, tmp_path):
    rows = table(twin, SPEC)
    estimates = {
        (row["slice"], row["quantity"], row["term"]): row for row in estimate(SPEC, twin, confidence=0.9, seed=2).estimates
    }
    assert len(rows) == 3 * (9 + 4) == rows[0]["tests"]
    p_values = np.array([row["p_value"] for row in rows])
    for row in rows:
        own = estimates[row["slice"], row["quantity"], row["term"]]
        assert all(row[key] == own[key] for key in ("estimate", "std_error", "p_value", "estimand"))
        assert row["replicates"] == 999
        assert p_values.min() <= row["p_value"] <= row["bh_p_value"] <= row["holm_p_value"]
        assert row["p_value"] <= row["max_t_p_value"]
        low, high = row["simultaneous_ci_low"], row["simultaneous_ci_high"]
        assert low < own["ci_low"] < own["ci_high"] < high
        assert (low <= 0 <= high) == (row["max_t_p_value"] > 0.1)
    order = np.argsort([abs(row["estimate"] / row["std_error"]) for row in rows])[::-1]
    assert (np.diff(np.array([row["max_t_p_value"] for row in rows])[order]) >= 0).all()
    write_table(tmp_path / "multiplicity.csv", MULTIPLICITY, rows)
    assert len(read_table(tmp_path / "multiplicity.csv")) == len(rows)


def test_max_t_learns_that_slices_share_their_draws(twin):
    """One fit twice is as many tests as one; by Holm's reckoning, twice as many."""
    (fitted,) = fits(SPEC.changed(slice=None, whole=False), twin, seed=2)
    once, twice = (adjusted(SPEC, each, confidence=0.9) for each in ([fitted], [fitted, replace(fitted, slice="again")]))
    for one, two in zip(once, twice, strict=False):
        assert two["max_t_p_value"] == one["max_t_p_value"]
        assert two["simultaneous_ci_low"] == one["simultaneous_ci_low"]
    assert min(row["holm_p_value"] for row in twice) == pytest.approx(2 * min(row["holm_p_value"] for row in once))


def test_slices_have_the_draws_of_their_prompts_in_common(twin, tmp_path):
    """The second dimension is the first without one prompt of 40: a draw says nearly the same of both."""
    raw = f"'{Path(twin.ratings[0]).parent}/raw.parquet' where dimension = 'Completeness'"
    less = f"select * replace ('Conciseness' as dimension) from {raw} and prompt_id > (select min(prompt_id) from {raw})"
    duckdb.sql(f"copy (select * from {raw} union all {less}) to '{tmp_path}/raw.parquet'")
    study = built(tmp_path, "overlapping", study_files("twin", [RatingsFile(f"{tmp_path}/raw.parquet")]))
    spec = Spec.of("slices", slice="dimension", covariance="CR1", bootstrap=500, wild=500)
    one, two = fits(spec, study, seed=2)
    alike = []
    for own, other in zip(one.coefficients, two.coefficients, strict=True):
        alike.append(np.corrcoef(own.replicates, other.replicates)[0, 1])
        if own.wild is not None:
            alike.append(np.corrcoef(own.wild.statistics(), other.wild.statistics())[0, 1])
    assert np.median(alike) > 0.9
    assert min(alike) > 0.5


def test_without_draws_of_every_coefficient_there_is_no_max_t():
    found = [replace(coefficient(0.1), wild=wild(1.0, 1.0, [1.0] * 9)), coefficient(0.1)]
    rows = adjusted(Spec.of("s", wild=9), [Fitted("", 9, found)], confidence=0.5)
    assert len(rows) == 2
    assert "max_t_p_value" not in rows[0]
