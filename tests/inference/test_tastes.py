"""Single cells beside what placebo cells let one expect of them, and the figure of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from placebo import placebo as script

from drawings import COMMON, artists, filled, is_page_of, on_paper, subject, texts
from recuse.base.tables import TASTES, write_table
from recuse.inference.idiosyncrasy import (
    FAMILY,
    NO_SPREAD,
    NOT_LINKED,
    SELF,
    UNRELATED,
    IdiosyncrasyDesign,
    cell_means,
    idiosyncrasy_rows,
    residual_rows,
)
from recuse.model.spec import Spec
from recuse.model.terms import slices_of
from recuse.plot.idiosyncrasy import tastes
from recuse.plot.style import read

MAIN = Spec.of("main")


@pytest.fixture(scope="module")
def rows(twin):
    return list(residual_rows(MAIN, twin, confidence=0.9))


def test_own_cells_are_the_gaps_of_estimand_c(twin, rows):
    gaps = {row["term"]: row for row in idiosyncrasy_rows(MAIN, twin, confidence=0.9, seed=1, draws=99)}
    own = [row for row in rows if row["relation"] == SELF]
    assert len(own) == 9
    for row in own:
        gap = gaps[row["judge"]]
        assert row["residual"] == pytest.approx(gap["estimate"], rel=1e-12)
        assert row["std_error"] == pytest.approx(gap["std_error"], rel=1e-12)
        assert 2 * row["band"] == pytest.approx(gap["ci_high"] - gap["ci_low"], rel=1e-12)
        assert (abs(row["residual"]) > row["band"]) == (gap["p_value"] < 0.1)


def test_a_placebo_cell_is_beside_the_fit_to_the_others(twin, rows):
    """Every residual and its error by least squares on the placebo cells without it."""
    (_, moments), *_ = slices_of(MAIN, twin)
    cells = cell_means(moments)
    names = np.unique(cells.judge)
    x = np.concatenate([cells.judge[:, None] == names, cells.model[:, None] == names[1:]], axis=1).astype(float)
    placebo = ~cells.own & ~cells.same_family
    spread = IdiosyncrasyDesign(cells, seed=0, draws=0).spread(cells.mean)
    for place, row in enumerate(rows):
        kept = placebo & (np.arange(len(rows)) != place)
        inverse = np.linalg.inv(x[kept].T @ x[kept])
        expected = x[place] @ inverse @ x[kept].T @ cells.mean[kept]
        assert row["residual"] == pytest.approx(cells.mean[place] - expected, abs=1e-10)
        assert row["std_error"] == pytest.approx(spread * np.sqrt(1 + x[place] @ inverse @ x[place]), rel=1e-8)
        assert (row["relation"] == UNRELATED) == placebo[place]
    assert sum(row["relation"] == FAMILY for row in rows) == 12


def test_what_has_no_residual_has_a_reason(twin):
    dropped = ["Llama 3 8B", "Llama 3 70B", "Mistral 7B", "Mistral Large", "Claude v2"]  # two families of two are left
    found = list(residual_rows(Spec.of("few", subset={"models_dropped": dropped}), twin, confidence=0.9))
    assert len(found) == 16
    for row in found:
        assert ("residual" in row) == (row["relation"] == UNRELATED)
        assert row.get("reason") == (None if row["relation"] == UNRELATED else NOT_LINKED.format(what=row["judge"]))
    found = residual_rows(
        Spec.of("two", subset={"models_dropped": [*dropped, "GPT-4o", "Claude 3 Sonnet"]}), twin, confidence=0.9
    )
    assert [row["reason"] for row in found if row["relation"] == UNRELATED] == [NO_SPREAD] * 2
    assert [row["reason"] for row in residual_rows(Spec.of("none", subset={"dataset": ["x"]}), twin, confidence=0.9)] == [
        "no row is left"
    ]


def table():
    judges = ["Claude v2", "GPT-4o", "Llama 3 8B"]
    values = [("self", 0.03), ("family", -0.005), ("placebo", 0.004), ("placebo", -0.02)]
    frame = pd.DataFrame([(judge, relation, value) for judge in judges for relation, value in values])
    frame.columns = ["judge", "relation", "residual"]
    return frame.assign(model="m", band=0.01, reason=None)


def test_each_cell_has_a_mark_filled_where_it_is_outside_the_band():
    figure = tastes(table(), subject(), confidence=0.9)
    assert on_paper(figure)
    for relation, values in (("self", [0.03]), ("family", [-0.005]), ("placebo", [0.004, -0.02])):
        marks = artists(figure, relation)
        assert [mark.get_xdata()[0] for mark in marks] == values * 3
        assert [filled(mark) for mark in marks] == [abs(value) > 0.01 for value in values] * 3
    assert {mark.get_marker() for mark in artists(figure, "self")}.isdisjoint(
        mark.get_marker() for mark in artists(figure, "placebo")
    )
    colours = [subject().palette.colour(judge) for judge in ("Claude v2", "GPT-4o", "Llama 3 8B")]
    assert [mark.get_color() for mark in artists(figure, "self")] == colours
    assert [patch.get_extents().width > 0 for patch in artists(figure, "band")] == [True] * 3
    said = " ".join(texts(figure))
    assert "3 of 6 placebo cells lie in the band of their judge." in said
    assert "where 90 % of cells without bias would lie" in said
    assert said.count("+0.030") == 3


def test_the_band_of_a_judge_is_that_of_its_own_cell_and_without_one_its_widest():
    wide = table()
    wide.loc[wide["relation"] == "placebo", "band"] = 0.025
    known = wide[(wide["judge"] != "GPT-4o") | (wide["relation"] != "self")]
    bands = artists(tastes(known, subject(), confidence=0.9), "band")
    assert [patch.get_xy()[:, 0].max() for patch in bands] == pytest.approx([0.01, 0.025, 0.01])


def test_a_judge_without_slope_has_a_row_with_the_reason(twin, monkeypatch):
    (_, moments), *_ = slices_of(MAIN, twin)
    lacking = replace(cell_means(moments), without_slope={"some judge": "so it is"})
    monkeypatch.setattr("recuse.inference.idiosyncrasy.cell_means", lambda moments, **_: lacking)
    *_, last = residual_rows(MAIN, twin, confidence=0.9)
    assert (last["judge"], last["reason"], "residual" in last) == ("some judge", "so it is", False)


def test_a_judge_without_residuals_and_a_study_without_any_say_why():
    lacking = table()
    of_gpt = lacking["judge"] == "GPT-4o"
    lacking.loc[of_gpt, ["residual", "band"]] = np.nan
    lacking.loc[of_gpt, "reason"] = "so it is"
    figure = tastes(lacking, subject(), confidence=0.9)
    assert len(artists(figure, "self")) == 2
    assert "not estimable" in texts(figure)
    assert "2 of 4 placebo cells" in " ".join(texts(figure))
    assert "Not estimated: cells of GPT-4o (so it is)." in " ".join(texts(figure))
    assert is_page_of(tastes(lacking[of_gpt], subject(), confidence=0.9), "So it is.")
    assert is_page_of(tastes(lacking[:0], subject(), confidence=0.9), "No cell to draw.")


def test_the_script_draws_the_whole_of_one_spec(tmp_path, rows, monkeypatch):
    others = [{**row, "spec": "by_dimension", "slice": "Tone"} for row in rows]
    write_table(tmp_path / "tastes.csv", TASTES, rows + others)
    drawn = []
    monkeypatch.setattr("placebo.save", lambda figure, outputs, title: drawn.append(figure))
    script(tastes=str(tmp_path / "tastes.csv"), spec="main", **COMMON, confidence=0.9, title="", outputs=[])
    assert len(artists(drawn[0], "self")) == 9
    assert len(artists(drawn[0], "placebo")) == 60
    assert len(read(tmp_path / "tastes.csv")) == 2 * 81
