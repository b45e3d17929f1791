"""A spec fitted to a study, slice by slice, by its estimator."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat

import numpy as np

from recuse.base.errors import DesignError
from recuse.data.cells import Cells
from recuse.data.moments import Moments
from recuse.data.study import Study
from recuse.model.covariance import COVARIANCES, FEW, FEW_CLUSTERS, ByPrompt, Clusters, Covariance, fit
from recuse.model.design import SliceDesign, designs_of, layout_of
from recuse.model.estimable import moments_of, slices_of
from recuse.model.gam import Curve, fit_gam
from recuse.model.least_squares import LeastSquares, Solution, solve
from recuse.model.ordinal import fit_ordinal
from recuse.model.prompt_sums import TakesPrompts, add_prompts
from recuse.model.resampling import PromptBootstrap, WildBootstrap, WildTest
from recuse.model.spec import BIASES, Spec
from recuse.model.terms import COLLINEAR, NO_SLICE, NO_TERM, Term, absent_terms, estimable_terms

ONE_PROMPT = "no bootstrap: all rows are of one prompt"
NOT_POSITIVE = (
    "two_way: no standard errors, as the matrix of prompts + judges - judges in prompts is not positive semidefinite; where "
    "each judge has its own intercept, as in Equation 1, this takes up the judge's score: write CR1 or CR3"
)
LOST = "bootstrap: of {all} resamples of prompts, left out where they do not determine the coefficient: {lost}"


@dataclass(frozen=True)
class Coefficient:
    """One coefficient that rows carry: its numbers, NaN where there is none, and a note why."""

    quantity: str
    term: str
    n_term: int  # rows that carry it
    estimate: float
    std_error: float
    note: str = ""
    effect: float = math.nan  # average marginal effect on the rating, in points of the unit scale
    effect_std_error: float = math.nan
    replicates: np.ndarray | None = field(default=None, repr=False, compare=False)  # of a bootstrap, NaN where not determined
    df: float = math.inf  # of the t distribution of estimate / std_error; infinite: the normal one
    wild: WildTest | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Fitted:
    """The fit of one slice.

    Coefficients, what is not estimable as (quantity, term, reason), remarks on the fit, and the curves of smooth terms.
    """

    slice: str
    n: int  # rows
    coefficients: list[Coefficient] = field(default_factory=list)
    not_estimable: list[tuple[str, str, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)


@dataclass(frozen=True)
class PromptErrors:
    """The fit of a slice, and what its prompts say of the errors."""

    solution: Solution
    clusters: ByPrompt
    replicates: np.ndarray | None  # (replicates, terms) coefficients of the bootstrap, if the spec asks for one and it can be
    wild: Mapping[int, WildTest] = field(default_factory=dict)  # by place of the term, if the spec asks for one


def fits(spec: Spec, study: Study, *, seed: int | None) -> Iterator[Fitted]:
    """Fit each slice of the spec to the study; one without rows is not estimable as a whole. `seed` is that of a bootstrap."""
    errors = prompt_errors(spec, study, seed=seed) if spec.errors.by_prompt else repeat(None)
    for (label, rows), of_prompts in zip(slices_of(spec, study), errors, strict=spec.errors.by_prompt):
        yield fit_slice(spec, label, rows, of_prompts)


def fit_slice(spec: Spec, label: str, rows: Cells | Moments, errors: PromptErrors | None = None) -> Fitted:
    """Fit the spec's model to the rows of one slice; `errors` are those of a spec by prompt, where rows carry a term."""
    if not len(rows.n):
        return without_rows(label)
    present, absent = estimable_terms(spec, rows.factors), absent_terms(spec, rows.factors)
    if not present:
        return without_terms(label, round(float(rows.n.sum())), absent)
    try:
        by_prompt = () if errors is None else (errors,)  # of least squares: the settings have no other spec by prompt
        return ESTIMATORS[spec.model.estimator](spec, label, rows, present, absent, *by_prompt)
    except DesignError as error:
        return Fitted(label, round(float(rows.n.sum())), not_estimable=[("", "", str(error))])


