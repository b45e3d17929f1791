"""Ends and numbers of the axis that estimates share."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from drawings import SIX, are_apart, by_slice, subject
from recuse.plot.axes import PER_NUMBER, bias_limits
from recuse.plot.intervals import frame_rows
from recuse.plot.slices import SliceSection, slices
from recuse.plot.style import language


@pytest.mark.parametrize(("longest", "counts"), [(0.09, True), (0.4, False)])
def test_only_what_would_halve_the_others_is_left_out_of_the_axis(longest, counts):
    rows = pd.DataFrame(
        {"estimate": np.linspace(-0.05, 0.05, 9), "ci_low": np.nan, "ci_high": np.nan}
    )
    rows["ci_low"], rows["ci_high"] = rows["estimate"] - 0.005, rows["estimate"] + 0.005
    rows.loc[9] = [0.0, -longest, longest]
    low, high = bias_limits(rows)
    assert (low <= -longest and high >= longest) == counts
    assert low == pytest.approx(-0.1008 if counts else -0.0616)
    assert bias_limits(rows.assign(ci_low=np.nan, ci_high=np.nan)) == pytest.approx((-0.056, 0.056))


def shown(axes):
    """The numbers of an axis that are drawn."""
    low, high = axes.get_xlim()
    labels = [label for label in axes.get_xticklabels() if low <= label.get_position()[0] <= high]
    return [label for label in labels if label.get_visible()]


@pytest.mark.parametrize(
    "limits",
    [(-0.17, 0.08), (-0.01, 0.14), (-1.1, 4.9), (-0.0101, 0.0099), (-8.0, 0.9), (-0.9, 30.0)],
)
@pytest.mark.parametrize("width", [1.1, 1.8, 3.0])
def test_an_axis_has_several_numbers_and_none_meets_another(limits, width):
    with language():
        figure = Figure((width + 1, 1))
        axes = figure.add_axes((0.5 / (width + 1), 0.5, width / (width + 1), 0.4))
        frame_rows(axes, limits=limits, rows=1)
        figure.draw_without_rendering()
        labels = shown(axes)
        boxes = [label.get_window_extent() for label in labels]
    assert 2 <= len(labels) <= 1 + max(3, width / PER_NUMBER)
    assert 0 in [float(label.get_text().replace("−", "-")) for label in labels]
    assert are_apart(boxes)


@pytest.mark.parametrize("scale", [0.1, 0.3, 0.66, 1.0, 2.2, 10.0])
def test_numbers_of_neighbouring_panels_do_not_meet(scale):
    table = by_slice(SIX)
    table[["estimate", "ci_low", "ci_high"]] *= scale
    tables = {"a": table, "b": table[table["slice"].isin(SIX[:2])]}
    figure = slices(
        [SliceSection(name, "Self-bias", name, rows) for name, rows in tables.items()],
        subject(),
        interval="",
    )
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for axes in figure.axes for label in shown(axes)]
    assert len(boxes) >= 10  # five panels have them
    assert are_apart(boxes)
