"""The wild bootstrap from sums by prompt against the same on rows; its p-values, its intervals, and its levels."""

import duckdb
import numpy as np
import pytest

from designs_on_rows import design_on_rows
from recuse.base.tables import ESTIMATES, read_table, write_table
from recuse.model import prompt_sums as prompt_pieces
from recuse.model import resampling as wild_bootstrap
from recuse.model.estimates import estimate
from recuse.model.fit import prompt_errors
from recuse.model.resampling import DRAWS, WildTest, webb_weights
from recuse.model.spec import Spec

SEED = 5
NEWS = {"dataset": ["cnn", "xsum"], "dimension": ["Faithfulness", "Helpfulness"]}
MAIN = Spec.of("main", subset=NEWS, covariance="CR1", wild=99)
KINDS = {
    "main": MAIN,
    "models": MAIN.changed(terms=(*MAIN.model.terms, "model")),
    "absorbing": MAIN.changed(absorb="completion"),
    "beside HC0": MAIN.changed(covariance="HC0"),
}


def draws_of(study, spec):
    """Term -> draws, of a spec without slices."""
    (errors,) = prompt_errors(spec, study, seed=SEED)
    rows = estimate(spec, study, confidence=0.9, seed=SEED).estimates
    return {(rows[place]["quantity"], rows[place]["term"]): test for place, test in errors.wild.items()}


def rows_of(study, spec):
    """X (rows, terms), its terms, rating and number of the prompt; with `absorb`, less the means of completions."""
    frame = duckdb.sql(spec.selection.rows(study.ratings)).df()
    x, terms = design_on_rows(frame, spec)
    y, prompt = frame["rating_unit"].to_numpy(), frame["prompt"].to_numpy()
    if spec.selection.absorb:
        completion = frame.groupby(["dimension", "prompt", "model"]).ngroup().to_numpy()
        counts = np.bincount(completion)
        means = np.stack([np.bincount(completion, column) / counts for column in x.T], axis=1)
        x, y = x - means[completion], y - (np.bincount(completion, y) / counts)[completion]
        kept = [place for place, term in enumerate(terms) if np.ptp(x[:, place]) > 1e-12 and term.quantity != "dimension"]
        first = min(term.term for term in terms if term.quantity == "slope")
        kept = [p for p in kept if terms[p].quantity not in ("intercept", "slope") or terms[p].term != first]
        x, terms = x[:, kept], [terms[place] for place in kept]
    return x, terms, y, prompt


def t_of(x, y, prompt, place, null):
    """(b - null) / CR1 error of the coefficient at `place`, and of every other."""
    (n, k), prompts = x.shape, len(np.unique(prompt))
    inverse = np.linalg.inv(x.T @ x)
    b = inverse @ (x.T @ y)
    scores = np.zeros((prompt.max() + 1, k))
    np.add.at(scores, prompt, x * (y - x @ b)[:, None])
    variance = ((scores @ inverse[place]) ** 2).sum() * prompts / (prompts - 1) * (n - 1) / (n - k)
    return (b[place] - null) / np.sqrt(variance)


def naive(x, y, prompt, place, null, weights):
    """t* of each draw by refits on rows: the restricted fit, residuals of each prompt by its weight, the full fit."""
    others = np.delete(np.arange(x.shape[1]), place)
    fitted = null * x[:, place] + x[:, others] @ np.linalg.lstsq(x[:, others], y - null * x[:, place], rcond=None)[0]
    return [t_of(x, fitted + drawn[prompt] * (y - fitted), prompt, place, null) for drawn in weights]


@pytest.mark.parametrize("name", KINDS)
def test_draws_equal_refits_on_rows_with_the_same_weights(twin, name):
    spec = KINDS[name]
    x, terms, y, prompt = rows_of(twin, spec)
    tests = draws_of(twin, spec)
    assert {quantity for quantity, _ in tests} == {"self_bias", "family_bias"}
    weights = webb_weights(99, twin.prompts, seed=SEED, key=(0, 0))[:5]
    for term in ("GPT-4o", "Claude v2"):
        place = next(p for p, each in enumerate(terms) if (each.quantity, each.term) == ("self_bias", term))
        for null in (0.0, 0.07):
            test = tests["self_bias", term]
            np.testing.assert_allclose(test.statistics(null)[:5], naive(x, y, prompt, place, null, weights), rtol=1e-10)
            own = (test.estimate - null) / test.std_error
            assert own == pytest.approx(t_of(x, y, prompt, place, null), rel=1e-10)
            more = (np.abs(test.statistics(null)) >= abs(own)).sum()
            assert test.p_value(null) == (1 + more) / 100


