"""Figures of what stands beside the estimates: the leaderboard, curves over reliability, few labels, the power."""

import numpy as np
import pandas as pd
import pytest

from drawings import PRESENT, VERY_LONG, artists, drawn_twice, has_room, is_page_of, on_paper, subject, texts
from recuse.inference.leaderboard import DEBIASED, HUMAN, NO_CHAIN, RAW, SMALL_SAMPLE, WITHOUT_FAMILY, WITHOUT_SELF
from recuse.inference.power import NOT_ESTIMABLE, OVERSIZED, UNKNOWN_PREFERENCES
from recuse.inference.ppi import HUMANS, STRATA
from recuse.model.spec import A
from recuse.plot import leaderboard, power, reliability
from recuse.plot.leaderboard import sentences
from tables_of_inference import BY_MODEL, board, curves, labels, of_reliability, plans

KINDS = (RAW, DEBIASED, WITHOUT_SELF, WITHOUT_FAMILY, HUMAN)


SAME = {kind: [1, 2, 3, 4] for kind in KINDS}


DRAW = {
    "leaderboard": leaderboard.leaderboard,
    "ppi": power.ppi,
    "power": power.power,
    "reliability": reliability.reliability,
}


def drawn(name, *tables):
    return DRAW[name](*tables, subject(), confidence=0.9)


def foot(figure):
    return " ".join(texts(figure))


def test_models_are_in_the_order_of_the_ratings_as_they_are_with_scores_and_ranks():
    figure = drawn("leaderboard", board({**SAME, RAW: [3, 1, 2, 4]}))
    scores, ranks = figure.axes
    order = [PRESENT[1], PRESENT[2], PRESENT[0], PRESENT[3]]
    assert [label.get_text() for label in scores.get_yticklabels()] == order
    raw = artists(figure, RAW)
    assert [point.get_xdata()[0] for point in raw if point.axes is ranks] == [3, 1, 2, 4]
    assert [point.get_xdata()[0] for point in raw if point.axes is scores] == pytest.approx([0.7, 0.9, 0.8, 0.6])
    assert [point.get_xdata()[0] for point in artists(figure, DEBIASED) if point.axes is ranks] == [1, 2, 3, 4]
    assert [line.get_xdata().tolist() for line in artists(figure, "raw rank")] == [[3, 3], [1, 1], [2, 2], [4, 4]]
    assert artists(figure, "set")[0].get_xdata() == pytest.approx([1.8, 4.2])
    assert len(artists(figure, "interval")) == len(artists(figure, "set")) == 20
    assert on_paper(figure)


def test_the_foot_says_whether_the_ranking_changes():
    assert foot(drawn("leaderboard", board(SAME))).count("no model changes its rank") == 4
    swapped = board({**SAME, DEBIASED: [2, 1, 3, 4], HUMAN: [4, 2, 3, 1]})
    text = foot(drawn("leaderboard", swapped))
    assert f"With the biases taken off ({A}): 2 of 4 models change their rank, none beyond its rank set" in text
    assert "(Claude v2 1 → 2, Claude 3 Sonnet 2 → 1)" in text
    assert "By human scores: 2 of 4 models change their rank, Claude v2 and Llama 3 8B beyond the rank set" in text
    sliced = board({RAW: [1, 2, 3, 4], DEBIASED: [4, 1, 2, 3]}, label="Wit")
    text = foot(drawn("leaderboard", pd.concat([swapped, sliced])))
    assert "4 of 4 ranks change, beyond the rank set: Claude v2 in Wit." in text
    assert "In Wit alone, with the biases taken off: 4 of 4" in text
    # The last rank of the set is within it, the next one beyond.
    wide = board({RAW: [1, 2, 3, 4], DEBIASED: [3, 1, 2, 4]}, sets=2)
    assert "3 of 4 models change their rank, none beyond" in foot(drawn("leaderboard", wide))
    wide = board({RAW: [1, 2, 3, 4], DEBIASED: [4, 1, 2, 3]}, sets=2)
    assert "4 of 4 models change their rank, Claude v2 beyond the rank set" in foot(drawn("leaderboard", wide))


def test_the_foot_warns_of_few_prompts():
    note = SMALL_SAMPLE.format(prompts=12, few=30)
    assert f" {note}." in foot(drawn("leaderboard", board(SAME).assign(note=note)))


def test_scores_that_cannot_be_had_are_named_with_the_reason():
    table = board(SAME)
    gone = table["scores"] == WITHOUT_FAMILY
    table.loc[gone, ["score", "ci_low", "ci_high", "rank", "rank_low", "rank_high"]] = np.nan
    table["note"] = table["note"].astype(object).where(~gone, NO_CHAIN)
    figure = drawn("leaderboard", table)
    assert not artists(figure, WITHOUT_FAMILY)
    assert f"Without judges' ratings of their family: {NO_CHAIN}." in foot(figure)
    assert is_page_of(drawn("leaderboard", table[:0]), leaderboard.NONE)


