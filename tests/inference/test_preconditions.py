"""What C takes for granted: the tests of it against statsmodels and loops, their size, and what they find."""

from itertools import combinations

import numpy as np
import pytest
from statsmodels.api import OLS

from recuse.inference.judge_model import CellMeans, cell_means
from recuse.inference.preconditions import Preconditions
from recuse.model.estimable import slices_of
from recuse.model.spec import Spec

FAMILIES = np.array(["f0", "f0", "f0", "f1", "f1", "f2", "f2", "f3", "f3"])
NAMES = np.array([f"m{number}" for number in range(9)])


def table(seed, *, spread=1.0, slope=1.0, shared=0.0, kept=1.0):
    """Cells of nine judges and models with additive means; a share is kept.

    The first judge's cells have `spread` times the spread 0.02 of the others, and it spreads models `slope` times as widely;
    a judge's preference for a model family has the spread `shared`.
    """
    drawn = np.random.default_rng(seed)
    judge, model = np.divmod(np.arange(81), 9)
    factor = np.where(judge == 0, spread, 1.0)
    tilt = np.where(judge == 0, slope, 1.0)
    family = np.searchsorted(np.unique(FAMILIES), FAMILIES)[model]
    mean = drawn.normal(size=9)[judge] + tilt * np.linspace(-0.1, 0.1, 9)[model] + 0.02 * factor * drawn.normal(size=81)
    mean += shared * drawn.normal(size=(9, 4))[judge, family]
    rows = np.flatnonzero(drawn.random(81) < kept)
    judge, model = judge[rows], model[rows]
    return CellMeans(NAMES[judge], NAMES[model], FAMILIES[judge], FAMILIES[model], mean[rows], np.ones(len(rows)))


def dummies(names):
    return (names[:, None] == np.unique(names)).astype(float)


def naive(cells):
    """Means of the unrelated cells, their judges and models as dummies, and the additive fit."""
    chosen = cells.judge_family != cells.model_family
    judge, model = dummies(cells.judge[chosen]), dummies(cells.model[chosen])
    mean = cells.mean[chosen]
    return mean, judge, model, OLS(mean, np.hstack([judge, model[:, 1:]])).fit()


@pytest.mark.parametrize(("seed", "kept"), [(1, 1.0), (2, 0.8), (3, 0.7)])
def test_f_tests_are_those_of_dummies_in_statsmodels(seed, kept):
    cells = table(seed, slope=1.5, kept=kept)
    ours = Preconditions(cells).additivity()
    mean, judge, model, additive = naive(cells)
    effects = np.concatenate([[0.0], additive.params[judge.shape[1] :]])
    of_model, of_judge = model @ effects, judge @ additive.params[: judge.shape[1]]
    design = np.hstack([judge, model[:, 1:]])
    mandel = OLS(mean, np.hstack([design, (judge * of_model[:, None])[:, 1:]])).fit()
    f, p_value, df = mandel.compare_f_test(additive)
    assert (ours.f, ours.p_value) == pytest.approx((f, p_value), rel=1e-7)
    assert ours.df == (df, mandel.df_resid)
    tukey = OLS(mean, np.hstack([design, (of_judge * of_model)[:, None]])).fit()
    f, p_value, _ = tukey.compare_f_test(additive)
    assert (ours.tukey_f, ours.tukey_p_value) == pytest.approx((f, p_value), rel=1e-7)


@pytest.mark.parametrize(("seed", "kept"), [(1, 1.0), (4, 0.8)])
def test_slopes_are_those_on_a_fit_without_the_judge(seed, kept):
    cells = table(seed, slope=1.5, kept=kept)
    slopes = Preconditions(cells).additivity().slopes
    mean, judge, model, _ = naive(cells)
    for place, name in enumerate(np.unique(cells.judge)):
        mine = judge[:, place] > 0
        others = OLS(mean[~mine], np.hstack([np.delete(judge, place, axis=1), model[:, 1:]])[~mine]).fit()
        effects = model[:, 1:] @ others.params[judge.shape[1] - 1 :]
        line = OLS(mean[mine], np.stack([np.ones(mine.sum()), effects[mine]], axis=1)).fit()
        assert slopes[name] == pytest.approx(line.params[1], rel=1e-8)


