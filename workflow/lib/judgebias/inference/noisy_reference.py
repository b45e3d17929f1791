"""Self- and family-bias of a spec, corrected for errors of the human scores, and as a curve over their reliability."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from judgebias.errors import ConfigError
from judgebias.fits.design import COLLINEAR, Term
from judgebias.fits.estimands import estimand_of
from judgebias.fits.linear import solve
from judgebias.fits.present_terms import NO_SLICE, NO_TERM, absent_terms
from judgebias.fits.prompt_sums import SliceCells, add_prompts
from judgebias.fits.slice_design import SliceDesign, designs_of
from judgebias.fits.spec import Spec
from judgebias.inference.clustered_fits import columns_by_prompt
from judgebias.inference.errors_in_reference import (
    MOMENTS,
    SIMEX,
    UNCORRECTED,
    Corrected,
    CorrectedErrors,
    DesignCells,
    Extrapolation,
    KnownReliability,
    Noise,
    corrected,
)
from judgebias.inference.reliability import check_reliability
from judgebias.inference.split_raters import SplitRaters, with_split_raters
from judgebias.ratings.moments import Moments, moments_of_blocks
from judgebias.ratings.row_blocks import PromptRange, RowBlock, row_blocks
from judgebias.ratings.study import Study

TOO_NOISY = "not estimable: with this reliability, errors are all that varies of the reference in some judge's rows"
NO_RATERS = "no completion has two raters"
CURVE = tuple(round(0.05 * step, 2) for step in range(20, 5, -1))  # reliabilities from 1 to 0.3
BY_RATERS = "split raters"


@dataclass(frozen=True)
class Variant:
    """One way to correct a spec."""

    method: str
    noise: Noise
    extrapolation: Extrapolation
    reliability: float | None = None  # of all dimensions, on the curve


def corrected_rows(spec: Spec, study: Study, reliability: Mapping[str, float], *, confidence: float) -> Iterator[dict]:
    """Yield rows of the table of corrected estimates of a least-squares spec with the human score as reference.

    Methods: uncorrected, moments and simex, see judgebias.inference.errors_in_reference. reliability: of the human score, by
    dimension; ConfigError where one is missing. Errors are by prompt, and t has P - 1 degrees of freedom. What is not estimable
    whatever the method has a row without method, with the reason.
    """
    moments = _moments(spec, study)
    check_reliability(reliability, moments.factors["dimension"])
    noise = KnownReliability.of(moments, reliability)
    methods = {"uncorrected": UNCORRECTED, "moments": MOMENTS, "simex": SIMEX}
    variants = [Variant(method, noise, extrapolation) for method, extrapolation in methods.items()]
    yield from _rows(spec, study, moments, study.row_blocks(spec, moments.factors), variants, confidence)


def curve_rows(spec: Spec, study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield the same by corrected moments at each reliability of CURVE, which all dimensions have in common."""
    moments = _moments(spec, study)
    dimensions = list(map(str, np.unique(moments.factors["dimension"])))
    of_all = [dict.fromkeys(dimensions, value) for value in CURVE] if len(moments.n) else []
    variants = [
        Variant("moments", KnownReliability.of(moments, all_alike), MOMENTS, value)
        for value, all_alike in zip(CURVE, of_all, strict=False)
    ]
    yield from _rows(spec, study, moments, study.row_blocks(spec, moments.factors), variants, confidence)


def split_rater_rows(spec: Spec, study: Study, raters: str, *, confidence: float) -> Iterator[dict]:
    """Yield the same by split raters, with the rows of completions of two raters or more; raters: canonical (parquet)."""
    _check(spec)
    if spec.length is not None or spec.absorb is not None:
        raise ConfigError(f"spec {spec.name}: found length or absorb, which split raters do not have; take another spec")

    def rows_of(span: PromptRange) -> str:
        rows = with_split_raters(spec.rows([span.path], prompts=(span.first, span.last)), raters)
        return f"select prompt, group_code, 0::utinyint, rating_unit, gt_unit, x from ({rows}) order by prompt"

    every = study.all_cells().factors
    moments = moments_of_blocks(row_blocks(study.ratings, rows_of, every), every, covariates=2)
    if not len(moments.n):
        yield {**_where(spec, study, ""), "method": BY_RATERS, "reason": NO_RATERS}
        return
    variants = [Variant(BY_RATERS, SplitRaters(place=2), MOMENTS)]
    yield from _rows(spec, study, moments, row_blocks(study.ratings, rows_of, moments.factors), variants, confidence)


def breakdowns(rows: Iterable[Mapping]) -> Iterator[dict]:
    """Yield a row for each bias of a curve, going down from reliability 1: when its interval begins or ceases to hold 0.

    sign_at_1 and sign_at_lowest: 1 or -1 where the interval is above or below 0, 0 where it holds it; lowest: the lowest
    reliability at which the bias is estimable. breakdown: the highest reliability at which this sign changes; reversal: the
    highest at which the interval is on the other side of 0 than at 1. Both are where the end of the interval that crosses 0
    meets it, on the line between two neighbours on the curve, and missing where there is no such reliability.
    """
    curves: dict[tuple, list[Mapping]] = {}
    for row in rows:
        if "ci_low" in row:
            key = tuple(row[name] for name in ("study", "spec", "slice", "estimand", "quantity", "term"))
            curves.setdefault(key, []).append(row)
    for key, curve in curves.items():
        names = dict(zip(("study", "spec", "slice", "estimand", "quantity", "term"), key, strict=True))
        yield names | _breakdown(sorted(curve, key=lambda row: -row["reliability"]))


