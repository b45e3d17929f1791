"""Figure 3: points, intervals and what is said where there is none."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from drawings import (
    CLUSTERED,
    PRESENT,
    SIX,
    artists,
    coefficients,
    estimates,
    filled,
    gaps,
    on_paper,
    prose,
    row_names,
    self_and_family_bias,
    simultaneous,
    spec_table,
    subject,
    texts,
    words_are_beside_the_point,
    x_values,
)
from recuse.base.reasons import Reason, because, in_words
from recuse.base.words import signed
from recuse.plot.axes import BEYOND
from recuse.plot.biases import SIDES, absences, family_places
from recuse.plot.intervals import excludes_zero
from recuse.plot.page import ABOVE_ZERO, BELOW_ZERO, outcomes, tally
from recuse.plot.scores import correlations_figure


def test_points_are_filled_only_if_the_interval_excludes_zero():
    table = estimates()
    figure = self_and_family_bias(table)
    points = artists(figure, "point")
    assert [filled(point) for point in points] == [
        excludes_zero(row) for _, row in table.iterrows()
    ]
    assert [filled(point) for point in points] == [True, True, False, False, False, True]
    assert x_values(points) == table["estimate"].tolist()
    bars = [tuple(bar.get_xdata()) for bar in artists(figure, "interval")]
    assert bars == list(zip(table["ci_low"], table["ci_high"], strict=True))
    assert "2 of 4 judges have a gap below 0, by Equation 1" in texts(figure)
    assert "rating points on the unit scale 0–1; 90 % Wald interval, HC0" in texts(figure)
    directions = [
        (text.get_text(), text.xy[0], text.get_ha()) for text in artists(figure, "direction")
    ]
    # Arrows start at zero
    assert directions[:2] == [("← harsher", 0, "right"), ("favours itself →", 0, "left")]
    assert "+0.020" in texts(figure)
    left, right = figure.axes
    assert left.get_xlim() == right.get_xlim()


@pytest.mark.parametrize(
    ("low", "high", "excluded"), [(0.0, 1, False), (-1, 0.0, False), (1e-9, 1, True)]
)
def test_an_interval_that_touches_zero_includes_it(low, high, excluded):
    assert excludes_zero({"ci_low": low, "ci_high": high}) is excluded
    assert excludes_zero({"ci_low": -high, "ci_high": -low}) is excluded


def test_what_is_not_estimable_is_written_not_drawn():
    table = estimates()
    table.loc[1, ["estimate", "ci_low", "ci_high"]] = np.nan
    figure = self_and_family_bias(table)
    assert len(artists(figure, "point")) == len(table) - 1
    assert texts(figure).count("not estimable") == 1


@pytest.mark.parametrize(
    "ends", [(np.nan, np.nan), (0.012, 0.012)], ids=["missing", "of no length"]
)
@pytest.mark.parametrize("value", [-0.04, 0.0, 0.012, 0.03])
def test_a_row_without_standard_error_is_a_hollow_point_with_words_beside(value, ends):
    table = estimates()
    table.loc[3, ["estimate", "ci_low", "ci_high"]] = [
        value,
        *(end + value - 0.012 for end in ends),
    ]
    figure = self_and_family_bias(table)
    points = artists(figure, "point")
    assert len(points) == len(table)
    assert len(artists(figure, "interval")) == len(table) - 1
    assert not filled(points[3])
    assert [filled(point) for point in points[:3]] == [True, True, False]
    words_are_beside_the_point(figure, points[3])


def test_a_correlation_without_standard_error_is_a_hollow_point_with_words_beside():
    table = coefficients()
    table.loc[[1, 40], ["ci_low", "ci_high"]] = np.nan
    table.loc[[1, 40], "value"] = [0.9, -0.1]
    figure = correlations_figure(table, subject(), confidence=0.9)
    points = [point for point in artists(figure, "point") if not filled(point)]
    assert x_values(points) == [0.9, -0.1]
    for point in points:
        words_are_beside_the_point(figure, point, count=2)


def test_a_narrow_panel_is_widened_until_the_words_have_room():
    names = ["a model with such a long name that little is left for its panel", "another"]
    study = subject(models={name: {"family": "GPT"} for name in names})
    bias = pd.DataFrame(
        {
            "quantity": "self_bias",
            "term": names,
            "estimate": [-0.02, 0.0],
            "ci_low": [-0.03, np.nan],
        }
    )
    bias = bias.assign(slice=None, ci_high=[0.03, np.nan])
    figure = self_and_family_bias(bias, study)
    words_are_beside_the_point(figure, artists(figure, "point")[1])
    table = coefficients(SIX[:3], judges=names)
    table.loc[1, ["value", "ci_low", "ci_high"]] = [0.35, np.nan, np.nan]  # the middle of the axis
    figure = correlations_figure(table, study, confidence=0.9)
    words_are_beside_the_point(figure, artists(figure, "point")[0])


@pytest.mark.parametrize("scale", [0.0, 1e-17, -1e-17, 1e-4])
def test_rounding_does_not_set_the_axis(scale):
    table = estimates()
    table["estimate"] = scale * np.arange(1, len(table) + 1)
    table["ci_low"] = table["ci_high"] = np.nan
    figure = self_and_family_bias(table)
    low, high = figure.axes[0].get_xlim()
    assert high - low == pytest.approx(0.02, abs=1e-9)
    assert low < min(0, table["estimate"].min())
    assert high > max(0, table["estimate"].max())
    if abs(scale) < 1e-10:
        beside = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert beside.count("0.000") == len(table)
        assert not {"+0.000", "−0.000"} & set(texts(figure))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0004, "0.000"),
        (-0.0004, "0.000"),
        (-0.0, "0.000"),
        (0.0006, "+0.001"),
        (-0.0006, "−0.001"),
    ],
)
def test_numbers_have_a_sign_unless_they_round_to_zero(value, text):
    assert signed(value) == text


def test_a_study_without_both_biases_says_the_reason_that_the_table_gives():
    own = because(Reason.NO_OWN_ANSWERS)
    reasons = gaps(
        ("a", None, own, "self_bias", "GPT-4o"),
        ("a", None, own, "self_bias", "A critic"),
        ("b", None, own, "self_bias"),
    )
    slopes = spec_table([(None, "slope", "GPT-4o", 0.9, 0.8, 1.0)])
    figure = self_and_family_bias(slopes, reasons=reasons, clustered=CLUSTERED)
    output = " ".join(
        text.get_text()
        for text in sorted(figure.findobj(Text), key=lambda text: -text.get_position()[1])
    )
    assert output.startswith(
        f"No self-bias: GPT-4o, A critic ({in_words(own)}). No family-bias: the spec a has no term"
        " for family-bias."
    )
    assert "SIMULATED DATA" in texts(figure)
    assert figure.axes == []
    figure = self_and_family_bias(
        spec_table([]), reasons=gaps(("a", None, because(Reason.NO_ROWS))), clustered=CLUSTERED
    )
    assert "Not estimated: the spec a (no row is left)." in prose(figure)
    assert "No self-bias" not in prose(figure)


def test_one_bias_alone_has_one_panel_and_the_note():
    figure = self_and_family_bias(
        estimates([]),
        reasons=gaps(("a", None, because(Reason.NO_OWN_ANSWERS), "self_bias", "GPT-4o")),
    )
    (panel,) = figure.axes
    assert panel.get_title(loc="left") == "Family-bias"
    assert row_names(panel) == ["Claude", "GPT"]
    assert "No self-bias: GPT-4o (it rates no answers of its own)." in texts(figure)
    (panel,) = self_and_family_bias(estimates(["GPT-4o"], [])).axes
    assert panel.get_title(loc="left") == "Self-bias"


def test_absence_is_said_of_the_quantities_that_no_spec_has():
    table, without = estimates(), spec_table([(None, "slope", "GPT-4o", 0.9, 0.8, 1.0)])
    why = because(Reason.NO_SIBLINGS)
    reason = gaps(
        *(("a", part, why, "family_bias", "GPT") for part in (None, "x")),
        ("c", None, why, "self_bias", "z"),
    )
    assert absences(SIDES, {"a": table, "b": without}, reason) == ""
    own = table[table["quantity"] == "self_bias"]
    assert absences(SIDES, {"a": own}, reason) == f"No family-bias: GPT ({in_words(why)})."
    both = absences(SIDES, {"a": own, "b": without, "c": without[:0]}, reason)
    assert both == f"No family-bias: GPT ({in_words(why)}); the spec b has no term for family-bias."
    assert (
        absences(["Self-bias"], {"b": without, "d": without}, reason)
        == "No self-bias: the specs b, d have no term for self-bias."
    )
    assert absences(SIDES, {"b": without[:0]}, reason) == ""


def test_simultaneous_intervals_are_fine_lines_with_a_legend():
    table, known = estimates(), simultaneous(estimates()[1:], width=0.05)
    figure = self_and_family_bias(table, multiplicity=known, clustered=CLUSTERED)
    lines = artists(figure, "simultaneous")
    assert [tuple(line.get_xdata()) for line in lines] == [
        pytest.approx((value - 0.05, value + 0.05)) for value in table["estimate"][1:]
    ]
    bars = [tuple(bar.get_xdata()) for bar in artists(figure, "interval")]
    assert bars == list(zip(table["ci_low"], table["ci_high"], strict=True))
    assert max(line.get_linewidth() for line in lines) < min(
        bar.get_linewidth() for bar in artists(figure, "interval")
    )
    low, high = figure.axes[0].get_xlim()
    assert low < table["estimate"][1:].min() - 0.05
    assert high > table["estimate"].max() + 0.05
    assert "90 % simultaneous interval over the 5 self- and family-biases, by prompt" in texts(
        figure
    )
    assert on_paper(figure)


@pytest.mark.parametrize("settings", [None, {**CLUSTERED, "spec": "other"}])
def test_without_simultaneous_intervals_the_figure_says_nothing_of_them(settings):
    figure = self_and_family_bias(estimates(), clustered=settings)
    assert artists(figure, "simultaneous") == []
    assert not any("simultaneous" in text for text in texts(figure))


def test_a_simultaneous_interval_that_goes_on_beyond_the_axis_ends_in_an_arrow():
    table = estimates()
    known = simultaneous(table)
    known.loc[0, ["simultaneous_ci_low", "simultaneous_ci_high"]] = [-3.0, 3.0]
    figure = self_and_family_bias(table, multiplicity=known, clustered=CLUSTERED)
    assert sorted(arrow.get_xdata()[0] for arrow in artists(figure, "beyond")) == list(
        figure.axes[0].get_xlim()
    )
    assert BEYOND in texts(figure)


def test_the_estimand_stands_under_the_finding():
    note = gaps(("a", None, because(Reason.NO_TERM), "family_bias", "GPT"))
    figure = self_and_family_bias(
        estimates(families=[]), subject(estimand="A against humans"), reasons=note
    )
    by_height = [
        text
        for _, text in sorted((text.get_position()[1], text.get_text()) for text in figure.texts)
    ]
    assert by_height[0] == "No family-bias: GPT (no row carries a term of the model)."
    assert any(text.startswith("A against humans; rating points") for text in by_height)


# Judges, those above 0, those below 0, and the words
FINDINGS = """
9 5 1 5 of 9 judges have a gap above 0 and 1 has a gap below 0
9 1 2 1 of 9 judges has a gap above 0 and 2 have a gap below 0
9 0 1 1 of 9 judges has a gap below 0
9 9 0 All 9 judges have a gap above 0
2 2 0 Both judges have a gap above 0
9 0 0 None of 9 judges has a gap above 0 or has a gap below 0
1 1 0 The one judge has a gap above 0
1 0 0 No judge has a gap above 0 or has a gap below 0
0 0 0 No judge can be tested
"""


@pytest.mark.parametrize("finding", FINDINGS.strip().splitlines())
def test_a_finding_is_right_for_any_data(finding):
    *numbers, words = finding.split(" ", 3)
    total, *counts = map(int, numbers)
    assert outcomes(total, list(zip(counts, (ABOVE_ZERO, BELOW_ZERO), strict=True))) == words
    signs = [1] * counts[0] + [-1] * counts[1] + [0] * (total - sum(counts))
    rows = pd.DataFrame(
        {"ci_low": [sign - 0.5 for sign in signs], "ci_high": [sign + 0.5 for sign in signs]},
        dtype=float,
    )
    unknown = pd.DataFrame({"ci_low": [np.nan], "ci_high": [np.nan]})  # not estimable
    assert tally(pd.concat([rows, unknown]), ABOVE_ZERO, BELOW_ZERO) == words


def test_families_stand_beside_their_judges_and_never_on_one_another():
    palette = subject().palette
    assert family_places(PRESENT, ["Claude", "GPT"], palette) == [0.5, 2.0]
    mixed = ["Claude v2", "GPT-4o", "Claude 3 Sonnet"]
    assert family_places(mixed, ["Claude", "GPT"], palette) == [1.0, 2.0]
