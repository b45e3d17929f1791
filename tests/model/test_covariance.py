"""Every kind of standard errors against statsmodels and textbook formulas on rows, in blocks of any
size.
"""

import tracemalloc
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.random import default_rng
from numpy.testing import assert_allclose

from conftest import changed_twin
from designs_on_rows import design_on_rows, largest_difference
from picked_rows import keyed
from rated_tables import study_by_hash
from recuse.base.errors import DesignError
from recuse.base.reasons import Reason, because
from recuse.data.moments import PromptRange, RowBlock, moments_of_cells, prompt_ranges
from recuse.model.covariance import Jackknife, fit_least_squares, refused
from recuse.model.design import design_terms, term_layout
from recuse.model.estimates import estimate
from recuse.model.fit import fitted_slices, prompt_errors
from recuse.model.least_squares import Solution, inverted
from recuse.model.prompt_sums import sum_by_prompt
from recuse.model.resampling import Resamples
from recuse.model.spec import Spec
from recuse.validation.statsmodels import fits_by_formula

MAIN = Spec.of("main")
ONE = "prompt_id = (select min(prompt_id) from raw)"
SETTINGS = """
few rows: &few {dataset: [cnn, xsum], dimension: [Faithfulness, Helpfulness]}
CR1: {covariance: CR1}
CR1 with length: {length: prompt, covariance: CR1}
CR1 of slices: {slice: dataset, whole: true, subset: {dataset: [cnn, xsum]}, covariance: CR1}
CR1 with length of a subset: {length: global, subset: {models_dropped: [GPT-4o], dataset: [cnn, xsum]}, covariance: CR1}
CR1 of a reference: {reference: family, subset: {dimension: [Faithfulness]}, covariance: CR1}
CR1 of terms of all judges: {terms: [intercept, reference, self], subset: {dataset: [cnn, xsum]}, covariance: CR1}
HC2: {covariance: HC2}
HC3 of slices: {slice: dimension, whole: true, covariance: HC3}
HC3 of a reference: {reference: family, subset: *few, covariance: HC3}
CR1 absorbing: {absorb: completion, subset: *few, covariance: CR1}
CR3: {subset: *few, covariance: CR3}
CR3 of slices: {slice: dataset, subset: *few, covariance: CR3}
CR3 with length: {length: prompt, subset: *few, covariance: CR3}
CR3 with models: {terms: [judge, "judge:reference", self, same_family, dimension, model], subset: *few, covariance: CR3}
CR3 absorbing: {absorb: completion, subset: *few, covariance: CR3}
two-way: {terms: [intercept, reference], covariance: two_way}
CR1 by judge: {subset: *few, covariance: CR1_judge}
CR1 by judge absorbing: {absorb: completion, subset: *few, covariance: CR1_judge}
CR1 by judge without a judge: {slice: judge_dropped, subset: *few, covariance: CR1_judge}
two-way absorbing: {absorb: completion, subset: *few, covariance: two_way}
two-way of slices: {terms: [intercept, reference], slice: dimension, covariance: two_way}
"""
KINDS = {
    name: Spec.of("", **settings)
    for name, settings in yaml.safe_load(SETTINGS).items()
    if "covariance" in settings
}


def rows_from(study, spec):
    return keyed(estimate(spec, study, confidence=0.9).estimates, "slice quantity term")


def data_on_rows(study, spec):
    """X (rows, terms), the rating and the prompt of the rows of a spec without slices."""
    frame = duckdb.sql(spec.selection.rows(study.ratings)).df()
    x, _ = design_on_rows(frame, spec)
    return x, frame["rating_unit"].to_numpy(), frame["prompt_id"].to_numpy(dtype=str)


@pytest.fixture
def in_blocks(few_prompts, monkeypatch):
    """The twin of few prompts, read six at a time and summed in blocks of other sizes."""
    monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", 50)
    monkeypatch.setattr("recuse.model.covariance.AT_ONCE", 3)
    (path,) = few_prompts.ratings
    blocks = [PromptRange(path, 0, 5), PromptRange(path, 6, 11)]
    for module in ("data.moments", "data.study"):
        monkeypatch.setattr(f"recuse.{module}.prompt_ranges", lambda *_: iter(blocks))
    return replace(few_prompts, _read={})


