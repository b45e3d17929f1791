"""Several specs on one axis: which point stands where, and what is said where there is none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from drawings import (
    INTERVAL,
    artists,
    estimates,
    gaps,
    prose,
    spec_table,
    subject,
    texts,
    x_values,
)
from recuse.base.reasons import Reason, because
from recuse.plot.biases import (
    GAPS,
    Variant,
    beside_the_first,
    compare,
    compare_specs,
    spec_variants,
)

JUDGES = [f"judge {number}" for number in range(20)]

NO_ROWS, NO_LENGTHS = because(Reason.NO_ROWS), because(Reason.NO_LENGTHS)


def variant(label="Equation 1", shift=0.0, interval=INTERVAL, **settings):
    table = estimates(**settings)
    table[["estimate", "ci_low", "ci_high"]] += shift
    return Variant(label, table, interval)


def compared(variants):
    return compare(variants, subject())


def test_each_variant_has_a_point_of_its_shape_and_its_label_in_the_key():
    shifts = {"Equation 1": 0.0, "length control": 0.004, "third": -0.02}
    variants = [variant(label, shift) for label, shift in shifts.items()]
    slope = spec_table([(None, "slope", "GPT-4o", 0.9, 0.8, 1.0)])
    with_slope = pd.concat([variants[0].table, slope])
    figure = compared([replace(variants[0], table=with_slope), *variants[1:]])
    (axes,) = figure.axes
    assert [text for text in texts(figure) if text in shifts] == [*shifts]
    for number, (shift, marker) in enumerate(zip(shifts.values(), "os^", strict=True)):
        points = artists(axes, str(number))
        assert x_values(points) == pytest.approx(estimates()["estimate"] + shift)
        assert {point.get_marker() for point in points} == {marker}
        offsets = [
            point.get_ydata()[0] - at for point, at in zip(points, axes.get_yticks(), strict=True)
        ]
        assert offsets == pytest.approx([0.085 * (number - 1)] * 6)
    text = prose(figure)
    assert f"rating points on the unit scale 0–1; {INTERVAL}; filled" in text
    assert "the same conclusion about 2 of 6 judges and families, not GPT-4o, Llama 3 8B" in text
    assert GAPS not in text


def test_a_variant_without_an_estimate_leaves_a_gap_and_the_foot_says_so():
    one, two = variant(), variant("other (of another error)", 0.001)
    two.table.loc[1, ["estimate", "ci_low", "ci_high"]] = np.nan
    figure = compared([one, Variant("other", two.table.drop(index=0), "classical interval")])
    assert len(artists(figure, "0")) == 6
    assert len(artists(figure, "1")) == 4
    assert GAPS in prose(figure)
    assert "not estimable" not in texts(figure)
    assert "other (classical interval)" in prose(figure)  # intervals that differ are named
    one.table.loc[1, ["estimate", "ci_low", "ci_high"]] = np.nan
    assert texts(compared([one, two])).count("not estimable") == 1


def test_a_label_with_slice_is_a_variant_for_each_slice():
    rows = [
        (name, "self_bias", "GPT-4o", 0.1, 0.0, 0.2) for name in (None, "Llama 3", "GPT", "Claude")
    ]
    table, palette = spec_table(rows), subject().palette
    entry = {"label": "{slice} judges", "covariance": "HC1", "spec": "a"}
    found = spec_variants(entry, table, palette, confidence=0.95)
    assert [one.label for one in found] == ["Claude judges", "GPT judges", "Llama 3 judges"]
    assert found[0].interval == "95 % Wald interval, HC1"
    assert found[1].table["slice"].tolist() == ["GPT"]
    (pooled,) = spec_variants({**entry, "label": "GAM"}, table, palette, confidence=0.9)
    assert pooled.table["slice"].isna().tolist() == [True]


def test_an_ordinal_fit_is_compared_by_its_marginal_effects():
    table = spec_table(
        [(None, "self_bias", "GPT-4o", 2.0, 1.0, 3.0), (None, "threshold", "0|1", -1.0, -2.0, 0.0)]
    )
    table.loc[0, ["effect", "effect_ci_low", "effect_ci_high"]] = [0.05, 0.04, 0.06]
    entry = {"label": "ordinal", "covariance": "HC0", "spec": "a"}
    (found,) = spec_variants(entry, table, subject().palette, confidence=0.9)
    assert found.table.loc[0, ["estimate", "ci_low", "ci_high"]].tolist() == [0.05, 0.04, 0.06]
    assert found.interval == f"average marginal effect, {INTERVAL}"


def test_what_is_left_out_is_named_with_its_reason():
    table = spec_table([("GPT", "self_bias", "GPT-4o", 0.1, 0.0, 0.2)])
    reasons = gaps(
        ("a", "Claude", NO_ROWS), ("a", "GPT", because(Reason.NO_TERM)), ("b", None, NO_LENGTHS)
    )
    missing = "Claude judges (", "other (the ratings have no lengths)"
    for label, named in (("{slice} judges", missing), ("pooled", missing[1:])):
        entries = [
            {"label": label, "spec": "a", "covariance": "HC0"},
            {"label": "other", "spec": "b", "covariance": "HC0"},
        ]
        tables = [table, table[:0]]
        _, note = beside_the_first(entries, tables, reasons, subject().palette, confidence=0.9)
        assert [words in note for words in missing] == [words in named for words in missing]
        assert "GPT judges (" not in note


MAIN = [
    (None, "self_bias", "GPT-4o", 0.1, 0.05, 0.15),
    (None, "self_bias", "Claude v2", 0.0, -0.1, 0.1),
]


def test_where_only_the_first_has_points_nothing_is_compared():
    entries = [{"label": name, "spec": name, "covariance": "HC0"} for name in ("main", "other")]
    main, other = spec_table(MAIN), spec_table([(None, "slope", "all judges", 0.1, 0.0, 0.2)])

    def compared(*tables):
        drawn, note = beside_the_first(entries, tables, gaps(), subject().palette, confidence=0.9)
        return [one.label for one in drawn], note

    said = (
        "No self-bias: the spec other has no term for self-bias. "
        "No family-bias: the spec other has no term for family-bias."
    )
    assert compared(main, other) == ([], f"Nothing to compare with: main. {said}")
    none = "No family-bias: the specs main, other have no term for family-bias."
    assert compared(main, main) == (["main", "other"], none)


def test_what_there_is_is_drawn_and_the_rest_named():
    tables = {"main": spec_table(MAIN), "without": spec_table(MAIN[:1]), "length": spec_table([])}
    reasons = gaps(("length", None, NO_LENGTHS))
    entries = [{"label": name, "spec": name, "covariance": "HC0"} for name in tables]
    inputs = {"estimates": list(tables.values()), "not_estimable": reasons}
    figure = compare_specs(**inputs, subject=subject(), variants=entries, confidence=0.9)
    assert [x_values(artists(figure, kind)) for kind in "01"] == [[0.1, 0.0], [0.1]]
    assert "Not estimated: length (the ratings have no lengths)." in prose(figure)
    inputs["estimates"] = inputs["estimates"][::2]
    figure = compare_specs(**inputs, subject=subject(), variants=entries[::2], confidence=0.9)
    assert "Nothing to compare with: main." in prose(figure)
