"""The conclusions of checks, and whether the first ones hold."""

import re
from dataclasses import replace

import numpy as np
import pytest

from picked_rows import fields
from recuse.base.reasons import Reason, because
from recuse.inference.power import reaches
from recuse.inference.robustness import (
    Conclusion,
    Estimate,
    RobustnessCheck,
    compared_conclusion,
    concluded,
)
from tables_of_conclusions import ESTIMATED, FIRST, OTHER, PREFERENCE, SPECS, absent, at, row, table

HOLM = RobustnessCheck("holm", "Holm", ["b"], "asks", table="multiplicity", by="holm_p_value")
MOMENTS = RobustnessCheck(
    "moments", "moments", ["main"], "asks", table="measurement_error", method="moments"
)
CLUSTERED = RobustnessCheck("clustered", "by prompt", ["clustered"], "asks")


def test_a_row_for_each_bias_of_the_first_check_and_each_check_of_its_slice():
    rows = table()
    assert [each["term"] for each in rows if each["check"] == "first"] == [
        "Ada",
        "Bo",
        "Cy",
        "Di",
        "F",
        "G",
        "Ada",
    ]
    # B has no slices
    assert [each["check"] for each in rows if each["slice"] == "Tone"] == ["first", "preference"]
    assert len(rows) == 6 * 3 + 2
    assert at(rows, "preference", "Ada", "Tone")["spec"] == "by_dimension"


def test_judges_are_in_the_order_of_the_figures():
    rows = table(order={"self_bias": ["Di", "Ada"], "family_bias": ["G"]})
    assert [each["term"] for each in rows if each["check"] == "first"] == [
        "Di",
        "Ada",
        "Bo",
        "Cy",
        "G",
        "F",
        "Ada",
    ]


# Check, term, conclusion, verdict; the words are those of the check
COMPARED = """
first       Ada  favours        holds
first       Cy   no_bias        as before
other       Ada  no_bias        lost       the others say so too
other       Bo   favours        reversed
other       Cy   harsher        new
other       Di   not_estimable  not estimable
preference  Ada  no_bias        lost       ordinary preference
preference  Bo   harsher        holds
preference  Cy   not_estimable  not estimable
first       F    favours        holds
other       F    not_estimable  not estimable
first       G    not_estimable  not estimable
preference  G    not_estimable  not estimable
"""
REASONS = {
    ("other", "Di"): because(Reason.NO_INTERVAL),
    ("preference", "Cy"): because(Reason.NO_UNRELATED_CELL, names="Cy"),
    ("other", "F"): because(Reason.NO_ROW, table="b"),
    ("first", "G"): because(Reason.NO_SIBLINGS),
    ("preference", "G"): because(Reason.NO_SIBLINGS),
}


@pytest.mark.parametrize("line", COMPARED.strip().splitlines())
def test_conclusions_compared_with_the_first(line):
    check, term, conclusion, verdict, *words = re.split(" {2,}", line)
    found = at(table(), check, term)
    expected = conclusion, verdict, "".join(words), REASONS.get((check, term), "")
    assert fields(found, "conclusion verdict words reason") == expected


def test_what_decides():
    assert concluded(Estimate(0.1, 0.0, 0.2), confidence=0.9) == "no_bias"
    assert concluded(Estimate(0.1, p_value=0.1), confidence=0.9) == "favours"
    assert concluded(Estimate(-0.1, p_value=0.1001), confidence=0.9) == "no_bias"
    assert compared_conclusion(Conclusion.NO_BIAS, Conclusion.NO_BIAS) == "as before"
    adjusted = [row("b", "Ada", 0.03, holm_p_value=0.09), row("b", "Bo", -0.04, holm_p_value=0.11)]
    rows = table(FIRST, HOLM, multiplicity=adjusted)
    assert [at(rows, "holm", name)["verdict"] for name in ("Ada", "Bo")] == ["holds", "lost"]
    assert at(rows, "holm", "Ada")["p_value"] == 0.09


def test_of_several_methods_the_one_asked_for_counts():
    corrected = [
        row("main", "Ada", 0.02, 0.01, 0.03, method="moments", p_value=0.01),
        row("main", "Ada", -0.04, -0.05, -0.02, method="uncorrected", p_value=0.001),
        row("main", "Bo", -0.04, -0.05, -0.03, method="uncorrected", p_value=0.01),
    ]
    rows = table(FIRST, MOMENTS, measurement_error=corrected)
    found = at(rows, "moments", "Ada")
    assert fields(found, "verdict estimate ci_low p_value") == ("holds", 0.02, 0.01, 0.01)
    assert at(rows, "moments", "Bo")["verdict"] == "not estimable"
    for name in ("Bo", "F"):
        assert at(rows, "moments", name)["reason"] == because(
            Reason.NO_ROW, table="measurement_error"
        )


def test_tests_of_some_biases_have_no_rows_of_others():
    tests = RobustnessCheck(
        "tests", "tests", ["clustered"], "asks", table="multiplicity", by="holm_p_value"
    )
    specs = SPECS | {"clustered": {"tests": ["family_bias"]}}
    rows = table(FIRST, tests, specs=specs, multiplicity=[])
    assert {each["quantity"] for each in rows if each["check"] == "tests"} == {"family_bias"}