@pytest.mark.parametrize("name", KINDS)
def test_errors_equal_those_of_statsmodels_or_of_refits_on_rows(in_blocks, name):
    assert largest_difference([KINDS[name]], in_blocks) < 1e-9
    assert any("ci_low" in row for row in rows_from(in_blocks, KINDS[name]).values())


def test_leverage_needs_groups_of_one_reference(twin):
    moments = moments_of_cells(twin.cells())
    regressors = term_layout(design_terms(moments.factors), len(moments.n), 2)
    with pytest.raises(DesignError, match="several references"):
        fit_least_squares(moments, regressors, covariance="HC3")


@pytest.mark.parametrize(
    ("covariance", "df"), [("CR1", 39), ("CR3", 39), ("two_way", 8), ("HC3", np.inf)]
)
def test_intervals_by_prompt_are_of_t_and_others_of_a_normal_distribution(twin, covariance, df):
    from scipy.stats import t

    rows = rows_from(twin, KINDS["two-way"].changed(covariance=covariance)).values()
    for row in rows:
        half = t.ppf(0.95, df) * row["std_error"]
        assert row["ci_high"] - row["estimate"] == pytest.approx(half, rel=1e-9)
        assert row["estimate"] - row["ci_low"] == pytest.approx(half, rel=1e-9)
        assert row["p_value"] == pytest.approx(
            2 * t.sf(abs(row["estimate"] / row["std_error"]), df), rel=1e-9
        )
        assert row.get("df", np.inf) == df


def remarks(study, spec):
    return [row["remark"] for row in estimate(spec, study, confidence=0.9).remarks]


def test_few_clusters_have_a_remark(twin, tmp_path):
    few = "CR3: 29 clusters, fewer than 30: errors may be too small, also with the t distribution"
    prompts = (
        "from raw where prompt_id in (select distinct prompt_id from raw order by all limit {})"
    )
    for number, wanted in ((29, [few]), (30, [])):
        (folder := tmp_path / str(number)).mkdir()
        study = changed_twin(twin, folder, prompts.format(number))
        assert remarks(study, MAIN.changed(covariance="CR3")) == wanted
    assert remarks(twin, KINDS["two-way"]) == [few.replace("CR3: 29", "two_way: 9")]


@pytest.mark.parametrize("spec", [MAIN, Spec.of("", terms=(*MAIN.model.terms, "model"))])
def test_few_prompts_that_carry_a_bias_have_a_remark(twin, tmp_path, monkeypatch, spec):
    """Mistral 7B's own answers to six of 40 prompts, to half of them in one dimension alone;
    against the hat matrix of rows.
    """
    monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", 1000)
    own = "judge = 'Mistral 7B' and model = 'Mistral 7B'"
    first = "prompt_id in (select distinct prompt_id from raw order by all limit {})"
    less = f"dimension = 'Faithfulness' or {first.format(3)}"
    study = changed_twin(
        twin, tmp_path, f"from raw where not ({own}) or ({first.format(6)} and ({less}))"
    )
    spec = spec.changed(covariance="CR1")
    (remark,) = remarks(study, spec)
    fitted = next(fitted_slices(spec, study, seed=None))
    x, _, prompt = data_on_rows(study, spec)
    names = [f"{term.quantity} of {term.term}" for term in fitted.coefficients]
    squares = pd.DataFrame((x @ np.linalg.pinv(x.T @ x)) ** 2, columns=names)
    parts = squares.groupby(prompt).sum()
    numbers = parts.sum() ** 2 / (parts**2).sum()
    biases = numbers.filter(like="bias")
    few = [f"{name} ({number:.1f})" for name, number in biases[biases < 30].items()]
    assert (
        remark
        == f"CR1: fewer than 30 clusters in effect carry {', '.join(few)}: errors may be too small"
    )
    assert "self_bias of Mistral 7B" in remark
    assert numbers["self_bias of Mistral 7B"] < 6
    assert not remarks(twin, spec)


