"""The figures of cognitive biases and rank-biased overlap show what the tables hold."""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from drawings import (
    artists,
    filled,
    is_page_with,
    prose,
    row_names,
    subject,
    texts,
    x_values,
)
from recuse.papers.cobbler import RBO, VALID
from recuse.papers.cobbler_figures import (
    NAMES,
    NOTHING,
    SHOWN,
    bias_by_size,
    bias_jitter,
    bias_profile,
    rank_overlap_bars,
)
from recuse.papers.cognitive import CLOSED_FORM, COGNITIVE_BIASES

JUDGES = [f"Judge {letter}" for letter in "ABCDEFGHIJKLMNO"]
SIZES = [">100B", ">40B", "<10B"]


def biases(judges=JUDGES, *, names=tuple(CLOSED_FORM), origin="computed", sizes=None, human=False):
    """A table of shares, no two of them equal."""
    rows = []
    for number, (judge, bias) in enumerate(itertools.product(judges, names)):
        share = (0.05 + 0.9 * (7 * number % 101) / 101) * 0.7
        size = sizes[judges.index(judge) % len(sizes)] if sizes else None
        rows.append({"judge": judge, "size": size, "bias": bias, "origin": origin, "share": share})
    for number, bias in enumerate(["order_first", "salience", "bandwagon"] if human else []):
        share = 0.3 + 0.1 * number
        rows.append(
            {"judge": "Human", "bias": bias, "origin": "released shares", "share": share}
            | ends(share)
        )
    table = pd.DataFrame(rows, columns=COGNITIVE_BIASES)
    return table.assign(study="s", random=table["bias"].map(CLOSED_FORM))


def ends(share):
    return {"ci_low": share - 0.05, "ci_high": share + 0.04}


def jitter(table, seed=1):
    return bias_jitter(table, subject(), confidence=0.9, seed=seed)


def every_figure(table):
    return jitter(table), bias_profile(table, subject()), bias_by_size(table, subject())


def marks(figure, gid):
    return [
        (float(point.get_xdata()[0]), float(point.get_ydata()[0])) for point in artists(figure, gid)
    ]


def test_a_point_for_each_judge_and_bias_and_a_line_for_each_threshold():
    table = biases(human=True)
    figure = jitter(table)
    judges = table[table["judge"] != "Human"]
    assert sorted(x for x, _ in marks(figure, "judge")) == sorted(judges["share"])
    assert [x for x, _ in marks(figure, "random")] == list(CLOSED_FORM.values())
    axes = figure.axes[0]
    assert row_names(axes) == list(NAMES.values())
    rows = [line.get_ydata() for line in artists(figure, "random")]  # the height of each row
    for (low, high), bias in zip(rows, CLOSED_FORM, strict=True):
        within = [x for x, y in marks(figure, "judge") if low < y < high]
        assert sorted(within) == sorted(judges.loc[judges["bias"] == bias, "share"])
    assert [x for x, _ in marks(figure, "human")] == pytest.approx([0.3, 0.4, 0.5])
    assert artists(figure, "interval")[0].get_xdata() == pytest.approx([0.25, 0.34])
    assert "humans, mean of the released shares" in texts(figure)
    assert "humans: 90 % bootstrap interval over instructions" in prose(figure)
    above = judges.assign(above=judges["share"] > judges["random"]).groupby("bias")["above"].sum()
    excess = (judges["share"] - judges["random"]).groupby(judges["bias"]).mean()
    strongest = (
        f"“{NAMES[excess.idxmax()]}”: it exceeds random choices in {above[excess.idxmax()]} of 15"
        " judges"
    )
    assert strongest in prose(figure)


def test_biases_without_a_share_are_said():
    table = biases(JUDGES[:3])
    table.loc[
        (table["bias"] == "bandwagon")
        | ((table["bias"] == "salience") & (table["judge"] == "Judge A")),
        "share",
    ] = np.nan
    text = (
        "Without a share, as all comparisons are left out, by number of judges: Salience (1);"
        " Bandwagon (3)."
    )
    for figure in every_figure(table):
        assert text in prose(figure)
    assert len(marks(jitter(table), "judge")) == 23
    empty = table.assign(share=np.nan)
    everything = "; ".join(f"{name} (3)" for name in NAMES.values())
    words = (
        f"{NOTHING} Without a share, as all comparisons are left out, by number of judges:"
        f" {everything}."
    )
    for figure in every_figure(empty):
        assert is_page_with(figure, words)