def prompt_errors(spec: Spec, study: Study, *, seed: int | None) -> list[PromptErrors | None]:
    """Pass over the rows of a least-squares spec: its slices in their order, None for one without rows, or without a term.

    One pass sums the scores of all slices, and draws the wild bootstrap. The bootstrap takes another, so that what the draws of
    both are summed up in is not held at once.
    """
    moments, kind = moments_of(spec, study), COVARIANCES[spec.errors.covariance]
    designs = list(designs_of(spec, moments, apart="judge" if kind.by_judge else None))
    fitted = [(design, solve(rows, design.regressors)) for _, rows, design in designs if design is not None]
    clusters = [_clusters(kind, moments, *each) for each in fitted]
    wild = [[] if spec.errors.wild is None else [_wild(spec, *each, study.prompts, seed)] for each in fitted]

    def add_to(takers: Iterable[Sequence[TakesPrompts]]) -> None:
        slices = list(zip((design for design, _ in fitted), takers, strict=True))
        add_prompts(slices, study.row_blocks(spec.selection, moments.factors) if slices else (), len(moments.n))

    add_to([own, *draws] for own, draws in zip(clusters, wild, strict=True))
    tests = [draws[0].tests() if draws else {} for draws in wild]
    del wild
    replicates = [None] * len(fitted)
    if spec.errors.bootstrap is not None:
        asked = {"prompts": study.prompts, "replicates": spec.errors.bootstrap, "seed": seed}
        bootstraps = [PromptBootstrap(design.layouts, solution, **asked) for design, solution in fitted]
        add_to([each] for each in bootstraps)
        replicates = [each.estimates() if own.prompts > 1 else None for each, own in zip(bootstraps, clusters, strict=True)]
    errors = map(PromptErrors, (solution for _, solution in fitted), clusters, replicates, tests)
    return [None if design is None else next(errors) for *_, design in designs]


def _clusters(kind: Covariance, moments: Moments, design: SliceDesign, solution: Solution) -> ByPrompt:
    """What takes the sums of prompts of a slice; that of CR1, where its errors are not by prompt, to count the prompts."""
    judge = [moments.factors["judge"][design.first]] if kind.by_judge else []
    return (kind.of_prompts or Clusters)(design.layouts, solution, *judge)


def _wild(spec: Spec, design: SliceDesign, solution: Solution, prompts: int, seed: int) -> WildBootstrap:
    places = [place for place, term in enumerate(design.terms) if term.quantity in BIASES]
    return WildBootstrap(design.layouts, solution, places, prompts=prompts, draws=spec.errors.wild, seed=seed)


def without_rows(label: str) -> Fitted:
    """Lay out a slice that has no rows."""
    return Fitted(label, 0, not_estimable=[("", "", NO_SLICE)])


def without_terms(label: str, n: int, absent: list) -> Fitted:
    """Lay out a slice of n rows that carry no term."""
    return Fitted(label, n, not_estimable=[*absent, ("", "", NO_TERM)])


def _least_squares(
    spec: Spec, label: str, rows: Moments, terms: list[Term], absent: list, errors: PromptErrors | None = None
) -> Fitted:
    covariance = spec.errors.covariance
    if COVARIANCES[covariance].of_prompts:
        result = errors.clusters.result()
    else:
        result = fit(rows, layout_of(spec, terms, rows), covariance=covariance, solution=errors and errors.solution)
    fitted = fitted_by_least_squares(label, terms, [rows.n[term.carried].sum() for term in terms], result, absent)
    fitted = replace(fitted, remarks=_on_clusters(spec, result))
    if spec.errors.wild is not None:
        coefficients = [replace(row, wild=errors.wild.get(place)) for place, row in enumerate(fitted.coefficients)]
        fitted = replace(fitted, coefficients=coefficients)
    if spec.errors.bootstrap is None:
        return fitted
    if errors.replicates is None:
        return replace(fitted, remarks=[*fitted.remarks, ONE_PROMPT])
    return _with_replicates(fitted, errors.replicates)


