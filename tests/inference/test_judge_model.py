"""The judge x model table: means of cells with their sampling variances."""

import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.random import default_rng
from statsmodels.api import OLS

from designs_on_rows import frame_on_rows
from rated_tables import FIVE, rated, study_of_rows
from recuse.inference.judge_model import BORROWED, tables_of_slices
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
    world = yaml.safe_load("""
        {families: [3, 2, 2, 2], dimensions: 4, prompts: 150, intercept: 0.3, slope: [0.2, 0.8], noise: 0.2}
    """)
    draw = MonteCarloWorld(**{**world, **dials}).draw(default_rng(1))
    ((_, cells),) = tables_of_slices(Spec.of("main", **spec), draw)
    by_judge = cells.variance.reshape(9, 9).mean(axis=1)
    assert by_judge == pytest.approx(np.full(9, 0.2**2 / 600), rel=0.15)


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
    other = rows["dimension"] == "Wit"
    x = pd.get_dummies(rows.groupby(["judge", "model"]).ngroup()).assign(other=other)
    *means, effect = OLS(rows["rating"] - slope * rows["gt"], x.astype(float)).fit().params
    return rows.assign(left=left), np.array(means) + effect * other.mean()


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


@pytest.mark.parametrize("absent", [0.0, 0.4, 0.8, 0.93])
def test_sampling_variances_are_those_of_rows(tmp_path, monkeypatch, absent):
    """With a share of the ratings absent."""
    monkeypatch.setattr("recuse.model.prompt_sums.ENTRIES", 1000)  # a few prompts at a time
    random = default_rng(1)
    made = rated(FIVE, [*FIVE, "Claude v2"], prompts=25, dimensions=("Tone", "Wit"))
    study = study_of_rows(tmp_path, [row for row in made if random.random() >= absent])
    ((_, cells),) = tables_of_slices(Spec.of("main"), study)
    frame = frame_on_rows(study)
    rows, means = less_slopes(frame.assign(rating=frame["rating_unit"], gt=frame["gt_unit"]))
    assert cells.mean == pytest.approx(means, abs=1e-9)
    assert cells.variance == pytest.approx(variances_of_rows(rows).to_numpy(), rel=1e-9)
    expected = rows.groupby(["judge", "model"])["prompt"].nunique()
    assert cells.prompts.tolist() == expected.tolist()
