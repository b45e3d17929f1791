"""The terms of Equation 1 and other models: which rows carry them, why some have no coefficient,
and the design matrix.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recuse.base.reasons import Reason, because
from recuse.data.cells import Factors
from recuse.data.moments import Moments, number_completions
from recuse.model.prompt_sums import SliceCells
from recuse.model.spec import EQUATION_1, Spec

CONSTANT, REFERENCE, LENGTH = 0, 1, 2  # places in the regressors (1, reference, length) of a row
ALL_JUDGES = "all judges"  # level of an intercept or a slope that they share
BY_JUDGE = ("intercept", "slope", "length")
# Quantities that are the same in all rows of a completion
BY_COMPLETION = ("dimension", "model", "model_dimension")
TermGroups = dict[str, np.ndarray]  # level of a term -> the groups that carry it, (groups,) of bool
# Why a bias has no term
NO_ROWS = {"self_bias": Reason.NO_OWN_ANSWERS, "family_bias": Reason.NO_SIBLINGS}


class NotEstimable(NamedTuple):
    """A term without a coefficient."""

    quantity: str
    term: str
    reason: str


@dataclass(frozen=True)
class Term:
    """One coefficient: its quantity and level, the regressor it multiplies, and which groups of
    rows carry it.
    """

    # Intercept, slope, self_bias, family_bias, dimension, model, model_dimension or length
    quantity: str
    term: str  # the judge, family, dimension or model, or ALL_JUDGES
    regressor: int  # CONSTANT, REFERENCE or LENGTH
    carried: np.ndarray  # (groups,) of bool


def _each(factor: str, first: int = 0) -> Callable:
    """Of each level of a factor, from the `first` on, which groups have it."""

    def levels_and_groups(factors: Factors) -> TermGroups:
        levels, code = np.unique(factors[factor], return_inverse=True)
        return {str(levels[place]): code == place for place in range(first, len(levels))}

    return levels_and_groups


def _all_judges(factors: Factors) -> TermGroups:
    return {ALL_JUDGES: np.ones(len(factors["judge"]), dtype=bool)}


def _self(factors: Factors) -> TermGroups:
    is_own = factors["model"] == factors["judge"]
    return {judge: rows & is_own for judge, rows in _each("judge")(factors).items()}


def _same_family(factors: Factors) -> TermGroups:
    siblings = (factors["model_family"] == factors["judge_family"]) & (
        factors["model"] != factors["judge"]
    )
    return {family: rows & siblings for family, rows in _each("judge_family")(factors).items()}


def _model_by_dimension(factors: Factors) -> TermGroups:
    """Each model against the first one of the dimension."""
    model, dimension = factors["model"], factors["dimension"]
    return {
        f"{m}, {d}": (model == m) & (dimension == d)
        for d in np.unique(dimension)
        for m in np.unique(model[dimension == d])[1:]
    }


# The terms that a spec may name -> quantity, regressor, and level -> groups that carry it; in the
# order of the tables.
TERMS: dict[str, tuple[str, int, Callable[[Factors], TermGroups]]] = {
    "intercept": ("intercept", CONSTANT, _all_judges),
    "judge": ("intercept", CONSTANT, _each("judge")),
    "reference": ("slope", REFERENCE, _all_judges),
    "judge:reference": ("slope", REFERENCE, _each("judge")),
    "self": ("self_bias", CONSTANT, _self),
    "same_family": ("family_bias", CONSTANT, _same_family),
    "dimension": ("dimension", CONSTANT, _each("dimension", 1)),
    "model": ("model", CONSTANT, _each("model", 1)),
    "model:dimension": ("model_dimension", CONSTANT, _model_by_dimension),
}
JUDGE_LENGTH = ("length", LENGTH, _each("judge"))


def design_terms(
    factors: Factors, *, names: Collection[str] = EQUATION_1, length: bool = False
) -> list[Term]:
    """List the terms of a model for groups of rows with these factors, each an array (groups,) of
    str.

    Equation 1, the default, reads rating ~ judge + judge:reference + self[judge] +
    same_family[family] + dimension - 1 (+ judge:length), where self = 1[model == judge] and
    same_family = 1[family of model == family of judge, not self]. The first dimension in
    alphabetical order is the reference level; with `model` or `model:dimension`, so is the first
    model (of each dimension), and self- and family-biases are then gaps to the judges of other
    families.
    names: the terms, of TERMS. Self and family terms that no group carries are listed as well.
    Source: Play Favorites (arXiv 2508.06709), Equation 1 and section 6.2.
    """
    listed = [term for name, term in TERMS.items() if name in names] + [JUDGE_LENGTH] * length
    return [
        Term(quantity, level, regressor, carried)
        for quantity, regressor, levels in listed
        for level, carried in levels(factors).items()
    ]


def estimable_terms(spec: Spec, factors: Factors) -> list[Term]:
    """List the terms of a spec that some of these groups of rows carry and its fixed effects
    leave.
    """
    return [term for term, reason in _with_reasons(spec, factors) if not reason]


def absent_terms(spec: Spec, factors: Factors) -> list[NotEstimable]:
    """List (quantity, term, reason) of the other terms; self and family terms that no row carries
    come first.

    If no term is left, the last one says so, or that there are no rows, without quantity and term.
    """
    reasons = list(_with_reasons(spec, factors))
    absent = [NotEstimable(term.quantity, term.term, reason) for term, reason in reasons if reason]
    absent.sort(key=lambda row: row.quantity not in NO_ROWS)
    if len(absent) == len(reasons):
        nothing = Reason.NO_TERM if len(factors["judge"]) else Reason.NO_ROWS
        absent.append(NotEstimable("", "", because(nothing)))
    return absent


def _with_reasons(spec: Spec, factors: Factors) -> Iterator[tuple[Term, str]]:
    """Yield each term of a spec and why it has no coefficient, or ""; none without rows.

    `absorb` removes what does not vary among the rows of a completion, and the intercept and slopes
    of the first judge in alphabetical order, as those of all judges together do not vary.
    """
    absorbs, judges = spec.selection.absorb is not None, np.unique(factors["judge"])
    if not len(judges):
        return
    for term in design_terms(
        factors, names=spec.model.terms, length=spec.selection.length is not None
    ):
        if not term.carried.any():
            yield term, because(NO_ROWS[term.quantity])
        elif absorbs and (term.quantity in BY_COMPLETION or term.term == ALL_JUDGES):
            yield term, because(Reason.ABSORBED)
        elif absorbs and term.quantity in BY_JUDGE and term.term == judges[0]:
            yield term, because(Reason.RELATIVE)
        else:
            yield term, ""


def design_layout(spec: Spec, terms: list[Term], rows: Moments) -> np.ndarray:
    """Lay the terms out as B, (groups, v - 1, terms), by `term_layout`; with `absorb`, less the
    means of completions.

    A row's regressors are then x - mean of x over the rows of its completion, M X of all rows. With
    A = (X'MX)^-1, the coefficients are A X'My, as with a dummy for each completion, and the score
    of a prompt is X'M(y - X b) over its rows. Errors CR1 do not count the completions, which are
    nested in the clusters, as regressors. The groups of `rows` must then distinguish which judges
    rated a completion. Source: Frisch, Waugh and Lovell; Cameron and Miller (2015), section III.B.
    """
    layout = term_layout(terms, len(rows.n), rows.tensor.shape[1] - 1)
    if spec.selection.absorb is None or not terms:
        return layout
    return within_completions(layout, rows.factors)


def within_completions(layout: np.ndarray, factors: Factors) -> np.ndarray:
    """A layout, (groups, v - 1, terms), less its means over the judges of a completion."""
    kind = number_completions(factors)
    means = np.zeros((kind.max(initial=-1) + 1, *layout.shape[1:]))
    np.add.at(means, kind, layout)
    return layout - (means / np.bincount(kind)[:, None, None])[kind]


def term_layout(terms: list[Term], groups: int, width: int) -> np.ndarray:
    """Lay the terms out as B, (groups, width, terms): a row's regressors are (1, reference[,
    length]) @ B[group].
    """
    layout = np.zeros((groups, width, len(terms)))
    for place, term in enumerate(terms):
        layout[term.carried, term.regressor, place] = 1.0
    return layout


def distinct_layouts(
    layout: np.ndarray, factor: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct entries of B, (groups, ...): the first group of each kind, (kinds,), and
    the kind of each group.

    factor: (groups,) of str, that further separates the kinds.
    """
    # -0.0 becomes 0.0, of other bytes
    flat = np.ascontiguousarray(layout.reshape(len(layout), -1)) + 0.0
    binary = ((flat == 0) | (flat == 1)).all()  # then bits sort faster than bytes
    keys = np.packbits(flat != 0, axis=1) if binary else flat.view(np.uint8)
    _, first, kind = np.unique(
        keys.view(f"V{keys.shape[1]}").ravel(), return_index=True, return_inverse=True
    )
    if factor is not None:
        levels, level = np.unique(factor, return_inverse=True)
        _, first, kind = np.unique(
            kind * len(levels) + level, return_index=True, return_inverse=True
        )
    return first, kind


