"""Self- and family-bias of a spec, corrected for errors of the human scores, and as a curve over their reliability.

Least squares where the reference is a noisy measure of a completion's score: corrected moments, and SIMEX on the moments.

The reference is t + u, with an error u that is independent of t, judge and model. Slopes on it are too small then, and the
self-bias holds what is left of the judge's own quality. The expectation of a row's x x' is that without errors plus v b b',
with v the error variance and b what the reference is multiplied by in the row's regressors, row 1 of B[group].

What is known of a study's human scores, and what their errors make of its estimates.

One rater as the reference and the others as its instrument: no reliability is needed where there are scores of raters.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from recuse.base.database import files, text
from recuse.base.errors import ConfigError
from recuse.data.moments import LENGTH, Moments, PromptRange, RowBlock, moments_of_blocks, row_blocks
from recuse.data.moments import REFERENCE as REFERENCE_OF_ROW
from recuse.data.registry import RATERS
from recuse.data.study import Study
from recuse.inference.reliability import (
    Reliability,
    check_reliability,
    published_alphas,
    reliability_of_alphas,
    reliability_of_raters,
)
from recuse.inference.sensitivity import columns_by_prompt
from recuse.model.covariance import small_sample_factor
from recuse.model.design import COLLINEAR, REFERENCE, Term
from recuse.model.least_squares import LeastSquares, Solution, determined, inverted, solve
from recuse.model.prompt_sums import SliceCells, add_prompts, mapped, products, score_weights
from recuse.model.spec import BIASES, Spec, estimand_of
from recuse.model.terms import NO_SLICE, NO_TERM, SliceDesign, absent_terms, designs_of, moments_of

# An extrapolation is a sequence of (zeta, weight): the estimate is the sum of weight b(zeta), b(zeta) = (X'X + zeta C)^-1 X'y
# with C the sum of v b b' over rows, as if zeta times the error variance were added to the reference.
Extrapolation = Sequence[tuple[float, float]]
UNCORRECTED: Extrapolation = ((0.0, 1.0),)
MOMENTS: Extrapolation = ((-1.0, 1.0),)  # what the errors add is taken away
ZETAS = (0.0, 0.5, 1.0, 1.5, 2.0)


def _quadratic(zetas: Sequence[float]) -> Extrapolation:
    """Weights that extrapolate a quadratic, fitted by least squares at `zetas`, to -1."""
    weights = np.array([1.0, -1.0, 1.0]) @ np.linalg.pinv(np.vander(zetas, 3, increasing=True))
    return tuple(zip(zetas, map(float, weights), strict=True))


SIMEX: Extrapolation = _quadratic(ZETAS)


@dataclass(frozen=True)
class DesignCells:
    """The design cells of one slice; in each, all groups are of one dimension and have one layout of terms.

    There may be cells of rows that are not the slice's: these say what the variance of a reference is.
    """

    layouts: np.ndarray  # (cells, w, terms), 0 in the others' cells
    dimension: np.ndarray  # (cells,) of str
    rows: np.ndarray  # (cells,) of the slice: 0 in the others' cells


class Noise(Protocol):
    """What is known of the error variance of the reference."""

    def sums(self, moments: Moments) -> np.ndarray:
        """Sum the error variances of the rows of each group, (groups,)."""

    def weights(self, cells: DesignCells, estimate: np.ndarray) -> np.ndarray:
        """Weights, (products, cells, terms), that make a prompt's part in C @ estimate of its sums."""


