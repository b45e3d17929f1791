"""Corrected moments and split raters: against formulas on rows, refits without each prompt and
statsmodels.
"""

import duckdb
import numpy as np
import pytest
import yaml
from numpy.random import default_rng
from numpy.testing import assert_allclose

from designs_on_rows import factors_on_rows, regressors_on_rows
from picked_rows import fields
from recuse.base.database import write_parquet
from recuse.base.errors import ConfigError
from recuse.base.reasons import Reason, because
from recuse.base.tables import read_table, write_table
from recuse.inference.measurement_error import (
    BREAKDOWNS,
    BY_RATERS,
    CURVE,
    MEASUREMENT_ERROR,
    MOMENTS,
    CorrectedFits,
    DesignCells,
    KnownReliability,
    SplitRaters,
    breakdowns,
    corrected_rows,
    curve_rows,
    split_rater_rows,
)
from recuse.model.design import REFERENCE, estimable_terms, slice_designs
from recuse.model.estimates import estimate
from recuse.model.prompt_sums import add_prompts
from recuse.model.spec import Spec
from recuse.simulate.ratings import simulate
from recuse.validation.world import RATERS, MonteCarloWorld
from text_tables import lines

WORLD = yaml.safe_load("""
{families: [2, 1], dimensions: 2, prompts: 60, intercept: 0.3, slope: 0.5, noise: 0.2, reliability: 0.6}
""")
EQUATION = Spec.of("main")
LENGTH = Spec.of("length", length="prompt")


def drawn(**dials):
    return MonteCarloWorld(**{**WORLD, **dials}).draw(default_rng(1))


def design_on(study, spec, selection):
    moments = study.moments(selection)
    ((_, _, design),) = slice_designs(spec, moments)
    return moments, design


def fit(study, spec, share, noise=None, selection=None):
    """Fit and errors of a spec; noise: of the planted reliability if not given."""
    selection = selection or spec.selection
    moments, design = design_on(study, spec, selection)
    dimension = study.factors["dimension"]
    if noise is None:
        noise = KnownReliability(moments, dict.fromkeys(dimension.tolist(), study.reliability))
    rows = np.bincount(design.cell, moments.n, minlength=len(design.layouts))
    cells = DesignCells(
        design.group, design.cell, design.cells, design.layouts, dimension[design.first], rows
    )
    fits = CorrectedFits(design, moments, cells, noise, [({}, share)])
    add_prompts([(design, [fits])], study.row_blocks(selection, moments.factors), len(moments.n))
    ((_, result),) = fits.results()
    return design.terms, result


def rows_from(study, spec):
    """Design, rating, places of the human score in it, human score, dimension, prompt and group of
    every row.
    """
    (block,), (_, design) = (
        study.row_blocks(spec.selection, study.factors),
        design_on(study, spec, spec.selection),
    )
    w = np.stack([np.ones(len(block.rating)), *block.covariates], axis=1)
    layout = design.regressors[block.group]
    x = np.einsum("rw,rwt->rt", w, layout)
    return (
        x,
        block.rating,
        layout[:, REFERENCE],
        w[:, 1],
        study.factors["dimension"][block.group],
        block.prompt,
        block.group,
    )


def fitted_to_rows(x, y, b, reference, dimension, reliability):
    """(X'X - C)^-1 X'y, from rows."""
    errors = np.zeros(len(y))
    for level in np.unique(dimension):
        own = dimension == level
        errors[own] = (1 - reliability) * reference[own].var()
    return np.linalg.solve(x.T @ x - (b * errors[:, None]).T @ b, x.T @ y)


@pytest.fixture
def in_blocks(monkeypatch):
    """Sums of few prompts at a time."""
    monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", 100)


