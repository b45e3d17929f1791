"""The figure of conclusions: a mark for each, its shape the conclusion, its box what becomes of the
first.
"""

from io import StringIO

import numpy as np
import pandas as pd

from drawings import PRESENT, artists, gaps, is_page_with, prose, row_names, subject, texts
from recuse.base.reasons import Reason, because
from recuse.inference.robustness import CONCLUSIONS
from recuse.plot.robustness import NOTHING, conclusions_figure

CHECKS = {
    "first": {"title": "A: first", "asks": "", "specs": ["main", "by_dimension"]},
    "errors": {
        "title": "other errors",
        "asks": "",
        "specs": ["main", "by_dimension"],
        "lost": "chance",
    },
    "preference": {
        "title": "C: preference",
        "asks": "",
        "specs": ["main"],
        "lost": "ordinary preference",
        "table": "idiosyncrasy",
    },
}
SPECS = {"main": {}, "by_dimension": {"slice": "dimension"}}
ASKED = {"checks": CHECKS, "specs": SPECS, "confidence": 0.9, "power": 0.8}
A, C = "A against humans", "C beyond ordinary preference"
ROWS = """
quantity,term,check,estimate,first,conclusion,verdict
self_bias,Claude v2,first,0.01,favours,favours,holds
self_bias,Claude v2,errors,0.01,favours,favours,holds
self_bias,Claude v2,preference,0.012,favours,no_bias,lost
self_bias,Claude 3 Sonnet,first,0.02,favours,favours,holds
self_bias,Claude 3 Sonnet,errors,0.02,favours,no_bias,lost
self_bias,Claude 3 Sonnet,preference,0.022,favours,harsher,reversed
self_bias,GPT-4o,first,0.03,no_bias,no_bias,holds
self_bias,GPT-4o,errors,0.03,no_bias,harsher,new
self_bias,GPT-4o,preference,,no_bias,not_estimable,not estimable
self_bias,Llama 3 8B,first,0.04,harsher,harsher,holds
self_bias,Llama 3 8B,errors,0.04,harsher,harsher,holds
self_bias,Llama 3 8B,preference,0.042,harsher,harsher,holds
family_bias,GPT,first,0.01,favours,favours,holds
family_bias,GPT,errors,0.01,favours,favours,holds
family_bias,GPT,preference,0.012,favours,favours,holds
"""


def table(*slices):
    """The rows of each slice; those of a dimension are without the check of the whole study."""
    rows = pd.read_csv(StringIO(ROWS))
    of_preference = rows["check"] == "preference"
    rows["estimand"] = np.where(of_preference, C, A)
    rows.loc[of_preference, "detectable"] = 0.04
    rows["reason"] = np.where(rows["estimate"].isna(), because(Reason.NO_RESIDUAL), "")
    parts = [(rows if part == "" else rows[~of_preference]).assign(slice=part) for part in slices]
    return pd.concat([pd.DataFrame(columns=CONCLUSIONS), *parts]).reindex(columns=CONCLUSIONS)


def figure_from(rows, **about):
    return conclusions_figure(rows, gaps(), subject(**about), **ASKED)


def test_marks_are_the_conclusions_in_the_colours_of_the_families():
    (axes,) = figure_from(table("")).axes
    marks = artists(axes.figure, "mark")
    assert [mark.get_marker() for mark in marks] == [*"^^o", *"^ov", *"ov", *"vvv", *"^^^"]
    assert [mark.get_ydata()[0] for mark in marks[:3]] == [0.5, 0.5, 0.5]
    assert len({mark.get_xdata()[0] for mark in marks}) == len(CHECKS)
    palette = subject().palette
    assert marks[0].get_color() == palette.colour("Claude v2")
    assert marks[-1].get_color() == palette.family_colour("GPT")
    estimates = ["+0.010", "+0.020", "+0.030", "+0.040", "+0.010"]
    names = [*PRESENT, "GPT, family"]
    assert [name.split("  ") for name in row_names(axes)] == [
        *map(list, zip(names, estimates, strict=True))
    ]
    assert len(artists(axes.figure, "not estimable")) == 1


def test_boxes_are_what_becomes_of_the_first_conclusion():
    figure = figure_from(table(""))
    boxes = {
        name: [int(box.get_y()) for box in artists(figure, name)] for name in ("reversed", "new")
    }
    assert boxes == {"reversed": [1], "new": [2]}
    shades = figure.axes[0].collections[0].get_array().reshape(5, 3)
    assert [tuple(place) for place in np.argwhere(shades)] == [(0, 2), (1, 1)]  # lost
    marks = {(mark.get_xdata()[0], mark.get_ydata()[0]) for mark in artists(figure, "mark")}
    for name in boxes:
        for box in artists(figure, name):
            assert sum(box.get_bbox().contains(*mark) for mark in marks) == 1
    text = texts(figure)
    assert {"lost", "reversed: the opposite sign", "not estimable"} <= set(text)
    rows = table("")
    others = figure_from(rows[rows["verdict"] != "reversed"])
    assert "reversed: the opposite sign" not in texts(others)


def test_the_subtitle_says_the_level_and_the_estimands():
    output = figure_from(table(""), estimand=f"{A} and {C}")
    unit = (
        "rating points on the unit scale 0–1, of the first check; decided by 90 % intervals, or"
        " p ≤ 0.1 where a check has none"
    )
    assert f"{A} and {C}; {unit}" in prose(output)


def test_the_whole_study_is_drawn_or_else_the_first_dimension():
    slices = ([""], ["", "Tone", "Use", "Wit"], ["Tone", "Use"])
    whole, again, tone = (figure_from(table(*each)) for each in slices)
    assert texts(whole) == texts(again)
    assert len(again.axes) == len(tone.axes) == 1
    assert any(text.startswith("Tone; rating points") for text in texts(tone))
    assert "C: preference" not in texts(tone)  # a check of the whole study


def test_the_finding_is_the_check_that_changes_the_most():
    text = prose(figure_from(table("")))
    assert "The robustness check “other errors” changes the most conclusions: 2 of 5 judges" in text
    rows = table("")
    of_preference = prose(figure_from(rows[rows["check"] != "errors"]))
    assert "“C: preference” changes the most conclusions: 2 of 4 judges" in of_preference
    held = figure_from(rows[rows["term"] == "GPT"])
    assert "No robustness check changes a conclusion" in texts(held)


def test_nothing_to_draw_is_said():
    assert is_page_with(figure_from(table()), NOTHING)
    rows = table("", "")
    text = f"{NOTHING} Judges and models of different families leave no residual."
    assert is_page_with(figure_from(rows[rows["estimate"].isna()]), text)  # a reason once