def test_the_profile_has_every_share_and_a_shade_for_what_exceeds_random_choices():
    table = biases(human=True)
    figure = bias_profile(table, subject())
    judges = table[table["judge"] != "Human"]
    random = np.array(list(CLOSED_FORM.values()))
    wide = (
        judges.pivot(index="judge", columns="bias", values="share")
        .loc[JUDGES, list(CLOSED_FORM)]
        .to_numpy()
    )
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert shown == [f"{share:.2f}" for share in [*wide.ravel(), 0.3, 0.4, 0.5, *random]]
    cells = figure.axes[0].collections[0]
    shades = np.ma.filled(cells.get_array().reshape(len(JUDGES) + 2, 9), np.nan)
    excess = np.maximum(wide - random, 0)
    assert_allclose(shades[:-2], excess / excess.max())
    assert not shades[-1].any()
    counts = (wide > random).sum(axis=1)
    most = JUDGES[counts.argmax()]
    least = JUDGES[counts.argmin()]
    exceeded = f"{most} exceeds random choices in all 9 biases, {least} in {counts.min()}"
    assert exceeded in prose(figure)


def test_parts_of_a_bar_are_mean_shares_over_the_number_of_biases():
    table = biases(sizes=SIZES, human=True)
    figure = bias_by_size(table, subject())
    judges = table[table["judge"] != "Human"]
    for bias in CLOSED_FORM:
        widths = [bar.get_width() for bar in artists(figure, bias)]
        means = judges[judges["bias"] == bias].groupby("size")["share"].mean().reindex(SIZES)
        assert_allclose(widths, means / 9)
    totals = [text.get_text() for text in figure.axes[0].texts if text.get_text()[:2] == "0."]
    assert totals == [f"{judges.loc[judges['size'] == size, 'share'].mean():.3f}" for size in SIZES]
    assert row_names(figure.axes[0]) == [f"{size} (5)" for size in SIZES]
    assert artists(figure, "random")[0].get_xdata() == pytest.approx([(8 * 0.25 + 0.5) / 9] * 2)


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
        table += [
            ("judges_with_annotators", judge, 0.2 + 0.03 * number)
            for number, judge in enumerate(judges)
        ]
        # The other way round: with the annotators together the last judge is the best.
        table += [
            ("judges_with_annotators_together", judge, 0.7 - 0.02 * number)
            for number, judge in enumerate(judges)
        ]
        table += [("judges_with_annotators", judge, 0.99) for judge in ["other form"]]
        for statistic, judge, value in table:
            kind = "no such form" if judge == "other form" else form
            rows.append(
                ("s", statistic, kind, systems, ties, judge, value, None, 50, None, None, None)
            )
    return pd.DataFrame(rows, columns=RBO)


def valid():
    rows = [("s", "Judge A", prompt, 100, 25, 0.25, None, None) for *_, prompt in SHOWN]
    return pd.DataFrame(rows, columns=VALID)


@pytest.mark.parametrize("shown", [SHOWN, SHOWN[:1]])
def test_points_are_filled_where_a_judge_beats_the_list(shown):
    figure = rank_overlap_bars(overlaps(shown), valid(), subject())
    assert len(figure.axes) == len(shown)
    for axes in figure.axes:
        points = artists(axes, "point")
        expected = sorted((0.2 + 0.03 * number for number in range(15)), reverse=True)
        assert_allclose(x_values(points), expected)
        assert [filled(point) for point in points] == [value > 0.5 for value in expected]
        lines = [
            child.get_xdata()[0] for child in axes.get_children() if child.get_gid() in STATISTICS
        ]
        assert lines == pytest.approx([0.5, 0.6])
        assert axes.get_xlim()[1] > 0.62
        assert len(axes.get_yticklabels()) == 15
        assert axes.get_yticklabels()[-1].get_text() == "Judge A"
    assert texts(figure).count("25.0 %") == len(shown)
    finding = "4 of 15 judges agree with the annotators more than a blind list does"
    assert finding in prose(figure)


def test_without_the_list_no_judge_is_said_to_be_better():
    table = overlaps(SHOWN[:1])
    figure = rank_overlap_bars(table[table["statistic"] != "listing_order"], valid(), subject())
    assert not any(map(filled, artists(figure, "point")))
    assert "None of" in prose(figure)
