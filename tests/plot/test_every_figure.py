"""Every figure fits its paper, whatever its tables hold. The tables are those of the twins,
shortened.
"""

from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import RendererAgg

from conftest import CONFIG, DATA
from drawings import VERY_LONG, on_paper
from recuse.base.errors import DataError
from recuse.base.words import WORDS_ALONE
from recuse.catalogue.figures import Figure, figures
from recuse.config.load import project
from recuse.config.studies import Study
from recuse.data.registry import HUMAN
from recuse.plot.style import PAGE, drawn, language, save

TABLES = Path(__file__).with_name("tables")
WORLDS = {"estimators": ["A_CR1", "C_mixed", "established"], "world": "Nine models."}
FIGURES = {
    **figures(Study("twin", project())),
    "montecarlo": Figure(
        "recuse.validation.figure:worlds",
        "worlds",
        {"table": "tables/worlds"},
        {**WORLDS, "confidence": 0.9},
    ),
}
NAMED = ("judge", "model", "term", "worst_model", "model_a", "model_b")
MODELS = {name: {"family": model["family"]} for name, model in CONFIG["models"].items()}
ALONE = {"Claude v2", "Claude", "GPT-4", HUMAN}
DIRECTED = {"verdicts", "fig03_self_family_bias", "fig04_slices", "fig07_length_control", "gold"}
DRAWN_AT_RANDOM = "bias_jitter"
# One figure of each function that draws: without --long these are drawn
FIRST = {figure.draw: name for name, figure in reversed(FIGURES.items())}.values()


def long_name(name):
    if name in ("", HUMAN):
        return name
    return VERY_LONG if name == "Claude v2" else f"{name}, as of the 26th of November 2026"


def with_long_names(table):
    for column in table.columns.intersection(NAMED):
        table = table.assign(**{column: table[column].map(long_name)})
    return table


def rated_by_one_judge(table):
    for column in ("judge", "term") if {"judge", "term"} & {*table} else ("model",):
        if column in table:
            table = table[table[column].isin([*ALONE, ""])]
    return table


def with_few_rows(table):
    """Three of the slices, or dimensions, of a table and four of its judges."""
    for column, number in {"slice": 3, "dimension": 3, "judge": 4}.items():
        if column in table:
            table = table[table[column].isin(sorted({*table[column]})[:number])]
    return table


CASES = {
    "usual": lambda table: table,
    "long names": lambda table: with_long_names(with_few_rows(table)),
    "one judge": lambda table: with_few_rows(rated_by_one_judge(table)),
    "nothing": lambda table: table[:0],
}


def draw(figure, case, folder):
    """The figure of the tables as the case has them."""

    def path(table):
        name = table.replace("/", "_") + ".csv"
        rows = pd.read_csv(TABLES / name, dtype=str, keep_default_na=False)
        CASES[case](rows).to_csv(folder / name, index=False)
        return str(folder / name)

    inputs = figure.located(path)
    if figure.published:
        inputs["published"] = [str(DATA / Path(figure.published).name)]
    models = MODELS
    if case == "long names":
        models = {
            long_name(name): {"family": long_name(model["family"])}
            for name, model in MODELS.items()
        }
    subject = {"label": "a study", "kind": "simulated", "families": CONFIG["families"]}
    subject |= {"models": models, "estimand": figure.estimand}
    return drawn(figure.draw, inputs, subject=subject, settings=figure.settings)


class Recorder(RendererAgg):
    """Keeps the boxes of upright texts, in dots."""

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        width, height, descent = self.get_text_width_height_descent(s, prop, ismath)
        if angle == 0 and s.strip():
            self.boxes.append((s, x, y + descent - height, x + width, y + descent))


def recorded(figure):
    """The renderer that drew a figure, with the boxes."""
    with language():
        width, height = (int(size) + 1 for size in figure.get_size_inches() * figure.dpi)
        renderer = Recorder(width, height, figure.dpi)
        renderer.boxes = []
        figure.draw(renderer)
    return renderer


def overlapping(boxes):
    """Pairs of texts of which one covers the other by more than a dot."""
    words, *ends = zip(*boxes, strict=True)
    left, bottom, right, top = (np.array(end) for end in ends)
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left)
    up = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom)
    pairs = np.argwhere(np.triu((across > 1) & (up > 1.5), 1))
    return [(words[one], words[other]) for one, other in pairs]


def drawn_figures():
    """The figures and cases of the test."""
    for name, case in product(FIGURES, CASES):
        marks = () if name in FIRST else pytest.mark.long
        yield pytest.param(name, case, marks=marks)


@pytest.mark.parametrize(("name", "case"), [*drawn_figures()])
def test_a_figure_fits_its_paper_and_is_repeatable_and_accessible(name, case, tmp_path, long):
    """A figure without random draws is saved, and drawn anew, with --long alone."""
    if case == "nothing" and name.startswith(("fig02", "fig06")):
        with pytest.raises(DataError, match="no row to draw"):
            draw(FIGURES[name], case, tmp_path)
        return
    figure = draw(FIGURES[name], case, tmp_path)
    renderer = recorded(figure)
    assert on_paper(figure, renderer)
    assert figure.get_size_inches()[1] <= PAGE or case == "long names"
    assert overlapping(renderer.boxes) == []
    if case == "nothing" and name != "fig01_method":
        assert figure.get_gid() == WORDS_ALONE
        assert figure.get_size_inches()[1] < 1.5
    widths = [axes.get_position().width for axes in figure.axes]
    assert min(widths, default=1) * figure.get_size_inches()[0] >= 0.75
    if name in DIRECTED and case == "usual":
        texts = [text.get_text() for axes in figure.axes for text in axes.texts]
        less, more = ([t for t in texts if arrow in t] for arrow in ("← ", " →"))
        assert len(less) == len(more) > 0
    if case == "usual" and (long or name == DRAWN_AT_RANDOM):
        content = saved(figure, tmp_path)
        assert saved(draw(FIGURES[name], case, tmp_path), tmp_path) == content
        assert_accessible(content)


def saved(figure, folder):
    """The bytes of its file."""
    save(figure, [folder / "drawn.svg"], title="What it shows")
    return (folder / "drawn.svg").read_bytes()


def assert_accessible(content):
    """A file can be read aloud and in the dark."""
    root = ElementTree.fromstring(content)
    tags = {tag: "{http://www.w3.org/2000/svg}" + tag for tag in ("title", "style", "text")}
    assert "What it shows" in [title.text for title in root.iter(tags["title"])]
    assert "prefers-color-scheme: dark" in [*root.iter(tags["style"])][-1].text
    assert [*root.iter(tags["text"])]
