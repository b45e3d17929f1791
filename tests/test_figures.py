"""The figures show what the tables hold, look the same in every study, and are the same bytes every time."""

import numpy as np
import pandas as pd
import pytest
from fig02_mean_scores import fig02_mean_scores
from fig03_self_family_bias import fig03_self_family_bias
from fig05_correlations import fig05_correlations
from fig06_mean_scores_by_dimension import fig06_mean_scores_by_dimension
from matplotlib.colors import to_hex
from matplotlib.text import Text

from judgebias.correlation_panels import correlations
from judgebias.errors import ConfigError, DataError
from judgebias.heatmaps import mean_scores, mean_scores_by_dimension, shades
from judgebias.intervals import excludes_zero, family_places, self_family_bias
from judgebias.palette import NEUTRAL, Palette, family_colours
from judgebias.style import SMALL, Subject, interval_text, language, read, text_width, wrap

FAMILIES = {"Claude": {"colour": "#D55E00"}, "GPT": {"colour": "#009E73"}, "Llama 3": {}}
MODELS = {
    "Claude v2": {"family": "Claude"},
    "Claude 3 Sonnet": {"family": "Claude"},
    "GPT-4o": {"family": "GPT"},
    "Llama 3 8B": {"family": "Llama 3"},
    "absent from the study": {"family": "Llama 3"},
}
PRESENT = list(MODELS)[:4]
SIX = ["Completeness", "Conciseness", "Faithfulness", "Helpfulness", "Logical correctness", "Logical robustness"]
INTERVAL = interval_text(0.9, "HC0")


def subject(kind="simulated", models=MODELS):
    return Subject("a study", kind, Palette(models, FAMILIES))


def scores(dimensions=SIX, judges=(*PRESENT, "Human"), models=PRESENT):
    cells = [(d, j, m) for d in (None, *dimensions) for j in reversed(judges) for m in models]
    table = pd.DataFrame(cells, columns=["dimension", "judge", "model"])
    return table.assign(mean=np.random.default_rng(2).uniform(0.3, 1, len(table)), n=100)


def estimates(judges=PRESENT, families=("Claude", "GPT")):
    terms = [("self_bias", judge) for judge in judges] + [("family_bias", family) for family in families]
    table = pd.DataFrame(terms, columns=["quantity", "term"]).assign(slice=None)
    centre = np.linspace(-0.03, 0.02, len(table))
    return table.assign(estimate=centre, ci_low=centre - 0.012, ci_high=centre + 0.012)


def coefficients(dimensions=SIX, judges=PRESENT):
    rows = [(d, j, s) for d in dimensions for j in judges for s in ("pearson", "spearman", "gamma")]
    table = pd.DataFrame(rows, columns=["dimension", "judge", "statistic"])
    centre = np.random.default_rng(3).uniform(0.1, 0.7, len(table))
    return table.assign(value=centre, ci_low=centre - 0.05, ci_high=centre + 0.05)


def artists(figure, gid):
    return [artist for axes in figure.axes for artist in axes.get_children() if artist.get_gid() == gid]


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def filled(point):
    return to_hex(point.get_markerfacecolor()) == to_hex(point.get_color())


COMMON = {"models": MODELS, "families": FAMILIES, "label": "a study", "kind": "simulated"}
DRAWN = {
    fig02_mean_scores: ({"mean_scores": scores()}, {}),
    fig03_self_family_bias: ({"estimates": estimates()}, {"confidence": 0.9, "covariance": "HC0"}),
    fig05_correlations: ({"correlations": coefficients()}, {"confidence": 0.9}),
    fig06_mean_scores_by_dimension: ({"mean_scores": scores()}, {}),
}


@pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)
def test_same_bytes_every_time_and_a_title_within(draw, tmp_path):
    tables, settings = DRAWN[draw]
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    paths = {name: str(tmp_path / f"{name}.csv") for name in tables}
    files = {}
    for run in ("first", "second"):
        outputs = [tmp_path / f"{run}{suffix}" for suffix in (".pdf", ".svg", ".png")]
        draw(**paths, **COMMON, **settings, outputs=[str(path) for path in outputs])
        files[run] = [path.read_bytes() for path in outputs]
    assert files["first"] == files["second"]
    pdf, svg, png = files["first"]
    assert b": a study</title>" in svg
    assert b"/Title" in pdf
    assert b"CreationDate" not in pdf
    assert b"<dc:date>" not in svg
    assert png.startswith(b"\x89PNG")


def test_read_keeps_names_that_look_like_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("dimension,judge,model,mean\n,2,01,0.5\n3,2,01,\n")
    table = read(tmp_path / "t.csv")
    assert table["model"].tolist() == ["01", "01"]
    assert table["dimension"].isna().tolist() == [True, False]
    assert table["mean"].isna().tolist() == [False, True]


