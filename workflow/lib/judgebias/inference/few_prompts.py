"""What the quantiles of a bootstrap over prompts lack where prompts are few."""

import math


def expanded(z: float, prompts: int) -> float:
    """Return sqrt(P / (P - 1)) t, with t as far out among t with P - 1 degrees of freedom as z among the normal.

    Resamples of P prompts vary by (P - 1) / P of what samples do, and say nothing of how unsure that is itself: a quantile
    that is z of their standard deviations out is to be taken this far out. Source: Hesterberg (2015), "What teachers should
    know about the bootstrap", The American Statistician 69, section 5.3, expanded percentile intervals.
    """
    from scipy.stats import norm, t

    return math.sqrt(prompts / (prompts - 1)) * float(t.isf(norm.sf(z), prompts - 1))


def tail(confidence: float, prompts: int) -> float:
    """Share of the replicates beyond each end of an interval of level `confidence`, (1 - confidence) / 2 with many prompts."""
    from scipy.stats import norm

    return float(norm.sf(expanded(norm.isf((1 - confidence) / 2), prompts)))