@pytest.mark.usefixtures("in_blocks")
def test_estimates_are_the_formulas_on_rows_and_errors_those_of_refits_without_each_prompt():
    """The jackknife refits everything, the variances of the reference too; its errors are larger by
    the order 1 / prompts. With a steep slope and little noise these variances count.
    """
    study = drawn(prompts=40, missing=0.2, slope=0.9, noise=0.05)
    terms, result = fit(study, EQUATION, MOMENTS)
    *columns, prompt, _ = rows_from(study, EQUATION)
    assert_allclose(result.estimate, fitted_to_rows(*columns, 0.6), rtol=1e-9)
    refits = np.array(
        [
            fitted_to_rows(*[each[prompt != left_out] for each in columns], 0.6)
            for left_out in range(40)
        ]
    )
    jackknife = np.sqrt(39 / 40 * ((refits - refits.mean(axis=0)) ** 2).sum(axis=0))
    assert_allclose(result.std_error, jackknife, rtol=0.05)
    assert {"slope", "self_bias", "dimension"} <= {term.quantity for term in terms}


@pytest.mark.usefixtures("in_blocks")
def test_split_raters_are_instrumental_variables_of_each_rater_in_turn():
    from statsmodels.sandbox.regression.gmm import IV2SLS

    study = drawn(missing=0.2)
    terms, result = fit(
        study.with_rater_errors(), EQUATION, MOMENTS, SplitRaters(), LENGTH.selection
    )
    x, y, b, reference, _, prompt, group = rows_from(study, EQUATION)
    d, m = (
        np.unique(study.factors[name], return_inverse=True)[1][group]
        for name in ("dimension", "model")
    )
    raters = study.raters[prompt, d, m]  # (rows, raters)
    turns = [(raters[:, k], np.delete(raters, k, axis=1).mean(axis=1)) for k in range(RATERS)]
    base = x - b * reference[:, None]
    regressors, instruments = (
        np.concatenate([base + b * turn[side][:, None] for turn in turns]) for side in (0, 1)
    )
    expected = IV2SLS(np.tile(y, RATERS), regressors, instruments).fit().params
    assert_allclose(result.estimate, expected, rtol=1e-8)
    residual = np.tile(y, RATERS) - regressors @ expected
    scores = np.zeros((60, x.shape[1]))
    np.add.at(scores, np.tile(prompt, RATERS), instruments * residual[:, None])
    inverse, (n, k) = np.linalg.inv(instruments.T @ regressors), x.shape
    spread = inverse @ scores.T @ scores @ inverse.T * 60 / 59 * (n - 1) / (n - k)
    assert_allclose(result.std_error, np.sqrt(np.diag(spread)), rtol=1e-7)
    assert len(terms) == k


MAIN = Spec.of("main")
NUMBERS = ("estimate", "std_error", "df", "ci_low", "ci_high", "p_value")
SCALES = (
    "Completeness",
    "Conciseness",
    "Faithfulness",
    "Helpfulness",
    "Logical correctness",
    "Logical robustness",
)
RELIABILITY = dict(zip(SCALES, (0.8, 0.6, 0.6, 0.85, 0.7, 0.6), strict=True))


def keyed(rows, method):
    """Rows with numbers of a method, by slice, quantity and term."""
    return {
        fields(row, "slice quantity term"): row
        for row in rows
        if row.get("method") == method and "estimate" in row
    }


def assert_equal(result, expected):
    assert result.keys() == expected.keys()
    for key, row in result.items():
        values = [[each.get(name, np.nan) for name in NUMBERS] for each in (row, expected[key])]
        assert_allclose(*values, rtol=1e-9, atol=1e-12, err_msg=str(key))


