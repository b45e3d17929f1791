"""The terms of Equation 1 and of other models, the rows that carry each, and why some have no coefficient."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from recuse.model.spec import EQUATION_1, Spec

CONSTANT, REFERENCE, LENGTH = 0, 1, 2  # places in the regressors (1, reference, length) of a row
ALL_JUDGES = "all judges"  # level of an intercept or a slope that they share
COLLINEAR = "not estimable: other terms of the design account for it in every row"
ABSORBED = "not estimable: the effects of completions account for it"
RELATIVE = "not estimable: the effects of completions leave the intercepts and slopes of judges relative to those of this one"
BY_JUDGE = ("intercept", "slope", "length")
ALIKE = ("dimension", "model", "model_dimension")  # quantities that do not differ between the rows of a completion
NO_ROWS = {
    "self_bias": "no row of this judge rates itself",
    "family_bias": "no row of this family's judges rates another model of the family",
}
NO_SLICE = "no row is left"
NO_TERM = "no row carries a term of the model"


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


def estimable_terms(spec: Spec, factors: Mapping[str, np.ndarray]) -> list[Term]:
    """List the terms of a spec that some of these groups of rows carry, and that absorption leaves."""
    return [term for term, reason in _with_reasons(spec, factors) if not reason]


def absent_terms(spec: Spec, factors: Mapping[str, np.ndarray]) -> list[tuple[str, str, str]]:
    """List (quantity, term, reason) of the others, those that no row carries first."""
    absent = [(term.quantity, term.term, reason) for term, reason in _with_reasons(spec, factors) if reason]
    return sorted(absent, key=lambda row: row[0] not in NO_ROWS)


def _with_reasons(spec: Spec, factors: Mapping[str, np.ndarray]) -> Iterator[tuple[Term, str]]:
    """Yield each term of a spec and why it has no coefficient, if it has none.

    With `absorb`, what does not vary among the rows of a completion is gone; so are intercept and slopes of the first judge by
    alphabet, as those of all judges together do not vary.
    """
    absorbs, judges = spec.selection.absorb is not None, np.unique(factors["judge"])
    for term in terms_of(factors, names=spec.model.terms, length=spec.selection.length is not None):
        if not term.carried.any():
            yield term, NO_ROWS[term.quantity]
        elif absorbs and (term.quantity in ALIKE or term.term == ALL_JUDGES):
            yield term, ABSORBED
        elif absorbs and term.quantity in BY_JUDGE and term.term == judges[0]:
            yield term, RELATIVE
        else:
            yield term, ""
