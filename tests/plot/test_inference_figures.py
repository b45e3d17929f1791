"""Figures of what stands beside the estimates: the leaderboard, curves over reliability, power."""

import numpy as np
import pytest

from drawings import (
    PRESENT,
    artists,
    is_page_with,
    panel_titles,
    prose,
    row_names,
    subject,
    texts,
    x_values,
)
from recuse.base.reasons import Reason, because, in_short, in_words
from recuse.inference.leaderboard import (
    AS_PEOPLE,
    DEBIASED,
    HUMAN,
    RAW,
    WITHOUT_FAMILY,
    WITHOUT_SELF,
)
from recuse.model.spec import C
from recuse.plot import leaderboard, power, reliability
from recuse.plot.leaderboard import rank_changes
from recuse.plot.page import head
from tables_of_inference import BY_MODEL, board, curves, plans, reliability_tables

KINDS = (RAW, DEBIASED, WITHOUT_SELF, WITHOUT_FAMILY, HUMAN)


SAME = {kind: [1, 2, 3, 4] for kind in KINDS}


DRAW = {
    "leaderboard": leaderboard.leaderboard_figure,
    "power": power.power_figure,
    "reliability": reliability.reliability_figure,
}


def drawn(name, *tables):
    return DRAW[name](*tables, subject(), confidence=0.9)


def test_models_are_in_the_order_of_the_ratings_as_they_are_with_scores_and_ranks():
    figure = drawn("leaderboard", board({**SAME, RAW: [3, 1, 2, 4]}))
    scores, ranks = figure.axes
    assert row_names(scores) == [PRESENT[1], PRESENT[2], PRESENT[0], PRESENT[3]]
    assert "debiased (C, shrunk)" in prose(figure)
    assert x_values(artists(ranks, RAW)) == [3, 1, 2, 4]
    assert x_values(artists(scores, RAW)) == pytest.approx([0.7, 0.9, 0.8, 0.6])
    assert x_values(artists(ranks, DEBIASED)) == [1, 2, 3, 4]
    assert artists(ranks, "interval")[1].get_xdata() == pytest.approx([-0.2, 2.2])
    assert len(artists(scores, "interval")) == len(artists(ranks, "interval")) == 20


# Scores, the ranks of the models by them, how far their rank sets go, and the words
RANKINGS = """
debiased 1234 1 no model's rank
debiased 2134 1 the rank of 2 of 4 models (most: Claude v2, from 1 to 2), none beyond its rank set
human 4231 1 the rank of 2 of 4 models (most: Claude v2, from 1 to 4), 2 beyond its rank set
debiased 3124 2 the rank of 3 of 4 models (most: Claude v2, from 1 to 3), none beyond its rank set
debiased 4123 2 the rank of all 4 models (most: Claude v2, from 1 to 4), 1 beyond its rank set
"""


@pytest.mark.parametrize("ranking", RANKINGS.strip().splitlines())
def test_the_title_says_whether_the_ranking_changes(ranking):
    """The last rank of a set is within it, the next one beyond."""
    scores, ranks, ends, words = ranking.split(" ", 3)
    table = board({RAW: [1, 2, 3, 4], scores: [*map(int, ranks)]}, sets=int(ends))
    without = {"debiased": "Removing the estimated biases", "human": "Ranking by human scores"}
    finding = head("leaderboard", **rank_changes(table), level=0.9).finding
    assert finding == f"{without[scores]} changes {words}"


def test_several_numbers_of_few_prompts_are_one_sentence():
    notes = [because(Reason.SHORT_INTERVALS, prompts=prompts, few=30) for prompts in (20, 24)]
    table = board(SAME)
    table["note"] = [notes[place % 2] for place in range(len(table))]
    words = prose(drawn("leaderboard", table))
    assert words.count("intervals and rank sets may be too small") == 1
    assert "Few prompts: intervals" in words


def test_scores_that_cannot_be_had_are_named_with_the_reason():
    table = board(SAME)
    gone = table["scores"] == WITHOUT_FAMILY
    table.loc[gone, ["score", "ci_low", "ci_high", "rank", "rank_low", "rank_high"]] = np.nan
    table["note"] = table["note"].astype(object).where(~gone, "not_compared")
    figure = drawn("leaderboard", table)
    assert not artists(figure, WITHOUT_FAMILY)
    words = f"Not estimated: without own family's ({in_words('not_compared')})."
    assert words in prose(figure)
    assert is_page_with(drawn("leaderboard", table[:0]), leaderboard.NONE)


def test_a_panel_for_each_bias_with_a_curve_for_each_estimand():
    figure = drawn("reliability", *reliability_tables().values())
    assert panel_titles(figure) == ["GPT-4o", "Claude family"]
    for axes in figure.axes:
        lines = artists(axes, "curve")
        assert [line.get_xdata().tolist() for line in lines] == [[0.3, 0.65, 1.0]] * 2
        assert lines[0].get_ydata() == pytest.approx([-0.01, 0.025, 0.06])
        assert x_values(artists(axes, "breakdown")) == pytest.approx([0.6] * 2)
        assert x_values(artists(axes, "reversal")) == pytest.approx([0.5] * 2)
        # Over the mean of the dimensions
        assert np.mean(x_values(artists(axes, "own"))) == pytest.approx(0.55)
        (ticks,) = artists(axes, "dimension")
        assert list(ticks.get_xdata()) == [0.4, 0.7]
    assert figure.axes[0].lines[3].get_color() != figure.axes[1].lines[3].get_color()
    opposite = "below this the bias has the opposite sign"
    change = "Less reliable human scores would change the conclusion about both judges and families"
    assert change in prose(figure)
    assert opposite in texts(figure)
    tables = reliability_tables()
    tables["breakdowns"]["reversal"] = np.nan
    tables["reliabilities"].loc[0, "mean"] = 0.2  # beside the panel: named, but without a tick
    figure = drawn("reliability", *tables.values())
    assert list(artists(figure, "dimension")[0].get_xdata()) == [0.7]
    assert opposite not in texts(figure)


