"""Specs applied to a study: against statsmodels on rows, and what is said of terms that cannot be estimated."""

import duckdb
import numpy as np
import pytest

from conftest import CONFIG, built, study_files
from recuse.crosscheck.compare import compared
from recuse.crosscheck.statsmodels import fits_by_formula
from recuse.data.files import RatingsFile
from recuse.data.ratings import StudyFiles
from recuse.data.registry import Registry
from recuse.data.selection import NORMALISATIONS, with_normalised_length
from recuse.model.estimates import estimate, estimates_of
from recuse.model.fit import fits
from recuse.model.least_squares import wald_p_value
from recuse.model.spec import Spec
from recuse.published.values import JUDGES

FAMILIES = {CONFIG["models"][judge]["family"] for judge in JUDGES}
SPECS = {spec.name: spec for spec in Spec.from_config(CONFIG["specs"])}


def table(study, spec):
    rows, left_out, *_ = estimate(spec, study, confidence=0.9)
    return {(row["slice"], row["quantity"], row["term"]): row for row in rows}, left_out


@pytest.mark.parametrize("name", [spec.name for spec in SPECS.values() if spec.model.estimator == "least_squares"])
def test_every_linear_spec_equals_statsmodels_on_rows(twin, name):
    rows = list(compared([SPECS[name]], twin, confidence=0.9))
    assert rows
    assert max(row["largest_difference"] for row in rows) < 1e-9


@pytest.mark.parametrize("covariance", ["HC1", "classical"])
def test_other_covariances_equal_statsmodels(twin, covariance):
    spec = Spec.of("other", slice="task_type", covariance=covariance)
    assert max(row["largest_difference"] for row in compared([spec], twin, confidence=0.9)) < 1e-9


def test_interval_and_p_value_are_walds(twin):
    from scipy.stats import norm

    rows, _ = table(twin, SPECS["main"])
    for row in rows.values():
        half = norm.ppf(0.95) * row["std_error"]
        assert row["ci_high"] - row["estimate"] == pytest.approx(half, rel=1e-9)
        assert row["estimate"] - row["ci_low"] == pytest.approx(half, rel=1e-9)
        z = row["estimate"] / row["std_error"]
        assert row["p_value"] == pytest.approx(2 * norm.sf(abs(z)), rel=1e-9)
        assert wald_p_value(row["estimate"], row["std_error"]) == row["p_value"]


def test_quantities_and_rows_of_each_term(twin):
    rows, left_out = table(twin, SPECS["main"])
    assert left_out == []
    assert sorted({key[1] for key in rows}) == ["dimension", "family_bias", "intercept", "self_bias", "slope"]
    assert {key[2] for key in rows if key[1] == "family_bias"} == set(FAMILIES)
    assert ("", "dimension", "Completeness") not in rows  # the first in alphabetical order is the reference
    own = duckdb.sql(f"select count(*) from '{twin.ratings[0]}' where judge = 'GPT-4o' and model = 'GPT-4o'").fetchall()[0][0]
    assert rows["", "self_bias", "GPT-4o"]["n_term"] == own
    assert rows["", "self_bias", "GPT-4o"]["n"] == duckdb.sql(f"select count(*) from '{twin.ratings[0]}'").fetchall()[0][0]


def test_dropped_models_leave_as_judge_and_as_model(twin):
    rows, left_out = table(twin, SPECS["weak_models_dropped"])
    terms = {key[2] for key in rows}
    assert not terms & {"Llama 3 8B", "Mistral 7B"}
    # Two families have one model left: their terms are absent, not zero, and that is said.
    assert {(gap["quantity"], gap["term"]) for gap in left_out} == {("family_bias", "Llama 3"), ("family_bias", "Mistral")}
    assert not any(key[1] == "family_bias" and key[2] in ("Llama 3", "Mistral") for key in rows)
    assert all("another model of the family" in gap["reason"] for gap in left_out)


def test_one_model_dropped_has_a_slice_for_each_model(twin):
    rows, _ = table(twin, SPECS["one_model_dropped"])
    assert {key[0] for key in rows} == set(JUDGES)
    assert not any(key[0] == key[2] for key in rows)
    alone, _ = table(twin, Spec.of("alone", subset={"models_dropped": ["GPT-4o"]}))
    assert rows["GPT-4o", "self_bias", "Mistral 7B"]["estimate"] == alone["", "self_bias", "Mistral 7B"]["estimate"]


