"""The one visual language of the figures: sizes, type, colours, and files that are the same every time.

Lengths are inches on paper, type sizes points. Texts are measured, not tried out by drawing, so that the same table
always gives the same layout and the same bytes.

Which model belongs to which family, in which colour and in which order: the same in every figure.
"""

from collections.abc import Iterable, Iterator, Mapping
from colorsys import hls_to_rgb
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags

from recuse.base.errors import named
from recuse.base.words import UNWRITABLE
from recuse.data.registry import HUMAN

NEUTRAL = "#595959"  # judges of no known family: the humans, or a judge that is not one of config's models
# Okabe and Ito (2008), https://jfly.uni-koeln.de/color/, without yellow, which is hard to see on white, and black, in which the
# line at 0 and the keys of legends are drawn.
ORANGE, SKY_BLUE, GREEN, BLUE, VERMILION, PURPLE = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
OKABE_ITO = (ORANGE, SKY_BLUE, GREEN, BLUE, VERMILION, PURPLE)
# Tol's muted scheme, https://sronpersonalpages.nl/~pault/, without the two that are hard to tell from Okabe and Ito's; the
# palest, sand, last.
INDIGO, OLIVE, WINE, MAUVE, DARK_GREEN, ROSE, SAND = TOL = (
    "#332288", "#999933", "#882255", "#AA4499", "#117733", "#CC6677", "#DDCC77",
)  # fmt: skip
NEAR = 32  # of 255: colours that differ by less in each of red, green and blue are taken for one
GOLDEN = 0.618  # of the circle of hues: steps of it fill the circle evenly, wherever they stop


def spare_colours(taken: Iterable[str]) -> Iterator[str]:
    """Colours (#RRGGBB) without end, always in the same order; those of Okabe and Ito and of Tol only if none taken is near."""
    taken = list(taken)
    yield from (colour for colour in OKABE_ITO + TOL if not any(_near(colour, other) for other in taken))
    for turn in count():
        channels = hls_to_rgb(GOLDEN * turn % 1, 0.74 if turn % 2 else 0.4, 0.5)
        yield "#" + "".join(f"{round(255 * channel):02X}" for channel in channels)


def _near(colour: str, other: str) -> bool:
    channels = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return all(abs(one - two) < NEAR for one, two in channels)


def family_colours(families: Mapping[str, Mapping]) -> dict[str, str]:
    """Colour of each family: the one config gives it, otherwise the next spare one.

    `families` is config's `families`: name -> {colour}, or {} or None. There is a colour for any number of families, and
    one more family without a colour changes none before it.
    """
    given = {name: (setting or {}).get("colour") for name, setting in families.items()}
    spare = spare_colours(colour for colour in given.values() if colour)
    return {name: colour or next(spare) for name, colour in given.items()}


@dataclass(frozen=True)
class Palette:
    """The models and families of config, asked for colour and order.

    `models` is config's `models` (name -> {family, ...}, in the order of the figures), `families` config's `families`.
    """

    models: Mapping[str, Mapping]
    families: Mapping[str, Mapping]
    colours: dict[str, str] = field(init=False)

    def __post_init__(self):
        """Give every family its colour, in config's order, whatever models there are; then one that only a model names."""
        named = {setting["family"]: {} for setting in self.models.values() if setting["family"] not in self.families}
        object.__setattr__(self, "colours", family_colours({**self.families, **named}))

    def family(self, model: str) -> str | None:
        """Family of a model or judge; None if config does not know it."""
        return self.models[model]["family"] if model in self.models else None

    def colour(self, model: str) -> str:
        """Colour of a model or judge: its family's, or the neutral grey."""
        return self.colours.get(self.family(model), NEUTRAL)

    def family_colour(self, family: str) -> str:
        """Colour of a family; the neutral grey if config does not know it."""
        return self.colours.get(family, NEUTRAL)

    def order(self, names: Iterable[str]) -> list[str]:
        """`names` in config's order; then those that config does not know, by alphabet; the humans last."""
        present = set(names)
        known = [name for name in self.models if name in present]
        return known + sorted(present - set(known) - {HUMAN}) + sorted(present & {HUMAN})

    def order_families(self, names: Iterable[str]) -> list[str]:
        """Families in the order in which config's models name them; then the others by alphabet."""
        present = set(names)
        known = [name for name in dict.fromkeys(self.family(model) for model in self.models) if name in present]
        return known + sorted(present - set(known))

    def families_of(self, models: Iterable[str]) -> list[str]:
        """The families that `models` belong to, ordered."""
        return self.order_families({self.family(model) for model in models} - {None})


SINGLE_COLUMN = 3.4
DOUBLE_COLUMN = 7.0
TEXT = 8.0
SMALL = 7.0  # nothing is set smaller
LINE = 0.17  # one line of small type
EDGE = 0.06  # paper left free around the figure
BOLD = 0.86  # width of a text to that of the same in bold
FINE = 720  # dots per inch at which texts are measured
INK = "#222222"
FAINT = "#6E6E6E"
RULE = "#C4C4C4"
GRID = "#E6E6E6"
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
    "bias", "condition", "dimension", "draws", "experiment", "judge", "level", "model", "model_a", "model_b", "order",
    "perturbation", "quantity", "slice", "spec", "statistic", "study", "term",
)  # fmt: skip
# What a file says of itself beside its title: no date and no version of the drawing program, or no two would be equal.
METADATA = {
    ".svg": {"Date": None, "Creator": "judgebias"},
    ".pdf": {"CreationDate": None, "Creator": "judgebias", "Producer": None},
    ".png": {"Software": None},
}


def language():
    """Context, or decorator, in which every figure is drawn and saved."""
    return matplotlib.rc_context(RC)


@dataclass(frozen=True)
class Subject:
    """What a figure says of the study it shows: its title, its kind (simulated, published or user), its palette.

    estimand: what the biases in it are gaps to, in sentences; a line for each.
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
    """Read a tidy table: names as text even where they look like numbers, an empty field as a missing value.

    A character of a name that no drawing can hold is shown as one that is unknown.
    """
    # Only an empty field is missing: a model may be named NA, nan, None or null.
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


def interval_text(confidence: float, standard_error: str) -> str:
    """Name of a figure's intervals, as in `90 % Wald interval, HC0`, from their level and kind of standard error."""
    return f"{100 * confidence:g} % Wald interval, {standard_error}"


@language()
def save(figure: Figure, outputs: Iterable[str | Path], *, title: str) -> None:
    """Write `figure` to each path in the format of its suffix (.svg, .pdf, .png), byte for byte the same every time.

    `title` is what a screen reader or a search finds in the file: a sentence without the numbers.
    """
    for path in map(Path, outputs):
        with named(path):
            figure.savefig(path, format=path.suffix[1:], metadata={**METADATA[path.suffix], "Title": title})
