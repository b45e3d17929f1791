"""What a study has no estimates of, in the words of its table of what is not estimable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def left_out(spec: str, estimates: pd.DataFrame, not_estimable: pd.DataFrame) -> dict[str, str]:
    """Reason by slice where a spec has no row in its `estimates`; the slice is "" where it is the whole spec.

    `not_estimable` has no quantity where it speaks of a slice, and no slice where it speaks of the spec.
    """
    rows = not_estimable[(not_estimable["spec"] == spec) & not_estimable["quantity"].isna()]
    reasons = dict(zip(rows["slice"].fillna(""), rows["reason"], strict=True))
    estimated = set(estimates["slice"].fillna(""))
    return {label: reason for label, reason in reasons.items() if label not in estimated}


def sentence(reasons: Mapping[str, str]) -> str:
    """What a page says at its foot of the things that it does not show; nothing where there is none."""
    named = "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return f"Not estimated: {named}." if reasons else ""
