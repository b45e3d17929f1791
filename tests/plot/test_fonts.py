"""The fonts of PDF files: the outlines of the whole font, the same whatever other figures show."""

import re
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path

import pytest
from matplotlib import rc_context
from matplotlib.backends import _backend_pdf_ps as backend
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font, LoadFlags
from numpy.testing import assert_array_equal

from drawings import scores, subject
from recuse.plot.fonts import font_with, small_fonts
from recuse.plot.scores import mean_scores
from recuse.plot.style import language, save

LETTERS = "Claude v2 éÅǖ−–χ² ﬁ → שלום 你"  # composite glyphs among them, one of a composite, and one that the font lacks


def shape(font, glyph):
    width = font.load_glyph(glyph, flags=LoadFlags.NO_SCALE | LoadFlags.NO_HINTING).horiAdvance
    return *font.get_path(), width


@pytest.mark.parametrize("look", [{}, {"weight": "bold"}, {"style": "italic"}])
def test_glyphs_are_those_of_the_whole_font(look):
    path = findfont(FontProperties(family="DejaVu Sans", **look))
    whole = FT2Font(path)
    glyphs = {whole.get_char_index(ord(letter)) for letter in LETTERS}
    data = font_with(path, 0, frozenset(glyphs))
    assert 0 in glyphs
    assert len(data) < Path(path).stat().st_size / 5
    for glyph in glyphs:
        for part, expected in zip(shape(FT2Font(BytesIO(data)), glyph), shape(whole, glyph), strict=True):
            assert_array_equal(part, expected)
    assert not shape(FT2Font(BytesIO(data)), whole.get_char_index(ord("Ж")))[0].size


@pytest.mark.skipif(not hasattr(backend, "SubsetResults"), reason="this matplotlib reduces fonts in its own way alone")
def test_a_file_shows_the_same_as_with_matplotlibs_fonts():
    def drawn(fonts):
        file = BytesIO()
        with language(), rc_context({"pdf.compression": 0}), fonts:
            mean_scores(scores(judges=["éÅ"], models=["fi"]), subject()).savefig(file, format="pdf")
        return file.getvalue()

    original = backend.get_glyphs_subset
    small, large = drawn(small_fonts()), drawn(nullcontext())
    assert backend.get_glyphs_subset is original
    texts, widths, letters = rb"BT\n.*?ET", rb"obj\n\[ \d+ \[.*?endobj", rb"<\w+> <\w+> \[.*?\]"
    for part in (texts, widths, letters):
        found = re.findall(part, small, re.DOTALL)
        assert found
        assert found == re.findall(part, large, re.DOTALL)


def test_what_was_drawn_before_changes_no_byte(tmp_path):
    def saved(*names):
        save(mean_scores(scores(judges=names, models=names), subject()), [tmp_path / "a.pdf"], title="T")
        return (tmp_path / "a.pdf").read_bytes()

    alone = saved("a")
    assert saved("b", "éÅ") != alone
    assert saved("a") == alone