@dataclass(frozen=True)
class KnownReliability:
    """The error variance of a dimension is (1 - reliability) var(reference): the same in all slices and for all judges."""

    dimension: np.ndarray  # (dimensions,) of str, rising
    rows: np.ndarray  # (dimensions,)
    mean: np.ndarray  # (dimensions,) of the reference over rows
    variance: np.ndarray  # (dimensions,)
    share: np.ndarray  # (dimensions,) of the variance that is error

    @classmethod
    def of(cls, moments: Moments, reliability: Mapping[str, float]) -> "KnownReliability":
        """Take the variances from the rows of a spec, of all its slices; reliability: by dimension, in (0, 1]."""
        dimension, place = np.unique(moments.factors["dimension"], return_inverse=True)
        sums = moments.tensor[:, 0, 0]
        columns = (sums[:, a, b] for a, b in ((0, 0), (0, REFERENCE_OF_ROW), (REFERENCE_OF_ROW, REFERENCE_OF_ROW)))
        rows, total, squares = (np.bincount(place, column) for column in columns)
        mean = total / rows
        variance = np.maximum(squares / rows - mean**2, 0.0)
        return cls(dimension, rows, mean, variance, 1 - np.array([reliability[str(level)] for level in dimension]))

    def sums(self, moments: Moments) -> np.ndarray:
        """Sum the error variances of the rows of each group, (groups,)."""
        place = np.searchsorted(self.dimension, moments.factors["dimension"])
        return moments.n * (self.share * self.variance)[place]

    def weights(self, cells: DesignCells, estimate: np.ndarray) -> np.ndarray:
        """Weights, (products, cells, terms), that make a prompt's part in C @ estimate of its sums.

        The variances are estimates too. With N_d the sum of b b' over the slice's rows of dimension d, a prompt adds to
        C = sum of share_d var_d N_d its rows' b b' share_d var_d, and its rows' ((reference - mean_d)^2 - var_d) / n_d share_d
        N_d, by way of var_d: also where the slice has no row of it.
        """
        place = np.searchsorted(self.dimension, cells.dimension)
        row = cells.layouts[:, REFERENCE]  # (cells, terms)
        own = row * (row @ estimate)[:, None]
        of_dimension = np.zeros((len(self.dimension), row.shape[1]))  # N_d estimate
        np.add.at(of_dimension, place, own * cells.rows[:, None])
        by_variance = (of_dimension * (self.share / self.rows)[:, None])[place]
        mean, variance, share = (values[place, None] for values in (self.mean, self.variance, self.share))
        pairs = products(cells.layouts.shape[1])
        weights = np.zeros((len(pairs), *row.shape))
        weights[pairs.index((0, 0))] = share * variance * own + (mean**2 - variance) * by_variance
        weights[pairs.index((0, REFERENCE))] = -2 * mean * by_variance
        weights[pairs.index((REFERENCE, REFERENCE))] = by_variance
        return weights


@dataclass(frozen=True)
class Corrected:
    """A corrected fit, without its errors."""

    estimate: np.ndarray  # (terms,) NaN where not identified
    identified: np.ndarray  # (terms,) of bool
    plain: Solution  # not corrected
    parts: Sequence[tuple[float, float, np.ndarray, np.ndarray]]  # zeta, weight, b(zeta) and (X'X + zeta C)^-1


def corrected(plain: Solution, regressors: np.ndarray, error_sums: np.ndarray, extrapolation: Extrapolation) -> Corrected:
    """Correct a fit, `plain`, for errors in the reference.

    MOMENTS is b = (X'X - C)^-1 X'y, consistent where the error variances are right; SIMEX needs no matrix that the errors could
    make singular, but goes part of the way only where they are large. Where X'X - C is not positive in a direction, the errors
    would be more than there is, and coefficients with a part in it are not identified.
    regressors: (groups, v - 1, terms), as by design.regressors_of. error_sums: (groups,), as by Noise.sums.
    Source: Fuller (1987), section 2.2, with known error variance; Cook and Stefanski (1994) for SIMEX, where the moments take
    the place of simulated errors.
    """
    cross, row = plain.gram @ plain.estimate, regressors[:, REFERENCE]  # X'y, and what multiplies the reference in each group
    errors = (row * error_sums[:, None]).T @ row
    parts, identified = [], plain.identified
    for zeta, weight in extrapolation:
        normal = plain.gram + zeta * errors
        inverse, null = inverted(normal)
        estimate = inverse @ cross
        parts.append((zeta, weight, estimate + inverse @ (cross - normal @ estimate), inverse))
        identified = identified & determined(null)
    estimate = np.where(identified, sum(weight * part for _, weight, part, _ in parts), np.nan)
    return Corrected(estimate, identified, plain, parts)