@pytest.mark.parametrize(("dimensions", "panels"), [(SIX, 6), (SIX[:2], 2), (SIX[:1], 1), ([*SIX, "a", "b"], 8)])
def test_own_completions_are_outlined_once_per_judge_and_panel(dimensions, panels):
    figure = mean_scores_by_dimension(scores(dimensions), subject())
    own = artists(figure, "own")
    assert len(own) == panels * len(PRESENT)
    assert [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")] == sorted(dimensions)
    outlined = [to_hex(box.get_edgecolor()).upper() for box in own[: len(PRESENT)]]
    assert outlined == ["#D55E00", "#D55E00", "#009E73", "#E69F00"]
    assert all(int(box.get_x()) == int(box.get_y()) for box in own)  # on the diagonal


def test_pooled_heatmap_shows_every_mean_in_config_order_and_the_humans_apart():
    table = scores()
    judges, human = mean_scores(table, subject()).axes
    pooled = table[table["dimension"].isna()].set_index(["judge", "model"])["mean"]
    shown = [text.get_text() for text in judges.texts]
    assert shown == [f"{pooled[judge, model]:.2f}" for judge in PRESENT for model in PRESENT]
    assert [label.get_text() for label in judges.get_yticklabels()] == PRESENT
    assert [label.get_text() for label in human.get_yticklabels()] == ["Human"]
    assert [" ".join(label.get_text().split()) for label in human.get_xticklabels()] == PRESENT
    gap = judges.get_position().y0 - human.get_position().y1
    assert gap * judges.figure.get_size_inches()[1] == pytest.approx(0.06)


def test_a_missing_mean_is_hatched_not_zero():
    table = scores(SIX[:2])
    table.loc[2, "mean"] = np.nan
    figure = mean_scores(table.drop(index=5), subject())
    assert len(artists(figure, "missing")) == 2
    assert "0.00" not in texts(figure)
    assert "nan" not in " ".join(texts(figure))
    assert "no ratings" in texts(figure)
    assert "no ratings" not in texts(mean_scores(scores(), subject()))


def test_shades_are_by_row():
    block = pd.DataFrame([[0.2, 0.3, 0.4], [0.9, 0.9, 0.9], [0.1, np.nan, 0.5]])
    expected = [[0, 0.5, 1], [0.5, 0.5, 0.5], [0, np.nan, 1]]
    np.testing.assert_allclose(shades(block), expected, atol=1e-12)


def test_no_rows_is_said():
    with pytest.raises(DataError, match="no row to draw"):
        mean_scores_by_dimension(scores([]), subject())


def test_a_judge_that_is_no_model_is_grey_last_and_has_no_box():
    figure = mean_scores(scores(judges=(*PRESENT, "A critic", "Human")), subject())
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [*PRESENT, "A critic"]
    assert len(artists(figure, "own")) == len(PRESENT)
    figure = self_family_bias(estimates([*PRESENT, "A critic"]), subject(), interval=INTERVAL)
    colours = [point.get_color() for point in figure.axes[0].lines if point.get_gid() == "point"]
    assert colours[-1] == NEUTRAL
    assert "no family in config" in texts(figure)


def test_points_are_filled_only_if_the_interval_excludes_zero():
    table = estimates()
    figure = self_family_bias(table, subject(), interval=INTERVAL)
    points = artists(figure, "point")
    assert [filled(point) for point in points] == [excludes_zero(row) for _, row in table.iterrows()]
    assert [filled(point) for point in points] == [True, True, False, False, False, True]
    assert [point.get_xdata()[0] for point in points] == table["estimate"].tolist()
    bars = [tuple(bar.get_xdata()) for bar in artists(figure, "interval")]
    assert bars == list(zip(table["ci_low"], table["ci_high"], strict=True))
    assert "estimate, 90 % Wald interval, HC0" in texts(figure)
    assert "+0.020" in texts(figure)
    left, right = figure.axes
    assert left.get_xlim() == right.get_xlim()


@pytest.mark.parametrize(("low", "high", "excluded"), [(0.0, 1, False), (-1, 0.0, False), (1e-9, 1, True)])
def test_an_interval_that_touches_zero_includes_it(low, high, excluded):
    assert excludes_zero({"ci_low": low, "ci_high": high}) is excluded
    assert excludes_zero({"ci_low": -high, "ci_high": -low}) is excluded


def test_what_is_not_estimable_is_written_not_drawn():
    table = estimates()
    table.loc[1, ["estimate", "ci_low", "ci_high"]] = np.nan
    figure = self_family_bias(table, subject(), interval=INTERVAL)
    assert len(artists(figure, "point")) == len(table) - 1
    assert texts(figure).count("not estimable") == 1


def test_one_family_of_one_model_has_one_panel_and_a_note():
    figure = self_family_bias(estimates(["GPT-4o"], []), subject(), interval=INTERVAL)
    assert len(figure.axes) == 1
    assert "No family-bias: no family has two models." in texts(figure)


def test_families_stand_beside_their_judges_and_never_on_one_another():
    palette = subject().palette
    assert family_places(PRESENT, ["Claude", "GPT"], palette) == [0.5, 2.0]
    mixed = ["Claude v2", "GPT-4o", "Claude 3 Sonnet"]
    assert family_places(mixed, ["Claude", "GPT"], palette) == [1.0, 2.0]


@pytest.mark.parametrize("dimensions", [SIX, SIX[:2], SIX[:1], [*SIX, "a", "b"]])
def test_correlations_have_a_panel_for_each_dimension(dimensions):
    table = coefficients(dimensions)
    figure = correlations(table, subject(), interval=INTERVAL)
    assert [axes.get_title(loc="left") for axes in figure.axes] == sorted(dimensions)
    spearman = table[table["statistic"] == "spearman"].set_index(["dimension", "judge"])["value"]
    for axes in figure.axes:
        points = [line.get_xdata()[0] for line in axes.lines if line.get_gid() == "point"]
        assert points == [spearman[axes.get_title(loc="left"), judge] for judge in PRESENT]


def test_a_judge_without_ratings_in_one_dimension_is_said():
    table = coefficients(SIX[:2])
    table = table[(table["dimension"] != SIX[0]) | (table["judge"] != "GPT-4o")]
    assert texts(correlations(table, subject(), interval=INTERVAL)).count("no ratings") == 1


def test_a_family_has_one_colour_in_all_figures():
    palette = subject().palette
    bias = self_family_bias(estimates(), subject(), interval=INTERVAL)
    by_dimension = correlations(coefficients(SIX[:1]), subject(), interval=INTERVAL)
    heat = mean_scores(scores(), subject())
    expected = [palette.colour(model) for model in PRESENT]
    assert [point.get_color() for point in bias.axes[0].lines if point.get_gid() == "point"] == expected
    assert [point.get_color() for point in artists(by_dimension, "point")] == expected
    assert [mark.get_color() for mark in heat.axes[0].lines if mark.get_gid() == "family"] == expected
    assert [mark.get_color() for mark in heat.axes[1].lines if mark.get_gid() == "family"] == expected


def test_families_without_colour_get_the_next_unused_one():
    assert family_colours({"a": None, "b": {"colour": "#e69f00"}, "c": {}}) == {
        "a": "#56B4E9",
        "b": "#e69f00",
        "c": "#009E73",
    }
    with pytest.raises(ConfigError, match=r"no distinct colour is left for i; write `colour:"):
        family_colours(dict.fromkeys("abcdefghi"))


@pytest.mark.parametrize(
    ("kind", "badge"), [("simulated", "SIMULATED DATA"), ("published", "PUBLISHED DATA"), ("user", "USER'S DATA")]
)
def test_the_foot_says_what_kind_of_data_it_is(kind, badge):
    for figure in (mean_scores(scores(), subject(kind)), self_family_bias(estimates(), subject(kind), interval="")):
        assert badge in texts(figure)
        assert "a study" in texts(figure)


@pytest.mark.parametrize("draw", ["mean_scores", "by_dimension", "bias", "correlations"])
def test_no_text_is_small_or_off_the_paper(draw):
    long = {"a model with a rather long name": {"family": "Claude"}, "unbreakable-name-v2.0-long": {"family": "GPT"}}
    names, study = list(long), Subject("a title " * 20, "user", Palette(long, FAMILIES))
    figure = {
        "mean_scores": lambda: mean_scores(scores(judges=[*names, "Human"], models=names), study),
        "by_dimension": lambda: mean_scores_by_dimension(scores(judges=names, models=names), study),
        "bias": lambda: self_family_bias(estimates(names), study, interval=INTERVAL),
        "correlations": lambda: correlations(coefficients(judges=names), study, interval=INTERVAL),
    }[draw]()
    with language():
        drawn, paper = figure.get_tightbbox(), figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) >= 0
    assert drawn.x1 <= paper[0]
    assert drawn.y1 <= paper[1]
    assert min(text.get_size() for text in figure.findobj(Text)) >= SMALL


def test_text_is_measured_and_wrapped():
    assert text_width("0.97") == pytest.approx((3 * 0.636 + 0.318) * SMALL / 72, rel=0.02)  # DejaVu's advance widths
    assert text_width("short\nmuch longer") == text_width("much longer")
    assert wrap("one two three", text_width("one two")) == "one two\nthree"
    assert wrap("indivisible", 0.1) == "indivisible"
