"""The figures of cognitive biases and rank-biased overlap show what the tables hold."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from drawings import VERY_LONG, artists, drawn_twice, has_room, is_page_of, on_paper, subject, texts
from recuse.base.tables import COGNITIVE_BIASES, RANDOM, RBO, VALID
from recuse.pairwise.cognitive import CLOSED_FORM
from recuse.plot.cobbler import (
    ALL,
    INTERVALS,
    NAMES,
    NO_COMMON,
    NO_RANKINGS,
    NOTHING,
    ORIGINS,
    PARTLY,
    SHOWN,
    bias_by_size,
    bias_jitter,
    bias_polygon,
    rank_overlap_bars,
)
from recuse.plot.cobbler import FEW_BIASES as FEW
from recuse.plot.colours import OKABE_ITO
from recuse.plot.style import read

JUDGES = [f"Judge {letter}" for letter in "ABCDEFGHIJKLMNO"]
SIZES = [">100B", ">40B", "<10B"]
THRESHOLDS = pd.DataFrame([("s", b, c, c + 0.001, 0.002, 1000) for b, c in CLOSED_FORM.items()], columns=RANDOM)


def biases(judges=JUDGES, *, names=tuple(CLOSED_FORM), origin="computed", sizes=None, human=False):
    """A table of shares, no two of them equal."""
    rows = []
    for number, (judge, bias) in enumerate(itertools.product(judges, names)):
        share = (0.05 + 0.9 * (7 * number % 101) / 101) * 0.7
        size = sizes[judges.index(judge) % len(sizes)] if sizes else None
        rows.append({"judge": judge, "size": size, "bias": bias, "origin": origin, "share": share})
    for number, bias in enumerate(["order_first", "salience", "bandwagon"] if human else []):
        share = 0.3 + 0.1 * number
        rows.append({"judge": "Human", "bias": bias, "origin": "released shares", "share": share} | ends(share))
    table = pd.DataFrame(rows, columns=COGNITIVE_BIASES)
    return table.assign(study="s", random=table["bias"].map(CLOSED_FORM))


def ends(share):
    return {"ci_low": share - 0.05, "ci_high": share + 0.04}


def jitter(table, seed=1):
    return bias_jitter(table, THRESHOLDS, subject(), confidence=0.9, seed=seed)


def marks(figure, gid):
    return [(float(point.get_xdata()[0]), float(point.get_ydata()[0])) for point in artists(figure, gid)]


def test_a_point_for_each_judge_and_bias_and_a_line_for_each_threshold():
    table = biases(human=True)
    figure = jitter(table)
    judges = table[table["judge"] != "Human"]
    assert sorted(x for x, _ in marks(figure, "judge")) == sorted(judges["share"])
    assert [x for x, _ in marks(figure, "random")] == list(CLOSED_FORM.values())
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(NAMES.values())
    rows = [line.get_ydata() for line in artists(figure, "random")]  # the height of each row
    for (low, high), bias in zip(rows, CLOSED_FORM, strict=True):
        within = [x for x, y in marks(figure, "judge") if low < y < high]
        assert sorted(within) == sorted(judges.loc[judges["bias"] == bias, "share"])
    assert [x for x, _ in marks(figure, "human")] == pytest.approx([0.3, 0.4, 0.5])
    assert artists(figure, "human interval")[0].get_xdata() == pytest.approx([0.25, 0.34])
    assert on_paper(figure)
    assert "humans, mean of the released shares, 90 % bootstrap interval over instructions" in texts(figure)
    assert "1,000 comparisons a bias: within 0.0010 of the line (standard error up to 0.0020)" in " ".join(texts(figure))


def test_experiments_and_a_judge_called_human_are_told_apart():
    one, two = biases(JUDGES[:3]), biases(JUDGES[:2])
    two["share"] = two["share"] / 2
    table = pd.concat([one.assign(experiment="one"), two.assign(experiment="two")], ignore_index=True)
    output = "A judge counts once in each experiment."
    names = [f"{judge} (one)" for judge in JUDGES[:3]] + [f"{judge} (two)" for judge in JUDGES[:2]]
    for figure in (jitter(table), bias_polygon(table, subject()), bias_by_size(table, subject())):
        assert output in " ".join(texts(figure)).replace("\n", " ")
        assert on_paper(figure)
    assert sorted(x for x, _ in marks(jitter(table), "judge")) == sorted(table["share"])
    titles = [text.replace("\n", " ") for text in texts(bias_polygon(table, subject()))]
    assert set(names) <= set(titles)
    assert len(artists(bias_polygon(table, subject()), "judge")) == 5
    assert [label.get_text() for label in bias_by_size(table, subject()).axes[0].get_yticklabels()] == [f"{ALL} (5)"]
    human = biases(["Human", *JUDGES[:2]])  # a judge of the user's, and no released shares
    assert len(marks(jitter(human), "judge")) == 27
    assert artists(jitter(human), "human") == []
    assert "Human (judge)" in [text.replace("\n", " ") for text in texts(bias_polygon(human, subject()))]


def test_biases_without_a_share_are_said():
    table = biases(JUDGES[:3])
    table.loc[(table["bias"] == "bandwagon") | ((table["bias"] == "salience") & (table["judge"] == "Judge A")), "share"] = (
        np.nan
    )
    text = "Without a share, as all comparisons are left out, by number of judges: Salience (1); Bandwagon (3)."
    for figure in (jitter(table), bias_polygon(table, subject()), bias_by_size(table, subject())):
        assert text in " ".join(texts(figure)).replace("\n", " ")
        assert on_paper(figure)
    assert len(marks(jitter(table), "judge")) == 23
    empty = table.assign(share=np.nan)
    everything = "; ".join(f"{name} (3)" for name in NAMES.values())
    words = f"{NOTHING} Without a share, as all comparisons are left out, by number of judges: {everything}."
    for figure in (jitter(empty), bias_polygon(empty, subject()), bias_by_size(empty, subject())):
        assert is_page_of(figure, words)


def test_points_are_scattered_alike_by_one_seed_only():
    heights = [[y for _, y in marks(jitter(biases(), seed), "judge")] for seed in (1, 1, 2)]
    assert heights[0] == heights[1] != heights[2]
    assert len({round(y, 6) for y in heights[0]}) > 100


def names(figure):
    return [text.get_text().replace("\n", " ") for text in figure.texts if text.get_gid() == "names"]


def test_the_most_biased_judge_and_outliers_are_named():
    table = biases(names=["order_first"])
    table["share"] = np.linspace(0.30, 0.44, len(JUDGES))
    table.loc[0, "share"], table.loc[5, "share"] = 0.01, 0.02
    assert names(jitter(table)) == ["Judge O 0.44, Judge F 0.02, Judge A 0.01"]
    table["share"] = 0.0  # no judge is the most biased
    assert names(jitter(table)) == [""]
    few = jitter(biases(JUDGES[:4]))
    assert [text.count("Judge") for text in names(few)] == [4] * 9
    assert on_paper(few)


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize(
    "draw", [jitter, lambda table: bias_polygon(table, subject()), lambda table: bias_by_size(table, subject())]
)
def test_figures_say_what_is_quoted_and_what_computed(draw, origin):
    output = " ".join(texts(draw(biases(origin=origin)))).replace("\n", " ")
    assert ORIGINS[origin] in output
    assert all(text not in output for other, text in ORIGINS.items() if other != origin)
    assert "closed form" in output


def test_whose_a_share_is_has_one_mark_in_every_figure():
    drawn = {origin: biases(JUDGES[:2], origin=origin, human=True) for origin in ORIGINS}
    found = {
        (origin, gid): {
            (to_hex(mark.get_color()).upper(), mark.get_marker())
            for figure in (jitter(table), bias_polygon(table, subject()))
            for mark in artists(figure, gid)
        }
        for origin, table in drawn.items()
        for gid in ("judge", "human")
    }
    looks = {gid: [found[origin, gid] for origin in ORIGINS] for gid in ("judge", "human")}
    assert looks["human"][0] == looks["human"][1]
    assert [len(look) for look in (*looks["judge"], looks["human"][0])] == [1, 1, 1]
    colours, markers = zip(*(next(iter(look)) for look in (*looks["judge"], looks["human"][0])), strict=True)
    assert len(set(colours)) == len(set(markers)) == 3
    by_size = bias_by_size(drawn["computed"], subject())
    tests = {to_hex(bar.get_facecolor()).upper() for bias in CLOSED_FORM for bar in artists(by_size, bias)}
    assert len(tests) == 6
    assert not tests & set(OKABE_ITO)


def test_that_judges_have_intervals_is_said_where_they_are_computed():
    text = {origin: " ".join(texts(jitter(biases(origin=origin, human=True)))).replace("\n", " ") for origin in ORIGINS}
    assert [INTERVALS in text[origin] for origin in ("computed", "quoted")] == [True, False]


def test_a_polygon_for_each_judge_scaled_to_the_most_biased():
    table = biases(human=True)
    figure = bias_polygon(table, subject())
    assert len(figure.axes) == len(JUDGES) + 1
    judges = table[table["judge"] != "Human"]
    most = np.maximum(judges.groupby("bias")["share"].max().reindex(CLOSED_FORM), list(CLOSED_FORM.values())).to_numpy()
    for judge, line in zip(JUDGES, artists(figure, "judge"), strict=True):
        own = judges[judges["judge"] == judge].set_index("bias")["share"].reindex(CLOSED_FORM).to_numpy()
        np.testing.assert_allclose(np.hypot(*line.get_xydata().T), [*(own / most), own[0] / most[0]])
    random = np.hypot(*artists(figure, "random")[0].get_xydata().T)
    np.testing.assert_allclose(random[:-1], np.array(list(CLOSED_FORM.values())) / most)
    (human,) = artists(figure, "human")
    assert np.isfinite(human.get_xydata()[:-1, 0]).sum() == 3  # the outline is open where there is no share
    assert on_paper(figure)
    assert f"B Bandwagon {most[list(CLOSED_FORM).index('bandwagon')]:.2f}" in texts(figure)


def test_nobody_exceeds_the_random_polygon():
    table = biases(JUDGES[:2], names=["order_first", "order_last", "salience"])
    table["share"] = 0.0
    random = artists(bias_polygon(table, subject()), "random")[0]
    np.testing.assert_allclose(np.hypot(*random.get_xydata().T), 1)


def test_parts_of_a_bar_are_mean_shares_over_the_number_of_biases():
    table = biases(sizes=SIZES, human=True)
    figure = bias_by_size(table, subject())
    judges = table[table["judge"] != "Human"]
    for bias in CLOSED_FORM:
        widths = [bar.get_width() for bar in artists(figure, bias)]
        means = judges[judges["bias"] == bias].groupby("size")["share"].mean().reindex(SIZES)
        np.testing.assert_allclose(widths, means / 9)
    totals = [text.get_text() for text in artists(figure, "total")]
    assert totals == [f"{judges.loc[judges['size'] == size, 'share'].mean():.3f}" for size in SIZES]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [f"{size} (5)" for size in SIZES]
    assert artists(figure, "random")[0].get_xdata() == pytest.approx([(8 * 0.25 + 0.5) / 9] * 2)
    assert on_paper(figure)


def test_judges_without_sizes_are_one_group():
    figure = bias_by_size(biases(JUDGES[:2]), subject())
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [f"{ALL} (2)"]
    mixed = biases(JUDGES[:3], sizes=[None, ">40B", None])
    mixed = mixed[(mixed["judge"] != "Judge A") | (mixed["bias"] != "egocentric_order")]
    figure = bias_by_size(mixed, subject())
    labels = figure.axes[0].get_yticklabels()
    own = mixed.loc[(mixed["judge"] == "Judge C") & (mixed["bias"] == "egocentric_order"), "share"].item()
    assert artists(figure, "egocentric_order")[1].get_width() == pytest.approx(own / 9)
    assert PARTLY.strip() in " ".join(texts(figure)).replace("\n", " ")
    assert [label.get_text() for label in labels] == [">40B (1)", "size unknown (2)"]


def test_only_biases_that_every_size_has_are_averaged():
    table = biases(JUDGES[:2], sizes=SIZES[:2])
    table = table[(table["judge"] == "Judge A") | (table["bias"] != "salience")]
    figure = bias_by_size(table, subject())
    assert artists(figure, "salience") == []
    assert artists(figure, "random")[0].get_xdata()[0] == pytest.approx(0.25)
    assert "Not averaged, as not every group has it: Salience." in " ".join(texts(figure)).replace("\n", " ")
    apart = table[(table["judge"] == "Judge A") == (table["bias"] == "salience")]
    assert is_page_of(bias_by_size(apart, subject()), NO_COMMON)


def test_pages_of_words(tmp_path):
    biases([]).to_csv(tmp_path / "empty.csv", index=False)
    empty = read(tmp_path / "empty.csv")
    drawn = (jitter(empty), bias_polygon(empty, subject()), bias_by_size(empty, subject()))
    assert all(is_page_of(figure, NOTHING) for figure in drawn)
    assert is_page_of(bias_polygon(biases(names=["bandwagon", "salience"]), subject()), FEW)


@pytest.mark.parametrize("name", ["bias_jitter", "bias_polygon", "bias_by_size"])
def test_same_bytes_every_time_and_a_title_within(name, tmp_path):
    jitters = name == "bias_jitter"
    tables = {"table": biases(JUDGES[:3], sizes=SIZES, human=True), **({"random": THRESHOLDS} if jitters else {})}
    drawn_twice(f"cobbler:{name}", tmp_path, tables, **({"seed": 1, "confidence": 0.9} if jitters else {}))


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
    text = " ".join(texts(figure))
    numbers = "list 0.5000, list with the annotators summed 0.5500, annotators 0.6000, judges 0.6500, aggregate 0.7000"
    better = ", ".join(f"Judge {letter} {0.7 - 0.02 * number:.4f}" for number, letter in enumerate("ABCDEFGH"))
    assert f"{numbers}; better than that with the annotators summed: {better}." in text
    assert on_paper(figure)


def test_no_rankings_are_a_page_of_words():
    assert is_page_of(rank_overlap_bars(overlaps([]), valid(), subject()), NO_RANKINGS)


def test_overlaps_have_the_same_bytes_every_time(tmp_path):
    drawn_twice("cobbler:rank_overlap_bars", tmp_path, {"table": overlaps(judges=JUDGES[:3]), "valid": valid()})


def test_a_name_of_300_letters_leaves_the_panels_room():
    judges = [judge + VERY_LONG for judge in JUDGES[:2]]
    for figure in (jitter(biases(judges)), bias_by_size(biases(judges, sizes=[VERY_LONG, "7B"]), subject())):
        assert has_room(figure)
