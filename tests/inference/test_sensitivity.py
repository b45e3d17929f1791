"""Robustness values: published numbers, the omitted-variable algebra on simulated rows, and the
length as benchmark.
"""

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

from designs_on_rows import factors_on_rows, regressors_on_rows, term_places
from picked_rows import only
from recuse.base.tables import write_table
from recuse.data.selection import with_normalised_length
from recuse.inference.sensitivity import (
    SENSITIVITY,
    Strength,
    as_strong_as,
    bias_in_errors,
    robustness_value,
    sensitivity_rows,
)
from recuse.model.design import estimable_terms
from recuse.model.estimates import estimate
from recuse.model.least_squares import quantile
from recuse.model.spec import Spec

LENGTH = Spec.of("length_control", length="prompt")


@pytest.mark.parametrize(
    ("t", "df", "expected"),
    # The first is Cinelli and Hazlett's (2020), Table 1: 13.9 %; all are of PySensemakr 0.0.8.
    [(4.184, 783, 0.13876254), (30, 50, 0.94987437), (2.5, 40, 0.32480615), (1.2, 100, 0.11301581)],
)
def test_robustness_value_is_that_of_sensemakr(t, df, expected):
    assert robustness_value(t / np.sqrt(df)) == pytest.approx(expected, abs=1e-8)
    assert bias_in_errors(Strength(expected, expected), df) == pytest.approx(t, rel=1e-6)
    assert robustness_value(-0.1) == 0


def residual_share(y, x, z):
    """Partial R2 of z with y given x, from rows."""

    def rss(design):
        return ((y - design @ np.linalg.lstsq(design, y)[0]) ** 2).sum()

    return 1 - rss(np.column_stack([x, z])) / rss(x)


def test_omitted_variable_bias_is_exact():
    generator = default_rng(2)
    x = np.column_stack([np.ones(300), generator.normal(size=300)])
    z = generator.normal(size=300)
    d = x[:, 1] + 0.7 * z + generator.normal(size=300)
    y = 0.4 * d + x[:, 1] + 0.9 * z + generator.normal(size=300)
    short = np.column_stack([d, x])
    with_z, without = (
        np.linalg.lstsq(design, y)[0] for design in (np.column_stack([short, z]), short)
    )
    error = np.sqrt(np.linalg.inv(short.T @ short)[0, 0] * ((y - short @ without) ** 2).sum() / 297)
    strength = Strength(residual_share(d, x, z), residual_share(y, short, z))
    assert bias_in_errors(strength, 297) * error == pytest.approx(
        abs(without[0] - with_z[0]), rel=1e-9
    )


def test_benchmark_is_that_of_sensemakr():
    """As by sensemakr.ovb_partial_r2_bound(r2dxj_x, r2yxj_dx), kd = ky = 1."""
    for known, expected in (
        ((0.02, 0.1), (0.020408163, 0.115740741)),
        ((0.3, 0.2), (0.428571429, 0.625)),
    ):
        assert as_strong_as(Strength(*known)) == pytest.approx(expected, abs=1e-8)
    assert as_strong_as(Strength(0.3, 0.9)).with_rating == 1
    assert as_strong_as(Strength(0.5, 0.1)) is None


def indexed(rows):
    return pd.DataFrame(rows).set_index(["slice", "quantity", "term"])


def test_table_of_a_study(twin, tmp_path):
    spec = LENGTH.changed(slice="dimension", whole=True)
    found = list(sensitivity_rows(spec, twin, confidence=0.9))
    rows = indexed(found)
    classical, by_prompt = (
        indexed(estimate(spec.changed(covariance=name), twin, confidence=0.9).estimates)
        for name in ("classical", "CR1")
    )
    biases = classical.index.isin(["self_bias", "family_bias"], level="quantity")
    assert sorted(rows.index) == sorted(classical.index[biases])
    by_prompt = by_prompt.loc[rows.index]
    error = rows["classical_std_error"]
    assert_allclose(error, classical["std_error"][rows.index], rtol=1e-9)
    assert_allclose(rows["std_error"], by_prompt["std_error"], rtol=1e-9)
    distance = rows["estimate"].abs()
    t_squared = (distance / error) ** 2
    assert_allclose(rows["partial_r2"], t_squared / (t_squared + rows["df"]), rtol=1e-9)
    half = [quantile(0.9, df) for df in by_prompt["df"]] * rows["std_error"]
    clear = (distance - half).clip(lower=0)
    significant = rows["robustness_value_significance"]
    for values, bias in ((rows["robustness_value"], distance), (significant, clear)):
        shares = zip(values, rows["df"], strict=True)
        errors = [bias_in_errors(Strength(value, value), df) for value, df in shares]
        assert_allclose(errors * error, bias, rtol=1e-9)
    assert_array_equal(significant > 0, by_prompt["p_value"] < 0.1)
    for end, sign in (("ci_low", -1), ("ci_high", 1)):
        wider = by_prompt[end] + sign * rows["bias_as_length"]
        assert_allclose(rows[f"as_length_{end}"], wider, rtol=1e-9)
    write_table(tmp_path / "sensitivity.csv", SENSITIVITY, found)


@pytest.mark.parametrize(
    ("quantity", "name"), [("self_bias", "GPT-4o"), ("family_bias", "Mistral")]
)
def test_strength_of_length_is_that_on_rows(twin, quantity, name):
    spec = LENGTH.changed(subset={"dimension": ["Faithfulness", "Helpfulness"]})
    row = only(sensitivity_rows(spec, twin, confidence=0.9), quantity=quantity, term=name)
    frame = duckdb.sql(with_normalised_length(spec.selection.rows(twin.ratings), "prompt")).df()
    factors = factors_on_rows(frame)
    terms = estimable_terms(spec, factors)
    x = regressors_on_rows(terms, frame["gt_unit"], frame["x"])
    judges = {"GPT-4o"} if quantity == "self_bias" else {"Mistral 7B", "Mistral Large"}
    place = term_places(terms)
    own = place[quantity, name]
    length = [place["length", judge] for judge in judges]
    others = list({*place.values()} - {own, *length})
    assert row["length_with_term"] == pytest.approx(
        residual_share(x[:, own], x[:, others], x[:, length]), rel=1e-6
    )
    with_own = x[:, [own, *others]]
    rating = frame["rating_unit"].to_numpy()
    assert row["length_with_rating"] == pytest.approx(
        residual_share(rating, with_own, x[:, length]), rel=1e-5
    )
    strength = as_strong_as(Strength(row["length_with_term"], row["length_with_rating"]))
    assert row["bias_as_length"] == pytest.approx(
        bias_in_errors(strength, row["df"]) * row["classical_std_error"]
    )


def test_a_spec_without_length_has_no_benchmark(twin):
    rows = list(sensitivity_rows(Spec.of("main"), twin, confidence=0.9))
    assert rows
    assert not any("length_with_term" in row for row in rows)
