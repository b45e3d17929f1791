"""The other estimators through the same tables: ordinal logit and GAM."""

from dataclasses import replace

import duckdb
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import block_diag
from statsmodels.miscmodels.ordinal_model import OrderedModel

from conftest import CONFIG, changed_twin
from designs_on_rows import carried_terms, factors_on_rows, regressors_on_rows, term_places
from picked_rows import column, fields, keyed, where
from recuse.base.errors import DesignError
from recuse.base.reasons import Reason, code
from recuse.data.cells import FACTORS
from recuse.model.covariance import FEW, FEW_CLUSTERS
from recuse.model.design import estimable_terms
from recuse.model.estimates import estimate
from recuse.model.gam import ORDER, SPLINES, Spline, fit_gam
from recuse.model.least_squares import quantile
from recuse.model.ordinal import fit_ordinal
from recuse.model.spec import Spec
from recuse.papers.values import JUDGES
from recuse.validation.compare import LIKELIHOOD, compared, raise_disagreement

SPECS = Spec.from_config(CONFIG["specs"])
HELPFULNESS = "Helpfulness"


@pytest.fixture(scope="module")
def helpfulness(twin):
    """Cells of one dimension, and the terms of Equation 1 on them."""
    cells = twin.cells()
    cells = cells.select(cells.factors["dimension"] == HELPFULNESS)
    return cells, carried_terms(cells.factors)


def rows_from(table, quantity, label=HELPFULNESS):
    return keyed(where(table, slice=label, quantity=quantity), "term")


def test_ordinal_rows_are_the_numbers_of_the_fit(twin, helpfulness):
    tables = estimate(SPECS["ordinal"], twin, confidence=0.9)
    assert {row["slice"] for row in tables.estimates} == set(CONFIG["studies"]["twin"]["scales"])
    fit = fit_ordinal(*helpfulness, covariance="HC0")
    place = term_places(helpfulness[1])
    for judge, row in rows_from(tables.estimates, "self_bias").items():
        number = place["self_bias", judge]
        for name in ("estimate", "std_error", "effect"):
            assert row[name] == getattr(fit, name)[number]
        half = 1.6448536269514722 * fit.effect_std_error[number]
        assert row["effect_ci_high"] - row["effect"] == pytest.approx(half, rel=1e-9)
        assert row["n_term"] < row["n"] == fit.n
    thresholds = rows_from(tables.estimates, "threshold")
    assert list(thresholds) == list(fit.threshold_labels)
    assert column(thresholds.values(), "estimate") == fit.estimate[-len(thresholds) :].tolist()
    # The first judge's intercept is no parameter; the others' are differences from it.
    judges = sorted(JUDGES)
    assert list(rows_from(tables.estimates, "intercept")) == judges[1:]
    assert not any("effect" in row for row in rows_from(tables.estimates, "slope").values())


def higher(fit, by):
    return replace(fit, log_likelihood=fit.log_likelihood + by)


def test_ordered_model_does_not_improve_the_ordinal_fits(twin, monkeypatch):
    spec = Spec.of(
        "ordinal",
        slice="dimension",
        estimator="ordinal_logit",
        subset={"dimension": ["Faithfulness"]},
    )
    rows = list(compared([spec], twin, confidence=0.9))
    assert [fields(row, "slice compared") for row in rows] == [("Faithfulness", LIKELIHOOD)]
    assert rows[0]["largest_difference"] < 1e-6
    raise_disagreement(rows)
    # A fit that stopped early, or claims more than it has, is found out.
    for claimed in (-1e-3, 1e-3):
        monkeypatch.setattr(
            "recuse.validation.compare.fit_ordinal",
            lambda *given, by=claimed: higher(fit_ordinal(*given), by),
        )
        with pytest.raises(DesignError, match=r"log-likelihood by 0\.001"):
            raise_disagreement(compared([spec], twin, confidence=0.9))


