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


def biases():
    """A table of shares, no two of them equal."""
    table = pd.DataFrame(itertools.product(JUDGES, CLOSED_FORM), columns=["judge", "bias"])
    number = np.arange(len(table))
    table["share"] = (0.05 + 0.9 * (7 * number % 101) / 101) * 0.7
    table["size"] = np.array(SIZES)[number // len(CLOSED_FORM) % 3]
    humans = pd.DataFrame({"bias": ["order_first", "salience", "bandwagon"], "judge": "Human"})
    humans = humans.assign(share=[0.3, 0.4, 0.5], ci_low=[0.25, 0.35, 0.45], ci_high=0.54)
    table = pd.concat(
        [table.assign(origin="computed"), humans.assign(origin="released shares")]
    ).reindex(columns=COGNITIVE_BIASES)
    return table.assign(study="s", random=table["bias"].map(CLOSED_FORM))


TABLE = biases()
OF_JUDGES = TABLE[TABLE["judge"] != "Human"]


def jitter(table, seed=1):
    return bias_jitter(table, subject(), confidence=0.9, seed=seed)


def every_figure(table):
    return jitter(table), bias_profile(table, subject()), bias_by_size(table, subject())


def marks(figure, gid):
    return [
        (float(point.get_xdata()[0]), float(point.get_ydata()[0])) for point in artists(figure, gid)
    ]


def test_a_point_for_each_judge_and_bias_and_a_line_for_each_threshold():
    figure = jitter(TABLE)
    judges = OF_JUDGES
    assert sorted(x for x, _ in marks(figure, "judge")) == sorted(judges["share"])
    assert [x for x, _ in marks(figure, "random")] == list(CLOSED_FORM.values())
    axes = figure.axes[0]
    assert row_names(axes) == list(NAMES.values())
    rows = [line.get_ydata() for line in artists(figure, "random")]  # the height of each row
    for (low, high), bias in zip(rows, CLOSED_FORM, strict=True):
        within = [x for x, y in marks(figure, "judge") if low < y < high]
        assert sorted(within) == sorted(judges.loc[judges["bias"] == bias, "share"])
    assert [x for x, _ in marks(figure, "human")] == pytest.approx([0.3, 0.4, 0.5])
    assert artists(figure, "interval")[0].get_xdata() == pytest.approx([0.25, 0.54])
    assert "humans, mean of the released shares" in texts(figure)
    assert "humans: 90 % bootstrap interval over instructions" in prose(figure)
    excess = (judges["share"] - judges["random"]).groupby(judges["bias"])
    strongest = excess.mean().idxmax()
    count = (excess.get_group(strongest) > 0).sum()
    sentence = f"“{NAMES[strongest]}”: it exceeds random choices in {count} of 15 judges"
    assert sentence in prose(figure)


def test_biases_without_a_share_are_said():
    table = OF_JUDGES[OF_JUDGES["judge"].isin(JUDGES[:3])].assign(size=None)
    is_empty = (table["bias"] == "bandwagon") | (
        (table["bias"] == "salience") & (table["judge"] == "Judge A")
    )
    table["share"] = table["share"].mask(is_empty)
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
    figure = bias_profile(TABLE, subject())
    random = np.array(list(CLOSED_FORM.values()))
    wide = OF_JUDGES["share"].to_numpy().reshape(len(JUDGES), 9)
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
    figure = bias_by_size(TABLE, subject())
    judges = OF_JUDGES
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


def overlaps(shown=SHOWN):
    steps = np.arange(len(JUDGES))
    single = pd.DataFrame({"judge": JUDGES, "value": 0.2 + 0.03 * steps})
    # The other way round: with the annotators together the last judge is the best.
    together = pd.DataFrame({"judge": JUDGES, "value": 0.7 - 0.02 * steps})
    other = {"judge": ["other form"], "value": 0.99, "form": "no such form"}
    parts = [
        pd.DataFrame({"statistic": STATISTICS, "value": 0.5 + 0.05 * np.arange(5)}),
        pd.concat([single, pd.DataFrame(other)]).assign(statistic="judges_with_annotators"),
        together.assign(statistic="judges_with_annotators_together"),
    ]
    table = pd.concat(parts)
    return pd.concat(
        table.assign(systems=systems, form=table["form"].fillna(form), ties=ties)
        for systems, form, ties, _ in shown
    )


def valid():
    return pd.DataFrame(
        {"judge": "Judge A", "prompt": [prompt for *_, prompt in SHOWN], "rate": 0.25}
    )


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
