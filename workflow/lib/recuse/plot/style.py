"""The style of all figures: sizes, type, measured texts, and files that are the same every time.

Lengths are inches on paper, type sizes points. Texts are measured without drawing: the same table
gives the same bytes.
"""

import re
import warnings
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter

from recuse.base.outputs import replacing
from recuse.base.words import FROM_RIGHT_TO_LEFT, visible, with_gold_labels
from recuse.plot.colours import FAINT, GRID, INK, Palette

SINGLE_COLUMN = 3.4
DOUBLE_COLUMN = 7.0
PAGE = 10.0  # inches: no figure is taller than a page
HEADLINE = 9.5  # of a figure's finding
TEXT = 8.0
SMALL = 7.0  # nothing is set smaller
LINE = 0.17  # one line of small type
EDGE = 0.06  # paper left free around the figure
BOLD_TITLE = 0.85  # of a width that a title may have in normal weight to fit in bold
FINE = 720  # dots per inch at which texts are measured
UPRIGHT = {"rotation": 90, "ha": "center", "va": "center"}  # of a text

FONT = "DejaVu Sans"  # ships with matplotlib: no machine lacks it

RC = {
    "font.family": "sans-serif",
    # An SVG file names all of them: the others are as wide and bold, for readers who lack the
    # first.
    "font.sans-serif": [FONT, "Bitstream Vera Sans", "Verdana"],
    "font.size": SMALL,
    "text.color": INK,
    "text.hinting": "none",  # widths are then the same at every resolution, as measured
    "text.parse_math": False,  # a model may have a dollar sign in its name
    "axes.labelsize": SMALL,
    "axes.titlesize": TEXT,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # no figure has ticks above its panels and a title: nothing to measure
    "axes.titlepad": 4,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "savefig.dpi": 200,
    "svg.fonttype": "none",  # Texts stay texts, which can be searched.
    "svg.hashsalt": "recuse",
    "pdf.fonttype": 42,
}
NAMES = (
    "bias",
    "condition",
    "dimension",
    "draws",
    "experiment",
    "judge",
    "level",
    "model",
    "model_a",
    "model_b",
    "order",
    "panel",
    "perturbation",
    "quantity",
    "slice",
    "spec",
    "statistic",
    "study",
    "term",
    "worst_model",
)
# By format. A date or the version of matplotlib would make files differ.
METADATA = {
    "svg": {"Date": None, "Creator": "recuse"},
    "pdf": {"CreationDate": None, "Creator": "recuse", "Producer": None},
    "png": {"Software": "recuse"},
}
# On a dark screen a figure is dark, in the same hues; the page of a report does the same to the
# figures within it.
DARK = (
    "@media screen and (prefers-color-scheme: dark)"
    " { svg { filter: invert(0.91) hue-rotate(180deg) } }"
)
NAMESPACES = {
    "": "http://www.w3.org/2000/svg",
    "xlink": "http://www.w3.org/1999/xlink",
    "cc": "http://creativecommons.org/ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
}


def language():
    """Context, or decorator, in which figures are drawn and saved: RC and matplotlib's defaults,
    whatever a user has set.
    """
    # `save` chooses it
    defaults = {
        name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"
    }
    return matplotlib.rc_context(defaults | RC)


@dataclass(frozen=True)
class Subject:
    """The study of a figure: its title, its kind (simulated, published or user), its palette.

    estimand: what the biases are gaps to, in sentences; a line for each.
    """

    label: str
    kind: str
    palette: Palette
    estimand: str = ""

    @classmethod
    def from_config(
        cls,
        *,
        label: str,
        kind: str,
        models: Mapping,
        families: Mapping,
        estimand: str = "",
        gold: bool = False,
    ) -> "Subject":
        """Read the title and kind of a study, config's `models` and `families`, and the words for
        the estimand.

        gold: its reference are gold labels, which `drawn` sees to.
        """
        palette = Palette(legible(models), legible(families))
        return cls(visible(label), kind, palette, estimand)


def read_figure_table(path: str | Path) -> pd.DataFrame:
    """Read a tidy table: names as text even where they look like numbers, with invisible characters
    shown.

    Only an empty field is missing: a model may be named NA, nan, None or null.
    """
    table = pd.read_csv(
        path, dtype=dict.fromkeys(NAMES, "str"), keep_default_na=False, na_values=[""]
    )
    for column in table.columns.intersection(NAMES):
        names = table[column].dropna().unique()
        table[column] = table[column].replace({name: visible(name) for name in names})
    return table


def drawn(draw: str, inputs: Mapping, *, subject: Mapping, settings: Mapping) -> Figure:
    """Draw a figure of the catalogue by `module:function`, from the tables at these paths, by
    argument; see its params.
    """
    module, _, name = draw.partition(":")
    given = {
        argument: paths
        if argument == "published"
        else read_figure_table(paths)
        if isinstance(paths, str)
        else [read_figure_table(path) for path in paths]
        for argument, paths in inputs.items()
    }
    about = Subject.from_config(**subject)
    figure = getattr(import_module(module), name)(**given, subject=about, **legible(settings))
    if subject.get("gold"):
        for text in figure.findobj(Text):
            text.set_text(with_gold_labels(text.get_text()))
        for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
            # Names of ticks are written anew when drawn
            if isinstance(axis.get_major_formatter(), FuncFormatter):
                names = [label.get_text() for label in axis.get_ticklabels()]
                axis.set_ticks(axis.get_majorticklocs(), [*map(with_gold_labels, names)])
    return figure


