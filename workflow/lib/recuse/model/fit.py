"""A spec fitted to a study, slice by slice, by its estimator."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import repeat

import numpy as np

from recuse.base.errors import DesignError
from recuse.data.cells import Cells
from recuse.data.moments import Moments
from recuse.data.study import Study
from recuse.model.covariance import FEW, FEW_CLUSTERS, clustered, two_way
from recuse.model.design import COLLINEAR, Term
from recuse.model.gam import Curve, fit_gam
from recuse.model.least_squares import LeastSquares, fit
from recuse.model.ordinal import fit_ordinal
from recuse.model.resampling import PromptErrors, WildTest, jackknifed, prompt_errors
from recuse.model.spec import Spec
from recuse.model.terms import NO_SLICE, NO_TERM, absent_terms, layout_of, present_terms, slices_of

ONE_PROMPT = "no bootstrap: all rows are of one prompt"
NOT_POSITIVE = (
    "two_way: no standard errors, as the matrix of prompts + judges - judges in prompts is not positive semidefinite; where "
    "each judge has its own intercept, as in Equation 1, this takes up the judge's score: write CR1 or CR3"
)
CLUSTERED = {"CR1": clustered, "CR3": jackknifed, "two_way": two_way}  # covariance -> errors from the sums by prompt
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


def fits(spec: Spec, study: Study, *, seed: int | None) -> Iterator[Fitted]:
    """Fit each slice of the spec to the study; one without rows is not estimable as a whole. `seed` is that of a bootstrap."""
    errors = prompt_errors(spec, study, seed=seed) if spec.errors.by_prompt else repeat(None)
    for (label, rows), of_prompts in zip(slices_of(spec, study), errors, strict=spec.errors.by_prompt):
        yield fit_slice(spec, label, rows, of_prompts)


def fit_slice(spec: Spec, label: str, rows: Cells | Moments, errors: PromptErrors | None = None) -> Fitted:
    """Fit the spec's model to the rows of one slice; `errors` are those of a spec by prompt, where rows carry a term."""
    if not len(rows.n):
        return without_rows(label)
    present, absent = present_terms(spec, rows.factors), absent_terms(spec, rows.factors)
    if not present:
        return without_terms(label, round(float(rows.n.sum())), absent)
    try:
        by_prompt = () if errors is None else (errors,)  # of least squares: the settings have no other spec by prompt
        return ESTIMATORS[spec.model.estimator](spec, label, rows, present, absent, *by_prompt)
    except DesignError as error:
        return Fitted(label, round(float(rows.n.sum())), not_estimable=[("", "", str(error))])


def without_rows(label: str) -> Fitted:
    """Lay out a slice that has no rows."""
    return Fitted(label, 0, not_estimable=[("", "", NO_SLICE)])


def without_terms(label: str, n: int, absent: list) -> Fitted:
    """Lay out a slice of n rows that carry no term."""
    return Fitted(label, n, not_estimable=[*absent, ("", "", NO_TERM)])


def _least_squares(
    spec: Spec, label: str, rows: Moments, terms: list[Term], absent: list, errors: PromptErrors | None = None
) -> Fitted:
    if spec.errors.covariance in CLUSTERED:
        result = CLUSTERED[spec.errors.covariance](errors.solution, errors.clusters)
    else:
        regressors = layout_of(spec, terms, rows)
        result = fit(rows, regressors, covariance=spec.errors.covariance, solution=errors and errors.solution)
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
    if spec.errors.covariance == "two_way" and result.df > 0 and result.n > result.rank and np.isnan(errors).all():
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