@pytest.mark.parametrize(
    "spec",
    [
        MAIN.changed(slice="dimension", whole=True),
        MAIN.changed(slice="dataset", subset={"dataset": ["cnn", "xsum"]}),
        MAIN.changed(length="prompt", subset={"dataset": ["cnn", "xsum"]}),
        MAIN.changed(terms=(*MAIN.model.terms, "model"), slice="model_dropped"),
        Spec.of("absorbing", absorb="completion", subset={"dataset": ["xsum"]}),
    ],
    ids=["dimensions", "datasets", "length of a subset", "models", "completions absorbed"],
)
def test_uncorrected_rows_are_those_of_the_table_of_estimates(twin, spec):
    rows = list(corrected_rows(spec, twin, RELIABILITY, confidence=0.9))
    plain = estimate(spec.changed(covariance="CR1"), twin, confidence=0.9)
    expected = [{**row, "method": "plain"} for row in plain.estimates]
    assert_equal(keyed(rows, "uncorrected"), keyed(expected, "plain"))
    assert keyed(rows, "moments").keys() == keyed(expected, "plain").keys()


def test_a_dimension_alone_is_its_slice(twin):
    """Errors come from the rows of the slice; with reliability by dimension, other dimensions do
    not count.
    """
    sliced = keyed(
        corrected_rows(MAIN.changed(slice="dimension"), twin, RELIABILITY, confidence=0.9),
        "moments",
    )
    alone = MAIN.changed(subset={"dimension": ["Faithfulness"]})
    result = keyed(corrected_rows(alone, twin, RELIABILITY, confidence=0.9), "moments")
    own = {("", *key[1:]): row for key, row in sliced.items() if key[0] == "Faithfulness"}
    assert_equal(result, own)


def test_curve_begins_uncorrected_and_is_the_correction_at_each_reliability(twin, tmp_path):
    rows = list(curve_rows(MAIN, twin, confidence=0.9))
    assert sorted({row["reliability"] for row in rows if "reliability" in row}) == sorted(CURVE)
    assert (CURVE[0], CURVE[-1], len(CURVE)) == (1.0, 0.3, 15)
    alike = {}
    for value in (1.0, 0.6):
        reliability = dict.fromkeys(SCALES, value)
        alike[value] = keyed(corrected_rows(MAIN, twin, reliability, confidence=0.9), "moments")
        assert_equal(
            keyed([row for row in rows if row.get("reliability") == value], "moments"), alike[value]
        )
    assert_equal(
        keyed(
            corrected_rows(MAIN, twin, dict.fromkeys(SCALES, 1.0), confidence=0.9), "uncorrected"
        ),
        alike[1.0],
    )
    result = list(breakdowns(rows))
    assert any("breakdown" in row and row["quantity"] == "self_bias" for row in result)
    write_table(tmp_path / "curve.csv", MEASUREMENT_ERROR, rows)
    write_table(tmp_path / "breakdowns.csv", BREAKDOWNS, result)
    assert len(read_table(tmp_path / "breakdowns.csv")) == len(result)


# Ends of the interval at reliability 1, 0.8 and 0.6; signs at 1 and at 0.6, breakdown, reversal
ENDS = """
loses                    0.02  0.06   0.01  0.05  -0.03   0.05   1  0  0.75         None
gains                   -0.01  0.05  -0.03  0.01  -0.06  -0.02   0 -1  0.733333333  None
holds                    0.02  0.06   0.01  0.05   0.005  0.05   1  1  None         None
loses_by_its_lower_end   0.01  0.05  -0.04  0.01  -0.04   0.01   1  0  0.96         None
turns_at_once            0.01  0.02  -0.03 -0.01  -0.05  -0.03   1 -1  0.95         0.866666667
turns_slowly            -0.02 -0.01  -0.01  0.01   0.01   0.03  -1  1  0.9          0.7
comes_and_goes          -0.01  0.01   0.01  0.03  -0.01   0.02   0  0  0.9          None
comes_back               0.01  0.02  -0.01  0.01   0.01   0.03   1  1  0.9          None
"""


