"""Tests of additive effects, as B takes them for granted: against statsmodels, their size, and what
they find.
"""

import numpy as np
import pytest
from numpy.random import default_rng
from statsmodels.api import OLS

from recuse.check.additivity import additivity
from recuse.inference.judge_model import CellMeans, cell_means
from recuse.model.estimable import spec_slices
from recuse.model.spec import Spec

FAMILIES = np.array(["f0", "f0", "f0", "f1", "f1", "f2", "f2", "f3", "f3"])
NAMES = np.array([f"m{number}" for number in range(9)])


def table(seed, *, slope=1.0, kept=1.0):
    """Cells of nine judges and models with additive means and a spread of 0.02; a share is kept.

    The first judge spreads models `slope` times as widely.
    """
    drawn = default_rng(seed)
    judge, model = np.divmod(np.arange(81), 9)
    tilt = np.where(judge == 0, slope, 1.0)
    mean = (
        drawn.normal(size=9)[judge]
        + tilt * np.linspace(-0.1, 0.1, 9)[model]
        + 0.02 * drawn.normal(size=81)
    )
    rows = np.flatnonzero(drawn.random(81) < kept)
    judge, model = judge[rows], model[rows]
    return CellMeans(
        NAMES[judge], NAMES[model], FAMILIES[judge], FAMILIES[model], mean[rows], np.ones(len(rows))
    )


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
    ours = additivity(cells)
    mean, judge, model, additive = naive(cells)
    effects = np.concatenate([[0.0], additive.params[judge.shape[1] :]])
    of_model, of_judge = model @ effects, judge @ additive.params[: judge.shape[1]]
    design = np.hstack([judge, model[:, 1:]])
    mandel = OLS(mean, np.hstack([design, (judge * of_model[:, None])[:, 1:]])).fit()
    f, p_value, df = mandel.compare_f_test(additive)
    assert (ours.f, ours.p_value) == pytest.approx((f, p_value), rel=1e-7)
    assert ours.df == (df, mandel.df_resid)
    tukey = OLS(mean, np.hstack([design, (of_judge * of_model)[:, None]])).fit()
    _, p_value, _ = tukey.compare_f_test(additive)
    assert ours.tukey_p_value == pytest.approx(p_value, rel=1e-7)


@pytest.mark.parametrize(("seed", "kept"), [(1, 1.0), (4, 0.8)])
def test_slopes_are_those_on_a_fit_without_the_judge(seed, kept):
    cells = table(seed, slope=1.5, kept=kept)
    slopes = additivity(cells).slopes
    mean, judge, model, _ = naive(cells)
    for place, name in enumerate(np.unique(cells.judge)):
        mine = judge[:, place] > 0
        others = OLS(
            mean[~mine], np.hstack([np.delete(judge, place, axis=1), model[:, 1:]])[~mine]
        ).fit()
        effects = model[:, 1:] @ others.params[judge.shape[1] - 1 :]
        line = OLS(mean[mine], np.stack([np.ones(mine.sum()), effects[mine]], axis=1)).fit()
        assert slopes[name] == pytest.approx(line.params[1], rel=1e-8)


def test_published_ratings_do_not_add(published):
    ((_, moments),) = spec_slices(Spec.of("main"), published)
    additive = additivity(cell_means(moments))
    assert (additive.f, *additive.df) == pytest.approx((3.28, 8, 35), abs=5e-3)
    assert additive.p_value == pytest.approx(0.0068, abs=5e-5)
    assert additive.slopes["Llama 3 8B"] == pytest.approx(1.80, abs=5e-3)


def test_tables_that_leave_nothing_to_test():
    whole = table(1)
    effects = default_rng(1).normal(size=(2, 9))
    judge, model = (
        np.unique(names, return_inverse=True)[1] for names in (whole.judge, whole.model)
    )
    exact = CellMeans(
        whole.judge,
        whole.model,
        whole.judge_family,
        whole.model_family,
        effects[0][judge] + effects[1][model],
        whole.n,
    )
    parts = (
        whole.judge == "m0",
        np.isin(whole.judge, ["m0", "m3"]) & np.isin(whole.model, ["m0", "m3"]),
        whole.judge == "none",
    )
    names = ("judge", "model", "judge_family", "model_family", "mean", "n")
    for cells in (
        exact,
        *(CellMeans(*(getattr(whole, name)[part] for name in names)) for part in parts),
    ):
        assert additivity(cells) is None


@pytest.mark.parametrize("seed", range(40))
def test_tables_with_holes_give_p_values_or_nothing(seed):
    result = additivity(table(seed, kept=default_rng(seed).uniform(0.05, 0.6)))
    assert result is None or 0 <= result.p_value <= 1
