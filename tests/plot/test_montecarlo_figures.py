"""Figures of estimators tried on worlds: what is drawn of the tables."""

import numpy as np
import pandas as pd
import pytest

from drawings import artists, drawn_twice, on_paper, subject, texts
from recuse.base.tables import MONTECARLO
from recuse.montecarlo.estimators import TABLES
from recuse.montecarlo.world import DIALS, SIZE, MonteCarloWorld, dials_in_words, world_in_words
from recuse.plot.montecarlo import STATISTICS, _stacked, montecarlo

TITLES = {"preference": "preference of single judges", "prompts": "more prompts", "none": "not in the table"}
TRIED = ["A_CR1", "A_bounds", "C_additive", "C_randomisation"]
GRIDS = {grid: {"title": title, "dials": [f"dial: of {grid}"], "estimators": TRIED} for grid, title in TITLES.items()}


def table(name, value=0.3):
    statistic = TABLES[name][0][0]
    rows = [
        (grid, dial, setting, estimator, "A: x", quantity, term, 0.0, statistic, value + place / 100, 0.01, 50)
        for grid, dial, settings in (("preference", "preference", (0, 0.018)), ("prompts", "prompts", (30, 100, 600)))
        for setting in settings
        for place, estimator in enumerate(("A_CR1", "C_additive", "C_randomisation"))
        for quantity, term in (
            ("self_bias", "Model 1"),
            ("self_bias", "Model 2"),
            ("self_bias", np.nan),
            ("family_bias", np.nan),
        )
        if estimator != "C_randomisation"
    ]
    if name != "bias":
        rows += [
            ("preference", "preference", 0, "C_randomisation", "C: x", "self_bias", "all judges", 0.0, statistic, 0.9, 0.01, 50)
        ]
    return pd.DataFrame(rows, columns=MONTECARLO)


def drawn(name, rows=None):
    rows = table(name) if rows is None else rows
    return montecarlo(rows, subject(), name=name, grids=GRIDS, world="Nine models.", confidence=0.9)


def labels(axes):
    return [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]


@pytest.mark.parametrize("name", TABLES)
def test_a_panel_for_each_grid_a_row_for_each_estimator_and_a_point_for_each_world(name):
    figure = drawn(name)
    assert [text for text in texts(figure) if text in TITLES.values()] == ["preference of single judges", "more prompts"]
    assert {"dial: of preference", "dial: of prompts"} <= set(texts(figure))
    assert labels(figure.axes[1]) == ["A: Equation 1, CR1", "C: additive, equal spread"]
    lines = artists(figure, "A_CR1")
    assert [len(line.get_xdata()) for line in lines] == [2, 3]
    assert lines[0].get_xdata() == pytest.approx([0.3, 0.3])
    heights = lines[1].get_ydata()
    assert heights == pytest.approx(np.sort(heights))
    assert (np.abs(heights) < 0.5).all()
    points = artists(figure, "point")
    assert len({point.get_color() for point in points[:2]}) == 2  # from pale to dark
    assert len(artists(figure, "nominal")) == (0 if name == "power" else 2)
    assert "SIMULATED DATA" in texts(figure)
    assert "Nine models. 50 draws of each world." in " ".join(texts(figure))
    assert on_paper(figure)


def test_bars_are_two_monte_carlo_errors_on_each_side():
    bars = artists(drawn("size"), "errors")[0].get_segments()
    assert [bar[:, 0].tolist() for bar in bars] == [pytest.approx([0.28, 0.32])] * 2


def test_a_test_of_the_mean_over_judges_is_drawn_where_it_is_all_there_is():
    figure = drawn("size")
    (mean,) = artists(figure, "C_randomisation")
    assert mean.get_xdata().tolist() == [0.9]
    assert [labels(axes)[-1] for axes in figure.axes] == ["C: mean over judges, randomised", "C: additive, equal spread"]


def test_a_test_of_all_biases_at_once_is_drawn_as_how_often_it_finds_any():
    """Not as the share of judges that it finds, which is small by design."""
    about = ("preference", "preference", 0, "A_max_t", "A: x")
    rows = [
        (*about, "self_bias", np.nan, 0.0, statistic, value, 0.01, 50)
        for statistic, value in (("rejected", 0.01), ("any_rejected", 0.07))
    ]
    rows.append((*about, "biases", np.nan, 0.0, "any_rejected", 0.11, 0.01, 50))
    figure = drawn("size", pd.concat([table("size"), pd.DataFrame(rows, columns=MONTECARLO)]))
    (line,) = artists(figure, "A_max_t")
    assert line.get_xdata().tolist() == [0.11]
    assert "Any of all: the share of draws in which at least one self- or family-bias is called so." in " ".join(texts(figure))