def test_two_way_matrix_that_is_no_covariance_leaves_the_terms_that_judges_share(twin):
    """Intercepts and slopes of judges absorb their scores, so that the variance of pairs is
    subtracted for nothing.
    """
    spec = MAIN.changed(covariance="two_way")
    rows = rows_from(twin, spec).values()
    shared = {row["quantity"] for row in rows if row["note"] != because(Reason.NO_STANDARD_ERROR)}
    assert shared == {"family_bias", "dimension"}
    assert any(
        remark.startswith("two_way: no standard errors of terms of single judges")
        for remark in remarks(twin, spec)
    )
    assert largest_difference([spec], twin) < 1e-9
    assert refused(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not refused(np.array([[1.0, 1.0], [1.0, 1.0]]))


@pytest.mark.parametrize(
    ("quantity", "rows"),
    [
        ("self_bias", f"from raw where judge <> 'GPT-4o' or model <> judge or {ONE}"),
        (
            "slope",
            f"select * replace (if(judge <> 'GPT-4o' or {ONE}, gt, 0) as gt) from raw",
        ),
    ],
)
def test_coefficient_that_one_prompt_determines_has_no_jackknife(twin, tmp_path, quantity, rows):
    """GPT-4o rates itself, or has a human score above 0, for one prompt: fits without it determine
    the other coefficients.
    """
    study = changed_twin(twin, tmp_path, rows)
    spec = MAIN.changed(covariance="CR3", subset={"dimension": ["Faithfulness", "Helpfulness"]})
    rows = rows_from(study, spec)
    assert {key for key, row in rows.items() if "ci_low" not in row} == {("", quantity, "GPT-4o")}
    assert rows["", quantity, "GPT-4o"]["note"] == because(Reason.NO_STANDARD_ERROR)
    assert largest_difference([spec], study) < 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_rounding_of_a_term_without_rows_is_no_information(seed):
    """A slope of the first prompt, whose sums of squares differ in the last digit when summed in
    another order.
    """
    random = default_rng(seed)
    prompt = np.repeat(np.arange(5), 20)
    y = random.random(100)
    covariate = random.random(100)
    x = np.stack([np.ones(100), covariate * (prompt == 0)], axis=1)
    gram = x[::-1].T @ x[::-1]
    inverse, null = inverted(gram)
    solution = Solution(inverse @ x.T @ y, inverse, null, 100, gram)
    jackknife = Jackknife(np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]]]), solution)
    for prompts, sums in sum_by_prompt(
        RowBlock(prompt, (prompt > 0).astype(int), y, [covariate]), np.array([0, 1]), 2
    ):
        jackknife.add(prompts, sums)
    assert np.isnan(jackknife.result().std_error).tolist() == [False, True]


def test_coefficient_that_one_row_determines_has_no_error_by_leverage(twin, tmp_path):
    kept = f"judge <> 'GPT-4o' or model <> judge or ({ONE} and dimension = 'Helpfulness')"
    study = changed_twin(twin, tmp_path, f"from raw where {kept}")
    for covariance in ("HC2", "HC3"):
        rows = rows_from(study, MAIN.changed(covariance=covariance))
        assert {key for key, row in rows.items() if "ci_low" not in row} == {
            ("", "self_bias", "GPT-4o")
        }
        others = rows_from(study, MAIN.changed(covariance="HC0"))
        ratios = [
            row["std_error"] / others[key]["std_error"]
            for key, row in rows.items()
            if "ci_low" in row
        ]
        assert min(ratios) > 1
        assert max(ratios) < 1.05


@pytest.mark.parametrize("covariance", ["CR1", "CR3", "two_way"])
def test_one_prompt_has_no_errors_by_prompt(twin, tmp_path, covariance):
    study = changed_twin(twin, tmp_path, f"from raw where {ONE}")
    spec = MAIN.changed(covariance=covariance, bootstrap=100, wild=99)
    tables = estimate(spec, study, confidence=0.9)
    rows = [row for row in tables.estimates if "estimate" in row]
    assert rows
    for row in rows:
        assert row["note"] == because(Reason.NO_STANDARD_ERROR)
        assert not {"ci_low", "p_value", "boot_ci_low", "wild_p_value"} & set(row)
    assert {"no bootstrap: all rows are of one prompt"} == {row["remark"] for row in tables.remarks}
    assert largest_difference([spec], study) < 1e-9


