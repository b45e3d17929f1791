"""Several specs on one axis: which point stands where, and what is said where there is none."""

import numpy as np
import pytest
from matplotlib.text import Text
from numpy.testing import assert_allclose

from drawings import (
    INTERVAL,
    PRESENT,
    artists,
    estimates,
    filled,
    gaps,
    on_paper,
    prose,
    row_names,
    spec_table,
    subject,
    texts,
    words_are_beside_the_point,
    x_values,
)
from picked_rows import column
from recuse.base.reasons import Reason, because
from recuse.plot.biases import (
    GAPS,
    Variant,
    beside_the_first,
    compare,
    compare_specs,
    variants_of,
    without_variant,
)
from recuse.plot.intervals import ORDER, POINTS, excludes_zero

JUDGES = [f"judge {number}" for number in range(20)]

NO_ROWS, NO_LENGTHS = because(Reason.NO_ROWS), because(Reason.NO_LENGTHS)


def variant(label="Equation 1", shift=0.0, interval=INTERVAL, **settings):
    table = estimates(**settings)
    table[["estimate", "ci_low", "ci_high"]] += shift
    return Variant(label, table, interval)


def compared(variants):
    return compare(variants, subject())


def test_each_variant_has_a_point_of_its_shape_below_the_one_before():
    variants = [variant(), variant("length control", 0.004), variant("third", -0.02)]
    figure = compared(variants)
    left, right = figure.axes
    for axes, quantity, palette in (
        (left, "self_bias", subject().palette.colour),
        (right, "family_bias", subject().palette.family_colour),
    ):
        rows = [one.table[one.table["quantity"] == quantity].reset_index() for one in variants]
        points = artists(axes, "point")
        expected = [
            row
            for together in zip(*(table.iterrows() for table in rows), strict=True)
            for _, row in together
        ]
        assert x_values(points) == column(expected, "estimate")
        assert [filled(point) for point in points] == [excludes_zero(row) for row in expected]
        assert [point.get_color() for point in points] == [palette(row["term"]) for row in expected]
        assert [point.get_marker() for point in points] == ["o", "s", "^"] * len(rows[0])
        heights = np.reshape([point.get_ydata()[0] for point in points], (-1, 3))
        assert_allclose(heights[:, 1], axes.get_yticks(), atol=1e-12)
        inches = (
            np.diff(heights, axis=1)
            * axes.get_position().height
            * figure.get_size_inches()[1]
            / len(PRESENT)
        )
        assert_allclose(inches, 0.085, atol=1e-9)
    assert left.get_xlim() == right.get_xlim()
    assert row_names(left) == PRESENT
    text = texts(figure)
    assert {
        ORDER,
        "Equation 1",
        "length control",
        "third",
        "interval excludes 0",
        "interval includes 0",
    } <= set(text)
    assert f"rating points on the unit scale 0–1; {INTERVAL}" in text
    assert GAPS not in text


@pytest.mark.parametrize("count", [1, 2, 6, 11])
@pytest.mark.parametrize("judges", [JUDGES[:1], JUDGES])
def test_any_number_of_variants_and_judges_fits_the_paper(count, judges):
    label = (
        "a rather long name of a variant that a user thought of, longer than the figure is wide if"
        " it is only one column"
    )
    variants = [variant(f"{label} {number}", judges=judges, families=()) for number in range(count)]
    figure = compared(variants)
    (axes,) = figure.axes
    heights = [point.get_ydata()[0] for point in artists(figure, "point")]
    assert len(heights) == count * len(judges)
    assert np.abs(np.asarray(heights) - np.repeat(range(len(judges)), count)).max() < 0.45
    assert on_paper(figure)
    assert (ORDER in texts(figure)) == (count > 1)
    assert len(axes.get_yticks()) == len(judges)


def test_a_variant_without_an_estimate_leaves_a_gap_and_the_foot_says_so():
    one, two = variant(), variant("other", 0.001)
    two.table.loc[1, ["estimate", "ci_low", "ci_high"]] = np.nan
    figure = compared([one, Variant("other", two.table.drop(index=0), INTERVAL)])
    heights = [
        round(point.get_ydata()[0], 3)
        for point in figure.axes[0].lines
        if point.get_gid() == "point"
    ]
    step = round(heights[3] - heights[2], 3)
    assert step > 0
    assert heights == pytest.approx(
        [0 - step / 2, 1 - step / 2, 2 - step / 2, 2 + step / 2, 3 - step / 2, 3 + step / 2],
        abs=2e-3,
    )
    assert GAPS in texts(figure)
    assert "not estimable" not in texts(figure)


