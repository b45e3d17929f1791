"""Small multiples: a panel for each slice, and what is said where there is nothing to draw."""

import numpy as np
import pandas as pd
import pytest

from drawings import (
    CLUSTERED,
    INTERVAL,
    PRESENT,
    SIX,
    WALD,
    are_apart,
    artists,
    by_slice,
    filled,
    gaps,
    on_paper,
    panel_titles,
    prose,
    simultaneous,
    spec_table,
    subject,
    texts,
    x_values,
)
from recuse.base.reasons import Reason, because
from recuse.base.words import signed
from recuse.plot.biases import SIDES
from recuse.plot.page import Entry
from recuse.plot.slices import SliceSection, note_of, ordinal, slices, slices_of_specs
from recuse.plot.style import PAGE

TASKS = ["open-ended qa", "summarization"]


def draw(*tables, whole=None, **settings):
    sections = [
        SliceSection(f"heading {number}", "Self-bias", "a", table, (), whole or {})
        for number, table in enumerate(tables)
    ]
    return slices(sections, subject(), interval=INTERVAL, **settings)


def names(axes):
    return [label.get_text() for label in axes.get_yticklabels() if label.get_text()]


def test_each_slice_has_a_panel_with_the_estimates_of_its_table():
    table = by_slice(SIX)
    figure = draw(table)
    assert panel_titles(figure) == SIX
    for axes in figure.axes:
        rows = table[
            (table["slice"] == axes.get_title(loc="left")) & (table["quantity"] == "self_bias")
        ]
        points = artists(axes, "point")
        assert x_values(points) == rows["estimate"].tolist()
        assert [point.get_ydata()[0] for point in points] == list(range(len(PRESENT)))
        assert [point.get_color() for point in points] == [
            subject().palette.colour(judge) for judge in PRESENT
        ]
        assert [filled(point) for point in points] == (
            rows["ci_low"] * rows["ci_high"] > 0
        ).tolist()
        assert axes.get_xlim() == figure.axes[0].get_xlim()
    assert [bool(names(axes)) for axes in figure.axes] == [True, False, False] * 2
    assert names(figure.axes[0]) == PRESENT
    assert texts(figure).count("n = 1,234 ratings") == 6
    assert "heading 0" in texts(figure)


@pytest.mark.parametrize(("count", "lowest"), [(6, [3, 4, 5]), (5, [2, 3, 4])])
def test_the_lowest_panel_of_each_column_has_the_numbers_of_the_axis(count, lowest):
    figure = draw(by_slice(SIX[:count]))
    figure.draw_without_rendering()
    numbered = [
        bool(axes.get_xticklabels()) and axes.get_xticklabels()[0].get_visible()
        for axes in figure.axes
    ]
    assert [place for place, shown in enumerate(numbered) if shown] == lowest


def test_each_section_has_its_own_axis():
    figure = draw(by_slice(SIX), by_slice(TASKS).assign(estimate=0.2, ci_low=0.1, ci_high=0.3))
    assert panel_titles(figure) == SIX + TASKS
    upper, lower = figure.axes[:6], figure.axes[6:]
    assert {axes.get_xlim() for axes in upper}.isdisjoint(axes.get_xlim() for axes in lower)
    assert len({axes.get_xlim() for axes in upper}) == len({axes.get_xlim() for axes in lower}) == 1
    assert min(axes.get_position().y0 for axes in upper) > max(
        axes.get_position().y1 for axes in lower
    )
    assert [bool(names(axes)) for axes in figure.axes] == [
        True,
        False,
        False,
        True,
        False,
        False,
        True,
        False,
    ]
    assert {"heading 0", "heading 1"} <= set(texts(figure))


@pytest.mark.parametrize(
    "counts",
    [(1,), (2,), (3,), (7,), (12,), (20,), (1, 6), (2, 2), (5, 1), (1, 0), (9, 3), (1, 1, 1)],
)
def test_any_number_of_slices_fits_the_paper_without_overlap(counts):
    figure = draw(
        *(
            by_slice([f"slice {letter}{i:02}" for i in range(count)])
            for letter, count in zip("abc", counts, strict=False)
        )
    )
    assert len(figure.axes) == sum(counts)
    assert on_paper(figure)
    boxes = [axes.get_window_extent() for axes in figure.axes]
    assert are_apart(boxes)
    lines = {}
    for axes in figure.axes:
        lines.setdefault(round(axes.get_position().y0, 6), []).append(axes)
    for together in lines.values():
        first = min(together, key=lambda axes: axes.get_position().x0)
        assert [bool(names(axes)) for axes in together] == [axes is first for axes in together]


