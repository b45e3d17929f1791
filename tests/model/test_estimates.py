"""Specs applied to a study: against statsmodels on rows, terms that cannot be estimated, and
multiple tests.
"""

from dataclasses import replace

import duckdb
import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose

from conftest import CONFIG, changed_twin
from designs_on_rows import largest_difference
from picked_rows import column, fields, keyed
from rated_tables import rated, study_of_rows
from recuse.base.reasons import Reason, because
from recuse.base.tables import read_table, write_table
from recuse.data.selection import NORMALISATIONS, with_normalised_length
from recuse.model.estimates import MULTIPLICITY, adjusted, estimate, estimate_rows, max_t
from recuse.model.fit import Coefficient, Fitted, fitted_slices
from recuse.model.resampling import WildTest
from recuse.model.spec import Spec
from recuse.papers.values import JUDGES
from recuse.validation.statsmodels import fits_by_formula

FAMILIES = {CONFIG["models"][judge]["family"] for judge in JUDGES}
SPECS = Spec.from_config(CONFIG["specs"])


def table(study, spec):
    rows, left_out, *_ = estimate(spec, study, confidence=0.9)
    return keyed(rows, "slice quantity term"), left_out


LINEAR = [spec for spec in SPECS.values() if spec.model.estimator == "least_squares"]
OTHERS = [Spec.of(name, slice="task_type", covariance=name) for name in ("HC1", "classical")]


@pytest.mark.parametrize("spec", LINEAR + OTHERS, ids=lambda spec: spec.name)
def test_linear_specs_equal_statsmodels_on_rows(few_prompts, spec):
    assert largest_difference([spec], few_prompts) < 1e-9


def test_rows_of_a_term_are_counted(twin):
    rows, _ = table(twin, SPECS["main"])
    counts = "select count(*) filter (judge = 'GPT-4o' and model = 'GPT-4o'), count(*)"
    found = fields(rows["", "self_bias", "GPT-4o"], "n_term n")
    assert [found] == duckdb.sql(f"{counts} from '{twin.ratings[0]}'").fetchall()


def test_subset_without_rows_is_reported(twin):
    rows, left_out = table(twin, Spec.of("elsewhere", subset={"dimension": ["Charm"]}))
    assert rows == {}
    assert left_out[0]["reason"] == because(Reason.NOT_IN_STUDY, kind="dimension", names="Charm")


THREE = ("GPT-4o", "GPT-3.5 Turbo", "Claude v2")


def small_study(tmp_path, change, **settings):
    """A study of three judges, one family of two, 12 prompts of one dimension; `change` alters the
    rows.
    """
    lengths = default_rng(5).integers(20, 200, (3, 12))
    rows = []
    for row in rated(THREE, THREE, prompts=12):
        place = THREE.index(row["model"]), int(row["prompt_id"][1:])
        rows.append(change(row | {"pred_length": lengths[place]}))
    return study_of_rows(tmp_path, [row for row in rows if row], **settings)


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.SingularMatrixWarning")
def test_judge_with_one_reference_level(tmp_path):
    study = small_study(
        tmp_path, lambda row: row | ({"gt": 2} if row["judge"] == "Claude v2" else {})
    )
    spec = Spec.of("main")
    for (fitted,) in (fitted_slices(spec, study, seed=None), fits_by_formula(spec, study)):
        rows = keyed(estimate_rows(spec, fitted, confidence=0.9), "quantity term")
        unknown = {
            (quantity, term)
            for quantity, term, reason in fitted.not_estimable
            if reason == because(Reason.COLLINEAR)
        }
        assert unknown == {("intercept", "Claude v2"), ("slope", "Claude v2")}
        assert "estimate" not in rows["slope", "Claude v2"]
        assert rows["slope", "Claude v2"]["note"] == because(Reason.COLLINEAR)
        assert np.isfinite(rows["self_bias", "Claude v2"]["estimate"])
    assert largest_difference([Spec.of("main")], study) < 1e-9


