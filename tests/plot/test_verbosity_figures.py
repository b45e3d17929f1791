"""The figures of verbosity, position and length show what their tables hold."""

from io import StringIO

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from drawings import (
    artists,
    by_row,
    filled,
    is_page_with,
    panel_titles,
    prose,
    row_names,
    subject,
    texts,
    x_values,
)
from recuse.data.registry import HUMAN
from recuse.pairwise.verbosity import VERBOSITY
from recuse.plot.colours import BLUE, FAINT
from recuse.plot.length import (
    FEWEST,
    LEAST_BINS,
    NO_BINS,
    OPEN,
    TALLEST,
    alignment_curves_figure,
    score_curves_figure,
)
from recuse.plot.verbosity import LEFT_OUT, NO_VALUE, position_figure, verbosity_bias

PRINTED = """
quantity,judge,value
verbosity_bias,GPT-4,0.328
verbosity_bias,GPT-3.5,0.428
agreement,Bard,0.9
"""


POSITIONS = """
judge,statistic,value,ci_low,ci_high,n
GPT-4,consistency,0.7,0.6,0.8,90
GPT-4,first_preference,0.6,0.55,0.65,150
GPT-4,first_both,0.2,0.1,0.3,90
Bard,consistency,0.4,0.3,0.5,100
Bard,first_preference,0.48,0.45,0.51,150
Ties,consistency,1.0,1.0,1.0,95
Ties,first_preference,,,,0
"""


BIASES = """
judge,verbosity_bias,ci_low,ci_high,order,draws,few,n_shorter,n_longer
Claude,-0.1,-0.3,0.1,debiased,excluded,no,50,60
GPT-4,0.4,0.3,0.5,debiased,excluded,no,50,60
Bard,0.2,0.1,0.3,debiased,excluded,yes,50,60
Claude,0.31,-0.9,0.9,ab,excluded,no,50,60
Claude,0.32,-0.9,0.9,ba,excluded,no,50,60
Claude,0.33,-0.9,0.9,pooled,excluded,no,50,60
Claude,0.77,0.7,0.8,debiased,half,no,50,60
none,,,,debiased,excluded,no,3,0
alike,0.3,,,debiased,excluded,no,50,60
"""


def test_verbosity_bias_is_drawn_by_judge_with_the_other_rules_beside_it(tmp_path):
    table = pd.read_csv(StringIO(BIASES)).assign(experiment=None, condition=None)
    (tmp_path / "printed.csv").write_text(PRINTED.lstrip(), "utf-8")
    published = [tmp_path / "printed.csv"]
    figure = verbosity_bias(table, subject("published"), confidence=0.9, published=published)
    (axes,) = figure.axes
    labels = row_names(axes)
    assert labels == ["Bard", "Claude", "GPT-4", "alike", "none"]
    values = {"GPT-4": 0.4, "Claude": -0.1, "Bard": 0.2, "alike": 0.3}
    assert by_row(axes, "debiased") == values
    points = dict(zip(by_row(axes, "debiased"), artists(axes, "debiased"), strict=True))
    assert [judge for judge, point in points.items() if filled(point)] == ["GPT-4"]
    colours = {judge: to_hex(point.get_color()).upper() for judge, point in points.items()}
    assert (colours["Bard"], colours["GPT-4"]) == (FAINT, BLUE)  # few on one side, or not
    small = {rule: x_values(artists(figure, rule)) for rule in ("ab", "ba", "pooled")}
    assert small == {"ab": [0.31], "ba": [0.32], "pooled": [0.33]}
    assert by_row(axes, "published") == {"GPT-4": 0.328}
    assert {"50 + 60", "3 + 0", NO_VALUE} <= set(texts(figure))
    assert any("other data" in text for text in texts(figure))
    assert "fewer than 10 questions on one side: interval too short" in texts(figure)
    assert axes.get_xlim()[0] < -0.3
    words = "1 of 2 judges disagrees more where the humans prefer the shorter answer (GPT-4, +0.400"
    assert words in prose(figure)
    alone = verbosity_bias(table[:1], subject("published"), confidence=0.9, published=published)
    assert not any("other data" in text or "fewer than" in text for text in texts(alone))


