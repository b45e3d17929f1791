"""Estimand C against statsmodels, leave-one-out refits and planted gaps, its size, and the residuals of single cells."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import t

from recuse.data.moments import Moments
from recuse.inference.idiosyncrasy import (
    ADDITIVE,
    DESCRIPTIVE,
    MIXED,
    NO_SPREAD,
    NOT_LINKED,
    IdiosyncrasyDesign,
    assignments_of,
    draw_assignments,
    idiosyncrasies,
    idiosyncrasy_rows,
    pooled_rows,
    residual_rows,
)
from recuse.inference.judge_model import FAMILY, NO_SLOPE, SELF, UNRELATED, CellMeans, cell_means, tables_of_slices
from recuse.model.design import ALL_JUDGES
from recuse.model.estimable import slices_of
from recuse.model.spec import Spec

NAMES = np.array([f"m{number}" for number in range(9)])
FAMILIES = np.array(["f0", "f0", "f0", "f1", "f1", "f2", "f2", "f3", "f3"])


def grid(judges=9, models=9):
    judge, model = (index.ravel() for index in np.meshgrid(range(judges), range(models), indexing="ij"))
    return CellMeans(NAMES[judge], NAMES[model], FAMILIES[judge], FAMILIES[model], np.zeros(len(judge)), np.ones(len(judge)))


def kept(cells, mask):
    parts = (getattr(cells, name)[mask] for name in ("judge", "model", "judge_family", "model_family", "mean", "n"))
    return CellMeans(*parts)


def preference(seed, cells, sd=0.02):
    """Means of judge and model effects and a normal preference of judges for models; no bias."""
    generator = np.random.default_rng(seed)
    judge, model = (np.unique(names, return_inverse=True)[1] for names in (cells.judge, cells.model))
    effects = generator.normal(size=(2, 9))
    return effects[0][judge] + effects[1][model] + sd * generator.normal(size=len(judge))


def by_statsmodels(cells, mean, among):
    """Mean of the cells `among` less their prediction from the unrelated cells, and its standard error."""
    from statsmodels.api import OLS

    x = np.concatenate([cells.judge[:, None] == NAMES, cells.model[:, None] == NAMES[1:]], axis=1).astype(float)
    chosen = ~cells.is_self & ~cells.is_family
    fit = OLS(mean[chosen], x[chosen]).fit()
    row = x[among].mean(axis=0)
    spread = fit.scale / among.sum() + row @ fit.cov_params() @ row
    return mean[among].mean() - row @ fit.params, np.sqrt(spread), fit.df_resid


@pytest.mark.parametrize("whole", [True, False])
def test_gaps_and_their_errors_equal_statsmodels(whole):
    cells = grid() if whole else kept(grid(), np.random.default_rng(4).random(81) > 0.15)
    mean = preference(1, cells)
    result = {row.term: row for row in IdiosyncrasyDesign(cells, seed=1, draws=10).test(mean)}
    assert sum(not row.reason for row in result.values()) >= 10
    for term, row in result.items():
        among = cells.is_family & (cells.judge_family == term) if row.quantity == "family_bias" else cells.is_self
        among = among & (cells.judge == term) if row.quantity == "self_bias" and term != ALL_JUDGES else among
        if not row.reason:
            gap, error, df = by_statsmodels(cells, mean, among)
            assert (row.estimate, row.std_error) == pytest.approx((gap, error), rel=1e-9)
            assert (row.df, row.cells) == (df, among.sum())


@pytest.mark.parametrize("whole", [True, False])
def test_rank_of_the_own_cell_is_that_of_refits_without_each_cell(whole):
    """In the lacunary grid cells have other leverages, and raw residuals another order."""
    from statsmodels.api import OLS

    cells = grid() if whole else kept(grid(), np.random.default_rng(8).random(81) > 0.25)
    mean = preference(2, cells)
    tested = [row for row in IdiosyncrasyDesign(cells, seed=1, draws=10).test(mean)[:9] if not row.reason]
    assert len(tested) >= 6
    for result in tested:
        mine = cells.judge == result.term
        chosen = (~cells.is_self & ~cells.is_family) | (cells.is_self & mine)
        x = np.concatenate([cells.judge[:, None] == NAMES, cells.model[:, None] == NAMES[1:]], axis=1).astype(float)
        sizes = {}
        for cell in np.flatnonzero(chosen & mine):
            rest = chosen & (np.arange(len(mean)) != cell)
            fit = OLS(mean[rest], x[rest]).fit()
            error = np.sqrt(fit.scale + x[cell] @ fit.cov_params() @ x[cell])
            sizes[cell] = abs(mean[cell] - x[cell] @ fit.params) / error
        own = sizes[np.flatnonzero(cells.is_self & mine)[0]]
        assert result.randomisation_p_value == np.mean([size >= own * (1 - 1e-12) for size in sizes.values()])
        assert result.draws == len(sizes) - 1
        assert own == pytest.approx(abs(result.estimate / result.std_error), rel=1e-9)


CODES = np.unique(FAMILIES, return_inverse=True)[1]


def test_assigned_means_are_those_of_refits_without_the_assigned_cells():
    cells = grid()
    mean, chosen = preference(3, cells), np.flatnonzero(~cells.is_self & ~cells.is_family)
    x = np.concatenate([cells.judge[:, None] == NAMES, cells.model[:, None] == NAMES[1:]], axis=1).astype(float)[chosen]
    leftover = np.eye(60) - x @ np.linalg.pinv(x)
    place = np.full((9, 9), -1)
    place.ravel()[chosen] = np.arange(60)
    assigned, weights = draw_assignments(place, lambda rows, columns: leftover[rows, columns], (CODES, CODES), draws=50, seed=1)
    means = (weights * (leftover @ mean[chosen])[assigned]).sum(axis=1)
    assert len({tuple(row) for row in assigned}) > 45
    for row, standardised in zip(assigned, means, strict=True):
        assert np.divmod(chosen[row], 9)[0].tolist() == list(range(9))
        rest = np.setdiff1d(np.arange(60), row)
        inverse = np.linalg.inv(x[rest].T @ x[rest])
        gap = (mean[chosen][row] - x[row] @ inverse @ x[rest].T @ mean[chosen][rest]).mean()
        spread = 1 / 9 + x[row].mean(axis=0) @ inverse @ x[row].mean(axis=0)
        assert standardised == pytest.approx(gap / np.sqrt(spread), rel=1e-8)


def ways(of_judge, of_model):
    """Assignments of families by brute force: no family of judges its own family of models, and no two the same."""
    judges, models = np.unique(of_judge), np.unique(of_model)
    return [
        dict(zip(judges, chosen, strict=True))
        for chosen in permutations(models, len(judges))
        if all(judge != model for judge, model in zip(judges, chosen, strict=True))
    ]


@pytest.mark.parametrize("seed", range(8))
def test_every_drawn_assignment_is_one_of_families_and_every_one_is_drawn(seed):
    generator = np.random.default_rng(seed)
    of_model = np.sort(generator.integers(0, generator.integers(3, 6), size=12))
    judges = np.sort(generator.choice(12, size=generator.integers(4, 12), replace=False))
    of_judge = of_model[judges]
    legal = ways(of_judge, of_model)
    assert assignments_of(of_judge, of_model) == len(legal)
    related = of_judge[:, None] == of_model
    place = np.full(related.shape, -1)
    place[~related] = np.arange((~related).sum())
    of_place = np.stack(np.nonzero(~related), axis=1)  # judge and model of each cell
    assigned, _ = draw_assignments(place, np.equal, (of_judge, of_model), draws=3000, seed=seed)
    assert len(assigned) == (3000 if legal else 0)
    drawn = set()
    for cells in assigned:
        assert of_place[cells, 0].tolist() == list(range(len(judges)))
        families = of_model[of_place[cells, 1]]
        pairs = set(zip(of_judge.tolist(), families.tolist(), strict=True))
        assert dict(pairs) in legal
        assert len(pairs) == len(np.unique(of_judge))  # one family of models to each family of judges
        drawn.add(frozenset(pairs))
    assert len(drawn) == len(legal)
    shares = np.unique(
        [hash(frozenset(zip(of_judge, of_model[of_place[cells, 1]], strict=True))) for cells in assigned], return_counts=True
    )[1]
    assert all(abs(shares - 3000 / max(1, len(legal))) < 5 * np.sqrt(3000 / max(1, len(legal))))


@pytest.mark.parametrize("families", [("f0", "f1", "f2"), ("f0", "f1", "f2", "f3")])
def test_a_randomisation_that_cannot_reach_the_level_is_called_descriptive(families):
    cells = kept(grid(), np.isin(grid().judge_family, families) & np.isin(grid().model_family, families))
    design = IdiosyncrasyDesign(cells, seed=1, draws=200)
    *judges, whole = design.test(preference(1, cells))
    number = {3: 2, 4: 9}[len(families)]
    assert design.note(whole, 0.9) == (DESCRIPTIVE.format(least=1 / (1 + number)) if 1 / (1 + number) > 0.1 else "")
    for gap in judges:
        least = 1 / (1 + gap.draws) if gap.quantity == "self_bias" else 0.0
        assert design.note(gap, 0.9) == (DESCRIPTIVE.format(least=least) if least > 0.1 else "")


def test_size_under_preference_alone_and_power_against_bias():
    cells = grid()
    design = IdiosyncrasyDesign(cells, seed=1, draws=500)
    null = [design.test(preference(seed, cells)) for seed in range(300)]
    for rows, width in ((slice(9), 0.02), (slice(9, 13), 0.03), (slice(13, 14), 0.055)):
        p_values = np.array([[row.p_value for row in result[rows]] for result in null])
        assert abs((p_values < 0.1).mean() - 0.1) < width
    assert abs(np.mean([result[-1].randomisation_p_value <= 0.1 + 1e-9 for result in null]) - 0.1) < 0.055
    biased = [design.test(preference(seed, cells) + 0.03 * cells.is_self) for seed in range(20)]
    assert np.mean([result[-1].randomisation_p_value <= 0.1 + 1e-9 for result in biased]) > 0.9
    assert np.mean([row.estimate for result in biased for row in result[:9]]) == pytest.approx(0.03, abs=0.006)


def moments(seed=0, *, prompts=25, noise=0.0, gap=0.05):
    """Rows of nine judges and models in two dimensions, judge 8 without its first prompts of dimension b.

    rating = 0.2 + 0.1 [dimension b] + slope_j reference + a_j + c_m + gap [own] + noise.
    """
    generator = np.random.default_rng(seed)
    dimension, judge, model = (index.ravel() for index in np.meshgrid(range(2), range(9), range(9), indexing="ij"))
    reference = generator.uniform(size=(2, 9, prompts))[dimension, model]
    slope, effects = generator.uniform(0.3, 0.8, size=9), generator.normal(size=(2, 9)) * 0.1
    level = 0.2 + 0.1 * dimension + effects[0][judge] + effects[1][model] + gap * (judge == model)
    rating = level[:, None] + slope[judge][:, None] * reference + noise * generator.normal(size=reference.shape)
    weight = np.ones(reference.shape)
    weight[(judge == 8) & (dimension == 1), :10] = 0.0
    u = np.stack([np.ones(reference.shape), rating, reference], axis=2)
    tensor = np.einsum("gr,gri,grj,grk,grl->gijkl", weight, u, u, u, u)
    factors = {
        "judge": NAMES[judge],
        "model": NAMES[model],
        "judge_family": FAMILIES[judge],
        "model_family": FAMILIES[model],
        "dimension": np.array(["a", "b"])[dimension],
        "dataset": np.repeat("s", len(judge)),
    }
    return Moments(factors, tensor)


def gaps(data):
    cells = cell_means(data)
    return IdiosyncrasyDesign(cells).test(cells.mean)


def test_cell_means_are_free_of_slopes_and_dimensions():
    """Without noise, what is left of the ratings is additive but for the planted gap, which is found exactly."""
    for row in gaps(moments(noise=0.0)):
        assert row.estimate == pytest.approx(0.05 if row.quantity == "self_bias" else 0.0, abs=1e-10)
        assert row.reason == NO_SPREAD


def test_cell_means_are_those_of_rows():
    """Slopes by judge within dimension x model cells, then means on cell and dimension, by least squares with dummies."""
    data = moments(noise=0.2)
    cells = cell_means(data)
    assert cells.n.reshape(9, 9)[8].tolist() == [40] * 9
    judge, model, dimension = (
        np.unique(data.factors[name], return_inverse=True)[1] for name in ("judge", "model", "dimension")
    )
    n, y, z = data.n, data.tensor[:, 0, 0, 0, 1], data.tensor[:, 0, 0, 0, 2]
    within = [(data.tensor[:, 0, 0, 2, place] - z * total / n) for place, total in ((1, y), (2, z))]
    slope = np.bincount(judge, within[0]) / np.bincount(judge, within[1])
    adjusted = (y - slope[judge] * z) / n
    dummies = np.concatenate([np.eye(81)[judge * 9 + model], np.where(dimension == 1, 1.0, 0.0)[:, None]], axis=1)
    fit = np.linalg.lstsq(dummies * np.sqrt(n)[:, None], adjusted * np.sqrt(n), rcond=None)[0]
    difference = cells.mean - fit[:81]
    np.testing.assert_allclose(difference, difference[0], atol=1e-12)  # where the dimensions' effects are centred


def test_a_judge_whose_references_do_not_vary_has_no_gap():
    data = moments(noise=0.1)
    stuck = data.factors["judge"] == "m3"
    u = np.array([1.0, 0.7, 0.5])
    data.tensor[stuck] = 25 * np.einsum("i,j,k,l->ijkl", u, u, u, u)
    result = {(row.quantity, row.term): row for row in gaps(data)}
    assert result["self_bias", "m3"].reason == NO_SLOPE
    assert result["self_bias", "m4"].reason == ""
    assert result["self_bias", ALL_JUDGES].cells == 8


def test_what_the_cells_do_not_identify_has_a_reason():
    of = {
        "no own": kept(grid(), (grid().judge != "m1") | (grid().model != "m1")),
        "judge": kept(grid(), (grid().judge != "m1") | (grid().judge_family == grid().model_family)),
        "model": kept(grid(), (grid().model != "m1") | (grid().judge_family == grid().model_family)),
        "one family": kept(grid(), np.isin(grid().judge, NAMES[:3]) & np.isin(grid().model, NAMES[:3])),
        "few": kept(grid(), np.isin(grid().judge, NAMES[[0, 3]]) & np.isin(grid().model, NAMES[[0, 3]])),
    }
    reasons = {
        name: {row.term: row.reason for row in IdiosyncrasyDesign(cells, seed=1, draws=10).test(preference(1, cells))}
        for name, cells in of.items()
    }
    assert reasons["no own"]["m1"] == "no ratings by this judge of its own answers"
    assert reasons["judge"]["m1"] == "not estimable: no cell that is neither self nor family is of judge m1"
    assert reasons["model"]["m1"] == "not estimable: no cell that is neither self nor family is of model m1"
    assert reasons["judge"]["m0"] == reasons["model"]["m0"] == reasons["no own"][ALL_JUDGES] == ""
    assert reasons["one family"]["m0"] == "not estimable: no cell that is neither self nor family is of judge m0"
    assert reasons["few"]["m0"] == "not estimable: cells that are neither self nor family do not link judge and model of m0"
    assert ALL_JUDGES not in reasons["few"]


BY_DIMENSION = Spec.of("by_dimension", slice="dimension", whole=True)


def test_table_of_a_study(twin):
    slices = idiosyncrasies(BY_DIMENSION, twin, seed=1)
    rows = list(idiosyncrasy_rows(slices, confidence=0.9))
    assert len(rows) == 7 * 2 * 14
    assert {row["estimand"] for row in rows} == {"C beyond ordinary preference"}
    for row in rows:
        assert row["reason"] == ""
        assert 0 < row["p_value"] <= 1
        df = 43 if row["method"] == ADDITIVE else row["df"]
        assert row["ci_high"] - row["estimate"] == pytest.approx(t.ppf(0.95, df) * row["std_error"], rel=1e-6)
        assert ("shrunk" in row) == (row["method"] == MIXED and row["term"] != ALL_JUDGES)
    assert {row["method"] for row in rows} == {MIXED, ADDITIVE}
    assert rows == list(idiosyncrasy_rows(idiosyncrasies(BY_DIMENSION, twin, seed=1), confidence=0.9))
    assert all(("randomisation_p_value" in row) == (row["method"] == ADDITIVE) for row in rows)
    key = ("slice", "quantity", "term", "cells")
    assert [[tuple(row[each] for each in key) for row in rows if row["method"] == way] for way in (MIXED,)] == [
        [tuple(row[each] for each in key) for row in rows if row["method"] == ADDITIVE]
    ]


def test_the_pooled_mean_of_a_study_is_with_all_and_without_each(twin):
    slices = idiosyncrasies(BY_DIMENSION, twin, seed=1)
    rows = list(pooled_rows(slices, confidence=0.9))
    mixed = [row for row in idiosyncrasy_rows(slices, confidence=0.9) if row["method"] == MIXED]
    assert len(rows) == 7 * (1 + 9 + 1 + 4)
    for label in {row["slice"] for row in rows}:
        for quantity, number in (("self_bias", 9), ("family_bias", 4)):
            of_slice = [row for row in rows if (row["slice"], row["quantity"]) == (label, quantity)]
            whole, *parts = of_slice
            assert [row["biases"] for row in of_slice] == [number, *[number - 1] * number]
            assert sum(row["weight"] for row in parts) == pytest.approx(1)
            terms = {row["term"]: row for row in mixed if (row["slice"], row["quantity"]) == (label, quantity)}
            assert {row["left_out"] for row in parts} == set(terms) - {ALL_JUDGES}
            mean = sum(row["weight"] * terms[row["left_out"]]["estimate"] for row in parts)
            assert whole["estimate"] == pytest.approx(mean, abs=1e-12)
            if quantity == "self_bias":
                assert {key: terms[ALL_JUDGES][key] for key in ("estimate", "std_error", "p_value")} == {
                    key: whole[key] for key in ("estimate", "std_error", "p_value")
                }


MAIN = Spec.of("main")


@pytest.fixture(scope="module")
def main(twin):
    return idiosyncrasies(MAIN, twin, seed=1, draws=99)


@pytest.fixture(scope="module")
def rows(main):
    return list(residual_rows(main, confidence=0.9))


def test_own_cells_are_the_gaps_of_estimand_c(main, rows):
    """Standard errors of residuals leave out that variances are estimated."""
    gaps = {row["term"]: row for row in idiosyncrasy_rows(main, confidence=0.9) if row["method"] == MIXED}
    own = [row for row in rows if row["relation"] == SELF]
    assert len(own) == 9
    for row in own:
        gap = gaps[row["judge"]]
        assert row["residual"] == pytest.approx(gap["estimate"], rel=1e-9)
        assert row["df"] == pytest.approx(gap["df"], rel=1e-9)
        assert 0.85 * gap["std_error"] < row["std_error"] <= gap["std_error"]
        assert row["band"] == pytest.approx(t.ppf(0.95, row["df"]) * row["std_error"], rel=1e-9)


def test_an_unrelated_cell_of_the_additive_fit_is_compared_with_the_fit_to_the_others(twin):
    """Every gap of a cell by least squares on the unrelated cells without it."""
    (_, moments), *_ = slices_of(MAIN, twin)
    cells = cell_means(moments)
    names = np.unique(cells.judge)
    x = np.concatenate([cells.judge[:, None] == names, cells.model[:, None] == names[1:]], axis=1).astype(float)
    unrelated = ~cells.is_self & ~cells.is_family
    design = IdiosyncrasyDesign(cells, seed=0, draws=0)
    for place in range(len(cells.mean)):
        target = design.of_cell(place)
        kept = unrelated & (np.arange(len(cells.mean)) != place)
        inverse = np.linalg.inv(x[kept].T @ x[kept])
        expected = x[place] @ inverse @ x[kept].T @ cells.mean[kept]
        assert target.contrast @ cells.mean == pytest.approx(cells.mean[place] - expected, abs=1e-10)
        assert np.linalg.norm(target.contrast) == pytest.approx(np.sqrt(1 + x[place] @ inverse @ x[place]), rel=1e-8)
        assert (target.quantity == UNRELATED) == unrelated[place]
    assert (cells.relation == FAMILY).sum() == 12


def test_what_has_no_residual_has_a_reason(twin):
    dropped = ["Llama 3 8B", "Llama 3 70B", "Mistral 7B", "Mistral Large", "Claude v2"]  # two families of two are left
    few = Spec.of("few", subset={"models_dropped": dropped})
    result = list(residual_rows(idiosyncrasies(few, twin, seed=1), confidence=0.9))
    assert len(result) == 16
    for row in result:
        assert ("residual" in row) == (row["relation"] == UNRELATED)
        assert row.get("reason") == (None if row["relation"] == UNRELATED else NOT_LINKED.format(what=row["judge"]))
    two = Spec.of("two", subset={"models_dropped": [*dropped, "GPT-4o", "Claude 3 Sonnet"]})
    result = residual_rows(idiosyncrasies(two, twin, seed=1), confidence=0.9)
    assert [row["reason"] for row in result if row["relation"] == UNRELATED] == [NO_SPREAD] * 2
    none = idiosyncrasies(Spec.of("none", subset={"dataset": ["x"]}), twin, seed=1)
    for table in (residual_rows, idiosyncrasy_rows, pooled_rows):
        assert [row["reason"] for row in table(none, confidence=0.9)] == ["no row is left"]


def test_a_judge_without_slope_has_a_row_with_the_reason(twin, monkeypatch):
    ((_, cells),) = tables_of_slices(MAIN, twin)
    lacking = replace(cells, without_slope={"some judge": "so it is"})
    monkeypatch.setattr("recuse.inference.idiosyncrasy.tables_of_slices", lambda *_: [("", lacking)])
    slices = idiosyncrasies(MAIN, twin, seed=1)
    *_, last = residual_rows(slices, confidence=0.9)
    assert (last["judge"], last["reason"], "residual" in last) == ("some judge", "so it is", False)
    rows = [row for row in idiosyncrasy_rows(slices, confidence=0.9) if row["term"] == "some judge"]
    assert [(row["method"], row["reason"], "estimate" in row) for row in rows] == [
        (MIXED, "so it is", False),
        (ADDITIVE, "so it is", False),
    ]