def test_crosscheck_compares_a_likelihood_once_and_skips_what_cannot_be_fitted(twin):
    ordinal = Spec.of("HC0", estimator="ordinal_logit", slice="dimension")
    same = Spec.of(
        "classical", estimator="ordinal_logit", slice="dimension", covariance="classical"
    )
    pooled = Spec.of("pooled", estimator="ordinal_logit")  # over dimensions of several scales
    rows = list(compared([ordinal, same, pooled, Spec.of("main")], twin, confidence=0.9))
    specs = column(rows, "spec")
    assert (specs.count("HC0"), {*specs}) == (6, {"HC0", "main"})


def test_absent_models_have_a_remark(twin):
    spec = Spec.of("mixed", subset={"models_dropped": ["GPT-4o", "GPT-5"]})
    tables = estimate(spec, twin, confidence=0.9)
    assert "GPT-4o" not in {row["term"] for row in tables.estimates}
    assert column(tables.remarks, "remark") == ["the study has no model named GPT-5"]


def test_ordinal_fit_over_several_scales_is_not_estimable(twin):
    tables = estimate(Spec.of("pooled", estimator="ordinal_logit"), twin, confidence=0.9)
    assert tables.estimates == []
    assert [code(gap["reason"]) for gap in tables.not_estimable] == [Reason.NOT_FITTED]


def test_ordinal_fit_over_dimensions_of_one_scale_has_their_effects(twin):
    subset = {"dimension": ["Completeness", "Conciseness", "Faithfulness"]}
    table = estimate(
        Spec.of("pooled", estimator="ordinal_logit", subset=subset), twin, confidence=0.9
    ).estimates
    assert list(rows_from(table, "dimension", "")) == ["Conciseness", "Faithfulness"]
    assert list(rows_from(table, "threshold", "")) == ["0|1", "1|2", "2|3", "3|4"]


def test_gam_rows_and_smooths_are_the_fits_numbers_and_curves(twin, helpfulness):
    tables = estimate(SPECS["gam"], twin, confidence=0.9)
    assert {row["slice"] for row in tables.estimates} == {"", *CONFIG["studies"]["twin"]["scales"]}
    fit = fit_gam(*helpfulness, covariance="HC0")
    place = term_places(helpfulness[1])
    for quantity in ("self_bias", "family_bias"):
        for term, row in rows_from(tables.estimates, quantity).items():
            assert row["estimate"] == fit.estimate[place[quantity, term]]
            assert row["std_error"] == fit.std_error[place[quantity, term]]
    assert rows_from(tables.estimates, "slope") == {}
    for curve in fit.curves:
        rows = where(tables.smooths, slice=HELPFULNESS, judge=curve.judge)
        assert_array_equal(column(rows, "reference"), curve.reference)
        assert_array_equal(column(rows, "value"), curve.value)
        half = [row["ci_high"] - row["value"] for row in rows]
        assert_allclose(half, 1.6448536269514722 * curve.std_error, rtol=1e-9)


def raw_rows(study):
    """The rows of one dimension, in an order of their own, with the places of their prompts."""
    rows = f"select * from '{study.ratings[0]}' where dimension = '{HELPFULNESS}'"
    frame = duckdb.sql(rows).df().sample(frac=1, random_state=1)
    return frame, np.unique(frame["prompt_id"], return_inverse=True)[1]


def clustered(name, study):
    spec = SPECS[name].changed(
        covariance="CR1", subset={"dimension": [HELPFULNESS, "Faithfulness"]}
    )
    return estimate(spec, study, confidence=0.9)


def twin_of_first_prompts(twin, folder, number):
    """The study of the first prompts of the twin."""
    kept = f"select distinct prompt_id from raw order by all limit {number}"
    return changed_twin(twin, folder, f"from raw where prompt_id in ({kept})")


