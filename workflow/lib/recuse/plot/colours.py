"""Colours of families, the same in every figure, of lines and texts, and of judges without a
family.
"""

from collections.abc import Iterable, Iterator, Mapping
from colorsys import hls_to_rgb
from dataclasses import dataclass, field
from itertools import count, islice
from zlib import crc32

from recuse.data.registry import HUMAN

INK = "#222222"
FAINT = "#6E6E6E"
RULE = "#C4C4C4"
GRID = "#E6E6E6"
DASHED = {"color": FAINT, "lw": 0.8, "linestyle": (0, (4, 3))}  # a line of what is neutral
NEUTRAL = "#595959"  # the humans, and judges that nothing is known of
# Okabe and Ito (2008), https://jfly.uni-koeln.de/color/, without yellow, which is hard to see on
# white, and black, in which the line at 0 and the keys of legends are drawn.
ORANGE, SKY_BLUE, GREEN, BLUE, VERMILION, PURPLE = (
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
OKABE_ITO = (ORANGE, SKY_BLUE, GREEN, BLUE, VERMILION, PURPLE)
# Tol's muted scheme, https://sronpersonalpages.nl/~pault/, without the two that are hard to tell
# from Okabe and Ito's; the palest, sand, last.
TOL = ("#332288", "#999933", "#882255", "#AA4499", "#117733", "#CC6677", "#DDCC77")
INDIGO, OLIVE, WINE, MAUVE, _, ROSE, SAND = TOL
NEAR = 32  # of 255: colours that differ by less in each of red, green and blue are taken for one
SPARE = 10  # colours for models without a family, if no more are needed
GOLDEN = 0.618  # of the circle of hues: steps of it fill the circle evenly, wherever they stop


def spare_colours(taken: Iterable[str]) -> Iterator[str]:
    """Endless colours (#RRGGBB) in a fixed order; those of Okabe and Ito and of Tol only if no
    taken colour is near.
    """
    used = [bytes.fromhex(colour[1:]) for colour in taken]
    for colour in OKABE_ITO + TOL:
        channels = bytes.fromhex(colour[1:])
        if not any(
            all(abs(one - two) < NEAR for one, two in zip(channels, other, strict=True))
            for other in used
        ):
            yield colour
    for turn in count():
        channels = hls_to_rgb(GOLDEN * turn % 1, 0.74 if turn % 2 else 0.4, 0.5)
        yield "#" + "".join(f"{round(255 * channel):02X}" for channel in channels)


def family_colours(families: Mapping[str, Mapping]) -> dict[str, str]:
    """Colour of each of config's `families` (name -> {colour}, {} or None): its own, or the next
    spare one.

    A further family changes no colour before it.
    """
    colours = {name: (setting or {}).get("colour") for name, setting in families.items()}
    spare = spare_colours(colour for colour in colours.values() if colour)
    return {name: colour or next(spare) for name, colour in colours.items()}


@dataclass(frozen=True)
class Palette:
    """Colours and order of config's `models` (name -> {family, ...}, in the order of the figures)
    and `families`.
    """

    models: Mapping[str, Mapping]
    families: Mapping[str, Mapping]
    others: Iterable[str] = ()  # judges and models that config does not know
    colours: dict[str, str] = field(init=False)
    singles: dict[str, str] = field(init=False)  # of `others`

    def __post_init__(self):
        """Give every family its colour, in config's order; then those that only a model names."""
        named = {
            setting["family"]: {}
            for setting in self.models.values()
            if setting["family"] not in self.families
        }
        object.__setattr__(self, "colours", family_colours({**self.families, **named}))
        unknown = sorted(set(self.others) - {HUMAN, *self.models, *self.colours})
        spare = [*islice(spare_colours(self.colours.values()), max(SPARE, len(unknown)))]
        singles: dict[str, str] = {}
        # By the name, so that a model has the same colour in most figures, whoever else is in them
        for name in unknown:
            start = crc32(name.encode()) % len(spare)
            singles[name] = next(
                colour for colour in spare[start:] + spare[:start] if colour not in singles.values()
            )
        object.__setattr__(self, "singles", singles)

    def family(self, model: str) -> str | None:
        """Family of a model or judge; None if config does not know it."""
        return self.models[model]["family"] if model in self.models else None

    def colour(self, model: str) -> str:
        """Colour of a model or judge: its family's, or its own if it is one of `others`, or the
        neutral grey.
        """
        return self.colours.get(self.family(model)) or self.singles.get(model, NEUTRAL)

    def family_colour(self, family: str) -> str:
        """Colour of a family; the neutral grey if config does not know it."""
        return self.colours.get(family, NEUTRAL)

    def order(self, names: Iterable[str]) -> list[str]:
        """`names` in config's order; then those that config does not know, by alphabet; the humans
        last.
        """
        present = set(names)
        ordered = [name for name in self.models if name in present]
        return ordered + sorted(present - set(ordered) - {HUMAN}) + sorted(present & {HUMAN})

    def order_families(self, names: Iterable[str]) -> list[str]:
        """Families in the order in which config's models name them; then the others by alphabet."""
        present = set(names)
        ordered = [
            name
            for name in dict.fromkeys(self.family(model) for model in self.models)
            if name in present
        ]
        return ordered + sorted(present - set(ordered))

    def of_bias(self, quantity: str, term: str) -> str:
        """Colour of the self-bias of a judge or of the bias of a family."""
        return self.colour(term) if quantity == "self_bias" else self.family_colour(term)

    def order_biases(self, biases: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Quantity and term of each bias, judges first, ordered."""
        terms = {"self_bias": [], "family_bias": []}
        for quantity, term in biases:
            terms[quantity].append(term)
        judges, families = self.order(terms["self_bias"]), self.order_families(terms["family_bias"])
        return [("self_bias", judge) for judge in judges] + [
            ("family_bias", family) for family in families
        ]

    def families_of(self, models: Iterable[str]) -> list[str]:
        """The families that `models` belong to, ordered."""
        return self.order_families({self.family(model) for model in models} - {None})
