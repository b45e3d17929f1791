"""Which specs a study has the data for, and what of them.

Effects of completions taken out of a fit, not fitted one by one: there are thousands of them.

The terms of each slice of a spec, laid out in design cells: what its fit and its errors by prompt are made of.

The terms of a spec that rows carry, and why the others have no coefficient.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recuse.data.cells import Cells
from recuse.data.moments import Moments, completions_of
from recuse.data.registry import NO_HUMAN_SCORE
from recuse.data.study import Study
from recuse.model.design import ALL_JUDGES, ON_HUMAN_SCORES, Term, distinct_layouts, regressors_of
from recuse.model.prompt_sums import SliceCells
from recuse.model.spec import Spec, against_judges, in_place


def moments_of(spec: Spec, study: Study) -> Moments:
    """Moments that hold the rows of a least-squares spec, by cell where its errors need the leverage of single rows."""
    return study.moments(spec.selection, by_cell=spec.errors.leveraged)


def slices_of(spec: Spec, study: Study) -> Iterator[tuple[str, Cells | Moments]]:
    """Yield (label, rows) of each fit of the spec: group moments for least squares, cells for the other estimators.

    A slice may hold no rows, and there may be no slice: both are for the caller to report.
    """
    rows = moments_of(spec, study) if spec.model.estimator == "least_squares" else study.cells(spec.selection)
    for label, mask in spec.selection.slices(rows.factors):
        yield label, rows.select(mask)


NO_LENGTHS = "the ratings have no lengths"
ONE_FAMILY = "all judges are of one family: none is left to be judged by its reference"
NO_TASK_TYPES = "the study declares no task types"
LEFT_OUT = f"without the slopes on human scores, as {NO_HUMAN_SCORE}: what is said is relative to the other judges"
OF_HUMAN_SCALE = (*ON_HUMAN_SCORES, "self", "same_family")  # terms that say nothing without it, or without other judges


def applicable(
    specs: Mapping[str, Mapping], names: Iterable[str], study: Study, *, instead: Mapping[str, str] | None = None
) -> list[Spec]:
    """Read those of config's `specs` with these names that can be fitted to the study.

    instead: spec -> the one that takes its place in a study without human scores; each is there once.
    """
    named = in_place(names, {} if study.has_human_scores else instead or {})
    found = Spec.from_config({name: specs[name] for name in named})
    return [fitted_to(spec, study) for spec in found if inapplicable(spec, study) is None]


def sliced_by(specs: Mapping[str, Mapping], names: Iterable[str], study: Study) -> list[Spec]:
    """Read those of config's `specs` with these names whose slices the study has: for what does not fit their terms."""
    named = Spec.from_config({name: specs[name] for name in names})
    return [spec for spec in named if without_rows(spec, study) is None]


def inapplicable(spec: Spec, study: Study) -> str | None:
    """Why a spec cannot be fitted to a study at all, or None."""
    if needs_human_scores(spec) and not study.has_human_scores:
        return NO_HUMAN_SCORE
    return without_rows(spec, study)


def needs_human_scores(spec: Spec) -> bool:
    """Whether a spec says nothing in a study without human scores.

    A bias is then a gap to the other judges, or none; where it is, least squares does without the slopes on the human score.
    """
    if spec.selection.reference is not None:
        return False
    if spec.model.estimator != "least_squares":
        return True
    return not against_judges(spec) and not set(OF_HUMAN_SCALE).isdisjoint(spec.model.terms)


def fitted_to(spec: Spec, study: Study) -> Spec:
    """The spec without its terms on the human score, where the study has none, and as it is where it has."""
    if spec.selection.reference is not None or study.has_human_scores:
        return spec
    return spec.changed(terms=tuple(name for name in spec.model.terms if name not in ON_HUMAN_SCORES))


