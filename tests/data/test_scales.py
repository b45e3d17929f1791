"""Steps of the scales that are imported."""

import pytest

from recuse.data.scales import finest_step


@pytest.mark.parametrize(
    ("scales", "finest"),
    [
        ([[0, 1]], 0.01),
        ([[0, 100]], 1),
        ([[1, 10]], 0.1),
        ([[0.5, 5]], 0.05),
        ([[0, 1], [0.5, 5]], 0.05),
        ([[0, 1], [0, 100]], None),
        (["observed"], None),
    ],
)
def test_finest_step_of_scales(scales, finest):
    assert finest_step(dict(enumerate(scales))) == finest
