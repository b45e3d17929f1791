"""The figures show what the tables hold, and are the same bytes every time."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from drawings import (
    CLUSTERED,
    FAMILIES,
    NULLS,
    PRESENT,
    SIX,
    WALD,
    artists,
    by_slice,
    coefficients,
    drawn_twice,
    estimates,
    gaps,
    scores,
    self_and_family_bias,
    simultaneous,
    subject,
    texts,
)
from recuse.base.errors import DataError
from recuse.plot.colours import NEUTRAL, Palette
from recuse.plot.scores import correlations, mean_scores, mean_scores_by_dimension, shades
from recuse.plot.style import Subject, read

DRAWN = {
    "scores:mean_scores": ({"table": scores()}, {}),
    "scores:mean_scores_by_dimension": ({"table": scores()}, {}),
    "biases:self_family_bias": (
        {"estimates": estimates(), "not_estimable": gaps(), "multiplicity": simultaneous(estimates())},
        {"spec": "a", "simultaneous": CLUSTERED, **WALD},
    ),
    "scores:correlations": ({"table": coefficients()}, {"confidence": 0.9}),
    "slices:ordinal": (
        {"estimates": by_slice(SIX), "not_estimable": gaps()},
        {"spec": "a", "by": "by dimension", "words": "", **WALD},
    ),
}


@pytest.mark.parametrize("draw", DRAWN)
def test_same_bytes_every_time_and_a_title_within(draw, tmp_path):
    tables, settings = DRAWN[draw]
    files = drawn_twice(draw, tmp_path, tables, **settings)
    assert b"/Title" in files["pdf"]
    assert b"CreationDate" not in files["pdf"]
    assert b"<dc:date>" not in files["svg"]
    assert files["png"].startswith(b"\x89PNG")


def test_names_that_look_like_missing_values_are_names(tmp_path):
    models = {name: {"family": "GPT"} for name in NULLS}
    palette = Subject("s", "user", Palette(models, FAMILIES))
    scores(NULLS, judges=[*NULLS, "Human"], models=NULLS).to_csv(tmp_path / "scores.csv", index=False)
    table = read(tmp_path / "scores.csv")
    by_dimension = mean_scores_by_dimension(table, palette)
    assert [axes.get_title(loc="left") for axes in by_dimension.axes if axes.get_title(loc="left")] == NULLS
    pooled = mean_scores(table, palette)
    assert [label.get_text() for label in pooled.axes[0].get_yticklabels()] == [*NULLS, "Human"]
    coefficients(NULLS, judges=NULLS).to_csv(tmp_path / "correlations.csv", index=False)
    figure = correlations(read(tmp_path / "correlations.csv"), palette, confidence=0.9)
    assert [axes.get_title(loc="left") for axes in figure.axes] == NULLS
    estimates(NULLS).to_csv(tmp_path / "estimates.csv", index=False)
    figure = self_and_family_bias(read(tmp_path / "estimates.csv"), palette)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == NULLS


@pytest.mark.parametrize(("dimensions", "panels"), [(SIX, 6), (SIX[:2], 2), (SIX[:1], 1), ([*SIX, "a", "b"], 8)])
def test_own_completions_are_outlined_once_per_judge_and_panel(dimensions, panels):
    figure = mean_scores_by_dimension(scores(dimensions), subject())
    own = artists(figure, "own")
    assert len(own) == panels * len(PRESENT)
    assert [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")] == sorted(dimensions)
    outlined = [to_hex(box.get_edgecolor()).upper() for box in own[: len(PRESENT)]]
    assert outlined == ["#D55E00", "#D55E00", "#009E73", "#E69F00"]
    assert all(int(box.get_x()) == int(box.get_y()) for box in own)  # on the diagonal


def test_pooled_heatmap_shows_every_mean_in_config_order_and_the_humans_apart():
    table = scores()
    (axes,) = mean_scores(table, subject()).axes
    pooled = table[table["dimension"].isna()].set_index(["judge", "model"])["mean"]
    raters = [*PRESENT, "Human"]
    assert [text.get_text() for text in axes.texts] == [f"{pooled[rater, model]:.2f}" for rater in raters for model in PRESENT]
    assert [label.get_text() for label in axes.get_yticklabels()] == raters
    assert [label.get_text() for label in axes.get_xticklabels()] == PRESENT
    (apart,) = [line for line in axes.lines if line.get_gid() == "humans"]
    assert list(apart.get_ydata()) == [len(PRESENT)] * 2


def test_a_missing_mean_is_hatched_not_zero():
    table = scores(SIX[:2])
    table.loc[2, "mean"] = np.nan
    figure = mean_scores(table.drop(index=5), subject())
    assert len(artists(figure, "missing")) == 2
    assert "0.00" not in texts(figure)
    assert "nan" not in " ".join(texts(figure))
    assert "no ratings" in texts(figure)
    assert "no ratings" not in texts(mean_scores(scores(), subject()))


def test_shades_are_by_row():
    block = pd.DataFrame([[0.2, 0.3, 0.4], [0.9, 0.9, 0.9], [0.1, np.nan, 0.5]])
    expected = [[0, 0.5, 1], [0.5, 0.5, 0.5], [0, np.nan, 1]]
    np.testing.assert_allclose(shades(block), expected, atol=1e-12)


def test_no_rows_is_said():
    with pytest.raises(DataError, match="no row to draw"):
        mean_scores_by_dimension(scores([]), subject())


def test_a_judge_that_is_no_model_is_grey_last_and_has_no_box():
    figure = mean_scores(scores(judges=(*PRESENT, "A critic", "Human")), subject())
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [*PRESENT, "A critic", "Human"]
    assert len(artists(figure, "own")) == len(PRESENT)
    figure = self_and_family_bias(estimates([*PRESENT, "A critic"]))
    colours = [point.get_color() for point in figure.axes[0].lines if point.get_gid() == "point"]
    assert colours[-1] == NEUTRAL
    assert "no family in config" in texts(figure)


@pytest.mark.parametrize("dimensions", [SIX, SIX[:2], SIX[:1], [*SIX, "a", "b"]])
def test_correlations_have_a_panel_for_each_dimension(dimensions):
    table = coefficients(dimensions)
    figure = correlations(table, subject(), confidence=0.9)
    assert [axes.get_title(loc="left") for axes in figure.axes] == sorted(dimensions)
    spearman = table[table["statistic"] == "spearman"].set_index(["dimension", "judge"])["value"]
    for axes in figure.axes:
        points = [line.get_xdata()[0] for line in axes.lines if line.get_gid() == "point"]
        assert points == [spearman[axes.get_title(loc="left"), judge] for judge in PRESENT]


def test_a_judge_without_ratings_in_one_dimension_is_said():
    table = coefficients(SIX[:2])
    table = table[(table["dimension"] != SIX[0]) | (table["judge"] != "GPT-4o")]
    assert texts(correlations(table, subject(), confidence=0.9)).count("no ratings") == 1
