"""Axes of the figures of estimators on simulated worlds: each panel has its own, stretched where a value should be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judgebias.drawing.style import UNIT, text_width
from judgebias.inference.validity import BIAS, COVERED, REJECTED

TOLERANCE = 0.02  # a share within it is as it should be
LEAST = 0.05  # a panel shows shares so far to each side of the nominal one
STRAIGHT = 0.002  # rating points: within them the axis of biases is nearly straight, beyond them logarithmic
LEAST_BIAS = 0.001  # a panel shows biases of so many points to each side
MARGIN = 0.05  # of an axis, on each side
APART = 0.07  # inches between two numbers
SHARES = (0.05, 0.2, 0.5, 1.0, 0.0, 0.3, 0.15, 0.75, 0.02, 0.4)  # that have a number, from the first that is to have one
EVEN = (0.0, 1.0, 0.5, 0.25, 0.75)
BIASES = (0.01, -0.01, 0.1, 0.001, -0.001, 0.05, 0.005, -0.005, 0.002, -0.002, 0.02)

Scale = Callable[[np.ndarray], np.ndarray]


def _root(share: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(share, 0))


def _square(place: np.ndarray) -> np.ndarray:
    return np.square(np.maximum(place, 0))


def _same(value: np.ndarray) -> np.ndarray:
    return np.asarray(value)


@dataclass(frozen=True)
class Statistic:
    """What is drawn of a table: rows of one statistic, for all judges together or for the last, and on which axis.

    scale: a place for each value, and back; words: what a reader is told of it.
    """

    name: str
    axis: str
    scale: tuple[Scale, Scale]
    words: str
    of_numbers: Sequence[float]
    last_judge: bool = False

    @property
    def share(self) -> bool:
        """True if it is a share, which is written in per cent."""
        return self.name != BIAS

    @property
    def by_chance(self) -> bool:
        """True if the nominal level of a test is what it should be."""
        return self.name == REJECTED and self.of_numbers is SHARES

    def nominal(self, confidence: float) -> float | None:
        """Where the value should be; None if anywhere."""
        if self.name == COVERED:
            return confidence
        if self.name == BIAS:
            return 0.0
        return 1 - confidence if self.by_chance else None


ROOTS = "each panel has an axis of its own, which is stretched towards {}."
STATISTICS = {
    "size": Statistic(
        REJECTED, "Share of judges without self-bias that are called biased, %", (_root, _square), ROOTS.format("0"), SHARES
    ),
    "power": Statistic(REJECTED, "Share of judges with self-bias that are called biased, %", (_same, _same), "", EVEN),
    "bias": Statistic(
        BIAS,
        f"Mean estimate of the last judge's self-bias less the truth, {UNIT}",
        (lambda value: np.arcsinh(np.asarray(value) / STRAIGHT), lambda place: STRAIGHT * np.sinh(place)),
        f"each panel has an axis of its own, nearly straight within {STRAIGHT:g} points of 0 and logarithmic beyond.",
        BIASES,
        last_judge=True,
    ),
    "coverage": Statistic(
        COVERED,
        "Share of intervals that hold the planted self-bias, %",
        (lambda share: 1 - _root(1 - np.asarray(share)), lambda place: 1 - _square(1 - np.asarray(place))),
        ROOTS.format("100 %"),
        [1 - share for share in SHARES],
    ),
}


def limits(statistic: Statistic, low: np.ndarray, high: np.ndarray, nominal: float | None) -> tuple[float, float]:
    """Ends of a panel's axis: all bars from `low` to `high`, what is nominal and something to its sides, and a margin."""
    there, back = statistic.scale
    if nominal is None:
        ends = np.array([0.0, 1.0])
    else:
        least = LEAST if statistic.share else LEAST_BIAS
        ends = np.array([min(low.min(), nominal - least), max(high.max(), nominal + least)])
    first, last = there(np.clip(ends, 0, 1) if statistic.share else ends)
    margin = MARGIN * (last - first)
    return float(back(first - margin)), float(back(last + margin))


def numbers(statistic: Statistic, ends: tuple[float, float], nominal: float | None, width: float) -> list[tuple[float, str]]:
    """Places on an axis of `width` inches and their numbers: the nominal one, then as many others as do not meet."""
    there = statistic.scale[0]
    first, last = there(np.array(ends))
    found: list[tuple[float, str, float, float]] = []
    for value in [*([] if nominal is None else [nominal]), *statistic.of_numbers]:
        text = f"{100 * value if statistic.share else value:.4g}".replace("-", "−")
        place, half = width * float((there(np.array(value)) - first) / (last - first)), text_width(text) / 2
        free = all(abs(place - other) > half + wide + APART for *_, other, wide in found)
        if free and -1e-6 <= place <= width + 1e-6:
            found.append((value, text, place, half))
    return [(value, text) for value, text, *_ in sorted(found)]
