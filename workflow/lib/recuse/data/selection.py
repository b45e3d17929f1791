"""Which rows of a study are fitted, in which slices, and what their covariates are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recuse.base.database import files, text
from recuse.data.references import REFERENCE_FAMILY

DROPPED = "models_dropped"
FACTOR_OF = {DROPPED: "model"}  # key of a subset -> factor, where they differ


@dataclass(frozen=True)
class Selection:
    """Rows of a study, in slices; all rows in one slice by default.

    slice: each dimension, dataset or task type alone, or each model left out in turn (model_dropped); whole: all rows together,
    too.
    subset: keep only these values of a factor (dimension, dataset, task_type); `models_dropped` leave as judge and as model.
    All else, the normalisation of the length and the reference too, is computed from the rows that are kept.
    length: the normalisation of the length (one of recuse.data.references.NORMALISATIONS), over all slices together.
    reference: the mean rating of each family's judges in turn, instead of the human score; the family's judges leave the rows,
    and under `family` its completions as well.
    absorb: `completion` tells completions (dimension, prompt and model) apart by the judges that rated them.
    """

    slice: str | None = None
    whole: bool = False
    subset: Mapping[str, Sequence[str]] = field(default_factory=dict)
    length: str | None = None
    reference: str | None = None
    absorb: str | None = None

    def absent_from(self, factors: Mapping[str, np.ndarray]) -> dict[str, list[str]]:
        """What the subset names and a study does not hold, by key of the subset."""
        missing = {
            key: [value for value in values if value not in factors[FACTOR_OF.get(key, key)]]
            for key, values in self.subset.items()
        }
        return {key: values for key, values in missing.items() if values}

    def rows(self, ratings: Sequence[str], *, prompts: tuple[int, int] | None = None) -> str:
        """SQL for the rows of the subset, of the canonical ratings (parquet files); prompts: the first and the last code."""
        conditions = [] if prompts is None else [f"prompt between {prompts[0]} and {prompts[1]}"]
        for key, values in self.subset.items():
            chosen = f"({', '.join(map(text, values))})"
            conditions.append(f"judge not in {chosen} and model not in {chosen}" if key == DROPPED else f"{key} in {chosen}")
        return f"select * from {files(ratings)} where {' and '.join(conditions or ['true'])}"

    def slices(self, factors: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (label, mask over the entries of `factors`) of each slice: the whole first, with label "", then by alphabet.

        With a reference, `factors` have the family that is the reference of each entry, and these are the slices.
        """
        kept = np.ones(len(factors["judge"]), dtype=bool)
        for key, values in self.subset.items():
            kept &= _without(factors, values) if key == DROPPED else np.isin(factors[key], values)
        if self.reference is not None:
            family = factors[REFERENCE_FAMILY]
            kept &= (self.reference != "family") | (factors["model_family"] != family)
            yield from ((str(level), kept & (family == level)) for level in np.unique(family))
            return
        if self.slice is None or self.whole:
            yield "", kept
        if self.slice == "model_dropped":
            for model in np.unique(factors["model"][kept]):
                yield str(model), kept & _without(factors, [model])
        elif self.slice is not None:
            for level in np.unique(factors[self.slice][kept]):
                yield str(level), kept & (factors[self.slice] == level)


def _without(factors: Mapping[str, np.ndarray], models: Sequence[str]) -> np.ndarray:
    return ~np.isin(factors["judge"], models) & ~np.isin(factors["model"], models)


EVERY_ROW = Selection()