def test_a_panel_for_each_bias_with_a_curve_for_each_estimand():
    figure = drawn("reliability", *of_reliability().values())
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["GPT-4o", "Claude family"]
    for axes in figure.axes:
        lines = [line for line in axes.lines if line.get_gid() == "curve"]
        assert [line.get_xdata().tolist() for line in lines] == [[0.3, 0.65, 1.0]] * 2
        assert lines[0].get_ydata() == pytest.approx([-0.01, 0.025, 0.06])
        assert [line.get_xdata() for line in axes.lines if line.get_gid() == "breakdown"] == [pytest.approx([0.6])] * 2
        assert [line.get_xdata() for line in axes.lines if line.get_gid() == "reversal"] == [pytest.approx([0.5])] * 2
        own = [line for line in axes.lines if line.get_gid() == "own"]
        assert np.mean([line.get_xdata()[0] for line in own]) == pytest.approx(0.55)  # over the mean of the dimensions
        (ticks,) = (line.get_xdata() for line in axes.lines if line.get_gid() == "dimension")
        assert list(ticks) == [0.4, 0.7]
    assert figure.axes[0].lines[3].get_color() != figure.axes[1].lines[3].get_color()
    assert "The study's own, from raters: Tone 0.40, Wit 0.70." in foot(figure)
    assert "below this the bias has the opposite sign" in texts(figure)
    tables = of_reliability()
    tables["breakdowns"]["reversal"] = np.nan
    tables["reliabilities"].loc[0, "mean"] = 0.2  # beside the panel: named, but without a tick
    (ticks, *_) = (line.get_xdata() for line in artists(drawn("reliability", *tables.values()), "dimension"))
    assert list(ticks) == [0.7]
    assert "below this the bias has the opposite sign" not in texts(drawn("reliability", *tables.values()))
    assert on_paper(figure)


def test_an_unknown_reliability_is_said_and_leaves_the_curves():
    figure = drawn("reliability", *of_reliability(known=()).values())
    assert len(artists(figure, "curve")) == 4
    assert not artists(figure, "own")
    assert "The study's own: not corrected: unknown in Wit." in foot(figure)


def test_a_curve_that_runs_away_leaves_its_panel_and_not_the_axis_to_the_others():
    curve = curves()
    curve.loc[curve["reliability"] == 0.3, ["estimate", "ci_low", "ci_high"]] = [-5.0, -5.01, -4.9]
    figure = drawn("reliability", *of_reliability(curve).values())
    assert figure.axes[0].get_ylim()[0] > -0.2
    assert "Some curves continue beyond their panel." in foot(figure)
    assert is_page_of(drawn("reliability", *of_reliability(curve.assign(estimate=np.nan)).values()), reliability.NONE)


def test_a_panel_has_an_axis_of_its_own_and_a_diamond_is_hollow_where_its_interval_holds_0():
    tables = of_reliability(curves([("self_bias", "GPT-4o"), ("self_bias", "Claude v2")]))
    larger = tables["curves"]["term"] == "Claude v2"
    tables["curves"].loc[larger, ["estimate", "ci_low", "ci_high"]] *= 20
    own = tables["measurement_error"]
    ends = (own["term"] == "Claude v2").map({True: -0.01, False: 0.01})
    tables["measurement_error"] = own.assign(estimate=0.02, ci_low=ends, ci_high=0.04)
    figure = drawn("reliability", *tables.values())
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Claude v2", "GPT-4o"]
    spans = [np.diff(axes.get_ylim())[0] for axes in figure.axes]
    assert spans[0] > 5 * spans[1]
    assert all(any(label.get_text() for label in axes.get_yticklabels()) for axes in figure.axes)
    for axes, hollow in zip(figure.axes, (True, False), strict=True):
        faces = [line.get_markerfacecolor() for line in axes.lines if line.get_gid() == "own"]
        assert [face == "white" for face in faces] == [hollow] * 2


def test_widths_against_labels_with_what_is_saved_at_most_labels():
    figure = drawn("ppi", labels())
    assert [axes.get_title(loc="left") for axes in figure.axes] == PRESENT
    assert artists(figure, STRATA)[0].get_ydata() == pytest.approx(0.6 / np.sqrt([10, 50]))
    assert artists(figure, HUMANS)[0].get_xdata().tolist() == [10, 50]
    assert texts(figure).count("saved pooled: 36 %\nsaved stratified: 64 %") == 4
    points = artists(figure, "points")
    assert [(point.get_markerfacecolor() == "white", *point.get_xdata()) for point in points[:2]] == [(True, 10), (False, 50)]
    output = foot(figure)
    assert (
        "With 50 labelled prompts (250 human scores of a model), the judges' ratings save a share of the labels (36 to"
        " 36 % pooled, 64 to 64 %" in output
    )
    assert "in 90 % of the choices and do so in 48 to 80 % with 10 prompts and 90 % with 50 prompts." in output
    assert "By the actual errors with 10 prompts, over all models, the judges save 36 % pooled and 0 % stratified." in output
    assert on_paper(figure)
    few = drawn("ppi", labels(prompts=(10, 20)))  # what so few would save is not to be relied on
    assert not [text for text in texts(few) if "saved" in text or "save a share" in text]
    few = labels()
    few.loc[few["model"] == PRESENT[0], "saved"] = np.nan  # human scores that do not vary
    assert texts(drawn("ppi", few)).count("saved pooled: 36 %\nsaved stratified: 64 %") == 3
    assert "actual errors" not in foot(drawn("ppi", labels(prompts=(30, 50))))
    assert is_page_of(drawn("ppi", few[:0]), power.NO_LABELS)


