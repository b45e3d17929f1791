"""The figures of verbosity, position and length show what their tables hold."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from conftest import DATA
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
from random_comparisons import POOLS, random_rows, write
from recuse.plot.colours import BLUE, FAINT
from recuse.plot.length import (
    FEWEST,
    LEAST_BINS,
    NO_BINS,
    alignment_curves_figure,
    score_curves_figure,
)
from recuse.plot.style import read_figure_table
from recuse.plot.verbosity import NO_VALUE, position_figure, verbosity_bias
from recuse.steps.pairs import verbosity_tables

PUBLISHED = [str(DATA / "comparisons_published.csv")]
DRAWN = {
    "verbosity": ("recuse.plot.verbosity:verbosity_bias", {"confidence": 0.9}),
    "score_curves": ("recuse.plot.length:score_curves_figure", {}),
    "alignment_curves": ("recuse.plot.length:alignment_curves_figure", {"confidence": 0.9}),
    "position": ("recuse.plot.verbosity:position_figure", {"confidence": 0.9}),
}


def printed(folder, **values):
    """A file of printed values by judge, in a list."""
    rows = [
        {"quantity": "verbosity_bias", "judge": judge, "value": value}
        for judge, value in values.items()
    ]
    rows.append({"quantity": "agreement", "judge": "Bard", "value": 0.9})
    pd.DataFrame(rows).to_csv(folder / "printed.csv", index=False)
    return [str(folder / "printed.csv")]


def inputs(table, path):
    """What a figure of this table reads."""
    return {"table": path, **({"published": PUBLISHED} if table == "verbosity" else {})}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Paths of the tables of random comparisons under several conditions."""
    folder = tmp_path_factory.mktemp("tables")
    return tabulated(
        [row for row in random_rows(8, questions=150) if not row["experiment"]], folder
    )


def tabulated(rows, folder):
    path = write(rows, folder / "c.parquet")
    outputs = {name: str(folder / f"{name}.csv") for name in (*DRAWN, "agreement")}
    verbosity_tables(
        study="s", comparisons=path, pools=POOLS, confidence=0.9, seed=1, outputs=outputs
    )
    return outputs


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
    published = printed(tmp_path, **{"GPT-4": 0.328, "GPT-3.5": 0.428})
    figure = verbosity_bias(table, subject("published"), confidence=0.9, published=published)
    (axes,) = figure.axes
    labels = row_names(axes)
    assert labels == ["Bard", "Claude", "GPT-4", "alike", "none"]
    values = {"GPT-4": 0.4, "Claude": -0.1, "Bard": 0.2, "alike": 0.3}
    assert by_row(axes, "debiased") == values
    points = dict(zip(by_row(axes, "debiased"), artists(axes, "debiased"), strict=True))
    assert [filled(points[judge]) for judge in ("Bard", "Claude", "GPT-4", "alike")] == [
        False,
        False,
        True,
        False,
    ]
    # Few on one side
    assert [to_hex(points[judge].get_color()).upper() for judge in ("Bard", "GPT-4")] == [
        FAINT,
        BLUE,
    ]
    small = {rule: x_values(artists(figure, rule)) for rule in ("ab", "ba", "pooled")}
    assert small == {"ab": [0.31], "ba": [0.32], "pooled": [0.33]}
    assert by_row(axes, "published") == {"GPT-4": 0.328}
    assert {"50 + 60", "3 + 0", NO_VALUE} <= set(texts(figure))
    assert any("other data" in text for text in texts(figure))
    assert "fewer than 10 questions on one side: interval too short" in texts(figure)
    assert axes.get_xlim()[0] < -0.3
    alone = verbosity_bias(table[:1], subject("published"), confidence=0.9, published=published)
    assert not any("other data" in text or "fewer than" in text for text in texts(alone))


def test_verdicts_none_of_which_counts_are_a_page_with_the_reasons(tmp_path):
    rows = [row for row in random_rows(8, questions=4) if not row["experiment"]]
    single = "an error or one order alone"  # which random rows have anyway
    changes = {
        "an unknown length": {"length_a": None, "human": "a", "outcome": "a"},
        "a draw of the judge": {"length_a": 3, "length_b": 5, "human": "a", "outcome": "tie"},
        single: {"length_a": 3, "length_b": 5, "human": "a", "outcome": "error"},
    }
    for number, (reason, change) in enumerate(changes.items()):
        (tmp_path / str(number)).mkdir()
        paths = tabulated([{**row, **change} for row in rows], tmp_path / str(number))
        figure = verbosity_bias(
            read_figure_table(paths["verbosity"]), subject(), confidence=0.9, published=PUBLISHED
        )
        assert not figure.axes
        # The lowest line comes first
        text = " ".join(reversed(texts(figure))).partition("Left out: comparisons with ")[2]
        assert [words in text for words in changes] == [
            words in (reason, single) for words in changes
        ]