def test_subset_that_names_nothing_of_the_study_is_said(twin):
    rows, left_out = table(twin, Spec.of("elsewhere", subset={"dimension": ["Charm"]}))
    assert rows == {}
    assert left_out[0]["reason"] == "the study has no dimension named Charm"


def small_study(tmp_path, change, lengths=True):
    """A study of three judges, one family of two, 12 prompts of one dimension; `change` alters the rows."""
    generator = np.random.default_rng(5)
    models = ("GPT-4o", "GPT-3.5 Turbo", "Claude v2")
    length_of = {(model, prompt): int(generator.integers(20, 200)) for model in models for prompt in range(12)}
    lines = ["judge,model,gt,dataset,prompt_id,rating" + (",pred_length" if lengths else "")]
    for judge in models:
        for model in models:
            for prompt in range(12):
                row = {"judge": judge, "model": model, "gt": int(generator.integers(0, 5)), "dataset": "cnn"}
                row |= {"prompt_id": f"p{prompt}", "rating": int(generator.integers(0, 5))}
                row |= {"pred_length": length_of[model, prompt]} if lengths else {}
                row = change(row)
                if row is not None:
                    lines.append(",".join(map(str, row.values())))
    (tmp_path / "raw.csv").write_text("\n".join(lines), "utf-8")
    return built(tmp_path, "small", study_files("play_favorites_2d", [RatingsFile(str(tmp_path / "raw.csv"), "Faithfulness")]))


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.SingularMatrixWarning")
def test_judge_that_sees_one_reference_level(tmp_path):
    study = small_study(tmp_path, lambda row: row | ({"gt": 2} if row["judge"] == "Claude v2" else {}))
    spec = Spec.of("main")
    for (fitted,) in (fits(spec, study, seed=None), fits_by_formula(spec, study)):
        rows = {(row["quantity"], row["term"]): row for row in estimates_of(spec, fitted, confidence=0.9)}
        unknown = {(quantity, term) for quantity, term, reason in fitted.not_estimable if "not estimable" in reason}
        assert unknown == {("intercept", "Claude v2"), ("slope", "Claude v2")}
        assert "estimate" not in rows["slope", "Claude v2"]
        assert rows["slope", "Claude v2"]["note"].startswith("not estimable")
        assert np.isfinite(rows["self_bias", "Claude v2"]["estimate"])
    assert next(compared([Spec.of("main")], study, confidence=0.9))["largest_difference"] < 1e-9


def test_judge_that_is_no_model_has_no_self_bias(tmp_path):
    study = small_study(tmp_path, lambda row: None if row["model"] == "GPT-3.5 Turbo" else row)
    rows, left_out = table(study, Spec.of("main"))
    assert ("", "self_bias", "GPT-3.5 Turbo") not in rows
    assert [(gap["quantity"], gap["term"], gap["reason"]) for gap in left_out] == [
        ("self_bias", "GPT-3.5 Turbo", "no row of this judge rates itself"),
        ("family_bias", "Claude", "no row of this family's judges rates another model of the family"),
    ]


def test_judge_that_always_gives_one_rating(tmp_path):
    """Its coefficients are exact and have no standard error: that is said, not called significant."""
    study = small_study(tmp_path, lambda row: row | ({"rating": 4} if row["judge"] == "Claude v2" else {}))
    rows, _ = table(study, Spec.of("main"))
    own = rows["", "self_bias", "Claude v2"]
    assert own["estimate"] == pytest.approx(0, abs=1e-12)
    assert own["std_error"] == 0
    assert not {"ci_low", "ci_high", "p_value"} & set(own)
    assert own["note"].startswith("no standard error")
    assert rows["", "self_bias", "GPT-4o"]["note"] == ""


def test_single_judge(tmp_path):
    study = small_study(tmp_path, lambda row: row if row["judge"] == "GPT-4o" else None)
    rows, _ = table(study, Spec.of("main"))
    quantities = ("intercept", "slope", "self_bias")
    assert [key[1:] for key in rows] == [*((quantity, "GPT-4o") for quantity in quantities), ("family_bias", "GPT")]
    assert next(compared([Spec.of("main")], study, confidence=0.9))["largest_difference"] < 1e-9


def test_every_spec_of_config_on_a_single_judge(tmp_path):
    """Dropping that judge leaves no row: said, and no other slice or spec suffers."""
    study = small_study(tmp_path, lambda row: row if row["judge"] == "GPT-4o" else None)
    for spec in SPECS.values():
        rows, left_out = table(study, spec)
        assert rows or left_out
    rows, left_out = table(study, SPECS["one_model_dropped"])
    assert {key[0] for key in rows} == {"GPT-3.5 Turbo", "Claude v2"}
    assert [gap["reason"] for gap in left_out if gap["slice"] == "GPT-4o"] == ["no row is left"]


