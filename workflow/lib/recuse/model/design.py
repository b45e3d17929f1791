"""The terms of Equation 1 and other models: which rows carry them, why some have no coefficient, and their design matrix."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recuse.data.moments import Moments, completions_of
from recuse.model.prompt_sums import SliceCells
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
    (+ judge:length), where self = 1[model == judge] and same_family = 1[family of model == family of judge, not self]. The
    first dimension in alphabetical order is the reference level; with `model` or `model:dimension`, so is the first model, of
    each dimension, and self- and family-bias are then gaps to the judges of other families.
    names: the terms taken, of TERMS. A self or family term that no group carries is listed, too: a judge that is not rated
    itself, a family of one. Source: Play Favorites (arXiv 2508.06709), Equation 1 and section 6.2.
    """
    terms = [term for name, listed in TERMS.items() if name in names for term in listed(factors)]
    return terms + (_by_judge("length", LENGTH)(factors) if length else [])


def _for_all(quantity: str, regressor: int) -> Callable:
    return lambda factors: [Term(quantity, ALL_JUDGES, regressor, np.ones(len(factors["judge"]), dtype=bool))]


def _by_judge(quantity: str, regressor: int) -> Callable:
    return lambda factors: [Term(quantity, str(j), regressor, factors["judge"] == j) for j in np.unique(factors["judge"])]


def _by_level(quantity: str) -> Callable:
    """Of each level of the factor of this name but the first."""
    return lambda factors: [
        Term(quantity, str(level), CONSTANT, factors[quantity] == level) for level in np.unique(factors[quantity])[1:]
    ]


def _self(factors: Mapping[str, np.ndarray]) -> list[Term]:
    judge, own = factors["judge"], factors["model"] == factors["judge"]
    return [Term("self_bias", str(j), CONSTANT, own & (judge == j)) for j in np.unique(judge)]


def _same_family(factors: Mapping[str, np.ndarray]) -> list[Term]:
    family = factors["judge_family"]
    others = (factors["model_family"] == family) & (factors["model"] != factors["judge"])
    return [Term("family_bias", str(f), CONSTANT, others & (family == f)) for f in np.unique(family)]


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
    "dimension": _by_level("dimension"),
    "model": _by_level("model"),
    "model:dimension": _model_by_dimension,
}


def estimable_terms(spec: Spec, factors: Mapping[str, np.ndarray]) -> list[Term]:
    """List the terms of a spec that some of these groups of rows carry and that its fixed effects leave."""
    return [term for term, reason in _with_reasons(spec, factors) if not reason]


def absent_terms(spec: Spec, factors: Mapping[str, np.ndarray]) -> list[tuple[str, str, str]]:
    """List (quantity, term, reason) of the others, those that no row carries first."""
    absent = [(term.quantity, term.term, reason) for term, reason in _with_reasons(spec, factors) if reason]
    return sorted(absent, key=lambda row: row[0] not in NO_ROWS)


def _with_reasons(spec: Spec, factors: Mapping[str, np.ndarray]) -> Iterator[tuple[Term, str]]:
    """Yield each term of a spec and why it has no coefficient, or "".

    `absorb` takes away what does not vary among the rows of a completion, and the intercept and slopes of the first judge by
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


def layout_of(spec: Spec, terms: list[Term], rows: Moments) -> np.ndarray:
    """Lay the terms out as B, (groups, v - 1, terms), by `regressors_of`; with `absorb`, less the means of completions.

    A row's regressors are then x - mean of x over the rows of its completion, M X of all rows. With A = (X'MX)^-1, the
    coefficients are A X'My, as with a dummy for each completion. As each completion is of one prompt, the score of a prompt is
    X'M(y - X b) over its rows. Errors CR1 do not count the completions, which are nested in the clusters, as regressors.
    The groups of `rows` must then tell apart which judges rated a completion.
    Source: Frisch, Waugh and Lovell; Cameron and Miller (2015), section III.B, on effects nested in clusters.
    """
    layout = regressors_of(terms, len(rows.n), rows.tensor.shape[1] - 1)
    if spec.selection.absorb is None or not terms:
        return layout
    kind = completions_of(rows.factors)
    means = np.zeros((kind.max(initial=-1) + 1, *layout.shape[1:]))
    np.add.at(means, kind, layout)
    return layout - (means / np.bincount(kind)[:, None, None])[kind]


def regressors_of(terms: list[Term], groups: int, width: int) -> np.ndarray:
    """Lay the terms out as B, (groups, width, terms): a row's regressors are (1, reference[, length]) @ B[group]."""
    layout = np.zeros((groups, width, len(terms)))
    for place, term in enumerate(terms):
        layout[term.carried, term.regressor, place] = 1.0
    return layout


def distinct_layouts(layout: np.ndarray, factor: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct entries of B, (groups, ...): the first group of each kind, (kinds,), and the kind of each group.

    factor: (groups,) of str, by which kinds are told apart, too.
    """
    flat = np.ascontiguousarray(layout.reshape(len(layout), -1)) + 0.0  # -0.0 becomes 0.0, of other bytes
    binary = ((flat == 0) | (flat == 1)).all()  # then bits sort faster than bytes
    keys = np.packbits(flat != 0, axis=1) if binary else flat.view(np.uint8)
    _, first, kind = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True, return_inverse=True)
    if factor is not None:
        levels, level = np.unique(factor, return_inverse=True)
        _, first, kind = np.unique(kind * len(levels) + level, return_index=True, return_inverse=True)
    return first, kind


@dataclass(frozen=True)
class SliceDesign(SliceCells):
    """The terms of a slice in its design cells: groups with the same layout of terms, also with none, are one cell."""

    terms: Sequence[Term]
    layouts: np.ndarray  # (cells, w, terms)
    first: np.ndarray  # (cells,) a group of each cell, its place among all groups of the spec

    @property
    def regressors(self) -> np.ndarray:
        """B of the slice's own groups, (own groups, w, terms), as by `layout_of`."""
        return self.layouts[self.cell]


def design_of(spec: Spec, rows: Moments, group: np.ndarray, *, apart: str | None = None) -> SliceDesign | None:
    """Lay out the terms of a spec that some of the rows carry; None if there is none.

    group: (own groups,) places of the groups of `rows` among all of the spec. apart: a factor that is constant in each cell.
    """
    terms = estimable_terms(spec, rows.factors) if len(group) else []
    if not terms:
        return None
    layout = layout_of(spec, terms, rows)
    kinds, cell = distinct_layouts(layout, None if apart is None else rows.factors[apart])
    return SliceDesign(group, cell.astype(np.int32), len(kinds), terms, layout[kinds], group[kinds])


def designs_of(spec: Spec, moments: Moments, *, apart: str | None = None) -> Iterator[tuple[str, Moments, SliceDesign | None]]:
    """Yield the label, the rows and the design of each slice of a spec; moments: of the rows of all slices."""
    for label, mask in spec.selection.slices(moments.factors):
        rows = moments.select(mask)
        yield label, rows, design_of(spec, rows, np.flatnonzero(mask), apart=apart)