@pytest.mark.parametrize("line", lines(ENDS), ids=lambda line: line[0])
def test_breakdown_is_where_the_end_that_crosses_meets_0(line):
    """In `loses_by_its_lower_end`, the upper end is nearer to 0 below."""
    term, *numbers = line
    numbers = [None if each == "None" else float(each) for each in numbers]
    place = {"study": "s", "spec": "p", "slice": "", "estimand": "A"}
    place |= {"quantity": "self_bias", "term": term}
    rows = [
        {**place, "reliability": value, "ci_low": low, "ci_high": high}
        for value, low, high in zip((1.0, 0.8, 0.6), numbers[:6:2], numbers[1:6:2], strict=True)
    ]
    (result,) = breakdowns(reversed(rows))
    names = ("sign_at_1", "sign_at_lowest", "breakdown", "reversal")
    assert [result.get(name) for name in names] == [
        number and pytest.approx(number) for number in numbers[6:]
    ]
    assert result["lowest"] == 0.6


def test_too_noisy_has_a_reason(twin):
    spec = Spec.of("model_dimension", terms=(*MAIN.model.terms, "model:dimension"))
    rows = list(corrected_rows(spec, twin, dict.fromkeys(SCALES, 1e-6), confidence=0.9))
    reasons = {
        row["reason"]
        for row in rows
        if row.get("method") == "moments" and row["quantity"] == "slope"
    }
    assert reasons == {because(Reason.REFERENCE_TOO_NOISY)}
    assert all("estimate" in row for row in rows if row.get("method") == "uncorrected")


def test_a_dimension_without_reliability_and_split_raters_with_length_are_refused(twin):
    (row,) = corrected_rows(MAIN, twin, dict.fromkeys(SCALES[1:], 0.5), confidence=0.9)
    assert row["reason"] == because(Reason.RELIABILITY_UNKNOWN, names="Completeness")
    with pytest.raises(ConfigError, match="spec long: found length; with scores of single raters"):
        list(split_rater_rows(Spec.of("long", length="prompt"), twin, "", confidence=0.9))


@pytest.fixture(scope="module")
def raters(world, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("raters") / "raters.parquet")
    write_parquet(simulate(world, prompts=40, seed=1).raters, path)
    return path


def test_split_raters_of_a_study_are_corrected_normal_equations_of_rows(twin, raters):
    """Without the rows whose completion has one rater only, on rows."""
    first = f"(select min(prompt_id) from '{twin.ratings[0]}' where dimension = 'Faithfulness')"
    thinned = f"(select * from '{raters}' where rater = 1 or prompt_id != {first})"
    path = raters.replace("raters.parquet", "thinned.parquet")
    duckdb.sql(f"copy {thinned} to '{path}' (format parquet)")
    spec = MAIN.changed(subset={"dimension": ["Faithfulness"]})
    result = keyed(split_rater_rows(spec, twin, path, confidence=0.9), BY_RATERS)
    scores = duckdb.sql(
        f"""select dimension, prompt_id, model, avg(rating) as score, var_samp(rating) / count(*) as error
                            from '{path}' where team = 'raters' group by all having count(*) > 1"""
    )
    ratings = duckdb.sql(f"select * from '{twin.ratings[0]}' where dimension = 'Faithfulness'")
    frame = ratings.join(scores, "dimension, prompt_id, model").df()
    assert 0 < len(frame) < len(ratings)
    reference = frame["score"].to_numpy() / 4
    error = frame["error"].to_numpy() / 16
    factors = factors_on_rows(frame)
    terms = estimable_terms(spec, factors)
    x = regressors_on_rows(terms, reference)
    b = np.stack([term.carried * float(term.regressor == 1) for term in terms], axis=1)
    expected = np.linalg.solve(
        x.T @ x - (b * error[:, None]).T @ b, x.T @ frame["rating_unit"].to_numpy()
    )
    values = [result["", term.quantity, term.term]["estimate"] for term in terms]
    assert_allclose(values, expected, atol=1e-9)


def test_no_completion_with_two_raters(twin, raters):
    path = raters.replace("raters.parquet", "single.parquet")
    duckdb.sql(f"copy (select * from '{raters}' where rater = 1) to '{path}' (format parquet)")
    (row,) = split_rater_rows(MAIN, twin, path, confidence=0.9)
    assert row["reason"] == because(Reason.NO_RATERS)