def test_judge_that_is_no_model_has_no_self_bias(tmp_path):
    study = small_study(tmp_path, lambda row: None if row["model"] == "GPT-3.5 Turbo" else row)
    rows, left_out = table(study, Spec.of("main"))
    assert ("", "self_bias", "GPT-3.5 Turbo") not in rows
    assert [fields(gap, "quantity term reason") for gap in left_out] == [
        ("self_bias", "GPT-3.5 Turbo", because(Reason.NO_OWN_ANSWERS)),
        ("family_bias", "Claude", because(Reason.NO_SIBLINGS)),
    ]


def test_judge_that_always_gives_one_rating(tmp_path):
    """Its coefficients are exact and have no standard error: a note says so, and they are not
    significant.
    """
    study = small_study(
        tmp_path, lambda row: row | ({"rating": 4} if row["judge"] == "Claude v2" else {})
    )
    rows, _ = table(study, Spec.of("main"))
    row = rows["", "self_bias", "Claude v2"]
    assert row["estimate"] == pytest.approx(0, abs=1e-12)
    assert row["std_error"] == 0
    assert not {"ci_low", "ci_high", "p_value"} & set(row)
    assert row["note"] == because(Reason.NO_STANDARD_ERROR)
    assert rows["", "self_bias", "GPT-4o"]["note"] == ""


def test_every_spec_of_config_on_a_single_judge(tmp_path):
    """Dropping that judge leaves no row: this is reported and affects no other slice or spec."""
    study = small_study(tmp_path, lambda row: row if row["judge"] == "GPT-4o" else None)
    for spec in SPECS.values():
        rows, left_out = table(study, spec)
        assert rows or left_out
    rows, left_out = table(study, SPECS["one_model_dropped"])
    assert {key[0] for key in rows} == {"GPT-3.5 Turbo", "Claude v2"}
    assert [gap["reason"] for gap in left_out if gap["slice"] == "GPT-4o"] == [
        because(Reason.NO_ROWS)
    ]


def test_rows_on_the_fit_leave_no_standard_error_and_statsmodels_agrees(tmp_path):
    """Two judges that repeat the human score: exact in both fits where they share no other term."""
    follows = ("GPT-4o", "Claude v2")
    study = small_study(
        tmp_path, lambda row: row | ({"rating": row["gt"]} if row["judge"] in follows else {})
    )
    rows, _ = table(study, Spec.of("main"))
    assert rows["", "slope", "Claude v2"]["estimate"] == pytest.approx(1, abs=1e-12)
    assert rows["", "slope", "Claude v2"]["std_error"] == 0
    assert rows["", "slope", "GPT-3.5 Turbo"]["std_error"] > 0.01
    assert largest_difference([Spec.of("main")], study) < 1e-9


@pytest.mark.filterwarnings(
    "ignore::statsmodels.tools.sm_exceptions.SingularMatrixWarning", "ignore:divide by zero"
)
def test_statsmodels_agrees_where_rows_are_fewer_than_terms(tmp_path):
    study = small_study(tmp_path, lambda row: row if row["prompt_id"] == "p0" else None)
    for spec in (
        Spec.of("main"),
        Spec.of("HC1", covariance="HC1"),
        Spec.of("classical", covariance="classical"),
        SPECS["one_model_dropped"],
    ):
        rows, left_out = table(study, spec)
        assert rows
        assert because(Reason.COLLINEAR) in {gap["reason"] for gap in left_out}
        # The fit passes through every row, so no residual tells how sure it is.
        assert not any("ci_low" in row for row in rows.values())
        assert largest_difference([spec], study) < 1e-9


def test_names_may_contain_the_syntax_of_formulas(tmp_path):
    names = dict(zip(THREE, ("T.Rex[T.2]: ~ + x", "GPT-3.5 Turbo", "judge['a']"), strict=True))
    families = dict(zip(names.values(), ("f", "T.f", "f"), strict=True))
    study = small_study(
        tmp_path,
        lambda row: row | {"judge": names[row["judge"]], "model": names[row["model"]]},
        models={name: {"family": family} for name, family in families.items()},
    )
    assert largest_difference([Spec.of("main")], study) < 1e-9
    rows, left_out = table(study, SPECS["by_task_type"])
    assert (rows, left_out[0]["reason"]) == ({}, because(Reason.NO_TASK_TYPES))


