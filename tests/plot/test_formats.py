"""All files of a figure are drawn at once, and each as if it was the only one."""

import re
from io import BytesIO

import numpy as np
import pytest
from matplotlib import rc_context

from drawings import coefficients, estimates, scores, self_and_family_bias, subject
from recuse.plot.formats import pictures
from recuse.plot.scores import correlations, mean_scores_by_dimension
from recuse.plot.style import METADATA, language

FIGURES = {
    "lines and points": lambda: self_and_family_bias(estimates()),
    "collections, hatches and slanted texts": lambda: mean_scores_by_dimension(
        scores().assign(mean=lambda table: table["mean"].where(table.index % 5 > 0)), subject()
    ),
    "panels": lambda: correlations(coefficients(), subject(), confidence=0.9),
}


def drawn(figure, *formats):
    with language(), rc_context({"pdf.compression": 0}):
        return pictures(figure, {name: METADATA[f".{name}"] for name in formats})


def drawn_by_matplotlib(figure, name):
    file = BytesIO()
    with language(), rc_context({"pdf.compression": 0}):
        figure.savefig(file, format=name, metadata=METADATA[f".{name}"])
    return file.getvalue()


def page(pdf):
    """What a page shows without its numbers, and its numbers."""
    (shown,) = (stream for stream in re.findall(rb"stream\n(.*?)endstream", pdf, re.DOTALL) if b"BT\n" in stream)
    number = rb"-?\d+(?:\.\d+)?"
    return re.sub(number, b"#", shown), np.array(re.findall(number, shown), float)


@pytest.mark.parametrize("name", FIGURES)
def test_a_file_is_the_same_whatever_others_are_drawn(name):
    together = drawn(FIGURES[name](), "pdf", "png", "svg")
    for one in ("svg", "pdf", "png"):
        assert drawn(FIGURES[name](), one)[one] == together[one]
    figure = FIGURES[name]()
    assert drawn(figure, "svg", "pdf") == drawn(figure, "svg", "pdf") == {one: together[one] for one in ("svg", "pdf")}


@pytest.mark.parametrize("name", FIGURES)
def test_files_show_what_matplotlib_draws(name):
    files = drawn(FIGURES[name](), "svg", "pdf", "png")
    for one in ("svg", "png"):
        assert drawn_by_matplotlib(FIGURES[name](), one) == files[one]
    shown, numbers = page(files["pdf"])
    expected, near = page(drawn_by_matplotlib(FIGURES[name](), "pdf"))
    assert shown == expected
    assert np.abs(numbers - near).max() < 0.1  # points: matplotlib measures texts a little differently for PDF
    assert len(numbers) > 1000
