"""What a spec says: which rows, which slices of them, which terms, which errors.

What a self- or family-bias is a gap to: the words that stand in every table and figure of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from recuse.base.database import files, text
from recuse.data.references import REFERENCE_FAMILY
from recuse.model.design import EQUATION_1, Term, terms_of

DROPPED = "models_dropped"
BY_PROMPT = ("CR1", "CR3", "two_way")  # covariances that need the rows of each prompt
BIASES = ("self_bias", "family_bias")
FACTOR_OF = {DROPPED: "model"}  # key of a subset -> factor, where they differ


@dataclass(frozen=True)
class Spec:
    """One model of the study: Equation 1 of Play Favorites, changed by its settings.

    slice: fit each dimension, dataset or task type alone, or leave each model out in turn (model_dropped); whole: fit all rows
    together, too.
    subset: keep only these values of a factor (dimension, dataset, task_type); `models_dropped` leave as judge and as model.
    All else, the normalisation of the length and the reference too, is computed from the rows that are kept.
    terms: of the model, as named in recuse.model.design.TERMS.
    length: add a term judge:length with this normalisation (one of recuse.data.references.NORMALISATIONS), over all slices
    together.
    reference: the mean rating of each family's judges in turn, instead of the human score; the family's judges leave the rows,
    and under `family` its completions as well.
    estimator: least_squares, ordinal_logit (proportional odds) or gam (splines of the reference).
    absorb: `completion` takes the effects of completions (dimension, prompt and model) out of the fit; errors are by prompt.
    covariance: HC0, HC1, HC2, HC3, classical, CR1 or CR3 (clustered by prompt), two_way (by prompt and judge).
    bootstrap: replicates of a bootstrap by prompt, beside it. wild: draws of a wild bootstrap by prompt of each self- and
    family-bias, beside it. tests: the quantities whose tests are one family, of all slices together.
    engine: cells (this project's) or statsmodels (its formula on raw rows).
    """

    name: str
    slice: str | None = None
    whole: bool = False
    subset: Mapping[str, Sequence[str]] = field(default_factory=dict)
    terms: Sequence[str] = EQUATION_1
    length: str | None = None
    reference: str | None = None
    absorb: str | None = None
    estimator: str = "least_squares"
    covariance: str = "HC0"
    bootstrap: int | None = None
    wild: int | None = None
    tests: Sequence[str] = BIASES
    engine: str = "cells"

    @classmethod
    def from_config(cls, specs: Mapping[str, Mapping]) -> "list[Spec]":
        """Read config's `specs`."""
        return [cls(name, **settings) for name, settings in specs.items()]

    def absent_from(self, factors: Mapping[str, np.ndarray]) -> dict[str, list[str]]:
        """What the spec's subset names and a study does not hold, by key of the subset."""
        missing = {
            key: [value for value in values if value not in factors[FACTOR_OF.get(key, key)]]
            for key, values in self.subset.items()
        }
        return {key: values for key, values in missing.items() if values}

    @property
    def by_prompt(self) -> bool:
        """Whether its errors need the rows of each prompt."""
        return self.covariance in BY_PROMPT or self.bootstrap is not None or self.wild is not None

    @property
    def by_row(self) -> bool:
        """Whether it reads the ratings themselves: cells do not hold what it needs to know of them."""
        told_apart = self.length is not None or self.reference is not None or self.absorb is not None
        return self.by_prompt or told_apart or self.engine == "statsmodels"

    def terms_of(self, factors: Mapping[str, np.ndarray]) -> list[Term]:
        """List the terms of the spec for groups of rows with these factors, those that no row carries too."""
        return terms_of(factors, names=self.terms, length=self.length is not None)

    def rows(self, ratings: Sequence[str], *, prompts: tuple[int, int] | None = None) -> str:
        """SQL for the rows of the subset, of the canonical ratings (parquet files); prompts: the first and the last code."""
        conditions = [] if prompts is None else [f"prompt between {prompts[0]} and {prompts[1]}"]
        for key, values in self.subset.items():
            chosen = f"({', '.join(map(text, values))})"
            conditions.append(f"judge not in {chosen} and model not in {chosen}" if key == DROPPED else f"{key} in {chosen}")
        return f"select * from {files(ratings)} where {' and '.join(conditions or ['true'])}"

    def slices(self, factors: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
        """Yield (label, mask over the entries of `factors`) of each fit: the whole first, with label "", then by alphabet.

        Of a spec with a reference, `factors` have the family that is the reference of each entry, and these are the slices.
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


def in_place(names: Iterable[str], instead: Mapping[str, str]) -> list[str]:
    """The names of specs, some of which others stand for, each once."""
    return list(dict.fromkeys(instead.get(name, name) for name in names))


A = "A: gap to the human scale"
A_OF_REFERENCE = "A: gap to the scale of the judges that are the reference"
B = "B: gap to what the other judges give, by {}"  # without taste that all judges share
C = "C: gap beyond ordinary taste of a judge for a model"
MEANINGS = {
    "A": "gap to the human scale; in it are the judge's own taste, taste that all judges share and errors of the human scores.",
    "B": "gap to what the other judges give the same model or completion; in it are the judge's own taste and, where judges' "
    "slopes on the human score differ, errors of the human scores.",
    "C": "gap to what is expected of judge and model; its interval is how far a cell that is neither self nor family scatters. "
    "Where slopes differ, errors of the human scores are in it.",
}


def estimand_of(spec: Spec) -> str:
    """Name the estimand of a spec: A, of Equation 1, or B, with effects of models or completions; "" if it has no bias.

    A holds the bias itself, any taste that all judges share against the humans, the judge's own taste for the model, and what
    errors of the human scores make of the model's quality; B no taste that is shared; C, of recuse.inference.idiosyncrasy, is
    measured against the judges' ordinary tastes. Errors of the human scores are in B and C as far as the judges' slopes differ.
    """
    if not {"self", "same_family"} & set(spec.terms):
        return ""
    if by := against_judges(spec):
        return B.format(by)
    return A if spec.reference is None else A_OF_REFERENCE


def against_judges(spec: Spec) -> str:
    """What the other judges give the same of, where biases are gaps to that: such as a model; "" where they are not."""
    if spec.absorb is not None:
        return spec.absorb
    if "model:dimension" in spec.terms:
        return "model and dimension"
    return "model" if "model" in spec.terms else ""


def estimands_in_words(estimands: Iterable[str]) -> str:
    """What a figure and its caption say of the estimands of their biases; nothing where there is none.

    Where there are several letters, a line for each says what it means.
    """
    named = [estimand for estimand in dict.fromkeys(estimands) if estimand]
    letters = dict.fromkeys(estimand[0] for estimand in named)
    if len(letters) > 1:
        return "\n".join(f"{letter}: {MEANINGS[letter]}" for letter in letters)
    return f"Estimand {'; '.join(named)}." if named else ""