def test_an_estimator_that_does_not_answer_is_named_with_the_panels_where_it_does_elsewhere():
    """Also one that has no row at all in the table."""
    text = " ".join(texts(drawn("size")))
    silent = "A: bounds by missing own ratings, CR1"
    assert f"Tried, without a result: {silent} and C: mean over judges, randomised (more prompts)." in text
    rows = table("size")
    rows.loc[rows["estimator"] == "C_additive", "statistic"] = "answered"
    text = " ".join(texts(drawn("size", rows)))
    assert f"Tried, without a result: {silent}, C: additive, equal spread and C: mean over judges, randomised (more" in text


def test_each_panel_has_ends_of_its_own_about_the_nominal_share_and_shows_the_band():
    rows = table("size", value=0.1)
    rows.loc[rows["grid"] == "prompts", "value"] = 0.6
    near, far = drawn("size", rows).axes  # on the first, one point lies at 0.9
    for axes, most in ((near, 1.0), (far, 0.72)):
        low, high = axes.get_xlim()
        assert 0.02 < low < 0.05
        assert 0.62 < high < most
        places = axes.transData.transform([[0.08, 0], [0.12, 0], [low, 0], [high, 0]])[:, 0]
        assert (places[1] - places[0]) / (places[3] - places[2]) > 0.075
        assert "10" in [label.get_text() for label in axes.get_xticklabels()]
    assert drawn("size", table("size", value=0.1).query("estimator != 'C_randomisation'")).axes[0].get_xlim()[1] < 0.2


def test_axes_give_back_what_they_are_given():
    values = np.array([0.0, 0.01, 0.1, 0.9, 1.0])
    for statistic in STATISTICS.values():
        there, back = statistic.scale
        assert back(there(values)) == pytest.approx(values)
        assert (np.diff(there(values)) > 0).all()


def test_bias_is_of_the_last_judge():
    rows = table("bias")
    rows.loc[rows["term"] == "Model 2", "value"] = -0.05
    assert artists(drawn("bias", rows), "A_CR1")[0].get_xdata().tolist() == [-0.05, -0.05]


def test_panels_stand_below_one_another_in_the_emptier_column():
    assert _stacked({"a": 2.0, "b": 1.0, "c": 0.5, "d": 1.0}, 2) == {"a": (0, 2.0), "b": (1, 1.0), "c": (1, 1.5), "d": (1, 2.5)}


def test_the_world_and_the_dials_of_a_grid_are_put_into_words():
    world = {"families": [3, 2], "prompts": 100, "dimensions": 6, "intercept": 0.3, "slope": 0.5, "noise": 0.25}
    assert "5 models of 2 families rate one another on 100 prompts in 6 dimensions, 0.3 + 0.5 times" in world_in_words(world)
    assert f"0.25, with {DIALS['preference']} 0.1; models are" in world_in_words(world | {"preference": 0.1})
    grid = {"dial": "prompts", "values": [30, 600], "world": {"preference": 0.018, "ceiling": True}}
    assert dials_in_words(grid) == ["prompts: 30, 600", f"with {DIALS['preference']} 0.018; {DIALS['ceiling']}"]
    assert dials_in_words(grid | {"world": {}}) == ["prompts: 30, 600"]


def test_every_dial_has_words():
    assert {*DIALS, *SIZE} == set(MonteCarloWorld.__dataclass_fields__)


def test_nothing_to_draw_is_said():
    assert "Nothing to draw: no world of the grids has this statistic." in " ".join(
        " ".join(texts(drawn("power", table("power")[:0]))).split()
    )


def test_script_draws_the_same_bytes(tmp_path):
    study = {"label": "simulated worlds", "kind": "simulated", "models": {}, "families": {}}
    settings = {"name": "size", "grids": GRIDS, "world": "", "confidence": 0.9}
    drawn_twice("montecarlo:montecarlo", tmp_path, {"table": table("size")}, study, **settings)
