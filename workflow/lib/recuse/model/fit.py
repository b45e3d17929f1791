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
from recuse.model.design import (
    COLLINEAR,
    NO_SLICE,
    NO_TERM,
    SliceDesign,
    Term,
    absent_terms,
    designs_of,
    estimable_terms,
    layout_of,
)
from recuse.model.estimable import moments_of, slices_of
from recuse.model.gam import Curve, fit_gam
from recuse.model.least_squares import LeastSquares, Solution, solve
from recuse.model.ordinal import fit_ordinal
from recuse.model.prompt_sums import TakesPrompts, add_prompts
from recuse.model.resampling import PromptBootstrap, WildBootstrap, WildTest
from recuse.model.spec import BIASES, Spec

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
        return without_terms(label)
    n, absent = round(float(rows.n.sum())), absent_terms(spec, rows.factors)
    terms = estimable_terms(spec, rows.factors)
    if not terms:
        return without_terms(label, n, absent)
    try:
        fitted = ESTIMATORS[spec.model.estimator](spec, label, rows, terms, errors)
    except DesignError as error:
        return Fitted(label, n, not_estimable=[("", "", str(error))])
    return replace(fitted, not_estimable=[*absent, *gaps_of(fitted.coefficients)])


def gaps_of(coefficients: Iterable[Coefficient]) -> list[tuple[str, str, str]]:
    """(quantity, term, note) of coefficients without numbers."""
    return [(row.quantity, row.term, row.note) for row in coefficients if math.isnan(row.estimate)]


def without_terms(label: str, n: int = 0, absent: Sequence[tuple[str, str, str]] = ()) -> Fitted:
    """Lay out a slice of n rows that carry no term; there may be no row."""
    return Fitted(label, n, not_estimable=[*absent, ("", "", NO_TERM)] if n else [("", "", NO_SLICE)])


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


def _least_squares(spec: Spec, label: str, rows: Moments, terms: Sequence[Term], errors: PromptErrors | None) -> Fitted:
    covariance = spec.errors.covariance
    if COVARIANCES[covariance].of_prompts:
        result = errors.clusters.result()
    else:
        result = fit(rows, layout_of(spec, terms, rows), covariance=covariance, solution=errors and errors.solution)
    coefficients = coefficients_of(terms, [rows.n[term.carried].sum() for term in terms], result)
    remarks = _on_clusters(spec, result)
    if spec.errors.wild is not None:
        coefficients = [replace(row, wild=errors.wild.get(place)) for place, row in enumerate(coefficients)]
    if spec.errors.bootstrap is not None and errors.replicates is None:
        remarks.append(ONE_PROMPT)
    elif spec.errors.bootstrap is not None:
        coefficients = [replace(row, replicates=column) for row, column in zip(coefficients, errors.replicates.T, strict=True)]
        remarks += _on_replicates(coefficients)
    return Fitted(label, result.n, coefficients, remarks=remarks)


def _on_clusters(spec: Spec, result: LeastSquares) -> list[str]:
    """What is to be said of errors by prompt: they rest on few clusters, or there are none."""
    remarks = []
    if 0 < result.df < FEW - 1:
        remarks.append(FEW_CLUSTERS.format(covariance=spec.errors.covariance, clusters=result.df + 1, few=FEW))
    errors = result.std_error[result.identified]
    if COVARIANCES[spec.errors.covariance].by_judge and result.df > 0 and result.n > result.rank and np.isnan(errors).all():
        remarks.append(NOT_POSITIVE)
    return remarks


def _on_replicates(coefficients: Sequence[Coefficient]) -> list[str]:
    """What is to be said of replicates that do not determine a coefficient."""
    lost = [
        f"{row.quantity} of {row.term} in {count}"
        for row in coefficients
        if (count := np.isnan(row.replicates).sum()) and not row.note
    ]
    return [LOST.format(all=len(coefficients[0].replicates), lost=", ".join(lost))] if lost else []


def coefficients_of(terms: Sequence[Term], n_terms: Iterable[float], result: LeastSquares) -> list[Coefficient]:
    """Lay out a least-squares result; n_terms are the rows that carry each term."""
    numbers = zip(terms, n_terms, result.estimate, result.std_error, result.identified, strict=True)
    return [
        Coefficient(term.quantity, term.term, round(float(n)), float(estimate), float(error), note, df=result.df)
        for term, n, estimate, error, identified in numbers
        for note in ["" if identified else COLLINEAR]
    ]


def _ordinal_logit(spec: Spec, label: str, cells: Cells, terms: Sequence[Term], _: None) -> Fitted:
    result = fit_ordinal(cells, terms, covariance=spec.errors.covariance)
    coefficients = []
    for place, (term, n) in enumerate(zip(terms, _rows_with(cells, terms), strict=True)):
        if place != result.reference:
            numbers = (float(each[place]) for each in (result.estimate, result.std_error))
            effect, effect_error = float(result.effect[place]), float(result.effect_std_error[place])
            row = Coefficient(term.quantity, term.term, n, *numbers, result.notes[place], effect, effect_error)
            coefficients.append(row)
    for place, label_of_threshold in enumerate(result.threshold_labels):
        numbers = (float(each[place]) for each in (result.threshold_estimate, result.threshold_std_error))
        coefficients.append(Coefficient("threshold", label_of_threshold, result.n, *numbers, result.threshold_notes[place]))
    return Fitted(label, result.n, coefficients, remarks=list(result.remarks))


def _gam(spec: Spec, label: str, cells: Cells, terms: Sequence[Term], _: None) -> Fitted:
    result = fit_gam(cells, terms, covariance=spec.errors.covariance)
    numbers = zip(terms, _rows_with(cells, terms), result.estimate, result.std_error, result.identified, strict=True)
    coefficients = [
        Coefficient(term.quantity, term.term, n, float(estimate), float(error), "" if identified else COLLINEAR)
        for term, n, estimate, error, identified in numbers
        if term.quantity != "slope"  # a curve stands in its place
    ]
    remarks = [f"{term.term}: {note}" for term, note in zip(terms, result.notes, strict=True) if note]
    return Fitted(label, result.n, coefficients, remarks=remarks, curves=list(result.curves))


def _rows_with(cells: Cells, terms: Sequence[Term]) -> list[int]:
    """Rows that carry each term."""
    n = cells.sum_by_group(cells.n)
    return [round(n[term.carried].sum()) for term in terms]


ESTIMATORS = {"least_squares": _least_squares, "ordinal_logit": _ordinal_logit, "gam": _gam}
