"""The figure of rank-biased overlap shows what its tables hold."""

import numpy as np
import pandas as pd
import pytest

from drawings import drawn_twice, is_page_of, on_paper, subject, texts
from recuse.base.tables import RBO, VALID
from recuse.plot.cobbler import NO_RANKINGS, SHOWN, rank_overlap_bars

JUDGES = [f"Judge {letter}" for letter in "ABCDEFGHIJKLMNO"]
STATISTICS = (
    "listing_order",
    "listing_order_with_annotators_together",
    "inter_annotator",
    "judges_with_annotators",
    "aggregate",
)


def overlaps(shown=SHOWN, judges=JUDGES, listing=0.5):
    rows = []
    for systems, form, ties, _ in shown:
        values = {statistic: listing + 0.05 * number for number, statistic in enumerate(STATISTICS)}
        table = [(statistic, None, value) for statistic, value in values.items()]
        table += [("judges_with_annotators", judge, 0.2 + 0.03 * number) for number, judge in enumerate(judges)]
        # The other way round: with the annotators together the last judge is the best.
        table += [("judges_with_annotators_together", judge, 0.7 - 0.02 * number) for number, judge in enumerate(judges)]
        table += [("judges_with_annotators", judge, 0.99) for judge in ["other form"]]
        for statistic, judge, value in table:
            kind = "no such form" if judge == "other form" else form
            rows.append(("s", statistic, kind, systems, ties, judge, value, None, 50, None, None, None))
    return pd.DataFrame(rows, columns=RBO)


def valid():
    rows = [("s", "Judge A", prompt, 100, 25, 0.25, None, None) for *_, prompt in SHOWN]
    return pd.DataFrame(rows, columns=VALID)


@pytest.mark.parametrize("shown", [SHOWN, SHOWN[:1]])
def test_bars_are_filled_where_a_judge_beats_the_list(shown):
    figure = rank_overlap_bars(overlaps(shown), valid(), subject())
    assert len(figure.axes) == len(shown)
    for axes in figure.axes:
        bars = [child for child in axes.get_children() if child.get_gid() == "judge"]
        expected = sorted((0.2 + 0.03 * number for number in range(15)), reverse=True)
        np.testing.assert_allclose([bar.get_width() for bar in bars], expected)
        assert [bar.get_facecolor() != (1, 1, 1, 1) for bar in bars] == [value > 0.5 for value in expected]
        marks = [child for child in axes.get_lines() if child.get_gid() == "together"]
        assert [mark.get_xdata()[0] for mark in marks] == pytest.approx([0.7 - 0.02 * number for number in range(14, -1, -1)])
        filled = [mark.get_markerfacecolor() != "white" for mark in marks]
        assert filled == [number < 8 for number in range(14, -1, -1)]  # 0.56 and more are better than the list's 0.55
        lines = [child.get_xdata()[0] for child in axes.get_children() if child.get_gid() in STATISTICS]
        assert lines == pytest.approx([0.5, 0.55, 0.6, 0.65, 0.7])
        assert axes.get_xlim()[1] > 0.7
        assert len(axes.get_yticklabels()) == 15
        assert axes.get_yticklabels()[-1].get_text() == "Judge A"
    assert texts(figure).count("25.0 %") == len(shown)
    said = " ".join(texts(figure))
    numbers = "list 0.5000, list with the annotators summed 0.5500, annotators 0.6000, judges 0.6500, aggregate 0.7000"
    better = ", ".join(f"Judge {letter} {0.7 - 0.02 * number:.4f}" for number, letter in enumerate("ABCDEFGH"))
    assert f"{numbers}; better than that with the annotators summed: {better}." in said
    assert on_paper(figure)


def test_no_rankings_are_a_page_of_words():
    assert is_page_of(rank_overlap_bars(overlaps([]), valid(), subject()), NO_RANKINGS)


def test_same_bytes_every_time_and_a_title_within(tmp_path):
    drawn_twice("cobbler:rank_overlap_bars", tmp_path, {"table": overlaps(judges=JUDGES[:3]), "valid": valid()})
