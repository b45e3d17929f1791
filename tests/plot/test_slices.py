"""Small multiples: a panel for each slice, and what is said where there is nothing to draw."""

import numpy as np
import pandas as pd
import pytest

from drawings import (
    CLUSTERED,
    SIX,
    WALD,
    artists,
    by_slice,
    gaps,
    panel_titles,
    prose,
    simultaneous,
    spec_table,
    subject,
    texts,
    x_values,
)
from recuse.base.reasons import Reason, because
from recuse.plot import slices
from recuse.plot.biases import SIDES
from recuse.plot.slices import ordinal, slices_of_specs

TASKS = ["open-ended qa", "summarization"]
# Biases of three judges: one panel has the largest gap, one departs most, and two do neither, but
# one of these alone has a gap of Claude v2 below 0
DEPARTING = {
    "art": (0.28, 0.02, 0.1),
    "code": (0.29, -0.02, 0.1),
    "law": (0.28, 0.02, -0.2),
    "poetry": (0.3, 0.02, 0.1),
}


def block(spec, heading):
    return {
        "spec": spec,
        "heading": heading,
        "simultaneous": {**CLUSTERED, "spec": f"clustered_{spec}", "sliced": heading},
    }


def drawn(tables, *blocks, reasons=None, multiplicity=None, words=""):
    """The figure of the blocks, each of the table that its spec names; the whole is the table
    `main`.
    """
    others = simultaneous(by_slice([])) if multiplicity is None else multiplicity
    estimates = [tables[entry["spec"]] for entry in blocks]
    told = {"blocks": blocks, "words": words, **WALD}
    return slices_of_specs(
        estimates, tables["main"], gaps() if reasons is None else reasons, others, subject(), **told
    )


def test_the_blocks_that_a_study_has_are_drawn_and_the_rest_named():
    rows = [
        (None, "self_bias", "GPT-4o", 0.01, 0.0, 0.02),
        (None, "slope", "Claude v2", 0.9, 0.8, 1.0),
    ]
    tables = {"main": spec_table(rows), "a": by_slice(SIX[:2]), "b": by_slice([])}
    reasons = gaps(
        ("a", "Helpfulness", because(Reason.NO_ROWS)),
        ("b", None, because(Reason.NO_TASK_TYPES)),
        ("c", "x", because(Reason.NO_TERM)),
    )
    blocks = [block("a", "by dimension"), block("b", "by task type")]
    figure = drawn(tables, *blocks, reasons=reasons, words="What it is.")
    assert panel_titles(figure) == SIX[:2]
    assert x_values(artists(figure, "whole")) == [0.01, 0.01]
    text = texts(figure)
    assert "grey ticks: Equation 1, all ratings" in prose(figure)
    foot = (
        "Not estimated: Helpfulness (no row is left); by task type (the study declares no task"
        " types)."
    )
    assert f"What it is. {foot}" in " ".join(text)


def test_simultaneous_intervals_are_marked_in_the_blocks_that_have_some():
    tables = {"main": spec_table([]), "a": by_slice(SIX[:2]), "b": by_slice(TASKS)}
    multiplicity = simultaneous(tables["a"], spec="clustered_a", width=0.03)
    figure = drawn(
        tables, block("a", "by dimension"), block("b", "by task type"), multiplicity=multiplicity
    )
    rows = tables["a"][tables["a"]["quantity"] == "self_bias"]
    ends = [tuple(line.get_xdata()) for line in artists(figure, "simultaneous")]
    assert ends == [pytest.approx((value - 0.03, value + 0.03)) for value in rows["estimate"]]
    assert figure.axes[0].get_xlim()[0] < rows["estimate"].min() - 0.03
    over = f"over the {len(tables['a'])} self- and family-biases by dimension, by prompt"
    assert f"fine lines: 90 % simultaneous intervals {over}" in prose(figure)