def _on_clusters(spec: Spec, result: LeastSquares) -> list[str]:
    """What is to be said of errors by prompt: they rest on few clusters, or there are none."""
    remarks = []
    if 0 < result.df < FEW - 1:
        remarks.append(FEW_CLUSTERS.format(covariance=spec.errors.covariance, clusters=result.df + 1, few=FEW))
    errors = result.std_error[result.identified]
    if COVARIANCES[spec.errors.covariance].by_judge and result.df > 0 and result.n > result.rank and np.isnan(errors).all():
        remarks.append(NOT_POSITIVE)
    return remarks


def fitted_by_least_squares(label: str, terms: list[Term], n_terms: list, result: LeastSquares, absent: list) -> Fitted:
    """Lay out a least-squares result; n_terms are the rows that carry each term."""
    notes = ["" if known else COLLINEAR for known in result.identified]
    numbers = zip(terms, n_terms, result.estimate, result.std_error, notes, strict=True)
    coefficients = [
        Coefficient(term.quantity, term.term, round(float(n)), float(estimate), float(error), note, df=result.df)
        for term, n, estimate, error, note in numbers
    ]
    unknown = [(term.quantity, term.term, note) for term, note in zip(terms, notes, strict=True) if note]
    return Fitted(label, result.n, coefficients, absent + unknown)


def _with_replicates(fitted: Fitted, replicates: np.ndarray) -> Fitted:
    """Put its replicates, (replicates, terms), beside each coefficient, and remark on those that do not determine one."""
    coefficients = [replace(row, replicates=column) for row, column in zip(fitted.coefficients, replicates.T, strict=True)]
    lost = [
        f"{row.quantity} of {row.term} in {count}"
        for row, count in zip(coefficients, np.isnan(replicates).sum(axis=0), strict=True)
        if count and not row.note
    ]
    remarks = [LOST.format(all=len(replicates), lost=", ".join(lost))] if lost else []
    return replace(fitted, coefficients=coefficients, remarks=fitted.remarks + remarks)


def _ordinal_logit(spec: Spec, label: str, cells: Cells, terms: list[Term], absent: list) -> Fitted:
    result = fit_ordinal(cells, terms, covariance=spec.errors.covariance)
    coefficients = [
        Coefficient(term.quantity, term.term, n, *map(float, numbers[:2]), numbers[2], *map(float, numbers[3:]))
        for place, (term, n, *numbers) in enumerate(
            zip(
                terms, _rows_with(cells, terms), result.estimate, result.std_error, result.notes,
                result.effect, result.effect_std_error, strict=True,
            )
        )
        if place != result.reference
    ]  # fmt: skip
    thresholds = zip(
        result.threshold_labels, result.threshold_estimate, result.threshold_std_error, result.threshold_notes, strict=True
    )
    coefficients += [
        Coefficient("threshold", between, result.n, float(estimate), float(error), note)
        for between, estimate, error, note in thresholds
    ]
    unknown = [(row.quantity, row.term, row.note) for row in coefficients if math.isnan(row.estimate)]
    return Fitted(label, result.n, coefficients, absent + unknown, list(result.remarks))


def _rows_with(cells: Cells, terms: list[Term]) -> list[int]:
    """Rows that carry each term."""
    n = cells.sum_by_group(cells.n)
    return [round(n[term.carried].sum()) for term in terms]


def _gam(spec: Spec, label: str, cells: Cells, terms: list[Term], absent: list) -> Fitted:
    result = fit_gam(cells, terms, covariance=spec.errors.covariance)
    numbers = zip(terms, _rows_with(cells, terms), result.estimate, result.std_error, result.identified, strict=True)
    coefficients = [
        Coefficient(term.quantity, term.term, n, float(estimate), float(error), "" if known else COLLINEAR)
        for term, n, estimate, error, known in numbers
        if term.quantity != "slope"  # a curve stands in its place
    ]
    unknown = [(row.quantity, row.term, row.note) for row in coefficients if row.note]
    remarks = [f"{term.term}: {note}" for term, note in zip(terms, result.notes, strict=True) if note]
    return Fitted(label, result.n, coefficients, absent + unknown, remarks, list(result.curves))


ESTIMATORS = {"least_squares": _least_squares, "ordinal_logit": _ordinal_logit, "gam": _gam}
