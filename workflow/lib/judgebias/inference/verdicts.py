"""What is concluded of a bias, and what becomes of a conclusion in another view."""

import math
from dataclasses import dataclass

FAVOURS = {"self_bias": "favours itself", "family_bias": "favours its family"}
HARSHER = {"self_bias": "harsher on itself", "family_bias": "harsher on its family"}
NOT_APART, NOT_ESTIMABLE = "not told apart from 0", "not estimable"
NONE = (NOT_APART, NOT_ESTIMABLE)  # no bias is found
STANDS, LOST, REVERSED, NEW, AS_BEFORE = "stands", "lost", "reversed", "new", "as before"
BY_ERRORS = "by other errors alone"  # begins what is said of a new conclusion of which this is so
AS_IN = f"{BY_ERRORS}, as in “{{title}}”"


@dataclass(frozen=True)
class Finding:
    """What a view has of one bias; NaN and "" where it has nothing, with the reason."""

    estimate: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    p_value: float = math.nan
    std_error: float = math.nan
    df: float = math.inf
    estimand: str = ""
    randomisation_p_value: float = math.nan
    reason: str = ""


def concluded(finding: Finding, quantity: str, *, confidence: float) -> str:
    """Say what a finding means: its interval leaves out 0, or without one its p-value is 1 - confidence at most."""
    if finding.reason:
        return NOT_ESTIMABLE
    if math.isnan(finding.ci_low):
        clear = finding.p_value <= (1 - confidence) * (1 + 1e-12)
    else:
        clear = finding.ci_low > 0 or finding.ci_high < 0
    if not clear:
        return NOT_APART
    return (FAVOURS if finding.estimate > 0 else HARSHER)[quantity]


def verdict_on(first: str, conclusion: str) -> str:
    """Say what becomes of the first conclusion.

    A bias STANDS if it is found again, and else is LOST or REVERSED; where there was none one is NEW, or all is AS_BEFORE.
    """
    if NOT_ESTIMABLE in (first, conclusion):
        return NOT_ESTIMABLE
    if first == NOT_APART:
        return AS_BEFORE if conclusion == NOT_APART else NEW
    if conclusion == NOT_APART:
        return LOST
    return STANDS if first == conclusion else REVERSED