def _breakdown(curve: Sequence[Mapping]) -> dict:
    """The columns of `breakdowns`, of one curve from the highest reliability down."""
    signs = [(row["ci_low"] > 0) - (row["ci_high"] < 0) for row in curve]
    found = {"sign_at_1": signs[0], "sign_at_lowest": signs[-1], "lowest": curve[-1]["reliability"]}
    for (one, sign), (other, then) in pairwise(zip(curve, signs, strict=True)):
        if sign != then and "breakdown" not in found:
            # An interval above 0 is left by its lower end, and one that comes to be above it is entered by this.
            found["breakdown"] = _meets_0(one, other, "ci_low" if (sign or then) > 0 else "ci_high")
        if sign != then == -signs[0] != 0 and "reversal" not in found:
            found["reversal"] = _meets_0(one, other, "ci_low" if then > 0 else "ci_high")
    return found


def _meets_0(one: Mapping, other: Mapping, end: str) -> float:
    """The reliability at which the line between the same ends of two intervals meets 0."""
    share = one[end] / (one[end] - other[end])
    return one["reliability"] + (other["reliability"] - one["reliability"]) * share


def _moments(spec: Spec, study: Study) -> Moments:
    """The moments of the rows that some slice has."""
    _check(spec)
    moments = study.moments_for(spec)
    return moments.select(np.any([np.zeros_like(moments.n), *(mask for _, mask in spec.slices(moments.factors))], axis=0))


def _check(spec: Spec) -> None:
    if spec.estimator != "least_squares" or spec.reference is not None:
        raise ConfigError(
            f"spec {spec.name}: found the estimator {spec.estimator} and the reference {spec.reference or 'of humans'}; "
            "corrected for errors of the human score can be least squares on it; take another spec"
        )


def _where(spec: Spec, study: Study, label: str) -> dict:
    return {"study": study.name, "spec": spec.name, "slice": label, "estimand": estimand_of(spec)}


def _rows(
    spec: Spec, study: Study, moments: Moments, blocks: Iterable[RowBlock], variants: Sequence[Variant], confidence: float
) -> Iterator[dict]:
    takers, fits = [], []
    for label, rows, design in designs_of(spec, moments, apart="dimension"):
        where = _where(spec, study, label)
        yield from ({**where, **row} for row in _not_estimable(spec, rows, design))
        if design is None:
            continue
        cells, of_cells = _with_others(design, moments)
        regressors = design.regressors
        plain = solve(rows, regressors)
        for variant in variants:
            fitted = corrected(plain, regressors, variant.noise.sums(rows), variant.extrapolation)
            about = {**where, "method": variant.method}
            about |= {} if variant.reliability is None else {"reliability": variant.reliability}
            fits.append((about, design.terms, fitted, CorrectedErrors(fitted, of_cells, variant.noise)))
        takers.append((cells, [errors for *_, errors in fits[-len(variants) :]]))
    add_prompts(takers, blocks if takers else (), len(moments.n))
    for about, terms, fitted, errors in fits:
        yield from ({**about, **row} for row in _estimates(terms, fitted, errors, confidence))


def _with_others(design: SliceDesign, moments: Moments) -> tuple[SliceCells, DesignCells]:
    """The cells of a slice, and last one for the other rows of each dimension, which tell of its variance, too."""
    dimension = moments.factors["dimension"]
    levels, level = np.unique(dimension, return_inverse=True)
    cell = design.cells + level
    cell[design.group] = design.cell
    layouts = np.concatenate([design.layouts, np.zeros((len(levels), *design.layouts.shape[1:]))])
    rows = np.bincount(design.cell, moments.n[design.group], len(layouts))
    of_cells = DesignCells(layouts, np.concatenate([dimension[design.first], levels]), rows)
    return SliceCells(np.arange(len(cell)), cell, len(layouts)), of_cells


def _not_estimable(spec: Spec, rows: Moments, design: SliceDesign | None) -> Iterator[dict]:
    """What no method estimates: terms that no row carries or that are absorbed, and a slice that has no others."""
    if not len(rows.n):
        yield {"reason": NO_SLICE}
        return
    for quantity, term, reason in absent_terms(spec, rows.factors):
        yield {"quantity": quantity, "term": term, "reason": reason}
    if design is None:
        yield {"reason": NO_TERM}


def _estimates(terms: Sequence[Term], fitted: Corrected, errors: CorrectedErrors, confidence: float) -> Iterator[dict]:
    result = errors.result()
    numbers = zip(terms, result.estimate, result.std_error, fitted.identified, fitted.plain.identified, strict=True)
    for term, estimate, error, identified, otherwise in numbers:
        row = {"quantity": term.quantity, "term": term.term, "prompts": errors.prompts, "n": result.n}
        if identified:
            yield row | columns_by_prompt(estimate, error, df=result.df, confidence=confidence)
        else:
            yield row | {"reason": TOO_NOISY if otherwise else COLLINEAR}