def test_ordinal_errors_by_prompt_are_those_of_ordered_model(twin, tmp_path):
    """Its derivatives are numeric, hence the tolerance. One step of Newton leaves the maximum where
    it is.
    """
    study = twin_of_first_prompts(twin, tmp_path, 20)
    tables = clustered("ordinal", study)
    frame, prompt = raw_rows(study)
    terms = estimable_terms(SPECS["ordinal"], factors_on_rows(frame, FACTORS))
    terms = [term for term in terms if (term.quantity, term.term) != ("intercept", min(JUDGES))]
    x = regressors_on_rows(terms, frame["gt_unit"])
    model = OrderedModel(frame["rating"].to_numpy(), x, distr="logit")
    rows = [rows_from(tables.estimates, term.quantity)[term.term] for term in terms]
    estimates = column(rows, "estimate")
    thresholds = column(rows_from(tables.estimates, "threshold").values(), "estimate")
    start = np.array([*estimates, thresholds[0], *np.log(np.diff(thresholds))])
    cluster = {"cov_type": "cluster", "cov_kwds": {"groups": prompt}}
    result = model.fit(
        start_params=start,
        method="newton",
        maxiter=1,
        disp=False,
        warn_convergence=False,
        **cluster,
    )
    assert_allclose(result.params[: len(terms)], estimates, atol=1e-6)
    assert_allclose(column(rows, "std_error"), result.bse[: len(terms)], rtol=1e-3)
    assert {row["df"] for row in rows} == {prompt.max()}
    row, *_ = rows_from(tables.estimates, "self_bias").values()
    assert row["effect_ci_high"] - row["effect"] == pytest.approx(
        quantile(0.9, prompt.max()) * row["effect_std_error"]
    )


def test_gam_errors_by_prompt_are_those_of_rows(twin, helpfulness):
    """A (sum over prompts of s s') A with A = (X'X + P)^-1 and s = X'e, from a matrix of the
    rows.
    """
    tables = clustered("gam", twin)
    curves = fit_gam(*helpfulness, covariance="HC0").curves
    frame, prompt = raw_rows(twin)
    terms = estimable_terms(SPECS["gam"], factors_on_rows(frame, FACTORS))
    terms = [term for term in terms if term.quantity in ("self_bias", "family_bias")]
    parts = [regressors_on_rows(terms)]
    penalties = [np.zeros((len(terms),) * 2)]
    for curve in curves:
        own = (frame["judge"] == curve.judge).to_numpy()
        reference = frame["gt_unit"].to_numpy()[own]
        spline = Spline(reference.min(), reference.max(), min(SPLINES, len(set(reference))), ORDER)
        parts.append(np.zeros((len(frame), spline.functions)))
        parts[-1][own] = spline.basis(reference)
        penalties.append(curve.smoothing * spline.penalty())
    x = np.hstack(parts)
    y = frame["rating_unit"].to_numpy()
    inverse = np.linalg.inv(x.T @ x + block_diag(*penalties))
    residual = y - x @ inverse @ x.T @ y
    prompts = prompt.max() + 1
    sums = np.zeros((prompts, x.shape[1]))
    np.add.at(sums, prompt, x * residual[:, None])
    n = len(y)
    share = prompts / (prompts - 1) * (n - 1) / (n - np.trace(inverse @ x.T @ x))
    spread = share * inverse @ sums.T @ sums @ inverse
    rows = [rows_from(tables.estimates, term.quantity)[term.term] for term in terms]
    assert_allclose(column(rows, "std_error"), np.sqrt(spread.diagonal())[: len(terms)], rtol=1e-7)
    assert {row["df"] for row in rows} == {prompts - 1}
    smooths = where(tables.smooths, slice=HELPFULNESS)
    assert len(smooths) == sum(len(curve.reference) for curve in curves)
    for row in smooths:
        assert row["ci_high"] - row["value"] == pytest.approx(
            quantile(0.9, prompts - 1) * row["std_error"]
        )


@pytest.mark.parametrize("name", ["ordinal", "gam"])
def test_errors_of_few_prompts_have_a_remark_and_of_one_prompt_are_unknown(twin, tmp_path, name):
    for prompts in (12, 1):
        tables = clustered(name, twin_of_first_prompts(twin, tmp_path, prompts))
        few = FEW_CLUSTERS.format(covariance="CR1", clusters=12, few=FEW)
        assert ((HELPFULNESS, few) in {fields(row, "slice remark") for row in tables.remarks}) == (
            prompts == 12
        )
        errors = [row["std_error"] for row in tables.estimates if "std_error" in row]
        assert np.isnan(errors).all() == (prompts == 1)
