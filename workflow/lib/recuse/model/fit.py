"""A spec fitted to a study, slice by slice, by its estimator."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat

import numpy as np

from recuse.base.errors import DesignError
from recuse.base.reasons import Reason, because
from recuse.data.cells import Cells
from recuse.data.moments import Moments, less_completion_means
from recuse.data.study import Reference, StudyTables
from recuse.model.covariance import (
    COVARIANCES,
    FEW,
    FEW_CARRY,
    FEW_CLUSTERS,
    ByPrompt,
    Clusters,
    EffectiveClusters,
    OfJudges,
    TwoWay,
    fit_least_squares,
)
from recuse.model.design import (
    NotEstimable,
    Term,
    absent_terms,
    design_layout,
    estimable_terms,
    slice_designs,
)
from recuse.model.estimable import spec_moments, spec_slices
from recuse.model.gam import Curve, GamFit, fit_gam
from recuse.model.least_squares import LeastSquares, Solution, solve
from recuse.model.ordinal import fit_ordinal
from recuse.model.prompt_sums import RowsOfCells, add_prompts
from recuse.model.resampling import SUMS, PromptBootstrap, WildBootstrap, WildTest, joined_to
from recuse.model.spec import BIASES, BiasKey, Spec
from recuse.model.stand_in import BiasNumbers, biases_of_all_ratings

ONE_PROMPT = "no bootstrap: all rows are of one prompt"
NOT_POSITIVE = (
    "two_way: no standard errors of terms of single judges, as the matrix of prompts + judges -"
    " judges in prompts is not positive semidefinite; an intercept for each judge, as in Equation"
    " 1, absorbs the judge's score: write CR1 or CR3"
)
OF_ONE_JUDGE = (
    "CR1_judge: no standard errors of terms that one judge's rows alone carry: their cluster's"
    " score is 0 or near it by construction; write CR1 or CR3 for these"
)
LOST = (
    "bootstrap: of {all} resamples of prompts, those that do not determine the coefficient are left"
    " out: {lost}"
)


@dataclass(frozen=True)
class Coefficient:
    """One coefficient: its numbers, NaN where there is none, and why."""

    quantity: str
    term: str
    n_term: int  # rows that carry it
    estimate: float
    std_error: float
    note: str = ""
    effect: float = math.nan  # average marginal effect on the rating, in points of the unit scale
    effect_std_error: float = math.nan
    # Of a bootstrap, NaN where not determined
    replicates: np.ndarray | None = field(default=None, repr=False, compare=False)
    df: float = math.inf  # of the t distribution of estimate / std_error; infinite: the normal one
    wild: WildTest | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Fitted:
    """The fit of one slice."""

    slice: str
    n: int  # rows
    coefficients: list[Coefficient] = field(default_factory=list)
    not_estimable: list[NotEstimable] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)


@dataclass(frozen=True)
class PromptErrors:
    """The solution of a slice, and its errors by prompt."""

    solution: Solution
    clusters: ByPrompt
    # (replicates, terms); None without a bootstrap, or with one prompt
    replicates: np.ndarray | None
    wild: Mapping[int, WildTest]  # by place of the term
    # Prompts of the biases' terms, by place; empty unless the errors are CR1
    effective: Mapping[int, float]


def fitted_slices(spec: Spec, study: StudyTables, *, seed: int | None) -> Iterator[Fitted]:
    """Fit each slice of the spec to the study; `seed` is that of its bootstraps."""
    errors = repeat(None)
    if spec.errors.by_prompt:
        errors = (
            prompt_errors(spec, study, seed=seed)
            if spec.model.estimator == "least_squares"
            else rows_by_prompt(spec, study)
        )
    of_all = {}
    if uses_all_ratings(spec, study):
        panels = map(study.with_reference, (Reference.PANEL_OF_SCORED, Reference.PANEL))
        of_all = biases_of_all_ratings(spec, study, *panels)
    for (label, rows), slice_errors in zip(
        spec_slices(spec, study), errors, strict=spec.errors.by_prompt
    ):
        fitted = fit_slice(spec, label, rows, slice_errors)
        yield with_biases(fitted, of_all.get(label, {}))


def uses_all_ratings(spec: Spec, study: StudyTables) -> bool:
    """Whether the biases of a spec rest on all ratings of a study of which only some rows have
    human scores: by least squares with errors CR1, without lengths.
    """
    return (
        study.view.reference is Reference.HUMAN
        and spec.model.estimator == "least_squares"
        and spec.errors.covariance == "CR1"
        and spec.selection.length is None
    )


def with_biases(fitted: Fitted, biases: Mapping[BiasKey, BiasNumbers]) -> Fitted:
    """The fit with these estimates, standard errors and degrees of freedom of biases, which no
    bootstrap draws; a note says so where one was asked for.
    """
    coefficients = []
    for row in fitted.coefficients:
        numbers = biases.get((row.quantity, row.term))
        if numbers is not None:
            estimate, error, df = numbers
            if row.replicates is not None or row.wild is not None:
                note = because(Reason.NO_BOOTSTRAP)
                row = replace(row, note=note, replicates=None, wild=None)
            row = replace(row, estimate=estimate, std_error=error, df=df)
        coefficients.append(row)
    return replace(fitted, coefficients=coefficients)


def rows_by_prompt(spec: Spec, study: StudyTables) -> Iterator[RowsOfCells]:
    """The rows of each slice of a spec that is fitted to cells."""
    cells = study.cells(spec.selection)
    for _, mask in spec.selection.slices(cells.factors):
        blocks = partial(study.row_blocks, spec.selection, cells.factors)
        yield RowsOfCells(cells.select(mask), np.flatnonzero(mask), blocks)


def fit_slice(
    spec: Spec, label: str, rows: Cells | Moments, errors: PromptErrors | RowsOfCells | None = None
) -> Fitted:
    """Fit the spec's model to the rows of one slice; errors: of a spec by prompt, if rows carry a
    term.
    """
    n, absent = round(float(rows.n.sum())), absent_terms(spec, rows.factors)
    terms = estimable_terms(spec, rows.factors)
    if not terms:
        return Fitted(label, n, not_estimable=absent)
    try:
        fitted = ESTIMATORS[spec.model.estimator](spec, label, rows, terms, errors)
    except DesignError as error:
        return Fitted(
            label,
            n,
            not_estimable=[NotEstimable("", "", because(Reason.NOT_FITTED, words=str(error)))],
        )
    return replace(fitted, not_estimable=[*absent, *missing_coefficients(fitted.coefficients)])


def missing_coefficients(coefficients: Iterable[Coefficient]) -> list[NotEstimable]:
    """The coefficients without numbers, with their notes."""
    return [
        NotEstimable(row.quantity, row.term, row.note)
        for row in coefficients
        if math.isnan(row.estimate)
    ]


def prompt_errors(spec: Spec, study: StudyTables, *, seed: int | None) -> list[PromptErrors | None]:
    """Pass over the rows of a least-squares spec: its slices in their order, None for one without
    rows, or without a term.

    One pass sums the scores of all slices. The wild bootstrap and the bootstrap take passes of
    their own, so that memory does not hold the sums of both. With many judges the wild bootstrap
    takes several, each with some of the tested coefficients; with many slices the bootstrap takes
    several, each with some of the slices.
    """
    moments, kind = spec_moments(spec, study), COVARIANCES[spec.errors.covariance]
    designs = list(slice_designs(spec, moments, apart="judge" if kind.by_judge else None))
    fitted = [
        (design, solve(rows, design.regressors))
        for _, rows, design in designs
        if design is not None
    ]

    def add_to(*takers: Sequence, among: slice = slice(None)) -> None:
        slices, of_judges = [], []
        for (design, _), *slice_takers in zip(fitted[among], *takers, strict=True):
            if kind.judges_alone:
                judge = moments.factors["judge"][design.first]
                of_judges += (slice_takers := [OfJudges(taker, judge) for taker in slice_takers])
            slices.append((design, slice_takers))
        blocks = study.row_blocks(spec.selection, moments.factors) if slices else ()
        if kind.by_judge and spec.selection.absorb is not None:
            blocks = less_completion_means(blocks, moments.factors)
        add_prompts(slices, blocks, len(moments.n))
        for taker in of_judges:
            taker.finish()

    clusters, tested, effective = [], [], []
    for design, solution in fitted:
        places = [place for place, term in enumerate(design.terms) if term.quantity in BIASES]
        shared = shared_by_judges(design.terms, moments.factors["judge"][design.group])
        if kind.judges_alone:
            places = [place for place in places if shared[place]]
        of_both = (
            [moments.factors["judge"][design.first], shared] if kind.of_prompts is TwoWay else []
        )
        # Where the errors are not by prompt, those of CR1 still count the prompts.
        clusters.append((kind.of_prompts or Clusters)(design.layouts, solution, *of_both))
        tested.append(places)
        if kind.of_prompts is Clusters:
            effective.append(EffectiveClusters(design.layouts, solution, places))
    add_to(*filter(None, [clusters, effective]))
    tests, passes = [{} for _ in fitted], 0
    if spec.errors.wild is not None:
        joined = sum(
            joined_to(design.layouts, places).sum()
            for (design, _), places in zip(fitted, tested, strict=True)
        )
        passes = math.ceil(3 * spec.errors.wild * joined / SUMS)
    for number in range(passes):
        drawn = len(np.unique(moments.factors["judge"])) if kind.judges_alone else study.prompts
        some = (places[number::passes] for places in tested)
        wild = [
            WildBootstrap(
                of.layouts, solution, of_slice, prompts=drawn, draws=spec.errors.wild, seed=seed
            )
            for (of, solution), of_slice in zip(fitted, some, strict=True)
        ]
        add_to(wild)
        for of_slice in tests:
            of_slice |= wild.pop(0).tests()
    replicates = [None] * len(fitted)
    if spec.errors.bootstrap is not None:
        bootstraps = [
            PromptBootstrap(
                design.layouts,
                solution,
                prompts=study.prompts,
                replicates=spec.errors.bootstrap,
                seed=seed,
            )
            for design, solution in fitted
        ]
        at_once = max(1, SUMS // max((of.size for of in bootstraps), default=1))
        for start in range(0, len(fitted), at_once):
            among = slice(start, start + at_once)
            add_to(bootstraps[among], among=among)
            for place in range(len(fitted))[among]:
                if clusters[place].prompts > 1:
                    replicates[place] = bootstraps[place].estimates()
                bootstraps[place] = None  # It holds many numbers.
    numbers = [of.numbers() for of in effective] or [{}] * len(fitted)
    errors = map(
        PromptErrors, (solution for _, solution in fitted), clusters, replicates, tests, numbers
    )
    return [None if design is None else next(errors) for *_, design in designs]


def shared_by_judges(terms: Sequence[Term], judge: np.ndarray) -> np.ndarray:
    """Which terms the rows of several judges carry, (terms,) of bool; judge: (groups,), as of the
    terms.
    """
    return np.array([len(np.unique(judge[term.carried])) > 1 for term in terms])


def _least_squares(
    spec: Spec, label: str, rows: Moments, terms: Sequence[Term], errors: PromptErrors | None
) -> Fitted:
    covariance, kind = spec.errors.covariance, COVARIANCES[spec.errors.covariance]
    if kind.of_prompts:
        result = errors.clusters.result()
        if kind.judges_alone:
            result = result.with_errors_among(shared_by_judges(terms, rows.factors["judge"]))
    else:
        result = fit_least_squares(
            rows,
            design_layout(spec, terms, rows),
            covariance=covariance,
            solution=errors and errors.solution,
        )
    coefficients = named_coefficients(terms, [rows.n[term.carried].sum() for term in terms], result)
    remarks = _few_clusters(spec, result.df)
    if not remarks and kind.of_prompts and result.df > 0:
        few = [(terms[place], number) for place, number in errors.effective.items() if number < FEW]
        names = ", ".join(f"{term.quantity} of {term.term} ({number:.1f})" for term, number in few)
        if few:
            remarks.append(FEW_CARRY.format(covariance=covariance, few=FEW, terms=names))
    if (
        kind.by_judge
        and result.df > 0
        and result.n > result.rank
        and np.isnan(result.std_error[result.identified]).any()
    ):
        remarks.append(OF_ONE_JUDGE if kind.judges_alone else NOT_POSITIVE)
    if spec.errors.wild is not None:
        coefficients = [
            replace(row, wild=errors.wild.get(place)) for place, row in enumerate(coefficients)
        ]
    if spec.errors.bootstrap is not None and errors.replicates is None:
        remarks.append(ONE_PROMPT)
    elif spec.errors.bootstrap is not None:
        coefficients = [
            replace(row, replicates=column)
            for row, column in zip(coefficients, errors.replicates.T, strict=True)
        ]
        undetermined = [
            (row, np.isnan(row.replicates).sum()) for row in coefficients if not row.note
        ]
        if counts := [
            f"{row.quantity} of {row.term} in {count}" for row, count in undetermined if count
        ]:
            remarks.append(LOST.format(all=len(errors.replicates), lost=", ".join(counts)))
    return Fitted(label, result.n, coefficients, remarks=remarks)


def named_coefficients(
    terms: Sequence[Term], n_terms: Iterable[float], result: LeastSquares | GamFit
) -> list[Coefficient]:
    """Name the coefficients of a fit; n_terms are the rows that carry each term."""
    numbers = zip(terms, n_terms, result.estimate, result.std_error, result.identified, strict=True)
    return [
        Coefficient(
            term.quantity,
            term.term,
            round(float(n)),
            float(estimate),
            float(error),
            "" if identified else because(Reason.COLLINEAR),
            df=result.df,
        )
        for term, n, estimate, error, identified in numbers
    ]


def _ordinal_logit(
    spec: Spec, label: str, cells: Cells, terms: Sequence[Term], rows: RowsOfCells | None
) -> Fitted:
    result = fit_ordinal(cells, terms, covariance=spec.errors.covariance, rows_of_cells=rows)
    names = [
        (term.quantity, term.term, round(n))
        for term, n in zip(terms, _rows_with(cells, terms), strict=True)
    ]
    names += [("threshold", threshold, result.n) for threshold in result.threshold_labels]
    numbers = zip(
        result.estimate.tolist(),
        result.std_error.tolist(),
        result.notes,
        result.effect.tolist(),
        result.effect_std_error.tolist(),
        strict=True,
    )
    coefficients = [
        Coefficient(*name, *of_name, df=result.df)
        for name, of_name in zip(names, numbers, strict=True)
    ]
    if result.reference is not None:
        del coefficients[result.reference]
    return Fitted(
        label, result.n, coefficients, remarks=[*result.remarks, *_few_clusters(spec, result.df)]
    )


def _gam(
    spec: Spec, label: str, cells: Cells, terms: Sequence[Term], rows: RowsOfCells | None
) -> Fitted:
    result = fit_gam(cells, terms, covariance=spec.errors.covariance, rows_of_cells=rows)
    coefficients = named_coefficients(terms, _rows_with(cells, terms), result)
    coefficients = [row for row in coefficients if row.quantity != "slope"]  # a curve replaces it
    remarks = [
        f"{term.term}: {note}" for term, note in zip(terms, result.notes, strict=True) if note
    ]
    return Fitted(
        label,
        result.n,
        coefficients,
        remarks=[*remarks, *_few_clusters(spec, result.df)],
        curves=[*result.curves],
    )


def _few_clusters(spec: Spec, df: float) -> list[str]:
    """A remark if errors are of few clusters."""
    if not 0 < df < FEW - 1:
        return []
    return [FEW_CLUSTERS.format(covariance=spec.errors.covariance, clusters=df + 1, few=FEW)]


def _rows_with(cells: Cells, terms: Sequence[Term]) -> list[float]:
    """Rows that carry each term."""
    n = cells.sum_by_group(cells.n)
    return [n[term.carried].sum() for term in terms]


ESTIMATORS = {"least_squares": _least_squares, "ordinal_logit": _ordinal_logit, "gam": _gam}