def test_a_term_that_no_variant_estimates_is_said_once_in_its_row():
    one, two = variant(), variant("other")
    for table in (one.table, two.table):
        table.loc[1, ["estimate", "ci_low", "ci_high"]] = np.nan
    figure = compared([one, two])
    words = [text for text in figure.findobj(Text) if text.get_text() == "not estimable"]
    assert [text.get_position()[1] for text in words] == [1]


def test_a_point_without_standard_error_is_hollow_with_words_beside():
    one, two = variant(), variant("other")
    two.table.loc[2, ["ci_low", "ci_high"]] = np.nan
    figure = compared([one, two])
    points = artists(figure, "point")
    assert not filled(points[5])
    assert len(artists(figure, "interval")) == len(points) - 1
    words_are_beside_the_point(figure, points[5])


def test_intervals_that_differ_are_named_with_each_variant():
    other = "90 % Wald interval, classical"
    text = texts(compared([variant(), variant("coded", interval=other)]))
    assert {
        f"Equation 1 ({INTERVAL})",
        f"coded ({other})",
        "interval excludes 0",
        "interval includes 0",
    } <= set(text)
    assert f"estimate, {INTERVAL}" not in text


def test_the_interval_of_most_variants_is_named_once():
    other = "90 % prediction interval"
    text = texts(compared([variant(), variant("second"), variant("coded", interval=other)]))
    assert {
        f"in each row, from the top, with {INTERVAL}, unless noted:",
        "second",
        f"coded ({other})",
    } <= set(text)
    assert ORDER not in text


def test_an_interval_far_longer_than_the_others_ends_in_an_arrow():
    one, two = variant(), variant("other")
    plain = compared([one, two]).axes[0].get_xlim()
    two.table.loc[1, ["estimate", "ci_low", "ci_high"]] = [0.5, -0.2, 1.2]
    figure = compared([one, two])
    low, high = figure.axes[0].get_xlim()
    assert (low, high) == pytest.approx(plain, abs=0.01)
    assert sorted(arrow.get_xdata()[0] for arrow in artists(figure, "beyond")) == [low, high]
    assert "+0.500" in texts(figure)
    assert "An arrow at the edge: the interval goes on beyond the axis." in texts(figure)


def test_nothing_to_compare_is_said():
    figure = compare(
        [Variant("a", estimates([], []), INTERVAL)], subject(), note="Not estimated: b (why)."
    )
    assert "Not estimated: b (why)." in prose(figure)
    assert figure.axes == []
    assert "Not estimated: b (why)." in prose(
        compare([], subject(), note="Not estimated: b (why).")
    )


def test_a_label_with_slice_is_a_variant_for_each_slice():
    rows = [
        (name, "self_bias", "GPT-4o", 0.1, 0.0, 0.2) for name in (None, "Llama 3", "GPT", "Claude")
    ]
    table, palette = spec_table(rows), subject().palette
    entry = {"label": "{slice} judges", "covariance": "HC1", "spec": "a"}
    found = variants_of(entry, table, palette, confidence=0.95)
    assert [one.label for one in found] == ["Claude judges", "GPT judges", "Llama 3 judges"]
    assert found[0].interval == "95 % Wald interval, HC1"
    assert found[1].table["slice"].tolist() == ["GPT"]
    (pooled,) = variants_of({**entry, "label": "GAM"}, table, palette, confidence=0.9)
    assert pooled.table["slice"].isna().tolist() == [True]


def test_an_ordinal_fit_is_compared_by_its_marginal_effects():
    table = spec_table(
        [(None, "self_bias", "GPT-4o", 2.0, 1.0, 3.0), (None, "threshold", "0|1", -1.0, -2.0, 0.0)]
    )
    table.loc[0, ["effect", "effect_ci_low", "effect_ci_high"]] = [0.05, 0.04, 0.06]
    entry = {"label": "ordinal", "covariance": "HC0", "spec": "a"}
    (found,) = variants_of(entry, table, subject().palette, confidence=0.9)
    assert found.table.loc[0, ["estimate", "ci_low", "ci_high"]].tolist() == [0.05, 0.04, 0.06]
    assert found.interval == f"average marginal effect, {INTERVAL}"


