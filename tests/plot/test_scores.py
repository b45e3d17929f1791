"""Mean scores, correlations and curves show what the tables hold."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from numpy.testing import assert_allclose, assert_array_equal

from drawings import (
    FAMILIES,
    INTERVAL,
    NULLS,
    PRESENT,
    SIX,
    SUBJECT,
    WALD,
    artists,
    coefficients,
    estimates,
    is_page_of,
    on_paper,
    panel_titles,
    prose,
    row_names,
    scores,
    self_and_family_bias,
    subject,
    texts,
    x_values,
)
from recuse.base.errors import DataError
from recuse.plot.colours import NEUTRAL, Palette
from recuse.plot.scores import (
    NO_BAND,
    NO_CURVES,
    correlations_figure,
    mean_scores_by_dimension,
    mean_scores_figure,
    shades,
    smooths,
)
from recuse.plot.style import PAGE, Subject, read_figure_table


def drawn(table):
    """The figure of a table of curves."""
    return smooths(table, subject(), **WALD)


def correlation_figure(table):
    return correlations_figure(table, subject(), confidence=0.9)


def test_names_that_look_like_missing_values_are_names(tmp_path):
    models = {name: {"family": "GPT"} for name in NULLS}
    palette = Subject("s", "user", Palette(models, FAMILIES))
    scores(NULLS, judges=[*NULLS, "Human"], models=NULLS).to_csv(
        tmp_path / "scores.csv", index=False
    )
    table = read_figure_table(tmp_path / "scores.csv")
    by_dimension = mean_scores_by_dimension(table, palette)
    assert [title for title in panel_titles(by_dimension) if title] == NULLS
    pooled = mean_scores_figure(table, palette)
    assert row_names(pooled.axes[0]) == [*NULLS, "Human"]
    coefficients(NULLS, judges=NULLS).to_csv(tmp_path / "correlations.csv", index=False)
    figure = correlations_figure(
        read_figure_table(tmp_path / "correlations.csv"), palette, confidence=0.9
    )
    assert panel_titles(figure) == NULLS
    estimates(NULLS).to_csv(tmp_path / "estimates.csv", index=False)
    figure = self_and_family_bias(read_figure_table(tmp_path / "estimates.csv"), palette)
    assert row_names(figure.axes[0]) == NULLS


@pytest.mark.parametrize(
    ("dimensions", "panels"), [(SIX, 6), (SIX[:2], 2), (SIX[:1], 1), ([*SIX, "a", "b"], 8)]
)
def test_own_completions_are_outlined_once_per_judge_and_panel(dimensions, panels):
    figure = mean_scores_by_dimension(scores(dimensions), subject())
    own = artists(figure, "own")
    assert len(own) == panels * len(PRESENT)
    assert [title for title in panel_titles(figure) if title] == sorted(dimensions)
    outlined = [to_hex(box.get_edgecolor()).upper() for box in own[: len(PRESENT)]]
    assert outlined == ["#D55E00", "#D55E00", "#009E73", "#E69F00"]
    assert all(int(box.get_x()) == int(box.get_y()) for box in own)  # on the diagonal


def test_pooled_heatmap_shows_every_mean_in_config_order_and_the_humans_apart():
    table = scores()
    (axes,) = mean_scores_figure(table, subject()).axes
    pooled = table[table["dimension"].isna()].set_index(["judge", "model"])["mean"]
    raters = [*PRESENT, "Human"]
    assert [text.get_text() for text in axes.texts] == [
        f"{pooled[rater, model]:.2f}" for rater in raters for model in PRESENT
    ]
    assert row_names(axes) == raters
    assert [label.get_text() for label in axes.get_xticklabels()] == PRESENT
    (apart,) = artists(axes, "humans")
    assert list(apart.get_ydata()) == [len(PRESENT)] * 2


def test_a_missing_mean_is_hatched_not_zero():
    table = scores(SIX[:2])
    table.loc[2, "mean"] = np.nan
    figure = mean_scores_figure(table.drop(index=5), subject())
    assert len(artists(figure, "missing")) == 2
    assert "0.00" not in texts(figure)
    assert "nan" not in prose(figure)
    assert "no ratings" in texts(figure)
    assert "no ratings" not in texts(mean_scores_figure(scores(), subject()))


def test_shades_are_by_row():
    block = pd.DataFrame([[0.2, 0.3, 0.4], [0.9, 0.9, 0.9], [0.1, np.nan, 0.5]])
    expected = [[0, 0.5, 1], [0.5, 0.5, 0.5], [0, np.nan, 1]]
    assert_allclose(shades(block), expected, atol=1e-12)


def test_no_rows_is_said():
    with pytest.raises(DataError, match="no row to draw"):
        mean_scores_by_dimension(scores([]), subject())


def test_a_judge_that_is_no_model_is_grey_last_and_has_no_box():
    figure = mean_scores_figure(scores(judges=(*PRESENT, "A critic", "Human")), subject())
    assert row_names(figure.axes[0]) == [*PRESENT, "A critic", "Human"]
    assert len(artists(figure, "own")) == len(PRESENT)
    figure = self_and_family_bias(estimates([*PRESENT, "A critic"]))
    colours = [point.get_color() for point in artists(figure.axes[0], "point")]
    assert colours[-1] == NEUTRAL


def test_no_figure_of_many_dimensions_is_taller_than_a_page():
    names = [f"dimension {number:02}" for number in range(30)]
    for figure, panels in (
        (mean_scores_by_dimension(scores(names), subject()), 30),
        (correlation_figure(coefficients(names)), 30),
        (drawn(curves(names[:20])), 20 * len(PRESENT)),
    ):
        assert figure.get_size_inches()[1] <= PAGE
        cut = [
            text
            for text in texts(figure)
            if text.startswith(f"Shown: the first {len(figure.axes)} of ")
        ]
        assert len(cut) == (0 if len(figure.axes) == panels else 1)
        assert on_paper(figure)


def test_judges_and_models_without_a_family_have_a_colour_each():
    names = [f"model {number}" for number in range(30)]
    tables = [
        pd.DataFrame({"judge": names[:20]}),
        pd.DataFrame({"model": [*names, "GPT-4o", "Human", None]}),
    ]
    palette = Subject.from_config(**SUBJECT, tables=tables).palette
    assert (
        len(
            {
                palette.colour(name)
                for name in (*names, "Human", "GPT-4o", "Claude v2", "Llama 3 8B")
            }
        )
        == 34
    )
    assert palette.colour("Human") == NEUTRAL
    few = Subject.from_config(
        **SUBJECT, tables=[pd.DataFrame({"judge": ["model 0", "model 9"]})]
    ).palette
    assert few.colour("model 0") == Subject.from_config(
        **SUBJECT, tables=[pd.DataFrame({"judge": names[:1]})]
    ).palette.colour("model 0")


@pytest.mark.parametrize("dimensions", [SIX, SIX[:2], SIX[:1], [*SIX, "a", "b"]])
def test_correlations_have_a_panel_for_each_dimension(dimensions):
    table = coefficients(dimensions)
    figure = correlation_figure(table)
    assert panel_titles(figure) == sorted(dimensions)
    spearman = table[table["statistic"] == "spearman"].set_index(["dimension", "judge"])["value"]
    for axes in figure.axes:
        points = x_values(artists(axes, "point"))
        assert points == [spearman[axes.get_title(loc="left"), judge] for judge in PRESENT]


def test_a_judge_without_ratings_in_one_dimension_is_said():
    table = coefficients(SIX[:2])
    table = table[(table["dimension"] != SIX[0]) | (table["judge"] != "GPT-4o")]
    assert texts(correlation_figure(table)).count("no ratings") == 1


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
    return [" ".join(title.split()) for title in panel_titles(figure)]


def test_the_pooled_curves_alone_are_drawn_a_panel_for_each_judge():
    table = curves()
    figure = drawn(table)
    assert titles(figure) == PRESENT
    lines = artists(figure, "curve")
    assert [line.get_color() for line in lines] == [
        subject().palette.colour(judge) for judge in PRESENT
    ]
    pooled = table[table["slice"].isna()]
    for axes, line, band in zip(figure.axes, lines, artists(figure, "band"), strict=True):
        own = pooled[pooled["judge"] == " ".join(axes.get_title(loc="left").split())]
        assert_array_equal(line.get_xydata(), own[["reference", "value"]])
        outline = band.get_paths()[0].vertices
        assert (outline[:, 1].min(), outline[:, 1].max()) == (
            own["ci_low"].min(),
            own["ci_high"].max(),
        )
        assert (axes.get_xlim(), axes.get_ylim()) == ((-0.04, 1.04), (-0.04, 1.04))
    assert INTERVAL in texts(figure)
    assert "expected rating of another family's completion" in texts(figure)
    assert NO_BAND not in texts(figure)


@pytest.mark.parametrize("slices", [SIX[:1], SIX[:2]])
def test_without_pooled_curves_each_slice_has_a_panel_for_each_judge(slices):
    figure = drawn(curves(slices))
    assert titles(figure) == [f"{name}: {judge}" for name in slices for judge in PRESENT]


def test_each_curve_is_that_of_its_slice():
    figure = drawn(curves(SIX[:2]))
    first = [line.get_ydata()[0] for line in artists(figure, "curve")]
    assert first[len(PRESENT)] - first[0] == pytest.approx(0.02)


def test_what_is_missing_is_said():
    table = curves(SIX[:2])
    table = table[(table["slice"] != SIX[1]) | (table["judge"] != "GPT-4o")]
    figure = drawn(table)
    assert texts(figure).count("no curve") == 1
    table = curves([None])
    table.loc[table["judge"] == "GPT-4o", ["ci_low", "ci_high"]] = np.nan
    assert NO_BAND in texts(drawn(table))
    empty = drawn(table[:0])
    assert is_page_of(empty, NO_CURVES)


@pytest.mark.parametrize(
    ("slices", "judges"),
    [([None], PRESENT), ([None], PRESENT[:1]), (SIX[:1], PRESENT), (SIX[:2], PRESENT)],
)
def test_the_text_of_the_upright_axis_keeps_to_the_panels(slices, judges):
    figure = drawn(curves(slices, judges))
    figure.draw_without_rendering()
    text = next(
        text
        for text in figure.texts
        if text.get_text().startswith("expected rating") and text.get_rotation() == 90
    )
    assert " ".join(text.get_text().split()) == "expected rating"
    panels = [axes.get_window_extent() for axes in figure.axes]
    words, (left, low) = text.get_window_extent(), (panels[0].x0, min(panel.y0 for panel in panels))
    assert low <= words.y0
    assert words.y1 <= max(panel.y1 for panel in panels)
    numbers = [label.get_window_extent().x0 for label in figure.axes[0].get_yticklabels()]
    assert words.x1 < min(numbers) < left
    names = [one for one in figure.texts if one.get_weight() == "bold" and one.get_rotation() == 90]
    assert all(
        words.x1 < name.get_window_extent().x0 and name.get_window_extent().x1 < min(numbers)
        for name in names
    )


def test_one_human_score_is_a_point_with_a_bar():
    table = curves([None])
    table = table[(table["judge"] != "GPT-4o") | (table["reference"] == 1)]
    figure = drawn(table)
    axes = figure.axes[PRESENT.index("GPT-4o")]
    point, bar = (
        next(line for line in axes.lines if line.get_gid() == gid) for gid in ("curve", "band")
    )
    row = table[table["judge"] == "GPT-4o"].iloc[0]
    assert point.get_xydata().tolist() == [[1.0, row["value"]]]
    assert point.get_marker() == "o"
    assert list(bar.get_ydata()) == [row["ci_low"], row["ci_high"]]


def test_names_that_look_like_missing_values_and_unknown_judges(tmp_path):
    curves(NULLS, judges=[*NULLS, "A critic"]).to_csv(tmp_path / "smooths.csv", index=False)
    study = subject(models={name: {"family": "GPT"} for name in NULLS})
    figure = smooths(read_figure_table(tmp_path / "smooths.csv"), study, **WALD)
    assert titles(figure)[:5] == [f"{NULLS[0]}: {judge}" for judge in [*NULLS, "A critic"]]
    assert len(figure.axes) == 5 * len(NULLS)
    assert artists(figure, "curve")[4].get_color() == NEUTRAL


@pytest.mark.parametrize("slices", [[None], ["a slice of some length", "incomprehensibilities"]])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_no_text_is_small_off_the_paper_or_broken(slices, count):
    names = [
        "Incomprehensibilities 1",
        "unbreakable-name-v2.0",
        *(f"a model {number}" for number in range(7)),
    ][:count]
    study = subject(
        models={name: {"family": list(FAMILIES)[number % 3]} for number, name in enumerate(names)}
    )
    figure = smooths(curves(slices, names), study, **WALD)
    assert on_paper(figure)
    parts = [f"{name}: " if name else "" for name in slices]
    assert titles(figure) == [f"{part}{name}" for part in parts for name in names]
    heads = [
        child.get_window_extent()
        for axes in figure.axes[: len(names)]
        for child in axes.get_children()
        if isinstance(child, Text)
        and child.get_text()
        and child.get_text() == axes.get_title(loc="left")
    ]
    assert len(heads) == count
    assert all(left.x1 <= right.x0 for left, right in pairwise(heads) if left.y0 == right.y0)
