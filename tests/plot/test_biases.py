"""Figure 3: points, intervals and what is said where there is none."""

import numpy as np
import pandas as pd
import pytest

from drawings import (
    CLUSTERED,
    PRESENT,
    artists,
    estimates,
    filled,
    gaps,
    prose,
    row_names,
    self_and_family_bias,
    simultaneous,
    spec_table,
    texts,
    x_values,
)
from recuse.base.reasons import Reason, because, in_words
from recuse.base.words import signed
from recuse.model.spec import BIASES
from recuse.plot.axes import BEYOND
from recuse.plot.biases import SIDES, absences
from recuse.plot.page import head, sides, tally


def gaps_in_words(counts):
    facts = {"judges": 9, "level": 0.9, "errors": "HC0", "over": ""}
    return head("equation_1", tally=counts, **facts).finding.removesuffix(", by Equation 1")


def test_points_are_filled_only_if_the_interval_excludes_zero():
    table = estimates()
    table.loc[2, ["ci_low", "ci_high"]] = [0.0, 0.02]  # touches 0, so includes it
    figure = self_and_family_bias(table)
    points = artists(figure, "point")
    assert [filled(point) for point in points] == [True, True, False, False, False, True]
    assert x_values(points) == table["estimate"].tolist()
    bars = [tuple(bar.get_xdata()) for bar in artists(figure, "interval")]
    assert bars == list(zip(table["ci_low"], table["ci_high"], strict=True))
    text = prose(figure)
    assert "2 of 4 judges have a gap below 0 (most: Claude v2, −0.030), by Equation" in text
    assert "rating points on the unit scale 0–1; 90 % Wald interval, HC0; filled" in text
    (axes,) = figure.axes
    assert row_names(axes) == [*PRESENT, "Claude", "GPT"]
    assert [heading.get_text() for heading in artists(figure, "group")] == [*SIDES]
    directions = [text.get_text() for text in artists(figure, "direction")]
    assert directions == ["← harsher", "favours its own →"]
    assert "+0.020" in texts(figure)


@pytest.mark.parametrize("value", [-0.04, 0.0, 0.012, 0.03])
def test_what_has_no_estimate_or_no_standard_error_is_said_in_its_row(value):
    """A point without a standard error is hollow."""
    table = estimates()
    table.loc[1, ["estimate", "ci_low", "ci_high"]] = np.nan
    table.loc[2, ["ci_low", "ci_high"]] = table.loc[2, "estimate"]  # an interval without a width
    table.loc[3, ["estimate", "ci_low", "ci_high"]] = [value, np.nan, np.nan]
    figure = self_and_family_bias(table)
    points = artists(figure, "point")
    assert len(points) == len(table) - 1
    assert not filled(points[2])
    assert len(artists(figure, "interval")) == len(table) - 3
    words = texts(figure)
    assert words.count("not estimable") == words.count(f"{signed(value)} no standard error") == 1
    assert sum(text.endswith("no standard error") for text in words) == 1


def test_a_study_without_both_biases_says_the_reason_that_the_table_gives():
    own = because(Reason.NO_OWN_ANSWERS)
    reasons = gaps(
        ("a", None, own, "self_bias", "GPT-4o"),
        ("a", None, own, "self_bias", "A critic"),
        ("b", None, own, "self_bias"),
    )
    slopes = spec_table([(None, "slope", "GPT-4o", 0.9, 0.8, 1.0)])
    figure = self_and_family_bias(slopes, reasons=reasons, clustered=CLUSTERED)
    # The lowest line comes first
    assert " ".join(reversed(texts(figure))).startswith(
        f"No self-bias: GPT-4o, A critic ({in_words(own)}). No family-bias: the spec a has no term"
        " for family-bias."
    )
    assert "SIMULATED DATA" in texts(figure)
    assert figure.axes == []
    families = estimates(judges=())
    of_families = prose(self_and_family_bias(families, clustered=CLUSTERED))
    assert "1 of 2 families has a gap above 0" in of_families
    figure = self_and_family_bias(
        spec_table([]), reasons=gaps(("a", None, because(Reason.NO_ROWS))), clustered=CLUSTERED
    )
    assert "Not estimated: the spec a (no row is left)." in prose(figure)
    assert "No self-bias" not in prose(figure)


def test_absence_is_said_of_the_quantities_that_no_spec_has():
    table, without = estimates(), spec_table([(None, "slope", "GPT-4o", 0.9, 0.8, 1.0)])
    why = because(Reason.NO_SIBLINGS)
    reason = gaps(
        *(("a", part, why, "family_bias", "GPT") for part in (None, "x")),
        ("c", None, why, "self_bias", "z"),
    )
    assert absences(BIASES, {"a": table, "b": without}, reason) == ""
    own = table[table["quantity"] == "self_bias"]
    assert absences(BIASES, {"a": own}, reason) == f"No family-bias: GPT ({in_words(why)})."
    both = absences(BIASES, {"a": own, "b": without, "c": without[:0]}, reason)
    assert both == f"No family-bias: GPT ({in_words(why)}); the spec b has no term for family-bias."
    assert (
        absences(["self_bias"], {"b": without, "d": without}, reason)
        == "No self-bias: the specs b, d have no term for self-bias."
    )
    assert absences(BIASES, {"b": without[:0]}, reason) == ""


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
    words = "90 % simultaneous intervals over the 5 self- and family-biases, by prompt"
    assert words in prose(figure)


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


# Judges, those with a gap above 0, those with one below, and the words
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
    assert gaps_in_words({"total": total, "found": sides(*counts)}) == words
    signs = [1] * counts[0] + [-1] * counts[1] + [0] * (total - sum(counts))
    rows = pd.DataFrame(
        {"ci_low": [sign - 0.5 for sign in signs], "ci_high": [sign + 0.5 for sign in signs]},
        dtype=float,
    )
    unknown = pd.DataFrame({"ci_low": [np.nan], "ci_high": [np.nan]})  # not estimable
    assert gaps_in_words(tally(pd.concat([rows, unknown]))) == words