def test_new_with_the_errors_of_the_first_is_not_by_the_errors():
    length = RobustnessCheck("length", "length", ["length"], "asks")
    estimates = [
        *ESTIMATED,
        row("clustered", "Cy", 0.01, 0.001, 0.019),
        row("length", "Cy", 0.012, 0.002, 0.02),
    ]
    specs = SPECS | {"length": {"length": "prompt"}}
    rows = table(FIRST, CLUSTERED, length, estimates=estimates, specs=specs)
    assert (at(rows, "length", "Cy")["verdict"], at(rows, "length", "Cy")["words"]) == ("new", "")


def test_few_prompts_are_noted_where_errors_are_by_prompt():
    estimates = [
        *ESTIMATED,
        row("clustered", "Ada", 0.03, 0.01, 0.05, df=11),
        row("clustered", "Bo", 0.03, 0.01, 0.05, df=29),
    ]
    rows = table(FIRST, CLUSTERED, PREFERENCE, estimates=estimates)
    assert (
        at(rows, "clustered", "Ada")["note"]
        == "12 prompts, fewer than 30: standard errors may be too small"
    )
    assert at(rows, "clustered", "Bo")["note"] == ""
    # Its degrees of freedom are of cells
    assert {each["note"] for each in rows if each["check"] == "preference"} == {""}
    length = RobustnessCheck(
        "length", "length", ["main"], "asks", table="sensitivity", by="as_length_ci"
    )
    # Of the residual, though errors are by prompt
    ends = {"as_length_ci_low": 0.01, "as_length_ci_high": 0.05, "df": 11}
    rows = table(FIRST, length, sensitivity=[row("main", "Ada", 0.03, **ends)])
    assert (at(rows, "length", "Ada")["verdict"], at(rows, "length", "Ada")["note"]) == (
        "holds",
        "",
    )


def test_a_first_check_without_rows_has_the_reason_and_the_biases_of_the_others():
    rows = table(
        *(FIRST, OTHER),
        estimates=[row("b", "Ada", 0.03, 0.01, 0.05)],
        not_estimable=[absent("main", "", because(Reason.NO_LENGTHS), "")],
    )
    assert [fields(each, "check conclusion verdict") for each in rows] == [
        ("first", "not_estimable", "not estimable"),
        ("other", "favours", "not estimable"),
    ]
    assert rows[0]["reason"] == because(Reason.NO_LENGTHS)


def test_what_a_check_detects_is_found_with_that_power():
    from scipy.stats import nct, t

    errors = np.array([0.02, 0.02, 0.005])  # of all judges, by C
    judges = ("Ada", "Bo", "Di")
    rows = table()
    estimates = np.array([at(rows, "preference", judge)["estimate"] for judge in judges])
    sides = [
        reaches(errors, np.full(3, 7.0), side, confidence=0.9) for side in (estimates, -estimates)
    ]
    needed = np.maximum(*sides)
    for judge, error, reach in zip(judges, errors, needed, strict=True):
        size = at(rows, "preference", judge)["detectable"]
        assert nct.sf(reach * t.isf(0.05, 7), 7, size / error) == pytest.approx(0.8, abs=1e-6)
    assert at(table(FIRST, OTHER), "other", "Ada").get("detectable") is None


@pytest.mark.parametrize(("df", "has_size"), [(2.9, False), (3.0, True)])
def test_an_error_that_is_hardly_known_does_not_say_what_would_be_found(df, has_size):
    of_c = row("main", "Ada", 0.05, 0.01, 0.09, std_error=0.02, df=df)
    size = at(table(idiosyncrasy=[of_c]), "preference", "Ada")["detectable"]
    assert (size > 0) == has_size


def test_missing_own_ratings_hide_a_bias_as_large_as_they_are_many():
    numbers = {"std_error": 0.02, "df": 7}
    rows = [
        row("main", "Ada", 0.05, 0.01, 0.09, missing=missing, **numbers) for missing in ("", 0.1)
    ]
    whole, part = (
        at(table(idiosyncrasy=[each]), "preference", "Ada")["detectable"] for each in rows
    )
    assert part == pytest.approx(whole + 0.1)


def test_a_bootstrap_that_is_not_drawn_is_said_to_be_so():
    note = because(Reason.NO_BOOTSTRAP)
    estimates = [row("main", "Ada", 0.03, 0.01, 0.05, std_error=0.01, note=note)]
    by_wild = RobustnessCheck("wild", "wild", ["main"], "asks", by="wild_ci")
    by_max_t = replace(by_wild, name="max_t", table="multiplicity", by="max_t_p_value")
    multiplicity = [row("main", "Ada", 0.03, std_error=0.01)]
    rows = table(FIRST, by_wild, by_max_t, estimates=estimates, multiplicity=multiplicity)
    assert at(rows, "first", "Ada")["conclusion"] == "favours"
    for name in ("wild", "max_t"):
        assert at(rows, name, "Ada")["reason"] == note
