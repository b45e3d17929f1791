"""Figures of estimators tried on worlds: what is drawn of the tables."""

import numpy as np
import pandas as pd
import pytest

from drawings import artists, drawn_twice, filled, on_paper, subject, texts
from recuse.base.tables import MONTECARLO, WORLDS
from recuse.montecarlo.estimators import TABLES
from recuse.montecarlo.world import DIALS, SIZE, MonteCarloWorld, dials_in_words, world_in_words
from recuse.plot.montecarlo import STATISTICS, _stacked, montecarlo, worlds

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


OF_WORLDS = [
    ("plain", "no complication", "A_CR1", 0, 0.05, 0.1, 0.12, np.nan, 0, np.nan, 0.01, 50),
    ("plain", "no complication", "C_additive", 0, 0.08, 0.1, 0.125, 0.11, 0, 0, 0.01, 50),
    ("plain", "no complication", "C_additive", 0.03, 0.3, 0.4, 0.5, 0.9, 0, 0, 0.01, 50),
    ("plain", "no complication", "C_randomisation", 0, np.nan, np.nan, np.nan, 0.3, np.nan, 0, 0.01, 50),
    ("silent", "no humans", "A_CR1", 0, np.nan, np.nan, np.nan, np.nan, 1, np.nan, np.nan, 50),
    ("silent", "no humans", "C_additive", 0, 0.1, 0.2, 0.9, 0.2, 0.1, 0, 0.01, 50),
]


def worlds_drawn(rows=OF_WORLDS):
    table = pd.DataFrame(rows, columns=WORLDS)
    return worlds(table, subject(), estimators=TRIED, world="Nine models.", confidence=0.9)


def test_worlds_without_self_bias_are_rows_and_estimators_columns():
    figure = worlds_drawn()
    assert [" ".join(axes.get_title(loc="left").split()) for axes in figure.axes] == [
        "A: Equation 1, CR1",
        "C: additive, equal spread",
        "C: mean over judges, randomised",
    ]
    assert labels(figure.axes[0]) == ["no complication", "no humans"]
    additive = [point for point in figure.axes[1].get_lines() if point.get_gid() in ("mean", "pooled")]
    places = [(point.get_gid(), point.get_xdata()[0], point.get_ydata()[0]) for point in additive]
    assert places == [("mean", 0.1, 0), ("pooled", 0.11, 0), ("mean", 0.2, 1), ("pooled", 0.2, 1)]  # not those of 0.03
    assert [filled(point) for point in additive] == [True, True, False, True]
    judges = [bar.get_segments()[0][:, 0].tolist() for bar in artists(figure, "judges")]
    assert [0.08, 0.125] in judges
    assert [0.1, 0.9] in judges
    assert texts(figure).count("refused") == 1  # by A, without human scores
    assert [line.get_xdata()[0] for line in artists(figure, "nominal")] == pytest.approx([0.1] * 3)
    text = " ".join(" ".join(texts(figure)).split())
    assert "at the 10 % level (dashed)" in text
    assert "Nine models. 50 draws of each world." in text
    assert on_paper(figure)


def test_worlds_state_in_how_many_an_estimator_holds_its_level():
    def finding(rows):
        return " ".join(" ".join(texts(worlds_drawn(rows))).split())

    text = finding(OF_WORLDS)
    words = (
        "13 % false alarms for every judge: A: Equation 1, CR1 in 1 of 1 worlds and C: additive, equal spread in 1 of 2 worlds"
    )
    assert words in text
    higher = [(*row[:6], 0.14, *row[7:]) for row in OF_WORLDS]
    assert "A: Equation 1, CR1 in 0 of 2 worlds" in finding(higher)


def test_no_world_without_self_bias_is_said():
    assert "Nothing to draw: no grid has a world without self-bias." in " ".join(texts(worlds_drawn(OF_WORLDS[2:3])))
