"""The curves of the additive model as they are drawn."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from drawings import FAMILIES, INTERVAL, NULLS, PRESENT, SIX, WALD, artists, drawn_twice, is_page_of, subject, texts
from recuse.plot.colours import NEUTRAL
from recuse.plot.scores import NO_BAND, NO_CURVES, smooths
from recuse.plot.style import SMALL, language, read

POINTS = 21


def curves(slices=(None, *SIX[:2]), judges=PRESENT):
    """A table of curves, each rising from 0.1 by slice and judge."""
    rows = [
        (part, judge, reference, 0.1 + 0.02 * number + 0.01 * place + 0.6 * reference)
        for number, part in enumerate(slices)
        for place, judge in enumerate(reversed(judges))
        for reference in np.linspace(0.2, 1, POINTS)
    ]
    table = pd.DataFrame(rows, columns=["slice", "judge", "reference", "value"])
    return table.assign(ci_low=table["value"] - 0.05, ci_high=table["value"] + 0.05)


def titles(figure):
    return [" ".join(axes.get_title(loc="left").split()) for axes in figure.axes]


def test_the_pooled_curves_alone_are_drawn_a_panel_for_each_judge():
    table = curves()
    figure = smooths(table, subject(), **WALD)
    assert titles(figure) == PRESENT
    lines = artists(figure, "curve")
    assert [line.get_color() for line in lines] == [subject().palette.colour(judge) for judge in PRESENT]
    pooled = table[table["slice"].isna()]
    for axes, line, band in zip(figure.axes, lines, artists(figure, "band"), strict=True):
        own = pooled[pooled["judge"] == " ".join(axes.get_title(loc="left").split())]
        np.testing.assert_array_equal(line.get_xydata(), own[["reference", "value"]])
        outline = band.get_paths()[0].vertices
        assert (outline[:, 1].min(), outline[:, 1].max()) == (own["ci_low"].min(), own["ci_high"].max())
        assert (axes.get_xlim(), axes.get_ylim()) == ((-0.04, 1.04), (-0.04, 1.04))
    assert INTERVAL in texts(figure)
    assert "expected rating of another family's completion" in texts(figure)
    assert NO_BAND not in texts(figure)


def test_without_pooled_curves_each_slice_has_a_panel_for_each_judge():
    figure = smooths(curves(SIX[:2]), subject(), **WALD)
    assert titles(figure) == [f"{name}: {judge}" for name in SIX[:2] for judge in PRESENT]
    first = [line.get_ydata()[0] for line in artists(figure, "curve")]
    assert first[len(PRESENT)] - first[0] == pytest.approx(0.02)


def test_a_slice_alone_is_named():
    figure = smooths(curves(SIX[:1]), subject(), **WALD)
    assert titles(figure) == [f"{SIX[0]}: {judge}" for judge in PRESENT]


def test_what_is_missing_is_said():
    table = curves(SIX[:2])
    table = table[(table["slice"] != SIX[1]) | (table["judge"] != "GPT-4o")]
    figure = smooths(table, subject(), **WALD)
    assert texts(figure).count("no curve") == 1
    table = curves([None])
    table.loc[table["judge"] == "GPT-4o", ["ci_low", "ci_high"]] = np.nan
    assert NO_BAND in texts(smooths(table, subject(), **WALD))
    empty = smooths(table[:0], subject(), **WALD)
    assert is_page_of(empty, NO_CURVES)


@pytest.mark.parametrize(
    ("slices", "judges"), [([None], PRESENT), ([None], PRESENT[:1]), (SIX[:1], PRESENT), (SIX[:2], PRESENT)]
)
def test_the_text_of_the_upright_axis_keeps_to_the_panels(slices, judges):
    figure = smooths(curves(slices, judges), subject(), **WALD)
    figure.draw_without_rendering()
    text = next(text for text in figure.texts if text.get_text().startswith("expected rating") and text.get_rotation() == 90)
    assert " ".join(text.get_text().split()) == "expected rating (unit scale 0–1)"
    panels = [axes.get_window_extent() for axes in figure.axes]
    drawn, (left, low) = text.get_window_extent(), (panels[0].x0, min(panel.y0 for panel in panels))
    assert low <= drawn.y0
    assert drawn.y1 <= max(panel.y1 for panel in panels)
    numbers = [label.get_window_extent().x0 for label in figure.axes[0].get_yticklabels()]
    assert drawn.x1 < min(numbers) < left
    names = [one for one in figure.texts if one.get_weight() == "bold" and one.get_rotation() == 90]
    assert all(drawn.x1 < name.get_window_extent().x0 and name.get_window_extent().x1 < min(numbers) for name in names)


def test_one_human_score_is_a_point_with_a_bar():
    table = curves([None])
    table = table[(table["judge"] != "GPT-4o") | (table["reference"] == 1)]
    figure = smooths(table, subject(), **WALD)
    axes = figure.axes[PRESENT.index("GPT-4o")]
    point, bar = (next(line for line in axes.lines if line.get_gid() == gid) for gid in ("curve", "band"))
    row = table[table["judge"] == "GPT-4o"].iloc[0]
    assert point.get_xydata().tolist() == [[1.0, row["value"]]]
    assert point.get_marker() == "o"
    assert list(bar.get_ydata()) == [row["ci_low"], row["ci_high"]]


def test_names_that_look_like_missing_values_and_unknown_judges(tmp_path):
    curves(NULLS, judges=[*NULLS, "A critic"]).to_csv(tmp_path / "smooths.csv", index=False)
    study = subject(models={name: {"family": "GPT"} for name in NULLS})
    figure = smooths(read(tmp_path / "smooths.csv"), study, **WALD)
    assert titles(figure)[:5] == [f"{NULLS[0]}: {judge}" for judge in [*NULLS, "A critic"]]
    assert len(figure.axes) == 5 * len(NULLS)
    assert artists(figure, "curve")[4].get_color() == NEUTRAL
    assert "no family in config" in texts(figure)


@pytest.mark.parametrize("slices", [[None], ["a slice of some length", "incomprehensibilities"]])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_no_text_is_small_off_the_paper_or_broken(slices, count):
    names = ["Incomprehensibilities 1", "unbreakable-name-v2.0", *(f"a model {number}" for number in range(7))][:count]
    study = subject(models={name: {"family": list(FAMILIES)[number % 3]} for number, name in enumerate(names)})
    figure = smooths(curves(slices, names), study, **WALD)
    with language():
        drawn, paper = figure.get_tightbbox(), figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) >= 0
    assert drawn.x1 <= paper[0]
    assert drawn.y1 <= paper[1]
    assert min(text.get_size() for text in figure.findobj(Text)) >= SMALL
    parts = [f"{name}: " if name else "" for name in slices]
    assert titles(figure) == [f"{part}{name}" for part in parts for name in names]
    heads = [
        child.get_window_extent()
        for axes in figure.axes[: len(names)]
        for child in axes.get_children()
        if isinstance(child, Text) and child.get_text() and child.get_text() == axes.get_title(loc="left")
    ]
    assert len(heads) == count
    assert all(left.x1 <= right.x0 for left, right in pairwise(heads) if left.y0 == right.y0)


def test_same_bytes_every_time(tmp_path):
    drawn_twice("scores:smooths", tmp_path, {"table": curves()}, **WALD)