def test_verdicts_none_of_which_counts_are_a_page_with_the_reasons():
    words = {
        "no_length": "an unknown length",
        "judge_draws": "a draw of the judge",
        "errors": "an error or one order alone",
    }
    assert {*LEFT_OUT} <= {*VERBOSITY}
    for reason in words:
        none = {"draws": "excluded", **dict.fromkeys(LEFT_OUT, 0)}
        table = pd.DataFrame([none, none | {reason: 2}]).reindex(columns=VERBOSITY)
        figure = verbosity_bias(table, subject(), confidence=0.9)
        assert not figure.axes
        # The lowest line comes first
        text = " ".join(reversed(texts(figure))).partition("Left out: comparisons with ")[2]
        assert [name for name in words if words[name] in text] == [reason]


def length_table(**columns):
    """A bin without upper end, and one of fewer than 10 comparisons, for each judge and
    condition.
    """
    bins = pd.DataFrame(
        {
            "bin_low": [-60.0, -40.0, -20.0, 0.0, 20.0],
            "bin_high": [-40.0, -20.0, 0.0, 20.0, np.nan],
            "n": [FEWEST, 4 * FEWEST, FEWEST, FEWEST - 1, FEWEST],
        }
    )
    panels = pd.DataFrame({"judge": ["J", "J", "K"], "condition": ["one", "two", "one_and_two"]})
    return panels.merge(bins, how="cross").assign(**{"experiment": None, "no_length": 0} | columns)


def drawn_ends(axes):
    """Lower and upper ends of the intervals of a panel."""
    (bars,) = artists(axes, "interval")
    return [segment[:, 1] for segment in bars.get_segments() if len(segment)]


def test_curves_have_a_panel_for_each_judge_and_condition_and_gaps_at_small_bins():
    """A bin of fewer than 10 swings from 0 to 100 %."""
    both = length_table(order="debiased", std_dev=0.1)
    both["mean"] = np.linspace(-0.5, 0.5, len(both))
    both.loc[both["judge"] == "K", "order"] = "single"
    single = both.query("judge == 'J'").assign(order="single", mean=0.9)  # not drawn: J has both
    table = pd.concat([single, both]).sort_values("bin_low", ascending=False, kind="stable")
    figure = score_curves_figure(table, subject())
    assert panel_titles(figure) == ["J", "J", "K"]
    headings = [axes.texts[0].get_text() for axes in figure.axes]
    assert headings == ["One n = 79", "Two n = 79", "One and two n = 79"]
    for place, axes in enumerate(figure.axes):
        values = both["mean"][5 * place : 5 * place + 5].where(both["n"] >= FEWEST)
        closed, without_end = artists(axes, "point")
        assert_allclose(closed.get_xydata(), np.stack([[-50, -30, -10, 10], values[:4]], axis=1))
        assert_allclose(without_end.get_xydata(), [[OPEN, values.iloc[4]]])
        assert (filled(closed), filled(without_end)) == (True, False)
        (line,) = artists(axes, "curve")
        assert_allclose(line.get_ydata(), values)
        drawn = values.dropna()
        assert_allclose(drawn_ends(axes), np.stack([drawn - 0.1, drawn + 0.1], axis=1))
    assert is_page_with(score_curves_figure(both[both["bin_low"] < -20], subject()), NO_BINS)
    assert LEAST_BINS == 3