@dataclass(frozen=True)
class SliceDesign(SliceCells):
    """The terms of a slice in its design cells: groups with the same layout of terms are one
    cell.
    """

    terms: Sequence[Term]
    layouts: np.ndarray  # (cells, w, terms)
    first: np.ndarray  # (cells,) a group of each cell, its place among all groups of the spec

    @property
    def regressors(self) -> np.ndarray:
        """B by `design_layout`, (own groups, w, terms)."""
        return self.layouts[self.cell]


def slice_designs(
    spec: Spec, moments: Moments, *, apart: str | None = None
) -> Iterator[tuple[str, Moments, SliceDesign | None]]:
    """Yield label, rows and design of each slice of a spec, None if its rows carry no estimable
    term.

    moments: of the rows of all slices; apart: a factor that is constant in each cell.
    """
    for label, mask in spec.selection.slices(moments.factors):
        rows, group, design = moments.select(mask), np.flatnonzero(mask), None
        if terms := estimable_terms(spec, rows.factors):
            layout = design_layout(spec, terms, rows)
            kinds, cell = distinct_layouts(layout, None if apart is None else rows.factors[apart])
            design = SliceDesign(
                group, cell.astype(np.int32), len(kinds), terms, layout[kinds], group[kinds]
            )
        yield label, rows, design
