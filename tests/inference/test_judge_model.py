"""The judge x model table: means of cells with their sampling variances."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from statsmodels.api import OLS

from recuse.data.moments import Moments
from recuse.inference.judge_model import BORROWED, CellVariances, cell_means, tables_of_slices
from recuse.model.spec import Spec
from recuse.validation.world import MonteCarloWorld


@pytest.mark.parametrize(
    ("spec", "dials"),
    [
        ({}, {}),
        ({"length": "prompt"}, {"length_preference": 0.05}),
        ({}, {"humans": False, "slope": 0.0}),
    ],
)
def test_sampling_variance_of_a_cell_is_that_of_the_errors_over_its_rows(spec, dials):
    world = {
        "families": [3, 2, 2, 2],
        "dimensions": 4,
        "prompts": 150,
        "intercept": 0.3,
        "slope": [0.2, 0.8],
        "noise": 0.2,
    }
    draw = MonteCarloWorld(**{**world, **dials}).draw(default_rng(1))
    ((_, cells),) = tables_of_slices(Spec.of("main", **spec), draw)
    by_judge = cells.variance.reshape(9, 9).mean(axis=1)
    assert by_judge == pytest.approx(np.full(9, 0.2**2 / 600), rel=0.15)


def world_of_rows(seed=0, *, prompts=60, absent=0.0, shocks=0.0):
    """Rows (judge, model, dimension, prompt, reference, rating) of 5 judges and 6 models of three
    families in two dimensions.

    rating = a_j + c_m + slope_j reference + noise + shocks of prompt, of completion (prompt x
    model), of judge x prompt.
    """
    generator = default_rng(seed)
    shape = (5, 6, 2, prompts)
    judge, model, dimension, prompt = (index.ravel() for index in np.indices(shape))
    reference = generator.uniform(size=shape[1:])[model, dimension, prompt]
    rating = (0.1 * judge + 0.05 * model) + generator.uniform(0.2, 0.9, 5)[judge] * reference
    of_prompt, of_completion, of_judge = (
        shocks * generator.normal(size=size) for size in (prompts, (6, prompts), (5, prompts))
    )
    rating += (
        of_prompt[prompt]
        + of_completion[model, prompt]
        + of_judge[judge, prompt]
        + 0.1 * generator.normal(size=len(judge))
    )
    # Of a judge's ratings in both dimensions
    kept = generator.random((5, 6, prompts))[judge, model, prompt] >= absent
    kept &= generator.random(len(judge)) >= absent / 2
    rows = pd.DataFrame(
        {"judge": judge, "model": model, "dimension": dimension, "prompt": prompt, "gt": reference}
    )
    return (
        rows.assign(rating=rating)[kept].sort_values("prompt", kind="stable").reset_index(drop=True)
    )


def with_variances(rows):
    """Cell means with their variances, prompts seven at a time."""
    groups, group = np.unique(rows[["judge", "model", "dimension"]], axis=0, return_inverse=True)
    u = np.stack([np.ones(len(rows)), rows["rating"], rows["gt"]], axis=1)
    tensor = np.zeros((len(groups), 3, 3, 3, 3))
    np.add.at(tensor, group, np.einsum("ri,rj,rk,rl->rijkl", u, u, u, u))
    judge, model, dimension = groups.T
    names = {"judge": np.array(list("abcde"))[judge], "model": np.array(list("abcdef"))[model]}
    names |= {
        "judge_family": np.array(list("xxyyz"))[judge],
        "model_family": np.array(list("xxyyzz"))[model],
    }
    cells = cell_means(
        Moments(
            names | {"dimension": dimension.astype(str), "dataset": np.repeat("s", len(groups))},
            tensor,
        )
    )
    variances = CellVariances(cells)
    kind = cells.kind_of_group[group]
    sums = np.zeros((rows["prompt"].max() + 1, 3, len(cells.level)))
    for place, values in enumerate((u[:, 0], u[:, 2], u[:, 1])):  # 1, reference, rating
        np.add.at(sums[:, place], (rows["prompt"], kind), values)
    for first in range(0, len(sums), 7):
        variances.add(np.arange(first, min(first + 7, len(sums))), sums[first : first + 7])
    return variances.result()


def less_mean(values, groups):
    """Values less the mean of their group, where a group has several."""
    grouped = values.groupby(groups)
    return values - grouped.transform("mean").where(grouped.transform("size") > 1, 0.0)


def less_slopes(rows):
    """Rows with what their judge's slope leaves within cells, and the means of judge x model that
    OLS with dummies of dimensions finds, in the order of judge and model.
    """
    names = ["rating", "gt"]
    within = rows[names] - rows.groupby(["judge", "model", "dimension"])[names].transform("mean")
    sums = (within.mul(within["gt"], axis=0)).groupby(rows["judge"]).sum()
    slope = (sums["rating"] / sums["gt"])[rows["judge"]].to_numpy()
    left = within["rating"] - slope * within["gt"]
    x = pd.get_dummies(6 * rows["judge"] + rows["model"]).assign(other=rows["dimension"] == 1)
    *means, other = OLS(rows["rating"] - slope * rows["gt"], x.astype(float)).fit().params
    return rows.assign(left=left), np.array(means) + other * rows["dimension"].mean()


def variances_of_rows(rows):
    """Variances of the cells step by step from rows, in the order of judge and model."""
    keys = ["prompt", "judge", "model"]
    answers = rows.groupby(keys)["left"].agg(["mean", "size"]).reset_index()
    by_judge, by_model = ([answers["prompt"], answers[name]] for name in ("judge", "model"))
    d = less_mean(less_mean(answers["mean"], by_judge), by_model)
    models = answers.groupby(["prompt", "judge"])["size"].transform("size")
    square = answers["size"] ** 2 * d**2 / (1 - 1 / models.clip(lower=2))
    answers["square"] = square.where(models > 1, square / 2)
    answers["raters"] = answers.groupby(["prompt", "model"])["size"].transform("size")
    cells = answers.groupby(["judge", "model"]).agg(
        {"square": "sum", "prompt": "size", "size": "sum", "raters": "mean"}
    )
    raters, n, count = cells["raters"], cells["size"], cells["prompt"]
    weight = count - 1
    mixed = count / weight.clip(lower=1) * cells["square"] / n

    def mean_over(name, values):
        groups = cells.index.get_level_values(name)
        sums = (weight * values).groupby(groups).transform("sum")
        return sums / weight.groupby(groups).transform("sum").clip(lower=1)

    # mixed = (1 - 2 / raters) of the cell + mean over the model's judges / raters
    share = np.where(raters > 1, 1 - 1 / raters.clip(lower=2), 1.0)
    mean = mean_over("model", mixed / share)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.maximum((mixed - mean / raters) / (1 - 2 / raters), mixed / raters)
    single = alone.where(raters > 2.5, mean).where(raters >= 1.5, mixed)
    of_judge = mean_over("judge", single)
    return (weight * single + BORROWED * of_judge) / (weight + BORROWED) / n


@pytest.mark.parametrize("absent", [0.0, 0.4, 0.85])
def test_sampling_variances_are_those_of_rows(absent):
    rows = world_of_rows(1, prompts=25, absent=absent, shocks=0.1)
    cells = with_variances(rows)
    rows, means = less_slopes(rows)
    assert cells.mean == pytest.approx(means, abs=1e-9)
    assert cells.variance == pytest.approx(variances_of_rows(rows).to_numpy(), rel=1e-9)
    expected = rows.groupby(["judge", "model"])["prompt"].nunique()
    assert cells.prompts.tolist() == expected.tolist()


@pytest.mark.parametrize("judges", [3, 9])
def test_sampling_variances_are_by_judge_where_judges_differ_in_noise(judges):
    """The quietest of few judges is not told from the others' share in its residuals: it errs on
    the safe side.
    """
    world = {
        "families": [3, 2, 2, 2],
        "dimensions": 2,
        "prompts": 60,
        "intercept": 0.3,
        "slope": 0.5,
        "noise": [0.08, 0.4],
    }
    draws = (MonteCarloWorld(**world, judges=judges).draw(default_rng(seed)) for seed in range(12))
    tables = [next(iter(tables_of_slices(Spec.of("main"), draw)))[1] for draw in draws]
    ratio = np.mean(
        [(cells.variance * cells.n).reshape(judges, 9).mean(axis=1) for cells in tables], axis=0
    )
    ratio /= np.linspace(0.08, 0.4, judges) ** 2
    assert ratio[judges // 3 :] == pytest.approx(np.ones(judges - judges // 3), abs=0.1)
    assert (ratio > 0.9).all()
    assert ratio[0] < (2.5 if judges == 3 else 1.15)