def legible(settings: object) -> object:
    """Settings with the invisible characters of every text shown, as `read_figure_table` shows
    those of names.
    """
    if isinstance(settings, Mapping):
        return {legible(key): legible(value) for key, value in settings.items()}
    if isinstance(settings, (list, tuple)):
        return [*map(legible, settings)]
    return visible(settings) if isinstance(settings, str) else settings


@contextmanager
def ignore_missing_glyphs() -> Iterator[None]:
    """Silence matplotlib's warnings about letters that its font lacks: readers of SVG may have
    them.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


@cache
def text_width(text: str, size: float = SMALL, weight: str = "normal") -> float:
    """Width of the widest line of `text` in inches, set in `size` points."""
    font = get_font(findfont(FontProperties(family=FONT, weight=weight)))
    font.set_size(size, FINE)
    widths = []
    with ignore_missing_glyphs():
        for line in text.split("\n"):
            font.set_text(line, 0.0, flags=LoadFlags.NO_HINTING)
            # FreeType counts in 64ths of a dot
            widths.append(font.get_width_height()[0] / 64 / FINE)
    return max(widths)


def widest(texts: Iterable[str], size: float = SMALL, weight: str = "normal") -> float:
    """Width in inches of the widest of `texts`; 0 if there is none."""
    return max((text_width(text, size, weight) for text in texts), default=0.0)


def wrap(text: str, width: float, size: float = SMALL) -> str:
    """`text` broken into lines no wider than `width` inches: at spaces, and within a word that is
    wider than a line.
    """
    lines = []
    for piece in (piece for word in text.split() for piece in _pieces(word, width, size)):
        if lines and text_width(f"{lines[-1]} {piece}", size) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return "\n".join(lines)


def balanced(text: str, width: float, size: float = SMALL) -> str:
    """`text` in as few lines as `wrap` needs, all about as long."""
    lines = wrap(text, width, size)
    for share in range(95, 45, -5):
        narrower = wrap(text, width * share / 100, size)
        if narrower.count("\n") > lines.count("\n"):
            return lines
        lines = narrower
    return lines


def _pieces(word: str, width: float, size: float) -> Iterator[str]:
    """`word`, in pieces as long as a line holds, of one letter at least."""
    while len(word) > 1 and text_width(word, size) > width:
        cut = bisect(range(len(word)), width, 2, key=lambda end: text_width(word[:end], size)) - 1
        yield word[:cut]
        word = word[cut:]
    yield word


class Drawing(Figure):
    """A figure on its own: saved, and shown in a notebook, in the `language` of all figures."""

    def savefig(self, *arguments: object, **settings: object) -> None:
        """Save it as by matplotlib."""
        with language():
            super().savefig(*arguments, **settings)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        image, (width, height) = BytesIO(), self.get_size_inches()
        self.savefig(image, format="png", dpi=120)
        return image.getvalue(), {"width": round(100 * width), "height": round(100 * height)}


@language()
def save(figure: Figure, outputs: Iterable[str | Path], *, title: str) -> None:
    """Write `figure` to each path in the format of its suffix (.svg, .pdf, .png), with the same
    bytes every time.

    `title` is for screen readers and searches: a sentence without numbers. In the SVG file texts
    are text, and a mark with a label has it as its title, which is seen on hovering; the figure's
    marks get ids for that. For PDF and PNG, matplotlib warns about letters that its font lacks.
    """
    lines = [line for axes in figure.axes for line in axes.lines]
    titles = {}
    for number, mark in enumerate(line for line in lines if line.get_label()[:1] not in ("", "_")):
        mark.set_gid(f"mark_{number}")
        titles[mark.get_gid()] = mark.get_label()

    for path in map(Path, outputs):
        form = path.suffix.removeprefix(".")
        with replacing(path) as part:
            with ignore_missing_glyphs() if form == "svg" else nullcontext():
                figure.savefig(
                    part, format=form, metadata={**METADATA[form], "Title": visible(title)}
                )
            if form == "svg":
                _annotate(part, titles)


def _annotate(path: str, titles: Mapping[str, str]) -> None:
    """Add to an SVG file what matplotlib cannot write: titles of elements, by id, the direction of
    words, and the style for dark screens.

    What is written from right to left is isolated, so that a name leaves the numbers beside it in
    their order.
    """
    for prefix, address in NAMESPACES.items():
        ElementTree.register_namespace(prefix, address)
    tree = ElementTree.parse(path)
    style = ElementTree.SubElement(tree.getroot(), "style", {"type": "text/css"})
    style.text = DARK
    for element in tree.findall(".//*[@id]"):
        if element.get("id") in titles:
            title = ElementTree.Element("title")
            title.text = titles[element.get("id")]
            element.insert(0, title)
    for element in tree.findall(".//text", NAMESPACES):
        element.text, *parts = re.split(f"({FROM_RIGHT_TO_LEFT})", element.text or "")
        for words, rest in zip(parts[::2], parts[1::2], strict=True):
            isolated = ElementTree.SubElement(element, "tspan", {"unicode-bidi": "isolate"})
            isolated.text, isolated.tail = words, rest
    tree.write(path, encoding="utf-8", xml_declaration=True)