def test_rows_on_the_fit_leave_no_standard_error_and_statsmodels_agrees(tmp_path):
    """Two judges that repeat the human score: exact where nothing else of the fit is shared, in both fits."""
    follows = ("GPT-4o", "Claude v2")
    study = small_study(tmp_path, lambda row: row | ({"rating": row["gt"]} if row["judge"] in follows else {}))
    rows, _ = table(study, Spec.of("main"))
    assert rows["", "slope", "Claude v2"]["estimate"] == pytest.approx(1, abs=1e-12)
    assert rows["", "slope", "Claude v2"]["std_error"] == 0
    assert rows["", "slope", "GPT-3.5 Turbo"]["std_error"] > 0.01
    assert next(compared([Spec.of("main")], study, confidence=0.9))["largest_difference"] < 1e-9


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.SingularMatrixWarning")
def test_statsmodels_agrees_where_every_row_is_a_judges_own(tmp_path):
    study = small_study(tmp_path, lambda row: row if row["judge"] == row["model"] == "GPT-4o" else None)
    _, left_out = table(study, Spec.of("main"))
    assert ("self_bias", "GPT-4o") in {(gap["quantity"], gap["term"]) for gap in left_out}
    assert next(compared([Spec.of("main")], study, confidence=0.9))["largest_difference"] < 1e-9


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.SingularMatrixWarning", "ignore:divide by zero")
def test_statsmodels_agrees_where_rows_are_fewer_than_terms(tmp_path):
    study = small_study(tmp_path, lambda row: row if row["prompt_id"] == "p0" else None)
    for spec in (Spec.of("main"), Spec.of("classical", covariance="classical"), SPECS["one_model_dropped"]):
        rows, left_out = table(study, spec)
        assert rows
        assert any("not estimable" in gap["reason"] for gap in left_out)
        # The fit passes through every row, so no residual tells how sure it is.
        assert not any("ci_low" in row for row in rows.values())
        assert all(row["largest_difference"] < 1e-9 for row in compared([spec], study, confidence=0.9))


def test_names_may_hold_what_formulas_use(tmp_path):
    names = {"GPT-4o": "T.Rex[T.2]: ~ + x", "Claude v2": "judge['a']"}
    small_study(tmp_path, lambda row: row)
    raw = (tmp_path / "raw.csv").read_text("utf-8")
    for name, other in names.items():
        raw = raw.replace(name, f'"{other}"')
    (tmp_path / "raw.csv").write_text(raw, "utf-8")
    models = {other: {"family": "f"} for other in names.values()} | {"GPT-3.5 Turbo": {"family": "T.f"}}
    source = StudyFiles([RatingsFile(str(tmp_path / "raw.csv"), "D")], {"D": [0, 4]}, {}, Registry.from_config(models))
    study = built(tmp_path, "odd", source)
    assert next(compared([Spec.of("main")], study, confidence=0.9))["largest_difference"] < 1e-9
    rows, left_out = table(study, SPECS["by_task_type"])
    assert (rows, left_out[0]["reason"]) == ({}, "the study declares no task types")


def test_length_control_without_lengths_is_said(tmp_path):
    study = small_study(tmp_path, lambda row: row, lengths=False)
    rows, left_out = table(study, SPECS["length_control"])
    assert rows == {}
    assert left_out[0]["reason"] == "the ratings have no lengths"


@pytest.mark.parametrize("way", NORMALISATIONS)
def test_normalised_length_equals_a_plain_loop(tmp_path, way):
    study = small_study(tmp_path, lambda row: None if (row["judge"], row["prompt_id"]) == ("GPT-4o", "p3") else row)
    frame = duckdb.sql(with_normalised_length(f"select * from '{study.ratings[0]}'", way)).df()
    assert len(frame) == 105
    for _, row in frame.iterrows():
        group = frame if way == "global" else frame[frame["prompt_id"] == row["prompt_id"]]
        if way != "prompt_rows":
            group = group.drop_duplicates(["dimension", "prompt_id", "model"])
        expected = np.tanh((row["length"] - group["length"].mean()) / group["length"].std())
        assert row["x"] == pytest.approx(expected, abs=1e-12)
