"""How many prompts an audit needs, for a chosen width of an interval or size of an effect."""

import math

from recuse.audit.effects import LEAST_PROMPTS, POWER
from recuse.base.products import RATINGS, VERDICTS
from recuse.model.least_squares import quantile

# Standard deviations assumed before anything is observed: of the effect over prompts, and of the
# difference between two replies about one answer. Shares of the scale, and of verdicts.
ASSUMED = {RATINGS: (0.05, 0.2), VERDICTS: (0.1, 0.6)}
MOST_PROMPTS = 2**30  # beyond which no number is enough


def assumed_spread(kind: str, *units: float) -> float:
    """Standard deviation of a prompt's mean difference over its units, for ratings or verdicts:
    sqrt(by_prompt^2 + by_unit^2 / units). For a difference of several such means, with the units of
    each, the variances add up.
    """
    by_prompt, by_unit = ASSUMED[kind]
    return math.sqrt(sum(by_prompt**2 + by_unit**2 / each for each in units))


def half_width(spread: float, prompts: int, *, confidence: float) -> float:
    """Half the expected width of an interval: t_((1 + confidence) / 2, P - 1) spread / sqrt(P)."""
    return quantile(confidence, prompts - 1) * spread / math.sqrt(prompts)


def power_at(bias: float, spread: float, prompts: int, *, confidence: float, tests: int) -> float:
    """Probability that a bias is found, on its side: that noncentral t, with noncentrality bias
    sqrt(P) / spread, exceeds the critical value of Holm's first step over `tests` tests.
    """
    from scipy.special import nctdtr

    df, shift = prompts - 1, abs(bias) * math.sqrt(prompts) / spread
    critical = quantile(1 - (1 - confidence) / tests, df)
    return float(1 - nctdtr(df, shift, critical))


def prompts_needed(
    spread: float,
    *,
    width: float | None = None,
    bias: float | None = None,
    confidence: float,
    tests: int = 1,
    power: float = POWER,
) -> int | None:
    """The fewest prompts, at least LEAST_PROMPTS, for an interval of estimate +- `width`, and to
    find `bias` with probability `power`, if these are given; None if no number is enough.

    spread: standard deviation of a prompt's mean difference: from `assumed_spread`, or
    standard_error sqrt(prompts) in the table of effects, with one wording and one writer. tests:
    contrasts of a judge, for Holm's correction.
    """

    def is_enough(prompts: int) -> bool:
        if width is not None and half_width(spread, prompts, confidence=confidence) > width:
            return False
        if bias is None:
            return True
        return power_at(bias, spread, prompts, confidence=confidence, tests=tests) >= power

    high = LEAST_PROMPTS
    while not is_enough(high):
        high *= 2
        if high > MOST_PROMPTS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return max(high, LEAST_PROMPTS)