def test_the_power_figure_says_how_many_prompts_it_takes_or_never():
    figure = drawn("power", plans())
    output = texts(figure)
    assert [output.count(words) for words in ("4,936", "9,872", "never", "–", "not estimable")] == [2, 2, 4, 4, 1]
    assert not [text for text in output if "inf" in text.lower().split() or "nan" in text.lower().split()]
    assert [axes.get_title(loc="left").split(":")[0] for axes in figure.axes[::2]] == ["A", "B", "C"]
    lines = [line for line in figure.axes[0].lines if line.get_gid() == "detectable"]
    assert lines[0].get_ydata() == pytest.approx([1 / 20, 1 / np.sqrt(4000)])
    assert len({(line.get_color(), str(line.get_linestyle())) for line in lines}) == 4
    assert [line.get_ydata()[0] for line in artists(figure, "floor")] == [0.03] * 4
    assert [line.get_ydata()[0] for line in artists(figure, "aim")] == [0.02] * 3
    assert artists(figure, "size")[0].axes is figure.axes[1]
    assert f"–: {NOT_ESTIMABLE}." in output
    assert on_paper(figure)
    assert is_page_of(drawn("power", plans()[-8:]), power.NONE)


def test_the_power_figure_says_where_its_test_is_not_of_the_right_size_and_where_preference_is_not_known():
    table = plans()
    of_a, of_b = ((table["estimand"] == estimand) for estimand in (A, BY_MODEL))
    table.loc[of_a & (table["raters"] == 1), "note"] = OVERSIZED
    table.loc[of_b, "note"] = UNKNOWN_PREFERENCES
    table.loc[of_b, ["floor", "size", "prompts_needed"]] = np.nan
    figure = drawn("power", table)
    text = texts(figure)
    counts = [text.count(words) for words in ("4,936 *", "9,872 *", "4,936", "9,872", "unknown", "at least", "–")]
    assert counts == [1, 1, 1, 1, 5, 1, 4]
    assert f"*: {OVERSIZED}; the number is for a test of the right size." in foot(figure)
    assert f"At least, unknown: {UNKNOWN_PREFERENCES}." in foot(figure)
    assert not artists(figure, "floor")
    assert on_paper(figure)


def test_the_power_figure_without_known_reliability_has_exact_scores_and_no_raters():
    table = plans()[lambda rows: rows["raters"] == 1].assign(raters=np.nan)
    figure = drawn("power", table)
    output = texts(figure)
    assert {"human scores taken as exact", "exact scores"} <= set(output)
    assert not [text for text in output if text.startswith(("1 human", "0 human", "nan"))]
    assert "The reliability of the human scores is unknown" in foot(figure)
    assert "more raters" not in foot(figure)
    assert len([line for line in figure.axes[0].lines if line.get_gid() == "detectable"]) == 2
    assert "more raters remove the error" in foot(drawn("power", plans()))


@pytest.mark.parametrize("models", [["one"], [f"a model with a rather long name {number}" for number in range(14)]])
def test_any_number_of_models_fits_the_paper(models):
    ranks = {kind: list(range(1, len(models) + 1)) for kind in KINDS}
    assert on_paper(drawn("leaderboard", board(ranks, models)))
    assert on_paper(drawn("ppi", labels(models)))
    assert on_paper(drawn("reliability", *of_reliability(curves([("self_bias", model) for model in models])).values()))


@pytest.mark.parametrize(
    ("draw", "tables"),
    [
        ("leaderboard:leaderboard", {"table": board(SAME)}),
        ("reliability:reliability", of_reliability()),
        ("power:ppi", {"table": labels()}),
        ("power:power", {"table": plans()}),
    ],
)
def test_the_script_draws_the_same_bytes(draw, tables, tmp_path):
    drawn_twice(draw, tmp_path, tables, confidence=0.9)


def test_models_without_a_score_are_left_out_of_both_rankings():
    kinds = {"raw": "XAB", "debiased": "AB"}
    rows = [(kind, model, rank) for kind, models in kinds.items() for rank, model in enumerate(models, 1)]
    table = pd.DataFrame(rows, columns=["scores", "model", "rank"])
    table = table.assign(spec="main", slice=None, estimand="A", score=0.5, note="", rank_low=1, rank_high=1)
    assert sentences(table, table) == ["With the biases taken off (A): no model changes its rank."]


def test_a_name_of_300_letters_leaves_the_panels_of_the_leaderboard_room():
    table = board(SAME)
    assert has_room(drawn("leaderboard", table.assign(model=table["model"] + VERY_LONG)))
