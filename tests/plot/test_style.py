"""Colours, texts and the foot: the same in every figure."""

import unicodedata
from xml.etree import ElementTree

import matplotlib.style
import pytest

from drawings import (
    PRESENT,
    SIX,
    artists,
    coefficients,
    estimates,
    row_names,
    scores,
    self_and_family_bias,
    subject,
    texts,
)
from recuse.plot.colours import BLUE, OKABE_ITO, TOL, Palette
from recuse.plot.page import family_entries
from recuse.plot.scores import correlations_figure, mean_scores_figure
from recuse.plot.style import SMALL, Subject, legible, read_figure_table, save, text_width, wrap

SVG = "{http://www.w3.org/2000/svg}"


def test_read_keeps_names_that_look_like_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("dimension,judge,model,mean\n,2,01,0.5\n3,2,01,\n")
    table = read_figure_table(tmp_path / "t.csv")
    assert table["model"].tolist() == ["01", "01"]
    assert table["dimension"].isna().tolist() == [True, False]
    assert table["mean"].isna().tolist() == [False, True]


def test_read_shows_what_no_drawing_can_hold(tmp_path):
    (tmp_path / "t.csv").write_text("judge,mean\nevil\x01\x1bmini é,0.5\n,3\n", "utf-8")
    names = read_figure_table(tmp_path / "t.csv")["judge"]
    assert names[0] == "evil⟨U+0001⟩⟨U+001B⟩mini é"
    assert names.isna()[1]
    (tmp_path / "t.csv").write_text("judge,slice\na,\n", "utf-8")
    assert (
        read_figure_table(tmp_path / "t.csv").dtypes.nunique() == 1
    )  # also of a column without a name


def test_a_name_that_reverses_what_follows_is_shown_as_such_and_keeps_its_colour(tmp_path):
    (tmp_path / "t.csv").write_text("judge,mean\nevil\u202e,0.5\n", "utf-8")
    config = {
        "models": {"evil\u202e": {"family": "F\u200b"}},
        "families": {"F\u200b": {"colour": "#E69F00"}},
    }
    study = Subject.from_config(label="a\u202eb\nc", kind="user", estimand="one\ntwo", **config)
    (judge,) = read_figure_table(tmp_path / "t.csv")["judge"]
    assert (judge, study.label, study.estimand) == (
        "evil⟨U+202E⟩",
        "a⟨U+202E⟩b⟨U+000A⟩c",
        "one\ntwo",
    )
    assert study.palette.colour(judge) == "#E69F00"
    assert legible({"to\x07ne": [1, ("a\u202e",)]}) == {"to⟨U+0007⟩ne": [1, ["a⟨U+202E⟩"]]}


def saved(folder, figure, *forms):
    """The bytes of a figure by format."""
    paths = {form: folder / f"a.{form}" for form in forms}
    save(figure, paths.values(), title="What it <shows>")
    return {form: path.read_bytes() for form, path in paths.items()}


def saved_svg(folder, figure):
    return ElementTree.fromstring(saved(folder, figure, "svg")["svg"])


@pytest.mark.parametrize("model", ["Claude 2 é שלום", "你好 B"])
def test_letters_that_the_font_lacks_are_named_where_they_are_boxes(tmp_path, recwarn, model):
    figure = mean_scores_figure(
        scores(judges=[model], models=[model]), subject(models={model: {"family": "Claude"}})
    )
    assert model in {
        "".join(text.itertext()) for text in saved_svg(tmp_path, figure).iter(f"{SVG}text")
    }
    assert not recwarn.list
    saved(tmp_path, figure, "pdf", "png")
    named = {warning.message.args[0].partition(" missing from font")[0] for warning in recwarn}
    assert named == {
        rf"Glyph {ord(letter)} (\N{{{unicodedata.name(letter)}}})"
        for letter in model
        if letter in "你好"
    }


def test_texts_of_an_svg_are_text_in_fonts_of_one_width_and_marks_have_their_values(tmp_path):
    svg = saved_svg(tmp_path, self_and_family_bias(estimates()))
    texts = {text.text: text.get("style") for text in svg.iter(f"{SVG}text")}
    assert (
        "font-family: 'DejaVu Sans', 'Bitstream Vera Sans', 'Verdana', sans-serif"
        in texts["Claude v2"]
    )
    assert [title.text for title in svg.iter(f"{SVG}title")].count("−0.030 [−0.042, −0.018]") == 1


def test_names_from_right_to_left_are_isolated_in_an_svg(tmp_path):
    svg = saved_svg(
        tmp_path, mean_scores_figure(scores(judges=["of שופט טוב (3)"], models=["a"]), subject())
    )
    (part,) = svg.iter(f"{SVG}tspan")
    assert (part.text, part.tail, part.attrib) == ("שופט טוב", " (3)", {"unicode-bidi": "isolate"})


