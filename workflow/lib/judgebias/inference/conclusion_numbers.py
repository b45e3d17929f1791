"""Estimates, intervals and p-values of conclusions in so many digits that a reader can see what decides."""

import math
from collections.abc import Mapping, Sequence

from judgebias.pages import signed

DIGITS = 3
MOST_DIGITS = 12  # smaller is rounding


def is_known(value: float | None) -> bool:
    """True for a number that a row has."""
    return value is not None and math.isfinite(value)


def end(value: float) -> str:
    """An end of an interval with three decimals, or as many as show its sign: +0.012, −0.0005."""
    return next((text for digits in range(DIGITS, MOST_DIGITS) if (text := signed(value, digits))[0] in "+−"), signed(value))


def p_value_text(p_value: float, level: float) -> str:
    """A p-value with two digits, or as many as show on which side of the level it is: p 0.03, p 0.1004."""
    exact = p_value <= level * (1 + 1e-12)
    return next(text for digits in range(2, 18) if (float(text := f"{p_value:.{digits}g}") <= level * (1 + 1e-12)) == exact)


def with_interval(row: Mapping, *, confidence: float, prefix: str = "") -> str:
    """An estimate and its interval, or its p-value where it has none, as in `+0.031 [+0.023, +0.039]`."""
    value, ends = signed(row[prefix.removesuffix("_") or "estimate"]), [row[f"{prefix}ci_low"], row[f"{prefix}ci_high"]]
    if is_known(ends[0]):
        return f"{value} [{', '.join(map(end, ends))}]"
    return f"{value} (p {p_value_text(row['p_value'], 1 - confidence)})" if is_known(row.get("p_value")) else value


def span(sizes: Sequence[float]) -> str:
    """From the smallest to the largest size, as in `0.023 to 0.034`."""
    return " to ".join(dict.fromkeys(f"{size:.{DIGITS}f}" for size in (min(sizes), max(sizes))))
