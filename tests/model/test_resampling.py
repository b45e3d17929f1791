"""Both bootstraps by prompt against the same on rows: replicates, p-values, intervals and
levels.
"""

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from statsmodels.api import OLS

from conftest import changed_twin
from designs_on_rows import (
    design_on_rows,
    factors_on_rows,
    regressors_on_rows,
    term_places,
    times_drawn,
)
from picked_rows import fields, keyed, where
from recuse.base.tables import read_table, write_table
from recuse.data.cells import FACTORS, read_levels
from recuse.data.selection import with_family_references, with_normalised_length
from recuse.model import resampling
from recuse.model.design import estimable_terms
from recuse.model.estimates import ESTIMATES, estimate
from recuse.model.fit import fitted_slices, prompt_errors
from recuse.model.resampling import DRAWS, WildTest, webb_weights
from recuse.model.spec import Spec

SEED = 7
SPECS = {
    "main": Spec.of("main", bootstrap=100),
    "slices": Spec.of("slices", slice="task_type", whole=True, bootstrap=100),
    "length": Spec.of(
        "length", length="prompt", subset={"dimension": ["Helpfulness"]}, bootstrap=100
    ),
    "reference": Spec.of(
        "reference", reference="family", subset={"dimension": ["Helpfulness"]}, bootstrap=100
    ),
}


def refits(spec, study, replicates):
    """Yield (slice, estimates (replicates, terms)): least squares on the rows of each resample, by
    QR.
    """
    rows = spec.selection.rows(study.ratings)
    rows = with_normalised_length(rows, spec.selection.length) if spec.selection.length else rows
    frame = duckdb.sql(
        with_family_references(rows, read_levels(study.ratings[0]))
        if spec.selection.reference
        else rows
    ).df()
    own = ["reference_family"] if spec.selection.reference else []
    factors = factors_on_rows(frame, (*FACTORS, *own))
    for label, mask in spec.selection.slices(factors):
        part = frame[mask]
        terms = estimable_terms(spec, {c: values[mask] for c, values in factors.items()})
        covariates = ["gt_unit", "x"] if spec.selection.length else ["gt_unit"]
        x = regressors_on_rows(terms, *(part[name] for name in covariates))
        y = part["rating_unit"].to_numpy()
        prompt = part["prompt"].to_numpy()
        drawn = times_drawn(study.prompts, spec.errors.bootstrap)[:replicates]
        resamples = [np.repeat(np.arange(len(y)), times.astype(int)[prompt]) for times in drawn]
        yield label, np.array([np.linalg.lstsq(x[rows], y[rows])[0] for rows in resamples])


@pytest.mark.parametrize("name", SPECS)
def test_replicates_equal_refits_to_the_same_resamples(twin, monkeypatch, name):
    """Pieces of 16 of 40 prompts, from blocks of few: the rest of a block waits for the next."""
    monkeypatch.setattr(resampling, "PROMPTS", 16)
    # No draws of larger pieces
    monkeypatch.setattr(resampling, "resamples", resampling.resamples.__wrapped__)
    monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", 900)
    fitted = {
        each.slice: np.stack([row.replicates for row in each.coefficients], 1)
        for each in fitted_slices(SPECS[name], twin, seed=SEED)
    }
    naive = dict(refits(SPECS[name], twin, 4))
    assert fitted.keys() == naive.keys()
    for label, estimates in naive.items():
        assert_allclose(fitted[label][:4], estimates, rtol=0, atol=1e-10)