def test_a_spec_with_a_whole_of_its_own_is_not_compared_with_equation_1():
    own = spec_table(
        [
            (None, "self_bias", "GPT-4o", -0.02, -0.03, 0.0),
            (None, "family_bias", "GPT", 0.03, 0.02, 0.04),
        ]
    )
    tables = {
        "main": spec_table([(None, "self_bias", "GPT-4o", 0.01, 0.0, 0.02)]),
        "a": pd.concat([own, by_slice(SIX[:2])]),
    }
    by_dimension = drawn(tables, block("a", "by dimension"))
    in_log_odds = ordinal(
        tables["a"], gaps(), subject(), spec="a", by="by dimension", words="", **WALD
    )
    assert panel_titles(by_dimension) == SIX[:2]
    for figure, places in ((by_dimension, [-0.02] * 2), (in_log_odds, [-0.02, 0.03] * 2)):
        assert x_values(artists(figure, "whole")) == places
        assert prose(figure).count("grey ticks: the same spec, all ratings") == 1
        assert "Equation 1, all ratings" not in prose(figure)


def test_the_ordinal_figure_has_both_biases_and_names_what_is_missing():
    reasons = gaps(
        ("a", "Helpfulness", because(Reason.NO_ROWS)), ("a", SIX[0], because(Reason.NO_TERM))
    )
    told = {"words": "", "spec": "a", "by": "by dimension", **WALD}
    figure = ordinal(by_slice(SIX[:2]), reasons, subject(), **told)
    assert panel_titles(figure) == SIX[:2]
    heading = "Self-bias and family-bias by dimension"
    assert {heading, "Not estimated: Helpfulness (no row is left)."} <= set(texts(figure))
    assert [text.get_text() for text in artists(figure, "group")] == [*SIDES]
    assert "Largest gap: Llama 3 8B" in prose(figure)
    assert "−0.006" in texts(figure)  # the marginal effect of the first row
    nothing = ordinal(by_slice([]), reasons, subject(), **told)
    assert "Not estimated: Helpfulness (no row is left)" in prose(nothing)


def test_a_row_that_a_slice_lacks_says_why_and_has_no_tick():
    rows = by_slice(["GPT-4o", "Tone"], judges=["GPT-4o", "Claude v2"])
    missing = (rows["term"] == "GPT-4o") & (rows["slice"] == "GPT-4o")
    tables = {"main": by_slice([None], judges=["GPT-4o"]), "a": rows[~missing]}
    figure = drawn(tables, block("a", "without one model"))
    assert texts(figure).count("left out") == 1
    assert len(artists(figure, "whole")) == 1


def test_of_many_slices_those_that_depart_are_drawn_and_the_headline_is_about_all(monkeypatch):
    monkeypatch.setattr(slices, "MOST_ROWS", 3)  # one panel of three judges, and another
    rows = [
        (name, "self_bias", judge, estimate, estimate - 0.01, estimate + 0.01)
        for name, estimates in DEPARTING.items()
        for judge, estimate in zip(("GPT-4o", "Claude v2", "Llama 3 8B"), estimates, strict=True)
    ]
    figure = drawn({"main": spec_table([]), "a": spec_table(rows)}, block("a", "By topic"))
    assert panel_titles(figure) == ["law", "poetry"]
    assert "By topic: showing 2 of 4 panels, those that depart most" in prose(figure)
    headline = (
        "Largest gap: GPT-4o, +0.30, panel poetry; 2 of 3 judges have a gap above 0 in one panel"
    )
    assert headline in prose(figure)


def test_without_intervals_the_headline_is_about_judges_and_panels_with_a_bias_are_drawn(
    monkeypatch,
):
    monkeypatch.setattr(slices, "MOST_ROWS", 1)  # two panels of one judge
    quantities = {"art": "slope", "code": "self_bias", "law": "slope"}
    rows = [(name, what, "GPT-4o", 0.3, np.nan, np.nan) for name, what in quantities.items()]
    figure = drawn({"main": spec_table([]), "a": spec_table(rows)}, block("a", "By topic"))
    assert "No judge has an interval" in prose(figure)
    assert panel_titles(figure) == ["code"]
    assert "By topic: showing 1 of 3 panels" in prose(figure)
