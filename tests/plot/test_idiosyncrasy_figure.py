"""The figure of judge-model residuals: each cell beside the band of what is ordinary."""

import numpy as np
import pandas as pd
import pytest

from drawings import (
    artists,
    filled,
    is_page_with,
    on_paper,
    prose,
    subject,
    texts,
    x_values,
)
from recuse.base.reasons import Reason, because, in_words
from recuse.base.words import capitalised
from recuse.plot.idiosyncrasy import residuals

WHY = in_words(because(Reason.NO_RESIDUAL))


def table():
    judges = pd.DataFrame({"judge": ["Claude v2", "GPT-4o", "Llama 3 8B"]})
    relations = ["self", "family", "unrelated", "unrelated"]
    cells = pd.DataFrame({"relation": relations, "residual": [0.03, -0.005, 0.004, -0.02]})
    rows = judges.merge(cells, how="cross")
    models = rows["judge"].where(rows["relation"] != "unrelated", "m")
    return rows.assign(spec="main", slice=None, model=models, band=0.01, reason=None)


def drawn(rows):
    return residuals(rows, subject(), spec="main", confidence=0.9)


def test_each_cell_has_a_mark_filled_where_it_is_outside_the_band():
    figure = drawn(table())
    assert on_paper(figure)
    for relation, values in (("self", [0.03]), ("family", [-0.005]), ("unrelated", [0.004, -0.02])):
        marks = artists(figure, relation)
        assert x_values(marks) == values * 3
        assert [filled(mark) for mark in marks] == [abs(value) > 0.01 for value in values] * 3
    shapes = [
        {mark.get_marker() for mark in artists(figure, kind)} for kind in ("self", "unrelated")
    ]
    assert shapes[0].isdisjoint(shapes[1])
    colours = [subject().palette.colour(judge) for judge in ("Claude v2", "GPT-4o", "Llama 3 8B")]
    assert [mark.get_color() for mark in artists(figure, "self")] == colours
    assert len(artists(figure, "band")) == 3
    text = prose(figure)
    assert (
        "All 3 judges rate themselves higher than ordinary preferences explain; chance alone"
        " would let 1 in 10 differ as much"
    ) in text
    assert "band: 90 % of ordinary preferences" in text
    unrelated = {mark.get_color() for mark in artists(figure, "unrelated")}
    assert unrelated == {subject().palette.colour("m")}  # that of the model's family
    assert text.count("+0.030") == 3


def test_the_band_of_a_judge_is_that_of_its_own_cell_and_without_one_its_widest():
    wide = table()
    wide.loc[wide["relation"] == "unrelated", "band"] = 0.025
    known = wide[(wide["judge"] != "GPT-4o") | (wide["relation"] != "self")]
    bands = artists(drawn(known), "band")
    assert [band.get_paths()[0].vertices[:, 0].max() for band in bands] == pytest.approx(
        [0.01, 0.025, 0.01]
    )


def test_a_judge_without_residuals_and_a_study_without_any_say_why():
    lacking = table()
    of_gpt = lacking["judge"] == "GPT-4o"
    lacking.loc[of_gpt, ["residual", "band"]] = np.nan
    lacking.loc[of_gpt, "reason"] = because(Reason.NO_RESIDUAL)
    figure = drawn(lacking)
    assert len(artists(figure, "self")) == 2
    assert "not estimable" in texts(figure)
    assert "Both judges rate themselves higher" in prose(figure)
    assert f"Not estimated: cells of GPT-4o ({WHY})." in prose(figure)
    assert is_page_with(drawn(lacking[of_gpt]), f"{capitalised(WHY)}.")
    assert is_page_with(drawn(lacking[:0]), "No cell to draw.")


def test_chance_names_no_judge_where_none_rates_its_own_answers():
    others = table()
    text = texts(drawn(others[others["relation"] != "self"]))
    assert any("No judge can be tested" in line for line in text)
    assert not any("chance alone" in line for line in text)
