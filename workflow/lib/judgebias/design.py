"""The terms of Equation 1 and the rows that carry each."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

CONSTANT, REFERENCE, LENGTH = 0, 1, 2  # places in the regressors (1, reference, length) of a row


@dataclass(frozen=True)
class Term:
    """One coefficient: its quantity and level, the regressor it multiplies, and which groups of rows carry it."""

    quantity: str  # intercept, slope, self_bias, family_bias, dimension or length
    term: str  # the judge, family or dimension
    regressor: int  # CONSTANT, REFERENCE or LENGTH
    carried: np.ndarray  # (groups,) of bool


def terms_of(factors: Mapping[str, np.ndarray], *, length: bool = False) -> list[Term]:
    """List the terms of Equation 1 for groups of rows with these factors, each an array (groups,) of str.

    rating ~ judge + judge:reference + self[judge] + same_family[family] + dimension - 1 (+ judge:length), where
    self = 1[model == judge] and same_family = 1[family of model == family of judge, not self]; the first dimension in
    alphabetical order is the reference level. Source: Play Favorites (arXiv 2508.06709), Equation 1 and section 6.2.
    A self or family term is listed for every judge and every family of a judge, and may be carried by no group: a judge that is
    not rated itself, a family of one. What becomes of such a term is the caller's to say.
    """
    judge, model = factors["judge"], factors["model"]
    own = model == judge
    same_family = (factors["model_family"] == factors["judge_family"]) & ~own
    judges = np.unique(judge)
    terms = [Term("intercept", str(j), CONSTANT, judge == j) for j in judges]
    terms += [Term("slope", str(j), REFERENCE, judge == j) for j in judges]
    terms += [Term("self_bias", str(j), CONSTANT, own & (judge == j)) for j in judges]
    families = np.unique(factors["judge_family"])
    terms += [Term("family_bias", str(f), CONSTANT, same_family & (factors["judge_family"] == f)) for f in families]
    dimension = factors["dimension"]
    terms += [Term("dimension", str(d), CONSTANT, dimension == d) for d in np.unique(dimension)[1:]]
    if length:
        terms += [Term("length", str(j), LENGTH, judge == j) for j in judges]
    return terms


def regressors_of(terms: list[Term], groups: int, width: int) -> np.ndarray:
    """Lay the terms out as B, (groups, width, terms): a row's regressors are (1, reference[, length]) @ B[group]."""
    layout = np.zeros((groups, width, len(terms)))
    for place, term in enumerate(terms):
        layout[term.carried, term.regressor, place] = 1.0
    return layout
