"""Ranks of models, and sets of ranks that hold all true ones at once."""

import numpy as np

from judgebias.inference.few_prompts import expanded

SAME = 1e-9  # points of the unit scale: scores nearer to one another are equal but for rounding, as ratings are on a grid


def ranks(scores: np.ndarray) -> np.ndarray:
    """Rank scores, (models,), 1 the highest: 1 + number of higher ones, so that equal scores share the lower number."""
    return 1 + (scores - scores[:, None] > SAME).sum(axis=1)


def rank_sets(scores: np.ndarray, replicates: np.ndarray, *, prompts: int, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest number of the set of ranks that the bootstrap leaves each model, (models,) each.

    With D_mk the difference of two scores, D*_mk that of a replicate and s_mk the standard deviation (n - 1) of D*_mk, and c
    the `confidence` quantile over replicates of max over pairs |D*_mk - D_mk| / s_mk, `expanded` for the number of prompts, k
    is surely above m where D_km > c s_mk. The set of m runs from 1 + (models above it) to models - (models below it); with
    probability `confidence` every set holds the true rank. Source: Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for
    ranks with applications to mobility across neighbourhoods and academic achievement across countries", section 3.

    scores: (models,) without NaN; replicates: (replicates, models), two or more; prompts: two or more.
    """
    differences = scores[:, None] - scores
    drawn = replicates[:, :, None] - replicates[:, None, :]
    spread = drawn.std(axis=0, ddof=1)
    varies = spread > SAME  # two models that no resample tells apart, or always by as much
    studentised = np.abs(drawn - differences)[:, varies] / spread[varies]
    critical = expanded(np.quantile(studentised.max(axis=1), confidence), prompts) if varies.any() else 0.0
    above = -differences > np.maximum(critical * spread, SAME)  # (m, k): k is above m
    return 1 + above.sum(axis=1), len(scores) - above.sum(axis=0)