@pytest.mark.parametrize(
    "judges", [["one"], [f"a model with a rather long name {number}" for number in range(20)]]
)
def test_any_number_of_judges_fits_the_paper(judges):
    assert on_paper(draw(by_slice(SIX[:4], judges=judges), whole=dict.fromkeys(judges, 0.01)))


def test_the_estimate_from_all_ratings_is_a_tick_in_each_row_and_in_the_legend():
    whole = dict(zip(PRESENT, [0.01, 0.02, -0.3, 0.0], strict=True))
    figure = draw(by_slice(SIX[:2]), whole=whole, whole_is="the whole")
    for axes in figure.axes:
        ticks = artists(axes, "whole")
        assert x_values(ticks) == list(whole.values())
        assert axes.get_xlim()[0] < -0.3
    assert "the whole" in texts(figure)
    assert "the whole" not in texts(draw(by_slice(SIX[:2]), whole_is="the whole"))


def test_a_row_without_estimate_says_why():
    table = by_slice(["Claude v2", "GPT-4o"])
    table = table[
        (table["slice"] != table["term"])
        & ~((table["slice"] == "GPT-4o") & (table["term"] == "Llama 3 8B"))
    ]
    table.loc[table["term"] == "Claude 3 Sonnet", ["estimate", "ci_low", "ci_high"]] = np.nan
    figure = draw(table)
    text = texts(figure)
    assert [text.count(words) for words in ("left out", "no rows", "not estimable")] == [2, 1, 2]
    assert len(artists(figure, "point")) == 3


def test_log_odds_have_the_marginal_effects_beside_them():
    table = by_slice(SIX[:2])
    table.loc[0, "effect"] = np.nan
    figure = draw(table, effects=True)
    output = texts(figure)
    assert output.count("points") == 2
    assert f"log-odds of a higher rating; {INTERVAL}" in output
    assert (
        "number beside a row: average marginal effect, rating points on the unit scale 0–1"
        in output
    )
    expected = [
        signed(value) for value in table.loc[table["quantity"] == "self_bias", "effect"].dropna()
    ]
    beside = [
        text.get_text()
        for axes in figure.axes
        for text in axes.texts
        if text.get_text()[-1].isdigit()
    ]
    assert beside == expected


def test_many_slices_of_many_judges_stay_on_a_page():
    judges, names = (
        [f"judge {number}" for number in range(12)],
        [f"slice {number:02}" for number in range(40)],
    )
    figure = draw(by_slice(names, judges, ()))
    assert figure.get_size_inches()[1] <= PAGE
    shown = len(figure.axes)
    assert 12 <= shown < 40
    assert f"Shown: the first {shown} of 40 panels; the table has all." in texts(figure)
    assert draw(by_slice(names[:9], judges, ())).get_size_inches()[1] <= PAGE
    assert len(draw(by_slice(names[:9], judges, ())).axes) == 9


def test_sections_of_two_quantities_have_texts_of_their_own():
    table = by_slice(SIX[:2])
    sections = [SliceSection(quantity, quantity, "a", table) for quantity in SIDES]
    figure = slices(sections, subject(), interval=INTERVAL, effects=True)
    assert [names(axes) for axes in figure.axes] == [PRESENT, [], ["Claude", "GPT"], []]
    directions = {text.get_text(): text for text in artists(figure, "direction")}
    own, family = directions["favours itself →"].axes, directions["favours its family →"].axes
    assert own.get_position().y0 > family.get_position().y1
    assert {text.xy[0] for text in directions.values()} == {0}
    assert on_paper(figure)
    figure = slices(
        sections, subject(), interval=INTERVAL, effects=True, note="Not estimated: x (why)."
    )
    assert "Not estimated: x (why)." in texts(figure)