def test_slices_and_prompts_in_any_number(twin, monkeypatch):
    """Pieces of 16 of the prompts, drawn 30 at a time, from blocks of 5: the draws of a piece are those of its key."""
    monkeypatch.setattr(prompt_pieces, "PROMPTS", 16)
    monkeypatch.setattr(wild_bootstrap, "DRAWS", 30)
    spec = MAIN.changed(subset={"dimension": ["Helpfulness"]})
    x, terms, y, prompt = rows_of(twin, spec)
    sizes = np.diff([*range(0, twin.prompts, 16), twin.prompts])
    pieces = [webb_weights(30, size, seed=SEED, key=(place, 30)) for place, size in enumerate(sizes)]
    drawn = np.concatenate(pieces, axis=1)[:4]
    place = next(p for p, each in enumerate(terms) if (each.quantity, each.term) == ("family_bias", "GPT"))
    wanted = naive(x, y, prompt, place, 0.0, drawn)
    for entries in (2**20, 900):
        monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", entries)
        np.testing.assert_allclose(draws_of(twin, spec)["family_bias", "GPT"].statistics()[30:34], wanted, rtol=1e-10)
    whole = {row["term"]: row for row in estimate(spec, twin, confidence=0.9, seed=SEED).estimates}
    slices = estimate(spec.changed(subset={}, slice="dimension"), twin, confidence=0.9, seed=SEED).estimates
    of_slice = {row["term"]: row for row in slices if row["slice"] == "Helpfulness"}
    assert of_slice["GPT"]["wild_p_value"] == whole["GPT"]["wild_p_value"]


def test_interval_is_where_the_test_stops_rejecting(twin):
    tests = draws_of(twin, MAIN.changed(wild=999))
    for test in tests.values():
        low, high = test.interval(0.9)
        width = high - low
        assert low < test.estimate < high
        assert test.p_value(low + 1e-6 * width) >= 0.1 > test.p_value(low - 1e-6 * width)
        assert test.p_value(high - 1e-6 * width) >= 0.1 > test.p_value(high + 1e-6 * width)
        assert 1.2 < width / (2 * test.std_error) < 3  # of t with some twenty degrees of freedom: 1.7


def test_ends_that_no_value_rejects():
    """All draws are as large as the largest: nothing is rejected, and the ends are not known."""
    test = WildTest(1.0, 1.0, 0.1, np.array([[0.0, 1e9]] * 99), np.array([[1.0, 0.0, 0.0]] * 99))
    assert np.isnan(test.interval(0.9)).all()
    none = WildTest(1.0, 1.0, 0.1, np.zeros((99, 2)), np.zeros((99, 3)))
    assert none.p_value() == 1.0  # no residuals that would vary
    assert none.p_value(1.0) == 1.0


def test_columns_of_the_table(twin, tmp_path):
    spec = MAIN.changed(bootstrap=100)
    rows = estimate(spec, twin, confidence=0.9, seed=SEED).estimates
    tests = draws_of(twin, spec)
    assert {(row["quantity"], row["term"]) for row in rows if "wild_p_value" in row} == set(tests)
    for row in rows:
        if (test := tests.get((row["quantity"], row["term"]))) is not None:
            assert row["wild_p_value"] == test.p_value()
            assert (row["wild_ci_low"], row["wild_ci_high"]) == test.interval(0.9)
            assert test.estimate == row["estimate"]
            assert test.std_error == pytest.approx(row["std_error"], rel=1e-12)
    write_table(tmp_path / "main.csv", ESTIMATES, rows)
    assert {row["wild_p_value"] != "" for row in read_table(tmp_path / "main.csv")} == {True, False}
    other = estimate(spec, twin, confidence=0.9, seed=SEED + 1).estimates
    assert [row.get("wild_p_value") for row in other] != [row.get("wild_p_value") for row in rows]
    without = {key for key in rows[0] if not key.startswith(("wild", "boot"))}
    plain = estimate(MAIN.changed(wild=None), twin, confidence=0.9).estimates
    assert [{key: row.get(key) for key in without} for row in rows] == [{key: row.get(key) for key in without} for row in plain]


def test_webb_weights_are_six_values_of_mean_0_and_variance_1():
    weights = webb_weights(DRAWS, 400, seed=1, key=(0, 0))
    values, counts = np.unique(weights**2 * np.sign(weights), return_counts=True)
    np.testing.assert_allclose(values, [-1.5, -1, -0.5, 0.5, 1, 1.5], rtol=1e-12)
    np.testing.assert_allclose(counts / weights.size, 1 / 6, atol=0.005)
    assert weights.mean() == pytest.approx(0, abs=0.01)
    assert (weights**2).mean() == pytest.approx(1, abs=0.01)
    assert (weights == webb_weights(DRAWS, 400, seed=1, key=(0, 0))).all()
    assert not (weights == webb_weights(DRAWS, 400, seed=1, key=(0, DRAWS))).all()
