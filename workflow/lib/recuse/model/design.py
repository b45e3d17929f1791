"""The terms of Equation 1 and the rows that carry each."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

CONSTANT, REFERENCE, LENGTH = 0, 1, 2  # places in the regressors (1, reference, length) of a row
EQUATION_1 = ("judge", "judge:reference", "self", "same_family", "dimension")
ON_HUMAN_SCORES = ("reference", "judge:reference")  # terms with the reference as regressor
ALL_JUDGES = "all judges"  # level of an intercept or a slope that they share
COLLINEAR = "not estimable: other terms of the design account for it in every row"


@dataclass(frozen=True)
class Term:
    """One coefficient: its quantity and level, the regressor it multiplies, and which groups of rows carry it."""

    quantity: str  # intercept, slope, self_bias, family_bias, dimension, model, model_dimension or length
    term: str  # the judge, family, dimension or model, or ALL_JUDGES
    regressor: int  # CONSTANT, REFERENCE or LENGTH
    carried: np.ndarray  # (groups,) of bool


def terms_of(factors: Mapping[str, np.ndarray], *, names: Collection[str] = EQUATION_1, length: bool = False) -> list[Term]:
    """List the terms of a model for groups of rows with these factors, each an array (groups,) of str.

    Equation 1, the default, reads rating ~ judge + judge:reference + self[judge] + same_family[family] + dimension - 1
    (+ judge:length), where self = 1[model == judge] and same_family = 1[family of model == family of judge, not self]; the
    first dimension in alphabetical order is the reference level. `names` are the terms taken, of TERMS. Source: Play Favorites
    (arXiv 2508.06709), Equation 1 and section 6.2. With `model` or `model:dimension`, the first model in alphabetical order, of
    each dimension, is the reference level: self- and family-bias are then gaps to the judges of other families.
    A self or family term is listed for every judge and every family of a judge, and may be carried by no group: a judge that is
    not rated itself, a family of one. What becomes of such a term is the caller's to say.
    """
    terms = [term for name, listed in TERMS.items() if name in names for term in listed(factors)]
    if length:
        judge = factors["judge"]
        terms += [Term("length", str(j), LENGTH, judge == j) for j in np.unique(judge)]
    return terms


def _for_all(quantity: str, regressor: int) -> Callable:
    return lambda factors: [Term(quantity, ALL_JUDGES, regressor, np.ones(len(factors["judge"]), dtype=bool))]


def _by_judge(quantity: str, regressor: int) -> Callable:
    return lambda factors: [Term(quantity, str(j), regressor, factors["judge"] == j) for j in np.unique(factors["judge"])]


def _self(factors: Mapping[str, np.ndarray]) -> list[Term]:
    judge, own = factors["judge"], factors["model"] == factors["judge"]
    return [Term("self_bias", str(j), CONSTANT, own & (judge == j)) for j in np.unique(judge)]


def _same_family(factors: Mapping[str, np.ndarray]) -> list[Term]:
    family = factors["judge_family"]
    others = (factors["model_family"] == family) & (factors["model"] != factors["judge"])
    return [Term("family_bias", str(f), CONSTANT, others & (family == f)) for f in np.unique(family)]


def _dimension(factors: Mapping[str, np.ndarray]) -> list[Term]:
    dimension = factors["dimension"]
    return [Term("dimension", str(d), CONSTANT, dimension == d) for d in np.unique(dimension)[1:]]


def _model(factors: Mapping[str, np.ndarray]) -> list[Term]:
    model = factors["model"]
    return [Term("model", str(m), CONSTANT, model == m) for m in np.unique(model)[1:]]


def _model_by_dimension(factors: Mapping[str, np.ndarray]) -> list[Term]:
    """Each model against the first one of the dimension."""
    model, dimension = factors["model"], factors["dimension"]
    return [
        Term("model_dimension", f"{m}, {d}", CONSTANT, (model == m) & (dimension == d))
        for d in np.unique(dimension)
        for m in np.unique(model[dimension == d])[1:]
    ]


# The terms that a spec may name -> how to list them, in the order of the tables.
TERMS: dict[str, Callable[[Mapping[str, np.ndarray]], list[Term]]] = {
    "intercept": _for_all("intercept", CONSTANT),
    "judge": _by_judge("intercept", CONSTANT),
    "reference": _for_all("slope", REFERENCE),
    "judge:reference": _by_judge("slope", REFERENCE),
    "self": _self,
    "same_family": _same_family,
    "dimension": _dimension,
    "model": _model,
    "model:dimension": _model_by_dimension,
}


def regressors_of(terms: list[Term], groups: int, width: int) -> np.ndarray:
    """Lay the terms out as B, (groups, width, terms): a row's regressors are (1, reference[, length]) @ B[group]."""
    layout = np.zeros((groups, width, len(terms)))
    for place, term in enumerate(terms):
        layout[term.carried, term.regressor, place] = 1.0
    return layout


def distinct_layouts(layout: np.ndarray, factor: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Number the kinds of groups, of one entry of B each: the first group of each kind, (kinds,), and the kind of each group.

    They are told apart by their bytes; where all are 0 or 1, by bytes of bits, which sort faster. factor: (groups,) of str,
    where it is to be one in each kind, too.
    """
    flat = np.ascontiguousarray(layout.reshape(len(layout), -1)) + 0.0  # of the two zeros, one
    binary = ((flat == 0) | (flat == 1)).all()
    keys = np.packbits(flat != 0, axis=1) if binary else flat.view(np.uint8)
    _, first, kind = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True, return_inverse=True)
    if factor is not None:
        levels, level = np.unique(factor, return_inverse=True)
        _, first, kind = np.unique(kind * len(levels) + level, return_index=True, return_inverse=True)
    return first, kind
