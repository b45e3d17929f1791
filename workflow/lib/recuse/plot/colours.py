"""Colours of families, the same in every figure, of lines and texts, and of judges without a
family.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.colors import to_rgba, to_rgba_array

from recuse.data.registry import HUMAN
from recuse.model.spec import BIASES

INK = "#222222"
FAINT = "#6E6E6E"
RULE = "#C4C4C4"
GRID = "#E6E6E6"
DASHED = {"color": FAINT, "lw": 0.8, "linestyle": (0, (4, 3))}  # a line of what is neutral
NEUTRAL = "#595959"  # the humans, and judges that nothing is known of
# Okabe and Ito (2008), https://jfly.uni-koeln.de/color/, without yellow, which is hard to see on
# white, and black, in which the line at 0 and the keys of legends are drawn.
OKABE_ITO = ORANGE, SKY_BLUE, GREEN, BLUE, VERMILION, PURPLE = (
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
# Tol's muted scheme, https://sronpersonalpages.nl/~pault/, without the two that are hard to tell
# from Okabe and Ito's; the palest, sand, last.
TOL = ("#332288", "#999933", "#882255", "#AA4499", "#117733", "#CC6677", "#DDCC77")
INDIGO, OLIVE, WINE, MAUVE, _, ROSE, SAND = TOL
NEAR = 1 / 8  # colours that differ by less in each of red, green and blue are taken for one


def set_apart(colours: Sequence[str], taken: Iterable[str]) -> list[str]:
    """Those of the colours that are not near one that is taken."""
    used = to_rgba_array([*taken])
    kept = []
    for colour in colours:
        distances = np.abs(used - to_rgba(colour)).max(axis=1)
        if (distances >= NEAR).all():
            kept.append(colour)
    return kept


def in_order(names: set[str], known: Iterable[str]) -> list[str]:
    """The known names in their order, then the others by alphabet."""
    return [name for name in known if name in names] + sorted(names - set(known))


@dataclass(frozen=True)
class Palette:
    """Colours and order of config's `models` (name -> {family, ...}, in the order of the figures)
    and `families` (name -> {colour}, {} or None).

    Every family has a colour of its own while there are any; the others, and models that config
    does not know, have one in common.
    """

    models: Mapping[str, Mapping]
    families: Mapping[str, Mapping]
    colours: dict[str, str] = field(init=False)

    def __post_init__(self):
        """Give every family its own colour, or the next spare one, in config's order."""
        families = dict.fromkeys([*self.families, *map(self.family, self.models)])
        colours = {name: (self.families.get(name) or {}).get("colour") for name in families}
        spare = iter(set_apart(OKABE_ITO + TOL, filter(None, colours.values())))
        # A further family changes no colour before it
        colours = {name: colour or next(spare, BLUE) for name, colour in colours.items()}
        object.__setattr__(self, "colours", colours)

    def family(self, model: str) -> str | None:
        """Family of a model or judge; None if config does not know it."""
        return self.models[model]["family"] if model in self.models else None

    def colour(self, model: str) -> str:
        """Colour of a model or judge: its family's."""
        return self.family_colour(self.family(model))

    def family_colour(self, family: str | None) -> str:
        """Colour of a family; the one colour if it has none."""
        return self.colours.get(family, BLUE)

    def order(self, names: Iterable[str]) -> list[str]:
        """`names` in config's order; then those that config does not know, by alphabet; the humans
        last.
        """
        present = set(names)
        return in_order(present - {HUMAN}, self.models) + sorted(present & {HUMAN})

    def order_families(self, names: Iterable[str]) -> list[str]:
        """Families in the order in which config's models name them; then the others by alphabet."""
        return in_order(set(names), dict.fromkeys(map(self.family, self.models)))

    def bias_colour(self, quantity: str, term: str) -> str:
        """Colour of the self-bias of a judge or of the bias of a family."""
        return self.colour(term) if quantity == "self_bias" else self.family_colour(term)

    def order_biases(self, biases: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Quantity and term of each bias, judges first, ordered."""
        present, ordered = {*biases}, []
        for quantity, order in zip(BIASES, (self.order, self.order_families), strict=True):
            terms = order(term for other, term in present if other == quantity)
            ordered += [(quantity, term) for term in terms]
        return ordered
