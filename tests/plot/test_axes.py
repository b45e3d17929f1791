"""Ends and numbers of the axis that estimates share."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from recuse.plot.axes import bias_limits, numbered


@pytest.mark.parametrize(("longest", "counts"), [(0.09, True), (0.4, False)])
def test_only_what_would_halve_the_others_is_left_out_of_the_axis(longest, counts):
    places = np.linspace(-0.05, 0.05, 9)
    rows = pd.DataFrame({"estimate": places, "ci_low": places - 0.005, "ci_high": places + 0.005})
    rows.loc[9] = [0.0, -longest, longest]
    low, high = bias_limits(rows)
    assert (low <= -longest and high >= longest) == counts
    assert low == pytest.approx(-0.1008 if counts else -0.0616)
    assert bias_limits(rows.assign(ci_low=np.nan, ci_high=np.nan)) == pytest.approx((-0.056, 0.056))
    assert bias_limits(rows * np.nan, at=None) == pytest.approx((-0.06, 1.06))


def test_numbers_stand_at_multiples_of_1_2_or_5():
    axes = Figure().add_subplot(xlim=(0, 20))
    numbered(axes.xaxis, 2.5)
    assert axes.get_xticks() == pytest.approx([0, 5, 10, 15, 20])
