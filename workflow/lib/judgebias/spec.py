"""What a spec says: which rows, which slices of them, which terms, which errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Spec:
    """One linear model of the study: Equation 1 of Play Favorites, changed by its settings.

    slice: fit each dimension, dataset or task type alone, or leave each model out in turn (model_dropped).
    subset: keep only these values of a factor (dimension, dataset, task_type); `models_dropped` leave as judge and as model.
    length: add a term judge:length with this normalisation (judgebias.lengths.NORMALISATIONS).
    covariance: HC0, HC1 or classical. engine: cells (this project's) or statsmodels (its formula on raw rows).
    """

    name: str
    slice: str | None = None
    subset: Mapping[str, Sequence[str]] = field(default_factory=dict)
    length: str | None = None
    covariance: str = "HC0"
    engine: str = "cells"

    @classmethod
    def from_config(cls, specs: Mapping[str, Mapping]) -> "list[Spec]":
        """Read config's `specs`."""
        return [cls(name, **settings) for name, settings in specs.items()]

    def without_effect(self, factors: Mapping[str, np.ndarray]) -> str | None:
        """Say why the spec's subset does not apply to a study: it names only what the study does not hold."""
        for key, values in self.subset.items():
            present = np.unique(factors["model" if key == "models_dropped" else key])
            if not np.isin(values, present).any():
                return f"the study has no {key.replace('models_dropped', 'model')} named {', '.join(values)}"
        return None

    def slices(self, factors: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (label, mask over the entries of `factors`) of each fit, in alphabetical order; label "" for the whole."""
        kept = np.ones(len(factors["judge"]), dtype=bool)
        for key, values in self.subset.items():
            kept &= _without(factors, values) if key == "models_dropped" else np.isin(factors[key], values)
        if self.slice is None:
            yield "", kept
        elif self.slice == "model_dropped":
            for model in np.unique(factors["model"][kept]):
                yield str(model), kept & _without(factors, [model])
        else:
            for level in np.unique(factors[self.slice][kept]):
                yield str(level), kept & (factors[self.slice] == level)


def _without(factors: Mapping[str, np.ndarray], models: Sequence[str]) -> np.ndarray:
    return ~np.isin(factors["judge"], models) & ~np.isin(factors["model"], models)
