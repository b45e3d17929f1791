"""The fonts of PDF files: small ones, with the letters that figures use as a rule, which are made once in a process.

matplotlib lets fontTools take a font apart with all its typography for each file and style: most of the time of a figure. But a
PDF file names glyphs by number and needs nothing but their outlines and widths.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from io import BytesIO
from typing import Any

from matplotlib.ft2font import LoadFlags

# ASCII and Latin-1, Greek, dashes and quotation marks, and the signs of formulas.
USUAL = frozenset(
    {*range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x391, 0x3CA), *range(0x2010, 0x2027), *map(ord, "−≤≥≠≈→←±√∞")}
)
# Of a font for another purpose than to show glyphs by their numbers.
DROPPED = ("BASE", "GDEF", "GPOS", "GSUB", "JSTF", "MATH", "OS/2", "FFTM", "cmap", "gasp", "kern", "name", "post")


@contextmanager
def small_fonts() -> Iterator[None]:
    """A context in which matplotlib's PDF files get fonts from `font_with`; before 3.11, which asks by letters, its own.

    Texts are set without loading the outline of each letter once more, which no PDF file needs.
    """
    from matplotlib import _text_helpers as texts
    from matplotlib.backends import _backend_pdf_ps as backend  # imports fontTools, which no other file needs

    original, layout = backend.get_glyphs_subset, texts.layout

    def smaller(path: Any, glyphs: Any) -> Any:
        font = font_with(path, path.face_index, frozenset(glyphs) - usual_glyphs(path, path.face_index))
        return nullcontext(backend.SubsetResults(_Saved(font), {glyph: glyph for glyph in glyphs}))

    def placed(text: str, font: Any, **settings: Any) -> Any:
        return font._layout(text, LoadFlags.NO_HINTING, **settings)

    if hasattr(backend, "SubsetResults"):
        backend.get_glyphs_subset, texts.layout = smaller, placed
    try:
        yield
    finally:
        backend.get_glyphs_subset, texts.layout = original, layout


class _Saved:
    """The bytes of a font, with the one method of fontTools' fonts that matplotlib calls."""

    def __init__(self, data: bytes):
        self.data = data

    def save(self, file: BytesIO, **_: object) -> None:
        """Write them to a file."""
        file.write(self.data)


@cache
def usual_glyphs(path: str, face: int) -> frozenset[int]:
    """The numbers of the glyphs of a font for USUAL letters."""
    from fontTools.ttLib import TTFont

    with TTFont(path, fontNumber=face, lazy=True) as font:
        return frozenset(font.getGlyphID(name) for letter, name in font.getBestCmap().items() if letter in USUAL)


@cache
def font_with(path: str, face: int, further: frozenset[int]) -> bytes:
    """A font with its glyphs for USUAL letters and these further ones, under the numbers that they have.

    The bytes depend on nothing but the font and the further glyphs.
    """
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    options = Options(retain_gids=True, notdef_outline=True, hinting=False, layout_closure=False, recalc_bounds=False)
    options.drop_tables += DROPPED
    with TTFont(path, fontNumber=face, lazy=True, recalcBBoxes=False, recalcTimestamp=False) as font:
        subsetter = Subsetter(options)
        subsetter.populate(gids=usual_glyphs(path, face) | further)
        subsetter.subset(font)
        font.save(file := BytesIO(), reorderTables=False)
        return file.getvalue()
