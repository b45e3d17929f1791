"""The judge x model table: means of cells with their sampling variances."""

import numpy as np
import pytest

from recuse.inference.judge_model import tables_of_slices
from recuse.model.spec import Spec
from recuse.montecarlo.world import MonteCarloWorld


@pytest.mark.parametrize(
    ("spec", "dials"),
    [({}, {}), ({"length": "prompt"}, {"length_preference": 0.05}), ({}, {"humans": False, "slope": 0.0})],
)
def test_sampling_variance_of_a_cell_is_that_of_the_errors_over_its_rows(spec, dials):
    world = {"families": (3, 2, 2, 2), "dimensions": 4, "prompts": 150, "intercept": 0.3, "slope": [0.2, 0.8], "noise": 0.2}
    draw = MonteCarloWorld(**{**world, **dials}).draw(np.random.default_rng(1))
    ((_, cells),) = tables_of_slices(Spec.of("main", **spec), draw)
    by_judge = cells.variance.reshape(9, 9).mean(axis=1)
    assert by_judge == pytest.approx(np.full(9, 0.2**2 / 600), rel=0.15)