TERMS = {
    "dimension": (("dimension",), "d = 0 or p < 4"),
    "self": (("self",), "j <> m or p < 4"),
    "self and family": (("self", "same_family"), "(j <> m and not (j < 2 and m < 2)) or p < 4"),
}


@pytest.mark.parametrize("terms", TERMS)
def test_prompts_whose_rows_carry_no_term_are_counted(tmp_path, terms):
    """Twelve prompts, of which eight have no row with a term: their scores are 0, but P is 12, and
    12 prompts are resampled.
    """
    names, where = TERMS[terms]
    study = study_by_hash(tmp_path, 12, where=where)
    spec = Spec.of("", terms=names, covariance="CR1", bootstrap=100)
    x, y, prompt = data_on_rows(study, spec)
    (fitted_slice,) = fitted_slices(spec, study, seed=3)
    times = np.concatenate(list(Resamples(12, replicates=100, seed=3).piece_draws(0)))
    weights = times[:, np.unique(prompt, return_inverse=True)[1]]
    with np.errstate(invalid="ignore"):  # a resample may have no row of a term
        # Terms of no common row: means
        naive = (weights @ (x * y[:, None])) / (weights @ x)
    assert_allclose(
        np.stack([row.replicates for row in fitted_slice.coefficients], axis=1),
        naive,
        rtol=0,
        atol=1e-12,
    )
    assert largest_difference([spec], study) < 1e-9


@pytest.mark.parametrize(
    "spec",
    [Spec.of("", covariance="CR1"), Spec.of("", bootstrap=100), Spec.of("", slice="dimension")],
)
def test_rows_that_carry_no_term_are_not_estimable(tmp_path, spec):
    study = study_by_hash(tmp_path, 6, where="j <> m or d = 1 and p < 3")
    spec = spec.changed(
        terms=("self",), subset={} if spec.selection.slice else {"dimension": ["A"]}
    )
    for slices in (fitted_slices(spec, study, seed=0), fits_by_formula(spec, study)):
        first, *others = slices
        assert first.slice == ("A" if spec.selection.slice else "")
        assert first.not_estimable[-1] == ("", "", because(Reason.NO_TERM))
        assert [reason for *_, reason in first.not_estimable[:-1]] == [
            because(Reason.NO_OWN_ANSWERS)
        ] * 3
        assert not first.coefficients
        assert [fitted.slice for fitted in others if fitted.coefficients] == (
            ["B"] if spec.selection.slice else []
        )
    (one,) = estimate(
        spec.changed(slice=None, terms=("dimension",), subset={"dimension": ["A"]}),
        study,
        confidence=0.9,
    )[1]
    assert one["reason"] == because(Reason.NO_TERM)


def test_memory_is_linear_in_the_slices(tmp_path):
    """Three times the datasets need three times the memory; with all terms in one array it would be
    nine times.
    """
    peaks = []
    for datasets in (10, 30):
        study = study_by_hash(tmp_path / str(datasets), 2 * datasets, datasets=datasets)
        spec = Spec.of("", slice="dataset", covariance="CR1")
        estimate(spec, study, confidence=0.9)  # reads the cells
        tracemalloc.start()
        prompt_errors(spec, study, seed=None)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4 * peaks[0]


def test_prompts_of_many_groups_of_rows_are_read_once(tmp_path):
    """Prompts of 100 to 5,000 rows, in groups of 2,048: each is in one block, and no block is
    without prompts.
    """
    path = tmp_path / "rows.parquet"
    sizes = [5000, 100, 4096, 2048, 100, 100, 3000, 1]
    rows = " union all ".join(
        f"select {prompt}::uinteger as prompt from range({size})"
        for prompt, size in enumerate(sizes)
    )
    duckdb.sql(f"copy ({rows} order by prompt) to '{path}' (row_group_size 2048)")
    for asked in (1, 2048, 4000, 10**6):
        spans = [
            range(span.first, span.last + 1) for span in prompt_ranges([str(path)], rows=asked)
        ]
        assert [prompt for span in spans for prompt in span] == list(range(len(sizes)))
        assert all(spans)
