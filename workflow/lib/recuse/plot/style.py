"""The style of all figures: sizes, type, measured texts, and files that are the same every time.

Lengths are inches on paper, type sizes points. Texts are measured without drawing: the same table gives the same bytes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags

from recuse.base.outputs import replacing
from recuse.base.words import UNWRITABLE
from recuse.plot.colours import FAINT, GRID, INK, Palette

SINGLE_COLUMN = 3.4
DOUBLE_COLUMN = 7.0
TEXT = 8.0
SMALL = 7.0  # nothing is set smaller
LINE = 0.17  # one line of small type
EDGE = 0.06  # paper left free around the figure
BOLD_TITLE = 0.85  # of a width that a title may have in normal weight to fit in bold
FINE = 720  # dots per inch at which texts are measured
UPRIGHT = {"rotation": 90, "ha": "center", "va": "center"}  # of a text
UNIT = "rating points on the unit scale 0–1"

RC = {
    "font.family": "DejaVu Sans",  # ships with matplotlib: no machine lacks it
    "font.size": SMALL,
    "text.color": INK,
    "text.hinting": "none",  # widths are then the same at every resolution, as measured
    "text.parse_math": False,  # a model may have a dollar sign in its name
    "axes.labelsize": SMALL,
    "axes.titlesize": TEXT,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
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
    "svg.fonttype": "path",
    "svg.hashsalt": "judgebias",
    "pdf.fonttype": 42,
}
NAMES = (
    *("bias", "condition", "dimension", "draws", "experiment", "judge", "level", "model", "model_a", "model_b"),
    *("order", "perturbation", "quantity", "slice", "spec", "statistic", "study", "term"),
)
# Beside the title; a date or the version of the drawing program would make files differ.
METADATA = {
    ".svg": {"Date": None, "Creator": "judgebias"},
    ".pdf": {"CreationDate": None, "Creator": "judgebias", "Producer": None},
    ".png": {"Software": None},
}


def language():
    """Context, or decorator, in which figures are drawn and saved: RC and matplotlib's defaults, whatever a user has set."""
    defaults = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}  # `save` chooses it
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
    def from_config(cls, *, label: str, kind: str, models: Mapping, families: Mapping, estimand: str = "") -> "Subject":
        """Read the title and kind of a study, config's `models` and `families`, and the words for the estimand."""
        return cls(label, kind, Palette(models, families), estimand)


def read(path: str | Path) -> pd.DataFrame:
    """Read a tidy table: names as text even where they look like numbers, without characters that no drawing can hold.

    Only an empty field is missing: a model may be named NA, nan, None or null.
    """
    table = pd.read_csv(path, dtype=dict.fromkeys(NAMES, "str"), keep_default_na=False, na_values=[""])
    for column in table.columns.intersection(NAMES):
        table[column] = table[column].str.replace(UNWRITABLE, "\N{REPLACEMENT CHARACTER}", regex=True)
    return table


@cache
def text_width(text: str, size: float = SMALL, weight: str = "normal") -> float:
    """Width of the widest line of `text` in inches, set in `size` points."""
    prop = FontProperties(family=RC["font.family"], weight=weight)
    font = get_font(findfont(prop))
    font.set_size(size, FINE)
    widths = []
    for line in text.split("\n"):
        font.set_text(line, 0.0, flags=LoadFlags.NO_HINTING)
        widths.append(font.get_width_height()[0] / 64 / FINE)  # FreeType counts in 64ths of a dot
    return max(widths)


def widest(texts: Iterable[str], size: float = SMALL, weight: str = "normal") -> float:
    """Width in inches of the widest of `texts`; 0 if there is none."""
    return max((text_width(text, size, weight) for text in texts), default=0.0)


def wrap(text: str, width: float, size: float = SMALL) -> str:
    """`text` broken into lines no wider than `width` inches: at spaces, and within a word that is wider than a line."""
    lines: list[str] = []
    pieces = (piece for word in text.split() for piece in _pieces(word, width, size))
    for word in pieces:
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


def _pieces(word: str, width: float, size: float) -> Iterator[str]:
    """`word`, in pieces as long as a line holds, of one letter at least."""
    while len(word) > 1 and text_width(word, size) > width:
        cut = next((end for end in range(len(word) - 1, 1, -1) if text_width(word[:end], size) <= width), 1)
        yield word[:cut]
        word = word[cut:]
    yield word


def percent(share: float) -> str:
    """A share in per cent, as in `90 %`."""
    return f"{100 * share:g} %"


def interval_text(confidence: float, standard_error: str) -> str:
    """Name of a figure's intervals, as in `90 % Wald interval, HC0`, from their level and kind of standard error."""
    return f"{percent(confidence)} Wald interval, {standard_error}"


@language()
def save(figure: Figure, outputs: Iterable[str | Path], *, title: str) -> None:
    """Write `figure` to each path in the format of its suffix (.svg, .pdf, .png), byte for byte the same every time.

    `title` is for screen readers and searches: a sentence without numbers.
    """
    for path in map(Path, outputs):
        with replacing(path) as part:
            figure.savefig(part, format=path.suffix[1:], metadata={**METADATA[path.suffix], "Title": title})
