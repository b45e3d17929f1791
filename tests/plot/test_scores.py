"""Mean scores, correlations and curves show what the tables hold."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal

from drawings import (
    INTERVAL,
    PRESENT,
    SIX,
    WALD,
    artists,
    coefficients,
    panel_titles,
    prose,
    row_names,
    scores,
    subject,
    texts,
)
from recuse.base.errors import DataError
from recuse.plot.scores import (
    NO_BAND,
    correlations_figure,
    mean_scores_by_dimension,
    mean_scores_figure,
    shades,
    smooths,
)


def drawn(table):
    """The figure of a table of curves."""
    return smooths(table, subject(), **WALD)


def correlation_figure(table):
    return correlations_figure(table, subject(), confidence=0.9)


@pytest.mark.parametrize(("dimensions", "panels"), [(SIX[:1], 1), ([*SIX, "a", "b"], 8)])
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
    (apart,) = artists(axes, "apart")
    assert list(apart.get_ydata()) == [len(PRESENT)] * 2


def test_a_missing_mean_is_hatched_not_zero():
    table = scores(SIX[:2])
    table.loc[2, "mean"] = np.nan
    figure = mean_scores_figure(table.drop(index=5), subject())
    (axes,) = figure.axes
    assert axes.collections[0].get_array().mask.sum() == 2
    assert axes.patch.get_hatch()
    assert "0.00" not in texts(figure)
    assert "nan" not in prose(figure)
    assert "no ratings" in prose(figure)
    assert "no ratings" not in prose(mean_scores_figure(scores(), subject()))


def test_shades_are_by_row():
    block = pd.DataFrame([[0.2, 0.3, 0.4], [0.9, 0.9, 0.9], [0.1, np.nan, 0.5]])
    expected = [[0, 0.5, 1], [0.5, 0.5, 0.5], [0, np.nan, 1]]
    assert_allclose(shades(block), expected, atol=1e-12)


def test_own_answers_have_the_highest_mean_of_a_judge_in_one_dimension():
    table = pd.DataFrame({"dimension": [*"xxyy"], "mean": [0.5, 0.4, 0.6, 0.9]})
    table = table.assign(judge="GPT-4o", model=["GPT-4o", "Claude v2"] * 2)
    words = "The judge's own answers have its highest mean in 1 of 2 rows"
    assert words in prose(mean_scores_by_dimension(table, subject()))


def test_no_rows_is_said():
    with pytest.raises(DataError, match="no row to draw"):
        mean_scores_by_dimension(scores([]), subject())


def test_a_judge_that_is_no_model_is_last_and_has_no_box():
    figure = mean_scores_figure(scores(judges=(*PRESENT, "A critic", "Human")), subject())
    assert row_names(figure.axes[0]) == [*PRESENT, "A critic", "Human"]
    assert len(artists(figure, "own")) == len(PRESENT)


def test_a_judge_without_ratings_in_one_dimension_is_said():
    table = coefficients(SIX[:2])
    table = table[(table["dimension"] != SIX[0]) | (table["judge"] != "GPT-4o")]
    assert texts(correlation_figure(table)).count("no ratings") == 1


def test_judges_follow_humans_by_the_mean_of_spearmans_correlation():
    table = coefficients(SIX[:2])
    table = table[table["judge"].isin(["GPT-4o", "Claude v2"])].sort_values(["statistic", "judge"])
    table["value"] = [0.9, 0.9, 0, 0, 0.1, 0.1, 0.8, 0.8, 0.1, 0.9, 0.2, 0.4]
    words = "Claude v2 follows the humans most (mean correlation 0.50), GPT-4o least (0.30)"
    assert words in prose(correlation_figure(table))


def curves(slices=(None, *SIX[:2])):
    """A table of curves, each rising from 0.1 by slice and judge."""
    parts = pd.DataFrame({"slice": slices, "number": range(len(slices))}).astype({"slice": object})
    lines = pd.DataFrame({"judge": PRESENT[::-1], "place": range(len(PRESENT))})
    points = pd.DataFrame({"reference": np.linspace(0.2, 1, 21)})
    table = parts.merge(lines, how="cross").merge(points, how="cross")
    value = 0.1 + 0.02 * table["number"] + 0.01 * table["place"] + 0.6 * table["reference"]
    return table.assign(value=value, ci_low=value - 0.05, ci_high=value + 0.05)


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
    assert f"band: {INTERVAL}" in prose(figure)
    assert NO_BAND not in texts(figure)


@pytest.mark.parametrize("slices", [SIX[:1], SIX[:2]])
def test_without_pooled_curves_each_slice_has_a_panel_for_each_judge(slices):
    figure = drawn(curves(slices))
    assert titles(figure) == [f"{name}: {judge}" for name in slices for judge in PRESENT]
    first = [line.get_ydata()[0] for line in artists(figure, "curve")][:: len(PRESENT)]
    assert np.diff(first) == pytest.approx([0.02] * (len(slices) - 1))


def test_ratings_rise_from_the_lowest_to_the_highest_human_score():
    table = curves([None])
    rise = "From the lowest to the highest human score, expected ratings rise by"
    assert f"{rise} 0.48 (" in prose(drawn(table))
    table["value"] = table["value"].where(table["judge"] != "GPT-4o", 1 - table["value"])
    assert f"{rise} −0.48 (GPT-4o) to 0.48 (" in prose(drawn(table.sample(frac=1, random_state=0)))


def test_one_human_score_is_a_point_with_a_bar():
    table = curves([None])
    table = table[(table["judge"] != "GPT-4o") | (table["reference"] == 1)]
    figure = drawn(table)
    axes = figure.axes[PRESENT.index("GPT-4o")]
    (point,), (bar,) = artists(axes, "point"), artists(axes, "interval")
    row = table[table["judge"] == "GPT-4o"].iloc[0]
    assert point.get_xydata().tolist() == [[1.0, row["value"]]]
    assert point.get_marker() == "o"
    (ends,) = (segment[:, 1] for segment in bar.get_segments())
    assert list(ends) == [row["ci_low"], row["ci_high"]]