class CorrectedErrors:
    """Errors by prompt of a corrected fit; prompts come a few at a time, each with all its rows.

    The influence of a prompt is the sum over (zeta, weight) of weight A (X'(y - X b) - zeta C_p b), A = (X'X + zeta C)^-1, with
    C_p the prompt's part in C; the covariance is the sum of their squares with the small-sample factor of CR1,
    P / (P - 1) (n - 1) / (n - rank). Uncorrected, it is that of `clusters.clustered`.
    """

    def __init__(self, fitted: Corrected, cells: DesignCells, noise: Noise) -> None:
        """Start without prompts."""
        self._fitted, self._own = fitted, np.flatnonzero(cells.rows)
        self._weights = sum(
            weight * (score_weights(cells.layouts, part) - zeta * noise.weights(cells, part)) @ inverse
            for zeta, weight, part, inverse in fitted.parts
        )
        self._squares = np.zeros((len(fitted.estimate),) * 2)
        self.prompts = 0  # with rows in the slice

    def add(self, prompts: np.ndarray, sums: np.ndarray) -> None:
        """Add the next prompts, with their codes and sums as by `sum_by_prompt`."""
        influence = mapped(sums, self._weights)
        self._squares += influence.T @ influence
        self.prompts += int(sums[:, 0, self._own].any(axis=1).sum())

    def result(self) -> LeastSquares:
        """Put the errors beside the coefficients: NaN with fewer than two prompts, and when n <= rank; t with P - 1 degrees."""
        fitted, plain = self._fitted, self._fitted.plain
        factor = small_sample_factor(self.prompts, plain)
        spread = np.where(np.outer(fitted.identified, fitted.identified), self._squares * factor, np.nan)
        return LeastSquares(fitted.estimate, spread, fitted.identified, plain.n, plain.rank, self.prompts - 1)


@dataclass(frozen=True)
class SplitRaters:
    """The error variance of each completion is what its k raters say, s^2 / k, with s^2 their variance (k - 1).

    The fit so corrected is that by instrumental variables in which each rater in turn is the reference, with the mean of the
    others as its instrument, judge by judge, over all raters: the mean over pairs a != b of r_a r_b is mean(r)^2 - s^2 / k. It
    asks for errors of raters that are independent of each other, and for no equal variances. No rater goes before another.
    The rows have s^2 / k as their last covariate, and no term is of it.
    """

    place: int  # of the error variance in (1, reference, ...)

    def sums(self, moments: Moments) -> np.ndarray:
        """Sum the error variances of the rows of each group, (groups,); `moments` have them in the place of the length."""
        return moments.tensor[:, 0, 0, 0, LENGTH]

    def weights(self, cells: DesignCells, estimate: np.ndarray) -> np.ndarray:
        """Weights, (products, cells, terms), that make a prompt's part in C @ estimate of its sums."""
        row = cells.layouts[:, REFERENCE]
        pairs = products(cells.layouts.shape[1])
        weights = np.zeros((len(pairs), *row.shape))
        weights[pairs.index((0, self.place))] = row * (row @ estimate)[:, None]
        return weights


