"""The fonts of a PDF file, reduced to the glyphs that it shows.

matplotlib lets fontTools take a font apart with all its typography for each file and style: most of the time of a figure. But a
PDF file names glyphs by number and needs their outlines and widths alone, which are copied here as they are.
"""

import struct
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from io import BytesIO

import numpy as np

WANTED = "head", "hhea", "hmtx", "maxp", "loca", "glyf"  # by a PDF file, of a TrueType font (ISO 32000-1, 9.9)
HINTS = "cvt ", "fpgm", "prep"  # wanted if there are any
LONG, MORE = 0x1, 0x20  # flags of a part of a composite glyph: has wide arguments, and is not the last
SCALES = {0x8: 2, 0x40: 4, 0x80: 8}  # bytes of its scale, by flag


@contextmanager
def small_fonts() -> Iterator[None]:
    """A context in which matplotlib's PDF files get their fonts from `subset`; before 3.11, which asks by letters, its own."""
    from matplotlib.backends import _backend_pdf_ps as backend  # imports fontTools, which no other file needs

    original = backend.get_glyphs_subset

    @contextmanager
    def smaller(path, glyphs):
        tables, starts = _font(path, path.face_index)
        if tables:
            yield backend.SubsetResults(_Saved(subset(tables, starts, glyphs)), {glyph: glyph for glyph in glyphs})
        else:
            with original(path, glyphs) as own:
                yield own

    if hasattr(backend, "SubsetResults"):
        backend.get_glyphs_subset = smaller
    try:
        yield
    finally:
        backend.get_glyphs_subset = original


class _Saved:
    """The bytes of a font, with the one method of fontTools' fonts that matplotlib calls."""

    def __init__(self, data: bytes):
        self.data = data

    def save(self, file: BytesIO, **_: object) -> None:
        """Write them to a file."""
        file.write(self.data)


@cache
def _font(path: str, face: int) -> tuple[dict[str, bytes], np.ndarray]:
    """The tables of a font, none if it has no TrueType outlines, and where each glyph of `glyf` starts, (glyphs + 1,)."""
    from fontTools.ttLib import TTFont

    with TTFont(path, fontNumber=face, lazy=True) as font:
        if any(tag not in font.reader for tag in WANTED):
            return {}, np.empty(0, int)
        tables = {tag: font.reader[tag] for tag in (*WANTED, *HINTS) if tag in font.reader}
        return tables, np.array(font["loca"].locations)


def subset(tables: Mapping[str, bytes], starts: np.ndarray, glyphs: Collection[int]) -> bytes:
    """A TrueType font with these glyphs of `_font`, their parts and the one for missing letters; they keep their numbers.

    The others are empty and have no width. The bytes depend on nothing but the font and the glyphs.
    """
    from fontTools.ttLib.sfnt import SFNTWriter

    outlines, kept, further = tables["glyf"], set(), [0, *glyphs]
    while further:
        if (glyph := further.pop()) not in kept:
            kept.add(glyph)
            further += _parts(outlines[starts[glyph] : starts[glyph + 1]])
    is_kept = np.isin(np.arange(len(starts) - 1), [*kept])
    ends = np.cumsum(np.where(is_kept, np.diff(starts), 0))
    (measured,) = struct.unpack_from(">H", tables["hhea"], 34)  # glyphs with a width of their own; the rest have the last one's
    widths = np.frombuffer(tables["hmtx"], ">u4", measured) * (is_kept[:measured] | (np.arange(measured) == measured - 1))
    changed = {
        "head": tables["head"][:50] + struct.pack(">H", 1) + tables["head"][52:],  # places of glyphs in four bytes
        "hmtx": widths.astype(">u4").tobytes() + tables["hmtx"][4 * measured :],
        "loca": np.append(0, ends).astype(">u4").tobytes(),
        "glyf": b"".join(outlines[starts[glyph] : starts[glyph + 1]] for glyph in sorted(kept)),
    }
    file = BytesIO()
    writer = SFNTWriter(file, len(tables))
    for tag in sorted(tables):
        writer[tag] = changed.get(tag, tables[tag])
    writer.close()
    return file.getvalue()


def _parts(outline: bytes) -> Iterator[int]:
    """The glyphs that a composite glyph is made of."""
    if not outline or struct.unpack_from(">h", outline)[0] >= 0:  # the number of contours
        return
    place, flags = 10, MORE
    while flags & MORE:
        flags, glyph = struct.unpack_from(">HH", outline, place)
        yield glyph
        place += 4 + (4 if flags & LONG else 2) + sum(size for flag, size in SCALES.items() if flags & flag)
