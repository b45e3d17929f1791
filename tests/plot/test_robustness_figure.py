"""The figure of conclusions: a mark for each, its shape the conclusion, its box what becomes of the
first.
"""

import numpy as np
import pandas as pd

from drawings import PRESENT, artists, gaps, is_page_with, prose, row_names, subject, texts
from recuse.base.reasons import Reason, because
from recuse.inference.robustness import CONCLUSIONS, Conclusion, RobustnessCheck
from recuse.plot.robustness import NOTHING, conclusions_figure

CHECKS = [
    RobustnessCheck("first", "A: first", ["main", "by_dimension"], "asks"),
    RobustnessCheck("errors", "other errors", ["main", "by_dimension"], "asks", lost="chance"),
    RobustnessCheck(
        "preference",
        "C: preference",
        ["main"],
        "asks",
        lost="ordinary preference",
        table="idiosyncrasy",
    ),
]
SPECS = {"main": {}, "by_dimension": {"slice": "dimension"}}
OF_CONFIG = {
    check.name: {key: value for key, value in vars(check).items() if key != "name"}
    for check in CHECKS
}
ASKED = {"checks": OF_CONFIG, "specs": SPECS, "confidence": 0.9, "power": 0.8}
FAVOURS, HARSHER, NO_BIAS, NOT_ESTIMABLE = Conclusion
A, C = "A against humans", "C beyond ordinary preference"
WHOLE = {  # by judge: of the three checks
    "Claude v2": (FAVOURS, FAVOURS, NO_BIAS),
    "Claude 3 Sonnet": (FAVOURS, NO_BIAS, HARSHER),
    "GPT-4o": (NO_BIAS, HARSHER, NOT_ESTIMABLE),
    "Llama 3 8B": (HARSHER, HARSHER, HARSHER),
}
VERDICTS = {(FAVOURS, NO_BIAS): "lost", (FAVOURS, HARSHER): "reversed", (NO_BIAS, HARSHER): "new"}


def rows(label, judges=WHOLE, checks=CHECKS):
    for quantity, terms in (("self_bias", judges), ("family_bias", {"GPT": (FAVOURS,) * 3})):
        for number, (term, found) in enumerate(terms.items()):
            for check, conclusion in zip(checks, found, strict=False):
                known = conclusion != NOT_ESTIMABLE
                yield {
                    "slice": label,
                    "quantity": quantity,
                    "term": term,
                    "check": check.name,
                    "estimand": C if check.name == "preference" else A,
                    "estimate": (
                        0.01 * (number + 1) + 0.002 * (check.name == "preference")
                        if known
                        else np.nan
                    ),
                    "detectable": 0.04 if check.name == "preference" else np.nan,
                    "conclusion": conclusion,
                    "first": found[0],
                    "verdict": (
                        VERDICTS.get((found[0], conclusion), "holds") if known else "not estimable"
                    ),
                    "reason": "" if known else because(Reason.NO_RESIDUAL),
                }


def table(*labels, **settings):
    by_dimension = {**settings, "checks": CHECKS[:2]}
    found = [
        row for label in labels for row in rows(label, **(by_dimension if label else settings))
    ]
    return pd.DataFrame(found).reindex(columns=CONCLUSIONS)


def drawn(*labels, kind="simulated", **settings):
    return conclusions_figure(table(*labels, **settings), gaps(), subject(kind), **ASKED)


def test_marks_are_the_conclusions_in_the_colours_of_the_families():
    (axes,) = drawn("").axes
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
    figure = drawn("")
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
    judges = {"Claude v2": (FAVOURS, FAVOURS, NO_BIAS)}
    assert "reversed: the opposite sign" not in texts(drawn("", judges=judges))


def test_the_subtitle_says_the_level_and_the_estimands():
    output = conclusions_figure(table(""), gaps(), subject(estimand=f"{A} and {C}"), **ASKED)
    unit = (
        "rating points on the unit scale 0–1, of the first check; decided by 90 % intervals, or"
        " p ≤ 0.1 where a check has none"
    )
    assert f"{A} and {C}; {unit}" in prose(output)


def test_the_whole_study_is_drawn_or_else_the_first_dimension():
    whole, again, tone = drawn(""), drawn("", "Tone", "Use", "Wit"), drawn("Tone", "Use")
    assert texts(whole) == texts(again)
    assert len(again.axes) == len(tone.axes) == 1
    assert any(text.startswith("Tone; rating points") for text in texts(tone))
    assert "C: preference" not in texts(tone)  # a check of the whole study


def test_the_finding_is_the_check_that_changes_the_most():
    text = prose(drawn(""))
    assert "The robustness check “other errors” changes the most conclusions: 2 of 5 judges" in text
    judges = {"Claude v2": (FAVOURS, FAVOURS, FAVOURS)}
    assert "No robustness check changes a conclusion" in texts(drawn("", judges=judges))


def test_nothing_to_draw_is_said():
    assert is_page_with(conclusions_figure(table(), gaps(), subject(), **ASKED), NOTHING)
    unknown = table("", judges={"Claude v2": (NOT_ESTIMABLE,) * 3})
    unknown = unknown[unknown["quantity"] == "self_bias"]
    text = f"{NOTHING} Judges and models of different families leave no residual."
    assert is_page_with(conclusions_figure(unknown, gaps(), subject(), **ASKED), text)
