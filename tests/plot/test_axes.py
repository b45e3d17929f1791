"""Ends and numbers of the axis that estimates share."""

import numpy as np
import pandas as pd
import pytest

from drawings import SIX, by_slice, subject
from recuse.plot.axes import APART, MOST_NUMBERS, OVERHANG, SIDE, bias_limits, readable, ticks
from recuse.plot.slices import Band, Block, slices
from recuse.plot.style import text_width

LIMITS = [
    (-0.17, 0.08),
    (-0.055, 0.037),
    (-0.01, 0.14),
    (-0.3, 0.01),
    (-1.1, 4.9),
    (-0.0101, 0.0099),
    (-8.0, 0.9),
    (-0.9, 30.0),
]


@pytest.mark.parametrize(("longest", "counts"), [(0.09, True), (0.4, False)])
def test_only_what_would_halve_the_others_is_left_out_of_the_axis(longest, counts):
    rows = pd.DataFrame({"estimate": np.linspace(-0.05, 0.05, 9), "ci_low": np.nan, "ci_high": np.nan})
    rows["ci_low"], rows["ci_high"] = rows["estimate"] - 0.005, rows["estimate"] + 0.005
    rows.loc[9] = [0.0, -longest, longest]
    low, high = bias_limits(rows)
    assert (low <= -longest and high >= longest) == counts
    assert low == pytest.approx(-0.1008 if counts else -0.0616)
    assert bias_limits(rows.assign(ci_low=np.nan, ci_high=np.nan)) == pytest.approx((-0.056, 0.056))


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("width", [0.95, 1.2, 1.8, 3.0])
def test_every_side_of_an_axis_has_a_number_and_none_meets_another(limits, width):
    low, high = readable(limits, width)
    assert low <= limits[0] < limits[1] <= high
    places, numbers, lines = ticks((low, high), width)
    assert 3 <= len(places) <= MOST_NUMBERS
    assert [float(number.replace("−", "-")) for number in numbers] == pytest.approx(places, abs=1e-12)
    assert 0 in places
    for sign, end in zip((-1, 1), limits, strict=True):
        if sign * end > SIDE * (limits[1] - limits[0]):
            assert max(sign * place for place in places) > 0
    inches = (np.array(places) - low) / (high - low) * width
    halves = np.array([text_width(number) for number in numbers]) / 2
    assert (np.diff(inches) >= halves[1:] + halves[:-1] + APART - 1e-5).all()
    assert (inches - halves >= -OVERHANG - 1e-5).all()
    assert (inches + halves <= width + OVERHANG + 1e-5).all()
    assert len(places) > 3 or lines  # few numbers have lines between them
    assert not set(np.round(lines, 9)) & set(np.round(places, 9))


@pytest.mark.parametrize(
    ("limits", "width", "expected"),
    [
        ((-0.17, 0.08), 1.2, ["−0.1", "0.0", "0.1"]),
        ((-0.055, 0.037), 1.8, ["−0.04", "−0.02", "0.00", "0.02"]),
        ((-1.1, 4.9), 2.5, ["−1", "0", "1", "2", "3", "4"]),
        ((-0.008, 0.14), 1.3, ["0.00", "0.05", "0.10"]),
    ],
)
def test_numbers_of_some_axes(limits, width, expected):
    assert ticks(readable(limits, width), width).numbers == expected


def test_an_axis_is_drawn_out_no_further_than_its_next_number():
    assert readable((-0.055, 0.037), 1.8) == (-0.055, 0.037)
    low, high = readable((-0.17, 0.08), 1.2)
    assert low == -0.17
    assert 0.1 <= high < 0.12


@pytest.mark.parametrize("scale", [0.1, 0.3, 0.66, 1.0, 2.2, 10.0])
def test_numbers_of_neighbouring_panels_do_not_meet(scale):
    table = by_slice(SIX)
    table[["estimate", "ci_low", "ci_high"]] *= scale
    blocks = [Block("a", "a", table), Block("b", "b", table[table["slice"].isin(SIX[:2])])]
    figure = slices([Band("Self-bias", blocks)], subject(), interval="")
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for axes in figure.axes for label in axes.get_xticklabels()]
    assert len(boxes) >= 12  # four panels have them
    assert not any(one.overlaps(two) for number, one in enumerate(boxes) for two in boxes[:number])