def test_seed_determines_the_draws(twin):
    one, same, other = (
        [
            row["boot_ci_low"]
            for row in estimate(SPECS["main"], twin, confidence=0.9, seed=seed).estimates
        ]
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


@pytest.mark.parametrize("piece", [1024, 7])
def test_each_replicate_draws_as_many_prompts_as_the_study_has(monkeypatch, piece):
    """Draws are multinomial whether a piece holds all prompts or few: mean 1, variance 1 - 1/P,
    covariance -1/P.
    """
    monkeypatch.setattr(resampling, "PROMPTS", piece)
    drawn = times_drawn(20, 40_000)
    assert drawn.shape == (40_000, 20)
    assert (drawn.sum(axis=1) == 20).all()
    assert_allclose(drawn.mean(axis=0), 1, atol=0.03)
    assert_allclose(np.cov(drawn.T), np.eye(20) - 1 / 20, atol=0.04)
    assert not (
        drawn[: resampling.REPLICATES] == drawn[resampling.REPLICATES : 2 * resampling.REPLICATES]
    ).all()


# Of the raw rows: which stay, what gt is (few: of the first two prompts); the coefficients that
# live on the first two prompts.
CHANGES = {
    "no row of a term": (
        "judge <> 'GPT-4o' or model <> judge or few",
        "gt",
        {("self_bias", "GPT-4o")},
    ),
    "one reference": (
        "true",
        "case when judge = 'GPT-4o' and not few then 2 else gt end",
        {("intercept", "GPT-4o"), ("slope", "GPT-4o")},
    ),
    "never determined": ("judge <> 'GPT-4o' or model = judge", "gt", set()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_replicates_that_do_not_determine_a_coefficient(twin, tmp_path, change):
    kept, gt, fragile = CHANGES[change]
    ranked = "(select *, dense_rank() over (order by prompt_id) < 3 as few from raw)"
    rows = f"select * exclude (few) replace ({gt} as gt) from {ranked} where {kept}"
    study = changed_twin(twin, tmp_path, rows)
    spec = Spec.of("few", subset={"dimension": ["Helpfulness"]}, bootstrap=100)
    (fitted,) = fitted_slices(spec, study, seed=SEED)
    ((_, naive),) = refits(spec, study, 20)
    lost = times_drawn(40, 100)[:, :2].sum(axis=1) == 0
    assert 5 < lost.sum() < 30
    for place, row in enumerate(fitted.coefficients):
        determined = np.ones(100, dtype=bool)
        if (row.quantity, row.term) in fragile:
            determined = ~lost
            assert f"{row.quantity} of {row.term} in {lost.sum()}" in fitted.remarks[0]
        if row.note:  # the whole of the rows does not determine it
            determined[:] = False
        assert_array_equal(np.isnan(row.replicates), ~determined)
        assert_allclose(
            row.replicates[:20][determined[:20]], naive[determined[:20], place], rtol=0, atol=1e-10
        )
    assert len(fitted.remarks) == bool(fragile)
    assert {row.term for row in fitted.coefficients if row.note} == (
        {"GPT-4o"} if change == "never determined" else set()
    )


def test_ratings_on_the_fit_have_no_bootstrap_interval(twin, tmp_path):
    exact = "select * replace (gt as rating) from raw where gt = round(gt)"
    study = changed_twin(twin, tmp_path, exact)
    for row in estimate(SPECS["main"], study, confidence=0.9, seed=SEED).estimates:
        assert row["boot_std_error"] == 0
        assert "boot_ci_low" not in row


SEED_OF_WEIGHTS = 5
NEWS = {"dataset": ["cnn", "xsum"], "dimension": ["Faithfulness", "Helpfulness"]}
MAIN = Spec.of("main", subset=NEWS, covariance="CR1", wild=99)
KINDS = {
    "main": MAIN,
    "models": MAIN.changed(terms=(*MAIN.model.terms, "model")),
    "absorbing": MAIN.changed(absorb="completion"),
    "beside HC0": MAIN.changed(covariance="HC0"),
    "by judge": MAIN.changed(covariance="CR1_judge"),
    "by judge, absorbing": MAIN.changed(covariance="CR1_judge", absorb="completion"),
}
TESTED = [("self_bias", "GPT-4o"), ("self_bias", "Claude v2"), ("family_bias", "GPT")]


def draws_from(study, spec):
    """Term -> draws, of a spec without slices."""
    (errors,) = prompt_errors(spec, study, seed=SEED_OF_WEIGHTS)
    rows = estimate(spec, study, confidence=0.9, seed=SEED_OF_WEIGHTS).estimates
    return {fields(rows[place], "quantity term"): test for place, test in errors.wild.items()}


def rows_from(study, spec):
    """X (rows, terms), its terms, rating and number of the cluster; with `absorb`, less the means
    of completions.
    """
    frame = duckdb.sql(spec.selection.rows(study.ratings)).df()
    x, terms = design_on_rows(frame, spec)
    y = frame["rating_unit"].to_numpy()
    cluster = frame["prompt"].to_numpy()
    if spec.errors.covariance == "CR1_judge":
        cluster = np.unique(frame["judge"], return_inverse=True)[1]
    if spec.selection.absorb:
        completion = frame.groupby(["dimension", "prompt", "model"]).ngroup().to_numpy()
        data = pd.DataFrame(np.column_stack([x, y]))
        data -= data.groupby(completion).transform("mean")
        *columns, y = data.to_numpy().T
        first = min(term.term for term in terms if term.quantity == "slope")
        kept = [
            (column, term)
            for column, term in zip(columns, terms, strict=True)
            if np.ptp(column) > 1e-12
            and term.quantity != "dimension"
            and (term.quantity not in ("intercept", "slope") or term.term != first)
        ]
        columns, terms = zip(*kept, strict=True)
        x = np.stack(columns, axis=1)
    return x, terms, y, cluster


def t_from(x, y, prompt, place, null):
    """(b - null) / CR1 error of the coefficient at `place`, by statsmodels."""
    fit = OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": prompt})
    return (fit.params[place] - null) / fit.bse[place]


def naive(x, y, prompt, place, null, weights):
    """t* of each draw by refits on rows: the restricted fit, residuals of each prompt by its
    weight, the full fit.
    """
    others = np.delete(np.arange(x.shape[1]), place)
    fitted = (
        null * x[:, place]
        + x[:, others] @ np.linalg.lstsq(x[:, others], y - null * x[:, place], rcond=None)[0]
    )
    return [
        t_from(x, fitted + drawn[prompt] * (y - fitted), prompt, place, null) for drawn in weights
    ]


@pytest.mark.parametrize("name", KINDS)
def test_draws_equal_refits_on_rows_with_the_same_weights(twin, name):
    spec = KINDS[name]
    x, terms, y, cluster = rows_from(twin, spec)
    tests = draws_from(twin, spec)
    # A judge's self-bias is of one cluster alone
    tested = TESTED[2:] if spec.errors.covariance == "CR1_judge" else TESTED
    assert {quantity for quantity, _ in tests} == {quantity for quantity, _ in tested}
    weights = webb_weights(99, cluster.max() + 1, seed=SEED_OF_WEIGHTS, key=(0, 0))[:5]
    for key in tested:
        place = term_places(terms)[key]
        for null in (0.0, 0.07):
            test = tests[key]
            assert_allclose(
                test.statistics(null)[:5], naive(x, y, cluster, place, null, weights), rtol=1e-9
            )
            observed = (test.estimate - null) / test.std_error
            assert observed == pytest.approx(t_from(x, y, cluster, place, null), rel=1e-10)
            more = (np.abs(test.statistics(null)) >= abs(observed)).sum()
            assert test.p_value(null) == (1 + more) / 100


def test_slices_and_prompts_in_any_number(twin, monkeypatch):
    """Pieces of 16 of the prompts, drawn 30 at a time, from blocks of 5: the draws of a piece are
    those of its key.
    """
    monkeypatch.setattr(resampling, "PROMPTS", 16)
    monkeypatch.setattr(resampling, "DRAWS", 30)
    spec = MAIN.changed(subset={"dimension": ["Helpfulness"]})
    x, terms, y, prompt = rows_from(twin, spec)
    sizes = np.diff([*range(0, twin.prompts, 16), twin.prompts])
    pieces = [
        webb_weights(30, size, seed=SEED_OF_WEIGHTS, key=(place, 30))
        for place, size in enumerate(sizes)
    ]
    drawn = np.concatenate(pieces, axis=1)[:4]
    wanted = naive(x, y, prompt, term_places(terms)["family_bias", "GPT"], 0.0, drawn)
    for entries in (2**20, 900):
        monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", entries)
        assert_allclose(
            draws_from(twin, spec)["family_bias", "GPT"].statistics()[30:34], wanted, rtol=1e-10
        )
    spec = spec.changed(bootstrap=300)
    rows = estimate(spec, twin, confidence=0.9, seed=SEED_OF_WEIGHTS).estimates
    whole = keyed(rows, "quantity term")
    monkeypatch.setattr("recuse.model.fit.SUMS", 20_000)  # the rows are read several times
    sliced = spec.changed(subset={}, slice="dimension")
    slices = estimate(sliced, twin, confidence=0.9, seed=SEED_OF_WEIGHTS).estimates
    assert "wild_p_value" in whole["family_bias", "GPT"]
    for row in where(slices, slice="Helpfulness"):
        other = whole[fields(row, "quantity term")]
        assert row.get("wild_p_value") == other.get("wild_p_value")
        assert row["boot_std_error"] == pytest.approx(other["boot_std_error"], rel=1e-9)


def test_interval_is_where_the_test_stops_rejecting(twin):
    tests = draws_from(twin, MAIN.changed(wild=999))
    for test in tests.values():
        low, high = test.interval(0.9)
        width = high - low
        assert low < test.estimate < high
        assert test.p_value(low + 1e-6 * width) >= 0.1 > test.p_value(low - 1e-6 * width)
        assert test.p_value(high - 1e-6 * width) >= 0.1 > test.p_value(high + 1e-6 * width)
        # Of t with some twenty degrees of freedom: 1.7
        assert 1.2 < width / (2 * test.std_error) < 3


def test_interval_without_rejected_values_has_no_ends():
    """All draws are as large as the largest: nothing is rejected, and there are no ends."""
    test = WildTest(1.0, 1.0, 0.1, np.array([[0.0, 1e9]] * 99), np.array([[1.0, 0.0, 0.0]] * 99))
    assert np.isnan(test.interval(0.9)).all()
    none = WildTest(1.0, 1.0, 0.1, np.zeros((99, 2)), np.zeros((99, 3)))
    assert none.p_value() == 1.0  # no residuals that would vary
    assert none.p_value(1.0) == 1.0


def test_columns_of_the_table(twin, tmp_path):
    """Each bootstrap's columns come from its draws; all other columns stay the same."""
    spec = MAIN.changed(bootstrap=100)
    rows = estimate(spec, twin, confidence=0.9, seed=SEED_OF_WEIGHTS).estimates
    (fitted,) = fitted_slices(spec, twin, seed=SEED_OF_WEIGHTS)
    tests = draws_from(twin, spec)
    assert {fields(row, "quantity term") for row in rows if "wild_p_value" in row} == set(tests)
    for row, coefficient in zip(rows, fitted.coefficients, strict=True):
        drawn = coefficient.replicates
        assert row["boot_std_error"] == pytest.approx(np.std(drawn, ddof=1), rel=1e-12)
        ends = fields(row, "boot_ci_low boot_ci_high")
        assert ends == pytest.approx(np.percentile(drawn, [5, 95]), rel=1e-12)
        if (test := tests.get(fields(row, "quantity term"))) is not None:
            assert row["wild_p_value"] == test.p_value()
            assert fields(row, "wild_ci_low wild_ci_high") == test.interval(0.9)
            assert test.estimate == row["estimate"]
            assert test.std_error == pytest.approx(row["std_error"], rel=1e-12)
    without = estimate(MAIN.changed(wild=None), twin, confidence=0.9).estimates
    others = [
        {key: row[key] for key in row if not key.startswith(("boot_", "wild_"))} for row in rows
    ]
    assert others == without
    write_table(tmp_path / "main.csv", ESTIMATES, rows)
    assert {row["wild_p_value"] != "" for row in read_table(tmp_path / "main.csv")} == {True, False}


def test_webb_weights_are_six_values_of_mean_0_and_variance_1():
    weights = webb_weights(DRAWS, 400, seed=1, key=(0, 0))
    values, counts = np.unique(weights**2 * np.sign(weights), return_counts=True)
    assert_allclose(values, [-1.5, -1, -0.5, 0.5, 1, 1.5], rtol=1e-12)
    assert_allclose(counts / weights.size, 1 / 6, atol=0.005)
    assert weights.mean() == pytest.approx(0, abs=0.01)
    assert (weights**2).mean() == pytest.approx(1, abs=0.01)
    assert (weights == webb_weights(DRAWS, 400, seed=1, key=(0, 0))).all()
    assert not (weights == webb_weights(DRAWS, 400, seed=1, key=(0, DRAWS))).all()