def test_an_unknown_reliability_is_said_and_leaves_the_curves():
    figure = drawn("reliability", *reliability_tables(known=()).values())
    assert len(artists(figure, "curve")) == 4
    assert not artists(figure, "own")
    assert "The study's own: the reliability of the human scores is unknown for Wit." in prose(
        figure
    )


def test_a_panel_has_an_axis_of_its_own_and_a_diamond_is_hollow_where_its_interval_holds_0():
    tables = reliability_tables(curves([("self_bias", "GPT-4o"), ("self_bias", "Claude v2")]))
    larger = tables["curves"]["term"] == "Claude v2"
    tables["curves"].loc[larger, ["estimate", "ci_low", "ci_high"]] *= 20
    own = tables["measurement_error"]
    ends = (own["term"] == "Claude v2").map({True: -0.01, False: 0.01})
    tables["measurement_error"] = own.assign(estimate=0.02, ci_low=ends, ci_high=0.04)
    tables["breakdowns"]["breakdown"] = np.where(own["term"] == "Claude v2", 0.7, 0.6)
    figure = drawn("reliability", *tables.values())
    assert "both judges and families (first: Claude v2)" in prose(figure)
    tables["breakdowns"].loc[own["term"] == "GPT-4o", "breakdown"] = np.nan
    assert "about 1 of 2 judges and" in prose(drawn("reliability", *tables.values()))
    assert panel_titles(figure) == ["Claude v2", "GPT-4o"]
    spans = [np.diff(axes.get_ylim())[0] for axes in figure.axes]
    assert spans[0] > 5 * spans[1]
    assert all(any(label.get_text() for label in axes.get_yticklabels()) for axes in figure.axes)
    for axes, hollow in zip(figure.axes, (True, False), strict=True):
        faces = [line.get_markerfacecolor() for line in artists(axes, "own")]
        assert [face == "white" for face in faces] == [hollow] * 2


def looks(lines):
    return {(line.get_color(), str(line.get_linestyle())) for line in lines}


def test_the_power_figure_has_one_panel_and_says_how_many_prompts_it_takes_or_never():
    figure = drawn("power", plans())
    (axes,) = figure.axes
    assert {1000, 3000} <= {*axes.get_xticks()}
    output = prose(figure)
    finding = (
        "Detecting a self-bias of 0.02 takes about 4,936 (A) prompts; no number of prompts is"
        " enough for B"
    )
    assert finding in output
    assert "1 human rater of a completion" in output  # the fewest
    assert not {"inf", "nan"} & {*output.lower().split()}
    lines = artists(figure, "curve")
    assert len(looks(lines)) == len(lines) == 4
    assert lines[0].get_ydata() == pytest.approx([1 / 20, 1 / np.sqrt(4000)])
    assert [line.get_ydata()[0] for line in artists(figure, "aim")] == [0.02]
    assert f"{C}: {in_words(Reason.NOTHING_TO_COMPARE)}." in output
    assert is_page_with(drawn("power", plans()[-8:]), power.NONE)


def test_points_of_the_power_figure_are_hollow_where_the_test_is_not_of_the_right_size():
    table = plans()
    table.loc[(table["estimand"] == BY_MODEL) & (table["prompts"] == 1000), "size"] = 0.21
    points = artists(drawn("power", table), "point")
    hollow = [
        point.get_xdata()[0] > 500 for point in points if point.get_markerfacecolor() == "white"
    ]
    assert hollow == [True, True]  # of B, by number of models


def test_the_power_figure_says_where_preference_is_not_known():
    table = plans()[lambda rows: rows["estimand"] == BY_MODEL]
    table = table.assign(
        reason=str(Reason.UNKNOWN_PREFERENCES), floor=np.nan, size=np.nan, prompts_needed=np.nan
    )
    figure = drawn("power", table)
    output = prose(figure)
    assert (
        "A self-bias of 0.02 cannot be detected: preferences for single models are unknown"
        in output
    )
    assert f"{BY_MODEL}: {in_words(Reason.UNKNOWN_PREFERENCES)}." in output


def test_the_power_figure_without_known_reliability_has_exact_scores_and_no_raters():
    table = plans()[lambda rows: rows["raters"] == 1].assign(raters=np.nan)
    figure = drawn("power", table)
    assert "human scores taken as exact" in prose(figure)
    assert "human rater" not in prose(figure)
    assert len(looks(artists(figure, "curve"))) == 4


def test_people_rank_the_models_if_ratings_cannot_compare_them():
    table = board({AS_PEOPLE: [2, 1, 3, 4]})
    figure = drawn("leaderboard", table)
    assert row_names(figure.axes[0]) == [PRESENT[1], PRESENT[0], *PRESENT[2:]]
    assert rank_changes(table) == {"kind": ""}


def test_ranks_change_among_the_models_that_both_rankings_have():
    table = board({RAW: [2, 1, 3, 4], DEBIASED: [1, 3, 2, 4]})
    unrated = (table["scores"] == RAW) & (table["model"] == PRESENT[1])
    changes = rank_changes(table[~unrated])
    assert (changes["moved"], changes["total"]) == (0, 3)


def test_one_sentence_is_about_a_draw_that_nobody_states():
    notes = [
        because(Reason.UNDECLARED_DRAW),
        because(Reason.FEW_AND_UNDECLARED, prompts=12, few=30),
    ]
    assert in_short(notes) == in_short(reversed(notes)) == in_words(notes[1])
