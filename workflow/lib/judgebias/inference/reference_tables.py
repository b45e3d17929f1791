"""What is known of a study's human scores, and what their errors make of its estimates."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from judgebias.fits.estimands import estimand_of
from judgebias.fits.spec import BIASES, Spec
from judgebias.inference.noisy_reference import breakdowns, corrected_rows, curve_rows, split_rater_rows
from judgebias.inference.reliability import Reliability, published_alphas, reliability_of_alphas, reliability_of_raters
from judgebias.ratings.study import Study

UNKNOWN = "not corrected: how reliable the human scores are is not known in {dimensions}"
UNUSABLE = "not corrected: the reliability of the human scores is not in (0, 1] in {dimensions}"


def reliability_of(study: Study, *, raters: Sequence[str], alphas: Sequence[str], of_alpha: int) -> dict[str, Reliability]:
    """Compute the reliability by dimension from the canonical raters (parquet), else from published alphas (CSV), if any.

    of_alpha: raters of each completion, where it is from alphas.
    """
    if raters:
        return reliability_of_raters(raters[0])
    published = published_alphas(alphas[0]) if alphas else {}
    held = set(map(str, study.all_cells().factors["dimension"]))
    return reliability_of_alphas({name: alpha for name, alpha in published.items() if name in held}, raters=of_alpha)


def reference_tables(
    specs: Sequence[Spec], study: Study, reliability: Mapping[str, Reliability], raters: Sequence[str], *, confidence: float
) -> dict[str, list[dict]]:
    """List the rows of the tables noisy_reference, reliability_curve and breakdowns, of all specs.

    Where the reliability of a dimension is not known, or is not in (0, 1], the first says so, and has no estimates but those by
    split raters; the others ask for none. raters: the canonical raters (parquet), if there are any. Nothing without human
    scores, which then have no errors.
    """
    specs = specs if study.has_human_scores else ()
    of_mean = {dimension: each.mean for dimension, each in reliability.items()}
    reason = _unusable(of_mean, study.all_cells().factors["dimension"])
    corrected, curve = [], []
    for spec in specs:
        if reason:
            corrected.append({"study": study.name, "spec": spec.name, "estimand": estimand_of(spec), "reason": reason})
        else:
            corrected += corrected_rows(spec, study, of_mean, confidence=confidence)
        for path in raters:
            corrected += split_rater_rows(spec, study, path, confidence=confidence)
        curve += curve_rows(spec, study, confidence=confidence)
    return {"noisy_reference": corrected, "reliability_curve": curve, "breakdowns": list(breakdowns(_of_bias(curve)))}


def _of_bias(curve: Sequence[dict]) -> list[dict]:
    return [row for row in curve if row.get("quantity") in BIASES]


def _unusable(reliability: Mapping[str, float], dimensions: np.ndarray) -> str:
    """Why the reliabilities do not serve, or ""."""
    held = {str(dimension): reliability.get(str(dimension), math.nan) for dimension in np.unique(dimensions)}
    unknown = [dimension for dimension, value in held.items() if math.isnan(value)]
    if unknown:
        return UNKNOWN.format(dimensions=", ".join(unknown))
    unusable = [dimension for dimension, value in held.items() if not 0 < value <= 1]
    return UNUSABLE.format(dimensions=", ".join(unusable)) if unusable else ""