def test_curves_have_a_panel_for_each_judge_and_condition(tables):
    table = read_figure_table(tables["score_curves"])
    figure = score_curves_figure(table, subject())
    # These judges have both orders, too
    table = table[(table["order"] != "single") & (table["n"] >= FEWEST)]
    judges = ["Careful", "Hasty", "Human"]
    conditions = ["one", "two", "unlabelled", "one and two"]
    panels = [(condition, judge) for condition in conditions for judge in judges]
    panels.remove(("unlabelled", "Human"))
    assert panel_titles(figure) == [judge for _, judge in panels]
    for axes, (condition, judge) in zip(figure.axes, panels, strict=True):
        rows = table[(table["condition"] == condition) & (table["judge"] == judge)]
        drawn = artists(axes, "point")
        places, values = np.concatenate([line.get_xydata() for line in drawn]).T
        places, values = places[np.isfinite(values)], values[np.isfinite(values)]
        assert_allclose(values, rows.sort_values("bin_low")["mean"])
        assert_allclose(places, rows["bin_low"] + np.where(rows["bin_high"].isna(), 16, 10))
        assert [filled(line) for line in drawn] == [True, False][: len(drawn)]
        assert axes.texts[0].get_text().startswith(f"{condition.capitalize()} n = ")
        assert 0 < rows["no_length"].max() <= table["no_length"].max()
        (bars,) = artists(axes, "interval")
        ends = np.array([segment[:, 1] for segment in bars.get_segments() if len(segment)])
        assert_allclose(ends[:, 1] - ends[:, 0], 2 * rows["std_dev"].fillna(0), atol=1e-12)


def test_experiments_have_panels_of_their_own_and_the_note_tells_what_is_left_out(tmp_path):
    tables = {
        name: read_figure_table(path)
        for name, path in tabulated(random_rows(8, questions=150), tmp_path).items()
    }
    experiments = ("no experiment", "again")
    headings = {f"{name} ({of})" for name in ("One", "One and two") for of in experiments}
    for name, draw, settings in (
        ("score_curves", score_curves_figure, {}),
        ("alignment_curves", alignment_curves_figure, {"confidence": 0.9}),
    ):
        figure = draw(tables[name], subject(), **settings)
        assert headings <= {axes.texts[0].get_text().rpartition(" n =")[0] for axes in figure.axes}
        most = (
            tables[name].query("order != 'single'") if name == "score_curves" else tables[name]
        )["no_length"].max()
        note = prose(figure)
        assert f"Left out, as a length is unknown: up to {most} comparisons of a panel." in note
    known = tables["alignment_curves"].query("condition == 'one'").assign(no_length=0)
    assert "Left out" not in prose(alignment_curves_figure(known, subject(), confidence=0.9))
    assert headings <= set(texts(position_figure(tables["position"], subject(), confidence=0.9)))
    figure = verbosity_bias(tables["verbosity"], subject(), confidence=0.9, published=[])
    assert headings <= {axes.get_title(loc="left") for axes in figure.axes}


def test_a_curve_has_a_gap_where_a_bin_has_few_comparisons():
    # A bin of fewer than 10 swings from 0 to 100 %
    counts = {-30: FEWEST, -10: FEWEST, 10: FEWEST - 1, 30: FEWEST}
    rows = [
        {"judge": "j", "bin_low": low, "bin_high": low + 20, "n": n} for low, n in counts.items()
    ]
    table = pd.DataFrame(rows).assign(
        order="single", experiment=None, condition=None, mean=0.5, std_dev=0.1, no_length=0
    )
    figure = score_curves_figure(table, subject())
    (line,) = artists(figure, "curve")
    drawn = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
    assert [place for place, value in drawn.items() if np.isfinite(value)] == [-20, 0, 40]
    assert np.isnan(drawn[20])
    (points,) = artists(figure, "point")
    assert_allclose(points.get_ydata(), [0.5, 0.5, np.nan, 0.5])
    assert is_page_with(score_curves_figure(table[table["bin_low"] < 30], subject()), NO_BINS)
    assert LEAST_BINS == 3


def test_an_agreement_that_no_comparison_shows_is_unknown(tables):
    table = read_figure_table(tables["alignment_curves"])
    none_longer = table.assign(n=table["n"].where(table["bin_high"] <= 0, 0))
    figure = alignment_curves_figure(none_longer, subject(), confidence=0.9)
    assert "Judges agree with an unknown share of the humans' choices of a longer" in prose(figure)


def test_alignment_curves_tell_the_counts(tables):
    table = read_figure_table(tables["alignment_curves"])
    single = table[table["condition"] == "one"].assign(condition=np.nan)
    figure = alignment_curves_figure(single, subject(), confidence=0.9)
    for axes in figure.axes:
        rows = single[single["judge"] == axes.get_title(loc="left")]
        heights = np.array([bar.get_height() for bar in axes.patches])
        assert_allclose(heights / heights.max(), rows["n"] / rows["n"].max())
        (bars,) = artists(axes, "interval")
        ends = [segment[:, 1] for segment in bars.get_segments() if len(segment)]
        assert_allclose(ends, rows.loc[rows["n"] >= FEWEST, ["ci_low", "ci_high"]])


def test_position_is_filled_where_the_interval_excludes_one_half():
    rows = """judge,statistic,value,ci_low,ci_high,n
GPT-4,consistency,0.7,0.6,0.8,90
GPT-4,first_preference,0.6,0.55,0.65,150
GPT-4,first_both,0.2,0.1,0.3,90
Bard,consistency,0.4,0.3,0.5,100
Bard,first_preference,0.48,0.45,0.51,150
Ties,consistency,1.0,1.0,1.0,95
Ties,first_preference,,,,0
"""
    table = pd.read_csv(StringIO(rows))
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
    assert 0.5 in x_values(preference.lines)