def with_split_raters(rows: str, raters: str) -> str:
    """SQL for `rows` of the canonical ratings with the mean of their raters as gt_unit, and s^2 / k of them as x.

    raters: the canonical raters (parquet). Rows of completions with fewer than two raters are left out.
    """
    scores = f"""
        select dimension, prompt_id, model, avg(rating) as score, var_samp(rating) / count(*) as error
        from {files([raters])} where team = {text(RATERS)} group by all having count(*) > 1"""
    return f"""
        select rated.* replace ((score - scale_low) / (scale_high - scale_low) as gt_unit),
               error / (scale_high - scale_low) ** 2 as x
        from ({rows}) as rated join ({scores}) using (dimension, prompt_id, model)"""


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

    Methods: uncorrected, moments and simex, see recuse.inference.measurement_error. reliability: of the human score, by
    dimension; ConfigError where one is missing. Errors are by prompt, and t has P - 1 degrees of freedom. What is not estimable
    whatever the method has a row without method, with the reason.
    """
    moments = _moments(spec, study)
    check_reliability(reliability, moments.factors["dimension"])
    noise = KnownReliability.of(moments, reliability)
    methods = {"uncorrected": UNCORRECTED, "moments": MOMENTS, "simex": SIMEX}
    variants = [Variant(method, noise, extrapolation) for method, extrapolation in methods.items()]
    yield from _rows(spec, study, moments, study.row_blocks(spec.selection, moments.factors), variants, confidence)


def curve_rows(spec: Spec, study: Study, *, confidence: float) -> Iterator[dict]:
    """Yield the same by corrected moments at each reliability of CURVE, which all dimensions have in common."""
    moments = _moments(spec, study)
    dimensions = list(map(str, np.unique(moments.factors["dimension"])))
    of_all = [dict.fromkeys(dimensions, value) for value in CURVE] if len(moments.n) else []
    variants = [
        Variant("moments", KnownReliability.of(moments, all_alike), MOMENTS, value)
        for value, all_alike in zip(CURVE, of_all, strict=False)
    ]
    yield from _rows(spec, study, moments, study.row_blocks(spec.selection, moments.factors), variants, confidence)


def split_rater_rows(spec: Spec, study: Study, raters: str, *, confidence: float) -> Iterator[dict]:
    """Yield the same by split raters, with the rows of completions of two raters or more; raters: canonical (parquet)."""
    _check(spec)
    if spec.selection.length is not None or spec.selection.absorb is not None:
        raise ConfigError(f"spec {spec.name}: found length or absorb, which split raters do not have; take another spec")

    def rows_of(span: PromptRange) -> str:
        rows = with_split_raters(spec.selection.rows([span.path], prompts=(span.first, span.last)), raters)
        return f"select prompt, group_code, 0::utinyint, rating_unit, gt_unit, x from ({rows}) order by prompt"

    every = study.cells().factors
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
    moments = moments_of(spec, study)
    slices = (mask for _, mask in spec.selection.slices(moments.factors))
    return moments.select(np.any([np.zeros_like(moments.n), *slices], axis=0))


def _check(spec: Spec) -> None:
    if spec.model.estimator != "least_squares" or spec.selection.reference is not None:
        raise ConfigError(
            f"spec {spec.name}: found the estimator {spec.model.estimator} and the reference "
            f"{spec.selection.reference or 'of humans'}; corrected for errors of the human score can be least squares on it; "
            "take another spec"
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


UNKNOWN = "not corrected: how reliable the human scores are is not known in {dimensions}"
UNUSABLE = "not corrected: the reliability of the human scores is not in (0, 1] in {dimensions}"


def reliability_of(study: Study, *, raters: Sequence[str], alphas: Sequence[str], of_alpha: int) -> dict[str, Reliability]:
    """Compute the reliability by dimension from the canonical raters (parquet), else from published alphas (CSV), if any.

    of_alpha: raters of each completion, where it is from alphas.
    """
    if raters:
        return reliability_of_raters(raters[0])
    published = published_alphas(alphas[0]) if alphas else {}
    held = set(map(str, study.cells().factors["dimension"]))
    return reliability_of_alphas({name: alpha for name, alpha in published.items() if name in held}, raters=of_alpha)


def measurement_error_tables(
    specs: Sequence[Spec], study: Study, reliability: Mapping[str, Reliability], raters: Sequence[str], *, confidence: float
) -> dict[str, list[dict]]:
    """List the rows of the tables noisy_reference, reliability_curve and breakdowns, of all specs.

    Where the reliability of a dimension is not known, or is not in (0, 1], the first says so, and has no estimates but those by
    split raters; the others ask for none. raters: the canonical raters (parquet), if there are any. Nothing without human
    scores, which then have no errors.
    """
    specs = specs if study.has_human_scores else ()
    of_mean = {dimension: each.mean for dimension, each in reliability.items()}
    reason = _unusable(of_mean, study.cells().factors["dimension"])
    corrected, curve = [], []
    for spec in specs:
        if reason:
            corrected.append({"study": study.name, "spec": spec.name, "estimand": estimand_of(spec), "reason": reason})
        else:
            corrected += corrected_rows(spec, study, of_mean, confidence=confidence)
        for path in raters:
            corrected += split_rater_rows(spec, study, path, confidence=confidence)
        curve += curve_rows(spec, study, confidence=confidence)
    return {"noisy_reference": corrected, "reliability_curve": curve, "breakdowns": list(breakdowns(_of_bias(curve)))}


def _of_bias(curve: Sequence[dict]) -> list[dict]:
    return [row for row in curve if row.get("quantity") in BIASES]


def _unusable(reliability: Mapping[str, float], dimensions: np.ndarray) -> str:
    """Why the reliabilities do not serve, or ""."""
    held = {str(dimension): reliability.get(str(dimension), math.nan) for dimension in np.unique(dimensions)}
    unknown = [dimension for dimension, value in held.items() if math.isnan(value)]
    if unknown:
        return UNKNOWN.format(dimensions=", ".join(unknown))
    unusable = [dimension for dimension, value in held.items() if not 0 < value <= 1]
    return UNUSABLE.format(dimensions=", ".join(unusable)) if unusable else ""