def test_a_section_without_rows_is_left_out_and_its_reason_is_given():
    table = by_slice(SIX[:2], families=())
    sections = [SliceSection(quantity, quantity, "a", table) for quantity in SIDES]
    reasons = gaps(
        *(("a", name, because(Reason.NO_SIBLINGS), "family_bias", "GPT") for name in SIX[:2])
    )
    assert (
        note_of(sections, reasons)
        == "No family-bias: GPT (this family's judges rate no other model of the family)."
    )
    assert note_of(sections, gaps()) == "No family-bias: the spec a has no term for family-bias."
    figure = slices(sections, subject(), interval=INTERVAL, note=note_of(sections, reasons))
    assert len(figure.axes) == 2
    assert "No family-bias: GPT (this family's judges rate no other model of the family)." in texts(
        figure
    )
    figure = slices(sections[1:], subject(), interval=INTERVAL, note="No family-bias.")
    assert figure.axes == []
    assert "No family-bias." in prose(figure)


def test_long_intervals_end_in_arrows_and_leave_the_axis_to_the_others():
    table = by_slice(SIX)
    plain = draw(table).axes[0].get_xlim()
    table.loc[0, ["ci_low", "ci_high"]] = [-9.0, 9.0]
    table.loc[1, ["estimate", "ci_low", "ci_high"]] = [8.0, 7.0, 9.0]
    figure = draw(table)
    low, high = figure.axes[0].get_xlim()
    assert (low, high) == pytest.approx(plain, abs=0.02)
    assert x_values(artists(figure, "beyond")) == [low, high, high]
    assert "+8.000" in texts(figure)
    assert on_paper(figure)


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
    assert "Equation 1, all ratings" in text
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
    ends = [
        tuple(line.get_xdata())
        for axes in figure.axes
        for line in axes.lines
        if line.get_gid() == "simultaneous"
    ]
    assert ends == [pytest.approx((value - 0.03, value + 0.03)) for value in rows["estimate"]]
    assert figure.axes[0].get_xlim()[0] < rows["estimate"].min() - 0.03
    (named,) = [text for text in texts(figure) if "simultaneous" in text]
    assert (
        named
        == f"90 % simultaneous interval over the {len(tables['a'])} self- and family-biases by"
        " dimension, by prompt"
    )


def test_simultaneous_intervals_of_two_blocks_have_one_mark():
    line = {"color": "k", "lw": 0.6}
    entries = [
        Entry(f"90 % simultaneous interval over the {n} biases by {by}", line=line)
        for n, by in ((4, "a"), (6, "b"))
    ]
    sections = [
        SliceSection(f"by {n}", "Self-bias", n, by_slice(SIX[:2]), [entry])
        for n, entry in zip("ab", entries, strict=True)
    ]
    output = texts(slices(sections, subject(), interval=INTERVAL))
    assert {entries[0].text, "likewise over the 6 biases by b"} <= set(output)
    assert entries[1].text not in output


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
    for figure, places in ((by_dimension, [-0.02] * 2), (in_log_odds, [-0.02] * 2 + [0.03] * 2)):
        assert x_values(artists(figure, "whole")) == places
        assert texts(figure).count("the same spec, all ratings") == 1
        assert "Equation 1, all ratings" not in texts(figure)


def test_the_ordinal_figure_has_both_biases_and_names_what_is_missing():
    reasons = gaps(
        ("a", "Helpfulness", because(Reason.NO_ROWS)), ("a", SIX[0], because(Reason.NO_TERM))
    )
    told = {"words": "", "spec": "a", "by": "by dimension", **WALD}
    figure = ordinal(by_slice(SIX[:2]), reasons, subject(), **told)
    assert panel_titles(figure) == SIX[:2] * 2
    headings = {"Self-bias by dimension", "Family-bias by dimension"}
    assert {*headings, "Not estimated: Helpfulness (no row is left)."} <= set(texts(figure))
    figure = ordinal(pd.DataFrame(columns=by_slice([]).columns), reasons, subject(), **told)
    assert figure.axes == []
    assert "Not estimated: Helpfulness (no row is left)" in prose(figure)