def test_what_looks_like_the_markup_of_a_figure_in_a_name_stays(tmp_path):
    name = """<text style="x"> <g id="mark_0"> </style>"""
    svg = saved_svg(tmp_path, mean_scores_figure(scores(judges=[name], models=[name]), subject()))
    assert name in {text.text for text in svg.iter(f"{SVG}text")}


def test_settings_of_a_user_change_no_byte_of_a_figure(tmp_path):
    table = scores(judges=PRESENT[:1], models=PRESENT[:1])

    def drawn():
        return saved(tmp_path, mean_scores_figure(table, subject()), "svg", "pdf", "png")

    expected = drawn()
    others = {"savefig.bbox": "tight", "font.style": "italic"}
    with matplotlib.style.context(["default", "classic", "dark_background", others]):
        assert drawn() == expected


def test_a_family_has_one_colour_in_all_figures():
    palette = subject().palette
    bias = self_and_family_bias(estimates())
    by_dimension = correlations_figure(coefficients(SIX[:1]), subject(), confidence=0.9)
    heat = mean_scores_figure(scores(), subject())
    expected = [palette.colour(model) for model in PRESENT]
    assert [point.get_color() for point in artists(bias.axes[0], "point")][:4] == expected
    assert {point.get_color() for point in artists(by_dimension, "spearman")} == {*expected}
    assert [mark.get_color() for mark in artists(heat.axes[0], "family")] == expected * 2


def test_a_family_has_one_colour_whatever_models_a_study_has():
    families = {"Acme": {}, "Bolt": None, "Crux": {"colour": "#E69F00"}, "Dune": {}}
    models = {
        f"{family} {number}": {"family": family}
        for number in (1, 2)
        for family in reversed(families)
    }
    every = Palette(models, families)
    for fewer in (["Dune 1"], ["Bolt 2", "Acme 1"], ["Crux 1", "Dune 2", "Bolt 1"]):
        palette = Palette({name: models[name] for name in fewer}, families)
        assert [palette.colour(name) for name in fewer] == [every.colour(name) for name in fewer]
    assert every.colours == {
        "Acme": "#56B4E9",
        "Bolt": "#009E73",
        "Crux": "#E69F00",
        "Dune": "#0072B2",
    }


def test_families_have_colours_of_their_own_while_there_are_any():
    spare = {*OKABE_ITO, *TOL}
    models = {f"m{number}": {"family": f"f{number}"} for number in range(len(spare) + 2)}
    colours = [Palette(models, {}).colour(model) for model in models]
    assert {*colours[: len(spare)]} == spare
    assert colours[len(spare) :] == [BLUE] * 2


def test_families_are_in_the_order_of_the_models_in_config():
    models = {
        "z1": {"family": "Zeta"},
        "a1": {"family": "Alpha"},
        "z2": {"family": "Zeta"},
        "m1": {"family": "Mu"},
    }
    palette = Palette(models, {"Alpha": {}, "Mu": {}, "Zeta": {}})
    assert palette.order_families({"unknown", "Alpha", "Mu", "also unknown", "Zeta"}) == [
        "Zeta",
        "Alpha",
        "Mu",
        "also unknown",
        "unknown",
    ]
    assert [entry.text for entry in family_entries(palette, ["m1", "z2", "no model", "a1"])] == [
        "Zeta",
        "Alpha",
        "Mu",
    ]
    figure = self_and_family_bias(
        estimates(["z1", "a1"], ["Alpha", "Zeta"]), Subject("s", "user", palette)
    )
    assert row_names(figure.axes[0])[-2:] == ["Zeta", "Alpha"]


@pytest.mark.parametrize(
    ("kind", "badge"),
    [("simulated", "SIMULATED DATA"), ("published", "PUBLISHED DATA"), ("user", "USER'S DATA")],
)
def test_the_foot_says_what_kind_of_data_it_is(kind, badge):
    assert {badge, "a study"} <= {*texts(mean_scores_figure(scores(), subject(kind)))}


def test_text_is_measured_and_wrapped():
    # DejaVu's advance widths
    assert text_width("0.97") == pytest.approx((3 * 0.636 + 0.318) * SMALL / 72, rel=0.02)
    assert text_width("short\nmuch longer") == text_width("much longer")
    assert wrap("one two three", text_width("one two")) == "one two\nthree"


@pytest.mark.parametrize(
    "text",
    [
        "indivisible" * 9,
        "a title " + "x" * 200 + " and more",
        "one " + "wide-" * 30,
        "i" * 99 + " i",
    ],
)
def test_a_word_wider_than_the_line_is_broken_and_loses_nothing(text):
    lines = wrap(text, 1.0).split("\n")
    assert max(text_width(line) for line in lines) <= 1.0
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert len(lines) <= 2 + 1.5 * text_width(text)  # no line is wasted
    assert wrap("abc", 0.001) == "a\nb\nc"