def without_rows(spec: Spec, study: Study) -> str | None:
    """Why a study has no rows for a spec, or no slice, whatever its terms are; or None."""
    if spec.selection.length is not None and not len(moments_of(spec, study).n):
        return NO_LENGTHS
    factors = study.cells().factors
    if spec.selection.reference is not None and len(np.unique(factors["judge_family"])) == 1:
        return ONE_FAMILY
    if spec.selection.slice == "task_type" and not factors["task_type"].astype(bool).any():
        return NO_TASK_TYPES
    absent = spec.selection.absent_from(factors)
    without_any = [key for key, values in absent.items() if len(values) == len(spec.selection.subset[key])]
    return missing(without_any[0], absent[without_any[0]]) if without_any else None


def missing(key: str, values: Iterable[str]) -> str:
    """Say what a key of a spec's subset names and the study does not hold."""
    return f"the study has no {key.replace('models_dropped', 'model')} named {', '.join(values)}"


ABSORBED = "not estimable: the effects of completions account for it"
RELATIVE = "not estimable: the effects of completions leave the intercepts and slopes of judges relative to those of this one"
BY_JUDGE = ("intercept", "slope", "length")
ALIKE = ("dimension", "model", "model_dimension")  # quantities that do not differ between the rows of a completion


def absorbed(spec: Spec, factors: Mapping[str, np.ndarray]) -> dict[tuple[str, str], str]:
    """Why a spec with `absorb` has no such coefficient, by (quantity, term); nothing of one without.

    What does not vary among the rows of a completion is gone; so are intercept and slopes of the first judge by alphabet, as
    those of all judges together do not vary.
    """
    reasons = {}
    first = str(np.unique(factors["judge"])[0]) if spec.selection.absorb else ""
    for term in spec.terms_of(factors) if spec.selection.absorb else []:
        if term.quantity in ALIKE or term.term == ALL_JUDGES:
            reasons[term.quantity, term.term] = ABSORBED
        elif term.quantity in BY_JUDGE and term.term == first:
            reasons[term.quantity, term.term] = RELATIVE
    return reasons


def layout_of(spec: Spec, terms: list[Term], rows: Moments) -> np.ndarray:
    """Lay the terms out as B, (groups, v - 1, terms), as design.regressors_of; with `absorb`, less the means of completions.

    A row's regressors are then x - mean of x over the rows of its completion, M X of all: with A = (X'MX)^-1, the coefficients
    are A X'My, as with a dummy for each completion, and the score of a prompt is X'M(y - X b) over its rows, since each
    completion is of one prompt. Errors CR1 do not count the completions among the regressors: they are nested in the clusters.
    `rows` are then moments that tell apart which judges rated a completion, with one group for each of them.
    Source: Frisch, Waugh and Lovell; Cameron and Miller (2015), section III.B, on effects nested in clusters.
    """
    layout = regressors_of(terms, len(rows.n), rows.tensor.shape[1] - 1)
    if spec.selection.absorb is None or not terms:
        return layout
    kind = completions_of(rows.factors)
    means = np.zeros((kind.max(initial=-1) + 1, *layout.shape[1:]))
    np.add.at(means, kind, layout)
    return layout - (means / np.bincount(kind)[:, None, None])[kind]


NO_ROWS = {
    "self_bias": "no row of this judge rates itself",
    "family_bias": "no row of this family's judges rates another model of the family",
}
NO_SLICE = "no row is left"
NO_TERM = "no row carries a term of the model"


def present_terms(spec: Spec, factors: Mapping[str, np.ndarray]) -> list[Term]:
    """List the terms of a spec that some of these groups of rows carry, and that absorption leaves."""
    gone = absorbed(spec, factors)
    return [term for term in spec.terms_of(factors) if term.carried.any() and (term.quantity, term.term) not in gone]


def absent_terms(spec: Spec, factors: Mapping[str, np.ndarray]) -> list[tuple[str, str, str]]:
    """List (quantity, term, reason) of the others."""
    gone = absorbed(spec, factors)
    keys = [(term.quantity, term.term) for term in spec.terms_of(factors) if not term.carried.any()]
    return [*((*key, NO_ROWS[key[0]]) for key in keys), *((*key, reason) for key, reason in gone.items())]


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

    group: (own groups,) places of the groups of `rows` among all of the spec. apart: a factor that is to be one in each cell.
    """
    terms = present_terms(spec, rows.factors) if len(group) else []
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
