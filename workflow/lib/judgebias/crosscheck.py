"""The fast way against statsmodels on raw rows: the largest difference, fit by fit."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from judgebias.errors import DesignError
from judgebias.estimates import estimate
from judgebias.spec import Spec
from judgebias.study import Study

TOLERANCE = 1e-9
COMPARED = ("estimate", "std_error", "ci_low", "ci_high")


def check_engines(specs: Iterable[Spec], study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield, for each slice of each spec, the largest absolute difference of any estimate, standard error or limit.

    It is infinite where one engine has a number that the other has not. Raises DesignError where they differ in their terms.
    """
    for spec in specs:
        ours, theirs = (
            {
                (row["slice"], row["quantity"], row["term"]): row
                for row in estimate(replace(spec, engine=engine), study, confidence=confidence)[0]
            }
            for engine in ("cells", "statsmodels")
        )
        if ours.keys() != theirs.keys():
            raise DesignError(f"spec {spec.name}: one engine only has {sorted(ours.keys() ^ theirs.keys())}")
        for label in sorted({key[0] for key in ours}):
            keys = [key for key in ours if key[0] == label]
            largest = max(_difference(ours[key], theirs[key]) for key in keys)
            names = {"study": study.name, "spec": spec.name, "slice": label}
            yield {**names, "terms": len(keys), "largest_difference": largest, "tolerance": TOLERANCE}


def raise_disagreement(rows: Iterable[dict]) -> None:
    """Raise DesignError naming the worst fit of a cross-check's rows, if it exceeds the tolerance."""
    worst = max(rows, key=lambda row: row["largest_difference"])
    if not worst["largest_difference"] <= worst["tolerance"]:
        raise DesignError(
            f"spec {worst['spec']}, slice '{worst['slice']}': the fit on cells and statsmodels differ by "
            f"{worst['largest_difference']:.3g}, more than {worst['tolerance']:g}"
        )


def _difference(one: dict, other: dict) -> float:
    if ("estimate" in one) != ("estimate" in other):
        raise DesignError(f"{one['quantity']} of {one['term']}: one engine calls it not estimable, the other does not")
    pairs = [(one.get(key, math.nan), other.get(key, math.nan)) for key in COMPARED]
    # A number that one engine has and the other has not is no rounding; one that neither has is agreed on.
    apart = [
        math.inf if math.isnan(a) != math.isnan(b) else abs(a - b) for a, b in pairs if not (math.isnan(a) and math.isnan(b))
    ]
    return max(apart, default=0.0)