def test_what_is_left_out_is_named_with_its_reason():
    table = spec_table([("GPT", "self_bias", "GPT-4o", 0.1, 0.0, 0.2)])
    reasons = gaps(
        ("a", "Claude", NO_ROWS), ("a", "GPT", because(Reason.NO_TERM)), ("b", None, NO_LENGTHS)
    )
    entry = {"label": "{slice} judges", "spec": "a"}
    assert without_variant(entry, table, reasons) == {"Claude judges": NO_ROWS}
    assert without_variant({**entry, "label": "pooled"}, table, reasons) == {}
    other = {"label": "length-controlled", "spec": "b"}
    assert without_variant(other, table[:0], reasons) == {"length-controlled": NO_LENGTHS}


MAIN = [
    (None, "self_bias", "GPT-4o", 0.1, 0.05, 0.15),
    (None, "self_bias", "Claude v2", 0.0, -0.1, 0.1),
]


@pytest.mark.parametrize(
    ("rows", "reason", "said"),
    [
        ([], ("other", None, NO_LENGTHS), "Not estimated: other (the ratings have no lengths)."),
        (
            [(None, "slope", "all judges", 0.1, 0.0, 0.2)],
            ("main", None, NO_ROWS, "family_bias", "GPT"),
            (
                "No self-bias: the spec other has no term for self-bias. "
                "No family-bias: the spec other has no term for family-bias."
            ),
        ),
        (
            [
                (None, "self_bias", "GPT-4o", np.nan, np.nan, np.nan),
                (None, "slope", "GPT-4o", 0.1, 0.0, 0.2),
            ],
            ("other", None, because(Reason.COLLINEAR), "self_bias", "GPT-4o"),
            (
                "No self-bias: GPT-4o (collinear with other terms). No family-bias: the spec other"
                " has no term for family-bias."
            ),
        ),
    ],
    ids=["no estimates", "no such term", "not estimable"],
)
def test_where_only_the_first_has_points_nothing_is_compared(rows, reason, said):
    entries = [{"label": name, "spec": name, "covariance": "HC0"} for name in ("main", "other")]
    tables = [spec_table(MAIN), spec_table(rows)]
    drawn, note = beside_the_first(entries, tables, gaps(reason), subject().palette, confidence=0.9)
    assert drawn == []
    assert note == f"Nothing to compare with: main. {said}"
    _, note = beside_the_first(
        entries, [tables[0][:0], tables[1]], gaps(reason), subject().palette, confidence=0.9
    )
    assert note == said
    drawn, note = beside_the_first(
        entries, [tables[0]] * 2, gaps(), subject().palette, confidence=0.9
    )
    assert [one.label for one in drawn] == ["main", "other"]
    assert note == "No family-bias: the specs main, other have no term for family-bias."


def test_what_there_is_is_drawn_and_the_rest_named():
    tables = {"main": spec_table(MAIN), "without": spec_table(MAIN[:1]), "length": spec_table([])}
    reasons = gaps(("length", None, NO_LENGTHS))
    entries = [{"label": name, "spec": name, "covariance": "HC0"} for name in tables]
    inputs = {"estimates": list(tables.values()), "not_estimable": reasons}
    figure = compare_specs(**inputs, subject=subject(), variants=entries, confidence=0.9)
    assert x_values(artists(figure, "point")) == [0.0, 0.1, 0.1]
    assert "Not estimated: length (the ratings have no lengths)." in prose(figure)
    inputs["estimates"] = inputs["estimates"][::2]
    figure = compare_specs(**inputs, subject=subject(), variants=entries[::2], confidence=0.9)
    assert figure.axes == []
    assert "Nothing to compare with: main." in prose(figure)


def test_shapes_differ_and_begin_anew_when_they_run_out():
    assert len({point["marker"] for point in POINTS}) == len(POINTS) == 9
    points = artists(compared([variant(str(number)) for number in range(10)]), "point")
    assert points[9].get_marker() == points[0].get_marker() == "o"
