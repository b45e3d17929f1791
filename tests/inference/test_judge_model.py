"""The judge x model table: means of cells with their sampling variances."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

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


def world_of_rows(seed=0, *, prompts=60, absent=0.0, shocks=0.0, noise=0.1):
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
        + noise * generator.normal(size=len(judge))
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


def with_variances(rows, batch=7):
    """Cell means with their variances, prompts a few at a time."""
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
    for first in range(0, len(sums), batch):
        variances.add(np.arange(first, min(first + batch, len(sums))), sums[first : first + batch])
    return variances.result()


def by_hand(rows, cells):
    """Variances of the cells by loops over raw rows, (cells,)."""
    rows = rows.assign(left=0.0)
    for _, of_judge in rows.groupby("judge"):
        within = of_judge[["rating", "gt"]] - of_judge.groupby(["model", "dimension"])[
            ["rating", "gt"]
        ].transform("mean")
        slope = (within["rating"] * within["gt"]).sum() / (within["gt"] ** 2).sum()
        rows.loc[of_judge.index, "left"] = within["rating"] - slope * within["gt"]
    means = {key: of["left"].mean() for key, of in rows.groupby(["prompt", "judge", "model"])}
    count = {key: len(of) for key, of in rows.groupby(["prompt", "judge", "model"])}
    less = {}
    for (prompt, judge, model), value in means.items():
        of_judge = [other for (p, j, _), other in means.items() if (p, j) == (prompt, judge)]
        less[prompt, judge, model] = value - (np.mean(of_judge) if len(of_judge) > 1 else 0.0)
    squares = {}
    raters = {}
    for (prompt, judge, model), value in less.items():
        of_model = [other for (p, _, m), other in less.items() if (p, m) == (prompt, model)]
        of_judge = sum((p, j) == (prompt, judge) for p, j, _ in less)
        d = value - (np.mean(of_model) if len(of_model) > 1 else 0.0)
        squares.setdefault((judge, model), []).append(
            count[prompt, judge, model] ** 2 * d**2 / (1 - 1 / max(of_judge, 2))
        )
        if of_judge == 1:
            squares[judge, model][-1] /= 2
        raters.setdefault((judge, model), []).append(len(of_model))
    n = {key: len(of) for key, of in rows.groupby(["judge", "model"])}
    mixed = {
        key: len(each) / max(len(each) - 1, 1) * sum(each) / n[key] for key, each in squares.items()
    }
    single = {}
    for key, value in mixed.items():  # value = (1 - 2 / J) own + mean over the model's judges / J
        judges = np.mean(raters[key])
        of_model = [other for other in mixed if other[1] == key[1]]
        values = [
            mixed[other] / (1 - 1 / max(np.mean(raters[other]), 2) * (np.mean(raters[other]) > 1))
            for other in of_model
        ]
        weights = [len(squares[other]) - 1 for other in of_model]
        mean = np.dot(weights, values) / max(sum(weights), 1)
        if judges < 1.5:
            single[key] = value
        elif judges <= 2.5:
            single[key] = mean
        else:
            single[key] = max((value - mean / judges) / (1 - 2 / judges), value / judges)
    result = []
    for judge, model in zip(cells.judge, cells.model, strict=True):
        key = "abcde".index(judge), "abcdef".index(model)
        others = [each for each in squares if each[0] == key[0]]
        weight = {each: len(squares[each]) - 1 for each in others}
        of_judge = sum(weight[each] * single[each] for each in others) / sum(weight.values())
        result.append(
            (weight[key] * single[key] + BORROWED * of_judge) / (weight[key] + BORROWED) / n[key]
        )
    return np.array(result)


@pytest.mark.parametrize("absent", [0.0, 0.4, 0.85])
def test_sampling_variances_are_those_of_loops_over_rows(absent):
    rows = world_of_rows(1, prompts=25, absent=absent, shocks=0.1)
    cells = with_variances(rows)
    assert cells.variance == pytest.approx(by_hand(rows, cells), rel=1e-9)
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
