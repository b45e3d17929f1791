"""The figure of worlds: what is drawn of its table, and how worlds are put into words."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

from drawings import artists, filled, prose, subject, texts, x_values
from recuse.validation.estimators import WORLDS, world_titles
from recuse.validation.figure import worlds
from recuse.validation.world import DIALS, SIZE, MonteCarloWorld, world_in_words


def labels(axes):
    return [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]


def test_worlds_are_put_into_words():
    world = {
        "families": [3, 2],
        "prompts": 100,
        "dimensions": 6,
        "intercept": 0.3,
        "slope": 0.5,
        "noise": 0.25,
    }
    assert (
        "5 models of 2 families rate one another on 100 prompts in 6 dimensions, 0.3 + 0.5 times"
        in world_in_words(world)
    )
    assert f"0.25, with {DIALS['preference']} 0.1; models are" in world_in_words(
        world | {"preference": 0.1}
    )
    assert f"{DIALS['hole']}; models are" in world_in_words(world | {"hole": True})


def test_worlds_in_the_table_are_those_of_grids_without_estimators_of_their_own():
    grids = {
        "equal": {"title": "equal", "dial": "self_bias", "values": [0, 0.03]},
        "small": {"title": "small", "dial": "preference", "values": [0.018, 0.03]},
        "one": {"title": "one", "dial": "preference", "values": [0.018]},
        "errors": {"title": "errors", "dial": "prompts", "values": [30], "estimators": ["A_CR1"]},
    }
    small = {f"small/{value}": f"small, {DIALS['preference']} {value}" for value in (0.018, 0.03)}
    titles = {"equal/0": "equal", "equal/0.03": "equal", **small, "one/0.018": "one"}
    assert world_titles({"grids": grids}) == titles


def test_every_dial_has_words():
    assert {*DIALS, *SIZE} == set(MonteCarloWorld.model_fields)


OF_WORLDS = pd.read_csv(
    StringIO("""plain,no complication,A_CR1,0,0.05,0.1,0.12,0.2,0.3,,0,,0.01,50
plain,no complication,C_mixed,0,0.08,0.1,0.125,0.2,0.3,0.11,0,0,0.01,50
plain,no complication,C_mixed,0.03,0.3,0.4,0.5,0.2,0.3,0.9,0,0,0.01,50
plain,no complication,established,0,,,,0.2,0.3,0.3,,0,0.01,50
silent,no humans,A_CR1,0,,,,0.2,0.3,,1,,,50
silent,no humans,C_mixed,0,0.1,0.2,0.9,0.2,0.3,0.2,0.1,0,0.01,50
"""),
    names=WORLDS,
)


def worlds_drawn(table=OF_WORLDS):
    return worlds(
        table,
        subject(),
        estimators=["A_CR1", "C_mixed", "established"],
        world="Nine models.",
        confidence=0.9,
    )


def test_worlds_without_self_bias_are_rows_and_estimators_columns():
    figure = worlds_drawn()
    assert [" ".join(axes.get_title(loc="left").split()) for axes in figure.axes] == [
        "A: Equation 1, CR1",
        "C: mixed model",
        "verdict: established",
    ]
    assert labels(figure.axes[0]) == ["no complication", "no humans"]
    additive = [
        point for point in figure.axes[1].get_lines() if point.get_gid() in ("mean", "pooled")
    ]
    shares = [(point.get_gid(), point.get_xdata()[0] ** 2) for point in additive]
    # Not those of 0.03; the axis is of roots
    expected = [("mean", 0.1), ("mean", 0.2), ("pooled", 0.11), ("pooled", 0.2)]
    assert [name for name, _ in shares] == [name for name, _ in expected]
    assert [share for _, share in shares] == pytest.approx([share for _, share in expected])
    assert [filled(point) for point in additive] == [True, False, True, True]
    judges = [np.square(bar.get_xdata()) for bar in artists(figure, "interval")]
    assert any(ends == pytest.approx([0.08, 0.125]) for ends in judges)
    assert any(ends == pytest.approx([0.1, 0.9]) for ends in judges)
    assert texts(figure).count("refused") == 1  # by A, without human scores
    assert np.square(x_values(artists(figure, "nominal"))) == pytest.approx([0.1] * 3)
    text = prose(figure)
    assert "dashed: the 10 % level" in text
    assert "Nine models. 50 draws of each world." in text


def test_worlds_state_in_how_many_an_estimator_holds_its_level():
    def finding(rows):
        return prose(worlds_drawn(rows))

    text = finding(OF_WORLDS)
    words = (
        "13 % false alarms for every judge: A: Equation 1, CR1 in 1 of 1 worlds and C: mixed model"
        " in 1 of 2 worlds"
    )
    assert words in text
    higher = OF_WORLDS.assign(highest=0.14)
    assert "A: Equation 1, CR1 in 0 of 2 worlds" in finding(higher)