@pytest.mark.parametrize("way", NORMALISATIONS)
def test_normalised_length_equals_a_plain_loop(tmp_path, way):
    study = small_study(
        tmp_path, lambda row: None if fields(row, "judge prompt_id") == ("GPT-4o", "p3") else row
    )
    frame = duckdb.sql(with_normalised_length(f"select * from '{study.ratings[0]}'", way)).df()
    assert len(frame) == 105
    answers = frame.drop_duplicates(["dimension", "prompt_id", "model"])
    for prompt, rows in frame.groupby("prompt_id"):
        group = answers if way == "global" else answers[answers["prompt_id"] == prompt]
        length = (rows if way == "prompt_rows" else group)["length"]
        expected = np.tanh((rows["length"] - length.mean()) / length.std())
        assert_allclose(rows["x"], expected, rtol=0, atol=1e-12)


MANY = Spec.of("slices", slice="task_type", whole=True, covariance="CR1", wild=999)


def coefficient(p_value, quantity="self_bias", error=1.0):
    from scipy.stats import norm

    return Coefficient(quantity, "j", 1, norm.isf(p_value / 2) * error, error)


def wild(estimate, error, drawn):
    """A test with these t* under any hypothesis."""
    constant = np.outer(np.ones(len(drawn)), [1, 0, 0])
    return WildTest(estimate, 1.0, error, np.outer(drawn, [1, 0]), constant)


def test_holm_and_benjamini_hochberg_by_hand():
    """Four p-values; a fifth coefficient is of another quantity, and a sixth has no error."""
    coefficients = [coefficient(p) for p in (0.01, 0.04, 0.03, 0.005)]
    fitted = [
        Fitted("a", 9, coefficients[:2]),
        Fitted("b", 9, [*coefficients[2:], coefficient(0.5, "slope"), coefficient(0.5, error=0.0)]),
    ]
    rows = adjusted(Spec.of("s"), fitted, confidence=0.9)
    assert column(rows, "slice") == ["a", "a", "b", "b"]
    assert column(rows, "tests") == [4] * 4
    assert_allclose(column(rows, "p_value"), [0.01, 0.04, 0.03, 0.005])
    assert_allclose(column(rows, "holm_p_value"), [0.03, 0.06, 0.06, 0.02])
    assert_allclose(column(rows, "bh_p_value"), [0.02, 0.04, 0.04, 0.02])
    assert "max_t_p_value" not in rows[0]
    assert adjusted(Spec.of("s", tests=("family_bias",)), fitted, confidence=0.9) == []


def test_max_t_by_hand():
    drawn = [[1, 0, 2, 0, -1, 0.2, 0, 0.9, 0.3], [1, -6, 2, 0, 0.2, 2, 0.8, 0, 0]]
    p_values, critical = max_t(
        [wild(2.0, 1.0, drawn[0]), wild(-0.5, 0.5, drawn[1])], confidence=0.8
    )
    # largest of each draw: 1, 6, 2, 0, 1, 2, 0.8, 0.9, 0.3; of the second test alone, 4 draws are 1
    # or more
    assert p_values.tolist() == [(1 + 3) / 10, (1 + 4) / 10]
    assert critical == 2.0
    assert np.isnan(max_t([wild(2.0, 1.0, drawn[0])], confidence=0.95)[1])
    below = 2.0 * (1 - 1e-12)  # but for rounding, 2
    assert max_t([wild(2.0, 1.0, [below] * 9)], confidence=0.8)[0].tolist() == [1]