@pytest.mark.parametrize(("seed", "kept"), [(1, 1.0), (2, 0.8)])
def test_spread_and_correlations_are_those_of_loops(seed, kept):
    cells = table(seed, spread=2.0, shared=0.02, kept=kept)
    tested = Preconditions(cells, draws=4999)
    mean, judge, model, additive = naive(cells)
    design = np.hstack([judge, model])
    maker = np.eye(len(mean)) - design @ np.linalg.pinv(design)
    tables = np.random.default_rng(5).normal(size=(4000, len(mean))) @ maker

    def ratio(residuals):
        variances = [
            (residuals[mine] ** 2).sum() / maker.diagonal()[mine].sum()
            for mine in (judge.T > 0)
            if maker.diagonal()[mine].sum() > 1e-9
        ]
        return max(variances) / np.mean(variances)

    spread = tested.spread()
    assert spread.ratio == pytest.approx(ratio(additive.resid), rel=1e-9)
    assert spread.p_value == pytest.approx(np.mean([ratio(row) >= spread.ratio for row in tables]), abs=0.03)
    chosen = cells.judge_family != cells.model_family
    for side, other in (("model", "judge"), ("judge", "model")):
        family, apart = getattr(cells, f"{side}_family")[chosen], getattr(cells, other)[chosen]
        pairs = [
            (one, two)
            for one, two in combinations(range(len(mean)), 2)
            if (family[one], apart[one]) == (family[two], apart[two])
        ]
        ours, (one, two) = tested.correlation(side), np.array(pairs).T
        assert ours.pairs == len(pairs)
        products = (tables[:, one] * tables[:, two]).mean(axis=1) / (tables**2).mean(axis=1)
        residuals = additive.resid
        assert ours.value == pytest.approx((residuals[one] * residuals[two]).mean() / (residuals**2).mean(), rel=1e-9)
        assert ours.expected == pytest.approx(products.mean(), abs=0.01)
        assert ours.p_value == pytest.approx((products >= ours.value).mean(), abs=0.03)


def p_values(tables, **settings):
    """P-values of spread, additivity, Tukey's product and the two correlations, (tables, 5)."""
    rows = []
    for seed in range(tables):
        tested = Preconditions(table(seed, **settings), seed=seed, draws=199)
        additive = tested.additivity()
        rows.append([tested.spread().p_value, additive.p_value, additive.tukey_p_value])
        rows[-1] += [tested.correlation(side).p_value for side in ("model", "judge")]
    return np.array(rows)


@pytest.mark.parametrize("kept", [1.0, 0.8])
def test_tests_reject_one_null_table_in_ten(kept):
    """600 tables: a share of 0.1 has the standard error 0.012."""
    np.testing.assert_allclose((p_values(600, kept=kept) <= 0.1).mean(axis=0), 0.1, atol=0.045)


def test_each_test_finds_what_it_is_for():
    shares = [(p_values(60, **what) <= 0.1).mean(axis=0) for what in ({"spread": 4.0}, {"slope": 2.0}, {"shared": 0.04})]
    assert shares[0][0] > 0.9
    assert shares[1][1] > 0.9
    assert shares[2][3] > 0.9
    assert shares[2][4] < 0.3  # judges of a family do not share a preference there


def test_published_ratings_meet_neither(published):
    ((_, moments),) = slices_of(Spec.of("main"), published)
    tested = Preconditions(cell_means(moments))
    spread, additive = tested.spread(), tested.additivity()
    assert spread.widest == "Llama 3 8B"
    assert spread.p_value < 0.01
    assert spread.of_judge["Llama 3 8B"] == pytest.approx(0.031, abs=5e-4)
    assert sorted(spread.of_judge.values())[-2] == pytest.approx(0.018, abs=5e-4)
    assert (additive.f, *additive.df) == pytest.approx((3.28, 8, 35), abs=5e-3)
    assert additive.p_value == pytest.approx(0.0068, abs=5e-5)
    assert additive.slopes["Llama 3 8B"] == pytest.approx(1.80, abs=5e-3)
    shared = tested.correlation("model")
    assert (shared.value, shared.expected) == pytest.approx((0.19, -0.18), abs=0.012)
    assert shared.p_value < 0.05
    assert tested.correlation("judge").p_value > 0.5


def test_tables_that_leave_nothing_to_test():
    whole = table(1)
    effects = np.random.default_rng(1).normal(size=(2, 9))
    judge, model = (np.unique(names, return_inverse=True)[1] for names in (whole.judge, whole.model))
    exact = CellMeans(
        whole.judge, whole.model, whole.judge_family, whole.model_family, effects[0][judge] + effects[1][model], whole.n
    )
    parts = (
        whole.judge == "m0",
        np.isin(whole.judge, ["m0", "m3"]) & np.isin(whole.model, ["m0", "m3"]),
        whole.judge == "none",
    )
    names = ("judge", "model", "judge_family", "model_family", "mean", "n")
    for cells in (exact, *(CellMeans(*(getattr(whole, name)[part] for name in names)) for part in parts)):
        tested = Preconditions(cells)
        assert [tested.spread(), tested.additivity(), tested.correlation("model"), tested.correlation("judge")] == [None] * 4


@pytest.mark.parametrize("seed", range(40))
def test_tables_with_holes_give_p_values_or_nothing(seed):
    tested = Preconditions(table(seed, kept=np.random.default_rng(seed).uniform(0.05, 0.6)), draws=99)
    for result in (tested.spread(), tested.additivity(), tested.correlation("model"), tested.correlation("judge")):
        assert result is None or 0 <= result.p_value <= 1