def test_experiments_have_panels_of_their_own_and_the_note_tells_what_is_left_out():
    def with_again(rows):
        return pd.concat([rows, rows.assign(experiment="again")], ignore_index=True)

    def in_two(text):
        rows = pd.read_csv(StringIO(text)).assign(experiment=None)
        rows = pd.concat([rows.assign(condition=name) for name in ("one", "one_and_two")])
        return with_again(rows)

    experiments = ("no experiment", "again")
    headings = {f"{name} ({of})" for name in ("One", "One and two") for of in experiments}
    lengths = with_again(length_table(no_length=[*range(15)]))
    scored = lengths.assign(order="debiased", mean=0.5, std_dev=0.1)
    scored = pd.concat([scored, scored.assign(order="single", no_length=99)])
    agreeing = lengths.assign(agreement=0.5, ci_low=0.4, ci_high=0.6)
    for figure in (
        score_curves_figure(scored, subject()),
        alignment_curves_figure(agreeing, subject(), confidence=0.9),
    ):
        assert headings <= {axes.texts[0].get_text().rpartition(" n =")[0] for axes in figure.axes}
        note = "Left out, as a length is unknown: up to 14 comparisons of a panel."
        assert note in prose(figure)
    known = agreeing.assign(no_length=0)
    assert "Left out" not in prose(alignment_curves_figure(known, subject(), confidence=0.9))
    figure = position_figure(in_two(POSITIONS), subject(), confidence=0.9)
    assert headings <= {*texts(figure)}
    figure = verbosity_bias(in_two(BIASES), subject(), confidence=0.9)
    assert headings <= {*panel_titles(figure)}


def test_alignment_curves_tell_the_counts():
    table = length_table(agreement=[0.2, 0.5, 0.2, 0.9, 0.6] * 3, ci_low=0.4, ci_high=0.6)
    figure = alignment_curves_figure(table, subject(), confidence=0.9)
    words = "Judges agree with 74 % of the humans' choices of a longer answer, 40 % of a shorter"
    assert words in prose(figure)
    for axes in figure.axes:
        heights = np.array([bar.get_height() for bar in axes.patches])
        assert_allclose(heights / TALLEST, [0.25, 1, 0.25, 9 / 40, 0.25])
        assert_allclose(drawn_ends(axes), [[0.4, 0.6]] * 4)
    none_longer = table.assign(n=table["n"].where(table["bin_high"] <= 0, 0))
    figure = alignment_curves_figure(none_longer, subject(), confidence=0.9)
    assert "Judges agree with an unknown share of the humans' choices of a longer" in prose(figure)


def test_scores_of_longer_answers_are_compared_with_those_of_shorter_ones():
    of_judges, of_humans = [0.0, -0.3, 0.0, 0.5, 0.5], [0.0, 0.0, 0.0, 0.1, 0.1]
    table = length_table(order="single", std_dev=0.1, mean=of_judges * 2 + of_humans)
    figure = score_curves_figure(table.replace({"judge": {"K": HUMAN}}), subject())
    words = "Longer answers score +0.70 with the judges and +0.10 with the humans"
    assert words in prose(figure)


def test_position_is_filled_where_the_interval_excludes_one_half():
    table = pd.read_csv(StringIO(POSITIONS))
    table = table.assign(condition=np.nan, experiment=np.nan)
    figure = position_figure(table, subject(), confidence=0.9)
    consistency, preference = figure.axes
    points = [artists(axes, "point") for axes in figure.axes]
    assert row_names(consistency) == ["Bard", "GPT-4", "Ties"]
    assert by_row(consistency) == {"GPT-4": 0.7, "Bard": 0.4, "Ties": 1.0}
    assert [(point.get_xdata()[0], filled(point)) for point in points[1]] == [
        (0.6, True),
        (0.48, False),
    ]
    assert "ties only" in texts(figure)
    assert "n = 90 to 100" in texts(figure)
    assert "1 of 2 judges prefers the answer shown first" in prose(figure)
    assert 0.5 in x_values(preference.lines)


SINGLE = """
judge,statistic,value,ci_low,ci_high,n
Bard,single_order_first,0.65,0.6,0.7,100
Bard,single_order_own,0.5,0.45,0.55,100
"""


def test_position_shows_single_orders_where_there_are_no_others():
    table = pd.read_csv(StringIO(SINGLE)).assign(condition=np.nan, experiment=np.nan)
    figure = position_figure(table, subject(), confidence=0.9)
    assert x_values(artists(figure, "point")) == [0.65, 0.5]
    assert "only if it was drawn at random" in prose(figure)
    assert texts(figure).count("n = 100") == 2