def test_max_t_equals_rejecting_one_test_after_another():
    """The largest |t| is rejected first; then the draws of those left are compared with the
    next.
    """
    rng = default_rng(4)
    drawn = rng.standard_normal((6, 199)) + rng.standard_normal(199)
    statistics = [0.9, -3.1, 2.2, 2.2, -1.6, 0.1]
    left = dict(enumerate(map(abs, statistics)))
    expected = {}
    largest = 0.0
    of_all = np.abs(drawn).max(axis=0)
    single = [(1 + (of_all >= t).sum()) / 200 for t in left.values()]
    while left:
        place = max(left, key=left.get)
        exceeded = (np.abs(drawn[[*left]]).max(axis=0) >= left[place]).sum()
        expected[place] = largest = max(largest, (1 + exceeded) / 200)
        del left[place]
    p_values, critical = max_t(
        [wild(t, 1.0, each) for t, each in zip(statistics, drawn, strict=True)], confidence=0.9
    )
    assert p_values.tolist() == [expected[place] for place in range(6)]
    assert (p_values <= single).all()
    assert (p_values < single).sum() >= 3
    assert critical == sorted(of_all)[179]


def test_no_adjusted_p_value_is_below_the_unadjusted_one():
    """Draws that are all small reject at once; t with 5 degrees of freedom, or the normal
    distribution, do not.
    """
    coefficients = [
        replace(coefficient(0.15), df=df, wild=wild(coefficient(0.15).estimate, 1.0, [0.1] * 99))
        for df in (5, np.inf)
    ]
    few, many = adjusted(Spec.of("s", wild=99), [Fitted("", 9, coefficients)], confidence=0.9)
    for row, critical in ((few, 2.015048), (many, 1.644854)):
        assert row["max_t_p_value"] == row["p_value"] > 0.1
        assert row["estimate"] - row["simultaneous_ci_low"] == pytest.approx(critical, abs=1e-6)
        assert row["simultaneous_ci_high"] - row["estimate"] == pytest.approx(critical, abs=1e-6)
    assert (few["p_value"], many["p_value"]) == pytest.approx((0.209539, 0.15), abs=1e-6)


def test_table_of_a_study(twin, tmp_path):
    rows = adjusted(MANY, list(fitted_slices(MANY, twin, seed=2)), confidence=0.9)
    estimates = keyed(estimate(MANY, twin, confidence=0.9, seed=2).estimates, "slice quantity term")
    assert len(rows) == 3 * (9 + 4) == rows[0]["tests"]
    least = min(column(rows, "p_value"))
    for row in rows:
        alone = estimates[fields(row, "slice quantity term")]
        same = "estimate std_error p_value estimand"
        assert fields(row, same) == fields(alone, same)
        assert row["replicates"] == 999
        assert least <= row["p_value"] <= row["bh_p_value"] <= row["holm_p_value"]
        assert row["p_value"] <= row["max_t_p_value"]
        low, high = fields(row, "simultaneous_ci_low simultaneous_ci_high")
        assert low < alone["ci_low"] < alone["ci_high"] < high
        assert low <= 0 <= high or row["max_t_p_value"] <= 0.1
    write_table(tmp_path / "multiplicity.csv", MULTIPLICITY, rows)
    assert len(read_table(tmp_path / "multiplicity.csv")) == len(rows)


def test_slices_share_the_draws_of_their_prompts(twin, tmp_path):
    """The second dimension is the first without one of 40 prompts: their draws are nearly equal."""
    rows = """
        , one as (from raw where dimension = 'Completeness')
        from one union all
        select * replace ('Conciseness' as dimension) from one
        where prompt_id > (select min(prompt_id) from one)"""
    study = changed_twin(twin, tmp_path, rows)
    spec = Spec.of("slices", slice="dimension", covariance="CR1", bootstrap=500, wild=500)
    one, two = fitted_slices(spec, study, seed=2)
    alike = []
    for first, second in zip(one.coefficients, two.coefficients, strict=True):
        alike.append(np.corrcoef(first.replicates, second.replicates)[0, 1])
        if first.wild is not None:
            alike.append(np.corrcoef(first.wild.statistics(), second.wild.statistics())[0, 1])
    assert np.median(alike) > 0.9
    assert min(alike) > 0.5


def test_without_draws_of_every_coefficient_there_is_no_max_t():
    coefficients = [replace(coefficient(0.1), wild=wild(1.0, 1.0, [1.0] * 9)), coefficient(0.1)]
    rows = adjusted(Spec.of("s", wild=9), [Fitted("", 9, coefficients)], confidence=0.5)
    assert len(rows) == 2
    assert "max_t_p_value" not in rows[0]
